/* Undine: sources, drains, forces and velocities, by vector fields (Wrenninge 2003, 4.1.1). */
#ifndef UNDINE_ELEMENTS_H
#define UNDINE_ELEMENTS_H

#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of vector field that an element can be (4.1.1: whatever can be rendered into one).  A new one is a
 * file with this in it; doc/levelset.md shows how. */
typedef struct und_field_kind {
    const char *name; /* "spline" */
    size_t size;      /* of the data that describes one, bytes */
    /* What the functions below read, made of the data once; NULL: they read the data. */
    void *(*prepare)(const void *data, und_error *err);
    void (*release)(void *ready);
    /* The box, m, outside which the field is 0 at a time; NULL: it has none. */
    void (*bounds)(const void *ready, double time, double low[3], double high[3]);
    /* One component at `count` places, from `place` on, `step` metres apart along x. */
    void (*row)(const void *ready, int axis, const double place[3], double step, int count, double time,
                float *out);
    bool (*serial)(const void *ready); /* row is to be called from one thread at a time; NULL: it is not */
} und_field_kind;

typedef struct und_points {
    int count;
    const double (*at)[3]; /* m */
} und_points;

/* Along a curve, fading to 0 at a radius around it. */
typedef struct und_field_spline {
    und_points points; /* the curve passes them: Catmull-Rom */
    double radius;     /* m */
    double speed;      /* along the curve, m/s (or m/s2): on it as given, falling off to 0 at the radius */
    double pull;       /* towards the curve, the same unit: as given a third of the radius away, 0 on it */
} und_field_spline;

/* Samples on a grid, linear between them, 0 outside.  With one sample along an axis it is the same all along
 * it. */
typedef struct und_field_grid {
    int n[3];
    double low[3], high[3]; /* m; of the first and the last sample */
    const float *sample;    /* [z][y][x][3]; NULL: the values, each asked for once */
    und_value value[3];
} und_field_grid;

extern const und_field_kind und_field_spline_kind, und_field_grid_kind;

typedef struct und_field_def {
    const und_field_kind *kind; /* NULL: the values */
    const void *data;           /* of the kind: a und_field_spline, say */
    und_value value[3];         /* functions of place and time, or constant */
} und_field_def;

/* What acts on the liquid (4.4.3 to 4.4.5). */
typedef enum und_element_role {
    UND_ELEMENT_SOURCE,  /* always liquid, with the field's velocity */
    UND_ELEMENT_DRAIN,   /* never liquid */
    UND_ELEMENT_FORCE,   /* the field is an acceleration, m/s2 */
    UND_ELEMENT_VELOCITY /* equation 4.5: the field's velocity, blended in by alpha */
} und_element_role;

typedef struct und_element_def {
    und_element_role role;
    const und_shape *shape;   /* the region; NULL: everywhere (forces and velocities) */
    const und_motion *motion; /* of the region; NULL: at rest */
    und_field_def field;
    und_value alpha;   /* velocity: how much of the way to the field is gone in 1/24 s, 0 to 1; 1 */
    double soft;       /* m: alpha and forces fade to 0 over it inside the region's border; 0 */
    double start, end; /* s; active in [start, end) */
    const und_value *temperature; /* sources: of the liquid in it; NULL: as it comes */
} und_element_def;

#ifdef __cplusplus
}
#endif

#endif
