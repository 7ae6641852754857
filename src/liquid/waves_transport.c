/* The water's velocity, recovered from the volume that flows between columns, and what it carries.
 *
 * Equation 13 says by how much h changes: by the difference of flows through a column's faces that grow by
 * -g d dh/dx dt a step (eq. 7 times the depth).  Adding those up gives flows whose difference is the change
 * of volume. */
#include "base/maths.h"
#include "base/parallel.h"
#include "liquid/waves_kernel.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <string.h>

/* What a step does to flows: the part kept, and what a metre of head does to a metre of depth. */
typedef struct pull {
    float kept, push;
} pull;

static pull pull_of(const und_waves *s)
{
    return (pull){(float)und_waves_kept(s),
                  (float)(s->def.height_field.gravity * s->dt / s->height_field.grid.dx)};
}

/* One face's flow, m2/s, after a step. */
static inline float flow_after(pull p, float flow, float depth_a, float depth_b, float face, float slope)
{
    return face > 0 ? p.kept * und_waves_open(flow, depth_a, depth_b, face) - p.push * face * slope : 0;
}

/* The head that drives the flow is the new one for the first order, half old and half new for the second, or
 * as late as und_waves_late says. */
void und_waves_flux_x(und_waves *s)
{
    if (!s->flux_x)
        return;
    bool second = s->def.order == 2;
    pull p = pull_of(s);
    PARALLEL_FOR(s->height_field.threads)
    for (int z = 0; z < s->height_field.nz; z++)
        for (int x = 0; x + 1 < s->height_field.nx; x++) {
            size_t a = und_waves_at(s, x, z), b = a + 1;
            float da = (float)und_waves_depth(s, a), db = (float)und_waves_depth(s, b);
            float step = (float)(s->height[b] - s->height[a]), face = und_waves_face(da, db, step);
            float new = second ? und_waves_late(da, db, step) : 1;
            float slope = step + new *(s->middle[b] - s->middle[a]) +
                          (s->height_field.head ? s->height_field.head[b] - s->height_field.head[a] : 0);
            s->flux_x[a] = flow_after(p, s->flux_x[a], da, db, face, slope);
        }
}

/* The heights are new here and `rise` holds their change; the faces' depths belong to the old ones. */
void und_waves_flux_z(und_waves *s)
{
    if (!s->flux_z)
        return;
    bool second = s->def.order == 2;
    pull p = pull_of(s);
    PARALLEL_FOR(s->height_field.threads)
    for (int z = 0; z < s->height_field.nz - 1; z++)
        for (int x = 0; x < s->height_field.nx; x++) {
            size_t a = und_waves_at(s, x, z), b = a + (size_t)s->height_field.stride;
            double ha = s->height[a] - (double)s->rise[a], hb = s->height[b] - (double)s->rise[b];
            float da = (float)(ha - (double)s->ground[a]), db = (float)(hb - (double)s->ground[b]);
            float step = (float)(hb - ha), face = und_waves_face(da, db, step);
            float old = second ? 1 - und_waves_late(da, db, step) : 0;
            float half_a = old * (s->rise[a] - s->middle[a]), half_b = old * (s->rise[b] - s->middle[b]);
            float slope = (float)(s->height[b] - s->height[a]) - (half_b - half_a) +
                          (s->height_field.head ? s->height_field.head[b] - s->height_field.head[a] : 0);
            s->flux_z[a] = flow_after(p, s->flux_z[a], da, db, face, slope);
        }
}

/* Flow over depth at a cell's centre; a thin film cannot outrun twice the wave speed. */
static void find_speeds(und_waves *s, int z)
{
    for (int x = 0; x < s->height_field.nx; x++) {
        size_t at = und_waves_at(s, x, z);
        double depth = und_waves_depth(s, at), u = 0, w = 0;
        if (depth > 0) {
            double limit = 2 * sqrt(s->def.height_field.gravity * depth);
            u = 0.5 * ((double)s->flux_x[at] + (x > 0 ? (double)s->flux_x[at - 1] : 0)) / depth;
            w = 0.5 *
                ((double)s->flux_z[at] +
                 (z > 0 ? (double)s->flux_z[at - (size_t)s->height_field.stride] : 0)) /
                depth;
            double speed = sqrt(u * u + w * w), scale = speed > limit ? limit / speed : 1;
            u *= scale;
            w *= scale;
        }
        s->speed_x[at] = (float)u;
        s->speed_z[at] = (float)w;
    }
}

/* Where to read a field at a point given in cells: the low corner and the weights. */
typedef struct spot {
    size_t corner;
    size_t right, down; /* offsets of the neighbours */
    float fx, fz;
} spot;

static spot spot_at(const und_waves *s, float x, float z)
{
    x = fminf(fmaxf(x, 0), (float)(s->height_field.nx - 1));
    z = fminf(fmaxf(z, 0), (float)(s->height_field.nz - 1));
    int ix = (int)x, iz = (int)z;
    return (spot){.corner = und_waves_at(s, ix, iz),
                  .right = ix + 1 < s->height_field.nx,
                  .down = iz + 1 < s->height_field.nz ? (size_t)s->height_field.stride : 0,
                  .fx = x - (float)ix,
                  .fz = z - (float)iz};
}

static float read_spot(const float *field, const spot *p)
{
    const float *c = field + p->corner;
    float low = c[0] + p->fx * (c[p->right] - c[0]);
    float high = c[p->down] + p->fx * (c[p->down + p->right] - c[p->down]);
    return low + p->fz * (high - low);
}

/* Carries a field with the water: each wet cell takes the value from where its water was (midpoint rule). */
static void carry(und_waves *s, float *field)
{
    float cells = (float)(s->dt / s->height_field.grid.dx);
    PARALLEL_FOR(s->height_field.threads)
    for (int z = 0; z < s->height_field.nz; z++)
        for (int x = 0; x < s->height_field.nx; x++) {
            size_t at = und_waves_at(s, x, z);
            spot half = spot_at(s, (float)x - 0.5f * cells * s->speed_x[at],
                                (float)z - 0.5f * cells * s->speed_z[at]);
            float u = read_spot(s->speed_x, &half), w = read_spot(s->speed_z, &half);
            spot from = spot_at(s, (float)x - cells * u, (float)z - cells * w);
            s->carried[at] = und_waves_depth(s, at) > 0 ? read_spot(field, &from) : field[at];
        }
    memcpy(field + s->height_field.mac.first, s->carried + s->height_field.mac.first,
           sizeof *field * (size_t)s->height_field.stride * (size_t)s->height_field.nz);
}

/* Foam is made where the water is faster than the threshold or runs together, and fades. */
static void make_foam(und_waves *s, int z)
{
    const und_foam_def *def = &s->def.foam;
    float fade = (float)und_exp(-s->dt / def->life), rate = (float)(def->rate * s->dt),
          threshold = (float)def->threshold;
    for (int x = 0; x < s->height_field.nx; x++) {
        size_t at = und_waves_at(s, x, z);
        float speed = und_hypotf(s->speed_x[at], s->speed_z[at]);
        float wave = (float)sqrt(s->def.height_field.gravity * fmax(und_waves_depth(s, at), 0));
        /* Fast against its own waves: about to break (a Froude number of one half and up). */
        float breaking = fminf(fmaxf(2 * speed - wave, 0) / (wave + 1e-3f), 1);
        /* A film cannot hold foam. */
        float body = (float)fmin(und_waves_depth(s, at) / (0.2 * s->height_field.grid.dx), 1);
        float excess = fmaxf(speed - threshold, 0) * breaking * body;
        float foam = s->foam[at] * fade + rate * excess;
        s->foam[at] = und_waves_depth(s, at) > 0 ? fminf(foam, 1) : foam * fade;
    }
}

void und_waves_transport(und_waves *s)
{
    if (!s->speed_x)
        return;
    PARALLEL_FOR(s->height_field.threads)
    for (int z = 0; z < s->height_field.nz; z++)
        find_speeds(s, z);
    float *const fields[] = {s->foam, s->dye, s->texture_u, s->texture_v};
    for (int i = 0; i < 4; i++)
        if (fields[i])
            carry(s, fields[i]);
    if (s->foam) {
        PARALLEL_FOR(s->height_field.threads)
        for (int z = 0; z < s->height_field.nz; z++)
            make_foam(s, z);
    }
}
