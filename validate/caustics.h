#ifndef UND_VALIDATE_CAUSTICS_H
#define UND_VALIDATE_CAUSTICS_H

#include "validate/cases.h"

case_fn case_caustic_flat, case_caustic_bulge, case_caustic_sine;

#endif
