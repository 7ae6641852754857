/* The arithmetic of redistancing, a cell at a time and free of branches. */
#ifndef UND_SURFACE_DISTANCE_KERNEL_H
#define UND_SURFACE_DISTANCE_KERNEL_H

#include <math.h>
#include <stdbool.h>

/* One axis of the Eikonal equation |grad u| = 1 at a cell, upwind: weight (u - from)^2, where u > from. */
typedef struct und_upwind {
    float from, weight;
} und_upwind;

static inline void und_upwind_sort(und_upwind *a, und_upwind *b)
{
    und_upwind low = *a, high = *b;
    bool swap = high.from < low.from;
    a->from = swap ? high.from : low.from;
    a->weight = swap ? high.weight : low.weight;
    b->from = swap ? low.from : high.from;
    b->weight = swap ? low.weight : high.weight;
}

/* A second difference from which on values are beside a kink, and are not what a parabola goes through. */
#define UND_KINK 0.5f

/* The first-order difference is u - a, a being the next value towards the surface; the second-order one
 * (3 u - 4 a + b) / 2 with the value b beyond it, where a and b are of one smooth stretch: c is the third. */
static inline und_upwind und_upwind_make(float a, float b, float c, int order)
{
    bool second = order == 2 && b <= a && fabsf(a - 2 * b + c) < UND_KINK;
    return (und_upwind){second ? (4 * a - b) * (1.0f / 3) : a, second ? 2.25f : 1};
}

/* The u that solves the sum of weight (u - from)^2 over axes = 1, of those from which it is higher. */
static inline float und_upwind_solve(und_upwind x, und_upwind y, und_upwind z, int axes)
{
    und_upwind_sort(&x, &y);
    if (axes == 3) {
        und_upwind_sort(&y, &z);
        und_upwind_sort(&x, &y);
    }
    float b = y.from - x.from, one = x.weight > 1 ? 2.0f / 3 : 1; /* measured from x.from */
    float w2 = x.weight + y.weight, root2 = w2 - x.weight * y.weight * b * b;
    float two = (y.weight * b + sqrtf(root2 > 0 ? root2 : 0)) / w2;
    float u = one > b ? two : one;
    if (axes == 3) {
        float c = z.from - x.from, w3 = w2 + z.weight, s = y.weight * b + z.weight * c;
        float root3 = s * s - w3 * (y.weight * b * b + z.weight * c * c - 1);
        float three = (s + sqrtf(root3 > 0 ? root3 : 0)) / w3;
        u = u > c ? three : u;
    }
    return x.from + u;
}

static inline float und_more(float a, float b)
{
    return a > b ? a : b;
}

/* The smaller of two in size where they have one sign; else 0. */
static inline float und_minmod(float a, float b)
{
    float size = fminf(fabsf(a), fabsf(b));
    return a * b > 0 ? (a > 0 ? size : -size) : 0;
}

/* What the slope at a cell along one axis can be, as seen from both sides (second-order ENO; Osher & Fedkiw
 * 2003, 3.4) and across the cell: of a smooth stretch these are the same but for terms of third order, beside
 * kinks one of them is right. */
typedef struct und_slope {
    float least, most; /* sizes */
} und_slope;

static inline und_slope und_slope_make(float below, float low, float own, float high, float above, int order)
{
    float bend = high - 2 * own + low, across = 0.5f * (high - low), back = own - low, ahead = high - own;
    if (order == 2) { /* the values around are good enough for it */
        back += 0.5f * und_minmod(bend, own - 2 * low + below);
        ahead -= 0.5f * und_minmod(bend, above - 2 * high + own);
    }
    float most = und_more(und_more(fabsf(back), fabsf(ahead)), fabsf(across));
    float least = fminf(fminf(fabsf(back), fabsf(ahead)), fabsf(across));
    return (und_slope){back * ahead > 0 ? least : 0, most};
}

/* What phi is to be divided by to be a distance: the length of its gradient, but 1 where that is in doubt.
 * So a distance stays what it is, however often this is done, and nothing thin is lost. */
static inline float und_slope_length(und_slope x, und_slope y, und_slope z)
{
    float least = sqrtf(x.least * x.least + y.least * y.least + z.least * z.least);
    float most = sqrtf(x.most * x.most + y.most * y.most + z.most * z.most);
    return least > 1 ? least : most < 1 ? und_more(most, 1e-12f) : 1;
}

/* How far a linear surface crosses on the way to a neighbour of the other sign; 1 where none is between. */
static inline float und_crossing(float own, float other)
{
    bool crosses = (own < 0) != (other < 0);
    return crosses ? own / (own - other) : 1;
}

#endif
