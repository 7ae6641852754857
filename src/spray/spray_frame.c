/* What a frame and a checkpoint of spray hold. */
#include "base/status.h"
#include "spray/sheet.h"

#include <math.h>
#include <string.h>

/* Drops that are drawn as such: those of sheets are not. */
static bool is_drawn(const und_spray *s, int i)
{
    return !s->sheets || !und_sheets_hold(s->sheets, s, i);
}

static int count_drawn(const und_spray *s)
{
    int count = 0;
    for (int i = 0; i < s->count; i++)
        count += is_drawn(s, i);
    return count;
}

/* A particle item of the frame: `width` arrays of the spray, four-byte values, woven. */
typedef struct particles {
    const char *name, *unit;
    und_type type;
    size_t width;
    const void *from[3];
} particles;

static und_status add_particles(const und_spray *s, und_frame *frame, size_t count, const particles *p,
                                und_error *err)
{
    und_item_def def = {.name = p->name, .unit = p->unit, .kind = UND_PARTICLES, .type = p->type, .rank = 1};
    def.dim[0] = count;
    if (p->width > 1)
        def.dim[def.rank++] = p->width;
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    char *out = item->data;
    for (int i = 0; i < s->count; i++)
        for (size_t a = 0; a < p->width && is_drawn(s, i); a++, out += 4)
            memcpy(out, (const char *)p->from[a] + 4 * (size_t)i, 4);
    return UND_OK;
}

und_status und_spray_frame(const und_spray *s, und_frame *frame, und_error *err)
{
    const particles all[] = {
        {"spray/position", "m", UND_F32, 3, {s->place[0], s->place[1], s->place[2]}},
        {"spray/velocity", "m/s", UND_F32, 3, {s->speed[0], s->speed[1], s->speed[2]}},
        {"spray/radius", "m", UND_F32, 1, {s->radius}},
        {"spray/age", "s", UND_F32, 1, {s->age}},
        {"spray/id", "1", UND_I32, 1, {s->id}},
    };
    if (s->sheets)
        und_sheets_measure(s->sheets, s);
    size_t count = (size_t)count_drawn(s);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (add_particles(s, frame, count, &all[i], err) != UND_OK)
            return err->status;
    return s->sheets ? und_sheets_frame(s->sheets, frame, err) : UND_OK;
}

/* One array of the state.  Those of the drops have as many values as there are drops. */
typedef struct part {
    const char *name;
    und_type type;
    void *data;
} part;

enum { PARTS = 9 };

static void parts_of(und_spray *s, part list[PARTS])
{
    const part all[PARTS] = {
        {"spray_x", UND_F32, s->place[0]},    {"spray_y", UND_F32, s->place[1]},
        {"spray_z", UND_F32, s->place[2]},    {"spray_u", UND_F32, s->speed[0]},
        {"spray_v", UND_F32, s->speed[1]},    {"spray_w", UND_F32, s->speed[2]},
        {"spray_radius", UND_F32, s->radius}, {"spray_age", UND_F32, s->age},
        {"spray_id", UND_I32, s->id},
    };
    memcpy(list, all, sizeof all);
}

und_status und_spray_save(und_spray *s, und_frame *state, und_error *err)
{
    part list[PARTS];
    und_item_def def = {
        .name = "spray_born", .unit = "", .kind = UND_NUMBERS, .type = UND_F64, .rank = 1, .dim = {1}};
    if (!und_frame_borrow(state, &def, &s->born, err))
        return err->status;
    def.name = "spray_rounding";
    if (s->split > 0 && !und_frame_borrow(state, &def, &s->rounding, err))
        return err->status;
    parts_of(s, list);
    def.dim[0] = (size_t)s->count;
    for (int i = 0; i < PARTS; i++) {
        def.name = list[i].name;
        def.type = list[i].type;
        if (!und_frame_borrow(state, &def, list[i].data, err))
            return err->status;
    }
    return s->sheets ? und_sheets_save(s->sheets, (size_t)s->count, state, err) : UND_OK;
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* One number of the state; an error where it is not there. */
static und_status restore_number(const und_frame *state, const char *name, double *number, und_error *err)
{
    const und_item *item = und_frame_find(state, name);
    if (!item || item->type != UND_F64 || und_item_count(item) != 1)
        return und_error_set(err, UND_FAILED, "the checkpoint does not fit the scene: %s is not in it", name);
    memcpy(number, item->data, sizeof *number);
    if (!isfinite(*number))
        return und_error_set(err, UND_FAILED, "the checkpoint is damaged: %s is not finite", name);
    return UND_OK;
}

und_status und_spray_restore(und_spray *s, const und_frame *state, und_error *err)
{
    part list[PARTS];
    const und_item *first = und_frame_find(state, "spray_x");
    size_t count = first ? und_item_count(first) : 0;
    if (!first || count > (size_t)s->capacity)
        return und_error_set(err, UND_FAILED,
                             "the checkpoint does not fit the scene: spray of %zu drops, at most %d expected",
                             count, s->capacity);
    parts_of(s, list);
    for (int i = 0; i < PARTS; i++) {
        const und_item *item = und_frame_find(state, list[i].name);
        size_t found = item ? und_item_count(item) : 0;
        if (!item || item->type != list[i].type || found != count)
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint does not fit the scene: %s has %zu values, expected %zu",
                                 list[i].name, found, count);
        if (item->type == UND_F32 && !all_finite(item->data, count))
            return und_error_set(err, UND_FAILED, "the checkpoint is damaged: %s is not finite",
                                 list[i].name);
        memcpy(list[i].data, item->data, und_item_bytes(item));
    }
    if (restore_number(state, "spray_born", &s->born, err) ||
        (s->split > 0 && restore_number(state, "spray_rounding", &s->rounding, err)))
        return err->status;
    s->count = (int)count;
    s->landed_count = 0;
    return s->sheets ? und_sheets_restore(s->sheets, count, state, err) : UND_OK;
}
