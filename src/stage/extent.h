/* What a picture without a camera frames: where the liquid and solids in cells are, over all frames of a run.
 */
#ifndef UND_STAGE_EXTENT_H
#define UND_STAGE_EXTENT_H

#include "cache/cache.h"

typedef struct und_extent {
    bool any; /* false: nothing was found */
    double low[3], high[3];
} und_extent;

/* Widens it by the liquid and the solids of a frame, as far as they lie in the domain. */
void und_extent_add(und_extent *extent, const und_frame *frame);

/* Of the frames of a cache: of all, or of at most `most` that stand evenly from the first to the last.  A
 * frame that cannot be read counts as empty. */
void und_extent_of_cache(und_extent *extent, und_cache *cache, int most);

#endif
