/* Undine: the three-dimensional liquid whose surface is a particle level set, after Wrenninge, "Fluid
 * Simulation for Visual Effects", 2003; two-dimensional where the grid is one cell deep.  Fill in a
 * und_levelset_def (start from und_levelset_def_default) and create the model from it. */
#ifndef UNDINE_LEVELSET_H
#define UNDINE_LEVELSET_H

#include <undine/bands.h>
#include <undine/control.h>
#include <undine/elements.h>
#include <undine/fill.h>
#include <undine/obstacle.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The liquid's temperature, which moves with it and spreads in it; its unit is whichever the numbers have. */
#define UND_HEAT_MOST 1e9
typedef struct und_heat_def {
    und_value start;              /* of the liquid at the start, where its fill says nothing */
    double diffusivity;           /* m2/s: water 1.4e-7, wax 1e-7; 0 */
    const und_value *walls;       /* of the domain's sides; NULL: they are insulated */
    int count;                    /* of the table; 0: the viscosity does not depend on it */
    const double (*viscosity)[2]; /* {temperature, m2/s} by growing temperature: in between the viscosity's
                                     logarithm is linear, beyond the ends it stays */
} und_heat_def;

/* Who keeps them: called at the start and after each substep.  After a state was given back the index goes
 * on from where the state was. */
typedef struct und_band_sink {
    und_status (*put)(void *context, long index, double time, const float *values, und_error *err);
    void *context; /* put NULL: nobody */
} und_band_sink;

/* A grid that this one begins in: its cells are this one's where both have them. */
typedef struct und_upstream_def {
    const char *name;
    int n[3];
    double dx, origin[3];
    bool open[UND_SIDES];
    bool heat;   /* its liquid has a temperature */
    bool volume; /* its cells have what they hold */
    /* The values before and after a time, and when they were.  UND_STOPPED: not now, the step is tried again.
     * NULL: nothing comes. */
    und_status (*fetch)(void *context, double time, const float *value[2], double when[2], und_error *err);
    void *context;
} und_upstream_def;

typedef enum und_velocity_rule { UND_VELOCITY_SEMI_LAGRANGIAN, UND_VELOCITY_MACCORMACK } und_velocity_rule;
/* How the surface is followed. */
typedef enum und_surface_rule {
    UND_SURFACE_PARTICLES, /* phi along the flow, put right by particles where there are any: the thesis's */
    UND_SURFACE_WENO,      /* the same with phi by fifth-order differences */
    UND_SURFACE_VOLUME     /* each cell has what it holds, exactly; phi follows that and the particles */
} und_surface_rule;

/* How viscosity acts (Rasmussen et al. 2004, 5.1). */
typedef enum und_viscosity_solver {
    UND_VISCOSITY_DIFFUSE, /* each component on its own: of a constant viscosity alone, else as SPLIT */
    UND_VISCOSITY_SPLIT,   /* equations 8 to 16: partly explicit, partly implicit */
    UND_VISCOSITY_COUPLED  /* all components at once, with no stress on the surface: ropes buckle and coil */
} und_viscosity_solver;

/* The grid as a window of a larger one that covers the domain (Rasmussen et al. 2004, 5.3): it moves by whole
 * cells and is resized while running. */
typedef enum und_window_follow { UND_WINDOW_PATH, UND_WINDOW_LIQUID, UND_WINDOW_SOLID } und_window_follow;

typedef struct und_window_def {
    bool on;
    und_window_follow follow;
    int solid;              /* which of the obstacles it goes with */
    const und_motion *path; /* of its middle, m; with a solid: as seen from that */
    const und_motion *size; /* its lengths along x, y and z as a position, m; NULL: that of what it follows */
    bool resize;            /* and large enough for the liquid with the margin */
    int margin;             /* cells around the liquid, or the solid, that it is fitted to; 10 */
    /* Not on: a domain of so many cells or more has one all the same, fitted to the liquid, where every bit
     * is what the whole grid would have; 2^18.  0: never. */
    double automatic;
} und_window_def;

enum { UND_LEVELSET_ENDLESS = 8192 }; /* from the middle to either end a place is told to 1/2000 of a cell */

typedef struct und_levelset_def {
    const char *name; /* of a grid that sources others or is sourced; NULL: none */
    int n[3];         /* cells of the domain; n[2] == 1 is two-dimensional */
    bool endless; /* along some axis the domain is only as far as cells are counted, UND_LEVELSET_ENDLESS of
                     them: it always has a window, and there may be any number of cells in all */
    double dx;    /* m; cells are cubes */
    double origin[3];                      /* the low corner */
    double gravity[3];                     /* m/s2; {0, -9.81, 0} */
    double density;                        /* kg/m3, 1000 */
    double viscosity;                      /* nu, m2/s, 0: none */
    und_value viscosity_field;             /* of place and time, instead, where it is a function */
    und_viscosity_solver viscosity_solver; /* coupled */
    const und_heat_def *heat;              /* NULL: the liquid has no temperature */
    bool stick;                            /* liquid with a viscosity sticks to solids; false: slips */
    bool open[UND_SIDES];                  /* sides that liquid leaves by */
    int obstacle_count, fill_count, element_count;
    const und_obstacle_def *obstacles;
    const und_fill_def *fills; /* `chain` means nothing here */
    und_value level;           /* m; liquid below it at the start, besides the fills */
    bool has_level;
    const und_element_def *elements; /* in the order they act */
    int control_particle_count;
    const und_control_particle_def *control_particles; /* control particles */

    und_window_def window; /* the grid is only a part of the domain */

    int upstream_count; /* grids that liquid comes from over their open sides */
    const und_upstream_def *upstreams;
    und_band_sink sink; /* of what goes on to other grids */

    double
        courant;     /* cells that liquid crosses in a substep, all but the fastest: 1 / CFLmultiplier
                        of 4.4.1; 0: 2, but 1 / 0.6 where it is viscous or particles alone follow its surface */
    double max_step; /* s; infinite */
    int trace;       /* of what is followed back along the flow: a Runge-Kutta method of order 2 or 3; 2, but
                        3 of the surface where steps are long by default */
    und_velocity_rule velocity_rule; /* MacCormack */
    int order; /* of the flow in time and beyond its surface: 2 keeps the spin of eddies and of what turns; 0:
                  2, but 1 where the viscosity varies or control shapes the surface of a viscous liquid */
    und_surface_rule surface_rule; /* volume */
    int redistance;                /* order, 1 or 2; 2 */
    int particles;                 /* in a cell near the surface; 0: a plain level set; 16 */
    int reseed;                    /* substeps from one reseeding to the next; 0: never; 20 */
    double tolerance;              /* of the pressure: residual over right-hand side, 1e-4 */
    int max_iterations;            /* 100 */
    bool free_air;      /* the air near the liquid keeps its volume too while it moves the surface; false */
    bool keep_volume;   /* what following the surface loses or gains is put back, and reported; false */
    bool spray;         /* liquid that the level set loses flies on as drops; true */
    int spray_most;     /* drops at once; 1 << 20 */
    bool keep_velocity; /* write the velocity with each frame; true */
    bool keep_pressure; /* and the pressure; false */
    bool keep_level_set_particles; /* and the particles that correct the surface; false */
    uint64_t seed;
    int threads; /* 0: all */
} und_levelset_def;

und_levelset_def und_levelset_def_default(void);

typedef struct und_levelset und_levelset;

/* Borrows what the def points to until it is destroyed. */
und_levelset *und_levelset_create(const und_levelset_def *def, und_error *err);
void und_levelset_destroy(und_levelset *levelset);

/* From time to time + dt, in as many substeps as 4.4.1 says.  dt is finite and not negative. */
void und_levelset_step(und_levelset *levelset, double dt);

double und_levelset_time(const und_levelset *levelset);
und_ledger und_levelset_ledger(const und_levelset *levelset);

/* Of the last substep. */
typedef struct und_levelset_report {
    double dt; /* s */
    int iterations;
    double residual;   /* of the pressure, over the right-hand side */
    double divergence; /* the largest left in a liquid cell, 1/s */
    bool converged;
    double air_divergence; /* the same of the air near the liquid, where that keeps its volume */
    long liquid;           /* cells */
    long particles;
    long drops;    /* of spray in the air */
    long substeps; /* since the start */
} und_levelset_report;

und_levelset_report und_levelset_last(const und_levelset *levelset);

/* m3 that the surface, and films on walls, show: with UND_SURFACE_VOLUME what of the ledger's volume can be
 * seen; else all of it. */
double und_levelset_shown(const und_levelset *levelset);
/* m3 that crests threw off as drops since the start: a part of the ledger's spray_out. */
double und_levelset_thrown(const und_levelset *levelset);

/* The cells of the domain that the grid has: n from low on; all of them where there is no window. */
void und_levelset_window(const und_levelset *levelset, int low[3], int n[3]);
/* Cells are counted over the domain; what is not in the window is air at rest. */
double und_levelset_distance(const und_levelset *levelset, int x, int y, int z); /* m */
double und_levelset_pressure(const und_levelset *levelset, int x, int y, int z); /* Pa */
/* Velocity on the low face of the cell along the axis; x up to n[0] where the axis is 0, and so on.  Of water
 * it is that of the middle of the last substep, of viscous liquid that of its end. */
double und_levelset_velocity(const und_levelset *levelset, int axis, int x, int y, int z);
double und_levelset_temperature(const und_levelset *levelset, int x, int y, int z);
/* m3 of liquid that showed up beside the obstacle where no way over open faces led from liquid in a substep,
 * and was taken out, since the start: what would have passed it.  Not what is lost elsewhere, which the
 * ledger's correction has with it; nor what was never let through. */
double und_levelset_leaked(const und_levelset *levelset, int obstacle);
/* With UND_SURFACE_VOLUME: m3 that the obstacle has come over and handed on to cells without room for it,
 * since the start.  None of it is lost: the pressure moves it on. */
double und_levelset_squeezed(const und_levelset *levelset, int obstacle);

#ifdef __cplusplus
}
#endif

#endif
