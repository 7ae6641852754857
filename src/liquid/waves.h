/* Height-field water behind the model interface.  The public part is <undine/waves.h>. */
#ifndef UND_LIQUID_WAVES_H
#define UND_LIQUID_WAVES_H

#include "liquid/liquid.h"

#include <undine/waves.h>

und_liquid *und_waves_liquid(und_waves *waves);

#endif
