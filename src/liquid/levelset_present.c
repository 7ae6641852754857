/* Rows of a fitted window: where liquid lies far apart, most of its box has nothing in it or near it.  What
 * the window is to hold around liquid, sources and what drops come to, its rows are to hold too; others are
 * as if nothing had ever been there, no pass comes to them, and their memory is never touched.
 *
 * Rows only come: those that nothing is near any more go when all is opened anew, as for another window. */
#include "grid/present.h"
#include "liquid/levelset_state.h"

enum {
    FEW = 4,  /* a window that needs but one of so many of its rows has only these */
    MANY = 2, /* and where it has so many times what it needs it is opened anew */
    SLACK = 8 /* rows that come around those that are needed */
};

static double all_cells(const und_mac *m)
{
    return (double)(m->n[0] + 2) * (m->n[1] + 2) * (m->n[2] + 2);
}

und_status und_levelset_rows_open(und_levelset *s, und_error *err)
{
    s->present = s->asked_rows = NULL;
    if (!s->few_rows || (double)s->mac.count < s->def.window.automatic)
        return UND_OK;
    s->asked_rows = und_present_open_parts(&s->mac, err);
    return s->asked_rows ? UND_OK : err->status;
}

void und_levelset_rows_close(und_levelset *s)
{
    und_present_close(s->present);
    und_present_close(s->asked_rows);
    s->present = s->asked_rows = NULL;
}

void und_levelset_need_none(und_levelset *s)
{
    if (s->asked_rows)
        und_present_clear(s->asked_rows, &s->mac);
}

void und_levelset_need_box(und_levelset *s, const int low[3], const int high[3])
{
    const und_mac *m = &s->mac;
    if (s->asked_rows && low[0] < high[0])
        und_present_add_box(s->asked_rows, m,
                            (const int[]){low[0] - m->low[0], low[1] - m->low[1], low[2] - m->low[2]},
                            (const int[]){high[0] - m->low[0], high[1] - m->low[1], high[2] - m->low[2]});
}

und_status und_levelset_choose_rows(und_levelset *s, const und_levelset *from, und_error *err)
{
    und_present *p = s->asked_rows;
    if (!p || (from && !from->asked_rows))
        return UND_OK;
    if (from)
        und_present_add_window(p, &s->mac, from->asked_rows, &from->mac);
    else
        und_present_grow(p, &s->mac, s->def.window.margin + SLACK);
    und_present_count(p, &s->mac);
    if (FEW * p->cells > all_cells(&s->mac))
        return UND_OK;
    if (!(s->present = und_present_open_parts(&s->mac, err)))
        return err->status;
    und_present_unite(s->present, &s->mac, p);
    s->mac.present = s->present;
    return UND_OK;
}

/* Of a state's array of the grid's layout. */
static const void *values_of(const und_levelset *s, const und_frame *state, const char *name, und_type type)
{
    const und_item *item = und_frame_find(state, name);
    return item && item->type == type && und_item_count(item) == s->mac.count ? item->data : NULL;
}

und_status und_levelset_state_rows(und_levelset *s, const und_frame *state, und_error *err)
{
    const und_mac *m = &s->mac;
    const float *phi = values_of(s, state, "phi", UND_F32);
    const int32_t *held = values_of(s, state, "volume", UND_I32);
    if (!s->asked_rows || !phi || (s->volume && !held))
        return UND_OK;
    UND_MAC_EACH_ROW (m, row) {
        const size_t first = und_mac_row(m, row);
        for (int x = 0; x < m->n[0]; x++)
            if (phi[first + (size_t)x] < 0 || (held && held[first + (size_t)x] != 0))
                und_present_add_part(s->asked_rows, row % m->n[1], row / m->n[1], (und_span){x, x + 1});
    }
    return und_levelset_choose_rows(s, NULL, err);
}

bool und_levelset_keep_rows(und_levelset *s)
{
    und_present *needed = s->asked_rows, *present = s->present;
    if (!needed)
        return false;
    und_present_grow(needed, &s->mac, s->def.window.margin);
    const bool come = present && und_present_lacks(present, &s->mac, needed);
    und_present_grow(needed, &s->mac, SLACK);
    if (!present)
        return MANY * FEW * needed->cells < all_cells(&s->mac);
    if (come) {
        und_present_unite(present, &s->mac, needed);
        und_solids_rows_came(&s->solids);
        if (s->volume)
            und_volume_rows_came(und_levelset_volumes(s));
    }
    return present->cells > MANY * needed->cells;
}
