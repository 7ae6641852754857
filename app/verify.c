/* undine verify: recompute the hashes of a cache. */
#include "app.h"

#include "base/status.h"
#include "cache/cache.h"

static void print_wrong(void *context, const char *what)
{
    int *count = context;
    printf("wrong  %s\n", what);
    ++*count;
}

und_status command_verify(const args *a, und_error *err)
{
    int wrong = 0, checked = 0;
    und_status status = und_cache_verify(a->words[0], print_wrong, &wrong, &checked, err);
    if (wrong > 0)
        return und_error_set(err, UND_FAILED, "%s: %d wrong, %d files checked", a->words[0], wrong, checked);
    if (status == UND_OK && !a->quiet)
        printf("%s: %d files, all as they were written\n", a->words[0], checked);
    return status;
}
