/* The levels of multigrid and their coefficients. */
#include "base/pages.h"
#include "base/status.h"
#include "solve/multigrid_kernel.h"

#include <stdlib.h>
#include <string.h>

enum {
    EIGHTS = 8,
    SHORTEST_INNER = 24,
    FEWEST = 8,              /* cells of a level that is not coarsened further */
    CELLS_TO_SHARE = 1 << 17 /* levels with fewer are done by one thread */
};
/* Of sides to known cells: between 1, where the surface is as near to the middle of the coarser cell as it
 * was to the finer one's, and 1/2, where it is twice as far.  Iterations at 128 cells across: 11 with 0.5, 8
 * with 0.6, 7 from 0.7 to 1. */
static const float KNOWN_FACTOR = 0.8f;
static const double COMPARABLE = 0.4; /* weight of an axis that is halved, over the largest */

static int up_to_eights(int n)
{
    return (n + EIGHTS - 1) / EIGHTS * EIGHTS;
}

static und_status allocate(und_level *level, bool finest, und_error *err)
{
    int per_colour = up_to_eights((level->n[0] + 1) / 2);
    size_t rows = (size_t)level->n[1] * (size_t)level->n[2];
    level->pitch = per_colour + EIGHTS;
    level->plane = level->pitch * (level->n[1] + 2);
    level->first = (size_t)(level->plane + level->pitch + EIGHTS);
    level->count = (level->first + (size_t)(level->plane * (level->n[2] + 1)) + 15) / 16 * 16;
    float **const arrays[] = {&level->x[0],       &level->x[1],       &level->b[0],       &level->b[1],
                              &level->inverse[0], &level->inverse[1], &level->known[0],   &level->known[1],
                              &level->face[0][0], &level->face[0][1], &level->face[1][0], &level->face[1][1],
                              &level->face[2][0], &level->face[2][1]};
    size_t used = finest ? 6 : sizeof arrays / sizeof *arrays;
    float *all = und_pages_alloc(used * level->count * sizeof *all, "a level of multigrid", err);
    for (size_t i = 0; all && i < used; i++)
        *arrays[i] = all + i * level->count;
    level->low = all ? und_alloc(rows, sizeof *level->low, "rows of multigrid", err) : NULL;
    level->high = level->low ? und_alloc(rows, sizeof *level->high, "rows of multigrid", err) : NULL;
    level->inner_low =
        level->high ? und_alloc(rows, sizeof *level->inner_low, "rows of multigrid", err) : NULL;
    level->inner_high =
        level->inner_low ? und_alloc(rows, sizeof *level->inner_high, "rows of multigrid", err) : NULL;
    level->plain = level->inner_high ? und_alloc(rows, 1, "rows of multigrid", err) : NULL;
    if (!level->plain)
        return err->status;
    memset(level->plain, finest, rows);
    return UND_OK;
}

/* Halving an axis halves its weight and doubles the others', so that axes with weaker ones are left until
 * they have caught up. */
static bool plan_next(const und_level *fine, const double weight[3], und_level *coarse, bool halved[3],
                      double coarse_weight[3])
{
    double largest = 0;
    for (int a = 0; a < 3; a++)
        if (fine->n[a] > 1 && weight[a] > largest)
            largest = weight[a];
    bool any = false;
    for (int a = 0; a < 3; a++) {
        halved[a] = fine->n[a] > 1 && weight[a] >= COMPARABLE * largest;
        any |= halved[a];
        coarse->n[a] = halved[a] ? (fine->n[a] + 1) / 2 : fine->n[a];
    }
    for (int a = 0; a < 3; a++) {
        coarse_weight[a] = weight[a];
        for (int k = 0; k < 3; k++)
            coarse_weight[a] *= !halved[k] ? 1 : k == a ? 0.5 : 2;
    }
    return any && (double)fine->n[0] * fine->n[1] * fine->n[2] > FEWEST;
}

und_status und_multigrid_open(und_multigrid *m, const int n[3], const double weight[3], int threads,
                              und_error *err)
{
    double w[3] = {weight[0], weight[1], weight[2]}, next[3];
    bool more = true;
    *m = (und_multigrid){0};
    memcpy(m->level[0].n, n, sizeof m->level[0].n);
    m->slice_dot = und_alloc((size_t)n[2], sizeof *m->slice_dot, "slices of multigrid", err);
    und_status status = m->slice_dot ? UND_OK : err->status;
    while (more && status == UND_OK && m->count < UND_MULTIGRID_LEVELS) {
        und_level *level = &m->level[m->count++];
        level->threads = level->most_threads = threads;
        status = allocate(level, level == m->level, err);
        more = m->count < UND_MULTIGRID_LEVELS && plan_next(level, w, level + 1, level->halved, next);
        memcpy(w, next, sizeof w);
    }
    if (status != UND_OK)
        und_multigrid_close(m);
    return status;
}

void und_multigrid_close(und_multigrid *m)
{
    for (int i = 0; i < m->count; i++) {
        und_level *level = &m->level[i];
        und_pages_free(level->x[0]);
        free(level->low);
        free(level->high);
        free(level->inner_low);
        free(level->inner_high);
        free(level->plain);
    }
    free(m->slice_dot);
    *m = (und_multigrid){0};
}

/* Outside the spans all arrays are 0. */
static void clear(const und_level *level, size_t row_at, int low, int high)
{
    size_t bytes = high > low ? (size_t)(high - low) * sizeof(float) : 0;
    for (int c = 0; c < 2 && bytes; c++) {
        float *const arrays[] = {level->x[c],       level->b[c],       level->inverse[c], level->known[c],
                                 level->face[0][c], level->face[1][c], level->face[2][c]};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays && arrays[i]; i++)
            memset(arrays[i] + row_at + low, 0, bytes);
    }
}

void und_level_set_span(und_level *level, int y, int z, int low, int high)
{
    size_t row = (size_t)(y + z * level->n[1]), at = und_level_row(level, y, z);
    int old_low = level->low[row], old_high = level->high[row];
    clear(level, at, old_low, old_high < low ? old_high : low);
    clear(level, at, old_low > high ? old_low : high, old_high);
    level->low[row] = low;
    level->high[row] = high;
}

void und_level_set_inner(und_level *level, size_t row, int low, int high)
{
    bool worth = high - low >= SHORTEST_INNER;
    level->inner_low[row] = worth ? low : level->high[row];
    level->inner_high[row] = worth ? high : level->high[row];
}

/* A row of a coarser level covers what the rows in it do. */
static void set_coarse_span(const und_level *fine, und_level *coarse, int y, int z)
{
    int low = INT32_MAX, high = 0;
    for (int child = 0; child < 4; child++) {
        int fy = und_child(fine, 1, y, child & 1), fz = und_child(fine, 2, z, child >> 1);
        size_t row = (size_t)(fy + fz * fine->n[1]);
        if (fy < 0 || fz < 0 || fine->high[row] <= fine->low[row])
            continue;
        low = fine->low[row] < low ? fine->low[row] : low;
        high = fine->high[row] > high ? fine->high[row] : high;
    }
    if (high > 0 && fine->halved[0]) {
        low = low / 2 / EIGHTS * EIGHTS;
        high = up_to_eights(high / 2);
    }
    und_level_set_span(coarse, y, z, high > 0 ? low : 0, high);
}

typedef struct building {
    und_multigrid *m;
    int coarse; /* the level that is being built */
    und_multigrid_sides *sides;
    void *context;
} building;

enum { CHUNK = 256 }; /* cells of a coarser row at a time */

/* Weights of a row of the finer level, cells [begin, end), as und_multigrid_sides gives them. */
static bool fine_sides(const building *b, int axis, int y, int z, int begin, int end, float *weight)
{
    const und_level *fine = &b->m->level[b->coarse - 1];
    if (b->coarse == 1)
        return b->sides(b->context, axis, y, z, begin, end, weight);
    float *const *split = axis == 3 ? fine->known : fine->face[axis];
    size_t at = und_level_row(fine, y, z);
    int offset = und_colour_offset(0, y, z);
    und_join(split[0] + at + begin / 2, split[1] + at + begin / 2, offset, (end - begin) / 2, weight);
    return true;
}

/* Adds the weights of one row in it to a coarser row's: sides within a coarser cell are gone, and the others
 * are half as large across an axis that is halved. */
static void add_row(const building *b, int axis, const int child[2], const int place[2], int begin, int end,
                    float *sum)
{
    const und_level *fine = &b->m->level[b->coarse - 1];
    float weight[2 * CHUNK];
    bool halves = axis < 3 && fine->halved[axis];
    float factor = axis == 3 ? KNOWN_FACTOR : halves ? 0.5f : 1;
    if ((axis == 1 || axis == 2) && halves && child[axis - 1] == 0)
        return;
    if (!fine->halved[0]) {
        if (!fine_sides(b, axis, place[0], place[1], begin, end, weight))
            return;
        for (int i = 0; i < end - begin; i++)
            sum[i] += factor * weight[i];
        return;
    }
    if (!fine_sides(b, axis, place[0], place[1], 2 * begin, 2 * end, weight))
        return;
    for (int i = 0; i < end - begin; i++)
        sum[i] += factor * (axis == 0 ? weight[2 * i + 1] : weight[2 * i] + weight[2 * i + 1]);
}

static void build_row(const building *b, int y, int z)
{
    const und_level *fine = &b->m->level[b->coarse - 1];
    und_level *coarse = &b->m->level[b->coarse];
    size_t row = (size_t)(y + z * coarse->n[1]), at = und_level_row(coarse, y, z);
    for (int begin = 2 * coarse->low[row]; begin < 2 * coarse->high[row]; begin += CHUNK) {
        int end = begin + CHUNK < 2 * coarse->high[row] ? begin + CHUNK : 2 * coarse->high[row];
        for (int axis = 0; axis < 4; axis++) {
            float sum[CHUNK];
            memset(sum, 0, (size_t)(end - begin) * sizeof *sum);
            for (int k = 0; k < 4; k++) {
                const int child[2] = {k & 1, k >> 1};
                const int place[2] = {und_child(fine, 1, y, child[0]), und_child(fine, 2, z, child[1])};
                if (place[0] >= 0 && place[1] >= 0)
                    add_row(b, axis, child, place, begin, end, sum);
            }
            float *const *split = axis == 3 ? coarse->known : coarse->face[axis];
            und_split(sum, und_colour_offset(0, y, z), (end - begin) / 2, split[0] + at + begin / 2,
                      split[1] + at + begin / 2);
        }
    }
}

static void set_diagonal(und_level *level, int colour, int y, int z)
{
    und_row r = und_level_get_row(level, colour, y, z);
    const float *known = level->known[colour] + und_level_row(level, y, z);
    float *restrict inverse = level->inverse[colour] + und_level_row(level, y, z);
    const und_faces f = und_level_faces(level, colour, r.at);
    const und_beside n = r.beside;
    for (int q = r.low; q < r.high; q++) {
        float sum = known[q];
        for (int a = 0; a < 3; a++)
            sum += f.own[a][q] + f.other[a][q + n.side[2 * a]];
        inverse[q] = sum > 0 ? 1 / sum : 0;
    }
}

/* Is every side between unknown cells of full weight? */
static bool is_plain(const und_level *level, int colour, int y, int z)
{
    und_row r = und_level_get_row(level, colour, y, z);
    const float *beside = level->inverse[1 - colour] + und_level_row(level, y, z);
    const und_faces f = und_level_faces(level, colour, r.at);
    const und_beside n = r.beside;
    int odd = 0;
    for (int a = 0; a < 3; a++) {
        const float *own = f.own[a], *other = f.other[a], w = level->weight[a];
        ptrdiff_t low = n.side[2 * a], high = n.side[2 * a + 1];
        for (int q = r.low; q < r.high; q++)
            odd |= (r.inverse[q] > 0) & (((beside[q + low] > 0) & (other[q + low] != w)) |
                                         ((beside[q + high] > 0) & (own[q] != w)));
    }
    return !odd;
}

/* The longest stretch of eights in which the diagonal is the full one. */
static void set_inner(und_level *level, int y, int z)
{
    size_t row = (size_t)(y + z * level->n[1]), at = und_level_row(level, y, z);
    int low = level->high[row], high = low, begin = level->low[row], end = level->high[row];
    bool plain = begin < end && is_plain(level, 0, y, z) && is_plain(level, 1, y, z);
    for (int q = begin; plain && q < end; q += EIGHTS) {
        int full = 0;
        for (int k = 0; k < EIGHTS; k++)
            full += (level->inverse[0][at + (size_t)(q + k)] == level->full_inverse) +
                    (level->inverse[1][at + (size_t)(q + k)] == level->full_inverse);
        if (full < 2 * EIGHTS)
            begin = q + EIGHTS;
        else if (q + EIGHTS - begin > high - low)
            low = begin, high = q + EIGHTS;
    }
    level->plain[row] = plain;
    und_level_set_inner(level, row, low, high);
}

static void build(building *b)
{
    const und_level *fine = &b->m->level[b->coarse - 1];
    und_level *coarse = &b->m->level[b->coarse];
    for (int a = 0; a < 3; a++) {
        coarse->weight[a] = fine->weight[a];
        for (int k = 0; k < 3; k++)
            coarse->weight[a] *= !fine->halved[k] ? 1 : k == a ? 0.5f : 2;
    }
    und_level_set_full(coarse);
    PARALLEL_FOR(fine->threads)
    for (int z = 0; z < coarse->n[2]; z++)
        for (int y = 0; y < coarse->n[1]; y++) {
            set_coarse_span(fine, coarse, y, z);
            build_row(b, y, z);
        }
    und_level_share(coarse);
    PARALLEL_FOR(coarse->threads)
    for (int z = 0; z < coarse->n[2]; z++)
        for (int y = 0; y < coarse->n[1]; y++)
            for (int c = 0; c < 2; c++)
                set_diagonal(coarse, c, y, z);
    PARALLEL_FOR(coarse->threads)
    for (int z = 0; z < coarse->n[2]; z++)
        for (int y = 0; y < coarse->n[1]; y++)
            set_inner(coarse, y, z);
}

void und_level_set_full(und_level *level)
{
    float full = 0;
    for (int a = 0; a < 3; a++)
        full += level->weight[a] + level->weight[a];
    level->full_inverse = full > 0 ? 1 / full : 0;
}

void und_level_share(und_level *level)
{
    long cells = 0;
    for (int row = 0; row < level->n[1] * level->n[2]; row++)
        cells += 2 * (level->high[row] - level->low[row]);
    level->threads = und_workers(level->most_threads, (size_t)cells, CELLS_TO_SHARE);
}

void und_multigrid_set(und_multigrid *m, und_multigrid_sides *sides, void *context)
{
    building b = {.m = m, .sides = sides, .context = context};
    und_level_share(&m->level[0]);
    for (b.coarse = 1; b.coarse < m->count; b.coarse++)
        build(&b);
}
