/* The surface as the flow is made for it.
 *
 * Films along the domain's sides that are thinner than half a cell have the middles of their cells in the
 * air, where nothing keeps the flow's volume: a film would be drawn away from its wall and stay at it as
 * well.  So their cells count as liquid: as barely so.  Beyond sides that liquid leaves by there is air. */
#include "base/pages.h"
#include "base/status.h"
#include "liquid/levelset_state.h"
#include "liquid/levelset_wall_films_kernel.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/volume_parts.h"

#include <stdlib.h>

enum { LENT = 3 }; /* as floats: what cells gain, a pressure */

und_status und_levelset_wall_films_open(und_levelset *s, und_error *err)
{
    const int *n = s->mac.n;
    const size_t lent = LENT * und_scratch_bytes(s->mac.count * sizeof(float));
    size_t most =
        s->def.surface_rule == UND_SURFACE_VOLUME
            ? s->mac.count
            : 2 * ((size_t)n[0] * (size_t)n[1] + (size_t)n[1] * (size_t)n[2] + (size_t)n[0] * (size_t)n[2]);
    s->film_cell =
        und_pages_alloc_sparse(2 * most * sizeof *s->film_cell, "films", err); /* and those of gaps */
    s->closing = s->film_cell ? und_pages_alloc_sparse(most * sizeof *s->closing, "films", err) : NULL;
    if (!s->closing || und_mask_open(&s->wet, &s->mac, "films", err) != UND_OK ||
        !und_scratch_join(s->scratch, lent, err))
        return err->status;
    s->lent = lent;
    return UND_OK;
}

void und_levelset_wall_films_close(und_levelset *s)
{
    if (s->lent > 0)
        und_scratch_leave(s->scratch, s->lent);
    und_pages_free(s->film_cell);
    und_pages_free(s->closing);
    und_mask_close(&s->wet);
}

static void press_cell(und_levelset_pressed *p, size_t cell)
{
    p->film[p->film_count++] = (int32_t)cell;
    p->surface.phi[cell] = UND_PRESSED_BARELY;
}

/* A cell at a side, `inner` away from the next one inside: is there liquid at the side? */
static inline bool is_film(const float *phi, ptrdiff_t inner)
{
    return phi[0] >= 0 && phi[0] < 0.5f && 1.5f * phi[0] < 0.5f * phi[inner];
}

static void press_side(const und_levelset *s, und_levelset_pressed *p, int axis, bool high)
{
    const und_mac *m = &s->mac;
    int a = (axis + 1) % 3, b = (axis + 2) % 3, at[3];
    at[axis] = high ? m->n[axis] - 1 : 0;
    for (at[b] = 0; at[b] < m->n[b]; at[b]++)
        for (at[a] = 0; at[a] < m->n[a]; at[a]++) {
            size_t cell = und_mac_at(m, at[0], at[1], at[2]);
            if (!und_levelset_band_at(s, cell) &&
                is_film(p->surface.phi + cell, high ? -m->step[axis] : m->step[axis]))
                press_cell(p, cell);
        }
}

enum { AT_ONCE = 256 }; /* cells of a list; few are not worth a region */

/* Some cells of gaps, from one of the list on, behind the films: they count as liquid too. */
static und_pressing_cells gaps_of(const und_levelset_pressed *p, int from)
{
    return (und_pressing_cells){
        .list = p->closing + from, .film = p->film + p->film_count, .pressed = p->surface.phi};
}

/* Films count as liquid while the flow is made, and gaps that close; what cells hold tells which.  phi is
 * copied in the same go. */
static void press_held(und_levelset *s, und_levelset_pressed *p)
{
    enum { STEPS = 3 + UND_VOLUME_LISTING_ROWS };
    const und_volume *v = und_levelset_volumes(s);
    const und_volume_walls walls = und_levelset_walls(s);
    und_levelset_closing_find(s, p);
    int32_t *found = und_scratch_take(s->scratch, s->mac.count * sizeof *found);
    const und_pressing_cells gaps = gaps_of(p, 0);
    const und_pressing press = {und_volume_arrays_of(v), walls, s->surface.phi,
                                p->surface.phi,          found, v->parts->row_count};
    const und_distance_copy_args copy = {s->mac, s->surface.phi, p->surface.phi};
    const und_volume_filming films = {press.v, walls, s->surface.phi};
    const und_set all = und_set_rows(&s->mac, UND_ROWS_ALL),
                  slices = und_set_slices(&s->mac, UND_ROWS_INSIDE),
                  rows = und_set_rows(&s->mac, UND_ROWS_INSIDE),
                  closing = und_set_list(p->closing, p->closing_count, AT_ONCE, 1);
    und_volume_get_films(v, &s->surface);
    const und_pass pass[] = {
        UND_PASS(und_distance_copy_row, &copy, &all), UND_PASS(und_volume_film_row, &films, &slices),
        UND_PASS(und_press_films_row, &press, &rows), UND_PASS(und_press_cells, &gaps, &closing)};
    und_step steps[STEPS] = {
        {.passes = pass, .count = 2}, {.passes = pass + 2, .count = 1}, {.passes = pass + 3, .count = 1}};
    und_volume_listed *const listed = und_volume_room_for_listed(und_levelset_volumes(s));
    und_volume_row_listing listing;
    und_volume_list_rows_steps(
        v,
        &(und_volume_row_lists){.of_row = found, .list = p->film, .first = p->closing_count, .all = listed},
        &listing, steps + 3);
    und_pass_steps(&s->device, steps, STEPS);
    p->film_count = listed->count;
    und_scratch_give_back(s->scratch, found);
}

bool und_levelset_volume_press_more(und_levelset *s, und_levelset_pressed *p)
{
    const int before = p->closing_count;
    if (!s->volume || !und_levelset_closing_find_more(s, p))
        return false;
    und_pressing_cells gaps = gaps_of(p, before);
    const und_set cells = und_set_list(gaps.list, p->closing_count - before, AT_ONCE, 1);
    gaps.pressure = p->pressure;
    und_pass(&s->device, und_press_cells, &gaps, &cells);
    p->film_count += p->closing_count - before;
    und_mac_flow_label(&s->flow, &p->surface, &s->solids);
    return true;
}

und_levelset_pressed und_levelset_press(und_levelset *s)
{
    und_levelset_pressed p = {.surface = s->surface, .film = s->film_cell, .closing = s->closing};
    p.surface.next = NULL;
    p.surface.phi = s->surface.next; /* nobody else needs it until the surface moves */
    p.pressure = s->viscous ? und_scratch_take(s->scratch, s->mac.count * sizeof *p.pressure) : s->flow.p;
    if (s->volume) {
        press_held(s, &p);
        return p;
    }
    und_distance_copy(&s->surface, p.surface.phi);
    for (int side = 0; side < UND_SIDES; side++)
        if (!s->open[side] && s->mac.n[side / 2] > 1)
            press_side(s, &p, side / 2, side % 2 == 1);
    return p;
}

/* Beyond the band `next` is as phi is again. */
void und_levelset_release(und_levelset *s, const und_levelset_pressed *p)
{
    const und_pressing_cells cells = {.list = p->film, .phi = s->surface.phi, .pressed = s->surface.next};
    const und_set films = und_set_list(p->film, p->film_count, AT_ONCE, 1);
    und_pass(&s->device, und_release_cells, &cells, &films);
    if (s->viscous)
        und_scratch_give_back(s->scratch, p->pressure);
}
