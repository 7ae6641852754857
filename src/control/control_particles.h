/* Control particles: rendered into the cells of a grid, and what they do there (Rasmussen et al. 2004,
 * section 4). */
#ifndef UND_CONTROL_CONTROL_PARTICLES_H
#define UND_CONTROL_CONTROL_PARTICLES_H

#include "flow/mac_flow.h"

#include <undine/control.h>

typedef struct und_control_particles und_control_particles;

/* Copies the list of defs, borrows what they point to.  Frames of loaders are all loaded once, one after the
 * other, to be checked. */
und_control_particles *und_control_particles_create(const und_mac *mac, const und_control_particle_def *defs,
                                                    int count, int threads, und_error *err);
/* The same particles on another grid, with the frames that are loaded; either may be destroyed first. */
und_control_particles *und_control_particles_create_like(const und_control_particles *g, const und_mac *mac,
                                                         und_error *err);
void und_control_particles_destroy(und_control_particles *g);

/* Is there any of the kind, at any time?  g may be NULL. */
bool und_control_particles_have(const und_control_particles *g, und_control_particle_kind kind);
/* A bound of the velocities asked for between time and time + dt, m/s. */
double und_control_particles_fastest(const und_control_particles *g, double time, double dt);

/* Has loaders' frames in memory that rendering at `time`, of surfaces at time + dt, needs, and no others: to
 * be called before it.  UND_FAILED where one is not what it was when it was checked. */
und_status und_control_particles_fetch(und_control_particles *g, double time, double dt, und_error *err);

/* Renders what leads velocity, viscosity and divergence from `time` on: where the particles are then; those
 * of velocity halfway to where they are at time + dt, with the velocity that brings them there. */
void und_control_particles_render(und_control_particles *g, double time, double dt);
/* And what shapes the surface, as it is at `time`. */
void und_control_particles_render_surface(und_control_particles *g, double time);

/* Where those that bring liquid where there is none may act at `time`: the cells of the whole grid from low
 * to high - 1, of each particle of surfaces and of each that adds.  What they need is to be fetched before.
 */
typedef void und_control_box_fn(void *context, const int low[3], const int high[3]);
void und_control_particles_each_box(und_control_particles *g, double time, und_control_box_fn *fn,
                                    void *context);

/* How many of a kind act, and where one of them is: as of the last rendering, for pictures. */
typedef struct und_control_particle_place {
    float at[3], radius; /* m */
    float velocity[3];   /* m/s, that is asked for; 0 of other kinds */
} und_control_particle_place;
int und_control_particles_count(const und_control_particles *g, und_control_particle_kind kind);
und_control_particle_place und_control_particles_place(const und_control_particles *g,
                                                       und_control_particle_kind kind, int i);

/* What particles of a kind ask for in a cell: alpha is the largest of theirs, the value the mean of theirs
 * weighted by alpha (equation 4 and below).  Of surfaces the value is the distance to the plane, of adders
 * and erasers that to the shape, in cells. */
typedef struct und_control_particle_cell {
    float value[3], weight;
    float alpha, hard; /* hard: 1: some alpha is above its def's */
} und_control_particle_cell;

/* Of a cell; NULL where nothing of the kind acts in its row. */
const und_control_particle_cell *und_control_particles_cell(const und_control_particles *g,
                                                            und_control_particle_kind kind, int x, int y,
                                                            int z);

/* Soft control of the velocity: faces of the flow go alpha of the way to what is asked in 1/24 s. */
void und_control_particles_lead(const und_control_particles *g, und_mac_flow *s, double dt);
/* Hard control: the liquid's cells whose alpha is above `hard`; NULL where there is none.  Then the
 * velocities of their faces, but for such that solids close. */
const und_mask *und_control_particles_hold(und_control_particles *g, const und_mac_flow *s);
void und_control_particles_enforce(const und_control_particles *g, und_mac_flow *s, const und_solids *solids);
/* After u was extended: faces in the air that touch cells under hard control have the velocity asked for, so
 * that the surface moves by it. */
void und_control_particles_enforce_in_air(const und_control_particles *g, und_mac_flow *s,
                                          const und_solids *solids);

/* Blends viscosities into a field of cells, m2/s. */
void und_control_particles_viscosity(const und_control_particles *g, float *nu);

/* Adds to grown[] what cells of the liquid, but for those held (may be NULL), gain in dt, as a part of a
 * cell; m3 in all. */
double und_control_particles_grow(const und_control_particles *g, const und_mac_flow *s,
                                  const und_distance *d, const und_solids *solids, const und_mask *held,
                                  double dt, float *grown);

/* Blends the planes into phi, adds and erases.  The cells that were touched are 1 in touched[], laid out as
 * phi, which is 0 before; the farthest that the surface went, in cells.  phi is to be made a distance again.
 */
float und_control_particles_shape(const und_control_particles *g, und_distance *d, double dt,
                                  uint8_t *touched);
void und_control_particles_untouch(const und_control_particles *g, uint8_t *touched); /* 0 again */

/* How far the liquid is from what was asked. */
typedef struct und_control_particle_report {
    double particles, cells; /* that act, in or beside the domain; cells (of velocity: faces) under control */
    double largest, mean;    /* of the difference; the mean is weighted by alpha */
    double asked;            /* the mean of what is asked for, weighted the same */
} und_control_particle_report;

/* nu is NULL where the viscosity is the same everywhere. */
typedef struct und_control_particle_state {
    const und_mac_flow *flow;
    const und_distance *surface;
    const float *nu;
    double viscosity;
} und_control_particle_state;

/* Velocities m/s, viscosities m2/s, surfaces m, divergences 1/s; as of the last rendering. */
und_control_particle_report und_control_particles_report(const und_control_particles *g,
                                                         und_control_particle_kind kind,
                                                         const und_control_particle_state *state);

#endif
