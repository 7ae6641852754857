/* Values between those of a staggered grid, at UND_LANES places at a time: linear between the eight (in two
 * dimensions four) nearest.  Places are in cells from the low corner of the whole grid, of which this one may
 * be a window: its values do not depend on which.  Those outside the domain are taken to its border, NaN to
 * the low one.  Nothing beside the domain is read but the faces on its border: within half a cell of it
 * values are those of the outermost cells or faces.  Arrays are of mac.count floats, fewer than 2^31. */
#ifndef UND_GRID_SAMPLE_H
#define UND_GRID_SAMPLE_H

#include "base/lanes.h"
#include "grid/mac.h"

/* Of places along one axis: what the lower of two neighbouring values adds to an index, and how far towards
 * the upper each place is, 0 to 1. */
typedef struct und_between {
    und_lanes_int low;
    und_lanes part;
} und_between;

/* t counts from the value of index -1; of n + 2 along the axis. */
UND_INLINE und_between und_between_make(int n, ptrdiff_t step, und_lanes t, float least)
{
    t = und_lanes_min(und_lanes_max(t, und_lanes_all(least)), und_lanes_all((float)n));
    und_lanes_int i = __builtin_convertvector(t, und_lanes_int);
    i += i > n - 1; /* at the upper border: -1 */
    return (und_between){(i - 1) * (int32_t)step, t - __builtin_convertvector(i, und_lanes)};
}
/* Between the faces across the axis. */
UND_INLINE und_between und_between_faces(const und_mac *m, int axis, und_lanes place)
{
    return und_between_make(m->n[axis], m->step[axis], place - (float)m->low[axis], 0);
}
/* Between the middles of cells. */
UND_INLINE und_between und_between_middles(const und_mac *m, int axis, und_lanes place)
{
    return und_between_make(m->n[axis], m->step[axis], place + 0.5f - (float)m->low[axis], 1);
}

/* For each of `rows` offsets the values at index[i] + row[r], and those behind them. */
#ifdef UND_ONE_LANE
UND_INLINE void und_sample_pairs(const und_mac *m, const float *v, und_lanes_int index, const ptrdiff_t *row,
                                 int rows, und_lanes *low, und_lanes *high)
{
    (void)m;
    for (int r = 0; r < rows; r++) {
        low[r] = und_lanes_load(v + row[r] + index[0]);
        high[r] = und_lanes_load(v + row[r] + index[0] + 1);
    }
}
#else
/* Two floats are read at once. */
typedef double und_sample_pair __attribute__((vector_size(4 * UND_LANES)));

UND_INLINE double und_sample_two(const float *p)
{
    double two;
    __builtin_memcpy(&two, p, sizeof two);
    return two;
}
/* Of each of UND_LANES places, in halves; `in_order`: all places are behind each other. */
UND_INLINE void und_sample_twos(const float *p, const int32_t at[UND_LANES], und_lanes *low, und_lanes *high)
{
#ifdef UND_LANES_512
    const und_lanes a = (und_lanes)(und_sample_pair){und_sample_two(p + at[0]), und_sample_two(p + at[1]),
                                                     und_sample_two(p + at[2]), und_sample_two(p + at[3]),
                                                     und_sample_two(p + at[4]), und_sample_two(p + at[5]),
                                                     und_sample_two(p + at[6]), und_sample_two(p + at[7])};
    const und_lanes b = (und_lanes)(und_sample_pair){und_sample_two(p + at[8]),  und_sample_two(p + at[9]),
                                                     und_sample_two(p + at[10]), und_sample_two(p + at[11]),
                                                     und_sample_two(p + at[12]), und_sample_two(p + at[13]),
                                                     und_sample_two(p + at[14]), und_sample_two(p + at[15])};
    *low = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *high = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#else
    const und_lanes a = (und_lanes)(und_sample_pair){und_sample_two(p + at[0]), und_sample_two(p + at[1]),
                                                     und_sample_two(p + at[4]), und_sample_two(p + at[5])};
    const und_lanes b = (und_lanes)(und_sample_pair){und_sample_two(p + at[2]), und_sample_two(p + at[3]),
                                                     und_sample_two(p + at[6]), und_sample_two(p + at[7])};
    *low = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
    *high = __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
#endif
}
UND_INLINE void und_sample_pairs(const und_mac *m, const float *v, und_lanes_int index, const ptrdiff_t *row,
                                 int rows, und_lanes *low, und_lanes *high)
{
    (void)m;
    int32_t at[UND_LANES];
    und_lanes_int in_line = {0};
    __builtin_memcpy(at, &index, sizeof at);
    for (int i = 0; i < UND_LANES; i++)
        in_line[i] = i;
    if (und_lanes_bits(index == in_line + at[0]) == UND_LANES_ALL) {
        for (int r = 0; r < rows; r++) {
            low[r] = und_lanes_load(v + row[r] + at[0]);
            high[r] = und_lanes_load(v + row[r] + at[0] + 1);
        }
        return;
    }
    if (und_lanes_bits(index == at[0]) == UND_LANES_ALL) { /* one place alone */
        for (int r = 0; r < rows; r++) {
            low[r] = und_lanes_all(v[row[r] + at[0]]);
            high[r] = und_lanes_all(v[row[r] + at[0] + 1]);
        }
        return;
    }
    for (int r = 0; r < rows; r++)
        und_sample_twos(v + row[r], at, &low[r], &high[r]);
}
#endif

/* The least and the largest of the values around a place. */
typedef struct und_sample_range {
    und_lanes low, high;
} und_sample_range;

/* rows: 4, or 2 in two dimensions; a constant. */
UND_INLINE und_lanes und_sample_rows(const und_mac *m, const float *v, const und_between *at, int rows,
                                     und_sample_range *range)
{
    const ptrdiff_t row[4] = {0, m->step[1], m->step[2], m->step[1] + m->step[2]};
    und_lanes_int index = at[0].low + at[1].low + (int32_t)m->first;
    if (rows == 4)
        index += at[2].low;
    und_lanes low[4], high[4];
    und_sample_pairs(m, v, index, row, rows, low, high);
    if (range) {
        *range = (und_sample_range){und_lanes_min(low[0], high[0]), und_lanes_max(low[0], high[0])};
        for (int r = 1; r < rows; r++) {
            range->low = und_lanes_min(range->low, und_lanes_min(low[r], high[r]));
            range->high = und_lanes_max(range->high, und_lanes_max(low[r], high[r]));
        }
    }
    for (int r = 0; r < rows; r++)
        low[r] += at[0].part * (high[r] - low[r]);
    low[0] += at[1].part * (low[1] - low[0]);
    if (rows == 4) {
        low[2] += at[1].part * (low[3] - low[2]);
        low[0] += at[2].part * (low[2] - low[0]);
    }
    return low[0];
}
UND_INLINE und_lanes und_sample_between(const und_mac *m, const float *v, const und_between *at,
                                        und_sample_range *range)
{
    return m->n[2] == 1 ? und_sample_rows(m, v, at, 2, range) : und_sample_rows(m, v, at, 4, range);
}

/* What stands at the middles of cells, such as a distance.  range may be NULL. */
static inline void und_sample_cells(const und_mac *m, const float *v, const und_lanes place[3],
                                    und_lanes *out, und_sample_range *range)
{
    und_between at[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_between_middles(m, a, place[a]);
    *out = und_sample_between(m, v, at, range);
}

/* What stands at high faces across the axis: a component of a velocity.  range may be NULL. */
static inline void und_sample_faces(const und_mac *m, const float *v, int axis, const und_lanes place[3],
                                    und_lanes *out, und_sample_range *range)
{
    und_between at[3];
    for (int a = 0; a < 3; a++)
        at[a] = a == axis ? und_between_faces(m, a, place[a]) : und_between_middles(m, a, place[a]);
    *out = und_sample_between(m, v, at, range);
}

/* dimensions: a constant, so that the components are worked on side by side. */
UND_INLINE void und_sample_components(const und_mac *m, float *const u[3], const und_lanes place[3],
                                      und_lanes out[3], int dimensions)
{
    und_between faces[3], middles[3];
    for (int a = 0; a < dimensions; a++) {
        faces[a] = und_between_faces(m, a, place[a]);
        middles[a] = und_between_middles(m, a, place[a]);
    }
    if (dimensions == 2) {
        out[0] = und_sample_rows(m, u[0], (und_between[]){faces[0], middles[1]}, 2, NULL);
        out[1] = und_sample_rows(m, u[1], (und_between[]){middles[0], faces[1]}, 2, NULL);
        out[2] = (und_lanes){0};
    } else {
        out[0] = und_sample_rows(m, u[0], (und_between[]){faces[0], middles[1], middles[2]}, 4, NULL);
        out[1] = und_sample_rows(m, u[1], (und_between[]){middles[0], faces[1], middles[2]}, 4, NULL);
        out[2] = und_sample_rows(m, u[2], (und_between[]){middles[0], middles[1], faces[2]}, 4, NULL);
    }
}

/* What one place is read for soon: of what stands around it in cells or at faces. */
UND_INLINE void und_sample_fetch(const und_mac *m, const float *v, const float place[3])
{
    enum { BEHIND = 16 };
    ptrdiff_t at = (ptrdiff_t)m->first;
    for (int a = 0; a < 3; a++) {
        const float t = place[a] - 0.5f - (float)m->low[a], most = (float)(m->n[a] - 1);
        at += (ptrdiff_t)(t > 0 ? t < most ? t : most : 0) * m->step[a];
    }
    for (int row = 0; row < 4; row++) {
        const float *from = v + at + (row & 1 ? m->step[1] : 0) + (row & 2 ? m->step[2] : 0);
        __builtin_prefetch(from);
        __builtin_prefetch(from + BEHIND);
    }
}

/* The velocity; in two dimensions its third component is 0. */
static inline void und_sample_velocity(const und_mac *m, float *const u[3], const und_lanes place[3],
                                       und_lanes out[3])
{
    if (m->n[2] == 1)
        und_sample_components(m, u, place, out, 2);
    else
        und_sample_components(m, u, place, out, 3);
}

/* The value of cells; slope[]: what it gains from `by` cells before a place to as far behind, along each
 * axis.
 */
static inline void und_sample_slopes(const und_mac *m, const float *v, const und_lanes place[3], float by,
                                     und_lanes *value, und_lanes slope[3])
{
    und_lanes at[3] = {place[0], place[1], place[2]}, low, high;
    und_sample_cells(m, v, at, value, NULL);
    for (int a = 0; a < 3; a++) {
        at[a] = place[a] + by;
        und_sample_cells(m, v, at, &high, NULL);
        at[a] = place[a] - by;
        und_sample_cells(m, v, at, &low, NULL);
        at[a] = place[a];
        slope[a] = high - low;
    }
}

/* Where the flow takes a place in a time in which a speed of 1 m/s crosses `cells_per_speed` cells; below 0:
 * where it has come from.  speed[]: the velocity there, und_sample_velocity's or better known.  By the
 * midpoint rule, or where `third` is set by Ralston's third-order rule. */
typedef void und_sample_fn(const und_mac *m, float *const u[3], const und_lanes place[3], unsigned which,
                           und_lanes out[3]);
UND_INLINE void und_sample_trace_by(und_sample_fn *velocity, const und_mac *m, float *const u[3],
                                    const und_lanes place[3], const und_lanes speed[3], float cells_per_speed,
                                    bool third, unsigned which, und_lanes out[3])
{
    und_lanes at[3], middle[3], late[3];
    for (int a = 0; a < 3; a++)
        at[a] = place[a] + 0.5f * cells_per_speed * speed[a];
    velocity(m, u, at, which, middle);
    if (third) {
        for (int a = 0; a < 3; a++)
            at[a] = place[a] + 0.75f * cells_per_speed * middle[a];
        velocity(m, u, at, which, late);
        for (int a = 0; a < 3; a++)
            middle[a] = (2 * speed[a] + 3 * middle[a] + 4 * late[a]) / 9;
    }
    for (int a = 0; a < 3; a++)
        out[a] = place[a] + cells_per_speed * middle[a];
}
static inline void und_sample_each_velocity(const und_mac *m, float *const u[3], const und_lanes place[3],
                                            unsigned which, und_lanes out[3])
{
    (void)which;
    und_sample_velocity(m, u, place, out);
}
static inline void und_sample_trace(const und_mac *m, float *const u[3], const und_lanes place[3],
                                    const und_lanes speed[3], float cells_per_speed, bool third,
                                    und_lanes out[3])
{
    und_sample_trace_by(und_sample_each_velocity, m, u, place, speed, cells_per_speed, third, UND_LANES_ALL,
                        out);
}

#endif
