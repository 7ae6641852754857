/* What the stages of a flow keep for themselves. */
#ifndef UND_FLOW_MARKER_FLOW_PARTS_H
#define UND_FLOW_MARKER_FLOW_PARTS_H

#include "flow/marker_flow.h"
#include "flow/marker_flow_kernel.h"

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
    uint8_t *ease;    /* per row, of relaxation: und_marker_find_ease; */
    int32_t *turn[2]; /* and where those of its cells end whose turn it is in one half of a colour */
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
        *told;    /* bit a: velocity along a is known, is made from known ones; bit 4 + a: in the air */
    float *share; /* per cell */
    und_total *row_most;  /* per row */
    int32_t (*count)[2];  /* per row: Full and Surface cells */
    uint8_t *kind;        /* as for und_poisson_set */
    double *rhs, *change; /* of the pressure's system */
} und_marker_flow_parts;

static inline int und_marker_flow_axes(const und_marker_flow *f)
{
    return f->mac.n[2] > 1 ? 3 : 2;
}

static inline bool und_is_liquid(uint8_t label)
{
    return label == UND_CELL_FULL || label == UND_CELL_SURFACE;
}

/* The liquid's cells and what lies between them along x. */
static inline und_set und_marker_flow_spans(const und_marker_flow *f)
{
    return und_set_spans(&f->mac, f->row_low, f->row_high, (size_t)(f->full + f->surface));
}
/* Rows: of which those with liquid are worth something, or all, whose bytes are read. */
static inline und_set und_marker_flow_liquid_rows(const und_marker_flow *f)
{
    und_set rows = und_set_rows(&f->mac, UND_ROWS_INSIDE);
    rows.worth = (size_t)(f->full + f->surface);
    return rows;
}
static inline und_set und_marker_flow_byte_rows(const und_marker_flow *f)
{
    und_set rows = und_set_rows(&f->mac, UND_ROWS_INSIDE);
    rows.worth /= sizeof(double);
    return rows;
}
static inline int und_marker_flow_row(const und_mac *m, und_place p) /* its number */
{
    return p.y + m->n[1] * p.z;
}

/* x, y, z of a cell, from -1 to n. */
static inline void und_marker_flow_place(const und_mac *m, size_t at, int c[3])
{
    ptrdiff_t t = (ptrdiff_t)(at - und_mac_at(m, -1, -1, -1));
    c[2] = (int)(t / m->step[2]) - 1;
    c[1] = (int)(t % m->step[2] / m->step[1]) - 1;
    c[0] = (int)(t % m->step[1]) - 1;
}

/* scale / d along each axis; 0 where there is no flow. */
static inline void und_marker_flow_per_cell(const und_marker_flow *f, double scale, double out[3])
{
    for (int a = 0; a < 3; a++)
        out[a] = a < und_marker_flow_axes(f) ? scale / f->mac.d[a] : 0;
}

und_marker_missing_args und_marker_flow_missing(const und_marker_flow *f);
void und_marker_flow_extend(und_marker_flow *f); /* into the air */
/* An inflow's velocity along an axis at the middle of the high face of a cell, when walls were set last. */
double und_marker_flow_inflow(const und_marker_flow *f, const und_wall_face *w, int axis, size_t at);
void und_marker_flow_find_kinds(und_marker_flow *f); /* of the cells in the pressure's system */

#endif
