/* The velocity beyond the liquid and in solids. */
#include "flow/mac_flow_gain_kernel.h"
#include "tests/mac_flow_model.h"

#include "base/random.h"

enum { NX = 70, NY = 30, NZ = 12 };

static double low(double x, double y, double z)
{
    return y - 9 - 3 * sin(0.3 * x + 0.2 * z);
}
static double lower(double x, double y, double z)
{
    return low(x, y, z) + 4;
}
static double flat(double x, double y, double z)
{
    (void)x, (void)z;
    return y - 10;
}

/* Random on faces that flow, NaN on all others, which shows where one is read. */
static void fill_flow(und_mac_flow *s, const und_mask *flows)
{
    const und_mac *m = &s->mac;
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++)
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                for (int x = -1; x <= m->n[0]; x++) {
                    size_t at = und_mac_at(m, x, y, z);
                    s->u[a][at] =
                        und_mask_has(&flows[a], x, y, z) ? (float)und_random(3, (uint64_t)a, at) - 0.5f : NAN;
                }
}

/* ---- Against a plain loop ---- */

static bool is_inside(const und_mac *m, int axis, const int at[3])
{
    for (int a = 0; a < 3; a++)
        if (at[a] < (a == axis ? -1 : 0) || at[a] >= m->n[a])
            return false;
    return true;
}

/* One layer more of a component: known[] says which layer a face belongs to, 0: none yet. */
static void plain_layer(const und_mac *m, int axis, float *u, int *known, int layer)
{
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++) {
                const int at[3] = {x, y, z};
                size_t i = und_mac_at(m, x, y, z);
                if (known[i] || !is_inside(m, axis, at))
                    continue;
                float sum = 0;
                int count = 0;
                for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++)
                    for (int side = -1; side <= 1; side += 2) {
                        int beside[3] = {x, y, z};
                        beside[a] += side;
                        size_t j = (size_t)((ptrdiff_t)i + side * m->step[a]);
                        if (is_inside(m, axis, beside) && known[j] && known[j] <= layer) {
                            sum += u[j];
                            count++;
                        }
                    }
                if (count) {
                    u[i] = sum / (float)count;
                    known[i] = layer + 1;
                }
            }
}

static float *plain_extension(const stream_model *w, int axis, int layers)
{
    const und_mac *m = &w->s.mac;
    float *u = model_array(m);
    int *known = calloc(m->count, sizeof *known);
    assert_non_null(known);
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++)
                if (und_mask_has(&w->s.flows[axis], x, y, z)) {
                    size_t at = und_mac_at(m, x, y, z);
                    u[at] = w->s.u[axis][at];
                    known[at] = 1;
                }
    for (int i = 1; i <= layers; i++)
        plain_layer(m, axis, u, known, i);
    free(known);
    return u;
}

/* What und_mac_flow_extend says of a face: as the plain loop has it, or for the domain's closed border and
 * beside the domain, what it says of those. */
static double expected_at(const stream_model *w, int axis, const float *plain, bool sides, const int place[3])
{
    const und_mac *m = &w->s.mac;
    int at[3];
    for (int a = 0; a < 3; a++) {
        int least = a == axis ? -1 : 0;
        at[a] = place[a] < least ? least : place[a] < m->n[a] ? place[a] : m->n[a] - 1;
    }
    if (!sides && (at[axis] == -1 || at[axis] == m->n[axis] - 1))
        return 0;
    return plain[und_mac_at(m, at[0], at[1], at[2])];
}

static void check_plain(stream_model *w, int layers, bool sides)
{
    const und_mac *m = &w->s.mac;
    const int dimensions = m->n[2] == 1 ? 2 : 3;
    float *plain[3];
    fill_flow(&w->s, w->s.flows);
    for (int a = 0; a < dimensions; a++)
        plain[a] = plain_extension(w, a, layers);
    und_mac_flow_restored(&w->s);
    und_mac_flow_extend(&w->s, &w->solids, layers);
    for (int a = 0; a < dimensions; a++) {
        for (int z = dimensions == 3 ? -1 : 0; z <= m->n[2] - (dimensions == 2); z++)
            for (int y = -1; y <= m->n[1]; y++)
                for (int x = -1; x <= m->n[0]; x++) {
                    const int at[3] = {x, y, z};
                    if (at[a] == m->n[a]) /* belongs to nothing */
                        continue;
                    assert_double_near(w->s.u[a][und_mac_at(m, x, y, z)],
                                       expected_at(w, a, plain[a], sides, at), 1e-6);
                }
        und_pages_free(plain[a]);
    }
}

static void test_plain(void **state)
{
    (void)state;
    for (int sides = 0; sides < 2; sides++)
        for (int nz = 1; nz <= NZ; nz += NZ - 1)
            for (int layers = 0; layers < 7; layers += 3) {
                stream_model w;
                model_open(&w, NX, NY, nz, sides, 2);
                model_label(&w, low);
                check_plain(&w, layers, sides);
                model_close(&w);
            }
}

/* Above a flat surface what is linear along it goes straight up. */
static double along(double x, double y, double z)
{
    (void)y;
    return 0.5 + 0.25 * x - 0.5 * z;
}

static void test_linear(void **state)
{
    (void)state;
    stream_model w;
    model_open(&w, NX, NY, NZ, true, 2);
    const und_mac *m = &w.s.mac;
    model_label(&w, flat);
    for (int a = 0; a < 3; a++)
        model_fill(m, w.s.u[a], a, along);
    und_mac_flow_restored(&w.s);
    und_mac_flow_extend(&w.s, &w.solids, 5);
    for (int a = 0; a < 3; a++) {
        const int top = 9 + 5; /* of the last faces that flow, and five more */
        for (int z = 0; z < NZ; z++)
            for (int y = 0; y < NY; y++)
                for (int x = 0; x < NX; x++) {
                    double here = along(x + (a == 0 ? 1 : 0.5), 0, z + (a == 2 ? 1 : 0.5));
                    assert_true((double)w.s.u[a][und_mac_at(m, x, y, z)] == (y <= top ? here : 0));
                }
    }
    model_close(&w);
}

/* With what the flow gained kept, it goes on above a flat surface as it changed below; where it did not
 * change in one way, as it was. */
static double across(double x, double y, double z)
{
    return 0.5 + 0.25 * x - 0.125 * y - 0.5 * z;
}
static double wavy(double x, double y, double z)
{
    (void)x, (void)z;
    return (int)floor(y) % 2 ? 1 : -1;
}

static void test_slope(void **state)
{
    (void)state;
    und_error err;
    for (int nz = 1; nz <= NZ; nz += NZ - 1)
        for (int rough = 0; rough < 2; rough++) {
            stream_model w;
            model_open(&w, NX, NY, nz, true, 2);
            assert_int_equal(und_mac_flow_keep_gained(&w.s, true, &err), UND_OK);
            model_label(&w, flat);
            const und_mac *m = &w.s.mac;
            model_fill(m, w.s.u[0], 0, rough ? wavy : across);
            float last[NX];
            int top = 0; /* the highest row of faces that flow */
            while (und_mask_has(&w.s.flows[0], 3, top + 1, 0))
                top++;
            for (int x = 0; x < NX; x++)
                last[x] = w.s.u[0][und_mac_at(m, x, top, 0)];
            und_mac_flow_restored(&w.s);
            und_mac_flow_extend(&w.s, &w.solids, 3);
            for (int y = top + 1; y <= top + 3; y++)
                for (int x = 0; x < NX - 1; x++)
                    assert_double_near(w.s.u[0][und_mac_at(m, x, y, 0)],
                                       rough ? last[x] : across(x + 1, y + 0.5, 0.5), 1e-5);
            model_close(&w);
        }
}

/* A body that turns, its middle at the origin of a frame of its own: what a step gains and what the next one
 * carries along leave the spin as it was but for the fourth power of the angle. */
static double turning_u(double x, double y, double z)
{
    (void)x, (void)z;
    return -(y - 16);
}
static double turning_v(double x, double y, double z)
{
    (void)y, (void)z;
    return x - 16;
}
static double inwards_u(double x, double y, double z)
{
    (void)y, (void)z;
    return -(x - 16);
}
static double inwards_v(double x, double y, double z)
{
    (void)x, (void)z;
    return -(y - 16);
}
static double everywhere(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return -1;
}

static void test_gained(void **state)
{
    (void)state;
    const double angle = 0.1;
    und_error err;
    stream_model w;
    model_open(&w, 32, 32, 1, true, 1);
    assert_int_equal(und_mac_flow_keep_gained(&w.s, true, &err), UND_OK);
    model_label(&w, everywhere);
    const und_mac *m = &w.s.mac;
    model_fill(m, w.s.u[0], 0, turning_u);
    model_fill(m, w.s.u[1], 1, turning_v);
    model_fill(m, w.s.gained[0], 0, inwards_u); /* half of the angle times the radius */
    model_fill(m, w.s.gained[1], 1, inwards_v);
    und_mac_flow_scale_gained(&w.s, 0.5 * angle);
    und_mac_flow_advect(&w.s, angle, UND_TRACE_RK3, UND_ADVECT_MACCORMACK);
    double u =
        w.s.u[0][und_mac_at(m, 15, 22, 0)]; /* over the middle, 6.5 cells up: no part of it is radial */
    assert_double_near(u / -6.5, 1, pow(angle, 4) / 10);
    model_fill(m, w.s.u[0], 0, turning_u);
    und_mac_flow_find_gained(&w.s, NULL, INFINITY);
    und_mac_flow_extend(&w.s, &w.solids, 1);
    assert_double_near(w.s.gained[0][und_mac_at(m, 15, 22, 0)], 0.5 * (-6.5 - u), 1e-6);
    model_close(&w);
}

/* What comes all at once is not carried into the next step, but for as much again as there was, or as is no
 * blow; what goes on is, from its second step on. */
static void a_blow_is_over(void **state)
{
    (void)state;
    und_error err;
    stream_model w;
    model_open(&w, 16, 16, 1, true, 1);
    assert_int_equal(und_mac_flow_keep_gained(&w.s, false, &err), UND_OK);
    model_label(&w, everywhere);
    static const float gives[4] = {0.25F, 0.5F, 8, 0.25F}, keeps[4] = {0.125F, 0.25F, 0.5F, 0.125F};
    const size_t at = und_mac_at(&w.s.mac, 8, 8, 0);
    for (int i = 0; i < 4; i++) {
        und_mac_flow_scale_gained(&w.s, i > 0);
        und_mac_flow_advect(&w.s, 0, UND_TRACE_RK2, UND_ADVECT_MACCORMACK);
        w.s.u[0][at] += gives[i];
        und_mac_flow_find_gained(&w.s, NULL, 0.0625);
        und_mac_flow_extend(&w.s, &w.solids, 1);
        assert_double_near(w.s.gained[0][at], keeps[i], 1e-6);
    }
    model_close(&w);
}

/* A face that has not flowed yet says so, also where the velocity was extended before anything was gained. */
static void nothing_was_gained(void **state)
{
    (void)state;
    und_error err;
    stream_model w;
    model_open(&w, NX, NY, 1, true, 1);
    assert_int_equal(und_mac_flow_keep_gained(&w.s, false, &err), UND_OK);
    model_label(&w, flat);
    und_mac_flow_extend(&w.s, &w.solids, 2);
    und_mac_flow_find_gained(&w.s, NULL, 1);
    und_mac_flow_extend(&w.s, &w.solids, 2);
    for (int y = 0; y < NY; y++) {
        const bool flows = und_mask_has(&w.s.flows[0], 3, y, 0);
        assert_true(w.s.latest[0][und_mac_at(&w.s.mac, 3, y, 0)] == (flows ? 0 : UND_GAIN_NONE));
    }
    model_close(&w);
}

/* ---- What was there before is gone ---- */

static void test_history(void **state)
{
    (void)state;
    stream_model w, fresh;
    model_open(&w, NX, NY, NZ, false, 2);
    model_open(&fresh, NX, NY, NZ, false, 2);
    model_label(&w, low);
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < w.s.mac.count; i++)
            w.s.u[a][i] = 7; /* of a state, say */
    und_mac_flow_restored(&w.s);
    und_mac_flow_extend(&w.s, &w.solids, 5);
    model_label(&w, lower); /* the liquid sinks */
    model_label(&fresh, lower);
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < w.s.mac.count; i++) {
            w.s.u[a][i] = (float)(w.s.u[a][i] != 0);
            fresh.s.u[a][i] = 0;
        }
    const und_mac *m = &w.s.mac;
    for (int a = 0; a < 3; a++)
        for (int z = -1; z < NZ; z++)
            for (int y = -1; y < NY; y++)
                for (int x = -1; x < NX; x++)
                    if (und_mask_has(&w.s.flows[a], x, y, z)) {
                        size_t at = und_mac_at(m, x, y, z);
                        w.s.u[a][at] = fresh.s.u[a][at] = (float)(und_random(1, (uint64_t)a, at));
                    }
    und_mac_flow_extend(&w.s, &w.solids, 3);
    und_mac_flow_extend(&fresh.s, &fresh.solids, 3);
    for (int a = 0; a < 3; a++)
        for (int z = -1; z <= NZ; z++)
            for (int y = -1; y <= NY; y++)
                for (int x = -1; x <= NX; x++) {
                    const int at[3] = {x, y, z};
                    size_t i = und_mac_at(m, x, y, z);
                    if (at[a] < m->n[a])
                        assert_true(w.s.u[a][i] == fresh.s.u[a][i]);
                }
    model_close(&w);
    model_close(&fresh);
}

/* ---- Solids ---- */

static const double slope[3] = {0.6, 0.8, 0};
static double plane(double x, double y, double z)
{
    (void)z;
    return slope[0] * (x - 30) + slope[1] * (y - 12);
}

/* A slanted solid that moves along its normal and across it, in liquid with another velocity. */
static void solid_model(stream_model *w, int threads)
{
    static const float moves[3] = {0.5f, -0.25f, 0.75f}, flow[3] = {1, 2, -1};
    model_open(w, 60, 24, 6, true, threads);
    const und_mac *m = &w->s.mac;
    w->solids.any = true;
    w->solids.distance = model_array(m);
    model_fill(m, w->solids.distance, 3, plane);
    for (size_t i = 0; i < m->count; i++) {
        float d = w->solids.distance[i];
        w->solids.distance[i] = d < -5 ? -5 : d > 5 ? 5 : d;
    }
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < m->count; i++)
            w->solids.u[a][i] = moves[a];
    for (int a = 0; a < 3; a++)
        for (int z = -1; z <= 6; z++)
            for (int y = -1; y <= 24; y++)
                for (int x = -1; x <= 60; x++) {
                    double d = plane(x + (a == 0 ? 1 : 0.5), y + (a == 1 ? 1 : 0.5), 0);
                    size_t at = und_mac_at(m, x, y, z);
                    if (d < 0.5)
                        w->solids.open[a][at] = d < -0.5 ? 0 : (float)(d + 0.5) * w->solids.open[a][at];
                    w->s.u[a][at] = flow[a];
                }
    und_mac_flow_restored(&w->s);
}
static void test_solid(void **state)
{
    (void)state;
    static const double moves[3] = {0.5, -0.25, 0.75}, flow[3] = {1, 2, -1};
    stream_model w;
    solid_model(&w, 2);
    const und_mac *m = &w.s.mac;
    model_label(&w, everywhere);
    und_mac_flow_extend(&w.s, &w.solids, 3);
    double lacks = 0;
    for (int c = 0; c < 3; c++)
        lacks += (moves[c] - flow[c]) * slope[c];
    long in = 0;
    for (int a = 0; a < 3; a++)
        for (int z = 1; z < 5; z++)
            for (int y = 1; y < 23; y++)
                for (int x = 1; x < 59; x++) {
                    double d = plane(x + (a == 0 ? 1 : 0.5), y + (a == 1 ? 1 : 0.5), 0);
                    double value = w.s.u[a][und_mac_at(m, x, y, z)];
                    bool flows = und_mask_has(&w.s.flows[a], x, y, z);
                    if (flows)
                        assert_double_near(value, flow[a], 1e-6);
                    else if (d > -1.5) {
                        assert_double_near(value, flow[a] + lacks * slope[a], 1e-5);
                        in++;
                    } else if (d < -6)
                        assert_true(value == 0);
                }
    assert_true(in > 300);
    model_close(&w);
}

static double slanted(double x, double y, double z)
{
    (void)z;
    return y - 14 + 0.2 * sin(x);
}

static void test_threads(void **state)
{
    (void)state;
    stream_model one, many;
    solid_model(&one, 1);
    model_label(&one, slanted);
    und_mac_flow_extend(&one.s, &one.solids, 5);
    for (int threads = 2; threads <= 7; threads += 5) {
        solid_model(&many, threads);
        model_spoil_scratch(&many.s, 66); /* 48: some number, where the other has none */
        model_label(&many, slanted);
        und_mac_flow_extend(&many.s, &many.solids, 5);
        for (int a = 0; a < 3; a++)
            assert_memory_equal(one.s.u[a], many.s.u[a], one.s.mac.count * sizeof(float));
        model_close(&many);
    }
    model_close(&one);
}

/* Two bodies of liquid, one on the other's way, the other at rest below: the air between is squeezed. */
static double two_drops(double x, double y, double z)
{
    double low = sqrt((x - 12) * (x - 12) + (y - 7) * (y - 7) + (z - 12) * (z - 12)) - 5;
    double high = sqrt((x - 12) * (x - 12) + (y - 19) * (y - 19) + (z - 12) * (z - 12)) - 5;
    return fmin(low, high);
}
static double falls(double x, double y, double z)
{
    (void)x;
    (void)z;
    return y > 13 ? -2 : 0;
}

static double divergence(const stream_model *w, int x, int y, int z)
{
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        size_t at = und_mac_at(&w->s.mac, x, y, z), low = at - (size_t)w->s.mac.step[a];
        sum += (double)(w->s.u[a][at] * w->solids.open[a][at]) -
               (double)(w->s.u[a][low] * w->solids.open[a][low]);
    }
    return sum;
}

/* The most in cells of air within the reach. */
static double squeezed(const stream_model *w, double reach)
{
    double most = 0;
    for (int z = 0; z < w->s.mac.n[2]; z++)
        for (int y = 0; y < w->s.mac.n[1]; y++)
            for (int x = 0; x < w->s.mac.n[0]; x++) {
                double phi = two_drops(x + 0.5, y + 0.5, z + 0.5);
                if (phi >= 0 && phi < reach)
                    most = fmax(most, fabs(divergence(w, x, y, z)));
            }
    return most;
}

static void free_air(stream_model *w, int threads, float *const plain[3])
{
    enum { N = 24 };
    und_error err;
    model_open(w, N, N, N, false, threads);
    model_label(w, two_drops);
    model_fill(&w->s.mac, w->s.u[1], 1, falls);
    und_mac_flow_restored(&w->s);
    und_mac_flow_extend(&w->s, &w->solids, 6);
    for (int a = 0; a < 3 && plain; a++)
        memcpy(plain[a], w->s.u[a], w->s.mac.count * sizeof(float));
    und_pressure *system = und_pressure_create(&w->s.mac, threads, NULL, &err);
    assert_non_null(system);
    und_mac_flow_report report = und_mac_flow_free_air(&w->s, &w->d, &w->solids, system, NULL, 3, 1e-4, 100);
    assert_true(report.converged && report.closed == 0);
    und_pressure_destroy(system);
}

/* Rasmussen et al. 2004, 5.2: what flows into the air between flows out of it sideways, and the liquid's
 * velocity stays. */
static void test_free_air(void **state)
{
    (void)state;
    stream_model w, other;
    und_mac m = und_mac_make((int[]){24, 24, 24}, (double[]){1, 1, 1}, (double[]){0, 0, 0});
    float *plain[3] = {model_array(&m), model_array(&m), model_array(&m)};
    free_air(&w, 1, plain);
    assert_true(squeezed(&w, 3) < 1e-3);
    double aside = w.s.u[0][und_mac_at(&m, 14, 12, 11)]; /* between them, off the axis */
    assert_true(aside > 0.3);
    assert_double_near(aside, -(double)w.s.u[0][und_mac_at(&m, 8, 12, 11)], 1e-3);
    for (int a = 0; a < 3; a++)
        for (int z = 0; z < 23; z++)
            for (int y = 0; y < 23; y++)
                for (int x = 0; x < 23; x++)
                    if (und_mask_has(&w.s.flows[a], x, y, z))
                        assert_true(w.s.u[a][und_mac_at(&m, x, y, z)] == plain[a][und_mac_at(&m, x, y, z)]);
    free_air(&other, 7, NULL);
    for (int a = 0; a < 3; a++)
        assert_memory_equal(w.s.u[a], other.s.u[a], m.count * sizeof(float));
    und_mac_flow_plain_air(&w.s);
    assert_true(squeezed(&w, 3) > 0.1);
    for (int a = 0; a < 3; a++) {
        assert_memory_equal(w.s.u[a], plain[a], m.count * sizeof(float));
        und_pages_free(plain[a]);
    }
    model_close(&w);
    model_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),     cmocka_unit_test(test_linear),
        cmocka_unit_test(test_slope),     cmocka_unit_test(test_gained),
        cmocka_unit_test(a_blow_is_over), cmocka_unit_test(nothing_was_gained),
        cmocka_unit_test(test_history),   cmocka_unit_test(test_solid),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_free_air),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
