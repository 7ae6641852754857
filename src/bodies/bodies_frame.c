#include "bodies/mesh_writer.h"
#include "bodies/state.h"

/* One row of k numbers a body, from `at` bytes into its state. */
static und_status add_rows(const und_bodies *s, und_frame *frame, const char *name, const char *unit,
                           size_t k, size_t at, und_error *err)
{
    und_item_def def = {.name = name,
                        .unit = unit,
                        .kind = UND_BODIES,
                        .type = UND_F32,
                        .rank = 2,
                        .dim = {(size_t)s->count, k}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    float *to = item->data;
    for (int i = 0; i < s->count; i++)
        for (size_t c = 0; c < k; c++)
            *to++ = (float)((const double *)((const char *)&s->kept[i].now + at))[c];
    return UND_OK;
}

static und_status add_meshes(const und_bodies *s, und_frame *frame, und_error *err)
{
    size_t corners = 0;
    und_mesh_writer writer;
    for (int i = 0; i < s->count; i++)
        corners += 3 * (size_t)s->bodies[i].mesh.triangle_count;
    und_status status = und_mesh_writer_begin(&writer, frame, corners, true, err);
    for (int i = 0; i < s->count && status == UND_OK; i++) {
        const und_body_state *b = &s->kept[i].now;
        und_mesh_speed speed = {und_of(b->position), und_of(b->velocity), und_of(b->spin)};
        und_pose pose = und_bodies_pose(s, i);
        und_mesh_writer_put(&writer, &s->bodies[i].mesh, &pose, s->bodies[i].def->color, &speed);
    }
    return status;
}

und_status und_bodies_frame(const und_bodies *s, und_frame *frame, und_error *err)
{
    if (s->count == 0)
        return UND_OK;
    und_status status = add_meshes(s, frame, err);
    if (status == UND_OK)
        status = add_rows(s, frame, "bodies/position", "m", 3, offsetof(und_body_state, position), err);
    if (status == UND_OK)
        status = add_rows(s, frame, "bodies/rotation", "1", 4, offsetof(und_body_state, rotation), err);
    if (status == UND_OK)
        status = add_rows(s, frame, "bodies/velocity", "m/s", 3, offsetof(und_body_state, velocity), err);
    if (status == UND_OK)
        status = add_rows(s, frame, "bodies/spin", "rad/s", 3, offsetof(und_body_state, spin), err);
    return status;
}
