/* Mathematics that kernels do for themselves. */
#ifndef UND_BASE_MATHS_KERNEL_H
#define UND_BASE_MATHS_KERNEL_H

#include "base/lanes.h"

UND_INLINE uint64_t und_double_bits(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
UND_INLINE double und_double_of_bits(uint64_t bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* und_cbrt. */
UND_INLINE double und_cube_root(double x)
{
    double a = __builtin_fabs(x), unit = 1;
    if (!(a > 0 && a < __builtin_inf()))
        return x;
    if (a < 0x1p-1022) {
        a *= 0x1p54;
        unit = 0x1p-18;
    }
    /* a = m 2^(3 third + more), m from 1/2 to 1. */
    const int power = (int)(und_double_bits(a) >> 52) - 1022 + 1074, third = power / 3 - 358,
              more = power % 3;
    const double m = und_double_of_bits((und_double_bits(a) & 0xfffffffffffff) | (uint64_t)1022 << 52),
                 root = more == 0   ? 1
                        : more == 1 ? 1.2599210498948732
                                    : 1.5874010519681994;
    a = m * (1 << more);
    double t = root * (0x1.c3b7ff0a6e189p-2 +
                       m * (0x1.d810f6c24d3dep-1 + m * (-0x1.01e7d6a492d5cp-1 + m * 0x1.20057dc14d725p-3)));
    const double cube = t * t * t;
    t *= (cube + 2 * a) / (2 * cube + a); /* Halley: 13 bits, then 39 */
    t = (t + 0x1p28) - 0x1p28;            /* of which 25 are kept, so that the square is exact */
    const double other = a / (t * t);
    t += t * ((other - t) / (2 * t + other));
    return __builtin_copysign(t * unit * und_double_of_bits((uint64_t)(third + 1023) << 52), x);
}

#endif
