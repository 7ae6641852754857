/* Validation cases of the ray tracer, each through und_trace_path() itself. */
#include "validate/caustics.h"

#include "trace/path.h"
#include "validate/small_world.h"

#include <stdio.h>

static const double degree = 3.14159265358979323846 / 180;

static const und_matter water = {.kind = UND_MATTER_DIELECTRIC, .index = 1.333f, .priority = 1};
static const und_matter black = {.kind = UND_MATTER_DIFFUSE};

/* The Fresnel equations for n = 1.333, computed in double precision: angle, angle behind the surface,
 * reflectance from air and from water. */
static const double exact[][4] = {{0, 0, 0.02037318784, 0.02037318784},
                                  {10, 7.485119756, 0.02038366757, 0.02040755404},
                                  {20, 14.86718344, 0.02055540622, 0.02105095423},
                                  {30, 22.03010873, 0.02143646586, 0.02551916229},
                                  {40, 28.82992276, 0.02450236096, 0.05558159151},
                                  {45, 32.03672304, 0.0278983646, 0.1394584557},
                                  {50, 35.07701556, 0.0336678738, 1},
                                  {60, 40.51759062, 0.05969091918, 1},
                                  {70, 44.82515757, 0.1334750019, 1},
                                  {80, 47.62848745, 0.347916707, 1},
                                  {85, 48.3598669, 0.5835234787, 1},
                                  {89, 48.59672687, 0.8962764037, 1}};
enum { ANGLES = sizeof exact / sizeof exact[0] };

static und_lights *even_light(float value, und_error *err)
{
    return und_lights_create(&(und_lights_def){.constant = {value, value, value}}, err);
}

/* The mean light along a ray that meets y = 0 at the angle, from above or below. */
static f3 seen(const small_world *world, const und_lights *lights, double angle, double height,
               uint32_t count)
{
    und_paths paths = {.world = &world->base, .lights = lights, .bounces = 1000, .clamp = INFINITY};
    double s = sin(angle * degree), c = cos(angle * degree), down = height > 0 ? -1 : 1, sum[3] = {0};
    for (uint32_t k = 0; k < count; k++) {
        und_dice dice = {.seed = 1, .sample = k};
        und_ray ray = {.from = {(float)(-s / c * fabs(height)), (float)height, 0},
                       .dir = {(float)s, (float)(c * down), 0},
                       .far = INFINITY};
        f3 light = und_trace_path(&paths, &ray, &dice, NULL);
        sum[0] += (double)light.x / count;
        sum[1] += (double)light.y / count;
        sum[2] += (double)light.z / count;
    }
    return f3_make((float)sum[0], (float)sum[1], (float)sum[2]);
}

static bool below(const und_world *world, f3 place, und_matter *matter)
{
    (void)world;
    *matter = water;
    return place.y < 0;
}

/* A sea over a black floor: what is seen of an even sky from above is what it reflects, from below what it
 * does not. */
static und_status reflectance(case_sink *sink, und_error *err)
{
    const small_thing things[] = {
        {.kind = SMALL_PLANE, .normal = {0, 1, 0}, .matter = water, .id = UND_ID_LIQUID},
        {.kind = SMALL_PLANE,
         .place = {0, -2, 0},
         .normal = {0, 1, 0},
         .matter = black,
         .id = UND_ID_GROUND}};
    small_world world = small_world_of(things, 2);
    world.base.within = below;
    und_lights *lights = even_light(1, err);
    if (!lights)
        return UND_FAILED;
    double worst[2] = {0};
    for (int k = 0; k < ANGLES; k++) {
        double above = seen(&world, lights, exact[k][0], 0.01, 1).x;
        double under = 1 - (double)seen(&world, lights, exact[k][0], -0.01, 1).x;
        worst[0] = fmax(worst[0], fabs(above - exact[k][2]));
        worst[1] = fmax(worst[1], fabs(under - exact[k][3]));
    }
    case_report(sink, (case_result){"reflectance from air at 60 degrees", seen(&world, lights, 60, 0.01, 1).x,
                                    0.05969091918, 1e-6, "the Fresnel equations, n = 1.333"});
    case_report(sink, (case_result){"largest difference from air, 12 angles", worst[0], 0, 1e-6,
                                    "the Fresnel equations, n = 1.333"});
    case_report(sink, (case_result){"largest difference from water, 12 angles", worst[1], 0, 2e-6,
                                    "the Fresnel equations, n = 1.333"});
    double mean[2] = {0};
    enum { STEPS = 2000 };
    for (int k = 0; k < STEPS; k++) { /* even in the square of the sine: diffuse light */
        double angle = asin(sqrt((k + 0.5) / STEPS)) / degree;
        mean[0] += (double)seen(&world, lights, angle, 0.01, 1).x / STEPS;
        mean[1] += (1 - (double)seen(&world, lights, angle, -0.01, 1).x) / STEPS;
    }
    case_report(sink, (case_result){"reflectance of diffuse light from air", mean[0], 0.06641, 2e-4,
                                    "integral of the Fresnel equations"});
    case_report(sink, (case_result){"reflectance of diffuse light from water", mean[1], 0.47459, 2e-4,
                                    "integral of the Fresnel equations"});
    und_lights_destroy(lights);
    return UND_OK;
}

/* A floor that shines by its place along x. */
static bool cast_shining(const und_world *world, const und_ray *ray, und_hit *hit)
{
    if (!small_cast(world, ray, hit))
        return false;
    if (hit->id == UND_ID_GROUND) {
        hit->matter.emission[0] = hit->place.x;
        hit->matter.emission[1] = 1;
    }
    return true;
}

static und_status refraction(case_sink *sink, und_error *err)
{
    const small_thing things[] = {
        {.kind = SMALL_PLANE, .normal = {0, 1, 0}, .matter = water, .id = UND_ID_LIQUID},
        {.kind = SMALL_PLANE,
         .place = {0, -1, 0},
         .normal = {0, 1, 0},
         .matter = black,
         .id = UND_ID_GROUND}};
    small_world world = small_world_of(things, 2);
    world.base.within = below;
    world.base.cast = cast_shining;
    und_lights *lights = even_light(0, err);
    if (!lights)
        return UND_FAILED;
    double worst = 0;
    for (int k = 0; k < ANGLES; k++) {
        f3 light = seen(&world, lights, exact[k][0], 0.01, 1);
        worst = fmax(worst, fabs(atan((double)light.x / (double)light.y) / degree - exact[k][1]));
    }
    case_report(sink,
                (case_result){"largest difference of 12 angles, degrees", worst, 0, 0.01, "Snell's law"});
    double low = 30, high = 70;
    und_lights *sky = even_light(1, err);
    world.base.cast = small_cast;
    for (int k = 0; k < 24 && sky; k++) {
        double middle = 0.5 * (low + high);
        if (seen(&world, sky, middle, -0.5, 1).x > 0)
            low = middle;
        else
            high = middle;
    }
    case_report(sink, (case_result){"critical angle from water, degrees", low, 48.6066, 2e-3, "asin(1 / n)"});
    und_lights_destroy(sky);
    und_lights_destroy(lights);
    return sky ? UND_OK : UND_FAILED;
}

/* A slab before a wall that shines: each way through takes x = exp(-a d / cos), each face F; all ways
 * together let through (1 - F)^2 x / (1 - F^2 x^2). */
static und_status absorption(case_sink *sink, und_error *err)
{
    und_matter ink = water;
    ink.absorption[0] = 0.5f;
    ink.absorption[1] = 2;
    small_thing things[] = {
        {.kind = SMALL_SLAB, .place = {0, -0.5f, 0}, .size = 1, .matter = ink, .id = UND_ID_LIQUID},
        {.kind = SMALL_PLANE,
         .place = {0, -3, 0},
         .normal = {0, 1, 0},
         .matter = black,
         .id = UND_ID_GROUND}};
    things[1].matter.emission[0] = things[1].matter.emission[1] = 1;
    small_world world = small_world_of(things, 2);
    und_lights *lights = even_light(0, err);
    if (!lights)
        return UND_FAILED;
    const int rows[] = {0, 5, 9}; /* 0, 45 and 80 degrees */
    for (int k = 0; k < 3; k++) {
        const double *row = exact[rows[k]], f = row[2];
        f3 light = seen(&world, lights, row[0], 1, 4096);
        double got[2] = {light.x, light.y};
        for (int c = 0; c < 2; c++) {
            char what[80];
            double a = c ? 2 : 0.5, x = exp(-a / cos(row[1] * degree));
            snprintf(what, sizeof what, "share through 1 m of %g/m at %g degrees", a, row[0]);
            case_report(sink, (case_result){what, got[c], (1 - f) * (1 - f) * x / (1 - f * f * x * x), 1e-3,
                                            "Beer's law and the Fresnel equations"});
        }
    }
    und_lights_destroy(lights);
    return UND_OK;
}

/* Mean over rays from all sides to places in the middle. */
static double furnace_mean(const small_world *world, const und_lights *lights, uint32_t count)
{
    und_paths paths = {.world = &world->base, .lights = lights, .bounces = 1000, .clamp = INFINITY};
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        und_dice dice = {.seed = 2, .sample = k};
        float u[4];
        for (int i = 0; i < 4; i++)
            u[i] = und_dice_roll(&dice);
        float y = 0.05f + 0.95f * u[0], r = sqrtf(1 - y * y), angle = (float)(360 * degree) * u[1];
        f3 out = f3_make(r * cosf(angle), y, r * sinf(angle));
        f3 to = f3_make(1.6f * u[2] - 0.8f, 0, 1.6f * u[3] - 0.8f);
        und_ray ray = {.from = f3_along(to, out, 8), .dir = f3_scale(out, -1), .far = INFINITY};
        sum += (double)und_trace_path(&paths, &ray, &dice, NULL).x / count;
    }
    return sum;
}

/* Under an even sky nothing that is white or clear can be seen. */
static und_status furnace(case_sink *sink, und_error *err)
{
    const und_matter white = {.kind = UND_MATTER_DIFFUSE, .color = {1, 1, 1}};
    const und_matter tile = {.kind = UND_MATTER_GLOSSY, .color = {1, 1, 1}, .index = 1.5f};
    const und_matter metal = {.kind = UND_MATTER_METAL, .color = {1, 1, 1}, .roughness = 0.6f};
    const und_matter glass = {.kind = UND_MATTER_DIELECTRIC, .index = 1.5f, .priority = 2};
    const und_matter frosted = {
        .kind = UND_MATTER_DIELECTRIC, .index = 1.5f, .roughness = 0.5f, .priority = 2};
    const small_thing drop[] = {{.kind = SMALL_SPHERE, .size = 1, .matter = water, .id = UND_ID_LIQUID}};
    const small_thing pool[] = {
        {.kind = SMALL_SLAB, .place = {0, -0.5f, 0}, .size = 1.01f, .matter = water, .id = UND_ID_LIQUID},
        {.kind = SMALL_PLANE,
         .place = {0, -1, 0},
         .normal = {0, 1, 0},
         .matter = white,
         .id = UND_ID_GROUND}};
    const small_thing vessel[] = {
        {.kind = SMALL_SPHERE, .size = 1.2f, .matter = glass, .id = UND_ID_SOLID},
        {.kind = SMALL_SPHERE, .size = 1.1f, .matter = water, .id = UND_ID_LIQUID},
        {.kind = SMALL_SPHERE, .size = 0.6f, .matter = tile, .id = UND_ID_SOLID + 1}};
    const small_thing rough[] = {
        {.kind = SMALL_SPHERE, .place = {-0.5f, 0, 0}, .size = 0.5f, .matter = metal, .id = UND_ID_SOLID},
        {.kind = SMALL_SPHERE,
         .place = {0.5f, 0, 0},
         .size = 0.5f,
         .matter = frosted,
         .id = UND_ID_SOLID + 1}};
    const struct {
        const char *what;
        const small_thing *thing;
        int count;
    } rows[] = {{"a drop of water", drop, 1},
                {"a pool with a white floor", pool, 2},
                {"white tile in water in glass", vessel, 3},
                {"rough metal and frosted glass", rough, 2}};
    und_lights *lights = even_light(1, err);
    if (!lights)
        return UND_FAILED;
    for (int k = 0; k < 4; k++) {
        small_world world = small_world_of(rows[k].thing, rows[k].count);
        case_report(sink, (case_result){rows[k].what, furnace_mean(&world, lights, 1 << 14), 1, 0.005,
                                        "light is neither lost nor made"});
    }
    und_lights_destroy(lights);
    return UND_OK;
}

const validation_case trace_cases[] = {
    {"reflectance", "trace", reflectance},        {"refraction", "trace", refraction},
    {"absorption", "trace", absorption},          {"furnace", "trace", furnace},
    {"caustic_flat", "trace", case_caustic_flat}, {"caustic_bulge", "trace", case_caustic_bulge},
    {"caustic_sine", "trace", case_caustic_sine}, {0}};
