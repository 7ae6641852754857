/* What every test includes: cmocka, in the order it wants, and assertions on doubles. */
#ifndef UND_TESTS_TEST_H
#define UND_TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_double_near(value_, expected_, tolerance_)                           \
    do {                                                                            \
        double v_ = (value_), e_ = (expected_), t_ = (tolerance_);                  \
        if (!(fabs(v_ - e_) <= t_))                                                 \
            fail_msg("%s is %.17g, expected %.17g within %g", #value_, v_, e_, t_); \
    } while (0)

/* How often to try something random; more often where the environment says so, as tools/reliability does. */
static inline uint64_t test_times(uint64_t usual)
{
    const char *factor = getenv("UNDINE_TEST_TIMES");
    return factor ? (uint64_t)((double)usual * atof(factor)) : usual;
}

/* How many of a loop's cases to try.  Sanitizers look at what code does, not at how near its numbers come:
 * under them the first `few` will do, as long as they enter the same code. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
static inline int test_cases(int all, int few)
{
#ifdef UNDER_SANITIZER
    return few < all ? few : all;
#else
    (void)few;
    return all;
#endif
}

/* A whole file as a string, to be freed. */
static inline char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

#endif
