#include "spray/rain.h"

#include "base/random.h"
#include "base/status.h"
#include "geom/value.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_X = 101, STREAM_Z, STREAM_CHANCE, STREAM_WHEN };

/* A step makes all that fall during it in one go, and answers no signal meanwhile. */
static const double MOST_A_SECOND = 1e8;

static double drops_a_second(const und_rain *rain, double rate)
{
    return rate * (rain->high[0] - rain->low[0]) * (rain->high[1] - rain->low[1]);
}

/* In the air at once. */
static int most_drops(const und_rain *rain)
{
    double fall = fmax(rain->def.top - rain->floor, 0) / rain->def.speed;
    double most = drops_a_second(rain, rain->def.max_rate) * (fall + 0.1) + 64;
    return (int)fmin(most, 1 << 24);
}

und_rain *und_rain_create(const und_rain_def *def, uint64_t seed, const double low[2], const double high[2],
                          double floor, und_error *err)
{
    und_rain *rain = und_alloc(1, sizeof *rain, "rain", err);
    if (!rain)
        return NULL;
    rain->def = *def;
    rain->seed = seed;
    rain->floor = floor;
    for (int i = 0; i < 2; i++) {
        rain->low[i] = low[i];
        rain->high[i] = high[i];
    }
    if (rain->def.max_rate <= 0)
        rain->def.max_rate = def->rate.number;
    if (drops_a_second(rain, rain->def.max_rate) > MOST_A_SECOND) {
        und_error_set(
            err, UND_INVALID,
            "rain of %g drops a second on all of the water: expected at most %g; take fewer and larger drops",
            drops_a_second(rain, rain->def.max_rate), MOST_A_SECOND);
        und_rain_destroy(rain);
        return NULL;
    }
    rain->drop_volume = 4.0 / 3.0 * M_PI * def->radius * def->radius * def->radius;

    rain->capacity = most_drops(rain);
    rain->position = und_alloc((size_t)rain->capacity, 3 * sizeof(float), "rain drops", err);
    rain->velocity = und_alloc((size_t)rain->capacity, 3 * sizeof(float), "rain drops", err);
    if (!rain->position || !rain->velocity) {
        und_rain_destroy(rain);
        return NULL;
    }
    return rain;
}

void und_rain_destroy(und_rain *rain)
{
    if (rain) {
        free(rain->position);
        free(rain->velocity);
        free(rain);
    }
}

bool und_rain_reserve(und_rain *rain, int capacity)
{
    if (capacity <= rain->capacity)
        return true;
    size_t bytes = (size_t)capacity * 3 * sizeof(float);
    float *position = realloc(rain->position, bytes);
    if (position)
        rain->position = position;
    float *velocity = position ? realloc(rain->velocity, bytes) : NULL;
    if (!velocity)
        return false;
    rain->velocity = velocity;
    rain->capacity = capacity;
    return true;
}

bool und_rain_set_rate(und_rain *rain, double rate)
{
    und_rain_def before = rain->def;
    if (drops_a_second(rain, rate) > MOST_A_SECOND)
        return false;
    rain->def.rate = (und_value){.number = rate};
    rain->def.max_rate = rate;
    rain->def.start = -INFINITY;
    rain->def.end = INFINITY;
    if (und_rain_reserve(rain, most_drops(rain)))
        return true;
    rain->def = before;
    return false;
}

/* Drop number `index` sets out at `when`; where the air is full it lands at once, so that none is lost. */
static void emit(und_rain *rain, uint64_t index, double when, double end, und_rain_hit_fn *hit, void *context)
{
    const und_rain_def *def = &rain->def;
    double x = rain->low[0] + (rain->high[0] - rain->low[0]) * und_random(rain->seed, STREAM_X, index);
    double z = rain->low[1] + (rain->high[1] - rain->low[1]) * und_random(rain->seed, STREAM_Z, index);
    double rate = und_value_at(&def->rate, x, 0, z, when);
    if (und_random(rain->seed, STREAM_CHANCE, index) * def->max_rate >= rate)
        return;
    if (rain->count == rain->capacity) {
        hit(context, x, z, rain->drop_volume);
        return;
    }
    float *p = rain->position + 3 * rain->count, *v = rain->velocity + 3 * rain->count;
    rain->count++;
    v[0] = (float)def->wind[0];
    v[1] = (float)-def->speed;
    v[2] = (float)def->wind[1];
    /* It sets out upwind of (x, z), so that the wind does not sweep a part of the area dry. */
    double age = end - when, left = (def->top - rain->floor) / def->speed - age;
    p[0] = (float)(x - def->wind[0] * left);
    p[1] = (float)(def->top - def->speed * age);
    p[2] = (float)(z - def->wind[1] * left);
}

static void emit_until(und_rain *rain, double time, double dt, und_rain_hit_fn *hit, void *context)
{
    const und_rain_def *def = &rain->def;
    double from = fmax(time, def->start), to = fmin(time + dt, def->end);
    if (to <= from)
        return;
    double next = rain->emitted + drops_a_second(rain, def->max_rate) * (to - from);
    for (double index = ceil(rain->emitted); index < next; index++) {
        double when = from + (to - from) * (index - rain->emitted) / (next - rain->emitted);
        emit(rain, (uint64_t)index, when, time + dt, hit, context);
    }
    rain->emitted = next;
}

void und_rain_step(und_rain *rain, double time, double dt, und_rain_height_fn *height, und_rain_hit_fn *hit,
                   void *context)
{
    int kept = 0, old = rain->count;
    emit_until(rain, time, dt, hit, context);
    for (int i = 0; i < rain->count; i++) {
        float p[3], *v = rain->velocity + 3 * i;
        for (int a = 0; a < 3; a++)
            p[a] = rain->position[3 * i + a] + (i < old ? (float)(v[a] * dt) : 0);
        bool inside =
            p[0] >= rain->low[0] && p[0] < rain->high[0] && p[2] >= rain->low[1] && p[2] < rain->high[1];
        if (inside && p[1] <= height(context, p[0], p[2])) {
            hit(context, p[0], p[2], rain->drop_volume);
            continue;
        }
        if (p[1] <= rain->floor)
            continue;
        for (int a = 0; a < 3; a++) {
            rain->position[3 * kept + a] = p[a];
            rain->velocity[3 * kept + a] = v[a];
        }
        kept++;
    }
    rain->count = kept;
}
