/* What writing and reading of the HDF5 files share. */
#ifndef UND_CACHE_STORE_FORMAT_H
#define UND_CACHE_STORE_FORMAT_H

#include <undine/types.h>

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

#endif
