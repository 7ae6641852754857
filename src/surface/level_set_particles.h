/* Particles on both sides of the surface that keep a level set from losing what is thinner than its cells:
 * the particle level set (Enright, Fedkiw, Ferziger & Mitchell 2002; Wrenninge 2003, 2.6). */
#ifndef UND_SURFACE_LEVEL_SET_PARTICLES_H
#define UND_SURFACE_LEVEL_SET_PARTICLES_H

#include "base/scratch.h"
#include "grid/mask.h"
#include "grid/state.h"
#include "surface/distance.h"

typedef struct und_level_set_particles_def {
    int per_cell;    /* of both kinds, in a cell near the surface; 16 */
    int reseed;      /* steps from one reseeding to the next; 0: never; 20 */
    float band;      /* cells: they are born this near the surface; 1: those further off hardly matter */
    float radius[2]; /* cells: the smallest and the largest; 0.02, 0.5 */
    bool layered;    /* at solids those of the liquid come no nearer than they were, so that films keep their
                        layers, and those of the air may enter, to be gone when they are half a cell deep
                        (Rasmussen et al. 2004, 5.5.3); false: all are kept out */
} und_level_set_particles_def;

und_level_set_particles_def und_level_set_particles_def_default(void);

typedef struct und_level_set_particles {
    und_mac mac;
    und_level_set_particles_def def;
    uint64_t seed;
    und_device device;
    int count, capacity;
    float *place[3]; /* cells from the low corner of the whole grid, of which this may be a window */
    float *radius;   /* cells; below 0: of the liquid, above 0: of the air */
    struct und_level_set_particles_parts *parts;
} und_level_set_particles;

und_level_set_particles *und_level_set_particles_create(const und_mac *mac,
                                                        const und_level_set_particles_def *def, uint64_t seed,
                                                        int threads, und_scratch *scratch, und_error *err);
void und_level_set_particles_destroy(und_level_set_particles *t);
/* The grid is another window of the same whole from now on; those outside it are gone. */
und_status und_level_set_particles_window(und_level_set_particles *t, const und_mac *mac, und_error *err);

/* wall[]: the solids' distance in cells as und_distance_into_solids has it; NULL: none. */
void und_level_set_particles_seed(und_level_set_particles *t, const und_distance *d,
                                  const float *wall); /* as at the start */

/* Along the flow by the second-order Runge-Kutta method; those that would enter a solid or leave the domain
 * are put back to its surface, and such that leave the domain where the flow does are gone. */
void und_level_set_particles_move(und_level_set_particles *t, float *const u[3], double cells_per_speed,
                                  const float *wall);

/* Called for a particle of the liquid that the grid cannot hold: in a fixed order, from one thread. */
typedef struct und_level_set_particles_lost {
    void (*fn)(void *context, const float place[3], float radius); /* cells */
    void *context;
    float little, much;  /* of the particles that a cell of liquid has: below this many liquid is on its own,
                            from so many on air is overrun; infinite: never */
    const int32_t *held; /* what cells hold, which then says it instead: where all around hold less than
                            `least` there is no liquid to be shown, where they hold more than `most` no air;
                            nobody is told.  NULL: not known */
    int32_t least, most;
    const uint8_t *gains; /* UND_VOLUME_GAINS_MUCH: cells where the flow gains or loses much volume, as where
                             it is made up beyond the surface: particles in them know nothing, and go */
    const float *u[3];    /* the flow: where it keeps its volume liquid may be where cells hold none */
    float per_speed;      /* cells in the step at 1 m/s */
} und_level_set_particles_lost;

/* phi is put right by those that are on its wrong side by more than their radius.  In a flow (lost is not
 * NULL), what the grid cannot hold is taken out instead: liquid where there is little of it, of which `lost`
 * is told, and air that liquid has closed in on. */
void und_level_set_particles_correct(und_level_set_particles *t, und_distance *d,
                                     const und_level_set_particles_lost *lost);

/* Those in cells that are marked (a byte each, laid out as phi) go. */
void und_level_set_particles_leave(und_level_set_particles *t, const uint8_t *marked);

/* After the surface was put elsewhere in the cells that are marked, or in those of a set (the other is NULL):
 * those there are on the side and have the radius that phi says; such as are far from the surface go.  What
 * marks them is run before, in the same go (NULL: they are marked already). */
void und_level_set_particles_refit(und_level_set_particles *t, const und_distance *d, const uint8_t *marked,
                                   const und_mask *cells, const und_step *marking);
/* Those far from the surface go, and cells with too few get more, at once. */
void und_level_set_particles_refill(und_level_set_particles *t, const und_distance *d, const float *wall);
/* Those in cells that are marked go, and as many new ones come as phi there asks for. */
void und_level_set_particles_renew(und_level_set_particles *t, const und_distance *d, const float *wall,
                                   const uint8_t *marked);

/* After a step.  Now and then they are sorted, and those too far from the surface go; every `reseed` steps
 * cells with too few get more, and such with too many lose some.  A radius stays what it was at birth: were
 * it to follow phi, it would follow phi's errors. */
void und_level_set_particles_tidy(und_level_set_particles *t, const und_distance *d, const float *wall);

enum { UND_LEVEL_SET_PARTICLES_STATE = 8 }; /* parts of a state, at most */
int und_level_set_particles_state(und_level_set_particles *t,
                                  und_state_field *list); /* as it is now: a step moves the arrays */
/* After a state was given back; an error where it makes no sense. */
und_status und_level_set_particles_restored(und_level_set_particles *t, und_error *err);

#endif
