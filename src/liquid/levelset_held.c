/* Cells whose faces' velocities are given.
 *
 * Whoever gives velocities has a line in the table of givers: the cells, which are such of the liquid, and
 * what puts the velocities on their faces.  Where several hold a cell, the last of the table has its faces.
 */
#include "base/status.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>

static const float PILED = 0.5f; /* of a cell: so much more than it has room for one may hold */
static const float LEAST_ROOM = 0.1f, MOST = 8; /* of a cell */

typedef struct giver {
    /* In this substep, where those before it in the table hold some (NULL: none); NULL: none. */
    const und_mask *(*cells)(und_levelset *s, const und_mask *held);
    void (*enforce)(und_levelset *s); /* called where there are cells */
    bool directed; /* the liquid there is liquid as before, and what it gains by this is control's */
} giver;

static const und_mask *sources_cells(und_levelset *s, const und_mask *held)
{
    (void)held;
    return und_elements_held(s->elements);
}
static void enforce_sources(und_levelset *s)
{
    und_elements_pour(s->elements, &s->flow);
}

static const und_mask *control_cells(und_levelset *s, const und_mask *held)
{
    (void)held;
    return s->control ? und_control_particles_hold(und_levelset_control_particles(s), &s->flow) : NULL;
}
static void enforce_control(und_levelset *s)
{
    und_control_particles_enforce(und_levelset_control_particles(s), &s->flow, &s->solids);
}

/* Pockets come last: they are what the others enclose. */
static const giver givers[] = {
    {sources_cells, enforce_sources, false},
    {control_cells, enforce_control, true},
    {und_levelset_bands_cells, und_levelset_take_flow, false},
    {und_levelset_pockets_find, und_levelset_pockets_give, true},
};
enum { GIVERS = sizeof givers / sizeof *givers };

struct und_levelset_held {
    bool gives[GIVERS];
    const und_mask *cells; /* all together; NULL: none */
    und_mask united;       /* where more than one gives */
    und_mask directed;     /* those of directed givers, which no other has */
    bool directs;
};

und_status und_levelset_held_open(und_levelset *s, und_error *err)
{
    s->held = und_alloc(1, sizeof *s->held, "cells that are held", err);
    if (!s->held || und_mask_open(&s->held->united, &s->mac, "cells that are held", err) ||
        und_mask_open(&s->held->directed, &s->mac, "cells that are held", err))
        return err->status;
    return und_levelset_pockets_open(s, err);
}

void und_levelset_held_close(und_levelset *s)
{
    und_levelset_pockets_close(s);
    if (s->held) {
        und_mask_close(&s->held->united);
        und_mask_close(&s->held->directed);
    }
    free(s->held);
}

/* Cells of a directed giver, but for such that others have. */
static void direct(struct und_levelset_held *h, const und_mask *cells, const und_mask *others)
{
    if (h->directs)
        und_mask_unite(&h->directed, cells);
    else
        und_mask_copy(cells, &h->directed);
    h->directs = true;
    if (others)
        und_mask_remove(&h->directed, others);
}

void und_levelset_hold(und_levelset *s)
{
    struct und_levelset_held *h = s->held;
    const und_mask *others = NULL;
    h->cells = NULL;
    h->directs = false;
    for (int i = 0; i < GIVERS; i++) {
        const und_mask *cells = givers[i].cells(s, h->cells);
        h->gives[i] = cells != NULL;
        if (!cells)
            continue;
        if (h->cells && h->cells != &h->united)
            und_mask_copy(h->cells, &h->united);
        if (h->cells) {
            und_mask_unite(&h->united, cells);
            h->cells = &h->united;
        } else
            h->cells = cells;
        if (givers[i].directed)
            direct(h, cells, others);
        else
            others = h->cells;
    }
}

const und_mask *und_levelset_held(const und_levelset *s)
{
    return s->held->cells;
}

void und_levelset_enforce_held_velocities(und_levelset *s)
{
    for (int i = 0; i < GIVERS; i++)
        if (s->held->gives[i])
            givers[i].enforce(s);
}

/* What flows out of a cell, m/s.  A solid that moves brings what it leaves of the cell: beside one that goes
 * along with the liquid nothing is made. */
static double outflow(const und_levelset *s, size_t i)
{
    double sum = 0;
    for (int a = 0; a < (s->mac.n[2] == 1 ? 2 : 3); a++) {
        const size_t low = i - (size_t)s->mac.step[a];
        const float *push = s->solids.push[a];
        sum += (double)s->solids.open[a][i] * (double)s->flow.u[a][i] -
               (double)s->solids.open[a][low] * (double)s->flow.u[a][low];
        sum += push ? (double)push[i] - (double)push[low] : 0;
    }
    return sum;
}

static float room_of(const und_levelset *s, size_t at)
{
    const float *room = und_levelset_volume_rooms(s);
    return room ? room[at] : 1;
}

/* What is made in a cell, of UND_VOLUME_ONE. */
typedef int32_t make_fn(const und_levelset *s, size_t at);

/* What the cell holds grows as the flow does, of which it has had its share already: a full one is full
 * again, and so is, inside of the liquid, one that lacks some. */
static int32_t by_flow(const und_levelset *s, size_t at)
{
    const float part = und_volume_clip((float)(outflow(s, at) * s->dt / s->def.dx), MOST);
    const float room = fmaxf(room_of(s, at), LEAST_ROOM);
    const float has = und_volume_cells(und_levelset_volume_cells(s)[at]);
    if (part < 0)
        return und_volume_units(fmaxf(has, 0) * (part / (room - part)));
    const bool inside = s->surface.phi[at] < -UND_VOLUME_BESIDE;
    return und_volume_units(part * (inside ? 1 : fminf(fmaxf(has + part, 0) / room, 1)));
}

/* The pressure cannot press out what has piled up where the velocity is given. */
static int32_t by_pile(const und_levelset *s, size_t at)
{
    const int32_t least = und_volume_units(-PILED), most = und_volume_units(room_of(s, at) + PILED);
    const int32_t has = und_levelset_volume_cells(s)[at];
    return has < least ? least - has : has > most ? most - has : 0;
}

/* In all directed cells, m3. */
static double make(und_levelset *s, make_fn *fn)
{
    const und_mac *m = &s->mac;
    const und_volume *v = und_levelset_volumes(s);
    int64_t made = 0;
    for (int row = 0; row < und_mac_rows(m) && s->held->directs; row++)
        for (int begin, end = -1;
             und_mask_stretch(&s->held->directed, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++) {
                const size_t at = und_mac_row(m, row) + (size_t)x;
                const int32_t units = v->parts->own[at] ? fn(s, at) : 0;
                v->c[at] += units;
                made += units;
            }
    return (double)made * (s->def.dx * s->def.dx * s->def.dx / UND_VOLUME_ONE);
}

double und_levelset_held_gain(und_levelset *s)
{
    const und_mac *m = &s->mac;
    double sum = 0;
    if (s->volume)
        return make(s, by_flow);
    for (int row = 0; row < und_mac_rows(m) && s->held->directs; row++)
        for (int begin, end = -1;
             und_mask_stretch(&s->held->directed, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++)
                sum += outflow(s, und_mac_row(m, row) + (size_t)x);
    return s->dt * (sum * s->def.dx * s->def.dx);
}

double und_levelset_held_unpile(und_levelset *s)
{
    return make(s, by_pile);
}
