/* Files that we lay out are read, and changed, by libhdf5. */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/file.h"
#include "cache/deflate.h"
#include "cache/hdf5_file.h"
#include "cache/store.h"

#include <hdf5.h>

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static const char *save(hdf5_file *file, size_t root, const char *name)
{
    const char *path = test_path(&folder, name);
    assert_true(und_hdf5_end(file, root));
    assert_int_equal(und_file_write(path, file->data, file->bytes, NULL), UND_OK);
    free(file->data);
    return path;
}

/* Chunks of a row each; more than 64 need a tree of two levels, more than 4096 one of three. */
static void chunks_are_found(void **state)
{
    (void)state;
    enum { WIDTH = 3, MOST = 5000 };
    static double value[MOST][WIDTH], back[MOST][WIDTH];
    static hdf5_chunk chunk[MOST];
    static const size_t counts[] = {1, 2, 63, 64, 65, 128, 129, 4096, 4097, MOST};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        hdf5_file file;
        und_hdf5_begin(&file, 0);
        for (size_t i = 0; i < counts[k]; i++) {
            unsigned char mixed[sizeof value[i]], packed[128];
            for (int c = 0; c < WIDTH; c++)
                value[i][c] = (double)i + 0.1 * c;
            for (size_t b = 0; b < sizeof mixed; b++)
                mixed[b % 8 * WIDTH + b / 8] = ((unsigned char *)value[i])[b];
            assert_true(und_deflate_bound(sizeof mixed, 8) <= sizeof packed);
            size_t bytes = und_deflate(mixed, sizeof mixed, 8, packed);
            chunk[i] = (hdf5_chunk){und_hdf5_put(&file, packed, bytes), bytes};
        }
        size_t dim[] = {counts[k], WIDTH};
        hdf5_array array = {
            .type = UND_F64, .rank = 2, .dim = dim, .chunk_count = counts[k], .chunk_dim = {1, dim[1]}};
        array.chunk = chunk;
        array.level = 1;
        und_hdf5_begin_array(&file, &array);
        size_t address = und_hdf5_end_object(&file);
        und_hdf5_begin_group(&file);
        und_hdf5_link(&file, "rows", 4, address);
        const char *path = save(&file, und_hdf5_end_object(&file), "rows.h5");
        hid_t in = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(in, "rows", H5P_DEFAULT);
        memset(back, 0, sizeof back);
        assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        assert_memory_equal(back, value, counts[k] * sizeof *value);
        back[counts[k] / 2][1] = -1; /* written over: the tree is changed, and still whole */
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        H5Dclose(set);
        assert_true(H5Fclose(in) >= 0);
        in = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        set = H5Dopen2(in, "rows", H5P_DEFAULT);
        value[counts[k] / 2][1] = -1;
        assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        assert_memory_equal(back, value, counts[k] * sizeof *value);
        H5Dclose(set);
        H5Fclose(in);
    }
}

static void add(und_frame *frame, const char *name, und_type type, int rank, const size_t *dim)
{
    und_item_def def = {.name = name, .unit = "m/s", .kind = UND_FIELD, .type = type, .rank = rank};
    for (int i = 0; i < rank; i++)
        def.dim[i] = dim[i];
    und_item *item = und_frame_add(frame, &def, NULL);
    assert_non_null(item);
    for (size_t i = 0; i < und_item_bytes(item); i++)
        ((unsigned char *)item->data)[i] = (unsigned char)(i % 251);
}

static herr_t count_object(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
    (void)file;
    (void)name;
    ((int *)context)[info->type == H5O_TYPE_DATASET]++;
    return 0;
}

/* Every type, every rank, nothing at all, and groups within groups. */
static void frames_of_any_shape(void **state)
{
    (void)state;
    const size_t dim[4] = {5, 3, 2, 1000}, none[2] = {0, 3};
    und_frame frame = und_frame_empty(7, 0.25, (und_grid){.n = {5, 6, 7}, .dx = 0.1, .origin = {1, 2, 3}});
    char name[48];
    for (int rank = 0; rank <= 4; rank++)
        for (int type = UND_F32; type <= UND_U8; type++) {
            snprintf(name, sizeof name, "%.*sr%d/t%d", 2 * rank, "a/b/c/d/", rank, type);
            add(&frame, name, (und_type)type, rank, dim + 4 - rank);
        }
    add(&frame, "none", UND_F32, 2, none);
    add(&frame, "a/b/none", UND_I32, 1, none);
    for (int level = 0; level <= 6; level += 1 + level * 4) {
        store_def def = {.part = STORE_ALL, .compress = level, .threads = 2};
        store_stamp stamp;
        und_frame back;
        und_error err = {0};
        const char *path = test_path(&folder, "any.h5");
        if (und_store_write(path, &frame, &def, &stamp, &err) || und_store_read(path, NULL, &back, &err))
            fail_msg("%s", err.text);
        assert_int_equal(back.number, 7);
        assert_int_equal(und_frame_hash(&back, 1), und_frame_hash(&frame, 1));
        und_frame_clear(&back);
        int found[2] = {0};
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, count_object, found) >= 0);
        H5Fclose(file);
        assert_int_equal(found[1], frame.count);
        assert_int_equal(found[0], 1 + 4 + 5); /* the root; a, b, c, d; r0 to r4 */
    }
    und_frame_clear(&frame);
}

static void frames_of_nothing_and_of_much(void **state)
{
    (void)state;
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    const char *path = test_path(&folder, "much.h5");
    for (int count = 0; count <= 1000; count += 500) {
        char name[48];
        const size_t dim = 4;
        for (int i = frame.count; i < count; i++) {
            snprintf(name, sizeof name, "set%d/value%d", i % 20, i);
            add(&frame, name, UND_F32, 1, &dim);
        }
        store_def def = {.part = STORE_ALL, .compress = 1, .threads = 1};
        store_stamp stamp;
        und_frame back;
        und_error err = {0};
        if (und_store_write(path, &frame, &def, &stamp, &err) || und_store_read(path, NULL, &back, &err))
            fail_msg("%s", err.text);
        assert_int_equal(back.count, count);
        assert_int_equal(und_frame_hash(&back, 1), und_frame_hash(&frame, 1));
        und_frame_clear(&back);
    }
    und_frame_clear(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_are_found),
                                       cmocka_unit_test(frames_of_any_shape),
                                       cmocka_unit_test(frames_of_nothing_and_of_much)};
    return cmocka_run_group_tests_name("hdf5_file", tests, setup, teardown);
}
