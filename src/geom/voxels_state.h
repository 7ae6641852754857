/* What a set of voxels keeps, for the files that build and ask it. */
#ifndef UND_GEOM_VOXELS_STATE_H
#define UND_GEOM_VOXELS_STATE_H

#include "geom/voxels.h"

#include <stdatomic.h>

/* Voxels are stored with one layer of empty ones around, so that each has one of the other kind. */
struct und_voxels {
    atomic_int holders;
    int n[3], padded[3];
    double low[3], cell[3];
    und_bounds bounds;
    uint8_t *filled;  /* [padded] */
    int32_t *nearest; /* [padded]: the voxel of the other kind whose middle is nearest */
};

static inline size_t und_voxel_at(const und_voxels *v, int x, int y, int z) /* -1 to n */
{
    return ((size_t)(z + 1) * (size_t)v->padded[1] + (size_t)(y + 1)) * (size_t)v->padded[0] +
           (size_t)(x + 1);
}

/* The place of the low face of voxel i along an axis. */
static inline double und_voxel_face(const und_voxels *v, int axis, int i)
{
    return v->low[axis] + i * v->cell[axis];
}

#endif
