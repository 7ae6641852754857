/* Parallel loops.  The work of an iteration never depends on which thread runs it, so that results have the
 * same bits at any thread count; whatever is summed is summed per iteration and added up in order. */
#ifndef UND_BASE_PARALLEL_H
#define UND_BASE_PARALLEL_H

#define UND_PRAGMA(text) _Pragma(#text)
/* The for loop that follows is shared out among `threads`, one iteration at a time. */
#define PARALLEL_FOR(threads) UND_PRAGMA(omp parallel for schedule(dynamic, 1) num_threads(threads))
/* The loop that follows has independent iterations: vectorise it. */
#define SIMD UND_PRAGMA(omp simd)

/* A thread count as given by the user (0: one per core) into one to use. */
int und_threads(int asked);

#endif
