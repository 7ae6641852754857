/* The liquid's surface as a signed distance near it, negative in the liquid: a level set (Wrenninge
 * 2003, 2.5). Distances are in cells, which are cubes; at cell centres. */
#ifndef UND_SURFACE_DISTANCE_H
#define UND_SURFACE_DISTANCE_H

#include "grid/pass.h"

#include <undine/shape.h>

typedef struct und_distance {
    und_mac mac;
    und_device device;
    int width;                        /* cells: beyond it phi is +width or -width */
    float *phi;                       /* in the layer beside the domain: that of the cell it touches */
    float *next;                      /* scratch of its stages; outside the band the same as phi */
    bool keeps_thin;                  /* what is one cell thick: und_distance_advect does not draw it thin */
    und_mask band;                    /* cells inside the domain with |phi| < width */
    struct und_distance_parts *parts; /* what the stages need for themselves */
} und_distance;

/* No liquid anywhere. */
und_status und_distance_open(und_distance *d, const und_mac *mac, int width, int threads, und_error *err);
void und_distance_close(und_distance *d);

/* After phi was written from outside: clamps it, sets the layer beside and the band. */
void und_distance_refresh(und_distance *d);

/* phi as others have it, so many slices beyond one's own; and all that stages go on from. */
void und_distance_get_phi(const und_distance *d, int reach);
void und_distance_get(const und_distance *d, int reach);

/* phi as it is, into another array of the grid's layout. */
void und_distance_copy(const und_distance *d, float *phi);

/* How a value is followed back along the flow. */
typedef enum und_trace_order { UND_TRACE_RK2, UND_TRACE_RK3 } und_trace_order;

/* Equation 4.8 over a time in which a speed of 1 m/s crosses `cells_per_speed` cells (dt / dx), phi followed
 * back along the flow (Enright, Losasso & Fedkiw 2004).  u is of high faces, m/s, to be known in the band and
 * as far around it as the liquid comes; the caller sees that nothing moves further than width - 2 cells. */
void und_distance_advect(und_distance *d, float *const u[3], double cells_per_speed, und_trace_order trace);
/* The same by fifth-order HJ-WENO and third-order TVD Runge-Kutta, in as many parts as its stability needs.
 */
void und_distance_advect_weno(und_distance *d, float *const u[3], double cells_per_speed);

/* Makes phi a distance again, out to the width, where phi = 0 stays put to the order of accuracy, 1 or 2;
 * sets the band anew.  The same bits at any thread count. */
void und_distance_redistance(und_distance *d, int order);

/* Where a solid is (wall[] in cells, negative inside, laid out as phi; NULL: none), phi goes on straight
 * along the solid's normal from what it is in front of it, so that a flat surface is flat up to the wall. */
void und_distance_into_solids(und_distance *d, const float *wall);
/* The same, but cells of the set stay as they are; `known`: what is in solids is of the step before. */
void und_distance_into_solids_but(und_distance *d, const float *wall, const und_mask *kept, bool known);

/* phi becomes the smaller (union), the larger (intersection) of itself and the shape's distance, or the
 * larger of itself and minus that (difference); looks only at cells near the shape's bounds.  Calls
 * und_distance_refresh; a redistance is due afterwards. */
typedef enum und_csg { UND_CSG_UNION, UND_CSG_INTERSECTION, UND_CSG_DIFFERENCE } und_csg;
void und_distance_csg(und_distance *d, und_csg operation, const und_shape *shape);

/* m3 of liquid: each cell's part under the plane that phi and its gradient make, times room[] (0 to 1, the
 * part of a cell that is not solid; NULL: 1). Sums in a fixed order. */
double und_distance_volume(const und_distance *d, const float *room);
/* The cells with liquid, or whose held[] is not 0 (NULL: none), from low to below high; false where there are
 * none.  wet: their rows are added, may be NULL. */
bool und_distance_bounds(const und_distance *d, const int32_t *held, int low[3], int high[3],
                         und_present *wet);
double und_distance_area(const und_distance *d); /* m2 of surface, about */

/* The part of a cell, 0 to 1, on the negative side of a plane at a signed distance from its centre with this
 * gradient (of any length above 0). */
double und_distance_part(double distance, const double gradient[3]);

#endif
