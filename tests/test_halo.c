/* Halos are as wide as the flow's, the surface's and the moving of what cells hold read. */
#include "tests/halo_model.h"

/* ---- Stages ---- */

static void move_surface(void *model)
{
    part *p = model;
    und_distance_advect(&p->w.d, p->w.s.u, (WIDTH - 2) / 1.7, UND_TRACE_RK3);
}
static void move_weno(void *model)
{
    part *p = model;
    und_distance_advect_weno(&p->w.d, p->w.s.u, 1);
}
static void redistance(void *model)
{
    part *p = model;
    und_distance_redistance(&p->w.d, 2);
}
static void into_solids(void *model)
{
    part *p = model;
    und_distance_into_solids(&p->w.d, p->w.solids.distance);
}
static void measure(void *model)
{
    part *p = model;
    p->measured = und_distance_volume(&p->w.d, NULL) + und_distance_area(&p->w.d);
}
static void label(void *model)
{
    part *p = model;
    und_mac_flow_label_and_forget(&p->w.s, &p->w.d, &p->w.solids);
}
static void advect(void *model)
{
    part *p = model;
    label(p);
    und_mac_flow_scale_gained(&p->w.s, 0.9);
    und_mac_flow_advect(&p->w.s, (WIDTH - 2) / 1.7, UND_TRACE_RK2, UND_ADVECT_MACCORMACK);
}
static void bound_narrow(void *model)
{
    part *p = model;
    label(p);
    und_mac_flow_bound_narrow(&p->w.s, &p->w.solids, WIDTH - 2, 2);
}
static void extend(void *model)
{
    part *p = model;
    label(p);
    p->fastest = und_mac_flow_fastest(&p->w.s, 0.1, 2, &p->usual);
    und_mac_flow_find_gained(&p->w.s, NULL, 0.1);
    und_mac_flow_extend(&p->w.s, &p->w.solids, LAYERS);
}
static void project(void *model)
{
    part *p = model;
    const und_mac_flow_projection what = {.surface = &p->w.d,
                                          .solids = &p->w.solids,
                                          .dt = 0.1,
                                          .pressure = p->w.s.p,
                                          .tolerance = 1e-6,
                                          .max_iterations = 40};
    label(p);
    p->report = und_mac_flow_project(&p->w.s, p->system, &what);
}
static void diffuse(void *model)
{
    part *p = model;
    label(p);
    p->report = und_mac_flow_diffuse(&p->w.s, &p->w.solids, p->system, 0.5, true, 0.3, 1e-6, 40);
}
static void be_viscous(void *model)
{
    part *p = model;
    const und_viscous_flow what = {.flow = &p->w.s,
                                   .surface = &p->w.d,
                                   .solids = &p->w.solids,
                                   .nu = p->nu,
                                   .stick = true,
                                   .dt = 0.3,
                                   .tolerance = 1e-5,
                                   .max_iterations = 60};
    label(p);
    p->report = und_viscous_step(p->viscous, &what);
}

/* Liquid crosses a little less than a cell, or two and a half. */
static void move_volume(part *p, double cells)
{
    const double fastest = 2;
    const und_volume_flow along = {
        .u = p->w.s.u, .per_speed = cells / fastest, .fastest = fastest, .layers = WIDTH, .step = 1};
    und_volume_borrow(&p->volume);
    p->left = und_volume_move(&p->volume, &p->w.d, &p->walls, &along);
    und_volume_give_back(&p->volume);
}
static void move_cells(void *model)
{
    move_volume(model, 0.85);
}
static void move_cells_far(void *model)
{
    move_volume(model, 2.5);
}

TEST(move_surface, 3)
TEST(move_weno, 7)
TEST(redistance, 30)
TEST(into_solids, 27)
TEST(label, 1)
TEST(advect, 5)
TEST(bound_narrow, 4)
TEST(extend, 8)
TEST(project, 2)
TEST(diffuse, 2)
TEST(be_viscous, 1)
TEST(measure, 1)
TEST(move_cells, 22)
TEST(move_cells_far, 60)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_move_surface), cmocka_unit_test(test_move_weno),
        cmocka_unit_test(test_redistance),   cmocka_unit_test(test_into_solids),
        cmocka_unit_test(test_label),        cmocka_unit_test(test_advect),
        cmocka_unit_test(test_bound_narrow), cmocka_unit_test(test_extend),
        cmocka_unit_test(test_project),      cmocka_unit_test(test_diffuse),
        cmocka_unit_test(test_be_viscous),   cmocka_unit_test(test_measure),
        cmocka_unit_test(test_move_cells),   cmocka_unit_test(test_move_cells_far)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
