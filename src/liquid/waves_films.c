/* Friction of the ground: a film of viscous liquid, fastest at its surface and at rest at the ground, loses
 * its flow q by dq/dt = -3 nu q / d^2.  Without it thin water rolls down a slope in steep steps. */
#include "base/parallel.h"
#include "liquid/waves_state.h"

static void slow_row(und_waves *s, int z)
{
    for (int x = 0; x < s->height_field.nx; x++) {
        size_t at = und_waves_at(s, x, z);
        if (s->rise[at] != 0)
            s->rise[at] *= und_waves_film_kept(s, und_waves_depth(s, at));
    }
}

/* A face's water is as deep as the mean of its sides. */
static void slow_flows(und_waves *s, float *flow, size_t beside, int columns, int z)
{
    for (int x = 0; x < columns; x++) {
        size_t at = und_waves_at(s, x, z);
        if (flow[at] != 0)
            flow[at] *=
                und_waves_film_kept(s, 0.5 * (und_waves_depth(s, at) + und_waves_depth(s, at + beside)));
    }
}

void und_waves_slow_films(und_waves *s)
{
    if (s->def.viscosity <= 0)
        return;
    PARALLEL_FOR(s->height_field.threads)
    for (int z = 0; z < s->height_field.nz; z++) {
        slow_row(s, z);
        if (s->flux_x)
            slow_flows(s, s->flux_x, 1, s->height_field.nx - 1, z);
        if (s->flux_z && z + 1 < s->height_field.nz)
            slow_flows(s, s->flux_z, (size_t)s->height_field.stride, s->height_field.nx, z);
    }
}
