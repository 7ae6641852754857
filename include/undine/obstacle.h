/* Undine: solids in a liquid. */
#ifndef UNDINE_OBSTACLE_H
#define UNDINE_OBSTACLE_H

#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Something solid, at rest or moving: an obstacle, or a container of liquid. */
typedef struct und_obstacle_def {
    const char *name;             /* for reports; NULL: its number */
    const und_shape *shape;       /* in its own coordinates; NULL with a sequence */
    const und_motion *motion;     /* where its origin is; NULL: at rest at the world's */
    const und_sequence *sequence; /* deforming, instead of the shape; moved by motion too */
    bool inside_out;              /* all but the shape is solid: a container */
    const und_value *temperature; /* of its surface, where the liquid has one; NULL: it is insulated */
    double friction;              /* 0: liquid slips along it, 1: it sticks; Rasmussen et al. 2004, 5.5.1 */
    bool separate;                /* it does not hold liquid by suction: sheets come off it */
} und_obstacle_def;

#ifdef __cplusplus
}
#endif

#endif
