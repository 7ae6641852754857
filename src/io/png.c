#include "base/file.h"
#include "base/parallel.h"
#include "base/status.h"
#include "io/image.h"
#include "io/srgb8.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { SIDE_MAX = 16384, DEFLATE_RATIO = 1032 /* deflate cannot do better */ };

/* libpng reports through longjmp; all that must outlive the jump lives here. */
typedef struct codec {
    jmp_buf jump;
    char message[128];
    FILE *stream;
    png_structp png;
    png_infop info;
    int width, height;
    int channels, bytes; /* of a decoded sample: 1 or 3, 1 or 2 */
    size_t packed_row;   /* bytes of a row in the file, before it is expanded */
    png_bytep pixels;    /* decoded */
    png_bytepp rows;
} codec;

static void on_error(png_structp png, png_const_charp text)
{
    codec *c = png_get_error_ptr(png);
    snprintf(c->message, sizeof c->message, "%s", text);
    longjmp(c->jump, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void write_bytes(png_structp png, png_bytep data, size_t bytes)
{
    codec *c = png_get_io_ptr(png);
    if (fwrite(data, 1, bytes, c->stream) != bytes)
        png_error(png, strerror(errno));
}

static void flush_bytes(png_structp png)
{
    (void)png; /* fclose flushes, and is checked */
}

static void read_bytes(png_structp png, png_bytep data, size_t bytes)
{
    codec *c = png_get_io_ptr(png);
    if (fread(data, 1, bytes, c->stream) != bytes)
        png_error(png, ferror(c->stream) ? strerror(errno) : "the file is cut short");
}

/* Differences along the row and runs of them: on 1280 x 720 frames of water as fast as anything zlib does,
 * and a sixth smaller than its own level 1. */
static bool encode(codec *c)
{
    if (setjmp(c->jump))
        return false;
    png_set_write_fn(c->png, c, write_bytes, flush_bytes);
    png_set_IHDR(c->png, c->info, (png_uint_32)c->width, (png_uint_32)c->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB_gAMA_and_cHRM(c->png, c->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(c->png, 1);
    png_set_compression_strategy(c->png, Z_RLE);
    png_set_filter(c->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_write_info(c->png, c->info);
    for (int y = 0; y < c->height; y++)
        png_write_row(c->png, c->pixels + (size_t)y * 3 * (size_t)c->width);
    png_write_end(c->png, NULL);
    return true;
}

static void codec_free(codec *c, bool writes)
{
    if (writes)
        png_destroy_write_struct(&c->png, &c->info);
    else
        png_destroy_read_struct(&c->png, &c->info, NULL);
    free(c->pixels);
    free(c->rows);
}

static und_status write_stream(const char *temp, codec *c)
{
    c->stream = fopen(temp, "wb");
    if (!c->stream) {
        snprintf(c->message, sizeof c->message, "%s", strerror(errno));
        return UND_FAILED;
    }
    bool good = encode(c);
    if (fclose(c->stream) && good) {
        snprintf(c->message, sizeof c->message, "%s", strerror(errno));
        good = false;
    }
    return good ? UND_OK : UND_FAILED;
}

und_status und_png_write(const char *path, const und_image *image, int threads, und_error *err)
{
    und_file file;
    und_status status = und_file_begin(&file, path, err);
    if (status)
        return status;
    codec c = {.width = image->width, .height = image->height};
    size_t row = 3 * (size_t)image->width;
    c.pixels = und_alloc(row, (size_t)image->height, "png", NULL);
    c.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &c, on_error, on_warning);
    c.info = c.png ? png_create_info_struct(c.png) : NULL;
    if (!c.pixels || !c.info) {
        status = und_error_set(err, UND_FAILED, "cannot write %s: out of memory", path);
    } else {
        srgb8 table;
        und_srgb8_init(&table);
        PARALLEL_FOR(threads)
        for (int y = 0; y < c.height; y++)
            for (size_t i = 0; i < row; i++)
                c.pixels[(size_t)y * row + i] = srgb8_encode(&table, image->rgb[(size_t)y * row + i]);
        status = write_stream(file.temp, &c);
        if (status)
            und_error_set(err, status, "cannot write %s: %s", path, c.message);
    }
    codec_free(&c, true);
    if (status)
        und_file_cancel(&file);
    return status ? status : und_file_commit(&file, err);
}

static bool decode_header(codec *c)
{
    if (setjmp(c->jump))
        return false;
    png_set_read_fn(c->png, c, read_bytes);
    png_set_user_limits(c->png, SIDE_MAX, SIDE_MAX);
    png_set_chunk_malloc_max(c->png, 1 << 20);
    png_set_chunk_cache_max(c->png, 64);
    png_read_info(c->png, c->info);
    int type = png_get_color_type(c->png, c->info);
    c->width = (int)png_get_image_width(c->png, c->info);
    c->height = (int)png_get_image_height(c->png, c->info);
    c->channels = type & PNG_COLOR_MASK_COLOR ? 3 : 1;
    c->bytes = png_get_bit_depth(c->png, c->info) == 16 ? 2 : 1;
    c->packed_row = png_get_rowbytes(c->png, c->info);
    png_set_expand(c->png);
    png_set_strip_alpha(c->png);
    png_set_interlace_handling(c->png);
    png_read_update_info(c->png, c->info);
    return true;
}

static bool decode_rows(codec *c)
{
    if (setjmp(c->jump))
        return false;
    png_read_image(c->png, c->rows);
    png_read_end(c->png, NULL);
    return true;
}

/* A small file cannot hold a large picture: that would be damage, or a trap. */
static bool plausible(const codec *c)
{
    struct stat info;
    size_t packed = c->packed_row * (size_t)c->height;
    return !fstat(fileno(c->stream), &info) && packed / DEFLATE_RATIO <= (size_t)info.st_size;
}

static und_status decode(codec *c)
{
    c->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, c, on_error, on_warning);
    c->info = c->png ? png_create_info_struct(c->png) : NULL;
    if (!c->info) {
        snprintf(c->message, sizeof c->message, "out of memory");
        return UND_FAILED;
    }
    if (!decode_header(c))
        return UND_FAILED;
    size_t row = (size_t)c->width * (size_t)(c->channels * c->bytes);
    if (png_get_rowbytes(c->png, c->info) != row || !plausible(c)) {
        snprintf(c->message, sizeof c->message, "the file is cut short");
        return UND_FAILED;
    }
    c->pixels = und_alloc((size_t)c->height, row, "png", NULL);
    c->rows = und_alloc((size_t)c->height, sizeof *c->rows, "png", NULL);
    if (!c->pixels || !c->rows) {
        snprintf(c->message, sizeof c->message, "out of memory");
        return UND_FAILED;
    }
    for (int y = 0; y < c->height; y++)
        c->rows[y] = c->pixels + (size_t)y * row;
    return decode_rows(c) ? UND_OK : UND_FAILED;
}

/* Reads a whole picture; codec_free() it in any case. */
static und_status read_picture(const char *path, codec *c, und_error *err)
{
    c->stream = fopen(path, "rb");
    if (!c->stream)
        return und_error_set(err, UND_FAILED, "cannot read %s: %s", path, strerror(errno));
    und_status status = decode(c);
    fclose(c->stream);
    if (status)
        und_error_set(err, status, "cannot read %s: %s", path, c->message);
    return status;
}

/* Sample `i` of the decoded picture, in [0, 1]; 16 bits come high byte first. */
static double sample(const codec *c, size_t i)
{
    if (c->bytes == 1)
        return c->pixels[i] / 255.0;
    return (256 * c->pixels[2 * i] + c->pixels[2 * i + 1]) / 65535.0;
}

und_status und_png_read_gray(const char *path, int *width, int *height, float **map, und_error *err)
{
    *map = NULL;
    codec c = {0};
    und_status status = read_picture(path, &c, err);
    size_t count = (size_t)c.width * (size_t)c.height;
    if (!status && !(*map = und_alloc(count, sizeof **map, path, err)))
        status = UND_FAILED;
    for (size_t i = 0; !status && i < count; i++)
        (*map)[i] = (float)(c.channels == 1 ? sample(&c, i)
                                            : 0.2126 * sample(&c, 3 * i) + 0.7152 * sample(&c, 3 * i + 1) +
                                                  0.0722 * sample(&c, 3 * i + 2));
    *width = c.width;
    *height = c.height;
    codec_free(&c, false);
    return status;
}

und_status und_png_read(const char *path, und_image *image, und_error *err)
{
    *image = (und_image){0};
    codec c = {0};
    und_status status = read_picture(path, &c, err);
    if (!status)
        status = und_image_create(image, c.width, c.height, err);
    size_t count = (size_t)c.width * (size_t)c.height;
    for (size_t i = 0; !status && i < 3 * count; i++)
        image->rgb[i] = und_srgb_decode((float)sample(&c, c.channels == 3 ? i : i / 3));
    codec_free(&c, false);
    return status;
}
