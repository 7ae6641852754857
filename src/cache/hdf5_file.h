/* Writes HDF5 files, as much of the format as a cache needs: groups, arrays, attributes.  libhdf5 takes 0.4
 * ms for a frame of some kilobytes, most of it for its own tables; laying the same bytes out takes a
 * twentieth. It is libhdf5 that reads them.
 *
 * HDF5 File Format Specification, version 2.0: a superblock of version 2, object headers of version 2, links
 * and attributes in the headers, arrays contiguous or in chunks, found by a B-tree of version 1.  Objects
 * come before what refers to them: arrays, then their groups, the root last. */
#ifndef UND_CACHE_HDF5_FILE_H
#define UND_CACHE_HDF5_FILE_H

#include <undine/types.h>

/* The file grows in memory. */
typedef struct hdf5_file {
    unsigned char *data;
    size_t bytes, room;
    size_t header; /* where the object header begins that is being written */
    bool failed;   /* out of memory, or more than the format can hold; all that follows does nothing */
} hdf5_file;

/* A chunk that is in the file. */
typedef struct hdf5_chunk {
    size_t address, bytes;
} hdf5_chunk;

/* An array: dim slowest first. */
typedef struct hdf5_array {
    und_type type;
    int rank;
    const size_t *dim;
    size_t address, bytes; /* contiguous: where the values are */
    /* In chunks, shuffled and deflated, each of chunk_dim values, the fastest axis first to count; those at
     * the array's end are filled up.  0: none. */
    size_t chunk_count, chunk_dim[4];
    const hdf5_chunk *chunk;
    int level; /* of deflate: only a note */
} hdf5_array;

void und_hdf5_begin(hdf5_file *file, size_t expected);
/* Where the next bytes go. */
size_t und_hdf5_put(hdf5_file *file, const void *data, size_t bytes);
/* Room for bytes that the caller writes before anything else is put; NULL where there is none. */
unsigned char *und_hdf5_room(hdf5_file *file, size_t bytes);

/* An object header is begun, gets its attributes and links, and is ended: its address. */
void und_hdf5_begin_array(hdf5_file *file, const hdf5_array *array);
void und_hdf5_begin_group(hdf5_file *file);
void und_hdf5_text(hdf5_file *file, const char *name, const char *text);
void und_hdf5_ints(hdf5_file *file, const char *name, int count, const int *value);       /* 0: a scalar */
void und_hdf5_doubles(hdf5_file *file, const char *name, int count, const double *value); /* 0: a scalar */
void und_hdf5_link(hdf5_file *file, const char *name, size_t length, size_t address);
size_t und_hdf5_end_object(hdf5_file *file);

/* Writes the superblock; false: it failed on the way.  The caller frees file->data in any case. */
bool und_hdf5_end(hdf5_file *file, size_t root);

#endif
