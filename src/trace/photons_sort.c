/* Photons sorted into blocks, those of each side of the world by themselves, and the tree over the blocks:
 * both by halving along the longest side (Bentley 1975). */
#include "trace/photons_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <stdlib.h>

enum { KINDS = 12 /* six ways to face, in and out of a dielectric */, SHARED = 4, ENOUGH = 1 << 15 };

typedef struct spot {
    float at[3];
    int32_t id;
} spot;

static bool before(const spot *a, const spot *b, int axis)
{
    return a->at[axis] < b->at[axis] || (a->at[axis] == b->at[axis] && a->id < b->id);
}

static int longest_side(const spot *s, int count)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            low[a] = minf(low[a], s[i].at[a]);
            high[a] = maxf(high[a], s[i].at[a]);
        }
    int axis = high[1] - low[1] > high[0] - low[0];
    return high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
}

/* Hoare's selection: those that come first along the axis stand before `middle`. */
static void select_first(spot *s, int count, int middle, int axis)
{
    for (int low = 0, high = count - 1; low < high;) {
        spot pivot = s[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (before(&s[i], &pivot, axis))
                i++;
            while (before(&pivot, &s[j], axis))
                j--;
            if (i <= j) {
                spot kept = s[i];
                s[i++] = s[j];
                s[j--] = kept;
            }
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/* How many stand in the first part of a range that is split: full leaves, and as many as a full tree has. */
static int first_part(int count, int leaf)
{
    int leaves = (count + leaf - 1) / leaf, half = 1;
    while (2 * half < leaves)
        half *= 2;
    return half * leaf;
}

static void arrange(spot *s, int count, int leaf, int levels)
{
    while (count > leaf && levels-- > 0) {
        int first = first_part(count, leaf);
        select_first(s, count, first, longest_side(s, count));
        arrange(s, first, leaf, levels);
        s += first;
        count -= first;
    }
}

/* So that runs of `leaf` lie together, and runs of two, four, eight of those too. */
static void arrange_all(spot *s, int count, int leaf, int threads)
{
    arrange(s, count, leaf, SHARED);
    int workers = und_workers(threads, (size_t)count, ENOUGH);
    PARALLEL_FOR(workers)
    for (int node = 0; node < 1 << SHARED; node++) {
        int begin = 0, end = count;
        bool own = true;
        for (int bit = SHARED - 1; bit >= 0 && own; bit--) {
            int first = end - begin > leaf ? first_part(end - begin, leaf) : end - begin;
            if (node >> bit & 1)
                begin += first;
            else
                end = begin + first;
            own = begin < end;
        }
        if (own)
            arrange(s + begin, end - begin, leaf, 64);
    }
}

static int kind_of(const und_photon *p)
{
    const int8_t *n = p->normal;
    int axis = abs(n[1]) > abs(n[0]);
    axis = abs(n[2]) > abs(n[axis]) ? 2 : axis;
    return 4 * axis + 2 * (n[axis] < 0) + (p->within != 0);
}

static void fill_block(und_photon_block *b, const und_photon *list, const spot *s, int count, int kind)
{
    *b = (und_photon_block){.count = count, .side = (uint8_t)(kind / 2), .within = (uint8_t)(kind % 2)};
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            const und_photon *photon = list + s[i].id;
            b->place[a][i] = photon->place[a];
            b->flux[a][i] = photon->flux[a];
            b->normal[a][i] = photon->normal[a];
        }
    b->even = true;
    for (int i = 1; i < count; i++)
        for (int a = 0; a < 3; a++)
            b->even &= b->normal[a][i] == b->normal[a][0];
}

und_status und_photons_sort(und_photons *p, const und_photon *list, int count, int threads, und_error *err)
{
    spot *s = und_alloc((size_t)count + 1, sizeof *s, "photons", err);
    p->block =
        und_pages_alloc(((size_t)count / UND_PHOTON_BLOCK + KINDS + 1) * sizeof *p->block, "photons", err);
    if (!s || !p->block) {
        free(s);
        return UND_FAILED;
    }
    int at[KINDS + 1] = {0};
    for (int i = 0; i < count; i++)
        at[kind_of(list + i) + 1]++;
    for (int k = 0; k < KINDS; k++)
        at[k + 1] += at[k];
    int next[KINDS];
    for (int k = 0; k < KINDS; k++)
        next[k] = at[k];
    for (int i = 0; i < count; i++) {
        const float *place = list[i].place;
        s[next[kind_of(list + i)]++] = (spot){{place[0], place[1], place[2]}, i};
    }
    p->block_count = 0;
    for (int k = 0; k < KINDS; k++) {
        arrange_all(s + at[k], at[k + 1] - at[k], UND_PHOTON_BLOCK, threads);
        for (int i = at[k]; i < at[k + 1]; i += UND_PHOTON_BLOCK) {
            int full = at[k + 1] - i < UND_PHOTON_BLOCK ? at[k + 1] - i : UND_PHOTON_BLOCK;
            fill_block(p->block + p->block_count++, list, s + i, full, k);
        }
    }
    free(s);
    return UND_OK;
}

static und_box box_of(const und_photon_block *b, bool spread)
{
    float low[3], high[3], more = spread ? sqrtf(b->reach2 * (1 + UND_PHOTON_FLAT2)) * 1.0001f : 0;
    for (int a = 0; a < 3; a++) {
        low[a] = high[a] = b->place[a][0];
        for (int i = 1; i < b->count; i++) {
            low[a] = minf(low[a], b->place[a][i]);
            high[a] = maxf(high[a], b->place[a][i]);
        }
    }
    return (und_box){f3_sub(f3_of(low), f3_gray(more)), f3_add(f3_of(high), f3_gray(more))};
}

static und_box around(const und_box *a, const und_box *b)
{
    return (und_box){
        f3_make(minf(a->low.x, b->low.x), minf(a->low.y, b->low.y), minf(a->low.z, b->low.z)),
        f3_make(maxf(a->high.x, b->high.x), maxf(a->high.y, b->high.y), maxf(a->high.z, b->high.z))};
}

/* The blocks in the order of the tree's leaves. */
static und_status order_blocks(und_photons *p, int threads, und_error *err)
{
    spot *s = und_alloc((size_t)p->block_count + 1, sizeof *s, "photons", err);
    und_photon_block *all = und_pages_alloc(((size_t)p->block_count + 1) * sizeof *all, "photons", err);
    for (int k = 0; k < p->block_count && s && all; k++) {
        const und_photon_block *b = p->block + k;
        int m = b->count / 2;
        s[k] = (spot){{b->place[0][m], b->place[1][m], b->place[2][m]}, k};
    }
    bool good = s && all;
    if (good) {
        arrange_all(s, p->block_count, 1, threads);
        for (int k = 0; k < p->block_count; k++)
            all[k] = p->block[s[k].id];
        und_pages_free(p->block);
        p->block = all;
    } else
        und_pages_free(all);
    free(s);
    return good ? UND_OK : UND_FAILED;
}

und_status und_photons_plant(und_photons *p, bool spread, int threads, und_error *err)
{
    p->leaves = 1;
    while (p->leaves < p->block_count)
        p->leaves *= 2;
    free(p->box);
    p->box = und_alloc(2 * (size_t)p->leaves, sizeof *p->box, "photons", err);
    if (!p->box || order_blocks(p, threads, err) != UND_OK)
        return UND_FAILED;
    for (int k = 0; k < p->leaves; k++)
        p->box[p->leaves + k] = k < p->block_count ? box_of(p->block + k, spread)
                                                   : (und_box){f3_gray(INFINITY), f3_gray(-INFINITY)};
    for (int k = p->leaves - 1; k > 0; k--)
        p->box[k] = around(&p->box[2 * k], &p->box[2 * k + 1]);
    return UND_OK;
}
