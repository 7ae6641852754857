/* Lights against closed forms: densities, irradiance of lamps, sun and sky, photons' flux. */
#include "test.h"

#include "stage/scenery.h"
#include "trace/path.h"
#include "validate/small_world.h"

static const double circle = 3.14159265358979;

static f3 direction(double u, double v)
{
    double z = 1 - 2 * u, r = sqrt(fmax(0, 1 - z * z));
    return f3_make((float)(r * cos(2 * circle * v)), (float)z, (float)(r * sin(2 * circle * v)));
}

static void roll_some(uint32_t sample, float u[4])
{
    und_dice dice = {.seed = 9, .sample = sample};
    for (int k = 0; k < 4; k++)
        u[k] = und_dice_roll(&dice);
}

/* A sky that is linear in the direction, with a bright patch and a sun. */
typedef struct made_sky {
    und_sky sky;
    und_lights *lights;
} made_sky;

static void make_sky(made_sky *m, float slope, float patch, float angle)
{
    enum { SIZE = 257 };
    *m = (made_sky){.sky = {.size = SIZE, .sun = f3_unit(f3_make(0.3f, 0.8f, -0.2f)), .baked = true}};
    m->sky.sun_color = f3_make(2, 1.5f, 1);
    m->sky.texel = calloc((size_t)SIZE * SIZE * 4, sizeof(float));
    assert_non_null(m->sky.texel);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            f3 d = und_sky_unfold((float)i / (SIZE - 1), (float)j / (SIZE - 1));
            float bright = 1 + slope * d.y + (d.x > 0.9f ? patch : 0);
            for (int k = 0; k < 3; k++)
                m->sky.texel[((size_t)j * SIZE + (size_t)i) * 4 + (size_t)k] = bright;
        }
    m->sky.ambient[0] = f3_gray(1);
    m->sky.ambient[2] = f3_gray(2 * slope / 3);
    und_error err;
    m->lights = und_lights_create(&(und_lights_def){.sky = &m->sky, .sun_angle = angle}, &err);
    assert_non_null(m->lights);
}

static void drop_sky(made_sky *m)
{
    und_lights_destroy(m->lights);
    free(m->sky.texel);
}

/* The mean of 1 / density over the samples is the solid angle of all directions that can be chosen, and the
 * density over all directions sums to 1. */
static void test_density(void **state)
{
    (void)state;
    made_sky m;
    make_sky(&m, 0.9f, 20, 20);
    enum { COUNT = 1 << 16, STEPS = 1200 };
    f3 place = f3_gray(0), n = f3_make(0, 1, 0);
    double solid = 0, sum = 0;
    for (uint32_t k = 0; k < COUNT; k++) {
        float u[4];
        roll_some(k, u);
        und_light_sample s = und_lights_sample(m.lights, place, n, u);
        assert_double_near(f3_dot(s.dir, s.dir), 1, 1e-5);
        assert_double_near(s.density, und_lights_density(m.lights, place, n, s.dir), 1e-4 * s.density);
        solid += 1 / (double)s.density / COUNT;
    }
    assert_double_near(solid, 4 * circle, 0.02 * 4 * circle);
    for (int j = 0; j < STEPS; j++)
        for (int i = 0; i < STEPS; i++)
            sum += und_lights_density(m.lights, place, n, direction((j + 0.5) / STEPS, (i + 0.5) / STEPS));
    assert_double_near(sum * 4 * circle / (STEPS * STEPS), 1, 0.002);
    drop_sky(&m);
}

/* A white floor's radiance is irradiance / pi, through the path itself. */
static f3 floor_light(const und_lights *lights, const small_world *world, uint32_t count)
{
    und_paths paths = {.world = &world->base, .lights = lights, .bounces = 1, .clamp = INFINITY};
    f3 sum = f3_gray(0);
    for (uint32_t k = 0; k < count; k++) {
        und_dice dice = {.seed = 4, .sample = k};
        und_ray ray = {.from = {-1, 1, 0}, .dir = {0.70710678f, -0.70710678f, 0}, .far = INFINITY};
        sum = f3_along(sum, und_trace_path(&paths, &ray, &dice, NULL), 1 / (float)count);
    }
    return sum;
}

static const small_thing floor_thing = {.kind = SMALL_PLANE,
                                        .normal = {0, 1, 0},
                                        .matter = {.kind = UND_MATTER_DIFFUSE, .color = {1, 1, 1}},
                                        .id = UND_ID_GROUND};

/* 1 + s y makes 1 + 2/3 s; the sun its colour times its height, whether it is a disc or a point. */
static void test_sky_and_sun(void **state)
{
    (void)state;
    small_world world = small_world_of(&floor_thing, 1);
    for (int k = 0; k < 3; k++) {
        const float angles[3] = {0.53f, 0, 5};
        made_sky m;
        make_sky(&m, 0.6f, 0, angles[k]);
        f3 light = floor_light(m.lights, &world, 4096);
        assert_double_near(light.x, 1.4 + 2 * m.sky.sun.y, 0.01);
        assert_double_near(light.z, 1.4 + m.sky.sun.y, 0.01);
        drop_sky(&m);
    }
}

/* A ball of radius r at the height h over the place: r^2 / h^2 of its radiance. */
static void test_ball_lamp(void **state)
{
    (void)state;
    small_world world = small_world_of(&floor_thing, 1);
    const und_lamp lamp = {.sphere = true, .place = {0, 3, 0}, .radius = 0.5f, .radiance = {9, 18, 36}};
    und_error err;
    und_lights *lights = und_lights_create(&(und_lights_def){.lamps = &lamp, .lamp_count = 1}, &err);
    assert_non_null(lights);
    f3 light = floor_light(lights, &world, 1024);
    assert_double_near(light.x, 0.25, 1e-3);
    assert_double_near(light.z, 1, 4e-3);
    und_lights_destroy(lights);
}

/* A rectangle parallel to the floor whose corner stands over the place at the height h, a by b: the form
 * factor 1/(2 pi) (A / sqrt(1 + A^2) atan(B / sqrt(1 + A^2)) + B / sqrt(1 + B^2) atan(A / sqrt(1 + B^2))), A
 * = a / h, B = b / h. */
static double corner_factor(double a, double b)
{
    double p = sqrt(1 + a * a), q = sqrt(1 + b * b);
    return (a / p * atan(b / p) + b / q * atan(a / q)) / (2 * circle);
}

static void test_rectangle_lamp(void **state)
{
    (void)state;
    small_world world = small_world_of(&floor_thing, 1);
    /* u x v points down */
    const und_lamp lamps[] = {{.place = {0, 2, 0}, .u = {1, 0, 0}, .v = {0, 0, 2}, .radiance = {1, 1, 1}},
                              {.place = {0, 2, 0}, .u = {1, 0, 0}, .v = {0, 0, -2}, .radiance = {5, 5, 5}}};
    und_error err;
    und_lights *lights = und_lights_create(&(und_lights_def){.lamps = lamps, .lamp_count = 2}, &err);
    assert_non_null(lights);
    f3 light = floor_light(lights, &world, 4096);
    assert_double_near(light.x, 4 * corner_factor(0.5, 1), 5e-3);
    /* a black ball in the way takes the square of the sine of its half angle */
    small_thing things[2] = {floor_thing, floor_thing};
    things[1].kind = SMALL_SPHERE;
    things[1].place = f3_make(0, 0.5f, 0);
    things[1].size = 0.2f;
    things[1].matter = (und_matter){.kind = UND_MATTER_DIFFUSE};
    world = small_world_of(things, 2);
    light = floor_light(lights, &world, 4096);
    assert_double_near(light.x, 4 * corner_factor(0.5, 1) - 0.16, 5e-3);
    und_lights_destroy(lights);
}

/* What is seen of a lamp from the front, from behind, and by a camera that is not to see it. */
static void test_lamps_are_met(void **state)
{
    (void)state;
    const und_lamp lamps[] = {
        {.place = {0, 2, 0}, .u = {1, 0, 0}, .v = {0, 0, 1}, .radiance = {1, 1, 1}, .shown = true},
        {.sphere = true, .place = {5, 0, 0}, .radius = 1, .radiance = {2, 2, 2}}};
    und_error err;
    und_lights *lights = und_lights_create(&(und_lights_def){.lamps = lamps, .lamp_count = 2}, &err);
    assert_non_null(lights);
    float t;
    f3 radiance;
    und_ray ray = {.from = {0.9f, 0, 0.9f}, .dir = {0, 1, 0}, .far = INFINITY};
    assert_true(und_lights_meet(lights, &ray, true, &t, &radiance)); /* u x v = -y */
    assert_double_near(t, 2, 1e-6);
    ray.from.y = 4;
    ray.dir.y = -1;
    assert_false(und_lights_meet(lights, &ray, true, &t, &radiance));
    ray = (und_ray){.from = {0, 0, 0}, .dir = {1, 0, 0}, .far = INFINITY};
    assert_false(und_lights_meet(lights, &ray, true, &t, &radiance));
    assert_true(und_lights_meet(lights, &ray, false, &t, &radiance));
    assert_double_near(t, 4, 1e-6);
    ray.far = 3.9f;
    assert_false(und_lights_meet(lights, &ray, false, &t, &radiance));
    und_lights_destroy(lights);
}

/* Photons that cross a small square of the floor bring the irradiance that is known there. */
static double square_flux(const und_lights *lights, double half)
{
    enum { COUNT = 1 << 19 };
    const und_box bounds = {{-1, -0.5f, -1}, {1, 0.5f, 1}};
    double sum = 0;
    for (uint32_t k = 0; k < COUNT; k++) {
        float u[4];
        f3 flux;
        roll_some(k, u);
        und_ray ray = und_lights_emit(lights, &bounds, COUNT, u, &flux);
        if (ray.dir.y >= 0 || ray.from.y <= 0)
            continue;
        f3 at = f3_along(ray.from, ray.dir, -ray.from.y / ray.dir.y);
        if (fabsf(at.x) < half && fabsf(at.z) < half)
            sum += (double)flux.x;
    }
    return sum / (4 * half * half);
}

static void test_emission(void **state)
{
    (void)state;
    made_sky m;
    make_sky(&m, 0, 0, 0.53f);
    assert_double_near(square_flux(m.lights, 0.4), circle * 2 * m.sky.sun.y, 0.02 * circle * 2);
    drop_sky(&m);
    const und_lamp lamps[] = {
        {.sphere = true, .place = {0, 6, 0}, .radius = 0.5f, .radiance = {144, 100, 100}},
        {.place = {0, 4, 0}, .u = {1, 0, 0}, .v = {0, 0, 2}, .radiance = {1, 1, 1}},
        {.place = {0, 0.4f, 0}, .u = {2, 0, 0}, .v = {0, 0, 2}, .radiance = {2, 1, 1}}};
    const double expected[3] = {circle, 4 * circle * corner_factor(0.25, 0.5),
                                2 * 4 * circle * corner_factor(5, 5)};
    for (int k = 0; k < 3; k++) {
        und_error err;
        und_lights *lights = und_lights_create(&(und_lights_def){.lamps = &lamps[k], .lamp_count = 1}, &err);
        assert_non_null(lights);
        assert_double_near(square_flux(lights, 0.3), expected[k], 0.015 * expected[k]);
        und_lights_destroy(lights);
    }
}

/* Light of a wide sun that a ball of glass and a mirror throw on the floor: by photons and by chance the
 * same. */
static double floor_mean(const small_world *world, const und_lights *lights, const und_photons *photons,
                         uint32_t count)
{
    und_paths paths = {
        .world = &world->base, .lights = lights, .photons = photons, .bounces = 12, .clamp = INFINITY};
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        und_dice dice = {.seed = 8, .sample = k};
        float x = 1.6f * und_dice_roll(&dice) - 0.8f, z = 1.6f * und_dice_roll(&dice) - 0.8f;
        und_ray ray = {.from = {x, 0.05f, z}, .dir = {0, -1, 0}, .far = INFINITY};
        sum += (double)und_trace_path(&paths, &ray, &dice, NULL).x / count;
    }
    return sum;
}

static void test_photons_count_once(void **state)
{
    (void)state;
    made_sky m;
    make_sky(&m, 0, 0, 30);
    memset(m.sky.texel, 0, (size_t)m.sky.size * (size_t)m.sky.size * 4 * sizeof(float));
    und_lights_destroy(m.lights);
    und_error err;
    m.lights = und_lights_create(&(und_lights_def){.sky = &m.sky, .sun_angle = 30}, &err);
    assert_non_null(m.lights);
    small_thing things[4] = {floor_thing, floor_thing, floor_thing, floor_thing};
    things[0].matter.color[0] = 0.5f;
    things[1] = (small_thing){.kind = SMALL_SPHERE, .place = {0, 0.6f, 0}, .size = 0.5f, .id = 17};
    things[1].matter = (und_matter){.kind = UND_MATTER_DIELECTRIC, .index = 1.5f};
    things[2] = (small_thing){.kind = SMALL_SPHERE, .place = {0.7f, 0.4f, 0.7f}, .size = 0.3f, .id = 18};
    things[2].matter = (und_matter){.kind = UND_MATTER_METAL, .color = {0.9f, 0.9f, 0.9f}};
    things[3] = (small_thing){.kind = SMALL_SPHERE, .place = {-0.7f, 0.4f, 0.7f}, .size = 0.3f, .id = 19};
    things[3].matter = (und_matter){.kind = UND_MATTER_GLOSSY, .color = {0.5f, 0.5f, 0.5f}, .index = 1.5f};
    small_world world = small_world_of(things, 4);
    world.base.bounds = (und_box){{-1, -0.01f, -1}, {1, 1.1f, 1}};
    und_photons *photons = und_photons_create(&(und_photons_def){.world = &world.base,
                                                                 .lights = m.lights,
                                                                 .count = 400000,
                                                                 .nearest = 32,
                                                                 .bounces = 12,
                                                                 .threads = 2},
                                              &err);
    assert_non_null(photons);
    double chance = floor_mean(&world, m.lights, NULL, 1 << 19);
    assert_double_near(floor_mean(&world, m.lights, photons, 1 << 17), chance, 0.015 * chance);
    und_photons_destroy(photons);
    drop_sky(&m);
}

static void test_bad_lamps(void **state)
{
    (void)state;
    const und_lamp lamps[] = {{.place = {NAN}, .u = {1, 0, 0}, .v = {0, 0, 1}},
                              {.u = {1, 0, 0}, .v = {2, 0, 0}},
                              {.sphere = true, .radius = 0},
                              {.sphere = true, .radius = 1, .radiance = {1, -1, 1}},
                              {.sphere = true, .radius = 1, .radiance = {INFINITY}}};
    for (int k = 0; k < 5; k++) {
        und_error err;
        assert_null(und_lights_create(&(und_lights_def){.lamps = &lamps[k], .lamp_count = 1}, &err));
    }
    und_error err;
    assert_null(und_lights_create(&(und_lights_def){.lamps = lamps, .lamp_count = 65}, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_sky_and_sun),
        cmocka_unit_test(test_ball_lamp),
        cmocka_unit_test(test_rectangle_lamp),
        cmocka_unit_test(test_lamps_are_met),
        cmocka_unit_test(test_emission),
        cmocka_unit_test(test_photons_count_once),
        cmocka_unit_test(test_bad_lamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
