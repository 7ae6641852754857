/* Rays that meet objects: a tree of boxes over triangles sorted along a curve that fills space (Morton 1966).
 * The tree is complete, so that its nodes need no links: those below node k are 2 k and 2 k + 1. */
#include "render/internal.h"

#include <stdlib.h>

enum { LEAF = 4, STACK = 64 };

static uint32_t spread_bits(uint32_t v) /* ten bits, two free places after each */
{
    v = (v | v << 16) & 0x030000ffu;
    v = (v | v << 8) & 0x0300f00fu;
    v = (v | v << 4) & 0x030c30c3u;
    return (v | v << 2) & 0x09249249u;
}

static uint32_t curve_place(const und_soup *soup, const float *p)
{
    f3 middle = f3_scale(f3_add(f3_add(f3_of(p), f3_of(p + 3)), f3_of(p + 6)), 1.0f / 3);
    f3 at = f3_sub(middle, soup->low), size = f3_sub(soup->high, soup->low);
    float side = maxf(maxf(maxf(size.x, size.y), size.z), 1e-9f), scale = 1023 / side;
    uint32_t x = (uint32_t)clampf(at.x * scale, 0, 1023), y = (uint32_t)clampf(at.y * scale, 0, 1023),
             z = (uint32_t)clampf(at.z * scale, 0, 1023);
    return spread_bits(x) | spread_bits(y) << 1 | spread_bits(z) << 2;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Triangles are dealt out evenly, at most LEAF to each, so that no leaf is empty. */
static size_t leaf_start(const und_soup *soup, size_t leaf)
{
    return leaf * soup->count / soup->leaves;
}

static void box_leaf(und_soup *soup, size_t leaf)
{
    und_box box = {f3_gray(INFINITY), f3_gray(-INFINITY)};
    for (size_t k = leaf_start(soup, leaf); k < leaf_start(soup, leaf + 1); k++) {
        const float *p = soup->position + 9 * (size_t)(uint32_t)soup->order[k];
        for (int c = 0; c < 3; c++, p += 3) {
            box.low = f3_make(minf(box.low.x, p[0]), minf(box.low.y, p[1]), minf(box.low.z, p[2]));
            box.high = f3_make(maxf(box.high.x, p[0]), maxf(box.high.y, p[1]), maxf(box.high.z, p[2]));
        }
    }
    soup->box[soup->leaves + leaf] = box;
}

und_status und_tree_build(und_soup *soup, und_error *err)
{
    size_t leaves = 1;
    while (leaves * LEAF < soup->count)
        leaves *= 2;
    if (soup->tree_capacity < leaves) {
        free(soup->order);
        free(soup->box);
        soup->tree_capacity = 0;
        soup->order = und_alloc(leaves * LEAF, sizeof *soup->order, "objects", err);
        soup->box = und_alloc(2 * leaves, sizeof *soup->box, "objects", err);
        if (!soup->order || !soup->box)
            return UND_FAILED;
        soup->tree_capacity = leaves;
    }
    soup->leaves = leaves;
    for (size_t k = 0; k < soup->count; k++)
        soup->order[k] = (uint64_t)curve_place(soup, soup->position + 9 * k) << 32 | k;
    qsort(soup->order, soup->count, sizeof *soup->order, by_key);
    for (size_t k = 0; k < leaves; k++)
        box_leaf(soup, k);
    for (size_t k = leaves - 1; k > 0; k--) {
        const und_box *a = soup->box + 2 * k, *b = a + 1;
        soup->box[k].low =
            f3_make(minf(a->low.x, b->low.x), minf(a->low.y, b->low.y), minf(a->low.z, b->low.z));
        soup->box[k].high =
            f3_make(maxf(a->high.x, b->high.x), maxf(a->high.y, b->high.y), maxf(a->high.z, b->high.z));
    }
    return UND_OK;
}

/* Where the ray enters the box, or infinity. */
float und_box_enter(const und_box *box, f3 from, f3 inverse, float far)
{
    float ax = (box->low.x - from.x) * inverse.x, bx = (box->high.x - from.x) * inverse.x;
    float ay = (box->low.y - from.y) * inverse.y, by = (box->high.y - from.y) * inverse.y;
    float az = (box->low.z - from.z) * inverse.z, bz = (box->high.z - from.z) * inverse.z;
    float enter = maxf(maxf(minf(ax, bx), minf(ay, by)), maxf(minf(az, bz), 0));
    float leave = minf(minf(maxf(ax, bx), maxf(ay, by)), minf(maxf(az, bz), far));
    return enter <= leave ? enter : INFINITY;
}

/* Moeller & Trumbore 1997. */
static float triangle_distance(const float *p, f3 from, f3 dir)
{
    f3 e1 = f3_sub(f3_of(p + 3), f3_of(p)), e2 = f3_sub(f3_of(p + 6), f3_of(p)), h = f3_cross(dir, e2);
    float det = f3_dot(e1, h);
    if (!(fabsf(det) > 1e-20f))
        return INFINITY;
    f3 s = f3_sub(from, f3_of(p)), q = f3_cross(s, e1);
    float u = f3_dot(s, h) / det, v = f3_dot(dir, q) / det;
    return u >= 0 && v >= 0 && u + v <= 1 ? f3_dot(e2, q) / det : INFINITY;
}

bool und_tree_hit(const und_soup *soup, f3 from, f3 dir, float far, float *distance, int32_t *triangle)
{
    f3 inverse = und_inverse(dir);
    size_t stack[STACK];
    int depth = 0;
    bool found = false;
    if (und_box_enter(soup->box + 1, from, inverse, far) < INFINITY)
        stack[depth++] = 1;
    while (depth > 0) {
        size_t node = stack[--depth];
        if (node < soup->leaves) {
            float a = und_box_enter(soup->box + 2 * node, from, inverse, far),
                  b = und_box_enter(soup->box + 2 * node + 1, from, inverse, far);
            size_t near = 2 * node + (b < a), other = near ^ 1;
            if (maxf(a, b) < INFINITY)
                stack[depth++] = other;
            if (minf(a, b) < INFINITY)
                stack[depth++] = near;
            continue;
        }
        size_t leaf = node - soup->leaves, end = leaf_start(soup, leaf + 1);
        for (size_t k = leaf_start(soup, leaf); k < end; k++) {
            uint32_t index = (uint32_t)soup->order[k];
            float t = triangle_distance(soup->position + 9 * (size_t)index, from, dir);
            if (t > 0 && t < far) {
                far = *distance = t;
                *triangle = (int32_t)index;
                found = true;
            }
        }
    }
    return found;
}
