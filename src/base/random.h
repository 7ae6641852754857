/* Random numbers as a function of (seed, stream, index): no history, so the same at any thread count and
 * after a resume.  The mixing is Steele, Lea & Flood's SplitMix64 finaliser, 2014. */
#ifndef UND_BASE_RANDOM_H
#define UND_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t und_random_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t und_random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    return und_random_mix(und_random_mix(und_random_mix(seed) ^ stream) ^ index);
}

/* Uniform in [0, 1). */
static inline double und_random(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(und_random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

#endif
