/* The system of implicit diffusion at faces across an axis: equation 3.6. */
#ifndef UND_FLOW_MAC_FLOW_DIFFUSE_KERNEL_H
#define UND_FLOW_MAC_FLOW_DIFFUSE_KERNEL_H

#include "grid/pass.h"

typedef struct und_diffuse_args {
    und_mac mac;
    int axis;
    float weight; /* nu dt / dx^2 */
    bool stick;
    const float *open, *solid_u; /* of the axis, as the next is */
    float *u, *known, *b, *weights;
    double *x;
} und_diffuse_args;

/* A face of the component beside face i, `to` away along another axis or its own: where it is shut the
 * velocity there is the solid's.  Across the component's axis the solid is half a cell away; along it, a
 * whole one, and the liquid cannot but follow. */
static inline void und_diffuse_add_wall(const und_diffuse_args *a, int along, size_t i, ptrdiff_t to,
                                        float *known, float *b)
{
    const size_t beside = (size_t)((ptrdiff_t)i + to);
    if (a->open[beside] > 0 || (along != a->axis && !a->stick))
        return;
    const float weight = along == a->axis ? a->weight : 2 * a->weight;
    *known += weight;
    *b += weight * a->solid_u[beside];
}

UND_INLINE void und_diffuse_set(const und_diffuse_args *a, und_place p)
{
    for (unsigned left = p.which; left; left &= left - 1) {
        const int at[3] = {p.x + __builtin_ctz(left), p.y, p.z};
        const size_t i = p.at + (size_t)__builtin_ctz(left);
        float known = 1, b = a->u[i];
        for (int k = 0; k < (a->mac.n[2] > 1 ? 3 : 2); k++) {
            if (k != a->axis || at[k] < a->mac.n[k] - 1) /* nothing is beyond an open side */
                und_diffuse_add_wall(a, k, i, a->mac.step[k], &known, &b);
            und_diffuse_add_wall(a, k, i, -a->mac.step[k], &known, &b);
        }
        a->known[i] = known;
        a->b[i] = b;
        a->weights[i] = a->weight;
        a->x[i] = (double)a->u[i];
    }
}
UND_KERNEL(und_diffuse_set, und_diffuse_args, UND_EACH_CELL)

UND_INLINE void und_diffuse_take(const und_diffuse_args *a, und_place p)
{
    for (unsigned left = p.which; left; left &= left - 1) {
        const size_t i = p.at + (size_t)__builtin_ctz(left);
        a->u[i] = (float)a->x[i];
    }
}
UND_KERNEL(und_diffuse_take, und_diffuse_args, UND_EACH_CELL)

#endif
