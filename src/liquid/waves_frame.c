/* What a frame and a checkpoint of height-field water hold. */
#include "base/status.h"
#include "liquid/waves_state.h"

#include <string.h>

/* A field of the frame, [nz][nx], from an array of the model. */
static und_status add_field(const und_waves *s, und_frame *frame, const char *name, const char *unit,
                            bool is_static, const float *from, und_error *err)
{
    if (!from)
        return UND_OK;
    und_item_def def = {.name = name,
                        .unit = unit,
                        .kind = UND_FIELD,
                        .type = UND_F32,
                        .is_static = is_static,
                        .rank = 2,
                        .dim = {(size_t)s->nz, (size_t)s->nx}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    for (int z = 0; z < s->nz; z++)
        memcpy((float *)item->data + (size_t)z * (size_t)s->nx, from + und_waves_at(s, 0, z),
               (size_t)s->nx * sizeof(float));
    return UND_OK;
}

static und_status add_surface(const und_waves *s, und_frame *frame, und_error *err)
{
    und_status status = add_field(s, frame, "surface", "m", false, s->bed, err);
    if (status != UND_OK)
        return status;
    float *out = frame->items[frame->count - 1].data;
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++)
            *out++ = (float)s->height[und_waves_at(s, x, z)];
    return UND_OK;
}

static und_status add_rain(const und_waves *s, und_frame *frame, und_error *err)
{
    und_item_def def = {
        .name = "rain/position", .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 2};
    def.dim[0] = (size_t)s->rain->count;
    def.dim[1] = 3;
    und_item *position = und_frame_add(frame, &def, err);
    if (!position)
        return err->status;
    memcpy(position->data, s->rain->position, und_item_bytes(position));
    def.name = "rain/velocity";
    def.unit = "m/s";
    und_item *velocity = und_frame_add(frame, &def, err);
    if (!velocity)
        return err->status;
    memcpy(velocity->data, s->rain->velocity, und_item_bytes(velocity));
    return UND_OK;
}

und_status und_waves_write_frame(und_liquid *liquid, und_frame *frame, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    frame->grid = s->grid;
    frame->time = s->time;
    if (add_field(s, frame, "ground", "m", true, s->bed, err) || add_surface(s, frame, err) ||
        add_field(s, frame, "velocity_x", "m/s", false, s->speed_x, err) ||
        add_field(s, frame, "velocity_z", "m/s", false, s->speed_z, err) ||
        add_field(s, frame, "foam", "1", false, s->foam, err) ||
        add_field(s, frame, "dye", "1", false, s->dye, err) ||
        add_field(s, frame, "texture_u", "m", false, s->texture_u, err) ||
        add_field(s, frame, "texture_v", "m", false, s->texture_v, err))
        return err->status;
    if (s->rain && add_rain(s, frame, err))
        return err->status;
    return und_waves_frame_objects(s, frame, err);
}

/* One array of the state: where it is and how long. */
typedef struct part {
    const char *name;
    und_type type;
    void *data;
    size_t count, capacity;
} part;

enum { PARTS = 24 };

/* The whole state, in a fixed order.  Arrays that the def does not ask for are left out. */
static int parts_of(und_waves *s, part list[PARTS])
{
    size_t cells = (size_t)s->stride * (size_t)s->nz;
    size_t drops = s->rain ? 3 * (size_t)s->rain->count : 0,
           most = s->rain ? 3 * (size_t)s->rain->capacity : 0;
    const part all[PARTS] = {
        {"time", UND_F64, &s->time, 1, 1},
        {"ledger", UND_F64, &s->ledger, sizeof s->ledger / sizeof(double), sizeof s->ledger / sizeof(double)},
        {"ledger_lost", UND_F64, &s->lost, sizeof s->lost / sizeof(double), sizeof s->lost / sizeof(double)},
        {"height", UND_F64, s->height, cells, cells},
        {"rise", UND_F32, s->rise, cells, cells},
        {"rise_time", UND_F64, &s->rise_time, 1, 1},
        {"ground", UND_F32, s->ground, cells, cells},
        {"flux_x", UND_F32, s->flux_x, cells, cells},
        {"flux_z", UND_F32, s->flux_z, cells, cells},
        {"speed_x", UND_F32, s->speed_x, cells, cells},
        {"speed_z", UND_F32, s->speed_z, cells, cells},
        {"foam", UND_F32, s->foam, cells, cells},
        {"dye", UND_F32, s->dye, cells, cells},
        {"texture_u", UND_F32, s->texture_u, cells, cells},
        {"texture_v", UND_F32, s->texture_v, cells, cells},
        {"rain_emitted", UND_F64, s->rain ? &s->rain->emitted : NULL, 1, 1},
        {"rain_position", UND_F32, s->rain ? s->rain->position : NULL, drops, most},
        {"rain_velocity", UND_F32, s->rain ? s->rain->velocity : NULL, drops, most},
        {"edge_low_x", UND_F64, s->edge[UND_LOW_X].outside, (size_t)s->nz, (size_t)s->nz},
        {"edge_high_x", UND_F64, s->edge[UND_HIGH_X].outside, (size_t)s->nz, (size_t)s->nz},
        {"edge_low_z", UND_F64, s->edge[UND_LOW_Z].outside, (size_t)s->nx, (size_t)s->nx},
        {"edge_high_z", UND_F64, s->edge[UND_HIGH_Z].outside, (size_t)s->nx, (size_t)s->nx},
    };
    int count = 0;
    for (int i = 0; i < PARTS; i++)
        if (all[i].name && all[i].data)
            list[count++] = all[i];
    return count;
}

und_status und_waves_save(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    part list[PARTS];
    int count = parts_of(s, list);
    state->grid = s->grid;
    state->time = s->time;
    for (int i = 0; i < count; i++) {
        und_item_def def = {
            .name = list[i].name, .unit = "", .kind = UND_NUMBERS, .type = list[i].type, .rank = 1};
        def.dim[0] = list[i].count;
        if (!und_frame_borrow(state, &def, list[i].data, err))
            return err->status;
    }
    return UND_OK;
}

und_status und_waves_inspect(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_item_def def = {.name = "middle", .unit = "m", .kind = UND_NUMBERS, .type = UND_F32, .rank = 1};
    def.dim[0] = (size_t)s->stride * (size_t)s->nz;
    und_status status = und_waves_save(liquid, state, err);
    if (status == UND_OK && !und_frame_borrow(state, &def, s->middle, err))
        status = err->status;
    return status;
}

und_status und_waves_restore(und_liquid *liquid, const und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    part list[PARTS];
    int count = parts_of(s, list);
    for (int i = 0; i < count; i++) {
        const part *p = &list[i];
        const und_item *item = und_frame_find(state, p->name);
        bool drops = strncmp(p->name, "rain_p", 6) == 0 || strncmp(p->name, "rain_v", 6) == 0;
        size_t found = item ? und_item_count(item) : 0;
        if (!item || item->type != p->type || (drops ? found > p->capacity || found % 3 : found != p->count))
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint does not fit the scene: %s has %zu values, expected %zu",
                                 p->name, found, p->count);
        memcpy(p->data, item->data, und_item_bytes(item));
        if (drops)
            s->rain->count = (int)(found / 3);
    }
    und_waves_find_objects(s);
    return UND_OK;
}
