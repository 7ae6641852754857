/* The viewer: one or two panes, each with water that runs or a cache that is played, under one camera. */
#ifndef UND_VIEW_VIEW_H
#define UND_VIEW_VIEW_H

#include "scene/scene.h"
#include "view/camera.h"
#include "view/event.h"
#include "view/live.h"
#include "view/timeline.h"

enum { UND_VIEW_PANES = 2 };

typedef struct und_view_def {
    const char *paths[UND_VIEW_PANES]; /* a scene, or caches */
    int count;
    const und_setting *settings;
    int setting_count;
    int width, height; /* pixels; 0: 1280 x 800 */
    bool offscreen;    /* no window: scripts and tests */
    bool small;        /* OpenGL ES 3.0: tests */
    bool paused;       /* what runs stands at first */
    int threads;       /* of the liquid; 0: one per core */
} und_view_def;

typedef struct und_view und_view;

und_view *und_view_create(const und_view_def *def, und_error *err);
void und_view_destroy(und_view *view);

/* What a person does; from a script as from the window. */
void und_view_event(und_view *view, const und_event *event);
/* Takes what happened and what the threads made, and draws a picture.  False: the person is done with it. */
bool und_view_frame(und_view *view, und_error *err);
/* The picture as it is now, rows from above, [height][width][3]. */
void und_view_read(und_view *view, unsigned char *rgb);

/* For scripts. */
und_live *und_view_live(und_view *view);         /* NULL: caches */
und_timeline *und_view_timeline(und_view *view); /* NULL: a scene */
void und_view_settle(und_view *view);            /* until the threads did what was asked */
bool und_view_where(const und_view *view, const char *label, double rect[4]);
const und_lens *und_view_lens(const und_view *view); /* of the first pane, as drawn last */
/* Where a place of the liquid, m, is seen in it, stretched as its heights are; false: behind the eye. */
bool und_view_project(const und_view *view, const double point[3], double *x, double *y);

#endif
