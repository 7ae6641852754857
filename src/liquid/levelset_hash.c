/* A hash of the state that does not tell in which window it lies: of cells, what is around the liquid.  What
 * is further away is as if nothing had ever been there: air, at rest. */
#include "base/hash.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "grid/mac_frame.h"
#include "liquid/levelset_state.h"

#include <string.h>

/* The cells of a row with something to tell, from begin to below end; none: begin == end. */
typedef struct stretch {
    int begin, end;
} stretch;

/* Liquid, the cells beside it, and what holds some: as far around these as something is known, and no further
 * than a fitted window has at a substep's end. */
static bool is_there(const und_levelset *s, const int32_t *held, size_t at)
{
    return s->surface.phi[at] < 1 || (held && held[at] != 0);
}

static stretch find_row(const und_levelset *s, const int32_t *held, int y, int z)
{
    const size_t row = und_mac_at(&s->mac, 0, y, z);
    const und_span span = und_mac_span(&s->mac, y, z);
    stretch r = {span.begin, span.end};
    while (r.begin < r.end && !is_there(s, held, row + (size_t)r.begin))
        r.begin++;
    while (r.end > r.begin && !is_there(s, held, row + (size_t)r.end - 1))
        r.end--;
    return r.begin < r.end ? r : (stretch){0, 0};
}

static void add_stretch(stretch *to, const stretch *r)
{
    if (r->begin == r->end)
        return;
    const bool first = to->begin == to->end;
    to->begin = first || r->begin < to->begin ? r->begin : to->begin;
    to->end = first || r->end > to->end ? r->end : to->end;
}

/* Rows along a line, `step` apart, get what those up to `reach` away have. */
static void widen(const stretch *from, stretch *to, int count, int step, int reach)
{
    for (int i = 0; i < count; i++) {
        stretch all = {0, 0};
        for (int k = i < reach ? 0 : i - reach; k < count && k <= i + reach; k++)
            add_stretch(&all, &from[k * step]);
        to[i * step] = all;
    }
}

static uint64_t hash_row(const und_levelset *s, const und_levelset_field *list, int count, int y, int z,
                         stretch r, uint64_t hash)
{
    const und_mac *m = &s->mac;
    const int at[4] = {m->low[0] + r.begin, m->low[1] + y, m->low[2] + z, m->low[0] + r.end};
    hash = und_hash_piece(at, sizeof at, hash);
    for (const und_levelset_field *f = list; f < list + count; f++) {
        const size_t size = f->type == UND_F64 ? sizeof(double) : sizeof(float);
        const bool beside = f->axis != UND_MAC_CELLS && at[f->axis] == 0; /* the domain's low faces too */
        const int begin = r.begin - (beside && f->axis == 0);
        const size_t first = und_mac_at(m, begin, y, z), bytes = size * (size_t)(r.end - begin);
        if (beside && f->axis > 0)
            hash = und_hash_piece((const char *)f->data + size * (first - (size_t)m->step[f->axis]), bytes,
                                  hash);
        hash = und_hash_piece((const char *)f->data + size * first, bytes, hash);
    }
    return hash;
}

/* All fields, slice by slice, and these in order. */
static uint64_t hash_fields(und_levelset *s, stretch *row, uint64_t *of_slice)
{
    const und_mac *m = &s->mac;
    const int ny = m->n[1], nz = m->n[2], reach = s->layers + 1;
    const int32_t *held = s->volume ? und_levelset_volume_cells(s) : NULL;
    stretch *wide = row + (size_t)ny * (size_t)nz;
    und_levelset_field list[UND_LEVELSET_FIELDS];
    const int count = und_levelset_carried(s, list);
    uint64_t hash = 0;
    PARALLEL_FOR(s->device.threads)
    for (int z = 0; z < nz; z++) {
        for (int y = 0; y < ny; y++)
            if (und_present_has(m->present, y, z))
                row[z * ny + y] = find_row(s, held, y, z);
        widen(row + (size_t)z * (size_t)ny, wide + (size_t)z * (size_t)ny, ny, 1, reach);
    }
    PARALLEL_FOR(s->device.threads)
    for (int y = 0; y < ny; y++)
        widen(wide + y, row + y, nz, ny, reach);
    PARALLEL_FOR(s->device.threads)
    for (int z = 0; z < nz; z++) {
        of_slice[z] = 0;
        for (int y = 0; y < ny; y++) {
            stretch r = row[z * ny + y];
            if (r.begin == r.end)
                continue;
            r.begin = r.begin < reach ? 0 : r.begin - reach;
            r.end = r.end > m->n[0] - reach ? m->n[0] : r.end + reach;
            of_slice[z] = hash_row(s, list, count, y, z, r, of_slice[z]);
        }
    }
    for (int z = 0; z < nz; z++)
        if (of_slice[z] != 0)
            hash = und_hash_piece(&of_slice[z], sizeof *of_slice, hash);
    return hash;
}

uint64_t und_levelset_hash(und_liquid *liquid)
{
    und_levelset *s = (und_levelset *)liquid;
    const size_t rows = (size_t)und_mac_rows(&s->mac);
    und_state_field list[UND_LEVELSET_STATE];
    und_frame state = und_frame_empty(0, 0, (und_grid){0});
    uint64_t hash = 0;
    stretch *row = und_pages_alloc(2 * rows * sizeof *row, "a hash", NULL);
    uint64_t *of_slice = und_pages_alloc((size_t)s->mac.n[2] * sizeof *of_slice, "a hash", NULL);
    if (row && of_slice &&
        und_state_save_fields(list, und_levelset_numbers(s, list), &state, NULL) == UND_OK &&
        (!s->spray || und_spray_save(und_levelset_drops(s), &state, NULL) == UND_OK)) {
        hash = und_frame_hash(&state, s->device.threads) ^ hash_fields(s, row, of_slice);
        hash ^= s->spray ? und_levelset_spray_hash(s) : 0;
    }
    und_frame_clear(&state);
    und_pages_free(row);
    und_pages_free(of_slice);
    return hash;
}
