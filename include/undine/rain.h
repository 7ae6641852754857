/* Undine: rain. */
#ifndef UNDINE_RAIN_H
#define UNDINE_RAIN_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rain: drops fall from `top` at `speed` and add exactly their volume where they hit. */
typedef struct und_rain_def {
    bool on;
    und_value rate;  /* drops per m2 and second, a function of place and time */
    double max_rate; /* the largest the rate gets; where 0 the rate must be a constant */
    double radius;   /* of a drop, m; its volume is 4/3 pi r^3 */
    double splash;   /* radius of the ring a drop makes, m; at least two cells */
    double top;      /* height drops appear at, m */
    double speed;    /* m/s */
    double wind[2];  /* horizontal velocity along x and z, m/s */
    double start, end;
} und_rain_def;

#ifdef __cplusplus
}
#endif

#endif
