/* The two halves of `undine check`: what a run will cost, and what in the scene is likely a mistake. */
#ifndef UND_APP_CHECK_H
#define UND_APP_CHECK_H

#include "geom/vec.h"
#include "scene/scene.h"

/* A scene as it is looked through. */
typedef struct survey {
    const und_scene_view *scene;
    const und_pool_def *pool;      /* NULL: the liquid is no pool */
    const float *surface, *ground; /* of the first frame; NULL: it has none */
    double low[2], high[2];        /* of the domain, x and z, m */
    double seconds;                /* the last frame's time */
    double dt;                     /* of a step, s */
    double deepest;                /* m */
    int warnings;
} survey;

/* Prints what there is and a line for each warning; returns how many.  `frame` is the first. */
int check_liquid(const und_scene_view *scene, const und_frame *frame, int last);

/* What each model adds. */
void check_waves(survey *s);
void check_columns(survey *s);
void check_cells(survey *s, const und_frame *frame);
void check_levelset(survey *s, const und_frame *frame);

/* Bodies in a liquid. */
typedef struct check_crowd {
    int count;
    const und_body_def *bodies;
    double density;    /* of the liquid, kg/m3 */
    double narrow;     /* m; what is narrower is a mistake */
    const char *solid; /* "the ground" */
    bool (*in_solid)(const void *context, und_vec3 at);
    const void *context;
} check_crowd;

void check_bodies(survey *s, const check_crowd *crowd);

void check_warn(survey *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool check_outside(const survey *s, double x0, double x1, double z0, double z1);
/* Prints the speed of long waves, sqrt(g d); how many cells they cross in a step. */
double check_wave_speed(const survey *s, double deepest);

#endif
