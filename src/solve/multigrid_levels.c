/* The coefficients of the levels of multigrid. */
#include "base/status.h"
#include "grid/present.h"
#include "solve/multigrid_cycle.h"
#include "solve/multigrid_kernel.h"
#include "solve/multigrid_places.h"

#include <stdlib.h>
#include <string.h>

enum {
    CELLS = 2 * UND_CELL_PACK, /* of a pack, along x */
    ALL = 0xffff,              /* bits of them */
    STRIP = 256                /* cells of a row at a time */
};
/* Of sides to known cells: between 1, where the surface is as near to the middle of the coarser cell as it
 * was to the finer one's, and 1/2, where it is twice as far.  Iterations at 128 cells across: 11 with 0.5, 8
 * with 0.6, 7 from 0.7 to 1. */
static const float KNOWN_FACTOR = 0.8f;

/* A stretch of a row and its sides. */
typedef struct strip {
    int y, z, begin, end;            /* cells x in [begin, end), packs */
    const float *high[3], *low[3];   /* weights over the full ones, from cell `begin` on */
    const uint64_t *own, *beside[4]; /* unknown cells of the row, and of those beside it */
} strip;

static strip get_strip(const und_level *level, int y, int z)
{
    const und_mask *m = &level->unknown;
    return (strip){.y = y,
                   .z = z,
                   .own = und_mask_row(m, y, z),
                   .beside = {und_mask_row(m, y - 1, z), und_mask_row(m, y + 1, z), und_mask_row(m, y, z - 1),
                              und_mask_row(m, y, z + 1)}};
}

static unsigned bits_where(const float *v)
{
    unsigned bits = 0;
    for (int i = 0; i < CELLS; i++)
        bits |= (unsigned)(v[i] > 0) << i;
    return bits;
}

static void store_coefficients(und_level *level, const strip *s, int at, int k)
{
    int offset = und_colour_offset(0, s->y, s->z);
    size_t at_pack = level->place[und_level_pack(level, s->y, s->z) + (size_t)k] / UND_CELL_PACK;
    float *to[2] = {level->coefficient[0] + at_pack * UND_COEFFICIENTS,
                    level->coefficient[1] + at_pack * UND_COEFFICIENTS};
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const float *from = (side ? s->high[a] : s->low[a]) + at, w = level->weight[a];
            float scaled[CELLS];
            for (int i = 0; i < CELLS; i++)
                scaled[i] = w * from[i];
            und_split(scaled, offset, UND_CELL_PACK, to[0] + (2 * a + side) * UND_CELL_PACK,
                      to[1] + (2 * a + side) * UND_CELL_PACK);
        }
}

/* Every second of a pack's cells, from the first or the second on. */
static inline und_d8 second_of(const und_d8 v[2], int offset)
{
    return offset ? __builtin_shufflevector(v[0], v[1], 1, 3, 5, 7, 9, 11, 13, 15)
                  : __builtin_shufflevector(v[0], v[1], 0, 2, 4, 6, 8, 10, 12, 14);
}

/* known: what known cells add to it. */
static void store_diagonal(und_level *level, int y, int z, int k, const und_d8 diagonal[2],
                           const und_d8 known[2])
{
    size_t at = level->place[und_level_pack(level, y, z) + (size_t)k];
    const float largest = (float)level->largest;
    const und_f8 none = {0};
    for (int c = 0; c < 2; c++) {
        const int offset = und_colour_offset(c, y, z);
        const und_d8 own = second_of(diagonal, offset);
        const und_f8 divisor = __builtin_convertvector(own, und_f8);
        UND_SET_F8(level->inverse[c] + at) = (und_f8)((und_i8)(largest / divisor) & (divisor > none));
        if (!level->diagonal[c])
            continue;
        memcpy(level->diagonal[c] + at, &own, sizeof own);
        UND_SET_F8(level->known[c] + at) =
            __builtin_convertvector(second_of(known, offset) / level->largest, und_f8);
    }
}

/* Bits of 16 cells for each of four sides, or fewer. */
static inline uint64_t four_sides(const unsigned *both, int count)
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(both[i] & ALL) << CELLS * i;
    return bits;
}

static void store_beside(und_level *level, int y, int z, int k, const und_around *around)
{
    size_t at = level->place[und_level_pack(level, y, z) + (size_t)k] / UND_CELL_PACK;
    const uint64_t first = four_sides(around->both, 4), last = four_sides(around->both + 4, 2);
    for (int c = 0; c < 2 && level->beside[c]; c++) {
        const int offset = und_colour_offset(c, y, z);
        level->beside[c][at] = und_halve_bits(first >> offset) | und_halve_bits(last >> offset) << 32;
    }
}

static und_around get_around(const und_level *level, const strip *s, int k)
{
    const und_mask *m = &level->unknown;
    int x = CELLS * k;
    und_around c = {.own = und_mask_sixteen(m, s->own, x)};
    if (!c.own)
        return c;
    c.both[0] = c.own & und_mask_sixteen(m, s->own, x - 1);
    c.both[1] = c.own & und_mask_sixteen(m, s->own, x + 1);
    for (int i = 0; i < 4; i++)
        c.both[2 + i] = c.own & und_mask_sixteen(m, s->beside[i], x);
    return c;
}

/* known: what known sides add to the diagonals, NULL where nothing. */
static void set_links(und_level *level, size_t pack, unsigned x, unsigned y, unsigned z, const und_d8 *known)
{
    if (!level->link[0])
        return;
    level->link[0][pack] = (uint16_t)x;
    level->link[1][pack] = (uint16_t)y;
    level->link[2][pack] = (uint16_t)z;
    level->link[3][pack] = (uint16_t)(known ? und_d8_above(known[0]) | und_d8_above(known[1]) << 8 : 0);
}

/* Where a level's sides come from. */
typedef struct source {
    void *context;
    bool (*is_plain)(void *context, int y, int z, int k, const und_around *around);
    /* Sets what known sides add to the diagonals of a pack's cells; false: nothing, and not set. */
    bool (*get_known)(void *context, int y, int z, int k, und_d8 known[2]);
    void (*get)(void *context, strip *s); /* sets the strip's sides */
} source;

static und_d8 add_weights(und_d8 sum, double full, und_f8 low, und_f8 high)
{
    return sum + full * (__builtin_convertvector(low, und_d8) + __builtin_convertvector(high, und_d8));
}

static uint8_t set_plain(und_level *level, const strip *s, int k, const und_around *c, const source *from)
{
    size_t pack = und_level_pack(level, s->y, s->z) + (size_t)k;
    und_d8 known[2] = {{0}, {0}}, diagonal[2];
    bool any = from->get_known(from->context, s->y, s->z, k, known);
    set_links(level, pack, c->both[0], c->both[2], c->both[4], any ? known : NULL);
    unsigned all = c->both[0] & c->both[1] & c->both[2] & c->both[3] & c->both[4] & c->both[5];
    if (!any && all == ALL)
        return UND_CELL_PACK_WHOLE;
    for (int half = 0; half < 2; half++) {
        diagonal[half] = known[half];
        for (int a = 0; a < 3; a++)
            diagonal[half] = add_weights(diagonal[half], level->full[a], und_ones(c->both[2 * a] >> 8 * half),
                                         und_ones(c->both[2 * a + 1] >> 8 * half));
    }
    store_diagonal(level, s->y, s->z, k, diagonal, known);
    store_beside(level, s->y, s->z, k, c);
    return UND_CELL_PACK_PLAIN;
}

static uint8_t set_cut(und_level *level, strip *s, int k, const source *from)
{
    size_t pack = und_level_pack(level, s->y, s->z) + (size_t)k;
    und_d8 known[2] = {{0}, {0}}, diagonal[2];
    s->begin = CELLS * k;
    s->end = s->begin + CELLS;
    from->get(from->context, s);
    from->get_known(from->context, s->y, s->z, k, known);
    set_links(level, pack, bits_where(s->low[0]), bits_where(s->low[1]), bits_where(s->low[2]), known);
    for (int half = 0; half < 2; half++) {
        diagonal[half] = known[half];
        for (int a = 0; a < 3; a++)
            diagonal[half] =
                add_weights(diagonal[half], level->full[a], UND_F8(s->low[a] + UND_CELL_PACK * half),
                            UND_F8(s->high[a] + UND_CELL_PACK * half));
    }
    store_diagonal(level, s->y, s->z, k, diagonal, known);
    store_coefficients(level, s, 0, k);
    return UND_CELL_PACK_CUT;
}

static void set_kinds(und_level *level, int y, int z, const source *from)
{
    uint8_t *kind = level->kind + und_level_pack(level, y, z);
    int begin, end;
    memset(kind, UND_CELL_PACK_DRY, (size_t)level->packs);
    if (!und_level_find_packs(level, y, z, &begin, &end))
        return;
    strip s = get_strip(level, y, z);
    for (int k = begin; k < end; k++) {
        const und_around c = get_around(level, &s, k);
        if (c.own)
            kind[k] = from->is_plain(from->context, y, z, k, &c) ? set_plain(level, &s, k, &c, from)
                                                                 : set_cut(level, &s, k, from);
    }
}

static void begin_level(und_level *level)
{
    uint8_t *kind = level->kind;
    level->kind = level->kind_before;
    level->kind_before = kind;
    level->full_diagonal = 0;
    for (int a = 0; a < 3; a++)
        level->full_diagonal += level->full[a] * 2;
    level->full_inverse = level->full_diagonal > 0 ? (float)(level->largest / level->full_diagonal) : 0;
}

typedef struct building {
    und_multigrid *m;
    int level; /* that is being built */
    const und_sides *sides;
} building;

/* The sides of a pack of the finest level. */
typedef struct fetched {
    const building *building;
    float high[3][2 * CELLS], low[2][CELLS];
} fetched;

static void fetch(const und_sides *sides, int axis, int y, int z, int begin, int end, float *to)
{
    if (y < 0 || z < 0 || !sides->get(sides->context, axis, y, z, begin, end, to))
        memset(to, 0, (size_t)(end - begin) * sizeof *to);
}

static void get_fetched(void *context, strip *s)
{
    fetched *f = context;
    const und_sides *sides = f->building->sides;
    bool first = s->begin == 0;
    f->high[0][CELLS - 1] = 0;
    fetch(sides, 0, s->y, s->z, first ? 0 : s->begin - CELLS, s->end, f->high[0] + (first ? CELLS : 0));
    for (int a = 1; a < 3; a++)
        fetch(sides, a, s->y, s->z, s->begin, s->end, f->high[a] + CELLS);
    for (int a = 0; a < 3; a++)
        s->high[a] = f->high[a] + CELLS;
    fetch(sides, 1, s->y - 1, s->z, s->begin, s->end, f->low[0]);
    fetch(sides, 2, s->y, s->z - 1, s->begin, s->end, f->low[1]);
    s->low[0] = s->high[0] - 1;
    s->low[1] = f->low[0];
    s->low[2] = f->low[1];
}

static bool get_fetched_known(void *context, int y, int z, int k, und_d8 known[2])
{
    const building *b = ((const fetched *)context)->building;
    const und_level *level = &b->m->level[0];
    bool any = false;
    for (int a = 0; a < 3; a++) {
        float more[CELLS];
        if (!b->sides->get(b->sides->context, 3 + a, y, z, CELLS * k, CELLS * (k + 1), more))
            continue;
        any = true;
        for (int half = 0; half < 2; half++)
            known[half] +=
                level->full[a] * __builtin_convertvector(UND_F8(more + UND_CELL_PACK * half), und_d8);
    }
    return any;
}

static bool is_fetched_plain(void *context, int y, int z, int k, const und_around *around)
{
    const und_sides *sides = ((const fetched *)context)->building->sides;
    return sides->is_plain(sides->context, y, z, k, around);
}

static void begin_finest(und_level *level, const double full[3])
{
    level->largest = 0;
    for (int a = 0; a < 3; a++)
        level->largest = full[a] > level->largest ? full[a] : level->largest;
    for (int a = 0; a < 3; a++) {
        level->full[a] = full[a];
        level->weight[a] = level->largest > 0 ? (float)(full[a] / level->largest) : 0;
    }
    begin_level(level);
}

static inline float *side_row(const und_level *level, int axis, int y, int z)
{
    return level->side[axis] + CELLS + (y + 1) * level->side_pitch + (z + 1) * level->side_plane;
}

/* The weights of a pack of the finest level, as und_sides gives them; axis 3: known sides along all axes,
 * over the largest weight.  They are read only where its bits do not tell. */
static void finest_sides(const building *b, int axis, int y, int z, int k, float *weight)
{
    const und_level *level = &b->m->level[0];
    const und_sides *sides = b->sides;
    size_t pack = und_level_pack(level, y, z) + (size_t)k;
    int x = CELLS * k;
    if (level->kind[pack] == UND_CELL_PACK_DRY || (axis == 3 && !level->link[3][pack])) {
        memset(weight, 0, CELLS * sizeof *weight);
    } else if (axis < 3 && level->kind[pack] == UND_CELL_PACK_CUT) {
        fetch(sides, axis, y, z, x, x + CELLS, weight);
    } else if (axis < 3) {
        const und_mask *m = &level->unknown;
        const uint64_t *next = und_mask_row(m, y + (axis == 1), z + (axis == 2));
        unsigned both = und_level_unknown(level, y, z, k) & und_mask_sixteen(m, next, x + (axis == 0));
        for (int i = 0; i < CELLS; i++)
            weight[i] = (float)(int)(both >> i & 1);
    } else {
        const size_t at = level->place[pack];
        for (int c = 0; c < 2; c++)
            for (int q = 0, offset = und_colour_offset(c, y, z); q < UND_CELL_PACK; q++)
                weight[2 * q + offset] = level->known[c][at + (size_t)q];
    }
}

/* Weights of cells [begin, end), packs, of a row of the finer level. */
static const float *fine_sides(const building *b, int axis, int y, int z, int begin, int end, float *room)
{
    if (b->level > 1)
        return side_row(&b->m->level[b->level - 1], axis, y, z) + begin;
    for (int x = begin; x < end; x += CELLS)
        finest_sides(b, axis, y, z, x / CELLS, room + (x - begin));
    return room;
}

/* Adds the weights of one row in it to a coarser row's: sides within a coarser cell are gone. */
static void add_row(const building *b, int axis, const int child[2], const int place[2], int begin, int end,
                    float *sum)
{
    const und_level *fine = &b->m->level[b->level - 1];
    float room[2 * STRIP];
    if ((axis == 1 || axis == 2) && fine->halved[axis] && child[axis - 1] == 0)
        return;
    int scale = fine->halved[0] ? 2 : 1, most = CELLS * fine->packs, shift = fine->shift[0];
    int stop = scale * end - shift < most ? scale * end - shift : most; /* it may be a pack shorter, */
    int start = scale * begin - shift > 0 ? scale * begin - shift : 0;  /* or begin one later */
    const float *weight = fine_sides(b, axis, place[0], place[1], start, stop, room);
    int n = (stop - start) / scale;
    sum += (start + shift) / scale - begin;
    for (int i = 0; i < n && scale == 1; i++)
        sum[i] += weight[i];
    for (int i = 0; i < n && scale == 2; i++)
        sum[i] += axis == 0 ? weight[2 * i + 1] : weight[2 * i] + weight[2 * i + 1];
}

/* The sides of a coarser row's cells: means of those of the finer cells' sides in them. */
static void build_sides(const building *b, int y, int z, int begin, int end)
{
    const und_level *fine = &b->m->level[b->level - 1];
    und_level *coarse = &b->m->level[b->level];
    for (int axis = 0; axis < 4; axis++) {
        float *sum = side_row(coarse, axis, y, z) + begin, factor = axis == 3 ? KNOWN_FACTOR : 1;
        memset(sum, 0, (size_t)(end - begin) * sizeof *sum);
        for (int k = 0; k < 4; k++) {
            const int child[2] = {k & 1, k >> 1};
            const int place[2] = {und_child(fine, 1, y, child[0]), und_child(fine, 2, z, child[1])};
            if (place[0] >= 0 && place[1] >= 0)
                add_row(b, axis, child, place, begin, end, sum);
        }
        for (int a = 0; a < 3 && axis < 3; a++)
            factor *= a != axis && fine->halved[a] ? 0.5f : 1;
        for (int i = 0; i < end - begin; i++)
            sum[i] *= factor;
    }
}

/* Thirty-two cells of a row of the finest level from x on; in front of it there are none. */
static unsigned bits_from(const und_mask *m, int y, int z, int x)
{
    const uint64_t *row = und_mask_row(m, y, z);
    return (x < 0 ? 0 : und_mask_sixteen(m, row, x)) | und_mask_sixteen(m, row, x + CELLS) << CELLS;
}

/* How many sides of finer cells that a coarser pack's sides are made of are between unknown cells: added. */
static void count_sides(const und_level *fine, int axis, const int place[2], int k, float *sum)
{
    const und_mask *m = &fine->unknown;
    const int x = 2 * CELLS * k - fine->shift[0];
    const unsigned both = bits_from(m, place[0], place[1], x) &
                          bits_from(m, place[0] + (axis == 1), place[1] + (axis == 2), x + (axis == 0));
    const unsigned even = (unsigned)und_halve_bits(both), odd = (unsigned)und_halve_bits(both >> 1);
    for (int i = 0; i < CELLS; i += UND_CELL_PACK)
        UND_SET_F8(sum + i) = UND_F8(sum + i) + und_ones(odd >> i) + und_ones(axis == 0 ? 0 : even >> i);
}

static void add_known(const und_level *fine, const int place[2], int k, float *sum)
{
    const int first = 2 * k - fine->shift[0] / CELLS;
    for (int half = first < 0; half < 2 && first + half < fine->packs; half++) {
        const size_t pack = und_level_pack(fine, place[0], place[1]) + (size_t)(first + half);
        const float *known[2] = {fine->known[0] + fine->place[pack], fine->known[1] + fine->place[pack]};
        for (int q = 0; q < UND_CELL_PACK && fine->link[3][pack]; q++)
            sum[UND_CELL_PACK * half + q] += known[0][q] + known[1][q];
    }
}

/* A pack is made of four rows of two at most: is one of them cut? */
static bool has_cut_children(const und_level *fine, int y, int z, int k)
{
    for (int i = 0; i < 8; i++) {
        const int child_y = und_child(fine, 1, y, i & 1), child_z = und_child(fine, 2, z, i >> 1 & 1);
        const int child_k = 2 * k + (i >> 2) - fine->shift[0] / CELLS;
        if (child_y >= 0 && child_z >= 0 && child_k >= 0 && child_k < fine->packs &&
            fine->kind[und_level_pack(fine, child_y, child_z) + (size_t)child_k] == UND_CELL_PACK_CUT)
            return true;
    }
    return false;
}

/* The same as build_sides of a pack on the level above the finest, where bits tell all. */
static void count_all_sides(const building *b, int y, int z, int k)
{
    const und_level *fine = &b->m->level[0];
    und_level *coarse = &b->m->level[1];
    for (int axis = 0; axis < 4; axis++) {
        float *side = side_row(coarse, axis, y, z) + CELLS * k, sum[CELLS] = {0};
        float factor = axis == 3 ? KNOWN_FACTOR : 1;
        for (int i = 0; i < 4; i++) {
            const int place[2] = {und_child(fine, 1, y, i & 1), und_child(fine, 2, z, i >> 1)};
            const bool inner =
                (axis == 1 || axis == 2) && fine->halved[axis] && !(axis == 1 ? i & 1 : i >> 1);
            if (place[0] < 0 || place[1] < 0 || inner)
                continue;
            if (axis == 3)
                add_known(fine, place, k, sum);
            else
                count_sides(fine, axis, place, k, sum);
        }
        for (int a = 0; a < 3 && axis < 3; a++)
            factor *= a != axis && fine->halved[a] ? 0.5f : 1;
        for (int i = 0; i < CELLS; i++)
            side[i] = factor * sum[i];
    }
}

static void clear_sides(und_level *level, int y, int z, int begin, int end)
{
    const uint8_t *before = level->kind_before + und_level_pack(level, y, z);
    for (int k = 0; k < level->packs; k++)
        for (int axis = 0; axis < 4 && before[k] != UND_CELL_PACK_DRY && (k < begin || k >= end); axis++)
            memset(side_row(level, axis, y, z) + CELLS * k, 0, CELLS * sizeof(float));
}

/* A coarser cell is unknown if one in it is. */
static void coarsen_row(const und_level *fine, und_level *coarse, int y, int z)
{
    const und_mask *from = &fine->unknown;
    uint64_t *to = und_mask_row(&coarse->unknown, y, z);
    memset(to, 0, (size_t)coarse->unknown.words * sizeof *to);
    for (int w = 0; w < from->words; w++) {
        uint64_t any = 0; /* cells 64 w and on: bit 0 of the row is the cell beside it */
        for (int k = 0; k < 4; k++) {
            int fy = und_child(fine, 1, y, k & 1), fz = und_child(fine, 2, z, k >> 1);
            if (fy < 0 || fz < 0)
                continue;
            const uint64_t *row = und_mask_row(from, fy, fz);
            any |= row[w] >> 1 | (w + 1 < from->words ? row[w + 1] << 63 : 0);
        }
        int bit = 1 + (fine->halved[0] ? 32 * w + fine->shift[0] / 2 : 64 * w), place = bit >> 6;
        uint64_t bits = fine->halved[0] ? und_halve_bits(any | any >> 1) : any;
        if (place < coarse->unknown.words)
            to[place] |= bits << (bit & 63);
        if (place + 1 < coarse->unknown.words && (bit & 63))
            to[place + 1] |= bits >> (64 - (bit & 63));
    }
}

static void get_stored(void *context, strip *s)
{
    const und_level *level = context;
    for (int a = 0; a < 3; a++)
        s->high[a] = side_row(level, a, s->y, s->z) + s->begin;
    s->low[0] = s->high[0] - 1;
    s->low[1] = s->high[1] - level->side_pitch;
    s->low[2] = s->high[2] - level->side_plane;
}

static bool get_stored_known(void *context, int y, int z, int k, und_d8 known[2])
{
    const float *from = side_row(context, 3, y, z) + CELLS * k;
    unsigned any = 0;
    for (int half = 0; half < 2; half++) {
        known[half] = __builtin_convertvector(UND_F8(from + UND_CELL_PACK * half), und_d8);
        any |= und_d8_above(known[half]);
    }
    return any;
}

static bool is_stored_plain(void *context, int y, int z, int k, const und_around *around)
{
    const und_level *level = context;
    const ptrdiff_t step[3] = {1, level->side_pitch, level->side_plane};
    und_i8 other = {0};
    for (int a = 0; a < 3; a++) {
        const float *side = side_row(level, a, y, z) + CELLS * k;
        other |=
            und_not_one(side - step[a], around->both[2 * a]) | und_not_one(side, around->both[2 * a + 1]);
    }
    return !und_i8_any(&other);
}

/* Are all the finer packs whole that a pack is made of? */
static bool has_whole_children(const und_level *fine, int y, int z, int k)
{
    int scale = fine->halved[0] ? 2 : 1, first = scale * k - fine->shift[0] / CELLS;
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

static void build_strip(const building *b, int y, int z, int begin, int end)
{
    const und_level *fine = &b->m->level[b->level - 1];
    bool counts = b->level == 1 && fine->halved[0];
    for (int k = begin; k < end && counts; k++)
        if (has_cut_children(fine, y, z, k))
            build_sides(b, y, z, CELLS * k, CELLS * (k + 1));
        else
            count_all_sides(b, y, z, k);
    if (!counts)
        build_sides(b, y, z, CELLS * begin, CELLS * end);
}

static void build_row(const building *b, int y, int z, int begin, int end)
{
    const und_level *fine = &b->m->level[b->level - 1];
    und_level *coarse = &b->m->level[b->level];
    for (int k = begin, stop; k < end; k = stop) {
        bool whole = has_whole_children(fine, y, z, k);
        for (stop = k + 1; stop < end && stop - k < STRIP / CELLS;)
            if (has_whole_children(fine, y, z, stop++) != whole) {
                stop--;
                break;
            }
        if (!whole)
            build_strip(b, y, z, k, stop);
        for (int i = CELLS * k; i < CELLS * stop && whole; i++) {
            for (int axis = 0; axis < 3; axis++)
                side_row(coarse, axis, y, z)[i] = 1;
            side_row(coarse, 3, y, z)[i] = 0;
        }
    }
}

static void begin_coarser(const und_level *fine, und_level *coarse)
{
    coarse->largest = 1;
    for (int a = 0; a < 3; a++) {
        coarse->weight[a] = fine->weight[a];
        for (int k = 0; k < 3; k++)
            coarse->weight[a] *= !fine->halved[k] ? 1 : k == a ? 0.5f : 2;
        coarse->full[a] = (double)coarse->weight[a];
    }
    begin_level(coarse);
}

/* Rows of a coarser level that rows of the finer one are in. */
static void coarsen_present(const und_level *fine, und_level *coarse)
{
    const und_mac own = und_level_mac(coarse);
    for (int z = 0; z < fine->n[2]; z++)
        UND_LEVEL_EACH_ROW (fine, y, z) {
            const int low[2] = {fine->halved[1] ? (y + fine->shift[1]) / 2 : y,
                                fine->halved[2] ? (z + fine->shift[2]) / 2 : z};
            und_present_add(coarse->present, low[0], low[1]);
        }
    und_present_count(coarse->present, &own);
}

/* Rows only ever come. */
static void find_present(und_multigrid *m, const und_sides *sides)
{
    const und_mac own = und_level_mac(&m->level[0]);
    const int before = own.present ? own.present->rows : 0;
    if (!own.present)
        return;
    sides->present(sides->context, m->level[0].present);
    und_present_count(m->level[0].present, &own);
    for (int i = 1; i < m->count && own.present->rows != before; i++)
        coarsen_present(&m->level[i - 1], &m->level[i]);
}

/* ---- Passes over slices ---- */

/* Which cells are unknown and, of a coarser level, what their sides are; how much room its packs need. */
static void find_block(const void *args, const und_set *set, int z)
{
    const building *b = args;
    und_level *level = &b->m->level[b->level];
    (void)set;
    UND_LEVEL_EACH_ROW (level, y, z) {
        int begin = 0, end = 0;
        if (b->level == 0) {
            b->sides->unknown(b->sides->context, y, z, und_mask_row(&level->unknown, y, z));
            continue;
        }
        coarsen_row(level - 1, level, y, z);
        und_level_find_packs(level, y, z, &begin, &end);
        clear_sides(level, y, z, begin, end);
        build_row(b, y, z, begin, end);
    }
    level->slice_begin[z] = und_level_place_slice(level, z, 0, NULL);
}

static void begin_block(const void *args, const und_set *set, int block)
{
    const building *b = args;
    (void)set, (void)block;
    und_multigrid_place(b->m, &b->m->level[b->level]);
}

static void place_block(const void *args, const und_set *set, int z)
{
    const building *b = args;
    und_level *level = &b->m->level[b->level];
    (void)set;
    und_level_place_slice(level, z, level->slice_begin[z], level->place);
}

static void set_block(const void *args, const und_set *set, int z)
{
    const building *b = args;
    und_level *level = &b->m->level[b->level];
    fetched f;
    f.building = b;
    const source stored = {level, is_stored_plain, get_stored_known, get_stored},
                 given = {&f, is_fetched_plain, get_fetched_known, get_fetched};
    (void)set;
    UND_LEVEL_EACH_ROW (level, y, z)
        set_kinds(level, y, z, b->level == 0 ? &given : &stored);
    und_level_list_packs(level, z);
}

static void families_block(const void *args, const und_set *set, int z)
{
    const building *b = args;
    (void)set;
    und_level_set_families(&b->m->level[b->level - 1], &b->m->level[b->level], z);
}

static const und_kernel find_kernel = {"find_packs", find_block}, begin_kernel = {"begin_packs", begin_block},
                        place_kernel = {"place_packs", place_block}, set_kernel = {"set_packs", set_block},
                        families_kernel = {"set_families", families_block};

/* Four steps a level; how those of a level's packs are related to the finer level's is found beside the first
 * of the next, and so is what is done beside that. */
enum { STEPS = 4 };
typedef struct und_multigrid_plan {
    building b[UND_MULTIGRID_LEVELS];
    und_set slices[UND_MULTIGRID_LEVELS];
    und_pass find[UND_MULTIGRID_LEVELS + 1][2], other[UND_MULTIGRID_LEVELS][STEPS - 1];
    und_pass beside[UND_MULTIGRID_BESIDE][3]; /* the last of each step from the second level's first on */
    und_step steps[STEPS * UND_MULTIGRID_LEVELS + UND_MULTIGRID_BESIDE];
    int count;
} plan;

static void plan_level(plan *p, const und_multigrid *m, int i)
{
    static const und_set one = {.blocks = 1};
    const int *n = m->level[i].n;
    const building *b = &p->b[i];
    und_pass *find = p->find[i], *other = p->other[i];
    p->slices[i] = und_set_list(p, n[2], 1, n[0] * n[1]);
    find[0] = (und_pass){&find_kernel, b, &p->slices[i]};
    other[0] = (und_pass){&begin_kernel, b, &one};
    other[1] = (und_pass){&place_kernel, b, &p->slices[i]};
    other[2] = (und_pass){&set_kernel, b, &p->slices[i]};
    if (i > 0)
        p->find[i + 1][1] = (und_pass){&families_kernel, b, &p->slices[i]};
    p->steps[p->count++] = (und_step){.passes = find, .count = i > 1 ? 2 : 1};
    for (int k = 0; k < STEPS - 1; k++)
        p->steps[p->count++] = (und_step){.passes = &other[k], .count = 1};
}

/* A step more, or one more pass of it. */
static void plan_beside(plan *p, int i)
{
    und_step *step = &p->steps[STEPS + i];
    if (STEPS + i == p->count)
        *step = (und_step){.count = 0};
    p->count += STEPS + i == p->count;
    for (int k = 0; k < step->count; k++)
        p->beside[i][k] = step->passes[k];
    *step = (und_step){.passes = p->beside[i], .count = step->count + 1};
}

und_status und_multigrid_plan_open(und_multigrid *m, und_error *err)
{
    plan *p = m->plan = und_alloc(1, sizeof *m->plan, "passes of multigrid", err);
    if (!p)
        return err->status;
    for (int i = 0; i < m->count; i++)
        plan_level(p, m, i);
    if (m->count > 1)
        p->steps[p->count++] = (und_step){.passes = &p->find[m->count][1], .count = 1};
    for (int i = 0; i < UND_MULTIGRID_BESIDE; i++)
        plan_beside(p, i);
    return UND_OK;
}

void und_multigrid_plan_close(und_multigrid *m)
{
    free(m->plan);
}

void und_multigrid_done(und_multigrid *m)
{
    if (m->lent)
        und_scratch_give_back(m->scratch, m->lent);
    m->lent = NULL;
}

void und_multigrid_set(und_multigrid *m, const double full[3], const und_sides *sides,
                       const und_pass beside[UND_MULTIGRID_BESIDE])
{
    for (int i = 0; i < UND_MULTIGRID_BESIDE; i++)
        m->plan->beside[i][m->plan->steps[STEPS + i].count - 1] = beside[i];
    und_multigrid_done(m);
    find_present(m, sides);
    begin_finest(&m->level[0], full);
    for (int i = 0; i < m->count; i++) {
        m->plan->b[i] = (building){.m = m, .level = i, .sides = sides};
        if (i > 0)
            begin_coarser(&m->level[i - 1], &m->level[i]);
    }
    und_pass_steps(&m->device, m->plan->steps, m->plan->count);
    for (int i = 0; i < m->count; i++) {
        m->level[i].cells = 0;
        for (int z = 0; z < m->level[i].n[2]; z++) {
            const und_pack_range in = und_level_slice(&m->level[i], z);
            m->level[i].cells += (in.end - in.begin) * CELLS;
        }
    }
    und_multigrid_cycle_set(m);
}
