/* What a frame and a checkpoint hold of a height field. */
#include "liquid/height_field.h"

#include <string.h>

static float *new_field(const und_height_field *p, und_frame *frame, const char *name, const char *unit,
                        bool is_static, und_error *err)
{
    und_item_def def = {.name = name,
                        .unit = unit,
                        .kind = UND_FIELD,
                        .type = UND_F32,
                        .is_static = is_static,
                        .rank = 2,
                        .dim = {(size_t)p->nz, (size_t)p->nx}};
    und_item *item = und_frame_add(frame, &def, err);
    return item ? item->data : NULL;
}

und_status und_height_field_frame_field(const und_height_field *p, und_frame *frame, const char *name,
                                        const char *unit, bool is_static, const float *from, und_error *err)
{
    if (!from)
        return UND_OK;
    float *out = new_field(p, frame, name, unit, is_static, err);
    for (int z = 0; out && z < p->nz; z++)
        memcpy(out + (size_t)z * (size_t)p->nx, from + und_height_field_at(p, 0, z),
               (size_t)p->nx * sizeof *out);
    return out ? UND_OK : UND_FAILED;
}

und_status und_height_field_frame_surface(const und_height_field *p, und_frame *frame, und_error *err)
{
    float *out = new_field(p, frame, "surface", "m", false, err);
    if (!out)
        return UND_FAILED;
    for (int z = 0; z < p->nz; z++)
        for (int x = 0; x < p->nx; x++)
            *out++ = (float)und_height_field_surface(p, und_height_field_at(p, x, z));
    return UND_OK;
}

und_status und_height_field_frame_rain(const und_height_field *p, und_frame *frame, und_error *err)
{
    if (!p->rain)
        return UND_OK;
    und_item_def def = {
        .name = "rain/position", .unit = "m", .kind = UND_PARTICLES, .type = UND_F32, .rank = 2};
    def.dim[0] = (size_t)p->rain->count;
    def.dim[1] = 3;
    und_item *position = und_frame_add(frame, &def, err);
    if (!position)
        return UND_FAILED;
    memcpy(position->data, p->rain->position, und_item_bytes(position));
    def.name = "rain/velocity";
    def.unit = "m/s";
    und_item *velocity = und_frame_add(frame, &def, err);
    if (!velocity)
        return UND_FAILED;
    memcpy(velocity->data, p->rain->velocity, und_item_bytes(velocity));
    return UND_OK;
}

und_state_field und_height_field_part(const und_height_field *p, const char *name, und_type type, void *array)
{
    const size_t size = type == UND_F64 ? sizeof(double) : sizeof(float);
    char *from = array ? (char *)array + p->mac.first * size : NULL;
    return und_state_field_of(name, type, from, (size_t)p->stride * (size_t)p->nz);
}

int und_height_field_parts(und_height_field *p, und_state_field *list, int count)
{
    enum { ENTRIES = sizeof(und_ledger) / sizeof(double) };
    list[count++] = und_state_field_of("time", UND_F64, &p->time, 1);
    list[count++] = und_state_field_of("ledger", UND_F64, &p->ledger, ENTRIES);
    list[count++] = und_state_field_of("ledger_lost", UND_F64, &p->lost, ENTRIES);
    list[count] = und_state_field_of("edge_slants", UND_F32, p->slant, p->slant_count);
    list[count++].adapts = true; /* a branch may open an edge */
    return und_height_field_touched_part(p, list, count);
}

int und_height_field_rain_parts(und_height_field *p, und_state_field *list, int count)
{
    und_rain *rain = p->rain;
    if (!rain)
        return count;
    und_state_field drops = {.type = UND_F32, .items = &rain->count, .per_item = 3};
    drops.capacity = (size_t)rain->capacity;
    list[count++] = und_state_field_of("rain_emitted", UND_F64, &rain->emitted, 1);
    drops.name = "rain_position";
    drops.data = rain->position;
    list[count++] = drops;
    drops.name = "rain_velocity";
    drops.data = rain->velocity;
    list[count++] = drops;
    return count;
}
