/* What src/grid/sample.h does, of places near each other, as those are that neighbours in a row come from: in
 * a stretch of 32 along x, and within two rows along y and along z.  Then a row is read once for all of
 * them; where they are further apart it is done there.  The values have the same bits. */
#ifndef UND_GRID_SAMPLE_NEAR_H
#define UND_GRID_SAMPLE_NEAR_H

#include "grid/mask.h"
#include "grid/sample.h"

#ifdef UND_LANES_512

enum { UND_NEAR_STRETCH = 32, UND_NEAR_BEFORE = 4 };

/* Of places along an axis. */
typedef struct und_near {
    und_lanes part; /* how far each is from the lower of its two neighbouring values to the upper */
    __m512i low;    /* the lower one: counted from the value of index -1, */
    int first;      /* and the first place's; */
    unsigned apart; /* whose lower one is another than that */
} und_near;

/* t as for und_between_make.  Only places of `which` count, of which the first is one. */
UND_INLINE und_near und_near_make(int n, und_lanes t, float least, unsigned which)
{
    t = und_lanes_min(und_lanes_max(t, und_lanes_all(least)), und_lanes_all((float)n));
    const __m512i low = _mm512_min_epi32(_mm512_cvttps_epi32((__m512)t), _mm512_set1_epi32(n - 1)),
                  first = _mm512_broadcastd_epi32(_mm512_castsi512_si128(low));
    return (und_near){.part = t - (und_lanes)_mm512_cvtepi32_ps(low),
                      .low = low,
                      .first = _mm512_cvtsi512_si32(low),
                      .apart = _mm512_cmpneq_epi32_mask(low, first) & which};
}
/* Along `along` between faces across the axis, which are between the middles of cells along the others. */
UND_INLINE und_near und_near_along(const und_mac *m, int axis, int along, und_lanes place, unsigned which)
{
    const und_lanes t = along == axis ? place - (float)m->low[along] : place + 0.5f - (float)m->low[along];
    return und_near_make(m->n[along], t, along == axis ? 0 : 1, which);
}

/* The values around places, as far as they are near each other. */
typedef struct und_near_box {
    und_lanes part[3];
    ptrdiff_t first;              /* index of the first value that may be read */
    __m512i at;                   /* along x: where in the stretch each one's lower value is */
    __mmask16 second_y, second_z; /* whose lower row is the one behind the first */
    bool fits;
} und_near_box;

UND_INLINE __m512i und_near_at(const und_near *x)
{
    return _mm512_sub_epi32(x->low, _mm512_set1_epi32(x->first - UND_NEAR_BEFORE));
}
UND_INLINE bool und_near_in_stretch(__m512i at, unsigned which)
{
    return !(_mm512_cmpge_epu32_mask(at, _mm512_set1_epi32(UND_NEAR_STRETCH - 1)) & which);
}
/* Which of the places are in the second of two rows that all are in, and which of these is the first. */
UND_INLINE bool und_near_two_rows(const und_near *y, unsigned which, __mmask16 *second, int *first)
{
    *second = 0;
    *first = y->first;
    if (!y->apart)
        return true;
    const unsigned above = _mm512_cmpeq_epi32_mask(y->low, _mm512_set1_epi32(y->first + 1)) & which,
                   below = _mm512_cmpeq_epi32_mask(y->low, _mm512_set1_epi32(y->first - 1)) & which;
    *first -= below != 0;
    *second = (__mmask16)(below ? which & ~below : above);
    return y->apart == below || y->apart == above;
}
/* The index where places are that are first along all axes; of a value that is at x.first, y, z. */
UND_INLINE ptrdiff_t und_near_index(const und_mac *m, int x, int y, int z)
{
    return (ptrdiff_t)m->first + x - 1 - UND_NEAR_BEFORE + (y - 1) * m->step[1] + (z - 1) * m->step[2];
}
/* All that may be read from there on is in the arrays. */
UND_INLINE bool und_near_inside(const und_mac *m, ptrdiff_t first)
{
    return first + 2 * (m->step[1] + m->step[2]) + UND_NEAR_STRETCH <= (ptrdiff_t)m->count;
}

UND_INLINE und_near_box und_near_box_of(const und_mac *m, const und_near *x, const und_near *y,
                                        const und_near *z, unsigned which, int *low_y, int *low_z)
{
    und_near_box box = {.part = {x->part, y->part, z->part}, .at = und_near_at(x)};
    const bool along_y = und_near_two_rows(y, which, &box.second_y, low_y);
    const bool along_z = und_near_two_rows(z, which, &box.second_z, low_z);
    box.fits = along_y && along_z && und_near_in_stretch(box.at, which);
    box.first = und_near_index(m, x->first, *low_y, *low_z);
    box.fits &= und_near_inside(m, box.first);
    return box;
}

/* Of what is between faces across an axis; `low`: where it begins. */
UND_INLINE und_near_box und_near_box_across(const und_mac *m, int axis, const und_lanes place[3],
                                            unsigned which, int low[3])
{
    const und_near x = und_near_along(m, axis, 0, place[0], which),
                   y = und_near_along(m, axis, 1, place[1], which),
                   z = und_near_along(m, axis, 2, place[2], which);
    low[0] = x.first;
    return und_near_box_of(m, &x, &y, &z, which, &low[1], &low[2]);
}

/* In a row: between the two values at each place, and their range. */
typedef struct und_near_row {
    und_lanes value;
    und_sample_range range;
} und_near_row;
typedef struct und_near_rows {
    und_near_row low, high;
} und_near_rows;

UND_INLINE und_near_row und_near_read(const float *p, const und_near_box *box, bool ranges)
{
    const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + UND_LANES);
    const __m512i next = _mm512_add_epi32(box->at, _mm512_set1_epi32(1));
    const und_lanes low = (und_lanes)_mm512_permutex2var_ps(a, box->at, b),
                    high = (und_lanes)_mm512_permutex2var_ps(a, next, b);
    und_near_row row = {.value = low + box->part[0] * (high - low)};
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
UND_INLINE und_near_rows und_near_read_two(const float *p, ptrdiff_t step, const und_near_box *box,
                                           bool apart, bool ranges)
{
    und_near_rows rows = {und_near_read(p, box, ranges), und_near_read(p + step, box, ranges)};
    if (apart && box->second_y) {
        const und_near_row third = und_near_read(p + 2 * step, box, ranges);
        rows.low = und_near_select(box->second_y, rows.low, rows.high, ranges);
        rows.high = und_near_select(box->second_y, rows.high, third, ranges);
    }
    return rows;
}

UND_INLINE und_sample_range und_near_widen(und_sample_range a, und_sample_range b)
{
    return (und_sample_range){und_lanes_min(a.low, b.low), und_lanes_max(a.high, b.high)};
}

/* The order is that of und_sample_rows.  apart: places may be in several rows. */
UND_INLINE und_lanes und_near_sample(const und_mac *m, const float *v, const und_near_box *box, bool apart,
                                     und_sample_range *range)
{
    const bool ranges = range != NULL;
    const float *p = v + box->first;
    und_near_rows low = und_near_read_two(p, m->step[1], box, apart, ranges),
                  high = und_near_read_two(p + m->step[2], m->step[1], box, apart, ranges);
    if (apart && box->second_z) {
        const und_near_rows third = und_near_read_two(p + 2 * m->step[2], m->step[1], box, apart, ranges);
        low.low = und_near_select(box->second_z, low.low, high.low, ranges);
        low.high = und_near_select(box->second_z, low.high, high.high, ranges);
        high.low = und_near_select(box->second_z, high.low, third.low, ranges);
        high.high = und_near_select(box->second_z, high.high, third.high, ranges);
    }
    if (ranges)
        *range = und_near_widen(und_near_widen(low.low.range, low.high.range),
                                und_near_widen(high.low.range, high.high.range));
    const und_lanes below = low.low.value + box->part[1] * (low.high.value - low.low.value),
                    above = high.low.value + box->part[1] * (high.high.value - high.low.value);
    return below + box->part[2] * (above - below);
}

/* Of a row's bits those of the stretch, each place's at the lowest bit that its own can be. */
UND_INLINE __mmask16 und_near_bits_in(const uint64_t *row, int first, __m512i at)
{
    const uint64_t bits = first < 0 ? row[0] << -first : und_mask_bits(row, first);
    return _mm512_test_epi32_mask(_mm512_srlv_epi32(_mm512_set1_epi32((int)(uint32_t)bits), at),
                                  _mm512_set1_epi32(1));
}
UND_INLINE unsigned und_near_bits(const und_mask *mask, const und_near_box *box, int x, int y, int z)
{
    const ptrdiff_t up = mask->words, slice = up * (mask->n[1] + 2);
    const uint64_t *row = mask->bits + y * up + z * slice;
    unsigned bits = und_near_bits_in(row, x, box->at);
    if (box->second_y)
        bits = (bits & ~(unsigned)box->second_y) |
               (und_near_bits_in(row + up, x, box->at) & (unsigned)box->second_y);
    if (!box->second_z)
        return bits;
    unsigned others = und_near_bits_in(row + slice, x, box->at);
    if (box->second_y)
        others = (others & ~(unsigned)box->second_y) |
                 (und_near_bits_in(row + slice + up, x, box->at) & (unsigned)box->second_y);
    return (bits & ~(unsigned)box->second_z) | (others & (unsigned)box->second_z);
}

/* Of places along y or z: the rows, or slices, that they are in. */
typedef struct und_near_lines {
    und_lanes part;
    int first;
    __mmask16 second;
    bool fits;
} und_near_lines;

UND_INLINE und_near_lines und_near_lines_of(const und_near *y, unsigned which)
{
    und_near_lines lines = {.part = y->part};
    lines.fits = und_near_two_rows(y, which, &lines.second, &lines.first);
    return lines;
}

UND_INLINE und_near_box und_near_box_at(const und_mac *m, const und_near *x, __m512i at,
                                        const und_near_lines *y, const und_near_lines *z)
{
    return (und_near_box){.part = {x->part, y->part, z->part},
                          .first = und_near_index(m, x->first, y->first, z->first),
                          .at = at,
                          .second_y = y->second,
                          .second_z = z->second,
                          .fits = true};
}

UND_INLINE bool und_near_velocity(const und_mac *m, float *const u[3], const und_lanes place[3],
                                  unsigned which, und_lanes out[3])
{
    const und_near face_x = und_near_along(m, 0, 0, place[0], which),
                   x = und_near_along(m, 1, 0, place[0], which), y = und_near_along(m, 0, 1, place[1], which),
                   z = und_near_along(m, 0, 2, place[2], which),
                   face_y = und_near_along(m, 1, 1, place[1], which),
                   face_z = und_near_along(m, 2, 2, place[2], which);
    const __m512i at = und_near_at(&face_x), middle_at = und_near_at(&x);
    const und_near_lines line_y = und_near_lines_of(&y, which), line_z = und_near_lines_of(&z, which),
                         line_face_y = und_near_lines_of(&face_y, which),
                         line_face_z = und_near_lines_of(&face_z, which);
    if (!(line_y.fits & line_z.fits & line_face_y.fits & line_face_z.fits & und_near_in_stretch(at, which) &
          und_near_in_stretch(middle_at, which) &
          und_near_inside(m, und_near_index(m, x.first, line_y.first, line_z.first))))
        return false;
    const und_near_box faces = und_near_box_at(m, &face_x, at, &line_y, &line_z),
                       other_faces = und_near_box_at(m, &x, middle_at, &line_face_y, &line_z),
                       last_faces = und_near_box_at(m, &x, middle_at, &line_y, &line_face_z);
    out[0] = und_near_sample(m, u[0], &faces, true, NULL);
    out[1] = und_near_sample(m, u[1], &other_faces, true, NULL);
    out[2] = und_near_sample(m, u[2], &last_faces, true, NULL);
    return true;
}

#endif

/* und_sample_velocity's and und_sample_faces'; only places of `which` are asked for, of which the first is
 * one. */
UND_INLINE void und_sample_near_velocity(const und_mac *m, float *const u[3], const und_lanes place[3],
                                         unsigned which, und_lanes out[3])
{
#ifdef UND_LANES_512
    if (m->n[2] > 1 && und_near_velocity(m, u, place, which, out))
        return;
#endif
    (void)which;
    und_sample_velocity(m, u, place, out);
}

UND_INLINE void und_sample_near_faces(const und_mac *m, const float *v, int axis, const und_lanes place[3],
                                      unsigned which, und_lanes *out, und_sample_range *range)
{
#ifdef UND_LANES_512
    if (m->n[2] > 1) {
        int low[3];
        const und_near_box box = und_near_box_across(m, axis, place, which, low);
        if (box.fits) {
            *out = und_near_sample(m, v, &box, true, range);
            return;
        }
    }
#endif
    (void)which;
    und_sample_faces(m, v, axis, place, out, range);
}

/* Of places between faces across the axis, each at the lowest of those, which are in a mask. */
UND_INLINE unsigned und_sample_bits(const und_mac *m, const und_mask *mask, int axis,
                                    const und_lanes place[3])
{
    const ptrdiff_t row = 64 * mask->words, step[3] = {1, row, row * (mask->n[1] + 2)};
    und_lanes_int bit = {0};
    bit += (int32_t)(step[0] + step[1] + step[2]);
    for (int k = 0; k < (m->n[2] == 1 ? 2 : 3); k++) {
        const float low = (float)m->low[k];
        bit += (k == axis ? und_between_make(m->n[k], step[k], place[k] - low, 0)
                          : und_between_make(m->n[k], step[k], place[k] + 0.5f - low, 1))
                   .low;
    }
    return und_lanes_bits_at(mask->bits, bit);
}

/* The same as und_sample_near_faces where places are between faces of which the lowest is in the mask: which
 * are. */
UND_INLINE unsigned und_sample_near_known(const und_mac *m, const float *v, const und_mask *mask, int axis,
                                          const und_lanes place[3], unsigned which, und_lanes *out)
{
#ifdef UND_LANES_512
    if (m->n[2] > 1) {
        int low[3];
        const und_near_box box = und_near_box_across(m, axis, place, which, low);
        if (box.fits) {
            const unsigned known =
                und_near_bits(mask, &box, low[0] - UND_NEAR_BEFORE, low[1], low[2]) & which;
            if (known)
                *out = und_near_sample(m, v, &box, true, NULL);
            return known;
        }
    }
#endif
    const unsigned known = und_sample_bits(m, mask, axis, place) & which;
    if (known)
        und_sample_faces(m, v, axis, place, out, NULL);
    return known;
}

UND_INLINE void und_sample_near_trace(const und_mac *m, float *const u[3], const und_lanes place[3],
                                      const und_lanes speed[3], float cells_per_speed, bool third,
                                      unsigned which, und_lanes out[3])
{
    und_sample_trace_by(und_sample_near_velocity, m, u, place, speed, cells_per_speed, third, which, out);
}

#endif
