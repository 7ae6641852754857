/* What the validation cases of all water share: starts, and what is read off a surface. */
#ifndef UND_VALIDATE_WATER_H
#define UND_VALIDATE_WATER_H

#include "validate/cases.h"

/* A surface to look at, whatever model made it. */
typedef struct case_water {
    const void *model;
    double (*surface)(const void *model, int x, int z);
    int nx, nz;
} case_water;

/* How much of cos(m pi x / Lx) cos(n pi z / Lz) there is in the surface, m. */
double case_water_mode(case_water water, int m, int n);

/* Place of the crest, in cells, among the samples [first, last] of row z, by a parabola through the highest
 * and its neighbours; its height in *height unless NULL. */
double case_water_crest(case_water water, int z, int first, int last, double *height);

/* Modes of closed basins: 10 x 1 m, 1 m deep, and 4 x 3 m, 0.5 m deep. */
typedef struct case_basin {
    int nx, nz, m, n;
    double dx, depth; /* m */
} case_basin;
enum { CASE_BASINS = 7 };
extern const case_basin case_basins[CASE_BASINS];

/* What lambda of x(n) = Re(a lambda^n) fits a series best. */
typedef struct case_fit {
    double size, angle; /* |lambda| and arg(lambda) per sample */
} case_fit;
case_fit case_fit_series(const double *series, int count, int lag);

/* Slope of the line that fits y(x) best. */
double case_slope(const double *x, const double *y, int count);

/* A mode of a closed tank as the start: amplitude cos cos. */
typedef struct case_mode_start {
    double amplitude, kx, kz;
} case_mode_start;
und_value_fn case_mode_surface;

/* A pulse, amplitude exp(-(s/width)^2), s the distance from the line through `center` with normal `angle`;
 * nothing at x > cut. */
typedef struct case_pulse {
    double amplitude, width, center, angle, cut;
} case_pulse;
und_value_fn case_pulse_surface;

/* An island in a lake at 0.1 m, and beyond a ridge at x = 16 m a valley below the lake's level. */
und_value_fn case_island_ground, case_island_surface;

/* A ring around the middle of the grid, seen along rays: radius (cells) and height of the crest, and the
 * energy of what it leaves behind within the inner part, per length of ray. */
enum { CASE_RAYS = 48 };
typedef struct case_ring_view {
    double radius[CASE_RAYS], height[CASE_RAYS], wake[CASE_RAYS];
} case_ring_view;
void case_see_ring(case_water water, double expected, case_ring_view *ring);
double case_spread(const double *rays); /* (max - min) / mean */

#endif
