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

#endif
