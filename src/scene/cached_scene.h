/* The scene that a cache was made of. */
#ifndef UND_SCENE_CACHED_SCENE_H
#define UND_SCENE_CACHED_SCENE_H

#include "cache/cache.h"

/* The scene in a cache's manifest, with the settings that it was made with and then `more`. */
und_scene *und_scene_of_cache(const und_cache_info *info, const und_setting *more, int count, und_error *err);
/* The same of a scene file of the same model. */
und_scene *und_scene_for_cache(const und_cache_info *info, const char *path, const und_setting *more,
                               int count, und_error *err);

#endif
