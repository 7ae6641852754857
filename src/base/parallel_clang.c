/* What clang calls for a PARALLEL_FOR, with the arguments of its own OpenMP library. */
#ifdef __clang__
#include "base/parallel.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>

enum { MOST = 32 }; /* variables of a function that its loop uses */

typedef struct {
    void (*body)(int32_t *thread, int32_t *team, ...);
    void *with[MOST];
} task;

static _Thread_local int threads;

int32_t und_kmpc_thread(void *where);
void und_kmpc_threads(void *where, int32_t thread, int32_t count);
void und_kmpc_fork(void *where, int32_t count, void (*body)(int32_t *thread, int32_t *team, ...), ...);
void und_kmpc_start(void *where, int32_t thread, int32_t schedule, int64_t first, int64_t last, int64_t step,
                    int64_t chunk);
int und_kmpc_next(void *where, int32_t thread, int32_t *is_last, int64_t *first, int64_t *last,
                  int64_t *step);
void und_kmpc_start_int(void *where, int32_t thread, int32_t schedule, int32_t first, int32_t last,
                        int32_t step, int32_t chunk);
int und_kmpc_next_int(void *where, int32_t thread, int32_t *is_last, int32_t *first, int32_t *last,
                      int32_t *step);
void und_kmpc_end(void *where, int32_t thread);

int32_t und_kmpc_thread(void *where)
{
    (void)where;
    return und_thread();
}

void und_kmpc_threads(void *where, int32_t thread, int32_t count)
{
    (void)where;
    (void)thread;
    threads = count;
}

/* The body takes as many arguments as it was made with; what it does not take does not reach it. */
static void call_body(void *data)
{
    task *t = data;
    void **w = t->with;
    int32_t thread = und_thread(), team = thread;
    t->body(&thread, &team, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
            w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], w[24], w[25], w[26],
            w[27], w[28], w[29], w[30], w[31]);
}

void und_kmpc_fork(void *where, int32_t count, void (*body)(int32_t *thread, int32_t *team, ...), ...)
{
    (void)where;
    assert(count <= MOST);
    task t = {.body = body};
    va_list with;
    va_start(with, body);
    for (int i = 0; i < count; i++)
        t.with[i] = va_arg(with, void *);
    va_end(with);
    und_loop_share(call_body, &t, (unsigned)threads, 0);
}

/* clang counts every loop from 0 by ones, and names the last iteration of a range, not its end. */
void und_kmpc_start(void *where, int32_t thread, int32_t schedule, int64_t first, int64_t last, int64_t step,
                    int64_t chunk)
{
    (void)where;
    (void)thread;
    (void)schedule;
    (void)chunk;
    assert(step == 1);
    und_loop_bounds(first, last + 1, step);
}

int und_kmpc_next(void *where, int32_t thread, int32_t *is_last, int64_t *first, int64_t *last, int64_t *step)
{
    (void)where;
    (void)thread;
    long from, to;
    bool more = und_loop_next(&from, &to);
    *is_last = 0;
    *first = from;
    *last = to - 1;
    *step = 1;
    return more;
}

void und_kmpc_start_int(void *where, int32_t thread, int32_t schedule, int32_t first, int32_t last,
                        int32_t step, int32_t chunk)
{
    und_kmpc_start(where, thread, schedule, first, last, step, chunk);
}

int und_kmpc_next_int(void *where, int32_t thread, int32_t *is_last, int32_t *first, int32_t *last,
                      int32_t *step)
{
    int64_t from, to, by;
    int more = und_kmpc_next(where, thread, is_last, &from, &to, &by);
    *first = (int32_t)from;
    *last = (int32_t)to;
    *step = (int32_t)by;
    return more;
}

void und_kmpc_end(void *where, int32_t thread)
{
    (void)where;
    (void)thread;
}
#endif
