#include "base/pages.h"

#include "base/status.h"

#include <sys/mman.h>
#include <unistd.h>

/* The size is kept in a header in front of the array, one cache line long; behind it lanes may be read that
 * nobody looks at. */
enum { HEADER = 64, BEHIND = 256 };

void *und_pages_alloc_sparse(size_t bytes, const char *what, und_error *err)
{
    size_t total = bytes + HEADER + BEHIND;
    char *map = total < bytes ? MAP_FAILED
                              : mmap(NULL, total, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        und_error_set(err, UND_FAILED, "out of memory: %s, %zu bytes", what, bytes);
        return NULL;
    }
    *(size_t *)map = total;
    return map + HEADER;
}

void *und_pages_alloc(size_t bytes, const char *what, und_error *err)
{
    char *pages = und_pages_alloc_sparse(bytes, what, err);
    if (pages)
        madvise(pages - HEADER, bytes + HEADER, MADV_HUGEPAGE);
    return pages;
}

double und_memory_size(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void und_pages_free(void *pages)
{
    if (pages) {
        char *map = (char *)pages - HEADER;
        munmap(map, *(size_t *)map);
    }
}
