/* Bodies in water over a ground, which both height fields share: where they are, the water around them, and
 * how much of it they displace; and the drag between the two.  What presses, and what it does to the water,
 * is the model's own.  After O'Brien & Hodgins 1995, section 4. */
#ifndef UND_LIQUID_FLOATS_H
#define UND_LIQUID_FLOATS_H

#include "bodies/bodies.h"
#include "bodies/hull.h"
#include "liquid/balls.h"
#include "liquid/height_field.h"

enum { UND_FLOAT_LINES = 6 }; /* upright ones, along each side of a cell, at most */

/* What a control point, between four cells, sees of a body, and what is known of the force there. */
typedef struct und_face {
    int i, j;           /* between cells (i, j) and (i + 1, j + 1) */
    double cover;       /* share of the control point's part of the plane that the body covers */
    double pierced;     /* share that the body covers and reaches above the level */
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
    int own[4];         /* the cells it touches, in the model's patch */
} und_face;

/* Where a body and the water meet. */
typedef struct und_float_contact {
    int x0, x1, z0, z1;       /* cells it touches, half open */
    int lines[2];             /* upright ones through it, side by side along x and z */
    double first_line[2];     /* where the first are, m */
    double apart[2];          /* m */
    double bottom, top;       /* of its bounds, m */
    double center[2], radius; /* of a circle around it, seen from above */
    double smallest;          /* side of its bounds, m */
    double middle[2];         /* of the footprint */
    double level;             /* of the water around it at the middle, m; none: -infinity */
    double slope[2];          /* of that water along x and z */
    und_vec3 water;           /* velocity of that water, m/s */
    int count;                /* of the control points it covers */
    und_face *face;
    und_hull hull;          /* of shapes whose part below a plane is known by nodes alone; own coordinates */
    double *length, *first; /* of a row of lines: how much of each is in the body, and where that begins */
} und_float_contact;

/* A body in the water, while the force is found. */
typedef struct und_body_view {
    int body;
    const und_body_def *def;
    und_float_contact *contact;
    und_vec3 up, along_x, along_z; /* in the body's own coordinates */
    und_vec3 origin;               /* of the world, there */
    und_body_state state;
    double area;     /* m2 that it covers */
    double room;     /* m3 below the level */
    double whole;    /* m3 it would be if all of it were */
    und_vec3 middle; /* of that room: where the displaced water's weight lifts */
    double under;    /* 0 to 1: how much of the body that is */
    double force;    /* upwards, N */
    und_vec3 twist;
} und_body_view;

/* The water of a cell: its level as it is seen, how it rises and how it flows; false where it is dry. */
typedef bool und_float_look(const void *model, int x, int z, double *level, double *rise, double speed[2]);

typedef struct und_floats {
    const und_height_field *height_field; /* borrowed, with its def's gravity and density */
    und_float_look *look;
    const void *model;
    const und_body_def *defs; /* borrowed, or `thrown` */
    int count, own;           /* all, and those that are not balls thrown by a person */
    und_bodies *bodies;       /* NULL: there never was one */
    und_balls balls;          /* thrown; the last bodies */
    und_body_def *thrown;     /* the defs with the balls after them; NULL: none was ever thrown */
    und_float_contact *contact;
    und_body_view *view; /* per body */
    double (*still)[3];  /* per body: the plane of the water around without its waves: its level at x = z = 0,
                            m, and its slopes; waves alone keeps it */
    double bobbing;      /* s; the longest step that floating takes */
    double reach;        /* size of the largest body, m */
} und_floats;

/* `walls`: by edge.  The bodies' ground is the height field's.  Without bodies it only keeps in mind what to
 * do when a ball is thrown. */
und_status und_floats_open(und_floats *f, const und_body_def *defs, int count, const bool walls[UND_EDGES],
                           und_error *err);
void und_floats_close(und_floats *f);

/* Between steps.  A ball: false where none is left, it is wrong, or memory is short. */
bool und_floats_throw(und_floats *f, const bool walls[UND_EDGES], const und_ball *ball);
void und_floats_drop_balls(und_floats *f);
void und_floats_set_gravity(und_floats *f);

/* Where the bodies are and what the water around them does; where they are, with the water as it was seen. */
void und_floats_look_around(und_floats *f);
void und_floats_find(und_floats *f);
/* Their faces, in their contacts, by several threads where there are many. */
void und_floats_view(und_floats *f);
und_body_view und_float_view(const und_floats *f, int body);
/* After a view: the level under the waterline in place of that around; and with it, or any other, how much
 * of a body is below. */
void und_floats_feel(und_floats *f);
void und_float_sink(const und_floats *f, und_body_view *view);
/* Lets figures go that wait for the water and meet it. */
void und_floats_release(und_floats *f);

/* s; in which bodies neither jump nor pass through each other. */
double und_floats_longest_step(const und_floats *f);

/* What flows past and pushes a body over a step of dt, besides what lifts it: the slope of the water around,
 * and drag.  `mass` is the water that drag moves along x and z, kg; the momentum that it loses is in
 * *impulse. `waves` is a damping in proportion to the speed along them, kg/s; `given`, 0 to 1: what forces do
 * is less, for the water that goes along is to be moved too. */
typedef struct und_float_drag {
    double mass[2], waves, given, dt;
    double impulse[2]; /* N s */
} und_float_drag;
void und_floats_carry(und_floats *f, const und_body_view *v, und_float_drag *drag);

/* The level of the water around the body, carried on to (x, z), m. */
static inline double und_contact_level(const und_float_contact *c, double x, double z)
{
    return c->level + c->slope[0] * (x - c->middle[0]) + c->slope[1] * (z - c->middle[1]);
}

#endif
