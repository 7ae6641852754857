/* What a frame shows of the columns, and what a checkpoint keeps. */
#include "liquid/columns_state.h"

#include <string.h>

/* A field of the frame, [nz][nx], of numbers made column by column. */
typedef float column_fn(const und_columns *s, int x, int z);

static float seen_at(const und_columns *s, int x, int z)
{
    return (float)und_columns_level(s, und_columns_at(s, x, z));
}
static float speed_x_at(const und_columns *s, int x, int z)
{
    double speed[2];
    und_columns_speed(s, x, z, speed);
    return (float)speed[0];
}
static float speed_z_at(const und_columns *s, int x, int z)
{
    double speed[2];
    und_columns_speed(s, x, z, speed);
    return (float)speed[1];
}

static und_status add_made(const und_columns *s, und_frame *frame, const char *name, const char *unit,
                           column_fn *made, und_error *err)
{
    und_status status =
        und_height_field_frame_field(&s->height_field, frame, name, unit, false, s->ground, err);
    if (status != UND_OK)
        return status;
    float *out = frame->items[frame->count - 1].data;
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++)
            *out++ = made(s, x, z);
    return UND_OK;
}

und_status und_columns_write_frame(und_liquid *liquid, und_frame *frame, und_error *err)
{
    und_columns *s = (und_columns *)liquid;
    frame->grid = s->height_field.grid;
    frame->time = s->height_field.time;
    if (und_height_field_frame_field(&s->height_field, frame, "ground", "m", !s->height_field.ground_moved,
                                     s->ground, err) ||
        add_made(s, frame, "surface", "m", seen_at, err))
        return err->status;
    if (s->def.velocity && (add_made(s, frame, "velocity_x", "m/s", speed_x_at, err) ||
                            add_made(s, frame, "velocity_z", "m/s", speed_z_at, err)))
        return err->status;
    if (und_height_field_frame_rain(&s->height_field, frame, err) ||
        (s->floats.count > 0 && und_bodies_frame(s->floats.bodies, frame, err)) ||
        (s->spray && und_spray_frame(s->spray, frame, err)))
        return err->status;
    return UND_OK;
}

enum { PARTS = 48 };

/* The whole state, in a fixed order. */
static int parts_of(und_columns *s, und_state_field list[PARTS])
{
    static const char *const flow_names[PIPES] = {"flow_x", "flow_z", "flow_down", "flow_up"};
    const und_height_field *p = &s->height_field;
    size_t numbers = 0;
    bool bodies = s->floats.count > 0;
    int count = und_height_field_parts(&s->height_field, list, 0);
    list[count++] = und_state_field_of("substep", UND_F64, &s->substep, 1);
    list[count++] = und_state_field_of("dt", UND_F64, &s->dt, 1);
    list[count++] = und_state_field_of("left", UND_F64, &s->left, 1);
    list[count++] = und_state_field_of("end", UND_F64, &s->end, 1);
    list[count++] = und_state_field_of("deepest", UND_F64, &s->deepest, 1);
    list[count++] = und_height_field_part(p, "depth", UND_F64, s->depth);
    for (int k = 0; k < PIPES; k++)
        list[count++] = und_height_field_part(p, flow_names[k], UND_F32, s->flow[k]);
    list[count++] = und_height_field_part(p, "rise", UND_F32, s->rise);
    list[count++] = und_height_field_part(p, "displaced", UND_F32, bodies ? s->displaced : NULL);
    count = und_height_field_rain_parts(&s->height_field, list, count);
    if (bodies) {
        double *saved = und_bodies_saved(s->floats.bodies, &numbers);
        list[count++] = und_state_field_of("bodies", UND_F64, saved, numbers);
    }
    if (s->height_field.ground_moved)
        list[count++] = und_height_field_part(p, "ground", UND_F32, s->ground);
    if (s->floats.balls.count > 0)
        list[count++] = und_balls_part(&s->floats.balls);
    return count;
}

und_status und_columns_save(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_columns *s = (und_columns *)liquid;
    und_state_field list[PARTS];
    state->grid = s->height_field.grid;
    state->time = s->height_field.time;
    und_status status = und_state_save_fields(list, parts_of(s, list), state, err);
    return status == UND_OK && s->spray ? und_spray_save(s->spray, state, err) : status;
}

und_status und_columns_restore(und_liquid *liquid, const und_frame *state, und_error *err)
{
    und_columns *s = (und_columns *)liquid;
    und_state_field list[PARTS];
    und_status status = und_columns_restore_touched(s, state, err);
    if (status == UND_OK)
        status = und_state_restore_fields(list, parts_of(s, list), state, err);
    if (status == UND_OK)
        status = und_columns_follow_touched(s, err);
    if (status == UND_OK && s->spray)
        status = und_spray_restore(s->spray, state, err);
    if (status == UND_OK && s->floats.bodies)
        und_bodies_restored(s->floats.bodies, s->height_field.time);
    und_columns_set_pipes(s);
    for (int z = 0; z < s->nz; z++)
        s->rows[z].pressed = s->load != NULL; /* all of it is made again */
    return status;
}
