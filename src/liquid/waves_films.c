/* Friction of the ground: a film of viscous liquid, fastest at its surface and at rest at the ground, loses
 * its flow q by dq/dt = -3 nu q / d^2.  Without it thin water rolls down a slope in steep steps. */
#include "liquid/waves_state.h"
#include "liquid/waves_transport_kernel.h"

void und_waves_slow_films(und_waves *s)
{
    const und_height_field *p = &s->height_field;
    if (s->def.viscosity <= 0)
        return;
    float *const motion[] = {s->rise, s->flux_x, s->flux_z};
    const und_set *const where[] = {&p->rows, &p->across[0], &p->across[1]};
    const ptrdiff_t beside[] = {0, 1, p->stride};
    und_waves_film_args args[3];
    und_pass passes[3];
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (motion[i]) {
            args[count] = (und_waves_film_args){.height = s->height,
                                                .ground = s->ground,
                                                .motion = motion[i],
                                                .beside = beside[i],
                                                .rate = -3 * s->def.viscosity * s->dt};
            passes[count] = UND_PASS(und_waves_film, &args[count], where[i]);
            count++;
        }
    und_pass_run(&p->device, passes, count);
}
