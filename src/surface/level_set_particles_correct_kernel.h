/* Particles on the wrong side of the surface put the level set right. */
#ifndef UND_SURFACE_LEVEL_SET_PARTICLES_CORRECT_KERNEL_H
#define UND_SURFACE_LEVEL_SET_PARTICLES_CORRECT_KERNEL_H

#include "base/shared.h"
#include "surface/level_set_particles_parts.h"
#include "surface/volume_kernel.h"

/* On the wrong side by more than their radius. */
UND_INLINE und_lanes_int und_particles_is_escaped(und_lanes phi, und_lanes radius)
{
    return (phi + radius) * radius < 0;
}

typedef struct und_particles_correct_args {
    und_particles_list of;
    float *phi;
    int width; /* of the band */
    und_mask band;
    bool all_are_judged; /* before they put anything right */
    const int32_t *held; /* und_level_set_particles_lost; NULL: none are taken out */
    int32_t least, most;
    const uint8_t *gains;
    const float *u[3];
    float per_speed;
    int per_block;                      /* particles */
    int32_t *box, *order, *block_count; /* of und_level_set_particles_parts */
    uint64_t *reached;
    int32_t *liquid;
} und_particles_correct_args;

/* Whether all cells around the one at[] hold less than so much, or else more. */
static inline bool und_particles_all_hold(const und_mac *m, const int32_t *held, const int at[3], bool less,
                                          int32_t than)
{
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] > 0 ? at[a] - 1 : 0;
        high[a] = at[a] < m->n[a] - 1 ? at[a] + 1 : at[a];
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const int32_t some = held[und_mac_at(m, x, y, z)];
                if (less ? some >= than : some <= than)
                    return false;
            }
    return true;
}

/* Some particles of a list. */
typedef struct und_particles_spheres {
    int32_t i[UND_LANES]; /* which they are */
    float place[3][UND_LANES], radius[UND_LANES];
} und_particles_spheres;

/* From the first on; bits of those that there are. */
UND_INLINE unsigned und_particles_take_spheres(const und_particles_list *t, const int32_t *list, int first,
                                               int count, und_particles_spheres *s)
{
    for (int k = 0; k < UND_LANES; k++) {
        const int32_t i = s->i[k] = list[first + k < count ? first + k : first];
        for (int a = 0; a < 3; a++)
            s->place[a][k] = t->place[a][i];
        s->radius[k] = t->radius[i];
    }
    return und_level_set_particles_before(first, count);
}

/* What they are asked about is read soon: what the cells that they are in hold, where that is known, and what
 * reaches those around them. */
UND_INLINE void und_particles_fetch_spheres(const und_particles_correct_args *a,
                                            const und_particles_spheres *s)
{
    const und_particles_list *t = &a->of;
    const ptrdiff_t *step = t->mac.step, row[4] = {0, step[1], step[2], step[1] + step[2]};
    und_lanes place[3];
    int32_t at[UND_LANES];
    for (int axis = 0; axis < 3; axis++)
        place[axis] = und_lanes_load(s->place[axis]);
    const und_lanes_int own = und_level_set_particles_cells_of(t, place);
    __builtin_memcpy(at, &own, sizeof at);
    for (int k = 0; k < UND_LANES && a->held; k++)
        und_lanes_fetch(a->held + at[k]);
    for (int axis = 0; axis < 3; axis++)
        place[axis] -= 0.5F;
    const und_lanes_int low = und_level_set_particles_cells_of(t, place);
    __builtin_memcpy(at, &low, sizeof at);
    for (int k = 0; k < UND_LANES; k++)
        for (int r = 0; r < (t->mac.n[2] == 1 ? 2 : 4); r++)
            und_lanes_fetch(a->reached + at[k] + row[r]);
}

/* Of some cells those where the flow gains or loses volume, or is slow. */
static inline unsigned und_particles_where_unsure(const und_particles_correct_args *c,
                                                  const int32_t cell[UND_LANES], unsigned which)
{
    const und_mac *m = &c->of.mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    float at[2][3][UND_LANES] = {{{0}}};
    und_lanes high[3], low[3];
    for (unsigned bits = which; bits; bits &= bits - 1) {
        const int k = __builtin_ctz(bits);
        for (int a = 0; a < axes; a++) {
            at[0][a][k] = c->u[a][cell[k]];
            at[1][a][k] = c->u[a][cell[k] - m->step[a]];
        }
    }
    for (int a = 0; a < axes; a++) {
        high[a] = und_lanes_load(at[0][a]);
        low[a] = und_lanes_load(at[1][a]);
    }
    return which & und_lanes_bits(und_volumes_unsure_by(high, low, axes, c->per_speed) != 0);
}

/* Takes out those that what cells hold says are wrong; bits of these.  Liquid, and whatever is far from the
 * surface, where there is next to nothing around: but of a tail thinner than cells there is not where fluxes
 * have drawn that into drops, and where the flow keeps its volume particles know better.  Air where all is
 * full. */
static inline unsigned und_particles_take_disproved(const und_particles_correct_args *a,
                                                    const und_particles_spheres *s, unsigned which, bool far)
{
    const und_particles_list *t = &a->of;
    const und_lanes place[3] = {und_lanes_load(s->place[0]), und_lanes_load(s->place[1]),
                                und_lanes_load(s->place[2])};
    const und_lanes_int cells = und_level_set_particles_cells_of(t, place);
    const unsigned air = far ? 0 : und_lanes_bits(und_lanes_load(s->radius) > 0);
    int32_t cell[UND_LANES], own[UND_LANES];
    __builtin_memcpy(cell, &cells, sizeof cell);
    for (int k = 0; k < UND_LANES; k++)
        own[k] = a->held[cell[k]];
    const und_lanes_int held = und_lanes_int_load(own);
    unsigned alone = which & ~air & und_lanes_bits(held < a->least), gone = 0;
    const unsigned among = which & air & und_lanes_bits(held > a->most);
    for (unsigned bits = alone | among; bits; bits &= bits - 1) {
        const bool less = alone & bits & -bits;
        int at[3];
        und_level_set_particles_cell_at(t, s->i[__builtin_ctz(bits)], at);
        if (und_particles_all_hold(&t->mac, a->held, at, less, less ? a->least : a->most))
            gone |= bits & -bits;
    }
    gone = (gone & among) | (gone & alone ? und_particles_where_unsure(a, cell, gone & alone) : 0);
    for (unsigned bits = gone; bits; bits &= bits - 1)
        t->radius[s->i[__builtin_ctz(bits)]] = 0;
    return gone;
}

/* Takes out those from i on, up to `end`, that are where the flow gains or loses much. */
UND_INLINE void und_particles_take_gained(const und_particles_correct_args *a, int i, int end)
{
    const und_particles_list *t = &a->of;
    const und_lanes_int cells = und_level_set_particles_cells(t, i);
    int32_t cell[UND_LANES];
    __builtin_memcpy(cell, &cells, sizeof cell);
    for (int k = 0; k < UND_LANES && i + k < end; k++)
        if (a->gains[cell[k]] & UND_VOLUME_GAINS_MUCH)
            t->radius[i + k] = 0;
}

/* Lists those of a block that are, in order.  Where cells know what they hold, those so far out that the
 * surface is not known there are gone where they are alone: there may be another window.  These are listed
 * from the block's end. */
UND_INLINE void und_particles_list_block(const und_particles_correct_args *a, und_place block)
{
    const und_particles_list *t = &a->of;
    const int begin = (int)block.at, end = begin + block.x;
    const bool held = a->held;
    const float known = held ? (float)a->width - 0.5F : __builtin_inff();
    int32_t *list = a->order + begin, *const behind = a->order + end, *far = behind, count = 0;
    const und_lanes_int in_order = __builtin_convertvector(und_lanes_count(), und_lanes_int);
    for (int i = begin; i < end; i += UND_LANES) {
        und_level_set_particles_fetch(t, a->phi, i, end);
        if (held)
            und_particles_take_gained(a, i, end);
        und_lanes phi = und_level_set_particles_field(t, a->phi, i), radius = und_lanes_load(t->radius + i);
        const unsigned in = und_level_set_particles_before(i, end);
        const unsigned escaped = und_lanes_bits(und_particles_is_escaped(phi, radius)) & in;
        count += und_lanes_int_pack_some(list + count, in_order + i, escaped);
        for (unsigned bits = held ? in & ~escaped & ~und_lanes_bits(phi < known) : 0; bits; bits &= bits - 1)
            *--far = i + __builtin_ctz(bits);
    }
    a->block_count[block.y] = count;
    for (int first = 0; first < (int)(behind - far); first += UND_LANES) {
        und_particles_spheres s;
        const unsigned which = und_particles_take_spheres(t, far, first, (int)(behind - far), &s);
        und_particles_take_disproved(a, &s, which, true);
    }
}

/* The middles of cells around a particle: of the lowest, and bits of those that are in the domain, of eight
 * of which every second is one further along x, two of four along y, four along z. */
typedef struct und_particles_corners {
    int low[3];
    unsigned bits;
} und_particles_corners;

UND_INLINE und_particles_corners und_particles_corners_of(const und_particles_list *t, int i)
{
    const unsigned further[3] = {0xaa, 0xcc, 0xf0};
    const und_mac *m = &t->mac;
    const bool flat = m->n[2] == 1;
    und_particles_corners c = {.bits = flat ? 0x0f : 0xff};
    for (int a = 0; a < (flat ? 2 : 3); a++) {
        float place = t->place[a][i];
        bool there = place > (float)m->low[a] && place <= (float)(m->low[a] + m->n[a]);
        c.low[a] = there ? (int)(place + 0.5F) - 1 - m->low[a] : -1;
        if (c.low[a] < 0)
            c.bits &= further[a];
        if (c.low[a] + 1 >= m->n[a])
            c.bits &= ~further[a];
    }
    return c;
}

UND_INLINE size_t und_particles_corner_cell(const und_mac *m, und_particles_corners c, int k)
{
    return und_mac_at(m, c.low[0] + (k & 1), c.low[1] + (k >> 1 & 1), c.low[2] + (k >> 2));
}

/* Of each kind of escaped particles, how far a cell's middle is in the one that it is furthest in: as a whole
 * number that grows with it, of the air in the upper half of 64 bits, 0 where there is none.  The most is the
 * same in whatever order threads find it. */
UND_INLINE und_lanes_int und_particles_wholes_of(und_lanes inside)
{
    const und_lanes_int bits = (und_lanes_int)inside;
    return bits ^ ((bits >> 31) | INT32_MIN);
}
static inline float und_particles_inside_of(uint32_t whole)
{
    const uint32_t bits = whole >> 31 ? whole & UINT32_C(0x7fffffff) : ~whole;
    float inside;
    __builtin_memcpy(&inside, &bits, sizeof inside);
    return inside;
}

/* Whether it is the first that reaches the cell. */
static inline bool und_particles_reach_cell(uint64_t *reached, bool air, uint32_t whole)
{
    const int shift = air ? 32 : 0;
    const uint64_t own = (uint64_t)whole << shift, half = UINT64_C(0xffffffff) << shift;
    uint64_t now = und_shared_load(reached);
    while (own > (now & half))
        if (und_shared_replace(reached, &now, (now & ~half) | own))
            return now == 0;
    return false;
}

/* Where a block lists escaped particles, it then lists those that are the first to reach a cell: the lowest
 * cell around one in order[], which of the eight in box[]. */
typedef struct und_particles_reach_list {
    int32_t *cell, *bits;
    int32_t count;
} und_particles_reach_list;

static inline void und_particles_add_reached(und_particles_reach_list *list, int32_t cell, int32_t bits)
{
    if (bits == 0)
        return;
    list->cell[list->count] = cell;
    list->bits[list->count++] = bits;
}

/* phi of the sphere that a particle is: one at the domain's border, where not all cells around are in it. */
static inline void und_particles_reach_at_border(const und_particles_correct_args *args, int i,
                                                 und_particles_reach_list *list)
{
    const und_particles_list *t = &args->of;
    const und_particles_corners c = und_particles_corners_of(t, i);
    float square[3][2], inside[UND_LANES], radius = t->radius[i];
    int32_t first = 0;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            float way = (float)(c.low[a] + side + t->mac.low[a]) + 0.5F - t->place[a][i];
            square[a][side] = way * way;
        }
    for (unsigned bits = c.bits; bits; bits &= bits - 1) {
        int k = __builtin_ctz(bits);
        inside[0] = __builtin_fabsf(radius) -
                    __builtin_sqrtf(square[0][k & 1] + square[1][k >> 1 & 1] + square[2][k >> 2]);
        const uint32_t whole = (uint32_t)und_particles_wholes_of(und_lanes_all(inside[0]))[0];
        first |= und_particles_reach_cell(&args->reached[und_particles_corner_cell(&t->mac, c, k)],
                                          radius > 0, whole)
                 << k;
    }
    und_particles_add_reached(list, (int32_t)und_particles_corner_cell(&t->mac, c, 0), first);
}

/* Some, of which bits of `which` count.  Where phi is further on their side already a sphere changes nothing.
 * rows: 4, or 2 in two dimensions; a constant. */
UND_INLINE void und_particles_reach_batch(const und_particles_correct_args *args,
                                          const und_particles_spheres *s, unsigned which, int rows,
                                          und_particles_reach_list *list)
{
    const und_mac *m = &args->of.mac;
    const ptrdiff_t row[4] = {0, m->step[1], m->step[2], m->step[1] + m->step[2]};
    const und_lanes radius = und_lanes_load(s->radius), size = und_lanes_max(radius, -radius);
    und_lanes square[3][2] = {0}, low[4], high[4];
    und_lanes_int index = {0}, inner = (und_lanes_int){0} - 1;
    for (int a = 0; a < (rows == 4 ? 3 : 2); a++) {
        const und_lanes place = und_lanes_load(s->place[a]);
        const und_lanes_int at = __builtin_convertvector(place + 0.5F, und_lanes_int) - 1 - m->low[a];
        inner &= (place > (float)m->low[a]) & (at >= 0) & (at < m->n[a] - 1);
        index += at * (int32_t)m->step[a];
        for (int side = 0; side < 2; side++) {
            const und_lanes way = __builtin_convertvector(at + side + m->low[a], und_lanes) + 0.5F - place;
            square[a][side] = way * way;
        }
    }
    index = (inner & index) + (int32_t)m->first;
    und_sample_pairs(m, args->phi, index, row, rows, low, high);
    int32_t cell[UND_LANES], first[UND_LANES] = {0}, whole[UND_LANES];
    __builtin_memcpy(cell, &index, sizeof cell);
    const unsigned both = und_lanes_bits(inner) & which, air = und_lanes_bits(radius > 0);
    unsigned any = 0;
    for (int k = 0; k < 2 * rows; k++) {
        const und_lanes phi = k & 1 ? high[k >> 1] : low[k >> 1];
        const und_lanes inside =
            size - und_lanes_sqrt(square[0][k & 1] + square[1][k >> 1 & 1] + square[2][k >> 2]);
        const und_lanes_int beyond = und_lanes_int_select(radius > 0, phi > inside, phi < -inside);
        const und_lanes_int wholes = und_particles_wholes_of(inside);
        __builtin_memcpy(whole, &wholes, sizeof whole);
        for (unsigned bits = both & ~und_lanes_bits(beyond); bits; bits &= bits - 1) {
            const int lane = __builtin_ctz(bits);
            if (und_particles_reach_cell(&args->reached[cell[lane] + (k & 1) + row[k >> 1]], air >> lane & 1,
                                         (uint32_t)whole[lane])) {
                first[lane] |= 1 << k;
                any |= 1u << lane;
            }
        }
    }
    for (; any; any &= any - 1)
        und_particles_add_reached(list, cell[__builtin_ctz(any)], first[__builtin_ctz(any)]);
    for (unsigned bits = which & ~both; bits; bits &= bits - 1)
        und_particles_reach_at_border(args, s->i[__builtin_ctz(bits)], list);
}

/* From the block's escaped particles to what they reach: no entry comes before those that were read.  Those
 * that what cells hold disproves are taken out. */
static inline void und_particles_reach_block(const und_particles_correct_args *a, int block)
{
    const und_particles_list *t = &a->of;
    const size_t begin = (size_t)block * (size_t)a->per_block;
    const int32_t *from = a->order + begin, count = a->block_count[block];
    und_particles_reach_list list = {a->order + begin, a->box + begin, 0};
    und_particles_spheres s, next;
    unsigned which, next_which = count > 0 ? und_particles_take_spheres(t, from, 0, count, &next) : 0;
    for (int32_t first = 0; first < count; first += UND_LANES) {
        s = next;
        which = next_which;
        if (first + UND_LANES < count) {
            next_which = und_particles_take_spheres(t, from, first + UND_LANES, count, &next);
            und_particles_fetch_spheres(a, &next);
        }
        which &= a->held ? ~und_particles_take_disproved(a, &s, which, false) : ~0u;
        if (t->mac.n[2] == 1)
            und_particles_reach_batch(a, &s, which, 2, &list);
        else
            und_particles_reach_batch(a, &s, which, 4, &list);
    }
    a->block_count[block] = list.count;
}

/* A cell's phi; into the layer beside the domain too. */
UND_INLINE void und_particles_set_phi(const und_particles_correct_args *c, const int at[3], size_t cell,
                                      float phi)
{
    const und_mac *m = &c->of.mac;
    int low[3], high[3];
    bool inner = true;
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] == 0 ? -1 : at[a];
        high[a] = at[a] == m->n[a] - 1 ? m->n[a] : at[a];
        inner = inner && low[a] == high[a];
    }
    c->phi[cell] = phi;
    for (int z = low[2]; z <= high[2] && !inner; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++)
                c->phi[und_mac_at(m, x, y, z)] = phi;
    if (__builtin_fabsf(phi) < (float)c->width)
        und_mask_add_shared(&c->band, at[0], at[1], at[2]);
}

/* Whichever is nearer to the surface. */
static inline void und_particles_settle_cell(const und_particles_correct_args *a, const int at[3],
                                             size_t cell)
{
    const uint64_t both = a->reached[cell];
    const uint32_t air = (uint32_t)(both >> 32), liquid = (uint32_t)both;
    float above = a->phi[cell], below = above;
    above = air && !(above > und_particles_inside_of(air)) ? und_particles_inside_of(air) : above;
    below = liquid && !(below < -und_particles_inside_of(liquid)) ? -und_particles_inside_of(liquid) : below;
    a->reached[cell] = 0;
    und_particles_set_phi(a, at, cell, __builtin_fabsf(above) < __builtin_fabsf(below) ? above : below);
}

/* What is read and written of the cells around one, from the lowest on. */
UND_INLINE void und_particles_fetch_settled(const und_particles_correct_args *a, int32_t cell)
{
    const ptrdiff_t *step = a->of.mac.step, row[4] = {0, step[1], step[2], step[1] + step[2]};
    for (int r = 0; r < (a->of.mac.n[2] == 1 ? 2 : 4); r++) {
        und_lanes_fetch(a->reached + cell + row[r]);
        und_lanes_fetch(a->phi + cell + row[r]);
    }
}

static inline void und_particles_settle_block(const und_particles_correct_args *a, und_place block)
{
    enum { AHEAD = 8 };
    const und_mac *m = &a->of.mac;
    const int32_t *cell = a->order + block.at, *which = a->box + block.at;
    const int32_t count = a->block_count[block.y];
    const int slice = (int)m->step[2], row = (int)m->step[1];
    for (int32_t k = 0; k < count; k++) {
        int low[3];
        und_particles_fetch_settled(a, cell[k + AHEAD < count ? k + AHEAD : k]);
        und_mac_cell(m, (size_t)cell[k], low);
        for (unsigned bits = (unsigned)which[k]; bits; bits &= bits - 1) {
            const int b = __builtin_ctz(bits),
                      at[3] = {low[0] + (b & 1), low[1] + (b >> 1 & 1), low[2] + (b >> 2)};
            und_particles_settle_cell(a, at,
                                      (size_t)(cell[k] + (b & 1) + (b >> 1 & 1) * row + (b >> 2) * slice));
        }
    }
}
UND_KERNEL(und_particles_settle_block, und_particles_correct_args, UND_EACH_BLOCK)

/* One more than how many of the liquid there are, in cells that are marked. */
static inline void und_particles_count_liquid(const und_particles_correct_args *a, und_place block)
{
    const und_particles_list *t = &a->of;
    for (int i = (int)block.at; i < (int)block.at + block.x; i++) {
        int32_t *liquid = &a->liquid[und_level_set_particles_cell(t, i)];
        if (*liquid && t->radius[i] < 0)
            und_shared_add(liquid, 1);
    }
}
UND_KERNEL(und_particles_count_liquid, und_particles_correct_args, UND_EACH_SOME)

static inline void und_particles_find_escaped(const und_particles_correct_args *a, und_place block)
{
    und_particles_list_block(a, block);
    if (!a->all_are_judged)
        und_particles_reach_block(a, block.y);
}
UND_KERNEL(und_particles_find_escaped, und_particles_correct_args, UND_EACH_BLOCK)

static inline void und_particles_reach_listed(const und_particles_correct_args *a, und_place block)
{
    und_particles_reach_block(a, block.y);
}
UND_KERNEL(und_particles_reach_listed, und_particles_correct_args, UND_EACH_BLOCK)

#endif
