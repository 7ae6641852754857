#include "surface/level_set_particles_move_kernel.h"

void und_level_set_particles_move(und_level_set_particles *t, float *const u[3], double cells_per_speed,
                                  const float *wall)
{
    const und_particles_move_args args = {
        und_level_set_particles_list(t), {u[0], u[1], u[2]}, (float)cells_per_speed, wall, t->def.layered};
    const und_set all = und_level_set_particles_all(t);
    und_pass(&t->device, und_particles_move, &args, &all);
}

void und_level_set_particles_leave(und_level_set_particles *t, const uint8_t *marked)
{
    const und_particles_leave_args args = {und_level_set_particles_list(t), marked};
    const und_set all = und_level_set_particles_all(t);
    und_pass(&t->device, und_particles_leave, &args, &all);
}
