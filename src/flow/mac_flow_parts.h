/* What the stages of a flow need for themselves. */
#ifndef UND_FLOW_MAC_FLOW_PARTS_H
#define UND_FLOW_MAC_FLOW_PARTS_H

#include "flow/mac_flow.h"
#include "flow/mac_flow_gain_kernel.h"
#include "flow/mac_flow_label_kernel.h"

enum {
    UND_MAC_FLOW_ROWS = 16,                            /* rows that are one iteration's work */
    UND_MAC_FLOW_CELLS_TO_SHARE = 1 << 13,             /* fewer are not worth waking a thread */
    UND_MAC_FLOW_WORDS = 512,                          /* of masks, worked on at once; no row has more */
    UND_MAC_FLOW_LONGEST = 64 * UND_MAC_FLOW_WORDS - 2 /* cells of a row */
};

/* mac_flow_advect.c: MacCormack's rule. */
typedef struct und_mac_flow_advect_parts {
    float *reach;     /* of each slice: how many cells along z its faces go, at most; */
    ptrdiff_t *away;  /* how far from its place what is kept of it lies; */
    int *free;        /* and of a slab's: those where nothing is kept */
    und_mask shut[3]; /* faces that are closed and touch a cell of the liquid */
    und_mask whole;   /* places between faces whose guesses are known, each at its lowest face */
} und_mac_flow_advect_parts;

und_status und_mac_flow_advect_open(und_mac_flow_advect_parts *a, const und_mac *mac, und_error *err);
void und_mac_flow_advect_close(und_mac_flow_advect_parts *a);

/* mac_flow_extend.c */
typedef struct und_mac_flow_extend_parts {
    und_mask set[3];      /* faces beyond which u is 0 */
    und_mask known[2][3]; /* the layers so far, by turns */
    uint64_t *inside[3];  /* of a slice: the faces in the domain and on its border */
    uint64_t *none;       /* a slice of nothing */
} und_mac_flow_extend_parts;

und_status und_mac_flow_extend_open(und_mac_flow_extend_parts *e, const und_mac *mac, und_error *err);
void und_mac_flow_extend_close(und_mac_flow_extend_parts *e);

/* What others have of the velocities, or of what is told of faces, so many slices beyond one's own. */
enum {
    UND_GET_U = 1,
    UND_GET_GAINED = 2, /* where it is kept */
    UND_GET_LATEST = 4,
    UND_GET_FLOWS = 8,
    UND_GET_SHUT = 16,
    UND_GET_SET = 32
};
void und_mac_flow_get(const und_mac_flow *s, unsigned what, int reach);

/* All faces count as having a velocity until the next extension. */
void und_mac_flow_set_all(und_mac_flow *s);

/* mac_flow_project.c and mac_flow_diffuse.c: their systems. */
typedef struct und_mac_flow_system_parts {
    float *known, *b, *weight; /* of diffusion, while it is solved */
    double *x;
} und_mac_flow_system_parts;

/* mac_flow.c: an array of cells from the scratch, and the three of `next`; and back, with all taken later. */
float *und_mac_flow_take(und_mac_flow *s);
void und_mac_flow_take_next(und_mac_flow *s);
void und_mac_flow_give_back(und_mac_flow *s, float **array);

/* mac_flow.c: labels of cells with phi below a level, then of their faces. */
void und_mac_flow_label_cells(und_mac_flow *s, const und_distance *d, const und_solids *solids, float level);
void und_mac_flow_label_faces(und_mac_flow *s, const und_solids *solids);

/* mac_flow.c: sets `pressed` once p was written from outside. */
void und_mac_flow_find_pressed(und_mac_flow *s);

typedef struct und_mac_flow_parts {
    und_scratch *scratch;
    size_t most; /* that it lends at once */
    float scale; /* of what was gained: this step's length over that of the one before */
    bool gains;  /* what was gained in this step is to be found and extended, by */
    und_gain_args gain;
    bool gained_anywhere; /* what was gained may be anything, where there is no velocity too */
    bool goes_on;         /* beyond the surface, as u changes inside */
    float *fastest;       /* of each UND_MAC_FLOW_ROWS rows */
    int32_t (*faster)[UND_FASTER_THAN + 1]; /* the same: how many are faster than some speeds */
    und_mac_flow_advect_parts advect;
    und_mac_flow_extend_parts extend;
    und_mac_flow_system_parts system;
    struct {
        und_mask cells, faces[3];
        float *before[3]; /* what their velocity was */
    } air;                /* near the liquid, whose flow is to keep its volume too */
    und_mask pressed;     /* cells where p may be other than 0 */
} und_mac_flow_parts;

#endif
