#include "flow/carried.h"

#include "base/parallel.h"
#include "grid/field.h"
#include "grid/sample.h"

#include <math.h>
#include <string.h>

enum { CELLS_TO_SHARE = 1 << 14 };

#define FIELD(member, ...) UND_FIELD(und_carried, member, UND_AT_CELLS, ##__VA_ARGS__)

static const und_field fields[] = {FIELD(value, .halo = UND_HALO_CROSSED), FIELD(next), FIELD(own), FIELD(b),
                                   FIELD(x)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_carried_open(und_carried *c, const und_mac *mac, int threads, und_error *err)
{
    static const char *const what = "what the liquid carries";
    *c = (und_carried){.mac = *mac, .threads = threads};
    if (und_field_open_all(c, fields, FIELDS, &(und_field_room){.mac = mac}, what, err) != UND_OK ||
        und_mask_open(&c->known[0], mac, what, err) != UND_OK ||
        und_mask_open(&c->known[1], mac, what, err) != UND_OK) {
        und_carried_close(c);
        return err->status;
    }
    return UND_OK;
}

void und_carried_close(und_carried *c)
{
    und_field_close_all(c, fields, FIELDS);
    und_mask_close(&c->known[0]);
    und_mask_close(&c->known[1]);
    *c = (und_carried){0};
}

/* ---- Into the cells around the liquid ---- */

static void know_liquid(und_carried *c, const float *phi, int y, int z)
{
    const int n = c->mac.n[0];
    const float *row = phi + und_mac_at(&c->mac, 0, y, z);
    uint64_t *bits = und_mask_row(&c->known[0], y, z);
    memset(bits, 0, (size_t)c->known[0].words * sizeof *bits);
    for (int x = 0; x < n; x++)
        bits[(x + 1) >> 6] |= (uint64_t)(row[x] < 0) << ((x + 1) & 63);
}

/* Cells of a row that were not known become the mean of those beside them that are. */
static void extend_row(und_carried *c, const und_mask *known, const und_mask *grown, int y, int z)
{
    const und_mac *m = &c->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const uint64_t *old = und_mask_row(known, y, z);
    uint64_t *now = und_mask_row(grown, y, z);
    for (int w = 0; w < known->words; w++)
        for (uint64_t bits = now[w] & ~old[w]; bits; bits &= bits - 1) {
            int x = 64 * w - 1 + __builtin_ctzll(bits), at[3] = {x, y, z};
            float sum = 0, count = 0;
            if (x < 0 || x >= m->n[0]) {
                now[w] &= ~(bits & -bits);
                continue;
            }
            for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++)
                for (int side = -1; side <= 1; side += 2) {
                    int beside[3] = {at[0], at[1], at[2]};
                    beside[a] += side;
                    if (und_mask_has(known, beside[0], beside[1], beside[2])) {
                        sum += c->value[(size_t)((ptrdiff_t)(row + (size_t)x) + side * m->step[a])];
                        count++;
                    }
                }
            c->value[row + (size_t)x] = sum / count;
        }
}

/* Gives which of known[] has all. */
static int extend(und_carried *c, const float *phi, int layers)
{
    const und_mac *m = &c->mac;
    int rows = und_mac_rows(m), threads = und_workers(c->threads, m->count, CELLS_TO_SHARE), now = 0;
    und_mask_clear(&c->known[0]);
    PARALLEL_FOR(threads)
    for (int row = 0; row < rows; row++)
        know_liquid(c, phi, row % m->n[1], row / m->n[1]);
    for (int i = 0; i < layers; i++, now = 1 - now) {
        const und_mask *known = &c->known[now], *grown = &c->known[1 - now];
        und_mask_grow(known, &c->known[1 - now], threads);
        PARALLEL_FOR(threads)
        for (int row = 0; row < rows; row++)
            extend_row(c, known, grown, row % m->n[1], row / m->n[1]);
        for (int z = -1; z <= m->n[2]; z++) /* nothing is beside the domain */
            for (int y = -1; y <= m->n[1]; y++)
                if (y < 0 || y == m->n[1] || z < 0 || z == m->n[2])
                    memset(und_mask_row(grown, y, z), 0, (size_t)grown->words * sizeof(uint64_t));
    }
    return now;
}

/* ---- With the flow ---- */

typedef struct moving {
    und_carried *c;
    float *const *u;
    float cells_per_speed;
    bool third;
} moving;

static void guess_some(const moving *v, size_t at, const und_lanes place[3], unsigned which)
{
    und_lanes speed[3], foot[3], value;
    und_sample_velocity(&v->c->mac, v->u, place, speed);
    und_sample_trace(&v->c->mac, v->u, place, speed, -v->cells_per_speed, v->third, foot);
    und_sample_cells(&v->c->mac, v->c->value, foot, &value, NULL);
    und_lanes_store_some(v->c->next + at, value, which);
}

/* The guess is followed forward: what does not come back is twice its error.  Into b. */
static void correct_some(const moving *v, size_t at, const und_lanes place[3], unsigned which)
{
    const und_mac *m = &v->c->mac;
    und_lanes speed[3], foot[3], back, value;
    und_sample_range range;
    und_sample_velocity(m, v->u, place, speed);
    und_sample_trace(m, v->u, place, speed, -v->cells_per_speed, v->third, foot);
    und_sample_cells(m, v->c->value, foot, &value, &range);
    und_sample_trace(m, v->u, place, speed, v->cells_per_speed, v->third, foot);
    und_sample_cells(m, v->c->next, foot, &back, NULL);
    value = und_lanes_load(v->c->next + at) + 0.5f * (und_lanes_load(v->c->value + at) - back);
    value = und_lanes_min(und_lanes_max(value, range.low), range.high);
    und_lanes_store_some(v->c->b + at, value, which);
}

typedef void some_fn(const moving *v, size_t at, const und_lanes place[3], unsigned which);

static void each_known(const moving *v, const und_mask *known, some_fn *fn)
{
    const und_mac *m = &v->c->mac;
    int rows = und_mac_rows(m), threads = und_workers(v->c->threads, m->count, CELLS_TO_SHARE / 4);
    PARALLEL_FOR(threads)
    for (int row = 0; row < rows; row++) {
        const int y = row % m->n[1], z = row / m->n[1];
        const uint64_t *bits = und_mask_row(known, y, z);
        unsigned which;
        for (int x = 0; (x = und_mask_batch(known, bits, x, UND_LANES, &which)) < m->n[0]; x += UND_LANES) {
            const und_lanes place[3] = {und_lanes_count() + ((float)(x + m->low[0]) + 0.5f),
                                        und_lanes_all((float)(y + m->low[1]) + 0.5f),
                                        und_lanes_all((float)(z + m->low[2]) + 0.5f)};
            fn(v, und_mac_at(m, x, y, z), place, which);
        }
    }
}

static void take_some(const moving *v, size_t at, const und_lanes place[3], unsigned which)
{
    (void)place;
    und_lanes_store_some(v->c->value + at, und_lanes_load(v->c->b + at), which);
}

void und_carried_move(und_carried *c, const float *phi, float *const u[3], double cells_per_speed,
                      und_trace_order trace, int layers)
{
    const moving v = {c, u, (float)cells_per_speed, trace == UND_TRACE_RK3};
    const und_mask *known = &c->known[extend(c, phi, layers)];
    memcpy(c->next, c->value, c->mac.count * sizeof *c->next);
    each_known(&v, known, guess_some);
    each_known(&v, known, correct_some);
    each_known(&v, known, take_some);
}

/* ---- Diffusion ---- */

/* What flows into cell i from those beside it that are liquid. */
static float inflow(const und_carried *c, const und_mask *liquid, const und_solids *solids, const int at[3])
{
    const und_mac *m = &c->mac;
    const size_t i = und_mac_at(m, at[0], at[1], at[2]);
    float sum = 0;
    for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
        const int a = side / 2, way = side % 2 ? 1 : -1;
        int beside[3] = {at[0], at[1], at[2]};
        beside[a] += way;
        size_t next = i + (size_t)(way * m->step[a]), face = way > 0 ? i : next;
        if (und_mask_has(liquid, beside[0], beside[1], beside[2]))
            sum += solids->open[a][face] * (c->value[next] - c->value[i]);
    }
    return sum;
}

/* A wall that is not open is half a cell away. */
static void add_walls(und_carried *c, const und_mask *liquid, const und_solids *solids,
                      const und_carried_wall *wall)
{
    const und_mac *m = &c->mac;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int begin, end = -1; und_mask_stretch(liquid, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++)
                for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
                    const int cell[3] = {x, row % m->n[1], row / m->n[1]}, a = side / 2;
                    size_t i = und_mac_row(m, row) + (size_t)x,
                           face = i - (side % 2 ? 0 : (size_t)m->step[a]);
                    float shut = 2 * (1 - solids->open[a][face]);
                    double value;
                    if (shut > 0 && wall->at(wall->context, cell, a, side % 2, &value)) {
                        c->own[i] += shut;
                        c->b[i] += shut * ((float)value - c->value[i]);
                    }
                }
}

typedef void row_fn(und_carried *c, const und_mask *liquid, const und_solids *solids, float old, int row,
                    int begin, int end);

static void set_change(und_carried *c, const und_mask *liquid, const und_solids *solids, float old, int row,
                       int begin, int end)
{
    for (int x = begin; x < end; x++) {
        size_t i = und_mac_row(&c->mac, row) + (size_t)x;
        c->own[i] = old;
        c->b[i] = inflow(c, liquid, solids, (int[3]){x, row % c->mac.n[1], row / c->mac.n[1]});
    }
}
static void take_change(und_carried *c, const und_mask *liquid, const und_solids *solids, float old, int row,
                        int begin, int end)
{
    (void)liquid, (void)solids, (void)old;
    for (int x = begin; x < end; x++) {
        size_t i = und_mac_row(&c->mac, row) + (size_t)x;
        c->value[i] = (float)((double)c->value[i] + c->x[i]);
    }
}

static void each_liquid(und_carried *c, const und_mask *liquid, const und_solids *solids, float old,
                        row_fn *fn)
{
    const und_mac *m = &c->mac;
    int rows = und_mac_rows(m), threads = und_workers(c->threads, m->count, CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int row = 0; row < rows; row++)
        for (int begin, end = -1; und_mask_stretch(liquid, row % m->n[1], row / m->n[1], end, &begin, &end);)
            fn(c, liquid, solids, old, row, begin, end);
}

/* Solved for the change: differences may be small beside the values. */
und_mac_flow_report und_carried_diffuse(und_carried *c, const und_mask *liquid, const und_solids *solids,
                                        und_pressure *system, double number, const und_carried_wall *wall,
                                        double tolerance, int max_iterations)
{
    const float old = (float)(1 / number);
    const float *weight[3] = {solids->open[0], solids->open[1], solids->open[2]};
    each_liquid(c, liquid, solids, old, set_change);
    if (wall)
        add_walls(c, liquid, solids, wall);
    und_pressure_set(system, liquid, weight, c->own);
    und_pressure_report solved = und_pressure_solve(system, c->b, c->x, false, tolerance, max_iterations);
    und_pressure_done(system);
    if (solved.residual < INFINITY)
        each_liquid(c, liquid, solids, old, take_change);
    return (und_mac_flow_report){
        .iterations = solved.iterations, .residual = solved.residual, .converged = solved.converged};
}
