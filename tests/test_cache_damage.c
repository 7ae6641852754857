#include "tests/folder.h"
#include "tests/small_cache.h"
#include "tests/test.h"

#include "cache/store.h"

#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>

typedef struct reports {
    int count;
    char first[1024];
} reports;

static void collect(void *context, const char *what)
{
    reports *r = context;
    if (r->count++ == 0)
        snprintf(r->first, sizeof r->first, "%s", what);
}

static reports verify(void)
{
    reports r = {0};
    und_error err = {0};
    int checked;
    und_status status = und_cache_verify(small_path, collect, &r, &checked, &err);
    assert_int_equal(status, r.count ? UND_FAILED : UND_OK);
    if (r.count)
        assert_string_equal(err.text, r.first);
    return r;
}

/* A file of the cache, in memory while the one on disk is being damaged. */
typedef struct original {
    char path[256];
    char *data;
    size_t bytes;
} original;

static original take(const char *name)
{
    original o;
    snprintf(o.path, sizeof o.path, "%s/%s", small_path, name);
    assert_int_equal(und_file_read(o.path, 1 << 24, &o.data, &o.bytes, NULL), UND_OK);
    return o;
}

static void put_back(original *o)
{
    put_file(o->path, o->data, o->bytes);
    free(o->data);
}

static und_status read_one(int number, und_error *err)
{
    und_frame frame;
    und_cache *cache = und_cache_open(small_path, err);
    if (!cache)
        return err->status;
    und_status status = und_cache_read(cache, number, &frame, err);
    und_frame_clear(&frame);
    und_cache_close(cache, NULL, 0, NULL);
    return status;
}

static void a_whole_cache_passes(void **state)
{
    (void)state;
    int checked = 0;
    assert_int_equal(und_cache_verify(small_path, NULL, NULL, &checked, NULL), UND_OK);
    assert_int_equal(checked, 2 + 1 + SMALL_FRAMES + 2);
    reports r = {0};
    und_error err = {0};
    assert_int_equal(und_cache_verify("nowhere", collect, &r, &checked, &err), UND_INVALID);
    assert_int_equal(r.count, 0);
    assert_non_null(strstr(err.text, "nowhere is not a cache"));
}

static void changed_bytes_are_named(void **state)
{
    (void)state;
    const char *names[] = {"frames/beach.0003.h5", "static.h5", "checkpoints/beach.0002.h5", "ledger.csv",
                           "manifest.json"};
    for (int i = 0; i < 5; i++) {
        original o = take(names[i]);
        for (int k = 0; k < 20; k++) {
            size_t at = o.bytes * (size_t)(2 * k + 1) / 40;
            o.data[at] ^= 1;
            put_file(o.path, o.data, o.bytes);
            o.data[at] ^= 1;
            reports r = verify();
            bool blank = o.data[at] == ' ' || o.data[at] == '\n'; /* between words of the JSON */
            if (r.count != 1 && !(i == 4 && blank))
                fail_msg("%s: byte %zu: %d reports", names[i], at, r.count);
            if (r.count && !strstr(r.first, names[i]))
                fail_msg("%s: %s", names[i], r.first);
        }
        put_back(&o);
    }
    assert_int_equal(verify().count, 0);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    const char *names[] = {"frames/beach.0002.h5", "static.h5", "checkpoints/beach.0004.h5", "ledger.csv",
                           "manifest.json"};
    for (int i = 0; i < 5; i++) {
        original o = take(names[i]);
        unlink(o.path);
        reports r = verify();
        assert_int_equal(r.count, 1);
        assert_non_null(strstr(r.first, names[i]));
        put_back(&o);
    }
    assert_int_equal(verify().count, 0);
}

/* What an older version wrote is said to be that, before anything is read from it. */
static void other_formats_are_refused(void **state)
{
    (void)state;
    original o = take("manifest.json");
    char *format = strstr(o.data, "\"format\": ");
    assert_non_null(format);
    char *digit = format + strlen("\"format\": "), now = *digit;
    *digit = '1';
    put_file(o.path, o.data, o.bytes);
    *digit = now;
    und_error err = {0};
    assert_int_equal(read_one(1, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "manifest.json: format 1, written by another version"));
    put_back(&o);
    assert_int_equal(verify().count, 0);
}

/* At every 97th length: never a crash, always an error that names the file. */
static void cut_files_are_errors(void **state)
{
    (void)state;
    const char *names[] = {"frames/beach.0001.h5", "static.h5", "manifest.json", "ledger.csv",
                           "checkpoints/beach.0004.h5"};
    for (int i = 0; i < 5; i++) {
        original o = take(names[i]);
        size_t bytes = i == 0 ? und_store_claimed_bytes(o.path) : o.bytes; /* the row of the ledger follows */
        for (size_t cut = 0; cut < o.bytes; cut += 97) {
            put_file(o.path, o.data, cut);
            reports r = verify();
            assert_true(r.count >= 1);
            assert_non_null(strstr(r.first, names[i]));
            und_error err = {0};
            und_status status = read_one(1, &err);
            if (i < 3) {
                assert_int_equal(status, UND_FAILED);
                assert_non_null(strstr(err.text, names[i]));
            }
            char expected[64];
            snprintf(expected, sizeof expected,
                     cut < bytes ? "is cut short (%zu of %zu bytes)" : "has changed", cut, bytes);
            if (i == 1 || i == 4 || (i == 0 && cut > 40))
                assert_non_null(strstr(r.first, expected));
        }
        put_back(&o);
    }
    assert_int_equal(verify().count, 0);
}

static void ledger_must_close(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/leaky", folder.path);
    und_cache_def def = small_definition(path);
    und_cache *cache = und_cache_create(&def, false, NULL);
    const double measured[3] = {10 + 1e-12, 10 + 1e-4, NAN};
    for (int i = 0; i < 3; i++) {
        und_frame frame = small_frame(i + 1);
        und_ledger ledger = {.start = 10, .measured = measured[i]};
        assert_int_equal(und_cache_write(cache, &frame, &ledger, 0, NULL), UND_OK);
        und_frame_clear(&frame);
    }
    assert_int_equal(und_cache_close(cache, NULL, 0, NULL), UND_OK);
    reports r = {0};
    assert_int_equal(und_cache_verify(path, collect, &r, NULL, NULL), UND_FAILED);
    assert_int_equal(r.count, 2);
    assert_non_null(strstr(r.first, "frame 2: ledger.csv does not close"));
}

static void checkpoints_must_hold_their_frames_state(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/other", folder.path);
    und_cache_def def = small_definition(path);
    und_cache *cache = und_cache_create(&def, false, NULL);
    und_frame frame = small_frame(1);
    und_ledger ledger = {0};
    assert_int_equal(und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), NULL), UND_OK);
    ((float *)frame.items[0].data)[7] += 1;
    assert_int_equal(und_cache_checkpoint(cache, &frame, NULL), UND_OK);
    und_frame_clear(&frame);
    und_cache_close(cache, NULL, 0, NULL);
    reports r = {0};
    assert_int_equal(und_cache_verify(path, collect, &r, NULL, NULL), UND_FAILED);
    assert_int_equal(r.count, 1);
    assert_non_null(strstr(r.first, "checkpoint 1: checkpoints/beach.0001.h5 does not hold the state"));
}

/* Goes on with the small cache up to its last frame; how many frames were made. */
static int go_on(int *lost)
{
    und_cache_def def = small_definition(small_path);
    und_frame state;
    und_error err = {0};
    und_cache *cache = und_cache_resume(&def, &state, &err);
    if (!cache)
        fail_msg("%s", err.text);
    *lost = und_cache_describe(cache).lost_frame;
    int first = state.count > 0 ? state.number + 1 : 1;
    und_frame_clear(&state);
    for (int i = first; i <= SMALL_FRAMES; i++) {
        und_frame frame = small_frame(i);
        und_ledger ledger = {.start = 10, .sources = 0.5 * i, .measured = 10 + 0.5 * i};
        assert_int_equal(und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), &err), UND_OK);
        if (i % 2 == 0)
            assert_int_equal(und_cache_checkpoint(cache, &frame, &err), UND_OK);
        und_frame_clear(&frame);
    }
    assert_int_equal(und_cache_close(cache, NULL, 0, &err), UND_OK);
    return SMALL_FRAMES + 1 - first;
}

static void what_is_lost_is_made_again(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int lost, made;
    } cases[] = {{"frames/beach.0004.h5", 4, 2},
                 {"frames/beach.0003.h5", 3, 2},
                 {"frames/beach.0002.h5", 2, 4},
                 {"static.h5", 4, 2},
                 {"ledger.csv", INT_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int cut = 0; cut < 2; cut++) {
            original o = take(cases[i].name);
            int lost;
            unlink(o.path);
            if (cut && cases[i].lost < INT_MAX)
                put_file(o.path, o.data, o.bytes / 2);
            assert_int_equal(go_on(&lost), cases[i].made);
            assert_int_equal(lost, cases[i].lost);
            original again = take(cases[i].name);
            assert_int_equal(again.bytes, o.bytes);
            assert_memory_equal(again.data, o.data, o.bytes);
            free(o.data);
            free(again.data);
            assert_int_equal(verify().count, 0);
        }
    original pipe = take("frames/beach.0004.h5"); /* one in its place is no frame, and nobody waits for it */
    int lost_frame;
    unlink(pipe.path);
    assert_int_equal(mkfifo(pipe.path, 0666), 0);
    assert_int_equal(go_on(&lost_frame), 2);
    assert_int_equal(verify().count, 0);
    free(pipe.data);
    original ledger = take("ledger.csv"), frame = take("frames/beach.0003.h5");
    unlink(ledger.path);
    frame.data[frame.bytes / 2] ^= 1; /* not the frame that the ledger had */
    put_file(frame.path, frame.data, frame.bytes);
    frame.data[frame.bytes / 2] ^= 1;
    und_error err = {0};
    assert_null(und_cache_open(small_path, &err));
    assert_non_null(strstr(err.text, "ledger.csv is missing, and the frames are not as they were"));
    put_back(&frame);
    put_back(&ledger);
}

/* Replaces dataset "energy" of a frame file, or an attribute, by something that is not ours. */
typedef enum wrongness {
    RANK,
    TEXT,
    HUGE,
    HOLLOW,
    NO_UNIT,
    NO_KIND,
    NO_TIME,
    NO_SET,
    COUNT_OF_WRONGS
} wrongness;

static void make_wrong(const char *path, wrongness wrong)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    const hsize_t five[5] = {1, 2, 1, 2, 1}, four = 4, huge[2] = {(hsize_t)1 << 40, (hsize_t)1 << 40},
                  large = (hsize_t)1 << 28, chunk = 1 << 20;
    if (wrong == NO_TIME) {
        H5Adelete(file, "time");
    } else if (wrong == NO_UNIT || wrong == NO_KIND) {
        hid_t set = H5Dopen2(file, "energy", H5P_DEFAULT);
        H5Adelete(set, wrong == NO_UNIT ? "unit" : "kind");
        H5Dclose(set);
    } else {
        H5Ldelete(file, "energy", H5P_DEFAULT);
    }
    hid_t space = wrong == RANK   ? H5Screate_simple(5, five, NULL)
                  : wrong == TEXT ? H5Screate_simple(1, &four, NULL)
                  : wrong == HUGE ? H5Screate_simple(2, huge, NULL)
                                  : H5Screate_simple(1, &large, NULL);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    if (wrong == HUGE) {
        const hsize_t tile[2] = {16, 16};
        H5Pset_chunk(create, 2, tile);
    } else if (wrong == HOLLOW) {
        H5Pset_chunk(create, 1, &chunk);
    }
    if (wrong <= HOLLOW) {
        hid_t type = wrong == TEXT ? H5T_C_S1 : H5T_NATIVE_DOUBLE;
        hid_t set = H5Dcreate2(file, "energy", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
        assert_true(set >= 0);
        H5Dclose(set);
    }
    H5Pclose(create);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
}

static void wrong_contents_are_errors(void **state)
{
    (void)state;
    static const char *const says[COUNT_OF_WRONGS] = {[RANK] = "more than four dimensions",
                                                      [TEXT] = "not an array",
                                                      [HUGE] = "does not fit",
                                                      [HOLLOW] = "does not fit",
                                                      [NO_UNIT] = "unit: ",
                                                      [NO_KIND] = "kind: ",
                                                      [NO_TIME] = "time: ",
                                                      [NO_SET] = "not there"};
    original o = take("checkpoints/beach.0002.h5");
    char path[200];
    snprintf(path, sizeof path, "%s/wrong.h5", folder.path);
    for (int wrong = 0; wrong < COUNT_OF_WRONGS; wrong++) {
        put_file(path, o.data, o.bytes);
        make_wrong(path, (wrongness)wrong);
        und_frame frame;
        und_error err = {0};
        assert_int_equal(und_store_read(path, NULL, &frame, &err), UND_FAILED);
        assert_int_equal(frame.count, 0);
        assert_non_null(strstr(err.text, "wrong.h5"));
        if (!strstr(err.text, says[wrong]))
            fail_msg("%d: %s", wrong, err.text);
    }
    put_back(&o);
    und_frame frame;
    und_error err = {0};
    put_file(path, "not HDF5 at all", 15);
    assert_int_equal(und_store_read(path, NULL, &frame, &err), UND_FAILED);
    snprintf(path, sizeof path, "%s/frames/beach.0001.h5", small_path); /* its static items are elsewhere */
    assert_int_equal(und_store_read(path, NULL, &frame, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "floor: not among the static items"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_cache_passes),
        cmocka_unit_test(changed_bytes_are_named),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(cut_files_are_errors),
        cmocka_unit_test(what_is_lost_is_made_again),
        cmocka_unit_test(ledger_must_close),
        cmocka_unit_test(checkpoints_must_hold_their_frames_state),
        cmocka_unit_test(wrong_contents_are_errors),
    };
    return cmocka_run_group_tests_name("cache damage", tests, small_setup, teardown);
}
