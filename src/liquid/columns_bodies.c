/* Bodies and the water.  O'Brien & Hodgins 1995, section 4.
 *
 * A body that reaches below the water's level takes up room in the columns under it.  The room, as a height
 * of water, presses on them through the control points that the body covers (eq. 11), and as much pushes the
 * body up: at rest that is Archimedes' law, with the water under a floating body lowered to its hull.  What
 * presses besides slows the body down; columns_search.c finds it. */
#include "liquid/columns_bodies.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 6 };

static int within(double i, int count)
{
    return i < 0 ? 0 : i > count ? count : (int)i;
}

/* Columns that the body may touch. */
static void find_footprint(const und_columns *s, int body, und_columns_contact *c)
{
    und_bounds b = und_shape_bounds(s->def.bodies[body].shape);
    und_pose pose = und_bodies_pose(s->bodies, body);
    const und_grid *g = &s->pool.grid;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    c->bottom = INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        und_vec3 p =
            und_pose_point(&pose, und_vec(corner & 1 ? b.high.x : b.low.x, corner & 2 ? b.high.y : b.low.y,
                                          corner & 4 ? b.high.z : b.low.z));
        low[0] = fmin(low[0], p.x);
        high[0] = fmax(high[0], p.x);
        low[1] = fmin(low[1], p.z);
        high[1] = fmax(high[1], p.z);
        c->bottom = fmin(c->bottom, p.y);
    }
    c->x0 = within(floor((low[0] - g->origin[0]) / g->dx), s->nx);
    c->x1 = within(ceil((high[0] - g->origin[0]) / g->dx), s->nx);
    c->z0 = within(floor((low[1] - g->origin[2]) / g->dx), s->nz);
    c->z1 = within(ceil((high[1] - g->origin[2]) / g->dx), s->nz);
    c->middle[0] = und_columns_x(s, 0.5 * (c->x0 + c->x1) - 0.5);
    c->middle[1] = und_columns_z(s, 0.5 * (c->z0 + c->z1) - 0.5);
    double across = fmin(high[0] - low[0], high[1] - low[1]) / g->dx;
    c->lines = across > 8 ? 2 : across > 3 ? 3 : LINES_MAX;
}

/* Sums over the wet columns around the footprint, for the plane that fits their levels best. */
typedef struct rim {
    double n, x, z, xx, zz, h, hx, hz, rise, speed[2];
} rim;

static void add_to_rim(const und_columns *s, rim *r, const und_columns_contact *c, int x, int z)
{
    if (x < 0 || z < 0 || x >= s->nx || z >= s->nz)
        return;
    size_t at = und_columns_at(s, x, z);
    if (s->depth[at] <= 0.01 * s->pool.grid.dx)
        return;
    double u = und_columns_x(s, x) - c->middle[0], v = und_columns_z(s, z) - c->middle[1], speed[2];
    double h = und_columns_level(s, at);
    und_columns_speed(s, at, speed);
    r->n++;
    r->x += u;
    r->z += v;
    r->xx += u * u;
    r->zz += v * v;
    r->h += h;
    r->hx += h * u;
    r->hz += h * v;
    r->rise += (double)s->rise[at];
    r->speed[0] += speed[0];
    r->speed[1] += speed[1];
}

static double slope_of(double n, double x, double xx, double h, double hx)
{
    const double steepest = 1; /* a splash beside the body is no slope it could slide down */
    double spread = xx - x * x / n;
    return spread > 0 ? fmax(-steepest, fmin((hx - x * h / n) / spread, steepest)) : 0;
}

/* The level of the water around the body, and how it moves at the body's height; no water: -infinity. */
static void find_level(const und_columns *s, double height, und_columns_contact *c)
{
    rim r = {0};
    double ground = (double)s->ground[und_columns_at(s, und_pool_cell_x(&s->pool, c->middle[0]),
                                                     und_pool_cell_z(&s->pool, c->middle[1]))];
    for (int x = c->x0 - 2; x <= c->x1 + 1; x++) {
        add_to_rim(s, &r, c, x, c->z0 - 2);
        add_to_rim(s, &r, c, x, c->z1 + 1);
    }
    for (int z = c->z0 - 1; z <= c->z1; z++) {
        add_to_rim(s, &r, c, c->x0 - 2, z);
        add_to_rim(s, &r, c, c->x1 + 1, z);
    }
    c->level = -INFINITY;
    if (r.n == 0)
        return;
    c->slope[0] = slope_of(r.n, r.x, r.xx, r.h, r.hx);
    c->slope[1] = slope_of(r.n, r.z, r.zz, r.h, r.hz);
    c->level = (r.h - c->slope[0] * r.x - c->slope[1] * r.z) / r.n;
    /* Columns move alike from top to bottom sideways; upwards, in proportion to the height above the ground.
     */
    double deep = c->level - ground, up = deep > 0 ? fmax(0, fmin((height - ground) / deep, 1)) : 0;
    c->water = und_vec(r.speed[0] / r.n, up * r.rise / r.n, r.speed[1] / r.n);
}

double und_contact_level(const und_columns_contact *c, double x, double z)
{
    return c->level + c->slope[0] * (x - c->middle[0]) + c->slope[1] * (z - c->middle[1]);
}

void und_columns_press(und_columns *s, const und_body_view *v, const und_point_load *p, double head)
{
    for (int k = 0; k < 4; k++) {
        int x = p->i + (k & 1), z = p->j + (k >> 1);
        x = x < 0 ? 0 : x >= s->nx ? s->nx - 1 : x;
        z = z < 0 ? 0 : z >= s->nz ? s->nz - 1 : z;
        size_t at = und_columns_at(s, x, z);
        double below = und_contact_level(v->contact, und_columns_x(s, x), und_columns_z(s, z)) -
                       und_columns_level(s, at);
        s->load[at] += (float)(0.25 * head);
        /* Water that a body has just pushed into is not yet gone: it is not seen heaped up over the body. */
        s->displaced[at] += (float)fmax(0, fmin(below, 0.25 * p->room));
        s->rows[z].pressed = true;
    }
}

/* What the body does on an upright line; false where it does not reach below the level. */
static bool sample_line(const und_body_view *v, double high, und_line_load *l)
{
    const und_columns_contact *c = v->contact;
    const und_shape *shape = v->def->shape;
    double level = und_contact_level(c, l->x, l->z), low = c->bottom - 1, again;
    if (!(level > c->bottom))
        return false;
    und_vec3 from = und_pose_local(&v->pose, und_vec(l->x, 0, l->z));
    l->thickness = und_shape_line(shape, from, v->up, low, high, &l->bottom);
    if (!(l->thickness > 0 && l->bottom < level))
        return false;
    bool convex = shape->kind <= UND_ELLIPSOID;
    l->room = convex ? fmin(l->thickness, level - l->bottom)
                     : und_shape_line(shape, from, v->up, low, fmin(level, high), &again);
    return l->room > 0;
}

/* The upright lines through the part of the plane that belongs to a control point. */
static void sample_point(und_columns *s, const und_body_view *v, int i, int j)
{
    const und_grid *g = &s->pool.grid;
    const und_columns_contact *c = v->contact;
    und_columns_scratch *w = s->scratch;
    und_point_load p = {.i = i, .j = j, .first = w->line_count};
    for (int k = 0; k < c->lines * c->lines; k++) {
        double a = i + 0.5 + (k % c->lines + 0.5) / c->lines, b = j + 0.5 + (k / c->lines + 0.5) / c->lines;
        und_line_load *l = &w->line[w->line_count];
        l->x = g->origin[0] + a * g->dx;
        l->z = g->origin[2] + b * g->dx;
        if (a < 0 || a > s->nx || b < 0 || b > s->nz ||
            !sample_line(v, v->state.position[1] + 2 * w->reach, l))
            continue;
        p.room += l->room / (c->lines * c->lines);
        w->line_count++;
    }
    p.count = w->line_count - p.first;
    if (p.count > 0)
        w->point[w->point_count++] = p;
}

static void sample(und_columns *s, und_body_view *v)
{
    const und_columns_contact *c = v->contact;
    s->scratch->point_count = s->scratch->line_count = 0;
    for (int j = c->z0 - 1; j < c->z1; j++)
        for (int i = c->x0 - 1; i < c->x1; i++)
            sample_point(s, v, i, j);
    for (int n = 0; n < s->scratch->point_count; n++)
        v->room += s->scratch->point[n].room * und_pool_cell_area(&s->pool);
    v->under = fmin(v->room / und_bodies_volume(s->bodies, v->body), 1);
}

/* What the water does to the body sideways: it slides down slopes, and is carried along.  Implicit, so that
 * no step is too long. */
static void carry(und_columns *s, und_body_view *v)
{
    const und_columns_contact *c = v->contact;
    const double *p = v->state.position, *w = v->state.spin;
    double rho = s->def.pool.density, half = 0.5 * v->def->drag * rho, side = pow(v->room, 2.0 / 3.0);
    und_vec3 flow =
        und_sub(c->water, und_vec(v->state.velocity[0], v->state.velocity[1], v->state.velocity[2]));
    double face = v->share * s->scratch->line_count * (flow.y > 0 ? 1 : v->under);
    double drag = half * side * hypot(flow.x, flow.z), upright = half * face * fabs(flow.y);
    double inverse = s->dt * und_bodies_inverse_mass(s->bodies, v->body);
    double weight = rho * s->def.pool.gravity * v->room;
    drag /= 1 + inverse * drag;
    upright /= 1 + inverse * upright;
    und_vec3 force = und_vec(drag * flow.x - weight * c->slope[0], v->force + upright * flow.y,
                             drag * flow.z - weight * c->slope[1]);
    und_bodies_push(s->bodies, v->body, force, und_vec(p[0], p[1], p[2]));

    double turn[9], spin = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), length = cbrt(v->room);
    und_bodies_inverse_inertia(s->bodies, v->body, turn);
    double still = 0.1 * sqrt(s->def.pool.gravity / fmax(length, 1e-6)); /* so that it stops turning at all */
    double slow = half * v->room * length * length * (spin + still);
    slow /= 1 + s->dt * slow * fmax(turn[0], fmax(turn[4], turn[8]));
    und_bodies_twist(s->bodies, v->body, und_sub(v->twist, und_mul(und_vec(w[0], w[1], w[2]), slow)));
}

static und_body_view view_of(und_columns *s, int body)
{
    und_body_view v = {.body = body,
                       .def = &s->def.bodies[body],
                       .contact = &s->contact[body],
                       .pose = und_bodies_pose(s->bodies, body),
                       .state = und_bodies_state(s->bodies, body)};
    und_quat q = v.pose.rotation, back = {q.w, -q.x, -q.y, -q.z};
    v.up = und_quat_rotate(back, und_vec(0, 1, 0));
    v.share = und_pool_cell_area(&s->pool) / (v.contact->lines * v.contact->lines);
    return v;
}

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

static void look_around(und_columns *s)
{
    for (int i = 0; i < s->def.body_count; i++) {
        find_footprint(s, i, &s->contact[i]);
        find_level(s, und_bodies_state(s->bodies, i).position[1], &s->contact[i]);
    }
}

/* Marks the columns that bodies stand over. */
static void cover(und_columns *s)
{
    memset(s->covered, 0, (size_t)s->stride * (size_t)s->nz);
    for (int i = 0; i < s->def.body_count; i++) {
        const und_columns_contact *c = &s->contact[i];
        int x0 = c->x0 > 0 ? c->x0 - 1 : 0, x1 = c->x1 < s->nx ? c->x1 + 1 : s->nx; /* it moves on */
        int z0 = c->z0 > 0 ? c->z0 - 1 : 0, z1 = c->z1 < s->nz ? c->z1 + 1 : s->nz;
        for (int z = z0; z < z1; z++)
            memset(s->covered + und_columns_at(s, x0, z), 1, (size_t)(x1 - x0));
    }
}

void und_columns_push(und_columns *s)
{
    if (!s->load)
        return;
    und_columns_set_pipes(s);
    look_around(s); /* while what bodies displaced is still known */
    clear_load(s);
    for (int i = 0; i < s->def.body_count; i++) {
        if (!(s->contact[i].level > s->contact[i].bottom))
            continue;
        und_body_view v = view_of(s, i);
        sample(s, &v);
        if (s->scratch->point_count == 0)
            continue;
        und_columns_find_force(s, &v);
        carry(s, &v);
    }
    if (s->covered)
        cover(s);
    if (s->bodies)
        und_bodies_step(s->bodies, s->pool.time, s->dt);
}

static bool inside_body(const und_columns *s, und_vec3 p)
{
    for (int i = 0; i < s->def.body_count; i++) {
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
    und_columns_set_pipes(s);
    look_around(s);
    for (int i = 0; i < s->def.body_count; i++) {
        und_body_view v = view_of(s, i);
        if (!(s->contact[i].level > s->contact[i].bottom))
            continue;
        sample(s, &v);
        for (int n = 0; n < s->scratch->point_count; n++)
            und_columns_press(s, &v, &s->scratch->point[n], s->scratch->point[n].room);
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

static und_status make_scratch(und_columns *s, und_error *err)
{
    und_columns_scratch *w = s->scratch = und_alloc(1, sizeof *w, "bodies", err);
    if (!w)
        return err->status;
    for (int i = 0; i < s->def.body_count; i++)
        w->reach = fmax(w->reach, size_of(&s->def.bodies[i]));
    double side = w->reach / s->pool.grid.dx + 4;
    size_t nx = (size_t)fmin(side, s->nx + 2), nz = (size_t)fmin(side, s->nz + 2);
    /* Few lines across a large body, many across a small one: 4 a point, or 36 up to 3 points. */
    size_t points = nx * nz, lines = 9 * points + LINES_MAX * LINES_MAX * 64, patch = (nx + 6) * (nz + 6);
    w->point = und_alloc(points, sizeof *w->point, "bodies", err);
    w->line = und_alloc(lines, sizeof *w->line, "bodies", err);
    w->face = und_alloc(points, sizeof *w->face, "bodies", err);
    w->hull = und_alloc(patch, sizeof *w->hull, "bodies", err);
    w->after = und_alloc(patch, sizeof *w->after, "bodies", err);
    w->weight = und_alloc(patch, sizeof *w->weight, "bodies", err);
    return w->point && w->line && w->face && w->hull && w->after && w->weight ? UND_OK : err->status;
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

und_status und_columns_create_bodies(und_columns *s, und_error *err)
{
    if (s->def.body_count == 0)
        return UND_OK;
    const und_grid *g = &s->pool.grid;
    und_bodies_world world = {.gravity = s->def.pool.gravity,
                              .nx = s->nx,
                              .nz = s->nz,
                              .stride = s->stride,
                              .dx = g->dx,
                              .origin = {g->origin[0], g->origin[2]},
                              .ground = s->ground};
    for (int e = 0; e < UND_EDGES; e++)
        world.wall[e] = s->def.pool.edge[e].kind == UND_EDGE_WALL;
    s->bodies = und_bodies_create(s->def.bodies, s->def.body_count, &world, err);
    s->contact = s->bodies ? und_alloc((size_t)s->def.body_count, sizeof *s->contact, "bodies", err) : NULL;
    if (!s->contact || make_scratch(s, err) != UND_OK)
        return err->status;
    if (s->def.spray.on) {
        s->covered = und_alloc((size_t)s->stride * (size_t)s->nz, 1, "bodies", err);
        if (!s->covered)
            return err->status;
    }
    for (int i = 0; i < s->def.body_count; i++)
        if (isfinite(s->def.bodies[i].release) && !s->def.bodies[i].skeleton)
            s->body_step = fmin(s->body_step, bobbing_step(s, i));
    make_room(s);
    return UND_OK;
}

void und_columns_destroy_bodies(und_columns *s)
{
    if (s->scratch) {
        free(s->scratch->point);
        free(s->scratch->line);
        free(s->scratch->hull);
        free(s->scratch->after);
        free(s->scratch->weight);
        free(s->scratch->face);
        free(s->scratch);
    }
    free(s->contact);
    free(s->covered);
    und_bodies_destroy(s->bodies);
}
