#include "tests/test.h"

#include "render/internal.h"
#include "stage/optics.h"

typedef float height_fn(float x, float z);

/* A frame of nx x nz samples, with ground and surface from functions of place. */
static und_frame make_frame(int nx, int nz, double dx, double time, height_fn *ground, height_fn *surface)
{
    und_error err;
    und_frame frame = und_frame_empty(1, time, (und_grid){.n = {nx, 1, nz}, .dx = dx});
    und_item_def def = {
        .unit = "m", .kind = UND_FIELD, .type = UND_F32, .rank = 2, .dim = {(size_t)nz, (size_t)nx}};
    def.name = "ground";
    float *g = und_frame_add(&frame, &def, &err)->data;
    def.name = "surface";
    float *s = und_frame_add(&frame, &def, &err)->data;
    for (int j = 0; j < nz; j++)
        for (int i = 0; i < nx; i++) {
            float x = (float)((i + 0.5) * dx), z = (float)((j + 0.5) * dx);
            g[j * nx + i] = ground(x, z);
            s[j * nx + i] = surface(x, z);
        }
    return frame;
}

static float *frame_data(und_frame *frame, const char *name)
{
    return und_frame_find(frame, name)->data;
}

static und_picture_def small_def(int threads)
{
    und_picture_def def = und_picture_def_default();
    def.width = 200;
    def.height = 120;
    def.threads = threads;
    return def;
}

static und_image draw(const und_picture_def *def, const und_frame *frame)
{
    und_error err = {0};
    und_image image = {0};
    und_render *r = und_render_create(def, &err);
    assert_non_null(r);
    assert_int_equal(und_render_draw(r, frame, &image, &err), UND_OK);
    und_render_destroy(r);
    return image;
}

/* Fresnel equations and Snell's law, n = 1.333: angle in air, angle in water, reflectance from air,
 * reflectance from water at the same angle. */
static const double fresnel_table[][4] = {
    {0, 0, 0.02037318784, 0.02037318784},
    {20, 14.86718344, 0.02055540622, 0.02105095423},
    {40, 28.82992276, 0.02450236096, 0.05558159151},
    {45, 32.03672304, 0.0278983646, 0.1394584557},
    {50, 35.07701556, 0.0336678738, 1},
    {60, 40.51759062, 0.05969091918, 1},
    {70, 44.82515757, 0.1334750019, 1},
    {80, 47.62848745, 0.347916707, 1},
    {89, 48.59672687, 0.8962764037, 1},
};

static void reflection_is_fresnels(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof fresnel_table / sizeof *fresnel_table; k++) {
        const double *row = fresnel_table[k];
        double c = cos(row[0] * M_PI / 180), s = und_snell_sine(c, 1.333);
        assert_double_near(asin(s) * 180 / M_PI, row[1], 1e-6);
        assert_double_near(und_fresnel(c, 1.333), row[2], 1e-9);
        assert_double_near(und_fresnel(c, 1 / 1.333), row[3], 1e-9);
        assert_double_near(und_fresnelf((float)c, 1.333f), row[2], 1e-6);
    }
    assert_true(und_fresnel(cos(48.60 * M_PI / 180), 1 / 1.333) < 1);
    assert_double_near(und_fresnel(cos(48.6067 * M_PI / 180), 1 / 1.333), 1, 0);
}

/* What is reflected and what passes make one: T by the transmission amplitudes, Born & Wolf 1.5.2 (14). */
static void nothing_is_lost_at_the_surface(void **state)
{
    (void)state;
    for (int angle = 0; angle < 90; angle++) {
        double c = cos(angle * M_PI / 180), n = 1.333, s = und_snell_sine(c, n), t = sqrt(1 - s * s);
        double ts = 2 * c / (c + n * t), tp = 2 * c / (n * c + t);
        double passed = n * t / c * 0.5 * (ts * ts + tp * tp);
        assert_double_near(und_fresnel(c, n) + passed, 1, 1e-12);
    }
}

static void rays_bend_by_snell(void **state)
{
    (void)state;
    float n[3] = {0.6f, 0.8f, 0}, out[3] = {0};
    for (int angle = 5; angle < 85; angle += 10) {
        double a = angle * M_PI / 180;
        float d[3] = {(float)(-0.6 * cos(a) + 0.8 * sin(a)), (float)(-0.8 * cos(a) - 0.6 * sin(a)), 0};
        assert_true(und_refract(d, n, 1.333f, out));
        double down = -(out[0] * 0.6 + out[1] * 0.8), along = out[0] * 0.8 - out[1] * 0.6;
        assert_double_near(along, sin(a) / 1.333, 1e-6);
        assert_double_near(down * down + along * along, 1, 1e-6);
    }
    float steep[3] = {0.8f, 0.6f, 0}, up[3] = {0, -1, 0};
    assert_false(und_refract(steep, up, 1 / 1.333f, out)); /* 53 degrees from below: total reflection */
}

static float floor_height(float x, float z)
{
    (void)x;
    (void)z;
    return 0;
}

static float one_deep(float x, float z)
{
    (void)x;
    (void)z;
    return 1;
}

static float tilted_floor(float x, float z)
{
    return 0.2f * x - 0.1f * z - 0.6f + 0.05f * sinf(9 * x);
}

/* The light under the frame's water. */
static und_render *illuminate(const und_picture_def *def, const und_frame *frame)
{
    und_error err;
    und_image image = {0};
    und_render *r = und_render_create(def, &err);
    assert_non_null(r);
    assert_int_equal(und_render_draw(r, frame, &image, &err), UND_OK);
    und_image_destroy(&image);
    return r;
}

static void flat_water_leaves_light_even(void **state)
{
    (void)state;
    height_fn *grounds[] = {floor_height, tilted_floor};
    for (int k = 0; k < 2; k++) {
        und_frame frame = make_frame(96, 64, 0.02, 0, grounds[k], one_deep);
        und_picture_def def = small_def(2);
        def.sun = (und_vector){.constant = {0.5, 0.7, -0.2}};
        und_render *r = illuminate(&def, &frame);
        for (int j = 0; j < r->caustics.nz; j++)
            for (int i = 0; i < r->caustics.nx; i++)
                assert_true(r->caustics.light[j * r->caustics.nx + i] == 1);
        und_render_destroy(r);
        und_frame_clear(&frame);
    }
}

static float sine_depth;

static float sine_ground(float x, float z)
{
    (void)x;
    (void)z;
    return -sine_depth;
}

static float sine_surface(float x, float z)
{
    (void)z;
    return 0.02f * (float)cos(2 * M_PI * x);
}

/* Geometric optics: irradiance under 0.02 cos(2 pi x) in vertical light, n = 1.333: place on the bottom,
 * light over incident light. */
static const double sine_light[2][6][2] = {
    {{0, 1.340383338},
     {0.07632630418, 1.254957588},
     {0.1620248907, 1.079630646},
     {0.2623934376, 0.9258112876},
     {0.3769231174, 0.8328275507},
     {0.5, 0.8025327789}},
    {{0.01245478734, 1.990214943},
     {0.06845810313, 1.545040316},
     {0.1464184927, 1.080069393},
     {0.2544327069, 0.8139898886},
     {0.3891374868, 0.6931064611},
     {0.4626487958, 0.6711233995}},
};

static void waves_focus_light(void **state)
{
    (void)state;
    double depth[2] = {1.267465632, 2.534931265};
    for (int k = 0; k < 2; k++) {
        sine_depth = (float)depth[k];
        und_frame frame = make_frame(256, 24, 3.0 / 256, 0, sine_ground, sine_surface);
        und_picture_def def = small_def(2);
        def.sun = (und_vector){.constant = {0, 1, 0}};
        und_render *r = illuminate(&def, &frame);
        for (int p = 0; p < 6; p++) {
            float light = und_caustics_at(r, 1 + (float)sine_light[k][p][0], 0.15f);
            assert_double_near(light / sine_light[k][p][1], 1, 0.02);
        }
        double sum = 0; /* over one whole wave in the middle: nothing is lost, nothing added */
        enum { N = 2000 };
        for (int p = 0; p < N; p++)
            sum += und_caustics_at(r, 1 + (float)p / N, 0.15f);
        assert_double_near(sum / N, 1, 0.005);
        und_render_destroy(r);
        und_frame_clear(&frame);
    }
}

static float wavy(float x, float z)
{
    return 1 + 0.03f * sinf(11 * x + 4 * z) + 0.02f * sinf(7 * z);
}

/* White sky all around, water that takes nothing, a white bottom: everything is white. */
static void white_furnace_stays_white(void **state)
{
    (void)state;
    und_frame frame = make_frame(64, 64, 1.0 / 64, 0, floor_height, wavy);
    und_picture_def def = small_def(2);
    float white[4 * 2 * 3];
    for (int k = 0; k < 24; k++)
        white[k] = 1;
    und_image sky = {.width = 4, .height = 2, .rgb = white};
    def.sky = &sky;
    def.texture = 0;
    def.wet_darkening = 0;
    def.rock_slope = 89;
    def.eye = (und_vector){.constant = {0.5, 2.4, 1.1}};
    def.look = (und_vector){.constant = {0.5, 1, 0.5}};
    def.fov = 20;
    for (int k = 0; k < 3; k++) {
        def.sun_color[k] = def.absorption[k] = 0;
        def.ground_color[k] = 1;
    }
    und_image image = draw(&def, &frame);
    double sum = 0;
    int count = 3 * image.width * image.height;
    for (int k = 0; k < count; k++) {
        assert_double_near(image.rgb[k], 1, 0.005);
        sum += image.rgb[k];
    }
    assert_double_near(sum / count, 1, 0.001);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* Diffuse ground twice as deep in absorbing water: seen from above, light falls by exp(-a (down + up)). */
static void deep_water_absorbs(void **state)
{
    (void)state;
    und_picture_def def = small_def(1);
    float white[24];
    for (int k = 0; k < 24; k++)
        white[k] = 1;
    und_image sky = {.width = 4, .height = 2, .rgb = white};
    def.sky = &sky;
    def.texture = def.ripples = def.wet_darkening = 0;
    def.eye = (und_vector){.constant = {0.5, 9, 0.5}};
    def.look = (und_vector){.constant = {0.5, 0, 0.5}};
    def.fov = 2;
    for (int k = 0; k < 3; k++) {
        def.sun_color[k] = def.water_color[k] = 0;
        def.ground_color[k] = 1;
        def.absorption[k] = 0.5f * (float)k;
    }
    und_frame frame = make_frame(64, 64, 1.0 / 64, 0, floor_height, one_deep);
    und_image image = draw(&def, &frame);
    const float *c = image.rgb + 3 * (60 * 200 + 100);
    double r0 = und_fresnel(1, 1.333);
    for (int k = 0; k < 3; k++) /* the sky's light comes down aslant: 1.2 times the depth */
        assert_double_near(c[k], r0 + (1 - r0) * exp(-0.5 * k * 2.2), 0.003);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

static float half_lake(float x, float z)
{
    (void)z;
    return x < 0.5f ? 0.1f : -0.1f;
}

static void wet_ground_dries_evenly(void **state)
{
    (void)state;
    und_error err;
    und_picture_def def = small_def(2);
    def.drying = 8;
    und_render *r = und_render_create(&def, &err);
    und_frame wet = make_frame(32, 32, 1.0 / 32, 0, floor_height, half_lake);
    assert_int_equal(und_scenery_observe(r->stage, &wet, &err), UND_OK);
    assert_double_near(r->stage->samples.wet[5], 1, 0);
    assert_double_near(r->stage->samples.wet[25], 0, 0);
    float *surface = frame_data(&wet, "surface");
    for (int k = 0; k < 32 * 32; k++)
        surface[k] = -0.1f;
    for (int step = 1; step <= 10; step++) {
        wet.time = step;
        assert_int_equal(und_scenery_observe(r->stage, &wet, &err), UND_OK);
        assert_double_near(r->stage->samples.wet[5], fmax(0, 1 - step / 8.0), 1e-6);
    }
    surface[5] = 0.1f;
    wet.time = 11;
    assert_int_equal(und_scenery_observe(r->stage, &wet, &err), UND_OK);
    assert_double_near(r->stage->samples.wet[5], 1, 0);
    und_render_destroy(r);
    und_frame_clear(&wet);
}

/* The same dry ground, once never wet and once just fallen dry: half as bright. */
static void wet_ground_is_half_as_bright(void **state)
{
    (void)state;
    und_error err;
    und_picture_def def = small_def(2);
    def.texture = def.sheen = 0;
    def.drying = 1e9;
    def.eye = (und_vector){.constant = {0.5, 4, 0.5}};
    def.look = (und_vector){.constant = {0.5, 0, 0.5}};
    def.fov = 5;
    und_frame dry = make_frame(32, 32, 1.0 / 32, 1, floor_height, half_lake);
    float *surface = frame_data(&dry, "surface");
    und_image before = {0}, after = {0};
    for (int k = 0; k < 32 * 32; k++)
        surface[k] = -0.1f;
    before = draw(&def, &dry);
    und_render *r = und_render_create(&def, &err);
    und_frame wet = make_frame(32, 32, 1.0 / 32, 0, floor_height, one_deep);
    assert_int_equal(und_scenery_observe(r->stage, &wet, &err), UND_OK);
    assert_int_equal(und_render_draw(r, &dry, &after, &err), UND_OK);
    for (int k = 0; k < 3 * 200 * 120; k++)
        assert_double_near(after.rgb[k] / before.rgb[k], 0.5, 1e-5);
    und_render_destroy(r);
    und_image_destroy(&before);
    und_image_destroy(&after);
    und_frame_clear(&dry);
    und_frame_clear(&wet);
}

static float beach(float x, float z)
{
    return 0.4f * x - 0.6f + 0.3f * expf(-20 * ((x - 1.2f) * (x - 1.2f) + (z - 0.8f) * (z - 0.8f)));
}

static float sea(float x, float z)
{
    return 0.04f * sinf(9 * x + z) + 0.02f * sinf(14 * z - 3 * x);
}

/* A beach with foam, rain and a triangle in the air. */
static und_frame full_frame(void)
{
    und_error err;
    und_frame frame = make_frame(80, 60, 0.025, 0.5, beach, sea);
    und_item_def field = {
        .name = "foam", .unit = "1", .kind = UND_FIELD, .type = UND_F32, .rank = 2, .dim = {60, 80}};
    float *foam = und_frame_add(&frame, &field, &err)->data;
    for (int k = 0; k < 80 * 60; k++)
        foam[k] = (float)(k % 80) / 80;
    und_item_def drops = {.name = "rain/position",
                          .unit = "m",
                          .kind = UND_PARTICLES,
                          .type = UND_F32,
                          .rank = 2,
                          .dim = {50, 3}};
    float *p = und_frame_add(&frame, &drops, &err)->data;
    for (int k = 0; k < 150; k++)
        p[k] = (float)((k * 7919) % 150) / 100;
    drops.name = "rain/velocity";
    float *v = und_frame_add(&frame, &drops, &err)->data;
    for (int k = 0; k < 50; k++)
        v[3 * k + 1] = -6;
    und_item_def body = {.kind = UND_BODIES, .type = UND_F32, .rank = 2, .unit = "m", .dim = {3, 3}};
    float corners[9] = {0.4f, -0.1f, 0.4f, 0.9f, 0.1f, 0.5f, 0.5f, 0.4f, 0.8f};
    body.name = "bodies/mesh_position";
    memcpy(und_frame_add(&frame, &body, &err)->data, corners, sizeof corners);
    body.name = "bodies/position";
    body.dim[0] = 1;
    und_frame_add(&frame, &body, &err);
    body.name = "bodies/rotation";
    body.dim[1] = 4;
    *(float *)und_frame_add(&frame, &body, &err)->data = 1;
    body = (und_item_def){"bodies/mesh_first", "1", UND_BODIES, UND_I32, true, 1, {2}};
    ((int32_t *)und_frame_add(&frame, &body, &err)->data)[1] = 3;
    return frame;
}

static void pictures_do_not_depend_on_threads(void **state)
{
    (void)state;
    und_frame frame = full_frame();
    int threads[] = {1, 2, 7};
    und_image image[3];
    for (int k = 0; k < 3; k++) {
        und_picture_def def = small_def(threads[k]);
        image[k] = draw(&def, &frame);
        assert_memory_equal(image[0].rgb, image[k].rgb, sizeof(float) * 3 * 200 * 120);
    }
    for (int k = 0; k < 3; k++)
        und_image_destroy(&image[k]);
    und_frame_clear(&frame);
}

/* A dark block before a white sky, its edge aslant: the share of its pixels that are neither is what
 * supersampling by 4 gives: each row crosses the edge once. */
static void outlines_are_smooth(void **state)
{
    (void)state;
    und_frame frame = make_frame(32, 32, 1.0 / 32, 0, floor_height, one_deep);
    float *surface = frame_data(&frame, "surface");
    for (int k = 0; k < 32 * 32; k++)
        surface[k] = -1;
    float white[24];
    for (int k = 0; k < 24; k++)
        white[k] = 1;
    und_image sky = {.width = 4, .height = 2, .rgb = white};
    und_picture_def def = small_def(2);
    def.sky = &sky;
    def.samples = 4;
    def.sides = false;
    def.texture = 0;
    for (int k = 0; k < 3; k++)
        def.sun_color[k] = def.ground_color[k] = 0;
    def.eye = (und_vector){.constant = {0.2, 2, 1.0}};
    def.look = (und_vector){.constant = {1, 0, 0.5}};
    def.fov = 10;
    und_image image = draw(&def, &frame);
    int black = 0, whole = 0, between = 0, levels[17] = {0};
    for (int k = 0; k < 200 * 120; k++) {
        float v = image.rgb[3 * k];
        int level = (int)lrintf(16 * v);
        assert_double_near(v, level / 16.0, 1e-4);
        levels[level]++;
        black += level == 0;
        whole += level == 16;
        between += level > 0 && level < 16;
    }
    assert_true(black > 2000 && whole > 2000);
    assert_true(between > 60 && between < 600);
    int used = 0;
    for (int k = 1; k < 16; k++)
        used += levels[k] > 0;
    assert_true(used > 10);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* The sun aslant over a wall: its shadow is as long as the wall is high times the sun's cotangent. */
static float wall(float x, float z)
{
    (void)z;
    return x > 0.25f && x < 0.30f ? 0.2f : 0;
}

static void walls_cast_shadows(void **state)
{
    (void)state;
    und_error err;
    und_frame frame = make_frame(256, 64, 1.0 / 256, 0, wall, half_lake);
    float *surface = frame_data(&frame, "surface");
    for (int k = 0; k < 256 * 64; k++)
        surface[k] = -1;
    und_picture_def def = small_def(2);
    def.sun = (und_vector){.constant = {-1, 1, 0}}; /* 45 degrees, from the left */
    und_render *r = und_render_create(&def, &err);
    und_image image = {0};
    assert_int_equal(und_render_draw(r, &frame, &image, &err), UND_OK);
    float m[M_COUNT];
    und_stage_mesh_at(&r->stage->mesh, 0.1f, 0.12f, m);
    assert_double_near(m[M_SUN_GROUND], 1, 0);
    und_stage_mesh_at(&r->stage->mesh, 0.45f, 0.12f, m);
    assert_double_near(m[M_SUN_GROUND], 0, 0);
    und_stage_mesh_at(&r->stage->mesh, 0.52f, 0.12f, m); /* the shadow ends at 0.30 + 0.20 */
    assert_double_near(m[M_SUN_GROUND], 1, 0);
    und_image_destroy(&image);
    und_render_destroy(r);
    und_frame_clear(&frame);
}

static void damaged_frames_do_no_harm(void **state)
{
    (void)state;
    und_frame frame = full_frame();
    float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
    const char *names[] = {"ground",         "surface",       "foam",
                           "rain/position",  "rain/velocity", "bodies/mesh_position",
                           "bodies/rotation"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        float *data = frame_data(&frame, names[n]);
        size_t count = und_item_count(und_frame_find(&frame, names[n]));
        for (size_t k = 0; k < count; k += 1 + count / 40)
            data[k] = bad[k % 5];
        und_picture_def def = small_def(2);
        und_image image = draw(&def, &frame);
        for (int k = 0; k < 3 * 200 * 120; k++)
            assert_true(isfinite(image.rgb[k]));
        und_image_destroy(&image);
    }
    und_frame_clear(&frame);
}

/* Cameras in the water, under the ground, straight above and far off; grids of two samples and long ones. */
static void any_view_of_any_grid_can_be_drawn(void **state)
{
    (void)state;
    const int size[][2] = {{2, 2}, {2, 40}, {130, 3}, {20, 1}, {2, 1}};
    const double eye[][3] = {
        {0.3, -0.1, 0.3}, {0.3, -9, 0.2}, {0.3, 5, 0.3}, {300, 200, -400}, {0.2, 0.01, 0.1}};
    for (size_t g = 0; g < sizeof size / sizeof *size; g++)
        for (int e = 0; e < test_cases(sizeof eye / sizeof *eye, g == 0 ? 5 : 1); e++) {
            und_frame frame = make_frame(size[g][0], size[g][1], 0.05, 0, beach, sea);
            und_picture_def def = small_def(2);
            def.width = 64;
            def.height = 36;
            def.samples = 1 + e % 3;
            def.vertical = 1 + (double)e;
            memcpy(def.eye.constant, eye[e], sizeof eye[e]);
            def.look = (und_vector){.constant = {0.3, 0, 0.3}};
            und_image image = draw(&def, &frame);
            for (int k = 0; k < 3 * 64 * 36; k++)
                assert_true(isfinite(image.rgb[k]) && image.rgb[k] >= 0);
            und_image_destroy(&image);
            und_frame_clear(&frame);
        }
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    und_error err;
    und_picture_def def = small_def(1);
    def.samples = 0;
    assert_null(und_render_create(&def, &err));
    assert_int_equal(err.status, UND_INVALID);
    def = small_def(1);
    def.fov = NAN;
    assert_null(und_render_create(&def, &err));
    def = small_def(1);
    und_render *r = und_render_create(&def, &err);
    und_image image = {0};
    und_frame empty = und_frame_empty(3, 0, (und_grid){.n = {8, 1, 8}, .dx = 1});
    assert_int_equal(und_render_draw(r, &empty, &image, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "surface"));
    und_image_destroy(&image);
    und_render_destroy(r);
    und_frame_clear(&empty);
}

/* The film curve keeps order, black and the bounds. */
static void film_keeps_order(void **state)
{
    (void)state;
    float before = -1;
    for (int k = 0; k < 2000; k++) {
        f3 c = und_stage_film(f3_gray((float)k * 0.01f));
        assert_true(c.x >= before && c.x >= 0 && c.x <= 1);
        assert_double_near(c.x, c.z, 1e-6);
        before = c.x;
    }
    assert_double_near(und_stage_film(f3_gray(0)).x, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reflection_is_fresnels),
        cmocka_unit_test(nothing_is_lost_at_the_surface),
        cmocka_unit_test(rays_bend_by_snell),
        cmocka_unit_test(flat_water_leaves_light_even),
        cmocka_unit_test(waves_focus_light),
        cmocka_unit_test(white_furnace_stays_white),
        cmocka_unit_test(deep_water_absorbs),
        cmocka_unit_test(wet_ground_dries_evenly),
        cmocka_unit_test(wet_ground_is_half_as_bright),
        cmocka_unit_test(pictures_do_not_depend_on_threads),
        cmocka_unit_test(outlines_are_smooth),
        cmocka_unit_test(walls_cast_shadows),
        cmocka_unit_test(damaged_frames_do_no_harm),
        cmocka_unit_test(any_view_of_any_grid_can_be_drawn),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(film_keeps_order),
    };
    return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
