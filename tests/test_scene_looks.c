/* How things look: what scenes say of it, right and wrong. */
#include "tests/test.h"

#include "scene/scene.h"

typedef struct wrong_scene {
    const char *text, *fragment;
} wrong_scene;

#define S(text_) "liquid.waves { size = {4, 2}, cells = 8 }\n" text_

static const wrong_scene wrong[] = {
    {S("camera { fstop = 0 }"), "camera.fstop: expected a number from 0.1 to 1000, found 0"},
    {S("camera { fstop = 2, aperture = 0.1 }"), "camera: expected either aperture or fstop, found both"},
    {S("camera { focus = -1 }"), "camera.focus: expected a number from 0.001 to 1e+09 (m), found -1"},
    {S("camera { focus = 'ball' }"), "camera.focus: expected {x, y, z}, a function(t) that returns it"},
    {S("light { sun_size = 91 }"), "light.sun_size: expected a number from 0 to 90 (degrees), found 91"},
    {S("light { lamps = {{ size = 1 }} }"), "light.lamps[1]: missing key \"at\""},
    {S("light { lamps = {{ at = {0, 1, 0} }} }"),
     "light.lamps[1]: missing key \"size\" (of a rectangle) or \"radius\" (of a ball)"},
    {S("light { lamps = {{ at = {0, 1, 0}, size = 1, radius = 1 }} }"),
     "light.lamps[1]: expected either a size or a radius, found both"},
    {S("light { lamps = {{ at = {0, 1, 0}, size = {1, 0} }} }"),
     "light.lamps[1].size: expected sides from 0.0001 to 10000 m, found 0"},
    {S("light { lamps = {{ at = {0, 1, 0}, radius = 1, towards = {0, 0, 0} }} }"),
     "a ball shines to all sides"},
    {S("light { lamps = {{ at = {0, 1, 0}, size = 1, towards = {0, 1, 0} }} }"),
     "expected another point than \"at\""},
    {S("render { quality = 'best' }"),
     "render.quality: expected \"preview\", \"review\" or \"final\", found"},
    {S("render { noise = 0/0 }"), "render.noise: expected a finite number from 0.0001 to 1, found nan"},
    {S("render { least = 9, samples = 3 }"), "render: expected least to be at most samples (3), found 9"},
    {S("render { photon = 1 }"), "render: unknown key \"photon\" (did you mean \"photons\"?)"},
    {S("water { material = 'gald' }"), "found \"gald\" (did you mean \"gold\"?)"},
    {S("water { material = 3 }"),
     "water.material: expected a material's name, or a table as of material { }, found 3"},
    {S("water { material = {} }"), "water.material: missing key \"kind\""},
    {S("water { material = { kind = 'metal', like = 'gold' } }"),
     "water.material: expected either kind or like, found both"},
    {S("water { material = { kind = 'metall' } }"), "water.material.kind: expected \"diffuse\", \"glossy\", "
                                                    "\"metal\" or \"glass\", found \"metall\" (did you "
                                                    "mean \"metal\"?)"},
    {S("water { material = { kind = 'glass', index = 9 } }"),
     "water.material.index: expected a number from 1 to 4, found 9"},
    {S("ground { material = { kind = 'diffuse', texture = '../x.png' } }"), "ground.material.texture: "},
    {S("material { kind = 'metal' }"), "material: missing key \"name\""},
    {S("material { name = 'a', kind = 'metal', color = 2 }"),
     "material.color: expected colours from 0 to 1, found 2"},
    {S("material { name = 'mine', kind = 'metal' } water { material = 'mime' }"), "(did you mean \"mine\"?)"},
};

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        und_scene *scene = und_scene_from_text(wrong[i].text, "e.lua", NULL, 0, &err);
        if (scene)
            fail_msg("%s\nloads", wrong[i].text);
        assert_int_equal(err.status, UND_INVALID);
        if (!strstr(err.text, wrong[i].fragment))
            fail_msg("%s\ngives \"%s\"\nwithout \"%s\"", wrong[i].text, err.text, wrong[i].fragment);
    }
}

static und_scene *load(const char *text, const und_picture_def **def)
{
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "looks.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    *def = &und_scene_get(scene)->render;
    return scene;
}

static void nothing_said_is_nothing_asked(void **state)
{
    (void)state;
    const und_picture_def *d;
    und_scene *scene = load(S(""), &d);
    assert_false(d->looks.liquid.given || d->looks.ground.given);
    assert_int_equal(d->looks.solid_count + d->looks.body_count + d->lamp_count, 0);
    assert_null(d->focus_at);
    assert_true(d->lens == 0 && d->focus == 0 && d->photons < 0 && d->noise == 0);
    und_scene_destroy(scene);
}

static void solids_have_materials(void **state)
{
    (void)state;
    const und_picture_def *d;
    und_scene *scene =
        load("material { name = 'mine', kind = 'glossy', roughness = 0.5 }\n"
             "liquid.levelset { size = {1, 1, 1}, cells = 8, solids = {\n"
             "  sphere { radius = 0.1 },\n"
             "  { shape = sphere { radius = 0.2 }, material = 'mine' },\n"
             "  { shape = sphere { radius = 0.3 }, material = { like = 'gold', color = {1, 0, 0} } },\n"
             "} }\n"
             "water { material = { kind = 'glass', index = 1.4, absorption = {1, 2, 3} } }",
             &d);
    assert_int_equal(d->looks.solid_count, 3);
    const und_look *l = d->looks.solids;
    assert_true(!l[0].given && l[1].given && l[2].given);
    assert_int_equal(l[1].matter.kind, UND_MATTER_GLOSSY);
    assert_true(l[1].matter.roughness == 0.5f && l[1].matter.index == 1.5f && !l[1].paint);
    assert_int_equal(l[2].matter.kind, UND_MATTER_METAL);
    assert_true(l[2].paint && l[2].matter.color[0] == 1 && l[2].matter.color[1] == 0);
    assert_double_near(l[2].matter.roughness, 0.12, 1e-6);
    const und_matter *liquid = &d->looks.liquid.matter;
    assert_int_equal(liquid->kind, UND_MATTER_DIELECTRIC);
    assert_int_equal(liquid->priority, 1);
    assert_true(liquid->index == 1.4f && liquid->absorption[2] == 3);
    und_scene_destroy(scene);
}

/* Bodies of the liquid and of bodies{} are one list, and so are their looks. */
static void bodies_have_materials(void **state)
{
    (void)state;
    const und_picture_def *d;
    und_scene *scene =
        load("liquid.cells { size = {1, 1, 1}, cells = 8, level = 0.5, keep_flow = true,\n"
             "  solids = { { shape = sphere { radius = 0.2 }, material = 'wood' } },\n"
             "  bodies = { { shape = sphere { radius = 0.1 }, density = 500 } } }\n"
             "bodies { { shape = sphere { radius = 0.1 }, density = 500, material = 'rubber' } }",
             &d);
    assert_int_equal(d->looks.body_count, 2);
    assert_false(d->looks.bodies[0].given);
    assert_int_equal(d->looks.bodies[1].matter.kind, UND_MATTER_GLOSSY);
    assert_int_equal(d->looks.solid_count, 1);
    und_scene_destroy(scene);
    scene = load("liquid.waves { size = {4, 2}, cells = 8, objects = {\n"
                 "  { shape = sphere { radius = 0.1 }, material = 'steel' } } }",
                 &d);
    assert_int_equal(d->looks.body_count, 1);
    assert_int_equal(und_look_of(d->looks.bodies, 1, 0).matter.kind, UND_MATTER_METAL);
    assert_false(und_look_of(d->looks.bodies, 1, 1).given || und_look_of(d->looks.bodies, 1, -1).given);
    und_scene_destroy(scene);
    und_error err = {0};
    assert_null(und_scene_from_text("liquid.cells { size = {1, 1, 1}, cells = 8, solids = {\n"
                                    "  { shape = sphere { radius = 0.2 }, material = 'wood' },\n"
                                    "  { shape = sphere { radius = 0.3 }, material = 'steel' } } }",
                                    "e.lua", NULL, 0, &err));
    assert_non_null(strstr(err.text, "[2].material: expected the same as of the others"));
}

/* A wall that faces a lamp of power P from afar gets P / (pi d^2), a ball's a quarter of that. */
static void lamps_and_lens(void **state)
{
    (void)state;
    const und_picture_def *d;
    und_scene *scene =
        load(S("light { sun_size = 2, lamps = {\n"
               "  { at = {0, 3, 0}, size = {2, 1}, power = 10, color = {1, 0.5, 0} },\n"
               "  { at = {3, 1, 0}, size = 2, towards = {0, 1, 0}, hidden = true },\n"
               "  { at = {0, 1, 0}, radius = 0.5 } } }\n"
               "camera { fov = 53.13010235415598, fstop = 2, focus = function(t) return {t, 0, 0} end }\n"
               "render { quality = 'final', photons = 3, motion_blur = false }"),
             &d);
    assert_int_equal(d->lamp_count, 3);
    const und_lamp *l = d->lamps;
    assert_double_near(l[0].radiance[0], 10 / (acos(-1) * 2), 1e-5);
    assert_double_near(l[0].radiance[1], 5 / (acos(-1) * 2), 1e-5);
    for (int k = 0; k < 2; k++) { /* u x v is where it faces */
        const float *u = l[k].u, *v = l[k].v;
        double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        double area = k ? 1 : 0.5;
        assert_double_near(n[k ? 0 : 1], -area, 1e-6);
        assert_double_near(hypot(n[k ? 1 : 0], n[2]), 0, 1e-6);
    }
    assert_true(l[0].shown && !l[1].shown && l[2].sphere && l[2].radius == 0.5f);
    assert_double_near(l[2].radiance[0], 40 / (acos(-1) * acos(-1)), 1e-5);
    assert_true(d->sun_angle == 2 && d->photons == 3 && !d->motion_blur);
    assert_int_equal(d->quality, UND_QUALITY_FINAL);
    assert_double_near(d->lens, 0.024 / 4, 1e-9); /* f = 12 mm / tan(26.565 degrees) */
    double at[3];
    d->focus_at->fn(d->focus_at->context, 2, at);
    assert_true(at[0] == 2);
    und_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_told), cmocka_unit_test(nothing_said_is_nothing_asked),
        cmocka_unit_test(solids_have_materials), cmocka_unit_test(bodies_have_materials),
        cmocka_unit_test(lamps_and_lens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
