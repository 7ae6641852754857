/* Streams that we pack are unpacked by zlib, byte for byte, and are as small as they should be. */
#include "tests/test.h"

#include "base/random.h"
#include "cache/deflate.h"

#include <zlib.h>

enum { MOST = 1 << 18 };

static size_t packed_size(const unsigned char *from, size_t bytes, size_t planes)
{
    size_t bound = und_deflate_bound(bytes, planes);
    unsigned char *packed = malloc(bound + 1), *back = malloc(bytes + 1);
    assert_true(packed && back);
    packed[bound] = 0x5a;
    size_t size = und_deflate(from, bytes, planes, packed);
    assert_true(size <= bound);
    assert_int_equal(packed[bound], 0x5a);
    uLongf length = bytes + 1;
    assert_int_equal(uncompress(back, &length, packed, size), Z_OK);
    assert_int_equal(length, bytes);
    assert_memory_equal(back, from, bytes);
    free(packed);
    free(back);
    return size;
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static unsigned char data[MOST];
    for (uint64_t trial = 0; trial < test_times(400); trial++) {
        size_t planes = (size_t)1 << und_random_bits(1, 0, trial) % 4;
        size_t bytes = trial % 9 * planes;
        if (trial > 40)
            bytes = (size_t)(und_random(1, 1, trial) * und_random(1, 2, trial) * MOST) / planes * planes;
        /* Runs of a mean length, of a number of values. */
        double mean = pow(600, und_random(1, 3, trial)) - 1, values = pow(256, und_random(1, 4, trial));
        for (size_t i = 0, left = 0, value = 0; i < bytes; i++, left--) {
            if (left == 0) {
                value = (size_t)(values * und_random(trial, 1, i));
                left = 1 + (size_t)(-mean * log(1 - und_random(trial, 2, i)));
            }
            data[i] = (unsigned char)value;
        }
        packed_size(data, bytes, planes);
    }
}

/* Numbers of occurrences as Fibonacci's would get codes of over 15 bits. */
static void codes_are_not_too_long(void **state)
{
    (void)state;
    static unsigned char data[65535];
    size_t at = 0, number = 1, last = 1;
    for (unsigned value = 0; at + number <= sizeof data; value++) {
        for (size_t i = 0; i < number; i++)
            data[at++] = (unsigned char)value;
        size_t next = number + last;
        last = number;
        number = next;
    }
    for (size_t i = at - 1; i > 0; i--) { /* shuffled: no runs */
        size_t other = und_random_bits(3, 0, i) % (i + 1);
        unsigned char taken = data[i];
        data[i] = data[other];
        data[other] = taken;
    }
    assert_true(packed_size(data, at, 1) < at * 3 / 8);
}

static void what_is_simple_gets_small(void **state)
{
    (void)state;
    static unsigned char data[MOST];
    memset(data, 7, sizeof data);
    assert_true(packed_size(data, sizeof data, 4) < 1500);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)und_random_bits(1, 0, i);
    assert_true(packed_size(data, sizeof data, 4) < sizeof data + 64);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] &= 15;
    assert_true(packed_size(data, sizeof data, 4) < sizeof data * 33 / 64); /* of 16 values one has 5 bits */
    /* The bytes of a smooth field of floats: within 1 % of zlib's, which looks for runs over all of them. */
    enum { COUNT = MOST / 4 };
    for (size_t i = 0; i < COUNT; i++) {
        float value = (float)sin(0.001 * (double)i);
        unsigned char byte[4];
        memcpy(byte, &value, sizeof byte);
        for (size_t b = 0; b < 4; b++)
            data[b * COUNT + i] = byte[b];
    }
    static unsigned char to[2 * MOST];
    z_stream zlib = {.next_in = data, .avail_in = sizeof data, .next_out = to, .avail_out = sizeof to};
    assert_int_equal(deflateInit2(&zlib, 1, Z_DEFLATED, 15, 9, Z_RLE), Z_OK);
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    deflateEnd(&zlib);
    assert_true(packed_size(data, sizeof data, 4) < zlib.total_out * 101 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_bytes_come_back),
                                       cmocka_unit_test(codes_are_not_too_long),
                                       cmocka_unit_test(what_is_simple_gets_small)};
    return cmocka_run_group_tests_name("deflate", tests, NULL, NULL);
}
