/* Copies of the files that a scene reads, OUT/files/HASH.obj: with them a cache is whole by itself. */
#ifndef UND_CACHE_FILES_H
#define UND_CACHE_FILES_H

#include "cache/state.h"

/* Is it a name that such a copy has? */
bool und_files_is_kept(const char *name);

/* Copies files into the cache, those of the same bytes once, and lists them. */
und_status und_files_keep(und_cache *cache, const und_named_file *from, int count, cache_files *list,
                          und_error *err);
/* The same of what another cache keeps for its scene: links, where they can be. */
und_status und_files_share(und_cache *cache, const und_cache *from, und_error *err);

/* Is the copy what it was? */
und_status und_files_check(const und_cache *cache, const und_cache_file *file, und_error *err);

void und_files_clear(cache_files *list);

#endif
