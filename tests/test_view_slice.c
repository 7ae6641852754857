/* Slices: what is seen of a field that is known. */
#include "tests/test.h"
#include "view/colormap.h"
#include "view/gl.h"
#include "view/screen.h"
#include "view/slice.h"
#include "view/slice_field.h"

#include <undine/cells.h>

enum { WIDTH = 640, HEIGHT = 480, NX = 16, NY = 12, NZ = 10 };
static const double SIZE = 0.1, ORIGIN[3] = {-0.3, 0.5, 0.2};

typedef double field_fn(double x, double y, double z);

static double linear(double x, double y, double z)
{
    return 3 + 2 * x - 1.5 * y + 0.7 * z;
}

static double level_at_1(double x, double y, double z)
{
    (void)x;
    (void)z;
    return y - 1.03;
}

/* Turns with omega = (1, -2, 3) about a point. */
static double turning_x(double x, double y, double z)
{
    (void)x;
    return -2 * (z - 0.4) - 3 * (y - 0.7);
}

static double turning_y(double x, double y, double z)
{
    (void)y;
    return 3 * (x + 0.1) - 1 * (z - 0.4);
}

static double turning_z(double x, double y, double z)
{
    (void)z;
    return 1 * (y - 0.7) + 2 * (x + 0.1);
}

static und_frame empty_frame(void)
{
    und_grid grid = {.n = {NX, NY, NZ}, .dx = SIZE};
    memcpy(grid.origin, ORIGIN, sizeof ORIGIN);
    return und_frame_empty(1, 0, grid);
}

/* On cells, or on the faces along an axis. */
static float *add(und_frame *frame, const char *name, const char *unit, int faces, field_fn *fn)
{
    und_error err;
    int n[3] = {frame->grid.n[0] + (faces == 0), frame->grid.n[1] + (faces == 1),
                frame->grid.n[2] + (faces == 2)};
    und_item_def def = {name,  unit, faces < 0 ? UND_FIELD : UND_FACES,         UND_F32,
                        false, 3,    {(size_t)n[2], (size_t)n[1], (size_t)n[0]}};
    float *data = und_frame_add(frame, &def, &err)->data;
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                double p[3] = {i + 0.5, j + 0.5, k + 0.5};
                for (int a = 0; a < 3; a++)
                    p[a] = ORIGIN[a] + SIZE * (p[a] - (a == faces ? 0.5 : 0));
                data[(k * n[1] + j) * n[0] + i] = (float)fn(p[0], p[1], p[2]);
            }
    return data;
}

typedef struct board {
    und_screen *screen;
    und_ui *ui;
    und_slice *slice;
    und_lens lens;
    unsigned char rgb[HEIGHT][WIDTH][3];
} board;

static void draw(board *b, float far)
{
    und_screen_bind(b->screen);
    glViewport(0, 0, WIDTH, HEIGHT);
    glClearColor(0, 1, 0, 1);
    glClearDepthf(far);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glClearDepthf(1);
    und_slice_draw(b->slice, &b->lens);
    und_gl_read(0, 0, WIDTH, HEIGHT, b->rgb[0][0]);
}

static void take(board *b, const und_frame *frame)
{
    und_error err = {0};
    if (und_slice_take(b->slice, frame, &err) != UND_OK)
        fail_msg("%s", err.text);
}

static void look_from(board *b, double x, double y, double z)
{
    und_camera camera = {0};
    und_camera_look(&camera, (double[]){x, y, z}, (double[]){0.5, 1.1, 0.7}, 0.8);
    b->lens = und_camera_lens(&camera, (int[]){0, 0, WIDTH, HEIGHT}, HEIGHT, 3);
}

static int open_board_on(void **state, bool small)
{
    static board b;
    und_error err = {0};
    und_screen_def def = {.width = WIDTH, .height = HEIGHT, .offscreen = true, .small = small};
    b.screen = und_screen_create(&def, &err);
    b.ui = b.screen ? und_ui_create(1, &err) : NULL;
    b.slice = b.ui ? und_slice_create(&err) : NULL;
    if (!b.slice) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    look_from(&b, 2.6, 2, 3);
    *state = &b;
    return 0;
}

static int open_board(void **state)
{
    return open_board_on(state, false);
}

static int open_small_board(void **state)
{
    return open_board_on(state, true);
}

static int close_board(void **state)
{
    board *b = *state;
    und_slice_destroy(b->slice);
    und_ui_destroy(b->ui);
    und_screen_destroy(b->screen);
    return 0;
}

/* A slice as it is at first, but on. */
static und_slice_look *begin(board *b, const char *field)
{
    und_error err = {0};
    und_slice_destroy(b->slice);
    b->slice = und_slice_create(&err);
    assert_non_null(b->slice);
    und_slice_look *look = und_slice_looks(b->slice);
    look->on = true;
    snprintf(look->field, sizeof look->field, "%s", field);
    return look;
}

static void expect_color(const board *b, const double point[3], const float rgb[3], int tolerance)
{
    double x, y;
    assert_true(und_lens_project(&b->lens, point, &x, &y));
    assert_true(und_lens_holds(&b->lens, x, y));
    const unsigned char *seen = b->rgb[(int)y][(int)x];
    for (int k = 0; k < 3; k++)
        if (abs(seen[k] - (int)lround(255 * (double)rgb[k])) > tolerance)
            fail_msg("at %.3f, %.3f, %.3f m, pixel %.0f, %.0f: %d %d %d, expected %.0f %.0f %.0f", point[0],
                     point[1], point[2], x, y, seen[0], seen[1], seen[2], 255 * (double)rgb[0],
                     255 * (double)rgb[1], 255 * (double)rgb[2]);
}

static const float background[3] = {0, 1, 0};

/* Across each axis, at a place between two layers of cells: the colour of the value, at the pixel of the
 * point. */
static void linear_fields_have_the_maps_colours(void **state)
{
    board *b = *state;
    und_frame frame = empty_frame();
    add(&frame, "pressure", "Pa", -1, linear);
    for (int axis = 0; axis < 3; axis++)
        for (int map = -1; map < UND_MAPS; map++) {
            und_slice_look *look = begin(b, "pressure");
            look->axis = axis;
            look->place = ORIGIN[axis] + 0.437;
            look->map = map;
            look->automatic = false;
            look->low = 0.5;
            look->high = 4.5;
            take(b, &frame);
            draw(b, 1);
            int n[3] = {NX, NY, NZ};
            for (int i = 0; i < 25; i++) { /* within the middles of the outermost cells it is linear */
                double point[3];
                double share[2] = {(i % 5 + 0.5) / 5, (i / 5 + 0.5) / 5};
                point[axis] = look->place;
                for (int k = 0; k < 2; k++) {
                    int a = (axis + 1 + k) % 3;
                    point[a] = ORIGIN[a] + SIZE * (0.5 + share[k] * (n[a] - 1));
                }
                float rgb[3];
                double value = linear(point[0], point[1], point[2]);
                und_colormap(map < 0 ? UND_MAP_EVEN : map, (value - 0.5) / 4, rgb);
                expect_color(b, point, rgb, 6); /* a pixel is up to 0.01 of the range */
                double probed, x, y, met[3];
                assert_true(und_lens_project(&b->lens, point, &x, &y));
                assert_true(und_slice_probe(b->slice, &b->lens, x, y, &probed, met));
                assert_double_near(probed, value, 1e-4);
                for (int k = 0; k < 3; k++)
                    assert_double_near(met[k], point[k], 1e-4);
            }
            double corner[3] = {ORIGIN[0] - 0.05, ORIGIN[1] - 0.05,
                                ORIGIN[2] - 0.05}; /* beside it: nothing */
            corner[axis] = look->place;
            expect_color(b, corner, background, 0);
        }
    und_frame_clear(&frame);
}

static void add_turning(und_frame *frame)
{
    add(frame, "velocity_x", "m/s", 0, turning_x);
    add(frame, "velocity_y", "m/s", 1, turning_y);
    add(frame, "velocity_z", "m/s", 2, turning_z);
}

/* The vorticity of what turns as one is twice its rate, in every cell, also those at the border. */
static void vorticity_of_a_rotation(void **state)
{
    (void)state;
    und_frame frame = empty_frame();
    add_turning(&frame);
    und_slice_source source;
    assert_true(und_slice_open(&source, &frame));
    const und_slice_field *across = und_slice_find(&source, "vorticity across");
    const und_slice_field *length = und_slice_find(&source, "vorticity"),
                          *speed = und_slice_find(&source, "speed");
    assert_non_null(across);
    assert_non_null(length);
    assert_string_equal(length->unit, "1/s");
    assert_true(across->two_signs && !length->two_signs);
    for (int c = 0; c < NX * NY * NZ; c += 7) {
        int cell[3] = {c % NX, c / NX % NY, c / NX / NY};
        assert_double_near(und_slice_cell(&source, across, cell, 0), 2, 1e-4);
        assert_double_near(und_slice_cell(&source, across, cell, 1), -4, 1e-4);
        assert_double_near(und_slice_cell(&source, across, cell, 2), 6, 1e-4);
        assert_double_near(und_slice_cell(&source, length, cell, 2), 2 * sqrt(14), 1e-4);
        double p[3];
        for (int a = 0; a < 3; a++)
            p[a] = ORIGIN[a] + SIZE * (cell[a] + 0.5);
        double u = turning_x(p[0], p[1], p[2]), v = turning_y(p[0], p[1], p[2]),
               w = turning_z(p[0], p[1], p[2]);
        assert_double_near(und_slice_cell(&source, speed, cell, 2), sqrt(u * u + v * v + w * w), 1e-4);
    }
    double flow[2]; /* in the plane across y: z, then x */
    assert_true(und_slice_flow(&source, 1, ORIGIN[1] + 0.33, ORIGIN[2] + 0.25, ORIGIN[0] + 0.75, flow));
    assert_double_near(flow[0], turning_z(ORIGIN[0] + 0.75, ORIGIN[1] + 0.33, ORIGIN[2] + 0.25), 1e-4);
    assert_double_near(flow[1], turning_x(ORIGIN[0] + 0.75, ORIGIN[1] + 0.33, ORIGIN[2] + 0.25), 1e-4);
    und_frame_clear(&frame);
}

/* Colour below the surface, nothing above it, a dark line at it. */
static void only_the_liquid(void **state)
{
    board *b = *state;
    und_frame frame = empty_frame();
    add(&frame, "distance", "m", -1, level_at_1);
    add(&frame, "pressure", "Pa", -1, linear);
    und_slice_look *look = begin(b, "pressure");
    look->automatic = false;
    look->low = 0.5;
    look->high = 4.5;
    look->place = 0.66;
    take(b, &frame);
    draw(b, 1);
    float rgb[3];
    double below[3] = {0.6, 0.8, 0.66}, above[3] = {0.6, 1.3, 0.66}, at[3] = {0.6, 1.03, 0.66};
    und_colormap(UND_MAP_EVEN, (linear(below[0], below[1], below[2]) - 0.5) / 4, rgb);
    expect_color(b, below, rgb, 6);
    expect_color(b, above, background, 0);
    double x, y, value, met[3];
    und_lens_project(&b->lens, at, &x, &y);
    int darkest = 999;
    for (int k = -1; k <= 1; k++) {
        const unsigned char *c = b->rgb[(int)y + k][(int)x];
        darkest = c[0] + c[1] + c[2] < darkest ? c[0] + c[1] + c[2] : darkest;
    }
    assert_true(darkest < 120);
    und_lens_project(&b->lens, above, &x, &y);
    assert_false(und_slice_probe(b->slice, &b->lens, x, y, &value, met));
    look->liquid_only = false; /* all of it */
    draw(b, 1);
    und_colormap(UND_MAP_EVEN, (linear(above[0], above[1], above[2]) - 0.5) / 4, rgb);
    expect_color(b, above, rgb, 6);
    und_frame_clear(&frame);
}

/* Behind what is drawn already it is not seen, unless it is to be seen through. */
static void depth_is_tested(void **state)
{
    board *b = *state;
    und_frame frame = empty_frame();
    add(&frame, "pressure", "Pa", -1, linear);
    und_slice_look *look = begin(b, "pressure");
    double point[3] = {0.5, 1.1, ORIGIN[2] + 0.5};
    take(b, &frame);
    look->through = false;
    draw(b, 0);
    expect_color(b, point, background, 0);
    draw(b, 1);
    double x, y;
    und_lens_project(&b->lens, point, &x, &y);
    assert_true(b->rgb[(int)y][(int)x][1] < 250);
    look->through = true;
    draw(b, 0);
    assert_true(b->rgb[(int)y][(int)x][1] < 250);
    assert_false(glIsEnabled(GL_DEPTH_TEST));
    look->on = false;
    draw(b, 1);
    expect_color(b, point, background, 0);
    und_frame_clear(&frame);
}

/* The range is that of the values, symmetric where they have two signs, and does not shrink from frame to
 * frame. */
static void ranges_stay(void **state)
{
    board *b = *state;
    und_frame frame = empty_frame(), weaker = empty_frame(), stronger = empty_frame();
    add_turning(&frame);
    add_turning(&weaker);
    add_turning(&stronger);
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < und_item_count(&weaker.items[i]); k++) {
            ((float *)weaker.items[i].data)[k] *= 0.25f;
            ((float *)stronger.items[i].data)[k] *= 3;
        }
    }
    begin(b, "velocity x");
    take(b, &frame);
    draw(b, 1);
    double range[2], before[2];
    und_slice_range(b->slice, range);
    assert_double_near(range[0], -range[1], 1e-12);
    assert_true(range[1] > 2.5 && range[1] < 4.7); /* the largest is 4.65 */
    memcpy(before, range, sizeof range);
    take(b, &weaker);
    draw(b, 1);
    und_slice_range(b->slice, range);
    assert_double_near(range[1], before[1], 0);
    take(b, &stronger);
    draw(b, 1);
    und_slice_range(b->slice, range);
    assert_double_near(range[1], 3 * before[1], 1e-6);
    snprintf(und_slice_looks(b->slice)->field, 64, "speed"); /* another field begins anew, at 0 */
    take(b, &weaker);
    draw(b, 1);
    und_slice_range(b->slice, range);
    assert_double_near(range[0], 0, 0);
    assert_true(range[1] > 0.3 && range[1] < 2);
    und_frame_clear(&frame);
    und_frame_clear(&weaker);
    und_frame_clear(&stronger);
}

static void missing_values(void **state)
{
    board *b = *state;
    und_frame frame = empty_frame(), other = empty_frame(), none = empty_frame();
    float *pressure = add(&frame, "pressure", "Pa", -1, linear);
    add(&other, "temperature", "1", -1, linear);
    for (int k = 0; k < NZ; k++) /* a block of cells without number */
        for (int j = 3; j < 7; j++)
            for (int i = 5; i < 10; i++)
                pressure[(k * NY + j) * NX + i] = i % 2 ? NAN : INFINITY;
    assert_false(und_slice_fits(&none));
    und_slice_look *look = begin(b, "pressure");
    take(b, &frame);
    draw(b, 1);
    double hole[3] = {ORIGIN[0] + 0.75, ORIGIN[1] + 0.5, ORIGIN[2] + 0.5}, value, met[3], x, y, range[2];
    float pink[3];
    und_colormap(UND_MAP_EVEN, NAN, pink);
    expect_color(b, hole, pink, 2);
    und_lens_project(&b->lens, hole, &x, &y);
    assert_true(und_slice_probe(b->slice, &b->lens, x, y, &value, met));
    assert_true(isnan(value));
    und_slice_range(b->slice, range);
    assert_true(isfinite(range[0]) && isfinite(range[1]) && range[1] < 6);
    take(b, &other); /* it has no such field: another is shown */
    draw(b, 1);
    assert_string_equal(look->field, "temperature");
    take(b, &none);
    draw(b, 1);
    expect_color(b, hole, background, 0);
    for (size_t k = 0; k < (size_t)NX * NY * NZ; k++) /* no number anywhere */
        pressure[k] = NAN;
    begin(b, "pressure");
    take(b, &frame);
    draw(b, 1);
    expect_color(b, hole, pink, 2);
    und_frame_clear(&frame);
    und_frame_clear(&other);
    und_frame_clear(&none);
}

/* Items that do not fit the cells are not listed, whole numbers have nothing between them. */
static void lists_what_there_is(void **state)
{
    (void)state;
    und_frame frame = empty_frame();
    und_error err;
    add(&frame, "distance", "m", -1, level_at_1);
    add(&frame, "velocity_y", "m/s", 0, linear); /* on the wrong faces */
    und_frame_add(&frame, &(und_item_def){"pressure", "Pa", UND_FIELD, UND_F32, false, 3, {NZ, NX, NY}},
                  &err);
    uint8_t *label =
        und_frame_add(&frame, &(und_item_def){"label", "1", UND_FIELD, UND_U8, false, 3, {NZ, NY, NX}}, &err)
            ->data;
    memset(label, UND_CELL_FULL, (size_t)NX * NY * NZ);
    label[1] = UND_CELL_EMPTY;
    und_slice_source source;
    assert_true(und_slice_open(&source, &frame));
    assert_int_equal(source.count, 2);
    assert_string_equal(source.field[0].name, "distance");
    assert_string_equal(source.field[1].name, "label");
    assert_string_equal(source.field[1].unit, "");
    float texel[4 * NX * NX];
    und_slice_plane plane = {.texel = texel};
    und_slice_fill(&source, &source.field[1], 0, ORIGIN[0] + SIZE * 0.8,
                   &plane); /* nearer to the first layer */
    assert_double_near((double)texel[0], UND_CELL_FULL, 0);
    und_slice_fill(&source, &source.field[1], 0, ORIGIN[0] + SIZE * 1.2, &plane);
    assert_double_near((double)texel[0], UND_CELL_EMPTY, 0);
    und_frame_clear(&frame);
}

static double half_linear(double x, double y, double z)
{
    return 0.5 * linear(x, y, z) - 4;
}

/* Two frames: one range for both, and what is left of one without the other. */
static void compares_two(void **state)
{
    board *b = *state;
    und_error err = {0};
    und_frame frame = empty_frame(), lower = empty_frame(), apart = empty_frame();
    apart.grid.dx = 0.09;
    add(&frame, "pressure", "Pa", -1, linear);
    add(&lower, "pressure", "Pa", -1, half_linear);
    add(&apart, "pressure", "Pa", -1, half_linear);
    und_slice *second = und_slice_create(&err);
    assert_non_null(second);
    und_slice_look *look = begin(b, "pressure");
    look->axis = 0;
    double range[2], other[2], x, y, value, met[3], point[3] = {ORIGIN[0] + 0.8, 1.1, 0.6};
    take(b, &frame);
    assert_int_equal(und_slice_take(second, &lower, &err), UND_OK);
    und_slice_match(b->slice, second);
    und_slice_range(b->slice, range);
    und_slice_range(second, other);
    assert_double_near(range[0], other[0], 0);
    assert_double_near(range[1], other[1], 0);
    assert_true(range[0] < -2.6 && range[1] > 3.5);
    assert_int_equal(und_slice_looks(second)->axis, 0);
    look->difference = true;
    und_slice_match(b->slice, second);
    draw(b, 1);
    und_lens_project(&b->lens, point, &x, &y);
    assert_true(und_slice_probe(b->slice, &b->lens, x, y, &value, met));
    assert_double_near(value, 0.5 * linear(point[0], point[1], point[2]) + 4, 1e-4);
    assert_int_equal(und_slice_take(second, &apart, &err), UND_OK); /* other cells: its own are shown */
    und_slice_match(b->slice, second);
    draw(b, 1);
    assert_true(und_slice_probe(b->slice, &b->lens, x, y, &value, met));
    assert_double_near(value, linear(point[0], point[1], point[2]), 1e-4);
    und_slice_destroy(second);
    und_frame_clear(&frame);
    und_frame_clear(&lower);
    und_frame_clear(&apart);
}

/* A pond: its depth is seen on its surface. */
static void heights_are_a_plane_too(void **state)
{
    board *b = *state;
    und_error err;
    und_frame frame =
        und_frame_empty(1, 0, (und_grid){.n = {NX, 1, NZ}, .dx = SIZE, .origin = {ORIGIN[0], 0, ORIGIN[2]}});
    und_item_def def = {"surface", "m", UND_FIELD, UND_F32, false, 2, {NZ, NX}};
    float *surface = und_frame_add(&frame, &def, &err)->data;
    def.name = "ground";
    float *ground = und_frame_add(&frame, &def, &err)->data;
    for (int k = 0; k < NZ; k++)
        for (int i = 0; i < NX; i++) {
            surface[k * NX + i] = 1.2f;
            ground[k * NX + i] = i < 3 ? 1.4f : 1.2f - 0.1f * (float)(i - 2); /* a dry shore */
        }
    und_slice_look *look = begin(b, "depth");
    look->automatic = false;
    look->low = 0;
    look->high = 1.3;
    take(b, &frame);
    draw(b, 1);
    double point[3] = {ORIGIN[0] + SIZE * 9.5, 1.2, ORIGIN[2] + 0.52}, x, y, value, met[3];
    float rgb[3];
    und_colormap(UND_MAP_EVEN, 0.7 / 1.3, rgb);
    und_lens_project(&b->lens, point, &x, &y);
    assert_true(und_slice_probe(b->slice, &b->lens, x, y, &value, met));
    assert_double_near(value, 0.7, 1e-3);
    assert_double_near(met[0], point[0], 1e-3);
    expect_color(b, point, rgb, 6);
    double shore[3] = {ORIGIN[0] + SIZE, 1.2, ORIGIN[2] + 0.52};
    expect_color(b, shore, background, 0);
    und_frame_clear(&frame);
}

/* Heights that are drawn larger: the slice is where the painter has them, the probe says where they are. */
static void stretched_heights_are_met(void **state)
{
    board *b = *state;
    und_error err;
    const double factor = 4;
    und_frame pond =
        und_frame_empty(1, 0, (und_grid){.n = {NX, 1, NZ}, .dx = SIZE, .origin = {ORIGIN[0], 0, ORIGIN[2]}});
    float *surface =
        und_frame_add(&pond, &(und_item_def){"surface", "m", UND_FIELD, UND_F32, false, 2, {NZ, NX}}, &err)
            ->data;
    for (int c = 0; c < NX * NZ; c++)
        surface[c] = 0.275f;
    und_frame cells = empty_frame();
    add(&cells, "pressure", "Pa", -1, linear);
    for (int deep = 0; deep < 2; deep++) { /* a surface; a plane through cells that stands across x */
        double size = deep ? 1 : 0.275, point[3] = {0.5, size, ORIGIN[2] + 0.52}, x, y, value, met[3];
        double drawn[3] = {point[0], factor * point[1], point[2]};
        und_slice_look *look = begin(b, deep ? "pressure" : "surface");
        und_slice_stretch(b->slice, factor);
        look->axis = 0;
        look->place = point[0];
        look->automatic = false;
        look->low = 0;
        look->high = deep ? 5 : 0.5;
        take(b, deep ? &cells : &pond);
        look_from(b, deep ? 9 : 2.6, deep ? 5 : 2, 3);
        draw(b, 1);
        double expected = deep ? linear(point[0], point[1], point[2]) : 0.275;
        float rgb[3];
        und_colormap(UND_MAP_EVEN, expected / look->high, rgb);
        expect_color(b, drawn, rgb, 6);
        assert_true(und_lens_project(&b->lens, drawn, &x, &y));
        assert_true(und_slice_probe(b->slice, &b->lens, x, y, &value, met));
        assert_double_near(value, expected, 1e-3);
        for (int a = 0; a < 3; a++)
            assert_double_near(met[a], point[a], 2e-3);
    }
    look_from(b, 2.6, 2, 3);
    und_frame_clear(&pond);
    und_frame_clear(&cells);
}

static void picture(board *b)
{
    draw(b, 1);
    und_ui_begin(b->ui, WIDTH, HEIGHT, 1 / 60.0);
    if (und_ui_panel(b->ui, "Show", 5, 5, 0))
        und_slice_panel(b->slice, b->ui);
    und_ui_panel_end(b->ui);
    und_slice_annotate(b->slice, &b->lens, b->ui);
    und_ui_end(b->ui);
    und_gl_read(0, 0, WIDTH, HEIGHT, b->rgb[0][0]);
}

static void click(board *b, const char *label, double share)
{
    double r[4];
    if (!und_ui_where(b->ui, label, r))
        fail_msg("%s is not drawn", label);
    und_event event = {.kind = UND_EVENT_MOVE, .x = r[0] + share * (r[2] - r[0]), .y = (r[1] + r[3]) / 2};
    und_ui_event(b->ui, &event);
    picture(b);
    event.kind = UND_EVENT_BUTTON;
    event.down = true;
    und_ui_event(b->ui, &event);
    picture(b);
    event.down = false;
    und_ui_event(b->ui, &event);
    picture(b);
    picture(b);
}

static void panel_and_keys(void **state)
{
    board *b = *state;
    und_frame frame = empty_frame();
    add_turning(&frame);
    und_slice_look *look = begin(b, "speed");
    take(b, &frame);
    picture(b);
    picture(b);
    click(b, "across x", 0.2);
    assert_int_equal(look->axis, 0);
    assert_double_near(look->place, ORIGIN[0] + 0.5 * NX * SIZE, 1e-9); /* the middle at first */
    click(b, "place", 0.8);
    assert_double_near(look->place, ORIGIN[0] + SIZE * (0.5 + 0.8 * (NX - 1)), 0.05);
    click(b, "field", 0.5);
    click(b, "velocity z", 0.5);
    assert_string_equal(look->field, "velocity z");
    int count;
    const und_action *actions = und_slice_actions(&count);
    double before = look->place;
    for (int i = 0; i < count; i++)
        if (actions[i].key == UND_KEY_PAGE_DOWN)
            actions[i].run(b->slice);
    assert_double_near(look->place, before - SIZE, 1e-9);
    for (int i = 0; i < count; i++)
        if (actions[i].key == UND_KEY_PAGE_UP)
            for (int k = 0; k < 100; k++)
                actions[i].run(b->slice);
    assert_double_near(look->place, ORIGIN[0] + SIZE * (NX - 0.5), 1e-9); /* not beyond the cells */
    for (int i = 0; i < count; i++)
        if (actions[i].key == 'N' && !actions[i].mods)
            actions[i].run(b->slice);
    assert_string_equal(look->field, "vorticity");
    static unsigned char without[HEIGHT][WIDTH][3];
    picture(b);
    memcpy(without, b->rgb, sizeof without);
    look->arrows = true;
    picture(b);
    int changed = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            changed += abs(b->rgb[y][x][0] - without[y][x][0]) > 60;
    assert_true(changed > 300);
    und_frame_clear(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_fields_have_the_maps_colours),
        cmocka_unit_test(vorticity_of_a_rotation),
        cmocka_unit_test(only_the_liquid),
        cmocka_unit_test(depth_is_tested),
        cmocka_unit_test(ranges_stay),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(lists_what_there_is),
        cmocka_unit_test(compares_two),
        cmocka_unit_test(heights_are_a_plane_too),
        cmocka_unit_test(stretched_heights_are_met),
        cmocka_unit_test(panel_and_keys),
    };
    const struct CMUnitTest small[] = {
        /* what OpenGL ES 3.0 has to say to the shaders */
        cmocka_unit_test(linear_fields_have_the_maps_colours),
        cmocka_unit_test(only_the_liquid),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(heights_are_a_plane_too),
        cmocka_unit_test(stretched_heights_are_met),
    };
    return cmocka_run_group_tests(tests, open_board, close_board) +
           cmocka_run_group_tests(small, open_small_board, close_board);
}
