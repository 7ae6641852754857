/* The pressure's system by a card that is a process of this machine: the same bits as without, and hardly
 * anything is copied back. */
#include "tests/test.h"

#include "base/card.h"
#include "base/pages.h"
#include "base/random.h"
#include "base/status.h"
#include "liquid/devices.h"
#include "solve/pressure.h"

enum { SEED = 3, SETTINGS = 2 };

typedef struct problem {
    und_mac mac;
    und_mask unknown;
    float *weight[3], *known, *b;
    double *x;
    und_pressure *pressure;
} problem;

static void *pages(size_t count, size_t size)
{
    und_error err = {.status = UND_OK};
    void *p = und_pages_alloc(count * size, "test", &err);
    assert_non_null(p);
    return p;
}

static problem make(const int n[3], und_card *card)
{
    const double d[3] = {1, 1, 1}, origin[3] = {0};
    und_error err = {.status = UND_OK};
    problem p = {.mac = und_mac_make(n, d, origin)};
    p.pressure = und_pressure_create(&p.mac, 1, NULL, &err);
    assert_non_null(p.pressure);
    und_pressure_share(p.pressure, &(und_device){.threads = 1, .card = card});
    assert_int_equal(und_mask_open(&p.unknown, &p.mac, "test", &err), UND_OK);
    for (int a = 0; a < 3; a++)
        p.weight[a] = pages(p.mac.count, sizeof(float));
    p.known = pages(p.mac.count, sizeof *p.known);
    p.b = pages(p.mac.count, sizeof *p.b);
    p.x = pages(p.mac.count, sizeof *p.x);
    return p;
}

static void drop(problem *p)
{
    und_pressure_destroy(p->pressure);
    und_mask_close(&p->unknown);
    for (int a = 0; a < 3; a++)
        und_pages_free(p->weight[a]);
    und_pages_free(p->known);
    und_pages_free(p->b);
    und_pages_free(p->x);
}

/* Water below a slope around a ball that cuts cells, and drops above; `open`: with a surface. */
static void fill(problem *p, int turn, bool open)
{
    const int *n = p->mac.n;
    und_mask_clear(&p->unknown);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const size_t at = und_mac_at(&p->mac, x, y, z);
                const double surface = 0.5 * n[1] + 0.2 * (x - turn),
                             r = hypot(x - 0.4 * n[0], y - 0.3 * n[1]);
                const bool drop = und_random(SEED, (uint64_t)turn, 2 * at) < 0.03;
                for (int a = 0; a < 3; a++)
                    p->weight[a][at] = r < 5 ? 0 : r < 7 ? (float)(0.5 * r - 2.5) : 1;
                p->known[at] = open && y < surface && y + 1 >= surface ? 2 : 0;
                p->b[at] = (float)(und_random(SEED, (uint64_t)turn, 2 * at + 1) - 0.5);
                if (y < surface || drop)
                    und_mask_add(&p->unknown, x, y, z);
            }
}

typedef struct told {
    und_pressure_report report[SETTINGS];
    double *x[SETTINGS];
} told;

static told solve(const int n[3], bool open, und_card *card)
{
    told t;
    problem p = make(n, card);
    for (int i = 0; i < SETTINGS; i++) {
        fill(&p, i, open);
        und_card_counts before = {0}, after = {0};
        if (card)
            before = und_card_count(card);
        und_pressure_set(p.pressure, &p.unknown, (const float *const *)p.weight, p.known);
        t.report[i] = und_pressure_solve(p.pressure, p.b, p.x, i > 0, 1e-5, 40);
        und_pressure_lift(p.pressure, p.x);
        und_pressure_done(p.pressure);
        if (card)
            after = und_card_count(card);
        assert_true(after.here - before.here <= 1); /* what lends memory */
        assert_true(after.get_bytes - before.get_bytes <= (uint64_t)(8 + t.report[i].iterations) << 17);
        t.x[i] = calloc(p.mac.count, sizeof(double));
        assert_non_null(t.x[i]);
        memcpy(t.x[i], p.x, p.mac.count * sizeof(double));
    }
    drop(&p);
    return t;
}

static void check(const int n[3], bool open)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ /* they have memory where a card's is */
    skip();
#endif
    const double d[3] = {1, 1, 1}, origin[3] = {0};
    const size_t bytes = und_mac_make(n, d, origin).count * sizeof(double);
    und_error err = {.status = UND_OK};
    und_card *card;
    const told here = solve(n, open, NULL);
    assert_int_equal(und_devices_open("process", &card, &err), UND_OK);
    const told there = solve(n, open, card);
    und_card_check(card);
    und_card_close(card);
    for (int i = 0; i < SETTINGS; i++) {
        assert_true(here.report[i].converged && here.report[i].iterations + i > 0);
        assert_int_equal(here.report[i].iterations, there.report[i].iterations);
        assert_int_equal(here.report[i].closed, there.report[i].closed);
        assert_true(here.report[i].residual == there.report[i].residual);
        assert_true(here.report[i].unfit == there.report[i].unfit);
        assert_true(open || here.report[i].closed > 0);
        assert_memory_equal(here.x[i], there.x[i], bytes);
        free(here.x[i]);
        free(there.x[i]);
    }
}

static void test_open(void **state)
{
    (void)state;
    check((const int[3]){70, 36, 41}, true);
}
static void test_closed(void **state)
{
    (void)state;
    check((const int[3]){40, 24, 30}, false);
}
static void test_flat(void **state)
{
    (void)state;
    check((const int[3]){90, 50, 1}, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
