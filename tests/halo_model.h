/* Stages of a substep in two halves of a grid: pools, balls and a sheet around an obstacle, where the halves
 * meet. What each does in memory of its own and with what the other has told is what is done in the whole.
 * With narrower halos it is not. */
#ifndef UND_TESTS_HALO_MODEL_H
#define UND_TESTS_HALO_MODEL_H

#include "tests/halves.h"
#include "tests/mac_flow_model.h"

#include "base/random.h"
#include "flow/viscous.h"
#include "surface/volume_parts.h"

#include <math.h>

enum { NX = 26, NY = 22, NZ = 48, BORDER = 25, WIDTH = 5, LAYERS = 5, PARTS = HALVES + 1 };

/* What turns and rises, and is nowhere the same. */
static inline double flow_at(int axis, double x, double y, double z)
{
    const double u[3] = {-0.08 * (y - 0.5 * NY), 0.08 * (x - 0.5 * NX) + 0.3 * sin(0.4 * z),
                         1.2 * cos(0.3 * x) - 0.05 * (y - 0.5 * NY)};
    return u[axis];
}
static inline double flow_x(double x, double y, double z)
{
    return flow_at(0, x, y, z);
}
static inline double flow_y(double x, double y, double z)
{
    return flow_at(1, x, y, z);
}
static inline double flow_z(double x, double y, double z)
{
    return flow_at(2, x, y, z);
}
static model_fn *const flow[3] = {flow_x, flow_y, flow_z};

/* A pool with waves, two balls, and a sheet aslant, all where the halves meet. */
static inline double surface(double x, double y, double z)
{
    const double pool = y - 6 - sin(0.5 * x + 0.9 * z),
                 one = sqrt((x - 8) * (x - 8) + (y - 13) * (y - 13) + (z - 24) * (z - 24)) - 4.3,
                 other = sqrt((x - 18) * (x - 18) + (y - 15) * (y - 15) + (z - 28) * (z - 28)) - 3.1,
                 sheet = fabs(0.6 * y - 0.8 * (z - 17) - 5) - 0.7;
    return fmin(fmin(pool, one), fmin(other, sheet));
}
/* An obstacle that the flow goes round. */
static inline double wall(double x, double y, double z)
{
    return sqrt((x - 13) * (x - 13) + (y - 7) * (y - 7) + (z - 22) * (z - 22)) - 3.6;
}

typedef struct part {
    stream_model w;
    und_pressure *system;
    und_viscous *viscous;
    und_volume volume;
    und_volume_walls walls, cut; /* faces alone; and with what they leave of cells */
    float *room;
    uint8_t *beside_thin;
    int64_t left;
    float *nu;
    const struct half *half; /* NULL: the whole */
    double fastest, usual, measured;
    und_mac_flow_report report;
} part;

static inline void open_solids(part *p)
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

/* What it leaves of cells; on one side of it no cell shows that. */
static inline void open_cut(part *p)
{
    const und_mac *m = &p->w.s.mac;
    p->room = model_array(m);
    assert_non_null(p->beside_thin = calloc(m->count, 1));
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                const size_t at = und_mac_at(m, x, y, z);
                const float d = p->w.solids.distance[at];
                p->room[at] = fminf(fmaxf(0.5f + d, 0), 1);
                p->beside_thin[at] = x > 14 && d < 1.2f && d > -1;
            }
}

static inline void open_part(part *p, const struct half *half)
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
    open_cut(p);
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
static inline void fill_cells(part *p)
{
    const und_mac *m = &p->w.s.mac;
    p->walls = (und_volume_walls){.open = {p->w.solids.open[0], p->w.solids.open[1], p->w.solids.open[2]},
                                  .closed = {true, true, true, true, true, true}};
    p->cut = p->walls;
    p->cut.room = p->room;
    p->cut.distance = p->w.solids.distance;
    p->cut.beside_thin = p->beside_thin;
    p->cut.rest = true;
    p->cut.gravity[1] = -9.81;
    und_volume_fill(&p->volume, &p->w.d, &p->walls);
    UND_MAC_EACH_ROW (m, row)
        for (size_t i = und_mac_row(m, row), end = i + (size_t)m->n[0]; i < end; i++) {
            p->volume.c[i] -= p->volume.c[i] > 0 ? (int32_t)(1e6 * und_random(3, 4, i)) : 0;
            const bool at_wall = i == und_mac_row(m, row) || i + 1 == end ||
                                 (p->w.solids.distance[i] > -0.5f && p->w.solids.distance[i] < 1);
            p->volume.film[i] = p->volume.c[i] == 0 && und_random(3, 7, i) < (at_wall ? 0.4 : 0.02);
            p->volume.c[i] += p->volume.film[i] ? 1 << 20 : 0;
            p->volume.parts->unsure[i] = (uint8_t)(4 * und_random(3, 6, i));
        }
}

/* What others have is anything, but what comes from them. */
static inline void spoil(part *p)
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
    uint8_t *const bytes[] = {p->volume.film, p->volume.parts->unsure};
    for (int k = 0; k < 2; k++) {
        all[count] = und_halo_of(m, bytes[k], 1, 0);
        all[count++].type = UND_U8;
    }
    all[count++] = und_halo_of_mask(m, &p->w.d.band, 0);
    all[count++] = und_halo_of_mask(m, &p->w.s.liquid, 0);
    for (int i = 0; i < count; i++)
        halves_spoil_beyond(p->half, &all[i]);
}

static inline void share(part *p)
{
    const und_halo *halo = &p->half->halo;
    p->w.s.device.halo = p->w.d.device.halo = p->volume.device.halo = halo;
    und_pressure_share(p->system, &(und_device){.halo = halo});
    und_viscous_share(p->viscous, &(und_device){.halo = halo});
}

static inline void close_part(part *p)
{
    const und_distance d = p->w.d;
    und_pressure_destroy(p->system);
    und_viscous_destroy(p->viscous);
    und_volume_close(&p->volume);
    und_pages_free(p->nu);
    und_pages_free(p->room);
    free(p->beside_thin);
    p->w.d.phi = NULL;
    model_close(&p->w);
    p->w.d = d;
    und_distance_close(&p->w.d);
}

/* ---- Halves and the whole ---- */

/* Slices that are not as in the whole, and numbers that all should have found. */
static inline int differing(const halves *all, const part p[PARTS])
{
    const part *whole = &p[HALVES];
    const und_mac *m = &whole->w.s.mac;
    int found = halves_differ(all, m, p[0].volume.c, p[1].volume.c, whole->volume.c, sizeof(int32_t));
    found += halves_differ(all, m, p[0].volume.film, p[1].volume.film, whole->volume.film, 1);
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

typedef void stage_fn(void *model);

static inline void do_nothing(void *model)
{
    (void)model;
}

/* With halos that are `less` wide than is asked for; but those of what is done before. */
static inline int run(stage_fn *before, stage_fn *stage, int less, int *furthest)
{
    static part p[PARTS];
    halves all;
    halves_open(&all, NZ, BORDER, 0);
    for (int i = 0; i < PARTS; i++) {
        open_part(&p[i], i < HALVES ? &all.half[i] : NULL);
        und_mac_flow_label(&p[i].w.s, &p[i].w.d, &p[i].w.solids);
        fill_cells(&p[i]);
        if (i < HALVES) {
            spoil(&p[i]);
            share(&p[i]);
        }
    }
    before(&p[HALVES]);
    halves_run(before, &p[0], &p[1]);
    all.less = less;
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
static inline void check(stage_fn *before, stage_fn *stage, int too_narrow)
{
    int furthest;
    assert_int_equal(run(before, stage, 0, &furthest), 0);
    assert_true(run(before, stage, too_narrow, &furthest) > 0);
}

#define TEST_AFTER(before, name, too_narrow) \
    static void test_##name(void **state)    \
    {                                        \
        (void)state;                         \
        check(before, name, too_narrow);     \
    }
#define TEST(name, too_narrow) TEST_AFTER(do_nothing, name, too_narrow)

#endif
