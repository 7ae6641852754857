/* Equation 3.6: the liquid drags what is beside it.  Each component is a system of its own on its faces. */
#include "flow/mac_flow_diffuse_kernel.h"
#include "flow/mac_flow_parts.h"

/* Faces of an open side at the low end have the index -1, where the system has no unknowns: they take part as
 * the next ones inside do.  Those of rows across x are marked beyond the rows' ends and taken out first. */
static void hide_low_side(und_mac_flow *s)
{
    const und_mac *m = &s->mac;
    UND_MAC_EACH_ROW (m, row)
        if (und_mac_has(m, -1, row % m->n[1], row / m->n[1])) {
            uint64_t *bits = und_mask_row(&s->flows[0], row % m->n[1], row / m->n[1]);
            s->parts->system.known[und_mac_row(m, row) - 1] = (float)(bits[0] & 1);
            bits[0] &= ~UINT64_C(1);
        }
}

static void show_low_side(und_mac_flow *s)
{
    const und_mac *m = &s->mac;
    UND_MAC_EACH_ROW (m, row)
        if (und_mac_has(m, -1, row % m->n[1], row / m->n[1]) &&
            s->parts->system.known[und_mac_row(m, row) - 1] > 0)
            und_mask_row(&s->flows[0], row % m->n[1], row / m->n[1])[0] |= 1;
}

static void follow_low_side(und_mac_flow *s, int axis)
{
    const und_mac *m = &s->mac;
    int end[3] = {m->n[0], m->n[1], m->n[2]}, begin[3] = {0}, at[3];
    begin[axis] = -1;
    end[axis] = 0;
    for (at[2] = begin[2]; at[2] < end[2]; at[2]++)
        for (at[1] = begin[1]; at[1] < end[1]; at[1]++)
            for (at[0] = begin[0]; at[0] < end[0] && und_present_has(m->present, at[1], at[2]); at[0]++) {
                size_t face = und_mac_at(m, at[0], at[1], at[2]);
                int next[3] = {at[0] + (axis == 0), at[1] + (axis == 1), at[2] + (axis == 2)};
                if (und_mask_has(&s->flows[axis], at[0], at[1], at[2]) &&
                    und_mask_has(&s->flows[axis], next[0], next[1], next[2]))
                    s->u[axis][face] = s->u[axis][face + (size_t)m->step[axis]];
            }
}

und_mac_flow_report und_mac_flow_diffuse(und_mac_flow *s, const und_solids *solids, und_pressure *system,
                                         double viscosity, bool stick, double dt, double tolerance,
                                         int max_iterations)
{
    und_mac_flow_report report = {.converged = true};
    und_mac_flow_system_parts *parts = &s->parts->system;
    float **const arrays[3] = {&parts->known, &parts->b, &parts->weight};
    const double dx = s->mac.d[0];
    for (int i = 0; i < 3; i++)
        *arrays[i] = und_mac_flow_take(s);
    for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 2); a++) {
        const und_diffuse_args args = {.mac = s->mac,
                                       .axis = a,
                                       .weight = (float)(viscosity * dt / (dx * dx)),
                                       .stick = stick,
                                       .open = solids->open[a],
                                       .solid_u = solids->u[a],
                                       .u = s->u[a],
                                       .known = parts->known,
                                       .b = parts->b,
                                       .weights = parts->weight,
                                       .x = parts->x};
        const und_set faces = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->flows[a]);
        if (a == 0)
            hide_low_side(s);
        und_pass(&s->device, und_diffuse_set, &args, &faces);
        const und_halo_field weights =
            und_halo_of(&s->mac, s->parts->system.weight, sizeof(float), UND_HALO_ALL);
        und_halo_get(s->device.halo, &weights, 1);
        const float *weight[3] = {s->parts->system.weight, s->parts->system.weight, s->parts->system.weight};
        und_pressure_set(system, &s->flows[a], weight, s->parts->system.known);
        und_pressure_report solved = und_pressure_solve(system, s->parts->system.b, s->parts->system.x, true,
                                                        tolerance, max_iterations);
        und_pass(&s->device, und_diffuse_take, &args, &faces);
        if (a == 0)
            show_low_side(s);
        follow_low_side(s, a);
        report.iterations = solved.iterations > report.iterations ? solved.iterations : report.iterations;
        report.residual = solved.residual > report.residual ? solved.residual : report.residual;
        report.converged = report.converged && solved.converged;
    }
    und_pressure_done(system);
    und_mac_flow_give_back(s, &parts->known);
    return report;
}
