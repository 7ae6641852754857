/* A mesh that deforms: its vertices at given times, linear in between, with the velocity that follows. */
#ifndef UND_GEOM_SEQUENCE_H
#define UND_GEOM_SEQUENCE_H

#include "geom/isosurface.h"
#include "geom/motion.h"
#include "geom/trimesh.h"

#include <undine/levelset.h>

/* Triangles into signed distances on the points of a lattice, clamped to +-reach metres, by OpenVDB.
 * nearest[] (may be NULL) is the nearest triangle where |distance| < reach, -1 elsewhere.  Open meshes:
 * inside is what und_trimesh_distance says. */
und_status und_mesh_distance(const und_trimesh *mesh, const und_pose *pose, const und_lattice *lattice,
                             double reach, int threads, float *distance, int32_t *nearest, und_error *err);

/* Frames are held; all must have as many vertices and the same triangles as the first, or the velocity of
 * what lies between two that do not is 0.  times[] grow strictly; before the first and after the last it
 * rests. */
und_sequence *und_sequence_create(und_trimesh_def *const *frames, const double *times, int count,
                                  und_error *err);
void und_sequence_destroy(und_sequence *sequence);
und_bounds und_sequence_bounds(const und_sequence *sequence, double low_time, double high_time);

/* At a time, moved by a pose: distances on the lattice as above and the velocity (m/s, world axes, without
 * that of the pose) of the nearest point of the mesh, velocity[axis][point].  Allocates; not from several
 * threads. */
und_status und_sequence_render(const und_sequence *sequence, double time, const und_pose *pose,
                               const und_lattice *lattice, double reach, int threads, float *distance,
                               float *const velocity[3], und_error *err);

#endif
