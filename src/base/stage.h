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

#endif
