/* Drops that leave liquid thinner than cells, and crests (`surface = "volume"`): they hold whole parts of a
 * cell, none is lost, and they are as large on a fine grid as on a coarse one. */
#include "validate/levelset.h"

#include "base/status.h"
#include "liquid/levelset.h"

#include <math.h>
#include <stdio.h>

typedef struct drops {
    double square, cube; /* sums of the diameters' powers, of all that were seen, m2, m3 */
    double parts;        /* of 2^-24 of a cell, in flight */
} drops;

static und_status count_drops(und_levelset *levelset, double part, drops *d, und_error *err)
{
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    const und_status status = liquid->class->frame(liquid, &frame, err);
    const und_item *item = status == UND_OK ? und_frame_find(&frame, "spray/radius") : NULL;
    d->parts = 0;
    for (size_t i = 0; item && i < und_item_count(item); i++) {
        const double r = (double)((const float *)item->data)[i], parts = 4 * M_PI / 3 * r * r * r / part;
        d->square += 4 * r * r;
        d->cube += 8 * r * r * r;
        d->parts += floor(parts + 0.5);
    }
    und_frame_clear(&frame);
    return status;
}

/* A dam of 4 litres breaks in a tank of n cells a side. */
static und_status splash(case_sink *sink, int n, drops *d, und_error *err)
{
    const double side = 0.3, dx = side / n, part = dx * dx * dx / (1 << 24);
    char text[96];
    und_status status = UND_OK;
    und_levelset_def def = case_levelset_tank(sink, n, n, n / 2, dx);
    def.surface_rule = UND_SURFACE_VOLUME;
    und_shape *dam = case_levelset_box(0.4 * side, 0.8 * side, side, err);
    und_fill_def fill = {.shape = dam};
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *levelset = dam ? und_levelset_create(&def, err) : NULL;
    for (int k = 1; k <= 24 && levelset && status == UND_OK; k++) {
        case_levelset_run(levelset, k / 48.0, 1.0 / 48);
        status = count_drops(levelset, part, d, err);
    }
    if (levelset && status == UND_OK) {
        const und_ledger l = und_levelset_ledger(levelset);
        snprintf(text, sizeof text, "%d cells: made or lost, of the volume", n);
        case_report(sink,
                    (case_result){text, l.correction / l.start, 0, 1e-12, "what left is in the air or back"});
        snprintf(text, sizeof text, "%d cells: parts of drops beside what left less what came back", n);
        case_report(sink, (case_result){text, d->parts - (l.spray_out - l.spray_back) / part, 0, 0.5,
                                        "whole numbers"});
    }
    status = levelset ? status : err->status;
    und_levelset_destroy(levelset);
    und_shape_destroy(dam);
    return status;
}

und_status case_levelset_spray(case_sink *sink, und_error *err)
{
    drops coarse = {0}, fine = {0};
    if (splash(sink, 32, &coarse, err) || splash(sink, 48, &fine, err))
        return err->status;
    case_report(sink, (case_result){"Sauter's mean diameter, 48 cells over 32",
                                    fine.cube / fine.square / (coarse.cube / coarse.square), 1, 0.2,
                                    "the flow makes drops, not the grid"});
    return UND_OK;
}
