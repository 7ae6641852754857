#include "base/status.h"
#include "cache/bands.h"
#include "cache/branch.h"
#include "cache/cache.h"
#include "cache/files.h"
#include "cache/shared_flow.h"
#include "cache/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* How far the measured volume may be from the expected one, as a part of all that came and went: the fields
 * are floats, and every step rounds them. */
static const double CLOSES = 1e-6;

typedef struct verifier {
    und_verify_fn *report;
    void *context;
    und_error *err;
    int wrong;
} verifier;

/* The first goes into the caller's error. */
static void report(verifier *v, const und_error *cause)
{
    if (v->wrong++ == 0)
        und_error_set(v->err, UND_FAILED, "%s", cause->text);
    if (v->report)
        v->report(v->context, cause->text);
}

static void check_row(verifier *v, const und_cache_row *row)
{
    const und_ledger *l = &row->ledger;
    double expected = und_rows_expected(l), error = l->measured - expected;
    double scale = fabs(l->start) + fabs(l->sources) + fabs(l->drains) + fabs(l->left) + fabs(l->spray_out) +
                   fabs(l->spray_back) + fabs(l->correction);
    if (fabs(error) <= CLOSES * scale)
        return;
    und_error cause;
    und_error_set(&cause, UND_FAILED, "frame %d: ledger.csv does not close (measured %.9g m3, expected %.9g)",
                  row->frame, l->measured, expected);
    report(v, &cause);
}

/* The state in a checkpoint must be the one that the ledger has for its frame. */
static und_status check_state(const und_cache *cache, const cache_checkpoint *checkpoint, const char *what,
                              und_error *err)
{
    char name[2 * SLUG_MAX], path[UND_PATH_MAX];
    und_frame state;
    und_cache_name(cache, "checkpoints", checkpoint->frame, name);
    und_status status = und_cache_path(cache, name, path, err);
    if (!status)
        status = und_store_read(path, NULL, &state, err);
    if (status)
        return status;
    uint64_t hash = und_frame_hash(&state, cache->threads), expected = checkpoint->state_hash;
    bool same = hash == expected;
    for (int i = 0; i < cache->rows.count && same; i++) {
        const und_cache_row *row = &cache->rows.row[i];
        if (row->frame != checkpoint->frame || row->time != checkpoint->time)
            continue;
        hash = checkpoint->row_hash;
        expected = row->state_hash;
        same = hash == expected;
    }
    und_frame_clear(&state);
    if (!same)
        return und_error_set(err, UND_FAILED,
                             "%s: %s does not hold the state of its frame (hash %016" PRIx64
                             " should be %016" PRIx64 ")",
                             what, name, hash, expected);
    return UND_OK;
}

static void check_checkpoints(verifier *v, const und_cache *cache)
{
    for (int i = 0; i < cache->manifest.checkpoint_count; i++) {
        const cache_checkpoint *checkpoint = &cache->manifest.checkpoints[i];
        char what[40], name[2 * SLUG_MAX];
        und_error cause;
        snprintf(what, sizeof what, "checkpoint %d", checkpoint->frame);
        und_cache_name(cache, "checkpoints", checkpoint->frame, name);
        if (und_cache_check_file(cache, what, name, &checkpoint->stamp, &cause) ||
            check_state(cache, checkpoint, what, &cause))
            report(v, &cause);
    }
}

/* Frames that are another's are looked for there; that it is not there, or has changed, is said once. */
static void check_frames(verifier *v, und_cache *cache)
{
    bool lost = false;
    for (int i = 0; i < cache->rows.count; i++) {
        const und_cache_row *row = &cache->rows.row[i];
        char what[40], name[2 * SLUG_MAX];
        und_error cause;
        store_stamp stamp = {.hash = row->file_hash};
        const und_cache *holder = und_branch_holder(cache, row->frame, &cause);
        snprintf(what, sizeof what, "frame %d", row->frame);
        und_cache_name(holder ? holder : cache, "frames", row->frame, name);
        if ((!holder && !lost) || (holder && und_cache_check_file(holder, what, name, &stamp, &cause)))
            report(v, &cause);
        lost = lost || !holder;
        check_row(v, row);
    }
}

/* Static items of the cache and of those that it branches off; how many files. */
static int check_static(verifier *v, const und_cache *cache)
{
    int checked = 0;
    und_error cause;
    for (; cache; cache = cache->parent) {
        const cache_manifest *m = &cache->manifest;
        checked += m->has_static;
        if (m->has_static &&
            und_cache_check_file(cache, "static items", "static.h5", &m->static_stamp, &cause))
            report(v, &cause);
    }
    return checked;
}

/* Copies of the files that the scene reads; how many. */
static int check_files(verifier *v, const und_cache *cache)
{
    const cache_files *lists[] = {&cache->manifest.files, &cache->manifest.bodies_files};
    und_error cause;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < lists[k]->count; i++)
            if (und_files_check(cache, &lists[k]->file[i], &cause))
                report(v, &cause);
    return lists[0]->count + lists[1]->count;
}

/* The flow must be the one that was shared, and whole. */
static int check_flow(verifier *v, und_cache *cache)
{
    char path[UND_PATH_MAX];
    int checked = 0;
    und_error cause = {0};
    if (!cache->manifest.flow)
        return 0;
    if (und_shared_flow_attach(cache, &cause) || und_shared_flow_folder(cache, path, &cause)) {
        report(v, &cause);
        return 0;
    }
    und_status status = und_cache_verify(path, v->report, v->context, &checked, &cause);
    if (status && v->wrong++ == 0)
        und_error_set(v->err, UND_FAILED, "%s", cause.text);
    return checked;
}

und_status und_cache_verify(const char *folder, und_verify_fn *fn, void *context, int *checked,
                            und_error *err)
{
    verifier v = {.report = fn, .context = context, .err = err};
    und_error cause = {0};
    und_cache *cache = und_cache_open(folder, &cause);
    if (checked)
        *checked = 0;
    if (!cache && cause.status == UND_INVALID)
        return und_error_set(err, UND_INVALID, "%s", cause.text);
    if (!cache) {
        report(&v, &cause);
        return UND_FAILED;
    }
    const cache_manifest *m = &cache->manifest;
    if (cache->rows.torn) {
        und_error_set(&cause, UND_FAILED, "ledger.csv is cut short (%d of %d rows)", cache->rows.count,
                      m->row_count);
        report(&v, &cause);
    }
    if (cache->rows.lost) {
        und_error_set(&cause, UND_FAILED,
                      "ledger.csv is missing: the frames have its rows, and --resume makes it again");
        report(&v, &cause);
    }
    check_frames(&v, cache);
    int others = check_static(&v, cache) + check_files(&v, cache);
    check_checkpoints(&v, cache);
    int of_flow = check_flow(&v, cache);
    long records;
    if (und_bands_check(folder, &records, &cause))
        report(&v, &cause);
    if (checked)
        *checked = of_flow + 2 + others + (records >= 0) + cache->rows.count + m->checkpoint_count;
    und_cache_free(cache);
    return v.wrong ? UND_FAILED : UND_OK;
}
