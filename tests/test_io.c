#include "tests/folder.h"
#include "tests/test.h"

#include "base/random.h"
#include "io/image.h"

#include <dirent.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <openexr.h>
#include <png.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

static int setup(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

static int file_count(void)
{
    int count = 0;
    DIR *dir = opendir(folder.path);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static und_image picture(int width, int height, int frame)
{
    und_image image;
    assert_int_equal(und_image_create(&image, width, height, NULL), UND_OK);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float *p = image.rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
            p[0] = (float)(x + frame) / (float)(width + 10);
            p[1] = (float)y / (float)height;
            p[2] = 0.5f + 0.5f * sinf(0.05f * (float)(x * y % 977));
        }
    return image;
}

static void srgb_is_the_standard(void **state)
{
    (void)state;
    assert_double_near(und_srgb_encode(0.5f), 0.735356983052449, 1e-7);
    assert_double_near(und_srgb_encode(0.001f), 0.01292, 1e-8);
    assert_double_near(und_srgb_decode(0.5f), 0.214041140482233, 1e-7);
    assert_true(und_srgb_encode(NAN) == 0 && und_srgb_encode(INFINITY) == 1 && und_srgb_encode(-1) == 0);
    for (int i = 0; i <= 1000; i++)
        assert_double_near(und_srgb_decode(und_srgb_encode((float)i / 1000)), i / 1000.0, 1e-6);
}

static void png_round_trip(void **state)
{
    (void)state;
    und_image image = picture(257, 131, 0), back;
    image.rgb[0] = NAN;
    image.rgb[1] = 7;
    image.rgb[2] = -INFINITY;
    und_error err;
    const char *path = test_path(&folder, "a.png");
    assert_int_equal(und_png_write(path, &image, 2, &err), UND_OK);
    assert_int_equal(und_png_read(path, &back, &err), UND_OK);
    assert_int_equal(back.width, 257);
    assert_int_equal(back.height, 131);
    assert_true(back.rgb[0] == 0 && back.rgb[1] == 1 && back.rgb[2] == 0);
    for (size_t i = 3; i < 3 * 257 * 131; i++) {
        int code = (int)lround(255 * und_srgb_encode(image.rgb[i])); /* the nearest code, exactly */
        assert_int_equal(lround(255 * und_srgb_encode(back.rgb[i])), code);
    }
    assert_int_equal(file_count(), 1);
    und_image_destroy(&back);
    und_image_destroy(&image);
}

static void png_is_fast(void **state)
{
    (void)state;
    und_image image = picture(1280, 720, 0);
    const uLong bytes = 3 * 1280 * 720;
    uLong packed = compressBound(bytes);
    unsigned char *rows = calloc(bytes, 1), *deflated = calloc(packed, 1);
    assert_true(rows && deflated);
    for (uLong i = 0; i < bytes; i++)
        rows[i] = (unsigned char)lround(255 * und_srgb_encode(image.rgb[i]));
    clock_t start = clock();
    assert_int_equal(compress2(deflated, &packed, rows, bytes, 6), Z_OK);
    const clock_t usual = clock() - start;
    start = clock();
    assert_int_equal(und_png_write(test_path(&folder, "fast.png"), &image, 2, NULL), UND_OK);
    const double part = (double)(clock() - start) / (double)usual;
    print_message("png 1280 x 720: %.2f of what zlib takes for it\n", part);
    assert_true(part < 1);
    free(rows);
    free(deflated);
    und_image_destroy(&image);
}

/* Writes a picture of any PNG type with samples counting up, 8 x 4. */
static void write_typed(const char *path, int type, int bits, bool interlaced)
{
    FILE *stream = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, stream);
    png_set_IHDR(png, info, 8, 4, bits, type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    png_color palette[4] = {{0, 0, 0}, {255, 255, 255}, {255, 0, 0}, {0, 0, 255}};
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    png_write_info(png, info);
    size_t row = png_get_rowbytes(png, info);
    png_byte data[4][64], *rows[4];
    for (size_t y = 0; y < 4; y++) {
        rows[y] = data[y];
        for (size_t i = 0; i < row; i++)
            data[y][i] = (png_byte)(type == PNG_COLOR_TYPE_PALETTE ? 0x1b : 16 * y + i);
    }
    png_write_image(png, rows);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(stream);
}

static void png_maps_of_every_type(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "map.png");
    int width, height;
    float *map;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        write_typed(path, PNG_COLOR_TYPE_GRAY, 8, interlaced);
        assert_int_equal(und_png_read_gray(path, &width, &height, &map, NULL), UND_OK);
        assert_true(width == 8 && height == 4);
        assert_double_near(map[2 * 8 + 5], 37 / 255.0, 1e-7);
        free(map);
        write_typed(path, PNG_COLOR_TYPE_GRAY, 16, interlaced);
        assert_int_equal(und_png_read_gray(path, &width, &height, &map, NULL), UND_OK);
        assert_double_near(map[1 * 8 + 3], (256 * 22 + 23) / 65535.0, 1e-7);
        free(map);
        write_typed(path, PNG_COLOR_TYPE_GRAY_ALPHA, 8, interlaced);
        assert_int_equal(und_png_read_gray(path, &width, &height, &map, NULL), UND_OK);
        assert_double_near(map[3 * 8 + 2], (48 + 4) / 255.0, 1e-7);
        free(map);
        write_typed(path, PNG_COLOR_TYPE_RGB, 16, interlaced);
        assert_int_equal(und_png_read_gray(path, &width, &height, &map, NULL), UND_OK);
        assert_double_near(
            map[1], (0.2126 * (256 * 6 + 7) + 0.7152 * (256 * 8 + 9) + 0.0722 * (256 * 10 + 11)) / 65535,
            1e-7);
        free(map);
        write_typed(path, PNG_COLOR_TYPE_PALETTE, 2, interlaced); /* 0x1b: 0, 1, 2, 3 */
        assert_int_equal(und_png_read_gray(path, &width, &height, &map, NULL), UND_OK);
        const double luma[4] = {0, 1, 0.2126, 0.0722};
        for (int i = 0; i < 32; i++)
            assert_double_near(map[i], luma[i % 4], 1e-7);
        free(map);
    }
}

static void png_errors_name_the_file(void **state)
{
    (void)state;
    und_error err;
    und_image image = picture(64, 64, 0), back;
    const char *path = test_path(&folder, "cut.png");
    assert_int_equal(und_png_write(path, &image, 1, &err), UND_OK);
    char *data;
    size_t bytes;
    assert_int_equal(und_file_read(path, 1 << 20, &data, &bytes, &err), UND_OK);
    for (size_t cut = 0; cut<bytes; cut += cut> 40 ? 97 : 1) {
        assert_int_equal(und_file_write(path, data, cut, &err), UND_OK);
        assert_int_equal(und_png_read(path, &back, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "cut.png"));
    }
    free(data);
    assert_int_equal(und_png_read("missing.png", &back, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "missing.png: No such file"));
    assert_int_equal(und_png_read(folder.path, &back, &err), UND_FAILED);
    assert_int_equal(und_png_write("/proc/undine/a.png", &image, 1, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "/proc/undine/a.png: No such file"));
    assert_int_equal(und_exr_write("/proc/undine/a.exr", &image, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "/proc/undine/a.exr: No such file"));
    assert_null(und_movie_open("/proc/undine/a.mp4", 64, 64, 24, 1, &err));
    assert_non_null(strstr(err.text, "/proc/undine/a.mp4: No such file"));
    und_image_destroy(&image);
}

/* A file may not grow beyond `bytes`: what a full disk does, but anywhere. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void full_disk_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    und_error err[3] = {0};
    und_image image = picture(640, 480, 0);
    int before = file_count();
    for (size_t i = 0; i < 3 * 640 * 480; i++)
        image.rgb[i] = (float)und_random(1, 2, i);
    char path[3][300];
    const char *names[3] = {"full.png", "full.exr", "full.mp4"};
    for (int i = 0; i < 3; i++)
        strcpy(path[i], test_path(&folder, names[i]));
    limit_files(20000);
    und_status png = und_png_write(path[0], &image, 1, &err[0]);
    und_status exr = und_exr_write(path[1], &image, &err[1]);
    und_movie *movie = und_movie_open(path[2], 640, 480, 24, 1, &err[2]);
    und_status mp4 = movie ? UND_OK : UND_FAILED;
    for (int i = 0; movie && !mp4 && i < 10; i++)
        mp4 = und_movie_add(movie, &image, &err[2]);
    und_error end = {0};
    und_status closed = und_movie_close(movie, mp4 ? &end : &err[2]);
    limit_files(RLIM_INFINITY);
    assert_int_equal(png, UND_FAILED);
    assert_int_equal(exr, UND_FAILED);
    assert_int_equal(closed, UND_FAILED);
    for (int i = 0; i < 3; i++) {
        assert_non_null(strstr(err[i].text, names[i]));
        assert_non_null(strstr(err[i].text, "File too large"));
    }
    assert_int_equal(file_count(), before);
    und_image_destroy(&image);
}

static float half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    double size = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return (float)(half & 0x8000 ? -size : size);
}

static void read_exr(const char *path, int width, int height, uint16_t *rgb)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t exr;
    assert_int_equal(exr_start_read(&exr, path, &init), EXR_ERR_SUCCESS);
    exr_attr_box2i_t window;
    assert_int_equal(exr_get_data_window(exr, 0, &window), EXR_ERR_SUCCESS);
    assert_true(window.max.x == width - 1 && window.max.y == height - 1);
    exr_attr_chromaticities_t primaries;
    assert_int_equal(exr_attr_get_chromaticities(exr, 0, "chromaticities", &primaries), EXR_ERR_SUCCESS);
    assert_true(primaries.red_x == 0.64f && primaries.white_y == 0.3290f);
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    for (int y = 0; y < height; y += 16) {
        exr_chunk_info_t chunk;
        assert_int_equal(exr_read_scanline_chunk_info(exr, 0, y, &chunk), EXR_ERR_SUCCESS);
        assert_int_equal(chunk.compression, EXR_COMPRESSION_ZIP);
        if (y == 0)
            assert_int_equal(exr_decoding_initialize(exr, 0, &chunk, &decoder), EXR_ERR_SUCCESS);
        else
            assert_int_equal(exr_decoding_update(exr, 0, &chunk, &decoder), EXR_ERR_SUCCESS);
        assert_int_equal(decoder.channel_count, 3);
        for (int c = 0; c < 3; c++) { /* B, G, R */
            assert_int_equal(decoder.channels[c].data_type, EXR_PIXEL_HALF);
            decoder.channels[c].decode_to_ptr = (uint8_t *)(rgb + (size_t)y * (size_t)width * 3 + (2 - c));
            decoder.channels[c].user_pixel_stride = 6;
            decoder.channels[c].user_line_stride = 6 * width;
            decoder.channels[c].user_bytes_per_element = 2;
            decoder.channels[c].user_data_type = EXR_PIXEL_HALF;
        }
        if (y == 0)
            assert_int_equal(exr_decoding_choose_default_routines(exr, 0, &decoder), EXR_ERR_SUCCESS);
        assert_int_equal(exr_decoding_run(exr, 0, &decoder), EXR_ERR_SUCCESS);
    }
    exr_decoding_destroy(exr, &decoder);
    exr_finish(&exr);
}

static void exr_round_trip(void **state)
{
    (void)state;
    enum { WIDTH = 61, HEIGHT = 45, COUNT = 3 * WIDTH * HEIGHT };
    und_image image = picture(WIDTH, HEIGHT, 3);
    image.rgb[0] = 1000;
    image.rgb[1] = NAN;
    image.rgb[2] = INFINITY;
    image.rgb[3] = -0.25f;
    und_error err;
    const char *path = test_path(&folder, "a.exr");
    assert_int_equal(und_exr_write(path, &image, &err), UND_OK);
    uint16_t *rgb = calloc(COUNT, sizeof *rgb);
    read_exr(path, WIDTH, HEIGHT, rgb);
    assert_true(half_to_float(rgb[0]) == 1000);
    assert_true(half_to_float(rgb[1]) == 0);
    assert_true(half_to_float(rgb[2]) == 65504);
    for (int i = 3; i < COUNT; i++) /* half a unit in the last of 11 bits */
        assert_double_near(half_to_float(rgb[i]), image.rgb[i], 0x1p-12 * fabs(2 * image.rgb[i]) + 0x1p-25);
    free(rgb);
    und_image_destroy(&image);
}

static void write_movie(const char *path, int width, int height, int frames, int threads)
{
    und_error err = {0};
    und_movie *movie = und_movie_open(path, width, height, 24, threads, &err);
    if (!movie)
        fail_msg("%s", err.text);
    for (int i = 0; i < frames; i++) {
        und_image image = picture(width, height, i);
        assert_int_equal(und_movie_add(movie, &image, &err), UND_OK);
        und_image_destroy(&image);
    }
    assert_int_equal(und_movie_close(movie, &err), UND_OK);
}

static void movie_opens_again(void **state)
{
    (void)state;
    const char *path = test_path(&folder, "a.mp4");
    write_movie(path, 131, 75, 17, 2);
    AVFormatContext *format = NULL;
    assert_int_equal(avformat_open_input(&format, path, NULL, NULL), 0);
    assert_true(avformat_find_stream_info(format, NULL) >= 0);
    assert_int_equal(format->nb_streams, 1);
    AVCodecParameters *par = format->streams[0]->codecpar;
    assert_true(par->width == 130 && par->height == 74 && par->format == AV_PIX_FMT_YUV420P);
    assert_true(par->color_space == AVCOL_SPC_BT709 && par->color_primaries == AVCOL_PRI_BT709);
    assert_double_near(av_q2d(format->streams[0]->avg_frame_rate), 24, 1e-9);
    assert_int_equal(format->streams[0]->nb_frames, 17);
    AVCodecContext *codec = avcodec_alloc_context3(avcodec_find_decoder(par->codec_id));
    avcodec_parameters_to_context(codec, par);
    assert_int_equal(avcodec_open2(codec, NULL, NULL), 0);
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int frames = 0;
    for (bool more = true; more;) {
        more = av_read_frame(format, packet) >= 0;
        avcodec_send_packet(codec, more ? packet : NULL);
        av_packet_unref(packet);
        while (avcodec_receive_frame(codec, frame) >= 0)
            frames++;
    }
    assert_int_equal(frames, 17);
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    avformat_close_input(&format);
}

static void movie_has_the_same_bytes_at_any_thread_count(void **state)
{
    (void)state;
    uint64_t hash[2];
    size_t bytes;
    for (int i = 0; i < 2; i++) {
        const char *path = test_path(&folder, "same.mp4");
        write_movie(path, 160, 90, 30, 1 + i);
        assert_int_equal(und_file_hash(path, 1, &hash[i], &bytes, NULL), UND_OK);
    }
    assert_true(hash[0] == hash[1]);
}

static void movie_without_frames_is_an_error(void **state)
{
    (void)state;
    und_error err;
    int before = file_count();
    assert_null(und_movie_open(test_path(&folder, "b.mp4"), 1, 1, 24, 1, &err));
    und_movie *movie = und_movie_open(test_path(&folder, "b.mp4"), 64, 64, 24, 1, &err);
    und_image image = picture(32, 64, 0);
    assert_int_equal(und_movie_add(movie, &image, &err), UND_INVALID);
    und_image_destroy(&image);
    assert_int_equal(und_movie_close(movie, &err), UND_FAILED);
    assert_int_equal(file_count(), before);
}

static void files_are_whole_or_not_there(void **state)
{
    (void)state;
    und_error err;
    const char *path = test_path(&folder, "text");
    assert_int_equal(und_file_write(path, "old", 3, &err), UND_OK);
    und_file file;
    assert_int_equal(und_file_begin(&file, path, &err), UND_OK);
    assert_true(und_file_is_temp(strrchr(file.temp, '/') + 1));
    assert_false(und_file_is_temp("a.tmp") || und_file_is_temp("beach.0001.h5") ||
                 und_file_is_temp(".1.tmp"));
    char *data;
    size_t bytes;
    assert_int_equal(und_file_read(path, 10, &data, &bytes, &err), UND_OK);
    assert_string_equal(data, "old");
    free(data);
    und_file_cancel(&file);
    assert_int_equal(und_file_read(path, 2, &data, &bytes, &err), UND_FAILED);
    assert_int_equal(und_file_read(folder.path, 10, &data, &bytes, &err), UND_FAILED);
    char under[300];
    snprintf(under, sizeof under, "%s/below", path);
    assert_int_equal(und_file_write(under, "new", 3, &err), UND_FAILED);
    assert_non_null(strstr(err.text, "text/below: Not a directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(srgb_is_the_standard),
        cmocka_unit_test(png_round_trip),
        cmocka_unit_test(png_is_fast),
        cmocka_unit_test(png_maps_of_every_type),
        cmocka_unit_test(png_errors_name_the_file),
        cmocka_unit_test(full_disk_is_an_error_and_leaves_nothing),
        cmocka_unit_test(exr_round_trip),
        cmocka_unit_test(movie_opens_again),
        cmocka_unit_test(movie_has_the_same_bytes_at_any_thread_count),
        cmocka_unit_test(movie_without_frames_is_an_error),
        cmocka_unit_test(files_are_whole_or_not_there),
    };
    return cmocka_run_group_tests_name("io", tests, setup, teardown);
}
