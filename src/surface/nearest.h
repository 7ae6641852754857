/* The points nearest to a place: a k-d tree (Bentley 1975) over points that stay where they are. */
#ifndef UND_SURFACE_NEAREST_H
#define UND_SURFACE_NEAREST_H

#include <undine/types.h>

enum { UND_NEAREST_MOST = 64 };

typedef struct und_nearest {
    int count;
    float *place;  /* [count][3], in the tree's order */
    int32_t *id;   /* which of the points given each is */
    uint8_t *axis; /* along which a range is split at its middle */
} und_nearest;

/* Of points [count][3], all finite.  The same tree at any number of threads. */
und_status und_nearest_build(und_nearest *tree, const float *points, int count, int threads, und_error *err);
void und_nearest_free(und_nearest *tree);

typedef struct und_neighbour {
    float squared; /* distance */
    int32_t at;    /* place in the tree's order */
} und_neighbour;

/* The `most` (up to UND_NEAREST_MOST) nearest points within `far`, in no particular order but list[0], which
 * is the farthest of them; of such at the same distance the first in the tree.  Returns how many. */
int und_nearest_find(const und_nearest *tree, const float place[3], int most, float far,
                     und_neighbour list[UND_NEAREST_MOST]);

#endif
