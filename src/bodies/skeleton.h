/* A figure led by a skeleton: ellipsoids on bones, with joints and keys, read from a small text file. */
#ifndef UND_BODIES_SKELETON_H
#define UND_BODIES_SKELETON_H

#include "geom/motion.h"
#include "geom/shape.h"

#include <undine/columns.h>

/* Reads a skeleton from text; `path` is what messages call it.  UND_INVALID with file and line. */
und_skeleton *und_skeleton_parse(const char *text, size_t size, const char *path, und_error *err);
und_skeleton *und_skeleton_load(const char *path, und_error *err);
void und_skeleton_destroy(und_skeleton *skeleton);

int und_skeleton_bones(const und_skeleton *skeleton);
const char *und_skeleton_bone_name(const und_skeleton *skeleton, int bone);
int und_skeleton_find(const und_skeleton *skeleton, const char *name); /* -1: no such bone */
double und_skeleton_length(const und_skeleton *skeleton);              /* s: time of the last key */

/* A bone's ellipsoid, in the bone's own coordinates (it lives as long as the skeleton), and its colour. */
const und_shape *und_skeleton_shape(const und_skeleton *skeleton, int bone);
const float *und_skeleton_color(const und_skeleton *skeleton, int bone);

/* Where the bone's own coordinates are in the world at a time. */
und_pose und_skeleton_pose(const und_skeleton *skeleton, int bone, double time);

#endif
