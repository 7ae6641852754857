#include "check.h"

#include <math.h>
#include <stdio.h>

/* Cells a wave may cross in a step before the parts it is taken in are a surprise. */
static const double MANY = 100;

static void check_spray(survey *s, const und_spray_def *spray)
{
    if (!spray->on)
        return;
    printf("spray      drops of %g to %g m where water rises faster than %g m/s, at most %d in the air\n",
           spray->radius[0], spray->radius[1], spray->threshold, spray->most);
    const double *wind = spray->wind.constant;
    if (!(spray->drag > 0) && (spray->wind.fn || wind[0] != 0 || wind[1] != 0 || wind[2] != 0))
        check_warn(s, "wind moves spray through its drag, which is 0");
    if (2 * spray->radius[1] > s->height_field->dx)
        check_warn(s, "the largest drops of spray, %g m across, are wider than a cell of %g m",
                   2 * spray->radius[1], s->height_field->dx);
}

void check_columns(survey *s)
{
    const und_columns_def *def = &s->scene->columns;
    double cells = check_wave_speed(s, fmin(s->deepest, def->pipe_depth));
    if (cells > MANY)
        check_warn(s,
                   "waves cross %.0f cells a step, which is then taken in more parts than that; pipe_depth = "
                   "%.3g would make it %.0f",
                   cells, fmin(s->deepest, def->pipe_depth) * MANY * MANY / (cells * cells), MANY);
    check_spray(s, &def->spray);
    check_height_field_bodies(s, def->bodies, def->body_count);
}
