#include "bodies/collide.h"

#include <ode/ode.h>

static dGeomID geom_of(und_collider *collider)
{
    return (dGeomID)collider;
}

static und_collider *collider_of(dGeomID geom)
{
    return (und_collider *)geom;
}

bool und_collide_open(und_error *err)
{
    const bool open = dInitODE2(0);
    if (!open || !dAllocateODEDataForThread(dAllocateMaskAll))
        und_error_set(err, UND_FAILED, "the collision engine could not be started");
    return open;
}
void und_collide_close(void)
{
    dCloseODE();
}

und_collider *und_collide_sphere(double radius)
{
    return collider_of(dCreateSphere(NULL, radius));
}
und_collider *und_collide_box(und_vec3 size)
{
    return collider_of(dCreateBox(NULL, size.x, size.y, size.z));
}
und_collider *und_collide_cylinder(double radius, double length)
{
    return collider_of(dCreateCylinder(NULL, radius, length));
}
und_collider *und_collide_capsule(double radius, double length)
{
    return collider_of(dCreateCapsule(NULL, radius, length));
}
und_collider *und_collide_plane(const double p[4])
{
    return collider_of(dCreatePlane(NULL, p[0], p[1], p[2], p[3]));
}
void und_collide_free(und_collider *collider)
{
    if (collider)
        dGeomDestroy(geom_of(collider));
}

void und_collide_place(und_collider *collider, und_vec3 at, und_quat turn)
{
    dGeomSetPosition(geom_of(collider), at.x, at.y, at.z);
    dGeomSetQuaternion(geom_of(collider), (dQuaternion){turn.w, turn.x, turn.y, turn.z});
}

void und_collide_place_box(und_collider *box, und_vec3 at, und_vec3 size)
{
    dGeomBoxSetLengths(geom_of(box), size.x, size.y, size.z);
    dGeomSetPosition(geom_of(box), at.x, at.y, at.z);
}

int und_collide(und_collider *a, und_collider *b, und_collision found[UND_COLLISIONS])
{
    dContactGeom contact[UND_COLLISIONS];
    const int count = dCollide(geom_of(a), geom_of(b), UND_COLLISIONS, contact, sizeof contact[0]);
    for (int i = 0; i < count; i++) {
        const double *p = contact[i].pos, *n = contact[i].normal;
        found[i] = (und_collision){und_vec(p[0], p[1], p[2]), und_vec(n[0], n[1], n[2]), contact[i].depth};
    }
    return count;
}
