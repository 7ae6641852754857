/* Reels: frames come whole and right whatever is asked in whatever order. */
#include "tests/play_cache.h"
#include "tests/test.h"

#include "base/random.h"
#include "view/disk.h"
#include "view/frame_player.h"

#include <time.h>
#include <unistd.h>

enum { START = 5, END = 44 };

static char path[128];

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    snprintf(path, sizeof path, "%s/play", folder.path);
    play_cache(path, START, END, 25);
    return 0;
}

static und_frame_player *open_player(const char *where)
{
    und_error err = {0};
    und_frame_player *player = und_frame_player_create(where, NULL, 0, &err);
    if (!player)
        fail_msg("%s", err.text);
    return player;
}

/* All that play_write put into it. */
static void expect_frame(const und_frame *frame, int number)
{
    assert_non_null(frame);
    assert_int_equal(frame->number, number);
    assert_double_near(frame->time, (number - START) / 25.0, 1e-12);
    const und_item *surface = und_frame_find(frame, "surface"), *ground = und_frame_find(frame, "ground");
    assert_non_null(surface);
    assert_non_null(ground);
    assert_int_equal(und_item_count(surface), PLAY_X * PLAY_Z);
    for (size_t k = 0; k < und_item_count(surface); k++)
        if (((float *)surface->data)[k] != (float)number || ((float *)ground->data)[k] != -1)
            fail_msg("frame %d has another's values", number);
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (time_t)seconds))};
    nanosleep(&t, NULL);
}

static void seek_and_expect(und_frame_player *player, int frame, int direction)
{
    und_frame_player_seek(player, frame, direction);
    und_frame_player_settle(player);
    expect_frame(und_frame_player_take(player), frame);
}

static void tells_what_it_is(void **state)
{
    (void)state;
    und_frame_player *player = open_player(path);
    und_cache_info info = und_frame_player_info(player);
    assert_string_equal(info.name, "play");
    assert_int_equal(info.row_count, END - START + 1);
    assert_int_equal(und_frame_player_scene(player)->model, UND_MODEL_WAVES);
    assert_int_equal(und_frame_player_first(player), START);
    assert_int_equal(und_frame_player_last(player), END);
    assert_double_near(und_frame_player_time(player, START + 10), 0.4, 1e-12);
    assert_double_near(und_frame_player_time(player, 1000), (END - START) / 25.0, 1e-12);
    assert_int_equal(und_frame_player_frame_at(player, 0.41), START + 10);
    assert_int_equal(und_frame_player_frame_at(player, 0.43), START + 11);
    assert_int_equal(und_frame_player_frame_at(player, -3), START);
    assert_int_equal(und_frame_player_frame_at(player, 1e9), END);
    assert_false(und_frame_player_grows(player));
    und_frame_player_destroy(player);
}

static void frames_come_in_any_order(void **state)
{
    (void)state;
    und_frame_player *player = open_player(path);
    int count = END - START + 1;
    for (int i = 0; i < 120; i++) {
        int frame = START + (int)(count * und_random(1, 0, (uint64_t)i));
        und_frame_player_seek(player, frame, i % 3 - 1);
        und_frame_player_settle(player);
        const und_frame *taken = und_frame_player_take(player);
        if (taken)
            expect_frame(taken, frame);
        assert_null(und_frame_player_take(player)); /* it was given */
    }
    seek_and_expect(player, START + 3, 0);
    und_frame_player_seek(player, END + 1000, 0); /* the nearest that is there */
    und_frame_player_settle(player);
    expect_frame(und_frame_player_take(player), END);
    und_frame_player_destroy(player);
}

/* Little memory: never more than it says, and still every frame in play, forwards, backwards and around. */
static void plays_with_little_memory(void **state)
{
    (void)state;
    static const size_t budgets[] = {1, 60 << 10};
    size_t frame_bytes = 2 * sizeof(float) * PLAY_X * PLAY_Z;
    for (int k = 0; k < 2; k++) {
        und_frame_player *player = open_player(path);
        und_frame_player_keep(player, budgets[k]);
        bool marks[END - START + 1];
        int most = 0;
        for (int i = 0; i < 2 * (END - START + 1); i++) {
            int frame = START + i % (END - START + 1);
            seek_and_expect(player, k ? START + END - frame : frame, k ? -1 : 1);
            int kept = und_frame_player_kept(player, START, END - START + 1, marks);
            assert_true(marks[(k ? START + END - frame : frame) - START]);
            most = kept > most ? kept : most;
        }
        for (int kept = 0; kept < 3;) { /* it reads ahead as far as it may, and no farther */
            pause_for(0.01);
            kept = und_frame_player_kept(player, START, END - START + 1, marks);
            most = kept > most ? kept : most;
        }
        assert_true(most <= (k ? (int)(budgets[1] / frame_bytes) : 3));
        und_frame_player_destroy(player);
    }
}

/* What is ahead is there before it is asked for; the first frame follows the last. */
static void reads_ahead(void **state)
{
    (void)state;
    for (int direction = -1; direction <= 1; direction++) {
        und_frame_player *player = open_player(path);
        und_frame_player_keep(player, 110 << 10);
        und_frame_player_seek(player, START + 1, direction);
        und_frame_player_settle(player);
        bool marks[END - START + 1] = {0};
        int kept = 0, expected = direction ? 10 : 4;
        while (kept < expected) {
            pause_for(0.01);
            kept = und_frame_player_kept(player, START, END - START + 1, marks);
        }
        if (direction == 1)
            for (int i = 1; i < 8; i++)
                assert_true(marks[i]);
        if (direction == -1)
            for (int i = 0; i < 7; i++)
                assert_true(marks[(END - START + 1 + 1 - i) % (END - START + 1)]);
        if (direction == 0) { /* two on each side, of which one is not there */
            pause_for(0.05);
            assert_int_equal(und_frame_player_kept(player, START, END - START + 1, marks), 4);
            assert_true(marks[0] && marks[1] && marks[2] && marks[3]);
        }
        und_frame_player_destroy(player);
    }
}

/* A window that asks for another frame each time and never waits: what it is given is always one frame,
 * whole, and never farther from the one asked for than what it has. */
static void hammering_seeks(void **state)
{
    (void)state;
    und_frame_player *player = open_player(path);
    und_frame_player_keep(player, 60 << 10);
    int given = 0, last = -1;
    for (long i = 0; given < 150; i++) {
        int wanted = START - 2 + (int)((END - START + 5) * und_random(2, (uint64_t)(i / 1000), 0));
        und_frame_player_seek(player, wanted, (int)(i % 5) - 2);
        const und_frame *frame = und_frame_player_take(player);
        if (!frame)
            continue;
        int reach = wanted < START ? START : wanted > END ? END : wanted;
        if (last >= 0)
            assert_true(abs(frame->number - reach) <= abs(last - reach));
        last = frame->number;
        expect_frame(frame, frame->number);
        given++;
    }
    seek_and_expect(player, last == START + 7 ? START + 8 : START + 7, 0);
    und_frame_player_destroy(player);
}

static void damaged_frames_are_named(void **state)
{
    (void)state;
    char file[160], other[128], text[512];
    snprintf(other, sizeof other, "%s/damaged", folder.path);
    play_cache(other, START, START + 5, 25);
    snprintf(file, sizeof file, "%s/frames/play.%04d.h5", other, START + 2);
    assert_int_equal(truncate(file, 700), 0);
    snprintf(file, sizeof file, "%s/frames/play.%04d.h5", other, START + 4);
    assert_int_equal(unlink(file), 0);
    und_frame_player *player = open_player(other);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 6; i++) {
            und_frame_player_seek(player, START + i, 1);
            und_frame_player_settle(player);
            const und_frame *frame = und_frame_player_take(player);
            bool failed = und_frame_player_failed(player, text, sizeof text);
            assert_int_equal(failed, i == 2 || i == 4);
            if (failed) {
                assert_null(frame);
                assert_non_null(strstr(text, i == 2 ? "frame 7" : "frame 9"));
                assert_non_null(strstr(text, other));
            } else {
                expect_frame(frame, START + i);
            }
        }
    und_frame_player_destroy(player);
}

static void wait_for_last(und_frame_player *player, int last)
{
    while (und_frame_player_last(player) != last) {
        pause_for(0.01);
        und_frame_player_take(player);
    }
}

/* A run that writes: no frame at first, then more; at last a new run in its place. */
static void grows_with_its_run(void **state)
{
    (void)state;
    char other[128];
    snprintf(other, sizeof other, "%s/growing", folder.path);
    und_disk_lock();
    und_cache *cache = play_begin(other, START, START - 1, START + 9, 25);
    und_disk_unlock();
    und_frame_player *player = open_player(other);
    assert_true(und_frame_player_grows(player));
    assert_int_equal(und_frame_player_last(player), und_frame_player_first(player) - 1);
    und_frame_player_settle(player);
    assert_null(und_frame_player_take(player));
    und_disk_lock();
    for (int i = 0; i < 3; i++)
        play_write(cache, START + i);
    und_disk_unlock();
    wait_for_last(player, START + 2);
    und_frame_player_seek(player, START + 1, 0);
    und_frame_player_settle(player);
    und_frame_player_take(player);
    seek_and_expect(player, START + 2, 0);
    und_disk_lock();
    for (int i = 3; i < 10; i++)
        play_write(cache, START + i);
    play_end(cache);
    und_disk_unlock();
    wait_for_last(player, START + 9);
    assert_int_equal(und_frame_player_info(player).row_count, 10);
    seek_and_expect(player, START + 9, 1);
    assert_false(und_frame_player_grows(player));
    und_frame_player_destroy(player);
}

static void ends_at_any_time(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        und_frame_player *player = open_player(path);
        und_frame_player *beside = open_player(path);
        und_frame_player_seek(player, START + i % 30, 1);
        und_frame_player_seek(beside, END - i % 30, -1);
        if (i % 2)
            pause_for(1e-4 * i);
        if (i % 3 == 0)
            und_frame_player_take(player);
        und_frame_player_destroy(player);
        und_frame_player_settle(beside);
        und_frame_player_destroy(beside);
    }
    und_frame_player_destroy(NULL);
}

static void what_is_no_cache(void **state)
{
    (void)state;
    und_error err = {0};
    assert_null(und_frame_player_create("no/such/folder", NULL, 0, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_null(und_frame_player_create(folder.path, NULL, 0, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_null(
        und_frame_player_create(path, &(und_setting){"cells", "9"}, 1, &err)); /* it has no such param */
    assert_int_equal(err.status, UND_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_it_is),         cmocka_unit_test(frames_come_in_any_order),
        cmocka_unit_test(plays_with_little_memory), cmocka_unit_test(reads_ahead),
        cmocka_unit_test(hammering_seeks),          cmocka_unit_test(damaged_frames_are_named),
        cmocka_unit_test(grows_with_its_run),       cmocka_unit_test(ends_at_any_time),
        cmocka_unit_test(what_is_no_cache),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
