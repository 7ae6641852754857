/* Velocities of the open faces of Surface cells.  Foster & Metaxas 1996, section 3.2.3. */
#ifndef UND_FLOW_MARKER_FLOW_SURFACE_KERNEL_H
#define UND_FLOW_MARKER_FLOW_SURFACE_KERNEL_H

#include "flow/marker_flow_parts.h"

/* The sides of a cell that face the air, axis by axis: closed axes have none, half open ones one, open ones
 * both.  One rule makes the 64 configurations:
 *
 * 1. On half open axes the open side takes the velocity of the side opposite.
 * 2. What the closed axes still gather, the sides of half open axes let out, in equal parts: with one open
 *    side this is equation 10, and with no closed axis each derivative vanishes by itself.
 * 3. Sides of open axes follow the body force and do not change, unless there is no half open axis to do 2:
 *    then they let out all that gathers, evenly to both sides.
 *
 * A cell with nothing but air around it falls freely, and so does the open side of one that hangs on a wall.
 */
UND_INLINE void und_surface_open_faces(unsigned open, const double d[3], double low[3], double high[3])
{
    int half = 0, both = 0;
    double closed_growth = 0, growth = 0; /* du/dx + dv/dy + dw/dz over closed axes, over all */
    for (int a = 0; a < 3; a++) {
        const unsigned sides = open >> 2 * a & 3;
        if (sides == 1)
            low[a] = high[a];
        else if (sides == 2)
            high[a] = low[a];
        else if (sides == 0)
            closed_growth += (high[a] - low[a]) / d[a];
        half += sides == 1 || sides == 2;
        both += sides == 3;
        growth += (high[a] - low[a]) / d[a];
    }
    if (both == 3)
        return;
    const double part = half ? closed_growth / half : both ? growth / (2 * both) : 0;
    for (int a = 0; a < 3; a++) {
        const unsigned sides = open >> 2 * a & 3;
        if (half ? sides == 1 : sides == 3)
            low[a] += part * d[a];
        if (half ? sides == 2 : sides == 3)
            high[a] -= part * d[a];
    }
}

typedef struct und_surface_args {
    und_mac mac;
    double *u[3];
    double pull[3], fall[3]; /* gravity; what it gives in a step */
    const uint8_t *label, *wall;
    const und_wall_def *walls;
} und_surface_args;

/* Whether along an axis the cell hangs on a wall: liquid is pulled away from it, and there is air that way.
 * The open side would take the wall's velocity and the liquid stay for good, but nothing holds it. */
UND_INLINE bool und_surface_hangs(const und_surface_args *a, size_t at, int axis, unsigned sides)
{
    const size_t step = (size_t)a->mac.step[axis], wall = sides == 1 ? at + step : at - step;
    const double pull = a->pull[axis];
    if (!(sides == 1 ? pull < 0 : sides == 2 && pull > 0) || a->label[wall] != UND_CELL_SOLID)
        return false;
    const und_wall_kind kind = a->walls[a->wall[wall]].kind;
    return kind == UND_WALL_SLIP || kind == UND_WALL_STICK;
}

UND_INLINE void und_surface_cell(const und_surface_args *k, size_t at)
{
    const und_mac *m = &k->mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    const double endless = __builtin_inf();
    unsigned open = 0;
    double low[3] = {0}, high[3] = {0};
    double falling[2][3] = {{endless, endless, endless}, {-endless, -endless, -endless}};
    for (int a = 0; a < axes; a++) {
        const size_t step = (size_t)m->step[a];
        const unsigned sides = (k->label[at - step] == UND_CELL_EMPTY ? 1u : 0) |
                               (k->label[at + step] == UND_CELL_EMPTY ? 2u : 0);
        open |= sides << 2 * a;
        low[a] = k->u[a][at - step] + (sides == 3 ? k->fall[a] : 0);
        high[a] = k->u[a][at] + (sides == 3 ? k->fall[a] : 0);
        if (und_surface_hangs(k, at, a, sides))
            falling[sides == 2][a] = (sides == 2 ? high[a] : low[a]) + k->fall[a];
    }
    const bool alone = axes == 2 && open == 15; /* the walls along z are none */
    if (!alone)
        und_surface_open_faces(open, m->d, low, high);
    for (int a = 0; a < 3; a++) {
        if (open >> 2 * a & 1)
            k->u[a][at - (size_t)m->step[a]] = und_double_min(low[a], falling[0][a]);
        if (open >> 2 * a & 2)
            k->u[a][at] = und_double_max(high[a], falling[1][a]);
    }
}

UND_INLINE void und_surface_set(const und_surface_args *a, und_place p)
{
    unsigned surface = und_doubles_bytes_are(a->label + p.at, UND_CELL_SURFACE) & p.which;
    for (; surface; surface &= surface - 1)
        und_surface_cell(a, p.at + (size_t)__builtin_ctz(surface));
}
UND_KERNEL(und_surface_set, und_surface_args, UND_EACH_SPAN)

#endif
