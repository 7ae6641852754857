/* Motion by fifth-order HJ-WENO (Jiang & Peng 2000; Osher & Fedkiw 2003, 3.5) and third-order TVD Runge-Kutta
 * (Shu & Osher 1988). */
#include "surface/distance_kernel.h"
#include "surface/distance_parts.h"

#include <math.h>
#include <string.h>

#define COURANT 0.5 /* cells that the flow crosses in a part of a step, summed over axes */

/* The slope from five differences in a row, the middle one being that on the side where the flow is from. */
UND_INLINE und_lanes weno(const und_lanes v[5])
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
static inline void seven(const und_mac *m, const float *row, int axis, int at, int x, und_lanes v[7])
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
static inline und_lanes carried(const und_lanes v[7], und_lanes speed)
{
    und_lanes from[5];
    und_lanes_int ahead = speed < 0;
    for (int i = 0; i < 5; i++)
        from[i] = und_lanes_select(ahead, v[6 - i] - v[5 - i], v[i + 1] - v[i]);
    return speed * weno(from);
}

typedef struct stage_args {
    und_mac mac;
    const float *from, *start;
    float *to, *u[3];
    float keep, time; /* to = keep start + (1 - keep) (from - time u . grad from) */
} stage_args;

UND_INLINE void stage(const stage_args *s, und_place p)
{
    const und_mac *m = &s->mac;
    const int at[3] = {0, p.y, p.z};
    und_lanes sum = {0}, v[7];
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++) {
        seven(m, s->from + p.at - p.x, a, at[a], p.x, v);
        const und_lanes low = und_lanes_load(s->u[a] + p.at - (size_t)m->step[a]);
        sum += carried(v, 0.5f * (low + und_lanes_load(s->u[a] + p.at)));
    }
    const und_lanes moved = und_lanes_load(s->from + p.at) - s->time * sum;
    const und_lanes value = s->keep * und_lanes_load(s->start + p.at) + (1 - s->keep) * moved;
    und_lanes_store_some(s->to + p.at, value, p.which);
}
UND_KERNEL(stage, stage_args, UND_EACH_CELL)

/* The largest sum over axes of speeds, m/s. */
UND_INLINE und_lanes speed_of(const stage_args *s, und_place p)
{
    const und_mac *m = &s->mac;
    und_lanes sum = {0};
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++)
        sum += und_lanes_max(und_size(und_lanes_load(s->u[a] + p.at)),
                             und_size(und_lanes_load(s->u[a] + p.at - (size_t)m->step[a])));
    return sum;
}
UND_KERNEL_MOST(speed_of, stage_args, UND_EACH_CELL)

static void run_stage(und_distance *d, const stage_args *s)
{
    const und_set band = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->band);
    und_pass(&d->device, stage, s, &band);
}

void und_distance_advect_weno(und_distance *d, float *const u[3], double cells_per_speed)
{
    und_distance_parts *p = d->parts;
    und_set band = und_set_shared(&d->device, &d->mac, UND_ROWS_INSIDE);
    stage_args s = {.mac = d->mac, .u = {u[0], u[1], u[2]}};
    enum { REACH = 9 }; /* three stages, each of three cells */
    band.cells = &d->band;
    und_distance_get_flow(d, u, REACH);
    const und_pass speeds = UND_PASS(speed_of, &s, &band);
    const double fastest = (double)und_pass_most(&d->device, &speeds, 1, p->block_most);
    double crossed = fastest * fabs(cells_per_speed), most = 1000; /* not as many as what is wrong asks for */
    int parts = (int)fmax(ceil(fmin(crossed / COURANT, most)), 1);
    s.time = (float)(cells_per_speed / parts);
    memcpy(d->next, d->phi, d->mac.count * sizeof *d->phi);
    memcpy(p->stage, d->phi, d->mac.count * sizeof *d->phi);
    for (int i = 0; i < parts; i++) {
        if (i > 0)
            und_distance_get_phi(d, REACH);
        s.start = d->phi;
        s.from = d->phi, s.to = p->stage, s.keep = 0;
        run_stage(d, &s);
        s.from = p->stage, s.to = d->next, s.keep = 0.75f;
        run_stage(d, &s);
        s.from = d->next, s.to = p->stage, s.keep = 1.0f / 3;
        run_stage(d, &s);
        float *phi = d->phi;
        d->phi = p->stage;
        p->stage = phi;
    }
    und_distance_beside(d, d->phi);
}
