#include "geom/voxels.h"

#include "base/status.h"
#include "geom/voxels_state.h"

#include <stdlib.h>

und_bounds und_voxels_bounds(const und_voxels *v)
{
    return v->bounds;
}

/* The voxel that a place is in, or beside the whole, along an axis. */
static int index_of(const und_voxels *v, int axis, double p)
{
    double at = floor((p - v->low[axis]) / v->cell[axis]);
    return (int)fmin(fmax(at, -1), v->n[axis]); /* NaN becomes -1 */
}

/* From a place to a voxel, squared; an index as in `nearest`. */
static double box_distance(const und_voxels *v, const double p[3], int32_t index)
{
    int at[3] = {index % v->padded[0] - 1, index / v->padded[0] % v->padded[1] - 1,
                 index / v->padded[0] / v->padded[1] - 1};
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        double below = und_voxel_face(v, a, at[a]) - p[a], above = p[a] - und_voxel_face(v, a, at[a] + 1);
        double off = und_larger(und_larger(below, above), 0);
        sum += off * off;
    }
    return sum;
}

/* The nearest of the voxels around and of those that these have as their nearest. */
double und_voxels_distance(const und_voxels *v, und_vec3 place)
{
    const double p[3] = {place.x, place.y, place.z};
    int at[3];
    for (int a = 0; a < 3; a++)
        at[a] = index_of(v, a, p[a]);
    size_t own = und_voxel_at(v, at[0], at[1], at[2]);
    uint8_t kind = v->filled[own];
    double least = box_distance(v, p, v->nearest[own]);
    for (int z = at[2] - 1; z <= at[2] + 1; z++)
        for (int y = at[1] - 1; y <= at[1] + 1; y++)
            for (int x = at[0] - 1; x <= at[0] + 1; x++) {
                if (x < -1 || y < -1 || z < -1 || x > v->n[0] || y > v->n[1] || z > v->n[2])
                    continue;
                size_t i = und_voxel_at(v, x, y, z);
                int32_t other = v->filled[i] == kind ? v->nearest[i] : (int32_t)i;
                least = und_smaller(least, box_distance(v, p, other));
            }
    return kind ? -sqrt(least) : sqrt(least);
}

/* A line on its way from voxel to voxel; [t, next] is the stretch in the one at hand. */
typedef struct walk {
    const und_voxels *v;
    double origin[3], direction[3];
    int at[3];
    double t, next;
    int axis; /* across which it leaves */
} walk;

/* Where the line leaves the voxel at hand. */
static void find_exit(walk *w)
{
    w->next = INFINITY;
    for (int a = 0; a < 3; a++) {
        if (w->direction[a] == 0)
            continue;
        int face = w->at[a] + (w->direction[a] > 0);
        double t = (und_voxel_face(w->v, a, face) - w->origin[a]) / w->direction[a];
        if (t < w->next) {
            w->next = t;
            w->axis = a;
        }
    }
}

/* To the next voxel; false: the line leaves the whole. */
static bool walk_on(walk *w)
{
    int a = w->axis;
    w->t = und_larger(w->t, w->next);
    w->at[a] += w->direction[a] > 0 ? 1 : -1;
    if (w->at[a] < 0 || w->at[a] >= w->v->n[a])
        return false;
    find_exit(w);
    return true;
}

/* To the first voxel that the line is in after `low`; false: it meets none. */
static bool walk_begin(walk *w, const und_voxels *v, und_vec3 origin, und_vec3 direction, double low)
{
    *w = (walk){.v = v,
                .origin = {origin.x, origin.y, origin.z},
                .direction = {direction.x, direction.y, direction.z}};
    double in = low, out = INFINITY;
    int entered = -1;
    for (int a = 0; a < 3; a++) {
        double d = w->direction[a], ends[2] = {v->low[a], und_voxel_face(v, a, v->n[a])};
        if (d == 0) {
            if (!(w->origin[a] >= ends[0] && w->origin[a] < ends[1]))
                return false;
            continue;
        }
        double near = (ends[d < 0] - w->origin[a]) / d, far = (ends[d > 0] - w->origin[a]) / d;
        entered = near > in ? a : entered;
        in = und_larger(in, near);
        out = und_smaller(out, far);
    }
    if (!(in < out))
        return false;
    w->t = in;
    for (int a = 0; a < 3; a++) {
        int i = index_of(v, a, w->origin[a] + (w->direction[a] == 0 ? 0 : in * w->direction[a]));
        i = i < 0 ? 0 : i >= v->n[a] ? v->n[a] - 1 : i;
        w->at[a] = a != entered ? i : w->direction[a] > 0 ? 0 : v->n[a] - 1;
    }
    find_exit(w);
    while (w->next <= w->t) /* rounding put it a voxel back */
        if (!walk_on(w))
            return false;
    return true;
}

static bool is_filled(const walk *w)
{
    return w->v->filled[und_voxel_at(w->v, w->at[0], w->at[1], w->at[2])];
}

double und_voxels_line(const und_voxels *v, und_vec3 origin, und_vec3 direction, double low, double high,
                       double *first)
{
    walk w;
    double total = 0, begin = 0;
    bool inside = false, found = false;
    *first = high;
    bool more = walk_begin(&w, v, origin, direction, low);
    for (; more && w.t < high; more = walk_on(&w)) {
        bool now = is_filled(&w);
        if (now && !inside) {
            begin = w.t;
            *first = found ? *first : begin;
            found = true;
        } else if (!now && inside) {
            total += w.t - begin;
        }
        inside = now;
    }
    if (inside)
        total += und_smaller(w.t, high) - begin;
    return total;
}

double und_voxels_next(const und_voxels *v, und_vec3 origin, und_vec3 direction, double after)
{
    walk w;
    if (!walk_begin(&w, v, origin, direction, after))
        return INFINITY;
    bool inside = false;
    if (w.t > after) { /* it comes in */
        if (is_filled(&w))
            return w.t;
    } else {
        inside = is_filled(&w);
    }
    while (walk_on(&w))
        if (is_filled(&w) != inside && w.t > after)
            return w.t;
    return inside && w.t > after ? w.t : INFINITY;
}

/* The faces of one layer of voxels towards one side. */
typedef struct layer {
    const und_voxels *v;
    int axis, u, w; /* the other axes, so that u x w points along the axis */
    int side;       /* 1: the high side */
    int place;
    uint8_t *open; /* [n[w]][n[u]]: a face that is in no rectangle yet */
    und_voxel_face_fn *each;
    void *context;
} layer;

static void find_open(layer *l)
{
    const und_voxels *v = l->v;
    int at[3];
    at[l->axis] = l->place;
    for (at[l->w] = 0; at[l->w] < v->n[l->w]; at[l->w]++)
        for (at[l->u] = 0; at[l->u] < v->n[l->u]; at[l->u]++) {
            int beside[3] = {at[0], at[1], at[2]};
            beside[l->axis] += l->side ? 1 : -1;
            l->open[at[l->w] * v->n[l->u] + at[l->u]] =
                v->filled[und_voxel_at(v, at[0], at[1], at[2])] &&
                !v->filled[und_voxel_at(v, beside[0], beside[1], beside[2])];
        }
}

static und_vec3 corner_of(const layer *l, int u, int w)
{
    double p[3];
    p[l->axis] = und_voxel_face(l->v, l->axis, l->place + l->side);
    p[l->u] = und_voxel_face(l->v, l->u, u);
    p[l->w] = und_voxel_face(l->v, l->w, w);
    return und_vec(p[0], p[1], p[2]);
}

/* The rectangle that begins at (u, w): as wide as the row is open, then as high as all of it is. */
static void take_rectangle(layer *l, int u, int w)
{
    int nu = l->v->n[l->u], nw = l->v->n[l->w], end = u, top = w + 1;
    while (end < nu && l->open[w * nu + end])
        end++;
    for (bool whole = true; top < nw; top++) {
        for (int i = u; i < end && whole; i++)
            whole = l->open[top * nu + i];
        if (!whole)
            break;
    }
    for (int j = w; j < top; j++)
        for (int i = u; i < end; i++)
            l->open[j * nu + i] = 0;
    und_vec3 a = corner_of(l, u, w), b = corner_of(l, end, w), c = corner_of(l, end, top),
             d = corner_of(l, u, top);
    const und_vec3 out[4] = {a, l->side ? b : d, c, l->side ? d : b};
    l->each(l->context, out);
}

und_status und_voxels_faces(const und_voxels *v, und_voxel_face_fn *each, void *context, und_error *err)
{
    size_t n[3] = {(size_t)v->n[0], (size_t)v->n[1], (size_t)v->n[2]};
    size_t xy = n[0] * n[1], yz = n[1] * n[2], zx = n[2] * n[0];
    uint8_t *open = und_alloc(xy > yz ? (xy > zx ? xy : zx) : (yz > zx ? yz : zx), 1, "voxels' faces", err);
    if (!open)
        return UND_FAILED;
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            for (int place = 0; place < v->n[axis]; place++) {
                layer l = {.v = v,
                           .axis = axis,
                           .u = (axis + 1) % 3,
                           .w = (axis + 2) % 3,
                           .side = side,
                           .place = place,
                           .open = open,
                           .each = each,
                           .context = context};
                find_open(&l);
                for (int w = 0; w < v->n[l.w]; w++)
                    for (int u = 0; u < v->n[l.u]; u++)
                        if (open[w * v->n[l.u] + u])
                            take_rectangle(&l, u, w);
            }
    free(open);
    return UND_OK;
}
