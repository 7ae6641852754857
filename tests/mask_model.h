/* Grids and masks of them for tests. */
#ifndef UND_TESTS_MASK_MODEL_H
#define UND_TESTS_MASK_MODEL_H

#include "base/random.h"
#include "grid/mask.h"
#include "tests/test.h"

static inline und_mac make_mac(int x, int y, int z)
{
    return und_mac_make((int[]){x, y, z}, (double[]){1, 1, 1}, (double[]){0, 0, 0});
}

static inline und_mask make_mask(const und_mac *mac)
{
    und_error err;
    und_mask m;
    assert_int_equal(und_mask_open(&m, mac, "a mask", &err), UND_OK);
    return m;
}

static inline und_mask random_mask(const und_mac *mac, double share)
{
    und_mask m = make_mask(mac);
    uint64_t i = 0;
    for (int z = -1; z <= m.n[2]; z++)
        for (int y = -1; y <= m.n[1]; y++)
            for (int x = -1; x <= m.n[0]; x++)
                if (und_random(7, 0, i++) < share)
                    und_mask_add(&m, x, y, z);
    return m;
}

#endif
