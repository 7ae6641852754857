/* undine check: what a scene will cost and what is likely a mistake in it, without running it. */
#include "check.h"

#include "app.h"
#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "render/render.h"
#include "scene/sim.h"

#include <math.h>
#include <sys/resource.h>

enum { TIMED_STEPS = 2 };

/* Pictures of 1.5 bytes a pixel that the encoder holds at once: 154 were measured at 640 x 360. */
static const double HELD_PICTURES = 160;

typedef struct cost {
    size_t frame_bytes, static_bytes, state_bytes;
    double memory; /* bytes */
    double step_seconds, draw_seconds;
    double parts; /* that the model takes a step in, to stay stable */
} cost;

static void count_bytes(const und_frame *frame, size_t *changing, size_t *fixed)
{
    for (int i = 0; i < frame->count; i++)
        *(frame->items[i].is_static ? fixed : changing) += und_item_bytes(&frame->items[i]);
}

/* How often the model's first stage was run. */
static long count_parts(und_sim *sim)
{
    und_liquid *liquid = und_sim_liquid(sim);
    return liquid->stage_count > 0 ? liquid->stages[0].calls : 0;
}

/* One step to touch the memory, two to take the time of. */
static und_status time_steps(und_sim *sim, cost *c, und_error *err)
{
    bool done;
    und_status status = und_sim_step(sim, &done, err);
    double start = und_clock();
    long before = count_parts(sim);
    for (int i = 0; i < TIMED_STEPS && status == UND_OK; i++)
        status = und_sim_step(sim, &done, err);
    c->step_seconds = (und_clock() - start) / TIMED_STEPS;
    c->parts = (double)(count_parts(sim) - before) / TIMED_STEPS;
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    if (status == UND_OK)
        status = und_sim_save(sim, &state, err);
    count_bytes(&state, &c->state_bytes, &c->state_bytes);
    und_frame_clear(&state);
    return status;
}

static und_picture_def picture_of(const und_scene_view *view, const args *a)
{
    und_picture_def def = view->render;
    def.threads = und_threads(a->threads);
    def.width = a->width ? a->width : def.width;
    def.height = a->height ? a->height : def.height;
    return def;
}

static und_status time_picture(const und_picture_def *def, const und_frame *frame, cost *c, und_error *err)
{
    und_image image = {0};
    und_render *render = und_render_create(def, err);
    und_status status = render ? und_image_create(&image, def->width, def->height, err) : err->status;
    if (status == UND_OK) {
        double start = und_clock();
        status = und_render_draw(render, frame, &image, err);
        c->draw_seconds = und_clock() - start;
    }
    und_image_destroy(&image);
    und_render_destroy(render);
    return status;
}

/* The most this process had, which has simulated and drawn, and what the movie takes on top. */
static double peak_memory(const und_picture_def *render)
{
    struct rusage usage;
    double peak = getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
    return peak + HELD_PICTURES * 1.5 * render->width * render->height;
}

static void print_cost(const und_scene_view *v, const cost *c, int first, int last)
{
    char a[32], b[32], d[32];
    int frames = last - first + 1, simulated = last - v->start;
    const char *part = frames == 1 ? "frame" : "frames";
    printf("frames     %d to %d at %g per second, %d substep%s each\n", first, last, v->fps, v->substeps,
           v->substeps == 1 ? "" : "s");
    if (c->parts > 1)
        printf("steps      %g a frame, as many as stay stable\n", ceil(c->parts * v->substeps));
    print_bytes(a, sizeof a, c->memory);
    print_bytes(b, sizeof b, (double)c->state_bytes);
    printf("memory     about %s to simulate, draw and make the movie; the state is %s of it\n", a, b);
    print_bytes(a, sizeof a, (double)c->frame_bytes);
    print_bytes(b, sizeof b, (double)c->frame_bytes * frames + (double)c->static_bytes);
    print_bytes(d, sizeof d, 2.0 * (double)c->state_bytes);
    printf("disk       %s a frame, %s for %d %s, %s for two checkpoints, before compression\n", a, b, frames,
           part, d);
    print_time(a, sizeof a, c->step_seconds * v->substeps * simulated);
    print_time(b, sizeof b, c->draw_seconds * frames);
    printf("time       about %s to simulate (%.3g s a step), %s to draw (%.3g s a picture)\n", a,
           c->step_seconds, b, c->draw_seconds);
}

static und_status check_scene(und_scene *scene, const args *a, und_error *err)
{
    const und_scene_view *v = und_scene_get(scene);
    int first = a->given & OPT_START ? a->start : v->start, last = a->given & OPT_END ? a->end : v->end;
    const und_picture_def picture = picture_of(v, a);
    cost c = {0};
    if (first < v->start || last < first)
        return und_error_set(err, UND_INVALID,
                             "frames %d to %d are not a part of the scene, which begins at %d", first, last,
                             v->start);
    und_sim *sim = und_sim_create(scene, picture.threads, err);
    if (!sim)
        return err->status;
    const und_frame *frame = und_sim_frame(sim);
    und_status status = frame ? UND_OK : und_error_set(err, UND_FAILED, "out of memory: the first frame");
    if (status == UND_OK) {
        char grid[128];
        print_grid(grid, sizeof grid, &frame->grid);
        count_bytes(frame, &c.frame_bytes, &c.static_bytes);
        if (!a->quiet) {
            printf("scene      %s, model %s\n", v->name, und_model_name(v->model));
            printf("grid       %s, %.0f in all\n", grid,
                   (double)frame->grid.n[0] * frame->grid.n[1] * frame->grid.n[2]);
            check_liquid(v, frame, last);
        }
        status = time_picture(&picture, frame, &c, err);
    }
    if (status == UND_OK)
        status = time_steps(sim, &c, err);
    const und_liquid *liquid = und_sim_liquid(sim);
    if (status == UND_FAILED && liquid->class->trouble && liquid->class->trouble(liquid, err) != UND_OK) {
        printf("warning    %s\n", err->text);
        status = UND_OK;
    }
    c.memory = peak_memory(&picture);
    if (status == UND_OK && !a->quiet)
        print_cost(v, &c, first, last);
    und_sim_destroy(sim);
    return status;
}

und_status command_check(const args *a, und_error *err)
{
    und_scene *scene = und_scene_load(a->words[0], a->settings, a->setting_count, err);
    if (!scene)
        return err->status;
    const und_scene_view *v = und_scene_get(scene);
    und_status status = UND_OK;
    for (int i = 0; v->grid_name && i < v->grid_count && status == UND_OK; i++) {
        const char *name = v->grids[v->grid_order[i]].name;
        status = und_scene_choose(scene, name, err);
        if (status == UND_OK && !a->quiet)
            printf("%sgrid %s\n", i > 0 ? "\n" : "", name);
        if (status == UND_OK)
            status = check_scene(scene, a, err);
    }
    if (!v->grid_name)
        status = check_scene(scene, a, err);
    und_scene_destroy(scene);
    return status;
}
