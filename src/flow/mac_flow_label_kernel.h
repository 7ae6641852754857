/* Which cells are liquid, and which faces flow (Wrenninge 2003, 4.4.2): a word of a row's bits at a time. */
#ifndef UND_FLOW_MAC_FLOW_LABEL_KERNEL_H
#define UND_FLOW_MAC_FLOW_LABEL_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"

typedef struct und_label_cells_args {
    und_mac mac;
    const float *phi, *open[3]; /* open parts of high faces */
    bool none;                  /* those inside are wholly open */
    float level;
    und_mask liquid;
} und_label_cells_args;

/* Cells of a word that have an open face. */
UND_INLINE uint64_t und_label_opened(const und_label_cells_args *a, size_t row, int w)
{
    const int n = a->mac.n[0];
    if (a->none && (n > 1 || a->mac.n[1] > 1))
        return ~UINT64_C(0);
    const uint64_t across = und_word_of(a->open[0] + row, n, w, true, 0);
    const uint64_t before = w > 0 ? (uint64_t)(a->open[0][row + (size_t)(64 * w) - 2] > 0) : 0;
    uint64_t open = across | across << 1 | before;
    for (int axis = 1; axis < (a->mac.n[2] == 1 ? 2 : 3); axis++)
        open |= und_word_of(a->open[axis] + row, n, w, true, 0) |
                und_word_of(a->open[axis] + row - a->mac.step[axis], n, w, true, 0);
    return open;
}

UND_INLINE void und_label_cells(const und_label_cells_args *a, und_place p)
{
    const int n = a->mac.n[0];
    const uint64_t bits = und_word_of(a->phi + p.at, n, p.x, false, a->level) & und_word_inside(n, p.x);
    und_mask_row(&a->liquid, p.y, p.z)[p.x] = bits ? bits & und_label_opened(a, p.at, p.x) : 0;
}
UND_KERNEL(und_label_cells, und_label_cells_args, UND_EACH_WORD)

typedef struct und_label_faces_args {
    und_mac mac;
    const float *open[3];
    bool none;
    und_mask liquid;
    und_mask flows[3], shut[3], set[3]; /* open; closed; those that had or have a velocity */
} und_label_faces_args;

/* Open faces of a word; where none inside is shut those at the domain's sides alone are looked at. */
UND_INLINE uint64_t und_label_open_faces(const und_label_faces_args *a, und_place p, int axis)
{
    const int n = a->mac.n[0], w = p.x, at = axis == 1 ? p.y : p.z;
    const float *open = a->open[axis] + p.at;
    uint64_t bits = ~UINT64_C(0);
    if (!a->none || (axis > 0 && (at < 0 || at == a->mac.n[axis] - 1)))
        return und_word_of(open, n, w, true, 0);
    if (axis == 0 && w == 0 && !(open[-1] > 0))
        bits &= ~UINT64_C(1);
    if (axis == 0 && w == n >> 6 && !(open[n - 1] > 0))
        bits &= ~(UINT64_C(1) << (n & 63));
    return bits;
}

/* Faces between cells of a row, or of two rows beside each other. */
UND_INLINE void und_label_faces(const und_label_faces_args *a, und_place p, int axis)
{
    const int w = p.x, words = a->liquid.words;
    if ((p.y < 0 && axis != 1) || (p.z < 0 && axis != 2))
        return;
    const uint64_t *here = und_mask_row(&a->liquid, p.y, p.z);
    const uint64_t beyond = axis > 0 ? und_mask_row(&a->liquid, p.y + (axis == 1), p.z + (axis == 2))[w]
                                     : here[w] >> 1 | (w + 1 < words ? here[w + 1] << 63 : 0);
    const uint64_t touched = here[w] | beyond;
    const uint64_t open = touched ? und_label_open_faces(a, p, axis) : 0;
    und_mask_row(&a->flows[axis], p.y, p.z)[w] = touched & open;
    und_mask_row(&a->shut[axis], p.y, p.z)[w] = touched & ~open;
    und_mask_row(&a->set[axis], p.y, p.z)[w] |= touched & open;
}
UND_KERNEL_AXES(und_label_faces, und_label_faces_args, UND_EACH_WORD)

typedef struct und_leave_faces_args {
    und_mask cells, faces[3];
} und_leave_faces_args;

/* Faces of these cells are none of a set. */
UND_INLINE void und_leave_faces(const und_leave_faces_args *a, und_place p, int axis)
{
    const int w = p.x, words = a->cells.words;
    const uint64_t *here = und_mask_row(&a->cells, p.y, p.z);
    const uint64_t beyond = axis > 0 ? und_mask_row(&a->cells, p.y + (axis == 1), p.z + (axis == 2))[w]
                                     : here[w] >> 1 | (w + 1 < words ? here[w + 1] << 63 : 0);
    und_mask_row(&a->faces[axis], p.y, p.z)[w] &= ~(here[w] | beyond);
}
UND_KERNEL_AXES(und_leave_faces, und_leave_faces_args, UND_EACH_WORD)

/* ---- The pressure ---- */

typedef struct und_forget_args {
    und_mask pressed, liquid, band; /* cells where it may be other than 0, and those that keep it */
    double *p;
} und_forget_args;

UND_INLINE void und_forget_row(const und_forget_args *a, und_place p)
{
    uint64_t *row = und_mask_row(&a->pressed, p.y, p.z);
    const uint64_t *liquid = und_mask_row(&a->liquid, p.y, p.z), *band = und_mask_row(&a->band, p.y, p.z);
    const und_span words = und_mask_words(&a->pressed, p.y, p.z);
    for (int w = words.begin; w < words.end; w++) {
        uint64_t gone = row[w] & ~(liquid[w] | band[w]);
        row[w] &= ~gone;
        for (; gone; gone &= gone - 1)
            a->p[p.at - 1 + (size_t)(64 * w + __builtin_ctzll(gone))] = 0;
    }
}
UND_KERNEL(und_forget_row, und_forget_args, UND_EACH_ROW)

typedef struct und_pressed_args {
    und_mac mac;
    und_mask pressed;
    const double *p;
} und_pressed_args;

UND_INLINE void und_find_pressed(const und_pressed_args *a, und_place p)
{
    uint64_t *row = und_mask_row(&a->pressed, p.y, p.z);
    const und_span span = und_mac_span(&a->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x++)
        row[(x + 1) >> 6] |= (uint64_t)(a->p[p.at + (size_t)x] != 0) << ((x + 1) & 63);
}
UND_KERNEL(und_find_pressed, und_pressed_args, UND_EACH_ROW)

/* ---- How fast it is ---- */

typedef struct und_speed_args {
    const float *u;
    ptrdiff_t ahead; /* of what is fetched */
} und_speed_args;

/* How fast faces are; what is no number is endless. */
UND_INLINE und_lanes und_face_speed(const und_speed_args *a, und_place p)
{
    const und_lanes v = und_lanes_load(a->u + p.at);
    und_lanes_fetch(a->u + p.at + a->ahead);
    const und_lanes number = und_lanes_select(v == v, v, und_lanes_all(__builtin_inff()));
    return und_lanes_max(number, -number);
}
UND_KERNEL_MOST(und_face_speed, und_speed_args, UND_EACH_CELL)

/* How many faces are faster than each of some speeds, the lowest first; and how many there are. */
enum { UND_FASTER_THAN = 8 };
typedef struct und_faster_args {
    const float *u;
    const float *most; /* how fast the fastest of each block is */
    float than[UND_FASTER_THAN];
    int32_t (*count)[UND_FASTER_THAN + 1]; /* of each block */
} und_faster_args;

UND_INLINE void und_count_faster(const und_faster_args *a, und_place p, int32_t count[UND_FASTER_THAN + 1])
{
    const und_lanes v = und_lanes_load(a->u + p.at), speed = und_lanes_max(v, -v);
    unsigned which = p.which;
    for (int k = 0; k < UND_FASTER_THAN && which; k++) {
        which &= und_lanes_bits(speed > a->than[k]);
        count[k] += __builtin_popcount(which);
    }
}
UND_KERNEL_STATIC void und_count_faster_block(const void *args, const und_set *set, int block)
{
    const und_faster_args a = *(const und_faster_args *)args;
    int32_t count[UND_FASTER_THAN + 1] = {0};
    UND_EACH_WORD (set, block, p)
        count[UND_FASTER_THAN] += __builtin_popcountll(und_mask_row(set->cells, p.y, p.z)[p.x]);
    if (a.most[block] > a.than[0])
        UND_EACH_CELL (set, block, p)
            und_count_faster(&a, p, count);
    for (int k = 0; k <= UND_FASTER_THAN; k++)
        a.count[block][k] = count[k];
}
UND_KERNEL_BLOCK(und_count_faster, und_faster_args)

#endif
