/* undine verify: recompute the hashes of a cache. */
#include "app.h"
#include "grids.h"

#include "base/status.h"
#include "cache/cache.h"

/* On the stream of the summary, so that they stay in order. */
static void print_wrong(void *context, const char *what)
{
    int *count = context;
    fprintf(stderr, "wrong  %s\n", what);
    ++*count;
}

/* A run that was stopped is no damage, but should not pass for a whole one. */
static void print_missing(const char *folder)
{
    und_error ignored; /* what is wrong has been said */
    und_cache *cache = und_cache_open(folder, &ignored);
    if (!cache)
        return;
    und_cache_info info = und_cache_describe(cache);
    int next = info.row_count > 0 ? info.rows[info.row_count - 1].frame + 1 : info.start;
    const char *how = info.flow ? "undine float --force makes them" : "--resume goes on";
    if (next < info.end)
        printf("frames %d to %d are not there yet: %s\n", next, info.end, how);
    else if (next == info.end)
        printf("frame %d is not there yet: %s\n", next, how);
    und_cache_close(cache, NULL, 0, &ignored);
}

und_status command_verify(const args *a, und_error *err)
{
    grids_list list;
    if (grids_read(a->words[0], &list))
        return grids_each(a, &list, command_verify, err);
    int wrong = 0, checked = 0;
    und_status status = und_cache_verify(a->words[0], print_wrong, &wrong, &checked, err);
    if (status == UND_INVALID)
        return explain_scene(a->words[0], err);
    if (status == UND_OK && !a->quiet)
        printf("%s: %d files, all as they were written\n", a->words[0], checked);
    if (!a->quiet)
        print_missing(a->words[0]);
    if (wrong > 0)
        return und_error_set(err, UND_FAILED, "%s: %d wrong, %d files checked", a->words[0], wrong, checked);
    return status;
}
