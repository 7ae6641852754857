/* What a frame and a checkpoint of spray hold. */
#include "base/status.h"
#include "spray/spray.h"

#include <math.h>
#include <string.h>

/* A particle item of the frame: `width` arrays of the spray, woven. */
static und_status add_item(const und_spray *s, und_frame *frame, const char *name, const char *unit,
                           int width, float *const from[], und_error *err)
{
    und_item_def def = {.name = name, .unit = unit, .kind = UND_PARTICLES, .type = UND_F32, .rank = 1};
    def.dim[0] = (size_t)s->count;
    if (width > 1)
        def.dim[def.rank++] = (size_t)width;
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    float *out = item->data;
    for (int i = 0; i < s->count; i++)
        for (int a = 0; a < width; a++)
            *out++ = from[a][i];
    return UND_OK;
}

static und_status add_ids(const und_spray *s, und_frame *frame, und_error *err)
{
    und_item_def def = {.name = "spray/id", .unit = "1", .kind = UND_PARTICLES, .type = UND_I32, .rank = 1};
    def.dim[0] = (size_t)s->count;
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    memcpy(item->data, s->id, und_item_bytes(item));
    return UND_OK;
}

und_status und_spray_frame(const und_spray *s, und_frame *frame, und_error *err)
{
    if (add_item(s, frame, "spray/position", "m", 3, s->place, err) ||
        add_item(s, frame, "spray/velocity", "m/s", 3, s->speed, err) ||
        add_item(s, frame, "spray/radius", "m", 1, &s->radius, err) ||
        add_item(s, frame, "spray/age", "s", 1, &s->age, err))
        return err->status;
    return add_ids(s, frame, err);
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
    parts_of(s, list);
    def.dim[0] = (size_t)s->count;
    for (int i = 0; i < PARTS; i++) {
        def.name = list[i].name;
        def.type = list[i].type;
        if (!und_frame_borrow(state, &def, list[i].data, err))
            return err->status;
    }
    return UND_OK;
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

und_status und_spray_restore(und_spray *s, const und_frame *state, und_error *err)
{
    part list[PARTS];
    const und_item *born = und_frame_find(state, "spray_born"), *first = und_frame_find(state, "spray_x");
    size_t count = first ? und_item_count(first) : 0;
    if (!born || !first || born->type != UND_F64 || und_item_count(born) != 1 || count > (size_t)s->capacity)
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
    memcpy(&s->born, born->data, sizeof s->born);
    s->count = (int)count;
    s->landed_count = 0;
    return UND_OK;
}
