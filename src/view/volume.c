/* The painter of liquid in space. */
#include "view/volume_parts.h"

#include "base/status.h"
#include "surface/frame_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool und_space_fits(const und_frame *frame)
{
    return und_frame_has_liquid(frame) || (frame->grid.n[2] > 1 && und_frame_find(frame, "label"));
}

static void destroy(und_painter *self)
{
    und_space *v = (und_space *)self;
    if (!v)
        return;
    und_space_forget(v);
    und_space_world_close(&v->world);
    free(v);
}

static und_status take(und_painter *self, const und_frame *frame, und_error *err)
{
    und_space *v = (und_space *)self;
    und_space_take how = {.mesh = !v->show.marched};
    v->taken = false;
    und_status status = und_space_world_take(&v->world, frame, &how, err);
    if (status == UND_OK)
        status = und_space_upload(v, err);
    v->taken = status == UND_OK;
    return status;
}

static void bounds(const und_painter *self, double low[3], double high[3])
{
    const und_space *v = (const und_space *)self;
    memcpy(low, v->world.low, sizeof v->world.low);
    memcpy(high, v->world.high, sizeof v->world.high);
}

static bool pick(const und_painter *self, const double origin[3], const double direction[3], double point[3])
{
    const und_space *v = (const und_space *)self;
    double far = v->taken ? und_space_world_cast(&v->world, origin, direction) : INFINITY;
    for (int a = 0; a < 3; a++)
        point[a] = origin[a] + (isfinite(far) ? far : 0) * direction[a];
    return isfinite(far);
}

static void panel(und_painter *self, und_ui *ui)
{
    und_space *v = (und_space *)self;
    und_ui_check(ui, "Liquid", &v->show.liquid);
    und_ui_check(ui, "Clay", &v->show.clay);
    und_ui_check(ui, "Solids", &v->show.solids);
    und_ui_check(ui, "Floor", &v->show.floor);
}

static const und_painter_class volume_class = {
    .name = "volume",
    .destroy = destroy,
    .take = take,
    .bounds = bounds,
    .draw = und_space_draw,
    .panel = panel,
    .pick = pick,
};

und_painter *und_space_create(const und_render_def *look, und_error *err)
{
    und_space *v = und_alloc(1, sizeof *v, "a painter", err);
    if (!v)
        return NULL;
    const char *driver = (const char *)glGetString(GL_RENDERER);
    v->base.class = &volume_class;
    v->look = look;
    v->software = driver && (strstr(driver, "llvmpipe") || strstr(driver, "softpipe"));
    v->show = (und_space_show){.liquid = true, .solids = true, .floor = true, .boxes = true, .marched = true};
    if (und_space_programs(v, err) == UND_OK && und_space_world_open(&v->world, look, err) == UND_OK)
        return &v->base;
    destroy(&v->base);
    return NULL;
}
