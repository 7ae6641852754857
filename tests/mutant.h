/* Damaged copies of a file, the same ones every time. */
#ifndef UND_TESTS_MUTANT_H
#define UND_TESTS_MUTANT_H

#include "tests/folder.h"
#include "tests/test.h"

#include "base/random.h"

typedef struct subject {
    char path[256];
    char *data, *mutant;
    size_t bytes;
} subject;

enum { MUTANT_ROOM = 256 };

static inline subject take(const char *path)
{
    subject s;
    snprintf(s.path, sizeof s.path, "%s", path);
    assert_int_equal(und_file_read(path, 1 << 24, &s.data, &s.bytes, NULL), UND_OK);
    s.mutant = malloc(s.bytes + MUTANT_ROOM);
    return s;
}

static inline void put_back(subject *s)
{
    put_file(s->path, s->data, s->bytes);
    free(s->data);
    free(s->mutant);
}

static inline size_t pick(uint64_t seed, uint64_t stream, size_t below)
{
    return (size_t)(und_random_bits(99, stream, seed) % below);
}

/* Mutation number `seed` of the file; false where it happens to change nothing. */
static inline bool mutate(subject *s, uint64_t seed)
{
    size_t bytes = s->bytes;
    memcpy(s->mutant, s->data, bytes);
    size_t at = pick(seed, 1, bytes), run = 1 + pick(seed, 2, 16);
    run = run < bytes - at ? run : bytes - at;
    switch (pick(seed, 0, 6)) {
    case 0: /* a bit */
        s->mutant[at] ^= (char)(1 << pick(seed, 3, 8));
        break;
    case 1: /* a run of noise */
        for (size_t i = 0; i < run; i++)
            s->mutant[at + i] = (char)und_random_bits(seed, 4, i);
        break;
    case 2: /* a run of extremes */
        memset(s->mutant + at, pick(seed, 3, 2) ? 0xff : 0, run);
        break;
    case 3: /* cut */
        bytes = at;
        break;
    case 4: { /* garbage in between */
        size_t length = 1 + pick(seed, 3, MUTANT_ROOM - 1);
        memmove(s->mutant + at + length, s->mutant + at, bytes - at);
        for (size_t i = 0; i < length; i++)
            s->mutant[at + i] = (char)und_random_bits(seed, 5, i);
        bytes += length;
        break;
    }
    default: /* a piece of it somewhere else */
        memmove(s->mutant + pick(seed, 3, bytes - run + 1), s->mutant + at, run);
    }
    put_file(s->path, s->mutant, bytes);
    return bytes != s->bytes || memcmp(s->mutant, s->data, bytes) != 0;
}

#endif
