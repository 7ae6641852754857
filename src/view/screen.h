/* A window with OpenGL in it, or, offscreen, OpenGL alone: no display is needed then. */
#ifndef UND_VIEW_SCREEN_H
#define UND_VIEW_SCREEN_H

#include "view/event.h"

#include <undine/types.h>

typedef struct und_screen und_screen;

typedef struct und_screen_def {
    const char *title;
    int width, height; /* pixels */
    bool offscreen;
    bool small;   /* offscreen: OpenGL ES 3.0, as small devices and browsers have, even where there is more */
    bool no_wait; /* showing a picture does not wait for the screen */
} und_screen_def;

/* The error says what is missing: a display, OpenGL 3.3. */
und_screen *und_screen_create(const und_screen_def *def, und_error *err);
void und_screen_destroy(und_screen *window);

void und_screen_size(const und_screen *window, int *width, int *height);
double und_screen_scale(const und_screen *window); /* of text: 1, or 2 on a screen with many dots */
/* The next thing that happened; false: nothing more now.  Offscreen nothing ever happens. */
bool und_screen_event(und_screen *window, und_event *event);
/* Waits until something happens, but not longer than that. */
void und_screen_wait(und_screen *screen, double seconds);
void und_screen_bind(und_screen *window); /* what is drawn from now on goes to it */
void und_screen_show(und_screen *window);

#endif
