/* Grids that source others: a pipeline of two against one large grid. */
#include "validate/direct.h"
#include "validate/levelset.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };
static const double UNTIL = 0.9, FRAME = 1.0 / 48, ARRIVES = 0.002; /* s, s, m2 */

/* Half a metre by two; cells in a metre, which is how high the seam is. */
typedef struct plan {
    und_surface_rule rule;
    int cells;
} plan;

/* What the upper grid keeps, in memory. */
typedef struct memory {
    size_t values;
    int count;
    double time[MOST];
    float *record[MOST];
} memory;

static und_status put(void *context, long index, double time, const float *values, und_error *err)
{
    memory *m = context;
    if (index != m->count || index >= MOST || !(m->record[index] = malloc(m->values * sizeof(float) + 1)))
        return und_error_set(err, UND_FAILED, "no room for band %ld", index);
    memcpy(m->record[index], values, m->values * sizeof(float));
    m->time[m->count++] = time;
    return UND_OK;
}

static und_status fetch(void *context, double time, const float *value[2], double when[2], und_error *err)
{
    const memory *m = context;
    int i = 0;
    while (i + 2 < m->count && m->time[i + 1] < time - 1e-9)
        i++;
    for (int k = 0; k < 2; k++) {
        value[k] = m->record[i + k];
        when[k] = m->time[i + k];
    }
    if (time > when[1] + 1e-9)
        return und_error_set(err, UND_FAILED, "no band at %g s", time);
    return UND_OK;
}

typedef struct stream_def {
    und_levelset_def def;
    und_element_def spout;
} stream_def;

/* A stream down a wall, from y up. */
static void make_def(stream_def *d, case_sink *sink, const plan *p, const und_shape *shape, int low,
                     int cells)
{
    const double dx = 1.0 / p->cells;
    d->def = case_levelset_tank(sink, p->cells / 2, cells, 1, dx);
    d->def.surface_rule = p->rule;
    d->def.origin[1] = low * dx;
    d->def.open[2] = true;
    d->spout = (und_element_def){.role = UND_ELEMENT_SOURCE, .shape = shape, .end = INFINITY};
    d->spout.field.value[1].number = -1;
    d->def.elements = &d->spout;
    d->def.element_count = 1;
}

/* What is compared: when the stream comes to a height, how much passed the band, how thick the stream is. */
typedef struct seen {
    double arrival, volume, thick, step;
} seen;

static double thick_at(const und_levelset *l, const plan *p, int y)
{
    double sum = 0;
    for (int x = 0; x < p->cells / 2; x++)
        sum += fmin(fmax(0.5 - und_levelset_distance(l, x, y, 0) * p->cells, 0), 1);
    return sum;
}

static double below(const und_levelset *l, const plan *p, int y)
{
    double sum = 0;
    while (y-- > 0)
        sum += thick_at(l, p, y);
    return sum;
}

/* It comes once ARRIVES have passed: of its tip no two grids break off the same. */
static seen look(und_levelset *l, const plan *p)
{
    const int mark = 5 * p->cells / 16;
    const double enough = ARRIVES * p->cells * p->cells;
    seen s = {0};
    for (double before = 0, after; und_levelset_time(l) < UNTIL - 1e-9; before = after) {
        const double from = und_levelset_time(l);
        und_levelset_step(l, FRAME);
        after = below(l, p, mark);
        if (s.arrival == 0 && after > enough) {
            s.arrival = from + (enough - before) / (after - before) * FRAME;
            s.step = und_levelset_last(l).dt;
        }
    }
    s.thick = thick_at(l, p, p->cells / 2);
    s.volume = below(l, p, p->cells);
    return s;
}

static und_levelset *run(const und_levelset_def *def, const plan *p, seen *s, und_error *err)
{
    und_levelset *l = und_levelset_create(def, err);
    if (l)
        *s = look(l, p);
    return l;
}

static const char *const source = "one grid over both (Rasmussen et al. 2004, 5.4)";

static void report(case_sink *sink, const plan *p, const char *what, double value, double expected,
                   double tolerance, const char *why)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s, %d cells", p->rule == UND_SURFACE_VOLUME ? "volumes: " : "", what,
             p->cells);
    case_report(sink, (case_result){text, value, expected, tolerance, why});
}

static void compare(case_sink *sink, const plan *p, const und_levelset *one, const und_levelset *a,
                    const und_levelset *b, const seen *all, const seen *both)
{
    const bool volume = p->rule == UND_SURFACE_VOLUME;
    const und_ledger left = und_levelset_ledger(a), came = und_levelset_ledger(b);
    report(sink, p, "front arrives, s later", both->arrival - all->arrival, 0, all->step, source);
    report(sink, p, "volume over the band, of what left", came.sources / left.left, 1, volume ? 1e-12 : 0.01,
           "what leaves one grid comes to the next");
    report(sink, p, "liquid below the band, of one grid's", both->volume / all->volume, 1, 0.05, source);
    report(sink, p, "stream's thickness, cells more", both->thick - all->thick, 0, 0.5, source);
    const double more = left.correction + came.correction - und_levelset_ledger(one).correction;
    report(sink, p, "volume gained by two grids, of what came", more / left.sources, 0, volume ? 1e-12 : 0.01,
           source);
}

static und_status run_plan(case_sink *sink, const plan *p, und_error *err)
{
    const int n = p->cells;
    const double high = (2 * n - n / 16) * (1.0 / n), wide = 12.0 / 64;
    und_shape *shape = und_shape_create(&(und_shape){.kind = UND_BOX,
                                                     .center = {(wide - 1) / 2, (high + 2) / 2, 0},
                                                     .half = {(wide + 1) / 2, (2 - high) / 2, 1}},
                                        err);
    stream_def whole, upper, lower;
    memory *kept = und_alloc(1, sizeof *kept, "bands", err);
    if (!shape || !kept)
        return err->status;
    make_def(&whole, sink, p, shape, 0, 2 * n);
    make_def(&upper, sink, p, shape, n, n);
    make_def(&lower, sink, p, shape, 0, n + UND_BAND);
    und_upstream_def above = {.name = "upper",
                              .n = {n / 2, n, 1},
                              .origin = {0, n * upper.def.dx, 0},
                              .open[2] = true,
                              .volume = p->rule == UND_SURFACE_VOLUME,
                              .fetch = fetch,
                              .context = kept};
    kept->values = und_levelset_bands(above.n, above.open, false, above.volume).values;
    upper.def.sink = (und_band_sink){put, kept};
    lower.def.element_count = 0;
    lower.def.upstream_count = 1;
    lower.def.upstreams = &above;
    seen all, top, both;
    und_levelset *one = run(&whole.def, p, &all, err), *a = run(&upper.def, p, &top, err),
                 *b = run(&lower.def, p, &both, err);
    if (one && a && b)
        compare(sink, p, one, a, b, &all, &both);
    und_levelset_destroy(one);
    und_levelset_destroy(a);
    und_levelset_destroy(b);
    for (int i = 0; i < kept->count; i++)
        free(kept->record[i]);
    free(kept);
    und_shape_destroy(shape);
    return one && a && b ? UND_OK : err->status;
}

und_status case_direct_sourcing(case_sink *sink, und_error *err)
{
    static const plan plans[] = {
        {UND_SURFACE_PARTICLES, 64}, {UND_SURFACE_VOLUME, 32}, {UND_SURFACE_VOLUME, 64}};
    und_status status = UND_OK;
    for (size_t i = 0; i < sizeof plans / sizeof *plans && status == UND_OK; i++)
        status = run_plan(sink, &plans[i], err);
    return status;
}
