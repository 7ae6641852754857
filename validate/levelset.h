/* What the validation cases of the particle level set share. */
#ifndef UND_VALIDATE_LEVELSET_H
#define UND_VALIDATE_LEVELSET_H

#include "validate/cases.h"

#include "geom/shape.h"

#include <undine/levelset.h>

/* A tank of cells of side dx, no liquid yet; nz == 1: two-dimensional. */
und_levelset_def case_levelset_tank(const case_sink *sink, int nx, int ny, int nz, double dx);

/* A box from the low corner; to be destroyed. */
und_shape *case_levelset_box(double x, double y, double z, und_error *err);

/* Two drops of 10 cells' radius, 4 apart, that run into each other at CASE_DROP_SPEED each, without gravity,
 * in CASE_DROPS_X by CASE_DROPS_Y by CASE_DROPS_Y cells of 1 cm. */
enum { CASE_DROP_R = 10, CASE_DROPS_X = 64, CASE_DROPS_Y = 40 };
#define CASE_DROP_SPEED 0.5 /* m/s */
und_levelset *case_levelset_drops(const case_sink *sink, und_surface_rule rule, bool free_air, uint64_t seed,
                                  und_levelset_def *def, und_error *err);

/* Steps of dt, the last one shorter, until the time is reached. */
void case_levelset_run(und_levelset *levelset, double until, double dt);

/* Where the surface is along an axis from a cell's centre on, m from the domain's low corner: the last place
 * where phi goes up through 0; 0 where there is no liquid. */
double case_levelset_surface(const und_levelset *levelset, const und_levelset_def *def, int axis, int x,
                             int y, int z);

/* The largest |velocity| of faces that are next to liquid, m/s. */
double case_levelset_fastest(const und_levelset *levelset, const und_levelset_def *def);

extern case_fn case_levelset_rest, case_levelset_fall, case_levelset_sloshing, case_levelset_dam,
    case_levelset_turning, case_levelset_divergence, case_levelset_volume, case_levelset_ellipse,
    case_levelset_channel, case_levelset_source, case_levelset_cup, case_levelset_thin,
    case_levelset_box_turns, case_levelset_slot, case_levelset_pushed, case_levelset_viscous_wave;
extern case_fn case_levelset_taylor_green, case_levelset_filling, case_levelset_jet, case_levelset_merge,
    case_levelset_grids, case_levelset_drift;
extern case_fn case_levelset_hold_shape, case_levelset_hold_puddle, case_levelset_hold_ball,
    case_levelset_hold_cup, case_levelset_hold_sheet, case_levelset_hold_source, case_levelset_hold_pool,
    case_levelset_hold_pieces, case_levelset_hold_pushed, case_levelset_hold_cups, case_levelset_hold_off,
    case_levelset_hold_litre, case_levelset_hold_drawn, case_levelset_climb, case_levelset_spray,
    case_levelset_rest_beside;
extern case_fn case_levelset_zalesak, case_levelset_vortex, case_levelset_deformation,
    case_levelset_redistance;

#endif
