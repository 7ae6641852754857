#include "grid/slices.h"

#include "base/parallel.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Stage s of slices [low, high), s slices fewer at an end where another slab follows. */
static void run_slab(und_slice_fn *fn, void *context, int stages, int low, int high, int slices)
{
    for (int front = low; front < high + stages; front++)
        for (int s = 0; s < stages; s++) {
            int slice = front - s;
            if (slice >= low + (low > 0 ? s : 0) && slice < high - (high < slices ? s : 0))
                fn(context, s, slice);
        }
}

/* What the slabs on both sides of a border left out. */
static void run_border(und_slice_fn *fn, void *context, int stages, int border)
{
    for (int s = 1; s < stages; s++)
        for (int slice = border - s; slice < border + s; slice++)
            fn(context, s, slice);
}

static void run_apart(und_slice_fn *fn, void *context, int stages, int slices, int threads)
{
    for (int s = 0; s < stages; s++) {
        PARALLEL_FOR(threads)
        for (int pair = 0; pair < (slices + 1) / 2; pair++)
            for (int slice = 2 * pair; slice < least(2 * pair + 2, slices); slice++)
                fn(context, s, slice);
    }
}

void und_slices_run(und_slice_fn *fn, void *context, int stages, int slices, int threads)
{
    enum { SLABS_PER_THREAD = 4 };
    if (threads <= 1) {
        run_slab(fn, context, stages, 0, slices, slices);
        return;
    }
    /* A border lies where the last stage's part of a slab ends with a whole pair. */
    int thick = most(2 * stages, slices / (SLABS_PER_THREAD * threads)) / 2 * 2, shift = (stages - 1) % 2;
    int slabs = (slices - shift) / thick;
    if (slabs < 2 * threads) {
        run_apart(fn, context, stages, slices, threads);
        return;
    }
    PARALLEL_FOR(threads)
    for (int i = 0; i < slabs; i++)
        run_slab(fn, context, stages, i == 0 ? 0 : i * thick + shift,
                 i == slabs - 1 ? slices : (i + 1) * thick + shift, slices);
    PARALLEL_FOR(threads)
    for (int i = 1; i < slabs; i++)
        run_border(fn, context, stages, i * thick + shift);
}
