/* Thousands of damaged files, the same ones every time: none may crash the program, and what loads must be
 * what was written. */
#include "tests/folder.h"
#include "tests/mutant.h"
#include "tests/small_cache.h"
#include "tests/test.h"

#include "cache/store.h"
#include "geom/voxels_map.h"
#include "io/image.h"
#include "io/points.h"

static void damaged_maps(void **state)
{
    (void)state;
    enum { WIDTH = 40, HEIGHT = 30 };
    und_image image;
    assert_int_equal(und_image_create(&image, WIDTH, HEIGHT, NULL), UND_OK);
    for (size_t i = 0; i < 3 * WIDTH * HEIGHT; i++)
        image.rgb[i] = (float)und_random(1, 1, i / 5);
    const char *path = test_path(&folder, "map.png");
    assert_int_equal(und_png_write(path, &image, 1, NULL), UND_OK);
    und_image_destroy(&image);
    subject s = take(path);
    int width, height, errors = 0, times = (int)test_times(4000);
    float *whole, *map;
    assert_int_equal(und_png_read_gray(path, &width, &height, &whole, NULL), UND_OK);
    for (int seed = 0; seed < times; seed++) {
        mutate(&s, (uint64_t)seed);
        und_error err = {0};
        if (und_png_read_gray(path, &width, &height, &map, &err)) {
            errors++;
            assert_non_null(strstr(err.text, "map.png"));
        } else { /* what is not the picture may change: a remark, what follows the end */
            assert_true(width == WIDTH && height == HEIGHT);
            assert_memory_equal(map, whole, WIDTH * HEIGHT * sizeof *map);
        }
        free(map);
    }
    print_message("%d of %d PNG maps refused\n", errors, times);
    assert_true(errors > 0.85 * times);
    free(whole);
    put_back(&s);
}

static void damage_points(const char *name, const char *kind, const char *text)
{
    const char *path = test_path(&folder, name);
    put_file(path, text, strlen(text));
    subject s = take(path);
    int errors = 0, times = (int)test_times(3000);
    for (int seed = 0; seed < times; seed++) {
        mutate(&s, (uint64_t)seed);
        und_error err = {0};
        und_point_rows rows = {0};
        if (und_points_read(s.path, NULL, &rows, &err)) {
            errors++;
            assert_non_null(strstr(err.text, name));
        }
        for (int i = 0; err.text[0] == 0 && i < rows.count; i++)
            for (int k = 0; k < UND_POINT_NUMBERS; k++)
                assert_true(!(rows.has >> k & 1) || isfinite(rows.number[i][k]));
        und_points_free(&rows);
    }
    print_message("%d of %d control points as %s refused\n", errors, times, kind);
    assert_true(errors > times / 4);
    put_back(&s);
}

static void damaged_control_points(void **state)
{
    (void)state;
    damage_points("points.csv", "CSV",
                  "id,x,y,z,vx,vy,vz,radius\n1,0.5,0.25,0.125,1,-1,0.5,0.1\n2,-3e-2,1,2,0,0,0,0.2\n"
                  "7,1.5,1.25,0.5,0.1,0.2,0.3,0.05\n");
    damage_points(
        "points.ply", "PLY",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "property float vx\nproperty float vy\nproperty float vz\nend_header\n"
        "0.5 0.25 0.125 1 -1 0.5\n-3e-2 1 2 0 0 0\n1.5 1.25 0.5 0.1 0.2 0.3\n");
}

/* What is read has as many printable characters as it says. */
static void damaged_voxels(void **state)
{
    (void)state;
    const char *text = "6 3 2\n######\n#~~~~#\n\n#....#\n#.~~.#\n\n#....#\n......\n";
    const char *path = test_path(&folder, "tank.vox");
    put_file(path, text, strlen(text));
    subject s = take(path);
    int errors = 0, times = (int)test_times(3000);
    for (int seed = 0; seed < times; seed++) {
        mutate(&s, (uint64_t)seed);
        und_error err = {0};
        und_voxel_map map = {0};
        if (und_voxel_map_read(s.path, seed % 2, &map, &err)) {
            errors++;
            assert_int_equal(err.status, UND_INVALID);
            assert_non_null(strstr(err.text, "tank.vox"));
            assert_null(map.what);
        } else {
            for (int i = 0; i < map.n[0] * map.n[1] * map.n[2]; i++)
                assert_true(map.what[i] >= ' ' && map.what[i] <= '~');
        }
        free(map.what);
    }
    print_message("%d of %d voxel maps refused\n", errors, times);
    assert_true(errors > times / 4);
    put_back(&s);
}

static void damaged_manifests(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/manifest.json", small_path);
    subject s = take(path);
    int errors = 0, times = (int)test_times(4000);
    for (int seed = 0; seed < times; seed++) {
        mutate(&s, (uint64_t)seed);
        und_error err = {0};
        und_cache *cache = und_cache_open(small_path, &err);
        if (!cache) {
            errors++;
            assert_non_null(strstr(err.text, "manifest.json"));
            continue;
        }
        und_cache_info info = und_cache_describe(cache); /* only blanks can have changed */
        assert_string_equal(info.name, "beach");
        assert_string_equal(info.scene_text, "scene {}");
        assert_true(info.row_count == SMALL_FRAMES && info.end == SMALL_FRAMES && info.fps == 24);
        und_cache_close(cache, NULL, 0, NULL);
    }
    print_message("%d of %d manifests refused\n", errors, times);
    assert_true(errors > 0.75 * times);
    put_back(&s);
}

static void damaged_ledgers(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/ledger.csv", small_path);
    subject s = take(path);
    int refused = 0, times = (int)test_times(2000);
    for (int seed = 0; seed < times; seed++) {
        bool changed = mutate(&s, (uint64_t)seed);
        und_error err = {0};
        und_cache *cache = und_cache_open(small_path, &err);
        if (!cache) {
            refused++;
            assert_non_null(strstr(err.text, "ledger.csv"));
            continue;
        }
        und_cache_info info = und_cache_describe(cache);
        assert_true(info.row_count >= SMALL_FRAMES - changed);
        for (int i = 0; i < info.row_count; i++) {
            assert_int_equal(info.rows[i].frame, i + 1);
            if (info.row_count == SMALL_FRAMES)
                assert_true(info.rows[i].ledger.measured == 10 + 0.5 * (i + 1));
        }
        und_cache_close(cache, NULL, 0, NULL);
    }
    print_message("%d of %d ledgers refused\n", refused, times);
    put_back(&s);
}

/* A frame file, then the static items: any change at all is found before HDF5 sees the file. */
static void damaged_frames(void **state)
{
    (void)state;
    const char *names[2] = {"frames/beach.0002.h5", "static.h5"};
    int refused = 0, times = (int)test_times(2000);
    for (int i = 0; i < 2; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", small_path, names[i]);
        subject s = take(path);
        for (int seed = 0; seed < times; seed++) {
            bool changed = mutate(&s, (uint64_t)seed);
            und_error err = {0};
            und_frame frame;
            und_cache *cache = und_cache_open(small_path, &err);
            und_status status = und_cache_read(cache, 2, &frame, &err);
            assert_int_equal(status, changed ? UND_FAILED : UND_OK);
            if (changed)
                assert_non_null(strstr(err.text, names[i]));
            refused += changed;
            und_frame_clear(&frame);
            und_cache_close(cache, NULL, 0, NULL);
        }
        put_back(&s);
    }
    print_message("%d of %d HDF5 frames refused\n", refused, 2 * times);
}

/* A resume goes back to the checkpoint before. */
static void damaged_checkpoints(void **state)
{
    (void)state;
    const char *names[3] = {"checkpoints/beach.0004.h5", "manifest.json", "ledger.csv"};
    subject s[3];
    for (int i = 0; i < 3; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", small_path, names[i]);
        s[i] = take(path);
    }
    und_cache_def def = small_definition(small_path);
    int refused = 0, times = (int)test_times(25);
    for (int seed = 0; seed < times; seed++) {
        bool changed = mutate(&s[0], (uint64_t)seed);
        und_error err = {0};
        und_frame loaded;
        und_cache *cache = und_cache_resume(&def, &loaded, &err);
        assert_non_null(cache);
        assert_int_equal(loaded.number, changed ? 2 : 4);
        refused += changed;
        assert_int_equal(loaded.count, 4);
        und_frame_clear(&loaded);
        und_cache_close(cache, NULL, 0, NULL);
        for (int i = 1; i < 3; i++)
            put_file(s[i].path, s[i].data, s[i].bytes);
    }
    print_message("%d of %d checkpoints refused\n", refused, times);
    for (int i = 0; i < 3; i++)
        put_back(&s[i]);
    assert_int_equal(und_cache_verify(small_path, NULL, NULL, NULL, NULL), UND_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_maps),        cmocka_unit_test(damaged_control_points),
        cmocka_unit_test(damaged_voxels),      cmocka_unit_test(damaged_manifests),
        cmocka_unit_test(damaged_ledgers),     cmocka_unit_test(damaged_frames),
        cmocka_unit_test(damaged_checkpoints),
    };
    return cmocka_run_group_tests_name("damaged files", tests, small_setup, teardown);
}
