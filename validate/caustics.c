/* Validation cases of caustics: light through water whose surface can be written down, on to a flat bottom.
 */
#include "validate/caustics.h"

#include "base/pages.h"
#include "stage/optics.h"
#include "trace/photons_parts.h"

#include <math.h>

static const float INDEX = 1.333f;

typedef struct pond {
    und_world world;
    double (*height)(double x, double slope[2], double z); /* of the water over y = 0 */
    double clear;                                          /* m from the axis; beyond it nothing passes */
    double depth;
} pond;

static double flat(double x, double slope[2], double z)
{
    (void)x;
    (void)z;
    slope[0] = slope[1] = 0;
    return 0;
}

/* A ball of radius 1 m; only its top is lit. */
static double ball(double x, double slope[2], double z)
{
    double root = sqrt(fmax(1 - x * x - z * z, 0.25));
    slope[0] = -x / root;
    slope[1] = -z / root;
    return root - 1;
}

static double sine(double x, double slope[2], double z)
{
    double k = 2 * acos(-1);
    (void)z;
    slope[0] = -0.02 * k * sin(k * x);
    slope[1] = 0;
    return 0.02 * cos(k * x);
}

/* Newton's method along the ray. */
static float meet_water(const pond *p, const und_ray *ray, double slope[2])
{
    double t = 0;
    for (int k = 0; k < 10; k++) {
        double h = p->height(ray->from.x + t * ray->dir.x, slope, ray->from.z + t * ray->dir.z);
        double rate = ray->dir.y - slope[0] * ray->dir.x - slope[1] * ray->dir.z;
        t -= (ray->from.y + t * ray->dir.y - h) / rate;
    }
    return (float)t;
}

static bool cast(const und_world *world, const und_ray *ray, und_hit *hit)
{
    const pond *p = (const pond *)world;
    double slope[2];
    float water = meet_water(p, ray, slope), bottom = ((float)-p->depth - ray->from.y) / ray->dir.y;
    bool wet = water > 1e-5f && water < INFINITY && !(bottom > 0 && bottom < water);
    if (!wet && !(bottom > 0))
        return false;
    f3 place = f3_along(ray->from, ray->dir, wet ? water : bottom);
    f3 up = wet ? f3_unit(f3_make((float)-slope[0], 1, (float)-slope[1])) : f3_make(0, 1, 0);
    bool covered = wet && p->clear > 0 && hypot(place.x, place.z) > p->clear;
    *hit = (und_hit){.t = wet ? water : bottom, .place = place, .normal = up, .face = up};
    hit->matter =
        (und_matter){.kind = wet && !covered ? UND_MATTER_DIELECTRIC : UND_MATTER_DIFFUSE, .index = INDEX};
    return true;
}

/* Light from straight above, irradiance 1. */
static und_ray beam(const und_lights *lights, const und_box *bounds, double count, const float u[4], f3 *flux)
{
    (void)lights;
    f3 size = f3_sub(bounds->high, bounds->low);
    *flux = f3_gray((float)(size.x * size.z / count));
    f3 from = {bounds->low.x + u[2] * size.x, bounds->high.y + 1, bounds->low.z + u[3] * size.z};
    return (und_ray){.from = from, .dir = {0, -1, 0}, .far = INFINITY};
}

static und_photons_def pond_def(case_sink *sink, const pond *p, size_t count)
{
    return (und_photons_def){.world = &p->world,
                             .count = count,
                             .nearest = 50,
                             .seed = 1,
                             .bounces = 8,
                             .threads = case_threads(sink),
                             .emit = beam};
}

static und_photons *illuminate(case_sink *sink, const pond *p, size_t count, und_error *err)
{
    const und_photons_def def = pond_def(sink, p, count);
    return und_photons_create(&def, err);
}

/* What lands within half a width of the middle, as far as x goes: its flux, and its mean squared distance
 * from the axis. */
static und_status measure(case_sink *sink, const pond *p, size_t count, double half, double *flux,
                          double *wide, und_error *err)
{
    const und_photons_def def = pond_def(sink, p, count);
    und_photon *list = NULL;
    int landed = 0;
    und_status status = und_photons_send(&def, &list, &landed, err);
    *flux = *wide = 0;
    for (int i = 0; i < landed; i++)
        if (fabsf(list[i].place[0]) < (float)half) {
            double x = (double)list[i].place[0], z = (double)list[i].place[2];
            *flux += (double)list[i].flux[1];
            *wide += (x * x + z * z) / landed;
        }
    und_pages_free(list);
    return status;
}

static pond make_pond(double (*height)(double, double[2], double), double depth, float half)
{
    return (pond){.world = {.cast = cast, .bounds = {{-half, -(float)depth, -half}, {half, 0.1f, half}}},
                  .height = height,
                  .depth = depth};
}

static double light_at(const und_photons *photons, float x, float depth, float z)
{
    return (double)und_photons_at(photons, f3_make(x, -depth, z), f3_make(0, 1, 0), true).y;
}

und_status case_caustic_flat(case_sink *sink, und_error *err)
{
    pond p = make_pond(flat, 0.5, 1);
    double flux, wide, through = 1 - und_fresnel(1, (double)INDEX), sum = 0, square = 0;
    if (measure(sink, &p, 400000, INFINITY, &flux, &wide, err) != UND_OK)
        return err->status;
    und_photons *photons = illuminate(sink, &p, 400000, err);
    if (!photons)
        return err->status;
    enum { N = 32 };
    for (int k = 0; k < N * N; k++) {
        double e =
            light_at(photons, 1.6f * ((float)(k % N) / N - 0.5f), 0.5f, 1.6f * ((float)(k / N) / N - 0.5f));
        sum += e / (N * N);
        square += (e / through - 1) * (e / through - 1) / (N * N);
    }
    case_report(sink, (case_result){"energy on the floor under flat water, of what came", flux / 4, through,
                                    0.005 * through, "Fresnel's transmittance"});
    case_report(sink, (case_result){"irradiance of the floor, of what came", sum, through, 0.005 * through,
                                    "Fresnel's transmittance"});
    case_report(sink,
                (case_result){"its unevenness, rms", sqrt(square), 0, 0.03, "flat water lights evenly"});
    und_photons_destroy(photons);
    return UND_OK;
}

/* A beam of radius a has the mean squared width a^2 / 2 (1 - D / f)^2 at depth D under the vertex. */
und_status case_caustic_bulge(case_sink *sink, und_error *err)
{
    const double depth = 2, radius = 0.03, n = (double)INDEX;
    pond p = make_pond(ball, depth, 0.04f);
    p.clear = radius;
    double flux, wide;
    if (measure(sink, &p, 200000, INFINITY, &flux, &wide, err) != UND_OK)
        return err->status;
    und_photons *photons = illuminate(sink, &p, 200000, err);
    if (!photons)
        return err->status;
    double f = depth / (1 - sqrt(2 * wide) / radius), focus = n / (n - 1);
    case_report(sink, (case_result){"focus under a bulge of radius 1 m, m", f, focus, 1e-3 * focus,
                                    "n R / (n - 1), paraxial"});
    double through = 1 - und_fresnel(1, n), gain = 1 / pow(1 - depth / focus, 2);
    case_report(sink, (case_result){"irradiance on its axis 2 m deep, of what came through",
                                    light_at(photons, 0, (float)depth, 0) / through, gain, 0.03 * gain,
                                    "1 / (1 - D / f)^2"});
    und_photons_destroy(photons);
    return UND_OK;
}

/* Depth; where on the bottom; irradiance over what came: vertical light through 0.02 cos(2 pi x), traced
 * exactly. */
static const double sine_light[][3] = {
    {1.267465632, 0, 1.340383338},
    {1.267465632, 0.2102699517, 0.9960764002},
    {1.267465632, 0.5, 0.8025327789},
    {2.534931265, 0, 2.015904138},
    {2.534931265, 0.05295101497, 1.680968537},
};

und_status case_caustic_sine(case_sink *sink, und_error *err)
{
    const double through = 1 - und_fresnel(1, (double)INDEX), k = 2 * acos(-1), a = 0.02;
    double worst = 0, energy = 0, axis[2] = {0, 0}, depth[2] = {sine_light[0][0], sine_light[3][0]};
    for (int d = 0; d < 2; d++) {
        pond p = make_pond(sine, depth[d], 1.5f);
        und_photons *photons = illuminate(sink, &p, 500000, err);
        if (!photons)
            return err->status;
        for (int i = d ? 3 : 0; i < (d ? 5 : 3); i++) {
            double sum = 0;
            for (int z = -50; z <= 50; z++)
                sum += light_at(photons, (float)sine_light[i][1], (float)depth[d], 0.02f * (float)z) / 101;
            worst = fmax(worst, fabs(sum / through / sine_light[i][2] - 1));
            axis[d] = sine_light[i][1] == 0 ? sum / through : axis[d];
        }
        und_photons_destroy(photons);
        double flux, wide;
        if (d == 0 && measure(sink, &p, 500000, 0.5, &flux, &wide, err) != UND_OK) /* of one wave, 3 m long */
            return err->status;
        energy = d == 0 ? flux / 3 : energy;
    }
    /* E = 1 / (1 - (D + a) / f) on the axis */
    double f = (depth[1] + a) / (1 - 1 / axis[1]), n = (double)INDEX, focus = n / ((n - 1) * a * k * k);
    case_report(sink, (case_result){"focus under a crest of 0.02 cos(2 pi x), m", f, focus, 0.01 * focus,
                                    "n / ((n - 1) a k^2)"});
    case_report(sink, (case_result){"irradiance of the bottom, largest error over a wave", worst, 0, 0.02,
                                    "exactly traced rays"});
    case_report(sink, (case_result){"energy on the bottom under one wave, of what came", energy, through,
                                    0.005 * through, "Fresnel's transmittance"});
    return UND_OK;
}
