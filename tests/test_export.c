/* Files for other programs: VDB and PLY, written and read back. */
#include "tests/distance_frame.h"
#include "tests/folder.h"

#include "geom/trimesh_file.h"
#include "io/ply.h"
#include "io/vdb.h"
#include "io/vdb_frame.h"
#include "surface/frame_mesh.h"

static const double PI = 3.14159265358979323846;

enum { N = 40 };

/* Frames here begin at (0.25, -0.5, 1). */
static double ball(double x, double y, double z)
{
    return sqrt((x - 0.7) * (x - 0.7) + (y + 0.05) * (y + 0.05) + (z - 1.55) * (z - 1.55)) - 0.3;
}

static double pool(double x, double y, double z)
{
    (void)x;
    (void)z;
    return y;
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

static und_frame flowing(place_fn *distance)
{
    und_frame f = distance_frame(N, N, N, 1.0 / N, distance);
    add_samples(&f, "velocity_x", "m/s", 0, flow_x);
    add_samples(&f, "velocity_y", "m/s", 1, flow_y);
    add_samples(&f, "velocity_z", "m/s", 2, flow_z);
    add_samples(&f, "pressure", "Pa", -1, flow_y);
    return f;
}

static void write_vdb(const char *name, const und_frame *f, und_up up, bool half, int threads)
{
    und_error err = {0};
    und_status status = und_vdb_write_frame(test_path(&folder, name), f, up, half, threads, &err);
    if (status != UND_OK)
        print_error("%s\n", err.text);
    assert_int_equal(status, UND_OK);
}

static float *read_vdb(const char *name, const char *grid, und_lattice *l)
{
    und_error err = {0};
    float *values;
    und_status status = und_vdb_read_lattice(test_path(&folder, name), grid, l, &values, &err);
    if (status != UND_OK)
        print_error("%s\n", err.text);
    assert_int_equal(status, UND_OK);
    return values;
}

static double limited(double v, double limit)
{
    return v > limit ? limit : v < -limit ? -limit : v;
}

/* All values of a known ball are where they should be, with y up and with z up; its volume and middle, too.
 */
static void a_ball_is_read_back(void **state)
{
    (void)state;
    und_frame f = flowing(ball);
    for (int k = 0; k < 3; k++) {
        und_up up = k == 1 ? UND_UP_Z : UND_UP_Y;
        und_lattice l;
        write_vdb("ball.vdb", &f, up, k == 2, 2);
        float *v = read_vdb("ball.vdb", "surface", &l);
        double volume = 0, middle[3] = {0}, d = l.d[0];
        for (size_t i = 0; i < und_lattice_count(&l); i++) {
            size_t at[3] = {i % (size_t)l.n[0], i / (size_t)l.n[0] % (size_t)l.n[1],
                            i / (size_t)l.n[0] / (size_t)l.n[1]};
            double p[3];
            for (int a = 0; a < 3; a++)
                p[a] = l.origin[a] + (double)at[a] * l.d[a];
            double expected = up == UND_UP_Z ? ball(p[0], p[2], -p[1]) : ball(p[0], p[1], p[2]);
            assert_double_near((double)v[i], limited(expected, 3 * d), k == 2 ? 1e-4 : 1e-6);
            double part = limited(0.5 - (double)v[i] / d, 1); /* of the voxel that is inside, about */
            part = part > 0 ? part : 0;
            volume += part * d * d * d;
            for (int a = 0; a < 3; a++)
                middle[a] += p[a] * part * d * d * d;
        }
        assert_double_near(d, 1.0 / N, 1e-9);
        assert_double_near(volume, 4 * PI / 3 * 0.027, 0.005 * 4 * PI / 3 * 0.027);
        assert_double_near(middle[0] / volume, 0.7, 1e-4);
        assert_double_near(middle[1] / volume, up == UND_UP_Z ? -1.55 : -0.05, 1e-4);
        assert_double_near(middle[2] / volume, up == UND_UP_Z ? -0.05 : 1.55, 1e-4);
        free(v);
    }
    und_frame_clear(&f);
}

/* A pool that touches walls is closed there, half a voxel from the cells at the wall, and reaches no further
 * than three voxels outside. */
static void a_pool_is_closed_at_walls(void **state)
{
    (void)state;
    und_frame f = flowing(pool);
    und_lattice l;
    write_vdb("pool.vdb", &f, UND_UP_Y, false, 2);
    float *v = read_vdb("pool.vdb", "surface", &l);
    const double low[3] = {0.25, -0.5, 1}, d = 1.0 / N;
    assert_int_equal(l.n[0], N + 6 + 2);
    for (size_t i = 0; i < und_lattice_count(&l); i++) {
        size_t at[3] = {i % (size_t)l.n[0], i / (size_t)l.n[0] % (size_t)l.n[1],
                        i / (size_t)l.n[0] / (size_t)l.n[1]};
        double p[3], outside = 0, inside = -INFINITY;
        for (int a = 0; a < 3; a++) {
            p[a] = l.origin[a] + (double)at[a] * d;
            double off = fmax(low[a] - p[a], p[a] - low[a] - 1);
            outside += off > 0 ? off * off : 0;
            inside = fmax(inside, off);
        }
        double box = inside > 0 ? sqrt(outside) : inside, height = fmax(p[1], -0.5 + 0.5 * d);
        if (fabs(box - 3 * d) > 1e-6) /* where rounding decides */
            assert_double_near((double)v[i], limited(fmax(height, box), 3 * d), 1e-6);
    }
    free(v);
    und_frame_clear(&f);
}

/* What the program that comes with OpenVDB says of a file. */
static void print_says_the_same(void **state)
{
    (void)state;
    char text[65536], command[512];
    if (access("/usr/bin/vdb_print", X_OK) != 0)
        skip();
    und_frame f = flowing(ball);
    write_vdb("ball.vdb", &f, UND_UP_Y, false, 2);
    snprintf(command, sizeof command, "/usr/bin/vdb_print -l %s", test_path(&folder, "ball.vdb"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(text, 1, sizeof text - 1, pipe);
    assert_int_equal(pclose(pipe), 0);
    text[length] = 0;
    static const char *const words[] = {
        "Name: surface",          "Name: vel",        "Name: pressure",   "level set",         "staggered",
        "contravariant relative", "Tree_float_5_4_3", "Tree_vec3s_5_4_3", "voxel size: 0.025", "up_axis: y"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text, words[i]))
            fail_msg("no \"%s\" in:\n%s", words[i], text);
    und_frame_clear(&f);
}

static void files_are_the_same_bytes(const char *a, const char *b)
{
    und_error err = {0};
    char *data[2];
    size_t bytes[2];
    assert_int_equal(und_file_read(test_path(&folder, a), 1 << 28, &data[0], &bytes[0], &err), UND_OK);
    assert_int_equal(und_file_read(test_path(&folder, b), 1 << 28, &data[1], &bytes[1], &err), UND_OK);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(data[0], data[1], bytes[0]);
    free(data[0]);
    free(data[1]);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    und_frame f = flowing(ball);
    write_vdb("one.vdb", &f, UND_UP_Z, false, 1);
    write_vdb("seven.vdb", &f, UND_UP_Z, false, 7);
    files_are_the_same_bytes("one.vdb", "seven.vdb");
    und_frame_clear(&f);
}

/* Of a file cut short anywhere an error is said, never a value read. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    und_frame f = flowing(ball);
    und_error err = {0};
    und_lattice l;
    float *values;
    char *data;
    size_t bytes;
    write_vdb("ball.vdb", &f, UND_UP_Y, false, 2);
    assert_int_equal(und_file_read(test_path(&folder, "ball.vdb"), 1 << 28, &data, &bytes, &err), UND_OK);
    for (int k = 0; k < 60; k++) {
        FILE *cut = fopen(test_path(&folder, "cut.vdb"), "wb");
        size_t keep = k < 20 ? (size_t)k * 16 : (size_t)(bytes * (k - 20) / 40);
        assert_non_null(cut);
        assert_int_equal(fwrite(data, 1, keep, cut), keep);
        fclose(cut);
        assert_int_equal(und_vdb_read_lattice(test_path(&folder, "cut.vdb"), "surface", &l, &values, &err),
                         UND_FAILED);
        assert_null(values);
        assert_non_null(strstr(err.text, "cut.vdb"));
    }
    assert_int_equal(und_vdb_read_lattice(test_path(&folder, "none.vdb"), NULL, &l, &values, &err),
                     UND_FAILED);
    assert_int_equal(und_vdb_read_lattice(test_path(&folder, "ball.vdb"), "density", &l, &values, &err),
                     UND_INVALID);
    assert_non_null(strstr(err.text, "no grid of floats named density"));
    free(data);
    und_frame_clear(&f);
}

/* Each voxel has its low faces; with z up they are those of turned axes. */
static void velocities_stand_on_low_faces(void **state)
{
    (void)state;
    und_frame f = flowing(ball);
    for (int k = 0; k < 2; k++) {
        write_vdb("ball.vdb", &f, k ? UND_UP_Z : UND_UP_Y, false, 2);
        und_lattice l;
        float *v[3];
        static const char *const part[3] = {"vel.x", "vel.y", "vel.z"};
        for (int a = 0; a < 3; a++)
            v[a] = read_vdb("ball.vdb", part[a], &l);
        long found = 0;
        for (size_t i = 0; i < und_lattice_count(&l); i++) {
            size_t at[3] = {i % (size_t)l.n[0], i / (size_t)l.n[0] % (size_t)l.n[1],
                            i / (size_t)l.n[0] / (size_t)l.n[1]};
            if (v[0][i] == 0 && v[1][i] == 0 && v[2][i] == 0)
                continue; /* not kept */
            found++;
            for (int a = 0; a < 3; a++) {
                double p[3];
                for (int b = 0; b < 3; b++)
                    p[b] = l.origin[b] + ((double)at[b] - (a == b ? 0.5 : 0)) * l.d[b];
                double expected = a == 0   ? flow_x(p[0], p[1], p[2])
                                  : a == 1 ? flow_y(p[0], p[1], p[2])
                                           : flow_z(p[0], p[1], p[2]);
                if (k)
                    expected = a == 0   ? flow_x(p[0], p[2], -p[1])
                               : a == 1 ? -flow_z(p[0], p[2], -p[1])
                                        : flow_y(p[0], p[2], -p[1]);
                assert_double_near((double)v[a][i], expected, 1e-5);
            }
        }
        assert_true(found > 4 * PI / 3 * 0.027 * N * N * N);
        for (int a = 0; a < 3; a++)
            free(v[a]);
    }
    und_frame_clear(&f);
}

/* The mesh as PLY is read by the reader of scenes: closed, with the ball's volume. */
static void a_mesh_is_read_back(void **state)
{
    (void)state;
    und_frame f = flowing(ball);
    und_error err = {0};
    und_frame_mesh_def def = {.velocity = true, .threads = 2};
    und_shell s;
    assert_int_equal(und_frame_mesh(&f, &def, &s, &err), UND_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(
            und_ply_write(test_path(&folder, "ball.ply"), &s, NULL, k ? UND_UP_Z : UND_UP_Y, &err), UND_OK);
        und_trimesh *mesh = und_trimesh_read(test_path(&folder, "ball.ply"), 1, und_vec(0, 0, 0), &err);
        assert_non_null(mesh);
        assert_int_equal(und_trimesh_count(mesh), s.triangle_count);
        assert_int_equal(und_trimesh_open_edges(mesh), 0);
        assert_double_near(und_trimesh_volume(mesh), 4 * PI / 3 * 0.027, 0.005 * 4 * PI / 3 * 0.027);
        und_bounds b = und_trimesh_bounds(mesh);
        assert_double_near(b.low.y, k ? -1.85 : -0.35, 1e-3);
        assert_double_near(b.high.z, k ? 0.25 : 1.85, 1e-3);
        und_trimesh_release(mesh);
    }
    und_shell_free(&s);
    und_frame_clear(&f);
}

/* Byte by byte: what stands in the header, and the numbers behind it. */
static void particles_are_as_the_header_says(void **state)
{
    (void)state;
    const float position[6] = {1, 2, 3, 4, 5, 6}, velocity[6] = {-1, -2, -3, -4, -5, -6},
                radius[2] = {0.5F, 0.25F}, age[2] = {7, 8};
    const int32_t id[2] = {10, 11};
    const und_ply_particles p = {2, position, velocity, radius, age, id};
    und_error err = {0};
    char *data;
    size_t bytes;
    assert_int_equal(und_ply_write_particles(test_path(&folder, "spray.ply"), &p, UND_UP_Z, &err), UND_OK);
    assert_int_equal(und_file_read(test_path(&folder, "spray.ply"), 1 << 20, &data, &bytes, &err), UND_OK);
    const char *end = strstr(data, "end_header\n");
    assert_non_null(end);
    end += strlen("end_header\n");
    assert_non_null(strstr(data, "format binary_little_endian 1.0\n"));
    assert_non_null(strstr(data,
                           "element vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
                           "property float vx\nproperty float vy\nproperty float vz\nproperty float radius\n"
                           "property float age\nproperty int id\nend_header\n"));
    const float first[8] = {1, -3, 2, -1, 3, -2, 0.5F, 7};
    assert_int_equal(bytes - (size_t)(end - data), 2 * 36);
    assert_memory_equal(end, first, sizeof first);
    assert_memory_equal(end + 32, &id[0], 4);
    assert_memory_equal(end + 68, &id[1], 4);
    free(data);
}

/* Loose triangles of a frame become one surface with shared vertices. */
static void skins_are_welded(void **state)
{
    (void)state;
    und_frame f = distance_frame(N, N, N, 1.0 / N, ball), g = und_frame_empty(1, 0, f.grid);
    und_error err = {0};
    und_frame_mesh_def def = {.threads = 1};
    und_shell s, again;
    und_isosurface soup;
    assert_int_equal(und_frame_mesh(&f, &def, &s, &err), UND_OK);
    assert_int_equal(und_isosurface_of(&s, 1, &soup, &err), UND_OK);
    und_item_def item = {.name = "liquid/mesh_position",
                         .unit = "m",
                         .kind = UND_PARTICLES,
                         .type = UND_F32,
                         .rank = 2,
                         .dim = {3 * (size_t)s.triangle_count, 3}};
    assert_non_null(und_frame_borrow(&g, &item, soup.position, &err));
    assert_int_equal(und_frame_mesh(&g, &def, &again, &err), UND_OK);
    assert_int_equal(again.vertex_count, s.vertex_count);
    assert_int_equal(again.triangle_count, s.triangle_count);
    for (int v = 0; v < again.vertex_count; v++) {
        const float *p = again.position + 3 * v, *n = again.normal + 3 * v;
        double along = ((double)p[0] - 0.7) * (double)n[0] + ((double)p[1] + 0.05) * (double)n[1] +
                       ((double)p[2] - 1.55) * (double)n[2];
        assert_double_near(along, 0.3, 0.01);
    }
    soup.position[4] = NAN;
    und_shell_free(&again);
    assert_int_equal(und_frame_mesh(&g, &def, &again, &err), UND_FAILED);
    assert_string_equal(err.text, "frame 1: the liquid's mesh is damaged");
    und_frame_clear(&g);
    und_frame_clear(&f);
    und_shell_free(&s);
    und_isosurface_free(&soup);
}

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_is_read_back),   cmocka_unit_test(a_pool_is_closed_at_walls),
        cmocka_unit_test(print_says_the_same),   cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(cut_files_are_refused), cmocka_unit_test(velocities_stand_on_low_faces),
        cmocka_unit_test(a_mesh_is_read_back),   cmocka_unit_test(particles_are_as_the_header_says),
        cmocka_unit_test(skins_are_welded),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
