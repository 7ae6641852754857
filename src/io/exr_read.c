/* The red, green and blue of an EXR picture. */
#include "io/image_read.h"

#include <endian.h>
#include <math.h>
#include <openexr.h>
#include <stdlib.h>
#include <string.h>

typedef struct source {
    const char *data;
    uint64_t bytes;
} source;

static int64_t read_bytes(exr_const_context_t context, void *user, void *to, uint64_t bytes, uint64_t offset,
                          exr_stream_error_func_ptr_t report)
{
    (void)context;
    (void)report;
    const source *s = user;
    if (offset >= s->bytes)
        return 0;
    uint64_t left = s->bytes - offset, count = bytes < left ? bytes : left;
    memcpy(to, s->data + offset, count);
    return (int64_t)count;
}

static int64_t size_of(exr_const_context_t context, void *user)
{
    (void)context;
    return (int64_t)((const source *)user)->bytes;
}

static void keep_silent(exr_const_context_t context, exr_result_t code, const char *text)
{
    (void)context;
    (void)code;
    (void)text;
}

enum { RED, GREEN, BLUE, LUMINANCE, KNOWN };

/* Red, green, blue and luminance by their names; -1 of others, and of those without a value at each pixel. */
static int channel_of(const exr_coding_channel_info_t *c)
{
    static const char *const names[KNOWN] = {"R", "G", "B", "Y"};
    for (int k = 0; k < KNOWN && c->x_samples == 1 && c->y_samples == 1; k++)
        if (strcmp(c->channel_name, names[k]) == 0)
            return k;
    return -1;
}

typedef struct reading {
    exr_context_t exr;
    und_image *image;
    bool tiled;
    int top, side[2]; /* the first row's number; the width and height of a chunk */
    int at[2];        /* where the chunk that is read lies in the picture */
    bool take[KNOWN];
} reading;

static float from_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(1024 + fraction), exponent - 25);
    return half & 0x8000 ? -size : size;
}

static float number_at(const uint8_t *from, exr_pixel_type_t type)
{
    uint32_t bits = 0;
    float number;
    memcpy(&bits, from, type == EXR_PIXEL_HALF ? 2 : 4);
    bits = le32toh(bits);
    memcpy(&number, &bits, sizeof number);
    return type == EXR_PIXEL_HALF ? from_half((uint16_t)bits) : type == EXR_PIXEL_UINT ? (float)bits : number;
}

/* In place of the library's own, which write to channels that nobody asked for.  Row after row, a row of each
 * channel after the other. */
static exr_result_t unpack(exr_decode_pipeline_t *decoder)
{
    const reading *r = decoder->decoding_user_data;
    const uint8_t *from = decoder->unpacked_buffer;
    size_t left = decoder->chunk.unpacked_size;
    for (int y = 0; y < decoder->chunk.height; y++)
        for (int k = 0; k < decoder->channel_count; k++) {
            const exr_coding_channel_info_t *c = &decoder->channels[k];
            if (c->height == 0 || (c->y_samples > 1 && (decoder->chunk.start_y + y) % c->y_samples != 0))
                continue;
            const size_t width = (size_t)c->width, one = c->data_type == EXR_PIXEL_HALF ? 2 : 4;
            const int which = channel_of(c);
            float *to = r->image->rgb +
                        3 * ((size_t)(r->at[1] + y) * (size_t)r->image->width + (size_t)r->at[0]) +
                        (size_t)(which > 0 ? which % 3 : 0);
            if (!from || width * one > left)
                return EXR_ERR_CORRUPT_CHUNK;
            for (size_t x = 0; which >= 0 && r->take[which] && x < width; x++)
                to[3 * x] = number_at(from + one * x, (exr_pixel_type_t)c->data_type);
            from += width * one;
            left -= width * one;
        }
    return EXR_ERR_SUCCESS;
}

static exr_result_t find_chunk(reading *r, int column, int row, exr_chunk_info_t *chunk)
{
    exr_result_t rc = r->tiled ? exr_read_tile_chunk_info(r->exr, 0, column, row, 0, 0, chunk)
                               : exr_read_scanline_chunk_info(r->exr, 0, r->top + row * r->side[1], chunk);
    r->at[0] = column * r->side[0];
    r->at[1] = row * r->side[1];
    int wide = r->image->width - r->at[0], high = r->image->height - r->at[1];
    if (rc == EXR_ERR_SUCCESS && (chunk->width != (wide < r->side[0] ? wide : r->side[0]) ||
                                  chunk->height != (high < r->side[1] ? high : r->side[1])))
        rc = EXR_ERR_CORRUPT_CHUNK;
    return rc;
}

/* Red, green and blue, or else one for all of them: for a map luminance or red, for a picture luminance. */
static bool choose(reading *r, const exr_decode_pipeline_t *decoder, bool is_map)
{
    bool has[KNOWN] = {false};
    for (int k = 0; k < decoder->channel_count; k++) {
        const int which = channel_of(&decoder->channels[k]);
        if (which >= 0)
            has[which] = true;
    }
    const bool color = has[RED] && has[GREEN] && has[BLUE];
    r->take[LUMINANCE] = has[LUMINANCE] && (is_map || !color);
    r->take[RED] = !r->take[LUMINANCE] && has[RED] && (is_map || color);
    r->take[GREEN] = r->take[BLUE] = color && !is_map;
    return r->take[LUMINANCE] || r->take[RED];
}

static const char *read_chunk(reading *r, const exr_chunk_info_t *chunk, bool is_map)
{
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    const char *wrong = NULL;
    exr_result_t rc = exr_decoding_initialize(r->exr, 0, chunk, &decoder);
    if (rc == EXR_ERR_SUCCESS && !choose(r, &decoder, is_map))
        wrong = is_map ? "expected a channel Y or R" : "expected channels R, G and B, or Y";
    if (rc == EXR_ERR_SUCCESS && !wrong)
        rc = exr_decoding_choose_default_routines(r->exr, 0, &decoder);
    decoder.decoding_user_data = r;
    decoder.unpack_and_convert_fn = unpack;
    if (rc == EXR_ERR_SUCCESS && !wrong)
        rc = exr_decoding_run(r->exr, 0, &decoder);
    exr_decoding_destroy(r->exr, &decoder);
    if (rc == EXR_ERR_FEATURE_NOT_IMPLEMENTED)
        return "its compression is one that cannot be read here; ZIP, PIZ, RLE and B44 can";
    return rc == EXR_ERR_SUCCESS ? wrong : "the file is cut short or damaged";
}

static const char *read_pixels(reading *r, bool is_map)
{
    exr_chunk_info_t chunk;
    const char *wrong = NULL;
    for (int row = 0; !wrong && row * r->side[1] < r->image->height; row++)
        for (int column = 0; !wrong && column * r->side[0] < r->image->width; column++)
            wrong = find_chunk(r, column, row, &chunk) == EXR_ERR_SUCCESS
                        ? read_chunk(r, &chunk, is_map)
                        : "the file is cut short or damaged";
    for (size_t i = 0; !r->take[GREEN] && i < (size_t)r->image->width * (size_t)r->image->height; i++)
        r->image->rgb[3 * i + 1] = r->image->rgb[3 * i + 2] = r->image->rgb[3 * i];
    return wrong;
}

static bool find_sides(reading *r, int width)
{
    uint32_t wide = 0, high = 0;
    exr_tile_level_mode_t levels;
    exr_tile_round_mode_t rounding;
    exr_result_t rc = r->tiled ? exr_get_tile_descriptor(r->exr, 0, &wide, &high, &levels, &rounding)
                               : exr_get_scanlines_per_chunk(r->exr, 0, &r->side[1]);
    r->side[0] = r->tiled ? (int)(wide < UND_SIDE_MOST ? wide : UND_SIDE_MOST) : width;
    r->side[1] = r->tiled ? (int)(high < UND_SIDE_MOST ? high : UND_SIDE_MOST) : r->side[1];
    return rc == EXR_ERR_SUCCESS && r->side[0] > 0 && r->side[1] > 0;
}

static const char *read_part(exr_context_t exr, size_t bytes, bool is_map, und_image *image)
{
    exr_storage_t storage;
    exr_attr_box2i_t window;
    reading r = {.exr = exr, .image = image};
    if (exr_get_storage(exr, 0, &storage) != EXR_ERR_SUCCESS ||
        (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED))
        return "expected a picture, not one with depths";
    if (exr_get_data_window(exr, 0, &window) != EXR_ERR_SUCCESS)
        return "the file is damaged";
    int64_t width = (int64_t)window.max.x - window.min.x + 1,
            height = (int64_t)window.max.y - window.min.y + 1;
    if (width < 1 || height < 1 || width > UND_SIDE_MOST || height > UND_SIDE_MOST)
        return "expected a picture of 1 to 16384 pixels a side";
    if ((double)width * (double)height > 2000.0 * (double)bytes) /* no compression is that good */
        return "the file is cut short";
    r.tiled = storage == EXR_STORAGE_TILED;
    r.top = window.min.y;
    if (!find_sides(&r, (int)width))
        return "the file is damaged";
    if (und_image_create(image, (int)width, (int)height, NULL) != UND_OK)
        return "out of memory";
    return read_pixels(&r, is_map);
}

und_status und_exr_decode(const char *data, size_t bytes, bool is_map, und_image *image, const char **wrong)
{
    source s = {data, bytes};
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t exr = NULL;
    init.error_handler_fn = keep_silent;
    init.user_data = &s;
    init.read_fn = read_bytes;
    init.size_fn = size_of;
    init.max_image_width = init.max_image_height = UND_SIDE_MOST;
    *wrong = "the file is damaged";
    if (exr_start_read(&exr, "picture", &init) == EXR_ERR_SUCCESS)
        *wrong = read_part(exr, bytes, is_map, image);
    if (exr)
        exr_finish(&exr);
    return *wrong ? UND_FAILED : UND_OK;
}
