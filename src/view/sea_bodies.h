/* A frame's bodies, kept from frame to frame: their triangles are the same, and they move. */
#ifndef UND_VIEW_SEA_BODIES_H
#define UND_VIEW_SEA_BODIES_H

#include "stage/scenery.h"

/* Of a vertex: place, normal, colour, number of the body. */
enum { UND_SEA_VERTEX = 10 };

typedef struct und_sea_bodies {
    int count, corners;
    int32_t *first;      /* [count + 1] */
    float *mesh, *color; /* [corners][3] */
    float *reach;        /* [count]: m */
    float *pose;         /* [count][8]: centre and 0, turn (x, y, z, w) */
    und_drawn_mesh soup; /* the triangles in the bodies' own axes: it makes the normals */
    /* The same with each corner once that several triangles share: what is drawn. */
    int vertices;
    float (*vertex)[UND_SEA_VERTEX];
    uint32_t *index; /* [corners] */
} und_sea_bodies;

/* None where there are none in the frame, or they are damaged; *changed: other triangles than before;
 * *moved: they, or other places. */
und_status und_sea_bodies_take(und_sea_bodies *bodies, const und_frame *frame, bool *changed, bool *moved,
                               und_error *err);
void und_sea_bodies_free(und_sea_bodies *bodies);

#endif
