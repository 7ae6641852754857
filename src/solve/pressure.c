#include "solve/pressure.h"

#include "base/pages.h"
#include "solve/system.h"

#include <stdlib.h>

struct und_pressure {
    und_system system;
};

und_pressure *und_pressure_create(const und_mac *mac, int threads, und_scratch *scratch, und_error *err)
{
    und_pressure *s = und_pages_alloc_read_only(sizeof *s, "the pressure's system", err);
    if (s && und_system_open(&s->system, mac, threads, scratch, err) != UND_OK) {
        und_pressure_destroy(s);
        s = NULL;
    }
    return s;
}

void und_pressure_destroy(und_pressure *s)
{
    if (!s)
        return;
    und_system_close(&s->system);
    und_pages_free(s);
}

void und_pressure_share(und_pressure *s, const und_device *device)
{
    s->system.m.device.halo = s->system.components.device.halo = device->halo;
    s->system.m.device.card = s->system.components.device.card = device->card;
}

und_status und_pressure_window(und_pressure *s, const und_mac *mac, und_error *err)
{
    und_system other;
    und_system_done(&s->system);
    const und_device device = s->system.m.device;
    if (und_system_open(&other, mac, device.threads, s->system.m.scratch, err) != UND_OK) {
        und_system_close(&other);
        return err->status;
    }
    und_system_close(&s->system);
    s->system = other;
    s->system.components.level = &s->system.m.level[0];
    und_pressure_share(s, &device);
    return UND_OK;
}

void und_pressure_done(und_pressure *s)
{
    und_system_done(&s->system);
}

void und_pressure_set(und_pressure *s, const und_mask *unknown, const float *const weight[3], float *known)
{
    const double full[3] = {1, 1, 1};
    const und_mac *m = &s->system.mac;
    const und_halo_field all[] = {und_halo_of_mask(m, unknown, UND_HALO_ALL),
                                  und_halo_of(m, known, sizeof *known, UND_HALO_ALL)};
    und_halo_get(s->system.m.device.halo, all, 2);
    und_system_set(&s->system, full,
                   &(und_system_sides){.unknown = unknown, .weight = weight, .known = {known}});
}

und_pressure_report und_pressure_solve_in(und_pressure *s, const float *b, double *x, double unit, bool warm,
                                          double tolerance, int max_iterations)
{
    s->system.b = b;
    s->system.unit = unit;
    und_system_report r = und_system_solve(&s->system, x, warm, 0, tolerance, max_iterations);
    double scale = r.largest > 0 ? 1 / r.largest : 0;
    return (und_pressure_report){.iterations = r.iterations,
                                 .residual = scale * r.residual,
                                 .converged = r.converged,
                                 .closed = s->system.components.closed,
                                 .unfit = scale * r.unfit};
}

und_pressure_report und_pressure_solve(und_pressure *s, const float *b, double *x, bool warm,
                                       double tolerance, int max_iterations)
{
    return und_pressure_solve_in(s, b, x, 1, warm, tolerance, max_iterations);
}

void und_pressure_lift(und_pressure *s, double *x)
{
    und_system_lift(&s->system, x);
}

void und_pressure_precondition(und_pressure *s, const double *r, double *z)
{
    und_system_precondition(&s->system, r, z);
}
