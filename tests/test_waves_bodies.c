/* Bodies of any shape in height-field water: what floats, what sinks, what pushes back, and the same bits. */
#include "tests/body.h"
#include "tests/state_hash.h"
#include "tests/waves_model.h"

#include "geom/motion.h"
#include "geom/shape.h"
#include "liquid/waves_state.h"

static const und_shape ball = {.kind = UND_SPHERE, .radius = 0.12};
static const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.2}};

/* A pool of 3 m x 3 m, 1 m deep, its level at 0. */
static und_waves_def height_field(int cells, int order)
{
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = def.height_field.nz = cells;
    def.height_field.dx = 3.0 / cells;
    def.height_field.ground.number = -1;
    def.height_field.threads = 1;
    def.order = order;
    return def;
}

static void run_seconds(und_waves *w, double seconds)
{
    run(w, (int)(60 * seconds), 1.0 / 60);
}

static uint64_t hash_of(und_waves *w, und_frame *kept)
{
    return state_hash(und_waves_liquid(w), kept);
}

/* More bodies than a person could throw balls: boxes, cylinders, balls; light ones float at their draft,
 * heavy ones lie on the ground, and no water is made or lost. */
static void any_shape_floats(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    static const und_shape cylinder = {.kind = UND_CYLINDER, .radius = 0.1, .half = {0, 0.15, 0}};
    static const und_shape brick = {.kind = UND_BOX, .half = {0.14, 0.08, 0.11}};
    const und_shape *shapes[3] = {&ball, &cylinder, &brick};
    und_body_def bodies[COUNT];
    for (int i = 0; i < COUNT; i++) {
        bodies[i] = body(shapes[i % 3], i < 9 ? 500 : 2500, 0.45 + 0.7 * (i % 4), 0.3, 0.45 + 0.9 * (i / 4));
        bodies[i].rotation[0] = i % 3 == 1 ? 90 : 0; /* cylinders lie */
    }
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = height_field(60, order);
        def.height_field.damping = 1;
        def.bodies = bodies;
        def.body_count = COUNT;
        und_waves *w = make(&def);
        run_seconds(w, 8);
        for (int i = 0; i < COUNT; i++) {
            double y = und_bodies_state(w->floats.bodies, i).position[1];
            if (i < 9) /* half under water, whichever way up */
                assert_double_near(y, 0.01, 0.03);
            else
                assert_true(y < -0.85 && y > -0.95);
        }
        und_ledger ledger = und_waves_ledger(w);
        assert_double_near(ledger.measured / ledger.start, 1, 1e-12);
        und_waves_destroy(w);
    }
}

/* A body bumps into an object that is led, which passed through balls before. */
static void led_objects_stop_bodies(void **state)
{
    (void)state;
    static const und_shape wall = {.kind = UND_BOX, .half = {0.05, 0.5, 1.4}, .center = {2, 0, 1.5}};
    const und_object_def object = {.shape = &wall, .color = {-1}};
    und_body_def one = body(&ball, 500, 1, 0, 1.5);
    one.velocity[0] = 3;
    und_waves_def def = height_field(60, 2);
    def.objects = &object;
    def.object_count = 1;
    def.bodies = &one;
    def.body_count = 1;
    und_waves *w = make(&def);
    double farthest = 0;
    for (int i = 0; i < 120; i++) {
        und_waves_step(w, 1.0 / 60);
        farthest = fmax(farthest, und_bodies_state(w->floats.bodies, 1).position[0]);
    }
    assert_true(farthest > 1.5 && farthest < 1.85);
    und_waves_destroy(w);
}

/* Of the water, kg m/s: in its flows, or in the speed of its surface, whose first moment they are. */
static double momentum(const und_waves *w, int axis)
{
    double sum = 0, dx = w->height_field.grid.dx;
    for (int z = 0; z < w->height_field.nz; z++)
        for (int x = 0; x < w->height_field.nx; x++) {
            size_t at = und_waves_at(w, x, z);
            double place = axis ? und_waves_z(w, z) : und_waves_x(w, x);
            sum += w->def.order == 2 ? (double)(axis ? w->flux_z : w->flux_x)[at]
                                     : (double)w->rise[at] / w->rise_time * place;
        }
    return w->def.height_field.density * dx * dx * sum;
}

/* A ball afloat off the grid, or smaller than a cell, does not begin to spin, nor to drift away. */
static void balls_afloat_do_not_spin(void **state)
{
    (void)state;
    static const und_shape bead = {.kind = UND_SPHERE, .radius = 0.012};
    const und_shape *const shapes[] = {&ball, &bead};
    for (int k = 0; k < 4; k++) {
        und_body_def one = body(shapes[k / 2], 500, 1.53, 0, 1.47);
        und_waves_def def = height_field(60, 1 + k % 2);
        def.bodies = &one;
        def.body_count = 1;
        und_waves *w = make(&def);
        run_seconds(w, 3);
        und_body_state now = und_waves_body(w, 0);
        for (int a = 0; a < 3; a++)
            assert_double_near(now.spin[a], 0, 1e-3 / shapes[k / 2]->radius);
        assert_double_near(now.position[0], 1.53, 0.01);
        assert_double_near(now.position[2], 1.47, 0.01);
        und_waves_destroy(w);
    }
}

/* Boxes lie still wherever they are put and however they are turned about: what lifts them is right below
 * their middle. */
static void boxes_afloat_rest(void **state)
{
    (void)state;
    static const und_shape crate = {.kind = UND_BOX, .half = {0.2, 0.05, 0.12}};
    static const double places[][3] = {{1.5, 1.5, 0}, {1.53, 1.47, 0}, {1.512, 1.488, 17}, {0.21, 1.4, 90}};
    for (int k = 0; k < 8; k++) {
        const double *at = places[k / 2];
        und_body_def one = body(&crate, 300, at[0], 0.02, at[1]);
        one.rotation[1] = at[2];
        und_waves_def def = height_field(60, 1 + k % 2);
        def.bodies = &one;
        def.body_count = 1;
        und_waves *w = make(&def);
        double fastest = 0;
        for (int n = 0; n < 120; n++) {
            und_waves_step(w, 1.0 / 60);
            und_body_state now = und_waves_body(w, 0);
            for (int a = 0; a < 3; a++)
                fastest = fmax(fastest, fmax(fabs(now.spin[a]), fabs(now.velocity[a])));
        }
        assert_true(fastest < 1e-9);
        und_waves_destroy(w);
    }
}

/* Of the water, J, above that of water at rest; order 2. */
static double energy(const und_waves *w)
{
    double sum = 0, mean = 0, dx = w->height_field.grid.dx;
    int count = w->height_field.nx * w->height_field.nz;
    for (int n = 0; n < count; n++)
        mean += w->height[und_waves_at(w, n % w->height_field.nx, n / w->height_field.nx)] / count;
    for (int n = 0; n < count; n++) {
        size_t at = und_waves_at(w, n % w->height_field.nx, n / w->height_field.nx);
        double h = w->height[at] - mean, x = (double)w->flux_x[at], z = (double)w->flux_z[at];
        sum += w->def.height_field.gravity * h * h + (x * x + z * z) / und_waves_depth(w, at);
    }
    return 0.5 * w->def.height_field.density * dx * dx * sum;
}

/* In a closed pool without damping, where nothing is lost: long planks, and what is light and covers much of
 * it, are moved by the waves and must not drive them. */
static void bodies_do_not_drive_waves(void **state)
{
    (void)state;
    static const und_shape plank = {.kind = UND_BOX, .half = {1, 0.03, 0.1}};
    static const und_shape sheet = {.kind = UND_BOX, .half = {1.2, 0.02, 1.2}};
    static const und_shape crate = {.kind = UND_BOX, .half = {0.3, 0.15, 0.3}};
    const struct {
        const und_shape *shape;
        double density, high;
    } rows[] = {{&plank, 500, 0}, {&plank, 50, 0.027}, {&sheet, 20, 0.0192}, {&crate, 500, 0}};
    for (int k = 0; k < 4; k++) {
        und_body_def one = body(rows[k].shape, rows[k].density, 1.53, rows[k].high, 1.47);
        und_waves_def def = height_field(30, 2);
        def.bodies = &one;
        def.body_count = 1;
        und_waves *w = make(&def);
        for (int n = 0; n < 30 * 30; n++) { /* a drop in a corner */
            double x = und_waves_x(w, n % 30) - 0.6, z = und_waves_z(w, n / 30) - 0.7;
            w->height[und_waves_at(w, n % 30, n / 30)] += 0.02 * exp(-(x * x + z * z) / 0.02);
        }
        double before = energy(w);
        run_seconds(w, test_cases(20, 4));
        print_message("%d: %g J, then %g J\n", k, before, energy(w));
        assert_true(energy(w) < 1.05 * before);
        und_waves_destroy(w);
    }
}

/* What drag gives to a body in a step the water loses: against the same without drag. */
static void drag_acts_back_on_the_water(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        double to_body[2] = {0}, to_water[2] = {0}, sign = 1;
        for (int k = 0; k < 2; k++, sign = -1) {
            und_body_def one = body(&box, 500, 1.37, 0, 1.52);
            one.velocity[0] = 0.8;
            one.velocity[2] = -0.5;
            one.drag = k == 0 ? 1 : 0;
            und_waves_def def = height_field(60, order);
            def.bodies = &one;
            def.body_count = 1;
            und_waves *w = make(&def);
            und_waves_move_bodies(w, 0.001); /* the flow's own stages would blur it */
            und_body_state now = und_bodies_state(w->floats.bodies, 0);
            /* with the water that goes along: half of the displaced */
            double mass = 1.5 * und_bodies_mass(w->floats.bodies, 0);
            for (int a = 0; a < 2; a++) {
                to_body[a] += sign * mass * now.velocity[2 * a];
                to_water[a] += sign * momentum(w, a);
            }
            und_waves_destroy(w);
        }
        for (int a = 0; a < 2; a++) {
            print_message("order %d: %g to the body, %g to the water\n", order, to_body[a], to_water[a]);
            assert_true(fabs(to_body[a]) > 1e-3);
            assert_double_near(to_water[a] / to_body[a], -1, 0.01);
        }
    }
}

static und_waves *storm(const und_body_def *bodies, int count, int order, int threads)
{
    und_waves_def def = height_field(64, order);
    def.height_field.threads = threads;
    def.bodies = bodies;
    def.body_count = count;
    return make(&def);
}

/* Bodies that bump, and a ball that a person throws: the same bits with threads, and after a restore. */
static void same_bits_with_threads_and_after_restore(void **state)
{
    (void)state;
    enum { COUNT = 10 };
    und_body_def bodies[COUNT];
    const und_ball thrown = {
        .place = {1.5, 0.6, 1.6}, .velocity = {0, -2, 0}, .radius = 0.15, .density = 600};
    for (int i = 0; i < COUNT; i++) {
        bodies[i] =
            body(i % 2 ? &ball : &box, 300 + 60 * i, 0.5 + 0.4 * (i % 5), 0.2 + 0.03 * i, 1 + 0.6 * (i / 5));
        bodies[i].spin[0] = i;
        bodies[i].ballast = i;
        bodies[i].ballast_at[1] = -0.1;
    }
    for (int order = 1; order <= 2; order++) {
        und_waves *w[3];
        und_error err = {0};
        und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        for (int k = 0; k < 3; k++) {
            w[k] = storm(bodies, COUNT, order, 1 + k % 2);
            und_liquid *l = und_waves_liquid(w[k]);
            if (k < 2) {
                run_seconds(w[k], 0.3);
                assert_true(l->class->throw_ball(l, &thrown));
                run_seconds(w[k], 0.3);
                hash_of(w[k], k == 0 ? &kept : NULL);
            } else if (l->class->restore(l, &kept, &err) != UND_OK) {
                fail_msg("%s", err.text);
            }
            run_seconds(w[k], 0.5);
        }
        assert_true(hash_of(w[0], NULL) == hash_of(w[1], NULL));
        assert_true(hash_of(w[0], NULL) == hash_of(w[2], NULL));
        und_frame_clear(&kept);
        for (int k = 0; k < 3; k++)
            und_waves_destroy(w[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_shape_floats),
        cmocka_unit_test(led_objects_stop_bodies),
        cmocka_unit_test(balls_afloat_do_not_spin),
        cmocka_unit_test(boxes_afloat_rest),
        cmocka_unit_test(bodies_do_not_drive_waves),
        cmocka_unit_test(drag_acts_back_on_the_water),
        cmocka_unit_test(same_bits_with_threads_and_after_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
