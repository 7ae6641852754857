/* The validation cases of directed liquids (Rasmussen et al. 2004). */
#include "cases_direct.h"

/* clang-format off */
const validation_case direct_cases[] = {
    {"couette", "direct", case_direct_couette},
    {"viscous_blob", "direct", case_direct_blob},
    {"viscous_spreading", "direct", case_direct_spreading},
    {"viscous_film", "direct", case_direct_film},
    {0},
};
/* clang-format on */
