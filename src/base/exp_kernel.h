/* exp, where kernels need it: und_exp's own arithmetic (base/maths.c), so that it has the same bits. */
#ifndef UND_BASE_EXP_KERNEL_H
#define UND_BASE_EXP_KERNEL_H

#include "base/lanes.h"

/* Of x from -700 to 0; of anything less as of -700, which as a float is 0 too. */
UND_INLINE und_doubles und_doubles_exp_fallen(und_doubles x)
{
    const und_doubles least = (und_doubles){0} - 700, magic = (und_doubles){0} + 0x1.8p52;
    x = und_doubles_select(x > least, x, least);
    const und_doubles whole = x * 0x1.71547652b82fep+0 + magic, k = whole - magic;
    const und_doubles first = x - k * 0x1.62e42feep-1, take = k * 0x1.a39ef35793c76p-33, r = first - take;
    const und_doubles lost = (first - r) - take, z = r * r, zz = z * z;
    const und_doubles a = 0x1.0000000000000p-1 + r * 0x1.5555555555557p-3,
                      b = 0x1.5555555555556p-5 + r * 0x1.11111111100bep-7;
    const und_doubles c = 0x1.6c16c16c162c3p-10 + r * 0x1.a01a01abf85abp-13,
                      d = 0x1.a01a01a6e1e2ap-16 + r * 0x1.71de01fdbf9cap-19;
    const und_doubles e = 0x1.27e4db46cddd1p-22 + r * (0x1.af4e554377204p-26 + r * 0x1.1f7340dbc337ep-29);
    const und_doubles more = z * ((a + z * b) + zz * ((c + z * d) + zz * e)),
                      small = more + (lost + lost * (r + more));
    const und_doubles rest = r + small, rest_low = small - (rest - r);
    const und_doubles sum = 1 + rest, sum_low = rest - (sum - 1);
    /* The last bits of `whole` are those of k. */
    const und_doubles power = (und_doubles)(((und_doubles_int)whole << 52) + ((int64_t)1023 << 52));
    return (sum + (sum_low + rest_low)) * power;
}

#endif
