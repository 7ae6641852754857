/* Undine: drops that fly, and foam where they land. */
#ifndef UNDINE_SPRAY_H
#define UNDINE_SPRAY_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Drops that leave the water where its surface rises too fast. */
typedef struct und_spray_def {
    bool on;
    double threshold;      /* upward speed of the surface above which it sprays, m/s; 2.25 */
    double rate;           /* drops per m2 and second, at most; 400,000 */
    double radius[2];      /* of the smallest and the largest drop, m; 0.002, 0.008 */
    double share;          /* of the rise above the threshold that leaves as spray, 0 to 1; 1 */
    double launch[2];      /* a drop's velocity upwards and sideways relative to the surface's; 1, 1 */
    double scatter;        /* random part of a drop's velocity, relative to its speed; 0.15 */
    double drag;           /* of the air, relative to that on a sphere (drag coefficient 0.47); 0: none */
    und_vector wind;       /* m/s; acts through the drag */
    int most;              /* drops in the air at once; 1 << 20 */
    bool sheets;           /* young drops of one impact hang together in a thin sheet until it tears */
    double sheet_tear;     /* m; a sheet thinner than this tears; 0.0002 */
    double sheet_cohesion; /* 1/s; how fast neighbours in a sheet come to move alike; 20 */
} und_spray_def;

und_spray_def und_spray_def_default(void);

/* Foam where spray lands (section 4.3). */
typedef struct und_froth_def {
    bool on;
    double life; /* s per mm of the drop's radius, on average; random between half and one and a half; 0.5 */
    int most;    /* bits of foam at once; 1 << 18 */
} und_froth_def;

#ifdef __cplusplus
}
#endif

#endif
