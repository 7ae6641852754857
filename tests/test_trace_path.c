/* Scattering and paths against closed forms: furnaces, densities, Fresnel, Snell, Beer. */
#include "test.h"

#include "base/random.h"
#include "stage/optics.h"
#include "trace/matter.h"
#include "trace/media.h"
#include "trace/path.h"
#include "validate/small_world.h"

static const double circle = 3.14159265358979;

static const und_matter lambert = {.kind = UND_MATTER_DIFFUSE, .color = {0.7f, 0.7f, 0.7f}};
static const und_matter white = {.kind = UND_MATTER_DIFFUSE, .color = {1, 1, 1}};
static const und_matter water = {.kind = UND_MATTER_DIELECTRIC, .index = 1.333f, .priority = 1};
static const und_matter glass = {.kind = UND_MATTER_DIELECTRIC, .index = 1.5f, .priority = 2};

static und_matter rough_of(und_matter_kind kind, float roughness, float index)
{
    return (und_matter){.kind = kind, .color = {1, 1, 1}, .roughness = roughness, .index = index};
}

static f3 slanted(double cosine)
{
    return f3_make((float)sqrt(1 - cosine * cosine), 0, (float)cosine);
}

/* A direction of the unit sphere, even in solid angle. */
static f3 direction(double u, double v)
{
    double z = 1 - 2 * u, r = sqrt(fmax(0, 1 - z * z));
    return f3_make((float)(r * cos(2 * circle * v)), (float)(r * sin(2 * circle * v)), (float)z);
}

/* The density over all directions, by the midpoint rule. */
static double density_sum(const und_matter *m, f3 out, float ratio, double *energy)
{
    enum { STEPS = 600 };
    f3 n = f3_make(0, 0, 1);
    double sum = 0, value = 0, solid = 4 * circle / (STEPS * STEPS);
    for (int j = 0; j < STEPS; j++)
        for (int i = 0; i < STEPS; i++) {
            float density;
            value +=
                und_matter_value(m, n, out, direction((j + 0.5) / STEPS, (i + 0.5) / STEPS), ratio, &density)
                    .x;
            sum += density;
        }
    *energy = value * solid;
    return sum * solid;
}

static void test_densities_sum_to_one(void **state)
{
    (void)state;
    const und_matter kinds[] = {lambert, rough_of(UND_MATTER_METAL, 0.5f, 1),
                                rough_of(UND_MATTER_METAL, 0.9f, 1), rough_of(UND_MATTER_GLOSSY, 0.6f, 1.5f),
                                rough_of(UND_MATTER_DIELECTRIC, 0.6f, 1.333f)};
    for (int k = 0; k < 5; k++)
        for (double c = 0.15; c < 1; c += 0.4) {
            double energy, sum = density_sum(&kinds[k], slanted(c), kinds[k].index, &energy);
            assert_double_near(sum, 1, 0.01);
            assert_double_near(energy, k == 0 ? 0.7 : 1, k == 3 ? 0.03 : 0.01);
        }
    /* out of the water: much is refracted to grazing angles, and past the critical one nothing is */
    und_matter leaving = rough_of(UND_MATTER_DIELECTRIC, 0.5f, 1);
    for (double c = 0.3; c < 1; c += 0.3) {
        double energy, sum = density_sum(&leaving, slanted(c), 1 / 1.333f, &energy);
        assert_double_near(sum, 1, 0.015);
    }
}

/* Means of the sampled directions and of their products against the same of the density. */
static void compare_moments(const und_matter *m, f3 out, float ratio)
{
    enum { COUNT = 1 << 16, STEPS = 400 };
    f3 n = f3_make(0, 0, 1);
    double sampled[5] = {0}, expected[5] = {0}, solid = 4 * circle / (STEPS * STEPS), light = 0, sent = 0;
    und_dice dice = {.seed = 3};
    for (uint32_t k = 0; k < COUNT; k++) {
        dice.sample = k;
        dice.next = 0;
        float u[3] = {0};
        for (int a = 0; a < 3; a++)
            u[a] = und_dice_roll(&dice);
        und_scatter s;
        if (!und_matter_sample(m, n, out, ratio, u, &s))
            continue;
        float density;
        f3 value = und_matter_value(m, n, out, s.dir, ratio, &density), d = s.dir;
        assert_double_near(density, s.density, 1e-4 * s.density);
        assert_double_near(s.weight.x * s.density, value.x, 1e-3 * value.x + 1e-6);
        double f[5] = {d.x, d.z, d.x * d.x, d.z * d.z, d.x * d.z};
        for (int a = 0; a < 5; a++)
            sampled[a] += f[a] / COUNT;
        sent += s.weight.x * (1 + d.z) / COUNT;
    }
    for (int j = 0; j < STEPS; j++)
        for (int i = 0; i < STEPS; i++) {
            f3 d = direction((j + 0.5) / STEPS, (i + 0.5) / STEPS);
            float density;
            f3 value = und_matter_value(m, n, out, d, ratio, &density);
            double f[5] = {d.x, d.z, d.x * d.x, d.z * d.z, d.x * d.z};
            for (int a = 0; a < 5; a++)
                expected[a] += f[a] * density * solid;
            light += value.x * (1 + d.z) * solid;
        }
    for (int a = 0; a < 5; a++)
        assert_double_near(sampled[a], expected[a], 0.01);
    assert_double_near(sent, light, 0.01 * light);
}

static void test_samples_follow_densities(void **state)
{
    (void)state;
    const und_matter kinds[] = {lambert, rough_of(UND_MATTER_METAL, 0.7f, 1),
                                rough_of(UND_MATTER_GLOSSY, 0.7f, 1.5f),
                                rough_of(UND_MATTER_DIELECTRIC, 0.7f, 1.333f)};
    for (int k = 0; k < 4; k++)
        for (double c = 0.3; c < 1; c += 0.5)
            compare_moments(&kinds[k], slanted(c), kinds[k].index);
    compare_moments(&kinds[3], slanted(0.8), 1 / 1.333f);
}

/* Owen's scrambling keeps what Sobol's pairs are: every box of area 1/n holds one of the first n. */
static void test_dice_fill_boxes(void **state)
{
    (void)state;
    enum { LOG = 8, COUNT = 1 << LOG };
    for (uint64_t pixel = 0; pixel < 5; pixel++)
        for (int wide = 0; wide <= LOG; wide++) {
            unsigned char seen[COUNT] = {0};
            for (uint32_t k = 0; k < COUNT; k++) {
                und_dice dice = {.seed = 7, .pixel = pixel, .sample = k, .next = 4};
                float u = und_dice_roll(&dice), v = und_dice_roll(&dice);
                assert_true(u >= 0 && u < 1 && v >= 0 && v < 1);
                int i = (int)(u * (float)(1 << wide)), j = (int)(v * (float)(COUNT >> wide));
                assert_int_equal(seen[j * (1 << wide) + i]++, 0);
            }
        }
}

/* Mean light along random rays through the ball of radius 2 that holds the world; and of each ray's mean the
 * square root of its variance. */
static double furnace(const small_world *world, const und_lights *lights, int count, bool aimed)
{
    und_paths paths = {.world = &world->base, .lights = lights, .bounces = 400, .clamp = INFINITY};
    double sum = 0;
    for (int k = 0; k < count; k++) {
        und_dice dice = {.seed = 11, .sample = (uint32_t)k};
        float u = und_dice_roll(&dice), v = und_dice_roll(&dice);
        f3 from = f3_scale(direction((double)u, (double)v), 5), to = f3_gray(0);
        u = und_dice_roll(&dice);
        v = und_dice_roll(&dice);
        if (!aimed)
            to = f3_scale(direction((double)u, (double)v), 0.9f);
        und_ray ray = {.from = from, .dir = f3_unit(f3_sub(to, from)), .far = INFINITY};
        sum += (double)und_trace_path(&paths, &ray, &dice, NULL).x;
        assert_int_equal(dice.dropped, 0);
    }
    return sum / count;
}

static und_lights *constant_light(float value)
{
    und_error err;
    und_lights *lights = und_lights_create(&(und_lights_def){.constant = {value, value, value}}, &err);
    assert_non_null(lights);
    return lights;
}

/* Nothing may be lost or gained: whatever is white under an even light is not to be seen. */
static void test_furnace(void **state)
{
    (void)state;
    const und_matter kinds[] = {white,
                                water,
                                glass,
                                rough_of(UND_MATTER_METAL, 0, 1),
                                rough_of(UND_MATTER_METAL, 0.3f, 1),
                                rough_of(UND_MATTER_METAL, 0.8f, 1),
                                rough_of(UND_MATTER_GLOSSY, 0, 1.5f),
                                rough_of(UND_MATTER_DIELECTRIC, 0.3f, 1.333f),
                                rough_of(UND_MATTER_DIELECTRIC, 0.7f, 1.5f)};
    und_lights *lights = constant_light(1);
    for (int k = 0; k < 9; k++) {
        small_thing ball = {.kind = SMALL_SPHERE, .size = 1, .matter = kinds[k], .id = 16};
        small_world world = small_world_of(&ball, 1);
        assert_double_near(furnace(&world, lights, 4000, false), 1, 0.005);
    }
    small_thing rough = {
        .kind = SMALL_SPHERE, .size = 1, .matter = rough_of(UND_MATTER_GLOSSY, 0.6f, 1.5f), .id = 16};
    small_world world = small_world_of(&rough, 1);
    assert_double_near(furnace(&world, lights, 4000, false), 1, 0.01);
    und_lights_destroy(lights);
}

/* A glass with water that reaches a little into it, and a white ball in the water. */
static void test_nested_furnace(void **state)
{
    (void)state;
    const small_thing things[] = {{.kind = SMALL_SPHERE, .size = 1.2f, .matter = glass, .id = 17},
                                  {.kind = SMALL_SPHERE, .size = 1.1f, .matter = water, .id = 1},
                                  {.kind = SMALL_SPHERE, .size = 0.5f, .matter = white, .id = 18}};
    und_lights *lights = constant_light(1);
    small_world world = small_world_of(things, 3);
    assert_double_near(furnace(&world, lights, 4000, false), 1, 0.005);
    und_lights_destroy(lights);
}

/* Inside a ball that reflects a and gives off e: e / (1 - a). */
static void test_albedo_series(void **state)
{
    (void)state;
    und_matter glowing = lambert;
    for (int a = 0; a < 3; a++)
        glowing.emission[a] = 0.6f;
    const small_thing things[] = {{.kind = SMALL_SPHERE, .size = 3, .matter = glowing, .id = 16}};
    small_world world = small_world_of(things, 1);
    und_lights *lights = constant_light(0);
    und_paths paths = {.world = &world.base, .lights = lights, .bounces = 400, .clamp = INFINITY};
    double sum = 0;
    enum { COUNT = 20000 };
    for (uint32_t k = 0; k < COUNT; k++) {
        und_dice dice = {.seed = 1, .sample = k};
        und_ray ray = {.from = {0.5f, 0.2f, -0.3f}, .dir = {0, 0.6f, 0.8f}, .far = INFINITY};
        sum += (double)und_trace_path(&paths, &ray, &dice, NULL).y / COUNT;
    }
    assert_double_near(sum, 2, 0.02);
    und_lights_destroy(lights);
}

/* Through a slab of n at an angle comes (1 - F) x / (1 - F x) of the light with x = exp(-a d / cos t) (1 -
 * F): the sum over the bounces inside. */
static void test_beer(void **state)
{
    (void)state;
    und_matter ink = water;
    ink.absorption[0] = 0.5f;
    ink.absorption[1] = 2;
    small_thing slab = {.kind = SMALL_SLAB, .size = 0.7f, .matter = ink, .id = 1};
    small_thing wall = {.kind = SMALL_PLANE, .place = {0, -3, 0}, .normal = {0, 1, 0}, .id = 16};
    wall.matter = (und_matter){.kind = UND_MATTER_DIFFUSE, .emission = {1, 1, 1}};
    const small_thing things[] = {slab, wall};
    small_world world = small_world_of(things, 2);
    und_lights *lights = constant_light(0);
    und_paths paths = {.world = &world.base, .lights = lights, .bounces = 400, .clamp = INFINITY};
    for (double angle = 0; angle < 80; angle += 25) {
        double c = cos(angle * circle / 180), s = und_snell_sine(c, 1.333), f = und_fresnel(c, 1.333);
        f3 sum = f3_gray(0);
        enum { COUNT = 4000 };
        for (uint32_t k = 0; k < COUNT; k++) {
            und_dice dice = {.seed = 5, .sample = k};
            und_ray ray = {.from = {0, 3, 0}, .dir = {(float)sqrt(1 - c * c), (float)-c, 0}, .far = INFINITY};
            sum = f3_along(sum, und_trace_path(&paths, &ray, &dice, NULL), 1.0f / COUNT);
        }
        const double a[3] = {0.5, 2, 0}, got[3] = {sum.x, sum.y, sum.z};
        for (int k = 0; k < 3; k++) {
            double x = exp(-a[k] * 0.7 / sqrt(1 - s * s));
            assert_double_near(got[k], (1 - f) * (1 - f) * x / (1 - f * f * x * x), 0.003);
        }
    }
    und_lights_destroy(lights);
}

/* A ray into the water meets the floor where Snell says, which glows in rings; from below a ray past the
 * critical angle stays below. */
static bool stripes_cast(const und_world *world, const und_ray *ray, und_hit *hit)
{
    if (!small_cast(world, ray, hit))
        return false;
    if (hit->id == 16)
        hit->matter.emission[0] = hit->place.x;
    return true;
}

static void test_snell_by_rays(void **state)
{
    (void)state;
    small_thing slab = {.kind = SMALL_SLAB, .place = {0, -1, 0}, .size = 2, .matter = water, .id = 1};
    small_thing wall = {.kind = SMALL_PLANE, .place = {0, -1.5f, 0}, .normal = {0, 1, 0}, .id = 16};
    wall.matter = (und_matter){.kind = UND_MATTER_DIFFUSE};
    const small_thing things[] = {slab, wall};
    small_world world = small_world_of(things, 2);
    world.base.cast = stripes_cast;
    und_lights *lights = constant_light(0);
    und_paths paths = {.world = &world.base, .lights = lights, .bounces = 8, .clamp = INFINITY};
    for (double angle = 5; angle < 90; angle += 10) {
        double c = cos(angle * circle / 180), s = sqrt(1 - c * c);
        und_dice dice = {.seed = 5};
        und_ray ray = {.from = {0, (float)c, 0}, .dir = {(float)s, (float)-c, 0}, .far = INFINITY};
        und_hit first;
        double x = (double)und_trace_path(&paths, &ray, &dice, &first).x / (1 - und_fresnel(c, 1.333));
        double t = und_snell_sine(c, 1.333);
        assert_double_near(x, s + 1.5 * t / sqrt(1 - t * t), 2e-3);
        assert_double_near(first.t, 1, 1e-5);
        assert_int_equal(first.id, 1);
    }
    und_lights_destroy(lights);
}

/* Panes that mirror a tenth and let the rest straight on, before a wall that glows, under a dimmer sky: one
 * path says what both send, and none is as noisy as chance would be.  What is seen first is behind them. */
static void test_panes_add_no_noise(void **state)
{
    (void)state;
    const und_matter mirror = {.kind = UND_MATTER_METAL, .color = {1, 1, 1}};
    small_thing thing[3] = {{.kind = SMALL_PLANE, .place = {0, 1, 0}, .normal = {0, 1, 0}, .id = 16}};
    thing[0].matter = (und_matter){.kind = UND_MATTER_DIFFUSE, .emission = {1, 1, 1}};
    for (int k = 1; k < 3; k++)
        thing[k] = (small_thing){.kind = SMALL_PLANE,
                                 .place = {0, 1 + (float)k, 0},
                                 .normal = {0, 1, 0},
                                 .matter = mirror,
                                 .id = UND_ID_TANK,
                                 .clear = 0.9f};
    und_lights *lights = constant_light(0.2f), *even = constant_light(1);
    for (int panes = 1; panes <= 2; panes++) {
        small_world world = small_world_of(thing, 1 + panes);
        und_paths paths = {.world = &world.base, .lights = lights, .bounces = 400, .clamp = INFINITY};
        /* r + (1 - r)^2 r / (1 - r^2) of both together is mirrored. */
        double back = panes == 1 ? 0.1 : 0.1 + 0.9 * 0.9 * 0.1 / (1 - 0.01), sum = 0, squares = 0, all = 0;
        enum { COUNT = 1000 };
        for (uint32_t k = 0; k < COUNT; k++) {
            und_dice dice = {.seed = 5, .sample = k};
            und_ray ray = {.from = {0, 5, 0}, .dir = {0.6f, -0.8f, 0}, .far = INFINITY};
            und_hit first;
            double seen = (double)und_trace_path(&paths, &ray, &dice, &first).x;
            sum += seen / COUNT;
            squares += seen * seen / COUNT;
            assert_int_equal(first.id, 16);
            assert_double_near(first.t, 5, 1e-5);
            und_paths bright = paths;
            bright.lights = even;
            dice = (und_dice){.seed = 5, .sample = k};
            all += (double)und_trace_path(&bright, &ray, &dice, NULL).x / COUNT;
        }
        assert_double_near(all, 1, panes == 1 ? 1e-6 : 2e-3);
        double spread = sqrt(fmax(squares - sum * sum, 0)), by_chance = 0.8 * sqrt(back * (1 - back));
        assert_double_near(sum, 1 - back + 0.2 * back, 0.002);
        assert_true(spread < (panes == 1 ? 1e-3 : 0.1 * by_chance));
    }
    und_lights_destroy(lights);
    und_lights_destroy(even);
}

/* Smooth normals that turn away from the eye over a facet that faces it: it is still water that is looked
 * into, no mirror, and none of its light comes from behind the facet. */
static double lean; /* of the normals, away from the eye */

static bool leaning_cast(const und_world *world, const und_ray *ray, und_hit *hit)
{
    if (!small_cast(world, ray, hit))
        return false;
    if (hit->id == 1 && hit->normal.y > 0.9f)
        hit->normal = f3_make((float)sin(lean), (float)cos(lean), 0);
    return true;
}

static void test_normals_that_turn_away(void **state)
{
    (void)state;
    small_thing slab = {.kind = SMALL_SLAB, .place = {0, -1, 0}, .size = 2, .matter = water, .id = 1};
    small_thing wall = {.kind = SMALL_PLANE, .place = {0, -1.5f, 0}, .normal = {0, 1, 0}, .id = 16};
    wall.matter = (und_matter){.kind = UND_MATTER_DIFFUSE, .emission = {1, 1, 1}};
    const small_thing things[] = {slab, wall};
    small_world world = small_world_of(things, 2);
    world.base.cast = leaning_cast;
    und_lights *lights = constant_light(0);
    und_paths paths = {.world = &world.base, .lights = lights, .bounces = 8, .clamp = INFINITY};
    for (double angle = 10; angle <= 40; angle += 10)
        for (lean = 0; lean < 1.5; lean += 0.1) {
            double c = cos(angle * circle / 180), s = sqrt(1 - c * c);
            und_dice dice = {.seed = 5};
            und_ray ray = {.from = {0, (float)c, 0}, .dir = {(float)s, (float)-c, 0}, .far = INFINITY};
            und_hit first;
            double seen = (double)und_trace_path(&paths, &ray, &dice, &first).x;
            /* The mirrored ray is over the face: it is met at no more than half of a right angle and half of
             * the face's own. */
            double most = cos((45 + 0.5 * angle) * circle / 180);
            assert_true(seen > 1 - und_fresnel(most, 1.333) - 0.01);
        }
    und_lights_destroy(lights);
}

static bool within_water(const und_world *world, f3 place, und_matter *matter)
{
    (void)world;
    *matter = water;
    return place.y < 0;
}

static void test_critical_angle(void **state)
{
    (void)state;
    small_thing top = {.kind = SMALL_PLANE, .normal = {0, 1, 0}, .matter = water, .id = UND_ID_LIQUID};
    small_world world = small_world_of(&top, 1);
    world.base.within = within_water;
    und_lights *lights = constant_light(1);
    und_paths paths = {.world = &world.base, .lights = lights, .bounces = 8, .clamp = INFINITY};
    const small_thing dark[] = {top,
                                {.kind = SMALL_PLANE, .place = {0, -2, 0}, .normal = {0, 1, 0}, .id = 16}};
    world.thing = dark;
    world.count = 2;
    double low = 30, high = 70;
    for (int k = 0; k < 30; k++) {
        double angle = 0.5 * (low + high), c = cos(angle * circle / 180);
        double light = 0;
        for (uint32_t i = 0; i < 16; i++) {
            und_dice dice = {.seed = 2, .sample = i};
            und_ray ray = {.from = {0, -1, 0}, .dir = {(float)sqrt(1 - c * c), (float)c, 0}, .far = INFINITY};
            light += (double)und_trace_path(&paths, &ray, &dice, NULL).x;
        }
        if (light > 0)
            low = angle;
        else
            high = angle;
    }
    assert_double_near(low, 48.6066, 0.01);
    und_lights_destroy(lights);
}

/* Water in a glass whose wall it reaches into: at the glass's inner face light goes from 1.5 to 1.333, and
 * the water's own face within the glass is not there. */
static void test_overlap(void **state)
{
    (void)state;
    und_media air = {0}, in_glass, in_both, in_water;
    und_hit hit = {.face = {0, 1, 0}, .matter = glass, .id = 17};
    f3 down = f3_make(0, -1, 0);
    assert_double_near(und_media_meet(&air, &hit, down, &in_glass), 1.5, 1e-6);
    und_hit wet = {.face = {0, 1, 0}, .matter = water, .id = 1};
    assert_double_near(und_media_meet(&in_glass, &wet, down, &in_both), 1, 0);
    hit.face.y = -1;
    assert_double_near(und_media_meet(&in_both, &hit, down, &in_water), 1.333 / 1.5, 1e-6);
    assert_int_equal(in_water.count, 1);
    wet.face.y = -1;
    assert_double_near(und_media_meet(&in_water, &wet, down, &air), 1 / 1.333, 1e-6);
    assert_int_equal(air.count, 0);
    /* found inside */
    assert_double_near(und_media_meet(&air, &wet, down, &in_water), 1 / 1.333, 1e-6);
}

/* Damaged matter and places make no light, and no path without end. */
static void test_damage(void **state)
{
    (void)state;
    und_error err;
    const und_lamp lamp = {.sphere = true, .place = {0, 3, 0}, .radius = 0.5f, .radiance = {1, 1, 1}};
    und_lights *lights =
        und_lights_create(&(und_lights_def){.constant = {1, 1, 1}, .lamps = &lamp, .lamp_count = 1}, &err);
    assert_non_null(lights);
    und_matter bad[4] = {lambert, water, rough_of(UND_MATTER_DIELECTRIC, NAN, NAN),
                         rough_of(UND_MATTER_GLOSSY, 0.5f, -1)};
    bad[0].color[1] = NAN;
    bad[1].index = 0;
    for (int k = 0; k < 5; k++) {
        small_thing ball = {.kind = SMALL_SPHERE, .size = 1, .matter = bad[k % 4], .id = 16};
        small_world world = small_world_of(&ball, 1);
        und_paths paths = {.world = &world.base, .lights = lights, .bounces = 16, .clamp = INFINITY};
        for (uint32_t i = 0; i < 200; i++) {
            und_dice dice = {.seed = 6, .sample = i};
            float x = und_dice_roll(&dice);
            und_ray ray = {.from = {x, 0.3f, 4}, .dir = {0, 0, k == 4 ? NAN : -1}, .far = INFINITY};
            f3 light = und_trace_path(&paths, &ray, &dice, NULL);
            assert_true(isfinite(light.x) && isfinite(light.y) && isfinite(light.z));
            assert_true(k != 4 || dice.dropped == 1);
        }
    }
    und_lights_destroy(lights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_densities_sum_to_one),
        cmocka_unit_test(test_samples_follow_densities),
        cmocka_unit_test(test_dice_fill_boxes),
        cmocka_unit_test(test_furnace),
        cmocka_unit_test(test_nested_furnace),
        cmocka_unit_test(test_panes_add_no_noise),
        cmocka_unit_test(test_albedo_series),
        cmocka_unit_test(test_beer),
        cmocka_unit_test(test_snell_by_rays),
        cmocka_unit_test(test_normals_that_turn_away),
        cmocka_unit_test(test_critical_angle),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
