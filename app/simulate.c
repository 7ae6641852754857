#include "simulate.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "branch.h"
#include "cache/cache.h"
#include "check.h"
#include "exports.h"
#include "grids.h"
#include "links.h"
#include "liquid/devices.h"
#include "pictures.h"
#include "scene/sim.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { STAGE_WRITE, STAGE_CHECKPOINT, STAGES, MAX_STAGES = 64 };

typedef struct job {
    const args *args;
    char folder[UND_PATH_MAX], pictures_folder[UND_PATH_MAX];
    int first, last, threads;
    und_card *card; /* that computes beside the processors; NULL: none */
    und_scene *scene;
    const und_scene_view *view;
    und_sim *sim;
    und_cache *cache;
    pictures *pictures;
    exports *exports; /* NULL: none were asked for */
    bool several;     /* grids, and none was chosen */
    links links;
    branch branch; /* nothing in it: the run is none */
    progress progress;
    int saved; /* frame of the last checkpoint, or first - 1 */
    bool mid_frame;
    bool later;   /* pictures come after the last frame, when it is known what to frame */
    bool undrawn; /* a signal left frames of the cache out of the movie */
    und_stage stage[STAGES];
    int dumped;        /* stages since the last frame */
    und_error trouble; /* of a dump */
} job;

/* What names the files. */
static const char *name_of(const job *j)
{
    return j->view->grid_name ? j->view->grid_name : j->view->name;
}

static und_status load_exports(job *j, und_error *err)
{
    exports_def def;
    und_status status = exports_from_args(j->args, &def, err);
    if (status != UND_OK || !exports_asked(&def))
        return status;
    def.folder = j->folder;
    def.name = name_of(j);
    def.model = und_model_name(j->view->model);
    def.first = j->first;
    def.last = j->last;
    def.threads = j->threads;
    j->exports = exports_create(&def, err);
    return j->exports ? UND_OK : err->status;
}

static const job *of_card; /* for who is told that the card has failed, and nothing else */

/* What was on it is lost, but for what is on disk. */
static void card_failed(const und_error *err)
{
    fprintf(stderr,
            "undine: %s\nwhat was simulated since the last checkpoint is lost; go on without the card:\n ",
            err->text);
    args_print_resume(of_card->args, of_card->folder, stderr);
    fprintf(stderr, " --device cpu\n");
    _exit(UND_FAILED);
}

static und_status open_device(job *j, und_error *err)
{
    if (und_devices_open(j->args->device ? j->args->device : "cpu", &j->card, err) != UND_OK)
        return err->status;
    of_card = j;
    if (j->card)
        und_card_on_failure(j->card, card_failed);
    if (j->card && j->args->profile && j->args->verbose)
        und_card_time(j->card);
    return UND_OK;
}

static und_status load_job(job *j, bool draw, und_error *err)
{
    const args *a = j->args;
    if (a->resume && a->force)
        return und_error_set(err, UND_INVALID,
                             "--resume goes on with a cache, --force begins it anew: give one of them");
    j->scene = und_scene_load(a->words[0], a->settings, a->setting_count, err);
    if (!j->scene || (a->grid && und_scene_choose(j->scene, a->grid, err) != UND_OK))
        return err->status;
    j->view = und_scene_get(j->scene);
    j->several = !a->grid && j->view->grid_name;
    if (j->several)
        return UND_OK;
    j->first = a->given & OPT_START ? a->start : j->view->start;
    j->last = a->given & OPT_END ? a->end : j->view->end;
    if (j->first < j->view->start)
        return und_error_set(err, UND_INVALID, "--start %d is before the scene's first frame, %d", j->first,
                             j->view->start);
    if (j->last < j->first)
        return und_error_set(err, UND_INVALID, "the last frame, %d, is before the first, %d", j->last,
                             j->first);
    und_status status = a->from ? branch_open(&j->branch, a, j->view, &j->first, &j->last, err) : UND_OK;
    if (status != UND_OK)
        return status;
    status = grids_folder(a, j->view, j->folder, err);
    if (status == UND_OK && j->view->grid_name)
        status = links_open(&j->links, a, j->scene, j->folder, err);
    if (status != UND_OK)
        return status;
    if (open_device(j, err) != UND_OK)
        return err->status;
    j->sim = und_sim_create(j->scene, j->threads, err);
    if (!j->sim)
        return err->status;
    if (draw) {
        und_quality quality;
        status = pictures_quality(a, j->view, UND_QUALITY_PREVIEW, &quality, err);
        if (status == UND_OK)
            status = und_path_set(j->pictures_folder, err, *pictures_folder(quality) ? "%s/%s" : "%s%s",
                                  j->folder, pictures_folder(quality));
        if (status != UND_OK)
            return status;
        pictures_def def = pictures_from_args(a, j->view, j->pictures_folder, j->first, j->last);
        def.quality = quality;
        def.overwrite = !a->resume;
        def.threads = j->threads;
        def.movie = true;
        def.stills = a->stills;
        j->pictures = pictures_create(&def, err);
        if (!j->pictures)
            return err->status;
        j->later = pictures_want_extent(j->view);
    }
    return load_exports(j, err);
}

/* A picture cut short by a signal is no failure: the frame is in the cache, and --resume draws it. */
static und_status draw_frame(job *j, const und_frame *frame, und_error *err)
{
    und_status status = j->exports ? exports_add(j->exports, frame, err) : UND_OK;
    const bool draws = j->pictures && !j->later;
    if (status == UND_OK && draws)
        status = pictures_add(j->pictures, frame, err);
    if (status == UND_STOPPED || ((draws || j->exports) && signals_stop()))
        j->undrawn = status == UND_STOPPED || frame->number < j->last;
    return status == UND_STOPPED ? UND_OK : status;
}

/* What an earlier run left is drawn again from the cache, so that the movie is whole. */
static und_status draw_earlier(job *j, int until, und_error *err)
{
    und_cache_info info = und_cache_describe(j->cache);
    und_status status = UND_OK;
    const bool draws = j->pictures && !j->later;
    if (draws && info.row_count > 0 && info.rows[0].frame <= until && !j->args->quiet)
        printf("drawing frames %d to %d again for the movie\n", info.rows[0].frame, until);
    for (int i = 0; i < info.row_count && (draws || j->exports) && status == UND_OK && !j->undrawn; i++) {
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        if (info.rows[i].frame > until)
            break;
        status = und_cache_read(j->cache, info.rows[i].frame, &frame, err);
        if (status == UND_OK)
            status = draw_frame(j, &frame, err);
        und_frame_clear(&frame);
        progress_frame(&j->progress, info.rows[i].frame);
    }
    return status;
}

/* What the whole run frames is known now. */
static und_status draw_later(job *j, und_error *err)
{
    const und_cache_info info = und_cache_describe(j->cache);
    und_extent extent = {.any = false};
    und_extent_of_cache(&extent, j->cache, 0);
    pictures_frame_on(j->pictures, &extent);
    und_status status = UND_OK;
    progress_end(&j->progress);
    progress_start(&j->progress, "draw", j->first, j->last, j->args->quiet);
    j->progress.only_draws = true;
    for (int i = 0; i < info.row_count && status == UND_OK && !signals_stop(); i++) {
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
        status = und_cache_read(j->cache, info.rows[i].frame, &frame, err);
        if (status == UND_OK)
            status = pictures_add(j->pictures, &frame, err);
        und_frame_clear(&frame);
        if (status == UND_OK)
            progress_frame(&j->progress, info.rows[i].frame);
    }
    j->undrawn = signals_stop();
    return status == UND_STOPPED ? UND_OK : status;
}

/* A branch that was stopped in its first frame goes on from the other's state. */
static und_status restore(job *j, const und_frame *state, und_error *err)
{
    und_cache_info info = und_cache_describe(j->cache);
    return info.branch && state->number == info.branch_frame ? und_sim_branch(j->sim, state, err)
                                                             : und_sim_restore(j->sim, state, err);
}

static und_status open_cache(job *j, bool *resumed, und_error *err)
{
    const args *a = j->args;
    und_cache_def def = {
        .folder = j->folder,
        .name = name_of(j),
        .grid = j->view->grid_name,
        .model = und_model_name(j->view->model),
        .scene_path = a->words[0],
        .scene_text = j->view->text,
        .settings = j->view->settings,
        .files = j->view->files,
        .file_count = j->view->file_count,
        .start = j->first,
        .end = j->last,
        .fps = j->view->fps,
        .compress = a->compress,
        .keep = a->keep,
        .threads = j->threads,
        .branch = j->branch.cache ? j->branch.folder : NULL,
        .branch_frame = j->branch.frame,
    };
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_status status = UND_OK;
    *resumed = false;
    if (!a->resume && j->branch.cache) {
        status = branch_state(&j->branch, a, j->sim, &state, err);
        def.branch_state = &state;
    }
    if (status == UND_OK)
        j->cache = a->resume ? und_cache_resume(&def, &state, err) : und_cache_create(&def, a->force, err);
    if (status == UND_OK && !j->cache)
        status = err->status;
    else if (status == UND_OK && a->resume && state.count > 0)
        status = restore(j, &state, err);
    if (status == UND_OK)
        status = links_begin(&j->links, j->folder, j->branch.cache, j->branch.frame, !a->resume, err);
    if (j->cache)
        j->first = und_cache_describe(j->cache).start; /* of a branch: the other cache's */
    *resumed = status == UND_OK && state.count > 0;
    und_frame_clear(&state);
    return status;
}

/* The whole state to disk; a run that goes on from it has the same bits. */
static und_status checkpoint(job *j, und_error *err)
{
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_status status = UND_OK;
    STAGE (&j->stage[STAGE_CHECKPOINT]) {
        status = links_sync(&j->links, err);
        if (status == UND_OK)
            status = und_sim_save(j->sim, &state, err);
        if (status == UND_OK)
            status = und_cache_checkpoint_as(j->cache, &state, und_sim_hash(j->sim), err);
    }
    und_frame_clear(&state);
    j->saved = und_sim_frame_number(j->sim);
    if (status == UND_OK && j->args->verbose && !j->progress.bar)
        printf("checkpoint at frame %d\n", j->saved);
    return status;
}

static und_status keep_frame(job *j, und_error *err)
{
    int number = und_sim_frame_number(j->sim);
    und_status status = UND_OK;
    const und_frame *frame = und_sim_frame(j->sim);
    if (!frame)
        return und_error_set(err, UND_FAILED, "out of memory: frame %d", number);
    if (number < j->first)
        return draw_frame(j, frame, err);
    und_ledger ledger = und_sim_ledger(j->sim);
    if (!isfinite(ledger.measured))
        return und_error_set(err, UND_FAILED, "frame %d: what the liquid's volume is has become no number",
                             number);
    STAGE (&j->stage[STAGE_WRITE])
        status = und_cache_write(j->cache, frame, &ledger, und_sim_hash(j->sim), err);
    if (status == UND_OK)
        status = draw_frame(j, frame, err);
    if (status == UND_OK && (number == j->last || number - j->saved >= j->args->checkpoint))
        status = checkpoint(j, err);
    progress_frame(&j->progress, number);
    return status;
}

/* Writes the state after a stage of the step; the first failure is kept and ends the run. */
static void dump_stage(void *context, const char *stage)
{
    job *j = context;
    und_frame state = und_frame_empty(und_sim_frame_number(j->sim), 0,
                                      (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_liquid *liquid = und_sim_liquid(j->sim);
    if (j->trouble.status == UND_OK && liquid->class->inspect(liquid, &state, &j->trouble) == UND_OK)
        und_cache_dump(j->cache, &state, ++j->dumped, stage, &j->trouble);
    und_frame_clear(&state);
}

/* Substeps up to the next frame, or to a signal. */
static und_status advance(job *j, und_error *err)
{
    bool done = false, step_done;
    und_status status = UND_OK;
    j->dumped = 0;
    for (int step = 1; !done && status == UND_OK && !signals_stop(); step++) {
        status = und_sim_part(j->sim, &step_done, &done, err);
        if (status == UND_OK && j->card)
            und_card_check(j->card);
        if (status == UND_OK)
            status = und_cache_settle(j->cache, err);
        progress_substep(&j->progress, und_sim_frame_number(j->sim) + !done, step);
    }
    j->mid_frame = !done;
    if (status == UND_OK && j->trouble.status != UND_OK) {
        *err = j->trouble;
        status = err->status;
    }
    return status;
}

static und_status run_frames(job *j, bool resumed, und_error *err)
{
    und_status status = UND_OK;
    if (resumed)
        status = draw_earlier(j, und_sim_frame_number(j->sim), err);
    else
        status = keep_frame(j, err);
    while (status == UND_OK && !signals_stop() && und_sim_frame_number(j->sim) < j->last) {
        status = advance(j, err);
        if (status == UND_OK && !j->mid_frame)
            status = keep_frame(j, err);
    }
    if (j->later && status == UND_OK && !signals_stop())
        status = draw_later(j, err);
    return status;
}

/* What fails in the middle: says what is left of the run, on a line of its own. */
static void add_what_is_kept(const job *j, const char *advice, und_error *err)
{
    und_cache_info info = und_cache_describe(j->cache);
    char note[640], kept[64] = "no frame is";
    if (info.row_count > 1)
        snprintf(kept, sizeof kept, "frames %d to %d are", info.rows[0].frame,
                 info.rows[info.row_count - 1].frame);
    else if (info.row_count == 1)
        snprintf(kept, sizeof kept, "frame %d is", info.rows[0].frame);
    int length = snprintf(note, sizeof note, "\n%s kept in %.400s; %s", kept, j->folder, advice);
    size_t room = sizeof err->text - (size_t)length, used = strlen(err->text);
    used = used < room ? used : room - 1;
    memcpy(err->text + used, note, (size_t)length + 1);
}

static void print_resumed(const job *j, bool resumed)
{
    int lost = und_cache_describe(j->cache).lost_frame, at = und_sim_frame_number(j->sim);
    if (lost < INT_MAX)
        printf("frame %d is missing: it and those after frame %d are made again\n", lost,
               resumed ? at : j->first - 1);
    if (resumed)
        printf("resuming after frame %d\n", at);
}

static void print_how_to_resume(const job *j, int at)
{
    printf("stopped at frame %d of %d; go on with\n ", at, j->last);
    args_print_resume(j->args, j->folder, stdout);
    printf("\n");
}

static und_status stop_run(job *j, und_error *err)
{
    int at = und_sim_frame_number(j->sim);
    und_status status = at == j->saved && !j->mid_frame ? UND_OK : checkpoint(j, err);
    if (status != UND_OK)
        return status;
    if (!j->args->quiet)
        print_how_to_resume(j, at);
    return UND_STOPPED;
}

/* Pictures, then the cache with the times of all stages; what failed first is what is reported. */
static und_status close_job(job *j, und_status status, und_error *err)
{
    und_stage stages[MAX_STAGES];
    und_error later = {0};
    int count = 0;
    if (j->pictures && pictures_finish(j->pictures, &later) != UND_OK && status == UND_OK) {
        *err = later;
        status = later.status;
    }
    const und_liquid *liquid = j->sim ? und_sim_liquid(j->sim) : NULL;
    for (; liquid && count < liquid->stage_count && count < MAX_STAGES / 2; count++)
        stages[count] = liquid->stages[count];
    for (int i = 0; i < STAGES; i++)
        stages[count++] = j->stage[i];
    if (j->pictures)
        count += pictures_stages(j->pictures, stages + count, MAX_STAGES - count);
    if (j->exports)
        count += exports_stages(j->exports, stages + count, MAX_STAGES - count);
    if (j->cache && und_cache_close(j->cache, stages, count, &later) != UND_OK &&
        (status == UND_OK || status == UND_STOPPED)) {
        *err = later;
        status = later.status;
    }
    if (j->args->profile && (status == UND_OK || status == UND_STOPPED))
        print_stages(stages, count);
    return status;
}

/* What is likely a mistake, before it has taken its time. */
static void warn_before(job *j, bool resumed)
{
    const und_frame *frame = resumed || j->args->quiet ? NULL : und_sim_frame(j->sim);
    if (frame)
        check_in_vain(j->view, frame, j->last > j->view->end ? j->last : j->view->end);
}

/* What would keep more of the liquid. */
static const char *cure_of(const und_scene_view *v)
{
    bool cells = v->model == UND_MODEL_CELLS, levelset = v->model == UND_MODEL_LEVELSET;
    if (levelset && v->levelset.surface_rule != UND_SURFACE_VOLUME)
        return "surface = \"volume\" loses none";
    if (cells && !v->cells.keep_volume)
        return "keep_volume = true puts it back, and more cells lose less";
    if (cells && v->cells.track == UND_TRACK_MARKERS)
        return "more cells, or more markers in each, keep closer to it";
    return cells || levelset ? "more cells keep closer to it"
                             : "more substeps, or more cells, keep closer to it";
}

static void warn_of_correction(const job *j)
{
    const double tell = 0.005;
    und_ledger l = und_sim_ledger(j->sim);
    double all = l.start + l.sources, share = all > 0 ? l.correction / all : 0;
    if (fabs(share) > tell)
        printf("warning    the liquid has %s %.2g %% that nothing explains (correction in the ledger): %s\n",
               share > 0 ? "gained" : "lost", 100 * fabs(share), cure_of(j->view));
}

/* Of a domain that ends nowhere nothing leaves but what falls, or flies, for ever. */
static void warn_of_fall(const job *j)
{
    const und_levelset_def *def = &j->view->levelset;
    const bool endless = j->view->model == UND_MODEL_LEVELSET && def->endless;
    const double left = und_sim_ledger(j->sim).left;
    if (endless && left > 0)
        printf(
            "warning    %.3g m3 went further than %g m from the origin and are gone (left in the ledger)\n",
            left, UND_LEVELSET_ENDLESS / 2 * def->dx);
}

static void print_made(const job *j)
{
    warn_of_correction(j);
    warn_of_fall(j);
    printf("cache  %s (frames %d to %d)\n", j->folder, j->first, j->last);
    if (j->pictures)
        pictures_print(j->pictures);
    if (j->exports)
        exports_print(j->exports);
}

und_status simulate(const args *a, const char *command, bool draw, und_error *err)
{
    job j = {.args = a, .threads = und_threads(a->threads)};
    j.stage[STAGE_WRITE].name = "cache write";
    j.stage[STAGE_CHECKPOINT].name = "cache checkpoint";
    bool resumed = false;
    und_status status = load_job(&j, draw, err);
    if (status == UND_OK && j.several) {
        status = grids_run(a, j.view, draw, err);
        und_scene_destroy(j.scene);
        return status;
    }
    if (status == UND_OK)
        status = open_cache(&j, &resumed, err);
    if (status == UND_OK) {
        j.saved = resumed ? und_sim_frame_number(j.sim) : j.first;
        warn_before(&j, resumed);
        signals_install();
        und_liquid *liquid = und_sim_liquid(j.sim);
        if (a->dump_stages)
            liquid->watch = (und_watch){dump_stage, &j};
        progress_start(&j.progress, j.view->grid_name ? links_title(&j.links, command) : command, j.first,
                       j.last, a->quiet);
        j.progress.bar = j.progress.bar && !j.view->grid_name; /* others write to the terminal too */
        if (!a->quiet && a->resume)
            print_resumed(&j, resumed);
        status = run_frames(&j, resumed, err);
        progress_end(&j.progress);
        const bool intact = status == UND_FAILED && und_sim_intact(j.sim);
        if (status == UND_INVALID)
            add_what_is_kept(&j, "run the corrected scene with --force", err);
        und_error ignored; /* what it waited for is the trouble to tell of */
        if (intact || (status == UND_FAILED && links_in_vain(&j.links)))
            checkpoint(&j, &ignored);
        if (intact)
            add_what_is_kept(&j, "with the file as it was, --resume goes on", err);
        if (status == UND_OK && signals_stop() && (und_sim_frame_number(j.sim) < j.last || j.undrawn))
            status = stop_run(&j, err);
    }
    status = close_job(&j, status, err);
    if (status == UND_OK && !a->quiet)
        print_made(&j);
    pictures_destroy(j.pictures);
    exports_destroy(j.exports);
    branch_close(&j.branch);
    links_close(&j.links);
    und_sim_destroy(j.sim);
    if (j.card && a->profile)
        und_card_print(j.card, stdout);
    und_card_close(j.card);
    und_scene_destroy(j.scene);
    return status;
}
