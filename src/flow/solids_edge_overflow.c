/* Liquid goes over the brink of a solid (Rasmussen et al. 2004, 5.5.2).
 *
 * Along a wall phi goes on into the solid, so that the wall takes no air into the liquid.  What comes from
 * there past the wall's end would be liquid too: a sheet that runs off an edge would grow by what is in the
 * solid.  So where the way that phi is followed back comes from nearer to the solid, and there is air behind
 * it, the liquid ends where the wall's own way leads: it is no deeper there than it was away from the wall.
 * The same where it would come out of the solid at an edge, to where there was none. */
#include "flow/solids_parts.h"

#include "grid/sample.h"

#include <math.h>
#include <string.h>

static const float LEAVES = 0.1f; /* of the way: along the normal */
/* 1 / cells: what bends less is round, and has no edge; in space a ball bends both ways. */
static const float SHARP = 0.25f, SHARP_IN_SPACE = 0.35f;
static const float BEHIND = 1;     /* cells from the wall's way to where there is air */
static const float LITTLE = 0.25f; /* cells: of liquid that comes out of the solid to where there was none */
static const float THICK = 0.5f;   /* cells, a cell above the wall: thinner sheets are not seen in flight */
static const float HALF = 0.5f;    /* cells, to take differences over */
static const float SIDE = 1.5f;    /* cells, and second ones */

typedef struct edge_overflow {
    const und_solids *s;
    const float *before; /* phi */
    float *phi;
    float *const *u;
    float cells_per_speed, far;
    bool third;
} edge_overflow;

static und_lanes sample(const und_mac *m, const float *v, const und_lanes place[3])
{
    und_lanes out;
    und_sample_cells(m, v, place, &out, NULL);
    return out;
}

/* The distance at a place: between the middles of cells and between their corners it is too large at an
 * edge. */
static und_lanes distance_at(const und_solids *s, const und_lanes place[3])
{
    const und_mac *m = &s->mac;
    und_lanes out = sample(m, s->distance, place);
    for (int i = 0; i < UND_LANES; i++) {
        double at[3];
        for (int a = 0; a < 3; a++)
            at[a] = m->n[a] > 1 ? (double)place[a][i] - m->low[a] : 0.5;
        const float other = (float)und_solids_between_corners(s, at);
        out[i] = other < out[i] ? other : out[i];
    }
    return out;
}

/* The way of the flow at a place as the solid sees it, of length 1. */
static void way_at(const edge_overflow *b, const und_lanes place[3], und_lanes way[3])
{
    und_lanes solid[3], square = und_lanes_all(1e-12f);
    und_sample_velocity(&b->s->mac, b->u, place, way);
    und_sample_velocity(&b->s->mac, b->s->u, place, solid);
    for (int a = 0; a < 3; a++) {
        way[a] -= solid[a];
        square += way[a] * way[a];
    }
    for (int a = 0; a < 3; a++)
        way[a] /= und_lanes_sqrt(square);
}

/* The solid's normal at a place, and how much its surface bends there, 1 / cells. */
static und_lanes bend_at(const und_solids *s, const und_lanes place[3], und_lanes normal[3])
{
    const und_lanes middle = sample(&s->mac, s->distance, place);
    und_lanes square = und_lanes_all(1e-12f), bend = {0};
    for (int a = 0; a < 3; a++) {
        normal[a] = (und_lanes){0};
        if (s->mac.n[a] == 1)
            continue;
        und_lanes low[3] = {place[0], place[1], place[2]}, high[3] = {place[0], place[1], place[2]};
        low[a] -= SIDE;
        high[a] += SIDE;
        const und_lanes below = sample(&s->mac, s->distance, low), above = sample(&s->mac, s->distance, high);
        bend += (below + above - 2 * middle) / (SIDE * SIDE);
        low[a] += SIDE - HALF;
        high[a] -= SIDE - HALF;
        normal[a] = sample(&s->mac, s->distance, high) - sample(&s->mac, s->distance, low);
        square += normal[a] * normal[a];
    }
    for (int a = 0; a < 3; a++)
        normal[a] /= und_lanes_sqrt(square);
    return bend;
}

/* Up to UND_LANES cells of a row. */
static void do_some(const edge_overflow *b, float *phi, int y, int z, const int *x, int count)
{
    const und_solids *s = b->s;
    const und_mac *m = &s->mac;
    und_lanes place[3] = {{0},
                          und_lanes_all((float)(y + m->low[1]) + 0.5f),
                          und_lanes_all((float)(z + m->low[2]) + 0.5f)},
              speed[3], solid[3], foot[3], behind[3], way = {0};
    for (int i = 0; i < UND_LANES; i++)
        place[0][i] = (float)(x[i < count ? i : 0] + m->low[0]) + 0.5f;
    und_sample_velocity(m, b->u, place, speed);
    und_sample_trace(m, b->u, place, speed, -b->cells_per_speed, b->third, foot);
    und_sample_velocity(m, s->u, place, solid);
    for (int a = 0; a < 3; a++) { /* as the solid sees it */
        foot[a] += b->cells_per_speed * solid[a];
        way += (place[a] - foot[a]) * (place[a] - foot[a]);
    }
    und_lanes normal[3], along[3], upstream[3], above[3];
    const und_lanes bend = bend_at(s, foot, normal);
    way_at(b, foot, along);
    for (int a = 0; a < 3; a++)
        upstream[a] = foot[a] - along[a];
    /* At the edge the other side may be nearer: before it the wall is that which the flow came along. */
    const und_lanes own = sample(m, s->distance, place);
    const und_lanes from = und_lanes_min(distance_at(s, foot), distance_at(s, upstream));
    for (int a = 0; a < 3; a++) {
        behind[a] = place[a] - normal[a] * (from + BEHIND);
        above[a] = upstream[a] - along[a] + normal[a] * (1 - from);
    }
    const und_lanes_int dry = (sample(m, b->before, place) > -LITTLE) & (from < LITTLE);
    const und_lanes_int air = sample(m, b->before, behind) >= 0, thick = sample(m, b->before, above) < -THICK;
    const und_lanes_int leaves = (own - from > LEAVES * und_lanes_sqrt(way)) &
                                 (bend > (m->n[2] > 1 ? SHARP_IN_SPACE : SHARP)) & thick & (air | dry);
    for (int i = 0; i < count; i++) {
        float *to = &phi[und_mac_at(m, x[i], y, z)];
        if (leaves[i] && *to < -from[i])
            *to = -from[i];
    }
}

/* What is at rest stays as it is: what phi would be from elsewhere may differ by a little, in each step. */
static bool moves(const edge_overflow *b, size_t at)
{
    const float least = 0.02f / b->cells_per_speed; /* cells in a step */
    for (int a = 0; a < 3; a++)
        if (fabsf(b->u[a][at]) > least || fabsf(b->u[a][at - (size_t)b->s->mac.step[a]]) > least)
            return true;
    return false;
}

static inline void overflow_row(const edge_overflow *b, und_place p)
{
    const und_solids *s = b->s;
    const int n = s->mac.n[0];
    int list[UND_LANES], count = 0;
    for (int x = 0; x < n; x++) {
        const size_t at = p.at + (size_t)x;
        const float wall = s->distance[at];
        if (wall >= 0 && wall < b->far && b->phi[at] < b->far && und_solids_lets_go(s, s->owner[at]) &&
            moves(b, at))
            list[count++] = x;
        if (count == UND_LANES || (x + 1 == n && count > 0)) {
            do_some(b, b->phi, p.y, p.z, list, count);
            count = 0;
        }
    }
}
UND_KERNEL(overflow_row, edge_overflow, UND_EACH_ROW)

/* Further back than the flow comes from there is a cell, and what is above the wall there; or what is behind
 * it. */
static void get_around(const edge_overflow *b, int furthest)
{
    enum { BACK = 2, ABOVE = 4 };
    const und_mac *m = &b->s->mac;
    und_halo_field halo[4] = {und_halo_of(m, NULL, sizeof *b->before, furthest + BACK + ABOVE)};
    memcpy(&halo[0].values, &b->before, sizeof halo[0].values); /* others' come there */
    for (int a = 0; a < 3; a++)
        halo[1 + a] = und_halo_of(m, b->u[a], sizeof *b->u[a], furthest + BACK);
    und_halo_get(b->s->device.halo, halo, 4);
}

void und_solids_edge_overflow(const und_solids *s, const float *before, float *phi, float *const u[3],
                              double cells_per_speed, bool third, double furthest)
{
    const float far = fminf((float)furthest, UND_SOLIDS_REACH - 0.5f); /* where distances are known */
    const edge_overflow b = {s, before, phi, u, (float)cells_per_speed, far, third};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    if (!s->separate)
        return;
    get_around(&b, (int)ceil(furthest));
    und_pass(&s->device, overflow_row, &b, &rows);
}
