/* What the water does to a body besides pressing: it carries it along and holds it back by drag.  As much
 * momentum as the body takes the pipes around it lose.  Upwards columns have none: what holds a sinking body
 * up presses on the ground at once. */
#include "liquid/columns_bodies.h"

#include <math.h>

/* Pipes between the four columns of a control point: which they are, how far they lead along x and z, and how
 * many control points share one. */
static const struct {
    int pipe, x, z;
    double along[2], part;
} around[] = {{PIPE_X, 0, 0, {1, 0}, 0.5}, {PIPE_X, 0, 1, {1, 0}, 0.5},  {PIPE_Z, 0, 0, {0, 1}, 0.5},
              {PIPE_Z, 1, 0, {0, 1}, 0.5}, {PIPE_DOWN, 0, 0, {1, 1}, 1}, {PIPE_UP, 1, 0, {-1, 1}, 1}};
enum { AROUND = sizeof around / sizeof *around };

/* How deep the water in one of them is that a face moves, m: by the section that the pipe has. */
static double moved_by(const und_columns *s, const und_face *f, int k, size_t *at)
{
    ptrdiff_t from = (ptrdiff_t)(f->j + around[k].z) * s->stride + f->i + around[k].x;
    ptrdiff_t to = from + (ptrdiff_t)around[k].along[1] * s->stride + (ptrdiff_t)around[k].along[0];
    bool diagonal = around[k].pipe == PIPE_DOWN || around[k].pipe == PIPE_UP;
    *at = (size_t)from;
    double depth = (double)und_pipe_depth(und_columns_column(s, (size_t)from),
                                          und_columns_column(s, (size_t)to), s->pipes.reach);
    if (!(depth > (double)UND_FILM))
        return 0;
    return depth * f->cover * around[k].part * (diagonal ? s->def.diagonal : 1) / (1 + 2 * s->def.diagonal);
}

/* The water that drag on a body moves along x and along z, kg. */
static void find_moved(const und_columns *s, const und_body_view *v, double mass[2])
{
    double per_metre = s->def.pool.density * und_pool_cell_area(&s->pool);
    size_t at;
    mass[0] = mass[1] = 0;
    for (int n = 0; n < v->contact->count; n++)
        for (int k = 0; k < AROUND; k++) {
            double moved = per_metre * moved_by(s, &v->contact->face[n], k, &at);
            mass[0] += fabs(around[k].along[0]) * moved;
            mass[1] += fabs(around[k].along[1]) * moved;
        }
}

/* Adds momentum to that water.  The momentum of a pipe is rho Q times its length; all of the water gains the
 * same speed. */
static void give(und_columns *s, const und_body_view *v, const double mass[2], const double impulse[2])
{
    double dx = s->pool.grid.dx, speed[2];
    size_t at;
    for (int a = 0; a < 2; a++)
        speed[a] = mass[a] > 0 ? impulse[a] / mass[a] / dx : 0;
    for (int n = 0; n < v->contact->count; n++)
        for (int k = 0; k < AROUND; k++) {
            double moved = moved_by(s, &v->contact->face[n], k, &at);
            double by = around[k].along[0] * speed[0] + around[k].along[1] * speed[1];
            s->flow[around[k].pipe][at] += (float)(moved * by);
        }
}

/* Drag on a body of area `face` across the relative speed, as a force over speed; implicit, for what body and
 * water give way, so that no step is too long. */
static double drag_of(const und_columns *s, const und_body_view *v, double face, double speed,
                      double give_way)
{
    double drag = 0.5 * v->def->drag * s->def.pool.density * face * speed;
    return drag / (1 + s->dt * drag * give_way);
}

static void slow_spin(und_columns *s, const und_body_view *v, const double turn[9])
{
    const double *w = v->state.spin;
    double spin = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), length = cbrt(v->room);
    double still = 0.1 * sqrt(s->def.pool.gravity / fmax(length, 1e-6)); /* so that it stops turning at all */
    double slow = 0.5 * v->def->drag * s->def.pool.density * v->room * length * length * (spin + still);
    slow /= 1 + s->dt * slow * fmax(turn[0], fmax(turn[4], turn[8]));
    und_bodies_twist(s->bodies, v->body, und_mul(und_vec(w[0], w[1], w[2]), -slow));
}

/* The displaced water's weight pushes down slopes; it and the drag act at the middle of the room. */
void und_columns_carry(und_columns *s, und_body_view *v)
{
    const und_columns_contact *c = v->contact;
    und_vec3 place = und_vec(v->state.position[0], v->state.position[1], v->state.position[2]);
    und_vec3 arm = und_sub(v->middle, place);
    und_vec3 flow = und_sub(c->water, und_bodies_speed_at(s->bodies, v->body, v->middle));
    double turn[9], mass[2], weight = s->def.pool.density * s->def.pool.gravity * v->room;
    und_bodies_inverse_inertia(s->bodies, v->body, turn);
    double give_way = und_bodies_inverse_mass(s->bodies, v->body) +
                      und_dot(arm, arm) * fmax(turn[0], fmax(turn[4], turn[8]));
    find_moved(s, v, mass);
    double side = pow(v->room, 2.0 / 3.0), speed = hypot(flow.x, flow.z);
    double along_x = drag_of(s, v, side, speed, give_way + (mass[0] > 0 ? 1 / mass[0] : 0)) * flow.x;
    double along_z = drag_of(s, v, side, speed, give_way + (mass[1] > 0 ? 1 / mass[1] : 0)) * flow.z;
    double up = drag_of(s, v, v->area * (flow.y > 0 ? 1 : v->under), fabs(flow.y), give_way) * flow.y;
    give(s, v, mass, (const double[2]){-along_x * s->dt, -along_z * s->dt});
    und_bodies_push(s->bodies, v->body,
                    und_vec(along_x - weight * c->slope[0], up, along_z - weight * c->slope[1]), v->middle);
    und_bodies_push(s->bodies, v->body, und_vec(0, v->force, 0), place);
    und_bodies_twist(s->bodies, v->body, v->twist);
    slow_spin(s, v, turn);
}
