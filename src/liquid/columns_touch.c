/* A person at the columns: mouse tools, what may be turned, and balls, which are bodies as any other. */
#include "base/status.h"
#include "liquid/columns_state.h"

#include <math.h>
#include <string.h>

bool und_columns_lift(void *columns, size_t at, double by)
{
    und_columns *s = columns;
    s->ground[at] = (float)((double)s->ground[at] + by);
    return true;
}

/* What is known of the ground and the water besides the arrays. */
static void look_over(und_columns *s)
{
    s->deepest = 0;
    s->lowest = INFINITY;
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++) {
            size_t at = und_columns_at(s, x, z);
            s->deepest = fmax(s->deepest, s->depth[at]);
            s->lowest = fmin(s->lowest, (double)s->ground[at]);
        }
}

/* Arrays that only a hand needs; without them it does not stir. */
static bool can_press(und_columns *s)
{
    und_error err;
    return und_columns_make_room(s, COLUMNS_LOAD | COLUMNS_HEAD, &err) == UND_OK;
}

void und_columns_touch(und_liquid *liquid, const und_mouse_tool *hand, double dt)
{
    und_columns *s = (und_columns *)liquid;
    und_error err;
    float *head = hand->tool == UND_TOOL_STIR && can_press(s) ? s->head : NULL;
    und_height_field_touch(&s->height_field, hand, dt, head);
    bool digs = hand->tool == UND_TOOL_RAISE || hand->tool == UND_TOOL_DIG;
    if (digs || hand->tool == UND_TOOL_POUR || hand->tool == UND_TOOL_DRAIN)
        look_over(s);
    if (digs && s->floats.bodies)
        und_bodies_set_ground(s->floats.bodies, s->ground + s->height_field.mac.first,
                              &err); /* without memory they fall on the old one */
}

/* ---- what may be turned ---- */

void und_columns_tuning(const und_liquid *liquid, und_tuning *tuning)
{
    und_height_field_tuning(&((const und_columns *)liquid)->height_field, tuning);
}

static void follow_gravity(und_columns *s)
{
    if (s->spray)
        s->spray->gravity = s->def.height_field.gravity;
    und_floats_set_gravity(&s->floats);
}

void und_columns_tune(und_liquid *liquid, const und_tuning *tuning)
{
    und_columns *s = (und_columns *)liquid;
    und_height_field_tune(&s->height_field, &s->def.height_field, tuning);
    follow_gravity(s);
}

/* ---- balls ---- */

int und_columns_balls_left(const und_liquid *liquid)
{
    return UND_BALLS - ((const und_columns *)liquid)->floats.balls.count;
}

bool und_columns_throw_ball(und_liquid *liquid, const und_ball *ball)
{
    return und_columns_add_ball((und_columns *)liquid, ball);
}

/* ---- states ---- */

und_status und_columns_restore_touched(und_columns *s, const und_frame *state, und_error *err)
{
    double kept[UND_BALLS][2];
    bool moved = s->height_field.ground_moved;
    int count = und_balls_kept(state, kept);
    if (count < 0)
        return und_error_set(err, UND_FAILED, "the saved state has a wrong item \"balls\": it is damaged");
    if (und_height_field_restore_touched(&s->height_field, &s->def.height_field, state, err) != UND_OK)
        return err->status;
    if (moved &&
        (und_height_field_sample_ground(&s->height_field, s->ground, err) != UND_OK ||
         (s->floats.bodies &&
          und_bodies_set_ground(s->floats.bodies, s->ground + s->height_field.mac.first, err) != UND_OK)))
        return err->status;
    und_floats_drop_balls(&s->floats);
    for (int i = 0; i < count; i++)
        if (!und_columns_add_ball(s, &(und_ball){.radius = kept[i][0], .density = kept[i][1]}))
            return und_error_set(err, UND_FAILED, "a ball of the saved state could not be made again");
    if (s->displaced && s->floats.count == 0)
        for (int z = 0; z < s->nz; z++)
            memset(s->displaced + und_columns_at(s, 0, z), 0, (size_t)s->nx * sizeof *s->displaced);
    return UND_OK;
}

und_status und_columns_follow_touched(und_columns *s, und_error *err)
{
    double deepest = s->deepest;
    look_over(s);
    s->deepest = deepest; /* as it was saved */
    follow_gravity(s);
    if (s->height_field.ground_moved && s->floats.bodies)
        return und_bodies_set_ground(s->floats.bodies, s->ground + s->height_field.mac.first, err);
    return UND_OK;
}
