#include "liquid/splash.h"

#include "base/random.h"

#include <math.h>

enum { STREAM_COUNT = 201, STREAM_X, STREAM_Z, STREAM_RADIUS, STREAM_LAST, STREAM_SCATTER };

static double between(const double corner[4], double u, double v)
{
    return (corner[0] * (1 - u) + corner[1] * u) * (1 - v) + (corner[2] * (1 - u) + corner[3] * u) * v;
}

static double depth_of(const und_spray_floor *floor)
{
    return floor->dz > 0 ? floor->dz : floor->dx;
}

static double area_of(const und_spray_floor *floor)
{
    return floor->dx * depth_of(floor);
}

/* A drop's random numbers depend on its column, its number there and the substep alone. */
static double chance(const und_splash *s, int stream, size_t at, int k)
{
    return und_random(s->seed, ((uint64_t)stream << 32) + (uint64_t)k,
                      ((uint64_t)s->substep << 30) + (uint64_t)at);
}

/* The middle of column x. */
static double middle(double origin, double size, double x)
{
    return origin + (x + 0.5) * size;
}

/* A column that throws drops. */
typedef struct thrower {
    const und_splash_patch *patch;
    int x, z;
    size_t at;
    double ground;
} thrower;

/* Throws drop k from the place (u, v) of the column, 0 to 1; what it takes along, m3. */
static double throw_drop(const und_splash *s, const thrower *t, double u, double v, float radius, int k)
{
    const und_spray_def *def = &s->spray->def;
    double volume = und_spray_volume(radius), area = area_of(&s->floor), speed[3];
    if (volume > 0.5 * (s->level[t->at] - t->ground) * area)
        return 0;
    double place[3] = {middle(s->floor.origin[0], s->floor.dx, t->x - 0.5 + u),
                       between(t->patch->height, u, v) + s->start * (double)radius,
                       middle(s->floor.origin[1], depth_of(&s->floor), t->z - 0.5 + v)};
    for (int i = 0; i < 3; i++)
        speed[i] = def->launch[i != 1] * between(t->patch->speed[i], u, v);
    double size = sqrt(speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]);
    for (int i = 0; i < 3 && !def->sheets; i++) /* in a sheet it gets that when it tears loose */
        speed[i] += def->scatter * size * (2 * chance(s, STREAM_SCATTER + i, t->at, k) - 1);
    if (!und_spray_add(s->spray, place, speed, radius))
        return 0;
    s->level[t->at] -= volume / area;
    und_ledger_add(&s->ledger->spray_out, &s->lost->spray_out, volume);
    return volume;
}

void und_splash_emit(const und_splash *s, const und_splash_patch *patch, int x, int z, double ground)
{
    const und_spray_def *def = &s->spray->def;
    thrower t = {patch, x, z, (size_t)z * (size_t)s->floor.stride + (size_t)x, ground};
    double area = area_of(&s->floor);
    double excess = between(patch->speed[1], 0.5, 0.5) - def->threshold;
    double left = def->share * excess * s->dt * area;
    if (!(left > 0))
        return;
    int count = (int)fmin(def->rate * area * s->dt + chance(s, STREAM_COUNT, t.at, 0), 1e6);
    for (int k = 0; k < count && left > 0; k++) {
        double u = chance(s, STREAM_X, t.at, k), v = chance(s, STREAM_Z, t.at, k);
        double few = chance(s, STREAM_RADIUS, t.at, k); /* large drops are fewer */
        float radius = (float)(def->radius[0] + (def->radius[1] - def->radius[0]) * few * few * few);
        double volume = und_spray_volume(radius);
        if (volume * chance(s, STREAM_LAST, t.at, k) > left)
            break; /* the last one is there by chance, so that the mean is right */
        if (between(patch->speed[1], u, v) > def->threshold)
            left -= throw_drop(s, &t, u, v, radius, k);
    }
}

/* A drop gives its water to the column it came down on, whatever is there; or it has left. */
static int land(const und_splash *s, int drop)
{
    const und_spray *spray = s->spray;
    int at = und_spray_cell(&s->floor, spray->place[0][drop], spray->place[2][drop]);
    double volume = und_spray_give_back(s->spray, drop);
    und_ledger_add(&s->ledger->spray_back, &s->lost->spray_back, volume);
    if (at >= 0)
        s->level[at] += volume / area_of(&s->floor);
    else
        und_ledger_add(&s->ledger->left, &s->lost->left, volume);
    return at;
}

void und_splash_fly(const und_splash *s, und_splash_landed_fn *landed, void *context)
{
    und_spray_step(s->spray, s->time, s->dt, &s->floor);
    for (int i = 0; i < s->spray->landed_count; i++) {
        int drop = s->spray->landed[i], column = land(s, drop);
        if (landed)
            landed(context, drop, column);
    }
    und_spray_remove(s->spray);
}
