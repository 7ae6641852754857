#include "simulate.h"

und_status command_sim(const args *a, und_error *err)
{
    return simulate(a, "sim", false, err);
}
