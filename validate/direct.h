/* What the validation cases of directed liquids share. */
#ifndef UND_VALIDATE_DIRECT_H
#define UND_VALIDATE_DIRECT_H

#include "validate/cases.h"

extern case_fn case_direct_drops;
extern case_fn case_direct_couette, case_direct_poiseuille, case_direct_blob, case_direct_spreading,
    case_direct_film, case_direct_heat, case_direct_heat_flies, case_direct_sheet;
extern case_fn case_texture_turn, case_texture_shear, case_texture_sway, case_texture_flow;
extern case_fn case_direct_window_drop, case_direct_window_blob, case_direct_window_left;
extern case_fn case_direct_soft, case_direct_hard, case_direct_surface, case_direct_growth,
    case_direct_pocket;
extern case_fn case_direct_ceiling, case_direct_ball, case_direct_friction, case_direct_slope;

extern case_fn case_direct_sourcing;

#endif
