/* What the commands that make something of a cached flow, or of what was made of it, share. */
#ifndef UND_APP_CACHED_FLOW_H
#define UND_APP_CACHED_FLOW_H

#include "app.h"

#include "base/file.h"
#include "stage/paint.h"

/* Opens the flow of the cache that is named first; the caller closes it, also after an error. */
und_status flow_open(const args *a, char folder[UND_PATH_MAX], und_cache **flow, und_cache_info *info,
                     und_error *err);

/* The rows that --start and --end name, or all. */
und_status flow_rows(const args *a, const und_cache_info *info, int *first, int *last, und_error *err);

/* What --texture names, in the place of the scene's; *image is to be destroyed. */
und_status paint_from_args(const args *a, und_paint *paint, und_image *image, und_error *err);

#endif
