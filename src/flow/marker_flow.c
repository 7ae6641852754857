#include "flow/marker_flow_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lists are as long as walls could ever make them, in pages that stay untouched until they do: a gate that
 * opens needs no memory.  A mirror joins a face inside a wall to one outside, each of which has four sides:
 * of F faces along an axis at most 2 F. */
static und_status open_parts(und_marker_flow *f, und_error *err)
{
    size_t n = f->mac.count, rows = (size_t)und_mac_rows(&f->mac);
    und_marker_flow_parts *s = f->parts;
    s->face = und_pages_alloc_sparse(3 * n * sizeof *s->face, "faces at walls", err);
    s->mirror = und_pages_alloc_sparse(6 * n * sizeof *s->mirror, "faces beside walls", err);
    s->ghost = und_pages_alloc_sparse(3 * n * sizeof *s->ghost, "faces in walls", err);
    s->port = und_pages_alloc_sparse(3 * n * sizeof *s->port, "inflows and outflows", err);
    s->shared = und_pages_alloc_sparse(3 * n * sizeof *s->shared, "faces in thin walls", err);
    s->near_low = und_alloc(rows, sizeof *s->near_low, "rows", err);
    s->near_high = und_alloc(rows, sizeof *s->near_high, "rows", err);
    s->reach_low = und_alloc(rows, sizeof *s->reach_low, "rows", err);
    s->reach_high = und_alloc(rows, sizeof *s->reach_high, "rows", err);
    s->wet_low = und_alloc(rows, sizeof *s->wet_low, "rows", err);
    s->wet_high = und_alloc(rows, sizeof *s->wet_high, "rows", err);
    s->air = und_alloc(rows, sizeof *s->air, "rows", err);
    s->ease = und_alloc(rows, sizeof *s->ease, "rows", err);
    s->row_most = und_alloc(rows, sizeof *s->row_most, "rows", err);
    s->row_count = und_alloc(rows, 2 * sizeof *s->row_count, "rows", err);
    s->known = und_pages_alloc(n, "cells", err);
    s->told = und_pages_alloc(n, "cells", err);
    s->kind = und_pages_alloc(n, "cells", err);
    s->share = und_pages_alloc(n * sizeof *s->share, "cells", err);
    s->scratch = und_alloc((size_t)(f->threads * f->mac.step[1]), sizeof *s->scratch, "rows", err);
    s->rhs = und_pages_alloc(n * sizeof *s->rhs, "cells", err);
    s->change = und_pages_alloc(n * sizeof *s->change, "cells", err);
    bool all = s->face && s->mirror && s->ghost && s->port && s->shared && s->near_low && s->near_high &&
               s->reach_low && s->reach_high && s->wet_low && s->wet_high && s->air && s->row_most &&
               s->row_count && s->known && s->told && s->kind && s->share && s->rhs && s->change &&
               s->scratch && s->ease;
    return all ? UND_OK : UND_FAILED;
}

static void set_sides(und_marker_flow *f)
{
    const und_mac *m = &f->mac;
    memset(f->label, UND_CELL_SOLID, m->count);
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++) {
                int side = x < 0          ? 0
                           : x == m->n[0] ? 1
                           : y < 0        ? 2
                           : y == m->n[1] ? 3
                           : z < 0        ? 4
                           : z == m->n[2] ? 5
                                          : -1;
                size_t at = und_mac_at(m, x, y, z);
                f->wall[at] = (uint8_t)(side < 0 ? 0 : side);
                f->label[at] = side < 0 ? UND_CELL_EMPTY : UND_CELL_SOLID;
            }
}

/* Velocities and pressure in one block, each a little more than pages behind the one before: what belongs to
 * one cell would otherwise fall into the same few lines of the cache. */
static und_status open_fields(und_marker_flow *f, und_error *err)
{
    enum { FIELDS = 7, LINE = 8, PAGE = 512, SHIFT = 9 * LINE }; /* in numbers */
    double **field[FIELDS] = {&f->u[0], &f->u[1], &f->u[2], &f->p, &f->next[0], &f->next[1], &f->next[2]};
    size_t each = (f->mac.count + PAGE - 1) / PAGE * PAGE + SHIFT;
    double *block = und_pages_alloc(FIELDS * each * sizeof *block, "velocity and pressure", err);
    f->parts->fields = block;
    for (size_t i = 0; block && i < FIELDS; i++)
        *field[i] = block + i * each;
    return block ? UND_OK : UND_FAILED;
}

und_status und_marker_flow_open(und_marker_flow *f, const und_mac *mac, const und_wall_def *walls,
                                int wall_count, int threads, und_error *err)
{
    assert(wall_count >= UND_SIDES && wall_count <= 256);
    *f = (und_marker_flow){.mac = *mac, .threads = threads, .walls = walls, .wall_count = wall_count};
    size_t n = mac->count, rows = (size_t)und_mac_rows(mac);
    bool all =
        (f->parts = und_alloc(1, sizeof *f->parts, "flow", err)) && open_fields(f, err) == UND_OK &&
        (f->label = und_pages_alloc(n, "labels", err)) && (f->wall = und_pages_alloc(n, "walls", err)) &&
        (f->shrink = und_pages_alloc(n * sizeof *f->shrink, "cells", err)) &&
        (f->row_low = und_alloc(rows, sizeof *f->row_low, "rows", err)) &&
        (f->row_high = und_alloc(rows, sizeof *f->row_high, "rows", err)) && open_parts(f, err) == UND_OK;
    if (!all) {
        und_marker_flow_close(f);
        return UND_FAILED;
    }
    set_sides(f);
    und_marker_flow_walls_changed(f);
    und_marker_flow_label(f);
    return UND_OK;
}

void und_marker_flow_close(und_marker_flow *f)
{
    und_marker_flow_parts *s = f->parts;
    if (s) {
        void *pages[] = {s->fields, s->face, s->mirror, s->ghost, s->port, s->shared,
                         s->known,  s->told, s->kind,   s->share, s->rhs,  s->change};
        void *heap[] = {s->near_low, s->near_high, s->reach_low, s->reach_high, s->wet_low, s->wet_high,
                        s->air,      s->row_most,  s->row_count, s->scratch,    s->ease,    s};
        for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
            und_pages_free(pages[i]);
        for (size_t i = 0; i < sizeof heap / sizeof *heap; i++)
            free(heap[i]);
    }
    und_pages_free(f->label);
    und_pages_free(f->wall);
    und_pages_free(f->shrink);
    free(f->row_low);
    free(f->row_high);
    *f = (und_marker_flow){0};
}

/* The labels of a row as they will be; in an array of their own, for neighbours read the old ones. */
static void find_labels(und_marker_flow *f, int row, uint8_t *restrict out)
{
    size_t first = und_mac_row(&f->mac, row);
    const uint8_t *at = f->label + first;
    ptrdiff_t sy = f->mac.step[1], sz = und_marker_flow_axes(f) == 3 ? f->mac.step[2] : 0;
    for (int x = 0; x < f->mac.n[0]; x++) {
        bool liquid = (at[x] == UND_CELL_FULL) | (at[x] == UND_CELL_SURFACE);
        bool air = (at[x - 1] == UND_CELL_EMPTY) | (at[x + 1] == UND_CELL_EMPTY) |
                   (at[x - sy] == UND_CELL_EMPTY) | (at[x + sy] == UND_CELL_EMPTY) |
                   (at[x - sz] == UND_CELL_EMPTY) | (at[x + sz] == UND_CELL_EMPTY);
        out[x] = liquid ? (air ? UND_CELL_SURFACE : UND_CELL_FULL) : at[x];
    }
}

static long count_of(const uint8_t *label, int count, uint8_t which)
{
    enum { MOST = 255 }; /* that a byte can count */
    long sum = 0;
    for (int from = 0; from < count; from += MOST) {
        int to = count - from < MOST ? count : from + MOST;
        uint8_t some = 0;
        for (int x = from; x < to; x++)
            some = (uint8_t)(some + (label[x] == which));
        sum += some;
    }
    return sum;
}

/* Liquid that left a cell leaves no pressure behind. */
static void clear_pressure(und_marker_flow *f, int row, int low, int high)
{
    und_marker_flow_parts *s = f->parts;
    size_t first = und_mac_row(&f->mac, row);
    const uint8_t *label = f->label + first;
    double *restrict p = f->p + first;
    int from = s->wet_low[row], to = s->wet_high[row];
    bool left = from < to && memchr(label + from, UND_CELL_EMPTY, (size_t)(to - from));
    for (int x = from; left && x < to; x++)
        p[x] = label[x] == UND_CELL_EMPTY ? 0 : p[x];
    s->wet_low[row] = low;
    s->wet_high[row] = high;
}

static void keep_labels(und_marker_flow *f, int row, const uint8_t *restrict found)
{
    int n = f->mac.n[0], low = 0, high = 0;
    uint8_t *label = f->label + und_mac_row(&f->mac, row);
    memcpy(label, found, (size_t)n);
    long full = count_of(label, n, UND_CELL_FULL), surface = count_of(label, n, UND_CELL_SURFACE);
    if (full + surface > 0) {
        while (!und_is_liquid(label[low]))
            low++;
        for (high = n; !und_is_liquid(label[high - 1]);)
            high--;
    }
    f->row_low[row] = low;
    f->row_high[row] = high;
    f->parts->row_count[2 * row] = full;
    f->parts->row_count[2 * row + 1] = surface;
    clear_pressure(f, row, low, high);
}

void und_marker_flow_label(und_marker_flow *f)
{
    uint8_t *found = f->parts->kind; /* which is not needed until the pressure's turn */
    int blocks = und_marker_flow_blocks(f),
        workers = und_marker_flow_byte_workers(f, und_marker_flow_cells(f));
    PARALLEL_FOR(workers)
    for (int b = 0; b < blocks; b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            find_labels(f, row, found + und_mac_row(&f->mac, row));
    PARALLEL_FOR(workers)
    for (int b = 0; b < blocks; b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            keep_labels(f, row, found + und_mac_row(&f->mac, row));
    f->full = f->surface = 0;
    for (int row = 0; row < und_mac_rows(&f->mac); row++) {
        f->full += f->parts->row_count[2 * row];
        f->surface += f->parts->row_count[2 * row + 1];
    }
}

static double row_divergence(const und_marker_flow *f, int row, const double per_cell[3])
{
    size_t first = und_mac_row(&f->mac, row);
    int low = f->row_low[row], high = f->row_high[row];
    double *restrict missing = und_marker_flow_scratch(f, und_thread());
    for (int x = low; x < high; x++)
        missing[x] = und_marker_flow_missing(f, first + (size_t)x, per_cell);
    for (int x = low; x < high; x++)
        missing[x] = f->label[first + (size_t)x] == UND_CELL_FULL ? missing[x] : 0;
    return und_most_size(missing + low, high - low);
}

/* The largest, or the first NaN. */
static double most_of_rows(const und_marker_flow *f)
{
    double most = 0;
    for (int row = 0; row < und_mac_rows(&f->mac) && !isnan(most); row++)
        most = f->parts->row_most[row] <= most ? most : f->parts->row_most[row];
    return most;
}

double und_marker_flow_divergence(const und_marker_flow *f)
{
    double per_cell[3];
    und_marker_flow_per_cell(f, 1, per_cell);
    PARALLEL_FOR(und_marker_flow_workers(f, (size_t)f->full))
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            f->parts->row_most[row] = row_divergence(f, row, per_cell);
    return most_of_rows(f);
}

void und_marker_flow_through(const und_marker_flow *f, double dt, und_wet_fn *wet, void *context, double *in,
                             double *out)
{
    *in = *out = 0;
    const und_marker_flow_parts *s = f->parts;
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        size_t cell = w->high ? w->at : w->at + (size_t)f->mac.step[w->axis];
        double area = f->mac.d[(w->axis + 1) % 3] * f->mac.d[(w->axis + 2) % 3];
        double leaving = (w->high ? 1 : -1) * f->u[w->axis][w->at] * area * dt;
        int place[3];
        und_marker_flow_place(&f->mac, cell, place);
        if (w->kind == UND_WALL_INFLOW && leaving < 0)
            *in -= leaving * wet(context, place, w->axis, true);
        else if (und_is_liquid(f->label[cell])) /* also where an inflow's velocity points out */
            *out += leaving * (f->label[cell] == UND_CELL_FULL ? 1 : wet(context, place, w->axis, false));
    }
}
