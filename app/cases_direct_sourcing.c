/* Grids that source others: a pipeline of two against one large grid. */
#include "cases_direct.h"
#include "cases_levelset.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 32, TALL = 128, UPPER = 64, MOST = 4000 };
static const double DX = 1.0 / 64, UNTIL = 0.9, FRAME = 1.0 / 48;

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
static void make_def(stream_def *d, case_sink *sink, const und_shape *shape, int low, int cells)
{
    d->def = case_levelset_tank(sink, WIDE, cells, 1, DX);
    d->def.origin[1] = low * DX;
    d->def.open[2] = true;
    d->spout = (und_element_def){.role = UND_ELEMENT_SOURCE, .shape = shape, .end = INFINITY};
    d->spout.field.value[1].number = -1;
    d->def.elements = &d->spout;
    d->def.element_count = 1;
}

/* What is compared: when liquid comes to a height, how much passed the band, how thick the stream is. */
typedef struct seen {
    double arrival, volume, thick, step;
} seen;

static double volume_below(const und_levelset *l, int rows)
{
    double sum = 0;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < WIDE; x++)
            sum += fmin(fmax(0.5 - und_levelset_distance(l, x, y, 0) / DX, 0), 1);
    return sum * DX * DX * DX;
}

static seen look(und_levelset *l)
{
    enum { MARK = 20 };
    seen s = {0};
    while (und_levelset_time(l) < UNTIL - 1e-9) {
        double before = INFINITY, from = und_levelset_time(l);
        for (int x = 0; x < WIDE; x++)
            before = fmin(before, und_levelset_distance(l, x, MARK, 0));
        und_levelset_step(l, FRAME);
        double after = INFINITY;
        for (int x = 0; x < WIDE; x++)
            after = fmin(after, und_levelset_distance(l, x, MARK, 0));
        if (s.arrival == 0 && after < 0) {
            s.arrival = from + (before > 0 ? before / (before - after) : 0) * FRAME;
            s.step = und_levelset_last(l).dt;
        }
    }
    for (int x = 0; x < WIDE; x++)
        s.thick += fmin(fmax(0.5 - und_levelset_distance(l, x, UPPER / 2, 0) / DX, 0), 1);
    s.volume = volume_below(l, UPPER);
    return s;
}

static und_levelset *run(const und_levelset_def *def, seen *s, und_error *err)
{
    und_levelset *l = und_levelset_create(def, err);
    if (l)
        *s = look(l);
    return l;
}

und_status case_direct_sourcing(case_sink *sink, und_error *err)
{
    static const char *const source = "one grid over both (Rasmussen et al. 2004, 5.4)";
    und_vec3 low = {-1, (TALL - 4) * DX, -1}, high = {6 * DX, TALL * DX, 1};
    und_shape *shape =
        und_shape_create(&(und_shape){.kind = UND_BOX,
                                      .center = {(low.x + high.x) / 2, (low.y + high.y) / 2, 0},
                                      .half = {(high.x - low.x) / 2, (high.y - low.y) / 2, 1}},
                         err);
    stream_def whole, upper, lower;
    memory *kept = und_alloc(1, sizeof *kept, "bands", err);
    if (!shape || !kept)
        return err->status;
    make_def(&whole, sink, shape, 0, TALL);
    make_def(&upper, sink, shape, UPPER, TALL - UPPER);
    make_def(&lower, sink, shape, 0, UPPER + UND_BAND);
    kept->values = und_levelset_bands(upper.def.n, upper.def.open, false).values;
    upper.def.sink = (und_band_sink){put, kept};
    und_upstream_def above = {.name = "upper", .n = {WIDE, TALL - UPPER, 1}, .origin = {0, UPPER * DX, 0}};
    above.open[2] = true;
    above.fetch = fetch;
    above.context = kept;
    lower.def.element_count = 0;
    lower.def.upstream_count = 1;
    lower.def.upstreams = &above;
    seen all, top, bottom;
    und_levelset *one = run(&whole.def, &all, err), *a = run(&upper.def, &top, err),
                 *b = run(&lower.def, &bottom, err);
    if (one && a && b) {
        und_ledger left = und_levelset_ledger(a), came = und_levelset_ledger(b);
        case_report(
            sink, (case_result){"front arrives, s later", bottom.arrival - all.arrival, 0, all.step, source});
        case_report(sink, (case_result){"volume over the band, of what left", came.sources / left.left, 1,
                                        0.01, "what leaves one grid comes to the next"});
        case_report(sink, (case_result){"liquid below the band, of one grid's", bottom.volume / all.volume, 1,
                                        0.05, source});
        case_report(
            sink, (case_result){"stream's thickness, cells more", bottom.thick - all.thick, 0, 0.5, source});
        double more = left.correction + came.correction - und_levelset_ledger(one).correction;
        case_report(sink, (case_result){"volume gained by two grids, of what came", more / left.sources, 0,
                                        0.01, source});
    }
    und_levelset_destroy(one);
    und_levelset_destroy(a);
    und_levelset_destroy(b);
    for (int i = 0; i < kept->count; i++)
        free(kept->record[i]);
    free(kept);
    und_shape_destroy(shape);
    return one && a && b ? UND_OK : err->status;
}
