/* PLY, binary and little-endian, out: meshes and particles. */
#ifndef UND_IO_PLY_H
#define UND_IO_PLY_H

#include "geom/shell.h"

/* Which axis points up in a file.  Ours is y; with z up a place is (x, -z, y). */
typedef enum und_up { UND_UP_Y, UND_UP_Z } und_up;

/* `out` may be v. */
static inline void und_up_turn(und_up up, const float v[3], float out[3])
{
    float x = v[0], y = v[1], z = v[2];
    out[0] = x;
    out[1] = up == UND_UP_Z ? -z : y;
    out[2] = up == UND_UP_Z ? y : z;
}

/* What a texture adds to a shell's vertices; what is NULL is left out. */
typedef struct und_ply_texture {
    const float *uv;      /* [vertex_count][2] */
    const float *rest;    /* [vertex_count][3], m: where each was at first */
    const uint8_t *color; /* [vertex_count][3], sRGB */
} und_ply_texture;

/* Vertices: x y z, nx ny nz and, where the shell has them, vx vy vz; with a texture (NULL: none) u v, the
 * same again as s t (the names that Blender reads), rest_x rest_y rest_z and red green blue; faces of three
 * vertices.  Written to a temporary name, fsynced, renamed. */
und_status und_ply_write(const char *path, const und_shell *shell, const und_ply_texture *texture, und_up up,
                         und_error *err);

/* Particles; what is NULL is left out. */
typedef struct und_ply_particles {
    int count;
    const float *position, *velocity; /* [count][3] */
    const float *radius, *age;        /* [count] */
    const int32_t *id;
} und_ply_particles;

/* Vertices: x y z, vx vy vz, radius, age, id. */
und_status und_ply_write_particles(const char *path, const und_ply_particles *particles, und_up up,
                                   und_error *err);

#endif
