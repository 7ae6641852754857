/* The painter of liquid in space. */
#include "view/volume_parts.h"

#include "base/status.h"
#include "grid/mac.h"
#include "surface/frame_mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOO_LONG = 0.05;                /* s to make all triangles while frames are played */
enum { MOST_GRAINS = 500000, SOME_GRAINS = 60000 }; /* of a kind */

bool und_space_fits(const und_frame *frame)
{
    return und_frame_mesh_has_liquid(frame) || (frame->grid.n[2] > 1 && und_frame_find(frame, "label"));
}

static void destroy(und_painter *self)
{
    und_space *v = (und_space *)self;
    if (!v)
        return;
    und_space_forget(v);
    und_space_marks_free(&v->marks);
    und_space_world_close(&v->world);
    free(v);
}

/* Control particles are posed on a grid of a few metres: where they are does not depend on it. */
static void open_control_particles(und_space *v)
{
    const int n[3] = {4, 4, 4};
    const double d[3] = {1, 1, 1}, origin[3] = {0};
    und_mac mac = und_mac_make(n, d, origin);
    und_error err = {0};
    if (v->control_particle_count == 0)
        return;
    und_control_particles_destroy(v->marks.control_particles);
    v->marks.control_particles = und_control_particles_create(
        &mac, v->control_defs, v->control_particle_count, v->look->threads, &err);
    if (!v->marks.control_particles)
        snprintf(v->marks.trouble, sizeof v->marks.trouble, "%.250s", err.text);
    v->control_particle_count = 0;
}

void und_space_control_particles(und_painter *painter, const und_control_particle_def *defs, int count)
{
    und_space *v = (und_space *)painter;
    v->control_defs = defs;
    v->control_particle_count = count;
}

static und_status take(und_painter *self, const und_frame *frame, und_error *err)
{
    und_space *v = (und_space *)self;
    bool hurry = v->world.seconds > TOO_LONG || (v->world.coarse && 4 * v->world.seconds > TOO_LONG);
    und_space_take how = {
        .mesh = !v->show.marched, .coarse = hurry && v->changes > 1, .most = v->most_texels};
    bool first = v->world.time == 0 && !v->taken;
    v->taken = false;
    open_control_particles(v);
    und_status status = und_space_world_take(&v->world, frame, &how, err);
    if (status == UND_OK)
        status = und_space_marks_take(&v->marks, frame, v->software ? SOME_GRAINS : MOST_GRAINS,
                                      v->world.cell, err);
    if (status == UND_OK && first)
        v->show.boxes = v->world.window;
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

static void match(und_painter *self, und_painter *other)
{
    ((und_space *)self)->show = ((const und_space *)other)->show;
}

static const und_painter_class volume_class = {
    .name = "volume",
    .destroy = destroy,
    .take = take,
    .bounds = bounds,
    .draw = und_space_draw,
    .annotate = und_space_annotate,
    .panel = und_space_panel,
    .actions = und_space_actions,
    .pick = pick,
    .match = match,
};

und_painter *und_space_create(const und_picture_def *look, und_error *err)
{
    und_space *v = und_alloc(1, sizeof *v, "a painter", err);
    if (!v)
        return NULL;
    v->base.class = &volume_class;
    v->look = look;
    glGetIntegerv(GL_MAX_3D_TEXTURE_SIZE, &v->most_texels);
    v->software = und_gl_is_software();
    v->show = (und_space_show){
        .liquid = true, .solids = true, .floor = true, .marched = true, .through = true, .grain_size = 1};
    v->show.set[UND_SET_SPRAY] = v->show.set[UND_SET_FOAM] = v->show.set[UND_SET_CONTROL] = true;
    if (und_space_programs(v, err) == UND_OK && und_space_world_open(&v->world, look, err) == UND_OK)
        return &v->base;
    destroy(&v->base);
    return NULL;
}
