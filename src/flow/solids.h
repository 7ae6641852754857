/* Solids in the flow, at rest and moving: a distance, a velocity, and how much of each face and cell they
 * leave open (Wrenninge 2003, 4.1.3 and 4.3, with the cut cells of its future work). */
#ifndef UND_FLOW_SOLIDS_H
#define UND_FLOW_SOLIDS_H

#include "grid/frame.h"
#include "grid/pass.h"

#include <undine/obstacle.h>

typedef struct und_solids {
    und_mac mac;
    und_device device;
    int count;       /* of solids */
    bool failed;     /* memory ran out while a mesh was placed, which is then missing */
    bool any;        /* there are solids at all; else distance, owner and room are NULL */
    bool none;       /* there are none: all faces inside the domain are wholly open */
    float *distance; /* cells, negative inside, clamped to +-UND_SOLIDS_REACH; at cell centres, and beside the
                        domain */
    uint8_t *owner;  /* which solid is nearest, where |distance| < UND_SOLIDS_REACH */
    float *open[3];  /* 0 to 1: the part of a cell's high face that is not solid.  Closed sides of the domain
                        are 0, open ones 1 (0 to 1 where a solid is there); faces of the layer beside that do
                        not touch the domain are 0 */
    float *room;     /* 0 to 1: the part of a cell that is not solid; 0 beside the domain */
    float *plain_room;    /* the same, but 0 in cells at walls too thin for the grid, which
                             und_solids_thin_volume counts */
    uint8_t *beside_thin; /* cells that touch one at a wall too thin for the grid: between values of theirs
                             are such of both sides.  NULL where there are no solids */
    float *u[3];          /* m/s: the solids' velocity along the axis at high faces near them, 0 elsewhere and
                             on what closes the domain */
    float *push[3];    /* m/s: what solids that move bring through high faces: their velocity times the part
                          that they shut, beside what others at rest do.  NULL where none moves */
    double jump;       /* m: a solid that goes further within one move has not swept what lies between, it is
                          somewhere else at once and has no velocity; 0: none is so fast */
    bool windowed;     /* the grid is a window that moves: no field is the same in all frames */
    float *friction;   /* of each solid, 0 to 1; NULL: all slip */
    float *gone;       /* while it rubs: of each, the part of the way to its velocity gone in a step */
    uint8_t *separate; /* of each solid, und_separate: liquid comes off it (Rasmussen et al. 2004, 5.5), if it
                          moves never by default; NULL: off none */
    und_mask loose;    /* then: cells of the liquid that a solid does not hold in this step */
    und_mask apart;    /* and cells in solids that are air behind such */
    struct und_solids_parts *parts;
} und_solids;

enum { UND_SOLIDS_REACH = 5 };

/* Copies the list of defs, borrows what they point to.  At `time`. */
und_status und_solids_open(und_solids *s, const und_mac *mac, const und_obstacle_def *defs, int count,
                           const bool side_open[6], double time, int threads, und_error *err);
void und_solids_close(und_solids *s);
/* The grid is another window of the same size from now on; at `time`. */
/* The grid has more rows than before. */
void und_solids_rows_came(und_solids *s);
und_status und_solids_shift(und_solids *s, const und_mac *mac, const bool side_open[6], double time,
                            und_error *err);
/* Takes over what the same solids on another window of the grid are drawn by. */
void und_solids_take_skins(und_solids *s, und_solids *from);

/* As they are at time + dt.  What a solid passes on its way within dt is shut too, so that thin and fast ones
 * leave no gap: a face that one sweeps over has its velocity and is closed.  False where nothing
 * moves meanwhile.
 */
bool und_solids_move(und_solids *s, double time, double dt);

/* A surface has been followed back along the flow, from `before` to phi (cells): near walls thinner than the
 * grid can tell it is done anew, by what is on the same side. */
void und_solids_follow(const und_solids *s, const float *before, float *phi, float *const u[3],
                       double cells_per_speed);
/* The same for liquid that goes over the edge of a solid that lets it go, from nearer to it: it ends where
 * the wall's end leads it, not in the solid.  `third` is the rule it was followed by; no further than so many
 * cells. */
void und_solids_edge_overflow(const und_solids *s, const float *before, float *phi, float *const u[3],
                              double cells_per_speed, bool third, double furthest);
/* Before phi is made a distance again: where liquid on one side of such a wall has air on the other, the
 * surface is in the wall; `before` becomes what phi was there.  And after: phi beside the wall is that again,
 * as what is beyond the wall is not of the same surface. */
void und_solids_pin(const und_solids *s, float *phi, float *before);
void und_solids_unpin(const und_solids *s, float *phi, float *before);

/* The room on the side of such walls that each cell stands for, which may be more than a cell; false where
 * there are none, and it is `room`. */
bool und_solids_side_room(const und_solids *s, float *room);
/* m3 of liquid in cells at such walls. */
double und_solids_thin_volume(const und_solids *s, const float *phi);

/* After a surface (phi, cells, negative in liquid) has moved at most steps - 1 cells: near solids, cells that
 * became liquid though none that `was` is within so many steps over open faces are put back, and so are those
 * that ceased to be liquid where all around was.  Adds what was taken out to leaked[], m3 of each solid
 * (NULL: it was no liquid). */
void und_solids_guard(const und_solids *s, const und_mask *was, float *phi, int steps, double *leaked);

/* Whether a solid lets liquid go anywhere. */
static inline bool und_solids_lets_go(const und_solids *s, int solid)
{
    return s->separate && s->separate[solid] != UND_SEPARATE_NEVER;
}

/* Whose a face is: the solid nearer to the two cells beside it. */
static inline int und_solids_face_owner(const und_solids *s, size_t at, size_t next)
{
    return s->owner[s->distance[next] < s->distance[at] ? next : at];
}

/* Adds "solid/distance" [nz][ny][nx], m, as of the last move, and the surfaces of the solids where they are
 * at `time`, "solid/mesh_position" and "solid/mesh_normal" [3 triangles][3]; of containers what looks up. All
 * static where nothing ever moves. */
und_status und_solids_frame(const und_solids *s, double time, und_frame *frame, und_error *err);
/* A bound of how fast any of them moves between time and time + dt, m/s. */
double und_solids_fastest(const und_solids *s, double time, double dt);
/* The furthest that one goes from where the interval begins to where it ends, m. */
double und_solids_way(const und_solids *s, double time, double dt);

/* Where walls are too thin for the grid: for `undine check`. */
typedef struct und_thin_wall {
    int solid;
    double thickness; /* cells: the thinnest place found; infinite where none is below UND_SOLIDS_THICK */
    double place[3];  /* m: where that is when it is first inside the domain, or at the start */
    double speed;     /* m/s: the fastest that the solid moves, over the times asked for */
} und_thin_wall;

enum { UND_SOLIDS_THICK = 6 };

/* Of each solid, at `count` times from `start` on, `dt` apart; list has room for s->count. */
void und_solids_audit(und_solids *s, double start, double dt, int count, und_thin_wall *list);

#endif
