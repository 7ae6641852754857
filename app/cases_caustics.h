#ifndef UND_APP_CASES_CAUSTICS_H
#define UND_APP_CASES_CAUSTICS_H

#include "cases.h"

case_fn case_caustic_flat, case_caustic_bulge, case_caustic_sine;

#endif
