/* Friction of solids (Rasmussen et al. 2004, 5.5.1).  There the velocity in the solid is what rubs, by being
 * followed and interpolated; along a wall that lies with the grid nothing is, so that the faces beside it are
 * dragged as well. */
#include "base/maths.h"
#include "base/parallel.h"
#include "flow/mac_flow_parts.h"

#include <math.h>

enum { CELLS_TO_SHARE = 1 << 14 };
#define FRAME (1.0 / 24) /* s: in which the part of the way is gone, as with modifiers */

/* The velocity at a face, and the gradient of the solids' distance there. */
static void look(const und_mac *m, float *const u[3], const float *distance, int axis, size_t at,
                 float speed[3], float normal[3])
{
    const size_t own = (size_t)m->step[axis];
    for (int c = 0; c < 3; c++) {
        const size_t step = (size_t)m->step[c];
        speed[c] = normal[c] = 0;
        if (c == axis) {
            speed[c] = u[c][at];
            normal[c] = distance[at + own] - distance[at];
        } else if (m->n[c] > 1) {
            speed[c] = 0.25f * (u[c][at] + u[c][at + own] + u[c][at - step] + u[c][at - step + own]);
            normal[c] = 0.25f * (distance[at + step] - distance[at - step] + distance[at + own + step] -
                                 distance[at + own - step]);
        }
    }
}

/* How much of the way to the solid's velocity a face goes, 0 to 1. */
static float part_of(const und_solids *solids, int axis, size_t at, double dt)
{
    const size_t next = at + (size_t)solids->mac.step[axis];
    const float away = 0.5f * (solids->distance[at] + solids->distance[next]);
    if (!(away < 1))
        return 0;
    double rub = (double)solids->friction[und_solids_face_owner(solids, at, next)];
    return (float)(1 - und_pow(1 - rub, dt / FRAME)) * fminf(1, 2 * (1 - away));
}

/* What a face's velocity becomes. */
static float rubbed(const und_mac_flow *s, const und_solids *solids, int axis, size_t at, float part)
{
    float speed[3], solid[3], normal[3], across = 0, square = 1e-6f;
    look(&s->mac, s->u, solids->distance, axis, at, speed, normal);
    look(&s->mac, solids->u, solids->distance, axis, at, solid, normal);
    for (int c = 0; c < 3; c++) {
        across += (solid[c] - speed[c]) * normal[c];
        square += normal[c] * normal[c];
    }
    return speed[axis] + part * (solid[axis] - speed[axis] - across / square * normal[axis]);
}

typedef enum pass { FIND, TAKE } pass;

static void each_face(und_mac_flow *s, const und_solids *solids, double dt, pass what)
{
    PARALLEL_FOR(und_workers(s->device.threads, s->mac.count, CELLS_TO_SHARE))
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 2); a++)
            for (int y = 0; y < s->mac.n[1]; y++) {
                const size_t row = und_mac_at(&s->mac, 0, y, z);
                for (int begin, end = -1; und_mask_stretch(&s->flows[a], y, z, end, &begin, &end);)
                    for (int x = begin < 0 ? 0 : begin; x < end; x++) {
                        const size_t at = row + (size_t)x;
                        const float part = part_of(solids, a, at, dt);
                        if (part > 0 && what == FIND)
                            s->next[a][at] = rubbed(s, solids, a, at, part);
                        else if (part > 0)
                            s->u[a][at] = s->next[a][at];
                    }
            }
}

void und_mac_flow_rub(und_mac_flow *s, const und_solids *solids, double dt)
{
    if (!solids->friction)
        return;
    und_mac_flow_get(s, UND_GET_U, 1);
    und_mac_flow_take_next(s);
    each_face(s, solids, dt, FIND);
    each_face(s, solids, dt, TAKE);
    und_mac_flow_give_back(s, &s->next[0]);
}
