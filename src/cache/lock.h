/* The file that says who writes a cache: "host pid". */
#ifndef UND_CACHE_LOCK_H
#define UND_CACHE_LOCK_H

#include <undine/types.h>

/* Takes the lock.  One that a dead process of this host left behind is taken over; any other is refused. */
und_status und_lock_take(const char *path, und_error *err);
/* Removes it if it is ours. */
void und_lock_release(const char *path);

/* Is there one, of a process that is not known to be dead? */
bool und_lock_held(const char *path);

#endif
