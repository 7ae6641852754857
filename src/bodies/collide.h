/* Where simple shapes touch, as the Open Dynamics Engine finds it: all that is used of that library.
 * collide_missing.c stands in where it is not installed, and there are no bodies then. */
#ifndef UND_BODIES_COLLIDE_H
#define UND_BODIES_COLLIDE_H

#include "base/status.h"
#include "geom/motion.h"

typedef struct und_collider und_collider;

/* Around all that is done with colliders; counted. */
bool und_collide_open(und_error *err);
void und_collide_close(void);

/* Axes of cylinders and capsules are z; a capsule's length is without its caps. */
und_collider *und_collide_sphere(double radius);
und_collider *und_collide_box(und_vec3 size);
und_collider *und_collide_cylinder(double radius, double length);
und_collider *und_collide_capsule(double radius, double length);
und_collider *und_collide_plane(const double normal_and_offset[4]);
void und_collide_free(und_collider *collider);

void und_collide_place(und_collider *collider, und_vec3 at, und_quat turn);
void und_collide_place_box(und_collider *box, und_vec3 at, und_vec3 size);

typedef struct und_collision {
    und_vec3 at, normal; /* the normal points into the first of the pair */
    double depth;
} und_collision;

enum { UND_COLLISIONS = 16 };
int und_collide(und_collider *a, und_collider *b, und_collision found[UND_COLLISIONS]);

#endif
