/* Meshes in a cache: vertices that corners share are stored once, and come back as they were. */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/random.h"
#include "cache/store.h"
#include "cache/store_format.h"

#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

enum { SIDE = 40, TRIANGLES = 2 * SIDE * SIDE, CORNERS = 3 * TRIANGLES };

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static float *add(und_frame *frame, const char *name, size_t corners, int columns)
{
    und_item_def def = {.name = name, .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 2};
    def.dim[0] = corners;
    def.dim[1] = (size_t)columns;
    und_item *item = und_frame_add(frame, &def, NULL);
    assert_non_null(item);
    return item->data;
}

/* Two triangles on each square of a sheet; `apart`: no two corners are the same. */
static und_frame make_sheet(const char *prefix, size_t corners, bool apart)
{
    static const int corner[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    und_frame frame = und_frame_empty(3, 0.1, (und_grid){.n = {4, 4, 4}, .dx = 1, .origin = {0, 0, 0}});
    char name[3][48];
    snprintf(name[0], sizeof name[0], "%s/mesh_normal", prefix); /* before the positions */
    snprintf(name[1], sizeof name[1], "%s/mesh_position", prefix);
    snprintf(name[2], sizeof name[2], "%s/mesh_thickness", prefix);
    float *normal = add(&frame, name[0], corners, 3), *place = add(&frame, name[1], corners, 3);
    float *thick = add(&frame, name[2], corners, 1);
    for (size_t c = 0; c < corners; c++) {
        int x = (int)(c / 6) % SIDE + corner[c % 6][0], z = (int)(c / 6) / SIDE + corner[c % 6][1];
        uint64_t vertex = apart ? c : (uint64_t)(x + z * (SIDE + 1));
        for (int a = 0; a < 3; a++) {
            place[3 * c + (size_t)a] = (float)und_random(1, (uint64_t)a, vertex);
            normal[3 * c + (size_t)a] =
                a == 2 && vertex % 7 == 0 ? -0.0F : (float)und_random(2, (uint64_t)a, vertex);
        }
        thick[c] = vertex % 11 == 0 ? NAN : (float)vertex;
    }
    return frame;
}

/* Writes and reads; the bytes of the file. */
static size_t round_trip(const und_frame *frame, const char *path, int compress)
{
    store_def def = {.part = STORE_ALL, .compress = compress, .threads = 2};
    store_stamp stamp;
    und_frame back, one;
    und_error err = {0};
    if (und_store_write(path, frame, &def, &stamp, &err) || und_store_read(path, NULL, &back, &err))
        fail_msg("%s", err.text);
    assert_int_equal(back.count, frame->count);
    for (int i = 0; i < frame->count; i++) {
        const und_item *was = &frame->items[i], *is = &back.items[i];
        assert_string_equal(is->name, was->name);
        assert_int_equal(und_item_bytes(is), und_item_bytes(was));
        assert_memory_equal(is->data, was->data, und_item_bytes(was));
        assert_int_equal(und_store_read_item(path, was->name, &one, &err), UND_OK);
        assert_int_equal(one.count, 1);
        assert_memory_equal(one.items[0].data, was->data, und_item_bytes(was));
        und_frame_clear(&one);
    }
    assert_int_equal(und_frame_hash(&back, 1), und_frame_hash(frame, 1));
    und_frame_clear(&back);
    return stamp.bytes;
}

static void shared_vertices_are_stored_once(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "sheet.h5");
    und_frame sheet = make_sheet("liquid", CORNERS, false);
    const size_t loose = CORNERS * 7 * sizeof(float),
                 welded = (SIDE + 1) * (SIDE + 1) * 7 * sizeof(float) + CORNERS * sizeof(int32_t);
    size_t bytes = round_trip(&sheet, path, 0);
    assert_true(bytes < welded + 8192);
    assert_true(welded < loose / 2);
    assert_true(round_trip(&sheet, path, 1) < bytes);
    und_frame_clear(&sheet);
}

static void loose_and_small_meshes_stay_so(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "loose.h5");
    und_frame loose = make_sheet("sheet", CORNERS, true), small = make_sheet("liquid", 60, false);
    assert_true(round_trip(&loose, path, 0) >= CORNERS * 7 * sizeof(float));
    assert_true(round_trip(&small, path, 0) >= 60 * 7 * sizeof(float));
    und_frame_clear(&loose);
    und_frame_clear(&small);
}

/* Two meshes, and items that are of none though their names say so. */
static void meshes_lie_side_by_side(void **state)
{
    (void)state;
    und_frame frame = make_sheet("liquid", CORNERS, false), other = make_sheet("solid", CORNERS, false);
    for (int i = 0; i < other.count; i++)
        assert_int_equal(und_frame_copy_item(&frame, &other.items[i], NULL), UND_OK);
    und_item_def first = {
        .name = "solid/mesh_first", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1};
    first.dim[0] = CORNERS;
    und_item *item = und_frame_add(&frame, &first, NULL);
    assert_non_null(item);
    ((int32_t *)item->data)[5] = 17;
    add(&frame, "liquid/mesh_extra", 12, 3);
    size_t bytes = round_trip(&frame, test_path(&folder, "two.h5"), 0);
    assert_true(bytes < CORNERS * 10 * sizeof(float));
    und_frame_clear(&frame);
    und_frame_clear(&other);
}

static void write_index(const char *path, size_t at, int32_t value)
{
    static int32_t index[CORNERS];
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT),
          set = H5Dopen2(file, "liquid/mesh_index", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, index) >= 0);
    index[at] = value;
    assert_true(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, index) >= 0);
    H5Dclose(set);
    H5Fclose(file);
}

static void wrong_vertices_are_errors(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "wrong.h5");
    static const int32_t wrong[] = {-1, (SIDE + 1) * (SIDE + 1), INT32_MAX, INT32_MIN};
    und_frame sheet = make_sheet("liquid", CORNERS, false), back;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        round_trip(&sheet, path, 0);
        write_index(path, 100, wrong[i]);
        assert_int_equal(und_store_read(path, NULL, &back, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "liquid/mesh_index: names a vertex that is not there"));
    }
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "liquid/mesh_index", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    und_error err = {0};
    assert_int_equal(und_store_read(path, NULL, &back, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "liquid/mesh_index: listed but not there"));
    und_frame_clear(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_vertices_are_stored_once), cmocka_unit_test(loose_and_small_meshes_stay_so),
        cmocka_unit_test(meshes_lie_side_by_side), cmocka_unit_test(wrong_vertices_are_errors)};
    return cmocka_run_group_tests_name("cache, meshes", tests, setup, teardown);
}
