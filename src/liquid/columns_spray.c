/* The spray model.  O'Brien & Hodgins 1995, section 3.3.
 *
 * Equations 14 and 15 set a velocity equal to the flow Q of a pipe, m3/s.  The flow over the pipe's section
 * is meant, m/s: that is what is taken here, and it is the velocity of the water along the pipe. */
#include "liquid/columns_flow_kernel.h"
#include "liquid/columns_state.h"
#include "liquid/splash.h"

#include <math.h>

static int within(int i, int count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

double und_columns_control(const und_columns *s, int x, int z)
{
    int x0 = within(x, s->nx), x1 = within(x + 1, s->nx), z0 = within(z, s->nz), z1 = within(z + 1, s->nz);
    return 0.25 * (und_columns_level(s, und_columns_at(s, x0, z0)) +
                   und_columns_level(s, und_columns_at(s, x1, z0)) +
                   und_columns_level(s, und_columns_at(s, x0, z1)) +
                   und_columns_level(s, und_columns_at(s, x1, z1)));
}

/* The control point between column (x, z) and the one at (x + 1, z + 1): how fast the surface moves there. */
typedef struct control_point {
    double height;   /* eq. 10 */
    double speed[3]; /* eqs 14, 13, 15 */
} control_point;

static control_point control_at(const und_columns *s, int x, int z)
{
    int x0 = within(x, s->nx), x1 = within(x + 1, s->nx), z0 = within(z, s->nz), z1 = within(z + 1, s->nz);
    size_t at[4] = {und_columns_at(s, x0, z0), und_columns_at(s, x1, z0), und_columns_at(s, x0, z1),
                    und_columns_at(s, x1, z1)};
    control_point c = {und_columns_control(s, x, z), {0, 0, 0}};
    for (int k = 0; k < 4; k++)
        c.speed[1] += 0.25 * (double)s->rise[at[k]];
    if (x >= 0 && x + 1 < s->nx)
        c.speed[0] =
            0.5 * (und_columns_pipe_speed(s, PIPE_X, x0, z0) + und_columns_pipe_speed(s, PIPE_X, x0, z1));
    if (z >= 0 && z + 1 < s->nz)
        c.speed[2] =
            0.5 * (und_columns_pipe_speed(s, PIPE_Z, x0, z0) + und_columns_pipe_speed(s, PIPE_Z, x1, z0));
    double most =
        s->height_field.grid.dx / s->dt; /* pipes at the water's edge may be all but dry while they flow */
    for (int i = 0; i < 3; i += 2)
        c.speed[i] = fmax(-most, fmin(c.speed[i], most));
    return c;
}

static und_splash_patch patch_at(const und_columns *s, int x, int z)
{
    und_splash_patch p;
    for (int k = 0; k < 4; k++) {
        control_point c = control_at(s, x - 1 + (k & 1), z - 1 + (k >> 1));
        p.height[k] = c.height;
        for (int i = 0; i < 3; i++)
            p.speed[i][k] = c.speed[i];
    }
    return p;
}

static und_splash splash_of(und_columns *s)
{
    const und_grid *g = &s->height_field.grid;
    return (und_splash){.spray = s->spray,
                        .seed = s->def.height_field.seed,
                        .substep = s->substep,
                        .time = s->height_field.time,
                        .dt = s->dt,
                        .floor = {.nx = s->nx,
                                  .nz = s->nz,
                                  .stride = s->stride,
                                  .dx = g->dx,
                                  .origin = {g->origin[0], g->origin[2]},
                                  .height = s->top + s->height_field.mac.first,
                                  .ground = s->ground + s->height_field.mac.first,
                                  .outside = s->lowest,
                                  .meet = s->floats.bodies ? und_columns_meet : NULL,
                                  .context = s},
                        .level = s->depth + s->height_field.mac.first,
                        .start = 1,
                        .ledger = &s->height_field.ledger,
                        .lost = &s->height_field.lost};
}

void und_columns_emit(und_columns *s)
{
    if (!s->spray)
        return;
    float threshold = (float)s->def.spray.threshold;
    und_splash splash = splash_of(s);
    for (int z = 0; z < s->nz; z++) {
        bool quick = s->rows[z].quickest > threshold;
        for (int x = 0; x < s->nx && quick; x++)
            if (s->rise[und_columns_at(s, x, z)] > threshold) {
                und_splash_patch patch = patch_at(s, x, z);
                und_splash_emit(&splash, &patch, x, z, 0);
            }
    }
}

static void find_tops(const und_columns *s)
{
    const und_columns_top_args args = {s->depth, s->ground, s->displaced, s->top};
    und_pass(&s->height_field.device, und_columns_top, &args, &s->height_field.rows);
}

void und_columns_fly(und_columns *s)
{
    if (!s->spray || s->spray->count == 0)
        return;
    und_splash splash = splash_of(s);
    find_tops(s);
    und_splash_fly(&splash, NULL, NULL); /* what bodies are hit by they shed */
}
