#ifndef UND_LIQUID_LEVELSET_H
#define UND_LIQUID_LEVELSET_H

#include "liquid/liquid.h"

#include <undine/levelset.h>

und_liquid *und_levelset_liquid(und_levelset *levelset);
und_grid und_levelset_grid(const und_levelset_def *def);
bool und_levelset_has_volumes(const und_levelset_def *def); /* cells have what they hold */

#endif
