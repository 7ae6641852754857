/* What edges of a lattice have between their ends: liquid on a solid, thinner than the points lie apart, and
 * walls that no point is in; and how the surface goes around a cell's sides with these. */
#ifndef UND_GEOM_SHELL_EDGES_H
#define UND_GEOM_SHELL_EDGES_H

#include <stdbool.h>
#include <stdint.h>

enum { UND_SHELL_AIR, UND_SHELL_LIQUID, UND_SHELL_SOLID };

/* Four bits for each axis, x's the lowest: of the edge from a point to the next.  Where one end is in a solid
 * liquid may be between that and the other end, in the air or another solid: a film.  Where neither is a wall
 * may be between them, and films between that and an end in the air. */
enum {
    UND_SHELL_FILM = 1,
    UND_SHELL_GAP = 4, /* with the former: that is in a gap between solids */
    UND_SHELL_WALL = 2,
    UND_SHELL_FILM_LOW = 4,
    UND_SHELL_FILM_HIGH = 8,
    UND_SHELL_EDGE_BITS = 4,
    UND_SHELL_EDGE = 15,
    UND_SHELL_MOST_CROSSINGS = 4, /* of the surface with an edge */
    UND_SHELL_MOST_NODES = 16
};

static inline unsigned und_shell_edge_bits(const uint16_t *edges, int axis)
{
    return *edges >> (UND_SHELL_EDGE_BITS * axis) & UND_SHELL_EDGE;
}

/* How often the surface crosses an edge. */
int und_shell_crossings(int low, int high, unsigned bits);

/* What is met on the way around a side of a cell: its corners, and what is between these. */
typedef struct und_shell_ring {
    bool gap;             /* one of its edges is in a gap */
    int count, corner[5]; /* the four corners' places in it, and the first one's again */
    int label[UND_SHELL_MOST_NODES];
    int next[UND_SHELL_MOST_NODES]; /* from a border of the liquid, between one and the one after it, where
                                       the surface runs on to: another such; -1: nowhere */
} und_shell_ring;

/* By the corners' labels, the edges' bits from each corner to the next, and whether that edge's low end is
 * the first of the two.  Solids that are apart on a side are joined, so that thin ones have no holes, but
 * where liquid is in a gap between them; liquid in the air that is only joined crosswise is not. */
und_shell_ring und_shell_ring_of(const int corner[4], const unsigned bits[4], const bool up[4]);

/* Which crossing of its edge, from the low end on, the border after one of a ring is. */
int und_shell_ring_crossing(const und_shell_ring *ring, int border, int edge, bool up);

/* Where on a side a film ends: there is air between it and a dry solid. */
typedef struct und_shell_end {
    int film, dry;              /* the edges from which corner on */
    unsigned film_bit, dry_bit; /* the film's of its edge's bits, and the one that goes on with it there */
} und_shell_end;

/* How many there are. */
int und_shell_ring_ends(const und_shell_ring *ring, const bool up[4], und_shell_end ends[4]);

/* Whether a solid between points is by itself on a side: on the edge from that corner on, a wall ends. */
bool und_shell_ring_alone(const und_shell_ring *ring, int edge);
/* Where the surface goes back to the edge that it comes from, as what is on it ends there: bits of pairs of
 * its borders, 4 times the number of the one nearer to the low end and the other's. */
unsigned und_shell_ring_closed(const und_shell_ring *ring, int edge, bool up);

#endif
