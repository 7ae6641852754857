/* What the files of texture particles share. */
#ifndef UND_SURFACE_TEXTURE_STATE_H
#define UND_SURFACE_TEXTURE_STATE_H

#include "grid/mac.h"
#include "surface/nearest.h"
#include "surface/texture.h"

/* What a frame says of the flow, on a grid that vectors can read.  Distances in cells. */
typedef struct texture_flow {
    und_mac mac;
    int number;
    double time;
    float *u[3]; /* m/s */
    float *phi;
    float *solid;   /* NULL: none */
    double fastest; /* m/s, of the liquid */
} texture_flow;

typedef struct texture_points {
    int count, capacity;
    double *place; /* [capacity][3], m */
    float *rest;   /* [capacity][3], m: where it was at first */
    int32_t *id;
} texture_points;

struct und_texture {
    und_texture_def def;
    und_plate plate;
    double side; /* m; the longest of the first frame's box */
    int threads;
    texture_flow flow[2]; /* of the frame that the particles are at, and of the one before or after */
    texture_points points;
    int32_t next_id;
    und_texture_count told;
};

struct und_texture_map {
    und_nearest tree;
    float *rest; /* [count][3], in the tree's order */
    int threads;
    bool has_plate;
    und_plate plate;
    double side;
};

/* How far a particle may be from the surface, cells: it is put back onto it; it is kept. */
static const float TEXTURE_NEAR = 1.5f, TEXTURE_KEPT = 3;

/* Along the flow from one frame to the other. */
void und_texture_carry(und_texture *t, const texture_flow *from, const texture_flow *to);
/* Those near the surface go onto it; lost[i] is set where one is too far from it. */
void und_texture_pull(und_texture *t, const texture_flow *at, uint8_t *lost);

/* Takes out those that have come too near to one another. */
und_status und_texture_thin(und_texture *t, uint8_t *lost, und_error *err);
/* Adds some where the frame's surface has none; on the first frame everywhere. */
und_status und_texture_fill(und_texture *t, const und_frame *frame, und_error *err);

und_status und_texture_points_reserve(texture_points *p, int capacity, und_error *err);
/* The places as floats, [count][3]. */
float *und_texture_places(const texture_points *p, und_error *err);
und_status und_texture_map_open(und_texture_map *map, const float *place, const float *rest, int count,
                                int threads, und_error *err);
void und_texture_map_close(und_texture_map *map);

#endif
