/* What the validation cases of height-field water share. */
#ifndef UND_VALIDATE_WAVES_H
#define UND_VALIDATE_WAVES_H

#include "validate/water.h"

#include <undine/waves.h>

/* A closed tank: ground at -depth, water at 0, one thread. */
und_waves_def case_tank(int nx, int nz, double dx, double depth, int order);

void case_steps(und_waves *waves, int count, double dt);

/* The waves as a surface to look at. */
case_water case_waves_water(const und_waves *waves, int nx, int nz);

/* How much of cos(m pi x / Lx) cos(n pi z / Lz) there is in the surface, m. */
double case_mode(const und_waves *waves, const und_waves_def *def, int m, int n);

/* The largest |h - level| over the wet samples. */
double case_largest(const und_waves *waves, const und_waves_def *def, double level);

/* Of the samples [first, last] of row z; see case_water_crest. */
double case_crest(const und_waves *waves, int z, int first, int last, double *height);

/* The defect of a volume ledger relative to the water that took part. */
double case_ledger_defect(const und_waves *waves);

extern case_fn case_km_modes, case_km_pulse, case_wave_speed, case_seiche, case_seiche_decay, case_converge;
extern case_fn case_step, case_refraction, case_linear_beach, case_thacker, case_thacker_surface;
extern case_fn case_lake_at_rest, case_rough_volume, case_hump;
extern case_fn case_ring, case_open_edge, case_slanted_edge, case_driven_edge, case_flow, case_waves_bodies;

#endif
