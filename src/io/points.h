/* Particles with attributes from files: CSV, PLY and OpenVDB points. */
#ifndef UND_IO_POINTS_H
#define UND_IO_POINTS_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of a particle. */
enum {
    UND_POINT_X,
    UND_POINT_Y,
    UND_POINT_Z,
    UND_POINT_VX,
    UND_POINT_VY,
    UND_POINT_VZ,
    UND_POINT_NX,
    UND_POINT_NY,
    UND_POINT_NZ,
    UND_POINT_RADIUS,
    UND_POINT_STRENGTH,
    UND_POINT_VALUE,
    UND_POINT_NUMBERS
};

enum { UND_POINT_ROWS_MAX = 1 << 27 };

/* Rows as a file has them; a frame's number and an id too where it has them. */
typedef struct und_point_rows {
    unsigned has; /* bit i: number i */
    bool has_frame, has_id;
    int count, room;
    float (*number)[UND_POINT_NUMBERS];
    double *frame;
    int32_t *id;
} und_point_rows;

/* A file's rows, sorted by frame, then by id; without ids they have their places in their frame.  By the
 * ending of its name: .csv, .ply (ascii or binary little-endian) or .vdb, of which `grid` names the points
 * (NULL: the first).  To be freed in any case. */
und_status und_points_read(const char *path, const char *grid, und_point_rows *rows, und_error *err);
void und_points_free(und_point_rows *rows);

/* Rows of one frame that follow each other in a file. */
typedef struct und_point_run {
    double frame;
    int64_t offset; /* bytes */
    int line, rows;
} und_point_run;

/* Which frames a file has, in the order of their numbers, and where.  A file without such numbers is one
 * frame, and this is empty. */
typedef struct und_point_index {
    bool has_frame;
    int count;
    struct und_point_span {
        double frame;
        int first, runs, rows;
    } * span; /* of each frame: its runs, and its rows */
    int run_count, run_room;
    und_point_run *run;
} und_point_index;

enum { UND_POINT_RUNS_MAX = 1 << 22 };

/* To be freed in any case.  Rows that are not looked at for it are not checked. */
und_status und_points_index(const char *path, und_point_index *index, und_error *err);
void und_points_index_free(und_point_index *index);
/* The rows of the frame at a place in the index, or all where it is empty; as above. */
und_status und_points_read_frame(const char *path, const char *grid, const und_point_index *index, int which,
                                 und_point_rows *rows, und_error *err);

/* Room for one more row, all 0; NULL with the error set. */
float *und_points_add(und_point_rows *rows, const char *path, und_error *err);

/* vdb_points.cpp */
und_status und_vdb_read_points(const char *path, const char *grid, und_point_rows *rows, und_error *err);

/* Places, and velocities, radii and ids where the rows have them, in voxels of that size, m. */
und_status und_vdb_write_points(const char *path, const und_point_rows *rows, double voxel, und_error *err);

#ifdef __cplusplus
}
#endif
#endif
