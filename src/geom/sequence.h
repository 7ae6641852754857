/* Triangles as distances on a lattice, and meshes that deform: their vertices at given times, linear in
 * between, with the velocity that follows. */
#ifndef UND_GEOM_SEQUENCE_H
#define UND_GEOM_SEQUENCE_H

#include "geom/isosurface.h"
#include "geom/mesh.h"
#include "geom/motion.h"
#include "geom/trimesh.h"

#include <undine/shape.h>

enum { UND_REACH_BEYOND = 64 };

/* The points are cubes' corners, and the reach is at most the longest side and UND_REACH_BEYOND spacings. */
und_status und_lattice_cubes(const und_lattice *lattice, double reach, und_error *err);

/* Triangles into signed distances on the points of a lattice of cubes, clamped to +-reach metres; the
 * pose may be NULL.  nearest[] (may be NULL) is the nearest triangle where |distance| < reach, -1
 * elsewhere.  Inside is what und_trimesh_distance says; where the mesh is open its six lines are along the
 * lattice's axes.  Allocates.  The same bits at any number of threads. */
und_status und_mesh_distance(const und_trimesh *mesh, const und_pose *pose, const und_lattice *lattice,
                             double reach, int threads, float *distance, int32_t *nearest, und_error *err);

/* thickness, m: 0 is the surface of a body; above it is a sheet so thick, half of it on each side of the
 * triangles, with nothing inside. */
und_sequence *und_sequence_create(double thickness, und_error *err);
/* The next frame, which is copied.  Where two that follow each other do not have as many vertices and the
 * same triangles, the first stands still until the second replaces it.  Times grow strictly, s; before the
 * first and after the last it rests.  A frame that is no sheet must have a volume. */
und_status und_sequence_add(und_sequence *sequence, const und_trimesh_def *frame, double time,
                            und_error *err);
void und_sequence_destroy(und_sequence *sequence);
/* Of all that it passes between two times, in its own coordinates. */
und_bounds und_sequence_bounds(const und_sequence *sequence, double low_time, double high_time);
size_t und_sequence_bytes(const und_sequence *sequence);
/* Edges without a partner, of the first frame that has such; 0: closed, or a sheet. */
long und_sequence_open_edges(const und_sequence *sequence);
/* The fastest vertex just before a time, m/s. */
double und_sequence_speed(const und_sequence *sequence, double time);

/* 0: a body. */
double und_sequence_thickness(const und_sequence *sequence);
/* The time, or that of the first or the last frame where it is before or after them: it looks the same. */
double und_sequence_clock(const und_sequence *sequence, double time);
/* As it is at a time, in its own coordinates: a body's mesh, to be released; and its triangles, also a
 * sheet's.  Both allocate. */
und_trimesh *und_sequence_mesh(const und_sequence *sequence, double time, und_error *err);
und_status und_sequence_soup(const und_sequence *sequence, double time, und_soup *soup, und_error *err);

/* At a time, moved by a pose (may be NULL): distances on the lattice as above and the velocity (m/s, world
 * axes, without that of the pose) of the nearest point of the mesh just before that time where |distance| <
 * reach, 0 elsewhere; velocity[axis][point], or NULL.  Allocates. */
und_status und_sequence_render(const und_sequence *sequence, double time, const und_pose *pose,
                               const und_lattice *lattice, double reach, int threads, float *distance,
                               float *const velocity[3], und_error *err);

#endif
