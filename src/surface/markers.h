/* Marker particles (Foster & Metaxas 1996, section 4.1): massless, carried by the liquid, they say where it
 * is. */
#ifndef UND_SURFACE_MARKERS_H
#define UND_SURFACE_MARKERS_H

#include "geom/shape.h"
#include "grid/frame.h"
#include "grid/pass.h"

#include <undine/walls.h>

typedef struct und_markers {
    und_mac mac;
    uint64_t seed;
    und_device device;
    int count, capacity;
    double *place[3];  /* m */
    double *share;     /* of a cell: the liquid that each stands for */
    double born;       /* since the start */
    int32_t *per_cell; /* how many each cell holds, as the grid lays cells out */
    struct und_markers_scratch *scratch;
} und_markers;

/* None yet. */
und_markers *und_markers_create(const und_mac *mac, uint64_t seed, int threads, und_error *err);
void und_markers_destroy(und_markers *markers);

/* Room for `capacity` markers.  Steps never ask for memory: whoever wants births in one makes room before it,
 * with und_markers_expected of what is to come.  It grows by at least half, so that it is rarely asked. */
und_status und_markers_reserve(und_markers *markers, int capacity, und_error *err);

/* Fills where inside(context, x, y, z) says so: about per_cell to a full cell, on a regular lattice, each in
 * the middle of a box that stands for as much as is inside; none in Solid cells.  A second fill adds to what
 * the first made, where they overlap too. */
typedef bool und_inside_fn(void *context, double x, double y, double z);
und_status und_markers_fill(und_markers *markers, und_inside_fn *inside, void *context, const uint8_t *label,
                            int per_cell, und_error *err);

/* The same in the cells from `low` to before `high` alone. */
und_status und_markers_fill_box(und_markers *markers, und_inside_fn *inside, void *context,
                                const uint8_t *label, int per_cell, const int low[3], const int high[3],
                                und_error *err);
/* Takes out all markers of the cells, by index, where `gone` has `value`. */
void und_markers_take_out(und_markers *markers, const uint8_t *gone, uint8_t value);

/* Moves all over dt by area weighting (figure 3) of the velocity u on high faces, midpoint rule; none ends in
 * a Solid cell: one that would stops at its face and slides.  Those that come into an outflow cell, or into
 * an inflow's against which it flows at present, those that leave the grid and those over which a Solid cell
 * came are taken out.  None moves further than 64 cells. */
void und_markers_move(und_markers *markers, double *const u[3], const uint8_t *label, const uint8_t *wall,
                      const und_wall_def *walls, double dt);

/* Births at inflow faces over dt: each wall's rate over its faces beside cells that are not Solid, or as many
 * as keep `per_cell` to a cell, in proportion to what flows through them, which they share out; at random
 * places of the face and within the way that the inflow makes in dt.  Fractions are owed until they make one.
 * Births beyond the capacity are left out and counted in *missed. */
void und_markers_birth(und_markers *markers, double *const u[3], const uint8_t *label, const uint8_t *wall,
                       const und_wall_def *walls, int wall_count, int per_cell, double dt, long *missed);

/* How many markers there may be after dt: those there are, twice the births at the walls' own rates or by the
 * present flow, and where the flow rules as many as fill a cell at each face, of inflows that begin too. */
int und_markers_expected(const und_markers *markers, double *const u[3], const uint8_t *label,
                         const uint8_t *wall, const und_wall_def *walls, int wall_count, int per_cell,
                         double dt);

/* Counts markers per cell and labels: cells that hold one are UND_CELL_FULL, others UND_CELL_EMPTY, Solid
 * ones stay; a cell without markers that has no Empty side (of the 2 n in n dimensions) and liquid on n of
 * them or more is a hole that markers left between them, and is liquid. */
void und_markers_label(und_markers *markers, uint8_t *label);

/* Finds what markers stand for in each cell, spread over the box that is their own in a full one, so that one
 * on its way across a face goes over little by little.  Their density is 1 in a cell that they fill, less
 * where they stand loosely, and more where they crowd. */
void und_markers_wet(und_markers *markers, const uint8_t *label, int per_cell);
double und_markers_density(const und_markers *markers, size_t cell);
const uint64_t *und_markers_units(const und_markers *markers); /* of each cell, in UND_MARKERS_UNIT */

/* What all of them stand for together, in cells; and `factor` times as much. */
double und_markers_stand_for(const und_markers *markers);
void und_markers_scale(und_markers *markers, double factor);

/* Adds "markers/position" [count][3]; in 2D "markers/share" [count], the part of a cell that each stands for;
 * in 3D the triangles around them, "liquid/mesh_position" and "liquid/mesh_normal" [corners][3]. */
und_status und_markers_frame(const und_markers *markers, int per_cell, const uint8_t *label, und_frame *frame,
                             und_error *err);

und_status und_markers_save(und_markers *markers, und_frame *state, und_error *err);
und_status und_markers_restore(und_markers *markers, const und_frame *state, und_error *err);

#endif
