#include "liquid/liquid.h"

#include "base/pages.h"
#include "base/status.h"

enum { MOST_CELLS = 1 << 30 };

und_status und_liquid_check_ranges(const char *model, const und_liquid_range *range, size_t count,
                                   und_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!(range[i].value >= range[i].low && range[i].value <= range[i].high))
            return und_error_set(err, UND_INVALID, "%s: %s: expected a number from %g to %g, found %g", model,
                                 range[i].key, range[i].low, range[i].high, range[i].value);
    return UND_OK;
}

und_status und_liquid_check_cells(const char *model, const int n[3], und_error *err)
{
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        if (n[a] < 1)
            return und_error_set(err, UND_INVALID, "%s: cells: expected at least 1 along each axis, found %d",
                                 model, n[a]);
        cells *= n[a];
    }
    if (cells > MOST_CELLS)
        return und_error_set(err, UND_INVALID, "%s: cells: %g are more than %d", model, cells, MOST_CELLS);
    return UND_OK;
}

und_status und_liquid_check_memory(const char *model, const int n[3], double bytes, und_error *err)
{
    const double have = und_memory_size();
    if (bytes > 0.9 * have)
        return und_error_set(err, UND_INVALID,
                             "%s: %d x %d x %d cells need about %.1f GB, this machine has %.1f GB", model,
                             n[0], n[1], n[2], bytes / 1e9, have / 1e9);
    return UND_OK;
}

void und_liquid_tell_solve(double *stats, double before, int iterations, double divergence, bool converged)
{
    stats[UND_LIQUID_MEAN_ITERATIONS] += (iterations - stats[UND_LIQUID_MEAN_ITERATIONS]) / (before + 1);
    stats[UND_LIQUID_MOST_ITERATIONS] = fmax(stats[UND_LIQUID_MOST_ITERATIONS], iterations);
    stats[UND_LIQUID_DIVERGENCE] = fmax(stats[UND_LIQUID_DIVERGENCE], divergence);
    stats[UND_LIQUID_UNCONVERGED] += !converged;
}
