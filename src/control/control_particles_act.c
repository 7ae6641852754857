/* What control particles do to the flow: its velocity, viscosity and volume. */
#include "base/maths.h"
#include "control/control_particles_state.h"

static void lead_row(const control_work *w, int axis, int y, int z, int begin, int end, double *sum)
{
    (void)sum;
    const und_mac *m = &w->g->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    float *u = w->s->u[axis] + row, last = 0, way = 0;
    for (int x = begin, from, to; und_mask_stretch(&w->s->flows[axis], y, z, x, &from, &to) && from < end;
         x = to)
        for (int i = from; i < to && i < end; i++) {
            control_face f = control_face_of(&cell[i], &cell[i + m->step[axis]], axis);
            if (!(f.alpha > 0))
                continue;
            if (f.alpha != last)
                way = und_control_particle_way(last = f.alpha, w->dt);
            u[i] = (1 - way) * u[i] + way * f.value;
        }
}

void und_control_particles_lead(const und_control_particles *g, und_mac_flow *s, double dt)
{
    und_control_particle_for_faces(
        &(control_work){.g = g, .f = &g->field[UND_CONTROL_VELOCITY], .s = s, .dt = dt}, lead_row);
}

const und_mask *und_control_particles_hold(und_control_particles *g, const und_mac_flow *s)
{
    const und_mac *m = &g->mac;
    const control_field *f = &g->field[UND_CONTROL_VELOCITY];
    bool any = false;
    if (g->any_held)
        und_mask_clear(&g->held);
    for (int row = 0; row < und_mac_rows(m) && f->acting > 0; row++) {
        int y = row % m->n[1], z = row / m->n[1], begin, end;
        const und_control_particle_cell *cell = f->cell + und_mac_row(m, row);
        if (!control_row(g, f, y, z, &begin, &end))
            continue;
        for (int x = begin; x < end; x++)
            if (cell[x].hard > 0 && und_mask_has(&s->liquid, x, y, z)) {
                und_mask_add(&g->held, x, y, z);
                any = true;
            }
    }
    g->any_held = any;
    return any ? &g->held : NULL;
}

static void enforce_row(const control_work *w, int axis, int y, int z, int begin, int end, double *sum)
{
    (void)sum;
    const und_mac *m = &w->g->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    const float *open = w->solids->open[axis] + row;
    float *u = w->s->u[axis] + row;
    for (int x = begin; x < end; x++)
        if (open[x] > 0 && und_mask_has_face(&w->g->held, axis, x, y, z))
            u[x] = control_face_of(&cell[x], &cell[x + m->step[axis]], axis).value;
}

void und_control_particles_enforce(const und_control_particles *g, und_mac_flow *s, const und_solids *solids)
{
    if (g->any_held)
        und_control_particle_for_faces(
            &(control_work){.g = g, .f = &g->field[UND_CONTROL_VELOCITY], .s = s, .solids = solids},
            enforce_row);
}

static void give_air_row(const control_work *w, int axis, int y, int z, int begin, int end, double *sum)
{
    (void)sum;
    const und_mac *m = &w->g->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    const float *open = w->solids->open[axis] + row;
    float *u = w->s->u[axis] + row;
    for (int x = begin; x < end; x++) {
        control_face f = control_face_of(&cell[x], &cell[x + m->step[axis]], axis);
        if (!f.hard || !(open[x] > 0) || und_mask_has(&w->s->flows[axis], x, y, z))
            continue;
        u[x] = f.value;
        und_mac_flow_written(w->s, axis, x, y, z, 1);
    }
}

void und_control_particles_enforce_in_air(const und_control_particles *g, und_mac_flow *s,
                                          const und_solids *solids)
{
    und_control_particle_for_faces(
        &(control_work){.g = g, .f = &g->field[UND_CONTROL_VELOCITY], .s = s, .solids = solids},
        give_air_row);
}

static void viscosity_row(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    (void)sum;
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    float *nu = w->field + row;
    for (int x = begin; x < end; x++)
        if (cell[x].alpha > 0)
            nu[x] = (1 - cell[x].alpha) * nu[x] + cell[x].alpha * cell[x].value[0];
}

void und_control_particles_viscosity(const und_control_particles *g, float *nu)
{
    if (und_control_particles_have(g, UND_CONTROL_VISCOSITY))
        und_control_particle_for_cells(
            &(control_work){.g = g, .f = &g->field[UND_CONTROL_VISCOSITY], .field = nu}, viscosity_row);
}

/* The part of a cell that is liquid, about. */
static inline double wet(float phi)
{
    return phi < -0.5F ? 1 : phi > 0.5F ? 0 : 0.5 - (double)phi;
}

/* Cells grow as wholes, and where their middles are liquid; what that makes is what all the liquid does,
 * which grows while it moves. */
static void grow_row(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    const float *room = w->solids->any ? w->solids->room + row : NULL, *phi = w->d->phi + row;
    float *grown = w->field + row;
    for (int x = begin; x < end; x++) {
        if (w->held && und_mask_has(w->held, x, y, z))
            continue;
        double gain = w->dt * (double)cell[x].alpha * (double)cell[x].value[0],
               part = room ? (double)room[x] : 1;
        sum[0] += und_expm1(gain) * part * wet(phi[x]);
        if (und_mask_has(&w->flow->liquid, x, y, z))
            grown[x] += (float)(gain * part);
    }
}

double und_control_particles_grow(const und_control_particles *g, const und_mac_flow *s,
                                  const und_distance *d, const und_solids *solids, const und_mask *held,
                                  double dt, float *grown)
{
    const double *size = g->mac.d;
    und_control_particle_for_cells(&(control_work){.g = g,
                                                   .f = &g->field[UND_CONTROL_DIVERGENCE],
                                                   .flow = s,
                                                   .d = d,
                                                   .solids = solids,
                                                   .held = held,
                                                   .field = grown,
                                                   .dt = dt},
                                   grow_row);
    return und_control_particle_sum(g, 0) * size[0] * size[1] * size[2];
}
