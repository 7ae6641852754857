/* Control particles in the model: when they act, and what the ledger and the report say of it (Rasmussen et
 * al. 2004, section 4). */
#include "base/status.h"
#include "grid/field.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct und_levelset_control {
    und_control_particles *control_particles;
    uint8_t *touched; /* cells whose surface was shaped; 0 in between */
    double before;    /* m3 before the surface was shaped */
    float farthest;   /* cells that the surface went by it */
    double step_stats[UND_LEVELSET_CONTROL_STATS];
    und_error trouble; /* of their files */
};

static const und_field fields[] = {UND_FIELD(struct und_levelset_control, touched, UND_AT_CELLS)};

und_status und_levelset_control_open(und_levelset *s, const struct und_levelset_control *old, und_error *err)
{
    if (s->def.control_particle_count == 0)
        return UND_OK;
    struct und_levelset_control *c = s->control = und_alloc(1, sizeof *c, "control", err);
    if (!c)
        return err->status;
    c->control_particles =
        old ? und_control_particles_create_like(old->control_particles, &s->mac, err)
            : und_control_particles_create(&s->mac, s->def.control_particles, s->def.control_particle_count,
                                           s->device.threads, err);
    if (!c->control_particles)
        return err->status;
    bool shapes = und_control_particles_have(c->control_particles, UND_CONTROL_SURFACE) ||
                  und_control_particles_have(c->control_particles, UND_CONTROL_ADDER) ||
                  und_control_particles_have(c->control_particles, UND_CONTROL_ERASER);
    return shapes ? und_field_open_all(c, fields, 1, &(und_field_room){.mac = &s->mac}, "control", err)
                  : UND_OK;
}

void und_levelset_control_close(und_levelset *s)
{
    if (!s->control)
        return;
    und_control_particles_destroy(s->control->control_particles);
    und_field_close_all(s->control, fields, 1);
    free(s->control);
}

und_control_particles *und_levelset_control_particles(const und_levelset *s)
{
    return s->control ? s->control->control_particles : NULL;
}

bool und_levelset_control_ready(und_levelset *s)
{
    struct und_levelset_control *c = s->control;
    return und_control_particles_fetch(c->control_particles, s->time, s->dt, &c->trouble) == UND_OK;
}

und_status und_levelset_control_trouble(const und_levelset *s, und_error *err)
{
    if (!s->control || !s->control->trouble.status)
        return UND_OK;
    *err = s->control->trouble;
    return err->status;
}

void und_levelset_book(und_levelset *s, double volume)
{
    if (volume > 0)
        und_ledger_add(&s->ledger.sources, &s->lost[0], volume);
    else if (volume < 0)
        und_ledger_add(&s->ledger.drains, &s->lost[1], -volume);
}

bool und_levelset_control_grows(const und_levelset *s)
{
    return s->control && und_control_particles_have(s->control->control_particles, UND_CONTROL_DIVERGENCE);
}

void und_levelset_control_grow(und_levelset *s, const und_distance *surface, float *grown)
{
    if (!und_levelset_control_grows(s))
        return;
    const double made = und_control_particles_grow(s->control->control_particles, &s->flow, surface,
                                                   &s->solids, und_levelset_held(s), s->dt, grown);
    und_levelset_book(s, s->volume ? und_levelset_volume_grow(s, grown) : made);
}

/* ---- The surface ---- */

bool und_levelset_control_shape(und_levelset *s)
{
    struct und_levelset_control *c = s->control;
    if (!c || !c->touched)
        return false;
    und_control_particles_render_surface(c->control_particles, s->time + s->dt);
    c->before = und_levelset_volume(s);
    c->farthest = und_control_particles_shape(c->control_particles, &s->surface, s->dt, c->touched);
    if (!(c->farthest > 0)) { /* none acts: what changes from here on is not by control */
        und_control_particles_untouch(c->control_particles, c->touched);
        return false;
    }
    und_distance_refresh(&s->surface);
    return true;
}

void und_levelset_control_shaped(und_levelset *s)
{
    const float far = 1; /* cells: there are no particles where the surface is now */
    struct und_levelset_control *c = s->control;
    const float *wall = s->solids.any ? s->solids.distance : NULL;
    if (s->volume)
        und_levelset_volume_take_shape(s, c->touched);
    und_levelset_book(s, und_levelset_volume(s) - c->before);
    if (s->particles) {
        und_level_set_particles_refit(s->particles, &s->surface, c->touched, NULL, NULL);
        if (c->farthest > far)
            und_level_set_particles_refill(s->particles, &s->surface, wall);
    }
    und_control_particles_untouch(c->control_particles, c->touched);
}

/* ---- The report ---- */

void und_levelset_control_tell(und_levelset *s)
{
    const und_control_particle_state state = {&s->flow, &s->surface, und_levelset_viscosities(s),
                                              s->def.viscosity};
    double *out = s->control ? s->control->step_stats : NULL;
    for (int kind = 0; out && kind < UND_LEVELSET_CONTROL_KINDS; kind++) {
        und_control_particle_report r = und_control_particles_report(s->control->control_particles,
                                                                     (und_control_particle_kind)kind, &state);
        const double row[UND_LEVELSET_CONTROL_NUMBERS] = {r.particles, r.cells, r.largest, r.mean, r.asked};
        memcpy(out + UND_LEVELSET_CONTROL_NUMBERS * kind, row, sizeof row);
    }
}

double *und_levelset_control_stats(und_levelset *s)
{
    return s->control ? s->control->step_stats : NULL;
}
