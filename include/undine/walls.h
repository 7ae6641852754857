/* Undine: what the cells of a grid are, and what walls do to the liquid (Foster & Metaxas 1996, section 3).
 */
#ifndef UNDINE_WALLS_H
#define UNDINE_WALLS_H

#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a cell holds (section 3.1). */
typedef enum und_label { UND_CELL_EMPTY, UND_CELL_SURFACE, UND_CELL_FULL, UND_CELL_SOLID } und_label;

/* What a solid, or a cell beside the domain, does to the liquid at it (sections 3.2.1 and 3.2.2). */
typedef enum und_wall_kind {
    UND_WALL_SLIP,   /* liquid slides along it */
    UND_WALL_STICK,  /* liquid has the wall's own velocity at it */
    UND_WALL_INFLOW, /* liquid comes in with the wall's velocity */
    UND_WALL_OUTFLOW /* liquid leaves at its natural rate */
} und_wall_kind;

enum { UND_MARKERS_MOST = 1000 }; /* in a cell */

typedef struct und_wall_def {
    und_wall_kind kind;
    und_value velocity[3]; /* m/s, functions of place and time: of the inflow, or of a wall that sticks, along
                              itself */
    double markers; /* per second, born at an inflow, UND_MARKERS_MOST to a cell of what comes in at most;
                       0: as many as keep their density */
} und_wall_def;

/* Something solid: the cells whose centre lies in it. */
typedef struct und_solid_def {
    const und_shape *shape;
    und_wall_def wall;
} und_solid_def;

/* While it lasts, cells are a wall of this kind: an inflow, an outflow.  Those of the layer beside one side
 * of the domain, all of them or where the shape holds the middle of the face they share with the domain; or,
 * with no side, all whose middle lies in the shape.  Later ones in the list win. */
typedef struct und_gate_def {
    int side;               /* 0 to 5; -1: none */
    const und_shape *shape; /* may be NULL with a side */
    und_wall_def wall;
    double start, end; /* s; active in [start, end) */
} und_gate_def;

#ifdef __cplusplus
}
#endif

#endif
