/* Halos are as wide as stages read: what two halves of a grid do, each in memory of its own and with what the
 * other has told, is what is done in the whole.  With narrower ones it is not. */
#include "tests/halves.h"
#include "tests/mac_flow_model.h"

#include "base/random.h"
#include "flow/viscous.h"
#include "surface/volume_parts.h"

#include <math.h>

enum { NX = 26, NY = 22, NZ = 48, BORDER = 25, WIDTH = 5, LAYERS = 5, PARTS = HALVES + 1 };

/* What turns and rises, and is nowhere the same. */
static double flow_at(int axis, double x, double y, double z)
{
    const double u[3] = {-0.08 * (y - 0.5 * NY), 0.08 * (x - 0.5 * NX) + 0.3 * sin(0.4 * z),
                         1.2 * cos(0.3 * x) - 0.05 * (y - 0.5 * NY)};
    return u[axis];
}
static double flow_x(double x, double y, double z)
{
    return flow_at(0, x, y, z);
}
static double flow_y(double x, double y, double z)
{
    return flow_at(1, x, y, z);
}
static double flow_z(double x, double y, double z)
{
    return flow_at(2, x, y, z);
}
static model_fn *const flow[3] = {flow_x, flow_y, flow_z};

/* A pool with waves, two balls, and a sheet aslant, all where the halves meet. */
static double surface(double x, double y, double z)
{
    const double pool = y - 6 - sin(0.5 * x + 0.9 * z),
                 one = sqrt((x - 8) * (x - 8) + (y - 13) * (y - 13) + (z - 24) * (z - 24)) - 4.3,
                 other = sqrt((x - 18) * (x - 18) + (y - 15) * (y - 15) + (z - 28) * (z - 28)) - 3.1,
                 sheet = fabs(0.6 * y - 0.8 * (z - 17) - 5) - 0.7;
    return fmin(fmin(pool, one), fmin(other, sheet));
}
/* An obstacle that the flow goes round. */
static double wall(double x, double y, double z)
{
    return sqrt((x - 13) * (x - 13) + (y - 5) * (y - 5) + (z - 22) * (z - 22)) - 3.6;
}

typedef struct part {
    stream_model w;
    und_pressure *system;
    und_viscous *viscous;
    und_volume volume;
    und_volume_walls walls;
    int64_t left;
    float *nu;
    const struct half *half; /* NULL: the whole */
    double fastest, usual, measured;
    und_mac_flow_report report;
} part;

static void open_solids(part *p)
{
    und_solids *s = &p->w.solids;
    const und_mac *m = &p->w.s.mac;
    s->any = true;
    s->distance = model_array(m);
    model_fill(m, s->distance, 3, wall);
    for (int a = 0; a < 3; a++)
        for (int z = -1; z < m->n[2]; z++)
            for (int y = -1; y < m->n[1]; y++)
                for (int x = -1; x < m->n[0]; x++) {
                    const size_t at = und_mac_at(m, x, y, z);
                    const double d =
                        wall(x + (a == 0 ? 1 : 0.5), y + (a == 1 ? 1 : 0.5), z + (a == 2 ? 1 : 0.5));
                    s->open[a][at] *= (float)fmin(fmax(0.5 + d, 0), 1);
                    s->u[a][at] = 0.1f * (float)a;
                }
}

static void open_part(part *p, const struct half *half)
{
    und_error err;
    *p = (part){.half = half};
    model_open(&p->w, NX, NY, NZ, false, 1);
    const und_mac *m = &p->w.s.mac;
    und_pages_free(p->w.d.phi);
    assert_int_equal(und_distance_open(&p->w.d, m, WIDTH, 1, &err), UND_OK);
    assert_int_equal(und_mac_flow_keep_gained(&p->w.s, true, &err), UND_OK);
    assert_non_null(p->system = und_pressure_create(m, 1, NULL, &err));
    assert_non_null(p->viscous = und_viscous_create(m, true, 1, &err));
    assert_int_equal(und_volume_open(&p->volume, m, 1, NULL, &err), UND_OK);
    p->w.d.keeps_thin = true;
    p->w.s.crosses = WIDTH - 2;
    open_solids(p);
    p->nu = model_array(m);
    model_fill(m, p->w.d.phi, 3, surface);
    und_distance_refresh(&p->w.d);
    und_distance_redistance(&p->w.d, 2);
    for (int a = 0; a < 3; a++)
        model_fill(m, p->w.s.u[a], a, flow[a]);
    for (size_t i = 0; i < m->count; i++) {
        p->nu[i] = 0.3f + 0.2f * (float)und_random(3, 1, i);
        for (int a = 0; a < 3; a++)
            p->w.s.gained[a][i] = 0.1f * (float)und_random(3, 2, i);
    }
}

/* As full as phi says, but for some; and films. */
static void fill_cells(part *p)
{
    const und_mac *m = &p->w.s.mac;
    p->walls = (und_volume_walls){.open = {p->w.solids.open[0], p->w.solids.open[1], p->w.solids.open[2]},
                                  .closed = {true, true, true, true, true, true}};
    und_volume_fill(&p->volume, &p->w.d, &p->walls);
    UND_MAC_EACH_ROW (m, row)
        for (size_t i = und_mac_row(m, row), end = i + (size_t)m->n[0]; i < end; i++) {
            p->volume.c[i] -= p->volume.c[i] > 0 ? (int32_t)(1e6 * und_random(3, 4, i)) : 0;
            p->volume.film[i] = p->volume.c[i] == 0 && und_random(3, 5, i) < 0.02;
            p->volume.c[i] += p->volume.film[i] ? 1 << 20 : 0;
        }
}

/* What others have is anything, but what comes from them. */
static void spoil(part *p)
{
    const und_mac *m = &p->w.s.mac;
    und_halo_field all[32];
    int count = 0;
    for (int a = 0; a < 3; a++) {
        float *const values[] = {p->w.s.u[a], p->w.s.gained[a], p->w.s.latest[a]};
        const und_mask *masks[] = {&p->w.s.flows[a], &p->w.s.parts->advect.shut[a],
                                   &p->w.s.parts->extend.set[a]};
        for (int k = 0; k < 3; k++) {
            all[count++] = und_halo_of(m, values[k], sizeof(float), 0);
            all[count++] = und_halo_of_mask(m, masks[k], 0);
        }
    }
    all[count++] = und_halo_of(m, p->w.d.phi, sizeof(float), 0);
    all[count++] = und_halo_of(m, p->w.d.next, sizeof(float), 0);
    all[count++] = und_halo_of(m, p->w.s.p, sizeof(double), 0);
    all[count++] = und_halo_of(m, p->nu, sizeof(float), 0);
    all[count] = und_halo_of(m, p->volume.c, sizeof(int32_t), 0);
    all[count++].type = UND_I32;
    all[count] = und_halo_of(m, p->volume.film, 1, 0);
    all[count++].type = UND_U8;
    all[count++] = und_halo_of_mask(m, &p->w.d.band, 0);
    all[count++] = und_halo_of_mask(m, &p->w.s.liquid, 0);
    for (int i = 0; i < count; i++)
        halves_spoil_beyond(p->half, &all[i]);
}

static void share(part *p)
{
    const und_halo *halo = &p->half->halo;
    p->w.s.device.halo = p->w.d.device.halo = p->volume.device.halo = halo;
    und_pressure_share(p->system, halo);
    und_viscous_share(p->viscous, halo);
}

static void close_part(part *p)
{
    const und_distance d = p->w.d;
    und_pressure_destroy(p->system);
    und_viscous_destroy(p->viscous);
    und_volume_close(&p->volume);
    und_pages_free(p->nu);
    p->w.d.phi = NULL;
    model_close(&p->w);
    p->w.d = d;
    und_distance_close(&p->w.d);
}

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

/* ---- Halves and the whole ---- */

/* Slices that are not as in the whole, and numbers that all should have found. */
static int differing(const halves *all, const part p[PARTS])
{
    const part *whole = &p[HALVES];
    const und_mac *m = &whole->w.s.mac;
    int found = halves_differ(all, m, p[0].volume.c, p[1].volume.c, whole->volume.c, sizeof(int32_t));
    found += halves_differ(all, m, p[0].w.d.phi, p[1].w.d.phi, whole->w.d.phi, sizeof(float));
    found += halves_differ(all, m, p[0].w.s.p, p[1].w.s.p, whole->w.s.p, sizeof(double));
    for (int a = 0; a < 3; a++) {
        found += halves_differ(all, m, p[0].w.s.u[a], p[1].w.s.u[a], whole->w.s.u[a], sizeof(float));
        found += halves_differ(all, m, p[0].w.s.gained[a], p[1].w.s.gained[a], whole->w.s.gained[a],
                               sizeof(float));
    }
    for (int a = 0; a <= 3; a++) {
        const und_mask *of[PARTS];
        for (int i = 0; i < PARTS; i++)
            of[i] = a < 3 ? &p[i].w.s.flows[a] : &p[i].w.s.liquid;
        found += halves_differ_mask(all, of[0], of[1], of[2]);
    }
    for (int i = 0; i < HALVES; i++)
        found += p[i].fastest != whole->fastest || p[i].usual != whole->usual ||
                 p[i].measured != whole->measured || p[i].left != whole->left ||
                 p[i].report.iterations != whole->report.iterations ||
                 p[i].report.residual != whole->report.residual;
    return found;
}

/* With halos that are `less` wide than is asked for. */
static int run(void (*stage)(void *model), int less, int *furthest)
{
    static part p[PARTS];
    halves all;
    halves_open(&all, NZ, BORDER, less);
    for (int i = 0; i < PARTS; i++) {
        open_part(&p[i], i < HALVES ? &all.half[i] : NULL);
        und_mac_flow_label(&p[i].w.s, &p[i].w.d, &p[i].w.solids);
        fill_cells(&p[i]);
        if (i < HALVES) {
            spoil(&p[i]);
            share(&p[i]);
        }
    }
    stage(&p[HALVES]);
    halves_run(stage, &p[0], &p[1]);
    assert_true(p[HALVES].report.converged == (p[HALVES].report.iterations > 1));
    const int found = differing(&all, p);
    for (int i = 0; i < PARTS; i++)
        close_part(&p[i]);
    halves_close(&all);
    *furthest = all.furthest;
    return found;
}

/* Nor is what they ask for much more than they read. */
static void check(void (*stage)(void *model), int too_narrow)
{
    int furthest;
    assert_int_equal(run(stage, 0, &furthest), 0);
    assert_true(run(stage, too_narrow, &furthest) > 0);
}

#define TEST(name, too_narrow)            \
    static void test_##name(void **state) \
    {                                     \
        (void)state;                      \
        check(name, too_narrow);          \
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
