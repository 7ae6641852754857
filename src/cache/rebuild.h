/* What was lost of a cache and can be made of the rest. */
#ifndef UND_CACHE_REBUILD_H
#define UND_CACHE_REBUILD_H

#include "cache/state.h"

/* The rows of a ledger whose file is gone, out of the frames. */
und_status und_rebuild_rows(und_cache *cache, und_error *err);

/* The first frame that has to be made again, because its file is missing or cut short; INT_MAX: none. */
int und_rebuild_first_lost(const und_cache *cache);

#endif
