/* The level set with shapes and solids, and that threads do not matter to it. */
#include "geom/shape.h"
#include "tests/distance_model.h"

#include "base/random.h"
#include "surface/distance_parts.h"
#include "surface/distance_refresh_kernel.h"

static und_shape *make_ball(double x, double y, double z, double radius)
{
    und_error err;
    und_shape *ball =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {x, y, z}, .radius = radius}, &err);
    assert_non_null(ball);
    return ball;
}

static double nothing(const double place[3], const double *numbers)
{
    (void)place;
    (void)numbers;
    return 9;
}

static void put(und_distance *d, und_csg operation, und_shape *shape)
{
    und_distance_csg(d, operation, shape);
    und_shape_destroy(shape);
}

/* Two balls of radius 0.25 m, 0.3 m apart, which overlap in a lens; m3. */
static const double BALL = 4.0 / 3 * M_PI / 64,
                    LENS = M_PI * (4 * 0.25 + 0.3) * (0.5 - 0.3) * (0.5 - 0.3) / 12;

static double csg_volume(int n, und_csg operation)
{
    und_distance d = model_open(model_mac(n, n, n), 2, nothing, NULL);
    put(&d, UND_CSG_UNION, make_ball(0.35, 0.5, 0.51, 0.25));
    und_distance_redistance(&d, 2);
    put(&d, operation, make_ball(0.65, 0.5, 0.51, 0.25));
    und_distance_redistance(&d, 2);
    double volume = und_distance_volume(&d, NULL);
    und_distance_close(&d);
    return volume;
}

static void check_csg(und_csg operation, double exact, double coarsest)
{
    double coarse = fabs(csg_volume(24, operation) / exact - 1);
    double fine = fabs(csg_volume(48, operation) / exact - 1);
    assert_true(coarse < coarsest);
    assert_true(fine < coarse / 2.5);
}

static void shapes_are_put_together(void **state)
{
    (void)state;
    check_csg(UND_CSG_UNION, 2 * BALL - LENS, 0.02);
    check_csg(UND_CSG_DIFFERENCE, BALL - LENS, 0.03);
    check_csg(UND_CSG_INTERSECTION, LENS, 0.1);
}

static void a_plane_fills_below(void **state)
{
    (void)state;
    und_error err;
    und_distance d = model_open(model_mac(32, 48, 20), 2, nothing, NULL);
    put(&d, UND_CSG_UNION,
        und_shape_create(&(und_shape){.kind = UND_PLANE, .center = {0, 0.61, 0}, .half = {0, 1, 0}}, &err));
    assert_double_near(und_distance_volume(&d, NULL), 0.61 * 20 / 32, 1e-6);
    assert_double_near(und_distance_area(&d), 20.0 / 32, 1e-5);
    assert_true(model_at(&d, 3, 0, 3) == -5 && model_at(&d, 3, 47, 3) == 5);
    und_distance_close(&d);
}

static double level(const double place[3], const double *height)
{
    return place[1] - *height;
}

/* Flat water beside a wall that leans: what stood in the wall does not matter.  Where it leans much, the
 * surface is too far from what is outside beside the deeper cells to be followed to them. */
static void check_wall(double angle)
{
    const double height = 30.3;
    und_distance d = model_open(model_mac(64, 64, 1), 2, level, &height);
    und_error err;
    float *wall = und_pages_alloc((d.mac.count + 64) * sizeof *wall, "a wall", &err);
    assert_non_null(wall);
    for (int y = -1; y <= 64; y++)
        for (int x = -1; x <= 64; x++) {
            double away = cos(angle) * (x + 0.5 - 20) + sin(angle) * (y + 0.5 - 30);
            size_t i = und_mac_at(&d.mac, x, y, 0);
            wall[i] = (float)fmin(fmax(away, -5), 5);
            if (away < 0 && fabsf(d.phi[i]) < 5)
                d.phi[i] = (float)(4 * und_random(3, 0, i) - 2);
        }
    und_distance_refresh(&d);
    und_distance_into_solids(&d, wall);
    const float depth = fabs(angle) < 0.7 ? -1.5f : -0.5f;
    for (int y = 28; y < 32; y++)
        for (int x = 0; x < 64; x++)
            if (wall[und_mac_at(&d.mac, x, y, 0)] > depth)
                assert_double_near((double)model_at(&d, x, y, 0), y + 0.5 - height, 0.1);
    und_pages_free(wall);
    und_distance_close(&d);
}

static void water_is_flat_at_walls(void **state)
{
    (void)state;
    for (int i = -5; i <= 5; i++)
        check_wall(0.2 * i);
}

static void all_stages(und_distance *d, float *const u[3], const float *wall)
{
    put(d, UND_CSG_UNION, make_ball(0.3, 0.4, 0.5, 0.22));
    put(d, UND_CSG_DIFFERENCE, make_ball(0.4, 0.5, 0.5, 0.1));
    for (int i = 0; i < 3; i++) {
        und_distance_redistance(d, 2);
        und_distance_advect(d, u, 1.3, i ? UND_TRACE_RK2 : UND_TRACE_RK3);
        und_distance_into_solids(d, wall);
        und_distance_redistance(d, 1);
        und_distance_advect_weno(d, u, 0.7);
        und_distance_redistance(d, 2);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const int threads[3] = {1, 2, 7};
    float *first = NULL;
    double volume = 0;
    for (int run = 0; run < 3; run++) {
        und_distance d = model_open(model_mac(45, 38, 41), threads[run], nothing, NULL);
        und_error err;
        float *u[3], *wall = und_pages_alloc((d.mac.count + 64) * sizeof *wall, "a wall", &err);
        for (size_t i = 0; i < d.mac.count; i++)
            wall[i] = (float)i / (float)d.mac.count * 4 - 1;
        for (int a = 0; a < 3; a++) {
            u[a] = und_pages_alloc((d.mac.count + 64) * sizeof *u[a], "a velocity", &err);
            for (size_t i = 0; i < d.mac.count; i++)
                u[a][i] = (float)sin((double)i * 0.001 * (a + 1));
        }
        all_stages(&d, u, wall);
        double cells = model_cells(&d);
        if (run == 0) {
            volume = cells;
            first = d.phi;
            d.phi = NULL;
        } else {
            assert_memory_equal(first, d.phi, d.mac.count * sizeof *d.phi);
            assert_memory_equal(&cells, &volume, sizeof cells);
        }
        for (int a = 0; a < 3; a++)
            und_pages_free(u[a]);
        und_pages_free(wall);
        und_distance_close(&d);
    }
    und_pages_free(first);
}

/* After the state was given back: only phi is kept. */
static void phi_is_all_there_is(void **state)
{
    (void)state;
    und_distance d = model_open(model_mac(40, 40, 40), 2, nothing, NULL), fresh;
    put(&d, UND_CSG_UNION, make_ball(0.3, 0.4, 0.5, 0.22));
    und_distance_redistance(&d, 2);
    und_error err;
    assert_int_equal(und_distance_open(&fresh, &d.mac, 5, 1, &err), UND_OK);
    memcpy(fresh.phi, d.phi, d.mac.count * sizeof *fresh.phi);
    und_distance_refresh(&fresh);
    for (int i = 0; i < 2; i++) {
        und_distance *both[2] = {&d, &fresh};
        for (int k = 0; k < 2; k++) {
            put(both[k], UND_CSG_UNION, make_ball(0.7, 0.6, 0.5, 0.11 + 0.03 * i));
            und_distance_redistance(both[k], 2);
        }
    }
    assert_memory_equal(fresh.phi, d.phi, fresh.mac.count * sizeof *fresh.phi);
    und_distance_close(&fresh);
    und_distance_close(&d);
}

static void assert_same_marks(const und_distance *a, const und_distance *b)
{
    for (int z = 0; z < a->mac.n[2]; z++)
        for (int y = 0; y < a->mac.n[1]; y++) {
            const size_t bytes = (size_t)a->band.words * sizeof *a->band.bits;
            assert_memory_equal(und_mask_row(&a->band, y, z), und_mask_row(&b->band, y, z), bytes);
            assert_memory_equal(und_mask_row(&a->parts->negative, y, z),
                                und_mask_row(&b->parts->negative, y, z), bytes);
        }
}

/* Cells that change one at a time are marked as where all are marked anew; words end in both rows' ends. */
static void cells_refresh_alone(void **state)
{
    const int wide[] = {5, 62, 63, 64, 70};
    const float value[] = {-9, -0.3f, 0.3f, 9};
    (void)state;
    for (int w = 0; w < 5; w++) {
        und_distance one = model_open(model_mac(wide[w], 3, 3), 1, nothing, NULL),
                     all = model_open(model_mac(wide[w], 3, 3), 1, nothing, NULL);
        for (int i = 0; i < 400; i++) {
            const uint64_t place = und_random_mix((uint64_t)i);
            const int cell[3] = {(int)(place % (uint64_t)wide[w]), (int)(place / 100 % 3),
                                 (int)(place / 1000 % 3)};
            const size_t at = und_mac_at(&one.mac, cell[0], cell[1], cell[2]);
            one.phi[at] = all.phi[at] = value[place / 10000 % 4];
            const und_distance_refresh_args args = und_distance_refresh_of(&one);
            und_distance_change_cell(&args, at, cell);
            und_distance_refresh(&all);
            assert_float_equal(one.phi[at], all.phi[at], 0);
            assert_float_equal(one.next[at], all.next[at], 0);
            assert_same_marks(&one, &all);
        }
        und_distance_close(&one);
        und_distance_close(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_put_together), cmocka_unit_test(a_plane_fills_below),
        cmocka_unit_test(water_is_flat_at_walls),  cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(phi_is_all_there_is),     cmocka_unit_test(cells_refresh_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
