/* What a frame and a checkpoint of height-field water hold. */
#include "liquid/waves_state.h"

#include <assert.h>

und_status und_waves_write_frame(und_liquid *liquid, und_frame *frame, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    const und_pool *p = &s->pool;
    frame->grid = s->pool.grid;
    frame->time = s->pool.time;
    if (und_pool_frame_field(p, frame, "ground", "m", !p->ground_moved, s->bed, err) ||
        und_pool_frame_surface(p, frame, err) ||
        und_pool_frame_field(p, frame, "velocity_x", "m/s", false, s->speed_x, err) ||
        und_pool_frame_field(p, frame, "velocity_z", "m/s", false, s->speed_z, err) ||
        und_pool_frame_field(p, frame, "foam", "1", false, s->foam, err) ||
        und_pool_frame_field(p, frame, "dye", "1", false, s->dye, err) ||
        und_pool_frame_field(p, frame, "texture_u", "m", false, s->texture_u, err) ||
        und_pool_frame_field(p, frame, "texture_v", "m", false, s->texture_v, err) ||
        und_pool_frame_rain(p, frame, err))
        return UND_FAILED;
    return s->floats.count > 0 ? und_bodies_frame(s->floats.bodies, frame, err) : UND_OK;
}

enum { PARTS = 28 };

/* The whole state, in a fixed order. */
static int parts_of(und_waves *s, und_part list[PARTS])
{
    size_t nx = (size_t)s->pool.nx, nz = (size_t)s->pool.nz, cells = (size_t)s->pool.stride * nz;
    const und_part fields[] = {
        und_part_of("height", UND_F64, s->height, cells),
        und_part_of("rise", UND_F32, s->rise, cells),
        und_part_of("rise_time", UND_F64, &s->rise_time, 1),
        und_part_of("ground", UND_F32, s->ground, cells),
        und_part_of("flux_x", UND_F32, s->flux_x, cells),
        und_part_of("flux_z", UND_F32, s->flux_z, cells),
        und_part_of("speed_x", UND_F32, s->speed_x, cells),
        und_part_of("speed_z", UND_F32, s->speed_z, cells),
        und_part_of("foam", UND_F32, s->foam, cells),
        und_part_of("dye", UND_F32, s->dye, cells),
        und_part_of("texture_u", UND_F32, s->texture_u, cells),
        und_part_of("texture_v", UND_F32, s->texture_v, cells),
    };
    const und_part edges[UND_EDGES] = {und_part_of("edge_low_x", UND_F64, s->edge[UND_LOW_X].outside, nz),
                                       und_part_of("edge_high_x", UND_F64, s->edge[UND_HIGH_X].outside, nz),
                                       und_part_of("edge_low_z", UND_F64, s->edge[UND_LOW_Z].outside, nx),
                                       und_part_of("edge_high_z", UND_F64, s->edge[UND_HIGH_Z].outside, nx)};
    enum { FIELDS = sizeof fields / sizeof *fields };
    static_assert(FIELDS + UND_EDGES + UND_POOL_PARTS + 4 <= PARTS, "room for all parts");
    int count = und_pool_parts(&s->pool, list, 0);
    for (int i = 0; i < FIELDS; i++)
        list[count++] = fields[i];
    count = und_pool_rain_parts(&s->pool, list, count);
    for (int e = 0; e < UND_EDGES; e++)
        list[count++] = edges[e];
    if (s->pool.ground_moved && s->bed != s->ground)
        list[count++] = und_part_of("bed", UND_F32, s->bed, cells);
    if (s->floats.count > 0) {
        size_t numbers;
        double *bodies = und_bodies_saved(s->floats.bodies, &numbers);
        list[count++] = und_part_of("bodies", UND_F64, bodies, numbers);
        list[count++] = und_part_of("bodies_still", UND_F64, s->floats.still, 3 * (size_t)s->floats.count);
    }
    if (s->floats.balls.count > 0)
        list[count++] = und_balls_part(&s->floats.balls);
    return count;
}

und_status und_waves_save(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_part list[PARTS];
    state->grid = s->pool.grid;
    state->time = s->pool.time;
    return und_parts_save(list, parts_of(s, list), state, err);
}

und_status und_waves_inspect(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_item_def def = {.name = "middle", .unit = "m", .kind = UND_NUMBERS, .type = UND_F32, .rank = 1};
    def.dim[0] = (size_t)s->pool.stride * (size_t)s->pool.nz;
    und_status status = und_waves_save(liquid, state, err);
    if (status == UND_OK && !und_frame_borrow(state, &def, s->middle, err))
        status = err->status;
    return status;
}

und_status und_waves_restore(und_liquid *liquid, const und_frame *state, und_error *err)
{
    und_waves *s = (und_waves *)liquid;
    und_part list[PARTS];
    bool moved = s->pool.ground_moved;
    und_status status = und_pool_restore_touched(&s->pool, &s->def.pool, state, err);
    if (status == UND_OK)
        status = und_waves_need_flow(s, err);
    if (status == UND_OK)
        status = und_waves_restore_bodies(s, state, moved, err);
    if (status == UND_OK)
        status = und_parts_restore(list, parts_of(s, list), state, err);
    if (status != UND_OK)
        return status;
    und_floats_set_gravity(&s->floats);
    if (s->pool.ground_moved)
        und_waves_ground_bodies(s);
    if (s->floats.bodies)
        und_bodies_restored(s->floats.bodies, s->pool.time);
    und_waves_see_bodies(s);
    return UND_OK;
}
