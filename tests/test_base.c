#include "tests/test.h"

#include "base/hash.h"
#include "base/pages.h"
#include "base/random.h"
#include "base/status.h"
#include "grid/frame.h"

static void hash_does_not_depend_on_threads(void **state)
{
    (void)state;
    size_t bytes = 5 * (1 << 20) + 123;
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)und_random_bits(1, 2, i);
    uint64_t one = und_hash(data, bytes, 7, 1);
    assert_int_equal(one, und_hash(data, bytes, 7, 2));
    assert_int_equal(one, und_hash(data, bytes, 7, 7));
    data[bytes - 1] ^= 1;
    assert_int_not_equal(one, und_hash(data, bytes, 7, 2));
    free(data);
}

static void random_numbers_are_uniform(void **state)
{
    (void)state;
    enum { N = 100000, BINS = 10 };
    int bins[BINS] = {0};
    double sum = 0;
    for (uint64_t i = 0; i < N; i++) {
        double r = und_random(42, 3, i);
        assert_true(r >= 0 && r < 1);
        bins[(int)(r * BINS)]++;
        sum += r;
    }
    assert_double_near(sum / N, 0.5, 5 / sqrt(12.0 * N));
    for (int i = 0; i < BINS; i++)
        assert_double_near(bins[i], N / BINS, 5 * sqrt(N / BINS));
    assert_true(und_random(42, 3, 0) != und_random(42, 4, 0));
}

static void errors_carry_status_and_text(void **state)
{
    (void)state;
    und_error err;
    assert_int_equal(und_error_set(&err, UND_INVALID, "%s:%d", "a.lua", 3), UND_INVALID);
    assert_string_equal(err.text, "a.lua:3");
    assert_null(und_pages_alloc(SIZE_MAX - 1, "too much", &err));
    assert_int_equal(err.status, UND_FAILED);
}

/* A frame that is made again uses the memory it has, whatever becomes of its items. */
static void frames_use_their_memory_again(void **state)
{
    (void)state;
    und_error err;
    float mine[3] = {1, 2, 3};
    und_frame frame = und_frame_empty(1, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_item_def def = {
        .name = "a", .unit = "m", .kind = UND_NUMBERS, .type = UND_F32, .rank = 1, .dim = {1000}};
    und_item_def small = def, borrowed = def;
    small.name = "b";
    small.dim[0] = 10;
    borrowed.name = "c";
    borrowed.dim[0] = 3;
    void *large = NULL;
    for (int round = 0; round < 20; round++) {
        for (int k = 0; round % 3 == 0 && k < 3; k++)
            assert_non_null(und_frame_borrow(&frame, &borrowed, mine, &err));
        if (round % 2 == 0)
            assert_non_null(und_frame_add(&frame, &small, &err));
        und_item *item = und_frame_add(&frame, &def, &err);
        assert_non_null(item);
        for (int i = 0; i < 1000; i++)
            assert_double_near((double)((float *)item->data)[i], 0, 0);
        ((float *)item->data)[round] = 5;
        assert_true(round == 0 || item->data == large);
        large = item->data;
        int expected = 1 + (round % 2 == 0) + (round % 3 == 0 ? 3 : 0);
        assert_int_equal(frame.count, expected);
        assert_ptr_equal(und_frame_find(&frame, "a")->data, large);
        und_frame_recycle(&frame);
        assert_int_equal(frame.count, 0);
        assert_null(und_frame_find(&frame, "a"));
    }
    und_frame_clear(&frame);
    assert_double_near((double)mine[2], 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_does_not_depend_on_threads),
        cmocka_unit_test(random_numbers_are_uniform),
        cmocka_unit_test(errors_carry_status_and_text),
        cmocka_unit_test(frames_use_their_memory_again),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
