#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Messages hold words of files and scenes, and go to a terminal, which takes some characters for orders. */
static void make_plain(char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            *text = '?';
        else if (c == 0xc2 && next >= 0x80 && next < 0xa0)
            text[0] = text[1] = '?';
    }
}

und_status und_error_set(und_error *err, und_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        make_plain(err->text);
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
