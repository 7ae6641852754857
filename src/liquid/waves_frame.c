/* What a frame and a checkpoint of height-field water hold. */
#include "liquid/waves_state.h"

#include <assert.h>

und_status und_waves_write_frame(und_liquid *liquid, und_frame *frame, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    const und_height_field *p = &s->height_field;
    frame->grid = s->height_field.grid;
    frame->time = s->height_field.time;
    if (und_height_field_frame_field(p, frame, "ground", "m", !p->ground_moved, s->bed, err) ||
        und_height_field_frame_surface(p, frame, err) ||
        und_height_field_frame_field(p, frame, "velocity_x", "m/s", false, s->speed_x, err) ||
        und_height_field_frame_field(p, frame, "velocity_z", "m/s", false, s->speed_z, err) ||
        und_height_field_frame_field(p, frame, "foam", "1", false, s->foam, err) ||
        und_height_field_frame_field(p, frame, "dye", "1", false, s->dye, err) ||
        und_height_field_frame_field(p, frame, "texture_u", "m", false, s->texture_u, err) ||
        und_height_field_frame_field(p, frame, "texture_v", "m", false, s->texture_v, err) ||
        und_height_field_frame_rain(p, frame, err))
        return UND_FAILED;
    return s->floats.count > 0 ? und_bodies_frame(s->floats.bodies, frame, err) : UND_OK;
}

enum { PARTS = 28 };

/* The whole state, in a fixed order. */
static int parts_of(und_waves *s, und_state_field list[PARTS])
{
    const und_height_field *p = &s->height_field;
    const size_t nx = (size_t)p->nx, nz = (size_t)p->nz;
    const und_state_field fields[] = {
        und_height_field_part(p, "height", UND_F64, s->height),
        und_height_field_part(p, "rise", UND_F32, s->rise),
        und_state_field_of("rise_time", UND_F64, &s->rise_time, 1),
        und_height_field_part(p, "ground", UND_F32, s->ground),
        und_height_field_part(p, "flux_x", UND_F32, s->flux_x),
        und_height_field_part(p, "flux_z", UND_F32, s->flux_z),
        und_height_field_part(p, "speed_x", UND_F32, s->speed_x),
        und_height_field_part(p, "speed_z", UND_F32, s->speed_z),
        und_height_field_part(p, "foam", UND_F32, s->foam),
        und_height_field_part(p, "dye", UND_F32, s->dye),
        und_height_field_part(p, "texture_u", UND_F32, s->texture_u),
        und_height_field_part(p, "texture_v", UND_F32, s->texture_v),
    };
    const und_state_field edges[UND_EDGES] = {
        und_state_field_of("edge_low_x", UND_F64, s->edge[UND_LOW_X].outside, nz),
        und_state_field_of("edge_high_x", UND_F64, s->edge[UND_HIGH_X].outside, nz),
        und_state_field_of("edge_low_z", UND_F64, s->edge[UND_LOW_Z].outside, nx),
        und_state_field_of("edge_high_z", UND_F64, s->edge[UND_HIGH_Z].outside, nx)};
    enum { FIELDS = sizeof fields / sizeof *fields };
    static_assert(FIELDS + UND_EDGES + UND_HEIGHT_FIELD_PARTS + 4 <= PARTS, "room for all parts");
    int count = und_height_field_parts(&s->height_field, list, 0);
    for (int i = 0; i < FIELDS; i++)
        list[count++] = fields[i];
    count = und_height_field_rain_parts(&s->height_field, list, count);
    for (int e = 0; e < UND_EDGES; e++)
        list[count++] = edges[e];
    if (s->height_field.ground_moved && s->bed != s->ground)
        list[count++] = und_height_field_part(p, "bed", UND_F32, s->bed);
    if (s->floats.count > 0) {
        size_t numbers;
        double *bodies = und_bodies_saved(s->floats.bodies, &numbers);
        list[count++] = und_state_field_of("bodies", UND_F64, bodies, numbers);
        list[count++] =
            und_state_field_of("bodies_still", UND_F64, s->floats.still, 3 * (size_t)s->floats.count);
    }
    if (s->floats.balls.count > 0)
        list[count++] = und_balls_part(&s->floats.balls);
    return count;
}

und_status und_waves_save(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_state_field list[PARTS];
    state->grid = s->height_field.grid;
    state->time = s->height_field.time;
    return und_state_save_fields(list, parts_of(s, list), state, err);
}

und_status und_waves_inspect(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_item_def def = {.name = "middle", .unit = "m", .kind = UND_NUMBERS, .type = UND_F32, .rank = 1};
    const und_state_field middle = und_height_field_part(&s->height_field, def.name, def.type, s->middle);
    def.dim[0] = middle.count;
    und_status status = und_waves_save(liquid, state, err);
    if (status == UND_OK && !und_frame_borrow(state, &def, middle.data, err))
        status = err->status;
    return status;
}

und_status und_waves_restore(und_liquid *liquid, const und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_state_field list[PARTS];
    bool moved = s->height_field.ground_moved;
    und_status status = und_height_field_restore_touched(&s->height_field, &s->def.height_field, state, err);
    if (status == UND_OK)
        status = und_waves_need_flow(s, err);
    if (status == UND_OK)
        status = und_waves_restore_bodies(s, state, moved, err);
    if (status == UND_OK)
        status = und_state_restore_fields(list, parts_of(s, list), state, err);
    if (status != UND_OK)
        return status;
    und_floats_set_gravity(&s->floats);
    if (s->height_field.ground_moved)
        und_waves_ground_bodies(s);
    if (s->floats.bodies)
        und_bodies_restored(s->floats.bodies, s->height_field.time);
    und_waves_see_bodies(s);
    return UND_OK;
}
