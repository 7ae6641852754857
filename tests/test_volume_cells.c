/* What cells hold goes along with the flow, to the last bit, and the surface follows it. */
#include "tests/test.h"

#include "base/random.h"
#include "surface/volume_parts.h"
#include "surface/volume_pay_kernel.h"

enum { N = 32 };

typedef struct world {
    und_mac mac;
    und_distance d;
    und_volume v;
    und_volume_walls walls;
    float *open[3], *u[3];
} world;

/* Closed but for the sides that are open; nz == 1: in a plane. */
static void begin(world *w, int nz, const bool open[6])
{
    und_error err = {0};
    *w = (world){.mac = und_mac_make((int[3]){N, N, nz}, (double[3]){1, 1, 1}, (double[3]){0})};
    assert_int_equal(und_distance_open(&w->d, &w->mac, 5, 1, &err), UND_OK);
    assert_int_equal(und_volume_open(&w->v, &w->mac, 2, NULL, &err), UND_OK);
    und_volume_borrow(&w->v);
    for (int a = 0; a < 3; a++) {
        /* with room behind, as und_pages_alloc leaves it, for lanes that are read and not looked at */
        w->walls.open[a] = w->open[a] = calloc(w->mac.count + UND_LANES, sizeof(float));
        w->u[a] = calloc(w->mac.count + UND_LANES, sizeof(float));
        assert_non_null(w->u[a]);
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < N; y++)
                for (int x = 0; x < N; x++) {
                    const int cell[3] = {x, y, z};
                    const size_t at = und_mac_at(&w->mac, x, y, z);
                    w->open[a][at] = cell[a] + 1 < w->mac.n[a] || open[2 * a + 1];
                    if (cell[a] == 0)
                        w->open[a][at - (size_t)w->mac.step[a]] = open[2 * a];
                }
    }
    for (int side = 0; side < 6; side++)
        w->walls.closed[side] = !open[side];
}

static void end(world *w)
{
    for (int a = 0; a < 3; a++) {
        free(w->open[a]);
        free(w->u[a]);
    }
    und_volume_give_back(&w->v);
    und_volume_close(&w->v);
    und_distance_close(&w->d);
}

static void fill_ball(world *w, const double middle[3], double radius)
{
    const und_mac *m = &w->mac;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                const double by[3] = {x + 0.5 - middle[0], y + 0.5 - middle[1],
                                      m->n[2] > 1 ? z + 0.5 - middle[2] : 0};
                w->d.phi[und_mac_at(m, x, y, z)] =
                    (float)(sqrt(by[0] * by[0] + by[1] * by[1] + by[2] * by[2]) - radius);
            }
    und_distance_refresh(&w->d);
    und_volume_fill(&w->v, &w->d, &w->walls);
}

static void set_flow(world *w, const double u[3])
{
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < w->mac.count; i++)
            w->u[a][i] = (float)u[a] * (w->open[a][i] > 0);
}

/* Everything moves by u; how much left. */
static int64_t move(world *w, double fastest, long step)
{
    const und_volume_flow flow = {.u = w->u, .per_speed = 1, .fastest = fastest, .layers = 5, .step = step};
    return und_volume_move(&w->v, &w->d, &w->walls, &flow);
}

static void middle_of(const world *w, double middle[3])
{
    double sum = 0;
    middle[0] = middle[1] = middle[2] = 0;
    for (int z = 0; z < w->mac.n[2]; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                const double c = w->v.c[und_mac_at(&w->mac, x, y, z)];
                middle[0] += c * (x + 0.5);
                middle[1] += c * (y + 0.5);
                middle[2] += c * (z + 0.5);
                sum += c;
            }
    for (int a = 0; a < 3; a++)
        middle[a] /= sum;
}

static const bool shut[6] = {false};

static void cells_hold_what_is_enclosed(void **state)
{
    (void)state;
    world w;
    const double r = 7.3;
    begin(&w, N, shut);
    fill_ball(&w, (double[3]){16.2, 15.7, 16.4}, r);
    const double held = (double)und_volume_sum(&w.v) / UND_VOLUME_ONE, ball = 4.0 / 3 * M_PI * r * r * r;
    assert_double_near(held / ball, 1, 0.005);
    end(&w);
}

/* A ball that is carried 9 cells along and 4.5 across keeps its volume to the bit and its middle to a
 * hundredth of a cell, in steps shorter and longer than a cell. */
static void a_ball_is_carried(void **state)
{
    (void)state;
    for (int steps = 4; steps <= 20; steps += 16)
        for (int nz = 1; nz <= N; nz += N - 1) {
            world w;
            const double from[3] = {10.3, 11.1, nz > 1 ? 12.2 : 0.5}, way[3] = {9, 4.5, nz > 1 ? 6 : 0};
            double middle[3], before[3], u[3];
            begin(&w, nz, shut);
            fill_ball(&w, from, 5.2);
            middle_of(&w, before);
            const int64_t sum = und_volume_sum(&w.v);
            for (int a = 0; a < 3; a++)
                u[a] = way[a] / steps;
            for (int k = 0; k < steps; k++) {
                double at[3];
                set_flow(&w, u);
                assert_int_equal(move(&w, 9.0 / steps, k), 0);
                int32_t *c = malloc(w.mac.count * sizeof *c); /* phi goes along exactly */
                assert_non_null(c);
                memcpy(c, w.v.c, w.mac.count * sizeof *c);
                for (int a = 0; a < 3; a++)
                    at[a] = from[a] + u[a] * (k + 1);
                fill_ball(&w, at, 5.2);
                memcpy(w.v.c, c, w.mac.count * sizeof *c);
                free(c);
            }
            assert_true(und_volume_sum(&w.v) == sum);
            middle_of(&w, middle);
            for (int a = 0; a < (nz > 1 ? 3 : 2); a++)
                assert_double_near(middle[a] - before[a], way[a], 0.02);
            end(&w);
        }
}

/* Whatever the flow is, nothing is lost; what leaves by a side is told. */
static void any_flow_keeps_it(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 8; nz += 7)
        for (int side = -1; side < 2 * (nz > 1 ? 3 : 2); side++) {
            world w;
            bool open[6] = {false};
            int64_t left = 0;
            if (side >= 0)
                open[side] = true;
            begin(&w, nz, open);
            fill_ball(&w,
                      (double[3]){side == 0   ? 4
                                  : side == 1 ? 28
                                              : 16,
                                  side == 2   ? 4
                                  : side == 3 ? 28
                                              : 16,
                                  4},
                      9);
            const int64_t sum = und_volume_sum(&w.v);
            for (int k = 0; k < 6; k++) {
                for (int a = 0; a < 3; a++)
                    for (size_t i = 0; i < w.mac.count; i++)
                        w.u[a][i] =
                            (float)(3 * und_random((uint64_t)k, (uint64_t)a, i) - 1.5) * (w.open[a][i] > 0);
                if (side >= 0) { /* nothing comes in */
                    const float out = side % 2 ? 1 : -1;
                    for (size_t i = 0; i < w.mac.count; i++)
                        w.u[side / 2][i] = out * fabsf(w.u[side / 2][i]);
                }
                left += move(&w, 1.5, k);
                und_volume_fit(&w.v, &w.d, &w.walls, false);
            }
            assert_true(und_volume_sum(&w.v) + left == sum);
            assert_true(side < 0 ? left == 0 : left > 0);
            end(&w);
        }
}

/* A surface that encloses too much, or too little, comes to what cells hold. */
static void the_surface_follows(void **state)
{
    (void)state;
    for (int nz = 1; nz <= N; nz += N - 1)
        for (int sign = -1; sign <= 1; sign += 2) {
            world w;
            const double middle[3] = {16.2, 15.7, nz > 1 ? 16.4 : 0.5};
            begin(&w, nz, shut);
            fill_ball(&w, middle, 8);
            const int64_t sum = und_volume_sum(&w.v);
            for (size_t i = 0; i < w.mac.count; i++)
                w.d.phi[i] += (float)sign * 0.3f;
            und_distance_refresh(&w.d);
            for (int k = 0; k < 8; k++) {
                und_volume_fit(&w.v, &w.d, &w.walls, true);
                und_distance_redistance(&w.d, 2);
            }
            assert_true(und_volume_sum(&w.v) == sum);
            const double shown = und_volume_shown(&w.v, &w.d, &w.walls);
            assert_double_near(shown * UND_VOLUME_ONE / (double)sum, 1, 0.003);
            end(&w);
        }
}

/* phi that shows a tenth of a cell too much stays so for a step where particles follow a flow that keeps its
 * volume, and does not where the flow gains some, or there are no particles. */
static void particles_are_trusted(void **state)
{
    (void)state;
    for (int nz = 1; nz <= N; nz += N - 1)
        for (int k = 0; k < 3; k++) {
            world w;
            const double from[3] = {14.2, 15.7, nz > 1 ? 16.4 : 0.5}, r = 8;
            const float gain = k == 1 ? 0.01f : 0;
            begin(&w, nz, shut);
            set_flow(&w, (double[3]){1, 0, 0});
            for (size_t i = 0; i < w.mac.count; i++)
                w.u[0][i] += gain * (float)((ptrdiff_t)(i - w.mac.first) % w.mac.step[1]) * w.u[0][i];
            fill_ball(&w, (double[3]){from[0], from[1], from[2]}, r);
            assert_int_equal(move(&w, 1 + N * (double)gain, 0), 0);
            fill_ball(&w, (double[3]){from[0] + 1, from[1], from[2]}, r);
            for (size_t i = 0; i < w.mac.count; i++)
                w.d.phi[i] -= 0.1f;
            und_distance_refresh(&w.d);
            const double held = (double)und_volume_sum(&w.v) / UND_VOLUME_ONE;
            const double before = und_volume_shown(&w.v, &w.d, &w.walls) - held;
            und_volume_fit(&w.v, &w.d, &w.walls, k < 2);
            const double left = (und_volume_shown(&w.v, &w.d, &w.walls) - held) / before;
            assert_true(k == 0 ? left > 0.95 && left < 1 : left < 0.7);
            end(&w);
        }
}

/* A film on the floor, a twentieth of a cell, in a flow that goes up by 2.4 cells in a step: it is gone from
 * the wall, and none of it lost. */
static void a_thin_film_leaves_its_wall(void **state)
{
    world w;
    (void)state;
    begin(&w, 1, shut);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            w.d.phi[und_mac_at(&w.mac, x, y, 0)] = (float)y + 0.45f;
    und_distance_refresh(&w.d);
    for (int x = 8; x < 24; x++)
        w.v.c[und_mac_at(&w.mac, x, 0, 0)] = und_volume_units(0.05f);
    set_flow(&w, (double[3]){0, 2.4, 0});
    und_volume_find_films(&w.v, &w.d, &w.walls);
    assert_int_equal(w.v.film[und_mac_at(&w.mac, 12, 0, 0)], 1);
    assert_int_equal(move(&w, 2.4, 0), 0);
    double left = 0, aloft = 0;
    for (int x = 0; x < N; x++) {
        left += und_volume_cells(w.v.c[und_mac_at(&w.mac, x, 0, 0)]);
        for (int y = 1; y < 5; y++)
            aloft += und_volume_cells(w.v.c[und_mac_at(&w.mac, x, y, 0)]);
    }
    assert_true(left < 0.1 * 16 * 0.05);
    assert_double_near(left + aloft, 16 * 0.05, 1e-6);
    end(&w);
}

static inline void mark_all(const und_volume_list_args *l, und_place p)
{
    und_volume_mark_rows(l, p, NULL, NULL, NULL);
}
UND_KERNEL(mark_all, und_volume_list_args, UND_EACH_BLOCK)

/* Where every other cell has 0.3 too much and the others as much too little, they even that out, each side of
 * a wall by itself. */
static void full_cells_even_out(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 4; nz += 3) {
        world w;
        begin(&w, nz, shut);
        int64_t sum[2] = {0};
        for (int round = 0; round < 2; round++) {
            int32_t most = 0;
            int64_t side[2] = {0};
            const und_volume_list_args list = und_volume_list_args_of(&w.v);
            if (round == 1)
                und_volume_even(&w.v, &w.walls, UND_PASS(mark_all, &list, NULL));
            for (int row = 0; row < und_mac_rows(&w.mac); row++)
                for (int x = 0; x < N; x++) {
                    const int y = row % N, z = row / N, odd = (x + y + z) % 2, right = x >= N / 4;
                    const size_t at = und_mac_at(&w.mac, x, y, z);
                    if (round == 0) {
                        w.open[0][at] = x == N / 4 - 1 ? 0 : w.open[0][at];
                        w.v.c[at] = (right ? 2 : 1) * UND_VOLUME_ONE + (odd ? 5 : -5) * (1 << 20);
                    }
                    const int32_t off = w.v.c[at] - (right ? 2 : 1) * UND_VOLUME_ONE;
                    most = abs(off) > most ? abs(off) : most;
                    side[right] += w.v.c[at];
                }
            if (round == 1) {
                assert_true(side[0] == sum[0] && side[1] == sum[1]);
                assert_true(most < UND_VOLUME_ONE / 10);
            }
            memcpy(sum, side, sizeof sum);
        }
        end(&w);
    }
}

/* One round, over all cells. */
static void pay_once(world *w, int threads)
{
    und_volume_parts *p = w->v.parts;
    bool none = true;
    const und_volume_pay_args args = {.m = {.mac = w->mac,
                                            .axes = 3,
                                            .c = w->v.c,
                                            .fraction = p->fraction,
                                            .kind = p->kind,
                                            .to = p->to,
                                            .own = p->own,
                                            .chunk = p->chunk},
                                      .none = &none};
    const und_device device = {.threads = threads};
    const und_set chunks = und_volume_chunks(&w->v);
    for (int i = 0; i < p->listed[UND_VOLUME_LISTED]; i++)
        p->chunk[i].gives = p->chunk[i].bits;
    und_pass(&device, und_volume_ask, &args, &chunks);
    und_pass(&device, und_volume_pay, &args, &chunks);
}

static void begin_debts(world *w)
{
    begin(w, N, shut);
    und_volume_parts *p = w->v.parts;
    und_volume_list(&w->v, NULL, NULL, NULL);
    for (size_t i = 0; i < w->mac.count; i++) {
        p->kind[i] = p->inside[i] ? UND_VOLUME_ACTIVE : UND_VOLUME_DRY;
        p->to[i] = UND_VOLUME_PAY_NOBODY;
    }
}

/* A cell pays for all around it, and for one further off; where it has too little the first get it; and what
 * the fullest cannot pay the next one does. */
static void debts_are_paid(void **state)
{
    (void)state;
    world w;
    begin_debts(&w);
    const und_mac *m = &w.mac;
    int32_t *c = w.v.c;
    const size_t rich = und_mac_at(m, 10, 10, 10), poor = und_mac_at(m, 20, 20, 20), far = rich + 2;
    int32_t owed = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        if (k != UND_VOLUME_STAY) {
            c[(ptrdiff_t)rich + w.v.parts->around[k]] = -1000 - k;
            owed += 1000 + k;
        }
    c[rich] = UND_VOLUME_ONE;
    c[far] = -77;
    c[poor] = 100;
    c[poor - 1] = c[poor + 1] = -80;
    c[poor + 2] = 50;
    pay_once(&w, 1);
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        if (k != UND_VOLUME_STAY)
            assert_int_equal(c[(ptrdiff_t)rich + w.v.parts->around[k]], 0);
    assert_int_equal(c[rich], UND_VOLUME_ONE - owed - 77);
    assert_int_equal(c[far], 0);
    assert_int_equal(c[poor - 1], 0);
    assert_int_equal(c[poor], 0);
    assert_int_equal(c[poor + 1], -60);
    pay_once(&w, 1);
    assert_int_equal(c[poor + 1], -10);
    assert_int_equal(c[poor + 2], 0);
    end(&w);
}

/* With many debts at once nothing is made or lost, nobody that pays comes to owe, and threads do not matter.
 */
static void debts_are_paid_in_any_order(void **state)
{
    (void)state;
    int32_t *first = NULL;
    for (int threads = 1; threads <= 5; threads += 2) {
        world w;
        int64_t before = 0, after = 0, owed = 0, owes = 0;
        begin_debts(&w);
        int32_t *start = calloc(w.mac.count, sizeof *start);
        assert_non_null(start);
        for (size_t i = 0; i < w.mac.count; i++) {
            const double part = und_random(7, 1, i);
            w.v.c[i] = !w.v.parts->inside[i] || part < 0.4 ? 0 : (int32_t)((part - 0.7) * UND_VOLUME_ONE);
            start[i] = w.v.c[i];
            before += start[i];
            owed -= start[i] < 0 ? start[i] : 0;
        }
        pay_once(&w, threads);
        pay_once(&w, threads);
        for (size_t i = 0; i < w.mac.count; i++) {
            after += w.v.c[i];
            owes -= w.v.c[i] < 0 ? w.v.c[i] : 0;
            assert_true(start[i] >= 0 ? w.v.c[i] >= 0 && w.v.c[i] <= start[i]
                                      : w.v.c[i] <= 0 && w.v.c[i] >= start[i]);
        }
        assert_int_equal(before, after);
        assert_true(owes < owed / 2);
        if (first)
            assert_memory_equal(first, w.v.c, w.mac.count * sizeof *first);
        else {
            first = calloc(w.mac.count, sizeof *first);
            memcpy(first, w.v.c, w.mac.count * sizeof *first);
        }
        free(start);
        end(&w);
    }
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_what_is_enclosed), cmocka_unit_test(a_ball_is_carried),
        cmocka_unit_test(any_flow_keeps_it),           cmocka_unit_test(the_surface_follows),
        cmocka_unit_test(particles_are_trusted),       cmocka_unit_test(full_cells_even_out),
        cmocka_unit_test(a_thin_film_leaves_its_wall), cmocka_unit_test(debts_are_paid),
        cmocka_unit_test(debts_are_paid_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
