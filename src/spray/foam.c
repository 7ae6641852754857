#include "spray/foam.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "grid/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_LIFE = 221 };
enum { CHUNK = 1024 };
enum { MOST_BITS = 1 << 28 };

/* What is known of a bit, an array each. */
enum { X, Z, HEIGHT, RADIUS, AGE, LIFE, VALUES };
static const char *const value_name[VALUES] = {"foam_x",      "foam_z",   "foam_height",
                                               "foam_radius", "foam_age", "foam_life"};

struct und_foam {
    und_froth_def def;
    uint64_t seed;
    int threads;
    int count, capacity;
    double born; /* bits so far: the number of a bit gives it its life */
    double *value[VALUES];
    uint8_t *over; /* scratch: the bit has ended */
};

und_foam *und_foam_create(const und_froth_def *def, uint64_t seed, int threads, und_error *err)
{
    if (def->most < 1 || def->most > MOST_BITS) {
        und_error_set(err, UND_INVALID, "foam: most is %d, expected 1 to %d bits", def->most, MOST_BITS);
        return NULL;
    }
    if (!(def->life >= 0 && isfinite(def->life))) {
        und_error_set(err, UND_INVALID, "foam: life is %g, expected 0 or more", def->life);
        return NULL;
    }
    und_foam *f = und_alloc(1, sizeof *f, "foam", err);
    if (!f)
        return NULL;
    f->def = *def;
    f->seed = seed;
    f->threads = und_threads(threads);
    f->capacity = def->most;
    size_t n = (size_t)def->most;
    bool ok = (f->over = und_pages_alloc(n, "foam", err)) != NULL;
    for (int i = 0; i < VALUES && ok; i++)
        ok = (f->value[i] = und_pages_alloc(n * sizeof(double), "foam", err)) != NULL;
    if (!ok) {
        und_foam_destroy(f);
        return NULL;
    }
    return f;
}

void und_foam_destroy(und_foam *f)
{
    if (!f)
        return;
    for (int i = 0; i < VALUES; i++)
        und_pages_free(f->value[i]);
    und_pages_free(f->over);
    free(f);
}

void und_foam_add(und_foam *f, double x, double z, double radius)
{
    /* Every bit has a number, kept or not, so that the lives of others do not depend on the room. */
    double chance = 0.5 + und_random(f->seed, STREAM_LIFE, (uint64_t)f->born++);
    if (f->count == f->capacity || !(isfinite(x) && isfinite(z) && radius > 0 && radius < 1000))
        return;
    const double bit[VALUES] = {
        [X] = x, [Z] = z, [RADIUS] = radius, [LIFE] = f->def.life * 1000 * radius * chance};
    for (int i = 0; i < VALUES; i++)
        f->value[i][f->count] = bit[i];
    f->count++;
}

/* Moves one bit; false where it has ended. */
static bool float_on(const und_foam *f, int i, double dt, und_surface_fn *surface, void *context)
{
    double x = f->value[X][i], z = f->value[Z][i], first[2], half[2], height;
    f->value[AGE][i] += dt;
    if (!(f->value[AGE][i] < f->value[LIFE][i]) || !surface(context, x, z, first, &height))
        return false;
    if (!surface(context, x + 0.5 * dt * first[0], z + 0.5 * dt * first[1], half, &height))
        memcpy(half, first, sizeof half);
    x += dt * half[0];
    z += dt * half[1];
    f->value[X][i] = x;
    f->value[Z][i] = z;
    return surface(context, x, z, half, &f->value[HEIGHT][i]) && isfinite(x) && isfinite(z);
}

void und_foam_step(und_foam *f, double dt, und_surface_fn *surface, void *context)
{
    int chunks = (f->count + CHUNK - 1) / CHUNK, left = 0;
    PARALLEL_FOR(chunks < 4 ? 1 : f->threads)
    for (int c = 0; c < chunks; c++)
        for (int i = c * CHUNK; i < (c + 1) * CHUNK && i < f->count; i++)
            f->over[i] = !float_on(f, i, dt, surface, context);
    for (int i = 0; i < f->count; i++) {
        if (f->over[i])
            continue;
        for (int k = 0; k < VALUES && left < i; k++)
            f->value[k][left] = f->value[k][i];
        left++;
    }
    f->count = left;
}

int und_foam_count(const und_foam *f)
{
    return f->count;
}

static und_status add_particles(const und_foam *f, und_frame *frame, const char *name, const char *unit,
                                size_t width, const int from[3], und_error *err)
{
    und_item_def def = {.name = name, .unit = unit, .kind = UND_PARTICLES, .type = UND_F32, .rank = 1};
    def.dim[0] = (size_t)f->count;
    if (width > 1)
        def.dim[def.rank++] = width;
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    float *out = item->data;
    for (int i = 0; i < f->count; i++)
        for (size_t k = 0; k < width; k++)
            *out++ = (float)f->value[from[k]][i];
    return UND_OK;
}

und_status und_foam_frame(const und_foam *f, und_frame *frame, und_error *err)
{
    if (add_particles(f, frame, "foam/position", "m", 3, (int[3]){X, HEIGHT, Z}, err) ||
        add_particles(f, frame, "foam/radius", "m", 1, (int[3]){RADIUS}, err) ||
        add_particles(f, frame, "foam/age", "s", 1, (int[3]){AGE}, err) ||
        add_particles(f, frame, "foam/life", "s", 1, (int[3]){LIFE}, err))
        return err->status;
    return UND_OK;
}

und_status und_foam_save(und_foam *f, und_frame *state, und_error *err)
{
    und_state_field list[VALUES + 1] = {und_state_field_of("foam_born", UND_F64, &f->born, 1)};
    for (int i = 0; i < VALUES; i++)
        list[i + 1] = und_state_field_of(value_name[i], UND_F64, f->value[i], (size_t)f->count);
    return und_state_save_fields(list, VALUES + 1, state, err);
}

und_status und_foam_restore(und_foam *f, const und_frame *state, und_error *err)
{
    const und_item *born = und_frame_find(state, "foam_born"), *first = und_frame_find(state, value_name[X]);
    size_t count = first ? und_item_count(first) : 0;
    if (!born || !first || born->type != UND_F64 || und_item_count(born) != 1 || count > (size_t)f->capacity)
        return und_error_set(err, UND_FAILED,
                             "the checkpoint does not fit the scene: foam of %zu bits, at most %d expected",
                             count, f->capacity);
    for (int i = 0; i < VALUES; i++) {
        const und_item *item = und_frame_find(state, value_name[i]);
        size_t found = item ? und_item_count(item) : 0;
        if (!item || item->type != UND_F64 || found != count)
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint does not fit the scene: %s has %zu values, expected %zu",
                                 value_name[i], found, count);
        const double *values = item->data;
        for (size_t k = 0; k < count; k++)
            if (!isfinite(values[k]))
                return und_error_set(err, UND_FAILED, "the checkpoint is damaged: %s is not finite",
                                     value_name[i]);
        memcpy(f->value[i], values, count * sizeof *values);
    }
    memcpy(&f->born, born->data, sizeof f->born);
    if (!(f->born >= 0 && f->born < 0x1p53))
        return und_error_set(err, UND_FAILED, "the checkpoint is damaged: foam_born is %g", f->born);
    f->count = (int)count;
    return UND_OK;
}
