/* Where the viewer looks from: orbit, pan, zoom, fly; and what is under the mouse. */
#ifndef UND_VIEW_CAMERA_H
#define UND_VIEW_CAMERA_H

#include <stdbool.h>

/* As a person moves it. */
typedef struct und_camera {
    double target[3];   /* m; what it turns about */
    double distance;    /* m, from the target */
    double turn, climb; /* radians: about the vertical, and above the horizon */
    double view_angle;  /* radians, vertical */
    bool flat; /* looks along -z without perspective, `distance` metres high: liquids in two dimensions */
    double home[6]; /* target, distance, turn, climb at the start */
} und_camera;

void und_camera_look(und_camera *camera, const double eye[3], const double look[3], double view_angle);
void und_camera_go_home(und_camera *camera);
void und_camera_orbit(und_camera *camera, double right, double up); /* radians */
void und_camera_pan(und_camera *camera, double right, double up);   /* shares of the view's height */
void und_camera_zoom(und_camera *camera, double factor);            /* of the distance */
void und_camera_fly(und_camera *camera, double right, double up, double forward); /* m */

/* A part of the window, and the camera in it: what drawing needs.  Matrices by columns, as OpenGL takes them.
 */
typedef struct und_lens {
    int x, y, width, height; /* pixels from the lower left corner, as glViewport */
    int window_height;
    float eye[3], forward[3], right[3], up[3];
    float view[16], projection[16], both[16]; /* both: projection times view */
    float inverse[16];                        /* of both */
    float near, far;
    bool flat;
} und_lens;

/* `size` is that of what is looked at, m: for the near and far planes. */
und_lens und_camera_lens(const und_camera *camera, const int viewport[4], int window_height, double size);

/* The ray through a place of the window, x and y as events give them; direction of length 1. */
void und_lens_ray(const und_lens *lens, double x, double y, double origin[3], double direction[3]);
/* Where a point is seen in the window, in pixels as events give them; false: behind the eye. */
bool und_lens_project(const und_lens *lens, const double point[3], double *x, double *y);
bool und_lens_holds(const und_lens *lens, double x, double y); /* is the place in its part of the window? */

#endif
