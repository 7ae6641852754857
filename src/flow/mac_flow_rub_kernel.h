/* Friction of solids at faces (Rasmussen et al. 2004, 5.5.1). */
#ifndef UND_FLOW_MAC_FLOW_RUB_KERNEL_H
#define UND_FLOW_MAC_FLOW_RUB_KERNEL_H

#include "grid/pass.h"

typedef struct und_rub_args {
    und_mac mac;
    float *u[3], *next[3];
    const float *solid_u[3], *distance;
    const uint8_t *owner;
    const float *gone; /* of each solid: the part of the way to its velocity that a face at it goes */
} und_rub_args;

/* The velocity at a face, and the gradient of the solids' distance there. */
UND_INLINE void und_rub_look(const und_rub_args *a, const float *const u[3], int axis, size_t at,
                             float speed[3], float normal[3])
{
    const und_mac *m = &a->mac;
    const float *distance = a->distance;
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
UND_INLINE float und_rub_part(const und_rub_args *a, int axis, size_t at)
{
    const size_t next = at + (size_t)a->mac.step[axis];
    const float away = 0.5f * (a->distance[at] + a->distance[next]), near = 2 * (1 - away);
    if (!(away < 1))
        return 0;
    return a->gone[a->owner[a->distance[next] < a->distance[at] ? next : at]] * (near < 1 ? near : 1);
}

/* What a face's velocity becomes. */
UND_INLINE float und_rubbed(const und_rub_args *a, int axis, size_t at, float part)
{
    const float *const u[3] = {a->u[0], a->u[1], a->u[2]};
    float speed[3], solid[3], normal[3], across = 0, square = 1e-6f;
    und_rub_look(a, u, axis, at, speed, normal);
    und_rub_look(a, a->solid_u, axis, at, solid, normal);
    for (int c = 0; c < 3; c++) {
        across += (solid[c] - speed[c]) * normal[c];
        square += normal[c] * normal[c];
    }
    return speed[axis] + part * (solid[axis] - speed[axis] - across / square * normal[axis]);
}

/* Faces of the domain's low side are left. */
UND_INLINE unsigned und_rub_faces(und_place p)
{
    return p.x < 0 ? p.which & ~0u << -p.x : p.which;
}

UND_INLINE void und_rub_find(const und_rub_args *a, und_place p, int axis)
{
    for (unsigned left = und_rub_faces(p); left; left &= left - 1) {
        const size_t at = p.at + (size_t)__builtin_ctz(left);
        const float part = und_rub_part(a, axis, at);
        if (part > 0)
            a->next[axis][at] = und_rubbed(a, axis, at, part);
    }
}
UND_KERNEL_AXES(und_rub_find, und_rub_args, UND_EACH_CELL)

UND_INLINE void und_rub_take(const und_rub_args *a, und_place p, int axis)
{
    for (unsigned left = und_rub_faces(p); left; left &= left - 1) {
        const size_t at = p.at + (size_t)__builtin_ctz(left);
        if (und_rub_part(a, axis, at) > 0)
            a->u[axis][at] = a->next[axis][at];
    }
}
UND_KERNEL_AXES(und_rub_take, und_rub_args, UND_EACH_CELL)

#endif
