/* Where bodies and water meet: the footprint, the water around it, and the faces of the body over the control
 * points. */
#include "bodies/sunk.h"
#include "liquid/floats.h"
#include "liquid/rim.h"

#include <math.h>

enum { LEAST_LINES = 4 }; /* across a body, however small */

static int within(double i, int count)
{
    return i < 0 ? 0 : i > count ? count : (int)i;
}

/* Columns that the body may touch. */
static void find_footprint(const und_floats *s, int body, und_float_contact *c)
{
    und_bounds b = und_shape_bounds(s->defs[body].shape);
    und_pose pose = und_bodies_pose(s->bodies, body);
    const und_grid *g = &s->height_field->grid;
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
    c->x0 = within(floor((low[0] - g->origin[0]) / g->dx), s->height_field->nx);
    c->x1 = within(ceil((high[0] - g->origin[0]) / g->dx), s->height_field->nx);
    c->z0 = within(floor((low[1] - g->origin[2]) / g->dx), s->height_field->nz);
    c->z1 = within(ceil((high[1] - g->origin[2]) / g->dx), s->height_field->nz);
    c->middle[0] = g->origin[0] + 0.5 * (c->x0 + c->x1) * g->dx;
    c->middle[1] = g->origin[2] + 0.5 * (c->z0 + c->z1) * g->dx;
    double across = und_smaller(high[0] - low[0], high[1] - low[1]) / g->dx;
    und_shape_kind kind = s->defs[body].shape->kind;
    bool sharp = kind != UND_SPHERE && kind != UND_ELLIPSOID && kind != UND_CAPSULE && kind != UND_MESH;
    int lines = across < 2 ? UND_FLOAT_LINES : across < 4 || sharp ? 4 : 2;
    const int cells[2] = {s->height_field->nx, s->height_field->nz};
    for (int k = 0; k < 2; k++) {
        double from = und_larger(low[k], g->origin[2 * k]);
        double size = und_smaller(high[k], g->origin[2 * k] + cells[k] * g->dx) - from;
        c->lines[k] = size > 0 ? (int)und_larger(ceil(size / g->dx * lines - 1e-9), LEAST_LINES) : 0;
        c->apart[k] = size / c->lines[k];
        c->first_line[k] = from + 0.5 * c->apart[k];
    }
}

static void add_to_rim(const und_floats *s, und_rim *r, const und_float_contact *c, int x, int z)
{
    double level, rise, speed[2];
    if (x < 0 || z < 0 || x >= s->height_field->nx || z >= s->height_field->nz ||
        !s->look(s->model, x, z, &level, &rise, speed))
        return;
    double u = und_height_field_x(s->height_field, x) - c->middle[0],
           v = und_height_field_z(s->height_field, z) - c->middle[1];
    und_rim_add(r, u, v, level, rise, speed);
}

/* The level of the water around the body, and how it moves at the body's height; no water: -infinity. */
static void find_level(const und_floats *s, double height, und_float_contact *c)
{
    und_rim r = {0};
    double ground = (double)s->height_field->ground[und_height_field_at(
        s->height_field, und_height_field_cell_x(s->height_field, c->middle[0]),
        und_height_field_cell_z(s->height_field, c->middle[1]))];
    for (int x = c->x0 - 2; x <= c->x1 + 1; x++) {
        add_to_rim(s, &r, c, x, c->z0 - 2);
        add_to_rim(s, &r, c, x, c->z1 + 1);
    }
    for (int z = c->z0 - 1; z <= c->z1; z++) {
        add_to_rim(s, &r, c, c->x0 - 2, z);
        add_to_rim(s, &r, c, c->x1 + 1, z);
    }
    for (int z = c->z0; z < c->z1 && r.n == 0;
         z++) /* it fills the height field: the water under it must do */
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
static void add_line(const und_floats *s, const und_body_view *v, const line_load *l, double cover,
                     und_face *f)
{
    double up = v->state.velocity[1] + v->state.spin[2] * (l->x - v->state.position[0]) -
                v->state.spin[0] * (l->z - v->state.position[2]);
    double ram = 0.5 * v->def->drag * und_smaller(up, 0) * up / s->height_field->def->gravity;
    double open = openness(l, ram), room = cover * l->room;
    f->cover += cover;
    f->pierced += l->bottom + l->thickness > l->level ? cover : 0;
    f->room += room;
    f->x += room * l->x;
    f->y += room * (l->bottom + 0.5 * l->room);
    f->z += room * l->z;
    f->surface += cover * (open * l->bottom + (1 - open) * (l->level - l->room));
    f->least += cover * (1 - open) * l->thickness;
    f->most += cover * l->thickness;
    f->ram += cover * open * ram;
    f->speed += cover * up;
}

/* How much of a control point's part of the plane lies in the domain: 1, or a half along each edge. */
static double within_domain(const und_floats *s, const und_face *f)
{
    return (f->i < 0 || f->i >= s->height_field->nx - 1 ? 0.5 : 1) *
           (f->j < 0 || f->j >= s->height_field->nz - 1 ? 0.5 : 1);
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

/* A line stands for what of the plane is nearest to it: the first control point that it is a part of, and how
 * much of it is that one's; the rest is the next one's.  It moves with the body, and all of this with it. */
static int part_of(double place, double apart, double origin, double dx, double *share)
{
    double from = (place - 0.5 * apart - origin) / dx - 0.5, to = from + apart / dx;
    int first = (int)floor(from);
    *share = to > first + 1 ? (first + 1 - from) / (to - from) : 1;
    return first;
}

/* One row of upright lines, at z, into the faces of all control points from (x0 - 1, z0 - 1) on. */
static void sample_row(const und_floats *s, const und_body_view *v, double z)
{
    const und_grid *g = &s->height_field->grid;
    const und_float_contact *c = v->contact;
    const int width = c->x1 - c->x0 + 1, height = c->z1 - c->z0 + 1, count = c->lines[0];
    double share_x, share_z, whole = c->apart[0] * c->apart[1] / (g->dx * g->dx);
    line_load l = {.z = z};
    und_vec3 from =
        und_add(v->origin, und_add(und_mul(v->along_x, c->first_line[0]), und_mul(v->along_z, l.z)));
    und_shape_lines(v->def->shape, from, und_mul(v->along_x, c->apart[0]), v->up, c->bottom - 1, c->top + 1,
                    count, c->length, c->first);
    int j = part_of(z, c->apart[1], g->origin[2], g->dx, &share_z) - c->z0 + 1;
    for (int k = 0; k < count; k++) {
        l.x = c->first_line[0] + k * c->apart[0];
        l.level = und_contact_level(c, l.x, l.z);
        l.thickness = c->length[k];
        l.bottom = c->first[k];
        if (!(l.thickness > 0 && l.bottom < l.level))
            continue;
        l.room = room_on(v, &l);
        if (!(l.room > 0))
            continue;
        int i = part_of(l.x, c->apart[0], g->origin[0], g->dx, &share_x) - c->x0 + 1;
        for (int n = 0; n < 4; n++) {
            double part = (n & 1 ? 1 - share_x : share_x) * (n & 2 ? 1 - share_z : share_z);
            int x = i + (n & 1), y = j + (n >> 1);
            if (part > 0 && x >= 0 && y >= 0 && x < width && y < height)
                add_line(s, v, &l, part * whole, &c->face[y * width + x]);
        }
    }
}

/* Sums become means, and the view gets its own. */
static void add_face(const und_floats *s, und_body_view *v, und_face *f)
{
    const double cell = und_height_field_cell_area(s->height_field);
    und_vec3 moment = und_vec(f->x, f->y, f->z); /* of the room */
    double *means[] = {&f->surface, &f->least, &f->most, &f->ram, &f->speed};
    f->x = moment.x / f->room;
    f->y = moment.y / f->room;
    f->z = moment.z / f->room;
    for (size_t k = 0; k < sizeof means / sizeof *means; k++)
        *means[k] /= f->cover;
    f->reach = f->cover / within_domain(s, f);
    v->area += f->cover * cell;
    v->room += f->room * cell;
    v->whole += f->most * f->cover * cell;
    v->middle = und_add(v->middle, und_mul(moment, cell));
}

static void sample(const und_floats *s, und_body_view *v)
{
    und_float_contact *c = v->contact;
    const int width = c->x1 - c->x0 + 1, all = width * (c->z1 - c->z0 + 1);
    c->count = 0;
    if (!(c->level > c->bottom) || c->lines[0] == 0 || c->lines[1] == 0)
        return;
    for (int n = 0; n < all; n++)
        c->face[n] = (und_face){.i = c->x0 - 1 + n % width, .j = c->z0 - 1 + n / width};
    for (int k = 0; k < c->lines[1]; k++)
        sample_row(s, v, c->first_line[1] + k * c->apart[1]);
    for (int n = 0; n < all; n++)
        if (c->face[n].cover > 0) {
            add_face(s, v, &c->face[n]);
            c->face[c->count++] = c->face[n];
        }
}

/* What is below the plane of the water around. */
static und_sunk sunk_part(const und_body_view *v, const und_pose *pose)
{
    const und_float_contact *c = v->contact;
    if (c->level == -INFINITY)
        return (und_sunk){0};
    und_vec3 normal =
        und_unit(und_sub(v->up, und_add(und_mul(v->along_x, c->slope[0]), und_mul(v->along_z, c->slope[1]))));
    und_vec3 at = und_pose_local(pose, und_vec(c->middle[0], c->level, c->middle[1]));
    und_sunk sunk = und_sunk_below(v->def->shape, &c->hull, at, normal);
    sunk.middle = und_pose_point(pose, sunk.middle);
    return sunk;
}

/* How much room there is, and where, is known of the body's own shape.  Lines of the grid do not lie evenly
 * about it, and would turn it for ever: they say only how the room is shared out. */
static void set_right(const und_floats *s, und_body_view *v, const und_pose *pose)
{
    und_float_contact *c = v->contact;
    bool within_field = c->x0 > 0 && c->z0 > 0 && c->x1 < s->height_field->nx && c->z1 < s->height_field->nz;
    if (!within_field && s->height_field->nz > 1)
        return;
    und_sunk sunk = sunk_part(v, pose);
    und_vec3 shift = und_sub(sunk.middle, v->middle);
    double more = s->height_field->nz > 1 ? sunk.volume / v->room : 1; /* a curve is as wide as a cell */
    for (int n = 0; n < c->count; n++) {
        c->face[n].room *= more;
        c->face[n].x += shift.x;
        c->face[n].y += shift.y;
        c->face[n].z += shift.z;
    }
    v->room *= more;
    v->middle = sunk.middle;
}

void und_float_sink(const und_floats *s, und_body_view *v)
{
    und_pose pose = und_bodies_pose(s->bodies, v->body);
    und_sunk sunk = sunk_part(v, &pose);
    v->room = sunk.volume;
    v->middle = sunk.middle;
    v->under = und_smaller(v->room / und_bodies_volume(s->bodies, v->body), 1);
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
    sample(s, &v);
    if (v.room > 0) {
        v.middle = und_mul(v.middle, 1 / v.room);
        set_right(s, &v, &pose);
    }
    v.under = und_smaller(v.room / und_bodies_volume(s->bodies, body), 1);
    return v;
}

/* The water under a control point, as far as it is wet: its level and how that rises; how much of it is. */
static double look_under(const und_floats *s, const und_face *f, double *level, double *rise)
{
    double wet = 0, h, r, speed[2];
    *level = *rise = 0;
    for (int k = 0; k < 4; k++) {
        int x = within(f->i + (k & 1), s->height_field->nx - 1),
            z = within(f->j + (k >> 1), s->height_field->nz - 1);
        if (!s->look(s->model, x, z, &h, &r, speed))
            continue;
        wet += 0.25;
        *level += 0.25 * h;
        *rise += 0.25 * r;
    }
    if (wet > 0) {
        *level /= wet;
        *rise /= wet;
    }
    return wet;
}

/* The plane that fits the water under the waterline best.  A control point takes a quarter of its room's
 * change to each of its cells and is lifted by their mean: so the water gains what the body loses. */
static void feel_level(const und_floats *s, und_float_contact *c)
{
    const und_grid *g = &s->height_field->grid;
    double w = 0, x = 0, z = 0, h = 0, rise = 0, level, r;
    double xx = 0, xz = 0, zz = 0, hx = 0, hz = 0, own = g->dx * g->dx / 12; /* a point's square */
    for (int n = 0; n < c->count; n++) {
        const und_face *f = &c->face[n];
        double part = f->pierced > 0 ? f->pierced * look_under(s, f, &level, &r) : 0;
        double u = g->origin[0] + (f->i + 1) * g->dx - c->middle[0];
        double v = g->origin[2] + (f->j + 1) * g->dx - c->middle[1];
        if (part > 0) {
            w += part, x += part * u, z += part * v, h += part * level, rise += part * r;
            xx += part * (u * u + own), xz += part * u * v, zz += part * (v * v + own);
            hx += part * level * u, hz += part * level * v;
        }
    }
    if (!(w > 0))
        return;
    xx -= x * x / w, xz -= x * z / w, zz -= z * z / w, hx -= x * h / w, hz -= z * h / w;
    double det = xx * zz - xz * xz, slope[2] = {(hx * zz - hz * xz) / det, (hz * xx - hx * xz) / det};
    for (int k = 0; k < 2; k++)
        c->slope[k] = und_larger(-1, und_smaller(slope[k], 1));
    c->level = (h - c->slope[0] * x - c->slope[1] * z) / w;
    c->water.y = rise / w;
}

void und_floats_feel(und_floats *s)
{
    for (int i = 0; i < s->count; i++)
        feel_level(s, &s->contact[i]);
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
