/* Moving the surface (4.4.9), and what it holds. */
#include "liquid/levelset_state.h"

#include <math.h>

#define STEP(stage) STAGE_WATCHED (&s->stages[STAGE_##stage], &s->watch)

/* Equation 4.8, corrected by the particles before and after phi is made a distance again (2.6). */
void und_levelset_move_surface(und_levelset *s)
{
    const double cells_per_speed = s->dt / s->def.dx;
    const float *wall = s->solids.any ? s->solids.distance : NULL;
    STEP (SURFACE) {
        und_distance_advect(&s->surface, s->stream.u, cells_per_speed,
                            s->def.trace == 3 ? UND_TRACE_RK3 : UND_TRACE_RK2);
    }
    STEP (PARTICLES)
        if (s->tracers)
            und_tracers_move(s->tracers, s->stream.u, cells_per_speed, wall);
    STEP (CORRECT)
        if (s->tracers)
            und_tracers_correct(s->tracers, &s->surface);
    STEP (REDISTANCE) {
        if (wall)
            und_distance_into_solids(&s->surface, wall);
        und_distance_redistance(&s->surface, s->def.redistance);
    }
    STEP (CORRECT)
        if (s->tracers) {
            und_tracers_correct(s->tracers, &s->surface);
            und_tracers_tidy(s->tracers, &s->surface, wall);
        }
    if (wall) {
        double cells = fmin(ceil(und_stream_fastest(&s->stream) * cells_per_speed), s->surface.width);
        und_solids_guard(&s->solids, &s->stream.liquid, s->surface.phi, (int)cells + 1, s->leaked);
    }
}

double und_levelset_volume(const und_levelset *s)
{
    return und_distance_volume(&s->surface, s->solids.any ? s->solids.room : NULL);
}
