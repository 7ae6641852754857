#include "grid/mac_frame.h"

#include <string.h>

static und_item_def def_of(const und_mac *mac, const char *name, const char *unit, und_type type, int axis)
{
    und_item_def def = {.name = name,
                        .unit = unit,
                        .kind = axis < UND_MAC_CELLS ? UND_FACES : UND_FIELD,
                        .type = type,
                        .rank = 3};
    for (int a = 0; a < 3; a++)
        def.dim[2 - a] = (size_t)mac->n[a] + (a == axis);
    return def;
}

und_item *und_mac_item(const und_mac *mac, und_frame *frame, const char *name, const char *unit,
                       und_type type, int axis, und_error *err)
{
    const und_item_def def = def_of(mac, name, unit, type, axis);
    return und_frame_add(frame, &def, err);
}

/* Where the rows of an item begin in the grid: each is n[0] long, or one more. */
typedef struct rows {
    const und_mac *mac;
    int low[3], y, z;
} rows;

static rows rows_of(const und_mac *mac, int axis)
{
    rows r = {.mac = mac, .low = {-(axis == 0), -(axis == 1), -(axis == 2)}};
    r.y = r.low[1];
    r.z = r.low[2];
    return r;
}

/* False behind the last. */
static bool next_row(rows *r, size_t *begin, size_t *count)
{
    if (r->z == r->mac->n[2])
        return false;
    *begin = und_mac_at(r->mac, r->low[0], r->y, r->z);
    *count = (size_t)(r->mac->n[0] - r->low[0]);
    if (++r->y == r->mac->n[1]) {
        r->y = r->low[1];
        r->z++;
    }
    return true;
}

enum { PART = 64 }; /* values of an item that are written or not */

/* Values of a row times a factor, if not all of them are what is there already; whether they are not. */
static bool add_values(const float *from, float factor, float outside, size_t count, float *out)
{
    float value[PART];
    for (size_t i = 0; i < count; i++)
        value[i] = factor * from[i];
    const bool any = memcmp(value, &outside, sizeof outside) != 0 ||
                     memcmp(value, value + 1, (count - 1) * sizeof *value) != 0;
    if (any)
        memcpy(out, value, count * sizeof *out);
    return any;
}

/* Of a grid that does not have all rows: the parts that it has. */
static und_status add_some(const und_item_def *def, const und_mac *mac, und_frame *frame, int axis,
                           const float *from, float factor, double outside, und_error *err)
{
    und_item *item = und_frame_add_rows(frame, def, PART, outside, err);
    float *out = item ? item->data : NULL;
    rows r = rows_of(mac, axis);
    und_span part = und_mac_part(mac, r.y, r.z);
    size_t first = 0;
    for (size_t begin, count; item && next_row(&r, &begin, &count); first += count) {
        part.begin = part.begin > r.low[0] ? part.begin : r.low[0];
        part.end = part.end < mac->n[0] ? part.end : mac->n[0];
        const size_t end = part.begin < part.end ? (size_t)(part.end - r.low[0]) : 0;
        for (size_t i = (size_t)(part.begin - r.low[0]), some; i < end; i += some) {
            some = PART - (first + i) % PART;
            some = some < end - i ? some : end - i;
            if (add_values(from + begin + i, factor, (float)outside, some, out + first + i))
                und_item_add_row(item, (first + i) / PART);
        }
        part = und_mac_part(mac, r.y, r.z);
    }
    return item ? UND_OK : err->status;
}

und_status und_mac_add_floats(const und_mac *mac, und_frame *frame, const char *name, const char *unit,
                              int axis, const float *from, double scale, double outside, und_error *err)
{
    const und_item_def def = def_of(mac, name, unit, UND_F32, axis);
    const float factor = (float)scale;
    if (mac->present)
        return add_some(&def, mac, frame, axis, from, factor, (double)(factor * (float)outside), err);
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return UND_FAILED;
    float *out = item->data;
    rows r = rows_of(mac, axis);
    for (size_t begin, count; next_row(&r, &begin, &count); out += count)
        for (size_t i = 0; i < count; i++)
            out[i] = factor * from[begin + i];
    return UND_OK;
}

und_status und_mac_add_doubles(const und_mac *mac, und_frame *frame, const char *name, const char *unit,
                               int axis, const double *from, double scale, und_error *err)
{
    und_item *item = und_mac_item(mac, frame, name, unit, UND_F32, axis, err);
    if (!item)
        return UND_FAILED;
    float *out = item->data;
    rows r = rows_of(mac, axis);
    for (size_t begin, count; next_row(&r, &begin, &count); out += count)
        for (size_t i = 0; i < count; i++)
            out[i] = (float)(scale * from[begin + i]);
    return UND_OK;
}

void und_mac_take_floats(const und_mac *mac, const float *from, int axis, double scale, float *to)
{
    float factor = (float)scale;
    rows r = rows_of(mac, axis);
    for (size_t begin, count; next_row(&r, &begin, &count); from += count)
        for (size_t i = 0; i < count; i++)
            to[begin + i] = factor * from[i];
}
