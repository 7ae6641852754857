/* Large zeroed arrays, mapped lazily: pages never touched cost nothing. */
#ifndef UND_BASE_PAGES_H
#define UND_BASE_PAGES_H

#include <undine/types.h>

void *und_pages_alloc(size_t bytes, const char *what, und_error *err); /* 64-byte aligned, zero */
void und_pages_free(void *pages);

#endif
