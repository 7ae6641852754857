/* Coefficients: polynomials through Chebyshev's points of the interval, rounded to doubles. */
#include "base/maths.h"

#include "base/maths_kernel.h"

#include <math.h>
#include <stdbool.h>

static const und_twofold half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

/* x = quarter * pi/2 + rest, quarter modulo 4, |rest| <= pi/4. */
typedef struct turn {
    int quarter;
    und_twofold rest;
} turn;

/* 192 bits of 2/pi, those from `skip` on, highest word first. */
static void two_over_pi(int skip, uint64_t to[3])
{
    static const uint64_t words[20] = {
        0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
        0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
        0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
        0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
    const int word = skip / 64, bit = skip % 64;
    for (int i = 0; i < 3; i++)
        to[i] = bit ? words[word + i] << bit | words[word + i + 1] >> (64 - bit) : words[word + i];
}

/* Of any x from 1/2 to infinity, in whole numbers: those bits of 2/pi that count are multiplied with the 53
 * bits of x, and whole turns fall out at the top (Payne & Hanek 1983). */
static turn reduce_exactly(double x)
{
    typedef unsigned __int128 wide;
    const uint64_t bits = und_double_bits(x);
    const int power = (int)(bits >> 52) - 1075; /* x = mantissa 2^power */
    const uint64_t mantissa = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    uint64_t f[3];
    two_over_pi(power > 2 ? power - 2 : 0, f);
    wide low = (wide)mantissa * f[2], middle = (wide)mantissa * f[1] + (uint64_t)(low >> 64),
         high = (wide)mantissa * f[0] + (uint64_t)(middle >> 64);
    uint64_t w[4] = {(uint64_t)(high >> 64), (uint64_t)high, (uint64_t)middle, (uint64_t)low};
    const int shift =
        power < 2 ? 2 - power : 0; /* then w[1..3] are x 2/pi modulo 4, with 190 bits after the point */
    for (int i = 3; i > 0 && shift; i--)
        w[i] = w[i] >> shift | w[i - 1] << (64 - shift);
    int quarter = (int)(w[1] >> 62);
    uint64_t a = w[1] << 2 | w[2] >> 62, b = w[2] << 2 | w[3] >> 62, c = w[3] << 2;
    const int down = a >> 63 ? 1 : 0; /* more than half a quarter: from the next one back */
    if (down) {
        c = ~c + 1;
        b = ~b + (c == 0);
        a = ~a + (b == 0 && c == 0);
    }
    wide top = (wide)a << 64 | b;
    int lead = 0;
    for (; lead < 127 && !(top >> 127); lead++)
        top <<= 1;
    if (lead)
        top |= lead < 64 ? c >> (64 - lead) : c;
    const double unit = down ? -und_double_power_of_two(-lead - 106) : und_double_power_of_two(-lead - 106);
    const double fh = (double)(uint64_t)(top >> 75) * 0x1p53 * unit,
                 fl = (double)(uint64_t)(top >> 22 & 0x1fffffffffffff) * unit;
    const und_twofold p = und_twofold_product(fh, half_pi.high);
    return (turn){(quarter + down) & 3,
                  und_twofold_sum(p.high, p.low + (fh * half_pi.low + fl * half_pi.high))};
}

/* Of any finite x: by three parts of pi/2, of 33 bits and the rest, whose products with the quarter are exact
 * (Cody & Waite 1980), or exactly where x is large or the rest is small. */
static turn reduce(double x)
{
    const double a = fabs(x);
    if (a <= 0.7853981633974483)
        return (turn){0, {x, 0}};
    if (a < 0x1p20) {
        const double n = und_double_nearest(a * 0x1.45f306dc9c883p-1);
        const double first = a - n * 0x1.921fb544p+0, take = n * 0x1.0b4611a6p-34, rest = first - take;
        const double lost = (first - rest) - take - n * 0x1.3198a2e037073p-69;
        if (fabs(rest) > 0x1p-12) {
            const und_twofold r = und_twofold_sum(rest, lost);
            const int quarter = (int)n & 3;
            return x < 0 ? (turn){-quarter & 3, {-r.high, -r.low}} : (turn){quarter, r};
        }
    }
    const turn t = reduce_exactly(a);
    return x < 0 ? (turn){-t.quarter & 3, {-t.rest.high, -t.rest.low}} : t;
}

static und_twofold sine_of_rest(und_twofold r)
{
    const double x = r.high, z = x * x, zz = z * z;
    const double even = 0x1.1111111111110p-7 + zz * (0x1.71de3a54600cap-19 + zz * 0x1.61217e4ef55f8p-33);
    const double odd = -0x1.a01a01a019933p-13 + zz * (-0x1.ae645411d76a9p-26 - zz * 0x1.ab1764e7b2047p-41);
    const double more = -0x1.5555555555555p-3 + z * (even + z * odd);
    return und_twofold_sum(x, x * z * more + r.low * (1 - 0.5 * z));
}

static und_twofold cosine_of_rest(und_twofold r)
{
    const double x = r.high, z = x * x, zz = z * z, half = 0.5 * z;
    const double even = 0x1.5555555555555p-5 + zz * (0x1.a01a019f4e480p-16 + zz * 0x1.1eeb685cba14cp-29);
    const double odd = -0x1.6c16c16c16965p-10 + zz * (-0x1.27e4fa17532cap-22 - zz * 0x1.907d3e3374a42p-37);
    const und_twofold most = und_twofold_sum(1, -half);
    return und_twofold_sum(most.high, most.low + (zz * (even + z * odd) - x * r.low));
}

/* The sine of so many quarters more: 1 makes it a cosine. */
static double sine(double x, int quarters)
{
    const turn t = reduce(x);
    const int quarter = t.quarter + quarters;
    const und_twofold value = quarter & 1 ? cosine_of_rest(t.rest) : sine_of_rest(t.rest);
    return quarter & 2 ? -value.high : value.high;
}

double und_sin(double x)
{
    if (!(fabs(x) < INFINITY))
        return NAN;
    return fabs(x) < 0x1p-27 ? x : sine(x, 0);
}

double und_cos(double x)
{
    return fabs(x) < INFINITY ? sine(x, 1) : NAN;
}

double und_tan(double x)
{
    if (!(fabs(x) < INFINITY))
        return NAN;
    if (fabs(x) < 0x1p-27)
        return x;
    const turn t = reduce(x);
    const und_twofold s = sine_of_rest(t.rest), c = cosine_of_rest(t.rest);
    return t.quarter & 1 ? -und_twofold_quotient(c, s).high : und_twofold_quotient(s, c).high;
}

/* The angle of a point in the first eighth of the plane, 0 < y <= x, neither tiny: a sixteenth of the tangent
 * is turned back by, and a series takes the rest. */
static und_twofold angle_of(und_twofold y, und_twofold x)
{
    static const und_twofold sixteenth[17] = {
        {0, 0},
        {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
        {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
        {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
        {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
        {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
        {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
        {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
        {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
        {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
        {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
        {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
        {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
        {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
        {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
        {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
        {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
    };
    const int i = (int)(16 * (y.high / x.high) + 0.5);
    const double c = i / 16.0;
    const und_twofold cx = und_twofold_product(c, x.high), cy = und_twofold_product(c, y.high),
                      sum = und_twofold_sum(x.high, cy.high);
    const und_twofold u =
        und_twofold_quotient(und_twofold_sum(y.high - cx.high, (y.low - cx.low) - c * x.low),
                             (und_twofold){sum.high, sum.low + cy.low + x.low + c * y.low});
    const double z = u.high * u.high;
    const double more = -0x1.5555555555549p-2 +
                        z * (0x1.99999998d44abp-3 + z * (-0x1.24923a079cf0bp-3 + z * 0x1.c65ebd82ab3b3p-4));
    const double tail = u.low + u.high * z * more;
    if (i == 0)
        return und_twofold_sum(u.high, tail);
    const und_twofold angle = und_twofold_sum(sixteenth[i].high, u.high);
    return und_twofold_sum(angle.high, angle.low + (tail + sixteenth[i].low));
}

/* whole quarters less an angle of up to one. */
static und_twofold quarters_less(double quarters, und_twofold angle)
{
    const und_twofold most = und_twofold_sum(quarters * half_pi.high, -angle.high);
    return und_twofold_sum(most.high, most.low + (quarters * half_pi.low - angle.low));
}

/* Of finite numbers that are not negative, not both zero: in the first quarter. */
static und_twofold angle_from(und_twofold y, und_twofold x)
{
    const bool steep = y.high > x.high;
    const und_twofold small = steep ? x : y, large = steep ? y : x;
    const double unit = large.high > 0x1p400 ? 0x1p-600 : large.high < 0x1p-400 ? 0x1p600 : 1;
    und_twofold angle = {small.high / large.high, 0};
    if (angle.high > 0x1p-30)
        angle = angle_of((und_twofold){small.high * unit, small.low * unit},
                         (und_twofold){large.high * unit, large.low * unit});
    return steep ? quarters_less(1, angle) : angle;
}

double und_atan2(double y, double x)
{
    double a = fabs(y), b = fabs(x);
    if (isnan(x) || isnan(y))
        return NAN;
    if (isinf(a) || isinf(b)) {
        a = isinf(a) ? 1 : 0;
        b = isinf(b) ? 1 : 0;
    }
    und_twofold angle = {0, 0};
    if (a > 0 || b > 0)
        angle = angle_from((und_twofold){a, 0}, (und_twofold){b, 0});
    if (signbit(x))
        angle = quarters_less(2, angle);
    return copysign(angle.high, y);
}

/* The other side of a triangle whose long one is 1. */
static und_twofold other_side(double x)
{
    const und_twofold square = und_twofold_product(x, x), most = und_twofold_sum(1, -square.high),
                      left = und_twofold_sum(most.high, most.low - square.low);
    const double root = sqrt(left.high);
    if (root == 0)
        return (und_twofold){0, 0};
    const und_twofold back = und_twofold_product(root, root);
    return und_twofold_sum(root, (((left.high - back.high) - back.low) + left.low) / (2 * root));
}

double und_asin(double x)
{
    const double a = fabs(x);
    if (!(a <= 1))
        return NAN;
    return a < 0x1p-27 ? x : copysign(angle_from((und_twofold){a, 0}, other_side(a)).high, x);
}

double und_acos(double x)
{
    const double a = fabs(x);
    if (!(a <= 1))
        return NAN;
    const und_twofold angle = angle_from(other_side(a), (und_twofold){a, 0});
    return x < 0 ? quarters_less(2, angle).high : angle.high;
}

double und_exp(double x)
{
    if (isnan(x))
        return NAN;
    return x > 710 ? INFINITY : x < -746 ? 0 : und_exp_of(x, 0);
}

double und_expm1(double x)
{
    return und_exp_less_1(x);
}

double und_tanh(double x)
{
    const double a = fabs(x);
    if (isnan(x) || a < 0x1p-28)
        return x;
    if (a > 20)
        return copysign(1, x);
    const und_twofold by = und_growth_beyond_one(2 * a);
    const und_twofold more = by.high > 2 ? und_twofold_sum(by.high, 2) : und_twofold_sum(2, by.high);
    return copysign(und_twofold_quotient(by, (und_twofold){more.high, more.low + by.low}).high, x);
}

/* log(x) / log(base), with 1 / log(base) given. */
static double logarithm_to(double x, und_twofold per)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    if (isinf(x))
        return x;
    const und_twofold log = und_logarithm(x), most = und_twofold_product(log.high, per.high);
    return most.high + (most.low + (log.high * per.low + log.low * per.high));
}

double und_log(double x)
{
    return logarithm_to(x, (und_twofold){1, 0});
}

double und_log2(double x)
{
    return logarithm_to(x, (und_twofold){0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56});
}

double und_log10(double x)
{
    return logarithm_to(x, (und_twofold){0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
}

/* 0: not whole, 1: odd, 2: even. */
static int evenness(double y)
{
    const double a = fabs(y);
    if (a >= 0x1p53)
        return 2;
    if (a != floor(a))
        return 0;
    return 2 - (int)((int64_t)a & 1);
}

double und_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y))
        return NAN;
    const double a = fabs(x), sign = signbit(x) && evenness(y) == 1 ? -1 : 1;
    if (isinf(y))
        return a == 1 ? 1 : (a > 1) == (y > 0) ? INFINITY : 0;
    if (a == 0 || isinf(a))
        return sign * ((a > 0) == (y > 0) ? INFINITY : 0);
    if (x < 0 && evenness(y) == 0)
        return NAN;
    return sign * und_pow_above_0(a, y);
}

double und_cbrt(double x)
{
    return und_cube_root(x);
}

double und_hypot(double x, double y)
{
    const bool steep = fabs(y) > fabs(x);
    const double a = fabs(steep ? y : x), b = fabs(steep ? x : y);
    if (isinf(x) || isinf(y))
        return INFINITY;
    if (isnan(x) || isnan(y))
        return NAN;
    if (b <= 0x1p-54 * a)
        return a + b;
    const double unit = a > 0x1p500 ? 0x1p-600 : b < 0x1p-400 ? 0x1p600 : 1, p = a * unit, q = b * unit;
    const und_twofold pp = und_twofold_product(p, p), qq = und_twofold_product(q, q);
    const double h = sqrt(pp.high + qq.high);
    const und_twofold hh = und_twofold_product(h, h);
    const double rest = ((pp.high - hh.high) + qq.high) + ((pp.low - hh.low) + qq.low);
    return (h + rest / (2 * h)) / unit;
}
