/* The window that large domains have by themselves, of thick liquids, of such that carry a temperature, and
 * of those that control particles lead: every bit is what the whole grid has. */
#include "tests/levelset_automatic.h"

#include "geom/motion.h"

#include <string.h>

/* Two in opposite corners, of which one flies: the box around them is the domain, and most of its rows have
 * nothing in them. */
typedef struct pair {
    scene t;
    und_shape drops[2];
    und_fill_def fills[2];
} pair;

static void make_pair(pair *p, int cells, int depth)
{
    make_scene(&p->t, cells, depth);
    const double far = cells * p->t.def.dx - 0.2;
    p->drops[0] = p->drops[1] = p->t.drop;
    p->drops[0].center = (und_vec3){0.2, 0.16, depth == 1 ? p->t.drop.center.z : 0.2};
    p->drops[1].center = (und_vec3){far, far, depth == 1 ? p->t.drop.center.z : far};
    memset(p->fills, 0, sizeof p->fills);
    for (int i = 0; i < 2; i++)
        p->fills[i].shape = &p->drops[i];
    p->fills[1].velocity[0].number = -4;
    p->t.def.fills = p->fills;
    p->t.def.fill_count = 2;
}

/* In two dimensions or three; one drop in a box that is much larger, or two far apart. */
static void make_way(pair *p, bool flat, bool apart)
{
    make_pair(p, apart ? (flat ? 400 : 130) : (flat ? 220 : 90), flat ? 1 : apart ? 130 : 80);
    p->t.def.fill_count = apart ? 2 : 1;
}

/* Of one alone the window has less than half of the cells; of two the box is all. */
static void compare_way(const pair *p, int frames)
{
    const double part = compare(p->t.def, frames);
    assert_true(part < 0.5 || p->t.def.fill_count == 2);
}

static void set_viscosity(und_levelset_def *def, und_viscosity_solver solver)
{
    def->viscosity = solver == UND_VISCOSITY_SPLIT ? 0.5 : 0.02;
    def->viscosity_solver = solver;
    def->stick = solver != UND_VISCOSITY_SPLIT;
}

/* By each of the solvers; thrown against a side that is open, or falling onto the floor. */
static void a_thick_ball(void **state)
{
    (void)state;
    for (int solver = 0; solver < 3; solver++)
        for (int way = 0; way < 2; way++) {
            pair p;
            make_way(&p, way == 0, false);
            set_viscosity(&p.t.def, (und_viscosity_solver)solver);
            p.t.def.open[0] = p.t.def.open[2] = solver == UND_VISCOSITY_SPLIT;
            p.fills[0].velocity[0].number = way == 0 ? -4 : 0;
            compare_way(&p, way == 0 ? 16 : 4);
        }
}

static void thick_and_far_apart(void **state)
{
    (void)state;
    for (int solver = 0; solver < 3; solver++)
        for (int way = 0; way < 2; way++) {
            pair p;
            make_way(&p, way == 0, true);
            set_viscosity(&p.t.def, (und_viscosity_solver)solver);
            compare_way(&p, way == 0 ? 12 : 3);
        }
}

/* Warmer further up. */
static double by_height(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return 20 + 100 * y;
}

static und_motion *path(const und_vec3 *from, const und_vec3 *to, double end)
{
    und_error err = {0};
    const und_key keys[2] = {{.time = 0, .position = *from}, {.time = end, .position = *to}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    assert_non_null(motion);
    return motion;
}

/* The floor melts it, and so does what a source brings; temperatures at the start are a number, or go by
 * place. */
static void what_melts(void **state)
{
    (void)state;
    static const double table[2][2] = {{0, 1}, {100, 0.001}};
    const und_value floor = {.number = 80}, hot = {.number = 100};
    for (int kind = 0; kind < 8; kind++) {
        pair p;
        const bool flat = kind % 2 == 0, apart = kind / 4 > 0, melts = kind / 2 % 2 > 0;
        und_heat_def heat = {.start = {.number = 20},
                             .diffusivity = 1e-3,
                             .walls = &floor,
                             .count = melts ? 2 : 0,
                             .viscosity = table};
        make_way(&p, flat, apart);
        if (!melts)
            heat.start = (und_value){.fn = by_height};
        p.fills[1].temperature = &hot;
        p.t.other = (und_shape){.kind = UND_SPHERE,
                                .center = {p.drops[0].center.x + 0.3, 0.3, p.drops[0].center.z},
                                .radius = 0.06};
        p.t.source.field.value[0].number = -1.5;
        p.t.source.temperature = &hot;
        p.t.def.element_count = 1;
        p.t.def.heat = &heat;
        compare_way(&p, flat ? 10 : 3);
    }
}

/* Where it has been, and where its spray lands, nothing tells of windows that came and went. */
static void heat_that_flies_far_off(void **state)
{
    (void)state;
    const und_value floor = {.number = 80};
    for (int i = 0; i < 2; i++) {
        scene t;
        und_heat_def heat = {.start = {.number = 20}, .diffusivity = 1e-3, .walls = &floor};
        make_scene(&t, 256, 1);
        if (i > 0)
            heat.start = (und_value){.fn = by_height};
        t.fill.velocity[0].number = 4;
        t.fill.velocity[1].number = 3;
        t.other = (und_shape){.kind = UND_BOX, .half = {0.05, 0.15, 1}};
        und_motion *way = path(&(und_vec3){4.6, 0.17, 0}, &(und_vec3){1, 0.17, 0}, 0.8);
        t.solid.motion = way;
        t.solid.temperature = &floor;
        t.def.obstacle_count = 1;
        t.def.heat = &heat;
        assert_true(compare(t.def, 24) < 0.5);
        und_motion_destroy(way);
    }
}

enum { MANY = 81 };

typedef struct led {
    float place[2][MANY][3], velocity[MANY][3];
    und_control_particle_frame frame[2];
    und_control_particle_def def;
} led;

/* Particles of a kind around each drop, in it and where there is no liquid, which go on to where there was
 * none; of those that stand, velocities are asked for. */
static void make_led(led *l, const pair *p, und_control_particle_kind kind, bool moves)
{
    const bool flat = p->t.def.n[2] == 1;
    *l = (led){0};
    for (int i = 0; i < MANY; i++) {
        const und_vec3 c = p->drops[p->t.def.fill_count > 1 ? i % 2 : 0].center;
        for (int k = 0; k < 2; k++) {
            l->place[k][i][0] = (float)c.x + 0.03f * (float)(i / 2 % 6) + 0.2f * (float)k;
            l->place[k][i][1] = (float)c.y + 0.03f * (float)(i / 12) + 0.1f * (float)k;
            l->place[k][i][2] = flat ? 0 : (float)c.z;
        }
        l->velocity[i][0] = 1;
        l->velocity[i][1] = 0.5f;
    }
    for (int k = 0; k < 2; k++)
        l->frame[k] = (und_control_particle_frame){
            .time = 0.3 * k, .count = MANY, .at = l->place[k], .velocity = moves ? NULL : l->velocity};
    l->def = und_control_particle_def_default();
    l->def.kind = kind;
    l->def.shape = kind == UND_CONTROL_SURFACE ? UND_CONTROL_CYLINDER : UND_CONTROL_SPHERE;
    l->def.frames = l->frame;
    l->def.frame_count = moves ? 2 : 1;
    l->def.value = kind == UND_CONTROL_DIVERGENCE ? 3 : 0.3;
}

static void what_is_led(void **state)
{
    (void)state;
    for (int kind = 0; kind < UND_CONTROL_KINDS; kind++)
        for (int way = 0; way < 8; way++) {
            const bool flat = way % 2 == 0, apart = way / 2 % 2 > 0, moves = way / 4 > 0;
            pair p;
            led l;
            make_way(&p, flat, apart);
            make_led(&l, &p, (und_control_particle_kind)kind, moves);
            l.def.radius = moves ? 0.02 : 0.04; /* such as a cell, and larger ones */
            l.def.strength = apart ? 0.6 : 1;
            p.t.def.control_particles = &l.def;
            p.t.def.control_particle_count = 1;
            compare_way(&p, flat ? 6 : 2);
        }
}

/* What adds is the first liquid that there is, far from where an empty domain's window waits. */
static void nothing_but_what_adds(void **state)
{
    (void)state;
    pair p;
    led l;
    make_way(&p, true, false);
    p.drops[0].center = (und_vec3){4, 3.5, p.drops[0].center.z};
    make_led(&l, &p, UND_CONTROL_ADDER, true);
    l.def.radius = 0.04;
    l.def.start = 0.1;
    l.def.end = 0.3;
    p.t.def.control_particles = &l.def;
    p.t.def.control_particle_count = 1;
    p.t.def.fill_count = 0;
    assert_true(compare(p.t.def, 12) < 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thick_ball), cmocka_unit_test(thick_and_far_apart),
        cmocka_unit_test(what_melts),   cmocka_unit_test(heat_that_flies_far_off),
        cmocka_unit_test(what_is_led),  cmocka_unit_test(nothing_but_what_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
