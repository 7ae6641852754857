/* The painter of height fields, by known answers read from its pictures. */
#include "render/optics.h"
#include "tests/test.h"
#include "view/gl.h"
#include "view/painter.h"
#include "view/screen.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE = 160, HIGH = 120 };

static float sky_texels[2 * 2 * 3];

/* Nothing but what the test is about: an even sky, bare ground, still water. */
static und_render_def plain_look(const float sky[3], float ground)
{
    static und_image even = {.width = 2, .height = 2, .rgb = sky_texels};
    for (int k = 0; k < 12; k++)
        sky_texels[k] = sky[k % 3];
    und_render_def look = und_render_def_default();
    look.sky = &even;
    look.texture = 0;
    look.ripples = 0;
    look.wet_darkening = 0;
    look.sheen = 0;
    look.rock_slope = 89;
    look.sides = false;
    for (int k = 0; k < 3; k++) {
        look.sun_color[k] = 0;
        look.ground_color[k] = ground;
        look.water_color[k] = 0;
    }
    return look;
}

typedef double height_fn(double x, double z);

/* A frame of nx x nz samples, `h` apart, from the corner at the origin. */
static und_frame make_frame(int nx, int nz, double h, height_fn *ground, height_fn *surface)
{
    und_error err = {0};
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {nx, 1, nz}, .dx = h});
    und_item_def def = {.name = "ground", .unit = "m", .kind = UND_FIELD, .type = UND_F32, .rank = 2};
    def.dim[0] = (size_t)nz;
    def.dim[1] = (size_t)nx;
    for (int k = 0; k < 2; k++) {
        def.name = k ? "surface" : "ground";
        und_item *item = und_frame_add(&frame, &def, &err);
        assert_non_null(item);
        float *to = item->data;
        for (int j = 0; j < nz; j++)
            for (int i = 0; i < nx; i++)
                *to++ = (float)(k ? surface : ground)((i + 0.5) * h, (j + 0.5) * h);
    }
    return frame;
}

static float *field_of(und_frame *frame, const char *name)
{
    return (float *)und_frame_find(frame, name)->data;
}

typedef struct stand {
    und_screen *screen;
    und_painter *painter;
    und_lens lens;
    unsigned char rgb[HIGH][WIDE][3];
} stand;

static stand *open_stand(const und_render_def *look)
{
    und_error err = {0};
    stand *s = calloc(1, sizeof *s);
    s->screen = und_screen_create(&(und_screen_def){.width = WIDE, .height = HIGH, .offscreen = true}, &err);
    if (!s->screen)
        fail_msg("%s", err.text);
    s->painter = und_sea_create(look, &err);
    if (!s->painter)
        fail_msg("%s", err.text);
    return s;
}

static void close_stand(stand *s)
{
    s->painter->class->destroy(s->painter);
    und_screen_destroy(s->screen);
    free(s);
}

static void show(stand *s, const und_frame *frame)
{
    und_error err = {0};
    if (s->painter->class->take(s->painter, frame, &err) != UND_OK)
        fail_msg("%s", err.text);
}

static void draw_from(stand *s, const double eye[3], const double look[3])
{
    und_camera camera = {0};
    double low[3], high[3];
    s->painter->class->bounds(s->painter, low, high);
    und_camera_look(&camera, eye, look, 0.7);
    s->lens = und_camera_lens(&camera, (int[]){0, 0, WIDE, HIGH}, HIGH,
                              hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]));
    und_screen_bind(s->screen);
    glViewport(0, 0, WIDE, HIGH);
    for (int k = 0; k < 2; k++) { /* what stands still has all its pixels */
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        s->painter->class->draw(s->painter, &s->lens, 0);
    }
    und_screen_show(s->screen);
    und_gl_read(0, 0, WIDE, HIGH, s->rgb[0][0]);
    assert_int_equal(glGetError(), 0);
}

/* As a pixel has it: the preview's film curve (Narkowicz 2015 at 0.55 and a fifth more colour), then sRGB. */
static double shown(const double c[3], int channel)
{
    double mean = (c[0] + c[1] + c[2]) / 3, x = 0.55 * fmax(mean + 1.2 * (c[channel] - mean), 0);
    x = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
    return 255 * (double)und_srgb_encode((float)fmin(fmax(x, 0), 1));
}

static double flat_bottom(double x, double z)
{
    return 0 * x * z;
}
static double half_a_metre(double x, double z)
{
    return 0.5 + 0 * x * z;
}

/* Flat water over a flat bottom under an even sky: the sky by Fresnel, the bottom by what absorption leaves
 * of light that comes down and goes up to the eye. */
static void flat_water_is_fresnel_and_beer(void **state)
{
    (void)state;
    const float sky[3] = {0.5f, 0.7f, 0.9f};
    for (int white = 0; white < 2; white++) {
        und_render_def look = plain_look(sky, (float)white);
        und_frame frame = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
        stand *s = open_stand(&look);
        show(s, &frame);
        draw_from(s, (double[]){3.2, 3.5, 7.5}, (double[]){3.2, 0, 3});
        for (int y = 40; y < 100; y += 12) {
            double from[3], along[3], color[3];
            und_lens_ray(&s->lens, 80.5, y + 0.5, from, along);
            double down = sqrt(1 - (1 - along[1] * along[1]) / (1.333 * 1.333));
            double mirrored = und_fresnel(-along[1], 1.333);
            for (int k = 0; k < 3; k++) {
                double a = (double)look.absorption[k];
                double below = white * (double)sky[k] * exp(-a * 1.2 * 0.5) * exp(-a * 0.5 / down);
                color[k] = mirrored * (double)sky[k] + (1 - mirrored) * below;
            }
            for (int k = 0; k < 3; k++)
                assert_double_near(s->rgb[y][80][k], shown(color, k), 2.5);
        }
        close_stand(s);
        und_frame_clear(&frame);
    }
}

static double ramp(double x, double z)
{
    return 0.4 * (x - 3.17) + 0 * z;
}

/* Black water against a white ramp: the shore is where both are as high, between samples too. */
static void shore_is_seen_where_it_is(void **state)
{
    (void)state;
    und_render_def look = plain_look((float[]){0.8f, 0.8f, 0.8f}, 1);
    for (int k = 0; k < 3; k++)
        look.absorption[k] = 1e6f;
    look.shore = 1e-4;
    und_frame frame = make_frame(64, 64, 0.1, ramp, flat_bottom);
    stand *s = open_stand(&look);
    show(s, &frame);
    draw_from(s, (double[]){3.6, 5, 5}, (double[]){3.2, 0, 3.2});
    for (double z = 2.2; z < 4.4; z += 0.7) {
        double x, y;
        assert_true(und_lens_project(&s->lens, (double[]){3.17, 0, z}, &x, &y));
        int row = (int)y, edge = -1;
        for (int i = 1; i < WIDE; i++)
            if (s->rgb[row][i - 1][1] < 128 && s->rgb[row][i][1] >= 128)
                edge = i;
        assert_double_near(edge, x, 1.6);
    }
    close_stand(s);
    und_frame_clear(&frame);
}

static double hills(double x, double z)
{
    return 0.3 * sin(1.7 * x) * cos(1.3 * z) - 0.05;
}

/* How far along the view what has such a depth is, m. */
static double along_view(const und_lens *lens, float depth)
{
    return (double)lens->projection[14] / (2 * (double)depth - 1 + (double)lens->projection[10]);
}

/* The ray through a pixel meets what is drawn there. */
static void pick_agrees_with_the_drawn_depth(void **state)
{
    (void)state;
    und_render_def look = und_render_def_default();
    und_frame frame = make_frame(100, 100, 0.1, hills, flat_bottom);
    stand *s = open_stand(&look);
    show(s, &frame);
    draw_from(s, (double[]){5, 4, 12}, (double[]){5, 0, 5});
    static float depth[HIGH][WIDE];
    glReadPixels(0, 0, WIDE, HIGH, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
    int met = 0, missed = 0;
    for (int y = 5; y < HIGH; y += 6)
        for (int x = 5; x < WIDE; x += 6) {
            double from[3], along[3], point[3], drawn[3];
            und_lens_ray(&s->lens, x + 0.5, y + 0.5, from, along);
            bool hit = s->painter->class->pick(s->painter, from, along, point);
            for (int k = 0; k < 3; k++)
                drawn[k] = along_view(&s->lens, depth[HIGH - 2 - y + k][x]);
            missed += !hit && depth[HIGH - 1 - y][x] == 1;
            if (!hit || fabs(drawn[0] - drawn[2]) > 0.3) /* a crest before what is behind it */
                continue;
            double far = 0;
            for (int a = 0; a < 3; a++)
                far += (point[a] - (double)s->lens.eye[a]) * (double)s->lens.forward[a];
            assert_double_near(drawn[1], far, 0.02);
            met++;
        }
    assert_in_range(missed, 20, 540);
    assert_in_range(met, 200, 540);
    close_stand(s);
    und_frame_clear(&frame);
}

/* What no picture can be made of is refused with its reason; what can be left out is. */
static void damaged_frames_do_no_harm(void **state)
{
    (void)state;
    und_render_def look = und_render_def_default();
    stand *s = open_stand(&look);
    und_error err = {0};
    const double eye[3] = {3, 3, 8}, at[3] = {3, 0, 3};
    und_frame good = make_frame(48, 40, 0.1, hills, flat_bottom);
    assert_true(und_sea_fits(&good));
    show(s, &good);
    field_of(&good, "surface")[700] = NAN;
    field_of(&good, "ground")[300] = -INFINITY;
    field_of(&good, "surface")[900] = 1e30f;
    show(s, &good);
    draw_from(s, eye, at);
    und_frame other = make_frame(17, 90, 0.3, hills, flat_bottom);
    show(s, &other);
    draw_from(s, eye, at);
    snprintf((char *)und_frame_find(&other, "ground")->name, 4, "gr");
    show(s, &other); /* no ground: flat */
    draw_from(s, eye, at);
    snprintf((char *)und_frame_find(&other, "surface")->name, 4, "su");
    assert_false(und_sea_fits(&other));
    assert_int_not_equal(s->painter->class->take(s->painter, &other, &err), UND_OK);
    assert_non_null(strstr(err.text, "surface"));
    draw_from(s, eye, at); /* the last good one */
    und_frame thin = make_frame(20, 1, 0.3, hills, flat_bottom);
    assert_false(und_sea_fits(&thin));
    assert_int_not_equal(s->painter->class->take(s->painter, &thin, &err), UND_OK);
    close_stand(s);
    und_frame_clear(&good);
    und_frame_clear(&other);
    und_frame_clear(&thin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_water_is_fresnel_and_beer),
        cmocka_unit_test(shore_is_seen_where_it_is),
        cmocka_unit_test(pick_agrees_with_the_drawn_depth),
        cmocka_unit_test(damaged_frames_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
