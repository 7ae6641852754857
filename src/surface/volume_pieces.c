/* What is drawn of each connected piece of the liquid encloses what its cells hold.
 *
 * Triangles between points on a curved surface lie inside of it, so the mesh of a ball of two cells' radius
 * has a fifth less than the ball; and phi is late where fluxes and particles disagree.  So what is drawn is
 * shifted along its normal, by as much all over a piece, until the mesh itself has the piece's volume.
 * Nothing of that comes back to the simulation. */
#include "base/status.h"
#include "geom/vec.h"
#include "surface/frame_mesh.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 4, BEYOND = 3 };      /* that look for the shift; cells around a piece that go with it */
static const double ENOUGH = 0.001;   /* of a piece */
static const double MOST_SHIFT = 0.2; /* cells */
static const float ALL = 2, NONE = 4; /* cells from the surface: shifted as it is, and not at all */
static const float WET = 0.01f;       /* of a cell: less does not join pieces */
static const float BENEATH = 0.3f;    /* cells: where a triangle's piece is looked for */

typedef struct piece {
    double held, drawn, area;   /* cells, and of a cell's side; of what is drawn */
    double shift, last, before; /* cells; in the round before, and what was drawn then */
    bool others;                /* some of it is another grid's */
    int with;                   /* a piece that its mesh is joined to; itself: none */
} piece;

typedef struct pieces {
    const und_volume *v;
    const und_volume_walls *walls;
    const float *phi;
    int32_t *label, *stack, *rim; /* of each cell, 0: none; cells, as many as there may be */
    int count, rim_count;
    piece *list; /* from 1 on */
} pieces;

/* ---- Which cells ---- */

static bool is_wet(const pieces *p, size_t at)
{
    return und_volume_cells(p->v->c[at]) > WET || (p->phi[at] < 0 && und_volume_room(p->walls, at) > 0);
}

/* All that is linked to a cell. */
static void flood(pieces *p, size_t from)
{
    size_t depth = 0;
    p->label[from] = p->count;
    p->stack[depth++] = (int32_t)from;
    while (depth > 0) {
        const size_t at = (size_t)p->stack[--depth];
        bool rim = false;
        for (int k = 0; k < UND_VOLUME_AROUND; k++) {
            const size_t next = (size_t)((ptrdiff_t)at + p->v->parts->around[k]);
            if (!p->v->parts->inside[next] || p->label[next] != 0)
                continue;
            rim = true;
            if (!is_wet(p, next) || !und_volume_linked(p->v, p->walls, at, k))
                continue;
            p->label[next] = p->count;
            p->stack[depth++] = (int32_t)next;
        }
        if (rim)
            p->rim[p->rim_count++] = (int32_t)at;
    }
}

/* The cells around pieces go with them. */
static void go_beyond(pieces *p)
{
    int begin = 0;
    for (int layer = 0; layer < BEYOND; layer++)
        for (int end = p->rim_count; begin < end; begin++)
            for (int way = 0; way < 6; way++) {
                const ptrdiff_t step = p->v->mac.step[way / 2];
                const size_t next = (size_t)(p->rim[begin] + (way % 2 ? step : -step));
                if (!p->v->parts->inside[next] || p->label[next] != 0 ||
                    und_volume_room(p->walls, next) > und_volume_room(p->walls, (size_t)p->rim[begin]))
                    continue; /* or out of a wall on its other side */
                p->label[next] = p->label[p->rim[begin]];
                p->rim[p->rim_count++] = (int32_t)next;
            }
}

static und_status find_pieces(pieces *p, und_error *err)
{
    const und_mac *m = &p->v->mac;
    UND_MAC_EACH_ROW(m, row)
    memset(p->label + und_mac_row(m, row), 0, (size_t)m->n[0] * sizeof *p->label);
    UND_MAC_EACH_ROW(m, row)
    for (size_t at = und_mac_row(m, row), end = at + (size_t)m->n[0]; at < end; at++)
        if (p->label[at] == 0 && is_wet(p, at)) {
            p->count++;
            flood(p, at);
        }
    if (!(p->list = und_alloc((size_t)p->count + 1, sizeof *p->list, "the liquid's pieces", err)))
        return err->status;
    go_beyond(p);
    for (int i = 0; i <= p->count; i++)
        p->list[i].with = i;
    UND_MAC_EACH_ROW(m, row)
    for (size_t at = und_mac_row(m, row), end = at + (size_t)m->n[0]; at < end; at++) {
        piece *one = &p->list[p->label[at]];
        one->held += (double)und_volume_cells(p->v->c[at]);
        one->others = one->others || !p->v->parts->own[at];
    }
    return UND_OK;
}

/* ---- What is drawn ---- */

/* The piece that is right beneath a triangle. */
static int piece_of(const pieces *p, const und_grid *g, const float corner[9], und_vec3 normal)
{
    const double out[3] = {normal.x, normal.y, normal.z};
    int cell[3];
    for (int a = 0; a < 3; a++) {
        const double middle = ((double)corner[a] + (double)corner[3 + a] + (double)corner[6 + a]) / 3;
        const int at = (int)floor((middle - g->origin[a]) / g->dx - (double)BENEATH * out[a]);
        cell[a] = at < 0 ? 0 : at < g->n[a] ? at : g->n[a] - 1;
    }
    return p->label[und_mac_at(&p->v->mac, cell[0], cell[1], cell[2])];
}

/* A closed part of the mesh, by one of its vertices, and its piece.  Pieces that it joins, by films too thin
 * to join cells, are one. */
typedef struct part {
    int parent, piece;
    double volume, area;
} part;

static int whole_of(const pieces *p, int i)
{
    while (p->list[i].with != i)
        i = p->list[i].with;
    return i;
}

static void join(const pieces *p, int i, int other)
{
    const int a = whole_of(p, i), b = whole_of(p, other), to = a < b ? a : b, from = a < b ? b : a;
    if (a == b)
        return;
    p->list[from].with = to;
    p->list[to].held += p->list[from].held;
    p->list[to].others = p->list[to].others || p->list[from].others;
}

static int root_of(part *parts, int v)
{
    while (parts[v].parent != v)
        v = parts[v].parent = parts[parts[v].parent].parent;
    return v;
}

static void add_triangle(const pieces *p, const und_grid *g, const float c[9], part *of)
{
    const und_vec3 a =
        und_vec((double)c[0] - g->origin[0], (double)c[1] - g->origin[1], (double)c[2] - g->origin[2]);
    const und_vec3 b = und_vec((double)(c[3] - c[0]), (double)(c[4] - c[1]), (double)(c[5] - c[2]));
    const und_vec3 d = und_vec((double)(c[6] - c[0]), (double)(c[7] - c[1]), (double)(c[8] - c[2]));
    const und_vec3 across = und_cross(b, d);
    const double area = 0.5 * und_length(across);
    of->volume += und_dot(a, across) / 6;
    of->area += area;
    if (!(area > 0))
        return;
    const int label = piece_of(p, g, c, und_mul(across, 0.5 / area));
    if (label != 0 && of->piece != 0)
        join(p, label, of->piece);
    of->piece = label != 0 ? label : of->piece;
}

static void measure(const pieces *p, const und_grid *g, const und_shell *shell, part *parts)
{
    for (int v = 0; v < shell->vertex_count; v++)
        parts[v].parent = v;
    for (size_t t = 0; t < 3 * (size_t)shell->triangle_count; t++)
        parts[root_of(parts, shell->triangle[t])].parent = root_of(parts, shell->triangle[t - t % 3]);
    for (size_t t = 0; t < (size_t)shell->triangle_count; t++) {
        float corner[9];
        und_shell_corners(shell, shell->position, t, corner);
        add_triangle(p, g, corner, &parts[root_of(parts, shell->triangle[3 * t])]);
    }
    for (int v = 0; v < shell->vertex_count; v++) {
        piece *of = &p->list[whole_of(p, parts[v].piece)];
        of->drawn += parts[v].volume / (g->dx * g->dx * g->dx);
        of->area += parts[v].area / (g->dx * g->dx);
    }
}

static und_status draw(const pieces *p, const und_frame *frame, und_error *err)
{
    const und_frame_mesh_def def = {.threads = p->v->threads};
    und_shell shell;
    if (und_frame_mesh(frame, &def, &shell, err) != UND_OK)
        return err->status;
    part *parts = und_alloc((size_t)shell.vertex_count + 1, sizeof *parts, "the liquid's pieces", err);
    for (int i = 0; i <= p->count; i++)
        p->list[i].drawn = p->list[i].area = 0;
    if (parts)
        measure(p, &frame->grid, &shell, parts);
    free(parts);
    und_shell_free(&shell);
    return parts ? UND_OK : err->status;
}

/* ---- The shift ---- */

/* By what the last one did, or at first by the area; whether it is another. */
static bool choose_shift(piece *one, int round)
{
    const double missing = one->held - one->drawn, tried = one->shift - one->last;
    const double area = round > 0 ? (one->drawn - one->before) / tried : one->area;
    if (one->others || fabs(missing) <= ENOUGH * one->held || !(area > 0) || (round > 0 && tried == 0))
        return false;
    one->last = one->shift;
    one->before = one->drawn;
    one->shift = fmin(fmax(one->shift + missing / area, -MOST_SHIFT), MOST_SHIFT);
    return one->shift != one->last;
}

static bool is_at_wall(const pieces *p, size_t at)
{
    for (int a = 0; a < (p->v->mac.n[2] > 1 ? 3 : 2); a++)
        if (!(p->walls->open[a][at] > 0 && p->walls->open[a][at - (size_t)p->v->mac.step[a]] > 0))
            return true;
    return false;
}

/* Films are as thick as they are, and what touches a wall touches it. */
static void apply(const pieces *p, const float *shown, float *distance, float dx)
{
    const und_mac *m = &p->v->mac;
    PARALLEL_FOR(und_workers(p->v->threads, m->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < m->n[0] && und_mac_has_row(m, row); x++) {
            const size_t at = und_mac_row(m, row) + (size_t)x;
            const float shift = (float)p->list[whole_of(p, p->label[at])].shift;
            const float fade = fminf((NONE - fabsf(shown[at])) / (NONE - ALL), 1);
            if (p->label[at] == 0 || !(fade > 0) || shown[at] != p->phi[at])
                continue;
            const bool stays = shift < 0 && is_at_wall(p, at);
            distance[(size_t)row * (size_t)m->n[0] + (size_t)x] =
                dx * (shown[at] - (stays ? 0 : fade * shift));
        }
}

und_status und_volume_show_pieces(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                                  const float *shown, const und_frame *frame, und_error *err)
{
    const und_item *item = und_frame_find(frame, "distance");
    pieces p = {.v = v,
                .walls = walls,
                .phi = d->phi,
                .label = v->parts->spare,
                .stack = v->parts->extra,
                .rim = v->parts->part};
    und_status status = find_pieces(&p, err);
    for (int round = 0; round < ROUNDS && status == UND_OK; round++) {
        bool more = false;
        status = draw(&p, frame, err);
        for (int i = 1; i <= p.count && status == UND_OK; i++)
            more = (p.list[i].with == i && choose_shift(&p.list[i], round)) || more;
        if (!more || status != UND_OK)
            break;
        apply(&p, shown, item->data, (float)frame->grid.dx);
    }
    free(p.list);
    return status;
}
