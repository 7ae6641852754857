/* Where bodies and water meet: the footprint, the water around it, and the faces of the body over the control
 * points. */
#include "liquid/floats.h"
#include "liquid/rim.h"

#include <math.h>

static int within(double i, int count)
{
    return i < 0 ? 0 : i > count ? count : (int)i;
}

/* Columns that the body may touch. */
static void find_footprint(const und_floats *s, int body, und_float_contact *c)
{
    und_bounds b = und_shape_bounds(s->defs[body].shape);
    und_pose pose = und_bodies_pose(s->bodies, body);
    const und_grid *g = &s->pool->grid;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    und_vec3 middle = und_pose_point(&pose, und_mul(und_add(b.low, b.high), 0.5));
    c->center[0] = middle.x;
    c->center[1] = middle.z;
    c->radius = s->defs[body].shape->kind == UND_SPHERE ? 0.5 * (b.high.x - b.low.x)
                                                        : 0.5 * und_length(und_sub(b.high, b.low));
    c->bottom = INFINITY;
    c->top = -INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        und_vec3 p =
            und_pose_point(&pose, und_vec(corner & 1 ? b.high.x : b.low.x, corner & 2 ? b.high.y : b.low.y,
                                          corner & 4 ? b.high.z : b.low.z));
        low[0] = und_smaller(low[0], p.x);
        high[0] = und_larger(high[0], p.x);
        low[1] = und_smaller(low[1], p.z);
        high[1] = und_larger(high[1], p.z);
        c->bottom = und_smaller(c->bottom, p.y);
        c->top = und_larger(c->top, p.y);
    }
    c->x0 = within(floor((low[0] - g->origin[0]) / g->dx), s->pool->nx);
    c->x1 = within(ceil((high[0] - g->origin[0]) / g->dx), s->pool->nx);
    c->z0 = within(floor((low[1] - g->origin[2]) / g->dx), s->pool->nz);
    c->z1 = within(ceil((high[1] - g->origin[2]) / g->dx), s->pool->nz);
    c->middle[0] = g->origin[0] + 0.5 * (c->x0 + c->x1) * g->dx;
    c->middle[1] = g->origin[2] + 0.5 * (c->z0 + c->z1) * g->dx;
    double across = und_smaller(high[0] - low[0], high[1] - low[1]) / g->dx;
    und_shape_kind kind = s->defs[body].shape->kind;
    bool sharp = kind != UND_SPHERE && kind != UND_ELLIPSOID && kind != UND_CAPSULE && kind != UND_MESH;
    /* An even number, so that those of a control point on the domain's edge are half outside. */
    c->lines = across < 2 ? UND_FLOAT_LINES : across < 4 || sharp ? 4 : 2;
}

static void add_to_rim(const und_floats *s, und_rim *r, const und_float_contact *c, int x, int z)
{
    double level, rise, speed[2];
    if (x < 0 || z < 0 || x >= s->pool->nx || z >= s->pool->nz ||
        !s->look(s->model, x, z, &level, &rise, speed))
        return;
    double u = und_pool_x(s->pool, x) - c->middle[0], v = und_pool_z(s->pool, z) - c->middle[1];
    und_rim_add(r, u, v, level, rise, speed);
}

/* The level of the water around the body, and how it moves at the body's height; no water: -infinity. */
static void find_level(const und_floats *s, double height, und_float_contact *c)
{
    und_rim r = {0};
    double ground = (double)s->pool->ground[und_pool_at(s->pool, und_pool_cell_x(s->pool, c->middle[0]),
                                                        und_pool_cell_z(s->pool, c->middle[1]))];
    for (int x = c->x0 - 2; x <= c->x1 + 1; x++) {
        add_to_rim(s, &r, c, x, c->z0 - 2);
        add_to_rim(s, &r, c, x, c->z1 + 1);
    }
    for (int z = c->z0 - 1; z <= c->z1; z++) {
        add_to_rim(s, &r, c, c->x0 - 2, z);
        add_to_rim(s, &r, c, c->x1 + 1, z);
    }
    for (int z = c->z0; z < c->z1 && r.n == 0; z++) /* it fills the pool: the water under it must do */
        for (int x = c->x0; x < c->x1; x++)
            add_to_rim(s, &r, c, x, z);
    c->level = -INFINITY;
    if (r.n == 0)
        return;
    c->level = und_rim_fit(&r, 1, c->slope);
    /* Columns move alike from top to bottom sideways; upwards, in proportion to the height above the ground.
     */
    double deep = c->level - ground,
           up = deep > 0 ? und_larger(0, und_smaller((height - ground) / deep, 1)) : 0;
    c->water = und_vec(r.speed[0] / r.n, up * r.rise / r.n, r.speed[1] / r.n);
}

/* What the body does on an upright line. */
typedef struct line_load {
    double x, z;
    double level;     /* of the water around, m */
    double room;      /* m it takes up below the level */
    double thickness; /* m from its lowest to its highest point */
    double bottom;    /* height of the lowest, m */
} line_load;

/* Is the water open above the body?  1 where the body reaches above the level, or rams the water harder than
 * that closes in; 0 where it is closed. */
static double openness(const line_load *l, double ram)
{
    double under = l->level - (l->bottom + l->thickness);
    return under <= 0 || ram >= under ? 1 : ram / under;
}

/* The ram is of the body's own speed: what presses makes the water beside rise at once, and counted against
 * that it would feed itself in deep water. */
static void add_line(const und_floats *s, const und_body_view *v, const line_load *l, und_face *f)
{
    double up = v->state.velocity[1] + v->state.spin[2] * (l->x - v->state.position[0]) -
                v->state.spin[0] * (l->z - v->state.position[2]);
    double ram = 0.5 * v->def->drag * und_smaller(up, 0) * up / s->pool->def->gravity;
    double open = openness(l, ram);
    f->cover++;
    f->room += l->room;
    f->x += l->room * l->x;
    f->y += l->room * (l->bottom + 0.5 * l->room);
    f->z += l->room * l->z;
    f->surface += open * l->bottom + (1 - open) * (l->level - l->room);
    f->least += (1 - open) * l->thickness;
    f->most += l->thickness;
    f->ram += open * ram;
    f->speed += up;
}

/* How much of a control point's part of the plane lies in the domain: 1, or a half along each edge. */
static double within_domain(const und_floats *s, const und_face *f)
{
    return (f->i < 0 || f->i >= s->pool->nx - 1 ? 0.5 : 1) * (f->j < 0 || f->j >= s->pool->nz - 1 ? 0.5 : 1);
}

/* The room below the level on a line that meets the body. */
static double room_on(const und_body_view *v, const line_load *l)
{
    const und_float_contact *c = v->contact;
    double again;
    if (v->def->shape->kind <= UND_ELLIPSOID) /* convex */
        return und_smaller(l->thickness, l->level - l->bottom);
    und_vec3 from = und_add(v->origin, und_add(und_mul(v->along_x, l->x), und_mul(v->along_z, l->z)));
    return und_shape_line(v->def->shape, from, v->up, c->bottom - 1, und_smaller(l->level, c->top + 1),
                          &again);
}

/* One row of upright lines, a part of that of control points (i, j), i from x0 - 1; `z` and the lines' first
 * x are in columns. */
static void sample_lines(const und_floats *s, const und_body_view *v, double z, und_face *row)
{
    const und_grid *g = &s->pool->grid;
    const und_float_contact *c = v->contact;
    const int lines = c->lines, count = (c->x1 - c->x0 + 1) * lines;
    double apart = g->dx / lines, x = g->origin[0] + (c->x0 - 0.5) * g->dx + 0.5 * apart;
    line_load l = {.z = g->origin[2] + z * g->dx};
    und_vec3 from = und_add(v->origin, und_add(und_mul(v->along_x, x), und_mul(v->along_z, l.z)));
    und_shape_lines(v->def->shape, from, und_mul(v->along_x, apart), v->up, c->bottom - 1, c->top + 1, count,
                    c->length, c->first);
    double end = g->origin[0] + s->pool->nx * g->dx;
    for (int k = 0; k < count; k++) {
        l.x = x + k * apart;
        l.level = und_contact_level(c, l.x, l.z);
        l.thickness = c->length[k];
        l.bottom = c->first[k];
        if (!(l.thickness > 0 && l.bottom < l.level) || l.x < g->origin[0] || l.x > end)
            continue;
        l.room = room_on(v, &l);
        if (l.room > 0)
            add_line(s, v, &l, &row[k / lines]);
    }
}

/* The faces over the control points of a row, after those there are. */
static void sample_row(const und_floats *s, und_body_view *v, int j)
{
    und_float_contact *c = v->contact;
    und_face *row = c->face + c->count;
    const int width = c->x1 - c->x0 + 1, lines = c->lines;
    for (int i = 0; i < width; i++)
        row[i] = (und_face){.i = c->x0 - 1 + i, .j = j};
    for (int b = 0; b < lines; b++) {
        double z = j + 0.5 + (b + 0.5) / lines;
        if (z >= 0 && z <= s->pool->nz)
            sample_lines(s, v, z, row);
    }
    for (int i = 0; i < width; i++) {
        und_face *f = &row[i];
        if (f->cover == 0)
            continue;
        und_vec3 moment = und_vec(f->x, f->y, f->z); /* of the room */
        double *means[] = {&f->surface, &f->least, &f->most, &f->ram, &f->speed};
        f->x = moment.x / f->room;
        f->y = moment.y / f->room;
        f->z = moment.z / f->room;
        for (size_t k = 0; k < sizeof means / sizeof *means; k++)
            *means[k] /= f->cover; /* the number of lines, so far */
        f->room /= lines * lines;
        f->cover /= lines * lines;
        f->reach = f->cover / within_domain(s, f);
        v->area += f->cover * und_pool_cell_area(s->pool);
        v->room += f->room * und_pool_cell_area(s->pool);
        v->whole += f->most * f->cover * und_pool_cell_area(s->pool);
        v->middle =
            und_add(v->middle, und_mul(und_vec(f->x, f->y, f->z), f->room * und_pool_cell_area(s->pool)));
        c->face[c->count++] = *f;
    }
}

/* What lifts a ball does so above or below its middle; lines off the grid do not lie evenly about that, and
 * would turn it for ever. */
static void center_ball(const und_floats *s, und_body_view *v)
{
    und_float_contact *c = v->contact;
    bool within_pool = c->x0 > 0 && c->z0 > 0 && c->x1 < s->pool->nx && c->z1 < s->pool->nz;
    if (v->def->shape->kind != UND_SPHERE || !within_pool)
        return;
    und_vec3 middle = und_bodies_middle(s->bodies, v->body);
    double x = middle.x - v->middle.x, z = middle.z - v->middle.z;
    for (int n = 0; n < c->count; n++) {
        c->face[n].x += x;
        c->face[n].z += z;
    }
    v->middle.x = middle.x;
    v->middle.z = middle.z;
}

und_body_view und_float_view(const und_floats *s, int body)
{
    und_float_contact *c = &s->contact[body];
    und_pose pose = und_bodies_pose(s->bodies, body);
    und_quat q = pose.rotation, back = {q.w, -q.x, -q.y, -q.z};
    und_body_view v = {.body = body,
                       .def = &s->defs[body],
                       .contact = c,
                       .up = und_quat_rotate(back, und_vec(0, 1, 0)),
                       .along_x = und_quat_rotate(back, und_vec(1, 0, 0)),
                       .along_z = und_quat_rotate(back, und_vec(0, 0, 1)),
                       .origin = und_pose_local(&pose, und_vec(0, 0, 0)),
                       .state = und_bodies_state(s->bodies, body)};
    c->count = 0;
    for (int j = c->z0 - 1; j < c->z1 && c->level > c->bottom; j++)
        sample_row(s, &v, j);
    if (v.room > 0)
        v.middle = und_mul(v.middle, 1 / v.room);
    if (v.room > 0)
        center_ball(s, &v);
    v.under = und_smaller(v.room / und_bodies_volume(s->bodies, body), 1);
    return v;
}

void und_floats_look_around(und_floats *s)
{
    for (int i = 0; i < s->count; i++) {
        find_footprint(s, i, &s->contact[i]);
        find_level(s, und_bodies_state(s->bodies, i).position[1], &s->contact[i]);
    }
}

void und_floats_find(und_floats *s)
{
    for (int i = 0; i < s->count; i++)
        find_footprint(s, i, &s->contact[i]);
}
