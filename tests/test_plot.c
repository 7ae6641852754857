/* Plots of two-dimensional cells: what stands where, and that nothing damaged stops them. */
#include "tests/pictures.h"

#include "render/internal.h"
#include "tests/folder.h"

#include <undine/cells.h>

enum { W = 1600, H = 1200 };

static void *add(und_frame *frame, const char *name, und_type type, size_t rows, size_t columns)
{
    und_error err;
    und_item_def def = {.name = name, .unit = "1", .kind = UND_FIELD, .type = type, .rank = 2};
    def.dim[0] = rows;
    def.dim[1] = columns;
    return und_frame_add(frame, &def, &err)->data;
}

/* nx x ny cells of 0.1 m: a floor and side walls a cell thick, liquid to half the height that turns about the
 * middle of it, hydrostatic. */
static und_frame tank(int nx, int ny)
{
    und_frame frame = und_frame_empty(3, 0.25, (und_grid){.n = {nx, ny, 1}, .dx = 0.1});
    size_t columns = (size_t)nx, rows = (size_t)ny;
    uint8_t *label = add(&frame, "label", UND_U8, rows, columns);
    float *p = add(&frame, "pressure", UND_F32, rows, columns);
    float *u = add(&frame, "velocity_x", UND_F32, rows, columns + 1);
    float *v = add(&frame, "velocity_y", UND_F32, rows + 1, columns);
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            bool solid = nx > 2 && (i == 0 || i == nx - 1 || j == 0), wet = !solid && j < ny / 2;
            label[j * nx + i] = solid ? UND_CELL_SOLID : wet ? UND_CELL_FULL : UND_CELL_EMPTY;
            p[j * nx + i] = wet ? 1000 * 9.81f * 0.1f * (float)(ny / 2 - j) : 0;
        }
    for (int j = 0; j < ny; j++)
        for (int i = 0; i <= nx; i++)
            u[j * (nx + 1) + i] = (float)j - 0.25f * (float)ny;
    for (int j = 0; j <= ny; j++)
        for (int i = 0; i < nx; i++)
            v[j * nx + i] = 0.5f * (float)nx - (float)i - 0.5f;
    return frame;
}

/* `per` x `per` markers in each wet cell. */
static void add_markers(und_frame *frame, int per)
{
    int nx = frame->grid.n[0], ny = frame->grid.n[1];
    const uint8_t *label = und_frame_find(frame, "label")->data;
    size_t count = 0, wet = 0;
    for (int c = 0; c < nx * ny; c++)
        wet += label[c] == UND_CELL_FULL;
    float *m = add(frame, "markers/position", UND_F32, wet * (size_t)(per * per), 3);
    label = und_frame_find(frame, "label")->data;
    for (int c = 0; c < nx * ny; c++)
        for (int k = 0; k < per * per && label[c] == UND_CELL_FULL; k++, count++) {
            m[3 * count] = 0.1f * ((float)(c % nx) + ((float)(k % per) + 0.5f) / (float)per);
            m[3 * count + 1] = 0.1f * ((float)(c / nx) + ((float)(k / per) + 0.5f) / (float)per);
        }
}

static und_picture_def plot_def(unsigned layers)
{
    und_picture_def def = und_picture_def_default();
    def.width = W;
    def.height = H;
    def.plot_panels = 1;
    def.plot[0] = layers;
    return def;
}

/* Where the panel's box is, with a colour bar if it has one: the longest runs of ink.  Rows and columns of
 * pixels, inclusive. */
typedef struct box {
    int x0, y0, x1, y1;
} box;

static float gray(const und_image *image, int x, int y)
{
    return image->rgb[3 * (y * image->width + x) + 1];
}

static box find_box(const und_image *image)
{
    box b = {W, H, -1, -1};
    for (int y = 0; y < H; y++) {
        int dark = 0;
        for (int x = 0; x < W; x++)
            dark += gray(image, x, y) < 0.25f;
        if (dark > W / 4) {
            b.y0 = y < b.y0 ? y : b.y0;
            b.y1 = y;
        }
    }
    for (int x = 0; x < W; x++) {
        int dark = 0;
        for (int y = 0; y < H; y++)
            dark += gray(image, x, y) < 0.25f;
        if (dark > H / 3) {
            b.x0 = x < b.x0 ? x : b.x0;
            b.x1 = x;
        }
    }
    assert_true(b.x1 > b.x0 + 100 && b.y1 > b.y0 + 100);
    return b;
}

/* The pixel at these shares of the box's width and height, from its lower left corner. */
static const float *inside(const und_image *image, const box *b, double x, double y)
{
    int px = (int)(b->x0 + x * (b->x1 - b->x0) + 0.5), py = (int)(b->y1 - y * (b->y1 - b->y0) + 0.5);
    return image->rgb + 3 * (py * image->width + px);
}

static void layers_stand_where_the_cells_are(void **state)
{
    (void)state;
    und_frame frame = tank(20, 20);
    und_picture_def def = plot_def(0);
    und_image image = draw(&def, &frame);
    box b = find_box(&image);
    assert_int_equal(b.x1 - b.x0, b.y1 - b.y0); /* square, as the cells are */
    const float *air = inside(&image, &b, 0.5, 0.75), *water = inside(&image, &b, 0.5, 0.25);
    for (int c = 0; c < 3; c++)
        assert_double_near((double)air[c], 1, 1e-6);
    assert_true(water[2] > water[1] && water[1] > water[0] && water[0] > 0.5f);
    const float *walls[] = {inside(&image, &b, 0.026, 0.6), inside(&image, &b, 0.974, 0.3),
                            inside(&image, &b, 0.4, 0.026)};
    for (int k = 0; k < 3; k++)
        assert_true(fabsf(walls[k][2] - walls[k][0]) < 0.05f && walls[k][1] > 0.25f && walls[k][1] < 0.75f);
    /* The surface lies halfway up, to a pixel. */
    for (int above = 0; above < 2; above++) {
        double half = 0.5 + (above ? 2.0 : -2.0) / (b.y1 - b.y0);
        assert_true((inside(&image, &b, 0.3, half)[0] > 0.99f) == above);
    }
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* The markers' body ends where they do, a marker's rim aside: as in the cells. */
static void markers_fill_their_cells(void **state)
{
    (void)state;
    und_frame frame = tank(20, 20);
    und_picture_def def = plot_def(0);
    add_markers(&frame, 4);
    und_image image = draw(&def, &frame);
    box b = find_box(&image);
    int wet = 0, rows = 0;
    for (int x = b.x0 + (b.x1 - b.x0) / 10; x < b.x1 - (b.x1 - b.x0) / 10; x++, rows++)
        for (int y = b.y0; y < b.y1; y++)
            wet += image.rgb[3 * (y * W + x)] < 0.95f;
    assert_double_near((double)wet / rows / (b.y1 - b.y0), 0.5, 0.012);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* Pressure is coloured by the bar beside it. */
static void pressure_has_the_bars_colours(void **state)
{
    (void)state;
    und_frame frame = tank(20, 40);
    und_picture_def def = plot_def(UND_PLOT_PRESSURE);
    und_render *r = make_render(&def);
    und_image image = draw_with(r, &frame);
    box b = find_box(&image);
    assert_double_near(r->stage->plot_scale.pressure, 20000, 1e-6); /* 19 cells deep: 18,639 Pa */
    for (int j = 3; j < 17; j += 3) {
        double want[3], p = 9810 * (2 - (j + 0.5) * 0.1) + 0.5 * 981;
        const float *seen = inside(&image, &b, 0.475, (j + 0.5) / 40);
        und_stage_plot_color(p / 20000, want);
        for (int c = 0; c < 3; c++)
            assert_double_near((double)und_srgb_encode(seen[c]), want[c], 0.02);
    }
    und_image_destroy(&image);
    und_render_destroy(r);
    und_frame_clear(&frame);
}

/* Steps along the colour map are of equal length in Oklab (Ottosson 2020), and get lighter. */
static void colours_have_even_steps(void **state)
{
    (void)state;
    enum { STEPS = 32 };
    double before[3] = {0}, first = 0;
    for (int k = 0; k <= STEPS; k++) {
        double rgb[3], lab[3], length = 0;
        und_stage_plot_color((double)k / STEPS, rgb);
        for (int c = 0; c < 3; c++)
            rgb[c] = (double)und_srgb_decode((float)rgb[c]);
        double l = cbrt(0.4122214708 * rgb[0] + 0.5363325363 * rgb[1] + 0.0514459929 * rgb[2]);
        double m = cbrt(0.2119034982 * rgb[0] + 0.6806995451 * rgb[1] + 0.1073969566 * rgb[2]);
        double s = cbrt(0.0883024619 * rgb[0] + 0.2817188376 * rgb[1] + 0.6299787005 * rgb[2]);
        lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
        lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
        lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
        for (int c = 0; c < 3; c++)
            length += (lab[c] - before[c]) * (lab[c] - before[c]);
        if (k == 1)
            first = sqrt(length);
        if (k > 1)
            assert_double_near(sqrt(length) / first, 1, 0.01);
        assert_true(k == 0 || lab[0] > before[0]);
        memcpy(before, lab, sizeof before);
    }
}

/* How much ink arrows put into each quarter of the liquid, and where its middle is. */
static double ink(const und_image *with, const und_image *without, const box *b, double mean[2])
{
    double sum = 0;
    mean[0] = mean[1] = 0;
    for (int y = b->y0; y <= b->y1; y++)
        for (int x = b->x0; x <= b->x1; x++) {
            double d = fabs((double)gray(with, x, y) - (double)gray(without, x, y));
            sum += d;
            mean[0] += d * x;
            mean[1] += d * y;
        }
    mean[0] /= sum;
    mean[1] /= sum;
    return sum;
}

/* One arrow, in the middle of its cell, as long as the scale says; none where nothing moves. */
static void arrows_show_the_velocity(void **state)
{
    (void)state;
    double sum[3], mean[3][2];
    und_picture_def def = plot_def(0), arrows = plot_def(UND_PLOT_VELOCITY);
    for (int k = 0; k < 3; k++) {
        und_frame frame = tank(9, 9);
        uint8_t *label = und_frame_find(&frame, "label")->data;
        memset(label, UND_CELL_EMPTY, 81);
        label[4 * 9 + 4] = UND_CELL_FULL;
        float *u = und_frame_find(&frame, "velocity_x")->data,
              *v = und_frame_find(&frame, "velocity_y")->data;
        for (int c = 0; c < 90; c++) {
            u[c] = k == 0 ? 1.0f : 0;
            v[c] = k == 1 ? -1.0f : 0;
        }
        und_image plain = draw(&def, &frame), drawn = draw(&arrows, &frame);
        box b = find_box(&plain);
        sum[k] = ink(&drawn, &plain, &b, mean[k]);
        if (k < 2)
            assert_double_near(mean[k][k ? 0 : 1], k ? 0.5 * (b.x0 + b.x1) : 0.5 * (b.y0 + b.y1), 1);
        und_image_destroy(&plain);
        und_image_destroy(&drawn);
        und_frame_clear(&frame);
    }
    assert_double_near(sum[1] / sum[0], 1, 0.1);
    assert_true(sum[0] > 20);
    assert_double_near(sum[2], 0, 1e-9);
}

/* The mean over the inner part of a cell, of 24 x 16. */
static double cell_mean(const und_image *image, const box *b, int i, int j)
{
    enum { POINTS = 16 };
    double sum = 0;
    for (int k = 0; k < POINTS * POINTS; k++)
        sum += (double)inside(image, b, (i + 0.1 + 0.8 * (k % POINTS + 0.5) / POINTS) / 24,
                              (j + 0.1 + 0.8 * (k / POINTS + 0.5) / POINTS) / 16)[1];
    return sum / (POINTS * POINTS);
}

/* What is symmetric is drawn so: cells equally far from both ends of the box agree. */
static void symmetric_frames_give_symmetric_pictures(void **state)
{
    (void)state;
    und_frame frame = tank(24, 16);
    add_markers(&frame, 3);
    float *u = und_frame_find(&frame, "velocity_x")->data, *v = und_frame_find(&frame, "velocity_y")->data;
    for (int c = 0; c < 25 * 16; c++)
        u[c] = (float)(c % 25 - 12);
    for (int c = 0; c < 24 * 17; c++)
        v[c] = -2;
    und_picture_def def = plot_def(UND_PLOT_MARKERS | UND_PLOT_VELOCITY);
    und_image image = draw(&def, &frame);
    box b = find_box(&image);
    for (int j = 1; j < 16; j++)
        for (int i = 1; i < 12; i++) /* without the concrete, whose grains are scattered */
            assert_double_near(cell_mean(&image, &b, i, j), cell_mean(&image, &b, 23 - i, j), 0.01);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

static void add_chains(und_frame *frame, int links)
{
    float *p = add(frame, "chain/position", UND_F32, (size_t)links, 3);
    und_error err;
    und_item_def def = {
        .name = "chain/first", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {2}};
    int32_t *first = und_frame_add(frame, &def, &err)->data;
    first[1] = links;
    p = und_frame_find(frame, "chain/position")->data;
    for (int k = 0; k < links; k++) {
        p[3 * k] = (float)(1 + 0.5 * cos(2 * M_PI * k / links));
        p[3 * k + 1] = (float)(1 + 0.5 * sin(2 * M_PI * k / links));
    }
}

/* A round chain is filled: its share of the box is that of the circle. */
static void chains_are_filled(void **state)
{
    (void)state;
    und_frame frame = tank(20, 20);
    memset(und_frame_find(&frame, "label")->data, UND_CELL_EMPTY, 400);
    add_chains(&frame, 90);
    und_picture_def def = plot_def(0);
    und_image image = draw(&def, &frame);
    box b = find_box(&image);
    double wet = 0;
    for (int y = b.y0 + 3; y < b.y1 - 3; y++)
        for (int x = b.x0 + 3; x < b.x1 - 3; x++)
            wet += image.rgb[3 * (y * W + x)] < 0.9f;
    assert_double_near(wet / ((b.x1 - b.x0) * (b.y1 - b.y0)), M_PI * 0.25 / 4, 0.006);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* A sound frame with everything in it. */
static und_frame full_frame(int nx, int ny)
{
    und_frame frame = tank(nx, ny);
    add_markers(&frame, 2);
    return frame;
}

/* A square plate of half a side of 0.2 m, both of its faces, turned by 45 degrees at (1, 1.5). */
static void add_plate(und_frame *frame)
{
    static const float corner[4][2] = {{-0.2f, -0.2f}, {0.2f, -0.2f}, {0.2f, 0.2f}, {-0.2f, 0.2f}};
    static const int order[12] = {0, 1, 2, 0, 2, 3, 2, 1, 0, 3, 2, 0};
    und_item_def first = {.name = "bodies/mesh_first", .unit = "1", .kind = UND_BODIES, .type = UND_I32};
    first.rank = 1;
    first.dim[0] = 2;
    und_error err;
    ((int32_t *)und_frame_add(frame, &first, &err)->data)[1] = 12;
    float *mesh = add(frame, "bodies/mesh_position", UND_F32, 12, 3);
    float *color = add(frame, "bodies/mesh_color", UND_F32, 12, 3);
    float *at = add(frame, "bodies/position", UND_F32, 1, 3);
    float *turn = add(frame, "bodies/rotation", UND_F32, 1, 4);
    for (int k = 0; k < 12; k++) {
        mesh[3 * k] = corner[order[k]][0];
        mesh[3 * k + 1] = corner[order[k]][1];
        mesh[3 * k + 2] = k < 6 ? 0.05f : -0.05f;
        color[3 * k] = 0.1f;
        color[3 * k + 1] = 0.3f;
        color[3 * k + 2] = 0.8f;
    }
    at[0] = 1;
    at[1] = 1.5f;
    turn[0] = cosf(0.3926991f);
    turn[3] = sinf(0.3926991f);
}

static void bodies_are_drawn(void **state)
{
    (void)state;
    und_frame frame = tank(20, 20);
    und_picture_def def = plot_def(0);
    add_plate(&frame);
    und_image image = draw(&def, &frame);
    box b = find_box(&image);
    static const double in[][2] = {{1, 1.5}, {1.25, 1.5}, {1, 1.25}, {0.88, 1.62}};
    static const double out[][2] = {{1.32, 1.5}, {1.18, 1.68}, {0.82, 1.32}};
    for (int k = 0; k < 4; k++) {
        const float *p = inside(&image, &b, in[k][0] / 2, in[k][1] / 2);
        assert_double_near((double)p[0], 0.1, 0.02);
        assert_double_near((double)p[1], 0.3, 0.02);
        assert_double_near((double)p[2], 0.8, 0.02);
    }
    for (int k = 0; k < 3; k++)
        assert_double_near((double)inside(&image, &b, out[k][0] / 2, out[k][1] / 2)[0], 1, 1e-6);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

static void damaged_frames_are_drawn_without_what_is_damaged(void **state)
{
    (void)state;
    static const char *const name[] = {"pressure", "velocity_x", "velocity_y", "markers/position"};
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
    und_picture_def def = plot_def(UND_PLOT_MARKERS | UND_PLOT_VELOCITY | UND_PLOT_PRESSURE);
    def.width = 96;
    def.height = 64;
    und_render *r = make_render(&def);
    for (int n = 0; n < 4; n++)
        for (int way = 0; way < 8; way++) {
            und_frame frame = full_frame(7, 9);
            und_item *item = &frame.items[und_frame_find(&frame, name[n]) - frame.items];
            size_t count = und_item_count(item);
            if (way == 0)
                item->name[0] = '-';
            else if (way == 1)
                item->dim[0]--;
            else if (way == 2)
                item->type = UND_U8;
            for (size_t k = 0; k < count && way > 2; k++)
                ((float *)item->data)[k] = bad[way - 3];
            und_image image = draw_with(r, &frame);
            for (int k = 0; k < 3 * 96 * 64; k++)
                assert_true(image.rgb[k] >= 0 && image.rgb[k] <= 1);
            und_image_destroy(&image);
            und_frame_clear(&frame);
        }
    und_render_destroy(r);
}

static void damaged_chains_are_left_out(void **state)
{
    (void)state;
    static const int32_t wrong[] = {91, -3, INT32_MAX, INT32_MIN};
    und_picture_def def = plot_def(0);
    for (int way = 0; way < 6; way++) {
        und_frame frame = tank(20, 20);
        memset(und_frame_find(&frame, "label")->data, UND_CELL_EMPTY, 400);
        add_chains(&frame, 90);
        if (way < 4)
            ((int32_t *)und_frame_find(&frame, "chain/first")->data)[1] = wrong[way];
        else if (way == 4)
            frame.items[und_frame_find(&frame, "chain/position") - frame.items].dim[1] = 2;
        else
            for (int k = 0; k < 270; k++)
                ((float *)und_frame_find(&frame, "chain/position")->data)[k] = NAN;
        und_image image = draw(&def, &frame);
        box b = find_box(&image);
        assert_double_near((double)inside(&image, &b, 0.5, 0.5)[0], 1, 1e-6);
        und_image_destroy(&image);
        und_frame_clear(&frame);
    }
}

/* One cell, no liquid, no markers, pictures of a pixel: all are drawn; labels that are missing are an error.
 */
static void least_frames_are_drawn(void **state)
{
    (void)state;
    static const int size[][2] = {{1, 1}, {1, 9}, {9, 1}, {3, 3}, {400, 1}};
    static const int page[][2] = {{1, 1}, {37, 3}, {2, 90}, {W, H}};
    for (int s = 0; s < 5; s++)
        for (int p = 0; p < 4; p++) {
            und_picture_def def = und_picture_def_default();
            def.width = page[p][0];
            def.height = page[p][1];
            und_frame frame = tank(size[s][0], size[s][1]);
            add(&frame, "markers/position", UND_F32, 0, 3);
            if (p & 1)
                memset(und_frame_find(&frame, "label")->data, s & 1 ? UND_CELL_FULL : 77,
                       (size_t)(size[s][0] * size[s][1]));
            und_image image = draw(&def, &frame);
            und_image_destroy(&image);
            und_frame_clear(&frame);
        }
    und_error err;
    und_image image = {0};
    und_picture_def def = plot_def(0);
    und_render *r = make_render(&def);
    und_frame frame = tank(5, 5);
    frame.items[0].name[0] = '-';
    assert_int_equal(und_render_draw(r, &frame, &image, &err), UND_INVALID);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_render_destroy(r);
}

/* Scales grow at once, stay where values shrink a little, and follow them down in the end. */
static void scales_do_not_flicker(void **state)
{
    (void)state;
    static const float speed[] = {1, 2, 1.5f, 0.6f, 0.375f};
    static const double want[] = {1, 2, 2, 2, 0.4};
    und_picture_def def = plot_def(UND_PLOT_VELOCITY);
    und_render *r = make_render(&def);
    for (int k = 0; k < 5; k++) {
        und_error err;
        und_frame frame = tank(8, 8);
        float *u = und_frame_find(&frame, "velocity_x")->data,
              *v = und_frame_find(&frame, "velocity_y")->data;
        for (int c = 0; c < 72; c++) {
            u[c] = speed[k];
            v[c] = 0;
        }
        assert_int_equal(und_scenery_observe(r->stage, &frame, &err), UND_OK);
        assert_double_near(r->stage->plot_scale.speed, want[k], 1e-6);
        und_frame_clear(&frame);
    }
    und_render_destroy(r);
}

static void svg_and_pdf_are_written(void **state)
{
    (void)state;
    und_error err;
    test_folder_make(&folder);
    const char *path = test_path(&folder, "tank.svg");
    und_picture_def def = und_picture_def_default();
    def.title = "tank";
    und_render *r = make_render(&def);
    und_frame frame = full_frame(12, 16), heights = flat_frame(4, 1, 0, 0.5f);
    und_image image = draw_with(r, &frame);
    assert_int_equal(und_render_vector(r->stage, &frame, UND_VECTOR_SVG, path, &err), UND_OK);
    char *text = read_text(path);
    assert_non_null(strstr(text, "<svg"));
    assert_non_null(strstr(text, "width=\"960"));
    assert_non_null(strstr(text, "</svg>"));
    free(text);
    path = test_path(&folder, "tank.pdf");
    assert_int_equal(und_render_vector(r->stage, &frame, UND_VECTOR_PDF, path, &err), UND_OK);
    text = read_text(path);
    assert_memory_equal(text, "%PDF-1.", 7);
    free(text);
    assert_int_equal(und_render_vector(r->stage, &heights, UND_VECTOR_PDF, path, &err), UND_INVALID);
    assert_int_equal(und_render_vector(r->stage, &frame, UND_VECTOR_PDF, "/nowhere/at.pdf", &err),
                     UND_FAILED);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    und_frame_clear(&heights);
    und_render_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_stand_where_the_cells_are),
        cmocka_unit_test(markers_fill_their_cells),
        cmocka_unit_test(bodies_are_drawn),
        cmocka_unit_test(pressure_has_the_bars_colours),
        cmocka_unit_test(colours_have_even_steps),
        cmocka_unit_test(arrows_show_the_velocity),
        cmocka_unit_test(symmetric_frames_give_symmetric_pictures),
        cmocka_unit_test(chains_are_filled),
        cmocka_unit_test(damaged_frames_are_drawn_without_what_is_damaged),
        cmocka_unit_test(damaged_chains_are_left_out),
        cmocka_unit_test(least_frames_are_drawn),
        cmocka_unit_test(scales_do_not_flicker),
        cmocka_unit_test(svg_and_pdf_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
