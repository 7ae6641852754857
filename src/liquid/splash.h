/* Water that leaves columns as spray and comes back to them: what the models with spray share. */
#ifndef UND_LIQUID_SPLASH_H
#define UND_LIQUID_SPLASH_H

#include "liquid/liquid.h"
#include "spray/spray.h"

/* Columns that give drops and take them, in one substep. */
typedef struct und_splash {
    und_spray *spray;
    uint64_t seed;
    double substep; /* since the start, a whole number: chance depends on it */
    double time, dt;
    und_spray_floor floor; /* where the columns are, and what drops come down on */
    double *level;         /* [column] m; falls by what leaves, rises by what comes */
    double start;          /* of a drop's middle above the surface, in its radii */
    und_ledger *ledger, *lost;
} und_splash;

/* The surface over a column: height and velocity at its corners, low x and z first, then along x. */
typedef struct und_splash_patch {
    double height[4], speed[3][4];
} und_splash_patch;

/* Drops uniformly over column (x, z), where its surface rises faster than the threshold; in the mean they
 * take what rises beyond it, at most.  `ground` is where the column's level begins, m. */
void und_splash_emit(const und_splash *splash, const und_splash_patch *patch, int x, int z, double ground);

/* A drop that gave its water to the column at this index, at -1 it has left.  Called for each, in order. */
typedef void und_splash_landed_fn(void *context, int drop, int column);

/* Drops fly over dt, and those that land give their water back. */
void und_splash_fly(const und_splash *splash, und_splash_landed_fn *landed, void *context);

#endif
