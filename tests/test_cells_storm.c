/* Random violent scenes: dam breaks against obstacles, inflows into nearly full boxes, thin films on steps,
 * gates that switch, walls inside the liquid that come and go, gravity aslant, thick liquids, cells that are
 * no cubes.  Whatever they do, velocities stay bounded, steps do not shrink to nothing, and the ledger
 * closes. */
#include "tests/test.h"

#include "base/random.h"
#include "geom/shape.h"
#include "grid/frame.h"
#include "liquid/cells.h"

enum { SOLIDS = 3, FILLS = 2, GATES = 4, SUBSTEPS = 120 };

typedef struct storm {
    uint64_t seed, drawn;
    und_cells_def def;
    und_shape solid_shape[SOLIDS], fill_shape[FILLS], gate_shape[GATES];
    und_solid_def solid[SOLIDS];
    und_fill_def fill[FILLS];
    und_gate_def gate[GATES];
    double size[3];
    double fastest; /* m/s; of what comes in or sets out */
} storm;

static double draw(storm *s, double low, double high)
{
    return low + (high - low) * und_random(s->seed, 1, s->drawn++);
}

static bool maybe(storm *s, double probability)
{
    return draw(s, 0, 1) < probability;
}

static und_shape draw_box(storm *s, double largest)
{
    und_shape box = {.kind = UND_BOX};
    double *center[3] = {&box.center.x, &box.center.y, &box.center.z};
    double *half[3] = {&box.half.x, &box.half.y, &box.half.z};
    for (int a = 0; a < 3; a++) {
        *center[a] = draw(s, 0, s->size[a]);
        *half[a] = draw(s, 0.05, largest) * s->size[a];
    }
    return box;
}

static void draw_grid(storm *s)
{
    und_cells_def *d = &s->def;
    double scale = pow(10, draw(s, -3, 0.5));
    bool flat = d->n[2] == 1;
    for (int a = 0; a < 3; a++) {
        if (a < 2 || !flat)
            d->n[a] = (int)draw(s, 5, flat ? 26 : 13);
        d->cell[a] = scale;
    }
    if (maybe(s, 0.3))
        d->cell[(int)draw(s, 0, flat ? 2 : 3)] *= 10;
    for (int a = 0; a < 3; a++)
        s->size[a] = d->n[a] * d->cell[a];
    if (maybe(s, 0.2))
        d->gravity[0] = draw(s, -20, 20);
    d->viscosity = maybe(s, 0.5) ? 1e-6 : pow(10, draw(s, -6, 1)) * scale * sqrt(scale);
    d->courant = draw(s, 0.2, 0.9);
}

static void draw_liquid(storm *s)
{
    und_cells_def *d = &s->def;
    for (int i = 0; i < UND_SIDES; i++)
        d->wall[i].kind = maybe(s, 0.3) ? UND_WALL_STICK : maybe(s, 0.1) ? UND_WALL_OUTFLOW : UND_WALL_SLIP;
    for (int i = 0; i < SOLIDS; i++) {
        s->solid_shape[i] = draw_box(s, 0.2);
        s->solid[i].shape = &s->solid_shape[i];
        s->solid[i].wall.kind = maybe(s, 0.5) ? UND_WALL_STICK : UND_WALL_SLIP;
    }
    d->solids = s->solid, d->solid_count = (int)draw(s, 0, SOLIDS + 1);
    for (int i = 0; i < FILLS; i++) {
        s->fill_shape[i] = draw_box(s, 0.5);
        s->fill[i].shape = &s->fill_shape[i];
        if (maybe(s, 0.5))
            s->fill[i].velocity[0].number = draw(s, -1, 1) * s->fastest;
    }
    d->fills = s->fill, d->fill_count = (int)draw(s, 0, FILLS + 1);
    d->has_level = d->fill_count == 0 || maybe(s, 0.5);
    d->level.number = draw(s, 0.01, maybe(s, 0.3) ? 0.99 : 0.6) * s->size[1];
}

/* A gate may be all of a side, a part of it, or a wall inside the domain. */
static void draw_gates(storm *s, double time)
{
    und_cells_def *d = &s->def;
    for (int i = 0; i < GATES; i++) {
        und_gate_def *g = &s->gate[i];
        s->gate_shape[i] = draw_box(s, 0.25);
        g->side = (int)draw(s, -1, d->n[2] == 1 ? 4 : 6);
        if (g->side < 0 || maybe(s, 0.7))
            g->shape = &s->gate_shape[i];
        g->start = maybe(s, 0.5) ? 0 : draw(s, 0, 0.5) * time;
        g->end = g->start + draw(s, 0.1, 1) * time;
        g->wall.kind = (und_wall_kind)draw(s, 0, 4);
        for (int a = 0; a < 3 && g->wall.kind == UND_WALL_INFLOW; a++)
            g->wall.velocity[a].number = draw(s, -0.3, 0.3) * s->fastest;
    }
    d->gates = s->gate, d->gate_count = (int)draw(s, 0, GATES + 1);
}

static void make_storm(storm *s, uint64_t seed, und_track track, int nz)
{
    *s = (storm){.seed = seed, .def = und_cells_def_default()};
    und_cells_def *d = &s->def;
    d->track = track;
    d->n[2] = nz;
    d->seed = seed;
    d->threads = 1;
    d->markers_per_cell = nz == 1 ? 9 : 8;
    draw_grid(s);
    s->fastest = sqrt(9.81 * s->size[1]);
    draw_liquid(s);
    draw_gates(s, 2 * sqrt(s->size[1] / 9.81));
    if (track == UND_TRACK_MARKERS && maybe(s, 0.3))
        d->pressure_rule = UND_PRESSURE_RELAX, d->epsilon = 1e-2, d->max_sweeps = 200;
}

static double fastest_of(const und_cells *cells, const und_cells_def *d)
{
    double most = 0;
    for (int a = 0; a < (d->n[2] == 1 ? 2 : 3); a++)
        for (int z = 0; z < d->n[2] + (a == 2); z++)
            for (int y = 0; y < d->n[1] + (a == 1); y++)
                for (int x = 0; x < d->n[0] + (a == 0); x++) {
                    double u = fabs(und_cells_velocity(cells, a, x, y, z));
                    most = u <= most ? most : u; /* NaN shows */
                }
    return most;
}

/* What no scene may do, whatever it does. */
static void check_step(const storm *s, const und_cells *cells, double bound, double before)
{
    double fastest = fastest_of(cells, &s->def);
    if (!(fastest < bound))
        fail_msg("seed %d, track %d, %d cells deep: %g m/s at %g s, expected less than %g", (int)s->seed,
                 (int)s->def.track, s->def.n[2], fastest, und_cells_time(cells), bound);
    und_ledger l = und_cells_ledger(cells);
    double all = l.start + fabs(l.sources);
    assert_double_near(und_ledger_expected(&l), l.measured, 1e-12 * all);
    /* Markers show where the liquid is, not how much of it; chains close air of less than half a cell, which
     * cells cannot show, wherever there is a surface. */
    double cell = s->def.cell[0] * s->def.cell[1] * s->def.cell[2], air = 0;
    if (s->def.track == UND_TRACK_CHAINS)
        air = 0.5 * cell * (double)und_cells_last(cells).surface;
    if (s->def.track != UND_TRACK_MARKERS && fabs(l.correction - before) > 0.25 * all + air)
        fail_msg("seed %d, track %d: %g of %g m3 appear in one step", (int)s->seed, (int)s->def.track,
                 l.correction - before, all);
}

static void ride(const storm *s)
{
    und_error err = {0};
    und_cells *cells = und_cells_create(&s->def, &err);
    if (!cells)
        fail_msg("%s", err.text);
    double g = hypot(s->def.gravity[0], s->def.gravity[1]), longest = 0, shortest = INFINITY, reach = 0;
    for (int a = 0; a < (s->def.n[2] == 1 ? 2 : 3); a++) {
        longest = fmax(longest, s->def.cell[a]);
        shortest = fmin(shortest, s->def.cell[a]);
        reach = fmax(reach, s->size[a]);
    }
    /* What gathers in a cell ten times as long as it is high leaves it ten times as fast. */
    double bound = 10 * longest / shortest * (sqrt(g * reach) + s->fastest), before = 0;
    for (int i = 0; i < SUBSTEPS; i++) {
        und_cells_substep(cells, 1);
        check_step(s, cells, bound, before);
        before = und_cells_ledger(cells).correction;
        if (und_cells_last(cells).full + und_cells_last(cells).surface == 0)
            break;
    }
    und_cells_destroy(cells);
}

static void storms(und_track track, int nz, int count)
{
    const int each = 3 - test_cases(2, 1); /* under a sanitizer every second */
    for (int seed = 0; seed < count; seed += each) {
        storm s;
        make_storm(&s, (uint64_t)seed, track, nz);
        ride(&s);
    }
}

static void markers_in_a_plane(void **state)
{
    (void)state;
    storms(UND_TRACK_MARKERS, 1, 25);
}
static void markers_in_space(void **state)
{
    (void)state;
    storms(UND_TRACK_MARKERS, 5, 25);
}
static void chains(void **state)
{
    (void)state;
    storms(UND_TRACK_CHAINS, 1, 80); /* seed 48 ties a knot */
}
static void heights_in_a_plane(void **state)
{
    (void)state;
    storms(UND_TRACK_HEIGHT, 1, 25);
}
static void heights_in_space(void **state)
{
    (void)state;
    storms(UND_TRACK_HEIGHT, 5, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_in_a_plane), cmocka_unit_test(markers_in_space), cmocka_unit_test(chains),
        cmocka_unit_test(heights_in_a_plane), cmocka_unit_test(heights_in_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
