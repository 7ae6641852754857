#include "bodies/meshes.h"

#include "base/status.h"

#include <stddef.h>
#include <stdlib.h>

/* Grows an array of numbers; the old one stays where memory runs out. */
static bool grow(float **array, size_t count, und_error *err)
{
    float *grown = realloc(*array, count * sizeof **array);
    if (!grown) {
        und_error_set(err, UND_FAILED, "out of memory: the triangles of bodies, %zu bytes",
                      count * sizeof **array);
        return false;
    }
    *array = grown;
    return true;
}

static und_status make_room(und_meshes *m, int triangles, und_error *err)
{
    int32_t *first = realloc(m->first, ((size_t)m->count + 2) * sizeof *first);
    if (!first)
        return und_error_set(err, UND_FAILED, "out of memory: the triangles of bodies");
    m->first = first;
    if (m->count == 0)
        m->first[0] = 0;
    int had = m->first[m->count];
    if (triangles > (INT32_MAX - had) / 3)
        return und_error_set(err, UND_INVALID, "bodies have too many triangles to draw");
    int corners = had + 3 * triangles;
    if (corners <= m->capacity && m->position)
        return UND_OK;
    int capacity = corners < INT32_MAX / 2 ? corners + corners / 2 + 3 : corners;
    if (!grow(&m->position, 3 * (size_t)capacity, err) || !grow(&m->color, 3 * (size_t)capacity, err))
        return UND_FAILED;
    m->capacity = capacity;
    return UND_OK;
}

und_status und_meshes_add(und_meshes *m, const und_shape *shape, und_vec3 center, const float color[3],
                          und_error *err)
{
    und_soup soup;
    und_status status = und_shape_mesh(shape, &soup, err);
    if (status == UND_OK)
        status = make_room(m, soup.triangle_count, err);
    if (status == UND_OK) {
        size_t at = 3 * (size_t)m->first[m->count];
        und_soup_paint(&soup, color, m->color + at);
        const double middle[3] = {center.x, center.y, center.z};
        for (int k = 0; k < 9 * soup.triangle_count; k++)
            m->position[at + (size_t)k] = (float)((double)soup.position[k] - middle[k % 3]);
        m->first[m->count + 1] = m->first[m->count] + 3 * soup.triangle_count;
        m->count++;
    }
    und_soup_destroy(&soup);
    return status;
}

void und_meshes_destroy(und_meshes *m)
{
    free(m->first);
    free(m->position);
    free(m->color);
    *m = (und_meshes){0};
}

static und_status borrow_corners(const und_meshes *m, und_frame *frame, und_error *err)
{
    size_t corners = (size_t)m->first[m->count];
    und_item_def def = {.name = "bodies/mesh_position",
                        .unit = "m",
                        .kind = UND_BODIES,
                        .type = UND_F32,
                        .is_static = !m->changes,
                        .rank = 2,
                        .dim = {corners, 3}};
    if (!und_frame_borrow(frame, &def, m->position, err))
        return err->status;
    def.name = "bodies/mesh_color";
    def.unit = "1";
    if (!und_frame_borrow(frame, &def, m->color, err))
        return err->status;
    def = (und_item_def){.name = "bodies/mesh_first",
                         .unit = "1",
                         .kind = UND_BODIES,
                         .type = UND_I32,
                         .is_static = !m->changes,
                         .rank = 1,
                         .dim = {(size_t)m->count + 1}};
    return und_frame_borrow(frame, &def, m->first, err) ? UND_OK : err->status;
}

und_status und_meshes_frame(const und_meshes *m, const und_body_state *states, size_t stride,
                            und_frame *frame, und_error *err)
{
    static const struct {
        const char *name, *unit;
        size_t numbers, at;
    } rows[] = {{"bodies/position", "m", 3, offsetof(und_body_state, position)},
                {"bodies/rotation", "1", 4, offsetof(und_body_state, rotation)},
                {"bodies/velocity", "m/s", 3, offsetof(und_body_state, velocity)},
                {"bodies/spin", "rad/s", 3, offsetof(und_body_state, spin)}};
    if (m->count == 0)
        return UND_OK;
    if (borrow_corners(m, frame, err) != UND_OK)
        return err->status;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        und_item_def def = {.name = rows[r].name,
                            .unit = rows[r].unit,
                            .kind = UND_BODIES,
                            .type = UND_F32,
                            .rank = 2,
                            .dim = {(size_t)m->count, rows[r].numbers}};
        und_item *item = und_frame_add(frame, &def, err);
        if (!item)
            return err->status;
        float *to = item->data;
        for (size_t i = 0; i < (size_t)m->count; i++) {
            const char *state = (const char *)states + i * stride;
            for (size_t c = 0; c < rows[r].numbers; c++)
                *to++ = (float)((const double *)(const void *)(state + rows[r].at))[c];
        }
    }
    return UND_OK;
}
