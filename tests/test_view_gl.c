/* OpenGL without a display, and the camera's arithmetic. */
#include "tests/test.h"
#include "view/camera.h"
#include "view/gl.h"
#include "view/glsl.h"
#include "view/screen.h"

#include <math.h>

static void square_is_drawn_and_read_back(void **state)
{
    (void)state;
    und_error err = {0};
    und_screen *window =
        und_screen_create(&(und_screen_def){.width = 8, .height = 4, .offscreen = true}, &err);
    if (!window)
        fail_msg("%s", err.text);
    und_program_def def = {
        .name = "a test",
        .vertex = {und_glsl_square},
        .fragment = {"in vec2 place;\nout vec4 color;\n",
                     "void main() { color = vec4(place.x > 0.0, place.y > 0.0, 0.2, 1.0); }\n"}};
    GLuint program = und_gl_program(&def, &err);
    if (!program)
        fail_msg("%s", err.text);
    und_screen_bind(window);
    glViewport(0, 0, 8, 4);
    glUseProgram(program);
    und_gl_draw_square();
    und_screen_show(window);
    unsigned char rgb[4][8][3];
    und_gl_read(0, 0, 8, 4, rgb[0][0]);
    assert_int_equal(rgb[0][7][0], 255); /* the first row is the upper one */
    assert_int_equal(rgb[0][7][1], 255);
    assert_int_equal(rgb[3][0][0], 0);
    assert_int_equal(rgb[3][0][1], 0);
    assert_int_equal(rgb[3][0][2], 51);
    glDeleteProgram(program);
    def.fragment[1] = "this is no shader";
    assert_int_equal(und_gl_program(&def, &err), 0);
    assert_non_null(strstr(err.text, "fragment shader of a test"));
    und_screen_destroy(window);
}

/* What the ray through a pixel meets is seen at that pixel. */
static void rays_and_pixels_agree(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        und_camera camera = {.flat = flat};
        und_camera_look(&camera, (double[]){3, 2, 5}, (double[]){0.5, 0.2, -1}, 0.7);
        und_camera_orbit(&camera, 0.3, -0.1);
        und_camera_pan(&camera, 0.1, 0.05);
        und_camera_zoom(&camera, 0.8);
        und_lens lens = und_camera_lens(&camera, (int[]){100, 50, 400, 300}, 600, 4);
        double origin[3], along[3], x, y;
        und_lens_ray(&lens, 210, 330, origin, along);
        double point[3] = {origin[0] + 3 * along[0], origin[1] + 3 * along[1], origin[2] + 3 * along[2]};
        assert_true(und_lens_project(&lens, point, &x, &y));
        assert_double_near(x, 210, 1e-3);
        assert_double_near(y, 330, 1e-3);
        assert_true(und_lens_holds(&lens, x, y));
        assert_false(und_lens_holds(&lens, 20, 330));
        for (int i = 0; i < 16; i++) { /* inverse times both is 1 */
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += (double)lens.inverse[4 * k + i % 4] * (double)lens.both[4 * (i / 4) + k];
            assert_double_near(sum, i % 5 == 0, 2e-4);
        }
    }
}

/* A camera set to an eye is there, and turns about what it looks at. */
static void orbit_keeps_the_distance(void **state)
{
    (void)state;
    und_camera camera = {0};
    und_camera_look(&camera, (double[]){3, 2, 5}, (double[]){0, 1, 0}, 0.7);
    und_lens lens = und_camera_lens(&camera, (int[]){0, 0, 64, 64}, 64, 4);
    assert_double_near((double)lens.eye[0], 3, 1e-5);
    assert_double_near((double)lens.eye[1], 2, 1e-5);
    assert_double_near((double)lens.eye[2], 5, 1e-5);
    und_camera_orbit(&camera, 1, 9); /* not over the top */
    lens = und_camera_lens(&camera, (int[]){0, 0, 64, 64}, 64, 4);
    double x, y;
    assert_true(und_lens_project(&lens, (double[]){0, 1, 0}, &x, &y));
    assert_double_near(x, 32, 1e-3);
    assert_double_near(y, 32, 1e-3);
    assert_double_near(hypot(hypot((double)lens.eye[0], (double)lens.eye[1] - 1), (double)lens.eye[2]),
                       sqrt(35), 1e-5);
    und_camera_go_home(&camera);
    lens = und_camera_lens(&camera, (int[]){0, 0, 64, 64}, 64, 4);
    assert_double_near((double)lens.eye[2], 5, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(square_is_drawn_and_read_back),
        cmocka_unit_test(rays_and_pixels_agree),
        cmocka_unit_test(orbit_keeps_the_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
