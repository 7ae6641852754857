/* A figure led by a skeleton: ellipsoids on bones, with joints and keys, read from a small text file
 * (doc/skeleton.md). */
#ifndef UND_BODIES_SKELETON_H
#define UND_BODIES_SKELETON_H

#include "geom/motion.h"
#include "geom/shape.h"

#include <undine/bodies.h>

/* Reads a skeleton from text; `path` is what messages call it.  UND_INVALID with file and line. */
und_skeleton *und_skeleton_parse(const char *text, size_t size, const char *path, und_error *err);
und_skeleton *und_skeleton_load(const char *path, und_error *err);
void und_skeleton_destroy(und_skeleton *skeleton);

/* Puts the figure's origin at a place, turned (degrees about x, then y, then z); its time 0 is then `start`.
 * Counts from how it was read, not from an earlier call.  UND_INVALID where a number is not finite. */
und_status und_skeleton_place(und_skeleton *skeleton, und_vec3 position, und_vec3 turn, double start,
                              und_error *err);

int und_skeleton_bones(const und_skeleton *skeleton);
const char *und_skeleton_bone_name(const und_skeleton *skeleton, int bone);
int und_skeleton_find(const und_skeleton *skeleton, const char *name); /* -1: no such bone */
double und_skeleton_length(const und_skeleton *skeleton);              /* s: from time 0 to the last key */

int und_skeleton_parent(const und_skeleton *skeleton, int bone); /* -1: the root */
/* Where the bone hangs, in its parent's coordinates; its ellipsoid, in its own. */
und_vec3 und_skeleton_hinge(const und_skeleton *skeleton, int bone);
const und_pose *und_skeleton_ellipsoid(const und_skeleton *skeleton, int bone);
/* The joint's turn about x, then y, then z at a time, and its least and most, rad. */
und_vec3 und_skeleton_turn(const und_skeleton *skeleton, int bone, double time);
void und_skeleton_limits(const und_skeleton *skeleton, int bone, und_vec3 *low, und_vec3 *high);

/* A bone's ellipsoid, about its centre with its axes along x, y and z (it lives as long as the skeleton), and
 * its colour. */
const und_shape *und_skeleton_shape(const und_skeleton *skeleton, int bone);
const float *und_skeleton_color(const und_skeleton *skeleton, int bone);

/* Where the ellipsoid's own coordinates are in the world at a time; held before the first key and after the
 * last.  Allocates nothing. */
und_pose und_skeleton_pose(const und_skeleton *skeleton, int bone, double time);

/* The same for the bone's coordinates, whose origin is its joint. */
und_pose und_skeleton_joint(const und_skeleton *skeleton, int bone, double time);

#endif
