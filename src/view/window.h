/* A window with OpenGL in it, or, offscreen, OpenGL alone: no display is needed then. */
#ifndef UND_VIEW_WINDOW_H
#define UND_VIEW_WINDOW_H

#include "view/event.h"

#include <undine/types.h>

typedef struct und_window und_window;

typedef struct und_window_def {
    const char *title;
    int width, height; /* pixels */
    bool offscreen;
    bool no_wait; /* showing a picture does not wait for the screen */
} und_window_def;

/* The error says what is missing: a display, OpenGL 3.3. */
und_window *und_window_create(const und_window_def *def, und_error *err);
void und_window_destroy(und_window *window);

void und_window_size(const und_window *window, int *width, int *height);
double und_window_scale(const und_window *window); /* of text: 1, or 2 on a screen with many dots */
/* The next thing that happened; false: nothing more now.  Offscreen nothing ever happens. */
bool und_window_event(und_window *window, und_event *event);
void und_window_bind(und_window *window); /* what is drawn from now on goes to it */
void und_window_show(und_window *window);
void und_window_title(und_window *window, const char *title);
const char *und_window_driver(const und_window *window); /* "llvmpipe (LLVM 15.0.6, 256 bits)" */

#endif
