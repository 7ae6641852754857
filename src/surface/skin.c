#include "surface/skin.h"

#include "base/parallel.h"
#include "base/status.h"
#include "geom/vec.h"
#include "surface/enclose.h"
#include "surface/skin_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    COLORS = 3, /* layers of cells so far apart write to different planes of points */
    REACH = 2,  /* points within a cell */
    SUPPORT = 4 /* points along an axis that a marker reaches */
};
static const double FULL_LEVEL = 0.5; /* the filling that the surface of much liquid has */
static const double OF_PEAK = 0.7; /* of the most within a cell, where that is less: thin sheets stay whole */
static const double FARTHEST = 0.8;     /* of the least filling: how far the surface moves to show a volume */
static const double FARTHEST_IN = 0.03; /* of the filling: thin sheets stay whole */
static const double OUTSIDE = 1000;     /* cells */
static const double SOLID_OPEN = 0.125; /* what is open half a cell inside a flat wall */

/* How the cells look around which the points are. */
typedef enum kind { EMPTY, PARTIAL, INNER, SOLID } kind; /* with liquid: at the surface, or Full */

static kind kind_of(const und_skin *k, const int cell[3])
{
    const und_mac *m = &k->markers->mac;
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return SOLID;
    size_t i = und_mac_at(m, cell[0], cell[1], cell[2]);
    if (k->label[i] == UND_CELL_SOLID)
        return SOLID;
    if (k->label[i] == UND_CELL_FULL)
        return INNER;
    return k->count[i] > 0 || k->label[i] != UND_CELL_EMPTY ? PARTIAL : EMPTY;
}

typedef bool cell_fn(const und_skin *k, size_t cell);

static bool is_inner_or_solid(const und_skin *k, size_t cell)
{
    return k->kind[cell] == INNER || k->kind[cell] == SOLID;
}
static bool is_full_or_solid(const und_skin *k, size_t cell)
{
    return k->full[cell] || k->kind[cell] == SOLID;
}

/* Whether all cells within so many of one, across corners too, are known to be so. */
static bool all_around(const und_skin *k, const int at[3], int within, cell_fn *is_so)
{
    for (int a = 0; a < 3; a++)
        if (at[a] < within || at[a] >= k->known[a] - within)
            return false;
    for (int z = at[2] - within; z <= at[2] + within; z++)
        for (int y = at[1] - within; y <= at[1] + within; y++)
            for (int x = at[0] - within; x <= at[0] + within; x++)
                if (!is_so(k, und_skin_cell(k, (const int[3]){x, y, z})))
                    return false;
    return true;
}

/* Markers per cell, and the box of cells that hold liquid.  False: there is none. */
static bool find_box(und_skin *k)
{
    const und_markers *s = k->markers;
    const und_mac *m = &s->mac;
    int low[3] = {m->n[0], m->n[1], m->n[2]}, high[3] = {-1, -1, -1};
    for (int i = 0; i < s->count; i++)
        k->count[und_markers_cell(s, i)]++;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < m->n[0]; x++) {
            const int cell[3] = {x, row % m->n[1], row / m->n[1]};
            kind is = kind_of(k, cell);
            if (is == EMPTY || is == SOLID)
                continue;
            for (int a = 0; a < 3; a++) {
                low[a] = cell[a] < low[a] ? cell[a] : low[a];
                high[a] = cell[a] > high[a] ? cell[a] : high[a];
            }
        }
    for (int a = 0; a < 3; a++) {
        int cells = high[a] - low[a] + 3; /* one more on each side */
        k->low[a] = low[a] - 1;
        k->known[a] = cells + 2 * UND_SKIN_MARGIN;
        k->lattice.n[a] = 2 * cells + 3; /* from half a cell before to half a cell behind */
        k->lattice.d[a] = 0.5 * m->d[a];
        k->lattice.origin[a] = m->origin[a] + (k->low[a] - 0.5) * m->d[a];
    }
    return high[0] >= 0;
}

static void find_kinds(und_skin *k)
{
    PARALLEL_FOR(k->threads)
    for (int z = 0; z < k->known[2]; z++)
        for (int y = 0; y < k->known[1]; y++)
            for (int x = 0; x < k->known[0]; x++) {
                const int cell[3] = {k->low[0] - UND_SKIN_MARGIN + x, k->low[1] - UND_SKIN_MARGIN + y,
                                     k->low[2] - UND_SKIN_MARGIN + z};
                k->kind[und_skin_cell(k, (const int[3]){x, y, z})] = (uint8_t)kind_of(k, cell);
            }
}

/* Which Full cells have nothing but such around them, and which are so far inside that all points that see
 * them see nothing but such. */
static void find_full(und_skin *k)
{
    for (int pass = 0; pass < 2; pass++) {
        PARALLEL_FOR(k->threads)
        for (int z = 0; z < k->known[2]; z++)
            for (int y = 0; y < k->known[1]; y++)
                for (int x = 0; x < k->known[0]; x++) {
                    const int at[3] = {x, y, z};
                    size_t i = und_skin_cell(k, at);
                    if (pass == 0)
                        k->full[i] = k->kind[i] == INNER && all_around(k, at, 1, is_inner_or_solid);
                    else
                        k->buried[i] = k->full[i] && all_around(k, at, 2, is_full_or_solid);
                }
    }
}

/* The hat's value at the SUPPORT points around a place (in cells from the lattice's first cell); the first of
 * them. */
static int hat_at(double place, float weight[SUPPORT])
{
    double t = 2 * place + 1; /* in points */
    int first = (int)floor(t) - 1;
    for (int i = 0; i < SUPPORT; i++)
        weight[i] = (float)und_larger(0, 1 - 0.5 * fabs(t - first - i));
    return first;
}

/* `fills` of a cell at a place in cells, seen through the hat. */
static void splat(und_skin *k, const double cells[3], double fills)
{
    float weight[3][SUPPORT];
    int first[3];
    const int *n = k->lattice.n;
    for (int a = 0; a < 3; a++)
        first[a] = hat_at(cells[a] - k->low[a], weight[a]);
    for (int z = 0; z < SUPPORT; z++)
        for (int y = 0; y < SUPPORT; y++) {
            float share = (float)fills * weight[2][z] * weight[1][y];
            size_t row = ((size_t)(first[2] + z) * (size_t)n[1] + (size_t)(first[1] + y)) * (size_t)n[0];
            for (int x = 0; x < SUPPORT; x++)
                k->filled[row + (size_t)(first[0] + x)] += share * weight[0][x];
        }
}

/* What one of the markers of a cell fills: all of it together where liquid is all around, else its share, and
 * where they crowd no more than the cell. */
static double share_of(const und_skin *k, int i, size_t local)
{
    size_t cell = und_markers_cell(k->markers, i);
    if (k->full[local])
        return 1.0 / k->count[cell];
    return k->markers->share[i] / und_larger(1, und_markers_density(k->markers, cell));
}

/* A cell that holds liquid without markers: spread over it. */
static void splat_holes(und_skin *k, int z)
{
    const und_mac *m = &k->markers->mac;
    for (int y = 0; y < m->n[1]; y++)
        for (int x = 0; x < m->n[0]; x++) {
            size_t i = und_mac_at(m, x, y, z);
            if (k->count[i] > 0 || k->label[i] == UND_CELL_SOLID || k->label[i] == UND_CELL_EMPTY)
                continue;
            for (int c = 0; c < 8; c++) {
                const double cells[3] = {x + 0.25 + 0.5 * (c & 1), y + 0.25 + 0.5 * (c >> 1 & 1),
                                         z + 0.25 + 0.5 * (c >> 2)};
                splat(k, cells, 0.125);
            }
        }
}

static int layer_of(const und_markers *s, int i)
{
    return und_markers_inside(&s->mac, 2, (s->place[2][i] - s->mac.origin[2]) * s->scratch->per[2]);
}

/* Markers in the order of their layers of cells along z. */
static void sort_by_layers(und_skin *k)
{
    const und_markers *s = k->markers;
    int layers = s->mac.n[2];
    for (int i = 0; i < s->count; i++)
        k->layer[layer_of(s, i) + 1]++;
    for (int z = 0; z < layers; z++)
        k->layer[z + 1] += k->layer[z];
    for (int i = 0; i < s->count; i++)
        k->order[k->layer[layer_of(s, i)]++] = i;
    for (int z = layers; z > 0; z--) /* from ends back to beginnings */
        k->layer[z] = k->layer[z - 1];
    k->layer[0] = 0;
}

/* Layer by layer, so that each point's sum is made in the same order at any number of threads. */
static void splat_all(und_skin *k)
{
    const und_markers *s = k->markers;
    int layers = s->mac.n[2];
    sort_by_layers(k);
    for (int color = 0; color < COLORS; color++) {
        PARALLEL_FOR(k->threads)
        for (int z = color; z < layers; z += COLORS) {
            for (int j = k->layer[z]; j < k->layer[z + 1]; j++) {
                int i = k->order[j];
                const double place[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
                double cells[3];
                und_markers_cells(s, place, cells);
                size_t local = und_skin_holder(k, cells);
                if (!k->buried[local])
                    splat(k, cells, share_of(k, i, local));
            }
            splat_holes(k, z);
        }
    }
}

/* What a point sees of cells along an axis: those before and behind a side, or one around its middle. */
static int seen_cells(int point, double part[3])
{
    static const double side[3] = {0.5, 0.5, 0}, middle[3] = {0.125, 0.75, 0.125};
    memcpy(part, point % 2 ? side : middle, 3 * sizeof *part);
    return point % 2 ? (point - 1) / 2 - 1 + UND_SKIN_MARGIN : point / 2 - 2 + UND_SKIN_MARGIN;
}

/* How much of what a point sees is not solid; and whether it sees nothing but liquid. */
static double open_at(const und_skin *k, const int point[3], bool *deep)
{
    double part[3][3], open = 0;
    int first[3];
    *deep = true;
    for (int a = 0; a < 3; a++)
        first[a] = seen_cells(point[a], part[a]);
    for (int i = 0; i < 27; i++) {
        int x = i % 3, y = i / 3 % 3, z = i / 9;
        double share = part[0][x] * part[1][y] * part[2][z];
        if (share == 0)
            continue;
        size_t cell = und_skin_cell(k, (const int[3]){first[0] + x, first[1] + y, first[2] + z});
        open += k->kind[cell] == SOLID ? 0 : share;
        *deep &= k->kind[cell] == SOLID || k->full[cell];
    }
    return open;
}

/* What is open at each point; and there as much is filled, where there is nothing but liquid around. */
static void find_open(und_skin *k)
{
    const int *n = k->lattice.n;
    PARALLEL_FOR(k->threads)
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                size_t i = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
                bool deep;
                k->open[i] = (float)open_at(k, (const int[3]){x, y, z}, &deep);
                k->filled[i] = deep ? k->open[i] : k->filled[i];
            }
}

/* What a line of points has, seen with weights 1, 2, 1; in place. */
static void smooth_line(float *v, int count, size_t step)
{
    float before = v[0];
    for (int i = 0; i < count; i++) {
        float own = v[(size_t)i * step], behind = i + 1 < count ? v[(size_t)(i + 1) * step] : own;
        v[(size_t)i * step] = 0.25F * before + 0.5F * own + 0.25F * behind;
        before = own;
    }
}

typedef void line_fn(float *v, int count, size_t step);

/* Along all lines of points, axis by axis. */
static void for_lines(const und_skin *k, float *field, line_fn *fn)
{
    const int *n = k->lattice.n;
    const size_t step[3] = {1, (size_t)n[0], (size_t)n[0] * (size_t)n[1]};
    for (int a = 0; a < 3; a++) {
        int u = a == 0 ? 1 : 0, v = a == 2 ? 1 : 2; /* lines beside each other are neighbours along u */
        PARALLEL_FOR(k->threads)
        for (int j = 0; j < n[v]; j++)
            for (int i = 0; i < n[u]; i++)
                fn(field + (size_t)i * step[u] + (size_t)j * step[v], n[a], step[a]);
    }
}

/* From what is filled to the part of what is open. */
static void find_parts(und_skin *k)
{
    size_t count = und_lattice_count(&k->lattice);
    for (size_t i = 0; i < count; i++) {
        float part = k->open[i] > 0 ? k->filled[i] / k->open[i] : 0;
        k->level[i] = k->filled[i] = part < 1 ? part : 1;
    }
}

/* The largest within REACH points along a line of points. */
static void widen_line(float *v, int count, size_t step)
{
    float before[REACH] = {0};
    for (int i = 0; i < count; i++) {
        float own = v[(size_t)i * step], most = own;
        for (int k = 0; k < REACH; k++) {
            most = before[k] > most ? before[k] : most;
            if (i + k + 1 < count && v[(size_t)(i + k + 1) * step] > most)
                most = v[(size_t)(i + k + 1) * step];
        }
        before[1] = before[0];
        before[0] = own;
        v[(size_t)i * step] = most;
    }
}

/* The least filling that is surface in the open; less is drops. */
static double least_level(const und_skin *k)
{
    return und_larger(0.12, und_smaller(0.4, 3.0 / k->per_cell));
}

/* The filling that is the surface, at each point. */
static void find_level(und_skin *k)
{
    for_lines(k, k->level, widen_line);
    double least = least_level(k);
    size_t count = und_lattice_count(&k->lattice);
    for (size_t i = 0; i < count; i++) {
        double some = least / und_larger(SOLID_OPEN, (double)k->open[i]);
        double level = und_larger(some, OF_PEAK * (double)k->level[i]);
        k->level[i] = (float)und_smaller(FULL_LEVEL, level);
    }
}

/* The distance from the surface in cells, about: where less is filled than the level, and too deep in what is
 * solid.  Points outside of the domain are so far away that the surface is at those on its sides, where it
 * goes on to the very edge. */
static void find_distance(und_skin *k)
{
    const int *n = k->lattice.n, *cells = k->markers->mac.n;
    PARALLEL_FOR(k->threads)
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const int point[3] = {x, y, z};
                size_t i = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
                double distance = FULL_LEVEL * (1 - (double)k->filled[i] / (double)k->level[i]);
                distance = und_larger(distance, 2 * (SOLID_OPEN - (double)k->open[i]));
                for (int a = 0; a < 3; a++) {
                    int halves = 2 * k->low[a] + point[a] - 1;
                    distance = halves < 0 || halves > 2 * cells[a] ? OUTSIDE : distance;
                }
                k->level[i] = (float)distance;
            }
}

/* Does the box of the lattice that begins at a point lie in what is open? */
static bool box_counts(const und_skin *k, int x, int y, int z)
{
    const int point[3] = {x, y, z};
    int at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = (point[a] + 1) / 2 - 1 + UND_SKIN_MARGIN;
        if (point[a] + 1 >= k->lattice.n[a])
            return false;
    }
    return k->kind[und_skin_cell(k, at)] != SOLID;
}

/* The piece of the skin that a marker lies in, or within a cell of, or -1. */
static int32_t piece_at(const und_skin *k, const und_enclosing *e, int i)
{
    const und_markers *s = k->markers;
    const double place[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
    const int *n = k->lattice.n;
    double cells[3];
    int32_t piece = -1;
    und_markers_cells(s, place, cells);
    for (int reach = 0; reach <= REACH && piece < 0; reach++) {
        int low[3], high[3];
        for (int a = 0; a < 3; a++) {
            int point = (int)und_larger(0, 2 * (cells[a] - k->low[a]) + 1.5);
            low[a] = point > reach ? point - reach : 0;
            high[a] = point + reach < n[a] ? point + reach : n[a] - 1;
        }
        for (int z = low[2]; z <= high[2] && piece < 0; z++)
            for (int y = low[1]; y <= high[1] && piece < 0; y++)
                for (int x = low[0]; x <= high[0] && piece < 0; x++)
                    piece = e->piece[((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x];
    }
    return piece;
}

/* Each piece shows what its markers stand for, less what is drawn as drops. */
static und_status show_volumes(und_skin *k, und_error *err)
{
    const und_markers *s = k->markers;
    const int *n = k->lattice.n;
    const double cell = s->mac.d[0] * s->mac.d[1] * s->mac.d[2];
    uint8_t *counts = (uint8_t *)k->open; /* which is not needed any more */
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                counts[((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x] =
                    box_counts(k, x, y, z);
    und_enclosing e = {.lattice = k->lattice,
                       .field = k->level,
                       .counts = counts,
                       .out = FARTHEST * least_level(k),
                       .in = FARTHEST_IN,
                       .threads = k->threads};
    und_status status = und_enclose_open(&e, err);
    for (int i = 0; status == UND_OK && i < s->count; i++) {
        int32_t piece = piece_at(k, &e, i);
        if (piece >= 0)
            e.volume[piece] += cell * s->share[i] * (1 - und_skin_alone(k, i));
        else
            und_skin_set_alone(k, i);
    }
    status = status == UND_OK ? und_enclose(&e, err) : status;
    und_enclose_close(&e);
    return status;
}

static void close_skin(und_skin *k)
{
    free(k->count);
    free(k->kind);
    free(k->full);
    free(k->buried);
    free(k->layer);
    free(k->order);
    free(k->filled);
    free(k->open);
    free(k->level);
}

static und_status open_points(und_skin *k, und_error *err)
{
    size_t known = (size_t)k->known[0] * (size_t)k->known[1] * (size_t)k->known[2];
    size_t points = und_lattice_count(&k->lattice);
    if (!(k->kind = und_alloc(known, 1, "a skin's cells", err)) ||
        !(k->full = und_alloc(known, 1, "a skin's cells", err)) ||
        !(k->buried = und_alloc(known, 1, "a skin's cells", err)) ||
        !(k->layer = und_alloc((size_t)k->markers->mac.n[2] + 1, sizeof *k->layer, "a skin's layers", err)) ||
        !(k->order = und_alloc((size_t)k->markers->count, sizeof *k->order, "a skin's markers", err)) ||
        !(k->filled = und_alloc(points, sizeof *k->filled, "a skin's points", err)) ||
        !(k->open = und_alloc(points, sizeof *k->open, "a skin's points", err)) ||
        !(k->level = und_alloc(points, sizeof *k->level, "a skin's points", err)))
        return err->status;
    return UND_OK;
}

und_status und_skin_make(const und_markers *markers, int per_cell, const uint8_t *label, und_isosurface *out,
                         und_error *err)
{
    und_skin k = {
        .markers = markers, .label = label, .per_cell = per_cell, .threads = markers->device.threads};
    und_status status = UND_FAILED;
    *out = (und_isosurface){0};
    k.count = und_alloc(markers->mac.count, sizeof *k.count, "markers per cell", err);
    if (k.count && !find_box(&k))
        status = UND_OK; /* no liquid, no skin */
    else if (k.count && open_points(&k, err) == UND_OK) {
        und_isosurface bulk = {0};
        find_kinds(&k);
        find_full(&k);
        splat_all(&k);
        find_open(&k);
        for_lines(&k, k.filled, smooth_line);
        for_lines(&k, k.open, smooth_line);
        find_parts(&k);
        find_level(&k);
        und_skin_find_drops(&k);
        find_distance(&k);
        status = show_volumes(&k, err);
        if (status == UND_OK)
            status = und_isosurface_make(&k.lattice, k.level, k.threads, &bulk, err);
        if (status == UND_OK)
            status = und_skin_add_drops(&k, &bulk, out, err);
        und_isosurface_free(&bulk);
    }
    close_skin(&k);
    return status;
}
