/* Hands on cells: what is painted is there, holds, flows, is accounted for and can be taken away. */
#include "base/random.h"
#include "geom/shape.h"
#include "liquid/cells.h"
#include "tests/frame_item.h"

enum { NX = 40, NY = 30 };
static const double CELL = 0.05, DEEP = 0.1; /* m; along z */

static const und_shape pond = {.kind = UND_BOX, .center = {0.5, 0.4, 0}, .half = {0.5, 0.4, 1}};

/* A tank of 2 m x 1.5 m, empty, or with a dam of 1 m x 0.8 m on the left that breaks. */
static und_cells *make(und_track track, bool dam, int threads)
{
    static const und_fill_def fill = {.shape = &pond};
    und_error err;
    und_cells_def def = und_cells_def_default();
    def.n[0] = NX;
    def.n[1] = NY;
    def.cell[0] = def.cell[1] = CELL;
    def.cell[2] = DEEP;
    def.track = track;
    def.markers_per_cell = 9;
    def.fills = &fill;
    def.fill_count = dam;
    def.threads = threads;
    und_cells *cells = und_cells_create(&def, &err);
    if (!cells)
        fail_msg("%s", err.text);
    return cells;
}

static void touch(und_cells *cells, und_tool tool, const double from[2], const double to[2], double radius,
                  double vx, double vy)
{
    und_liquid *liquid = und_cells_liquid(cells);
    und_mouse_tool hand = {.tool = tool,
                           .from = {from[0], from[1], 0.05},
                           .place = {to[0], to[1], 0.05},
                           .radius = radius,
                           .velocity = {vx, vy, 0}};
    liquid->class->touch(liquid, &hand, 0.01);
}

static uint64_t hash_of(und_cells *cells, und_frame *kept)
{
    und_error err;
    und_liquid *liquid = und_cells_liquid(cells);
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    assert_int_equal(liquid->class->save(liquid, &state, &err), UND_OK);
    uint64_t hash = und_frame_hash(&state, 1);
    if (kept) {
        *kept = und_frame_empty(0, 0, state.grid);
        assert_int_equal(und_frame_copy(&state, kept, &err), UND_OK);
    }
    und_frame_clear(&state);
    return hash;
}

static void balanced(und_cells *cells)
{
    und_ledger l = und_cells_ledger(cells);
    assert_double_near(und_ledger_expected(&l), l.measured, 1e-12);
}

static int count_labels(const und_cells *cells, und_label label, int from)
{
    int count = 0;
    for (int y = 0; y < NY; y++)
        for (int x = from; x < NX; x++)
            count += und_cells_label(cells, x, y, 0) == label;
    return count;
}

static const und_track tracks[] = {UND_TRACK_MARKERS, UND_TRACK_CHAINS, UND_TRACK_HEIGHT};

/* Hands that do nothing, or are none, leave all bits as they are. */
static void untouched_is_untouched(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        und_cells *a = make(tracks[t], true, 1), *b = make(tracks[t], true, 1);
        const double nowhere[2] = {-9, 3}, nan[2] = {NAN, 1}, here[2] = {1.5, 1};
        for (int i = 0; i < 5; i++) {
            touch(b, UND_TOOL_NONE, here, here, 0.2, 0, 0);
            touch(b, UND_TOOL_STIR, here, here, 0.2, 0, 0);
            touch(b, UND_TOOL_SOLID, nan, here, 0.2, 0, 0);
            touch(b, UND_TOOL_LIQUID, here, here, -1, 0, 0);
            touch(b, UND_TOOL_LIQUID, here, here, NAN, 0, 0);
            touch(b, UND_TOOL_INFLOW, nowhere, nowhere, 0.2, 1, 0);
            touch(b, UND_TOOL_ERASE, here, here, 0.2, 0, 0); /* nothing is there */
            und_cells_step(a, 0.02);
            und_cells_step(b, 0.02);
        }
        assert_true(hash_of(a, NULL) == hash_of(b, NULL));
        und_cells_destroy(a);
        und_cells_destroy(b);
    }
}

static void liquid_is_a_source(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        und_cells *cells = make(tracks[t], false, 1);
        const double from[2] = {0.6, 0.9}, to[2] = {1.2, 0.9};
        touch(cells, UND_TOOL_LIQUID, from, to, 0.2, 0, 0);
        und_ledger l = und_cells_ledger(cells);
        double area = 0.6 * 0.4 + 3.14159265 * 0.04;
        assert_double_near(l.sources, area * DEEP, 0.06 * area * DEEP);
        assert_true(l.start == 0 && l.drains == 0 && l.correction == 0);
        balanced(cells);
        if (tracks[t] == UND_TRACK_MARKERS) /* as the markers' measure says: 9 to a cell */
            assert_double_near(l.measured, und_cells_marker_count(cells) / 9.0 * CELL * CELL * DEEP, 1e-12);
        double before = l.sources; /* there is no room for more */
        touch(cells, UND_TOOL_LIQUID, from, to, 0.15, 0, 0);
        if (tracks[t] != UND_TRACK_HEIGHT) /* there the water lies below */
            assert_double_near(und_cells_ledger(cells).sources, before, 0);
        for (int i = 0; i < 10; i++)
            und_cells_step(cells, 0.02);
        balanced(cells);
        und_cells_destroy(cells);
    }
}

/* Liquid that is painted falls as fast as all does, from the velocity that it was given. */
static void gravity_is_turned(void **state)
{
    (void)state;
    und_cells *cells = make(UND_TRACK_MARKERS, false, 1);
    und_liquid *liquid = und_cells_liquid(cells);
    und_tuning tuning;
    liquid->class->tuning(liquid, &tuning);
    assert_true(tuning.gravity == 9.81 && tuning.viscosity == 1e-6 && isnan(tuning.damping) &&
                isnan(tuning.rain));
    liquid->class->tune(liquid, &(und_tuning){.gravity = 4, .viscosity = NAN, .damping = 3, .rain = 9});
    liquid->class->tuning(liquid, &tuning);
    assert_true(tuning.gravity == 4 && tuning.viscosity == 1e-6);
    const double at[2] = {1.025, 1.2};
    touch(cells, UND_TOOL_LIQUID, at, at, 0.15, 0.5, -1);
    und_cells_step(cells, 0.1);
    /* 0.05 m across and 0.12 m down it went: one cell and two */
    assert_double_near(und_cells_velocity(cells, 1, 21, 21, 0), -1.4, 0.01);
    assert_double_near(und_cells_velocity(cells, 0, 21, 21, 0), 0.5, 0.01);
    liquid->class->tune(liquid, &(und_tuning){.gravity = NAN, .viscosity = -1});
    liquid->class->tune(liquid, &(und_tuning){.gravity = INFINITY, .viscosity = 0.25});
    liquid->class->tuning(liquid, &tuning);
    assert_true(tuning.gravity == 4 && tuning.viscosity == 0.25);
    und_cells_destroy(cells);
}

/* A dam behind a painted wall, also one that is no thicker than a line and slants. */
static void painted_walls_hold(void **state)
{
    (void)state;
    static const double lines[2][2][2] = {{{1.1, -0.5}, {1.1, 2}}, {{1.05, 0}, {1.6, 1.5}}};
    for (int t = 0; t < 3; t++)
        /* one column of water is not on both sides of a wall that slants */
        for (int k = 0; k < (tracks[t] == UND_TRACK_HEIGHT ? 1 : 2); k++) {
            und_cells *cells = make(tracks[t], true, 1);
            double before = und_cells_ledger(cells).measured;
            touch(cells, UND_TOOL_SOLID, lines[k][0], lines[k][1], k ? 1e-6 : 0.06, 0, 0);
            assert_double_near(und_cells_ledger(cells).measured, before, 1e-12); /* it was dry there */
            for (int i = 0; i < 50; i++)
                und_cells_step(cells, 0.02);
            int passed = count_labels(cells, UND_CELL_FULL, 0) + count_labels(cells, UND_CELL_SURFACE, 0),
                held = 0;
            for (int y = 0; y < NY; y++)
                for (int x = 0; x < NX && und_cells_label(cells, x, y, 0) != UND_CELL_SOLID; x++)
                    held += und_cells_label(cells, x, y, 0) != UND_CELL_EMPTY;
            assert_true(held > 250);
            assert_int_equal(passed - held, 0);
            balanced(cells);
            assert_double_near(und_cells_ledger(cells).left, 0, 0);
            und_cells_destroy(cells);
        }
}

static void solids_drive_liquid_out(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        und_cells *cells = make(tracks[t], true, 1);
        const double at[2] = {0.5, 0.4};
        touch(cells, UND_TOOL_SOLID, at, at, 0.2, 0, 0);
        und_ledger l = und_cells_ledger(cells);
        double area = 3.14159265 * 0.04;
        if (tracks[t] == UND_TRACK_HEIGHT) /* columns do not know what stands in their midst */
            assert_double_near(l.drains, area * DEEP, 0.1 * area * DEEP);
        else
            assert_double_near(l.drains, area * DEEP, 0.08 * area * DEEP);
        balanced(cells);
        for (int i = 0; i < 10; i++)
            und_cells_step(cells, 0.02);
        balanced(cells);
        assert_int_equal(und_cells_label(cells, 9, 7, 0), UND_CELL_SOLID);
        und_cells_destroy(cells);
    }
}

/* From a block of wall comes what its velocity and side make of it. */
static void inflows_bring_liquid(void **state)
{
    (void)state;
    und_cells *cells = make(UND_TRACK_MARKERS, false, 1);
    const double low[2] = {0.025, 1.025}, high[2] = {0.025, 1.225};
    touch(cells, UND_TOOL_INFLOW, low, high, 0.001, 0.8, 0);
    int solid = count_labels(cells, UND_CELL_SOLID, 0);
    assert_in_range(solid, 5, 7);
    assert_int_equal(count_labels(cells, UND_CELL_SOLID, 1), 0); /* a single column */
    double before = 0;
    for (int i = 0; i < 100; i++) {
        und_cells_step(cells, 0.01);
        if (i == 24)
            before = und_cells_ledger(cells).sources;
    }
    und_ledger l = und_cells_ledger(cells);
    double rate = 0.8 * solid * CELL * DEEP; /* m3/s */
    assert_double_near(l.sources - before, 0.75 * rate, 1e-9);
    assert_double_near(l.measured, rate, 0.2 * rate); /* markers show about how much there is */
    balanced(cells);
    /* the same inflow again is the same wall; erased, it ends, and the cells are as they were */
    touch(cells, UND_TOOL_ERASE, low, high, 0.001, 0, 0);
    assert_int_equal(count_labels(cells, UND_CELL_SOLID, 0), 0);
    double sources = und_cells_ledger(cells).sources;
    und_cells_step(cells, 0.1);
    assert_double_near(und_cells_ledger(cells).sources, sources, 0);
    und_cells_destroy(cells);
}

/* More velocities than there are walls for: the nearest serve, and none is lost. */
static void many_inflows(void **state)
{
    (void)state;
    und_cells *cells = make(UND_TRACK_MARKERS, false, 1);
    for (int i = 0; i < 60; i++) {
        const double at[2] = {0.1 + 0.03 * i, 0.2 + 0.1 * (i % 10)};
        touch(cells, UND_TOOL_INFLOW, at, at, 0.01, 0.01 * i, -0.5);
    }
    und_cells_step(cells, 0.05);
    double fastest = 0;
    for (int y = 0; y < NY; y++)
        for (int x = 1; x < NX; x++)
            fastest = fmax(fastest, und_cells_velocity(cells, 0, x, y, 0));
    assert_true(fastest > 0.1 && fastest < 0.7);
    balanced(cells);
    und_cells_destroy(cells);
}

/* Painted and erased before anything moves: as if nothing had been. */
static void erasing_brings_back(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        und_cells *a = make(tracks[t], true, 1), *b = make(tracks[t], true, 1);
        const double from[2] = {1.2, 0.1}, to[2] = {1.7, 1.3};
        touch(b, UND_TOOL_SOLID, from, to, 0.1, 0, 0);
        assert_true(count_labels(b, UND_CELL_SOLID, 0) > 40);
        touch(b, UND_TOOL_ERASE, to, from, 0.12, 0, 0);
        for (int i = 0; i < 20; i++) {
            und_cells_step(a, 0.02);
            und_cells_step(b, 0.02);
        }
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                assert_int_equal(und_cells_label(a, x, y, 0), und_cells_label(b, x, y, 0));
                assert_true(und_cells_pressure(a, x, y, 0) == und_cells_pressure(b, x, y, 0));
            }
        /* where nothing was painted, liquid goes */
        double before = und_cells_ledger(b).measured;
        touch(b, UND_TOOL_ERASE, (double[]){0, 0.1}, (double[]){2, 0.1}, 0.1, 0, 0);
        und_ledger l = und_cells_ledger(b);
        assert_true(l.drains > 0.005);
        assert_double_near(l.measured, before - l.drains, 1e-12);
        balanced(b);
        und_cells_destroy(a);
        und_cells_destroy(b);
    }
}

static void play(und_cells *cells, int from, int to)
{
    for (int i = from; i < to; i++) {
        double t = 0.1 * i;
        const double at[2] = {1 + 0.4 * sin(5 * t), 0.7 + 0.3 * cos(7 * t)},
                     then[2] = {1 + 0.4 * sin(5 * t + 0.5), 0.7 + 0.3 * cos(7 * t + 0.7)};
        static const und_tool tools[] = {UND_TOOL_LIQUID, UND_TOOL_SOLID, UND_TOOL_INFLOW, UND_TOOL_ERASE};
        touch(cells, tools[i % 4], at, then, 0.08, 0.3, -0.2 * (i % 3));
        und_cells_step(cells, 0.02);
    }
}

/* What hands did is state: saved and restored the run goes on with the same bits, at any number of threads.
 */
static void hands_are_saved(void **state)
{
    (void)state;
    und_error err;
    for (int t = 0; t < 3; t++) {
        und_cells *a = make(tracks[t], true, 1), *b = make(tracks[t], true, 2);
        und_frame early, late;
        und_liquid *la = und_cells_liquid(a), *lb = und_cells_liquid(b);
        hash_of(a, &early);
        la->class->tune(la, &(und_tuning){.gravity = 7, .viscosity = 1e-3});
        play(a, 0, 13);
        uint64_t middle = hash_of(a, &late);
        play(a, 13, 20);
        assert_int_equal(lb->class->restore(lb, &late, &err), UND_OK);
        assert_true(hash_of(b, NULL) == middle);
        play(b, 13, 20);
        assert_true(hash_of(a, NULL) == hash_of(b, NULL));
        /* and a state from before the hands knows nothing of them */
        und_cells *c = make(tracks[t], true, 1);
        assert_int_equal(la->class->restore(la, &early, &err), UND_OK);
        und_cells_step(a, 0.05);
        und_cells_step(c, 0.05);
        assert_true(hash_of(a, NULL) == hash_of(c, NULL));
        und_frame_clear(&early);
        und_frame_clear(&late);
        und_cells_destroy(a);
        und_cells_destroy(b);
        und_cells_destroy(c);
    }
}

/* A damaged state is refused. */
static void damaged_paint_is_refused(void **state)
{
    (void)state;
    und_error err;
    und_cells *cells = make(UND_TRACK_MARKERS, true, 1);
    und_liquid *liquid = und_cells_liquid(cells);
    und_frame kept;
    play(cells, 0, 4);
    hash_of(cells, &kept);
    und_item *item = item_of(&kept, "painted");
    ((uint8_t *)item->data)[400] = 200;
    assert_int_equal(liquid->class->restore(liquid, &kept, &err), UND_FAILED);
    ((uint8_t *)item->data)[400] = 0;
    assert_int_equal(liquid->class->restore(liquid, &kept, &err), UND_OK);
    ((double *)und_frame_find(&kept, "paint_velocity")->data)[3] = NAN;
    assert_int_equal(liquid->class->restore(liquid, &kept, &err), UND_FAILED);
    und_frame_clear(&kept);
    und_cells_destroy(cells);
}

/* Any numbers at all. */
static void any_stroke_is_survived(void **state)
{
    (void)state;
    static const double wild[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, 0, 1e12, -3, 1};
    for (int t = 0; t < 3; t++) {
        und_cells *cells = make(tracks[t], true, 1);
        und_liquid *liquid = und_cells_liquid(cells);
        uint64_t n = 0;
        und_error err;
        for (int i = 0; i < 150; i++) {
            und_mouse_tool hand = {.tool = (und_tool)(und_random(t, 1, n++) * (UND_TOOLS + 1))};
            double *numbers[] = {&hand.from[0], &hand.from[1],     &hand.place[0],    &hand.place[1],
                                 &hand.radius,  &hand.velocity[0], &hand.velocity[1], &hand.held,
                                 &hand.from[2], &hand.place[2]};
            for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
                bool odd = und_random(t, 1, n++) < 0.04;
                double sane = k == 4 ? 0.15 : 2;
                *numbers[k] = odd ? wild[(int)(und_random(t, 1, n++) * 10)] : sane * und_random(t, 1, n++);
            }
            hand.tool = hand.tool < UND_TOOLS ? hand.tool : UND_TOOL_NONE;
            liquid->class->touch(liquid, &hand, 0.01);
            if (i % 3 == 0)
                und_cells_step(cells, 0.002);
            if (liquid->class->trouble(liquid, &err) != UND_OK)
                break;
            balanced(cells);
        }
        und_cells_destroy(cells);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untouched_is_untouched),
        cmocka_unit_test(liquid_is_a_source),
        cmocka_unit_test(gravity_is_turned),
        cmocka_unit_test(painted_walls_hold),
        cmocka_unit_test(solids_drive_liquid_out),
        cmocka_unit_test(inflows_bring_liquid),
        cmocka_unit_test(many_inflows),
        cmocka_unit_test(erasing_brings_back),
        cmocka_unit_test(hands_are_saved),
        cmocka_unit_test(damaged_paint_is_refused),
        cmocka_unit_test(any_stroke_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
