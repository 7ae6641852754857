/* Synthetic input: a text that does what a person would, and takes pictures.
 *
 *     move 400 300           the mouse; also: move "damping" 0.5 (within a widget), point 1 0 2 (a place, m)
 *     press left, release left, click, drag 400 300 500 350
 *     click "Reset"          on a widget or a menu
 *     slide "damping" 0.7    a slider, to a share of its length
 *     scroll 2, key space, key ctrl+S, type hello
 *     steps 40               of the liquid, and waits for them
 *     frame 12               of a cache, and waits for it
 *     draw 3                 pictures
 *     wait 0.5               seconds of the wall's clock, drawing
 *     shot pond.png          keeps the picture
 *     tell                   prints how it stands
 *
 * After each line a picture is drawn.  # begins a comment. */
#ifndef UND_VIEW_SCRIPT_H
#define UND_VIEW_SCRIPT_H

#include "view/view.h"

/* Pictures go into `folder`.  UND_INVALID: a line is wrong; the error names the file and the line. */
und_status und_script_run(und_view *view, const char *path, const char *folder, und_error *err);

#endif
