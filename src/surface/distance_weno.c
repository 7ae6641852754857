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
static inline void seven(const und_distance *d, const float *row, int axis, int at, int x, und_lanes v[7])
{
    int n = d->mac.n[axis];
    float stretch[UND_LANES + 6];
    if (axis > 0) {
        for (int k = -3; k <= 3; k++) {
            int there = at + k < 0 ? 0 : at + k > n - 1 ? n - 1 : at + k;
            v[k + 3] = und_lanes_load(row + x + (there - at) * d->mac.step[axis]);
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

typedef struct stage {
    const float *from, *start;
    float *to;
    float keep; /* to = keep start + (1 - keep) (from - time u . grad from) */
} stage;

static void stage_row(const und_distance *d, float *const u[3], const stage *s, float time, int row)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    size_t first = und_mac_row(m, row);
    const int at[3] = {0, row % m->n[1], row / m->n[1]};
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        size_t i = first + (size_t)batch.x;
        und_lanes sum = {0}, v[7];
        for (int a = 0; a < und_distance_axes(d); a++) {
            seven(d, s->from + first, a, at[a], batch.x, v);
            und_lanes low = und_lanes_load(u[a] + i - (size_t)m->step[a]), high = und_lanes_load(u[a] + i);
            sum += carried(v, 0.5f * (low + high));
        }
        und_lanes moved = und_lanes_load(s->from + i) - time * sum;
        und_lanes value = s->keep * und_lanes_load(s->start + i) + (1 - s->keep) * moved;
        und_lanes_store_some(s->to + i, value, batch.lanes);
    }
}

/* The largest sum over axes of speeds in the band, m/s. */
static double row_speed(const und_distance *d, float *const u[3], int row)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    und_lanes most = {0};
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        size_t i = und_mac_row(m, row) + (size_t)batch.x;
        und_lanes sum = {0};
        for (int a = 0; a < und_distance_axes(d); a++)
            sum += und_lanes_max(und_size(und_lanes_load(u[a] + i)),
                                 und_size(und_lanes_load(u[a] + i - (size_t)m->step[a])));
        most = und_lanes_max(most, und_lanes_select(und_lanes_where(batch.lanes), sum, (und_lanes){0}));
    }
    double largest = 0;
    for (int i = 0; i < UND_LANES; i++)
        largest = fmax(largest, (double)most[i]);
    return largest;
}

static void run_stage(und_distance *d, float *const u[3], const stage *s, float time)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            stage_row(d, u, s, time, r);
}

void und_distance_advect_weno(und_distance *d, float *const u[3], double cells_per_speed)
{
    und_distance_parts *p = d->parts;
    double fastest = 0;
    und_distance_list(d, &d->band);
    for (int r = 0; r < und_mac_rows(&d->mac); r++)
        fastest = fmax(fastest, row_speed(d, u, r));
    double crossed = fastest * fabs(cells_per_speed), most = 1000; /* not as many as what is wrong asks for */
    int parts = (int)fmax(ceil(fmin(crossed / COURANT, most)), 1);
    float time = (float)(cells_per_speed / parts);
    memcpy(d->next, d->phi, d->mac.count * sizeof *d->phi);
    memcpy(p->stage, d->phi, d->mac.count * sizeof *d->phi);
    for (int i = 0; i < parts; i++) {
        run_stage(d, u, &(stage){d->phi, d->phi, p->stage, 0}, time);
        run_stage(d, u, &(stage){p->stage, d->phi, d->next, 0.75f}, time);
        run_stage(d, u, &(stage){d->next, d->phi, p->stage, 1.0f / 3}, time);
        float *phi = d->phi;
        d->phi = p->stage;
        p->stage = phi;
    }
    und_distance_beside(d, d->phi);
}
