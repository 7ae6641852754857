/* What frames of a directed liquid say of how far it is from what was asked. */
#ifndef UND_APP_CONTROL_REPORT_H
#define UND_APP_CONTROL_REPORT_H

#include "cache/cache.h"

#include <jansson.h>

/* NULL where the frame has none. */
json_t *control_json(und_cache *cache, int frame_number);
void print_control(und_cache *cache, const und_cache_info *info);

#endif
