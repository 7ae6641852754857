/* Sums over all places of a set, and the most of something, in one tree: its order does not depend on
 * threads, lanes or machine, nor on which window of the grid there is, as long as what is outside would be 0.
 *
 * Sixteen cells of a row are halved, first and second eight added, until one is left; so are these, in pairs,
 * over the row, then rows over their slice, then slices, each by its number in the whole grid: whoever has a
 * part of the grid can add up that.
 *
 *     UND_INLINE und_totals und_energy(const und_energy_args *a, und_place p)
 *     {
 *         const und_doubles u = und_doubles_of(und_doubles_floats_load(a->u + p.at));
 *         return (und_totals){.sum = u * u};
 *     }
 *     UND_KERNEL_SUM(und_energy, und_energy_args)
 *
 *     und_reduce(device, &UND_PASS(und_energy, &args, &set), 1, rows).sum
 */
#ifndef UND_GRID_REDUCE_H
#define UND_GRID_REDUCE_H

#include "grid/pass.h"

/* ---- The tree ---- */

enum { UND_SUM_LEVELS = 24, UND_SUM_CHUNK = 16 };

/* Values by their numbers, in growing order; those that are left out before the first and behind the last are
 * 0. */
typedef struct und_sum_tree {
    double part[UND_SUM_LEVELS]; /* of 2^level values, whose other half is to come */
    unsigned next;               /* number */
} und_sum_tree;

UND_INLINE und_sum_tree und_sum_from(unsigned number)
{
    und_sum_tree t;
    for (int i = 0; i < UND_SUM_LEVELS; i++)
        t.part[i] = 0;
    t.next = number;
    return t;
}
UND_INLINE void und_sum_add(und_sum_tree *t, double value)
{
    int level = 0;
    for (unsigned n = t->next++; n & 1; n >>= 1)
        value = t->part[level++] + value;
    t->part[level] = value;
}
UND_INLINE double und_sum_end(const und_sum_tree *t)
{
    double sum = 0;
    int level = 0;
    for (unsigned n = t->next; n; n >>= 1, level++)
        sum = n & 1 ? t->part[level] + sum : sum;
    return sum;
}

UND_INLINE double und_sum_chunk(const double v[UND_SUM_CHUNK])
{
    typedef double eight __attribute__((vector_size(64)));
    typedef double four __attribute__((vector_size(32)));
    eight a, b;
    four c, d;
    __builtin_memcpy(&a, v, sizeof a);
    __builtin_memcpy(&b, v + 8, sizeof b);
    a += b;
    __builtin_memcpy(&c, &a, sizeof c);
    __builtin_memcpy(&d, (const char *)&a + sizeof c, sizeof d);
    c += d;
    return (c[0] + c[2]) + (c[1] + c[3]);
}

/* ---- Kernels ---- */

typedef struct und_totals { /* of each place */
    und_doubles sum, most;
} und_totals;

typedef struct und_total {
    double sum, most; /* 0 at least; not a number where one is none */
} und_total;

UND_INLINE double und_larger_total(double a, double most)
{
    return a > most || a != a ? a : most;
}

UND_INLINE und_doubles und_larger_totals(und_doubles a, und_doubles most)
{
    return und_doubles_select((a > most) | (a != a), a, most);
}

UND_INLINE double und_largest_total(und_doubles most)
{
    double all = 0;
    for (int i = 0; i < UND_DOUBLES; i++)
        all = und_larger_total(most[i], all);
    return all;
}

typedef und_totals und_totals_fn(const void *args, und_place p);

/* Of the places that count. */
UND_INLINE und_doubles und_total_some(und_totals here, unsigned which, und_doubles *most)
{
    const und_doubles_int where = und_doubles_where(which);
    *most = und_larger_totals((und_doubles)(where & (und_doubles_int)here.most), *most);
    return (und_doubles)(where & (und_doubles_int)here.sum);
}

/* What a chunk of a row has, from cell p.x on; `from` is where it would begin if all of it were in the grid.
 */
UND_INLINE double und_total_of_chunk(const und_set *s, const uint64_t *bits, und_place p, int from, int end,
                                     und_totals_fn *fn, const void *args, und_doubles *most)
{
    double sums[UND_SUM_CHUNK + UND_DOUBLES];
    const size_t row = (size_t)((ptrdiff_t)p.at - p.x);
    const unsigned which = bits ? und_mask_sixteen(s->cells, bits, p.x) : (1u << UND_SUM_CHUNK) - 1;
    unsigned left = which & ((1u << (end - p.x)) - 1);
    if (!left)
        return 0;
    for (int i = 0; i < UND_SUM_CHUNK; i++)
        sums[i] = 0;
    for (; left; left >>= UND_DOUBLES, p.x += UND_DOUBLES) {
        p.at = (size_t)((ptrdiff_t)row + p.x);
        p.which = left & UND_DOUBLES_ALL;
        if (!p.which)
            continue;
        const und_doubles sum = und_total_some(fn(args, p), p.which, most);
        __builtin_memcpy(sums + (p.x - from), &sum, sizeof sum);
    }
    return und_sum_chunk(sums);
}

/* A cell's number is one more than its x in the whole grid. */
UND_INLINE und_total und_total_of_row(const und_set *s, int row, und_totals_fn *fn, const void *args)
{
    und_place p = und_set_row(s, row);
    const und_span span = s->cells ? und_mac_span_beside(s->mac, p.y, p.z) : und_mac_span(s->mac, p.y, p.z);
    const int low = s->mac->low[0] + 1, last = span.end;
    const uint64_t *bits = s->cells ? und_mask_row(s->cells, p.y, p.z) : NULL;
    const size_t first = p.at;
    und_sum_tree tree = und_sum_from((unsigned)(low + span.begin) / UND_SUM_CHUNK);
    und_doubles most = {0};
    und_total total = {0};
    for (p.x = span.begin; p.x < last;) {
        const int from = (int)tree.next * UND_SUM_CHUNK - low,
                  end = from + UND_SUM_CHUNK < last ? from + UND_SUM_CHUNK : last;
        p.at = (size_t)((ptrdiff_t)first + p.x);
        und_sum_add(&tree, und_total_of_chunk(s, bits, p, from, end, fn, args, &most));
        p.x = end;
    }
    total.sum = und_sum_end(&tree);
    total.most = und_largest_total(most);
    return total;
}

/* What a row's places have as the most: fn(args, place) gives the values of UND_DOUBLES places. */
typedef und_doubles und_largest_fn(const void *args, und_place p);
UND_INLINE und_total und_largest_of_row(const und_set *s, int row, und_largest_fn *fn, const void *args)
{
    const und_doubles none = {0};
    und_doubles most = none;
    UND_EACH_OF_SPAN (s, row, place)
        most = und_larger_totals(und_doubles_some(place.which, fn(args, place), none), most);
    return (und_total){.most = und_largest_total(most)};
}

/* fn(args, place) gives the und_totals of UND_DOUBLES places; it may write as other kernels do.  Sets are of
 * rows. */
#define UND_KERNEL_SUM(fn, args_type)                                  \
    typedef args_type fn##_args_of;                                    \
    UND_INLINE und_totals fn##_at(const void *args_, und_place place_) \
    {                                                                  \
        return fn((const args_type *)args_, place_);                   \
    }                                                                  \
    UND_KERNEL_OF_ROWS(fn, , args_type, und_total_of_row, fn##_at)     \
    UND_KERNEL_TABLE(fn, UND_KERNEL_ROWS(fn, , args_type))

/* The same for each axis: fn(args, place, axis). */
#define UND_KERNEL_SUM_AXES(fn, args_type)                                                            \
    typedef args_type fn##_args_of;                                                                   \
    UND_KERNEL_SUM_AXIS(fn, args_type, 0)                                                             \
    UND_KERNEL_SUM_AXIS(fn, args_type, 1)                                                             \
    UND_KERNEL_SUM_AXIS(fn, args_type, 2)                                                             \
    UND_KERNEL_TABLE_AXES(fn, UND_KERNEL_ROWS(fn, _0, args_type), UND_KERNEL_ROWS(fn, _1, args_type), \
                          UND_KERNEL_ROWS(fn, _2, args_type))
#define UND_KERNEL_SUM_AXIS(fn, args_type, axis)                              \
    UND_INLINE und_totals fn##_at_##axis(const void *args_, und_place place_) \
    {                                                                         \
        return fn((const args_type *)args_, place_, axis);                    \
    }                                                                         \
    UND_KERNEL_OF_ROWS(fn, _##axis, args_type, und_total_of_row, fn##_at_##axis)

/* The most alone, of the rows' spans. */
#define UND_KERNEL_LARGEST(fn, args_type)                               \
    typedef args_type fn##_args_of;                                     \
    UND_INLINE und_doubles fn##_at(const void *args_, und_place place_) \
    {                                                                   \
        return fn((const args_type *)args_, place_);                    \
    }                                                                   \
    UND_KERNEL_OF_ROWS(fn, , args_type, und_largest_of_row, fn##_at)    \
    UND_KERNEL_TABLE(fn, UND_KERNEL_ROWS(fn, , args_type))

#define UND_KERNEL_ROWS(fn, which, args_type)                                           \
    {                                                                                   \
#fn #which, fn##_block##which, sizeof(args_type), UND_PLACES_ROW_TOTAL, true, 0 \
    }
#ifndef UND_CARD
#define UND_KERNEL_OF_ROWS(fn, which, args_type, of_row, at)                                     \
    UND_KERNEL_STATIC void fn##_block##which(const void *args_, const und_set *set_, int block_) \
    {                                                                                            \
        const und_found found_ = *(const und_found *)args_;                                      \
        const args_type of_block_ = *(const args_type *)found_.args;                             \
        UND_EACH_ROW_NUMBER (set_, block_, row_)                                                 \
            ((und_total *)found_.out)[row_] = of_row(set_, row_, at, &of_block_);                \
    }
#endif

/* ---- Passes ---- */

/* Of passes whose kernels are such, at most UND_REDUCE_MOST, the one's total and then the next's; `row` has
 * room for the rows of all sets. */
enum { UND_REDUCE_MOST = 8 };
und_total und_reduce(const und_device *device, const und_pass *passes, int count, und_total *row);
/* The most alone, of kernels made with UND_KERNEL_LARGEST. */
double und_largest(const und_device *device, const und_pass *passes, int count, und_total *row);

#endif
