/* Where particles are born and where they go. */
#ifndef UND_SURFACE_LEVEL_SET_PARTICLES_SEED_KERNEL_H
#define UND_SURFACE_LEVEL_SET_PARTICLES_SEED_KERNEL_H

#include "base/random.h"
#include "surface/level_set_particles_parts.h"

/* Boxes with less than this share of the particles they should have get more, such with more than this
 * multiple lose some: in between a flow that comes and goes is left alone. */
#define UND_PARTICLES_TOO_FEW 0.5F
#define UND_PARTICLES_TOO_MANY 2.0F

typedef struct und_particles_fill_args {
    und_particles_list of;
    const float *phi;
    const float *wall; /* NULL: none */
    const uint8_t
        *only; /* they come in marked cells, where there are none; NULL: in all, where there are too few */
    const int32_t *first;
    int32_t *row_births; /* of each row, how many; then where they begin */
    int per_cell;
    float radius[2];        /* the smallest and the largest */
    float limit;            /* no particle is further from the surface when it is born */
    double next[3];         /* along each axis the next point is this much further on */
    uint64_t seed, stream;  /* of random numbers: this one, and one more for each further axis */
    size_t number;          /* of box (0, 0, 0) in the whole grid, */
    ptrdiff_t to_number[2]; /* and from one to the next along y and z; along x it is 1 */
} und_particles_fill_args;

typedef struct und_particles_births {
    int32_t next, end; /* where the next is written; next == end where they are only counted */
    int32_t count;
} und_particles_births;

UND_INLINE float und_particles_radius_at(const und_particles_fill_args *a, float phi)
{
    float size = __builtin_fabsf(phi);
    size = size > a->radius[0] ? size : a->radius[0];
    size = size < a->radius[1] ? size : a->radius[1];
    return phi > 0 ? size : -size;
}

/* Up to UND_LANES points of the sequence in a box, from the first on. */
static inline void und_particles_points_of(const und_particles_fill_args *f, const int box[3], size_t index,
                                           int from, und_lanes place[3])
{
    const und_mac *m = &f->of.mac;
    for (int a = 0; a < 3; a++) {
        double start = und_random(f->seed, f->stream + (uint64_t)a, index);
        for (int k = 0; k < UND_LANES; k++) {
            double part = start + (from + k) * f->next[a];
            part -= __builtin_floor(part);
            bool flat = a == 2 && m->n[2] == 1;
            place[a][k] = flat ? 0.5F : (float)(box[a] + m->low[a] + 0.5 + part);
        }
    }
}

/* Bits of those that are in marked cells. */
static inline unsigned und_particles_marked_bits(const und_particles_fill_args *f, const und_lanes place[3],
                                                 unsigned bits)
{
    const und_mac *m = &f->of.mac;
    unsigned kept = 0;
    for (; bits; bits &= bits - 1) {
        int k = __builtin_ctz(bits), at[3];
        for (int a = 0; a < 3; a++) {
            const int cell = (int)place[a][k] - m->low[a];
            at[a] = cell < m->n[a] ? cell : m->n[a] - 1;
        }
        kept |= (unsigned)f->only[und_mac_at(m, at[0], at[1], at[2])] << k;
    }
    return kept;
}

/* A box has the lowest of the cells around it: is one of them marked? */
static inline bool und_particles_near_marked(const und_particles_fill_args *f, size_t box)
{
    const ptrdiff_t *step = f->of.mac.step;
    uint8_t any = 0;
    for (int k = 0; k < 8; k++) {
        ptrdiff_t z = f->of.mac.n[2] > 1 ? (k >> 2) * step[2] : 0;
        any |= f->only[(ptrdiff_t)box + (k & 1) + (k >> 1 & 1) * step[1] + z];
    }
    return any != 0;
}

/* Adds `wanted` at most to a box: such points of it as are near the surface and in no solid. */
static inline void und_particles_fill_box(const und_particles_fill_args *f, und_particles_births *b,
                                          const int box[3], size_t index, int wanted)
{
    const und_mac *m = &f->of.mac;
    for (int from = 0; from < wanted; from += UND_LANES) {
        und_lanes place[3], phi, depth;
        und_particles_points_of(f, box, index, from, place);
        und_sample_cells(m, f->phi, place, &phi, NULL);
        und_lanes_int good = (phi < f->limit) & (phi > -f->limit);
        for (int a = 0; a < 3; a++)
            good &= (place[a] >= (float)m->low[a]) & (place[a] <= (float)(m->low[a] + m->n[a]));
        if (f->wall) {
            und_sample_cells(m, f->wall, place, &depth, NULL);
            good &= depth >= 0;
        }
        unsigned bits = und_lanes_bits(good) & und_level_set_particles_before(from, wanted);
        if (f->only)
            bits &= und_particles_marked_bits(f, place, bits);
        b->count += __builtin_popcount(bits);
        for (; bits && b->next < b->end; bits &= bits - 1) {
            int k = __builtin_ctz(bits);
            for (int a = 0; a < 3; a++)
                f->of.place[a][b->next] = place[a][k];
            f->of.radius[b->next++] = und_particles_radius_at(f, phi[k]);
        }
    }
}

/* The boxes of a row that have too few. */
static inline void und_particles_fill_row(const und_particles_fill_args *f, und_particles_births *b, int y,
                                          int z)
{
    const und_mac *m = &f->of.mac;
    const ptrdiff_t number = (ptrdiff_t)f->number + y * f->to_number[0] + z * f->to_number[1];
    const float reach = f->limit + 2; /* a box's corners are this near where any point of it is */
    const und_span span = und_mac_span_beside(m, y, z);
    for (int x = span.begin; x < span.end && x < m->n[0]; x++) {
        size_t index = und_mac_at(m, x, y, z);
        int have = f->only ? 0 : f->first[index + 1] - f->first[index];
        if (f->only && !und_particles_near_marked(f, index))
            continue;
        if (__builtin_fabsf(f->phi[index]) < reach &&
            (float)have < UND_PARTICLES_TOO_FEW * (float)f->per_cell)
            und_particles_fill_box(f, b, (const int[3]){x, y, z}, (size_t)(number + x), f->per_cell - have);
    }
}

UND_INLINE int und_particles_row_number(const und_mac *m, und_place row)
{
    return (row.z + (m->n[2] == 1 ? 0 : 1)) * (m->n[1] + 1) + row.y + 1;
}

static inline void und_particles_count_births(const und_particles_fill_args *a, und_place row)
{
    und_particles_births b = {0};
    und_particles_fill_row(a, &b, row.y, row.z);
    a->row_births[und_particles_row_number(&a->of.mac, row)] = b.count;
}
UND_KERNEL(und_particles_count_births, und_particles_fill_args, UND_EACH_ROW)

static inline void und_particles_give_birth(const und_particles_fill_args *a, und_place row)
{
    const int32_t *begin = a->row_births + und_particles_row_number(&a->of.mac, row);
    und_particles_births b = {.next = begin[0], .end = begin[1]};
    if (b.next < b.end)
        und_particles_fill_row(a, &b, row.y, row.z);
}
UND_KERNEL(und_particles_give_birth, und_particles_fill_args, UND_EACH_ROW)

/* Of those in a box that are where they should be, the last go that are too many. */
static inline void und_particles_thin_box(const und_particles_fill_args *a, int most, int32_t begin,
                                          int32_t end)
{
    const und_particles_list *t = &a->of;
    int kept = 0;
    for (int32_t i = begin; i < end; i += UND_LANES) {
        und_lanes phi = und_level_set_particles_field(t, a->phi, i), radius = und_lanes_load(t->radius + i);
        unsigned bits = und_lanes_bits(phi * radius > 0) & und_level_set_particles_before(i, end);
        for (; bits; bits &= bits - 1)
            if (kept++ >= most)
                t->radius[i + __builtin_ctz(bits)] = 0;
    }
}

static inline void und_particles_thin_row(const und_particles_fill_args *a, und_place row)
{
    const int32_t *first = a->first;
    const int crowd = (int)(UND_PARTICLES_TOO_MANY * (float)a->per_cell);
    const und_span span = und_mac_span_beside(&a->of.mac, row.y, row.z);
    const int last = span.end < a->of.mac.n[0] ? span.end : a->of.mac.n[0];
    for (size_t box = (size_t)((ptrdiff_t)row.at + span.begin), end = row.at + (size_t)last; box < end; box++)
        if (first[box + 1] - first[box] > crowd)
            und_particles_thin_box(a, crowd, first[box], first[box + 1]);
}
UND_KERNEL(und_particles_thin_row, und_particles_fill_args, UND_EACH_ROW)

/* ---- Where the surface was put elsewhere ---- */

typedef struct und_particles_near_args {
    und_particles_list of;
    const float *phi;
    float limit, radius[2];
    const uint8_t *marked; /* NULL: */
    und_mask cells;
} und_particles_near_args;

UND_INLINE void und_particles_drop_far(const und_particles_near_args *a, und_place p)
{
    const und_lanes phi = und_level_set_particles_field(&a->of, a->phi, (int)p.at);
    const und_lanes_int near = (phi < a->limit) & (phi > -a->limit);
    und_lanes_store_some(a->of.radius + p.at, (und_lanes){0}, ~und_lanes_bits(near) & p.which);
}
UND_KERNEL(und_particles_drop_far, und_particles_near_args, UND_EACH_ITEM)

/* Of particles from i on, bits of those that are in marked cells. */
UND_INLINE unsigned und_particles_in_marked(const und_particles_near_args *a, int i, unsigned bits)
{
    unsigned found = 0;
    if (a->marked) {
        const und_lanes_int at = und_level_set_particles_cells(&a->of, i);
        for (int k = 0; k < UND_LANES; k++)
            found |= (unsigned)(a->marked[at[k]] != 0) << k;
        return found & bits;
    }
    for (; bits; bits &= bits - 1) {
        const int k = __builtin_ctz(bits);
        int cell[3];
        und_level_set_particles_cell_at(&a->of, i + k, cell);
        if (und_mask_has(&a->cells, cell[0], cell[1], cell[2]))
            found |= 1u << k;
    }
    return found;
}

UND_INLINE void und_particles_refit(const und_particles_near_args *a, und_place p)
{
    const und_particles_list *t = &a->of;
    unsigned bits = und_lanes_bits(und_lanes_load(t->radius + p.at) != 0) & p.which;
    bits = und_particles_in_marked(a, (int)p.at, bits);
    if (!bits)
        return;
    const und_lanes phi = und_level_set_particles_field(t, a->phi, (int)p.at),
                    size = und_lanes_max(phi, -phi);
    const und_lanes kept =
        und_lanes_min(und_lanes_max(size, und_lanes_all(a->radius[0])), und_lanes_all(a->radius[1]));
    const und_lanes radius = und_lanes_select(phi > 0, kept, -kept);
    und_lanes_store_some(t->radius + p.at, und_lanes_select(size > a->limit, (und_lanes){0}, radius), bits);
}
UND_KERNEL(und_particles_refit, und_particles_near_args, UND_EACH_ITEM)

#endif
