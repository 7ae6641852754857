/* The force between a body and the water.  O'Brien & Hodgins 1995, section 4.
 *
 * The body and the surface must agree at the end of the step: no control point that the body covers may be
 * above the body's lower side, and where it is below there is no force.  The force at each control point lies
 * in [0, f_max]: with more than the head that reaches the body's upper side, and what it rams the water with,
 * the water closes over it.  How the surface moves is linear in the heads (eqs 5 to 7 for one step), and so
 * is how the body moves (eq. 16); so the point's own head that closes its gap is known when the others stand,
 * and going over the points again and again finds them all (projected Gauss-Seidel; Cottle, Pang & Stone,
 * "The Linear Complementarity Problem", 1992).  That is the search.  The estimate goes over them once, row
 * by row, from the weight of the displaced water. */
#include "liquid/columns_bodies.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 100, ESTIMATES = 2 };

/* Pipes in the order of und_columns.flow. */
static const int step_x[PIPES] = {1, 0, 1, -1}, step_z[PIPES] = {0, 1, 1, 1};

/* The columns that the body's control points touch, and those beside them, within the grid. */
typedef struct patch {
    int x0, z0, nx, nz;
    int first;       /* index of its first column in the scratch arrays: a row of nothing is before it */
    int next[PIPES]; /* from a column to the one at the pipe's other end */
} patch;

static patch patch_of(const und_columns *s, const und_float_contact *c)
{
    int x1 = c->x1 + 2 < s->nx ? c->x1 + 2 : s->nx, z1 = c->z1 + 2 < s->nz ? c->z1 + 2 : s->nz;
    patch p = {.x0 = c->x0 > 2 ? c->x0 - 2 : 0, .z0 = c->z0 > 2 ? c->z0 - 2 : 0};
    p.nx = x1 - p.x0;
    p.nz = z1 - p.z0;
    p.first = p.nx + 1;
    for (int k = 0; k < PIPES; k++)
        p.next[k] = step_z[k] * p.nx + step_x[k];
    return p;
}

/* dt times what flows through the pipes of a row for a metre of head: how much that moves the columns they
 * join.  Pipes that lead out of the patch have none. */
static void weigh_row(const und_columns *s, const patch *p, int j, int pipe)
{
    const size_t row = und_columns_at(s, p->x0, p->z0 + j);
    const ptrdiff_t other = step_z[pipe] * (ptrdiff_t)s->stride + step_x[pipe];
    const double *restrict depth = s->depth + row;
    const float *restrict ground = s->ground + row;
    float *restrict weight = s->scratch->weight[pipe] + p->first + j * p->nx;
    const int from = step_x[pipe] < 0 ? 1 : 0, to = step_x[pipe] > 0 ? p->nx - 1 : p->nx;
    const float reach = s->pipes.reach, dt = (float)s->dt;
    SIMD
    for (int i = from; i < to; i++) {
        und_column a = {0, (float)depth[i], ground[i], 0};
        und_column b = {0, (float)depth[i + other], ground[i + other], 0};
        float deep = und_pipe_depth(&a, &b, reach);
        weight[i] = deep > UND_FILM ? dt * deep : 0;
    }
    float share = pipe == PIPE_X ? und_columns_straight(s, PIPE_X, 0, p->z0 + j) : s->pipes.diagonal;
    for (int i = from; i < to; i++)
        weight[i] *= pipe == PIPE_Z ? s->share_z[p->x0 + i] : share;
}

static void weigh_pipes(und_columns *s, const patch *p)
{
    und_columns_scratch *w = s->scratch;
    const int all = p->nx * p->nz;
    for (int k = 0; k < PIPES; k++) {
        memset(w->weight[k], 0, (size_t)(all + 2 * p->first) * sizeof *w->weight[k]);
        for (int j = 0; j + step_z[k] < p->nz; j++)
            weigh_row(s, p, j, k);
    }
    for (int n = p->first; n < p->first + all; n++) {
        float sum = 0;
        for (int k = 0; k < PIPES; k++)
            sum += w->weight[k][n] + w->weight[k][n - p->next[k]];
        w->leaves[n] = (double)sum;
    }
}

/* Where the surface will be at the end of the step with the load there is, and the first guess of the body's.
 */
static void predict(und_columns *s, const patch *p)
{
    und_columns_scratch *w = s->scratch;
    const float ahead = und_columns_ahead(s);
    for (int j = 0; j < p->nz; j++)
        for (int i = 0; i < p->nx; i++) {
            size_t at = und_columns_at(s, p->x0 + i, p->z0 + j);
            int n = p->first + j * p->nx + i;
            double top = (double)s->ground[at] + s->depth[at];
            w->top[n] = top;
            w->head[n] = top + (double)(ahead * s->rise[at] + s->load[at]);
            w->after[n] = top + s->dt * (double)(s->pipes.kept * s->rise[at]);
        }
    for (int n = 0; n < w->count; n++)
        for (int k = 0; k < 4; k++)
            w->head[w->face[n].own[k]] += 0.25 * w->face[n].head * w->face[n].cover;
    for (int k = 0; k < PIPES; k++) {
        const float *restrict weight = w->weight[k];
        const double *restrict head = w->head;
        double *restrict after = w->after;
        const int first = p->first, end = p->first + p->nx * p->nz, next = p->next[k];
        SIMD
        for (int n = first; n < end; n++)
            after[n] += (double)weight[n] * (head[n + next] - head[n]) +
                        (double)weight[n - next] * (head[n - next] - head[n]);
    }
}

/* A column of the patch that a control point touches; at the domain's edge the nearest. */
static int touched(const und_columns *s, const patch *p, const und_face *f, int k)
{
    int x = f->i + (k & 1), z = f->j + (k >> 1);
    x = x < 0 ? 0 : x >= s->nx ? s->nx - 1 : x;
    z = z < 0 ? 0 : z >= s->nz ? s->nz - 1 : z;
    return p->first + (z - p->z0) * p->nx + x - p->x0;
}

/* Adds a head to the four columns of a control point: their water goes to the neighbours. */
static void add_head(und_columns *s, const patch *p, const und_face *f, double head)
{
    und_columns_scratch *w = s->scratch;
    for (int k = 0; k < 4; k++) {
        int n = f->own[k];
        w->after[n] -= 0.25 * head * w->leaves[n];
        for (int q = 0; q < PIPES; q++) {
            w->after[n + p->next[q]] += 0.25 * head * (double)w->weight[q][n];
            w->after[n - p->next[q]] += 0.25 * head * (double)w->weight[q][n - p->next[q]];
        }
    }
}

static double height_at(const double *top, const und_face *f) /* eq. 10 */
{
    return 0.25 * (top[f->own[0]] + top[f->own[1]] + top[f->own[2]] + top[f->own[3]]);
}

/* A step to the control point beside one, or where that is beyond the domain's edge, to its mirror image. */
static int mirrored(int at, int step, int count)
{
    return (at < 0 && step < 0) || (at >= count - 1 && step > 0) ? -step : step;
}

/* Where the control points must not rise above: the surface that the body leaves where it covers the plane,
 * the level around elsewhere, both seen as the surface is: heads reach it through columns, and columns make
 * control points (eqs 11 and 10), each a mean of four.  So water that is displaced by its own weight agrees.
 */
static void find_aims(und_columns *s, const und_body_view *v)
{
    const und_float_contact *c = v->contact;
    und_columns_scratch *w = s->scratch;
    const double part[3] = {0.25, 0.5, 0.25};
    int width = c->x1 - c->x0 + 3, x0 = c->x0 - 2, z0 = c->z0 - 2;
    for (int k = 0; k < width * (c->z1 - c->z0 + 3); k++)
        w->hull[k] = und_contact_level(c, und_columns_x(s, x0 + k % width + 0.5),
                                       und_columns_z(s, z0 + k / width + 0.5));
    for (int n = 0; n < w->count; n++) {
        const und_face *f = &w->face[n];
        double *hull = &w->hull[(f->j - z0) * width + f->i - x0];
        *hull = f->reach * f->surface + (1 - f->reach) * und_larger(*hull, f->surface);
    }
    for (int n = 0; n < w->count; n++) {
        und_face *f = &w->face[n];
        const double *hull = &w->hull[(f->j - z0) * width + f->i - x0];
        f->aim = 0;
        for (int k = 0; k < 9; k++) {
            int i = mirrored(f->i, k % 3 - 1, s->nx), j = mirrored(f->j, k / 3 - 1, s->nz);
            f->aim += part[k % 3] * part[k / 3] * hull[j * width + i];
        }
    }
}

/* What an upward impulse at a place does to the body: its velocity there and its spin. */
typedef struct response {
    double mass, turn[9];
    und_vec3 speed, spin; /* gained so far */
} response;

static double lift_at(const und_body_view *v, const response *r, const und_face *f)
{
    return r->speed.y + r->spin.z * (f->x - v->state.position[0]) - r->spin.x * (f->z - v->state.position[2]);
}

static void push_up(const und_body_view *v, response *r, const und_face *f, double impulse)
{
    double tx = -(f->z - v->state.position[2]) * impulse, tz = (f->x - v->state.position[0]) * impulse;
    r->speed.y += r->mass * impulse;
    r->spin.x += r->turn[0] * tx + r->turn[2] * tz;
    r->spin.y += r->turn[3] * tx + r->turn[5] * tz;
    r->spin.z += r->turn[6] * tx + r->turn[8] * tz;
}

/* How much one metre of head opens the gap: it lowers the surface, by what leaves the four columns (and does
 * not stay among them), and lifts the body. */
static double stiffness(const und_columns *s, const und_body_view *v, const und_face *f, const response *r,
                        double impulse)
{
    const und_columns_scratch *w = s->scratch;
    const int *own = f->own;
    double leaves = w->leaves[own[0]] + w->leaves[own[1]] + w->leaves[own[2]] + w->leaves[own[3]];
    if (own[0] != own[1] && own[0] != own[2])
        leaves -= 2 * (double)(w->weight[PIPE_X][own[0]] + w->weight[PIPE_X][own[2]] +
                               w->weight[PIPE_Z][own[0]] + w->weight[PIPE_Z][own[1]] +
                               w->weight[PIPE_DOWN][own[0]] + w->weight[PIPE_UP][own[1]]);
    response alone = *r;
    alone.speed = alone.spin = und_vec(0, 0, 0);
    push_up(v, &alone, f, impulse * f->cover);
    return f->reach * (leaves / 16 + s->dt * lift_at(v, &alone, f));
}

/* How far the surface will be above where it should, m.  What it is already is closed within the pipes' own
 * step; in a shorter one the force would go on and off. */
static double inside(const und_columns *s, const und_body_view *v, const und_face *f, const response *r)
{
    double later = (1 - s->closing) * (height_at(s->scratch->top, f) - f->aim);
    return height_at(s->scratch->after, f) - later -
           (f->aim + f->reach * s->dt * (f->speed + lift_at(v, r, f)));
}

static double better_head(const und_face *f, double above)
{
    return und_larger(f->least, und_smaller(f->head + (f->stiff > 0 ? above / f->stiff : 0), f->most));
}

/* Changes a head, and with it what becomes of the surface and the body; the change, m. */
static double set_head(und_columns *s, const und_body_view *v, const patch *p, und_face *f, response *r,
                       double impulse, double head)
{
    double change = head - f->head;
    add_head(s, p, f, change * f->cover);
    push_up(v, r, f, change * impulse * f->cover);
    f->head = head;
    return fabs(change);
}

/* Each point of the impact face by itself, by how easily the water there and the whole body yield; no point
 * comes before another. */
static void estimate(und_columns *s, const und_body_view *v, const patch *p, response *r, double impulse)
{
    const und_columns_scratch *w = s->scratch;
    double covered = v->area / und_height_field_cell_area(&s->height_field),
           lift = s->dt * r->mass * impulse * covered;
    for (int sweep = 0; sweep < ESTIMATES; sweep++) {
        for (int n = 0; n < w->count; n++) {
            und_face *f = &w->face[n];
            double above = 0.7 * inside(s, v, f, r) * f->stiff / (f->stiff + f->reach * lift);
            f->next = better_head(f, above);
        }
        for (int n = 0; n < w->count && sweep + 1 < ESTIMATES; n++)
            set_head(s, v, p, &w->face[n], r, impulse, w->face[n].next);
    }
    for (int n = 0; n < w->count; n++)
        w->face[n].head = w->face[n].next;
}

/* Point after point, until all gaps are closed as far as they can be. */
static void search(und_columns *s, const und_body_view *v, const patch *p, response *r, double impulse)
{
    double largest = INFINITY;
    for (int sweep = 0; sweep < MOST_SWEEPS && largest > 1e-3 * s->height_field.grid.dx; sweep++) {
        largest = 0;
        for (int n = 0; n < s->scratch->count; n++) {
            und_face *f = &s->scratch->face[n];
            double head = better_head(f, inside(s, v, f, r));
            largest = und_larger(largest, set_head(s, v, p, f, r, impulse, head));
        }
    }
}

/* Equation 17 is the force that keeps the body where it is: what the body rams the water with stops it in
 * this step at most. */
static void bound_ram(const und_columns *s, const und_body_view *v, const response *r, double impulse)
{
    const und_columns_scratch *w = s->scratch;
    double all = 0, share = 1;
    for (int n = 0; n < w->count; n++)
        all += w->face[n].ram * w->face[n].cover * impulse;
    if (r->mass > 0 && all > 0)
        share = und_smaller(und_larger(-v->state.velocity[1], 0) / (all * r->mass), 1);
    for (int n = 0; n < w->count; n++)
        w->face[n].most += share * w->face[n].ram;
}

void und_columns_find_force(und_columns *s, und_body_view *v)
{
    und_columns_scratch *w = s->scratch;
    patch p = patch_of(s, v->contact);
    const double weight = s->def.height_field.density * s->def.height_field.gravity,
                 cell = und_height_field_cell_area(&s->height_field);
    const double impulse = weight * s->dt * cell; /* of a metre of head */
    response r = {.mass = und_bodies_inverse_mass(s->floats.bodies, v->body)};
    und_bodies_inverse_inertia(s->floats.bodies, v->body, r.turn);
    r.speed.y = r.mass > 0 ? -s->def.height_field.gravity * s->dt : 0;
    w->count = v->contact->count;
    w->face = v->contact->face;
    weigh_pipes(s, &p);
    bound_ram(s, v, &r, impulse);
    for (int n = 0; n < w->count; n++) {
        und_face *f = &w->face[n];
        for (int k = 0; k < 4; k++)
            f->own[k] = touched(s, &p, f, k);
        f->stiff = stiffness(s, v, f, &r, impulse);
        f->head =
            und_larger(f->least, und_smaller(f->room / f->cover, f->most)); /* what is displaced weighs */
    }
    for (int n = 0; n < w->count; n++)
        push_up(v, &r, &w->face[n], w->face[n].head * impulse * w->face[n].cover);
    predict(s, &p);
    find_aims(s, v);
    if (s->def.force == UND_FORCE_SEARCH)
        search(s, v, &p, &r, impulse);
    else
        estimate(s, v, &p, &r, impulse);
    for (int n = 0; n < w->count; n++) {
        const und_face *f = &w->face[n];
        double head = f->head * f->cover, force = weight * head * cell;
        v->force += force;
        v->twist.x -= (f->z - v->state.position[2]) * force;
        v->twist.z += (f->x - v->state.position[0]) * force;
        und_columns_press(s, v, f, head);
    }
}
