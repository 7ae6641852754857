/* Where stresses are in the viscous step, and how much liquid bears them: see viscous.h. */
#ifndef UND_FLOW_VISCOUS_WEIGHTS_KERNEL_H
#define UND_FLOW_VISCOUS_WEIGHTS_KERNEL_H

#include "flow/viscous_kernel.h"
#include "surface/plane_kernel.h"

#define UND_VISCOUS_LEAST_NU 1e-30f
#define UND_VISCOUS_LEAST_MASS 0.01f

typedef struct und_viscous_weights_args {
    und_mac mac;
    int axes;
    bool stick;
    float scale; /* dt / dx^2 */
    const float *phi, *nu, *room, *open[3];
    und_mask flows[3], unknown[3];
    uint8_t *kind[3];
    float *inverse, *cell, *mass[3], *edge[3][2];
} und_viscous_weights_args;

/* ---- Faces ---- */

UND_INLINE void und_viscous_kinds_row(const und_viscous_weights_args *w, und_place p)
{
    for (int a = 0; a < w->axes; a++) {
        const float *open = w->open[a] + p.at;
        const uint64_t *flows = und_mask_row(&w->flows[a], p.y, p.z);
        uint64_t *unknown = und_mask_row(&w->unknown[a], p.y, p.z);
        uint8_t *kind = w->kind[a] + p.at;
        const und_span part = und_mac_span_beside(&w->mac, p.y, p.z);
        for (int k = 0; k < w->unknown[a].words; k++)
            unknown[k] = flows[k];
        for (int x = part.begin; x < part.end; x += UND_LANES) {
            const int left = part.end - x;
            const und_lanes_int none = {0}, moves = und_lanes_where(und_mask_sixteen(&w->flows[a], flows, x) &
                                                                    UND_LANES_ALL);
            const und_lanes_int rests =
                und_lanes_int_select(und_lanes_load(open + x) > 0, none + UND_FACE_AIR, none + UND_FACE_SHUT);
            und_lanes_bytes_store_some(kind + x, und_lanes_int_select(moves, none + UND_FACE_UNKNOWN, rests),
                                       left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL);
        }
    }
}
UND_KERNEL(und_viscous_kinds_row, und_viscous_weights_args, UND_EACH_ROW)

/* ---- How much liquid ---- */

/* The liquid's part of the cube around a place: that of cell i, half a cell further along the axes whose bits
 * are set in `half`. */
static inline float und_viscous_part(const und_viscous_weights_args *w, size_t i, unsigned half)
{
    const und_mac *m = &w->mac;
    const float *phi = w->phi;
    const float far = 2;
    if (!(phi[i] < far && phi[i] > -far))
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
        for (int a = 0; a < w->axes; a++)
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
    if (!(square > 1e-12))
        return mean < 0 ? 1 : 0;
    return (float)und_plane_part(mean * __builtin_sqrt(square), gradient);
}

/* ---- Stresses ---- */

/* The cells of a row that have to do with unknown faces in it and beside it: false where there are none. */
static inline bool und_viscous_find_range(const und_viscous_weights_args *w, int y, int z, int *begin,
                                          int *end)
{
    *begin = w->mac.n[0] + 1;
    *end = -1;
    for (int a = 0; a < w->axes; a++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++) {
                if (y + dy < -1 || y + dy > w->mac.n[1] || z + dz < -1 || z + dz > w->mac.n[2])
                    continue;
                const uint64_t *row = und_mask_row(&w->unknown[a], y + dy, z + dz);
                for (int k = 0; k < w->unknown[a].words; k++)
                    if (row[k]) {
                        int first = 64 * k - 1 + __builtin_ctzll(row[k]);
                        int last = 64 * k + 62 - __builtin_clzll(row[k]);
                        *begin = first < *begin ? first : *begin;
                        *end = last > *end ? last : *end;
                    }
            }
    *begin = *begin - 1 > -1 ? *begin - 1 : -1;
    *end = *end + 2 < w->mac.n[0] + 1 ? *end + 2 : w->mac.n[0] + 1;
    return *begin < *end;
}

UND_INLINE void und_viscous_wet_row(const und_viscous_weights_args *w, und_place p)
{
    const int *n = w->mac.n;
    const bool inside = p.y >= 0 && p.y < n[1] && p.z >= 0 && p.z < n[2];
    int begin, end;
    if (!und_viscous_find_range(w, p.y, p.z, &begin, &end))
        return;
    for (int x = begin; x < end; x++) {
        const size_t i = (size_t)((ptrdiff_t)p.at + x);
        const bool wet = inside && x >= 0 && x < n[0] && w->phi[i] < 0 && (!w->room || w->room[i] > 0);
        w->inverse[i] = wet ? 1 / (w->nu[i] > UND_VISCOUS_LEAST_NU ? w->nu[i] : UND_VISCOUS_LEAST_NU) : -1;
    }
}
UND_KERNEL(und_viscous_wet_row, und_viscous_weights_args, UND_EACH_ROW)

/* The viscosity of an edge.  Two layers bear the same stress: there it is the harmonic mean of the cells
 * around it.  Where it is smooth, two thirds of the arithmetic one and a third of that make the mean of 1 /
 * nu between the cells right to fourth order. */
static inline float und_viscous_edge_nu(const und_viscous_weights_args *w, size_t i, ptrdiff_t one,
                                        ptrdiff_t other)
{
    const size_t at[4] = {i, i + (size_t)one, i + (size_t)other, i + (size_t)one + (size_t)other};
    const float smooth = 0.1f; /* how much more the arithmetic mean is, where it counts no longer */
    float sum = 0, inverse = 0, count = 0;
    for (int k = 0; k < 4; k++)
        if (w->inverse[at[k]] >= 0) {
            inverse += w->inverse[at[k]];
            sum += 1 / w->inverse[at[k]];
            count++;
        }
    if (!(count > 0))
        return 0;
    float harmonic = count / inverse, more = sum * inverse / (count * count) - 1;
    return more < smooth ? harmonic * (1 + 2.0f / 3 * more * (1 - more / smooth)) : harmonic;
}

/* What an edge's viscosity is to be multiplied by on a wall, so that it is that of a quarter of a cell from
 * it, where the stress's layer has its middle: as it goes on from the cell further in, where it is smooth. */
static inline float und_viscous_towards_wall(const und_viscous_weights_args *w, size_t beside, size_t further)
{
    const float most = 1.5f;
    float here = w->inverse[beside], in = w->inverse[further];
    bool smooth = here > 0 && in > 0 && here < most * in && in < most * here;
    return smooth ? __builtin_sqrtf(__builtin_sqrtf(in / here)) : 1;
}

/* An edge along the third axis, between the faces of components a < b that meet on it.  On a wall, where one
 * of two faces is shut, the other is half a cell away and half of the cube around the edge is liquid. */
static inline void und_viscous_set_edge(const und_viscous_weights_args *w, int a, int b, size_t i)
{
    const ptrdiff_t sa = w->mac.step[a], sb = w->mac.step[b];
    const uint8_t kind[4] = {w->kind[a][i], w->kind[a][i + (size_t)sb], w->kind[b][i],
                             w->kind[b][i + (size_t)sa]};
    int shut = 0, air = 0;
    for (int k = 0; k < 4; k++) {
        shut += kind[k] == UND_FACE_SHUT;
        air += kind[k] == UND_FACE_AIR;
    }
    float root = 0, wall[2] = {1, 1};
    if (air == 0 && shut < 4 && (shut == 0 || w->stick)) {
        float part = und_viscous_part(w, i, 1U << a | 1U << b);
        float factor = 1;
        for (int k = 0; k < 2; k++)
            if ((kind[2 * k] == UND_FACE_SHUT) != (kind[2 * k + 1] == UND_FACE_SHUT)) {
                const size_t step = (size_t)(k == 0 ? sb : sa);
                bool high = kind[2 * k + 1] == UND_FACE_SHUT;
                wall[k] = 2;
                factor = 0.5f * (high ? und_viscous_towards_wall(w, i, i - step)
                                      : und_viscous_towards_wall(w, i + step, i + 2 * step));
            }
        root = part > 0 ? __builtin_sqrtf(w->scale * und_viscous_edge_nu(w, i, sa, sb) * part * factor) : 0;
    }
    w->edge[3 - a - b][0][i] = wall[0] * root;
    w->edge[3 - a - b][1][i] = wall[1] * root;
}

static inline void und_viscous_set_cell(const und_viscous_weights_args *w, size_t i)
{
    bool bears = w->inverse[i] >= 0;
    for (int a = 0; a < w->axes && bears; a++)
        bears = w->kind[a][i] != UND_FACE_AIR && w->kind[a][i - (size_t)w->mac.step[a]] != UND_FACE_AIR;
    w->cell[i] = bears ? 2 * w->scale / w->inverse[i] * und_viscous_part(w, i, 0) : 0;
}

static inline float und_viscous_mass(const und_viscous_weights_args *w, int axis, int x, int y, int z,
                                     size_t i)
{
    const int at[3] = {x, y, z}, *n = w->mac.n;
    for (int a = 0; a < 3; a++) /* what is beside the domain has no faces within it but high ones */
        if (at[a] < (a == axis ? -1 : 0) || at[a] >= n[a])
            return 1;
    if (!und_mask_has(&w->unknown[axis], x, y, z))
        return 1;
    const float part = und_viscous_part(w, i, 1U << axis);
    return part > UND_VISCOUS_LEAST_MASS ? part : UND_VISCOUS_LEAST_MASS;
}

UND_INLINE void und_viscous_weights_row(const und_viscous_weights_args *w, und_place p)
{
    const int *n = w->mac.n, y = p.y, z = p.z;
    int begin, end;
    if (!und_viscous_find_range(w, y, z, &begin, &end))
        return;
    for (int x = begin; x < end; x++) {
        const size_t i = (size_t)((ptrdiff_t)p.at + x);
        const int at[3] = {x, y, z};
        if (x >= 0 && x < n[0] && y >= 0 && y < n[1] && z >= 0 && z < n[2])
            und_viscous_set_cell(w, i);
        else
            w->cell[i] = 0;
        for (int a = 0; a < w->axes; a++) {
            w->mass[a][i] = und_viscous_mass(w, a, x, y, z, i);
            for (int b = a + 1; b < w->axes; b++)
                if (x < n[0] && y < n[1] && z < n[2] && at[3 - a - b] >= 0)
                    und_viscous_set_edge(w, a, b, i);
                else if (x < n[0] && y < n[1] && z < n[2])
                    w->edge[3 - a - b][0][i] = w->edge[3 - a - b][1][i] = 0; /* beside the domain */
        }
    }
}
UND_KERNEL(und_viscous_weights_row, und_viscous_weights_args, UND_EACH_ROW)

#endif
