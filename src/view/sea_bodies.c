/* Bodies of frames, for the painter of height fields. */
#include "view/sea_bodies.h"

#include "render/rigid.h"

#include <stdlib.h>
#include <string.h>

void und_sea_bodies_free(und_sea_bodies *b)
{
    void *owned[] = {b->first,       b->mesh,      b->color,     b->reach,     b->pose,
                     b->soup.normal, b->soup.next, b->soup.slot, b->soup.posed};
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
    und_status status = und_soup_set(&b->soup, b->mesh, r->corners / 3, err);
    if (status != UND_OK)
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
