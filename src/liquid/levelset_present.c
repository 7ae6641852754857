/* Rows of a fitted window: where liquid lies far apart, most of its box has nothing in it or near it.  What
 * the window is to hold around liquid, sources and what drops come to, its rows are to hold too, each a part
 * along x; others are as if nothing had ever been there, and no pass comes to them.
 *
 * Kernels go from row to row by a fixed step.  It need not be as long as rows are: where their parts are
 * short they are packed, the next one's part in what the row does not have itself, as far behind it as keeps
 * all parts, and what is read around them, apart.
 *
 * Rows only come: those that nothing is near any more go when all is opened anew, as for another window. */
#include "base/status.h"
#include "grid/present.h"
#include "liquid/levelset_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 4,  /* a window that needs but one of so many of its rows has only these */
    MANY = 2, /* and where it has so many times what it needs it is opened anew */
    SLACK = 8 /* rows that come around those that are needed */
};

static double all_cells(const und_mac *m)
{
    return (double)(m->n[0] + 2) * (m->n[1] + 2) * (m->n[2] + 2);
}

/* ---- Packing ---- */

struct und_levelset_packing {
    und_present *parts, *reads;
    uint16_t *owner;
};

static void close_packing(struct und_levelset_packing *p)
{
    if (p) {
        und_present_close(p->parts);
        und_present_close(p->reads);
        free(p->owner);
    }
    free(p);
}

static struct und_levelset_packing *open_packing(const und_mac *m, und_error *err)
{
    struct und_levelset_packing *p = und_alloc(1, sizeof *p, "rows", err);
    if (p && (!(p->parts = und_present_open_parts(m, err)) || !(p->reads = und_present_open_parts(m, err)) ||
              !(p->owner = und_alloc(und_present_owners(m), sizeof *p->owner, "rows", err)))) {
        close_packing(p);
        return NULL;
    }
    return p;
}

/* Those of a grid, and more; NULL: none. */
static void set_parts(struct und_levelset_packing *p, const und_mac *m, const und_present *some,
                      const und_present *more)
{
    und_present_clear(p->parts, m);
    und_present_clear(p->reads, m);
    und_present_unite(p->parts, m, some);
    if (more)
        und_present_unite(p->parts, m, more);
    und_present_unite(p->reads, m, p->parts);
    und_present_grow(p->reads, m, UND_PRESENT_APART);
}

static bool fits(const struct und_levelset_packing *p, const und_mac *m, int pitch)
{
    return und_present_fits(p->parts, p->reads, m, pitch, p->owner);
}

/* Drains, control and what blends velocities in look at cells wherever they are. */
static bool may_pack(const und_levelset *s)
{
    if (s->def.control_particle_count > 0)
        return false;
    for (int i = 0; i < s->def.element_count; i++)
        if (s->def.elements[i].role != UND_ELEMENT_SOURCE && s->def.elements[i].role != UND_ELEMENT_FORCE)
            return false;
    return true;
}

/* The least step from row to row. */
static void pack(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const int longest = und_present_longest(s->present, m), step = 8;
    s->packed = false;
    if (!may_pack(s))
        return;
    set_parts(s->packing, m, s->present, NULL);
    for (int pitch = (longest + step - 1) / step * step; pitch < m->step[1]; pitch += step)
        if (fits(s->packing, m, pitch)) {
            und_mac_set_pitch(&s->mac, pitch);
            s->packed = true;
            return;
        }
}

/* ---- Rows ---- */

und_status und_levelset_rows_open(und_levelset *s, und_error *err)
{
    s->present = s->asked_rows = NULL;
    s->packing = NULL;
    s->packed = false;
    if (!s->few_rows || (double)s->mac.count < s->def.window.automatic)
        return UND_OK;
    s->asked_rows = und_present_open_parts(&s->mac, err);
    s->packing = s->asked_rows ? open_packing(&s->mac, err) : NULL;
    return s->packing ? UND_OK : err->status;
}

void und_levelset_rows_close(und_levelset *s)
{
    und_present_close(s->present);
    und_present_close(s->asked_rows);
    close_packing(s->packing);
    s->present = s->asked_rows = NULL;
    s->packing = NULL;
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
    und_present_grow(p, &s->mac, s->def.window.margin + SLACK);
    if (from) /* whose have grown */
        und_present_add_window(p, &s->mac, from->asked_rows, &from->mac);
    und_present_count(p, &s->mac);
    if (FEW * p->cells > all_cells(&s->mac))
        return UND_OK;
    if (!(s->present = und_present_open_parts(&s->mac, err)))
        return err->status;
    und_present_unite(s->present, &s->mac, p);
    s->mac.present = s->present;
    pack(s);
    return UND_OK;
}

/* ---- States ---- */

static const char *const rows_name = "row_parts";

/* The step from row to row, and of each row where its part begins and ends. */
und_status und_levelset_rows_save(const und_levelset *s, und_frame *state, und_error *err)
{
    const size_t rows = (size_t)(s->mac.n[1] + 2) * (size_t)(s->mac.n[2] + 2);
    const und_item_def def = {.name = rows_name,
                              .unit = "",
                              .kind = UND_NUMBERS,
                              .type = UND_I32,
                              .rank = 1,
                              .dim = {2 * rows + 1}};
    und_item *item = s->packed ? und_frame_add(state, &def, err) : NULL;
    if (!s->packed || !item)
        return s->packed ? err->status : UND_OK;
    int32_t *to = item->data;
    *to++ = (int32_t)s->mac.step[1];
    for (int z = -1; z <= s->mac.n[2]; z++)
        for (int y = -1; y <= s->mac.n[1]; y++) {
            const und_span part = und_mac_part(&s->mac, y, z);
            *to++ = part.begin;
            *to++ = part.end;
        }
    return UND_OK;
}

und_status und_levelset_rows_of(const und_levelset *s, const und_frame *state, und_mac *mac,
                                und_present **present, und_error *err)
{
    static const char *const damaged = "the checkpoint is damaged: its rows are none";
    const und_item *item = und_frame_find(state, rows_name);
    *present = NULL;
    *mac = und_mac_window(&s->mac, s->mac.low, s->mac.n);
    if (!item)
        return UND_OK;
    const size_t rows = (size_t)(mac->n[1] + 2) * (size_t)(mac->n[2] + 2);
    const int32_t *from = item->data, pitch = item->type == UND_I32 && und_item_count(item) > 0 ? *from : 0;
    if (und_item_count(item) != 2 * rows + 1 || pitch <= 0 || pitch % 8 != 0 || pitch > mac->step[1])
        return und_error_set(err, UND_FAILED, "%s", damaged);
    if (!(*present = und_present_open_parts(mac, err)))
        return err->status;
    from++;
    for (int z = -1; z <= mac->n[2]; z++)
        for (int y = -1; y <= mac->n[1]; y++, from += 2) {
            if (from[0] < -1 || from[1] > mac->n[0] + 1 || from[0] > from[1])
                return und_error_set(err, UND_FAILED, "%s", damaged);
            if (from[0] < from[1])
                und_present_add_part(*present, y, z, (und_span){from[0], from[1]});
        }
    mac->present = *present;
    und_mac_set_pitch(mac, pitch);
    return UND_OK;
}

/* Of a state's array of a grid's layout. */
static const void *values_of(const und_mac *m, const und_frame *state, const char *name, und_type type)
{
    const und_item *item = und_frame_find(state, name);
    return item && item->type == type && und_item_count(item) == m->count ? item->data : NULL;
}

static void need_liquid(und_levelset *s, const und_mac *m, const float *phi, const int32_t *held)
{
    UND_MAC_EACH_ROW (m, row) {
        const und_span part = und_mac_row_span(m, row);
        const size_t first = und_mac_row(m, row);
        for (int x = part.begin; x < part.end; x++)
            if (phi[first + (size_t)x] < 0 || (held && held[first + (size_t)x] != 0))
                und_present_add_part(s->asked_rows, row % m->n[1], row / m->n[1], (und_span){x, x + 1});
    }
}

und_status und_levelset_state_rows(und_levelset *s, const und_frame *state, und_error *err)
{
    und_mac m;
    und_present *present;
    if (!s->asked_rows)
        return UND_OK;
    und_status status = und_levelset_rows_of(s, state, &m, &present, err);
    const float *phi = status == UND_OK ? values_of(&m, state, "phi", UND_F32) : NULL;
    const int32_t *held = status == UND_OK ? values_of(&m, state, "volume", UND_I32) : NULL;
    if (phi && (held || !s->volume)) {
        need_liquid(s, &m, phi, held);
        status = und_levelset_choose_rows(s, NULL, err);
    }
    und_present_close(present);
    return status;
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
    if (come && s->packed) {
        set_parts(s->packing, &s->mac, present, needed);
        if (!fits(s->packing, &s->mac, (int)s->mac.step[1]))
            return true;
    }
    if (come) {
        und_present_unite(present, &s->mac, needed);
        und_solids_rows_came(&s->solids);
        if (s->volume)
            und_volume_rows_came(und_levelset_volumes(s));
    }
    return present->cells > MANY * needed->cells;
}
