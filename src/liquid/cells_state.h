/* What the cells model keeps, for the files that make up its step. */
#ifndef UND_LIQUID_CELLS_STATE_H
#define UND_LIQUID_CELLS_STATE_H

#include "base/stage.h"
#include "flow/marker_flow.h"
#include "liquid/cells.h"
#include "liquid/cells_spray.h"
#include "surface/chains.h"
#include "surface/height.h"
#include "surface/markers.h"

enum {
    STAGE_WALLS,
    STAGE_SURFACE,
    STAGE_MOMENTUM,
    STAGE_PRESSURE,
    STAGE_OPEN,
    STAGE_TRACK,
    STAGE_SPRAY,
    STAGE_LABEL,
    STAGE_COUNT
};

/* What a frame tells of the steps that led to it. */
enum {
    STEP_STATS_SUBSTEPS,
    STEP_STATS_SHORTEST,
    STEP_STATS_LIMIT,
    STEP_STATS_SOLVES, /* UND_LIQUID_MEAN_ITERATIONS and those after it */
    STEP_STATS_COUNT = STEP_STATS_SOLVES + UND_LIQUID_SOLVE_STATS
};

enum { UND_PAINTS = 16 };

/* What a stroke does to the liquid of a cell. */
typedef enum und_cells_change {
    UND_CHANGE_FILL = UND_CHAINS_FILL,
    UND_CHANGE_DRY = UND_CHAINS_DRY
} und_cells_change;

struct und_cells {
    und_liquid liquid;
    und_cells_def def;
    und_mac mac;
    int threads;
    double time, dt;
    double owed;      /* m3 that markers are to stand for and do not yet */
    double left, end; /* of a step under way: how much is to come, and when it ends, s */
    bool ran_away;    /* its speed is beyond all bounds */
    bool crawls;      /* or max_step would need too many substeps */
    double needed;    /* s; the substep that its speed asks for, or max_step */
    und_ledger ledger;
    und_ledger lost; /* by rounding, of each entry */
    double substeps; /* since the start */
    und_stage stages[STAGE_COUNT];
    und_cells_report last;
    double step_stats[STEP_STATS_COUNT]; /* since the last und_cells_step began */
    long missed;                         /* markers that found no room */

    und_marker_flow flow;
    und_poisson *poisson; /* NULL where relaxation solves */
    und_wall_def *walls;  /* sides, solids, gates */
    int wall_count;
    double walls_at; /* s: velocities at walls are those of this time; NAN: they are to be set */
    uint8_t *solid_label, *solid_wall; /* as without gates */
    uint8_t *gate_open;                /* per gate: it acts now */

    /* What mouse tools did (cells_touch.c).  The last UND_PAINTS of the walls are theirs: one that is solid,
     * and inflows. */
    uint8_t *painted; /* per cell: 0, or 1 + which of these */
    uint8_t *change;  /* per cell, of a stroke under way: und_cells_change */
    double paint_velocity[UND_PAINTS][3];
    int first_paint, paints;   /* walls; 0: the scene has too many of its own */
    bool is_painted, is_tuned; /* ever */
    double scene_gravity, scene_viscosity;

    double (*made)[2]; /* per wave maker: its strength over density, m2/s2, real and imaginary */

    und_markers *markers; /* one of the three */
    und_chains *chains;
    und_height *height;
    und_cells_spray *spray; /* NULL: none */
};

/* cells_walls.c */
und_status und_cells_make_walls(und_cells *s, und_error *err);
void und_cells_rebuild(
    und_cells *s); /* cells as solids, gates and mouse tools make them; liquid stays where it is */
void und_cells_turn_gates(und_cells *s);        /* those that begin or end at the present time */
double und_cells_next_turn(const und_cells *s); /* when the next one does; s */
double und_cells_rounding(double time);         /* s: turns this close to a time are at it */

/* cells_track.c: the liquid's place, whatever follows it. */
und_status und_cells_fill(und_cells *s, und_error *err);
void und_cells_make_room(und_cells *s, double dt); /* for what comes in over dt */
void und_cells_pour(und_cells *s);                 /* chains begin at openings that are dry */
void und_cells_track(und_cells *s);                /* over dt: moves the surface and keeps the ledger */
void und_cells_find_labels(und_cells *s); /* Full, Surface and Empty cells, and what presses on the surface */
void und_cells_measure(und_cells *s);     /* what markers show, for the ledger */
void und_cells_splash(und_cells *s);      /* over dt: drops leave, fly and land; foam floats */
double und_cells_volume(const und_cells *s);

/* Where the surface stands in a Surface cell, m; the middle of a cell that is the side of a step. */
double und_cells_surface_at(const und_cells *s, int x, int y, int z);

/* cells_makers.c */
void und_cells_rule_makers(und_cells *s);                         /* how strong they are now */
double und_cells_made_pressure(const und_cells *s, int x, int z); /* over density */

/* cells_surface.c */
double und_cells_wet_volume(const und_cells *s); /* m3 in all cells together */
/* The pressure over density in the middle of a Surface cell, by which it is above that on the surface. */
double und_cells_under_surface(const und_cells *s, size_t at, double on_surface);

void und_cells_keep_density(und_cells *s); /* of markers: what Full cells are to lose over dt */

double und_cells_smoothing(const und_cells *s); /* 1/s, of a height field */

/* cells_touch.c */
void und_cells_touch(und_liquid *liquid, const und_mouse_tool *hand, double dt);
void und_cells_tuning(const und_liquid *liquid, und_tuning *tuning);
void und_cells_tune(und_liquid *liquid, const und_tuning *tuning);
void und_cells_set_paints(und_cells *s); /* walls as the mouse tools' velocities are */

/* cells_frame.c */
und_status und_cells_write_frame(und_liquid *liquid, und_frame *frame, und_error *err);
und_status und_cells_save(und_liquid *liquid, und_frame *state, und_error *err);
und_status und_cells_restore(und_liquid *liquid, const und_frame *state, und_error *err);

#endif
