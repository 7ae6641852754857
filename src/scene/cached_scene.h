/* The scene that a cache was made of. */
#ifndef UND_SCENE_CACHED_SCENE_H
#define UND_SCENE_CACHED_SCENE_H

#include "cache/cache.h"

#include <undine/undine.h>

/* The scene in a cache's manifest, with the settings that it was made with and then `more`.  It reads the
 * cache's copies of its files, and no others. */
und_scene *und_scene_of_cache(const und_cache_info *info, const und_setting *more, int count, und_error *err);
/* Bodies, in text that is or came from the cache's file of bodies, and reads the same files. */
und_scene *und_scene_bodies_of_cache(const und_cache_info *info, const char *text, und_error *err);
/* The scene in a file, which must be of the same model. */
und_scene *und_scene_for_cache(const und_cache_info *info, const char *path, const und_setting *more,
                               int count, und_error *err);

#endif
