/* The rigid bodies of a frame, and its solids. */
#ifndef UND_STAGE_RIGID_H
#define UND_STAGE_RIGID_H

#include <undine/types.h>

/* What a frame says of them, checked. */
typedef struct und_rigid {
    size_t count, corners;
    const int32_t *first;         /* [count + 1] */
    const float *mesh;            /* [corners][3] */
    const float *color;           /* [corners][3], or NULL */
    const float *place, *turn;    /* [count][3], [count][4] */
    const float *velocity, *spin; /* [count][3], or both NULL */
} und_rigid;

/* False where there are none, or they are damaged. */
bool und_rigid_find(const und_frame *frame, und_rigid *bodies);
/* Where the corners of each of a frame's solids begin, [count + 1]; NULL: it does not tell them apart. */
const int32_t *und_stage_solids_find(const und_frame *frame, size_t corners, size_t *count);
/* Where corners of a body are. */
void und_rigid_corners(const und_rigid *bodies, size_t body, size_t from, size_t count, float (*out)[3]);

#endif
