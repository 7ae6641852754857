/* What writing and reading of the HDF5 files share. */
#ifndef UND_CACHE_STORE_FORMAT_H
#define UND_CACHE_STORE_FORMAT_H

#include <undine/types.h>

#include <hdf5.h>

enum {
    STORE_CUBES = 1, /* the first, of cubes only */
    STORE_FORMAT = 2,
    STORE_WELDED = 3, /* the same, and it has meshes with shared vertices */
    STORE_TEXT_MAX = 1 << 16,
    STORE_HEAD = 36
};

/* Follows the name of an item that the file of static items keeps. */
#define STORE_ELSEWHERE "\tstatic"

/* What marks an item that is stored for the vertices; its corners' vertices are another array. */
#define STORE_INDEXED "indexed"

/* The size of a file from its first STORE_HEAD bytes, 0 where they are not as we write them. */
size_t und_store_end_of_file(const unsigned char *head);

hid_t und_store_native_type(und_type type);

/* libhdf5 prints its errors to stderr unless told not to; what the program had set comes back. */
typedef struct store_quiet {
    H5E_auto2_t function;
    void *data;
} store_quiet;

store_quiet und_store_quiet_begin(void);
void und_store_quiet_end(store_quiet *quiet);

#endif
