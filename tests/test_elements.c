/* Sources, drains, forces and modifiers: known answers for each role and each kind of field. */
#include "tests/test.h"

#include "base/pages.h"
#include "control/elements.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"

#define DX 0.125

static void *const EVERYWHERE = NULL;

/* A liquid without a solver: velocities, the faces that flow, a distance. */
typedef struct tank {
    und_mac_flow s;
    und_distance d;
    und_elements *e;
} tank;

static int axes(const und_mac *m)
{
    return m->n[2] == 1 ? 2 : 3;
}

static tank make_tank(int nx, int ny, int nz)
{
    const int n[3] = {nx, ny, nz};
    const double d[3] = {DX, DX, DX}, origin[3] = {-0.5, 0.25, 1};
    und_error err = {0};
    tank t = {.s.mac = und_mac_make(n, d, origin)};
    assert_int_equal(und_distance_open(&t.d, &t.s.mac, 5, 1, &err), UND_OK);
    for (int a = 0; a < 3; a++) {
        t.s.u[a] = und_pages_alloc((t.s.mac.count + 64) * sizeof(float), "u", &err);
        assert_int_equal(und_mask_open(&t.s.flows[a], &t.s.mac, "flows", &err), UND_OK);
    }
    /* all faces but those of the domain's sides */
    for (int a = 0; a < axes(&t.s.mac); a++)
        for (int z = 0; z < nz - (a == 2); z++)
            for (int y = 0; y < ny - (a == 1); y++)
                for (int x = 0; x < nx - (a == 0); x++)
                    und_mask_add(&t.s.flows[a], x, y, z);
    return t;
}

static void add_elements(tank *t, const und_element_def *defs, int count, int threads)
{
    und_error err = {0};
    und_elements_destroy(t->e);
    t->e = und_elements_create(&t->s.mac, defs, count, threads, &err);
    if (!t->e)
        fail_msg("%s", err.text);
}

static void empty_tank(tank *t)
{
    und_elements_destroy(t->e);
    und_distance_close(&t->d);
    for (int a = 0; a < 3; a++) {
        und_pages_free(t->s.u[a]);
        und_mask_close(&t->s.flows[a]);
    }
}

/* What check(t, axis, x, y, z, place) says of every face in the domain. */
typedef double expected_fn(int axis, const double place[3]);

static void every_face_is(const tank *t, expected_fn *expected, double tolerance)
{
    const und_mac *m = &t->s.mac;
    for (int a = 0; a < axes(m); a++)
        for (int z = 0; z < m->n[2]; z++)
            for (int y = 0; y < m->n[1]; y++)
                for (int x = 0; x < m->n[0]; x++) {
                    double place[3] = {und_mac_middle(m, 0, x), und_mac_middle(m, 1, y),
                                       und_mac_middle(m, 2, z)};
                    place[a] += 0.5 * DX;
                    bool flows = und_mask_has(&t->s.flows[a], x, y, z);
                    double u = (double)t->s.u[a][und_mac_at(m, x, y, z)];
                    double told = flows ? expected(a, place) : 0;
                    if (!(fabs(u - told) <= tolerance))
                        fail_msg("face %d of (%d, %d, %d): %g, expected %g", a, x, y, z, u, told);
                }
}

static und_shape *box(double x0, double y0, double z0, double x1, double y1, double z1)
{
    und_shape like = {.kind = UND_BOX,
                      .center = {(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2},
                      .half = {(x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2}};
    und_shape *shape = und_shape_create(&like, NULL);
    assert_non_null(shape);
    return shape;
}

static und_element_def element(und_element_role role, const und_shape *shape, double x, double y, double z)
{
    return (und_element_def){
        .role = role,
        .shape = shape,
        .field.value = {und_value_constant(x), und_value_constant(y), und_value_constant(z)},
        .alpha = und_value_constant(1),
        .end = INFINITY};
}

static double pulled(int axis, const double place[3])
{
    (void)place;
    return axis == 0 ? 0.5 * 2 : axis == 1 ? 0.5 * (-10 + 3) : 0.5 * 7;
}

static void gravity_and_forces_everywhere(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 9; nz += 8) {
        tank t = make_tank(70, 6, nz);
        und_element_def force = element(UND_ELEMENT_FORCE, EVERYWHERE, 2, 3, 7);
        add_elements(&t, &force, 1, 2);
        und_elements_render(t.e, 0, 0, &t.d);
        assert_null(und_elements_held(t.e));
        und_elements_force(t.e, &t.s, (const double[3]){0, -10, 0}, 0.5, NULL, 0);
        every_face_is(&t, pulled, 1e-6);
        empty_tank(&t);
    }
}

/* The box of the test is x from 0 to 1, y from 0.5 to 1, all z: the distance to its border, inside. */
static double depth_in_box(const double p[3])
{
    return fmin(fmin(p[0], 1 - p[0]), fmin(p[1] - 0.5, 1 - p[1]));
}

static double boxed(int axis, const double p[3])
{
    return depth_in_box(p) > 0 ? axis + 1 : 0;
}

static void forces_act_in_their_region(void **state)
{
    (void)state;
    und_shape *shape = box(0, 0.5, -9, 1, 1, 9);
    for (int nz = 1; nz <= 5; nz += 4) {
        tank t = make_tank(20, 10, nz);
        for (int a = 0; a < 3; a++) /* a face right on the border may be in or out: none of those */
            und_mask_clear(&t.s.flows[a]);
        for (int a = 0; a < axes(&t.s.mac); a++)
            for (int z = 0; z < nz - (a == 2); z++)
                for (int y = 0; y < 9; y++)
                    for (int x = 0; x < 19; x++) {
                        double p[2] = {und_mac_middle(&t.s.mac, 0, x + 0.5 * (a == 0)),
                                       und_mac_middle(&t.s.mac, 1, y + 0.5 * (a == 1))};
                        if (fabs(depth_in_box((double[3]){p[0], p[1], 0})) > 1e-9)
                            und_mask_add(&t.s.flows[a], x, y, z);
                    }
        und_element_def force = element(UND_ELEMENT_FORCE, shape, 10, 20, 30);
        add_elements(&t, &force, 1, 1);
        und_elements_render(t.e, 0, 0, &t.d);
        und_elements_force(t.e, &t.s, (const double[3]){0, 0, 0}, 0.1, NULL, 0);
        every_face_is(&t, boxed, 1e-6);
        empty_tank(&t);
    }
    und_shape_destroy(shape);
}

/* Below x = 1 it acts, and fades over 0.3. */
static double softened(int axis, const double p[3])
{
    return (axis + 1) * fmin(fmax((1 - p[0]) / 0.3, 0), 1);
}

static void forces_fade_inside_the_border(void **state)
{
    (void)state;
    und_shape *below =
        und_shape_create(&(und_shape){.kind = UND_PLANE, .center = {1, 0, 0}, .half = {1, 0, 0}}, NULL);
    tank t = make_tank(20, 10, 3);
    und_element_def force = element(UND_ELEMENT_FORCE, below, 10, 20, 30);
    force.soft = 0.3;
    add_elements(&t, &force, 1, 1);
    und_elements_render(t.e, 0, 0, &t.d);
    und_elements_force(t.e, &t.s, (const double[3]){0, 0, 0}, 0.1, NULL, 0);
    every_face_is(&t, softened, 1e-5);
    empty_tank(&t);
    und_shape_destroy(below);
}

static int calls;

static double wave(const void *context, double x, double y, double z, double t)
{
    calls++;
    return *(const int *)context * (x + 2 * y + 4 * z + 8 * t);
}

static double waved(int axis, const double p[3])
{
    return (axis + 1) * (p[0] + 2 * p[1] + 4 * p[2] + 8 * 0.25);
}

static void functions_are_asked_at_faces(void **state)
{
    (void)state;
    int scale[3] = {1, 2, 3};
    tank t = make_tank(9, 7, 5);
    und_element_def force = element(UND_ELEMENT_FORCE, EVERYWHERE, 0, 0, 0);
    for (int a = 0; a < 3; a++)
        force.field.value[a] = (und_value){.fn = wave, .context = &scale[a]};
    add_elements(&t, &force, 1, 7);
    calls = 0;
    und_elements_render(t.e, 0.25, 0, &t.d);
    und_elements_force(t.e, &t.s, (const double[3]){0, 0, 0}, 1, NULL, 0);
    every_face_is(&t, waved, 1e-5);
    assert_int_equal(calls, 8 * 7 * 5 + 9 * 6 * 5 + 9 * 7 * 4); /* on faces of the flow, once each */
    for (int a = 0; a < 3; a++)
        force.field.value[a].uniform = true;
    add_elements(&t, &force, 1, 7);
    calls = 0;
    und_elements_render(t.e, 0.25, 0, &t.d);
    und_elements_force(t.e, &t.s, (const double[3]){0, 0, 0}, 1, NULL, 0);
    assert_int_equal(calls, 3); /* the same everywhere */
    empty_tank(&t);
}

/* One component of a field at one place. */
static double sample(const und_field_kind *kind, const void *ready, int axis, double x, double y, double z)
{
    float out[3] = {-99, -99, -99};
    const double place[3] = {x - 0.01, y, z};
    kind->row(ready, axis, place, 0.01, 3, 0, out);
    return (double)out[1];
}

static void splines_pass_their_points(void **state)
{
    (void)state;
    static const double points[][3] = {{0, 0, 0}, {1, 2, 0.5}, {3, 1, -1}, {4, -1, 0}, {6, 0, 2}};
    const und_field_spline spline = {.points = {5, points}, .radius = 0.25, .speed = 3, .pull = 0};
    const und_field_kind *kind = &und_field_spline_kind;
    und_error err = {0};
    void *ready = kind->prepare(&spline, &err);
    assert_non_null(ready);
    for (int i = 0; i < 5; i++) {
        double u[3], square = 0;
        for (int a = 0; a < 3; a++) {
            u[a] = sample(kind, ready, a, points[i][0], points[i][1], points[i][2]);
            square += u[a] * u[a];
        }
        assert_double_near(sqrt(square), 3, 1e-5);
        if (i == 0 || i == 4)
            continue;
        for (int a = 0; a < 3; a++) { /* it runs as from the point before to the one after */
            double way = points[i + 1][a] - points[i - 1][a], length = 0;
            for (int k = 0; k < 3; k++)
                length += pow(points[i + 1][k] - points[i - 1][k], 2);
            assert_double_near(u[a], 3 * way / sqrt(length), 1e-4);
        }
    }
    kind->release(ready);
}

static void splines_fall_off(void **state)
{
    (void)state;
    static const double points[][3] = {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
    const und_field_spline spline = {.points = {3, points}, .radius = 0.5, .speed = 2, .pull = 3};
    const und_field_kind *kind = &und_field_spline_kind;
    und_error err = {0};
    void *ready = kind->prepare(&spline, &err);
    double low[3], high[3];
    kind->bounds(ready, 0, low, high);
    assert_double_near(low[0], -0.5, 1e-12);
    assert_double_near(high[1], 1.5, 1e-12);
    for (double away = 0; away <= 0.6; away += 0.05) {
        double s = fmin(away / 0.5, 1);
        assert_double_near(sample(kind, ready, 0, 0.7, 1 + away, 0), 2 * pow(1 - s * s, 2), 1e-6);
        assert_double_near(sample(kind, ready, 2, 1.3, 1, away), -3 * 6.75 * s * (1 - s) * (1 - s), 1e-6);
    }
    assert_double_near(sample(kind, ready, 1, 1.1, 1 - 0.5 / 3, 0), 3, 1e-6); /* the most it pulls */
    assert_double_near(sample(kind, ready, 0, 2.5, 1, 0), 0, 1e-6);           /* around its end too */
    kind->release(ready);
}

static double linear(const void *context, double x, double y, double z, double t)
{
    (void)t;
    return *(const int *)context * (1 + x - 2 * y + 3 * z);
}

static void grids_are_linear_between_samples(void **state)
{
    (void)state;
    int scale[3] = {1, -2, 5};
    und_field_grid grid = {.n = {3, 4, 5}, .low = {0, 1, 2}, .high = {1, 2, 4}};
    for (int a = 0; a < 3; a++)
        grid.value[a] = (und_value){.fn = linear, .context = &scale[a]};
    const und_field_kind *kind = &und_field_grid_kind;
    und_error err = {0};
    void *ready = kind->prepare(&grid, &err);
    assert_non_null(ready);
    for (int a = 0; a < 3; a++)
        for (double x = 0.05; x < 1; x += 0.3)
            for (double y = 1; y <= 2; y += 0.25)
                assert_double_near(sample(kind, ready, a, x, y, 2 + x + y / 2),
                                   scale[a] * (1 + x - 2 * y + 3 * (2 + x + y / 2)), 1e-4);
    assert_true(sample(kind, ready, 0, 0.5, 1.5, 4.01) == 0 && sample(kind, ready, 0, -0.01, 1.5, 3) == 0);
    assert_true(sample(kind, ready, 0, 0.5, 0.99, 3) == 0 && sample(kind, ready, 0, 1.01, 1.5, 3) == 0);
    kind->release(ready);
    /* product of coordinates within a cell: the trilinear term; and no z at all */
    static const float corners[4][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8, 4, 2}};
    const und_field_grid flat = {
        .n = {2, 2, 1}, .low = {0, 0, 0}, .high = {1, 1, 0}, .sample = &corners[0][0]};
    ready = kind->prepare(&flat, &err);
    assert_double_near(sample(kind, ready, 0, 0.25, 0.5, -77), 1, 1e-6);
    assert_double_near(sample(kind, ready, 2, 0.5, 1, 77), 1, 1e-6);
    kind->release(ready);
}

static void alpha_does_not_depend_on_the_steps(void **state)
{
    (void)state;
    for (int steps = 1; steps <= 24; steps += 23) {
        tank t = make_tank(4, 4, 4);
        und_element_def lead = element(UND_ELEMENT_VELOCITY, EVERYWHERE, 2, 0, 0);
        lead.alpha = und_value_constant(0.3);
        add_elements(&t, &lead, 1, 1);
        for (int i = 0; i < steps; i++) {
            und_elements_render(t.e, i / (24.0 * steps), 0, &t.d);
            und_elements_modify(t.e, &t.s, 1 / (24.0 * steps));
        }
        assert_double_near((double)t.s.u[0][und_mac_at(&t.s.mac, 1, 1, 1)], 0.6, 1e-6);
        lead.alpha = und_value_constant(1);
        add_elements(&t, &lead, 1, 1);
        und_elements_render(t.e, 0, 0, &t.d);
        und_elements_modify(t.e, &t.s, 1e-9);
        assert_true(t.s.u[0][und_mac_at(&t.s.mac, 1, 1, 1)] == 2); /* at once, and exactly */
        empty_tank(&t);
    }
}

static double alpha_of_place(const void *context, double x, double y, double z, double t)
{
    (void)context;
    return x + 0 * y + 0 * z + t; /* below 0 and above 1 in places */
}

static double led(int axis, const double p[3])
{
    return 4 * (axis + 1) * fmin(fmax(p[0] + 0.125, 0), 1);
}

static void alpha_is_a_field(void **state)
{
    (void)state;
    tank t = make_tank(16, 4, 3);
    und_element_def lead = element(UND_ELEMENT_VELOCITY, EVERYWHERE, 4, 8, 12);
    lead.alpha = (und_value){.fn = alpha_of_place};
    add_elements(&t, &lead, 1, 2);
    und_elements_render(t.e, 0.125, 0, &t.d);
    und_elements_modify(t.e, &t.s, 1.0 / 24);
    every_face_is(&t, led, 1e-5);
    empty_tank(&t);
}

static void elements_begin_and_end(void **state)
{
    (void)state;
    tank t = make_tank(4, 4, 1);
    und_element_def force = element(UND_ELEMENT_FORCE, EVERYWHERE, 1, 0, 0);
    force.start = 1;
    force.end = 2;
    add_elements(&t, &force, 1, 1);
    static const double times[] = {0.99, 1, 1.99, 2, 3};
    static const double sums[] = {0, 1, 2, 2, 2};
    for (int i = 0; i < 5; i++) {
        und_elements_render(t.e, times[i], 0, &t.d);
        und_elements_force(t.e, &t.s, (const double[3]){0, 0, 0}, 1, NULL, 0);
        assert_double_near((double)t.s.u[0][und_mac_at(&t.s.mac, 1, 1, 0)], sums[i], 0);
    }
    empty_tank(&t);
}

/* 3 x 2 x 2 cells, from cell (2, 2, 1) on, in coordinates of its own. */
static und_shape *brick(void)
{
    return box(0, 0, 0, 3 * DX, 2 * DX, 2 * DX);
}

static und_motion *moved(double x, double y, double z, double cells)
{
    const und_key keys[2] = {{.time = 0, .position = {x, y, z}},
                             {.time = 1, .position = {x + cells * DX, y, z}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, NULL);
    assert_non_null(motion);
    return motion;
}

static void sources_hold_their_cells(void **state)
{
    (void)state;
    tank t = make_tank(12, 8, 6);
    const und_mac *m = &t.s.mac;
    und_shape *shape = brick();
    und_motion *motion = moved(m->origin[0] + 2 * DX, m->origin[1] + 2 * DX, m->origin[2] + DX, 4);
    und_element_def source = element(UND_ELEMENT_SOURCE, shape, 5, 6, 7);
    source.motion = motion;
    add_elements(&t, &source, 1, 2);
    for (int time = 0; time <= 1; time++) {
        for (int a = 0; a < 3; a++)
            memset(t.s.u[a], 0, m->count * sizeof(float));
        und_elements_render(t.e, time, 0, &t.d);
        const und_mask *held = und_elements_held(t.e);
        assert_int_equal(und_mask_count(held), 12);
        int x0 = 2 + 4 * time;
        assert_true(und_mask_has(held, x0, 2, 1) && und_mask_has(held, x0 + 2, 3, 2));
        und_elements_pour(t.e, &t.s);
        long given[3] = {0};
        for (int a = 0; a < 3; a++)
            for (size_t i = 0; i < m->count; i++)
                given[a] += t.s.u[a][i] == (float)(5 + a);
        assert_true(given[0] == 4 * 2 * 2 && given[1] == 3 * 3 * 2 && given[2] == 3 * 2 * 3);
        assert_true(t.s.u[0][und_mac_at(m, x0 - 1, 2, 1)] == 5 && t.s.u[0][und_mac_at(m, x0 - 2, 2, 1)] == 0);
        assert_true(t.s.u[1][und_mac_at(m, x0, 3, 1)] == 6 && t.s.u[1][und_mac_at(m, x0, 4, 1)] == 0);
    }
    empty_tank(&t);
    und_motion_destroy(motion);
    und_shape_destroy(shape);
}

static void sources_fill_and_drains_empty(void **state)
{
    (void)state;
    tank t = make_tank(24, 16, 16);
    const und_mac *m = &t.s.mac;
    und_shape *ball = und_shape_create(&(und_shape){.kind = UND_SPHERE, .radius = 4 * DX}, NULL);
    und_shape *half = box(-9, -9, -9, 0, 9, 9);
    und_motion *middle = moved(m->origin[0] + 12 * DX, m->origin[1] + 8 * DX, m->origin[2] + 8 * DX, 0);
    und_element_def list[2] = {element(UND_ELEMENT_SOURCE, ball, 0, 0, 0),
                               element(UND_ELEMENT_DRAIN, half, 0, 0, 0)};
    list[0].motion = list[1].motion = middle;
    add_elements(&t, list, 2, 2);
    und_elements_render(t.e, 0, 0, &t.d);
    assert_true(und_elements_fill(t.e, &t.d, true));
    double volume = und_distance_volume(&t.d, NULL);
    assert_double_near(volume, 2.0 / 3 * M_PI * pow(4 * DX, 3), 0.03 * volume); /* half a ball */
    for (int x = 0; x < 24; x++) {
        double along = x + 0.5 - 12, phi = fmax(sqrt(along * along + 0.5) - 4, -along);
        assert_double_near((double)t.d.phi[und_mac_at(m, x, 8, 8)], fmin(fmax(phi, -5), 5), 1e-5);
        bool held = along > 0 && phi < 0;
        assert_int_equal(und_mask_has(und_elements_held(t.e), x, 8, 8), held);
    }
    empty_tank(&t);
    und_motion_destroy(middle);
    und_shape_destroy(ball);
    und_shape_destroy(half);
}

static void sources_at_the_sides(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 4; nz += 3) {
        tank t = make_tank(8, 8, nz);
        const und_mac *m = &t.s.mac;
        und_shape *shape = box(-9, m->origin[1] + 4 * DX, -9, m->origin[0] + 1.01 * DX, 9, 9);
        und_element_def source = element(UND_ELEMENT_SOURCE, shape, 3, 0, 0);
        add_elements(&t, &source, 1, 1);
        und_elements_render(t.e, 0, 0, &t.d);
        assert_true(und_elements_fill(t.e, &t.d, true));
        assert_false(und_elements_fill(t.e, &t.d, true)); /* it is full */
        und_elements_pour(t.e, &t.s);
        assert_int_equal(und_mask_count(und_elements_held(t.e)), 4 * nz);
        for (int y = 0; y < 8; y++)
            for (int x = -1; x < 2; x++)
                assert_true(t.s.u[0][und_mac_at(m, x, y, nz - 1)] == (y >= 4 && x < 1 ? 3 : 0));
        und_solids walls = {.mac = *m};
        for (int a = 0; a < 3; a++) {
            walls.open[a] = calloc(m->count, sizeof(float));
            for (size_t i = 0; i < m->count; i++)
                walls.open[a][i] = i % (size_t)m->step[1] != m->first % (size_t)m->step[1] - 1 ? 0.5f : 0;
        }
        /* 4 faces along x in each slice, half open, and none at the side; what passes along y is even */
        assert_double_near(und_elements_outflow(t.e, &t.s, &walls), 3 * 4 * nz * 0.5 * DX * DX, 1e-9);
        for (int a = 0; a < 3; a++)
            free(walls.open[a]);
        und_shape_destroy(shape);
        empty_tank(&t);
    }
}

/* A kind of field of one's own: the example of doc/levelset.md. */
typedef struct vortex {
    double middle[3]; /* of the axis, m; its y does not matter */
    double turns;     /* rad/s */
    double radius;    /* m */
} vortex;

static void vortex_bounds(const void *ready, double time, double low[3], double high[3])
{
    const vortex *v = ready;
    (void)time;
    for (int a = 0; a < 3; a++) {
        low[a] = a == 1 ? -INFINITY : v->middle[a] - v->radius;
        high[a] = a == 1 ? INFINITY : v->middle[a] + v->radius;
    }
}

static void vortex_row(const void *ready, int axis, const double place[3], double step, int count,
                       double time, float *out)
{
    const vortex *v = ready;
    double z = place[2] - v->middle[2];
    (void)time;
    for (int i = 0; i < count; i++) {
        double x = place[0] + i * step - v->middle[0];
        double fall = fmax(0, 1 - (x * x + z * z) / (v->radius * v->radius));
        out[i] = (float)(v->turns * fall * (axis == 0 ? z : axis == 2 ? -x : 0));
    }
}

static const und_field_kind vortex_kind = {
    .name = "vortex", .size = sizeof(vortex), .bounds = vortex_bounds, .row = vortex_row};

static double swirled(int axis, const double p[3])
{
    double x = p[0] - 0.5, z = p[2] - 1.5, fall = fmax(0, 1 - (x * x + z * z) / 0.25);
    return axis == 0 ? 2 * fall * z : axis == 2 ? -2 * fall * x : 0;
}

static void a_kind_of_ones_own(void **state)
{
    (void)state;
    const vortex swirl = {{0.5, 99, 1.5}, 2, 0.5};
    tank t = make_tank(20, 5, 12);
    und_element_def lead = element(UND_ELEMENT_VELOCITY, EVERYWHERE, 0, 0, 0);
    lead.field.kind = &vortex_kind;
    lead.field.data = &swirl;
    add_elements(&t, &lead, 1, 2);
    und_elements_render(t.e, 0, 0, &t.d);
    und_elements_modify(t.e, &t.s, 0.01);
    every_face_is(&t, swirled, 1e-6);
    empty_tank(&t);
}

static void same_bits_at_any_thread_count(void **state)
{
    (void)state;
    static const double points[][3] = {{0, 0.5, 1.2}, {2, 2, 3}, {5, 1, 2}};
    const und_field_spline spline = {.points = {3, points}, .radius = 1, .speed = 3, .pull = 1};
    int scale[3] = {1, 2, 3};
    und_shape *ball =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {1, 1, 2}, .radius = 0.8}, NULL);
    und_element_def list[4] = {
        element(UND_ELEMENT_SOURCE, ball, 1, 2, 3), element(UND_ELEMENT_FORCE, EVERYWHERE, 0, 0, 0),
        element(UND_ELEMENT_FORCE, ball, 0, 0, 0), element(UND_ELEMENT_VELOCITY, ball, 9, 8, 7)};
    list[1].field.kind = &und_field_spline_kind;
    list[1].field.data = &spline;
    for (int a = 0; a < 3; a++)
        list[2].field.value[a] = (und_value){.fn = wave, .context = &scale[a]};
    list[3].soft = 0.3;
    list[3].alpha = und_value_constant(0.4);
    tank first = {0};
    static const int threads[] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        tank t = make_tank(48, 24, 32);
        add_elements(&t, list, 4, threads[i]);
        for (int step = 0; step < 2; step++) {
            und_elements_render(t.e, 0.1 * step, 0, &t.d);
            und_elements_fill(t.e, &t.d, true);
            und_elements_force(t.e, &t.s, (const double[3]){1, -9, 0.5}, 0.02, NULL, 0);
            und_elements_modify(t.e, &t.s, 0.02);
            und_elements_pour(t.e, &t.s);
        }
        for (int a = 0; a < 3 && i > 0; a++)
            assert_memory_equal(t.s.u[a], first.s.u[a], t.s.mac.count * sizeof(float));
        if (i > 0)
            assert_memory_equal(t.d.phi, first.d.phi, t.s.mac.count * sizeof(float));
        if (i == 0)
            first = t;
        else
            empty_tank(&t);
    }
    empty_tank(&first);
    und_shape_destroy(ball);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    tank t = make_tank(4, 4, 4);
    static const double points[][3] = {{0, 0, 0}, {NAN, 1, 1}};
    static const float samples[2][3] = {{0, 0, 0}, {0, NAN, 0}};
    const und_field_spline broken = {.points = {2, points}, .radius = 1},
                           thin = {.points = {2, points}, .radius = 0};
    const und_field_grid turned = {.n = {2, 1, 1}, .low = {1}, .high = {0}, .sample = &samples[0][0]},
                         odd = {.n = {2, 1, 1}, .low = {0}, .high = {1}, .sample = &samples[0][0]};
    const und_field_def fields[] = {{.kind = &und_field_spline_kind, .data = &broken},
                                    {.kind = &und_field_spline_kind, .data = &thin},
                                    {.kind = &und_field_grid_kind, .data = &turned},
                                    {.kind = &und_field_grid_kind, .data = &odd}};
    static const char *const told[] = {"point 2 is not finite", "radius above 0", "along x and max above min",
                                       "sample 1 is not a finite number"};
    for (int i = 0; i < 4; i++) {
        und_error err = {0};
        und_element_def force = element(UND_ELEMENT_FORCE, EVERYWHERE, 0, 0, 0);
        force.field = fields[i];
        assert_null(und_elements_create(&t.s.mac, &force, 1, 1, &err));
        if (err.status != UND_INVALID || !strstr(err.text, told[i]))
            fail_msg("expected \"%s\", found \"%s\"", told[i], err.text);
    }
    und_error err = {0};
    und_element_def source = element(UND_ELEMENT_SOURCE, EVERYWHERE, 0, 0, 0);
    assert_null(und_elements_create(&t.s.mac, &source, 1, 1, &err));
    assert_non_null(strstr(err.text, "has a shape, and this has none"));
    empty_tank(&t);
}

/* Speed times the area that the flow sees, however it lies on the cells and beyond the domain's sides. */
static void sources_bring_what_their_shapes_do(void **state)
{
    (void)state;
    und_error err = {0};
    tank t = make_tank(8, 8, 8);
    const und_vec3 middle = und_vec(-0.5 + 4.2 * DX, 0.25 + 4.1 * DX, 1 + 3.9 * DX);
    const double r = 1.3 * DX, disc = 3.14159265358979 * r * r;
    und_shape *ball = und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = middle, .radius = r}, &err);
    und_shape *slot = und_shape_create(&(und_shape){.kind = UND_BOX,
                                                    .center = und_vec(-0.5, middle.y, middle.z),
                                                    .half = und_vec(DX, 0.1 * DX, 2 * DX)},
                                       &err);
    const und_element_def defs[] = {
        {.role = UND_ELEMENT_SOURCE, .shape = ball, .end = 2, .field.value[0].number = 3},
        {.role = UND_ELEMENT_SOURCE, .shape = ball, .end = 2, .field.value = {{.number = 3}, {.number = -4}}},
        {.role = UND_ELEMENT_SOURCE, .shape = slot, .end = 2, .field.value[0].number = 2},
        {.role = UND_ELEMENT_SOURCE, .shape = slot, .end = 2, .field.value[1].number = 2}};
    const double rate[] = {3 * disc, 5 * disc, 2 * 0.8 * DX * DX, 2 * 4 * DX * DX};
    for (int i = 0; i < 4; i++) {
        add_elements(&t, &defs[i], 1, 1);
        und_elements_hold_thin(t.e);
        und_elements_render(t.e, 1.5, 0, &t.d);
        assert_non_null(und_elements_held(t.e));
        assert_true(und_mask_count(und_elements_held(t.e)) > 0);
        assert_float_equal(und_elements_brings(t.e, NULL, 0.25), 0.25 * rate[i], 0.0025 * rate[i]);
        assert_float_equal(und_elements_brings(t.e, NULL, 2), 0.5 * rate[i], 0.005 * rate[i]);
    }
    und_shape_destroy(ball);
    und_shape_destroy(slot);
    empty_tank(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gravity_and_forces_everywhere),
                                       cmocka_unit_test(forces_act_in_their_region),
                                       cmocka_unit_test(forces_fade_inside_the_border),
                                       cmocka_unit_test(functions_are_asked_at_faces),
                                       cmocka_unit_test(splines_pass_their_points),
                                       cmocka_unit_test(splines_fall_off),
                                       cmocka_unit_test(grids_are_linear_between_samples),
                                       cmocka_unit_test(alpha_does_not_depend_on_the_steps),
                                       cmocka_unit_test(alpha_is_a_field),
                                       cmocka_unit_test(elements_begin_and_end),
                                       cmocka_unit_test(sources_hold_their_cells),
                                       cmocka_unit_test(sources_fill_and_drains_empty),
                                       cmocka_unit_test(sources_at_the_sides),
                                       cmocka_unit_test(sources_bring_what_their_shapes_do),
                                       cmocka_unit_test(a_kind_of_ones_own),
                                       cmocka_unit_test(same_bits_at_any_thread_count),
                                       cmocka_unit_test(what_is_wrong_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
