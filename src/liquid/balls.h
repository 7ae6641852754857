/* Balls that a person throws into water over a ground: a few, kept in reserve. */
#ifndef UND_LIQUID_BALLS_H
#define UND_LIQUID_BALLS_H

#include "bodies/bodies.h"
#include "grid/state.h"
#include "liquid/touch.h"

enum { UND_BALLS = 8 };

typedef struct und_balls {
    int count;
    double kept[UND_BALLS][2]; /* radius, m, and density, kg/m3: with the bodies' state, what a state keeps */
    und_shape shape[UND_BALLS];
    und_body_def def[UND_BALLS];
} und_balls;

const float *und_balls_color(int i); /* linear, [3] */

/* The i-th ball as a body. */
void und_ball_body(const und_ball *ball, int i, und_shape *shape, und_body_def *def);
/* What is wrong with its numbers; NULL: nothing. */
const char *und_ball_wrong(const und_ball *ball);
/* The next ball as a body; NULL: none is left, or its numbers are wrong. */
const und_body_def *und_balls_add(und_balls *balls, const und_ball *ball);

/* The balls' part of a state; und_balls_kept reads it: how many there are, with their numbers, or -1 where it
 * is damaged.  No item: none. */
und_state_field und_balls_part(und_balls *balls);
int und_balls_kept(const und_frame *state, double kept[UND_BALLS][2]);

#endif
