/* Mouse tools on a height field, and what may be turned while it runs. */
#include "base/maths.h"
#include "geom/value.h"
#include "liquid/height_field_state.h"

#include <math.h>

static const double deepest_pit = 1e5; /* m; no hand digs deeper or heaps higher */

/* How far the middle of a cell is from the way that the hand went. */
static double distance_from_way(const und_height_field *p, const und_mouse_tool *hand, int x, int z)
{
    double way[2] = {hand->place[0] - hand->from[0], p->nz > 1 ? hand->place[2] - hand->from[2] : 0};
    double to[2] = {und_height_field_x(p, x) - hand->from[0],
                    p->nz > 1 ? und_height_field_z(p, z) - hand->from[2] : 0};
    double square = way[0] * way[0] + way[1] * way[1];
    double share = square > 0 ? fmin(fmax((to[0] * way[0] + to[1] * way[1]) / square, 0), 1) : 0;
    return und_hypot(to[0] - share * way[0], to[1] - share * way[1]);
}

/* Cells within reach of the hand, half open. */
static void reach(const und_height_field *p, const und_mouse_tool *hand, int box[4])
{
    double low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = fmin(hand->from[2 * i], hand->place[2 * i]) - hand->radius;
        high[i] = fmax(hand->from[2 * i], hand->place[2 * i]) + hand->radius;
    }
    box[0] = und_height_field_cell_x(p, low[0]);
    box[1] = und_height_field_cell_x(p, high[0]) + 1;
    box[2] = und_height_field_cell_z(p, low[1]);
    box[3] = und_height_field_cell_z(p, high[1]) + 1;
}

static bool sane(const und_mouse_tool *hand)
{
    double sum = hand->radius + hand->strength;
    for (int a = 0; a < 3; a++)
        sum += hand->from[a] + hand->place[a];
    return isfinite(sum) && hand->radius > 0;
}

/* Adds exactly `volume` (m3; negative: takes, as far as there is water) along the hand's way; into the cell
 * under it where the hand is smaller than one. */
static void pour(und_height_field *p, const und_mouse_tool *hand, double volume)
{
    int box[4];
    double cell = und_height_field_cell_area(p), total = 0, added = 0;
    reach(p, hand, box);
    for (int z = box[2]; z < box[3]; z++)
        for (int x = box[0]; x < box[1]; x++)
            total += und_height_field_bump(distance_from_way(p, hand, x, z), hand->radius);
    if (total <= 0) {
        size_t at = und_height_field_at(p, und_height_field_cell_x(p, hand->place[0]),
                                        und_height_field_cell_z(p, hand->place[2]));
        und_height_field_book(p, cell * und_height_field_add_water(p, at, volume / cell));
        return;
    }
    for (int z = box[2]; z < box[3]; z++)
        for (int x = box[0]; x < box[1]; x++) {
            double part = und_height_field_bump(distance_from_way(p, hand, x, z), hand->radius) / total;
            if (part > 0)
                added +=
                    cell * und_height_field_add_water(p, und_height_field_at(p, x, z), part * volume / cell);
        }
    und_height_field_book(p, added);
}

/* The ground rises or sinks by a smooth bump and carries its water along: neither depths nor the volume
 * change. */
static void lift(und_height_field *p, const und_mouse_tool *hand, double by)
{
    int box[4];
    reach(p, hand, box);
    by = fmin(fmax(by, -hand->radius), hand->radius);
    for (int z = box[2]; z < box[3]; z++)
        for (int x = box[0]; x < box[1]; x++) {
            size_t at = und_height_field_at(p, x, z);
            double part = by * und_height_field_bump(distance_from_way(p, hand, x, z), hand->radius);
            if (part != 0 && fabs((double)p->ground[at] + part) < deepest_pit)
                p->ground_moved |= p->lift(p->context, at, part);
            if (p->rain) /* drops fall into pits, too */
                p->rain->floor = fmin(p->rain->floor, (double)p->ground[at]);
        }
}

/* No hand presses any more: where the def does not either, there is no head. */
static void let_go(und_height_field *p)
{
    for (int z = p->patch[2]; p->head && z < p->patch[3]; z++)
        for (int x = p->patch[0]; x < p->patch[1]; x++)
            p->head[und_height_field_at(p, x, z)] = 0;
    for (int i = 0; i < 4; i++)
        p->patch[i] = 0;
    if (!und_height_field_presses(p->def))
        p->head = NULL;
}

void und_height_field_end_hand(und_height_field *p)
{
    double left = p->hand_end - p->time;
    if (p->hand.tool != UND_TOOL_NONE && !(left > 1e-9 * (p->hand_end - p->hand_from))) {
        let_go(p);
        p->hand.tool = UND_TOOL_NONE;
    }
}

void und_height_field_touch(und_height_field *p, const und_mouse_tool *hand, double dt, float *head)
{
    let_go(p);
    p->hand = (und_mouse_tool){.tool = UND_TOOL_NONE};
    if (!sane(hand) || !(dt > 0))
        return;
    switch (hand->tool) {
    case UND_TOOL_STIR:
        if (head && hand->period > 0) {
            p->head = head;
            p->hand = *hand;
            p->hand_from = p->time;
            p->hand_end = p->time + dt;
        }
        break;
    case UND_TOOL_POUR:
        pour(p, hand, fmax(hand->strength, 0) * dt);
        break;
    case UND_TOOL_DRAIN:
        pour(p, hand, -fmax(hand->strength, 0) * dt);
        break;
    case UND_TOOL_RAISE:
        lift(p, hand, hand->strength * dt);
        break;
    case UND_TOOL_DIG:
        lift(p, hand, -hand->strength * dt);
        break;
    default:
        break;
    }
}

/* "Applying a sinusoidal disturbance" (Kass & Miller 1990, figure 4), as und_stir_def, where the hand is on
 * its way. */
void und_height_field_press_hand(und_height_field *p, double time)
{
    const und_mouse_tool *hand = &p->hand;
    if (hand->tool != UND_TOOL_STIR)
        return;
    double share = fmin((time - p->hand_from) / (p->hand_end - p->hand_from), 1);
    double x = hand->from[0] + share * (hand->place[0] - hand->from[0]);
    double z = hand->from[2] + share * (hand->place[2] - hand->from[2]);
    if (!und_height_field_presses(p->def))
        for (int k = p->patch[2]; k < p->patch[3]; k++)
            for (int i = p->patch[0]; i < p->patch[1]; i++)
                p->head[und_height_field_at(p, i, k)] = 0;
    double phase = 2 * M_PI * (hand->held + time - p->hand_from) / hand->period;
    und_height_field_press_at(p, x, z, hand->radius, hand->strength * und_sin(phase));
    und_mouse_tool there = *hand;
    there.from[0] = there.place[0] = x;
    there.from[2] = there.place[2] = z;
    reach(p, &there, p->patch);
}
