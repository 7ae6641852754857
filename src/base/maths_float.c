/* Of floats: in doubles, with polynomials as long as a float needs. */
#include "base/maths.h"

#include "base/maths_kernel.h"

#include <math.h>
#include <stdbool.h>

/* exp(r) 2^k, |r| < log(2) / 2, k from -1000 to 1000. */
static inline double grow(double r, double k)
{
    const double z = r * r;
    const double a = 0x1.0000000ba132cp-1 + r * 0x1.5555555a800cdp-3,
                 b = 0x1.5554e8a22b84cp-5 + r * 0x1.1110e0c5c7f50p-7,
                 c = 0x1.6d43af18200d3p-10 + r * 0x1.a1256cd2f13c2p-13;
    return ((1 + r) + z * (a + z * (b + z * c))) * und_double_power_of_two((int)k);
}

/* The power of e, and of 2; of what no float reaches the ends are taken. */
static inline double exp_of(double x)
{
    const double held = x > 200    ? 200
                        : x < -200 ? -200
                                   : x,
                 k = und_double_nearest(held * 0x1.71547652b82fep+0);
    return grow(held - k * 0x1.62e42fefa39efp-1, k);
}

static inline double exp2_of(double x)
{
    const double held = x > 300 ? 300 : x < -300 ? -300 : x, k = und_double_nearest(held);
    return grow((held - k) * 0x1.62e42fefa39efp-1, k);
}

float und_expf(float x)
{
    return isnan(x) ? NAN : (float)exp_of((double)x);
}

float und_exp2f(float x)
{
    return isnan(x) ? NAN : (float)exp2_of((double)x);
}

/* log(m) and k of x = m 2^k, x > 0: the series of base/maths.c, fewer terms. */
static inline double log_of(float x, double *k)
{
    const uint64_t bits = und_double_bits((double)x);
    const uint64_t low = bits - 0x3fe6a09e00000000; /* m from sqrt(1/2) to sqrt(2) */
    const int64_t power = (int64_t)low >> 52;
    const double m = und_double_of_bits(bits - ((uint64_t)power << 52)), s = (m - 1) / (m + 1), z = s * s,
                 zz = z * z;
    const double a = 0x1.55555555553b7p-2 + z * 0x1.9999999b87b86p-3,
                 b = 0x1.249246296a80ep-3 + z * 0x1.c71fce2b77606p-4,
                 c = 0x1.7382a23f89b3cp-4 + z * 0x1.546d9958ca325p-4;
    *k = (double)power;
    return 2 * (s + s * z * (a + zz * (b + zz * c)));
}

float und_logf(float x)
{
    if (!(x > 0 && x < INFINITY))
        return x == 0 ? -INFINITY : x > 0 ? x : NAN;
    double k;
    const double log = log_of(x, &k);
    return (float)(log + k * 0x1.62e42fefa39efp-1);
}

float und_powf(float x, float y)
{
    if (!(x > 0 && x < INFINITY && fabsf(y) < INFINITY))
        return (float)und_pow((double)x, (double)y);
    double k;
    const double log = log_of(x, &k);
    return (float)exp2_of((double)y * (k + log * 0x1.71547652b82fep+0));
}

/* The sine of so many quarters more. */
static inline float sine(float x, int quarters)
{
    const double n = und_double_nearest((double)x * 0x1.45f306dc9c883p-1);
    const double r = ((double)x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34, z = r * r;
    const int quarter = (int)n + quarters;
    const double sine = r + r * z *
                                ((-0x1.555555545d8c5p-3 + z * 0x1.11110dedfad55p-7) +
                                 z * z * (-0x1.a013a5f4d59a4p-13 + z * 0x1.6dbd81c32f629p-19));
    const double cosine = 1 - 0.5 * z +
                          z * z *
                              ((0x1.5555555502a51p-5 - z * 0x1.6c16bf5419fb1p-10) +
                               z * z * (0x1.a015c3688ddeep-16 - z * 0x1.2523f45c8e12dp-22));
    const double value = quarter & 1 ? cosine : sine;
    return (float)(quarter & 2 ? -value : value);
}

float und_sinf(float x)
{
    if (fabsf(x) < 0x1p-13f)
        return x;
    return fabsf(x) < 0x1p20f ? sine(x, 0) : (float)und_sin((double)x);
}

float und_cosf(float x)
{
    return fabsf(x) < 0x1p20f ? sine(x, 1) : (float)und_cos((double)x);
}

float und_tanf(float x)
{
    return (float)und_tan((double)x);
}

/* Of a point whose coordinates are not negative, nor both zero: from the nearest of axes and diagonal on. */
static inline double angle_of(double y, double x)
{
    const double least = 0.4142135623730950; /* tan(pi / 8) */
    const double base = y <= least * x ? 0 : x <= least * y ? M_PI_2 : M_PI_4;
    const double u = y <= least * x ? y / x : x <= least * y ? -x / y : (y - x) / (y + x);
    const double z = u * u, zz = z * z;
    const double a = -0x1.5555555552562p-2 + z * 0x1.9999998825918p-3,
                 b = -0x1.249240c37ad76p-3 + z * 0x1.c7195c8f27c64p-4,
                 c = -0x1.7415369b05321p-4 + z * 0x1.37797a2bb25f5p-4,
                 d = -0x1.ed97727799b19p-5 + z * 0x1.0dafbdea6ce78p-5;
    return base + (u + u * z * ((a + zz * b) + zz * zz * (c + zz * d)));
}

float und_asinf(float x)
{
    const double a = fabs((double)x);
    return a <= 1 ? copysignf((float)angle_of(a, sqrt((1 - a) * (1 + a))), x) : NAN;
}

float und_acosf(float x)
{
    const double a = fabs((double)x);
    if (!(a <= 1))
        return NAN;
    const double angle = angle_of(sqrt((1 - a) * (1 + a)), a);
    return (float)(x < 0 ? M_PI - angle : angle);
}

float und_atan2f(float y, float x)
{
    double a = fabs((double)y), b = fabs((double)x);
    if (isnan(x) || isnan(y))
        return NAN;
    if (isinf(x) || isinf(y)) {
        a = isinf(y) ? 1 : 0;
        b = isinf(x) ? 1 : 0;
    }
    const double angle = a > 0 || b > 0 ? angle_of(a, b) : 0;
    return copysignf((float)(signbit(x) ? M_PI - angle : angle), y);
}

float und_hypotf(float x, float y)
{
    if (isinf(x) || isinf(y))
        return INFINITY;
    return (float)sqrt((double)x * (double)x + (double)y * (double)y);
}
