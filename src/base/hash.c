#include "base/hash.h"

#include "base/parallel.h"

#define XXH_INLINE_ALL /* the header is all that is needed of the library */
#include <xxhash.h>

enum { BLOCK = UND_HASH_BLOCK, GROUP = 256 };

uint64_t und_hash_piece(const void *data, size_t bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}

/* Blocks are hashed on their own, then their hashes one after the other. */
static const void *piece_of(const void *data, size_t at, size_t *bytes)
{
    (void)bytes;
    return (const char *)data + at;
}

/* The hash of a block of what most blocks are. */
typedef struct plain_block {
    const void *data;
    uint64_t hash;
} plain_block;

static uint64_t hash_block(und_hash_piece_fn *fn, const void *context, const plain_block *plain, size_t at,
                           size_t bytes)
{
    XXH3_state_t state;
    size_t some = bytes;
    const void *piece = fn(context, at, &some);
    if (some == UND_HASH_BLOCK && piece == plain->data)
        return plain->hash;
    if (some == bytes)
        return XXH3_64bits(piece, bytes);
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    for (size_t done = 0; done < bytes; done += some) {
        some = bytes - done;
        piece = fn(context, at + done, &some);
        XXH3_64bits_update(&state, piece, some);
    }
    return XXH3_64bits_digest(&state);
}

uint64_t und_hash(const void *data, size_t bytes, uint64_t seed, int threads)
{
    return und_hash_pieces(piece_of, data, NULL, bytes, seed, threads);
}

uint64_t und_hash_pieces(und_hash_piece_fn *fn, const void *context, const void *often, size_t bytes,
                         uint64_t seed, int threads)
{
    const plain_block plain = {often, often ? XXH3_64bits(often, BLOCK) : 0};
    size_t blocks = (bytes + BLOCK - 1) / BLOCK;
    uint64_t hash = XXH3_64bits_withSeed(&bytes, sizeof bytes, seed);
    for (size_t first = 0; first < blocks; first += GROUP) {
        uint64_t part[GROUP];
        int count = (int)(blocks - first < GROUP ? blocks - first : GROUP);
        int team = count < threads ? count : threads; /* waking threads for nothing costs more than a block */
        PARALLEL_FOR(team)
        for (int i = 0; i < count; i++) {
            size_t at = (first + (size_t)i) * BLOCK;
            part[i] = hash_block(fn, context, &plain, at, bytes - at < BLOCK ? bytes - at : BLOCK);
        }
        hash = XXH3_64bits_withSeed(part, (size_t)count * sizeof *part, hash);
    }
    return hash;
}
