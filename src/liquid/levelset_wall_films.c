/* The surface as the flow is made for it.
 *
 * Films along the domain's sides that are thinner than half a cell have the middles of their cells in the
 * air, where nothing keeps the flow's volume: a film would be drawn away from its wall and stay at it as
 * well.  So their cells count as liquid: as barely so.  Beyond sides that liquid leaves by there is air. */
#include "base/status.h"
#include "liquid/levelset_state.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/volume_films_kernel.h"
#include "surface/volume_parts.h"

#include <stdlib.h>
#include <string.h>

#define BARELY -0.02f                   /* cells */
static const float THIN = 0.01f;        /* cells: what thinner films do is not the pressure's */
static const float PRESSED_ROOM = 0.1f; /* of a cell: films in less are not the pressure's */

enum { LENT = 3 }; /* as floats: what cells gain, a pressure */

und_status und_levelset_wall_films_open(und_levelset *s, und_error *err)
{
    const int *n = s->mac.n;
    const size_t lent = LENT * und_scratch_bytes(s->mac.count * sizeof(float));
    size_t most =
        s->def.surface_rule == UND_SURFACE_VOLUME
            ? s->mac.count
            : 2 * ((size_t)n[0] * (size_t)n[1] + (size_t)n[1] * (size_t)n[2] + (size_t)n[0] * (size_t)n[2]);
    s->film_cell = und_alloc(most, sizeof *s->film_cell, "films", err);
    s->closing = s->film_cell ? und_alloc(most, sizeof *s->closing, "films", err) : NULL;
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
    free(s->film_cell);
    free(s->closing);
    und_mask_close(&s->wet);
}

static void press_cell(und_levelset_pressed *p, size_t cell)
{
    p->film[p->film_count++] = cell;
    p->surface.phi[cell] = BARELY;
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

typedef struct pressing {
    const und_volume *v;
    const float *phi;
    float *pressed; /* phi too */
    const und_volume_walls *walls;
    int32_t *film; /* of each row, from where its first cell is on, */
    int32_t *count;
} pressing;

static void press_row(const pressing *f, und_place p)
{
    const int row = p.y + p.z * f->v->mac.n[1];
    int32_t *film = f->film + und_mac_row_begin(&f->v->mac, row), count = 0;
    UND_VOLUME_FILMS(f->v, f->phi, row, at)
    if (und_volume_cells(f->v->c[at]) > THIN && und_volume_room(f->walls, at) > PRESSED_ROOM) {
        film[count++] = (int32_t)at;
        f->pressed[at] = BARELY;
    }
    f->count[row] = count;
}
UND_KERNEL(press_row, pressing, UND_EACH_ROW)

/* Of what cells hold; and phi is copied, in one go. */
static void press_films(const und_levelset *s, und_levelset_pressed *p, const und_volume_walls *walls)
{
    const und_volume *v = und_levelset_volumes(s);
    int32_t *found = und_scratch_take(s->scratch, s->mac.count * sizeof *found);
    const pressing press = {v, s->surface.phi, p->surface.phi, walls, found, v->parts->row_count};
    const und_distance_copy_args copy = {s->mac, s->surface.phi, p->surface.phi};
    const und_volume_filming films = {und_volume_arrays_of(v), *walls, s->surface.phi};
    const und_set all = und_set_rows(&s->mac, UND_ROWS_ALL),
                  slices = und_set_slices(&s->mac, UND_ROWS_INSIDE),
                  rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    und_volume_get_films(v, &s->surface);
    const und_pass pass[] = {UND_PASS(und_distance_copy_row, &copy, &all),
                             UND_PASS(und_volume_film_row, &films, &slices),
                             UND_PASS(press_row, &press, &rows)};
    const und_step steps[] = {{.passes = pass, .count = 2}, {.passes = pass + 2, .count = 1}};
    und_pass_steps(&s->device, steps, 2);
    UND_MAC_EACH_ROW (&s->mac, row)
        for (int i = 0; i < press.count[row]; i++)
            p->film[p->film_count++] = (size_t)found[und_mac_row_begin(&s->mac, row) + (size_t)i];
    und_scratch_give_back(s->scratch, found);
}

/* Films count as liquid while the flow is made, and gaps that close. */
static void press_held(und_levelset *s, und_levelset_pressed *p)
{
    const und_volume_walls walls = und_levelset_walls(s);
    und_levelset_closing_find(s, p);
    press_films(s, p, &walls);
    for (int i = 0; i < p->closing_count; i++)
        if (!(p->surface.phi[p->closing[i]] < 0))
            press_cell(p, (size_t)p->closing[i]);
}

bool und_levelset_volume_press_more(und_levelset *s, und_levelset_pressed *p)
{
    const und_volume_walls walls = und_levelset_walls(s);
    const int before = p->closing_count;
    if (!s->volume || !und_levelset_closing_find_more(s, p, &walls))
        return false;
    for (int i = before; i < p->closing_count; i++) {
        press_cell(p, (size_t)p->closing[i]);
        p->pressure[p->closing[i]] = 0;
    }
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
    for (int i = 0; i < p->film_count; i++)
        s->surface.next[p->film[i]] = s->surface.phi[p->film[i]];
    if (s->viscous)
        und_scratch_give_back(s->scratch, p->pressure);
}
