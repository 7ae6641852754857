#include "grid/slices.h"

#include "base/parallel.h"

#include <assert.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
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

/* A border lies where the last stage's part of a slab ends with a whole pair. */
und_slabs und_slabs_make(int stages, int slices, int threads)
{
    enum { SLABS_PER_THREAD = 4 };
    und_slabs s = {.stages = stages, .slices = slices};
    if (threads <= 1) {
        s.thick = slices;
        s.count = 1;
        return s;
    }
    s.thick = most(2 * stages, slices / (SLABS_PER_THREAD * threads)) / 2 * 2;
    s.shift = (stages - 1) % 2;
    s.count = (slices - s.shift) / s.thick;
    if (s.count < 2 * threads)
        s.count = 0;
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
    const int low = task * s->thick + s->shift, high = low + s->thick;
    if (s->count == 0)
        run_pair(fn, context, step, task, s->slices);
    else if (step == 0)
        run_slab(fn, context, s->stages, task == 0 ? 0 : low, task == s->count - 1 ? s->slices : high,
                 s->slices);
    else
        run_border(fn, context, s->stages, high);
}
