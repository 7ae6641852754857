/* What the files of this folder share of the rigid bodies. */
#ifndef UND_BODIES_STATE_H
#define UND_BODIES_STATE_H

#include "bodies/bodies.h"
#include "bodies/collide.h"
#include "bodies/meshes.h"

/* A part of a body that collides: spheres, boxes, capsules and cylinders as such; anything else by places on
 * its surface that must not lie inside another shape. */
typedef struct und_body_part {
    const und_shape *shape; /* no union */
    und_collider *geom;     /* NULL: by places */
    und_vec3 center;        /* own coordinates of the body */
    und_quat turn;          /* of the geom, whose axis is z */
    double reach;           /* of a ball about the centre that holds it */
    int point_count;
    und_vec3 *points; /* own coordinates of the body */
} und_body_part;

/* All that a step needs to know of the past; a checkpoint is an array of these. */
typedef struct und_kept {
    und_body_state now;
    double led; /* 1: held or led, 0: free */
} und_kept;

typedef struct und_body {
    const und_body_def *def;
    double mass, volume;
    und_vec3 center; /* of mass, own coordinates */
    und_vec3 middle; /* of volume, own coordinates */
    double inertia[9], inverse_inertia[9];
    double reach; /* of a ball about the centre of mass that holds the body */
    double size;  /* half its smallest extent */
    double skin;  /* contacts are found when bodies come this near: those of a body at rest stay */
    int part_count;
    und_body_part *parts;
    und_vec3 force, torque; /* of the next step */
    /* of a skeleton's bone */
    int parent;               /* the body that it hangs on; -1: none */
    und_vec3 joint, joint_on; /* from its own centre of mass and from the parent's, in their coordinates */
    und_quat bone_turn;       /* the bone's coordinates in the body's */
    double burden;            /* mass times distance from the joint of all that hangs there, kg m */
    /* within a step */
    und_pose place;                                /* of its own coordinates */
    und_pose target;                               /* a led body's, at the end of the step */
    double inverse_mass, world_inverse_inertia[9]; /* 0 where led */
    int contact_count;
    int island, island_end; /* the body that stands for it; where its contacts end in `order` */
} und_body;

typedef struct und_speed {
    und_vec3 velocity, spin;
} und_speed;

/* One direction of a contact. */
typedef struct und_row {
    und_vec3 along, arm_a, arm_b; /* arms: of the places about the centres of mass, times the direction */
    und_vec3 turn_a, turn_b;      /* what a unit impulse does to the spins */
    double give;                  /* and to the speed between the two places */
    double impulse, before, step; /* of the solver: now, a round ago, and its conjugate direction */
    /* of joints */
    double target, least, most; /* speed that it asks for; bounds of the impulse */
    double off;                 /* how far it is from where it should be, m or rad */
} und_row;

typedef enum und_contact_kind {
    UND_CONTACT,
    UND_JOINT_POINT,
    UND_JOINT_LIMITS,
    UND_JOINT_HOLD
} und_contact_kind;

/* Where two bodies touch, or are joined. */
typedef struct und_contact {
    und_contact_kind kind;
    int a, b; /* bodies; a is free; b == count: ground or wall */
    und_vec3 at, normal;
    double depth; /* negative: still apart by so much */
    double friction, target;
    double inverse_mass[2]; /* of a and b */
    und_row row[3];         /* along the normal, and two across it */
} und_contact;

/* Arrays over bodies have one more at the end: ground and walls, which nothing moves. */
struct und_bodies {
    int count, limit; /* how many there may be */
    und_body *bodies;
    und_kept *kept;
    und_meshes meshes;
    und_speed *speed; /* within a step */
    und_speed *shift; /* m/s and rad/s that take bodies out of each other, not kept as speed */
    und_bodies_world world;
    float *ground;      /* a copy; NULL where it is flat or there is none */
    double ground_top;  /* its highest sample */
    bool flat;          /* the first plane is the ground */
    int plane_count;    /* the ground where it is flat, and walls */
    double plane[5][4]; /* normal and offset */
    und_collider *plane_geom[5];
    int box_count; /* solid boxes */
    const und_bounds *boxes;
    und_collider *box_geom; /* takes the size and the place of one after the other */
    int contact_count, contact_limit;
    und_contact *contacts;
    int *order; /* contacts by island: what hangs together by free bodies */
    bool can_collide;
};

und_status und_body_parts_create(und_body *body, und_error *err);
void und_body_parts_destroy(und_body *body);
bool und_ground_create(und_bodies *s, const und_bodies_world *world, und_error *err);
void und_ground_destroy(und_bodies *s);
static inline double und_world_dz(const und_bodies_world *w)
{
    return w->dz > 0 ? w->dz : w->dx;
}
/* No ground within reach of a place is higher. */
double und_ground_top(const und_bodies *s, double x, double z, double reach);
double und_ground_at(const und_bodies *s, double x, double z, und_vec3 *normal);

/* Of figures: joins their bones, once; is a pair of bones at most two joints apart, so that they do not
 * collide; adds what joins those that were let go to s->contacts, and makes its rows. */
void und_joints_create(und_bodies *s);
bool und_joints_near(const und_bodies *s, int i, int j);
void und_joints_find(und_bodies *s);
void und_joint_rows(und_bodies *s, und_contact *c, double time, double dt);
/* From now on the body is free: with the velocity along its way, or as it is thrown. */
void und_body_free(und_bodies *s, int i, double time);

/* Adds to s->contacts from the places of the bodies. */
void und_contacts_find(und_bodies *s);
/* What each contact asks for, from the speeds before the step's forces. */
void und_contacts_prepare(und_bodies *s, double time, double dt);
/* Speeds after contacts, from those after forces. */
void und_contacts_solve(und_bodies *s);
/* Shifts that take bodies out of each other. */
void und_contacts_separate(und_bodies *s, double dt);

static inline und_vec3 und_of(const double v[3])
{
    return und_vec(v[0], v[1], v[2]);
}

static inline void und_to(double v[3], und_vec3 from)
{
    v[0] = from.x;
    v[1] = from.y;
    v[2] = from.z;
}

static inline und_vec3 und_matrix_mul(const double m[9], und_vec3 v)
{
    return und_vec(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                   m[6] * v.x + m[7] * v.y + m[8] * v.z);
}

static inline und_quat und_back(und_quat q)
{
    return (und_quat){q.w, -q.x, -q.y, -q.z};
}

static inline und_quat und_rotation_of(const und_body_state *b)
{
    return (und_quat){b->rotation[0], b->rotation[1], b->rotation[2], b->rotation[3]};
}

static inline bool und_finite(und_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

#endif
