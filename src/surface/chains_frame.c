/* What a frame and a checkpoint of chains hold. */
#include "base/status.h"
#include "grid/state.h"
#include "surface/chains_state.h"

#include <string.h>

und_status und_chains_frame(const und_chains *s, und_frame *frame, und_error *err)
{
    und_item_def place = {.name = "chain/position",
                          .unit = "m",
                          .kind = UND_PARTICLES,
                          .type = UND_F32,
                          .rank = 2,
                          .dim = {(size_t)s->count, 3}};
    und_item_def first = {.name = "chain/first",
                          .unit = "1",
                          .kind = UND_NUMBERS,
                          .type = UND_I32,
                          .rank = 1,
                          .dim = {(size_t)s->chain_count + 1}};
    und_item *item = und_frame_add(frame, &place, err);
    if (!item)
        return err->status;
    float *out = item->data;
    for (int i = 0; i < s->count; i++) {
        *out++ = (float)s->place[0][i];
        *out++ = (float)s->place[1][i];
        *out++ = (float)und_mac_middle(&s->mac, 2, 0);
    }
    item = und_frame_add(frame, &first, err);
    if (!item)
        return err->status;
    memcpy(item->data, s->first, und_item_bytes(item));
    return UND_OK;
}

enum { FIRST, OWED, PARTS = 5, MOST_PER_CELL = 64 };

static void parts_of(und_chains *s, und_state_field list[PARTS])
{
    size_t count = (size_t)s->count;
    list[FIRST] = und_state_field_of("chain_first", UND_I32, s->first, (size_t)s->chain_count + 1);
    list[OWED] = und_state_field_of("chain_owed", UND_F64, &s->owed, 1);
    list[2] = und_state_field_of("chain_x", UND_F64, s->place[0], count);
    list[3] = und_state_field_of("chain_y", UND_F64, s->place[1], count);
    list[4] = und_state_field_of("chain_spacing", UND_F64, s->spacing, count);
}

und_status und_chains_save(und_chains *s, und_frame *state, und_error *err)
{
    und_state_field list[PARTS];
    parts_of(s, list);
    return und_state_save_fields(list, PARTS, state, err);
}

/* Chains of at least three markers, one behind the other, `count` in all. */
static bool are_chains(const und_item *first, size_t count)
{
    const int32_t *at = first->data;
    size_t chains = und_item_count(first) - 1;
    if (at[0] != 0 || (size_t)at[chains] != count)
        return false;
    for (size_t c = 0; c < chains; c++)
        if (at[c + 1] < at[c] || at[c + 1] - at[c] < 3)
            return false;
    return true;
}

/* Places in the domain, spacings above zero. */
static bool are_sound(const und_chains *s, const double *values, size_t count, int which)
{
    for (size_t i = 0; i < count; i++) {
        double v = values[i];
        if (which < 2 ? !(v >= s->mac.origin[which] &&
                          v <= s->mac.origin[which] + s->mac.n[which] * s->mac.d[which])
                      : !(v > 0 && isfinite(v)))
            return false;
    }
    return true;
}

und_status und_chains_restore(und_chains *s, const und_frame *state, und_error *err)
{
    und_state_field list[PARTS];
    const und_item *item[PARTS];
    parts_of(s, list);
    for (int i = 0; i < PARTS; i++) {
        item[i] = und_frame_find(state, list[i].name);
        if (!item[i] || item[i]->type != list[i].type)
            return und_error_set(err, UND_FAILED, "the checkpoint does not fit the scene: no %s in it",
                                 list[i].name);
    }
    size_t count = und_item_count(item[OWED + 1]), firsts = und_item_count(item[FIRST]);
    /* A hand may have put more liquid in than the scene has. */
    if (count > (size_t)s->capacity && count < (size_t)s->mac.n[0] * (size_t)s->mac.n[1] * MOST_PER_CELL) {
        s->count = s->chain_count = 0;
        s->first[0] = 0;
        if (und_chains_reserve(s, (int)count, err) != UND_OK)
            return err->status;
        parts_of(s, list);
    }
    if (count > (size_t)s->capacity || firsts < 1 || firsts > (size_t)s->capacity + 1)
        return und_error_set(err, UND_FAILED,
                             "the checkpoint does not fit the scene: %zu markers in %zu chains, at most %d "
                             "markers expected",
                             count, firsts ? firsts - 1 : 0, s->capacity);
    bool sound = are_chains(item[FIRST], count) && und_item_count(item[OWED]) == 1 &&
                 isfinite(*(const double *)item[OWED]->data);
    for (int i = OWED + 1; i < PARTS && sound; i++)
        sound = und_item_count(item[i]) == count && are_sound(s, item[i]->data, count, i - OWED - 1);
    if (!sound)
        return und_error_set(err, UND_FAILED, "the checkpoint is damaged: its chains do not hold together");
    for (int i = 0; i < PARTS; i++)
        memcpy(list[i].data, item[i]->data, und_item_bytes(item[i]));
    s->count = (int)count;
    s->chain_count = (int)firsts - 1;
    return UND_OK;
}
