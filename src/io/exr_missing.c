/* Built without OpenEXR. */
#include "base/status.h"
#include "io/image_read.h"

static und_status missing(const char *path, und_error *err)
{
    return und_error_set(err, UND_FAILED,
                         "%s: this build cannot write EXR files: it was made without OpenEXR", path);
}

und_status und_exr_write_channels(const char *path, int width, int height, const und_exr_channel *channel,
                                  int count, und_error *err)
{
    (void)width, (void)height, (void)channel, (void)count;
    return missing(path, err);
}
und_status und_exr_write(const char *path, const und_image *image, und_error *err)
{
    (void)image;
    return missing(path, err);
}
und_status und_exr_decode(const char *data, size_t bytes, bool is_map, und_image *image, const char **wrong)
{
    (void)data, (void)bytes, (void)is_map, (void)image;
    *wrong = "this build cannot read EXR files: it was made without OpenEXR";
    return UND_FAILED;
}
