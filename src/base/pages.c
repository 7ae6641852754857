#include "base/pages.h"

#include "base/card.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size is kept in a header in front of the array, one cache line long; behind it lanes may be read that
 * nobody looks at. */
enum { HEADER = 64, BEHIND = 256 };

static void *alloc_plain(size_t bytes, const char *what, und_error *err)
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

/* In front, too, there is what is read and not used. */
static void *alloc_on_card(und_card *card, size_t bytes, bool read_only, const char *what, und_error *err)
{
    char *pages = und_card_alloc(card, HEADER + bytes + BEHIND, read_only, what, err);
    return pages ? pages + HEADER : NULL;
}

void *und_pages_alloc_sparse(size_t bytes, const char *what, und_error *err)
{
    und_card *card = und_card_of_process();
    return card ? alloc_on_card(card, bytes, false, what, err) : alloc_plain(bytes, what, err);
}

void *und_pages_alloc_read_only(size_t bytes, const char *what, und_error *err)
{
    und_card *card = und_card_of_process();
    return card ? alloc_on_card(card, bytes, true, what, err) : alloc_plain(bytes, what, err);
}

void *und_pages_alloc(size_t bytes, const char *what, und_error *err)
{
    char *pages = und_pages_alloc_sparse(bytes, what, err);
    if (pages && !und_card_of_process())
        madvise(pages - HEADER, bytes + HEADER, MADV_HUGEPAGE);
    return pages;
}

void *und_pages_alloc_some(size_t bytes, bool sparse, const char *what, und_error *err)
{
    return sparse ? und_pages_alloc_sparse(bytes, what, err) : und_pages_alloc(bytes, what, err);
}

/* A file in memory with so many values, of which all parts of an array are private copies. */
enum { PATTERN = 1 << 21 };

static int make_pattern(const void *value, size_t size)
{
    int file = memfd_create("undine", MFD_CLOEXEC);
    char some[4096];
    for (size_t i = 0; i < sizeof some; i += size)
        memcpy(some + i, value, size);
    for (int i = 0; i < PATTERN / (int)sizeof some && file >= 0; i++)
        if (write(file, some, sizeof some) != (ssize_t)sizeof some) {
            close(file);
            file = -1;
        }
    return file;
}

static void *alloc_filled(und_card *card, size_t bytes, const void *value, size_t size, const char *what,
                          und_error *err)
{
    char *pages = alloc_on_card(card, bytes, false, what, err);
    for (size_t i = 0; i + size <= bytes && pages; i += size)
        memcpy(pages + i, value, size);
    return pages;
}

void *und_pages_alloc_of(size_t bytes, const void *value, size_t size, const char *what, und_error *err)
{
    und_card *card = und_card_of_process();
    if (card)
        return alloc_filled(card, bytes, value, size, what, err);
    char *pages = alloc_plain(bytes, what, err), *map = pages - HEADER;
    const size_t total = bytes + HEADER + BEHIND;
    const int file = pages ? make_pattern(value, size) : -1;
    bool mapped = file >= 0;
    assert(HEADER % size == 0);
    for (size_t at = 0; mapped && at < total; at += PATTERN)
        mapped = mmap(map + at, total - at < PATTERN ? total - at : PATTERN, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED;
    if (file >= 0)
        close(file);
    if (mapped)
        *(size_t *)map = total;
    else if (pages)
        munmap(map, total);
    if (!mapped && pages)
        und_error_set(err, UND_FAILED, "out of memory: %s, %zu bytes", what, bytes);
    return mapped ? pages : NULL;
}

double und_memory_size(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void und_pages_free(void *pages)
{
    if (pages && !und_card_free(pages)) {
        char *map = (char *)pages - HEADER;
        munmap(map, *(size_t *)map);
    }
}
