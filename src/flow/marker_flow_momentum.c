/* The explicit step of the momentum equations.  Foster & Metaxas 1996, equations 2 and 3. */
#include "base/maths.h"
#include "flow/marker_flow_momentum_kernel.h"
#include "flow/marker_flow_parts.h"

#include "base/parallel.h"

#include <string.h>

/* The liquid's speed in each cell of a row, in cells a second along all axes together. */
static double row_speed(const und_marker_flow *f, int row)
{
    size_t first = und_mac_row(&f->mac, row);
    double per[3];
    und_marker_flow_per_cell(f, 1, per);
    const double *u = f->u[0] + first, *v = f->u[1] + first, *w = f->u[2] + first;
    const double *below = v - f->mac.step[1], *behind = w - f->mac.step[2];
    const uint8_t *label = f->label + first;
    int low = f->row_low[row], high = f->row_high[row];
    double *restrict speed = und_marker_flow_scratch(f, und_thread());
    for (int x = low; x < high; x++)
        speed[x] = und_larger(fabs(u[x]), fabs(u[x - 1])) * per[0] +
                   und_larger(fabs(v[x]), fabs(below[x])) * per[1] +
                   und_larger(fabs(w[x]), fabs(behind[x])) * per[2];
    for (int x = low; x < high; x++) {
        bool liquid = (label[x] == UND_CELL_FULL) | (label[x] == UND_CELL_SURFACE);
        speed[x] = liquid ? speed[x] : 0;
    }
    return und_most_size(speed + low, high - low);
}

/* Liquid at rest that begins to fall shall not cross more cells in a step than liquid that moves. */
static double longest_fall(const und_marker_flow *f, const double gravity[3], double courant)
{
    double longest = INFINITY;
    for (int a = 0; a < und_marker_flow_axes(f); a++)
        if (gravity[a] != 0)
            longest = fmin(longest, sqrt(courant * f->mac.d[a] / fabs(gravity[a])));
    return longest;
}

/* What comes in crosses no more cells either, in cells a second. */
static double fastest_inflow(const und_marker_flow *f)
{
    double most = 0;
    for (size_t i = 0; i < f->parts->ports; i++) {
        const und_wall_face *w = &f->parts->face[f->parts->port[i]];
        if (w->kind == UND_WALL_INFLOW)
            most = fmax(most, fabs(w->value) / f->mac.d[w->axis]);
    }
    return most;
}

double und_marker_flow_longest_step(const und_marker_flow *f, const und_momentum *m, double courant,
                                    und_step_limit *limit)
{
    *limit = UND_LIMIT_COURANT;
    double most = fastest_inflow(f), bend = 0;
    if (f->full + f->surface == 0)
        return most > 0 ? courant / most : INFINITY;
    PARALLEL_FOR(und_marker_flow_workers(f, (size_t)(f->full + f->surface)))
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            f->parts->row_most[row] = row_speed(f, row);
    for (int row = 0; row < und_mac_rows(&f->mac); row++)
        most = und_larger(f->parts->row_most[row], most);
    for (int a = 0; a < und_marker_flow_axes(f); a++)
        bend += 1 / (f->mac.d[a] * f->mac.d[a]);
    const double safe = 0.9;
    double longest = longest_fall(f, m->gravity, courant);
    if (most > 0)
        longest = fmin(longest, courant / most);
    double viscous = m->viscosity > 0 ? safe / (2 * m->viscosity * bend) : INFINITY;
    if (viscous < longest)
        *limit = UND_LIMIT_VISCOSITY;
    return fmin(viscous, longest);
}

/* The share of the donor cell's viscosity in each cell: as much as cells are crossed in a step, along all
 * axes together, and what is wished besides; in walls 0, at the surface all.  There open faces have the
 * velocity of the face opposite (3.2.3), and where liquid comes in through one, a difference that looks
 * downstream makes it faster without end. */
static void find_shares(und_marker_flow *f, const und_momentum *m, int row, double dt)
{
    const und_marker_flow_parts *s = f->parts;
    size_t first = und_mac_row(&f->mac, row);
    double per[3];
    und_marker_flow_per_cell(f, dt, per);
    const double *u = f->u[0] + first, *v = f->u[1] + first, *w = f->u[2] + first;
    const double *below = v - f->mac.step[1], *behind = w - f->mac.step[2];
    const uint8_t *label = f->label + first;
    float *restrict share = s->share + first, most = m->plain ? 0 : 1, wished = (float)m->upwind;
    int low = s->near_low[row], high = s->near_high[row];
    for (int x = low; x < high; x++) {
        double cells = und_larger(fabs(u[x]), fabs(u[x - 1])) * per[0] +
                       und_larger(fabs(v[x]), fabs(below[x])) * per[1] +
                       und_larger(fabs(w[x]), fabs(behind[x])) * per[2];
        float all = (float)cells + wished;
        share[x] = all < most ? all : most;
    }
    for (int x = low; x < high; x++)
        share[x] = label[x] == UND_CELL_SOLID ? 0 : label[x] == UND_CELL_SURFACE ? most : share[x];
}

/* What the faces along one axis need, with the axis first and the others after it; d is the cell's size and
 * step 0 where there is no such axis. */
typedef struct across {
    const double *u[3];
    const double *p;
    const uint8_t *label;
    const float *share; /* of the donor cell's viscosity */
    ptrdiff_t step[3];
    double gain[3]; /* dt / d, a quarter of it */
    double own[3];  /* nu / d, four times */
    double push;    /* dt / d along the axis */
    double fall;    /* g dt */
} across;

static across across_of(const und_marker_flow *f, const und_momentum *m, double dt, int axis)
{
    across k = {.p = f->p,
                .label = f->label,
                .share = f->parts->share,
                .push = dt / f->mac.d[axis],
                .fall = m->gravity[axis] * dt};
    for (int i = 0; i < 3; i++) {
        int a = (axis + i) % 3;
        bool is = a < und_marker_flow_axes(f);
        k.u[i] = f->u[a];
        k.step[i] = is ? f->mac.step[a] : 0;
        k.gain[i] = is ? 0.25 * dt / f->mac.d[a] : 0;
        k.own[i] = 4 * m->viscosity / f->mac.d[a];
    }
    return k;
}

/* Four times the flux at the high point of face x of a row along one direction: between it and the next face
 * that way.  Along the faces' own axis, direction 0, that is the middle of the next cell. */
static inline __attribute__((always_inline)) double flux_at(const across *k, int direction, const double *u,
                                                            const double *v, const float *c, int x)
{
    ptrdiff_t ahead = k->step[0], beside = k->step[direction];
    if (direction == 0)
        return und_flux4(u[x] + u[x + ahead], u[x], u[x + ahead], (double)c[x + ahead], k->own[0]);
    float share = und_largest(c[x], c[x + ahead], c[x + beside], c[x + ahead + beside]);
    return und_flux4(v[x] + v[x + ahead], u[x], u[x + beside], (double)share, k->own[direction]);
}

/* Of `count` faces from `at` on. */
static void find_fluxes(const across *given, int direction, size_t at, int count, double *restrict out)
{
    const across k = *given;
    const double *u = k.u[0] + at, *v = k.u[direction] + at;
    const float *c = k.share + at;
    if (direction == 0)
        for (int x = 0; x < count; x++)
            out[x] = flux_at(&k, 0, u, v, c, x);
    else if (direction == 1)
        for (int x = 0; x < count; x++)
            out[x] = flux_at(&k, 1, u, v, c, x);
    else
        for (int x = 0; x < count; x++)
            out[x] = flux_at(&k, 2, u, v, c, x);
}

/* A piece of the grid that a thread steps: plane after plane, row after row, so that each flux is made once
 * and kept for the cell behind it. */
enum { STRIP = 256, TILE_ROWS = 8, TILE_PLANES = 16 };

typedef struct tile {
    int low[3], high[3];                /* cells [low, high); along x only where a row of it has liquid */
    double along[STRIP + 1];            /* the fluxes of a row along x, from the low side of its first face */
    double below[3][STRIP];             /* of each component: those on the low side along y */
    double behind[3][TILE_ROWS][STRIP]; /* and along z */
} tile;

/* Equation 2 on the high faces of a row's cells, wherever they are.  The axis is known when this is compiled:
 * the three directions are not alike. */
static inline __attribute__((always_inline)) void step_cells(const across *given, const int axis, int count,
                                                             size_t at, const double *restrict along,
                                                             double *restrict below, double *restrict behind,
                                                             double *restrict next)
{
    const across k = *given;
    const int dx = (3 - axis) % 3, dy = (4 - axis) % 3, dz = (5 - axis) % 3;
    const double *u = k.u[0] + at, *v = k.u[dy] + at, *w = k.u[dz] + at, *p = k.p + at;
    const float *c = k.share + at;
    ptrdiff_t ahead = k.step[0];
    for (int x = 0; x < count; x++) {
        double above = flux_at(&k, dy, u, v, c, x), before = flux_at(&k, dz, u, w, c, x);
        double gain = k.gain[dx] * (along[x] - along[x + 1]) + k.gain[dy] * (below[x] - above) +
                      k.gain[dz] * (behind[x] - before) + k.push * (p[x] - p[x + ahead]) + k.fall;
        next[x] = u[x] + gain;
        below[x] = above;
        behind[x] = before;
    }
}

static void step_row(const across *k, int axis, tile *t, int row, size_t at, double *restrict next)
{
    int count = t->high[0] - t->low[0];
    double *below = t->below[axis], *behind = t->behind[axis][row];
    find_fluxes(k, (3 - axis) % 3, at - 1, count + 1, t->along);
    if (axis == 0)
        step_cells(k, 0, count, at, t->along, below, behind, next);
    else if (axis == 1)
        step_cells(k, 1, count, at, t->along, below, behind, next);
    else
        step_cells(k, 2, count, at, t->along, below, behind, next);
}

static const uint64_t ONES = 0x0101010101010101;

/* In the lowest bit of each byte: does the cell hold liquid? */
static uint64_t liquid_bits(const uint8_t *label)
{
    _Static_assert(UND_CELL_EMPTY == 0 && UND_CELL_SURFACE == 1 && UND_CELL_FULL == 2 && UND_CELL_SOLID == 3,
                   "one of two bits is set: liquid");
    uint64_t eight;
    memcpy(&eight, label, sizeof eight);
    return (eight ^ eight >> 1) & ONES;
}

/* Faces that have no liquid on one side or the other keep their velocity. */
static void keep_others(const across *k, size_t at, int count, double *restrict next)
{
    const uint8_t *label = k->label + at, *ahead = label + k->step[0];
    for (int x = 0; x < count; x += 8) {
        uint64_t both = liquid_bits(label + x) & liquid_bits(ahead + x);
        for (int i = x; both != ONES && i < x + 8 && i < count; i++)
            if (!und_is_liquid(label[i]) || !und_is_liquid(ahead[i]))
                next[i] = k->u[0][at + (size_t)i];
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}
static int most(int a, int b)
{
    return a > b ? a : b;
}

static void carry_over(const und_marker_flow *f, int axis, size_t first, int low, int high)
{
    size_t from = first + (size_t)low;
    if (low < high)
        memcpy(f->next[axis] + from, f->u[axis] + from, sizeof(double) * (size_t)(high - low));
}

static bool has_liquid(const und_marker_flow *f, int y, int z)
{
    int row = y + f->mac.n[1] * z;
    return y >= 0 && z >= 0 && y < f->mac.n[1] && z < f->mac.n[2] && f->row_low[row] < f->row_high[row];
}

/* Narrows a tile to the cells along x that have liquid in some row. */
static void narrow(const und_marker_flow *f, tile *t)
{
    int low = t->high[0], high = t->low[0];
    for (int z = t->low[2]; z < t->high[2]; z++)
        for (int y = t->low[1]; y < t->high[1]; y++)
            if (has_liquid(f, y, z)) {
                low = least(low, f->row_low[y + f->mac.n[1] * z]);
                high = most(high, f->row_high[y + f->mac.n[1] * z]);
            }
    t->low[0] = most(low, t->low[0]);
    t->high[0] = most(least(high, t->high[0]), t->low[0]);
}

/* The fluxes on the low sides of the tile, before its first plane or before the first row of a plane. */
static void enter(const und_marker_flow *f, const across k[3], tile *t, int direction, int z)
{
    int count = t->high[0] - t->low[0];
    for (int a = 0; a < und_marker_flow_axes(f); a++)
        for (int y = t->low[1]; y < (direction == 1 ? t->low[1] + 1 : t->high[1]); y++) {
            size_t at = und_mac_at(&f->mac, t->low[0], y, z) - (size_t)f->mac.step[direction];
            double *out = direction == 1 ? t->below[a] : t->behind[a][y - t->low[1]];
            find_fluxes(&k[a], (3 + direction - a) % 3, at, count, out);
        }
}

/* A row is done where it has liquid, and where the fluxes behind it are needed. */
static void step_tile(und_marker_flow *f, const across k[3], tile *t, int strip_low, int strip_high)
{
    const und_marker_flow_parts *s = f->parts;
    for (int z = t->low[2]; z < t->high[2]; z++) {
        bool any = t->low[0] < t->high[0];
        if (any && z == t->low[2])
            enter(f, k, t, 2, z);
        if (any)
            enter(f, k, t, 1, z);
        for (int y = t->low[1]; y < t->high[1]; y++) {
            int row = y + f->mac.n[1] * z, low = most(s->near_low[row], strip_low);
            int high = least(s->near_high[row], strip_high);
            size_t first = und_mac_row(&f->mac, row), at = first + (size_t)t->low[0];
            bool here = has_liquid(f, y, z);
            bool done = any && (here || has_liquid(f, y + 1, z) || has_liquid(f, y, z + 1));
            for (int a = 0; a < und_marker_flow_axes(f); a++) {
                if (done) {
                    step_row(&k[a], a, t, y - t->low[1], at, f->next[a] + at);
                    keep_others(&k[a], at, t->high[0] - t->low[0], f->next[a] + at);
                }
                carry_over(f, a, first, low, done ? least(high, t->low[0]) : high);
                carry_over(f, a, first, done ? most(low, t->high[0]) : high, high);
            }
        }
    }
}

static int pieces(int cells, int size)
{
    return (cells + size - 1) / size;
}

static void step_tiles(und_marker_flow *f, const across k[3], int workers)
{
    const int *n = f->mac.n, size[3] = {STRIP, TILE_ROWS, TILE_PLANES};
    int count[3] = {pieces(n[0], size[0]), pieces(n[1], size[1]), pieces(n[2], size[2])};
    PARALLEL_FOR(workers)
    for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
        int c[3] = {i % count[0], i / count[0] % count[1], i / (count[0] * count[1])};
        tile t;
        for (int a = 0; a < 3; a++) {
            t.low[a] = c[a] * size[a];
            t.high[a] = least(t.low[a] + size[a], n[a]);
        }
        int strip_low = t.low[0], strip_high = t.high[0];
        narrow(f, &t);
        step_tile(f, k, &t, strip_low, strip_high);
    }
}

/* A face inside a thin wall, or at a wall's edge, has liquid faces on several sides and holds the mean of
 * what they should see.  Their fluxes are put right here. */
static void mend_shared(und_marker_flow *f, const across k[3])
{
    const und_marker_flow_parts *s = f->parts;
    for (size_t n = 0; n < s->shareds; n++) {
        const und_ghost *g = &s->ghost[s->shared[n]];
        const across *at = &k[g->axis];
        for (size_t i = g->first; i < g->first + g->count; i++) {
            const und_mirror *mirror = &s->mirror[i];
            size_t user = mirror->user;
            if (!und_is_liquid(f->label[user]) || !und_is_liquid(f->label[user + (size_t)at->step[0]]))
                continue;
            int b = (mirror->side / 2 - g->axis + 3) % 3;
            bool high = mirror->side % 2;
            size_t edge = high ? user : g->at, beyond = edge + (size_t)at->step[b];
            const double *u = at->u[0], *v = at->u[b];
            const float *c = at->share;
            size_t ahead = (size_t)at->step[0];
            double right = mirror->scale * u[user] + mirror->offset, own = at->own[b];
            double speeds = v[edge] + v[edge + ahead];
            double share = (double)und_largest(c[edge], c[edge + ahead], c[beyond], c[beyond + ahead]);
            double made = und_flux4(speeds, u[edge], u[beyond], share, own);
            double meant = und_flux4(speeds, high ? u[user] : right, high ? right : u[user], share, own);
            f->next[g->axis][user] += at->gain[b] * (high ? made - meant : meant - made);
        }
    }
}

/* Outflow faces go on from where they are; all others at walls are set anew. */
static void carry_ports(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        f->next[w->axis][w->at] = f->u[w->axis][w->at];
    }
}

/* What liquid reaches that falls an eighth of a cell: noise at the surface, m/s. */
static double slow_speed(const und_momentum *m, double d)
{
    return 0.5 * sqrt(d * und_hypot(und_hypot(m->gravity[0], m->gravity[1]), m->gravity[2]));
}

/* What comes in from the air, if it is not slow, brings no more speed than the liquid has at the opposite
 * side: open faces make up for what gathers in their cell (3.2.3), and if the liquid took that for its own,
 * it would go faster and faster. */
static void slow_air(und_marker_flow *f, const double slow[3], int row)
{
    size_t first = und_mac_row(&f->mac, row);
    for (int x = f->row_low[row]; f->parts->row_count[2 * row + 1] > 0 && x < f->row_high[row]; x++) {
        size_t at = first + (size_t)x;
        for (int a = 0; a < und_marker_flow_axes(f) && f->label[at] == UND_CELL_SURFACE; a++) {
            size_t step = (size_t)f->mac.step[a];
            double *low = &f->u[a][at - step], *high = &f->u[a][at];
            bool low_open = f->label[at - step] == UND_CELL_EMPTY;
            bool high_open = f->label[at + step] == UND_CELL_EMPTY;
            if (low_open && !high_open && *low > 0)
                *low = fmin(*low, fmax(*high, slow[a]));
            if (high_open && !low_open && *high < 0)
                *high = fmax(*high, fmin(*low, -slow[a]));
        }
    }
}

void und_marker_flow_momentum(und_marker_flow *f, const und_momentum *m, double dt)
{
    int workers = und_marker_flow_workers(f, (size_t)(f->full + f->surface));
    double slow[3];
    for (int a = 0; a < 3; a++)
        slow[a] = slow_speed(m, f->mac.d[a]);
    PARALLEL_FOR(workers)
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; !m->plain && row < und_marker_flow_block_end(f, b); row++)
            slow_air(f, slow, row);
    PARALLEL_FOR(workers)
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            find_shares(f, m, row, dt);
    across k[3];
    for (int a = 0; a < und_marker_flow_axes(f); a++)
        k[a] = across_of(f, m, dt, a);
    step_tiles(f, k, workers);
    mend_shared(f, k);
    carry_ports(f);
    for (int a = 0; a < 3; a++) {
        double *old = f->u[a];
        f->u[a] = f->next[a];
        f->next[a] = old;
    }
}
