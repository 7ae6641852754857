/* A body in the water, for the force between them. */
#ifndef UND_LIQUID_COLUMNS_BODIES_H
#define UND_LIQUID_COLUMNS_BODIES_H

#include "liquid/columns_state.h"

/* For one body at a time, made for the largest. */
struct und_columns_scratch {
    double reach; /* size of that, m */
    int count;
    und_face *face;
    double *hull; /* the surface that the body leaves at control points, with a border, m */
    /* The patch of columns that it touches, with a border. */
    double *top;          /* of the water, m */
    double *head;         /* the pressure that pipes see, m */
    double *after;        /* the surface at the end of the step, m */
    double *leaves;       /* what flows off a column for a metre of head, m */
    float *weight[PIPES]; /* how much a metre of head moves through a pipe, m */
};

/* Presses on the columns around a control point with `head` (eq. 11), m over its whole part of the plane;
 * its room is seen as displaced water. */
void und_columns_press(und_columns *s, const und_body_view *v, const und_face *f, double head);

/* The force in [0, f_max] at each control point: the estimate, or the one that makes body and surface agree.
 */
void und_columns_find_force(und_columns *s, und_body_view *v);

/* What was found acts on the body, and the drag besides, which acts back on the water. */
void und_columns_carry(und_columns *s, und_body_view *v);

#endif
