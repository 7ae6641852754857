/* Hashes of state and of files: XXH3 over fixed blocks, so that they can be made in parallel. */
#ifndef UND_BASE_HASH_H
#define UND_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Of a memory block, mixed with `seed`; the same at any thread count. */
uint64_t und_hash(const void *data, size_t bytes, uint64_t seed, int threads);
/* The same of pieces that a function finds: what is `at` bytes from the start, *bytes of it or fewer. */
typedef const void *und_hash_piece_fn(const void *context, size_t at, size_t *bytes);
/* Where it finds `often`, which may be NULL, for all of a block, that is looked at but once. */
enum { UND_HASH_BLOCK = 1 << 20 };
uint64_t und_hash_pieces(und_hash_piece_fn *fn, const void *context, const void *often, size_t bytes,
                         uint64_t seed, int threads);
/* The same in one piece: of a row of a grid. */
uint64_t und_hash_piece(const void *data, size_t bytes, uint64_t seed);

#endif
