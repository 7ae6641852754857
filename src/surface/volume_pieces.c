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

enum { ROUNDS = 8, BEYOND = 3 };    /* that look for the shift; cells around a piece that go with it */
static const double ENOUGH = 0.003; /* of a piece */
static const double LITTLE = 0.05;  /* cells: the same */
static const double DROP = 0.25; /* cells: what is smaller stays as it is, beside what is drawn of others */
static const double SAME = 0.02; /* of a piece: what joins it or leaves it makes it no other */
static const double IN_SIDE = 1e-5;           /* of the grid's length */
static const double MOST_SHIFT = 0.5;         /* cells */
static const double SOME = 0.3, MOSTLY = 0.7; /* of a piece: its films stay as they are, or go with it */
static const float ALL = 2, NONE = 4;         /* cells from the surface: shifted as it is, and not at all */
static const float WET = 0.01f;               /* of a cell: less does not join pieces */
static const float LAYER = 0.7f;   /* cells: by so much the distance rises away from a layer's wall */
static const float BENEATH = 0.3f; /* cells: where a triangle's piece is looked for */

typedef struct piece {
    double held, drawn, area;    /* cells, and of a cell's side: of the surface that may move */
    double films;                /* of what it holds */
    bool others;                 /* some of it is another grid's */
    int with;                    /* a piece that its mesh is joined to; itself: none */
    double all;                  /* what it and all that are joined to it hold */
    bool mixed;                  /* some of that is another grid's */
    double shift, best, missing; /* cells; the best so far, and by how much of all that was off */
    double low, high;            /* with these too little was drawn, and too much */
    double moved, before, had;   /* in the round before: by how much, what was drawn, and all */
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

typedef bool which_fn(const pieces *p, size_t at);

static bool is_wet(const pieces *p, size_t at)
{
    return und_volume_cells(p->v->c[at]) > WET;
}

static bool is_drawn(const pieces *p, size_t at)
{
    return p->phi[at] < 0 && und_volume_room(p->walls, at) > 0;
}

/* All of these that are linked to a cell. */
static void flood(pieces *p, size_t from, which_fn *which)
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
            if (!which(p, next) || !und_volume_linked(&p->v->mac, p->walls, at, k))
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

static void label_all(pieces *p, which_fn *which)
{
    const und_mac *m = &p->v->mac;
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++)
        if (p->label[at] == 0 && which(p, at)) {
            p->count++;
            flood(p, at, which);
        }
}

/* What cells hold says what hangs together; what phi shows beyond that, and nothing holds, is by itself. */
static und_status find_pieces(pieces *p, und_error *err)
{
    const und_mac *m = &p->v->mac;
    UND_MAC_EACH_STRETCH(m, first, count)
    memset(p->label + first, 0, count * sizeof *p->label);
    label_all(p, is_wet);
    go_beyond(p);
    label_all(p, is_drawn);
    if (!(p->list = und_alloc((size_t)p->count + 1, sizeof *p->list, "the liquid's pieces", err)))
        return err->status;
    for (int i = 0; i <= p->count; i++)
        p->list[i].missing = INFINITY;
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++) {
        piece *one = &p->list[p->label[at]];
        one->held += (double)und_volume_cells(p->v->c[at]);
        one->films += p->v->film[at] ? (double)und_volume_cells(p->v->c[at]) : 0;
        one->others = one->others || !p->v->parts->own[at];
    }
    return UND_OK;
}

/* ---- What is drawn ---- */

/* The piece that is right beneath a triangle, and whether it is in a cell of its own there, or around it. */
static int piece_of(const pieces *p, const und_grid *g, const float corner[9], und_vec3 normal, bool *own)
{
    const double out[3] = {normal.x, normal.y, normal.z};
    int cell[3];
    for (int a = 0; a < 3; a++) {
        const double middle = ((double)corner[a] + (double)corner[3 + a] + (double)corner[6 + a]) / 3;
        const int at = (int)floor((middle - g->origin[a]) / g->dx - (double)BENEATH * out[a]);
        cell[a] = at < 0 ? 0 : at < g->n[a] ? at : g->n[a] - 1;
    }
    const size_t place = und_mac_at(&p->v->mac, cell[0], cell[1], cell[2]);
    *own = is_wet(p, place);
    return p->label[place];
}

/* A closed part of the mesh, by one of its vertices, and its piece.  Pieces that it joins, by films too thin
 * to join cells, are one. */
typedef struct part {
    int parent, piece, near; /* near: one around whose cells it is */
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
    const int a = whole_of(p, i), b = whole_of(p, other);
    p->list[a < b ? b : a].with = a < b ? a : b;
}

static int root_of(part *parts, int v)
{
    while (parts[v].parent != v)
        v = parts[v].parent = parts[parts[v].parent].parent;
    return v;
}

/* Whether a triangle lies in a side of the grid: there the surface stays where it is. */
static bool is_in_side(const und_grid *g, const float c[9])
{
    for (int a = 0; a < 3; a++) {
        const double size = g->n[a] * g->dx, at = ((double)c[a] - g->origin[a]) / size;
        if (c[a] == c[3 + a] && c[a] == c[6 + a] && (fabs(at) < IN_SIDE || fabs(at - 1) < IN_SIDE))
            return true;
    }
    return false;
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
    of->area += is_in_side(g, c) ? 0 : area;
    if (!(area > 0))
        return;
    bool own;
    const int label = piece_of(p, g, c, und_mul(across, 0.5 / area), &own);
    of->near = label != 0 ? label : of->near;
    if (label == 0 || !own)
        return;
    if (of->piece != 0)
        join(p, label, of->piece);
    of->piece = label;
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
        piece *of = &p->list[whole_of(p, parts[v].piece != 0 ? parts[v].piece : parts[v].near)];
        of->drawn += parts[v].volume / (g->dx * g->dx * g->dx);
        of->area += parts[v].area / (g->dx * g->dx);
    }
}

static und_status draw(const pieces *p, const und_frame *frame, und_error *err)
{
    const und_frame_mesh_def def = {.threads = p->v->device.threads};
    und_shell shell;
    if (und_frame_mesh(frame, &def, &shell, err) != UND_OK)
        return err->status;
    part *parts = und_alloc((size_t)shell.vertex_count + 1, sizeof *parts, "the liquid's pieces", err);
    for (int i = 0; i <= p->count; i++) {
        p->list[i].drawn = p->list[i].area = p->list[i].all = 0;
        p->list[i].with = i;
        p->list[i].mixed = false;
    }
    if (parts)
        measure(p, &frame->grid, &shell, parts);
    for (int i = 1; i <= p->count; i++) {
        piece *whole = &p->list[whole_of(p, i)];
        whole->all += p->list[i].held;
        whole->mixed = whole->mixed || p->list[i].others;
    }
    free(parts);
    und_shell_free(&shell);
    return parts ? UND_OK : err->status;
}

/* ---- The shift ---- */

/* By how much more a piece is to be shifted: by what that did in the round before, or at first, and where
 * other pieces have come to it, by the area; halfway between what was too little and too much, where neither
 * leads there. */
static void choose_shift(piece *one)
{
    const double missing = one->all - one->drawn;
    const bool known = fabs(one->had - one->all) <= SAME * one->all;
    const double slope =
        known && one->moved != 0 ? (one->drawn - one->before) / one->moved : fmax(one->area, one->all);
    double to = slope > 0 ? one->shift + missing / slope : INFINITY;
    one->low = missing > 0 ? one->shift : known ? one->low : -MOST_SHIFT;
    one->high = !(missing > 0) ? one->shift : known ? one->high : MOST_SHIFT;
    if (!(to > one->low && to < one->high))
        to = (one->low + one->high) / 2;
    one->had = one->all;
    one->before = one->drawn;
    one->moved = one->mixed || one->all < DROP || fabs(missing) <= fmax(ENOUGH * one->all, LITTLE)
                     ? 0
                     : to - one->shift;
}

/* Shifts pieces, in the end to where they were best; whether there is anything to shift. */
static bool shift_pieces(const pieces *p, int round)
{
    bool more = false;
    for (int i = 1; i <= p->count; i++)
        if (p->list[i].with == i)
            choose_shift(&p->list[i]);
    for (int i = 1; i <= p->count; i++) {
        piece *one = &p->list[i];
        const piece *whole = &p->list[whole_of(p, i)];
        const double missing = fabs(whole->all - whole->drawn) / whole->all, was = one->shift;
        if (missing < one->missing) {
            one->missing = missing;
            one->best = one->shift;
        }
        one->shift = fmin(fmax(one->shift + whole->moved, -MOST_SHIFT), MOST_SHIFT);
        if (round == ROUNDS - 1)
            one->shift = one->best;
        more = more || one->shift != was;
    }
    return more;
}

/* Whether the liquid touches a wall at a cell, and is no layer that lies on it. */
static bool is_at_wall(const pieces *p, const float *shown, size_t at)
{
    bool touches = false;
    for (int a = 0; a < (p->v->mac.n[2] > 1 ? 3 : 2); a++) {
        const size_t low = at - (size_t)p->v->mac.step[a], high = at + (size_t)p->v->mac.step[a];
        const bool from = !(p->walls->open[a][low] > 0), to = !(p->walls->open[a][at] > 0);
        if (from != to && shown[from ? high : low] > shown[at] + LAYER)
            return false;
        touches = touches || from || to;
    }
    return touches;
}

/* Films are as thick as they are; but where they are much of a piece they are much of what it lacks. */
static float goes_with_films(const piece *one)
{
    return (float)fmin(fmax((one->films / fmax(one->held, 1e-9) - SOME) / (MOSTLY - SOME), 0), 1);
}

typedef struct apply_args {
    const pieces *p;
    const float *shown;
    float *distance, dx;
} apply_args;

static inline void apply_row(const apply_args *a, und_place place)
{
    const pieces *p = a->p;
    const float *shown = a->shown;
    const int n = p->v->mac.n[0];
    float *to = a->distance + (size_t)(place.y + p->v->mac.n[1] * place.z) * (size_t)n;
    const und_span span = und_mac_span(&p->v->mac, place.y, place.z);
    for (int x = span.begin; x < span.end; x++) {
        const size_t at = place.at + (size_t)x;
        const piece *one = &p->list[p->label[at]];
        const float shift = (float)one->shift;
        const float fade = fminf((NONE - fabsf(shown[at])) / (NONE - ALL), 1);
        const float share = shown[at] != p->phi[at] ? goes_with_films(one) : 1;
        if (p->label[at] == 0 || !(fade * share > 0))
            continue;
        const bool stays = shift < 0 && is_at_wall(p, shown, at);
        to[x] = a->dx * (shown[at] - (stays ? 0 : share * fade * shift));
    }
}
UND_KERNEL(apply_row, apply_args, UND_EACH_ROW)

/* What touches a wall touches it. */
static void apply(const pieces *p, const float *shown, float *distance, float dx)
{
    const apply_args args = {p, shown, distance, dx};
    const und_set rows = und_set_rows(&p->v->mac, UND_ROWS_INSIDE);
    und_pass(&p->v->device, apply_row, &args, &rows);
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
        status = draw(&p, frame, err);
        if (status != UND_OK || !shift_pieces(&p, round))
            break;
        apply(&p, shown, item->data, (float)frame->grid.dx);
    }
    free(p.list);
    return status;
}
