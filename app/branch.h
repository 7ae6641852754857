/* Runs that begin with the frames of another: --from CACHE@FRAME. */
#ifndef UND_APP_BRANCH_H
#define UND_APP_BRANCH_H

#include "app.h"
#include "base/file.h"
#include "scene/sim.h"

typedef struct branch {
    und_cache *cache; /* the other; NULL: the run is no branch */
    char folder[UND_PATH_MAX];
    int frame; /* the last that is the other's */
} branch;

/* Opens the cache that --from names, and checks that the scene can go on from its frame; *first becomes that
 * of the cache. */
und_status branch_open(branch *b, const args *a, const und_scene_view *view, int *first, const int *last,
                       und_error *err);
/* The state at the frame: a checkpoint's, or what the other's scene makes of the last one before it.  The
 * simulation goes on from it; the caller clears it. */
und_status branch_state(branch *b, const args *a, und_sim *sim, und_frame *state, und_error *err);
void branch_close(branch *b);

#endif
