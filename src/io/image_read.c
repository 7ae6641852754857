#include "io/image_read.h"

#include "base/file.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const size_t FILE_MOST = (size_t)1 << 30;
static const float BRIGHTEST = 1e6f; /* sums of more would no longer be exact */

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
    bool exr = bytes > 4 && memcmp(data, "\x76\x2f\x31\x01", 4) == 0;
    if (hdr)
        status = und_hdr_decode(data, bytes, image, &wrong);
    else if (exr)
        status = und_exr_decode(data, bytes, image, &wrong);
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
