/* Cells whose faces' velocities are given.
 *
 * Whoever gives velocities has a line in the table of givers: the cells, which are such of the liquid, and
 * what puts the velocities on their faces.  Where several hold a cell, the last of the table has its faces.
 */
#include "base/status.h"
#include "liquid/levelset_state.h"

#include <stdlib.h>

typedef struct giver {
    const und_mask *(*cells)(und_levelset *s); /* in this substep; NULL: none */
    void (*give)(und_levelset *s);             /* called where there are cells */
} giver;

static const und_mask *sources_cells(und_levelset *s)
{
    return und_elements_held(s->elements);
}
static void sources_give(und_levelset *s)
{
    und_elements_pour(s->elements, &s->stream);
}

static const giver givers[] = {
    {sources_cells, sources_give},
};
enum { GIVERS = sizeof givers / sizeof *givers };

struct und_levelset_held {
    bool gives[GIVERS];
    const und_mask *cells; /* all together; NULL: none */
    und_mask united;       /* where more than one gives */
};

und_status und_levelset_held_open(und_levelset *s, und_error *err)
{
    s->held = und_alloc(1, sizeof *s->held, "cells that are held", err);
    return s->held ? und_mask_open(&s->held->united, &s->mac, "cells that are held", err) : err->status;
}

void und_levelset_held_close(und_levelset *s)
{
    if (s->held)
        und_mask_close(&s->held->united);
    free(s->held);
}

void und_levelset_hold(und_levelset *s)
{
    struct und_levelset_held *h = s->held;
    h->cells = NULL;
    for (int i = 0; i < GIVERS; i++) {
        const und_mask *cells = givers[i].cells(s);
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
    }
}

const und_mask *und_levelset_held(const und_levelset *s)
{
    return s->held->cells;
}

void und_levelset_give(und_levelset *s)
{
    for (int i = 0; i < GIVERS; i++)
        if (s->held->gives[i])
            givers[i].give(s);
}
