#include "bodies/hull.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

enum { FEWEST = 4, LINES = 3 }; /* nodes across the thinnest side; lines across a node */

/* The lattice: its cells are about cubes. */
typedef struct lattice {
    int n[3];
    double low[3], d[3];
} lattice;

static lattice lattice_of(const und_shape *shape, int across)
{
    und_bounds b = und_shape_bounds(shape);
    und_vec3 size = und_sub(b.high, b.low);
    const double length[3] = {size.x, size.y, size.z};
    double side = fmax(size.x, fmax(size.y, size.z)) / across;
    lattice l = {.low = {b.low.x, b.low.y, b.low.z}};
    for (int k = 0; k < 3; k++) {
        l.n[k] = (int)fmin(fmax(ceil(length[k] / side - 1e-9), FEWEST), fmax(across, FEWEST));
        l.d[k] = length[k] / l.n[k];
    }
    return l;
}

/* What of the shape is in a cell of the lattice, from lines along x that are cut exactly. */
static und_node node_of(const und_shape *shape, const lattice *l, int x, int y, int z)
{
    double volume = 0, low = x * l->d[0], high = (x + 1) * l->d[0];
    und_vec3 moment = {0, 0, 0};
    for (int i = 0; i < LINES * LINES; i++) {
        double first, dy = (y + (i % LINES + 0.5) / LINES) * l->d[1],
                      dz = (z + (i / LINES + 0.5) / LINES) * l->d[2];
        und_vec3 origin = und_vec(l->low[0], l->low[1] + dy, l->low[2] + dz);
        double length = und_shape_line(shape, origin, und_vec(1, 0, 0), low, high, &first);
        und_vec3 at = und_add(origin, und_vec(fmin(first + 0.5 * length, high), 0, 0));
        volume += length;
        moment = und_add(moment, und_mul(at, length));
    }
    return (und_node){und_mul(moment, volume > 0 ? 1 / volume : 0), volume};
}

/* What the lattice misses is made good: the nodes have the body's volume, and their centre is that of the
 * volume, so that under water a body of one density is in balance. */
static void balance(und_hull *hull, double volume, und_vec3 center)
{
    double sum = 0;
    und_vec3 moment = {0, 0, 0};
    for (int i = 0; i < hull->count; i++) {
        sum += hull->nodes[i].volume;
        moment = und_add(moment, und_mul(hull->nodes[i].at, hull->nodes[i].volume));
    }
    und_vec3 shift = und_sub(center, und_mul(moment, 1 / sum));
    for (int i = 0; i < hull->count; i++) {
        hull->nodes[i].volume *= volume / sum;
        hull->nodes[i].at = und_add(hull->nodes[i].at, shift);
    }
}

und_status und_hull_open(und_hull *hull, const und_shape *shape, double volume, und_vec3 middle, int across,
                         und_error *err)
{
    lattice l = lattice_of(shape, across);
    size_t most = (size_t)l.n[0] * (size_t)l.n[1] * (size_t)l.n[2];
    hull->half = und_vec(0.5 * l.d[0], 0.5 * l.d[1], 0.5 * l.d[2]);
    hull->nodes = und_alloc(most, sizeof *hull->nodes, "the nodes of a floating body", err);
    if (!hull->nodes)
        return err->status;
    for (int z = 0; z < l.n[2]; z++)
        for (int y = 0; y < l.n[1]; y++)
            for (int x = 0; x < l.n[0]; x++) {
                und_node node = node_of(shape, &l, x, y, z);
                if (node.volume > 0)
                    hull->nodes[hull->count++] = node;
            }
    if (hull->count == 0) /* too thin for the lattice */
        hull->nodes[hull->count++] = (und_node){und_vec(0, 0, 0), volume};
    balance(hull, volume, middle);
    return UND_OK;
}

void und_hull_close(und_hull *hull)
{
    free(hull->nodes);
}

/* ---- boxes ---- */

und_status und_blocks_open(und_blocks *b, const und_flow_sample_grid *g, und_error *err)
{
    b->taken = und_alloc((size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2], 1, "solid cells", err);
    return b->taken ? UND_OK : err->status;
}

void und_blocks_close(und_blocks *b)
{
    free(b->taken);
    free(b->boxes);
}

/* Cells [low, high) along each axis. */
typedef struct block {
    int low[3], high[3];
} block;

static bool all_solid(const und_blocks *b, const und_flow_sample_grid *g, const uint8_t *label,
                      const block *of)
{
    for (int z = of->low[2]; z < of->high[2]; z++)
        for (int y = of->low[1]; y < of->high[1]; y++)
            for (int x = of->low[0]; x < of->high[0]; x++) {
                size_t at = ((size_t)z * (size_t)g->n[1] + (size_t)y) * (size_t)g->n[0] + (size_t)x;
                if (label[at] != UND_CELL_SOLID || b->taken[at])
                    return false;
            }
    return true;
}

/* Along x, then z, then y, as far as it goes. */
static block grow(const und_blocks *b, const und_flow_sample_grid *g, const uint8_t *label, const int at[3])
{
    static const int order[3] = {0, 2, 1};
    block of = {.low = {at[0], at[1], at[2]}, .high = {at[0] + 1, at[1] + 1, at[2] + 1}};
    for (int i = 0; i < 3; i++) {
        int k = order[i];
        for (block more = of; of.high[k] < g->n[k]; of.high[k]++) {
            more.low[k] = of.high[k];
            more.high[k] = of.high[k] + 1;
            if (!all_solid(b, g, label, &more))
                break;
        }
    }
    return of;
}

static void take(und_blocks *b, const und_flow_sample_grid *g, const block *of)
{
    for (int z = of->low[2]; z < of->high[2]; z++)
        for (int y = of->low[1]; y < of->high[1]; y++)
            memset(b->taken + ((size_t)z * (size_t)g->n[1] + (size_t)y) * (size_t)g->n[0] + of->low[0], 1,
                   (size_t)(of->high[0] - of->low[0]));
}

static und_bounds bounds_of(const und_flow_sample_grid *g, const block *of)
{
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = g->origin[k] + of->low[k] * g->d[k];
        high[k] = g->origin[k] + of->high[k] * g->d[k];
    }
    if (g->n[2] == 1) { /* without end across a plane flow */
        double far = 1e3 * (g->n[0] * g->d[0] + g->n[1] * g->d[1]);
        low[2] -= far;
        high[2] += far;
    }
    return (und_bounds){und_vec(low[0], low[1], low[2]), und_vec(high[0], high[1], high[2])};
}

static und_status add(und_blocks *b, und_bounds box, und_error *err)
{
    if (b->count == b->limit) {
        int limit = 2 * b->limit + 64;
        und_bounds *more = realloc(b->boxes, (size_t)limit * sizeof *more);
        if (!more)
            return und_error_set(err, UND_FAILED, "out of memory: %d boxes of solid cells", limit);
        b->boxes = more;
        b->limit = limit;
    }
    b->boxes[b->count++] = box;
    return UND_OK;
}

und_status und_blocks_make(und_blocks *b, const und_flow_sample_grid *g, const uint8_t *label, und_error *err)
{
    size_t at = 0;
    b->count = 0;
    memset(b->taken, 0, (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2]);
    for (int z = 0; z < g->n[2]; z++)
        for (int y = 0; y < g->n[1]; y++)
            for (int x = 0; x < g->n[0]; x++, at++) {
                if (label[at] != UND_CELL_SOLID || b->taken[at])
                    continue;
                block of = grow(b, g, label, (const int[3]){x, y, z});
                take(b, g, &of);
                if (add(b, bounds_of(g, &of), err) != UND_OK)
                    return err->status;
            }
    return UND_OK;
}
