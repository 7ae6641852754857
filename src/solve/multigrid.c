#include "solve/multigrid.h"

#include "solve/eights.h"
#include "solve/multigrid_kernel.h"
#include "solve/slices.h"

#include <string.h>

/* Sweeps over red and black before the coarser level, and the same in reverse order after it: so the cycle is
 * symmetric.  More on coarser levels, where they cost little. */
enum { SWEEPS_FINEST = 2, SWEEPS_COARSER = 4, SWEEPS_COARSEST = 16, CHUNK = 256 };

typedef struct pass {
    und_multigrid *m;
    int level, sweeps;
    void (*before)(void *context, int slice);
    void *context;
} pass;

static int least(int a, int b)
{
    return a < b ? a : b;
}
static int most(int a, int b)
{
    return a > b ? a : b;
}

static int sweeps_of(const und_multigrid *m, int level)
{
    return level == m->count - 1 ? SWEEPS_COARSEST : level == 0 ? SWEEPS_FINEST : SWEEPS_COARSER;
}

static void smooth(const und_level *level, int colour, int z)
{
    for (int y = 0; y < level->n[1]; y++) {
        if (und_level_is_dry(level, y, z))
            continue;
        und_row r = und_level_get_row(level, colour, y, z);
        und_level_foresee(level, level->inverse[colour], sizeof(float), y, z);
        und_row_smooth(level, colour, &r);
    }
}

static void start(const und_level *level, int z)
{
    for (int y = 0; y < level->n[1]; y++) {
        if (und_level_is_dry(level, y, z))
            continue;
        und_row r = und_level_get_row(level, 0, y, z);
        und_level_foresee(level, level->inverse[0], sizeof(float), y, z);
        und_row_start(level, &r);
    }
}

/* Adds the red cells' residual in slice z to row Y of the coarser slice, cells [begin, end) of it, in sum[].
 */
static void sum_residuals(const und_level *fine, int coarse_y, int z, int begin, int end, float *sum)
{
    for (int which = 0; which < 2; which++) {
        int y = und_child(fine, 1, coarse_y, which);
        if (y < 0)
            continue;
        und_row r = und_level_get_row(fine, 0, y, z);
        int scale = fine->halved[0] ? 1 : 2; /* coarser cells per red one */
        int low = r.low > begin / scale ? r.low : begin / scale;
        int high = r.high < end / scale ? r.high : end / scale;
        if (low >= high)
            continue;
        if (fine->halved[0]) {
            und_row_residual(fine, 0, &r, low, high, sum - begin);
            continue;
        }
        float residual[CHUNK / 2];
        memset(residual, 0, (size_t)(high - low) * sizeof *residual);
        int offset = und_colour_offset(0, y, z);
        und_row_residual(fine, 0, &r, low, high, residual - low);
        for (int q = low; q < high; q++)
            sum[2 * q + offset - begin] += residual[q - low];
    }
}

/* The residual, of red cells alone after black ones were smoothed, is the right-hand side of the coarser
 * level. */
static void restrict_slice(const und_level *fine, const und_level *coarse, int z)
{
    int coarse_z = fine->halved[2] ? z / 2 : z;
    bool first = !fine->halved[2] || z % 2 == 0;
    for (int y = 0; y < coarse->n[1]; y++) {
        size_t row = (size_t)(y + coarse_z * coarse->n[1]), at = und_level_row(coarse, y, coarse_z);
        for (int begin = 2 * coarse->low[row]; begin < 2 * coarse->high[row]; begin += CHUNK) {
            int end = begin + CHUNK < 2 * coarse->high[row] ? begin + CHUNK : 2 * coarse->high[row];
            int offset = und_colour_offset(0, y, coarse_z), n = (end - begin) / 2;
            float *b[2] = {coarse->b[0] + at + begin / 2, coarse->b[1] + at + begin / 2};
            float sum[CHUNK];
            if (first)
                memset(sum, 0, (size_t)(end - begin) * sizeof *sum);
            else
                und_join(b[0], b[1], offset, n, sum);
            sum_residuals(fine, y, z, begin, end, sum);
            und_split(sum, offset, n, b[0], b[1]);
        }
    }
}

/* Adds the coarser level's correction to red cells; black ones are smoothed next and need none. */
static void correct_slice(const und_level *fine, const und_level *coarse, int z)
{
    int coarse_z = fine->halved[2] ? z / 2 : z;
    for (int y = 0; y < fine->n[1]; y++) {
        if (und_level_is_dry(fine, y, z))
            continue;
        und_row r = und_level_get_row(fine, 0, y, z);
        und_level_foresee(fine, fine->inverse[0], sizeof(float), y, z);
        int coarse_y = fine->halved[1] ? y / 2 : y, fine_offset = und_colour_offset(0, y, z);
        size_t at = und_level_row(coarse, coarse_y, coarse_z);
        int offset = und_colour_offset(0, coarse_y, coarse_z);
        for (int low = r.low; low < r.high; low += CHUNK) {
            int n = low + CHUNK < r.high ? CHUNK : r.high - low;
            float *restrict x = r.x + low;
            const float *inverse = r.inverse + low;
            float row[2 * CHUNK];
            if (fine->halved[0]) {
                int whole = most(least(r.inner_low - low, n), 0), end = least(r.inner_high - low, n);
                und_join(coarse->x[0] + at + low / 2, coarse->x[1] + at + low / 2, offset, n / 2, row);
                for (int q = 0; q < whole; q++)
                    x[q] += inverse[q] > 0 ? row[q] : 0;
                for (int q = whole; q < end; q++)
                    x[q] += row[q];
                for (int q = most(whole, end); q < n; q++)
                    x[q] += inverse[q] > 0 ? row[q] : 0;
            } else {
                und_join(coarse->x[0] + at + low, coarse->x[1] + at + low, offset, n, row);
                for (int q = 0; q < n; q++)
                    x[q] += inverse[q] > 0 ? row[2 * q + fine_offset] : 0;
            }
        }
    }
}

static double dot_slice(const und_level *level, int z)
{
    double sum = 0;
    for (int y = 0; y < level->n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(level, y, z); c++) {
            und_row r = und_level_get_row(level, c, y, z);
            und_f8 row = {0};
            for (int q = r.low; q < r.high; q += 8)
                row += UND_F8(r.x + q) * UND_F8(r.b + q);
            sum += und_f8_sum(&row);
        }
    return sum;
}

static void down(void *context, int stage, int z)
{
    const pass *p = context;
    const und_level *level = &p->m->level[p->level];
    if (stage == 2 * p->sweeps) {
        restrict_slice(level, level + 1, z);
    } else if (stage == 0) {
        if (p->before)
            p->before(p->context, z);
        start(level, z);
    } else {
        smooth(level, stage % 2, z);
    }
}

static void up(void *context, int stage, int z)
{
    const pass *p = context;
    const und_level *level = &p->m->level[p->level];
    if (stage == 0 && p->level < p->m->count - 1)
        correct_slice(level, level + 1, z);
    else if (stage > 0)
        smooth(level, stage % 2, z);
    if (p->level == 0 && stage == 2 * p->sweeps)
        p->m->slice_dot[z] = dot_slice(level, z);
}

static void run_down(pass *p)
{
    const und_level *level = &p->m->level[p->level];
    p->sweeps = sweeps_of(p->m, p->level);
    int restriction = p->level < p->m->count - 1;
    und_slices_run(down, p, 2 * p->sweeps + restriction, level->n[2], level->threads);
}

void und_multigrid_begin(und_multigrid *m, void (*before)(void *context, int slice), void *context)
{
    pass p = {.m = m, .before = before, .context = context};
    run_down(&p);
}

double und_multigrid_finish(und_multigrid *m)
{
    for (int i = 1; i < m->count; i++)
        run_down(&(pass){.m = m, .level = i});
    for (int i = m->count - 1; i >= 0; i--) {
        pass p = {.m = m, .level = i, .sweeps = sweeps_of(m, i)};
        und_slices_run(up, &p, 2 * p.sweeps + 1, m->level[i].n[2], m->level[i].threads);
    }
    double sum = 0;
    for (int z = 0; z < m->level[0].n[2]; z++)
        sum += m->slice_dot[z];
    return sum;
}
