/* Bodies in height-field water: those that the def leads, those that move by themselves, and balls.
 *
 * The part of a body below the still water is stood on the ground of its cells: the ground rises and falls
 * with it and carries the water on it up and down, so that the body pushes the water aside and no water is
 * made or lost.  Under a body the water's height is the head of pressure there.
 *
 * That head lifts the body by Archimedes' law, where it raises the water, by as much: so neither gains what
 * the other does not lose, and the waves that it makes are paid for.  The water lets it slide down its slope
 * and drags it along (floats.c); what the drag gives to the body the water loses.  Added are the water that a
 * body takes along, half of what it displaces as a ball does, and a loss by the waves that it makes sideways.
 */
#include "base/maths.h"
#include "base/status.h"
#include "liquid/waves_kernel.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const bool walls[UND_EDGES] = {true, true, true, true};

static bool look(const void *model, int x, int z, double *level, double *rise, double speed[2])
{
    const und_waves *s = model;
    size_t at = und_waves_at(s, x, z);
    double depth = und_waves_depth(s, at);
    if (!(depth > s->shallow))
        return false;
    *level = s->height[at];
    *rise = (double)s->rise[at] / s->rise_time;
    speed[0] = speed[1] = 0;
    if (s->speed_x) {
        speed[0] = (double)s->speed_x[at];
        speed[1] = (double)s->speed_z[at];
    } else if (s->flux_x) {
        double most = 2 * sqrt(s->def.height_field.gravity * depth);
        speed[0] = fmax(-most, fmin((double)s->flux_x[at] / depth, most));
        speed[1] = fmax(-most, fmin((double)s->flux_z[at] / depth, most));
    }
    return true;
}

/* ---- on the ground ---- */

/* Raises or lowers the ground of a cell and the water on it; exact, since the ground is float and the height
 * double. */
static void set_ground(und_waves *s, size_t at, float ground)
{
    s->height[at] += (double)ground - (double)s->ground[at];
    s->ground[at] = ground;
}

static int within(int i, int count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

/* Cells around the footprints belong to control points that see a body too. */
static void lift_out(und_waves *s)
{
    for (int i = 0; i < s->floats.count; i++) {
        const und_float_contact *c = &s->floats.contact[i];
        for (int z = within(c->z0 - 1, s->height_field.nz); z <= within(c->z1, s->height_field.nz); z++)
            for (int x = within(c->x0 - 1, s->height_field.nx); x <= within(c->x1, s->height_field.nx); x++)
                set_ground(s, und_waves_at(s, x, z), s->bed[und_waves_at(s, x, z)]);
    }
}

/* A quarter of each control point's room to each of its cells, and no more than there is between bed and
 * level: what is in the ground displaces nothing. */
static void stand(und_waves *s)
{
    for (int i = 0; i < s->floats.count; i++) {
        const und_float_contact *c = &s->floats.contact[i];
        for (int n = 0; n < 4 * c->count; n++) {
            const und_face *f = &c->face[n / 4];
            int x = within(f->i + n % 2, s->height_field.nx),
                z = within(f->j + n / 2 % 2, s->height_field.nz);
            size_t at = und_waves_at(s, x, z);
            double level = und_contact_level(c, und_waves_x(s, x), und_waves_z(s, z));
            double most = fmax(level, (double)s->ground[at]);
            set_ground(s, at, (float)fmin((double)s->ground[at] + 0.25 * f->room, most));
        }
    }
}

/* ---- drag, acting back ---- */

/* Faces between the four cells of a control point: the cell before each, and whether it is one along z. */
static const struct {
    int x, z;
    bool along_z;
} around[] = {{0, 0, false}, {0, 1, false}, {0, 0, true}, {1, 0, true}};

/* How deep the water is that a control point moves through one of them, m; 0 where it is closed. */
static double moved_by(const und_waves *s, const und_face *f, int k, size_t *at, size_t *next)
{
    int x = f->i + around[k].x, z = f->j + around[k].z, x1 = x + !around[k].along_z,
        z1 = z + around[k].along_z;
    if (x < 0 || z < 0 || x1 >= s->height_field.nx || z1 >= s->height_field.nz)
        return 0;
    *at = und_waves_at(s, x, z);
    *next = und_waves_at(s, x1, z1);
    float a = (float)und_waves_depth(s, *at), b = (float)und_waves_depth(s, *next);
    float step = (float)(s->height[*next] - s->height[*at]);
    return a > 0 && b > 0 ? 0.5 * f->cover * (double)und_waves_face(a, b, step) : 0;
}

static void find_moved(const und_waves *s, const und_float_contact *c, double mass[2])
{
    double per_metre = s->def.height_field.density * und_height_field_cell_area(&s->height_field);
    size_t at, next;
    mass[0] = mass[1] = 0;
    for (int n = 0; n < 4 * c->count; n++)
        mass[around[n % 4].along_z] += per_metre * moved_by(s, &c->face[n / 4], n % 4, &at, &next);
}

/* Takes momentum from that water: all of it changes its speed alike.  Where flows are not kept the surface's
 * speed tells of them: it rises by -div q. */
static void take(und_waves *s, const und_float_contact *c, const und_float_drag *d)
{
    size_t at, next;
    for (int n = 0; n < 4 * c->count; n++) {
        bool z = around[n % 4].along_z;
        double moved = moved_by(s, &c->face[n / 4], n % 4, &at, &next);
        double flow = d->mass[z] > 0 ? -moved * d->impulse[z] / d->mass[z] : 0; /* m2/s */
        if (flow == 0)
            continue;
        if (s->def.order == 2) {
            (z ? s->flux_z : s->flux_x)[at] += (float)flow;
        } else {
            float rise = (float)(flow / s->height_field.grid.dx * s->rise_time);
            s->rise[at] -= rise;
            s->rise[next] += rise;
        }
    }
}

/* ---- forces ---- */

/* What the body raises in this step it feels in this step: the water would have carried it away before the
 * next, and nobody would have paid for the waves. */
static void meet(const und_waves *s, und_body_view *v, double dt)
{
    const und_float_contact *c = v->contact;
    double weight = s->def.height_field.density * s->def.height_field.gravity *
                    und_height_field_cell_area(&s->height_field);
    for (int n = 0; n < c->count; n++) {
        const und_face *f = &c->face[n];
        double x = und_waves_x(s, f->i) + 0.5 * s->height_field.grid.dx - v->state.position[0];
        double z = und_waves_z(s, f->j) + 0.5 * s->height_field.grid.dx - v->state.position[2];
        double up = v->state.velocity[1] + v->state.spin[2] * x - v->state.spin[0] * z;
        double force = -weight * f->pierced * up * dt;
        v->force += force;
        v->twist.x -= s->height_field.nz > 1 ? z * force : 0;
        v->twist.z += x * force;
    }
}

static void push(und_waves *s, und_body_view *v, double dt)
{
    const double rho = s->def.height_field.density, g = s->def.height_field.gravity;
    const und_float_contact *c = v->contact;
    double mass = und_bodies_mass(s->floats.bodies, v->body), radius = und_cbrt(0.75 * v->room / M_PI);
    und_float_drag drag = {.given = mass / (mass + 0.5 * rho * v->room), .dt = dt};
    bool led = und_bodies_led(s->floats.bodies, v->body);
    drag.waves = led ? 0 : 0.2 * rho * v->room * sqrt(g / radius);
    v->force = rho * g * v->room;
    v->twist.x = s->height_field.nz > 1 ? -(v->middle.z - v->state.position[2]) * v->force : 0;
    v->twist.z = (v->middle.x - v->state.position[0]) * v->force;
    meet(s, v, dt);
    find_moved(s, c, drag.mass);
    und_floats_carry(&s->floats, v, &drag);
    take(s, c, &drag);
}

/* The water is as it would be without waves. */
static void calm(und_floats *f, int body)
{
    und_float_contact *c = &f->contact[body];
    const double *still = f->still[body];
    c->level = still[0] + still[1] * c->middle[0] + still[2] * c->middle[1];
    c->slope[0] = still[1];
    c->slope[1] = still[2];
}

/* The plane that room is counted from follows the water slowly.  What floats goes up and down with waves:
 * were its room to grow and shrink with them, later than they do, it would drive them. */
static void settle(und_floats *f, double dt)
{
    const double seconds = 30;
    for (int i = 0; i < f->count; i++) {
        const und_float_contact *c = &f->contact[i];
        double level = c->level - c->slope[0] * c->middle[0] - c->slope[1] * c->middle[1];
        const double plane[3] = {level, c->slope[0], c->slope[1]};
        bool known = isfinite(f->still[i][0]) && isfinite(level), keeps = dt == 0 || f->view[i].room > 0;
        double part = 1 - und_exp(-dt / seconds);
        for (int k = 0; k < 3; k++)
            f->still[i][k] = known && keeps ? f->still[i][k] + part * (plane[k] - f->still[i][k]) : plane[k];
        calm(f, i);
    }
}

/* Where the bodies are now, in the water as it is seen around them. */
static void put_in(und_waves *s, double dt)
{
    und_floats_find(&s->floats);
    settle(&s->floats, dt);
    und_floats_view(&s->floats);
    stand(s);
}

static void move(und_waves *s, double time, double dt)
{
    und_floats *f = &s->floats;
    und_floats_look_around(f);
    und_floats_feel(f);
    lift_out(s);
    for (int i = 0; i < f->count; i++)
        und_float_sink(f, &f->view[i]);
    und_floats_release(f);
    for (int i = 0; i < f->count; i++)
        if (f->view[i].room > 0)
            push(s, &f->view[i], dt);
    und_bodies_step(f->bodies, time, dt);
    put_in(s, dt);
}

void und_waves_move_bodies(und_waves *s, double dt)
{
    enum { MOST_PARTS = 64 };
    if (s->floats.count == 0)
        return;
    int parts = (int)fmin(fmax(ceil(dt / und_floats_longest_step(&s->floats)), 1), MOST_PARTS);
    for (int k = 0; k < parts; k++)
        move(s, s->height_field.time + k * dt / parts, dt / parts);
}

void und_waves_place_bodies(und_waves *s)
{
    und_floats_look_around(&s->floats);
    lift_out(s);
    put_in(s, 0);
}

void und_waves_see_bodies(und_waves *s)
{
    und_floats_find(&s->floats);
    for (int i = 0; i < s->floats.count; i++)
        calm(&s->floats, i);
    und_floats_view(&s->floats);
}

/* ---- create, and mouse tools ---- */

/* What the def leads through the water are bodies that are never let go, and do not drag it along. */
static und_status make_defs(und_waves *s, und_error *err)
{
    const und_waves_def *d = &s->def;
    s->body_defs =
        und_alloc((size_t)(d->object_count + d->body_count) + 1, sizeof *s->body_defs, "bodies", err);
    if (!s->body_defs)
        return err->status;
    for (int i = 0; i < d->object_count; i++) {
        und_body_def *to = &s->body_defs[i];
        *to = und_body_def_default();
        to->shape = d->objects[i].shape;
        to->motion = d->objects[i].motion;
        to->release = INFINITY;
        to->drag = 0;
        memcpy(to->color, d->objects[i].color, sizeof to->color);
    }
    if (d->body_count > 0)
        memcpy(s->body_defs + d->object_count, d->bodies, (size_t)d->body_count * sizeof *d->bodies);
    return UND_OK;
}

und_status und_waves_create_bodies(und_waves *s, und_error *err)
{
    s->floats.height_field = &s->height_field;
    s->floats.look = look;
    s->floats.model = s;
    if (make_defs(s, err) != UND_OK ||
        und_floats_open(&s->floats, s->body_defs, s->def.object_count + s->def.body_count, walls, err) !=
            UND_OK)
        return err->status;
    for (int i = 0; i < s->floats.count; i++)
        if (s->body_defs[i].has_still)
            memcpy(s->floats.still[i], s->body_defs[i].still, sizeof s->floats.still[i]);
    und_waves_place_bodies(s);
    return UND_OK;
}

void und_waves_destroy_bodies(und_waves *s)
{
    und_floats_close(&s->floats);
    free(s->body_defs);
}
