/* A picture's layers as EXR, read back with OpenEXR's own library. */
#include "tests/folder.h"
#include "tests/test.h"

#include "trace/film.h"

#include <openexr.h>
#include <signal.h>
#include <sys/resource.h>

enum { WIDTH = 37, HEIGHT = 21, PIXELS = WIDTH * HEIGHT, CHANNELS = 13 };

/* As the format sorts them. */
static const struct {
    const char *name;
    bool whole;
} expected[CHANNELS] = {{"A", false},        {"B", false},      {"G", false},         {"N.x", false},
                        {"N.y", false},      {"N.z", false},    {"R", false},         {"Z", true},
                        {"id", true},        {"samples", true}, {"velocity.x", true}, {"velocity.y", true},
                        {"velocity.z", true}};

static int setup(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

static und_layers make_layers(void)
{
    und_layers l;
    und_error err = {0};
    assert_int_equal(und_layers_create(&l, WIDTH, HEIGHT, &err), UND_OK);
    for (int i = 0; i < PIXELS; i++) {
        for (int c = 0; c < 3; c++) {
            l.rgb[3 * i + c] = (float)(i % 64) * 0.25f + (float)c;
            l.normal[3 * i + c] = (float)(c - 1) * 0.5f;
            l.velocity[3 * i + c] = 0.1f * (float)i + (float)c;
        }
        l.alpha[i] = i % 2 ? 1 : 0.5f;
        l.depth[i] = i % 3 ? 1 + 0.001f * (float)i : INFINITY;
        l.id[i] = (float)(16 + i);
        l.samples[i] = 24;
    }
    l.velocity[0] = NAN;
    return l;
}

/* [CHANNELS][PIXELS] */
static void read_channels(const char *path, float *to)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t exr;
    assert_int_equal(exr_start_read(&exr, path, &init), EXR_ERR_SUCCESS);
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    for (int y = 0; y < HEIGHT; y += 16) {
        exr_chunk_info_t chunk;
        assert_int_equal(exr_read_scanline_chunk_info(exr, 0, y, &chunk), EXR_ERR_SUCCESS);
        assert_int_equal(chunk.compression, EXR_COMPRESSION_ZIP);
        if (y == 0)
            assert_int_equal(exr_decoding_initialize(exr, 0, &chunk, &decoder), EXR_ERR_SUCCESS);
        else
            assert_int_equal(exr_decoding_update(exr, 0, &chunk, &decoder), EXR_ERR_SUCCESS);
        assert_int_equal(decoder.channel_count, CHANNELS);
        for (int c = 0; c < CHANNELS; c++) {
            exr_coding_channel_info_t *channel = &decoder.channels[c];
            assert_string_equal(channel->channel_name, expected[c].name);
            assert_int_equal(channel->data_type, expected[c].whole ? EXR_PIXEL_FLOAT : EXR_PIXEL_HALF);
            channel->decode_to_ptr = (uint8_t *)(to + (size_t)c * PIXELS + (size_t)y * WIDTH);
            channel->user_pixel_stride = sizeof(float);
            channel->user_line_stride = sizeof(float) * WIDTH;
            channel->user_bytes_per_element = sizeof(float);
            channel->user_data_type = EXR_PIXEL_FLOAT;
        }
        if (y == 0)
            assert_int_equal(exr_decoding_choose_default_routines(exr, 0, &decoder), EXR_ERR_SUCCESS);
        assert_int_equal(exr_decoding_run(exr, 0, &decoder), EXR_ERR_SUCCESS);
    }
    exr_decoding_destroy(exr, &decoder);
    exr_finish(&exr);
}

static void test_round_trip(void **state)
{
    (void)state;
    und_error err = {0};
    und_layers l = make_layers();
    char path[300];
    strcpy(path, test_path(&folder, "layers.exr"));
    assert_int_equal(und_layers_write(&l, path, &err), UND_OK);
    float *got = calloc((size_t)CHANNELS * PIXELS, sizeof *got);
    assert_non_null(got);
    read_channels(path, got);
    assert_true(got[10 * PIXELS] == 0); /* NaN */
    l.velocity[0] = 0;
    for (int i = 0; i < PIXELS; i++) {
        assert_true(got[i] == l.alpha[i]);
        for (int c = 0; c < 3; c++) {
            assert_true(got[(c == 0 ? 6 : 3 - c) * PIXELS + i] == l.rgb[3 * i + c]);
            assert_true(got[(3 + c) * PIXELS + i] == l.normal[3 * i + c]);
            assert_true(got[(10 + c) * PIXELS + i] == l.velocity[3 * i + c]);
        }
        assert_true(got[7 * PIXELS + i] == (i % 3 ? l.depth[i] : 1e10f));
        assert_true(got[8 * PIXELS + i] == l.id[i]);
        assert_true(got[9 * PIXELS + i] == l.samples[i]);
    }
    free(got);
    und_layers_destroy(&l);
}

static void test_full_disk(void **state)
{
    (void)state;
    und_error err = {0};
    und_layers l = make_layers();
    char path[300];
    strcpy(path, test_path(&folder, "full.exr"));
    struct rlimit limit, before;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 2000;
    setrlimit(RLIMIT_FSIZE, &limit);
    und_status status = und_layers_write(&l, path, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, UND_FAILED);
    assert_non_null(strstr(err.text, "full.exr"));
    assert_null(fopen(path, "rb"));
    und_layers_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
