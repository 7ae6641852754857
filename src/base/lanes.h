/* As many floats at a time as the machine has room for in a register, 8 or 16, in the compilers' own vectors;
 * or one (UND_ONE_LANE), which is what a device with threads of its own has.  Each lane is by itself: results
 * have the same bits with any. */
#ifndef UND_BASE_LANES_H
#define UND_BASE_LANES_H

#include <stddef.h>
#include <stdint.h>

#ifdef UND_ONE_LANE
enum { UND_LANES = 1 };
#elif defined __AVX512F__
#define UND_LANES_512
enum { UND_LANES = 16 };
#else
enum { UND_LANES = 8 };
#ifdef __AVX__
#define UND_LANES_256
#endif
#endif
#ifdef __SSE2__
#include <immintrin.h>
#endif

enum { UND_LANES_ALL = (1 << UND_LANES) - 1 };

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
    und_lanes v = {0};
    for (int i = 0; i < UND_LANES; i++)
        v[i] = (float)i;
    return v;
}

UND_INLINE und_lanes und_lanes_load(const float *p) /* from any address */
{
    und_lanes v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
UND_INLINE void und_lanes_store(float *p, und_lanes v)
{
    __builtin_memcpy(p, &v, sizeof v);
}
/* What will be loaded soon, from any address: on its way into the cache. */
UND_INLINE void und_lanes_fetch(const void *p)
{
#ifdef UND_ONE_LANE
    (void)p;
#else
    __builtin_prefetch(p);
#endif
}

UND_INLINE und_lanes_int und_lanes_int_load(const int32_t *p)
{
    und_lanes_int v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
UND_INLINE und_lanes_int und_lanes_bytes(const uint8_t *p) /* a byte for each lane */
{
#ifdef UND_LANES_512
    return (und_lanes_int)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
#elif defined UND_LANES_256 && defined __AVX2__
    return (und_lanes_int)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
#else
    und_lanes_int v = {0};
    for (int i = 0; i < UND_LANES; i++)
        v[i] = p[i];
    return v;
#endif
}

#ifndef UND_ONE_LANE
/* Of values in a row, from those before some places on and from those behind them on, the ones there. */
UND_INLINE und_lanes_int und_lanes_int_amid(und_lanes_int before, und_lanes_int behind)
{
#ifdef UND_LANES_512
    return __builtin_shufflevector(before, behind, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 30);
#else
    return __builtin_shufflevector(before, behind, 1, 2, 3, 4, 5, 6, 7, 14);
#endif
}
#endif

/* yes[i] is 0 or -1, as comparisons give it. */
UND_INLINE und_lanes_int und_lanes_int_select(und_lanes_int yes, und_lanes_int a, und_lanes_int b)
{
    return (yes & a) | (~yes & b);
}
UND_INLINE und_lanes und_lanes_select(und_lanes_int yes, und_lanes a, und_lanes b)
{
    return (und_lanes)((yes & (und_lanes_int)a) | (~yes & (und_lanes_int)b));
}
/* b where one is NaN. */
UND_INLINE und_lanes und_lanes_max(und_lanes a, und_lanes b)
{
#ifdef UND_LANES_512
    return (und_lanes)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined UND_LANES_256
    return (und_lanes)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return und_lanes_select(a > b, a, b);
#endif
}
UND_INLINE und_lanes und_lanes_min(und_lanes a, und_lanes b)
{
#ifdef UND_LANES_512
    return (und_lanes)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined UND_LANES_256
    return (und_lanes)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return und_lanes_select(a < b, a, b);
#endif
}

UND_INLINE float und_lanes_most(und_lanes v) /* the largest of all, or 0 */
{
    float most = 0;
    for (int i = 0; i < UND_LANES; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

UND_INLINE float und_lanes_least(und_lanes v) /* the smallest of all */
{
#ifdef UND_LANES_512
    return _mm512_reduce_min_ps((__m512)v);
#else
    float least = v[0];
    for (int i = 1; i < UND_LANES; i++)
        least = v[i] < least ? v[i] : least;
    return least;
#endif
}

UND_INLINE und_lanes und_lanes_sqrt(und_lanes v)
{
#ifdef UND_LANES_512
    return (und_lanes)_mm512_sqrt_ps((__m512)v);
#elif defined UND_LANES_256
    return (und_lanes)_mm256_sqrt_ps((__m256)v);
#else
    for (int i = 0; i < UND_LANES; i++)
        v[i] = __builtin_sqrtf(v[i]);
    return v;
#endif
}
/* Rounded down; of numbers that an int32_t holds. */
UND_INLINE und_lanes_int und_lanes_floor(und_lanes v)
{
    und_lanes_int whole = __builtin_convertvector(v, und_lanes_int);
    return whole + (__builtin_convertvector(whole, und_lanes) > v);
}

/* Bit i is set where yes[i] is. */
UND_INLINE unsigned und_lanes_bits(und_lanes_int yes)
{
#if defined UND_LANES_512
    return _mm512_cmplt_epi32_mask((__m512i)yes, _mm512_setzero_si512());
#elif defined UND_LANES_256
    return (unsigned)_mm256_movemask_ps((__m256)yes);
#else
    unsigned bits = 0;
    for (int i = 0; i < UND_LANES; i++)
        bits |= (yes[i] ? 1u : 0u) << i;
    return bits;
#endif
}
/* Bit i is set where bit at[i] of a row of words is. */
UND_INLINE unsigned und_lanes_bits_at(const uint64_t *from, und_lanes_int at)
{
#if defined UND_LANES_512
    const __m512i place = (__m512i)at, words = _mm512_i32gather_epi32(_mm512_srli_epi32(place, 5), from, 4);
    const __m512i bit =
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(place, _mm512_set1_epi32(31)));
    return _mm512_test_epi32_mask(words, bit);
#else
    unsigned bits = 0;
    for (int i = 0; i < UND_LANES; i++)
        bits |= (unsigned)(from[at[i] >> 6] >> (at[i] & 63) & 1) << i;
    return bits;
#endif
}
/* And back: yes[i] is -1 where bit i is set. */
UND_INLINE und_lanes_int und_lanes_where(unsigned bits)
{
    und_lanes_int own = {0};
    for (int i = 0; i < UND_LANES; i++)
        own[i] = 1 << i;
    return (((und_lanes_int){0} + (int32_t)bits) & own) != 0;
}

/* Those whose bit is set in `which`, and none of the others is written. */
UND_INLINE void und_lanes_store_some(float *p, und_lanes v, unsigned which)
{
#ifdef UND_LANES_512
    _mm512_mask_storeu_ps(p, (__mmask16)which, (__m512)v);
#else
    if (which == UND_LANES_ALL) /* most often, and much faster */
        und_lanes_store(p, v);
#ifdef UND_LANES_256
    else
        _mm256_maskstore_ps(p, (__m256i)und_lanes_where(which), (__m256)v);
#else
    else
        for (int i = 0; i < UND_LANES; i++)
            if (which >> i & 1)
                p[i] = v[i];
#endif
#endif
}
UND_INLINE void und_lanes_int_store_some(int32_t *p, und_lanes_int v, unsigned which)
{
#ifdef UND_LANES_512
    _mm512_mask_storeu_epi32(p, (__mmask16)which, (__m512i)v);
#else
    if (which == UND_LANES_ALL)
        __builtin_memcpy(p, &v, sizeof v);
    else
        for (int i = 0; i < UND_LANES; i++)
            if (which >> i & 1)
                p[i] = v[i];
#endif
}
UND_INLINE void und_lanes_bytes_store_some(uint8_t *p, und_lanes_int v, unsigned which)
{
#ifdef UND_LANES_512
    _mm512_mask_cvtepi32_storeu_epi8(p, (__mmask16)which, (__m512i)v);
#else
    for (int i = 0; i < UND_LANES; i++)
        if (which >> i & 1)
            p[i] = (uint8_t)v[i];
#endif
}
/* Those whose bit is set in `which`, one after the other; behind them, of UND_LANES, may be anything. */
UND_INLINE void und_lanes_pack(float *p, und_lanes v, unsigned which)
{
#ifdef UND_LANES_512
    _mm512_storeu_ps(p, _mm512_maskz_compress_ps((__mmask16)which, (__m512)v));
#else
    for (; which; which &= which - 1)
        *p++ = v[__builtin_ctz(which)];
#endif
}
/* Those whose bit is set in `which` to be behind each other, and nothing behind them is written; how many. */
UND_INLINE int und_lanes_int_pack_some(int32_t *p, und_lanes_int v, unsigned which)
{
    const int count = __builtin_popcount(which);
#ifdef UND_LANES_512
    _mm512_mask_storeu_epi32(p, (__mmask16)((1u << count) - 1),
                             _mm512_maskz_compress_epi32((__mmask16)which, (__m512i)v));
#else
    for (; which; which &= which - 1)
        *p++ = v[__builtin_ctz(which)];
#endif
    return count;
}
/* Of those alone is read; 0 is in the others. */
UND_INLINE und_lanes_int und_lanes_int_load_some(const int32_t *p, unsigned which)
{
#ifdef UND_LANES_512
    return (und_lanes_int)_mm512_maskz_loadu_epi32((__mmask16)which, p);
#else
    und_lanes_int v = {0};
    if (which == UND_LANES_ALL)
        return und_lanes_int_load(p);
    for (int i = 0; i < UND_LANES; i++)
        if (which >> i & 1)
            v[i] = p[i];
    return v;
#endif
}

/* ---- Doubles, as many as fill a register too ---- */

enum { UND_DOUBLES = UND_LANES > 1 ? UND_LANES / 2 : 1, UND_DOUBLES_ALL = (1 << UND_DOUBLES) - 1 };

typedef double und_doubles __attribute__((vector_size(8 * UND_DOUBLES)));
typedef int64_t und_doubles_int __attribute__((vector_size(8 * UND_DOUBLES)));
typedef float und_doubles_floats __attribute__((vector_size(4 * UND_DOUBLES)));

UND_INLINE und_doubles und_doubles_load(const double *p) /* from any address */
{
    und_doubles v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
UND_INLINE und_doubles_floats und_doubles_floats_load(const float *p)
{
    und_doubles_floats v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
UND_INLINE und_doubles und_doubles_of(und_doubles_floats v)
{
#ifdef UND_LANES_512 /* of which gcc 12 makes two halves */
    return (und_doubles)_mm512_cvtps_pd((__m256)v);
#else
    return __builtin_convertvector(v, und_doubles);
#endif
}
UND_INLINE und_doubles_int und_doubles_where(unsigned bits)
{
    und_doubles_int own = {0};
    for (int i = 0; i < UND_DOUBLES; i++)
        own[i] = 1 << i;
    return (((und_doubles_int){0} + (int64_t)bits) & own) != 0;
}
UND_INLINE und_doubles und_doubles_select(und_doubles_int yes, und_doubles a, und_doubles b)
{
    return (und_doubles)((yes & (und_doubles_int)a) | (~yes & (und_doubles_int)b));
}
UND_INLINE und_doubles und_doubles_sqrt(und_doubles v)
{
#ifdef UND_LANES_512
    return (und_doubles)_mm512_sqrt_pd((__m512d)v);
#elif defined UND_LANES_256
    return (und_doubles)_mm256_sqrt_pd((__m256d)v);
#else
    for (int i = 0; i < UND_DOUBLES; i++)
        v[i] = __builtin_sqrt(v[i]);
    return v;
#endif
}
/* Bit i is set where yes[i] is. */
UND_INLINE unsigned und_doubles_bits(und_doubles_int yes)
{
#if defined UND_LANES_512
    return _mm512_cmplt_epi64_mask((__m512i)yes, _mm512_setzero_si512());
#elif defined UND_LANES_256
    return (unsigned)_mm256_movemask_pd((__m256d)yes);
#else
    unsigned bits = 0;
    for (int i = 0; i < UND_DOUBLES; i++)
        bits |= (yes[i] ? 1u : 0u) << i;
    return bits;
#endif
}
/* Of single ones, as fmin and fmax of C: the other one where one is no number, the second of equal ones. */
UND_INLINE double und_double_min(double a, double b)
{
    return a < b || b != b ? a : b;
}
UND_INLINE double und_double_max(double a, double b)
{
    return a > b || b != b ? a : b;
}

/* a where the bit is set, else b. */
UND_INLINE und_doubles und_doubles_some(unsigned which, und_doubles a, und_doubles b)
{
#ifdef UND_LANES_512
    return (und_doubles)_mm512_mask_mov_pd((__m512d)b, (__mmask8)which, (__m512d)a);
#else
    return und_doubles_select(und_doubles_where(which), a, b);
#endif
}
/* b where one is NaN. */
UND_INLINE und_doubles und_doubles_max(und_doubles a, und_doubles b)
{
#ifdef UND_LANES_512
    return (und_doubles)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined UND_LANES_256
    return (und_doubles)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return und_doubles_select(a > b, a, b);
#endif
}
UND_INLINE und_doubles und_doubles_min(und_doubles a, und_doubles b)
{
#ifdef UND_LANES_512
    return (und_doubles)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined UND_LANES_256
    return (und_doubles)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
    return und_doubles_select(a < b, a, b);
#endif
}
UND_INLINE und_doubles_floats und_doubles_floats_max(und_doubles_floats a, und_doubles_floats b)
{
#ifdef UND_LANES_512
    return (und_doubles_floats)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined UND_LANES_256
    return (und_doubles_floats)_mm_max_ps((__m128)a, (__m128)b);
#else
    for (int i = 0; i < UND_DOUBLES; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}
UND_INLINE und_doubles_floats und_doubles_to_floats(und_doubles v)
{
#ifdef UND_LANES_512
    return (und_doubles_floats)_mm512_cvtpd_ps((__m512d)v);
#else
    return __builtin_convertvector(v, und_doubles_floats);
#endif
}
/* The values before some places: the last one of those before, and then of those here. */
UND_INLINE und_doubles und_doubles_behind(und_doubles before, und_doubles here)
{
#if defined UND_ONE_LANE
    (void)here;
    return before;
#elif defined UND_LANES_512
    return __builtin_shufflevector(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
#else
    return __builtin_shufflevector(before, here, 3, 4, 5, 6);
#endif
}
/* Bit i is set where byte i has the value. */
UND_INLINE unsigned und_doubles_bytes_are(const uint8_t *p, uint8_t value)
{
#if defined UND_LANES_512 && defined __AVX512BW__ && defined __AVX512VL__
    return _mm_cmpeq_epi8_mask(_mm_loadl_epi64((const __m128i *)p), _mm_set1_epi8((char)value)) &
           UND_DOUBLES_ALL;
#elif defined __SSE2__ && !defined UND_ONE_LANE
    int64_t bytes = 0;
    __builtin_memcpy(&bytes, p, UND_DOUBLES);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_cvtsi64_si128(bytes), _mm_set1_epi8((char)value))) &
           UND_DOUBLES_ALL;
#else
    unsigned bits = 0;
    for (int i = 0; i < UND_DOUBLES; i++)
        bits |= (unsigned)(p[i] == value) << i;
    return bits;
#endif
}
UND_INLINE und_doubles und_doubles_abs(und_doubles v)
{
    return (und_doubles)((und_doubles_int)v & INT64_MAX);
}
/* Those whose bit is set in `which`, and none of the others is written. */
UND_INLINE void und_doubles_store_some(double *p, und_doubles v, unsigned which)
{
#ifdef UND_LANES_512
    _mm512_mask_storeu_pd(p, (__mmask8)which, (__m512d)v);
#else
    if (which == UND_DOUBLES_ALL)
        __builtin_memcpy(p, &v, sizeof v);
    else
        for (int i = 0; i < UND_DOUBLES; i++)
            if (which >> i & 1)
                p[i] = v[i];
#endif
}
UND_INLINE void und_doubles_floats_store_some(float *p, und_doubles_floats v, unsigned which)
{
    if (which == UND_DOUBLES_ALL)
        __builtin_memcpy(p, &v, sizeof v);
    else
        for (int i = 0; i < UND_DOUBLES; i++)
            if (which >> i & 1)
                p[i] = v[i];
}

/* ---- Doubles of UND_LANES places: two registers, or the one of one lane ---- */

enum { UND_HALVES = UND_LANES / UND_DOUBLES };

UND_INLINE und_doubles_floats und_doubles_rounded(und_doubles v)
{
#ifdef UND_LANES_512 /* of which gcc 12 makes two halves */
    return (und_doubles_floats)_mm512_cvtpd_ps((__m512d)v);
#else
    return __builtin_convertvector(v, und_doubles_floats);
#endif
}
/* Rounded, side by side. */
UND_INLINE und_lanes und_lanes_of_doubles(const und_doubles half[UND_HALVES])
{
#if defined UND_LANES_512 && defined __AVX512DQ__
    return (und_lanes)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)und_doubles_rounded(half[0])),
                                         (__m256)und_doubles_rounded(half[1]), 1);
#elif defined UND_LANES_256 && !defined UND_LANES_512
    return (und_lanes)_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)und_doubles_rounded(half[0])),
                                           (__m128)und_doubles_rounded(half[1]), 1);
#else
    und_lanes v;
    for (int k = 0; k < UND_HALVES; k++) {
        const und_doubles_floats part = und_doubles_rounded(half[k]);
        __builtin_memcpy((char *)&v + (size_t)k * sizeof part, &part, sizeof part);
    }
    return v;
#endif
}

#endif
