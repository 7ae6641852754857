/* Memory that is lent to whoever runs: stages run one after the other, so that what each needs for itself
 * alone need not be there several times.  It is given back in the reverse order, and holds anything when it
 * is taken: what is not written is not to be read. */
#ifndef UND_BASE_SCRATCH_H
#define UND_BASE_SCRATCH_H

#include <undine/types.h>

typedef struct und_scratch und_scratch;

/* One that has `most` more bytes to lend: the given one, or where that is NULL a new one.  Pages are mapped
 * as they are touched.  Nothing may be lent meanwhile.  What a user wants is all its arrays at once, each of
 * und_scratch_bytes. */
und_scratch *und_scratch_join(und_scratch *scratch, size_t most, und_error *err);
/* By each user, with what it has joined with; the last one closes it. */
void und_scratch_leave(und_scratch *scratch, size_t most);

size_t und_scratch_bytes(size_t bytes);

/* Memory of so many bytes at least that is 0 when it is taken, and is to be again when it is given back; one
 * user has it at a time, and it is there until all have left. */
und_status und_scratch_keep_zeroed(und_scratch *scratch, size_t bytes, und_error *err);
void *und_scratch_take_zeroed(und_scratch *scratch);
void und_scratch_give_back_zeroed(und_scratch *scratch);

void *und_scratch_take(und_scratch *scratch, size_t bytes);
/* An array and all that were taken after it. */
void und_scratch_give_back(und_scratch *scratch, const void *array);

#endif
