/* The two halves of `undine check`: what a run will cost, and what in the scene is likely a mistake. */
#ifndef UND_APP_CHECK_H
#define UND_APP_CHECK_H

#include "geom/vec.h"
#include "scene/scene.h"

/* A scene as it is looked through. */
typedef struct survey {
    const und_scene_view *scene;
    const und_height_field_def *height_field; /* NULL: the liquid is no height field */
    const float *surface, *ground;            /* of the first frame; NULL: it has none */
    double low[2], high[2];                   /* of the domain, x and z, m */
    double seconds;                           /* the last frame's time */
    double dt;                                /* of a step, s */
    double deepest;                           /* m */
    int warnings;
} survey;

/* Prints what there is and a line for each warning; returns how many.  `frame` is the first. */
int check_liquid(const und_scene_view *scene, const und_frame *frame, int last);
/* Only those warnings that are quickly found and tell of a run that will be empty, or in which something of
 * the scene does nothing. */
int check_in_vain(const und_scene_view *scene, const und_frame *frame, int last);

/* What each model adds; first what check_in_vain tells. */
void check_waves_in_vain(survey *s);
void check_cells_in_vain(survey *s, const und_frame *frame);
void check_levelset_in_vain(survey *s, const und_frame *frame);
void check_waves(survey *s);
void check_columns(survey *s);
void check_cells(survey *s, const und_frame *frame);
void check_levelset(survey *s, const und_frame *frame);

/* Something that the liquid is to meet. */
typedef struct placed {
    const char *what, *name; /* "source"; NULL: it has none but its number */
    int number;              /* from 1 */
    const und_shape *shape;
    const und_motion *motion; /* NULL: at rest */
    double start, end;        /* s; when it acts */
    const char *thin;         /* what comes of it where it holds the middle of no cell; NULL: no harm */
} placed;

/* A warning where it never is in the domain, or where that matters is thinner than a cell. */
void check_placed(survey *s, const placed *p);
bool check_is_in(const survey *s, const placed *p); /* the domain, at some time */
/* A warning where it is around the whole domain. */
void check_swallowed(survey *s, const placed *p);
/* Control particles. */
void check_control_particles(survey *s, const und_control_particle_def *control_particles, int count);

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
void check_height_field_bodies(survey *s, const und_body_def *bodies, int count); /* over a ground */

/* A warning where a scene's own longest step makes many of a frame. */
void check_max_step(survey *s, double max_step);

void check_warn(survey *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool check_outside(const survey *s, double x0, double x1, double z0, double z1);
/* Prints the speed of long waves, sqrt(g d); how many cells they cross in a step. */
double check_wave_speed(const survey *s, double deepest);

#endif
