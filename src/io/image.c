#include "io/image.h"

#include "base/maths.h"
#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define SRGB_FUNCTION static
#define SRGB_REAL double
#define SRGB_POW und_pow
#include "io/srgb.glsl"

float und_srgb_encode(float linear)
{
    return (float)encode_srgb(linear > 0 ? fmin(linear, 1) : 0); /* NaN is black */
}

float und_srgb_decode(float encoded)
{
    double v = encoded > 0 ? fmin(encoded, 1) : 0;
    return (float)(v <= 0.04045 ? v / 12.92 : und_pow((v + 0.055) / 1.055, 2.4));
}

und_status und_image_create(und_image *image, int width, int height, und_error *err)
{
    assert(width > 0 && height > 0);
    *image = (und_image){.width = width, .height = height};
    image->rgb = und_alloc((size_t)width * (size_t)height, 3 * sizeof *image->rgb, "image", err);
    return image->rgb ? UND_OK : UND_FAILED;
}

void und_image_destroy(und_image *image)
{
    free(image->rgb);
    *image = (und_image){0};
}
