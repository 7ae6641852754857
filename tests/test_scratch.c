/* Memory that is lent to whoever runs. */
#include "base/scratch.h"
#include "tests/test.h"

#include <string.h>

static void test_lends(void **state)
{
    (void)state;
    und_error err;
    const size_t small = und_scratch_bytes(100), large = und_scratch_bytes(100000);
    und_scratch *s = und_scratch_join(NULL, 2 * small, &err);
    assert_non_null(s);
    assert_ptr_equal(und_scratch_join(s, large, &err), s);
    char *a = und_scratch_take(s, 100), *b = und_scratch_take(s, 100000), *c = und_scratch_take(s, 100);
    memset(a, 1, 100);
    memset(b, 2, 100000);
    memset(c, 3, 100);
    assert_true((size_t)a % 64 == 0 && (size_t)b % 64 == 0 && b >= a + 100 && c >= b + 100000);
    for (int i = 0; i < 100; i++)
        assert_true(a[i] == 1 && b[i] == 2 && c[i] == 3);
    und_scratch_give_back(s, b);
    assert_ptr_equal(und_scratch_take(s, 100000), b);
    und_scratch_give_back(s, a);
    und_scratch_leave(s, large);
    assert_ptr_equal(und_scratch_take(s, 100), a); /* whoever is left has what it joined with */
    und_scratch_give_back(s, a);
    und_scratch_leave(s, 2 * small);
}

/* As large as anybody asked for, and as it was given back. */
static void test_lends_zeroed(void **state)
{
    (void)state;
    und_error err;
    und_scratch *s = und_scratch_join(NULL, 100, &err);
    assert_non_null(s);
    assert_int_equal(und_scratch_keep_zeroed(s, 100000, &err), UND_OK);
    assert_int_equal(und_scratch_keep_zeroed(s, 1000, &err), UND_OK);
    char *a = und_scratch_take_zeroed(s);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(a[i], 0);
    memset(a, 1, 100000);
    memset(a, 0, 100000);
    und_scratch_give_back_zeroed(s);
    assert_int_equal(und_scratch_keep_zeroed(s, 300000, &err), UND_OK);
    a = und_scratch_take_zeroed(s);
    for (int i = 0; i < 300000; i++)
        assert_int_equal(a[i], 0);
    und_scratch_give_back_zeroed(s);
    und_scratch_leave(s, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lends), cmocka_unit_test(test_lends_zeroed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
