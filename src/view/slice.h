/* Slices: a plane through a frame, coloured by any of its fields, with a legend, arrows and a probe.  Of a
 * height field the plane is its surface. */
#ifndef UND_VIEW_SLICE_H
#define UND_VIEW_SLICE_H

#include "grid/frame.h"
#include "view/action.h"
#include "view/camera.h"
#include "view/ui.h"

typedef struct und_slice und_slice;

/* What it shows and how; a person changes it in the panel, a program here. */
typedef struct und_slice_look {
    bool on;
    int axis;       /* that it stands across: 0 to 2 */
    double place;   /* m, along the axis */
    char field[64]; /* as the panel names them: "speed", "velocity x", "vorticity across", "pressure" */
    int map;        /* of colormap.h; -1: the one for such a field */
    bool automatic; /* the range follows the values, and only ever grows, so that colours stay */
    double low, high;
    bool liquid_only;
    bool line;       /* the zero of the distance */
    bool arrows;     /* of the velocity in the plane */
    bool smooth;     /* between cells; else each cell has its colour */
    bool through;    /* seen through what is before it */
    bool difference; /* to the frame of the slice it is matched with */
    double opacity;
} und_slice_look;

und_slice *und_slice_create(und_error *err); /* needs the window's context */
void und_slice_destroy(und_slice *slice);

/* Has such a frame planes to show? */
bool und_slice_fits(const und_frame *frame);
/* A new frame, which must stay until the next one is taken; frames of players and live scenes do. */
und_status und_slice_take(und_slice *slice, const und_frame *frame, und_error *err);

und_slice_look *und_slice_looks(und_slice *slice);
/* Makes a second slice, of another frame, show the same, with one range for both; the first may then show its
 * difference to the second.  After both have taken their frames, and before anything else. */
void und_slice_match(und_slice *first, und_slice *second);
void und_slice_range(const und_slice *slice, double range[2]); /* as drawn */

/* How many times as large as they are heights are drawn, so that it is where the painter has them; 1 at
 * first. */
void und_slice_stretch(und_slice *slice, double factor);
void und_slice_draw(und_slice *slice, const und_lens *lens); /* after the painter */
void und_slice_left(und_slice *slice, double pixels);        /* what a panel covers there */
void und_slice_annotate(und_slice *slice, const und_lens *lens, und_ui *ui);
void und_slice_panel(und_slice *slice, und_ui *ui);
const und_action *und_slice_actions(int *count); /* their context is the slice */
/* Where the mouse is, for the probe. */
void und_slice_mouse(und_slice *slice, double x, double y);
/* The value seen at a place of the window, and where that is, m; false: the slice is not there.  NaN: it has
 * none there. */
bool und_slice_probe(const und_slice *slice, const und_lens *lens, double x, double y, double *value,
                     double point[3]);

#endif
