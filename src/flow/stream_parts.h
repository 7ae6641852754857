/* What the stages of a stream need for themselves. */
#ifndef UND_FLOW_STREAM_PARTS_H
#define UND_FLOW_STREAM_PARTS_H

#include "flow/stream.h"

enum {
    UND_STREAM_ROWS = 16,                          /* rows that are one iteration's work */
    UND_STREAM_CELLS_TO_SHARE = 1 << 13,           /* fewer are not worth waking a thread */
    UND_STREAM_WORDS = 512,                        /* of masks, worked on at once; no row has more */
    UND_STREAM_LONGEST = 64 * UND_STREAM_WORDS - 2 /* cells of a row */
};

/* stream_advect.c: MacCormack's rule. */
typedef struct und_stream_advect_parts {
    float *guess;     /* a component moved as semi-Lagrangian advection does */
    float *high;      /* the largest value around where a face came from */
    und_mask shut[3]; /* faces that are closed and touch a cell of the liquid */
    und_mask whole;   /* places between faces whose guesses are known, each at its lowest face */
} und_stream_advect_parts;

und_status und_stream_advect_open(und_stream_advect_parts *a, const und_mac *mac, und_error *err);
void und_stream_advect_close(und_stream_advect_parts *a);

/* stream_extend.c */
typedef struct und_stream_extend_parts {
    und_mask set[3];      /* faces beyond which u is 0 */
    und_mask known[2][3]; /* the layers so far, by turns */
    uint64_t *inside[3];  /* of a slice: the faces in the domain and on its border */
    uint64_t *none;       /* a slice of nothing */
} und_stream_extend_parts;

und_status und_stream_extend_open(und_stream_extend_parts *e, const und_mac *mac, und_error *err);
void und_stream_extend_close(und_stream_extend_parts *e);

/* Fields of faces, known in `flows`, up to `layers` cells further: each the mean of those known beside it. */
void und_stream_extend_layers(und_stream *s, float *const field[3], int layers, const und_mask *known[3]);
/* Rows beside the domain along y and z: as those they touch. */
void und_stream_copy_beside(const und_mac *m, float *field, int axis);

/* stream_project.c and stream_diffuse.c: their systems. */
typedef struct und_stream_system_parts {
    float *known, *b, *weight;
    double *x;
    float *slice; /* of each slice: the largest |b| */
} und_stream_system_parts;

und_status und_stream_system_open(und_stream_system_parts *p, const und_mac *mac, und_error *err);
void und_stream_system_close(und_stream_system_parts *p);

/* stream.c: labels of cells with phi below a level, then of their faces. */
void und_stream_label_cells(und_stream *s, const und_distance *d, const und_solids *solids, float level);
void und_stream_label_faces(und_stream *s, const und_solids *solids);

/* stream_gain.c: what of a component is carried along; until the next call. */
const float *und_stream_moved(und_stream *s, int axis);

typedef struct und_stream_parts {
    float *fields;  /* of u and next */
    float *gained;  /* of those fields */
    float *moved;   /* a component of u and what it gained; NULL: u itself is carried along */
    float *fastest; /* of each UND_STREAM_ROWS rows */
    und_stream_advect_parts advect;
    und_stream_extend_parts extend;
    und_stream_system_parts system;
    struct {
        und_mask cells, faces[3];
    } air; /* near the liquid, whose flow is to keep its volume too */
} und_stream_parts;

#endif
