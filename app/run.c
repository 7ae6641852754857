#include "simulate.h"

und_status command_run(const args *a, und_error *err)
{
    return simulate(a, "run", true, err);
}
