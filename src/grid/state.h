/* A model's state as a list of arrays, which a checkpoint keeps and gives back. */
#ifndef UND_GRID_STATE_H
#define UND_GRID_STATE_H

#include "grid/frame.h"

/* One array: where it is and how long.  Where the length may change, `items` is how many items there are now,
 * of `per_item` values each, at most `capacity` of them. */
typedef struct und_state_field {
    const char *name;
    und_type type;
    void *data; /* NULL, though it has a length: the def does not ask for it, and it is left out */
    size_t count;
    int *items;
    size_t per_item, capacity;
    bool adapts; /* in a branch: where the state does not have it, or not of that fixed length, it stays as it
                    is, since the scene may have more or fewer things */
} und_state_field;

/* An array of fixed length. */
static inline und_state_field und_state_field_of(const char *name, und_type type, void *data, size_t count)
{
    return (und_state_field){.name = name, .type = type, .data = data, .count = count};
}

/* A state with an item of this name is another scene's, to go on from. */
#define UND_STATE_BRANCH "branch"

und_status und_state_save_fields(const und_state_field *list, int count, und_frame *state, und_error *err);
/* An error where the state is another scene's. */
und_status und_state_restore_fields(const und_state_field *list, int count, const und_frame *state,
                                    und_error *err);

#endif
