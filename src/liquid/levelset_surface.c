/* Moving the surface (4.4.9), and what it holds. */
#include "liquid/levelset_state.h"

#include <math.h>

#define STEP(stage) STAGE_WATCHED (&s->stages[STAGE_##stage], &s->liquid.watch)

/* Where liquid and air are both in cells that can hold but one of them, the ledger says which is believed:
 * while liquid is missing, air gives way and lost liquid flies on as drops; while there is too much of it,
 * lost liquid goes and air stays. */
static und_level_set_particles_lost what_is_lost(und_levelset *s)
{
    if (s->volume)
        return und_levelset_volume_lost(s); /* escaped particles neither make liquid nor take it */
    const double drift = s->ledger.measured > 0 ? s->ledger.correction / s->ledger.measured : 0;
    und_level_set_particles_lost lost = {und_levelset_throw_drop, s, .little = 0.15f, .much = 0.5f};
    if (drift > 0) {
        const double most = s->def.free_air ? 0.003 : 0; /* air that is not pressed out stays for long */
        lost.little = (float)fmin(0.3 + drift / 0.01, 2);
        lost.much = drift > most ? INFINITY : lost.much;
    }
    return lost;
}

/* Liquid that passed a solid is taken out. */
static void guard(und_levelset *s)
{
    const und_mask *held = und_levelset_held(s);
    if (held)
        und_mask_unite(&s->flow.liquid, held); /* which the pressure had no part in */
    double cells = fmin(ceil(s->fastest * s->dt / s->def.dx), s->surface.width);
    und_solids_guard(&s->solids, &s->flow.liquid, s->surface.phi, (int)cells + 1,
                     s->volume ? NULL : s->leaked); /* what cells hold passes no wall, whatever phi shows */
}

void und_levelset_redistance(und_levelset *s)
{
    float *before = und_scratch_take(s->scratch, s->mac.count * sizeof *before);
    if (s->solids.any)
        und_solids_pin(&s->solids, s->surface.phi, before);
    und_distance_redistance(&s->surface, s->def.redistance);
    if (s->solids.any)
        und_solids_unpin(&s->solids, s->surface.phi, before);
    und_scratch_give_back(s->scratch, before);
}

/* What phi was followed back to at solids may be on their other side, or within them. */
static void follow_walls(und_levelset *s, double cells_per_speed)
{
    const double furthest = s->furthest + 1; /* cells: what moves in a substep */
    und_solids_follow(&s->solids, s->surface.next, s->surface.phi, s->flow.u, cells_per_speed);
    und_solids_edge_overflow(&s->solids, s->surface.next, s->surface.phi, s->flow.u, cells_per_speed,
                             s->follows == UND_TRACE_RK3, furthest);
}

static void carry_phi(und_levelset *s, double cells_per_speed)
{
    if (s->def.surface_rule == UND_SURFACE_WENO) {
        und_distance_advect_weno(&s->surface, s->flow.u, cells_per_speed);
        return;
    }
    und_distance_advect(&s->surface, s->flow.u, cells_per_speed, s->follows);
    if (s->solids.any)
        follow_walls(s, cells_per_speed);
}

/* Equation 4.8, corrected by the particles before and after phi is made a distance again (2.6). */
void und_levelset_move_surface(und_levelset *s)
{
    const double cells_per_speed = s->dt / s->def.dx;
    const und_level_set_particles_lost lost = what_is_lost(s);
    const float *wall = s->solids.any ? s->solids.distance : NULL;
    STEP (SURFACE) {
        if (s->volume)
            und_levelset_volume_move(s);
        if (s->volume && wall)
            und_mac_flow_ease_surface(&s->flow, &s->surface, &s->solids);
        und_levelset_come_apart(s);
        carry_phi(s, cells_per_speed);
        if (s->volume)
            und_levelset_volume_hold_back(s);
        und_levelset_take_surface(s, false);
    }
    STEP (PARTICLES)
        if (s->particles) {
            und_level_set_particles_move(s->particles, s->flow.u, cells_per_speed, wall);
            if (wall)
                und_level_set_particles_leave(s->particles, s->solids.beside_thin);
        }
    STEP (SPRAY)
        und_levelset_spray_step(s);
    STEP (CORRECT)
        if (s->particles)
            und_level_set_particles_correct(s->particles, &s->surface, &lost);
    bool shaped = false;
    if (s->control)
        STEP (CONTROL)
            shaped = und_levelset_control_shape(s);
    STEP (REDISTANCE) {
        if (s->volume && s->elements)
            und_elements_fill(s->elements, &s->surface, false); /* their backs moved on with the flow */
        if (wall) {
            und_levelset_into_solids(s, false);
            guard(s); /* now, so that what is near does not keep the distance of what is taken out */
        }
        und_levelset_redistance(s);
    }
    if (shaped)
        STEP (CONTROL)
            und_levelset_control_shaped(s);
    STEP (CORRECT)
        if (s->particles) {
            und_level_set_particles_correct(s->particles, &s->surface, &lost);
            und_level_set_particles_tidy(s->particles, &s->surface, wall);
        }
    STEP (CORRECT) {
        if (wall) {
            guard(s);
            und_distance_refresh(&s->surface);
        }
        und_levelset_take_surface(s, true);
        if (s->volume)
            und_levelset_volume_fit(s);
    }
}

double und_levelset_shown(const und_levelset *s)
{
    return s->volume ? und_levelset_volume_shown(s) : s->ledger.measured;
}

double und_levelset_volume(const und_levelset *s)
{
    if (s->volume)
        return und_levelset_volume_sum(s);
    return und_distance_volume(&s->surface, und_levelset_counted(s)) +
           und_solids_thin_volume(&s->solids, s->surface.phi);
}
