/* Pictures of scenes that say nothing of their looks: what follows the size of the domain, what is framed,
 * and the tank around it. */
#include "tests/distance_frame.h"
#include "tests/pictures.h"

#include "scene/scene.h"
#include "stage/size.h"
#include "trace/world_parts.h"

static und_picture_def look_of(const char *text)
{
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "look.lua", NULL, 0, &err);
    if (!scene)
        printf("%s\n", err.text);
    assert_non_null(scene);
    und_picture_def def = und_scene_get(scene)->render;
    und_scene_destroy(scene);
    return def;
}

static und_picture_def of_size(double side, const char *more)
{
    char text[512];
    snprintf(text, sizeof text, "liquid.levelset { size = {%g, %g, %g}, cells = 8, level = 0 } %s", side,
             0.5 * side, 0.5 * side, more);
    return look_of(text);
}

/* Across half of the domain red light is lost, and blue is not, at every size. */
static void water_can_be_seen_at_every_size(void **state)
{
    (void)state;
    static const double size[] = {0.03, 0.3, 3, 30, 300};
    for (int k = 0; k < 5; k++) {
        und_picture_def def = of_size(size[k], "");
        double red = exp(-(double)def.absorption[0] * 0.5 * size[k]),
               blue = exp(-(double)def.absorption[2] * 0.5 * size[k]);
        assert_true(red < 0.75 && blue > 0.5 && blue - red > 0.2);
        assert_true(def.tile > 0 && def.tile <= 0.1 * size[k] * 1.001 && def.grout < def.tile);
    }
}

static void looks_change_evenly_with_the_size(void **state)
{
    (void)state;
    und_picture_def before = of_size(0.02, "");
    for (double size = 0.02; size < 1e4; size *= 1.01) {
        und_picture_def def = of_size(size, "");
        for (int c = 0; c < 3; c++) {
            assert_double_near((double)(def.absorption[c] / before.absorption[c]), 1, 0.02);
            assert_double_near((double)def.ground_color[c], (double)before.ground_color[c], 0.01);
        }
        assert_double_near(def.exposure, before.exposure, 0.01);
        assert_double_near(def.tile / before.tile, 1, 0.02);
        before = def;
    }
}

static void what_a_scene_says_is_kept(void **state)
{
    (void)state;
    static const double size[] = {0.3, 300};
    const und_picture_def usual = und_picture_def_default();
    for (int k = 0; k < 2; k++) {
        und_picture_def def =
            of_size(size[k], "water { absorption = {4, 2, 1} } ground { color = {0.1, 0.2, 0.3}, tile = 0.7, "
                             "grout = 0.1, texture = 2 } film { exposure = -1 }");
        assert_true(def.absorption[0] == 4 && def.absorption[1] == 2 && def.absorption[2] == 1);
        assert_double_near((double)def.ground_color[1], 0.2, 1e-6);
        assert_double_near(def.tile, 0.7, 0);
        assert_double_near(def.grout, 0.1, 0);
        assert_double_near(def.texture, 2, 0);
        assert_double_near(def.exposure, -1, 0);
    }
    und_picture_def pond = look_of("liquid.waves { size = {300, 300}, cells = 8 }");
    assert_double_near((double)pond.ground_color[2], (double)usual.ground_color[2], 1e-6);
}

/* Without a camera there is a vessel to be seen, and the sun stands on the viewer's side of it. */
static void a_first_picture_has_a_tank(void **state)
{
    (void)state;
    const und_picture_def usual = und_picture_def_default();
    static const char *const bare[] = {
        "camera { eye = {1, 1, 3}, look = {0.5, 0.2, 0.2} }", "ground { tank = false }",
        "camera { eye = function(t) return {t, 1, 3} end, look = {0.5, 0.2, 0.2} }"};
    und_picture_def def = of_size(1, "");
    assert_int_equal(def.tank, UND_TANK_GLASS);
    assert_true(def.sun.constant[2] > 0);
    assert_int_equal(of_size(1, "ground { color = {0.1, 0.2, 0.3} }").tank, UND_TANK_GLASS);
    assert_int_equal(of_size(1, "camera { fov = 30 }").tank, UND_TANK_GLASS);
    assert_double_near(of_size(1, "light { sun = {0, 1, 0.5} }").sun.constant[2], 0.5, 0);
    for (int k = 0; k < 3; k++)
        assert_int_equal(of_size(1, bare[k]).tank, UND_TANK_NONE);
    assert_memory_equal(of_size(1, bare[0]).sun.constant, usual.sun.constant, sizeof usual.sun.constant);
    def = look_of("liquid.levelset { size = {1, 1, 1}, cells = 8, open = 'right' }");
    assert_int_equal(def.tank, UND_TANK_NONE);
    assert_int_equal(look_of("liquid.levelset { size = {1, 1, 1}, cells = 8, open = 'top' }").tank,
                     UND_TANK_GLASS);
    assert_int_equal(look_of("liquid.cells { size = {1, 1, 1}, cells = 8 }").tank, UND_TANK_GLASS);
    def = look_of("liquid.waves { size = {3, 3}, cells = 8 }");
    assert_int_equal(def.tank, UND_TANK_NONE);
    assert_memory_equal(def.sun.constant, usual.sun.constant, sizeof usual.sun.constant);
}

static void several_grids_are_one_domain(void **state)
{
    (void)state;
    und_picture_def both =
                        look_of("liquid.levelset { name = 'a', size = {1, 1, 1}, cells = 8, open = 'right' } "
                                "liquid.levelset { name = 'b', from = 'a', origin = {0.625, 0, 0}, "
                                "size = {2, 1, 1}, cells = 16 }"),
                    one = of_size(2.625, "");
    assert_double_near((double)both.absorption[0], (double)one.absorption[0], 1e-4);
}

/* A ball that goes from one place to another in a large, empty domain. */
static double now;

static double ball(double x, double y, double z)
{
    return hypot(hypot(x - 2 - now, y - 0.5), z - 2) - 0.3;
}

/* Where a point is in the picture: -1 to 1 across and up. */
static void seen_at(const und_plate *p, const double point[3], double out[2])
{
    double d[3] = {0}, along[3] = {0};
    const double *axis[3] = {p->right, p->up, p->forward};
    for (int a = 0; a < 3; a++)
        d[a] = point[a] - p->eye[a];
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++)
            along[k] += d[a] * axis[k][a];
    out[0] = along[0] / along[2] / (p->half * p->aspect);
    out[1] = along[1] / along[2] / p->half;
}

static void the_whole_run_is_framed(void **state)
{
    (void)state;
    und_picture_def def = und_picture_def_default();
    und_plate first = {0};
    for (int k = 0; k < 3; k++) {
        now = 0.4 * k;
        und_frame frame = distance_frame(48, 32, 32, 0.125, ball);
        und_extent_add(&def.framed, &frame);
        und_frame_clear(&frame);
    }
    assert_true(def.framed.any);
    assert_double_near(def.framed.low[0], 1.7, 0.13);
    assert_double_near(def.framed.high[0], 3.1, 0.13);
    assert_double_near(def.framed.high[1], 0.8, 0.13);
    for (int k = 0; k < 3; k++) { /* the same camera in each, and the domain's far corners matter no more */
        now = 0.4 * k;
        und_frame frame = distance_frame(48, 32, 32, 0.125, ball);
        und_plate plate = und_picture_plate(&def, &frame);
        first = k ? first : plate;
        assert_memory_equal(&first, &plate, sizeof plate);
        und_frame_clear(&frame);
    }
    double most[2] = {0};
    for (int k = 0; k < 8; k++) {
        double corner[3], at[2];
        for (int a = 0; a < 3; a++)
            corner[a] = k >> a & 1 ? def.framed.high[a] : def.framed.low[a];
        seen_at(&first, corner, at);
        for (int a = 0; a < 2; a++) {
            assert_true(fabs(at[a]) < 1);
            most[a] = fmax(most[a], fabs(at[a]));
        }
    }
    assert_true(fmax(most[0], most[1]) > 0.8);
    /* A vessel is framed whole where its liquid gets about, and not where that is a ball in a hall. */
    und_frame frame = distance_frame(48, 32, 32, 0.125, ball);
    def.tank = UND_TANK_GLASS;
    und_plate near = und_picture_plate(&def, &frame);
    assert_memory_equal(&first, &near, sizeof near);
    def.framed.high[0] = def.framed.low[0] + 3;
    und_plate whole = und_picture_plate(&def, &frame);
    def.framed.any = false;
    und_plate none = und_picture_plate(&def, &frame);
    assert_memory_equal(&whole, &none, sizeof none);
    und_frame_clear(&frame);
}

static double pool(double x, double y, double z)
{
    (void)x;
    (void)z;
    return y + 0.1;
}

static float tiled_share(const und_picture_def *look, const und_frame *frame)
{
    und_image image = draw(look, frame);
    float green = 0;
    for (int k = 0; k < image.width * image.height; k++) /* tiles are blue, the table is grey */
        green += image.rgb[3 * k + 2] > 1.3f * image.rgb[3 * k];
    green /= (float)(image.width * image.height);
    und_image_destroy(&image);
    return green;
}

static void tanks_have_floors_and_walls(void **state)
{
    (void)state;
    und_picture_def def = of_size(1, "film { width = 96, height = 54 } water { absorption = 0, color = 0 }");
    und_frame frame = distance_frame(16, 16, 16, 1.0 / 16, pool);
    def.threads = 1;
    def.tank = UND_TANK_NONE;
    float bare = tiled_share(&def, &frame);
    def.tank = UND_TANK_GLASS;
    float glass = tiled_share(&def, &frame);
    def.tank = UND_TANK_TILES;
    float tiles = tiled_share(&def, &frame);
    assert_true(bare < 0.05f && glass > bare + 0.1f && tiles > glass + 0.05f);
    und_frame_clear(&frame);
}

/* Walls of tiles that stand are met by all rays, light's own too, from both sides; those that the eye would
 * see from outside by none.  Panes hold what they mirror, and are nothing to light. */
static void rays_meet_walls(void **state)
{
    (void)state;
    und_error err = {0};
    und_picture_def def = of_size(1, "film { width = 32, height = 18 } ground { tank = 'tiles' }");
    assert_int_equal(def.tank, UND_TANK_TILES);
    for (int kind = UND_TANK_GLASS; kind <= UND_TANK_TILES; kind++) {
        def.threads = 1;
        def.tank = (und_tank_kind)kind;
        und_frame frame = distance_frame(16, 16, 16, 1.0 / 16, pool);
        und_scenery *scenery = make_scenery(&def);
        assert_int_equal(und_scenery_prepare(scenery, &frame, &err), UND_OK);
        und_world *world = und_world_create(scenery, &frame, &err);
        int standing = 0, cut = 0;
        enum { RAYS = 400 };
        for (int k = 0; k < 4 * RAYS; k++) {
            float turn = 0.1f + (float)(k / 4), spread = k & 1 ? 0 : 1e-4f;
            f3 dir = f3_unit(f3_make(cosf(turn), 0.05f, sinf(turn)));
            und_hit hit;
            und_ray ray = {.from = {0.75f, 0.2f, 1.5f}, .dir = dir, .far = INFINITY, .time = 1};
            bool x = fabsf(dir.x) > fabsf(dir.z), near = (x ? dir.x : dir.z) > 0; /* the camera is there */
            ray.spread = spread;
            if (k & 2) {
                ray.from = f3_along(ray.from, dir, 3);
                ray.dir = f3_scale(dir, -1);
                ray.far = 2.9f; /* up to the middle */
            }
            bool met = world->cast(world, &ray, &hit);
            if (kind == UND_TANK_GLASS) {
                assert_true(met == (spread > 0));
                /* 8 % head on, more at a slant; or the strip at a corner */
                assert_true(!met || (hit.id == UND_ID_TANK && hit.clear > 0.6f && hit.clear < 0.93f));
                continue;
            }
            assert_true(!met || (hit.matter.kind == UND_MATTER_DIFFUSE && hit.clear == 0));
            assert_true(met == !near);
            assert_true(world->blocked(world, &ray) == met);
            standing += met;
            cut += !met;
        }
        if (kind == UND_TANK_TILES)
            assert_true(standing > RAYS && cut > RAYS);
        und_world_destroy(world);
        und_scenery_destroy(scenery);
        und_frame_clear(&frame);
    }
}

/* What is asked of the rays is seen in previews too: honey is amber, metal is not seen through. */
static void previews_show_what_the_liquid_is_made_of(void **state)
{
    (void)state;
    und_picture_def honey = of_size(0.3, "water { material = 'honey' }");
    assert_true(honey.absorption[0] == 3 && honey.absorption[1] == 14 && honey.absorption[2] == 60);
    assert_true(honey.water_color[2] == 0 && fabs(honey.refraction - 1.49) < 1e-6);
    und_picture_def milk =
        of_size(0.3, "water { material = { kind = 'glass', absorption = 200, scatter = 0.8 } }");
    assert_true(milk.absorption[0] == 200 && milk.water_color[1] == 0.8f);
    und_picture_def gold = of_size(0.3, "water { material = 'gold' }");
    assert_true(gold.absorption[0] > 1e4f && gold.water_color[0] == 1 && gold.water_color[2] == 0.344f);
    und_picture_def paint = of_size(0.3, "water { color = {0.2, 0.1, 0}, material = { kind = 'diffuse' } }");
    assert_true(paint.absorption[0] > 1e4f && paint.water_color[0] == 0.2f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(water_can_be_seen_at_every_size),
                                       cmocka_unit_test(looks_change_evenly_with_the_size),
                                       cmocka_unit_test(what_a_scene_says_is_kept),
                                       cmocka_unit_test(several_grids_are_one_domain),
                                       cmocka_unit_test(a_first_picture_has_a_tank),
                                       cmocka_unit_test(the_whole_run_is_framed),
                                       cmocka_unit_test(tanks_have_floors_and_walls),
                                       cmocka_unit_test(rays_meet_walls),
                                       cmocka_unit_test(previews_show_what_the_liquid_is_made_of)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
