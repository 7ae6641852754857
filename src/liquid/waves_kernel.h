/* Cell arithmetic of the height field. */
#ifndef UND_LIQUID_WAVES_KERNEL_H
#define UND_LIQUID_WAVES_KERNEL_H

#include "base/lanes.h"

#include <stdbool.h>

enum {
    STRIP = 64, /* columns solved side by side, and cells in a word of the wet mask */
    LANES = 16  /* rows solved side by side */
};

/* The water's exchange with the outside along one edge, cell by cell.  An open edge lets the flow
 * c (outside - h) in, c = sqrt(g d): what leaves does not come back (Sommerfeld 1912), and `outside` brings
 * the tide and the incoming wave in, with what waves that leave at a slant make of it (height_field_slant.c).
 *
 * The flow goes through the edge, half a cell beyond the sample, and there a wave that leaves is later by
 * dx / 2c: half of the sample's change comes in besides.  That leaves a part (k dx)^2 / 8 of it too much,
 * which the sample further in mends. */
typedef struct und_waves_edge {
    float *coupling; /* c dt / dx; 0 where closed */
    float *change;   /* part of the cell's change that comes in besides */
    float *inner;    /* c dt / dx times the part of the level that the cell further in has */
    float *drive;    /* first order: change of `outside` over the step, m */
    double *outside; /* m; at the end of the step for the first order, in its middle for the second */
    double *inflow;  /* height of water that it let into the cell over the step, m */
} und_waves_edge;

/* A stretch of neighbouring wet cells in a row; stretches that touch make a piece. */
typedef struct und_waves_run {
    int first, last; /* cells, inclusive */
    int parent;      /* union-find over runs; a root stands for the piece */
    double gain;     /* height that appeared in it, m (summed over cells) */
    double weight;   /* what the cells can take of a correction */
    double depth;    /* water in it, m (summed over cells) */
    double before;   /* the same before the step; cells of plain words left out */
    bool undo;       /* root only: the step would leave no water in the piece */
    double share;    /* root only: correction per weight */
    bool by_depth;   /* root only: correct in proportion to depth */
} und_waves_run;

/* Depth of the water that couples neighbours a and b, where b's surface is `step` above a's.
 *
 * The mean of the two depths (Kass & Miller 1990, eq. 8) as long as each surface stands above the other's
 * ground. Otherwise one stands on a ledge above the other's water: only the ledge's own water can run down,
 * and a dry ledge is a wall.  The paper lets a dry ledge push on the water beside it; then a lake with a
 * shore is never at rest. */
UND_INLINE und_lanes und_waves_faces(und_lanes depth_a, und_lanes depth_b, und_lanes step)
{
    const und_lanes mean = 0.5f * (depth_a + depth_b),
                    ledge = und_lanes_select(step >= depth_b, depth_b, depth_a);
    return und_lanes_select((step < depth_b) & (step > -depth_a), mean, ledge);
}
static inline float und_waves_face(float depth_a, float depth_b, float step)
{
    return und_waves_faces(und_lanes_all(depth_a), und_lanes_all(depth_b), und_lanes_all(step))[0];
}

/* Where between the old and the new head the second order takes a face's: half-way, which does not damp;
 * later where the surface steps by more than a tenth of the depth, up to the new one from three tenths on.
 * There waves would break and shores move; what they shake loose must not stay. */
UND_INLINE und_lanes und_waves_lates(und_lanes depth_a, und_lanes depth_b, und_lanes step)
{
    const und_lanes half = und_lanes_all(0.5f), sum = depth_a + depth_b,
                    excess = und_lanes_select(step < 0, -step, step) - 0.05f * sum;
    const und_lanes late = und_lanes_select(excess < 0.1f * sum, half + 5 * excess / sum, und_lanes_all(1));
    return und_lanes_select(excess > 0, late, half);
}
static inline float und_waves_late(float depth_a, float depth_b, float step)
{
    return und_waves_lates(und_lanes_all(depth_a), und_lanes_all(depth_b), und_lanes_all(step))[0];
}

/* The flow through a face, towards b where positive, as far as the face is open and there is water behind it.
 */
UND_INLINE und_lanes und_waves_open(und_lanes flow, und_lanes depth_a, und_lanes depth_b, und_lanes face)
{
    const und_lanes behind = und_lanes_select(flow > 0, depth_a, depth_b);
    return und_lanes_select((face > 0) & (behind > 0), flow, (und_lanes){0});
}

/* ---- The water of UND_LANES cells ---- */

UND_INLINE und_doubles und_waves_depth_half(const double *height, const float *ground, size_t at)
{
    return und_doubles_load(height + at) - und_doubles_of(und_doubles_floats_load(ground + at));
}
UND_INLINE und_lanes und_waves_depths(const double *height, const float *ground, size_t at)
{
    und_doubles depth[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++)
        depth[k] = und_waves_depth_half(height, ground, at + (size_t)(k * UND_DOUBLES));
    return und_lanes_of_doubles(depth);
}
/* Which of them have any. */
UND_INLINE und_lanes_int und_waves_wet(const double *height, const float *ground, size_t at)
{
    unsigned wet = 0;
    for (int k = 0; k < UND_HALVES; k++)
        wet |= und_doubles_bits(und_waves_depth_half(height, ground, at + (size_t)(k * UND_DOUBLES)) > 0)
               << k * UND_DOUBLES;
    return und_lanes_where(wet);
}
/* How much higher the surface of b is. */
UND_INLINE und_lanes und_waves_steps(const double *height, size_t a, size_t b)
{
    und_doubles step[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++)
        step[k] =
            und_doubles_load(height + b + k * UND_DOUBLES) - und_doubles_load(height + a + k * UND_DOUBLES);
    return und_lanes_of_doubles(step);
}

#endif
