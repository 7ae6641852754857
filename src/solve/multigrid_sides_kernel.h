/* Kernels that set the packs of multigrid's levels: the weights of their sides, and of which kind each is;
 * see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_SIDES_KERNEL_H
#define UND_SOLVE_MULTIGRID_SIDES_KERNEL_H

#include "solve/multigrid_places_kernel.h"

enum { UND_PACK_ALL = 0xffff }; /* bits of a pack's cells */
#ifdef UND_ONE_LANE
enum { UND_SIDES_STRIP = UND_PACK_CELLS };
#else
enum { UND_SIDES_STRIP = 256 }; /* cells of a row at a time */
#endif
/* Of sides to known cells: between 1, where the surface is as near to the middle of the coarser cell as it
 * was to the finer one's, and 1/2, where it is twice as far.  Iterations at 128 cells across: 11 with 0.5, 8
 * with 0.6, 7 from 0.7 to 1. */
#define UND_KNOWN_FACTOR 0.8f
/* A side nearly closed is closed: less than this has no inverse in float. */
#define UND_SMALLEST_SIDE 1e-20f

/* Which cells of a pack are unknown, a bit for each, and of which of them the neighbour is too: along each
 * axis, low and high. */
typedef struct und_around {
    unsigned own, both[6];
} und_around;

/* A row: unknown cells of it, and of those beside it. */
typedef struct und_sides_row {
    int y, z;
    const uint64_t *own, *beside[4];
} und_sides_row;

/* The weights of a pack's sides over the full ones. */
typedef struct und_pack_sides {
    const float *high[3], *low[3];
} und_pack_sides;

UND_INLINE und_sides_row und_sides_row_of(const und_level *level, int y, int z)
{
    const und_mask *m = &level->unknown;
    return (und_sides_row){.y = y,
                           .z = z,
                           .own = und_mask_row(m, y, z),
                           .beside = {und_mask_row(m, y - 1, z), und_mask_row(m, y + 1, z),
                                      und_mask_row(m, y, z - 1), und_mask_row(m, y, z + 1)}};
}

static inline und_around und_get_around(const und_level *level, const und_sides_row *s, int k)
{
    const und_mask *m = &level->unknown;
    const int x = UND_PACK_CELLS * k;
    und_around c = {.own = und_mask_sixteen(m, s->own, x)};
    if (!c.own)
        return c;
    c.both[0] = c.own & und_mask_sixteen(m, s->own, x - 1);
    c.both[1] = c.own & und_mask_sixteen(m, s->own, x + 1);
    for (int i = 0; i < 4; i++)
        c.both[2 + i] = c.own & und_mask_sixteen(m, s->beside[i], x);
    return c;
}

/* ---- Sides of the finest level ---- */

static inline size_t und_sides_at(const und_sides *s, int x, int y, int z)
{
    return (size_t)(s->first + x + y * s->step[1] + z * s->step[2]);
}

/* Sixteen cells: their weights, 0 where `bits` are not set; what is no number counts as 0. */
static inline float und_get_sixteen(const float *restrict from, unsigned bits, float *restrict weight)
{
    const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128};
    und_f8 sum = {0};
    for (int half = 0; half < 2; half++) {
        const und_i8 own = (und_i8){0} + (int)(bits >> 8 * half);
        und_f8 w = UND_F8(from + 8 * half);
        w = (und_f8)((und_i8)w & ((own & bit) != 0) & (w > UND_SMALLEST_SIDE));
        UND_SET_F8(weight + 8 * half) = w;
        sum += w;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + (sum[4] + sum[5]) + (sum[6] + sum[7]);
}

/* The weights of a pack's high sides along an axis, in multiples of the full one: 0 where a cell or its
 * neighbour is not unknown. */
static inline void und_fetch_sides(const und_level *level, const und_sides *sides, int axis, int y, int z,
                                   int k, float *weight)
{
    const und_mask *m = &level->unknown;
    const int x = UND_PACK_CELLS * k;
    unsigned bits = 0;
    if (y >= 0 && z >= 0 && k >= 0)
        bits = und_mask_sixteen(m, und_mask_row(m, y, z), x) &
               und_mask_sixteen(m, und_mask_row(m, y + (axis == 1), z + (axis == 2)), x + (axis == 0));
    if (bits)
        und_get_sixteen(sides->weight[axis] + und_sides_at(sides, x, y, z), bits, weight);
    else
        __builtin_memset(weight, 0, UND_PACK_CELLS * sizeof *weight);
}

typedef struct und_fetched {
    float high[3][2 * UND_PACK_CELLS], low[2][UND_PACK_CELLS];
} und_fetched;

static inline und_pack_sides und_fetch_pack(const und_level_args *a, int y, int z, int k, und_fetched *f)
{
    und_pack_sides s;
    und_fetch_sides(a->level, &a->sides, 0, y, z, k - 1, f->high[0]);
    for (int axis = 0; axis < 3; axis++) {
        und_fetch_sides(a->level, &a->sides, axis, y, z, k, f->high[axis] + UND_PACK_CELLS);
        s.high[axis] = f->high[axis] + UND_PACK_CELLS;
    }
    und_fetch_sides(a->level, &a->sides, 1, y - 1, z, k, f->low[0]);
    und_fetch_sides(a->level, &a->sides, 2, y, z - 1, k, f->low[1]);
    s.low[0] = s.high[0] - 1;
    s.low[1] = f->low[0];
    s.low[2] = f->low[1];
    return s;
}

enum { UND_KNOWN_AHEAD = 2 }; /* rows: what is read there is fetched */

/* What known sides add to the diagonals of a pack's cells; false: nothing. */
static inline bool und_fetch_known(const und_level_args *a, int y, int z, int k, unsigned own,
                                   und_d8 known[2])
{
    const int x = UND_PACK_CELLS * k;
    bool any = false;
    for (int axis = 0; axis < 3; axis++) {
        const float *from = a->sides.known[axis];
        float more[UND_PACK_CELLS];
        if (from)
            und_lanes_fetch(from + und_sides_at(&a->sides, x, y + UND_KNOWN_AHEAD, z));
        if (!from || !(und_get_sixteen(from + und_sides_at(&a->sides, x, y, z), own, more) > 0))
            continue;
        any = true;
        for (int half = 0; half < 2; half++)
            known[half] +=
                a->level->full[axis] * __builtin_convertvector(UND_F8(more + UND_CELL_PACK * half), und_d8);
    }
    return any;
}

/* Are all sides of a pack's cells wholly open that are between unknown cells? */
static inline bool und_sides_are_open(const float *const high[3], const ptrdiff_t step[3],
                                      const und_around *around)
{
    und_i8 other = {0};
    for (int a = 0; a < 3; a++)
        other |= und_not_one(high[a] - step[a], around->both[2 * a]) |
                 und_not_one(high[a], around->both[2 * a + 1]);
    return !und_i8_any(&other);
}
static inline bool und_is_fetched_plain(const und_sides *s, int y, int z, int k, const und_around *around)
{
    const size_t at = und_sides_at(s, UND_PACK_CELLS * k, y, z);
    if (!s->weight[0])
        return true;
    const float *const high[3] = {s->weight[0] + at, s->weight[1] + at, s->weight[2] + at};
    return und_sides_are_open(high, s->step, around);
}

/* ---- Sides of coarser levels, which are stored ---- */

static inline float *und_side_row(const und_level *level, int axis, int y, int z)
{
    return level->side[axis] + UND_PACK_CELLS + (y + 1) * level->side_pitch + (z + 1) * level->side_plane;
}

static inline und_pack_sides und_stored_pack(const und_level *level, int y, int z, int k)
{
    und_pack_sides s;
    for (int a = 0; a < 3; a++)
        s.high[a] = und_side_row(level, a, y, z) + UND_PACK_CELLS * k;
    s.low[0] = s.high[0] - 1;
    s.low[1] = s.high[1] - level->side_pitch;
    s.low[2] = s.high[2] - level->side_plane;
    return s;
}

static inline bool und_stored_known(const und_level *level, int y, int z, int k, und_d8 known[2])
{
    const float *from = und_side_row(level, 3, y, z) + UND_PACK_CELLS * k;
    unsigned any = 0;
    for (int half = 0; half < 2; half++) {
        known[half] = __builtin_convertvector(UND_F8(from + UND_CELL_PACK * half), und_d8);
        any |= und_d8_above(known[half]);
    }
    return any;
}

static inline bool und_is_stored_plain(const und_level *level, int y, int z, int k, const und_around *around)
{
    const ptrdiff_t step[3] = {1, level->side_pitch, level->side_plane};
    const und_pack_sides s = und_stored_pack(level, y, z, k);
    return und_sides_are_open(s.high, step, around);
}

/* ---- Packs ---- */

static inline unsigned und_bits_where(const float *v)
{
    unsigned bits = 0;
    for (int i = 0; i < UND_PACK_CELLS; i++)
        bits |= (unsigned)(v[i] > 0) << i;
    return bits;
}

static inline void und_store_coefficients(const und_level *level, int y, int z, int k,
                                          const und_pack_sides *s)
{
    const int offset = und_colour_offset(0, y, z);
    const size_t at_pack = level->place[und_level_pack(level, y, z) + (size_t)k] / UND_CELL_PACK;
    float *to[2] = {level->coefficient[0] + at_pack * UND_COEFFICIENTS,
                    level->coefficient[1] + at_pack * UND_COEFFICIENTS};
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const float *from = side ? s->high[a] : s->low[a], w = level->weight[a];
            float scaled[UND_PACK_CELLS];
            for (int i = 0; i < UND_PACK_CELLS; i++)
                scaled[i] = w * from[i];
            und_split(scaled, offset, UND_CELL_PACK, to[0] + (2 * a + side) * UND_CELL_PACK,
                      to[1] + (2 * a + side) * UND_CELL_PACK);
        }
}

/* Every second of a pack's cells, from the first or the second on. */
UND_INLINE und_d8 und_second_of(const und_d8 v[2], int offset)
{
    return offset ? __builtin_shufflevector(v[0], v[1], 1, 3, 5, 7, 9, 11, 13, 15)
                  : __builtin_shufflevector(v[0], v[1], 0, 2, 4, 6, 8, 10, 12, 14);
}

/* known: what known cells add to it. */
static inline void und_store_diagonal(const und_level *level, int y, int z, int k, const und_d8 diagonal[2],
                                      const und_d8 known[2])
{
    const size_t at = level->place[und_level_pack(level, y, z) + (size_t)k];
    const float largest = (float)level->largest;
    const und_f8 none = {0};
    for (int c = 0; c < 2; c++) {
        const int offset = und_colour_offset(c, y, z);
        const und_d8 own = und_second_of(diagonal, offset);
        const und_f8 divisor = __builtin_convertvector(own, und_f8);
        UND_SET_F8(level->inverse[c] + at) = (und_f8)((und_i8)(largest / divisor) & (divisor > none));
        if (!level->diagonal[c])
            continue;
        __builtin_memcpy(level->diagonal[c] + at, &own, sizeof own);
        UND_SET_F8(level->known[c] + at) =
            __builtin_convertvector(und_second_of(known, offset) / level->largest, und_f8);
    }
}

/* Bits of 16 cells for each of four sides, or fewer. */
UND_INLINE uint64_t und_four_sides(const unsigned *both, int count)
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(both[i] & UND_PACK_ALL) << UND_PACK_CELLS * i;
    return bits;
}

static inline void und_store_beside(const und_level *level, int y, int z, int k, const und_around *around)
{
    const size_t at = level->place[und_level_pack(level, y, z) + (size_t)k] / UND_CELL_PACK;
    const uint64_t first = und_four_sides(around->both, 4), last = und_four_sides(around->both + 4, 2);
    for (int c = 0; c < 2 && level->beside[c]; c++) {
        const int offset = und_colour_offset(c, y, z);
        level->beside[c][at] = und_halve_bits(first >> offset) | und_halve_bits(last >> offset) << 32;
    }
}

/* known: what known sides add to the diagonals, NULL where nothing. */
UND_INLINE void und_set_links(const und_level *level, size_t pack, unsigned x, unsigned y, unsigned z,
                              const und_d8 *known)
{
    if (!level->link[0])
        return;
    level->link[0][pack] = (uint16_t)x;
    level->link[1][pack] = (uint16_t)y;
    level->link[2][pack] = (uint16_t)z;
    level->link[3][pack] = (uint16_t)(known ? und_d8_above(known[0]) | und_d8_above(known[1]) << 8 : 0);
}

UND_INLINE und_d8 und_add_weights(und_d8 sum, double full, und_f8 low, und_f8 high)
{
    return sum + full * (__builtin_convertvector(low, und_d8) + __builtin_convertvector(high, und_d8));
}

static inline bool und_get_known(const und_level_args *a, int y, int z, int k, unsigned own, und_d8 known[2])
{
    return a->finest ? und_fetch_known(a, y, z, k, own, known) : und_stored_known(a->level, y, z, k, known);
}

static inline uint8_t und_set_plain(const und_level_args *a, int y, int z, int k, const und_around *c)
{
    const und_level *level = a->level;
    const size_t pack = und_level_pack(level, y, z) + (size_t)k;
    und_d8 known[2] = {{0}, {0}}, diagonal[2];
    const bool any = und_get_known(a, y, z, k, c->own, known);
    und_set_links(level, pack, c->both[0], c->both[2], c->both[4], any ? known : NULL);
    const unsigned all = c->both[0] & c->both[1] & c->both[2] & c->both[3] & c->both[4] & c->both[5];
    if (!any && all == UND_PACK_ALL)
        return UND_CELL_PACK_WHOLE;
    for (int half = 0; half < 2; half++) {
        diagonal[half] = known[half];
        for (int i = 0; i < 3; i++)
            diagonal[half] =
                und_add_weights(diagonal[half], level->full[i], und_ones(c->both[2 * i] >> 8 * half),
                                und_ones(c->both[2 * i + 1] >> 8 * half));
    }
    und_store_diagonal(level, y, z, k, diagonal, known);
    und_store_beside(level, y, z, k, c);
    return UND_CELL_PACK_PLAIN;
}

static inline uint8_t und_set_cut(const und_level_args *a, int y, int z, int k, unsigned own)
{
    const und_level *level = a->level;
    und_fetched fetched;
    const und_pack_sides s =
        a->finest ? und_fetch_pack(a, y, z, k, &fetched) : und_stored_pack(level, y, z, k);
    und_d8 known[2] = {{0}, {0}}, diagonal[2];
    und_get_known(a, y, z, k, own, known);
    und_set_links(level, und_level_pack(level, y, z) + (size_t)k, und_bits_where(s.low[0]),
                  und_bits_where(s.low[1]), und_bits_where(s.low[2]), known);
    for (int half = 0; half < 2; half++) {
        diagonal[half] = known[half];
        for (int i = 0; i < 3; i++)
            diagonal[half] =
                und_add_weights(diagonal[half], level->full[i], UND_F8(s.low[i] + UND_CELL_PACK * half),
                                UND_F8(s.high[i] + UND_CELL_PACK * half));
    }
    und_store_diagonal(level, y, z, k, diagonal, known);
    und_store_coefficients(level, y, z, k, &s);
    return UND_CELL_PACK_CUT;
}

static inline uint8_t und_set_pack(const und_level_args *a, const und_sides_row *row, int k)
{
    const und_around c = und_get_around(a->level, row, k);
    if (!c.own)
        return UND_CELL_PACK_DRY;
    const bool plain = a->finest ? und_is_fetched_plain(&a->sides, row->y, row->z, k, &c)
                                 : und_is_stored_plain(a->level, row->y, row->z, k, &c);
    return plain ? und_set_plain(a, row->y, row->z, k, &c) : und_set_cut(a, row->y, row->z, k, c.own);
}

UND_INLINE void und_set_packs_item(const und_level_args *a, int z, int item)
{
    const int y = item / a->level->packs, k = item % a->level->packs;
    if (!und_level_has_row(a->level, y, z))
        return;
    const und_sides_row row = und_sides_row_of(a->level, y, z);
    a->level->kind[und_level_pack(a->level, y, z) + (size_t)k] = und_set_pack(a, &row, k);
}
/* A slice's, and their list. */
UND_KERNEL_STATIC void und_set_packs_block(const void *args, const und_set *set, int z)
{
    const und_level_args a = *(const und_level_args *)args;
    const und_level *level = a.level;
    (void)set;
    UND_LEVEL_EACH_ROW (level, y, z) {
        uint8_t *kind = level->kind + und_level_pack(level, y, z);
        int begin = 0, end = 0;
        __builtin_memset(kind, UND_CELL_PACK_DRY, (size_t)level->packs);
        und_level_find_packs(level, y, z, &begin, &end);
        const und_sides_row row = und_sides_row_of(level, y, z);
        for (int k = begin; k < end; k++)
            kind[k] = und_set_pack(&a, &row, k);
    }
    und_level_list_packs(level, z);
}
UND_KERNEL_ITEMS(und_set_packs, und_level_args)

/* ---- Sides of a coarser level, made of the finer one's ---- */

/* The weights of a pack of the finest level, as und_sides gives them; axis 3: known sides along all axes,
 * over the largest weight.  They are read only where its bits do not tell. */
static inline void und_finest_sides(const und_level_args *a, int axis, int y, int z, int k, float *weight)
{
    const und_level *level = a->level - 1;
    size_t pack = und_level_pack(level, y, z) + (size_t)k;
    int x = UND_PACK_CELLS * k;
    if (level->kind[pack] == UND_CELL_PACK_DRY || (axis == 3 && !level->link[3][pack])) {
        __builtin_memset(weight, 0, UND_PACK_CELLS * sizeof *weight);
    } else if (axis < 3 && level->kind[pack] == UND_CELL_PACK_CUT) {
        und_fetch_sides(level, &a->sides, axis, y, z, k, weight);
    } else if (axis < 3) {
        const und_mask *m = &level->unknown;
        const uint64_t *next = und_mask_row(m, y + (axis == 1), z + (axis == 2));
        unsigned both = und_level_unknown(level, y, z, k) & und_mask_sixteen(m, next, x + (axis == 0));
        for (int i = 0; i < UND_PACK_CELLS; i++)
            weight[i] = (float)(int)(both >> i & 1);
    } else {
        const size_t at = level->place[pack];
        for (int c = 0; c < 2; c++)
            for (int q = 0, offset = und_colour_offset(c, y, z); q < UND_CELL_PACK; q++)
                weight[2 * q + offset] = level->known[c][at + (size_t)q];
    }
}

/* Weights of cells [begin, end), packs, of a row of the finer level. */
static inline const float *und_fine_sides(const und_level_args *a, int axis, int y, int z, int begin, int end,
                                          float *room)
{
    if (!a->second)
        return und_side_row(a->level - 1, axis, y, z) + begin;
    for (int x = begin; x < end; x += UND_PACK_CELLS)
        und_finest_sides(a, axis, y, z, x / UND_PACK_CELLS, room + (x - begin));
    return room;
}

/* Adds the weights of one row in it to a coarser row's: sides within a coarser cell are gone. */
static inline void und_add_side_row(const und_level_args *a, int axis, const int child[2], const int place[2],
                                    int begin, int end, float *sum)
{
    const und_level *fine = a->level - 1;
    float room[2 * UND_SIDES_STRIP];
    if ((axis == 1 || axis == 2) && fine->halved[axis] && child[axis - 1] == 0)
        return;
    int scale = fine->halved[0] ? 2 : 1, most = UND_PACK_CELLS * fine->packs, shift = fine->shift[0];
    int stop = scale * end - shift < most ? scale * end - shift : most; /* it may be a pack shorter, */
    int start = scale * begin - shift > 0 ? scale * begin - shift : 0;  /* or begin one later */
    const float *weight = und_fine_sides(a, axis, place[0], place[1], start, stop, room);
    int n = (stop - start) / scale;
    sum += (start + shift) / scale - begin;
    for (int i = 0; i < n && scale == 1; i++)
        sum[i] += weight[i];
    for (int i = 0; i < n && scale == 2; i++)
        sum[i] += axis == 0 ? weight[2 * i + 1] : weight[2 * i] + weight[2 * i + 1];
}

/* The sides of a coarser row's cells: means of those of the finer cells' sides in them. */
static inline void und_build_sides(const und_level_args *a, int y, int z, int begin, int end)
{
    const und_level *fine = a->level - 1;
    und_level *coarse = a->level;
    for (int axis = 0; axis < 4; axis++) {
        float *sum = und_side_row(coarse, axis, y, z) + begin, factor = axis == 3 ? UND_KNOWN_FACTOR : 1;
        __builtin_memset(sum, 0, (size_t)(end - begin) * sizeof *sum);
        for (int k = 0; k < 4; k++) {
            const int child[2] = {k & 1, k >> 1};
            const int place[2] = {und_child(fine, 1, y, child[0]), und_child(fine, 2, z, child[1])};
            if (place[0] >= 0 && place[1] >= 0)
                und_add_side_row(a, axis, child, place, begin, end, sum);
        }
        for (int i = 0; i < 3 && axis < 3; i++)
            factor *= i != axis && fine->halved[i] ? 0.5f : 1;
        for (int i = 0; i < end - begin; i++)
            sum[i] *= factor;
    }
}

/* Thirty-two cells of a row of the finest level from x on; in front of it there are none. */
static inline unsigned und_bits_from(const und_mask *m, int y, int z, int x)
{
    const uint64_t *row = und_mask_row(m, y, z);
    return (x < 0 ? 0 : und_mask_sixteen(m, row, x)) | und_mask_sixteen(m, row, x + UND_PACK_CELLS)
                                                           << UND_PACK_CELLS;
}

/* How many sides of finer cells that a coarser pack's sides are made of are between unknown cells: added. */
static inline void und_count_sides(const und_level *fine, int axis, const int place[2], int k, float *sum)
{
    const und_mask *m = &fine->unknown;
    const int x = 2 * UND_PACK_CELLS * k - fine->shift[0];
    const unsigned both = und_bits_from(m, place[0], place[1], x) &
                          und_bits_from(m, place[0] + (axis == 1), place[1] + (axis == 2), x + (axis == 0));
    const unsigned even = (unsigned)und_halve_bits(both), odd = (unsigned)und_halve_bits(both >> 1);
    for (int i = 0; i < UND_PACK_CELLS; i += UND_CELL_PACK)
        UND_SET_F8(sum + i) = UND_F8(sum + i) + und_ones(odd >> i) + und_ones(axis == 0 ? 0 : even >> i);
}

static inline void und_add_known(const und_level *fine, const int place[2], int k, float *sum)
{
    const int first = 2 * k - fine->shift[0] / UND_PACK_CELLS;
    for (int half = first < 0; half < 2 && first + half < fine->packs; half++) {
        const size_t pack = und_level_pack(fine, place[0], place[1]) + (size_t)(first + half);
        const float *known[2] = {fine->known[0] + fine->place[pack], fine->known[1] + fine->place[pack]};
        for (int q = 0; q < UND_CELL_PACK && fine->link[3][pack]; q++)
            sum[UND_CELL_PACK * half + q] += known[0][q] + known[1][q];
    }
}

/* A pack is made of four rows of two at most: is one of them cut? */
static inline bool und_has_cut_children(const und_level *fine, int y, int z, int k)
{
    for (int i = 0; i < 8; i++) {
        const int child_y = und_child(fine, 1, y, i & 1), child_z = und_child(fine, 2, z, i >> 1 & 1);
        const int child_k = 2 * k + (i >> 2) - fine->shift[0] / UND_PACK_CELLS;
        if (child_y >= 0 && child_z >= 0 && child_k >= 0 && child_k < fine->packs &&
            fine->kind[und_level_pack(fine, child_y, child_z) + (size_t)child_k] == UND_CELL_PACK_CUT)
            return true;
    }
    return false;
}

/* The same as und_build_sides of a pack on the level above the finest, where bits tell all. */
static inline void und_count_all_sides(const und_level_args *a, int y, int z, int k)
{
    const und_level *fine = a->level - 1;
    und_level *coarse = a->level;
    for (int axis = 0; axis < 4; axis++) {
        float *side = und_side_row(coarse, axis, y, z) + UND_PACK_CELLS * k, sum[UND_PACK_CELLS] = {0};
        float factor = axis == 3 ? UND_KNOWN_FACTOR : 1;
        for (int i = 0; i < 4; i++) {
            const int place[2] = {und_child(fine, 1, y, i & 1), und_child(fine, 2, z, i >> 1)};
            const bool inner =
                (axis == 1 || axis == 2) && fine->halved[axis] && !(axis == 1 ? i & 1 : i >> 1);
            if (place[0] < 0 || place[1] < 0 || inner)
                continue;
            if (axis == 3)
                und_add_known(fine, place, k, sum);
            else
                und_count_sides(fine, axis, place, k, sum);
        }
        for (int i = 0; i < 3 && axis < 3; i++)
            factor *= i != axis && fine->halved[i] ? 0.5f : 1;
        for (int i = 0; i < UND_PACK_CELLS; i++)
            side[i] = factor * sum[i];
    }
}

static inline void und_clear_sides(const und_level *level, int y, int z, int k)
{
    const size_t pack = und_level_pack(level, y, z) + (size_t)k;
    for (int axis = 0; axis < 4 && level->kind_before[pack] != UND_CELL_PACK_DRY; axis++)
        __builtin_memset(und_side_row(level, axis, y, z) + UND_PACK_CELLS * k, 0,
                         UND_PACK_CELLS * sizeof(float));
}

/* Are all the finer packs whole that a pack is made of? */
static inline bool und_has_whole_children(const und_level *fine, int y, int z, int k)
{
    int scale = fine->halved[0] ? 2 : 1, first = scale * k - fine->shift[0] / UND_PACK_CELLS;
    if (first < 0 || first + scale > fine->packs)
        return false;
    for (int i = 0; i < 4; i++) {
        int child_y = und_child(fine, 1, y, i & 1), child_z = und_child(fine, 2, z, i >> 1);
        bool none = (!fine->halved[1] && i & 1) || (!fine->halved[2] && i >> 1);
        if (none)
            continue;
        if (child_y < 0 || child_z < 0)
            return false;
        const uint8_t *kind = fine->kind + und_level_pack(fine, child_y, child_z) + first;
        if (kind[0] != UND_CELL_PACK_WHOLE || kind[scale - 1] != UND_CELL_PACK_WHOLE)
            return false;
    }
    return true;
}

static inline void und_build_strip(const und_level_args *a, int y, int z, int begin, int end)
{
    const und_level *fine = a->level - 1;
    bool counts = a->second && fine->halved[0];
    for (int k = begin; k < end && counts; k++)
        if (und_has_cut_children(fine, y, z, k))
            und_build_sides(a, y, z, UND_PACK_CELLS * k, UND_PACK_CELLS * (k + 1));
        else
            und_count_all_sides(a, y, z, k);
    if (!counts)
        und_build_sides(a, y, z, UND_PACK_CELLS * begin, UND_PACK_CELLS * end);
}

static inline void und_build_row(const und_level_args *a, int y, int z, int begin, int end)
{
    const und_level *fine = a->level - 1;
    und_level *coarse = a->level;
    for (int k = begin, stop; k < end; k = stop) {
        bool whole = und_has_whole_children(fine, y, z, k);
        for (stop = k + 1; stop < end && stop - k < UND_SIDES_STRIP / UND_PACK_CELLS;)
            if (und_has_whole_children(fine, y, z, stop++) != whole) {
                stop--;
                break;
            }
        if (!whole)
            und_build_strip(a, y, z, k, stop);
        for (int i = UND_PACK_CELLS * k; i < UND_PACK_CELLS * stop && whole; i++) {
            for (int axis = 0; axis < 3; axis++)
                und_side_row(coarse, axis, y, z)[i] = 1;
            und_side_row(coarse, 3, y, z)[i] = 0;
        }
    }
}

/* The sides of the coarser level's packs: where there are none they are 0 again. */
UND_INLINE void und_find_sides_item(const und_level_args *a, int z, int item)
{
    und_level *level = a->level;
    const int y = item / level->packs, k = item % level->packs;
    int begin = 0, end = 0;
    if (!und_level_has_row(level, y, z))
        return;
    und_level_find_packs(level, y, z, &begin, &end);
    if (k >= begin && k < end)
        und_build_row(a, y, z, k, k + 1);
    else
        und_clear_sides(level, y, z, k);
}
UND_KERNEL_STATIC void und_find_sides_block(const void *args, const und_set *set, int z)
{
    const und_level_args a = *(const und_level_args *)args;
    (void)set;
    UND_LEVEL_EACH_ROW (a.level, y, z) {
        int begin = 0, end = 0;
        und_level_find_packs(a.level, y, z, &begin, &end);
        for (int k = 0; k < a.level->packs; k++)
            if (k < begin || k >= end)
                und_clear_sides(a.level, y, z, k);
        und_build_row(&a, y, z, begin, end);
    }
}
UND_KERNEL_ITEMS(und_find_sides, und_level_args)

#endif
