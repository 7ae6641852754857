#include "solve/multigrid.h"

#include "grid/slices.h"
#include "solve/cell_packs.h"
#include "solve/multigrid_kernel.h"

/* Sweeps over red and black before the coarser level, and the same in reverse order after it: so the cycle is
 * symmetric.  More on coarser levels, where they cost little. */
enum { SWEEPS_FINEST = 2, SWEEPS_COARSER = 4, SWEEPS_COARSEST = 16 };

typedef struct pass {
    und_multigrid *m;
    int level, sweeps;
    int ahead; /* stages before the smoothing begins */
    und_slice_fn *before;
    void *context;
} pass;

static int sweeps_of(const und_multigrid *m, int level)
{
    return level == m->count - 1 ? SWEEPS_COARSEST : level == 0 ? SWEEPS_FINEST : SWEEPS_COARSER;
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The red cells of a pack and the coarser ones that they are in.  Where x is halved those are of both
 * colours, the even ones of colour `odd` and the others of the other; where not, of one. */
ALWAYS_INLINE void add_to_parent(const und_level *coarse, const und_cell_pack *e, bool halved, und_f8 left)
{
    unsigned odd = e->parent & 1, colour = halved ? odd : odd ^ (e->at & 1);
    size_t at = e->parent & ~(uint32_t)3;
    float *b = coarse->b[colour] + at, *b_odd = coarse->b[1 - colour] + at;
    if (!halved) {
        UND_SET_F8(b) = UND_F8(b) + left;
        return;
    }
    UND_SET_F4(b) = UND_F4(b) + __builtin_shufflevector(left, left, 0, 2, 4, 6);
    UND_SET_F4(b_odd) = UND_F4(b_odd) + __builtin_shufflevector(left, left, 1, 3, 5, 7);
}

ALWAYS_INLINE void get_from_parent(const und_level *coarse, const und_cell_pack *e, bool halved, und_f8 *x)
{
    unsigned odd = e->parent & 1, colour = halved ? odd : odd ^ (e->at & 1);
    size_t at = e->parent & ~(uint32_t)3;
    if (!halved) {
        *x = UND_F8(coarse->x[colour] + at);
        return;
    }
    und_f4 even = UND_F4(coarse->x[colour] + at), others = UND_F4(coarse->x[1 - colour] + at);
    *x = __builtin_shufflevector(even, others, 0, 4, 1, 5, 2, 6, 3, 7);
}

ALWAYS_INLINE void restrict_packs(const und_level *fine, const und_level *coarse, int z, int kind,
                                  bool halved)
{
    und_cell_packs in = und_level_list(fine, kind, kind, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++) {
        und_f8 left;
        und_cell_pack_residual(fine, 0, e, kind, &left);
        add_to_parent(coarse, e, halved, left);
    }
}

/* The residual, of red cells alone after black ones were smoothed, is the right-hand side of the coarser
 * level. */
static void restrict_slice(const und_level *fine, const und_level *coarse, int z)
{
    int coarse_z = fine->halved[2] ? (z + fine->shift[2]) / 2 : z;
    und_cell_packs in = und_level_slice(coarse, coarse_z);
    for (const und_cell_pack *e = in.begin; e < in.end && (!fine->halved[2] || z % 2 == 0); e++)
        for (int c = 0; c < 2; c++)
            UND_SET_F8(coarse->b[c] + und_cell_pack_at(e)) = (und_f8){0};
    if (fine->halved[0]) {
        restrict_packs(fine, coarse, z, UND_CELL_PACK_WHOLE, true);
        restrict_packs(fine, coarse, z, UND_CELL_PACK_PLAIN, true);
        restrict_packs(fine, coarse, z, UND_CELL_PACK_CUT, true);
    } else {
        restrict_packs(fine, coarse, z, UND_CELL_PACK_WHOLE, false);
        restrict_packs(fine, coarse, z, UND_CELL_PACK_PLAIN, false);
        restrict_packs(fine, coarse, z, UND_CELL_PACK_CUT, false);
    }
}

ALWAYS_INLINE void correct_packs(const und_level *fine, const und_level *coarse, int z, bool halved)
{
    float *const x = fine->x[0];
    const float *const inverse = fine->inverse[0];
    und_cell_packs in = und_level_list(fine, UND_CELL_PACK_WHOLE, UND_CELL_PACK_WHOLE, z);
    und_f8 given;
    for (const und_cell_pack *e = in.begin; e < in.end; e++) {
        size_t at = und_cell_pack_at(e);
        get_from_parent(coarse, e, halved, &given);
        UND_SET_F8(x + at) = UND_F8(x + at) + given;
    }
    in = und_level_list(fine, UND_CELL_PACK_PLAIN, UND_CELL_PACK_CUT, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++) {
        size_t at = und_cell_pack_at(e);
        get_from_parent(coarse, e, halved, &given);
        UND_SET_F8(x + at) = UND_F8(x + at) + UND_WHERE_UNKNOWN(given, UND_F8(inverse + at));
    }
}

/* Adds the coarser level's correction to red cells; black ones are smoothed next and need none. */
static void correct_slice(const und_level *fine, const und_level *coarse, int z)
{
    if (fine->halved[0])
        correct_packs(fine, coarse, z, true);
    else
        correct_packs(fine, coarse, z, false);
}

ALWAYS_INLINE void sum_packs(const und_level *level, int z, int kind, double *product, double *energy)
{
    und_cell_packs in = und_level_list(level, kind, kind, z);
    for (const und_cell_pack *e = in.begin; e < in.end;) {
        und_f8 some = {0}, some_energy = {0}, part; /* few enough that floats lose nothing */
        for (const und_cell_pack *stop = e + (in.end - e < 16 ? in.end - e : 16); e < stop; e++)
            for (int c = 0; c < 2; c++) {
                const size_t at = und_cell_pack_at(e);
                und_cell_pack_apply(level, level->x, c, e, kind, &part);
                some += UND_F8(level->x[c] + at) * UND_F8(level->b[c] + at);
                some_energy += UND_F8(level->x[c] + at) * part;
            }
        *product += und_f8_sum(&some);
        *energy += und_f8_sum(&some_energy);
    }
}

/* The sums of x b and of x A x. */
static void sum_slice(const und_multigrid *m, int z)
{
    double product = 0, energy = 0;
    sum_packs(&m->level[0], z, UND_CELL_PACK_WHOLE, &product, &energy);
    sum_packs(&m->level[0], z, UND_CELL_PACK_PLAIN, &product, &energy);
    sum_packs(&m->level[0], z, UND_CELL_PACK_CUT, &product, &energy);
    m->slice_product[z] = product;
    m->slice_energy[z] = energy;
}

static void down(void *context, int stage, int z)
{
    const pass *p = context;
    const und_level *level = &p->m->level[p->level];
    if (p->before && stage <= p->ahead)
        p->before(p->context, stage, z);
    if (stage < p->ahead)
        return;
    stage -= p->ahead;
    if (stage == 2 * p->sweeps)
        restrict_slice(level, level + 1, z);
    else if (stage == 0)
        und_slice_start(level, 0, z);
    else
        und_slice_smooth(level, stage % 2, z);
}

static void up(void *context, int stage, int z)
{
    const pass *p = context;
    const und_level *level = &p->m->level[p->level];
    if (stage > 2 * p->sweeps)
        sum_slice(p->m, z);
    else if (stage > 0)
        und_slice_smooth(level, stage % 2, z);
    else if (p->level < p->m->count - 1)
        correct_slice(level, level + 1, z);
}

static void run_down(pass *p)
{
    const und_level *level = &p->m->level[p->level];
    p->sweeps = sweeps_of(p->m, p->level);
    int restriction = p->level < p->m->count - 1;
    und_slices_run(down, p, p->ahead + 2 * p->sweeps + restriction, level->n[2], level->threads);
}

void und_multigrid_begin(und_multigrid *m, und_slice_fn *before, int stages, void *context)
{
    run_down(&(pass){.m = m, .before = before, .ahead = stages > 0 ? stages - 1 : 0, .context = context});
}

double und_multigrid_finish(und_multigrid *m, double *energy)
{
    for (int i = 1; i < m->count; i++)
        run_down(&(pass){.m = m, .level = i});
    for (int i = m->count - 1; i >= 0; i--) {
        pass p = {.m = m, .level = i, .sweeps = sweeps_of(m, i)};
        und_slices_run(up, &p, 2 * p.sweeps + (i == 0 ? 2 : 1), m->level[i].n[2], m->level[i].threads);
    }
    double product = 0;
    *energy = 0;
    for (int z = 0; z < m->level[0].n[2]; z++) {
        product += m->slice_product[z];
        *energy += m->slice_energy[z];
    }
    return product;
}
