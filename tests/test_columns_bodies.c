/* Bodies and spray in the columns: what floats, what sinks, what splashes, and the same bits again. */
#include "tests/body.h"
#include "tests/columns_model.h"

#include "bodies/skeleton.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "liquid/columns_state.h"
#include "spray/sheet.h"

static und_shape *ball(double radius)
{
    und_error err;
    und_shape *shape = und_shape_create(&(und_shape){.kind = UND_SPHERE, .radius = radius}, &err);
    assert_non_null(shape);
    return shape;
}

/* A pool of 2 m x 2 m, half a metre deep, its level at 0. */
static und_columns_def height_field(int cells)
{
    und_columns_def def = und_columns_def_default();
    def.height_field.nx = def.height_field.nz = cells;
    def.height_field.dx = 2.0 / cells;
    def.height_field.ground.number = -0.5;
    def.height_field.threads = 1;
    return def;
}

static void run(und_columns *columns, double seconds)
{
    for (int i = 0; i < 60 * seconds; i++)
        und_columns_step(columns, 1.0 / 60);
}

/* Light bodies come up and float, heavy ones lie on the ground; neither leaves the pool. */
static void light_floats_and_heavy_sinks(void **state)
{
    (void)state;
    und_shape *shape = ball(0.15);
    und_body_def bodies[] = {body(shape, 400, 0.6, -0.25, 0.7), body(shape, 2500, 1.4, 0.3, 1.3)};
    for (int rule = UND_FORCE_ESTIMATE; rule <= UND_FORCE_SEARCH; rule++) {
        und_columns_def def = height_field(41);
        def.force = (und_force_rule)rule;
        def.height_field.damping = 0.5;
        def.body_count = 2;
        def.bodies = bodies;
        und_columns *columns = make(&def);
        run(columns, 8);
        und_body_state light = und_columns_body(columns, 0), heavy = und_columns_body(columns, 1);
        assert_true(light.position[1] > -0.02 &&
                    light.position[1] < 0.1); /* its middle 0.02 over the level */
        assert_double_near(heavy.position[1], -0.35, 0.002);
        for (int i = 0; i < 3; i += 2)
            assert_true(light.position[i] > 0.15 && light.position[i] < 1.85);
        und_ledger ledger = und_columns_ledger(columns);
        assert_double_near(ledger.measured / ledger.start, 1, 1e-13);
        und_columns_destroy(columns);
    }
    und_shape_destroy(shape);
}

/* A body that starts in the water at its draft stays there, and the water with it. */
static void afloat_from_the_start(void **state)
{
    (void)state;
    und_error err;
    und_shape like = {.kind = UND_BOX, .half = {0.2, 0.1, 0.2}}, *box = und_shape_create(&like, &err);
    und_body_def one = body(box, 500, 1, 0, 1);
    und_columns_def def = height_field(41);
    def.body_count = 1;
    def.bodies = &one;
    und_columns *columns = make(&def);
    double level = und_columns_surface(columns, 3, 3);
    run(columns, 3);
    assert_double_near(und_columns_body(columns, 0).position[1], 0, 0.004);
    assert_double_near(und_columns_surface(columns, 3, 3), level, 0.004);
    assert_double_near(und_columns_surface(columns, 20, 20), level, 0.006); /* as if the body were water */
    assert_double_near(und_columns_depth(columns, 20, 20), 0.4, 0.01);
    und_columns_destroy(columns);
    und_shape_destroy(box);
}

/* Waves move bodies: a dam that breaks carries a ball along; bodies make waves: a led one does. */
static double dam(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return x < 0.5 ? 0.15 : 0;
}

static void waves_move_bodies(void **state)
{
    (void)state;
    und_shape *shape = ball(0.1);
    und_body_def one = body(shape, 500, 1, 0, 1);
    und_columns_def def = height_field(41);
    def.height_field.surface = (und_value){.fn = dam};
    def.body_count = 1;
    def.bodies = &one;
    und_columns *columns = make(&def);
    run(columns, 0.5);
    assert_true(und_columns_body(columns, 0).position[0] > 1.03);
    assert_double_near(und_columns_body(columns, 0).position[2], 1, 0.01);
    und_columns_destroy(columns);
    und_shape_destroy(shape);
}

static void led_bodies_make_waves(void **state)
{
    (void)state;
    und_error err;
    const und_key keys[] = {{.time = 0, .position = {1, 0.3, 1}}, {.time = 0.5, .position = {1, -0.1, 1}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_SPLINE, &err);
    und_shape *shape = ball(0.15);
    und_body_def one = body(shape, 1000, 0, 0, 0);
    one.motion = motion;
    one.release = INFINITY;
    und_columns_def def = height_field(41);
    def.height_field.damping = 1;
    def.body_count = 1;
    def.bodies = &one;
    und_columns *columns = make(&def);
    run(columns, 0.5);
    double highest = 0;
    for (int x = 0; x < 41; x++)
        highest = fmax(highest, und_columns_surface(columns, x, 20));
    assert_true(highest > 0.01);
    assert_double_near(und_columns_body(columns, 0).position[1], -0.1, 1e-9);
    run(columns, 20); /* the level has risen by what the ball displaces */
    double sum = 0;
    for (int i = 0; i < 41; i++)
        sum += und_columns_surface(columns, i, 2) / 41;
    double under = 0.25, cap = M_PI * under * under * (0.45 - under) / 3;
    assert_double_near(sum, cap / 4, 0.1 * cap / 4);
    und_columns_destroy(columns);
    und_motion_destroy(motion);
    und_shape_destroy(shape);
}

enum { MANY = 9 }; /* bodies: so many that threads share them */

/* A stone, balls that touch, and others around. */
static void throw_many(und_body_def bodies[MANY], const und_shape *shape, double speed)
{
    bodies[0] = body(shape, 2500, 1, 0.2, 1);
    bodies[0].velocity[1] = -speed;
    bodies[1] = body(shape, 300, 0.7, 0, 1);
    bodies[2] = body(shape, 500, 0.72, 0.25, 1.02);
    for (int i = 3; i < MANY; i++)
        bodies[i] = body(shape, 200 + 100 * i, 0.3 + 0.28 * (i - 3), 0.02 * i, i % 2 ? 0.35 : 1.6);
}

/* A stone, balls and spray: everything at once. */
static und_columns *splash(const und_body_def *bodies, int threads, und_force_rule rule)
{
    und_columns_def def = height_field(128);
    def.height_field.threads = threads;
    def.pipe_depth = 0.2;
    def.force = rule;
    def.spray.on = true;
    def.spray.threshold = 1;
    def.spray.drag = 1;
    def.spray.sheets = true;
    def.body_count = MANY;
    def.bodies = bodies;
    return make(&def);
}

static void same_bits_with_threads_and_after_restore(void **state)
{
    (void)state;
    und_shape *shape = ball(0.12);
    und_body_def bodies[MANY];
    throw_many(bodies, shape, 4);
    for (int rule = UND_FORCE_ESTIMATE; rule <= UND_FORCE_SEARCH; rule++) {
        und_columns *a = splash(bodies, 1, (und_force_rule)rule),
                    *b = splash(bodies, 2, (und_force_rule)rule);
        run(a, 0.25);
        run(b, 0.25);
        assert_true(und_columns_spray_count(a) > 50);
        und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        assert_true(hash_of(a, &kept) == hash_of(b, NULL));
        run(a, 0.25);
        und_columns *c = splash(bodies, 2, (und_force_rule)rule);
        und_error err = {0};
        und_liquid *liquid = und_columns_liquid(c);
        if (liquid->class->restore(liquid, &kept, &err) != UND_OK)
            fail_msg("%s", err.text);
        run(c, 0.25);
        assert_true(hash_of(a, NULL) == hash_of(c, NULL));
        und_frame_clear(&kept);
        und_columns_destroy(a);
        und_columns_destroy(b);
        und_columns_destroy(c);
    }
    und_shape_destroy(shape);
}

/* Water, spray and what left add up, however much flies. */
static void spray_is_accounted_for(void **state)
{
    (void)state;
    und_shape *shape = ball(0.12);
    und_body_def bodies[MANY];
    throw_many(bodies, shape, 6);
    und_columns *columns = splash(bodies, 1, UND_FORCE_ESTIMATE);
    double most = 0;
    for (int i = 0; i < 120; i++) {
        und_columns_step(columns, 1.0 / 60);
        und_ledger ledger = und_columns_ledger(columns);
        double flying = und_spray_in_flight(columns->spray);
        most = fmax(most, flying);
        assert_double_near((ledger.measured + flying + ledger.left) / ledger.start, 1, 1e-12);
        assert_double_near(ledger.spray_out - ledger.spray_back, flying, 1e-12 * ledger.start);
        assert_double_near(und_ledger_expected(&ledger) / ledger.measured, 1, 1e-12);
    }
    assert_true(most > 1e-5);
    und_columns_destroy(columns);
    und_shape_destroy(shape);
}

/* The longest part of a row of a crown that is whole, of all of it. */
static double wholeness(const und_sheets *sheets)
{
    double most = 0;
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        for (int r = 0; r + 1 < und_impact_rows(&sheets->impact[slot]); r++) {
            int whole = 0, sectors = (int)sheets->impact[slot].sectors;
            for (int a = 0; a < sectors; a++)
                whole += sheets->quad[und_sheet_at(slot, r, a)] == UND_QUAD_WHOLE;
            most = fmax(most, (double)whole / sectors);
        }
    return most;
}

/* What a ball throws up is a closed crown first, most of its water in the sheet, and drops in the end. */
static void impacts_throw_crowns(void **state)
{
    (void)state;
    und_shape *shape = ball(0.12);
    und_body_def stone = body(shape, 2500, 1, 0.2, 1);
    stone.velocity[1] = -6;
    und_columns_def def = height_field(100);
    def.pipe_depth = 0.3;
    def.spray.on = def.spray.sheets = true;
    def.spray.rate = 1e6;
    def.spray.threshold = 2;
    def.body_count = 1;
    def.bodies = &stone;
    und_columns *columns = make(&def);
    und_spray *spray = columns->spray;
    double whole = 0, share = 0;
    for (int i = 0; i < 15; i++) {
        und_columns_step(columns, 1.0 / 60);
        und_sheets_measure(spray->sheets, spray);
        int held = 0;
        for (int k = 0; k < spray->count; k++)
            held += und_sheets_hold(spray->sheets, spray, k);
        whole = fmax(whole, wholeness(spray->sheets));
        share = fmax(share, (double)held / fmax(spray->count, 1));
    }
    print_message("whole %g share %g\n", whole, share);
    assert_true(whole > 0.95 && share > 0.7);
    run(columns, 1.5);
    assert_true(wholeness(spray->sheets) == 0);
    und_columns_destroy(columns);
    und_shape_destroy(shape);
}

/* A ball that falls into the very middle stays there, and the water is the same on both sides. */
static void the_force_has_no_direction(void **state)
{
    (void)state;
    und_shape *shape = ball(0.2);
    und_body_def one = body(shape, 350, 1, 0.45, 1);
    und_columns_def def = height_field(61);
    def.pipe_depth = 0.25;
    def.body_count = 1;
    def.bodies = &one;
    und_columns *columns = make(&def);
    run(columns, 2);
    for (int z = 0; z < 61; z++)
        for (int x = 0; x < 30; x++)
            assert_double_near(und_columns_surface(columns, x, z), und_columns_surface(columns, 60 - x, z),
                               1e-6);
    assert_double_near(und_columns_body(columns, 0).position[0], 1, 1e-6);
    und_columns_destroy(columns);
    und_shape_destroy(shape);
}

/* A thin plate that falls flat is stopped, not thrown back, by either rule. */
static void plates_are_not_thrown_back(void **state)
{
    (void)state;
    und_error err;
    for (int i = 0; i < 4; i++) {
        und_shape like = {.kind = UND_BOX, .half = {0.5, i % 2 ? 0.0005 : 0.05, 0.5}};
        und_shape *plate = und_shape_create(&like, &err);
        und_body_def one = body(plate, 500, 1, 0.3, 1);
        und_columns_def def = height_field(41);
        def.force = i < 2 ? UND_FORCE_ESTIMATE : UND_FORCE_SEARCH;
        def.body_count = 1;
        def.bodies = &one;
        und_columns *columns = make(&def);
        for (int n = 0; n < 120; n++) {
            und_columns_step(columns, 1.0 / 60);
            assert_true(und_columns_body(columns, 0).velocity[1] < 0.6); /* it fell at 2.4 m/s */
        }
        und_columns_destroy(columns);
        und_shape_destroy(plate);
    }
}

/* Fast bodies do not pass through each other. */
static void fast_bodies_meet(void **state)
{
    (void)state;
    und_shape *shape = ball(0.1);
    und_body_def two[] = {body(shape, 1000, 0.3, 0.6, 1), body(shape, 1000, 1.7, 0.6, 1)};
    two[0].velocity[0] = 20;
    two[1].velocity[0] = -20;
    und_columns_def def = height_field(41);
    def.body_count = 2;
    def.bodies = two;
    und_columns *columns = make(&def);
    und_columns_step(columns, 1.0 / 24);
    assert_true(und_columns_body(columns, 0).position[0] < und_columns_body(columns, 1).position[0]);
    und_columns_destroy(columns);
    und_shape_destroy(shape);
}

/* A body that leaves no open water beside it floats too. */
static void a_body_may_fill_the_pool(void **state)
{
    (void)state;
    und_error err;
    und_shape like = {.kind = UND_BOX, .half = {0.98, 0.2, 0.98}}, *box = und_shape_create(&like, &err);
    und_body_def one = body(box, 500, 1, 0, 1);
    und_columns_def def = height_field(41);
    def.height_field.damping = 1;
    def.body_count = 1;
    def.bodies = &one;
    und_columns *columns = make(&def);
    run(columns, 3);
    assert_true(und_columns_body(columns, 0).position[1] > -0.15);
    und_columns_destroy(columns);
    und_shape_destroy(box);
}

/* Of the water in all pipes, along x or z, kg m/s: rho Q times the pipe's length. */
static double momentum(const und_columns *s, int axis)
{
    static const double along[2][PIPES] = {{1, 0, 1, -1}, {0, 1, 1, 1}};
    double sum = 0;
    for (int k = 0; k < PIPES; k++)
        for (int z = 0; z < s->nz; z++)
            for (int x = 0; x < s->nx; x++)
                sum += along[axis][k] * (double)s->flow[k][und_columns_at(s, x, z)];
    return s->def.height_field.density * pow(s->height_field.grid.dx, 3) * sum;
}

/* What drag does to a body in a step, and to the water: each against the same step without drag. */
static void drag_gives(const und_body_def *body_def, double depth, double to_body[2], double to_water[2])
{
    double sign = 1;
    for (int run_count = 0; run_count < 2; run_count++, sign = -1) {
        und_body_def one = *body_def;
        one.drag = run_count == 0 ? one.drag : 0;
        und_columns_def def = height_field(41);
        def.height_field.ground.number = -depth;
        def.body_count = 1;
        def.bodies = &one;
        und_columns *columns = make(&def);
        und_columns_step(columns, 0.002);
        double mass = und_bodies_mass(columns->floats.bodies, 0);
        for (int a = 0; a < 2; a++) {
            to_body[a] += sign * mass * und_columns_body(columns, 0).velocity[2 * a];
            to_water[a] += sign * momentum(columns, a);
        }
        und_columns_destroy(columns);
    }
}

/* Momentum that a body loses to drag the water gains: under water and afloat, off the grid, slantwise, over
 * a film, beside a wall; of a led body too, which loses nothing. */
static void drag_acts_back_on_the_water(void **state)
{
    (void)state;
    und_shape *shape = ball(0.12);
    static const double places[][4] = {
        {0.97, -0.25, 1.04, 0.5}, {1.3, 0.02, 0.4, 0.5}, {0.9, 0.11, 1.1, 0.015}, {0.125, -0.1, 1.5, 0.5}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const double *p = places[i];
        und_body_def one = body(shape, 900, p[0], p[1], p[2]);
        double to_body[2] = {0}, to_water[2] = {0};
        one.velocity[0] = 0.8;
        one.velocity[2] = -0.5;
        drag_gives(&one, p[3], to_body, to_water);
        for (int a = 0; a < 2; a++) {
            print_message("%zu: %g to the body, %g to the water, kg m/s\n", i, to_body[a], to_water[a]);
            assert_true(to_body[a] * one.velocity[2 * a] < 0);
            assert_double_near(to_water[a] / to_body[a], -1, 1e-3);
        }
    }
    und_shape_destroy(shape);
}

/* A figure that falls by its keys is let go where it meets the water, and floats: joints and all, with the
 * same bits after a restore. */
static void figures_are_let_go_in_the_water(void **state)
{
    (void)state;
    static const char text[] = "skeleton eel\n"
                               "bone head ellipsoid 0.1 0.08 0.12\n"
                               "bone body on head joint 0 0 -0.1 ellipsoid 0.09 0.07 0.2 at 0 0 -0.17\n"
                               "bone tail on body joint 0 0 -0.34 ellipsoid 0.05 0.05 0.15 at 0 0 -0.12\n"
                               "key 0 at 1.01 0.6 1.2 body 20 tail -20\n"
                               "key 0.4 at 1.01 -0.3 1.1 body -20 tail 20\n";
    und_error err = {0};
    und_skeleton *skeleton = und_skeleton_parse(text, strlen(text), "eel.skel", &err);
    assert_non_null(skeleton);
    und_body_def bones[3];
    for (int i = 0; i < 3; i++) {
        bones[i] = body(und_skeleton_shape(skeleton, i), 700, 0, 0, 0);
        bones[i].skeleton = skeleton;
        bones[i].bone = i;
        bones[i].release = INFINITY;
        bones[i].release_wet = true;
    }
    und_columns_def def = height_field(41);
    def.body_count = 3;
    def.bodies = bones;
    und_columns *columns = make(&def), *again = make(&def);
    run(columns, 0.15);
    assert_true(und_bodies_led(columns->floats.bodies, 0) && und_bodies_led(columns->floats.bodies, 2));
    run(columns, 0.35);
    for (int i = 0; i < 3; i++)
        assert_false(und_bodies_led(columns->floats.bodies, i));
    und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    hash_of(columns, &kept);
    und_liquid *liquid = und_columns_liquid(again);
    assert_int_equal(liquid->class->restore(liquid, &kept, &err), UND_OK);
    run(columns, 4);
    run(again, 4);
    assert_true(hash_of(columns, NULL) == hash_of(again, NULL));
    for (int i = 0; i < 3; i++)
        assert_true(und_columns_body(columns, i).position[1] > -0.06);
    und_frame_clear(&kept);
    und_columns_destroy(columns);
    und_columns_destroy(again);
    und_skeleton_destroy(skeleton);
}

/* A body that floats at an open edge takes up room there: the water outside does not fill it. */
static void open_edges_see_the_level_around_bodies(void **state)
{
    (void)state;
    und_shape *shape = ball(0.25);
    und_body_def one = body(shape, 500, 0.05, 0, 1);
    und_columns_def def = height_field(40);
    def.height_field.edge[UND_LOW_X] = (und_edge_def){.kind = UND_EDGE_OPEN, .has_level = true};
    def.body_count = 1;
    def.bodies = &one;
    und_columns *columns = make(&def);
    run(columns, 0.1);
    double left = und_columns_ledger(columns).left;
    print_message("through the edge: %g m3\n", left);
    assert_true(fabs(left) < 1e-3);
    und_columns_destroy(columns);
    und_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_floats_and_heavy_sinks),
        cmocka_unit_test(afloat_from_the_start),
        cmocka_unit_test(waves_move_bodies),
        cmocka_unit_test(led_bodies_make_waves),
        cmocka_unit_test(same_bits_with_threads_and_after_restore),
        cmocka_unit_test(spray_is_accounted_for),
        cmocka_unit_test(impacts_throw_crowns),
        cmocka_unit_test(the_force_has_no_direction),
        cmocka_unit_test(plates_are_not_thrown_back),
        cmocka_unit_test(fast_bodies_meet),
        cmocka_unit_test(a_body_may_fill_the_pool),
        cmocka_unit_test(drag_acts_back_on_the_water),
        cmocka_unit_test(figures_are_let_go_in_the_water),
        cmocka_unit_test(open_edges_see_the_level_around_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
