/* The loop that `run` and `sim` share: simulate into a cache, and draw each frame as it comes. */
#ifndef UND_APP_SIMULATE_H
#define UND_APP_SIMULATE_H

#include "app.h"

/* `command`: "run", which makes pictures too, or "sim". */
und_status simulate(const args *a, const char *command, bool draw, und_error *err);

#endif
