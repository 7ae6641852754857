/* Work on what nobody vouches for, in a process of its own: where a library trusts the sizes in a file, a
 * damaged one may crash it, write over its memory or keep it busy for ever, and only the child is lost. */
#ifndef UND_BASE_CHILD_H
#define UND_BASE_CHILD_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The pipe between the two. */
typedef struct und_child und_child;

typedef struct und_child_job {
    const char *path;
    size_t bytes; /* of the file: decides how much memory and time the child may have */
    void *context;
    /* In the child, which has one thread: no OpenMP, no TBB. */
    und_status (*work)(void *context, und_error *err);
    void (*give)(und_child *child, const void *context); /* after UND_OK */
    /* In the parent. */
    und_status (*take)(und_child *child, void *context, und_error *err);
    double seconds;  /* of the processor that it may have; 0: 10, and one for each MB of the file */
    double patience; /* s without a word and without work, after which it is given up; 0: 60 */
} und_child_job;

void und_child_put(und_child *child, const void *data, size_t bytes);
/* False where the child has come to an end before. */
bool und_child_get(und_child *child, void *data, size_t bytes);

/* Does the work in a child and takes what it gives.  The child's error becomes this one's; a child that dies
 * is a damaged file. */
und_status und_child_run(const und_child_job *job, und_error *err);

#ifdef __cplusplus
}
#endif

#endif
