#include "base/file.h"
#include "base/status.h"
#include "cache/store.h"
#include "cache/store_format.h"
#include "cache/store_weld.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACK_RATIO = 1100, CHUNK_ENTRY = 8 };    /* a little over what deflate can do; bytes at least */
static const size_t ITEM_MAX = (size_t)1 << 33; /* bytes */

static const char *const KINDS[] = {[UND_FIELD] = "field",
                                    [UND_FACES] = "faces",
                                    [UND_PARTICLES] = "particles",
                                    [UND_BODIES] = "bodies",
                                    [UND_NUMBERS] = "numbers"};
static const char *const TYPES[] = {
    [UND_F32] = "float32", [UND_F64] = "float64", [UND_I32] = "int32", [UND_U8] = "uint8"};

const char *und_store_kind_name(und_kind kind)
{
    return KINDS[kind];
}

const char *und_store_type_name(und_type type)
{
    return TYPES[type];
}

static hid_t native_type(und_type type)
{
    return type == UND_F32   ? H5T_NATIVE_FLOAT
           : type == UND_F64 ? H5T_NATIVE_DOUBLE
           : type == UND_I32 ? H5T_NATIVE_INT32
                             : H5T_NATIVE_UINT8;
}

/* libhdf5 prints its errors to stderr unless told not to; what the program had set comes back. */
typedef struct store_quiet {
    H5E_auto2_t function;
    void *data;
} store_quiet;

static store_quiet be_quiet(void)
{
    store_quiet quiet = {0};
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

static void be_loud(store_quiet *quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
}

/* What is being read, for the messages. */
typedef struct reader {
    const char *path;
    hid_t file;
    size_t bytes;     /* of the file */
    const char *only; /* the one item wanted; NULL: all */
    und_error *err;
} reader;

static bool wrong(const reader *r, const char *where, const char *what)
{
    und_error_set(r->err, UND_FAILED, "%s: %s%s%s", r->path, where, *where ? ": " : "", what);
    return false;
}

/* Opens an attribute if its class and number of values are as expected. */
static hid_t open_attribute(hid_t object, const char *name, H5T_class_t class, hssize_t count)
{
    if (H5Aexists(object, name) <= 0)
        return -1;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool good = type >= 0 && space >= 0 && H5Tget_class(type) == class &&
                H5Sget_simple_extent_npoints(space) == count;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (!good)
        H5Aclose(attribute);
    return good ? attribute : -1;
}

static bool get(const reader *r, hid_t object, const char *name, hid_t native, int count, void *values)
{
    hid_t attribute = open_attribute(object, name, H5Tget_class(native), count);
    bool good = attribute >= 0 && H5Aread(attribute, native, values) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    return good || wrong(r, name, "attribute missing or of the wrong type");
}

/* A text attribute, malloc'ed; NULL with the error set. */
static char *get_text(const reader *r, hid_t object, const char *name)
{
    hid_t attribute = open_attribute(object, name, H5T_STRING, 1);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    size_t size = type >= 0 && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
    char *text = size > 0 && size <= STORE_TEXT_MAX ? calloc(size + 1, 1) : NULL;
    if (text && H5Aread(attribute, type, text) < 0) {
        free(text);
        text = NULL;
    }
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (!text)
        wrong(r, name, "attribute missing or of the wrong type");
    return text;
}

static bool read_header(const reader *r, und_frame *frame)
{
    int format, number;
    double time;
    und_grid grid = {0};
    if (!get(r, r->file, "format", H5T_NATIVE_INT, 1, &format))
        return false;
    if (format < STORE_CUBES || format > STORE_WELDED)
        return wrong(r, "format", "written by another version of the program");
    if (!get(r, r->file, "number", H5T_NATIVE_INT, 1, &number) ||
        !get(r, r->file, "time", H5T_NATIVE_DOUBLE, 1, &time) ||
        !get(r, r->file, "cells", H5T_NATIVE_INT, 3, grid.n) ||
        !get(r, r->file, "dx", H5T_NATIVE_DOUBLE, 1, &grid.dx) ||
        !get(r, r->file, "origin", H5T_NATIVE_DOUBLE, 3, grid.origin) ||
        (format != STORE_CUBES && (!get(r, r->file, "dy", H5T_NATIVE_DOUBLE, 1, &grid.dy) ||
                                   !get(r, r->file, "dz", H5T_NATIVE_DOUBLE, 1, &grid.dz))))
        return false;
    if (grid.n[0] < 0 || grid.n[1] < 0 || grid.n[2] < 0)
        return wrong(r, "cells", "negative");
    *frame = und_frame_empty(number, time, grid);
    return true;
}

static bool find_type(hid_t set, und_type *found)
{
    hid_t type = H5Dget_type(set);
    if (type < 0)
        return false;
    H5T_class_t class = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    H5Tclose(type);
    *found = class == H5T_FLOAT && size == 4     ? UND_F32
             : class == H5T_FLOAT && size == 8   ? UND_F64
             : class == H5T_INTEGER && size == 4 ? UND_I32
                                                 : UND_U8;
    return class == H5T_FLOAT ? size == 4 || size == 8 : class == H5T_INTEGER && (size == 4 || size == 1);
}

static bool find_shape(hid_t set, int *rank, size_t dim[4])
{
    hsize_t extent[4] = {0};
    hid_t space = H5Dget_space(set);
    *rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool good = *rank >= 0 && *rank <= 4 && H5Sget_simple_extent_type(space) != H5S_NULL &&
                H5Sget_simple_extent_dims(space, extent, NULL) >= 0;
    for (int i = 0; i < 4; i++)
        dim[i] = i < *rank ? (size_t)extent[i] : 0;
    if (space >= 0)
        H5Sclose(space);
    return good;
}

/* How many chunks a set has. */
static double count_chunks(hid_t create, const und_item_def *def)
{
    hsize_t chunk[4] = {0};
    double count = H5Pget_chunk(create, 4, chunk) == def->rank ? 1 : 0;
    for (int i = 0; i < def->rank && count > 0; i++)
        count *= chunk[i] > 0 ? ceil((double)def->dim[i] / (double)chunk[i]) : 0;
    return count;
}

/* Could the file hold that much?  Damaged sizes must not become huge allocations.  Chunks that are alike may
 * be one in the file, which has an entry for each. */
static bool plausible(const reader *r, hid_t set, const und_item_def *def)
{
    size_t bytes = und_type_size(def->type);
    for (int i = 0; i < def->rank; i++)
        if (__builtin_mul_overflow(bytes, def->dim[i], &bytes))
            return false;
    hid_t create = H5Dget_create_plist(set);
    H5D_layout_t layout = create >= 0 ? H5Pget_layout(create) : H5D_LAYOUT_ERROR;
    const double chunks = layout == H5D_CHUNKED ? count_chunks(create, def) : 1, file = (double)r->bytes;
    if (create >= 0)
        H5Pclose(create);
    size_t stored = (size_t)H5Dget_storage_size(set);
    if (bytes > ITEM_MAX || chunks * CHUNK_ENTRY > file || (double)stored > chunks * file)
        return false;
    return layout == H5D_CHUNKED ? bytes / PACK_RATIO <= stored : layout == H5D_CONTIGUOUS && stored == bytes;
}

static bool find_kind(const reader *r, hid_t set, und_kind *kind)
{
    char *text = get_text(r, set, "kind");
    bool found = false;
    for (int i = 0; text && !found && i < (int)(sizeof KINDS / sizeof *KINDS); i++) {
        found = strcmp(KINDS[i], text) == 0;
        *kind = (und_kind)i;
    }
    if (text && !found)
        wrong(r, "kind", "unknown");
    free(text);
    return found;
}

/* H5Lexists() wants every group on the way to exist. */
static bool exists(hid_t file, const char *name)
{
    char part[sizeof((und_item *)0)->name];
    bool good = true;
    for (const char *end = name; good && *end; end++) {
        end = strchrnul(end, '/');
        snprintf(part, sizeof part, "%.*s", (int)(end - name), name);
        good = H5Lexists(file, part, H5P_DEFAULT) > 0;
        if (!*end)
            break;
    }
    return good;
}

/* What a data set is, without unit and kind. */
static bool describe_set(const reader *r, hid_t set, const char *name, und_item_def *def)
{
    *def = (und_item_def){.name = name, .is_static = H5Aexists(set, "static") > 0};
    if (!find_type(set, &def->type))
        return wrong(r, name, "not an array of float32, float64, int32 or uint8");
    if (!find_shape(set, &def->rank, def->dim))
        return wrong(r, name, "more than four dimensions");
    return plausible(r, set, def) || wrong(r, name, "its size does not fit the file");
}

static bool read_values(const reader *r, hid_t set, const char *name, und_type type, size_t count, void *data)
{
    return count == 0 || H5Dread(set, native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0 ||
           wrong(r, name, "its data cannot be read");
}

/* The vertices of a mesh's corners, malloc'ed, each below `vertices`; NULL with the error set. */
static int32_t *read_index(const reader *r, const char *item, size_t vertices, size_t *corners)
{
    char name[48];
    hid_t set =
        und_weld_index_name(item, name) && exists(r->file, name) ? H5Dopen2(r->file, name, H5P_DEFAULT) : -1;
    und_item_def def;
    int32_t *index = NULL;
    bool good = set >= 0 ? describe_set(r, set, name, &def) : wrong(r, name, "listed but not there");
    if (good && (def.type != UND_I32 || def.rank != 1))
        good = wrong(r, name, "not a list of vertices");
    if (good && !(index = und_alloc(def.dim[0] + 1, sizeof *index, name, r->err)))
        good = false;
    good = good && read_values(r, set, name, UND_I32, def.dim[0], index);
    for (size_t i = 0; good && i < def.dim[0]; i++)
        if (index[i] < 0 || (size_t)index[i] >= vertices)
            good = wrong(r, name, "names a vertex that is not there");
    if (set >= 0)
        H5Dclose(set);
    *corners = good ? def.dim[0] : 0;
    if (!good)
        free(index);
    return good ? index : NULL;
}

/* The rows of vertices, each as often as a corner is there. */
static bool read_welded(const reader *r, hid_t set, const und_item_def *def, und_frame *frame)
{
    size_t corners, bytes = und_type_size(def->type);
    und_item_def loose = *def;
    for (int i = 1; i < def->rank; i++)
        bytes *= def->dim[i];
    int32_t *index = def->rank > 0 ? read_index(r, def->name, def->dim[0], &corners) : NULL;
    if (!index)
        return def->rank > 0 ? false : wrong(r, def->name, "not a list of vertices");
    loose.dim[0] = corners;
    bool good =
        bytes == 0 || corners <= ITEM_MAX / bytes || wrong(r, def->name, "its size does not fit the file");
    char *rows = good ? und_alloc(def->dim[0] + 1, bytes + 1, def->name, r->err) : NULL;
    good = rows && read_values(r, set, def->name, def->type, def->dim[0] * bytes, rows);
    und_item *item = good ? und_frame_add(frame, &loose, r->err) : NULL;
    for (size_t c = 0; item && c < corners; c++)
        memcpy((char *)item->data + c * bytes, rows + (size_t)index[c] * bytes, bytes);
    free(rows);
    free(index);
    return item != NULL;
}

static bool read_set(const reader *r, hid_t set, const char *name, und_frame *frame)
{
    und_item_def def;
    if (!describe_set(r, set, name, &def))
        return false;
    char *unit = get_text(r, set, "unit");
    if (!unit || strlen(unit) >= sizeof((und_item *)0)->unit) {
        if (unit)
            wrong(r, name, "its unit is too long");
        free(unit);
        return false;
    }
    def.unit = unit;
    bool good = find_kind(r, set, &def.kind);
    if (good && H5Aexists(set, STORE_INDEXED) > 0) {
        good = read_welded(r, set, &def, frame);
    } else if (good) {
        und_item *item = und_frame_add(frame, &def, r->err);
        good = item && read_values(r, set, name, def.type, und_item_count(item), item->data);
    }
    free(unit);
    return good;
}

static bool read_item(const reader *r, const char *name, und_frame *frame)
{
    if (!*name || strlen(name) >= sizeof frame->items->name)
        return wrong(r, "items", "a name is empty or too long");
    if (und_frame_find(frame, name))
        return wrong(r, name, "listed twice");
    hid_t set = exists(r->file, name) ? H5Dopen2(r->file, name, H5P_DEFAULT) : -1;
    if (set < 0)
        return wrong(r, name, "listed but not there");
    bool good = read_set(r, set, name, frame);
    H5Dclose(set);
    return good;
}

static bool copy_static(const reader *r, const und_frame *statics, const char *name, und_frame *frame)
{
    const und_item *from = statics ? und_frame_find(statics, name) : NULL;
    if (!from)
        return wrong(r, name, "not among the static items");
    und_item_def def = {.name = from->name,
                        .unit = from->unit,
                        .kind = from->kind,
                        .type = from->type,
                        .is_static = true,
                        .rank = from->rank};
    memcpy(def.dim, from->dim, sizeof def.dim);
    und_item *item = und_frame_add(frame, &def, r->err);
    if (item)
        memcpy(item->data, from->data, und_item_bytes(from));
    return item != NULL;
}

static bool read_all(const reader *r, const und_frame *statics, und_frame *frame)
{
    if (!read_header(r, frame))
        return false;
    char *names = get_text(r, r->file, "items"), *rest = NULL;
    bool good = names != NULL;
    for (char *line = good ? strtok_r(names, "\n", &rest) : NULL; good && line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (r->only && strcmp(line, r->only) != 0)
            continue;
        char *mark = strstr(line, STORE_ELSEWHERE);
        if (mark)
            *mark = 0;
        good = mark ? copy_static(r, statics, line, frame) : read_item(r, line, frame);
    }
    free(names);
    return good;
}

static hid_t open_file(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_locking(access, false, true) >= 0) /* we have our own lock, and some disks have none */
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

static und_status read_file(const char *path, const und_frame *statics, const char *only, und_frame *frame,
                            und_error *err)
{
    *frame = und_frame_empty(0, 0, (und_grid){0});
    struct stat info;
    if (stat(path, &info))
        return und_error_set(err, UND_FAILED, "cannot read %s: it is missing", path);
    store_quiet quiet = be_quiet();
    reader r = {
        .path = path, .bytes = (size_t)info.st_size, .only = only, .err = err, .file = open_file(path)};
    bool good = r.file >= 0 ? read_all(&r, statics, frame) : wrong(&r, "", "not an HDF5 file, or damaged");
    if (r.file >= 0)
        H5Fclose(r.file);
    be_loud(&quiet);
    if (!good)
        und_frame_clear(frame);
    return good ? UND_OK : UND_FAILED;
}

und_status und_store_read(const char *path, const und_frame *statics, und_frame *frame, und_error *err)
{
    return read_file(path, statics, NULL, frame, err);
}

und_status und_store_read_item(const char *path, const char *name, und_frame *frame, und_error *err)
{
    return read_file(path, NULL, name, frame, err);
}

/* The size of a file from its first STORE_HEAD bytes, 0 where they are not as we write them.
 * The superblock, version 2: 8 bytes of signature, 4 of version and sizes, then three addresses of 8 bytes
 * (base, extension, end of file), little-endian. */
static size_t end_of_file(const unsigned char *head)
{
    if (memcmp(head, "\211HDF\r\n\032\n\002\010\010", 11) != 0)
        return 0;
    size_t bytes = 0;
    for (int i = 7; i >= 0; i--)
        bytes = bytes << 8 | head[28 + i];
    return bytes;
}

size_t und_store_claimed_bytes(const char *path)
{
    unsigned char head[STORE_HEAD];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    return got == (ssize_t)sizeof head ? end_of_file(head) : 0;
}
