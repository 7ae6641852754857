/* What the files of the particle level set share. */
#ifndef UND_LIQUID_LEVELSET_STATE_H
#define UND_LIQUID_LEVELSET_STATE_H

#include "control/control_particles.h"
#include "control/elements.h"
#include "geom/vec.h"
#include "grid/halo.h"
#include "liquid/levelset.h"
#include "liquid/levelset_closing_kernel.h"
#include "liquid/levelset_kernel.h"
#include "spray/spray.h"
#include "surface/level_set_particles.h"
#include "surface/volume.h"

/* In the order of 4.4. */
enum {
    STAGE_WINDOW,
    STAGE_SOLIDS,
    STAGE_SOURCES,
    STAGE_CONTROL,
    STAGE_LABELS,
    STAGE_ADVECT,
    STAGE_FORCES,
    STAGE_DIFFUSE,
    STAGE_PROJECT,
    STAGE_EXTEND,
    STAGE_SURFACE,
    STAGE_PARTICLES,
    STAGE_CORRECT,
    STAGE_REDISTANCE,
    STAGE_SPRAY,
    STAGE_MEASURE,
    STAGE_COUNT
};

/* What a frame tells of its substeps. */
enum {
    STEP_STATS_SUBSTEPS,
    STEP_STATS_SHORTEST, /* s */
    STEP_STATS_SOLVES,   /* UND_LIQUID_MEAN_ITERATIONS and those after it */
    STEP_STATS_COUNT = STEP_STATS_SOLVES + UND_LIQUID_SOLVE_STATS
};

enum { UND_LEVELSET_OBSTACLES = 255 }; /* at most */

struct und_levelset {
    und_liquid liquid;
    und_levelset_def def;
    und_device device;
    und_scratch *scratch; /* that parts share */
    int layers;           /* cells around the liquid in which velocities are known */
    und_mac mac;
    und_present *present;                 /* the grid's; NULL: it has all rows */
    und_present *asked_rows;              /* that the substep needs; NULL: nobody asks */
    struct und_levelset_packing *packing; /* while it is looked how rows may share memory */
    bool packed;                          /* they do */
    und_distance surface;
    und_level_set_particles *particles; /* NULL: a plain level set */
    und_mac_flow flow;
    und_solids solids;
    und_pressure *system;
    und_elements *elements; /* NULL: nothing but gravity acts */
    struct und_levelset_spray *spray;
    struct und_levelset_viscous *viscous; /* NULL: the viscosity is a number that diffuses, or none */
    struct und_levelset_heat *heat;       /* NULL: the liquid has no temperature */
    struct und_levelset_control *control; /* NULL: no control particles */
    struct und_levelset_pockets *pockets;
    struct und_levelset_volume *volume; /* NULL: cells have no volume of their own */
    struct und_levelset_held *held;     /* cells whose faces' velocities are given */
    bool open[UND_SIDES]; /* sides of the grid that liquid leaves by: of a window, all but closed ones of the
                             domain */
    size_t lent;          /* that the scratch has for what stages hand on to each other */
    int32_t *film_cell;   /* room for the lists of und_levelset_pressed */
    int32_t *closing; /* cells of gaps that close in a substep of so long (0: not known), so many; how much
                         they get too much, cells */
    double closing_within, closing_much;
    int closing_count;
    double blow;  /* s: until then a blow lasts */
    und_mask wet; /* cells where phi is below 0, while gaps are looked for */
    double time, left, end, dt;
    double before;       /* s: the substep before this one */
    double kick, kicked; /* s: from the middle of that to the middle of this one; the same before */
    double substeps;
    double last_two_equal; /* 1: half of what was left of a step is done, and the rest is its last substep */
    double fastest;        /* m/s: of the flow that last moved the liquid */
    double usual;          /* the same, but for a few faces */
    double furthest;       /* cells that the fastest cross in a substep */
    und_trace_order follows; /* what phi is followed back by: in long steps the flow bends on the way */
    und_ledger ledger;
    double lost[4];   /* what sums of sources, drains, left and spray_back lost in rounding, in that order */
    double losing;    /* m3 that following the surface loses in a substep, of late */
    double given;     /* m3 that the flow of this substep puts back of it */
    double drained;   /* m3 that flowed into drains in this substep; booked in the next */
    double pending;   /* m3 to be given back to the liquid, by all of it growing */
    double *leaked;   /* m3, of each obstacle */
    double *squeezed; /* m3 that each has pressed into cells without room for it, where cells have volumes */
    double step_stats[STEP_STATS_COUNT];
    struct und_levelset_bands *bands; /* NULL: the grid neither sources others nor is sourced */
    double recorded;                  /* bands kept since the start */
    und_levelset_report last;
    bool ran_away;
    bool crawls;   /* max_step would need too many substeps */
    double needed; /* s; the substep that its speed asks for, or max_step */
    bool fitted;   /* the window is automatic: all is as on the whole grid, to the last bit */
    bool few_rows; /* and it may have but those rows that there is something in or near */
    bool window_failed;
    und_error window_error;
    und_stage stages[STAGE_COUNT];
};

/* levelset_wall_films.c: the surface as the flow is made for it, from labels to the projection: films, and
 * gaps that close, count as liquid. */
typedef struct und_levelset_pressed {
    und_distance surface; /* the liquid's, but for phi, which is in its `next` */
    int32_t *film;        /* cells that count as liquid: of gaps, and films */
    int film_count;
    int kept;         /* of these, the first whose speeds are kept (und_volume_keep_films) */
    int32_t *closing; /* cells that would be overfull after the step (levelset_closing.c) */
    int closing_count;
    double
        *pressure; /* that the projection finds: flow.p; where stresses act, lent, what they change of it */
} und_levelset_pressed;
und_status und_levelset_wall_films_open(und_levelset *s, und_error *err);
void und_levelset_wall_films_close(und_levelset *s);
und_levelset_pressed und_levelset_press(und_levelset *s);
void und_levelset_release(und_levelset *s, const und_levelset_pressed *p);

/* levelset_project.c: all that the pressure takes and gives (4.4.8). */
und_mac_flow_report und_levelset_project(und_levelset *s, und_levelset_pressed *pressed);

/* levelset_viscous.c: the viscosity, by whichever solver. */
enum {
    UND_LEVELSET_VISCOUS_STEPS, /* what a frame tells of its substeps */
    UND_LEVELSET_VISCOUS_MEAN,  /* iterations */
    UND_LEVELSET_VISCOUS_MOST,
    UND_LEVELSET_VISCOUS_FAILED, /* did not converge */
    UND_LEVELSET_VISCOUS_STATS
};
bool und_levelset_is_viscous(const und_levelset_def *def);
bool und_levelset_viscosity_varies(const und_levelset_def *def); /* with place, time, heat or control */
und_status und_levelset_viscous_open(und_levelset *s, und_error *err);
void und_levelset_viscous_share(und_levelset *s); /* with whom the level set does */
void und_levelset_viscous_close(und_levelset *s);
void und_levelset_viscous_keep(und_levelset *s);                             /* before forces act */
void und_levelset_viscosity(und_levelset *s, und_levelset_pressed *pressed); /* but for plain diffusion, */
bool und_levelset_diffuses(const und_levelset *s);
void und_levelset_diffuse(und_levelset *s); /* of a flow that keeps its volume */
/* After the projection, whose pressure is what changed since: p is all of it. */
void und_levelset_viscous_add(und_levelset *s, double *pressure);
void und_levelset_viscous_begin(und_levelset *s);             /* a frame's steps */
const float *und_levelset_viscosities(const und_levelset *s); /* of the last substep; NULL: one for all */
double *und_levelset_viscous_pressure(const und_levelset *s); /* of the state */
double *und_levelset_viscous_stats(und_levelset *s);          /* NULL: the viscosity is a number, or none */

/* levelset_heat.c: the temperature; each does nothing where there is none. */
und_status und_levelset_heat_open(und_levelset *s, und_error *err);
void und_levelset_heat_close(und_levelset *s);
void und_levelset_heat_fill(und_levelset *s); /* at the start */
float und_levelset_heat_outside(
    const und_levelset *s); /* where no liquid is near: as a frame of bands has it */
void und_levelset_heat_came(und_levelset *s, const und_mac *from); /* cells that this window did not have */
void und_levelset_heat_spread(und_levelset *s);          /* from sources and walls, and within the liquid */
void und_levelset_heat_move(und_levelset *s);            /* with the flow, before the surface does */
float *und_levelset_temperatures(const und_levelset *s); /* NULL: none */
bool und_levelset_melts(const und_levelset *s);          /* the viscosity depends on it */
double und_levelset_melt_viscosity(const und_levelset *s, size_t cell);

/* How long a substep is: levelset_steps.c. */
enum { UND_LEVELSET_MOST_SUBSTEPS = 100000 }; /* of a frame */
double und_levelset_courant(const und_levelset_def *def);
void und_levelset_set_courant(und_levelset *s); /* and what follows from it */
void und_levelset_find_speeds(und_levelset *s); /* the fastest, and usual */
void und_levelset_choose_step(und_levelset *s);
double
und_levelset_jump(const und_levelset *s); /* m: what goes further in a substep jumps; 0: nothing does */

/* levelset.c: all that goes by the grid's cells but the particles, the drops and the pressure's system, which
 * stay when a window moves. */
und_status und_levelset_open_grid(und_levelset *s, und_error *err);
void und_levelset_close_grid(und_levelset *s);
/* Who has the slices beside, from now on; NULL: nobody. */
void und_levelset_share(und_levelset *s, const und_halo *halo);

/* levelset_window.c: what stands at each cell, or high face across an axis, and goes on from one substep to
 * the next: saved with the state and carried along when the window moves.  A new one is one more line there.
 */
typedef struct und_levelset_field {
    const char *name;
    und_type type;  /* UND_F32, UND_I32 or UND_F64 */
    void *data;     /* of the grid's layout */
    int axis;       /* of faces; UND_MAC_CELLS */
    double outside; /* what comes in where a window had nothing */
    bool adapts;    /* a branch may come from a state without it */
} und_levelset_field;
enum { UND_LEVELSET_FIELDS = 24 };
/* levelset_present.c: the rows that a fitted window has, where most of them have nothing in or near them. */
und_status und_levelset_rows_open(und_levelset *s,
                                  und_error *err); /* all; before all else that goes by mac */
void und_levelset_rows_close(und_levelset *s);
/* What the grid is to hold is told: that from here on, box by box; then what is around that. */
void und_levelset_need_none(und_levelset *s);
void und_levelset_need_box(und_levelset *s, const int low[3], const int high[3]); /* of the whole grid */
/* The grid has only what is needed, or another window `from` did, if that is little.  Nothing was opened. */
und_status und_levelset_choose_rows(und_levelset *s, const und_levelset *from, und_error *err);
/* How rows lie in a state's arrays, where that is another way than in the window's; *mac is the window's as
 * it lies there, to be let go of. */
und_status und_levelset_rows_save(const und_levelset *s, und_frame *state, und_error *err);
und_status und_levelset_rows_of(const und_levelset *s, const und_frame *state, und_mac *mac,
                                und_present **present, und_error *err);
/* The same of a state. */
und_status und_levelset_state_rows(und_levelset *s, const und_frame *state, und_error *err);
/* Before a substep: rows that are needed come; whether all is better opened anew with fewer. */
bool und_levelset_keep_rows(und_levelset *s);

int und_levelset_carried(und_levelset *s, und_levelset_field list[UND_LEVELSET_FIELDS]);
void und_levelset_carry_field(const und_mac *from, const void *old, const und_mac *to,
                              const und_levelset_field *f);
void und_levelset_first_window(und_levelset *s); /* sets mac and open; before anything is opened on it */
und_status und_levelset_first_rows(und_levelset *s, und_error *err); /* then */
void und_levelset_move_window(und_levelset *s);
/* low, n; and a state on that, which is not taken over. */
und_status und_levelset_set_window(und_levelset *s, const int32_t window[6], const und_frame *state,
                                   und_error *err);

/* levelset_start.c: the liquid at the start. */
und_status und_levelset_fill(und_levelset *s, und_error *err);

/* Its rows, where what is done at the start changes the level set: each place is worth eight of a plain pass.
 */
typedef struct und_levelset_starting {
    und_levelset *s;
    und_set rows;
} und_levelset_starting;
static inline und_levelset_starting und_levelset_starting_of(und_levelset *s)
{
    und_levelset_starting start = {s, und_set_rows(&s->mac, UND_ROWS_INSIDE)};
    start.rows.worth *= 8;
    return start;
}

/* levelset_fills.c: how far a place is from fills, cells, below 0 in them; and what cells hold of them. */
double und_levelset_from_fills(const void *levelset, und_vec3 p);
void und_levelset_fill_cells(und_levelset *s);

/* levelset_edges.c: to the pressure there is air beyond open sides, to stresses the same as in the domain;
 * what leaves by them is booked, and they let nothing in. */
void und_levelset_beyond_sides(const und_levelset *s, float *phi, bool air);
void und_levelset_leave(und_levelset *s);

/* levelset.c: pressure over density, m2/s2, so much below the air's that solids let go. */
double und_levelset_suction(const und_levelset *s);

/* levelset_held.c: cells of the liquid whose faces' velocities are given, by whoever: they have no pressure,
 * and what is beside them sees a wall that moves.  They are found after the cells are labelled; what is given
 * is put back after each stage that changes velocities. */
und_status und_levelset_held_open(und_levelset *s, und_error *err);
void und_levelset_held_close(und_levelset *s);
void und_levelset_hold(und_levelset *s);
const und_mask *und_levelset_held(const und_levelset *s); /* NULL: none */
void und_levelset_enforce_held_velocities(und_levelset *s);

/* m3 that they gain in the step by what they are given, where control leads them or they are enslaved: where
 * cells have volumes after those have moved. */
double und_levelset_held_gain(und_levelset *s);
/* And of what they have come to hold that no cell can. */
double und_levelset_held_unpile(und_levelset *s);
/* levelset_pockets.c: parts of the liquid that only walls and held cells enclose, and at least one of these
 * (Rasmussen et al. 2004, 5.6).  `held` may be NULL; NULL: there are none. */
und_status und_levelset_pockets_open(und_levelset *s, und_error *err);
void und_levelset_pockets_close(und_levelset *s);
const und_mask *und_levelset_pockets_find(und_levelset *s, const und_mask *held);
void und_levelset_pockets_give(und_levelset *s);

/* levelset_control.c: control particles. */
und_status und_levelset_control_open(und_levelset *s, const struct und_levelset_control *old, und_error *err);
/* Whether all is in memory that the substep ahead needs; if not, what the trouble is. */
bool und_levelset_control_ready(und_levelset *s);
und_status und_levelset_control_trouble(const und_levelset *s, und_error *err);
void und_levelset_control_close(und_levelset *s);
und_control_particles *und_levelset_control_particles(const und_levelset *s); /* NULL: there are none */
void und_levelset_book(und_levelset *s, double volume); /* m3 that control made, or took */
/* What cells gain in the step by it, of a cell, is added. */
bool und_levelset_control_grows(const und_levelset *s);
void und_levelset_control_grow(und_levelset *s, const und_distance *surface, float *grown);
/* The surface is shaped, false where nothing does; and after phi is a distance again. */
bool und_levelset_control_shape(und_levelset *s);
void und_levelset_control_shaped(und_levelset *s);
/* How far the liquid is from what was asked, at the end of a step. */
enum {
    UND_LEVELSET_CONTROL_KINDS = 4,   /* velocity, viscosity, surface, divergence */
    UND_LEVELSET_CONTROL_NUMBERS = 5, /* of each, a und_control_particle_report */
    UND_LEVELSET_CONTROL_STATS = UND_LEVELSET_CONTROL_KINDS * UND_LEVELSET_CONTROL_NUMBERS
};
void und_levelset_control_tell(und_levelset *s);
double *und_levelset_control_stats(und_levelset *s); /* NULL: there is no control */

/* levelset_apart.c: before the surface moves, air comes between solids and liquid that leaves them; and phi
 * goes on into solids but there, also after the solids moved. */
void und_levelset_come_apart(und_levelset *s);
void und_levelset_into_solids(und_levelset *s, bool moved);

/* levelset_bands.c: cells that other grids share with this one. */
und_status und_levelset_bands_open(und_levelset *s, und_error *err);
void und_levelset_bands_close(und_levelset *s);
/* They are as they are in the domain; what they have by the grid's cells is opened anew, with these. */
und_status und_levelset_bands_window(und_levelset *s, und_error *err);
/* Where liquid comes from other grids in the substep ahead, in cells of the domain: each row, and each face.
 */
void und_levelset_bands_each_box(const und_levelset *s, und_control_box_fn *fn, void *context);
und_status und_levelset_bands_trouble(const und_levelset *s, und_error *err);
void und_levelset_bands_keep(und_levelset *s); /* for those further down */
/* At the start: begins with what the others have.  Then before each substep, which is at most as long as
 * given: gets what they have at its end.  False: not now. */
bool und_levelset_bands_begin(und_levelset *s);
bool und_levelset_bands_ready(und_levelset *s, double longest);
void und_levelset_bands_step(und_levelset *s); /* how long it is */
/* Cells of the liquid that are another grid's; NULL: none. */
const und_mask *und_levelset_bands_cells(und_levelset *s, const und_mask *held);
void und_levelset_take_flow(und_levelset *s);               /* their faces' velocities */
void und_levelset_take_surface(und_levelset *s, bool last); /* phi; at last with new particles too */
double und_levelset_bands_inflow(const und_levelset *s, const float *phi); /* m3/s over their border */
const float *und_levelset_counted(const und_levelset *s); /* the part of each cell that the ledger counts */
bool und_levelset_band_at(const und_levelset *s, size_t cell);
/* Where cells have volumes: what leaves by open sides, of UND_VOLUME_ONE, is kept for others; what comes from
 * them in the substep, face by face, and all of it. */
void und_levelset_bands_left(void *levelset, int side, const int cell[3], int32_t amount);
void und_levelset_bands_drop_left(und_levelset *s, const float place[3], const float speed[3], double amount);
int und_levelset_bands_arrive(und_levelset *s, const und_volume_inflow **inflow, double *amount);
enum { UND_LEVELSET_BANDS_STATE = 3 };
int und_levelset_bands_state(und_levelset *s, und_state_field *list);

/* levelset_volume.c: what cells hold.  The ledger's volume, m3; what phi and films show of it. */
und_status und_levelset_volume_open(und_levelset *s, und_error *err);
void und_levelset_volume_close(und_levelset *s);
void und_levelset_volume_fill(und_levelset *s);  /* with what phi encloses */
void und_levelset_volume_shift(und_levelset *s); /* the grid is another window */
double und_levelset_volume_sum(const und_levelset *s);
double und_levelset_volume_fitted(const und_levelset *s); /* as und_levelset_volume_fit left it */
double und_levelset_volume_shown(const und_levelset *s);
/* What a frame shows: phi, and films on walls. */
und_status und_levelset_volume_show(und_levelset *s, float *shown, und_error *err);
und_status und_levelset_volume_show_pieces(und_levelset *s, const float *shown, const und_frame *frame,
                                           und_error *err);
int32_t *und_levelset_volume_cells(const und_levelset *s); /* of the state; and what drops have */
und_volume *und_levelset_volumes(const und_levelset *s);
const float *und_levelset_volume_rooms(const und_levelset *s); /* of cells, 0 to 1; NULL: all are open */
/* Numbers that go on from step to step, of UND_VOLUME_ONE: what drops have, whole; what sources have brought
 * and are not to have yet; what crests threw off since the start. */
enum { UND_LEVELSET_FLYING, UND_LEVELSET_AHEAD, UND_LEVELSET_THROWN, UND_LEVELSET_VOLUME_NUMBERS };
double *und_levelset_volume_numbers(und_levelset *s);
/* In the order of a step: after solids moved; before and after sources and drains changed phi; labels; what
 * cells are to gain by the flow, with what they gain already (NULL: nothing); along the flow; and phi
 * follows.
 */
struct und_volume_walls und_levelset_walls(const und_levelset *s);
void und_levelset_volume_walls(und_levelset *s);    /* also whenever they were placed anew */
void und_levelset_volume_appeared(und_levelset *s); /* in a branch: what is in solids is told as squeezed */
void und_levelset_volume_excess(und_levelset *s);
/* s: for how long forces act in a substep of dt. */
double und_levelset_kick(const und_levelset *s, double dt);
/* The share of the liquid that gaps which close in a substep of dt would get too much. */
double und_levelset_closing_soon(und_levelset *s, double dt);
void und_levelset_closing_forget(und_levelset *s); /* something has changed */
void und_levelset_closing_find(und_levelset *s, und_levelset_pressed *p);
/* Whether there are many more that the flow overfills, now that it has its pressure; they are on the list
 * then. */
bool und_levelset_closing_find_more(const und_levelset *s, und_levelset_pressed *p);
void und_levelset_volume_passed(und_levelset *s);
void und_levelset_volume_before(und_levelset *s);
void und_levelset_volume_elements(und_levelset *s);
/* Takes the pressure back where gaps close that it overfills, and presses them too: it is to be found again.
 */
bool und_levelset_volume_press_more(und_levelset *s, und_levelset_pressed *p);
struct und_volume_slowing;
/* Walls slow down what is thin; of a viscosity what is left for others to do. */
void und_levelset_volume_slow(und_levelset *s);
int und_levelset_volume_slow_begin(und_levelset *s,
                                   struct und_volume_slowing *to); /* its steps, to be done */
void und_levelset_volume_slow_end(und_levelset *s);
float *und_levelset_volume_leave_layers(const und_levelset *s, float *nu, float *left);
/* The speeds of films, before forces act; films have them after the pressure has. */
void und_levelset_volume_keep(und_levelset *s, und_levelset_pressed *p);
void und_levelset_volume_free(und_levelset *s, const und_levelset_pressed *p);
enum { UND_LEVELSET_GAINING = 2 };
typedef struct und_levelset_gaining {
    und_excess_args excess;
    und_closing_gaining gaps;
    und_set liquid, closing;
    und_pass pass[UND_LEVELSET_GAINING];
    und_step step[UND_LEVELSET_GAINING]; /* by which what is returned is made */
} und_levelset_gaining;
const float *und_levelset_volume_gain(const und_levelset *s, const und_levelset_pressed *p,
                                      const float *grown, und_levelset_gaining *g);
void und_levelset_volume_move(und_levelset *s);
void und_levelset_volume_hold_back(und_levelset *s); /* once phi has moved too */
void und_levelset_volume_fit(und_levelset *s);
und_level_set_particles_lost und_levelset_volume_lost(const und_levelset *s); /* how particles are judged */
/* Control: cells gain parts of a cell; m3 that were made.  And those that are touched hold what phi encloses.
 */
double und_levelset_volume_grow(und_levelset *s, const float *grown);
void und_levelset_volume_take_shape(und_levelset *s, const uint8_t *touched);
double und_levelset_quantum(const und_levelset *s); /* m3: the least that a cell holds */
/* A drop of at most so many of UND_VOLUME_ONE sets out (m, m/s); how many it has, for the caller to take out
 * of its cell: 0 where there are too many drops. */
int32_t und_levelset_volume_throw(und_levelset *s, const double place[3], const double speed[3],
                                  double units);
/* The cell that gets what comes down at a place (cells of the whole grid); -1: it is another grid's. */
int32_t und_levelset_volume_landing(const und_levelset *s, const und_volume_walls *walls,
                                    const float place[3]);
void und_levelset_volume_fetch(const und_levelset *s, int32_t at);
/* A drop of so many m3 comes down in a cell (-1: it left); the last that was in the air. What it brings, m3.
 */
double und_levelset_volume_land(und_levelset *s, int32_t at, double volume, bool last);

#define UND_LEVELSET_TENSION 0.072 /* N/m: of water's surface, which holds drops together */

/* levelset_breakup.c: what leaves of cells in the air, after und_volume_fit.  What kernels know of drops that
 * set out, so many blocks of them; and then these are the liquid's no more. */
void und_levelset_break_up(und_levelset *s, const und_volume_walls *walls);
struct und_dropped;
struct und_dropping und_levelset_dropping(const und_levelset *s, int blocks, struct und_dropped *dropped);
void und_levelset_book_drops(und_levelset *s, const struct und_dropped *dropped);
double und_levelset_pull(const und_levelset *s); /* m/s2: gravity */
double und_levelset_breakup_time(const und_levelset *s);

/* levelset_crest.c: crests throw off drops, after und_levelset_volume_fit.  And how fast one does, m/s: as
 * sharp as that (1/m), where it goes outwards at a speed and a free fall would have given `fallen` (m2/s2) of
 * its square. */
void und_levelset_crests(und_levelset *s);
double und_levelset_crest_speed(double outwards, double sharp, double fallen, double pull, double tension,
                                double viscosity);

/* levelset_surface.c: phi is made a distance again, of the liquid on each side of thin walls by itself. */
void und_levelset_redistance(und_levelset *s);
void und_levelset_move_surface(und_levelset *s);
double und_levelset_volume(const und_levelset *s); /* m3, as the ledger has it */

/* levelset_spray.c */
/* Of drops that may come to a floor in the substep ahead, or to cells from low[i] to below high[i] where a
 * solid is (so many), in cells of the whole grid: false where there are none. */
bool und_levelset_spray_reach(const und_levelset *s, int count, const int (*low)[3], const int (*high)[3],
                              int reach_low[3], int reach_high[3]);
und_status und_levelset_spray_open(und_levelset *s, und_error *err);
void und_levelset_spray_close(und_levelset *s);
void und_levelset_spray_step(und_levelset *s); /* after the surface moved */
void und_levelset_throw_drop(void *levelset, const float place[3],
                             float radius); /* und_level_set_particles_lost */
/* What cells gain where drops fell in, as a part of a cell, is added, and nothing is left of it. */
bool und_levelset_spray_grows(const und_levelset *s);
void und_levelset_spray_grow(und_levelset *s, float *grown);
enum { UND_LEVELSET_SPRAY_STATE = 2 };
int und_levelset_spray_state(und_levelset *s, und_state_field *list); /* besides the drops' own */
uint64_t und_levelset_spray_hash(und_levelset *s);                    /* of these, in whichever window */
und_status und_levelset_spray_restored(const und_levelset *s, und_error *err);
/* The grid was another window before: what drops brought to cells goes along. */
void und_levelset_spray_window(und_levelset *s, const und_mac *before, bool carried);
und_spray *und_levelset_drops(const und_levelset *s); /* NULL: there is no spray */

/* levelset_frame.c */
und_status und_levelset_write_frame(und_liquid *liquid, und_frame *frame, und_error *err);
und_status und_levelset_save(und_liquid *liquid, und_frame *state, und_error *err);
und_status und_levelset_restore(und_liquid *liquid, const und_frame *state, und_error *err);
/* The state but for the drops' own and what stands at cells: spray's cells are numbers of the window's. */
enum {
    UND_LEVELSET_STATE = 28 + UND_LEVELSET_FIELDS + UND_LEVEL_SET_PARTICLES_STATE + UND_LEVELSET_SPRAY_STATE +
                         UND_LEVELSET_BANDS_STATE
};
int und_levelset_numbers(und_levelset *s, und_state_field list[UND_LEVELSET_STATE]);

/* levelset_hash.c: the same in whichever window. */
uint64_t und_levelset_hash(und_liquid *liquid);
void und_levelset_ready(und_levelset *s); /* what follows from fields that were written from outside */

#endif
