/* Compression of bytes that are shuffled numbers: planes of first bytes, second bytes and so on.  High bytes
 * of floats are runs and few values, low ones are noise; looking for repeated strings is of no use in
 * either.  So it codes runs and single bytes, plane by plane, and stores noise as it is. */
#ifndef UND_CACHE_DEFLATE_H
#define UND_CACHE_DEFLATE_H

#include <stddef.h>

/* Room that the stream of that many bytes in that many planes may need. */
size_t und_deflate_bound(size_t bytes, size_t planes);

/* Writes a zlib stream (RFC 1950) that any zlib reads; its length.  `bytes` is a multiple of `planes`. */
size_t und_deflate(const unsigned char *from, size_t bytes, size_t planes, unsigned char *to);

#endif
