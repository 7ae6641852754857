/* phi follows what cells hold.
 *
 * What a cell holds beside what phi encloses of it goes to the surface, is evened out along it, and phi is
 * shifted there by as much as the surface's area makes of it. */
#include "surface/distance_parts.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TO_SURFACE = 3, EVENING = 8, EVENING_ALONE = 4, PAYING = 2, SHIFTS = 4 }; /* rounds */
static const double SHOWN = 0.005; /* of all: as long as phi moves by more it is gone on */
static const double LITTLE_LEFT =
    0.25; /* of a cell's share of that: what has less left is not gone on with */
static const float NEAR = 2.6f, DEEP = -2.5f; /* cells: what is looked at; what can be cut */
static const float LEAST_ROOM = 0.02f;
static const float FILM = 0.52f;    /* cells: what is thicker on a slanted wall is liquid */
static const uint8_t UNKNOWN = 255; /* in to[]: not looked for yet */
static const float SHIFT = 0.7f, MOST_SHIFT = 0.5f, SHIFTED = 1.6f; /* of what is asked; cells; cells */
static const float TRUSTED = 0.1f; /* cells: what particles are trusted with, at most */
static const float SHOWS_MORE = 0.02f, SHOWS_LESS = 0.003f; /* or of what there is, where phi shows so */
static const float TRUSTED_SHIFT = 0.2f,
                   SURE_SHIFT = 0.02f; /* of what is asked; where the flow keeps its volume */
static const float SURE = 0.25f;       /* cells: what particles are trusted with there, at most */
static const float BEND = 0.5f;        /* a second difference of phi: what is thin has more */
static const float LEAST_AREA = 1.6f, WEIGHTS = 64; /* the sum of und_volume_weight */
static const float AREA_ONE = 0x1p20f;              /* in area[]: so many are 1 */

/* Of the difference to a neighbour, round by round: the last alone would not be stable, all together even out
 * as 37 rounds of 1/6 do (Alexiades, Amiez & Gremaud 1996, "Super-time-stepping acceleration of explicit
 * schemes for parabolic problems", eq. 8, with nu = 0.01). */
static const float EVEN[EVENING] = {0.08413f, 0.09092f, 0.1068f, 0.1385f, 0.204f, 0.3623f, 0.892f, 4.271f};
static const float MUCH = 0.05f, LITTLE = 0.01f; /* most of the difference that goes; or cells, if more */
static const float ALONE = 0.15f; /* the same without particles: phi has the shape only where it is held */

typedef struct fit {
    und_volume *v;
    const und_volume_walls *walls;
    float *phi;
    bool tracked;   /* particles have the shape: phi is shifted no sooner than must be */
    int32_t little; /* of UND_VOLUME_ONE: what a cell may be left with */
} fit;

static bool is_held(const fit *f, size_t at)
{
    return f->v->parts->kind[at] == UND_VOLUME_HELD;
}

static unsigned look_near(const void *context, size_t at)
{
    const fit *f = context;
    const und_lanes phi = und_lanes_load(f->phi + at), near = und_lanes_all(NEAR), none = {0};
    const und_lanes_int held = und_lanes_bytes(f->v->parts->kind + at) == UND_VOLUME_HELD;
    const und_lanes_int aloft = (und_lanes_int_load(f->v->c + at) != 0) & (phi > none);
    return und_lanes_bits((((phi < near) & (phi > -near)) | aloft) & ~held);
}

/* ---- What phi encloses ---- */

/* Cells that the surface may cut, packed. */
typedef struct batch {
    int count;
    float phi[2 * UND_LANES], slope[3][2 * UND_LANES], at[2 * UND_LANES]; /* at: bits of an int32_t */
    float room[2 * UND_LANES], along[2 * UND_LANES];                      /* where there are walls */
} batch;

/* The first of them, UND_LANES at most. */
static void finish_parts(const fit *f, batch *b)
{
    const float by = 0.25f; /* cells: the area is what the part gains over twice this */
    const int count = b->count < UND_LANES ? b->count : UND_LANES;
    und_lanes slope[3], value = und_lanes_load(b->phi), part[3];
    int32_t at[UND_LANES];
    for (int a = 0; a < 3; a++)
        slope[a] = und_lanes_load(b->slope[a]);
    const und_lanes length = und_lanes_sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
    const und_lanes_int flat = length <= und_lanes_all(0.1f); /* what is thinner than cells has no gradient */
    for (int k = 0; k < 3; k++) {
        const und_lanes there = value + by * (float)(1 - k);
        const und_lanes plain =
            und_lanes_min(und_lanes_max(0.5f - there, und_lanes_all(0)), und_lanes_all(1));
        part[k] = und_lanes_select(flat, plain, und_planes_part(there * length, slope));
        if (f->walls->room)
            part[k] = und_volumes_within(part[k], und_lanes_load(b->room), und_lanes_load(b->along));
    }
    const und_lanes_int units = und_volumes_units(part[1]);
    const und_lanes_int area =
        __builtin_convertvector((part[2] - part[0]) * (AREA_ONE / (2 * by)), und_lanes_int);
    memcpy(at, b->at, sizeof at);
    for (int i = 0; i < count; i++) {
        f->v->parts->part[at[i]] = units[i];
        f->v->parts->area[at[i]] = area[i];
    }
    b->count -= count;
}

/* To the front. */
static void move_up(float *list)
{
    memcpy(list, list + UND_LANES, UND_LANES * sizeof *list);
}
static void finish_full(const fit *f, batch *b)
{
    finish_parts(f, b);
    move_up(b->phi);
    move_up(b->at);
    move_up(b->room);
    move_up(b->along);
    for (int a = 0; a < 3; a++)
        move_up(b->slope[a]);
}

/* Of a chunk's cells, bits of those that are behind a solid; and of those beside thin walls that the surface
 * does not cut. */
static unsigned behind(const fit *f, const und_volume_chunk *k)
{
    unsigned bits = 0;
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    if (f->phi[at] > DEEP && und_volume_is_behind(f->v, f->walls, f->phi[at], at))
        bits |= 1u << (at - (size_t)k->at);
    return bits;
}
static unsigned uncut(const fit *f, const und_volume_chunk *k)
{
    unsigned bits = 0;
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    if (f->walls->beside_thin[at] && !und_volume_is_cut(f->v, f->walls, f->phi, at))
        bits |= 1u << (at - (size_t)k->at);
    return bits;
}

/* As und_volume_gradient has it. */
static und_lanes slope_along(const fit *f, size_t at, int a)
{
    const size_t step = (size_t)f->v->mac.step[a];
    const uint8_t *inside = f->v->parts->inside;
    const und_lanes phi = und_lanes_load(f->phi + at);
    und_lanes_int low = und_lanes_bytes(inside + at - step) != 0;
    und_lanes_int high = und_lanes_bytes(inside + at + step) != 0;
    if (f->walls->room) {
        const und_lanes_int thick = und_lanes_bytes(f->walls->beside_thin + at) == 0;
        low &= thick | (und_lanes_load(f->walls->open[a] + at - step) > 0);
        high &= thick | (und_lanes_load(f->walls->open[a] + at) > 0);
    }
    const und_lanes from = und_lanes_select(low, und_lanes_load(f->phi + at - step), phi);
    const und_lanes to = und_lanes_select(high, und_lanes_load(f->phi + at + step), phi);
    return und_lanes_select(low & high, 0.5f * (to - from), to - from);
}

/* Packs those of a chunk that are cut. */
static void add_cut(const fit *f, size_t first, unsigned cut, batch *b)
{
    und_lanes slope[3];
    const int32_t count = b->count;
    und_lanes_int at;
    for (int i = 0; i < UND_LANES; i++)
        at[i] = i;
    und_lanes_pack(b->at + count, (und_lanes)(at + (int32_t)first), cut);
    und_lanes_pack(b->phi + count, und_lanes_load(f->phi + first), cut);
    for (int a = 0; a < 3; a++) {
        slope[a] = slope_along(f, first, a);
        und_lanes_pack(b->slope[a] + count, slope[a], cut);
    }
    if (f->walls->room) {
        const und_lanes room = und_lanes_load(f->walls->room + first);
        und_lanes along = {0};
        for (unsigned bits = cut & und_lanes_bits(room < 1); bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            along[i] = und_volume_along(f->v, f->walls, first + (size_t)i,
                                        (const float[3]){slope[0][i], slope[1][i], slope[2][i]});
        }
        und_lanes_pack(b->room + count, room, cut);
        und_lanes_pack(b->along + count, along, cut);
    }
    b->count += __builtin_popcount(cut);
    if (b->count >= UND_LANES)
        finish_full(f, b);
}

static void set_part(const fit *f, const und_volume_chunk *k, batch *b)
{
    const und_volume *v = f->v;
    const und_lanes phi = und_lanes_load(f->phi + k->at), beside = und_lanes_all(UND_VOLUME_BESIDE);
    const und_lanes_int full = und_volumes_units(und_volume_rooms(f->walls, (size_t)k->at));
    const unsigned near = und_lanes_bits((phi <= beside) & (phi >= -beside)) & k->bits;
    const unsigned none = f->walls->room ? behind(f, k) : 0;
    const unsigned cut = near & ~(none | (f->walls->room ? uncut(f, k) : 0));
    const und_lanes_int all = und_lanes_int_select(phi <= DEEP, und_lanes_int_load(v->c + k->at),
                                                   (phi < 0) & full & ~und_lanes_where(none));
    und_lanes_int_store_some(v->parts->part + k->at, all, k->bits); /* deep errors are the pressure's */
    und_lanes_int_store_some(v->parts->area + k->at, (und_lanes_int){0}, k->bits);
    if (cut)
        add_cut(f, (size_t)k->at, cut, b);
}

/* Of a chunk's cells those with a closed face: what runs along walls is to come by its own flow. */
static unsigned at_walls(const fit *f, const und_volume_chunk *k)
{
    const und_volume_walls *w = f->walls;
    und_lanes_int shut = {0};
    for (int way = 0; way < (f->v->mac.n[2] > 1 ? 6 : 4); way++) {
        const ptrdiff_t step = f->v->mac.step[way / 2], next = k->at + (way % 2 ? step : -step);
        if (w->room)
            shut |= ~(und_lanes_load(w->open[way / 2] + (way % 2 ? k->at : next)) > 0);
        else if (w->closed[way])
            shut |= und_lanes_bytes(f->v->parts->inside + next) == 0;
    }
    return und_lanes_bits(shut);
}

/* In mark[]: cells at the surface; others; 0 is in those that are not looked at. */
enum { AT_WALL = 1, FREE, OTHER };

/* What is thin, by second differences of phi, of which the surface's curvature makes less; and walls. */
static void find_thin(const fit *f, const und_volume_chunk *k, und_lanes_int at_wall)
{
    uint8_t *unsure = f->v->parts->unsure + k->at;
    und_lanes_int bits = (und_lanes_bytes(unsure) & UND_VOLUME_GAINS) | (at_wall & UND_VOLUME_WALL);
    for (int a = 0; a < (f->v->mac.n[2] > 1 ? 3 : 2); a++) {
        const float *phi = f->phi + k->at;
        const ptrdiff_t step = f->v->mac.step[a];
        const und_lanes bend =
            und_lanes_load(phi + step) + und_lanes_load(phi - step) - 2 * und_lanes_load(phi);
        bits |= ((bend > BEND) & UND_VOLUME_SHEET) | ((bend < -BEND) & UND_VOLUME_GAP);
    }
    und_lanes_bytes_store_some(unsure, bits, k->bits);
}

/* Films, and what is to be done with the others of a chunk. */
static void set_marks(const fit *f, und_volume_chunk *k)
{
    und_volume_parts *p = f->v->parts;
    const und_lanes phi = und_lanes_load(f->phi + k->at), near = und_lanes_all(NEAR);
    const und_lanes_int c = und_lanes_int_load(f->v->c + k->at);
    const und_lanes_int roomy = und_volume_rooms(f->walls, (size_t)k->at) > LEAST_ROOM;
    k->film = 0;
    UND_VOLUME_OF_CHUNK(k, k->bits & und_lanes_bits((phi > 0) & (c > 0)), at)
    if (und_volume_is_film(f->v, f->walls, f->phi, at, p->part[at]))
        k->film |= (uint16_t)(1u << (at - (size_t)k->at));
    const unsigned others = k->bits & ~(unsigned)k->film;
    k->evens = (uint16_t)(others & und_lanes_bits((phi < 1) & (phi > -1) & roomy));
    k->some = (uint16_t)(others & und_lanes_bits((phi < near) & (phi > -near)));
    k->gives = 0;
    und_lanes_int_store_some(p->part + k->at, c, k->film);
    und_lanes_int_store_some(p->area + k->at, (und_lanes_int){0}, k->film);
    und_lanes_int_store_some(p->extra + k->at, c - und_lanes_int_load_some(p->part + k->at, k->bits),
                             k->bits);
    und_lanes_bytes_store_some(f->v->film + k->at, und_lanes_where(k->film) & 1, k->bits);
    const und_lanes_int at_wall = und_lanes_where(at_walls(f, k)), free = FREE - (at_wall & 1),
                        other = (und_lanes_int){0} + OTHER;
    if (f->tracked)
        find_thin(f, k, at_wall);
    und_lanes_bytes_store_some(p->mark + k->at, und_lanes_int_select(und_lanes_where(k->evens), free, other),
                               k->bits);
    und_lanes_bytes_store_some(p->to + k->at, (und_lanes_int){0} + UNKNOWN, k->bits);
}

static void set_parts(const fit *f)
{
    const und_volume *v = f->v;
    PARALLEL_FOR(und_workers(v->threads, (size_t)v->parts->count, UND_VOLUME_TO_SHARE))
    for (int block = 0; block < und_volume_chunk_blocks(v); block++) {
        und_volume_chunk *const first = v->parts->chunk + (size_t)block * UND_VOLUME_CHUNKS,
                                *const end = und_volume_chunk_end(v, block);
        batch b = {0};
        for (const und_volume_chunk *k = first; k < end; k++)
            set_part(f, k, &b);
        if (b.count > 0)
            finish_parts(f, &b);
        for (und_volume_chunk *k = first; k < end; k++)
            set_marks(f, k);
    }
}

/* ---- Along the surface ---- */

/* The neighbour that is nearest to the surface. */
static uint8_t to_surface(const fit *f, size_t at)
{
    const und_volume *v = f->v;
    float best = fabsf(f->phi[at]) - 0.05f;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
        const float there = fabsf(f->phi[next]);
        if (there < best && there < NEAR && v->parts->mark[next] &&
            und_volume_room(f->walls, next) > LEAST_ROOM && und_volume_linked(v, f->walls, at, k)) {
            best = there;
            to = (uint8_t)k;
        }
    }
    return to;
}

static void bring_to_surface(const fit *f)
{
    und_volume_parts *p = f->v->parts;
    int32_t any = 1;
    for (int round = 0; round < TO_SURFACE && any; round++) {
        any = 0;
        UND_VOLUME_EACH_CHUNK(f->v, k)
        {
            const und_lanes_int none = und_lanes_int_load(p->extra + k->at) == 0;
            __builtin_prefetch(p->extra + und_volume_ahead(k, end_)->at);
            k->gives = (uint16_t)(k->bits & ~(unsigned)(k->evens | k->film) & ~und_lanes_bits(none));
            if (!k->gives)
                continue;
            UND_VOLUME_OF_CHUNK(k, k->gives, at)
            if (p->to[at] == UNKNOWN)
                p->to[at] = to_surface(f, at);
            und_volume_set_out(f->v, k, p->extra);
            __atomic_store_n(&any, 1, __ATOMIC_RELAXED);
        }
        if (any)
            und_volume_hand_out(f->v, p->extra);
    }
}

/* The neighbours that a chunk's cells exchange with, over open faces. */
static void find_others(const fit *f, und_volume_chunk *k)
{
    for (int way = 0; way < 6; way++) {
        const ptrdiff_t step = f->v->mac.step[way / 2], next = k->at + (way % 2 ? step : -step);
        const float *open = f->walls->open[way / 2] + (way % 2 ? k->at : next);
        const und_lanes_int mark = und_lanes_bytes(f->v->parts->mark + next);
        const und_lanes_int own = und_lanes_bytes(f->v->parts->own + next) != 0;
        const und_lanes_int free = und_lanes_bytes(f->v->parts->mark + k->at) == FREE;
        const und_lanes_int evens = (mark == FREE) | (mark == AT_WALL);
        k->with[way] = (uint16_t)(k->evens & und_lanes_bits(evens & own));
        if (f->walls->room)
            k->with[way] &= (uint16_t)und_lanes_bits(und_lanes_load(open) > 0);
        k->far[way] = (uint16_t)(k->with[way] & und_lanes_bits((mark == FREE) & free));
    }
}

/* Of a chunk, from one array to the other: of the difference to a neighbour the part `even` of what is
 * little, `much` of what is more. */
UND_INLINE void even_out_chunk(const fit *f, const und_volume_chunk *k, const int32_t *from, int32_t *to,
                               float even, float much)
{
    const und_lanes little = und_lanes_all(LITTLE * UND_VOLUME_ONE);
    const und_lanes_int own = und_lanes_int_load(from + k->at);
    und_lanes_int sum = own;
    for (int way = 0; way < 6; way++) {
        const ptrdiff_t step = f->v->mac.step[way / 2];
        const und_lanes_int more = und_lanes_int_load(from + k->at + (way % 2 ? step : -step)) - own;
        const und_lanes_int sign = more >> 31;
        const und_lanes size = __builtin_convertvector((more ^ sign) - sign, und_lanes);
        const und_lanes some = und_lanes_select(und_lanes_where(k->far[way]), little, (und_lanes){0});
        const und_lanes part = und_lanes_max(und_lanes_min(even * size, some), much * size);
        sum += und_lanes_where(k->with[way]) & ((__builtin_convertvector(part, und_lanes_int) ^ sign) - sign);
    }
    und_lanes_int_store_some(to + k->at, sum, k->evens);
}

/* Little goes far; what is amiss by much is put right where it is. */
static void even_out_once(const fit *f, const int32_t *from, int32_t *to, int round)
{
    const und_volume *v = f->v;
    const float even = f->tracked ? EVEN[round] : ALONE, much = f->tracked ? MUCH : ALONE;
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        const und_volume_chunk *const ahead = und_volume_ahead(k, end_);
        __builtin_prefetch(from + ahead->at + v->mac.step[2]);
        __builtin_prefetch(to + ahead->at, 1);
        if (!k->evens)
            continue;
        if (round == 0)
            find_others(f, k);
        even_out_chunk(f, k, from, to, even, much);
    }
}

static void even_out(const fit *f)
{
    und_volume_parts *p = f->v->parts;
    for (int round = 0; round < (f->tracked ? EVENING : EVENING_ALONE); round += 2) {
        even_out_once(f, p->extra, p->spare, round);
        even_out_once(f, p->spare, p->extra, round + 1);
    }
}

/* ---- Debts ---- */

static uint8_t fullest(const fit *f, size_t at)
{
    int32_t best = 0;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + f->v->parts->around[k]);
        if (f->v->c[next] > best && f->v->parts->own[next] && !is_held(f, next) &&
            und_volume_linked(f->v, f->walls, at, k)) {
            best = f->v->c[next];
            to = (uint8_t)k;
        }
    }
    return to;
}

/* What cells owe is paid by their fullest neighbours. */
static void pay(const fit *f)
{
    und_volume_parts *p = f->v->parts;
    for (int round = 0; round < PAYING; round++) {
        UND_VOLUME_EACH_CHUNK(f->v, k)
        {
            k->gives = (uint16_t)(k->bits & und_lanes_bits(und_lanes_int_load(f->v->c + k->at) < 0));
            UND_VOLUME_OF_CHUNK(k, k->gives, at)
            p->to[at] = fullest(f, at);
        }
        und_volume_hand_over(f->v, f->v->c);
    }
}

/* ---- phi ---- */

/* Bits of cells beside walls that no cell shows for which neighbour k does not count. */
static unsigned unlinked(const fit *f, const und_volume_chunk *chunk, int k)
{
    unsigned bits = 0;
    UND_VOLUME_OF_CHUNK(chunk, chunk->bits, at)
    if (f->walls->beside_thin[at] && !und_volume_linked(f->v, f->walls, at, k))
        bits |= 1u << (at - (size_t)chunk->at);
    return bits;
}

/* Sums over the cells around by und_volume_weight; beside walls that no cell shows, those on the same side.
 */
typedef struct around {
    und_lanes over, area,
        held; /* cells: what they have too much of, the surface's area, all that they have */
} around;

/* Of numbers over 2^less; whole ones, so that in what order does not matter. */
UND_INLINE und_lanes_int sum_weighted(const und_mac *m, const int32_t *first, int less)
{
    und_lanes_int sum = {0};
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++) {
            const int32_t *at = first + y * m->step[1] + z * m->step[2];
            const und_lanes_int low = und_lanes_int_load(at - 1) >> less,
                                high = und_lanes_int_load(at + 1) >> less;
            const und_lanes_int row = low + high + ((und_lanes_int_load(at) >> less) << 1);
            sum += row << ((y == 0) + (z == 0));
        }
    return sum;
}
/* What of that is on the other side. */
static und_lanes_int sum_unlinked(const fit *f, const und_volume_chunk *chunk, const int32_t *values)
{
    und_lanes_int sum = {0};
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        sum +=
            und_lanes_where(unlinked(f, chunk, k)) &
            ((int32_t)und_volume_weight(k) * und_lanes_int_load(values + chunk->at + f->v->parts->around[k]));
    return sum;
}

static around sum_around(const fit *f, const und_volume_chunk *chunk)
{
    enum { LESS = 6 }; /* so that the sum of cells that are crowded is a number still */
    const und_volume_parts *p = f->v->parts;
    const bool thin =
        f->walls->room && und_lanes_bits(und_lanes_bytes(f->walls->beside_thin + chunk->at) != 0);
    und_lanes_int over = sum_weighted(&f->v->mac, p->over + chunk->at, 0);
    und_lanes_int area = sum_weighted(&f->v->mac, p->area + chunk->at, 0);
    const und_lanes_int held = sum_weighted(&f->v->mac, f->v->c + chunk->at, LESS);
    if (thin) {
        over -= sum_unlinked(f, chunk, p->over);
        area -= sum_unlinked(f, chunk, p->area);
    }
    return (around){und_volumes_cells(over), __builtin_convertvector(area, und_lanes) / AREA_ONE,
                    und_volumes_cells(held) * (1 << LESS)};
}

/* How much of it phi is asked to show.  Fluxes are off by little everywhere, particles by less: what is small
 * beside the liquid there is, and beside the air, comes slowly, and is evened out along the surface before.
 * Where the flow keeps its volume so do the particles, but in sheets that are thinner than they can tell,
 * and gaps that close. */
static und_lanes asked(const fit *f, const und_volume_chunk *k, const around *sum)
{
    if (!f->tracked)
        return SHIFT * sum->over;
    const und_lanes some = und_lanes_max(und_lanes_min(sum->held, WEIGHTS - sum->held), (und_lanes){0});
    const und_lanes most = TRUSTED * sum->area;
    const und_lanes less = und_lanes_min(most, SHOWS_LESS * some),
                    more = und_lanes_min(most, SHOWS_MORE * some);
    const und_lanes little = und_lanes_max(und_lanes_min(sum->over, less), -more);
    const und_lanes shown = sum->over - (1 - TRUSTED_SHIFT) * little;
    const uint8_t *at = f->v->parts->unsure + k->at;
    und_lanes_int unsure = und_lanes_bytes(at);
    for (int a = 0; a < 3; a++)
        unsure |= und_lanes_bytes(at - f->v->mac.step[a]) | und_lanes_bytes(at + f->v->mac.step[a]);
    const und_lanes_int sure = (unsure & ~UND_VOLUME_SHEET) == 0;
    const und_lanes far = SURE * sum->area,
                    high = und_lanes_select((unsure & UND_VOLUME_SHEET) != 0, less, far);
    const und_lanes slow = und_lanes_max(und_lanes_min(sum->over, high), -far);
    return SHIFT * und_lanes_select(sure, sum->over - (1 - SURE_SHIFT) * slow, shown);
}

/* Where there is next to no surface around, but liquid, some comes up.  What is still to be shown around
 * cells, all together. */
static int64_t set_shifted(const fit *f, und_volume_chunk *k, float *next)
{
    const und_volume *v = f->v;
    const und_lanes phi = und_lanes_load(f->phi + k->at), far = und_lanes_all(SHIFTED);
    const unsigned near = k->bits & und_lanes_bits(~((phi > far) | (phi < -far)));
    int64_t left = 0;
    und_lanes_store_some(next + k->at, phi, k->bits & ~near);
    k->left = 0;
    if (!near)
        return 0;
    const around sum = sum_around(f, k);
    const und_lanes room = und_volume_rooms(f->walls, (size_t)k->at);
    const und_lanes held = und_volumes_cells(und_lanes_int_load(v->c + k->at));
    const und_lanes_int some = sum.area > LEAST_AREA;
    const und_lanes_int rises = (sum.over > 2.5f * LEAST_AREA) & (phi > 0) & (held > 0.3f * room);
    const und_lanes over = und_lanes_select(some, asked(f, k, &sum), sum.over);
    const und_lanes moved = phi - und_volumes_clip(over / sum.area, MOST_SHIFT);
    const und_lanes up = und_lanes_select(rises, phi - 0.3f, phi);
    und_lanes_store_some(next + k->at, und_lanes_select(some, moved, up), near);
    const und_lanes_int rest = und_volumes_units(over / WEIGHTS);
    k->left = (uint16_t)(near & und_lanes_bits((rest > f->little) | (rest < -f->little)));
    for (unsigned bits = near; bits; bits &= bits - 1)
        left += abs(rest[__builtin_ctz(bits)]);
    return left;
}

/* A film ends so far from its wall. */
static float film_surface(const fit *f, size_t at, float phi)
{
    float distance, normal[3];
    if (!(phi > 0) || !(und_volume_cells(f->v->c[at]) > 0.01f) || !f->v->film[at] ||
        !und_volume_leans(f->v, f->walls, at, &distance, normal))
        return phi;
    if (und_volume_is_slanted(f->v, f->walls, f->phi, at, normal)) {
        const float thick = und_volume_film_thickness(f->v, f->walls, at, normal);
        return thick < FILM ? phi : fminf(phi, distance - thick);
    }
    return fminf(phi, distance - und_volume_cells(f->v->c[at]));
}

/* What cells then hold; whether any owes. */
static bool add_extra(const fit *f)
{
    const und_volume *v = f->v;
    int32_t owing = 0;
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        const und_lanes_int c =
            und_lanes_int_load(v->parts->part + k->at) + und_lanes_int_load(v->parts->extra + k->at);
        und_lanes_int_store_some(v->c + k->at, c, k->bits);
        if (und_lanes_bits(c < 0) & k->bits)
            __atomic_store_n(&owing, 1, __ATOMIC_RELAXED);
    }
    return owing != 0;
}

/* Of what is near the surface what is too much, and the area, move phi. */
static void set_over(const fit *f)
{
    const und_volume *v = f->v;
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        const und_lanes_int most = (und_lanes_int){0} + UND_VOLUME_ONE;
        const und_lanes_int over =
            und_lanes_int_load(v->c + k->at) - und_lanes_int_load(v->parts->part + k->at);
        const und_lanes_int within =
            und_lanes_int_select(over > most, most, und_lanes_int_select(over < -most, -most, over));
        und_lanes_int_store_some(v->parts->over + k->at, und_lanes_where(k->some) & within, k->bits);
        und_lanes_int_store_some(v->parts->area + k->at, (und_lanes_int){0}, k->bits & ~(unsigned)k->some);
    }
}

/* Once; what was to be shown around cells, all together. */
static int64_t shift(const fit *f)
{
    und_volume *v = f->v;
    float *next = v->parts->fraction;
    int64_t left = 0;
    set_parts(f);
    bring_to_surface(f);
    even_out(f);
    if (add_extra(f))
        pay(f);
    set_over(f);
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        const und_volume_chunk *const ahead = und_volume_ahead(k, end_);
        __builtin_prefetch(v->parts->over + ahead->at + v->mac.step[2]);
        __builtin_prefetch(v->parts->area + ahead->at + v->mac.step[2]);
        __builtin_prefetch(v->c + ahead->at + v->mac.step[2]);
        const int64_t here = set_shifted(f, k, next);
        UND_VOLUME_OF_CHUNK(k, k->film, at)
        next[at] = film_surface(f, at, next[at]);
        __atomic_fetch_add(&left, here, __ATOMIC_RELAXED);
    }
    UND_VOLUME_EACH_CHUNK(v, k)
    und_lanes_store_some(f->phi + k->at, und_lanes_load(next + k->at), k->bits);
    return left;
}

/* From here on those cells are looked at that have something left. */
static void look_at_left(und_volume_parts *p)
{
    und_volume_chunk *out = p->row_chunk;
    const und_volume_chunk *const end = p->chunk + p->chunk_count;
    p->count = 0;
    for (const und_volume_chunk *k = p->chunk; k < end; k++) {
        const unsigned left = k->left;
        und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0}, k->bits & ~left);
        if (left) {
            *out = *k;
            (out++)->bits = (uint16_t)left;
            p->count += __builtin_popcount(left);
        }
    }
    p->chunk = p->row_chunk;
    p->chunk_count = (int)(out - p->row_chunk);
}

/* Cells that are not looked at have neither. */
static void clear(const und_volume *v)
{
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        und_lanes_int_store_some(v->parts->over + k->at, (und_lanes_int){0}, k->bits);
        und_lanes_int_store_some(v->parts->area + k->at, (und_lanes_int){0}, k->bits);
    }
}

/* Rows with cells that were looked at. */
static void refresh(const und_volume *v, und_distance *d)
{
    const und_volume_parts *p = v->parts;
    const int rows = und_mac_rows(&v->mac);
    PARALLEL_FOR(und_workers(v->threads, v->mac.count, 1 << 15))
    for (int row = 0; row < rows; row++)
        if ((row + 1 < rows ? p->row_chunks[row + 1] : p->chunk_count) > p->row_chunks[row])
            und_distance_refresh_at(d, row % v->mac.n[1], row / v->mac.n[1]);
    und_distance_beside(d, d->phi);
}

void und_volume_fit(und_volume *v, und_distance *d, const und_volume_walls *walls, bool tracked)
{
    fit f = {v, walls, d->phi, tracked, 0};
    und_volume_leave_solids(v, d, walls);
    memset(v->film, 0, v->mac.count);
    und_volume_list(v, look_near, NULL, &f);
    const double enough = SHOWN * (double)und_volume_sum(v);
    const und_volume_parts all = *v->parts;
    f.little = (int32_t)fmin(LITTLE_LEFT * enough / (all.count + 1), UND_VOLUME_ONE);
    for (int round = 0; round < SHIFTS && (double)shift(&f) > enough; round++)
        look_at_left(v->parts);
    v->parts->chunk = all.chunk;
    v->parts->chunk_count = all.chunk_count;
    v->parts->count = all.count;
    clear(v);
    refresh(v, d);
}
