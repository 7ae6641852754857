/* What the files of the chains share.  Outside of upkeep the markers of a chain lie one behind another;
 * during upkeep they are linked, and those taken out have no next one. */
#ifndef UND_SURFACE_CHAINS_STATE_H
#define UND_SURFACE_CHAINS_STATE_H

#include "surface/chains.h"

#include <math.h>

typedef struct und_point {
    double x, y;
} und_point;

enum { UND_GONE = -1 };

struct und_chains {
    und_mac mac;
    int threads;
    int count, capacity; /* markers */
    int chain_count;
    double *place[2]; /* m */
    double *spacing;  /* m; how far apart a marker and its neighbours should be */
    int32_t *first;   /* of each chain, its first marker; the end of the last one behind them */
    double owed;      /* m2 that there are too many */

    double *spare[3]; /* the places and spacings to come */
    int32_t *next, *prev;
    uint8_t *flag;         /* per marker */
    int buckets[2];        /* the domain in buckets, at most as many as cells */
    int32_t *bucket_first; /* of each bucket, its first entry in bucket_link */
    int32_t *bucket_link;
    int bucket_room;
    double *cover[2]; /* of each cell: what is enclosed of it; the way up that links make in it */
    int32_t *queue;   /* cells whose neighbours are still to be looked at */
};

static inline und_point und_point_of(const und_chains *s, int i)
{
    return (und_point){s->place[0][i], s->place[1][i]};
}
static inline und_point und_point_add(und_point a, und_point b, double scale) /* a + scale b */
{
    return (und_point){a.x + scale * b.x, a.y + scale * b.y};
}
static inline und_point und_point_from(und_point a, und_point b) /* from a to b */
{
    return (und_point){b.x - a.x, b.y - a.y};
}
static inline double und_point_dot(und_point a, und_point b)
{
    return a.x * b.x + a.y * b.y;
}
static inline double und_point_cross(und_point a, und_point b)
{
    return a.x * b.y - a.y * b.x;
}
static inline double und_point_length(und_point a)
{
    return sqrt(und_point_dot(a, a));
}
static inline double und_point_gap(und_point a, und_point b)
{
    return und_point_length(und_point_from(a, b));
}

/* What lies beside the domain is solid. */
static inline bool und_chains_solid(const und_mac *m, const uint8_t *label, int x, int y)
{
    return x < 0 || y < 0 || x >= m->n[0] || y >= m->n[1] || label[und_mac_at(m, x, y, 0)] == UND_CELL_SOLID;
}

/* Markers on a wall stand this far before it, in cells, so that they are in the cell they belong to. */
#define UND_CHAINS_SKIN 1e-6

/* The walls that a place is on: bits 0 to 3 for a solid on its low and high side along x and y, bit 4 for a
 * solid's corner; and bit 5 where liquid comes in there. */
enum { UND_AT_CORNER = 16, UND_AT_INFLOW = 32 };
/* Does liquid come into the cell from its low (-1) or high (1) side along an axis? */
bool und_chains_flows_in(const und_inflows *in, const und_mac *m, const int cell[2], int axis, int side);
/* A place that is on a solid's face, give or take rounding, put before it. */
und_point und_chains_settle(const und_mac *m, const uint8_t *label, und_point p);

/* Room for so many markers more, and for as many as these may become. */
und_status und_chains_reserve(und_chains *s, int more, und_error *err);
/* A chain more of `count` markers, for which there is room. */
void und_chains_append(und_chains *s, const und_point *place, const double *spacing, int count);

/* Links that face each other meet when they are closer than this, in cells: air between liquid closes early,
 * since cells cannot show it and would keep it for ever, while films of liquid are kept until they are very
 * thin. */
#define UND_CHAINS_AIR_GAP 0.5
#define UND_CHAINS_FILM 0.05

/* The size of a cell that lengths compare with, m. */
static inline double und_chains_cell(const und_chains *s)
{
    return fmin(s->mac.d[0], s->mac.d[1]);
}

/* Upkeep, in this order. */
void und_chains_link(und_chains *s);
bool und_chains_join(und_chains *s, double air_gap); /* splits and merges; whether there was anything */
void und_chains_unlink(und_chains *s);               /* the small ones go */
void und_chains_uncover(und_chains *s);              /* takes out chains that are no outline of the liquid */

int und_chains_winding(const und_chains *s, und_point p);

#endif
