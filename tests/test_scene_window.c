/* liquid.levelset.window: what a scene says is what the def has, and what is wrong is told where it stands.
 */
#include "tests/test.h"

#include "geom/motion.h"
#include "scene/scene.h"

#define BEGIN                                           \
    "liquid.levelset { size = {4, 2, 1}, cells = 40,\n" \
    "  solids = { sphere { radius = 1 }, { name = 'head', shape = sphere { radius = 0.3 } } },\n  window = "

static und_window_def read_window(const char *window, und_scene **scene)
{
    char text[1024];
    und_error err = {0};
    snprintf(text, sizeof text, BEGIN "%s }", window);
    *scene = und_scene_from_text(text, "w.lua", NULL, 0, &err);
    if (!*scene)
        fail_msg("%s\n%s", text, err.text);
    return und_scene_get(*scene)->levelset.window;
}

static void windows_are_as_told(void **state)
{
    (void)state;
    und_scene *scene;
    und_window_def w = read_window("{ follow = 'liquid' }", &scene);
    assert_true(w.on && w.follow == UND_WINDOW_LIQUID && !w.size && !w.path && !w.resize);
    assert_int_equal(w.margin, 10);
    und_scene_destroy(scene);
    w = read_window("{ follow = 'head', size = {1, 1, 0.5}, at = {0, 0.2, 0}, resize = true, margin = 6 }",
                    &scene);
    assert_true(w.follow == UND_WINDOW_SOLID && w.solid == 1 && w.resize && w.margin == 6);
    assert_double_near(und_motion_at(w.size, 3).position.z, 0.5, 0);
    assert_double_near(und_motion_at(w.path, 3).position.y, 0.2, 0);
    und_scene_destroy(scene);
    w = read_window("{ keys = { { time = 0, at = {1, 1, 0.5}, size = {2, 1, 1} },\n"
                    "           { time = 2, at = {3, 1, 0.5} } }, size = {1, 1, 1}, easing = 'linear' }",
                    &scene);
    assert_true(w.follow == UND_WINDOW_PATH);
    assert_double_near(und_motion_at(w.path, 1).position.x, 2, 1e-12);
    assert_double_near(und_motion_at(w.size, 1).position.x, 1.5, 1e-12);
    und_scene_destroy(scene);
}

static void large_domains_may_do_without(void **state)
{
    (void)state;
    und_scene *scene;
    und_window_def w = read_window("false", &scene);
    assert_true(!w.on && w.automatic == 0);
    und_scene_destroy(scene);
    w = read_window("nil", &scene);
    assert_true(!w.on && w.automatic == 1 << 18);
    und_scene_destroy(scene);
}

/* Cells are counted from far before the origin on, and sides are open. */
static void domains_may_end_nowhere(void **state)
{
    (void)state;
    static const char *const text[] = {
        "liquid.levelset { size = 'open', cell = 0.5 }",
        "liquid.levelset { size = {2, 'open', 1}, cell = 0.5, origin = {1, 2, 3} }",
        "liquid.levelset { size = {'open', 3}, cell = 0.5, open = 'top' }",
        "liquid.levelset { size = {2, 1, 1}, cell = 0.5 }"};
    const int ends = UND_LEVELSET_ENDLESS,
              n[][3] = {{ends, ends, ends}, {4, ends, 2}, {ends, 6, 1}, {4, 2, 2}};
    const double origin[][3] = {{-2048, -2048, -2048}, {1, -2046, 3}, {-2048, 0, 0}, {0, 0, 0}};
    const char *const open[] = {"111111", "001100", "110100", "000000"};
    for (int i = 0; i < 4; i++) {
        und_error err = {0};
        und_scene *scene = und_scene_from_text(text[i], "w.lua", NULL, 0, &err);
        if (!scene)
            fail_msg("%s", err.text);
        const und_levelset_def *def = &und_scene_get(scene)->levelset;
        assert_true(def->endless == (i < 3));
        assert_double_near(def->dx, 0.5, 0);
        assert_memory_equal(def->n, n[i], sizeof n[i]);
        for (int a = 0; a < 3; a++)
            assert_double_near(def->origin[a], origin[i][a], 0);
        for (int side = 0; side < UND_SIDES; side++)
            assert_true(def->open[side] == (open[i][side] == '1'));
        und_scene_destroy(scene);
    }
    static const char *const wrong[][2] = {{"size = 'open', cells = 20", "missing key \"cell\""},
                                           {"size = 'open'", "missing key \"cell\""},
                                           {"size = {1, 1}", "missing key \"cells\""},
                                           {"size = {1, 1}, cells = 4, cell = 0.25", "found both"},
                                           {"size = {'open'}, cell = 1", "expected {x, y, z}"},
                                           {"size = {'open', 'wide'}, cell = 1", "expected a number"},
                                           {"size = {100, 100}, cell = 0.01", "at most 4096 cells"},
                                           {"size = 'wide', cell = 1", "lengths {x, y, z}"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char scene_text[256];
        und_error err = {0};
        snprintf(scene_text, sizeof scene_text, "liquid.levelset { %s }", wrong[i][0]);
        assert_null(und_scene_from_text(scene_text, "w.lua", NULL, 0, &err));
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], err.text);
    }
}

static void mistakes_are_told_where_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *window, *line, *message;
    } wrong[] = {
        {"true", "w.lua:3", "expected a table"},
        {"{}", "w.lua:3", "where is the window?"},
        {"{ follow = 'haed' }", "w.lua:3", "no solid has that name"},
        {"{ follow = 3 }", "w.lua:3", "\"liquid\" or the name of a solid"},
        {"{ follow = 'liquid', at = {1, 1, 1}, size = {1, 1, 1} }", "w.lua:3", "\"at\" means nothing here"},
        {"{ follow = 'head', at = {1, 1, 1} }", "w.lua:3", "missing key \"size\""},
        {"{ at = {1, 1, 1}, size = {1, -1, 1} }", "w.lua:3", "expected lengths from"},
        {"{ at = {1, 1, 1}, size = {1, 1} }", "w.lua:3", "lengths {x, y, z}"},
        {"{ follow = 'liquid', easing = 'linear' }", "w.lua:3", "there are none"},
        {"{ follow = 'liquid',\n    margin = 2 }", "w.lua:4", "margin"},
        {"{ at = {1, 1, 1}, size = {1, 1, 1}, keys = { { time = 0, at = {1, 1, 1} } } }", "w.lua:3", "both"},
        {"{ keys = {}, size = {1, 1, 1} }", "w.lua:3", "at least one key"},
        {"{ keys = { { time = 0, at = {1, 1, 1}, size = {1, 1, 1} },\n    { time = 1, at = {1, 1, 1} } } }",
         "w.lua:3", "key 2 has no size"},
        {"{ size = {1, 1, 1}, keys = { { time = 1, at = {1, 1, 1} }, { time = 0, at = {1, 1, 1} } } }",
         "w.lua:3", "not after the key before it"},
        {"{ folow = 'liquid' }", "w.lua:3", "follow"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024];
        und_error err = {0};
        snprintf(text, sizeof text, BEGIN "%s }", wrong[i].window);
        assert_null(und_scene_from_text(text, "w.lua", NULL, 0, &err));
        assert_int_equal(err.status, UND_INVALID);
        if (strncmp(err.text, wrong[i].line, strlen(wrong[i].line)) != 0 ||
            !strstr(err.text, wrong[i].message))
            fail_msg("%s: %s\nexpected %s ... %s", wrong[i].window, err.text, wrong[i].line,
                     wrong[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_as_told),
        cmocka_unit_test(large_domains_may_do_without),
        cmocka_unit_test(domains_may_end_nowhere),
        cmocka_unit_test(mistakes_are_told_where_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
