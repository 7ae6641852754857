/* Simulations in tests: made, or the test fails. */
#ifndef UND_TESTS_SIM_MODEL_H
#define UND_TESTS_SIM_MODEL_H

#include "tests/test.h"

#include "scene/sim.h"

static inline und_sim *start(und_scene *scene, int threads)
{
    und_error err = {0};
    und_sim *sim = und_sim_create(scene, threads, &err);
    if (!sim)
        fail_msg("%s", err.text);
    return sim;
}

#endif
