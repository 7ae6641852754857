#include "bench/bench.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 1 << 16, BLOCKS = 512, MOST = 64 }; /* 32 M cells: 128 MB an array */

struct bench_sweep {
    int threads;
    float *a, *b, *c;
};

static void sweep_block(float *restrict c, const float *restrict a, const float *restrict b)
{
    SIMD
    for (int i = 0; i < BLOCK; i++)
        c[i] = a[i] + 0.5f * b[i];
}

double bench_sweep_once(bench_sweep *s)
{
    double start = und_clock();
    PARALLEL_FOR(s->threads)
    for (int block = 0; block < BLOCKS; block++) {
        size_t at = (size_t)block * BLOCK;
        sweep_block(s->c + at, s->a + at, s->b + at);
    }
    return (und_clock() - start) / ((double)BLOCK * BLOCKS);
}

bench_sweep *bench_sweep_create(int threads, und_error *err)
{
    size_t cells = (size_t)BLOCK * BLOCKS;
    bench_sweep *s = und_alloc(1, sizeof *s, "the sweep", err);
    if (!s)
        return NULL;
    s->threads = threads;
    s->a = und_pages_alloc(cells * sizeof(float), "the sweep", err);
    s->b = und_pages_alloc(cells * sizeof(float), "the sweep", err);
    s->c = und_pages_alloc(cells * sizeof(float), "the sweep", err);
    if (!s->a || !s->b || !s->c) {
        bench_sweep_destroy(s);
        return NULL;
    }
    for (size_t i = 0; i < cells; i++) { /* pages never written would all be the same zero page */
        s->a[i] = (float)(i & 1023);
        s->b[i] = (float)(i & 511);
        s->c[i] = 1;
    }
    return s;
}

void bench_sweep_destroy(bench_sweep *s)
{
    if (!s)
        return;
    und_pages_free(s->a);
    und_pages_free(s->b);
    und_pages_free(s->c);
    free(s);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_measure(const bench_context *context, bench_kernel *kernel, void *kernel_context, int repeats,
                   bench_result *result)
{
    double times[MOST], best = INFINITY;
    int count = repeats < MOST ? repeats : MOST;
    kernel(kernel_context);
    for (int i = 0; i < count; i++) {
        best = fmin(best, bench_sweep_once(context->sweep));
        double start = und_clock();
        kernel(kernel_context);
        times[i] = und_clock() - start;
    }
    qsort(times, (size_t)count, sizeof *times, by_size);
    result->seconds = times[count / 2];
    result->sweep_seconds = best;
    result->threads = context->threads;
    result->extra[result->extra_count++] = (bench_extra){"best_seconds", times[0]};
    result->extra[result->extra_count++] = (bench_extra){"best_sweeps", times[0] / (best * result->cells)};
}

void bench_report_once(const bench_context *context, bench_result *result, bench_extra extra)
{
    result->threads = context->threads;
    result->sweep_seconds = bench_sweep_once(context->sweep);
    result->extra[result->extra_count++] = (bench_extra){"best_seconds", result->seconds};
    result->extra[result->extra_count++] =
        (bench_extra){"best_sweeps", result->seconds / (result->sweep_seconds * result->cells)};
    result->extra[result->extra_count++] = extra;
    context->report(context->user, result);
}
