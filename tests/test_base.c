#include "tests/test.h"

#include "base/hash.h"
#include "base/pages.h"
#include "base/random.h"
#include "base/status.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_does_not_depend_on_threads),
        cmocka_unit_test(random_numbers_are_uniform),
        cmocka_unit_test(errors_carry_status_and_text),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
