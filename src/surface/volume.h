/* How much liquid each cell holds, beside the distance that has its shape: whole numbers, of which 2^24 are a
 * cell's volume, that only ever go from one cell to another.  So sums are exact in any order, and what is not
 * poured in, drained or let out does not change.
 *
 * In a step it goes along with the flow, over faces (und_volume_move: Weymouth & Yue 2010, "Conservative
 * volume-of-fluid method for free-surface simulations on Cartesian grids"); then phi is shifted, smoothly and
 * locally, until it encloses it (und_volume_fit).  What phi cannot hold is a film on a wall, or goes as a
 * drop. */
#ifndef UND_SURFACE_VOLUME_H
#define UND_SURFACE_VOLUME_H

#include "grid/frame.h"
#include "surface/level_set_particles.h"
#include "surface/volume_cells_kernel.h"

typedef struct und_volume {
    und_mac mac;
    und_device device;
    int32_t *c;    /* what each cell holds, of UND_VOLUME_ONE; 0 beside the domain */
    uint8_t *film; /* 1: that lies on a wall, and phi does not show it */
    struct und_volume_parts *parts;
} und_volume;

/* Empty. */
und_status und_volume_open(und_volume *v, const und_mac *mac, int threads, und_scratch *scratch,
                           und_error *err);
void und_volume_close(und_volume *v);
/* Scratch for what moves, fits or shows what cells hold, or takes it out of solids: while one of these
 * goes on it is borrowed. */
void und_volume_borrow(const und_volume *v);
void und_volume_give_back(const und_volume *v);
/* The grid is another window of the same size, and c has been carried there: beside it is nothing. */
void und_volume_shift(und_volume *v, const und_mac *mac);

/* Cells that are another grid's: they neither give nor get, and do not count. */
void und_volume_others(und_volume *v, const uint8_t *others);

/* Each cell holds what phi encloses of it. */
void und_volume_fill(und_volume *v, const und_distance *d, const und_volume_walls *walls);
int64_t und_volume_sum(const und_volume *v);
void und_volume_rows_came(und_volume *v); /* the grid has more than before */
/* What the same found as a pass over rows inside, in one go with others (und_volume_sum_row). */
int64_t und_volume_summed(const und_volume *v);
/* The most that a cell holds, of a cell, once und_volume_sum has looked. */
double und_volume_fullest(const und_volume *v);
/* What phi, and films, show of it: for reports. */
double und_volume_shown(const und_volume *v, const und_distance *d, const und_volume_walls *walls);

/* What is to be drawn, in cells, laid out as phi: that, with films on walls as thick as they are. */
und_status und_volume_show(und_volume *v, const und_distance *d, const und_volume_walls *walls, float *shown,
                           und_error *err);

/* Shifts a frame's distance (m), which is what und_volume_show gave, so that its mesh encloses of each piece
 * what its cells hold. */
und_status und_volume_show_pieces(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                                  const float *shown, const und_frame *frame, und_error *err);

/* Sets film[]. */
void und_volume_find_films(und_volume *v, const und_distance *d, const und_volume_walls *walls);
/* While the flow is made some films count as liquid: what their speeds along walls are before pressure and
 * viscosity act they are afterwards, of the first so many.  Of what is kept und_volume_free_films gives back
 * the room. */
void und_volume_keep_films(const und_volume *v, const int32_t *cells, int count, float *const u[3]);
void und_volume_free_films(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                           const int32_t *cells, int count, float *const u[3]);

/* Films run along their walls for a time of dt: gravity levels them, walls slow them down, contact lines hold
 * them. */
typedef struct und_volume_films {
    float *const *u; /* m/s, of high faces */
    double dt, dx;
    double gravity[3], pull;  /* m/s2, and its size */
    double viscosity;         /* m2/s */
    const float *viscosities; /* instead, of cells of liquid; NULL: it is the same all over */
    double least_viscosity;
    float contact;           /* cells: how thick a puddle at rest is */
    const und_mask *written; /* [3]: faces across each axis, gets those of cells with a film; may be NULL */
} und_volume_films;
void und_volume_run_films(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                          const und_volume_films *films);

/* The viscosity of cells but for what their layers are slowed down by. */
void und_volume_leave_layers(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                             const float *nu, float *left);

/* Told what leaves by a face of an open side: of which cell. */
typedef void und_volume_leaves_fn(void *context, int side, const int cell[3], int32_t amount);

/* Along the flow u (m/s, of high faces) for a time in which 1 m/s crosses `per_speed` cells. */
typedef struct und_volume_flow {
    float *const *u;
    double per_speed;
    double fastest;       /* m/s */
    int layers;           /* cells around the liquid in which u is known */
    const und_mask *held; /* cells that give out what u asks for, be it there or not; NULL: none */
    float poured;         /* so many times that */
    float pin;            /* cells: thinner films do not wet what is dry */
    float stays;          /* cells: a layer on walls that does not come along */
    long step;            /* counts up: the axes' order */
    int inflow_count;
    const und_volume_inflow *inflow;
    und_volume_leaves_fn *leaves; /* NULL: nobody is told */
    void *context;
} und_volume_flow;
/* After und_volume_move: films on slanted walls go round the corners that these have in cells, and lie
 * against them.
 */
void und_volume_settle_films(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                             const und_volume_flow *flow);
/* What left by open sides. */
int64_t und_volume_move(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                        const und_volume_flow *flow);

/* After und_volume_move: phi follows what cells hold, but for held ones, and slowly where little is amiss and
 * particles track the surface. */
void und_volume_fit(und_volume *v, und_distance *d, const und_volume_walls *walls, bool tracked);

/* How particles that correct phi as well are judged: those of the liquid go where the cells around hold next
 * to nothing, those of the air where they hold next to no air. */
und_level_set_particles_lost und_volume_lost(const und_volume *v, float *const u[3], double per_speed);

/* Out of cells in solids, but for what phi encloses of them, to neighbours that are less so. */
void und_volume_leave_solids(und_volume *v, const und_distance *d, const und_volume_walls *walls);

#endif
