/* The frames of control particles: checked, and of loaders in memory only while they are needed. */
#include "base/hash.h"
#include "base/status.h"
#include "control/guides_state.h"

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

static und_status check_frame(const und_guide_frame *f, int number, int k, und_error *err)
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

static und_status check_def(const und_guide_def *def, int number, und_error *err)
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
    if (def->kind == UND_GUIDE_SURFACE && def->shape != UND_GUIDE_CYLINDER)
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
static uint64_t hash_frame(const und_guide_frame *f)
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

static void drop(guide_reel *reel, int k)
{
    if (!(reel->state[k] & REEL_HELD))
        return;
    const und_guide_frame head = {.time = reel->frames[k].time, .count = reel->frames[k].count};
    reel->def.loader.release(reel->def.loader.context, reel->memory[k]);
    reel->memory[k] = NULL;
    reel->frames[k] = head;
    reel->state[k] &= (uint8_t)~REEL_HELD;
}

/* The first time it is checked; later it must be the same. */
static und_status accept(guide_reel *reel, int k, und_error *err)
{
    const und_guide_frame *f = &reel->frames[k];
    if (!(reel->state[k] & REEL_KNOWN)) {
        if (check_frame(f, reel->number, k, err) != UND_OK)
            return err->status;
        reel->hash[k] = hash_frame(f);
        reel->state[k] |= (uint8_t)(REEL_KNOWN | (f->velocity ? REEL_VELOCITY : 0));
        return UND_OK;
    }
    if (hash_frame(f) == reel->hash[k])
        return UND_OK;
    const und_guide_loader *l = &reel->def.loader;
    return und_error_set(err, UND_INVALID, "control %d: %s has other particles now than when the run began",
                         reel->number, l->name(l->context, k));
}

static und_status take(guide_reel *reel, int k, und_error *err)
{
    const und_guide_loader *l = &reel->def.loader;
    const und_guide_frame head = {.time = reel->frames[k].time, .count = reel->frames[k].count};
    und_guide_frame loaded = {0};
    if (reel->state[k] & REEL_HELD)
        return UND_OK;
    und_status status = l->load(l->context, k, &loaded, &reel->memory[k], err);
    if (status != UND_OK)
        return status;
    loaded.time = head.time;
    reel->frames[k] = loaded;
    reel->state[k] |= REEL_HELD;
    status = accept(reel, k, err);
    if (status != UND_OK) {
        reel->frames[k].count = reel->state[k] & REEL_KNOWN ? head.count : 0;
        drop(reel, k);
    }
    return status;
}

und_status und_guide_reel_hold(guide_reel *reel, int low, int high, und_error *err)
{
    if (!reel->frames || (low == reel->low && high == reel->high))
        return UND_OK;
    const bool looked = reel->looked;
    for (int k = reel->low; k <= reel->high; k++)
        if (k < low || k > high)
            drop(reel, k);
    reel->low = low;
    reel->high = high;
    for (int k = low; k <= high; k++)
        if (take(reel, k, err) != UND_OK) {
            for (int i = low; i <= high; i++)
                drop(reel, i);
            reel->low = 0;
            reel->high = -1;
            err->status = looked ? UND_FAILED : err->status; /* in the middle of a run */
            return err->status;
        }
    return UND_OK;
}

bool und_guide_reel_led(const guide_reel *reel, int frame)
{
    if (reel->def.still)
        return false;
    if (!reel->frames)
        return reel->def.frames[frame].velocity && reel->def.frames[frame + 1].velocity;
    return (reel->state[frame] & reel->state[frame + 1] & REEL_VELOCITY) != 0;
}

/* ---- All of them ---- */

static und_status open_reel(guide_reel *reel, und_error *err)
{
    const und_guide_def *def = &reel->def;
    const size_t n = (size_t)def->frame_count;
    reel->high = -1;
    if (!(reel->fastest = und_alloc(n, sizeof *reel->fastest, what, err)))
        return err->status;
    for (int k = 0; !def->loader.load && k < def->frame_count; k++)
        if (check_frame(&def->frames[k], reel->number, k, err) != UND_OK)
            return err->status;
    if (!def->loader.load)
        return UND_OK;
    if (!(reel->frames = und_alloc(n, sizeof *reel->frames, what, err)) ||
        !(reel->memory = und_alloc(n, sizeof *reel->memory, what, err)) ||
        !(reel->hash = und_alloc(n, sizeof *reel->hash, what, err)) ||
        !(reel->state = und_alloc(n, sizeof *reel->state, what, err)))
        return err->status;
    for (size_t k = 0; k < n; k++)
        reel->frames[k].time = def->frames[k].time;
    reel->def.frames = reel->frames;
    return UND_OK;
}

guide_reels *und_guide_reels_open(const und_guide_def *defs, int count, und_error *err)
{
    guide_reels *reels = und_alloc(1, sizeof *reels, what, err);
    if (!reels)
        return NULL;
    reels->users = 1;
    reels->reel = und_alloc((size_t)(count > 0 ? count : 1), sizeof *reels->reel, what, err);
    for (int i = 0; reels->reel && i < count; i++) {
        guide_reel *reel = &reels->reel[reels->count++];
        *reel = (guide_reel){.def = defs[i], .number = i + 1, .high = -1};
        if (check_def(&reel->def, i + 1, err) != UND_OK || open_reel(reel, err) != UND_OK) {
            und_guide_reels_close(reels);
            return NULL;
        }
    }
    if (reels->reel)
        return reels;
    und_guide_reels_close(reels);
    return NULL;
}

void und_guide_reels_close(guide_reels *reels)
{
    if (!reels || --reels->users > 0)
        return;
    for (int i = 0; i < reels->count; i++) {
        guide_reel *reel = &reels->reel[i];
        for (int k = reel->low; k <= reel->high; k++)
            drop(reel, k);
        free(reel->frames);
        free(reel->memory);
        free(reel->hash);
        free(reel->state);
        free(reel->fastest);
    }
    free(reels->reel);
    free(reels);
}
