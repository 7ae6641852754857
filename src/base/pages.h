/* Large zeroed arrays, mapped lazily: pages never touched cost nothing. */
#ifndef UND_BASE_PAGES_H
#define UND_BASE_PAGES_H

#include <undine/types.h>

void *und_pages_alloc(size_t bytes, const char *what, und_error *err); /* 64-byte aligned, zero */
/* The same where only a few places of it will ever be touched: in small pages. */
void *und_pages_alloc_sparse(size_t bytes, const char *what, und_error *err);
void und_pages_free(void *pages);

double und_memory_size(void); /* bytes of memory that the machine has */

#endif
