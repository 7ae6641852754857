/* What the photons' files share. */
#ifndef UND_TRACE_PHOTONS_PARTS_H
#define UND_TRACE_PHOTONS_PARTS_H

#include "trace/photons.h"

/* Where a photon came to rest. */
typedef struct und_photon {
    float place[3];
    float flux[3];
    int8_t normal[3]; /* of the side that was met, times 127 */
    uint8_t within;   /* a dielectric */
} und_photon;

enum { UND_PHOTON_BLOCK = 16 };

/* Photons that lie side by side on one surface.  Those that are not there have no flux. */
typedef struct und_photon_block {
    float reach2; /* how far the light of each is spread, squared */
    int count;
    uint8_t side, within; /* which way the surface faces: 0 to 5 */
    bool even;            /* all have the same normal */
    int8_t normal[3][UND_PHOTON_BLOCK];
    float place[3][UND_PHOTON_BLOCK], flux[3][UND_PHOTON_BLOCK];
} und_photon_block;

/* A tree of boxes over the blocks: node k has 2 k and 2 k + 1 under it. */
struct und_photons {
    int block_count, leaves;
    und_photon_block *block;
    und_box *box;
};

/* How an estimate takes photons for those of its own surface. */
#define UND_PHOTON_FLAT2 0.1f /* how thick its disc is, squared, in its radii */
#define UND_PHOTON_AGREE 0.7f /* least cosine between normals */

/* Sends the photons, and keeps those that came through or off something on to a surface where they rest, in
 * the order in which they were sent; freed with und_pages_free(). */
und_status und_photons_send(const und_photons_def *def, und_photon **list, int *count, und_error *err);

/* Sorts them into blocks (photons_sort.c). */
und_status und_photons_sort(und_photons *p, const und_photon *list, int count, int threads, und_error *err);
/* Makes the tree, with boxes around what the blocks hold or, spread, around all that they light. */
und_status und_photons_plant(und_photons *p, bool spread, int threads, und_error *err);
/* Finds how far light is spread, and the edges of surfaces, at which it is thrown back (photons_edges.c). */
und_status und_photons_spread(und_photons *p, const und_photons_def *def, und_error *err);

static inline bool und_box_holds(const und_box *b, f3 p)
{
    return p.x >= b->low.x && p.x <= b->high.x && p.y >= b->low.y && p.y <= b->high.y && p.z >= b->low.z &&
           p.z <= b->high.z;
}

#endif
