/* Spray and foam on the height field: where drops begin, what they take and bring back, and their bits. */
#include "tests/pond.h"

#include "liquid/cells_spray.h"

enum { NX = 24, NZ = 20 };
static const double DT = 0.005;

/* Water 1 m deep, with a patch that rises. */
typedef struct sea {
    pond p;
    und_cells_spray *spray;
    und_ledger ledger, lost;
    double gained; /* m3, by the moves */
} sea;

static und_cells_def a_def(int threads)
{
    und_cells_def def = {.split = 0.5, .gravity = {0, -9.81, 0}, .seed = 3, .threads = threads};
    def.spray = (und_spray_def){.on = true,
                                .threshold = 2,
                                .rate = 4e5,
                                .radius = {0.002, 0.006},
                                .share = 0.8,
                                .launch = {1, 1},
                                .scatter = 0.1,
                                .drag = 1,
                                .most = 1 << 17};
    def.foam = (und_froth_def){.on = true, .life = 0.5, .most = 1 << 16};
    return def;
}

static void open_sea(sea *s, const und_cells_def *def)
{
    und_error err = {0};
    s->p = a_pond_of((int[3]){NX, 40, NZ}, (double[3]){0.1, 0.1, 0.15}, (double[3]){-1, 0, 2}, def->threads);
    fill(&s->p, 1.03);
    s->spray = und_cells_spray_create(def, s->p.height, &err);
    assert_non_null(s->spray);
    s->spray->ledger = &s->ledger;
    s->spray->lost = &s->lost;
    s->ledger.start = und_height_volume(s->p.height);
}

static void close_sea(sea *s)
{
    und_cells_spray_destroy(s->spray);
    close_pond(&s->p);
}

/* The middle of the sea moves with `speed` and the rest does not. */
static void push(sea *s, const double speed[3])
{
    for (int a = 0; a < 3; a++) {
        set_speed(&s->p, a, 0);
        for (int z = 6; z < 14; z++)
            for (int y = -1; y < 40; y++)
                for (int x = 8; x < 16; x++)
                    s->p.u[a][und_mac_at(&s->p.mac, x, y, z)] = speed[a];
    }
}

static void go(sea *s, int from, int to)
{
    for (int k = from; k < to; k++) {
        s->gained += move(&s->p, DT);
        s->spray->substep = k;
        s->spray->time = k * DT;
        s->spray->dt = DT;
        und_cells_emit(s->spray);
        und_cells_fly(s->spray);
    }
}

static double flying(const sea *s)
{
    return und_spray_in_flight(s->spray->spray) + s->spray->spray->rounding;
}

static void check_ledger(const sea *s)
{
    double close = 1e-12 * s->ledger.start;
    assert_double_near(s->ledger.spray_out - s->ledger.spray_back, flying(s), close);
    assert_double_near(
        und_height_volume(s->p.height),
        s->ledger.start + s->gained - s->ledger.spray_out + s->ledger.spray_back - s->ledger.left, close);
}

static void volume_goes_out_and_comes_back(void **state)
{
    (void)state;
    sea s = {0};
    und_cells_def def = a_def(1);
    const double up[3] = {0.5, 3, -0.25}, rest[3] = {0};
    open_sea(&s, &def);
    push(&s, up);
    go(&s, 0, 40);
    check_ledger(&s);
    assert_true(s.spray->spray->count > 1000);
    push(&s, rest);
    for (int k = 40; k < 400; k += 40) {
        go(&s, k, k + 40);
        check_ledger(&s);
    }
    assert_int_equal(s.spray->spray->count, 0);
    assert_true(s.ledger.spray_out > 1e-3 * s.ledger.start);
    assert_double_near(s.ledger.spray_back, s.ledger.spray_out, 1e-12 * s.ledger.spray_out);
    close_sea(&s);
}

/* Columns inside of the patch rise at 3 m/s: 1 m/s is above the threshold, and 0.8 of that leaves in the mean
 * over 30 substeps. */
static void share_of_the_rise_leaves(void **state)
{
    (void)state;
    sea s = {0};
    und_cells_def def = a_def(1);
    const double up[3] = {0, 3, 0};
    def.split = 0;
    def.spray.rate = 1e8; /* enough */
    def.spray.radius[0] = 0.004;
    def.spray.radius[1] = 0.012;
    def.spray.most = 1 << 18;
    open_sea(&s, &def);
    push(&s, up);
    double before = 0, taken = 0;
    for (int k = 0; k < 30; k++) {
        fill(&s.p, 1.03);
        move(&s.p, DT);
        for (int z = 7; z < 13; z++)
            for (int x = 9; x < 15; x++)
                before += *h_at(&s.p, x, z);
        s.spray->substep = k;
        s.spray->dt = DT;
        und_cells_emit(s.spray);
        for (int z = 7; z < 13; z++)
            for (int x = 9; x < 15; x++)
                taken += *h_at(&s.p, x, z);
    }
    double expected = 30 * 36 * 0.8 * (3 - 2) * DT;
    assert_double_near(before - taken, expected, 0.03 * expected);
    close_sea(&s);
}

/* Without scatter a drop has the liquid's velocity, and begins its radius below the surface. */
static void drops_begin_with_the_liquid(void **state)
{
    (void)state;
    sea s = {0};
    und_cells_def def = a_def(1);
    const double up[3] = {0.5, 3, -0.25};
    def.spray.scatter = 0;
    def.spray.rate = 3e4;
    open_sea(&s, &def);
    push(&s, up);
    fill(&s.p, 1.03);
    move(&s.p, DT);
    double level = *h_at(&s.p, 12, 10);
    s.spray->dt = DT;
    und_cells_emit(s.spray);
    const und_spray *spray = s.spray->spray;
    int inner = 0;
    for (int i = 0; i < spray->count; i++) {
        double x = (double)spray->place[0][i], z = (double)spray->place[2][i];
        assert_true(x > -1 + 0.8 && x < -1 + 1.6 && z > 2 + 0.9 && z < 2 + 2.1);
        if (!(x > 0.05 && x < 0.35 && z > 3.3 && z < 3.7))
            continue;
        inner++;
        for (int a = 0; a < 3; a++)
            assert_double_near((double)spray->speed[a][i], up[a], 1e-6);
        double below = level - (double)spray->place[1][i]; /* others have lowered the surface a bit */
        assert_double_near(below, (double)spray->radius[i], 0.1 * def.spray.radius[0]);
    }
    assert_true(inner > 5);
    close_sea(&s);
}

static uint64_t hash_of(sea *s)
{
    und_error err = {0};
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_cells_spray_save(s->spray, &saved, &err), UND_OK);
    assert_int_equal(und_height_save(s->p.height, &saved, &err), UND_OK);
    uint64_t hash = und_frame_hash(&saved, 1);
    und_frame_clear(&saved);
    return hash;
}

static void bits_do_not_depend_on_threads_or_restores(void **state)
{
    (void)state;
    und_error err = {0};
    const double up[3] = {0.5, 3, -0.25};
    sea s[3] = {0};
    for (int i = 0; i < 3; i++) {
        und_cells_def def = a_def(1 + i);
        open_sea(&s[i], &def);
        push(&s[i], up);
        if (i < 2)
            go(&s[i], 0, 80);
    }
    assert_true(und_foam_count(s[0].spray->foam) > 10);
    assert_true(hash_of(&s[0]) == hash_of(&s[1]));
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_cells_spray_save(s[0].spray, &saved, &err), UND_OK);
    assert_int_equal(und_height_save(s[0].p.height, &saved, &err), UND_OK);
    assert_int_equal(und_cells_spray_restore(s[2].spray, &saved, &err), UND_OK);
    assert_int_equal(und_height_restore(s[2].p.height, &saved, &err), UND_OK);
    und_frame_clear(&saved);
    go(&s[1], 80, 100);
    go(&s[2], 80, 100);
    assert_true(hash_of(&s[2]) == hash_of(&s[1]));
    for (int i = 0; i < 3; i++)
        close_sea(&s[i]);
}

/* Foam is born where drops come down, and drifts with the water. */
static void foam_drifts(void **state)
{
    (void)state;
    sea s = {0};
    und_cells_def def = a_def(1);
    const double up[3] = {0, 3, 0};
    und_error err = {0};
    def.foam.life = 1000;
    def.split = 0;
    def.spray.drag = 0;
    open_sea(&s, &def);
    push(&s, up);
    go(&s, 0, 10);
    push(&s, (double[3]){0});
    go(&s, 10, 300);
    assert_int_equal(s.spray->spray->count, 0);
    assert_int_equal(und_foam_count(s.spray->foam), (int)s.spray->spray->born);
    und_frame at[2];
    for (int k = 0; k < 2; k++) {
        at[k] = und_frame_empty(0, 0, (und_grid){0});
        assert_int_equal(und_cells_spray_frame(s.spray, &at[k], &err), UND_OK);
        set_speed(&s.p, 0, 0.4);
        if (k == 0)
            go(&s, 300, 320);
    }
    const float *a = und_frame_find(&at[0], "foam/position")->data,
                *b = und_frame_find(&at[1], "foam/position")->data;
    assert_int_equal(und_frame_find(&at[0], "foam/position")->dim[0],
                     und_frame_find(&at[1], "foam/position")->dim[0]);
    for (int i = 0; i < und_foam_count(s.spray->foam); i++)
        assert_double_near((double)(b[3 * i] - a[3 * i]), 20 * DT * 0.4, 1e-5);
    for (int k = 0; k < 2; k++)
        und_frame_clear(&at[k]);
    close_sea(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_goes_out_and_comes_back),
        cmocka_unit_test(share_of_the_rise_leaves),
        cmocka_unit_test(drops_begin_with_the_liquid),
        cmocka_unit_test(bits_do_not_depend_on_threads_or_restores),
        cmocka_unit_test(foam_drifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
