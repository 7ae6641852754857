/* Kernels of conjugate gradients at the packs of the finest level, see src/solve/system.h. */
#ifndef UND_SOLVE_SYSTEM_KERNEL_H
#define UND_SOLVE_SYSTEM_KERNEL_H

#include "solve/multigrid_kernel.h"

/* Where an iteration is: what its passes find, and those after them go by. */
typedef struct und_iteration {
    double scale;       /* of r, for the preconditioner */
    double alpha, beta; /* how far to go along the direction, and how much of the last one is in it */
    double product, energy, energy_of_z; /* z r and p A p of the one before (0: there was none), z A z */
    double residual, before;             /* the largest |r|, and an iteration before */
    double tolerance;
    int32_t count, most; /* iterations */
    bool over, end;      /* nothing more is to be done; after this iteration it is expected to be */
    bool directed;       /* p is the next direction already */
    bool not_directed, not_turned, not_fused[2], not_last[2], not_down; /* what is left out */
} und_iteration;

typedef struct und_system_args {
    const und_cell_pack *list;
    double full[3], largest, full_diagonal; /* weights of open sides, the largest of them, their sum */
    const double *diagonal[2];
    const float *coefficient[2], *inverse; /* the latter of red cells */
    float
        full_inverse[2]; /* of either colour: nothing is between members, which might look like an address */
    double *r[2], *x[2];
    float *p[2], *z[2], *b[2]; /* directions; what the preconditioner made, and what it is given */
    const und_iteration *now;
    int64_t *most; /* of each slice: bits of the largest |r| or what else a kernel measures */
    /* The grid's arrays: b as floats or doubles, x. */
    const float *given;
    const double *given_double;
    double *grid;
    double unit;
    ptrdiff_t first, step[3]; /* of the grid's cells along our axes */
    und_mask unknown;
} und_system_args;

/* ---- Measures ---- */

/* Bits of |v|: ordered as the numbers are, with NaN above all. */
UND_INLINE und_pack_long und_pack_size(und_pack_double v)
{
    return (und_pack_long)v & INT64_MAX;
}
UND_INLINE und_pack_long und_pack_larger(und_pack_long a, und_pack_long b)
{
    const und_pack_long more = a > b;
    return (a & more) | (b & ~more);
}

/* fn(args, place, kind) gives bits of sizes; the largest of a slice is kept. */
#define UND_KERNEL_PACKS_MOST(fn, args_type)                                              \
    UND_INLINE void fn##_and_keep(und_pack_kept *kept, und_place p, int kind)             \
    {                                                                                     \
        kept->most = und_pack_larger(kept->most, fn(&kept->args, p, kind));               \
    }                                                                                     \
    UND_KERNEL_STATIC void fn##_block(const void *args_, const und_set *set_, int block_) \
    {                                                                                     \
        und_pack_kept kept_ = {.args = *(const args_type *)args_};                        \
        UND_EACH_KIND((const und_level *)set_->list, block_, fn##_and_keep, &kept_);      \
        int64_t most_ = 0;                                                                \
        for (int i_ = 0; i_ < UND_PACK_LANES; i_++)                                       \
            most_ = kept_.most[i_] > most_ ? kept_.most[i_] : most_;                      \
        kept_.args.most[block_] = most_;                                                  \
    }                                                                                     \
    typedef args_type fn##_args_of;                                                       \
    UND_KERNEL_OF_PACKS(fn, args_type, UND_THREAD_MOST)                                   \
    UND_KERNEL_TABLE(                                                                     \
        fn, {#fn, fn##_block, sizeof(args_type), UND_PLACES_PACK, false, offsetof(args_type, most) + 1})
#define UND_THREAD_MOST(fn, args, p, level, block)                \
    do {                                                          \
        und_pack_long most_;                                      \
        switch (und_cell_pack_kind(&(level)->list[(p).at])) {     \
        case UND_CELL_PACK_WHOLE:                                 \
            most_ = fn(args, p, UND_CELL_PACK_WHOLE);             \
            break;                                                \
        case UND_CELL_PACK_PLAIN:                                 \
            most_ = fn(args, p, UND_CELL_PACK_PLAIN);             \
            break;                                                \
        default:                                                  \
            most_ = fn(args, p, UND_CELL_PACK_CUT);               \
        }                                                         \
        if (most_[0] > 0)                                         \
            und_shared_most_long(&(args)->most[block], most_[0]); \
    } while (0)
typedef struct und_pack_kept {
    und_system_args args;
    und_pack_long most;
} und_pack_kept;

/* ---- The system ---- */

/* Zero where a cell is not unknown, and where no side of it is open: there nothing is to be solved. */
#define UND_WHERE_SOLVED(v, diagonal) ((und_pack_double)((und_pack_long)(v) & ((diagonal) > 0)))

/* A v of a pack's cells of one colour; v: floats or doubles as READ has it. */
#define UND_APPLY(READ, a, e, p, colour, kind, v, out)                                               \
    do {                                                                                             \
        const size_t at_ = und_pack_at(e, p), low_ = und_pack_low(e, p, colour), x_ = (size_t)(p).x; \
        const uint32_t *beside_ = (e)->beside;                                                       \
        const float *k_ =                                                                            \
            (a)->coefficient[colour] + und_cell_pack_at(e) / UND_CELL_PACK * UND_COEFFICIENTS + x_;  \
        const und_pack_double own_ = READ((v)[colour] + at_),                                        \
                              d_[6] = {READ((v)[1 - (colour)] + low_),                               \
                                       READ((v)[1 - (colour)] + low_ + 1),                           \
                                       READ((v)[1 - (colour)] + beside_[0] + x_),                    \
                                       READ((v)[1 - (colour)] + beside_[1] + x_),                    \
                                       READ((v)[1 - (colour)] + beside_[2] + x_),                    \
                                       READ((v)[1 - (colour)] + beside_[3] + x_)};                   \
        und_pack_double sum_;                                                                        \
        if ((kind) == UND_CELL_PACK_CUT)                                                             \
            sum_ = (a)->largest * ((UND_PD_OF(k_) * d_[0] + UND_PD_OF(k_ + 8) * d_[1]) +             \
                                   (UND_PD_OF(k_ + 16) * d_[2] + UND_PD_OF(k_ + 24) * d_[3]) +       \
                                   (UND_PD_OF(k_ + 32) * d_[4] + UND_PD_OF(k_ + 40) * d_[5]));       \
        else                                                                                         \
            sum_ = (a)->full[0] * (d_[0] + d_[1]) + (a)->full[1] * (d_[2] + d_[3]) +                 \
                   (a)->full[2] * (d_[4] + d_[5]);                                                   \
        if ((kind) == UND_CELL_PACK_WHOLE)                                                           \
            (out) = (a)->full_diagonal * own_ - sum_;                                                \
        else                                                                                         \
            (out) = UND_WHERE_SOLVED(UND_PD((a)->diagonal[colour] + at_) * own_ - sum_,              \
                                     UND_PD((a)->diagonal[colour] + at_));                           \
    } while (0)

/* ---- From the grid and back ---- */

UND_INLINE size_t und_pack_in_grid(const und_system_args *a, const und_cell_pack *e, int z)
{
    return (size_t)(a->first + 2 * UND_CELL_PACK * e->k + e->y * a->step[1] + z * a->step[2]);
}

/* A bit for each of a pack's cells of the colour with this offset. */
UND_INLINE unsigned und_pack_bits(const und_system_args *a, const und_cell_pack *e, int z, unsigned offset,
                                  int kind)
{
    if (kind == UND_CELL_PACK_WHOLE)
        return 0xff;
    const uint64_t *row = und_mask_row(&a->unknown, e->y, z);
    return (unsigned)und_halve_bits(und_mask_sixteen(&a->unknown, row, 2 * UND_CELL_PACK * e->k) >> offset);
}
UND_INLINE und_pack_double und_where_bits(und_pack_double v, unsigned bits, int lane, int kind)
{
    if (kind == UND_CELL_PACK_WHOLE)
        return v;
    return (und_pack_double)((und_pack_long)v &
                             __builtin_convertvector(und_pack_where(bits, lane), und_pack_long));
}

/* r = b, 0 where no cell is unknown. */
UND_INLINE und_pack_long und_take_b(const und_system_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p), from = und_pack_in_grid(a, e, p.z);
    und_pack_long most = {0};
    for (unsigned c = 0; c < 2; c++) {
        const unsigned offset = (e->at ^ c) & 1, bits = und_pack_bits(a, e, p.z, offset, kind);
        und_pack_double b;
        if (a->given)
            b = und_pack_double_of(UND_PACK_SECOND(und_pack_float, a->given + from, offset, p.x));
        else
            b = UND_PACK_SECOND(und_pack_double, a->given_double + from, offset, p.x);
        b = und_where_bits(b, bits, p.x, kind);
        UND_SET_PD(a->r[c] + at) = b;
        most = und_pack_larger(most, und_pack_size(b));
    }
    return most;
}

UND_INLINE und_pack_long und_take_r(const und_system_args *a, und_place p, int kind)
{
    return und_take_b(a, p, kind);
}
UND_KERNEL_PACKS_MOST(und_take_r, und_system_args)

/* And x = 0. */
UND_INLINE und_pack_long und_take_cold(const und_system_args *a, und_place p, int kind)
{
    const size_t at = und_pack_at(a->list + p.at, p);
    for (unsigned c = 0; c < 2; c++)
        UND_SET_PD(a->x[c] + at) = (und_pack_double){0};
    return und_take_b(a, p, kind);
}
UND_KERNEL_PACKS_MOST(und_take_cold, und_system_args)

/* And x as it is given. */
UND_INLINE und_pack_long und_take_warm(const und_system_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p), from = und_pack_in_grid(a, e, p.z),
                 soon = from + (size_t)(2 * a->step[1]);
    und_lanes_fetch(a->grid + soon);
    und_lanes_fetch(a->grid + soon + UND_CELL_PACK);
    if (a->given)
        und_lanes_fetch(a->given + soon);
    for (unsigned c = 0; c < 2; c++) {
        const unsigned offset = (e->at ^ c) & 1, bits = und_pack_bits(a, e, p.z, offset, kind);
        const und_pack_double value = UND_PACK_SECOND(und_pack_double, a->grid + from, offset, p.x);
        UND_SET_PD(a->x[c] + at) = a->unit * und_where_bits(value, bits, p.x, kind);
    }
    return und_take_b(a, p, kind);
}
UND_KERNEL_PACKS_MOST(und_take_warm, und_system_args)

UND_INLINE void und_give_x(const und_system_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const double back = 1 / a->unit;
    const size_t at = und_pack_at(e, p);
    double *to = a->grid + und_pack_in_grid(a, e, p.z) + 2 * p.x;
    const unsigned first = e->at & 1;
    const und_pack_double even = back * UND_PD(a->x[first] + at), odd = back * UND_PD(a->x[1 - first] + at);
    const unsigned evens = und_pack_bits(a, e, p.z, 0, kind) >> p.x,
                   odds = und_pack_bits(a, e, p.z, 1, kind) >> p.x;
    for (int i = 0; i < UND_PACK_LANES; i++) {
        if (kind == UND_CELL_PACK_WHOLE || (evens >> i & 1))
            to[2 * i] = even[i];
        if (kind == UND_CELL_PACK_WHOLE || (odds >> i & 1))
            to[2 * i + 1] = odd[i];
    }
}
UND_KERNEL_PACKS(und_give_x, und_system_args)

/* ---- Conjugate gradients ---- */

/* Gauss-Seidel on cells of one colour where the surface or a wall is, r being b; the residual that they had.
 */
UND_INLINE und_pack_long und_relax(const und_system_args *a, und_place p, unsigned c, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p);
    if (kind == UND_CELL_PACK_WHOLE)
        return (und_pack_long){0};
    const und_pack_double diagonal = UND_PD(a->diagonal[c] + at);
    und_pack_double left;
    UND_APPLY(UND_PD, a, e, p, c, kind, a->x, left);
    left = UND_WHERE_SOLVED(UND_PD(a->r[c] + at) - left, diagonal);
    UND_SET_PD(a->x[c] + at) = UND_PD(a->x[c] + at) + UND_WHERE_SOLVED(left / diagonal, diagonal);
    return und_pack_size(left);
}
UND_INLINE und_pack_long und_relax_red(const und_system_args *a, und_place p, int kind)
{
    return und_relax(a, p, 0, kind);
}
UND_KERNEL_PACKS_MOST(und_relax_red, und_system_args)
UND_INLINE void und_relax_black(const und_system_args *a, und_place p, int kind)
{
    und_relax(a, p, 1, kind);
}
UND_KERNEL_PACKS(und_relax_black, und_system_args)

/* r, which is b, becomes b - A x. */
UND_INLINE und_pack_long und_subtract(const und_system_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p);
    und_pack_long most = {0};
    for (unsigned c = 0; c < 2; c++) {
        und_pack_double part;
        UND_APPLY(UND_PD, a, e, p, c, kind, a->x, part);
        part = UND_PD(a->r[c] + at) - part;
        UND_SET_PD(a->r[c] + at) = part;
        most = und_pack_larger(most, und_pack_size(part));
    }
    return most;
}
UND_KERNEL_PACKS_MOST(und_subtract, und_system_args)

UND_INLINE und_pack_long und_measure(const und_system_args *a, und_place p, int kind)
{
    const size_t at = und_pack_at(a->list + p.at, p);
    (void)kind;
    return und_pack_larger(und_pack_size(UND_PD(a->r[0] + at)), und_pack_size(UND_PD(a->r[1] + at)));
}
UND_KERNEL_PACKS_MOST(und_measure, und_system_args)

/* r to the preconditioner, scaled so that floats can hold it; Gauss-Seidel from 0 in red cells. */
UND_INLINE void und_give_pack(const und_system_args *a, size_t at, unsigned c, double scale,
                              und_pack_double r, int kind)
{
    const und_pack_float b = __builtin_convertvector(scale * r, und_pack_float);
    UND_SET_PF(a->b[c] + at) = b;
    if (c == 0)
        UND_SET_PF(a->z[0] + at) =
            kind == UND_CELL_PACK_WHOLE ? a->full_inverse[c] * b : UND_PF(a->inverse + at) * b;
}
UND_INLINE void und_give_residual(const und_system_args *a, und_place p, int kind)
{
    const size_t at = und_pack_at(a->list + p.at, p);
    const double scale = a->now->scale;
    for (unsigned c = 0; c < 2; c++)
        und_give_pack(a, at, c, scale, UND_PD(a->r[c] + at), kind);
}
UND_KERNEL_PACKS(und_give_residual, und_system_args)

/* p = z + beta p, where z is what the preconditioner made. */
UND_INLINE void und_direct(const und_system_args *a, und_place p, int kind)
{
    const size_t at = und_pack_at(a->list + p.at, p);
    const float beta = (float)a->now->beta;
    (void)kind;
    for (unsigned c = 0; c < 2; c++)
        if (beta == 0) /* what was there before may be no number */
            UND_SET_PF(a->p[c] + at) = UND_PF(a->z[c] + at);
        else
            UND_SET_PF(a->p[c] + at) = UND_PF(a->z[c] + at) + beta * UND_PF(a->p[c] + at);
}
UND_KERNEL_PACKS(und_direct, und_system_args)

enum { UND_PACKS_AHEAD = 8 * UND_CELL_PACK };
/* x += alpha p, r -= alpha A p, and r to the preconditioner. */
UND_INLINE und_pack_long und_advance(const und_system_args *a, und_place p, int kind)
{
    const und_cell_pack *e = a->list + p.at;
    const size_t at = und_pack_at(e, p);
    const double alpha = a->now->alpha, scale = a->now->scale;
    und_pack_long most = {0};
    for (unsigned c = 0; c < 2; c++) {
        und_lanes_fetch(a->r[c] + at + UND_PACKS_AHEAD);
        und_lanes_fetch(a->x[c] + at + UND_PACKS_AHEAD);
    }
    for (unsigned c = 0; c < 2; c++) {
        und_pack_double part;
        UND_APPLY(UND_PD_OF, a, e, p, c, kind, a->p, part);
        const und_pack_double left = UND_PD(a->r[c] + at) - alpha * part;
        UND_SET_PD(a->x[c] + at) = UND_PD(a->x[c] + at) + alpha * UND_PD_OF(a->p[c] + at);
        UND_SET_PD(a->r[c] + at) = left;
        und_give_pack(a, at, c, scale, left, kind);
        most = und_pack_larger(most, und_pack_size(left));
    }
    return most;
}
UND_KERNEL_PACKS_MOST(und_advance, und_system_args)

/* What the preconditioner made is the answer. */
UND_INLINE void und_keep_z(const und_system_args *a, und_place p, int kind)
{
    const size_t at = und_pack_at(a->list + p.at, p);
    (void)kind;
    for (unsigned c = 0; c < 2; c++)
        UND_SET_PD(a->x[c] + at) = UND_PD_OF(a->z[c] + at);
}
UND_KERNEL_PACKS(und_keep_z, und_system_args)

/* ---- What comes next ---- */

typedef struct und_decide_args {
    und_iteration *now;
    const double *product, *energy; /* of each slice */
    const int64_t *bits;            /* of the largest |r| */
    int64_t slices;
    unsigned low,
        room;        /* one more than the first one's number in the whole level; a power of two above all */
    double *tree[2]; /* of that many values each */
    double largest;  /* weight */
} und_decide_args;

/* A sum of all slices', in the tree of grid/reduce.h, at its root: two at a time, and so on. */
static inline void und_sum_slices(const und_decide_args *a, const double *slice, double *tree,
                                  und_together who)
{
    const unsigned end = a->low + (unsigned)a->slices;
    for (unsigned i = who.thread; i < a->room; i += who.threads)
        tree[i] = i >= a->low && i < end ? slice[i - a->low] : 0;
    und_together_wait();
    for (unsigned step = 1; step < a->room; step *= 2) {
        for (unsigned i = 2 * step * who.thread; i < a->room; i += 2 * step * who.threads)
            tree[i] = tree[i] + tree[i + step];
        und_together_wait();
    }
}

/* p A p, over the largest weight, by z A z, z being what the preconditioner gave, and what is known of the
 * direction before (Chronopoulos & Gear 1989) is there before p is; but not where most of it cancels. */
static inline void und_reckon_from(und_iteration *i, double product, double energy_of_z)
{
    const double most = 0.5;
    i->energy_of_z = energy_of_z;
    i->over = i->over || i->count >= i->most || !(product > 0);
    if (!i->over) {
        i->beta = i->product > 0 ? product / i->product : 0;
        i->product = product;
        const double energy = i->energy_of_z - i->beta * i->beta * i->energy;
        i->directed = !(i->beta < most && energy > most * i->energy_of_z);
        i->energy = energy;
    }
    i->not_directed = i->over || !i->directed;
}
UND_KERNEL_STATIC void und_reckon_together(const und_decide_args *a, const und_set *set, und_together who)
{
    (void)set;
    und_sum_slices(a, a->product, a->tree[0], who);
    und_sum_slices(a, a->energy, a->tree[1], who);
    if (who.thread == 0)
        und_reckon_from(a->now, a->tree[0][0], a->tree[1][0]);
}
UND_KERNEL_TOGETHER(und_reckon, und_decide_args)

/* How far to go along the direction.  If the residual falls as it did the last time, this is the end: nothing
 * is smoothed in vain. */
static inline void und_aim_from(und_iteration *i, double largest)
{
    const double length = i->product / i->energy;
    i->over = i->over || !(i->energy > 0) || !(length - length == 0); /* no number */
    if (!i->over) {
        i->alpha = length / (i->scale * largest);
        i->end = i->residual * (i->residual / i->before) < i->tolerance;
        i->before = i->residual;
    }
    i->not_turned = i->over || i->directed;
    for (int k = 0; k < 2; k++) {
        const bool other = i->over || (k == 0) != i->directed;
        i->not_fused[k] = other || i->end;
        i->not_last[k] = other || !i->end;
    }
}
UND_KERNEL_STATIC void und_aim_together(const und_decide_args *a, const und_set *set, und_together who)
{
    const bool summed = !a->now->over && a->now->directed;
    (void)set;
    und_together_wait(); /* until all have seen that */
    if (summed)
        und_sum_slices(a, a->energy, a->tree[1], who);
    if (who.thread > 0)
        return;
    if (summed)
        a->now->energy = a->tree[1][0];
    und_aim_from(a->now, a->largest);
}
UND_KERNEL_TOGETHER(und_aim, und_decide_args)

/* Has the residual that is carried along come below the tolerance? */
UND_KERNEL_STATIC void und_look_block(const void *args, const und_set *set, int block)
{
    const und_decide_args *a = args;
    und_iteration *i = a->now;
    int64_t bits = 0;
    (void)set, (void)block;
    if (!i->over) {
        for (int64_t z = 0; z < a->slices; z++)
            bits = a->bits[z] > bits ? a->bits[z] : bits;
        i->count++;
        __builtin_memcpy(&i->residual, &bits, sizeof bits);
        i->over = !(i->residual >= i->tolerance);
    }
    i->not_down = i->over || !i->end;
}
UND_KERNEL_BLOCK(und_look, und_decide_args)

#endif
