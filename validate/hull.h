/* A box that floats upright with a weight in it, in water of 1000 kg/m3: hydrostatics of a wall-sided hull
 * that rolls about z (Lewis, ed., "Principles of Naval Architecture", 1988, vol. 1, ch. 2). */
#ifndef UND_VALIDATE_HULL_H
#define UND_VALIDATE_HULL_H

#include <undine/columns.h>

typedef struct case_hull {
    double mass;       /* kg */
    double draft;      /* m */
    double metacentre; /* above the centre of mass: GM, m */
    double radius;     /* of the metacentre above the centre of buoyancy: BM, m */
    double aside;      /* the centre of mass, along x, m */
    double inertia;    /* about z through the centre of mass, kg m2 */
} case_hull;

case_hull case_hull_of(const und_body_def *body);
/* Where the righting arm GZ = sin(a) (GM + BM tan(a)^2 / 2) is the weight's, degrees. */
double case_hull_heel(const case_hull *hull);
/* 2 pi sqrt(I / m g GM), s: the water does not move with it. */
double case_hull_period(const case_hull *hull);
/* How far a body is turned about z, its side at high x down, degrees. */
double case_heel(const und_body_state *state);

#endif
