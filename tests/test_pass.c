/* Kernels at the places of sets. */
#include "grid/pass.h"
#include "tests/mask_model.h"

#include <stdlib.h>

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
            const und_device device = {threads};
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
    und_pass_run(&(und_device){4}, passes, 3);
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
        und_pass_chain(&(und_device){threads}, passes, 3);
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
    static const und_kernel add_up_kernel = {"add_up", add_up};
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
        und_pass_steps(&(und_device){threads}, steps, STEPS);
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
    assert_true(und_pass_most(&(und_device){3}, &UND_PASS(value_of, &(most_args){v}, &set), 1, block) ==
                most);
    free(block);
    free(v);
    und_mask_close(&mask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_once),         cmocka_unit_test(passes_together),
        cmocka_unit_test(slices_follow_each_other), cmocka_unit_test(steps_follow_each_other),
        cmocka_unit_test(the_most_of_a_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
