#include "links.h"

#include "base/stage.h"
#include "base/status.h"
#include "liquid/levelset.h"

#include <math.h>
#include <string.h>

static const double LOOK = 0.2, TELL = 2, GONE = 2; /* s */

/* Why nothing more comes. */
static und_status explain(const link_from *f, double time, und_error *err)
{
    und_error unused;
    und_cache *cache = und_cache_open(f->folder, &unused);
    if (!cache)
        return und_error_set(
            err, UND_FAILED,
            "%s takes its liquid from %s, and there is no cache %s: simulate that too (--grid %s)", f->to,
            f->name, f->folder, f->name);
    und_cache_info info = und_cache_describe(cache);
    int last = info.row_count > 0 ? info.rows[info.row_count - 1].frame : info.start - 1;
    und_error_set(
        err, UND_FAILED,
        "%s has come to %g s, and %s, which its liquid comes from, has stopped at frame %d of %d: go on "
        "with --grid %s --resume%s, then with --grid %s --resume",
        f->to, time, f->name, last, info.end, f->name, last >= info.end ? " -e FRAME" : "", f->to);
    und_cache_close(cache, NULL, 0, &unused);
    return err->status;
}

static und_status wait_for(void *context, double time, double seconds, und_error *err)
{
    link_from *f = context;
    double now = und_clock();
    if (signals_stop())
        return UND_STOPPED;
    if (now - f->looked >= LOOK) {
        f->looked = now;
        if (und_cache_is_written(f->folder)) {
            f->alive = now;
            f->seen = true;
        }
    }
    f->told = f->told && seconds >= TELL;
    if (seconds >= TELL && !f->told && !f->quiet) {
        printf("%s waits at %.6g s for %s\n", f->to, time, f->name);
        fflush(stdout);
        f->told = true;
    }
    if (now - fmax(f->alive, f->started) < (f->seen ? GONE : f->grace))
        return UND_OK;
    f->in_vain = true;
    return explain(f, time, err);
}

static und_status put(void *context, long index, double time, const float *values, und_error *err)
{
    links *l = context;
    return und_bands_put(l->writer, index, time, values, err);
}

static bands_grid grid_of(const int n[3], double dx, const double origin[3], const bool open[UND_SIDES])
{
    bands_grid g = {.dx = dx};
    memcpy(g.n, n, sizeof g.n);
    memcpy(g.origin, origin, sizeof g.origin);
    memcpy(g.open, open, sizeof g.open);
    return g;
}

static und_status open_from(links *l, const args *a, const und_levelset_def *def, const char *folder, int k,
                            und_upstream_def *up, und_error *err)
{
    link_from *f = &l->from[k];
    const char *slash = strrchr(folder, '/');
    f->name = up->name;
    f->to = def->name;
    f->quiet = a->quiet;
    f->grace = a->wait;
    f->started = und_clock();
    und_status status = slash
                            ? und_path_set(f->folder, err, "%.*s/%s", (int)(slash - folder), folder, up->name)
                            : und_path_set(f->folder, err, "%s", up->name);
    bands_grid grid = grid_of(up->n, up->dx, up->origin, up->open);
    grid.heat = up->heat;
    grid.volume = up->volume;
    if (status == UND_OK && !(f->reader = und_bands_reader_open(f->folder, &grid, wait_for, f, err)))
        status = err->status;
    up->fetch = und_bands_fetch;
    up->context = f->reader;
    return status;
}

static und_status drop(void *context, long index, double time, const float *values, und_error *err)
{
    (void)context, (void)index, (void)time, (void)values, (void)err;
    return UND_OK;
}

und_status links_read(links *l, const args *a, und_scene *scene, const char *folder, und_error *err)
{
    und_status status = links_open(l, a, scene, folder, err);
    if (status == UND_OK && l->keeps)
        und_scene_connect(scene, (und_band_sink){drop, NULL}, NULL);
    return status;
}

und_status links_open(links *l, const args *a, und_scene *scene, const char *folder, und_error *err)
{
    const und_levelset_def *def = &und_scene_get(scene)->levelset;
    und_upstream_def up[UND_GRIDS_MAX];
    und_status status = UND_OK;
    l->grid = grid_of(def->n, def->dx, def->origin, def->open);
    l->grid.heat = def->heat != NULL;
    l->grid.volume = und_levelset_has_volumes(def);
    for (int side = 0; side < UND_SIDES; side++)
        l->keeps = l->keeps || def->open[side];
    for (int k = 0; k < def->upstream_count && status == UND_OK; k++) {
        up[k] = def->upstreams[k];
        status = open_from(l, a, def, folder, k, &up[k], err);
        l->count++;
    }
    und_band_sink sink = {l->keeps ? put : NULL, l};
    if (status == UND_OK)
        und_scene_connect(scene, sink, up);
    l->name = def->name;
    return status;
}

und_status links_begin(links *l, const char *folder, und_cache *branch, int frame, bool begin, und_error *err)
{
    char holder[UND_PATH_MAX];
    if (!l->keeps)
        return UND_OK;
    und_status status = UND_OK;
    if (begin && branch) {
        status = und_cache_holder(branch, frame, holder, sizeof holder, err);
        if (status == UND_OK)
            status = und_bands_copy(holder, folder, err);
        begin = false;
    }
    if (status == UND_OK && !(l->writer = und_bands_writer_open(folder, &l->grid, begin, err)))
        status = err->status;
    return status;
}

und_status links_sync(links *l, und_error *err)
{
    return und_bands_sync(l->writer, err);
}

const char *links_title(links *l, const char *command)
{
    snprintf(l->title, sizeof l->title, "%s %s", command, l->name);
    return l->title;
}

bool links_in_vain(const links *l)
{
    bool any = false;
    for (int k = 0; k < l->count; k++)
        any = any || l->from[k].in_vain;
    return any;
}

void links_close(links *l)
{
    und_bands_writer_close(l->writer);
    for (int k = 0; k < l->count; k++)
        und_bands_reader_close(l->from[k].reader);
}
