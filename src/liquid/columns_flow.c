/* The volume model: columns and pipes.  O'Brien & Hodgins 1995, section 3.1.
 *
 * Equations 6 and 7 as printed, with the heights of the old time and the mean of old and new flow, make every
 * wave grow by sqrt(1 + (w dt)^2 / 2) a step.  Here the new flow alone moves the water: the step is then
 * symplectic, and waves keep their height as long as w dt < 2.  The mean is kept as an option, for study.
 *
 * Waves of two or three columns then go on for ever; smoothing takes smoothing (w dt)^2 of their energy a
 * step: |lambda|^2 = 1 - smoothing (w dt)^2, stable for w dt < 2 / sqrt(1 + 2 smoothing). */
#include "base/maths.h"
#include "base/parallel.h"
#include "liquid/columns_state.h"

#include <math.h>
#include <string.h>

enum { BAND = 16, ROUNDS = 4 }; /* rows a thread takes at once; of scaling back by the paper's rule */

static double straight_share(const und_columns *s)
{
    return 1 / (1 + 2 * s->def.diagonal);
}

/* The waves that turn fastest are the ones whose neighbours are opposite: w^2 = most g d / dx^2. */
static double stiffest(const und_columns *s)
{
    return s->nz == 1 ? 4 : fmax(8 * straight_share(s), 4);
}

/* Stable is what turns by less than pi a step, w dt < 2.  But three waves that each turn by a third of a full
 * turn a step, w dt = sqrt(3), feed each other where they are high, and roughen the water; so fewer. */
double und_columns_longest_step(const und_columns *s)
{
    const double safe = 0.8;
    double deepest = fmin(s->deepest, s->def.pipe_depth);
    double turn = sqrt(stiffest(s) * (1 + 2 * s->def.smoothing) * s->def.height_field.gravity * deepest) /
                  s->height_field.grid.dx;
    return turn > 0 ? safe * 2 / turn : INFINITY;
}

/* A wall mirrors the columns along it, and with them the diagonal pipes that would lead out: they carry what
 * the pipe along the wall does.  So a wave runs along a wall as it does in the open; a curve, with walls on
 * both sides, has pipes of the full section. */
void und_columns_set_pipes(und_columns *s)
{
    double dx = s->height_field.grid.dx,
           straight = s->dt * s->def.height_field.gravity / (dx * dx) * straight_share(s);
    s->pipes.straight = (float)straight;
    s->pipes.diagonal = s->pipes.beside = (float)(straight * s->def.diagonal);
    s->pipes.kept = (float)und_exp(-s->def.height_field.damping * s->dt);
    s->pipes.reach = (float)fmin(s->def.pipe_depth, 1e9);
    for (int x = 0; x < s->nx; x++)
        s->share_z[x] = und_columns_straight(s, PIPE_Z, x, 0);
}

static int walls_beside(const und_columns *s, int pipe, int x, int z)
{
    return pipe == PIPE_X ? (z == 0) + (z == s->nz - 1) : (x == 0) + (x == s->nx - 1);
}

float und_columns_straight(const und_columns *s, int pipe, int x, int z)
{
    return s->pipes.straight + (float)walls_beside(s, pipe, x, z) * s->pipes.beside;
}

/* Pressure that resists the rise of the surface calms short waves and leaves long ones, as viscosity does:
 * the pipes see the surface where it would be `smoothing` steps ahead. */
float und_columns_ahead(const und_columns *s)
{
    return (float)(s->def.smoothing * s->dt);
}

/* A row of columns as its pipes see it; its neighbours beside the grid are there too. */
typedef struct lane {
    const double *restrict top;
    const float *restrict depth, *restrict ground, *restrict load;
} lane;

static lane make_lane(const und_columns *s, int z, double *restrict top, float *restrict depth)
{
    const float *ground = s->ground + und_columns_at(s, 0, z);
    const double *from = s->depth + und_columns_at(s, 0, z);
    bool pressed = s->load && z < s->nz && s->rows[z].pressed;
    SIMD
    for (int x = -1; x <= s->nx; x++) {
        top[x] = (double)ground[x] + from[x];
        depth[x] = (float)from[x];
    }
    if (s->def.smoothing > 0) {
        const float *rise = s->rise + und_columns_at(s, 0, z), ahead = und_columns_ahead(s);
        SIMD
        for (int x = 0; x < s->nx; x++)
            top[x] += (double)(ahead * rise[x]);
    }
    return (lane){top, depth, ground, pressed ? s->load + und_columns_at(s, 0, z) : s->zero + 1};
}

static inline und_column column(const lane *r, int x)
{
    return (und_column){r->top[x], r->depth[x], r->ground[x], r->load[x]};
}

/* Numbers that are not negative are ordered as their bits are; compilers vectorise the largest of those. */
static inline int32_t order_of(float number)
{
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}
static inline float number_of(int32_t order)
{
    float number;
    memcpy(&number, &order, sizeof number);
    return number;
}

/* All pipes that start in a row: equations 3 to 6. */
static void flow_row(und_columns *s, int z, const lane a, const lane b)
{
    const size_t row = und_columns_at(s, 0, z);
    float *restrict fx = s->flow[PIPE_X] + row, *restrict fz = s->flow[PIPE_Z] + row;
    float *restrict fd = s->flow[PIPE_DOWN] + row, *restrict fu = s->flow[PIPE_UP] + row;
    const float *restrict share = s->share_z, share_x = und_columns_straight(s, PIPE_X, 0, z);
    const und_pipes p = s->pipes;
    const int n = s->nx;
    int32_t fastest = 0, shallowest = INT32_MAX;
    UND_PRAGMA(omp simd reduction(max : fastest) reduction(min : shallowest))
    for (int x = 0; x < n; x++) {
        und_column own = column(&a, x);
        float qx = und_pipe_flow(fx[x], own, column(&a, x + 1), share_x, &p);
        float qz = und_pipe_flow(fz[x], own, column(&b, x), share[x], &p);
        float qd = und_pipe_flow(fd[x], own, column(&b, x + 1), p.diagonal, &p);
        float qu = und_pipe_flow(fu[x], own, column(&b, x - 1), p.diagonal, &p);
        fx[x] = qx;
        fz[x] = qz;
        fd[x] = qd;
        fu[x] = qu;
        int32_t all = order_of(fabsf(qx) + fabsf(qz) + fabsf(qd) + fabsf(qu)), depth = order_of(own.depth);
        fastest = all > fastest ? all : fastest;
        shallowest = depth < shallowest ? depth : shallowest;
    }
    s->rows[z].fastest = number_of(fastest);
    s->rows[z].shallowest = (double)number_of(shallowest);
}

static void remember_row(und_columns *s, int z)
{
    size_t row = und_columns_at(s, 0, z);
    for (int k = 0; k < PIPES; k++)
        for (int x = 0; x < s->nx; x++)
            s->before[k][row + (size_t)x] = s->flow[k][row + (size_t)x];
}

static void flow_band(und_columns *s, int first, int last)
{
    size_t length = (size_t)s->stride + 2;
    double *top = s->lanes + 3 * length * (size_t)und_thread();
    float *depth = (float *)(top + 2 * length);
    lane a = make_lane(s, first, top + 1, depth + 1);
    for (int z = first; z < last; z++) {
        size_t other = length * (size_t)((z + 1 - first) % 2);
        lane b = make_lane(s, z + 1, top + other + 1, depth + other + 1);
        if (s->before[0])
            remember_row(s, z);
        flow_row(s, z, a, b);
        a = b;
    }
}

void und_columns_flow(und_columns *s)
{
    PARALLEL_FOR(s->threads)
    for (int band = 0; band < (s->nz + BAND - 1) / BAND; band++)
        flow_band(s, band * BAND, (band + 1) * BAND < s->nz ? (band + 1) * BAND : s->nz);
}

/* The flow that moves the water by eq. 7: the mean. */
static inline float moving(const float *now, const float *before, ptrdiff_t at)
{
    return 0.5f * (now[at] + before[at]);
}

/* What flows out of and into a column in the step, as speeds, m/s. */
typedef struct exchange {
    double out, in;
} exchange;

static inline exchange count_pipe(exchange e, float leaves)
{
    e.out += leaves > 0 ? (double)leaves : 0;
    e.in += leaves < 0 ? -(double)leaves : 0;
    return e;
}

/* The pipes of a row and of the row before it, with the old flow. */
typedef struct pipe_rows {
    const float *now[PIPES], *before[PIPES];
    ptrdiff_t up;
} pipe_rows;

static pipe_rows pipes_of(const und_columns *s, int z)
{
    pipe_rows r = {.up = -(ptrdiff_t)s->stride};
    for (int k = 0; k < PIPES; k++) {
        r.now[k] = s->flow[k] + und_columns_at(s, 0, z);
        r.before[k] = s->before[k] + und_columns_at(s, 0, z);
    }
    return r;
}

static inline exchange exchange_of(const pipe_rows *r, int x)
{
    const ptrdiff_t from[PIPES] = {x - 1, x + r->up, x - 1 + r->up, x + 1 + r->up}; /* pipes that end here */
    exchange e = {0, 0};
    for (int k = 0; k < PIPES; k++) {
        e = count_pipe(e, moving(r->now[k], r->before[k], x));
        e = count_pipe(e, -moving(r->now[k], r->before[k], from[k]));
    }
    return e;
}

/* What a column of `depth` into which `in` flows lets its pipes keep, where they take `out`: a little less
 * than all, so that rounding leaves no column below zero, and less than what makes it scale back, so that
 * once is enough.  Next to nothing is nothing: denormal numbers are slow. */
static inline float kept_part(double depth, float in, float out)
{
    const float margin = 2e-6f, nothing = 1e-25f;
    float has = und_pipe_more((float)(depth + 1e-28) + in - nothing, 0);
    float part = (1 - 2 * margin) * has / (out > nothing ? out : nothing);
    return part < 1 - margin ? (part > margin ? part : 0) : 1;
}

/* What the columns of a row let their pipes keep: in the last round only what they have themselves, without
 * counting on what flows in, so that no round is needed after it. */
static void judge_row(und_columns *s, int z, bool last)
{
    const size_t row = und_columns_at(s, 0, z), up = row - (size_t)s->stride;
    const float *restrict x1 = s->flow[PIPE_X] + row;
    const float *restrict z1 = s->flow[PIPE_Z] + row, *restrict z0 = s->flow[PIPE_Z] + up;
    const float *restrict d1 = s->flow[PIPE_DOWN] + row, *restrict d0 = s->flow[PIPE_DOWN] + up;
    const float *restrict u1 = s->flow[PIPE_UP] + row, *restrict u0 = s->flow[PIPE_UP] + up;
    const double *restrict depth = s->depth + row;
    const float dt = (float)s->dt, counted = last ? 0 : dt;
    float *restrict keep = s->keep + row;
    const int n = s->nx;
    int scaled = 0;
    SIMD
    for (int x = 0; x < n; x++) {
        float out = (und_pipe_more(x1[x], 0) + und_pipe_more(-x1[x - 1], 0)) +
                    (und_pipe_more(z1[x], 0) + und_pipe_more(-z0[x], 0)) +
                    (und_pipe_more(d1[x], 0) + und_pipe_more(-d0[x - 1], 0)) +
                    (und_pipe_more(u1[x], 0) + und_pipe_more(-u0[x + 1], 0));
        float in = (und_pipe_more(-x1[x], 0) + und_pipe_more(x1[x - 1], 0)) +
                   (und_pipe_more(-z1[x], 0) + und_pipe_more(z0[x], 0)) +
                   (und_pipe_more(-d1[x], 0) + und_pipe_more(d0[x - 1], 0)) +
                   (und_pipe_more(-u1[x], 0) + und_pipe_more(u0[x + 1], 0));
        keep[x] = kept_part(depth[x], counted * in, dt * out);
    }
    UND_PRAGMA(omp simd reduction(| : scaled))
    for (int x = 0; x < n; x++)
        scaled |= keep[x] < 1;
    s->rows[z].scaled = scaled;
}

/* The same by the mean of old and new flow. */
static void judge_row_by_mean(und_columns *s, int z, bool last)
{
    const pipe_rows r = pipes_of(s, z);
    s->rows[z].scaled = false;
    for (int x = 0; x < s->nx; x++) {
        size_t at = und_columns_at(s, x, z);
        exchange e = exchange_of(&r, x);
        s->keep[at] = kept_part(s->depth[at], last ? 0 : (float)(s->dt * e.in), (float)(s->dt * e.out));
        s->rows[z].scaled |= s->keep[at] < 1;
    }
}

/* Pipes of a row keep what the column they empty says: the one they start at, or the other.  Nothing is left
 * of flows so small that denormal numbers would round them up. */
static void scale_pipes(const und_columns *s, int z, int pipe, ptrdiff_t other)
{
    const float least = 1e-30f;
    const size_t row = und_columns_at(s, 0, z);
    float *restrict now = s->flow[pipe] + row, *restrict before = s->before[pipe];
    const float *restrict own = s->keep + row, *restrict theirs = s->keep + row + other;
    const int n = s->nx;
    if (before) {
        before += row;
        for (int x = 0; x < n; x++) {
            float keep = now[x] + before[x] > 0 ? own[x] : theirs[x];
            keep = fabsf(keep * (now[x] + before[x])) > least ? keep : 0;
            now[x] *= keep;
            before[x] *= keep;
        }
        return;
    }
    SIMD
    for (int x = 0; x < n; x++) {
        float kept = now[x] * (now[x] > 0 ? own[x] : theirs[x]);
        now[x] = fabsf(kept) > least ? kept : 0;
    }
}

static void scale_row(const und_columns *s, int z)
{
    scale_pipes(s, z, PIPE_X, 1);
    scale_pipes(s, z, PIPE_Z, s->stride);
    scale_pipes(s, z, PIPE_DOWN, s->stride + 1);
    scale_pipes(s, z, PIPE_UP, s->stride - 1);
}

/* A row is tight unless its shallowest column has more than all pipes around it could take. */
static bool find_tight(und_columns *s)
{
    bool any = false;
    for (int z = 0; z < s->nz; z++) {
        double own = (double)s->rows[z].fastest, before = z > 0 ? (double)s->rows[z - 1].fastest : 0;
        double most =
            2 * own + 3 * before; /* its pipes and the one that ends here; three from the row before */
        if (s->before[0])
            most = INFINITY;
        s->rows[z].tight = s->rows[z].judged = s->rows[z].shallowest * (1 - 1e-5) <= s->dt * most;
        any |= s->rows[z].tight;
    }
    return any;
}

static void judge(und_columns *s, int z, bool last)
{
    if (s->before[0])
        judge_row_by_mean(s, z, last);
    else
        judge_row(s, z, last);
}

/* Where the rows beside it were scaled back, a row must be judged again. */
static bool next_round(und_columns *s)
{
    bool any = false;
    for (int z = 0; z < s->nz; z++)
        any |= s->rows[z].judged && s->rows[z].scaled;
    for (int z = 0; z < s->nz && any; z++) {
        bool near = false;
        for (int k = z > 0 ? z - 1 : 0; k <= z + 1 && k < s->nz; k++)
            near |= s->rows[k].scaled;
        s->rows[z].judged = s->rows[z].tight && near;
    }
    return any;
}

/* Equation 9: where a column would have less than nothing, all pipes that empty it are scaled back, and again
 * until none has.  All columns of a round judge by the same flows, so no order matters; flows only ever
 * shrink; and the round after ROUNDS is the last by its rule. */
void und_columns_scale_back(und_columns *s)
{
    if (!find_tight(s))
        return;
    for (int round = 0; round <= ROUNDS; round++) {
        PARALLEL_FOR(s->threads)
        for (int z = 0; z < s->nz; z++) {
            s->rows[z].scaled = false;
            if (s->rows[z].judged || (round == ROUNDS && s->rows[z].tight))
                judge(s, z, round == ROUNDS);
        }
        if (!next_round(s))
            return;
        PARALLEL_FOR(s->threads)
        for (int z = 0; z < s->nz; z++)
            if (s->rows[z].scaled || (z + 1 < s->nz && s->rows[z + 1].scaled))
                scale_row(s, z);
        s->rounds = round + 1 > s->rounds ? round + 1 : s->rounds;
    }
    for (int z = 0; z < s->nz; z++) /* what the last round said holds for this step alone */
        for (int x = 0; x < s->nx && s->rows[z].scaled; x++)
            s->keep[und_columns_at(s, x, z)] = 1;
}

/* Equation 7 for a row. */
static void move_row(und_columns *s, int z)
{
    const size_t row = und_columns_at(s, 0, z), up = row - (size_t)s->stride;
    const float *const *f = (const float *const *)s->flow;
    const float *restrict x0 = f[PIPE_X] + row, *restrict z1 = f[PIPE_Z] + row, *restrict z0 = f[PIPE_Z] + up;
    const float *restrict d1 = f[PIPE_DOWN] + row, *restrict d0 = f[PIPE_DOWN] + up;
    const float *restrict u1 = f[PIPE_UP] + row, *restrict u0 = f[PIPE_UP] + up;
    double *restrict depth = s->depth + row, dt = s->dt;
    float *restrict rises = s->rise + row;
    int32_t deepest = 0, quickest = 0;
    UND_PRAGMA(omp simd reduction(max : deepest, quickest))
    for (int x = 0; x < s->nx; x++) {
        float rise = (x0[x - 1] - x0[x]) + (z0[x] - z1[x]) + (d0[x - 1] - d1[x]) + (u0[x + 1] - u1[x]);
        double sum = ((double)x0[x - 1] - (double)x0[x]) + ((double)z0[x] - (double)z1[x]) +
                     ((double)d0[x - 1] - (double)d1[x]) + ((double)u0[x + 1] - (double)u1[x]);
        double now = depth[x] + dt * sum;
        depth[x] = now;
        rises[x] = rise;
        int32_t deep = order_of((float)now), quick = order_of(rise > 0 ? rise : 0);
        deepest = deep > deepest ? deep : deepest;
        quickest = quick > quickest ? quick : quickest;
    }
    s->rows[z].deepest = (double)number_of(deepest);
    s->rows[z].quickest = number_of(quickest);
}

/* The same with the mean of old and new flow, as printed. */
static void move_row_by_mean(und_columns *s, int z)
{
    const pipe_rows r = pipes_of(s, z);
    und_columns_row *row = &s->rows[z];
    row->deepest = 0;
    row->quickest = -INFINITY;
    for (int x = 0; x < s->nx; x++) {
        size_t at = und_columns_at(s, x, z);
        exchange e = exchange_of(&r, x);
        s->depth[at] += s->dt * (e.in - e.out);
        row->deepest = fmax(row->deepest, s->depth[at]);
        s->rise[at] = (float)(e.in - e.out);
        row->quickest = fmaxf(row->quickest, s->rise[at]);
    }
}

void und_columns_move_water(und_columns *s)
{
    PARALLEL_FOR(s->threads)
    for (int band = 0; band < (s->nz + BAND - 1) / BAND; band++)
        for (int z = band * BAND; z < s->nz && z < (band + 1) * BAND; z++)
            if (s->before[0])
                move_row_by_mean(s, z);
            else
                move_row(s, z);
    s->deepest = 0;
    for (int z = 0; z < s->nz; z++)
        s->deepest = fmax(s->deepest, s->rows[z].deepest);
}

und_column und_columns_column(const und_columns *s, size_t at)
{
    double depth = s->depth[at];
    return (und_column){(double)s->ground[at] + depth, (float)depth, s->ground[at],
                        s->load ? s->load[at] : 0};
}

double und_columns_pipe_flux(const und_columns *s, int pipe, int x, int z)
{
    double share = straight_share(s) * (1 + walls_beside(s, pipe, x, z) * s->def.diagonal);
    return (double)s->flow[pipe][und_columns_at(s, x, z)] * s->height_field.grid.dx / share;
}

double und_columns_pipe_speed(const und_columns *s, int pipe, int x, int z)
{
    size_t at = und_columns_at(s, x, z), other = at + (pipe == PIPE_X ? 1 : (size_t)s->stride);
    double depth =
        (double)und_pipe_depth(und_columns_column(s, at), und_columns_column(s, other), s->pipes.reach);
    return depth > (double)UND_FILM ? und_columns_pipe_flux(s, pipe, x, z) / depth : 0;
}

/* By the column's own depth: a pipe at the water's edge may be all but dry while its flow goes on, and is no
 * measure.  And no faster than a column a step, since what leaves a column is at most all of it. */
void und_columns_speed(const und_columns *s, int x, int z, double out[2])
{
    double depth = fmin(s->depth[und_columns_at(s, x, z)], (double)s->pipes.reach);
    double most = s->height_field.grid.dx / s->dt;
    out[0] = 0.5 * (und_columns_pipe_flux(s, PIPE_X, x - 1, z) + und_columns_pipe_flux(s, PIPE_X, x, z));
    out[1] = 0.5 * (und_columns_pipe_flux(s, PIPE_Z, x, z - 1) + und_columns_pipe_flux(s, PIPE_Z, x, z));
    for (int k = 0; k < 2; k++)
        out[k] = depth > (double)UND_FILM ? fmax(-most, fmin(out[k] / depth, most)) : 0;
}
