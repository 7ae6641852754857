/* Pictures of light that is brighter than white. */
#ifndef UND_IO_IMAGE_READ_H
#define UND_IO_IMAGE_READ_H

#include "io/image.h"

enum { UND_SIDE_MOST = 16384 };

/* From a file's bytes; what is wrong with them in words. */
und_status und_hdr_decode(const char *data, size_t bytes, und_image *image, const char **wrong);
/* Of a map the luminance, or where it has none the red, stands for all three. */
und_status und_exr_decode(const char *data, size_t bytes, bool is_map, und_image *image, const char **wrong);

#endif
