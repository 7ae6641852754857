/* A cache that shares another's flow: its frames hold alone what a pass made, bodies or texture particles,
 * and the rest comes from the flow's cache, which it names by a path from its own folder and knows again by
 * the hash of the ledger's rows, where the hashes of the frames' files are. */
#ifndef UND_CACHE_SHARED_FLOW_H
#define UND_CACHE_SHARED_FLOW_H

#include "cache/state.h"

/* Is the folder to be written the flow's own? */
und_status und_shared_flow_check_apart(const und_cache_def *def, und_error *err);
/* Opens the flow of a cache that is begun, and puts its path into the manifest. */
und_status und_shared_flow_share(und_cache *cache, const und_cache_def *def, und_error *err);
/* The manifest is to say that frames up to this one are there. */
und_status und_shared_flow_mark(und_cache *cache, int frame, und_error *err);
/* Opens the flow's cache where it is not open, and checks that it is still the one. */
und_status und_shared_flow_attach(und_cache *cache, und_error *err);
/* Puts the flow's items before those of the frame; what the pass made anew is left out. */
und_status und_shared_flow_merge(und_cache *cache, und_frame *frame, und_error *err);
/* The path of the flow's folder. */
und_status und_shared_flow_folder(const und_cache *cache, char path[UND_PATH_MAX], und_error *err);

#endif
