/* Meshes from files: Wavefront OBJ and PLY. */
#ifndef UND_GEOM_TRIMESH_FILE_H
#define UND_GEOM_TRIMESH_FILE_H

#include "geom/trimesh.h"

enum { UND_TRIMESH_FILE_MAX = 1 << 28 }; /* bytes */

/* The file's mesh, scaled, then turned by degrees about x, then y, then z.  A file that starts with "ply" is
 * PLY (ascii or binary little-endian), any other is OBJ.  Faces with more than three corners become fans;
 * colours of vertices ("v x y z r g b" or red, green, blue) are sRGB, as modelling programs write them. */
und_trimesh *und_trimesh_read(const char *path, double scale, und_vec3 turn, und_error *err);

/* What the readers of the two formats fill in; path, start, at, end and line are theirs alone. */
typedef struct und_mesh_text {
    const char *path;
    const char *start, *at, *end; /* the bytes, with a zero after the last */
    int line;
    und_error *err;
    int vertex_count, vertex_room, triangle_count, triangle_room;
    und_vec3 *vertex;
    float (*color)[3]; /* linear; negative: none */
    int (*triangle)[3];
    bool colored;
    /* A PLY's vertices as rows of numbers, instead of a mesh: the properties asked for by name, up to 32 and
     * ended by NULL, which of them it has as bits, and what takes each row; those it has not are 0. */
    const char *const *column;
    unsigned has;
    und_status (*take)(struct und_mesh_text *text, const double *row);
    void *taker;
} und_mesh_text;

/* The rows of a PLY file, where column, take and taker are set. */
und_status und_mesh_rows(und_mesh_text *text, const char *path, und_error *err);

/* A file's vertices and triangles, scaled and turned as above, without their tree; to be freed in any case.
 */
und_status und_mesh_load(und_mesh_text *text, const char *path, double scale, und_vec3 turn, und_error *err);
und_trimesh_def und_mesh_def(const und_mesh_text *text); /* borrows */
void und_mesh_free(und_mesh_text *text);

und_status und_mesh_read_obj(und_mesh_text *text);
und_status und_mesh_read_ply(und_mesh_text *text);

/* "FILE:LINE: what was expected, found the text at hand". */
und_status und_mesh_expected(und_mesh_text *text, const char *what);
/* `srgb` is NULL or three numbers from 0 to 1. */
und_status und_mesh_add_vertex(und_mesh_text *text, und_vec3 v, const double *srgb);
und_status und_mesh_add_triangle(und_mesh_text *text, int a, int b, int c);

#endif
