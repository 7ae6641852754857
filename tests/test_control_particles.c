/* Control particles in cells: falloffs, shapes, means and splines against what they should be. */
#include "tests/test.h"

#include "base/random.h"
#include "control/control_particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 24 };

static const double DX = 0.1;

static und_mac grid(int nz)
{
    return und_mac_make((const int[3]){N, N, nz}, (const double[3]){DX, DX, DX}, (const double[3]){-1, 2, 3});
}

/* m, of a place in cells. */
static double metres(const und_mac *m, int axis, double cells)
{
    return m->origin[axis] + cells * DX;
}

static und_control_particles *make(const und_mac *m, const und_control_particle_def *defs, int count,
                                   int threads)
{
    und_error err = {0};
    und_control_particles *g = und_control_particles_create(m, defs, count, threads, &err);
    if (!g)
        fail_msg("%s", err.text);
    return g;
}

static double falloff(und_falloff kind, double s)
{
    return s > 1                     ? 0
           : kind == UND_FALLOFF_BOX ? 1
           : kind == UND_FALLOFF_HAT ? 1 - s
                                     : 1 - 3 * s * s + 2 * s * s * s;
}

static void alphas_of_a_sphere_and_a_cylinder(void **state)
{
    (void)state;
    static const double samples[5] = {1, 0.4, 0.9, 0.1, 0};
    const und_mac m = grid(N);
    const double at[3] = {11.3, 12.1, 10.8}, normal[3] = {0.48, 0.6, -0.64}, radius = 4.2, length = 7;
    const float place[1][3] = {
        {(float)metres(&m, 0, at[0]), (float)metres(&m, 1, at[1]), (float)metres(&m, 2, at[2])}};
    for (int k = 0; k < 8; k++) {
        const und_control_particle_frame frame = {.count = 1, .at = place};
        und_control_particle_def def = und_control_particle_def_default();
        def.shape = k % 2 ? UND_CONTROL_CYLINDER : UND_CONTROL_SPHERE;
        def.falloff = (und_falloff)(k / 2);
        def.sample_count = 5;
        def.samples = samples;
        def.radius = radius * DX;
        def.length = length * DX;
        def.strength = 0.75;
        memcpy(def.normal, normal, sizeof normal);
        def.frame_count = 1;
        def.frames = &frame;
        und_control_particles *g = make(&m, &def, 1, 1);
        und_control_particles_render(g, 0, 0.01);
        int touched = 0;
        for (int z = 0; z < N; z++)
            for (int y = 0; y < N; y++)
                for (int x = 0; x < N; x++) {
                    const double d[3] = {x + 0.5 - at[0], y + 0.5 - at[1], z + 0.5 - at[2]};
                    double along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
                    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                    double s = sqrt(k % 2 ? square - along * along : square) / radius;
                    bool inside = s < 1 && (k % 2 == 0 || fabs(along) < length / 2);
                    double expected = falloff(def.falloff, s);
                    if (def.falloff == UND_FALLOFF_CURVE && inside) {
                        int i = (int)(4 * s);
                        expected = samples[i] + (4 * s - i) * (samples[i + 1] - samples[i]);
                    }
                    const und_control_particle_cell *c =
                        und_control_particles_cell(g, UND_CONTROL_VELOCITY, x, y, z);
                    double alpha = c ? (double)c->alpha : 0;
                    bool at_border = fabs(s - 1) < 1e-5 || fabs(fabs(along) - length / 2) < 1e-5;
                    if (!at_border)
                        assert_true(fabs(alpha - (inside ? 0.75 * expected : 0)) < 2e-6);
                    touched += alpha > 0;
                }
        assert_true(touched > 100);
        und_control_particles_destroy(g);
    }
}

/* Several: the largest alpha, and the mean of what they ask weighted by alpha. */
static void overlapping_particles_are_averaged(void **state)
{
    (void)state;
    enum { MANY = 40 };
    const und_mac m = grid(N);
    float at[MANY][3], velocity[MANY][3], radius[MANY];
    for (uint64_t i = 0; i < MANY; i++)
        for (int a = 0; a < 3; a++) {
            at[i][a] = (float)metres(&m, a, 8 + 8 * und_random(1, i, (uint64_t)a));
            velocity[i][a] = (float)(2 * und_random(2, i, (uint64_t)a) - 1);
            radius[i] = (float)(DX * (2 + 4 * und_random(3, i, 0)));
        }
    const und_control_particle_frame frame = {
        .count = MANY, .at = at, .velocity = velocity, .radius = radius};
    und_control_particle_def def = und_control_particle_def_default();
    def.falloff = UND_FALLOFF_CUBIC;
    def.frame_count = 1;
    def.frames = &frame;
    und_control_particles *g = make(&m, &def, 1, 1);
    und_control_particles_render(g, 5, 0.01);
    int shared = 0;
    for (int z = 4; z < 20; z++)
        for (int y = 4; y < 20; y++)
            for (int x = 4; x < 20; x++) {
                double sum[3] = {0}, weight = 0, most = 0;
                int count = 0;
                for (int i = 0; i < MANY; i++) {
                    const double d[3] = {metres(&m, 0, x + 0.5) - (double)at[i][0],
                                         metres(&m, 1, y + 0.5) - (double)at[i][1],
                                         metres(&m, 2, z + 0.5) - (double)at[i][2]};
                    double s = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (double)radius[i];
                    double alpha = falloff(UND_FALLOFF_CUBIC, s);
                    for (int a = 0; a < 3; a++)
                        sum[a] += alpha * (double)velocity[i][a];
                    weight += alpha;
                    most = fmax(most, alpha);
                    count += alpha > 0;
                }
                const und_control_particle_cell *c =
                    und_control_particles_cell(g, UND_CONTROL_VELOCITY, x, y, z);
                assert_true(fabs((c ? (double)c->alpha : 0) - most) < 1e-5);
                for (int a = 0; a < 3 && most > 0.2; a++)
                    assert_true(fabs((double)c->value[a] - sum[a] / weight) < 1e-5);
                shared += count > 1;
            }
    assert_true(shared > 1000);
    und_control_particles_destroy(g);
}

/* Such as reach few cells, at any place, beside the grid as well, and of several groups. */
enum { TINY = 3000, TINY_GROUPS = 3 };

typedef struct tiny {
    float at[TINY_GROUPS][TINY][3], velocity[TINY_GROUPS][TINY][3], radius[TINY_GROUPS][TINY];
} tiny;

static tiny *make_tiny(const und_mac *m)
{
    tiny *t = malloc(sizeof *t);
    assert_non_null(t);
    for (uint64_t k = 0; k < TINY_GROUPS; k++)
        for (uint64_t i = 0; i < TINY; i++) {
            for (uint64_t a = 0; a < 3; a++) {
                t->at[k][i][a] = (float)metres(m, (int)a, -2 + (N + 4) * und_random(3 * k + a, i, 1));
                t->velocity[k][i][a] = (float)(2 * und_random(3 * k + a, i, 2) - 1);
            }
            t->radius[k][i] = (float)(DX * (i % 8 == 0 ? 1.4 : 1) * und_random(k, i, 3));
        }
    return t;
}

static void check_tiny(const und_mac *m, const tiny *t, const und_control_particle_def *def,
                       const und_control_particles *g, int x, int y, int z)
{
    const double middle[3] = {metres(m, 0, x + 0.5), metres(m, 1, y + 0.5), metres(m, 2, z + 0.5)};
    double sum[3] = {0}, weight = 0, most = 0, nearest = 1;
    bool hard = false;
    for (int k = 0; k < TINY_GROUPS; k++)
        for (int i = 0; i < TINY; i++) {
            double square = 0, radius = (double)t->radius[k][i];
            for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++)
                square += pow(middle[a] - (double)t->at[k][i][a], 2);
            if (square > 1.1 * radius * radius)
                continue;
            double s = sqrt(square) / radius, alpha = falloff(def[k].falloff, s);
            nearest = fmin(nearest, fabs(s - 1));
            nearest = fmin(nearest, fabs(alpha - def[k].hard));
            for (int a = 0; a < 3; a++)
                sum[a] += alpha * (m->n[2] == 1 && a == 2 ? 0 : (double)t->velocity[k][i][a]);
            weight += alpha;
            most = fmax(most, alpha);
            hard = hard || alpha > def[k].hard;
        }
    if (nearest < 1e-3) /* of a border */
        return;
    const und_control_particle_cell *c = und_control_particles_cell(g, UND_CONTROL_VELOCITY, x, y, z);
    assert_true(fabs((c ? (double)c->alpha : 0) - most) < 1e-4);
    assert_true(fabs((c ? (double)c->weight : 0) - weight) < 1e-4 * (1 + weight));
    assert_int_equal(c && c->hard > 0, hard);
    for (int a = 0; a < 3 && weight > 0.2; a++)
        assert_true(fabs((double)c->value[a] - sum[a] / weight) < 1e-4);
}

static void tiny_particles_are_averaged(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        const und_mac m = grid(flat ? 1 : N);
        tiny *t = make_tiny(&m);
        und_control_particle_frame frame[TINY_GROUPS];
        und_control_particle_def def[TINY_GROUPS];
        for (int k = 0; k < TINY_GROUPS; k++) {
            frame[k] = (und_control_particle_frame){.count = TINY,
                                                    .at = (const float(*)[3])t->at[k],
                                                    .velocity = (const float(*)[3])t->velocity[k],
                                                    .radius = t->radius[k]};
            def[k] = und_control_particle_def_default();
            def[k].falloff = (und_falloff)k;
            def[k].hard = 1 - 0.2 * k;
            def[k].frame_count = 1;
            def[k].frames = &frame[k];
        }
        und_control_particles *g = make(&m, def, TINY_GROUPS, 2);
        und_control_particles_render(g, 0, 0.01);
        for (int z = 0; z < m.n[2]; z += 3)
            for (int y = 0; y < N; y++)
                for (int x = 0; x < N; x += 1 + z % 2)
                    check_tiny(&m, t, def, g, x, y, z);
        und_control_particles_destroy(g);
        free(t);
    }
}

/* A particle on a cubic path is on it in between, and its velocities bring it from step to step. */
static void splines_follow_a_path(void **state)
{
    (void)state;
    const und_mac m = grid(N);
    for (int hermite = 0; hermite < 2; hermite++) {
        enum { FRAMES = 6 };
        float at[FRAMES][1][3], velocity[FRAMES][1][3];
        und_control_particle_frame frames[FRAMES];
        const int order = hermite ? 3 : 2; /* parabolas are met by Catmull-Rom, but for the ends */
        for (int k = 0; k < FRAMES; k++) {
            double t = 0.3 * k + 0.02 * k * k;
            for (int a = 0; a < 3; a++) {
                at[k][0][a] = (float)(metres(&m, a, 12) + (0.1 * a - 0.2) * pow(t, order) / 4 + 0.1 * t);
                velocity[k][0][a] = (float)((0.1 * a - 0.2) * order * pow(t, order - 1) / 4 + 0.1);
            }
            frames[k] = (und_control_particle_frame){
                .time = t, .count = 1, .at = at[k], .velocity = hermite ? velocity[k] : NULL};
        }
        und_control_particle_def def = und_control_particle_def_default();
        def.radius = 3 * DX;
        def.falloff = UND_FALLOFF_HAT;
        def.frame_count = FRAMES;
        def.frames = frames;
        und_control_particles *g = make(&m, &def, 1, 1);
        for (double t = 0.35; t < 1.5; t += 0.07) {
            und_control_particles_render(g, t, 0.05);
            const int cell[3] = {11, 12, 11};
            const und_control_particle_cell *c =
                und_control_particles_cell(g, UND_CONTROL_VELOCITY, cell[0], cell[1], cell[2]);
            double square = 0, end = t + 0.05;
            for (int k = 0; k < FRAMES; k++) /* a step ends where the spline does */
                end = frames[k].time > t && frames[k].time < end ? frames[k].time : end;
            for (int a = 0; a < 3; a++) {
                double b = (0.1 * a - 0.2) / 4, there = metres(&m, a, 12) + b * pow(t, order) + 0.1 * t;
                double then = metres(&m, a, 12) + b * pow(end, order) + 0.1 * end;
                square += pow(metres(&m, a, cell[a] + 0.5) - 0.5 * (there + then), 2);
                assert_non_null(c);
                assert_true(fabs((double)c->value[a] - (then - there) / (end - t)) < 2e-5);
            }
            assert_true(fabs((double)c->alpha - (1 - sqrt(square) / (3 * DX))) < 1e-5);
        }
        assert_true(und_control_particles_fastest(g, 0.4, 0.1) > 0.05 &&
                    und_control_particles_fastest(g, 0.4, 0.1) < 1);
        und_control_particles_destroy(g);
    }
}

/* Frames are joined by their particles' numbers: one comes, one goes. */
static void particles_come_and_go(void **state)
{
    (void)state;
    const und_mac m = grid(1);
    const float first[2][3] = {{(float)metres(&m, 0, 4.5), (float)metres(&m, 1, 4.5), 9},
                               {(float)metres(&m, 0, 10.5), (float)metres(&m, 1, 4.5), -9}};
    const float second[2][3] = {{(float)metres(&m, 0, 14.5), (float)metres(&m, 1, 4.5), 0},
                                {(float)metres(&m, 0, 20.5), (float)metres(&m, 1, 20.5), 0}};
    const int32_t ids[2][2] = {{3, 7}, {7, 9}};
    const und_control_particle_frame frames[2] = {{.time = 0, .count = 2, .at = first, .id = ids[0]},
                                                  {.time = 1, .count = 2, .at = second, .id = ids[1]}};
    und_control_particle_def def = und_control_particle_def_default();
    def.radius = 0.6 * DX;
    def.frame_count = 2;
    def.frames = frames;
    def.start = -1;
    def.end = 2;
    und_control_particles *g = make(&m, &def, 1, 1);
    struct {
        double time;
        int x, y;
        bool there;
    } expected[] = {{-2, 4, 4, false},   {-0.5, 4, 4, true},   {0.5, 4, 4, true}, {0.5, 12, 4, true},
                    {0.5, 10, 4, false}, {0.5, 20, 20, false}, {1, 20, 20, true}, {1, 14, 4, true},
                    {1, 4, 4, false},    {1.5, 14, 4, true},   {2, 14, 4, false}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        und_control_particles_render(g, expected[i].time, 0.1);
        const und_control_particle_cell *c =
            und_control_particles_cell(g, UND_CONTROL_VELOCITY, expected[i].x, expected[i].y, 0);
        assert_int_equal(c && c->alpha > 0, expected[i].there);
    }
    und_control_particles_destroy(g);
}

/* Sums in a fixed order: the same bits with 1, 2 and 7 threads, and whatever was rendered before. */
static void the_same_bits_at_any_thread_count(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    const und_mac m = grid(N);
    float(*at)[MANY][3] = malloc(2 * sizeof *at), *radius = malloc(MANY * sizeof *radius);
    assert_true(at && radius);
    for (uint64_t i = 0; i < MANY; i++)
        for (int a = 0; a < 3; a++) {
            at[0][i][a] = (float)metres(&m, a, 28 * und_random(1, i, (uint64_t)a) - 2);
            at[1][i][a] = at[0][i][a] + (float)(0.1 * und_random(2, i, (uint64_t)a));
            radius[i] = (float)(DX * (i % 100 == 0 ? 9 : 1.5 * und_random(3, i, 0)));
        }
    const und_control_particle_frame frames[2] = {
        {.time = 0, .count = MANY, .at = (const float(*)[3])at[0], .radius = radius},
        {.time = 1, .count = MANY, .at = (const float(*)[3])at[1], .radius = radius}};
    und_control_particle_cell *cells = NULL;
    for (int run = 0; run < 3; run++) {
        und_control_particle_def def = und_control_particle_def_default();
        def.falloff = UND_FALLOFF_CUBIC;
        def.frame_count = 2;
        def.frames = frames;
        und_control_particles *g = make(&m, &def, 1, (const int[3]){1, 2, 7}[run]);
        if (run == 2)
            und_control_particles_render(g, 0.9, 0.01);
        und_control_particles_render(g, 0.3, 0.01);
        cells = run == 0 ? calloc(N * N * N, sizeof *cells) : cells;
        assert_non_null(cells);
        for (int i = 0; i < N * N * N; i++) {
            const und_control_particle_cell none = {0},
                                            *c = und_control_particles_cell(g, UND_CONTROL_VELOCITY, i % N,
                                                                            i / N % N, i / N / N);
            c = c ? c : &none;
            if (run == 0)
                cells[i] = *c;
            assert_memory_equal(&cells[i], c, sizeof *c);
        }
        und_control_particles_destroy(g);
    }
    free(cells);
    free(at);
    free(radius);
}

/* Viscosity is blended as it is, whatever the step. */
static void viscosities_are_blended(void **state)
{
    (void)state;
    const und_mac m = grid(1);
    const float place[1][3] = {{(float)metres(&m, 0, 10), (float)metres(&m, 1, 10), 0}};
    const und_control_particle_frame frame = {.count = 1, .at = place};
    und_control_particle_def def = und_control_particle_def_default();
    def.kind = UND_CONTROL_VISCOSITY;
    def.falloff = UND_FALLOFF_HAT;
    def.radius = 5 * DX;
    def.value = 100;
    def.frame_count = 1;
    def.frames = &frame;
    und_control_particles *g = make(&m, &def, 1, 1);
    float *nu = malloc(m.count * sizeof *nu);
    assert_non_null(nu);
    for (size_t i = 0; i < m.count; i++)
        nu[i] = 1;
    und_control_particles_render(g, 0, 0.001);
    und_control_particles_viscosity(g, nu);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double alpha = fmax(0, 1 - hypot(x - 9.5, y - 9.5) / 5);
            assert_true(fabs((double)nu[und_mac_at(&m, x, y, 0)] - (1 - alpha + 100 * alpha)) < 1e-3);
        }
    free(nu);
    und_control_particles_destroy(g);
}

static void wrong_defs_are_refused(void **state)
{
    (void)state;
    const und_mac m = grid(1);
    const float place[2][3] = {{0, 2, 3}, {NAN, 2, 3}};
    const int32_t twice[2] = {4, 4};
    const und_control_particle_frame good = {.count = 1, .at = place}, nan = {.count = 2, .at = place},
                                     same = {.count = 2, .at = place, .id = twice};
    const und_control_particle_frame late[2] = {{.time = 1, .count = 1, .at = place},
                                                {.time = 1, .count = 1, .at = place}};
    static const double samples[2] = {1, 2};
    und_control_particle_def def[7];
    for (int i = 0; i < 7; i++) {
        def[i] = und_control_particle_def_default();
        def[i].frame_count = 1;
        def[i].frames = &good;
    }
    def[0].frames = &nan;
    def[1].frames = &same;
    def[2].frames = late;
    def[2].frame_count = 2;
    def[3].kind = UND_CONTROL_SURFACE;
    def[4].strength = NAN;
    def[5].falloff = UND_FALLOFF_CURVE;
    def[5].sample_count = 2;
    def[5].samples = samples;
    def[6].frame_count = 0;
    for (int i = 0; i < 7; i++) {
        und_error err = {0};
        assert_null(und_control_particles_create(&m, &def[i], 1, 1, &err));
        assert_int_equal(err.status, UND_INVALID);
        assert_true(strncmp(err.text, "control 1: ", 11) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alphas_of_a_sphere_and_a_cylinder),
        cmocka_unit_test(overlapping_particles_are_averaged),
        cmocka_unit_test(tiny_particles_are_averaged),
        cmocka_unit_test(splines_follow_a_path),
        cmocka_unit_test(particles_come_and_go),
        cmocka_unit_test(the_same_bits_at_any_thread_count),
        cmocka_unit_test(viscosities_are_blended),
        cmocka_unit_test(wrong_defs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
