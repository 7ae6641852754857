/* What was lost of a cache and can be made of the rest. */
#ifndef UND_CACHE_REBUILD_H
#define UND_CACHE_REBUILD_H

#include "cache/state.h"

/* The rows of a ledger whose file is gone, out of the frames. */
und_status und_rebuild_rows(und_cache *cache, und_error *err);

#endif
