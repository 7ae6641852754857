/* What acts on the liquid: sources, drains, forces and velocity modifiers, each rendered into a vector field
 * over the region it declares (Wrenninge 2003, 4.1.1, 4.4.3 to 4.4.5). */
#ifndef UND_CONTROL_ELEMENTS_H
#define UND_CONTROL_ELEMENTS_H

#include "base/fields.h"
#include "flow/mac_flow.h"

#include <undine/elements.h>

/* What a scene says of a kind of field: members of its data. */
extern const field und_field_spline_keys[], und_field_grid_keys[];
/* Three values; its data is a und_value[3]. */
extern const und_field_kind und_field_value_kind;

typedef struct und_elements und_elements;

/* Copies the list of defs, borrows what they point to. */
und_elements *und_elements_create(const und_mac *mac, const und_element_def *defs, int count, int threads,
                                  und_error *err);
void und_elements_destroy(und_elements *e);
/* The grid is another window of the same size from now on. */
void und_elements_shift(und_elements *e, const und_mac *mac);

/* From now on sources that no cell's middle lies in hold the cells that they touch. */
void und_elements_hold_thin(und_elements *e);

/* Renders what acts at `time`, and what acts for a shorter time than dt from then on: the regions where they
 * moved, and the sources' velocities.  To be called before the others, once per substep. */
void und_elements_render(und_elements *e, double time, double dt, const und_distance *d);

/* Before that, while it is not known how long the substep is: drains are where they are at `time`, whatever
 * was rendered before. */
void und_elements_place_drains(und_elements *e, double time, const und_distance *d);

/* 4.4.3: CSG of phi by sources and drains; or not by drains, nor by sources thinner than a cell, of which phi
 * would show too much.  False: phi is as it was; else und_distance_refresh was called. */
bool und_elements_fill(const und_elements *e, und_distance *d, bool drains);
/* Equation 4.3: velocities on all faces of the cells in sources. */
void und_elements_pour(const und_elements *e, und_mac_flow *s);
/* Those cells; NULL where no source is active. */
const und_mask *und_elements_held(const und_elements *e);
/* Which element, the last of the sources that have the cell, is the source of a held one; -1: none. */
int und_elements_source_at(const und_elements *e, int x, int y, int z);
/* Those of drains; NULL where none is active. */
const und_mask *und_elements_drained(const und_elements *e);
/* What flows out of them, less what flows in, m3/s. */
double und_elements_outflow(const und_elements *e, const und_mac_flow *s, const und_solids *solids);
/* What comes out of the sources' shapes in dt, as far as they are in the domain and solids (NULL: there are
 * none) leave them open, whatever the cells: speed times the area that the flow sees times the time that they
 * run, m3.  Below 0: not known, as a velocity differs from place to place. */
double und_elements_brings(und_elements *e, const und_solids *solids, double dt);
/* m3 in those that run; INFINITY: not known, as above */
double und_elements_fills(und_elements *e, const und_solids *solids);
/* The largest speed, m/s, of the sources that pour within dt, or of their shapes; `volume`: the boxes around
 * those in the domain, m3. */
double und_elements_fastest(const und_elements *e, double time, double dt, double *volume);
/* m3/s that flow from the liquid into drains. */
double und_elements_inflow(const und_elements *e, const und_mac_flow *s, const und_solids *solids);
/* Equation 4.4: adds gravity and forces over dt to the faces of the flow; after some steps of the caller's,
 * in the same parallel region where that can be. */
void und_elements_force(const und_elements *e, und_mac_flow *s, const double gravity[3], double dt,
                        const und_step *before, int steps);
/* Equation 4.5, on the faces of the flow. */
void und_elements_modify(const und_elements *e, und_mac_flow *s, double dt);

#endif
