/* Motion by fifth-order HJ-WENO (Jiang & Peng 2000; Osher & Fedkiw 2003, 3.5) and third-order TVD Runge-Kutta
 * (Shu & Osher 1988). */
#include "surface/distance_parts.h"
#include "surface/distance_weno_kernel.h"

#include <math.h>
#include <string.h>

#define COURANT 0.5 /* cells that the flow crosses in a part of a step, summed over axes */

static void run_stage(und_distance *d, const und_weno_args *s)
{
    const und_set band = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->band);
    und_pass(&d->device, und_weno_stage, s, &band);
}

void und_distance_advect_weno(und_distance *d, float *const u[3], double cells_per_speed)
{
    und_distance_parts *p = d->parts;
    und_set band = und_set_shared(&d->device, &d->mac, UND_ROWS_INSIDE);
    und_weno_args s = {.mac = d->mac, .u = {u[0], u[1], u[2]}};
    enum { REACH = 9 }; /* three stages, each of three cells */
    band.cells = &d->band;
    und_distance_get_flow(d, u, REACH);
    const und_pass speeds = UND_PASS(und_weno_speed_of, &s, &band);
    const double fastest = (double)und_pass_most(&d->device, &speeds, 1, p->block_most);
    double crossed = fastest * fabs(cells_per_speed), most = 1000; /* not as many as what is wrong asks for */
    int parts = (int)fmax(ceil(fmin(crossed / COURANT, most)), 1);
    s.time = (float)(cells_per_speed / parts);
    memcpy(d->next, d->phi, d->mac.count * sizeof *d->phi);
    memcpy(p->stage, d->phi, d->mac.count * sizeof *d->phi);
    for (int i = 0; i < parts; i++) {
        if (i > 0)
            und_distance_get_phi(d, REACH);
        s.start = d->phi;
        s.from = d->phi, s.to = p->stage, s.keep = 0;
        run_stage(d, &s);
        s.from = p->stage, s.to = d->next, s.keep = 0.75f;
        run_stage(d, &s);
        s.from = d->next, s.to = p->stage, s.keep = 1.0f / 3;
        run_stage(d, &s);
        float *phi = d->phi;
        d->phi = p->stage;
        p->stage = phi;
    }
    und_distance_beside(d, d->phi);
}
