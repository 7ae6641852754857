/* What the validation cases of the cells share. */
#ifndef UND_VALIDATE_CELLS_H
#define UND_VALIDATE_CELLS_H

#include "validate/water.h"

#include <undine/cells.h>

#define FM96 "Foster & Metaxas 1996"

/* A tank of nx x ny cells of side dx, two-dimensional, one thread, no liquid yet. */
und_cells_def case_cells_tank(int nx, int ny, double dx);

/* All of it full of liquid. */
void case_cells_fill(und_cells_def *def);

/* Liquid in a box from the low corner; to be destroyed. */
und_shape *case_cells_box(double x, double y, double z, und_error *err);

/* Steps of at most dt until the time is reached. */
void case_cells_run(und_cells *cells, double until, double dt);

extern case_fn case_hydrostatic, case_taylor_green, case_channel, case_kovasznay, case_cavity,
    case_same_pressure;
extern case_fn case_falling_drop, case_cells_thrown, case_jet, case_dam_break, case_sloshing, case_wave_maker;
extern case_fn case_levelling, case_cells_shown, case_cells_normals;
extern case_fn case_film, case_cells_lake, case_filling, case_foam_life;
extern case_fn case_cells_draft, case_cells_heave, case_cells_ballast, case_cells_sink;

#endif
