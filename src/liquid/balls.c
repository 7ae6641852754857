#include "liquid/balls.h"

#include <math.h>
#include <string.h>

const char *und_ball_wrong(const und_ball *ball)
{
    double sum = 0;
    for (int a = 0; a < 3; a++)
        sum += fabs(ball->place[a]) + fabs(ball->velocity[a]);
    if (!(sum < 1e6))
        return "it is too far away or too fast (1e6 m, 1e6 m/s)";
    if (!(ball->radius > 1e-4 && ball->radius < 1e4))
        return "its radius must be between 1e-4 m and 1e4 m";
    if (!(ball->density > 1 && ball->density < 1e5))
        return "its density must be between 1 kg/m3 and 1e5 kg/m3";
    return NULL;
}

const float *und_balls_color(int i)
{
    static const float colors[][3] = {{0.75f, 0.05f, 0.03f}, {0.90f, 0.55f, 0.04f}, {0.04f, 0.25f, 0.65f},
                                      {0.85f, 0.85f, 0.80f}, {0.05f, 0.42f, 0.12f}, {0.55f, 0.08f, 0.45f},
                                      {0.02f, 0.45f, 0.50f}, {0.95f, 0.30f, 0.05f}};
    return colors[i % (int)(sizeof colors / sizeof *colors)];
}

void und_ball_body(const und_ball *ball, int i, und_shape *shape, und_body_def *def)
{
    *shape = (und_shape){.kind = UND_SPHERE, .radius = ball->radius};
    *def = und_body_def_default();
    def->shape = shape;
    def->density = ball->density;
    def->drag = 0.5;
    memcpy(def->position, ball->place, sizeof def->position);
    memcpy(def->velocity, ball->velocity, sizeof def->velocity);
    memcpy(def->color, und_balls_color(i), sizeof def->color);
}

const und_body_def *und_balls_add(und_balls *balls, const und_ball *ball)
{
    if (balls->count == UND_BALLS || und_ball_wrong(ball))
        return NULL;
    int i = balls->count++;
    balls->kept[i][0] = ball->radius;
    balls->kept[i][1] = ball->density;
    und_ball_body(ball, i, &balls->shape[i], &balls->def[i]);
    return &balls->def[i];
}

und_state_field und_balls_part(und_balls *balls)
{
    return (und_state_field){.name = "balls",
                             .type = UND_F64,
                             .data = balls->kept,
                             .items = &balls->count,
                             .per_item = 2,
                             .capacity = UND_BALLS};
}

int und_balls_kept(const und_frame *state, double kept[UND_BALLS][2])
{
    const und_item *item = und_frame_find(state, "balls");
    if (!item)
        return 0;
    size_t numbers = und_item_count(item);
    if (item->type != UND_F64 || numbers % 2 != 0 || numbers > 2 * UND_BALLS || (numbers > 0 && !item->data))
        return -1;
    if (numbers > 0)
        memcpy(kept, item->data, numbers * sizeof(double));
    return (int)numbers / 2;
}
