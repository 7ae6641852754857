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

/* Numbers as the sum of two doubles (Dekker 1971). */
typedef struct und_twofold {
    double high, low; /* low is less than a unit in the last place of high */
} und_twofold;

/* 2 to the power of k, -1022 to 1023. */
UND_INLINE double und_double_power_of_two(int k)
{
    return und_double_of_bits((uint64_t)(k + 1023) << 52);
}

/* The next whole number; of less than 2^51. */
UND_INLINE double und_double_nearest(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* a + b without an error, |a| >= |b| or a = 0. */
UND_INLINE und_twofold und_twofold_sum(double a, double b)
{
    double sum = a + b;
    return (und_twofold){sum, b - (sum - a)};
}

/* a b without an error, where nothing overflows: halves of 26 bits are multiplied. */
UND_INLINE und_twofold und_twofold_product(double a, double b)
{
    double wide_a = 0x1.0000002p27 * a, wide_b = 0x1.0000002p27 * b;
    double ah = wide_a - (wide_a - a), bh = wide_b - (wide_b - b), al = a - ah, bl = b - bh, p = a * b;
    return (und_twofold){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

UND_INLINE und_twofold und_twofold_quotient(und_twofold a, und_twofold b)
{
    const double per = 1 / b.high, q = a.high * per;
    const und_twofold back = und_twofold_product(q, b.high);
    const double rest = ((a.high - back.high) - back.low) + a.low - q * b.low;
    return und_twofold_sum(q, rest * per);
}

/* exp(x) = 2^power (1 + rest), |rest| < 0.42. */
typedef struct und_growth {
    int power;
    und_twofold rest;
} und_growth;

/* Of x between -1000 and 1000, and something less than its last place. */
UND_INLINE und_growth und_growth_of(double x, double less)
{
    const double k = und_double_nearest(x * 0x1.71547652b82fep+0);
    const double first = x - k * 0x1.62e42feep-1, take = k * 0x1.a39ef35793c76p-33, r = first - take;
    const double lost = ((first - r) - take) + less, z = r * r, zz = z * z;
    const double a = 0x1.0000000000000p-1 + r * 0x1.5555555555557p-3,
                 b = 0x1.5555555555556p-5 + r * 0x1.11111111100bep-7;
    const double c = 0x1.6c16c16c162c3p-10 + r * 0x1.a01a01abf85abp-13,
                 d = 0x1.a01a01a6e1e2ap-16 + r * 0x1.71de01fdbf9cap-19;
    const double e = 0x1.27e4db46cddd1p-22 + r * (0x1.af4e554377204p-26 + r * 0x1.1f7340dbc337ep-29);
    const double more = z * ((a + z * b) + zz * ((c + z * d) + zz * e));
    return (und_growth){(int)k, und_twofold_sum(r, more + (lost + lost * (r + more)))};
}

/* x 2^power; in two steps where the result may be one of the numbers near zero that have fewer digits. */
UND_INLINE double und_double_times_power(double x, int power)
{
    if (power > -1021 && power < 1024)
        return x * und_double_power_of_two(power);
    const int half = power / 2;
    return x * und_double_power_of_two(half) * und_double_power_of_two(power - half);
}

UND_INLINE double und_exp_of(double x, double less)
{
    const und_growth g = und_growth_of(x, less);
    const und_twofold sum = und_twofold_sum(1, g.rest.high);
    return und_double_times_power(sum.high + (sum.low + g.rest.low), g.power);
}

/* exp(x) - 1, of x from -40 to 710. */
UND_INLINE und_twofold und_growth_beyond_one(double x)
{
    const und_growth g = und_growth_of(x, 0);
    if (g.power == 0)
        return g.rest;
    const und_twofold sum = und_twofold_sum(1, g.rest.high);
    const double half = g.power > 1000 ? 0.5 : 1, unit = und_double_power_of_two(g.power - (half < 1)),
                 all = unit * sum.high;
    const und_twofold most = all > half ? und_twofold_sum(all, -half) : und_twofold_sum(-half, all);
    const und_twofold by = und_twofold_sum(most.high, most.low + unit * (sum.low + g.rest.low));
    return (und_twofold){by.high / half, by.low / half};
}

/* The logarithm of a finite x > 0, to about 64 bits: with s = (m - 1) / (m + 1), log m = 2 (s + s^3/3 + s^5/5
 * ...). */
UND_INLINE und_twofold und_logarithm(double x)
{
    const int tiny = x < 0x1p-1022 ? 54 : 0;
    const uint64_t bits = und_double_bits(tiny ? x * 0x1p54 : x);
    int k = (int)(bits >> 52) - 1023 - tiny;
    double m = und_double_of_bits((bits & 0xfffffffffffff) | (uint64_t)1023 << 52);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        k++;
    }
    const und_twofold s =
        und_twofold_quotient((und_twofold){m - 1, 0}, m > 1 ? und_twofold_sum(m, 1) : und_twofold_sum(1, m));
    const und_twofold square = und_twofold_product(s.high, s.high);
    const double z = square.high, zl = square.low + 2 * s.high * s.low, zz = z * z, z4 = zz * zz;
    const double a = 0x1.999999999999ap-3 + z * 0x1.2492492492491p-3,
                 b = 0x1.c71c71c71cfdfp-4 + z * 0x1.745d174512e1ep-4,
                 c = 0x1.3b13b1bcb9acfp-4 + z * 0x1.1110df983ca8bp-4,
                 d = 0x1.e1f8017e78a71p-5 + z * 0x1.ac49ec28ed859p-5;
    const double more = (a + zz * b) + z4 * ((c + zz * d) + z4 * 0x1.b8d9c734b5e64p-5);
    const und_twofold third = und_twofold_product(z, 0x1.5555555555555p-2),
                      cube = und_twofold_product(s.high, third.high);
    const double tail =
        s.high * ((third.low + z * 0x1.5555555555555p-56 + zl * 0x1.5555555555555p-2) + zz * more) +
        s.low * third.high + cube.low;
    const und_twofold most = und_twofold_sum(s.high, cube.high);
    const und_twofold own = und_twofold_sum(2 * most.high, 2 * (most.low + (s.low + tail)));
    if (k == 0)
        return own;
    const und_twofold all = und_twofold_sum(k * 0x1.62e42fefa3800p-1, own.high);
    return und_twofold_sum(all.high, all.low + (own.low + k * 0x1.ef35793c76730p-45));
}

/* und_log of finite numbers above 0, und_pow of such with a finite power, und_expm1: their own arithmetic. */
UND_INLINE double und_log_above_0(double x)
{
    const und_twofold log = und_logarithm(x);
    return log.high + log.low;
}

UND_INLINE double und_pow_above_0(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    const und_twofold log = und_logarithm(x);
    const double about = y * log.high;
    if (about > 710 || about < -746)
        return about > 0 ? __builtin_inf() : 0;
    if (__builtin_fabs(about) < 0x1p-60)
        return 1;
    const double unit =
        __builtin_fabs(y) > 0x1p64 ? 0x1p-64 : 1; /* the parts of a product must not overflow, nor vanish */
    const und_twofold p = und_twofold_product(y * unit, log.high / unit);
    return und_exp_of(p.high, p.low + y * log.low);
}

UND_INLINE double und_exp_less_1(double x)
{
    if (x != x || __builtin_fabs(x) < 0x1p-54)
        return x;
    return x > 710 ? __builtin_inf() : x < -40 ? -1 : und_growth_beyond_one(x).high;
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
