/* What the photons' files share. */
#ifndef UND_TRACE_PHOTONS_PARTS_H
#define UND_TRACE_PHOTONS_PARTS_H

#include "surface/nearest.h"
#include "trace/photons.h"

/* Where a photon came to rest. */
typedef struct und_photon {
    float place[3];
    float flux[3];
    int8_t normal[3]; /* of the side that was met, times 127 */
    uint8_t within;   /* a dielectric */
} und_photon;

/* What an estimate reads, in the tree's order. */
typedef struct und_photon_light {
    float flux[3];
    int8_t normal[3];
    uint8_t within;
} und_photon_light;

/* About a leaf of the tree. */
typedef struct und_photon_leaf {
    float reach2; /* radius of an estimate here, squared */
} und_photon_leaf;

struct und_photons {
    und_nearest tree;
    und_photon_light *light;
    und_photon_leaf *leaf; /* by half the least number of photons in a leaf */
};

/* Sends the photons, and keeps those that came through or off something on to a surface where they rest, in
 * the order in which they were sent; freed with und_pages_free(). */
und_status und_photons_send(const und_photons_def *def, und_photon **list, int *count, und_error *err);

#endif
