/* The level set: redistancing, volume, shapes, and motion. */
#include "geom/shape.h"
#include "tests/distance_model.h"

#include "base/random.h"

static double ball_cells(double radius)
{
    return 4.0 / 3 * M_PI * radius * radius * radius;
}

/* The cube is cut into slabs that a plane crosses in one line each. */
static double sliced_part(double distance, const double g[3])
{
    enum { SLICES = 400 };
    double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), sum = 0;
    for (int i = 0; i < SLICES; i++)
        for (int j = 0; j < SLICES; j++) {
            double y = (i + 0.5) / SLICES - 0.5, z = (j + 0.5) / SLICES - 0.5;
            double rest = distance + (g[1] * y + g[2] * z) / length, x = -rest * length / fabs(g[0]);
            sum += fmin(fmax(x + 0.5, 0), 1); /* below the plane, or by symmetry above it */
        }
    return sum / (SLICES * SLICES);
}

static void part_is_the_plane_s(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 60; i++) {
        double g[3], distance = 1.8 * und_random(1, 3, i) - 0.9;
        for (uint64_t a = 0; a < 3; a++)
            g[a] = (und_random(1, a, i) - 0.5) * (i % 4 == a ? 1e-3 : 3);
        g[0] += g[0] < 0 ? -0.01 : 0.01;
        assert_double_near(und_distance_part(distance, g), sliced_part(distance, g), 2e-4);
    }
    assert_double_near(und_distance_part(0.2, (double[]){0, 3, 0}), 0.3, 1e-15);
    assert_double_near(und_distance_part(-0.2, (double[]){0, 0, -1}), 0.7, 1e-15);
    assert_double_near(und_distance_part(0, (double[]){1, 1, 1}), 0.5, 1e-12);
    assert_double_near(und_distance_part(-0.9, (double[]){1, 1, 1}), 1, 0);
    assert_double_near(und_distance_part(0.9, (double[]){1, 1, 1}), 0, 0);
}

static double ball_error(double radius)
{
    const double ball[4] = {24.3, 23.8, 24.1, radius};
    und_distance d = model_open(model_mac(48, 48, 48), 2, model_ball, ball);
    double error = model_cells(&d) / ball_cells(radius) - 1;
    double area = und_distance_area(&d) / (d.mac.d[0] * d.mac.d[0]);
    assert_double_near(area / (4 * M_PI * radius * radius), 1, 0.3 / radius);
    und_distance_close(&d);
    return error;
}

static void volume_of_a_ball_is_of_second_order(void **state)
{
    (void)state;
    double five = ball_error(5), ten = ball_error(10), twenty = ball_error(20);
    assert_true(fabs(twenty) < 1e-3);
    assert_true(log2(five / ten) > 1.8);
    assert_true(log2(ten / twenty) > 1.8);
}

static void room_counts(void **state)
{
    (void)state;
    const double ball[4] = {24.3, 23.8, 24.1, 12};
    und_distance d = model_open(model_mac(48, 48, 48), 2, model_ball, ball);
    und_error err;
    float *room = und_pages_alloc(d.mac.count * sizeof *room, "room", &err);
    assert_non_null(room);
    for (size_t i = 0; i < d.mac.count; i++)
        room[i] = 0.25f;
    assert_double_near(und_distance_volume(&d, room), 0.25 * und_distance_volume(&d, NULL), 1e-12);
    und_pages_free(room);
    und_distance_close(&d);
}

/* Of the cells nearer to the surface than `limit`: how far phi is from what it should be, at most. */
static double largest_error(const und_distance *d, place_fn *fn, const double *numbers, double limit)
{
    double most = 0;
    for (int z = 0; z < d->mac.n[2]; z++)
        for (int y = 0; y < d->mac.n[1]; y++)
            for (int x = 0; x < d->mac.n[0]; x++) {
                double exact = fn((double[]){x + 0.5, y + 0.5, z + 0.5}, numbers);
                if (fabs(exact) < limit)
                    most = fmax(most, fabs((double)model_at(d, x, y, z) - exact));
            }
    return most;
}

/* The largest | |grad phi| - 1 | where |phi| < 2. */
static double gradient_error(const und_distance *d)
{
    const und_mac *m = &d->mac;
    double most = 0;
    for (int y = 1; y < m->n[1] - 1; y++)
        for (int x = 1; x < m->n[0] - 1; x++) {
            const float *v = d->phi + und_mac_at(m, x, y, 0);
            double gx = (double)(v[1] - v[-1]) / 2, gy = (double)(v[m->step[1]] - v[-m->step[1]]) / 2;
            if (fabsf(v[0]) < 2)
                most = fmax(most, fabs(sqrt(gx * gx + gy * gy) - 1));
        }
    return most;
}

static double distorted_circle(const double place[3], const double *circle)
{
    double away = model_ball(place, circle) / 128;
    return 128 * (away + 20 * away * away * away);
}

static void a_distorted_circle_stays_put(void **state)
{
    (void)state;
    const double circle[4] = {64, 64, 0.5, 32}, off[4] = {63.71, 64.23, 0.5, 32};
    for (int order = 1; order <= 2; order++)
        for (int i = 0; i < 2; i++) {
            const double *numbers = i ? off : circle;
            und_distance d = model_open(model_mac(128, 128, 1), 2, distorted_circle, numbers);
            double before = model_cells(&d);
            und_distance_redistance(&d, order);
            assert_double_near(model_cells(&d) / before, 1, 5e-4);
            assert_true(largest_error(&d, model_ball, numbers, 1) < (order == 2 ? 0.005 : 0.02));
            assert_true(largest_error(&d, model_ball, numbers, 4.9) < (order == 2 ? 0.01 : 0.1));
            assert_true(gradient_error(&d) < (order == 2 ? 0.01 : 0.1));
            und_distance_close(&d);
        }
}

static double redistance_error(double radius, int order)
{
    const double ball[4] = {24.3, 23.8, 24.1, radius};
    und_distance d = model_open(model_mac(48, 48, 48), 2, model_ball, ball);
    und_distance_redistance(&d, order);
    double error = largest_error(&d, model_ball, ball, 4.9);
    und_distance_close(&d);
    return error;
}

/* In cells a distance of first order has an error that falls as 1 / radius, one of second order as its
 * square. */
static void redistancing_has_its_order(void **state)
{
    (void)state;
    assert_true(log2(redistance_error(9, 1) / redistance_error(18, 1)) > 0.8);
    assert_true(log2(redistance_error(9, 2) / redistance_error(18, 2)) > 1.6);
}

static double shell(const double place[3], const double *s)
{
    return fabs(model_ball(place, s)) - s[4];
}

static double change_after_200(place_fn *fn, const double *numbers, int order)
{
    und_distance d = model_open(model_mac(40, 40, 40), 2, fn, numbers);
    double before = model_cells(&d);
    for (int i = 0; i < 200; i++)
        und_distance_redistance(&d, order);
    double after = model_cells(&d);
    und_distance_close(&d);
    return after / before - 1;
}

static void a_distance_stays_what_it_is(void **state)
{
    (void)state;
    assert_double_near(change_after_200(model_ball, (double[]){20.3, 19.8, 20.1, 10}, 2), 0, 1e-3);
    assert_double_near(change_after_200(model_ball, (double[]){20.3, 19.8, 20.1, 3}, 2), 0, 5e-3);
    assert_double_near(change_after_200(model_ball, (double[]){20.3, 19.8, 20.1, 1}, 2), 0, 5e-3);
    assert_double_near(change_after_200(model_sheet, (double[]){0, 20.3, 0, 0, 1, 0, 0.75}, 2), 0, 1e-5);
    assert_double_near(change_after_200(shell, (double[]){20.3, 19.8, 20.1, 12, 0.75}, 2), 0, 2e-2);
}

/* A pool whose surface leans on the walls. */
static double pool(const double place[3], const double *p)
{
    return (place[1] - p[0] - p[1] * (place[0] - 20) - p[2] * (place[2] - 20)) /
           sqrt(1 + p[1] * p[1] + p[2] * p[2]);
}

static void a_pool_stays_at_its_walls(void **state)
{
    (void)state;
    const double pools[3][3] = {{20.3, 0, 0}, {20.3, 0.3, 0.1}, {19.7, -0.8, 0.3}};
    for (int i = 0; i < 3; i++) {
        und_distance d = model_open(model_mac(40, 40, 40), 2, pool, pools[i]);
        double before = model_cells(&d);
        und_distance_redistance(&d, 2);
        assert_true(largest_error(&d, pool, pools[i], 1) < 0.35); /* what is nearest may be in the wall */
        for (int k = 0; k < 100; k++)
            und_distance_redistance(&d, 2);
        assert_double_near(model_cells(&d) / before, 1, 2e-3);
        assert_true(largest_error(&d, pool, pools[i], 0.5) < 0.5);
        und_distance_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(part_is_the_plane_s),
        cmocka_unit_test(volume_of_a_ball_is_of_second_order),
        cmocka_unit_test(room_counts),
        cmocka_unit_test(a_distorted_circle_stays_put),
        cmocka_unit_test(redistancing_has_its_order),
        cmocka_unit_test(a_distance_stays_what_it_is),
        cmocka_unit_test(a_pool_stays_at_its_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
