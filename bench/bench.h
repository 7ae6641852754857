/* Benchmarks: a kernel's time, and how many sweeps over memory it equals.
 *
 * A sweep reads two float arrays and writes one, all much larger than the cache.  Its time per cell is
 * measured in turn with the kernel's, so that whatever else the machine does hits both; ratios hold on any
 * machine. */
#ifndef UND_BENCH_BENCH_H
#define UND_BENCH_BENCH_H

#include <undine/types.h>

typedef struct bench_sweep bench_sweep;

bench_sweep *bench_sweep_create(int threads, und_error *err);
void bench_sweep_destroy(bench_sweep *sweep);
double bench_sweep_once(bench_sweep *sweep); /* seconds per cell of one sweep */
enum { BENCH_SWEEP_BYTES = 12 };             /* per cell */

typedef struct bench_extra {
    const char *name;
    double value;
} bench_extra;

typedef struct bench_result {
    const char *name; /* "waves.step" */
    char size[32];    /* "1024x1024" */
    double cells;
    int threads;
    double seconds;       /* of one run of the kernel */
    double sweep_seconds; /* per cell, the best of those in between */
    int extra_count;
    bench_extra extra[32]; /* what else a bench has to say */
} bench_result;

typedef struct bench_context {
    int threads;
    bench_sweep *sweep;
    void (*report)(void *user, const bench_result *result);
    void *user;
} bench_context;

/* Runs the kernel, `repeats` times (at most 64) after one to warm up, with a sweep before each: the median of
 * the kernel, the best of the sweeps.  The best of the kernel goes to the extras: on a busy machine it is the
 * nearer to the truth.  result->cells must be set. */
typedef void bench_kernel(void *kernel_context);
void bench_measure(const bench_context *context, bench_kernel *kernel, void *kernel_context, int repeats,
                   bench_result *result);

/* Reports something that was run once, in result->seconds: it takes its time. */
void bench_report_once(const bench_context *context, bench_result *result, bench_extra extra);

typedef und_status bench_fn(const bench_context *context, und_error *err);

bench_fn bench_waves_step, bench_columns_step, bench_columns_shore, bench_columns_balls, bench_spray_step;
bench_fn bench_columns_diver, bench_render_frame, bench_render_spray, bench_cells_markers;
bench_fn bench_cells_step, bench_cells_cove, bench_cells_solve, bench_dambreak_64, bench_dambreak_128,
    bench_dambreak_256;
bench_fn bench_trace_frame, bench_trace_preview, bench_trace_rays;
bench_fn bench_view_sea;
bench_fn bench_direct_viscosity, bench_direct_splat, bench_direct_extrapolation;

#endif
