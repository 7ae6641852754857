#include "grid/slices.h"

#include "base/parallel.h"

#include <assert.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Stage s of slices [low, high), s slices fewer at an end where another slab follows. */
static void run_slab(und_slice_fn *fn, const void *context, int stages, int low, int high, int slices)
{
    for (int front = low; front < high + stages; front++)
        for (int s = 0; s < stages; s++) {
            int slice = front - s;
            if (slice >= low + (low > 0 ? s : 0) && slice < high - (high < slices ? s : 0))
                fn(context, s, slice);
        }
}

/* What the slabs on both sides of a border left out. */
static void run_border(und_slice_fn *fn, const void *context, int stages, int border)
{
    for (int s = 1; s < stages; s++)
        for (int slice = border - s; slice < border + s; slice++)
            fn(context, s, slice);
}

static void run_pair(und_slice_fn *fn, const void *context, int stage, int pair, int slices)
{
    for (int slice = 2 * pair; slice < least(2 * pair + 2, slices); slice++)
        fn(context, stage, slice);
}

/* Where a slab begins: there the last stage's part of the one before ends with a whole pair. */
static int slab_begin(const und_slabs *s, int slab)
{
    const int shift = (s->stages - 1) % 2, even = (int)((long)slab * s->slices / s->count);
    return slab == 0 ? 0 : slab == s->count ? s->slices : (even - shift) / 2 * 2 + shift;
}

/* Slabs are thick enough that what is left at one border is not read at the next, and each thread has as
 * many. */
und_slabs und_slabs_make(int stages, int slices, int threads)
{
    enum { SLABS_PER_THREAD = 4 };
    und_slabs s = {.stages = stages, .slices = slices, .count = 1};
    if (threads <= 1)
        return s;
    s.count = least(SLABS_PER_THREAD * threads, slices / (2 * stages + 1));
    s.count = s.count < 2 * threads ? 0 : s.count - s.count % threads;
    return s;
}

int und_slabs_steps(const und_slabs *s)
{
    return s->count == 0 ? s->stages : s->count == 1 ? 1 : 2;
}

int und_slabs_tasks(const und_slabs *s, int step)
{
    return s->count == 0 ? (s->slices + 1) / 2 : s->count - step;
}

void und_slabs_run(const und_slabs *s, int step, int task, und_slice_fn *fn, const void *context)
{
    if (s->count == 0)
        run_pair(fn, context, step, task, s->slices);
    else if (step == 0)
        run_slab(fn, context, s->stages, slab_begin(s, task), slab_begin(s, task + 1), s->slices);
    else
        run_border(fn, context, s->stages, slab_begin(s, task + 1));
}
