/* The frames of control particles: checked, and of loaders in memory only while they are needed. */
#include "base/hash.h"
#include "base/status.h"
#include "control/control_particles_state.h"

#include <stdlib.h>
#include <string.h>

static const char *const what = "control particles";

/* ---- Checks ---- */

static bool all_finite(const float *numbers, size_t count)
{
    bool good = true;
    for (size_t i = 0; numbers && i < count; i++)
        good = good && isfinite(numbers[i]);
    return good;
}

static und_status check_frame(const und_control_particle_frame *f, int number, int k, und_error *err)
{
    size_t n = (size_t)f->count;
    if (f->count < 0)
        return und_error_set(err, UND_INVALID, "control %d: frame %d has %d particles", number, k + 1,
                             f->count);
    for (int i = 1; f->id && i < f->count; i++)
        if (!(f->id[i] > f->id[i - 1]))
            return und_error_set(err, UND_INVALID, "control %d: frame %d has the particle %d twice", number,
                                 k + 1, (int)f->id[i]);
    if (!all_finite((const float *)f->at, 3 * n) || !all_finite((const float *)f->velocity, 3 * n) ||
        !all_finite((const float *)f->normal, 3 * n) || !all_finite(f->radius, n) ||
        !all_finite(f->strength, n) || !all_finite(f->value, n))
        return und_error_set(err, UND_INVALID, "control %d: frame %d: expected finite numbers", number,
                             k + 1);
    return UND_OK;
}

static und_status check_def(const und_control_particle_def *def, int number, und_error *err)
{
    struct {
        const char *key;
        double value, low, high;
    } range[] = {{"radius", def->radius, 0, 1e9},           {"length", def->length, 0, 1e9},
                 {"strength", def->strength, 0, 1},         {"hard", def->hard, 0, 1},
                 {"value", def->value, -1e9, 1e9},          {"velocity", def->velocity[0], -1e9, 1e9},
                 {"velocity", def->velocity[1], -1e9, 1e9}, {"velocity", def->velocity[2], -1e9, 1e9},
                 {"normal", def->normal[0], -1e9, 1e9},     {"normal", def->normal[1], -1e9, 1e9},
                 {"normal", def->normal[2], -1e9, 1e9}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (!(range[i].value >= range[i].low && range[i].value <= range[i].high))
            return und_error_set(err, UND_INVALID,
                                 "control %d: %s: expected a number from %g to %g, found %g", number,
                                 range[i].key, range[i].low, range[i].high, range[i].value);
    if (def->kind == UND_CONTROL_SURFACE && def->shape != UND_CONTROL_CYLINDER)
        return und_error_set(err, UND_INVALID,
                             "control %d: what leads the surface is a cylinder: its normal says which way",
                             number);
    if (def->falloff == UND_FALLOFF_CURVE && (def->sample_count < 2 || !def->samples))
        return und_error_set(err, UND_INVALID, "control %d: expected a curve of two samples or more", number);
    for (int i = 0; def->falloff == UND_FALLOFF_CURVE && i < def->sample_count; i++)
        if (!(def->samples[i] >= 0 && def->samples[i] <= 1))
            return und_error_set(err, UND_INVALID,
                                 "control %d: expected a curve's samples from 0 to 1, found %g", number,
                                 def->samples[i]);
    if (def->frame_count < 1)
        return und_error_set(err, UND_INVALID, "control %d: there are no particles", number);
    for (int k = 0; k < def->frame_count; k++)
        if (!isfinite(def->frames[k].time) || (k > 0 && !(def->frames[k].time > def->frames[k - 1].time)))
            return und_error_set(err, UND_INVALID,
                                 "control %d: frame %d is at %g s, not after the frame before it", number,
                                 k + 1, def->frames[k].time);
    return UND_OK;
}

/* ---- In memory ---- */

/* Of all its numbers, and of which it has. */
static uint64_t hash_frame(const und_control_particle_frame *f)
{
    const size_t n = (size_t)f->count;
    const struct {
        const void *data;
        size_t bytes;
    } part[] = {{f->id, n * sizeof *f->id},
                {f->at, n * sizeof *f->at},
                {f->velocity, n * sizeof *f->velocity},
                {f->normal, n * sizeof *f->normal},
                {f->radius, n * sizeof *f->radius},
                {f->strength, n * sizeof *f->strength},
                {f->value, n * sizeof *f->value}};
    uint64_t hash = n;
    for (uint64_t i = 0; i < sizeof part / sizeof *part; i++)
        hash = part[i].data ? und_hash(part[i].data, part[i].bytes, hash, 1) : hash * 31 + i;
    return hash;
}

static void drop(control_frame_cache *frame_cache, int k)
{
    if (!(frame_cache->state[k] & FRAME_HELD))
        return;
    const und_control_particle_frame head = {.time = frame_cache->frames[k].time,
                                             .count = frame_cache->frames[k].count};
    frame_cache->def.loader.release(frame_cache->def.loader.context, frame_cache->memory[k]);
    frame_cache->memory[k] = NULL;
    frame_cache->frames[k] = head;
    frame_cache->state[k] &= (uint8_t)~FRAME_HELD;
}

/* The first time it is checked; later it must be the same. */
static und_status accept(control_frame_cache *frame_cache, int k, und_error *err)
{
    const und_control_particle_frame *f = &frame_cache->frames[k];
    if (!(frame_cache->state[k] & FRAME_KNOWN)) {
        if (check_frame(f, frame_cache->number, k, err) != UND_OK)
            return err->status;
        frame_cache->hash[k] = hash_frame(f);
        frame_cache->state[k] |= (uint8_t)(FRAME_KNOWN | (f->velocity ? FRAME_VELOCITY : 0));
        return UND_OK;
    }
    if (hash_frame(f) == frame_cache->hash[k])
        return UND_OK;
    const und_control_particle_loader *l = &frame_cache->def.loader;
    return und_error_set(err, UND_INVALID, "control %d: %s has other particles now than when the run began",
                         frame_cache->number, l->name(l->context, k));
}

static und_status take(control_frame_cache *frame_cache, int k, und_error *err)
{
    const und_control_particle_loader *l = &frame_cache->def.loader;
    const und_control_particle_frame head = {.time = frame_cache->frames[k].time,
                                             .count = frame_cache->frames[k].count};
    und_control_particle_frame loaded = {0};
    if (frame_cache->state[k] & FRAME_HELD)
        return UND_OK;
    und_status status = l->load(l->context, k, &loaded, &frame_cache->memory[k], err);
    if (status != UND_OK)
        return status;
    loaded.time = head.time;
    frame_cache->frames[k] = loaded;
    frame_cache->state[k] |= FRAME_HELD;
    status = accept(frame_cache, k, err);
    if (status != UND_OK) {
        frame_cache->frames[k].count = frame_cache->state[k] & FRAME_KNOWN ? head.count : 0;
        drop(frame_cache, k);
    }
    return status;
}

und_status und_control_frame_cache_hold(control_frame_cache *frame_cache, int low, int high, und_error *err)
{
    if (!frame_cache->frames || (low == frame_cache->low && high == frame_cache->high))
        return UND_OK;
    const bool looked = frame_cache->looked;
    for (int k = frame_cache->low; k <= frame_cache->high; k++)
        if (k < low || k > high)
            drop(frame_cache, k);
    frame_cache->low = low;
    frame_cache->high = high;
    for (int k = low; k <= high; k++)
        if (take(frame_cache, k, err) != UND_OK) {
            for (int i = low; i <= high; i++)
                drop(frame_cache, i);
            frame_cache->low = 0;
            frame_cache->high = -1;
            err->status = looked ? UND_FAILED : err->status; /* in the middle of a run */
            return err->status;
        }
    return UND_OK;
}

bool und_control_frame_cache_led(const control_frame_cache *frame_cache, int frame)
{
    if (frame_cache->def.still)
        return false;
    if (!frame_cache->frames)
        return frame_cache->def.frames[frame].velocity && frame_cache->def.frames[frame + 1].velocity;
    return (frame_cache->state[frame] & frame_cache->state[frame + 1] & FRAME_VELOCITY) != 0;
}

/* ---- All of them ---- */

static und_status open_frame_cache(control_frame_cache *frame_cache, und_error *err)
{
    const und_control_particle_def *def = &frame_cache->def;
    const size_t n = (size_t)def->frame_count;
    frame_cache->high = -1;
    if (!(frame_cache->fastest = und_alloc(n, sizeof *frame_cache->fastest, what, err)))
        return err->status;
    for (int k = 0; !def->loader.load && k < def->frame_count; k++)
        if (check_frame(&def->frames[k], frame_cache->number, k, err) != UND_OK)
            return err->status;
    if (!def->loader.load)
        return UND_OK;
    if (!(frame_cache->frames = und_alloc(n, sizeof *frame_cache->frames, what, err)) ||
        !(frame_cache->memory = und_alloc(n, sizeof *frame_cache->memory, what, err)) ||
        !(frame_cache->hash = und_alloc(n, sizeof *frame_cache->hash, what, err)) ||
        !(frame_cache->state = und_alloc(n, sizeof *frame_cache->state, what, err)))
        return err->status;
    for (size_t k = 0; k < n; k++)
        frame_cache->frames[k].time = def->frames[k].time;
    frame_cache->def.frames = frame_cache->frames;
    return UND_OK;
}

control_frame_caches *und_control_frame_caches_open(const und_control_particle_def *defs, int count,
                                                    und_error *err)
{
    control_frame_caches *frame_caches = und_alloc(1, sizeof *frame_caches, what, err);
    if (!frame_caches)
        return NULL;
    frame_caches->users = 1;
    frame_caches->frame_cache =
        und_alloc((size_t)(count > 0 ? count : 1), sizeof *frame_caches->frame_cache, what, err);
    for (int i = 0; frame_caches->frame_cache && i < count; i++) {
        control_frame_cache *frame_cache = &frame_caches->frame_cache[frame_caches->count++];
        *frame_cache = (control_frame_cache){.def = defs[i], .number = i + 1, .high = -1};
        if (check_def(&frame_cache->def, i + 1, err) != UND_OK ||
            open_frame_cache(frame_cache, err) != UND_OK) {
            und_control_frame_caches_close(frame_caches);
            return NULL;
        }
    }
    if (frame_caches->frame_cache)
        return frame_caches;
    und_control_frame_caches_close(frame_caches);
    return NULL;
}

void und_control_frame_caches_close(control_frame_caches *frame_caches)
{
    if (!frame_caches || --frame_caches->users > 0)
        return;
    for (int i = 0; i < frame_caches->count; i++) {
        control_frame_cache *frame_cache = &frame_caches->frame_cache[i];
        for (int k = frame_cache->low; k <= frame_cache->high; k++)
            drop(frame_cache, k);
        free(frame_cache->frames);
        free(frame_cache->memory);
        free(frame_cache->hash);
        free(frame_cache->state);
        free(frame_cache->fastest);
    }
    free(frame_caches->frame_cache);
    free(frame_caches);
}
