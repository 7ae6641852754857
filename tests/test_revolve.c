/* Surfaces of revolution: known volumes and areas, normals, and that they are closed. */
#include "surface/revolve.h"
#include "tests/test.h"

static const double PI = 3.14159265358979323846;
static const und_revolve_def DEF = {.axis_x = 0.5, .axis_z = -0.25, .around = 96, .along = 3};

typedef struct profile {
    int count;
    float place[400][3];
} profile;

static void add_place(profile *p, double r, double y)
{
    p->place[p->count][0] = (float)(DEF.axis_x + r);
    p->place[p->count][1] = (float)y;
    p->place[p->count++][2] = 0;
}

/* Places from one to another, without the last. */
static void add_line(profile *p, double r0, double y0, double r1, double y1, int pieces)
{
    for (int i = 0; i < pieces; i++)
        add_place(p, r0 + (r1 - r0) * i / pieces, y0 + (y1 - y0) * i / pieces);
}

static void add_arc(profile *p, double r, double y, double radius, double from, double to, int pieces)
{
    for (int i = 0; i < pieces; i++) {
        double angle = from + (to - from) * i / pieces;
        add_place(p, r + radius * cos(angle), y + radius * sin(angle));
    }
}

typedef struct surface {
    und_frame frame;
    const float *place, *normal;
    size_t corners;
    double volume, area;
} surface;

static und_frame frame_of(const profile *p)
{
    und_error err = {0};
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    und_item *place = und_frame_add(&frame,
                                    &(und_item_def){.name = "chain/position",
                                                    .unit = "m",
                                                    .kind = UND_PARTICLES,
                                                    .type = UND_F32,
                                                    .rank = 2,
                                                    .dim = {(size_t)p->count, 3}},
                                    &err);
    assert_non_null(place);
    memcpy(place->data, p->place, und_item_bytes(place));
    und_item *first = und_frame_add(
        &frame,
        &(und_item_def){
            .name = "chain/first", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {2}},
        &err);
    assert_non_null(first);
    ((int32_t *)first->data)[1] = p->count;
    return frame;
}

static surface revolve(const profile *p)
{
    und_error err = {0};
    surface s = {.frame = frame_of(p)};
    assert_int_equal(und_revolve(&DEF, &s.frame, &err), UND_OK);
    const und_item *place = und_frame_find(&s.frame, "liquid/mesh_position");
    const und_item *normal = und_frame_find(&s.frame, "liquid/mesh_normal");
    assert_non_null(place);
    assert_non_null(normal);
    assert_int_equal(place->dim[0], normal->dim[0]);
    s.place = place->data;
    s.normal = normal->data;
    s.corners = place->dim[0];
    for (size_t t = 0; t < s.corners; t += 3) {
        const float *a = s.place + 3 * t, *b = a + 3, *c = a + 6;
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++) {
            u[k] = (double)b[k] - a[k];
            v[k] = (double)c[k] - a[k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        s.area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
        s.volume += (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6;
    }
    return s;
}

typedef struct edge {
    float from[3], to[3];
} edge;

static int compare_edges(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(edge));
}

/* Every edge is there once in each direction. */
static void check_closed(const surface *s)
{
    edge *there = malloc(s->corners * sizeof *there), *back = malloc(s->corners * sizeof *back);
    for (size_t i = 0; i < s->corners; i++) {
        size_t j = i % 3 == 2 ? i - 2 : i + 1;
        for (int k = 0; k < 3; k++) {
            there[i].from[k] = back[i].to[k] = s->place[3 * i + (size_t)k] + 0.0f; /* no negative zeros */
            there[i].to[k] = back[i].from[k] = s->place[3 * j + (size_t)k] + 0.0f;
        }
    }
    qsort(there, s->corners, sizeof *there, compare_edges);
    qsort(back, s->corners, sizeof *back, compare_edges);
    assert_memory_equal(there, back, s->corners * sizeof *there);
    for (size_t i = 1; i < s->corners; i++)
        assert_true(compare_edges(&there[i - 1], &there[i]) != 0);
    free(there);
    free(back);
}

static void test_half_a_circle_is_a_sphere(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) { /* with its straight side on the axis, or a circle around it */
        profile p = {0};
        add_arc(&p, 0, 1, 0.3, -PI / 2, PI / 2, 50);
        if (whole)
            add_arc(&p, 0, 1, 0.3, PI / 2, 3 * PI / 2, 50);
        else
            add_line(&p, 1e-8, 1.3, 1e-8, 0.7, 20);
        surface s = revolve(&p);
        check_closed(&s);
        assert_double_near(s.volume, 4 * PI / 3 * 0.027, 5e-3 * 4 * PI / 3 * 0.027);
        assert_double_near(s.area, 4 * PI * 0.09, 5e-3 * 4 * PI * 0.09);
        for (size_t i = 0; i < s.corners; i++) {
            const float *q = s.place + 3 * i, *n = s.normal + 3 * i;
            double r[3] = {q[0] - DEF.axis_x, q[1] - 1, q[2] - DEF.axis_z};
            double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            assert_double_near(length, 0.3, 1e-4);
            assert_true((r[0] * n[0] + r[1] * n[1] + r[2] * n[2]) / length > cos(PI / 180));
        }
        und_frame_clear(&s.frame);
    }
}

static void test_a_rectangle_is_a_cylinder(void **state)
{
    (void)state;
    profile p = {0};
    add_line(&p, 0, 0.1, 0.4, 0.1, 40);
    add_line(&p, 0.4, 0.1, 0.4, 0.6, 50);
    add_line(&p, 0.4, 0.6, 0, 0.6, 40);
    add_line(&p, 0, 0.6, 0, 0.1, 50);
    surface s = revolve(&p);
    check_closed(&s);
    assert_double_near(s.volume, PI * 0.16 * 0.5, 1e-2 * PI * 0.16 * 0.5);
    assert_double_near(s.area, 2 * PI * 0.16 + 0.8 * PI * 0.5, 1e-2 * (2 * PI * 0.16 + 0.8 * PI * 0.5));
    und_frame_clear(&s.frame);
}

static void test_a_circle_off_the_axis_is_a_torus(void **state)
{
    (void)state;
    profile p = {0};
    add_arc(&p, 0.5, 0.2, 0.2, 0.1, 0.1 + 2 * PI, 50);
    surface s = revolve(&p);
    check_closed(&s);
    double volume = 2 * PI * 0.5 * PI * 0.04, area = 2 * PI * 0.5 * 2 * PI * 0.2; /* Pappus */
    assert_double_near(s.volume, volume, 5e-3 * volume);
    assert_double_near(s.area, area, 5e-3 * area);
    und_frame_clear(&s.frame);
}

/* A bubble: the other way round, its normals go into it. */
static void test_a_bubble_is_inside_out(void **state)
{
    (void)state;
    profile p = {0};
    add_arc(&p, 0, 1, 0.3, PI / 2, -PI / 2, 50);
    add_line(&p, 0, 0.7, 0, 1.3, 20);
    surface s = revolve(&p);
    check_closed(&s);
    assert_double_near(s.volume, -4 * PI / 3 * 0.027, 5e-3 * 4 * PI / 3 * 0.027);
    und_frame_clear(&s.frame);
}

/* Markers that are off the line by turns make half as rough a surface. */
static void test_roughness_is_smoothed(void **state)
{
    (void)state;
    profile p = {0};
    for (int i = 0; i < 100; i++) {
        double angle = 2 * PI * i / 100, radius = 0.2 + (i % 2 ? 1e-3 : -1e-3);
        add_place(&p, 0.5 + radius * cos(angle), 0.2 + radius * sin(angle));
    }
    surface s = revolve(&p);
    double rough = 0;
    for (size_t i = 0; i < s.corners; i++) {
        const float *q = s.place + 3 * i;
        double r = hypot(q[0] - DEF.axis_x, q[2] - DEF.axis_z);
        rough = fmax(rough, fabs(hypot(r - 0.5, q[1] - 0.2) - 0.2));
    }
    assert_double_near(rough, 0.556e-3, 0.02e-3);
    und_frame_clear(&s.frame);
}

static void test_errors(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame empty = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    assert_int_equal(und_revolve(&DEF, &empty, &err), UND_INVALID);
    profile p = {0};
    add_arc(&p, 0.5, 0.2, 0.2, 0, 2 * PI, 10);
    und_frame frame = frame_of(&p);
    und_revolve_def flat = DEF;
    flat.around = 2;
    assert_int_equal(und_revolve(&flat, &frame, &err), UND_INVALID);
    und_frame_clear(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_a_circle_is_a_sphere),
        cmocka_unit_test(test_a_rectangle_is_a_cylinder),
        cmocka_unit_test(test_a_circle_off_the_axis_is_a_torus),
        cmocka_unit_test(test_a_bubble_is_inside_out),
        cmocka_unit_test(test_roughness_is_smoothed),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
