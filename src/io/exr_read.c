/* The red, green and blue of an EXR picture. */
#include "io/image_read.h"

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

/* Red, green, blue by their names; a picture with luminance alone is grey. */
static int channel_of(const char *name)
{
    static const char *const names[] = {"R", "G", "B", "Y"};
    for (int k = 0; k < 4; k++)
        if (strcmp(name, names[k]) == 0)
            return k;
    return -1;
}

typedef struct reading {
    exr_context_t exr;
    und_image *image;
    int top, rows; /* of the picture's window, and of a chunk */
    int found;     /* bits of the channels that were there */
} reading;

static exr_result_t read_chunk(reading *r, exr_decode_pipeline_t *decoder, int y)
{
    exr_chunk_info_t chunk;
    exr_result_t rc = exr_read_scanline_chunk_info(r->exr, 0, y, &chunk);
    if (rc != EXR_ERR_SUCCESS)
        return rc;
    int width = r->image->width, first = chunk.start_y - r->top;
    if (first < 0 || chunk.height < 0 || first > r->image->height - chunk.height || chunk.width != width)
        return EXR_ERR_CORRUPT_CHUNK;
    rc = decoder->channels ? exr_decoding_update(r->exr, 0, &chunk, decoder)
                           : exr_decoding_initialize(r->exr, 0, &chunk, decoder);
    if (rc != EXR_ERR_SUCCESS)
        return rc;
    for (int k = 0; k < decoder->channel_count; k++) {
        exr_coding_channel_info_t *c = &decoder->channels[k];
        int which = channel_of(c->channel_name);
        c->decode_to_ptr = NULL;
        if (which < 0 || (which == 3 && r->found & 7) || c->x_samples != 1 || c->y_samples != 1)
            continue;
        r->found |= 1 << which;
        c->user_bytes_per_element = sizeof(float);
        c->user_data_type = EXR_PIXEL_FLOAT;
        c->user_pixel_stride = 3 * sizeof(float);
        c->user_line_stride = c->user_pixel_stride * width;
        c->decode_to_ptr =
            (uint8_t *)(r->image->rgb + 3 * (size_t)first * (size_t)width + (size_t)(which % 3));
    }
    rc = exr_decoding_choose_default_routines(r->exr, 0, decoder);
    return rc == EXR_ERR_SUCCESS ? exr_decoding_run(r->exr, 0, decoder) : rc;
}

static const char *read_rows(reading *r)
{
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    exr_result_t rc = EXR_ERR_SUCCESS;
    for (int y = 0; y < r->image->height && rc == EXR_ERR_SUCCESS; y += r->rows)
        rc = read_chunk(r, &decoder, r->top + y);
    exr_decoding_destroy(r->exr, &decoder);
    if (rc != EXR_ERR_SUCCESS)
        return "the file is cut short or damaged";
    if (r->found != 7 && r->found != 8)
        return "expected channels R, G and B, or Y";
    for (size_t i = 0; r->found == 8 && i < (size_t)r->image->width * (size_t)r->image->height; i++)
        r->image->rgb[3 * i + 1] = r->image->rgb[3 * i + 2] = r->image->rgb[3 * i];
    return NULL;
}

static const char *read_part(exr_context_t exr, size_t bytes, und_image *image)
{
    exr_storage_t storage;
    exr_attr_box2i_t window;
    reading r = {.exr = exr, .image = image};
    if (exr_get_storage(exr, 0, &storage) != EXR_ERR_SUCCESS || storage != EXR_STORAGE_SCANLINE)
        return "expected a picture in rows, not in tiles or with depths";
    if (exr_get_data_window(exr, 0, &window) != EXR_ERR_SUCCESS ||
        exr_get_scanlines_per_chunk(exr, 0, &r.rows) != EXR_ERR_SUCCESS || r.rows < 1)
        return "the file is damaged";
    int64_t width = (int64_t)window.max.x - window.min.x + 1,
            height = (int64_t)window.max.y - window.min.y + 1;
    if (width < 1 || height < 1 || width > UND_SIDE_MOST || height > UND_SIDE_MOST)
        return "expected a picture of 1 to 16384 pixels a side";
    if ((double)width * (double)height > 2000.0 * (double)bytes) /* no compression is that good */
        return "the file is cut short";
    r.top = window.min.y;
    if (und_image_create(image, (int)width, (int)height, NULL) != UND_OK)
        return "out of memory";
    return read_rows(&r);
}

und_status und_exr_decode(const char *data, size_t bytes, und_image *image, const char **wrong)
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
        *wrong = read_part(exr, bytes, image);
    if (exr)
        exr_finish(&exr);
    return *wrong ? UND_FAILED : UND_OK;
}
