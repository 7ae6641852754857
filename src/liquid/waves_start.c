/* The flow that belongs to a surface which rises and falls at the start.
 *
 * Where flows are kept (second order, or a recovered velocity) the surface's speed must come from them:
 * -div q = rise.  Of all such flows the one without eddies is taken, q = d grad p with div(d grad p) = -rise,
 * which is solved by conjugate gradients (Hestenes & Stiefel 1952) when the model is created.  A closed piece
 * of water cannot rise as a whole: its mean speed is left out, as the first order's correction does. */
#include "base/status.h"
#include "liquid/waves_kernel.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <stdlib.h>

/* The system, over all cells of the grid [nz][nx]; dry ones have no faces and keep 0. */
typedef struct start {
    const und_waves *s;
    int cells;
    double *right, *low;       /* depth at the faces at high x and high z, m */
    double *p, *r, *d, *q, *m; /* solution, residual, direction, its image, 1 / diagonal */
    int *stack, *piece;
} start;

static double face_depth(const und_waves *s, size_t a, size_t b)
{
    float da = (float)und_waves_depth(s, a), db = (float)und_waves_depth(s, b);
    return da > 0 && db > 0 ? (double)und_waves_face(da, db, (float)(s->height[b] - s->height[a])) : 0;
}

/* Faces, the diagonal, and the right side, dx^2 rise. */
static void set_up(start *w)
{
    const und_waves *s = w->s;
    for (int z = 0, i = 0; z < s->height_field.nz; z++)
        for (int x = 0; x < s->height_field.nx; x++, i++) {
            size_t at = und_waves_at(s, x, z);
            w->right[i] = x + 1 < s->height_field.nx ? face_depth(s, at, at + 1) : 0;
            w->low[i] =
                z + 1 < s->height_field.nz ? face_depth(s, at, at + (size_t)s->height_field.stride) : 0;
            w->r[i] = (double)s->rise[at] / s->rise_time * s->height_field.grid.dx * s->height_field.grid.dx;
            w->p[i] = 0;
        }
    for (int i = 0; i < w->cells; i++) {
        double sum = w->right[i] + w->low[i] + (i % s->height_field.nx > 0 ? w->right[i - 1] : 0) +
                     (i >= s->height_field.nx ? w->low[i - s->height_field.nx] : 0);
        w->m[i] = sum > 0 ? 1 / sum : 0;
    }
}

/* Takes the mean off the right side of the piece that a cell is in. */
static void center_piece(start *w, int seed)
{
    int nx = w->s->height_field.nx, count = 0, done = 0;
    double sum = 0;
    w->stack[count++] = seed;
    w->piece[seed] = 1;
    while (done < count) {
        int i = w->stack[done++];
        sum += w->r[i];
        const int next[4] = {i + 1, i - 1, i + nx, i - nx};
        const bool open[4] = {w->right[i] > 0, i % nx > 0 && w->right[i - 1] > 0, w->low[i] > 0,
                              i >= nx && w->low[i - nx] > 0};
        for (int k = 0; k < 4; k++)
            if (open[k] && !w->piece[next[k]]) {
                w->piece[next[k]] = 1;
                w->stack[count++] = next[k];
            }
    }
    for (int k = 0; k < count; k++)
        w->r[w->stack[k]] -= sum / count;
}

/* q = -div(d grad p) dx^2, with d in p's place. */
static void apply(const start *w)
{
    int nx = w->s->height_field.nx;
    for (int i = 0; i < w->cells; i++) {
        double sum = w->m[i] > 0 ? w->d[i] / w->m[i] : 0;
        if (w->right[i] > 0)
            sum -= w->right[i] * w->d[i + 1];
        if (i % nx > 0)
            sum -= w->right[i - 1] * w->d[i - 1];
        if (w->low[i] > 0)
            sum -= w->low[i] * w->d[i + nx];
        if (i >= nx)
            sum -= w->low[i - nx] * w->d[i - nx];
        w->q[i] = sum;
    }
}

static double dot(const start *w, const double *a, const double *b, const double *scale)
{
    double sum = 0;
    for (int i = 0; i < w->cells; i++)
        sum += a[i] * b[i] * (scale ? scale[i] : 1);
    return sum;
}

static void solve(start *w)
{
    double before = dot(w, w->r, w->r, w->m), now = before, enough = 1e-16 * before;
    for (int i = 0; i < w->cells; i++)
        w->d[i] = w->m[i] * w->r[i];
    /* While it runs somebody waits, and what is left to find is in the finest waves. */
    int most = (w->s->height_field.time > w->s->def.height_field.time ? 1 : 20) *
               (w->s->height_field.nx + w->s->height_field.nz);
    for (int n = 0; n < most && now > enough; n++) {
        apply(w);
        double step = now / dot(w, w->d, w->q, NULL);
        for (int i = 0; i < w->cells; i++) {
            w->p[i] += step * w->d[i];
            w->r[i] -= step * w->q[i];
        }
        double last = now;
        now = dot(w, w->r, w->r, w->m);
        for (int i = 0; i < w->cells; i++)
            w->d[i] = w->m[i] * w->r[i] + now / last * w->d[i];
    }
}

und_status und_waves_start_flow(und_waves *s, und_error *err)
{
    bool moves = s->def.velocity0.fn || s->def.velocity0.number != 0;
    return s->flux_x && moves ? und_waves_find_flow(s, err) : UND_OK;
}

und_status und_waves_need_flow(und_waves *s, und_error *err)
{
    if (s->def.order == 2 || s->speed_x)
        return und_waves_make_room(s, WAVES_FLOW, err);
    und_waves_end_room(s, WAVES_FLOW);
    return UND_OK;
}

und_status und_waves_find_flow(und_waves *s, und_error *err)
{
    start w = {.s = s, .cells = s->height_field.nx * s->height_field.nz};
    size_t cells = (size_t)w.cells;
    double *numbers = und_alloc(7 * cells, sizeof *numbers, "starting flow", err);
    w.stack = numbers ? und_alloc(2 * cells, sizeof *w.stack, "starting flow", err) : NULL;
    if (!w.stack) {
        free(numbers);
        return err->status;
    }
    double **parts[] = {&w.right, &w.low, &w.p, &w.r, &w.d, &w.q, &w.m};
    for (size_t i = 0; i < 7; i++)
        *parts[i] = numbers + i * cells;
    w.piece = w.stack + cells;
    set_up(&w);
    for (int i = 0; i < w.cells; i++)
        if (!w.piece[i])
            center_piece(&w, i);
    solve(&w);
    for (int z = 0, i = 0; z < s->height_field.nz; z++)
        for (int x = 0; x < s->height_field.nx; x++, i++) {
            size_t at = und_waves_at(s, x, z);
            s->flux_x[at] =
                w.right[i] > 0 ? (float)(w.right[i] * (w.p[i + 1] - w.p[i]) / s->height_field.grid.dx) : 0;
            s->flux_z[at] =
                w.low[i] > 0
                    ? (float)(w.low[i] * (w.p[i + s->height_field.nx] - w.p[i]) / s->height_field.grid.dx)
                    : 0;
        }
    free(w.stack);
    free(numbers);
    return UND_OK;
}
