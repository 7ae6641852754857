/* Solids that press liquid together, come fast or all at once: none of it is lost, nothing passes, the run
 * goes on, what each has pressed together is told, and no cell holds more than it must. */
#include "tests/levelset_model.h"

#include "liquid/levelset_state.h"
#include "scene/scene.h"

typedef struct press {
    const char *what, *scene;
    double squeezed; /* at least, of all there is */
    double most;     /* volumes in a cell */
} press;

static const press presses[] = {
    {"a piston that presses a closed channel together, to nothing",
     "size = {4, 0.25}, cells = 128, level = 0.25, solids = { { shape = box { min = {-1, -1, -1}, max = {0, "
     "2, "
     "1} }, keys = { { time = 0, at = {0, 0, 0} }, { time = 1.5, at = {4.1, 0, 0} } } } }",
     0.5, 30},
    {"a ball that is there at once, in the middle of a pool",
     "size = {1, 1}, cells = 33, level = 0.62, solids = { { shape = sphere { radius = 0.17 }, keys = { { "
     "time = "
     "0.2, at = {3, 0.5, 0} }, { time = 0.200001, at = {0.27, 0.5, 0} } } } }",
     0.05, 5},
    {"one that comes from afar between two frames",
     "size = {1, 1}, cells = 38, level = 0.2, solids = { { shape = sphere { radius = 0.173 }, keys = { { "
     "time = "
     "0.2, at = {3, 0.16, 0} }, { time = 0.2053, at = {0.65, 0.16, 0} } } } }",
     0.05, 6},
    {"a block that fits into a container with a tenth of a cell beside it",
     "size = {1, 1}, cells = 42, level = 0.27, solids = { { shape = difference { box { min = {0.33, 0.02, "
     "-1}, "
     "max = {0.67, 0.8, 1} }, box { min = {0.4, 0.09, -2}, max = {0.6, 1, 2} } } }, { shape = box { min = "
     "{-0.098, -0.2, -1}, max = {0.098, 0.2, 1} }, keys = { { time = 0.1, at = {0.5, 0.52, 0} }, { time = "
     "0.22, "
     "at = {0.5, 0.3, 0} } } } }",
     0.05, 60},
    {"two blocks that meet at 9 m/s",
     "size = {1, 1}, cells = 40, level = 0.5, solids = { { shape = box { min = {-0.1, -0.2, -1}, max = {0.1, "
     "0.2, 1} }, keys = { { time = 0.1, at = {0.2, 0.2, 0} }, { time = 0.122, at = {0.402, 0.2, 0} } } }, { "
     "shape = box { min = {-0.1, -0.2, -1}, max = {0.1, 0.2, 1} }, keys = { { time = 0.1, at = {0.8, 0.2, 0} "
     "}, "
     "{ time = 0.122, at = {0.598, 0.2, 0} } } } }",
     0.01, 6},
    {"a plunger into a corner at 5 m/s",
     "size = {1, 1}, cells = 40, level = 0.5, solids = { { shape = box { min = {-0.2, 0, -1}, max = {0.2, "
     "0.5, "
     "1} }, keys = { { time = 0.1, at = {0.21, 0.52, 0} }, { time = 0.2, at = {0.21, 0.01, 0} } } } }",
     0, 6},
    {"a thin gate that closes on water at 4 m/s",
     "size = {1, 1}, cells = 44, level = 0.4, solids = { { shape = box { min = {0.6, 0, -1}, max = {0.615, "
     "1, 1} "
     "}, keys = { { time = 0.1, at = {0, 0.45, 0} }, { time = 0.21, at = {0, -0.001, 0} } } } }",
     0, 4},
    {"a paddle that turns once in half a second, half a cell from the walls",
     "size = {1, 1}, cells = 40, level = 0.5, solids = { { shape = box { min = {-0.3, -0.04, -1}, max = "
     "{0.3, "
     "0.04, 1} }, keys = { { time = 0, at = {0.3125, 0.3125, 0}, turn = {0, 0, 0} }, { time = 0.17, at = "
     "{0.3125, 0.3125, 0}, turn = {0, 0, 120} }, { time = 0.34, at = {0.3125, 0.3125, 0}, turn = {0, 0, 240} "
     "}, "
     "{ time = 0.51, at = {0.3125, 0.3125, 0}, turn = {0, 0, 360} } } } }",
     0, 4},
};

static und_scene *load(const press *p)
{
    char text[1200];
    und_error err = {0};
    snprintf(text, sizeof text, "scene { name = \"p\", frames = 24 }\nliquid.levelset { %s }\n", p->scene);
    und_scene *scene = und_scene_from_text(text, "press.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s: %s", p->what, err.text);
    return scene;
}

static void sums_of(const und_levelset *l, double *squeezed, double *leaked)
{
    *squeezed = *leaked = 0;
    for (int i = 0; i < l->def.obstacle_count; i++) {
        *squeezed += und_levelset_squeezed(l, i);
        *leaked += und_levelset_leaked(l, i);
    }
}

static void presses_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof presses / sizeof *presses; i++) {
        const press *p = &presses[i];
        und_scene *scene = load(p);
        und_levelset *l = start_levelset(&und_scene_get(scene)->levelset);
        und_liquid *liquid = und_levelset_liquid(l);
        const double start = und_levelset_ledger(l).start;
        double most = 0, squeezed = 0, leaked = 0;
        for (int k = 0; k < 40; k++) {
            const double before = squeezed;
            und_error err = {0};
            und_levelset_step(l, 1.0 / 24);
            most = fmax(most, und_volume_fullest(und_levelset_volumes(l)));
            sums_of(l, &squeezed, &leaked);
            if (liquid->class->trouble(liquid, &err) != UND_OK)
                fail_msg("%s: %s", p->what, err.text);
            if (!(fabs(und_levelset_ledger(l).correction) < 1e-12 * start) || !(squeezed >= before) ||
                !(leaked == 0))
                fail_msg("%s: correction %g, leaked %g, squeezed %g after %g", p->what,
                         und_levelset_ledger(l).correction / start, leaked, squeezed, before);
        }
        if (!(most < p->most) || !(squeezed >= p->squeezed * start))
            fail_msg("%s: %g volumes in a cell, %g of all squeezed", p->what, most, squeezed / start);
        und_levelset_destroy(l);
        und_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(presses_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
