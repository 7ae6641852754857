/* Pictures of light that is brighter than white. */
#ifndef UND_IO_IMAGE_READ_H
#define UND_IO_IMAGE_READ_H

#include "io/image.h"

enum { UND_SIDE_MOST = 16384 };

/* From a file's bytes; what is wrong with them in words. */
und_status und_hdr_decode(const char *data, size_t bytes, und_image *image, const char **wrong);
und_status und_exr_decode(const char *data, size_t bytes, und_image *image, const char **wrong);

#endif
