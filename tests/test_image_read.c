/* Pictures brighter than white: EXR and Radiance's, whole and damaged. */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/file.h"
#include "base/random.h"
#include "io/image_read.h"

static int setup(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    und_image image, back;
    assert_int_equal(und_image_create(&image, 37, 21, NULL), UND_OK);
    for (size_t i = 0; i < 3 * 37 * 21; i++)
        image.rgb[i] = (float)(int)(1000 * und_random(1, 2, i)) / 8; /* halves hold it exactly */
    const char *path = test_path(&folder, "sky.exr");
    assert_int_equal(und_exr_write(path, &image, NULL), UND_OK);
    assert_int_equal(und_image_read(path, &back, NULL), UND_OK);
    assert_true(back.width == 37 && back.height == 21);
    assert_memory_equal(back.rgb, image.rgb, 3 * 37 * 21 * sizeof(float));
    und_image_destroy(&back);
    path = test_path(&folder, "sky.png");
    assert_int_equal(und_png_write(path, &image, 1, NULL), UND_OK);
    assert_int_equal(und_image_read(path, &back, NULL), UND_OK);
    assert_true(back.width == 37 && back.rgb[0] <= 1);
    und_image_destroy(&back);
    und_image_destroy(&image);
}

/* A map of whole floats is exact, below 0 and above 1; what is cut short is an error. */
static void maps_are_exact(void **state)
{
    (void)state;
    enum { WIDE = 40, HIGH = 33 };
    float map[WIDE * HIGH], *back = NULL;
    for (int i = 0; i < WIDE * HIGH; i++)
        map[i] = (float)(2000 * und_random(3, 4, (uint64_t)i) - 1000);
    const char *path = test_path(&folder, "map.exr");
    und_exr_channel channel = {.name = "Y", .data = map, .stride = 1, .whole = true};
    int width, height;
    und_error err;
    assert_int_equal(und_exr_write_channels(path, WIDE, HIGH, &channel, 1, &err), UND_OK);
    assert_int_equal(und_map_read(path, &width, &height, &back, &err), UND_OK);
    assert_true(width == WIDE && height == HIGH);
    assert_memory_equal(back, map, sizeof map);
    free(back);
    char *data;
    size_t bytes;
    assert_int_equal(und_file_read(path, 1 << 20, &data, &bytes, &err), UND_OK);
    for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 40) {
        assert_int_equal(und_file_write(path, data, cut, &err), UND_OK);
        assert_int_not_equal(und_map_read(path, &width, &height, &back, &err), UND_OK);
    }
    free(data);
}

/* 16 x 2 pixels: a row of runs (red 1, green from 0 to 1, blue 0, all times 4), a row of pixels with a
 * repeated one. */
static size_t make_hdr(char *data)
{
    size_t n = (size_t)sprintf(data, "#?RADIANCE\n# made by hand\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 16\n");
    unsigned char *p = (unsigned char *)data;
    const unsigned char start[] = {2, 2, 0, 16, 128 + 16, 128, 16};
    memcpy(p + n, start, sizeof start);
    n += sizeof start;
    for (int i = 0; i < 16; i++)
        p[n++] = (unsigned char)(8 * i);
    const unsigned char rest[] = {128 + 16, 0, 128 + 10, 131, 6, 131, 131, 131, 131, 131, 131,
                                  /* the second row */
                                  128, 64, 32, 129, 1, 1, 1, 14, 0, 0, 0, 0};
    memcpy(p + n, rest, sizeof rest);
    return n + sizeof rest;
}

static void radiance_is_read(void **state)
{
    (void)state;
    char data[512];
    const char *wrong;
    und_image image = {0};
    size_t bytes = make_hdr(data);
    assert_int_equal(und_hdr_decode(data, bytes, &image, &wrong), UND_OK);
    assert_true(image.width == 16 && image.height == 2);
    for (int x = 0; x < 16; x++) {
        assert_true(image.rgb[3 * x] == 4 && image.rgb[3 * x + 1] == (float)x / 4 &&
                    image.rgb[3 * x + 2] == 0);
        const float *low = image.rgb + 3 * (16 + x);
        assert_true(x == 15 ? low[0] == 0 : low[0] == 1 && low[1] == 0.5f && low[2] == 0.25f);
    }
    und_image_destroy(&image);
    static const struct {
        const char *text, *wrong;
    } bad[] = {
        {"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 2 +X 2\n", "expected 32-bit_rle_rgbe"},
        {"#?RADIANCE\n\n+Y 2 +X 2\n    ", "expected rows from the top"},
        {"#?RADIANCE\n\n-Y 2 +X -2\n    ", "expected rows from the top"},
        {"#?RADIANCE\n\n-Y 20000 +X 2\n   ", "larger than 16384"},
        {"#?RADIANCE\n\n-Y 9000 +X 9000\n  ", "cut short"},
        {"#?RADIANCE\n", "cut short"},
        {"#?RADIANCE\n\n-Y 2 +X 2\nabc", "cut short"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(und_hdr_decode(bad[i].text, strlen(bad[i].text), &image, &wrong), UND_FAILED);
        if (!strstr(wrong, bad[i].wrong))
            fail_msg("%s gives \"%s\", not \"%s\"", bad[i].text, wrong, bad[i].wrong);
        und_image_destroy(&image);
    }
}

typedef und_status decode_fn(const char *data, size_t bytes, und_image *image, const char **wrong);

/* Bits turned, runs of noise, ends cut off: an error with a text or a picture of finite size. */
static int damage(const char *data, size_t bytes, decode_fn *decode, uint64_t times)
{
    int refused = 0;
    for (uint64_t seed = 0; seed < times; seed++) {
        size_t at = und_random_bits(1, 1, seed) % bytes, run = 1 + und_random_bits(1, 2, seed) % 12;
        size_t kind = und_random_bits(1, 3, seed) % 3, length = kind == 0 ? at : bytes;
        char *mutant = malloc(length + 1); /* so that a sanitizer sees what is read past its end */
        assert_non_null(mutant);
        memcpy(mutant, data, length);
        for (size_t i = at; i < at + run && i < length; i++)
            mutant[i] = kind == 1 ? (char)(mutant[i] ^ 1 << (seed % 8)) : (char)und_random_bits(seed, 4, i);
        char *exact = realloc(mutant, length > 0 ? length : 1);
        const char *wrong = NULL;
        und_image image = {0};
        if (decode(exact, length, &image, &wrong) != UND_OK) {
            assert_non_null(wrong);
            refused++;
        } else
            assert_true(image.width > 0 && image.height > 0 && image.rgb);
        und_image_destroy(&image);
        free(exact);
    }
    return refused;
}

static void damaged_pictures(void **state)
{
    (void)state;
    char data[512], *file;
    size_t bytes = make_hdr(data);
    assert_true(damage(data, bytes, und_hdr_decode, 20000) > 5000);
    und_image image;
    assert_int_equal(und_image_create(&image, 40, 33, NULL), UND_OK);
    for (size_t i = 0; i < 3 * 40 * 33; i++)
        image.rgb[i] = (float)und_random(1, 1, i / 5);
    const char *path = test_path(&folder, "damaged.exr");
    assert_int_equal(und_exr_write(path, &image, NULL), UND_OK);
    und_image_destroy(&image);
    assert_int_equal(und_file_read(path, 1 << 20, &file, &bytes, NULL), UND_OK);
    assert_true(damage(file, bytes, und_exr_decode, 4000) > 1000);
    free(file);
}

static void errors_name_the_file(void **state)
{
    (void)state;
    und_image image;
    und_error err = {0};
    const char *path = test_path(&folder, "short.hdr");
    assert_int_equal(und_file_write(path, "#?RADIANCE\n", 11, NULL), UND_OK);
    assert_int_equal(und_image_read(path, &image, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "short.hdr: the file is cut short"));
    assert_null(image.rgb);
    assert_int_equal(und_image_read(test_path(&folder, "none.exr"), &image, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "none.exr"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_is_read),
                                       cmocka_unit_test(maps_are_exact), cmocka_unit_test(radiance_is_read),
                                       cmocka_unit_test(damaged_pictures),
                                       cmocka_unit_test(errors_name_the_file)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
