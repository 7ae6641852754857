/* What is made of a frame, in order. */
#include "stage/scenery.h"
#include "base/maths.h"
#include "base/pages.h"
#include "geom/value.h"

#include <stdlib.h>

static void free_soup(und_drawn_mesh *s)
{
    void *owned[] = {s->normal, s->next, s->slot, s->shadow, s->posed, s->placed, s->speed};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    und_tree_free(s);
}

void und_scenery_destroy(und_scenery *stage)
{
    if (!stage)
        return;
    und_samples *s = &stage->samples;
    void *owned[] = {stage->pattern.texel,
                     stage->ripple.texel,
                     stage->sky.texel,
                     s->ground,
                     s->surface,
                     s->depth,
                     s->open,
                     s->wet,
                     s->wet_smooth,
                     s->wet_scratch,
                     s->ring,
                     stage->mesh.ground,
                     stage->mesh.depth,
                     stage->solid_corners.memory,
                     stage->rest_corners.memory,
                     stage->creases.memory,
                     stage->paint.memory,
                     stage->sun_scratch};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    free_soup(&stage->soup);
    free_soup(&stage->sheet);
    free_soup(&stage->liquid);
    und_pages_free(stage->mesh.node);
    und_stage_voxels_free(&stage->voxels);
    und_shell_free(&stage->surface);
    und_texture_map_destroy(stage->texture);
    free(stage);
}

und_scenery *und_scenery_create(const und_picture_def *def, bool skin, und_error *err)
{
    static const char *const names[UND_SCENERY_STAGES] = {"mesh", "sky", "shadows"};
    und_scenery *stage =
        und_picture_check(def, err) == UND_OK ? und_alloc(1, sizeof *stage, "what pictures show", err) : NULL;
    if (!stage)
        return NULL;
    stage->def = *def;
    stage->skin = skin;
    stage->threads = und_threads(def->threads);
    stage->rock_edge = und_tanf((float)(def->rock_slope * M_PI / 180));
    for (int k = 0; k < UND_SCENERY_STAGES; k++)
        stage->stage[k].name = names[k];
    if (und_pattern_bake(&stage->pattern, &stage->ripple, stage->threads, err) == UND_OK)
        return stage;
    und_scenery_destroy(stage);
    return NULL;
}

void und_scenery_frame_on(und_scenery *stage, const und_extent *extent)
{
    stage->def.framed = *extent;
}

void *und_hold(und_held *held, size_t bytes, und_error *err)
{
    if (bytes > held->bytes) {
        free(held->memory);
        held->bytes = 0;
        if ((held->memory = und_alloc(bytes, 1, "picture", err)))
            held->bytes = bytes;
    }
    return held->memory;
}

und_status und_scenery_observe(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_status status = UND_OK;
    und_plot_data plot;
    stage->drawing = und_drawing_of(stage, frame);
    if (stage->drawing == UND_DRAWS_BOX)
        return UND_OK; /* nothing of it is remembered */
    if (stage->drawing == UND_DRAWS_PLOT && und_stage_plot_read(frame, &plot))
        und_stage_plot_observe(&stage->plot_scale, &plot);
    else if (stage->drawing == UND_DRAWS_PLOT)
        status =
            und_error_set(err, UND_INVALID, "frame %d: a plot needs a grid and its \"label\"", frame->number);
    else
        STAGE (&stage->stage[UND_SCENERY_MESH])
            status = und_samples_take(stage, frame, err);
    return status;
}

/* The ground, or the table, as a mesh, and the liquid's skin. */
static und_status prepare_mesh(und_scenery *stage, const und_frame *frame, und_error *err)
{
    stage->liquid.count = 0;
    stage->solids.corners = 0;
    stage->tank.kind = UND_TANK_NONE;
    if (stage->drawing == UND_DRAWS_BOX)
        return und_box_take(stage, frame, err);
    und_stage_light_open(&stage->samples, stage->threads);
    und_wetness_smooth(&stage->samples, stage->threads);
    return und_stage_mesh_build(stage, frame, err);
}

static und_status prepare(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_status status = UND_OK;
    double sun[3];
    und_vector_at(&stage->def.sun, frame->time, sun);
    STAGE (&stage->stage[UND_SCENERY_SKY])
        status =
            und_sky_bake(&stage->sky, &stage->def, (float[3]){(float)sun[0], (float)sun[1], (float)sun[2]},
                         &stage->pattern, stage->threads, err);
    if (status != UND_OK)
        return status;
    STAGE (&stage->stage[UND_SCENERY_MESH])
        status = prepare_mesh(stage, frame, err);
    if (status != UND_OK)
        return status;
    STAGE (&stage->stage[UND_SCENERY_SHADOWS]) {
        und_stage_light_shadows(stage);
        status = und_stage_soup_take(stage, frame, err);
    }
    return status;
}

bool und_scenery_remembers(const und_scenery *stage)
{
    return stage->drawing != UND_DRAWS_BOX;
}

und_status und_scenery_prepare(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_status status = und_scenery_observe(stage, frame, err);
    stage->time = isfinite(frame->time) ? frame->time : 0;
    if (status != UND_OK || und_scenery_is_flat(stage))
        return status;
    float distance;
    if ((status = prepare(stage, frame, err)) == UND_OK)
        stage->camera = und_scenery_camera(stage, frame->time, &distance);
    und_tank_cut(&stage->tank, stage->camera.eye);
    return status;
}
