#include "surface/level_set_particles_move_kernel.h"

void und_level_set_particles_move(und_level_set_particles *t, float *const u[3], double cells_per_speed,
                                  const float *wall)
{
    const und_particles_move_args args = {*t, {u[0], u[1], u[2]}, (float)cells_per_speed, wall};
    const und_set all = und_level_set_particles_all(t);
    und_pass(&t->device, und_particles_move, &args, &all);
}

typedef struct leave_args {
    und_level_set_particles of;
    const uint8_t *marked;
} leave_args;

/* Those without a radius are gone. */
static inline void leave(const leave_args *a, und_place p)
{
    const und_lanes_int cell = und_level_set_particles_cells(&a->of, (int)p.at);
    for (unsigned bits = p.which; bits; bits &= bits - 1)
        if (a->marked[cell[__builtin_ctz(bits)]])
            a->of.radius[p.at + (size_t)__builtin_ctz(bits)] = 0;
}
UND_KERNEL(leave, leave_args, UND_EACH_ITEM)

void und_level_set_particles_leave(und_level_set_particles *t, const uint8_t *marked)
{
    const leave_args args = {*t, marked};
    const und_set all = und_level_set_particles_all(t);
    und_pass(&t->device, leave, &args, &all);
}
