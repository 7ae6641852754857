/* The pressure's system: known answers, a direct solve, the preconditioner's symmetry, iterations that do not
 * grow with the grid, parts that touch no known cell, the same bits at any thread count. */
#include "tests/test.h"

#include "base/random.h"
#include "base/status.h"
#include "solve/poisson.h"

enum { SEED = 7 };

typedef struct problem {
    und_mac mac;
    und_poisson *poisson;
    uint8_t *kind;
    double *b, *x;
    double weight[3];
} problem;

static problem make(int nx, int ny, int nz, const double d[3], int threads)
{
    const int n[3] = {nx, ny, nz};
    const double origin[3] = {0};
    und_error err = {.status = UND_OK};
    problem p = {.mac = und_mac_make(n, d, origin)};
    p.poisson = und_poisson_create(&p.mac, threads, &err);
    assert_non_null(p.poisson);
    p.kind = calloc(p.mac.count, 1);
    p.b = calloc(p.mac.count, sizeof *p.b);
    p.x = calloc(p.mac.count, sizeof *p.x);
    assert_true(p.kind && p.b && p.x);
    for (int a = 0; a < 3; a++)
        p.weight[a] = 1 / (d[a] * d[a]);
    return p;
}

static void drop(problem *p)
{
    und_poisson_destroy(p->poisson);
    free(p->kind);
    free(p->b);
    free(p->x);
}

static double chance(uint64_t stream, uint64_t i)
{
    return und_random(SEED, stream, i);
}

#define EACH_CELL(m, x, y, z)               \
    for (int z = 0; z < (m)->n[2]; z++)     \
        for (int y = 0; y < (m)->n[1]; y++) \
            for (int x = 0; x < (m)->n[0]; x++)

/* b - A x of a cell, written out from the header's equation. */
static double defect(const problem *p, size_t i, const double *x)
{
    double sum = p->b[i];
    for (int side = 0; side < 6; side++) {
        size_t n = i + (size_t)(side % 2 ? p->mac.step[side / 2] : -p->mac.step[side / 2]);
        if (p->kind[n] != UND_POISSON_CLOSED)
            sum -= p->weight[side / 2] * (x[i] - (p->kind[n] == UND_POISSON_UNKNOWN ? x[n] : 0));
    }
    return sum;
}

/* An answer is chosen, b made from it, and x found again. */
static void solve_chosen(problem *p, double relative, double tolerance)
{
    double *chosen = calloc(p->mac.count, sizeof *chosen), largest = 0;
    assert_non_null(chosen);
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        if (p->kind[i] == UND_POISSON_UNKNOWN)
            chosen[i] = sin(0.3 * x + 1) * cos(0.2 * y) + 0.1 * z;
        p->x[i] = 0.5; /* a poor start, and what must stay where nothing is unknown */
        p->b[i] = NAN; /* not to be read where nothing is unknown */
    }
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        if (p->kind[i] != UND_POISSON_UNKNOWN)
            continue;
        p->b[i] = 0;
        p->b[i] = -defect(p, i, chosen);
        largest = fmax(largest, fabs(p->b[i]));
    }
    und_poisson_set(p->poisson, p->kind, p->weight);
    und_poisson_report report = und_poisson_solve(p->poisson, p->b, p->x, relative * largest, 100);
    assert_true(report.converged);
    assert_true(report.residual < relative * largest);
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        double expected = p->kind[i] == UND_POISSON_UNKNOWN ? chosen[i] : 0.5;
        assert_double_near(p->x[i], expected, tolerance);
        if (p->kind[i] == UND_POISSON_UNKNOWN)
            assert_true(fabs(defect(p, i, p->x)) < 1.01 * relative * largest + 1e-13 * largest);
    }
    free(chosen);
}

/* Liquid below an uneven surface, around a pillar and a sill; air above it, walls around. */
static void fill_tank(problem *p)
{
    const int *n = p->mac.n;
    EACH_CELL(&p->mac, x, y, z)
    {
        double u = (x + 0.5) / n[0], v = (y + 0.5) / n[1], w = (z + 0.5) / n[2];
        double surface = 0.5 + 0.12 * sin(9 * u) * cos(7 * w) + 0.05 * sin(31 * u + 17 * w);
        bool solid = hypot(u - 0.3, w - 0.4) < 0.1 || (fabs(u - 0.6) < 0.03 && v < 0.25);
        p->kind[und_mac_at(&p->mac, x, y, z)] = solid         ? UND_POISSON_CLOSED
                                                : v > surface ? UND_POISSON_KNOWN
                                                              : UND_POISSON_UNKNOWN;
    }
}

static void test_chosen(void **state)
{
    static const int sizes[][3] = {{1, 1, 1}, {5, 3, 2}, {40, 12, 40}, {33, 47, 1}, {70, 20, 9}, {1, 40, 1}};
    static const double d[][3] = {{1, 1, 1}, {0.1, 0.025, 0.1}, {0.02, 0.1, 0.07}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof d / sizeof *d; k++) {
            problem p = make(sizes[i][0], sizes[i][1], sizes[i][2], d[k], 2);
            fill_tank(&p);
            p.kind[und_mac_at(&p.mac, 0, sizes[i][1], 0)] = UND_POISSON_KNOWN; /* beside the domain */
            solve_chosen(&p, 1e-13, 1e-10);
            drop(&p);
        }
}

/* Gauss with pivots; equations without a pivot are of a part that touches no known cell, and the last cell of
 * it is set to 0. */
static void solve_direct(double *a, double *x, int n)
{
    for (int k = 0; k < n; k++) {
        double pivot = a[k * n + k];
        if (fabs(pivot) < 1e-9) {
            x[k] = 0;
            for (int i = 0; i < n; i++)
                a[k * n + i] = a[i * n + k] = i == k;
            continue;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / pivot;
            for (int j = k; j < n && factor != 0; j++)
                a[i * n + j] -= factor * a[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
}

/* Part of each unknown cell, by flooding; open[part]: it touches a known cell. */
static int find_parts(const problem *p, int *part, bool *open)
{
    size_t *stack = malloc(p->mac.count * sizeof *stack), depth;
    int parts = 0;
    assert_non_null(stack);
    for (size_t i = 0; i < p->mac.count; i++)
        part[i] = -1;
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        if (p->kind[i] != UND_POISSON_UNKNOWN || part[i] >= 0)
            continue;
        open[parts] = false;
        part[i] = parts;
        stack[0] = i;
        for (depth = 1; depth > 0;) {
            size_t at = stack[--depth];
            for (int side = 0; side < 6; side++) {
                size_t n = at + (size_t)(side % 2 ? p->mac.step[side / 2] : -p->mac.step[side / 2]);
                open[parts] |= p->kind[n] == UND_POISSON_KNOWN;
                if (p->kind[n] == UND_POISSON_UNKNOWN && part[n] < 0) {
                    part[n] = parts;
                    stack[depth++] = n;
                }
            }
        }
        parts++;
    }
    free(stack);
    return parts;
}

/* Takes the mean out of v in each closed part. */
static void take_means(const problem *p, const int *part, const bool *open, int parts, double *v)
{
    for (int k = 0; k < parts; k++) {
        double sum = 0, cells = 0;
        for (size_t i = 0; i < p->mac.count; i++)
            if (part[i] == k) {
                sum += v[i];
                cells++;
            }
        for (size_t i = 0; i < p->mac.count; i++)
            if (part[i] == k && !open[k])
                v[i] -= sum / cells;
    }
}

static double *direct_answer(const problem *p)
{
    int *part = malloc(p->mac.count * sizeof *part), *number = calloc(p->mac.count, sizeof *number), n = 0;
    bool *open = malloc(p->mac.count);
    double *answer = malloc(p->mac.count * sizeof *answer);
    assert_true(part && open && number && answer);
    int parts = find_parts(p, part, open);
    memcpy(answer, p->b, p->mac.count * sizeof *answer);
    take_means(p, part, open, parts, answer);
    for (size_t i = 0; i < p->mac.count; i++)
        number[i] = part[i] >= 0 ? n++ : -1;
    double *a = calloc((size_t)n * (size_t)n + 1, sizeof *a), *x = calloc((size_t)n + 1, sizeof *x);
    assert_true(a && x);
    for (size_t i = 0; i < p->mac.count; i++) {
        int k = number[i];
        if (k < 0)
            continue;
        x[k] = answer[i];
        for (int side = 0; side < 6; side++) {
            size_t next = i + (size_t)(side % 2 ? p->mac.step[side / 2] : -p->mac.step[side / 2]);
            if (p->kind[next] == UND_POISSON_CLOSED)
                continue;
            a[k * n + k] += p->weight[side / 2];
            if (number[next] >= 0)
                a[k * n + number[next]] -= p->weight[side / 2];
        }
    }
    solve_direct(a, x, n);
    for (size_t i = 0; i < p->mac.count; i++)
        answer[i] = number[i] >= 0 ? x[number[i]] : 0;
    take_means(p, part, open, parts, answer);
    free(part);
    free(open);
    free(number);
    free(a);
    free(x);
    return answer;
}

static void compare_with_direct(problem *p, double tolerance)
{
    double largest = 0;
    double *answer = direct_answer(p);
    for (size_t i = 0; i < p->mac.count; i++)
        largest = fmax(largest, fabs(p->b[i]));
    memset(p->x, 0, p->mac.count * sizeof *p->x);
    und_poisson_set(p->poisson, p->kind, p->weight);
    und_poisson_report report = und_poisson_solve(p->poisson, p->b, p->x, 1e-13 * largest, 300);
    assert_true(report.converged || report.residual < 1e-12 * largest);
    for (size_t i = 0; i < p->mac.count; i++)
        assert_double_near(p->x[i], answer[i], tolerance);
    free(answer);
}

/* The maps follow each other on one system, so that what one leaves must not be seen by the next. */
static void test_random_maps(void **state)
{
    static const int sizes[][3] = {{7, 6, 5}, {19, 13, 1}, {37, 2, 3}, {4, 9, 6}, {3, 1, 70}};
    static const double d[][3] = {{1, 1, 1}, {1, 0.25, 1}, {0.3, 1, 0.5}};
    static const double closed[] = {0.1, 0.35, 0.6, 0.2}, known[] = {0.05, 0.1, 0.02, 0};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof d / sizeof *d; k++) {
            problem p = make(sizes[s][0], sizes[s][1], sizes[s][2], d[k], 2);
            for (uint64_t map = 0; map < 8; map++) {
                for (int z = -1; z <= p.mac.n[2]; z++)
                    for (int y = -1; y <= p.mac.n[1]; y++)
                        for (int x = -1; x <= p.mac.n[0]; x++) {
                            size_t i = und_mac_at(&p.mac, x, y, z);
                            double c = chance(100 * s + 10 * k + map, i);
                            bool beside = x < 0 || y < 0 || z < 0 || x == p.mac.n[0] || y == p.mac.n[1] ||
                                          z == p.mac.n[2];
                            p.kind[i] = c < known[map % 4] ? UND_POISSON_KNOWN
                                        : beside || c < known[map % 4] + closed[map % 4]
                                            ? UND_POISSON_CLOSED
                                            : UND_POISSON_UNKNOWN;
                            p.b[i] = p.kind[i] == UND_POISSON_UNKNOWN ? chance(1000 + map, i) - 0.3 : 0;
                        }
                compare_with_direct(&p, 1e-9);
            }
            drop(&p);
        }
}

static void fill_box(problem *p, int x0, int x1, uint8_t kind, double value)
{
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        if (x < x0 || x >= x1)
            continue;
        p->kind[i] = kind;
        p->b[i] = kind == UND_POISSON_UNKNOWN ? value + sin(x + 2 * y + 3 * z) : 0;
    }
}

static void test_closed_parts(void **state)
{
    static const double d[3] = {1, 1, 1};
    (void)state;
    problem p = make(21, 6, 4, d, 2);
    fill_box(&p, 0, 21, UND_POISSON_UNKNOWN, 3); /* one */
    compare_with_direct(&p, 1e-10);
    fill_box(&p, 9, 10, UND_POISSON_CLOSED, 0); /* two, their means differ */
    fill_box(&p, 10, 21, UND_POISSON_UNKNOWN, -5);
    compare_with_direct(&p, 1e-10);
    p.kind[und_mac_at(&p.mac, 15, 5, 2)] = UND_POISSON_KNOWN; /* the second one open */
    p.b[und_mac_at(&p.mac, 15, 5, 2)] = 0;
    compare_with_direct(&p, 1e-9);
    fill_box(&p, 0, 21, UND_POISSON_CLOSED, 0); /* pockets of a cell or two: 0 where no side is open */
    for (int i = 0; i < 3; i++) {
        size_t at = und_mac_at(&p.mac, 5 * i + 1, 2, 1);
        p.kind[at] = UND_POISSON_UNKNOWN;
        p.b[at] = 2 + i;
    }
    p.kind[und_mac_at(&p.mac, 12, 2, 1)] = UND_POISSON_UNKNOWN;
    compare_with_direct(&p, 1e-12);
    assert_double_near(p.x[und_mac_at(&p.mac, 1, 2, 1)], 0, 0);
    assert_double_near(p.x[und_mac_at(&p.mac, 11, 2, 1)], 1, 1e-12); /* 4 and 0: x = 1 and -1 */
    drop(&p);
}

static void test_nothing_unknown(void **state)
{
    static const double d[3] = {1, 1, 1};
    (void)state;
    problem p = make(9, 4, 3, d, 2);
    und_poisson_set(p.poisson, p.kind, p.weight);
    p.x[und_mac_at(&p.mac, 2, 2, 2)] = 4;
    und_poisson_report report = und_poisson_solve(p.poisson, p.b, p.x, 1e-9, 10);
    assert_true(report.converged);
    assert_int_equal(report.iterations, 0);
    assert_double_near(p.x[und_mac_at(&p.mac, 2, 2, 2)], 4, 0);
    drop(&p);
}

/* Numbers that are none end it, and the next solve knows nothing of them. */
static void test_not_a_number(void **state)
{
    static const double d[3] = {1, 1, 1}, bad[] = {NAN, INFINITY};
    (void)state;
    for (int i = 0; i < 2; i++) {
        problem p = make(20, 12, 7, d, 2);
        fill_tank(&p);
        und_poisson_set(p.poisson, p.kind, p.weight);
        p.b[und_mac_at(&p.mac, 5, 2, 3)] = bad[i];
        und_poisson_report report = und_poisson_solve(p.poisson, p.b, p.x, 1e-9, 10);
        assert_false(report.converged);
        assert_true(report.iterations <= 10);
        solve_chosen(&p, 1e-12, 1e-9);
        drop(&p);
    }
}

static void test_max_iterations(void **state)
{
    static const double d[3] = {1, 1, 1};
    (void)state;
    problem p = make(20, 12, 7, d, 1);
    fill_tank(&p);
    und_poisson_set(p.poisson, p.kind, p.weight);
    for (size_t i = 0; i < p.mac.count; i++)
        p.b[i] = p.kind[i] == UND_POISSON_UNKNOWN;
    und_poisson_report report = und_poisson_solve(p.poisson, p.b, p.x, 0, 3);
    assert_false(report.converged);
    assert_int_equal(report.iterations, 3);
    assert_true(report.residual > 0 && report.residual < 0.1);
    report = und_poisson_solve(p.poisson, p.b, p.x, 0, 1000); /* no answer has residual 0 but by luck */
    assert_true(report.residual < 1e-12);
    drop(&p);
}

static double product(const problem *p, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < p->mac.count; i++)
        sum += p->kind[i] == UND_POISSON_UNKNOWN ? a[i] * b[i] : 0;
    return sum;
}

/* <M u, v> = <u, M v>, and <M u, u> > 0. */
static void test_symmetric(void **state)
{
    static const int sizes[][3] = {{40, 20, 24}, {64, 50, 1}, {17, 9, 33}};
    static const double d[][3] = {{1, 1, 1}, {1, 0.25, 1}};
    (void)state;
    for (int s = 0; s < 6; s++) {
        problem p = make(sizes[s / 2][0], sizes[s / 2][1], sizes[s / 2][2], d[s % 2], 2);
        double *mu = calloc(p.mac.count, sizeof *mu), *mv = calloc(p.mac.count, sizeof *mv);
        assert_true(mu && mv);
        fill_tank(&p);
        und_poisson_set(p.poisson, p.kind, p.weight);
        for (uint64_t i = 0; i < 4; i++) {
            for (size_t k = 0; k < p.mac.count; k++) {
                p.b[k] = chance(2 * i, k) - 0.5;
                p.x[k] = chance(2 * i + 1, k) - (i % 2 ? 0.5 : 0);
            }
            und_poisson_precondition(p.poisson, p.b, mu);
            und_poisson_precondition(p.poisson, p.x, mv);
            double uu = product(&p, mu, p.b), vv = product(&p, mv, p.x);
            assert_true(uu > 0 && vv > 0);
            assert_double_near(product(&p, mu, p.x), product(&p, mv, p.b), 2e-6 * sqrt(uu * vv));
        }
        free(mu);
        free(mv);
        drop(&p);
    }
}

static int iterations_of(int n, int height, int depth, double dy, bool closed)
{
    const double d[3] = {1.0 / n, dy / n, 1.0 / n};
    problem p = make(n, height, depth, d, 2);
    double largest = 0;
    if (closed)
        EACH_CELL(&p.mac, x, y, z) p.kind[und_mac_at(&p.mac, x, y, z)] = UND_POISSON_UNKNOWN;
    else
        fill_tank(&p);
    EACH_CELL(&p.mac, x, y, z)
    {
        size_t i = und_mac_at(&p.mac, x, y, z);
        if (p.kind[i] == UND_POISSON_UNKNOWN)
            p.b[i] = chance(5, i) - 0.5 + sin(3.0 * x / n) * cos(5.0 * z / n) + (double)y / height - 0.5;
        largest = fmax(largest, fabs(p.b[i]));
    }
    und_poisson_set(p.poisson, p.kind, p.weight);
    und_poisson_report report = und_poisson_solve(p.poisson, p.b, p.x, 1e-6 * largest, 100);
    assert_true(report.converged);
    drop(&p);
    return report.iterations;
}

static void assert_flat(int coarse, int fine)
{
    if (fine > 1.5 * coarse || fine > 14)
        fail_msg("%d iterations on the coarser grid, %d on the finer", coarse, fine);
}

static void test_flat_iterations(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        assert_flat(iterations_of(32, 12, 32, 1, closed), iterations_of(128, 48, 128, 1, closed));
        assert_flat(iterations_of(32, 32, 1, 1, closed), iterations_of(256, 256, 1, 1, closed));
        assert_flat(iterations_of(32, 24, 16, 0.25, closed), iterations_of(96, 72, 48, 0.25, closed));
        assert_flat(iterations_of(32, 24, 16, 4, closed), iterations_of(96, 72, 48, 4, closed));
    }
}

static void test_threads(void **state)
{
    static const int threads[] = {1, 2, 7}, sizes[][3] = {{70, 30, 120}, {300, 200, 1}};
    static const double d[3] = {0.1, 0.1, 0.1};
    (void)state;
    for (int s = 0; s < 4; s++) {
        double *first = NULL;
        for (int t = 0; t < 3; t++) {
            problem p = make(sizes[s / 2][0], sizes[s / 2][1], sizes[s / 2][2], d, threads[t]);
            fill_tank(&p);
            for (size_t i = 0; i < p.mac.count; i++) {
                if (s % 2 && p.kind[i] == UND_POISSON_KNOWN)
                    p.kind[i] = UND_POISSON_CLOSED;
                p.b[i] = chance(3, i) - 0.3;
            }
            und_poisson_set(p.poisson, p.kind, p.weight);
            assert_true(und_poisson_solve(p.poisson, p.b, p.x, 1e-9, 60).converged);
            if (t == 0) {
                first = p.x;
                p.x = NULL;
            } else {
                assert_memory_equal(p.x, first, p.mac.count * sizeof *first);
            }
            drop(&p);
        }
        free(first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen),       cmocka_unit_test(test_random_maps),
        cmocka_unit_test(test_closed_parts), cmocka_unit_test(test_nothing_unknown),
        cmocka_unit_test(test_not_a_number), cmocka_unit_test(test_max_iterations),
        cmocka_unit_test(test_symmetric),    cmocka_unit_test(test_flat_iterations),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
