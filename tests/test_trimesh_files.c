/* Meshes from OBJ and PLY files: their forms, their errors, and thousands of damaged ones. */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/random.h"
#include "geom/trimesh_file.h"
#include "scene/scene.h"

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static void put(const char *name, const char *data, size_t bytes)
{
    FILE *file = fopen(test_path(&folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

static und_trimesh *load(const char *text, und_error *err)
{
    put("mesh", text, strlen(text));
    return und_trimesh_read(test_path(&folder, "mesh"), 1, und_vec(0, 0, 0), err);
}

static void expect_box(const char *text, int triangles)
{
    und_error err = {0};
    und_trimesh *mesh = load(text, &err);
    if (!mesh)
        fail_msg("%s\n%s", err.text, text);
    assert_int_equal(und_trimesh_count(mesh), triangles);
    assert_int_equal(und_trimesh_open_edges(mesh), 0);
    assert_double_near(und_trimesh_volume(mesh), 6, 1e-12);
    assert_double_near(und_trimesh_distance(mesh, und_vec(0.25, 1, 1.5)), -0.25, 1e-12);
    assert_double_near(und_trimesh_distance(mesh, und_vec(0.5, 1, 4)), 1, 1e-12);
    und_trimesh_release(mesh);
}

/* A box of 1 x 2 x 3 from the origin. */
#define OBJ_CORNERS "v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nv 0 0 3\nv 1 0 3\nv 1 2 3\nv 0 2 3\n"
#define OBJ_FACES "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n"
#define PLY_CORNERS "0 0 0\n1 0 0\n1 2 0\n0 2 0\n0 0 3\n1 0 3\n1 2 3\n0 2 3\n"
#define PLY_FACES "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 2 3 7 6\n4 0 4 7 3\n4 1 2 6 5\n"
#define PLY_POINT "property float x\nproperty float y\nproperty float z\n"
#define PLY_LIST "property list uchar int vertex_indices\n"

static void obj_forms(void **state)
{
    (void)state;
    expect_box(OBJ_CORNERS OBJ_FACES, 12);
    expect_box("# a box\r\nmtllib box.mtl\r\no box\r\n" OBJ_CORNERS
               "vn 0 0 1\nvt 0 0\ng faces\nusemtl red\ns off\n"
               "f 4/1/1 3/1/1 2/1/1 1/1/1\nf 5/1 6/1 7/1 8/1\nf 1//1 2//1 6//1 5//1 # a remark\n\n"
               "  f\t3 4 8 7\r\nf 1 5 \\\n 8 4\nf 2 3 7 6",
               12);
    expect_box(OBJ_CORNERS
               "f -5 -6 -7 -8\nf -4 -3 -2 -1\nf 1 2 -3 -4\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7\nf 2 7 6\n",
               12);
    /* a vertex per face, inside out, and a face without area */
    expect_box(OBJ_CORNERS OBJ_CORNERS
               "f 1 2 3 4\nf 16 15 14 13\nf 5 6 2 1\nf 7 8 4 3\nf 4 8 5 1\nf 6 7 3 2\n"
               "f 1 9 2\n",
               12);
    expect_box(
        "v 0 0 0 1\nv 1 0 0 1\nv 1 2 0 1\nv 0 2 0 1\nv 0.0e1 0 3\nv +1 0 3\nv 1 2 3\nv 0 2 3\n" OBJ_FACES,
        12);
}

static void ply_forms(void **state)
{
    (void)state;
    expect_box("ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 8\n" PLY_POINT
               "element face 6\n" PLY_LIST "end_header\n" PLY_CORNERS PLY_FACES,
               12);
    /* other orders, names and properties; line ends of another system */
    expect_box("ply\r\nformat ascii 1.0\r\nelement camera 2\r\nproperty list uint8 float32 numbers\r\n"
               "element face 6\r\nproperty uchar flag\r\nproperty list uint8 uint32 vertex_index\r\n"
               "element vertex 8\r\nproperty float64 z\r\nproperty short quality\r\nproperty float64 x\r\n"
               "property float64 y\r\nend_header\r\n3 1.5 2.5 3.5\r\n0\r\n"
               "7 4 3 2 1 0\r\n7 4 4 5 6 7\r\n7 4 0 1 5 4\r\n7 4 2 3 7 6\r\n7 4 0 4 7 3\r\n7 4 1 2 6 5\r\n"
               "0 9 0 0\r\n0 9 1 0\r\n0 9 1 2\r\n0 9 0 2\r\n3 9 0 0\r\n3 9 1 0\r\n3 9 1 2\r\n3 9 0 2\r\n",
               12);
}

static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, 2, 0},
                                     {0, 0, 3}, {1, 0, 3}, {1, 2, 3}, {0, 2, 3}};
static const int faces[6][4] = {{3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                {2, 3, 7, 6}, {0, 4, 7, 3}, {1, 2, 6, 5}};

/* The box as binary PLY, coloured by x; its size. */
static size_t binary_box(char *out, size_t room)
{
    int n = snprintf(
        out, room,
        "ply\nformat binary_little_endian 1.0\nelement vertex 8\nproperty uchar red\nproperty float x\n"
        "property uchar green\nproperty double y\nproperty float z\nproperty uchar blue\n"
        "element face 6\nproperty list ushort short tags\nproperty list uchar ushort vertex_indices\n"
        "end_header\n");
    char *at = out + n;
    for (int i = 0; i < 8; i++) {
        float x = (float)corners[i][0], z = (float)corners[i][2];
        *at++ = (char)(corners[i][0] > 0 ? 255 : 0);
        memcpy(at, &x, 4);
        at[4] = 0;
        memcpy(at + 5, &corners[i][1], 8);
        memcpy(at + 13, &z, 4);
        at[17] = 0;
        at += 18;
    }
    for (int i = 0; i < 6; i++) {
        const char tags[] = {1, 0, 17, 17, 4};
        memcpy(at, tags, 5);
        at += 5;
        for (int k = 0; k < 4; k++, at += 2) {
            at[0] = (char)faces[i][k];
            at[1] = 0;
        }
    }
    return (size_t)(at - out);
}

static void ply_binary(void **state)
{
    (void)state;
    char data[1024];
    size_t bytes = binary_box(data, sizeof data);
    put("mesh", data, bytes);
    und_error err = {0};
    und_trimesh *mesh = und_trimesh_read(test_path(&folder, "mesh"), 2, und_vec(0, 0, 0), &err);
    if (!mesh)
        fail_msg("%s", err.text);
    assert_double_near(und_trimesh_volume(mesh), 48, 1e-12);
    for (int i = 0; i < 36; i++) {
        und_vec3 p = und_trimesh_corner(mesh, i / 3, i % 3);
        const float *color = und_trimesh_color(mesh, i / 3, i % 3);
        assert_true(color[0] == (p.x > 1 ? 1.0F : 0.0F) && color[1] == 0 && color[2] == 0);
    }
    und_trimesh_release(mesh);
}

/* Scaled first, then turned: x goes to -z by a quarter turn about y. */
static void placement_and_colors(void **state)
{
    (void)state;
    put("mesh", OBJ_CORNERS OBJ_FACES, sizeof OBJ_CORNERS OBJ_FACES - 1);
    und_trimesh *mesh = und_trimesh_read(test_path(&folder, "mesh"), 0.5, und_vec(0, 90, 0), NULL);
    und_bounds b = und_trimesh_bounds(mesh);
    assert_double_near(b.low.x, 0, 1e-12);
    assert_double_near(b.high.x, 1.5, 1e-12);
    assert_double_near(b.low.z, -0.5, 1e-12);
    assert_double_near(b.high.y, 1, 1e-12);
    assert_null(und_trimesh_color(mesh, 0, 0));
    und_trimesh_release(mesh);
    /* half of sRGB's range is 0.214 in linear light */
    mesh = load("v 0 0 0 0.5 1 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", NULL);
    for (int i = 0; i < 12; i++) {
        const float *color = und_trimesh_color(mesh, i / 3, i % 3);
        bool origin = und_length(und_trimesh_corner(mesh, i / 3, i % 3)) < 0.5;
        assert_double_near(color[0], origin ? 0.21404 : -1, 1e-5);
        assert_double_near(color[1], origin ? 1 : -1, 1e-6);
    }
    und_trimesh_release(mesh);
}

static void errors_name_the_line(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"", "mesh: no faces"},
        {"v 1 2\n", "mesh:1: expected v x y z"},
        {"v 1 2 3\nv 1 two 3\n", "mesh:2: expected a number, found \"two\""},
        {"v 1 2 nan\n", "mesh:1: expected a number, found \"nan\""},
        {"v 0 0 0 1 1 2\n", "mesh:1: expected a colour from 0 to 1, found 2"},
        {"v 0 0 0\n\nf 1 1 2\n", "mesh:3: there is no vertex 2; 1 came before this line"},
        {"v 0 0 0\nf 1 1 0\n", "mesh:2: there is no vertex 0"},
        {"v 0 0 0\nf 1 1 -2\n", "mesh:2: there is no vertex -2"},
        {"v 0 0 0\nf 1 1\n", "mesh:2: expected three or more corners, found the end of the line"},
        {"v 0 0 0\nf 1 1 1x\n", "mesh:2: expected the number of a vertex, found \"1x\""},
        {"v 0 0 0\nw 1\n", "mesh:2: expected a line of an OBJ file (v, f, vn, g, ...), found \"w\""},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n", "mesh: the mesh has no volume"},
        {"v 9e9 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "mesh: vertex 1: expected numbers of at most"},
        {"ply\n",
         "mesh:2: expected format, element, property, comment or end_header, found the end of the file"},
        {"ply\nformat binary_big_endian 1.0\n", "mesh:2: expected format ascii 1.0 or binary_little_endian"},
        {"ply\nproperty int x\n", "mesh:2: expected an element before"},
        {"ply\nelement vertex many\n", "mesh:2: expected element NAME COUNT"},
        {"ply\nelement vertex 1\nproperty number x\n", "mesh:3: expected property TYPE NAME"},
        {"ply\nend_header\n", "mesh:2: expected a format"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nend_header\n1\n",
         "mesh: the vertices need the properties x, y and z"},
        {"ply\nformat ascii 1.0\nelement vertex 1\n" PLY_POINT "end_header\n1 2\n",
         "mesh:9: expected a number, found the end of the file"},
        {"ply\nformat ascii 1.0\nelement face 1\n" PLY_LIST "end_header\n2 0 1\n",
         "mesh:6: expected a face of three or more corners, found 2"},
        {"ply\nformat ascii 1.0\nelement face 1\n" PLY_LIST "end_header\n3 0 1 -1\n",
         "mesh:6: expected the number of a vertex, found -1"},
        {"ply\nformat ascii 1.0\nelement vertex 3\n" PLY_POINT "element face 1\n" PLY_LIST
         "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
         "mesh: triangle 1: there is no vertex 4"},
        {"ply\nformat binary_little_endian 1.0\nelement face 1\n" PLY_LIST "end_header\n\003123",
         "mesh: byte 105: the file ends too early"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        assert_null(load(wrong[i][0], &err));
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("expected \"%s\", found \"%s\"", wrong[i][1], err.text);
    }
    und_error err = {0};
    assert_null(und_trimesh_read(test_path(&folder, "missing.obj"), 1, und_vec(0, 0, 0), &err));
    assert_non_null(strstr(err.text, "missing.obj"));
}

/* Cut, overwritten or with something put in between: an error that names the file, or a mesh that answers. */
static int damage(const char *data, size_t bytes, const char *what)
{
    const uint64_t times = test_times(3000);
    int refused = 0;
    char mutant[2048 + 16];
    assert_true(bytes <= 2048);
    for (uint64_t seed = 0; seed < times; seed++) {
        size_t at = und_random_bits(5, 1, seed) % bytes, run = 1 + und_random_bits(5, 2, seed) % 8,
               size = bytes;
        uint64_t way = seed < bytes ? 0 : 1 + und_random_bits(5, 3, seed) % 3;
        memcpy(mutant, data, bytes);
        if (way == 0)
            size = seed; /* every truncation there is */
        if (way == 3) {
            memmove(mutant + at + run, mutant + at, bytes - at);
            size += run;
        }
        for (size_t i = at; way > 0 && i < at + run && i < size; i++)
            mutant[i] = way == 1 ? (char)und_random_bits(seed, 4, i)
                                 : "0123456789 -/\n.v"[und_random_bits(seed, 4, i) % 16];
        put("mesh", mutant, size);
        und_error err = {0};
        und_trimesh *mesh = und_trimesh_read(test_path(&folder, "mesh"), 1, und_vec(0, 0, 0), &err);
        if (!mesh) {
            refused++;
            assert_non_null(strstr(err.text, "mesh"));
            continue;
        }
        double first,
            length = und_trimesh_line(mesh, und_vec(0.5, 1, 1.5), und_vec(0.1, 1, 0.2), -5, 5, &first);
        assert_true(length >= 0 && length <= 10);
        assert_true(isfinite(und_trimesh_distance(mesh, und_vec(0.5, 1, 1.5))));
        und_trimesh_release(mesh);
    }
    print_message("%d of %d %s meshes refused\n", refused, (int)times, what);
    return refused;
}

static void damaged_files(void **state)
{
    (void)state;
    static const char obj[] = "# box\no box\n" OBJ_CORNERS OBJ_FACES;
    static const char ply[] = "ply\nformat ascii 1.0\nelement vertex 8\n" PLY_POINT
                              "element face 6\n" PLY_LIST "end_header\n" PLY_CORNERS PLY_FACES;
    char binary[1024];
    int refused = damage(obj, sizeof obj - 1, "OBJ");
    refused += damage(ply, sizeof ply - 1, "PLY");
    refused += damage(binary, binary_box(binary, sizeof binary), "binary PLY");
    assert_true(refused > (int)test_times(4000));
}

static void expect_scene(const char *shape, const char *error)
{
    char text[512];
    snprintf(text, sizeof text,
             "scene { name = 'box' }\nliquid.waves { size = {4, 4}, cells = 8, ground = -1, level = 0,\n"
             "objects = { { shape = %s } } }\n",
             shape);
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, test_path(&folder, "box.lua"), NULL, 0, &err);
    if (!error && !scene)
        fail_msg("%s", err.text);
    if (error && (scene || !strstr(err.text, error)))
        fail_msg("expected \"%s\", found \"%s\"", error, err.text);
    if (!error) {
        const und_object_def *object = und_scene_get(scene)->waves.objects;
        und_bounds b = und_shape_bounds(object->shape);
        assert_double_near(b.high.x, 2.5, 1e-12);
        assert_double_near(b.low.y, 5, 1e-12);
        assert_true(object->color[0] < 0);
    }
    und_scene_destroy(scene);
}

static void meshes_in_scenes(void **state)
{
    (void)state;
    put("box.obj", OBJ_CORNERS OBJ_FACES, sizeof OBJ_CORNERS OBJ_FACES - 1);
    put("bad.obj", "v 0 0\n", 6);
    static const char no_lid[] = OBJ_CORNERS "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\n";
    put("open.obj", no_lid, sizeof no_lid - 1);
    expect_scene("mesh { file = 'box.obj', scale = 0.5, turn = {0, 90, 0}, center = {1, 5, 0} }", NULL);
    expect_scene("union { mesh { file = 'box.obj', scale = 0.5, center = {2, 5, 0} }, "
                 "box { center = {2, 5.5, 0}, size = {1, 1, 1} } }",
                 NULL);
    expect_scene("mesh { file = 'open.obj' }", "expected a closed mesh, found 4 open edges");
    expect_scene(
        "mesh { file = 'open.obj', open = true, scale = 0.5, turn = {0, 90, 0}, center = {1, 5, 0} }", NULL);
    expect_scene("mesh { file = 'bad.obj' }", "bad.obj:1: expected v x y z");
    expect_scene("mesh { file = 'none.obj' }", "cannot open \"none.obj\"");
    expect_scene("mesh { file = '../box.obj' }", "leads out of the scene's folder");
    expect_scene("mesh { file = 7 }", "expected the name of an OBJ or PLY file");
    expect_scene("mesh { scale = 7 }", "missing key \"file\"");
    expect_scene("mesh { file = 'box.obj', scale = 1e9 }", "expected numbers of at most");
}

/* The duck of the scenes: closed, about as large as one, looking along x, the same on both sides. */
static void rubber_duck(void **state)
{
    (void)state;
    und_error err = {0};
    und_trimesh *mesh = und_trimesh_read(UND_SOURCE_DIR "/scenes/models/duck.obj", 1, und_vec(0, 0, 0), &err);
    if (!mesh)
        fail_msg("%s", err.text);
    assert_int_equal(und_trimesh_open_edges(mesh), 0);
    assert_true(und_trimesh_count(mesh) > 1000 && und_trimesh_count(mesh) < 3000);
    und_bounds b = und_trimesh_bounds(mesh);
    assert_double_near(b.high.x - b.low.x, 0.106, 0.001);
    assert_double_near(b.high.z, -b.low.z, 1e-4);
    assert_true(und_trimesh_distance(mesh, und_vec(0.02, 0.03, 0)) < -0.01);  /* its head is in front */
    assert_true(und_trimesh_distance(mesh, und_vec(-0.02, 0.03, 0)) > 0.005); /* and nothing behind it */
    double sum = 0, first, step = 0.0005;
    for (double x = b.low.x + step / 2; x < b.high.x; x += step)
        for (double z = b.low.z + step / 2; z < b.high.z; z += step)
            sum += step * step * und_trimesh_line(mesh, und_vec(x, 0, z), und_vec(0, 1, 0), -1, 1, &first);
    /* the parts overlap: each alone has more than the whole */
    assert_true(sum < und_trimesh_volume(mesh) && sum > 0.95 * und_trimesh_volume(mesh));
    und_trimesh_release(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_forms),
        cmocka_unit_test(ply_forms),
        cmocka_unit_test(ply_binary),
        cmocka_unit_test(placement_and_colors),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(meshes_in_scenes),
        cmocka_unit_test(rubber_duck),
    };
    return cmocka_run_group_tests_name("files of meshes", tests, setup, teardown);
}
