/* Cells whose faces' velocities are given.
 *
 * Whoever gives velocities has a line in the table of givers: the cells, which are such of the liquid, and
 * what puts the velocities on their faces.  Where several hold a cell, the last of the table has its faces.
 */
#include "base/status.h"
#include "liquid/levelset_state.h"

#include <stdlib.h>

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

/* What flows out of a cell, m/s. */
static double outflow(const und_levelset *s, size_t i)
{
    double sum = 0;
    for (int a = 0; a < (s->mac.n[2] == 1 ? 2 : 3); a++) {
        size_t low = i - (size_t)s->mac.step[a];
        sum += (double)s->solids.open[a][i] * (double)s->flow.u[a][i] -
               (double)s->solids.open[a][low] * (double)s->flow.u[a][low];
    }
    return sum;
}

double und_levelset_held_gain(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const und_mask *cells = &s->held->directed;
    double sum = 0, made = 0;
    for (int row = 0; row < und_mac_rows(m) && s->held->directs; row++) {
        int y = row % m->n[1], z = row / m->n[1];
        for (int begin, end = -1; und_mask_stretch(cells, y, z, end, &begin, &end);)
            for (int x = begin; x < end; x++) {
                const size_t at = und_mac_at(m, x, y, z);
                if (s->volume)
                    made += und_levelset_volume_give(s, at, outflow(s, at) * s->dt / s->def.dx);
                else
                    sum += outflow(s, at);
            }
    }
    return s->volume ? made : s->dt * (sum * s->def.dx * s->def.dx);
}

void und_levelset_held_release(und_levelset *s)
{
    if (s->held->directs)
        und_mask_unite(&s->flow.liquid, &s->held->directed);
}
