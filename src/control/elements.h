/* What acts on the liquid: sources, drains, forces and velocity modifiers, each rendered into a vector field
 * over the region it declares (Wrenninge 2003, 4.1.1, 4.4.3 to 4.4.5). */
#ifndef UND_CONTROL_ELEMENTS_H
#define UND_CONTROL_ELEMENTS_H

#include "flow/stream.h"

/* A kind of field.  To add one: write a file with its class, name it in the list in elements.c. */
typedef struct und_field_class {
    const char *name; /* "spline" */
    /* The box, in metres, outside which the field is 0 at a time. */
    void (*bounds)(const und_field_def *def, double time, double low[3], double high[3]);
    /* One component at `count` places from `place`, `step` metres apart along x. */
    void (*row)(const und_field_def *def, int axis, const double place[3], double step, int count,
                double time, float *out);
    /* row() may run on several threads at once. */
    bool (*parallel)(const und_field_def *def);
} und_field_class;

typedef struct und_elements und_elements;

und_elements *und_elements_create(const und_mac *mac, const und_element_def *defs, int count, int threads,
                                  und_error *err);
void und_elements_destroy(und_elements *e);

/* Renders what acts at `time` over the cells near liquid; to be called before the others, once per substep.
 */
void und_elements_render(und_elements *e, double time, const und_distance *d);

/* 4.4.3: CSG of phi by sources and drains.  True where phi changed: und_distance_refresh was called. */
bool und_elements_fill(und_elements *e, und_distance *d);
/* Equation 4.3: velocities within sources. */
void und_elements_pour(und_elements *e, und_stream *s);
/* Equation 4.4: adds gravity and forces over dt to the faces of the flow. */
void und_elements_force(und_elements *e, und_stream *s, const double gravity[3], double dt);
/* Equation 4.5. */
void und_elements_modify(und_elements *e, und_stream *s, double dt);

#endif
