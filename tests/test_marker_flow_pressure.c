/* The two ways to incompressibility, and what holds for a whole step: the same bits at any thread count, the
 * same flow in a mirror. */
#include "solve/poisson.h"
#include "tests/marker_flow_model.h"

/* A smooth swirl with no symmetry, that no pressure made incompressible yet. */
static double swirl(int axis, double x, double y, double z)
{
    return 0.5 * sin(3 * x + 2 * y + axis) * cos(2 * z - y + 0.3 * axis) + 0.1 * axis;
}

/* A tank with a step of solid in it, a heap of liquid, something that comes in and something that leaves. */
static void open_tank(flow_model *s, int nx, int ny, int nz, int threads)
{
    s->momentum = (und_momentum){.viscosity = 1e-3, .gravity = {0.5, -9.81, 0.2}};
    s->walls[0].kind = UND_WALL_INFLOW;
    s->walls[0].velocity[0].number = 0.4;
    s->walls[1].kind = UND_WALL_OUTFLOW;
    s->walls[2].kind = s->walls[6].kind = UND_WALL_STICK;
    open_model(s, nx, ny, nz, 1.0 / nx, 0.8 / ny, 1.0 / nx, threads);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                if (y > ny / 2 + (x < nx / 2 ? ny / 4 : 0))
                    set_label(s, x, y, z, UND_CELL_EMPTY);
                if (x > nx / 2 && x < 3 * nx / 4 && y < ny / 4)
                    set_solid(s, x, y, z, 6);
                for (int a = 0; a < (nz > 1 ? 3 : 2); a++)
                    *face(s, a, x, y, z) = swirl(a, 2.0 * x / nx, 2.0 * y / ny, 2.0 * z / nz);
            }
    start_model(s);
}

/* The largest difference between two flows over faces and cells of liquid. */
static void compare(flow_model *a, flow_model *b, double *velocity, double *pressure)
{
    *velocity = *pressure = 0;
    const und_mac *m = &a->flow.mac;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                size_t i = und_mac_at(m, x, y, z);
                if (a->flow.label[i] != UND_CELL_FULL)
                    continue;
                *pressure = fmax(*pressure, fabs(a->flow.p[i] - b->flow.p[i]));
                for (int k = 0; k < 3; k++) {
                    size_t low = i - (size_t)m->step[k];
                    *velocity = fmax(*velocity, fabs(a->flow.u[k][i] - b->flow.u[k][i]));
                    *velocity = fmax(*velocity, fabs(a->flow.u[k][low] - b->flow.u[k][low]));
                }
            }
}

static void test_both_ways_agree(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 12; nz += 11) {
        flow_model by_cells = {0}, at_once = {0};
        open_tank(&by_cells, 24, 20, nz, 1);
        open_tank(&at_once, 24, 20, nz, 1);
        und_error err;
        und_poisson *poisson = und_poisson_create(&at_once.flow.mac, 1, &err);
        assert_non_null(poisson);
        double dt = 0.01, epsilon = 1e-8;
        und_marker_flow_report relaxed = und_marker_flow_relax(&by_cells.flow, dt, 1.7, epsilon, 100000);
        und_marker_flow_report solved = und_marker_flow_project(&at_once.flow, poisson, dt, epsilon, 100);
        assert_true(relaxed.converged && solved.converged);
        assert_true(relaxed.divergence < epsilon && solved.divergence < epsilon);
        assert_double_near(und_marker_flow_divergence(&at_once.flow), solved.divergence, 0);
        assert_true(solved.iterations < relaxed.iterations);
        double velocity, pressure;
        compare(&by_cells, &at_once, &velocity, &pressure);
        print_message("%d deep: %d sweeps, %d iterations; differences %.2g m/s, %.2g m2/s2\n", nz,
                      relaxed.iterations, solved.iterations, velocity, pressure);
        assert_true(velocity < 1e-7 && pressure < 1e-7 / dt);
        und_poisson_destroy(poisson);
        und_marker_flow_close(&by_cells.flow);
        und_marker_flow_close(&at_once.flow);
    }
}

static void test_threads(void **state)
{
    (void)state;
    flow_model one = {.sweeps = 30}, three = {.sweeps = 30};
    open_tank(&one, 40, 24, 30, 1);
    open_tank(&three, 40, 24, 30, 3);
    for (int i = 0; i < 4; i++) {
        step_model(&one, 2e-3);
        step_model(&three, 2e-3);
        assert_int_equal(one.last.iterations, three.last.iterations);
    }
    und_step_limit limit;
    assert_true(und_marker_flow_longest_step(&one.flow, &one.momentum, 0.5, &limit) ==
                und_marker_flow_longest_step(&three.flow, &three.momentum, 0.5, &limit));
    size_t bytes = sizeof(double) * one.flow.mac.count;
    for (int a = 0; a < 3; a++)
        assert_memory_equal(one.flow.u[a], three.flow.u[a], bytes);
    assert_memory_equal(one.flow.p, three.flow.p, bytes);
    und_marker_flow_close(&one.flow);
    und_marker_flow_close(&three.flow);
}

enum { SIDE = 12 };

/* A heap in a corner of a closed box with solids, or its mirror image along an axis. */
static void open_box(flow_model *s, int axis)
{
    s->momentum = (und_momentum){.viscosity = 1e-4, .gravity = {0, -9.81, 0}};
    s->walls[6].kind = UND_WALL_STICK;
    s->epsilon = 1e-13;
    open_model(s, SIDE, SIDE, SIDE, 0.1, 0.1, 0.1, 1);
    if (axis == 1)
        s->momentum.gravity[1] = 9.81;
    for (int z = 0; z < SIDE; z++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                int c[3] = {x, y, z};
                if (axis >= 0)
                    c[axis] = SIDE - 1 - c[axis];
                if (c[1] > 5 + (c[0] < 4) + (c[2] < 7))
                    set_label(s, x, y, z, UND_CELL_EMPTY);
                if (c[0] == 6 && c[1] < 4 && c[2] > 2)
                    set_solid(s, x, y, z, 6);
            }
    start_model(s);
}

static void test_mirror(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        flow_model s = {0}, mirror = {0};
        open_box(&s, -1);
        open_box(&mirror, axis);
        for (int i = 0; i < 10; i++) {
            step_model(&s, 0.01);
            step_model(&mirror, 0.01);
        }
        double most = 0;
        for (int a = 0; a < 3; a++)
            for (int z = 0; z < SIDE - 1; z++)
                for (int y = 0; y < SIDE - 1; y++)
                    for (int x = 0; x < SIDE - 1; x++) {
                        int c[3] = {x, y, z};
                        c[axis] = SIDE - 1 - c[axis] - (a == axis);
                        double here = *face(&s, a, x, y, z), there = *face(&mirror, a, c[0], c[1], c[2]);
                        assert_double_near(a == axis ? -there : there, here, 1e-11);
                        most = fmax(most, fabs(here));
                    }
        assert_true(most > 0.1);
        und_marker_flow_close(&s.flow);
        und_marker_flow_close(&mirror.flow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_agree),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
