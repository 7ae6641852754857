#include "tests/folder.h"
#include "tests/test.h"

#include "base/hash.h"
#include "base/random.h"
#include "cache/cache.h"
#include "cache/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char out[80];
static const und_grid GRID = {
    .n = {96, 1, 64}, .dx = 0.125, .dy = 0.25, .dz = 0.0625, .origin = {-6, -1, 2.5}};

static int setup(void **state)
{
    (void)state;
    test_folder_make(&folder);
    snprintf(out, sizeof out, "%s/out/beach", folder.path);
    return 0;
}

static und_cache_def definition(void)
{
    return (und_cache_def){.folder = out,
                           .name = "beach",
                           .model = "waves",
                           .scene_path = "scenes/beach.lua",
                           .scene_text = "scene { name = \"beach\" } -- caf\xe9 \xc3\xa9",
                           .settings = "cells=96",
                           .start = 1,
                           .end = 10,
                           .fps = 24,
                           .compress = 1,
                           .keep = 2,
                           .threads = 2};
}

static void add(und_frame *frame, const und_item_def *def, int seed)
{
    und_item *item = und_frame_add(frame, def, NULL);
    unsigned char *bytes = item->data;
    for (size_t i = 0; i < und_item_bytes(item); i++)
        bytes[i] = (unsigned char)und_random_bits((uint64_t)seed, (uint64_t)frame->count, i); /* NaNs too */
}

/* All types, kinds and ranks; the static ones in between. */
static und_frame make_frame(int number)
{
    und_frame f = und_frame_empty(number, number / 24.0, GRID);
    add(&f, &(und_item_def){"surface", "m", UND_FIELD, UND_F32, false, 2, {64, 96}}, number);
    add(&f, &(und_item_def){"floor", "m", UND_FIELD, UND_F32, true, 2, {64, 96}}, 0);
    add(&f, &(und_item_def){"velocity/x", "m/s", UND_FACES, UND_F64, false, 3, {64, 1, 97}}, number);
    add(&f, &(und_item_def){"rain/drop/position", "m", UND_PARTICLES, UND_F32, false, 2, {7, 3}}, number);
    add(&f, &(und_item_def){"spray/position", "m", UND_PARTICLES, UND_F32, false, 2, {0, 3}}, number);
    add(&f, &(und_item_def){"wet", "1", UND_FIELD, UND_U8, true, 4, {4, 16, 3, 96}}, 0);
    add(&f, &(und_item_def){"bodies", "1", UND_BODIES, UND_I32, false, 2, {3, 5}}, number);
    add(&f, &(und_item_def){"energy", "J", UND_NUMBERS, UND_F64, false, 0, {0}}, number);
    float *surface = f.items[0].data;
    for (int i = 0; i < 3000; i++) /* half of it compressible */
        surface[i] = 1;
    return f;
}

static void assert_frames_equal(const und_frame *a, const und_frame *b)
{
    assert_int_equal(a->number, b->number);
    assert_true(a->time == b->time);
    assert_memory_equal(a->grid.n, b->grid.n, sizeof a->grid.n);
    assert_true(a->grid.dx == b->grid.dx && a->grid.dy == b->grid.dy && a->grid.dz == b->grid.dz);
    assert_memory_equal(a->grid.origin, b->grid.origin, sizeof a->grid.origin);
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const und_item *x = &a->items[i], *y = &b->items[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->unit, y->unit);
        assert_true(x->kind == y->kind && x->type == y->type && x->is_static == y->is_static);
        assert_int_equal(x->rank, y->rank);
        assert_memory_equal(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim);
        assert_memory_equal(x->data, y->data, und_item_bytes(x));
    }
}

static und_ledger make_ledger(int number)
{
    und_ledger l = {.start = 10,
                    .sources = 0.1 * number,
                    .drains = 1.0 / 3,
                    .left = -0.25,
                    .spray_out = 0.5,
                    .spray_back = 0.125,
                    .correction = -1e-9};
    l.measured = l.start + l.sources - l.drains - l.left - l.spray_out + l.spray_back + l.correction + 1e-12;
    return l;
}

static void write_frame(und_cache *cache, int number, bool checkpoint)
{
    und_frame frame = make_frame(number);
    und_ledger ledger = make_ledger(number);
    und_error err = {0};
    if (und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), &err))
        fail_msg("%s", err.text);
    if (checkpoint && und_cache_checkpoint(cache, &frame, &err))
        fail_msg("%s", err.text);
    und_frame_clear(&frame);
}

/* Frames 1 to `last`, a checkpoint at every second. */
static void make_cache(int last)
{
    und_cache_def def = definition();
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, true, &err);
    if (!cache)
        fail_msg("%s", err.text);
    for (int i = 1; i <= last; i++)
        write_frame(cache, i, i % 2 == 0);
    und_stage stages[] = {{"rows", 1.5, 10}, {"columns", 2.5, 20}};
    assert_int_equal(und_cache_close(cache, stages, 2, &err), UND_OK);
}

static bool there(const char *name)
{
    return access(test_path(&folder, name), F_OK) == 0;
}

static void frames_come_back_bit_for_bit(void **state)
{
    (void)state;
    und_error err = {0};
    for (int compress = 0; compress < 3; compress++) {
        und_cache_def def = definition();
        def.compress = 4 * compress;
        und_cache *cache = und_cache_create(&def, true, &err);
        for (int i = 1; i <= 3; i++)
            write_frame(cache, i, false);
        assert_int_equal(und_cache_close(cache, NULL, 0, &err), UND_OK);
        cache = und_cache_open(def.folder, &err);
        assert_non_null(cache);
        for (int i = 3; i >= 1; i--) {
            und_frame expected = make_frame(i), frame;
            if (und_cache_read(cache, i, &frame, &err))
                fail_msg("%s", err.text);
            assert_frames_equal(&frame, &expected);
            assert_int_equal(und_frame_hash(&frame, 1), und_frame_hash(&expected, 1));
            und_frame_clear(&frame);
            und_frame_clear(&expected);
        }
        und_frame frame;
        assert_int_equal(und_cache_read(cache, 4, &frame, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "no frame 4"));
        und_cache_close(cache, NULL, 0, NULL);
    }
}

static void description_comes_back(void **state)
{
    (void)state;
    make_cache(5);
    und_cache_def def = definition();
    und_error err = {0};
    und_cache *cache = und_cache_open(def.folder, &err);
    und_cache_info info = und_cache_describe(cache);
    assert_string_equal(info.name, "beach");
    assert_string_equal(info.model, "waves");
    assert_string_equal(info.scene_path, def.scene_path);
    assert_string_equal(info.scene_text, def.scene_text); /* not UTF-8 */
    assert_string_equal(info.settings, "cells=96");
    assert_true(info.start == 1 && info.end == 10 && info.fps == 24);
    assert_int_equal(info.row_count, 5);
    assert_int_equal(info.stage_count, 2);
    assert_string_equal(info.stages[1].name, "columns");
    assert_true(info.stages[1].seconds == 2.5 && info.stages[1].calls == 20);
    assert_true(info.peak_memory > 1000000);
    for (int i = 0; i < 5; i++) {
        und_ledger ledger = make_ledger(i + 1);
        und_frame frame = make_frame(i + 1);
        assert_int_equal(info.rows[i].frame, i + 1);
        assert_true(info.rows[i].time == (i + 1) / 24.0);
        assert_memory_equal(&info.rows[i].ledger, &ledger, sizeof ledger);
        assert_true(info.rows[i].state_hash == und_frame_hash(&frame, 1));
        und_frame_clear(&frame);
    }
    und_cache_close(cache, NULL, 0, NULL);
    assert_false(there("out/beach/lock"));
    assert_false(there("out/beach/checkpoints/beach.0003.h5"));
    assert_true(there("out/beach/checkpoints/beach.0004.h5"));
}

static void same_frame_gives_the_same_bytes(void **state)
{
    (void)state;
    store_stamp stamp[2];
    und_frame frame = make_frame(3);
    und_item_def big = {"big", "m", UND_FIELD, UND_F32, false, 2, {1500, 1100}}; /* several chunks */
    und_item *item = und_frame_add(&frame, &big, NULL);
    for (size_t i = 0; i < und_item_count(item); i++)
        ((float *)item->data)[i] = (float)(i / 5000);
    for (int i = 0; i < 2; i++) {
        store_def def = {.part = STORE_ALL, .compress = 1, .threads = 1 + 2 * i};
        const char *path = test_path(&folder, "same.h5");
        assert_int_equal(und_store_write(path, &frame, &def, &stamp[i], NULL), UND_OK);
        uint64_t hash;
        size_t bytes;
        assert_int_equal(und_file_hash(path, 2, &hash, &bytes, NULL), UND_OK);
        assert_true(hash == stamp[i].hash && bytes == stamp[i].bytes);
        assert_int_equal(und_store_claimed_bytes(path), bytes);
        if (i == 0)
            sleep(1); /* a time of creation would show */
    }
    assert_true(stamp[0].hash == stamp[1].hash && stamp[0].bytes == stamp[1].bytes);
    assert_true(stamp[0].bytes < und_item_bytes(item) / 10);
    und_frame back;
    assert_int_equal(und_store_read(test_path(&folder, "same.h5"), NULL, &back, NULL), UND_OK);
    assert_frames_equal(&frame, &back);
    und_frame_clear(&back);
    und_frame_clear(&frame);
}

/* Of an item of which little was written: what was, by one bit after the other. */
static void check_written(const und_item *item)
{
    const size_t count = und_item_count(item), part = item->rows->values;
    for (size_t at = 0, next; at < count; at = next) {
        const bool written = und_item_written(item, at, count, &next);
        assert_true(next > at && next <= count);
        for (size_t k = at; k < next; k++)
            assert_int_equal(written, item->rows->bits[k / part >> 6] >> (k / part & 63) & 1);
        if (next < count)
            assert_int_not_equal(written, item->rows->bits[next / part >> 6] >> (next / part & 63) & 1);
    }
}

/* It comes back whole, and has the hash that it has then; cubes at its ends are cut off. */
static void little_of_an_item_is_written(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "little.h5");
    const store_def def = {.part = STORE_ALL, .compress = 1, .threads = 2};
    const und_item_def some = {"some", "m", UND_FIELD, UND_F32, false, 3, {5000, 40, 35}};
    enum { PART = 64 };
    for (int few = 1; few < 400; few *= 7) {
        und_frame frame = make_frame(3), back;
        store_stamp stamp;
        und_item *item = und_frame_add_rows(&frame, &some, PART, 2.5, NULL);
        const size_t rows = (und_item_count(item) + PART - 1) / PART;
        for (int i = 0; i < few; i++) {
            const size_t row = und_random_bits(7, 0, (uint64_t)i) % rows;
            und_item_add_row(item, row);
            for (size_t k = row * PART; k < (row + 1) * PART && k < und_item_count(item); k++)
                ((float *)item->data)[k] = (float)(k % 1000);
        }
        check_written(item);
        assert_int_equal(und_store_write(path, &frame, &def, &stamp, NULL), UND_OK);
        assert_int_equal(und_store_read(path, NULL, &back, NULL), UND_OK);
        assert_frames_equal(&frame, &back);
        assert_true(und_frame_hash(&frame, 2) == und_frame_hash(&back, 1));
        und_frame_clear(&back);
        und_frame_clear(&frame);
    }
}

/* Files from before cells had three sizes are those of cubes. */
static void files_of_format_1_are_read(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "old.h5");
    und_frame frame = make_frame(3), back;
    store_def def = {.part = STORE_ALL, .compress = 1, .threads = 1};
    store_stamp stamp;
    assert_int_equal(und_store_write(path, &frame, &def, &stamp, NULL), UND_OK);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), format = H5Aopen(file, "format", H5P_DEFAULT);
    assert_true(format >= 0 && H5Awrite(format, H5T_NATIVE_INT, &(int){1}) >= 0);
    assert_true(H5Adelete(file, "dy") >= 0 && H5Adelete(file, "dz") >= 0);
    H5Aclose(format);
    H5Fclose(file);
    assert_int_equal(und_store_read(path, NULL, &back, NULL), UND_OK);
    frame.grid.dy = frame.grid.dz = 0;
    assert_frames_equal(&frame, &back);
    und_frame_clear(&back);
    und_frame_clear(&frame);
}

/* One item alone, or none where there is no such. */
static void items_are_read_alone(void **state)
{
    (void)state;
    make_cache(2);
    und_error err = {0};
    und_cache *cache = und_cache_open(out, &err);
    und_frame one, whole = make_frame(2);
    assert_non_null(cache);
    assert_int_equal(und_cache_read_item(cache, 2, "bodies", &one, &err), UND_OK);
    assert_int_equal(one.count, 1);
    assert_memory_equal(one.items[0].data, und_frame_find(&whole, "bodies")->data, und_item_bytes(one.items));
    und_frame_clear(&one);
    assert_int_equal(und_cache_read_item(cache, 2, "none", &one, &err), UND_OK);
    assert_int_equal(one.count, 0);
    und_frame_clear(&one);
    assert_int_equal(und_cache_read_item(cache, 7, "bodies", &one, &err), UND_FAILED);
    und_frame_clear(&one);
    und_frame_clear(&whole);
    und_cache_close(cache, NULL, 0, &err);
}

static void resume_goes_on_from_the_last_checkpoint(void **state)
{
    (void)state;
    make_cache(5);
    und_cache_def def = definition();
    und_error err = {0};
    und_frame loaded, expected = make_frame(4);
    und_cache *cache = und_cache_resume(&def, &loaded, &err);
    assert_non_null(cache);
    assert_frames_equal(&loaded, &expected);
    und_frame_clear(&loaded);
    und_frame_clear(&expected);
    assert_int_equal(und_cache_describe(cache).row_count, 4);
    for (int i = 5; i <= 6; i++)
        write_frame(cache, i, false);
    und_stage stages[] = {{"columns", 1, 2}, {"spray", 3, 4}};
    assert_int_equal(und_cache_close(cache, stages, 2, &err), UND_OK);
    cache = und_cache_open(def.folder, &err);
    und_cache_info info = und_cache_describe(cache);
    assert_int_equal(info.row_count, 6);
    assert_int_equal(info.stage_count, 3);
    assert_true(info.stages[0].seconds == 1.5 && info.stages[1].seconds == 3.5 && info.stages[1].calls == 22);
    und_cache_close(cache, NULL, 0, NULL);
    int checked;
    assert_int_equal(und_cache_verify(def.folder, NULL, NULL, &checked, &err), UND_OK);
    assert_int_equal(checked, 2 + 1 + 6 + 2);
}

/* Changes the byte in the middle of a file. */
static void spoil(const char *name)
{
    char *data;
    size_t bytes;
    const char *path = test_path(&folder, name);
    assert_int_equal(und_file_read(path, 1 << 24, &data, &bytes, NULL), UND_OK);
    data[bytes / 2] ^= 4;
    assert_int_equal(und_file_write(path, data, bytes, NULL), UND_OK);
    free(data);
}

static void resume_falls_back_from_a_damaged_checkpoint(void **state)
{
    (void)state;
    und_cache_def def = definition();
    und_error err = {0};
    und_frame loaded;
    make_cache(5);
    spoil("out/beach/checkpoints/beach.0004.h5");
    und_cache *cache = und_cache_resume(&def, &loaded, &err);
    assert_int_equal(loaded.number, 2);
    assert_int_equal(loaded.count, 8);
    und_frame_clear(&loaded);
    assert_int_equal(und_cache_describe(cache).row_count, 2);
    und_cache_close(cache, NULL, 0, NULL);
    assert_int_equal(und_cache_verify(def.folder, NULL, NULL, NULL, &err), UND_OK);
    spoil("out/beach/checkpoints/beach.0002.h5");
    cache = und_cache_resume(&def, &loaded, &err);
    assert_non_null(cache);
    assert_int_equal(loaded.count, 0);
    assert_int_equal(und_cache_describe(cache).row_count, 0);
    write_frame(cache, 1, true);
    und_cache_close(cache, NULL, 0, NULL);
    assert_int_equal(und_cache_verify(def.folder, NULL, NULL, NULL, &err), UND_OK);
}

static void resume_wants_the_same_scene(void **state)
{
    (void)state;
    make_cache(2);
    und_cache_def def = definition();
    und_error err = {0};
    und_frame loaded;
    def.scene_text = "another";
    assert_null(und_cache_resume(&def, &loaded, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "the scene has changed"));
    def = definition();
    def.settings = "cells=97";
    assert_null(und_cache_resume(&def, &loaded, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "cells=96"));
    assert_false(there("out/beach/lock"));
    def.folder = "nowhere";
    assert_null(und_cache_resume(&def, &loaded, &err));
    assert_int_equal(err.status, UND_INVALID);
}

static void append(const char *name, const char *text)
{
    FILE *stream = fopen(test_path(&folder, name), "a");
    fputs(text, stream);
    fclose(stream);
}

static void torn_ledger_line_is_tolerated(void **state)
{
    (void)state;
    und_cache_def def = definition();
    und_error err = {0};
    und_frame loaded;
    for (int cut = 0; cut < 2; cut++) {
        make_cache(4);
        if (cut) {
            char *data;
            size_t bytes;
            assert_int_equal(
                und_file_read(test_path(&folder, "out/beach/ledger.csv"), 1 << 20, &data, &bytes, NULL), 0);
            assert_int_equal(truncate(test_path(&folder, "out/beach/ledger.csv"), (off_t)bytes - 30), 0);
            free(data);
        } else {
            append("out/beach/ledger.csv", "5,0.20833333,10,0.");
        }
        und_cache *cache = und_cache_open(def.folder, &err);
        assert_non_null(cache);
        assert_int_equal(und_cache_describe(cache).row_count, 4 - cut);
        und_cache_close(cache, NULL, 0, NULL);
        assert_int_equal(und_cache_verify(def.folder, NULL, NULL, NULL, &err), cut ? UND_FAILED : UND_OK);
        cache = und_cache_resume(&def, &loaded, &err);
        assert_int_equal(loaded.number, 4 - 2 * cut);
        und_frame_clear(&loaded);
        for (int i = 5 - 2 * cut; i <= 6; i++)
            write_frame(cache, i, false);
        und_cache_close(cache, NULL, 0, NULL);
        if (und_cache_verify(def.folder, NULL, NULL, NULL, &err))
            fail_msg("%s", err.text);
    }
}

static void write_lock(const char *host, long pid)
{
    char text[300];
    int length = snprintf(text, sizeof text, "%s %ld\n", host, pid);
    assert_int_equal(und_file_write(test_path(&folder, "out/beach/lock"), text, (size_t)length, NULL),
                     UND_OK);
}

/* "host pid boot start", with what this kernel says of itself or something else. */
static void write_whole_lock(const char *host, long pid, const char *boot, const char *start)
{
    char text[400];
    int length = snprintf(text, sizeof text, "%s %ld %s %s\n", host, pid, boot, start);
    assert_int_equal(und_file_write(test_path(&folder, "out/beach/lock"), text, (size_t)length, NULL),
                     UND_OK);
}

static bool can_resume(und_error *err)
{
    und_cache_def def = definition();
    und_frame loaded;
    und_cache *cache = und_cache_resume(&def, &loaded, err);
    if (cache)
        und_frame_clear(&loaded);
    und_cache_close(cache, NULL, 0, NULL);
    return cache != NULL;
}

/* Pids come again, and pid 1 is always there: neither blocks a cache for ever. */
static void stale_locks_are_taken_over(void **state)
{
    (void)state;
    make_cache(2);
    und_error err = {0};
    char host[256] = "", boot[64] = "";
    const char *other = "00000000-1111-2222-3333-444444444444";
    gethostname(host, sizeof host - 1);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63s", boot), 1);
    fclose(file);
    write_whole_lock(host, 1, boot, "1234567"); /* of another container */
    assert_true(can_resume(&err));
    write_whole_lock(host, getppid(), boot, "1234567"); /* which lives, as something else */
    assert_true(can_resume(&err));
    write_whole_lock(host, getppid(), other, "1234567"); /* before the machine was started again */
    assert_true(can_resume(&err));
    write_whole_lock("container", 1, boot, "1234567");
    assert_true(can_resume(&err));
    write_whole_lock("elsewhere", 1, other, "1234567"); /* another machine: who knows */
    assert_false(can_resume(&err));
    assert_non_null(strstr(err.text, "process 1 on elsewhere"));
    unlink(test_path(&folder, "out/beach/lock"));
}

/* Whatever its line says, a lock whose process lives is respected, and one whose process was killed is not.
 */
static void the_kernel_knows_who_lives(void **state)
{
    (void)state;
    make_cache(2);
    int ready[2];
    char byte;
    und_error err = {0};
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        und_cache_def def = definition();
        und_frame loaded;
        und_cache *cache = und_cache_resume(&def, &loaded, &err);
        const bool told = write(ready[1], cache ? "y" : "n", 1) == 1;
        sleep(told ? 600 : 0);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    char *text = read_text(test_path(&folder, "out/beach/lock"));
    assert_true(und_cache_is_written(test_path(&folder, "out/beach")));
    assert_false(can_resume(&err));
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)child);
    assert_non_null(strstr(err.text, pid));
    FILE *file = fopen(test_path(&folder, "out/beach/lock"), "r+"); /* in place: the same open file */
    assert_non_null(file);
    fprintf(file, "container 1%s", strchr(strchr(text, ' ') + 1, ' '));
    fclose(file);
    free(text);
    assert_false(can_resume(&err));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(can_resume(&err));
    assert_false(there("out/beach/lock"));
    close(ready[0]);
    close(ready[1]);
}

static void lock_keeps_others_out(void **state)
{
    (void)state;
    make_cache(2);
    und_cache_def def = definition();
    und_error err = {0};
    und_frame loaded;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    write_lock("elsewhere", child);
    assert_null(und_cache_resume(&def, &loaded, &err));
    assert_non_null(strstr(err.text, "elsewhere"));
    assert_non_null(strstr(err.text, "out/beach/lock"));
    assert_null(und_cache_create(&def, true, &err));
    write_lock(host, getppid());
    assert_null(und_cache_create(&def, true, &err));
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)getppid());
    assert_non_null(strstr(err.text, pid));
    assert_true(there("out/beach/lock"));
    assert_int_equal(und_file_write(test_path(&folder, "out/beach/lock"), "?", 1, NULL), UND_OK);
    assert_null(und_cache_resume(&def, &loaded, &err));
    write_lock(host, child); /* dead */
    und_cache *cache = und_cache_resume(&def, &loaded, &err);
    assert_non_null(cache);
    und_frame_clear(&loaded);
    assert_null(und_cache_create(&def, true, &err)); /* by ourselves, now */
    und_cache_close(cache, NULL, 0, NULL);
    assert_false(there("out/beach/lock"));
}

static void an_existing_cache_is_not_overwritten(void **state)
{
    (void)state;
    make_cache(2);
    und_cache_def def = definition();
    und_error err = {0};
    assert_null(und_cache_create(&def, false, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "--resume"));
    append("out/beach/frames/notes.txt", "mine");
    append("out/beach/frames/beach.0009.h5.77.tmp", "half");
    und_cache *cache = und_cache_create(&def, true, &err);
    assert_int_equal(und_cache_describe(cache).row_count, 0);
    assert_true(there("out/beach/frames/notes.txt"));
    assert_false(there("out/beach/frames/beach.0001.h5"));
    assert_false(there("out/beach/frames/beach.0009.h5.77.tmp"));
    und_cache_close(cache, NULL, 0, NULL);
    unlink(test_path(&folder, "out/beach/frames/notes.txt"));
}

static void create_leaves_nothing_where_it_fails(void **state)
{
    (void)state;
    und_cache_def def = definition();
    und_error err = {0};
    append("plain", "a file");
    char path[300];
    snprintf(path, sizeof path, "%s/plain/out", folder.path);
    def.folder = path;
    assert_null(und_cache_create(&def, false, &err));
    assert_non_null(strstr(err.text, "plain"));
    assert_non_null(strstr(err.text, "Not a directory"));
    snprintf(path, sizeof path, "%s/new/a/b", folder.path);
    def.fps = NAN; /* the manifest cannot be written */
    assert_null(und_cache_create(&def, false, &err));
    assert_false(there("new"));
    snprintf(path, sizeof path, "%s/old", folder.path);
    mkdir(path, 0777);
    assert_null(und_cache_create(&def, false, &err));
    assert_int_equal(rmdir(path), 0); /* there, and empty */
}

static void names_make_safe_file_names(void **state)
{
    (void)state;
    und_cache_def def = definition();
    def.name = "../dam break/\xc3\xa9";
    char path[300];
    snprintf(path, sizeof path, "%s/names", folder.path);
    def.folder = path;
    und_cache *cache = und_cache_create(&def, false, NULL);
    write_frame(cache, 1, false);
    und_cache_close(cache, NULL, 0, NULL);
    assert_true(there("names/frames/-.-dam-break---.0001.h5"));
    cache = und_cache_open(path, NULL);
    assert_string_equal(und_cache_describe(cache).name, def.name);
    und_frame frame;
    assert_int_equal(und_cache_read(cache, 1, &frame, NULL), UND_OK);
    und_frame_clear(&frame);
    und_cache_close(cache, NULL, 0, NULL);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int count_files(const char *name)
{
    int count = 0;
    DIR *dir = opendir(test_path(&folder, name));
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void full_disk_keeps_the_frames_before(void **state)
{
    (void)state;
    und_cache_def def = definition();
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, true, &err);
    write_frame(cache, 1, true);
    und_frame frame = make_frame(2);
    und_ledger ledger = make_ledger(2);
    int before = count_files("out/beach/frames");
    limit_files(10000);
    und_status wrote = und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), &err);
    limit_files(RLIM_INFINITY);
    assert_int_equal(wrote, UND_FAILED);
    assert_non_null(strstr(err.text, "beach.0002.h5"));
    assert_non_null(strstr(err.text, "File too large"));
    assert_int_equal(count_files("out/beach/frames"), before);
    limit_files(10000);
    und_status kept = und_cache_checkpoint(cache, &frame, &err);
    limit_files(RLIM_INFINITY);
    assert_int_equal(kept, UND_FAILED);
    assert_non_null(strstr(err.text, "checkpoints/beach.0002.h5"));
    limit_files(400); /* enough for the ledger's first row, not for this one */
    def.compress = 0;
    und_frame small = und_frame_empty(2, 1, GRID);
    wrote = und_cache_write(cache, &small, &ledger, 0, &err);
    limit_files(RLIM_INFINITY);
    assert_int_equal(wrote, UND_FAILED);
    und_frame_clear(&frame);
    und_cache_close(cache, NULL, 0, NULL);
    if (und_cache_verify(def.folder, NULL, NULL, NULL, &err))
        fail_msg("%s", err.text);
    cache = und_cache_resume(&def, &frame, &err);
    assert_int_equal(frame.number, 1);
    und_frame_clear(&frame);
    for (int i = 2; i <= 3; i++)
        write_frame(cache, i, true);
    und_cache_close(cache, NULL, 0, NULL);
    assert_int_equal(und_cache_verify(def.folder, NULL, NULL, NULL, &err), UND_OK);
}

static void static_items_may_not_change(void **state)
{
    (void)state;
    und_cache_def def = definition();
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, true, &err);
    write_frame(cache, 1, false);
    und_frame frame = make_frame(2);
    und_ledger ledger = make_ledger(2);
    ((float *)frame.items[1].data)[5] = 42;
    assert_int_equal(und_cache_write(cache, &frame, &ledger, 0, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "static"));
    und_frame_clear(&frame);
    write_frame(cache, 2, false);
    frame = make_frame(2);
    assert_int_equal(und_cache_write(cache, &frame, &ledger, 0, &err), UND_FAILED); /* again */
    und_frame_clear(&frame);
    und_cache_close(cache, NULL, 0, NULL);
}

static void put(const char *name, const char *text)
{
    char path[UND_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", out, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Killed after its ledger and before its first manifest, a run has left nothing to go on with, and may be
 * begun again as it was; where the ledger has rows, more was lost than that. */
static void a_beginning_may_be_begun_again(void **state)
{
    (void)state;
    char manifest[UND_PATH_MAX + 16];
    und_cache_def def = definition();
    und_error err = {0};
    und_frame left = und_frame_empty(0, 0, GRID);
    und_cache_close(und_cache_create(&def, true, &err), NULL, 0, NULL);
    snprintf(manifest, sizeof manifest, "%s/manifest.json", out);
    assert_int_equal(unlink(manifest), 0);
    assert_null(und_cache_resume(&def, &left, &err));
    assert_non_null(strstr(err.text, "holds no cache to go on with: without --resume it is begun"));
    und_cache *cache = und_cache_create(&def, false, &err);
    assert_non_null(cache);
    write_frame(cache, 1, true);
    und_cache_close(cache, NULL, 0, NULL);
    assert_int_equal(unlink(manifest), 0);
    assert_null(und_cache_create(&def, false, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "left of a cache without its manifest.json: --force replaces it"));
    put("ledger.csv", "somebody's notes\n");
    assert_null(und_cache_create(&def, false, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_back_bit_for_bit),
        cmocka_unit_test(description_comes_back),
        cmocka_unit_test(same_frame_gives_the_same_bytes),
        cmocka_unit_test(little_of_an_item_is_written),
        cmocka_unit_test(files_of_format_1_are_read),
        cmocka_unit_test(items_are_read_alone),
        cmocka_unit_test(resume_goes_on_from_the_last_checkpoint),
        cmocka_unit_test(resume_falls_back_from_a_damaged_checkpoint),
        cmocka_unit_test(resume_wants_the_same_scene),
        cmocka_unit_test(torn_ledger_line_is_tolerated),
        cmocka_unit_test(lock_keeps_others_out),
        cmocka_unit_test(stale_locks_are_taken_over),
        cmocka_unit_test(the_kernel_knows_who_lives),
        cmocka_unit_test(an_existing_cache_is_not_overwritten),
        cmocka_unit_test(create_leaves_nothing_where_it_fails),
        cmocka_unit_test(names_make_safe_file_names),
        cmocka_unit_test(full_disk_keeps_the_frames_before),
        cmocka_unit_test(static_items_may_not_change),
        cmocka_unit_test(a_beginning_may_be_begun_again),
    };
    return cmocka_run_group_tests_name("cache", tests, setup, teardown);
}
