/* Chains in the whole model: the drop that falls into a bowl of soup (Foster & Metaxas 1996, section 8). */
#include "geom/shape.h"
#include "liquid/cells.h"
#include "tests/test.h"

static int chains_of(und_cells *cells)
{
    und_error err = {0};
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {15, 30, 1}, .dx = 0.005});
    und_liquid *liquid = und_cells_liquid(cells);
    assert_int_equal(liquid->class->frame(liquid, &frame, &err), UND_OK);
    const und_item *first = und_frame_find(&frame, "chain/first");
    assert_non_null(first);
    int chains = (int)und_item_count(first) - 1;
    und_frame_clear(&frame);
    return chains;
}

/* Two thousand steps, as the paper's: the drop becomes part of the soup, and none is lost for long. */
static void soup_keeps_its_volume(und_wall_kind kind)
{
    und_error err = {0};
    und_shape round = {.kind = UND_SPHERE, .center = {0, 0.075, 0.0025}, .radius = 0.072};
    und_shape block = {.kind = UND_BOX, .center = {0, 0.0375, 0}, .half = {1, 0.0375, 1}};
    und_shape *parts[2] = {&block, &round};
    und_shape bowl = {.kind = UND_DIFFERENCE, .child_count = 2, .children = parts};
    und_shape soup = {.kind = UND_BOX, .center = {0, 0.025, 0}, .half = {1, 0.025, 1}};
    und_shape drop = {.kind = UND_SPHERE, .center = {0, 0.09, 0.0025}, .radius = 0.018};
    und_solid_def solid = {.shape = &bowl, .wall = {.kind = kind}};
    und_fill_def fills[2] = {{.shape = &soup, .chain = 150}, {.shape = &drop, .chain = 50}};
    fills[1].velocity[1].number = -0.2;
    und_cells_def def = und_cells_def_default();
    def.n[0] = 15;
    def.n[1] = 30;
    def.n[2] = 1;
    for (int a = 0; a < 3; a++)
        def.cell[a] = 0.005;
    def.viscosity = 0.003;
    def.track = UND_TRACK_CHAINS;
    def.solids = &solid;
    def.solid_count = 1;
    def.fills = fills;
    def.fill_count = 2;
    def.threads = 1;
    und_cells *cells = und_cells_create(&def, &err);
    assert_non_null(cells);
    assert_int_equal(chains_of(cells), 2);
    double start = und_cells_ledger(cells).measured;
    for (int i = 0; i < 2000; i++) {
        und_cells_substep(cells, 1);
        double now = und_cells_ledger(cells).measured;
        assert_double_near(now, start, 0.05 * start); /* the air that closes under the drop */
        if (i > 400)
            assert_double_near(now, start, 1e-3 * start);
    }
    assert_int_equal(chains_of(cells), 1);
    und_cells_destroy(cells);
}

static void test_soup_slips(void **state)
{
    (void)state;
    soup_keeps_its_volume(UND_WALL_SLIP);
}

static void test_soup_sticks(void **state)
{
    (void)state;
    soup_keeps_its_volume(UND_WALL_STICK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soup_slips),
        cmocka_unit_test(test_soup_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
