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
    und_segments in = und_level_slice(level, z);
    for (const und_segment *s = in.begin; s < in.end; s++)
        und_segment_smooth(level, colour, s);
}

static void start(const und_level *level, int z)
{
    und_segments in = und_level_slice(level, z);
    for (const und_segment *s = in.begin; s < in.end; s++)
        und_segment_start(level, 0, s);
}

/* Adds the red cells' residual in slice z to row Y of the coarser slice, cells [begin, end) of it, in sum[].
 */
static void sum_residuals(const und_level *fine, int coarse_y, int z, int begin, int end, float *sum)
{
    int scale = fine->halved[0] ? 1 : 2; /* coarser cells per red one */
    for (int which = 0; which < 2; which++) {
        int y = und_child(fine, 1, coarse_y, which);
        und_segments in = y < 0 ? (und_segments){0} : und_level_rows(fine, y, y + 1, z);
        for (const und_segment *s = in.begin; s < in.end; s++) {
            int low = most(s->low, begin / scale), high = least(s->low + s->count, end / scale);
            if (low >= high)
                continue;
            if (fine->halved[0]) {
                und_segment_residual(fine, 0, s, low - s->low, high - s->low, sum - begin + s->low);
                continue;
            }
            float residual[CHUNK / 2];
            memset(residual, 0, (size_t)(high - low) * sizeof *residual);
            und_segment_residual(fine, 0, s, low - s->low, high - s->low, residual - low + s->low);
            for (int q = low; q < high; q++)
                sum[2 * q + s->offset - begin] += residual[q - low];
        }
    }
}

/* The residual, of red cells alone after black ones were smoothed, is the right-hand side of the coarser
 * level. */
static void restrict_slice(const und_level *fine, const und_level *coarse, int z)
{
    int coarse_z = fine->halved[2] ? z / 2 : z;
    bool first = !fine->halved[2] || z % 2 == 0;
    und_segments in = und_level_slice(coarse, coarse_z);
    for (const und_segment *s = in.begin; s < in.end; s++)
        for (int done = 0; done < s->count; done += CHUNK / 2) {
            int n = least(CHUNK / 2, s->count - done), begin = 2 * (s->low + done);
            float *b[2] = {coarse->b[0] + s->at + done, coarse->b[1] + s->at + done};
            float sum[CHUNK];
            if (first)
                memset(sum, 0, (size_t)(2 * n) * sizeof *sum);
            else
                und_join(b[0], b[1], s->offset, n, sum);
            sum_residuals(fine, s->y, z, begin, begin + 2 * n, sum);
            und_split(sum, s->offset, n, b[0], b[1]);
        }
}

/* Adds the coarser level's correction to red cells; black ones are smoothed next and need none. */
static void correct_slice(const und_level *fine, const und_level *coarse, int z)
{
    int coarse_z = fine->halved[2] ? z / 2 : z;
    und_segments in = und_level_slice(fine, z);
    for (const und_segment *s = in.begin; s < in.end; s++) {
        int coarse_y = fine->halved[1] ? s->y / 2 : s->y;
        int offset = und_colour_offset(0, coarse_y, coarse_z);
        size_t at = und_level_row(coarse, coarse_y, coarse_z);
        for (int done = 0; done < s->count; done += CHUNK) {
            int n = least(CHUNK, s->count - done), low = s->low + done;
            float *restrict x = fine->x[0] + s->at + done;
            const float *inverse = fine->inverse[0] + s->at + done;
            float row[2 * CHUNK];
            int begin = fine->halved[0] ? low / 2 : low, pairs = fine->halved[0] ? n / 2 : n;
            und_join(coarse->x[0] + at + begin, coarse->x[1] + at + begin, offset, pairs, row);
            for (int q = 0; q < pairs && !fine->halved[0]; q++)
                row[q] = row[2 * q + s->offset];
            if (s->kind == UND_EIGHT_WHOLE)
                for (int q = 0; q < n; q++)
                    x[q] += row[q];
            else
                for (int q = 0; q < n; q++)
                    x[q] += inverse[q] > 0 ? row[q] : 0;
        }
    }
}

static double dot_slice(const und_level *level, int z)
{
    und_segments in = und_level_slice(level, z);
    double sum = 0;
    for (const und_segment *s = in.begin; s < in.end; s++)
        for (int c = 0; c < 2; c++) {
            const float *x = level->x[c] + s->at, *b = level->b[c] + s->at;
            und_f8 row = {0};
            for (int q = 0; q < s->count; q += 8)
                row += UND_F8(x + q) * UND_F8(b + q);
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
