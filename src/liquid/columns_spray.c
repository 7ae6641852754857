/* The spray model.  O'Brien & Hodgins 1995, section 3.3.
 *
 * Equations 14 and 15 set a velocity equal to the flow Q of a pipe, m3/s.  The flow over the pipe's section
 * is meant, m/s: that is what is taken here, and it is the velocity of the water along the pipe. */
#include "base/parallel.h"
#include "base/random.h"
#include "liquid/columns_state.h"

#include <math.h>

enum { STREAM_COUNT = 201, STREAM_X, STREAM_Z, STREAM_RADIUS, STREAM_LAST, STREAM_SCATTER };

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
    double most = s->pool.grid.dx / s->dt; /* pipes at the water's edge may be all but dry while they flow */
    for (int i = 0; i < 3; i += 2)
        c.speed[i] = fmax(-most, fmin(c.speed[i], most));
    return c;
}

static double between(const double corner[4], double u, double v)
{
    return (corner[0] * (1 - u) + corner[1] * u) * (1 - v) + (corner[2] * (1 - u) + corner[3] * u) * v;
}

/* The surface over a column, from its four control points. */
typedef struct patch {
    double height[4], speed[3][4];
} patch;

static patch patch_at(const und_columns *s, int x, int z)
{
    patch p;
    for (int k = 0; k < 4; k++) {
        control_point c = control_at(s, x - 1 + (k & 1), z - 1 + (k >> 1));
        p.height[k] = c.height;
        for (int i = 0; i < 3; i++)
            p.speed[i][k] = c.speed[i];
    }
    return p;
}

/* A drop's random numbers depend on its column, its number there and the substep alone. */
static double chance(const und_columns *s, int stream, size_t at, int k)
{
    return und_random(s->def.pool.seed, ((uint64_t)stream << 32) + (uint64_t)k,
                      ((uint64_t)s->substep << 30) + (uint64_t)at);
}

/* Throws a drop from the place (u, v) of the column, 0 to 1; what it takes along, m3. */
static double throw_drop(und_columns *s, const patch *p, int x, int z, double u, double v, float radius,
                         int k)
{
    size_t at = und_columns_at(s, x, z);
    double volume = und_spray_volume(radius), area = und_pool_cell_area(&s->pool), speed[3];
    if (volume > 0.5 * s->depth[at] * area)
        return 0;
    double place[3] = {und_columns_x(s, x - 0.5 + u), between(p->height, u, v) + (double)radius,
                       und_columns_z(s, z - 0.5 + v)};
    for (int i = 0; i < 3; i++)
        speed[i] = s->def.spray.launch[i != 1] * between(p->speed[i], u, v);
    double size = sqrt(speed[0] * speed[0] + speed[1] * speed[1] + speed[2] * speed[2]);
    for (int i = 0; i < 3 && !s->def.spray.sheets; i++) /* in a sheet it gets that when it tears loose */
        speed[i] += s->def.spray.scatter * size * (2 * chance(s, STREAM_SCATTER + i, at, k) - 1);
    if (!und_spray_add(s->spray, place, speed, radius))
        return 0;
    s->depth[at] -= volume / area;
    und_ledger_add(&s->pool.ledger.spray_out, &s->pool.lost.spray_out, volume);
    return volume;
}

/* Drops uniformly over a column, where its surface rises faster than the threshold; in the mean they take
 * what rises beyond it, at most. */
static void emit_from(und_columns *s, int x, int z)
{
    const und_spray_def *def = &s->def.spray;
    size_t at = und_columns_at(s, x, z);
    double area = und_pool_cell_area(&s->pool);
    patch p = patch_at(s, x, z);
    double excess = between(p.speed[1], 0.5, 0.5) - def->threshold;
    double left = def->share * excess * s->dt * area;
    if (!(left > 0))
        return;
    int count = (int)fmin(def->rate * area * s->dt + chance(s, STREAM_COUNT, at, 0), 1e6);
    for (int k = 0; k < count && left > 0; k++) {
        double u = chance(s, STREAM_X, at, k), v = chance(s, STREAM_Z, at, k);
        double few = chance(s, STREAM_RADIUS, at, k); /* large drops are fewer */
        float radius = (float)(def->radius[0] + (def->radius[1] - def->radius[0]) * few * few * few);
        double volume = und_spray_volume(radius);
        if (volume * chance(s, STREAM_LAST, at, k) > left)
            break; /* the last one is there by chance, so that the mean is right */
        if (between(p.speed[1], u, v) > def->threshold)
            left -= throw_drop(s, &p, x, z, u, v, radius, k);
    }
}

void und_columns_emit(und_columns *s)
{
    if (!s->spray)
        return;
    float threshold = (float)s->def.spray.threshold;
    for (int z = 0; z < s->nz; z++) {
        bool quick = s->rows[z].quickest > threshold;
        for (int x = 0; x < s->nx && quick; x++)
            if (s->rise[und_columns_at(s, x, z)] > threshold)
                emit_from(s, x, z);
    }
}

static void find_tops(und_columns *s)
{
    PARALLEL_FOR(s->threads)
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++) {
            size_t at = und_columns_at(s, x, z);
            s->top[at] = (float)und_columns_level(s, at);
        }
}

/* A drop gives its water to the column it came down on, whether that is water, ground, or a body that sheds
 * it; or it has left. */
static void land(und_columns *s, const und_spray_floor *floor, int drop)
{
    const und_spray *spray = s->spray;
    int at = und_spray_cell(floor, spray->place[0][drop], spray->place[2][drop]);
    double volume = und_spray_volume(spray->radius[drop]);
    und_ledger_add(&s->pool.ledger.spray_back, &s->pool.lost.spray_back, volume);
    if (at >= 0)
        s->depth[at] += volume / und_pool_cell_area(&s->pool);
    else
        und_ledger_add(&s->pool.ledger.left, &s->pool.lost.left, volume);
}

void und_columns_fly(und_columns *s)
{
    if (!s->spray || s->spray->count == 0)
        return;
    const und_grid *g = &s->pool.grid;
    und_spray_floor floor = {.nx = s->nx,
                             .nz = s->nz,
                             .stride = s->stride,
                             .dx = g->dx,
                             .origin = {g->origin[0], g->origin[2]},
                             .height = s->top,
                             .ground = s->ground,
                             .outside = s->lowest,
                             .meet = s->bodies ? und_columns_meet : NULL,
                             .context = s};
    find_tops(s);
    und_spray_step(s->spray, s->pool.time, s->dt, &floor);
    for (int i = 0; i < s->spray->landed_count; i++)
        land(s, &floor, s->spray->landed[i]);
    und_spray_remove(s->spray);
}
