/* Films of water that thin to nothing on sloping ground, ray-traced: the ground under them is wet, not black.
 */
#include "tests/pictures.h"

#include "base/random.h"
#include "geom/value.h"
#include "trace/trace.h"
#include "trace/world_parts.h"

enum { N = 40, WIDTH = 96, HEIGHT = 54, PIXELS = WIDTH * HEIGHT };

static und_picture_def shore_def(void)
{
    und_picture_def def = und_picture_def_default();
    def.width = WIDTH;
    def.height = HEIGHT;
    def.quality = UND_QUALITY_REVIEW;
    def.noise = 0.08;
    def.least_samples = 24;
    def.most_samples = 48;
    def.photons = 0.1;
    def.eye = und_vector_constant(1, 2.2, 3.2);
    def.look = und_vector_constant(1, 0, 1);
    def.fov = 30;
    def.clouds = 0;
    def.ripples = 0;
    def.texture = 0;
    def.grass_height = INFINITY;
    def.rock_slope = 80;
    def.threads = 2;
    return def;
}

/* Ground that falls to one side, and on it water of `deep` metres at most that ends in shores everywhere. */
static und_frame shore_frame(float deep, bool bumpy)
{
    und_frame frame = flat_frame(N, 2, 0, 0);
    float *ground = und_frame_find(&frame, "ground")->data,
          *surface = und_frame_find(&frame, "surface")->data;
    for (int k = 0; k < N * N; k++) {
        float x = 2 * ((float)(k % N) + 0.5f) / N, z = 2 * ((float)(k / N) + 0.5f) / N;
        ground[k] = 0.15f * (x - 1) + (bumpy ? 0.02f * sinf(9 * x) * cosf(7 * z) : 0);
        float film = bumpy ? sinf(6 * x + 1) * sinf(5 * z) : 1 - x;
        surface[k] = ground[k] + maxf(deep * film, 0);
    }
    return frame;
}

static void trace(const und_frame *frame, float gray[PIXELS])
{
    und_error err = {0};
    const und_picture_def def = shore_def();
    und_trace *t = und_trace_create(&def, &err);
    und_layers layers;
    und_film_report report;
    assert_non_null(t);
    assert_int_equal(und_layers_create(&layers, WIDTH, HEIGHT, &err), UND_OK);
    assert_int_equal(und_trace_draw(t, frame, &layers, &report, &err), UND_OK);
    for (int k = 0; k < PIXELS; k++)
        gray[k] = layers.id[k] == UND_ID_NONE ? NAN : layers.rgb[3 * k + 1];
    und_layers_destroy(&layers);
    und_trace_destroy(t);
}

/* The darkest of a pixel and its neighbours: shores move with the depth. */
static float darkest_about(const float gray[PIXELS], int k)
{
    float least = gray[k];
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int x = k % WIDTH + dx, y = k / WIDTH + dy;
            if (x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT && gray[y * WIDTH + x] < least)
                least = gray[y * WIDTH + x];
        }
    return least;
}

/* Wet ground is half as bright as where the film is too thin to be seen; a tenth of that may be noise. */
static void films_are_no_darker_than_wet_ground(void **state)
{
    (void)state;
    static const float deep[] = {2e-5f, 8e-4f, 1e-2f};
    static float damp[PIXELS], wet[PIXELS];
    for (int even = 0; even < test_cases(2, 1); even++) {
        const bool bumpy = !even;
        und_frame frame = shore_frame(1e-6f, bumpy);
        trace(&frame, damp);
        und_frame_clear(&frame);
        for (int k = 0; k < 3; k++) {
            float least = INFINITY;
            frame = shore_frame(deep[k], bumpy);
            trace(&frame, wet);
            und_frame_clear(&frame);
            for (int i = 0; i < PIXELS; i++)
                if (damp[i] > 0 && wet[i] >= 0)
                    least = minf(least, wet[i] / darkest_about(damp, i));
            assert_true(least > 0.45f);
        }
    }
}

/* The bed under clear water is as bright wherever it is, though photons near it leave the water on a level
 * way far from the shore: what light is thrown back at is the shore. */
static void no_light_is_thrown_back_but_at_shores(void **state)
{
    (void)state;
    static float damp[PIXELS], wet[PIXELS];
    und_frame frame = shore_frame(1e-6f, false);
    trace(&frame, damp);
    und_frame_clear(&frame);
    for (int k = 0; k < 2; k++) {
        frame = shore_frame(k ? 4e-2f : 1e-2f, false);
        trace(&frame, wet);
        und_frame_clear(&frame);
        float most = 0, sum = 0; /* up to the shore, in the picture's middle */
        for (int y = 15; y < 48; y++)
            for (int x = 26; x < 46; x++) {
                float here = wet[y * WIDTH + x] / damp[y * WIDTH + x];
                most = maxf(most, here);
                sum += here / (33 * 20);
            }
        /* As dark as wet ground, which is half of dry, with some of the sky in the water. */
        assert_true(most < 0.75f);
        assert_double_near((double)sum, 0.55, 0.03);
    }
}

/* What rays meet is as far above the ground as is said of it: water and ground are the same triangles. */
static void depths_are_those_that_rays_meet(void **state)
{
    (void)state;
    und_error err = {0};
    und_picture_def def = shore_def();
    und_frame frame = flat_frame(N, 2, 0, 0);
    float *ground = und_frame_find(&frame, "ground")->data,
          *surface = und_frame_find(&frame, "surface")->data;
    for (int k = 0; k < N * N; k++) {
        ground[k] = 0.05f * (float)und_random(3, 1, (uint64_t)k);
        surface[k] = ground[k] + 0.02f + 0.05f * (float)und_random(3, 2, (uint64_t)k);
    }
    und_scenery *scenery = make_scenery(&def);
    assert_int_equal(und_scenery_prepare(scenery, &frame, &err), UND_OK);
    und_world *world = und_world_create(scenery, &frame, &err);
    assert_non_null(world);
    for (uint64_t k = 0; k < 2000; k++) {
        f3 from =
            f3_make(0.1f + 1.8f * (float)und_random(3, 3, k), 1, 0.1f + 1.8f * (float)und_random(3, 4, k));
        und_ray ray = {.from = from, .dir = {0, -1, 0}, .far = INFINITY, .time = 1};
        und_hit water, bed;
        assert_true(world->cast(world, &ray, &water));
        assert_int_equal(water.id, UND_ID_LIQUID);
        ray.near = water.t + 1e-3f;
        assert_true(world->cast(world, &ray, &bed));
        assert_int_equal(bed.id, UND_ID_GROUND);
        assert_double_near((double)(bed.t - water.t),
                           (double)und_world_depth((const und_world_parts *)world, from.x, from.z), 1e-5);
    }
    und_world_destroy(world);
    und_scenery_destroy(scenery);
    und_frame_clear(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(depths_are_those_that_rays_meet),
                                       cmocka_unit_test(films_are_no_darker_than_wet_ground),
                                       cmocka_unit_test(no_light_is_thrown_back_but_at_shores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
