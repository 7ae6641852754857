/* Built without the Open Dynamics Engine. */
#include "bodies/collide.h"

bool und_collide_open(und_error *err)
{
    und_error_set(err, UND_FAILED,
                  "bodies: this build has none: it was made without the Open Dynamics Engine");
    return false;
}
void und_collide_close(void) {}
und_collider *und_collide_sphere(double radius)
{
    (void)radius;
    return NULL;
}
und_collider *und_collide_box(und_vec3 size)
{
    (void)size;
    return NULL;
}
und_collider *und_collide_cylinder(double radius, double length)
{
    (void)radius, (void)length;
    return NULL;
}
und_collider *und_collide_capsule(double radius, double length)
{
    (void)radius, (void)length;
    return NULL;
}
und_collider *und_collide_plane(const double normal_and_offset[4])
{
    (void)normal_and_offset;
    return NULL;
}
void und_collide_free(und_collider *collider)
{
    (void)collider;
}
void und_collide_place(und_collider *collider, und_vec3 at, und_quat turn)
{
    (void)collider, (void)at, (void)turn;
}
void und_collide_place_box(und_collider *box, und_vec3 at, und_vec3 size)
{
    (void)box, (void)at, (void)size;
}
int und_collide(und_collider *a, und_collider *b, und_collision found[UND_COLLISIONS])
{
    (void)a, (void)b, (void)found;
    return 0;
}
