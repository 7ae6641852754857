/* The level set liquid under control: what is asked of it is what it does. */
#include "tests/levelset_model.h"

#include "geom/shape.h"
#include "geom/value.h"

#include <stdlib.h>
#include <string.h>

enum { N = 32 };

#define DX (1.0 / N)

/* A pool half full, in two dimensions. */
static und_levelset_def pool(const und_control_particle_def *control_particles, int count, double level)
{
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = def.n[1] = N;
    def.n[2] = 1;
    def.dx = DX;
    def.level = und_value_constant(level);
    def.has_level = true;
    def.control_particles = control_particles;
    def.control_particle_count = count;
    def.threads = 2;
    def.spray = false;
    return def;
}

static und_control_particle_def at(und_control_particle_kind kind, const und_control_particle_frame *frame)
{
    und_control_particle_def def = und_control_particle_def_default();
    def.kind = kind;
    def.frame_count = 1;
    def.frames = frame;
    return def;
}

/* A ball of hard control that turns round: its faces have exactly what is asked, and what is around it keeps
 * its volume. */
static void hard_control_is_exact(void **state)
{
    (void)state;
    enum { MANY = 81 };
    float place[MANY][3], velocity[MANY][3];
    for (int i = 0; i < MANY; i++) {
        float x = ((float)(i % 9) - 4) * (float)DX, y = ((float)(i / 9) - 4) * (float)DX;
        place[i][0] = 0.5F + 0.5F * (float)DX + x;
        place[i][1] = 0.3F + y;
        place[i][2] = 0;
        velocity[i][0] = -5 * y;
        velocity[i][1] = 5 * x;
        velocity[i][2] = 0;
    }
    const und_control_particle_frame frame = {.count = MANY, .at = place, .velocity = velocity};
    und_control_particle_def guide = at(UND_CONTROL_VELOCITY, &frame);
    guide.radius = 0.8 * DX;
    und_levelset_def def = pool(&guide, 1, 0.7);
    def.tolerance = 1e-6;
    und_levelset *l = start_levelset(&def);
    for (int i = 0; i < 3; i++)
        und_levelset_step(l, 1.0 / 24);
    und_error err;
    und_frame out = und_frame_empty(0, 0, (und_grid){.n = {N, N, 1}, .dx = DX});
    und_liquid *liquid = und_levelset_liquid(l);
    assert_int_equal(liquid->class->frame(liquid, &out, &err), UND_OK);
    const double *step_stats = und_frame_find(&out, "control")->data;
    assert_true(step_stats[0] == MANY && step_stats[1] > 150);
    assert_true(step_stats[2] == 0 && step_stats[3] == 0 && step_stats[4] > 0.1); /* largest, mean, asked */
    und_frame_clear(&out);
    /* Outside, liquid keeps its volume to the solver's tolerance. */
    assert_true(und_levelset_last(l).converged && und_levelset_last(l).divergence < 1e-3);
    assert_true(und_levelset_velocity(l, 0, 15, 4, 0) != 0);
    und_levelset_destroy(l);
}

/* With alpha below `hard` the liquid is led: part alpha of the way in 1/24 s, in however many steps. */
static void soft_control_goes_its_way(void **state)
{
    (void)state;
    const float place[1][3] = {{0.5F, 0.5F, 0}}, velocity[1][3] = {{1, 0.5F, 0}};
    const und_control_particle_frame frame = {.count = 1, .at = place, .velocity = velocity};
    for (int steps = 1; steps <= 4; steps *= 4) {
        und_shape *drop =
            und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {0.4, 0.5, 0}, .radius = 0.2}, NULL);
        und_fill_def fill = {.shape = drop};
        und_control_particle_def guide = at(UND_CONTROL_VELOCITY, &frame);
        guide.radius = 10;
        guide.strength = 0.6;
        und_levelset_def def = pool(&guide, 1, 0);
        def.has_level = false;
        def.fills = &fill;
        def.fill_count = 1;
        memset(def.gravity, 0, sizeof def.gravity);
        def.max_step = 1.0 / 24 / steps;
        und_levelset *l = start_levelset(&def);
        und_levelset_step(l, 1.0 / 24);
        assert_true(und_levelset_last(l).substeps >= steps);
        assert_true(fabs(und_levelset_velocity(l, 0, 13, 16, 0) - 0.6) < 1e-4);
        assert_true(fabs(und_levelset_velocity(l, 1, 13, 16, 0) - 0.3) < 1e-4);
        und_levelset_destroy(l);
        und_shape_destroy(drop);
    }
}

/* Cylinders across the pool pull the surface to a plane that leans; the ledger has what that made. */
static void surface_comes_to_the_plane(und_surface_rule rule, double lost)
{
    float place[N][3];
    const float normal[3] = {-0.28734788F, 0.95782629F, 0}; /* of a slope of 0.3 */
    float normals[N][3];
    for (int i = 0; i < N; i++) {
        place[i][0] = ((float)i + 0.5F) * (float)DX;
        place[i][1] = 0.5F + 0.3F * (place[i][0] - 0.5F) + 0.05F;
        place[i][2] = 0;
        memcpy(normals[i], normal, sizeof normal);
    }
    const und_control_particle_frame frame = {.count = N, .at = place, .normal = normals};
    und_control_particle_def guide = at(UND_CONTROL_SURFACE, &frame);
    guide.shape = UND_CONTROL_CYLINDER;
    guide.radius = DX;
    guide.length = 16 * DX;
    und_levelset_def def = pool(&guide, 1, 0.5);
    def.surface_rule = rule;
    memset(def.gravity, 0, sizeof def.gravity);
    und_levelset *l = start_levelset(&def);
    und_levelset_step(l, 1.0 / 24);
    for (int x = 2; x < N - 2; x++)
        for (int y = 8; y < 26; y++) {
            double px = (x + 0.5) * DX - 0.5, py = (y + 0.5) * DX - 0.55;
            double d = (py - 0.3 * px) * 0.95782629;
            if (fabs(d) < DX)
                assert_true(fabs(und_levelset_distance(l, x, y, 0) - d) < 0.1 * DX);
        }
    und_ledger ledger = und_levelset_ledger(l);
    double made = 0.05 * DX;
    assert_true(fabs(ledger.sources - ledger.drains - made) < 0.02 * made);
    assert_true(fabs(ledger.correction) < lost * made);
    und_levelset_destroy(l);
}
static void a_surface_comes_to_the_plane(void **state)
{
    (void)state;
    surface_comes_to_the_plane(UND_SURFACE_PARTICLES, 0.02);
    surface_comes_to_the_plane(UND_SURFACE_VOLUME, 1e-9);
}

/* Where alpha is 1 the liquid has the viscosity asked for, and where it is a half, half of it. */
static void viscosity_is_reported(void **state)
{
    (void)state;
    const float place[1][3] = {{0.5F, 0.2F, 0}};
    const und_control_particle_frame frame = {.count = 1, .at = place};
    for (int i = 0; i < 2; i++) {
        und_control_particle_def guide = at(UND_CONTROL_VISCOSITY, &frame);
        guide.radius = 0.2;
        guide.strength = i ? 0.5 : 1;
        guide.value = 8;
        und_levelset_def def = pool(&guide, 1, 0.5);
        und_levelset *l = start_levelset(&def);
        und_levelset_step(l, 1.0 / 24);
        und_error err;
        und_frame out = und_frame_empty(0, 0, (und_grid){.n = {N, N, 1}, .dx = DX});
        und_liquid *liquid = und_levelset_liquid(l);
        assert_int_equal(liquid->class->frame(liquid, &out, &err), UND_OK);
        const double *step_stats = (const double *)und_frame_find(&out, "control")->data + 5;
        assert_true(step_stats[0] == 1 && step_stats[1] > 100);
        assert_true(fabs(step_stats[2] - (i ? 4 : 0)) < 1e-6 && fabs(step_stats[3] - (i ? 4 : 0)) < 1e-6);
        assert_true(fabs(step_stats[4] - 8) < 1e-6);
        und_frame_clear(&out);
        und_levelset_destroy(l);
    }
}

/* V exp(rate t), and the ledger knows. */
static void divergence_makes_volume(void **state)
{
    (void)state;
    const float place[1][3] = {{0.5F, 0.5F, 0}};
    const und_control_particle_frame frame = {.count = 1, .at = place};
    und_shape *drop =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {0.5, 0.5, 0}, .radius = 0.3}, NULL);
    und_fill_def fill = {.shape = drop};
    und_control_particle_def guide = at(UND_CONTROL_DIVERGENCE, &frame);
    guide.radius = 10;
    guide.value = 1;
    und_levelset_def def = pool(&guide, 1, 0);
    def.has_level = false;
    def.fills = &fill;
    def.fill_count = 1;
    memset(def.gravity, 0, sizeof def.gravity);
    for (int i = 0; i < 6; i++) {
        const double sign = i % 2 ? 1 : -1, near = i < 2 || i > 3 ? 0.03 : 0.004;
        guide.value = sign;
        def.keep_volume = i == 2 || i == 3; /* what the surface's cells miss is then made up for */
        def.surface_rule = i > 3 ? UND_SURFACE_VOLUME : UND_SURFACE_PARTICLES;
        und_levelset *l = start_levelset(&def);
        for (int k = 0; k < 12; k++)
            und_levelset_step(l, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(l);
        double expected = ledger.start * (exp(0.5 * sign) - 1);
        assert_true(fabs(ledger.measured - ledger.start - expected) < near * fabs(expected));
        assert_true(fabs(ledger.sources - ledger.drains - expected) < near * fabs(expected));
        assert_true(fabs(ledger.correction) < (i > 3 ? 1e-9 : near) * fabs(expected));
        und_levelset_destroy(l);
    }
    und_shape_destroy(drop);
}

/* A box full to the brim with a part that moves as told: what is left has nowhere to go. */
static void pockets_are_enslaved(void **state)
{
    (void)state;
    const float place[1][3] = {{0.5F, 0.5F, 0}}, velocity[1][3] = {{2, 1, 0}};
    const und_control_particle_frame frame = {.count = 1, .at = place, .velocity = velocity};
    und_control_particle_def guide = at(UND_CONTROL_VELOCITY, &frame);
    guide.radius = 4.5 * DX;
    und_levelset_def def = pool(&guide, 1, 2);
    und_levelset *l = start_levelset(&def);
    for (int i = 0; i < 6; i++)
        und_levelset_step(l, 1.0 / 24);
    und_levelset_report last = und_levelset_last(l);
    assert_int_equal(last.iterations, 0); /* nothing is left to be solved for */
    double most = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double u = und_levelset_velocity(l, 0, x, y, 0), v = und_levelset_velocity(l, 1, x, y, 0);
            assert_true(isfinite(u) && isfinite(v));
            most = fmax(most, fmax(fabs(u), fabs(v)));
        }
    assert_true(most <= 2);
    assert_true(und_levelset_velocity(l, 0, 16, 16, 0) == 2);
    assert_true(und_levelset_velocity(l, 0, 16, 24, 0) > 0.1 && und_levelset_velocity(l, 0, 16, 24, 0) < 2);
    assert_int_equal(last.liquid, N * N);
    und_levelset_destroy(l);
}

/* The same bits with any number of threads, and from a state that was saved. */
static void the_same_bits_again(void **state)
{
    (void)state;
    enum { MANY = 600 };
    float from[MANY][3], to[MANY][3];
    for (int i = 0; i < MANY; i++)
        for (int a = 0; a < 3; a++) {
            int k = a == 0 ? i % 10 : a == 1 ? i / 10 % 10 : i / 100;
            from[i][a] = (float)((k + 4) * DX * 1.5);
            to[i][a] = from[i][a] + (a == 0 ? 0.2F : 0.1F);
        }
    const und_control_particle_frame frames[2] = {{.time = 0, .count = MANY, .at = from},
                                                  {.time = 0.3, .count = MANY, .at = to}};
    const und_control_particle_frame one = {.count = 1, .at = from};
    und_control_particle_def control_particles[4] = {
        at(UND_CONTROL_VELOCITY, frames), at(UND_CONTROL_SURFACE, frames), at(UND_CONTROL_DIVERGENCE, &one),
        at(UND_CONTROL_ERASER, &one)};
    for (int i = 0; i < 4; i++) {
        control_particles[i].frame_count = i < 2 ? 2 : 1;
        control_particles[i].radius = (i < 2 ? 1 : 5) * DX;
        control_particles[i].falloff = UND_FALLOFF_CUBIC;
        control_particles[i].value = 2;
    }
    control_particles[1].shape = UND_CONTROL_CYLINDER;
    control_particles[1].strength = 0.3;
    und_levelset_def def = pool(control_particles, 4, 0.5);
    def.n[2] = 16;
    uint64_t hash[4];
    und_error err = {0};
    for (int run = 0; run < 4; run++) {
        def.threads = (const int[4]){1, 2, 7, 2}[run];
        und_levelset *l = start_levelset(&def);
        und_levelset_step(l, 1.0 / 24);
        und_levelset_step(l, 1.0 / 24);
        if (run == 3) {
            und_liquid *liquid = und_levelset_liquid(l);
            und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
            assert_int_equal(liquid->class->save(liquid, &saved, &err), UND_OK);
            und_levelset *again = start_levelset(&def);
            liquid = und_levelset_liquid(again);
            assert_int_equal(liquid->class->restore(liquid, &saved, &err), UND_OK);
            und_frame_clear(&saved); /* it borrows */
            und_levelset_destroy(l);
            l = again;
        }
        und_levelset_step(l, 1.0 / 24);
        hash[run] = hash_of_levelset(l);
        assert_true(hash[run] == hash[0]);
        und_levelset_destroy(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_control_is_exact),        cmocka_unit_test(soft_control_goes_its_way),
        cmocka_unit_test(a_surface_comes_to_the_plane), cmocka_unit_test(divergence_makes_volume),
        cmocka_unit_test(viscosity_is_reported),        cmocka_unit_test(pockets_are_enslaved),
        cmocka_unit_test(the_same_bits_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
