/* Pictures on disk: PNG and linear EXR in and out, Radiance's in, MP4 out. */
#ifndef UND_IO_IMAGE_H
#define UND_IO_IMAGE_H

#include <undine/types.h>

/* Linear light, RGB, rows from the top. */
typedef struct und_image {
    int width, height;
    float *rgb;
} und_image;

und_status und_image_create(und_image *image, int width, int height, und_error *err);
void und_image_destroy(und_image *image);

/* Encodes with the sRGB curve; values are clipped to [0, 1].  Written to a temporary name, fsynced, renamed.
 */
und_status und_png_write(const char *path, const und_image *image, int threads, und_error *err);

/* One number of every pixel: data[pixel * stride]. */
typedef struct und_exr_channel {
    const char *name; /* "R", "Z", "N.x" */
    const float *data;
    int stride;
    bool whole; /* as floats; otherwise as half floats */
    bool light; /* is it light, which the eye sees by its ratios? */
} und_exr_channel;

/* A picture of channels, ZIP compressed, scene linear (Rec. 709 chromaticities).  NaN becomes 0; what is
 * beyond 65504, or 1e10 in whole floats, is clipped to it. */
und_status und_exr_write_channels(const char *path, int width, int height, const und_exr_channel *channel,
                                  int count, und_error *err);
/* The same of RGB as half floats. */
und_status und_exr_write(const char *path, const und_image *image, und_error *err);

/* A grey map with values in [0, 1], 8 or 16 bits; colour is turned into luma.  Rows from the top.
 * Larger than 16384 on a side is refused.  *map is malloc'ed [height][width]. */
und_status und_png_read_gray(const char *path, int *width, int *height, float **map, und_error *err);

/* The same from a PNG, or from an EXR's luminance (or red), whatever its numbers are: exact where it has
 * whole floats.  UND_FAILED where one is not finite. */
und_status und_map_read(const char *path, int *width, int *height, float **map, und_error *err);

/* An image in linear light from an 8-bit or 16-bit sRGB PNG. */
und_status und_png_read(const char *path, und_image *image, und_error *err);

/* An image in linear light from a PNG, an EXR (in rows, R, G and B or Y) or a Radiance picture, whatever its
 * name; what is not a number is 0, and nothing is brighter than 1e6. */
und_status und_image_read(const char *path, und_image *image, und_error *err);

/* H.264 in MP4, yuv420p, BT.709; the width and height are cut to even numbers.  Not every build can. */
bool und_movie_supported(void);
typedef struct und_movie und_movie;
und_movie *und_movie_open(const char *path, int width, int height, double fps, int threads, und_error *err);
und_status und_movie_add(und_movie *movie, const und_image *image, und_error *err);
und_status und_movie_close(und_movie *movie, und_error *err); /* finishes, renames into place; frees always */
void und_movie_cancel(und_movie *movie);                      /* leaves none */

/* The sRGB curve, both ways. */
float und_srgb_encode(float linear);
float und_srgb_decode(float encoded);

#endif
