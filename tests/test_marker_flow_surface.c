/* Velocities at the free surface: each of the 64 configurations of a cell, and the air around. */
#include "tests/marker_flow_model.h"

static const double size[3] = {0.1, 0.25, 0.16};

typedef struct cell {
    double low[3], high[3];
} cell;

/* Velocities without any pattern. */
static cell some_cell(void)
{
    return (cell){.low = {0.7, -1.3, 0.4}, .high = {1.9, 0.35, -0.8}};
}

static double growth(const cell *c, int axis)
{
    return (c->high[axis] - c->low[axis]) / size[axis];
}
static double all_growth(const cell *c)
{
    return growth(c, 0) + growth(c, 1) + growth(c, 2);
}

static void count_axes(unsigned open, int count[3]) /* closed, half open, open */
{
    count[0] = count[1] = count[2] = 0;
    for (int a = 0; a < 3; a++) {
        unsigned sides = open >> 2 * a & 3;
        count[sides == 3 ? 2 : sides ? 1 : 0]++;
    }
}

static void test_every_configuration(void **state)
{
    (void)state;
    for (unsigned open = 0; open < 64; open++) {
        const cell before = some_cell();
        cell c = before;
        int axes[3];
        count_axes(open, axes);
        und_marker_flow_open_faces(open, size, c.low, c.high);
        double pairs = 0;
        for (int a = 0; a < 3; a++) {
            unsigned sides = open >> 2 * a & 3;
            if (!(sides & 1)) /* what is closed never changes */
                assert_true(c.low[a] == before.low[a]);
            if (!(sides & 2))
                assert_true(c.high[a] == before.high[a]);
            bool follows = sides == 3 && (axes[1] > 0 || axes[2] == 3); /* the body force alone */
            if (follows) {
                assert_true(c.low[a] == before.low[a] && c.high[a] == before.high[a]);
                pairs += growth(&before, a);
            }
            if ((sides == 1 || sides == 2) && axes[0] == 0) /* each derivative vanishes by itself */
                assert_true(c.low[a] == c.high[a]);
        }
        if (open != 0 && axes[2] < 3)
            assert_double_near(all_growth(&c), pairs, 1e-13);
    }
}

/* What half open axes let out, they let out alike; what open ones do, on both sides alike. */
static void test_equal_parts(void **state)
{
    (void)state;
    cell c = some_cell();
    double gathers = growth(&c, 2);
    und_marker_flow_open_faces(1 << 0 | 1 << 3, size, c.low, c.high); /* low x, high y */
    assert_double_near(growth(&c, 0), -gathers / 2, 1e-13);
    assert_double_near(growth(&c, 1), -gathers / 2, 1e-13);
    cell before = c = some_cell();
    und_marker_flow_open_faces(3 << 2, size, c.low, c.high); /* both along y */
    assert_double_near(c.low[1] - before.low[1], before.high[1] - c.high[1], 1e-15);
    assert_double_near(all_growth(&c), 0, 1e-13);
}

/* The cases the paper writes out, in two dimensions: x and y here are its x and z. */
static void test_printed_cases(void **state)
{
    (void)state;
    cell c = some_cell();
    c.low[2] = c.high[2] = 0;
    const cell before = c;
    und_marker_flow_open_faces(1 << 3, size, c.low, c.high); /* equation 10 */
    assert_double_near(c.high[1], before.low[1] - size[1] / size[0] * (before.high[0] - before.low[0]),
                       1e-15);

    c = before;
    und_marker_flow_open_faces(1 << 1 | 1 << 3, size, c.low, c.high); /* two sides */
    assert_true(c.high[0] == before.low[0] && c.high[1] == before.low[1]);

    c = before;
    und_marker_flow_open_faces(3 | 1 << 3, size, c.low,
                               c.high); /* three: the one opposite the liquid, and two free */
    assert_true(c.high[1] == before.low[1]);
    assert_true(c.low[0] == before.low[0] && c.high[0] == before.high[0]);
}

/* A cell of liquid in the middle of the air, and one on the floor. */
static void open_drops(flow_model *s, int nz)
{
    s->momentum.gravity[1] = -10;
    open_model(s, 12, 10, nz, 0.1, 0.1, 0.1, 1);
    memset(s->flow.u[1], 0, sizeof(double) * s->flow.mac.count);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < 10; y++)
            for (int x = 0; x < 12; x++)
                set_label(s, x, y, z, UND_CELL_EMPTY);
}

static void test_a_drop_falls(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 9; nz += 8) {
        flow_model s = {0};
        int z = nz / 2;
        open_drops(&s, nz);
        set_label(&s, 6, 5, z, UND_CELL_FULL);
        start_model(&s);
        assert_int_equal(s.flow.surface, 1);
        for (int i = 0; i < 7; i++)
            step_model(&s, 0.01);
        for (int a = 0; a < 3; a++)
            for (int side = 0; side < 2 && a < (nz > 1 ? 3 : 2); side++)
                assert_double_near(
                    *face(&s, a, 6 - (a == 0 && !side), 5 - (a == 1 && !side), z - (a == 2 && !side)),
                    a == 1 ? -0.7 : 0, 1e-14);
        und_marker_flow_close(&s.flow);
    }
}

/* Liquid that moves evenly is surrounded by air that does, two layers of faces deep; beyond it there is
 * none. */
static void test_air_follows(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 9; nz += 8) {
        flow_model s = {0};
        int z = nz / 2;
        open_drops(&s, nz);
        set_label(&s, 5, 5, z, UND_CELL_FULL);
        set_label(&s, 6, 5, z, UND_CELL_FULL);
        for (size_t i = 0; i < s.flow.mac.count; i++)
            s.flow.u[0][i] = 2;
        start_model(&s);
        for (int x = 0; x < 11; x++)
            for (int y = 0; y < 10; y++) {
                int along = x < 4 ? 4 - x : x > 6 ? x - 6 : 0, far = along + abs(y - 5);
                assert_double_near(*face(&s, 0, x, y, z), far <= 2 ? 2 : 0, 1e-15);
            }
        und_marker_flow_close(&s.flow);
    }
}

/* When the liquid is gone its velocities are too: from u and, two steps later, from what was u. */
static void test_air_comes_to_rest(void **state)
{
    (void)state;
    flow_model s = {0};
    open_drops(&s, 1);
    set_label(&s, 2, 7, 0, UND_CELL_FULL);
    start_model(&s);
    for (int i = 0; i < 3; i++)
        step_model(&s, 0.01);
    set_label(&s, 2, 7, 0, UND_CELL_EMPTY);
    set_label(&s, 10, 1, 0, UND_CELL_FULL);
    und_marker_flow_label(&s.flow);
    for (int i = 0; i < 2; i++) {
        step_model(&s, 0.01);
        for (int x = 0; x < 6; x++)
            for (int y = 4; y < 10; y++)
                assert_true(*face(&s, 1, x, y, 0) == 0);
    }
    und_marker_flow_close(&s.flow);
}

/* Before the first liquid the air moves with the inflow beside it, so that markers born there set out. */
static void test_inflow_into_air(void **state)
{
    (void)state;
    flow_model s = {0};
    s.walls[0].kind = UND_WALL_INFLOW;
    s.walls[0].velocity[0].number = 0.8;
    open_drops(&s, 1);
    start_model(&s);
    assert_double_near(*face(&s, 0, -1, 4, 0), 0.8, 0);
    assert_double_near(*face(&s, 0, 0, 4, 0), 0.8, 1e-15);
    assert_double_near(*face(&s, 0, 1, 4, 0), 0.8, 1e-15);
    assert_true(*face(&s, 0, 2, 4, 0) == 0);
    und_marker_flow_close(&s.flow);
}

/* Liquid that moves evenly, without a force, goes on so, however fast the air comes in behind it. */
static void test_air_brings_no_speed(void **state)
{
    (void)state;
    for (int high = 0; high < 2; high++) {
        flow_model s = {0};
        open_model(&s, 8, 3, 1, 0.1, 0.1, 0.1, 1);
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 8; x++)
                set_label(&s, x, y, 0, x < 2 || x > 5 ? UND_CELL_EMPTY : UND_CELL_FULL);
        start_model(&s);
        double way = high ? -1 : 1;
        for (int y = 0; y < 3; y++)
            for (int x = -1; x < 8; x++)
                *face(&s, 0, x, y, 0) = way;
        *face(&s, 0, high ? 5 : 1, 1, 0) = 10 * way;
        und_marker_flow_momentum(&s.flow, &s.momentum, 0.005);
        for (int y = 0; y < 3; y++)
            for (int x = 2; x < 5; x++)
                assert_double_near(*face(&s, 0, x, y, 0), way, 1e-12);
        und_marker_flow_close(&s.flow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_configuration), cmocka_unit_test(test_equal_parts),
        cmocka_unit_test(test_printed_cases),       cmocka_unit_test(test_a_drop_falls),
        cmocka_unit_test(test_air_follows),         cmocka_unit_test(test_air_comes_to_rest),
        cmocka_unit_test(test_inflow_into_air),     cmocka_unit_test(test_air_brings_no_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
