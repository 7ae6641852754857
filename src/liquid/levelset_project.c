/* The pressure makes the flow keep its volume, or gain what is brought (4.4.8): all that it takes is made
 * before, and what it gives is booked. */
#include "liquid/levelset_state.h"

#include <math.h>
#include <string.h>

/* What the liquid is to grow by in this step: the drops that fell in, and where volume is kept, what
 * following the surface has lost and is about to lose: as much as of late. */
static double growth(und_levelset *s)
{
    if (s->volume)
        return 0;
    const double most = 0.02; /* of the volume in a substep */
    double volume = s->ledger.measured, wanted = s->pending;
    s->pending = 0;
    if (s->def.keep_volume)
        wanted += 0.5 * s->losing - s->ledger.correction; /* between too late and too much */
    double part = volume > 0 ? fmax(-most, fmin(most, wanted / volume)) : 0;
    s->given = s->def.keep_volume ? part * volume : 0;
    return part;
}

double und_levelset_suction(const und_levelset *s)
{
    return 0.05 * und_levelset_pull(s) * s->def.dx;
}

/* What cells gain by drops and by control, of a cell. */
static void find_grown(und_levelset *s, const und_distance *surface, float *grown)
{
    memset(grown, 0, s->mac.count * sizeof *grown);
    und_levelset_spray_grow(s, grown);
    und_levelset_control_grow(s, surface, grown);
}

static void bring(und_levelset *s, double volume)
{
    und_ledger_add(&s->ledger.sources, &s->lost[0], volume);
}

static und_mac_flow_report find_pressure(und_levelset *s, und_levelset_pressed *pressed, const float *grown)
{
    und_levelset_gaining gaining;
    und_mac_flow_projection what = {.surface = &pressed->surface,
                                    .solids = &s->solids,
                                    .dt = s->kick,
                                    .time = s->dt,
                                    .everywhere = growth(s),
                                    .grown = grown,
                                    .pull = und_levelset_suction(s),
                                    .keen = s->volume != NULL,
                                    .held = und_levelset_held(s),
                                    .pressure = pressed->pressure,
                                    .tolerance = s->def.tolerance,
                                    .max_iterations = s->def.max_iterations};
    if (s->volume) {
        what.grown = und_levelset_volume_gain(s, pressed, grown, &gaining);
        what.growing = gaining.step;
        what.growing_steps = UND_LEVELSET_GAINING;
    }
    und_levelset_beyond_sides(s, pressed->surface.phi, true);
    und_mac_flow_report report = und_mac_flow_project(&s->flow, s->system, &what);
    und_levelset_enforce_held_velocities(s);
    if (und_levelset_volume_press_more(s, pressed)) {
        const int iterations = report.iterations;
        und_levelset_volume_gain(s, pressed, grown, &gaining);
        report = und_mac_flow_project_again(&s->flow, s->system, &what);
        report.iterations += iterations;
        und_levelset_enforce_held_velocities(s);
    }
    return report;
}

und_mac_flow_report und_levelset_project(und_levelset *s, und_levelset_pressed *pressed)
{
    const bool grows = und_levelset_spray_grows(s) || und_levelset_control_grows(s);
    float *grown = grows ? und_scratch_take(s->scratch, s->mac.count * sizeof *grown) : NULL;
    if (grows)
        find_grown(s, &pressed->surface, grown);
    const und_mac_flow_report report = find_pressure(s, pressed, grown);
    if (grows)
        und_scratch_give_back(s->scratch, grown);
    und_levelset_viscous_add(s, pressed->pressure);
    if (!s->volume) {
        und_levelset_book(s, und_levelset_held_gain(s));
        bring(s, s->dt * und_elements_outflow(s->elements, &s->flow, &s->solids));
        bring(s, s->dt * und_levelset_bands_inflow(s, pressed->surface.phi));
    }
    s->drained = s->dt * und_elements_inflow(s->elements, &s->flow, &s->solids);
    return report;
}
