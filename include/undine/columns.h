/* Undine: columns of water joined by pipes, with spray and bodies, after O'Brien & Hodgins, "Dynamic
 * Simulation of Splashing Fluids", 1995.  Fill in a und_columns_def (start from und_columns_def_default) and
 * create the model from it. */
#ifndef UNDINE_COLUMNS_H
#define UNDINE_COLUMNS_H

#include <undine/bodies.h>
#include <undine/height_field.h>
#include <undine/spray.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which flow moves the water in a step. */
typedef enum und_marker_flow_rule {
    UND_FLOW_NEW, /* the new one: symplectic, waves keep their height */
    UND_FLOW_MEAN /* equation 7 as printed, the mean of old and new: every wave grows by sqrt(1 + (w dt)^2 /
                     2) a step unless damped; for study */
} und_marker_flow_rule;

/* How the force between a body and the water is found: section 4 of the paper offers both. */
typedef enum und_force_rule {
    UND_FORCE_ESTIMATE, /* from the face that meets the water: fast */
    UND_FORCE_SEARCH    /* the force in [0, f_max] that makes the body and the surface agree */
} und_force_rule;

typedef struct und_columns_def {
    und_height_field_def height_field; /* its damping is that of the flow in the pipes, 1/s */
    double pipe_depth; /* m; pipes reach no deeper, however deep the water: the paper's section of the
                          pipes; infinite: long waves run at sqrt(g depth) */
    double diagonal;   /* g section / length of a diagonal pipe relative to a straight one; 1/4 makes rings
                          round, 1/sqrt(2) is equal sections, 0 is four pipes */
    double smoothing;  /* 0 to 1: short waves lose smoothing (w dt)^2 / 2 of their height in a substep, the
                          shortest most; 0.1 */
    und_marker_flow_rule flow; /* UND_FLOW_NEW */
    und_force_rule force;      /* UND_FORCE_ESTIMATE */
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

und_body_state und_columns_body(const und_columns *columns, int body);

int und_columns_spray_count(const und_columns *columns); /* drops in the air */

#ifdef __cplusplus
}
#endif

#endif
