#include "base/scratch.h"

#include "base/pages.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct und_scratch {
    char *pages;
    size_t room, wanted, taken;
    int users;
    char *zeroed;
    size_t zeroed_room;
    bool zeroed_taken;
};

/* Each array begins a little more than pages behind the one before: what belongs to one cell would otherwise
 * fall into the same few lines of the cache. */
enum { PAGE = 4096, SHIFT = 9 * 64 };

size_t und_scratch_bytes(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE + SHIFT;
}

und_scratch *und_scratch_join(und_scratch *scratch, size_t most, und_error *err)
{
    und_scratch *s = scratch ? scratch : und_alloc(1, sizeof *s, "scratch", err);
    if (!s)
        return NULL;
    assert(s->taken == 0);
    s->wanted += most;
    s->users++;
    if (s->wanted <= s->room)
        return s;
    char *pages = und_pages_alloc(s->wanted, "scratch", err);
    if (!pages) {
        und_scratch_leave(s, most);
        return NULL;
    }
    und_pages_free(s->pages);
    s->pages = pages;
    s->room = s->wanted;
    return s;
}

void und_scratch_leave(und_scratch *s, size_t most)
{
    if (!s)
        return;
    assert(s->taken == 0 && s->users > 0 && s->wanted >= most);
    s->wanted -= most;
    if (--s->users > 0)
        return;
    und_pages_free(s->pages);
    und_pages_free(s->zeroed);
    free(s);
}

und_status und_scratch_keep_zeroed(und_scratch *s, size_t bytes, und_error *err)
{
    assert(!s->zeroed_taken);
    if (bytes <= s->zeroed_room)
        return UND_OK;
    char *pages = und_pages_alloc(bytes, "scratch", err);
    if (!pages)
        return err->status;
    und_pages_free(s->zeroed);
    s->zeroed = pages;
    s->zeroed_room = bytes;
    return UND_OK;
}

void *und_scratch_take_zeroed(und_scratch *s)
{
    assert(!s->zeroed_taken);
    s->zeroed_taken = true;
    return s->zeroed;
}

void und_scratch_give_back_zeroed(und_scratch *s)
{
    assert(s->zeroed_taken);
    s->zeroed_taken = false;
#ifdef __SANITIZE_ADDRESS__
    for (size_t i = 0; i < s->zeroed_room; i++)
        assert(s->zeroed[i] == 0);
#endif
}

void *und_scratch_take(und_scratch *s, size_t bytes)
{
    char *array = s->pages + s->taken;
    s->taken += und_scratch_bytes(bytes);
    assert(s->taken <= s->room);
#ifdef __SANITIZE_ADDRESS__
    memset(array, 0xff, bytes); /* no number */
#endif
    return array;
}

void und_scratch_give_back(und_scratch *s, const void *array)
{
    const size_t at = (size_t)((const char *)array - s->pages);
    assert(at < s->taken);
    s->taken = at;
}
