/* Figures of bones that are let go: a limb that swings, and a figure that comes up and floats. */
#include "base/status.h"
#include "bodies/skeleton.h"
#include "validate/columns.h"

#include <math.h>
#include <string.h>

#define G 9.81

enum { BONES = 8 };

static const char arm[] =
    "skeleton arm\n"
    "bone base ellipsoid 0.1 0.1 0.1\n"
    "bone arm on base joint 0 -0.2 0 ellipsoid 0.05 0.4 0.07 at 0 -0.5 0 limits -60 60\n"
    "key 0 at 1.03 2 0.98 arm 4\n";

static const char man[] =
    "skeleton man\n"
    "bone body ellipsoid 0.15 0.3 0.1\n"
    "bone head on body joint 0 0.3 0 ellipsoid 0.08 0.11 0.09 at 0 0.1 0\n"
    "bone arm_left on body joint 0.18 0.22 0 ellipsoid 0.05 0.3 0.05 at 0 -0.27 0 limits -170 40 -20 20 -10 "
    "90\n"
    "bone thigh_left on body joint 0.08 -0.27 0 ellipsoid 0.07 0.22 0.07 at 0 -0.2 0 limits -120 20 -10 10 "
    "-10 30\n"
    "bone shank_left on thigh_left joint 0 -0.42 0 ellipsoid 0.05 0.22 0.05 at 0 -0.2 0 limits 0 130\n"
    "mirror left right\n"
    "key 0 at 1.52 -0.6 1.47 turn 20 head 0 arm 0 0 10 thigh -20 shank 30\n";

/* One body per bone, let go at once; the root never where it is hung. */
static und_skeleton *bodies_of(const char *text, bool hung, double density, und_body_def bodies[BONES],
                               und_error *err)
{
    und_skeleton *skeleton = und_skeleton_parse(text, strlen(text), "figure", err);
    for (int i = 0; skeleton && i < und_skeleton_bones(skeleton); i++) {
        bodies[i] = und_body_def_default();
        bodies[i].shape = und_skeleton_shape(skeleton, i);
        bodies[i].skeleton = skeleton;
        bodies[i].bone = i;
        bodies[i].density = density;
        bodies[i].release = hung && i == 0 ? INFINITY : 0;
    }
    return skeleton;
}

static und_status swing(case_sink *sink, und_error *err)
{
    enum { TURNS = 5, MOST = 4000 };
    const double dt = 1.0 / 500, own = (0.16 + 0.0049) / 5, d = 0.5;
    double exact = 2 * M_PI * sqrt((own + d * d) / (G * d)), last = 0, first = 0, latest = 0;
    und_body_def bodies[BONES];
    und_skeleton *skeleton = bodies_of(arm, true, 1000, bodies, err);
    und_columns_def def = case_columns_tank(16, 16, 0.125, 0.1);
    def.bodies = bodies, def.body_count = 2;
    und_columns *columns = skeleton ? und_columns_create(&def, err) : NULL;
    int turns = 0;
    for (int n = 1; columns && n < MOST && turns < TURNS; n++) {
        und_columns_step(columns, dt);
        double w = und_columns_body(columns, 1).spin[0];
        if (w * last < 0) {
            latest = (n - w / (w - last)) * dt;
            first = turns++ == 0 ? latest : first;
        }
        last = w;
    }
    if (columns)
        case_report(sink, (case_result){"a limb that hangs from a led bone: period, s",
                                        turns == TURNS ? 2 * (latest - first) / (TURNS - 1) : NAN, exact,
                                        0.005 * exact, "compound pendulum, 2 pi sqrt((I + m d^2) / m g d)"});
    und_status status = columns ? UND_OK : err->status;
    und_columns_destroy(columns);
    und_skeleton_destroy(skeleton);
    return status;
}

/* What bodies displace, m3. */
static double displaced(const und_columns *columns, const und_columns_def *def)
{
    double sum = 0;
    for (int z = 0; z < def->height_field.nz; z++)
        for (int x = 0; x < def->height_field.nx; x++)
            sum += und_columns_surface(columns, x, z) - und_columns_ground(columns, x, z) -
                   und_columns_depth(columns, x, z);
    return sum * def->height_field.dx * def->height_field.dx;
}

static und_status float_up(case_sink *sink, und_error *err)
{
    const double density = 850;
    double mass = 0, mean = 0;
    und_body_def bodies[BONES];
    und_skeleton *skeleton = bodies_of(man, false, density, bodies, err);
    und_columns_def def = case_columns_tank(48, 48, 3.0 / 48, 1.5);
    def.bodies = bodies, def.body_count = skeleton ? und_skeleton_bones(skeleton) : 0;
    def.height_field.damping = 0.5;
    und_columns *columns = skeleton ? und_columns_create(&def, err) : NULL;
    for (int i = 0; i < def.body_count; i++) {
        und_vec3 h = bodies[i].shape->half;
        mass += density * 4.0 / 3 * M_PI * h.x * h.y * h.z;
    }
    for (int n = 0; columns && n < 10 * 60; n++) {
        und_columns_step(columns, 1.0 / 60);
        mean += n >= 8 * 60 ? displaced(columns, &def) / 120 : 0;
    }
    if (columns)
        case_report(sink, (case_result){"a limp figure that came up: water displaced, kg", 1000 * mean, mass,
                                        0.03 * mass, "Archimedes"});
    und_status status = columns ? UND_OK : err->status;
    und_columns_destroy(columns);
    und_skeleton_destroy(skeleton);
    return status;
}

und_status case_figure(case_sink *sink, und_error *err)
{
    und_status status = swing(sink, err);
    return status == UND_OK ? float_up(sink, err) : status;
}
