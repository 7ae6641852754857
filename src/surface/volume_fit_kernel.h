/* phi follows what cells hold: what they hold beside what it encloses goes to the surface and is evened out
 * along it, debts are paid, and phi is shifted. */
#ifndef UND_SURFACE_VOLUME_FIT_KERNEL_H
#define UND_SURFACE_VOLUME_FIT_KERNEL_H

#include "surface/distance_kernel.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/volume_list_kernel.h"
#include "surface/volume_walls_kernel.h"

enum { UND_VOLUME_FIT_TO_SURFACE = 3, UND_VOLUME_FIT_EVENING = 8, UND_VOLUME_FIT_SHIFTS = 4 }; /* rounds */
#define UND_VOLUME_FIT_LEAST_ROOM 0.02f
#define UND_VOLUME_FIT_FILM 0.52f         /* cells: what is thicker on a slanted wall is liquid */
#define UND_VOLUME_FIT_SHIFT 0.7f         /* of what is asked */
#define UND_VOLUME_FIT_MOST_SHIFT 0.5f    /* cells */
#define UND_VOLUME_FIT_SHIFTED 1.6f       /* cells */
#define UND_VOLUME_FIT_TRUSTED 0.1f       /* cells: what particles are trusted with, at most */
#define UND_VOLUME_FIT_SHOWS_MORE 0.02f   /* or of what there is, where phi shows so much more */
#define UND_VOLUME_FIT_SHOWS_LESS 0.003f  /* or less */
#define UND_VOLUME_FIT_TRUSTED_SHIFT 0.2f /* of what is asked */
#define UND_VOLUME_FIT_SURE_SHIFT 0.02f   /* the same where the flow keeps its volume */
#define UND_VOLUME_FIT_SURE 0.25f         /* cells: what particles are trusted with there, at most */
#define UND_VOLUME_FIT_KEPT 0.05f         /* cells: what is less too much inside stays there, likewise */
#define UND_VOLUME_FIT_LEAST_AREA 1.6f
#define UND_VOLUME_FIT_WEIGHTS 64.0f /* the sum of und_volume_weight */
#define UND_VOLUME_FIT_MUCH 0.05f    /* most of the difference that goes; */
#define UND_VOLUME_FIT_LITTLE 0.01f  /* or cells, if more */
#define UND_VOLUME_FIT_ALONE 0.15f   /* the same without particles: phi has the shape only where it is held */

/* Of the difference to a neighbour, round by round: the last alone would not be stable, all together even out
 * as 37 rounds of 1/6 do (Alexiades, Amiez & Gremaud 1996, "Super-time-stepping acceleration of explicit
 * schemes for parabolic problems", eq. 8, with nu = 0.01). */
static const float und_volume_fit_even_by[UND_VOLUME_FIT_EVENING] = {0.08413f, 0.09092f, 0.1068f, 0.1385f,
                                                                     0.204f,   0.3623f,  0.892f,  4.271f};

typedef struct und_volume_fitting {
    und_volume_arrays v;
    und_volume_walls walls;
    float *phi;
    bool tracked;   /* particles have the shape: phi is shifted no sooner than must be */
    int32_t little; /* of UND_VOLUME_ONE: what a cell may be left with */
    double enough;  /* of what is left */
    int rounds;     /* of evening out */
    unsigned up;    /* bits of the neighbours that are above a cell */
} und_volume_fitting;

/* What steps find out is for those behind them. */
typedef struct und_volume_fit_found {
    bool none[UND_VOLUME_FIT_TO_SURFACE]; /* nothing is to be brought to the surface, round by round; */
    bool paid;                            /* no cell owes any; */
    bool more, done;                      /* what is left is to be gone on with, or is not */
    int64_t *left;                        /* around cells, all together, of each slice */
} und_volume_fit_found;

/* Of the chunks that are looked at, those of a row begin at row_first[row]. */
typedef struct und_volume_fit_args {
    und_volume_fitting f;
    und_volume_fit_found *found;
    const int32_t *row_first, *row_chunks;
    und_volume_chunk *all; /* with which the first round began: those of a row are in row_chunks[] */
    int round;
    und_distance_refresh_args refresh;
} und_volume_fit_args;

UND_INLINE float und_volume_fit_less(float a, float b)
{
    return a < b ? a : b;
}

/* ---- Which cells ---- */

/* What looks for cells near the surface knows. */
typedef struct und_volume_nearing {
    und_volume_list_args list;
    const int32_t *c;
    const uint8_t *kind;
    const float *phi;
} und_volume_nearing;

static inline unsigned und_volume_look_near(const void *context, size_t at)
{
    const und_volume_nearing *f = context;
    const und_lanes phi = und_lanes_load(f->phi + at), near = und_lanes_all(UND_VOLUME_NEAR), none = {0};
    const und_lanes_int held = und_lanes_bytes(f->kind + at) == UND_VOLUME_HELD;
    const und_lanes_int aloft = (und_lanes_int_load(f->c + at) != 0) & (phi > none);
    return und_lanes_bits((((phi < near) & (phi > -near)) | aloft) & ~held);
}

UND_INLINE void und_volume_mark_near(const und_volume_nearing *f, und_place p)
{
    und_volume_mark_rows(&f->list, p, und_volume_look_near, NULL, f);
}
UND_KERNEL(und_volume_mark_near, und_volume_nearing, UND_EACH_SOME)

/* ---- Along the surface ---- */

/* Of a chunk's cells those near walls, where neighbours may be on another side. */
static inline und_lanes_int und_volume_fit_near_walls(const und_volume_fitting *f, size_t at)
{
    const und_volume_walls *w = &f->walls;
    return w->room ? (und_lanes_bytes(w->beside_thin + at) != 0) | (und_lanes_load(w->distance + at) < 1)
                   : (und_lanes_int){0};
}
/* Of these the ones that are linked to neighbour n. */
static inline und_lanes_int und_volume_fit_linked(const und_volume_fitting *f, size_t at, unsigned near,
                                                  int n)
{
    unsigned others = 0;
    for (unsigned bits = near; bits; bits &= bits - 1)
        if (!und_volume_linked(&f->v.mac, &f->walls, at + (size_t)__builtin_ctz(bits), n))
            others |= bits & -bits;
    return ~und_lanes_where(others);
}

/* The neighbours that are nearest to the surface, of some of a chunk's cells. */
static inline void und_volume_fit_find_ways(const und_volume_fitting *f, size_t at, unsigned which)
{
    const und_volume_arrays *p = &f->v;
    const unsigned near = und_lanes_bits(und_volume_fit_near_walls(f, at)) & which;
    und_lanes best =
        und_lanes_min(und_size(und_lanes_load(f->phi + at)) - 0.05f, und_lanes_all(UND_VOLUME_NEAR));
    und_lanes_int to = (und_lanes_int){0} + UND_VOLUME_STAY;
    for (int n = 0; n < UND_VOLUME_AROUND; n++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[n]);
        const und_lanes there = und_size(und_lanes_load(f->phi + next));
        und_lanes_int nearer = (there < best) & (und_lanes_bytes(p->mark + next) != 0);
        if (f->walls.room)
            nearer &= und_lanes_load(f->walls.room + next) > UND_VOLUME_FIT_LEAST_ROOM;
        if (near)
            nearer &= und_volume_fit_linked(f, at, near, n);
        if (f->up >> n & 1) /* nothing falls on films above it */
            nearer &= und_lanes_bytes(f->v.film + next) == 0;
        best = und_lanes_select(nearer, there, best);
        to = und_lanes_int_select(nearer, (und_lanes_int){0} + n, to);
    }
    und_lanes_bytes_store_some(p->to + at, to, which);
}

/* Of a chunk's cells those that keep what they have too much of: little of it inside of the liquid, where the
 * flow keeps its volume.  That is the pressure's; and were it brought to the surface it would be evened out
 * along that, and so go from where the liquid is drawn thin to where it is not. */
static inline unsigned und_volume_fit_keep_inside(const und_volume_fitting *f, const und_volume_chunk *k)
{
    if (!f->tracked)
        return 0;
    const und_lanes_int little = (und_lanes_int){0} + und_volume_units(UND_VOLUME_FIT_KEPT);
    const und_lanes_int extra = und_lanes_int_load(f->v.extra + k->at);
    const und_lanes_int known = (und_lanes_bytes(f->v.unsure + k->at) & ~UND_VOLUME_THIN) == 0;
    return und_lanes_bits(known & (und_lanes_load(f->phi + k->at) < 0) & (extra < little) &
                          (extra > -little));
}

static inline void und_volume_fit_find_far(const und_volume_fit_args *a, und_place block)
{
    const und_volume_fitting *f = &a->f;
    const und_volume_arrays *p = &f->v;
    und_volume_chunk *const first = p->chunk + block.at, *const end = first + block.x;
    bool any = false;
    for (und_volume_chunk *k = first; k < end; k++) {
        const und_lanes_int none = und_lanes_int_load(p->extra + k->at) == 0;
        und_volume_fetch(p->extra, und_volume_ahead(k, end)->at);
        und_volume_fetch_around(&f->v.mac, f->phi, k, end);
        k->gives = (uint16_t)(k->bits & ~(unsigned)(k->evens | k->film) & ~und_lanes_bits(none));
        k->gives &= k->gives ? (uint16_t)~und_volume_fit_keep_inside(f, k) : 0;
        if (!k->gives)
            continue;
        const unsigned unknown =
            k->gives & und_lanes_bits(und_lanes_bytes(p->to + k->at) == UND_VOLUME_UNKNOWN);
        if (unknown)
            und_volume_fit_find_ways(f, (size_t)k->at, unknown);
        und_volume_set_out(&f->v, k, p->extra, UND_VOLUME_MOST * UND_VOLUME_ONE);
        any = true;
    }
    if (any)
        und_shared_deny(&a->found->none[a->round]);
}
UND_KERNEL(und_volume_fit_find_far, und_volume_fit_args, UND_EACH_SOME)

static inline void und_volume_fit_bring_near(const und_volume_fit_args *a, und_place block)
{
    const und_volume_arrays *p = &a->f.v;
    for (int i = 0; i < block.x; i++)
        und_volume_give_out(&a->f.v, &p->chunk[block.at + (size_t)i], p->extra);
}
UND_KERNEL(und_volume_fit_bring_near, und_volume_fit_args, UND_EACH_SOME)

/* The neighbours that a chunk's cells exchange with, over open faces. */
static inline void und_volume_fit_find_others(const und_volume_fitting *f, und_volume_chunk *k)
{
    for (int way = 0; way < 6; way++) {
        const ptrdiff_t step = f->v.mac.step[way / 2], next = k->at + (way % 2 ? step : -step);
        const float *open = f->walls.open[way / 2] + (way % 2 ? k->at : next);
        const und_lanes_int mark = und_lanes_bytes(f->v.mark + next);
        const und_lanes_int own = und_lanes_bytes(f->v.own + next) != 0;
        const und_lanes_int free = und_lanes_bytes(f->v.mark + k->at) == UND_VOLUME_FREE;
        const und_lanes_int evens = (mark == UND_VOLUME_FREE) | (mark == UND_VOLUME_NEAR_ONLY);
        k->with[way] = (uint16_t)(k->evens & und_lanes_bits(evens & own));
        if (f->walls.room)
            k->with[way] &= (uint16_t)und_lanes_bits(und_lanes_load(open) > 0);
        k->far[way] = (uint16_t)(k->with[way] & und_lanes_bits((mark == UND_VOLUME_FREE) & free));
    }
}

/* Of a chunk, from one array to the other: of the difference to a neighbour the part `even` of what is
 * little, `much` of what is more. */
UND_INLINE void und_volume_fit_even_out_chunk(const und_volume_fitting *f, const und_volume_chunk *k,
                                              const int32_t *from, int32_t *to, float even, float much)
{
    const und_lanes little = und_lanes_all(UND_VOLUME_FIT_LITTLE * UND_VOLUME_ONE);
    const und_lanes_int own = und_lanes_int_load(from + k->at);
    und_lanes_int sum = own;
    for (int way = 0; way < 6; way++) {
        const ptrdiff_t step = f->v.mac.step[way / 2];
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
static inline void und_volume_fit_add_extra(const und_volume_fit_args *a, const und_volume_chunk *k)
{
    const und_volume_arrays *v = &a->f.v;
    const und_lanes_int c = und_lanes_int_load(v->part + k->at) + und_lanes_int_load(v->extra + k->at);
    und_lanes_int_store_some(v->c + k->at, c, k->bits);
    if (und_lanes_bits(c < 0) & k->bits)
        und_shared_deny(&a->found->paid);
}

static inline float und_volume_fit_even_in(const und_volume_fit_args *a)
{
    return a->f.tracked ? und_volume_fit_even_by[a->round] : UND_VOLUME_FIT_ALONE;
}
static inline float und_volume_fit_much_of(const und_volume_fit_args *a)
{
    return a->f.tracked ? UND_VOLUME_FIT_MUCH : UND_VOLUME_FIT_ALONE;
}

/* Little goes far; what is amiss by much is put right where it is.  Some rows, in one of so many rounds;
 * after the last cells hold what that makes. */
static inline void und_volume_fit_even_out(const und_volume_fit_args *a, und_place rows)
{
    const und_volume_fitting *f = &a->f;
    const und_volume_arrays *p = &f->v;
    const float even = und_volume_fit_even_in(a), much = und_volume_fit_much_of(a);
    const int32_t *from = a->round % 2 ? p->spare : p->extra;
    und_volume_chunk *const first = p->chunk + a->row_first[rows.at],
                            *const end = p->chunk + a->row_first[rows.at + (size_t)rows.x];
    for (und_volume_chunk *k = first; k < end; k++) {
        const und_volume_chunk *const ahead = und_volume_ahead(k, end);
        __builtin_prefetch(from + ahead->at + f->v.mac.step[2]);
        if (!k->evens)
            continue;
        if (a->round == 0)
            und_volume_fit_find_others(f, k);
        und_volume_fit_even_out_chunk(f, k, from, a->round % 2 ? p->extra : p->spare, even, much);
    }
    for (und_volume_chunk *k = first; k < end && a->round == f->rounds - 1; k++)
        und_volume_fit_add_extra(a, k);
}
static inline void und_volume_fit_even_out_one(const und_volume_fit_args *a, uint32_t chunk)
{
    const und_volume_fitting *f = &a->f;
    const und_volume_arrays *p = &f->v;
    und_volume_chunk *const k = p->chunk + chunk;
    if (k->evens && a->round == 0)
        und_volume_fit_find_others(f, k);
    if (k->evens)
        und_volume_fit_even_out_chunk(f, k, a->round % 2 ? p->spare : p->extra,
                                      a->round % 2 ? p->extra : p->spare, und_volume_fit_even_in(a),
                                      und_volume_fit_much_of(a));
    if (a->round == f->rounds - 1)
        und_volume_fit_add_extra(a, k);
}
UND_KERNEL_LISTED(und_volume_fit_even_out, und_volume_fit_args, UND_EACH_BLOCK)

/* ---- Debts ---- */

/* The fullest neighbours of some of a chunk's cells. */
static inline void und_volume_fit_find_fullest(const und_volume_fitting *f, size_t at, unsigned which)
{
    const und_volume_arrays *p = &f->v;
    const unsigned near = und_lanes_bits(und_volume_fit_near_walls(f, at)) & which;
    und_lanes_int best = {0}, to = best + UND_VOLUME_STAY;
    for (int n = 0; n < UND_VOLUME_AROUND; n++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[n]);
        const und_lanes_int there = und_lanes_int_load(f->v.c + next);
        und_lanes_int fuller = there > best;
        if (p->others || p->held)
            fuller &=
                (und_lanes_bytes(p->own + next) != 0) & (und_lanes_bytes(p->kind + next) != UND_VOLUME_HELD);
        if (near)
            fuller &= und_volume_fit_linked(f, at, near, n);
        best = und_lanes_int_select(fuller, there, best);
        to = und_lanes_int_select(fuller, (und_lanes_int){0} + n, to);
    }
    und_lanes_bytes_store_some(p->to + at, to, which);
}

/* What cells owe is paid by their fullest neighbours. */
static inline void und_volume_fit_find_payers(const und_volume_fit_args *a, und_place block)
{
    const und_volume_fitting *f = &a->f;
    und_volume_chunk *const first = f->v.chunk + block.at, *const end = first + block.x;
    for (und_volume_chunk *k = first; k < end; k++) {
        und_volume_fetch(f->v.c, und_volume_ahead(k, end)->at);
        k->gives = (uint16_t)(k->bits & und_lanes_bits(und_lanes_int_load(f->v.c + k->at) < 0));
        if (!k->gives)
            continue;
        und_volume_fit_find_fullest(f, (size_t)k->at, k->gives);
        und_volume_set_out(&f->v, k, f->v.c, UND_VOLUME_MOST * UND_VOLUME_ONE);
    }
}
UND_KERNEL(und_volume_fit_find_payers, und_volume_fit_args, UND_EACH_SOME)

static inline void und_volume_fit_pay(const und_volume_fit_args *a, und_place block)
{
    const und_volume_arrays *v = &a->f.v;
    for (int i = 0; i < block.x; i++)
        und_volume_give_out(v, &v->chunk[block.at + (size_t)i], v->c);
}
UND_KERNEL(und_volume_fit_pay, und_volume_fit_args, UND_EACH_SOME)

/* ---- phi ---- */

/* Bits of cells beside walls that no cell shows for which neighbour k does not count. */
static inline unsigned und_volume_fit_unlinked(const und_volume_fitting *f, const und_volume_chunk *chunk,
                                               int k)
{
    unsigned bits = 0;
    UND_VOLUME_OF_CHUNK(chunk, chunk->bits, at)
    if (f->walls.beside_thin[at] && !und_volume_linked(&f->v.mac, &f->walls, at, k))
        bits |= 1u << (at - (size_t)chunk->at);
    return bits;
}

/* Sums over the cells around by und_volume_weight; beside walls that no cell shows, on the same side. */
typedef struct und_volume_fit_around {
    und_lanes over, area,
        held; /* cells: what they have too much of, the surface's area, all that they have */
} und_volume_fit_around;

/* What of that is on the other side. */
static inline und_lanes_int und_volume_fit_sum_unlinked(const und_volume_fitting *f,
                                                        const und_volume_chunk *chunk, const int32_t *values)
{
    und_lanes_int sum = {0};
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        sum += und_lanes_where(und_volume_fit_unlinked(f, chunk, k)) &
               ((int32_t)und_volume_weight(k) * und_lanes_int_load(values + chunk->at + f->v.around[k]));
    return sum;
}

static inline und_volume_fit_around und_volume_fit_sum_around(const und_volume_fitting *f,
                                                              const und_volume_chunk *chunk)
{
    enum { LESS = 6 }; /* so that the sum of cells that are crowded is a number still */
    const und_volume_arrays *p = &f->v;
    const bool thin = f->walls.room && und_lanes_bits(und_lanes_bytes(f->walls.beside_thin + chunk->at) != 0);
    und_lanes_int over = und_volumes_weighted(&f->v.mac, p->over + chunk->at, 0);
    und_lanes_int area = und_volumes_weighted(&f->v.mac, p->area + chunk->at, 0);
    const und_lanes_int held = und_volumes_weighted(&f->v.mac, f->v.c + chunk->at, LESS);
    if (thin) {
        over -= und_volume_fit_sum_unlinked(f, chunk, p->over);
        area -= und_volume_fit_sum_unlinked(f, chunk, p->area);
    }
    return (und_volume_fit_around){und_volumes_cells(over),
                                   __builtin_convertvector(area, und_lanes) / UND_VOLUME_AREA_ONE,
                                   und_volumes_cells(held) * (1 << LESS)};
}

/* How much of it phi is asked to show.  Fluxes are off by little everywhere, particles by less: what is small
 * beside the liquid there is, and beside the air, comes slowly, and is evened out along the surface before.
 * Where the flow keeps its volume so do the particles, but in sheets that are thinner than they can tell,
 * and gaps that close: those show what there is. */
static inline und_lanes und_volume_fit_asked(const und_volume_fitting *f, const und_volume_chunk *k,
                                             const und_volume_fit_around *sum)
{
    if (!f->tracked)
        return UND_VOLUME_FIT_SHIFT * sum->over;
    const und_lanes some =
        und_lanes_max(und_lanes_min(sum->held, UND_VOLUME_FIT_WEIGHTS - sum->held), (und_lanes){0});
    const und_lanes most = UND_VOLUME_FIT_TRUSTED * sum->area;
    const und_lanes less = und_lanes_min(most, UND_VOLUME_FIT_SHOWS_LESS * some),
                    more = und_lanes_min(most, UND_VOLUME_FIT_SHOWS_MORE * some);
    const und_lanes little = und_lanes_max(und_lanes_min(sum->over, less), -more);
    const und_lanes shown = sum->over - (1 - UND_VOLUME_FIT_TRUSTED_SHIFT) * little;
    const uint8_t *at = f->v.unsure + k->at;
    und_lanes_int unsure = und_lanes_bytes(at);
    for (int a = 0; a < 3; a++)
        unsure |= und_lanes_bytes(at - f->v.mac.step[a]) | und_lanes_bytes(at + f->v.mac.step[a]);
    const und_lanes far = UND_VOLUME_FIT_SURE * sum->area,
                    slow = und_lanes_max(und_lanes_min(sum->over, far), -far);
    return UND_VOLUME_FIT_SHIFT *
           und_lanes_select(unsure == 0, sum->over - (1 - UND_VOLUME_FIT_SURE_SHIFT) * slow, shown);
}

/* Where there is next to no surface around, but liquid, some comes up.  What is still to be shown around
 * cells, all together. */
static inline int64_t und_volume_fit_set_shifted(const und_volume_fitting *f, und_volume_chunk *k,
                                                 float *next)
{
    const und_volume_arrays *v = &f->v;
    const und_lanes phi = und_lanes_load(f->phi + k->at), far = und_lanes_all(UND_VOLUME_FIT_SHIFTED);
    const unsigned near = k->bits & und_lanes_bits(~((phi > far) | (phi < -far)));
    int64_t left = 0;
    und_lanes_store_some(next + k->at, phi, k->bits & ~near);
    k->left = 0;
    if (!near)
        return 0;
    const und_volume_fit_around sum = und_volume_fit_sum_around(f, k);
    const und_lanes room = und_volume_rooms(&f->walls, (size_t)k->at);
    const und_lanes held = und_volumes_cells(und_lanes_int_load(v->c + k->at));
    const und_lanes_int some = sum.area > UND_VOLUME_FIT_LEAST_AREA;
    const und_lanes_int rises =
        (sum.over > 2.5f * UND_VOLUME_FIT_LEAST_AREA) & (phi > 0) & (held > 0.3f * room);
    const und_lanes over = und_lanes_select(some, und_volume_fit_asked(f, k, &sum), sum.over);
    const und_lanes moved = phi - und_volumes_clip(over / sum.area, UND_VOLUME_FIT_MOST_SHIFT);
    const und_lanes up = und_lanes_select(rises, phi - 0.3f, phi);
    und_lanes_store_some(next + k->at, und_lanes_select(some, moved, up), near);
    const und_lanes_int rest = und_volumes_units(over / UND_VOLUME_FIT_WEIGHTS);
    k->left = (uint16_t)(near & und_lanes_bits((rest > f->little) | (rest < -f->little)));
    const und_lanes_int size = und_lanes_where(near) & und_lanes_int_select(rest < 0, -rest, rest);
    for (int i = 0; i < UND_LANES; i++)
        left += size[i];
    return left;
}

/* A film ends so far from its wall. */
static inline float und_volume_fit_film_surface(const und_volume_fitting *f, size_t at, float phi)
{
    float distance, normal[3];
    if (!(phi > 0) || !(und_volume_cells(f->v.c[at]) > 0.01f) || !f->v.film[at] ||
        !und_volume_leans(&f->v, &f->walls, at, &distance, normal))
        return phi;
    if (und_volume_is_slanted(&f->v, &f->walls, f->phi, at, normal)) {
        const float thick = und_volume_film_thickness(&f->v, &f->walls, at, normal);
        return thick < UND_VOLUME_FIT_FILM ? phi : und_volume_fit_less(phi, distance - thick);
    }
    return und_volume_fit_less(phi, distance - und_volume_cells(f->v.c[at]));
}

/* Of what is near the surface what is too much, and the area, move phi. */
static inline void und_volume_fit_set_over(const und_volume_fit_args *a, und_place block)
{
    const und_volume_arrays *v = &a->f.v;
    const und_volume_chunk *const first = v->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++) {
        const und_lanes_int most = (und_lanes_int){0} + UND_VOLUME_ONE;
        const und_lanes_int over = und_lanes_int_load(v->c + k->at) - und_lanes_int_load(v->part + k->at);
        const und_lanes_int within =
            und_lanes_int_select(over > most, most, und_lanes_int_select(over < -most, -most, over));
        und_lanes_int_store_some(v->over + k->at, und_lanes_where(k->some) & within, k->bits);
        und_lanes_int_store_some(v->area + k->at, (und_lanes_int){0}, k->bits & ~(unsigned)k->some);
    }
}
UND_KERNEL(und_volume_fit_set_over, und_volume_fit_args, UND_EACH_SOME)

/* Where the cells of a slice end. */
static inline ptrdiff_t und_volume_fit_end_of_slice(const und_mac *m, int z)
{
    return (ptrdiff_t)und_mac_at(m, 0, 0, z + 1);
}

/* What is left, of a slice. */
static inline void und_volume_fit_add_left(const und_volume_fit_args *a, int z, int64_t left)
{
    if (left != 0)
        und_shared_sum((uint64_t *)&a->found->left[z], (uint64_t)left);
}

static inline void und_volume_fit_shift(const und_volume_fit_args *a, und_place block)
{
    const und_volume_arrays *v = &a->f.v;
    und_volume_chunk *const first = v->chunk + block.at, *const end = first + block.x;
    float *next = v->fraction;
    int64_t left = 0;
    int cell[3];
    und_mac_cell(&v->mac, (size_t)first->at, cell);
    for (und_volume_chunk *k = first; k < end; k++) {
        const ptrdiff_t ahead = und_volume_ahead(k, end)->at, beside = ahead + v->mac.step[2];
        und_volume_fetch(a->f.phi, ahead);
        und_volume_fetch(next, ahead);
        und_volume_fetch(v->over, beside);
        und_volume_fetch(v->area, beside);
        und_volume_fetch(v->c, beside);
        for (; k->at >= und_volume_fit_end_of_slice(&v->mac, cell[2]); left = 0)
            und_volume_fit_add_left(a, cell[2]++, left);
        left += und_volume_fit_set_shifted(&a->f, k, next);
        UND_VOLUME_OF_CHUNK(k, k->film, at)
        next[at] = und_volume_fit_film_surface(&a->f, at, next[at]);
    }
    und_volume_fit_add_left(a, cell[2], left);
}
UND_KERNEL(und_volume_fit_shift, und_volume_fit_args, UND_EACH_SOME)

static inline void und_volume_fit_set_phi(const und_volume_fit_args *a, und_place block)
{
    const und_volume_arrays *v = &a->f.v;
    const und_volume_chunk *const first = v->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        und_lanes_store_some(a->f.phi + k->at, und_lanes_load(v->fraction + k->at), k->bits);
}
UND_KERNEL(und_volume_fit_set_phi, und_volume_fit_args, UND_EACH_SOME)

static inline void und_volume_fit_judge(const und_volume_fit_args *a, und_place block)
{
    int64_t left = 0;
    (void)block;
    for (int z = 0; z < a->f.v.mac.n[2]; z++)
        left += a->found->left[z];
    a->found->more = a->round + 1 < UND_VOLUME_FIT_SHIFTS && (double)left > a->f.enough;
    a->found->done = !a->found->more;
}
UND_KERNEL(und_volume_fit_judge, und_volume_fit_args, UND_EACH_BLOCK)

/* Cells that are not looked at have neither. */
static inline void und_volume_fit_clear(const und_volume_fit_args *a, und_place block)
{
    const und_volume_arrays *p = &a->f.v;
    for (const und_volume_chunk *k = a->all + block.at; k < a->all + block.at + block.x; k++) {
        und_lanes_int_store_some(p->over + k->at, (und_lanes_int){0}, k->bits);
        und_lanes_int_store_some(p->area + k->at, (und_lanes_int){0}, k->bits);
    }
}
UND_KERNEL(und_volume_fit_clear, und_volume_fit_args, UND_EACH_SOME)

/* Rows with cells that were looked at. */
UND_INLINE void und_volume_fit_refresh(const und_volume_fit_args *a, und_place row)
{
    const int32_t *first = a->row_chunks + row.z * a->f.v.mac.n[1] + row.y;
    if (first[1] > first[0])
        und_distance_refresh_row(&a->refresh, row);
}
UND_KERNEL(und_volume_fit_refresh, und_volume_fit_args, UND_EACH_ROW)

/* ---- What is gone on with ---- */

/* Chunks that have something left, of those that were looked at: by blocks of rows. */
typedef struct und_volume_remaining {
    const und_volume_chunk *from;
    und_volume_chunk *to;     /* not where `from` is, or there is one block */
    const int32_t *row_first; /* of those in `from`: where each row's begin, and the end; */
    int32_t *row_left;        /* the same of `to`, which may be in the same place */
    int32_t *row_count, *block_chunks, *block_count;
    int rows, blocks;
    uint8_t *mark; /* 0 where nothing is left */
    int32_t *count, *chunk_count;
} und_volume_remaining;

static inline void und_volume_remaining_count(const und_volume_remaining *l, und_place p)
{
    int32_t chunks = 0, cells = 0;
    for (size_t row = p.at; row < p.at + (size_t)p.x; row++) {
        int32_t some = 0;
        for (int32_t i = l->row_first[row]; i < l->row_first[row + 1]; i++) {
            const und_volume_chunk *k = l->from + i;
            und_lanes_bytes_store_some(l->mark + k->at, (und_lanes_int){0}, k->bits & ~(unsigned)k->left);
            some += k->left != 0;
            cells += __builtin_popcount(k->left);
        }
        l->row_count[row] = some;
        chunks += some;
    }
    l->block_chunks[p.y] = chunks;
    l->block_count[p.y] = cells;
}
UND_KERNEL(und_volume_remaining_count, und_volume_remaining, UND_EACH_BLOCK)

/* Blocks are few. */
static inline void und_volume_remaining_add_up(const und_volume_remaining *l, und_place p)
{
    int32_t chunks = 0, cells = 0;
    (void)p;
    for (int block = 0; block < l->blocks; block++) {
        const int32_t own = l->block_chunks[block];
        l->block_chunks[block] = chunks;
        chunks += own;
        cells += l->block_count[block];
    }
    *l->chunk_count = chunks;
    *l->count = cells;
}
UND_KERNEL(und_volume_remaining_add_up, und_volume_remaining, UND_EACH_BLOCK)

static inline void und_volume_remaining_put(const und_volume_remaining *l, und_place p)
{
    und_volume_chunk *to = l->to + l->block_chunks[p.y];
    for (int32_t i = l->row_first[p.at], end = l->row_first[p.at + (size_t)p.x]; i < end; i++)
        if (l->from[i].left) {
            *to = l->from[i];
            to->bits = to->left;
            to++;
        }
}
UND_KERNEL(und_volume_remaining_put, und_volume_remaining, UND_EACH_BLOCK)

static inline void und_volume_remaining_number(const und_volume_remaining *l, und_place p)
{
    int32_t first = l->block_chunks[p.y];
    for (size_t row = p.at; row < p.at + (size_t)p.x; row++) {
        l->row_left[row] = first;
        first += l->row_count[row];
    }
    if ((int)p.at + p.x == l->rows)
        l->row_left[l->rows] = first;
}
UND_KERNEL(und_volume_remaining_number, und_volume_remaining, UND_EACH_BLOCK)

#endif
