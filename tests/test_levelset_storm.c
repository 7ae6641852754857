/* Random violent scenes of the particle level set: fills that crash, solids that shove, containers that are
 * carried, sources in full boxes, drains, forces, open sides, gravity aslant, thick liquids, long and short
 * steps, domains of a few cells.  Whatever they do, velocities stay bounded, steps do not shrink to nothing,
 * the ledger closes, and the bits are the same with other threads and after a save in the middle. */
#include "tests/test.h"

#include "base/random.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "grid/frame.h"
#include "liquid/levelset.h"

enum { SOLIDS = 3, FILLS = 3, ELEMENTS = 4, SUBSTEPS = 60, MOST_OF_A_STEP = 2000 };

typedef struct storm {
    uint64_t seed, drawn;
    und_levelset_def def;
    und_shape solid_shape[SOLIDS], fill_shape[FILLS], element_shape[ELEMENTS];
    und_motion *motion[SOLIDS + ELEMENTS];
    und_obstacle_def solid[SOLIDS];
    und_fill_def fill[FILLS];
    und_element_def element[ELEMENTS];
    double size[3];
    double fastest; /* m/s; of what comes in, shoves or sets out */
    double time;    /* s; in which something falls through the domain */
} storm;

static double draw(storm *s, double low, double high)
{
    return low + (high - low) * und_random(s->seed, 1, s->drawn++);
}

static bool maybe(storm *s, double probability)
{
    return draw(s, 0, 1) < probability;
}

/* A box or a ball, somewhere. */
static und_shape draw_shape(storm *s, double largest)
{
    und_shape shape = {.kind = maybe(s, 0.7) ? UND_BOX : UND_SPHERE};
    double *center[3] = {&shape.center.x, &shape.center.y, &shape.center.z};
    double *half[3] = {&shape.half.x, &shape.half.y, &shape.half.z};
    for (int a = 0; a < 3; a++) {
        *center[a] = draw(s, 0, s->size[a]);
        *half[a] = draw(s, 0.05, largest) * s->size[a];
    }
    if (shape.kind == UND_SPHERE)
        shape.radius = draw(s, 0.1, largest) * fmin(s->size[0], s->size[1]);
    return shape;
}

/* Through a few places near the origin, turning. */
static und_motion *draw_motion(storm *s)
{
    und_key key[3];
    for (int k = 0; k < 3; k++)
        key[k] =
            (und_key){.time = 0.5 * k * s->time,
                      .position = und_vec(draw(s, -0.4, 0.4) * s->size[0], draw(s, -0.4, 0.4) * s->size[1],
                                          draw(s, -0.4, 0.4) * s->size[2]),
                      .rotation = und_vec(0, 0, draw(s, -60, 60))};
    und_motion *motion = und_motion_create(key, 3, maybe(s, 0.5) ? UND_EASE_LINEAR : UND_EASE_SPLINE, NULL);
    assert_non_null(motion);
    return motion;
}

static void draw_grid(storm *s, bool flat)
{
    static const int tiny[][3] = {{1, 1, 1}, {2, 5, 1}, {5, 2, 1}, {3, 3, 3},
                                  {1, 1, 4}, {1, 7, 2}, {2, 2, 2}};
    und_levelset_def *d = &s->def;
    bool small = maybe(s, 0.15);
    int which = (int)draw(s, 0, sizeof tiny / sizeof *tiny);
    d->dx = pow(10, draw(s, -3, 0.5));
    for (int a = 0; a < 3; a++) {
        d->n[a] = small ? tiny[which][a] : a == 2 && flat ? 1 : (int)draw(s, 5, flat ? 40 : 15);
        s->size[a] = d->n[a] * d->dx;
    }
    s->time = sqrt(2 * s->size[1] / 9.81);
    s->fastest = sqrt(9.81 * s->size[1]);
}

static void draw_rules(storm *s)
{
    und_levelset_def *d = &s->def;
    if (maybe(s, 0.3))
        for (int a = 0; a < 3; a++)
            d->gravity[a] = draw(s, -15, 15);
    d->viscosity = maybe(s, 0.5) ? 0 : pow(10, draw(s, -6, 2)) * d->dx * sqrt(9.81 * d->dx);
    d->stick = maybe(s, 0.5);
    d->courant = 1 / pow(10, draw(s, log10(0.2), log10(5)));
    d->trace = maybe(s, 0.5) ? 2 : 3;
    d->velocity_rule = maybe(s, 0.7) ? UND_VELOCITY_MACCORMACK : UND_VELOCITY_SEMI_LAGRANGIAN;
    d->surface_rule = maybe(s, 0.8) ? UND_SURFACE_PARTICLES : UND_SURFACE_WENO;
    d->redistance = maybe(s, 0.5) ? 1 : 2;
    d->particles = maybe(s, 0.2) ? 0 : (int)draw(s, 1, 33);
    d->reseed = (int)draw(s, 0, 12);
    d->tolerance = pow(10, draw(s, -8, -1));
    d->max_iterations = maybe(s, 0.2) ? 2 : 100;
    d->keep_volume = maybe(s, 0.5);
    d->spray = maybe(s, 0.7);
    d->spray_most = 2000;
    for (int i = 0; i < UND_SIDES; i++)
        d->open[i] = maybe(s, 0.15);
}

static void draw_liquid(storm *s)
{
    und_levelset_def *d = &s->def;
    for (int i = 0; i < SOLIDS; i++) {
        s->solid_shape[i] = draw_shape(s, 0.25);
        s->solid[i] = (und_obstacle_def){.shape = &s->solid_shape[i]};
        if (maybe(s, 0.2)) { /* a container that holds most of the domain */
            s->solid_shape[i] = draw_shape(s, 0.7);
            s->solid[i].inside_out = true;
        } else if (maybe(s, 0.5)) /* not of containers: where they leave liquid no room it runs away */
            s->solid[i].motion = s->motion[i] = draw_motion(s);
    }
    d->obstacles = s->solid, d->obstacle_count = (int)draw(s, 0, SOLIDS + 1);
    for (int i = 0; i < FILLS; i++) {
        s->fill_shape[i] = draw_shape(s, 0.5);
        s->fill[i].shape = &s->fill_shape[i];
        if (maybe(s, 0.5))
            for (int a = 0; a < 3; a++)
                s->fill[i].velocity[a].number = draw(s, -2, 2) * s->fastest;
    }
    d->fills = s->fill, d->fill_count = (int)draw(s, 0, FILLS + 1);
    d->has_level = d->fill_count == 0 || maybe(s, 0.5);
    d->level.number = draw(s, 0.01, maybe(s, 0.3) ? 1.1 : 0.6) * s->size[1];
}

static void draw_elements(storm *s)
{
    und_levelset_def *d = &s->def;
    for (int i = 0; i < ELEMENTS; i++) {
        und_element_def *e = &s->element[i];
        e->role = (und_element_role)draw(s, 0, 4);
        s->element_shape[i] = draw_shape(s, 0.3);
        if (e->role == UND_ELEMENT_SOURCE || e->role == UND_ELEMENT_DRAIN || maybe(s, 0.7))
            e->shape = &s->element_shape[i];
        if (e->shape && maybe(s, 0.3))
            e->motion = s->motion[SOLIDS + i] = draw_motion(s);
        double unit = e->role == UND_ELEMENT_FORCE ? 9.81 : s->fastest;
        for (int a = 0; a < 3; a++)
            e->field.value[a] = und_value_constant(draw(s, -2, 2) * unit);
        e->alpha = und_value_constant(draw(s, 0, 1));
        e->soft = e->shape && maybe(s, 0.5) ? draw(s, 0, 3) * d->dx : 0;
        e->start = maybe(s, 0.5) ? 0 : draw(s, 0, 0.5) * s->time;
        e->end = e->start + draw(s, 0.1, 2) * s->time;
    }
    d->elements = s->element, d->element_count = maybe(s, 0.4) ? 0 : (int)draw(s, 0, ELEMENTS + 1);
}

static void make_storm(storm *s, uint64_t seed, bool flat)
{
    *s = (storm){.seed = seed, .def = und_levelset_def_default()};
    s->def.seed = seed;
    draw_grid(s, flat);
    draw_rules(s);
    draw_liquid(s);
    draw_elements(s);
    for (int i = 0; i < SOLIDS; i++) { /* last, so that all else is as it would be without */
        s->solid[i].friction = maybe(s, 0.5) ? 0 : draw(s, 0, 1);
        s->solid[i].separate = maybe(s, 0.5) ? UND_SEPARATE_ALWAYS : UND_SEPARATE_AT_AIR;
    }
}

static void end_storm(storm *s)
{
    for (int i = 0; i < SOLIDS + ELEMENTS; i++)
        und_motion_destroy(s->motion[i]);
}

static und_levelset *start(storm *s, int threads)
{
    und_error err = {0};
    s->def.threads = threads;
    und_levelset *levelset = und_levelset_create(&s->def, &err);
    if (!levelset)
        fail_msg("seed %d: %s", (int)s->seed, err.text);
    return levelset;
}

static double fastest_of(const und_levelset *levelset, const und_levelset_def *d)
{
    double most = 0;
    for (int a = 0; a < 3; a++)
        for (int z = 0; z < d->n[2] + (a == 2); z++)
            for (int y = 0; y < d->n[1] + (a == 1); y++)
                for (int x = 0; x < d->n[0] + (a == 0); x++) {
                    double u = fabs(und_levelset_velocity(levelset, a, x, y, z));
                    most = u <= most ? most : u; /* NaN shows */
                }
    return most;
}

/* What no scene may do, whatever it does. */
static void check_step(const storm *s, und_levelset *levelset, double bound)
{
    const und_levelset_def *d = &s->def;
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_error err = {0};
    double fastest = fastest_of(levelset, d);
    if (!(fastest < bound))
        fail_msg("seed %d, %d x %d x %d cells: %g m/s at %g s, expected less than %g", (int)s->seed, d->n[0],
                 d->n[1], d->n[2], fastest, und_levelset_time(levelset), bound);
    if (liquid->class->trouble(liquid, &err) != UND_OK)
        fail_msg("seed %d, %d x %d x %d cells: %s", (int)s->seed, d->n[0], d->n[1], d->n[2], err.text);
    for (int z = 0; z < d->n[2]; z++)
        for (int y = 0; y < d->n[1]; y++)
            for (int x = 0; x < d->n[0]; x++)
                assert_true(isfinite(und_levelset_distance(levelset, x, y, z)));
    und_ledger l = und_levelset_ledger(levelset);
    double all = l.start + l.sources + l.drains + fabs(l.correction);
    assert_double_near(und_ledger_expected(&l), l.measured, 1e-12 * all + 1e-300);
    if (d->surface_rule == UND_SURFACE_VOLUME && !(fabs(l.correction) <= 1e-12 * all))
        fail_msg("seed %d, %d x %d x %d cells: %g of the volume was made or lost by %g s", (int)s->seed,
                 d->n[0], d->n[1], d->n[2], l.correction / all, und_levelset_time(levelset));
    assert_true(l.measured >= 0 && l.measured < 1.001 * s->size[0] * s->size[1] * s->size[2]);
}

static void save(und_levelset *levelset, und_frame *state)
{
    und_error err = {0};
    und_liquid *liquid = und_levelset_liquid(levelset);
    *state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    assert_int_equal(liquid->class->save(liquid, state, &err), UND_OK);
}

/* All of the state, to the bit. */
static void check_same(const storm *s, und_levelset *levelset, und_levelset *twin, int after)
{
    und_frame one, other;
    save(levelset, &one);
    save(twin, &other);
    assert_int_equal(one.count, other.count);
    for (int i = 0; i < one.count; i++) {
        const und_item *a = &one.items[i], *b = &other.items[i];
        if (und_item_bytes(a) != und_item_bytes(b) ||
            (und_item_bytes(a) > 0 && memcmp(a->data, b->data, und_item_bytes(a))))
            fail_msg("seed %d, %d x %d x %d cells: another \"%s\" %d substeps after a save", (int)s->seed,
                     s->def.n[0], s->def.n[1], s->def.n[2], a->name, after);
    }
    und_frame_clear(&one);
    und_frame_clear(&other);
}

/* Another with more threads that goes on from here. */
static und_levelset *twin_of(storm *s, und_levelset *levelset)
{
    und_error err = {0};
    und_levelset *twin = start(s, 2);
    und_frame state, copy = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    save(levelset, &state);
    assert_int_equal(und_frame_copy(&state, &copy, &err), UND_OK);
    und_liquid *liquid = und_levelset_liquid(twin);
    if (liquid->class->restore(liquid, &copy, &err) != UND_OK)
        fail_msg("seed %d: %s", (int)s->seed, err.text);
    und_frame_clear(&state);
    und_frame_clear(&copy);
    return twin;
}

static bool advance(const storm *s, und_levelset *levelset)
{
    und_liquid *liquid = und_levelset_liquid(levelset);
    return liquid->class->step(liquid, s->time / 8);
}

static void ride(storm *s)
{
    und_levelset *levelset = start(s, 1), *twin = NULL;
    const double *g = s->def.gravity, reach = fmax(fmax(s->size[0], s->size[1]), s->size[2]);
    double bound = 30 * (sqrt(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * reach) + s->fastest);
    int in_step = 0;
    for (int i = 0; i < SUBSTEPS; i++) {
        if (i == SUBSTEPS / 4)
            twin = twin_of(s, levelset);
        in_step = advance(s, levelset) ? 0 : in_step + 1;
        if (twin)
            advance(s, twin);
        check_step(s, levelset, bound);
        assert_true(in_step < MOST_OF_A_STEP);
        if (twin)
            check_same(s, levelset, twin, i - SUBSTEPS / 4 + 1);
    }
    und_levelset_destroy(levelset);
    und_levelset_destroy(twin);
}

static void storms(bool flat, bool volume, int count)
{
    const int each = 3 - test_cases(2, 1); /* under a sanitizer every second */
    for (int seed = 0; seed < count; seed += each) {
        storm s;
        make_storm(&s, (uint64_t)seed + (flat ? 0 : 10000), flat);
        if (volume)
            s.def.surface_rule = UND_SURFACE_VOLUME;
        ride(&s);
        end_storm(&s);
    }
}

static void storms_in_a_plane(void **state)
{
    (void)state;
    storms(true, false, 16);
}
static void storms_in_space(void **state)
{
    (void)state;
    storms(false, false, 8);
}
static void storms_that_lose_nothing_in_a_plane(void **state)
{
    (void)state;
    storms(true, true, 16);
}
static void storms_that_lose_nothing_in_space(void **state)
{
    (void)state;
    storms(false, true, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(storms_in_a_plane), cmocka_unit_test(storms_in_space),
                                       cmocka_unit_test(storms_that_lose_nothing_in_a_plane),
                                       cmocka_unit_test(storms_that_lose_nothing_in_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
