/* Undine: columns of water joined by pipes, with spray and bodies, after O'Brien & Hodgins, "Dynamic
 * Simulation of Splashing Fluids", 1995.  Fill in a und_columns_def (start from und_columns_def_default) and
 * create the model from it. */
#ifndef UNDINE_COLUMNS_H
#define UNDINE_COLUMNS_H

#include <undine/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct und_skeleton und_skeleton; /* joints and keys; see und_skeleton_* */

/* Which flow moves the water in a step. */
typedef enum und_flow_rule {
    UND_FLOW_NEW, /* the new one: symplectic, waves keep their height */
    UND_FLOW_MEAN /* equation 7 as printed, the mean of old and new: every wave grows by sqrt(1 + (w dt)^2 /
                     2) a step unless damped; for study */
} und_flow_rule;

/* How the force between a body and the water is found: section 4 of the paper offers both. */
typedef enum und_force_rule {
    UND_FORCE_ESTIMATE, /* from the face that meets the water: fast */
    UND_FORCE_SEARCH    /* the force in [0, f_max] that makes the body and the surface agree */
} und_force_rule;

/* Drops that leave the water where its surface rises too fast. */
typedef struct und_spray_def {
    bool on;
    double threshold;      /* upward speed of the surface above which it sprays, m/s; 2.25 */
    double rate;           /* drops per m2 and second, at most; 400,000 */
    double radius[2];      /* of the smallest and the largest drop, m; 0.002, 0.008 */
    double share;          /* of the rise above the threshold that leaves as spray, 0 to 1; 1 */
    double launch[2];      /* a drop's velocity upwards and sideways relative to the surface's; 1, 1 */
    double scatter;        /* random part of a drop's velocity, relative to its speed; 0.15 */
    double drag;           /* of the air, relative to that on a sphere (drag coefficient 0.47); 0: none */
    und_vector wind;       /* m/s; acts through the drag */
    int most;              /* drops in the air at once; 1 << 20 */
    bool sheets;           /* young drops of one impact hang together in a thin sheet until it tears */
    double sheet_tear;     /* m; a sheet thinner than this tears; 0.0002 */
    double sheet_cohesion; /* 1/s; how fast neighbours in a sheet come to move alike; 20 */
} und_spray_def;

/* A rigid body, free or led. */
typedef struct und_body_def {
    const und_shape *shape;   /* in its own coordinates; a plane has no size and is not allowed */
    double density;           /* kg/m3 */
    double mass;              /* kg; above 0 it counts instead of the density */
    double ballast;           /* kg; a small weight in it besides, which moves its centre of mass; 0 */
    double ballast_at[3];     /* where that is, own coordinates, m */
    double position[3];       /* of its own origin at the start, m */
    double rotation[3];       /* degrees about x, then y, then z */
    double velocity[3];       /* m/s */
    double spin[3];           /* rad/s */
    double release;           /* s; held where it is, or led, until then; 0 */
    const und_motion *motion; /* led along keys until released; NULL: held */
    const und_skeleton
        *skeleton; /* led by a skeleton's bone instead; released, it hangs on its parent's body */
    int bone;
    bool release_wet; /* of a skeleton: the whole figure is released when one of its bones meets water, too */
    double hold;      /* strength with which a released figure's joint goes on with its keys: 1 holds all that
                         hangs on it straight out against its weight, 0 is limp; 0 */
    double drag;      /* of the water, on the area that faces it: about 0.5 for a ball, 1 for a box; 0.6 */
    double bounce;    /* 0 to 1: how much of the speed is left after a bump; 0.3 */
    double friction;  /* 0.4 */
    float color[3];   /* linear; negative: the shape's own, or dark red */
} und_body_def;

und_body_def und_body_def_default(void);

typedef struct und_columns_def {
    und_pool_def pool;    /* its damping is that of the flow in the pipes, 1/s */
    double pipe_depth;    /* m; pipes reach no deeper, however deep the water: the paper's section of the
                             pipes; infinite: long waves run at sqrt(g depth) */
    double diagonal;      /* g section / length of a diagonal pipe relative to a straight one; 1/4 makes rings
                             round, 1/sqrt(2) is equal sections, 0 is four pipes */
    double smoothing;     /* 0 to 1: short waves lose smoothing (w dt)^2 / 2 of their height in a substep, the
                             shortest most; 0.1 */
    und_flow_rule flow;   /* UND_FLOW_NEW */
    und_force_rule force; /* UND_FORCE_ESTIMATE */
    und_spray_def spray;
    int body_count;
    const und_body_def *bodies;
    bool velocity; /* write the water's velocity with each frame */
} und_columns_def;

und_columns_def und_columns_def_default(void);

typedef struct und_columns und_columns;

/* Borrows what the def points to until it is destroyed. */
und_columns *und_columns_create(const und_columns_def *def, und_error *err);
void und_columns_destroy(und_columns *columns);

/* From time to time + dt, in as many substeps as the pipes' stability needs: no dt is too large.  dt is
 * finite and not negative. */
void und_columns_step(und_columns *columns, double dt);

double und_columns_time(const und_columns *columns);
und_ledger und_columns_ledger(const und_columns *columns);

/* Height of the water's surface as it is seen, with what bodies displace, and of the ground, m. */
double und_columns_surface(const und_columns *columns, int x, int z);
double und_columns_ground(const und_columns *columns, int x, int z);
/* Height of the control point between column (x, z) and the one at (x + 1, z + 1), m: the mesh of the paper's
 * surface (eq. 10); x from -1 to nx - 1, where the columns at the edge count twice. */
double und_columns_control(const und_columns *columns, int x, int z);
/* Depth of the water alone, m. */
double und_columns_depth(const und_columns *columns, int x, int z);

/* Where a body's centre of mass is and how it moves. */
typedef struct und_body_state {
    double position[3]; /* m */
    double rotation[4]; /* unit quaternion, w first */
    double velocity[3]; /* m/s */
    double spin[3];     /* rad/s, world axes */
} und_body_state;

und_body_state und_columns_body(const und_columns *columns, int body);

int und_columns_spray_count(const und_columns *columns); /* drops in the air */

#ifdef __cplusplus
}
#endif

#endif
