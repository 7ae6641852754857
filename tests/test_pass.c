/* Kernels at the places of sets. */
#include "grid/reduce.h"
#include "tests/mask_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct count_args {
    float *count;
} count_args;
UND_INLINE void count_cells(const count_args *a, und_place p)
{
    und_lanes_store_some(a->count + p.at, und_lanes_load(a->count + p.at) + 1, p.which);
}
UND_KERNEL(count_cells, count_args, UND_EACH_CELL)
UND_INLINE void count_inside(const count_args *a, und_place p)
{
    count_cells(a, p);
}
UND_KERNEL(count_inside, count_args, UND_EACH_INSIDE)
UND_INLINE void count_axis(const count_args *a, und_place p, int axis)
{
    const und_lanes by = und_lanes_all(axis == 0 ? 1 : axis == 1 ? 10 : 100);
    und_lanes_store_some(a->count + p.at, und_lanes_load(a->count + p.at) + by, p.which);
}
UND_KERNEL_AXES(count_axis, count_args, UND_EACH_CELL)

static const int sizes[][3] = {{5, 4, 3}, {70, 9, 6}, {130, 33, 1}, {16, 40, 40}};

/* Each cell of the mask once, no other at all, with any number of threads. */
static void every_place_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const und_mac mac = make_mac(sizes[i][0], sizes[i][1], sizes[i][2]);
            und_mask mask = random_mask(&mac, 0.4);
            float *count = calloc(mac.count + 64, sizeof *count);
            const und_set all = und_set_cells(&mac, UND_ROWS_ALL, &mask),
                          inside = und_set_rows(&mac, UND_ROWS_INSIDE);
            const und_device device = {.threads = threads};
            const count_args args = {count};
            und_pass(&device, count_cells, &args, &all);
            for (int z = -1; z <= mac.n[2]; z++)
                for (int y = -1; y <= mac.n[1]; y++)
                    for (int x = -1; x <= mac.n[0]; x++)
                        assert_true(count[und_mac_at(&mac, x, y, z)] ==
                                    (und_mask_has(&mask, x, y, z) ? 1 : 0));
            und_pass(&device, count_inside, &args, &inside);
            double sum = 0;
            for (size_t k = 0; k < mac.count; k++)
                sum += (double)count[k];
            assert_true(sum == (double)und_mask_count(&mask) + (double)mac.n[0] * mac.n[1] * mac.n[2]);
            free(count);
            und_mask_close(&mask);
        }
}

enum { LENT = 64, LENT_BLOCKS = 4000 };

typedef struct lent_args {
    int *wrong; /* of each block */
} lent_args;

/* Nobody else writes what is lent while a block is done. */
UND_INLINE void use_lent(const lent_args *a, und_place p)
{
    for (int i = 0; i < LENT; i++)
        p.lent[i] = (float)p.y;
    a->wrong[p.y] = p.x == 2 ? 0 : 1;
    for (int turn = 0; turn < 20; turn++)
        for (int i = 0; i < LENT; i++) {
            a->wrong[p.y] += p.lent[i] != (float)(p.y + turn);
            p.lent[i] += 1;
        }
}
UND_KERNEL(use_lent, lent_args, UND_EACH_BLOCK)

static void scratch_is_lent_to_who_does_a_block(void **state)
{
    (void)state;
    static int wrong[LENT_BLOCKS];
    static float scratch[3 * LENT];
    for (int threads = 1; threads <= 3; threads++) {
        und_set set = und_set_list(wrong, 2 * LENT_BLOCKS, 2, 1000);
        set.lent = scratch;
        set.lent_each = LENT;
        for (int i = 0; i < LENT_BLOCKS; i++)
            wrong[i] = 1;
        und_pass(&(const und_device){.threads = threads}, use_lent, &(const lent_args){wrong}, &set);
        for (int i = 0; i < LENT_BLOCKS; i++)
            assert_int_equal(wrong[i], 0);
    }
}

static void passes_together(void **state)
{
    (void)state;
    const und_mac mac = make_mac(40, 30, 20);
    und_mask mask = random_mask(&mac, 0.5);
    float *count[3];
    count_args args[3];
    und_pass passes[3];
    const und_set set = und_set_cells(&mac, UND_ROWS_FACES, &mask);
    for (int a = 0; a < 3; a++) {
        args[a].count = count[a] = calloc(mac.count + 64, sizeof(float));
        passes[a] = UND_PASS_AXIS(count_axis, a, &args[a], &set);
    }
    und_pass_run(&(und_device){.threads = 4}, passes, 3);
    for (int z = -1; z < mac.n[2]; z++)
        for (int y = -1; y < mac.n[1]; y++)
            for (int x = -1; x < mac.n[0]; x++)
                for (int a = 0; a < 3; a++)
                    assert_true(count[a][und_mac_at(&mac, x, y, z)] == (und_mask_has(&mask, x, y, z)
                                                                            ? (a == 0   ? 1
                                                                               : a == 1 ? 10
                                                                                        : 100)
                                                                            : 0));
    for (int a = 0; a < 3; a++)
        free(count[a]);
    und_mask_close(&mask);
}

/* Three passes, each the sum of what the one before has in the slices beside: 1, 3, 9, 27 inside, as if one
 * after the other. */
typedef struct add_args {
    const float *from;
    float *to;
    ptrdiff_t step;
} add_args;
UND_INLINE void add_slices(const add_args *a, und_place p)
{
    const float *v = a->from + p.at;
    und_lanes_store_some(
        a->to + p.at, und_lanes_load(v - a->step) + und_lanes_load(v) + und_lanes_load(v + a->step), p.which);
}
UND_KERNEL(add_slices, add_args, UND_EACH_INSIDE)

static void slices_follow_each_other(void **state)
{
    const float expected[] = {1, 3, 9, 27};
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        const und_mac mac = make_mac(8, 4, 96);
        float *field[4];
        add_args args[3];
        und_pass passes[3];
        const und_set slices = und_set_slices(&mac, UND_ROWS_INSIDE);
        for (int i = 0; i < 4; i++)
            field[i] = calloc(mac.count + 64, sizeof(float));
        for (size_t k = 0; k < mac.count; k++)
            field[0][k] = 1;
        for (int i = 0; i < 3; i++) {
            args[i] = (add_args){field[i], field[i + 1], mac.step[2]};
            passes[i] = UND_PASS(add_slices, &args[i], &slices);
        }
        und_pass_chain(&(und_device){.threads = threads}, passes, 3);
        assert_int_equal(slices.blocks, 96);
        for (int z = 3; z < 93; z++)
            for (int i = 0; i < 4; i++)
                assert_true(field[i][und_mac_at(&mac, 5, 2, z)] == expected[i]);
        for (int i = 0; i < 4; i++)
            free(field[i]);
    }
}

/* Steps see all that those before them did, and behind the one that stops them nothing is done. */
typedef struct total_args {
    float *field, *total;
    size_t count;
    bool *stop;
} total_args;
static void add_up(const void *args, const und_set *set, int block)
{
    const total_args *a = args;
    (void)set, (void)block;
    *a->total = 0;
    for (size_t k = 0; k < a->count; k++)
        *a->total += a->field[k];
    *a->stop = *a->total > 1e4f;
}
UND_INLINE void add_one(const total_args *a, und_place p)
{
    und_lanes_store_some(a->field + p.at, und_lanes_load(a->field + p.at) + 1, p.which);
}
UND_KERNEL(add_one, total_args, UND_EACH_INSIDE)

static void steps_follow_each_other(void **state)
{
    (void)state;
    enum { STEPS = 12 };
    static const und_kernel add_up_kernel = {.name = "add_up", .block = add_up};
    const und_mac mac = make_mac(16, 8, 32);
    const und_set rows = und_set_rows(&mac, UND_ROWS_INSIDE), slices = und_set_slices(&mac, UND_ROWS_INSIDE),
                  one = {.blocks = 1};
    und_set many = rows, chained = slices;
    many.worth = chained.worth = 1 << 20; /* to be shared out */
    for (int threads = 1; threads <= 5; threads += 2) {
        float total = 0, *field = calloc(mac.count + 64, sizeof *field);
        bool stop = false;
        const total_args args = {field, &total, mac.count, &stop};
        const und_pass both[2] = {UND_PASS(add_one, &args, &chained), UND_PASS(add_one, &args, &chained)};
        const und_pass once = UND_PASS(add_one, &args, &many), sum = {&add_up_kernel, &args, &one};
        und_step steps[STEPS];
        for (int i = 0; i < STEPS; i += 3) {
            steps[i] = (und_step){.passes = &once, .count = 1, .unless = &stop};
            steps[i + 1] = (und_step){.passes = both, .count = 2, .chain = true, .unless = &stop};
            steps[i + 2] = (und_step){.passes = &sum, .count = 1};
        }
        und_pass_steps(&(und_device){.threads = threads}, steps, STEPS);
        /* 4096 cells gain 3 in the first three steps, which is enough. */
        assert_true(stop && total == 3 * 4096);
        free(field);
    }
}

typedef struct most_args {
    const float *v;
} most_args;
UND_INLINE und_lanes value_of(const most_args *a, und_place p)
{
    return und_lanes_load(a->v + p.at);
}
UND_KERNEL_MOST(value_of, most_args, UND_EACH_CELL)

static void the_most_of_a_set(void **state)
{
    (void)state;
    const und_mac mac = make_mac(50, 40, 30);
    und_mask mask = random_mask(&mac, 0.1);
    float *v = calloc(mac.count + 64, sizeof *v), most = 0;
    const und_set set = und_set_cells(&mac, UND_ROWS_INSIDE, &mask);
    float *block = calloc((size_t)set.blocks, sizeof *block);
    for (size_t k = 0; k < mac.count; k++)
        v[k] = (float)und_random(3, 0, k);
    for (int z = 0; z < mac.n[2]; z++)
        for (int y = 0; y < mac.n[1]; y++)
            for (int x = -1; x <= mac.n[0]; x++)
                if (und_mask_has(&mask, x, y, z) && v[und_mac_at(&mac, x, y, z)] > most)
                    most = v[und_mac_at(&mac, x, y, z)];
    assert_true(und_pass_most(&(und_device){.threads = 3}, &UND_PASS(value_of, &(most_args){v}, &set), 1,
                              block) == most);
    free(block);
    free(v);
    und_mask_close(&mask);
}

/* Sums: numbers that cannot be added without rounding, so that another order has other bits. */
typedef struct weigh_args {
    const float *value;
} weigh_args;
UND_INLINE und_totals weigh(const weigh_args *a, und_place p)
{
    const und_doubles v = und_doubles_of(und_doubles_floats_load(a->value + p.at));
    return (und_totals){v * v * v, und_doubles_abs(v)};
}
UND_KERNEL_SUM(weigh, weigh_args)
UND_INLINE und_totals weigh_axis(const weigh_args *a, und_place p, int axis)
{
    und_totals t = weigh(a, p);
    t.sum *= axis == 0 ? 1 : axis == 1 ? 0.5 : 0.25;
    return t;
}
UND_KERNEL_SUM_AXES(weigh_axis, weigh_args)

static double whole_value(const int cell[3])
{
    const uint64_t at = (uint64_t)(cell[0] + 1000 * (cell[1] + 1000 * cell[2]));
    const double v = und_random(3, 1, at) - 0.3;
    return und_random(3, 2, at) < 0.5 ? (double)(float)v : 0;
}

/* By recursion, as it is said: `count` numbers from `first` on, a power of two; along axis 2, 1, then chunks,
 * then the cells of one, whose halves are 8, 4, 2 and 1 apart. */
static double value_at(const int n[3], int x, int y, int z)
{
    const int cell[3] = {x - 1, y - 1, z - 1};
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= n[a])
            return 0;
    const double v = whole_value(cell);
    return v * v * v;
}
static double chunk_at(const int n[3], int x, int apart, int y, int z)
{
    return apart == UND_SUM_CHUNK ? value_at(n, x, y, z)
                                  : chunk_at(n, x, 2 * apart, y, z) + chunk_at(n, x + apart, 2 * apart, y, z);
}
static double row_of(const int n[3], int first, int count, int y, int z)
{
    return count == 1 ? chunk_at(n, UND_SUM_CHUNK * first, 1, y, z)
                      : row_of(n, first, count / 2, y, z) + row_of(n, first + count / 2, count / 2, y, z);
}
static double slice_of(const int n[3], int first, int count, int z)
{
    return count == 1 ? row_of(n, 0, 16, first, z)
                      : slice_of(n, first, count / 2, z) + slice_of(n, first + count / 2, count / 2, z);
}
static double grid_of(const int n[3], int first, int count)
{
    return count == 1 ? slice_of(n, 0, 64, first)
                      : grid_of(n, first, count / 2) + grid_of(n, first + count / 2, count / 2);
}

static double fill_values(const und_mac *m, float *value, und_mask *mask)
{
    double most = 0;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                const double v = whole_value((const int[]){m->low[0] + x, m->low[1] + y, m->low[2] + z});
                value[und_mac_at(m, x, y, z)] = (float)v;
                most = v > most ? v : -v > most ? -v : most;
                if (v != 0)
                    und_mask_add(mask, x, y, z);
            }
    return most;
}

/* Whole rows or cells of a mask; several sets are added up. */
static void sums_are_one_tree(void **state)
{
    const int n[3] = {77, 41, 23};
    const und_mac m = make_mac(n[0], n[1], n[2]);
    const double expected = grid_of(n, 0, 32);
    und_mask mask = make_mask(&m);
    float *value = calloc(m.count + 64, sizeof *value);
    und_total *row = calloc(8192, sizeof *row);
    const double most = fill_values(&m, value, &mask);
    const weigh_args args = {value};
    double plain = 0;
    (void)state;
    for (size_t k = 0; k < m.count; k++)
        plain += pow((double)value[k], 3);
    assert_double_near(plain, expected, 1e-9 * fabs(expected));
    assert_true(plain != expected);
    for (int threads = 1; threads <= 3; threads++) {
        const und_device device = {.threads = threads};
        const und_set rows = und_set_rows(&m, UND_ROWS_INSIDE),
                      cells = und_set_cells(&m, UND_ROWS_ALL, &mask);
        const und_total all = und_reduce(&device, &UND_PASS(weigh, &args, &rows), 1, row);
        const und_total some = und_reduce(&device, &UND_PASS(weigh, &args, &cells), 1, row);
        assert_true(all.sum == expected && some.sum == expected);
        assert_true(all.most == most && some.most == most);
        const und_pass passes[] = {UND_PASS_AXIS(weigh_axis, 0, &args, &rows),
                                   UND_PASS_AXIS(weigh_axis, 1, &args, &cells),
                                   UND_PASS_AXIS(weigh_axis, 2, &args, &rows)};
        assert_true(und_reduce(&device, passes, 3, row).sum == expected + 0.5 * expected + 0.25 * expected);
    }
    value[und_mac_at(&m, 40, 20, 10)] = NAN;
    const und_set rows = und_set_rows(&m, UND_ROWS_INSIDE);
    assert_true(isnan(und_reduce(&(und_device){.threads = 1}, &UND_PASS(weigh, &args, &rows), 1, row).most));
    free(value);
    free(row);
    und_mask_close(&mask);
}

/* The same of a window that has all that is not 0, wherever it begins. */
static void sums_do_not_know_of_windows(void **state)
{
    const int n[3] = {90, 50, 40};
    const und_mac whole = make_mac(n[0], n[1], n[2]);
    double first = 0;
    (void)state;
    for (int k = 0; k < 20; k++) {
        const int low[3] = {k, k / 2, k / 3}, size[3] = {60 + k % 7, 33 + k % 3, 25 + k % 4};
        const und_mac m = und_mac_window(&whole, low, size);
        float *value = calloc(m.count + 64, sizeof *value);
        und_total *row = calloc(8192, sizeof *row);
        for (int z = 10; z < 25; z++)
            for (int y = 12; y < 33; y++)
                for (int x = 21; x < 58; x++)
                    value[und_mac_at(&m, x - low[0], y - low[1], z - low[2])] =
                        (float)whole_value((const int[]){x, y, z});
        const weigh_args args = {value};
        const und_set rows = und_set_rows(&m, UND_ROWS_INSIDE);
        const double sum =
            und_reduce(&(und_device){.threads = 2}, &UND_PASS(weigh, &args, &rows), 1, row).sum;
        first = k == 0 ? sum : first;
        assert_true(sum == first);
        free(value);
        free(row);
    }
}

/* ---- Spans ---- */

typedef struct span_args {
    double *count;
    const double *value;
} span_args;
UND_INLINE void count_span(const span_args *a, und_place p)
{
    und_doubles_store_some(a->count + p.at, und_doubles_load(a->count + p.at) + 1, p.which);
}
UND_KERNEL(count_span, span_args, UND_EACH_SPAN)
UND_INLINE und_doubles largest_of_span(const span_args *a, und_place p)
{
    return und_doubles_load(a->value + p.at);
}
UND_KERNEL_LARGEST(largest_of_span, span_args)

/* Each cell from one end of its row's span to before the other once, and no other; and the most of those
 * alone, or no number where one is none. */
static void spans(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const und_mac mac = make_mac(sizes[i][0], sizes[i][1], sizes[i][2]);
        const int rows = und_mac_rows(&mac);
        const size_t all = (size_t)rows;
        int32_t *from = calloc(all, sizeof *from), *to = calloc(all, sizeof *to);
        double *count = calloc(mac.count, sizeof *count), *value = calloc(mac.count, sizeof *value);
        und_total *row = calloc(all, sizeof *row);
        const span_args args = {count, value};
        double most = 0;
        size_t one = 0;
        for (size_t k = 0; k < mac.count; k++)
            value[k] = 1e9; /* outside */
        for (int k = 0; k < rows; k++) {
            from[k] = 7 * k % mac.n[0];
            to[k] = from[k] + 5 * k % (mac.n[0] - from[k] + 1);
            for (int x = from[k]; x < to[k]; x++) {
                one = und_mac_row(&mac, k) + (size_t)x;
                value[one] = (double)(k * 37 % 101) + 0.5 * x;
                most = fmax(most, value[one]);
            }
        }
        for (int threads = 1; threads <= 3; threads += 2) {
            const und_device device = {.threads = threads};
            const und_set set = und_set_spans(&mac, from, to, (size_t)1 << 20);
            memset(count, 0, mac.count * sizeof *count);
            und_pass(&device, count_span, &args, &set);
            double sum = 0;
            for (int k = 0; k < rows; k++)
                for (int x = from[k]; x < to[k]; x++)
                    sum += count[und_mac_row(&mac, k) + (size_t)x] == 1 ? 1 : NAN;
            for (size_t k = 0; k < mac.count; k++)
                sum -= count[k];
            assert_true(sum == 0);
            assert_true(und_largest(&device, &UND_PASS(largest_of_span, &args, &set), 1, row) == most);
            const double was = value[one];
            value[one] = NAN;
            assert_true(isnan(und_largest(&device, &UND_PASS(largest_of_span, &args, &set), 1, row)));
            value[one] = was;
        }
        free(from);
        free(to);
        free(count);
        free(value);
        free(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_once),
        cmocka_unit_test(sums_are_one_tree),
        cmocka_unit_test(sums_do_not_know_of_windows),
        cmocka_unit_test(scratch_is_lent_to_who_does_a_block),
        cmocka_unit_test(passes_together),
        cmocka_unit_test(slices_follow_each_other),
        cmocka_unit_test(steps_follow_each_other),
        cmocka_unit_test(the_most_of_a_set),
        cmocka_unit_test(spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
