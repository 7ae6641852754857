/* Pictures brighter than white: EXR and Radiance's, whole and damaged. */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/file.h"
#include "base/random.h"
#include "io/image_read.h"

#include <openexr.h>

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

/* Small pictures with any channels, written with the library itself. */
enum { NAMES = 9, TYPES = 4 /* the last: one of each */, WIDE = 21, HIGH = 18 };
static const char *const exr_names[NAMES] = {"A", "B", "BY", "G", "R", "RY", "X", "Y", "Z"};

typedef struct exr_kind {
    unsigned names; /* bit k: exr_names[k] */
    int type;
    exr_compression_t compression;
    bool tiled;
} exr_kind;

typedef struct bytes_out {
    char data[1 << 16];
    size_t used;
} bytes_out;

static int64_t put_bytes(exr_const_context_t context, void *user, const void *data, uint64_t bytes,
                         uint64_t offset, exr_stream_error_func_ptr_t report)
{
    (void)context;
    (void)report;
    bytes_out *out = user;
    if (offset + bytes > sizeof out->data)
        return -1;
    memcpy(out->data + offset, data, bytes);
    out->used = offset + bytes > out->used ? offset + bytes : out->used;
    return (int64_t)bytes;
}

static exr_pixel_type_t type_of(const exr_kind *kind, int channel)
{
    return (exr_pixel_type_t)(kind->type < 3 ? kind->type : channel % 3);
}

/* Whole numbers that a half holds. */
static float exr_value(int channel, int x, int y)
{
    return (float)(100 * channel + (7 * x + 3 * y) % 97);
}

static exr_result_t put_chunk(exr_context_t exr, const exr_kind *kind, const exr_chunk_info_t *chunk, int x0,
                              int y0)
{
    static uint32_t sample[NAMES][WIDE * HIGH];
    exr_encode_pipeline_t encoder = EXR_ENCODE_PIPELINE_INITIALIZER;
    exr_result_t rc = exr_encoding_initialize(exr, 0, chunk, &encoder);
    for (int k = 0; k < encoder.channel_count && rc == EXR_ERR_SUCCESS; k++) {
        exr_coding_channel_info_t *c = &encoder.channels[k];
        int name = 0;
        while (strcmp(exr_names[name], c->channel_name) != 0)
            name++;
        const bool whole = type_of(kind, name) == EXR_PIXEL_UINT;
        for (int i = 0; i < chunk->width * chunk->height; i++) {
            const float value = exr_value(name, x0 + i % chunk->width, y0 + i / chunk->width);
            if (whole)
                sample[name][i] = (uint32_t)value;
            else
                memcpy(&sample[name][i], &value, sizeof value);
        }
        c->user_data_type = whole ? EXR_PIXEL_UINT : EXR_PIXEL_FLOAT;
        c->user_bytes_per_element = 4;
        c->user_pixel_stride = 4;
        c->user_line_stride = 4 * chunk->width;
        c->encode_from_ptr = (const uint8_t *)sample[name];
    }
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_encoding_choose_default_routines(exr, 0, &encoder);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_encoding_run(exr, 0, &encoder);
    /* No shorter than the pixels, and yet not those: 3.1.5 writes that, and cannot read it. */
    if (rc == EXR_ERR_SUCCESS && encoder.compressed_bytes >= encoder.packed_bytes &&
        memcmp(encoder.compressed_buffer, encoder.packed_buffer, encoder.packed_bytes) != 0)
        rc = EXR_ERR_CORRUPT_CHUNK;
    exr_encoding_destroy(exr, &encoder);
    return rc;
}

static exr_result_t put_chunks(exr_context_t exr, const exr_kind *kind)
{
    enum { TILE = 8 };
    exr_chunk_info_t chunk;
    exr_result_t rc = EXR_ERR_SUCCESS;
    int rows = TILE;
    if (!kind->tiled)
        rc = exr_get_scanlines_per_chunk(exr, 0, &rows);
    for (int y = 0; y < HIGH && rc == EXR_ERR_SUCCESS; y += rows)
        for (int x = 0; x < (kind->tiled ? WIDE : 1) && rc == EXR_ERR_SUCCESS; x += TILE) {
            rc = kind->tiled ? exr_write_tile_chunk_info(exr, 0, x / TILE, y / TILE, 0, 0, &chunk)
                             : exr_write_scanline_chunk_info(exr, 0, y, &chunk);
            if (rc == EXR_ERR_SUCCESS)
                rc = put_chunk(exr, kind, &chunk, x, y);
        }
    return rc;
}

/* False where the library cannot write it. */
static bool put_exr(const exr_kind *kind, bytes_out *out)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t exr = NULL;
    int part;
    out->used = 0;
    init.user_data = out;
    init.write_fn = put_bytes;
    exr_result_t rc = exr_start_write(&exr, "memory", EXR_WRITE_FILE_DIRECTLY, &init);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_add_part(exr, "part", kind->tiled ? EXR_STORAGE_TILED : EXR_STORAGE_SCANLINE, &part);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_initialize_required_attr_simple(exr, 0, WIDE, HIGH, kind->compression);
    if (rc == EXR_ERR_SUCCESS && kind->tiled)
        rc = exr_set_tile_descriptor(exr, 0, 8, 8, EXR_TILE_ONE_LEVEL, EXR_TILE_ROUND_DOWN);
    for (int k = 0; k < NAMES && rc == EXR_ERR_SUCCESS; k++)
        if (kind->names >> k & 1)
            rc = exr_add_channel(exr, 0, exr_names[k], type_of(kind, k), EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_write_header(exr);
    if (rc == EXR_ERR_SUCCESS)
        rc = put_chunks(exr, kind);
    exr_result_t end = exr ? exr_finish(&exr) : EXR_ERR_SUCCESS;
    return rc == EXR_ERR_SUCCESS && end == EXR_ERR_SUCCESS;
}

static bool has_channel(const exr_kind *kind, const char *name)
{
    for (int k = 0; k < NAMES; k++)
        if (kind->names >> k & 1 && strcmp(exr_names[k], name) == 0)
            return true;
    return false;
}

/* Decoded as a map and as a picture: the channels that were asked for, bit by bit where nothing is lost. */
static void check_exr(const exr_kind *kind, const bytes_out *file)
{
    enum { B = 1, G = 3, R = 4, Y = 7 };
    const bool color = has_channel(kind, "R") && has_channel(kind, "G") && has_channel(kind, "B");
    const exr_compression_t c = kind->compression;
    const bool exact = c <= EXR_COMPRESSION_PIZ || (c == EXR_COMPRESSION_PXR24 && kind->type < 2);
    for (int is_map = 0; is_map < 2; is_map++) {
        int from[3] = {R, G, B}, one = has_channel(kind, "Y") ? Y : is_map && has_channel(kind, "R") ? R : -1;
        und_image image = {0};
        const char *wrong = "";
        und_status status = und_exr_decode(file->data, file->used, is_map, &image, &wrong);
        const bool expected = one >= 0 || (color && !is_map);
        if ((status == UND_OK) != expected)
            fail_msg("channels %x, type %d, compression %d, tiled %d: %s", kind->names, kind->type,
                     (int)kind->compression, kind->tiled, wrong ? wrong : "no error");
        if (is_map || !color)
            from[0] = from[1] = from[2] = one;
        for (int i = 0; expected && i < 3 * WIDE * HIGH; i++) {
            const float value = exr_value(from[i % 3], i / 3 % WIDE, i / 3 / WIDE);
            if (exact ? image.rgb[i] != value : !(fabsf(image.rgb[i] - value) < 60))
                fail_msg("channels %x, type %d, compression %d, tiled %d, number %d: %g, not %g", kind->names,
                         kind->type, (int)kind->compression, kind->tiled, i, image.rgb[i], value);
        }
        und_image_destroy(&image);
    }
}

static void any_channels_are_read(void **state)
{
    (void)state;
    static bytes_out file;
    int count = 0, compressions = 0;
    for (int c = 0; c < EXR_COMPRESSION_DWAA; c++) {
        int before = count;
        for (unsigned names = 1; names < 1u << NAMES; names++)
            for (int variant = 0; variant < 2 * TYPES; variant++) {
                const exr_kind kind = {names, variant / 2, (exr_compression_t)c, variant % 2 == 1};
                if ((c != EXR_COMPRESSION_NONE && c != EXR_COMPRESSION_ZIP && names % 17 != 0) ||
                    !put_exr(&kind, &file))
                    continue;
                check_exr(&kind, &file);
                count++;
            }
        compressions += count > before;
    }
    print_message("%d pictures of %d compressions\n", count, compressions);
    assert_int_equal(compressions, EXR_COMPRESSION_DWAA);
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

static und_status decode_exr(const char *data, size_t bytes, und_image *image, const char **wrong)
{
    return und_exr_decode(data, bytes, false, image, wrong);
}

static void damaged_pictures(void **state)
{
    (void)state;
    char data[512];
    size_t bytes = make_hdr(data);
    const uint64_t times = test_times(20000), each = test_times(300);
    int refused = damage(data, bytes, und_hdr_decode, times), tried = 0;
    print_message("%d of %d HDR pictures refused\n", refused, (int)times);
    assert_true(refused > (int)times / 4);
    refused = 0;
    static bytes_out file;
    for (int c = 0; c < 2 * EXR_COMPRESSION_DWAA; c++) {
        const exr_kind kind = {0x1a, c % TYPES, (exr_compression_t)(c / 2), c % 2 == 1};
        if (!put_exr(&kind, &file))
            continue;
        refused += damage(file.data, file.used, decode_exr, each);
        tried += (int)each;
    }
    print_message("%d of %d EXR pictures refused\n", refused, tried);
    assert_true(refused > tried / 5);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read), cmocka_unit_test(maps_are_exact),
        cmocka_unit_test(radiance_is_read),         cmocka_unit_test(any_channels_are_read),
        cmocka_unit_test(damaged_pictures),         cmocka_unit_test(errors_name_the_file)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
