#include "cache/deflate.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

/* RFC 1951.  A stored block has at most 65535 bytes; a match at most 258. */
enum {
    BLOCK = 65535,
    LITERALS = 286, /* bytes, the end of the block, lengths of matches */
    END = 256,
    LENGTHS = 19, /* the alphabet in which lengths of codes are told */
    CODE_BITS = 15,
    LENGTH_BITS = 7,
    RUN = 4, /* bytes that a match is taken for */
    MATCH_MAX = 258
};

typedef struct run {
    uint16_t first, bytes; /* all are equal to the one before `first` */
} run;

typedef struct block {
    const unsigned char *from;
    size_t bytes;
    uint32_t count[LITERALS];
    int runs;
    run run[BLOCK / RUN];
} block;

typedef struct bits {
    unsigned char *to;
    uint64_t held;
    int count; /* below 8 after flush() */
} bits;

static void flush(bits *b)
{
    memcpy(b->to, &b->held, sizeof b->held); /* little-endian, as RFC 1951 wants it */
    b->to += b->count >> 3;
    b->held >>= b->count & ~7;
    b->count &= 7;
}

/* Up to 48 bits may be put between two flushes. */
static void put(bits *b, uint32_t value, int count)
{
    b->held |= (uint64_t)value << b->count;
    b->count += count;
}

static void put_byte_aligned(bits *b)
{
    b->count = (b->count + 7) & ~7;
    flush(b);
}

/* The code of a match's length and the bits that follow it (RFC 1951, 3.2.5). */
static int length_code(int bytes, int *extra_bits, int *extra)
{
    if (bytes == MATCH_MAX) {
        *extra_bits = *extra = 0;
        return 285;
    }
    int over = bytes - 3, power = over < 8 ? 0 : 31 - __builtin_clz((unsigned)over) - 2;
    *extra_bits = power;
    *extra = over & ((1 << power) - 1);
    return 257 + 4 * power + (over >> power);
}

static uint64_t word_at(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static size_t run_end(const unsigned char *from, size_t at, size_t end)
{
    unsigned char value = from[at];
    uint64_t same = value * 0x0101010101010101u;
    while (at + 8 <= end && word_at(from + at) == same)
        at += 8;
    while (at < end && from[at] == value)
        at++;
    return at;
}

static void add_matches(block *b, size_t first, size_t end)
{
    while (first < end) {
        size_t bytes = end - first < MATCH_MAX ? end - first : MATCH_MAX;
        if (bytes < 3)
            return;
        int extra_bits, extra;
        b->run[b->runs++] = (run){(uint16_t)first, (uint16_t)bytes};
        b->count[length_code((int)bytes, &extra_bits, &extra)]++;
        b->count[b->from[first]] -= (uint32_t)bytes;
        first += bytes;
    }
}

/* Counts the bytes that are no part of a match, and finds the matches, all at a distance of 1. */
static void find_runs(block *b)
{
    uint32_t count[4][256] = {0};
    size_t i = 0;
    for (; i + 4 <= b->bytes; i += 4)
        for (int k = 0; k < 4; k++)
            count[k][b->from[i + (size_t)k]]++;
    for (; i < b->bytes; i++)
        count[0][b->from[i]]++;
    memset(b->count, 0, sizeof b->count);
    for (int k = 0; k < 256; k++)
        b->count[k] = count[0][k] + count[1][k] + count[2][k] + count[3][k];
    b->count[END] = 1;
    b->runs = 0;
    const uint64_t low = 0x0101010101010101u, high = 0x8080808080808080u;
    for (i = 0; i + 9 <= b->bytes;) {
        /* A zero byte in `change`, three times over, is where a run begins. */
        uint64_t change = word_at(b->from + i) ^ word_at(b->from + i + 1);
        uint64_t none = (change - low) & ~change & high;
        none &= (none >> 8) & (none >> 16);
        if (none) {
            i += (size_t)__builtin_ctzll(none) / 8;
            size_t end = run_end(b->from, i, b->bytes);
            if (end - i >= RUN)
                add_matches(b, i + 1, end);
            i = end;
        } else {
            i += 6;
        }
    }
}

/* Symbols that occur, rare ones first: sorted by the low byte of their number, then by the high one. */
static int sort_symbols(const uint32_t *count, int symbols, uint16_t *order)
{
    uint16_t half[LITERALS];
    int used = 0, first[2][257] = {0};
    for (int i = 0; i < symbols; i++)
        if (count[i]) {
            half[used++] = (uint16_t)i;
            first[0][(count[i] & 255) + 1]++;
            first[1][(count[i] >> 8) + 1]++;
        }
    for (int k = 0; k < 256; k++) {
        first[0][k + 1] += first[0][k];
        first[1][k + 1] += first[1][k];
    }
    for (int i = 0; i < used; i++)
        order[first[0][count[half[i]] & 255]++] = half[i];
    memcpy(half, order, (size_t)used * sizeof *half);
    for (int i = 0; i < used; i++)
        order[first[1][count[half[i]] >> 8]++] = half[i];
    return used;
}

/* Lengths of a Huffman code, none over `most` bits: where one would be, rare symbols are taken for less
 * rare. */
static void find_lengths(const uint32_t *count, int symbols, int most, unsigned char *length)
{
    uint32_t weight[2 * LITERALS];
    uint16_t order[LITERALS], parent[2 * LITERALS];
    int used = sort_symbols(count, symbols, order), longest;
    memset(length, 0, (size_t)symbols);
    for (uint32_t least = 1;; least *= 2) {
        for (int i = 0; i < used; i++)
            weight[i] = count[order[i]] > least ? count[order[i]] : least;
        /* The two lightest of the leaves and of the joined ones, each in order, are joined. */
        for (int leaf = 0, joined = used, made = used; made < 2 * used - 1; made++) {
            weight[made] = 0;
            for (int k = 0; k < 2; k++) {
                int light =
                    leaf < used && (joined == made || weight[leaf] <= weight[joined]) ? leaf++ : joined++;
                weight[made] += weight[light];
                parent[light] = (uint16_t)made;
            }
        }
        unsigned char depth[2 * LITERALS];
        longest = used > 0 ? 1 : 0;
        depth[used > 1 ? 2 * used - 2 : 0] = used > 1 ? 0 : 1;
        for (int i = 2 * used - 3; i >= 0; i--) {
            depth[i] = (unsigned char)(depth[parent[i]] + 1);
            longest = depth[i] > longest ? depth[i] : longest;
        }
        if (longest <= most) {
            for (int i = 0; i < used; i++)
                length[order[i]] = depth[i];
            return;
        }
    }
}

/* The codes of given lengths (RFC 1951, 3.2.2), first bit lowest. */
static void find_codes(const unsigned char *length, int symbols, uint16_t *code)
{
    unsigned next[CODE_BITS + 2] = {0}, number[CODE_BITS + 1] = {0};
    for (int i = 0; i < symbols; i++)
        number[length[i]]++;
    number[0] = 0;
    for (int i = 1; i <= CODE_BITS; i++)
        next[i] = (next[i - 1] + number[i - 1]) << 1;
    for (int i = 0; i < symbols; i++) {
        unsigned forward = length[i] ? next[length[i]]++ : 0, back = 0;
        for (int bit = 0; bit < length[i]; bit++)
            back |= (forward >> bit & 1) << (length[i] - 1 - bit);
        code[i] = (uint16_t)back;
    }
}

typedef struct codes {
    unsigned char length[LITERALS + 1]; /* the last: of the one distance */
    uint16_t code[LITERALS];
    unsigned char told[LITERALS + 1], extra[LITERALS + 1]; /* the lengths as they are told, RFC 1951, 3.2.7 */
    int told_count;
    unsigned char told_length[LENGTHS];
    size_t bits; /* of the block */
} codes;

static const unsigned char TOLD_ORDER[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
static const unsigned char TOLD_EXTRA[LENGTHS] = {[16] = 2, [17] = 3, [18] = 7};

/* Runs of unused symbols are told by their number. */
static void tell_lengths(codes *c)
{
    uint32_t count[LENGTHS] = {0};
    c->told_count = 0;
    for (int i = 0; i < LITERALS + 1;) {
        int zeros = 0;
        while (i + zeros < LITERALS + 1 && c->length[i + zeros] == 0 && zeros < 138)
            zeros++;
        int symbol = zeros >= 11 ? 18 : zeros >= 3 ? 17 : c->length[i];
        c->extra[c->told_count] = (unsigned char)(zeros >= 11 ? zeros - 11 : zeros >= 3 ? zeros - 3 : 0);
        c->told[c->told_count++] = (unsigned char)symbol;
        count[symbol]++;
        i += zeros >= 3 ? zeros : 1;
    }
    find_lengths(count, LENGTHS, LENGTH_BITS, c->told_length);
    c->bits += 17 + 3 * LENGTHS;
    for (int i = 0; i < LENGTHS; i++)
        c->bits += count[i] * (c->told_length[i] + (size_t)TOLD_EXTRA[i]);
}

static void find_code(const block *b, codes *c)
{
    find_lengths(b->count, LITERALS, CODE_BITS, c->length);
    c->length[LITERALS] = 1;
    find_codes(c->length, LITERALS, c->code);
    c->bits = 0;
    tell_lengths(c);
    for (int i = 0; i < LITERALS; i++) {
        int extra = i < 265 || i == 285 ? 0 : (i - 261) / 4;
        c->bits += b->count[i] * (c->length[i] + (size_t)extra + (i > END));
    }
}

static void put_literals(bits *to, const codes *c, const unsigned char *from, size_t bytes)
{
    bits b = *to; /* in registers */
    for (; bytes >= 3; bytes -= 3, from += 3) {
        for (int k = 0; k < 3; k++)
            put(&b, c->code[from[k]], c->length[from[k]]);
        flush(&b);
    }
    for (; bytes > 0; bytes--, from++)
        put(&b, c->code[*from], c->length[*from]);
    flush(&b);
    *to = b;
}

static void put_coded(bits *to, const block *b, const codes *c)
{
    uint16_t told_code[LENGTHS];
    find_codes(c->told_length, LENGTHS, told_code);
    put(to, 2, 2);
    put(to, LITERALS - 257, 5);
    put(to, 0, 5); /* one distance */
    put(to, LENGTHS - 4, 4);
    flush(to);
    for (int i = 0; i < LENGTHS; i++) {
        put(to, c->told_length[TOLD_ORDER[i]], 3);
        flush(to);
    }
    for (int i = 0; i < c->told_count; i++) {
        put(to, told_code[c->told[i]], c->told_length[c->told[i]]);
        put(to, c->extra[i], TOLD_EXTRA[c->told[i]]);
        flush(to);
    }
    size_t at = 0;
    for (int i = 0; i < b->runs; i++) {
        put_literals(to, c, b->from + at, b->run[i].first - at);
        int extra_bits, extra, symbol = length_code(b->run[i].bytes, &extra_bits, &extra);
        put(to, c->code[symbol], c->length[symbol]);
        put(to, (uint32_t)extra, extra_bits);
        put(to, 0, 1); /* the distance, 1 */
        flush(to);
        at = (size_t)b->run[i].first + b->run[i].bytes;
    }
    put_literals(to, c, b->from + at, b->bytes - at);
    put(to, c->code[END], c->length[END]);
    flush(to);
}

static void put_stored(bits *to, const block *b)
{
    put(to, 0, 2);
    put_byte_aligned(to);
    put(to, (uint32_t)b->bytes, 16);
    put(to, ~(uint32_t)b->bytes & 0xffff, 16);
    flush(to);
    memcpy(to->to, b->from, b->bytes);
    to->to += b->bytes;
}

/* Is it plain that coding saves less than an eighth?  The entropy of values that are each as often as the
 * others is over 7 bits; sum p^2 bounds it from below. */
static bool is_noise(const block *b)
{
    uint64_t sum = 0, squares = 0;
    for (int i = 0; i < 256; i++) {
        sum += b->count[i];
        squares += (uint64_t)b->count[i] * b->count[i];
    }
    return sum > b->bytes - b->bytes / 32 && sum * sum >= 128 * squares;
}

static void put_block(bits *to, block *b, bool last)
{
    codes c;
    find_runs(b);
    bool stored = is_noise(b);
    if (!stored) {
        find_code(b, &c);
        stored = c.bits >= 7 * b->bytes;
    }
    put(to, last, 1);
    if (stored)
        put_stored(to, b);
    else
        put_coded(to, b, &c);
}

size_t und_deflate_bound(size_t bytes, size_t planes)
{
    size_t blocks = bytes / BLOCK + planes + 1;
    return bytes + 6 * blocks + 32; /* flush() writes up to 8 bytes beyond the end */
}

size_t und_deflate(const unsigned char *from, size_t bytes, size_t planes, unsigned char *to)
{
    block b;
    bits out = {.to = to + 2};
    memcpy(to, "\170\001", 2);
    size_t plane = bytes / planes, blocks = (plane + BLOCK - 1) / BLOCK;
    for (size_t p = 0; p < planes; p++)
        for (size_t k = 0; k < blocks; k++) {
            size_t first = plane * k / blocks, end = plane * (k + 1) / blocks;
            b.from = from + p * plane + first;
            b.bytes = end - first;
            put_block(&out, &b, p + 1 == planes && k + 1 == blocks);
        }
    if (bytes == 0) {
        b = (block){.from = from};
        put_block(&out, &b, true);
    }
    put_byte_aligned(&out);
    uint32_t sum = (uint32_t)adler32_z(1, from, bytes);
    for (int i = 0; i < 4; i++)
        out.to[i] = (unsigned char)(sum >> (24 - 8 * i));
    return (size_t)(out.to + 4 - to);
}
