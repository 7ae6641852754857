/* Undine: what a step was ruled by. */
#ifndef UNDINE_STEP_H
#define UNDINE_STEP_H

#ifdef __cplusplus
extern "C" {
#endif

/* What ruled the length of a substep. */
typedef enum und_step_limit {
    UND_LIMIT_FRAME,     /* the end of the step asked for */
    UND_LIMIT_COURANT,   /* equation 3 */
    UND_LIMIT_VISCOSITY, /* 2 nu dt (1/dx2 + 1/dy2 + 1/dz2) < 1 */
    UND_LIMIT_MAX_STEP,
    UND_LIMIT_WAVES /* the shortest waves of a height field */
} und_step_limit;

const char *und_step_limit_name(und_step_limit limit);

#ifdef __cplusplus
}
#endif

#endif
