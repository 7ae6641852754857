#include "grid/mask.h"

#include "base/pages.h"

#include <string.h>

static size_t row_count(const und_mask *m)
{
    return (size_t)(m->n[1] + 2) * (size_t)(m->n[2] + 2);
}

und_status und_mask_open(und_mask *m, const und_mac *mac, const char *what, und_error *err)
{
    *m = (und_mask){
        .n = {mac->n[0], mac->n[1], mac->n[2]}, .words = (mac->n[0] + 2 + 63) / 64, .present = mac->present};
    m->bits = und_pages_alloc_some(row_count(m) * (size_t)m->words * sizeof *m->bits, m->present, what, err);
    return m->bits ? UND_OK : err->status;
}

void und_mask_close(und_mask *m)
{
    und_pages_free(m->bits);
    m->bits = NULL;
}

bool und_mask_stretch(const und_mask *m, int y, int z, int x, int *begin, int *end)
{
    const uint64_t *row = und_mask_row(m, y, z);
    int bit = x + 1, w = bit >> 6;
    if (w >= m->words)
        return false;
    uint64_t bits = row[w] & ~UINT64_C(0) << (bit & 63);
    while (!bits) {
        if (++w >= m->words)
            return false;
        bits = row[w];
    }
    bit = __builtin_ctzll(bits);
    *begin = 64 * w + bit - 1;
    bits = ~row[w] & ~UINT64_C(0) << bit;
    while (!bits && ++w < m->words)
        bits = ~row[w];
    *end = (bits ? 64 * w + __builtin_ctzll(bits) : 64 * m->words) - 1;
    return true;
}

/* Words that are one behind the other, from begin to below end: all, or those of a row that there is. */
typedef struct stretch {
    int row; /* the next */
    size_t begin, end;
} stretch;

static bool next_stretch(const und_mask *m, stretch *s)
{
    const int rows = (int)row_count(m), low[2] = {-1, -1};
    const int first = und_present_row(m->present, low, m->n[1] + 2, s->row, rows);
    s->row = m->present ? first + 1 : rows;
    s->begin = (size_t)first * (size_t)m->words;
    s->end = (size_t)s->row * (size_t)m->words;
    return first < rows;
}

void und_mask_clear(und_mask *m)
{
    for (stretch s = {0}; next_stretch(m, &s);)
        memset(m->bits + s.begin, 0, (s.end - s.begin) * sizeof *m->bits);
}

void und_mask_copy(const und_mask *from, und_mask *to)
{
    for (stretch s = {0}; next_stretch(from, &s);)
        memcpy(to->bits + s.begin, from->bits + s.begin, (s.end - s.begin) * sizeof *from->bits);
}

void und_mask_remove(und_mask *m, const und_mask *others)
{
    for (stretch s = {0}; next_stretch(m, &s);)
        for (size_t i = s.begin; i < s.end; i++)
            m->bits[i] &= ~others->bits[i];
}

void und_mask_unite(und_mask *m, const und_mask *others)
{
    for (stretch s = {0}; next_stretch(m, &s);)
        for (size_t i = s.begin; i < s.end; i++)
            m->bits[i] |= others->bits[i];
}

long und_mask_count(const und_mask *m)
{
    long count = 0;
    for (stretch s = {0}; next_stretch(m, &s);)
        for (size_t i = s.begin; i < s.end; i++)
            count += __builtin_popcountll(m->bits[i]);
    return count;
}

void und_mask_count_slices(const und_mask *m, int32_t *count)
{
    size_t slice = (size_t)(m->n[1] + 2) * (size_t)m->words;
    for (int z = 0; z < m->n[2] + 2; z++) {
        count[z] = 0;
        for (size_t i = 0; i < slice; i++)
            count[z] += __builtin_popcountll(m->bits[(size_t)z * slice + i]);
    }
}
