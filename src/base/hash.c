#include "base/hash.h"

#include "base/parallel.h"

#define XXH_INLINE_ALL /* the header is all that is needed of the library */
#include <xxhash.h>

enum { BLOCK = 1 << 20, GROUP = 256 };

uint64_t und_hash_piece(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}

/* Blocks are hashed on their own, then their hashes one after the other. */
uint64_t und_hash(const void *data, size_t bytes, uint64_t seed, int threads)
{
    const char *start = data;
    size_t blocks = (bytes + BLOCK - 1) / BLOCK;
    uint64_t hash = XXH3_64bits_withSeed(&bytes, sizeof bytes, seed);
    for (size_t first = 0; first < blocks; first += GROUP) {
        uint64_t part[GROUP];
        int count = (int)(blocks - first < GROUP ? blocks - first : GROUP);
        int team = count < threads ? count : threads; /* waking threads for nothing costs more than a block */
        PARALLEL_FOR(team)
        for (int i = 0; i < count; i++) {
            size_t at = (first + (size_t)i) * BLOCK;
            part[i] = XXH3_64bits(start + at, bytes - at < BLOCK ? bytes - at : BLOCK);
        }
        hash = XXH3_64bits_withSeed(part, (size_t)count * sizeof *part, hash);
    }
    return hash;
}
