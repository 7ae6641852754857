/* The mesh of a liquid whose surface is a distance. */
#include "tests/distance_frame.h"
#include "tests/shell_check.h"

#include "base/random.h"
#include "surface/frame_mesh.h"

static const double PI = 3.14159265358979323846;

/* Frames here begin at (0.25, -0.5, 1), and are 1 m wide and high. */
static double ball(double x, double y, double z)
{
    return sqrt((x - 0.75) * (x - 0.75) + y * y + (z - 1.5) * (z - 1.5)) - 0.37;
}

static double ring(double x, double y, double z)
{
    return hypot(hypot(x - 0.75, z - 1.5) - 0.3, y) - 0.1;
}

static double half_ball(double x, double y, double z) /* its middle on the floor */
{
    return sqrt((x - 0.75) * (x - 0.75) + (y + 0.5) * (y + 0.5) + (z - 1.5) * (z - 1.5)) - 0.37;
}

static double tilted_pool(double x, double y, double z)
{
    return (y - 0.3 * (x - 0.75) - 0.1 * (z - 1.5) - 0.013) / sqrt(1 + 0.09 + 0.01);
}

static double everywhere(double x, double y, double z)
{
    (void)x;
    (void)y;
    (void)z;
    return -0.1;
}

static double nowhere(double x, double y, double z)
{
    return -everywhere(x, y, z);
}

static double ball_outside(double x, double y, double z) /* a solid, positive where liquid may be */
{
    return sqrt((x - 0.75) * (x - 0.75) + (y + 0.5) * (y + 0.5) + (z - 1.5) * (z - 1.5)) - 0.3;
}

static double flow_x(double x, double y, double z)
{
    return 1 + 2 * x - 3 * y + 0.5 * z;
}

static double flow_y(double x, double y, double z)
{
    return -x + y + 2 * z;
}

static double flow_z(double x, double y, double z)
{
    return 0.25 * x + 4 * y - z;
}

static und_shell mesh_of(const und_frame *frame, und_frame_mesh_def def)
{
    und_error err = {0};
    und_shell shell;
    und_status status = und_frame_mesh(frame, &def, &shell, &err);
    if (status != UND_OK)
        print_error("%s\n", err.text);
    assert_int_equal(status, UND_OK);
    return shell;
}

/* The volume of a frame's mesh, which must be whole. */
static double volume_of(int n, place_fn *distance, place_fn *solid, long euler)
{
    und_frame f = distance_frame(n, n, n, 1.0 / n, distance);
    if (solid)
        add_samples(&f, "solid/distance", "m", -1, solid);
    und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
    shell_size size = measure_shell(&s);
    assert_int_equal(size.broken, 0);
    assert_int_equal(size.euler, euler);
    und_shell_free(&s);
    und_frame_clear(&f);
    return size.volume;
}

/* Errors are a quarter at twice the cells, in the open, at walls and at solids. */
static void volumes_converge(void **state)
{
    (void)state;
    const double r = 0.37, s = 0.3, third = 2 * PI / 3;
    const struct {
        place_fn *distance, *solid;
        double volume;
        long euler;
    } list[] = {
        {ball, NULL, 2 * third * r * r * r, 2},
        {ring, NULL, 2 * PI * PI * 0.3 * 0.01, 0},
        {half_ball, NULL, third * r * r * r, 2},
        {half_ball, ball_outside, third * (r * r * r - s * s * s), 2},
        {everywhere, ball_outside, 1 - third * s * s * s, 2},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double error[3];
        for (int k = 0; k < 3; k++)
            error[k] =
                fabs(volume_of(24 << k, list[i].distance, list[i].solid, list[i].euler) - list[i].volume) /
                list[i].volume;
        assert_true(error[0] < 0.04);
        assert_true(log2(error[0] / error[2]) / 2 > 1.8);
    }
}

/* A plate, and a film all round it: of each of 24 cells across a metre the plate is so thick. */
enum { PLATE_CELLS = 24 };
static const double PLATE_X = 0.3, PLATE_Z = 0.27, FILM = 0.3 / PLATE_CELLS;
static double plate_half, plate_height;

static double plate_outside(double x, double y, double z)
{
    const double out[3] = {fabs(x - 0.75) - PLATE_X, fabs(y - plate_height) - plate_half,
                           fabs(z - 1.5) - PLATE_Z};
    const double a = fmax(out[0], 0), b = fmax(out[1], 0), c = fmax(out[2], 0);
    return sqrt(a * a + b * b + c * c) + fmin(fmax(out[0], fmax(out[1], out[2])), 0);
}

static double film_round_plate(double x, double y, double z)
{
    return plate_outside(x, y, z) - FILM;
}

/* Two points of a plate may be all that there is between the films on its sides: nothing is drawn of it, nor
 * of its edges, which have a part in nearly half of all. */
static void plates_are_not_drawn_with_their_films(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        plate_half = (1.6 + 0.1 * k) / 2 / PLATE_CELLS;
        plate_height = 0.01 * k / PLATE_CELLS;
        const double x = 2 * PLATE_X, y = 2 * plate_half, z = 2 * PLATE_Z;
        const double area = 2 * (x * y + y * z + z * x), edges = 4 * (x + y + z);
        const double film = FILM * (area + PI / 4 * FILM * (edges + 16.0 / 3 * FILM));
        const double drawn = volume_of(PLATE_CELLS, film_round_plate, plate_outside, 4);
        assert_true(fabs(drawn / film - 1) < 0.12);
    }
}

static double plate_turn; /* about z, in the middle */

static double turned_plate_outside(double x, double y, double z)
{
    const double c = cos(plate_turn), t = sin(plate_turn), dx = x - 0.75;
    const double out[2] = {fabs(c * dx + t * y) - PLATE_X, fabs(c * y - t * dx) - plate_half};
    (void)z;
    return hypot(fmax(out[0], 0), fmax(out[1], 0)) + fmin(fmax(out[0], out[1]), 0);
}

static double film_round_turned_plate(double x, double y, double z)
{
    return turned_plate_outside(x, y, z) - FILM;
}

/* Of a layer of cells, as of liquid in two dimensions: films round edges go beside the sides, not over them.
 */
static void what_is_drawn_stays_in_the_box(void **state)
{
    (void)state;
    for (int k = 0; k < 90; k++) {
        plate_half = (1.6 + 0.1 * (k % 9)) / 2 / PLATE_CELLS;
        plate_turn = k * PI / 180;
        und_frame f = distance_frame(PLATE_CELLS, PLATE_CELLS, 1, 1.0 / PLATE_CELLS, film_round_turned_plate);
        add_samples(&f, "solid/distance", "m", -1, turned_plate_outside);
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
        double off = 0;
        for (int v = 0; v < s.vertex_count; v++) {
            const double z = (double)s.position[3 * v + 2] - f.grid.origin[2];
            off = fmax(off, fmax(-z, z - 1.0 / PLATE_CELLS));
        }
        if (!(off < 1e-4 / PLATE_CELLS))
            fail_msg("turned by %d degrees: %g cells over its side", k, off * PLATE_CELLS);
        und_shell_free(&s);
        und_frame_clear(&f);
    }
}

/* A plate from side to side, so thin that one point or none is across, and a film on either side of it. */
static double slope_x, slope_z, slab_half, slab_film;

static double slab_outside(double x, double y, double z)
{
    const double up = y - slope_x * (x - 0.75) - slope_z * (z - 1.5) - plate_height;
    return fabs(up) / sqrt(1 + slope_x * slope_x + slope_z * slope_z) - slab_half;
}

static double film_on_slab(double x, double y, double z)
{
    return slab_outside(x, y, z) - slab_film;
}

/* What points have in a thin wall is of one of its sides, and the other has its film all the same. */
static void films_on_thin_plates_are_whole(void **state)
{
    (void)state;
    for (int k = 0; k < 60; k++) {
        slope_x = 0.9 * und_random(1, 0, (uint64_t)k) - 0.45;
        slope_z = 0.9 * und_random(1, 1, (uint64_t)k) - 0.45;
        plate_height = und_random(1, 2, (uint64_t)k) / PLATE_CELLS;
        slab_half = (0.3 + 1.2 * und_random(1, 3, (uint64_t)k)) / 2 / PLATE_CELLS;
        slab_film = (0.1 + 0.8 * und_random(1, 4, (uint64_t)k)) / PLATE_CELLS;
        const double film = 2 * slab_film * sqrt(1 + slope_x * slope_x + slope_z * slope_z);
        und_frame f = distance_frame(PLATE_CELLS, PLATE_CELLS, PLATE_CELLS, 1.0 / PLATE_CELLS, film_on_slab);
        add_samples(&f, "solid/distance", "m", -1, slab_outside);
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
        const shell_size size = measure_shell(&s);
        assert_true(fabs(size.volume / film - 1) < 0.015);
        assert_int_equal(size.broken, 0);
        und_shell_free(&s);
        und_frame_clear(&f);
    }
}

/* The same as a gap between solids, full of liquid. */
static double gap_outside(double x, double y, double z)
{
    return -slab_outside(x, y, z);
}

static void gaps_narrower_than_cells_are_drawn(void **state)
{
    (void)state;
    for (int k = 0; k < 60; k++) {
        slope_x = 0.9 * und_random(2, 0, (uint64_t)k) - 0.45;
        slope_z = 0.9 * und_random(2, 1, (uint64_t)k) - 0.45;
        plate_height = und_random(2, 2, (uint64_t)k) / PLATE_CELLS;
        slab_half = (0.4 + 0.6 * und_random(2, 3, (uint64_t)k)) / 2 / PLATE_CELLS;
        const double gap = 2 * slab_half * sqrt(1 + slope_x * slope_x + slope_z * slope_z);
        und_frame f = distance_frame(PLATE_CELLS, PLATE_CELLS, PLATE_CELLS, 1.0 / PLATE_CELLS, everywhere);
        add_samples(&f, "solid/distance", "m", -1, gap_outside);
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
        const shell_size size = measure_shell(&s);
        assert_true(fabs(size.volume / gap - 1) < 0.025);
        assert_int_equal(size.broken, 0);
        und_shell_free(&s);
        und_frame_clear(&f);
    }
}

/* A tilted pool is an exact prism: the volume, flat walls on the walls and a flat top, whatever the grid. */
static void a_pool_fills_its_corners(void **state)
{
    (void)state;
    und_frame f = distance_frame(20, 20, 20, 0.05, tilted_pool);
    und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
    shell_size size = measure_shell(&s);
    assert_int_equal(size.broken, 0);
    assert_int_equal(size.euler, 2);
    assert_double_near(size.volume, 0.513, 1e-5);
    double sides = 2 * 0.513 * 2 /* a wall's mean height, both pairs */, level = sqrt(1.1);
    assert_double_near(size.area, 1 + level + sides, 1e-4);
    const double low[3] = {0.25, -0.5, 1};
    for (int v = 0; v < s.vertex_count; v++) {
        double nearest = INFINITY, p[3];
        for (int a = 0; a < 3; a++) {
            p[a] = (double)s.position[3 * v + a];
            nearest = fmin(nearest, fmin(fabs(p[a] - low[a]), fabs(low[a] + 1 - p[a])));
        }
        nearest = fmin(nearest, fabs(tilted_pool(p[0], p[1], p[2])));
        assert_true(nearest < 1e-3 * 0.05);
    }
    und_shell_free(&s);
    und_frame_clear(&f);
}

static void a_full_box_is_a_box(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 7; nz += 6) {
        und_frame f = distance_frame(5, 6, nz, 0.25, everywhere);
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 1});
        shell_size size = measure_shell(&s);
        assert_int_equal(size.broken, 0);
        assert_int_equal(size.euler, 2);
        assert_double_near(size.volume, 1.25 * 1.5 * 0.25 * nz, 1e-6);
        assert_double_near(size.area, 2 * (1.25 * 1.5 + (1.25 + 1.5) * 0.25 * nz), 1e-5);
        und_shell_free(&s);
        und_frame_clear(&f);
    }
    und_frame f = distance_frame(5, 6, 7, 0.25, nowhere);
    und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 1});
    assert_int_equal(s.triangle_count, 0);
    assert_int_equal(s.vertex_count, 0);
    und_shell_free(&s);
    und_frame_clear(&f);
}

/* What may be wrong with a surface: noise, a checkerboard, sheets thinner than a cell. */
static float odd_value(int kind, int x, int y, int z, size_t i)
{
    double r = und_random((uint64_t)kind, 1, i);
    switch (kind) {
    case 0:
        return (x + y + z) % 2 ? -0.01F : 0.03F;
    case 1:
        return y % 3 == 1 ? -1e-6F : 0.05F;
    case 2:
        return (x ^ y ^ z) & 1 ? -1.0F : r < 0.5 ? NAN : 0;
    default:
        return (float)(r - (kind == 3 ? 0.5 : kind == 4 ? 0.1 : 0.8));
    }
}

static void odd_surfaces_are_whole(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++)
        for (int solid = 0; solid < 2; solid++)
            for (int adaptive = 0; adaptive < 2; adaptive++) {
                und_frame f = distance_frame(19, 14, 17, 0.05, everywhere);
                float *value = und_frame_find(&f, "distance")->data;
                float *wall = add_samples(&f, solid ? "solid/distance" : "other", "m", -1, ball_outside);
                for (size_t i = 0; i < 19 * 14 * 17; i++) {
                    value[i] = odd_value(kind, (int)(i % 19), (int)(i / 19 % 14), (int)(i / 19 / 14), i);
                    wall[i] = i % 3 ? (float)und_random(9, 2, i) - 0.4F : wall[i];
                }
                und_shell s = mesh_of(&f, (und_frame_mesh_def){.adaptive = 0.3 * adaptive, .threads = 2});
                shell_size size = measure_shell(&s);
                assert_true(s.triangle_count > 500);
                assert_int_equal(size.broken, 0);
                assert_int_equal(size.euler % 2, 0);
                assert_true(size.volume > 0);
                und_shell_free(&s);
                und_frame_clear(&f);
            }
}

/* Films and thin walls anywhere, and what ends on edges alone. */
static void films_of_noise_are_whole(void **state)
{
    (void)state;
    enum { WIDE = 4, SEEDS = 150 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        und_frame f = distance_frame(WIDE, WIDE, WIDE, 0.05, everywhere);
        float *value = und_frame_find(&f, "distance")->data;
        float *wall = add_samples(&f, "solid/distance", "m", -1, everywhere);
        const double wet = 0.3 * und_random(seed, 3, 0), solid = 0.8 * und_random(seed, 4, 0);
        for (size_t i = 0; i < WIDE * WIDE * WIDE; i++) {
            value[i] = (float)(0.05 * (und_random(seed, 1, i) - wet));
            wall[i] = (float)(0.05 * (und_random(seed, 2, i) - solid));
        }
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 1});
        assert_int_equal(measure_shell(&s).broken, 0);
        und_shell_free(&s);
        und_frame_clear(&f);
    }
}

/* Sheets and a checkerboard: as many parts as were put there. */
static void parts_are_counted(void **state)
{
    (void)state;
    und_frame f = distance_frame(19, 14, 17, 0.05, everywhere);
    float *value = und_frame_find(&f, "distance")->data;
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < 19 * 14 * 17; i++)
            value[i] = odd_value(kind, (int)(i % 19), (int)(i / 19 % 14), (int)(i / 19 / 14), i);
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
        assert_int_equal(measure_shell(&s).euler, 2 * (kind == 0 ? 19 * 14 * 17 / 2 : 5));
        und_shell_free(&s);
    }
    und_frame_clear(&f);
}

static void normals_point_outward(void **state)
{
    (void)state;
    und_frame f = distance_frame(40, 40, 40, 0.025, ball);
    und_shell s = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
    for (int v = 0; v < s.vertex_count; v++) {
        const float *p = s.position + 3 * v, *n = s.normal + 3 * v;
        double out[3] = {(double)p[0] - 0.75, (double)p[1], (double)p[2] - 1.5}, along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            along += out[k] * (double)n[k];
            square += out[k] * out[k];
        }
        assert_true(along > 0.999 * sqrt(square));
    }
    und_shell_free(&s);
    und_frame_clear(&f);
}

/* A velocity that is linear in place is had exactly; at walls that of the outermost middles is held. */
static void velocities_are_the_flows(void **state)
{
    (void)state;
    und_frame f = distance_frame(40, 40, 40, 0.025, ball);
    add_samples(&f, "velocity_x", "m/s", 0, flow_x);
    add_samples(&f, "velocity_y", "m/s", 1, flow_y);
    add_samples(&f, "velocity_z", "m/s", 2, flow_z);
    place_fn *const flow[3] = {flow_x, flow_y, flow_z};
    for (int k = 0; k < 2; k++) {
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.velocity = true, .adaptive = 0.02 * k, .threads = 2});
        assert_non_null(s.velocity);
        for (int v = 0; v < s.vertex_count; v++)
            for (int a = 0; a < 3; a++)
                assert_double_near((double)s.velocity[3 * v + a],
                                   flow[a]((double)s.position[3 * v], (double)s.position[3 * v + 1],
                                           (double)s.position[3 * v + 2]),
                                   1e-5);
        und_shell_free(&s);
    }
    und_frame_clear(&f);
}

/* Few triangles where it is flat; nowhere four times as far off as in the mean. */
static void adaptive_saves_triangles(void **state)
{
    (void)state;
    und_frame f = distance_frame(48, 48, 48, 1.0 / 48, half_ball);
    und_shell all = mesh_of(&f, (und_frame_mesh_def){.threads = 2});
    double exact = measure_shell(&all).volume;
    for (int k = 0; k < 2; k++) {
        double allowed = k ? 0.1 : 0.02;
        und_shell s = mesh_of(&f, (und_frame_mesh_def){.adaptive = allowed, .threads = 2});
        shell_size size = measure_shell(&s);
        assert_int_equal(size.broken, 0);
        assert_int_equal(size.euler, 2);
        assert_true(s.triangle_count < all.triangle_count / (k ? 9.5 : 2.5));
        assert_double_near(size.volume, exact, allowed / 48 * size.area);
        for (int t = 0; t < 3 * s.triangle_count; t += 3) {
            double p[3] = {0};
            for (int i = 0; i < 9; i++)
                p[i % 3] += (double)s.position[3 * s.triangle[t + i / 3] + i % 3] / 3;
            double off = fmin(fabs(half_ball(p[0], p[1], p[2])), fabs(p[1] + 0.5));
            assert_true(off < 4 * allowed / 48);
        }
        und_shell_free(&s);
    }
    und_shell_free(&all);
    und_frame_clear(&f);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    und_frame f = distance_frame(33, 30, 37, 0.03, ring);
    add_samples(&f, "velocity_x", "m/s", 0, flow_x);
    add_samples(&f, "velocity_y", "m/s", 1, flow_y);
    und_shell a = mesh_of(&f, (und_frame_mesh_def){.velocity = true, .adaptive = 0.05, .threads = 1});
    und_shell b = mesh_of(&f, (und_frame_mesh_def){.velocity = true, .adaptive = 0.05, .threads = 7});
    assert_int_equal(a.vertex_count, b.vertex_count);
    assert_int_equal(a.triangle_count, b.triangle_count);
    size_t bytes = 12 * (size_t)a.vertex_count;
    assert_memory_equal(a.position, b.position, bytes);
    assert_memory_equal(a.normal, b.normal, bytes);
    assert_memory_equal(a.velocity, b.velocity, bytes);
    assert_memory_equal(a.triangle, b.triangle, 12 * (size_t)a.triangle_count);
    und_shell_free(&a);
    und_shell_free(&b);
    und_frame_clear(&f);
}

static void damaged_frames_are_refused(void **state)
{
    (void)state;
    und_error err = {0};
    und_shell s;
    und_frame_mesh_def def = {.velocity = true, .threads = 1};
    und_frame f = distance_frame(6, 5, 4, 0.1, everywhere);
    f.grid.n[1] = 6;
    assert_int_equal(und_frame_mesh(&f, &def, &s, &err), UND_FAILED);
    assert_string_equal(err.text, "frame 1: \"distance\" does not fit the grid");
    f.grid.n[1] = 5;
    add_samples(&f, "velocity_x", "m/s", 1, flow_x); /* of the wrong faces */
    assert_int_equal(und_frame_mesh(&f, &def, &s, &err), UND_FAILED);
    f.grid.dx = NAN;
    assert_int_equal(und_frame_mesh(&f, &def, &s, &err), UND_FAILED);
    assert_string_equal(err.text, "frame 1: the grid is damaged");
    und_frame_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_converge),
        cmocka_unit_test(a_pool_fills_its_corners),
        cmocka_unit_test(a_full_box_is_a_box),
        cmocka_unit_test(odd_surfaces_are_whole),
        cmocka_unit_test(parts_are_counted),
        cmocka_unit_test(normals_point_outward),
        cmocka_unit_test(velocities_are_the_flows),
        cmocka_unit_test(adaptive_saves_triangles),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(damaged_frames_are_refused),
        cmocka_unit_test(plates_are_not_drawn_with_their_films),
        cmocka_unit_test(films_on_thin_plates_are_whole),
        cmocka_unit_test(gaps_narrower_than_cells_are_drawn),
        cmocka_unit_test(films_of_noise_are_whole),
        cmocka_unit_test(what_is_drawn_stays_in_the_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
