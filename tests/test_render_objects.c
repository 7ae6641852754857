/* Bodies, sheets of water and tiles as the renderer draws them. */
#include "tests/pictures.h"

#include "base/random.h"
#include "geom/value.h"
#include "render/internal.h"

enum { N = 16 };
static const float MIDDLE = 8; /* m: x and z of the domain's middle, under the eye */
static const float UP = 2;     /* m above the floor, where things are */
static const double FAR = 6;   /* m from the eye down to them */

static float white_light[2 * 2 * 3] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const und_image white = {.width = 2, .height = 2, .rgb = white_light};

/* A dry floor of 16 m x 16 m at height 0, or under water of that depth. */
static und_frame make_frame(float depth)
{
    return flat_frame(N, 16, 0, depth);
}

/* Straight down under a white sky without a sun, over ground of one grey. */
static und_picture_def plain_def(float ground)
{
    und_picture_def def = und_picture_def_default();
    def.width = 160;
    def.height = 120;
    def.threads = 2;
    def.eye = und_vector_constant(MIDDLE, UP + FAR, MIDDLE);
    def.look = und_vector_constant(MIDDLE, 0, MIDDLE);
    def.sky = &white;
    def.texture = 0;
    def.ripples = 0;
    memset(def.sun_color, 0, sizeof def.sun_color);
    for (int c = 0; c < 3; c++)
        def.ground_color[c] = ground;
    return def;
}

static double pixels_per_metre(const und_picture_def *def)
{
    return 0.5 * def->height / tan(0.5 * def->fov * M_PI / 180) / FAR;
}

static void put_corner(float *to, f3 p)
{
    memcpy(to, (float[3]){p.x, p.y, p.z}, 3 * sizeof(float));
}

/* A body whose mesh is `corners` long; the pointer is to its corners, about `center`, not turned. */
static float *add_body(und_frame *frame, size_t corners, f3 center, f3 velocity, f3 spin)
{
    und_error err;
    und_item_def def = {.name = "bodies/mesh_first",
                        .unit = "1",
                        .kind = UND_BODIES,
                        .type = UND_I32,
                        .is_static = true,
                        .rank = 1,
                        .dim = {2}};
    int32_t *first = und_frame_add(frame, &def, &err)->data;
    first[1] = (int32_t)corners;
    put_corner(add_item(frame, "bodies/position", 1, 3), center);
    put_corner(add_item(frame, "bodies/velocity", 1, 3), velocity);
    put_corner(add_item(frame, "bodies/spin", 1, 3), spin);
    add_item(frame, "bodies/rotation", 1, 4)[0] = 1;
    float *color = add_item(frame, "bodies/mesh_color", corners, 3);
    for (size_t k = 0; k < 3 * corners; k++)
        color[k] = 1;
    return add_item(frame, "bodies/mesh_position", corners, 3);
}

/* A white ball and its velocity. */
static void add_ball(und_frame *frame, f3 center, float radius, f3 velocity)
{
    enum { ROWS = 24, AROUND = 48, TRIANGLES = 2 * ROWS * AROUND };
    float *p = add_body(frame, 3 * TRIANGLES, center, velocity, f3_gray(0));
    static const int corner[6] = {0, 1, 2, 1, 3, 2};
    for (int k = 0; k < ROWS * AROUND; k++)
        for (int e = 0; e < 6; e++, p += 3) {
            float a = (float)M_PI * (float)(k / AROUND + (corner[e] >> 1)) / ROWS,
                  b = 2 * (float)M_PI * (float)((k + (corner[e] & 1)) % AROUND) / AROUND;
            put_corner(p, f3_scale(f3_make(sinf(a) * cosf(b), cosf(a), sinf(a) * sinf(b)), radius));
        }
}

/* A level square film of side 2 `half`. */
static void add_film(und_frame *frame, float height, float half)
{
    static const float corner[6][2] = {{-1, -1}, {1, -1}, {-1, 1}, {1, -1}, {1, 1}, {-1, 1}};
    float *p = add_item(frame, "sheet/mesh_position", 6, 3),
          *t = add_item(frame, "sheet/mesh_thickness", 6, 1);
    for (int k = 0; k < 6; k++) {
        put_corner(p + 3 * k, f3_make(MIDDLE + half * corner[k][0], height, MIDDLE + half * corner[k][1]));
        t[k] = 0.005f;
    }
}

typedef struct patch {
    double sum, x, y, spread;
    int wide; /* pixels of the middle row that show something */
} patch;

static patch measure(const und_image *image)
{
    patch p = {0};
    double xx = 0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            double v = (double)image->rgb[3 * (y * image->width + x) + 1];
            p.sum += v;
            p.x += v * (x + 0.5);
            p.y += v * (y + 0.5);
            xx += v * (x + 0.5) * (x + 0.5);
            p.wide += y == image->height / 2 && v > 1e-6;
        }
    p.x /= p.sum;
    p.y /= p.sum;
    p.spread = sqrt(fmax(xx / p.sum - p.x * p.x, 0));
    return p;
}

static patch fast_ball(int blur, double speed, double shutter)
{
    und_picture_def def = plain_def(0);
    def.blur = blur;
    def.shutter = shutter;
    und_frame frame = make_frame(0);
    add_ball(&frame, f3_make(MIDDLE, UP, MIDDLE), 0.3f, f3_make((float)speed, 0, 0));
    und_image image = draw(&def, &frame);
    patch out = measure(&image);
    und_image_destroy(&image);
    und_frame_clear(&frame);
    return out;
}

/* A moving ball is as bright in sum, is seen along speed x shutter more, and its middle is half of that back;
 * variances add up. */
static void blur_keeps_the_light(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0);
    const double speed = 20, shutter = 0.05;
    double way = speed * shutter * pixels_per_metre(&def);
    patch sharp = fast_ball(0, speed, shutter), soft = fast_ball(32, speed, shutter);
    assert_double_near(soft.sum / sharp.sum, 1, 0.01);
    assert_double_near(soft.wide - sharp.wide, way, 2);
    assert_double_near(soft.x - sharp.x, -0.5 * way, 0.3);
    assert_double_near(soft.spread, sqrt(sharp.spread * sharp.spread + way * way / 12), 0.3);
}

/* Blur leaves what stands still as it is, to the bit. */
static void blur_leaves_what_stands_still(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0.5f);
    und_frame frame = make_frame(0.5f);
    add_ball(&frame, f3_make(MIDDLE, 0.5f, MIDDLE), 0.3f, f3_gray(0));
    und_image sharp = draw(&def, &frame);
    def.blur = 8;
    und_image soft = draw(&def, &frame);
    assert_memory_equal(sharp.rgb, soft.rgb, 3 * sizeof(float) * (size_t)sharp.width * (size_t)sharp.height);
    und_image_destroy(&sharp);
    und_image_destroy(&soft);
    und_frame_clear(&frame);
}

/* A level square plate of side 0.4, 0.8 off the middle of its body along x. */
static void add_plate(und_frame *frame, f3 velocity, f3 spin)
{
    static const float corner[6][2] = {{-1, -1}, {-1, 1}, {1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    float *p = add_body(frame, 6, f3_make(MIDDLE, UP, MIDDLE), velocity, spin);
    for (int k = 0; k < 6; k++)
        put_corner(p + 3 * k, f3_make(0.8f + 0.2f * corner[k][0], 0, 0.2f * corner[k][1]));
}

static patch measure_frame(und_render *r, und_frame *frame)
{
    und_image image = draw_with(r, frame);
    patch out = measure(&image);
    und_image_destroy(&image);
    und_frame_clear(frame);
    return out;
}

/* A body turned about the way of sight is seen turned: z is down in the picture. */
static void bodies_are_turned(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0);
    und_render *r = make_render(&def);
    double off = 0.8 * pixels_per_metre(&def);
    for (int k = 0; k < 8; k++) {
        und_frame frame = make_frame(0);
        double angle = k * M_PI / 4;
        add_plate(&frame, f3_gray(0), f3_gray(0));
        float *q = und_frame_find(&frame, "bodies/rotation")->data;
        q[0] = (float)cos(0.5 * angle);
        q[2] = (float)sin(0.5 * angle);
        patch p = measure_frame(r, &frame);
        assert_double_near(p.x - 80, off * cos(angle), 0.1);
        assert_double_near(p.y - 60, -off * sin(angle), 0.1);
    }
    und_render_destroy(r);
}

/* Corners move by v + w x r, so the mean of what is seen while the shutter is open is half of that back. */
static void spins_are_blurred(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0);
    def.blur = 16;
    def.shutter = 0.02;
    double half_way = 0.5 * def.shutter * pixels_per_metre(&def), off = 0.8 * pixels_per_metre(&def);
    und_render *r = make_render(&def);
    und_frame frame = make_frame(0);
    add_plate(&frame, f3_make(5, 0, 0), f3_make(0, 10, 0));
    patch p = measure_frame(r, &frame);
    assert_double_near(p.x - 80, off - 5 * half_way, 0.1);
    assert_double_near(p.y - 60, 10 * 0.8 * half_way, 0.1);
    und_render_destroy(r);
}

/* What is missing, of another size or type, out of range or no number leaves bodies out of the picture; what
 * only says how they move or look leaves them there. */
static void damaged_bodies_are_not_drawn(void **state)
{
    (void)state;
    static const char *const name[] = {"bodies/mesh_first", "bodies/mesh_position", "bodies/position",
                                       "bodies/rotation",   "bodies/mesh_color",    "bodies/velocity",
                                       "bodies/spin"};
    enum { NAMES = sizeof name / sizeof *name, NEEDED = 4, WAYS = 9 };
    static const int32_t wrong[WAYS] = {0, 0, 0, 0, 3, 9, -6, INT32_MAX, INT32_MIN};
    static const float bad[WAYS] = {0, 0, 0, 0, NAN, INFINITY, -INFINITY, 2e9f, -3e38f};
    und_picture_def def = plain_def(0);
    def.blur = 2;
    und_render *r = make_render(&def);
    for (int n = 0; n < NAMES; n++)
        for (int way = 0; way < WAYS; way++) {
            und_frame frame = make_frame(0);
            add_plate(&frame, f3_make(5, 0, 0), f3_make(0, 10, 0));
            und_item *item = &frame.items[und_frame_find(&frame, name[n]) - frame.items];
            size_t last = und_item_count(item) - 1;
            if (way == 0)
                item->name[0] = '-';
            else if (way == 1)
                item->dim[0]--;
            else if (way == 2)
                item->type = UND_U8;
            else if (way == 3)
                item->rank = 0;
            else if (item->type == UND_I32)
                ((int32_t *)item->data)[last] = wrong[way];
            else
                ((float *)item->data)[last] = bad[way];
            patch p = measure_frame(r, &frame);
            assert_int_equal(p.wide > 0, n >= NEEDED);
        }
    und_frame frame = make_frame(0); /* a rotation of no direction, and one of the corners' first below 0 */
    add_plate(&frame, f3_gray(0), f3_gray(0));
    memset(und_frame_find(&frame, "bodies/rotation")->data, 0, 4 * sizeof(float));
    assert_int_equal(measure_frame(r, &frame).wide, 0);
    frame = make_frame(0);
    add_plate(&frame, f3_gray(0), f3_gray(0));
    *(int32_t *)und_frame_find(&frame, "bodies/mesh_first")->data = -3;
    assert_int_equal(measure_frame(r, &frame).wide, 0);
    und_render_destroy(r);
}

static void pictures_do_not_depend_on_threads(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0.5f);
    def.blur = 3;
    def.ground_pattern = UND_GROUND_TILES;
    def.ripples = 0.4;
    def.eye = und_vector_constant(MIDDLE + 2, 3, MIDDLE + 5);
    und_frame frame = make_frame(0.5f);
    add_ball(&frame, f3_make(MIDDLE, 0.6f, MIDDLE), 0.4f, f3_make(3, 1, 0));
    add_film(&frame, 1, 0.8f);
    def.threads = 1;
    und_image one = draw(&def, &frame);
    for (int threads = 2; threads <= 7; threads += 5) {
        def.threads = threads;
        und_image many = draw(&def, &frame);
        assert_memory_equal(one.rgb, many.rgb, 3 * sizeof(float) * (size_t)one.width * (size_t)one.height);
        und_image_destroy(&many);
    }
    und_image_destroy(&one);
    und_frame_clear(&frame);
}

/* Where a ray meets a triangle, by solving for the place in double precision; infinite: it does not. */
static double triangle_at(const float *p, f3 from, f3 dir)
{
    double m[3][4]; /* from + t dir = p0 + u e1 + v e2 */
    const float *o = &from.x, *d = &dir.x;
    for (int i = 0; i < 3; i++) {
        m[i][0] = (double)d[i];
        m[i][1] = (double)p[i] - (double)p[3 + i];
        m[i][2] = (double)p[i] - (double)p[6 + i];
        m[i][3] = (double)p[i] - (double)o[i];
    }
    double det = 0, at[3] = {0};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        det += m[0][i] * (m[1][j] * m[2][k] - m[1][k] * m[2][j]);
    }
    for (int c = 0; c < 3; c++) /* Cramer's rule */
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3, l = i == c ? 3 : i, n = j == c ? 3 : j, q = k == c ? 3 : k;
            at[c] += m[0][l] * (m[1][n] * m[2][q] - m[1][q] * m[2][n]) / det;
        }
    return at[1] >= 0 && at[2] >= 0 && at[1] + at[2] <= 1 && at[0] > 0 ? at[0] : (double)INFINITY;
}

/* Rays meet what a search through all triangles finds. */
static void rays_meet_the_nearest_triangle(void **state)
{
    (void)state;
    enum { COUNT = 777, RAYS = 4000 };
    und_error err;
    float *p = calloc(9 * COUNT, sizeof *p), t = 0;
    for (int k = 0; k < 9 * COUNT; k++)
        p[k] = (float)(und_random(1, 0, (uint64_t)(k / 9 * 3 + k % 3)) + 0.1 * und_random(1, 1, (uint64_t)k));
    und_drawn_mesh soup = {.count = COUNT, .position = p};
    assert_int_equal(und_tree_build(&soup, &err), UND_OK);
    int hits = 0;
    for (uint64_t k = 0; k < RAYS; k++) {
        f3 from = f3_make((float)und_random(2, 0, k), (float)und_random(2, 1, k), -0.5f);
        f3 dir = f3_unit(f3_make((float)und_random(2, 2, k) - 0.5f, (float)und_random(2, 3, k) - 0.5f, 1));
        int32_t triangle = -1, nearest = -1;
        double best = 3;
        bool found = und_tree_hit(&soup, from, dir, 3, &t, &triangle);
        for (int32_t i = 0; i < COUNT; i++) {
            double at = triangle_at(p + 9 * i, from, dir);
            nearest = at < best ? i : nearest;
            best = fmin(best, at);
        }
        assert_int_equal(found, nearest >= 0);
        if (found)
            assert_double_near((double)t, best, 1e-5);
        hits += found;
    }
    assert_true(hits > RAYS / 4 && hits < RAYS);
    free(p);
    und_tree_free(&soup);
}

/* Looking straight down the surface does not bend rays: a sunken ball has its outline, dimmed on the way down
 * and up; it is nearer than the bottom, so brighter than that. */
static void sunken_bodies_are_seen_through_water(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0);
    def.caustics = 0;
    memset(def.water_color, 0, sizeof def.water_color);
    double inside[2], outside[2];
    for (int k = 0; k < 2; k++) {
        for (int c = 0; c < 3; c++)
            def.absorption[c] = k ? 0.5f : 0;
        und_frame frame = make_frame(UP + 0.8f);
        add_ball(&frame, f3_make(MIDDLE, UP, MIDDLE), 0.3f, f3_gray(0));
        und_image image = draw(&def, &frame);
        inside[k] = (double)image.rgb[3 * (60 * 160 + 80) + 1];
        outside[k] = (double)image.rgb[3 * (60 * 160 + 40) + 1];
        und_image_destroy(&image);
        und_frame_clear(&frame);
    }
    const double mirrored = 0.0203732; /* of the white sky, straight down */
    assert_double_near(outside[0], mirrored, 2e-3);
    assert_double_near(outside[1], mirrored, 2e-3);
    assert_double_near(inside[0], 1, 0.03);
    /* 0.5 m of water over the ball's top: down aslant, 1.2 times as long, and up */
    assert_double_near((inside[1] - mirrored) / (inside[0] - mirrored), exp(-0.5 * 0.5 * 2.2), 0.02);
}

/* In a furnace, white above and below, a film that takes no light cannot be seen. */
static void films_keep_the_light(void **state)
{
    (void)state;
    und_picture_def def = plain_def(1);
    und_frame frame = make_frame(0);
    add_film(&frame, UP, 0.7f);
    und_image image = draw(&def, &frame);
    for (int k = 0; k < image.width * image.height; k++)
        assert_double_near((double)image.rgb[3 * k + 1], (double)image.rgb[1], 2e-3);
    und_image_destroy(&image);
    und_frame_clear(&frame);
}

/* Over black ground it shows its area in what it mirrors; under the ground it is hidden. */
static void films_cover_their_area(void **state)
{
    (void)state;
    und_picture_def def = plain_def(0);
    double scale = pixels_per_metre(&def), light[2];
    for (int k = 0; k < 2; k++) {
        und_frame frame = make_frame(0);
        add_film(&frame, k ? -1 : UP, 0.7f);
        und_image image = draw(&def, &frame);
        light[k] = measure(&image).sum;
        double middle = (double)image.rgb[3 * (60 * 160 + 70) + 1];
        if (k == 0) {
            assert_true(middle > 0.0399 && middle < 0.12); /* both faces mirror 2 f / (1 + f), f = 0.0204 */
            assert_double_near(light[k] / middle, 1.4 * 1.4 * scale * scale, 0.02 * 1.96 * scale * scale);
        }
        und_image_destroy(&image);
        und_frame_clear(&frame);
    }
    assert_double_near(light[1], 0, 1e-5);
}

/* What a drop adds to the picture of a film that is all rim; `off` metres above it. */
static double drop_at(float off, bool is_there)
{
    und_picture_def def = plain_def(0);
    und_frame frame = make_frame(0);
    add_film(&frame, UP, 0.7f);
    float *rim = add_item(&frame, "sheet/mesh_rim", 6, 1);
    for (int k = 0; k < 6; k++)
        rim[k] = 1;
    float *position = add_item(&frame, "spray/position", is_there, 3),
          *radius = add_item(&frame, "spray/radius", is_there, 1);
    for (int k = 0; k < is_there; k++) {
        put_corner(position, f3_make(MIDDLE + 0.1f, UP + off, MIDDLE + 0.1f));
        radius[0] = 0.02f;
    }
    und_image image = draw(&def, &frame);
    double sum = measure(&image).sum;
    und_image_destroy(&image);
    und_frame_clear(&frame);
    return sum;
}

/* A drop behind a film is seen through it: two faces and a rim that hides half leave 0.96 * 0.46. */
static void drops_are_seen_through_films(void **state)
{
    (void)state;
    double none = drop_at(0, false), before = drop_at(0.01f, true) - none,
           behind = drop_at(-0.01f, true) - none;
    assert_true(before > 0.1);
    assert_double_near(behind / before, 0.96 * 0.46, 0.02);
}

/* Whatever the pixels' size, tiles and the lines between them have the same mean colour. */
static void tiles_keep_their_mean(void **state)
{
    (void)state;
    und_error err;
    und_picture_def def = plain_def(0);
    def.ground_pattern = UND_GROUND_TILES;
    def.tile = 0.25;
    def.grout = 0.05;
    for (int c = 0; c < 3; c++) {
        def.tile_color[c] = 0;
        def.grout_color[c] = 1;
    }
    und_render *r = und_render_create(&def, &err);
    assert_non_null(r);
    r->stage->mesh.span = 16;
    static const float footprint[] = {0.001f, 0.02f, 0.1f, 0.4f, 3};
    enum { PLACES = 100 };
    for (int f = 0; f < 5; f++) {
        double sum = 0, least = 1, most = 0;
        for (int k = 0; k < PLACES * PLACES; k++) { /* over four by four tiles */
            f3 p = f3_make(((float)(k % PLACES) + 0.5f) / PLACES, 0, ((float)k / PLACES + 0.5f) / PLACES);
            double v = (double)und_material_tiles(r->stage, p, f3_make(0, 1, 0), footprint[f]).color.y;
            sum += v / (PLACES * PLACES);
            least = fmin(least, v);
            most = fmax(most, v);
        }
        assert_double_near(sum, 1 - 0.8 * 0.8, 0.01);
        if (f == 0)
            assert_true(least == 0 && most == 1);
        if (f == 4)
            assert_true(most - least < 0.05);
    }
    und_render_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blur_keeps_the_light),
        cmocka_unit_test(blur_leaves_what_stands_still),
        cmocka_unit_test(bodies_are_turned),
        cmocka_unit_test(spins_are_blurred),
        cmocka_unit_test(damaged_bodies_are_not_drawn),
        cmocka_unit_test(pictures_do_not_depend_on_threads),
        cmocka_unit_test(rays_meet_the_nearest_triangle),
        cmocka_unit_test(sunken_bodies_are_seen_through_water),
        cmocka_unit_test(films_keep_the_light),
        cmocka_unit_test(films_cover_their_area),
        cmocka_unit_test(drops_are_seen_through_films),
        cmocka_unit_test(tiles_keep_their_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
