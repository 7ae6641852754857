/* Pictures of height-field water: what is made of a frame, in order. */
#include "base/maths.h"
#include "base/pages.h"
#include "geom/value.h"
#include "render/internal.h"

#include <stdlib.h>

static const char *const stage_name[STAGES] = {
    [STAGE_MESH] = "mesh",       [STAGE_SKY] = "sky",
    [STAGE_SHADOWS] = "shadows", [STAGE_CAUSTICS] = "illumination",
    [STAGE_SCAN] = "scan",       [STAGE_SHADE] = "shade",
    [STAGE_SHEETS] = "sheets",   [STAGE_DROPS] = "drops",
    [STAGE_SECTION] = "section", [STAGE_PLOT] = "plot",
};

und_render_def und_render_def_default(void)
{
    return (und_render_def){
        .width = 1280,
        .height = 720,
        .samples = 2,
        .fov = 40,
        .sun = {.constant = {-0.5, 0.65, -0.4}},
        .sun_color = {2.3f, 2.05f, 1.7f},
        .sky_zenith = {0.045f, 0.155f, 0.46f},
        .sky_horizon = {0.50f, 0.68f, 0.86f},
        .clouds = 0.35,
        .water_color = {0.006f, 0.065f, 0.125f},
        .absorption = {0.70f, 0.13f, 0.06f},
        .dye_color = {0.55f, 0.05f, 0.12f},
        .dye_strength = 8,
        .paint = {.color = {{0.80f, 0.74f, 0.60f}, {0.42f, 0.05f, 0.03f}}},
        .gloss = 0.6,
        .refraction = 1.333,
        .ripples = 0.35,
        .caustics = 2,
        .ground_color = {0.54f, 0.43f, 0.30f},
        .rock_color = {0.20f, 0.17f, 0.145f},
        .rock_slope = 38,
        .grass_color = {0.08f, 0.14f, 0.03f},
        .grass_height = INFINITY,
        .tile = 0.3,
        .grout = 0.012,
        .tile_color = {0.34f, 0.66f, 0.76f},
        .grout_color = {0.78f, 0.84f, 0.84f},
        .grain = 0.35,
        .texture = 1,
        .wet_darkening = 0.5,
        .sheen = 0.5,
        .drying = 8,
        .foam = 1,
        .haze = INFINITY,
        .shutter = 1.0 / 60,
        .rain_width = 0.004,
        .tone = true,
        .vertical = 1,
        .sides = true,
        .background = {0.94f, 0.96f, 0.98f},
        .photons = -1,
        .sun_angle = 0.53,
        .motion_blur = true,
    };
}

static und_status check(const und_render_def *d, und_error *err)
{
    if (d->width < 1 || d->height < 1 || d->width > 16384 || d->height > 16384)
        return und_error_set(err, UND_INVALID, "a picture is 1 to 16384 pixels wide and high, not %d x %d",
                             d->width, d->height);
    if (d->samples < 1 || d->samples > 8)
        return und_error_set(err, UND_INVALID, "samples: expected 1 to 8, found %d", d->samples);
    if (!(d->noise >= 0 && d->noise <= 1) || d->least_samples < 0 || d->most_samples < 0 || d->bounces < 0)
        return und_error_set(err, UND_INVALID, "noise (at most 1), samples and bounces cannot be negative");
    if (!(d->lens >= 0 && d->focus >= 0 && d->sun_angle >= 0 && d->sun_angle <= 90) || !(d->photons < 1e4))
        return und_error_set(err, UND_INVALID, "lens, focus, the sun's angle or photons are out of range");
    if (d->blur < 0 || d->blur > 256)
        return und_error_set(err, UND_INVALID, "blur: expected 0 to 256, found %d", d->blur);
    if (!(d->tile > 0))
        return und_error_set(err, UND_INVALID, "tile: expected a side above 0, found %g", d->tile);
    if (!(d->fov >= 1 && d->fov <= 150))
        return und_error_set(err, UND_INVALID, "fov: expected 1 to 150 degrees, found %g", d->fov);
    if (!(d->refraction >= 1 && d->refraction <= 4))
        return und_error_set(err, UND_INVALID, "refraction: expected an index from 1 to 4, found %g",
                             d->refraction);
    if (!(d->vertical > 0 && d->vertical <= 1000))
        return und_error_set(err, UND_INVALID, "vertical: expected a factor up to 1000, found %g",
                             d->vertical);
    if (!(d->grain > 0) || !(d->rock_slope > 0 && d->rock_slope < 90))
        return und_error_set(err, UND_INVALID, "grain and rock_slope (under 90 degrees) must be positive");
    if ((d->sky && (!d->sky->rgb || d->sky->width < 2 || d->sky->height < 2)) ||
        (d->ground_map && (!d->ground_map->rgb || d->ground_map->width < 2 || d->ground_map->height < 2)))
        return und_error_set(err, UND_INVALID, "a map of the sky or the ground needs 2 x 2 pixels or more");
    return UND_OK;
}

und_render *und_render_create(const und_render_def *def, und_error *err)
{
    if (check(def, err) != UND_OK)
        return NULL;
    und_render *r = und_alloc(1, sizeof *r, "renderer", err);
    if (!r)
        return NULL;
    r->def = *def;
    r->threads = und_threads(def->threads);
    r->rock_edge = und_tanf((float)(def->rock_slope * M_PI / 180));
    for (int k = 0; k < STAGES; k++)
        r->stage[k].name = stage_name[k];
    size_t count = (size_t)def->width * (size_t)def->height * (size_t)(def->samples * def->samples);
    r->buffers.opaque = und_alloc(count, sizeof(float), "z-buffer", err);
    r->buffers.water = und_alloc(count, sizeof(float), "z-buffer", err);
    r->buffers.id = und_alloc(count, sizeof(int32_t), "z-buffer", err);
    if (!r->buffers.opaque || !r->buffers.water || !r->buffers.id ||
        und_pattern_bake(&r->pattern, &r->ripple, r->threads, err) != UND_OK) {
        und_render_destroy(r);
        return NULL;
    }
    return r;
}

static void free_soup(und_drawn_mesh *s)
{
    void *owned[] = {s->normal, s->next, s->slot, s->shadow, s->posed, s->placed, s->speed};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    und_tree_free(s);
}

void und_render_destroy(und_render *r)
{
    if (!r)
        return;
    void *owned[] = {
        r->pattern.texel,       r->ripple.texel,        r->sky.texel,         r->samples.ground,
        r->samples.surface,     r->samples.depth,       r->samples.open,      r->samples.wet,
        r->samples.wet_smooth,  r->samples.wet_scratch, r->samples.ring,      r->mesh.ground,
        r->mesh.depth,          r->caustics.light,      r->caustics.landing,  r->caustics.reach,
        r->caustics.kernel,     r->buffers.liquid,      r->buffers.liquid_id, r->solid_corners.memory,
        r->rest_corners.memory, r->paint.memory,        r->around.open,       r->mark,
        r->buffers.opaque,      r->buffers.water,       r->buffers.id,        r->ground_vertex,
        r->water_vertex,        r->sun_scratch,         r->drops.memory,      r->drop_keys.memory,
        r->films.memory};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    free_soup(&r->soup);
    free_soup(&r->sheet);
    free_soup(&r->liquid);
    und_pages_free(r->mesh.node);
    und_voxels_free(&r->voxels);
    und_isosurface_free(&r->skin);
    und_texture_map_destroy(r->texture);
    free(r);
}

int und_render_stages(const und_render *r, const und_stage **list)
{
    *list = r->stage;
    return STAGES;
}

static f3 vector_at(const und_vector *v, double time)
{
    double out[3];
    und_vector_at(v, time, out);
    return f3_make((float)out[0], (float)out[1], (float)out[2]);
}

static const float FROM_ABOVE = 0.42f, FROM_HIGH = 0.7f; /* cameras over a box, over water */

/* The block that is cut out of ground and water. */
static und_box whole_block(const und_mesh *m, float level)
{
    return (und_box){f3_make(m->x0, m->base, m->z0), f3_make(m->x1, maxf(level, m->ground_high), m->z1)};
}

/* Where the scene's camera is; false where it has none. */
static bool camera_at(const und_render_def *def, double time, f3 *eye, f3 *look)
{
    *eye = vector_at(&def->eye, time);
    *look = vector_at(&def->look, time);
    f3 to = f3_sub(*look, *eye);
    float length = sqrtf(f3_dot(to, to));
    return length > 0 && isfinite(length);
}

bool und_render_has_camera(const und_render_def *def)
{
    f3 eye, look;
    return def->eye.fn || def->look.fn || camera_at(def, 0, &eye, &look);
}

void und_render_frame_on(und_render *r, const und_extent *extent)
{
    r->def.framed = *extent;
}

static void turn_camera(und_shot *c, f3 eye, f3 look)
{
    c->eye = eye;
    c->forward = f3_unit(f3_sub(look, eye));
    f3 up = fabsf(c->forward.y) > 0.9999f ? f3_make(0, 0, -1) : f3_make(0, 1, 0);
    c->right = f3_unit(f3_cross(c->forward, up));
    c->up = f3_cross(c->right, c->forward);
}

static void put(double to[3], f3 v)
{
    to[0] = (double)v.x;
    to[1] = (double)v.y;
    to[2] = (double)v.z;
}

und_plate und_render_plate(const und_render_def *def, const und_frame *frame)
{
    und_plate plate = {.half = und_tan(0.5 * def->fov * M_PI / 180),
                       .aspect = (double)def->width / def->height};
    und_shot c = {0};
    f3 eye, look;
    und_box box = und_box_framed(def, und_box_of(frame, NULL));
    if (!camera_at(def, isfinite(frame->time) ? frame->time : 0, &eye, &look))
        und_box_frame(def, &box, FROM_ABOVE, &eye, &look);
    turn_camera(&c, eye, look);
    put(plate.eye, c.eye);
    put(plate.right, c.right);
    put(plate.up, c.up);
    put(plate.forward, c.forward);
    return plate;
}

und_shot und_camera_at(const und_render *r, double time, float *distance)
{
    und_shot camera = {0}, *c = &camera;
    f3 eye, look;
    bool given = camera_at(&r->def, time, &eye, &look);
    if (!given) {
        und_box box = r->drawing == UND_DRAWS_BOX ? und_box_framed(&r->def, r->box)
                                                  : whole_block(&r->mesh, r->samples.level);
        und_box_frame(&r->def, &box, r->drawing == UND_DRAWS_BOX ? FROM_ABOVE : FROM_HIGH, &eye, &look);
    }
    turn_camera(c, eye, look);
    *distance = sqrtf(f3_dot(f3_sub(look, eye), f3_sub(look, eye)));
    c->width = r->def.width * r->def.samples;
    c->height = r->def.height * r->def.samples;
    c->focal = 0.5f * (float)c->height / und_tanf(0.5f * (float)(r->def.fov * M_PI / 180));
    /* A table reaches far behind the eye: what is cut closer to it would be too large to be drawn. */
    c->near = (r->drawing == UND_DRAWS_BOX ? 2e-2f : 1e-4f) * r->mesh.span;
    return camera;
}

und_status und_render_observe(und_render *r, const und_frame *frame, und_error *err)
{
    und_status status = UND_OK;
    und_plot_data plot;
    r->drawing = und_drawing_of(r, frame);
    if (r->drawing == UND_DRAWS_BOX)
        return UND_OK; /* nothing of it is remembered */
    if (r->drawing == UND_DRAWS_PLOT && und_plot_read(frame, &plot))
        und_plot_observe(&r->plot_scale, &plot);
    else if (r->drawing == UND_DRAWS_PLOT)
        status =
            und_error_set(err, UND_INVALID, "frame %d: a plot needs a grid and its \"label\"", frame->number);
    else
        STAGE (&r->stage[STAGE_MESH])
            status = und_samples_take(r, frame, err);
    return status;
}

/* The ground, or the table, as a mesh, and the liquid's skin. */
static und_status prepare_mesh(und_render *r, const und_frame *frame, und_error *err)
{
    r->liquid.count = 0;
    r->solids.corners = 0;
    r->tank.kind = UND_TANK_NONE;
    if (r->drawing == UND_DRAWS_BOX)
        return und_box_take(r, frame, err);
    und_light_open(&r->samples, r->threads);
    und_wetness_smooth(&r->samples, r->threads);
    return und_mesh_build(r, frame, err);
}

static und_status prepare(und_render *r, const und_frame *frame, und_error *err)
{
    und_status status = UND_OK;
    f3 sun = vector_at(&r->def.sun, frame->time);
    STAGE (&r->stage[STAGE_SKY])
        status =
            und_sky_bake(&r->sky, &r->def, (float[3]){sun.x, sun.y, sun.z}, &r->pattern, r->threads, err);
    if (status != UND_OK)
        return status;
    STAGE (&r->stage[STAGE_MESH])
        status = prepare_mesh(r, frame, err);
    if (status != UND_OK)
        return status;
    STAGE (&r->stage[STAGE_SHADOWS]) {
        und_light_shadows(r);
        status = und_soup_take(r, frame, err);
        if (status == UND_OK && r->drawing == UND_DRAWS_BOX && !r->traced)
            status = und_box_darken(r, err);
    }
    return status;
}

static und_status skin_buffers(und_render *r, und_error *err)
{
    size_t count = (size_t)r->def.width * (size_t)r->def.height * (size_t)(r->def.samples * r->def.samples);
    if (r->liquid.count > 0 && !r->buffers.liquid)
        r->buffers.liquid = und_alloc(count, sizeof(float), "z-buffer", err);
    if (r->buffers.liquid && !r->buffers.liquid_id)
        r->buffers.liquid_id = und_alloc(count, sizeof(int32_t), "z-buffer", err);
    return r->liquid.count == 0 || r->buffers.liquid_id ? UND_OK : UND_FAILED;
}

/* The picture but for drops: at one moment, or where objects move the mean over some while the shutter is
 * open. */
static und_status draw_poses(und_render *r, und_image *image, und_error *err)
{
    int poses = r->soup.count && r->soup.velocity ? r->def.blur : 1;
    size_t pixels = (size_t)image->width * (size_t)image->height;
    bool edges = r->soup.count || r->liquid.count || r->def.ground_pattern == UND_GROUND_TILES;
    if (edges && !r->mark && !(r->mark = und_alloc(pixels, 1, "picture", err)))
        return UND_FAILED;
    und_status status = skin_buffers(r, err);
    for (int k = 0; k < poses && status == UND_OK && !und_render_stopped(r); k++) {
        if (poses > 1)
            STAGE (&r->stage[STAGE_SHADOWS])
                status = und_soup_pose(r, (float)(r->def.shutter * (k + 0.5) / poses), err);
        if (status == UND_OK)
            STAGE (&r->stage[STAGE_SCAN])
                status = und_scan(r, k > 0, err);
        if (status == UND_OK)
            STAGE (&r->stage[STAGE_SHADE])
                und_shade(r, image, k, poses);
    }
    return status;
}

/* What is drawn flat, on the page: a plot or a section. */
static und_status draw_flat(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    und_status status = UND_OK;
    und_plot_data plot;
    if (r->drawing == UND_DRAWS_PLOT && und_plot_read(frame, &plot))
        STAGE (&r->stage[STAGE_PLOT])
            status = und_plot_image(r, &plot, image, err);
    else
        STAGE (&r->stage[STAGE_SECTION])
            und_section_draw(r, image);
    return status;
}

bool und_render_remembers(const und_render *r)
{
    return r->drawing != UND_DRAWS_BOX;
}

bool und_render_is_flat(const und_render *r)
{
    return und_is_flat(r);
}

und_status und_render_prepare(und_render *r, const und_frame *frame, und_error *err)
{
    und_status status = und_render_observe(r, frame, err);
    r->time = isfinite(frame->time) ? frame->time : 0;
    if (status != UND_OK || und_is_flat(r))
        return status;
    float distance;
    if ((status = prepare(r, frame, err)) == UND_OK)
        r->camera = und_camera_at(r, frame->time, &distance);
    und_tank_cut(&r->tank, r->camera.eye);
    return status;
}

und_status und_render_draw(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    if (!image->rgb && image->width == 0 && image->height == 0 &&
        und_image_create(image, r->def.width, r->def.height, err) != UND_OK)
        return UND_FAILED;
    if (!image->rgb || image->width != r->def.width || image->height != r->def.height)
        return und_error_set(err, UND_INVALID, "the image is not %d x %d pixels", r->def.width,
                             r->def.height);
    und_status status = und_render_prepare(r, frame, err);
    if (status != UND_OK)
        return status;
    if (und_is_flat(r))
        return draw_flat(r, frame, image, err);
    STAGE (&r->stage[STAGE_CAUSTICS])
        status = und_caustics_build(r, err);
    if (status != UND_OK)
        return status;
    if (und_render_stopped(r))
        return und_error_set(err, UND_STOPPED, "stopped");
    if ((status = draw_poses(r, image, err)) != UND_OK)
        return status;
    STAGE (&r->stage[STAGE_SHEETS])
        status = und_sheets(r, frame, image, err);
    if (status != UND_OK)
        return status;
    STAGE (&r->stage[STAGE_DROPS])
        status = und_drops(r, frame, image, err);
    if (status != UND_OK)
        return status;
    return und_render_stopped(r) ? und_error_set(err, UND_STOPPED, "stopped") : UND_OK;
}
