/* Inside und_mesh_distance and und_sequence_render: triangles on a lattice, in its own units from its first
 * point on. */
#ifndef UND_GEOM_MESH_BAND_H
#define UND_GEOM_MESH_BAND_H

#include <undine/types.h>

typedef struct und_corners {
    double at[3][3]; /* corner, axis */
} und_corners;

/* Distances without a sign, at most reach, and the nearest triangle where the distance is below it, -1
 * elsewhere, on n points with x fastest. */
und_status und_mesh_band(const und_corners *triangle, int count, const int n[3], double reach, int threads,
                         float *distance, int32_t *nearest, und_error *err);

typedef enum und_sign_rule {
    UND_SIGN_CLOSED, /* every edge has a partner that runs the other way, bit by bit */
    UND_SIGN_OPEN,   /* six half-lines along the lattice's axes vote */
    UND_SIGN_NONE    /* there is no inside */
} und_sign_rule;

/* The same with signs, negative inside. */
und_status und_corners_distance(const und_corners *triangle, int count, und_sign_rule rule, const int n[3],
                                double reach, int threads, float *distance, int32_t *nearest, und_error *err);

#endif
