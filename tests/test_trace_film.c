/* The film against answers that are known: filter, lens, shutter, layers, and the noise that it reports. */
#include "tests/test.h"

#include "base/random.h"
#include "io/image.h"
#include "trace/film.h"

/* Numbers without any order, in the place of the library's, so that what chance does to them is known. */
float und_dice_roll(und_dice *dice)
{
    uint64_t stream = dice->pixel << 32 | dice->sample;
    return (float)(und_random_bits(dice->seed, stream, dice->next++) >> 40) * 0x1p-24f;
}

static und_film_def film_def(int width, int height)
{
    return (und_film_def){.width = width,
                          .height = height,
                          .least = 16,
                          .most = 1024,
                          .noise = 0.02f,
                          .gain = 1,
                          .seed = 7,
                          .threads = 2};
}

/* At the origin, looking along -z. */
static und_film_lens pinhole(void)
{
    f3 right = {1, 0, 0}, up = {0, 1, 0}, forward = {0, 0, -1}, eye = {0, 0, 0};
    return (und_film_lens){.eye = eye,
                           .right = right,
                           .up = up,
                           .forward = forward,
                           .eye1 = eye,
                           .right1 = right,
                           .up1 = up,
                           .forward1 = forward,
                           .half_height = 0.5f,
                           .focus = 1};
}

/* A wall at z = -distance: where a ray meets it. */
typedef struct wall {
    float distance;
    f3 (*color)(f3 place, const und_ray *ray, und_dice *dice);
} wall;

static f3 look_at_wall(const void *of, const und_ray *ray, und_dice *dice, und_hit *first)
{
    const wall *w = of;
    float t = (-w->distance - ray->from.z) / ray->dir.z;
    f3 place = f3_along(ray->from, ray->dir, t);
    if (place.x > -0.2f) {
        first->t = t;
        first->normal = f3_make(0, 0, 1);
        first->velocity = f3_make(1, 2, 3);
        first->id = UND_ID_SOLID + 2;
    }
    return w->color(place, ray, dice);
}

static und_film_report expose(const und_film_def *def, const und_film_lens *lens, const wall *w,
                              und_layers *layers)
{
    und_error err = {0};
    und_film_report report;
    assert_int_equal(und_layers_create(layers, def->width, def->height, &err), UND_OK);
    und_subject subject = {look_at_wall, w};
    assert_int_equal(und_film_expose(def, lens, subject, layers, &report, &err), UND_OK);
    return report;
}

static f3 place_color(f3 place, const und_ray *ray, und_dice *dice)
{
    (void)dice;
    return f3_make(place.x + 2, place.y + 2, ray->time);
}

/* A ramp stays a ramp under a filter that is even, pixels are where they belong, and the shutter is open all
 * the time. */
static void test_places(void **state)
{
    (void)state;
    und_film_def def = film_def(12, 8);
    def.noise = 0;
    def.most = 4096;
    und_film_lens lens = pinhole();
    wall w = {2, place_color};
    und_layers out;
    expose(&def, &lens, &w, &out);
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 12; i++) {
            const float *c = out.rgb + 3 * (j * 12 + i);
            double side = 2 * 2 * 0.5 / 8; /* of a pixel on the wall */
            assert_double_near(c[0], 2 + (i + 0.5 - 6) * side, 0.008);
            assert_double_near(c[1], 2 + (4 - j - 0.5) * side, 0.008);
            assert_double_near(c[2], 0.5, 0.02);
        }
    und_layers_destroy(&out);
}

static f3 square_color(f3 place, const und_ray *ray, und_dice *dice)
{
    (void)ray;
    (void)dice;
    return f3_make(place.x * place.x, place.y * place.y, 0);
}

/* Second moments: of the filter, a Blackman-Harris window over three pixels; of a lens out of focus, a disc
 * of radius R |1 - d / f|. */
static void test_filter_and_lens(void **state)
{
    (void)state;
    und_film_def def = film_def(1, 1);
    def.noise = 0;
    def.most = 1 << 16;
    und_film_lens lens = pinhole();
    wall w = {3, square_color};
    und_layers out;
    expose(&def, &lens, &w, &out);
    double pixel = 2 * 3 * 0.5, moment = 0, total = 0, sharp = out.rgb[0];
    for (int k = 0; k < 1000; k++) {
        double x = (k + 0.5) / 500 - 1, a = M_PI * (x + 1);
        double h = 0.35875 - 0.48829 * cos(a) + 0.14128 * cos(2 * a) - 0.01168 * cos(3 * a);
        moment += h * 1.5 * 1.5 * x * x;
        total += h;
    }
    assert_double_near(sharp, moment / total * pixel * pixel, 0.02 * sharp);
    und_layers_destroy(&out);
    lens.radius = 0.4f;
    for (int k = 0; k < 2; k++) {
        lens.focus = k ? 3 : 1.5f;
        expose(&def, &lens, &w, &out);
        double r = 0.4 * fabs(1 - 3 / lens.focus);
        assert_double_near(out.rgb[0] - sharp, r * r / 4, k ? 1e-4 : 0.03 * sharp);
        assert_double_near(out.rgb[1] - sharp, r * r / 4, k ? 0.03 * sharp : 0.03 * sharp);
        und_layers_destroy(&out);
    }
}

/* Second moments of the other filters, in pixels, with radii of their own and of the caller's. */
static void test_filters(void **state)
{
    (void)state;
    const struct {
        und_filter filter;
        double radius, moment;
    } filters[] = {{UND_FILTER_BOX, 0, 1.0 / 12},
                   {UND_FILTER_TENT, 0, 1.0 / 6},
                   {UND_FILTER_BOX, 2, 4.0 / 3},
                   /* exp(-4.5 x^2), cut off at 3 standard deviations */
                   {UND_FILTER_GAUSSIAN, 0, 2.25 / 9 * 0.97333}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        und_film_def def = film_def(1, 1);
        def.noise = 0;
        def.most = 1 << 16;
        def.filter = filters[i].filter;
        def.filter_radius = (float)filters[i].radius;
        und_film_lens lens = pinhole();
        wall w = {1, square_color}; /* a pixel is a metre wide there */
        und_layers out;
        expose(&def, &lens, &w, &out);
        assert_double_near(out.rgb[0], filters[i].moment, 0.02 * filters[i].moment);
        assert_double_near(out.rgb[1], filters[i].moment, 0.02 * filters[i].moment);
        und_layers_destroy(&out);
    }
}

static void test_layers(void **state)
{
    (void)state;
    und_film_def def = film_def(40, 8);
    und_film_lens lens = pinhole();
    wall w = {2, place_color};
    und_layers out;
    expose(&def, &lens, &w, &out);
    for (int i = 0; i < 40; i++) {
        int at = 3 * 40 + i;
        double x = (i + 0.5 - 20) * 0.25; /* on the wall */
        bool met = x > -0.2;
        if (fabs(x + 0.2) > 0.4)
            assert_double_near(out.alpha[at], met, 0);
        if (fabs(x + 0.2) < 0.26)
            continue;
        assert_double_near(out.id[at], met ? UND_ID_SOLID + 2 : UND_ID_NONE, 0);
        assert_double_near(out.velocity[3 * at + 1], met ? 2 : 0, 0);
        assert_double_near(out.normal[3 * at + 2], met, fabs(x + 0.2) > 0.4 ? 1e-6 : 1);
        if (met)
            assert_double_near(out.depth[at], 2, 1e-5);
        else
            assert_true(isinf(out.depth[at]));
    }
    und_layers_destroy(&out);
}

/* Dark on the left, bright on the right, one path in eight finds the light. */
static f3 chance_color(f3 place, const und_ray *ray, und_dice *dice)
{
    (void)ray;
    float u = und_dice_roll(dice), mean = 0.05f + 0.3f * (place.x + 1);
    return f3_gray(u < 0.125f ? 8 * mean : 0);
}

/* The error that the film reports is the error that it has. */
static void test_noise(void **state)
{
    (void)state;
    und_film_def def = film_def(64, 64);
    def.most = 1 << 20;
    und_film_lens lens = pinhole();
    wall w = {2, chance_color};
    static const float target[2] = {0.06f, 0.02f};
    double samples[2];
    for (int k = 0; k < 2; k++) {
        und_layers out;
        def.noise = target[k];
        und_film_report report = expose(&def, &lens, &w, &out);
        double sum = 0;
        for (int j = 0; j < 64; j++)
            for (int i = 0; i < 64; i++) {
                double x = (i + 0.5 - 32) * 2 / 64;
                double mean = (double)(0.05f + 0.3f * ((float)x + 1)), is = und_srgb_encode((float)mean);
                double got = und_srgb_encode(out.rgb[3 * (j * 64 + i)]);
                sum += pow((got - is) / fmax(is, (double)UND_FILM_DARK), 2);
            }
        double error = sqrt(sum / (64 * 64));
        assert_true(report.noise <= target[k]);
        assert_true(report.reached == 1);
        assert_true(report.noise > 0.6 * target[k]);
        assert_double_near(error, report.noise, 0.15 * report.noise);
        samples[k] = report.samples;
        und_layers_destroy(&out);
    }
    assert_true(samples[1] > 5 * samples[0]);
}

static f3 glaring(f3 place, const und_ray *ray, und_dice *dice)
{
    (void)ray;
    (void)place;
    return f3_gray(50 + 1000 * und_dice_roll(dice));
}

static f3 broken(f3 place, const und_ray *ray, und_dice *dice)
{
    (void)ray;
    (void)place;
    return und_dice_roll(dice) < 0.25f ? f3_gray(NAN) : f3_gray(1);
}

/* What is white however bright it is needs no more samples; a broken path counts as black, and is counted. */
static void test_glare_and_damage(void **state)
{
    (void)state;
    und_film_def def = film_def(16, 16);
    und_film_lens lens = pinhole();
    wall white = {2, glaring}, damaged = {2, broken};
    und_layers out;
    und_film_report report = expose(&def, &lens, &white, &out);
    assert_double_near(report.samples, 16, 0);
    assert_double_near(report.dropped, 0, 0);
    und_layers_destroy(&out);
    def.noise = 0;
    def.most = 512;
    report = expose(&def, &lens, &damaged, &out);
    assert_double_near(report.dropped / report.paths, 0.25, 0.01);
    for (int k = 0; k < 16 * 16 * 3; k++)
        assert_double_near(out.rgb[k], 0.75, 0.1);
    und_layers_destroy(&out);
}

/* One pixel of many that saw a lone bright path. */
static f3 speckled(f3 place, const und_ray *ray, und_dice *dice)
{
    (void)ray;
    (void)place;
    return dice->pixel == 8 * 20 + 10 && dice->sample == 5 ? f3_gray(1e5f) : f3_gray(0.5f);
}

static void test_clean(void **state)
{
    (void)state;
    und_film_def def = film_def(20, 20);
    def.most = 64;
    und_film_lens lens = pinhole();
    wall w = {2, speckled};
    und_layers out;
    und_film_report report = expose(&def, &lens, &w, &out);
    assert_double_near(report.cleaned, 1, 0);
    for (int k = 0; k < 20 * 20 * 3; k++)
        assert_double_near(out.rgb[k], 0.5, 1e-5);
    und_layers_destroy(&out);
}

static void test_threads(void **state)
{
    (void)state;
    und_film_def def = film_def(50, 37);
    und_film_lens lens = pinhole();
    lens.radius = 0.1f;
    wall w = {2, chance_color};
    und_layers out[3];
    for (int k = 0; k < 3; k++) {
        def.threads = (int[]){1, 2, 5}[k];
        expose(&def, &lens, &w, &out[k]);
        assert_memory_equal(out[k].rgb, out[0].rgb, 50 * 37 * 3 * sizeof(float));
        assert_memory_equal(out[k].depth, out[0].depth, 50 * 37 * sizeof(float));
        assert_memory_equal(out[k].samples, out[0].samples, 50 * 37 * sizeof(float));
    }
    for (int k = 0; k < 3; k++)
        und_layers_destroy(&out[k]);
}

static bool at_once(void)
{
    return true;
}

static void test_stop(void **state)
{
    (void)state;
    und_film_def def = film_def(16, 16);
    def.stop = at_once;
    und_film_lens lens = pinhole();
    wall w = {2, chance_color};
    und_error err = {0};
    und_layers out;
    und_film_report report;
    und_subject subject = {look_at_wall, &w};
    assert_int_equal(und_layers_create(&out, 16, 16, &err), UND_OK);
    assert_int_equal(und_film_expose(&def, &lens, subject, &out, &report, &err), UND_STOPPED);
    und_layers_destroy(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),  cmocka_unit_test(test_filter_and_lens),
        cmocka_unit_test(test_filters), cmocka_unit_test(test_layers),
        cmocka_unit_test(test_noise),   cmocka_unit_test(test_glare_and_damage),
        cmocka_unit_test(test_clean),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
