#include "io/image_read.h"

#include "base/file.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t FILE_MOST = (size_t)1 << 30;
static const float BRIGHTEST = 1e6f; /* sums of more would no longer be exact */

static bool is_exr(const char *data, size_t bytes)
{
    return bytes > 4 && memcmp(data, "\x76\x2f\x31\x01", 4) == 0;
}

und_status und_map_read(const char *path, int *width, int *height, float **map, und_error *err)
{
    char *data = NULL;
    size_t bytes = 0;
    const char *wrong = NULL;
    und_image image = {0};
    und_status status = und_file_read(path, FILE_MOST, &data, &bytes, err);
    if (status != UND_OK)
        return status;
    bool exr = is_exr(data, bytes);
    if (exr)
        status = und_exr_decode(data, bytes, true, &image, &wrong);
    free(data);
    if (!exr)
        return und_png_read_gray(path, width, height, map, err);
    size_t count = (size_t)image.width * (size_t)image.height;
    float *gray = status == UND_OK ? und_alloc(count, sizeof *gray, "a map", err) : NULL;
    for (size_t i = 0; gray && i < count; i++) {
        gray[i] = image.rgb[3 * i];
        if (!isfinite(gray[i]))
            wrong = "it has numbers that are not finite";
    }
    *width = image.width;
    *height = image.height;
    und_image_destroy(&image);
    if (gray && !wrong) {
        *map = gray;
        return UND_OK;
    }
    free(gray);
    return wrong ? und_error_set(err, UND_FAILED, "cannot read %s: %s", path, wrong) : err->status;
}

und_status und_image_read(const char *path, und_image *image, und_error *err)
{
    char *data = NULL;
    size_t bytes = 0;
    const char *wrong = NULL;
    *image = (und_image){0};
    und_status status = und_file_read(path, FILE_MOST, &data, &bytes, err);
    if (status != UND_OK)
        return status;
    bool hdr = bytes > 2 && memcmp(data, "#?", 2) == 0;
    bool exr = is_exr(data, bytes);
    if (hdr)
        status = und_hdr_decode(data, bytes, image, &wrong);
    else if (exr)
        status = und_exr_decode(data, bytes, false, image, &wrong);
    free(data);
    if (!hdr && !exr)
        return und_png_read(path, image, err);
    if (status != UND_OK) {
        und_image_destroy(image);
        *image = (und_image){0};
        return und_error_set(err, status, "cannot read %s: %s", path, wrong);
    }
    for (size_t i = 0; i < 3 * (size_t)image->width * (size_t)image->height; i++) {
        float v = image->rgb[i];
        image->rgb[i] = v > 0 ? (v < BRIGHTEST ? v : BRIGHTEST) : 0; /* NaN too */
    }
    return UND_OK;
}
