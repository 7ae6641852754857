#include "flow/mac_flow_parts.h"

#include "base/lanes.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

/* In one block, each a little more than pages behind the one before: what belongs to one cell would otherwise
 * fall into the same few lines of the cache. */
static und_status open_fields(und_mac_flow *s, und_error *err)
{
    enum { FIELDS = 6, PAGE = 1024, SHIFT = 9 * 16 }; /* in numbers; 9 lines */
    float **field[FIELDS] = {&s->u[0], &s->u[1], &s->u[2], &s->next[0], &s->next[1], &s->next[2]};
    size_t each = (s->mac.count + PAGE - 1) / PAGE * PAGE + SHIFT;
    float *block = und_pages_alloc(FIELDS * each * sizeof *block, "velocity and pressure", err);
    s->parts->fields = block;
    for (size_t i = 0; block && i < FIELDS; i++)
        *field[i] = block + i * each;
    s->p = block ? und_pages_alloc(s->mac.count * sizeof *s->p, "the pressure", err) : NULL;
    return s->p ? UND_OK : UND_FAILED;
}

static size_t blocks_of(int rows)
{
    return (size_t)(rows + UND_MAC_FLOW_ROWS - 1) / UND_MAC_FLOW_ROWS;
}

static und_status open_parts(und_mac_flow *s, const und_mac *mac, und_error *err)
{
    s->parts = und_alloc(1, sizeof *s->parts, "a flow", err);
    if (!s->parts)
        return UND_FAILED;
    s->parts->fastest = und_alloc(blocks_of((mac->n[1] + 1) * (mac->n[2] + 1)), sizeof(float), "rows", err);
    bool ok = s->parts->fastest && open_fields(s, err) == UND_OK &&
              und_mask_open(&s->liquid, &s->mac, "the liquid's cells", err) == UND_OK;
    ok = ok && und_mask_open(&s->parts->air.cells, &s->mac, "the air's cells", err) == UND_OK;
    for (int a = 0; ok && a < 3; a++)
        ok = und_mask_open(&s->flows[a], &s->mac, "the flow's faces", err) == UND_OK &&
             und_mask_open(&s->parts->air.faces[a], &s->mac, "the air's faces", err) == UND_OK;
    return ok && und_mac_flow_advect_open(&s->parts->advect, &s->mac, err) == UND_OK &&
                   und_mac_flow_extend_open(&s->parts->extend, &s->mac, err) == UND_OK &&
                   und_mac_flow_system_open(&s->parts->system, &s->mac, err) == UND_OK
               ? UND_OK
               : UND_FAILED;
}

und_status und_mac_flow_open(und_mac_flow *s, const und_mac *mac, int threads, und_error *err)
{
    *s = (und_mac_flow){.mac = *mac, .threads = threads};
    if (mac->count > INT32_MAX || mac->n[0] > UND_MAC_FLOW_LONGEST)
        return und_error_set(err, UND_INVALID, "%d x %d x %d cells are too many for a flow", mac->n[0],
                             mac->n[1], mac->n[2]);
    und_status status = open_parts(s, mac, err);
    if (status != UND_OK)
        und_mac_flow_close(s);
    return status;
}

void und_mac_flow_close(und_mac_flow *s)
{
    und_mask_close(&s->liquid);
    for (int a = 0; a < 3; a++)
        und_mask_close(&s->flows[a]);
    und_pages_free(s->p);
    if (s->parts) {
        und_mac_flow_advect_close(&s->parts->advect);
        und_mac_flow_extend_close(&s->parts->extend);
        und_mac_flow_system_close(&s->parts->system);
        und_mask_close(&s->parts->air.cells);
        for (int a = 0; a < 3; a++)
            und_mask_close(&s->parts->air.faces[a]);
        und_pages_free(s->parts->fields);
        und_pages_free(s->parts->gained);
        free(s->parts->fastest);
        free(s->parts);
    }
    *s = (und_mac_flow){0};
}

/* ---- Which cells and faces are active ---- */

typedef enum sign { BELOW, ABOVE } sign;

/* Bits x + 1 of the word that begins with bit 64 w, for cells of `row` (its cell 0) below or above a level.
 */
static uint64_t bits_of(const float *row, int n, int w, sign which, float level)
{
    uint64_t bits = 0;
    int end = n + 2 - 64 * w;
    for (int b = 0; b < 64 && b < end; b += UND_LANES) {
        und_lanes v = und_lanes_load(row + 64 * w + b - 1);
        bits |= (uint64_t)und_lanes_bits(which == BELOW ? v < level : v > level) << b;
    }
    return bits;
}

/* Cells from x = low to n - 1. */
static uint64_t bits_inside(int low, int n, int w)
{
    uint64_t all = ~UINT64_C(0);
    int first = low + 1 - 64 * w, end = n + 1 - 64 * w;
    uint64_t from = first <= 0 ? all : first < 64 ? all << first : 0;
    return end >= 64 ? from : end <= 0 ? 0 : from & ~(all << end);
}

/* Cells of a word that have an open face. */
static uint64_t opened(const und_mac *m, const und_solids *solids, size_t row, int w)
{
    uint64_t across = bits_of(solids->open[0] + row, m->n[0], w, ABOVE, 0);
    uint64_t before = w > 0 ? (uint64_t)(solids->open[0][row + (size_t)(64 * w) - 2] > 0) : 0;
    uint64_t open = across | across << 1 | before;
    for (int a = 1; a < (m->n[2] == 1 ? 2 : 3); a++)
        open |= bits_of(solids->open[a] + row, m->n[0], w, ABOVE, 0) |
                bits_of(solids->open[a] + row - m->step[a], m->n[0], w, ABOVE, 0);
    return open;
}

static void label_cells(und_mac_flow *s, const und_distance *d, const und_solids *solids, float level, int y,
                        int z)
{
    const und_mac *m = &s->mac;
    size_t row = und_mac_at(m, 0, y, z);
    uint64_t *liquid = und_mask_row(&s->liquid, y, z);
    for (int w = 0; w < s->liquid.words; w++) {
        uint64_t bits = bits_of(d->phi + row, m->n[0], w, BELOW, level) & bits_inside(0, m->n[0], w);
        liquid[w] = bits ? bits & opened(m, solids, row, w) : 0;
    }
}

/* Faces between cells of a row, or of two rows beside each other. */
static void label_faces(und_mac_flow *s, const und_solids *solids, int axis, int y, int z)
{
    const und_mac *m = &s->mac;
    const float *open = solids->open[axis] + und_mac_at(m, 0, y, z);
    const uint64_t *here = und_mask_row(&s->liquid, y, z);
    const uint64_t *there = und_mask_row(&s->liquid, y + (axis == 1), z + (axis == 2));
    uint64_t *flows = und_mask_row(&s->flows[axis], y, z);
    uint64_t *shut = und_mask_row(&s->parts->advect.shut[axis], y, z);
    uint64_t *set = und_mask_row(&s->parts->extend.set[axis], y, z);
    int words = s->liquid.words;
    for (int w = 0; w < words; w++) {
        uint64_t beyond = axis ? there[w] : here[w] >> 1 | (w + 1 < words ? here[w + 1] << 63 : 0);
        uint64_t touched = here[w] | beyond, free = touched ? bits_of(open, m->n[0], w, ABOVE, 0) : 0;
        flows[w] = touched & free;
        shut[w] = touched & ~free;
        set[w] |= flows[w];
    }
}

void und_mac_flow_label_cells(und_mac_flow *s, const und_distance *d, const und_solids *solids, float level)
{
    const und_mac *m = &s->mac;
    const int rows = und_mac_rows(m);
    int threads = und_workers(s->threads, m->count, 8 * UND_MAC_FLOW_CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int block = 0; block < rows; block += UND_MAC_FLOW_ROWS)
        for (int row = block; row < rows && row < block + UND_MAC_FLOW_ROWS; row++)
            label_cells(s, d, solids, level, row % m->n[1], row / m->n[1]);
}

void und_mac_flow_label_faces(und_mac_flow *s, const und_solids *solids)
{
    const und_mac *m = &s->mac;
    const int dimensions = m->n[2] == 1 ? 2 : 3;
    int threads = und_workers(s->threads, m->count, 8 * UND_MAC_FLOW_CELLS_TO_SHARE);
    /* faces of rows y, z from -1 on, where there is one across y or z on the border */
    const int wide = m->n[1] + 1, deep = dimensions == 3 ? m->n[2] + 1 : 1, first = dimensions == 3 ? -1 : 0;
    PARALLEL_FOR(threads)
    for (int block = 0; block < wide * deep; block += UND_MAC_FLOW_ROWS)
        for (int row = block; row < wide * deep && row < block + UND_MAC_FLOW_ROWS; row++) {
            int y = row % wide - 1, z = row / wide + first;
            for (int a = 0; a < dimensions; a++)
                if ((y >= 0 || a == 1) && (z >= 0 || a == 2))
                    label_faces(s, solids, a, y, z);
        }
}

void und_mac_flow_label(und_mac_flow *s, const und_distance *d, const und_solids *solids)
{
    und_mac_flow_label_cells(s, d, solids, 0);
    und_mac_flow_label_faces(s, solids);
}

static float fastest_of_row(const und_mac_flow *s, int y, int z)
{
    und_lanes most = {0}, none = {0};
    for (int a = 0; a < 3; a++) {
        const uint64_t *bits = und_mask_row(&s->flows[a], y, z);
        const float *u = s->u[a] + und_mac_at(&s->mac, 0, y, z);
        unsigned which;
        for (int x = -1; (x = und_mask_batch(&s->flows[a], bits, x, UND_LANES, &which)) <= s->mac.n[0];
             x += UND_LANES) {
            und_lanes_int flows = und_lanes_where(which);
            und_lanes v = und_lanes_select(flows, und_lanes_load(u + x), none);
            und_lanes endless = und_lanes_select(v == v, v, und_lanes_all(INFINITY));
            most = und_lanes_max(und_lanes_max(endless, -endless), most);
        }
    }
    float fastest = 0;
    for (int i = 0; i < UND_LANES; i++)
        fastest = most[i] > fastest ? most[i] : fastest;
    return fastest;
}

double und_mac_flow_fastest(const und_mac_flow *s)
{
    const und_mac *m = &s->mac;
    const int wide = m->n[1] + 1, rows = wide * (m->n[2] + 1);
    float *fastest = s->parts->fastest;
    int threads = und_workers(s->threads, m->count, 8 * UND_MAC_FLOW_CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int block = 0; block < rows; block += UND_MAC_FLOW_ROWS) {
        float most = 0;
        for (int row = block; row < rows && row < block + UND_MAC_FLOW_ROWS; row++)
            most = fmaxf(most, fastest_of_row(s, row % wide - 1, row / wide - 1));
        fastest[block / UND_MAC_FLOW_ROWS] = most;
    }
    float most = 0;
    for (size_t i = 0; i < blocks_of(rows); i++)
        most = fmaxf(most, fastest[i]);
    return (double)most;
}
