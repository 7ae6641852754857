/* Inside und_mesh_distance: the narrow band around triangles, which OpenVDB makes. */
#ifndef UND_GEOM_MESH_BAND_H
#define UND_GEOM_MESH_BAND_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Corners in units of the lattice, from its first point.  Distances without a sign in the same units, at most
 * reach, and the nearest triangle where the distance is below it, -1 elsewhere, on n points with x fastest.
 * No triangle may be much larger than the lattice: all that it passes is kept in memory. */
und_status und_mesh_band(const double (*corner)[3][3], size_t count, const int n[3], double reach,
                         int threads, float *distance, int32_t *nearest, und_error *err);

#ifdef __cplusplus
}
#endif

#endif
