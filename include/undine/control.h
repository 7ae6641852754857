/* Undine: control particles, by which a liquid is directed (Rasmussen et al. 2004, section 4).  Each leads
 * one property of the liquid in a sphere or a cylinder around it. */
#ifndef UNDINE_CONTROL_H
#define UNDINE_CONTROL_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum und_control_particle_kind {
    UND_CONTROL_VELOCITY,   /* m/s: soft, or where alpha is above `hard` fixed */
    UND_CONTROL_VISCOSITY,  /* m2/s */
    UND_CONTROL_SURFACE,    /* the surface is led to the plane across the normal */
    UND_CONTROL_DIVERGENCE, /* 1/s: the liquid grows, or shrinks where it is below 0 */
    UND_CONTROL_ERASER,     /* never liquid within the shape */
    UND_CONTROL_ADDER,      /* always liquid within the shape */
    UND_CONTROL_KINDS
} und_control_particle_kind;

typedef enum und_control_particle_shape {
    UND_CONTROL_SPHERE,
    UND_CONTROL_CYLINDER
} und_control_particle_shape;

/* alpha by s, the distance to the centre or to the axis over the radius; 0 beyond 1. */
typedef enum und_falloff {
    UND_FALLOFF_BOX,   /* 1 */
    UND_FALLOFF_HAT,   /* 1 - s */
    UND_FALLOFF_CUBIC, /* 1 - 3 s^2 + 2 s^3 */
    UND_FALLOFF_CURVE  /* samples, evenly from s = 0 to 1 and linear between them */
} und_falloff;

/* Particles at one time; what is NULL is as the def has it. */
typedef struct und_control_particle_frame {
    double time; /* s */
    int count;
    const int32_t *id; /* growing strictly; NULL: 0, 1, 2 and on */
    const float (*at)[3];
    const float (*velocity)[3]; /* m/s */
    const float (*normal)[3];   /* of any length above 0 */
    const float *radius;        /* m */
    const float *strength, *value;
} und_control_particle_frame;

/* Frames that are read only when they are needed, a few at a time: fills in one of them but for its time, in
 * memory that release() lets go.  The same each time, or an error; called from one thread at a time. */
typedef struct und_control_particle_loader {
    und_status (*load)(void *context, int frame, und_control_particle_frame *out, void **memory,
                       und_error *err);
    void (*release)(void *context, void *memory);
    const char *(*name)(void *context, int frame); /* for messages */
    void *context;
} und_control_particle_loader;

/* Some that share how they act. */
typedef struct und_control_particle_def {
    const char *name; /* for reports and messages; NULL: its number */
    und_control_particle_kind kind;
    und_control_particle_shape shape;
    und_falloff falloff;
    int sample_count; /* of a curve, 2 or more */
    const double *samples;
    double radius;      /* m */
    double length;      /* m, of a cylinder; 0: twice its radius */
    double normal[3];   /* of a cylinder: its axis; of surfaces, out of the liquid; {0, 1, 0} */
    double strength;    /* that alpha is multiplied by, 0 to 1; 1 */
    double value;       /* viscosity, m2/s; divergence, 1/s */
    double velocity[3]; /* m/s, asked for instead of the particles' own */
    bool has_velocity;
    bool still;        /* the frames' velocities are asked of the liquid and do not move the particles */
    double hard;       /* velocity: alpha above which it is fixed; 0.9; 1: nowhere */
    double start, end; /* s; they act in [start, end) */
    /* Where they are.  Between two frames they move along splines: Hermite where the frames have velocities,
     * Catmull-Rom where not; other numbers change evenly.  Before the first and after the last they rest; one
     * that the next frame does not have is gone then.  With one frame alone they stay there, and its
     * velocities are asked for. */
    int frame_count;
    const und_control_particle_frame *frames; /* with a loader: of these the times alone */
    und_control_particle_loader loader;       /* load is NULL: frames[] have all of it */
} und_control_particle_def;

und_control_particle_def und_control_particle_def_default(void);

#ifdef __cplusplus
}
#endif

#endif
