#include "grid/present.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

static size_t words_of(const und_present *p, const und_mac *mac)
{
    return (size_t)p->words * (size_t)(mac->n[2] + 2);
}

static size_t rows_of(const und_present *p, const und_mac *mac)
{
    return (size_t)p->wide * (size_t)(mac->n[2] + 2);
}

/* Behind the bits there is room for as many again, and so there is behind the parts. */
static und_present *open_rows(const und_mac *mac, bool parts, und_error *err)
{
    und_present *p = und_pages_alloc_read_only(sizeof *p, "rows", err);
    if (!p)
        return NULL;
    p->words = (mac->n[1] + 2 + 63) / 64;
    p->wide = mac->n[1] + 2;
    if (!(p->bits = und_pages_alloc_read_only(2 * words_of(p, mac) * sizeof *p->bits, "rows", err)) ||
        (parts &&
         !(p->span = und_pages_alloc_read_only(2 * rows_of(p, mac) * sizeof *p->span, "rows", err)))) {
        und_present_close(p);
        return NULL;
    }
    return p;
}

und_present *und_present_open(const und_mac *mac, und_error *err)
{
    return open_rows(mac, false, err);
}

und_present *und_present_open_parts(const und_mac *mac, und_error *err)
{
    return open_rows(mac, true, err);
}

void und_present_close(und_present *p)
{
    if (p) {
        und_pages_free(p->bits);
        und_pages_free(p->span);
    }
    und_pages_free(p);
}

/* The first row at or after (y, z) that there is; false: none. */
static bool find_row(const und_present *p, const und_mac *mac, int *y, int *z)
{
    for (; *z <= mac->n[2]; (*z)++, *y = -1)
        if ((*y = und_present_next(p, *y, mac->n[1] + 1, *z)) <= mac->n[1])
            return true;
    return false;
}
#define EACH_ROW(p, mac, y, z) for (int y = -1, z = -1; find_row(p, mac, &y, &z); y++)

static und_span *span_of(const und_present *p, int y, int z)
{
    return p->span + (size_t)(z + 1) * (size_t)p->wide + (size_t)(y + 1);
}

void und_present_clear(und_present *p, const und_mac *mac)
{
    if (p->span)
        EACH_ROW(p, mac, y, z)
    *span_of(p, y, z) = (und_span){0, 0};
    memset(p->bits, 0, words_of(p, mac) * sizeof *p->bits);
    p->rows = 0;
    p->cells = 0;
}

static und_span both(und_span a, und_span b)
{
    if (a.begin == a.end || b.begin == b.end)
        return a.begin == a.end ? b : a;
    return (und_span){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

void und_present_add_part(und_present *p, int y, int z, und_span part)
{
    und_span *own = span_of(p, y, z);
    und_present_add(p, y, z);
    *own = both(*own, part);
}

static int within(int i, int n)
{
    return i < -1 ? -1 : i > n + 1 ? n + 1 : i;
}

void und_present_add_box(und_present *p, const und_mac *mac, const int low[3], const int high[3])
{
    const und_span part = {within(low[0], mac->n[0]), within(high[0], mac->n[0])};
    for (int z = within(low[2], mac->n[2]); z < within(high[2], mac->n[2]) && part.begin < part.end; z++)
        for (int y = within(low[1], mac->n[1]); y < within(high[1], mac->n[1]); y++)
            und_present_add_part(p, y, z, part);
}

static void widen(uint64_t *slice, int words)
{
    uint64_t before = 0;
    for (int w = 0; w < words; w++) {
        const uint64_t own = slice[w], after = w + 1 < words ? slice[w + 1] : 0;
        slice[w] = own | own << 1 | own >> 1 | before >> 63 | after << 63;
        before = own;
    }
}

/* Each row's part goes as far as those of rows up to `by` away along y; then along z. */
static void grow_parts(und_present *p, const und_mac *mac, int by)
{
    und_span *wide = p->span + rows_of(p, mac);
    EACH_ROW(p, mac, y, z)
    {
        und_span own = *span_of(p, y, z);
        own.begin = within(own.begin - by, mac->n[0]);
        own.end = within(own.end + by, mac->n[0]);
        for (int to = within(y - by, mac->n[1]); to < within(y + by + 1, mac->n[1]); to++) {
            und_span *other = wide + (span_of(p, to, z) - p->span);
            *other = both(*other, own);
        }
    }
    for (int z = -1; z <= mac->n[2]; z++) {
        und_span *from = wide + (size_t)(z + 1) * (size_t)p->wide;
        for (int y = -1; y <= mac->n[1]; y++, from++) {
            for (int to = within(z - by, mac->n[2]);
                 to < within(z + by + 1, mac->n[2]) && from->begin < from->end; to++)
                *span_of(p, y, to) = both(*span_of(p, y, to), *from);
            *from = (und_span){0, 0};
        }
    }
}

void und_present_grow(und_present *p, const und_mac *mac, int by)
{
    const int slices = mac->n[2] + 2, used = (mac->n[1] + 2) & 63;
    const size_t words = (size_t)p->words;
    uint64_t *wide = p->bits + words_of(p, mac);
    if (p->span)
        grow_parts(p, mac, by);
    memcpy(wide, p->bits, words_of(p, mac) * sizeof *wide);
    for (int z = 0; z < slices; z++) {
        uint64_t *slice = wide + (size_t)z * words;
        for (int k = 0; k < by; k++)
            widen(slice, p->words);
        slice[words - 1] &= used ? ~UINT64_C(0) >> (64 - used) : ~UINT64_C(0);
        const int low = z > by ? z - by : 0, high = z + by < slices ? z + by : slices - 1;
        uint64_t any = 0;
        for (size_t w = 0; w < words; w++)
            any |= slice[w];
        for (int to = low; to <= high && any; to++)
            for (size_t w = 0; w < words; w++)
                p->bits[(size_t)to * words + w] |= slice[w];
    }
    und_present_count(p, mac);
}

void und_present_add_window(und_present *p, const und_mac *mac, const und_present *other, const und_mac *of)
{
    EACH_ROW(other, of, y, z)
    {
        const und_span part = *span_of(other, y, z);
        const int at[3] = {part.begin, y, z};
        int low[3], high[3];
        for (int a = 0; a < 3; a++) {
            low[a] = at[a] + of->low[a] - mac->low[a];
            high[a] = low[a] + (a == 0 ? part.end - part.begin : 1);
        }
        und_present_add_box(p, mac, low, high);
    }
}

/* Bits are words of 64: of cells from 64 w - 1 on. */
static und_span in_words(const und_mac *mac, und_span part)
{
    return (und_span){(part.begin + 1) / 64 * 64 - 1, within((part.end + 1 + 63) / 64 * 64 - 1, mac->n[0])};
}

void und_present_unite(und_present *p, const und_mac *mac, const und_present *more)
{
    EACH_ROW(more, mac, y, z)
    und_present_add_part(p, y, z, in_words(mac, *span_of(more, y, z)));
    und_present_count(p, mac);
}

bool und_present_lacks(const und_present *p, const und_mac *mac, const und_present *some)
{
    uint64_t lacks = 0;
    for (size_t i = 0; i < words_of(p, mac); i++)
        lacks |= some->bits[i] & ~p->bits[i];
    EACH_ROW(some, mac, y, z)
    {
        const und_span own = *span_of(p, y, z), due = *span_of(some, y, z);
        if (lacks || due.begin < own.begin || due.end > own.end)
            return true;
    }
    return lacks != 0;
}

void und_present_count(und_present *p, const und_mac *mac)
{
    p->rows = 0;
    for (size_t i = 0; i < words_of(p, mac); i++)
        p->rows += __builtin_popcountll(p->bits[i]);
    p->cells = p->span ? 0 : (double)p->rows * mac->n[0];
    if (p->span)
        EACH_ROW(p, mac, y, z)
        {
            const und_span part = in_words(mac, *span_of(p, y, z));
            p->cells += part.end - part.begin;
        }
}

enum { EIGHT = 8, BEFORE = UND_PRESENT_APART / EIGHT }; /* places are looked at in eights */

static int most_pitch(const und_mac *mac)
{
    return (mac->n[0] + 2 + 2 * UND_PRESENT_APART) / EIGHT * EIGHT + EIGHT;
}

int und_present_longest(const und_present *p, const und_mac *mac)
{
    int longest = 0;
    EACH_ROW(p, mac, y, z)
    {
        const und_span part = *span_of(p, y, z);
        longest = part.end - part.begin > longest ? part.end - part.begin : longest;
    }
    return longest;
}

size_t und_present_owners(const und_mac *mac)
{
    return (size_t)most_pitch(mac) / EIGHT * (size_t)(mac->n[1] + 4);
}

/* Of a row's part, in eights from the slice's first on. */
static und_span place_of(und_span part, int y, int pitch)
{
    const int row = (y + 1) * (pitch / EIGHT) + BEFORE + 1;
    return (und_span){row + (part.begin + 2 * EIGHT * BEFORE) / EIGHT - 2 * BEFORE,
                      row + (part.end - 1 + 2 * EIGHT * BEFORE) / EIGHT - 2 * BEFORE + 1};
}

static bool slice_fits(const und_present *p, const und_present *reads, const und_mac *mac, int z, int pitch,
                       uint16_t *owner)
{
    const int end = mac->n[1] + 1;
    memset(owner, 0, und_present_owners(mac) * sizeof *owner);
    for (int y = und_present_next(p, -1, end, z); y < end; y = und_present_next(p, y + 1, end, z)) {
        const und_span at = place_of(*span_of(p, y, z), y, pitch);
        for (int i = at.begin; i < at.end; i++) {
            if (owner[i])
                return false;
            owner[i] = (uint16_t)(y + 2);
        }
    }
    for (int y = und_present_next(reads, -1, end, z); y < end; y = und_present_next(reads, y + 1, end, z)) {
        und_span part = *span_of(reads, y, z);
        part.begin -= part.begin < 0 ? UND_PRESENT_APART : 0;
        part.end += part.end > mac->n[0] ? UND_PRESENT_APART : 0;
        const und_span at = place_of(part, y, pitch);
        for (int i = at.begin; i < at.end; i++)
            if (owner[i] && owner[i] != y + 2)
                return false;
    }
    return true;
}

bool und_present_fits(const und_present *p, const und_present *reads, const und_mac *mac, int pitch,
                      uint16_t *owner)
{
    bool fits = pitch <= most_pitch(mac) && mac->n[1] < UINT16_MAX - 2;
    for (int z = -1; z <= mac->n[2] && fits; z++)
        if (und_present_next(p, -1, mac->n[1] + 1, z) <= mac->n[1] ||
            und_present_next(reads, -1, mac->n[1] + 1, z) <= mac->n[1])
            fits = slice_fits(p, reads, mac, z, pitch, owner);
    return fits;
}
