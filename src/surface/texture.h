/* Texture particles (Rasmussen et al. 2004, section 6): points on the liquid's surface that remember where
 * they were at first, carried through the velocities that frames hold.  What a texture needs to know of a
 * place on the surface, the place it has come from, is interpolated from the 64 nearest. */
#ifndef UND_SURFACE_TEXTURE_H
#define UND_SURFACE_TEXTURE_H

#include "grid/frame.h"

/* A camera as it stood when the plate was taken: where a place is in its picture. */
typedef struct und_plate {
    double eye[3], right[3], up[3], forward[3]; /* m; unit vectors */
    double half;                                /* tangent of half the angle from top to bottom */
    double aspect;                              /* width over height */
} und_plate;

/* Normalised device coordinates: u from the left to the right, v from the bottom to the top, 0 to 1. */
void und_plate_project(const und_plate *plate, const float place[3], float uv[2]);

typedef struct und_texture_def {
    double spacing;         /* cells from a particle to the next, about; 0.5 */
    uint64_t seed;          /* 1 */
    const und_plate *plate; /* kept with the frames; NULL: none */
    int threads;
} und_texture_def;

und_texture_def und_texture_def_default(void);

typedef struct und_texture und_texture;

/* On the surface of a frame that has a distance and velocities: of the liquid's mesh, where it touches walls
 * and solids too.  UND_INVALID where the frame does not have what is needed. */
und_texture *und_texture_create(const und_texture_def *def, const und_frame *first, und_error *err);
void und_texture_destroy(und_texture *texture);

/* To the next frame, whose grid may be another. */
und_status und_texture_advance(und_texture *texture, const und_frame *next, und_error *err);

/* Adds "texture/position", "texture/rest", "texture/id" and what is the same in all frames: "texture/side"
 * and "texture/plate". */
und_status und_texture_frame(const und_texture *texture, und_frame *frame, und_error *err);

typedef struct und_texture_count {
    int particles, born, gone; /* since the frame before */
    int new_liquid;            /* of those born: where no other was near */
    int substeps;
} und_texture_count;

und_texture_count und_texture_counts(const und_texture *texture);

/* Lookups into a frame's particles. */
typedef struct und_texture_map und_texture_map;

bool und_texture_in_frame(const und_frame *frame);

/* UND_FAILED where the frame's particles are damaged.  It keeps nothing of the frame. */
und_texture_map *und_texture_map_create(const und_frame *frame, int threads, und_error *err);
void und_texture_map_destroy(und_texture_map *map);

/* Where the liquid at each of `count` places, [count][3], m, was at first: a plane fitted to what the 64
 * nearest particles remember, weighted by how near they are, down to 0 at the farthest of them.  Continuous,
 * and exact where that is a linear function of place. */
void und_texture_map_look(const und_texture_map *map, const float *place, int count, float *rest);

const und_plate *und_texture_map_plate(const und_texture_map *map); /* NULL: none */
double und_texture_map_side(const und_texture_map *map); /* m; the longest of the grid's box at first */

#endif
