/* The file that says who writes a cache: "host pid boot start".  Whoever does also has it locked, until it
 * ends in whatever way. */
#ifndef UND_CACHE_LOCK_H
#define UND_CACHE_LOCK_H

#include <undine/types.h>

/* Takes the lock; *fd is its open file.  One that a dead process left behind is taken over: of this host
 * before it was started again, or of the running kernel, in whatever container, where the kernel says so; any
 * other is refused. */
und_status und_lock_take(const char *path, int *fd, und_error *err);
/* Removes it if it is still ours. */
void und_lock_release(const char *path, int fd);

/* Is there one, of a process that is not known to be dead? */
bool und_lock_held(const char *path);

#endif
