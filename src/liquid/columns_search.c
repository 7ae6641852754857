/* The force between a body and the water.  O'Brien & Hodgins 1995, section 4.
 *
 * The body and the surface must agree at the end of the step: no control point that the body covers may be
 * above the body's lower side, and where it is below there is no force.  The force at each control point lies
 * in [0, f_max]: with more than the head that reaches the body's upper side, and what it rams the water with,
 * the water closes over it.  How the surface moves is linear in the heads (eqs 5 to 7 for one step), and so
 * is how the body moves (eq. 16); so the point's own head that closes its gap is known when the others stand,
 * and going over the points again and again finds them all (projected Gauss-Seidel; Cottle, Pang & Stone,
 * "The Linear Complementarity Problem", 1992).  That is the search.  The estimate goes over them once, from
 * the weight of the displaced water: each point of the impact face by itself. */
#include "liquid/columns_bodies.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 100 };

/* Pipes in the order of und_columns.flow, then the same backwards. */
static const int step_x[8] = {1, 0, 1, -1, -1, 0, -1, 1}, step_z[8] = {0, 1, 1, 1, 0, -1, -1, -1};

/* The columns that the body's control points touch, and those beside them. */
typedef struct patch {
    int x0, z0, nx, nz;
} patch;

static patch patch_of(const und_columns_contact *c)
{
    return (patch){c->x0 - 2, c->z0 - 2, c->x1 - c->x0 + 4, c->z1 - c->z0 + 4};
}

static bool in_grid(const und_columns *s, int x, int z)
{
    return x >= 0 && z >= 0 && x < s->nx && z < s->nz;
}

/* dt times what flows through the pipe for a metre of head: how much that moves the columns it joins. */
static float pipe_weight(const und_columns *s, int x, int z, int pipe)
{
    size_t at = und_columns_at(s, x, z), other = und_columns_at(s, x + step_x[pipe], z + step_z[pipe]);
    float depth = und_pipe_depth(und_columns_column(s, at), und_columns_column(s, other), s->pipes.reach);
    float share = pipe == PIPE_X || pipe == PIPE_Z ? und_columns_straight(s, pipe, x, z) : s->pipes.diagonal;
    return depth > UND_FILM ? (float)s->dt * share * depth : 0;
}

static void weigh_pipes(und_columns *s, const patch *p)
{
    float(*weight)[8] = s->scratch->weight;
    memset(weight, 0, (size_t)(p->nx * p->nz) * sizeof *weight);
    for (int j = 0; j < p->nz; j++)
        for (int i = 0; i < p->nx; i++)
            for (int k = 0; k < PIPES; k++) {
                int oi = i + step_x[k], oj = j + step_z[k], x = p->x0 + i, z = p->z0 + j;
                if (oi < 0 || oi >= p->nx || oj >= p->nz || !in_grid(s, x, z) ||
                    !in_grid(s, p->x0 + oi, p->z0 + oj))
                    continue;
                weight[j * p->nx + i][k] = weight[oj * p->nx + oi][k + PIPES] = pipe_weight(s, x, z, k);
            }
}

/* The pressure that a column's pipes see, m. */
static double head_of(const und_columns *s, size_t at)
{
    return (double)s->ground[at] + s->depth[at] + (double)(und_columns_ahead(s) * s->rise[at] + s->load[at]);
}

/* Where the surface will be at the end of the step with the load there is now, from others. */
static void predict(und_columns *s, const patch *p)
{
    und_columns_scratch *w = s->scratch;
    weigh_pipes(s, p);
    for (int j = 0; j < p->nz; j++)
        for (int i = 0; i < p->nx; i++) {
            int x = p->x0 + i, z = p->z0 + j, n = j * p->nx + i;
            w->after[n] = 0;
            if (!in_grid(s, x, z))
                continue;
            size_t at = und_columns_at(s, x, z);
            double head = head_of(s, at), sum = 0;
            for (int k = 0; k < 8; k++)
                if (w->weight[n][k] > 0)
                    sum += (double)w->weight[n][k] *
                           (head_of(s, und_columns_at(s, x + step_x[k], z + step_z[k])) - head);
            w->after[n] =
                (double)s->ground[at] + s->depth[at] + sum + s->dt * (double)(s->pipes.kept * s->rise[at]);
        }
}

/* A column of the patch that a control point touches; at the domain's edge the nearest. */
static int touched(const und_columns *s, const patch *p, const und_point_load *point, int k)
{
    int x = point->i + (k & 1), z = point->j + (k >> 1);
    x = x < 0 ? 0 : x >= s->nx ? s->nx - 1 : x;
    z = z < 0 ? 0 : z >= s->nz ? s->nz - 1 : z;
    return (z - p->z0) * p->nx + x - p->x0;
}

/* Adds a head to the four columns of a control point: their water goes to the neighbours. */
static void add_head(und_columns *s, const patch *p, const und_point_load *point, double head)
{
    und_columns_scratch *w = s->scratch;
    for (int k = 0; k < 4; k++) {
        int n = touched(s, p, point, k);
        for (int q = 0; q < 8; q++) {
            double moved = 0.25 * head * (double)w->weight[n][q];
            w->after[n] -= moved;
            w->after[n + step_z[q] * p->nx + step_x[q]] += moved;
        }
    }
}

static double height_at(const und_columns *s, const patch *p, const und_point_load *point) /* eq. 10 */
{
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += s->scratch->after[touched(s, p, point, k)];
    return 0.25 * sum;
}

/* How far water that a body falls through is open above it: 1 where the body reaches above the level or rams
 * the water harder than that closes in, 0 where it is closed. */
static double openness(const und_line_load *l, double level, double ram)
{
    double under = level - (l->bottom + l->thickness) - ram;
    return fmax(0, fmin(1 - under / l->thickness, 1));
}

/* How much of a control point's part of the plane lies in the domain: 1, or a half along each edge. */
static double within_domain(const und_columns *s, const und_point_load *p)
{
    return (p->i < 0 || p->i >= s->nx - 1 ? 0.5 : 1) * (p->j < 0 || p->j >= s->nz - 1 ? 0.5 : 1);
}

/* What a control point sees of the body: the mean over its lines.  The ram is of the body's own speed: what
 * presses makes the water beside rise at once, and counted against that it would feed itself in deep water.
 */
static und_face face_of(const und_columns *s, const und_body_view *v, const und_point_load *p)
{
    und_face f = {.cover = p->count * v->share / und_pool_cell_area(&s->pool)};
    for (int k = p->first; k < p->first + p->count; k++) {
        const und_line_load *l = &s->scratch->line[k];
        double falling = und_body_falling(v, l), level = und_contact_level(v->contact, l->x, l->z);
        double down = fmax(falling - v->contact->water.y, 0);
        double ram = 0.5 * v->def->drag * down * down / s->def.pool.gravity;
        double open = openness(l, level, ram);
        f.x += l->x / p->count;
        f.z += l->z / p->count;
        f.bottom += l->bottom / p->count;
        f.least += (1 - open) * l->thickness / p->count;
        f.most += (l->thickness + open * ram) / p->count;
        f.speed += (v->contact->water.y - falling) / p->count;
    }
    f.head = fmax(f.least, fmin(p->room / f.cover, f.most));
    f.reach = f.cover / within_domain(s, p);
    return f;
}

/* A step to the control point beside one, or where that is beyond the domain's edge, to its mirror image. */
static int mirrored(int at, int step, int count)
{
    return (at < 0 && step < 0) || (at >= count - 1 && step > 0) ? -step : step;
}

/* Where the control points must not rise above: the body's lower side where it covers the plane, the level
 * around elsewhere, both seen as the surface is: heads reach it through columns, and columns make control
 * points (eqs 11 and 10), each a mean of four.  So water that is displaced by its own weight agrees. */
static void find_aims(und_columns *s, const und_body_view *v)
{
    const und_columns_contact *c = v->contact;
    und_columns_scratch *w = s->scratch;
    const double part[3] = {0.25, 0.5, 0.25};
    int width = c->x1 - c->x0 + 3, x0 = c->x0 - 2, z0 = c->z0 - 2;
    for (int k = 0; k < width * (c->z1 - c->z0 + 3); k++)
        w->hull[k] = und_contact_level(c, und_columns_x(s, x0 + k % width + 0.5),
                                       und_columns_z(s, z0 + k / width + 0.5));
    for (int n = 0; n < w->point_count; n++) {
        double *hull = &w->hull[(w->point[n].j - z0) * width + w->point[n].i - x0], reach = w->face[n].reach;
        *hull = reach * w->face[n].bottom + (1 - reach) * fmax(*hull, w->face[n].bottom);
    }
    for (int n = 0; n < w->point_count; n++) {
        const und_point_load *point = &w->point[n];
        const double *hull = &w->hull[(point->j - z0) * width + point->i - x0];
        w->face[n].aim = 0;
        for (int k = 0; k < 9; k++) {
            int i = mirrored(point->i, k % 3 - 1, s->nx), j = mirrored(point->j, k / 3 - 1, s->nz);
            w->face[n].aim += part[k % 3] * part[k / 3] * hull[j * width + i];
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

/* How much one metre of head opens the gap: it lowers the surface, by what leaves the four columns, and lifts
 * the body. */
static double stiffness(const und_columns *s, const und_body_view *v, const patch *p,
                        const und_point_load *point, const und_face *f, const response *r, double impulse)
{
    const int own[4] = {touched(s, p, point, 0), touched(s, p, point, 1), touched(s, p, point, 2),
                        touched(s, p, point, 3)};
    double leaves = 0;
    for (int k = 0; k < 4; k++)
        for (int q = 0; q < 8; q++) {
            int other = own[k] + step_z[q] * p->nx + step_x[q];
            bool stays = other == own[0] || other == own[1] || other == own[2] || other == own[3];
            leaves += stays ? 0 : (double)s->scratch->weight[own[k]][q];
        }
    response alone = *r;
    alone.speed = alone.spin = und_vec(0, 0, 0);
    push_up(v, &alone, f, impulse * f->cover);
    return f->reach * (leaves / 16 + s->dt * lift_at(v, &alone, f));
}

/* Changes the head at a control point, and with it the surface and the body's motion. */
static void change_head(und_columns *s, const und_body_view *v, const patch *p, int n, response *r,
                        double impulse, double by)
{
    add_head(s, p, &s->scratch->point[n], by * s->scratch->face[n].cover);
    push_up(v, r, &s->scratch->face[n], by * impulse * s->scratch->face[n].cover);
}

/* Sets each point's head so that its gap closes, the others' as they are; the largest change, m. */
static double sweep(und_columns *s, const und_body_view *v, const patch *p, response *r, double impulse)
{
    double largest = 0;
    for (int n = 0; n < s->scratch->point_count; n++) {
        und_face *f = &s->scratch->face[n];
        double aim = f->aim + f->reach * s->dt * (f->speed + lift_at(v, r, f));
        double inside = height_at(s, p, &s->scratch->point[n]) - aim;
        double head = fmax(f->least, fmin(f->head + (f->stiff > 0 ? inside / f->stiff : 0), f->most));
        largest = fmax(largest, fabs(head - f->head));
        change_head(s, v, p, n, r, impulse, head - f->head);
        f->head = head;
    }
    return largest;
}

void und_columns_find_force(und_columns *s, und_body_view *v)
{
    und_columns_scratch *w = s->scratch;
    patch p = patch_of(v->contact);
    const double weight = s->def.pool.density * s->def.pool.gravity, cell = und_pool_cell_area(&s->pool);
    const double impulse = weight * s->dt * cell; /* of a metre of head */
    response r = {.mass = und_bodies_inverse_mass(s->bodies, v->body)};
    und_bodies_inverse_inertia(s->bodies, v->body, r.turn);
    r.speed.y = r.mass > 0 ? -s->def.pool.gravity * s->dt : 0;
    predict(s, &p);
    for (int n = 0; n < w->point_count; n++) {
        w->face[n] = face_of(s, v, &w->point[n]);
        w->face[n].stiff = stiffness(s, v, &p, &w->point[n], &w->face[n], &r, impulse);
        change_head(s, v, &p, n, &r, impulse, w->face[n].head);
    }
    find_aims(s, v);
    int most = s->def.force == UND_FORCE_SEARCH ? MOST_SWEEPS : 1;
    for (int k = 0; k < most; k++)
        if (sweep(s, v, &p, &r, impulse) < 1e-3 * s->pool.grid.dx)
            break;
    for (int n = 0; n < w->point_count; n++) {
        double head = w->face[n].head * w->face[n].cover;
        und_body_lift(v, w->face[n].x, w->face[n].z, weight * head * cell);
        und_columns_press(s, v, &w->point[n], head);
    }
}
