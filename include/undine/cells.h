/* Undine: the Navier-Stokes liquid on a grid of cells, after Foster & Metaxas, "Realistic Animation of
 * Liquids", 1996, in two dimensions (a grid one cell deep) and three.  Fill in a und_cells_def (start from
 * und_cells_def_default) and create the model from it. */
#ifndef UNDINE_CELLS_H
#define UNDINE_CELLS_H

#include <undine/fill.h>
#include <undine/revolve.h>
#include <undine/spray.h>
#include <undine/step.h>
#include <undine/walls.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the liquid's place is followed (section 4). */
typedef enum und_track {
    UND_TRACK_MARKERS, /* markers all over the liquid: splashes, overturning */
    UND_TRACK_CHAINS,  /* markers along its outline, in two dimensions */
    UND_TRACK_HEIGHT   /* one height in each column */
} und_track;

typedef enum und_pressure_rule {
    UND_PRESSURE_MULTIGRID, /* conjugate gradients, preconditioned by multigrid */
    UND_PRESSURE_RELAX      /* cell by cell, equations 5 to 9 */
} und_pressure_rule;

/* A travelling pattern of pressure on the surface, equations 17 to 19. */
typedef struct und_wave_maker {
    double amplitude;  /* a: of the waves, m */
    double wavelength; /* 2 L, m */
    double depth;      /* D, m */
    double frequency;  /* omega, rad/s; 0: that of free waves of the wavelength */
    double direction;  /* degrees from +x towards +z */
    double mean;       /* A, m2/s */
    double time;       /* s, in the place of delta t: after it free waves have their amplitude; 10 */
    bool printed;      /* B of equation 18 as printed, whose units do not fit; else the B that makes waves of
                          the amplitude in that time, and then keeps them so */
    double start, end; /* s */
} und_wave_maker;

typedef struct und_cells_def {
    int n[3];           /* cells; n[2] == 1 is two-dimensional */
    double cell[3];     /* m; their size */
    double origin[3];   /* the low corner */
    double gravity[3];  /* m/s2; {0, -9.81, 0} */
    double density;     /* kg/m3, 1000 */
    double viscosity;   /* nu, m2/s, 1e-6 */
    und_value pressure; /* on the surface, Pa; a function of place and time */
    int maker_count;
    const und_wave_maker *makers;
    und_wall_def wall[UND_SIDES];
    int solid_count, gate_count, fill_count;
    const und_solid_def *solids;
    const und_gate_def *gates;
    const und_fill_def *fills;
    und_value level; /* m; liquid below it at the start, besides the fills */
    bool has_level;

    und_track track;
    int markers_per_cell;    /* at the start, in 2D about a square number, in 3D a cubic one; 25 or 27 */
    und_revolve_def revolve; /* chains */
    bool keep_volume;        /* what following the surface loses or gains is put back; true */
    bool surface_in_cell;    /* the pressure of a Surface cell counts from where the surface is in it; as
                                printed it does not, and waves lower than a cell do not run; true */
    und_spray_def spray;     /* height only */
    double split;            /* 1/s: how often a drop in the air splits in two; 0.5 */
    und_froth_def foam;

    und_pressure_rule pressure_rule;
    double beta0;    /* 1.7 */
    double epsilon;  /* 1/s; the largest divergence left, 1e-4 */
    int max_sweeps;  /* of relaxation, or iterations, in a step; 0: 10,000 or 100 */
    double courant;  /* eq. 3: cells that liquid may cross in a step, 0.5 */
    double upwind;   /* 0 to 1: donor-cell share of the convection on top of what stability needs; 0 */
    bool plain;      /* equation 2 as printed, whatever the step: for study */
    double max_step; /* s; infinite */
    bool keep_flow;  /* write pressure and velocity with each frame: floating bodies need them; true */
    uint64_t seed;
    int threads; /* 0: all */
} und_cells_def;

und_cells_def und_cells_def_default(void);

typedef struct und_cells und_cells;

/* Borrows what the def points to until it is destroyed. */
und_cells *und_cells_create(const und_cells_def *def, und_error *err);
void und_cells_destroy(und_cells *cells);

/* From time to time + dt, in as many substeps as stability needs.  dt is finite and not negative. */
void und_cells_step(und_cells *cells, double dt);
/* One substep, as long as stability allows but not longer than dt: its length. */
double und_cells_substep(und_cells *cells, double dt);

double und_cells_time(const und_cells *cells);
und_ledger und_cells_ledger(const und_cells *cells);

/* Of the last substep. */
typedef struct und_cells_report {
    double dt; /* s */
    und_step_limit limit;
    int iterations;     /* sweeps of relaxation, or iterations */
    double divergence;  /* the largest left in a Full cell, 1/s */
    bool converged;     /* it is below epsilon */
    long full, surface; /* cells */
    long substeps;      /* since the start */
} und_cells_report;

und_cells_report und_cells_last(const und_cells *cells);

und_label und_cells_label(const und_cells *cells, int x, int y, int z);
double und_cells_pressure(const und_cells *cells, int x, int y, int z); /* Pa */
/* Velocity on the low face of the cell along the axis; x up to n[0] where the axis is 0, and so on. */
double und_cells_velocity(const und_cells *cells, int axis, int x, int y, int z);
double und_cells_height(const und_cells *cells, int x, int z); /* of the height field, m */
/* How much of a cell is liquid, 0 to 1: what lies below the height, what the markers in a Surface cell stand
 * for, or what chains enclose of it. */
double und_cells_wet(const und_cells *cells, int x, int y, int z);
int und_cells_marker_count(const und_cells *cells);
void und_cells_marker(const und_cells *cells, int i, double place[3]); /* m */

#ifdef __cplusplus
}
#endif

#endif
