/* Liquid in the air that gets thinner than a cell, and what crests throw off (levelset_crest.c), breaks up
 * into drops, of a size that the flow makes, not the grid.
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
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

enum { STREAM_BREAK = 301, STREAM_CREST, STREAM_DROP };
enum { ORDER = 4 };                  /* of the gamma distribution */
enum { EXACT = UND_VOLUME_ONE / 8 }; /* a float's radius tells so many parts from one more */
enum { ROUNDED = 256 };              /* parts: more than a drop of some cells is off by for its radius */
static const double FINEST = 0.25;   /* cells: mean diameter, at least, so that drops are not too many */
static const double STIRRED = 0.17;  /* Smagorinsky's constant */
static const double THINNEST = 0.5;  /* cells: what is thicker holds together */
static const double APART = 0.5;     /* of the speed by which the cell's flow differs: drops' own */
static const double PI = 3.14159265358979323846;

double und_levelset_pull(const und_levelset *s)
{
    const double *g = s->def.gravity;
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/* s: in which what is a cell thick falls as far.  Thin liquid breaks up in about this time, and for as long
 * drops fly through what they came from. */
double und_levelset_breakup_time(const und_levelset *s)
{
    const double pull = und_levelset_pull(s);
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
            const float *u = s->flow.u[a] + at;
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
static double drop_diameter(double strain, double dx, double density, double pull)
{
    const double sigma = UND_LEVELSET_TENSION / density, way = STIRRED * dx;
    const double eps = way * way * strain * strain * strain;
    const double most = sqrt(sigma / fmax(pull, 1e-3));
    const double turbulent = eps > 0 ? 0.725 * und_pow(sigma, 0.6) * und_pow(eps, -0.4) : INFINITY;
    return fmax(fmin(turbulent, most), FINEST * dx);
}

/* One that is to set out. */
typedef struct drop {
    double place[3], speed[3]; /* m, m/s */
    double units, mean;        /* parts of UND_VOLUME_ONE, and on average */
    double parts;              /* of which a float's radius has as many */
    float radius;
    int count; /* of the first of a cell: how many are known */
} drop;
enum { PREPARED = 48, MOST_PREPARED = 1 << 24, NONE = -1 }; /* of a cell, of all */

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

/* Parts of UND_VOLUME_ONE of drop k, by the law, and of all drops on average. */
static double draw(const dice *d, int k, double diameter, double *mean)
{
    double product = 1;
    for (int i = 0; i < ORDER; i++)
        product *= 1 - roll(d, k, i);
    const double wide = -und_log(product) / ORDER;
    *mean = PI / 6 * diameter * diameter * diameter * UND_VOLUME_ONE;
    return fmax(floor(*mean * wide * wide * wide), 1);
}

/* Whether it is the last of a cell that has so many left: what would be less than a tenth of a drop goes
 * along. */
static bool is_last(const drop *o, int32_t left)
{
    return !(left - o->units >= 0.1 * o->mean);
}

/* The same of such a cell; the last drop takes what it lacks from beside.  So drops of thin cells are not
 * small because of those. */
static double units_of(const drop *o, int32_t left, int32_t beside)
{
    const double units = o->units;
    if (!is_last(o, left))
        return units;
    if (beside >= ROUNDED)
        return fmin(fmax(units, left + ROUNDED), (double)left + beside);
    return left > EXACT ? floor(left / 2) : left;
}

/* Drop k sets out at a place (cells of the whole grid) in the cell or before it, with the speed the flow has
 * there and some of its own. */
static void find_way(const und_levelset *s, const int cell[3], const dice *d, int k, double strain,
                     const double from[3], double place[3], double speed[3])
{
    const und_mac *m = &s->mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    und_lanes at[3], flow[3];
    for (int a = 0; a < 3; a++) {
        at[a] = und_lanes_all((float)from[a]);
        place[a] = s->def.origin[a] + from[a] * s->def.dx;
        speed[a] = 0;
    }
    if (s->solids.any && s->solids.distance[und_mac_at(m, cell[0], cell[1], cell[2])] < 2 &&
        !und_solids_sees(&s->solids, cell, und_vec(place[0], place[1], place[2])))
        for (int a = 0; a < 3; a++)
            place[a] = und_mac_middle(m, a, cell[a]);
    und_sample_velocity(m, s->flow.u, at, flow);
    for (int a = 0; a < axes; a++)
        speed[a] = (double)flow[a][0] + APART * strain * s->def.dx * (2 * roll(d, k, ORDER + 3 + a) - 1);
}

/* Cells: how large drops of a cell are on average. */
static double diameter_at(const und_levelset *s, double strain)
{
    return drop_diameter(strain, s->def.dx, s->def.density, und_levelset_pull(s)) / s->def.dx;
}

/* Of a cell that breaks up, anywhere in it: drop k. */
static drop drop_of(const und_levelset *s, const int cell[3], const dice *d, int k, double strain,
                    double diameter)
{
    drop o = {.units = draw(d, k, diameter, &o.mean)};
    double from[3];
    for (int a = 0; a < 3; a++)
        from[a] = s->mac.low[a] + cell[a] + (s->mac.n[a] > 1 ? roll(d, k, ORDER + a) : 0.5);
    find_way(s, cell, d, k, strain, from, o.place, o.speed);
    o.radius = und_levelset_volume_radius(s, o.units, &o.parts);
    return o;
}

/* The first of them in drops[]. */
static int keep(const und_levelset_breaking *b, const drop *some, int count)
{
    const int first = __atomic_fetch_add(b->used, count, __ATOMIC_RELAXED);
    if (first + count > b->most)
        return NONE;
    memcpy((drop *)b->drops + first, some, (size_t)count * sizeof *some);
    return first;
}

/* Its first drops, as they are if none before it takes anything from it. */
static void prepare(const und_levelset_breaking *b, const int cell[3], size_t at)
{
    const und_levelset *s = b->s;
    const dice d = dice_of(s, cell);
    const double strain = strain_at(s, at), diameter = diameter_at(s, strain);
    drop some[PREPARED];
    int count = 0;
    for (int32_t left = und_levelset_volumes(s)->c[at]; left > 0 && count < PREPARED; count++) {
        some[count] = drop_of(s, cell, &d, count, strain, diameter);
        left -= (int32_t)fmin(some[count].parts, left);
    }
    some[0].count = count;
    b->first[at] = keep(b, some, count);
}

/* All that finds room in the air, and what the last drop takes along from beside. */
int32_t und_levelset_break_up(void *context, const int cell[3], size_t at, int32_t beside)
{
    const und_levelset_breaking *b = context;
    und_levelset *s = b->s;
    const drop *known = b->first[at] != NONE ? (const drop *)b->drops + b->first[at] : NULL;
    const int count = known ? known->count : 0;
    const dice d = dice_of(s, cell);
    const int32_t all = und_levelset_volume_cells(s)[at];
    int32_t left = all;
    for (int k = 0; left > 0; k++) {
        const double strain = k < count ? 0 : strain_at(s, at);
        const drop o = k < count ? known[k] : drop_of(s, cell, &d, k, strain, diameter_at(s, strain));
        const double units = units_of(&o, left, beside);
        double parts = o.parts;
        const float radius = units == o.units ? o.radius : und_levelset_volume_radius(s, units, &parts);
        const int32_t gone = und_levelset_volume_throw_drop(s, o.place, o.speed, radius, parts);
        if (gone == 0)
            break;
        left -= gone;
    }
    return all - left;
}

/* Drop k of a crest. */
static drop crest_drop(const und_levelset *s, const int cell[3], const und_levelset_crest *c, const dice *d,
                       int k)
{
    const double strain = strain_at(s, und_mac_at(&s->mac, cell[0], cell[1], cell[2]));
    drop o = {.units = draw(d, k, diameter_at(s, strain), &o.mean)};
    double from[3];
    for (int a = 0; a < 3; a++) /* before the surface, so that it does not fall in at once */
        from[a] = (double)c->place[a] + 0.5 * (double)c->normal[a] +
                  (s->mac.n[a] > 1 ? 0.5 * (roll(d, k, ORDER + a) - 0.5) : 0);
    find_way(s, cell, d, k, strain, from, o.place, o.speed);
    o.radius = und_levelset_volume_radius(s, o.units, &o.parts);
    return o;
}

/* Whole drops: whether drop k is thrown, the last of them with a chance, so that on average it is what is
 * due. */
static bool is_thrown(const dice *d, int k, double units, double left)
{
    return !(units > left) || und_random(d->seed, STREAM_CREST, d->cell + (uint64_t)k) < left / units;
}

/* What it throws if there is as much. */
void und_levelset_ready_crest(const und_levelset_breaking *b, const int cell[3], und_levelset_crest *c)
{
    const dice d = dice_of(b->s, cell);
    drop some[PREPARED];
    double left = c->due;
    int count = 0;
    for (bool thrown = true; thrown && left > 0 && count < PREPARED; count++) {
        some[count] = crest_drop(b->s, cell, c, &d, count);
        thrown = is_thrown(&d, count, some[count].units, left);
        left -= some[count].units;
    }
    const int first = keep(b, some, count);
    c->ready = first == NONE ? 0 : count;
    c->drop = (const drop *)b->drops + (first == NONE ? 0 : first);
}

int32_t und_levelset_throw_off(und_levelset *s, const int cell[3], const und_levelset_crest *c, int32_t most)
{
    const dice d = dice_of(s, cell);
    double left = fmin(c->due, most);
    int32_t thrown = 0;
    for (int k = 0; left > 0; k++) {
        const drop o = k < c->ready ? ((const drop *)c->drop)[k] : crest_drop(s, cell, c, &d, k);
        if (thrown + o.units > most || !is_thrown(&d, k, o.units, left))
            break;
        thrown += und_levelset_volume_throw_drop(s, o.place, o.speed, o.radius, o.parts);
        left -= o.units;
    }
    return thrown;
}

/* The thinner it is the sooner; what phi shows nothing of, at once. */
static bool breaks_up(const und_levelset *s, const int cell[3], float thickness)
{
    const double rate = fmax(1 - (double)thickness / THINNEST, 0) / und_levelset_breakup_time(s);
    if (!(thickness > 0))
        return true;
    if (!s->def.spray || !(rate > 0))
        return false;
    const dice d = dice_of(s, cell);
    return und_random(d.seed, STREAM_BREAK, d.cell) < -und_expm1(-rate * s->dt);
}

bool und_levelset_breaks_up(const void *context, const int cell[3], float thickness)
{
    const und_levelset_breaking *b = context;
    if (!breaks_up(b->s, cell, thickness))
        return false;
    prepare(b, cell, und_mac_at(&b->s->mac, cell[0], cell[1], cell[2]));
    return true;
}

/* In what und_volume_borrow has lent and und_volume_thin does not use; not where that is to stay 0 in rows
 * that are not there. */
und_levelset_breaking und_levelset_breaking_of(und_levelset *s, int *used)
{
    const und_volume_parts *p = und_levelset_volumes(s)->parts;
    const size_t room = (size_t)((const char *)p->fraction - (const char *)p->extra) / sizeof(drop);
    *used = 0;
    return (und_levelset_breaking){.s = s,
                                   .first = p->spare,
                                   .drops = p->extra,
                                   .most = s->present             ? 0
                                           : room < MOST_PREPARED ? (int)room
                                                                  : MOST_PREPARED,
                                   .used = used};
}
