/* The column model behind the interface of all liquids. */
#ifndef UND_LIQUID_COLUMNS_H
#define UND_LIQUID_COLUMNS_H

#include "liquid/liquid.h"

#include <undine/columns.h>

und_liquid *und_columns_liquid(und_columns *columns);

#endif
