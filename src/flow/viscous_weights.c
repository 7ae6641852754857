/* Where stresses are, how much liquid bears them, and the force of the flow's own. */
#include "base/parallel.h"
#include "flow/viscous_parts.h"

#include <math.h>
#include <string.h>

static const float LEAST_NU = 1e-30f, LEAST_MASS = 0.01f;

static bool unknown_at(const und_viscous *v, int axis, int x, int y, int z)
{
    return und_mask_has(&v->unknown[axis], x, y, z);
}

/* ---- Faces ---- */

static void set_kinds_of_row(und_viscous *v, const und_viscous_flow *f, int y, int z)
{
    const int n = v->mac.n[0];
    size_t row = und_mac_at(&v->mac, 0, y, z);
    for (int a = 0; a < v->axes; a++) {
        const float *open = f->solids->open[a] + row;
        uint8_t *kind = v->kind[a] + row;
        for (int x = -1; x <= n; x++)
            kind[x] = open[x] > 0 ? UND_FACE_AIR : UND_FACE_SHUT;
        memcpy(und_mask_row(&v->unknown[a], y, z), und_mask_row(&f->flow->flows[a], y, z),
               (size_t)v->unknown[a].words * sizeof(uint64_t));
        for (int begin, end = -1; und_mask_stretch(&v->unknown[a], y, z, end, &begin, &end);)
            memset(kind + begin, UND_FACE_UNKNOWN, (size_t)(end - begin));
    }
}

static void set_kind(und_viscous *v, int axis, const int at[3], uint8_t kind)
{
    v->kind[axis][und_mac_at(&v->mac, at[0], at[1], at[2])] = kind;
    und_mask_row(&v->unknown[axis], at[1], at[2])[(at[0] + 1) >> 6] &= ~(UINT64_C(1) << ((at[0] + 1) & 63));
}

static void hold_faces(und_viscous *v, const und_mask *held)
{
    for (int z = 0; z < v->mac.n[2]; z++)
        for (int y = 0; y < v->mac.n[1]; y++)
            for (int begin, end = -1; und_mask_stretch(held, y, z, end, &begin, &end);)
                for (int x = begin; x < end; x++)
                    for (int a = 0; a < v->axes; a++) {
                        set_kind(v, a, (int[3]){x, y, z}, UND_FACE_HELD);
                        set_kind(v, a, (int[3]){x - (a == 0), y - (a == 1), z - (a == 2)}, UND_FACE_HELD);
                    }
}

typedef void border_fn(und_viscous *v, const und_viscous_flow *f, int axis, const int at[3], int inwards);

/* All faces on the domain's border that are open and flow. */
static void each_on_border(und_viscous *v, const und_viscous_flow *f, border_fn *fn)
{
    const int *n = v->mac.n;
    for (int a = 0; a < v->axes; a++)
        for (int side = 0; side < 2; side++) {
            int end[3] = {n[0], n[1], n[2]}, begin[3] = {0, 0, 0}, at[3];
            begin[a] = side ? n[a] - 1 : -1;
            end[a] = begin[a] + 1;
            for (at[2] = begin[2]; at[2] < end[2]; at[2]++)
                for (at[1] = begin[1]; at[1] < end[1]; at[1]++)
                    for (at[0] = begin[0]; at[0] < end[0]; at[0]++)
                        if (und_mask_has(&f->flow->flows[a], at[0], at[1], at[2]))
                            fn(v, f, a, at, side ? -1 : 1);
        }
}

/* Nothing is known beyond an open side: what leaves by it bears no stress. */
static void free_border(und_viscous *v, const und_viscous_flow *f, int axis, const int at[3], int inwards)
{
    (void)f, (void)inwards;
    set_kind(v, axis, at, UND_FACE_AIR);
}

static void follow_inside(und_viscous *v, const und_viscous_flow *f, int axis, const int at[3], int inwards)
{
    const int next[3] = {at[0] + (axis == 0) * inwards, at[1] + (axis == 1) * inwards,
                         at[2] + (axis == 2) * inwards};
    float *u = f->flow->u[axis];
    if (und_mask_has(&f->flow->flows[axis], next[0], next[1], next[2]))
        u[und_mac_at(&v->mac, at[0], at[1], at[2])] = u[und_mac_at(&v->mac, next[0], next[1], next[2])];
}

void und_viscous_follow_border(und_viscous *v, const und_viscous_flow *f)
{
    each_on_border(v, f, follow_inside);
}

static void set_kinds(und_viscous *v, const und_viscous_flow *f)
{
    const und_mac *m = &v->mac;
    const int wide = m->n[1] + 2, low = v->axes == 3 ? -1 : 0, high = v->axes == 3 ? m->n[2] : 0;
    int threads = und_workers(v->threads, m->count, 8 * UND_VISCOUS_CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int z = low; z <= high; z++)
        for (int y = 0; y < wide; y++)
            set_kinds_of_row(v, f, y - 1, z);
    if (f->held)
        hold_faces(v, f->held);
    each_on_border(v, f, free_border);
}

/* ---- How much liquid ---- */

/* The liquid's part of the cube around a place: that of cell i, half a cell further along the axes whose bits
 * are set in `half`. */
static float part_at(const und_mac *m, int axes, const float *phi, size_t i, unsigned half)
{
    const float far = 2;
    if (!(fabsf(phi[i]) < far))
        return phi[i] < 0 ? 1 : 0;
    double mean = 0, gradient[3] = {0};
    int count = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        if (corner & ~half)
            continue;
        size_t at = i;
        for (int a = 0; a < 3; a++)
            at += corner >> a & 1 ? (size_t)m->step[a] : 0;
        mean += (double)phi[at];
        for (int a = 0; a < axes; a++)
            gradient[a] += half >> a & 1
                               ? (double)(corner >> a & 1 ? phi[at] : -phi[at]) * 2
                               : 0.5 * (double)(phi[at + (size_t)m->step[a]] - phi[at - (size_t)m->step[a]]);
        count++;
    }
    double square = 0;
    for (int a = 0; a < 3; a++) {
        gradient[a] /= count;
        square += gradient[a] * gradient[a];
    }
    mean /= count;
    return square > 1e-12 ? (float)und_distance_part(mean, gradient) : mean < 0 ? 1 : 0;
}

/* ---- Stresses ---- */

/* The cells of a row that have to do with unknown faces in it and beside it: false where there are none. */
static bool find_range(const und_viscous *v, int y, int z, int *begin, int *end)
{
    *begin = v->mac.n[0] + 1;
    *end = -1;
    for (int a = 0; a < v->axes; a++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++) {
                if (y + dy < -1 || y + dy > v->mac.n[1] || z + dz < -1 || z + dz > v->mac.n[2])
                    continue;
                const uint64_t *row = und_mask_row(&v->unknown[a], y + dy, z + dz);
                for (int w = 0; w < v->unknown[a].words; w++)
                    if (row[w]) {
                        int first = 64 * w - 1 + __builtin_ctzll(row[w]);
                        int last = 64 * w + 62 - __builtin_clzll(row[w]);
                        *begin = first < *begin ? first : *begin;
                        *end = last > *end ? last : *end;
                    }
            }
    *begin = *begin - 1 > -1 ? *begin - 1 : -1;
    *end = *end + 2 < v->mac.n[0] + 1 ? *end + 2 : v->mac.n[0] + 1;
    return *begin < *end;
}

static void set_wet_row(und_viscous *v, const und_viscous_flow *f, int y, int z)
{
    const int *n = v->mac.n;
    int begin, end;
    if (!find_range(v, y, z, &begin, &end))
        return;
    bool inside = y >= 0 && y < n[1] && z >= 0 && z < n[2];
    size_t row = und_mac_at(&v->mac, 0, y, z);
    for (int x = begin; x < end; x++) {
        size_t i = row + (size_t)(ptrdiff_t)x;
        bool wet = inside && x >= 0 && x < n[0] && f->surface->phi[i] < 0 &&
                   (!f->solids->any || f->solids->room[i] > 0);
        v->inverse[i] = wet ? 1 / fmaxf(f->nu[i], LEAST_NU) : -1;
    }
}

/* The viscosity of an edge.  Two layers bear the same stress: there it is the harmonic mean of the cells
 * around it.  Where it is smooth, two thirds of the arithmetic one and a third of that make the mean of 1 /
 * nu between the cells right to fourth order. */
static float edge_nu(const und_viscous *v, size_t i, ptrdiff_t one, ptrdiff_t other)
{
    const size_t at[4] = {i, i + (size_t)one, i + (size_t)other, i + (size_t)one + (size_t)other};
    const float smooth = 0.1f; /* how much more the arithmetic mean is, where it counts no longer */
    float sum = 0, inverse = 0, count = 0;
    for (int k = 0; k < 4; k++)
        if (v->inverse[at[k]] >= 0) {
            inverse += v->inverse[at[k]];
            sum += 1 / v->inverse[at[k]];
            count++;
        }
    if (!(count > 0))
        return 0;
    float harmonic = count / inverse, more = sum * inverse / (count * count) - 1;
    return more < smooth ? harmonic * (1 + 2.0f / 3 * more * (1 - more / smooth)) : harmonic;
}

/* What an edge's viscosity is to be multiplied by on a wall, so that it is that of a quarter of a cell from
 * it, where the stress's layer has its middle: as it goes on from the cell further in, where it is smooth. */
static float towards_wall(const und_viscous *v, size_t beside, size_t further)
{
    const float most = 1.5f;
    float here = v->inverse[beside], in = v->inverse[further];
    bool smooth = here > 0 && in > 0 && here < most * in && in < most * here;
    return smooth ? sqrtf(sqrtf(in / here)) : 1;
}

/* An edge along the third axis, between the faces of components a < b that meet on it.  On a wall, where one
 * of two faces is shut, the other is half a cell away and half of the cube around the edge is liquid. */
static void set_edge(und_viscous *v, const und_viscous_flow *f, int a, int b, size_t i, float scale)
{
    const ptrdiff_t sa = v->mac.step[a], sb = v->mac.step[b];
    const uint8_t kind[4] = {v->kind[a][i], v->kind[a][i + (size_t)sb], v->kind[b][i],
                             v->kind[b][i + (size_t)sa]};
    int shut = 0, air = 0;
    for (int k = 0; k < 4; k++) {
        shut += kind[k] == UND_FACE_SHUT;
        air += kind[k] == UND_FACE_AIR;
    }
    float root = 0, wall[2] = {1, 1};
    if (air == 0 && shut < 4 && (shut == 0 || f->stick)) {
        float part = part_at(&v->mac, v->axes, f->surface->phi, i, 1U << a | 1U << b);
        float factor = 1;
        for (int k = 0; k < 2; k++)
            if ((kind[2 * k] == UND_FACE_SHUT) != (kind[2 * k + 1] == UND_FACE_SHUT)) {
                const size_t step = (size_t)(k == 0 ? sb : sa);
                bool high = kind[2 * k + 1] == UND_FACE_SHUT;
                wall[k] = 2;
                factor =
                    0.5f * (high ? towards_wall(v, i, i - step) : towards_wall(v, i + step, i + 2 * step));
            }
        root = part > 0 ? sqrtf(scale * edge_nu(v, i, sa, sb) * part * factor) : 0;
    }
    v->edge[3 - a - b][0][i] = wall[0] * root;
    v->edge[3 - a - b][1][i] = wall[1] * root;
}

static void set_cell(und_viscous *v, const und_viscous_flow *f, size_t i, float scale)
{
    bool bears = v->inverse[i] >= 0;
    for (int a = 0; a < v->axes && bears; a++)
        bears = v->kind[a][i] != UND_FACE_AIR && v->kind[a][i - (size_t)v->mac.step[a]] != UND_FACE_AIR;
    v->cell[i] = bears ? 2 * scale / v->inverse[i] * part_at(&v->mac, v->axes, f->surface->phi, i, 0) : 0;
}

static void set_weights_of_row(und_viscous *v, const und_viscous_flow *f, int y, int z)
{
    const int *n = v->mac.n;
    const float scale = (float)(f->dt / (v->mac.d[0] * v->mac.d[0]));
    int begin, end;
    if (!find_range(v, y, z, &begin, &end))
        return;
    size_t row = und_mac_at(&v->mac, 0, y, z);
    for (int x = begin; x < end; x++) {
        size_t i = row + (size_t)(ptrdiff_t)x;
        bool inside = x >= 0 && x < n[0] && y >= 0 && y < n[1] && z >= 0 && z < n[2];
        if (inside)
            set_cell(v, f, i, scale);
        else
            v->cell[i] = 0;
        for (int a = 0; a < v->axes; a++) {
            v->mass[a][i] = unknown_at(v, a, x, y, z)
                                ? fmaxf(part_at(&v->mac, v->axes, f->surface->phi, i, 1U << a), LEAST_MASS)
                                : 1;
            for (int b = a + 1; b < v->axes; b++)
                if (x < n[0] && y < n[1] && z < n[2])
                    set_edge(v, f, a, b, i, scale);
        }
    }
}

void und_viscous_set_weights(und_viscous *v, const und_viscous_flow *f)
{
    const und_mac *m = &v->mac;
    const int wide = m->n[1] + 2, deep = v->axes == 3 ? m->n[2] + 2 : 1, low = v->axes == 3 ? -1 : 0;
    int threads = und_workers(v->threads, m->count, UND_VISCOUS_CELLS_TO_SHARE);
    set_kinds(v, f);
    PARALLEL_FOR(threads)
    for (int row = 0; row < wide * deep; row++)
        set_wet_row(v, f, row % wide - 1, row / wide + low);
    PARALLEL_FOR(threads)
    for (int row = 0; row < wide * deep; row++)
        set_weights_of_row(v, f, row % wide - 1, row / wide + low);
}

/* ---- The flow's own force ---- */

typedef struct forced {
    const und_solids *solids;
    float *const *u;
} forced;

static double speed_of(const und_viscous *v, const forced *f, int axis, size_t i)
{
    return (double)(v->kind[axis][i] == UND_FACE_SHUT ? f->solids->u[axis][i] : f->u[axis][i]);
}

/* The difference of a component across an edge.  A wall's velocity is wanted on the edge: half way between
 * what the solid has at both faces. */
static double across(const und_viscous *v, const forced *f, int axis, size_t i, size_t next)
{
    bool shut = v->kind[axis][i] == UND_FACE_SHUT, shut_next = v->kind[axis][next] == UND_FACE_SHUT;
    double here = speed_of(v, f, axis, i), there = speed_of(v, f, axis, next);
    if (shut != shut_next) {
        const float *us = f->solids->u[axis];
        double wall = 0.5 * ((double)us[i] + (double)us[next]);
        here = shut ? wall : here;
        there = shut_next ? wall : there;
    }
    return there - here;
}

static double force_on(const und_viscous *v, const forced *f, int a, size_t i)
{
    const size_t sa = (size_t)v->mac.step[a];
    double here = speed_of(v, f, a, i);
    double force = (double)v->cell[i + sa] * (speed_of(v, f, a, i + sa) - here) -
                   (double)v->cell[i] * (here - speed_of(v, f, a, i - sa));
    for (int b = 0; b < v->axes; b++) {
        if (b == a)
            continue;
        const float *own = und_viscous_edge(v, a, b), *other = und_viscous_edge(v, b, a);
        const size_t sb = (size_t)v->mac.step[b], edge[2] = {i - sb, i};
        for (int side = 0; side < 2; side++) {
            size_t e = edge[side];
            if (own[e] > 0) {
                double stress = (double)own[e] * across(v, f, a, e, e + sb) +
                                (double)other[e] * across(v, f, b, e, e + sa);
                force += (side ? 1 : -1) * (double)own[e] * stress;
            }
        }
    }
    return force;
}

void und_viscous_force(und_viscous *v, const und_viscous_flow *flow, float *const u[3])
{
    const forced f = {flow->solids, u};
    const und_mac *m = &v->mac;
    int threads = und_workers(v->threads, m->count, UND_VISCOUS_CELLS_TO_SHARE), rows = und_mac_rows(m);
    PARALLEL_FOR(threads)
    for (int row = 0; row < rows; row++)
        for (int a = 0; a < v->axes; a++)
            for (int begin, end = -1;
                 und_mask_stretch(&v->unknown[a], row % m->n[1], row / m->n[1], end, &begin, &end);)
                for (int x = begin; x < end; x++) {
                    size_t i = und_mac_row(m, row) + (size_t)x;
                    v->r[a][i] = force_on(v, &f, a, i);
                }
}
