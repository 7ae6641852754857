/* Solid cells as triangles: the faces between them and what is not solid, merged along a line; for a
 * two-dimensional frame whose liquid was turned about an axis, the smoothed outline turned likewise. */
#include "base/maths.h"
#include "stage/scenery.h"

#include <undine/walls.h>

#include <stdlib.h>
#include <string.h>

typedef struct cells {
    int n[3];
    double size[3], origin[3];
    double middle; /* where the axis of what is turned stands, in cells along x */
    const uint8_t *label;
} cells;

static bool solid(const cells *c, const int at[3])
{
    for (int a = 0; a < 3; a++)
        if (at[a] < 0 || at[a] >= c->n[a])
            return false;
    return c->label[((size_t)at[2] * (size_t)c->n[1] + (size_t)at[1]) * (size_t)c->n[0] + (size_t)at[0]] ==
           UND_CELL_SOLID;
}

static bool face_shown(const cells *c, const int at[3], int axis, int side)
{
    int other[3] = {at[0], at[1], at[2]};
    other[axis] += side ? 1 : -1;
    return solid(c, at) && !solid(c, other);
}

/* Two triangles over the rectangle of faces from `at`, `run` cells along `along`; counter-clockwise seen from
 * outside. */
static float *put_faces(const cells *c, const int at[3], int axis, int side, int along, int run, float *to)
{
    static const int turn[2][6] = {{0, 2, 1, 1, 2, 3}, {0, 1, 2, 2, 1, 3}};
    int across = 3 - axis - along;
    bool forward = (axis + 1) % 3 == along;
    for (int k = 0; k < 6; k++) {
        int corner = turn[forward == (side == 1)][k], place[3] = {at[0], at[1], at[2]};
        place[axis] += side;
        place[along] += corner & 1 ? run : 0;
        place[across] += corner >> 1;
        for (int a = 0; a < 3; a++)
            *to++ = (float)(c->origin[a] + place[a] * c->size[a]);
    }
    return to;
}

/* Faces of all six kinds; counts corners where `to` is NULL. */
static size_t voxel_faces(const cells *c, float *to)
{
    size_t corners = 0;
    for (int axis = 0; axis < 3; axis++) {
        int along = axis == 0 ? 2 : 0, across = 3 - axis - along, at[3];
        for (int side = 0; side < 2; side++)
            for (at[axis] = 0; at[axis] < c->n[axis]; at[axis]++)
                for (at[across] = 0; at[across] < c->n[across]; at[across]++)
                    for (int k = 0, run = 0; k <= c->n[along]; k++) {
                        at[along] = k;
                        bool shown = face_shown(c, at, axis, side);
                        if (run > 0 && !shown) {
                            at[along] = k - run;
                            corners += 6;
                            to = to ? put_faces(c, at, axis, side, along, run, to) : NULL;
                        }
                        run = shown ? run + 1 : 0;
                    }
    }
    return corners;
}

/* The cell at x, or beyond the axis its mirror's image. */
static int mirrored(const cells *c, int x)
{
    return x + 0.5 < c->middle ? (int)floor(2 * c->middle - (x + 0.5)) : x;
}

/* Share of solid around the low corner of cell (i, j), with a binomial filter: steps of cells vanish.  What
 * has a bit less than half of it is in the outline, which so covers the side of the liquid that lies on it.
 */
static double solid_share(const cells *c, int i, int j)
{
    static const int weight[4] = {1, 3, 3, 1};
    int sum = 0;
    for (int k = 0; k < 16; k++) {
        int at[3] = {mirrored(c, i + k % 4 - 2), j + k / 4 - 2, 0};
        sum += weight[k % 4] * weight[k / 4] * solid(c, at);
    }
    return sum / 64.0 - 0.5;
}

/* The outline's piece in a square of corners, as up to two lines with the solid at their left. */
static int outline_pieces(const cells *c, int i, int j, double piece[2][2][2])
{
    static const int step[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    double in[2][2], out[2][2];
    int ins = 0, outs = 0;
    for (int k = 0; k < 4; k++) {
        const int *s = step[k], *e = step[(k + 1) % 4];
        double a = solid_share(c, i + s[0], j + s[1]), b = solid_share(c, i + e[0], j + e[1]);
        if ((a > 0) == (b > 0))
            continue;
        double t = a / (a - b), x = i + s[0] + t * (e[0] - s[0]), y = j + s[1] + t * (e[1] - s[1]);
        double *to = a > 0 ? out[outs++] : in[ins++];
        to[0] = c->origin[0] + x * c->size[0];
        to[1] = c->origin[1] + y * c->size[1];
    }
    int pieces = outs < 2 ? outs : 2; /* it enters a square as often as it leaves it */
    for (int k = 0; k < pieces; k++)
        for (int a = 0; a < 2; a++) {
            piece[k][0][a] = out[k][a];
            piece[k][1][a] = in[k][a];
        }
    return pieces;
}

/* Takes what lies beyond the axis from a piece; false: nothing is left. */
static bool cut_at_axis(double piece[2][2], double axis)
{
    double r[2] = {piece[0][0] - axis, piece[1][0] - axis};
    if (r[0] <= 0 && r[1] <= 0)
        return false;
    for (int k = 0; k < 2; k++)
        if (r[k] < 0) {
            piece[k][1] += (piece[1 - k][1] - piece[k][1]) * r[k] / (r[k] - r[1 - k]);
            piece[k][0] = axis;
        }
    return true;
}

enum { AROUND = 96 };

static float *turn_piece(const double piece[2][2], const double axis[2], float *to)
{
    static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
    for (int k = 0; k < AROUND; k++)
        for (int e = 0; e < 6; e++) {
            const double *p = piece[corner[e][0]];
            double angle = 2 * M_PI * ((k + corner[e][1]) % AROUND) / AROUND, radius = p[0] - axis[0];
            *to++ = (float)(axis[0] + radius * und_cos(angle));
            *to++ = (float)p[1];
            *to++ = (float)(axis[1] + radius * und_sin(angle));
        }
    return to;
}

static size_t turned_faces(const cells *c, const double axis[2], float *to)
{
    size_t corners = 0;
    double piece[2][2][2];
    for (int j = -2; j < c->n[1] + 2; j++)
        for (int i = -2; i < c->n[0] + 2; i++)
            for (int k = 0, count = outline_pieces(c, i, j, piece); k < count; k++) {
                if (!cut_at_axis(piece[k], axis[0]))
                    continue;
                corners += 6 * AROUND;
                to = to ? turn_piece(piece[k], axis, to) : NULL;
            }
    return corners;
}

und_status und_stage_solids_take(und_scenery *stage, const und_frame *frame, const double *axis,
                                 und_error *err)
{
    const und_item *item = und_frame_find(frame, "label");
    const und_grid *g = &frame->grid;
    cells c = {.n = {g->n[0], g->n[1], g->n[2]}};
    double count = (double)g->n[0] * g->n[1] * g->n[2];
    und_drawn_solids *s = &stage->solids;
    s->corners = 0;
    if (!item || item->type != UND_U8 || !item->data || !(count > 0 && count < 4e9) ||
        und_item_count(item) != (size_t)count)
        return UND_OK;
    for (int a = 0; a < 3; a++) {
        c.size[a] = und_grid_size(g, a);
        c.origin[a] = g->origin[a];
    }
    c.label = item->data;
    bool turned = g->n[2] == 1 && axis;
    c.middle = turned ? (axis[0] - c.origin[0]) / c.size[0] : 0;
    size_t corners = turned ? turned_faces(&c, axis, NULL) : voxel_faces(&c, NULL);
    if (corners == 0 || corners > INT32_MAX / 16)
        return UND_OK;
    float *to = und_hold(&stage->solid_corners, 3 * corners * sizeof *to, err);
    if (!to)
        return UND_FAILED;
    if (turned)
        turned_faces(&c, axis, to);
    else
        voxel_faces(&c, to);
    s->corners = corners;
    s->position = to;
    return UND_OK;
}
