/* What cells hold at the start is what fills have, however thin or round they are. */
#include "tests/levelset_model.h"

#include "scene/scene.h"

/* Cells of 1/32 m: an area of m2, or m3 in three dimensions, and how far it may be off. */
static const struct {
    const char *name, *scene;
    double volume, within;
} fills[] = {
    {"a sheet of 0.05 cells on middles of cells",
     "size = {1, 1}, cells = 32, fill = box { min = {0.2, 0.514843750, -1}, max = {0.8, 0.516406250, 1} }",
     0.6 * 0.0015625 / 32, 0.005},
    {"of 0.3 cells beside them",
     "size = {1, 1}, cells = 32, fill = box { min = {0.2, 0.50625, -1}, max = {0.8, 0.515625, 1} }",
     0.6 * 0.009375 / 32, 0.002},
    {"of 1.3 cells",
     "size = {1, 1}, cells = 32, fill = box { min = {0.2, 0.5, -1}, max = {0.8, 0.540625, 1} }",
     0.6 * 0.040625 / 32, 0.002},
    {"one of 0.3 cells that leans by 30 degrees",
     "size = {1, 1}, cells = 32, fill = intersection { box { min = {0.2, 0, -1}, max = {0.8, 1, 1} }, "
     "difference { plane { center = {0.5, 0.5, 0}, normal = {-0.5, 0.8660254, 0} }, plane { center = "
     "{0.5046875, 0.4918810, 0}, normal = {-0.5, 0.8660254, 0} } } }",
     0.6 / 0.8660254 * 0.009375 / 32, 0.002},
    {"a film of 0.3 cells on a slab's top above the middles of cells",
     "size = {1, 1}, cells = 32, solids = box { min = {-1, -1, -1}, max = {2, 0.15, 1} }, fill = box { min = "
     "{0.2, 0.15, -1}, max = {0.8, 0.159375, 1} }",
     0.6 * 0.009375 / 32, 0.002},
    {"one of 0.2 cells on a plate of 0.9",
     "size = {1, 1}, cells = 32, solids = box { min = {0.1, 0.49375, -1}, max = {0.9, 0.521875, 1} }, fill = "
     "box { min = {0.3, 0.521875, -1}, max = {0.7, 0.528125, 1} }",
     0.4 * 0.00625 / 32, 0.003},
    {"one of 0.05 cells on a plate of 0.3 below middles of cells",
     "size = {1, 1}, cells = 32, solids = box { min = {0.1, 0.5046875, -1}, max = {0.9, 0.5140625, 1} }, "
     "fill "
     "= box { min = {0.3, 0.5140625, -1}, max = {0.7, 0.515625, 1} }",
     0.4 * 0.0015625 / 32, 0.003},
    {"one of 0.2 cells on a plate of 0.9 at 30 degrees",
     "size = {1, 1}, cells = 32, solids = { { shape = box { min = {-0.4, -0.028125, -1}, max = {0.4, 0, 1} "
     "}, at "
     "= {0.513, 0.507, 0}, turn = {0, 0, 30} } }, fill = intersection { plane { center = {0.509875, "
     "0.5124127, "
     "0}, normal = {-0.5, 0.8660254, 0} }, plane { center = {0.513, 0.507, 0}, normal = {0.5, -0.8660254, 0} "
     "}, "
     "plane { center = {0.6862051, 0.607, 0}, normal = {0.8660254, 0.5, 0} }, plane { center = {0.3397949, "
     "0.407, "
     "0}, normal = {-0.8660254, -0.5, 0} } }",
     0.4 * 0.00625 / 32, 0.003},
    {"one on a slab at 45 degrees",
     "size = {1, 1}, cells = 32, solids = difference { plane { center = {0.5066291, 0.4933709, 0}, normal = "
     "{-1, 1, 0} }, box { min = {-1, 2, -1}, max = {2, 3, 1} } }, fill = intersection { box { min = {0.3, "
     "-1, -1}, max = {0.7, 2, 1} }, difference { plane { center = {0.5, 0.5, 0}, normal = {-1, 1, 0} }, "
     "plane "
     "{ center = {0.5066291, 0.4933709, 0}, normal = {-1, 1, 0} } } }",
     0.4 * 1.41421356 * 0.009375 / 32, 0.005},
    {"a ball of 0.8 cells",
     "size = {1, 1, 1}, cells = 32, fill = sphere { center = {0.513, 0.507, 0.49}, radius = "
     "0.025 }",
     6.54498469e-5, 0.002},
    {"a ball of 5 cells",
     "size = {1, 1, 1}, cells = 32, fill = sphere { center = {0.513, 0.507, 0.49}, radius = 0.15625 }",
     0.0159789665, 0.001},
    {"boxes that overlap",
     "size = {1, 1}, cells = 32, fill = { box { min = {0.2, 0.3, -1}, max = {0.6, 0.5, 1} }, box { min = "
     "{0.4, 0.4, -1}, max = {0.81, 0.73, 1} } }",
     (0.4 * 0.2 + 0.41 * 0.33 - 0.2 * 0.1) / 32, 0.001},
    {"a pool below and beside a film",
     "size = {1, 1}, cells = 32, level = 0.21, fill = box { min = {0, 0.5, -1}, max = {0.009375, 0.9, 1} }",
     (0.21 + 0.4 * 0.009375) / 32, 0.001},
};

static void cells_hold_what_fills_have(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        char text[1024];
        und_error err = {0};
        snprintf(text, sizeof text, "scene { name = \"f\", frames = 1 }\nliquid.levelset { %s }\n",
                 fills[i].scene);
        und_scene *scene = und_scene_from_text(text, "fill.lua", NULL, 0, &err);
        if (!scene)
            fail_msg("%s: %s", fills[i].name, err.text);
        und_levelset *l = start_levelset(&und_scene_get(scene)->levelset);
        const double off = und_levelset_ledger(l).start / fills[i].volume - 1;
        if (!(fabs(off) <= fills[i].within))
            fail_msg("%s: %.4g too much", fills[i].name, off);
        und_levelset_destroy(l);
        und_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_hold_what_fills_have)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
