#include "bodies/mesh_writer.h"

static float *add(und_frame *frame, const char *name, const char *unit, size_t corners, und_error *err)
{
    und_item_def def = {
        .name = name, .unit = unit, .kind = UND_BODIES, .type = UND_F32, .rank = 2, .dim = {corners, 3}};
    und_item *item = und_frame_add(frame, &def, err);
    return item ? item->data : NULL;
}

und_status und_mesh_writer_begin(und_mesh_writer *w, und_frame *frame, size_t corners, bool velocity,
                                 und_error *err)
{
    *w = (und_mesh_writer){0};
    if (corners == 0)
        return UND_OK;
    w->position = add(frame, "objects/mesh_position", "m", corners, err);
    w->color = w->position ? add(frame, "objects/mesh_color", "1", corners, err) : NULL;
    if (!w->color)
        return err->status;
    if (velocity && !(w->velocity = add(frame, "objects/mesh_velocity", "m/s", corners, err)))
        return err->status;
    return UND_OK;
}

static void put(float **to, und_vec3 v)
{
    (*to)[0] = (float)v.x;
    (*to)[1] = (float)v.y;
    (*to)[2] = (float)v.z;
    *to += 3;
}

void und_mesh_writer_put(und_mesh_writer *w, const und_soup *mesh, const und_pose *pose, const float color[3],
                         const und_mesh_speed *speed)
{
    und_soup_paint(mesh, color, w->color);
    w->color += 9 * (size_t)mesh->triangle_count;
    for (int k = 0; k < 3 * mesh->triangle_count; k++) {
        const float *q = mesh->position + 3 * (size_t)k;
        und_vec3 p = und_pose_point(pose, und_vec(q[0], q[1], q[2]));
        put(&w->position, p);
        if (w->velocity)
            put(&w->velocity, und_add(speed->velocity, und_cross(speed->spin, und_sub(p, speed->center))));
    }
}
