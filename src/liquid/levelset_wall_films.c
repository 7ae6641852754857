/* Films along the domain's sides that are thinner than half a cell.
 *
 * The middles of their cells are in the air, where nothing keeps the flow's volume: a film would be drawn
 * away from its wall and stay at it as well.  While the flow is made their cells count as liquid: as barely
 * so, and phi is what it was again before the surface moves. */
#include "base/status.h"
#include "liquid/levelset_state.h"

#include <stdlib.h>

#define BARELY -0.02f /* cells */

und_status und_levelset_wall_films_open(und_levelset *s, und_error *err)
{
    const int *n = s->mac.n;
    size_t most =
        s->def.surface_rule == UND_SURFACE_VOLUME
            ? s->mac.count
            : 2 * ((size_t)n[0] * (size_t)n[1] + (size_t)n[1] * (size_t)n[2] + (size_t)n[0] * (size_t)n[2]);
    s->film_cell = und_alloc(most, sizeof *s->film_cell, "films", err);
    s->film_phi = s->film_cell ? und_alloc(most, sizeof *s->film_phi, "films", err) : NULL;
    if (!s->film_phi)
        return err->status;
    s->closing = und_alloc(most, sizeof *s->closing, "films", err);
    return s->closing ? UND_OK : err->status;
}

/* A cell at a side, `inner` away from the next one inside: is there liquid at the side? */
static inline bool is_film(const float *phi, ptrdiff_t inner)
{
    return phi[0] >= 0 && phi[0] < 0.5f && 1.5f * phi[0] < 0.5f * phi[inner];
}

static void press_side(und_levelset *s, int axis, bool high)
{
    const und_mac *m = &s->mac;
    int a = (axis + 1) % 3, b = (axis + 2) % 3, at[3];
    at[axis] = high ? m->n[axis] - 1 : 0;
    for (at[b] = 0; at[b] < m->n[b]; at[b]++)
        for (at[a] = 0; at[a] < m->n[a]; at[a]++) {
            size_t cell = und_mac_at(m, at[0], at[1], at[2]);
            float *phi = s->surface.phi + cell;
            if (und_levelset_band_at(s, cell) || !is_film(phi, high ? -m->step[axis] : m->step[axis]))
                continue;
            s->film_cell[s->film_count] = cell;
            s->film_phi[s->film_count++] = *phi;
            *phi = BARELY;
        }
}

void und_levelset_press_wall_films(und_levelset *s)
{
    s->film_count = 0;
    if (s->volume) {
        und_levelset_volume_press(s);
        return;
    }
    for (int side = 0; side < UND_SIDES; side++)
        if (!s->open[side] && s->mac.n[side / 2] > 1)
            press_side(s, side / 2, side % 2 == 1);
}

void und_levelset_release_wall_films(und_levelset *s)
{
    for (int i = s->film_count - 1; i >= 0; i--) /* the last first: a cell may be at two sides */
        s->surface.phi[s->film_cell[i]] = s->film_phi[i];
    if (s->volume)
        und_levelset_volume_free(s);
    s->film_count = 0;
}
