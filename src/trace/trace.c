/* A traced picture, in order. */
#include "trace/trace.h"

#include "base/maths.h"
#include "base/status.h"
#include "geom/value.h"
#include "render/render.h"

#include <stdlib.h>
#include <string.h>

enum { PREPARE, WORLD, LIGHTS, PHOTONS, EXPOSE, FLAT, TRACE_STAGES };

static const char *const stage_name[TRACE_STAGES] = {"prepare", "world",  "lights",
                                                     "photons", "expose", "flat"};

/* What a path may bring after it left a diffuse surface: more would be speckles. */
static const float CLAMP = 12;
/* How far waves too small for the grid spread the sun's image, radians: slopes of about 0.015. */
static const float GLINT = 0.03f;

struct und_trace {
    und_picture_def def;
    int threads;
    und_scenery *scenery;
    und_render *flat; /* draws what is flat; NULL until there is some */
    und_stage stage[TRACE_STAGES];
};

/* What is made of a frame. */
typedef struct setting {
    und_world *world;
    und_lights *lights;
    und_photons *photons;
} setting;

void und_trace_settle(und_picture_def *d)
{
    bool final = d->quality == UND_QUALITY_FINAL;
    d->noise = d->noise > 0 ? d->noise : final ? 0.008 : 0.02;
    if (d->least_samples == 0) {
        d->least_samples = final ? 64 : 16;
        if (d->most_samples > 0 && d->most_samples < d->least_samples)
            d->least_samples = d->most_samples;
    }
    d->most_samples = d->most_samples > 0 ? d->most_samples : final ? 4096 : 512;
    d->most_samples = d->most_samples > d->least_samples ? d->most_samples : d->least_samples;
    d->bounces = d->bounces > 0 ? d->bounces : final ? 32 : 16;
    /* The noise of caustics goes with the root of the photons. */
    double wanted = 1 * (0.02 / d->noise) * (0.02 / d->noise);
    d->photons = d->photons >= 0 ? d->photons : fmin(fmax(wanted, 0.01), 8);
}

und_trace *und_trace_create(const und_picture_def *def, und_error *err)
{
    und_trace *t = und_alloc(1, sizeof *t, "ray tracer", err);
    if (!t)
        return NULL;
    t->def = *def;
    und_trace_settle(&t->def);
    t->threads = und_threads(def->threads);
    for (int k = 0; k < TRACE_STAGES; k++)
        t->stage[k].name = stage_name[k];
    t->scenery = und_scenery_create(&t->def, false, err);
    if (t->scenery)
        return t;
    und_trace_destroy(t);
    return NULL;
}

void und_trace_destroy(und_trace *t)
{
    if (!t)
        return;
    und_render_destroy(t->flat);
    und_scenery_destroy(t->scenery);
    free(t);
}

und_status und_trace_observe(und_trace *t, const und_frame *frame, und_error *err)
{
    return und_scenery_observe(t->scenery, frame, err);
}

und_scenery *und_trace_stage(const und_trace *t)
{
    return t->scenery;
}

int und_trace_stages(const und_trace *t, const und_stage **list)
{
    *list = t->stage;
    return TRACE_STAGES;
}

/* How far along the camera's axis the point is that shall be sharp; behind the camera nothing can be. */
static float focus_on(const und_trace *t, const und_shot *c)
{
    double at[3];
    und_vector_at(t->def.focus_at, t->scenery->time, at);
    f3 away = f3_sub(f3_make((float)at[0], (float)at[1], (float)at[2]), c->eye);
    return maxf(f3_dot(away, c->forward), c->near);
}

/* The shutter closes at the frame's time, as in the preview. */
static und_film_lens make_lens(const und_trace *t)
{
    const und_scenery *stage = t->scenery;
    float distance, shutter = t->def.motion_blur ? (float)t->def.shutter : 0;
    und_shot c = und_scenery_camera(stage, stage->time - (double)shutter, &distance);
    und_film_lens lens = {.eye = c.eye, .right = c.right, .up = c.up, .forward = c.forward};
    c = und_scenery_camera(stage, stage->time, &distance);
    lens.eye1 = c.eye;
    lens.right1 = c.right;
    lens.up1 = c.up;
    lens.forward1 = c.forward;
    lens.half_height = und_tanf((float)(0.5 * t->def.fov * M_PI / 180));
    lens.radius = (float)t->def.lens;
    lens.focus = t->def.focus_at ? focus_on(t, &c) : t->def.focus > 0 ? (float)t->def.focus : distance;
    lens.time[0] = -shutter;
    return lens;
}

static f3 look(const void *of, const und_ray *ray, und_dice *dice, und_hit *first)
{
    return und_trace_path(of, ray, dice, first);
}

static und_status expose(und_trace *t, const setting *s, und_layers *layers, und_film_report *report,
                         und_error *err)
{
    const und_picture_def *d = &t->def;
    const und_film_def film = {.width = d->width,
                               .height = d->height,
                               .least = d->least_samples,
                               .most = d->most_samples,
                               .noise = (float)d->noise,
                               .filter = d->filter,
                               .filter_radius = (float)d->filter_radius,
                               .gain = und_exp2f((float)d->exposure),
                               .tone = d->tone,
                               .seed = 1,
                               .threads = t->threads,
                               .stop = d->stop,
                               .told = d->told,
                               .told_context = d->told_context};
    const und_paths paths = {.world = s->world,
                             .lights = s->lights,
                             .photons = s->photons,
                             .bounces = d->bounces,
                             .clamp = CLAMP,
                             .glint = GLINT};
    und_film_lens lens = make_lens(t);
    return und_film_expose(&film, &lens, (und_subject){look, &paths}, layers, report, err);
}

static bool stopped(const und_trace *t)
{
    return t->def.stop && t->def.stop();
}

static und_status make_lights(und_trace *t, setting *s, und_error *err)
{
    und_lights_def def = {.sky = &t->scenery->sky,
                          .sun_angle = (float)t->def.sun_angle,
                          .lamps = t->def.lamps,
                          .lamp_count = t->def.lamp_count};
    STAGE (&t->stage[LIGHTS])
        s->lights = und_lights_create(&def, err);
    return s->lights ? UND_OK : err->status;
}

/* The seed is the same in every frame: what is left of the noise stands still, as grain of the screen, where
 * nothing moves. */
static und_status send_photons(und_trace *t, setting *s, und_error *err)
{
    /* Broad lights blur what they focus, and lay their photons down less evenly. */
    enum { NARROW = 96, BROAD = 192 };
    f3 sun = t->scenery->sky.sun_color;
    bool broad = t->def.sun_angle > 2 || !(sun.x + sun.y + sun.z > 0);
    und_photons_def def = {.world = s->world,
                           .lights = s->lights,
                           .count = (size_t)(1e6 * t->def.photons),
                           .nearest = broad ? BROAD : NARROW,
                           .seed = 2,
                           .bounces = t->def.bounces,
                           .threads = t->threads,
                           .stop = t->def.stop};
    if (def.count == 0)
        return UND_OK;
    STAGE (&t->stage[PHOTONS])
        s->photons = und_photons_create(&def, err);
    return s->photons ? UND_OK : err->status;
}

static und_status trace_frame(und_trace *t, const und_frame *frame, setting *s, und_layers *layers,
                              und_film_report *report, und_error *err)
{
    STAGE (&t->stage[WORLD])
        s->world = und_world_create(t->scenery, frame, err);
    und_status status = s->world ? make_lights(t, s, err) : err->status;
    if (status == UND_OK && !stopped(t))
        status = send_photons(t, s, err);
    if (status == UND_OK && stopped(t))
        status = und_error_set(err, UND_STOPPED, "stopped");
    if (status == UND_OK)
        STAGE (&t->stage[EXPOSE])
            status = expose(t, s, layers, report, err);
    return status;
}

static und_status draw_flat(und_trace *t, const und_frame *frame, und_layers *layers, und_error *err)
{
    und_image image = {layers->width, layers->height, layers->rgb};
    if (!t->flat && !(t->flat = und_render_on(t->scenery, err)))
        return UND_FAILED;
    und_status status = UND_OK;
    STAGE (&t->stage[FLAT])
        status = und_render_draw(t->flat, frame, &image, err);
    size_t count = (size_t)layers->width * (size_t)layers->height;
    for (size_t i = 0; i < count; i++) {
        layers->alpha[i] = 1;
        layers->depth[i] = INFINITY;
    }
    return status;
}

und_status und_trace_draw(und_trace *t, const und_frame *frame, und_layers *layers, und_film_report *report,
                          und_error *err)
{
    und_status status = UND_OK;
    *report = (und_film_report){0};
    und_drawing drawing = und_drawing_of(t->scenery, frame);
    if (drawing == UND_DRAWS_SECTION || drawing == UND_DRAWS_PLOT)
        return draw_flat(t, frame, layers, err);
    STAGE (&t->stage[PREPARE])
        status = und_scenery_prepare(t->scenery, frame, err);
    setting s = {0};
    if (status == UND_OK)
        status = trace_frame(t, frame, &s, layers, report, err);
    und_photons_destroy(s.photons);
    und_lights_destroy(s.lights);
    if (s.world)
        und_world_destroy(s.world);
    return status;
}
