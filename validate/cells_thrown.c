/* Liquid that is thrown keeps its shape as long as it flies. */
#include "liquid/cells.h"
#include "validate/cells.h"

#include "geom/shape.h"

#include <math.h>
#include <stdio.h>

/* What the liquid's markers, or the chains around it, span along each axis, m. */
static und_status look(und_cells *cells, const und_cells_def *def, double size[3], und_error *err)
{
    und_liquid *liquid = und_cells_liquid(cells);
    und_frame frame = und_frame_empty(0, 0, und_cells_grid(def));
    und_status status = liquid->class->frame(liquid, &frame, err);
    size_t count = 0;
    const float *place = und_frame_points(
        &frame, def->track == UND_TRACK_CHAINS ? "chain/position" : "markers/position", &count);
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            low = fmin(low, (double)place[3 * i + (size_t)a]);
            high = fmax(high, (double)place[3 * i + (size_t)a]);
        }
        size[a] = high - low;
    }
    und_frame_clear(&frame);
    return status;
}

typedef struct thrown {
    const char *name;
    und_track track;
    int deep;           /* cells along z */
    double velocity[3]; /* m/s */
} thrown;

/* The most that a disc or ball of 7 cells grows along an axis during 0.15 s of flight, in cells. */
static und_status growth(const thrown *t, double shift, double *most, und_error *err)
{
    const double dx = 0.02, until = 0.15, mid = t->deep == 1 ? 0.5 * dx : 0.3;
    und_cells_def def = case_cells_tank(30, 40, dx);
    const und_shape ball = {.kind = UND_SPHERE, .center = {0.3 + shift, 0.5 + shift, mid}, .radius = 0.07};
    und_fill_def fill = {.shape = &ball};
    for (int a = 0; a < 3; a++)
        fill.velocity[a].number = t->velocity[a];
    def.n[2] = t->deep;
    def.track = t->track;
    def.fills = &fill;
    def.fill_count = 1;
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    double before[3], after[3];
    und_status status = look(cells, &def, before, err);
    case_cells_run(cells, until, 1.0 / 72);
    status = status == UND_OK ? look(cells, &def, after, err) : status;
    und_cells_destroy(cells);
    for (int a = 0; status == UND_OK && a < (t->deep == 1 ? 2 : 3); a++)
        *most = fmax(*most, fabs(after[a] - before[a]) / dx);
    return status;
}

und_status case_cells_thrown(case_sink *sink, und_error *err)
{
    static const thrown list[] = {
        {"disc of markers, down", UND_TRACK_MARKERS, 1, {0, -1.5, 0}},
        {"disc of markers, slantwise", UND_TRACK_MARKERS, 1, {1.1, -0.8, 0}},
        {"disc of markers, up", UND_TRACK_MARKERS, 1, {-0.4, 1.5, 0}},
        {"disc of chains, down", UND_TRACK_CHAINS, 1, {0, -1.5, 0}},
        {"disc of chains, slantwise", UND_TRACK_CHAINS, 1, {1.1, -0.8, 0}},
        {"disc of chains, up", UND_TRACK_CHAINS, 1, {-0.4, 1.5, 0}},
        {"ball of markers, down", UND_TRACK_MARKERS, 30, {0, -1.5, 0}},
        {"ball of markers, slantwise", UND_TRACK_MARKERS, 30, {0.9, -0.6, -0.7}},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double most = 0;
        char what[80];
        for (int k = 0; k < (list[i].deep > 1 ? 1 : 3); k++)
            if (growth(&list[i], 0.0037 * (k + 1), &most, err) != UND_OK)
                return err->status;
        snprintf(what, sizeof what, "change of its size, cells, %s", list[i].name);
        case_report(sink, (case_result){what, most, 0, 0.1, "Galilei: all of it falls alike"});
    }
    return UND_OK;
}
