#ifndef UND_LIQUID_LEVELSET_H
#define UND_LIQUID_LEVELSET_H

#include "liquid/liquid.h"

#include <undine/levelset.h>

und_liquid *und_levelset_liquid(und_levelset *levelset);
und_grid und_levelset_grid(const und_levelset_def *def);
bool und_levelset_has_volumes(const und_levelset_def *def); /* cells have what they hold */
/* The divergence that the flow was to have in a cell in the last substep, 1/s: where cells hold their
 * volumes, what presses out what is too much of it. */
double und_levelset_asked(const und_levelset *levelset, int x, int y, int z);

#endif
