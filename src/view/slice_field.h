/* What a frame has to show on a plane: its fields on cells and faces, and what follows from them. */
#ifndef UND_VIEW_SLICE_FIELD_H
#define UND_VIEW_SLICE_FIELD_H

#include "grid/frame.h"

enum { UND_SLICE_FIELDS = 40 };

typedef enum und_slice_kind {
    UND_SLICE_ITEM,     /* an item of the frame */
    UND_SLICE_VELOCITY, /* a component */
    UND_SLICE_SPEED,
    UND_SLICE_VORTICITY, /* its length */
    UND_SLICE_TURN,      /* the component across the plane */
    UND_SLICE_DEPTH      /* surface above ground */
} und_slice_kind;

typedef struct und_slice_field {
    char name[64]; /* as people read it: "velocity x" */
    char unit[16]; /* "" where it has none */
    und_slice_kind kind;
    int axis;             /* of a component */
    const und_item *item; /* of an item */
    bool two_signs;       /* 0 is the middle */
    bool whole;           /* numbers that name something: nothing lies between them */
    bool hot;
} und_slice_field;

/* A frame, all that slices need of it found and checked; the frame must stay. */
typedef struct und_slice_source {
    const und_frame *frame;
    int n[3];
    double size[3], origin[3];   /* m; of a cell, and the low corner */
    bool heights;                /* a height field: its only plane is seen from above */
    const und_item *velocity[3]; /* on cells or faces; NULL: none */
    bool on_faces[3];
    const und_item *distance, *label, *solid; /* or NULL */
    const und_item *surface, *ground;
    int count;
    und_slice_field field[UND_SLICE_FIELDS];
} und_slice_source;

/* False: it has no fields in space. */
bool und_slice_open(und_slice_source *source, const und_frame *frame);

/* At the middle of a cell; NaN where there is nothing.  `across` is the plane's axis. */
double und_slice_cell(const und_slice_source *s, const und_slice_field *field, const int cell[3], int across);

/* A plane of samples, each at the middle of a cell seen along the axis, linear between the two layers of
 * cells beside it. */
typedef struct und_slice_plane {
    int axis, along, across; /* along and across: its own axes */
    int n[2];
    double place; /* m */
    float
        *texel; /* [n[1]][n[0]][4]: the value (NaN: none), phi and the solid's distance in cells, height, m */
} und_slice_plane;

void und_slice_fill(const und_slice_source *s, const und_slice_field *field, int axis, double place,
                    und_slice_plane *plane); /* texel has room for 4 n[0] n[1] */
/* The velocity at a place of the plane, its two components in it; false: none there. */
bool und_slice_flow(const und_slice_source *s, int axis, double place, double u, double v, double flow[2]);

/* Takes another frame's values off, where its cells are the same; else there are none. */
void und_slice_take_off(und_slice_plane *plane, const und_slice_source *s, const und_slice_source *other,
                        const char *name);

/* Values that 3 and 97 of a hundred lie below, of the liquid in the whole frame, and the least and largest;
 * false: there are none.  Of the difference to another frame where that is given. */
bool und_slice_spread(const und_slice_source *s, const und_slice_source *other, const char *name, int axis,
                      double spread[2], double most[2]);

const und_slice_field *und_slice_find(const und_slice_source *s, const char *name); /* NULL: it has none */
bool und_slice_alike(const und_slice_source *a, const und_slice_source *b);         /* the same cells? */

#endif
