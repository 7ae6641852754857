/* The level set liquid's def: what it is where nothing is said, and the grid of its frames. */
#include "liquid/levelset.h"

#include <math.h>

und_levelset_def und_levelset_def_default(void)
{
    return (und_levelset_def){.gravity = {0, -9.81, 0},
                              .density = 1000,
                              .cfl = 0.4,
                              .max_step = INFINITY,
                              .trace = 2,
                              .velocity_rule = UND_VELOCITY_MACCORMACK,
                              .surface_rule = UND_SURFACE_SEMI_LAGRANGIAN,
                              .redistance = 2,
                              .particles = 16,
                              .reseed = 20,
                              .tolerance = 1e-4,
                              .max_iterations = 100,
                              .spray = true,
                              .spray_most = 1 << 20,
                              .keep_velocity = true,
                              .seed = 1};
}

und_grid und_levelset_grid(const und_levelset_def *def)
{
    return (und_grid){.n = {def->n[0], def->n[1], def->n[2]},
                      .dx = def->dx,
                      .origin = {def->origin[0], def->origin[1], def->origin[2]}};
}
