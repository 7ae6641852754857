/* How long a substep of the level set is: Wrenninge 2003, 4.4.1. */
#include "liquid/levelset_state.h"

#include <math.h>

enum { AROUND = 3 }; /* cells that velocities are known beyond what moves in a step, and distances too */

/* Cells that liquid crosses in a substep where nothing is said; where the surface is followed by particles
 * alone, which lose more in longer steps, or the liquid is viscous, whose discs get out of round as they
 * turn; and at most while solids move: what is before them is pushed, and what is behind them drawn, by the
 * pressure alone. */
#define CROSSES 3
#define CROSSES_LESS (1 / 0.6)

/* The fastest hundredth of the faces, as crests and tips have them, may cross so many times as many cells as
 * the others, and up to so many: they would make the steps of all the liquid shorter.  Fewer where there are
 * solids, through whose gaps jets come, and where particles alone follow the surface.  Velocities are known
 * for so many cells beyond the liquid: out there it goes no further in a step. */
#define FEW 0.01
#define FURTHER 1.8
#define FURTHEST 5.2
#define FURTHER_LESS 1.4
#define FURTHEST_LESS 3.9
#define KNOWN 4

bool und_levelset_is_viscous(const und_levelset_def *def)
{
    return def->viscosity > 0 || und_levelset_viscosity_varies(def);
}

/* Long steps are for what holds its volume, and is not viscous. */
static bool takes_long_steps(const und_levelset_def *def)
{
    return und_levelset_has_volumes(def) && !und_levelset_is_viscous(def);
}

double und_levelset_courant(const und_levelset_def *def)
{
    return def->courant != 0 ? def->courant : takes_long_steps(def) ? CROSSES : CROSSES_LESS;
}

/* Cells that the fastest cross, where those of the others are known. */
static double furthest_of(const und_levelset_def *def)
{
    const bool far = takes_long_steps(def) && def->obstacle_count == 0;
    const double times = far ? FURTHER : FURTHER_LESS, most = far ? FURTHEST : FURTHEST_LESS;
    return und_levelset_is_viscous(def) ? def->courant : fmax(fmin(def->courant * times, most), def->courant);
}

void und_levelset_set_courant(und_levelset *s)
{
    const bool far = s->def.trace == 3 || takes_long_steps(&s->def);
    s->def.courant = und_levelset_courant(&s->def);
    s->furthest = furthest_of(&s->def);
    s->follows = far ? UND_TRACE_RK3 : UND_TRACE_RK2;
    s->layers =
        (int)fmax(ceil(fmax(s->def.courant, fmin(s->furthest, KNOWN))) + AROUND - 1, UND_SOLIDS_REACH);
}

/* A blow: gaps that close in a substep would take so much too much of the liquid.  What meets something in a
 * few long steps is stopped, what does in short ones is turned: so for as long as so many more would take,
 * it crosses no more cells than that in a step. */
#define BLOW 5e-4
#define BLOW_LASTS 3
#define BLOW_CROSSES 1.5
#define ABOUT 1.1 /* times as many do, rather than one more short step */

/* s: from when the flow has its velocity to the end of the substep.  Water has that of the substep's middle,
 * which moves its surface to second order (leapfrog): it changes for half of the substep before and half of
 * this one.  What is viscous has that of the end, as implicit viscosity has. */
static double ahead(const und_levelset *s, double dt)
{
    return und_levelset_is_viscous(&s->def) ? 0 : 0.5 * dt;
}

void und_levelset_find_speeds(und_levelset *s)
{
    s->fastest = und_mac_flow_fastest(&s->flow, FEW, s->furthest / s->def.courant, &s->usual);
}

/* s: in which what has a speed now crosses so many cells, with the speed v = u + g dt that it has at the end:
 * v dt = C dx. */
static double time_to_cross(const und_levelset *s, double cells, double speed)
{
    const double cross = s->def.dx * cells, pull = und_levelset_pull(s);
    return cross / (0.5 * (speed + sqrt(speed * speed + 4 * pull * cross)));
}

double und_levelset_kick(const und_levelset *s, double dt)
{
    return ahead(s, s->before) + dt - ahead(s, dt);
}

/* Whether a blow is under way, or to come in the substep. */
static bool is_blow(und_levelset *s)
{
    if (!s->volume || s->ran_away)
        return false;
    double share = 0;
    if (s->elements)
        und_elements_place_drains(s->elements, s->time, &s->surface);
    STAGE (&s->stages[STAGE_LABELS])
        share = und_levelset_closing_soon(s, s->dt);
    if (share > BLOW)
        s->blow = s->time + BLOW_LASTS * s->dt;
    return s->time < s->blow;
}

/* The substep is `most` long at most; the last two of a step are equal. */
static void divide_step(und_levelset *s, double most)
{
    bool last = most >= s->left || s->ran_away || s->last_two_equal > 0;
    if (last && s->end > s->time)
        s->left = s->end - s->time; /* so that solids are put where a run that goes on from there puts them */
    s->last_two_equal = !last && 2 * most > s->left;
    s->dt = last ? s->left : s->last_two_equal > 0 ? 0.5 * s->left : most;
}

/* A step of at most `flow`, s, in which what sources pour that are there within it crosses as many cells too:
 * the flow does not know yet of those that begin.  Few as what is fastest, where there is much other liquid.
 */
static double with_sources(const und_levelset *s, double crosses, double flow)
{
    double volume;
    const double speed = und_elements_fastest(s->elements, s->time, fmin(flow, s->left), &volume);
    const bool few = volume < FEW * (s->ledger.measured + volume);
    return speed > 0
               ? fmin(flow, time_to_cross(s, few ? crosses / s->def.courant * s->furthest : crosses, speed))
               : flow;
}

/* s: what goes so many cells in less is too fast to be followed, even to be hit by: it jumps.  Of the time in
 * which what falls from rest goes as far. */
#define JUMPS 256

static double shortest_followed(const und_levelset *s, double crosses)
{
    const double pull = und_levelset_pull(s);
    return s->solids.jump > 0 ? sqrt(crosses * s->def.dx / pull) / JUMPS : 0;
}

double und_levelset_jump(const und_levelset *s)
{
    const double cells = 4;
    return s->volume && und_levelset_pull(s) > 0 ? cells * s->def.dx : 0;
}

/* So long a step, s, or shorter where a solid would come to be somewhere else in it at once that no look at
 * its speed has seen: up to there, and over it in one that is short. */
static double up_to_jump(const und_levelset *s, double crosses, double dt)
{
    enum { HALVES = 16 };
    const double least = shortest_followed(s, crosses), far = 2 * crosses * s->def.dx;
    dt = fmin(dt, s->left);
    for (int i = 0; i < HALVES && dt > least && und_solids_way(&s->solids, s->time, dt) > far; i++)
        dt *= 0.5;
    return dt;
}

/* 4.4.1: so that the liquid crosses C = 1 / CFLmultiplier cells in a substep; fewer in a blow. */
void und_levelset_choose_step(und_levelset *s)
{
    const double moving = und_solids_fastest(&s->solids, s->time, s->left);
    const double led = und_control_particles_fastest(und_levelset_control_particles(s), s->time, s->left);
    const double crosses = moving > 0 ? fmin(s->def.courant, CROSSES_LESS) : s->def.courant;
    const double followed = shortest_followed(s, crosses),
                 solids = followed > 0 ? fmin(moving, crosses * s->def.dx / followed) : moving;
    const double since = ahead(s, s->before) * und_levelset_pull(s);
    const double usual = time_to_cross(s, crosses, fmax(s->usual + since, fmax(solids, led)));
    const double fastest = time_to_cross(s, crosses / s->def.courant * s->furthest, s->fastest + since);
    const double plain = with_sources(s, crosses, fmin(usual, fastest));
    const bool jumps =
        followed > 0 && und_solids_way(&s->solids, s->time, fmin(plain, s->left)) > 2 * crosses * s->def.dx;
    const double flow = jumps ? up_to_jump(s, crosses, plain) : plain, most = fmin(flow, s->def.max_step);
    s->ran_away = !(s->left / most < UND_LEVELSET_MOST_SUBSTEPS); /* or a velocity is none */
    s->crawls = s->ran_away && s->left / flow < UND_LEVELSET_MOST_SUBSTEPS;
    s->needed = most;
    divide_step(s, most);
    const double shorter = flow * BLOW_CROSSES / crosses;
    if (!(shorter < most) || !is_blow(s))
        return;
    s->last_two_equal = 0;
    divide_step(s, s->left < ABOUT * shorter ? s->left : shorter);
}
