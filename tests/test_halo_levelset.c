/* Substeps of the level set in two halves of a grid, each in memory of its own, have the bits of the whole;
 * with narrower halos they do not. */
#include "tests/halves.h"
#include "tests/levelset_model.h"

#include "geom/motion.h"
#include "geom/shape.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>

enum { PARTS = HALVES + 1, BORDER = 21 };
static const double DX = 0.02;

/* A dam, a ball that falls into it where the halves meet, and a thin sheet. */
typedef struct scene {
    und_shape *shape[3], *solid;
    und_motion *motion;
    und_obstacle_def obstacle;
    und_shape *hole;
    und_element_def drain;
    und_fill_def fills[3];
    und_levelset_def def;
} scene;

static void open_scene(scene *w)
{
    const und_shape shapes[3] = {{.kind = UND_BOX, .center = {0.25, 0.05, 0.18}, .half = {0.25, 0.05, 0.18}},
                                 {.kind = UND_SPHERE, .center = {0.2, 0.28, 0.45}, .radius = 0.09},
                                 {.kind = UND_BOX, .center = {0.36, 0.15, 0.45}, .half = {0.01, 0.15, 0.15}}};
    *w = (scene){.def = und_levelset_def_default()};
    for (int i = 0; i < 3; i++)
        w->fills[i] = (und_fill_def){.shape = w->shape[i] = und_shape_create(&shapes[i], NULL)};
    memcpy(w->def.n, (int[3]){25, 22, 42}, sizeof w->def.n);
    w->def.dx = DX;
    w->def.fills = w->fills;
    w->def.fill_count = 3;
    w->def.particles = 0;
    w->def.spray = false;
    w->def.threads = 1;
    w->def.window.automatic = 0;
}
static void close_scene(scene *w)
{
    und_shape_destroy(w->solid);
    und_shape_destroy(w->hole);
    und_motion_destroy(w->motion);
    for (int i = 0; i < 3; i++)
        und_shape_destroy(w->shape[i]);
}

static void add_solid(scene *w, const und_shape *shape, und_obstacle_def how)
{
    w->obstacle = how;
    w->obstacle.shape = w->solid = und_shape_create(shape, NULL);
    w->obstacle.motion = w->motion;
    w->def.obstacles = &w->obstacle;
    w->def.obstacle_count = 1;
}
/* In 0.6 s; before the solid is added. */
static void add_motion(scene *w, und_vec3 by)
{
    const und_key keys[2] = {{.time = 0}, {.time = 0.6, .position = by}};
    und_error err;
    assert_non_null(w->motion = und_motion_create(keys, 2, UND_EASE_SPLINE, &err));
}

/* What others have is anything. */
static void spoil(und_levelset *s, const struct half *half)
{
    und_levelset_field list[UND_LEVELSET_FIELDS];
    const int count = und_levelset_carried(s, list);
    for (int i = 0; i < count; i++) {
        und_halo_field f = und_halo_of(&s->mac, list[i].data, list[i].type == UND_F64 ? 8 : 4, 0);
        f.type = list[i].type;
        halves_spoil_beyond(half, &f);
    }
    for (int a = 0; a <= 3; a++) {
        const und_halo_field f = und_halo_of_mask(&s->mac, a < 3 ? &s->flow.flows[a] : &s->flow.liquid, 0);
        halves_spoil_beyond(half, &f);
    }
    const und_volume *v = und_levelset_volumes(s);
    uint8_t *const bytes[] = {v->film, v->parts->unsure};
    for (int i = 0; i < 2; i++) {
        und_halo_field f = und_halo_of(&s->mac, bytes[i], 1, 0);
        f.type = UND_U8;
        halves_spoil_beyond(half, &f);
    }
}

/* Slices that are not as in the whole, and numbers. */
static int differing(const halves *all, und_levelset *const s[PARTS])
{
    const und_levelset *whole = s[HALVES];
    und_levelset_field list[PARTS][UND_LEVELSET_FIELDS];
    int found = 0, count = 0;
    for (int i = 0; i < PARTS; i++)
        count = und_levelset_carried(s[i], list[i]);
    for (int k = 0; k < count; k++)
        found += halves_differ(all, &whole->mac, list[0][k].data, list[1][k].data, list[HALVES][k].data,
                               list[0][k].type == UND_F64 ? 8 : 4);
    for (int i = 0; i < HALVES; i++)
        found += s[i]->time != whole->time || s[i]->ledger.drains != whole->ledger.drains ||
                 s[i]->fastest != whole->fastest || s[i]->closing_much != whole->closing_much ||
                 s[i]->ledger.measured != whole->ledger.measured ||
                 s[i]->last.iterations != whole->last.iterations ||
                 s[i]->last.residual != whole->last.residual;
    return found;
}

static void step(void *levelset)
{
    und_levelset_step(levelset, 0.01);
}
static void find_closing(void *levelset)
{
    und_levelset *s = levelset;
    und_levelset_closing_forget(s);
    und_levelset_closing_soon(s, 0.02);
}

/* Once after so many steps with all that is asked for with what is `less`; `narrow` is so for solids alone,
 * in each step. */
static int run_narrow(const und_levelset_def *def, int steps, void (*stage)(void *levelset), int less,
                      int narrow)
{
    und_levelset *s[PARTS];
    halves all;
    halves_open(&all, def->n[2], BORDER, 0);
    for (int i = 0; i < PARTS; i++) {
        s[i] = start_levelset(def);
        if (i < HALVES)
            und_levelset_share(s[i], &all.half[i].halo);
        if (i < HALVES)
            s[i]->solids.device.halo = &all.half[i].narrow_halo;
    }
    all.narrow = narrow;
    for (int k = 0; k <= steps; k++) {
        all.less = k < steps ? 0 : less;
        for (int i = 0; i < HALVES; i++)
            spoil(s[i], &all.half[i]);
        (k < steps ? step : stage)(s[HALVES]);
        halves_run(k < steps ? step : stage, s[0], s[1]);
        if (k < steps && narrow == 0)
            assert_int_equal(differing(&all, s), 0);
    }
    const int found = differing(&all, s);
    for (int i = 0; i < PARTS; i++)
        und_levelset_destroy(s[i]);
    halves_close(&all);
    return found;
}
static int run(const und_levelset_def *def, int steps, void (*stage)(void *levelset), int less)
{
    return run_narrow(def, steps, stage, less, 0);
}

static void substeps_have_the_bits_of_the_whole(void **state)
{
    (void)state;
    scene w;
    open_scene(&w);
    assert_int_equal(run(&w.def, 40, step, 0), 0);
    assert_true(run(&w.def, 3, step, 1) > 0);
    close_scene(&w);
}

/* Films run along it, too. */
static void substeps_above_a_slope(void **state)
{
    const und_shape slope = {.kind = UND_PLANE, .center = {0.25, 0.05, 0.41}, .half = {0.1, 0.45, 0.2}};
    scene w;
    (void)state;
    open_scene(&w);
    add_solid(&w, &slope, (und_obstacle_def){0});
    assert_int_equal(run(&w.def, 34, step, 0), 0);
    assert_true(run_narrow(&w.def, 34, step, 0, 4) > 0);
    close_scene(&w);
}

/* It comes through where the halves meet; sheets come off it. */
static void substeps_around_a_ball_that_moves(void **state)
{
    const und_shape ball = {.kind = UND_SPHERE, .center = {0.26, 0.12, 0.41}, .radius = 0.075};
    scene w;
    (void)state;
    open_scene(&w);
    add_motion(&w, und_vec(-0.1, 0.1, -0.3));
    add_solid(&w, &ball, (und_obstacle_def){.separate = UND_SEPARATE_ALWAYS, .friction = 0.2});
    assert_int_equal(run(&w.def, 20, step, 0), 0);
    assert_true(run_narrow(&w.def, 20, step, 0, 10) > 0);
    close_scene(&w);
}

/* No cell shows it. */
static void substeps_around_a_thin_plate(void **state)
{
    const und_shape plate = {.kind = UND_BOX, .center = {0.25, 0.1, 0.41}, .half = {0.1, 0.003, 0.2}};
    scene w;
    (void)state;
    open_scene(&w);
    add_solid(&w, &plate, (und_obstacle_def){0});
    assert_int_equal(run(&w.def, 20, step, 0), 0);
    assert_true(run_narrow(&w.def, 20, step, 0, 2) > 0);
    close_scene(&w);
}

/* It takes the same of the dam, and all know how much. */
static void substeps_with_a_drain(void **state)
{
    const und_shape hole = {.kind = UND_BOX, .center = {0.3, 0, 0.4}, .half = {0.06, 0.05, 0.06}};
    scene w;
    (void)state;
    open_scene(&w);
    w.hole = und_shape_create(&hole, NULL);
    w.drain = (und_element_def){.role = UND_ELEMENT_DRAIN, .shape = w.hole, .end = INFINITY};
    w.def.elements = &w.drain;
    w.def.element_count = 1;
    assert_int_equal(run(&w.def, 20, step, 0), 0);
    close_scene(&w);
}

static void substeps_of_honey(void **state)
{
    scene w;
    (void)state;
    open_scene(&w);
    w.def.viscosity = 0.05;
    w.def.stick = true;
    assert_int_equal(run(&w.def, 20, step, 0), 0);
    assert_true(run(&w.def, 3, step, 1) > 0);
    close_scene(&w);
}

/* The ball comes down on the dam. */
static void gaps_that_close_are_found(void **state)
{
    (void)state;
    scene w;
    open_scene(&w);
    assert_int_equal(run(&w.def, 16, find_closing, 0), 0);
    assert_true(run(&w.def, 16, find_closing, 6) > 0);
    close_scene(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(substeps_have_the_bits_of_the_whole),
                                       cmocka_unit_test(substeps_above_a_slope),
                                       cmocka_unit_test(substeps_around_a_ball_that_moves),
                                       cmocka_unit_test(substeps_around_a_thin_plate),
                                       cmocka_unit_test(substeps_with_a_drain),
                                       cmocka_unit_test(substeps_of_honey),
                                       cmocka_unit_test(gaps_that_close_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
