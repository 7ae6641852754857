/* Layers on walls that phi shows, of up to a few cells: how thick they are, and what they are slowed down by.
 */
#ifndef UND_SURFACE_VOLUME_LAYERS_KERNEL_H
#define UND_SURFACE_VOLUME_LAYERS_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"
#include "surface/volume_film_flow_kernel.h"
#include "surface/volume_walls_kernel.h"

#define UND_VOLUME_LAYER_DRAGGED 2.0f /* cells: layers up to so thick are slowed down; */
#define UND_VOLUME_LAYER_FREE 3.0f    /* and so thick not at all */
#define UND_VOLUME_LAYER_HARDLY 0.1f  /* cells: what phi says of cells may be but the level beside these */
#define UND_VOLUME_LAYER_WITHIN 1.0f  /* cells: so far in a wall are what faces of open cells touch */
#define UND_VOLUME_LAYER_ALONG 0.5f   /* cosine: the surface lies along the wall */

typedef struct und_volume_layering {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
    und_volume_film_flow f;
    const float *nu;
    float *left;
    uint8_t *row_layers; /* whether a row has some */
} und_volume_layering;

UND_INLINE float und_volume_layer_less(float a, float b)
{
    return a < b ? a : b;
}

static inline bool und_volume_layer_has_solids(const und_volume_layering *l)
{
    return l->walls.room && l->walls.rest;
}

static inline float und_volume_layer_cosine(const float a[3], const float b[3])
{
    const float size = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) * (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    return size > 0 ? (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / __builtin_sqrtf(size) : 0;
}

/* Whether there is nothing but liquid between a cell and its wall, which is so many cells away. */
static inline bool und_volume_layer_lies_on(const und_volume_layering *l, size_t at, float away,
                                            const float normal[3])
{
    const int across = und_volume_across(normal);
    const ptrdiff_t step = normal[across] > 0 ? -l->v.mac.step[across] : l->v.mac.step[across];
    for (float way = 0.5f; way < away && l->v.inside[at]; way++) {
        if (!(l->phi[at] < 0))
            return false;
        at = (size_t)((ptrdiff_t)at + step);
    }
    return true;
}

/* Between a wall so far away and the air, cells; no number where it is no layer. */
static inline float und_volume_layer_thickness_over(const und_volume_layering *l, size_t at, float away,
                                                    const float normal[3])
{
    const und_mac *m = &l->v.mac;
    const float *phi = l->phi + at, thick = away - *phi;
    float out[3];
    if (!(thick < UND_VOLUME_LAYER_FREE))
        return __builtin_inff();
    for (int a = 0; a < 3; a++)
        out[a] = m->n[a] > 1 ? phi[m->step[a]] - phi[-m->step[a]] : 0;
    return und_volume_layer_cosine(out, normal) > UND_VOLUME_LAYER_ALONG &&
                   und_volume_layer_lies_on(l, at, away, normal)
               ? (thick > 0 ? thick : 0)
               : __builtin_inff();
}

/* Cells to where the domain ends that way, from the middle of a cell; UND_VOLUME_LAYER_FREE where that is
 * further. */
static inline float und_volume_layer_to_side(const und_volume_layering *l, size_t at, ptrdiff_t step)
{
    float away = 0.5f;
    for (; away < UND_VOLUME_LAYER_FREE && l->v.inside[(ptrdiff_t)at + step]; away++)
        at = (size_t)((ptrdiff_t)at + step);
    return away < UND_VOLUME_LAYER_FREE ? away : UND_VOLUME_LAYER_FREE;
}

/* How thick the layer is that a cell of liquid is in, cells, and the way out from its wall: the thinnest, in
 * corners. */
static inline float und_volume_layer_layer_at(const und_volume_layering *l, size_t at, float normal[3])
{
    const und_mac *m = &l->v.mac;
    float thick = __builtin_inff();
    if (und_volume_layer_has_solids(l) && l->walls.distance[at] < UND_VOLUME_LAYER_FREE) {
        und_volume_solid_normal(&l->v, &l->walls, at, normal);
        thick = und_volume_layer_thickness_over(l, at, l->walls.distance[at], normal);
    }
    for (int side = 0; side < 2 * und_volume_axes(m); side++) {
        const int a = side / 2, up = side % 2 ? -1 : 1;
        const float away = l->walls.closed[side] && m->n[a] > 1
                               ? und_volume_layer_to_side(l, at, -up * m->step[a])
                               : UND_VOLUME_LAYER_FREE;
        const float out[3] = {a == 0 ? (float)up : 0, a == 1 ? (float)up : 0, a == 2 ? (float)up : 0};
        const float there = away < UND_VOLUME_LAYER_FREE ? und_volume_layer_thickness_over(l, at, away, out)
                                                         : __builtin_inff();
        if (there < thick) {
            thick = there;
            __builtin_memcpy(normal, out, sizeof out);
        }
    }
    return thick;
}

/* 1 where it is thin, 0 where it is none. */
static inline float und_volume_layer_share_of(float thick)
{
    return thick < UND_VOLUME_LAYER_FREE
               ? und_volume_layer_less(1, (UND_VOLUME_LAYER_FREE - thick) /
                                              (UND_VOLUME_LAYER_FREE - UND_VOLUME_LAYER_DRAGGED))
               : 0;
}

/* m/s, along its wall */
static inline double und_volume_layer_speed_in(const und_volume_layering *l, size_t at, const float normal[3])
{
    double speed[3] = {0}, out = 0, sum = 0, size = 1e-12;
    for (int a = 0; a < und_volume_axes(&l->v.mac); a++) {
        const ptrdiff_t low = -l->v.mac.step[a];
        const float *u = l->f.u[a] + at, *open = l->walls.open[a] + at;
        const int ways = (open[0] > 0) + (open[low] > 0);
        const double both = (open[0] > 0 ? (double)u[0] : 0) + (open[low] > 0 ? (double)u[low] : 0);
        speed[a] = ways > 0 ? both / ways : 0;
        out += speed[a] * (double)normal[a];
        size += (double)normal[a] * (double)normal[a];
        sum += speed[a] * speed[a];
    }
    return __builtin_sqrt(und_double_max(sum - out * out / size, 0));
}

/* 1/s */
static inline float und_volume_layer_rate_in(const und_volume_layering *l, size_t at)
{
    const float held =
        und_volume_layer_has_solids(l) ? und_volume_held_layer(&l->v, &l->walls, at) : __builtin_inff();
    const bool hardly = held < UND_VOLUME_LAYER_HARDLY;
    float normal[3] = {0};
    const float thick = hardly ? held : und_volume_layer_layer_at(l, at, normal),
                share = hardly ? 1 : und_volume_layer_share_of(thick);
    return share > 0 ? share * (float)und_volume_drag(&l->f, at, (double)thick,
                                                      und_volume_layer_speed_in(l, at, normal))
                     : 0;
}

/* Of the UND_LANES cells from one on: liquid near a wall and near the air. */
static inline unsigned und_volume_layer_may_be_layers(const und_volume_layering *l, und_place p, int x)
{
    const und_mac *m = &l->v.mac;
    const size_t first = p.at + (size_t)x;
    const und_lanes phi = und_lanes_load(l->phi + first);
    const int near = (int)UND_VOLUME_LAYER_FREE, count = m->n[0] - x;
    unsigned at_wall = 0;
    if (p.y < near || p.y >= m->n[1] - near || (m->n[2] > 1 && (p.z < near || p.z >= m->n[2] - near)))
        at_wall = ~0u;
    else {
        at_wall |= x < near ? (1u << (near - x)) - 1 : 0;
        at_wall |= count - near < UND_LANES ? ~0u << (count > near ? count - near : 0) : 0;
    }
    if (und_volume_layer_has_solids(l)) {
        const und_lanes away = und_lanes_load(l->walls.distance + first);
        at_wall |= und_lanes_bits((away > -UND_VOLUME_LAYER_WITHIN) & (away - phi < UND_VOLUME_LAYER_FREE));
    }
    return at_wall & und_lanes_bits((phi < 0) & (phi > -UND_VOLUME_LAYER_FREE - UND_VOLUME_LAYER_WITHIN)) &
           und_span_bits(und_mac_span(m, p.y, p.z), x, UND_LANES);
}

static inline void und_volume_layer_find_rates(const und_volume_layering *l, und_place p)
{
    float *rate = l->v.fraction + p.at;
    const und_span span = und_mac_span(&l->v.mac, p.y, p.z);
    bool any = false;
    __builtin_memset(rate + span.begin, 0, (size_t)(span.end - span.begin) * sizeof *rate);
    for (int x = span.begin; x < span.end; x += UND_LANES)
        for (unsigned bits = und_volume_layer_may_be_layers(l, p, x); bits; bits &= bits - 1) {
            const int i = x + __builtin_ctz(bits);
            rate[i] = und_volume_layer_rate_in(l, p.at + (size_t)i);
            any |= rate[i] > 0;
        }
    l->row_layers[p.y + p.z * l->v.mac.n[1]] = any;
}
UND_KERNEL(und_volume_layer_find_rates, und_volume_layering, UND_EACH_ROW)

/* The high face of a cell: by what lies in layers of what is on both sides. */
static inline void und_volume_layer_slow_face(const und_volume_layering *l, size_t at, int axis)
{
    const und_volume_arrays *v = &l->v;
    const size_t next = at + (size_t)v->mac.step[axis];
    const float low = l->phi[at] < 0 ? v->fraction[at] : 0;
    const float high = l->phi[next] < 0 ? v->fraction[next] : 0; /* or no pass comes to its row */
    if (!(l->walls.open[axis][at] > 0) || !v->inside[at] || !v->inside[next] || v->film[at] || v->film[next])
        return;
    const float both = low > 0 && high > 0 ? 0.5f * (low + high) : low + high;
    l->f.u[axis][at] /= 1 + (float)l->f.dt * both;
}

/* In a row, and in those that its high faces are shared with. */
static inline bool und_volume_layer_has_layers(const und_volume_layering *l, und_place p)
{
    const und_mac *m = &l->v.mac;
    const uint8_t *there = l->row_layers + (p.y + p.z * m->n[1]);
    return there[0] || (p.y + 1 < m->n[1] && there[1]) || (p.z + 1 < m->n[2] && there[m->n[1]]);
}

static inline void und_volume_layer_slow_row(const und_volume_layering *l, und_place p)
{
    if (!und_volume_layer_has_layers(l, p))
        return;
    const float *rate = l->v.fraction;
    const und_span span = und_mac_span(&l->v.mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x += UND_LANES)
        for (int a = 0; a < und_volume_axes(&l->v.mac); a++) {
            const size_t first = p.at + (size_t)x;
            unsigned bits = und_lanes_bits((und_lanes_load(rate + first) > 0) |
                                           (und_lanes_load(rate + first + l->v.mac.step[a]) > 0));
            for (bits &= und_volume_row_bits((size_t)(span.end - x)); bits; bits &= bits - 1)
                und_volume_layer_slow_face(l, first + (size_t)__builtin_ctz(bits), a);
        }
}
UND_KERNEL(und_volume_layer_slow_row, und_volume_layering, UND_EACH_ROW)

static inline void und_volume_layer_leave_layers(const und_volume_layering *l, und_place p)
{
    const und_span span = und_mac_span(&l->v.mac, p.y, p.z);
    const size_t first = p.at + (size_t)span.begin;
    __builtin_memcpy(l->left + first, l->nu + first, (size_t)(span.end - span.begin) * sizeof *l->left);
    for (int x = span.begin; x < span.end; x += UND_LANES)
        for (unsigned bits = und_volume_layer_may_be_layers(l, p, x); bits; bits &= bits - 1) {
            const size_t at = p.at + (size_t)x + (size_t)__builtin_ctz(bits);
            float normal[3];
            l->left[at] *= 1 - und_volume_layer_share_of(und_volume_layer_layer_at(l, at, normal));
        }
}
UND_KERNEL(und_volume_layer_leave_layers, und_volume_layering, UND_EACH_ROW)

#endif
