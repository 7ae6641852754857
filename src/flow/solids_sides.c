/* A surface beside walls thinner than a cell is followed on its own side of them: values across such a wall
 * are not seen (as Guendelman, Selle, Losasso & Fedkiw 2005 do it at shells), where "across" is what no way
 * over open faces leads to. */
#include "flow/solids_parts.h"

#include "grid/sample.h"

#include <math.h>
#include <string.h>

enum { MOST = 4, SIDE = MOST + 2, VOLUME = SIDE * SIDE * SIDE }; /* cells: the longest way back, and a box */
static const float NEAR = 5;                                     /* cells: from walls to what may see them */
static const double ENOUGH =
    0.25; /* of the weights of values around a place: those seen make up for others */
static const double NOTHING = 1e-6;
static const float HALF = 0.5f, THREE_QUARTERS = 0.75f; /* cells: from a cell to a wall beside it */
static const float LEAST = 1e-6f;                       /* cells: the side stays known */

static uint8_t *row_mark(const und_solids *s, int y, int z)
{
    return &s->parts->thin_rows[(z + 1) * (s->mac.n[1] + 2) + y + 1];
}

static bool inside(const und_mac *m, int axis, int x)
{
    return x >= 0 && x < m->n[axis];
}

/* Whether a row within so many of this one has a cell at a thin wall. */
static bool rows_near(const und_solids *s, int y, int z, int reach)
{
    const und_mac *m = &s->mac;
    for (int dz = -reach; dz <= reach; dz++)
        for (int dy = -reach; dy <= reach; dy++)
            if (inside(m, 1, y + dy) && inside(m, 2, z + dz) && *row_mark(s, y + dy, z + dz))
                return true;
    return false;
}

/* Which rows have cells at thin walls, and which cells are beside such. */
static void mark_row(const und_solids *s, int y, int z)
{
    const und_mac *m = &s->mac;
    const uint8_t *thin = s->parts->thin + und_mac_at(m, 0, y, z);
    uint8_t any = 0;
    for (int x = 0; x < m->n[0]; x++)
        any |= thin[x];
    *row_mark(s, y, z) = any;
}

static void mark_beside(und_solids *s, int y, int z)
{
    const und_mac *m = &s->mac;
    uint8_t *beside = s->beside_thin + und_mac_at(m, 0, y, z);
    memset(beside, 0, (size_t)m->n[0]);
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++) {
            if (!inside(m, 1, y + dy) || !inside(m, 2, z + dz) || !*row_mark(s, y + dy, z + dz))
                continue;
            const uint8_t *thin = s->parts->thin + und_mac_at(m, 0, y + dy, z + dz);
            for (int x = 0; x < m->n[0]; x++)
                beside[x] |=
                    (uint8_t)(thin[x] != 0 || (x > 0 && thin[x - 1]) || (x + 1 < m->n[0] && thin[x + 1]));
        }
}

void und_solids_mark_sides(und_solids *s, const und_cell_box *b)
{
    const int *n = s->mac.n;
    int low[3] = {0}, high[3] = {0};
    for (int a = 1; a < 3; a++) {
        low[a] = b->low[a] > 0 ? b->low[a] : 0;
        high[a] = b->high[a] < n[a] ? b->high[a] : n[a];
    }
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++)
            mark_row(s, y, z);
    for (int z = low[2] - 1; z <= high[2]; z++)
        for (int y = low[1] - 1; y <= high[1]; y++)
            if (inside(&s->mac, 1, y) && inside(&s->mac, 2, z))
                mark_beside(s, y, z);
}

/* ---- Following ---- */

/* Cells from low on, size of them along each axis, and which of them a cell can be reached from. */
typedef struct flood {
    int low[3], size[3];
    bool seen[VOLUME];
    bool thin; /* a thin wall is among them */
} flood;

static int number_in(const flood *f, const int cell[3])
{
    return ((cell[2] - f->low[2]) * SIDE + cell[1] - f->low[1]) * SIDE + cell[0] - f->low[0];
}

static bool has(const flood *f, const int cell[3])
{
    for (int a = 0; a < 3; a++)
        if (cell[a] < f->low[a] || cell[a] >= f->low[a] + f->size[a])
            return false;
    return true;
}

static void flood_from(flood *f, const und_solids *s, const int cell[3])
{
    const und_mac *m = &s->mac;
    int list[VOLUME][3], count = 1;
    memset(f->seen, 0, sizeof f->seen);
    memcpy(list[0], cell, sizeof list[0]);
    f->seen[number_in(f, cell)] = true;
    for (int i = 0; i < count; i++)
        for (int way = 0; way < 6; way++) {
            int a = way / 2, to[3] = {list[i][0], list[i][1], list[i][2]};
            size_t at = und_mac_at(m, to[0], to[1], to[2]);
            bool open = s->open[a][way % 2 ? at : at - (size_t)m->step[a]] > 0;
            to[a] += way % 2 ? 1 : -1;
            if (!open || !has(f, to) || f->seen[number_in(f, to)])
                continue;
            f->seen[number_in(f, to)] = true;
            memcpy(list[count++], to, sizeof list[0]);
        }
}

static bool thin_among(const flood *f, const und_solids *s)
{
    for (int z = f->low[2]; z < f->low[2] + f->size[2]; z++)
        for (int y = f->low[1]; y < f->low[1] + f->size[1]; y++)
            for (int x = f->low[0]; x < f->low[0] + f->size[0]; x++)
                if (s->parts->thin[und_mac_at(&s->mac, x, y, z)])
                    return true;
    return false;
}

/* The cells whose middles are around a place, and how far it is from the lower towards the upper. */
static void around_place(const und_mac *m, const double place[3], int low[3], double part[3])
{
    for (int a = 0; a < 3; a++) {
        double q = und_larger(und_smaller(place[a] - 0.5, m->n[a] - 1), 0);
        low[a] = (int)q < m->n[a] - 1 ? (int)q : (m->n[a] > 1 ? m->n[a] - 2 : 0);
        part[a] = m->n[a] > 1 ? q - low[a] : 0;
    }
}

/* The mean of the values around a place that are seen; what part of the weights they have. */
static double seen_mean(const flood *f, const und_solids *s, const float *value, const double place[3],
                        double *mean)
{
    int low[3];
    double part[3], sum = 0, all = 0;
    around_place(&s->mac, place, low, part);
    for (int k = 0; k < 8; k++) {
        double w = 1;
        int cell[3];
        for (int a = 0; a < 3; a++) {
            w *= k >> a & 1 ? part[a] : 1 - part[a];
            cell[a] = low[a] + (k >> a & 1);
        }
        if (!(w > NOTHING) || !has(f, cell) || !f->seen[number_in(f, cell)])
            continue;
        sum += w * (double)value[und_mac_at(&s->mac, cell[0], cell[1], cell[2])];
        all += w;
    }
    *mean = all > 0 ? sum / all : 0;
    return all;
}

/* phi of a cell that came from a foot: from what is on the cell's side, as near to the foot as that is. */
static void follow_cell(const und_solids *s, const float *before, float *phi, const int cell[3],
                        const double foot[3])
{
    enum { PARTS = 4 };
    flood f;
    int low[3];
    double part[3], way[3], place[3], mean;
    for (int a = 0; a < 3; a++) {
        way[a] = und_larger(und_smaller(foot[a] - cell[a] - 0.5, MOST), -MOST);
        place[a] = cell[a] + 0.5 + way[a];
    }
    around_place(&s->mac, place, low, part);
    for (int a = 0; a < 3; a++) {
        int high = s->mac.n[a] > 1 ? low[a] + 1 : low[a];
        f.low[a] = low[a] < cell[a] ? low[a] : cell[a];
        f.size[a] = (high > cell[a] ? high : cell[a]) - f.low[a] + 1;
    }
    if (!thin_among(&f, s))
        return;
    flood_from(&f, s, cell);
    if (seen_mean(&f, s, before, place, &mean) > 1 - 1e-3)
        return; /* nothing is hidden */
    for (int k = PARTS; k >= 0; k--) {
        for (int a = 0; a < 3; a++)
            place[a] = cell[a] + 0.5 + way[a] * k / PARTS;
        if (seen_mean(&f, s, before, place, &mean) >= ENOUGH)
            break;
    }
    phi[und_mac_at(&s->mac, cell[0], cell[1], cell[2])] = (float)mean;
}

/* Up to UND_LANES cells of a row. */
static void follow_some(const und_solids *s, const float *before, float *phi, float *const u[3], float back,
                        int y, int z, const int *x, int count)
{
    const und_mac *m = &s->mac;
    und_lanes place[3] = {{0},
                          und_lanes_all((float)(y + m->low[1]) + 0.5f),
                          und_lanes_all((float)(z + m->low[2]) + 0.5f)},
              speed[3], foot[3];
    for (int i = 0; i < UND_LANES; i++)
        place[0][i] = (float)(x[i < count ? i : 0] + m->low[0]) + 0.5f;
    und_sample_velocity(m, u, place, speed);
    und_sample_trace(m, u, place, speed, back, false, foot);
    for (int i = 0; i < count; i++) {
        double to[3] = {(double)foot[0][i], (double)foot[1][i], m->n[2] > 1 ? (double)foot[2][i] : 0.5};
        for (int a = 0; a < 3; a++)
            to[a] -= m->low[a];
        follow_cell(s, before, phi, (const int[3]){x[i], y, z}, to);
    }
}

typedef struct following {
    const und_solids *s;
    const float *before;
    float *phi;
    float *const *u;
    float back; /* cells per speed, backwards */
} following;

static inline void follow_row(const following *f, und_place p)
{
    const und_solids *s = f->s;
    const int n = s->mac.n[0];
    int list[UND_LANES], count = 0;
    if (!rows_near(s, p.y, p.z, MOST))
        return;
    for (int x = 0; x < n; x++) {
        const size_t at = p.at + (size_t)x;
        if (s->distance[at] < NEAR && s->parts->thin[at] != UND_THIN_SHUT &&
            (f->before[at] != f->phi[at] || s->parts->thin[at]))
            list[count++] = x;
        if (count == UND_LANES || (x + 1 == n && count > 0)) {
            follow_some(s, f->before, f->phi, f->u, f->back, p.y, p.z, list, count);
            count = 0;
        }
    }
}
UND_KERNEL(follow_row, following, UND_EACH_ROW)

void und_solids_follow(const und_solids *s, const float *before, float *phi, float *const u[3],
                       double cells_per_speed)
{
    const following f = {s, before, phi, u, -(float)cells_per_speed};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    if (s->any)
        und_pass(&s->device, follow_row, &f, &rows);
}

/* ---- Between the sides ---- */

static bool liquid(float phi)
{
    return phi < 0;
}

/* A cell at a thin wall with nothing but its own kind on its side is as far from the surface as the wall. */
static void pin_cell(const und_solids *s, float *phi, float *before, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const bool own = liquid(phi[at]);
    const float was = own ? fminf(phi[at], -LEAST) : fmaxf(phi[at], LEAST);
    float size = 0;
    before[at] = 0;
    for (int way = 0; way < 6; way++) {
        int a = way / 2, to = cell[a] + (way % 2 ? 1 : -1);
        size_t next = way % 2 ? at + (size_t)m->step[a] : at - (size_t)m->step[a];
        if (!inside(m, a, to))
            continue;
        bool open = s->open[a][way % 2 ? at : next] > 0, shut = s->parts->thin[next] == UND_THIN_SHUT;
        if (open && liquid(phi[next]) != own) {
            before[at] = was;
            return;
        }
        if (!open && shut && size == 0)
            size = fmaxf(fabsf(phi[at]), THREE_QUARTERS);
        if (!open && !shut && liquid(phi[next]) != own)
            size = HALF;
    }
    if (!(size > 0))
        return;
    before[at] = was;
    phi[at] = own ? -size : size;
}

/* phi of a cell that was pinned, or that a surface of its own side comes to, is what it was, but no further
 * from the surface than a cell more than one of its kind that is open to it. */
static void unpin_cell(const und_solids *s, float *phi, float *before, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const float sign = liquid(before[at]) ? -1 : 1;
    float size = fabsf(before[at]);
    if (before[at] == 0)
        return;
    for (int way = 0; way < 6; way++) {
        const int a = way / 2, to = cell[a] + (way % 2 ? 1 : -1);
        const size_t next = way % 2 ? at + (size_t)m->step[a] : at - (size_t)m->step[a];
        if (!inside(m, a, to) || !(s->open[a][way % 2 ? at : next] > 0))
            continue;
        const bool kept = s->parts->thin[next] == UND_THIN_WALL && before[next] != 0;
        size = fminf(size, fmaxf(sign * (kept ? before[next] : phi[next]) + 1, 1));
    }
    phi[at] = sign * fmaxf(size, LEAST);
}

/* The sum of phi in a cell's neighbours along an axis that are not in a thin wall, and how many these are. */
static int beside_shut(const und_solids *s, const float *phi, const int cell[3], int axis, float *sum)
{
    const size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]);
    int count = 0;
    for (int by = -1; by <= 1; by += 2) {
        const size_t next = (size_t)((ptrdiff_t)at + by * s->mac.step[axis]);
        if (!inside(&s->mac, axis, cell[axis] + by) || s->parts->thin[next] == UND_THIN_SHUT)
            continue;
        *sum += phi[next];
        count++;
    }
    return count;
}

/* A cell in a thin wall is between those beside it.  At rest between those on two sides: at the wall's end,
 * and in its corners, one without the other would draw a slope along the wall in every step. */
static void pin_shut(const und_solids *s, float *phi, float *before, const int cell[3])
{
    const int least = s->push[0] ? 1 : 2;
    float sum = 0;
    int count = 0;
    (void)before;
    for (int a = 0; a < 3; a++) {
        float along = 0;
        const int found = beside_shut(s, phi, cell, a, &along);
        sum += found >= least ? along : 0;
        count += found >= least ? found : 0;
    }
    if (count > 0)
        phi[und_mac_at(&s->mac, cell[0], cell[1], cell[2])] = sum / (float)count;
}

typedef void cell_fn(const und_solids *s, float *phi, float *before, const int cell[3]);

static void each_cell(const und_solids *s, float *phi, float *before, uint8_t kind, cell_fn *fn)
{
    const und_mac *m = &s->mac;
    for (int row = 0; row < und_mac_rows(m) && s->any; row++) {
        int y = row % m->n[1], z = row / m->n[1];
        const uint8_t *thin = s->parts->thin + und_mac_row(m, row);
        for (int x = 0; x < m->n[0] && und_solids_thin_row(s, y, z); x++)
            if (thin[x] == kind)
                fn(s, phi, before, (const int[3]){x, y, z});
    }
}

/* What is between sides is told by those beside it, which have been pinned themselves. */
static void get_beside(const und_solids *s, float *phi, int reach)
{
    const und_halo_field halo = und_halo_of(&s->mac, phi, sizeof *phi, reach);
    und_halo_get(s->device.halo, &halo, 1);
}

void und_solids_pin(const und_solids *s, float *phi, float *before)
{
    get_beside(s, phi, 2);
    each_cell(s, phi, before, UND_THIN_WALL, pin_cell);
    each_cell(s, phi, before, UND_THIN_SHUT, pin_shut);
}

void und_solids_unpin(const und_solids *s, float *phi, float *before)
{
    get_beside(s, phi, 1);
    each_cell(s, phi, before, UND_THIN_WALL, unpin_cell);
}
