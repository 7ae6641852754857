/* Undine: solids in a liquid. */
#ifndef UNDINE_OBSTACLE_H
#define UNDINE_OBSTACLE_H

#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where liquid comes off a solid that would have to pull at it.  By default, off solids that never move,
 * where there is air beside: behind the edges of outlets a jet draws together. */
typedef enum und_separate { UND_SEPARATE_AT_AIR, UND_SEPARATE_ALWAYS, UND_SEPARATE_NEVER } und_separate;

/* Something solid, at rest or moving: an obstacle, or a container of liquid. */
typedef struct und_obstacle_def {
    const char *name;             /* for reports; NULL: its number */
    const und_shape *shape;       /* in its own coordinates; NULL with a sequence */
    const und_motion *motion;     /* where its origin is; NULL: at rest at the world's */
    const und_sequence *sequence; /* deforming, instead of the shape; moved by motion too */
    bool inside_out;              /* all but the shape is solid: a container */
    const und_value *temperature; /* of its surface, where the liquid has one; NULL: it is insulated */
    double friction;              /* 0: liquid slips along it, 1: it sticks; Rasmussen et al. 2004, 5.5.1 */
    und_separate separate;        /* always: sheets come off it; never: it holds liquid by suction */
} und_obstacle_def;

#ifdef __cplusplus
}
#endif

#endif
