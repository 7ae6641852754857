/* What runs the passes: the threads of this machine, or a card beside them. */
#ifndef UND_LIQUID_DEVICES_H
#define UND_LIQUID_DEVICES_H

#include "base/card.h"

const und_card_kernels *und_devices_kernels(und_card_kernels *kernels); /* the level set's */

/* By its name: "cpu", "gpu", or for tests "process".  From here on whoever is made runs on it; NULL where
 * that is the machine itself. */
und_status und_devices_open(const char *name, und_card **card, und_error *err);

#endif
