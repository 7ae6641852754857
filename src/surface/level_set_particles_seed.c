/* Where particles are born and where they go. */
#include "base/random.h"
#include "surface/level_set_particles_parts.h"

#include <math.h>

enum { SEED_STREAM = 0x7472, AXES = 4 }; /* of random numbers: a seeding has AXES streams */

/* Boxes with less than this share of the particles they should have get more, such with more than this
 * multiple lose some: in between a flow that comes and goes is left alone. */
static const float TOO_FEW = 0.5F, TOO_MANY = 2;

/* Along each axis the next point of a sequence that fills a box evenly, however many are taken, is this much
 * further on, round and round: the powers of the plastic number's reciprocal, in two dimensions; and of its
 * like in three. */
static const double NEXT_POINT[2][3] = {{0.7548776662466927, 0.5698402909980532, 0},
                                        {0.8191725133961645, 0.6710436067037893, 0.5497004779019703}};

/* No particle is further from the surface when it is born. */
static float farthest(const und_level_set_particles *t, const und_distance *d)
{
    return fminf(t->def.band, (float)d->width - 1);
}

static float radius_at(const und_level_set_particles *t, float phi)
{
    float size = fabsf(phi);
    size = size > t->def.radius[0] ? size : t->def.radius[0];
    size = size < t->def.radius[1] ? size : t->def.radius[1];
    return phi > 0 ? size : -size;
}

typedef struct births {
    const und_level_set_particles *t;
    const und_distance *d;
    const float *wall;
    const uint8_t
        *only; /* they come in marked cells, where there are none; NULL: in all, where there are too few */
    int32_t next, end; /* where the next is written; next == end where they are only counted */
    int32_t count;
} births;

/* Up to UND_LANES points of the sequence in a box, from the first on. */
static void points_of(const und_level_set_particles *t, const int box[3], size_t index, int from,
                      und_lanes place[3])
{
    const double *next = NEXT_POINT[t->mac.n[2] > 1];
    for (int a = 0; a < 3; a++) {
        uint64_t stream = SEED_STREAM + (uint64_t)t->parts->seedings * AXES + (uint64_t)a;
        double start = und_random(t->seed, stream, index);
        for (int k = 0; k < UND_LANES; k++) {
            double part = start + (from + k) * next[a];
            part -= floor(part);
            bool flat = a == 2 && t->mac.n[2] == 1;
            place[a][k] = flat ? 0.5F : (float)(box[a] + t->mac.low[a] + 0.5 + part);
        }
    }
}

/* Bits of those that are in marked cells. */
static unsigned marked_bits(const births *b, const und_lanes place[3], unsigned bits)
{
    const und_mac *m = &b->t->mac;
    unsigned kept = 0;
    for (; bits; bits &= bits - 1) {
        int k = __builtin_ctz(bits), at[3];
        for (int a = 0; a < 3; a++) {
            int cell = (int)place[a][k];
            at[a] = cell < m->n[a] ? cell : m->n[a] - 1;
        }
        kept |= (unsigned)b->only[und_mac_at(m, at[0], at[1], at[2])] << k;
    }
    return kept;
}

/* A box has the lowest of the cells around it: is one of them marked? */
static bool near_marked(const births *b, size_t box)
{
    const ptrdiff_t *step = b->t->mac.step;
    uint8_t any = 0;
    for (int k = 0; k < 8; k++) {
        ptrdiff_t z = b->t->mac.n[2] > 1 ? (k >> 2) * step[2] : 0;
        any |= b->only[(ptrdiff_t)box + (k & 1) + (k >> 1 & 1) * step[1] + z];
    }
    return any != 0;
}

/* Adds `wanted` at most to a box: such points of it as are near the surface and in no solid. */
static void fill_box(births *b, const int box[3], size_t index, int wanted)
{
    const und_mac *m = &b->t->mac;
    float limit = farthest(b->t, b->d);
    for (int from = 0; from < wanted; from += UND_LANES) {
        und_lanes place[3], phi, depth;
        points_of(b->t, box, index, from, place);
        und_sample_cells(m, b->d->phi, place, &phi, NULL);
        und_lanes_int good = (phi < limit) & (phi > -limit);
        for (int a = 0; a < 3; a++)
            good &= (place[a] >= (float)m->low[a]) & (place[a] <= (float)(m->low[a] + m->n[a]));
        if (b->wall) {
            und_sample_cells(m, b->wall, place, &depth, NULL);
            good &= depth >= 0;
        }
        unsigned bits = und_lanes_bits(good) & und_level_set_particles_before(from, wanted);
        if (b->only)
            bits &= marked_bits(b, place, bits);
        b->count += __builtin_popcount(bits);
        for (; bits && b->next < b->end; bits &= bits - 1) {
            int k = __builtin_ctz(bits);
            for (int a = 0; a < 3; a++)
                b->t->place[a][b->next] = place[a][k];
            b->t->radius[b->next++] = radius_at(b->t, phi[k]);
        }
    }
}

/* The boxes of a row that have too few. */
static void fill_row(births *b, int y, int z)
{
    const und_level_set_particles *t = b->t;
    float reach = farthest(t, b->d) + 2; /* a box's corners are this near where any point of it is */
    const und_span span = und_mac_span_beside(&t->mac, y, z);
    for (int x = span.begin; x < span.end && x < t->mac.n[0]; x++) {
        size_t index = und_mac_at(&t->mac, x, y, z);
        int have = b->only ? 0 : t->parts->first[index + 1] - t->parts->first[index];
        if (b->only && !near_marked(b, index))
            continue;
        if (fabsf(b->d->phi[index]) < reach && (float)have < TOO_FEW * (float)t->def.per_cell)
            fill_box(b, (const int[3]){x, y, z}, und_mac_number(&t->mac, x, y, z), t->def.per_cell - have);
    }
}

typedef struct fill_args {
    und_level_set_particles of;
    und_distance d;
    const float *wall;
    const uint8_t *only;
    int32_t *row_births; /* of each row, how many; then where they begin */
} fill_args;

static inline int row_number(const und_mac *m, und_place row)
{
    return (row.z + (m->n[2] == 1 ? 0 : 1)) * (m->n[1] + 1) + row.y + 1;
}

static inline void count_births(const fill_args *a, und_place row)
{
    births b = {.t = &a->of, .d = &a->d, .wall = a->wall, .only = a->only};
    fill_row(&b, row.y, row.z);
    a->row_births[row_number(&a->of.mac, row)] = b.count;
}
UND_KERNEL(count_births, fill_args, UND_EACH_ROW)

static inline void give_birth(const fill_args *a, und_place row)
{
    const int32_t *begin = a->row_births + row_number(&a->of.mac, row);
    births b = {.t = &a->of, .d = &a->d, .wall = a->wall, .only = a->only, .next = begin[0], .end = begin[1]};
    if (b.next < b.end)
        fill_row(&b, row.y, row.z);
}
UND_KERNEL(give_birth, fill_args, UND_EACH_ROW)

/* Adds to all boxes that have too few; as many as there is room for. */
static void fill(und_level_set_particles *t, const und_distance *d, const float *wall, const uint8_t *only)
{
    const fill_args args = {*t, *d, wall, only, t->parts->row_births};
    const und_set boxes = und_set_rows(&t->mac, UND_ROWS_FACES);
    int32_t *row_births = args.row_births, before = t->count;
    und_pass(&t->device, count_births, &args, &boxes);
    for (int row = 0; row < boxes.rows; row++) {
        const bool there = und_present_row(t->mac.present, boxes.low, boxes.wide, row, row + 1) == row;
        int32_t here = there ? row_births[row] : 0, room = t->capacity - before;
        row_births[row] = before;
        before += here < room ? here : room;
    }
    row_births[boxes.rows] = before;
    und_pass(&t->device, give_birth, &args, &boxes);
    t->count = before;
    t->parts->seedings++;
}

/* Of those in a box that are where they should be, the last go that are too many. */
static void thin_box(const und_level_set_particles *t, const und_distance *d, int32_t begin, int32_t end)
{
    int most = (int)(TOO_MANY * (float)t->def.per_cell), kept = 0;
    for (int32_t i = begin; i < end; i += UND_LANES) {
        und_lanes phi = und_level_set_particles_field(t, d->phi, i), radius = und_lanes_load(t->radius + i);
        unsigned bits = und_lanes_bits(phi * radius > 0) & und_level_set_particles_before(i, end);
        for (; bits; bits &= bits - 1)
            if (kept++ >= most)
                t->radius[i + __builtin_ctz(bits)] = 0;
    }
}

static inline void thin_row(const fill_args *a, und_place row)
{
    const und_level_set_particles *t = &a->of;
    const int32_t *first = t->parts->first;
    const int crowd = (int)(TOO_MANY * (float)t->def.per_cell);
    const und_span span = und_mac_span_beside(&t->mac, row.y, row.z);
    const int last = span.end < t->mac.n[0] ? span.end : t->mac.n[0];
    for (size_t box = (size_t)((ptrdiff_t)row.at + span.begin), end = row.at + (size_t)last; box < end; box++)
        if (first[box + 1] - first[box] > crowd)
            thin_box(t, &a->d, first[box], first[box + 1]);
}
UND_KERNEL(thin_row, fill_args, UND_EACH_ROW)

void und_level_set_particles_reseed(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    const fill_args args = {.of = *t, .d = *d};
    const und_set boxes = und_set_rows(&t->mac, UND_ROWS_FACES);
    und_pass(&t->device, thin_row, &args, &boxes);
    fill(t, d, wall, NULL);
}

void und_level_set_particles_renew(und_level_set_particles *t, const und_distance *d, const float *wall,
                                   const uint8_t *marked)
{
    und_level_set_particles_leave(t, marked);
    fill(t, d, wall, marked);
}

void und_level_set_particles_seed(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    t->count = 0;
    und_level_set_particles_borrow(t);
    und_level_set_particles_sort(t);
    fill(t, d, wall, NULL);
    und_level_set_particles_give_back(t);
    und_level_set_particles_borrow(t); /* for those that there are now */
    und_level_set_particles_sort(t);
    und_level_set_particles_give_back(t);
}

typedef struct near_args {
    und_level_set_particles of;
    const float *phi;
    float limit;
    const uint8_t *marked;
    const und_mask *cells;
} near_args;

UND_INLINE void drop_far(const near_args *a, und_place p)
{
    const und_lanes phi = und_level_set_particles_field(&a->of, a->phi, (int)p.at);
    const und_lanes_int near = (phi < a->limit) & (phi > -a->limit);
    und_lanes_store_some(a->of.radius + p.at, (und_lanes){0}, ~und_lanes_bits(near) & p.which);
}
UND_KERNEL(drop_far, near_args, UND_EACH_ITEM)

void und_level_set_particles_drop_far(und_level_set_particles *t, const und_distance *d)
{
    const near_args args = {.of = *t, .phi = d->phi, .limit = fminf(t->def.band + 1, (float)d->width - 0.5F)};
    const und_set all = und_level_set_particles_all(t);
    und_pass(&t->device, drop_far, &args, &all);
}

/* Of particles from i on, bits of those that are in marked cells. */
static unsigned in_marked(const und_level_set_particles *t, int i, unsigned bits, const uint8_t *marked,
                          const und_mask *cells)
{
    unsigned found = 0;
    if (marked) {
        const und_lanes_int at = und_level_set_particles_cells(t, i);
        for (int k = 0; k < UND_LANES; k++)
            found |= (unsigned)(marked[at[k]] != 0) << k;
        return found & bits;
    }
    for (; bits; bits &= bits - 1) {
        const int k = __builtin_ctz(bits);
        int cell[3];
        und_level_set_particles_cell_at(t, i + k, cell);
        if (und_mask_has(cells, cell[0], cell[1], cell[2]))
            found |= 1u << k;
    }
    return found;
}

static inline void refit(const near_args *a, und_place p)
{
    const und_level_set_particles *t = &a->of;
    unsigned bits = und_lanes_bits(und_lanes_load(t->radius + p.at) != 0) & p.which;
    bits = in_marked(t, (int)p.at, bits, a->marked, a->cells);
    if (!bits)
        return;
    const und_lanes phi = und_level_set_particles_field(t, a->phi, (int)p.at),
                    size = und_lanes_max(phi, -phi);
    const und_lanes kept =
        und_lanes_min(und_lanes_max(size, und_lanes_all(t->def.radius[0])), und_lanes_all(t->def.radius[1]));
    const und_lanes radius = und_lanes_select(phi > 0, kept, -kept);
    und_lanes_store_some(t->radius + p.at, und_lanes_select(size > a->limit, (und_lanes){0}, radius), bits);
}
UND_KERNEL(refit, near_args, UND_EACH_ITEM)

void und_level_set_particles_refit(und_level_set_particles *t, const und_distance *d, const uint8_t *marked,
                                   const und_mask *cells, const und_step *marking)
{
    const near_args args = {
        .of = *t, .phi = d->phi, .limit = t->def.band + 1, .marked = marked, .cells = cells};
    const und_set all = und_level_set_particles_all(t);
    const und_pass pass = UND_PASS(refit, &args, &all);
    und_step steps[2];
    int count = 0;
    if (marking)
        steps[count++] = *marking;
    steps[count++] = (und_step){.passes = &pass, .count = 1};
    und_pass_steps(&t->device, steps, count);
}

void und_level_set_particles_refill(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    und_level_set_particles_drop_far(t, d);
    und_level_set_particles_borrow(t);
    und_level_set_particles_sort(t);
    und_level_set_particles_reseed(t, d, wall);
    und_level_set_particles_give_back(t);
}
