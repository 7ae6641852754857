/* Dice: pairs of the first two dimensions of Sobol's sequence, each pair with the order of its samples and
 * its digits scrambled on its own (Owen 1995; by hashing as in Burley 2020, with the hash of Laine & Karras
 * 2011 in Vegdahl's form of 2021). */
#include "base/random.h"
#include "trace/path.h"

static uint32_t reversed(uint32_t x)
{
    x = __builtin_bswap32(x);
    x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
    x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
    return ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
}

/* Of digits in reverse order: each is changed by those before it alone. */
static uint32_t scrambled(uint32_t x, uint32_t key)
{
    x ^= x * 0x3d20adeau;
    x += key;
    x *= (key >> 16) | 1;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return x;
}

/* Sobol's second dimension, of an index whose digits were reversed: Pascal's triangle modulo 2. */
static uint32_t second(uint32_t x)
{
    x ^= x << 16;
    x ^= (x & 0x00ff00ffu) << 8;
    x ^= (x & 0x0f0f0f0fu) << 4;
    x ^= (x & 0x33333333u) << 2;
    return x ^ ((x & 0x55555555u) << 1);
}

float und_dice_roll(und_dice *dice)
{
    uint64_t key = und_random_bits(dice->seed, dice->pixel, dice->next / 2);
    uint32_t order = scrambled(reversed(dice->sample), (uint32_t)key);
    bool odd = dice->next++ & 1;
    uint32_t mix = (uint32_t)(key >> 32) * (odd ? 0x9e3779b1u : 0x85ebca6bu);
    uint32_t value = odd ? second(order) : order;
    return (float)(reversed(scrambled(reversed(value), mix ^ (mix >> 15))) >> 8) * 0x1p-24f;
}
