/* Gaps between liquid and a wall, or liquid, that close within a step.
 *
 * Beyond the surface the flow is only carried on, so what comes into such a gap may be more than it has room
 * for, and would be pressed out again in the next step.  Cells that the flow is about to overfill count as
 * liquid while the pressure is found, as films do, and take in just what they have room for.  Most are known
 * by the flow and gravity; those that only the pressure drives liquid into, once it is found: where they are
 * many it is found again, as long as that drives it into more. */
#include "flow/mac_flow_parts.h"
#include "liquid/levelset_closing_kernel.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

static const double MANY = 2e-3; /* of the liquid: too much in all */

/* A gap goes on that far, with what is beside it, and what comes into it comes from as far behind its end. */
static void get_beside(const und_levelset *s, const und_closing *f)
{
    und_halo_field phi = und_halo_of(&s->mac, NULL, sizeof *f->phi, f->reach + 1);
    memcpy(&phi.values, &f->phi, sizeof phi.values); /* others' come there */
    und_volume_get_cells(und_levelset_volumes(s), 2 * f->reach + 1);
    und_mac_flow_get(&s->flow, UND_GET_U, f->reach + 1);
    und_halo_get(s->device.halo, &phi, 1);
}

/* In a substep of dt. */
static und_closing closing_of(const und_levelset *s, const float *phi, double dt, bool pressed)
{
    const und_volume *v = und_levelset_volumes(s);
    const und_mask *drained = s->elements ? und_elements_drained(s->elements) : NULL;
    const int reach = (int)ceil(s->furthest);
    und_closing f = {.v = und_volume_arrays_of(v),
                     .walls = und_levelset_walls(s),
                     .no_solids = s->solids.none,
                     .phi = phi,
                     .per_speed = (float)(dt / s->def.dx),
                     .reach = reach < UND_CLOSING_FURTHEST ? reach : UND_CLOSING_FURTHEST,
                     .pressed = pressed,
                     .wet = s->wet,
                     .of_row = v->parts->extra,
                     .count = v->parts->row_count,
                     .over = v->parts->row_sum};
    if (drained)
        f.drained = *drained;
    for (int a = 0; a < 3; a++) {
        f.u[a] = s->flow.u[a];
        f.falls[a] = pressed ? 0 : (float)(s->def.gravity[a] * und_levelset_kick(s, dt));
    }
    return f;
}

/* Adds cells to s->closing[*count]; how much they would have too much, cells. */
static double find(const und_levelset *s, const float *phi, double dt, bool pressed, int *count)
{
    enum { STEPS = 2 + UND_VOLUME_LISTING_ROWS };
    const und_volume *v = und_levelset_volumes(s);
    und_volume_borrow(v);
    const und_closing f = closing_of(s, phi, dt, pressed);
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    const und_pass mark = UND_PASS(und_closing_mark_wet, &f, &rows),
                   look = UND_PASS(und_closing_find, &f, &rows);
    und_volume_listed *const all = und_volume_room_for_listed(und_levelset_volumes(s));
    und_volume_row_listing listing;
    und_step steps[STEPS] = {{.passes = &mark, .count = 1}, {.passes = &look, .count = 1}};
    und_volume_list_rows_steps(
        v,
        &(und_volume_row_lists){
            .of_row = f.of_row, .sum = f.over, .list = s->closing, .first = *count, .all = all},
        &listing, steps + 2);
    get_beside(s, &f);
    und_pass_steps(&s->device, steps, STEPS);
    und_volume_give_back(v);
    *count = all->count;
    return (double)all->sum / UND_VOLUME_ONE;
}

static double liquid_of(const und_levelset *s) /* cells */
{
    return s->ledger.measured / (s->def.dx * s->def.dx * s->def.dx);
}

double und_levelset_closing_soon(und_levelset *s, double dt)
{
    if (s->closing_within != dt) {
        s->closing_count = 0;
        s->closing_much = find(s, s->surface.phi, dt, false, &s->closing_count);
        s->closing_within = dt;
    }
    return s->closing_much / liquid_of(s);
}

void und_levelset_closing_forget(und_levelset *s)
{
    s->closing_within = 0;
}

void und_levelset_closing_find(und_levelset *s, und_levelset_pressed *p)
{
    und_levelset_closing_soon(s, s->dt);
    p->closing_count = s->closing_count;
}

bool und_levelset_closing_find_more(const und_levelset *s, und_levelset_pressed *p)
{
    const int before = p->closing_count;
    const bool many = find(s, p->surface.phi, s->dt, true, &p->closing_count) > MANY * liquid_of(s);
    p->closing_count = many ? p->closing_count : before;
    return many;
}
