/* A tank of tiles in the sun: its walls are lit under water, as Snell and Fresnel say, and stop light. */
#include "tests/distance_frame.h"
#include "tests/pictures.h"

#include "geom/value.h"
#include "stage/optics.h"
#include "trace/light_parts.h"
#include "trace/photons.h"
#include "trace/world_parts.h"

/* The box is 0.25 to 1.25, -0.5 to 0.5, 1 to 2. */
static const double LEVEL = 0.1;

static double still_water(double x, double y, double z)
{
    (void)x;
    (void)z;
    return y - LEVEL;
}

typedef struct stage {
    und_frame frame;
    und_scenery *scenery;
    und_world *world;
    und_lights *lights;
    und_photons *photons;
} stage;

/* Seen from high x and high z: those two walls are cut away.  `sun`: towards it. */
static stage build(und_tank_kind kind, double x, double y, double z)
{
    und_error err = {0};
    und_picture_def def = und_picture_def_default();
    def.width = 64;
    def.height = 36;
    def.threads = 2;
    def.tank = kind;
    def.eye = und_vector_constant(3, 1, 4);
    def.look = und_vector_constant(0.75, 0, 1.5);
    def.sun = und_vector_constant(x, y, z);
    for (int a = 0; a < 3; a++)
        def.absorption[a] = 0;
    stage s = {.frame = distance_frame(20, 20, 20, 1.0 / 20, still_water), .scenery = make_scenery(&def)};
    assert_int_equal(und_scenery_prepare(s.scenery, &s.frame, &err), UND_OK);
    s.world = und_world_create(s.scenery, &s.frame, &err);
    assert_non_null(s.world);
    s.lights = und_lights_create(&(und_lights_def){.sky = &s.scenery->sky, .sun_angle = 0.5f}, &err);
    assert_non_null(s.lights);
    s.photons = und_photons_create(&(und_photons_def){.world = s.world,
                                                      .lights = s.lights,
                                                      .count = 200000,
                                                      .nearest = 96,
                                                      .seed = 2,
                                                      .bounces = 16,
                                                      .threads = 2},
                                   &err);
    assert_non_null(s.photons);
    return s;
}

static void strike(stage *s)
{
    und_photons_destroy(s->photons);
    und_lights_destroy(s->lights);
    und_world_destroy(s->world);
    und_scenery_destroy(s->scenery);
    und_frame_clear(&s->frame);
}

/* The sun comes in from high x, and lights the wall at low x under water.  What comes in by the water's cut
 * side is on the floor before it is there. */
static void walls_are_lit_under_water(void **state)
{
    (void)state;
    stage s = build(UND_TANK_TILES, 0.6, 0.8, 0);
    double n = s.scenery->def.refraction, c = 0.8, below = 0.6 / n, deep = sqrt(1 - below * below);
    double sun = (double)s.lights->sun_irradiance.y, through = (1 - und_fresnel(c, n)) * c;
    f3 right = f3_make(1, 0, 0), up = f3_make(0, 1, 0);
    for (int k = 0; k < 4; k++) {
        float z = 1.3f + 0.1f * (float)k;
        /* What comes in by a square metre of the surface falls on below / deep of the wall. */
        f3 wall = und_photons_at(s.photons, f3_make(0.2505f, -0.2f, z), right, true);
        assert_double_near((double)wall.y, sun * through * below / deep, 0.1 * sun * through * below / deep);
        f3 floor = und_photons_at(s.photons, f3_make(0.35f, -0.5f, z), up, true);
        assert_double_near((double)floor.y, sun * through, 0.1 * sun * through);
    }
    strike(&s);
}

/* The sun behind the wall at low x, whose shadow falls on the floor through the water's surface. */
static void walls_cast_shadows(void **state)
{
    (void)state;
    for (int kind = UND_TANK_GLASS; kind <= UND_TANK_TILES; kind++) {
        stage s = build((und_tank_kind)kind, -0.6, 0.8, 0);
        /* Over the wall, 0.4 m above the water, light comes to the surface 0.3 m from it, and goes on. */
        double n = s.scenery->def.refraction, below = 0.6 / n, deep = sqrt(1 - below * below);
        float edge = (float)(0.25 + 0.4 * 0.6 / 0.8 + (LEVEL + 0.5) * below / deep);
        f3 up = f3_make(0, 1, 0),
           dark = und_photons_at(s.photons, f3_make(edge - 0.06f, -0.5f, 1.5f), up, true),
           lit = und_photons_at(s.photons, f3_make(edge + 0.06f, -0.5f, 1.5f), up, true);
        double most = (double)s.lights->sun_irradiance.y * 0.8 * (1 - und_fresnel(0.8, n));
        if (kind == UND_TANK_TILES) {
            assert_double_near((double)lit.y, most, 0.1 * most);
            assert_true((double)dark.y < 0.02 * most);
        } else { /* and some comes in by the side */
            assert_true((double)dark.y > 0.9 * most && (double)lit.y > 0.9 * most);
        }
        und_ray ray = {.from = {0.3f, 0.2f, 1.5f}, .dir = {-0.6f, 0.8f, 0}, .far = INFINITY, .time = 1};
        assert_true(s.world->blocked(s.world, &ray) == (kind == UND_TANK_TILES));
        assert_true(s.world->meets(s.world, &ray) == (kind == UND_TANK_TILES));
        strike(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(walls_are_lit_under_water),
                                       cmocka_unit_test(walls_cast_shadows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
