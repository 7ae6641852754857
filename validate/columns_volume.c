/* Columns that rest, columns that splash: the water they hold, what presses on them, and drops in flight. */
#include "base/status.h"
#include "geom/shape.h"
#include "liquid/columns.h"
#include "spray/spray.h"
#include "validate/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81

und_status case_pipe_lake(case_sink *sink, und_error *err)
{
    const char *source = "water at rest stays at rest; Delestre et al. 2013, sec. 3.1.2";
    const double level = 0.1;
    for (int rows = 1; rows <= 16; rows += 15) {
        und_columns_def def = case_columns_tank(rows == 1 ? 200 : 80, rows, rows == 1 ? 0.1 : 0.25, 0);
        def.height_field.ground = (und_value){.fn = case_island_ground};
        def.height_field.surface = (und_value){.fn = case_island_surface};
        und_columns *columns = und_columns_create(&def, err);
        if (!columns)
            return err->status;
        double start = und_columns_ledger(columns).start, valley = 0, largest = 0;
        case_columns_steps(columns, 10000, 1.0 / 30);
        for (int z = 0; z < def.height_field.nz; z++)
            for (int x = 0; x < def.height_field.nx; x++) {
                double depth = und_columns_depth(columns, x, z);
                if (x >= (int)(16 / def.height_field.dx))
                    valley += depth;
                else if (depth > 0)
                    largest = fmax(largest, fabs(und_columns_surface(columns, x, z) - level));
            }
        char text[80];
        snprintf(text, sizeof text, "%d rows: largest |h - h0|, m", rows);
        case_report(sink, (case_result){text, largest, 0, 1e-12 * level, source});
        snprintf(text, sizeof text, "%d rows: water in the valley, m", rows);
        case_report(sink, (case_result){text, valley, 0, 0, source});
        snprintf(text, sizeof text, "%d rows: volume's change, relative", rows);
        case_report(sink,
                    (case_result){text, und_columns_ledger(columns).measured / start - 1, 0, 1e-13, source});
        und_columns_destroy(columns);
    }
    return UND_OK;
}

/* A block of water 1 m high stands on a beach in a basin, and falls. */
static double beach_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 0.3 * fmax(0, x - 1.4);
}

static double block_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return hypot(x - 0.6, z - 0.8) < 0.3 ? 1.3 : 0.3;
}

/* What is in the air, m3, from the drops that a frame shows. */
static und_status in_the_air(und_columns *columns, double *volume, und_error *err)
{
    und_liquid *liquid = und_columns_liquid(columns);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    *volume = 0;
    if (liquid->class->frame(liquid, &frame, err) == UND_OK) {
        const und_item *radius = und_frame_find(&frame, "spray/radius");
        for (size_t i = 0; radius && i < radius->dim[0]; i++)
            *volume += und_spray_volume(((const float *)radius->data)[i]);
    }
    und_frame_clear(&frame);
    return err->status;
}

static double shallowest(const und_columns *columns, const und_columns_def *def)
{
    double least = INFINITY;
    for (int z = 0; z < def->height_field.nz; z++)
        for (int x = 0; x < def->height_field.nx; x++)
            least = fmin(least, und_columns_depth(columns, x, z));
    return least;
}

/* What a splash that goes on did to the volume. */
typedef struct splash {
    double defect;  /* the largest |water + spray + left - V0 - Q t|, of V0 */
    double least;   /* depth, m */
    double sprayed; /* of V0 */
} splash;

static und_status watch_splash(und_columns *columns, const und_columns_def *def, double rate, splash *out,
                               und_error *err)
{
    const double dt = 1.0 / 240;
    double start = und_columns_ledger(columns).start;
    *out = (splash){.least = INFINITY};
    for (int i = 1; i <= 10000; i++) {
        und_columns_step(columns, dt);
        out->least = fmin(out->least, shallowest(columns, def));
        if (i % 100 != 0)
            continue;
        double air;
        if (in_the_air(columns, &air, err) != UND_OK)
            return err->status;
        und_ledger l = und_columns_ledger(columns);
        out->defect = fmax(out->defect, fabs(l.measured + air + l.left - (start + rate * i * dt)) / start);
        out->sprayed = l.spray_out / start;
    }
    return UND_OK;
}

/* Water falls, a ball drops into it and a patch of pressure keeps it splashing, all between walls; then the
 * same with a spring. */
und_status case_pipe_volume(case_sink *sink, und_error *err)
{
    const und_shape ball = {.kind = UND_SPHERE, .radius = 0.15};
    und_body_def body = und_body_def_default();
    body.shape = &ball;
    body.density = 700;
    body.position[0] = 1.2, body.position[1] = 3, body.position[2] = 0.8;
    const und_stir_def stir = {
        .center = {.constant = {0.8, 0, 0.8}}, .radius = 0.4, .amplitude = 0.9, .period = 0.6, .end = 100};
    const und_source_def spring = {
        .center = {0.5, 0, 0.5}, .radius = 0.2, .rate = {.number = 0.001}, .end = 1e9};
    char text[80];
    for (int with = 0; with <= 1; with++) {
        und_columns_def def = case_columns_tank(40, 40, 0.04, 0);
        def.height_field.ground = (und_value){.fn = beach_ground};
        def.height_field.surface = (und_value){.fn = block_surface};
        def.height_field.stirs = &stir, def.height_field.stir_count = 1;
        def.height_field.sources = &spring, def.height_field.source_count = with;
        def.bodies = &body, def.body_count = 1;
        def.spray.on = true;
        def.spray.threshold = 1;
        def.spray.rate = 3000;
        und_columns *columns = und_columns_create(&def, err);
        if (!columns)
            return err->status;
        splash s;
        und_status status = watch_splash(columns, &def, with * spring.rate.number, &s, err);
        und_columns_destroy(columns);
        if (status != UND_OK)
            return status;
        const char *what = with ? "with a spring" : "closed";
        snprintf(text, sizeof text, "%s: water + spray + left, relative", what);
        case_report(sink, (case_result){text, s.defect, 0, with ? 1e-10 : 1e-12,
                                        with ? "V0 + Q t" : OH95 ", eqs 7 to 9, sec. 3.3: V0"});
        snprintf(text, sizeof text, "%s: least depth below 0, m", what);
        case_report(sink, (case_result){text, fmin(s.least, 0), 0, 0, OH95 ", eq. 9"});
        snprintf(text, sizeof text, "%s: water that sprayed, of all, up to 0.01", what);
        case_report(sink, (case_result){text, fmin(s.sprayed, 0.01), 0.01, 0, "the splash is one"});
    }
    return UND_OK;
}

/* A patch of pressure of a given weight. */
typedef struct patch {
    double center, half, pressure;
} patch;

static double patch_pressure(const void *context, double x, double y, double z, double t)
{
    const patch *p = context;
    (void)y, (void)t;
    return fabs(x - p->center) < p->half && fabs(z - p->center) < p->half ? p->pressure : 0;
}

und_status case_static_load(case_sink *sink, und_error *err)
{
    static const int sides[] = {2, 6, 12}; /* columns */
    const double dx = 0.05;
    char text[80];
    for (int i = 0; i < 3; i++) {
        und_columns_def def = case_columns_tank(40, 40, dx, 0.5);
        patch load = {20 * dx, sides[i] * dx / 2, 1500};
        double weight = load.pressure * sides[i] * sides[i] * dx * dx, sunk = 0, far = 0;
        def.height_field.pressure = (und_value){.fn = patch_pressure, .context = &load};
        def.height_field.damping = 1;
        und_columns *columns = und_columns_create(&def, err);
        if (!columns)
            return err->status;
        case_columns_steps(columns, 1500, 1.0 / 60);
        far = und_columns_surface(columns, 0, 0);
        for (int z = 0; z < def.height_field.nz; z++)
            for (int x = 0; x < def.height_field.nx; x++)
                sunk += (far - und_columns_surface(columns, x, z)) * dx * dx;
        und_columns_destroy(columns);
        double volume = weight / (def.height_field.density * G);
        snprintf(text, sizeof text, "%d x %d columns pressed: displaced volume, m3", sides[i], sides[i]);
        case_report(
            sink, (case_result){text, sunk, volume, 1e-3 * volume, OH95 ", eqs 3, 11 at rest: W / (rho g)"});
    }
    return UND_OK;
}

/* One drop thrown up from water at 0, in steps of 1/240 s.  Its place is kept in single precision. */
und_status case_ballistic(case_sink *sink, und_error *err)
{
    static const double speeds[] = {2, 2.5, 4, 6};
    const float water[1] = {0}, radius = 0.005f;
    const und_spray_floor floor = {.nx = 1, .nz = 1, .stride = 1, .dx = 40, .height = water, .outside = -1};
    const double dt = 1.0 / 240;
    char text[80];
    for (int i = 0; i < 4; i++) {
        double v = speeds[i], top = 0, time = 0, flight = NAN, far = NAN, place[3] = {1, 0, 1},
               speed[3] = {5, v, 0};
        und_spray_def def = und_spray_def_default();
        und_spray *spray = und_spray_create(&def, G, 1, 1, err);
        if (!spray)
            return err->status;
        bool thrown = und_spray_add(spray, place, speed, radius);
        for (int n = 0; thrown && n < 1000 && spray->landed_count == 0; n++) {
            und_spray_step(spray, time, dt, &floor);
            time += dt;
            /* The parabola's top lies between two steps. */
            double rest = (double)spray->speed[1][0], y = (double)spray->place[1][0];
            top = fmax(top, y + rest * fabs(rest) / (2 * G));
        }
        if (spray->landed_count == 1) {
            flight = (double)spray->age[spray->landed[0]];
            far = (double)spray->place[0][spray->landed[0]] - place[0];
        }
        und_spray_destroy(spray);
        snprintf(text, sizeof text, "%g m/s: rise, m", v);
        case_report(sink, (case_result){text, top, v * v / (2 * G), 1e-5 * v * v / (2 * G), "v^2 / (2 g)"});
        snprintf(text, sizeof text, "%g m/s: flight, s", v);
        case_report(sink, (case_result){text, flight, 2 * v / G, 1e-5 * 2 * v / G, "2 v / g"});
        snprintf(text, sizeof text, "%g m/s, 5 m/s along x: range, m", v);
        case_report(sink, (case_result){text, far, 10 * v / G, 1e-5 * 10 * v / G, "2 u v / g"});
    }
    return UND_OK;
}
