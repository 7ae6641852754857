/* Undine: height-field water, after Kass & Miller, "Rapid, Stable Fluid Dynamics for Computer Graphics",
 * 1990. Fill in a und_waves_def (start from und_waves_def_default) and create the model from it. */
#ifndef UNDINE_WAVES_H
#define UNDINE_WAVES_H

#include <undine/bodies.h>
#include <undine/height_field.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An object that moves through the water along its keys and pushes it aside. */
typedef struct und_object_def {
    const und_shape *shape;   /* in its own coordinates */
    const und_motion *motion; /* NULL: at rest at the origin */
    float color[3];           /* linear; the first negative: the mesh's own colours, or dark red */
} und_object_def;

/* A ball that falls, floats or sinks, and pushes the water aside. */
typedef struct und_ball {
    double place[3];    /* m; its middle */
    double velocity[3]; /* m/s */
    double radius;      /* m */
    double density;     /* kg/m3 */
} und_ball;

typedef struct und_foam_def {
    bool on;
    double threshold; /* water faster than this makes foam, m/s */
    double rate;      /* how fast, 1/s */
    double life;      /* s to fall to 1/e */
} und_foam_def;

typedef struct und_waves_def {
    und_height_field_def height_field; /* its damping: equation 17's tau is 1 - exp(-damping dt) */
    und_value velocity0;               /* upward speed of the surface at the start, m/s */
    double viscosity; /* m2/s: the ground slows shallow water by 3 viscosity / depth^2 per second; 0 */
    int order;        /* 2: second order, does not damp; 1: the paper's implicit step, which does */
    int object_count;
    const und_object_def *objects;
    int body_count; /* that fall, float and sink by themselves, or are led */
    const und_body_def *bodies;
    bool velocity;     /* keep the water's velocity and write it with each frame */
    und_foam_def foam; /* needs velocity, and turns it on */
    bool has_dye;
    und_value dye; /* a concentration carried by the water; needs velocity */
    bool texture;  /* carry texture coordinates; needs velocity */
} und_waves_def;

und_waves_def und_waves_def_default(void);

typedef struct und_waves und_waves;

/* Borrows what the def points to until it is destroyed. */
und_waves *und_waves_create(const und_waves_def *def, und_error *err);
void und_waves_destroy(und_waves *waves);

/* One step of equations 13 to 20 from time to time + dt, stable for any dt.  dt is finite and not negative.
 */
void und_waves_step(und_waves *waves, double dt);

double und_waves_time(const und_waves *waves);
und_ledger und_waves_ledger(const und_waves *waves);

/* Height of the water's surface and of the ground at a sample, m; dry where the surface is not above. */
double und_waves_surface(const und_waves *waves, int x, int z);
double und_waves_ground(const und_waves *waves, int x, int z);

/* Where one of the def's bodies is and how it moves. */
und_body_state und_waves_body(const und_waves *waves, int body);

#ifdef __cplusplus
}
#endif

#endif
