/* Motion by fifth-order HJ-WENO (Jiang & Peng 2000; Osher & Fedkiw 2003, 3.5). */
#ifndef UND_SURFACE_DISTANCE_WENO_KERNEL_H
#define UND_SURFACE_DISTANCE_WENO_KERNEL_H

#include "grid/pass.h"
#include "surface/distance_kernel.h"

/* The slope from five differences in a row, the middle one being that on the side where the flow is from. */
UND_INLINE und_lanes und_weno_slope(const und_lanes v[5])
{
    und_lanes a = v[0] - 2 * v[1] + v[2], b = v[1] - 2 * v[2] + v[3], c = v[2] - 2 * v[3] + v[4];
    und_lanes a1 = v[0] - 4 * v[1] + 3 * v[2], b1 = v[1] - v[3], c1 = 3 * v[2] - 4 * v[3] + v[4];
    const float curve = 13.0f / 12, lean = 0.25f;
    und_lanes largest = und_size(v[0]);
    for (int i = 1; i < 5; i++)
        largest = und_lanes_max(largest, und_size(v[i]));
    und_lanes small = 1e-6f * largest * largest + 1e-12f;
    und_lanes s0 = curve * a * a + lean * a1 * a1 + small, s1 = curve * b * b + lean * b1 * b1 + small,
              s2 = curve * c * c + lean * c1 * c1 + small;
    und_lanes w0 = 0.1f / (s0 * s0), w1 = 0.6f / (s1 * s1), w2 = 0.3f / (s2 * s2);
    und_lanes p0 = v[0] * (1.0f / 3) - v[1] * (7.0f / 6) + v[2] * (11.0f / 6);
    und_lanes p1 = v[2] * (5.0f / 6) - v[1] * (1.0f / 6) + v[3] * (1.0f / 3);
    und_lanes p2 = v[2] * (1.0f / 3) + v[3] * (5.0f / 6) - v[4] * (1.0f / 6);
    return (w0 * p0 + w1 * p1 + w2 * p2) / (w0 + w1 + w2);
}

/* phi of a batch and of three neighbours on both sides; beyond the domain that of its outermost cells. */
UND_INLINE void und_weno_seven(const und_mac *m, const float *row, int axis, int at, int x, und_lanes v[7])
{
    int n = m->n[axis];
    float stretch[UND_LANES + 6];
    if (axis > 0) {
        for (int k = -3; k <= 3; k++) {
            int there = at + k < 0 ? 0 : at + k > n - 1 ? n - 1 : at + k;
            v[k + 3] = und_lanes_load(row + x + (there - at) * m->step[axis]);
        }
        return;
    }
    for (int i = 0; i < UND_LANES + 6; i++) {
        int there = x + i - 3;
        stretch[i] = row[there < 0 ? 0 : there > n - 1 ? n - 1 : there];
    }
    for (int k = 0; k < 7; k++)
        v[k] = und_lanes_load(stretch + k);
}

/* u . grad phi along an axis, upwind. */
UND_INLINE und_lanes und_weno_carried(const und_lanes v[7], und_lanes speed)
{
    und_lanes from[5];
    und_lanes_int ahead = speed < 0;
    for (int i = 0; i < 5; i++)
        from[i] = und_lanes_select(ahead, v[6 - i] - v[5 - i], v[i + 1] - v[i]);
    return speed * und_weno_slope(from);
}

typedef struct und_weno_args {
    und_mac mac;
    const float *from, *start;
    float *to, *u[3];
    float keep, time; /* to = keep start + (1 - keep) (from - time u . grad from) */
} und_weno_args;

UND_INLINE void und_weno_stage(const und_weno_args *s, und_place p)
{
    const und_mac *m = &s->mac;
    const int at[3] = {0, p.y, p.z};
    und_lanes sum = {0}, v[7];
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++) {
        und_weno_seven(m, s->from + p.at - p.x, a, at[a], p.x, v);
        const und_lanes low = und_lanes_load(s->u[a] + p.at - (size_t)m->step[a]);
        sum += und_weno_carried(v, 0.5f * (low + und_lanes_load(s->u[a] + p.at)));
    }
    const und_lanes moved = und_lanes_load(s->from + p.at) - s->time * sum;
    const und_lanes value = s->keep * und_lanes_load(s->start + p.at) + (1 - s->keep) * moved;
    und_lanes_store_some(s->to + p.at, value, p.which);
}
UND_KERNEL(und_weno_stage, und_weno_args, UND_EACH_CELL)

/* The largest sum over axes of speeds, m/s. */
UND_INLINE und_lanes und_weno_speed_of(const und_weno_args *s, und_place p)
{
    const und_mac *m = &s->mac;
    und_lanes sum = {0};
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++)
        sum += und_lanes_max(und_size(und_lanes_load(s->u[a] + p.at)),
                             und_size(und_lanes_load(s->u[a] + p.at - (size_t)m->step[a])));
    return sum;
}
UND_KERNEL_MOST(und_weno_speed_of, und_weno_args, UND_EACH_CELL)

#endif
