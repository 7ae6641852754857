/* Pictures of liquid that is painted. */
#include "tests/distance_frame.h"

#include "render/render.h"

enum { CELLS = 24 };
static const double DX = 1.0 / CELLS;

static double ball(double x, double y, double z)
{
    double p[3] = {x - 0.75, y + 0.1, z - 1.5};
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.3;
}

static double still(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return 0;
}

static und_picture_def look_at_it(void)
{
    und_picture_def def = und_picture_def_default();
    def.width = 160;
    def.height = 120;
    def.samples = 2;
    def.threads = 2;
    memcpy(def.eye.constant, (double[3]){0.9, 0.3, 3.2}, sizeof def.eye.constant);
    memcpy(def.look.constant, (double[3]){0.75, -0.1, 1.5}, sizeof def.look.constant);
    def.paint.size = 0.17;
    def.gloss = 0;
    return def;
}

/* A ball with texture particles on it. */
static und_frame textured_ball(const und_picture_def *def)
{
    und_error err = {0};
    und_frame f = distance_frame(CELLS, CELLS, CELLS, DX, ball);
    add_samples(&f, "velocity_x", "m/s", 0, still);
    add_samples(&f, "velocity_y", "m/s", 1, still);
    add_samples(&f, "velocity_z", "m/s", 2, still);
    und_plate plate = und_picture_plate(def, &f);
    und_texture_def texture = und_texture_def_default();
    texture.plate = &plate;
    und_texture *t = und_texture_create(&texture, &f, &err);
    assert_non_null(t);
    assert_int_equal(und_texture_frame(t, &f, &err), UND_OK);
    und_texture_destroy(t);
    return f;
}

static und_image draw(const und_picture_def *def, const und_frame *f)
{
    und_error err = {0};
    und_image image = {0};
    und_render *r = und_render_create(def, &err);
    assert_non_null(r);
    assert_int_equal(und_render_draw(r, f, &image, &err), UND_OK);
    und_render_destroy(r);
    return image;
}

static double difference(const und_image *a, const und_image *b)
{
    double sum = 0;
    size_t count = 3 * (size_t)a->width * (size_t)a->height;
    for (size_t i = 0; i < count; i++)
        sum += fabs((double)(a->rgb[i] - b->rgb[i])) / (double)count;
    return sum;
}

/* A picture of the ball, projected back onto it by the same camera, is the picture again. */
static void test_plate_is_seen_as_it_was_taken(void **state)
{
    (void)state;
    und_picture_def def = look_at_it();
    und_frame f = textured_ball(&def);
    und_image plain = draw(&def, &f);
    def.paint.kind = UND_PAINT_CHECKER;
    und_image taken = draw(&def, &f);
    assert_true(difference(&plain, &taken) > 0.03);
    def.paint.kind = UND_PAINT_PLATE;
    def.paint.image = &taken;
    def.paint.unlit = true;
    und_image seen = draw(&def, &f);
    assert_true(difference(&seen, &taken) < 0.004); /* blurred by half a pixel: at the checks' edges */
    def.paint.unlit = false;
    und_image lit = draw(&def, &f);
    assert_true(difference(&lit, &taken) > 0.012); /* the ball fills a fifth of the picture */
    und_image_destroy(&plain);
    und_image_destroy(&taken);
    und_image_destroy(&seen);
    und_image_destroy(&lit);
    und_frame_clear(&f);
}

/* Without particles it is drawn as any, and damaged ones are an error. */
static void test_particles_are_needed(void **state)
{
    (void)state;
    und_error err = {0};
    und_picture_def def = look_at_it();
    und_frame f = textured_ball(&def), bare = distance_frame(CELLS, CELLS, CELLS, DX, ball);
    und_image plain = draw(&def, &bare);
    def.paint.kind = UND_PAINT_MARBLE;
    und_image same = draw(&def, &bare), image = {0};
    assert_true(difference(&plain, &same) == 0);
    for (int i = 0; i < f.count; i++)
        if (strcmp(f.items[i].name, "texture/rest") == 0)
            f.items[i].dim[0]--;
    und_render *r = und_render_create(&def, &err);
    assert_int_equal(und_render_draw(r, &f, &image, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "the texture particles are damaged"));
    und_render_destroy(r);
    und_image_destroy(&image);
    und_image_destroy(&plain);
    und_image_destroy(&same);
    und_frame_clear(&bare);
    und_frame_clear(&f);
}

/* Colours of known places: in cubes side by side, in the middle between them when seen from far, in the
 * corners of a plate. */
static void test_colours(void **state)
{
    (void)state;
    und_error err = {0};
    und_picture_def def = look_at_it();
    und_frame f = textured_ball(&def);
    und_texture_map *map = und_texture_map_create(&f, 1, &err);
    assert_non_null(map);
    und_paint paint = {.kind = UND_PAINT_CHECKER, .color = {{0, 0, 0}, {1, 1, 1}}, .size = 0.1};
    float rgb[3], before = -1;
    for (int k = 0; k < 8; k++) {
        /* 0.137 of a cube is where counting begins */
        float at[3] = {0.1f * ((float)k + 0.4f), -0.46f, 1.04f};
        und_paint_at(&paint, map, at, 1e-4f, rgb);
        assert_true(rgb[0] < 0.01f || rgb[0] > 0.99f);
        assert_true(fabsf(rgb[0] - before) > 0.9f);
        before = rgb[0];
        und_paint_at(&paint, map, at, 20, rgb);
        assert_double_near(rgb[1], 0.5, 0.01);
    }
    paint.kind = UND_PAINT_MARBLE;
    double low = 1, high = 0;
    for (int k = 0; k < 1000; k++) {
        und_paint_at(&paint, map, (float[3]){0.25f + 1e-3f * (float)k, 0, 1.2f}, 1e-4f, rgb);
        assert_true(rgb[0] >= 0 && rgb[0] <= 1);
        low = fmin(low, (double)rgb[0]);
        high = fmax(high, (double)rgb[0]);
    }
    assert_true(low < 0.05 && high > 0.9);
    und_texture_map_destroy(map);
    und_frame_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plate_is_seen_as_it_was_taken),
        cmocka_unit_test(test_particles_are_needed),
        cmocka_unit_test(test_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
