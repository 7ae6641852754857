/* Shapes that are voxels, and the maps they come from. */
#include "tests/test.h"

#include "base/random.h"
#include "bodies/mass.h"
#include "geom/mesh.h"
#include "geom/voxels.h"
#include "geom/voxels_map.h"
#include "io/image.h"
#include "scene/scene.h"
#include "tests/folder.h"

#include <unistd.h>

enum { NX = 7, NY = 5, NZ = 6 };

static const und_vec3 low = {-0.3, 0.1, 2.7}, high = {1.1, 0.9, 3.3};

static bool at(const uint8_t *filled, int x, int y, int z)
{
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < NX && y < NY && z < NZ;
    return inside && filled[(z * NY + y) * NX + x];
}

static und_shape *shape_of(const uint8_t *filled, und_vec3 center)
{
    und_error err = {0};
    und_voxels_def def = {.n = {NX, NY, NZ}, .low = low, .high = high, .filled = filled};
    und_voxels *voxels = und_voxels_create(&def, &err);
    if (!voxels)
        fail_msg("%s", err.text);
    und_shape *shape =
        und_shape_create(&(und_shape){.kind = UND_VOXELS, .center = center, .voxels = voxels}, &err);
    assert_non_null(shape);
    return shape;
}

/* About a third of the voxels. */
static void scatter(uint8_t filled[NX * NY * NZ], uint64_t seed)
{
    for (uint64_t i = 0; i < NX * NY * NZ; i++)
        filled[i] = und_random(seed, 1, i) < 0.35;
}

static und_vec3 cell_size(void)
{
    return und_vec((high.x - low.x) / NX, (high.y - low.y) / NY, (high.z - low.z) / NZ);
}

/* The nearest of all voxels of the other kind, those around the map too. */
static double distance_by_search(const uint8_t *filled, und_vec3 p)
{
    und_vec3 c = cell_size();
    int ix = (int)floor((p.x - low.x) / c.x), iy = (int)floor((p.y - low.y) / c.y),
        iz = (int)floor((p.z - low.z) / c.z);
    bool inside = at(filled, ix, iy, iz);
    double least = INFINITY;
    for (int z = -1; z <= NZ; z++)
        for (int y = -1; y <= NY; y++)
            for (int x = -1; x <= NX; x++)
                if (at(filled, x, y, z) != inside) {
                    double dx = fmax(fmax(low.x + x * c.x - p.x, p.x - low.x - (x + 1) * c.x), 0),
                           dy = fmax(fmax(low.y + y * c.y - p.y, p.y - low.y - (y + 1) * c.y), 0),
                           dz = fmax(fmax(low.z + z * c.z - p.z, p.z - low.z - (z + 1) * c.z), 0);
                    least = fmin(least, sqrt(dx * dx + dy * dy + dz * dz));
                }
    return inside ? -least : least;
}

static und_vec3 somewhere(uint64_t seed, uint64_t i, double beyond)
{
    double p[3], from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    for (uint64_t a = 0; a < 3; a++)
        p[a] = from[a] + (to[a] - from[a]) * (und_random(seed, 2, 3 * i + a) * (1 + 2 * beyond) - beyond);
    return und_vec(p[0], p[1], p[2]);
}

/* Where voxels of both kinds lie side by side the distance is exact, and so is the sign everywhere. */
static void distance_is_the_nearest_face(void **state)
{
    (void)state;
    uint8_t filled[NX * NY * NZ];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        scatter(filled, seed);
        und_shape *shape = shape_of(filled, und_vec(0, 0, 0));
        for (uint64_t i = 0; i < 2000; i++) {
            und_vec3 p = somewhere(seed, i, 0);
            assert_double_near(und_shape_distance(shape, p), distance_by_search(filled, p), 1e-12);
        }
        for (uint64_t i = 0; i < 500; i++) { /* from outside, by way of the nearest place of the map */
            und_vec3 p = somewhere(seed + 10, i, 1);
            und_vec3 on = {fmin(fmax(p.x, low.x), high.x), fmin(fmax(p.y, low.y), high.y),
                           fmin(fmax(p.z, low.z), high.z)};
            double found = und_shape_distance(shape, p), is = distance_by_search(filled, p);
            double way = und_length(und_sub(p, on)) + fmax(distance_by_search(filled, on), 0);
            assert_true(found >= is - 1e-12 && found <= (is < 0 ? is : way) + 1e-12);
        }
        und_shape_destroy(shape);
    }
}

/* A solid block of voxels is a box. */
static void block_is_a_box(void **state)
{
    (void)state;
    uint8_t filled[NX * NY * NZ] = {0};
    und_vec3 c = cell_size(), by = {0.5, -2, 0.25};
    for (int z = 1; z < 5; z++)
        for (int y = 2; y < 5; y++)
            for (int x = 1; x < 7; x++)
                filled[(z * NY + y) * NX + x] = 1;
    und_shape *voxels = shape_of(filled, by);
    und_shape *box = und_shape_create(
        &(und_shape){.kind = UND_BOX,
                     .center = und_add(by, und_vec(low.x + 4 * c.x, low.y + 3.5 * c.y, low.z + 3 * c.z)),
                     .half = und_vec(3 * c.x, 1.5 * c.y, 2 * c.z)},
        NULL);
    assert_non_null(box);
    for (uint64_t i = 0; i < 2000; i++) {
        und_vec3 p = und_add(by, somewhere(3, i, 0.5)), d = und_sub(somewhere(4, i, 0), low);
        double first, box_first;
        assert_double_near(und_shape_distance(voxels, p), und_shape_distance(box, p), 1e-12);
        assert_double_near(und_shape_line(voxels, p, d, -3, 3, &first),
                           und_shape_line(box, p, d, -3, 3, &box_first), 1e-12);
        assert_double_near(first, box_first, 1e-12);
    }
    und_bounds a = und_shape_bounds(voxels), b = und_shape_bounds(box);
    assert_double_near(und_length(und_sub(a.low, b.low)), 0, 1e-12);
    assert_double_near(und_length(und_sub(a.high, b.high)), 0, 1e-12);
    assert_double_near(und_mass_of_shape(voxels).volume, und_mass_of_shape(box).volume, 1e-9);
    und_soup soup;
    assert_int_equal(und_shape_mesh(voxels, &soup, NULL), UND_OK);
    assert_int_equal(soup.triangle_count, 12); /* coplanar faces are joined */
    und_soup_destroy(&soup);
    und_shape_destroy(voxels);
    und_shape_destroy(box);
}

/* A line's length is the sum of what it has in each voxel. */
static double line_by_voxels(const uint8_t *filled, und_vec3 p, und_vec3 d, double from, double to,
                             double *first)
{
    und_vec3 c = cell_size();
    double total = 0;
    *first = to;
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                if (!at(filled, x, y, z))
                    continue;
                und_shape box = {.kind = UND_BOX,
                                 .center = und_vec(low.x + (x + 0.5) * c.x, low.y + (y + 0.5) * c.y,
                                                   low.z + (z + 0.5) * c.z),
                                 .half = und_mul(c, 0.5)};
                double there;
                total += und_shape_line(&box, p, d, from, to, &there);
                *first = fmin(*first, there);
            }
    return total;
}

static void lines_are_exact(void **state)
{
    (void)state;
    uint8_t filled[NX * NY * NZ];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        scatter(filled, seed);
        und_shape *voxels = shape_of(filled, und_vec(0, 0, 0));
        und_shape *group = und_shape_create(
            &(und_shape){.kind = UND_UNION,
                         .child_count = 1,
                         .children = memcpy(malloc(sizeof(und_shape *)), &voxels, sizeof voxels)},
            NULL); /* takes the way of groups: crossing by crossing */
        assert_non_null(group);
        for (uint64_t i = 0; i < 1000; i++) {
            und_vec3 p = somewhere(seed, i, 1), d = und_sub(somewhere(seed + 7, i, 0), p);
            if (i % 4 == 0)
                d = und_vec(0, i % 8 ? 1 : -1, 0);
            double first, there, length = line_by_voxels(filled, p, d, -2, 2, &there);
            assert_double_near(und_shape_line(voxels, p, d, -2, 2, &first), length, 1e-11);
            assert_double_near(first, there, 1e-11);
            assert_double_near(und_shape_line(group, p, d, -2, 2, &first), length, 1e-11);
            assert_double_near(first, there, 1e-11);
        }
        und_shape_destroy(group);
    }
}

/* A closed surface of axis-aligned rectangles: its volume by the divergence theorem and its area. */
static void faces_enclose_the_voxels(void **state)
{
    (void)state;
    uint8_t filled[NX * NY * NZ];
    scatter(filled, 9);
    und_vec3 c = cell_size();
    double volume = 0, area = 0, found_volume = 0, found_area = 0;
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                if (!at(filled, x, y, z))
                    continue;
                volume += c.x * c.y * c.z;
                area += c.y * c.z * (!at(filled, x - 1, y, z) + !at(filled, x + 1, y, z)) +
                        c.z * c.x * (!at(filled, x, y - 1, z) + !at(filled, x, y + 1, z)) +
                        c.x * c.y * (!at(filled, x, y, z - 1) + !at(filled, x, y, z + 1));
            }
    und_shape *shape = shape_of(filled, und_vec(0, 0, 0));
    und_soup soup;
    assert_int_equal(und_shape_mesh(shape, &soup, NULL), UND_OK);
    for (int i = 0; i < soup.triangle_count; i++) {
        const float *f = soup.position + 9 * i;
        und_vec3 p = {(double)f[0], (double)f[1], (double)f[2]},
                 q = {(double)f[3], (double)f[4], (double)f[5]},
                 r = {(double)f[6], (double)f[7], (double)f[8]};
        found_volume += und_dot(p, und_cross(q, r)) / 6;
        found_area += und_length(und_cross(und_sub(q, p), und_sub(r, p))) / 2;
    }
    assert_double_near(found_volume, volume, 1e-5 * volume);
    assert_double_near(found_area, area, 1e-5 * area);
    und_soup_destroy(&soup);
    und_shape_destroy(shape);
}

/* The middles of a grid's cells fall into the voxels of a map of the same resolution, whatever the sizes. */
static void cells_match_voxels(void **state)
{
    (void)state;
    enum { N = 97 };
    static uint8_t filled[N * 3];
    for (uint64_t i = 0; i < N * 3; i++)
        filled[i] = und_random(5, 5, i) < 0.5;
    for (int k = 1; k <= 50; k++) {
        double size = 0.1 * k, origin = 1000.0 / k;
        und_voxels_def def = {.n = {N, 3, 1},
                              .low = {origin, -origin, 0.3},
                              .high = {origin + size, -origin + size / 3, 0.3 + size / 7},
                              .filled = filled};
        und_voxels *voxels = und_voxels_create(&def, NULL);
        assert_non_null(voxels);
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < N; x++) {
                und_vec3 p = {origin + (x + 0.5) * (size / N), -origin + (y + 0.5) * (size / 3 / 3),
                              0.3 + size / 14};
                assert_int_equal(und_voxels_distance(voxels, p) < 0, filled[y * N + x]);
            }
        und_voxels_release(voxels);
    }
}

static void wrong_voxels_are_refused(void **state)
{
    (void)state;
    uint8_t none[8] = {0}, one[8] = {1};
    und_error err = {0};
    und_voxels_def def = {.n = {2, 2, 2}, .high = {1, 1, 1}, .filled = none};
    assert_null(und_voxels_create(&def, &err));
    assert_non_null(strstr(err.text, "no voxel is in the shape"));
    def.filled = one;
    def.high.y = NAN;
    assert_null(und_voxels_create(&def, &err));
    def.high.y = 0;
    assert_null(und_voxels_create(&def, &err));
    def.high.y = 1;
    def.n[2] = 0;
    assert_null(und_voxels_create(&def, &err));
    def.n[0] = def.n[1] = def.n[2] = UND_VOXELS_SIDE;
    assert_null(und_voxels_create(&def, &err));
    assert_null(und_shape_create(&(und_shape){.kind = UND_VOXELS}, &err));
}

static const char map_text[] = "3 2 2\n"
                               "###\n"
                               "#~1\n"
                               "\n"
                               "#..\n"
                               ".~.\n";

static void map_is_read_layer_by_layer(void **state)
{
    (void)state;
    und_voxel_map map;
    und_error err = {0};
    assert_int_equal(und_voxel_map_parse("m", map_text, strlen(map_text), false, &map, &err), UND_OK);
    assert_int_equal(map.n[0], 3);
    assert_int_equal(map.n[1], 2);
    assert_int_equal(map.n[2], 2);
    assert_memory_equal(map.what,
                        "###"
                        "#.."
                        "#~1"
                        ".~.",
                        12); /* [z][y][x] */
    free(map.what);
    assert_int_equal(und_voxel_map_parse("m", map_text, strlen(map_text), true, &map, &err), UND_OK);
    assert_memory_equal(map.what,
                        "#.."
                        "###"
                        ".~."
                        "#~1",
                        12);
    free(map.what);
    assert_int_equal(und_voxel_map_parse("m", "2 1 1\r\n#.\r\n", 11, true, &map, &err), UND_OK);
    free(map.what);
}

static void wrong_maps_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {"", "m.vox: expected the numbers of voxels along x, y and z"},
        {"\n3 1 1\n###", "m.vox:1: expected the numbers"},
        {"3 1\n###", "m.vox:1: expected the numbers"},
        {"3 1 1 1\n###",
         "m.vox:1: expected the numbers of voxels along x, y and z, \"nx ny nz\" and nothing more"},
        {"3 -1 1\n###", "m.vox:1: expected the numbers"},
        {"0 1 1\n", "m.vox:1: expected numbers of voxels from 1 to 4096"},
        {"99999999999999999999 1 1\n", "m.vox:1: expected numbers of voxels from 1 to 4096"},
        {"4096 4096 4096\n", "m.vox:1: expected at most 16777216 voxels"},
        {"4000 40 1\n###", "m.vox:1: 4000 x 40 x 1 voxels do not fit into the file"},
        {"3 1 2\n###\n##\n####", "m.vox:3: expected a row of 3 characters (layer 1, row 2), found 2"},
        {"3 1 2\n###\n\n###", "m.vox:3: expected a row of 3 characters"},
        {"3 2 1\n###\n\n\n", "m.vox:4: the map ends in layer 2 of 2, before row 1 of 1"},
        {"3 1 1\n#\t#\n", "m.vox:2: expected printable characters, found byte 9 in column 2"},
        {"1 1 1\n#\n\n#", "m.vox:4: expected nothing after the last of 1 layers"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_voxel_map map;
        und_error err = {0};
        assert_int_equal(
            und_voxel_map_parse("m.vox", wrong[i].text, strlen(wrong[i].text), false, &map, &err),
            UND_INVALID);
        if (!strstr(err.text, wrong[i].fragment))
            fail_msg("%s\ngives \"%s\"\nwithout \"%s\"", wrong[i].text, err.text, wrong[i].fragment);
        assert_null(map.what);
    }
}

/* A map that was cut short or changed is read or refused, with a message; its bytes end where they end. */
static void damaged_maps_are_read_or_refused(void **state)
{
    (void)state;
    size_t size = strlen(map_text);
    int good = 0, refused = 0;
    for (size_t cut = 0; cut <= size; cut++)
        for (int change = 0; change < 257; change++) {
            char *text = malloc(size); /* as long as it is, so that sanitizers see a step too far */
            assert_non_null(text);
            memcpy(text, map_text, size);
            size_t length = change == 256 ? cut : size;
            if (change < 256 && cut < size)
                text[cut] = (char)change;
            char *exact = malloc(length ? length : 1);
            assert_non_null(exact);
            memcpy(exact, text, length);
            und_voxel_map map;
            und_error err = {0};
            und_status status = und_voxel_map_parse("m.vox", exact, length, change & 1, &map, &err);
            assert_true(status == UND_OK ? map.what != NULL : err.text[0] != 0);
            good += status == UND_OK;
            refused += status == UND_INVALID;
            free(map.what);
            free(exact);
            free(text);
        }
    assert_true(good > 1000 && refused > 1000);
}

static und_scene *load(const char *text, und_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/v.lua", folder.path);
    return und_scene_from_text(text, path, NULL, 0, err);
}

static const und_shape *solid_of(const und_scene *scene, int i)
{
    return und_scene_get(scene)->cells.solids[i].shape;
}

/* One map gives solids, water and gates; a stack of pictures does the same. */
static void scenes_have_voxels(void **state)
{
    (void)state;
    und_error err = {0};
    und_image image;
    assert_int_equal(und_file_write(test_path(&folder, "cove.vox"), map_text, strlen(map_text), &err),
                     UND_OK);
    assert_int_equal(und_image_create(&image, 3, 2, &err), UND_OK);
    for (int layer = 0; layer < 2; layer++) {
        char name[32];
        for (int i = 0; i < 6; i++) /* row z, column x: white but for one blue and one black pixel a layer */
            for (int k = 0; k < 3; k++)
                image.rgb[3 * i + k] = i == layer ? 0 : i == 4 + layer ? (float)(k == 2) : 1;
        snprintf(name, sizeof name, "l%02d.png", layer);
        assert_int_equal(und_png_write(test_path(&folder, name), &image, 1, &err), UND_OK);
    }
    und_image_destroy(&image);
    und_scene *scene =
        load("local function m(what) return voxels { file = 'cove.vox', what = what, max = {3, 2, 2} } end\n"
             "local stack = { layers = {'l00.png', 'l01.png'}, what = 'dark', cell = 1 }\n"
             "liquid.cells { size = {3, 2, 2}, cells = 3, fill = m '~',\n"
             "  solids = { m '#', voxels(stack),\n"
             "    voxels { layers = 'l%02d.png', count = 2, what = '#0000ff', cell = {1, 1, 1}, order = "
             "'down' } },\n"
             "  gates = {{ shape = m '1', kind = 'outflow' }} }",
             &err);
    if (!scene)
        fail_msg("%s", err.text);
    const und_cells_def *cells = &und_scene_get(scene)->cells;
    assert_true(und_shape_distance(cells->fills[0].shape, und_vec(1.5, 0.5, 1.5)) < 0);
    assert_true(und_shape_distance(cells->fills[0].shape, und_vec(1.5, 0.5, 0.5)) > 0);
    assert_true(und_shape_distance(cells->gates[0].shape, und_vec(2.5, 0.5, 1.5)) < 0);
    assert_true(und_shape_distance(solid_of(scene, 0), und_vec(0.5, 1.5, 0.5)) < 0);
    assert_true(und_shape_distance(solid_of(scene, 1), und_vec(0.5, 0.5, 0.5)) < 0);
    assert_true(und_shape_distance(solid_of(scene, 1), und_vec(1.5, 1.5, 0.5)) < 0);
    assert_true(und_shape_distance(solid_of(scene, 1), und_vec(1.5, 0.5, 0.5)) > 0);
    assert_true(und_shape_distance(solid_of(scene, 2), und_vec(1.5, 1.5, 1.5)) < 0);
    assert_true(und_shape_distance(solid_of(scene, 2), und_vec(2.5, 0.5, 1.5)) < 0);
    assert_true(und_shape_distance(solid_of(scene, 2), und_vec(1.5, 0.5, 1.5)) > 0);
    und_scene_destroy(scene);
}

static void wrong_scenes_of_voxels_say_so(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {"voxels { what = '#', cell = 1 }", "v.lua:1: voxels: missing key \"file\" or \"layers\""},
        {"voxels { file = 'cove.vox', cell = 1 }", "missing key \"what\""},
        {"voxels { file = 'cove.vox', what = '', cell = 1 }", "expected a text of 1 to 95 characters"},
        {"voxels { file = 'cove.vox', what = '#' }", "missing key \"max\" (the high corner) or \"cell\""},
        {"voxels { file = 'cove.vox', what = '#', cell = 1, max = {1, 1, 1} }", "found both"},
        {"voxels { file = 'cove.vox', what = '#', cell = 0 }", "expected a number from 1e-06"},
        {"voxels { file = 'cove.vox', what = '#', cell = 0/0 }", "found nan"},
        {"voxels { file = 'cove.vox', what = '#', max = {1, -1, 1} }", "must be below the high one"},
        {"voxels { file = 'cove.vox', what = 'x', cell = 1 }", "no voxel is in the shape"},
        {"voxels { file = 'cove.vox', what = '#', cell = 1, order = 'upp' }", "did you mean \"up\"?"},
        {"voxels { file = '../cove.vox', what = '#', cell = 1 }", "leads out of the scene's folder"},
        {"voxels { file = 'none.vox', what = '#', cell = 1 }", "cannot open \"none.vox\""},
        {"voxels { file = 'l00.png', what = '#', cell = 1 }", "l00.png:1: expected the numbers"},
        {"voxels { layers = {}, what = 'dark', cell = 1 }", "expected a list of PNG files"},
        {"voxels { layers = {'cove.vox'}, what = 'dark', cell = 1 }", "cove.vox"},
        {"voxels { layers = {3}, what = 'dark', cell = 1 }",
         "voxels.layers[1]: expected the name of a PNG file"},
        {"voxels { layers = {'l00.png'}, what = '#12345', cell = 1 }", "a colour \"#rrggbb\" of PNGs"},
        {"voxels { layers = 'l%02d.png', what = 'dark', cell = 1 }", "missing key \"count\""},
        {"voxels { layers = 'l%s.png', count = 2, what = 'dark', cell = 1 }", "a name with one number in it"},
        {"voxels { layers = 'l%d%d.png', count = 2, what = 'dark', cell = 1 }",
         "a name with one number in it"},
        {"voxels { layers = 'l%02d.png', count = 3, what = 'dark', cell = 1 }", "cannot open \"l02.png\""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        assert_null(load(wrong[i].text, &err));
        assert_int_equal(err.status, UND_INVALID);
        if (!strstr(err.text, wrong[i].fragment))
            fail_msg("%s\ngives \"%s\"\nwithout \"%s\"", wrong[i].text, err.text, wrong[i].fragment);
    }
}

static int set_up(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(distance_is_the_nearest_face),
                                       cmocka_unit_test(block_is_a_box),
                                       cmocka_unit_test(lines_are_exact),
                                       cmocka_unit_test(faces_enclose_the_voxels),
                                       cmocka_unit_test(cells_match_voxels),
                                       cmocka_unit_test(wrong_voxels_are_refused),
                                       cmocka_unit_test(map_is_read_layer_by_layer),
                                       cmocka_unit_test(wrong_maps_say_where),
                                       cmocka_unit_test(damaged_maps_are_read_or_refused),
                                       cmocka_unit_test(scenes_have_voxels),
                                       cmocka_unit_test(wrong_scenes_of_voxels_say_so)};
    return cmocka_run_group_tests(tests, set_up, teardown);
}
