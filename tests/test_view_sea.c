/* The painter of height fields, by known answers read from its pictures. */
#include "stage/optics.h"
#include "tests/frame_item.h"
#include "view/colormap.h"
#include "view/screen.h"
#include "view/sea_parts.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE = 160, HIGH = 120 };

static float sky_texels[2 * 2 * 3];

/* Nothing but what the test is about: an even sky, bare ground, still water. */
static und_picture_def plain_look(const float sky[3], float ground)
{
    static und_image even = {.width = 2, .height = 2, .rgb = sky_texels};
    for (int k = 0; k < 12; k++)
        sky_texels[k] = sky[k % 3];
    und_picture_def look = und_picture_def_default();
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

static stand *open_stand_on(const und_picture_def *look, bool small)
{
    und_error err = {0};
    stand *s = calloc(1, sizeof *s);
    s->screen = und_screen_create(
        &(und_screen_def){.width = WIDE, .height = HIGH, .offscreen = true, .small = small}, &err);
    if (!s->screen)
        fail_msg("%s", err.text);
    s->painter = und_sea_create(look, &err);
    if (!s->painter)
        fail_msg("%s", err.text);
    return s;
}

static stand *open_stand(const und_picture_def *look)
{
    return open_stand_on(look, false);
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
 * of light that comes down and goes up to the eye.  Once more by OpenGL ES 3.0. */
static void flat_water_is_fresnel_and_beer(void **state)
{
    (void)state;
    const float sky[3] = {0.5f, 0.7f, 0.9f};
    for (int turn = 0; turn < 3; turn++) {
        int white = turn > 0;
        und_picture_def look = plain_look(sky, (float)white);
        und_frame frame = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
        stand *s = open_stand_on(&look, turn == 2);
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
    und_picture_def look = plain_look((float[]){0.8f, 0.8f, 0.8f}, 1);
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
    und_picture_def look = und_picture_def_default();
    und_frame frame = make_frame(100, 100, 0.1, hills, flat_bottom);
    stand *s = open_stand(&look);
    show(s, &frame);
    draw_from(s, (double[]){5, 4, 12}, (double[]){5, 0, 5});
    static float depth[HIGH][WIDE];
    glReadPixels(0, 0, WIDE, HIGH, GL_DEPTH_COMPONENT, GL_FLOAT, depth);
    int met = 0, missed = 0;
    for (int y = 5; y < HIGH - 1; y += 6)
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

static double swell(double x, double z)
{
    return 1 + 0.2 * exp(-((x - 3.2) * (x - 3.2) + (z - 3.2) * (z - 3.2)) / 0.5);
}
static double one_metre(double x, double z)
{
    return 1 + 0 * x * z;
}

/* Light on the ground, as the painter's map has it: mean, least and most over the inner part of the plan. */
static void light_of(const stand *s, double *mean, double *least, double *most)
{
    const und_sea *sea = (const und_sea *)s->painter;
    int width = sea->light.width, height = sea->light.height, count = 0;
    float *texel = malloc(4 * sizeof *texel * (size_t)width * (size_t)height);
    assert_non_null(texel);
    glBindFramebuffer(GL_FRAMEBUFFER, sea->light.buffer);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_FLOAT, texel);
    *mean = *most = 0;
    *least = INFINITY;
    for (int j = height / 10; j < height - height / 10; j++)
        for (int i = width / 10; i < width - width / 10; i++) {
            double light = (double)texel[4 * (j * width + i)];
            *mean += light;
            *most = fmax(*most, light);
            *least = fmin(*least, light);
            count++;
        }
    *mean /= count;
    free(texel);
}

/* Light goes through flat water evenly; a swell gathers it as a lens and loses none of it. */
static void caustics_keep_the_light(void **state)
{
    (void)state;
    und_picture_def look = plain_look((float[]){0.5f, 0.5f, 0.5f}, 1);
    const double suns[2][3] = {{0, 1, 0}, {-0.5, 0.65, -0.4}};
    for (int k = 0; k < 2; k++) {
        double mean, least, most;
        memcpy(look.sun.constant, suns[k], sizeof suns[k]);
        stand *s = open_stand(&look);
        und_frame flat = make_frame(64, 64, 0.1, flat_bottom, one_metre);
        und_frame lens = make_frame(64, 64, 0.1, flat_bottom, swell);
        show(s, &flat);
        light_of(s, &mean, &least, &most);
        assert_double_near(mean, 1, 1e-3);
        assert_double_near(least, 1, 0.01);
        assert_double_near(most, 1, 0.01);
        show(s, &lens);
        light_of(s, &mean, &least, &most);
        assert_double_near(mean, 1, 0.01);
        /* Under the middle, where the swell is as a lens of curvature c: 1 / (1 - (1 - 1/n) c depth)^2. */
        double curved = 2 * 0.2 / 0.5, thin = 1 / pow(1 - (1 - 1 / 1.333) * curved * 1.2, 2);
        if (k == 0)
            assert_double_near(most, thin, 0.08 * thin);
        assert_true(most > 1.3);
        assert_true(least < 0.95);
        close_stand(s);
        und_frame_clear(&flat);
        und_frame_clear(&lens);
    }
}

static double light_at(const stand *s, const double place[3])
{
    double x, y;
    assert_true(und_lens_project(&s->lens, place, &x, &y));
    return (double)und_srgb_decode((float)s->rgb[(int)y][(int)x][1] / 255);
}

static double low_tide(double x, double z)
{
    return -0.6 + 0 * x * z;
}

/* Ground that was under water is half as bright at first and dries evenly; time that runs back dries it. */
static void wet_ground_is_darker_and_dries(void **state)
{
    (void)state;
    und_picture_def look = plain_look((float[]){0.6f, 0.6f, 0.6f}, 0.8f);
    look.tone = false;
    look.wet_darkening = 0.5;
    look.drying = 8;
    stand *s = open_stand(&look);
    und_frame high = make_frame(64, 64, 0.1, ramp, flat_bottom);
    und_frame low = make_frame(64, 64, 0.1, ramp, low_tide);
    const double eye[3] = {3, 5, 7}, at[3] = {3, 0, 3.2};
    const double was_wet[3] = {2.57, 0.4 * (2.57 - 3.17), 3.2}, was_dry[3] = {4.17, 0.4, 3.2};
    const struct {
        double time, share;
    } step[] = {{2, 1 - 0.5 * 0.75}, {6, 1 - 0.5 * 0.25}, {9, 1}};
    show(s, &high);
    for (int k = 0; k < 3; k++) {
        low.time = step[k].time;
        show(s, &low);
        draw_from(s, eye, at);
        assert_double_near(light_at(s, was_wet) / light_at(s, was_dry), step[k].share, 0.03);
    }
    high.time = 10;
    low.time = 9.5;
    show(s, &high);
    show(s, &low);
    draw_from(s, eye, at);
    assert_double_near(light_at(s, was_wet) / light_at(s, was_dry), 1, 0.03);
    close_stand(s);
    und_frame_clear(&high);
    und_frame_clear(&low);
}

/* Cells that are tracked by heights: their grid has layers, and is not square. */
static void cells_with_heights_are_a_sea(void **state)
{
    (void)state;
    und_picture_def look = und_picture_def_default();
    und_frame frame = make_frame(24, 20, 0.25, flat_bottom, half_a_metre);
    frame.grid = (und_grid){.n = {24, 8, 20}, .dx = 0.25, .dy = 0.2, .dz = 0.2};
    assert_true(und_sea_fits(&frame));
    stand *s = open_stand(&look);
    show(s, &frame);
    double low[3], high[3], point[3];
    s->painter->class->bounds(s->painter, low, high);
    assert_double_near(high[0] - low[0], 6, 0.3);
    assert_double_near(high[2] - low[2], 4, 0.3);
    assert_true(s->painter->class->pick(s->painter, (double[]){3, 5, 2}, (double[]){0, -1, 0}, point));
    assert_double_near(point[1], 0.5, 1e-3);
    draw_from(s, (double[]){3, 4, 8}, (double[]){3, 0, 2});
    assert_true(s->rgb[60][80][2] > s->rgb[60][80][0]); /* bluer than sand */
    close_stand(s);
    und_frame_clear(&frame);
}

static float *add_floats(und_frame *frame, const char *name, size_t rows, size_t columns)
{
    und_error err = {0};
    und_item_def def = {.name = name, .unit = "m", .kind = UND_BODIES, .type = UND_F32, .rank = 2};
    def.dim[0] = rows;
    def.dim[1] = columns;
    und_item *item = und_frame_add(frame, &def, &err);
    assert_non_null(item);
    return item->data;
}

/* A red square of half side `half`, level, at a place. */
static void add_body(und_frame *frame, const double place[3], double half)
{
    static const float corner[6][2] = {{-1, -1}, {-1, 1}, {1, 1}, {-1, -1}, {1, 1}, {1, -1}};
    und_error err = {0};
    und_item_def def = {
        .name = "bodies/mesh_first", .unit = "1", .kind = UND_BODIES, .type = UND_I32, .rank = 1, .dim = {2}};
    und_item *first = und_frame_add(frame, &def, &err);
    assert_non_null(first);
    ((int32_t *)first->data)[1] = 6;
    float *mesh = add_floats(frame, "bodies/mesh_position", 6, 3), *color = NULL;
    for (int k = 0; k < 6; k++) {
        mesh[3 * k] = (float)half * corner[k][0];
        mesh[3 * k + 2] = (float)half * corner[k][1];
    }
    color = add_floats(frame, "bodies/mesh_color", 6, 3);
    for (int k = 0; k < 6; k++)
        color[3 * k] = 1;
    float *at = add_floats(frame, "bodies/position", 1, 3);
    for (int a = 0; a < 3; a++)
        at[a] = (float)place[a];
    add_floats(frame, "bodies/rotation", 1, 4)[0] = 1;
}

static bool is_red(const unsigned char rgb[3])
{
    return rgb[0] > 2 * rgb[1] && rgb[0] > 40;
}

/* Bodies are where they are; through water from above nearer by its index, not sideways. */
static void bodies_are_seen_and_picked(void **state)
{
    (void)state;
    und_picture_def look = plain_look((float[]){0.6f, 0.6f, 0.6f}, 0.2f);
    for (int k = 0; k < 3; k++)
        look.absorption[k] = 0.01f;
    for (int sunken = 0; sunken < 2; sunken++) {
        und_frame frame = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
        double y = sunken ? 0.1 : 1, point[3], x, row;
        add_body(&frame, (double[]){3.2, y, 3}, 0.5);
        stand *s = open_stand(&look);
        show(s, &frame);
        draw_from(s, (double[]){3.2, 8, 3.01}, (double[]){3.2, 0, 3});
        assert_true(und_lens_project(&s->lens, (double[]){3.2, y, 3}, &x, &row));
        assert_true(is_red(s->rgb[(int)row][(int)x]));
        int across = 0;
        for (int i = 0; i < WIDE; i++)
            across += is_red(s->rgb[(int)row][i]);
        double deep = sunken ? 0.4 / 1.333 : 0, far = 8 - (sunken ? 0.5 : y) + deep;
        double wide = (double)s->lens.projection[0] * WIDE / 2 / far;
        assert_double_near(across, wide, sunken ? 2.5 : 1.5);
        assert_true(
            s->painter->class->pick(s->painter, (double[]){3.3, 8, 3.1}, (double[]){0, -1, 0}, point));
        assert_double_near(point[1], sunken ? 0.5 : 1, 1e-3);
        close_stand(s);
        und_frame_clear(&frame);
    }
}

/* A drop is where the lens sees it, and nowhere else; drops that are no numbers are none. */
static void drops_are_seen_where_they_are(void **state)
{
    (void)state;
    und_picture_def look = plain_look((float[]){0.05f, 0.05f, 0.05f}, 0);
    look.sun_color[0] = look.sun_color[1] = look.sun_color[2] = 1;
    look.sky_zenith[0] = 0;
    und_frame frame = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
    stand *s = open_stand(&look);
    static unsigned char before[HIGH][WIDE][3];
    const double eye[3] = {3.2, 3, 8}, at[3] = {3.2, 0.5, 3.2}, place[3] = {2.5, 1.2, 3.5};
    show(s, &frame);
    draw_from(s, eye, at);
    memcpy(before, s->rgb, sizeof before);
    float *drop = add_floats(&frame, "spray/position", 1, 3),
          *size = add_floats(&frame, "spray/radius", 1, 1);
    for (int a = 0; a < 3; a++)
        drop[a] = (float)place[a];
    *size = 0.08f;
    show(s, &frame);
    draw_from(s, eye, at);
    double x, y;
    assert_true(und_lens_project(&s->lens, place, &x, &y));
    double reach = 0.08 * (double)s->lens.projection[5] * HIGH / 2 / 4.5 + 2.5;
    int changed = 0;
    for (int j = 0; j < HIGH; j++)
        for (int i = 0; i < WIDE; i++) {
            if (memcmp(before[j][i], s->rgb[j][i], 3) == 0)
                continue;
            assert_true(hypot(i + 0.5 - x, j + 0.5 - y) < reach);
            changed++;
        }
    assert_in_range(changed, 4, 80);
    *drop = NAN;
    show(s, &frame);
    draw_from(s, eye, at);
    assert_memory_equal(before, s->rgb, sizeof before);
    close_stand(s);
    und_frame_clear(&frame);
}

/* All that a frame may have and a person may choose, by OpenGL ES 3.0 too: shaders are taken, and the body is
 * before the water. */
static void all_at_once(void **state)
{
    (void)state;
    und_picture_def look = und_picture_def_default();
    look.haze = 50;
    und_frame frame = make_frame(48, 48, 0.1, hills, flat_bottom);
    add_body(&frame, (double[]){2.4, 1, 2.4}, 0.4);
    float *drop = add_floats(&frame, "rain/position", 1, 3), *carried[4];
    drop[1] = 2;
    static const char *const names[4] = {"foam", "dye", "velocity_x", "velocity_z"};
    for (int k = 0; k < 4; k++) {
        carried[k] = add_floats(&frame, names[k], 48, 48);
        for (int c = 0; c < 48 * 48; c++)
            carried[k][c] = 0.5f;
    }
    stand *s = open_stand_on(&look, true);
    und_sea_options *o = &((und_sea *)s->painter)->options;
    show(s, &frame);
    for (int good = 0; good < 2; good++) {
        *o = (und_sea_options){.quality = good, .caustics = true, .wet = true, .vertical = 1};
        o->lines = good;
        draw_from(s, (double[]){2.4, 4, 5}, (double[]){2.4, 0, 2.4});
        double x, y;
        assert_true(und_lens_project(&s->lens, (double[]){2.4, 1, 2.4}, &x, &y));
        assert_true(is_red(s->rgb[(int)y][(int)x]));
    }
    close_stand(s);
    und_frame_clear(&frame);
}

/* A sheet of water lets through a part of what is behind it, and only there. */
static void sheets_are_seen_through(void **state)
{
    (void)state;
    und_picture_def look = plain_look((float[]){0.9f, 0.9f, 0.9f}, 0);
    und_frame frame = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
    stand *s = open_stand(&look);
    const double eye[3] = {3.2, 4, 8}, at[3] = {3.2, 0.5, 3.2};
    const float corner[9] = {2.2f, 0.8f, 3.5f, 4.2f, 0.8f, 3.5f, 3.2f, 2, 3.5f};
    show(s, &frame);
    draw_from(s, eye, at);
    double x, y;
    assert_true(und_lens_project(&s->lens, (double[]){3.2, 1.1, 3.5}, &x, &y));
    int before = s->rgb[(int)y][(int)x][1], aside = s->rgb[(int)y][10][1];
    memcpy(add_floats(&frame, "sheet/mesh_position", 3, 3), corner, sizeof corner);
    show(s, &frame);
    draw_from(s, eye, at);
    assert_in_range(s->rgb[(int)y][(int)x][1], before + 6,
                    200); /* the sky mirrored on black water's colour */
    assert_int_equal(s->rgb[(int)y][10][1], aside);
    close_stand(s);
    und_frame_clear(&frame);
}

static double two_levels(double x, double z)
{
    return (x < 3.2 ? 0.4 : 0.6) + 0 * z;
}

/* Heights as colours: as the legend has them, whose range is even about the first frame's level. */
static void colours_of_heights_are_the_legends(void **state)
{
    (void)state;
    und_picture_def look = und_picture_def_default();
    und_frame first = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
    und_frame frame = make_frame(64, 64, 0.1, flat_bottom, two_levels);
    stand *s = open_stand(&look);
    show(s, &first);
    show(s, &frame);
    int count;
    const und_action *action = s->painter->class->actions(s->painter, &count);
    for (int k = 0; k < count; k++)
        if (strcmp(action[k].label, "Heights as colours") == 0) {
            assert_false(action[k].checked(s->painter));
            action[k].run(s->painter);
            assert_true(action[k].checked(s->painter));
        }
    draw_from(s, (double[]){3.2, 7, 6}, (double[]){3.2, 0.5, 3.2});
    double low, high;
    und_sea_tint_range((const und_sea *)s->painter, &low, &high);
    assert_double_near(0.5 * (low + high), 0.5, 1e-6);
    assert_in_range((int)(1000 * (high - low)), 199, 230); /* heights between samples may swing beyond */
    for (int side = 0; side < 2; side++) {
        double x, y;
        float color[3];
        und_colormap(UND_MAP_DIVERGING, ((side ? 0.6 : 0.4) - low) / (high - low), color);
        assert_true(und_lens_project(&s->lens, (double[]){side ? 4.5 : 1.9, side ? 0.6 : 0.4, 3.2}, &x, &y));
        for (int k = 0; k < 3; k++)
            assert_double_near(s->rgb[(int)y][(int)x][k], 255 * (double)color[k], 3);
    }
    close_stand(s);
    und_frame_clear(&first);
    und_frame_clear(&frame);
}

/* Seas side by side: a colour means the same height in both, as far as either went, also in the one that
 * stands still. */
static void two_seas_have_one_range_of_colours(void **state)
{
    (void)state;
    und_picture_def look = und_picture_def_default();
    und_error err = {0};
    und_frame calm = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
    und_frame low = make_frame(64, 64, 0.1, flat_bottom, two_levels);
    und_frame high = make_frame(64, 64, 0.1, flat_bottom, one_metre);
    stand *s = open_stand(&look);
    und_painter *second = und_sea_create(&look, &err), *first = s->painter;
    assert_non_null(second);
    show(s, &calm);
    show(s, &low);
    ((und_sea *)first)->options.tinted = true;
    second->class->match(second, first); /* before there is anything to compare */
    draw_from(s, (double[]){3.2, 7, 6}, (double[]){3.2, 0.5, 3.2});
    assert_int_equal(second->class->take(second, &high, &err), UND_OK);
    second->class->match(second, first);
    double range[2][2];
    und_sea_tint_range((const und_sea *)first, &range[0][0], &range[0][1]);
    und_sea_tint_range((const und_sea *)second, &range[1][0], &range[1][1]);
    assert_memory_equal(range[0], range[1], sizeof range[0]);
    assert_double_near(range[0][0], 0, 1e-5); /* even about the level of the first: 0.5 m */
    assert_double_near(range[0][1], 1, 1e-5);
    for (int k = 0; k < 2; k++) {
        double x, y, height = k ? 1 : 0.6;
        float color[3];
        s->painter = k ? second : first;
        draw_from(s, (double[]){3.2, 7, 6}, (double[]){3.2, 0.5, 3.2});
        und_colormap(UND_MAP_DIVERGING, height, color);
        assert_true(und_lens_project(&s->lens, (double[]){4.5, height, 3.2}, &x, &y));
        for (int c = 0; c < 3; c++)
            assert_double_near(s->rgb[(int)y][(int)x][c], 255 * (double)color[c], 3);
    }
    first->class->destroy(first);
    close_stand(s);
    und_frame_clear(&calm);
    und_frame_clear(&low);
    und_frame_clear(&high);
}

/* Exaggerated heights are drawn and bounded alike; what is picked is where it truly is. */
static void exaggerated_heights_agree(void **state)
{
    (void)state;
    und_picture_def look = und_picture_def_default();
    und_frame frame = make_frame(64, 64, 0.1, flat_bottom, half_a_metre);
    stand *s = open_stand(&look);
    double low[3], high[3], point[3];
    show(s, &frame);
    ((und_sea *)s->painter)->options.vertical = 3;
    draw_from(s, (double[]){3.2, 8, 3.3}, (double[]){3.2, 0, 3.2});
    s->painter->class->bounds(s->painter, low, high);
    assert_double_near(high[1], 1.5, 1e-5);
    assert_double_near(und_painter_stretch(s->painter), 3, 0);
    assert_true(s->painter->class->pick(s->painter, (double[]){3.2, 8, 3.2}, (double[]){0, -1, 0}, point));
    assert_double_near(point[1], 0.5, 1e-3);
    assert_true(
        s->painter->class->pick(s->painter, (double[]){1, 3.5, 3.2}, (double[]){0.6, -0.8, 0}, point));
    assert_double_near(point[0], 2.5, 1e-3); /* 2 m down to the water as drawn, and 1.5 m along */
    assert_double_near(point[1], 0.5, 1e-3);
    float depth;
    glReadPixels(WIDE / 2, HIGH / 2, 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT, &depth);
    assert_double_near(along_view(&s->lens, depth), 6.5, 0.02);
    close_stand(s);
    und_frame_clear(&frame);
}

/* What no picture can be made of is refused with its reason; what can be left out is. */
static void damaged_frames_do_no_harm(void **state)
{
    (void)state;
    und_picture_def look = und_picture_def_default();
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
    snprintf(item_of(&other, "ground")->name, 4, "gr");
    show(s, &other); /* no ground: flat */
    draw_from(s, eye, at);
    snprintf(item_of(&other, "surface")->name, 4, "su");
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
        cmocka_unit_test(caustics_keep_the_light),
        cmocka_unit_test(wet_ground_is_darker_and_dries),
        cmocka_unit_test(cells_with_heights_are_a_sea),
        cmocka_unit_test(bodies_are_seen_and_picked),
        cmocka_unit_test(drops_are_seen_where_they_are),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(sheets_are_seen_through),
        cmocka_unit_test(colours_of_heights_are_the_legends),
        cmocka_unit_test(two_seas_have_one_range_of_colours),
        cmocka_unit_test(exaggerated_heights_agree),
        cmocka_unit_test(damaged_frames_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
