/* What water of a height field shows of itself: fine waves, foam, dye. */
#include "stage/optics.h"
#include "stage/scenery.h"

/* Patterns that drift with the water: two copies, each carried along for a while and taken back while it
 * cannot be seen, half a period apart (Max & Becker 1996). */
typedef struct carried {
    float x[2], z[2], weight[2];
} carried;

static carried carry(const und_scenery *stage, f3 p, const float *m)
{
    const float period = UND_DRIFT_PERIOD;
    carried c = {.x = {p.x, p.x}, .z = {p.z, p.z}, .weight = {0.5f, 0.5f}};
    for (int k = 0; k < 2 && stage->mesh.has_flow; k++) {
        float phase = (float)(stage->time / period + 0.5 * k), part = phase - floorf(phase);
        c.x[k] -= (part - 0.5f) * period * m[M_FLOW_X];
        c.z[k] -= (part - 0.5f) * period * m[M_FLOW_Z];
        c.weight[k] = und_drift_share(part);
    }
    return c;
}

/* Fine waves the grid has no room for: two baked seas that run through each other.  `lost` is the variance of
 * slope that pixels of this size cannot show. */
void und_ripples_at(const und_scenery *stage, f3 p, const float *m, float footprint, float amount,
                    float slope[2], float *lost)
{
    float period = und_ripple_period((float)stage->def.ripple_size, stage->mesh.cell);
    float speed = und_ripple_speed(period), keep = und_resolved(footprint, period), a[PATTERN], b[PATTERN],
          run = (float)fmod(stage->time * (double)speed / period, 1000);
    carried c = carry(stage, p, m);
    float u0 = c.x[0] / period, w0 = c.z[0] / period, u1 = c.x[1] / period, w1 = c.z[1] / period;
    und_pattern_at(&stage->ripple, u0 + run, w0 + UND_RIPPLE_ASIDE * run, a);
    und_pattern_at(&stage->ripple, und_ripple_u(u1, w1, run), und_ripple_w(u1, w1, run), b);
    float scale = und_ripple_slope(amount), q0 = c.weight[0], q1 = c.weight[1],
          norm = scale / sqrtf(q0 * q0 + q1 * q1);
    slope[0] = keep * norm * (q0 * a[0] + q1 * b[2]);
    slope[1] = keep * norm * (q0 * a[1] + q1 * b[3]);
    *lost += und_ripple_lost(keep, scale);
}

f3 und_water_absorption(const und_scenery *stage, const float *m)
{
    f3 a = f3_of(stage->def.absorption);
    if (stage->mesh.has_dye) {
        float strong = (float)stage->def.dye_strength * clampf(m[M_DYE], 0, 1);
        a = f3_add(a, f3_scale(f3_sub(f3_gray(1), f3_of(stage->def.dye_color)), strong));
    }
    return a;
}

static float lace_at(const und_scenery *stage, float u, float w, float period)
{
    float coarse[PATTERN], fine[PATTERN];
    und_pattern_at(&stage->pattern, u / period, w / period, coarse);
    und_pattern_at(&stage->pattern, UND_FOAM_FINE * u / period + UND_FOAM_SHIFT, UND_FOAM_FINE * w / period,
                   fine);
    return und_foam_lace(coarse[P_LACE], fine[P_LACE]);
}

float und_stage_foam_cover(const und_scenery *stage, f3 p, const float *m, float footprint)
{
    if (!stage->mesh.has_foam || m[M_FOAM] < UND_FOAM_LEAST)
        return 0;
    float period = und_foam_period((float)stage->def.grain, stage->mesh.span), lace;
    if (stage->mesh.has_texture) {
        lace = lace_at(stage, m[M_U], m[M_V], period);
    } else {
        carried c = carry(stage, p, m);
        lace = c.weight[0] * lace_at(stage, c.x[0], c.z[0], period) +
               c.weight[1] * lace_at(stage, c.x[1] + UND_FOAM_SECOND * period, c.z[1], period);
    }
    return und_foam_share(m[M_FOAM], lace, footprint, period);
}
