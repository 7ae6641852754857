/* A body in the water, for the force between them. */
#ifndef UND_LIQUID_COLUMNS_BODIES_H
#define UND_LIQUID_COLUMNS_BODIES_H

#include "liquid/columns_state.h"

/* What a body does on an upright line. */
typedef struct und_line_load {
    double x, z;
    double room;      /* m it takes up below the water's level */
    double thickness; /* m from its lowest to its highest point there */
    double bottom;    /* height of the lowest, m */
} und_line_load;

/* A control point that the body covers, with `count` lines from `first`. */
typedef struct und_point_load {
    int i, j; /* between columns (i, j) and (i + 1, j + 1) */
    int first, count;
    double room; /* m, mean over the control point's part of the plane */
} und_point_load;

/* Where a body and the water meet. */
struct und_columns_contact {
    int x0, x1, z0, z1; /* columns it touches, half open */
    int lines;          /* along each side of a control point's part of the plane */
    double bottom;      /* the lowest it reaches, m */
    double middle[2];   /* of the footprint */
    double level;       /* of the water around it at the middle, m */
    double slope[2];    /* of that water along x and z */
    und_vec3 water;     /* velocity of that water, m/s */
};

typedef struct und_body_view {
    int body;
    const und_body_def *def;
    const und_columns_contact *contact;
    und_pose pose;
    und_vec3 up; /* in the body's own coordinates */
    und_body_state state;
    double share; /* of the plane, per line: m2 */
    double room;  /* m3 below the level */
    double under; /* 0 to 1: how much of the body that is */
    double force; /* upwards, N */
    und_vec3 twist;
} und_body_view;

/* What a control point sees of the body, and what is known of the force there. */
typedef struct und_face {
    double x, z, bottom; /* mean place of the body's lower side, m */
    double speed;        /* of it, upwards, m/s */
    double aim;          /* height that the control point must not rise above, m */
    double cover;        /* share of the control point's part of the plane that the body covers */
    double reach;        /* share of what of it lies in the domain: the same, but along edges */
    double head;         /* the pressure, m */
    double least, most;  /* with more the water closes over the body, m; where it has, they are the same */
    double stiff;        /* how much a metre of head opens the gap, m */
} und_face;

/* For one body at a time, made for the largest. */
struct und_columns_scratch {
    double reach; /* of the largest body, m */
    int point_count, line_count;
    und_point_load *point;
    und_line_load *line;
    und_face *face; /* per point */
    /* The patch of columns that the body touches, with a border. */
    double *hull;       /* the body's lower side, m */
    double *after;      /* the surface at the end of the step, m */
    float (*weight)[8]; /* how much a metre of head moves through the pipes to the neighbours, m */
};

/* Adds an upward force at (x, z). */
static inline void und_body_lift(und_body_view *v, double x, double z, double force)
{
    v->force += force;
    v->twist.x -= (z - v->state.position[2]) * force;
    v->twist.z += (x - v->state.position[0]) * force;
}

/* How fast the body comes down on the water at a line, m/s. */
static inline double und_body_falling(const und_body_view *v, const und_line_load *l)
{
    double up = v->state.velocity[1] + v->state.spin[2] * (l->x - v->state.position[0]) -
                v->state.spin[0] * (l->z - v->state.position[2]);
    return v->contact->water.y - up;
}

/* Presses on the columns around a control point with `head` (eq. 11), m over its whole part of the plane;
 * `room` of it is seen as displaced water. */
void und_columns_press(und_columns *s, const und_body_view *v, const und_point_load *p, double head);

/* The level of the water around the body, carried on to (x, z), m. */
double und_contact_level(const und_columns_contact *c, double x, double z);

/* The force in [0, f_max] at each control point: the estimate, or the one that makes body and surface agree.
 */
void und_columns_find_force(und_columns *s, und_body_view *v);

#endif
