/* What a frame and a checkpoint of markers hold. */
#include "base/status.h"
#include "grid/state.h"
#include "surface/markers_scratch.h"
#include "surface/skin.h"

#include <limits.h>
#include <string.h>

/* Points or directions, [count][3]; where they go, or NULL. */
static float *add_points(und_frame *frame, const char *name, const char *unit, size_t count, und_error *err)
{
    const und_item_def def = {
        .name = name, .unit = unit, .kind = UND_PARTICLES, .type = UND_F32, .rank = 2, .dim = {count, 3}};
    und_item *item = und_frame_add(frame, &def, err);
    return item ? item->data : NULL;
}

static und_status add_skin(const und_markers *s, int per_cell, const uint8_t *label, und_frame *frame,
                           und_error *err)
{
    und_isosurface skin;
    und_status status = und_skin_make(s, per_cell, label, &skin, err);
    if (status != UND_OK)
        return status;
    size_t corners = 3 * (size_t)skin.triangle_count, bytes = 3 * corners * sizeof(float);
    float *position = add_points(frame, "liquid/mesh_position", "m", corners, err);
    float *normal = position ? add_points(frame, "liquid/mesh_normal", "1", corners, err) : NULL;
    if (normal && corners > 0) {
        memcpy(position, skin.position, bytes);
        memcpy(normal, skin.normal, bytes);
    }
    und_isosurface_free(&skin);
    return normal ? UND_OK : err->status;
}

/* Where there is no skin, whoever draws one knows from these how much it is to enclose. */
static und_status add_shares(const und_markers *s, und_frame *frame, und_error *err)
{
    const und_item_def def = {.name = "markers/share",
                              .unit = "1",
                              .kind = UND_PARTICLES,
                              .type = UND_F32,
                              .rank = 1,
                              .dim = {(size_t)s->count}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    float *out = item->data;
    for (int i = 0; i < s->count; i++)
        out[i] = (float)s->share[i];
    return UND_OK;
}

und_status und_markers_frame(const und_markers *s, int per_cell, const uint8_t *label, und_frame *frame,
                             und_error *err)
{
    float *out = add_points(frame, "markers/position", "m", (size_t)s->count, err);
    if (!out)
        return err->status;
    for (int i = 0; i < s->count; i++)
        for (int a = 0; a < 3; a++)
            *out++ = (float)s->place[a][i];
    return s->mac.n[2] == 1 ? add_shares(s, frame, err) : add_skin(s, per_cell, label, frame, err);
}

enum { PARTS = 7, PLACES = 3, EACH = 4 }; /* the first EACH hold one number of each marker, its place first */

static void parts_of(und_markers *s, und_state_field list[PARTS])
{
    const char *const names[PLACES] = {"marker_x", "marker_y", "marker_z"};
    for (int a = 0; a < PLACES; a++)
        list[a] = und_state_field_of(names[a], UND_F64, s->place[a], (size_t)s->count);
    list[3] = und_state_field_of("marker_share", UND_F64, s->share, (size_t)s->count);
    list[4] = und_state_field_of("marker_born", UND_F64, &s->born, 1);
    list[5] = und_state_field_of("marker_owed", UND_F64, s->scratch->owed, UND_MARKER_WALLS);
    list[6] = und_state_field_of("marker_unsorted", UND_I32, &s->scratch->unsorted, 1);
}

und_status und_markers_save(und_markers *s, und_frame *state, und_error *err)
{
    und_state_field list[PARTS];
    parts_of(s, list);
    return und_state_save_fields(list, PARTS, state, err);
}

/* Whether all are numbers within the grid's extent along the axis. */
static bool all_inside(const und_mac *m, int axis, const double *place, size_t count)
{
    double low = m->origin[axis], high = low + m->n[axis] * m->d[axis];
    for (size_t i = 0; i < count; i++)
        if (!(place[i] >= low && place[i] <= high))
            return false;
    return true;
}

/* Numbers that a run may have left. */
static bool are_sane(const und_state_field *p, const und_item *item, double most)
{
    const double *value = item->data;
    for (size_t i = 0; p->type == UND_F64 && i < und_item_count(item); i++)
        if (!(value[i] >= 0 && value[i] <= most))
            return false;
    return p->type == UND_F64 || *(const int32_t *)item->data >= 0;
}

und_status und_markers_restore(und_markers *s, const und_frame *state, und_error *err)
{
    und_state_field list[PARTS];
    const und_item *items[PARTS];
    size_t count = 0;
    parts_of(s, list);
    for (int i = 0; i < PARTS; i++) {
        items[i] = und_frame_find(state, list[i].name);
        size_t found = items[i] ? und_item_count(items[i]) : 0;
        count = i == 0 && found <= INT_MAX ? found : count;
        size_t expected = i < EACH ? count : list[i].count;
        if (!items[i] || items[i]->type != list[i].type || found != expected)
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint does not fit the scene: %s has %zu values, expected %zu",
                                 list[i].name, found, expected);
        const double most = i < EACH ? 1 : 0x1p53;
        if (i < PLACES ? !all_inside(&s->mac, i, items[i]->data, count) : !are_sane(&list[i], items[i], most))
            return und_error_set(err, UND_FAILED, "the checkpoint is damaged: %s is out of range",
                                 list[i].name);
    }
    s->count = 0;
    if (und_markers_reserve(s, (int)count, err) != UND_OK)
        return err->status;
    parts_of(s, list);
    for (int i = 0; i < PARTS; i++)
        if (und_item_bytes(items[i]) > 0)
            memcpy(list[i].data, items[i]->data, und_item_bytes(items[i]));
    s->count = (int)count;
    return UND_OK;
}
