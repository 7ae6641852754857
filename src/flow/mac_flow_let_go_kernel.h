/* Cells of the liquid that solids let go (Rasmussen et al. 2004, 5.5). */
#ifndef UND_FLOW_MAC_FLOW_LET_GO_KERNEL_H
#define UND_FLOW_MAC_FLOW_LET_GO_KERNEL_H

#include "grid/pass.h"

#define UND_LET_GO_WEIGHT 20 /* times the pull is what gravity gives in a step */

typedef struct und_let_go_args {
    und_mac mac;
    const float *phi, *u[3], *solid_u[3], *open[3], *distance;
    const uint8_t *owner, *separate;
    int never, always; /* of what separate[] says */
    const double *p;   /* times `unit` it is as the system has it */
    double unit, pull; /* so much below the air's pressure is suction */
    bool again;        /* in the same step */
    und_mask asked, loose;
    float *known, *b;
} und_let_go_args;

static inline int und_let_go_axes(const und_let_go_args *a)
{
    return a->mac.n[2] > 1 ? 3 : 2;
}

static inline float und_let_go_size(float v)
{
    return v < 0 ? -v : v;
}

/* What a solid covers of a cell: where it is, towards the liquid, in faces; and how fast the liquid comes off
 * it there, times that. */
static inline float und_let_go_area(const und_let_go_args *a, const int cell[3], size_t at, float *off)
{
    const und_mac *m = &a->mac;
    float square = 0;
    *off = 0;
    for (int k = 0; k < und_let_go_axes(a); k++) {
        const size_t low = at - (size_t)m->step[k];
        const float *open = a->open[k], *u = a->u[k], *us = a->solid_u[k];
        const float sum = open[at] + open[low];
        if (cell[k] == 0 || cell[k] == m->n[k] - 1 || !(sum > 0))
            continue; /* the domain's side is none that lets go */
        const float area = open[at] - open[low], own = (open[at] * u[at] + open[low] * u[low]) / sum;
        square += area * area;
        *off += area * (own - 0.5f * (us[at] + us[low]));
    }
    return __builtin_sqrtf(square);
}

/* The pressure where a solid that covers a part of a cell is, if that is in the liquid: it goes on from the
 * cell's middle as it does the other way.  Behind an edge it falls within half a cell. */
static inline double und_let_go_pressure(const und_let_go_args *a, const int cell[3], size_t at)
{
    const und_mac *m = &a->mac;
    double away = 0, inwards = 0, square = 0;
    for (int k = 0; k < und_let_go_axes(a); k++) {
        const size_t low = at - (size_t)m->step[k];
        const float area = a->open[k][at] - a->open[k][low];
        if (cell[k] == 0 || cell[k] == m->n[k] - 1 || area == 0)
            continue;
        const size_t next = area > 0 ? at + (size_t)m->step[k] : low;
        const double size = (double)und_let_go_size(area);
        if (a->phi[next] >= 0)
            return a->unit * a->p[at];
        away += size * a->unit * (a->p[next] - a->p[at]);
        inwards += size * (double)(a->phi[next] - a->phi[at]);
        square += (double)(area * area);
    }
    const double reach = square > 0 ? (double)a->distance[at] / __builtin_sqrt(square) : 0;
    return a->unit * a->p[at] - (a->phi[at] - reach * inwards < 0 ? reach * away : 0);
}

/* Whether there is air in the solid beside a cell: liquid has come off there. */
static inline bool und_let_go_air_behind(const und_let_go_args *a, size_t at)
{
    for (int way = 0; way < 2 * und_let_go_axes(a); way++) {
        const size_t step = (size_t)a->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (a->distance[next] < 0 && a->phi[next] >= 0)
            return true;
    }
    return false;
}

static inline bool und_let_go_moves(const und_let_go_args *a, size_t at)
{
    for (int k = 0; k < 3; k++)
        if (a->solid_u[k][at] != 0 || a->solid_u[k][at - (size_t)a->mac.step[k]] != 0)
            return true;
    return false;
}

/* Whether air touches a cell, over a corner too. */
static inline bool und_let_go_beside_air(const und_let_go_args *a, const int cell[3])
{
    const und_mac *m = &a->mac;
    for (int k = 0; k < 27; k++) {
        const int next[3] = {cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1};
        bool inside = true;
        for (int c = 0; c < 3; c++)
            inside = inside && next[c] >= 0 && next[c] < m->n[c];
        if (inside && a->phi[und_mac_at(m, next[0], next[1], next[2])] >= 0)
            return true;
    }
    return false;
}

/* Whether the solid would have to pull at liquid that leaves it so fast, `off` over `area`.  One that lets go
 * beside air alone holds half a cell's weight, and what gravity gives in three steps: what touches its
 * underside is at rest.  All lets go no slower than 1.5 times what gravity gives in one, which all liquid has
 * in the first step, before its pressure is known. */
static inline bool und_let_go_pulls(const und_let_go_args *a, const int cell[3], size_t at, float off,
                                    float area, float depth)
{
    const bool always = a->separate[a->owner[at]] == a->always;
    const double held = always ? 1 : 10, falls = always ? 1.5 * UND_LET_GO_WEIGHT : 3 * UND_LET_GO_WEIGHT;
    if (!(und_let_go_pressure(a, cell, at) < -held * a->pull) &&
        !(und_let_go_air_behind(a, at) &&
          (double)off > (double)area * (a->unit * a->p[at] / (double)depth + falls * a->pull)))
        return false;
    return always || und_let_go_beside_air(a, cell);
}

/* A wall cannot pull: where liquid leaves a solid that lets go, and the pressure there is below the air's,
 * the solid is to the pressure as air is.  So that is for as long as there is air between them and the
 * pressure, which is the air's at the solid, does not turn the liquid back to it.  Whether it was not let go
 * before in this step. */
static inline bool und_let_go_cell(const und_let_go_args *a, const int cell[3], size_t at, bool gone,
                                   bool *goes)
{
    const float nearest = 0.25f, reach = 1.5f, least = 0.05f; /* cells, and of a face */
    const float distance = a->distance[at];
    if (!(distance < reach) || a->separate[a->owner[at]] == a->never)
        return false;
    float off;
    const float area = und_let_go_area(a, cell, at, &off), depth = distance > nearest ? distance : nearest;
    if (!gone && (!(area > least) || !(off > 0) || (a->again && !und_let_go_moves(a, at)) ||
                  !und_let_go_pulls(a, cell, at, off, area, depth)))
        return false;
    a->known[at] += area / depth;
    a->b[at] += off;
    *goes = true;
    return !gone;
}

/* Gives 1 where a row has cells that were not let go before. */
UND_INLINE und_lanes und_let_go_row(const und_let_go_args *a, und_place p)
{
    const uint64_t *asked = und_mask_row(&a->asked, p.y, p.z);
    uint64_t *loose = und_mask_row(&a->loose, p.y, p.z);
    bool any = false;
    for (int w = 0; w < a->asked.words; w++)
        for (uint64_t bits = asked[w]; bits; bits &= bits - 1) {
            const int bit = __builtin_ctzll(bits), x = 64 * w - 1 + bit;
            bool goes = false;
            any |=
                und_let_go_cell(a, (const int[3]){x, p.y, p.z}, p.at + (size_t)x, loose[w] >> bit & 1, &goes);
            loose[w] |= (uint64_t)goes << bit;
        }
    return und_lanes_all(any);
}
UND_KERNEL_MOST(und_let_go_row, und_let_go_args, UND_EACH_ROW)

#endif
