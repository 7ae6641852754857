/* Crests throw off drops (`surface = "volume"`).
 *
 * A crest is where the surface is convex, sharper than cells show: its curvature k (1/m, the sum of both) is
 * above EASY / dx.  It throws where it goes out of the liquid, along its normal and beside the body of the
 * water that it comes from, faster than waves as short as it is sharp, which gravity and surface tension
 * carry away (g / k + sigma k / rho is the square of their speed), than friction lets it, and than it fell:
 *
 *     v^2 = w^2 - g / k - sigma k / rho - 2 nu k w - 2 g.x
 *
 * x from the body to the crest.  What leaves is a sheet as thick as the largest drops, l = sqrt(sigma /
 * (rho g)), at that speed: l (k - EASY / dx) v of an area and time.  The integral of k over a crest is the
 * angle by which it turns times its length, on any grid, and so goes what it throws. */
#include "base/maths.h"
#include "grid/sample.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>

static const float BAND = 0.75f;    /* cells from the surface: where a crest is looked for */
static const float EASY = 0.5f;     /* 1/cells: curvature that cells show well */
static const float SHARPEST = 1.5f; /* 1/cells: more is noise */
static const float STEEP = 0.4f;    /* of phi's gradient: less is the middle of a thin sheet */
static const float FARTHEST = 12;   /* cells: how far the body may be */

/* Cells inside the liquid, below the crest: where what is thrown is taken from. */
static const float BELOW = 0.5f;

typedef struct crest {
    float place[3]; /* cells of the whole grid, on the surface */
    float normal[3];
    float sharp; /* 1/cells */
} crest;

double und_levelset_crest_speed(double outwards, double sharp, double fallen, double pull, double tension,
                                double viscosity)
{
    const double held = pull / sharp + tension * sharp + 2 * viscosity * sharp * outwards;
    const double free = outwards * outwards - held - fmax(fallen, 0);
    return outwards > 0 && free > 0 ? sqrt(free) : 0;
}

/* The curvature: div (grad phi / |grad phi|), by central differences; 0 where there is no gradient. */
UND_INLINE und_lanes curvatures(const und_levelset *s, size_t at, und_lanes g[3], und_lanes *length)
{
    const ptrdiff_t *step = s->mac.step;
    const float *phi = s->surface.phi + at;
    const und_lanes own = und_lanes_load(phi);
    const int axes = s->mac.n[2] > 1 ? 3 : 2;
    und_lanes square = {0}, trace = {0}, along = {0};
    g[2] = (und_lanes){0};
    for (int a = 0; a < axes; a++) {
        g[a] = 0.5f * (und_lanes_load(phi + step[a]) - und_lanes_load(phi - step[a]));
        square += g[a] * g[a];
    }
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < axes; b++) {
            const ptrdiff_t i = step[a], j = step[b];
            const und_lanes there = und_lanes_load(phi + i + (a == b ? 0 : j)),
                            back = und_lanes_load(phi - i - (a == b ? 0 : j));
            const und_lanes second =
                a == b ? there - 2 * own + back
                       : 0.25f * (there - und_lanes_load(phi + i - j) - und_lanes_load(phi + j - i) + back);
            trace = a == b ? trace + second : trace;
            along += g[a] * g[b] * second;
        }
    *length = und_lanes_sqrt(square);
    const und_lanes here = (trace - along / square) / *length;
    /* outside the liquid it is less than on the surface */
    const und_lanes sharp =
        und_lanes_min(here / und_lanes_max(1 - here * own, und_lanes_all(0.25f)), und_lanes_all(SHARPEST));
    return und_lanes_select(square > STEEP * STEEP, sharp, (und_lanes){0});
}

static bool find_crest(const und_levelset *s, const int cell[3], size_t at, crest *c)
{
    und_lanes g[3], length;
    c->sharp = curvatures(s, at, g, &length)[0];
    for (int a = 0; a < 3; a++) {
        c->normal[a] = g[a][0] / length[0];
        c->place[a] = (float)(s->mac.low[a] + cell[a]) + 0.5f - s->surface.phi[at] / length[0] * c->normal[a];
    }
    return c->sharp > EASY;
}

static void velocity_at(const und_levelset *s, const float place[3], double velocity[3])
{
    und_lanes at[3], found[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_lanes_all(place[a]);
    und_sample_velocity(&s->mac, s->flow.u, at, found);
    for (int a = 0; a < 3; a++)
        velocity[a] = (double)found[a][0];
}

/* Goes down into the liquid, to where it is deepest, at most so many cells: in thin sheets along them. */
static void find_body(const und_levelset *s, const crest *c, float far, float body[3])
{
    float way[3] = {-c->normal[0], -c->normal[1], -c->normal[2]}, depth = 0;
    for (int a = 0; a < 3; a++)
        body[a] = c->place[a];
    for (float gone = 0; gone < far;) {
        const float step = fminf(far - gone, 1);
        float next[3], slope[3];
        for (int a = 0; a < 3; a++)
            next[a] = body[a] + step * way[a];
        const float phi = und_sample_slope(&s->mac, s->surface.phi, next, 0.5f, slope);
        const float length = sqrtf(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
        if (phi > depth + 0.1f)
            return;
        for (int a = 0; a < 3; a++) {
            body[a] = next[a];
            way[a] = length > STEEP ? -slope[a] / length : way[a];
        }
        depth = phi;
        gone += step;
    }
}

/* m2/s: the largest around, for only liquid has any. */
static double viscosity_at(const und_levelset *s, size_t at)
{
    const float *nu = und_levelset_viscosities(s);
    float most = nu ? 0 : (float)s->def.viscosity;
    for (int k = 0; nu && k < UND_VOLUME_AROUND; k++)
        most = fmaxf(most, nu[(ptrdiff_t)at + und_volume_step(&s->mac, k)]);
    return (double)most;
}

/* m/s at which it throws.  The body is as far below as the flow's own speed lifts it. */
static double speed_of(const und_levelset *s, size_t at, const crest *c)
{
    const double pull = und_levelset_pull(s), dx = s->def.dx, sharp = (double)c->sharp / dx;
    double here[3], there[3], out = 0, outwards = 0, fallen = 0;
    float body[3];
    velocity_at(s, c->place, here);
    for (int a = 0; a < 3; a++)
        out += here[a] * (double)c->normal[a];
    const double far = pull > 0 ? out * out / (2 * pull * dx) : INFINITY;
    find_body(s, c, (float)fmin(far, (double)FARTHEST), body);
    velocity_at(s, body, there);
    for (int a = 0; a < 3; a++) {
        outwards += (here[a] - there[a]) * (double)c->normal[a];
        fallen += 2 * s->def.gravity[a] * (double)(c->place[a] - body[a]) * dx;
    }
    return und_levelset_crest_speed(outwards, sharp, fallen, pull, UND_LEVELSET_TENSION / s->def.density,
                                    viscosity_at(s, at));
}

/* What leaves in the step near a cell, of UND_VOLUME_ONE. */
static double thrown(const und_levelset *s, const int cell[3], size_t at, crest *c)
{
    const float phi = s->surface.phi[at];
    if (!find_crest(s, cell, at, c))
        return 0;
    const double dx = s->def.dx, sharp = (double)(c->sharp - EASY) / dx;
    const double thick =
        fmin(sqrt(UND_LEVELSET_TENSION / s->def.density / fmax(und_levelset_pull(s), 1e-3)), 1 / sharp);
    const double area = fmax(0, (double)(BAND - fabsf(phi)) / (double)(BAND * BAND)); /* of a cell's side */
    return thick * sharp * speed_of(s, at, c) * area * s->dt / dx * UND_VOLUME_ONE;
}

/* Of UND_LANES cells those that may throw. */
static unsigned look_sharp(const void *context, size_t at)
{
    const und_levelset *s = context;
    const und_lanes phi = und_lanes_load(s->surface.phi + at);
    const unsigned near = und_lanes_bits((phi < und_lanes_all(BAND)) & (phi > und_lanes_all(-BAND)));
    und_lanes g[3], length;
    return near ? near & und_lanes_bits(curvatures(s, at, g, &length) > EASY) : 0;
}

static bool throws(const void *context, size_t at)
{
    const und_levelset *s = context;
    crest c;
    int cell[3];
    if (s->solids.any && (s->solids.distance[at] < 0 || s->solids.beside_thin[at]))
        return false; /* phi goes on into solids, and may be another side's at thin ones */
    und_volume_cell(&s->mac, at, cell);
    return thrown(s, cell, at, &c) > 0;
}

/* The cell below a crest; false where it is a source's, not this grid's, or maybe behind a wall. */
static bool find_giver(const und_levelset *s, const crest *c, size_t *at)
{
    const und_mac *m = &s->mac;
    const und_mask *held = s->elements ? und_elements_held(s->elements) : NULL;
    int cell[3];
    for (int a = 0; a < 3; a++) {
        cell[a] = (int)floorf(c->place[a] - BELOW * c->normal[a]) - m->low[a];
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    }
    *at = und_mac_at(m, cell[0], cell[1], cell[2]);
    return und_levelset_volumes(s)->parts->own[*at] && !(s->solids.any && s->solids.beside_thin[*at]) &&
           !(held && und_mask_has(held, cell[0], cell[1], cell[2]));
}

static void throw_off(und_levelset *s, size_t at)
{
    int32_t *held = und_levelset_volume_cells(s);
    int cell[3];
    size_t from;
    crest c;
    und_volume_cell(&s->mac, at, cell);
    const double due = thrown(s, cell, at, &c);
    if (!find_giver(s, &c, &from))
        return;
    const int32_t units = und_levelset_throw_off(s, cell, c.place, c.normal, due, held[from] / 2);
    held[from] -= units;
    und_levelset_volume_numbers(s)[UND_LEVELSET_THROWN] += units;
}

void und_levelset_crests(und_levelset *s)
{
    und_volume *v = und_levelset_volumes(s);
    if (!s->def.spray)
        return;
    und_volume_list(v, look_sharp, throws, s);
    for (int i = 0; i < v->parts->chunk_count; i++)
        UND_VOLUME_OF_CHUNK(v->parts->chunk + i, v->parts->chunk[i].bits, at)
    throw_off(s, at);
}
