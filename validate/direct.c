/* The validation cases of directed liquids (Rasmussen et al. 2004). */
#include "validate/direct.h"

/* clang-format off */
const validation_case direct_cases[] = {
    {"two_drops", "direct", case_direct_drops},
    {"couette", "direct", case_direct_couette},
    {"poiseuille", "direct", case_direct_poiseuille},
    {"viscous_blob", "direct", case_direct_blob},
    {"viscous_spreading", "direct", case_direct_spreading},
    {"viscous_film", "direct", case_direct_film},
    {"viscous_sheet", "direct", case_direct_sheet},
    {"heat_spreads", "direct", case_direct_heat},
    {"heat_flies", "direct", case_direct_heat_flies},
    {"texture_turn", "direct", case_texture_turn},
    {"texture_shear", "direct", case_texture_shear},
    {"texture_sway", "direct", case_texture_sway},
    {"texture_flow", "direct", case_texture_flow},
    {"window_drop", "direct", case_direct_window_drop},
    {"window_blob", "direct", case_direct_window_blob},
    {"window_left", "direct", case_direct_window_left},
    {"soft_control", "direct", case_direct_soft},
    {"hard_control", "direct", case_direct_hard},
    {"surface_control", "direct", case_direct_surface},
    {"divergence_control", "direct", case_direct_growth},
    {"pocket", "direct", case_direct_pocket},
    {"ceiling", "direct", case_direct_ceiling},
    {"ball", "direct", case_direct_ball},
    {"friction", "direct", case_direct_friction},
    {"slope", "direct", case_direct_slope},
    {"sourced_grids", "direct", case_direct_sourcing},
    {0},
};
/* clang-format on */
