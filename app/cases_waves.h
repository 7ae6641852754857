/* What the validation cases of height-field water share. */
#ifndef UND_APP_CASES_WAVES_H
#define UND_APP_CASES_WAVES_H

#include "cases.h"

#include <undine/waves.h>

/* A closed tank: ground at -depth, water at 0, one thread. */
und_waves_def case_tank(int nx, int nz, double dx, double depth, int order);

void case_steps(und_waves *waves, int count, double dt);

/* How much of cos(m pi x / Lx) cos(n pi z / Lz) there is in the surface, m. */
double case_mode(const und_waves *waves, const und_waves_def *def, int m, int n);

/* The largest |h - level| over the wet samples. */
double case_largest(const und_waves *waves, const und_waves_def *def, double level);

/* Place of the crest, in cells, among the samples [first, last] of row z, by a parabola through the highest
 * and its neighbours; its height in *height unless NULL. */
double case_crest(const und_waves *waves, int z, int first, int last, double *height);

/* What lambda of x(n) = Re(a lambda^n) fits a series best. */
typedef struct case_fit {
    double size, angle; /* |lambda| and arg(lambda) per sample */
} case_fit;
case_fit case_fit_series(const double *series, int count, int lag);

/* Slope of the line that fits y(x) best. */
double case_slope(const double *x, const double *y, int count);

/* The defect of a volume ledger relative to the water that took part. */
double case_ledger_defect(const und_waves *waves);

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

extern case_fn case_km_modes, case_km_pulse, case_wave_speed, case_seiche, case_seiche_decay, case_converge;
extern case_fn case_step, case_refraction, case_linear_beach, case_thacker, case_thacker_surface;
extern case_fn case_lake_at_rest, case_rough_volume, case_hump;
extern case_fn case_ring, case_open_edge, case_driven_edge, case_flow;

#endif
