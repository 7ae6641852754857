/* The painter of liquid in space, by known answers: where a ball of liquid is seen, and picked. */
#include "base/status.h"
#include "render/render.h"
#include "tests/test.h"
#include "view/colormap.h"
#include "view/gl.h"
#include "view/painter.h"
#include "view/screen.h"
#include "view/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 48, WIDTH = 320, HEIGHT = 240 };

static const double MIDDLE[3] = {0.5, 0.55, 0.45}, RADIUS = 0.22;

/* A box of 1 m with a ball of liquid in it. */
static void make_ball(und_frame *frame)
{
    und_error err = {0};
    *frame = und_frame_empty(1, 0.25, (und_grid){.n = {CELLS, CELLS, CELLS}, .dx = 1.0 / CELLS});
    const und_item_def def = {.name = "distance",
                              .unit = "m",
                              .kind = UND_FIELD,
                              .type = UND_F32,
                              .rank = 3,
                              .dim = {CELLS, CELLS, CELLS}};
    und_item *item = und_frame_add(frame, &def, &err);
    assert_non_null(item);
    float *phi = item->data;
    for (int z = 0; z < CELLS; z++)
        for (int y = 0; y < CELLS; y++)
            for (int x = 0; x < CELLS; x++) {
                double d[3] = {(x + 0.5) / CELLS - MIDDLE[0], (y + 0.5) / CELLS - MIDDLE[1],
                               (z + 0.5) / CELLS - MIDDLE[2]};
                *phi++ = (float)(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - RADIUS);
            }
}

typedef struct stage {
    und_screen *screen;
    und_painter *painter;
    und_picture_def look;
    und_lens lens;
    und_frame frame;
    unsigned char rgb[HEIGHT][WIDTH][3];
} stage;

static stage *make_stage(bool small)
{
    und_error err = {0};
    stage *s = calloc(1, sizeof *s);
    const und_screen_def def = {.width = WIDTH, .height = HEIGHT, .offscreen = true, .small = small};
    s->screen = und_screen_create(&def, &err);
    s->look = und_picture_def_default();
    s->painter = s->screen ? und_space_create(&s->look, &err) : NULL;
    if (!s->painter)
        fail_msg("%s", err.text);
    und_camera camera = {0};
    und_camera_look(&camera, (double[]){1.6, 1.1, 2.4}, (double[]){0.5, 0.5, 0.5}, 0.6);
    s->lens = und_camera_lens(&camera, (int[]){0, 0, WIDTH, HEIGHT}, HEIGHT, 1.7);
    make_ball(&s->frame);
    return s;
}

static int open_stage(void **state)
{
    *state = make_stage(false);
    return 0;
}

static int close_stage(void **state)
{
    stage *s = *state;
    s->painter->class->destroy(s->painter);
    und_screen_destroy(s->screen);
    und_frame_clear(&s->frame);
    free(s);
    return 0;
}

static void show(stage *s)
{
    und_screen_bind(s->screen);
    glViewport(0, 0, WIDTH, HEIGHT);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    s->painter->class->draw(s->painter, &s->lens, 0);
    assert_int_equal(glGetError(), GL_NO_ERROR);
    und_gl_read(0, 0, WIDTH, HEIGHT, s->rgb[0][0]);
}

static void take(stage *s)
{
    und_error err = {0};
    if (s->painter->class->take(s->painter, &s->frame, &err) != UND_OK)
        fail_msg("%s", err.text);
}

/* Does the line of sight through a pixel's middle meet the ball? */
static bool meets_ball(const und_lens *lens, int x, int y)
{
    double from[3], along[3], b = 0, c = -RADIUS * RADIUS;
    und_lens_ray(lens, x + 0.5, y + 0.5, from, along);
    for (int a = 0; a < 3; a++) {
        b += (from[a] - MIDDLE[a]) * along[a];
        c += (from[a] - MIDDLE[a]) * (from[a] - MIDDLE[a]);
    }
    return b * b > c;
}

/* The place that a pixel's depth says. */
static void place_at(const und_lens *lens, int x, int y, float depth, double place[3])
{
    double clip[4] = {2 * (x + 0.5) / WIDTH - 1, 1 - 2 * (y + 0.5) / HEIGHT, 2 * (double)depth - 1, 1}, q[4];
    for (int row = 0; row < 4; row++) {
        q[row] = 0;
        for (int column = 0; column < 4; column++)
            q[row] += (double)lens->inverse[4 * column + row] * clip[column];
    }
    for (int a = 0; a < 3; a++)
        place[a] = q[a] / q[3];
}

typedef float depths[HEIGHT][WIDTH];

static void read_depths(stage *s, depths out)
{
    static depths up;
    for (int i = 0; i < 4; i++) /* until all that was left out in a hurry is there */
        show(s);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_DEPTH_COMPONENT, GL_FLOAT, up);
    for (int y = 0; y < HEIGHT; y++)
        memcpy(out[y], up[HEIGHT - 1 - y], sizeof up[0]);
}

/* Depths that are handed on tell liquid from what is behind it: the outline is the ball's to a pixel. */
static void check_outline(stage *s)
{
    static depths depth;
    int wrong = 0, inside = 0, seen = 0;
    double sum[2][2] = {{0}};
    read_depths(s, depth);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            bool expected = meets_ball(&s->lens, x, y);
            double place[3], off = 0;
            place_at(&s->lens, x, y, depth[y][x], place);
            for (int a = 0; a < 3; a++)
                off += pow(place[a] - MIDDLE[a], 2);
            bool found = sqrt(off) < RADIUS + 0.5 / CELLS;
            inside += expected;
            seen += found;
            wrong += found != expected;
            sum[0][0] += expected * x;
            sum[0][1] += expected * y;
            sum[1][0] += found * x;
            sum[1][1] += found * y;
        }
    double around = 2 * M_PI * sqrt(inside / M_PI);
    assert_true(inside > 2000);
    assert_true(wrong < around); /* a pixel's width all around */
    assert_double_near(sum[0][0] / inside, sum[1][0] / seen, 0.5);
    assert_double_near(sum[0][1] / inside, sum[1][1] / seen, 0.5);
}

static void run(stage *s, const char *label)
{
    int count = 0;
    const und_action *actions = s->painter->class->actions(s->painter, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(actions[i].label, label) == 0) {
            actions[i].run(s->painter);
            return;
        }
    fail_msg("there is no %s", label);
}

static void ball_is_seen_where_it_is(void **state)
{
    stage *s = *state;
    take(s);
    check_outline(s); /* by its distance */
    run(s, "Distance, not triangles");
    check_outline(s);
    take(s);
    check_outline(s);
}

/* Triangles and the distance are the same surface, but at its very edge within a fifth of a cell. */
static void triangles_are_where_the_distance_is(void **state)
{
    stage *s = *state;
    static depths marched, meshed;
    double worst = 0;
    take(s);
    read_depths(s, marched);
    run(s, "Distance, not triangles");
    read_depths(s, meshed);
    for (int y = 1; y + 1 < HEIGHT; y++)
        for (int x = 1; x + 1 < WIDTH; x++) {
            bool inner = true;
            for (int k = 0; k < 9; k++)
                inner = inner && meets_ball(&s->lens, x + k % 3 - 1, y + k / 3 - 1);
            double a[3], b[3];
            place_at(&s->lens, x, y, marched[y][x], a);
            place_at(&s->lens, x, y, meshed[y][x], b);
            double apart = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
            worst = inner ? fmax(worst, apart * CELLS) : worst;
        }
    assert_true(worst > 0 && worst < 0.2);
}

static void add_points(stage *s, const char *name, const float *points, size_t count)
{
    und_error err = {0};
    const und_item_def def = {
        .name = name, .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 2, .dim = {count, 3}};
    und_item *item = und_frame_add(&s->frame, &def, &err);
    assert_non_null(item);
    memcpy(item->data, points, 3 * count * sizeof *points);
}

/* Nothing is made anew: each picture is added to the mean of those before. */
static void check_still(stage *s)
{
    const und_space *v = (const und_space *)s->painter;
    for (int i = 0; i < 4; i++)
        show(s);
    for (int i = 0; i < 4; i++) {
        int before = v->samples;
        show(s);
        assert_int_equal(v->samples, before + 1);
    }
}

/* Pictures of what stands still become smooth also where there is no liquid. */
static void empty_liquid_stands_still(void **state)
{
    stage *s = *state;
    float *phi = s->frame.items[0].data;
    for (size_t i = 0; i < (size_t)CELLS * CELLS * CELLS; i++)
        phi[i] = 0.5f;
    take(s);
    show(s);
    run(s, "Distance, not triangles");
    check_still(s);
    und_frame_clear(&s->frame); /* and where it comes as triangles, of which there are none */
    s->frame = und_frame_empty(1, 0.25, (und_grid){.n = {CELLS, CELLS, CELLS}, .dx = 1.0 / CELLS});
    add_points(s, "liquid/mesh_position", (float[3]){0}, 0);
    take(s);
    ((und_space *)s->painter)->world.coarse = true; /* as after a frame in a hurry */
    check_still(s);
}

/* More cells along an axis than a texture may have: the liquid is there all the same, as triangles. */
static void long_channels_are_shown(void **state)
{
    enum { ACROSS = 6 };
    stage *s = *state;
    und_error err = {0};
    GLint most = 0;
    glGetIntegerv(GL_MAX_3D_TEXTURE_SIZE, &most);
    const size_t along = (size_t)most;
    const double dx = 1.0 / ACROSS, middle = 0.5 * dx * most, level = 0.55;
    und_frame_clear(&s->frame);
    s->frame = und_frame_empty(1, 0.25, (und_grid){.n = {most, ACROSS, ACROSS}, .dx = dx});
    const und_item_def def = {.name = "distance",
                              .unit = "m",
                              .kind = UND_FIELD,
                              .type = UND_F32,
                              .rank = 3,
                              .dim = {ACROSS, ACROSS, along}};
    und_item *item = und_frame_add(&s->frame, &def, &err);
    assert_non_null(item);
    for (size_t i = 0; i < along * ACROSS * ACROSS; i++)
        ((float *)item->data)[i] = (float)(((double)(i / along % ACROSS) + 0.5) * dx - level);
    take(s);
    und_camera camera = {0};
    und_camera_look(&camera, (double[]){middle, 2, 1.1}, (double[]){middle, 0.5, 0.5}, 0.6);
    s->lens = und_camera_lens(&camera, (int[]){0, 0, WIDTH, HEIGHT}, HEIGHT, 1);
    static depths depth;
    read_depths(s, depth);
    double place[3];
    place_at(&s->lens, WIDTH / 2, HEIGHT / 2, depth[HEIGHT / 2][WIDTH / 2], place);
    assert_double_near(place[1], level, 0.05 * dx);
}

/* Floor and sky are as bright as in the preview. */
static void brightness_is_that_of_the_preview(void **state)
{
    stage *s = *state;
    und_error err = {0};
    und_image image = {0};
    und_picture_def def = s->look;
    def.width = WIDTH;
    def.height = HEIGHT;
    def.fov = 0.6 * 180 / M_PI;
    def.eye = (und_vector){.constant = {1.6, 1.1, 2.4}};
    def.look = (und_vector){.constant = {0.5, 0.5, 0.5}};
    und_render *render = und_render_create(&def, &err);
    assert_non_null(render);
    assert_int_equal(und_render_draw(render, &s->frame, &image, &err), UND_OK);
    und_scenery_tone(und_render_stage(render), &image);
    take(s);
    show(s);
    for (int k = 0; k < 4; k++) { /* means of 24 x 24 pixels at the corners */
        for (int c = 0; c < 3; c++) {
            double mean[2] = {0};
            for (int i = 0; i < 24 * 24; i++) {
                int x = (k & 1 ? WIDTH - 24 : 0) + i % 24, y = (k >> 1 ? HEIGHT - 24 : 0) + i / 24;
                mean[0] += s->rgb[y][x][c] / 576.0;
                mean[1] += 255 * (double)und_srgb_encode(image.rgb[3 * (y * WIDTH + x) + c]) / 576.0;
            }
            assert_double_near(mean[0], mean[1], 3);
        }
    }
    und_image_destroy(&image);
    und_render_destroy(render);
}

/* OpenGL ES 3.0 draws the same: ball, box, axes and a marker; nothing is off by more than a step or two, but
 * for some pixels at edges. */
static void small_devices_show_the_same(void **state)
{
    stage *all[2] = {*state, make_stage(true)};
    int off = 0;
    for (int k = 0; k < 2; k++) {
        stage *s = all[k];
        const und_item_def def = {.name = "markers/position",
                                  .unit = "m",
                                  .kind = UND_PARTICLES,
                                  .type = UND_F32,
                                  .rank = 2,
                                  .dim = {1, 3}};
        und_error err = {0};
        memcpy(und_frame_add(&s->frame, &def, &err)->data, (float[]){0.2f, 0.3f, 0.8f}, 3 * sizeof(float));
        und_screen_bind(s->screen);
        take(s);
        run(s, "Boxes and their sizes");
        run(s, "Axes");
        run(s, "Markers");
        run(s, "Distance, not triangles");
        for (int i = 0; i < 3; i++)
            show(s);
        run(s, "Distance, not triangles");
        show(s);
    }
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        off += abs((&all[0]->rgb[0][0][0])[i] - (&all[1]->rgb[0][0][0])[i]) > 2;
    assert_true(off < WIDTH * HEIGHT / 100);
    assert_true(all[1]->rgb[HEIGHT - 2][2][0] > 150); /* sand */
    void *small = all[1];
    close_stage(&small);
    und_screen_bind(all[0]->screen);
}

/* Where the picture changed: how many pixels, and their middle. */
static int changed(const stage *s, unsigned char (*before)[WIDTH][3], double middle[2])
{
    int count = 0;
    middle[0] = middle[1] = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            if (memcmp(s->rgb[y][x], before[y][x], 3) != 0) {
                count++;
                middle[0] += x + 0.5;
                middle[1] += y + 0.5;
            }
    middle[0] /= count > 0 ? count : 1;
    middle[1] /= count > 0 ? count : 1;
    return count;
}

/* With the liquid away a grain covers the disc that its radius has there, or 1.6 pixels, where the lens sees
 * it. */
static void check_grain(stage *s, const char *label, const double place[3], double radius)
{
    static unsigned char before[HEIGHT][WIDTH][3];
    double middle[2], x, y, distance = 0;
    run(s, "Liquid");
    run(s, label);
    show(s);
    memcpy(before, s->rgb, sizeof before);
    run(s, label);
    show(s);
    int count = changed(s, before, middle);
    assert_true(und_lens_project(&s->lens, place, &x, &y));
    for (int a = 0; a < 3; a++)
        distance += (place[a] - (double)s->lens.eye[a]) * (double)s->lens.forward[a];
    double pixels = fmax(radius / distance * (double)s->lens.projection[5] * HEIGHT / 2, 0.8);
    assert_double_near(middle[0], x, 0.5);
    assert_double_near(middle[1], y, 0.5);
    assert_double_near(sqrt(count / M_PI), pixels, 0.5);
}

static void marker_is_seen_where_it_is(void **state)
{
    stage *s = *state;
    const double place[3] = {0.3, 0.7, 0.6};
    add_points(s, "markers/position", (float[]){0.3f, 0.7f, 0.6f}, 1);
    und_error err = {0};
    const und_item_def def = {
        .name = "markers/radius", .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 1, .dim = {1}};
    *(float *)und_frame_add(&s->frame, &def, &err)->data = 0.03f;
    take(s);
    run(s, "Markers");
    check_grain(s, "Markers", place, 0.03);
}

/* Of two grains the faster one has the upper end of the map, as the legend says. */
static void colours_are_those_of_the_legend(void **state)
{
    stage *s = *state;
    const double place[2][3] = {{0.25, 0.6, 0.5}, {0.75, 0.6, 0.5}};
    add_points(s, "markers/position", (float[]){0.25f, 0.6f, 0.5f, 0.75f, 0.6f, 0.5f}, 2);
    add_points(s, "markers/velocity", (float[]){0.6f, 0, -0.8f, 0, 4, 0}, 2);
    und_error err = {0};
    const und_item_def def = {
        .name = "markers/radius", .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 1, .dim = {2}};
    float *radius = und_frame_add(&s->frame, &def, &err)->data;
    radius[0] = radius[1] = 0.05f;
    take(s);
    run(s, "Liquid");
    run(s, "Markers");
    run(s, "Next colours of particles");
    show(s);
    for (int k = 0; k < 2; k++) {
        float rgb[3];
        double x, y;
        assert_true(und_lens_project(&s->lens, place[k], &x, &y));
        und_colormap(UND_MAP_EVEN, k ? 1 : 0.25, rgb); /* 1 of 4 m/s */
        for (int c = 0; c < 3; c++)
            assert_double_near((double)s->rgb[(int)y][(int)x][c], 255 * (double)rgb[c], 4);
    }
}

/* Half way between two frames, on a straight line: control particles are where they act. */
static void control_particle_is_seen_where_it_acts(void **state)
{
    stage *s = *state;
    const float from[1][3] = {{0.2f, 0.6f, 0.5f}}, to[1][3] = {{0.4f, 0.8f, 0.5f}};
    const und_control_particle_frame frames[2] = {
        {.time = 0, .count = 1, .at = from},
        {.time = 0.5, .count = 1, .at = to}}; /* the frame's time is 0.25 */
    und_control_particle_def def = und_control_particle_def_default();
    def.radius = 0.1;
    def.frame_count = 2;
    def.frames = frames;
    und_space_control_particles(s->painter, &def, 1);
    take(s);
    check_grain(s, "Control particles", (double[]){0.3, 0.7, 0.5}, 0.2 / CELLS);
    const float nowhere[1][3] = {{NAN, 0, 0}};
    const und_control_particle_frame bad[1] = {{.time = 0, .count = 1, .at = nowhere}};
    def.frame_count = 1;
    def.frames = bad;
    und_space_control_particles(s->painter, &def, 1);
    take(s); /* without them */
}

/* A wall before the ball hides it, and is what is picked. */
static void solids_hide_what_is_behind(void **state)
{
    stage *s = *state;
    static unsigned char before[HEIGHT][WIDTH][3];
    const float w[18] = {-1, -1, 0.9f, 2, -1, 0.9f, 2, 2, 0.9f, -1, -1, 0.9f, 2, 2, 0.9f, -1, 2, 0.9f};
    double point[3], middle[2];
    add_points(s, "solid/mesh_position", w, 6);
    take(s);
    show(s);
    memcpy(before, s->rgb, sizeof before);
    run(s, "Liquid");
    show(s);
    assert_int_equal(changed(s, before, middle), 0);
    run(s, "Liquid");
    run(s, "Solids");
    show(s);
    assert_true(changed(s, before, middle) > 20000);
    assert_true(s->painter->class->pick(s->painter, (double[]){MIDDLE[0], MIDDLE[1], 3}, (double[]){0, 0, -1},
                                        point));
    assert_double_near(point[2], 0.9, 1e-6);
}

static void check_pole(stage *s)
{
    double away[3], length = 0, point[3];
    take(s);
    for (int a = 0; a < 3; a++) {
        away[a] = (double)s->lens.eye[a] - MIDDLE[a];
        length += away[a] * away[a];
    }
    length = sqrt(length);
    double eye[3], along[3];
    for (int a = 0; a < 3; a++) {
        eye[a] = (double)s->lens.eye[a];
        along[a] = -away[a] / length;
    }
    assert_true(s->painter->class->pick(s->painter, eye, along, point));
    for (int a = 0; a < 3; a++)
        assert_double_near(point[a], MIDDLE[a] + RADIUS * away[a] / length, 0.1 / CELLS);
}

static void pole_is_picked(void **state)
{
    stage *s = *state;
    double point[3];
    check_pole(s);
    /* Beside it the floor. */
    assert_true(s->painter->class->pick(s->painter, (double[]){0.1, 0.9, 0.1}, (double[]){0, -1, 0}, point));
    assert_double_near(point[1], 0, 1e-6);
    assert_false(s->painter->class->pick(s->painter, (double[]){0.1, 0.9, 0.1}, (double[]){0, 1, 0}, point));
}

/* The ball as loose triangles and no distance, as frames of cells have their liquid. */
static void skin_is_seen_and_picked(void **state)
{
    enum { ROUND = 96, UP = 48 };
    stage *s = *state;
    static float corners[ROUND * UP * 6][3];
    size_t count = 0;
    static const int order[6][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 0}, {0, 1}, {1, 1}};
    for (int j = 0; j < UP; j++)
        for (int i = 0; i < ROUND; i++)
            for (int k = 0; k < 6; k++, count++) {
                double turn = 2 * M_PI * ((i + order[k][0]) % ROUND) / ROUND,
                       rise = M_PI * (j + order[k][1]) / UP;
                corners[count][0] = (float)(MIDDLE[0] + RADIUS * sin(rise) * cos(turn));
                corners[count][1] = (float)(MIDDLE[1] + RADIUS * cos(rise));
                corners[count][2] = (float)(MIDDLE[2] + RADIUS * sin(rise) * sin(turn));
            }
    und_frame_clear(&s->frame);
    s->frame = und_frame_empty(1, 0.25, (und_grid){.n = {CELLS, CELLS, CELLS}, .dx = 1.0 / CELLS});
    add_points(s, "liquid/mesh_position", corners[0], count);
    take(s);
    check_outline(s);
    check_pole(s);
    corners[77][1] = NAN;
    memcpy(s->frame.items[0].data, corners, sizeof corners);
    und_error err = {0};
    assert_int_not_equal(s->painter->class->take(s->painter, &s->frame, &err), UND_OK);
    show(s);
}

/* Particles, solids and bodies that make no sense are not shown, and hurt nothing. */
static void damaged_things_are_left_out(void **state)
{
    stage *s = *state;
    static unsigned char before[HEIGHT][WIDTH][3];
    static const char *const names[] = {"spray/position",       "foam/position",     "markers/position",
                                        "texture/position",     "tracers/position",  "solid/mesh_position",
                                        "bodies/mesh_position", "solid/mesh_normal", "bodies/position",
                                        "liquid/mesh_normal",   "solid/mesh_color"};
    double middle[2];
    take(s);
    show(s);
    memcpy(before, s->rgb, sizeof before);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        add_points(s, names[k], (float[]){0.5f, NAN, 0.5f, INFINITY, 0, 0, 3e30f, 0, 0, 1, 1, 1}, 4);
    const und_item_def def = {
        .name = "spray/radius", .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 1, .dim = {9}};
    const und_item_def first = {
        .name = "solid/mesh_first", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {3}};
    const und_item_def domain = {
        .name = "domain", .unit = "m", .kind = UND_NUMBERS, .type = UND_F64, .rank = 1, .dim = {6}};
    und_error err = {0};
    assert_true(und_frame_add(&s->frame, &def, &err) && und_frame_add(&s->frame, &first, &err) &&
                und_frame_add(&s->frame, &domain, &err));
    take(s);
    show(s);
    assert_int_equal(changed(s, before, middle), 0);
}

static void damaged_frames_are_refused(void **state)
{
    stage *s = *state;
    und_error err = {0};
    und_frame empty = und_frame_empty(1, 0, s->frame.grid);
    assert_false(und_space_fits(&empty));
    assert_int_not_equal(s->painter->class->take(s->painter, &empty, &err), UND_OK);
    show(s); /* an empty picture */
    und_frame other = s->frame;
    other.grid.n[0]++; /* does not fit its distance */
    assert_int_not_equal(s->painter->class->take(s->painter, &other, &err), UND_OK);
    show(s);
    float *phi = s->frame.items[0].data;
    for (size_t i = 0; i < (size_t)CELLS * CELLS * CELLS; i++)
        phi[i] = i % 3 ? NAN : INFINITY;
    take(s); /* nothing of it is liquid */
    show(s);
    double point[3];
    assert_true(s->painter->class->pick(s->painter, (double[]){0.5, 2, 0.5}, (double[]){0, -1, 0}, point));
    assert_double_near(point[1], 0, 1e-6);
    und_frame_clear(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ball_is_seen_where_it_is, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(marker_is_seen_where_it_is, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(colours_are_those_of_the_legend, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(control_particle_is_seen_where_it_acts, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(solids_hide_what_is_behind, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(pole_is_picked, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(triangles_are_where_the_distance_is, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(empty_liquid_stands_still, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(long_channels_are_shown, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(brightness_is_that_of_the_preview, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(small_devices_show_the_same, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(skin_is_seen_and_picked, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(damaged_things_are_left_out, open_stage, close_stage),
        cmocka_unit_test_setup_teardown(damaged_frames_are_refused, open_stage, close_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
