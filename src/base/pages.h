/* Large zeroed arrays, mapped lazily: pages never touched cost nothing. */
#ifndef UND_BASE_PAGES_H
#define UND_BASE_PAGES_H

#include <undine/types.h>

void *und_pages_alloc(size_t bytes, const char *what, und_error *err); /* 64-byte aligned, zero */
/* The same where only a few places of it will ever be touched: in small pages. */
void *und_pages_alloc_sparse(size_t bytes, const char *what, und_error *err);
/* Either. */
void *und_pages_alloc_some(size_t bytes, bool sparse, const char *what, und_error *err);
/* The same, and where nothing was written each value is the one given: 64 bytes are a whole number of them.
 */
void *und_pages_alloc_of(size_t bytes, const void *value, size_t size, const char *what, und_error *err);
/* What kernels are to read and do not write, where a card runs them. */
void *und_pages_alloc_read_only(size_t bytes, const char *what, und_error *err);
void und_pages_free(void *pages);

double und_memory_size(void); /* bytes of memory that the machine has */

#endif
