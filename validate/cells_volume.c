/* Water that is counted: a lake at rest, a tank that fills, and foam that ends. */
#include "validate/cells.h"

#include "geom/shape.h"
#include "spray/foam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* An island in a lake, and beside it, behind a dam, a dry valley below the level. */
static double lake_level(const void *context, double x, double y, double z, double t)
{
    const double *valley = context;
    (void)y;
    (void)z;
    (void)t;
    return x > *valley ? -1 : 0.63;
}

und_status case_cells_lake(case_sink *sink, und_error *err)
{
    enum { NX = 24, NY = 12, NZ = 12, STEPS = 10000 };
    static const char *const source = "Delestre et al. 2013, sec. 3.1.2";
    const double dx = 1.0 / NY, dry = 18 * dx;
    und_cells_def def = case_cells_tank(NX, NY, dx);
    def.n[2] = NZ;
    const und_shape island = {.kind = UND_SPHERE, .center = {0.6, 0.1, 0.5}, .radius = 0.65};
    const und_shape dam = {.kind = UND_BOX, .center = {17.5 * dx, 0.5, 0.5}, .half = {dx / 2, 0.5, 1}};
    const und_shape rock = {.kind = UND_BOX, .center = {1.2, 0, 0.2}, .half = {0.15, 0.3, 0.2}};
    const und_solid_def solids[] = {{.shape = &island}, {.shape = &dam}, {.shape = &rock}};
    def.solids = solids;
    def.solid_count = 3;
    def.track = UND_TRACK_HEIGHT;
    def.has_level = true;
    def.level = (und_value){.fn = lake_level, .context = &dry};
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    double start[NZ][NX], rise = 0, wet = 0, speed = 0;
    for (int z = 0; z < NZ; z++)
        for (int x = 0; x < NX; x++)
            start[z][x] = und_cells_height(cells, x, z);
    for (int i = 0; i < STEPS; i++)
        und_cells_step(cells, 0.01);
    for (int z = 0; z < NZ; z++)
        for (int x = 0; x < NX; x++) {
            rise = fmax(rise, fabs(und_cells_height(cells, x, z) - start[z][x]));
            if (x >= 18)
                wet = fmax(wet, und_cells_height(cells, x, z));
            for (int y = 0; y < NY; y++)
                for (int a = 0; a < 3; a++)
                    speed = fmax(speed, fabs(und_cells_velocity(cells, a, x, y, z)));
        }
    und_ledger ledger = und_cells_ledger(cells);
    und_cells_destroy(cells);
    case_report(sink, (case_result){"change of height, m", rise, 0, 1e-12 * 0.63, source});
    case_report(sink, (case_result){"speed, m/s", speed, 0, 1e-12, source});
    case_report(sink, (case_result){"change of volume / volume",
                                    (ledger.measured - ledger.start) / ledger.start, 0, 1e-13, source});
    case_report(sink, (case_result){"water in the valley, m", wet, 0, 0, source});
    return UND_OK;
}

/* Water comes in below the surface of a tank for 5 s: m2 by which its volume grew, and that the ledger
 * counts. */
static und_status fill_up(und_track track, double *volume, double *sources, und_error *err)
{
    const double dx = 1.0 / 40;
    und_cells_def def = case_cells_tank(40, 40, dx);
    const und_shape mouth = {.kind = UND_BOX, .center = {0, 0.1, 0}, .half = {0.1, 0.05, 1}};
    und_gate_def gate = {.side = 0, .shape = &mouth, .end = INFINITY};
    gate.wall.kind = UND_WALL_INFLOW;
    gate.wall.velocity[0].number = 0.5;
    def.gates = &gate;
    def.gate_count = 1;
    def.track = track;
    def.has_level = true;
    def.level.number = 0.5;
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    case_cells_run(cells, 5, 0.05);
    und_ledger ledger = und_cells_ledger(cells);
    *volume = (ledger.measured - ledger.start) / dx;
    *sources = ledger.sources / dx;
    und_cells_destroy(cells);
    return UND_OK;
}

/* Into the air: from a side, slantwise, down from the lid, up from the floor, and from a block inside. */
static und_status pour(case_sink *sink, und_error *err)
{
    static const und_shape left = {.kind = UND_BOX, .center = {0, 0.65, 0}, .half = {0.1, 0.05, 1}};
    static const und_shape high = {.kind = UND_BOX, .center = {0.35, 1, 0}, .half = {0.05, 0.1, 1}};
    static const und_shape low = {.kind = UND_BOX, .center = {0.35, 0, 0}, .half = {0.05, 0.1, 1}};
    static const und_shape block = {.kind = UND_BOX, .center = {0.4, 0.66, 0}, .half = {0.04, 0.04, 1}};
    static const struct {
        const char *name;
        int side;
        const und_shape *shape;
        double velocity[2], rate; /* m/s, m2/s */
    } list[] = {{"from a side", 0, &left, {0.8, 0}, 0.08},
                {"slantwise", 0, &left, {1.5, 1}, 0.15},
                {"from the lid", 3, &high, {0, -1}, 0.1},
                {"from the floor", 2, &low, {0, 2.5}, 0.25},
                {"from a block", -1, &block, {1, -1}, 0.16}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const double dx = 1.0 / 50, until = 0.9;
        und_cells_def def = case_cells_tank(40, 50, dx);
        und_gate_def gate = {.side = list[i].side, .shape = list[i].shape, .end = INFINITY};
        char what[64];
        gate.wall.kind = UND_WALL_INFLOW;
        gate.wall.velocity[0].number = list[i].velocity[0];
        gate.wall.velocity[1].number = list[i].velocity[1];
        def.gates = &gate;
        def.gate_count = 1;
        def.track = UND_TRACK_CHAINS;
        und_cells *cells = und_cells_create(&def, err);
        if (!cells)
            return err->status;
        case_cells_run(cells, until, 0.05);
        double exact = list[i].rate * until, volume = und_cells_ledger(cells).measured / dx;
        und_cells_destroy(cells);
        snprintf(what, sizeof what, "what came into the air, m2, chains, %s", list[i].name);
        case_report(sink, (case_result){what, volume, exact, 0.02 * exact, "A U t"});
    }
    return UND_OK;
}

und_status case_filling(case_sink *sink, und_error *err)
{
    static const char *const names[] = {"markers", "chains", "height"}, *const source = "A U t";
    static const double tolerance[] = {0.02, 0.02, 1e-12};
    const double exact = 0.1 * 0.5 * 5;
    for (int i = 0; i < 3; i++) {
        double volume = 0, sources = 0;
        char what[2][64];
        und_status status = fill_up((und_track)i, &volume, &sources, err);
        if (status != UND_OK)
            return status;
        snprintf(what[0], sizeof what[0], "what came in, by the ledger, m2, %s", names[i]);
        snprintf(what[1], sizeof what[1], "gain of the liquid, m2, %s", names[i]);
        case_report(sink, (case_result){what[0], sources, exact, 1e-12, source});
        case_report(sink, (case_result){what[1], volume, exact, tolerance[i] * exact, source});
    }
    return pour(sink, err);
}

/* Lives of foam from drops of one radius: on average in proportion to it, even between half and one and a
 * half. */
und_status case_foam_life(case_sink *sink, und_error *err)
{
    enum { BITS = 20000 };
    static const char *const source = FM96 ", section 4.3";
    static const double radii[] = {0.001, 0.004};
    for (int i = 0; i < 2; i++) {
        und_froth_def def = {.on = true, .life = 0.5, .most = BITS};
        und_foam *foam = und_foam_create(&def, 1, 1, err);
        if (!foam)
            return err->status;
        for (int k = 0; k < BITS; k++)
            und_foam_add(foam, 0, 0, radii[i]);
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .dy = 1, .dz = 1});
        und_status status = und_foam_frame(foam, &frame, err);
        const und_item *item = status == UND_OK ? und_frame_find(&frame, "foam/life") : NULL;
        double mean = 0, square = 0, exact = 0.5 * 1000 * radii[i];
        for (int k = 0; item && k < BITS; k++) {
            double life = (double)((const float *)item->data)[k];
            mean += life / BITS;
            square += life * life / BITS;
        }
        und_frame_clear(&frame);
        und_foam_destroy(foam);
        if (status != UND_OK)
            return status;
        char what[2][64];
        snprintf(what[0], sizeof what[0], "mean life, s, drops of %g mm", 1000 * radii[i]);
        snprintf(what[1], sizeof what[1], "its spread, s, drops of %g mm", 1000 * radii[i]);
        double spread = exact / sqrt(12); /* of an even distribution as wide as its mean */
        case_report(sink, (case_result){what[0], mean, exact, 4 * spread / sqrt(BITS), source});
        case_report(sink, (case_result){what[1], sqrt(square - mean * mean), spread, 0.02 * spread, source});
    }
    return UND_OK;
}
