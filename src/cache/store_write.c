#include "base/file.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cache/store.h"
#include "cache/store_format.h"
#include "cache/store_weld.h"

#include <assert.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Arrays of at least COMPRESS_FROM bytes are cut along their slowest axis into chunks of about CHUNK bytes.
 */
enum { COMPRESS_FROM = 1 << 14, CHUNK = 1 << 20, BATCH = 16 };
static const size_t CHUNK_MAX = (size_t)1 << 30;

/* The file is made in memory: libhdf5 does not recover from a disk that fills up, our own write does.  The
 * driver hands its buffer over when it closes. */
typedef struct memory_file {
    char *data;
} memory_file;

static void *image_malloc(size_t bytes, H5FD_file_image_op_t op, void *user)
{
    (void)op;
    (void)user;
    return malloc(bytes);
}

static void *image_copy(void *to, const void *from, size_t bytes, H5FD_file_image_op_t op, void *user)
{
    (void)op;
    (void)user;
    return memcpy(to, from, bytes);
}

static void *image_realloc(void *data, size_t bytes, H5FD_file_image_op_t op, void *user)
{
    (void)op;
    (void)user;
    return realloc(data, bytes);
}

static herr_t image_free(void *data, H5FD_file_image_op_t op, void *user)
{
    if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
        ((memory_file *)user)->data = data;
    else
        free(data);
    return 0;
}

static void *user_copy(void *user)
{
    return user;
}

static herr_t user_free(void *user)
{
    (void)user;
    return 0;
}

/* The driver would read a file that has this name: so none can. */
static const char NO_FILE[] = "/dev/null/frame";

static hid_t create_in_memory(memory_file *memory, size_t grow)
{
    H5FD_file_image_callbacks_t callbacks = {.image_malloc = image_malloc,
                                             .image_memcpy = image_copy,
                                             .image_realloc = image_realloc,
                                             .image_free = image_free,
                                             .udata_copy = user_copy,
                                             .udata_free = user_free,
                                             .udata = memory};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE), file = -1;
    if (access >= 0 && create >= 0 && H5Pset_fapl_core(access, grow, false) >= 0 &&
        H5Pset_file_image_callbacks(access, &callbacks) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
        H5Pset_obj_track_times(create, false) >= 0)
        file = H5Fcreate(NO_FILE, H5F_ACC_TRUNC, create, access);
    if (access >= 0)
        H5Pclose(access);
    if (create >= 0)
        H5Pclose(create);
    return file;
}

static bool put(hid_t object, const char *name, hid_t type, hid_t space, const void *value)
{
    hid_t attribute = space < 0 ? -1 : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0)
        good = H5Aclose(attribute) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    return good;
}

static bool put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                put(object, name, type, H5Screate(H5S_SCALAR), text);
    if (type >= 0)
        H5Tclose(type);
    return good;
}

static bool put_int(hid_t object, const char *name, int value)
{
    return put(object, name, H5T_NATIVE_INT, H5Screate(H5S_SCALAR), &value);
}

static bool put_double(hid_t object, const char *name, double value)
{
    return put(object, name, H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), &value);
}

static bool put_header(hid_t file, const und_frame *frame, const char *names, int format)
{
    const hsize_t three = 3;
    return put_text(file, "program", "undine " UND_VERSION) && put_int(file, "format", format) &&
           put_int(file, "number", frame->number) && put_double(file, "time", frame->time) &&
           put(file, "cells", H5T_NATIVE_INT, H5Screate_simple(1, &three, NULL), frame->grid.n) &&
           put_double(file, "dx", frame->grid.dx) && put_double(file, "dy", frame->grid.dy) &&
           put_double(file, "dz", frame->grid.dz) &&
           put(file, "origin", H5T_NATIVE_DOUBLE, H5Screate_simple(1, &three, NULL), frame->grid.origin) &&
           put_text(file, "items", names);
}

/* HDF5's shuffle: first bytes of all elements, then second bytes, and so on. */
static void shuffle(const unsigned char *from, size_t count, size_t size, unsigned char *to)
{
    for (size_t byte = 0; byte < size; byte++)
        for (size_t i = 0; i < count; i++)
            to[byte * count + i] = from[i * size + byte];
}

typedef struct packer {
    const und_item *item;
    size_t rows, row_bytes; /* of a chunk along the slowest axis; of one of them */
    int level;
    unsigned char *raw[BATCH], *mixed[BATCH], *packed[BATCH];
    size_t bound, size[BATCH]; /* size 0: zlib failed */
} packer;

/* A zlib stream; its length, 0 where it failed.  Shuffled floats are runs of equal high bytes and low bytes
 * like noise, so level 1 looks for runs only: half the time of zlib's own level 1, 2 to 4 % larger. */
static size_t deflate_block(unsigned char *from, size_t bytes, unsigned char *to, size_t room, int level)
{
    z_stream stream = {.next_in = from, .avail_in = (uInt)bytes, .next_out = to, .avail_out = (uInt)room};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15, 9, level > 1 ? Z_DEFAULT_STRATEGY : Z_RLE) != Z_OK)
        return 0;
    int rc = deflate(&stream, Z_FINISH);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    return rc == Z_STREAM_END ? length : 0;
}

/* Packs chunk `number` into slot `k`; the part beyond the array's end is zero. */
static void pack(packer *p, size_t number, int k)
{
    size_t first = number * p->rows, left = p->item->dim[0] - first;
    size_t bytes = p->rows * p->row_bytes, used = (left < p->rows ? left : p->rows) * p->row_bytes;
    size_t size = und_type_size(p->item->type);
    memcpy(p->raw[k], (const char *)p->item->data + first * p->row_bytes, used);
    memset(p->raw[k] + used, 0, bytes - used);
    shuffle(p->raw[k], bytes / size, size, p->mixed[k]);
    p->size[k] = deflate_block(p->mixed[k], bytes, p->packed[k], p->bound, p->level);
}

/* Packs chunks side by side, and hands them over in order: the same bytes at any thread count. */
static bool write_packed(hid_t set, packer *p, int threads)
{
    size_t chunks = (p->item->dim[0] + p->rows - 1) / p->rows, bytes = p->rows * p->row_bytes;
    p->bound = bytes + bytes / 7 + 64; /* deflateBound() is below bytes * (1 + 1/8 + 1/64) + 13 */
    int slots = chunks < BATCH ? (int)chunks : BATCH;
    unsigned char *scratch = malloc((size_t)slots * (2 * bytes + p->bound));
    bool good = scratch != NULL;
    for (int k = 0; good && k < slots; k++) {
        p->raw[k] = scratch + (size_t)k * (2 * bytes + p->bound);
        p->mixed[k] = p->raw[k] + bytes;
        p->packed[k] = p->mixed[k] + bytes;
    }
    for (size_t first = 0; good && first < chunks; first += BATCH) {
        int count = chunks - first < BATCH ? (int)(chunks - first) : BATCH;
        int team = count < threads ? count : threads;
        PARALLEL_FOR(team)
        for (int k = 0; k < count; k++)
            pack(p, first + (size_t)k, k);
        for (int k = 0; good && k < count; k++) {
            hsize_t offset[4] = {(first + (size_t)k) * p->rows};
            good = p->size[k] && H5Dwrite_chunk(set, H5P_DEFAULT, 0, offset, p->size[k], p->packed[k]) >= 0;
        }
    }
    free(scratch);
    return good;
}

static bool make_group(hid_t file, const char *name)
{
    if (H5Lexists(file, name, H5P_DEFAULT) > 0)
        return true;
    hid_t create = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = create >= 0 && H5Pset_obj_track_times(create, false) >= 0
                      ? H5Gcreate2(file, name, H5P_DEFAULT, create, H5P_DEFAULT)
                      : -1;
    if (create >= 0)
        H5Pclose(create);
    return group >= 0 && H5Gclose(group) >= 0;
}

/* Makes the groups that a name such as "rain/position" lies in. */
static bool make_groups(hid_t file, const char *name)
{
    char group[sizeof((und_item *)0)->name];
    bool good = true;
    for (const char *slash = strchr(name, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
        good = make_group(file, group);
    }
    return good;
}

static bool is_packed(const und_item *item, int compress, packer *p)
{
    size_t bytes = und_item_bytes(item);
    if (compress <= 0 || item->rank < 1 || bytes < COMPRESS_FROM)
        return false;
    p->item = item;
    p->level = compress < 9 ? compress : 9;
    p->row_bytes = bytes / item->dim[0];
    p->rows = CHUNK / p->row_bytes ? CHUNK / p->row_bytes : 1;
    p->rows = p->rows < item->dim[0] ? p->rows : item->dim[0];
    return p->row_bytes <= CHUNK_MAX;
}

static bool write_data(hid_t set, hid_t type, const und_item *item, packer *p, int threads)
{
    if (p->item)
        return write_packed(set, p, threads);
    return und_item_count(item) == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, item->data) >= 0;
}

static hid_t creation_list(const und_item *item, const packer *p)
{
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    bool good = create >= 0 && H5Pset_obj_track_times(create, false) >= 0 &&
                H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0;
    if (good && p->item) {
        hsize_t chunk[4] = {p->rows};
        for (int i = 1; i < item->rank; i++)
            chunk[i] = item->dim[i];
        good = H5Pset_chunk(create, item->rank, chunk) >= 0 && H5Pset_shuffle(create) >= 0 &&
               H5Pset_deflate(create, (unsigned)p->level) >= 0;
    } else if (good) {
        good = H5Pset_layout(create, H5D_CONTIGUOUS) >= 0 &&
               H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY) >= 0;
    }
    if (!good && create >= 0)
        H5Pclose(create);
    return good ? create : -1;
}

static bool write_item(hid_t file, const und_item *item, bool indexed, const store_def *def)
{
    assert(item->rank >= 0 && item->rank <= 4 && !strpbrk(item->name, "\n\t"));
    packer p = {0};
    if (!is_packed(item, def->compress, &p))
        p.item = NULL;
    hsize_t dim[4];
    for (int i = 0; i < item->rank; i++)
        dim[i] = item->dim[i];
    hid_t type = und_store_native_type(item->type);
    hid_t create = creation_list(item, &p), set = -1;
    hid_t space = item->rank ? H5Screate_simple(item->rank, dim, NULL) : H5Screate(H5S_SCALAR);
    if (create >= 0 && space >= 0 && make_groups(file, item->name))
        set = H5Dcreate2(file, item->name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    bool good = set >= 0 && write_data(set, type, item, &p, def->threads) &&
                put_text(set, "unit", item->unit) && put_text(set, "kind", und_store_kind_name(item->kind)) &&
                (!item->is_static || put_int(set, "static", 1)) &&
                (!indexed || put_int(set, STORE_INDEXED, 1));
    if (set >= 0)
        good = H5Dclose(set) >= 0 && good;
    if (space >= 0)
        H5Sclose(space);
    if (create >= 0)
        H5Pclose(create);
    return good;
}

static bool belongs(const und_item *item, store_part part)
{
    return part == STORE_ALL || item->is_static == (part == STORE_STATIC);
}

/* The list of names, malloc'ed. */
static char *list_names(const und_frame *frame, store_part part)
{
    size_t room = (size_t)frame->count * (sizeof frame->items->name + sizeof STORE_ELSEWHERE) + 1, at = 0;
    char *names = calloc(room, 1);
    for (int i = 0; names && i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        bool here = belongs(item, part);
        if (here || part == STORE_MOVING)
            at += (size_t)snprintf(names + at, room - at, "%s%s\n", item->name, here ? "" : STORE_ELSEWHERE);
    }
    return names;
}

enum { WELDS = 4 };

static int find_welds(const und_frame *frame, store_part part, store_weld welds[WELDS])
{
    int count = 0;
    for (int i = 0; i < frame->count && count < WELDS; i++)
        if (belongs(&frame->items[i], part))
            count += und_weld_make(frame, &frame->items[i], &welds[count]);
    return count;
}

/* An item of a mesh, for its vertices; and with the positions, which vertices its corners are. */
static bool write_welded(hid_t file, const und_item *item, const store_weld *weld, const store_def *def)
{
    char name[sizeof item->name];
    und_item rows = *item;
    rows.dim[0] = weld->vertices;
    rows.data = und_weld_gather(weld, item);
    bool good = rows.data && write_item(file, &rows, true, def);
    free(rows.data);
    if (good && strcmp(item->name + strlen(weld->prefix), "position") == 0 &&
        und_weld_index_name(item->name, name)) {
        und_item index = {
            .unit = "1", .kind = item->kind, .type = UND_I32, .rank = 1, .dim = {weld->corners}};
        snprintf(index.name, sizeof index.name, "%s", name);
        index.data = weld->index;
        good = write_item(file, &index, false, def);
    }
    return good;
}

static bool write_items(hid_t file, const und_frame *frame, const store_def *def)
{
    store_weld welds[WELDS];
    int weld_count = find_welds(frame, def->part, welds);
    char *names = list_names(frame, def->part);
    bool good = names && strlen(names) < STORE_TEXT_MAX &&
                put_header(file, frame, names, weld_count ? STORE_WELDED : STORE_FORMAT);
    for (int i = 0; good && i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        int k = 0;
        while (k < weld_count && !und_weld_has(&welds[k], item))
            k++;
        if (belongs(item, def->part))
            good = k < weld_count ? write_welded(file, item, &welds[k], def)
                                  : write_item(file, item, false, def);
    }
    for (int k = 0; k < weld_count; k++)
        und_weld_free(&welds[k]);
    free(names);
    return good;
}

/* How the file grows in memory: the driver fills each step with zeros. */
static size_t step_of(const und_frame *frame, store_part part)
{
    size_t bytes = 0;
    for (int i = 0; i < frame->count; i++)
        bytes += belongs(&frame->items[i], part) ? und_item_bytes(&frame->items[i]) : 0;
    return bytes < CHUNK / 4 ? CHUNK / 16 : bytes < 16 * CHUNK ? CHUNK / 4 : 4 * CHUNK;
}

static bool add_tail(memory_file *memory, size_t *bytes, const char *tail)
{
    size_t length = tail ? strlen(tail) : 0;
    char *grown = length ? realloc(memory->data, *bytes + length) : memory->data;
    if (!grown)
        return false;
    memory->data = grown;
    if (length)
        memcpy(grown + *bytes, tail, length);
    *bytes += length;
    return true;
}

und_status und_store_write(const char *path, const und_frame *frame, const store_def *def, store_stamp *stamp,
                           und_error *err)
{
    store_quiet quiet = und_store_quiet_begin();
    memory_file memory = {0};
    hid_t file = create_in_memory(&memory, step_of(frame, def->part));
    bool good = file >= 0 && write_items(file, frame, def);
    hsize_t room = 0; /* the driver's buffer grows in large steps */
    good = good && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 && H5Fget_filesize(file, &room) >= 0;
    if (file >= 0)
        good = H5Fclose(file) >= 0 && good;
    und_store_quiet_end(&quiet);
    size_t bytes =
        good && memory.data && room >= STORE_HEAD ? und_store_end_of_file((unsigned char *)memory.data) : 0;
    if (bytes == 0 || bytes > room || !add_tail(&memory, &bytes, def->tail)) {
        free(memory.data);
        return und_error_set(err, UND_FAILED, "cannot write %s: out of memory, or an item that HDF5 refuses",
                             path);
    }
    stamp->bytes = bytes;
    stamp->hash = und_file_hash_memory(memory.data, bytes, def->threads);
    und_status status = und_file_write_unsynced(path, memory.data, bytes, err);
    free(memory.data);
    return status;
}
