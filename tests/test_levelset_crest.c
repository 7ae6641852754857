/* Crests throw off drops (levelset_crest.c): as many on a coarse grid as on a fine one, and none where water
 * is still, waves are small or all goes the same way. */
#include "tests/levelset_model.h"

#include "liquid/levelset_state.h"
#include "scene/scene.h"

#define TENSION 7.2e-5 /* m3/s2: of water, over its density */

static void waves_carry_slow_crests_away(void **state)
{
    (void)state;
    const double g = 9.81, k = 100;
    const double wave = sqrt(g / k + TENSION * k); /* m/s: of waves as short */
    assert_true(und_levelset_crest_speed(0, k, 0, g, TENSION, 0) == 0);
    assert_true(und_levelset_crest_speed(-2, k, 0, g, TENSION, 0) == 0);
    assert_true(und_levelset_crest_speed(0.999 * wave, k, 0, g, TENSION, 0) == 0);
    assert_double_near(und_levelset_crest_speed(sqrt(2) * wave, k, 0, g, TENSION, 0), wave, 1e-12);
    /* No wave on water is slower than 0.23 m/s, so what is slower throws nothing, however sharp. */
    for (double sharp = 1; sharp < 1e5; sharp *= 1.1)
        assert_true(und_levelset_crest_speed(0.22, sharp, 0, g, TENSION, 0) == 0);
    /* What has fallen, and honey. */
    assert_true(und_levelset_crest_speed(2, k, 4, g, TENSION, 0) == 0);
    assert_true(und_levelset_crest_speed(2, k, 0, g, TENSION, 0.01) == 0);
    assert_true(und_levelset_crest_speed(2, k, 0, g, TENSION, 1e-6) > 1.9);
}

/* The distance of a place, m, from a roof of 90 degrees with its ridge at {0, 0}. */
static double roof(double x, double y)
{
    const double far = (fabs(x) + y) / sqrt(2);
    return fabs(x) < y ? sqrt(x * x + y * y) : far;
}

/* A ridge of n cells whose upper 0.1 m goes up at 2 m/s: what it throws of a length and time, over the angle
 * by which it turns, the drops' length and the speed. */
static double ridge(int n, double tilt, double shift)
{
    const double side = 0.6, dx = side / n, up = 2, top = 0.4 + shift * dx, dt = 1e-3;
    enum { TIMES = 50 };
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = def.n[1] = n;
    def.n[2] = 8;
    def.dx = dx;
    und_levelset *s = start_levelset(&def);
    const und_mac *m = &s->mac;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < n; x++) {
            const size_t at = und_mac_row(m, row) + (size_t)x;
            const double px = (x + 0.5 - 2 * shift) * dx - 0.5 * side, py = (row % n + 0.5) * dx - top;
            const double a = cos(tilt), b = sin(tilt);
            s->surface.phi[at] = (float)(roof(a * px + b * py, a * py - b * px) / dx);
            s->flow.u[1][at] = py > -0.1 ? (float)up : 0;
        }
    und_distance_refresh(&s->surface);
    und_levelset_volume_fill(s);
    s->dt = dt;
    int32_t *c = und_levelset_volume_cells(s);
    int32_t *full = malloc(m->count * sizeof *full);
    memcpy(full, c, m->count * sizeof *full);
    const int64_t before = und_volume_sum(und_levelset_volumes(s));
    for (int k = 0; k < TIMES; k++, s->substeps++) {
        memcpy(c, full, m->count * sizeof *full);
        const double flying = s->ledger.spray_out;
        und_levelset_crests(s);
        const double taken = (double)(before - und_volume_sum(und_levelset_volumes(s))) * dx * dx * dx;
        assert_double_near(taken / UND_VOLUME_ONE, s->ledger.spray_out - flying, 1e-15);
    }
    const double thick = sqrt(TENSION / 9.81), length = 8 * dx;
    const double rate = und_levelset_thrown(s) / (TIMES * dt * length * thick * up * M_PI / 2);
    free(full);
    und_levelset_destroy(s);
    return rate;
}

static double mean_ridge(int n)
{
    double sum = 0;
    for (int k = 0; k < 12; k++)
        sum += ridge(n, 0.1 * (k % 3), 0.13 * k) / 12;
    return sum;
}

/* More than half of it; what cells show well does not count. */
static void a_ridge_throws_by_its_angle_on_any_grid(void **state)
{
    (void)state;
    const double coarse = mean_ridge(32), fine = mean_ridge(48);
    assert_true(coarse > 0.5 && coarse < 0.7);
    assert_double_near(fine / coarse, 1, 0.1);
}

/* ---- Runs ---- */

typedef struct shed {
    double crests, all; /* m3 that crests threw, and that became drops */
    double correction;
    uint64_t bits;
} shed;

static shed run(const char *liquid, int threads, double seconds)
{
    char text[1024];
    und_error err = {0};
    snprintf(text, sizeof text, "scene { name = \"crest\", frames = 24 }\nliquid.levelset { %s }\n", liquid);
    und_scene *scene = und_scene_from_text(text, "crest.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    und_levelset_def def = und_scene_get(scene)->levelset;
    def.threads = threads;
    und_levelset *l = start_levelset(&def);
    for (int k = 0; k < 24; k++)
        und_levelset_step(l, seconds / 24);
    const und_ledger g = und_levelset_ledger(l);
    const shed found = {und_levelset_thrown(l), g.spray_out, g.correction, hash_of_levelset(l)};
    und_levelset_destroy(l);
    und_scene_destroy(scene);
    return found;
}

static void calm_water_throws_nothing(void **state)
{
    (void)state;
    static const char *const calm[] = {
        "size = {1, 1}, cells = 32, level = 0.41",
        /* a standing wave of a twentieth of its length */
        "size = {1, 0.6}, cells = 48, level = function(x) return 0.3 + 0.025 * math.cos(2 * math.pi * x) end",
        /* what falls, or flies, in one piece */
        ("size = {1, 1}, cells = 40, fill = { { shape = sphere { center = {0.3, 0.7, 0}, radius = 0.08 }, "
         "velocity = {1, 0, 0} } }"),
    };
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++) {
        const shed found = run(calm[i], 1, i == 2 ? 0.3 : 1);
        if (found.crests != 0 || found.all != 0)
            fail_msg("%s: %g m3 thrown, %g became drops", calm[i], found.crests, found.all);
    }
}

#define DAM "size = {0.3, 0.3, 0.15}, cells = 24, fill = box { max = {0.12, 0.24, 1} }"

/* The front of a dam that breaks goes up the wall and over. */
static void a_dam_that_hits_the_wall_throws(void **state)
{
    (void)state;
    const shed one = run(DAM, 1, 0.5), two = run(DAM, 2, 0.5), none = run(DAM ", spray = false", 1, 0.5);
    assert_true(one.crests > 1e-6 && one.crests < one.all);
    assert_true(fabs(one.correction) < 1e-15 && fabs(none.correction) < 1e-15); /* of 4e-3 m3 */
    assert_true(one.bits == two.bits);
    assert_true(none.crests == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_carry_slow_crests_away),
        cmocka_unit_test(a_ridge_throws_by_its_angle_on_any_grid),
        cmocka_unit_test(calm_water_throws_nothing),
        cmocka_unit_test(a_dam_that_hits_the_wall_throws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
