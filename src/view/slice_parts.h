/* What the files of slices share. */
#ifndef UND_VIEW_SLICE_PARTS_H
#define UND_VIEW_SLICE_PARTS_H

#include "view/gl.h"
#include "view/slice.h"
#include "view/slice_field.h"

struct und_slice {
    und_slice_look look;
    double left; /* pixels of the view that a panel covers */
    bool has_frame, has_other;
    long taken, other_taken; /* frames so far, of its own and of the other */
    und_slice_source source, other;

    und_slice_look shown; /* what the plane and its texture were made for */
    bool stale;           /* or the frame is a newer one */
    und_slice_plane plane;
    size_t room;              /* floats in plane.texel */
    double range[2], most[2]; /* of the colours; of all values */
    bool ranged;              /* the range has begun */
    double reach;             /* m/s; what the longest arrows mean */
    double mouse[2];
    double stretch; /* of heights, as drawn */

    GLuint program, texture, maps;
    int texture_n[2];
};

void und_slice_refresh(und_slice *slice);
/* The field chosen, or the first; NULL: there is no frame. */
const und_slice_field *und_slice_chosen(const und_slice *slice);
int und_slice_map(const und_slice *slice);
bool und_slice_differs(const und_slice *slice); /* is a difference shown? */
/* The height over a place of a height field's plane; else 0. */
double und_slice_height(const und_slice *slice, double u, double v);
/* The plane's place (u, v) in space, as drawn. */
void und_slice_point(const und_slice *slice, double u, double v, double point[3]);
/* Ends of the plane: low and high along, low and high across. */
void und_slice_extent(const und_slice *slice, double extent[4]);

#endif
