/* What src/grid/sample.h does, of places near each other, as those are that neighbours in a row come from: in
 * a stretch of 32 along x, and within two rows along y and along z.  Then a row is read once for all of
 * them; where they are further apart it is done there.  The values have the same bits. */
#ifndef UND_GRID_SAMPLE_NEAR_H
#define UND_GRID_SAMPLE_NEAR_H

#include "grid/sample.h"

#ifdef UND_LANES_512

enum { UND_NEAR_STRETCH = 32, UND_NEAR_BEFORE = 4 };

/* Of places along an axis. */
typedef struct und_near {
    und_lanes part;   /* how far each is from the lower of its two neighbouring values to the upper */
    int first;        /* the lowest of those */
    bool fits;        /* they are near each other */
    __m512i at;       /* along x: where in the stretch each one's lower value is */
    __mmask16 second; /* else: whose lower value is the one behind the first */
} und_near;

/* t as for und_between_make.  Only places of `which` count, of which the first is one. */
UND_INLINE und_near und_near_make(int n, und_lanes t, float least, bool along_x, unsigned which)
{
    const __m512i none = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    t = und_lanes_min(und_lanes_max(t, und_lanes_all(least)), und_lanes_all((float)n));
    und_lanes_int i = __builtin_convertvector(t, und_lanes_int);
    i += i > n - 1; /* at the upper border: -1 */
    const __m512i first = _mm512_broadcastd_epi32(_mm512_castsi512_si128((__m512i)i)),
                  away = _mm512_sub_epi32((__m512i)i, first);
    und_near near = {.part = t - __builtin_convertvector(i, und_lanes),
                     .first = _mm512_cvtsi512_si32((__m512i)i) - 1};
    if (along_x) {
        near.first -= UND_NEAR_BEFORE;
        near.at = _mm512_add_epi32(away, _mm512_set1_epi32(UND_NEAR_BEFORE));
        near.fits = !(_mm512_cmpge_epu32_mask(near.at, _mm512_set1_epi32(UND_NEAR_STRETCH - 1)) & which);
        return near;
    }
    const unsigned below = _mm512_cmplt_epi32_mask(away, none) & which,
                   above = _mm512_cmpgt_epi32_mask(away, none) & which,
                   far = _mm512_cmpgt_epu32_mask(_mm512_add_epi32(away, one), _mm512_set1_epi32(2)) & which;
    near.first -= below != 0;
    near.second = (__mmask16)(below ? which & ~below : above);
    near.fits = !far && !(below && above);
    return near;
}
/* Along `along` between faces across the axis, which are between the middles of cells along the others. */
UND_INLINE und_near und_near_along(const und_mac *m, int axis, int along, und_lanes place, unsigned which)
{
    const und_lanes t = along == axis ? place - (float)m->low[along] : place + 0.5f - (float)m->low[along];
    return und_near_make(m->n[along], t, along == axis ? 0 : 1, along == 0, which);
}

UND_INLINE ptrdiff_t und_near_index(const und_mac *m, const und_near *x, const und_near *y, const und_near *z)
{
    return (ptrdiff_t)m->first + x->first + y->first * m->step[1] + z->first * m->step[2];
}
/* Whether they are near each other, and all that may be read is in the arrays. */
UND_INLINE bool und_near_fits(const und_mac *m, const und_near *x, const und_near *y, const und_near *z)
{
    const ptrdiff_t end = und_near_index(m, x, y, z) + 2 * (m->step[1] + m->step[2]) + UND_NEAR_STRETCH;
    return x->fits & y->fits & z->fits & (end <= (ptrdiff_t)m->count);
}

/* In a row: between the two values at each place, and their range. */
typedef struct und_near_row {
    und_lanes value;
    und_sample_range range;
} und_near_row;
typedef struct und_near_rows {
    und_near_row low, high;
} und_near_rows;

UND_INLINE und_near_row und_near_read(const float *p, const und_near *x, bool ranges)
{
    const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + UND_LANES);
    const __m512i next = _mm512_add_epi32(x->at, _mm512_set1_epi32(1));
    const und_lanes low = (und_lanes)_mm512_permutex2var_ps(a, x->at, b),
                    high = (und_lanes)_mm512_permutex2var_ps(a, next, b);
    und_near_row row = {.value = low + x->part * (high - low)};
    if (ranges)
        row.range = (und_sample_range){und_lanes_min(low, high), und_lanes_max(low, high)};
    return row;
}
UND_INLINE und_near_row und_near_select(__mmask16 second, und_near_row a, und_near_row b, bool ranges)
{
    a.value = (und_lanes)_mm512_mask_mov_ps((__m512)a.value, second, (__m512)b.value);
    if (ranges) {
        a.range.low = (und_lanes)_mm512_mask_mov_ps((__m512)a.range.low, second, (__m512)b.range.low);
        a.range.high = (und_lanes)_mm512_mask_mov_ps((__m512)a.range.high, second, (__m512)b.range.high);
    }
    return a;
}
/* The two rows of each place in a slice. */
UND_INLINE und_near_rows und_near_read_two(const float *p, ptrdiff_t step, const und_near *x,
                                           const und_near *y, bool ranges)
{
    und_near_rows rows = {und_near_read(p, x, ranges), und_near_read(p + step, x, ranges)};
    if (y->second) {
        const und_near_row third = und_near_read(p + 2 * step, x, ranges);
        rows.low = und_near_select(y->second, rows.low, rows.high, ranges);
        rows.high = und_near_select(y->second, rows.high, third, ranges);
    }
    return rows;
}

/* The order is that of und_sample_rows. */
UND_INLINE und_lanes und_near_sample(const und_mac *m, const float *v, const und_near *x, const und_near *y,
                                     const und_near *z, und_sample_range *range)
{
    const bool ranges = range != NULL;
    const float *p = v + und_near_index(m, x, y, z);
    und_near_rows low = und_near_read_two(p, m->step[1], x, y, ranges),
                  high = und_near_read_two(p + m->step[2], m->step[1], x, y, ranges);
    if (z->second) {
        const und_near_rows third = und_near_read_two(p + 2 * m->step[2], m->step[1], x, y, ranges);
        low.low = und_near_select(z->second, low.low, high.low, ranges);
        low.high = und_near_select(z->second, low.high, high.high, ranges);
        high.low = und_near_select(z->second, high.low, third.low, ranges);
        high.high = und_near_select(z->second, high.high, third.high, ranges);
    }
    if (ranges) {
        *range = low.low.range;
        range->low = und_lanes_min(range->low, low.high.range.low);
        range->high = und_lanes_max(range->high, low.high.range.high);
        range->low = und_lanes_min(range->low, high.low.range.low);
        range->high = und_lanes_max(range->high, high.low.range.high);
        range->low = und_lanes_min(range->low, high.high.range.low);
        range->high = und_lanes_max(range->high, high.high.range.high);
    }
    const und_lanes below = low.low.value + y->part * (low.high.value - low.low.value),
                    above = high.low.value + y->part * (high.high.value - high.low.value);
    return below + z->part * (above - below);
}

#endif

/* und_sample_velocity's and und_sample_faces'; only places of `which` are asked for, of which the first is
 * one. */
static inline void und_sample_near_velocity(const und_mac *m, float *const u[3], const und_lanes place[3],
                                            unsigned which, und_lanes out[3])
{
#ifdef UND_LANES_512
    if (m->n[2] > 1) {
        const und_near face_x = und_near_along(m, 0, 0, place[0], which),
                       face_y = und_near_along(m, 1, 1, place[1], which),
                       face_z = und_near_along(m, 2, 2, place[2], which),
                       x = und_near_along(m, 1, 0, place[0], which),
                       y = und_near_along(m, 0, 1, place[1], which),
                       z = und_near_along(m, 0, 2, place[2], which);
        if (und_near_fits(m, &face_x, &y, &z) & und_near_fits(m, &x, &face_y, &z) &
            und_near_fits(m, &x, &y, &face_z)) {
            out[0] = und_near_sample(m, u[0], &face_x, &y, &z, NULL);
            out[1] = und_near_sample(m, u[1], &x, &face_y, &z, NULL);
            out[2] = und_near_sample(m, u[2], &x, &y, &face_z, NULL);
            return;
        }
    }
#endif
    (void)which;
    und_sample_velocity(m, u, place, out);
}

static inline void und_sample_near_faces(const und_mac *m, const float *v, int axis, const und_lanes place[3],
                                         unsigned which, und_lanes *out, und_sample_range *range)
{
#ifdef UND_LANES_512
    if (m->n[2] > 1) {
        const und_near x = und_near_along(m, axis, 0, place[0], which),
                       y = und_near_along(m, axis, 1, place[1], which),
                       z = und_near_along(m, axis, 2, place[2], which);
        if (und_near_fits(m, &x, &y, &z)) {
            *out = und_near_sample(m, v, &x, &y, &z, range);
            return;
        }
    }
#endif
    (void)which;
    und_sample_faces(m, v, axis, place, out, range);
}

static inline void und_sample_near_trace(const und_mac *m, float *const u[3], const und_lanes place[3],
                                         const und_lanes speed[3], float cells_per_speed, bool third,
                                         unsigned which, und_lanes out[3])
{
    und_sample_trace_by(und_sample_near_velocity, m, u, place, speed, cells_per_speed, third, which, out);
}

#endif
