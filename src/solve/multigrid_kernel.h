/* Kernels at the packs of a level of multigrid, see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_KERNEL_H
#define UND_SOLVE_MULTIGRID_KERNEL_H

#include "grid/reduce.h"
#include "solve/cell_packs.h"
#include "solve/multigrid.h"

enum { UND_COEFFICIENTS = 6 * UND_CELL_PACK }; /* of the cells of one colour in a pack */

/* ---- Places: packs of a level, slice by slice ---- */

/* p.at: its number in the level's list; p.x: the first of its cells that are meant. */
#define UND_EACH_PACK(level, slice, p, first_kind, last_kind)                                            \
    for (und_pack_range in_ = und_level_list(level, first_kind, last_kind, slice), *once_ = &in_; once_; \
         once_ = NULL)                                                                                   \
        for (und_place p = {.at = in_.begin, .z = (slice)}; p.at < in_.end; p.at++)                      \
            for (p.x = 0; p.x < UND_CELL_PACK; p.x += UND_PACK_LANES)

/* fn(args, place, kind): the kind is a constant to the compiler. */
#define UND_EACH_KIND(level, slice, fn, args)                                         \
    do {                                                                              \
        UND_EACH_PACK(level, slice, whole_, UND_CELL_PACK_WHOLE, UND_CELL_PACK_WHOLE) \
        fn(args, whole_, UND_CELL_PACK_WHOLE);                                        \
        UND_EACH_PACK(level, slice, plain_, UND_CELL_PACK_PLAIN, UND_CELL_PACK_PLAIN) \
        fn(args, plain_, UND_CELL_PACK_PLAIN);                                        \
        UND_EACH_PACK(level, slice, cut_, UND_CELL_PACK_CUT, UND_CELL_PACK_CUT)       \
        fn(args, cut_, UND_CELL_PACK_CUT);                                            \
    } while (0)
#define UND_KERNEL_PACKS(fn, args_type)                                                   \
    UND_KERNEL_STATIC void fn##_block(const void *args_, const und_set *set_, int block_) \
    {                                                                                     \
        const args_type of_block_ = *(const args_type *)args_;                            \
        UND_EACH_KIND((const und_level *)set_->list, block_, fn, &of_block_);             \
    }                                                                                     \
    typedef args_type fn##_args_of;                                                       \
    UND_KERNEL_OF_PACKS(fn, args_type, UND_THREAD_KIND)                                   \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), UND_PLACES_PACK, false, 0})
#ifndef UND_CARD
#define UND_KERNEL_OF_PACKS(fn, args_type, DO)
#else
/* A cell of a colour in a pack for each thread. */
#define UND_KERNEL_OF_PACKS(fn, args_type, DO)                                                    \
    UND_INLINE void fn##_on(const und_call *call_, const und_set *set_, const args_type *args_,   \
                            uint32_t thread_)                                                     \
    {                                                                                             \
        und_place p_ = {.x = (int)(thread_ % UND_CELL_PACK), .z = (int)(thread_ / call_->along)}; \
        const int in_ = (int)(thread_ % call_->along / UND_CELL_PACK);                            \
        const und_level *const level_ = und_thread_level(set_, &p_.z);                            \
        if (level_ && und_thread_pack(level_, in_, &p_))                                          \
            DO(fn, args_, p_, level_, thread_ / call_->along);                                    \
    }                                                                                             \
    UND_CARD_ENTRY(fn, args_type, fn##_on)
#define UND_THREAD_KIND(fn, args, p, level, block)        \
    switch (und_cell_pack_kind(&(level)->list[(p).at])) { \
    case UND_CELL_PACK_WHOLE:                             \
        fn(args, p, UND_CELL_PACK_WHOLE);                 \
        break;                                            \
    case UND_CELL_PACK_PLAIN:                             \
        fn(args, p, UND_CELL_PACK_PLAIN);                 \
        break;                                            \
    default:                                              \
        fn(args, p, UND_CELL_PACK_CUT);                   \
    }
UND_INLINE bool und_thread_pack(const und_level *level, int number, und_place *p)
{
    const und_pack_range in = und_level_slice(level, p->z);
    p->at = in.begin + (size_t)number;
    return p->at < in.end;
}
UND_INLINE const und_level *und_thread_level(const und_set *s, int *z)
{
    (void)z;
    return s->list;
}
#endif

/* Of a pack: where the cells that are meant stand, and where their neighbours along x of the other colour. */
UND_INLINE size_t und_pack_at(const und_cell_pack *e, und_place p)
{
    return und_cell_pack_at(e) + (size_t)p.x;
}
UND_INLINE size_t und_pack_low(const und_cell_pack *e, und_place p, unsigned colour)
{
    return und_pack_at(e, p) + ((e->at ^ colour) & 1) - 1;
}

/* ---- The V-cycle ---- */

/* A level for one colour. */
typedef struct und_sweep_args {
    const und_cell_pack *list;
    unsigned colour;
    float w[3];           /* of sides that are wholly open */
    float full, diagonal; /* the full diagonal's inverse, and itself */
    const float *b, *inverse, *coefficient;
    const float *other; /* values of the other colour */
    float *x;
} und_sweep_args;

UND_INLINE und_pack_float und_pack_sum(const und_sweep_args *a, const und_cell_pack *e, und_place p, int kind)
{
    const float *v = a->other + p.x, *along = a->other + und_pack_low(e, p, a->colour);
    const float *k = a->coefficient + und_cell_pack_at(e) / UND_CELL_PACK * UND_COEFFICIENTS + p.x;
    if (kind != UND_CELL_PACK_CUT)
        return a->w[0] * (UND_PF(along) + UND_PF(along + 1)) +
               a->w[1] * (UND_PF(v + e->beside[0]) + UND_PF(v + e->beside[1])) +
               a->w[2] * (UND_PF(v + e->beside[2]) + UND_PF(v + e->beside[3]));
    return (UND_PF(k) * UND_PF(along) + UND_PF(k + 8) * UND_PF(along + 1)) +
           (UND_PF(k + 16) * UND_PF(v + e->beside[0]) + UND_PF(k + 24) * UND_PF(v + e->beside[1])) +
           (UND_PF(k + 32) * UND_PF(v + e->beside[2]) + UND_PF(k + 40) * UND_PF(v + e->beside[3]));
}

/* Gauss-Seidel: each cell's equation holds afterwards. */
UND_INLINE void und_smooth(const und_sweep_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p);
    const und_pack_float sum = UND_PF(a->b + at) + und_pack_sum(a, e, p, kind);
    UND_SET_PF(a->x + at) = kind == UND_CELL_PACK_WHOLE ? a->full * sum : UND_PF(a->inverse + at) * sum;
}
UND_KERNEL_PACKS(und_smooth, und_sweep_args)

/* 0 where a cell is not unknown. */
#define UND_WHERE_UNKNOWN(v, inverse) ((und_pack_float)((und_pack_int)(v) & ((inverse) > 0)))

/* b - A x. */
UND_INLINE und_pack_float und_pack_residual(const und_sweep_args *a, const und_cell_pack *e, und_place p,
                                            int kind)
{
    const size_t at = und_pack_at(e, p);
    const und_pack_float sum = UND_PF(a->b + at) + und_pack_sum(a, e, p, kind), x = UND_PF(a->x + at);
    if (kind == UND_CELL_PACK_WHOLE)
        return sum - a->diagonal * x;
    return UND_WHERE_UNKNOWN(sum - x / UND_PF(a->inverse + at), UND_PF(a->inverse + at));
}
UND_INLINE und_pack_float und_child_residual(const und_sweep_args *a, uint32_t child, int lane)
{
    const und_cell_pack *e = a->list + child;
    const und_place p = {.at = child, .x = lane};
    switch (und_cell_pack_kind(e)) {
    case UND_CELL_PACK_WHOLE:
        return und_pack_residual(a, e, p, UND_CELL_PACK_WHOLE);
    case UND_CELL_PACK_PLAIN:
        return und_pack_residual(a, e, p, UND_CELL_PACK_PLAIN);
    default:
        return und_pack_residual(a, e, p, UND_CELL_PACK_CUT);
    }
}

/* What a level is given by the finer one. */
typedef struct und_restrict_args {
    und_sweep_args fine; /* its red cells: of black ones that were just smoothed nothing is left */
    int32_t halved;      /* along x */
    float full;
    const und_cell_pack *list;
    const und_children *children;
    const float *inverse; /* of red cells */
    float *b[2], *x;
} und_restrict_args;

/* A cell's children are in four rows, in each of which one is red: those of lanes from `lane` on of the half
 * of a pack that the finer one is in. */
UND_INLINE und_pack_float und_restrict_half(const und_restrict_args *a, const und_children *c, int half,
                                            int lane)
{
    und_pack_float sum = {0};
    for (int row = 0; row < 4; row++)
        if (c->number[row][half] != UND_NO_CHILD)
            sum += und_child_residual(&a->fine, c->number[row][half], lane);
    return sum;
}
/* The same where x is not halved: rows of the offset that cells of a colour have. */
UND_INLINE und_pack_float und_restrict_rows(const und_restrict_args *a, const und_children *c,
                                            unsigned offset, int lane)
{
    und_pack_float sum = {0};
    for (int row = 0; row < 4; row++) {
        const uint32_t child = c->number[row][0];
        if (child != UND_NO_CHILD && (a->fine.list[child].at & 1) == offset)
            sum += und_child_residual(&a->fine, child, lane);
    }
    return sum;
}

/* The residual is the right-hand side of the coarser level, whose x is Gauss-Seidel's from 0 in red cells. */
UND_INLINE void und_restrict(const und_restrict_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const und_children *c = a->children + p.at;
    const size_t at = und_pack_at(e, p);
    const unsigned odd = e->at & 1;
    und_pack_float b[2]; /* of cells with even x and odd, or, where x is not halved, the same */
    if (!a->halved) {
        b[0] = und_restrict_rows(a, c, 0, p.x);
        b[1] = und_restrict_rows(a, c, 1, p.x);
    } else {
#ifdef UND_ONE_LANE
        for (int i = 0; i < 2; i++)
            b[i] = und_restrict_half(a, c, (2 * p.x + i) >> 3, (2 * p.x + i) & 7);
#else
        const und_pack_float low = und_restrict_half(a, c, 0, 0), high = und_restrict_half(a, c, 1, 0);
        b[0] = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
        b[1] = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
#endif
    }
    UND_SET_PF(a->b[0] + at) = b[odd];
    UND_SET_PF(a->b[1] + at) = b[1 - odd];
    UND_SET_PF(a->x + at) = kind == UND_CELL_PACK_WHOLE ? a->full * b[odd] : UND_PF(a->inverse + at) * b[odd];
}

/* The set is the finer level's; a pair of its slices is done with the second of them. */
UND_KERNEL_STATIC void und_restrict_block(const void *args, const und_set *set, int z)
{
    const und_restrict_args a = *(const und_restrict_args *)args;
    const und_level *fine = set->list, *coarse = fine + 1;
    if (!fine->halved[2])
        UND_EACH_KIND(coarse, z, und_restrict, &a);
    else if (z % 2 == 1 || z == fine->n[2] - 1)
        UND_EACH_KIND(coarse, (z + fine->shift[2]) / 2, und_restrict, &a);
}
#ifdef UND_CARD
UND_INLINE const und_level *und_thread_coarse(const und_set *s, int *z)
{
    const und_level *fine = s->list;
    if (fine->halved[2] && *z % 2 == 0 && *z != fine->n[2] - 1)
        return NULL;
    *z = fine->halved[2] ? (*z + fine->shift[2]) / 2 : *z;
    return fine + 1;
}
#define und_thread_level und_thread_coarse
UND_KERNEL_OF_PACKS(und_restrict, und_restrict_args, UND_THREAD_KIND)
#undef und_thread_level
#endif
typedef und_restrict_args und_restrict_args_of;
UND_KERNEL_TABLE(und_restrict,
                 {"und_restrict", und_restrict_block, sizeof(und_restrict_args), UND_PLACES_PACK, false, 0})

typedef struct und_correct_args {
    const und_cell_pack *list;
    int64_t halved;
    const float *inverse, *coarse[2]; /* the coarser level's x */
    float *x;
} und_correct_args;

/* The red cells of a pack and the coarser ones that they are in.  Where x is halved those are of both
 * colours, the even ones of colour `odd` and the others of the other; where not, of one. */
UND_INLINE und_pack_float und_pack_given(const und_correct_args *a, const und_cell_pack *e, und_place p)
{
    const unsigned odd = e->parent & 1;
    const size_t at = e->parent & ~(uint32_t)3;
    if (!a->halved)
        return UND_PF(a->coarse[odd ^ (e->at & 1)] + at + p.x);
#ifdef UND_ONE_LANE
    return UND_PF(a->coarse[odd ^ ((unsigned)p.x & 1)] + at + p.x / 2);
#else
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    const four even = *(const four *)(a->coarse[odd] + at), others = *(const four *)(a->coarse[1 - odd] + at);
    return __builtin_shufflevector(even, others, 0, 4, 1, 5, 2, 6, 3, 7);
#endif
}

/* Adds the coarser level's correction to red cells; black ones are smoothed next and need none. */
UND_INLINE void und_correct(const und_correct_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p);
    const und_pack_float given = und_pack_given(a, e, p);
    UND_SET_PF(a->x + at) =
        UND_PF(a->x + at) +
        (kind == UND_CELL_PACK_WHOLE ? given : UND_WHERE_UNKNOWN(given, UND_PF(a->inverse + at)));
}
UND_KERNEL_PACKS(und_correct, und_correct_args)

/* ---- Sums over the finest level ---- */

typedef struct und_energy_args {
    const und_cell_pack *list;
    float w[4]; /* and nothing, so that there is nothing between members which might look like an address */
    const float *v[2], *b[2]; /* NULL: without the product */
    const float *known[2], *coefficient[2];
    const uint64_t *beside[2];
    double *some;             /* both, of some packs at a time, */
    double *product, *energy; /* and of each slice */
} und_energy_args;

/* A v of a pack's cells of one colour, over the largest weight.  From differences, which lose few digits
 * where v is smooth. */
UND_INLINE und_pack_float und_pack_apply(const und_energy_args *a, const und_cell_pack *e, und_place p,
                                         unsigned colour, int kind)
{
    const size_t at = und_pack_at(e, p), number = und_cell_pack_at(e) / UND_CELL_PACK;
    const float *v = a->v[1 - colour] + p.x, *along = a->v[1 - colour] + und_pack_low(e, p, colour);
    const float *k = a->coefficient[colour] + number * UND_COEFFICIENTS + p.x;
    const und_pack_float own = UND_PF(a->v[colour] + at);
    und_pack_float d[6] = {own - UND_PF(along),
                           own - UND_PF(along + 1),
                           own - UND_PF(v + e->beside[0]),
                           own - UND_PF(v + e->beside[1]),
                           own - UND_PF(v + e->beside[2]),
                           own - UND_PF(v + e->beside[3])};
    if (kind == UND_CELL_PACK_CUT)
        return (UND_PF(k) * d[0] + UND_PF(k + 8) * d[1]) + (UND_PF(k + 16) * d[2] + UND_PF(k + 24) * d[3]) +
               (UND_PF(k + 32) * d[4] + UND_PF(k + 40) * d[5]) + UND_PF(a->known[colour] + at) * own;
    if (kind == UND_CELL_PACK_PLAIN) {
        const uint64_t beside = a->beside[colour][number];
        for (int i = 0; i < 6; i++)
            d[i] = (und_pack_float)((und_pack_int)d[i] & und_pack_where((unsigned)(beside >> 8 * i), p.x));
    }
    const und_pack_float sum = a->w[0] * (d[0] + d[1]) + a->w[1] * (d[2] + d[3]) + a->w[2] * (d[4] + d[5]);
    if (kind == UND_CELL_PACK_WHOLE)
        return sum;
    return sum + UND_PF(a->known[colour] + at) * own;
}

/* Of the cells of a pack's places, halved and halved again. */
UND_INLINE double und_sum_places(const float some[UND_CELL_PACK])
{
    double sum[UND_CELL_PACK];
    for (int i = 0; i < UND_CELL_PACK; i++)
        sum[i] = (double)some[i];
    for (int half = UND_CELL_PACK / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            sum[i] += sum[i + half];
    return sum[0];
}

/* v b and v A v of some packs of a kind. */
UND_INLINE void und_sum_packs(const und_energy_args *a, und_pack_range in, int kind, double sum[2])
{
    float some[2][UND_CELL_PACK];
    for (und_place p = {.x = 0}; p.x < UND_CELL_PACK; p.x += UND_PACK_LANES) {
        und_pack_float product = {0}, energy = {0};
        for (p.at = in.begin; p.at < in.end; p.at++)
            for (unsigned c = 0; c < 2; c++) {
                const und_cell_pack *e = a->list + p.at;
                const und_pack_float v = UND_PF(a->v[c] + und_pack_at(e, p));
                product += v * UND_PF(a->b[c] + und_pack_at(e, p));
                energy += v * und_pack_apply(a, e, p, c, kind);
            }
        UND_SET_PF(some[0] + p.x) = product;
        UND_SET_PF(some[1] + p.x) = energy;
    }
    for (int i = 0; i < 2; i++)
        sum[i] = und_sum_places(some[i]);
}
/* Of a slice's list, kind by kind, so many packs at a time: how many such there are, and the packs of one. */
typedef struct und_sum_part {
    und_pack_range in;
    int kind;
} und_sum_part;
UND_INLINE int und_sum_count(und_pack_range all)
{
    return (int)(all.end - all.begin + UND_PACKS_SUMMED - 1) / UND_PACKS_SUMMED;
}
UND_INLINE int und_sum_counts(const und_level *level, int z)
{
    int count = 0;
    for (int kind = UND_CELL_PACK_WHOLE; kind <= UND_CELL_PACK_CUT; kind++)
        count += und_sum_count(und_level_list(level, kind, kind, z));
    return count;
}
UND_INLINE und_sum_part und_sum_find(const und_level *level, int z, int number)
{
    for (int kind = UND_CELL_PACK_WHOLE; kind <= UND_CELL_PACK_CUT; kind++) {
        und_pack_range in = und_level_list(level, kind, kind, z);
        const int own = und_sum_count(in);
        if (number < own) {
            in.begin += (size_t)number * UND_PACKS_SUMMED;
            in.end = in.begin + UND_PACKS_SUMMED < in.end ? in.begin + UND_PACKS_SUMMED : in.end;
            return (und_sum_part){in, kind};
        }
        number -= own;
    }
    return (und_sum_part){{0, 0}, UND_CELL_PACK_DRY};
}
UND_INLINE void und_sum_one(const und_energy_args *a, const und_level *level, int z, int number)
{
    const und_sum_part some = und_sum_find(level, z, number);
    double *sum = a->some + 2 * ((size_t)z * (size_t)und_level_most_sums(level) + (size_t)number);
    if (some.kind == UND_CELL_PACK_WHOLE)
        und_sum_packs(a, some.in, UND_CELL_PACK_WHOLE, sum);
    else if (some.kind == UND_CELL_PACK_PLAIN)
        und_sum_packs(a, some.in, UND_CELL_PACK_PLAIN, sum);
    else if (some.kind == UND_CELL_PACK_CUT)
        und_sum_packs(a, some.in, UND_CELL_PACK_CUT, sum);
}
UND_KERNEL_STATIC void und_sum_some_block(const void *args, const und_set *set, int z)
{
    const und_energy_args a = *(const und_energy_args *)args;
    const int count = und_sum_counts(set->list, z);
    for (int number = 0; number < count; number++)
        und_sum_one(&a, set->list, z, number);
}
#ifdef UND_CARD
UND_INLINE void und_sum_some_on(const und_call *call, const und_set *set, const und_energy_args *a,
                                uint32_t thread)
{
    und_sum_one(a, set->list, (int)(thread / call->along), (int)(thread % call->along));
}
UND_CARD_ENTRY(und_sum_some, und_energy_args, und_sum_some_on)
#endif
typedef und_energy_args und_sum_some_args_of;
UND_KERNEL_TABLE(und_sum_some,
                 {"und_sum_some", und_sum_some_block, sizeof(und_energy_args), UND_PLACES_SIXTEEN, false, 0})

/* The sums of a slice, in the tree of grid/reduce.h. */
UND_KERNEL_STATIC void und_sum_block(const void *args, const und_set *set, int z)
{
    const und_energy_args *a = args;
    const und_level *level = set->list;
    und_sum_tree sum[2] = {und_sum_from(0), und_sum_from(0)};
    const int count = und_sum_counts(level, z);
    const double *some = a->some + 2 * (size_t)z * (size_t)und_level_most_sums(level);
    for (int i = 0; i < count; i++) {
        und_sum_add(&sum[0], some[2 * i]);
        und_sum_add(&sum[1], some[2 * i + 1]);
    }
    a->product[z] = und_sum_end(&sum[0]);
    a->energy[z] = und_sum_end(&sum[1]);
}
UND_KERNEL_BLOCK(und_sum, und_energy_args)

/* ---- Where a level is set ---- */

/* Every second bit, those at even places. */
static inline uint64_t und_halve_bits(uint64_t v)
{
    v &= 0x5555555555555555u;
    v = (v | v >> 1) & 0x3333333333333333u;
    v = (v | v >> 2) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v >> 4) & 0x00ff00ff00ff00ffu;
    v = (v | v >> 8) & 0x0000ffff0000ffffu;
    return (v | v >> 16) & 0x00000000ffffffffu;
}

/* The first (0) or second (1) of a coarser row's along an axis, -1 where there is none. */
static inline int und_child(const und_level *fine, int axis, int coarse, int which)
{
    if (!fine->halved[axis])
        return which ? -1 : coarse;
    const int own = 2 * coarse + which - fine->shift[axis];
    return own >= 0 && own < fine->n[axis] ? own : -1;
}

/* A row of cells into its two colours; `offset` of colour 0, `n` cells of each. */
static inline void und_split(const float *restrict row, int offset, int n, float *restrict zero,
                             float *restrict one)
{
    float *even = offset ? one : zero, *odd = offset ? zero : one;
    for (int q = 0; q < n; q++) {
        even[q] = row[2 * q];
        odd[q] = row[2 * q + 1];
    }
}

#endif
