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
        cmocka_unit_test(mistakes_are_told_where_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
