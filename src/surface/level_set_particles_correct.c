/* Particles on the wrong side of the surface put the level set right. */
#include "surface/level_set_particles_parts.h"
#include "surface/volume_kernel.h"

#include <math.h>
#include <string.h>

/* On the wrong side by more than their radius. */
UND_INLINE und_lanes_int is_escaped(und_lanes phi, und_lanes radius)
{
    return (phi + radius) * radius < 0;
}

typedef struct correct_args {
    und_level_set_particles of;
    und_distance d;
    const und_level_set_particles_lost *lost; /* NULL: nothing is taken out */
} correct_args;

/* Whether all cells around the one at[] hold less than so much, or else more. */
static bool all_hold(const und_mac *m, const int32_t *held, const int at[3], bool less, int32_t than)
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
typedef struct spheres {
    int32_t i[UND_LANES]; /* which they are */
    float place[3][UND_LANES], radius[UND_LANES];
} spheres;

/* From the first on; bits of those that there are. */
UND_INLINE unsigned take_spheres(const und_level_set_particles *t, const int32_t *list, int first, int count,
                                 spheres *s)
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
UND_INLINE void fetch_spheres(const und_level_set_particles *t, const und_level_set_particles_lost *lost,
                              const spheres *s)
{
    const ptrdiff_t *step = t->mac.step, row[4] = {0, step[1], step[2], step[1] + step[2]};
    und_lanes place[3];
    int32_t at[UND_LANES];
    for (int a = 0; a < 3; a++)
        place[a] = und_lanes_load(s->place[a]);
    const und_lanes_int own = und_level_set_particles_cells_of(t, place);
    memcpy(at, &own, sizeof at);
    for (int k = 0; k < UND_LANES && lost && lost->held; k++)
        und_lanes_fetch(lost->held + at[k]);
    for (int a = 0; a < 3; a++)
        place[a] -= 0.5F;
    const und_lanes_int low = und_level_set_particles_cells_of(t, place);
    memcpy(at, &low, sizeof at);
    for (int k = 0; k < UND_LANES; k++)
        for (int r = 0; r < (t->mac.n[2] == 1 ? 2 : 4); r++)
            und_lanes_fetch(t->parts->reached + at[k] + row[r]);
}

/* Of some cells those where the flow gains or loses volume, or is slow. */
static unsigned where_unsure(const und_level_set_particles *t, const und_level_set_particles_lost *lost,
                             const int32_t cell[UND_LANES], unsigned which)
{
    const und_mac *m = &t->mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    float at[2][3][UND_LANES] = {{{0}}};
    und_lanes high[3], low[3];
    for (unsigned bits = which; bits; bits &= bits - 1) {
        const int k = __builtin_ctz(bits);
        for (int a = 0; a < axes; a++) {
            at[0][a][k] = lost->u[a][cell[k]];
            at[1][a][k] = lost->u[a][cell[k] - m->step[a]];
        }
    }
    for (int a = 0; a < axes; a++) {
        high[a] = und_lanes_load(at[0][a]);
        low[a] = und_lanes_load(at[1][a]);
    }
    return which & und_lanes_bits(und_volumes_unsure_by(high, low, axes, lost->per_speed) != 0);
}

/* Takes out those that what cells hold says are wrong; bits of these.  Liquid, and whatever is far from the
 * surface, where there is next to nothing around: but of a tail thinner than cells there is not where fluxes
 * have drawn that into drops, and where the flow keeps its volume particles know better.  Air where all is
 * full. */
static unsigned take_disproved(const und_level_set_particles *t, const und_level_set_particles_lost *lost,
                               const spheres *s, unsigned which, bool far)
{
    const und_lanes place[3] = {und_lanes_load(s->place[0]), und_lanes_load(s->place[1]),
                                und_lanes_load(s->place[2])};
    const und_lanes_int cells = und_level_set_particles_cells_of(t, place);
    const unsigned air = far ? 0 : und_lanes_bits(und_lanes_load(s->radius) > 0);
    int32_t cell[UND_LANES], own[UND_LANES];
    memcpy(cell, &cells, sizeof cell);
    for (int k = 0; k < UND_LANES; k++)
        own[k] = lost->held[cell[k]];
    const und_lanes_int held = und_lanes_int_load(own);
    unsigned alone = which & ~air & und_lanes_bits(held < lost->least), gone = 0;
    const unsigned among = which & air & und_lanes_bits(held > lost->most);
    for (unsigned bits = alone | among; bits; bits &= bits - 1) {
        const bool less = alone & bits & -bits;
        int at[3];
        und_level_set_particles_cell_at(t, s->i[__builtin_ctz(bits)], at);
        if (all_hold(&t->mac, lost->held, at, less, less ? lost->least : lost->most))
            gone |= bits & -bits;
    }
    gone = (gone & among) | (gone & alone ? where_unsure(t, lost, cell, gone & alone) : 0);
    for (unsigned bits = gone; bits; bits &= bits - 1)
        t->radius[s->i[__builtin_ctz(bits)]] = 0;
    return gone;
}

/* Takes out those from i on, up to `end`, that are where the flow gains or loses much. */
UND_INLINE void take_gained(const und_level_set_particles *t, const und_level_set_particles_lost *lost, int i,
                            int end)
{
    const und_lanes_int cells = und_level_set_particles_cells(t, i);
    int32_t cell[UND_LANES];
    memcpy(cell, &cells, sizeof cell);
    for (int k = 0; k < UND_LANES && i + k < end; k++)
        if (lost->gains[cell[k]] & UND_VOLUME_GAINS_MUCH)
            t->radius[i + k] = 0;
}

/* Lists those of a block that are, in order.  Where cells know what they hold, those so far out that the
 * surface is not known there are gone where they are alone: there may be another window.  These are listed
 * from the block's end. */
UND_INLINE void list_block(const correct_args *a, und_place block)
{
    const und_level_set_particles *t = &a->of;
    const und_distance *d = &a->d;
    const int begin = (int)block.at, end = begin + block.x;
    const bool held = a->lost && a->lost->held;
    const float known = held ? (float)d->width - 0.5F : INFINITY;
    int32_t *list = t->parts->order + begin, *const behind = t->parts->order + end, *far = behind, count = 0;
    const und_lanes_int in_order = __builtin_convertvector(und_lanes_count(), und_lanes_int);
    for (int i = begin; i < end; i += UND_LANES) {
        und_level_set_particles_fetch(t, d->phi, i, end);
        if (held)
            take_gained(t, a->lost, i, end);
        und_lanes phi = und_level_set_particles_field(t, d->phi, i), radius = und_lanes_load(t->radius + i);
        const unsigned in = und_level_set_particles_before(i, end);
        const unsigned escaped = und_lanes_bits(is_escaped(phi, radius)) & in;
        count += und_lanes_int_pack_some(list + count, in_order + i, escaped);
        for (unsigned bits = held ? in & ~escaped & ~und_lanes_bits(phi < known) : 0; bits; bits &= bits - 1)
            *--far = i + __builtin_ctz(bits);
    }
    t->parts->block_count[block.y] = count;
    for (int first = 0; first < (int)(behind - far); first += UND_LANES) {
        spheres s;
        const unsigned which = take_spheres(t, far, first, (int)(behind - far), &s);
        take_disproved(t, a->lost, &s, which, true);
    }
}

/* The middles of cells around a particle: of the lowest, and bits of those that are in the domain, of eight
 * of which every second is one further along x, two of four along y, four along z. */
typedef struct corners {
    int low[3];
    unsigned bits;
} corners;

UND_INLINE corners corners_of(const und_level_set_particles *t, int i)
{
    static const unsigned further[3] = {0xaa, 0xcc, 0xf0};
    const und_mac *m = &t->mac;
    const bool flat = m->n[2] == 1;
    corners c = {.bits = flat ? 0x0f : 0xff};
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

UND_INLINE size_t corner_cell(const und_mac *m, corners c, int k)
{
    return und_mac_at(m, c.low[0] + (k & 1), c.low[1] + (k >> 1 & 1), c.low[2] + (k >> 2));
}

/* Of each kind of escaped particles, how far a cell's middle is in the one that it is furthest in: as a whole
 * number that grows with it, of the air in the upper half of 64 bits, 0 where there is none.  The most is the
 * same in whatever order threads find it. */
UND_INLINE und_lanes_int wholes_of(und_lanes inside)
{
    const und_lanes_int bits = (und_lanes_int)inside;
    return bits ^ ((bits >> 31) | INT32_MIN);
}
static float inside_of(uint32_t whole)
{
    const uint32_t bits = whole >> 31 ? whole & UINT32_C(0x7fffffff) : ~whole;
    float inside;
    memcpy(&inside, &bits, sizeof inside);
    return inside;
}

/* Whether it is the first that reaches the cell. */
static bool reach_cell(uint64_t *reached, bool air, uint32_t whole)
{
    const int shift = air ? 32 : 0;
    const uint64_t own = (uint64_t)whole << shift, half = UINT64_C(0xffffffff) << shift;
    uint64_t now = __atomic_load_n(reached, __ATOMIC_RELAXED);
    while (own > (now & half))
        if (__atomic_compare_exchange_n(reached, &now, (now & ~half) | own, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return now == 0;
    return false;
}

/* Where a block lists escaped particles, it then lists those that are the first to reach a cell: the lowest
 * cell around one in order[], which of the eight in box[]. */
typedef struct reach_list {
    int32_t *cell, *bits;
    int32_t count;
} reach_list;

static void add_reached(reach_list *list, int32_t cell, int32_t bits)
{
    if (bits == 0)
        return;
    list->cell[list->count] = cell;
    list->bits[list->count++] = bits;
}

/* phi of the sphere that a particle is: one at the domain's border, where not all cells around are in it. */
static void reach_at_border(const und_level_set_particles *t, int i, reach_list *list)
{
    const corners c = corners_of(t, i);
    float square[3][2], inside[UND_LANES], radius = t->radius[i];
    int32_t first = 0;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            float way = (float)(c.low[a] + side + t->mac.low[a]) + 0.5F - t->place[a][i];
            square[a][side] = way * way;
        }
    for (unsigned bits = c.bits; bits; bits &= bits - 1) {
        int k = __builtin_ctz(bits);
        inside[0] = fabsf(radius) - sqrtf(square[0][k & 1] + square[1][k >> 1 & 1] + square[2][k >> 2]);
        const uint32_t whole = (uint32_t)wholes_of(und_lanes_all(inside[0]))[0];
        first |= reach_cell(&t->parts->reached[corner_cell(&t->mac, c, k)], radius > 0, whole) << k;
    }
    add_reached(list, (int32_t)corner_cell(&t->mac, c, 0), first);
}

/* Some, of which bits of `which` count.  Where phi is further on their side already a sphere changes nothing.
 * rows: 4, or 2 in two dimensions; a constant. */
UND_INLINE void reach_batch(const und_level_set_particles *t, const und_distance *d, const spheres *s,
                            unsigned which, int rows, reach_list *list)
{
    const und_mac *m = &t->mac;
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
    und_sample_pairs(m, d->phi, index, row, rows, low, high);
    int32_t cell[UND_LANES], first[UND_LANES] = {0}, whole[UND_LANES];
    memcpy(cell, &index, sizeof cell);
    const unsigned both = und_lanes_bits(inner) & which, air = und_lanes_bits(radius > 0);
    unsigned any = 0;
    for (int k = 0; k < 2 * rows; k++) {
        const und_lanes phi = k & 1 ? high[k >> 1] : low[k >> 1];
        const und_lanes inside =
            size - und_lanes_sqrt(square[0][k & 1] + square[1][k >> 1 & 1] + square[2][k >> 2]);
        const und_lanes_int beyond = und_lanes_int_select(radius > 0, phi > inside, phi < -inside);
        const und_lanes_int wholes = wholes_of(inside);
        memcpy(whole, &wholes, sizeof whole);
        for (unsigned bits = both & ~und_lanes_bits(beyond); bits; bits &= bits - 1) {
            const int lane = __builtin_ctz(bits);
            if (reach_cell(&t->parts->reached[cell[lane] + (k & 1) + row[k >> 1]], air >> lane & 1,
                           (uint32_t)whole[lane])) {
                first[lane] |= 1 << k;
                any |= 1u << lane;
            }
        }
    }
    for (; any; any &= any - 1)
        add_reached(list, cell[__builtin_ctz(any)], first[__builtin_ctz(any)]);
    for (unsigned bits = which & ~both; bits; bits &= bits - 1)
        reach_at_border(t, s->i[__builtin_ctz(bits)], list);
}

/* From the block's escaped particles to what they reach: no entry comes before those that were read.  Those
 * that `lost` (NULL: nothing) disproves are taken out. */
static void reach_block(const und_level_set_particles *t, const und_distance *d,
                        const und_level_set_particles_lost *lost, int block)
{
    const size_t begin = (size_t)block * UND_LEVEL_SET_PARTICLES_BLOCK;
    const int32_t *from = t->parts->order + begin, count = t->parts->block_count[block];
    reach_list list = {t->parts->order + begin, t->parts->box + begin, 0};
    spheres s, next;
    unsigned which, next_which = count > 0 ? take_spheres(t, from, 0, count, &next) : 0;
    for (int32_t first = 0; first < count; first += UND_LANES) {
        s = next;
        which = next_which;
        if (first + UND_LANES < count) {
            next_which = take_spheres(t, from, first + UND_LANES, count, &next);
            fetch_spheres(t, lost, &next);
        }
        which &= lost ? ~take_disproved(t, lost, &s, which, false) : ~0u;
        if (t->mac.n[2] == 1)
            reach_batch(t, d, &s, which, 2, &list);
        else
            reach_batch(t, d, &s, which, 4, &list);
    }
    t->parts->block_count[block] = list.count;
}

/* A cell's phi; into the layer beside the domain too. */
UND_INLINE void set_phi(const und_distance *d, const int at[3], size_t cell, float phi)
{
    const und_mac *m = &d->mac;
    int low[3], high[3];
    bool inner = true;
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] == 0 ? -1 : at[a];
        high[a] = at[a] == m->n[a] - 1 ? m->n[a] : at[a];
        inner = inner && low[a] == high[a];
    }
    d->phi[cell] = phi;
    for (int z = low[2]; z <= high[2] && !inner; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++)
                d->phi[und_mac_at(m, x, y, z)] = phi;
    if (fabsf(phi) < (float)d->width)
        und_mask_add_shared(&d->band, at[0], at[1], at[2]);
}

/* Whichever is nearer to the surface. */
static void settle_cell(const und_level_set_particles *t, const und_distance *d, const int at[3], size_t cell)
{
    const uint64_t both = t->parts->reached[cell];
    const uint32_t air = (uint32_t)(both >> 32), liquid = (uint32_t)both;
    float above = d->phi[cell], below = above;
    above = air && !(above > inside_of(air)) ? inside_of(air) : above;
    below = liquid && !(below < -inside_of(liquid)) ? -inside_of(liquid) : below;
    t->parts->reached[cell] = 0;
    set_phi(d, at, cell, fabsf(above) < fabsf(below) ? above : below);
}

/* What is read and written of the cells around one, from the lowest on. */
UND_INLINE void fetch_settled(const correct_args *a, int32_t cell)
{
    const ptrdiff_t *step = a->of.mac.step, row[4] = {0, step[1], step[2], step[1] + step[2]};
    for (int r = 0; r < (a->of.mac.n[2] == 1 ? 2 : 4); r++) {
        und_lanes_fetch(a->of.parts->reached + cell + row[r]);
        und_lanes_fetch(a->d.phi + cell + row[r]);
    }
}

static inline void settle_block(const correct_args *a, und_place block)
{
    enum { AHEAD = 8 };
    const und_level_set_particles *t = &a->of;
    const und_mac *m = &t->mac;
    const int32_t *cell = t->parts->order + block.at, *which = t->parts->box + block.at;
    const int32_t count = t->parts->block_count[block.y];
    const int slice = (int)m->step[2], row = (int)m->step[1];
    for (int32_t k = 0; k < count; k++) {
        int low[3];
        fetch_settled(a, cell[k + AHEAD < count ? k + AHEAD : k]);
        und_mac_cell(m, (size_t)cell[k], low);
        for (unsigned bits = (unsigned)which[k]; bits; bits &= bits - 1) {
            const int b = __builtin_ctz(bits),
                      at[3] = {low[0] + (b & 1), low[1] + (b >> 1 & 1), low[2] + (b >> 2)};
            settle_cell(t, &a->d, at, (size_t)(cell[k] + (b & 1) + (b >> 1 & 1) * row + (b >> 2) * slice));
        }
    }
}
UND_KERNEL(settle_block, correct_args, UND_EACH_BLOCK)

/* ---- What the grid cannot hold ----
 *
 * Beyond the liquid the flow is made up: where liquid closes in on air it leads air into the liquid, and what
 * leaves the liquid is thinner than cells.  The liquid's own flow keeps its volume, and so the number of its
 * particles in a cell tells how much of it there is.  Escaped air among much liquid was overrun, and goes;
 * escaped liquid where there is little of it is on its own. */

typedef void listed_fn(const und_level_set_particles *t, int32_t *list, int32_t *count,
                       const und_level_set_particles_lost *lost);

/* In order: of those that go somebody is told. */
static void for_lists(const und_level_set_particles *t, listed_fn *fn,
                      const und_level_set_particles_lost *lost)
{
    int blocks = und_level_set_particles_blocks(t->count);
    for (int block = 0; block < blocks; block++)
        fn(t, t->parts->order + (size_t)block * UND_LEVEL_SET_PARTICLES_BLOCK, &t->parts->block_count[block],
           lost);
}

static void mark_cells(const und_level_set_particles *t, int32_t *list, int32_t *count,
                       const und_level_set_particles_lost *lost)
{
    (void)lost;
    for (int32_t k = 0; k < *count; k++)
        t->parts->liquid[und_level_set_particles_cell(t, list[k])] = 1;
}
static void unmark_cells(const und_level_set_particles *t, int32_t *list, int32_t *count,
                         const und_level_set_particles_lost *lost)
{
    (void)lost;
    for (int32_t k = 0; k < *count; k++)
        t->parts->liquid[und_level_set_particles_cell(t, list[k])] = 0;
}

/* One more than how many of the liquid there are, in cells that are marked. */
static inline void count_liquid(const correct_args *a, und_place block)
{
    enum { ENOUGH = 200 };
    const und_level_set_particles *t = &a->of;
    for (int i = (int)block.at; i < (int)block.at + block.x; i++) {
        uint8_t *liquid = &t->parts->liquid[und_level_set_particles_cell(t, i)];
        if (*liquid && *liquid < ENOUGH && t->radius[i] < 0)
            __atomic_fetch_add(liquid, 1, __ATOMIC_RELAXED);
    }
}
UND_KERNEL(count_liquid, correct_args, UND_EACH_BLOCK)

/* Those that go have no radius. */
static void judge(const und_level_set_particles *t, int32_t *list, int32_t *count,
                  const und_level_set_particles_lost *lost)
{
    float much = lost->much * (float)t->def.per_cell, little = lost->little * (float)t->def.per_cell;
    for (int32_t k = 0; k < *count; k++) {
        int32_t i = list[k];
        const size_t cell = und_level_set_particles_cell(t, i);
        const int liquid = t->parts->liquid[cell] - 1;
        const bool air = t->radius[i] > 0;
        if (air ? (float)liquid < much : (float)liquid >= little)
            continue;
        const float place[3] = {t->place[0][i], t->place[1][i], t->place[2][i]};
        if (!air && lost->fn)
            lost->fn(lost->context, place, t->radius[i]);
        t->radius[i] = 0;
    }
}
static void keep_others(const und_level_set_particles *t, int32_t *list, int32_t *count,
                        const und_level_set_particles_lost *lost)
{
    (void)lost;
    int32_t kept = 0;
    for (int32_t k = 0; k < *count; k++)
        if (t->radius[list[k]] != 0)
            list[kept++] = list[k];
    *count = kept;
}

/* What cells hold is not known. */
static void take_lost(und_level_set_particles *t, const correct_args *args, const und_set *all)
{
    for_lists(t, mark_cells, args->lost);
    und_pass(&t->device, count_liquid, args, all);
    for_lists(t, judge, args->lost);
    for_lists(t, unmark_cells, args->lost);
    for_lists(t, keep_others, args->lost);
}

static bool all_are_judged(const und_level_set_particles_lost *lost)
{
    return lost && !lost->held;
}

static inline void find_escaped(const correct_args *a, und_place block)
{
    list_block(a, block);
    if (!all_are_judged(a->lost))
        reach_block(&a->of, &a->d, a->lost, block.y);
}
UND_KERNEL(find_escaped, correct_args, UND_EACH_BLOCK)

static inline void reach_listed(const correct_args *a, und_place block)
{
    reach_block(&a->of, &a->d, NULL, block.y);
}
UND_KERNEL(reach_listed, correct_args, UND_EACH_BLOCK)

/* phi+ is the largest of phi and of the spheres of the escaped air, phi- the least of phi and of those of the
 * liquid; what is nearer to 0 is taken (Enright et al. 2002, eq. 11 to 13). */
void und_level_set_particles_correct(und_level_set_particles *t, und_distance *d,
                                     const und_level_set_particles_lost *lost)
{
    const correct_args args = {*t, *d, lost};
    const und_set all = und_level_set_particles_all(t);
    const und_pass find = UND_PASS(find_escaped, &args, &all), reach = UND_PASS(reach_listed, &args, &all),
                   settle = UND_PASS(settle_block, &args, &all);
    const und_step steps[] = {{.passes = &find, .count = 1}, {.passes = &settle, .count = 1}},
                   judged[] = {{.passes = &reach, .count = 1}, {.passes = &settle, .count = 1}};
    t->parts->reached = und_scratch_take_zeroed(t->parts->scratch);
    und_level_set_particles_borrow(t);
    und_pass_steps(&t->device, steps, all_are_judged(lost) ? 1 : 2);
    if (all_are_judged(lost)) {
        take_lost(t, &args, &all);
        und_pass_steps(&t->device, judged, 2);
    }
    und_level_set_particles_give_back(t);
    und_scratch_give_back_zeroed(t->parts->scratch);
    t->parts->reached = NULL;
}
