/* Liquid in two dimensions as it is seen: pixels are where things are, and colours what the legend says. */
#include "base/random.h"
#include "tests/test.h"
#include "view/colormap.h"
#include "view/flat.h"
#include "view/screen.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 320, HEIGHT = 240, NX = 16, NY = 12 };

/* 16 x 12 cells of 0.1 m: a cell is 20 x 20 pixels, the picture the domain. */
static const double CELL = 0.1;

typedef struct stage {
    und_screen *screen;
    und_painter *painter;
    und_flat *flat;
    und_lens lens;
    unsigned char seen[HEIGHT][WIDTH][3];
} stage;

static int set_up_on(void **state, bool small)
{
    und_error err = {0};
    stage *s = calloc(1, sizeof *s);
    s->screen = und_screen_create(
        &(und_screen_def){.width = WIDTH, .height = HEIGHT, .offscreen = true, .small = small}, &err);
    if (!s->screen)
        fail_msg("%s", err.text);
    static const und_picture_def look = {.vertical = 1, .drying = 8, .wet_darkening = 0.5};
    s->painter = und_flat_create(&look, &err);
    if (!s->painter)
        fail_msg("%s", err.text);
    s->flat = (und_flat *)s->painter;
    s->flat->show_arrows = s->flat->show_markers = s->flat->show_surface = false;
    *state = s;
    return 0;
}

static int set_up(void **state)
{
    return set_up_on(state, false);
}
/* OpenGL ES 3.0 */
static int set_up_small(void **state)
{
    return set_up_on(state, true);
}

static int tear_down(void **state)
{
    stage *s = *state;
    s->painter->class->destroy(s->painter);
    und_screen_destroy(s->screen);
    free(s);
    return 0;
}

static und_frame new_frame(int ny)
{
    return und_frame_empty(
        1, 0, (und_grid){.n = {NX, ny, 1}, .dx = CELL, .dy = CELL, .dz = CELL, .origin = {5, -3, 0}});
}

static void *add(und_frame *frame, const char *name, und_type type, size_t rows, size_t columns)
{
    und_error err;
    und_item_def def = {
        .name = "", .unit = "1", .kind = UND_FIELD, .type = type, .rank = 2, .dim = {rows, columns}};
    def.name = name;
    und_item *item = und_frame_add(frame, &def, &err);
    assert_non_null(item);
    return item->data;
}

/* All cells of one kind. */
static uint8_t *add_labels(und_frame *frame, und_label label)
{
    uint8_t *labels = add(frame, "label", UND_U8, NY, NX);
    memset(labels, (int)label, (size_t)NX * NY);
    return labels;
}

static void draw(stage *s, const und_frame *frame, bool whole)
{
    und_error err;
    if (s->painter->class->take(s->painter, frame, &err) != UND_OK)
        fail_msg("%s", err.text);
    double low[3], high[3];
    s->painter->class->bounds(s->painter, low, high);
    double look[3] = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]};
    und_camera camera = {.flat = true};
    double tall = whole ? NX * CELL * HEIGHT / WIDTH : 0.2 * NX * CELL;
    und_camera_look(&camera, (double[]){look[0], look[1], look[2] + tall}, look, 0.7);
    s->lens = und_camera_lens(&camera, (int[]){0, 0, WIDTH, HEIGHT}, HEIGHT, 2);
    und_screen_bind(s->screen);
    glClearColor(1, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    s->painter->class->draw(s->painter, &s->lens, 0);
    und_gl_read(0, 0, WIDTH, HEIGHT, s->seen[0][0]);
}

/* The pixel where a place is seen. */
static const unsigned char *pixel(const stage *s, double x, double y)
{
    double px, py;
    assert_true(und_lens_project(&s->lens, (double[]){x, y, 0.05}, &px, &py));
    assert_true(px >= 0 && py >= 0 && px < WIDTH && py < HEIGHT);
    return s->seen[(int)py][(int)px];
}

static bool is_blue(const unsigned char *rgb)
{
    return rgb[2] > rgb[0] + 40;
}

static void a_marker_is_seen_where_it_is(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    uint8_t *label = add_labels(&frame, UND_CELL_EMPTY);
    float *place = add(&frame, "markers/position", UND_F32, 3, 3);
    const float places[9] = {5.43f, -2.27f, 0.05f, 6.11f, -2.9f, 0.05f, NAN, 0, 0};
    memcpy(place, places, sizeof places);
    label[7 * NX + 4] = label[NX + 11] = UND_CELL_SURFACE;
    s->flat->show_markers = true;
    draw(s, &frame, true);
    for (int k = 0; k < 2; k++) {
        const unsigned char *rgb = pixel(s, (double)places[3 * k], (double)places[3 * k + 1]);
        assert_true(is_blue(rgb) && rgb[0] < 140);
        /* and nowhere near: the dot is no wider than 7 pixels, and one marker fills no cell */
        assert_false(is_blue(pixel(s, (double)places[3 * k] + 0.04, (double)places[3 * k + 1])));
        assert_false(is_blue(pixel(s, (double)places[3 * k], (double)places[3 * k + 1] - 0.04)));
    }
    und_frame_clear(&frame);
}

/* Markers all over half the domain: the surface is at their end. */
static void markers_fill_the_liquid(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    uint8_t *label = add_labels(&frame, UND_CELL_EMPTY);
    float *place = add(&frame, "markers/position", UND_F32, NX * 5 * 25, 3);
    for (int c = 0; c < NX * 5; c++) {
        label[c] = c < NX * 4 ? UND_CELL_FULL : UND_CELL_SURFACE;
        for (int k = 0; k < 25; k++) {
            float *p = place + 3 * (25 * c + k);
            p[0] = (float)(5 + CELL * (c % NX + (k % 5 + 0.5) / 5));
            p[1] = (float)(-3 + CELL * (c / NX + 0.6 * (k / 5 + 0.5) / 5)); /* 0.6 of each cell */
        }
    }
    draw(s, &frame, true);
    double wet = 0;
    for (int y = 0; y < HEIGHT; y++)
        wet += is_blue(s->seen[y][WIDTH / 2]);
    /* four cells, and of the fifth at least the 0.6 where markers are */
    assert_in_range((int)wet, 88, 96);
    und_frame_clear(&frame);
}

static void colours_are_those_of_the_legend(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    add_labels(&frame, UND_CELL_FULL);
    float *pressure = add(&frame, "pressure", UND_F32, NY, NX);
    float *u = add(&frame, "velocity_x", UND_F32, NY, NX + 1),
          *v = add(&frame, "velocity_y", UND_F32, NY + 1, NX);
    for (int c = 0; c < NX * NY; c++)
        pressure[c] = (float)(1000 * 9.81 * CELL * (NY - c / NX - 0.5));
    for (int c = 0; c < NY * (NX + 1); c++)
        u[c] = -2.5f * (float)(CELL * (c / (NX + 1) + 0.5)); /* a vorticity of 2.5 1/s */
    memset(v, 0, sizeof *v * NX * (NY + 1));
    for (int field = UND_FLAT_PRESSURE; field < UND_FLAT_FIELDS; field++) {
        double low, high;
        int map;
        s->flat->colors = (und_flat_field)field;
        draw(s, &frame, true);
        und_flat_range(s->flat, s->flat->colors, &low, &high, &map);
        for (int j = 1; j < NY - 1; j++) {
            double height = CELL * (j + 0.5), value = 1000 * 9.81 * (NY * CELL - height);
            value = field == UND_FLAT_SPEED ? 2.5 * height : field == UND_FLAT_VORTICITY ? 2.5 : value;
            assert_true(value <= high && value >= low);
            float rgb[3];
            und_colormap(map, (value - low) / (high - low), rgb);
            for (int k = 0; k < 3; k++)
                assert_double_near(pixel(s, 5.77, -3 + height)[k], 255 * (double)rgb[k], 3);
        }
    }
    und_frame_clear(&frame);
}

/* The bar has the lowest colour below and the highest on top, evenly. */
static void the_legend_has_the_maps_colours(void **state)
{
    stage *s = *state;
    und_error err;
    und_ui *ui = und_ui_create(1, &err);
    assert_non_null(ui);
    for (int map = 0; map < UND_MAPS; map++) {
        und_screen_bind(s->screen);
        glClear(GL_COLOR_BUFFER_BIT);
        und_ui_begin(ui, WIDTH, HEIGHT, 0.02);
        und_legend_draw(ui, 10, 10, 200, map, -3, 7, "Pressure", "Pa");
        und_ui_end(ui);
        und_gl_read(0, 0, WIDTH, HEIGHT, s->seen[0][0]);
        double text, line;
        und_ui_text_size(ui, "Pressure, Pa", &text, &line);
        double top = 10 + 8 + 1.5 * line, tall = 200 - 16 - 2 * line;
        for (int i = 1; i < 10; i++) {
            float rgb[3];
            und_colormap(map, 0.1 * i, rgb);
            const unsigned char *seen = s->seen[(int)(top + tall * (1 - 0.1 * i))][25];
            for (int k = 0; k < 3; k++)
                assert_double_near(seen[k], 255 * (double)rgb[k], 6);
        }
    }
    und_ui_destroy(ui);
}

static void solids_stand_where_they_are(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    uint8_t *label = add_labels(&frame, UND_CELL_EMPTY), *painted = add(&frame, "painted", UND_U8, NY, NX);
    label[3 * NX + 5] = label[3 * NX + 6] = label[3 * NX + 7] = UND_CELL_SOLID;
    painted[3 * NX + 6] = 1;
    painted[3 * NX + 7] = 2;
    draw(s, &frame, true);
    const unsigned char *stone = pixel(s, 5.55, -2.65), *brown = pixel(s, 5.65, -2.65),
                        *inflow = pixel(s, 5.75, -2.65), *air = pixel(s, 5.45, -2.65);
    assert_in_range(stone[0], 180, 195);
    assert_true(abs(stone[0] - stone[2]) < 10);
    assert_true(brown[0] > brown[2] + 50);
    assert_true(inflow[1] > inflow[0] + 60);
    assert_true(air[0] > 235 && air[2] > 235);
    /* their edges are at the cells' */
    assert_true(pixel(s, 5.487, -2.65)[0] > 235);
    assert_in_range(pixel(s, 5.513, -2.65)[0], 180, 195);
    und_frame_clear(&frame);
}

/* A chain's outline: as much is wet as lies within, and the hole is dry. */
static void chains_are_filled(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    add_labels(&frame, UND_CELL_EMPTY);
    float *place = add(&frame, "chain/position", UND_F32, 7, 3);
    const float outline[7][2] = {{5.2f, -2.8f}, {6.4f, -2.7f}, {5.7f, -1.9f}, {5.6f, -2.6f},
                                 {5.6f, -2.4f}, {5.8f, -2.4f}, {5.8f, -2.6f}};
    for (int k = 0; k < 7; k++)
        memcpy(place + 3 * k, outline[k], sizeof outline[k]);
    und_item_def def = {
        .name = "chain/first", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {3}};
    und_error err;
    memcpy(und_frame_add(&frame, &def, &err)->data, (int32_t[]){0, 3, 7}, 3 * sizeof(int32_t));
    draw(s, &frame, true);
    double wet = 0, pixel_area = CELL / 20 * CELL / 20;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        wet += is_blue(s->seen[i / WIDTH][i % WIDTH]);
    double triangle = 0.5 * (1.2 * 0.9 - 0.5 * 0.1);
    assert_double_near(wet * pixel_area, triangle - 0.04, 0.006);
    assert_false(is_blue(pixel(s, 5.7, -2.5)));
    assert_true(is_blue(pixel(s, 5.7, -2.3)));
    und_frame_clear(&frame);
}

static void arrows_point_along_the_flow(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    add_labels(&frame, UND_CELL_FULL);
    float *u = add(&frame, "velocity_x", UND_F32, NY, NX + 1);
    add(&frame, "velocity_y", UND_F32, NY + 1, NX);
    for (int c = 0; c < NY * (NX + 1); c++)
        u[c] = 2;
    s->flat->show_arrows = true;
    draw(s, &frame, true);
    und_flat_view view = und_flat_view_of(s->flat, &s->lens);
    float arrow[256][4];
    int count = und_flat_arrows(s->flat, &view, arrow, 256);
    assert_true(count >= 40);
    for (int k = 0; k < count; k++) {
        assert_true(arrow[k][2] > 10 && fabsf(arrow[k][3]) < 1e-3f);
        const unsigned char *ink = s->seen[HEIGHT - 1 - (int)arrow[k][1]][(int)arrow[k][0]];
        assert_true(ink[0] < 130 && ink[1] < 130); /* water is 222 there */
    }
    und_frame_clear(&frame);
}

/* Grains of dust go as far as the liquid does. */
static void streaks_follow_the_flow(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    add_labels(&frame, UND_CELL_FULL);
    float *u = add(&frame, "velocity_x", UND_F32, NY, NX + 1),
          *v = add(&frame, "velocity_y", UND_F32, NY + 1, NX);
    for (int c = 0; c < NY * (NX + 1); c++)
        u[c] = 2;
    for (int c = 0; c < (NY + 1) * NX; c++)
        v[c] = -1;
    s->flat->show_streaks = true;
    draw(s, &frame, true);
    frame.time = 0.05;
    draw(s, &frame, true);
    und_flat_view view = und_flat_view_of(s->flat, &s->lens);
    const float(*list)[5];
    int count = und_flat_streaks_list(s->flat, &view, &list);
    assert_true(count > 500);
    for (int k = 0; k < count;
         k++) { /* from the newest place back: 0.1 m left and 0.05 m up, 200 pixels a metre */
        assert_double_near((double)(list[k][2] - list[k][0]), -20, 0.01);
        assert_double_near((double)(list[k][3] - list[k][1]), 10, 0.01);
    }
    frame.time = 9; /* a jump: they are put anew */
    draw(s, &frame, true);
    assert_int_equal(und_flat_streaks_list(s->flat, &view, &list), 0);
    und_frame_clear(&frame);
}

/* A body is seen where it is, turned as it is, and the place under a pixel is that of the pixel. */
static void bodies_and_places(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(NY);
    add_labels(&frame, UND_CELL_EMPTY);
    float *mesh = add(&frame, "bodies/mesh_position", UND_F32, 3, 3);
    memcpy(mesh, (float[]){-0.2f, -0.2f, 0, 0.2f, -0.2f, 0, 0.2f, 0.2f, 0}, 9 * sizeof *mesh);
    float *place = add(&frame, "bodies/position", UND_F32, 1, 3),
          *turn = add(&frame, "bodies/rotation", UND_F32, 1, 4);
    memcpy(place, (float[]){5.6f, -2.5f, 0.05f}, 3 * sizeof *place);
    memcpy(turn, (float[]){0, 0, 0, 1}, 4 * sizeof *turn); /* half a turn about z */
    und_item_def def = {.name = "bodies/mesh_first",
                        .unit = "1",
                        .kind = UND_NUMBERS,
                        .type = UND_I32,
                        .rank = 1,
                        .dim = {2}};
    und_error err;
    memcpy(und_frame_add(&frame, &def, &err)->data, (int32_t[]){0, 3}, 2 * sizeof(int32_t));
    draw(s, &frame, true);
    assert_true(pixel(s, 5.5, -2.4)[0] > pixel(s, 5.5, -2.4)[2] + 50); /* red */
    assert_true(pixel(s, 5.72, -2.62)[2] > 235); /* air: there it would be without turn */
    double origin[3], along[3], point[3], x, y;
    und_lens_ray(&s->lens, 77.5, 31.5, origin, along);
    assert_true(s->painter->class->pick(s->painter, origin, along, point));
    assert_true(und_lens_project(&s->lens, point, &x, &y));
    assert_double_near(x, 77.5, 0.01);
    assert_double_near(y, 31.5, 0.01);
    assert_double_near(point[2], 0.05, 1e-9);
    und_lens_ray(&s->lens, -50, 31.5, origin, along);
    assert_false(s->painter->class->pick(s->painter, origin, along, point));
    und_frame_clear(&frame);
}

/* A curve: ground, water on it as high as it stands, sky; a dry hill. */
static void curves_are_sections(void **state)
{
    stage *s = *state;
    und_frame frame = new_frame(1);
    float *surface = add(&frame, "surface", UND_F32, 1, NX), *ground = add(&frame, "ground", UND_F32, 1, NX);
    for (int i = 0; i < NX; i++) {
        ground[i] = i < 8 ? -0.3f : 0.25f;
        surface[i] = i < 8 ? 0.1f : 0.25f;
    }
    draw(s, &frame, true);
    double up = s->flat->stretch;
    assert_double_near(up, 1, 0);
    assert_true(is_blue(pixel(s, 5.35, 0.05)));
    assert_true(is_blue(pixel(s, 5.35, -0.25)));
    const unsigned char *earth = pixel(s, 5.35, -0.36), *hill = pixel(s, 6.35, 0.2),
                        *sky = pixel(s, 5.35, 0.15), *over = pixel(s, 6.35, 0.3);
    assert_true(earth[0] > earth[2] + 25 && hill[0] > hill[2] + 25);
    assert_true(sky[0] > 200 && sky[2] > 230 && over[0] > 190 && over[2] > 230);
    /* flat water is stretched, and the ray's place is not */
    for (int i = 0; i < NX; i++) {
        ground[i] = -0.02f;
        surface[i] = 0.01f;
    }
    frame.grid.n[0] = NX - 1;
    frame.items[0].dim[1] = frame.items[1].dim[1] = NX - 1;
    draw(s, &frame, false);
    assert_true(s->flat->stretch > 2);
    double origin[3], along[3], point[3];
    assert_true(is_blue(pixel(s, 5.7, 0.005 * s->flat->stretch)));
    und_lens_ray(&s->lens, WIDTH / 2, HEIGHT / 2, origin, along);
    assert_true(s->painter->class->pick(s->painter, origin, along, point));
    assert_double_near(point[1] * s->flat->stretch, origin[1], 1e-6);
    und_frame_clear(&frame);
}

/* Whatever a frame holds: an error or a picture. */
static void damaged_frames_do_no_harm(void **state)
{
    stage *s = *state;
    static const struct {
        const char *name;
        und_type type;
    } items[] = {{"label", UND_U8},
                 {"pressure", UND_F32},
                 {"velocity_x", UND_F32},
                 {"velocity_y", UND_F32},
                 {"markers/position", UND_F32},
                 {"chain/position", UND_F32},
                 {"chain/first", UND_I32},
                 {"surface", UND_F32},
                 {"ground", UND_F32},
                 {"painted", UND_U8},
                 {"spray/position", UND_F32},
                 {"spray/radius", UND_F32},
                 {"bodies/position", UND_F32},
                 {"bodies/mesh_first", UND_I32},
                 {"bodies/rotation", UND_F32},
                 {"bodies/mesh_position", UND_F32}};
    static const size_t shapes[][2] = {{NY, NX}, {NY, NX + 1}, {NY + 1, NX}, {1, NX}, {7, 3}, {0, 3}, {2, 4}};
    s->flat->show_arrows = s->flat->show_markers = s->flat->show_streaks = true;
    uint64_t n = 0;
    for (int round = 0; round < 150; round++) {
        und_frame frame = new_frame(round % 3 == 0 ? 1 : NY);
        frame.time = round % 7 == 0 ? NAN : round;
        if (round % 11 == 0)
            frame.grid.dx = round % 2 ? NAN : -1;
        for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
            size_t which = (size_t)(und_random(1, 2, n++) * 7), right = i == 2   ? 1
                                                                        : i == 3 ? 2
                                                                        : i < 2  ? 0
                                                                                 : which;
            const size_t *shape = shapes[und_random(1, 2, n++) < 0.7 ? right : which];
            unsigned char *data = add(&frame, items[i].name, items[i].type, shape[0], shape[1]);
            size_t bytes = und_item_bytes(&frame.items[frame.count - 1]);
            double kind = und_random(1, 2, n++);
            for (size_t b = 0; b < bytes; b++)
                data[b] = kind < 0.3   ? (unsigned char)(und_random(1, 2, n++) * 256)
                          : kind < 0.5 ? 255
                                       : b % 4 < 1;
        }
        und_error err = {0};
        if (und_flat_fits(&frame) && s->painter->class->take(s->painter, &frame, &err) == UND_OK)
            s->painter->class->draw(s->painter, &s->lens, 0);
        assert_int_equal(glGetError(), GL_NO_ERROR);
        und_frame_clear(&frame);
    }
    und_frame frame = new_frame(NY);
    und_error err;
    assert_int_equal(s->painter->class->take(s->painter, &frame, &err), UND_INVALID);
    und_frame_clear(&frame);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define SMALL(name) cmocka_unit_test_setup_teardown(name, set_up_small, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_marker_is_seen_where_it_is),
        TEST(markers_fill_the_liquid),
        TEST(colours_are_those_of_the_legend),
        TEST(the_legend_has_the_maps_colours),
        TEST(solids_stand_where_they_are),
        TEST(chains_are_filled),
        TEST(arrows_point_along_the_flow),
        TEST(streaks_follow_the_flow),
        TEST(bodies_and_places),
        TEST(curves_are_sections),
        TEST(damaged_frames_do_no_harm),
        SMALL(a_marker_is_seen_where_it_is),
        SMALL(colours_are_those_of_the_legend),
        SMALL(solids_stand_where_they_are),
        SMALL(arrows_point_along_the_flow),
        SMALL(streaks_follow_the_flow),
        SMALL(bodies_and_places),
        SMALL(curves_are_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
