/* The coarse levels of multigrid by a card: they have so few packs that a launch for each half sweep, or each
 * step of their setting, would take longer than what it does; see src/solve/multigrid.c. */
#ifndef UND_SOLVE_MULTIGRID_COARSE_KERNEL_H
#define UND_SOLVE_MULTIGRID_COARSE_KERNEL_H

#include "solve/multigrid_sides_kernel.h"

/* Arrays are of all levels, from the finest on. */
typedef struct und_coarse_args {
    const und_level *level;
    const und_sweep_args (*sweep)[2];
    const und_restrict_args *restriction;
    const und_correct_args *correction;
    int first, last;         /* of these levels, */
    int sweeps, last_sweeps; /* and how often they are smoothed before the next and after it */
} und_coarse_args;

enum { UND_PACK_PARTS = UND_CELL_PACK / UND_PACK_LANES };

/* A part of a pack, of all for which a level has room; false: there is no such pack. */
UND_INLINE bool und_together_pack(const und_level *level, uint32_t i, und_place *p)
{
    const uint32_t of_slice = (uint32_t)(level->n[1] * level->packs), pack = i / UND_PACK_PARTS;
    p->z = (int)(pack / of_slice);
    p->x = (int)(i % UND_PACK_PARTS) * UND_PACK_LANES;
    const und_pack_range in = und_level_slice(level, p->z);
    p->at = in.begin + pack % of_slice;
    return p->at < in.end;
}
#define UND_EACH_TOGETHER(level, who, p)                                                              \
    for (uint32_t i_ = (who).thread,                                                                  \
                  end_ = (uint32_t)((level)->n[2] * (level)->n[1] * (level)->packs) * UND_PACK_PARTS; \
         i_ < end_; i_ += (who).threads)                                                              \
        if (und_together_pack(level, i_, &(p)))

/* fn(args, place, kind) at all packs of a level. */
#define UND_TOGETHER_KIND(fn, args, level, who)              \
    do {                                                     \
        und_place p_ = {0};                                  \
        UND_EACH_TOGETHER(level, who, p_)                    \
        switch (und_cell_pack_kind(&(level)->list[p_.at])) { \
        case UND_CELL_PACK_WHOLE:                            \
            fn(args, p_, UND_CELL_PACK_WHOLE);               \
            break;                                           \
        case UND_CELL_PACK_PLAIN:                            \
            fn(args, p_, UND_CELL_PACK_PLAIN);               \
            break;                                           \
        default:                                             \
            fn(args, p_, UND_CELL_PACK_CUT);                 \
        }                                                    \
        und_together_wait();                                 \
    } while (0)

/* Half sweeps, from one on to below another; the odd ones are of black cells. */
static inline void und_coarse_smooth(const und_coarse_args *a, int i, int begin, int end, und_together who)
{
    for (int stage = begin; stage < end; stage++) {
        const und_sweep_args sweep = a->sweep[i][stage % 2];
        UND_TOGETHER_KIND(und_smooth, &sweep, &a->level[i], who);
    }
}
static inline void und_coarse_restrict(const und_coarse_args *a, int i, und_together who)
{
    const und_restrict_args args = a->restriction[i];
    UND_TOGETHER_KIND(und_restrict, &args, &a->level[i + 1], who);
}
static inline void und_coarse_correct(const und_coarse_args *a, int i, und_together who)
{
    const und_correct_args args = a->correction[i];
    UND_TOGETHER_KIND(und_correct, &args, &a->level[i], who);
}

/* Down from the first level to the last, and up again. */
UND_KERNEL_STATIC void und_coarse_together(const und_coarse_args *a, const und_set *set, und_together who)
{
    (void)set;
    for (int i = a->first; i < a->last; i++) {
        und_coarse_smooth(a, i, 1, 2 * a->sweeps, who);
        und_coarse_restrict(a, i, who);
    }
    und_coarse_smooth(a, a->last, 1, 2 * a->last_sweeps, who);
    und_coarse_smooth(a, a->last, 1, 2 * a->last_sweeps + 1, who);
    for (int i = a->last - 1; i >= a->first; i--) {
        und_coarse_correct(a, i, who);
        und_coarse_smooth(a, i, 1, 2 * a->sweeps + 1, who);
    }
}
UND_KERNEL_TOGETHER(und_coarse, und_coarse_args)

/* ---- Setting ---- */

typedef struct und_set_coarse_args {
    const und_level_args *of; /* of all levels */
    int first, last;          /* these */
} und_set_coarse_args;

/* fn_item(args, block, item) for all items of so many blocks. */
#define UND_TOGETHER_ITEMS(fn, args, blocks, per_block, who)                  \
    do {                                                                      \
        const int each_ = (per_block), end_ = (blocks)*each_;                 \
        for (int i_ = (int)(who).thread; i_ < end_; i_ += (int)(who).threads) \
            fn##_item(args, i_ / each_, i_ % each_);                          \
    } while (0)

/* Which cells are unknown, and how much room packs need. */
UND_KERNEL_STATIC void und_find_coarse_together(const und_set_coarse_args *a, const und_set *set,
                                                und_together who)
{
    (void)set;
    for (int i = a->first; i <= a->last; i++) {
        const int *n = a->of[i].level->n;
        UND_TOGETHER_ITEMS(und_find_packs, &a->of[i], n[2], n[1], who);
        und_together_wait();
    }
    for (int i = a->first; i <= a->last; i++) {
        const int *n = a->of[i].level->n;
        UND_TOGETHER_ITEMS(und_add_rows, &a->of[i], n[2], n[1] + 1, who);
    }
    und_together_wait();
    for (int i = a->first; i <= a->last; i++)
        UND_TOGETHER_ITEMS(und_add_slices, &a->of[i], 1, a->of[i].level->n[2] + 1, who);
}
UND_KERNEL_TOGETHER(und_find_coarse, und_set_coarse_args)

/* Where packs stand, their sides and kinds, their lists, and how they are related to the finer level's. */
UND_KERNEL_STATIC void und_set_coarse_together(const und_set_coarse_args *a, const und_set *set,
                                               und_together who)
{
    (void)set;
    for (int i = a->first; i <= a->last; i++) {
        const int *n = a->of[i].level->n;
        UND_TOGETHER_ITEMS(und_place_packs, &a->of[i], n[2], n[1], who);
    }
    und_together_wait();
    for (int i = a->first; i <= a->last; i++) {
        const und_level_args *of = &a->of[i];
        const int rows = of->level->n[1], slices = of->level->n[2], packs = rows * of->level->packs;
        UND_TOGETHER_ITEMS(und_find_sides, of, slices, packs, who);
        und_together_wait();
        UND_TOGETHER_ITEMS(und_set_packs, of, slices, packs, who);
        und_together_wait();
        UND_TOGETHER_ITEMS(und_count_row, of, slices, rows, who);
        und_together_wait();
        UND_TOGETHER_ITEMS(und_list_row, of, slices, rows, who);
        und_together_wait();
        UND_TOGETHER_ITEMS(und_set_families, of, slices, packs, who);
    }
}
UND_KERNEL_TOGETHER(und_set_coarse, und_set_coarse_args)

#endif
