/* Colour maps: even steps, the same on the GPU, and round numbers beside them. */
#include "tests/test.h"
#include "view/colormap.h"
#include "view/glsl.h"
#include "view/screen.h"

#include <math.h>

static double linear(double c)
{
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Lightness, a and b of Ottosson's Oklab. */
static void to_oklab(const float rgb[3], double lab[3])
{
    double r = linear((double)rgb[0]), g = linear((double)rgb[1]), b = linear((double)rgb[2]);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* No step of a map is twice as long as the mean one, and what rises looks as if it does. */
static void steps_are_even(void **state)
{
    (void)state;
    enum { STEPS = 64 };
    for (int which = 0; which < UND_MAPS; which++) {
        double before[3], total = 0, longest = 0;
        for (int i = 0; i <= STEPS; i++) {
            float rgb[3];
            double lab[3];
            und_colormap(which, (double)i / STEPS, rgb);
            to_oklab(rgb, lab);
            if (i > 0) {
                double way = sqrt(pow(lab[0] - before[0], 2) + pow(lab[1] - before[1], 2) +
                                  pow(lab[2] - before[2], 2));
                total += way;
                longest = fmax(longest, way);
                double rise = lab[0] - before[0];
                assert_true(which == UND_MAP_DIVERGING ? (i <= STEPS / 2) == (rise > 0) : rise > 0);
            }
            memcpy(before, lab, sizeof lab);
        }
        assert_true(longest < 2 * total / STEPS);
    }
}

static void what_is_no_value_has_a_colour(void **state)
{
    (void)state;
    float low[3], rgb[3];
    und_colormap(UND_MAP_EVEN, 0, low);
    und_colormap(UND_MAP_EVEN, -INFINITY, rgb);
    assert_memory_equal(low, rgb, sizeof rgb);
    und_colormap(UND_MAP_EVEN, NAN, rgb);
    assert_true(rgb[0] > 0.8f && rgb[2] > 0.6f && rgb[1] < 0.5f);
}

static void the_gpu_has_the_same_colours(void **state)
{
    (void)state;
    enum { WIDTH = 200 };
    und_error err = {0};
    und_screen *window =
        und_screen_create(&(und_screen_def){.width = WIDTH, .height = 1, .offscreen = true}, &err);
    if (!window)
        fail_msg("%s", err.text);
    GLuint program = und_gl_program(
        &(und_program_def){
            .name = "a test",
            .vertex = {und_glsl_square},
            .fragment = {"in vec2 place;\nout vec4 color;\n", und_glsl_colormap,
                         "void main() { color = vec4(map_color(0.5 * place.x + 0.5), 1.0); }\n"}},
        &err);
    if (!program)
        fail_msg("%s", err.text);
    GLuint maps = und_colormap_texture();
    und_screen_bind(window);
    glViewport(0, 0, WIDTH, 1);
    glUseProgram(program);
    for (int which = 0; which < UND_MAPS; which++) {
        unsigned char seen[WIDTH][3];
        und_gl_texture(program, "colormaps", 0, GL_TEXTURE_2D, maps);
        und_gl_int(program, "colormap", which);
        und_gl_draw_square();
        und_gl_read(0, 0, WIDTH, 1, seen[0]);
        for (int x = 0; x < WIDTH; x++) {
            float rgb[3];
            und_colormap(which, (x + 0.5) / WIDTH, rgb);
            for (int k = 0; k < 3; k++)
                assert_double_near(seen[x][k], 255 * (double)rgb[k], 1.6);
        }
    }
    glDeleteTextures(1, &maps);
    glDeleteProgram(program);
    und_screen_destroy(window);
}

static void ticks_are_round(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        int count;
        double first, step;
        int decimals;
    } expected[] = {
        {0, 1, 6, 0, 0.2, 1},           {0, 9810, 5, 0, 2000, 0},   {-3, 7.2, 5, -2, 2, 0},
        {1e-3, 2e-3, 6, 1e-3, 2e-4, 4}, {100, 101, 6, 100, 0.2, 1}, {3, -3, 3, -2, 2, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        double ticks[16];
        int decimals, count = und_legend_ticks(expected[i].low, expected[i].high, 6, ticks, &decimals);
        assert_int_equal(count, expected[i].count);
        assert_int_equal(decimals, expected[i].decimals);
        for (int k = 0; k < count; k++)
            assert_double_near(ticks[k], expected[i].first + k * expected[i].step, 1e-9 * expected[i].step);
    }
    double ticks[16];
    int decimals;
    assert_int_equal(und_legend_ticks(5, 5, 6, ticks, &decimals), 0);
    assert_int_equal(und_legend_ticks(NAN, 5, 6, ticks, &decimals), 0);
    assert_int_equal(und_legend_ticks(-INFINITY, 5, 6, ticks, &decimals), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_even),
        cmocka_unit_test(what_is_no_value_has_a_colour),
        cmocka_unit_test(the_gpu_has_the_same_colours),
        cmocka_unit_test(ticks_are_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
