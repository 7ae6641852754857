/* Named stages of a step: timed for --profile, and the same names for dumps of the state. */
#ifndef UND_BASE_STAGE_H
#define UND_BASE_STAGE_H

#include <undine/types.h>

double und_clock(void); /* seconds of a monotonic clock */

static inline double und_stage_end(und_stage *stage, double start)
{
    stage->seconds += und_clock() - start;
    stage->calls++;
    return -1;
}

/* STAGE(&s->stage[ROWS]) { ... }: runs the block once and adds its time. */
#define STAGE(stage_) for (double start_ = und_clock(); start_ >= 0; start_ = und_stage_end((stage_), start_))

/* Told after each stage of a step, for dumps of the state. */
typedef struct und_watch {
    void (*fn)(void *context, const char *stage); /* NULL: nobody watches */
    void *context;
} und_watch;

static inline double und_stage_end_watched(und_stage *stage, double start, const und_watch *watch)
{
    double ended = und_stage_end(stage, start);
    if (watch->fn)
        watch->fn(watch->context, stage->name);
    return ended;
}

/* The same, and tells the watch. */
#define STAGE_WATCHED(stage_, watch_) \
    for (double start_ = und_clock(); start_ >= 0; start_ = und_stage_end_watched((stage_), start_, (watch_)))

#endif
