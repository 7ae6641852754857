#include "geom/value.h"

#include <math.h>

void und_vector_at(const und_vector *v, double t, double out[3])
{
    if (v->fn) {
        v->fn(v->context, t, out);
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        out[axis] = v->constant[axis];
}

/* Where x falls among n samples from low to high: the sample below, and the fraction towards the next. */
static int place(double x, double low, double high, int n, double *fraction)
{
    double at = n > 1 && high > low ? (x - low) / (high - low) * (n - 1) : 0;
    at = fmin(fmax(at, 0), n - 1); /* NaN becomes 0 */
    int below = (int)at;
    if (below > n - 2)
        below = n > 1 ? n - 2 : 0;
    *fraction = n > 1 ? at - below : 0;
    return below;
}

double und_table_at(const und_table *table, double x, double z)
{
    double fx, fz;
    int ix = place(x, table->low[0], table->high[0], table->nx, &fx);
    int iz = place(z, table->low[1], table->high[1], table->nz, &fz);
    int dx = table->nx > 1, dz = table->nz > 1;
    const double *near = table->sample + (size_t)iz * (size_t)table->nx + ix;
    const double *far = near + dz * table->nx;
    return (near[0] * (1 - fx) + near[dx] * fx) * (1 - fz) + (far[0] * (1 - fx) + far[dx] * fx) * fz;
}

static double table_value(const void *context, double x, double y, double z, double t)
{
    (void)y;
    (void)t;
    return und_table_at(context, x, z);
}

und_value und_value_table(const und_table *table)
{
    return (und_value){.fn = table_value, .context = table};
}
