/* The preview's pictures, in order. */
#include "base/status.h"
#include "render/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const stage_name[STAGES] = {
    [STAGE_CAUSTICS] = "illumination",
    [STAGE_SCAN] = "scan",
    [STAGE_SHADE] = "shade",
    [STAGE_SHEETS] = "sheets",
    [STAGE_DROPS] = "drops",
    [STAGE_SECTION] = "section",
    [STAGE_PLOT] = "plot",
};

und_render *und_render_on(und_scenery *stage, und_error *err)
{
    und_render *r = und_alloc(1, sizeof *r, "renderer", err);
    if (!r)
        return NULL;
    r->stage = stage;
    for (int k = UND_SCENERY_STAGES; k < STAGES; k++)
        r->timed[k].name = stage_name[k];
    return r;
}

und_render *und_render_create(const und_picture_def *def, und_error *err)
{
    und_scenery *stage = und_scenery_create(def, true, err);
    und_render *r = stage ? und_render_on(stage, err) : NULL;
    if (r)
        r->owns_stage = true;
    else
        und_scenery_destroy(stage);
    return r;
}

void und_render_destroy(und_render *r)
{
    if (!r)
        return;
    void *owned[] = {
        r->caustics.light,      r->caustics.landing,  r->caustics.reach,   r->caustics.kernel,
        r->buffers.liquid,      r->buffers.liquid_id, r->around.open,      r->mark,
        r->buffers.opaque,      r->buffers.water,     r->buffers.id,       r->ground_vertex.memory,
        r->water_vertex.memory, r->drops.memory,      r->drop_keys.memory, r->films.memory};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    if (r->owns_stage)
        und_scenery_destroy(r->stage);
    free(r);
}

und_scenery *und_render_stage(const und_render *r)
{
    return r->stage;
}

int und_render_stages(und_render *r, const und_stage **list)
{
    memcpy(r->timed, r->stage->stage, sizeof r->stage->stage);
    *list = r->timed;
    return STAGES;
}

/* One buffer more where the liquid has a skin. */
static und_status make_buffers(und_render *r, und_error *err)
{
    const und_picture_def *def = &r->stage->def;
    und_buffers *b = &r->buffers;
    size_t count = (size_t)def->width * (size_t)def->height * (size_t)(def->samples * def->samples);
    bool skin = r->stage->liquid.count > 0;
    float **depth[] = {&b->opaque, &b->water, skin ? &b->liquid : &b->water};
    int32_t **id[] = {&b->id, skin ? &b->liquid_id : &b->id};
    for (size_t k = 0; k < sizeof depth / sizeof *depth; k++)
        if (!*depth[k] && !(*depth[k] = und_alloc(count, sizeof(float), "z-buffer", err)))
            return UND_FAILED;
    for (size_t k = 0; k < sizeof id / sizeof *id; k++)
        if (!*id[k] && !(*id[k] = und_alloc(count, sizeof(int32_t), "z-buffer", err)))
            return UND_FAILED;
    return UND_OK;
}

/* The picture but for drops: at one moment, or where objects move the mean over some while the shutter is
 * open. */
static und_status draw_poses(und_render *r, und_image *image, und_error *err)
{
    int poses = r->stage->soup.count && r->stage->soup.velocity ? r->stage->def.blur : 1;
    size_t pixels = (size_t)image->width * (size_t)image->height;
    bool edges =
        r->stage->soup.count || r->stage->liquid.count || r->stage->def.ground_pattern == UND_GROUND_TILES;
    if (edges && !r->mark && !(r->mark = und_alloc(pixels, 1, "picture", err)))
        return UND_FAILED;
    und_status status = make_buffers(r, err);
    for (int k = 0; k < poses && status == UND_OK && !und_scenery_stopped(r->stage); k++) {
        if (poses > 1)
            STAGE (&r->stage->stage[UND_SCENERY_SHADOWS])
                status =
                    und_stage_soup_pose(r->stage, (float)(r->stage->def.shutter * (k + 0.5) / poses), err);
        if (status == UND_OK)
            STAGE (&r->timed[STAGE_SCAN])
                status = und_scan(r, k > 0, err);
        if (status == UND_OK)
            STAGE (&r->timed[STAGE_SHADE])
                und_shade(r, image, k, poses);
    }
    return status;
}

/* What is drawn flat, on the page: a plot or a section. */
static und_status draw_flat(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    und_status status = UND_OK;
    und_plot_data plot;
    if (r->stage->drawing == UND_DRAWS_PLOT && und_stage_plot_read(frame, &plot))
        STAGE (&r->timed[STAGE_PLOT])
            status = und_plot_image(r->stage, &plot, image, err);
    else
        STAGE (&r->timed[STAGE_SECTION])
            und_section_draw(r, image);
    return status;
}

/* Objects and the liquid's skin shade the table on which they stand. */
static und_status prepare(und_render *r, const und_frame *frame, und_error *err)
{
    und_status status = und_scenery_prepare(r->stage, frame, err);
    if (status == UND_OK && r->stage->drawing == UND_DRAWS_BOX)
        STAGE (&r->stage->stage[UND_SCENERY_SHADOWS])
            status = und_around_make(&r->around, r->stage, err);
    return status;
}

und_status und_render_draw(und_render *r, const und_frame *frame, und_image *image, und_error *err)
{
    if (!image->rgb && image->width == 0 && image->height == 0 &&
        und_image_create(image, r->stage->def.width, r->stage->def.height, err) != UND_OK)
        return UND_FAILED;
    if (!image->rgb || image->width != r->stage->def.width || image->height != r->stage->def.height)
        return und_error_set(err, UND_INVALID, "the image is not %d x %d pixels", r->stage->def.width,
                             r->stage->def.height);
    und_status status = prepare(r, frame, err);
    if (status != UND_OK)
        return status;
    if (und_scenery_is_flat(r->stage))
        return draw_flat(r, frame, image, err);
    STAGE (&r->timed[STAGE_CAUSTICS])
        status = und_caustics_build(r, err);
    if (status != UND_OK)
        return status;
    if (und_scenery_stopped(r->stage))
        return und_error_set(err, UND_STOPPED, "stopped");
    if ((status = draw_poses(r, image, err)) != UND_OK)
        return status;
    STAGE (&r->timed[STAGE_SHEETS])
        status = und_render_sheets(r, frame, image, err);
    if (status != UND_OK)
        return status;
    STAGE (&r->timed[STAGE_DROPS])
        status = und_drops(r, frame, image, err);
    if (status != UND_OK)
        return status;
    return und_scenery_stopped(r->stage) ? und_error_set(err, UND_STOPPED, "stopped") : UND_OK;
}
