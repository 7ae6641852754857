/* What is thinner than a cell, in the air, breaks up into drops.
 *
 * Which cells do is known first, and which of those around give them what their last drop lacks; so no two
 * take of the same cell, and each is by itself.  How many drops there are before those of a block is added up
 * before they set out. */
#ifndef UND_LIQUID_LEVELSET_BREAKUP_KERNEL_H
#define UND_LIQUID_LEVELSET_BREAKUP_KERNEL_H

#include "liquid/levelset_drops_kernel.h"
#include "surface/volume_thin_kernel.h"

enum { UND_BREAKUP_EXACT = UND_VOLUME_ONE / 8 }; /* a float's radius tells so many parts from one more */
enum { UND_BREAKUP_ROUNDED = 256 }; /* parts: more than a drop of some cells is off by for its radius */
#define UND_BREAKUP_THINNEST 0.5    /* cells: what is thicker holds together */

typedef struct und_breakup {
    und_volume_thinning t;
    und_dropping d;
    double rate; /* in which it does in the substep, where it is as thin as can be; 0: only what phi shows
                    nothing of */
} und_breakup;

/* The thinner it is the sooner; what phi shows nothing of, at once.  How large its drops are then stands
 * where its thickness did. */
UND_INLINE bool und_breakup_breaks(const void *breakup, const int cell[3], size_t at)
{
    const und_breakup *b = breakup;
    const float thickness = b->t.v.fraction[at];
    const double rate = und_double_max(1 - (double)thickness / UND_BREAKUP_THINNEST, 0) * b->rate;
    if (thickness > 0) {
        if (!(rate > 0))
            return false;
        const und_drop_dice dice = und_drop_dice_of(&b->d, cell);
        if (!(und_random(dice.seed, UND_STREAM_BREAK, dice.cell) < -und_exp_less_1(-rate)))
            return false;
    }
    b->t.v.fraction[at] = und_drop_diameter(&b->d, und_drop_strain(&b->d, at));
    return true;
}

static inline void und_breakup_choose(const und_breakup *b, und_place p)
{
    und_volume_thin_choose_breaking(&b->t, p, und_breakup_breaks, b);
}
UND_KERNEL(und_breakup_choose, und_breakup, UND_EACH_BLOCK)

/* A cell that breaks up, as its drops are drawn. */
typedef struct und_breakup_cell {
    und_drop_dice dice;
    size_t at;
    float diameter; /* cells */
    int32_t left, beside;
    int k;
} und_breakup_cell;

static inline und_breakup_cell und_breakup_begin(const und_breakup *b, const int cell[3], size_t at)
{
    return (und_breakup_cell){.dice = und_drop_dice_of(&b->d, cell),
                              .at = at,
                              .diameter = b->t.v.fraction[at],
                              .left = b->t.v.c[at],
                              .beside = und_volume_thin_beside(&b->t, at)};
}

/* Of a cell that has so much left: what would be less than a tenth of a drop goes along with the last, which
 * takes what it lacks from beside.  So drops of thin cells are not small because of those. */
static inline double und_breakup_units(const und_breakup_cell *c, double units, double mean)
{
    if (c->left - units >= 0.1 * mean)
        return units;
    if (c->beside >= UND_BREAKUP_ROUNDED)
        return und_double_min(und_double_max(units, c->left + UND_BREAKUP_ROUNDED),
                              (double)c->left + c->beside);
    return c->left > UND_BREAKUP_EXACT ? __builtin_floor(c->left / 2.0) : c->left;
}

/* The next drop's radius, m; how much it has.  0: there is none. */
static inline float und_breakup_next(const und_breakup *b, und_breakup_cell *c, int32_t *amount)
{
    double mean, parts;
    if (c->left <= 0)
        return 0;
    const double units = und_drop_units(&c->dice, c->k, c->diameter, &mean);
    const float radius = und_drop_radius(b->d.quantum, und_breakup_units(c, units, mean), &parts);
    if (!(radius > 0 && radius < 1000 && parts > 0))
        return 0;
    *amount = (int32_t)parts;
    c->left -= *amount;
    c->k++;
    return radius;
}

/* How many drops a block has. */
static inline void und_breakup_count(const und_breakup *b, und_place p)
{
    const und_volume_chunk *const first = b->t.v.chunk + p.at;
    int32_t count = 0;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
        {
            int cell[3];
            int32_t amount;
            und_mac_cell(&b->t.v.mac, at, cell);
            und_breakup_cell c = und_breakup_begin(b, cell, at);
            while (und_breakup_next(b, &c, &amount) > 0)
                ;
            count += und_drop_is_own(&b->d, cell) ? c.k : 0;
        }
    b->d.before[p.y] = count;
}
UND_KERNEL(und_breakup_count, und_breakup, UND_EACH_BLOCK)

/* A drop anywhere in the cell. */
static inline void und_breakup_place(const und_breakup *b, const und_breakup_cell *c, const int cell[3],
                                     float radius, und_drop_some *some)
{
    const und_mac *m = &b->d.mac;
    const int i = some->count++;
    for (int a = 0; a < 3; a++)
        some->from[a][i] =
            m->low[a] + cell[a] + (m->n[a] > 1 ? und_drop_roll(&c->dice, c->k - 1, UND_DROP_ORDER + a) : 0.5);
    some->radius[i] = radius;
}

/* Of a cell, the drops from *number on; what leaves it, and those beside.  Others' go as well, to others. */
static inline void und_breakup_throw_cell(const und_breakup *b, const int cell[3], size_t at, int *number,
                                          int64_t *thrown)
{
    const double strain = und_drop_strain(&b->d, at);
    const bool own = und_drop_is_own(&b->d, cell);
    und_breakup_cell c = und_breakup_begin(b, cell, at);
    und_drop_some some = {0};
    int32_t amount, all = 0;
    for (float radius; !own || *number + some.count < b->d.count + b->d.most;) {
        if (!((radius = und_breakup_next(b, &c, &amount)) > 0))
            break;
        all += amount;
        if (own)
            und_breakup_place(b, &c, cell, radius, &some);
        if (some.count == UND_LANES)
            und_drop_set_out(&b->d, cell, at, strain, &c.dice, &some, number);
    }
    if (some.count > 0)
        und_drop_set_out(&b->d, cell, at, strain, &c.dice, &some, number);
    *thrown += own ? all : 0;
    und_volume_thin_take_away(&b->t, at, all);
}

static inline void und_breakup_throw(const und_breakup *b, und_place p)
{
    const und_volume_chunk *const first = b->t.v.chunk + p.at;
    int number = b->d.count + b->d.before[p.y];
    int64_t thrown = 0;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
        {
            int cell[3];
            und_mac_cell(&b->t.v.mac, at, cell);
            if (b->t.v.c[at] > 0)
                und_breakup_throw_cell(b, cell, at, &number, &thrown);
        }
    b->d.parts[p.y] = thrown;
}
UND_KERNEL(und_breakup_throw, und_breakup, UND_EACH_BLOCK)

#endif
