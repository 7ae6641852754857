/* What base/maths*.c share: numbers as the sum of two doubles (Dekker 1971), and the bits of one. */
#ifndef UND_BASE_MATHS_PARTS_H
#define UND_BASE_MATHS_PARTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct twofold {
    double high, low; /* low is less than a unit in the last place of high */
} twofold;

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2 to the power of k, -1022 to 1023. */
static inline double power_of_two(int k)
{
    return of_bits((uint64_t)(k + 1023) << 52);
}

/* The next whole number; of less than 2^51. */
static inline double nearest(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* a + b without an error, |a| >= |b| or a = 0. */
static inline twofold add_smaller(double a, double b)
{
    double sum = a + b;
    return (twofold){sum, b - (sum - a)};
}

/* a b without an error, where nothing overflows: halves of 26 bits are multiplied. */
static inline twofold product(double a, double b)
{
    double wide_a = 0x1.0000002p27 * a, wide_b = 0x1.0000002p27 * b;
    double ah = wide_a - (wide_a - a), bh = wide_b - (wide_b - b), al = a - ah, bl = b - bh, p = a * b;
    return (twofold){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline twofold quotient(twofold a, twofold b)
{
    const double per = 1 / b.high, q = a.high * per;
    const twofold back = product(q, b.high);
    const double rest = ((a.high - back.high) - back.low) + a.low - q * b.low;
    return add_smaller(q, rest * per);
}

#endif
