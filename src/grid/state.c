#include "grid/state.h"

#include "base/status.h"

#include <string.h>

static size_t values_of(const und_state_field *part)
{
    return part->items ? (size_t)*part->items * part->per_item : part->count;
}

und_status und_state_save_fields(const und_state_field *list, int count, und_frame *state, und_error *err)
{
    for (const und_state_field *part = list; part < list + count; part++) {
        und_item_def def = {
            .name = part->name, .unit = "", .kind = UND_NUMBERS, .type = part->type, .rank = 1};
        def.dim[0] = values_of(part);
        bool wanted = part->data || def.dim[0] == 0;
        if (wanted && !und_frame_borrow(state, &def, part->data, err))
            return UND_FAILED;
    }
    return UND_OK;
}

/* `follows`: the part before it has as many items, and was taken over. */
static bool fits(const und_state_field *part, const und_item *item, bool follows)
{
    size_t found = und_item_count(item);
    if (item->type != part->type)
        return false;
    if (!part->items || follows)
        return found == values_of(part);
    return found % part->per_item == 0 && found / part->per_item <= part->capacity;
}

/* Memory that has it already is not touched. */
static void take_over(void *to, const void *from, size_t bytes)
{
    enum { SOME = 4096 };
    for (size_t at = 0; at < bytes; at += SOME) {
        const size_t some = bytes - at < SOME ? bytes - at : SOME;
        if (memcmp((char *)to + at, (const char *)from + at, some))
            memcpy((char *)to + at, (const char *)from + at, some);
    }
}

und_status und_state_restore_fields(const und_state_field *list, int count, const und_frame *state,
                                    und_error *err)
{
    const bool branches = und_frame_find(state, UND_STATE_BRANCH) != NULL;
    for (const und_state_field *part = list; part < list + count; part++) {
        if (!part->data)
            continue;
        const und_item *item = und_frame_find(state, part->name);
        bool follows = part->items && part > list && part[-1].items == part->items;
        if (branches && part->adapts && (!item || (!part->items && !fits(part, item, false))))
            continue;
        if (!item || !fits(part, item, follows))
            return und_error_set(
                err, UND_FAILED, "the checkpoint does not fit the scene: %s has %zu values, expected %zu%s",
                part->name, item ? und_item_count(item) : 0, values_of(part),
                part->adapts && !branches ? "; sim --from goes on from it all the same" : "");
        take_over(part->data, item->data, und_item_bytes(item));
        if (part->items)
            *part->items = (int)(und_item_count(item) / part->per_item);
    }
    return UND_OK;
}
