#include "cache/hdf5_file.h"

#include "grid/frame.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

enum {
    SUPERBLOCK = 48,
    MESSAGE_MAX = 65535,
    NODE = 64 /* children of a node of the B-tree: twice the K of files that name none */
};

/* Messages of an object header. */
enum {
    DATASPACE = 1,
    LINK_INFO = 2,
    DATATYPE = 3,
    FILL_VALUE = 5,
    LINK = 6,
    LAYOUT = 8,
    GROUP_INFO = 10,
    FILTERS = 11,
    ATTRIBUTE = 12,
    ATTRIBUTE_INFO = 21
};

static const uint64_t NOWHERE = UINT64_MAX;

unsigned char *und_hdf5_room(hdf5_file *f, size_t bytes)
{
    if (f->failed)
        return NULL;
    if (bytes > f->room - f->bytes) {
        size_t room = f->room + f->room / 2 + bytes + 4096;
        unsigned char *data = realloc(f->data, room);
        if (!data) {
            f->failed = true;
            return NULL;
        }
        f->data = data;
        f->room = room;
    }
    return f->data + f->bytes;
}

size_t und_hdf5_put(hdf5_file *f, const void *data, size_t bytes)
{
    size_t address = f->bytes;
    unsigned char *to = und_hdf5_room(f, bytes);
    if (to && bytes) {
        memcpy(to, data, bytes);
        f->bytes += bytes;
    }
    return address;
}

/* A number, lowest byte first. */
static void put(hdf5_file *f, uint64_t value, int bytes)
{
    unsigned char byte[8];
    for (int i = 0; i < bytes; i++)
        byte[i] = (unsigned char)(value >> 8 * i);
    und_hdf5_put(f, byte, (size_t)bytes);
}

static uint32_t turn(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* Jenkins' lookup3, which the format takes for its own bytes. */
static uint32_t checksum(const unsigned char *data, size_t bytes)
{
    uint32_t a = 0xdeadbeef + (uint32_t)bytes, b = a, c = a, w[3];
    for (; bytes > 12; bytes -= 12, data += 12) {
        memcpy(w, data, sizeof w);
        a += w[0];
        b += w[1];
        c += w[2];
        a = (a - c) ^ turn(c, 4), c += b;
        b = (b - a) ^ turn(a, 6), a += c;
        c = (c - b) ^ turn(b, 8), b += a;
        a = (a - c) ^ turn(c, 16), c += b;
        b = (b - a) ^ turn(a, 19), a += c;
        c = (c - b) ^ turn(b, 4), b += a;
    }
    if (bytes == 0)
        return c;
    memset(w, 0, sizeof w);
    memcpy(w, data, bytes);
    a += w[0];
    b += w[1];
    c += w[2];
    c = (c ^ b) - turn(b, 14);
    a = (a ^ c) - turn(c, 11);
    b = (b ^ a) - turn(a, 25);
    c = (c ^ b) - turn(b, 16);
    a = (a ^ c) - turn(c, 4);
    b = (b ^ a) - turn(a, 14);
    return (c ^ b) - turn(b, 24);
}

static void put_checksum(hdf5_file *f, size_t first)
{
    if (!f->failed)
        put(f, checksum(f->data + first, f->bytes - first), 4);
}

static void begin_message(hdf5_file *f, int type, size_t bytes)
{
    put(f, (uint64_t)type, 1);
    put(f, bytes, 2);
    put(f, 0, 1);
    f->failed |= bytes > MESSAGE_MAX;
}

/* The size in a header's prefix is of four bytes, and known at the end. */
static void begin_object(hdf5_file *f)
{
    f->header = f->bytes;
    und_hdf5_put(f, "OHDR\002\002\0\0\0\0", 10);
}

size_t und_hdf5_end_object(hdf5_file *f)
{
    size_t bytes = f->bytes - f->header - 10;
    for (int i = 0; !f->failed && i < 4; i++)
        f->data[f->header + 6 + (size_t)i] = (unsigned char)(bytes >> 8 * i);
    f->failed |= bytes > INT32_MAX;
    put_checksum(f, f->header);
    return f->header;
}

enum { TEXT = -1 };

static size_t type_bytes(int type)
{
    return type == TEXT ? 8 : type == UND_F32 || type == UND_F64 ? 20 : 12;
}

static void put_type(hdf5_file *f, int type, size_t size)
{
    int bits = 8 * (int)size;
    if (type == TEXT) {
        put(f, 0x13, 4);
        put(f, size, 4);
    } else if (type == UND_F32 || type == UND_F64) {
        bool single = type == UND_F32;
        put(f, 0x2011u | (uint64_t)(bits - 1) << 16,
            4); /* the mantissa's first bit is implied; the sign's place */
        put(f, size, 4);
        put(f, 0, 2);
        put(f, (uint64_t)bits, 2);
        put(f, single ? 23 : 52, 1);
        put(f, single ? 8 : 11, 1);
        put(f, 0, 1);
        put(f, single ? 23 : 52, 1);
        put(f, single ? 127 : 1023, 4);
    } else {
        put(f, type == UND_I32 ? 0x0810 : 0x10, 4); /* with a sign or without */
        put(f, size, 4);
        put(f, 0, 2);
        put(f, (uint64_t)bits, 2);
    }
}

static void put_space(hdf5_file *f, int rank, const size_t *dim)
{
    put(f, 2, 1);
    put(f, (uint64_t)rank, 1);
    put(f, 0, 1);
    put(f, rank > 0, 1);
    for (int i = 0; i < rank; i++)
        put(f, dim[i], 8);
}

static void put_attribute(hdf5_file *f, const char *name, int type, size_t size, int count, const void *value)
{
    size_t length = strlen(name) + 1, dim = (size_t)count, rank = count > 0;
    size_t bytes = size * (count > 0 ? dim : 1);
    begin_message(f, ATTRIBUTE, 9 + length + type_bytes(type) + 4 + 8 * rank + bytes);
    put(f, 3, 2);
    put(f, length, 2);
    put(f, type_bytes(type), 2);
    put(f, 4 + 8 * rank, 2);
    put(f, 0, 1);
    und_hdf5_put(f, name, length);
    put_type(f, type, size);
    put_space(f, (int)rank, &dim);
    und_hdf5_put(f, value, bytes);
}

void und_hdf5_text(hdf5_file *f, const char *name, const char *text)
{
    put_attribute(f, name, TEXT, strlen(text) + 1, 0, text);
}

void und_hdf5_ints(hdf5_file *f, const char *name, int count, const int *value)
{
    put_attribute(f, name, UND_I32, sizeof *value, count, value);
}

void und_hdf5_doubles(hdf5_file *f, const char *name, int count, const double *value)
{
    put_attribute(f, name, UND_F64, sizeof *value, count, value);
}

/* Attributes lie in the header, not in a heap of their own. */
static void put_attribute_info(hdf5_file *f)
{
    begin_message(f, ATTRIBUTE_INFO, 18);
    put(f, 0, 2);
    put(f, NOWHERE, 8);
    put(f, NOWHERE, 8);
}

void und_hdf5_begin_group(hdf5_file *f)
{
    begin_object(f);
    begin_message(f, LINK_INFO, 18);
    put(f, 0, 2);
    put(f, NOWHERE, 8);
    put(f, NOWHERE, 8);
    begin_message(f, GROUP_INFO, 2);
    put(f, 0, 2);
    put_attribute_info(f);
}

void und_hdf5_link(hdf5_file *f, const char *name, size_t length, size_t address)
{
    begin_message(f, LINK, 3 + length + 8);
    put(f, 1, 2);
    put(f, length, 1);
    und_hdf5_put(f, name, length);
    put(f, address, 8);
    f->failed |= length > UINT8_MAX;
}

/* The key before chunk `k`: its size, and where in the array it begins.  One more than there are ends the
 * last. */
static void put_key(hdf5_file *f, const hdf5_array *a, size_t k)
{
    put(f, k < a->chunk_count ? a->chunk[k].bytes : 0, 4);
    put(f, 0, 4);
    size_t begin[4];
    for (int i = a->rank - 1; i >= 0; i--) {
        const size_t along = i ? (a->dim[i] + a->chunk_dim[i] - 1) / a->chunk_dim[i] : SIZE_MAX;
        begin[i] = k % along * a->chunk_dim[i];
        k /= along;
    }
    for (int i = 0; i < a->rank; i++)
        put(f, begin[i], 8);
    put(f, 0, 8);
}

/* A level of the tree: its nodes lie side by side.  `span`: how many chunks a child stands for; `below`:
 * where the nodes of the level below begin. */
static size_t put_level(hdf5_file *f, const hdf5_array *a, int level, size_t span, size_t below)
{
    size_t key = 8 + 8 * ((size_t)a->rank + 1), node = 24 + 8 * NODE + key * (NODE + 1);
    size_t children = (a->chunk_count + span - 1) / span, nodes = (children + NODE - 1) / NODE,
           first = f->bytes;
    for (size_t n = 0; n < nodes; n++) {
        size_t begin = n * NODE, end = begin + NODE < children ? begin + NODE : children;
        und_hdf5_put(f, "TREE\001", 5);
        put(f, (uint64_t)level, 1);
        put(f, end - begin, 2);
        put(f, n > 0 ? first + (n - 1) * node : NOWHERE, 8);
        put(f, n + 1 < nodes ? first + (n + 1) * node : NOWHERE, 8);
        for (size_t c = begin; c < end; c++) {
            put_key(f, a, c * span);
            put(f, level ? below + c * node : a->chunk[c].address, 8);
        }
        put_key(f, a, end * span < a->chunk_count ? end * span : a->chunk_count);
        size_t rest = first + (n + 1) * node - f->bytes;
        unsigned char *blank = und_hdf5_room(f, rest);
        if (!blank)
            return 0;
        memset(blank, 0, rest);
        f->bytes += rest;
    }
    return first;
}

static size_t put_tree(hdf5_file *f, const hdf5_array *a)
{
    size_t at = 0, span = 1;
    for (int level = 0; level == 0 || span < a->chunk_count; level++, span *= NODE)
        at = put_level(f, a, level, span, at);
    return at;
}

static void put_layout(hdf5_file *f, const hdf5_array *a, size_t tree)
{
    if (a->chunk_count == 0) {
        begin_message(f, LAYOUT, 18);
        put(f, 3 | 1 << 8, 2);
        put(f, a->bytes ? a->address : NOWHERE, 8);
        put(f, a->bytes, 8);
        return;
    }
    begin_message(f, LAYOUT, 11 + 4 * ((size_t)a->rank + 1));
    put(f, 3 | 2 << 8, 2);
    put(f, (uint64_t)a->rank + 1, 1);
    put(f, tree, 8);
    for (int i = 0; i < a->rank; i++) {
        put(f, a->chunk_dim[i], 4);
        f->failed |= a->chunk_dim[i] > UINT32_MAX;
    }
    put(f, und_type_size(a->type), 4);
}

/* Filters 2, shuffle, and 1, deflate, each with one number. */
static void put_filters(hdf5_file *f, const hdf5_array *a)
{
    begin_message(f, FILTERS, 22);
    put(f, 2 | 2 << 8, 2);
    for (int id = 2; id > 0; id--) {
        put(f, (uint64_t)id, 2);
        put(f, 1, 2);
        put(f, 1, 2);
        put(f, id == 2 ? und_type_size(a->type) : (uint64_t)a->level, 4);
    }
}

void und_hdf5_begin_array(hdf5_file *f, const hdf5_array *a)
{
    size_t size = und_type_size(a->type), tree = a->chunk_count ? put_tree(f, a) : 0;
    begin_object(f);
    begin_message(f, DATASPACE, 4 + 8 * (size_t)a->rank);
    put_space(f, a->rank, a->dim);
    begin_message(f, DATATYPE, type_bytes((int)a->type));
    put_type(f, (int)a->type, size);
    begin_message(f, FILL_VALUE, 2);
    put(f, 3 | (a->chunk_count ? 3 | 1 << 2 : 1 | 1 << 2) << 8,
        2); /* space as needed or at once; never filled */
    put_layout(f, a, tree);
    if (a->chunk_count)
        put_filters(f, a);
    put_attribute_info(f);
}

void und_hdf5_begin(hdf5_file *f, size_t expected)
{
    *f = (hdf5_file){0};
    unsigned char *head = und_hdf5_room(f, SUPERBLOCK + expected);
    if (head)
        memset(head, 0, SUPERBLOCK);
    f->bytes = SUPERBLOCK;
}

bool und_hdf5_end(hdf5_file *f, size_t root)
{
    if (f->failed)
        return false;
    hdf5_file head = {.data = f->data, .room = SUPERBLOCK};
    und_hdf5_put(&head, "\211HDF\r\n\032\n\002\010\010\0", 12);
    put(&head, 0, 8);
    put(&head, NOWHERE, 8);
    put(&head, f->bytes, 8);
    put(&head, root, 8);
    put_checksum(&head, 0);
    return true;
}
