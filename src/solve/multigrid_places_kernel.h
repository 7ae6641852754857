/* Kernels that find the unknown cells of multigrid's levels, and where the packs that hold them stand: one
 * behind the other, in lists by their kinds; see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_PLACES_KERNEL_H
#define UND_SOLVE_MULTIGRID_PLACES_KERNEL_H

#include "solve/multigrid_kernel.h"

enum { UND_PACK_CELLS = 2 * UND_CELL_PACK }; /* along x */

typedef struct und_level_args {
    und_level *level;       /* that is set; the finer one is in front of it */
    int32_t finest, second; /* whether it is the finest, or the next */
    und_sides sides;        /* what the finest one is made of */
    uint32_t *total;        /* how long its arrays are, in cells of a colour */
} und_level_args;

UND_INLINE bool und_level_has_row(const und_level *level, int y, int z)
{
    return und_present_has(level->present, y, z);
}

/* ---- Unknown cells ---- */

/* Those of a row of the finest level, from the grid's mask, whose window may begin later. */
static inline void und_take_unknown(const und_level_args *a, int y, int z)
{
    const und_sides *s = &a->sides;
    const und_mask *m = &s->unknown;
    const int words = a->level->unknown.words, low = s->before[0];
    const int in_y = y - s->before[1], in_z = z - s->before[2];
    const int own_y = s->flat ? in_z : in_y, own_z = s->flat ? in_y : in_z;
    const bool there = own_y >= 0 && own_y < m->n[1] && own_z >= 0 && own_z < m->n[2];
    const uint64_t *from = there ? und_mask_row(m, own_y, own_z) : NULL;
    uint64_t *row = und_mask_row(&a->level->unknown, y, z);
    if (low == 0 && m->words == words && from) {
        __builtin_memcpy(row, from, (size_t)words * sizeof *row);
        return;
    }
    __builtin_memset(row, 0, (size_t)words * sizeof *row);
    for (int w = 0; from && w < m->words; w++) {
        const int place = (64 * w + low) / 64, shift = low % 64;
        if (place < words)
            row[place] |= from[w] << shift;
        if (shift > 0 && place + 1 < words)
            row[place + 1] |= from[w] >> (64 - shift);
    }
}

/* A coarser cell is unknown if one in it is. */
static inline void und_coarsen_row(const und_level *fine, und_level *coarse, int y, int z)
{
    const und_mask *from = &fine->unknown;
    uint64_t *to = und_mask_row(&coarse->unknown, y, z);
    __builtin_memset(to, 0, (size_t)coarse->unknown.words * sizeof *to);
    for (int w = 0; w < from->words; w++) {
        uint64_t any = 0; /* cells 64 w and on: bit 0 of the row is the cell beside it */
        for (int k = 0; k < 4; k++) {
            const int fy = und_child(fine, 1, y, k & 1), fz = und_child(fine, 2, z, k >> 1);
            if (fy < 0 || fz < 0)
                continue;
            const uint64_t *row = und_mask_row(from, fy, fz);
            any |= row[w] >> 1 | (w + 1 < from->words ? row[w + 1] << 63 : 0);
        }
        const int bit = 1 + (fine->halved[0] ? 32 * w + fine->shift[0] / 2 : 64 * w), place = bit >> 6;
        const uint64_t bits = fine->halved[0] ? und_halve_bits(any | any >> 1) : any;
        if (place < coarse->unknown.words)
            to[place] |= bits << (bit & 63);
        if (place + 1 < coarse->unknown.words && (bit & 63))
            to[place + 1] |= bits >> (64 - (bit & 63));
    }
}

/* The packs of a row from its first unknown cell to its last; false: there is none. */
static inline bool und_level_find_packs(const und_level *level, int y, int z, int *begin, int *end)
{
    const uint64_t *row = und_mask_row(&level->unknown, y, z);
    int first = 0, last = level->unknown.words - 1;
    while (first <= last && !row[first])
        first++;
    if (first > last)
        return false;
    while (!row[last])
        last--;
    *begin = (64 * first + __builtin_ctzll(row[first]) - 1) / UND_PACK_CELLS;
    *end = (64 * last + 63 - __builtin_clzll(row[last]) - 1) / UND_PACK_CELLS + 1;
    return true;
}

/* ---- Places ---- */

static inline void und_clear_pack(const und_level *level, size_t pack, bool gaps)
{
    for (int i = 0; i < level->arrays; i++) {
        char *array;
        if (gaps && !level->array[i].gaps)
            continue;
        __builtin_memcpy(&array, (const char *)level + level->array[i].to, sizeof array);
        __builtin_memset(array + pack * level->array[i].size, 0, level->array[i].size);
    }
}

/* Gives each pack with unknown cells in a row its place from `at` on, and one of 0 behind each stretch of
 * them; where the next row begins. */
static inline uint32_t und_place_row(const und_level *level, int y, int z, uint32_t at)
{
    int begin = 0, end = 0;
    uint32_t *place = level->place + und_level_pack(level, y, z);
    und_level_find_packs(level, y, z, &begin, &end);
    __builtin_memset(place, 0, (size_t)level->packs * sizeof *place);
    for (int k = begin; k < end; k++) {
        if (!und_level_unknown(level, y, z, k))
            continue;
        place[k] = at;
        at += UND_CELL_PACK;
        if (k + 1 < end && und_level_unknown(level, y, z, k + 1))
            continue;
        und_clear_pack(level, at / UND_CELL_PACK, true);
        at += UND_CELL_PACK;
    }
    return at;
}
/* How much room it needs. */
static inline uint32_t und_size_of_row(const und_level *level, int y, int z)
{
    int begin = 0, end = 0;
    uint32_t size = 0;
    und_level_find_packs(level, y, z, &begin, &end);
    for (int k = begin, before = 0; k < end; k++) {
        const int own = und_level_unknown(level, y, z, k) != 0;
        size += (own && !before ? 2 : own ? 1 : 0) * UND_CELL_PACK;
        before = own;
    }
    return size;
}

/* A slice each on this machine, by fn##_block(args, set, slice); on a card each of its items, as
 * UND_PLACES_EACH has them, by fn##_item(args, slice, item). */
#ifdef UND_CARD
#define UND_KERNEL_OF_ITEMS(fn, args_type)                                                      \
    UND_INLINE void fn##_on(const und_call *call_, const und_set *set_, const args_type *args_, \
                            uint32_t thread_)                                                   \
    {                                                                                           \
        (void)set_;                                                                             \
        fn##_item(args_, (int)(thread_ / call_->along), (int)(thread_ % call_->along));         \
    }                                                                                           \
    UND_CARD_ENTRY(fn, args_type, fn##_on)
#else
#define UND_KERNEL_OF_ITEMS(fn, args_type)
#endif
#define UND_KERNEL_ITEMS(fn, args_type) \
    typedef args_type fn##_args_of;     \
    UND_KERNEL_OF_ITEMS(fn, args_type)  \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), UND_PLACES_EACH, false, 0})

/* Which cells are unknown, and how much room its packs need: of a row here, of those before it in its slice
 * where a slice is done. */
static inline void und_find_row(const und_level_args *a, int y, int z)
{
    if (a->finest)
        und_take_unknown(a, y, z);
    else
        und_coarsen_row(a->level - 1, a->level, y, z);
}
UND_INLINE void und_find_packs_item(const und_level_args *a, int z, int y)
{
    uint32_t *size = &a->level->row_size[z * a->level->n[1] + y];
    *size = 0;
    if (!und_level_has_row(a->level, y, z))
        return;
    und_find_row(a, y, z);
    *size = und_size_of_row(a->level, y, z);
}
UND_KERNEL_STATIC void und_find_packs_block(const void *args, const und_set *set, int z)
{
    const und_level_args *a = args;
    const und_level *level = a->level;
    uint32_t at = 0;
    (void)set;
    UND_LEVEL_EACH_ROW (level, y, z) {
        und_find_row(a, y, z);
        level->row_begin[z * level->n[1] + y] = at;
        at += und_size_of_row(level, y, z);
    }
    level->slice_size[z] = at;
}
UND_KERNEL_ITEMS(und_find_packs, und_level_args)

/* What is before each row of a slice, where rows were found one by one; the last item is behind them. */
UND_INLINE void und_add_rows_item(const und_level_args *a, int z, int y)
{
    const und_level *level = a->level;
    const uint32_t *size = level->row_size + z * level->n[1];
    uint32_t at = 0;
    for (int i = 0; i < y; i++)
        at += size[i];
    *(y < level->n[1] ? &level->row_begin[z * level->n[1] + y] : &level->slice_size[z]) = at;
}
UND_KERNEL_STATIC void und_add_rows_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_add_rows_item(args, z, y);
}
UND_KERNEL_ITEMS(und_add_rows, und_level_args)

/* Where slices begin, behind a pack that is 0; the last item is behind them. */
UND_INLINE void und_add_slices_item(const und_level_args *a, int block, int z)
{
    const und_level *level = a->level;
    uint32_t at = UND_CELL_PACK;
    (void)block;
    for (int i = 0; i < z; i++)
        at += level->slice_size[i];
    level->slice_begin[z] = at;
    if (z == level->n[2])
        *a->total = at;
}
UND_KERNEL_STATIC void und_add_slices_block(const void *args, const und_set *set, int block)
{
    const und_level_args *a = args;
    const und_level *level = a->level;
    (void)set, (void)block;
    level->slice_begin[0] = UND_CELL_PACK;
    for (int z = 0; z < level->n[2]; z++)
        level->slice_begin[z + 1] = level->slice_begin[z] + level->slice_size[z];
    *a->total = level->slice_begin[level->n[2]];
}
UND_KERNEL_ITEMS(und_add_slices, und_level_args)

UND_INLINE void und_place_packs_item(const und_level_args *a, int z, int y)
{
    const und_level *level = a->level;
    if (y == 0 && z == 0)
        und_clear_pack(level, 0, false);
    if (und_level_has_row(level, y, z))
        und_place_row(level, y, z, level->slice_begin[z] + level->row_begin[z * level->n[1] + y]);
}
UND_KERNEL_STATIC void und_place_packs_block(const void *args, const und_set *set, int z)
{
    const und_level_args *a = args;
    uint32_t at = a->level->slice_begin[z];
    (void)set;
    if (z == 0)
        und_clear_pack(a->level, 0, false);
    UND_LEVEL_EACH_ROW (a->level, y, z)
        at = und_place_row(a->level, y, z, at);
}
UND_KERNEL_ITEMS(und_place_packs, und_level_args)

/* ---- Lists ---- */

static inline und_cell_pack und_get_pack(const und_level *level, int y, int z, int k)
{
    const size_t number = und_level_pack(level, y, z) + (size_t)k, row = (size_t)level->packs;
    const uint32_t *place = level->place + number;
    const size_t slice = row * (size_t)level->n[1];
    return (und_cell_pack){.at = *place | 2u * level->kind[number] | (uint32_t)und_colour_offset(0, y, z),
                           .beside = {y > 0 ? *(place - row) : 0, y < level->n[1] - 1 ? place[row] : 0,
                                      z > 0 ? *(place - slice) : 0, z < level->n[2] - 1 ? place[slice] : 0},
                           .y = (uint16_t)y,
                           .k = (uint16_t)k};
}

static inline void und_count_kinds(const und_level *level, int y, int z, int32_t count[UND_CELL_PACK_KINDS])
{
    const uint8_t *kind = level->kind + und_level_pack(level, y, z);
    for (int k = 0; k < level->packs; k++)
        count[kind[k]]++;
}
/* The packs of a row, from where those of each kind begin in the slice's list. */
static inline void und_list_row(const und_level *level, int y, int z, int32_t next[UND_CELL_PACK_KINDS])
{
    const size_t slice = und_level_pack(level, 0, z), row = und_level_pack(level, y, z);
    for (int k = 0; k < level->packs; k++) {
        const uint8_t kind = level->kind[row + (size_t)k];
        if (kind == UND_CELL_PACK_DRY)
            continue;
        const size_t number = slice + (size_t)next[kind]++;
        level->number[level->place[row + (size_t)k] / UND_CELL_PACK] = (uint32_t)number;
        level->list[number] = und_get_pack(level, y, z, k);
    }
}

/* A slice's, by their kinds. */
static inline void und_level_list_packs(const und_level *level, int z)
{
    int32_t *end = level->list_end + (size_t)z * UND_CELL_PACK_KINDS, of_kind[UND_CELL_PACK_KINDS] = {0};
    UND_LEVEL_EACH_ROW (level, y, z)
        und_count_kinds(level, y, z, of_kind);
    end[UND_CELL_PACK_DRY] = 0;
    for (int i = UND_CELL_PACK_WHOLE, place = 0; i < UND_CELL_PACK_KINDS; i++) {
        end[i] = place; /* where they begin, until they are listed */
        place += of_kind[i];
    }
    UND_LEVEL_EACH_ROW (level, y, z)
        und_list_row(level, y, z, end);
}

/* The same row by row. */
UND_INLINE void und_count_row_item(const und_level_args *a, int z, int y)
{
    const und_level *level = a->level;
    int32_t *count = level->row_kinds + (size_t)(z * level->n[1] + y) * UND_CELL_PACK_KINDS;
    for (int i = 0; i < UND_CELL_PACK_KINDS; i++)
        count[i] = 0;
    if (und_level_has_row(level, y, z))
        und_count_kinds(level, y, z, count);
}
UND_KERNEL_STATIC void und_count_row_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_count_row_item(args, z, y);
}
UND_KERNEL_ITEMS(und_count_row, und_level_args)

UND_INLINE void und_list_row_item(const und_level_args *a, int z, int y)
{
    const und_level *level = a->level;
    const int32_t *count = level->row_kinds + (size_t)(z * level->n[1]) * UND_CELL_PACK_KINDS;
    int32_t all[UND_CELL_PACK_KINDS] = {0}, next[UND_CELL_PACK_KINDS] = {0};
    for (int i = 0; i < level->n[1]; i++)
        for (int kind = UND_CELL_PACK_WHOLE; kind < UND_CELL_PACK_KINDS; kind++) {
            const int32_t own = count[i * UND_CELL_PACK_KINDS + kind];
            all[kind] += own;
            next[kind] += i < y ? own : 0;
        }
    for (int kind = UND_CELL_PACK_WHOLE, first = 0; kind < UND_CELL_PACK_KINDS; kind++) {
        next[kind] += first;
        first = all[kind] += first;
    }
    for (int kind = 0; kind < UND_CELL_PACK_KINDS && y == 0; kind++)
        level->list_end[z * UND_CELL_PACK_KINDS + kind] = all[kind];
    if (und_level_has_row(level, y, z))
        und_list_row(level, y, z, next);
}
UND_KERNEL_STATIC void und_list_row_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_list_row_item(args, z, y);
}
UND_KERNEL_ITEMS(und_list_row, und_level_args)

/* ---- Families ---- */

/* The packs of the finer level that one of the coarser is made of, and which cells of that theirs are in. */
static inline void und_set_family(und_level *fine, const und_level *coarse, int z, size_t number)
{
    const und_cell_pack *e = coarse->list + number;
    und_children *c = &coarse->children[number];
    const int wide = fine->halved[0] ? 2 : 1;
    for (int row = 0; row < 4; row++)
        for (int half = 0; half < 2; half++) {
            const int y = und_child(fine, 1, e->y, row & 1), child_z = und_child(fine, 2, z, row >> 1);
            const int k = wide * e->k + half - fine->shift[0] / UND_PACK_CELLS;
            c->number[row][half] = UND_NO_CHILD;
            if (y < 0 || child_z < 0 || k < 0 || k >= fine->packs || half >= wide)
                continue;
            const uint32_t place = fine->place[und_level_pack(fine, y, child_z) + (size_t)k];
            if (!place)
                continue;
            c->number[row][half] = fine->number[place / UND_CELL_PACK];
            fine->list[c->number[row][half]].parent =
                ((uint32_t)und_cell_pack_at(e) + (half ? UND_CELL_PACK / 2 : 0)) | (e->at & 1);
        }
}
UND_INLINE void und_set_families_item(const und_level_args *a, int z, int item)
{
    const und_pack_range all = und_level_slice(a->level, z);
    if (all.begin + (size_t)item < all.end)
        und_set_family(a->level - 1, a->level, z, all.begin + (size_t)item);
}
UND_KERNEL_STATIC void und_set_families_block(const void *args, const und_set *set, int z)
{
    const und_level_args *a = args;
    const und_pack_range all = und_level_slice(a->level, z);
    (void)set;
    for (size_t i = all.begin; i < all.end; i++)
        und_set_family(a->level - 1, a->level, z, i);
}
UND_KERNEL_ITEMS(und_set_families, und_level_args)

#endif
