/* Errors that a user can cause or mend: a status with a message, returned at create, load and save. */
#ifndef UND_BASE_STATUS_H
#define UND_BASE_STATUS_H

#include <undine/types.h>

/* Sets the error and returns its status, so that callers can say `return und_error_set(...)`. */
und_status und_error_set(und_error *err, und_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* malloc's zeroed memory, or NULL with the error set ("out of memory: WHAT, N bytes"). */
void *und_alloc(size_t count, size_t size, const char *what, und_error *err);

#endif
