/* Texture particles along the flow, and back onto the surface. */
#include "base/parallel.h"
#include "grid/sample.h"
#include "surface/texture_state.h"

#include <math.h>

enum { BLOCK = 64, ENOUGH = 512, MOST_SUBSTEPS = 256, PULLS = 4 };

/* Cells off the surface up to which a frame's velocities are the liquid's, and from which on not at all. */
static const float TRUSTED = 2, UNKNOWN = 3;

/* UND_LANES particles, side by side: places in metres. */
typedef struct bundle {
    double place[3][UND_LANES];
    und_lanes last[3]; /* the velocity they had when it was known, m/s */
} bundle;

static void cells_of(const texture_flow *f, double place[3][UND_LANES], und_lanes cells[3])
{
    for (int a = 0; a < 3; a++) {
        double low = f->mac.origin[a], per = 1 / f->mac.d[a];
        for (int i = 0; i < UND_LANES; i++)
            cells[a][i] = (float)((place[a][i] - low) * per);
    }
}

/* The frame's velocity, and how much it counts: what stands far outside the liquid is not the flow's. */
static void velocity_in(const texture_flow *f, double place[3][UND_LANES], und_lanes u[3], und_lanes *trust)
{
    und_lanes cells[3], phi;
    cells_of(f, place, cells);
    und_sample_velocity(&f->mac, f->u, cells, u);
    und_sample_cells(&f->mac, f->phi, cells, &phi, NULL);
    phi = (UNKNOWN - phi) / (UNKNOWN - TRUSTED);
    *trust = und_lanes_min(und_lanes_max(phi, und_lanes_all(0)), und_lanes_all(1));
}

/* Linear in time between the frames; where neither knows it (the liquid moves by many cells from one frame to
 * the next) as it last was. */
static void velocity_at(const texture_flow *from, const texture_flow *to, bundle *b,
                        double place[3][UND_LANES], double part, und_lanes out[3])
{
    und_lanes u[2][3], weight[2];
    velocity_in(from, place, u[0], &weight[0]);
    velocity_in(to, place, u[1], &weight[1]);
    weight[0] *= (float)(1 - part);
    weight[1] *= (float)part;
    und_lanes sum = weight[0] + weight[1];
    und_lanes_int known = sum > 1e-3f;
    for (int a = 0; a < 3; a++) {
        und_lanes mean = (weight[0] * u[0][a] + weight[1] * u[1][a]) / sum;
        out[a] = und_lanes_select(known, mean, b->last[a]);
    }
}

static void shifted(double from[3][UND_LANES], const und_lanes speed[3], double time, double to[3][UND_LANES])
{
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < UND_LANES; i++)
            to[a][i] = from[a][i] + time * (double)speed[a][i];
}

/* Ralston's third-order Runge-Kutta method. */
static void step_bundle(const texture_flow *from, const texture_flow *to, bundle *b, double part, double step,
                        double dt)
{
    und_lanes first[3], middle[3], late[3];
    double at[3][UND_LANES];
    velocity_at(from, to, b, b->place, part, first);
    shifted(b->place, first, 0.5 * dt, at);
    velocity_at(from, to, b, at, part + 0.5 * step, middle);
    shifted(b->place, middle, 0.75 * dt, at);
    velocity_at(from, to, b, at, part + 0.75 * step, late);
    for (int a = 0; a < 3; a++)
        b->last[a] = (2 * first[a] + 3 * middle[a] + 4 * late[a]) / 9;
    shifted(b->place, b->last, dt, b->place);
}

/* Lanes behind the last particle hold copies of it. */
static void load(const texture_points *p, int begin, double place[3][UND_LANES])
{
    for (int i = 0; i < UND_LANES; i++) {
        size_t k = (size_t)(begin + i < p->count ? begin + i : p->count - 1);
        for (int a = 0; a < 3; a++)
            place[a][i] = p->place[3 * k + (size_t)a];
    }
}

static void store(texture_points *p, int begin, double place[3][UND_LANES])
{
    for (int i = 0; i < UND_LANES && begin + i < p->count; i++)
        for (int a = 0; a < 3; a++)
            p->place[3 * (size_t)(begin + i) + (size_t)a] = place[a][i];
}

void und_texture_carry(und_texture *t, const texture_flow *from, const texture_flow *to)
{
    texture_points *p = &t->points;
    double dt = to->time - from->time, d = fmin(from->mac.d[0], to->mac.d[0]);
    double cells = fmax(from->fastest, to->fastest) * fabs(dt) / d;
    int substeps = cells > 1 ? (int)ceil(fmin(cells, MOST_SUBSTEPS)) : 1;
    int blocks = (p->count + BLOCK - 1) / BLOCK;
    t->told.substeps = substeps;
    PARALLEL_FOR(und_workers(t->threads, (size_t)p->count, ENOUGH))
    for (int k = 0; k < blocks; k++)
        for (int begin = k * BLOCK; begin < (k + 1) * BLOCK && begin < p->count; begin += UND_LANES) {
            bundle b = {0};
            load(p, begin, b.place);
            for (int s = 0; s < substeps; s++)
                step_bundle(from, to, &b, (double)s / substeps, 1.0 / substeps, dt / substeps);
            store(p, begin, b.place);
        }
}

/* Distance to what the liquid's mesh is: its surface, within the box and outside of solids; cells. */
static und_lanes mesh_distance(const texture_flow *f, const und_lanes cells[3])
{
    und_lanes d, solid;
    und_sample_cells(&f->mac, f->phi, cells, &d, NULL);
    if (f->solid) {
        und_sample_cells(&f->mac, f->solid, cells, &solid, NULL);
        d = und_lanes_max(d, -solid);
    }
    for (int a = 0; a < 3; a++)
        d = und_lanes_max(d, und_lanes_max(-cells[a], cells[a] - (float)f->mac.n[a]));
    return d;
}

static void slope_at(const texture_flow *f, const und_lanes cells[3], und_lanes slope[3])
{
    for (int a = 0; a < 3; a++) {
        und_lanes low[3] = {cells[0], cells[1], cells[2]}, high[3] = {cells[0], cells[1], cells[2]};
        low[a] -= 0.5f;
        high[a] += 0.5f;
        slope[a] = mesh_distance(f, high) - mesh_distance(f, low);
    }
}

/* Newton's method along the gradient, so that nothing moves along the surface. */
static void pull_bundle(const texture_flow *f, double place[3][UND_LANES], und_lanes *left)
{
    und_lanes cells[3], slope[3];
    cells_of(f, place, cells);
    und_lanes d = mesh_distance(f, cells);
    und_lanes_int near = (d < TEXTURE_NEAR) & (d > -TEXTURE_NEAR);
    for (int k = 0; k < PULLS && und_lanes_bits(near); k++) {
        slope_at(f, cells, slope);
        und_lanes square = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
        und_lanes step =
            und_lanes_select(near, d / und_lanes_max(square, und_lanes_all(0.25f)), und_lanes_all(0));
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < UND_LANES; i++)
                place[a][i] -= (double)(step[i] * slope[a][i]) * f->mac.d[a];
        cells_of(f, place, cells);
        d = mesh_distance(f, cells);
    }
    *left = und_lanes_max(d, -d);
}

void und_texture_pull(und_texture *t, const texture_flow *at, uint8_t *lost)
{
    texture_points *p = &t->points;
    int blocks = (p->count + BLOCK - 1) / BLOCK;
    PARALLEL_FOR(und_workers(t->threads, (size_t)p->count, ENOUGH))
    for (int k = 0; k < blocks; k++)
        for (int begin = k * BLOCK; begin < (k + 1) * BLOCK && begin < p->count; begin += UND_LANES) {
            double place[3][UND_LANES];
            und_lanes left;
            load(p, begin, place);
            pull_bundle(at, place, &left);
            store(p, begin, place);
            for (int i = 0; i < UND_LANES && begin + i < p->count; i++)
                lost[begin + i] = !(left[i] < TEXTURE_KEPT);
        }
}
