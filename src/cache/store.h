/* One HDF5 file: a frame, the static items, or a checkpoint.
 *
 * Every item is a dataset under its own name, with attributes `unit` and `kind`.  The root group has
 * `format`, `program`, `number`, `time`, `cells`, `dx`, `dy`, `dz` (0: cells are cubes; format 1
 * has only dx), `origin` and `items`: the names in the frame's order,
 * one per line; those kept in the file of static items are marked.  No times of creation, so the same frame
 * gives the same bytes.  After the HDF5 file, which says itself where it ends, a frame has its row of the
 * ledger. */
#ifndef UND_CACHE_STORE_H
#define UND_CACHE_STORE_H

#include "grid/frame.h"

typedef enum store_part {
    STORE_MOVING, /* what changes; static items are listed only */
    STORE_STATIC,
    STORE_ALL
} store_part;

typedef struct store_def {
    store_part part;
    int compress; /* 0: none, 1 to 9: deflate */
    int threads;
    const char *tail; /* text after what is HDF5's, NULL: none */
} store_def;

/* How to know a file again. */
typedef struct store_stamp {
    size_t bytes;
    uint64_t hash; /* und_file_hash() */
} store_stamp;

/* Not synced: und_cache_commit() is. */
und_status und_store_write(const char *path, const und_frame *frame, const store_def *def, store_stamp *stamp,
                           und_error *err);

/* Reads a file whose hash has been checked: libhdf5 itself is not safe against any damage.  Items marked as
 * static are copied from `statics`.  On an error the frame is left empty. */
und_status und_store_read(const char *path, const und_frame *statics, und_frame *frame, und_error *err);

/* The same of one item, which is not static; the frame stays without it where the file does not have it. */
und_status und_store_read_item(const char *path, const char *name, und_frame *frame, und_error *err);

/* The size that a file's own header claims, 0 where it cannot be told. */
size_t und_store_claimed_bytes(const char *path);

const char *und_store_kind_name(und_kind kind);
const char *und_store_type_name(und_type type);

#endif
