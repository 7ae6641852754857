/* Fields that are values: constant, or functions of place and time. */
#include "control/elements.h"
#include "geom/value.h"

static void row(const void *ready, int axis, const double place[3], double step, int count, double time,
                float *out)
{
    const und_value *v = (const und_value *)ready + axis;
    if (!v->fn) {
        for (int i = 0; i < count; i++)
            out[i] = (float)v->number;
        return;
    }
    for (int i = 0; i < count; i++)
        out[i] = (float)und_value_at(v, place[0] + i * step, place[1], place[2], time);
}

static bool serial(const void *ready)
{
    const und_value *v = ready;
    return v[0].fn || v[1].fn || v[2].fn;
}

const und_field_kind und_field_value_kind = {
    .name = "value", .size = 3 * sizeof(und_value), .row = row, .serial = serial};
