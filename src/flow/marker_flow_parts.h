/* What the stages of a flow keep for themselves. */
#ifndef UND_FLOW_MARKER_FLOW_PARTS_H
#define UND_FLOW_MARKER_FLOW_PARTS_H

#include "base/parallel.h"
#include "flow/marker_flow.h"

#include <string.h>

/* A face between a wall and a cell that is not solid. */
typedef struct und_wall_face {
    size_t at;
    size_t before; /* an outflow's: the face of the cell in front of it that is opposite */
    double value;  /* m/s; the velocity across, but for outflows */
    uint8_t axis, wall;
    uint8_t kind; /* und_wall_kind */
    bool high;    /* the wall is at the high side */
    bool timed;   /* the value is a function of place and time */
    bool shut;    /* an outflow's, while liquid would come in */
} und_wall_face;

/* A face inside a wall mirrors one beside the wall: scale * u + offset. */
typedef struct und_mirror {
    size_t user; /* the face beside the wall */
    double scale, offset;
    uint8_t side; /* of the user's, at which the wall is */
} und_mirror;

typedef struct und_ghost {
    size_t at, first; /* its mirrors are those from `first` on; it holds their mean */
    uint8_t axis, count;
    bool timed;
    bool shared; /* by several faces between cells that are not solid: each has to see its own mirror value */
} und_ghost;

typedef struct und_marker_flow_parts {
    uint8_t *ease;  /* per row: of relaxation */
    double *fields; /* velocities and pressure */
    und_wall_face *face;
    und_mirror *mirror;
    und_ghost *ghost;
    size_t *port;   /* the faces that are inflows or outflows */
    size_t *shared; /* the ghosts that are */
    size_t faces, mirrors, ghosts, ports, shareds;
    bool timed;      /* some are functions of place and time */
    double timed_at; /* the time for which they were asked last; NAN: never */
    double walls_at; /* s: velocities at walls were set for this time */

    /* Per row: the cells around the liquid whose velocities are kept, [low, high).  Elsewhere u and next are
     * zero, but for walls. */
    int32_t *near_low, *near_high;
    int32_t *reach_low, *reach_high; /* the same while it is found */
    int32_t *wet_low, *wet_high;     /* where Empty cells may still have a pressure */
    uint8_t *air;                    /* per row: 1 where it has faces in the air */
    uint8_t *known,
        *told;        /* bit a: velocity along a is known, is made from known ones; bit 4 + a: in the air */
    float *share;     /* per cell */
    double *row_most; /* per row */
    long *row_count;  /* per row: Full and Surface cells */
    uint8_t *kind;    /* as for und_poisson_set */
    double *rhs, *change; /* of the pressure's system */
    double *scratch;      /* a row for each thread */
} und_marker_flow_parts;

enum { UND_ROWS_AT_ONCE = 8 };

static inline int und_marker_flow_axes(const und_marker_flow *f)
{
    return f->mac.n[2] > 1 ? 3 : 2;
}

static inline bool und_is_liquid(uint8_t label)
{
    return label == UND_CELL_FULL || label == UND_CELL_SURFACE;
}

/* Rows are shared out in blocks of neighbours. */
static inline int und_marker_flow_blocks(const und_marker_flow *f)
{
    return (und_mac_rows(&f->mac) + UND_ROWS_AT_ONCE - 1) / UND_ROWS_AT_ONCE;
}
static inline int und_marker_flow_block_end(const und_marker_flow *f, int block)
{
    int end = (block + 1) * UND_ROWS_AT_ONCE, rows = und_mac_rows(&f->mac);
    return end < rows ? end : rows;
}

/* For a loop over so many numbers, and over so many bytes, which are read faster. */
static inline int und_marker_flow_workers(const und_marker_flow *f, size_t numbers)
{
    return und_workers(f->threads, numbers, 1 << 15);
}
static inline int und_marker_flow_byte_workers(const und_marker_flow *f, size_t bytes)
{
    return und_workers(f->threads, bytes, 1 << 18);
}

static inline size_t und_marker_flow_cells(const und_marker_flow *f)
{
    return (size_t)und_mac_rows(&f->mac) * (size_t)f->mac.n[0];
}

/* x, y, z of a cell, from -1 to n. */
static inline void und_marker_flow_place(const und_mac *m, size_t at, int c[3])
{
    ptrdiff_t t = (ptrdiff_t)(at - und_mac_at(m, -1, -1, -1));
    c[2] = (int)(t / m->step[2]) - 1;
    c[1] = (int)(t % m->step[2] / m->step[1]) - 1;
    c[0] = (int)(t % m->step[1]) - 1;
}

/* A row of a thread's own; from cell -1 to n. */
static inline double *und_marker_flow_scratch(const und_marker_flow *f, int thread)
{
    return f->parts->scratch + thread * f->mac.step[1] + 1;
}

/* The largest |value|; NaN where there is one.  Sizes are ordered as their bits are, NaN above all, and those
 * are compared in vectors. */
static inline double und_most_size(const double *value, int count)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        bits &= INT64_MAX;
        most = bits > most ? bits : most;
    }
    double size;
    memcpy(&size, &most, sizeof size);
    return size;
}

/* scale / d along each axis; 0 where there is no flow. */
static inline void und_marker_flow_per_cell(const und_marker_flow *f, double scale, double out[3])
{
    for (int a = 0; a < 3; a++)
        out[a] = a < und_marker_flow_axes(f) ? scale / f->mac.d[a] : 0;
}

/* Equation 5, less what is to be missing. */
static inline double und_marker_flow_missing(const und_marker_flow *f, size_t i, const double per_cell[3])
{
    const und_mac *m = &f->mac;
    return -(per_cell[0] * (f->u[0][i] - f->u[0][i - 1]) +
             per_cell[1] * (f->u[1][i] - f->u[1][i - (size_t)m->step[1]]) +
             per_cell[2] * (f->u[2][i] - f->u[2][i - (size_t)m->step[2]])) -
           f->shrink[i];
}

void und_marker_flow_extend(und_marker_flow *f); /* into the air */
/* An inflow's velocity along an axis at the middle of the high face of a cell, when walls were set last. */
double und_marker_flow_inflow(const und_marker_flow *f, const und_wall_face *w, int axis, size_t at);
void und_marker_flow_find_kinds(und_marker_flow *f); /* of the cells in the pressure's system */

#endif
