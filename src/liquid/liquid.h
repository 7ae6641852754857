/* The interface that every liquid model stands behind. */
#ifndef UND_LIQUID_LIQUID_H
#define UND_LIQUID_LIQUID_H

#include "base/stage.h"
#include "grid/frame.h"
#include "liquid/touch.h"

#include <math.h>

typedef struct und_liquid und_liquid;

/* Time goes on, or stands still: whoever steps back or nowhere is a programmer's error. */
static inline bool und_step_valid(double dt)
{
    return dt >= 0 && isfinite(dt);
}

typedef struct und_liquid_class {
    const char *name; /* "waves" */
    void (*destroy)(und_liquid *self);
    /* Goes on with a step of dt, or begins one; true where it is done.  To be called again until it is: the
     * parts are short enough to answer a signal in between, and the state may be saved there. */
    bool (*step)(und_liquid *self, double dt);
    /* What makes going on pointless, or UND_OK; NULL: nothing ever does. */
    und_status (*trouble)(const und_liquid *self, und_error *err);
    /* Is it that something was not there, and the state as it was before?  NULL: it never is. */
    bool (*intact)(const und_liquid *self);
    /* Adds the things a frame shows (float, static ones marked). */
    und_status (*frame)(und_liquid *self, und_frame *frame, und_error *err);
    /* Adds the whole state, borrowed: what a checkpoint keeps and the state's hash covers. */
    und_status (*save)(und_liquid *self, und_frame *state, und_error *err);
    /* Takes over a state that save once gave; the model then goes on with the same bits. */
    und_status (*restore)(und_liquid *self, const und_frame *state, und_error *err);
    /* Of the state, whatever arrays it lies in; NULL: of what save gives. */
    uint64_t (*hash)(und_liquid *self);
    und_ledger (*ledger)(const und_liquid *self);
    /* When the watch is called: adds the state and what a step works with. */
    und_status (*inspect)(und_liquid *self, und_frame *state, und_error *err);
    /* A person at it, between steps; NULL: not with this model. */
    unsigned tools; /* bit 1 << und_tool: what a hand can do */
    void (*touch)(und_liquid *self, const und_mouse_tool *hand,
                  double dt);                                   /* for the step of dt that comes */
    void (*tuning)(const und_liquid *self, und_tuning *tuning); /* as it is; NaN: not with this model */
    void (*tune)(und_liquid *self, const und_tuning *tuning);   /* as it is to be; NaN: as it is */
    bool (*throw_ball)(und_liquid *self, const und_ball *ball); /* false: none is left */
    int (*balls_left)(const und_liquid *self);
} und_liquid_class;

/* A model's struct begins with this. */
struct und_liquid {
    const und_liquid_class *class;
    const double *time;      /* the model's clock, s */
    const und_stage *stages; /* of a step, in order */
    int stage_count;
    und_watch watch; /* called after each stage of a step */
};

/* What all models have: the clock and the stages are the model's own. */
static inline void und_liquid_init(und_liquid *liquid, const und_liquid_class *class, const double *time,
                                   und_stage *stages, const char *const *stage_names, int stage_count)
{
    for (int i = 0; i < stage_count; i++)
        stages[i].name = stage_names[i];
    *liquid = (und_liquid){.class = class, .time = time, .stages = stages, .stage_count = stage_count};
}

/* A model's own destroy, part of a step and ledger, as its class has them. */
#define UND_LIQUID_OWN(model, part_of_step)                       \
    static void destroy_liquid(und_liquid *liquid)                \
    {                                                             \
        und_##model##_destroy((und_##model *)liquid);             \
    }                                                             \
    static bool step_liquid(und_liquid *liquid, double dt)        \
    {                                                             \
        return part_of_step((und_##model *)liquid, dt);           \
    }                                                             \
    static und_ledger ledger_liquid(const und_liquid *liquid)     \
    {                                                             \
        return und_##model##_ledger((const und_##model *)liquid); \
    }

/* A number of a def, and what it may be. */
typedef struct und_liquid_range {
    const char *key;
    double value, low, high;
} und_liquid_range;

und_status und_liquid_check_ranges(const char *model, const und_liquid_range *range, size_t count,
                                   und_error *err);

/* Whether a grid has cells, and not too many; whether this machine has the memory that they need. */
und_status und_liquid_check_cells(const char *model, const int n[3], und_error *err);
und_status und_liquid_check_memory(const char *model, const int n[3], double bytes, und_error *err);

/* What a frame tells of the pressure's solves in its substeps. */
enum {
    UND_LIQUID_MEAN_ITERATIONS,
    UND_LIQUID_MOST_ITERATIONS,
    UND_LIQUID_DIVERGENCE, /* 1/s */
    UND_LIQUID_UNCONVERGED,
    UND_LIQUID_SOLVE_STATS
};

/* Adds one, after `before` others. */
void und_liquid_tell_solve(double *stats, double before, int iterations, double divergence, bool converged);

/* Start + sources - drains - left - spray out + spray back + correction. */
double und_ledger_expected(const und_ledger *ledger);

/* Adds to an entry; what rounding would lose is kept in `lost` and added later (Kahan): many drops make a
 * sea. */
void und_ledger_add(double *entry, double *lost, double volume);

#endif
