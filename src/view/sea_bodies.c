/* Bodies of frames, for the painter of height fields. */
#include "view/sea_bodies.h"

#include "stage/rigid.h"

#include <stdlib.h>
#include <string.h>

void und_sea_bodies_free(und_sea_bodies *b)
{
    void *owned[] = {b->first,     b->mesh,      b->color,      b->reach,  b->pose, b->soup.normal,
                     b->soup.next, b->soup.slot, b->soup.posed, b->vertex, b->index};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    *b = (und_sea_bodies){0};
}

static bool same_bodies(const und_sea_bodies *b, const und_rigid *r)
{
    size_t bytes = 3 * r->corners * sizeof(float);
    return (size_t)b->count == r->count && (size_t)b->corners == r->corners &&
           memcmp(b->first, r->first, (r->count + 1) * sizeof *b->first) == 0 &&
           memcmp(b->mesh, r->mesh, bytes) == 0 && (!r->color || memcmp(b->color, r->color, bytes) == 0);
}

typedef struct corner {
    float vertex[UND_SEA_VERTEX];
    uint32_t number;
} corner;

static int compare_corners(const void *a, const void *b)
{
    return memcmp(a, b, UND_SEA_VERTEX * sizeof(float));
}

/* Corners that are the same become one vertex: some six to one, on smooth things. */
static und_status share_corners(und_sea_bodies *b, const und_rigid *r, und_error *err)
{
    corner *list = und_alloc(r->corners, sizeof *list, "bodies", err);
    b->vertex = und_alloc(r->corners, sizeof *b->vertex, "bodies", err);
    b->index = und_alloc(r->corners, sizeof *b->index, "bodies", err);
    if (!list || !b->vertex || !b->index) {
        free(list);
        return err->status;
    }
    for (size_t i = 0; i < r->count; i++)
        for (int32_t c = r->first[i]; c < r->first[i + 1]; c++) {
            memcpy(list[c].vertex, b->mesh + 3 * c, 3 * sizeof(float));
            memcpy(list[c].vertex + 3, b->soup.normal + 3 * c, 3 * sizeof(float));
            memcpy(list[c].vertex + 6, b->color + 3 * c, 3 * sizeof(float));
            list[c].vertex[9] = (float)i;
            list[c].number = (uint32_t)c;
        }
    qsort(list, r->corners, sizeof *list, compare_corners);
    for (size_t k = 0; k < r->corners; k++) {
        if (k == 0 || compare_corners(&list[k - 1], &list[k]) != 0)
            memcpy(b->vertex[b->vertices++], list[k].vertex, sizeof list[k].vertex);
        b->index[list[k].number] = (uint32_t)(b->vertices - 1);
    }
    free(list);
    return UND_OK;
}

static und_status keep(und_sea_bodies *b, const und_rigid *r, und_error *err)
{
    und_sea_bodies_free(b);
    b->first = und_alloc(r->count + 1, sizeof *b->first, "bodies", err);
    b->mesh = und_alloc(3 * r->corners, sizeof(float), "bodies", err);
    b->color = und_alloc(3 * r->corners, sizeof(float), "bodies", err);
    b->reach = und_alloc(r->count, sizeof(float), "bodies", err);
    b->pose = und_alloc(8 * r->count, sizeof(float), "bodies", err);
    if (!b->first || !b->mesh || !b->color || !b->reach || !b->pose)
        return err->status;
    memcpy(b->first, r->first, (r->count + 1) * sizeof *b->first);
    memcpy(b->mesh, r->mesh, 3 * r->corners * sizeof(float));
    for (size_t k = 0; k < 3 * r->corners; k++)
        b->color[k] = r->color ? r->color[k] : 0.7f;
    for (size_t i = 0; i < r->count; i++)
        for (int32_t c = r->first[i]; c < r->first[i + 1]; c++) {
            f3 p = f3_of(r->mesh + 3 * c);
            b->reach[i] = maxf(sqrtf(f3_dot(p, p)), b->reach[i]);
        }
    und_status status = und_stage_soup_set(&b->soup, b->mesh, r->corners / 3, err);
    if (status != UND_OK || (status = share_corners(b, r, err)) != UND_OK)
        return status;
    b->count = (int)r->count;
    b->corners = (int)r->corners;
    return UND_OK;
}

und_status und_sea_bodies_take(und_sea_bodies *b, const und_frame *frame, bool *changed, bool *moved,
                               und_error *err)
{
    und_rigid r;
    *changed = *moved = false;
    if (!und_rigid_find(frame, &r)) {
        b->count = b->corners = 0;
        return UND_OK;
    }
    if (!same_bodies(b, &r)) {
        und_status status = keep(b, &r, err);
        if (status != UND_OK)
            return status;
        *changed = *moved = true;
    }
    for (size_t i = 0; i < r.count; i++) {
        const float *q = r.turn + 4 * i;
        float length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        float pose[8] = {r.place[3 * i], r.place[3 * i + 1], r.place[3 * i + 2], 0,
                         q[1] / length,  q[2] / length,      q[3] / length,      q[0] / length};
        *moved = *moved || memcmp(b->pose + 8 * i, pose, sizeof pose) != 0;
        memcpy(b->pose + 8 * i, pose, sizeof pose);
    }
    return UND_OK;
}
