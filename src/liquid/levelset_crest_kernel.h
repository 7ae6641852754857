/* Crests that throw off drops: levelset_crest.c says which do.
 *
 * What each throws is taken from the cell below it, which may be below several: the first of them works out
 * for all of these, in the order of their places, what there is left for each. */
#ifndef UND_LIQUID_LEVELSET_CREST_KERNEL_H
#define UND_LIQUID_LEVELSET_CREST_KERNEL_H

#include "liquid/levelset_drops_kernel.h"
#include "surface/volume_list_kernel.h"

#define UND_CREST_BAND 0.75f    /* cells from the surface: where a crest is looked for */
#define UND_CREST_EASY 0.5f     /* 1/cells: curvature that cells show well */
#define UND_CREST_SHARPEST 1.5f /* 1/cells: more is noise */
#define UND_CREST_STEEP 0.4f    /* of phi's gradient: less is the middle of a thin sheet */
#define UND_CREST_FARTHEST 12   /* cells: how far the body may be */
#define UND_CREST_BELOW \
    0.5f /* cells inside the liquid, below the crest: where what is thrown is taken from */
enum { UND_CREST_REACH = 3 };                    /* cells: no further is that from the crest's own */
enum { UND_CREST_LISTED = 1, UND_CREST_THROWS }; /* in mark[] */

typedef struct und_cresting {
    und_volume_list_args list;
    und_dropping d;
    const float *phi, *nu; /* m2/s; NULL: it is the same all over */
    double gravity[3], viscosity, dt;
    und_mask held; /* cells of sources; without bits: there are none */
    int32_t *c;
    float *due;               /* of a cell that throws: how much, of UND_VOLUME_ONE, if there is as much; */
    int32_t *from;            /* the cell that it is taken from; */
    int32_t *thrown, *number; /* how many drops it throws, and the first's */
} und_cresting;

/* ---- Crests ---- */

/* m/s at which a crest throws: see levelset_crest.c. */
static inline double und_crest_speed(double outwards, double sharp, double fallen, double pull,
                                     double tension, double viscosity)
{
    const double held = pull / sharp + tension * sharp + 2 * viscosity * sharp * outwards;
    const double free = outwards * outwards - held - und_double_max(fallen, 0);
    return outwards > 0 && free > 0 ? __builtin_sqrt(free) : 0;
}

/* Some crests, UND_LANES of which are worked on at once; more may come while they wait. */
enum { UND_CREST_ROOM = 2 * UND_LANES };
typedef struct und_crests {
    int count;
    int32_t at[UND_CREST_ROOM];     /* their cells */
    float place[3][UND_CREST_ROOM]; /* cells of the whole grid, on the surface */
    float normal[3][UND_CREST_ROOM];
    float sharp[UND_CREST_ROOM]; /* 1/cells */
} und_crests;

/* The curvature: div (grad phi / |grad phi|), by central differences; 0 where there is no gradient. */
UND_INLINE und_lanes und_crest_curvatures(const und_cresting *t, size_t at, und_lanes g[3], und_lanes *length)
{
    const ptrdiff_t *step = t->d.mac.step;
    const float *phi = t->phi + at;
    const und_lanes own = und_lanes_load(phi);
    const int axes = t->d.mac.n[2] > 1 ? 3 : 2;
    und_lanes square = {0}, trace = {0}, along = {0};
    g[2] = (und_lanes){0};
    for (int a = 0; a < axes; a++) {
        g[a] = 0.5f * (und_lanes_load(phi + step[a]) - und_lanes_load(phi - step[a]));
        square += g[a] * g[a];
    }
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < axes; b++) {
            const ptrdiff_t i = step[a], j = step[b];
            const und_lanes there = und_lanes_load(phi + i + (a == b ? 0 : j)),
                            back = und_lanes_load(phi - i - (a == b ? 0 : j));
            const und_lanes second =
                a == b ? there - 2 * own + back
                       : 0.25f * (there - und_lanes_load(phi + i - j) - und_lanes_load(phi + j - i) + back);
            trace = a == b ? trace + second : trace;
            along += g[a] * g[b] * second;
        }
    *length = und_lanes_sqrt(square);
    const und_lanes here = (trace - along / square) / *length;
    /* outside the liquid it is less than on the surface */
    const und_lanes sharp = und_lanes_min(here / und_lanes_max(1 - here * own, und_lanes_all(0.25f)),
                                          und_lanes_all(UND_CREST_SHARPEST));
    return und_lanes_select(square > UND_CREST_STEEP * UND_CREST_STEEP, sharp, (und_lanes){0});
}

/* Of UND_LANES cells those that may throw.  phi goes on into solids, and may be another side's at thin ones.
 */
UND_INLINE unsigned und_crest_look(const void *cresting, size_t at)
{
    const und_cresting *t = cresting;
    const und_lanes phi = und_lanes_load(t->phi + at);
    und_lanes_int near = (phi < und_lanes_all(UND_CREST_BAND)) & (phi > und_lanes_all(-UND_CREST_BAND));
    und_lanes g[3], length;
    if (!und_lanes_bits(near))
        return 0;
    if (t->d.distance)
        near &= ~((und_lanes_load(t->d.distance + at) < 0) | (und_lanes_bytes(t->d.beside_thin + at) != 0));
    return und_lanes_bits(near & (und_crest_curvatures(t, at, g, &length) > UND_CREST_EASY));
}

static inline void und_crest_mark(const und_cresting *t, und_place p)
{
    und_volume_mark_rows(&t->list, p, und_crest_look, NULL, t);
}
UND_KERNEL(und_crest_mark, und_cresting, UND_EACH_SOME)

/* Adds those of `which` that are sharp, of the cells of a row from one on. */
static inline void und_crest_add(const und_cresting *t, size_t at, unsigned which, und_crests *c)
{
    const und_mac *m = &t->d.mac;
    const und_lanes phi = und_lanes_load(t->phi + at);
    und_lanes g[3], length;
    const und_lanes sharp = und_crest_curvatures(t, at, g, &length);
    const int first = c->count;
    int cell[3];
    which &= und_lanes_bits(sharp > UND_CREST_EASY);
    if (!which)
        return;
    und_mac_cell(m, at, cell);
    for (unsigned bits = which; bits; bits &= bits - 1)
        c->at[c->count++] = (int32_t)at + __builtin_ctz(bits);
    und_lanes_pack(c->sharp + first, sharp, which);
    for (int a = 0; a < 3; a++) {
        const float low = (float)(m->low[a] + cell[a]) + 0.5f;
        const und_lanes middle = a == 0 ? low + und_lanes_count() : und_lanes_all(low);
        const und_lanes normal = g[a] / length;
        und_lanes_pack(c->normal[a] + first, normal, which);
        und_lanes_pack(c->place[a] + first, middle - phi / length * normal, which);
    }
}

/* Goes down into the liquid, to where it is deepest, at most so many cells: in thin sheets along them. */
static inline void und_crest_bodies(const und_cresting *t, const und_crests *c, und_lanes far,
                                    und_lanes body[3])
{
    und_lanes way[3], depth = {0}, gone = {0};
    und_lanes_int goes = gone < far;
    for (int a = 0; a < 3; a++) {
        way[a] = -und_lanes_load(c->normal[a]);
        body[a] = und_lanes_load(c->place[a]);
    }
    while (und_lanes_bits(goes)) {
        const und_lanes step = und_lanes_min(far - gone, und_lanes_all(1));
        und_lanes next[3], slope[3], phi;
        for (int a = 0; a < 3; a++)
            next[a] = body[a] + step * way[a];
        und_sample_slopes(&t->d.mac, t->phi, next, 0.5f, &phi, slope);
        const und_lanes length =
            und_lanes_sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
        goes &= ~(phi > depth + 0.1f);
        for (int a = 0; a < 3; a++) {
            body[a] = und_lanes_select(goes, next[a], body[a]);
            way[a] = und_lanes_select(goes & (length > UND_CREST_STEEP), -slope[a] / length, way[a]);
        }
        depth = und_lanes_select(goes, phi, depth);
        gone = und_lanes_select(goes, gone + step, gone);
        goes &= gone < far;
    }
}

/* m2/s: the largest around, for only liquid has any. */
static inline double und_crest_viscosity(const und_cresting *t, size_t at)
{
    float most = t->nu ? 0 : (float)t->viscosity;
    for (int k = 0; t->nu && k < UND_VOLUME_AROUND; k++) {
        const float nu = t->nu[(ptrdiff_t)at + und_volume_step(&t->d.mac, k)];
        most = nu > most ? nu : most;
    }
    return (double)most;
}

/* m/s at which the first of them throw.  The body is as far below as the flow's own speed lifts it. */
static inline void und_crest_speeds(const und_cresting *t, const und_crests *c, int count,
                                    double speed[UND_LANES])
{
    const double pull = t->d.pull, dx = t->d.dx;
    und_lanes place[3], here[3], there[3], body[3], far = {0};
    for (int a = 0; a < 3; a++)
        place[a] = und_lanes_load(c->place[a]);
    und_sample_velocity(&t->d.mac, t->d.u, place, here);
    for (int i = 0; i < count; i++) {
        double out = 0;
        for (int a = 0; a < 3; a++)
            out += (double)here[a][i] * (double)c->normal[a][i];
        far[i] = (float)und_double_min(pull > 0 ? out * out / (2 * pull * dx) : __builtin_inf(),
                                       UND_CREST_FARTHEST);
    }
    und_crest_bodies(t, c, far, body);
    und_sample_velocity(&t->d.mac, t->d.u, body, there);
    for (int i = 0; i < count; i++) {
        double outwards = 0, fallen = 0;
        for (int a = 0; a < 3; a++) {
            outwards += ((double)here[a][i] - (double)there[a][i]) * (double)c->normal[a][i];
            fallen += 2 * t->gravity[a] * (double)(c->place[a][i] - body[a][i]) * dx;
        }
        speed[i] = und_crest_speed(outwards, (double)c->sharp[i] / dx, fallen, pull, t->d.tension,
                                   und_crest_viscosity(t, (size_t)c->at[i]));
    }
}

/* What leaves of the i-th, at that speed. */
static inline float und_crest_due(const und_cresting *t, const und_crests *c, int i, double speed)
{
    const double dx = t->d.dx, most = __builtin_sqrt(t->d.tension / und_double_max(t->d.pull, 1e-3));
    const float phi = __builtin_fabsf(t->phi[c->at[i]]);
    const double sharp = (double)(c->sharp[i] - UND_CREST_EASY) / dx, thick = und_double_min(most, 1 / sharp);
    const double area = und_double_max(
        0, (double)(UND_CREST_BAND - phi) / (double)(UND_CREST_BAND * UND_CREST_BAND)); /* of a cell's side */
    return (float)(thick * sharp * speed * area * t->dt / dx * UND_VOLUME_ONE);
}

/* The cell below the i-th; -1 where it is a source's, not this grid's, or maybe behind a wall. */
static inline int32_t und_crest_from(const und_cresting *t, const und_crests *c, int i)
{
    const und_mac *m = &t->d.mac;
    int cell[3];
    for (int a = 0; a < 3; a++) {
        cell[a] = (int)__builtin_floorf(c->place[a][i] - UND_CREST_BELOW * c->normal[a][i]) - m->low[a];
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return -1;
    }
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const bool gives = t->list.own[at] && !(t->d.distance && t->d.beside_thin[at]) &&
                       !(t->held.bits && und_mask_has(&t->held, cell[0], cell[1], cell[2]));
    return gives ? (int32_t)at : -1;
}

/* Tells chunks, from *k on, which of their crests throw, of the first UND_LANES; the others are the first
 * then. */
static inline void und_crest_finish(const und_cresting *t, und_volume_chunk **k, und_crests *c)
{
    enum { REST = UND_LANES * sizeof(float) };
    const int count = c->count < UND_LANES ? c->count : UND_LANES;
    double speed[UND_LANES];
    und_crest_speeds(t, c, count, speed);
    for (int i = 0; i < count; i++) {
        const int32_t at = c->at[i], from = und_crest_from(t, c, i);
        const float due = und_crest_due(t, c, i, speed[i]);
        while (at < (*k)->at || at >= (*k)->at + UND_LANES) /* rows may lie in any order */
            (*k)++;
        if (!(due > 0) || from < 0)
            continue;
        (*k)->some |= (uint16_t)(1u << (at - (*k)->at));
        t->list.mark[at] = UND_CREST_THROWS;
        t->due[at] = due;
        t->from[at] = from;
    }
    __builtin_memcpy(c->at, c->at + UND_LANES, REST);
    __builtin_memcpy(c->sharp, c->sharp + UND_LANES, REST);
    for (int a = 0; a < 3; a++) {
        __builtin_memcpy(c->place[a], c->place[a] + UND_LANES, REST);
        __builtin_memcpy(c->normal[a], c->normal[a] + UND_LANES, REST);
    }
    c->count -= count;
}

/* The chunks of a block of rows. */
#define UND_CREST_EACH_CHUNK(t, p, k)                                                             \
    for (und_volume_chunk *k = (t)->list.chunk + (t)->list.row_chunks[(p).at],                    \
                          *end_ = (t)->list.chunk + (t)->list.row_chunks[(p).at + (size_t)(p).x]; \
         k < end_; k++)

static inline void und_crest_find(const und_cresting *t, und_place p)
{
    und_volume_chunk *told = t->list.chunk + t->list.row_chunks[p.at];
    und_crests c = {0};
    UND_CREST_EACH_CHUNK(t, p, k)
    {
        k->some = 0;
        und_crest_add(t, (size_t)k->at, k->bits, &c);
        if (c.count >= UND_LANES)
            und_crest_finish(t, &told, &c);
    }
    if (c.count > 0)
        und_crest_finish(t, &told, &c);
}
UND_KERNEL(und_crest_find, und_cresting, UND_EACH_BLOCK)

/* ---- What they throw ---- */

/* Whole drops: the last of them with a chance, so that on average it is what is due. */
typedef struct und_crest_cell {
    und_drop_dice dice;
    float diameter;
    double left;
    int32_t most; /* that there is */
    int k;
} und_crest_cell;

static inline und_crest_cell und_crest_begin(const und_cresting *t, const int cell[3], size_t at, int32_t has)
{
    const int32_t most = has / 2;
    return (und_crest_cell){.dice = und_drop_dice_of(&t->d, cell),
                            .diameter = und_drop_diameter(&t->d, und_drop_strain(&t->d, at)),
                            .left = und_double_min((double)t->due[at], most),
                            .most = most};
}

/* The next drop's radius, m; how much it has.  0: there is none. */
static inline float und_crest_next(const und_cresting *t, und_crest_cell *c, int32_t *amount)
{
    double mean, parts;
    if (!(c->left > 0))
        return 0;
    const double units = und_drop_units(&c->dice, c->k, c->diameter, &mean);
    const bool thrown = !(units > c->left) || und_random(c->dice.seed, UND_STREAM_CREST,
                                                         c->dice.cell + (uint64_t)c->k) < c->left / units;
    if (units > c->most || !thrown)
        return 0;
    const float radius = und_drop_radius(t->d.quantum, units, &parts);
    if (!(radius > 0 && radius < 1000 && parts > 0))
        return 0;
    *amount = (int32_t)parts;
    c->left -= units;
    c->most -= *amount;
    c->k++;
    return radius;
}

/* The next crest that a cell gives to, in the order of places. */
static inline bool und_crest_next_taker(const und_cresting *t, const int from[3], int *i, int cell[3],
                                        size_t *at)
{
    enum { REACH = UND_CREST_REACH, WIDE = 2 * REACH + 1 };
    const und_mac *m = &t->d.mac;
    const int32_t giver = (int32_t)und_mac_at(m, from[0], from[1], from[2]);
    for (; *i < WIDE * WIDE * WIDE; ++*i) {
        cell[0] = from[0] + *i % WIDE - REACH;
        cell[1] = from[1] + *i / WIDE % WIDE - REACH;
        cell[2] = from[2] + *i / (WIDE * WIDE) - REACH;
        if (cell[0] < 0 || cell[1] < 0 || cell[2] < 0 || cell[0] >= m->n[0] || cell[1] >= m->n[1] ||
            cell[2] >= m->n[2] || !und_mac_has(m, cell[0], cell[1], cell[2]))
            continue;
        *at = und_mac_at(m, cell[0], cell[1], cell[2]);
        if (t->list.mark[*at] == UND_CREST_THROWS && t->from[*at] == giver)
            return true;
    }
    return false;
}

/* Of a crest: how many drops, if the cell below has so much; how much that is. */
static inline int32_t und_crest_count_cell(const und_cresting *t, const int cell[3], size_t at, int32_t has)
{
    und_crest_cell c = und_crest_begin(t, cell, at, has);
    int32_t amount, all = 0;
    while (und_crest_next(t, &c, &amount) > 0)
        all += amount;
    t->thrown[at] = und_drop_is_own(&t->d, cell) ? c.k : 0;
    return all;
}

/* Before the surface, so that it does not fall in at once. */
static inline void und_crest_place(const und_cresting *t, const und_crest_cell *c, const und_crests *crest,
                                   float radius, und_drop_some *some)
{
    const int i = some->count++;
    for (int a = 0; a < 3; a++)
        some->from[a][i] =
            (double)crest->place[a][0] + 0.5 * (double)crest->normal[a][0] +
            (t->d.mac.n[a] > 1 ? 0.5 * (und_drop_roll(&c->dice, c->k - 1, UND_DROP_ORDER + a) - 0.5) : 0);
    some->radius[i] = radius;
}

/* The same, and its drops set out: as many as there is room for. */
static inline int32_t und_crest_throw_cell(const und_cresting *t, const int cell[3], size_t at, int32_t has,
                                           int64_t *thrown)
{
    const double strain = und_drop_strain(&t->d, at);
    const bool own = und_drop_is_own(&t->d, cell);
    und_crest_cell c = und_crest_begin(t, cell, at, has);
    und_crests crest = {0};
    und_drop_some some = {0};
    int number = t->d.count + t->number[at];
    int32_t amount, all = 0;
    und_crest_add(t, at, 1, &crest);
    for (float radius; !own || number + some.count < t->d.count + t->d.most;) {
        if (!((radius = und_crest_next(t, &c, &amount)) > 0))
            break;
        all += amount;
        if (own)
            und_crest_place(t, &c, &crest, radius, &some);
        if (some.count == UND_LANES)
            und_drop_set_out(&t->d, cell, at, strain, &c.dice, &some, &number);
    }
    if (some.count > 0)
        und_drop_set_out(&t->d, cell, at, strain, &c.dice, &some, &number);
    *thrown += own ? all : 0;
    return all;
}

/* What the cell below a crest gives, if that is the first of those that it gives to: is counted, or goes. */
UND_INLINE void und_crest_give(const und_cresting *t, size_t crest, bool goes, int64_t *thrown)
{
    const size_t from = (size_t)t->from[crest];
    int below[3], cell[3], i = 0;
    size_t at;
    und_mac_cell(&t->d.mac, from, below);
    if (!und_crest_next_taker(t, below, &i, cell, &at) || at != crest)
        return;
    int32_t has = t->c[from];
    do {
        has -= goes ? und_crest_throw_cell(t, cell, at, has, thrown) : und_crest_count_cell(t, cell, at, has);
        i++;
    } while (und_crest_next_taker(t, below, &i, cell, &at));
    if (goes)
        t->c[from] = has;
}

static inline void und_crest_count(const und_cresting *t, und_place p)
{
    int64_t thrown = 0;
    UND_CREST_EACH_CHUNK(t, p, k)
    UND_VOLUME_OF_CHUNK(k, k->some, at)
    und_crest_give(t, at, false, &thrown);
}
UND_KERNEL(und_crest_count, und_cresting, UND_EACH_BLOCK)

/* How many drops a block has; and of each crest how many are before it. */
static inline void und_crest_sum(const und_cresting *t, und_place p)
{
    int32_t count = 0;
    UND_CREST_EACH_CHUNK(t, p, k)
    UND_VOLUME_OF_CHUNK(k, k->some, at)
    count += t->thrown[at];
    t->d.before[p.y] = count;
}
UND_KERNEL(und_crest_sum, und_cresting, UND_EACH_BLOCK)

static inline void und_crest_number(const und_cresting *t, und_place p)
{
    int32_t number = t->d.before[p.y];
    UND_CREST_EACH_CHUNK(t, p, k)
    UND_VOLUME_OF_CHUNK(k, k->some, at)
    {
        t->number[at] = number;
        number += t->thrown[at];
    }
}
UND_KERNEL(und_crest_number, und_cresting, UND_EACH_BLOCK)

static inline void und_crest_throw(const und_cresting *t, und_place p)
{
    int64_t thrown = 0;
    UND_CREST_EACH_CHUNK(t, p, k)
    UND_VOLUME_OF_CHUNK(k, k->some, at)
    und_crest_give(t, at, true, &thrown);
    t->d.parts[p.y] = thrown;
}
UND_KERNEL(und_crest_throw, und_cresting, UND_EACH_BLOCK)

#endif
