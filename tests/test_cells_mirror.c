/* A scene and its image in a mirror, and with x and z exchanged: the same flow, to rounding. */
#include "tests/test.h"

#include "geom/shape.h"
#include "liquid/cells_state.h"

enum { N = 16, SUBSTEPS = 36 };

typedef struct scene {
    und_cells_def def;
    und_shape drop, block[2];
    und_fill_def fill;
    und_solid_def solid[2];
} scene;

static void set(scene *s, int nz, und_track track, und_pressure_rule rule)
{
    *s = (scene){.def = und_cells_def_default()};
    und_cells_def *d = &s->def;
    d->n[0] = N, d->n[1] = N, d->n[2] = nz;
    for (int a = 0; a < 3; a++)
        d->cell[a] = 1.0 / N;
    d->track = track;
    d->pressure_rule = rule;
    d->epsilon = 1e-10;
    d->max_sweeps = 100000;
    d->has_level = true;
    d->level.number = 0.33;
    d->threads = 1;
    double z = 0.5 * nz / N;
    s->drop = (und_shape){.kind = UND_SPHERE, .center = {0.5, 0.65, z}, .radius = 0.14};
    s->fill = (und_fill_def){.shape = &s->drop, .velocity[1].number = -1};
    if (track == UND_TRACK_HEIGHT)
        s->drop = (und_shape){.kind = UND_BOX, .center = {0.5, 0.25, z}, .half = {0.15, 0.25, 0.25}};
    d->fills = &s->fill, d->fill_count = 1;
    for (int i = 0; i < 2; i++) {
        s->block[i] = (und_shape){
            .kind = UND_BOX, .center = {i ? 0.8 : 0.2, 0, z}, .half = {0.08, 0.2, nz > 1 ? 0.15 : 9}};
        s->solid[i].shape = &s->block[i];
    }
    s->solid[0].wall.kind = s->solid[1].wall.kind = UND_WALL_STICK;
    d->solids = s->solid, d->solid_count = 2;
}

static und_cells *make(const und_cells_def *def)
{
    und_error err = {0};
    und_cells *cells = und_cells_create(def, &err);
    if (!cells)
        fail_msg("%s", err.text);
    return cells;
}

/* Markers come in pairs, one on either side. */
static void pair_markers(und_markers *m)
{
    int half = 0;
    for (int i = 0; i < m->count; i++)
        if (m->place[0][i] < 0.5) {
            for (int a = 0; a < 3; a++)
                m->place[a][half] = m->place[a][i];
            m->share[half++] = m->share[i];
        }
    for (int i = 0; i < half; i++) {
        for (int a = 0; a < 3; a++)
            m->place[a][half + i] = a == 0 ? 1 - m->place[0][i] : m->place[a][i];
        m->share[half + i] = m->share[i];
    }
    m->count = 2 * half;
}

static double speed(const und_cells *c, int axis, int x, int y, int z)
{
    return und_cells_velocity(c, axis, x, y, z);
}

static void both_sides_are_alike(void **state)
{
    (void)state;
    static const struct {
        und_track track;
        int nz;
        und_pressure_rule rule;
    } kinds[] = {{UND_TRACK_MARKERS, 1, UND_PRESSURE_MULTIGRID},
                 {UND_TRACK_MARKERS, 1, UND_PRESSURE_RELAX},
                 {UND_TRACK_HEIGHT, 1, UND_PRESSURE_MULTIGRID},
                 {UND_TRACK_HEIGHT, N, UND_PRESSURE_MULTIGRID},
                 {UND_TRACK_MARKERS, N, UND_PRESSURE_MULTIGRID}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        scene s;
        set(&s, kinds[k].nz, kinds[k].track, kinds[k].rule);
        und_cells *c = make(&s.def);
        if (c->markers)
            pair_markers(c->markers);
        und_cells_find_labels(c);
        for (int i = 0; i < SUBSTEPS; i++)
            und_cells_substep(c, 0.01);
        double fastest = 0;
        for (int z = 0; z < s.def.n[2]; z++)
            for (int y = 0; y < N; y++)
                for (int x = 0; x < N; x++) {
                    int m = N - 1 - x;
                    assert_int_equal(und_cells_label(c, x, y, z), und_cells_label(c, m, y, z));
                    assert_double_near(speed(c, 0, x, y, z), -speed(c, 0, m + 1, y, z), 1e-9);
                    assert_double_near(speed(c, 1, x, y, z), speed(c, 1, m, y, z), 1e-9);
                    fastest = fmax(fastest, fabs(speed(c, 0, x, y, z)));
                }
        assert_true(fastest > 0.5);
        und_cells_destroy(c);
    }
}

static void exchange(und_vec3 *v)
{
    double x = v->x;
    v->x = v->z;
    v->z = x;
}

/* Nothing alike on two sides: an obstacle, an inflow, cells that are no cubes. */
static und_cells *lopsided(scene *s, und_gate_def *gate, und_track track, bool exchanged)
{
    set(s, 12, track, UND_PRESSURE_MULTIGRID);
    und_cells_def *d = &s->def;
    d->cell[2] = 1.0 / 12;
    s->drop.center = (und_vec3){0.4, s->drop.center.y, 0.62};
    s->block[0].center.z = 0.4;
    d->solid_count = 1;
    *gate = (und_gate_def){.side = 1, .end = 0.15, .wall = {.kind = UND_WALL_INFLOW}};
    gate->wall.velocity[0].number = -0.2;
    gate->wall.markers = 1e-9; /* births are random */
    d->keep_volume = false;    /* without them what came in is not shown */
    d->gates = gate, d->gate_count = 1;
    d->wall[3].kind = UND_WALL_OUTFLOW;
    /* Markers in the edge between such a wall and an inflow would see one of the two: the one along x first.
     */
    und_wall_kind kind = track == UND_TRACK_MARKERS ? UND_WALL_SLIP : UND_WALL_STICK;
    d->wall[4].kind = kind;
    if (exchanged) {
        exchange(&s->drop.center), exchange(&s->drop.half);
        exchange(&s->block[0].center), exchange(&s->block[0].half);
        d->n[0] = 12, d->n[2] = N;
        d->cell[0] = 1.0 / 12, d->cell[2] = 1.0 / N;
        d->wall[4].kind = UND_WALL_SLIP, d->wall[0].kind = kind;
        gate->side = 5;
        gate->wall.velocity[2] = gate->wall.velocity[0];
        gate->wall.velocity[0].number = 0;
    }
    d->markers_per_cell = 8;
    return make(d);
}

static void x_and_z_are_alike(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s, t;
        und_gate_def gate, other_gate;
        und_track track = k ? UND_TRACK_MARKERS : UND_TRACK_HEIGHT;
        und_cells *a = lopsided(&s, &gate, track, false), *b = lopsided(&t, &other_gate, track, true);
        if (k) {
            assert_int_equal(und_markers_reserve(b->markers, a->markers->count, NULL), UND_OK);
            b->markers->count = a->markers->count;
            for (int i = 0; i < 3; i++)
                memcpy(b->markers->place[i], a->markers->place[2 - i],
                       (size_t)a->markers->count * sizeof(double));
            memcpy(b->markers->share, a->markers->share, (size_t)a->markers->count * sizeof(double));
            memset(b->flow.p, 0, b->mac.count * sizeof *b->flow.p);
            und_cells_find_labels(b);
        }
        for (int i = 0; i < SUBSTEPS; i++) {
            und_cells_substep(a, 0.01);
            und_cells_substep(b, 0.01);
        }
        for (int z = 0; z < 12; z++)
            for (int y = 0; y < N; y++)
                for (int x = 0; x < N; x++) {
                    assert_int_equal(und_cells_label(a, x, y, z), und_cells_label(b, z, y, x));
                    for (int axis = 0; axis < 3; axis++)
                        assert_double_near(speed(a, axis, x, y, z), speed(b, 2 - axis, z, y, x), 1e-8);
                }
        und_cells_destroy(a);
        und_cells_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_are_alike),
        cmocka_unit_test(x_and_z_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
