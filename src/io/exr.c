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

static const float HALF_MAX = 65504;

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

static exr_result_t write_header(exr_context_t exr, const und_image *image)
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
        rc = exr_initialize_required_attr_simple(exr, 0, image->width, image->height, EXR_COMPRESSION_ZIP);
    for (const char *name = "BGR"; *name && rc == EXR_ERR_SUCCESS; name++)
        rc = exr_add_channel(exr, 0, (char[]){*name, 0}, EXR_PIXEL_HALF, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_attr_set_chromaticities(exr, 0, "chromaticities", &rec709);
    return rc == EXR_ERR_SUCCESS ? exr_write_header(exr) : rc;
}

/* Half floats end at 65504; an infinity or NaN would spread through every filter downstream. */
static void clip_rows(const und_image *image, int first, int rows, float *block)
{
    size_t row = 3 * (size_t)image->width;
    const float *from = image->rgb + (size_t)first * row;
    for (size_t i = 0; i < (size_t)rows * row; i++)
        block[i] = isnan(from[i]) ? 0 : fmaxf(-HALF_MAX, fminf(from[i], HALF_MAX));
}

static exr_result_t write_chunk(exr_context_t exr, const und_image *image, int first, float *block)
{
    exr_chunk_info_t chunk;
    exr_encode_pipeline_t encoder = EXR_ENCODE_PIPELINE_INITIALIZER;
    exr_result_t rc = exr_write_scanline_chunk_info(exr, 0, first, &chunk);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_encoding_initialize(exr, 0, &chunk, &encoder);
    if (rc != EXR_ERR_SUCCESS)
        return rc;
    int left = image->height - first;
    clip_rows(image, first, left < BLOCK_ROWS ? left : BLOCK_ROWS, block);
    for (int c = 0; c < encoder.channel_count; c++) {
        exr_coding_channel_info_t *channel = &encoder.channels[c];
        int index = channel->channel_name[0] == 'R' ? 0 : channel->channel_name[0] == 'G' ? 1 : 2;
        channel->user_data_type = EXR_PIXEL_FLOAT;
        channel->user_bytes_per_element = sizeof(float);
        channel->user_pixel_stride = 3 * sizeof(float);
        channel->user_line_stride = channel->user_pixel_stride * image->width;
        channel->encode_from_ptr = (const uint8_t *)(block + index);
    }
    rc = exr_encoding_choose_default_routines(exr, 0, &encoder);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_encoding_run(exr, 0, &encoder);
    exr_encoding_destroy(exr, &encoder);
    return rc;
}

static exr_result_t write_picture(sink *out, const char *name, const und_image *image, float *block)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = keep_silent;
    init.user_data = out;
    init.write_fn = write_bytes;
    exr_context_t exr;
    exr_result_t rc = exr_start_write(&exr, name, EXR_WRITE_FILE_DIRECTLY, &init);
    if (rc != EXR_ERR_SUCCESS)
        return rc;
    rc = write_header(exr, image);
    for (int y = 0; y < image->height && rc == EXR_ERR_SUCCESS; y += BLOCK_ROWS)
        rc = write_chunk(exr, image, y, block);
    exr_result_t end = exr_finish(&exr);
    return rc == EXR_ERR_SUCCESS ? end : rc;
}

und_status und_exr_write(const char *path, const und_image *image, und_error *err)
{
    und_file file;
    und_status status = und_file_begin(&file, path, err);
    if (status)
        return status;
    float *block = und_alloc((size_t)image->width * BLOCK_ROWS, 3 * sizeof *block, path, err);
    sink out = {.fd = block ? open(file.temp, O_WRONLY | O_CLOEXEC) : -1};
    if (!block) {
        status = UND_FAILED;
    } else if (out.fd < 0) {
        status = und_error_set(err, UND_FAILED, "cannot write %s: %s", path, strerror(errno));
    } else {
        exr_result_t rc = write_picture(&out, file.temp, image, block);
        if (close(out.fd) && !out.error)
            out.error = errno;
        if (rc != EXR_ERR_SUCCESS || out.error)
            status = und_error_set(err, UND_FAILED, "cannot write %s: %s", path,
                                   out.error ? strerror(out.error) : exr_get_default_error_message(rc));
    }
    free(block);
    if (status)
        und_file_cancel(&file);
    return status ? status : und_file_commit(&file, err);
}
