#include "base/file.h"
#include "base/status.h"
#include "io/image.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <openexr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_ROWS = 16 }; /* of a ZIP chunk */

static const float HALF_MAX = 65504, FLOAT_MAX = 1e10f;

/* A picture as its channels, and room for some rows of them. */
typedef struct picture {
    int width, height, count;
    const und_exr_channel *channel;
    float *block; /* [count][BLOCK_ROWS][width] */
} picture;

typedef struct sink {
    int fd;
    int error; /* errno of the first write that failed */
} sink;

static int64_t write_bytes(exr_const_context_t context, void *user, const void *data, uint64_t bytes,
                           uint64_t offset, exr_stream_error_func_ptr_t report)
{
    (void)context;
    (void)report;
    sink *s = user;
    for (uint64_t at = 0; at < bytes;) {
        ssize_t wrote = pwrite(s->fd, (const char *)data + at, bytes - at, (off_t)(offset + at));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            s->error = s->error ? s->error : errno;
            return -1;
        }
        at += (uint64_t)wrote;
    }
    return (int64_t)bytes;
}

static void keep_silent(exr_const_context_t context, exr_result_t code, const char *text)
{
    (void)context;
    (void)code;
    (void)text;
}

static exr_result_t write_header(exr_context_t exr, const picture *p)
{
    const exr_attr_chromaticities_t rec709 = {.red_x = 0.64f,
                                              .red_y = 0.33f,
                                              .green_x = 0.30f,
                                              .green_y = 0.60f,
                                              .blue_x = 0.15f,
                                              .blue_y = 0.06f,
                                              .white_x = 0.3127f,
                                              .white_y = 0.3290f};
    int part;
    exr_result_t rc = exr_add_part(exr, "rgb", EXR_STORAGE_SCANLINE, &part);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_initialize_required_attr_simple(exr, 0, p->width, p->height, EXR_COMPRESSION_ZIP);
    for (int c = 0; c < p->count && rc == EXR_ERR_SUCCESS; c++)
        rc = exr_add_channel(
            exr, 0, p->channel[c].name, p->channel[c].whole ? EXR_PIXEL_FLOAT : EXR_PIXEL_HALF,
            p->channel[c].light ? EXR_PERCEPTUALLY_LOGARITHMIC : EXR_PERCEPTUALLY_LINEAR, 1, 1);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_attr_set_chromaticities(exr, 0, "chromaticities", &rec709);
    return rc == EXR_ERR_SUCCESS ? exr_write_header(exr) : rc;
}

/* Half floats end at 65504; an infinity or NaN would spread through every filter downstream. */
static void clip_rows(const picture *p, int c, int first, int rows)
{
    const und_exr_channel *channel = &p->channel[c];
    size_t row = (size_t)p->width, count = (size_t)rows * row;
    const float *from = channel->data + (size_t)first * row * (size_t)channel->stride;
    float *to = p->block + (size_t)c * BLOCK_ROWS * row, most = channel->whole ? FLOAT_MAX : HALF_MAX;
    for (size_t i = 0; i < count; i++) {
        float v = from[i * (size_t)channel->stride];
        to[i] = isnan(v) ? 0 : fmaxf(-most, fminf(v, most));
    }
}

static int find_channel(const picture *p, const char *name)
{
    int c = 0;
    while (c < p->count - 1 && strcmp(p->channel[c].name, name) != 0)
        c++;
    return c;
}

static exr_result_t write_chunk(exr_context_t exr, const picture *p, int first)
{
    exr_chunk_info_t chunk;
    exr_encode_pipeline_t encoder = EXR_ENCODE_PIPELINE_INITIALIZER;
    exr_result_t rc = exr_write_scanline_chunk_info(exr, 0, first, &chunk);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_encoding_initialize(exr, 0, &chunk, &encoder);
    if (rc != EXR_ERR_SUCCESS)
        return rc;
    int left = p->height - first;
    for (int k = 0; k < encoder.channel_count; k++) {
        exr_coding_channel_info_t *channel = &encoder.channels[k];
        int c = find_channel(p, channel->channel_name);
        clip_rows(p, c, first, left < BLOCK_ROWS ? left : BLOCK_ROWS);
        channel->user_data_type = EXR_PIXEL_FLOAT;
        channel->user_bytes_per_element = sizeof(float);
        channel->user_pixel_stride = sizeof(float);
        channel->user_line_stride = channel->user_pixel_stride * p->width;
        channel->encode_from_ptr = (const uint8_t *)(p->block + (size_t)c * BLOCK_ROWS * (size_t)p->width);
    }
    rc = exr_encoding_choose_default_routines(exr, 0, &encoder);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_encoding_run(exr, 0, &encoder);
    exr_encoding_destroy(exr, &encoder);
    return rc;
}

static exr_result_t write_picture(sink *out, const char *name, const picture *p)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = keep_silent;
    init.user_data = out;
    init.write_fn = write_bytes;
    exr_context_t exr;
    exr_result_t rc = exr_start_write(&exr, name, EXR_WRITE_FILE_DIRECTLY, &init);
    if (rc != EXR_ERR_SUCCESS)
        return rc;
    rc = write_header(exr, p);
    for (int y = 0; y < p->height && rc == EXR_ERR_SUCCESS; y += BLOCK_ROWS)
        rc = write_chunk(exr, p, y);
    exr_result_t end = exr_finish(&exr);
    return rc == EXR_ERR_SUCCESS ? end : rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const und_exr_channel *)a)->name, ((const und_exr_channel *)b)->name);
}

static und_status write_file(const char *path, const picture *p, und_error *err)
{
    und_file file;
    und_status status = und_file_begin(&file, path, err);
    if (status)
        return status;
    sink out = {.fd = open(file.temp, O_WRONLY | O_CLOEXEC)};
    if (out.fd < 0) {
        status = und_error_set(err, UND_FAILED, "cannot write %s: %s", path, strerror(errno));
    } else {
        exr_result_t rc = write_picture(&out, file.temp, p);
        if (close(out.fd) && !out.error)
            out.error = errno;
        if (rc != EXR_ERR_SUCCESS || out.error)
            status = und_error_set(err, UND_FAILED, "cannot write %s: %s", path,
                                   out.error ? strerror(out.error) : exr_get_default_error_message(rc));
    }
    if (status)
        und_file_cancel(&file);
    return status ? status : und_file_commit(&file, err);
}

und_status und_exr_write_channels(const char *path, int width, int height, const und_exr_channel *channel,
                                  int count, und_error *err)
{
    und_exr_channel *sorted = und_alloc((size_t)count, sizeof *sorted, path, err); /* as the format wants */
    float *block = und_alloc((size_t)width * BLOCK_ROWS, (size_t)count * sizeof *block, path, err);
    und_status status = UND_FAILED;
    if (sorted && block) {
        memcpy(sorted, channel, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, by_name);
        status = write_file(path, &(picture){width, height, count, sorted, block}, err);
    }
    free(sorted);
    free(block);
    return status;
}

und_status und_exr_write(const char *path, const und_image *image, und_error *err)
{
    const und_exr_channel rgb[3] = {{"R", image->rgb, 3, false, true},
                                    {"G", image->rgb + 1, 3, false, true},
                                    {"B", image->rgb + 2, 3, false, true}};
    return und_exr_write_channels(path, image->width, image->height, rgb, 3, err);
}
