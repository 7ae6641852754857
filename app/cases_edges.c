/* What comes back from an open edge, of waves that meet it at a slant: against water that goes on beyond it.
 */
#include "cases_columns.h"
#include "cases_waves.h"
#include "liquid/columns.h"
#include "liquid/waves.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

enum { ORDER_1 = 1, ORDER_2, PIPES };
static const char *const names[] = {"", "order 1", "order 2", "pipes"};
static const double DX = 0.05, DEPTH = 0.5, TALL = 1e-4;

/* Water of one model or another. */
typedef struct pond {
    und_waves *waves;
    und_columns *columns;
    case_water water;
} pond;

static und_status make(int model, const und_pool_def *pool, pond *out, und_error *err)
{
    *out = (pond){0};
    if (model == PIPES) {
        und_columns_def def = und_columns_def_default();
        def.pool = *pool;
        out->columns = und_columns_create(&def, err);
        if (out->columns)
            out->water = case_columns_water(out->columns, &def);
        return out->columns ? UND_OK : err->status;
    }
    und_waves_def def = und_waves_def_default();
    def.order = model;
    def.pool = *pool;
    out->waves = und_waves_create(&def, err);
    if (out->waves)
        out->water = case_waves_water(out->waves, def.pool.nx, def.pool.nz);
    return out->waves ? UND_OK : err->status;
}

static void steps(pond *p, int count, double dt)
{
    if (p->waves)
        case_steps(p->waves, count, dt);
    else
        case_columns_steps(p->columns, count, dt);
}

static void drop(pond *p)
{
    und_waves_destroy(p->waves);
    und_columns_destroy(p->columns);
}

static und_pool_def flat(int nx, int nz)
{
    und_pool_def def = und_pool_def_default();
    def.nx = nx;
    def.nz = nz;
    def.dx = DX;
    def.ground.number = -DEPTH;
    def.threads = 1;
    for (int e = 0; e < UND_EDGES; e++)
        def.edge[e].has_level = true; /* 0 */
    return def;
}

/* Waves between walls, cos(kz z) across: two slanted ones, mirrored by the walls; a group of them along x. */
typedef struct group {
    double kx, kz, center, width;
} group;

static double group_surface(void *context, double x, double y, double z, double t)
{
    const group *g = context;
    double s = (x - g->center) / g->width;
    (void)y;
    (void)t;
    return TALL * exp(-s * s) * cos(g->kx * (x - g->center)) * cos(g->kz * z);
}

/* What comes back so far, p[0] against p[1], and how high the waves have been at the edge. */
static void compare(const pond p[2], int beyond, int edge, double *back, double *high)
{
    for (int z = 0; z < p[0].water.nz; z++)
        for (int x = 0; x < p[0].water.nx; x++) {
            int bz = p[1].water.nz > p[0].water.nz ? beyond : 0, bx = bz > 0 ? beyond : 0;
            double free = p[1].water.surface(p[1].water.model, x + bx, z + bz);
            *back = fmax(*back, fabs(p[0].water.surface(p[0].water.model, x, z) - free));
            if (x == edge)
                *high = fmax(*high, fabs(free));
        }
}

/* A group of waves `length` cells long leaves water `nx` cells long, in steps of so many cells: the largest
 * that comes back at any time, of the height of the waves as they reach the edge. */
static und_status leave(int model, int nx, double degrees, double length, double cells, double *part,
                        und_error *err)
{
    double angle = degrees * M_PI / 180, c = sqrt(G * DEPTH), dt = cells * DX / c, back = 0, high = 0;
    int nz = degrees > 0 ? (int)round(length / (2 * sin(angle))) : 4;
    double k = degrees > 0 ? M_PI / (nz * DX) / sin(angle) : 2 * M_PI / (length * DX);
    double wide = 2 * M_PI / k / cos(angle);
    group g = {k * cos(angle), k * sin(angle), nx * DX - 2.2 * wide, wide};
    /* Steps of many cells slow waves down. */
    int count = (int)ceil((cells > 1 ? 1.3 : 1) * (nx * DX - g.center + 1.5 * wide) / cos(angle) / c / dt);
    pond p[2] = {0};
    und_status status = UND_OK;
    for (int i = 0; i < 2 && status == UND_OK; i++) {
        und_pool_def def = flat(nx + i * 2 * nx, nz);
        def.surface = (und_value){.fn = group_surface, .context = &g};
        if (i == 0)
            def.edge[UND_HIGH_X].kind = UND_EDGE_OPEN;
        status = make(model, &def, &p[i], err);
    }
    int often = cells < 1 ? 4 : 1;
    for (int n = 0; n < count && status == UND_OK; n += often) {
        for (int i = 0; i < 2; i++)
            steps(&p[i], often, dt);
        compare(p, 0, nx - 1, &back, &high);
    }
    for (int i = 0; i < 2; i++)
        drop(&p[i]);
    *part = back / high;
    return status;
}

static und_status slanted(case_sink *sink, int model, und_error *err)
{
    static const double degrees[] = {0, 30, 60}, length[] = {8, 16, 48}, most[] = {0.03, 0.03, 0.1};
    for (int a = 0; a < 3; a++)
        for (int l = model == ORDER_1 ? 2 : 0; l < 3; l++) { /* its shorter waves die on the way */
            double back = NAN;
            char text[80];
            if (leave(model, (int)(6 * length[l]), degrees[a], length[l], 0.5, &back, err))
                return err->status;
            snprintf(text, sizeof text, "%s, %g degrees, %g cells: comes back", names[model], degrees[a],
                     length[l]);
            case_report(sink, (case_result){text, back, 0, most[a], "water that goes on"});
        }
    return UND_OK;
}

/* Long steps. */
static und_status strides(case_sink *sink, und_error *err)
{
    static const double degrees[] = {0, 30, 60}, cells[] = {2, 4}, most[] = {0.03, 0.03, 0.1};
    for (int n = 0; n < 6; n++) {
        double back = NAN;
        char text[80];
        if (leave(ORDER_2, 48, degrees[n % 3], 8, cells[n / 3], &back, err))
            return err->status;
        snprintf(text, sizeof text, "%g cells a step, %g degrees, 8 cells: comes back", cells[n / 3],
                 degrees[n % 3]);
        case_report(sink, (case_result){text, back, 0, most[n % 3], "water that goes on"});
    }
    return UND_OK;
}

/* A drop falls into a pond open on all sides, nearer to one edge and a corner than to the others. */
static und_status ring_out(case_sink *sink, int model, double cells, und_error *err)
{
    enum { N = 64, BEYOND = 64 };
    double dt = cells * DX / sqrt(G * DEPTH), back = 0, high = 0;
    pond p[2] = {0};
    und_drop_def fall[2];
    und_status status = UND_OK;
    for (int i = 0; i < 2 && status == UND_OK; i++) {
        und_pool_def def = flat(N + 2 * i * BEYOND, N + 2 * i * BEYOND);
        fall[i] = (und_drop_def){
            .center = {(20 + i * BEYOND) * DX, 0, (28 + i * BEYOND) * DX}, .radius = 6 * DX, .volume = 1e-6};
        def.drops = &fall[i];
        def.drop_count = 1;
        for (int e = 0; e < UND_EDGES && i == 0; e++)
            def.edge[e].kind = UND_EDGE_OPEN;
        status = make(model, &def, &p[i], err);
    }
    int often = (int)(5 / cells);
    for (int n = 0; n < 19 * often && status == UND_OK; n += often) {
        for (int i = 0; i < 2; i++)
            steps(&p[i], often, dt);
        compare(p, BEYOND, n < 3 * often ? -1 : 0, &back, &high);
    }
    for (int i = 0; i < 2; i++)
        drop(&p[i]);
    char text[80];
    snprintf(text, sizeof text, "%s, a ring, %g cells a step: comes back", names[model], cells);
    case_report(sink, (case_result){text, back / high, 0, 0.05, "water that goes on"});
    return status;
}

und_status case_slanted_edge(case_sink *sink, und_error *err)
{
    for (int model = ORDER_1; model <= ORDER_2; model++)
        if (slanted(sink, model, err) || ring_out(sink, model, 0.5, err))
            return err->status;
    return strides(sink, err) ? err->status : ring_out(sink, ORDER_2, 1, err);
}

und_status case_pipe_edge(case_sink *sink, und_error *err)
{
    return slanted(sink, PIPES, err) ? err->status : ring_out(sink, PIPES, 0.5, err);
}
