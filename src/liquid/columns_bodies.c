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

/* Nothing presses but what the scene says. */
static void clear_load(und_columns *s)
{
    size_t row_bytes = (size_t)s->nx * sizeof(float);
    for (int z = 0; z < s->nz; z++) {
        size_t row = und_columns_at(s, 0, z);
        if (s->displaced && s->rows[z].pressed)
            memset(s->displaced + row, 0, row_bytes);
        if (s->height_field.head)
            memcpy(s->load + row, s->height_field.head + row, row_bytes);
        else if (s->rows[z].pressed)
            memset(s->load + row, 0, row_bytes);
        s->rows[z].pressed = s->height_field.head != NULL;
    }
}

/* Marks the columns over which a drop may meet a body: one that is not wholly under water. */
static void cover(und_columns *s)
{
    memset(s->covered, 0, s->height_field.mac.count);
    for (int i = 0; i < s->floats.count; i++) {
        const und_float_contact *c = &s->floats.contact[i];
        int x0 = c->x0 > 0 ? c->x0 - 1 : 0, x1 = c->x1 < s->nx ? c->x1 + 1 : s->nx; /* it moves on */
        int z0 = c->z0 > 0 ? c->z0 - 1 : 0, z1 = c->z1 < s->nz ? c->z1 + 1 : s->nz;
        double reach = c->radius + 1.5 * s->height_field.grid.dx;
        for (int z = z0; z < z1 && c->top > c->level - s->height_field.grid.dx; z++)
            for (int x = x0; x < x1; x++) {
                double dx = und_columns_x(s, x) - c->center[0], dz = und_columns_z(s, z) - c->center[1];
                s->covered[und_columns_at(s, x, z)] |= dx * dx + dz * dz < reach * reach;
            }
    }
}

void und_columns_push(und_columns *s)
{
    und_floats *f = &s->floats;
    if (!s->load)
        return;
    s->closing = fmin(s->dt / und_columns_longest_step(s), 1);
    und_floats_look_around(f); /* while what they displaced is still known */
    clear_load(s);
    und_floats_view(f);
    und_floats_release(f);
    for (int i = 0; i < f->count; i++)
        if (f->view[i].contact->count > 0) {
            und_columns_find_force(s, &f->view[i]);
            und_columns_carry(s, &f->view[i]);
        }
    if (s->covered)
        cover(s);
    if (f->bodies)
        und_bodies_step(f->bodies, s->height_field.time, s->dt);
}

static bool inside_body(const und_columns *s, und_vec3 p)
{
    for (int i = 0; i < s->floats.count; i++) {
        const und_float_contact *c = &s->floats.contact[i];
        double pad = s->height_field.grid.dx, reach = c->radius + pad; /* it has moved on */
        double dx = p.x - c->center[0], dz = p.z - c->center[1];
        if (p.y > c->top + pad || p.y < c->bottom - pad || dx * dx + dz * dz > reach * reach)
            continue;
        und_pose pose = und_bodies_pose(s->floats.bodies, i);
        if (und_shape_distance(s->floats.defs[i].shape, und_pose_local(&pose, p)) < 0)
            return true;
    }
    return false;
}

void und_columns_meet(void *columns, const und_spray *spray, int first, int count, uint8_t *met)
{
    const und_columns *s = columns;
    const und_grid *g = &s->height_field.grid;
    und_spray_floor floor = {
        .nx = s->nx, .nz = s->nz, .stride = s->stride, .dx = g->dx, .origin = {g->origin[0], g->origin[2]}};
    for (int k = 0; k < count; k++) {
        const float p[3] = {spray->place[0][first + k], spray->place[1][first + k],
                            spray->place[2][first + k]};
        int at = und_spray_cell(&floor, p[0], p[2]);
        if (at >= 0 && s->covered[s->height_field.mac.first + (size_t)at])
            met[k] = inside_body(s, und_vec((double)p[0], (double)p[1], (double)p[2]));
    }
}

void und_columns_press(und_columns *s, const und_body_view *v, const und_face *f, double head)
{
    for (int k = 0; k < 4; k++) {
        int x = f->i + (k & 1), z = f->j + (k >> 1);
        x = x < 0 ? 0 : x >= s->nx ? s->nx - 1 : x;
        z = z < 0 ? 0 : z >= s->nz ? s->nz - 1 : z;
        size_t at = und_columns_at(s, x, z);
        double below = und_contact_level(v->contact, und_columns_x(s, x), und_columns_z(s, z)) -
                       und_columns_level(s, at);
        s->load[at] += (float)(0.25 * head);
        /* Water that a body has just pushed into is not yet gone: it is not seen heaped up over the body. */
        s->displaced[at] += (float)und_larger(0, und_smaller(below, 0.25 * f->room));
        s->rows[z].pressed = true;
    }
}

/* Bodies stand in the water from the start: it is level around them, and not where they are. */
static void make_room(und_columns *s)
{
    und_floats_look_around(&s->floats);
    for (int i = 0; i < s->floats.count; i++) {
        und_body_view v = und_float_view(&s->floats, i);
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
    double side =
        reach / s->height_field.grid.dx + 10; /* with a border, and rows of nothing before and after */
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

static bool look(const void *columns, int x, int z, double *level, double *rise, double speed[2])
{
    const und_columns *s = columns;
    size_t at = und_columns_at(s, x, z);
    if (s->depth[at] <= 0.01 * s->height_field.grid.dx)
        return false;
    *level = und_columns_level(s, at);
    *rise = (double)s->rise[at];
    und_columns_speed(s, x, z, speed);
    return true;
}

static void find_walls(const und_columns *s, bool walls[UND_EDGES])
{
    for (int e = 0; e < UND_EDGES; e++)
        walls[e] = s->def.height_field.edge[e].kind == UND_EDGE_WALL;
}

/* What only models with bodies have. */
static und_status make_ready(und_columns *s, und_error *err)
{
    return und_columns_make_room(s, COLUMNS_LOAD | COLUMNS_BODIES | (s->def.spray.on ? COLUMNS_COVER : 0),
                                 err);
}

und_status und_columns_create_bodies(und_columns *s, und_error *err)
{
    bool walls[UND_EDGES];
    find_walls(s, walls);
    s->floats.height_field = &s->height_field;
    s->floats.look = look;
    s->floats.model = s;
    if (und_floats_open(&s->floats, s->def.bodies, s->def.body_count, walls, err) != UND_OK)
        return err->status;
    if (s->def.body_count == 0)
        return UND_OK;
    if (make_ready(s, err) != UND_OK || make_scratch(s, s->floats.reach, err) != UND_OK)
        return err->status;
    make_room(s);
    return UND_OK;
}

bool und_columns_add_ball(und_columns *s, const und_ball *ball)
{
    bool walls[UND_EDGES];
    und_error err;
    find_walls(s, walls);
    return make_ready(s, &err) == UND_OK &&
           make_scratch(s, fmax(s->floats.reach, 4 * ball->radius), &err) == UND_OK &&
           und_floats_throw(&s->floats, walls, ball);
}

void und_columns_destroy_bodies(und_columns *s)
{
    free_scratch(s);
    und_floats_close(&s->floats);
}
