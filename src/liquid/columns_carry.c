/* Drag on a body acts back on the water: as much momentum as the body takes the pipes around it lose. Upwards
 * columns have none: what holds a sinking body up presses on the ground at once. */
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
    ptrdiff_t from = (ptrdiff_t)und_columns_at(s, f->i + around[k].x, f->j + around[k].z);
    ptrdiff_t to = from + (ptrdiff_t)around[k].along[1] * s->stride + (ptrdiff_t)around[k].along[0];
    bool diagonal = around[k].pipe == PIPE_DOWN || around[k].pipe == PIPE_UP;
    *at = (size_t)from;
    const und_column a = und_columns_column(s, (size_t)from), b = und_columns_column(s, (size_t)to);
    double depth = (double)und_pipe_depth(&a, &b, s->pipes.reach);
    if (!(depth > (double)UND_FILM))
        return 0;
    return depth * f->cover * around[k].part * (diagonal ? s->def.diagonal : 1) / (1 + 2 * s->def.diagonal);
}

/* The water that drag on a body moves along x and along z, kg. */
static void find_moved(const und_columns *s, const und_body_view *v, double mass[2])
{
    double per_metre = s->def.height_field.density * und_height_field_cell_area(&s->height_field);
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
    double dx = s->height_field.grid.dx, speed[2];
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

void und_columns_carry(und_columns *s, und_body_view *v)
{
    und_float_drag drag = {.given = 1, .dt = s->dt};
    find_moved(s, v, drag.mass);
    und_floats_carry(&s->floats, v, &drag);
    give(s, v, drag.mass, (const double[2]){-drag.impulse[0], -drag.impulse[1]});
}
