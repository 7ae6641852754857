#include "spray/sheet.h"

#include "base/maths.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_TEAR = 211, STREAM_FINGER };
enum { CHUNK = 1024 };
enum { FEW = 4 * CHUNK };            /* drops that are not worth waking threads for */
static const double ROW_TIME = 0.01; /* s */
static const double STRETCH = 5;     /* circumference of a quad that tears, relative to that at its birth */
static const double WIDEST = 4;      /* spread of the drops of a new quad, relative to its size */
static const double THINNEST = 0.4;  /* how thin the toughest quad gets, relative to sheet_tear */
static const double TENSION = 0.072, DENSITY = 1000; /* N/m, kg/m3: water */
static const double LONGEST = 2; /* edge of a new quad, relative to the reach of an impact */

und_sheets *und_sheets_create(const und_spray_def *def, uint64_t seed, int threads, und_error *err)
{
    und_sheets *s = und_pages_alloc(sizeof *s, "sheets", err);
    if (!s)
        return NULL;
    s->threads = threads;
    s->seed = seed;
    s->tear = def->sheet_tear;
    s->cohesion = def->sheet_cohesion;
    s->scatter = def->scatter;
    /* Three times the mean distance of the drops born in a row. */
    s->reach = def->rate > 0 ? 3 / sqrt(def->rate * ROW_TIME) : 0;
    size_t drops = (size_t)def->most;
    if (!(s->node = und_pages_alloc(drops * sizeof *s->node, "sheets", err)) ||
        !(s->share = und_pages_alloc(drops * sizeof *s->share, "sheets", err)) ||
        !(s->quad = und_pages_alloc(UND_SHEET_NODES, "sheets", err)) ||
        !(s->edge = und_pages_alloc(UND_SHEET_NODES * sizeof *s->edge, "sheets", err)) ||
        !(s->left = und_pages_alloc(UND_SHEET_NODES * sizeof *s->left, "sheets", err)) ||
        !(s->nodes = und_pages_alloc(UND_SHEET_NODES * sizeof *s->nodes, "sheets", err)) ||
        !(s->cells = und_pages_alloc(UND_SHEET_NEWBORN * sizeof *s->cells, "sheets", err)) ||
        !(s->table = und_pages_alloc(2 * UND_SHEET_NEWBORN * sizeof *s->table, "sheets", err))) {
        und_sheets_destroy(s);
        return NULL;
    }
    return s;
}

void und_sheets_destroy(und_sheets *s)
{
    if (!s)
        return;
    und_pages_free(s->node);
    und_pages_free(s->share);
    und_pages_free(s->quad);
    und_pages_free(s->edge);
    und_pages_free(s->left);
    und_pages_free(s->nodes);
    und_pages_free(s->cells);
    und_pages_free(s->table);
    und_pages_free(s);
}

void und_sheet_corners(const und_sheets *s, int slot, int row, int sector, int corner[4])
{
    corner[0] = und_sheet_at(slot, row, sector);
    corner[1] = und_sheet_next(s, corner[0]);
    corner[2] = corner[1] + UND_SHEET_SECTORS;
    corner[3] = corner[0] + UND_SHEET_SECTORS;
}

/* Half the cross product of the diagonals: exact where the quad is flat. */
double und_sheet_area(const und_sheets *s, const int corner[4])
{
    const double *p[4];
    for (int k = 0; k < 4; k++)
        p[k] = s->nodes[corner[k]].place;
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = p[2][k] - p[0][k];
        b[k] = p[3][k] - p[1][k];
    }
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    return fmax(0.5 * sqrt(x * x + y * y + z * z), 1e-12);
}

double und_sheet_thickness(const und_sheets *s, const int corner[4])
{
    double volume = 0;
    for (int k = 0; k < 4; k++)
        volume += s->nodes[corner[k]].volume / fmax(s->nodes[corner[k]].quads, 1);
    return volume / und_sheet_area(s, corner);
}

bool und_sheet_filled(const und_sheets *s, const int corner[4])
{
    return s->nodes[corner[0]].volume > 0 && s->nodes[corner[1]].volume > 0 &&
           s->nodes[corner[2]].volume > 0 && s->nodes[corner[3]].volume > 0;
}

/* Counts the quads around each node of an impact; with `filled`, only those that have all four nodes. */
static int count_quads(und_sheets *s, int slot, bool filled)
{
    int rows = und_impact_rows(&s->impact[slot]), sectors = (int)s->impact[slot].sectors, all = 0;
    for (int r = 0; r < rows; r++)
        for (int a = 0; a < sectors; a++)
            s->nodes[und_sheet_at(slot, r, a)].quads = 0;
    for (int r = 0; r + 1 < rows; r++)
        for (int a = 0; a < sectors; a++) {
            int corner[4];
            und_sheet_corners(s, slot, r, a, corner);
            if (s->quad[corner[0]] == UND_QUAD_NONE || (filled && !und_sheet_filled(s, corner)))
                continue;
            for (int k = 0; k < 4; k++)
                s->nodes[corner[k]].quads++;
            all++;
        }
    return all;
}

static int threads_for(const und_sheets *s, const und_spray *spray)
{
    return spray->count < FEW ? 1 : s->threads;
}

/* Adds a share of drop i to a node. */
static void add_share(und_sheet_node *node, const und_spray *spray, int i, double volume)
{
    node->volume += volume;
    node->squares += volume * volume;
    for (int a = 0; a < 3; a++) {
        node->place[a] += volume * spray->place[a][i];
        node->speed[a] += volume * spray->speed[a][i];
        node->spread += volume * spray->place[a][i] * spray->place[a][i];
        node->variety += volume * spray->speed[a][i] * spray->speed[a][i];
    }
}

static void divide_sums(und_sheet_node *node)
{
    node->spread /= node->volume;
    node->variety /= node->volume;
    for (int a = 0; a < 3; a++) {
        node->place[a] /= node->volume;
        node->speed[a] /= node->volume;
        node->spread -= node->place[a] * node->place[a];
        node->variety -= node->speed[a] * node->speed[a];
    }
    node->spread = sqrt(fmax(node->spread, 0));
    /* The mean of few is nearer to them than what they are samples of. */
    double others = 1 - node->squares / (node->volume * node->volume);
    node->variety = sqrt(fmax(node->variety, 0) / (others > 0.1 ? others : 1));
}

/* Means over the drops of each node, summed in the drops' order. */
static void measure_nodes(und_sheets *s, const und_spray *spray)
{
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        for (int r = 0; r < und_impact_rows(&s->impact[slot]); r++)
            memset(&s->nodes[und_sheet_at(slot, r, 0)], 0,
                   (size_t)s->impact[slot].sectors * sizeof *s->nodes);
    for (int i = 0; i < spray->count; i++) {
        if (s->node[i] < 0)
            continue;
        double volume = und_spray_volume(spray->radius[i]), share = s->share[i];
        add_share(&s->nodes[s->node[i]], spray, i, (1 - share) * volume);
        if (share > 0)
            add_share(&s->nodes[und_sheet_next(s, s->node[i])], spray, i, share * volume);
    }
    PARALLEL_FOR(threads_for(s, spray))
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        for (int r = 0; r < und_impact_rows(&s->impact[slot]); r++)
            for (int a = 0; a < (int)s->impact[slot].sectors; a++)
                if (s->nodes[und_sheet_at(slot, r, a)].volume > 0)
                    divide_sums(&s->nodes[und_sheet_at(slot, r, a)]);
}

/* Lengths of a quad's edges: their sum, and the longest. */
static double circumference(const und_sheets *s, const int corner[4], double *longest)
{
    double sum = 0;
    *longest = 0;
    for (int k = 0; k < 4; k++) {
        const double *p = s->nodes[corner[k]].place, *q = s->nodes[corner[(k + 1) & 3]].place;
        double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2], length = sqrt(x * x + y * y + z * z);
        sum += length;
        *longest = fmax(*longest, length);
    }
    return sum;
}

/* Whether drops of its nodes are so near to them that they make a sheet. */
static bool is_coherent(const und_sheets *s, const int corner[4], double size)
{
    bool coherent = true;
    for (int k = 0; k < 4; k++)
        coherent = coherent && s->nodes[corner[k]].spread <= WIDEST * size;
    return coherent;
}

/* A number from 0 to 1 of a quad, more alike along the water's flight than across it, so that rims leave
 * fingers. */
static double weakness(const und_sheets *s, int slot, int row, int sector)
{
    uint64_t finger = (uint64_t)s->impact[slot].number * UND_SHEET_SECTORS + (uint64_t)sector;
    uint64_t quad = finger * UND_SHEET_ROWS + (uint64_t)row;
    return 0.7 * und_random(s->seed, STREAM_FINGER, finger) + 0.3 * und_random(s->seed, STREAM_TEAR, quad);
}

/* Whether the sheet goes on at a quad: whole, or soon to be. */
static bool goes_on(const und_sheets *s, int slot, int row, int sector)
{
    int rows = und_impact_rows(&s->impact[slot]), sectors = (int)s->impact[slot].sectors;
    sector = (sector + sectors) % sectors;
    return row + 1 >= rows || /* there is the water it came from */
           (row >= 0 && s->quad[und_sheet_at(slot, row, sector)] != UND_QUAD_NONE);
}

/* What dt leaves of a quad: an edge runs at sqrt(2 tension / (density thickness)), from each side where the
 * sheet ends, and both ways from a hole where it got too thin. */
static float wear_quad(const und_sheets *s, int slot, int row, int sector, const int corner[4], double dt)
{
    double weak = weakness(s, slot, row, sector), thickness = und_sheet_thickness(s, corner);
    double speed = sqrt(2 * TENSION / (DENSITY * thickness));
    int edges = !goes_on(s, slot, row, sector - 1) + !goes_on(s, slot, row, sector + 1) +
                !goes_on(s, slot, row - 1, sector) + !goes_on(s, slot, row + 1, sector);
    if (edges == 4) /* alone it is a drop, not a sheet */
        return 0;
    if (thickness < s->tear * (THINNEST + (1 - THINNEST) * weak))
        edges += 2;
    return s->left[corner[0]] -
           (float)((0.4 + 1.2 * weak) * edges * speed * dt / sqrt(und_sheet_area(s, corner)));
}

/* Makes the new quads of an impact, and tears those that are worn or stretched or have lost a node. */
static void tear_quads(und_sheets *s, int slot, double reach, double dt)
{
    int rows = und_impact_rows(&s->impact[slot]), sectors = (int)s->impact[slot].sectors;
    for (int r = 0; r + 1 < rows; r++)
        for (int a = 0; a < sectors; a++) {
            int corner[4], quad = und_sheet_at(slot, r, a);
            if (s->quad[quad] == UND_QUAD_NONE)
                continue;
            und_sheet_corners(s, slot, r, a, corner);
            double longest, around = circumference(s, corner, &longest);
            bool torn = !und_sheet_filled(s, corner);
            if (s->quad[quad] == UND_QUAD_NEW) {
                s->edge[quad] = (float)around;
                s->left[quad] = 1;
                torn = torn || longest > LONGEST * reach || !is_coherent(s, corner, around / 4);
            }
            if (!torn)
                s->left[quad] = wear_quad(s, slot, r, a, corner, dt);
            torn = torn || around > STRETCH * s->edge[quad] || !(s->left[quad] > 0);
            s->quad[quad] = torn ? UND_QUAD_NONE : UND_QUAD_WHOLE;
            if (torn)
                s->left[quad] = 0;
        }
}

static bool whole(const und_sheets *s, int slot, int row, int sector)
{
    int rows = und_impact_rows(&s->impact[slot]), sectors = (int)s->impact[slot].sectors;
    sector = sector < 0 ? sector + sectors : sector;
    return row >= 0 && row + 1 < rows && s->quad[und_sheet_at(slot, row, sector)] == UND_QUAD_WHOLE;
}

/* What one neighbour does to a node: a quarter of what would make the two move alike, the same impulse for
 * both. */
static void exchange(und_sheet_node *node, const und_sheet_node *other, double blend)
{
    double part = 0.25 * blend * other->volume / (node->volume + other->volume);
    for (int a = 0; a < 3; a++)
        node->change[a] += part * (other->speed[a] - node->speed[a]);
}

/* Along edges of whole quads. */
static void exchange_all(und_sheets *s, int slot, double blend)
{
    int rows = und_impact_rows(&s->impact[slot]), sectors = (int)s->impact[slot].sectors;
    for (int r = 0; r < rows; r++)
        for (int a = 0; a < sectors; a++) {
            int at = und_sheet_at(slot, r, a), after = und_sheet_next(s, at);
            int before = a > 0 ? at - 1 : und_sheet_at(slot, r, sectors - 1);
            und_sheet_node *node = &s->nodes[at];
            bool here = whole(s, slot, r, a), left = whole(s, slot, r, a - 1);
            bool up = whole(s, slot, r - 1, a), up_left = whole(s, slot, r - 1, a - 1);
            if (here || up)
                exchange(node, &s->nodes[after], blend);
            if (left || up_left)
                exchange(node, &s->nodes[before], blend);
            if (here || left)
                exchange(node, node + UND_SHEET_SECTORS, blend);
            if (up || up_left)
                exchange(node, node - UND_SHEET_SECTORS, blend);
        }
}

/* A node of a row that may still get quads. */
static bool is_fresh(const und_sheets *s, int node)
{
    const und_impact *m = &s->impact[node / (UND_SHEET_ROWS * UND_SHEET_SECTORS)];
    int row = node / UND_SHEET_SECTORS % UND_SHEET_ROWS;
    return row + 1 == und_impact_rows(m) && s->row - m->row <= 1;
}

/* A drop whose node has no quad left goes over to its other node, or is free. */
static void settle_drops(und_sheets *s, und_spray *spray, int first, int end)
{
    for (int i = first; i < end; i++) {
        int node = s->node[i];
        if (node < 0)
            continue;
        int other = und_sheet_next(s, node);
        bool held = s->nodes[node].quads > 0 || is_fresh(s, node);
        bool other_held = s->share[i] > 0 && (s->nodes[other].quads > 0 || is_fresh(s, other));
        if (held && other_held)
            continue;
        s->share[i] = 0;
        s->node[i] = held ? node : other;
        if (!held && !other_held)
            und_sheets_free_drop(s, spray, i);
    }
}

/* The sheet's normal at a node, from its neighbours. */
static void find_normal(und_sheets *s, int slot, int row, int sector)
{
    int at = und_sheet_at(slot, row, sector), sectors = (int)s->impact[slot].sectors;
    int rows = und_impact_rows(&s->impact[slot]);
    und_sheet_node *node = &s->nodes[at];
    const und_sheet_node *around[4] = {&s->nodes[und_sheet_at(slot, row, (sector + sectors - 1) % sectors)],
                                       &s->nodes[und_sheet_next(s, at)],
                                       row > 0 ? node - UND_SHEET_SECTORS : node,
                                       row + 1 < rows ? node + UND_SHEET_SECTORS : node};
    for (int k = 0; k < 4; k++)
        if (around[k]->quads == 0)
            around[k] = node;
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = around[1]->place[k] - around[0]->place[k];
        b[k] = around[3]->place[k] - around[2]->place[k];
    }
    double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3 && size > 0; k++)
        node->normal[k] = n[k] / size;
}

static void find_normals(und_sheets *s, int slot)
{
    for (int r = 0; r < und_impact_rows(&s->impact[slot]); r++)
        for (int a = 0; a < (int)s->impact[slot].sectors; a++)
            if (s->nodes[und_sheet_at(slot, r, a)].quads > 0)
                find_normal(s, slot, r, a);
}

/* Drops beside the sheet come to it. */
static void flatten(const und_sheet_node *node, und_spray *spray, int i, double part)
{
    double off = 0;
    for (int k = 0; k < 3; k++)
        off += node->normal[k] * (spray->place[k][i] - node->place[k]);
    for (int k = 0; k < 3; k++)
        spray->place[k][i] -= (float)(part * off * node->normal[k]);
}

/* Drops come to move as their node does, and with it. */
static void move_alike(const und_sheets *s, und_spray *spray, int first, int end, double blend)
{
    for (int i = first; i < end; i++) {
        if (s->node[i] < 0)
            continue;
        const und_sheet_node *a = &s->nodes[s->node[i]], *b = &s->nodes[und_sheet_next(s, s->node[i])];
        double of_a = a->quads > 0 ? 1 - (double)s->share[i] : 0, of_b = b->quads > 0 ? s->share[i] : 0;
        for (int k = 0; k < 3; k++) {
            double v = spray->speed[k][i];
            v += of_a * (blend * (a->speed[k] - v) + a->change[k]) +
                 of_b * (blend * (b->speed[k] - v) + b->change[k]);
            spray->speed[k][i] = (float)v;
        }
        flatten(s->share[i] < 0.5f ? a : b, spray, i, s->share[i] < 0.5f ? blend * of_a : blend * of_b);
    }
}

static void settle_all(und_sheets *s, und_spray *spray)
{
    int quads[UND_SHEET_IMPACTS], chunks = (spray->count + CHUNK - 1) / CHUNK;
    PARALLEL_FOR(threads_for(s, spray))
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        quads[slot] = count_quads(s, slot, false);
    PARALLEL_FOR(threads_for(s, spray))
    for (int c = 0; c < chunks; c++)
        settle_drops(s, spray, c * CHUNK, c + 1 < chunks ? (c + 1) * CHUNK : spray->count);
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        if (quads[slot] == 0 && s->row - s->impact[slot].row > 1)
            s->impact[slot].number = 0; /* nobody is left in it */
}

void und_sheets_step(und_sheets *s, und_spray *spray, double dt, double dx)
{
    int chunks = (spray->count + CHUNK - 1) / CHUNK;
    double blend = -und_expm1(-s->cohesion * dt), reach = fmax(s->reach, 3 * dx);
    s->row_age += dt;
    if (s->row_age >= 0.999 * ROW_TIME) {
        und_sheets_join(s, spray, und_sheets_close_row(s, spray, dx));
        s->row_age = 0;
    }
    settle_all(s, spray);
    measure_nodes(s, spray);
    PARALLEL_FOR(threads_for(s, spray))
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++) {
        count_quads(s, slot, true);
        tear_quads(s, slot, reach, dt);
        count_quads(s, slot, true);
        exchange_all(s, slot, blend);
        find_normals(s, slot);
    }
    PARALLEL_FOR(threads_for(s, spray))
    for (int c = 0; c < chunks; c++)
        move_alike(s, spray, c * CHUNK, c + 1 < chunks ? (c + 1) * CHUNK : spray->count, blend);
}

void und_sheets_measure(und_sheets *s, const und_spray *spray)
{
    measure_nodes(s, spray);
    PARALLEL_FOR(threads_for(s, spray))
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        count_quads(s, slot, true);
}
