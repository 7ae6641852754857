#include "scene/sim.h"

#include "base/parallel.h"
#include "base/status.h"
#include "grid/state.h"
#include "liquid/cells.h"
#include "liquid/columns.h"
#include "liquid/levelset.h"
#include "liquid/waves.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MARK_FRAME, MARK_SUBSTEP, MARK_SUBSTEPS, MARK_WITHIN, MARKS };

struct und_sim {
    und_scene *scene;
    und_liquid *liquid;
    und_floating_bodies *floating_bodies; /* bodies in its flow, or NULL */
    int threads;
    /* Time is a count of steps, so that a resumed run has the same bits. */
    int number;  /* of the last whole frame */
    int substep; /* steps done since */
    int substeps;
    bool within; /* a step that has begun */
    bool loose;  /* its steps were not the scene's: the liquid's own clock counts */
    double dt;
    int32_t mark[MARKS]; /* the same, as saved */
    und_frame frame;
    bool frame_made;
};

static und_liquid *create_waves(const und_scene_view *view, int threads, und_error *err)
{
    und_waves_def def = view->waves;
    def.height_field.threads = threads;
    def.height_field.time = view->begin;
    und_waves *waves = und_waves_create(&def, err);
    return waves ? und_waves_liquid(waves) : NULL;
}

static und_liquid *create_columns(const und_scene_view *view, int threads, und_error *err)
{
    und_columns_def def = view->columns;
    def.height_field.threads = threads;
    def.height_field.time = view->begin;
    und_columns *columns = und_columns_create(&def, err);
    return columns ? und_columns_liquid(columns) : NULL;
}

static und_liquid *create_cells(const und_scene_view *view, int threads, und_error *err)
{
    und_cells_def def = view->cells;
    def.threads = threads;
    und_cells *cells = und_cells_create(&def, err);
    return cells ? und_cells_liquid(cells) : NULL;
}

static und_liquid *create_levelset(const und_scene_view *view, int threads, und_error *err)
{
    und_levelset_def def = view->levelset;
    def.threads = threads;
    und_levelset *levelset = und_levelset_create(&def, err);
    return levelset ? und_levelset_liquid(levelset) : NULL;
}

typedef und_liquid *create_fn(const und_scene_view *view, int threads, und_error *err);
static create_fn *const create_liquid[] = {[UND_MODEL_WAVES] = create_waves,
                                           [UND_MODEL_COLUMNS] = create_columns,
                                           [UND_MODEL_CELLS] = create_cells,
                                           [UND_MODEL_LEVELSET] = create_levelset};

/* Frame k stands at begin + (k - start) / fps. */
static double time_of(const und_sim *sim)
{
    const und_scene_view *view = und_scene_get(sim->scene);
    if (sim->loose)
        return *sim->liquid->time;
    return view->begin + ((double)sim->number - view->start) / view->fps + sim->substep * sim->dt;
}

/* Of a state: after its last step even where the model has not moved the clock of the one that has begun. */
static double time_of_state(const und_sim *sim)
{
    double time = time_of(sim);
    return sim->within ? fmax(*sim->liquid->time, nextafter(time, INFINITY)) : time;
}

/* What the liquid shows, without the bodies in its flow. */
static und_status show_liquid(und_sim *sim, und_frame *frame, und_error *err)
{
    und_frame_recycle(frame);
    frame->number = sim->number;
    frame->time = time_of(sim);
    frame->grid = und_scene_get(sim->scene)->grid;
    return sim->liquid->class->frame(sim->liquid, frame, err);
}

static und_status make_frame(und_sim *sim, und_error *err)
{
    sim->frame_made = false;
    return show_liquid(sim, &sim->frame, err);
}

und_floating_bodies_def und_sim_floating_bodies_def(const und_scene_view *bodies,
                                                    const und_scene_view *liquid, int threads)
{
    und_floating_bodies_def def = bodies->floating_bodies;
    memcpy(def.gravity, liquid->cells.gravity, sizeof def.gravity);
    def.density = liquid->cells.density;
    def.threads = threads;
    return def;
}

static und_status create_bodies(und_sim *sim, const und_scene_view *view, und_error *err)
{
    und_floating_bodies_def def = und_sim_floating_bodies_def(view, view, sim->threads);
    if (def.body_count == 0)
        return UND_OK;
    und_status status = make_frame(sim, err);
    if (status == UND_OK && !(sim->floating_bodies = und_floating_bodies_create(&def, &sim->frame, err)))
        status = err->status;
    return status;
}

und_sim *und_sim_create(und_scene *scene, int threads, und_error *err)
{
    const und_scene_view *view = und_scene_get(scene);
    assert(view->model != UND_MODEL_NONE);
    und_sim *sim = und_alloc(1, sizeof *sim, "a simulation", err);
    if (!sim)
        return NULL;
    sim->scene = scene;
    sim->threads = und_threads(threads);
    sim->number = view->start;
    sim->substeps = view->substeps;
    sim->dt = 1 / (view->fps * view->substeps);
    und_scene_begin_calls(scene);
    sim->liquid = create_liquid[view->model](view, sim->threads, err);
    if (!sim->liquid) {
        (void)und_scene_trouble(scene, err); /* it may be why */
        free(sim);
        return NULL;
    }
    if (und_scene_trouble(scene, err) != UND_OK || create_bodies(sim, view, err) != UND_OK) {
        und_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

void und_sim_destroy(und_sim *sim)
{
    if (!sim)
        return;
    und_frame_clear(&sim->frame);
    und_floating_bodies_destroy(sim->floating_bodies);
    sim->liquid->class->destroy(sim->liquid);
    free(sim);
}

und_liquid *und_sim_liquid(und_sim *sim)
{
    return sim->liquid;
}

/* Bodies go from frame to frame, as they do in a flow from a cache: they get the same bits. */
static und_status float_bodies(und_sim *sim, und_error *err)
{
    und_status status = make_frame(sim, err);
    return status == UND_OK ? und_floating_bodies_advance(sim->floating_bodies, &sim->frame, err) : status;
}

static und_status step_part(und_sim *sim, double dt, bool *step_done, und_error *err)
{
    const und_liquid_class *class = sim->liquid->class;
    und_scene_begin_calls(sim->scene);
    *step_done = class->step(sim->liquid, dt);
    sim->frame_made = false;
    sim->within = !*step_done;
    return class->trouble ? class->trouble(sim->liquid, err) : UND_OK;
}

und_status und_sim_part(und_sim *sim, bool *step_done, bool *frame_done, und_error *err)
{
    *frame_done = false;
    if (step_part(sim, sim->dt, step_done, err) != UND_OK)
        return err->status;
    sim->substep += *step_done;
    if (sim->substep == sim->substeps) {
        sim->substep = 0;
        sim->number++;
        *frame_done = true;
        if (sim->floating_bodies && float_bodies(sim, err) != UND_OK)
            return err->status;
    }
    return und_scene_trouble(sim->scene, err);
}

/* The last frame whose time the liquid's clock has reached. */
static void number_by_clock(und_sim *sim)
{
    const und_scene_view *view = und_scene_get(sim->scene);
    double frames = (*sim->liquid->time - view->begin) * view->fps;
    sim->number = view->start + (int)fmin(floor(frames + 1e-6), INT32_MAX / 2);
    sim->substep = 0;
}

und_status und_sim_play_part(und_sim *sim, double dt, bool *step_done, und_error *err)
{
    sim->loose = true;
    if (step_part(sim, dt, step_done, err) != UND_OK)
        return err->status;
    if (*step_done) {
        number_by_clock(sim);
        if (sim->floating_bodies && float_bodies(sim, err) != UND_OK)
            return err->status;
    }
    return und_scene_trouble(sim->scene, err);
}

double und_sim_to_frame(const und_sim *sim)
{
    const und_scene_view *view = und_scene_get(sim->scene);
    double frames = (*sim->liquid->time - view->begin) * view->fps, next = ceil(frames - 1e-6);
    return fabs(next - frames) <= 1e-6 ? 0 : (next - frames) / view->fps;
}

void und_sim_changed(und_sim *sim)
{
    sim->frame_made = false;
}

bool und_sim_intact(const und_sim *sim)
{
    const und_liquid_class *class = sim->liquid->class;
    return class->intact && class->intact(sim->liquid);
}

und_status und_sim_step(und_sim *sim, bool *frame_done, und_error *err)
{
    bool done = false;
    und_status status = UND_OK;
    while (!done && status == UND_OK)
        status = und_sim_part(sim, &done, frame_done, err);
    return status;
}

und_status und_sim_advance(und_sim *sim, und_error *err)
{
    bool done = false;
    und_status status = UND_OK;
    while (!done && status == UND_OK)
        status = und_sim_step(sim, &done, err);
    return status;
}

int und_sim_frame_number(const und_sim *sim)
{
    return sim->number;
}

const und_frame *und_sim_frame(und_sim *sim)
{
    if (!sim->frame_made) {
        und_error err;
        if (make_frame(sim, &err) != UND_OK ||
            (sim->floating_bodies &&
             und_floating_bodies_frame(sim->floating_bodies, &sim->frame, &err) != UND_OK))
            return NULL;
        sim->frame_made = true;
    }
    return &sim->frame;
}

und_status und_sim_write_frame(und_sim *sim, und_frame *frame, und_error *err)
{
    und_status status = show_liquid(sim, frame, err);
    return status == UND_OK && sim->floating_bodies
               ? und_floating_bodies_frame(sim->floating_bodies, frame, err)
               : status;
}

und_ledger und_sim_ledger(const und_sim *sim)
{
    return sim->liquid->class->ledger(sim->liquid);
}

/* The item borrows the mark. */
static und_status mark_state(const und_sim *sim, int32_t mark_now[MARKS], und_frame *state, und_error *err)
{
    und_item_def mark = {
        .name = "sim", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {MARKS}};
    mark_now[MARK_FRAME] = sim->number;
    mark_now[MARK_SUBSTEP] = sim->substep;
    mark_now[MARK_SUBSTEPS] = sim->substeps;
    mark_now[MARK_WITHIN] = sim->within;
    state->number = sim->number;
    state->time = time_of_state(sim);
    state->grid = und_scene_get(sim->scene)->grid;
    return und_frame_borrow(state, &mark, mark_now, err) ? UND_OK : UND_FAILED;
}

static und_status save_bodies(const und_sim *sim, und_frame *state, und_error *err)
{
    return sim->floating_bodies ? und_floating_bodies_save(sim->floating_bodies, state, err) : UND_OK;
}

/* The items borrow what they tell of the liquid. */
static und_status save_parts(const und_sim *sim, und_frame *state, und_error *err)
{
    und_status status = sim->liquid->class->save(sim->liquid, state, err);
    return status == UND_OK ? save_bodies(sim, state, err) : status;
}

und_status und_sim_save(und_sim *sim, und_frame *state, und_error *err)
{
    und_status status = mark_state(sim, sim->mark, state, err);
    return status == UND_OK ? save_parts(sim, state, err) : status;
}

static und_status read_mark(const und_frame *state, int32_t mark[MARKS], und_error *err)
{
    const und_item *item = und_frame_find(state, "sim");
    if (!item || item->type != UND_I32 || item->rank != 1 || item->dim[0] != MARKS || !item->data)
        return und_error_set(err, UND_FAILED, "the saved state has no item \"sim\": it is damaged");
    memcpy(mark, item->data, MARKS * sizeof *mark);
    return UND_OK;
}

static und_status restore_at(und_sim *sim, const int32_t mark[MARKS], const und_frame *state, und_error *err)
{
    if (mark[MARK_FRAME] < und_scene_start(sim->scene) || mark[MARK_SUBSTEP] < 0 ||
        mark[MARK_SUBSTEP] >= sim->substeps)
        return und_error_set(err, UND_FAILED, "the saved state stands at frame %d, substep %d: it is damaged",
                             mark[MARK_FRAME], mark[MARK_SUBSTEP]);
    und_status status = sim->liquid->class->restore(sim->liquid, state, err);
    if (status == UND_OK && sim->floating_bodies)
        status = und_floating_bodies_restore(sim->floating_bodies, state, err);
    if (status != UND_OK)
        return status;
    sim->number = mark[MARK_FRAME];
    sim->substep = mark[MARK_SUBSTEP];
    sim->within = mark[MARK_WITHIN] != 0;
    sim->frame_made = false;
    return UND_OK;
}

und_status und_sim_restore(und_sim *sim, const und_frame *state, und_error *err)
{
    int32_t mark[MARKS];
    und_status status = read_mark(state, mark, err);
    if (status == UND_OK && mark[MARK_SUBSTEPS] != sim->substeps)
        status = und_error_set(err, UND_INVALID,
                               "the state was saved with %d substeps per frame, the scene has %d",
                               mark[MARK_SUBSTEPS], sim->substeps);
    return status == UND_OK ? restore_at(sim, mark, state, err) : status;
}

/* The grids' cells are the same ones. */
static und_status check_grid(const und_scene_view *view, const und_grid *was, und_error *err)
{
    const und_grid *is = &view->grid;
    if (is->n[0] != was->n[0] || is->n[1] != was->n[1] || is->n[2] != was->n[2])
        return und_error_set(err, UND_INVALID,
                             "%s has %d x %d x %d cells, and what it is to go on from %d x %d x %d: a branch "
                             "keeps the grid",
                             view->path, is->n[0], is->n[1], is->n[2], was->n[0], was->n[1], was->n[2]);
    for (int a = 0; a < 3; a++) {
        double size = und_grid_size(is, a), before = und_grid_size(was, a);
        if (!(fabs(size - before) <= 1e-9 * before))
            return und_error_set(err, UND_INVALID,
                                 "%s has cells of %g m, and what it is to go on from of %g m: a branch keeps "
                                 "the grid",
                                 view->path, size, before);
        if (!(fabs(is->origin[a] - was->origin[a]) <= 1e-6 * before))
            return und_error_set(
                err, UND_INVALID,
                "%s has its origin at %g m along %c, and what it is to go on from at %g m: a "
                "branch keeps the grid",
                view->path, is->origin[a], "xyz"[a], was -> origin[a]);
    }
    return UND_OK;
}

/* The items of a state, and the one that says whose they are. */
static und_status mark_branch(const und_frame *state, und_frame *marked, und_error *err)
{
    for (int i = 0; i < state->count; i++) {
        const und_item *item = &state->items[i];
        und_item_def def = {item->name, item->unit, item->kind, item->type, item->is_static, item->rank, {0}};
        memcpy(def.dim, item->dim, sizeof def.dim);
        if (!und_frame_borrow(marked, &def, item->data, err))
            return err->status;
    }
    und_item_def def = {
        .name = UND_STATE_BRANCH, .unit = "", .kind = UND_NUMBERS, .type = UND_U8, .rank = 1, .dim = {1}};
    return und_frame_add(marked, &def, err) ? UND_OK : err->status;
}

und_status und_sim_branch(und_sim *sim, const und_frame *state, und_error *err)
{
    const und_scene_view *view = und_scene_get(sim->scene);
    int32_t mark[MARKS];
    und_status status = read_mark(state, mark, err);
    if (status == UND_OK && (mark[MARK_SUBSTEP] != 0 || mark[MARK_WITHIN]))
        return und_sim_restore(sim, state, err); /* a branch that was stopped on its way to the next frame */
    if (status == UND_OK)
        status = check_grid(view, &state->grid, err);
    double time = status == UND_OK ? view->begin + ((double)mark[MARK_FRAME] - view->start) / view->fps : 0;
    if (status == UND_OK && !(fabs(time - state->time) <= 1e-9 * fmax(1, fabs(time))))
        status = und_error_set(err, UND_INVALID,
                               "frame %d of %s is at %g s, and that of what it is to go on from at %g s: a "
                               "branch keeps start and fps",
                               mark[MARK_FRAME], view->path, time, state->time);
    und_frame marked = und_frame_empty(state->number, state->time, state->grid);
    if (status == UND_OK)
        status = mark_branch(state, &marked, err);
    if (status == UND_OK)
        status = restore_at(sim, mark, &marked, err);
    und_frame_clear(&marked);
    return status;
}

uint64_t und_sim_hash(const und_sim *sim)
{
    und_frame state = und_frame_empty(0, 0, (und_grid){0});
    uint64_t hash = 0;
    int32_t mark[MARKS];
    uint64_t (*own)(und_liquid *) = sim->liquid->class->hash;
    if (mark_state(sim, mark, &state, NULL) == UND_OK &&
        (own ? save_bodies : save_parts)(sim, &state, NULL) == UND_OK)
        hash = und_frame_hash(&state, sim->threads) ^ (own ? own(sim->liquid) : 0);
    und_frame_clear(&state);
    return hash;
}
