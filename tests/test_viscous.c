/* The viscous step on its own: motions without strain, layers, orders of convergence, stability. */
#include "tests/test.h"

#include "base/random.h"
#include "flow/viscous.h"

#include <math.h>
#include <string.h>

typedef struct flow_box {
    und_mac mac;
    und_distance surface;
    und_solids solids;
    und_stream stream;
    und_viscous *solver;
    float *nu;
} flow_box;

typedef double place_fn(const void *context, double x, double y, double z); /* cells */

static void open_box(flow_box *f, const int n[3], const bool open[6], bool coupled, int threads)
{
    static const bool closed[6] = {false};
    und_error err = {0};
    f->mac = und_mac_make(n, (double[3]){1, 1, 1}, (double[3]){0, 0, 0});
    assert_int_equal(und_distance_open(&f->surface, &f->mac, 5, threads, &err), UND_OK);
    assert_int_equal(und_solids_open(&f->solids, &f->mac, NULL, 0, open ? open : closed, 0, threads, &err),
                     UND_OK);
    assert_int_equal(und_stream_open(&f->stream, &f->mac, threads, &err), UND_OK);
    f->solver = und_viscous_create(&f->mac, coupled, threads, &err);
    f->nu = calloc(f->mac.count, sizeof *f->nu);
    assert_true(f->solver && f->nu);
}

static void close_box(flow_box *f)
{
    und_viscous_destroy(f->solver);
    und_stream_close(&f->stream);
    und_solids_close(&f->solids);
    und_distance_close(&f->surface);
    free(f->nu);
}

static void set_cells(flow_box *f, float *out, place_fn *fn, const void *context)
{
    for (int z = 0; z < f->mac.n[2]; z++)
        for (int y = 0; y < f->mac.n[1]; y++)
            for (int x = 0; x < f->mac.n[0]; x++)
                out[und_mac_at(&f->mac, x, y, z)] = (float)fn(context, x + 0.5, y + 0.5, z + 0.5);
}

static void set_surface(flow_box *f, place_fn *fn, const void *context)
{
    set_cells(f, f->surface.phi, fn, context);
    und_distance_refresh(&f->surface);
    und_stream_label(&f->stream, &f->surface, &f->solids);
}

static und_stream_report step_box(flow_box *f, bool stick, double dt, double tolerance)
{
    const und_viscous_flow flow = {.stream = &f->stream,
                                   .surface = &f->surface,
                                   .solids = &f->solids,
                                   .nu = f->nu,
                                   .stick = stick,
                                   .dt = dt,
                                   .tolerance = tolerance,
                                   .max_iterations = 1000};
    und_viscous_keep(f->solver, &f->stream);
    return und_viscous_step(f->solver, &flow);
}

/* ---- Motions without strain ---- */

typedef struct ball {
    double middle[3], radius;
    double velocity[3], turn[3]; /* cells/s, 1/s */
} ball;

static double ball_distance(const void *context, double x, double y, double z)
{
    const ball *b = context;
    double d[3] = {x - b->middle[0], y - b->middle[1], z - b->middle[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - b->radius;
}

static double ball_speed(const ball *b, int axis, const double at[3])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    return b->velocity[axis] + b->turn[i] * (at[j] - b->middle[j]) - b->turn[j] * (at[i] - b->middle[i]);
}

/* 1 to 100 across the ball, times the number. */
static double graded(const void *context, double x, double y, double z)
{
    (void)y, (void)z;
    return *(const double *)context * pow(100, x / 40);
}

static void place_of(int axis, int x, int y, int z, double at[3])
{
    at[0] = x + (axis == 0 ? 1 : 0.5);
    at[1] = y + (axis == 1 ? 1 : 0.5);
    at[2] = z + (axis == 2 ? 1 : 0.5);
}

/* Sets the ball's motion, or gives the largest difference from it. */
static double compare_ball(flow_box *f, const ball *b, bool set)
{
    double most = 0;
    for (int a = 0; a < (f->mac.n[2] > 1 ? 3 : 2); a++)
        for (int z = 0; z < f->mac.n[2]; z++)
            for (int y = 0; y < f->mac.n[1]; y++)
                for (int x = 0; x < f->mac.n[0]; x++) {
                    double at[3];
                    place_of(a, x, y, z, at);
                    float *u = &f->stream.u[a][und_mac_at(&f->mac, x, y, z)];
                    if (set)
                        *u = (float)ball_speed(b, a, at);
                    else if (und_mask_has(&f->stream.flows[a], x, y, z))
                        most = fmax(most, fabs((double)*u - ball_speed(b, a, at)));
                }
    return most;
}

/* A ball or a disc in the air keeps its motion, at any viscosity. */
static void rigid_motion_stays(void **state)
{
    (void)state;
    static const double sizes[] = {1e-6, 1, 1e4, 1e8};
    for (int three = 0; three < 2; three++)
        for (int coupled = 0; coupled < 2; coupled++) {
            flow_box f;
            const int n[3] = {40, 40, three ? 40 : 1};
            open_box(&f, n, NULL, coupled, 2);
            ball b = {{20.3, 19.8, three ? 20.1 : 0.5}, 13.7, {0.3, -0.2, three ? 0.1 : 0}, {0, 0, 0.05}};
            if (three)
                b.turn[0] = 0.03;
            set_surface(&f, ball_distance, &b);
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                set_cells(&f, f.nu, graded, &sizes[i]);
                compare_ball(&f, &b, true);
                for (int step = 0; step < 3; step++)
                    assert_true(step_box(&f, false, 1, 1e-6).converged);
                assert_true(compare_ball(&f, &b, false) < 1e-6);
            }
            close_box(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motion_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
