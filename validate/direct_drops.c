/* Two drops that collide, with air between them that keeps its volume and with air that does not
 * (Rasmussen et al. 2004, figure 5): of the particle level set, which loses some where air does not. */
#include "validate/direct.h"

#include "grid/frame.h"
#include "liquid/levelset.h"
#include "validate/levelset.h"

#include <undine/undine.h>

#include <math.h>

enum {
    R = CASE_DROP_R,
    NX = CASE_DROPS_X,
    NY = CASE_DROPS_Y,
    STEPS = 26,
    TOUCH = 5
}; /* cells; steps, and the one in which they touch */

typedef struct collision {
    double air_particles; /* in the middle, while they touch */
    double drift;         /* the most that volume was off, of what it was */
    double divergence;    /* the most in the air near the liquid, times dx / U */
    double air;           /* cells in the middle that are not liquid at the end */
} collision;

static double off_middle(double x, double y, double z)
{
    return hypot(hypot(x - NX / 2.0, y - NY / 2.0), z - NY / 2.0);
}

/* Particles of the air within half a radius of the middle. */
static und_status count_air(und_levelset *levelset, double *count, und_error *err)
{
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame state = und_frame_empty(0, 0, (und_grid){0});
    und_status status = liquid->class->inspect(liquid, &state, err);
    const und_item *x = und_frame_find(&state, "tracer_x"), *y = und_frame_find(&state, "tracer_y"),
                   *z = und_frame_find(&state, "tracer_z"), *radius = und_frame_find(&state, "tracer_radius");
    *count = 0;
    for (size_t i = 0; status == UND_OK && radius && i < radius->dim[0]; i++)
        *count += ((const float *)radius->data)[i] > 0 &&
                  off_middle((double)((const float *)x->data)[i], (double)((const float *)y->data)[i],
                             (double)((const float *)z->data)[i]) < R / 2.0;
    und_frame_clear(&state);
    return status;
}

static double cells_of_air(const und_levelset *levelset)
{
    double air = 0;
    for (int z = 0; z < NY; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                air += und_levelset_distance(levelset, x, y, z) > 0 &&
                       off_middle(x + 0.5, y + 0.5, z + 0.5) < R / 2.0;
    return air;
}

static und_status collide(case_sink *sink, bool free_air, collision *c, und_error *err)
{
    und_levelset_def def;
    und_levelset *levelset = case_levelset_drops(sink, UND_SURFACE_PARTICLES, free_air, 0, &def, err);
    *c = (collision){0};
    und_status status = levelset ? UND_OK : err->status;
    for (int i = 1; i <= STEPS && status == UND_OK; i++) {
        und_levelset_step(levelset, 1.0 / 96);
        und_ledger ledger = und_levelset_ledger(levelset);
        c->drift = fmax(c->drift, fabs(ledger.correction) / ledger.start);
        c->divergence =
            fmax(c->divergence, und_levelset_last(levelset).air_divergence * def.dx / CASE_DROP_SPEED);
        if (i == TOUCH)
            status = count_air(levelset, &c->air_particles, err);
    }
    if (status == UND_OK)
        c->air = cells_of_air(levelset);
    und_levelset_destroy(levelset);
    return status;
}

und_status case_direct_drops(case_sink *sink, und_error *err)
{
    static const char *const source = "Rasmussen et al. 2004, section 5.2 and figure 5";
    collision plain, squeezed;
    if (collide(sink, false, &plain, err) != UND_OK || collide(sink, true, &squeezed, err) != UND_OK)
        return err->status;
    case_report(sink, (case_result){"air particles between them, of those with plain extrapolation",
                                    squeezed.air_particles / plain.air_particles, 0, 0.5, source});
    case_report(sink, (case_result){"volume, the most it is off", squeezed.drift, 0, 0.02, source});
    case_report(sink, (case_result){"the same, of that with plain extrapolation",
                                    squeezed.drift / plain.drift, 0, 0.5, source});
    case_report(sink, (case_result){"divergence dx / U in the air near them, at most", squeezed.divergence, 0,
                                    0.01, source});
    case_report(sink, (case_result){"cells of air left in the middle, 20 steps after they touch",
                                    squeezed.air, 0, 0, source});
    return UND_OK;
}
