/* As many floats at a time as the machine has room for in a register, 8 or 16, in the compilers' own vectors.
 * Each lane is by itself: results have the same bits with either. */
#ifndef UND_BASE_LANES_H
#define UND_BASE_LANES_H

#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
enum { UND_LANES = 16 };
#else
enum { UND_LANES = 8 };
#endif

/* All that takes or returns these vectors is inlined: how a machine without them passes them is no matter,
 * and the build says -Wno-psabi. */
#define UND_INLINE static inline __attribute__((always_inline))

typedef float und_lanes __attribute__((vector_size(4 * UND_LANES)));
typedef int32_t und_lanes_int __attribute__((vector_size(4 * UND_LANES)));

UND_INLINE und_lanes und_lanes_all(float v)
{
    return (und_lanes){0} + v;
}
UND_INLINE und_lanes und_lanes_count(void) /* 0, 1, 2 and so on */
{
    und_lanes v;
    for (int i = 0; i < UND_LANES; i++)
        v[i] = (float)i;
    return v;
}

UND_INLINE und_lanes und_lanes_load(const float *p) /* from any address */
{
    und_lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}
UND_INLINE void und_lanes_store(float *p, und_lanes v)
{
    memcpy(p, &v, sizeof v);
}

/* yes[i] is 0 or -1, as comparisons give it. */
UND_INLINE und_lanes und_lanes_select(und_lanes_int yes, und_lanes a, und_lanes b)
{
    return (und_lanes)((yes & (und_lanes_int)a) | (~yes & (und_lanes_int)b));
}
/* b where one is NaN. */
UND_INLINE und_lanes und_lanes_max(und_lanes a, und_lanes b)
{
#ifdef __AVX512F__
    return (und_lanes)_mm512_max_ps((__m512)a, (__m512)b);
#else
    return und_lanes_select(a > b, a, b);
#endif
}
UND_INLINE und_lanes und_lanes_min(und_lanes a, und_lanes b)
{
#ifdef __AVX512F__
    return (und_lanes)_mm512_min_ps((__m512)a, (__m512)b);
#else
    return und_lanes_select(a < b, a, b);
#endif
}

/* Those whose bit is set in `which`, and none of the others is written. */
UND_INLINE void und_lanes_store_some(float *p, und_lanes v, unsigned which)
{
#ifdef __AVX512F__
    _mm512_mask_storeu_ps(p, (__mmask16)which, (__m512)v);
#else
    if (which == (1u << UND_LANES) - 1)
        und_lanes_store(p, v);
    else
        for (int i = 0; i < UND_LANES; i++)
            if (which >> i & 1)
                p[i] = v[i];
#endif
}

#endif
