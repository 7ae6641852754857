/* Foam: how long it lives, where it goes, what is left of it, and its bits. */
#include "tests/test.h"

#include "spray/foam.h"

static und_foam *a_foam(double life, int most, int threads)
{
    und_error err = {0};
    und_froth_def def = {.on = true, .life = life, .most = most};
    und_foam *foam = und_foam_create(&def, 5, threads, &err);
    assert_non_null(foam);
    return foam;
}

/* One item of the frame as it is now; the frame is the caller's. */
static const float *values_of(const und_foam *foam, und_frame *frame, const char *name)
{
    und_error err = {0};
    *frame = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_foam_frame(foam, frame, &err), UND_OK);
    const und_item *item = und_frame_find(frame, name);
    assert_non_null(item);
    assert_int_equal(item->dim[0], und_foam_count(foam));
    return item->data;
}

static bool still(void *context, double x, double z, double velocity[2], double *height)
{
    (void)x, (void)z;
    velocity[0] = velocity[1] = 0;
    *height = context ? *(double *)context : 0;
    return true;
}

/* Lives are spread evenly over half to one and a half of 0.5 s per mm: of 2 mm drops from 0.5 to 1.5 s. */
static void lives_are_as_asked(void **state)
{
    (void)state;
    enum { N = 20000 };
    und_foam *foam = a_foam(0.5, N, 1);
    for (int i = 0; i < N; i++)
        und_foam_add(foam, 0, 0, 0.002);
    und_frame frame;
    const float *life = values_of(foam, &frame, "foam/life");
    double sum = 0, square = 0;
    for (int i = 0; i < N; i++) {
        assert_true(life[i] >= 0.5f && life[i] <= 1.5f);
        sum += (double)life[i] / N;
        square += pow((double)life[i] - 1, 2) / N;
    }
    assert_double_near(sum, 1, 4 * sqrt(1.0 / 12 / N));
    assert_double_near(square, 1.0 / 12, 0.002);
    und_frame_clear(&frame);
    /* After t seconds 1.5 - t of them are left, between 0.5 and 1.5. */
    for (int k = 1; k <= 160; k++) {
        und_foam_step(foam, 0.01, still, NULL);
        double expected = fmax(0, fmin(1, 1.5 - 0.01 * k));
        assert_double_near((double)und_foam_count(foam) / N, expected, 0.02);
    }
    assert_int_equal(und_foam_count(foam), 0);
    und_foam_destroy(foam);
}

/* Around (0, 0) once in a second. */
static bool turning(void *context, double x, double z, double velocity[2], double *height)
{
    (void)context;
    velocity[0] = -2 * M_PI * z;
    velocity[1] = 2 * M_PI * x;
    *height = 3 + x;
    return true;
}

static double error_of_turn(int steps)
{
    und_foam *foam = a_foam(1000, 4, 1);
    und_foam_add(foam, 2, 0, 0.01);
    for (int k = 0; k < steps; k++)
        und_foam_step(foam, 0.75 / steps, turning, NULL);
    und_frame frame;
    const float *p = values_of(foam, &frame, "foam/position");
    double x = (double)p[0], z = (double)p[2];
    assert_double_near((double)p[1], 3 + x, 1e-6);
    und_frame_clear(&frame);
    und_foam_destroy(foam);
    return hypot(x, z + 2);
}

static void foam_goes_with_the_surface(void **state)
{
    (void)state;
    double coarse = error_of_turn(50), fine = error_of_turn(100), finest = error_of_turn(200);
    assert_true(finest < 2e-3);
    assert_double_near(coarse / fine, 4, 0.5); /* second order */
    assert_double_near(fine / finest, 4, 0.5);
}

/* Water where x > 0; it flows to -x. */
static bool shore(void *context, double x, double z, double velocity[2], double *height)
{
    (void)context, (void)z;
    velocity[0] = -1;
    velocity[1] = 0;
    *height = 0.25;
    return x > 0;
}

static void foam_ends_where_there_is_no_water(void **state)
{
    (void)state;
    und_foam *foam = a_foam(1000, 8, 1);
    und_frame frame;
    for (int i = 0; i < 10; i++) /* 8 of them find room */
        und_foam_add(foam, 0.05 + 0.1 * ((5 * i) % 8), i, 0.01);
    und_foam_add(foam, NAN, 0, 0.01);
    assert_int_equal(und_foam_count(foam), 8);
    const float *start = values_of(foam, &frame, "foam/position");
    float z[8];
    int expected = 0;
    for (int i = 0; i < 8; i++)
        if (start[3 * i] > 0.4f)
            z[expected++] = start[3 * i + 2];
    und_frame_clear(&frame);
    for (int k = 0; k < 40; k++)
        und_foam_step(foam, 0.01, shore, NULL);
    const float *p = values_of(foam, &frame, "foam/position");
    assert_int_equal(und_foam_count(foam), 4);
    assert_int_equal(expected, 4);
    for (int i = 0; i < 4; i++) { /* the others keep their order */
        assert_true(p[3 * i + 2] == z[i]);
        assert_true(p[3 * i] > 0 && p[3 * i + 1] == 0.25f);
    }
    und_frame_clear(&frame);
    und_foam_destroy(foam);
}

static uint64_t hash_of(und_foam *foam)
{
    und_error err = {0};
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_foam_save(foam, &saved, &err), UND_OK);
    uint64_t hash = und_frame_hash(&saved, 1);
    und_frame_clear(&saved);
    return hash;
}

static void go_on(und_foam *foam, int from, int to)
{
    for (int k = from; k < to; k++) {
        for (int i = 0; i < 300; i++)
            und_foam_add(foam, 0.01 * i + 1e-3 * k, 0.02 * k, 1e-4 * (1 + i % 40));
        und_foam_step(foam, 0.02, turning, NULL);
    }
}

static void bits_do_not_depend_on_threads_or_restores(void **state)
{
    (void)state;
    und_error err = {0};
    und_foam *one = a_foam(0.5, 1 << 14, 1), *three = a_foam(0.5, 1 << 14, 3),
             *later = a_foam(0.5, 1 << 14, 2);
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    go_on(one, 0, 30);
    go_on(three, 0, 30);
    assert_true(und_foam_count(one) > 4096);
    assert_true(hash_of(one) == hash_of(three));
    assert_int_equal(und_foam_save(one, &saved, &err), UND_OK);
    assert_int_equal(und_foam_restore(later, &saved, &err), UND_OK);
    und_frame_clear(&saved);
    go_on(one, 30, 50);
    go_on(later, 30, 50);
    assert_true(hash_of(one) == hash_of(later));
    und_foam_destroy(one);
    und_foam_destroy(three);
    und_foam_destroy(later);
}

static void bad_states_and_defs_are_refused(void **state)
{
    (void)state;
    und_error err = {0};
    und_froth_def none = {.on = true, .life = 1, .most = 0}, endless = {.on = true, .life = NAN, .most = 4};
    assert_null(und_foam_create(&none, 1, 1, &err));
    assert_non_null(strstr(err.text, "most is 0"));
    assert_null(und_foam_create(&endless, 1, 1, &err));
    und_foam *large = a_foam(1, 100, 1), *small = a_foam(1, 10, 1);
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    for (int i = 0; i < 20; i++)
        und_foam_add(large, i, 0, 0.01);
    assert_int_equal(und_foam_restore(small, &saved, &err), UND_FAILED);
    assert_int_equal(und_foam_save(large, &saved, &err), UND_OK);
    assert_int_equal(und_foam_restore(small, &saved, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "foam of 20 bits"));
    ((double *)und_frame_find(&saved, "foam_age")->data)[7] = INFINITY;
    assert_int_equal(und_foam_restore(large, &saved, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "foam_age is not finite"));
    und_frame_clear(&saved);
    und_foam_destroy(large);
    und_foam_destroy(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_are_as_asked),
        cmocka_unit_test(foam_goes_with_the_surface),
        cmocka_unit_test(foam_ends_where_there_is_no_water),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_restores),
        cmocka_unit_test(bad_states_and_defs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
