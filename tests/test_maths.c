#include "tests/test.h"

#include "base/exp_kernel.h"
#include "base/hash.h"
#include "base/maths.h"
#include "base/random.h"

/* The long double functions of the C library have eleven bits more. */
typedef struct one {
    const char *name;
    double (*own)(double);
    long double (*known)(long double);
    double low, high; /* where most arguments come from */
} one;

typedef struct onef {
    const char *name;
    float (*own)(float);
    long double (*known)(long double);
    double low, high;
} onef;

static const one ones[] = {
    {"sin", und_sin, sinl, -40, 40},     {"cos", und_cos, cosl, -40, 40},
    {"tan", und_tan, tanl, -40, 40},     {"asin", und_asin, asinl, -1, 1},
    {"acos", und_acos, acosl, -1, 1},    {"exp", und_exp, expl, -750, 712},
    {"expm1", und_expm1, expm1l, -3, 3}, {"tanh", und_tanh, tanhl, -21, 21},
    {"log", und_log, logl, 0, 3},        {"log2", und_log2, log2l, 0, 3},
    {"log10", und_log10, log10l, 0, 3},  {"cbrt", und_cbrt, cbrtl, -9, 9},
};

static const onef onefs[] = {
    {"sinf", und_sinf, sinl, -40, 40},      {"cosf", und_cosf, cosl, -40, 40},
    {"tanf", und_tanf, tanl, -40, 40},      {"asinf", und_asinf, asinl, -1, 1},
    {"acosf", und_acosf, acosl, -1, 1},     {"expf", und_expf, expl, -105, 90},
    {"exp2f", und_exp2f, exp2l, -150, 130}, {"logf", und_logf, logl, 0, 3},
};

enum { ONES = sizeof ones / sizeof *ones, ONEFS = sizeof onefs / sizeof *onefs };

/* In units of the last place of a double, or of a float, near the known value. */
static double off(double own, long double known, double unit, double least)
{
    if (isnan(own) || isnan((double)known))
        return isnan(own) && isnan((double)known) ? 0 : INFINITY;
    long double most = least == 0x1p-1074 ? 0x1.fffffffffffffp1023L : 0x1.fffffep127L;
    if (isinf(own) || fabsl(known) > most)
        return (own > 0) == (known > 0) && fabsl(known) >= most && fabs(own) >= (double)most ? 0 : INFINITY;
    int power;
    frexpl(known, &power);
    return (double)(fabsl((long double)own - known) / fmaxl(ldexpl(unit, power), least));
}

static double off_double(double own, long double known)
{
    return off(own, known, 0x1p-53, 0x1p-1074);
}

static double off_float(float own, long double known)
{
    return off((double)own, known, 0x1p-24, 0x1p-149);
}

/* Any double at all, NaN and infinity among them. */
static double any_double(uint64_t stream, uint64_t i)
{
    uint64_t bits = und_random_bits(7, stream, i);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float any_float(uint64_t stream, uint64_t i)
{
    uint32_t bits = (uint32_t)und_random_bits(8, stream, i);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of every four arguments two from the usual range, one near its middle, one of any size. */
static double argument(double low, double high, uint64_t stream, uint64_t i)
{
    double r = und_random(9, stream, i);
    if (i % 4 == 0)
        return any_double(stream, i);
    return i % 4 == 1 ? 0.5 * (low + high) + (r - 0.5) * 0.01 * (high - low) : low + r * (high - low);
}

static void doubles_are_true_to_the_last_place(void **state)
{
    (void)state;
    for (uint64_t f = 0; f < ONES; f++) {
        double worst = 0, at = 0;
        for (uint64_t i = 0; i < test_times(40000); i++) {
            double x = argument(ones[f].low, ones[f].high, f, i);
            double d = off_double(ones[f].own(x), ones[f].known((long double)x));
            if (!(d <= worst)) {
                worst = d;
                at = x;
            }
        }
        print_message("%-6s %.3f at %a\n", ones[f].name, worst, at);
        assert_true(worst < 1.1);
    }
}

static void floats_are_true_to_the_last_place(void **state)
{
    (void)state;
    for (uint64_t f = 0; f < ONEFS; f++) {
        double worst = 0, at = 0;
        for (uint64_t i = 0; i < test_times(40000); i++) {
            float x = i % 4 ? (float)argument(onefs[f].low, onefs[f].high, f, i) : any_float(f, i);
            double d = off_float(onefs[f].own(x), onefs[f].known((long double)x));
            if (!(d <= worst)) {
                worst = d;
                at = (double)x;
            }
        }
        print_message("%-6s %.3f at %a\n", onefs[f].name, worst, at);
        assert_true(worst < 0.6);
    }
}

/* Multiples of pi/2 to the nearest double: what is left of them is the rounding of the multiple alone. */
static void angles_near_whole_quarters(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = 1; i < 20000; i++)
        for (int scale = 0; scale < 3; scale++) {
            double x = (double)((long double)i * 1.57079632679489661923132169163975144L *
                                (scale ? powl(3, scale * 40) : 1));
            worst = fmax(worst, off_double(und_sin(x), sinl((long double)x)));
            worst = fmax(worst, off_double(und_cos(-x), cosl(-(long double)x)));
            worst = fmax(worst, off_double(und_tan(x), tanl((long double)x)));
        }
    print_message("near whole quarters %.3f\n", worst);
    assert_true(worst < 1);
    /* The double that comes closest to a multiple of pi/2 (Muller 2006, table 11.1). */
    assert_true(und_cos(6381956970095103.0 * 0x1p797) == -4.6871659242546277e-19);
}

static void functions_of_two(void **state)
{
    (void)state;
    double pow_worst = 0, atan_worst = 0, hypot_worst = 0, powf_worst = 0, atanf_worst = 0, hypotf_worst = 0;
    for (uint64_t i = 0; i < test_times(60000); i++) {
        double x = argument(-2, 2, 1, i), y = argument(-3, 3, 2, i / 3);
        atan_worst = fmax(atan_worst, off_double(und_atan2(y, x), atan2l((long double)y, (long double)x)));
        hypot_worst = fmax(hypot_worst, off_double(und_hypot(x, y), hypotl((long double)x, (long double)y)));
        double power = i % 2 ? y : 700 * und_random(9, 3, i) / log(fabs(x));
        pow_worst = fmax(
            pow_worst, off_double(und_pow(fabs(x), power), powl(fabsl((long double)x), (long double)power)));
        float u = i % 5 ? (float)x : any_float(1, i), v = i % 7 ? (float)y : any_float(2, i);
        powf_worst =
            fmax(powf_worst, off_float(und_powf(fabsf(u), v), powl(fabsl((long double)u), (long double)v)));
        atanf_worst = fmax(atanf_worst, off_float(und_atan2f(v, u), atan2l((long double)v, (long double)u)));
        hypotf_worst =
            fmax(hypotf_worst, off_float(und_hypotf(u, v), hypotl((long double)u, (long double)v)));
    }
    print_message("pow %.3f, atan2 %.3f, hypot %.3f; of floats %.3f, %.3f, %.3f\n", pow_worst, atan_worst,
                  hypot_worst, powf_worst, atanf_worst, hypotf_worst);
    assert_true(pow_worst < 1.1 && atan_worst < 0.6 && hypot_worst < 0.6);
    assert_true(powf_worst < 0.6 && atanf_worst < 0.6 && hypotf_worst < 0.6);
}

static void exact_where_a_double_holds_the_answer(void **state)
{
    (void)state;
    for (int k = -300; k <= 300; k++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", k);
        double ten = strtod(text, NULL);
        assert_true(k < 0 || k > 22 || und_pow(10, k) == ten);
        assert_true(und_log10(ten) == k);
        assert_true(und_log2(ldexp(1, k)) == k);
        assert_true(und_cbrt(ldexp(27, 3 * k)) == ldexp(3, k));
        assert_true(und_pow(ldexp(1, k), 3) == ldexp(1, 3 * k) &&
                    und_pow(ldexp(1, 2 * k), 0.5) == ldexp(1, k));
        assert_true(und_exp2f((float)(k / 3)) == ldexpf(1, k / 3));
    }
    for (int a = 1; a < 60; a++)
        for (int b = 1; b < a; b++)
            assert_true(und_hypot(a * a - b * b, 2 * a * b) == a * a + b * b);
}

/* C17, annex F.10. */
static void zeros_infinities_and_what_is_no_number(void **state)
{
    (void)state;
    static const double odd[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1p-1074,
                                 -0x1p-1074,
                                 0x1p-1022,
                                 0x1.fffffffffffffp1023,
                                 -0x1.fffffffffffffp1023,
                                 0x1p53,
                                 0x1p53 + 2,
                                 0x1p52 + 1,
                                 -0x1p52 - 1,
                                 0x1p70,
                                 1e-300,
                                 1 - 0x1p-53,
                                 1 + 0x1p-52};
    enum { N = sizeof odd / sizeof *odd };
    for (int i = 0; i < N; i++) {
        for (int f = 0; f < ONES; f++) {
            double own = ones[f].own(odd[i]), known = (double)ones[f].known((long double)odd[i]);
            if (!(off_double(own, (long double)known) <= 1) || (known == 0 && signbit(own) != signbit(known)))
                fail_msg("%s(%a) is %a, expected %a", ones[f].name, odd[i], own, known);
        }
        for (int f = 0; f < ONEFS; f++) {
            float x = (float)odd[i], own = onefs[f].own(x), known = (float)onefs[f].known((long double)x);
            if (!(off_float(own, (long double)known) <= 1) || (known == 0 && signbit(own) != signbit(known)))
                fail_msg("%s(%a) is %a, expected %a", onefs[f].name, (double)x, (double)own, (double)known);
        }
        for (int k = 0; k < N; k++) {
            double own[3] = {und_pow(odd[i], odd[k]), und_atan2(odd[i], odd[k]), und_hypot(odd[i], odd[k])};
            double known[3] = {pow(odd[i], odd[k]), atan2(odd[i], odd[k]), hypot(odd[i], odd[k])};
            for (int f = 0; f < 3; f++)
                if (!(off_double(own[f], (long double)known[f]) <= 1) ||
                    (known[f] == 0 && signbit(own[f]) != signbit(known[f])))
                    fail_msg("function %d of %a, %a is %a, expected %a", f, odd[i], odd[k], own[f], known[f]);
            float x = (float)odd[i], y = (float)odd[k], pf = und_powf(x, y), kf = powf(x, y);
            if (!(off_float(pf, (long double)kf) <= 1) || (kf == 0 && signbit(pf) != signbit(kf)))
                fail_msg("powf of %a, %a is %a, expected %a", (double)x, (double)y, (double)pf, (double)kf);
        }
    }
}

/* The hash is the same with every compiler, on every processor; it changes only with the functions. */
static void the_same_bits_everywhere(void **state)
{
    (void)state;
    enum { N = 2000, ROW = ONES + ONEFS + 6 };
    static double values[N * ROW];
    for (uint64_t i = 0; i < N; i++) {
        double *v = values + i * ROW, x = argument(-2, 2, 1, i), y = argument(-3, 3, 2, i / 3);
        for (uint64_t f = 0; f < ONES; f++)
            v[f] = ones[f].own(argument(ones[f].low, ones[f].high, f, i));
        for (uint64_t f = 0; f < ONEFS; f++)
            v[ONES + f] = (double)onefs[f].own((float)argument(onefs[f].low, onefs[f].high, f, i | 1));
        v[ONES + ONEFS] = und_pow(fabs(x), y);
        v[ONES + ONEFS + 1] = und_atan2(y, x);
        v[ONES + ONEFS + 2] = und_hypot(x, y);
        v[ONES + ONEFS + 3] = (double)und_powf(fabsf((float)x), (float)y);
        v[ONES + ONEFS + 4] = (double)und_atan2f((float)y, (float)x);
        v[ONES + ONEFS + 5] = (double)und_hypotf((float)x, (float)y);
    }
    for (int i = 0; i < N * ROW; i++)
        values[i] = isnan(values[i]) ? 12345 : values[i]; /* their bits mean nothing */
    uint64_t hash = und_hash(values, sizeof values, 1, 1);
    print_message("hash 0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == 0x533989ce67563313);
}

/* Rounded to floats, as kernels use it, of anything at most 0. */
static void kernels_have_the_bits_of_exp(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        const double far = und_random(1, 7, i), x = i % 3 ? -800 * far : -110 * far * far * far;
        const und_doubles y = und_doubles_exp_fallen((und_doubles){0} + x);
        for (int k = 0; k < UND_DOUBLES; k++)
            assert_true(x < -700 ? (float)y[k] == 0 : y[k] == und_exp(x));
    }
    for (int k = 0; k < 2; k++) {
        const und_doubles y = und_doubles_exp_fallen((und_doubles){0} - (k ? INFINITY : 0.0));
        assert_true((float)y[0] == (k ? 0 : 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_true_to_the_last_place),
        cmocka_unit_test(floats_are_true_to_the_last_place),
        cmocka_unit_test(angles_near_whole_quarters),
        cmocka_unit_test(functions_of_two),
        cmocka_unit_test(exact_where_a_double_holds_the_answer),
        cmocka_unit_test(zeros_infinities_and_what_is_no_number),
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(kernels_have_the_bits_of_exp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
