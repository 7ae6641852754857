/* What the files of the chains share.  Outside of upkeep the markers of a chain lie one behind another;
 * during upkeep they are linked, and those taken out have no next one. */
#ifndef UND_SURFACE_CHAINS_STATE_H
#define UND_SURFACE_CHAINS_STATE_H

#include "surface/chains.h"
#include "surface/chains_move_kernel.h"

#include <math.h>

enum { UND_GONE = -1 };

struct und_chains {
    und_mac mac;
    und_device device;
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
/* What moving needs, now. */
und_chains_move_args und_chains_moving(const und_chains *s, const und_inflows *in, double dt);
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
