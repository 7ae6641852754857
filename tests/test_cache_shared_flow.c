/* Caches that share another's flow: what reading merges, and what is said of a flow that has gone or changed.
 */
#include "tests/folder.h"
#include "tests/small_cache.h"
#include "tests/test.h"

static char own[96];

static und_frame bodies_at(int number)
{
    und_frame f =
        und_frame_empty(number, number / 24.0, (und_grid){.n = {80, 1, 60}, .dx = 0.5, .origin = {0, 0, 0}});
    float *at = und_frame_add(
                    &f, &(und_item_def){"bodies/position", "m", UND_BODIES, UND_F32, false, 2, {1, 3}}, NULL)
                    ->data;
    float *mesh =
        und_frame_add(&f, &(und_item_def){"bodies/mesh_position", "m", UND_BODIES, UND_F32, true, 2, {3, 3}},
                      NULL)
            ->data;
    at[0] = (float)number;
    mesh[4] = 0.25f;
    return f;
}

static und_cache_def definition(void)
{
    und_cache_def def = small_definition(own);
    def.name = "cans";
    def.flow = small_path;
    def.bodies_path = "cans.lua";
    def.bodies_text = "bodies {}";
    def.bodies_settings = "n=3";
    return def;
}

/* The flow, and frames 1 to 3 of a cache that shares it. */
static int setup(void **state)
{
    small_setup(state);
    snprintf(own, sizeof own, "%s/deep/cans", folder.path);
    und_cache_def def = definition();
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, false, &err);
    for (int i = 1; i <= 3; i++) {
        und_frame frame = bodies_at(i);
        und_ledger ledger = {.start = 10, .sources = 0.5 * i, .measured = 10 + 0.5 * i};
        if (!cache || und_cache_write(cache, &frame, &ledger, 5, &err))
            fail_msg("%s", err.text);
        und_frame_clear(&frame);
    }
    assert_int_equal(und_cache_close(cache, NULL, 0, &err), UND_OK);
    return 0;
}

/* Flow and bodies come as one frame. */
static void expect_whole(const char *path)
{
    und_error err = {0};
    und_cache *cache = und_cache_open(path, &err);
    assert_non_null(cache);
    for (int i = 1; i <= 3; i++) {
        und_frame frame, flow = small_frame(i), bodies = bodies_at(i);
        if (und_cache_read(cache, i, &frame, &err) != UND_OK)
            fail_msg("%s", err.text);
        assert_int_equal(frame.count, flow.count + bodies.count);
        assert_double_near(frame.time, i / 24.0, 0);
        for (int k = 0; k < frame.count; k++) {
            const und_item *a = &frame.items[k];
            const und_item *b = k < flow.count ? &flow.items[k] : &bodies.items[k - flow.count];
            assert_string_equal(a->name, b->name);
            assert_int_equal(a->is_static, b->is_static);
            assert_memory_equal(a->data, b->data, und_item_bytes(b));
        }
        und_frame_clear(&frame);
        und_frame_clear(&flow);
        und_frame_clear(&bodies);
    }
    und_cache_info info = und_cache_describe(cache);
    assert_string_equal(info.flow, "../../beach");
    assert_string_equal(info.bodies_text, "bodies {}");
    assert_string_equal(info.scene_text, "scene {}");
    und_cache_close(cache, NULL, 0, &err);
}

static void test_reads_as_one(void **state)
{
    (void)state;
    int checked = 0;
    und_error err = {0};
    expect_whole(own);
    assert_int_equal(und_cache_verify(own, NULL, NULL, &checked, &err), UND_OK);
    assert_int_equal(checked, 2 + 1 + 3 + (2 + 1 + 4 + 2)); /* its own files, and those of the flow */
}

/* The path to the flow begins at the cache: both may move together. */
static void test_moves_with_its_flow(void **state)
{
    (void)state;
    char before[96], after[128];
    snprintf(before, sizeof before, "%s", folder.path);
    snprintf(after, sizeof after, "%s-moved", folder.path);
    assert_int_equal(rename(before, after), 0);
    char path[160];
    snprintf(path, sizeof path, "%s/deep/cans", after);
    expect_whole(path);
    assert_int_equal(rename(after, before), 0);
}

static void expect_trouble(const char *text)
{
    und_error err = {0};
    und_frame frame;
    und_cache *cache = und_cache_open(own, &err); /* its own part can still be looked at */
    assert_non_null(cache);
    assert_int_equal(und_cache_read(cache, 2, &frame, &err), UND_FAILED);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(frame.count, 0);
    und_cache_close(cache, NULL, 0, &err);
    assert_int_equal(und_cache_verify(own, NULL, NULL, NULL, &err), UND_FAILED);
    assert_non_null(strstr(err.text, text));
}

static void test_flow_is_missing(void **state)
{
    (void)state;
    char away[128];
    snprintf(away, sizeof away, "%s-away", small_path);
    assert_int_equal(rename(small_path, away), 0);
    expect_trouble("its flow is not there");
    assert_int_equal(rename(away, small_path), 0);
    expect_whole(own);
}

/* Begun anew with other frames. */
static void test_flow_has_changed(void **state)
{
    (void)state;
    und_cache_def def = small_definition(small_path);
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, true, &err);
    for (int i = 1; i <= 3; i++) {
        und_frame frame = small_frame(i + 10);
        und_ledger ledger = {.start = 10, .measured = 10};
        frame.number = i;
        assert_int_equal(und_cache_write(cache, &frame, &ledger, 5, &err), UND_OK);
        und_frame_clear(&frame);
    }
    und_cache_close(cache, NULL, 0, &err);
    expect_trouble("has changed since undine float read it");
}

/* A frame's file damaged: the flow's own hashes tell. */
static void test_flow_is_damaged(void **state)
{
    (void)state;
    char path[160], *data;
    size_t bytes;
    snprintf(path, sizeof path, "%s/frames/beach.0002.h5", small_path);
    assert_int_equal(und_file_read(path, 1 << 24, &data, &bytes, NULL), UND_OK);
    data[bytes / 2] ^= 1;
    put_file(path, data, bytes);
    free(data);
    expect_trouble("frames/beach.0002.h5 has changed");
}

/* A flow that has gone on is still the same up to there. */
static void test_flow_goes_on(void **state)
{
    (void)state;
    und_cache_def def = small_definition(small_path);
    und_error err = {0};
    und_frame kept, frame = small_frame(5);
    und_ledger ledger = {.start = 10, .measured = 10};
    def.end = 5;
    und_cache *cache = und_cache_resume(&def, &kept, &err);
    assert_non_null(cache);
    und_frame_clear(&kept);
    assert_int_equal(und_cache_write(cache, &frame, &ledger, 5, &err), UND_OK);
    und_frame_clear(&frame);
    und_cache_close(cache, NULL, 0, &err);
    expect_whole(own);
}

static void test_not_into_itself(void **state)
{
    (void)state;
    char same[128];
    und_error err = {0};
    und_cache_def def = definition();
    snprintf(same, sizeof same, "%s/../beach", small_path);
    def.folder = same;
    assert_null(und_cache_create(&def, true, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "is the flow's own cache"));
    assert_int_equal(und_cache_verify(small_path, NULL, NULL, NULL, &err), UND_OK);
}

/* What has no flow of its own cannot be a flow. */
static void test_not_of_a_shared_one(void **state)
{
    (void)state;
    char path[128], flow[128];
    und_error err = {0};
    und_cache_def def = definition();
    snprintf(path, sizeof path, "%s/other", folder.path);
    def.folder = path;
    def.flow = own;
    assert_null(und_cache_create(&def, true, &err));
    assert_non_null(strstr(err.text, "shares the flow of another"));
    und_cache *cache = und_cache_open(own, &err);
    assert_int_equal(und_cache_flow_folder(cache, flow, sizeof flow, &err), UND_OK);
    und_cache_close(cache, NULL, 0, &err);
    def.flow = flow;
    cache = und_cache_create(&def, true, &err);
    assert_non_null(cache);
    und_cache_close(cache, NULL, 0, &err);
}

static void test_is_not_resumed(void **state)
{
    (void)state;
    und_cache_def def = definition();
    und_error err = {0};
    und_frame kept;
    assert_null(und_cache_resume(&def, &kept, &err));
    assert_non_null(strstr(err.text, "holds what was made of another's flow: undine float --force"));
}

#define IN_FOLDER(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_reads_as_one),    IN_FOLDER(test_moves_with_its_flow),
        IN_FOLDER(test_flow_is_missing), IN_FOLDER(test_flow_has_changed),
        IN_FOLDER(test_flow_is_damaged), IN_FOLDER(test_flow_goes_on),
        IN_FOLDER(test_not_into_itself), IN_FOLDER(test_not_of_a_shared_one),
        IN_FOLDER(test_is_not_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
