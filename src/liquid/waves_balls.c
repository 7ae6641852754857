/* Balls that a person throws into height-field water: bodies after the others. */
#include "base/status.h"
#include "liquid/waves_state.h"

#include <string.h>

static const bool walls[UND_EDGES] = {true, true, true, true};

/* The ground without what stands on it gets an array of its own. */
static und_status part_bed(und_waves *s, und_error *err)
{
    if (s->bed != s->ground)
        return UND_OK;
    if (und_waves_make_room(s, WAVES_BED, err) != UND_OK)
        return err->status;
    memcpy(s->bare, s->ground, s->height_field.mac.count * sizeof *s->bare);
    s->bed = s->bare;
    s->height_field.ground = s->bed;
    return UND_OK;
}

bool und_waves_throw_ball(und_liquid *liquid, const und_ball *ball)
{
    und_waves *s = (und_waves *)liquid;
    und_error err;
    if (part_bed(s, &err) != UND_OK || !und_floats_throw(&s->floats, walls, ball))
        return false;
    und_waves_place_bodies(s);
    return true;
}

int und_waves_balls_left(const und_liquid *liquid)
{
    return UND_BALLS - ((const und_waves *)liquid)->floats.balls.count;
}

void und_waves_ground_bodies(und_waves *s)
{
    und_error err;
    if (s->floats.bodies)
        und_bodies_set_ground(s->floats.bodies, s->bed + s->height_field.mac.first,
                              &err); /* without memory they fall on the old one */
}

/* As many balls as a state has, where and how they move being restored with its parts.  The bed is the def's,
 * or the state's. */
und_status und_waves_restore_bodies(und_waves *s, const und_frame *state, bool moved, und_error *err)
{
    double kept[UND_BALLS][2];
    int count = und_balls_kept(state, kept);
    if (count < 0)
        return und_error_set(err, UND_FAILED, "the saved state has a wrong item \"balls\": it is damaged");
    if (count > 0 && part_bed(s, err) != UND_OK)
        return err->status;
    if (moved && s->bed != s->ground &&
        und_height_field_sample_ground(&s->height_field, s->bed, err) != UND_OK)
        return err->status;
    und_floats_drop_balls(&s->floats);
    for (int i = 0; i < count; i++)
        if (!und_floats_throw(&s->floats, walls, &(und_ball){.radius = kept[i][0], .density = kept[i][1]}))
            return und_error_set(err, UND_FAILED, "a ball of the saved state could not be made again");
    return UND_OK;
}
