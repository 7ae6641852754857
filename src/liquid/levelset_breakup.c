/* Liquid in the air that gets thinner than a cell breaks up into drops, of a size that the flow makes, not
 * the grid.
 *
 * How large they are on average is Hinze's largest drop that a turbulent flow leaves whole (1955,
 * "Fundamentals of the hydrodynamic mechanism of splitting in dispersion processes"), but no larger than
 * surface tension holds together in the fall; how they differ, Villermaux's gamma distribution of what
 * threads leave (2007, "Fragmentation").  Each has a whole number of parts of UND_VOLUME_ONE. */
#include "base/maths.h"
#include "base/random.h"
#include "flow/solids_parts.h"
#include "grid/sample.h"
#include "liquid/levelset_state.h"
#include "surface/volume.h"
#include "surface/volume_kernel.h"

#include <math.h>

enum { STREAM_BREAK = 301, STREAM_DROP };
enum { ORDER = 4 };                  /* of the gamma distribution */
enum { EXACT = UND_VOLUME_ONE / 8 }; /* a float's radius tells so many parts from one more */
static const double TENSION = 0.072; /* N/m: of water */
static const double FINEST = 0.25;   /* cells: mean diameter, at least, so that drops are not too many */
static const double STIRRED = 0.17;  /* Smagorinsky's constant */
static const double APART = 0.5;     /* of the speed by which the cell's flow differs: drops' own */
static const double PI = 3.14159265358979323846;

static double pull_of(const und_levelset *s)
{
    const double *g = s->def.gravity;
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/* s: in which what is a cell thick falls as far.  Thin liquid breaks up in about this time, and for as long
 * drops fly through what they came from. */
double und_levelset_breakup_time(const und_levelset *s)
{
    const double pull = pull_of(s);
    return pull > 0 ? sqrt(s->def.dx / pull) : INFINITY;
}

/* 1/s: how fast the velocity changes with place, sqrt(2 S S). */
static double strain_at(const und_levelset *s, size_t at)
{
    const und_mac *m = &s->mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    double slope[3][3] = {{0}}, sum = 0;
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < axes; b++) {
            const float *u = s->stream.u[a] + at;
            const ptrdiff_t low = m->step[a], by = m->step[b];
            slope[a][b] =
                a == b ? (double)u[0] - (double)u[-low]
                       : 0.25 * ((double)u[by] + (double)u[by - low] - (double)u[-by] - (double)u[-by - low]);
        }
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < axes; b++)
            sum += 0.5 * (slope[a][b] + slope[b][a]) * (slope[a][b] + slope[b][a]);
    return sqrt(sum) / s->def.dx;
}

/* m: Hinze's 0.725 (sigma / rho)^(3/5) eps^(-2/5), at most the capillary length.  What the cells' flow
 * loses to smaller eddies is eps = (0.17 dx)^2 |S|^3 (Smagorinsky). */
double und_levelset_drop_diameter(double strain, double dx, double density, double pull)
{
    const double sigma = TENSION / density, way = STIRRED * dx;
    const double eps = way * way * strain * strain * strain;
    const double most = sqrt(sigma / fmax(pull, 1e-3));
    const double turbulent = eps > 0 ? 0.725 * und_pow(sigma, 0.6) * und_pow(eps, -0.4) : INFINITY;
    return fmax(fmin(turbulent, most), FINEST * dx);
}

/* Of drop k of a cell in this substep: the i-th of its random numbers, 0 to 1. */
typedef struct dice {
    uint64_t seed, cell;
} dice;

static dice dice_of(const und_levelset *s, const int cell[3])
{
    const und_mac *m = &s->mac;
    const uint64_t whole[3] = {(uint64_t)m->whole[0], (uint64_t)m->whole[1], (uint64_t)m->whole[2]};
    const uint64_t at =
        (uint64_t)(cell[0] + m->low[0]) +
        whole[0] * ((uint64_t)(cell[1] + m->low[1]) + whole[1] * (uint64_t)(cell[2] + m->low[2]));
    return (dice){s->def.seed, und_random_mix((uint64_t)s->substeps) ^ at};
}

static double roll(const dice *d, int k, int i)
{
    return und_random(d->seed, STREAM_DROP + (uint64_t)i, und_random_mix(d->cell) + (uint64_t)k);
}

/* Parts of UND_VOLUME_ONE of drop k, of `left`; what would be left of a tenth of a drop goes along. */
static double draw(const dice *d, int k, double diameter, int32_t left)
{
    double product = 1;
    for (int i = 0; i < ORDER; i++)
        product *= 1 - roll(d, k, i);
    const double mean = PI / 6 * diameter * diameter * diameter * UND_VOLUME_ONE;
    const double wide = -und_log(product) / ORDER, units = floor(mean * wide * wide * wide);
    if (left - units >= 0.1 * mean)
        return fmax(units, 1);
    return left > EXACT ? floor(left / 2) : left;
}

/* Sets out drop k somewhere in the cell, with the speed the flow has there and some of its own. */
static int32_t set_out(und_levelset *s, const int cell[3], const dice *d, int k, double strain, double units)
{
    const und_mac *m = &s->mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    double place[3], speed[3] = {0};
    und_lanes at[3], flow[3];
    for (int a = 0; a < 3; a++) {
        const double within = a < axes ? roll(d, k, ORDER + a) : 0.5;
        at[a] = und_lanes_all((float)(m->low[a] + cell[a] + within));
        place[a] = s->def.origin[a] + (m->low[a] + cell[a] + within) * s->def.dx;
    }
    if (s->solids.any && s->solids.distance[und_mac_at(m, cell[0], cell[1], cell[2])] < 1 &&
        !und_solids_sees(&s->solids, cell, und_vec(place[0], place[1], place[2])))
        for (int a = 0; a < 3; a++)
            place[a] = und_mac_middle(m, a, cell[a]);
    und_sample_velocity(m, s->stream.u, at, flow);
    for (int a = 0; a < axes; a++)
        speed[a] = (double)flow[a][0] + APART * strain * s->def.dx * (2 * roll(d, k, ORDER + 3 + a) - 1);
    return und_levelset_volume_throw(s, place, speed, units);
}

/* Of a cell that breaks up; all that finds room in the air. */
static int32_t scatter(und_levelset *s, const int cell[3], size_t at)
{
    const dice d = dice_of(s, cell);
    const double strain = strain_at(s, at);
    const double diameter =
        und_levelset_drop_diameter(strain, s->def.dx, s->def.density, pull_of(s)) / s->def.dx;
    const int32_t all = und_levelset_volume_cells(s)[at];
    int32_t left = all;
    for (int k = 0; left > 0; k++) {
        const int32_t units = set_out(s, cell, &d, k, strain, draw(&d, k, diameter, left));
        if (units == 0)
            break;
        left -= units;
    }
    return all - left;
}

/* The thinner it is the sooner; what phi shows nothing of, at once. */
int32_t und_levelset_break_up(void *context, const int cell[3], size_t at, float thickness)
{
    und_levelset *s = context;
    const dice d = dice_of(s, cell);
    if (thickness > 0) {
        const double rate = (1 - (double)thickness) / und_levelset_breakup_time(s);
        if (!s->def.spray || !(und_random(d.seed, STREAM_BREAK, d.cell) < -und_expm1(-rate * s->dt)))
            return 0;
    }
    return scatter(s, cell, at);
}
