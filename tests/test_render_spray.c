/* Drops in the air as the renderer draws them: where, how much of the picture they cover, and what hides
 * them. */
#include "tests/pictures.h"

#include "geom/value.h"
#include "render/internal.h"

enum { N = 16 };

static const float MIDDLE = 8; /* m: x and z of the domain's middle, under the eye */

/* A dry black floor of 16 m x 16 m. */
static und_frame make_frame(float height)
{
    return flat_frame(N, 16, height, height);
}

static void add_drop(und_frame *frame, f3 p, f3 v, float radius)
{
    memcpy(add_item(frame, "spray/position", 1, 3), (float[3]){p.x, p.y, p.z}, 3 * sizeof(float));
    memcpy(add_item(frame, "spray/velocity", 1, 3), (float[3]){v.x, v.y, v.z}, 3 * sizeof(float));
    add_item(frame, "spray/radius", 1, 1)[0] = radius;
}

static const float UP = 2;   /* m above the floor, where drops are */
static const double FAR = 6; /* m from the eye down to them */

static float white_light[2 * 2 * 3] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const und_image white = {.width = 2, .height = 2, .rgb = white_light};

/* Straight down onto black ground under a white sky without a sun: drops alone are bright, each as bright as
 * any other. */
static und_picture_def dark_def(int threads)
{
    und_picture_def def = und_picture_def_default();
    def.width = 160;
    def.height = 120;
    def.threads = threads;
    def.caustics = 0;
    def.eye = und_vector_constant(MIDDLE, UP + FAR, MIDDLE);
    def.look = und_vector_constant(MIDDLE, 0, MIDDLE);
    def.sky = &white;
    memset(def.sun_color, 0, sizeof def.sun_color);
    memset(def.ground_color, 0, sizeof def.ground_color);
    return def;
}

typedef struct patch {
    double sum, x, y, spread; /* spread: root mean square in x */
    int pixels;
} patch;

static patch measure(const und_image *image)
{
    patch p = {0};
    double xx = 0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            double v = image->rgb[3 * (y * image->width + x) + 1];
            p.sum += v;
            p.x += v * (x + 0.5);
            p.y += v * (y + 0.5);
            xx += v * (x + 0.5) * (x + 0.5);
            p.pixels += v > 1e-6;
        }
    p.x /= p.sum;
    p.y /= p.sum;
    p.spread = sqrt(fmax(xx / p.sum - p.x * p.x, 0));
    return p;
}

/* A drop at (x, z) from the middle and a height, over a floor. */
static patch drawn(und_render *r, f3 at, f3 v, float radius, float floor)
{
    und_frame frame = make_frame(floor);
    add_drop(&frame, f3_make(MIDDLE + at.x, at.y, MIDDLE + at.z), v, radius);
    und_image image = draw_with(r, &frame);
    patch out = measure(&image);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    return out;
}

static double pixels_per_metre(const und_picture_def *def)
{
    return 0.5 * def->height / tan(0.5 * def->fov * M_PI / 180) / FAR;
}

static const f3 still = {0, 0, 0};
static const double LIGHT = 1; /* of the white sky */

static void drops_are_where_they_are(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    und_render *r = make_render(&def);
    double scale = pixels_per_metre(&def);
    static const float size[] = {0.05f, 0.2f, 0.45f}; /* radius in pixels */
    for (int k = 0; k < 3; k++) {
        patch at = drawn(r, f3_make(0.317f, UP, 0.211f), still, (float)(size[k] / scale), 0);
        assert_double_near(at.x, 80 + 0.317 * scale, 0.1);
        assert_double_near(at.y, 60 + 0.211 * scale, 0.1);
    }
    und_render_destroy(r);
}

/* Mist exactly, wherever it is between the pixels. */
static void mist_covers_its_area(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    und_render *r = make_render(&def);
    double scale = pixels_per_metre(&def);
    static const double size[] = {0.01, 0.1, 0.4, 0.49};
    enum { PLACES = 4 };
    for (int k = 0; k < 4; k++)
        for (int place = 0; place < PLACES * PLACES; place++) {
            double x = (place % PLACES + 0.5) / PLACES, z = (place / PLACES + 0.5) / PLACES;
            f3 p = f3_make((float)((8 + x) / scale), UP, (float)((5 + z) / scale));
            double cover = drawn(r, p, still, (float)(size[k] / scale), 0).sum / LIGHT;
            assert_double_near(cover / (M_PI * size[k] * size[k]), 1, 0.01);
        }
    und_render_destroy(r);
}

/* A disc on its way: its area, and the middle of its way, in the mean over places between the pixels. */
static void discs_cover_their_area(void **state)
{
    (void)state;
    static const double radius[] = {0.6, 1, 2.3, 5}, length[] = {0, 0.4, 3, 20}, turn[] = {0, 0.3, 0.9, 2.2};
    enum { SIDE = 72, PLACES = 4 };
    for (int k = 0; k < 64; k++) {
        double r = radius[k % 4], l = length[k / 4 % 4], ux = cos(turn[k / 16]), uy = sin(turn[k / 16]);
        double sum = 0, x = 0, y = 0;
        for (int place = 0; place < PLACES * PLACES; place++)
            for (int p = 0; p < SIDE * SIDE; p++) {
                double px = p % SIDE - 0.5 * SIDE + (place % PLACES + 0.5) / PLACES;
                double py = (p - p % SIDE) / (double)SIDE - 0.5 * SIDE + (place / PLACES + 0.5) / PLACES;
                double share = (double)und_disc_share((float)r, (float)(px * ux + py * uy),
                                                      (float)(px * uy - py * ux), (float)l);
                assert_true(share >= 0 && share <= 1 + 1e-5);
                sum += share / (PLACES * PLACES);
                x += share / (PLACES * PLACES) * px;
                y += share / (PLACES * PLACES) * py;
            }
        assert_double_near(sum / (M_PI * r * r), 1, 0.02);
        assert_double_near(x / sum, 0.5 * l * ux, 0.02);
        assert_double_near(y / sum, 0.5 * l * uy, 0.02);
    }
}

/* Drops that can be seen are water, not chalk: over black ground much of what they cover stays dark, at rest
 * and on their way. */
static void drops_are_clear(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    def.shutter = 0.05;
    und_render *r = make_render(&def);
    double scale = pixels_per_metre(&def);
    for (int k = 0; k < 6; k++) {
        double size = k % 3 == 0 ? 1.2 : k % 3 == 1 ? 2 : 4;
        patch at =
            drawn(r, f3_make(0.25f, UP, 0.2f), k < 3 ? still : f3_make(8, 0, 0), (float)(size / scale), 0);
        double share = at.sum / LIGHT / (M_PI * size * size);
        assert_true(share > 0.1 && share < 0.7);
    }
    und_render_destroy(r);
}

/* Large ones are seen into: white all over under a white sky but where they show the black ground. */
static void large_drops_are_lenses(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    double scale = pixels_per_metre(&def), size = 10;
    und_render *r = make_render(&def);
    patch at = drawn(r, f3_make(0.3f, UP, 0.2f), still, (float)(size / scale), 0);
    und_render_destroy(r);
    double share = at.sum / LIGHT / (M_PI * size * size);
    assert_true(share > 0.05 && share < 0.95);
    def.ground_color[0] = def.ground_color[1] = def.ground_color[2] = 1; /* a furnace: nothing is seen */
    def.texture = 0;
    und_frame frame = make_frame(0);
    add_drop(&frame, f3_make(MIDDLE, UP, MIDDLE), still, (float)(size / scale));
    und_image image = draw(&def, &frame);
    const float *middle = image.rgb + 3 * (60 * image.width + 80), *corner = image.rgb;
    assert_double_near(middle[1], corner[1], 0.02);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* Moving, they cover the same in sum, spread over their way: a line of length L has the spread L / sqrt(12).
 */
static void streaks_keep_the_area(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    def.shutter = 0.05;
    und_render *r = make_render(&def);
    double scale = pixels_per_metre(&def);
    f3 p = f3_make(0.25f, UP, 0.2f);
    float radius = (float)(0.3 / scale);
    patch calm = drawn(r, p, still, radius, 0);
    for (int k = 0; k < 4; k++) {
        f3 v = f3_make(8 * cosf(0.4f * (float)k), 0, 8 * sinf(0.4f * (float)k));
        patch fast = drawn(r, p, v, radius, 0);
        double length = 8 * 0.05 * scale;
        assert_double_near(fast.sum / calm.sum, 1, 0.04);
        assert_double_near(fast.x - calm.x, -0.5 * length * cos(0.4 * k), 0.3);
        assert_double_near(fast.y - calm.y, -0.5 * length * sin(0.4 * k), 0.3);
        assert_double_near(fast.spread, length * cos(0.4 * k) / sqrt(12), 0.6);
    }
    und_render_destroy(r);
}

static void ground_hides_drops(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    und_render *r = make_render(&def);
    float radius = 0.03f;
    f3 at = f3_make(0.3f, UP, 0.2f);
    assert_true(drawn(r, at, still, radius, 0.5f * UP).sum > 0.5);
    assert_double_near(drawn(r, at, still, radius, 1.5f * UP).sum, 0, 1e-5);
    at.y = UP + (float)FAR + 1; /* behind the eye */
    assert_double_near(drawn(r, at, still, radius, 0).sum, 0, 1e-5);
    und_render_destroy(r);
}

/* n drops that cover a tenth each, one before the other, let 0.9^n through: many are white mist. */
static void dense_spray_is_opaque(void **state)
{
    (void)state;
    und_picture_def def = dark_def(1);
    und_render *r = make_render(&def);
    double scale = pixels_per_metre(&def);
    static const int depth[] = {1, 5, 20, 200};
    for (int n = 0; n < 4; n++) {
        int count = 100 * depth[n]; /* on each of 100 pixels */
        und_frame frame = make_frame(0);
        float *p = add_item(&frame, "spray/position", (size_t)count, 3);
        float *radius = add_item(&frame, "spray/radius", (size_t)count, 1);
        for (int k = 0; k < count; k++) {
            p[3 * k] = MIDDLE + (float)((k % 10 + 0.5) / scale);
            p[3 * k + 1] = UP;
            p[3 * k + 2] = MIDDLE + (float)((k / 10 % 10 + 0.5) / scale);
            radius[k] = (float)(sqrt(0.1 / M_PI) / scale);
        }
        und_image image = draw_with(r, &frame);
        patch mist = measure(&image);
        assert_double_near(mist.x, 85, 0.05);
        assert_double_near(mist.y, 65, 0.05);
        assert_double_near(mist.sum / LIGHT, 100 * (1 - pow(0.9, depth[n])), 0.5);
        und_image_destroy(&image);
        und_frame_clear(&frame);
    }
    und_render_destroy(r);
}

static void fill_spray(und_frame *frame, int count)
{
    float *p = add_item(frame, "spray/position", (size_t)count, 3),
          *v = add_item(frame, "spray/velocity", (size_t)count, 3),
          *r = add_item(frame, "spray/radius", (size_t)count, 1);
    for (int k = 0; k < count; k++) {
        for (int c = 0; c < 3; c++) {
            p[3 * k + c] = (float)fmod((k + 1) * (0.317 + 0.211 * c), 4) + (c == 1 ? 0 : MIDDLE - 2);
            v[3 * k + c] = (float)fmod((k + 1) * (0.713 + 0.119 * c), 6) - 3;
        }
        r[k] = 0.001f + 0.0001f * (float)(k % 700);
    }
}

static void spray_does_not_depend_on_threads(void **state)
{
    (void)state;
    und_frame frame = make_frame(1);
    fill_spray(&frame, 30000);
    und_picture_def def = dark_def(1);
    und_image one = draw(&def, &frame);
    for (int threads = 2; threads <= 7; threads += 5) {
        def.threads = threads;
        und_image many = draw(&def, &frame);
        assert_memory_equal(one.rgb, many.rgb, 3 * sizeof(float) * (size_t)one.width * (size_t)one.height);
        und_image_destroy(&many);
    }
    und_image_destroy(&one);
    und_frame_clear(&frame);
}

static void assert_finite(const und_image *image)
{
    for (int k = 0; k < 3 * image->width * image->height; k++)
        assert_true(isfinite(image->rgb[k]));
}

/* The only body has all the corners. */
static void add_first(und_frame *frame, int32_t corners)
{
    und_error err;
    und_item_def def = {"bodies/mesh_first", "1", UND_BODIES, UND_I32, true, 1, {2}};
    ((int32_t *)und_frame_add(frame, &def, &err)->data)[1] = corners;
}

/* Items of wrong sizes, NaN, infinite and enormous numbers: a picture all the same. */
static void damaged_items_do_no_harm(void **state)
{
    (void)state;
    static const char *const name[] = {"spray/position",       "spray/velocity",      "spray/radius",
                                       "sheet/mesh_position",  "sheet/mesh_velocity", "sheet/mesh_thickness",
                                       "bodies/mesh_position", "bodies/mesh_color",   "bodies/position",
                                       "bodies/rotation",      "bodies/velocity",     "bodies/spin"};
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 0, -1};
    enum { NAMES = sizeof name / sizeof *name, BAD = sizeof bad / sizeof *bad, ROWS = 300 };
    und_picture_def def = dark_def(2);
    def.blur = 3;
    und_render *r = make_render(&def);
    for (int damage = 0; damage < NAMES; damage++)
        for (int how = 0; how < 3; how++) {
            und_frame frame = make_frame(how == 1 ? 1 : 0);
            for (int k = 0; k < NAMES; k++) {
                bool single = strstr(name[k], "radius") || strstr(name[k], "thickness");
                size_t columns = single ? 1 : strstr(name[k], "rotation") ? 4 : 3;
                size_t usual = strncmp(name[k], "bodies/", 7) == 0 && !strstr(name[k], "mesh") ? 1 : ROWS;
                size_t rows = k == damage && how == 0 ? 7 : k == damage && how == 1 ? 0 : usual;
                float *data = add_item(&frame, name[k], rows, columns);
                for (size_t i = 0; i < rows * columns; i++)
                    data[i] = k == damage && how == 2 && i % 5 == 0 ? bad[i / 5 % BAD]
                                                                    : (float)fmod(0.37 * (double)(i + 1), 4);
            }
            add_first(&frame, ROWS);
            und_image image = draw_with(r, &frame);
            assert_finite(&image);
            und_image_destroy(&image);
            und_frame_clear(&frame);
        }
    und_render_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_are_where_they_are),
        cmocka_unit_test(mist_covers_its_area),
        cmocka_unit_test(discs_cover_their_area),
        cmocka_unit_test(drops_are_clear),
        cmocka_unit_test(streaks_keep_the_area),
        cmocka_unit_test(large_drops_are_lenses),
        cmocka_unit_test(ground_hides_drops),
        cmocka_unit_test(dense_spray_is_opaque),
        cmocka_unit_test(spray_does_not_depend_on_threads),
        cmocka_unit_test(damaged_items_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
