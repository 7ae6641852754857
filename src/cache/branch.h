/* A cache that branches off another: its first frames are the other's, named by a path from its own folder
 * and never written again.  Its ledger has their rows too, with the hashes of their files. */
#ifndef UND_CACHE_BRANCH_H
#define UND_CACHE_BRANCH_H

#include "cache/state.h"

/* Is the folder to be written one that the branch would take frames from? */
und_status und_branch_check_apart(const und_cache_def *def, und_error *err);
/* Puts the parent's path into the manifest of a cache that is begun, and opens the parent. */
und_status und_branch_share(und_cache *cache, const und_cache_def *def, und_error *err);
/* Adds the rows of the frames that are shared. */
und_status und_branch_add_rows(und_cache *cache, und_error *err);
/* The cache that has the file of a frame: the cache itself, its parent, or the parent's own; NULL: it is not
 * there, or is another than it was. */
und_cache *und_branch_holder(und_cache *cache, int frame, und_error *err);

#endif
