/* Bodies and the water.  O'Brien & Hodgins 1995, section 4.
 *
 * A body that reaches below the water's level takes up room in the columns under it.  The room, as a height
 * of water, presses on them through the control points that the body covers (eq. 11), and as much pushes the
 * body up: at rest that is Archimedes' law, with the water under a floating body lowered to its hull.  What
 * presses besides slows the body down; columns_search.c finds it. */
#include "liquid/columns_bodies.h"

#include "base/parallel.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_BODIES = 8 }; /* with fewer, starting threads costs more than it saves */

/* Nothing presses but what the scene says. */
static void clear_load(und_columns *s)
{
    size_t row_bytes = (size_t)s->nx * sizeof(float);
    for (int z = 0; z < s->nz; z++) {
        size_t row = und_columns_at(s, 0, z);
        if (s->displaced && s->rows[z].pressed)
            memset(s->displaced + row, 0, row_bytes);
        if (s->pool.head)
            memcpy(s->load + row, s->pool.head + row, row_bytes);
        else if (s->rows[z].pressed)
            memset(s->load + row, 0, row_bytes);
        s->rows[z].pressed = s->pool.head != NULL;
    }
}

/* Marks the columns over which a drop may meet a body: one that is not wholly under water. */
static void cover(und_columns *s)
{
    memset(s->covered, 0, (size_t)s->stride * (size_t)s->nz);
    for (int i = 0; i < s->def.body_count; i++) {
        const und_columns_contact *c = &s->contact[i];
        int x0 = c->x0 > 0 ? c->x0 - 1 : 0, x1 = c->x1 < s->nx ? c->x1 + 1 : s->nx; /* it moves on */
        int z0 = c->z0 > 0 ? c->z0 - 1 : 0, z1 = c->z1 < s->nz ? c->z1 + 1 : s->nz;
        double reach = c->radius + 1.5 * s->pool.grid.dx;
        for (int z = z0; z < z1 && c->top > c->level - s->pool.grid.dx; z++)
            for (int x = x0; x < x1; x++) {
                double dx = und_columns_x(s, x) - c->center[0], dz = und_columns_z(s, z) - c->center[1];
                s->covered[und_columns_at(s, x, z)] |= dx * dx + dz * dz < reach * reach;
            }
    }
}

/* Each body by itself. */
static void find_faces(und_columns *s)
{
    PARALLEL_FOR(s->def.body_count < FEW_BODIES ? 1 : s->threads)
    for (int i = 0; i < s->def.body_count; i++)
        s->view[i] = und_columns_view(s, i);
}

/* Figures that wait for the water are let go when they meet it. */
static void release_wet(und_columns *s)
{
    for (int i = 0; i < s->def.body_count; i++)
        if (s->def.bodies[i].release_wet && s->view[i].room > 0 && und_bodies_led(s->bodies, i))
            und_bodies_let_go(s->bodies, i, s->pool.time);
}

void und_columns_push(und_columns *s)
{
    if (!s->load)
        return;
    s->closing = fmin(s->dt / und_columns_longest_step(s), 1);
    und_columns_look_around(s);
    clear_load(s);
    find_faces(s);
    release_wet(s);
    for (int i = 0; i < s->def.body_count; i++)
        if (s->view[i].contact->count > 0) {
            und_columns_find_force(s, &s->view[i]);
            und_columns_carry(s, &s->view[i]);
        }
    if (s->covered)
        cover(s);
    if (s->bodies)
        und_bodies_step(s->bodies, s->pool.time, s->dt);
}

static bool inside_body(const und_columns *s, und_vec3 p)
{
    for (int i = 0; i < s->def.body_count; i++) {
        const und_columns_contact *c = &s->contact[i];
        double pad = s->pool.grid.dx, reach = c->radius + pad; /* it has moved on */
        double dx = p.x - c->center[0], dz = p.z - c->center[1];
        if (p.y > c->top + pad || p.y < c->bottom - pad || dx * dx + dz * dz > reach * reach)
            continue;
        und_pose pose = und_bodies_pose(s->bodies, i);
        if (und_shape_distance(s->def.bodies[i].shape, und_pose_local(&pose, p)) < 0)
            return true;
    }
    return false;
}

void und_columns_meet(void *columns, const und_spray *spray, int first, int count, uint8_t *met)
{
    const und_columns *s = columns;
    const und_grid *g = &s->pool.grid;
    und_spray_floor floor = {
        .nx = s->nx, .nz = s->nz, .stride = s->stride, .dx = g->dx, .origin = {g->origin[0], g->origin[2]}};
    for (int k = 0; k < count; k++) {
        const float p[3] = {spray->place[0][first + k], spray->place[1][first + k],
                            spray->place[2][first + k]};
        int at = und_spray_cell(&floor, p[0], p[2]);
        if (at >= 0 && s->covered[at])
            met[k] = inside_body(s, und_vec((double)p[0], (double)p[1], (double)p[2]));
    }
}

/* Bodies stand in the water from the start: it is level around them, and not where they are. */
static void make_room(und_columns *s)
{
    und_columns_look_around(s);
    for (int i = 0; i < s->def.body_count; i++) {
        und_body_view v = und_columns_view(s, i);
        for (int n = 0; n < v.contact->count; n++)
            und_columns_press(s, &v, &v.contact->face[n], v.contact->face[n].room);
    }
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++) {
            size_t at = und_columns_at(s, x, z);
            double room = fmin((double)s->load[at], s->depth[at]);
            s->depth[at] -= room;
            s->displaced[at] = (float)room;
        }
}

/* The longest diagonal of a body's bounds, m. */
static double size_of(const und_body_def *def)
{
    und_bounds b = und_shape_bounds(def->shape);
    return und_length(und_sub(b.high, b.low));
}

static und_status make_contact(und_columns *s, int body, und_error *err)
{
    double side = size_of(&s->def.bodies[body]) / s->pool.grid.dx + 4;
    size_t nx = (size_t)fmin(side, s->nx + 2), nz = (size_t)fmin(side, s->nz + 2);
    und_columns_contact *c = &s->contact[body];
    und_bounds b = und_shape_bounds(s->def.bodies[body].shape);
    und_vec3 d = und_sub(b.high, b.low);
    c->smallest = fmin(d.x, fmin(d.y, d.z));
    c->face = und_alloc(nx * (nz + 1), sizeof *c->face, "bodies", err);
    c->length = und_alloc(LINES_MAX * nx, sizeof *c->length, "bodies", err);
    c->first = und_alloc(LINES_MAX * nx, sizeof *c->first, "bodies", err);
    return c->face && c->length && c->first ? UND_OK : err->status;
}

static void free_scratch(und_columns *s)
{
    if (s->scratch) {
        free(s->scratch->hull);
        free(s->scratch->top);
        free(s->scratch->head);
        free(s->scratch->after);
        free(s->scratch->leaves);
        for (int k = 0; k < PIPES; k++)
            free(s->scratch->weight[k]);
        free(s->scratch);
    }
    s->scratch = NULL;
}

/* For bodies no larger than `reach`. */
static und_status make_scratch(und_columns *s, double reach, und_error *err)
{
    if (s->scratch && s->scratch->reach >= reach)
        return UND_OK;
    free_scratch(s);
    und_columns_scratch *w = s->scratch = und_alloc(1, sizeof *w, "bodies", err);
    if (!w)
        return err->status;
    w->reach = reach;
    double side = reach / s->pool.grid.dx + 10; /* with a border, and rows of nothing before and after */
    size_t patch = (size_t)fmin(side, s->nx + 8) * (size_t)fmin(side, s->nz + 10);
    w->hull = und_alloc(patch, sizeof *w->hull, "bodies", err);
    w->top = und_alloc(patch, sizeof *w->top, "bodies", err);
    w->head = und_alloc(patch, sizeof *w->head, "bodies", err);
    w->after = und_alloc(patch, sizeof *w->after, "bodies", err);
    w->leaves = und_alloc(patch, sizeof *w->leaves, "bodies", err);
    bool all = w->hull && w->top && w->head && w->after && w->leaves;
    for (int k = 0; k < PIPES && all; k++)
        all = (w->weight[k] = und_alloc(patch, sizeof *w->weight[k], "bodies", err)) != NULL;
    return all ? UND_OK : err->status;
}

/* A body bobs at sqrt(rho g A / m) at most: half a radian of that a step. */
static double bobbing_step(const und_columns *s, int body)
{
    und_bounds b = und_shape_bounds(s->def.bodies[body].shape);
    und_vec3 d = und_sub(b.high, b.low);
    double area = fmax(d.x * d.y, fmax(d.y * d.z, d.x * d.z));
    double stiffness = s->def.pool.density * s->def.pool.gravity * area;
    return stiffness > 0 ? 0.5 * sqrt(und_bodies_mass(s->bodies, body) / stiffness) : INFINITY;
}

void und_columns_bobbing(und_columns *s)
{
    s->body_step = INFINITY;
    for (int i = 0; i < s->def.body_count; i++)
        if ((isfinite(s->def.bodies[i].release) || s->def.bodies[i].release_wet) &&
            size_of(&s->def.bodies[i]) > 0.1 * s->pool.grid.dx) /* dust makes no waves */
            s->body_step = fmin(s->body_step, bobbing_step(s, i));
}

/* Fast bodies move no more than half of their smallest side in a step, so that they meet what is in their
 * way; the fastest of all are not waited for. */
double und_columns_longest_body_step(const und_columns *s)
{
    const double shortest = 1e-4;
    double step = s->body_step;
    for (int i = 0; i < s->def.body_count; i++) {
        if (und_bodies_led(s->bodies, i))
            continue;
        und_body_state state = und_bodies_state(s->bodies, i);
        double speed = und_length(und_vec(state.velocity[0], state.velocity[1], state.velocity[2]));
        if (speed > 0)
            step = fmin(step, fmax(0.5 * s->contact[i].smallest / speed, shortest));
    }
    return step;
}

static und_status open_bodies(und_columns *s, und_error *err)
{
    const und_grid *g = &s->pool.grid;
    und_bodies_world world = {.gravity = s->def.pool.gravity,
                              .nx = s->nx,
                              .nz = s->nz,
                              .stride = s->stride,
                              .dx = g->dx,
                              .origin = {g->origin[0], g->origin[2]},
                              .ground = s->ground,
                              .spare = UND_BALLS,
                              .time = s->def.pool.time};
    for (int e = 0; e < UND_EDGES; e++)
        world.wall[e] = s->def.pool.edge[e].kind == UND_EDGE_WALL;
    s->bodies = und_bodies_create(s->def.bodies, s->def.body_count, &world, err);
    size_t most = (size_t)s->def.body_count + UND_BALLS;
    s->contact = s->bodies ? und_alloc(most, sizeof *s->contact, "bodies", err) : NULL;
    s->view = s->contact ? und_alloc(most, sizeof *s->view, "bodies", err) : NULL;
    if (!s->view)
        return err->status;
    if (s->def.spray.on)
        s->covered = und_alloc((size_t)s->stride * (size_t)s->nz, 1, "bodies", err);
    return s->covered || !s->def.spray.on ? UND_OK : err->status;
}

und_status und_columns_create_bodies(und_columns *s, und_error *err)
{
    if (s->def.body_count == 0)
        return UND_OK;
    if (open_bodies(s, err) != UND_OK)
        return err->status;
    double reach = 0;
    for (int i = 0; i < s->def.body_count; i++) {
        if (make_contact(s, i, err) != UND_OK)
            return err->status;
        reach = fmax(reach, size_of(&s->def.bodies[i]));
    }
    if (make_scratch(s, reach, err) != UND_OK)
        return err->status;
    und_columns_bobbing(s);
    make_room(s);
    return UND_OK;
}

/* What models without bodies do not have. */
static und_status make_ready(und_columns *s, und_error *err)
{
    if (!s->load)
        s->load = und_columns_field(s, sizeof *s->load, "pressure", err);
    if (s->load && !s->displaced)
        s->displaced = und_columns_field(s, sizeof *s->displaced, "bodies", err);
    if (!s->displaced)
        return err->status;
    return s->view ? UND_OK : open_bodies(s, err);
}

und_status und_columns_add_body(und_columns *s, const und_body_def *def, und_error *err)
{
    if (make_ready(s, err) != UND_OK)
        return err->status;
    size_t most = (size_t)s->led_count + UND_BALLS;
    if (!s->thrown) {
        s->thrown = und_alloc(most, sizeof *s->thrown, "bodies", err);
        if (!s->thrown)
            return err->status;
        for (int i = 0; i < s->led_count; i++)
            s->thrown[i] = s->def.bodies[i];
        s->def.bodies = s->thrown;
    }
    int i = s->def.body_count++;
    s->thrown[i] = *def;
    double reach = fmax(size_of(def), s->scratch ? s->scratch->reach : 0);
    if (und_bodies_add(s->bodies, &s->thrown[i], err) != UND_OK || make_contact(s, i, err) != UND_OK ||
        make_scratch(s, reach, err) != UND_OK) {
        und_columns_drop_bodies(s, i);
        return err->status;
    }
    und_columns_bobbing(s);
    return UND_OK;
}

static void free_contact(und_columns_contact *c)
{
    free(c->face);
    free(c->length);
    free(c->first);
    *c = (und_columns_contact){0};
}

void und_columns_drop_bodies(und_columns *s, int count)
{
    while (s->def.body_count > count)
        free_contact(&s->contact[--s->def.body_count]);
    if (s->bodies)
        und_bodies_drop(s->bodies, count);
    und_columns_bobbing(s);
}

void und_columns_destroy_bodies(und_columns *s)
{
    free_scratch(s);
    for (int i = 0; s->contact && i < s->def.body_count; i++)
        free_contact(&s->contact[i]);
    free(s->contact);
    free(s->thrown);
    free(s->view);
    free(s->covered);
    und_bodies_destroy(s->bodies);
}
