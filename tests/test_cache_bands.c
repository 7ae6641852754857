/* What one grid keeps for the next, and what becomes of it when the file is cut, changed or of another grid.
 */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/status.h"
#include "cache/bands.h"

#include <sys/stat.h>

enum { RECORDS = 5, HEAD = 72, RECORD_HEAD = 32 }; /* bytes: what the file has before its values */

static const bands_grid GRID = {{6, 5, 4}, 0.25, {1, 2, 3}, {[2] = true, [5] = true}, true, true};
static float *values;
static size_t count;

/* The same for each index, different for each value and index. */
static const float *record(long index)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(index + 1) * sinf((float)i);
    return values;
}

static double time_of(long index)
{
    return 0.1 * (double)(index * index);
}

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    count = und_levelset_bands(GRID.n, GRID.open, GRID.heat, GRID.volume).values;
    values = calloc(count, sizeof *values);
    return values ? 0 : -1;
}

static int finish(void **state)
{
    free(values);
    return teardown(state);
}

static und_status write_records(const bands_grid *grid, bool begin, long from, long end, und_error *err)
{
    bands_writer *w = und_bands_writer_open(folder.path, grid, begin, err);
    und_status status = w ? UND_OK : UND_FAILED;
    for (long i = from; i < end && !status; i++)
        status = und_bands_put(w, i, time_of(i), record(i), err);
    und_bands_writer_close(w);
    return status;
}

/* The file as it should be, in memory. */
typedef struct whole {
    char *data;
    size_t bytes;
} whole;

static whole make_whole(void)
{
    whole f;
    und_error err = {0};
    assert_int_equal(write_records(&GRID, true, 0, RECORDS, &err), UND_OK);
    assert_int_equal(und_file_read(test_path(&folder, "bands"), 1 << 24, &f.data, &f.bytes, NULL), UND_OK);
    assert_true(f.bytes > HEAD + RECORDS * RECORD_HEAD);
    return f;
}

static void put_bytes(const void *data, size_t bytes)
{
    FILE *stream = fopen(test_path(&folder, "bands"), "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
    assert_int_equal(fclose(stream), 0);
}

/* Where each record begins, by the lengths in the file; the last is the end. */
static void find_records(const whole *f, size_t at[RECORDS + 1])
{
    at[0] = HEAD;
    for (int i = 0; i < RECORDS; i++) {
        uint64_t bytes;
        memcpy(&bytes, f->data + at[i] + 16, sizeof bytes);
        at[i + 1] = at[i] + RECORD_HEAD + bytes;
    }
    assert_int_equal(at[RECORDS], f->bytes);
}

static und_status give_up(void *context, double time, double seconds, und_error *err)
{
    (void)context;
    (void)seconds;
    return und_error_set(err, UND_FAILED, "nobody writes what is to be at %g s", time);
}

/* How many records a new reader gets from first to last, each compared; `err` is what ended it. */
static long read_records(const bands_grid *grid, und_error *err)
{
    *err = (und_error){0};
    bands_reader *r = und_bands_reader_open(folder.path, grid, give_up, NULL, err);
    assert_non_null(r);
    long i = 0;
    const float *got[2];
    double when[2];
    while (i < RECORDS && und_bands_fetch(r, time_of(i), got, when, err) == UND_OK) {
        if (when[1] != time_of(i) || memcmp(got[1], record(i), count * sizeof(float)) != 0)
            fail_msg("record %ld is not what was kept", i);
        i++;
    }
    und_bands_reader_close(r);
    return i;
}

static long check(und_status expected, und_error *err)
{
    long found;
    *err = (und_error){0};
    assert_int_equal(und_bands_check(folder.path, &found, err), expected);
    if (expected)
        assert_non_null(strstr(err->text, "/bands: "));
    return found;
}

static void whole_files_are_read(void **state)
{
    (void)state;
    whole f = make_whole();
    und_error err = {0};
    const float *got[2];
    double when[2];
    assert_int_equal(check(UND_OK, &err), RECORDS);
    assert_int_equal(read_records(&GRID, &err), RECORDS);
    bands_reader *r = und_bands_reader_open(folder.path, &GRID, give_up, NULL, &err);
    assert_int_equal(und_bands_fetch(r, 0.25, got, when, &err), UND_OK); /* between two of them */
    assert_true(when[0] == time_of(1) && when[1] == time_of(2));
    assert_memory_equal(got[0], record(1), count * sizeof(float));
    assert_memory_equal(got[1], record(2), count * sizeof(float));
    assert_int_equal(und_bands_fetch(r, 99, got, when, &err), UND_FAILED);
    assert_string_equal(err.text, "nobody writes what is to be at 99 s");
    und_bands_reader_close(r);
    free(f.data);
}

/* At every length: what is whole is read, and the rest is missing, not wrong. */
static void cut_files_end_early(void **state)
{
    (void)state;
    whole f = make_whole();
    size_t at[RECORDS + 1];
    und_error err;
    find_records(&f, at);
    for (size_t cut = 0; cut < f.bytes; cut += cut < HEAD + 80 ? 1 : 37) {
        long kept = 0;
        while (kept < RECORDS && cut >= at[kept + 1])
            kept++;
        put_bytes(f.data, cut);
        assert_int_equal(check(cut < HEAD ? UND_FAILED : UND_OK, &err), kept);
        assert_int_equal(read_records(&GRID, &err), kept);
        assert_non_null(strstr(err.text, "nobody writes"));
    }
    free(f.data);
}

static void changed_bytes_are_found(void **state)
{
    (void)state;
    whole f = make_whole();
    size_t at[RECORDS + 1];
    und_error err;
    find_records(&f, at);
    for (size_t i = 0; i < f.bytes; i += i < HEAD + 80 ? 1 : 41)
        for (int bit = 0; bit < 8; bit += 7) {
            long good = 0;
            while (i >= at[good + 1 > RECORDS ? RECORDS : good + 1])
                good++;
            f.data[i] ^= (char)(1 << bit);
            put_bytes(f.data, f.bytes);
            f.data[i] ^= (char)(1 << bit);
            bool length = i >= HEAD && (i - at[good]) / 8 == 2; /* it may seem to be cut short */
            long found;
            err = (und_error){0};
            und_status status = und_bands_check(folder.path, &found, &err);
            assert_int_equal(found, good);
            if (status != UND_FAILED && !length)
                fail_msg("byte %zu, bit %d: not noticed", i, bit);
            assert_int_equal(read_records(&GRID, &err), good);
            assert_non_null(strstr(err.text, i < HEAD ? "is of another grid" : "nobody writes"));
        }
    free(f.data);
}

/* Lengths and times that no writer would write, and a number that is not the record's beside them. */
static void wild_numbers_are_refused(void **state)
{
    (void)state;
    whole f = make_whole();
    size_t at[RECORDS + 1];
    und_error err;
    find_records(&f, at);
    const uint64_t lengths[] = {
        0, 1, 1 << 20, UINT64_C(1) << 40, INT64_MAX - 40, INT64_MAX, UINT64_MAX - 31, UINT64_MAX};
    const double times[] = {NAN, INFINITY, -INFINITY};
    char *spoiled = malloc(f.bytes);
    for (int i = 0; i < 2 * (8 + 3); i++) {
        const int k = i / 2;
        memcpy(spoiled, f.data, f.bytes);
        spoiled[at[2]] ^= (char)(i % 2);
        memcpy(spoiled + at[2] + (k < 8 ? 16 : 8), k < 8 ? (const void *)&lengths[k] : &times[k - 8], 8);
        put_bytes(spoiled, f.bytes);
        long found;
        und_bands_check(folder.path, &found, &err);
        assert_int_equal(found, 2);
        assert_int_equal(read_records(&GRID, &err), 2);
        assert_int_equal(write_records(&GRID, false, RECORDS, RECORDS + 1, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "is cut short (2 of 5 records): begin anew with --force"));
    }
    free(spoiled);
    free(f.data);
}

static void other_grids_are_refused(void **state)
{
    (void)state;
    whole f = make_whole();
    und_error err;
    for (int k = 0; k < 5; k++) {
        bands_grid other = GRID;
        other.n[1] += k == 0;
        other.dx *= k == 1 ? 2 : 1;
        other.origin[2] += k == 2 ? 0.25 : 0;
        other.open[4] = k == 3;
        other.heat = k != 4;
        assert_int_equal(read_records(&other, &err), 0);
        assert_int_equal(err.status, UND_INVALID);
        assert_non_null(strstr(err.text, "bands is of another grid (6 x 5 x 4 cells of 0.25 m)"));
    }
    free(f.data);
}

/* A run that goes on from its second record drops the later ones and writes the same file again. */
static void writers_go_on(void **state)
{
    (void)state;
    whole f = make_whole(), again;
    und_error err = {0};
    put_bytes(f.data, f.bytes - 7);
    assert_int_equal(write_records(&GRID, false, 2, RECORDS, &err), UND_OK);
    assert_int_equal(und_file_read(test_path(&folder, "bands"), 1 << 24, &again.data, &again.bytes, NULL),
                     UND_OK);
    assert_int_equal(again.bytes, f.bytes);
    assert_memory_equal(again.data, f.data, f.bytes);
    free(again.data);
    put_bytes(f.data, f.bytes - 7);
    assert_int_equal(write_records(&GRID, false, RECORDS, RECORDS + 1, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "is cut short (4 of 5 records)"));
    free(f.data);
}

static void no_file_is_no_band(void **state)
{
    (void)state;
    und_error err = {0};
    unlink(test_path(&folder, "bands"));
    assert_int_equal(check(UND_OK, &err), -1);
    assert_int_equal(read_records(&GRID, &err), 0);
    assert_non_null(strstr(err.text, "nobody writes"));
    assert_int_equal(und_bands_copy(folder.path, folder.path, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "/bands: No such file"));
    assert_null(und_bands_writer_open("nowhere", &GRID, true, &err));
    assert_non_null(strstr(err.text, "cannot write nowhere/bands"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_are_read),    cmocka_unit_test(cut_files_end_early),
        cmocka_unit_test(changed_bytes_are_found), cmocka_unit_test(wild_numbers_are_refused),
        cmocka_unit_test(other_grids_are_refused), cmocka_unit_test(writers_go_on),
        cmocka_unit_test(no_file_is_no_band),
    };
    return cmocka_run_group_tests_name("cache bands", tests, setup, finish);
}
