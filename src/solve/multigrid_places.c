/* Where the packs of multigrid's levels stand: those that hold unknown cells, one behind the other. */
#include "solve/multigrid_places.h"

#include "solve/multigrid_kernel.h"

#include <string.h>

enum { CELLS = 2 * UND_CELL_PACK };

bool und_level_find_packs(const und_level *level, int y, int z, int *begin, int *end)
{
    const uint64_t *row = und_mask_row(&level->unknown, y, z);
    int first = 0, last = level->unknown.words - 1;
    while (first <= last && !row[first])
        first++;
    if (first > last)
        return false;
    while (!row[last])
        last--;
    *begin = (64 * first + __builtin_ctzll(row[first]) - 1) / CELLS;
    *end = (64 * last + 63 - __builtin_clzll(row[last]) - 1) / CELLS + 1;
    return true;
}

static void clear_pack(const und_level *level, size_t pack, bool gaps)
{
    for (int i = 0; i < level->arrays; i++) {
        char *array;
        if (gaps && !level->array[i].gaps)
            continue;
        memcpy(&array, (const char *)level + level->array[i].to, sizeof array);
        memset(array + pack * level->array[i].size, 0, level->array[i].size);
    }
}

uint32_t und_level_place_slice(const und_level *level, int z, uint32_t at, uint32_t *place)
{
    UND_LEVEL_EACH_ROW (level, y, z) {
        int begin = 0, end = 0;
        size_t row = und_level_pack(level, y, z);
        und_level_find_packs(level, y, z, &begin, &end);
        if (place)
            memset(place + row, 0, (size_t)level->packs * sizeof *place);
        for (int k = begin; k < end; k++) {
            if (!und_level_unknown(level, y, z, k))
                continue;
            if (place)
                place[row + (size_t)k] = at;
            at += UND_CELL_PACK;
            if (k + 1 < end && und_level_unknown(level, y, z, k + 1))
                continue;
            if (place)
                clear_pack(level, at / UND_CELL_PACK, true);
            at += UND_CELL_PACK;
        }
    }
    return at;
}

void und_multigrid_place(und_multigrid *m, und_level *level)
{
    uint32_t at = UND_CELL_PACK; /* behind one that is 0 */
    for (int z = 0; z < level->n[2]; z++) {
        uint32_t size = level->slice_begin[z];
        level->slice_begin[z] = at;
        at += size;
    }
    level->slice_begin[level->n[2]] = at;
    for (int i = 0; i < level->arrays; i++) {
        const void *array = und_scratch_take(m->scratch, at / UND_CELL_PACK * level->array[i].size);
        memcpy((char *)level + level->array[i].to, &array, sizeof array);
        m->lent = m->lent ? m->lent : array;
    }
    clear_pack(level, 0, false);
}

void und_level_set_families(und_level *fine, const und_level *coarse, int z)
{
    const und_pack_range all = und_level_slice(coarse, z);
    const int wide = fine->halved[0] ? 2 : 1;
    for (size_t i = all.begin; i < all.end; i++) {
        const und_cell_pack *e = coarse->list + i;
        und_children *c = &coarse->children[i];
        for (int row = 0; row < 4; row++)
            for (int half = 0; half < 2; half++) {
                const int y = und_child(fine, 1, e->y, row & 1), child_z = und_child(fine, 2, z, row >> 1);
                const int k = wide * e->k + half - fine->shift[0] / CELLS;
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
}

static und_cell_pack get_pack(const und_level *level, int y, int z, int k)
{
    size_t number = und_level_pack(level, y, z) + (size_t)k, row = (size_t)level->packs;
    const uint32_t *place = level->place + number;
    size_t slice = row * (size_t)level->n[1];
    return (und_cell_pack){.at = *place | 2u * level->kind[number] | (uint32_t)und_colour_offset(0, y, z),
                           .beside = {y > 0 ? *(place - row) : 0, y < level->n[1] - 1 ? place[row] : 0,
                                      z > 0 ? *(place - slice) : 0, z < level->n[2] - 1 ? place[slice] : 0},
                           .y = (uint16_t)y,
                           .k = (uint16_t)k};
}

void und_level_list_packs(und_level *level, int z)
{
    size_t first = und_level_pack(level, 0, z);
    const uint8_t *kind = level->kind + first;
    und_cell_pack *list = level->list + first;
    int32_t *end = level->list_end + (size_t)z * UND_CELL_PACK_KINDS, of_kind[UND_CELL_PACK_KINDS] = {0};
    UND_LEVEL_EACH_ROW (level, y, z)
        for (int i = y * level->packs; i < (y + 1) * level->packs; i++)
            of_kind[kind[i]]++;
    end[UND_CELL_PACK_DRY] = 0;
    for (int i = UND_CELL_PACK_WHOLE, place = 0; i < UND_CELL_PACK_KINDS; i++) {
        end[i] = place; /* where they begin, until they are listed */
        place += of_kind[i];
    }
    UND_LEVEL_EACH_ROW (level, y, z)
        for (int k = 0, i = y * level->packs; k < level->packs; k++, i++)
            if (kind[i] != UND_CELL_PACK_DRY) {
                level->number[level->place[first + (size_t)i] / UND_CELL_PACK] =
                    (uint32_t)(first + (size_t)end[kind[i]]);
                list[end[kind[i]]++] = get_pack(level, y, z, k);
            }
}
