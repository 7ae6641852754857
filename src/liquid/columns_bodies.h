/* A body in the water, for the force between them. */
#ifndef UND_LIQUID_COLUMNS_BODIES_H
#define UND_LIQUID_COLUMNS_BODIES_H

#include "liquid/columns_state.h"

enum { LINES_MAX = 6 }; /* along each side of a control point's part of the plane */

/* What a control point sees of the body, and what is known of the force there. */
typedef struct und_face {
    int i, j;           /* between columns (i, j) and (i + 1, j + 1) */
    double cover;       /* share of the control point's part of the plane that the body covers */
    double reach;       /* share of what of it lies in the domain: the same, but along edges */
    double room;        /* m it takes up below the water's level, mean over that part */
    double x, y, z;     /* middle of that room */
    double surface;     /* the body's lower side, or where the water closed over it would end without it, m */
    double speed;       /* of the body, upwards, m/s */
    double aim;         /* height that the control point must not rise above, m */
    double head, next;  /* the pressure, m; what it will be */
    double ram;         /* what most may be more where the body rams the water, m */
    double least, most; /* with more the water closes over the body, m; where it has, they are the same */
    double stiff;       /* how much a metre of head opens the gap, m */
    int own[4];         /* the columns it touches, in the patch */
} und_face;

/* Where a body and the water meet. */
struct und_columns_contact {
    int x0, x1, z0, z1;       /* columns it touches, half open */
    int lines;                /* along each side of a control point's part of the plane */
    double bottom, top;       /* of its bounds, m */
    double center[2], radius; /* of a circle around it, seen from above */
    double smallest;          /* side of its bounds, m */
    double middle[2];         /* of the footprint */
    double level;             /* of the water around it at the middle, m */
    double slope[2];          /* of that water along x and z */
    und_vec3 water;           /* velocity of that water, m/s */
    int count;                /* of the control points it covers */
    und_face *face;
    double *length, *first; /* of a row of lines: how much of each is in the body, and where that begins */
};

/* A body in the water, while the force is found. */
typedef struct und_body_view {
    int body;
    const und_body_def *def;
    und_columns_contact *contact;
    und_vec3 up, along_x, along_z; /* in the body's own coordinates */
    und_vec3 origin;               /* of the world, there */
    und_body_state state;
    double area;     /* m2 that it covers */
    double room;     /* m3 below the level */
    und_vec3 middle; /* of that room: where the displaced water's weight lifts */
    double under;    /* 0 to 1: how much of the body that is */
    double force;    /* upwards, N */
    und_vec3 twist;
} und_body_view;

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

/* Where the bodies are and what the water around them does: first of all, while what they displaced is still
 * known. */
void und_columns_look_around(und_columns *s);

/* The body's faces, in its contact; bodies may be looked at by several threads. */
und_body_view und_columns_view(und_columns *s, int body);

/* The level of the water around the body, carried on to (x, z), m. */
static inline double und_contact_level(const und_columns_contact *c, double x, double z)
{
    return c->level + c->slope[0] * (x - c->middle[0]) + c->slope[1] * (z - c->middle[1]);
}

/* Presses on the columns around a control point with `head` (eq. 11), m over its whole part of the plane;
 * its room is seen as displaced water. */
void und_columns_press(und_columns *s, const und_body_view *v, const und_face *f, double head);

/* The force in [0, f_max] at each control point: the estimate, or the one that makes body and surface agree.
 */
void und_columns_find_force(und_columns *s, und_body_view *v);

/* What was found acts on the body, and the drag besides, which acts back on the water. */
void und_columns_carry(und_columns *s, und_body_view *v);

#endif
