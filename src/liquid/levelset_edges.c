/* Sides of the domain that liquid leaves by: there is air beyond them, and nothing comes back in. */
#include "liquid/levelset_state.h"

#include <math.h>

/* Calls fn for each cell beside an open side, in a fixed order: the cell, that beyond the side, and which
 * side. */
typedef void edge_fn(void *context, size_t cell, size_t beyond, int side);

/* Whether the grid has rows at a side. */
static bool has_rows(const und_mac *m, int axis, int at)
{
    bool any = axis == 0 || !m->present;
    for (int z = 0; z < m->n[2] && !any && axis == 1; z++)
        any = und_present_has(m->present, at, z);
    return any || (axis == 2 && und_present_next(m->present, 0, m->n[1], at) < m->n[1]);
}

static void for_edges(const und_levelset *s, edge_fn *fn, void *context)
{
    const und_mac *m = &s->mac;
    for (int side = 0; side < UND_SIDES; side++) {
        int axis = side / 2, a = (axis + 1) % 3, b = (axis + 2) % 3, at[3];
        at[axis] = side % 2 ? m->n[axis] - 1 : 0;
        if (!s->open[side] || !has_rows(m, axis, at[axis]))
            continue;
        for (at[b] = 0; at[b] < m->n[b]; at[b]++)
            for (at[a] = 0; at[a] < m->n[a]; at[a]++) {
                if (!und_mac_has(m, at[0], at[1], at[2]))
                    continue;
                size_t cell = und_mac_at(m, at[0], at[1], at[2]);
                ptrdiff_t out = side % 2 ? m->step[axis] : -m->step[axis];
                fn(context, cell, (size_t)((ptrdiff_t)cell + out), side);
            }
    }
}

/* The surface that a pressure of 0 is on is the side itself. */
static void set_air(void *context, size_t cell, size_t beyond, int side)
{
    float *phi = context;
    (void)side;
    phi[beyond] = fabsf(phi[cell]);
}
static void set_same(void *context, size_t cell, size_t beyond, int side)
{
    float *phi = context;
    (void)side;
    phi[beyond] = phi[cell];
}

void und_levelset_beyond_sides(const und_levelset *s, float *phi, bool air)
{
    for_edges(s, air ? set_air : set_same, phi);
}

static void leave(void *context, size_t cell, size_t beyond, int side)
{
    und_levelset *s = context;
    int axis = side / 2;
    float *u = &s->flow.u[axis][side % 2 ? cell : beyond];
    bool out = side % 2 ? *u > 0 : *u < 0;
    if (!out)
        *u = 0;
    if (s->volume) /* what goes over the side is booked as it does */
        return;
    /* phi on the side, half a cell on from the middle */
    double phi = (double)s->surface.phi[cell], inner = (double)s->surface.phi[2 * cell - beyond];
    double at_side = s->mac.n[axis] > 1 ? 1.5 * phi - 0.5 * inner : phi;
    double wet = fmin(fmax(0.5 - at_side, 0), 1);
    double open = (double)s->solids.open[axis][side % 2 ? cell : beyond];
    double volume = fabs((double)*u) * s->dt * s->def.dx * s->def.dx * wet * open;
    if (volume > 0)
        und_ledger_add(&s->ledger.left, &s->lost[2], volume);
}

void und_levelset_leave(und_levelset *s)
{
    for_edges(s, leave, s);
}
