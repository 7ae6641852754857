/* phi follows what cells hold.
 *
 * What a cell holds beside what phi encloses of it goes to the surface, is evened out along it, and phi is
 * shifted there by as much as the surface's area makes of it. */
#include "surface/distance_kernel.h"
#include "surface/distance_parts.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TO_SURFACE = 3, EVENING = 8, EVENING_ALONE = 4, PAYING = 2, SHIFTS = 4 }; /* rounds */
static const double SHOWN = 0.005;      /* of all: as long as phi moves by more it is gone on */
static const double LITTLE_LEFT = 0.25; /* of a cell's share of that: less may be left */
static const float LEAST_ROOM = 0.02f;
static const float FILM = 0.52f; /* cells: what is thicker on a slanted wall is liquid */
static const float SHIFT = 0.7f, MOST_SHIFT = 0.5f, SHIFTED = 1.6f; /* of what is asked; cells; cells */
static const float TRUSTED = 0.1f; /* cells: what particles are trusted with, at most */
static const float SHOWS_MORE = 0.02f, SHOWS_LESS = 0.003f; /* or of what there is, where phi shows so */
static const float TRUSTED_SHIFT = 0.2f,
                   SURE_SHIFT = 0.02f; /* of what is asked; where flow keeps its volume */
static const float SURE = 0.25f;       /* cells: what particles are trusted with there, at most */
static const float KEPT = 0.05f;       /* cells: what is less too much inside stays there, likewise */
static const float LEAST_AREA = 1.6f, WEIGHTS = 64; /* the sum of und_volume_weight */

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
    und_distance *d;
    bool tracked;   /* particles have the shape: phi is shifted no sooner than must be */
    int32_t little; /* of UND_VOLUME_ONE: what a cell may be left with */
    double enough;  /* of what is left */
    int rounds;     /* of evening out */
    unsigned up;    /* bits of the neighbours that are above a cell */
} fit;

/* Of the chunks that are looked at, those of a row begin at row_first[row].  What steps find out is for those
 * behind them. */
typedef struct findings {
    bool none[TO_SURFACE]; /* nothing is to be brought to the surface, round by round; */
    bool paid;             /* no cell owes any; */
    bool more;             /* what is left is to be gone on with */
    int64_t *left;         /* around cells, all together, of each slice */
} findings;

typedef struct fit_args {
    fit f;
    findings *found;
    const int32_t *row_first;
    und_volume_chunk *all; /* with which the first round began */
    int round;
} fit_args;

static unsigned look_near(const void *context, size_t at)
{
    const fit *f = context;
    const und_lanes phi = und_lanes_load(f->phi + at), near = und_lanes_all(UND_VOLUME_NEAR), none = {0};
    const und_lanes_int held = und_lanes_bytes(f->v->parts->kind + at) == UND_VOLUME_HELD;
    const und_lanes_int aloft = (und_lanes_int_load(f->v->c + at) != 0) & (phi > none);
    return und_lanes_bits((((phi < near) & (phi > -near)) | aloft) & ~held);
}

/* ---- Along the surface ---- */

/* Of a chunk's cells those near walls, where neighbours may be on another side. */
static und_lanes_int near_walls(const fit *f, size_t at)
{
    const und_volume_walls *w = f->walls;
    return w->room ? (und_lanes_bytes(w->beside_thin + at) != 0) | (und_lanes_load(w->distance + at) < 1)
                   : (und_lanes_int){0};
}
/* Of these the ones that are linked to neighbour n. */
static und_lanes_int linked(const fit *f, size_t at, unsigned near, int n)
{
    unsigned others = 0;
    for (unsigned bits = near; bits; bits &= bits - 1)
        if (!und_volume_linked(f->v, f->walls, at + (size_t)__builtin_ctz(bits), n))
            others |= bits & -bits;
    return ~und_lanes_where(others);
}

/* The neighbours that are nearest to the surface, of some of a chunk's cells. */
static void find_ways(const fit *f, size_t at, unsigned which)
{
    und_volume_parts *p = f->v->parts;
    const unsigned near = und_lanes_bits(near_walls(f, at)) & which;
    und_lanes best =
        und_lanes_min(und_size(und_lanes_load(f->phi + at)) - 0.05f, und_lanes_all(UND_VOLUME_NEAR));
    und_lanes_int to = (und_lanes_int){0} + UND_VOLUME_STAY;
    for (int n = 0; n < UND_VOLUME_AROUND; n++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[n]);
        const und_lanes there = und_size(und_lanes_load(f->phi + next));
        und_lanes_int nearer = (there < best) & (und_lanes_bytes(p->mark + next) != 0);
        if (f->walls->room)
            nearer &= und_lanes_load(f->walls->room + next) > LEAST_ROOM;
        if (near)
            nearer &= linked(f, at, near, n);
        if (f->up >> n & 1) /* nothing falls on films above it */
            nearer &= und_lanes_bytes(f->v->film + next) == 0;
        best = und_lanes_select(nearer, there, best);
        to = und_lanes_int_select(nearer, (und_lanes_int){0} + n, to);
    }
    und_lanes_bytes_store_some(p->to + at, to, which);
}

/* Of a chunk's cells those that keep what they have too much of: little of it inside of the liquid, where the
 * flow keeps its volume.  That is the pressure's; and were it brought to the surface it would be evened out
 * along that, and so go from where the liquid is drawn thin to where it is not. */
static unsigned keep_inside(const fit *f, const und_volume_chunk *k)
{
    if (!f->tracked)
        return 0;
    const und_lanes_int little = (und_lanes_int){0} + und_volume_units(KEPT);
    const und_lanes_int extra = und_lanes_int_load(f->v->parts->extra + k->at);
    const und_lanes_int known = (und_lanes_bytes(f->v->parts->unsure + k->at) & ~UND_VOLUME_THIN) == 0;
    return und_lanes_bits(known & (und_lanes_load(f->phi + k->at) < 0) & (extra < little) &
                          (extra > -little));
}

static inline void find_far(const fit_args *a, und_place block)
{
    const fit *f = &a->f;
    und_volume_parts *p = f->v->parts;
    und_volume_chunk *const first = p->chunk + block.at, *const end = first + block.x;
    bool any = false;
    for (und_volume_chunk *k = first; k < end; k++) {
        const und_lanes_int none = und_lanes_int_load(p->extra + k->at) == 0;
        und_volume_fetch(p->extra, und_volume_ahead(k, end)->at);
        und_volume_fetch_around(&f->v->mac, f->phi, k, end);
        k->gives = (uint16_t)(k->bits & ~(unsigned)(k->evens | k->film) & ~und_lanes_bits(none));
        k->gives &= k->gives ? (uint16_t)~keep_inside(f, k) : 0;
        if (!k->gives)
            continue;
        const unsigned unknown =
            k->gives & und_lanes_bits(und_lanes_bytes(p->to + k->at) == UND_VOLUME_UNKNOWN);
        if (unknown)
            find_ways(f, (size_t)k->at, unknown);
        und_volume_set_out(f->v, k, p->extra);
        any = true;
    }
    if (any)
        __atomic_store_n(&a->found->none[a->round], false, __ATOMIC_RELAXED);
}
UND_KERNEL(find_far, fit_args, UND_EACH_BLOCK)

static inline void bring_near(const fit_args *a, und_place block)
{
    const und_volume_parts *p = a->f.v->parts;
    for (int i = 0; i < block.x; i++)
        und_volume_give_out(a->f.v, &p->chunk[block.at + (size_t)i], p->extra);
}
UND_KERNEL(bring_near, fit_args, UND_EACH_BLOCK)

/* The neighbours that a chunk's cells exchange with, over open faces. */
static void find_others(const fit *f, und_volume_chunk *k)
{
    for (int way = 0; way < 6; way++) {
        const ptrdiff_t step = f->v->mac.step[way / 2], next = k->at + (way % 2 ? step : -step);
        const float *open = f->walls->open[way / 2] + (way % 2 ? k->at : next);
        const und_lanes_int mark = und_lanes_bytes(f->v->parts->mark + next);
        const und_lanes_int own = und_lanes_bytes(f->v->parts->own + next) != 0;
        const und_lanes_int free = und_lanes_bytes(f->v->parts->mark + k->at) == UND_VOLUME_FREE;
        const und_lanes_int evens = (mark == UND_VOLUME_FREE) | (mark == UND_VOLUME_NEAR_ONLY);
        k->with[way] = (uint16_t)(k->evens & und_lanes_bits(evens & own));
        if (f->walls->room)
            k->with[way] &= (uint16_t)und_lanes_bits(und_lanes_load(open) > 0);
        k->far[way] = (uint16_t)(k->with[way] & und_lanes_bits((mark == UND_VOLUME_FREE) & free));
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

/* What cells then hold; whether any owes. */
static inline void add_extra(const fit_args *a, const und_volume_chunk *k)
{
    const und_volume *v = a->f.v;
    const und_lanes_int c =
        und_lanes_int_load(v->parts->part + k->at) + und_lanes_int_load(v->parts->extra + k->at);
    und_lanes_int_store_some(v->c + k->at, c, k->bits);
    if (und_lanes_bits(c < 0) & k->bits)
        __atomic_store_n(&a->found->paid, false, __ATOMIC_RELAXED);
}

/* Little goes far; what is amiss by much is put right where it is.  Some rows, in one of so many rounds;
 * after the last cells hold what that makes. */
static inline void even_out(const fit_args *a, und_place rows)
{
    const fit *f = &a->f;
    const und_volume_parts *p = f->v->parts;
    const float even = f->tracked ? EVEN[a->round] : ALONE, much = f->tracked ? MUCH : ALONE;
    const int32_t *from = a->round % 2 ? p->spare : p->extra;
    und_volume_chunk *const first = p->chunk + a->row_first[rows.at],
                            *const end = p->chunk + a->row_first[rows.at + (size_t)rows.x];
    for (und_volume_chunk *k = first; k < end; k++) {
        const und_volume_chunk *const ahead = und_volume_ahead(k, end);
        __builtin_prefetch(from + ahead->at + f->v->mac.step[2]);
        if (!k->evens)
            continue;
        if (a->round == 0)
            find_others(f, k);
        even_out_chunk(f, k, from, a->round % 2 ? p->extra : p->spare, even, much);
    }
    for (und_volume_chunk *k = first; k < end && a->round == f->rounds - 1; k++)
        add_extra(a, k);
}
UND_KERNEL(even_out, fit_args, UND_EACH_BLOCK)

/* ---- Debts ---- */

/* The fullest neighbours of some of a chunk's cells. */
static void find_fullest(const fit *f, size_t at, unsigned which)
{
    und_volume_parts *p = f->v->parts;
    const unsigned near = und_lanes_bits(near_walls(f, at)) & which;
    und_lanes_int best = {0}, to = best + UND_VOLUME_STAY;
    for (int n = 0; n < UND_VOLUME_AROUND; n++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[n]);
        const und_lanes_int there = und_lanes_int_load(f->v->c + next);
        und_lanes_int fuller = there > best;
        if (p->others || p->held)
            fuller &=
                (und_lanes_bytes(p->own + next) != 0) & (und_lanes_bytes(p->kind + next) != UND_VOLUME_HELD);
        if (near)
            fuller &= linked(f, at, near, n);
        best = und_lanes_int_select(fuller, there, best);
        to = und_lanes_int_select(fuller, (und_lanes_int){0} + n, to);
    }
    und_lanes_bytes_store_some(p->to + at, to, which);
}

/* What cells owe is paid by their fullest neighbours. */
static inline void find_payers(const fit_args *a, und_place block)
{
    const fit *f = &a->f;
    und_volume_chunk *const first = f->v->parts->chunk + block.at, *const end = first + block.x;
    for (und_volume_chunk *k = first; k < end; k++) {
        und_volume_fetch(f->v->c, und_volume_ahead(k, end)->at);
        k->gives = (uint16_t)(k->bits & und_lanes_bits(und_lanes_int_load(f->v->c + k->at) < 0));
        if (!k->gives)
            continue;
        find_fullest(f, (size_t)k->at, k->gives);
        und_volume_set_out(f->v, k, f->v->c);
    }
}
UND_KERNEL(find_payers, fit_args, UND_EACH_BLOCK)

static inline void pay(const fit_args *a, und_place block)
{
    const und_volume *v = a->f.v;
    for (int i = 0; i < block.x; i++)
        und_volume_give_out(v, &v->parts->chunk[block.at + (size_t)i], v->c);
}
UND_KERNEL(pay, fit_args, UND_EACH_BLOCK)

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

/* Sums over the cells around by und_volume_weight; beside walls that no cell shows, on the same side. */
typedef struct around {
    und_lanes over, area,
        held; /* cells: what they have too much of, the surface's area, all that they have */
} around;

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
    und_lanes_int over = und_volumes_weighted(&f->v->mac, p->over + chunk->at, 0);
    und_lanes_int area = und_volumes_weighted(&f->v->mac, p->area + chunk->at, 0);
    const und_lanes_int held = und_volumes_weighted(&f->v->mac, f->v->c + chunk->at, LESS);
    if (thin) {
        over -= sum_unlinked(f, chunk, p->over);
        area -= sum_unlinked(f, chunk, p->area);
    }
    return (around){und_volumes_cells(over), __builtin_convertvector(area, und_lanes) / UND_VOLUME_AREA_ONE,
                    und_volumes_cells(held) * (1 << LESS)};
}

/* How much of it phi is asked to show.  Fluxes are off by little everywhere, particles by less: what is small
 * beside the liquid there is, and beside the air, comes slowly, and is evened out along the surface before.
 * Where the flow keeps its volume so do the particles, but in sheets that are thinner than they can tell,
 * and gaps that close: those show what there is. */
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
    const und_lanes far = SURE * sum->area, slow = und_lanes_max(und_lanes_min(sum->over, far), -far);
    return SHIFT * und_lanes_select(unsure == 0, sum->over - (1 - SURE_SHIFT) * slow, shown);
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
    const und_lanes_int size = und_lanes_where(near) & und_lanes_int_select(rest < 0, -rest, rest);
    for (int i = 0; i < UND_LANES; i++)
        left += size[i];
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

/* Of what is near the surface what is too much, and the area, move phi. */
static inline void set_over(const fit_args *a, und_place block)
{
    const und_volume *v = a->f.v;
    const und_volume_chunk *const first = v->parts->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++) {
        const und_lanes_int most = (und_lanes_int){0} + UND_VOLUME_ONE;
        const und_lanes_int over =
            und_lanes_int_load(v->c + k->at) - und_lanes_int_load(v->parts->part + k->at);
        const und_lanes_int within =
            und_lanes_int_select(over > most, most, und_lanes_int_select(over < -most, -most, over));
        und_lanes_int_store_some(v->parts->over + k->at, und_lanes_where(k->some) & within, k->bits);
        und_lanes_int_store_some(v->parts->area + k->at, (und_lanes_int){0}, k->bits & ~(unsigned)k->some);
    }
}
UND_KERNEL(set_over, fit_args, UND_EACH_BLOCK)

/* Where the cells of a slice end. */
static ptrdiff_t end_of_slice(const und_mac *m, int z)
{
    return (ptrdiff_t)und_mac_at(m, 0, 0, z + 1);
}

/* What is left, of a slice. */
static void add_left(const fit_args *a, int z, int64_t left)
{
    if (left != 0)
        __atomic_fetch_add(&a->found->left[z], left, __ATOMIC_RELAXED);
}

static inline void shift(const fit_args *a, und_place block)
{
    const und_volume *v = a->f.v;
    und_volume_chunk *const first = v->parts->chunk + block.at, *const end = first + block.x;
    float *next = v->parts->fraction;
    int64_t left = 0;
    int cell[3];
    und_mac_cell(&v->mac, (size_t)first->at, cell);
    for (und_volume_chunk *k = first; k < end; k++) {
        const ptrdiff_t ahead = und_volume_ahead(k, end)->at, beside = ahead + v->mac.step[2];
        und_volume_fetch(a->f.phi, ahead);
        und_volume_fetch(next, ahead);
        und_volume_fetch(v->parts->over, beside);
        und_volume_fetch(v->parts->area, beside);
        und_volume_fetch(v->c, beside);
        for (; k->at >= end_of_slice(&v->mac, cell[2]); left = 0)
            add_left(a, cell[2]++, left);
        left += set_shifted(&a->f, k, next);
        UND_VOLUME_OF_CHUNK(k, k->film, at)
        next[at] = film_surface(&a->f, at, next[at]);
    }
    add_left(a, cell[2], left);
}
UND_KERNEL(shift, fit_args, UND_EACH_BLOCK)

static inline void set_phi(const fit_args *a, und_place block)
{
    const und_volume *v = a->f.v;
    const und_volume_chunk *const first = v->parts->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        und_lanes_store_some(a->f.phi + k->at, und_lanes_load(v->parts->fraction + k->at), k->bits);
}
UND_KERNEL(set_phi, fit_args, UND_EACH_BLOCK)

static inline void judge(const fit_args *a, und_place block)
{
    int64_t left = 0;
    (void)block;
    for (int z = 0; z < a->f.v->mac.n[2]; z++)
        left += a->found->left[z];
    a->found->more = a->round + 1 < SHIFTS && (double)left > a->f.enough;
}
UND_KERNEL(judge, fit_args, UND_EACH_BLOCK)

/* Cells that are not looked at have neither. */
static inline void clear(const fit_args *a, und_place block)
{
    const und_volume_parts *p = a->f.v->parts;
    for (const und_volume_chunk *k = a->all + block.at; k < a->all + block.at + block.x; k++) {
        und_lanes_int_store_some(p->over + k->at, (und_lanes_int){0}, k->bits);
        und_lanes_int_store_some(p->area + k->at, (und_lanes_int){0}, k->bits);
    }
}
UND_KERNEL(clear, fit_args, UND_EACH_BLOCK)

/* Rows with cells that were looked at. */
static inline void refresh(const fit_args *a, und_place row)
{
    const int32_t *first = a->f.v->parts->row_chunks + row.z * a->f.v->mac.n[1] + row.y;
    if (first[1] > first[0])
        und_distance_refresh_at(a->f.d, row.y, row.z);
}
UND_KERNEL(refresh, fit_args, UND_EACH_ROW)

/* ---- All of it ---- */

enum { MOST_STEPS = 2 * TO_SURFACE + EVENING + 2 * PAYING + 8, MOST_PASSES = MOST_STEPS + 1 };

typedef struct way {
    fit_args args[EVENING], end;
    und_volume_enclosing encloses;
    und_set chunks, all, slices, rows, beyond, one;
    und_distance_beside_args beside;
    und_halo_field extra, left;
    und_pass pass[MOST_PASSES];
    und_step step[MOST_STEPS];
    int passes, steps;
} way;

static void add(way *w, und_pass pass, const bool *unless)
{
    w->pass[w->passes] = pass;
    w->step[w->steps++] = (und_step){.passes = &w->pass[w->passes++], .count = 1, .unless = unless};
}

static void add_shift(way *w, findings *found)
{
    for (int round = 0; round < TO_SURFACE; round++) {
        const bool *unless = round > 0 ? &found->none[round - 1] : NULL;
        add(w, UND_PASS(find_far, &w->args[round], &w->chunks), unless);
        add(w, UND_PASS(bring_near, &w->args[round], &w->chunks), &found->none[round]);
    }
    const und_pass *evening = &w->pass[w->passes];
    for (int round = 0; round < w->args->f.rounds; round++)
        w->pass[w->passes++] = UND_PASS(even_out, &w->args[round], &w->slices);
    const int steps = und_pass_chain_steps(w->step + w->steps, evening, w->args->f.rounds);
    w->step[w->steps].halo = &w->extra;
    w->step[w->steps].halos = 1;
    w->steps += steps;
    for (int round = 0; round < PAYING; round++) {
        add(w, UND_PASS(find_payers, w->args, &w->chunks), &found->paid);
        add(w, UND_PASS(pay, w->args, &w->chunks), &found->paid);
    }
    add(w, UND_PASS(set_over, w->args, &w->chunks), NULL);
    add(w, UND_PASS(shift, w->args, &w->chunks), NULL);
    add(w, UND_PASS(set_phi, w->args, &w->chunks), NULL);
}

/* And as it was the last time, what follows from phi. */
static void add_end(way *w, findings *found)
{
    add(w, UND_PASS(judge, &w->end, &w->one), NULL);
    w->step[w->steps - 1].halo = &w->left;
    w->step[w->steps - 1].halos = 1;
    w->pass[w->passes] = UND_PASS(clear, w->args, &w->all);
    w->pass[w->passes + 1] = UND_PASS(refresh, w->args, &w->rows);
    w->step[w->steps++] = (und_step){.passes = &w->pass[w->passes], .count = 2, .unless = &found->more};
    w->passes += 2;
    add(w, UND_PASS(und_distance_beside_row, &w->beside, &w->beyond), &found->more);
}

/* Slices beyond one's own: as many as what is looked at in a cell is told by, and paying and evening out go
 * further. */
enum { TOLD_BY = 2, PAYS = 2 * PAYING };
static int reach_of_extra(const fit *f)
{
    return f->rounds + PAYS + TOLD_BY;
}
static int reach_of(const fit *f)
{
    const int first = 2 * TO_SURFACE, then = reach_of_extra(f);
    return (first > then ? first : then) + TOLD_BY;
}

/* What it begins with. */
static void get_beside(const fit *f)
{
    const und_volume *v = f->v;
    const int reach = reach_of(f);
    const und_halo_field unsure = und_halo_of(&v->mac, v->parts->unsure, sizeof *v->parts->unsure, reach);
    und_volume_get_cells(v, reach);
    und_distance_get_phi(f->d, reach);
    und_halo_get(v->device.halo, &unsure, 1);
}

/* Whether phi moved by more than enough. */
static bool go_once(const fit_args *args, int all_count)
{
    const und_volume *v = args->f.v;
    const und_mac *m = &v->mac;
    findings *found = args->found;
    way w = {.chunks = und_volume_chunks(v),
             .all = und_set_list(args->all, all_count, UND_VOLUME_CHUNKS, UND_LANES),
             .slices = und_set_slices(m, UND_ROWS_INSIDE),
             .rows = und_set_rows(m, UND_ROWS_INSIDE),
             .beyond = und_set_rows(m, UND_ROWS_ALL),
             .one = und_set_list(args, 1, 1, 1),
             .beside = {*m, args->f.phi},
             .encloses = {args->f.v, args->f.walls, args->f.phi, args->f.tracked},
             .extra = und_halo_of(m, v->parts->extra, sizeof *v->parts->extra, reach_of_extra(&args->f)),
             .left = und_halo_of_slices(m, v->parts->row_sum, sizeof *v->parts->row_sum, 0, m->n[2]),
             .end = *args};
    w.extra.type = UND_I32;
    for (int i = 0; i < EVENING; i++) {
        w.args[i] = *args;
        w.args[i].round = i;
    }
    *found = (findings){.none = {true, true, true}, .paid = true, .left = v->parts->row_sum};
    memset(found->left, 0, (size_t)m->n[2] * sizeof *found->left);
    add(&w, und_volume_encloses_pass(&w.encloses, &w.chunks), NULL);
    add_shift(&w, found);
    add_end(&w, found);
    und_pass_steps(&v->device, w.step, w.steps);
    return found->more;
}

/* Of cells of others who has them knows whether they have something left.  What moves phi of those that have
 * none stays as it was. */
static void get_left(const fit *f, const int32_t *row_first)
{
    const und_volume *v = f->v;
    const und_volume_parts *p = v->parts;
    und_volume_chunk *const end = p->chunk + row_first[und_mac_rows(&v->mac)];
    und_halo_field halo[] = {und_halo_of(&v->mac, p->mark, sizeof *p->mark, reach_of(f)),
                             und_halo_of(&v->mac, p->over, sizeof *p->over, 1),
                             und_halo_of(&v->mac, p->area, sizeof *p->area, 1)};
    halo[0].type = UND_U8;
    halo[1].type = halo[2].type = UND_I32;
    for (const und_volume_chunk *k = p->chunk + row_first[0]; k < end; k++)
        und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0}, k->bits & ~(unsigned)k->left);
    und_halo_get(v->device.halo, halo, 3);
    und_volume_get_cells(v, reach_of(f));
    und_distance_get_phi(f->d, reach_of(f));
    for (und_volume_chunk *k = p->chunk + row_first[0]; k < end; k++)
        k->left = (uint16_t)(k->bits & und_lanes_bits(und_lanes_bytes(p->mark + k->at) != 0));
}

/* From here on those cells are looked at that have something left. */
static void look_at_left(und_volume *v, const int32_t *row_first, int32_t *row_left)
{
    und_volume_parts *p = v->parts;
    und_volume_chunk *out = p->row_chunk;
    const int rows = und_mac_rows(&v->mac);
    p->count = 0;
    for (int row = 0, i = row_first[0]; row < rows; row++) {
        const int end = row_first[row + 1];
        row_left[row] = (int32_t)(out - p->row_chunk);
        for (; i < end; i++) {
            const und_volume_chunk *k = &p->chunk[i];
            const unsigned left = k->left;
            und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0}, k->bits & ~left);
            if (left) {
                *out = *k;
                (out++)->bits = (uint16_t)left;
                p->count += __builtin_popcount(left);
            }
        }
    }
    p->chunk = p->row_chunk;
    p->chunk_count = row_left[rows] = (int32_t)(out - p->row_chunk);
}

void und_volume_fit(und_volume *v, und_distance *d, const und_volume_walls *walls, bool tracked)
{
    findings found;
    fit_args args = {.f = {v, walls, d->phi, d, tracked, 0, 0, tracked ? EVENING : EVENING_ALONE, 0},
                     .found = &found};
    und_volume_leave_solids(v, d, walls);
    get_beside(&args.f);
    v->parts->over = und_scratch_take_zeroed(v->parts->scratch);
    v->parts->area = v->parts->over + und_scratch_bytes(v->mac.count * sizeof(int32_t)) / sizeof(int32_t);
    args.f.enough = SHOWN * (double)und_volume_list_and_sum(v, look_near, &args.f, v->film);
    const und_volume_parts all = *v->parts;
    args.f.little = (int32_t)fmin(LITTLE_LEFT * args.f.enough / (all.count + 1), UND_VOLUME_ONE);
    for (int n = 0; n < UND_VOLUME_AROUND; n++)
        args.f.up |= (unsigned)und_volume_is_up(walls, n) << n;
    args.all = all.chunk;
    args.row_first = all.row_chunks;
    for (; go_once(&args, all.chunk_count); args.round++) {
        if (v->device.halo)
            get_left(&args.f, args.row_first);
        look_at_left(v, args.row_first, all.row_left);
        args.row_first = all.row_left;
    }
    v->parts->chunk = all.chunk;
    v->parts->chunk_count = all.chunk_count;
    v->parts->count = all.count;
    v->parts->over = v->parts->area = NULL;
    und_scratch_give_back_zeroed(v->parts->scratch);
}
