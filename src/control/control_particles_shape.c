/* What control particles do to the surface, and how far the liquid is from what they ask. */
#include "control/control_particles_state.h"

/* Into the part of the way that is gone in dt. */
static void blend_row(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    float *phi = w->d->phi + row, width = (float)w->d->width, last = 0, way = 0;
    for (int x = begin; x < end; x++) {
        if (!(cell[x].alpha > 0))
            continue;
        if (cell[x].alpha != last)
            way = und_control_particle_way(last = cell[x].alpha, w->dt);
        float plane = fmaxf(-width, fminf(width, cell[x].value[0]));
        float next = (1 - way) * phi[x] + way * plane;
        if (next * phi[x] < 0)
            sum[0] = fmax(sum[0], (double)fabsf(phi[x]));
        phi[x] = next;
        w->touched[row + (size_t)x] = 1;
    }
}

/* Union with what adds, difference with what erases. */
static void csg_row(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    const bool adds = w->f->kind == UND_CONTROL_ADDER;
    float *phi = w->d->phi + row;
    for (int x = begin; x < end; x++) {
        float d = adds ? cell[x].value[0] : -cell[x].value[0];
        if (!(cell[x].alpha > 0) || (adds ? d >= phi[x] : d <= phi[x]))
            continue;
        if (d * phi[x] < 0)
            sum[0] = fmax(sum[0], (double)fabsf(phi[x]));
        phi[x] = d;
        w->touched[row + (size_t)x] = 1;
    }
}

float und_control_particles_shape(const und_control_particles *g, und_distance *d, double dt,
                                  uint8_t *touched)
{
    static const und_control_particle_kind kinds[] = {UND_CONTROL_SURFACE, UND_CONTROL_ADDER,
                                                      UND_CONTROL_ERASER};
    double farthest = 0;
    for (int k = 0; k < 3; k++) {
        const control_field *f = &g->field[kinds[k]];
        if (f->capacity == 0 || f->acting == 0)
            continue;
        und_control_particle_for_cells(&(control_work){.g = g, .f = f, .d = d, .dt = dt, .touched = touched},
                                       kinds[k] == UND_CONTROL_SURFACE ? blend_row : csg_row);
        farthest = fmax(farthest, und_control_particle_largest(g, 0));
    }
    return (float)farthest;
}

static void untouch_row(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    (void)sum;
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    for (int x = begin; x < end; x++)
        w->touched[row + (size_t)x] = 0;
}

void und_control_particles_untouch(const und_control_particles *g, uint8_t *touched)
{
    static const und_control_particle_kind kinds[] = {UND_CONTROL_SURFACE, UND_CONTROL_ADDER,
                                                      UND_CONTROL_ERASER};
    for (int k = 0; k < 3; k++)
        if (g->field[kinds[k]].capacity > 0)
            und_control_particle_for_cells(
                &(control_work){.g = g, .f = &g->field[kinds[k]], .touched = touched}, untouch_row);
}

/* ---- The report ---- */

enum { COUNT, LARGEST, DIFFERENCE, WEIGHT, ASKED };

static void compare(double *sum, double alpha, double found, double asked)
{
    double off = fabs(found - asked);
    sum[COUNT] += 1;
    sum[LARGEST] = fmax(sum[LARGEST], off);
    sum[DIFFERENCE] += alpha * off;
    sum[WEIGHT] += alpha;
    sum[ASKED] += alpha * fabs(asked);
}

static void compare_velocity(const control_work *w, int axis, int y, int z, int begin, int end, double *sum)
{
    const und_mac *m = &w->g->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    for (int x = begin; x < end; x++) {
        control_face f = control_face_of(&cell[x], &cell[x + m->step[axis]], axis);
        if (f.alpha > 0 && und_mask_has(&w->flow->flows[axis], x, y, z))
            compare(sum, (double)f.alpha, (double)w->flow->u[axis][row + (size_t)(ptrdiff_t)x],
                    (double)f.value);
    }
}

static void compare_viscosity(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    for (int x = begin; x < end; x++)
        if (cell[x].alpha > 0 && und_mask_has(&w->flow->liquid, x, y, z))
            compare(sum, (double)cell[x].alpha,
                    w->state->nu ? (double)w->state->nu[row + (size_t)x] : w->state->viscosity,
                    (double)cell[x].value[0]);
}

/* Where the plane or the surface passes a cell: how far they are apart. */
static void compare_surface(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    const size_t row = und_mac_at(&w->g->mac, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    const double dx = w->g->mac.d[0], near = 0.5;
    for (int x = begin; x < end; x++) {
        double phi = (double)w->d->phi[row + (size_t)x], plane = (double)cell[x].value[0];
        if (cell[x].alpha > 0 && (fabs(plane) <= near || fabs(phi) <= near))
            compare(sum, (double)cell[x].alpha, (phi - plane) * dx, 0);
    }
}

static void compare_divergence(const control_work *w, int y, int z, int begin, int end, double *sum)
{
    const und_mac *m = &w->g->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const und_control_particle_cell *cell = w->f->cell + row;
    for (int x = begin; x < end; x++) {
        size_t i = row + (size_t)x;
        double made = 0;
        if (!(cell[x].alpha > 0) || !und_mask_has(&w->flow->liquid, x, y, z))
            continue;
        for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++)
            made += ((double)w->flow->u[a][i] - (double)w->flow->u[a][i - (size_t)m->step[a]]) / m->d[a];
        compare(sum, (double)cell[x].alpha, made, (double)cell[x].alpha * (double)cell[x].value[0]);
    }
}

und_control_particle_report und_control_particles_report(const und_control_particles *g,
                                                         und_control_particle_kind kind,
                                                         const und_control_particle_state *state)
{
    const control_field *f = &g->field[kind];
    const control_work w = {.g = g, .f = f, .flow = state->flow, .d = state->surface, .state = state};
    if (f->capacity == 0 || f->told == 0)
        return (und_control_particle_report){0};
    control_cell_fn *const cells[UND_CONTROL_KINDS] = {[UND_CONTROL_VISCOSITY] = compare_viscosity,
                                                       [UND_CONTROL_SURFACE] = compare_surface,
                                                       [UND_CONTROL_DIVERGENCE] = compare_divergence};
    if (kind == UND_CONTROL_VELOCITY)
        und_control_particle_for_faces(&w, compare_velocity);
    else if (cells[kind])
        und_control_particle_for_cells(&w, cells[kind]);
    else
        return (und_control_particle_report){.particles = f->told};
    double weight = und_control_particle_sum(g, WEIGHT), inverse = weight > 0 ? 1 / weight : 0;
    return (und_control_particle_report){.particles = f->told,
                                         .cells = und_control_particle_sum(g, COUNT),
                                         .largest = und_control_particle_largest(g, LARGEST),
                                         .mean = und_control_particle_sum(g, DIFFERENCE) * inverse,
                                         .asked = und_control_particle_sum(g, ASKED) * inverse};
}
