/* The cells model as a whole: the same bits whatever the threads and after a restore, the ledger, gates, and
 * wrong input. */
#include "tests/state_hash.h"

#include "geom/shape.h"
#include "liquid/cells.h"

static und_cells *make(const und_cells_def *def)
{
    und_error err = {0};
    und_cells *cells = und_cells_create(def, &err);
    if (!cells)
        fail_msg("%s", err.text);
    return cells;
}

/* The state itself goes to `kept`, unless that is NULL. */
static uint64_t hash_of(und_cells *cells, und_frame *kept)
{
    return state_hash(und_cells_liquid(cells), kept);
}

/* A scene with everything in it: an obstacle, an inflow that becomes an outflow, a drop. */
typedef struct stage {
    und_cells_def def;
    und_shape block, drop, mouth;
    und_solid_def solid;
    und_fill_def fill;
    und_gate_def gate[2];
} stage;

static void set(stage *s, int nz, und_track track, und_pressure_rule rule)
{
    *s = (stage){.def = und_cells_def_default()};
    und_cells_def *d = &s->def;
    d->n[0] = 20, d->n[1] = 16, d->n[2] = nz;
    for (int a = 0; a < 3; a++)
        d->cell[a] = 0.05;
    d->has_level = true;
    d->level.number = 0.33;
    d->track = track;
    d->pressure_rule = rule;
    s->block = (und_shape){.kind = UND_BOX, .center = {0.6, 0.1, 0}, .half = {0.1, 0.1, 0.2}};
    s->solid.shape = &s->block;
    d->solids = &s->solid, d->solid_count = 1;
    s->drop = (und_shape){.kind = UND_SPHERE, .center = {0.5, 0.6, 0.05}, .radius = 0.1};
    s->fill.shape = &s->drop;
    s->fill.velocity[1].number = -1;
    if (track != UND_TRACK_HEIGHT)
        d->fills = &s->fill, d->fill_count = 1;
    s->mouth = (und_shape){.kind = UND_BOX, .center = {0, 0.2, 0}, .half = {0.01, 0.1, 9}};
    s->gate[0] = (und_gate_def){.side = 0, .shape = &s->mouth, .end = 0.05};
    s->gate[0].wall.kind = UND_WALL_INFLOW;
    s->gate[0].wall.velocity[0].number = 0.5;
    s->gate[1] = (und_gate_def){.side = 0, .shape = &s->mouth, .start = 0.05, .end = INFINITY};
    s->gate[1].wall.kind = UND_WALL_OUTFLOW;
    d->gates = s->gate, d->gate_count = 2;
    d->threads = 1;
}

static const struct {
    int nz;
    und_track track;
    und_pressure_rule rule;
} kinds[] = {{1, UND_TRACK_MARKERS, UND_PRESSURE_MULTIGRID},
             {4, UND_TRACK_MARKERS, UND_PRESSURE_RELAX},
             {1, UND_TRACK_CHAINS, UND_PRESSURE_MULTIGRID},
             {1, UND_TRACK_HEIGHT, UND_PRESSURE_RELAX},
             {6, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void same_bits_with_any_threads(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        uint64_t hash[3];
        static const int threads[3] = {1, 2, 7};
        for (int i = 0; i < 3; i++) {
            stage s;
            set(&s, kinds[k].nz, kinds[k].track, kinds[k].rule);
            s.def.threads = threads[i];
            und_cells *cells = make(&s.def);
            for (int step = 0; step < 6; step++)
                und_cells_step(cells, 0.02);
            hash[i] = hash_of(cells, NULL);
            und_cells_destroy(cells);
        }
        assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
    }
}

static void same_bits_after_restore(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        stage s;
        set(&s, kinds[k].nz, kinds[k].track, kinds[k].rule);
        und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
        und_cells *a = make(&s.def), *b = make(&s.def);
        und_liquid *liquid = und_cells_liquid(b);
        for (int step = 0; step < 2; step++)
            und_cells_step(a, 0.02);
        hash_of(a, &kept);
        for (int step = 0; step < 3; step++)
            und_cells_step(a, 0.02);
        assert_int_equal(liquid->class->restore(liquid, &kept, NULL), UND_OK);
        for (int step = 0; step < 3; step++)
            und_cells_step(b, 0.02);
        assert_true(hash_of(a, NULL) == hash_of(b, NULL));
        und_frame_clear(&kept);
        und_cells_destroy(a);
        und_cells_destroy(b);
    }
}

/* Every term of the ledger is there, and they add up. */
static void the_ledger_closes(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        stage s;
        set(&s, kinds[k].nz, kinds[k].track, kinds[k].rule);
        und_cells *cells = make(&s.def);
        for (int step = 0; step < 5; step++)
            und_cells_step(cells, 0.02);
        und_ledger l = und_cells_ledger(cells);
        assert_double_near(und_ledger_expected(&l), l.measured, 1e-12 * l.start);
        double mouth = 0.2 * 0.05 * kinds[k].nz, came = 0.5 * 0.05 * mouth;
        assert_double_near(l.sources, came, 0.05 * came);
        if (kinds[k].track == UND_TRACK_HEIGHT)
            assert_double_near(l.correction, 0, 1e-12 * l.start);
        und_cells_destroy(cells);
    }
}

/* A tank that fills through a mouth: the volume grows by what comes in. */
static void an_inflow_fills_the_tank(void **state)
{
    (void)state;
    stage s;
    set(&s, 4, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
    s.gate[0].end = INFINITY;
    s.def.gate_count = 1;
    und_cells *cells = make(&s.def);
    for (int step = 0; step < 50; step++)
        und_cells_step(cells, 0.02);
    und_ledger l = und_cells_ledger(cells);
    double came = 0.5 * 1 * 0.2 * 0.2;
    assert_double_near(l.sources, came, 1e-9);
    assert_double_near(l.measured - l.start, came, 1e-9);
    assert_true(und_cells_last(cells).converged);
    und_cells_destroy(cells);
}

/* Through an outflow goes what is below the surface, however high the cell is that it crosses. */
static void an_outflow_takes_what_is_there(void **state)
{
    (void)state;
    stage s;
    set(&s, 4, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
    s.def.gate_count = 0;
    s.def.wall[1].kind = UND_WALL_OUTFLOW;
    s.drop = (und_shape){.kind = UND_BOX, .center = {0.5, 0, 0}, .half = {2, 0.33, 1}};
    s.fill = (und_fill_def){.shape = &s.drop, .velocity[0].number = 1};
    s.def.fills = &s.fill, s.def.fill_count = 1;
    und_cells *cells = make(&s.def);
    double left = 0;
    for (int i = 0; i < 10; i++) {
        double h[4], dt;
        for (int z = 0; z < 4; z++)
            h[z] = und_cells_height(cells, 19, z);
        dt = und_cells_substep(cells, 0.01);
        for (int z = 0; z < 4; z++)
            for (int y = 0; y < 16; y++)
                left +=
                    fmin(fmax(h[z] - 0.05 * y, 0), 0.05) * 0.05 * dt * und_cells_velocity(cells, 0, 20, y, z);
    }
    und_ledger l = und_cells_ledger(cells);
    assert_true(l.left > 0.01 * l.start);
    assert_double_near(l.left, left, 1e-12);
    und_cells_destroy(cells);
}

/* A step ends where a gate turns, however long it might be. */
static void gates_turn_on_time(void **state)
{
    (void)state;
    stage s;
    set(&s, 1, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
    s.gate[0].end = s.gate[1].start = 1e-3;
    und_cells *cells = make(&s.def);
    und_cells_substep(cells, 1);
    assert_double_near(und_cells_time(cells), 1e-3, 0);
    assert_double_near(und_cells_velocity(cells, 0, 0, 4, 0), 0.5, 0);
    und_cells_substep(cells, 1);
    assert_true(und_cells_velocity(cells, 0, 0, 4, 0) != 0.5);
    und_cells_destroy(cells);
}

/* A gate that turns a rounding error before or behind the end of a step makes no step of its own, in which
 * pressure would have no time to act. */
static void gates_turn_with_frames(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign++) {
        stage s;
        set(&s, 1, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
        s.gate[0].end = s.gate[1].start = 0.06 * (1 + sign * 1e-13);
        und_cells *cells = make(&s.def);
        for (int step = 0; step < 4; step++) {
            und_cells_step(cells, 0.02);
            assert_true(und_cells_last(cells).dt > 1e-3);
            assert_true(fabs(und_cells_pressure(cells, 4, 2, 0)) < 1e5);
        }
        assert_true(und_cells_velocity(cells, 0, 0, 4, 0) != 0.5);
        und_cells_destroy(cells);
    }
}

/* A block that rises from the ground and goes again lifts the water on it, and none is lost. */
static void a_gate_lifts_the_water(void **state)
{
    (void)state;
    stage s;
    set(&s, 6, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
    s.mouth = (und_shape){.kind = UND_BOX, .center = {0.3, 0.1, 0.15}, .half = {0.1, 0.1, 0.1}};
    s.gate[0] = (und_gate_def){.side = -1, .shape = &s.mouth, .start = 0.02, .end = 0.2};
    s.def.gate_count = 1;
    und_cells *cells = make(&s.def);
    for (int step = 0; step < 20; step++) {
        und_cells_step(cells, 0.02);
        und_ledger l = und_cells_ledger(cells);
        assert_double_near(l.measured, l.start, 1e-12);
        assert_double_near(l.correction, 0, 1e-12);
        if (step == 1) /* lifted by the block's height, and on its way down */
            assert_true(und_cells_height(cells, 5, 2) > 0.4);
    }
    for (int x = 0; x < 20; x++)
        assert_true(fabs(und_cells_height(cells, x, 2) - 0.33) < 0.2);
    und_cells_destroy(cells);
}

/* A wall across the tank holds the water back until it is taken away. */
static void a_gate_holds_the_water(void **state)
{
    (void)state;
    static const und_track tracks[] = {UND_TRACK_HEIGHT, UND_TRACK_MARKERS, UND_TRACK_CHAINS};
    for (int k = 0; k < 3; k++) {
        stage s;
        set(&s, 1, tracks[k], UND_PRESSURE_MULTIGRID);
        s.def.has_level = false;
        s.def.solid_count = 0;
        s.drop = (und_shape){.kind = UND_BOX, .center = {0.25, 0.2, 0}, .half = {0.3, 0.2, 1}};
        s.fill.velocity[1].number = 0;
        s.def.fills = &s.fill, s.def.fill_count = 1;
        s.mouth = (und_shape){.kind = UND_BOX, .center = {0.525, 0.3, 0}, .half = {0.025, 0.3, 1}};
        s.gate[0] = (und_gate_def){.side = -1, .shape = &s.mouth, .end = 0.1};
        s.def.gate_count = 1;
        und_cells *cells = make(&s.def);
        double start = und_cells_ledger(cells).start;
        assert_double_near(start, 0.5 * 0.4 * 0.05, 0.01 * start);
        for (int step = 0; step < 5; step++)
            und_cells_step(cells, 0.02);
        assert_double_near(und_cells_ledger(cells).measured, start, 1e-9);
        assert_double_near(und_cells_pressure(cells, 9, 0, 0), 1000 * 9.81 * 0.375, 1);
        for (int step = 0; step < 15; step++)
            und_cells_step(cells, 0.02);
        bool wet = false;
        for (int x = 12; x < 20; x++)
            wet |= und_cells_label(cells, x, 0, 0) != UND_CELL_EMPTY;
        assert_true(wet);
        assert_double_near(und_cells_ledger(cells).measured, start, 0.2 * start);
        und_cells_destroy(cells);
    }
}

/* Equations 17 to 19, on the surface; a wave maker along z presses as one along x does. */
static void makers_press_as_printed(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, a = 0.02, depth = 0.33, time = 2, mean = 0.3;
    for (int along_z = 0; along_z < 2; along_z++)
        for (int printed = 0; printed < 2; printed++) {
            stage s;
            set(&s, 4, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
            s.def.gate_count = s.def.solid_count = s.def.fill_count = 0;
            s.def.surface_in_cell = false;
            und_wave_maker maker = {.amplitude = a,
                                    .wavelength = 1.5,
                                    .depth = depth,
                                    .frequency = 3,
                                    .direction = along_z ? 90 : 0,
                                    .mean = mean,
                                    .time = time,
                                    .printed = printed,
                                    .end = INFINITY};
            s.def.makers = &maker, s.def.maker_count = 1;
            und_cells *cells = make(&s.def);
            und_cells_step(cells, 1e-3);
            double c = 2 * pi / 1.5, b = a * sqrt(9.81 * depth / c);
            if (!printed) /* on calm water: dh/dt = C tanh(C D) p / (2 omega) makes a in `time` */
                b = 2 * a * 3 / (c * tanh(c * depth));
            for (int k = 0; k < 4; k++) {
                double p = 1000 * (mean + b * cos(c * (k + 0.5) * 0.05 - 3 * 1e-3)) / time;
                double found = und_cells_pressure(cells, along_z ? 7 : k, 6, along_z ? k : 2);
                assert_int_equal(und_cells_label(cells, along_z ? 7 : k, 6, along_z ? k : 2),
                                 UND_CELL_SURFACE);
                assert_double_near(found, p, (printed ? 1e-9 : 1e-4) * p); /* 1e-3 s of 2 s have passed */
            }
            und_cells_destroy(cells);
        }
}

/* The lowest and the highest y that a pressure on the surface was asked for. */
static double note_height(const void *context, double x, double y, double z, double t)
{
    double *range = *(double *const *)context;
    (void)x;
    (void)z;
    (void)t;
    range[0] = fmin(range[0], y);
    range[1] = fmax(range[1], y);
    return 0;
}

static void the_pressure_is_asked_for_at_the_surface(void **state)
{
    (void)state;
    static const und_track tracks[] = {UND_TRACK_HEIGHT, UND_TRACK_MARKERS};
    for (int i = 0; i < 2; i++) {
        double range[2] = {INFINITY, -INFINITY}, *noted = range;
        und_cells_def def = und_cells_def_default();
        def.n[0] = def.n[1] = 10;
        def.cell[0] = def.cell[1] = def.cell[2] = 0.1;
        def.track = tracks[i];
        def.has_level = true;
        def.level.number = 0.56;
        def.markers_per_cell = 100;
        def.pressure = (und_value){.fn = note_height, .context = &noted};
        und_cells *cells = make(&def);
        assert_double_near(range[0], 0.56, i == 0 ? 1e-12 : 0.005);
        assert_double_near(range[1], 0.56, i == 0 ? 1e-12 : 0.005);
        und_cells_destroy(cells);
    }
}

/* How much of itself a splash gains. */
static double swelling(bool keep_volume)
{
    stage s;
    set(&s, 1, UND_TRACK_MARKERS, UND_PRESSURE_MULTIGRID);
    s.def.gate_count = 0;
    s.def.keep_volume = keep_volume;
    s.fill.velocity[1].number = -3;
    und_cells *cells = make(&s.def);
    for (int step = 0; step < 60; step++)
        und_cells_step(cells, 0.02);
    und_ledger l = und_cells_ledger(cells);
    und_cells_destroy(cells);
    return fabs(l.correction) / l.start;
}

static void markers_keep_their_volume(void **state)
{
    (void)state;
    double with = swelling(true), without = swelling(false);
    assert_true(with < 0.02);
    assert_true(without > 2 * with);
}

/* The step says what limited it. */
static void steps_say_what_ruled(void **state)
{
    (void)state;
    stage s;
    set(&s, 1, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
    s.def.viscosity = 1;
    und_cells *cells = make(&s.def);
    double dt = und_cells_substep(cells, 1);
    assert_int_equal(und_cells_last(cells).limit, UND_LIMIT_VISCOSITY);
    assert_true(2 * 1 * dt * 3 / (0.05 * 0.05) < 1.51);
    und_cells_destroy(cells);
    set(&s, 1, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
    s.gate[0].end = s.gate[1].start = INFINITY;
    cells = make(&s.def);
    dt = und_cells_substep(cells, 1);
    assert_int_equal(und_cells_last(cells).limit, UND_LIMIT_COURANT);
    assert_true(dt <= 0.5 * 0.05 / 0.5);
    und_cells_destroy(cells);
    s.def.max_step = 1e-4;
    cells = make(&s.def);
    assert_double_near(und_cells_substep(cells, 1), 1e-4, 1e-12);
    assert_int_equal(und_cells_last(cells).limit, UND_LIMIT_MAX_STEP);
    assert_double_near(und_cells_substep(cells, 1e-5), 1e-5, 0);
    assert_int_equal(und_cells_last(cells).limit, UND_LIMIT_FRAME);
    und_cells_destroy(cells);
}

/* Liquid too fast for any step, or of no speed at all: the run ends with a word. */
static void liquid_that_runs_away_is_told(void **state)
{
    (void)state;
    static const double speeds[] = {1e12, NAN};
    for (int i = 0; i < 2; i++) {
        stage s;
        und_error err = {0};
        set(&s, 1, UND_TRACK_HEIGHT, UND_PRESSURE_MULTIGRID);
        s.gate[0].wall.velocity[0].number = speeds[i];
        und_cells *cells = make(&s.def);
        und_liquid *liquid = und_cells_liquid(cells);
        assert_int_equal(liquid->class->trouble(liquid, &err), UND_OK);
        und_cells_step(cells, 0.05);
        assert_int_equal(liquid->class->trouble(liquid, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "ran away"));
        und_cells_destroy(cells);
    }
}

/* Short waves in cells of all shapes die, however long the steps might be. */
static void short_waves_do_not_grow(void **state)
{
    (void)state;
    static const double size[][3] = {{0.05, 0.05, 0.05},
                                     {0.005, 0.05, 0.05},
                                     {0.05, 0.05, 0.005},
                                     {0.05, 0.005, 0.05},
                                     {0.005, 0.05, 0.005}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        und_cells_def d = und_cells_def_default();
        d.n[0] = 8, d.n[1] = 6, d.n[2] = 8;
        memcpy(d.cell, size[k], sizeof d.cell);
        d.has_level = true;
        d.level.number = 3.9 * d.cell[1];
        d.track = UND_TRACK_HEIGHT;
        d.threads = 1;
        double hump = 1.955 * d.cell[1];
        und_shape cell = {.kind = UND_BOX,
                          .center = {3.5 * d.cell[0], hump, 4.5 * d.cell[2]},
                          .half = {d.cell[0] / 2, hump, d.cell[2] / 2}};
        und_fill_def fill = {.shape = &cell};
        d.fills = &fill, d.fill_count = 1;
        und_cells *cells = make(&d);
        for (int i = 0; i < 150; i++)
            und_cells_substep(cells, 1);
        for (int z = 0; z < 8; z++)
            for (int x = 0; x < 8; x++)
                assert_double_near(und_cells_height(cells, x, z), 3.9 * d.cell[1], 0.005 * d.cell[1]);
        und_cells_destroy(cells);
    }
}

/* A wall overhead does not hold liquid, of one cell's thickness at least: all of it has come down in 0.45 s,
 * half as much again as it takes to fall freely. */
static void nothing_hangs_under_a_lid(void **state)
{
    (void)state;
    und_cells_def def = und_cells_def_default();
    def.n[0] = 20, def.n[1] = 20;
    for (int a = 0; a < 3; a++)
        def.cell[a] = 0.025;
    const und_shape sheet = {.kind = UND_BOX, .center = {0.25, 0.4875, 0}, .half = {0.1, 0.0125, 1}};
    const und_fill_def fill = {.shape = &sheet};
    def.fills = &fill, def.fill_count = 1;
    und_cells *cells = make(&def);
    int count = und_cells_marker_count(cells);
    assert_true(count > 100);
    und_cells_step(cells, 0.45);
    assert_int_equal(und_cells_marker_count(cells), count);
    for (int i = 0; i < count; i++) {
        double at[3];
        und_cells_marker(cells, i, at);
        assert_true(at[1] < 0.25);
    }
    und_cells_destroy(cells);
}

/* An inflow whose velocity points out of the domain. */
static void an_outflow_has_the_rate_it_is_given(void **state)
{
    (void)state;
    for (int track = 0; track < 3; track++) {
        const double dx = 0.05, until = 0.4, speed = 0.5;
        const und_shape mouth = {.kind = UND_BOX, .center = {1, 0.15, 0}, .half = {0.1, 0.1, 1}};
        und_gate_def gate = {.side = 1, .shape = &mouth, .end = INFINITY};
        und_cells_def def = und_cells_def_default();
        gate.wall.kind = UND_WALL_INFLOW;
        gate.wall.velocity[0].number = speed;
        def.n[0] = def.n[1] = 20;
        def.cell[0] = def.cell[1] = def.cell[2] = dx;
        def.track = (und_track)track;
        def.has_level = true;
        def.level.number = 0.6;
        def.gates = &gate;
        def.gate_count = 1;
        und_cells *cells = make(&def);
        und_cells_step(cells, until);
        und_ledger ledger = und_cells_ledger(cells);
        double exact = 4 * dx * speed * until * dx;
        assert_double_near(ledger.left, exact, 1e-12);
        assert_double_near(ledger.sources, 0, 0);
        assert_double_near(ledger.start - ledger.measured, exact, 0.05 * exact);
        und_cells_destroy(cells);
    }
}

static void wrong_defs_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        stage s;
        und_error err = {0};
        set(&s, 4, UND_TRACK_HEIGHT, UND_PRESSURE_RELAX);
        switch (i) {
        case 0:
            s.def.n[1] = 0;
            break;
        case 1:
            s.def.cell[2] = NAN;
            break;
        case 2:
            s.def.viscosity = -1;
            break;
        case 3:
            s.def.track = UND_TRACK_CHAINS;
            break;
        case 4:
            s.def.track = UND_TRACK_MARKERS, s.def.spray.on = true;
            break;
        case 5:
            s.def.courant = 0;
            break;
        case 6:
            s.def.n[0] = s.def.n[1] = s.def.n[2] = 100000;
            break;
        case 7:
            s.def.level.number = NAN;
            break;
        }
        und_cells *cells = und_cells_create(&s.def, &err);
        assert_null(cells);
        assert_int_equal(err.status, UND_INVALID);
        assert_true(strncmp(err.text, "cells: ", 7) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_with_any_threads),
        cmocka_unit_test(same_bits_after_restore),
        cmocka_unit_test(the_ledger_closes),
        cmocka_unit_test(an_inflow_fills_the_tank),
        cmocka_unit_test(gates_turn_on_time),
        cmocka_unit_test(markers_keep_their_volume),
        cmocka_unit_test(steps_say_what_ruled),
        cmocka_unit_test(liquid_that_runs_away_is_told),
        cmocka_unit_test(short_waves_do_not_grow),
        cmocka_unit_test(gates_turn_with_frames),
        cmocka_unit_test(a_gate_lifts_the_water),
        cmocka_unit_test(a_gate_holds_the_water),
        cmocka_unit_test(makers_press_as_printed),
        cmocka_unit_test(the_pressure_is_asked_for_at_the_surface),
        cmocka_unit_test(nothing_hangs_under_a_lid),
        cmocka_unit_test(an_outflow_takes_what_is_there),
        cmocka_unit_test(an_outflow_has_the_rate_it_is_given),
        cmocka_unit_test(wrong_defs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
