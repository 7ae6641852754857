/* What the validation cases of columns and pipes share. */
#ifndef UND_VALIDATE_COLUMNS_H
#define UND_VALIDATE_COLUMNS_H

#include "validate/water.h"

#include <undine/columns.h>

#define OH95 "O'Brien & Hodgins 1995"

/* A closed tank: ground at -depth, water at 0, one thread. */
und_columns_def case_columns_tank(int nx, int nz, double dx, double depth);

void case_columns_steps(und_columns *columns, int count, double dt);

/* The columns as a surface to look at. */
case_water case_columns_water(const und_columns *columns, const und_columns_def *def);

extern case_fn case_pipe_dispersion, case_pipe_growth, case_pipe_seiche, case_pipe_pulse, case_pipe_ring;
extern case_fn case_pipe_edge, case_pipe_lake, case_pipe_volume, case_static_load, case_ballistic;
extern case_fn case_draft, case_heave, case_impact, case_ballast, case_figure;

#endif
