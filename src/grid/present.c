#include "grid/present.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static size_t words_of(const und_present *p, const und_mac *mac)
{
    return (size_t)p->words * (size_t)(mac->n[2] + 2);
}

/* Behind the bits there is room for as many again. */
und_present *und_present_open(const und_mac *mac, und_error *err)
{
    und_present *p = und_alloc(1, sizeof *p, "rows", err);
    if (!p)
        return NULL;
    p->words = (mac->n[1] + 2 + 63) / 64;
    if (!(p->bits = und_alloc(2 * words_of(p, mac), sizeof *p->bits, "rows", err))) {
        free(p);
        return NULL;
    }
    return p;
}

void und_present_close(und_present *p)
{
    if (p)
        free(p->bits);
    free(p);
}

void und_present_clear(und_present *p, const und_mac *mac)
{
    memset(p->bits, 0, words_of(p, mac) * sizeof *p->bits);
    p->rows = 0;
}

static int within(int i, int n)
{
    return i < -1 ? -1 : i > n + 1 ? n + 1 : i;
}

void und_present_add_box(und_present *p, const und_mac *mac, const int low[2], const int high[2])
{
    for (int z = within(low[1], mac->n[2]); z < within(high[1], mac->n[2]); z++)
        for (int y = within(low[0], mac->n[1]); y < within(high[0], mac->n[1]); y++)
            und_present_add(p, y, z);
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

void und_present_grow(und_present *p, const und_mac *mac, int by)
{
    const int slices = mac->n[2] + 2, used = (mac->n[1] + 2) & 63;
    const size_t words = (size_t)p->words;
    uint64_t *wide = p->bits + words_of(p, mac);
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
    const int by[2] = {of->low[1] - mac->low[1], of->low[2] - mac->low[2]};
    for (int z = -1; z <= of->n[2]; z++)
        for (int y = und_present_next(other, -1, of->n[1] + 1, z); y <= of->n[1];
             y = und_present_next(other, y + 1, of->n[1] + 1, z)) {
            const int low[2] = {y + by[0], z + by[1]}, high[2] = {low[0] + 1, low[1] + 1};
            und_present_add_box(p, mac, low, high);
        }
}

void und_present_unite(und_present *p, const und_mac *mac, const und_present *more)
{
    for (size_t i = 0; i < words_of(p, mac); i++)
        p->bits[i] |= more->bits[i];
    und_present_count(p, mac);
}

bool und_present_lacks(const und_present *p, const und_mac *mac, const und_present *some)
{
    uint64_t lacks = 0;
    for (size_t i = 0; i < words_of(p, mac); i++)
        lacks |= some->bits[i] & ~p->bits[i];
    return lacks != 0;
}

void und_present_count(und_present *p, const und_mac *mac)
{
    p->rows = 0;
    for (size_t i = 0; i < words_of(p, mac); i++)
        p->rows += __builtin_popcountll(p->bits[i]);
}
