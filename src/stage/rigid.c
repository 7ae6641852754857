/* Rigid bodies: a frame has their triangles about their centres, in their own axes, and where they are.  Made
 * of that here: triangles in the world and how fast each corner moves. */
#include "stage/rigid.h"

#include "stage/scenery.h"

#include <stdlib.h>
#include <string.h>

/* The numbers of an item of so many rows and columns, all of them sane; NULL where there is no such item. */
static const float *find_rows(const und_frame *frame, const char *name, size_t rows, size_t columns)
{
    const und_item *item = und_frame_find(frame, name);
    if (!item || item->type != UND_F32 || !item->data || item->rank != 2 || item->dim[0] != rows ||
        item->dim[1] != columns)
        return NULL;
    const float *p = item->data;
    for (size_t k = 0; k < rows * columns; k++)
        if (!(fabsf(p[k]) < 1e9f))
            return NULL;
    return p;
}

/* Do the first corners rise from 0 to the last, by whole triangles? */
static bool firsts_good(const int32_t *first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (first[i + 1] < first[i] || first[i + 1] % 3 != 0)
            return false;
    return first[0] == 0;
}

static bool turns_good(const float *q, size_t count)
{
    for (size_t i = 0; i < count; i++, q += 4) {
        float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!(square > 0.25f && square < 4))
            return false;
    }
    return true;
}

bool und_rigid_find(const und_frame *frame, und_rigid *b)
{
    const und_item *first = und_frame_find(frame, "bodies/mesh_first");
    *b = (und_rigid){0};
    if (!first || first->type != UND_I32 || !first->data || first->rank != 1 || first->dim[0] < 2 ||
        first->dim[0] > INT32_MAX)
        return false;
    b->count = first->dim[0] - 1;
    b->first = first->data;
    if (!firsts_good(b->first, b->count) || b->first[b->count] > INT32_MAX / 16)
        return false;
    b->corners = (size_t)b->first[b->count];
    b->mesh = find_rows(frame, "bodies/mesh_position", b->corners, 3);
    b->place = find_rows(frame, "bodies/position", b->count, 3);
    b->turn = find_rows(frame, "bodies/rotation", b->count, 4);
    b->velocity = find_rows(frame, "bodies/velocity", b->count, 3);
    b->spin = b->velocity ? find_rows(frame, "bodies/spin", b->count, 3) : NULL;
    b->velocity = b->spin ? b->velocity : NULL;
    b->color = find_rows(frame, "bodies/mesh_color", b->corners, 3);
    return b->corners > 0 && b->mesh && b->place && b->turn && turns_good(b->turn, b->count);
}

/* The columns of a rotation's matrix. */
static void axes_of(const float q[4], f3 axis[3])
{
    double w = (double)q[0], x = (double)q[1], y = (double)q[2], z = (double)q[3];
    double s = 2 / (w * w + x * x + y * y + z * z);
    axis[0] =
        f3_make((float)(1 - s * (y * y + z * z)), (float)(s * (x * y + w * z)), (float)(s * (x * z - w * y)));
    axis[1] =
        f3_make((float)(s * (x * y - w * z)), (float)(1 - s * (x * x + z * z)), (float)(s * (y * z + w * x)));
    axis[2] =
        f3_make((float)(s * (x * z + w * y)), (float)(s * (y * z - w * x)), (float)(1 - s * (x * x + y * y)));
}

static void put(float *to, f3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

void und_rigid_corners(const und_rigid *b, size_t i, size_t from, size_t count, float (*out)[3])
{
    f3 axis[3], at = f3_of(b->place + 3 * i);
    axes_of(b->turn + 4 * i, axis);
    for (size_t k = 0; k < count; k++) {
        const float *p = b->mesh + 3 * (from + k);
        put(out[k], f3_add(at, f3_along(f3_along(f3_scale(axis[0], p[0]), axis[1], p[1]), axis[2], p[2])));
    }
}

/* Places x + R p and velocities v + w x R p. */
static void place_body(und_drawn_mesh *soup, const und_rigid *b, size_t i)
{
    f3 axis[3], at = f3_of(b->place + 3 * i);
    axes_of(b->turn + 4 * i, axis);
    for (size_t k = (size_t)b->first[i]; k < (size_t)b->first[i + 1]; k++) {
        const float *p = b->mesh + 3 * k;
        f3 arm = f3_along(f3_along(f3_scale(axis[0], p[0]), axis[1], p[1]), axis[2], p[2]);
        put(soup->placed + 3 * k, f3_add(at, arm));
        if (b->spin)
            put(soup->speed + 3 * k,
                f3_add(f3_of(b->velocity + 3 * i), f3_cross(f3_of(b->spin + 3 * i), arm)));
    }
}

static und_status make_room(und_drawn_mesh *soup, size_t corners, und_error *err)
{
    if (corners <= soup->placed_capacity)
        return UND_OK;
    free(soup->placed);
    free(soup->speed);
    soup->placed_capacity = 0;
    soup->placed = und_alloc(3 * corners, sizeof(float), "objects", err);
    soup->speed = und_alloc(3 * corners, sizeof(float), "objects", err);
    if (!soup->placed || !soup->speed)
        return UND_FAILED;
    soup->placed_capacity = corners;
    return UND_OK;
}

/* Solids after the bodies: they stand still and have colours of their own. */
static und_status add_solids(und_scenery *stage, const und_rigid *b, und_error *err)
{
    static const float CONCRETE[3] = {0.46f, 0.45f, 0.43f};
    const und_drawn_solids *s = &stage->solids;
    und_drawn_mesh *soup = &stage->soup;
    float *paint = und_hold(&stage->paint, 3 * (b->corners + s->corners) * sizeof *paint, err);
    if (!paint)
        return UND_FAILED;
    for (size_t k = 0; k < 3 * b->corners; k++)
        paint[k] = soup->color ? soup->color[k] : 0.7f;
    for (size_t k = 0; k < 3 * s->corners; k++)
        paint[3 * b->corners + k] = s->color ? s->color[k] : CONCRETE[k % 3];
    memcpy(soup->placed + 3 * b->corners, s->position, 3 * s->corners * sizeof(float));
    memset(soup->speed + 3 * b->corners, 0, 3 * s->corners * sizeof(float));
    soup->color = paint;
    return UND_OK;
}

und_status und_rigid_take(und_scenery *stage, const und_frame *frame, const float **speed, und_error *err)
{
    und_drawn_mesh *soup = &stage->soup;
    und_rigid b;
    *speed = NULL;
    soup->count = 0;
    size_t solid = stage->solids.corners, corners = solid + (und_rigid_find(frame, &b) ? b.corners : 0);
    if (corners == 0)
        return UND_OK;
    if (corners == solid)
        b = (und_rigid){0};
    und_status status = make_room(soup, corners, err);
    if (status != UND_OK)
        return status;
    PARALLEL_FOR(stage->threads)
    for (size_t i = 0; i < b.count; i++)
        place_body(soup, &b, i);
    soup->color = b.corners ? find_rows(frame, "bodies/mesh_color", b.corners, 3) : NULL;
    *speed = b.spin ? soup->speed : NULL;
    if (solid > 0 && (status = add_solids(stage, &b, err)) != UND_OK)
        return status;
    return und_stage_soup_set(soup, soup->placed, corners / 3, err);
}

const int32_t *und_stage_solids_find(const und_frame *frame, size_t corners, size_t *count)
{
    const und_item *item = und_frame_find(frame, "solid/mesh_first");
    *count = 0;
    if (!item || item->type != UND_I32 || !item->data || item->rank != 1 || item->dim[0] < 2)
        return NULL;
    const int32_t *first = item->data;
    size_t n = item->dim[0] - 1;
    for (size_t i = 0; i < n; i++)
        if (first[i + 1] < first[i] || first[i + 1] % 3 != 0)
            return NULL;
    if (first[0] != 0 || (size_t)first[n] != corners)
        return NULL;
    *count = n;
    return first;
}
