/* What comes back from an open edge, of waves that meet it at a slant: against water that goes on beyond it.
 */
#include "liquid/columns.h"
#include "liquid/waves.h"
#include "validate/columns.h"
#include "validate/waves.h"

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

static und_status make(int model, const und_height_field_def *height_field, pond *out, und_error *err)
{
    *out = (pond){0};
    if (model == PIPES) {
        und_columns_def def = und_columns_def_default();
        def.height_field = *height_field;
        out->columns = und_columns_create(&def, err);
        if (out->columns)
            out->water = case_columns_water(out->columns, &def);
        return out->columns ? UND_OK : err->status;
    }
    und_waves_def def = und_waves_def_default();
    def.order = model;
    def.height_field = *height_field;
    out->waves = und_waves_create(&def, err);
    if (out->waves)
        out->water = case_waves_water(out->waves, def.height_field.nx, def.height_field.nz);
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

static und_height_field_def flat(int nx, int nz)
{
    und_height_field_def def = und_height_field_def_default();
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

static double group_surface(const void *context, double x, double y, double z, double t)
{
    const group *g = context;
    double s = (x - g->center) / g->width;
    (void)y;
    (void)t;
    return TALL * exp(-s * s) * cos(g->kx * (x - g->center)) * cos(g->kz * z);
}

/* What comes back so far, p[0] against p[1], in which it begins at a cell, and how high the waves have been
 * at the edge. */
static void compare(const pond p[2], const int begin[2], int edge, double *back, double *high)
{
    for (int z = 0; z < p[0].water.nz; z++)
        for (int x = 0; x < p[0].water.nx; x++) {
            double free = p[1].water.surface(p[1].water.model, x + begin[0], z + begin[1]);
            *back = fmax(*back, fabs(p[0].water.surface(p[0].water.model, x, z) - free));
            if (x == edge)
                *high = fmax(*high, fabs(free));
        }
}

/* Two ponds of the same water, the first open at high x, go on side by side: the largest that comes back at
 * any time, of the height of the waves as they reach the edge. */
static und_status leave(int model, const und_height_field_def def[2], int count, double dt, double *part,
                        und_error *err)
{
    int often = dt * sqrt(G * DEPTH) < DX ? 4 : 1;
    double back = 0, high = 0;
    pond p[2] = {0};
    und_status status = UND_OK;
    for (int i = 0; i < 2 && status == UND_OK; i++)
        status = make(model, &def[i], &p[i], err);
    for (int n = 0; n < count && status == UND_OK; n += often) {
        for (int i = 0; i < 2; i++)
            steps(&p[i], often, dt);
        compare(p, (int[]){0, 0}, def[0].nx - 1, &back, &high);
    }
    for (int i = 0; i < 2; i++)
        drop(&p[i]);
    *part = back / high;
    return status;
}

/* Waves so many cells long between walls, at an angle to the straight way out, in steps of so many cells. */
typedef struct slant {
    double degrees, length, cells;
} slant;

static group waves_of(const slant *s, int *nz)
{
    double angle = s->degrees * M_PI / 180;
    *nz = s->degrees > 0 ? (int)round(s->length / (2 * sin(angle))) : 4;
    double k = s->degrees > 0 ? M_PI / (*nz * DX) / sin(angle) : 2 * M_PI / (s->length * DX);
    return (group){.kx = k * cos(angle), .kz = k * sin(angle), .width = 2 * M_PI / k / cos(angle)};
}

/* A group that starts where it does not reach the edge yet: what would come in from beyond is not there. */
static und_status group_leaves(int model, slant s, double *part, und_error *err)
{
    int nz;
    group g = waves_of(&s, &nz);
    int nx = (int)ceil(5.5 * g.width / DX);
    g.center = nx * DX - 3.4 * g.width;
    double dt = s.cells * DX / sqrt(G * DEPTH);
    /* Steps of many cells slow waves down. */
    double way = (s.cells > 1 ? 1.3 : 1) * 5.5 * g.width / cos(s.degrees * M_PI / 180);
    und_height_field_def def[2] = {flat(nx, nz), flat(2 * nx, nz)};
    for (int i = 0; i < 2; i++)
        def[i].surface = (und_value){.fn = group_surface, .context = &g};
    def[0].edge[UND_HIGH_X].kind = UND_EDGE_OPEN;
    return leave(model, def, (int)ceil(way / s.cells / DX), dt, part, err);
}

static double train_level(const void *context, double x, double y, double z, double t)
{
    const group *g = context;
    double w = sqrt(G * DEPTH) * hypot(g->kx, g->kz), grown = fmin(w * t / (2 * M_PI * 6), 1);
    (void)x;
    (void)y;
    return TALL * grown * grown * (3 - 2 * grown) * sin(w * t) * cos(g->kz * z);
}

/* Waves half as long as the water come in on one side and leave on the other, for six periods. */
static und_status train_leaves(int model, slant s, double *part, und_error *err)
{
    int nz;
    group g = waves_of(&s, &nz);
    int nx = (int)round(2 * g.width / DX), periods = 12;
    double way = periods * s.length;
    und_height_field_def def[2] = {flat(nx, nz), flat(nx + (int)way / 2, nz)};
    for (int i = 0; i < 2; i++) {
        def[i].edge[UND_LOW_X].kind = UND_EDGE_OPEN;
        def[i].edge[UND_LOW_X].level = (und_value){.fn = train_level, .context = &g};
    }
    def[0].edge[UND_HIGH_X].kind = UND_EDGE_OPEN;
    return leave(model, def, (int)(way / s.cells), s.cells * DX / sqrt(G * DEPTH), part, err);
}

typedef und_status leave_fn(int model, slant s, double *part, und_error *err);

/* At all angles. */
static und_status slanted(case_sink *sink, int model, leave_fn *leaves, const char *how, double length,
                          double cells, und_error *err)
{
    static const double degrees[] = {0, 30, 60}, most[] = {0.03, 0.03, 0.1};
    for (int a = 0; a < 3; a++) {
        double back = NAN;
        char text[96];
        if (leaves(model, (slant){degrees[a], length, cells}, &back, err))
            return err->status;
        snprintf(text, sizeof text, "%s, %g degrees, %g cells%s, %g a step: comes back", names[model],
                 degrees[a], length, how, cells);
        case_report(sink, (case_result){text, back, 0, most[a], "water that goes on"});
    }
    return UND_OK;
}

static und_status slants(case_sink *sink, int model, double cells, und_error *err)
{
    for (double length = 8; length <= 32; length *= 2)
        if (slanted(sink, model, group_leaves, "", length, cells, err))
            return err->status;
    return slanted(sink, model, train_leaves, ", half the water's length", 32, cells, err);
}

static double sloping_ground(const void *context, double x, double y, double z, double t)
{
    const double *slope = context;
    (void)x;
    (void)y;
    (void)t;
    return -DEPTH - *slope * (z - 32 * DX);
}

/* A drop falls into a pond open on all sides, nearer to one edge and a corner than to the others; or over a
 * bed that slopes along its two open edges. */
static und_status ring_out(case_sink *sink, int model, double cells, double slope, und_error *err)
{
    enum { N = 64, BEYOND = 64 };
    double dt = cells * DX / sqrt(G * DEPTH), back = 0, high = 0;
    const int begin[2] = {BEYOND, slope > 0 ? 0 : BEYOND};
    pond p[2] = {0};
    und_drop_def fall[2];
    und_status status = UND_OK;
    for (int i = 0; i < 2 && status == UND_OK; i++) {
        und_height_field_def def = flat(N + 2 * i * begin[0], N + 2 * i * begin[1]);
        fall[i] = (und_drop_def){.center = {(20 + i * begin[0]) * DX, 0, (28 + i * begin[1]) * DX},
                                 .radius = 6 * DX,
                                 .volume = 1e-6};
        def.drops = &fall[i];
        def.drop_count = 1;
        if (slope > 0)
            def.ground = (und_value){.fn = sloping_ground, .context = &slope};
        for (int e = 0; e < (slope > 0 ? UND_LOW_Z : UND_EDGES) && i == 0; e++)
            def.edge[e].kind = UND_EDGE_OPEN;
        status = make(model, &def, &p[i], err);
    }
    int often = (int)(5 / cells);
    for (int n = 0; n < 19 * often && status == UND_OK; n += often) {
        for (int i = 0; i < 2; i++)
            steps(&p[i], often, dt);
        compare(p, begin, n < 3 * often ? -1 : 0, &back, &high);
    }
    for (int i = 0; i < 2; i++)
        drop(&p[i]);
    char text[96];
    snprintf(text, sizeof text, "%s, a ring, bed of slope %g, %g cells a step: comes back", names[model],
             slope, cells);
    case_report(sink, (case_result){text, back / high, 0, slope > 0 ? 0.1 : 0.05, "water that goes on"});
    return status;
}

static und_status rings(case_sink *sink, int model, und_error *err)
{
    static const double slopes[] = {0, 0.1, 0.2};
    for (int i = 0; i < 3; i++)
        if (ring_out(sink, model, 0.5, slopes[i], err))
            return err->status;
    return UND_OK;
}

und_status case_slanted_edge(case_sink *sink, und_error *err)
{
    /* In longer steps the first order's short waves die before they are there. */
    if (slants(sink, ORDER_1, 0.25, err) || slants(sink, ORDER_2, 0.5, err) ||
        slanted(sink, ORDER_2, group_leaves, "", 8, 2, err) ||
        slanted(sink, ORDER_2, group_leaves, "", 8, 4, err) || rings(sink, ORDER_1, err) ||
        rings(sink, ORDER_2, err))
        return err->status;
    return ring_out(sink, ORDER_2, 1, 0, err);
}

und_status case_pipe_edge(case_sink *sink, und_error *err)
{
    return slants(sink, PIPES, 0.5, err) ? err->status : rings(sink, PIPES, err);
}
