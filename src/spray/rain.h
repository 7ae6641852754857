/* Rain: drops that fall through the air until they hit. */
#ifndef UND_SPRAY_RAIN_H
#define UND_SPRAY_RAIN_H

#include "grid/frame.h"

#include <undine/rain.h>

typedef struct und_rain {
    und_rain_def def;
    uint64_t seed;
    double low[2], high[2]; /* the area it falls on, x and z */
    double floor;           /* m; below it a drop has missed */
    double drop_volume;     /* m3 */
    double emitted;         /* candidates so far; a drop's random numbers depend on its number alone */
    int count, capacity;
    float *position; /* [capacity][3] */
    float *velocity; /* [capacity][3] */
} und_rain;

/* The largest number of drops in the air follows from the rate, the fall and `floor`, the lowest place they
 * reach. */
und_rain *und_rain_create(const und_rain_def *def, uint64_t seed, const double low[2], const double high[2],
                          double floor, und_error *err);
void und_rain_destroy(und_rain *rain);

/* Another rate from now on, the same everywhere; drops in the air fall on.  False: no memory, and it is as it
 * was. */
bool und_rain_set_rate(und_rain *rain, double rate);
bool und_rain_reserve(und_rain *rain, int capacity); /* room for so many drops, if it has less */

/* Asked for each drop after it fell: the height of what it may hit.  Told of each that hit. */
typedef double und_rain_height_fn(void *context, double x, double z);
typedef void und_rain_hit_fn(void *context, double x, double z, double volume);

/* Emits and moves drops over [time, time + dt).  Drops that come down beside the area are forgotten. */
void und_rain_step(und_rain *rain, double time, double dt, und_rain_height_fn *height, und_rain_hit_fn *hit,
                   void *context);

#endif
