#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

und_status und_error_set(und_error *err, und_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        err->status = status;
    }
    return status;
}

void *und_alloc(size_t count, size_t size, const char *what, und_error *err)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        und_error_set(err, UND_FAILED, "out of memory: %s, %zu x %zu bytes", what, count, size);
    return memory;
}
