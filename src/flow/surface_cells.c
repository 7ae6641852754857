/* Velocities at the free surface.  Foster & Metaxas 1996, section 3.2.3. */
#include "flow/marker_flow_parts.h"

#include "base/parallel.h"

#include <math.h>

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
void und_marker_flow_open_faces(unsigned open, const double d[3], double low[3], double high[3])
{
    int half = 0, both = 0;
    double closed_growth = 0, growth = 0; /* du/dx + dv/dy + dw/dz over closed axes, over all */
    for (int a = 0; a < 3; a++) {
        unsigned sides = open >> 2 * a & 3;
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
    double part = half ? closed_growth / half : both ? growth / (2 * both) : 0;
    for (int a = 0; a < 3; a++) {
        unsigned sides = open >> 2 * a & 3;
        if (half ? sides == 1 : sides == 3)
            low[a] += part * d[a];
        if (half ? sides == 2 : sides == 3)
            high[a] -= part * d[a];
    }
}

/* Whether along an axis the cell hangs on a wall: liquid is pulled away from it, and there is air that way.
 * The open side would take the wall's velocity and the liquid stay for good, but nothing holds it. */
static bool hangs(const und_marker_flow *f, size_t at, int axis, unsigned sides, double gravity)
{
    size_t step = (size_t)f->mac.step[axis], wall = sides == 1 ? at + step : at - step;
    if (!(sides == 1 ? gravity < 0 : sides == 2 && gravity > 0) || f->label[wall] != UND_CELL_SOLID)
        return false;
    und_wall_kind kind = f->walls[f->wall[wall]].kind;
    return kind == UND_WALL_SLIP || kind == UND_WALL_STICK;
}

static void set_cell(und_marker_flow *f, size_t at, const double gravity[3], double dt)
{
    const und_mac *m = &f->mac;
    unsigned open = 0;
    double low[3] = {0}, high[3] = {0};
    double falling[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int a = 0; a < und_marker_flow_axes(f); a++) {
        size_t step = (size_t)m->step[a];
        unsigned sides = (f->label[at - step] == UND_CELL_EMPTY ? 1u : 0) |
                         (f->label[at + step] == UND_CELL_EMPTY ? 2u : 0);
        open |= sides << 2 * a;
        double fall = gravity[a] * dt;
        low[a] = f->u[a][at - step] + (sides == 3 ? fall : 0);
        high[a] = f->u[a][at] + (sides == 3 ? fall : 0);
        if (hangs(f, at, a, sides, gravity[a]))
            falling[sides == 2][a] = (sides == 2 ? high[a] : low[a]) + fall;
    }
    bool alone = und_marker_flow_axes(f) == 2 && open == 15; /* the walls along z are none */
    if (!alone)
        und_marker_flow_open_faces(open, m->d, low, high);
    for (int a = 0; a < 3; a++) {
        if (open >> 2 * a & 1)
            f->u[a][at - (size_t)m->step[a]] = fmin(low[a], falling[0][a]);
        if (open >> 2 * a & 2)
            f->u[a][at] = fmax(high[a], falling[1][a]);
    }
}

void und_marker_flow_set_surface(und_marker_flow *f, const double gravity[3], double dt)
{
    PARALLEL_FOR(und_marker_flow_workers(f, (size_t)(f->full + f->surface)))
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++) {
            size_t first = und_mac_row(&f->mac, row);
            if (f->parts->row_count[2 * row + 1] > 0)
                for (int x = f->row_low[row]; x < f->row_high[row]; x++)
                    if (f->label[first + (size_t)x] == UND_CELL_SURFACE)
                        set_cell(f, first + (size_t)x, gravity, dt);
        }
    und_marker_flow_extend(f);
}
