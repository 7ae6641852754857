/* OpenVDB files: sparse grids that other programs read, out and in. */
#ifndef UND_IO_VDB_H
#define UND_IO_VDB_H

#include "geom/isosurface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum und_vdb_kind {
    UND_VDB_LEVEL_SET, /* a distance; kept where it is nearer than the background, its sign elsewhere */
    UND_VDB_SCALAR,
    UND_VDB_STAGGERED /* a vector: each voxel has its low faces' components */
} und_vdb_kind;

/* A dense block of voxels that is written as a sparse grid. */
typedef struct und_vdb_grid {
    const char *name;
    und_vdb_kind kind;
    int low[3], n[3];      /* the first voxel, and how many; x fastest, then y, then z */
    double voxel;          /* m */
    double origin[3];      /* the middle of voxel (0, 0, 0), m */
    const float *value[3]; /* one, or one for each component */
    const uint8_t *active; /* which voxels are kept; not of a level set */
    float background;      /* of a level set: half the band's width, m; 0 for the others */
} und_vdb_grid;

/* What goes with the grids. */
typedef struct und_vdb_def {
    int grid_count;
    const und_vdb_grid *grids;
    int frame;
    double time;
    bool half; /* values in 16 bits */
    bool z_up; /* said in the file; the grids are turned already */
    int threads;
} und_vdb_def;

/* Written to a temporary name, fsynced, renamed.  The same grids give the same bytes. */
und_status und_vdb_write(const char *path, const und_vdb_def *def, und_error *err);

/* Reads a grid of floats, by name or where that is NULL the first, or a component of one of vectors
 * ("vel.x"), into *values (malloc'ed, x fastest): its active voxels and one more around them.  UND_INVALID
 * where there is no such grid, it is turned or larger than 2^27 values; UND_FAILED where the file is damaged.
 */
und_status und_vdb_read_lattice(const char *path, const char *name, und_lattice *lattice, float **values,
                                und_error *err);

/* The same of a grid of vectors: three values for each voxel's middle, to which those of a staggered one are
 * brought. */
und_status und_vdb_read_vectors(const char *path, const char *name, und_lattice *lattice, float **values,
                                und_error *err);

#ifdef __cplusplus
}
#endif

#endif
