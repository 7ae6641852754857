/* Films thinner than cells are drawn: on floors, slanted walls, balls and in glasses, as much as they hold.
 */
#include "tests/levelset_model.h"
#include "tests/shell_check.h"

#include "geom/shape.h"
#include "liquid/levelset_state.h"
#include "surface/frame_mesh.h"
#include "surface/volume.h"

enum { N = 32 };

typedef struct film {
    und_shape *solid; /* NULL: the floor */
    double thick;     /* cells */
    double middle[3]; /* of the ball whose walls are wet, cells */
    double radius;    /* 0: all of the floor is, and nothing else */
} film;

static und_levelset *begin(const film *f)
{
    const und_obstacle_def solid = {.shape = f->solid};
    und_levelset_def def = und_levelset_def_default();
    for (int a = 0; a < 3; a++)
        def.n[a] = N;
    def.dx = 1.0 / N;
    def.surface_rule = UND_SURFACE_VOLUME;
    def.threads = 2;
    def.obstacles = &solid;
    def.obstacle_count = f->solid ? 1 : 0;
    return start_levelset(&def);
}

/* Lays it on the walls, as much as there is of them in a cell; m3. */
static double wet(und_levelset *s, const film *f)
{
    int32_t *c = und_levelset_volume_cells(s);
    double sum = 0;
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                const size_t at = und_mac_at(&s->mac, x, y, z);
                const double by[3] = {x + 0.5 - f->middle[0], y + 0.5 - f->middle[1], z + 0.5 - f->middle[2]};
                double area = 0;
                for (int a = 0; a < 3; a++) {
                    const double lack =
                        (double)(s->solids.open[a][at] - s->solids.open[a][at - (size_t)s->mac.step[a]]);
                    area += lack * lack;
                }
                if (f->radius == 0)
                    area = y == 0;
                const double room = s->solids.any ? (double)s->solids.room[at] : 1;
                const double square = by[0] * by[0] + by[1] * by[1] + by[2] * by[2];
                if ((f->radius > 0 && square > f->radius * f->radius) || room < 0.02)
                    continue;
                c[at] = (int32_t)(fmin(f->thick * sqrt(area), room) * UND_VOLUME_ONE);
                sum += c[at] / (double)UND_VOLUME_ONE;
            }
    return sum * s->def.dx * s->def.dx * s->def.dx;
}

/* The mesh that is drawn of it, and what that has of what is held. */
static double drawn(const film *f, und_shell *shell)
{
    und_error err = {0};
    und_levelset *s = begin(f);
    const double held = wet(s, f);
    und_liquid *liquid = und_levelset_liquid(s);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {N, N, N}, .dx = 1.0 / N});
    assert_int_equal(liquid->class->frame(liquid, &frame, &err), UND_OK);
    assert_int_equal(und_frame_mesh(&frame, &(und_frame_mesh_def){.threads = 2}, shell, &err), UND_OK);
    const shell_size size = measure_shell(shell);
    assert_int_equal(size.broken, 0);
    und_frame_clear(&frame);
    und_levelset_destroy(s);
    return size.volume / held;
}

/* A round puddle: its rim is round, not of cells. */
static void a_puddle_on_the_floor(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const film f = {.thick = 0.05 * (1 << k), .middle = {16.3, 0, 15.8}, .radius = 9.7};
        und_shell shell;
        assert_double_near(drawn(&f, &shell), 1, 0.02);
        double low = INFINITY, high = 0, top = 0;
        for (int e = 0; e < 3 * shell.triangle_count; e++) { /* from the floor up: there is the rim */
            const float *p = shell.position + 3 * (size_t)shell.triangle[e];
            const float *q = shell.position + 3 * (size_t)shell.triangle[e % 3 == 2 ? e - 2 : e + 1];
            const double r = hypot((double)p[0] * N - f.middle[0], (double)p[2] * N - f.middle[2]);
            top = fmax(top, (double)p[1] * N);
            if ((double)p[1] * N < 1e-4 && (double)q[1] * N > 1e-4) {
                low = fmin(low, r);
                high = fmax(high, r);
            }
        }
        assert_true(low > f.radius - 0.5 && high < f.radius + 0.5);
        assert_true(top < 1.5 * f.thick && top > f.thick);
        und_shell_free(&shell);
    }
}

/* From side to side: in the corners it is as thick. */
static void all_over_the_floor(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const film f = {.thick = 0.1 * (1 << k)};
        und_shell shell;
        assert_double_near(drawn(&f, &shell), 1, 0.01);
        und_shell_free(&shell);
    }
}

static und_shape *make(und_shape shape)
{
    und_error err = {0};
    und_shape *made = und_shape_create(&shape, &err);
    assert_non_null(made);
    return made;
}

static void check_solid(und_shape *solid, const double middle[3], double radius, double tolerance)
{
    for (int k = 0; k < 2; k++) {
        film f = {.solid = solid, .thick = 0.1 * (1 << k), .radius = radius};
        for (int a = 0; a < 3; a++)
            f.middle[a] = middle[a];
        und_shell shell;
        assert_double_near(drawn(&f, &shell), 1, tolerance);
        und_shell_free(&shell);
    }
    und_shape_destroy(solid);
}

static void on_a_ball(void **state)
{
    (void)state;
    check_solid(make((und_shape){.kind = UND_SPHERE, .center = {0.51, 0.12, 0.5}, .radius = 0.44}),
                (double[3]){16, 18, 16}, 9, 0.02);
}

static void on_a_slope(void **state)
{
    (void)state;
    check_solid(make((und_shape){.kind = UND_PLANE, .center = {0.5, 0.4, 0.5}, .half = {0.3, 0.95, 0.1}}),
                (double[3]){16, 13, 16}, 9, 0.02);
}

/* A film round a ball that is as thick as that at its top, cells, and below as the cosine to the power of
 * `fall`: less than nothing on the lower half where that is odd. */
static double mesh_on_ball(double radius, double thick, int fall)
{
    enum { M = 24 };
    und_error err = {0};
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {M, M, M}, .dx = 1.0 / M});
    float *distance[2];
    for (int i = 0; i < 2; i++) {
        und_item_def def = {.name = i ? "distance" : "solid/distance",
                            .unit = "m",
                            .kind = UND_FIELD,
                            .type = UND_F32,
                            .rank = 3,
                            .dim = {M, M, M}};
        und_item *item = und_frame_add(&frame, &def, &err);
        assert_non_null(item);
        distance[i] = item->data;
    }
    for (int i = 0; i < M * M * M; i++) {
        const double x = i % M + 0.5 - 11.7, y = i / M % M + 0.5 - 12.2, z = i / M / M + 0.5 - 12.4;
        const double r = sqrt(x * x + y * y + z * z), out = r - radius;
        distance[0][i] = (float)(out / M);
        distance[1][i] = (float)((out - thick * pow(y / r, fall)) / M);
    }
    und_shell shell;
    assert_int_equal(und_frame_mesh(&frame, &(und_frame_mesh_def){.threads = 2}, &shell, &err), UND_OK);
    const shell_size size = measure_shell(&shell);
    assert_int_equal(size.broken, 0);
    und_shell_free(&shell);
    und_frame_clear(&frame);
    return size.volume * M * M * M;
}

/* Triangles over it and beneath it are not the same, and lie inside of what they bulge out with: it is as
 * thick as it is all the same, to 0.004 cells and 3 % in the mean over the ball. */
static void round_small_balls(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++) {
            const double radius = 4 + 1.5 * k, thick = 0.02 * pow(4, i), area = 4 * M_PI * radius * radius;
            const double all = 4 * M_PI / 3 * (pow(radius + thick, 3) - pow(radius, 3));
            const double tolerance = area * (0.004 + 0.03 * thick);
            assert_double_near(mesh_on_ball(radius, thick, 0), all, tolerance);
            if (thick < 1)
                assert_double_near(mesh_on_ball(radius, thick, 1), thick * area / 4, tolerance);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_puddle_on_the_floor),
                                       cmocka_unit_test(all_over_the_floor), cmocka_unit_test(on_a_ball),
                                       cmocka_unit_test(on_a_slope), cmocka_unit_test(round_small_balls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
