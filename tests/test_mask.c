/* Sets of cells as bits. */
#include "grid/mask_grow_kernel.h"
#include "tests/mask_model.h"

#include <stdlib.h>
#include <string.h>

static bool has(const und_mask *m, int x, int y, int z)
{
    bool inside = x >= -1 && y >= -1 && z >= -1 && x <= m->n[0] && y <= m->n[1] && z <= m->n[2];
    return inside && und_mask_has(m, x, y, z);
}

static void check_grow(int nx, double share, int threads)
{
    und_mac mac = make_mac(nx, 5, 4);
    und_mask in = random_mask(&mac, share), out = make_mask(&mac);
    const und_set rows = und_set_rows(&mac, UND_ROWS_ALL);
    const und_device device = {.threads = threads};
    const und_grow_args args = {in, out};
    und_pass(&device, und_grow_row, &args, &rows);
    long count = 0;
    for (int z = -1; z <= 4; z++)
        for (int y = -1; y <= 5; y++)
            for (int x = -1; x <= nx; x++) {
                bool expected = has(&in, x, y, z) || has(&in, x - 1, y, z) || has(&in, x + 1, y, z) ||
                                has(&in, x, y - 1, z) || has(&in, x, y + 1, z) || has(&in, x, y, z - 1) ||
                                has(&in, x, y, z + 1);
                assert_int_equal(und_mask_has(&out, x, y, z), expected);
                count += expected;
            }
    assert_int_equal(und_mask_count(&out), count);
    und_mask_close(&in);
    und_mask_close(&out);
}

static void grows_by_neighbours(void **state)
{
    (void)state;
    for (int nx = 1; nx < 140; nx += 13)
        check_grow(nx, 0.05, 1 + nx % 3);
    check_grow(62, 0.2, 2);
    check_grow(63, 0.01, 2);
}

static void lists_and_stretches_agree(void **state)
{
    (void)state;
    und_mac mac = make_mac(150, 3, 2);
    und_mask m = random_mask(&mac, 0.6);
    int32_t list[152], slices[4];
    long total = 0;
    for (int z = -1; z <= 2; z++)
        for (int y = -1; y <= 3; y++) {
            int count = und_mask_list(&m, y, z, list), i = 0, begin, end = -1;
            while (und_mask_stretch(&m, y, z, end, &begin, &end))
                for (int x = begin; x < end; x++)
                    assert_int_equal(list[i++], x);
            assert_int_equal(i, count);
            total += count;
        }
    und_mask_count_slices(&m, slices);
    assert_int_equal(slices[0] + slices[1] + slices[2] + slices[3], total);
    assert_int_equal(und_mask_count(&m), total);
    und_mask_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grows_by_neighbours),
                                       cmocka_unit_test(lists_and_stretches_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
