/* The flow in a cache that a pass is made of. */
#include "cached_flow.h"

#include "base/status.h"

#include <string.h>

/* Of a cache that shares a flow, the one that it shares: what a pass made is made anew. */
und_status flow_open(const args *a, char folder[UND_PATH_MAX], und_cache **flow, und_cache_info *info,
                     und_error *err)
{
    und_error ignored; /* reading only: nothing is lost */
    und_cache *given = open_to_read(a->words[0], err);
    if (!given)
        return err->status;
    und_status status = und_cache_flow_folder(given, folder, UND_PATH_MAX, err);
    und_cache_close(given, NULL, 0, &ignored);
    if (status == UND_OK && !(*flow = und_cache_open(folder, err)))
        status = err->status;
    if (status != UND_OK)
        return status;
    *info = und_cache_describe(*flow);
    return info->row_count > 0 ? UND_OK : und_error_set(err, UND_FAILED, "%s has no frames", folder);
}

static int row_of(const und_cache_info *info, int frame)
{
    for (int i = 0; i < info->row_count; i++)
        if (info->rows[i].frame == frame)
            return i;
    return -1;
}

und_status flow_rows(const args *a, const und_cache_info *info, int *first, int *last, und_error *err)
{
    const und_cache_row *rows = info->rows;
    *first = a->given & OPT_START ? row_of(info, a->start) : 0;
    *last = a->given & OPT_END ? row_of(info, a->end) : info->row_count - 1;
    if (*first < 0 || *last < 0)
        return und_error_set(err, UND_INVALID, "%s has frames %d to %d", info->folder, rows[0].frame,
                             rows[info->row_count - 1].frame);
    if (*last < *first)
        return und_error_set(err, UND_INVALID, "the last frame, %d, is before the first, %d", a->end,
                             rows[*first].frame);
    return UND_OK;
}

und_status paint_from_args(const args *a, und_paint *paint, und_image *image, und_error *err)
{
    *image = (und_image){0};
    if (!a->texture)
        return UND_OK;
    for (int k = UND_PAINT_CHECKER; und_paint_names[k]; k++)
        if (strcmp(a->texture, und_paint_names[k]) == 0) {
            paint->kind = (und_paint_kind)k;
            return UND_OK;
        }
    if (und_png_read(a->texture, image, err) != UND_OK) {
        und_error cause = *err;
        return und_error_set(err, UND_INVALID, "--texture wants checker, marble or a PNG: %.800s",
                             cause.text);
    }
    paint->kind = UND_PAINT_PLATE;
    paint->image = image;
    return UND_OK;
}
