/* Fields that are samples on a grid: linear between them, 0 outside. */
#include "base/status.h"
#include "control/elements.h"
#include "geom/value.h"

#include <math.h>
#include <stdlib.h>

#define GRID(member_) offsetof(und_field_grid, member_)

enum { SAMPLES_MAX = 1024 };

#define SAMPLES_TOTAL ((double)(1 << 26))
#define VALUE_MAX 1e6

const field und_field_grid_keys[] = {
    {"min", F_POINT, "m", .required = true, .offset = GRID(low), .doc = "where the first sample is"},
    {"max", F_POINT, "m", .required = true, .offset = GRID(high), .doc = "where the last sample is"},
    {"samples", F_COUNTS, NULL, 1, SAMPLES_MAX, true, GRID(n), .doc = "how many along x, y and z"},
    {"value", F_FLOW, "m/s or m/s2", 0, VALUE_MAX, true, GRID(value),
     .doc = "what it is there; asked for once, before the first step"},
    {0}};

typedef struct samples {
    und_field_grid grid;
    double per_metre[3];
    float at[]; /* where the values were asked for */
} samples;

static und_status check(const und_field_grid *g, und_error *err)
{
    double count = 1;
    for (int a = 0; a < 3; a++) {
        count *= g->n[a];
        if (g->n[a] < 1 || g->n[a] > SAMPLES_MAX || (g->n[a] > 1 && !(g->high[a] > g->low[a])))
            return und_error_set(err, UND_INVALID,
                                 "a grid of samples: expected from 1 to %d along %c and max above min, found "
                                 "%d from %g to %g",
                                 (int)SAMPLES_MAX, "xyz"[a], g -> n[a], g -> low[a], g -> high[a]);
    }
    if (!(count <= SAMPLES_TOTAL))
        return und_error_set(err, UND_INVALID, "a grid of samples: expected at most 2^26, found %g", count);
    return UND_OK;
}

static void ask(samples *s)
{
    const und_field_grid *g = &s->grid;
    float *to = s->at;
    for (int z = 0; z < g->n[2]; z++)
        for (int y = 0; y < g->n[1]; y++)
            for (int x = 0; x < g->n[0]; x++) {
                const int at[3] = {x, y, z};
                double p[3];
                for (int a = 0; a < 3; a++)
                    p[a] = g->n[a] > 1 ? g->low[a] + (g->high[a] - g->low[a]) * at[a] / (g->n[a] - 1)
                                       : 0.5 * (g->low[a] + g->high[a]);
                for (int a = 0; a < 3; a++)
                    *to++ = (float)und_value_at(&g->value[a], p[0], p[1], p[2], 0);
            }
    s->grid.sample = s->at;
}

static void *prepare(const void *data, und_error *err)
{
    const und_field_grid *g = data;
    if (check(g, err) != UND_OK)
        return NULL;
    size_t count = 3 * (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
    samples *s = und_alloc(1, sizeof *s + (g->sample ? 0 : count * sizeof(float)), "a grid of samples", err);
    if (!s)
        return NULL;
    s->grid = *g;
    if (!g->sample)
        ask(s);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(s->grid.sample[i])) {
            und_error_set(err, UND_INVALID, "a grid of samples: sample %zu is not a finite number", i / 3);
            free(s);
            return NULL;
        }
    for (int a = 0; a < 3; a++)
        s->per_metre[a] = g->n[a] > 1 ? (g->n[a] - 1) / (g->high[a] - g->low[a]) : 0;
    return s;
}

static void bounds(const void *ready, double time, double low[3], double high[3])
{
    const und_field_grid *g = &((const samples *)ready)->grid;
    (void)time;
    for (int a = 0; a < 3; a++) {
        low[a] = g->n[a] > 1 ? g->low[a] : -INFINITY;
        high[a] = g->n[a] > 1 ? g->high[a] : INFINITY;
    }
}

/* The sample below and the part of the way to the next; false outside. */
static bool place_in(const samples *s, int axis, double x, int *below, float *part)
{
    int n = s->grid.n[axis];
    double at = (x - s->grid.low[axis]) * s->per_metre[axis];
    *below = 0;
    *part = 0;
    if (n == 1)
        return true;
    if (!(at >= 0 && at <= n - 1))
        return false;
    *below = (int)at < n - 1 ? (int)at : n - 2;
    *part = (float)(at - *below);
    return true;
}

/* The samples from `first` to `last` along x, between those in y and z. */
static void line_of(const samples *s, int axis, const double place[3], int first, int last, float *out)
{
    const int *n = s->grid.n;
    int y, z;
    float ty, tz;
    bool in = place_in(s, 1, place[1], &y, &ty);
    in &= place_in(s, 2, place[2], &z, &tz);
    ptrdiff_t row = 3 * (ptrdiff_t)n[0], dy = n[1] > 1 ? row : 0, dz = n[2] > 1 ? row * n[1] : 0;
    const float *p = s->grid.sample + axis + row * (y + (ptrdiff_t)n[1] * z);
    for (int x = first; x <= last; x++) {
        const float *at = p + 3 * (ptrdiff_t)x;
        float front = at[0] + ty * (at[dy] - at[0]), back = at[dz] + ty * (at[dz + dy] - at[dz]);
        out[x - first] = in ? front + tz * (back - front) : 0;
    }
}

static void row(const void *ready, int axis, const double place[3], double step, int count, double time,
                float *out)
{
    const samples *s = ready;
    const int most = s->grid.n[0] - 1;
    float line[SAMPLES_MAX + 1];
    double start = (place[0] - s->grid.low[0]) * s->per_metre[0], by = step * s->per_metre[0];
    int first = (int)fmin(fmax(floor(start), 0), most);
    int last = (int)fmin(fmax(floor(start + by * (count - 1)) + 1, 0), most);
    (void)time;
    line_of(s, axis, place, first, last, line);
    line[last - first + 1] = line[last - first]; /* beyond the last, of which there is no part */
    for (int i = 0; i < count; i++) {
        double at = start + by * i;
        bool in = most == 0 || (at >= 0 && at <= most);
        double inside = in ? at - first : 0;
        int below = (int)inside;
        float part = (float)(inside - below);
        out[i] = in ? line[below] + part * (line[below + 1] - line[below]) : 0;
    }
}

const und_field_kind und_field_grid_kind = {.name = "grid",
                                            .size = sizeof(und_field_grid),
                                            .prepare = prepare,
                                            .release = free,
                                            .bounds = bounds,
                                            .row = row};
