/* Cell arithmetic of the height field. */
#ifndef UND_LIQUID_WAVES_KERNEL_H
#define UND_LIQUID_WAVES_KERNEL_H

/* Depth of the water that couples neighbours a and b, where b's surface is `step` above a's.
 *
 * The mean of the two depths (Kass & Miller 1990, eq. 8) as long as each surface stands above the other's
 * ground. Otherwise one stands on a ledge above the other's water: only the ledge's own water can run down,
 * and a dry ledge is a wall.  The paper lets a dry ledge push on the water beside it; then a lake with a
 * shore is never at rest. */
static inline float und_waves_face(float depth_a, float depth_b, float step)
{
    float mean = 0.5f * (depth_a + depth_b);
    float ledge = step >= depth_b ? depth_b : depth_a;
    return step < depth_b && step > -depth_a ? mean : ledge;
}

/* Where between the old and the new head the second order takes a face's: half-way, which does not damp;
 * later where the surface steps by more than a tenth of the depth, up to the new one from three tenths on.
 * There waves would break and shores move; what they shake loose must not stay. */
static inline float und_waves_late(float depth_a, float depth_b, float step)
{
    float sum = depth_a + depth_b, excess = (step < 0 ? -step : step) - 0.05f * sum;
    float late = excess < 0.1f * sum ? 0.5f + 5 * excess / sum : 1;
    return excess > 0 ? late : 0.5f;
}

/* The flow through a face, towards b where positive, as far as the face is open and there is water behind it.
 */
static inline float und_waves_open(float flow, float depth_a, float depth_b, float face)
{
    float behind = flow > 0 ? depth_a : depth_b;
    return face > 0 && behind > 0 ? flow : 0;
}

#endif
