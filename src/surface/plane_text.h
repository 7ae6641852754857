/* The text of plane_kernel.h, for one type of number, REAL; comparisons of such give a WHERE. */

UND_INLINE REAL PLANE(less)(REAL a, REAL b)
{
    return SELECT(a < b, a, b);
}
UND_INLINE REAL PLANE(more)(REAL a, REAL b)
{
    return SELECT(a > b, a, b);
}

/* The slope's sizes, in growing order and over their sum. */
typedef struct PLANE(sides) {
    REAL low, mid, high, sum;
} PLANE(sides);

UND_INLINE PLANE(sides) PLANE(sort)(const REAL slope[3])
{
    REAL a = PLANE(more)(slope[0], -slope[0]), b = PLANE(more)(slope[1], -slope[1]),
         c = PLANE(more)(slope[2], -slope[2]), sum = a + b + c;
    WHERE none = sum < LEAST;
    sum = SELECT(none, ALL(1), sum);
    REAL ab = PLANE(less)(a, b), most = PLANE(more)(a, b), rest = PLANE(less)(most, c);
    REAL high = SELECT(none, ALL(1), PLANE(more)(most, c) / sum);
    return (PLANE(sides)){PLANE(less)(ab, rest) / sum, PLANE(more)(ab, rest) / sum, high, sum};
}

/* (t^3 - (t - low)^3) / low and its derivative, of what is above 0 only: with w = min(t, low), and nothing
 * cancels, be low as small as it may, or 0. */
UND_INLINE REAL PLANE(cube)(REAL t, REAL low, REAL *slope)
{
    t = PLANE(more)(t, ALL(0));
    REAL w = PLANE(less)(t, low), share = SELECT(t < low, t / SELECT(low > 0, low, ALL(1)), ALL(1));
    *slope = 3 * (share * (t + (t - w)));
    return share * (3 * (t * (t - w)) + w * w);
}

/* The part of the unit cube below sides.x = alpha, for alpha <= 1/2, and its derivative (Scardovelli &
 * Zaleski 2000, "Analytical relations connecting linear interfaces and volume fractions in rectangular
 * grids", section 2): a corner, less the corners of it that stick out of the cube. */
UND_INLINE REAL PLANE(below)(PLANE(sides) s, REAL alpha, REAL *slope)
{
    REAL edge = s.low + s.mid, corner[3], of_corner[3];
    corner[0] = PLANE(cube)(alpha, s.low, &of_corner[0]);
    corner[1] = PLANE(cube)(alpha - s.mid, s.low, &of_corner[1]);
    corner[2] = PLANE(cube)(alpha - s.high, s.low, &of_corner[2]);
    /* past both of the smaller sides it grows evenly; there the corners would all but cancel */
    WHERE even = (alpha >= edge) & (alpha <= s.high);
    REAL scale = SELECT(even, ALL(1), 6 * (s.mid * s.high));
    *slope = SELECT(even, 1 / s.high, (of_corner[0] - of_corner[1] - of_corner[2]) / scale);
    return SELECT(even, (alpha - edge / 2) / s.high, (corner[0] - corner[1] - corner[2]) / scale);
}

/* The part of the cell where value + slope.x is below 0, and what it loses as value grows. */
UND_INLINE REAL PLANE(part_of)(REAL value, const REAL slope[3], REAL *loss)
{
    PLANE(sides) s = PLANE(sort)(slope);
    REAL at = 0.5f - value / s.sum, alpha = PLANE(more)(PLANE(less)(at, ALL(1)), ALL(0)), per_alpha;
    WHERE upper = alpha > 0.5f;
    REAL part = PLANE(below)(s, SELECT(upper, 1 - alpha, alpha), &per_alpha);
    part = PLANE(less)(part, ALL(0.5f));
    *loss = SELECT((at > 0) & (at < 1), per_alpha / s.sum, ALL(0));
    return SELECT(upper, 1 - part, part);
}
UND_INLINE REAL PLANE(part)(REAL value, const REAL slope[3])
{
    REAL loss;
    return PLANE(part_of)(value, slope, &loss);
}

/* The alpha of a part, 1/2 at most: at a corner by a cube root, at an edge by a square root, else where a
 * plane past both smaller sides would have it; and Newton's steps from there: the part is convex in alpha. */
UND_INLINE REAL PLANE(alpha)(PLANE(sides) s, REAL part)
{
    REAL product = s.mid * s.high, over = SELECT(product > 0, product, ALL(1)), edge = s.low + s.mid;
    REAL first = s.low * s.low / (6 * over), second = first + (s.mid - s.low) / (2 * s.high);
    REAL rest = PLANE(more)(part - first, ALL(0));
    REAL root = (s.low + SQUARE_ROOT(s.low * s.low + 8 * (product * rest))) / 2;
    REAL alpha = SELECT(part < second, root, s.high * part + edge / 2);
    alpha = SELECT(part < first, CUBE_ROOT(6 * (part * s.low) * product), alpha);
    for (int i = 0; i < STEPS; i++) {
        alpha = PLANE(less)(alpha, ALL(0.5f));
        REAL slope, now = PLANE(below)(s, alpha, &slope);
        alpha = PLANE(more)(alpha - (now - part) / PLANE(more)(slope, ALL(LEAST)), ALL(0));
    }
    return SELECT(part > LEAST, PLANE(less)(alpha, ALL(0.5f)), ALL(0));
}

/* The value at the cell's middle for which the part is this one. */
UND_INLINE REAL PLANE(value)(REAL part, const REAL slope[3])
{
    PLANE(sides) s = PLANE(sort)(slope);
    part = PLANE(more)(PLANE(less)(part, ALL(1)), ALL(0));
    WHERE upper = part > 0.5f;
    REAL alpha = PLANE(alpha)(s, SELECT(upper, 1 - part, part));
    return SELECT(upper, alpha - 0.5f, 0.5f - alpha) * s.sum;
}

/* What lies between begin and end along an axis, both from the cell's low side on: of a whole cell. */
UND_INLINE REAL PLANE(slab)(REAL value, const REAL slope[3], int axis, REAL begin, REAL end)
{
    REAL wide = end - begin, within[3] = {slope[0], slope[1], slope[2]};
    within[axis] *= wide;
    return wide * PLANE(part)(value + slope[axis] * ((begin + end - 1) / 2), within);
}

#undef PLANE
#undef REAL
#undef WHERE
#undef ALL
#undef SELECT
#undef LEAST
#undef STEPS
#undef CUBE_ROOT
#undef SQUARE_ROOT
