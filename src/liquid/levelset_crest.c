/* Crests throw off drops (`surface = "volume"`).
 *
 * A crest is where the surface is convex, sharper than cells show: its curvature k (1/m, the sum of both) is
 * above EASY / dx.  It throws where it goes out of the liquid, along its normal and beside the body of the
 * water that it comes from, faster than waves as short as it is sharp, which gravity and surface tension
 * carry away (g / k + sigma k / rho is the square of their speed), than friction lets it, and than it fell:
 *
 *     v^2 = w^2 - g / k - sigma k / rho - 2 nu k w - 2 g.x
 *
 * x from the body to the crest.  What leaves is a sheet as thick as the largest drops, l = sqrt(sigma /
 * (rho g)), at that speed: l (k - EASY / dx) v of an area and time.  The integral of k over a crest is the
 * angle by which it turns times its length, on any grid, and so goes what it throws. */
#include "base/maths.h"
#include "grid/sample.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

static const float BAND = 0.75f;    /* cells from the surface: where a crest is looked for */
static const float EASY = 0.5f;     /* 1/cells: curvature that cells show well */
static const float SHARPEST = 1.5f; /* 1/cells: more is noise */
static const float STEEP = 0.4f;    /* of phi's gradient: less is the middle of a thin sheet */
static const float FARTHEST = 12;   /* cells: how far the body may be */

/* Cells inside the liquid, below the crest: where what is thrown is taken from. */
static const float BELOW = 0.5f;

/* Some crests, UND_LANES of which are worked on at once; more may come while they wait. */
enum { ROOM = 2 * UND_LANES };
typedef struct crests {
    int count;
    int32_t at[ROOM];     /* their cells */
    float place[3][ROOM]; /* cells of the whole grid, on the surface */
    float normal[3][ROOM];
    float sharp[ROOM];   /* 1/cells */
    double thrown[ROOM]; /* what leaves in the step, of UND_VOLUME_ONE, once it is found */
} crests;

double und_levelset_crest_speed(double outwards, double sharp, double fallen, double pull, double tension,
                                double viscosity)
{
    const double held = pull / sharp + tension * sharp + 2 * viscosity * sharp * outwards;
    const double free = outwards * outwards - held - fmax(fallen, 0);
    return outwards > 0 && free > 0 ? sqrt(free) : 0;
}

/* The curvature: div (grad phi / |grad phi|), by central differences; 0 where there is no gradient. */
UND_INLINE und_lanes curvatures(const und_levelset *s, size_t at, und_lanes g[3], und_lanes *length)
{
    const ptrdiff_t *step = s->mac.step;
    const float *phi = s->surface.phi + at;
    const und_lanes own = und_lanes_load(phi);
    const int axes = s->mac.n[2] > 1 ? 3 : 2;
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
    const und_lanes sharp =
        und_lanes_min(here / und_lanes_max(1 - here * own, und_lanes_all(0.25f)), und_lanes_all(SHARPEST));
    return und_lanes_select(square > STEEP * STEEP, sharp, (und_lanes){0});
}

/* Adds those of `which` that are sharp, of the cells of a row from one on. */
static void add_crests(const und_levelset *s, size_t at, unsigned which, crests *c)
{
    const und_lanes phi = und_lanes_load(s->surface.phi + at);
    und_lanes g[3], length;
    const und_lanes sharp = curvatures(s, at, g, &length);
    const int first = c->count;
    int cell[3];
    which &= und_lanes_bits(sharp > EASY);
    if (!which)
        return;
    und_mac_cell(&s->mac, at, cell);
    for (unsigned bits = which; bits; bits &= bits - 1)
        c->at[c->count++] = (int32_t)at + __builtin_ctz(bits);
    und_lanes_pack(c->sharp + first, sharp, which);
    for (int a = 0; a < 3; a++) {
        const float low = (float)(s->mac.low[a] + cell[a]) + 0.5f;
        const und_lanes middle = a == 0 ? low + und_lanes_count() : und_lanes_all(low);
        const und_lanes normal = g[a] / length;
        und_lanes_pack(c->normal[a] + first, normal, which);
        und_lanes_pack(c->place[a] + first, middle - phi / length * normal, which);
    }
}

/* Goes down into the liquid, to where it is deepest, at most so many cells: in thin sheets along them. */
static void find_bodies(const und_levelset *s, const crests *c, und_lanes far, und_lanes body[3])
{
    const und_mac *m = &s->mac;
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
        und_sample_slopes(m, s->surface.phi, next, 0.5f, &phi, slope);
        const und_lanes length =
            und_lanes_sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
        goes &= ~(phi > depth + 0.1f);
        for (int a = 0; a < 3; a++) {
            body[a] = und_lanes_select(goes, next[a], body[a]);
            way[a] = und_lanes_select(goes & (length > STEEP), -slope[a] / length, way[a]);
        }
        depth = und_lanes_select(goes, phi, depth);
        gone = und_lanes_select(goes, gone + step, gone);
        goes &= gone < far;
    }
}

/* m2/s: the largest around, for only liquid has any. */
static double viscosity_at(const und_levelset *s, size_t at)
{
    const float *nu = und_levelset_viscosities(s);
    float most = nu ? 0 : (float)s->def.viscosity;
    for (int k = 0; nu && k < UND_VOLUME_AROUND; k++)
        most = fmaxf(most, nu[(ptrdiff_t)at + und_volume_step(&s->mac, k)]);
    return (double)most;
}

/* m/s at which the first of them throw.  The body is as far below as the flow's own speed lifts it. */
static void find_speeds(const und_levelset *s, const crests *c, int count, double speed[UND_LANES])
{
    const double pull = und_levelset_pull(s), dx = s->def.dx;
    und_lanes place[3], here[3], there[3], body[3], far = {0};
    for (int a = 0; a < 3; a++)
        place[a] = und_lanes_load(c->place[a]);
    und_sample_velocity(&s->mac, s->flow.u, place, here);
    for (int i = 0; i < count; i++) {
        double out = 0;
        for (int a = 0; a < 3; a++)
            out += (double)here[a][i] * (double)c->normal[a][i];
        far[i] = (float)fmin(pull > 0 ? out * out / (2 * pull * dx) : INFINITY, (double)FARTHEST);
    }
    find_bodies(s, c, far, body);
    und_sample_velocity(&s->mac, s->flow.u, body, there);
    for (int i = 0; i < count; i++) {
        double outwards = 0, fallen = 0;
        for (int a = 0; a < 3; a++) {
            outwards += ((double)here[a][i] - (double)there[a][i]) * (double)c->normal[a][i];
            fallen += 2 * s->def.gravity[a] * (double)(c->place[a][i] - body[a][i]) * dx;
        }
        speed[i] = und_levelset_crest_speed(outwards, (double)c->sharp[i] / dx, fallen, pull,
                                            UND_LEVELSET_TENSION / s->def.density,
                                            viscosity_at(s, (size_t)c->at[i]));
    }
}

/* What leaves of the first of them, UND_LANES at most. */
static void find_thrown(const und_levelset *s, crests *c)
{
    const int count = c->count < UND_LANES ? c->count : UND_LANES;
    const double dx = s->def.dx, pull = fmax(und_levelset_pull(s), 1e-3);
    const double most = sqrt(UND_LEVELSET_TENSION / s->def.density / pull);
    double speed[UND_LANES];
    find_speeds(s, c, count, speed);
    for (int i = 0; i < count; i++) {
        const float phi = s->surface.phi[c->at[i]];
        const double sharp = (double)(c->sharp[i] - EASY) / dx, thick = fmin(most, 1 / sharp);
        const double area =
            fmax(0, (double)(BAND - fabsf(phi)) / (double)(BAND * BAND)); /* of a cell's side */
        c->thrown[i] = thick * sharp * speed[i] * area * s->dt / dx * UND_VOLUME_ONE;
    }
}

/* Of UND_LANES cells those that may throw.  phi goes on into solids, and may be another side's at thin ones.
 */
static unsigned look_sharp(const void *context, size_t at)
{
    const und_levelset *s = context;
    const und_lanes phi = und_lanes_load(s->surface.phi + at);
    und_lanes_int near = (phi < und_lanes_all(BAND)) & (phi > und_lanes_all(-BAND));
    und_lanes g[3], length;
    if (!und_lanes_bits(near))
        return 0;
    if (s->solids.any)
        near &= ~((und_lanes_load(s->solids.distance + at) < 0) |
                  (und_lanes_bytes(s->solids.beside_thin + at) != 0));
    return und_lanes_bits(near & (curvatures(s, at, g, &length) > EASY));
}

/* The cell below a crest; false where it is a source's, not this grid's, or maybe behind a wall. */
static bool find_giver(const und_levelset *s, const float place[3], const float normal[3], size_t *at)
{
    const und_mac *m = &s->mac;
    const und_mask *held = s->elements ? und_elements_held(s->elements) : NULL;
    int cell[3];
    for (int a = 0; a < 3; a++) {
        cell[a] = (int)floorf(place[a] - BELOW * normal[a]) - m->low[a];
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    }
    *at = und_mac_at(m, cell[0], cell[1], cell[2]);
    return und_levelset_volumes(s)->parts->own[*at] && !(s->solids.any && s->solids.beside_thin[*at]) &&
           !(held && und_mask_has(held, cell[0], cell[1], cell[2]));
}

/* Those that throw, as threads find them: each cell's number among them, NONE where there are too many. */
typedef struct throwing {
    und_levelset *s;
    const und_levelset_breaking *drops;
    int32_t *number;
    und_levelset_crest *crest;
    int most, *found;
} throwing;
enum { NONE = -1 };

/* The i-th of some crests; false where there is nothing that it could be taken from. */
static bool crest_of(const und_levelset *s, const crests *c, int i, und_levelset_crest *to)
{
    *to = (und_levelset_crest){.place = {c->place[0][i], c->place[1][i], c->place[2][i]},
                               .normal = {c->normal[0][i], c->normal[1][i], c->normal[2][i]},
                               .due = c->thrown[i]};
    return c->thrown[i] > 0 && find_giver(s, to->place, to->normal, &to->from);
}

/* Where its number is not known, it is found anew. */
static void throw_off(const throwing *t, size_t at)
{
    und_levelset *s = t->s;
    int32_t *held = und_levelset_volume_cells(s);
    const int number = t->most > 0 ? t->number[at] : NONE;
    und_levelset_crest found, *crest = number != NONE ? t->crest + number : NULL;
    int cell[3];
    if (!crest) {
        crests c = {0};
        add_crests(s, at, 1, &c);
        if (c.count == 0)
            return;
        find_thrown(s, &c);
        if (!crest_of(s, &c, 0, crest = &found))
            return;
    }
    und_mac_cell(&s->mac, at, cell);
    const int32_t units = und_levelset_throw_off(s, cell, crest, held[crest->from] / 2);
    held[crest->from] -= units;
    und_levelset_volume_numbers(s)[UND_LEVELSET_THROWN] += units;
}

/* A crest that throws, and its drops. */
static void keep(const throwing *t, size_t at, const und_levelset_crest *c)
{
    const int number = t->most > 0 ? __atomic_fetch_add(t->found, 1, __ATOMIC_RELAXED) : t->most;
    int cell[3];
    if (t->most > 0)
        t->number[at] = number < t->most ? number : NONE;
    if (number >= t->most)
        return;
    t->crest[number] = *c;
    und_mac_cell(&t->s->mac, at, cell);
    und_levelset_ready_crest(t->drops, cell, t->crest + number);
}

/* Tells chunks, from *k on, which of their crests throw, of the first UND_LANES; the others are the first
 * then. */
static void finish(const throwing *t, und_volume_chunk **k, crests *c)
{
    enum { REST = UND_LANES * sizeof(float) };
    const int count = c->count < UND_LANES ? c->count : UND_LANES;
    find_thrown(t->s, c);
    for (int i = 0; i < count; i++) {
        und_levelset_crest crest;
        while (c->at[i] < (*k)->at || c->at[i] >= (*k)->at + UND_LANES) /* rows may lie in any order */
            (*k)++;
        if (!crest_of(t->s, c, i, &crest))
            continue;
        (*k)->some |= (uint16_t)(1u << (c->at[i] - (*k)->at));
        keep(t, (size_t)c->at[i], &crest);
    }
    memcpy(c->at, c->at + UND_LANES, REST);
    memcpy(c->sharp, c->sharp + UND_LANES, REST);
    for (int a = 0; a < 3; a++) {
        memcpy(c->place[a], c->place[a] + UND_LANES, REST);
        memcpy(c->normal[a], c->normal[a] + UND_LANES, REST);
    }
    c->count -= count;
}

/* Of a block of rows. */
static inline void find_throwing(const throwing *t, und_place p)
{
    const und_volume_parts *parts = und_levelset_volumes(t->s)->parts;
    und_volume_chunk *const begin = parts->chunk + parts->row_chunks[p.at],
                            *const end = parts->chunk + parts->row_chunks[p.at + (size_t)p.x], *told = begin;
    crests c = {0};
    for (und_volume_chunk *k = begin; k < end; k++) {
        k->some = 0;
        add_crests(t->s, (size_t)k->at, k->bits, &c);
        if (c.count >= UND_LANES)
            finish(t, &told, &c);
    }
    if (c.count > 0)
        finish(t, &told, &c);
}
UND_KERNEL(find_throwing, throwing, UND_EACH_BLOCK)

/* In what und_volume_borrow lends, but where that is to stay 0 in rows that are not there. */
static throwing throwing_of(und_levelset *s, const und_levelset_breaking *drops, int *found)
{
    const und_volume *v = und_levelset_volumes(s);
    const size_t room = v->mac.count * sizeof *v->parts->fraction / sizeof(und_levelset_crest);
    *found = 0;
    return (throwing){.s = s,
                      .drops = drops,
                      .number = v->parts->spare,
                      .crest = (und_levelset_crest *)(void *)v->parts->fraction,
                      .most = drops->most > 0 ? (int)room : 0,
                      .found = found};
}

void und_levelset_crests(und_levelset *s)
{
    und_volume *v = und_levelset_volumes(s);
    int used, found;
    if (!s->def.spray)
        return;
    und_volume_borrow(v);
    const und_levelset_breaking drops = und_levelset_breaking_of(s, &used);
    const throwing t = throwing_of(s, &drops, &found);
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    const und_pass look = UND_PASS(find_throwing, &t, &rows);
    und_volume_listing listing = {.v = v, .look = look_sharp, .context = s};
    und_step steps[UND_VOLUME_LIST_STEPS + 1] = {[UND_VOLUME_LIST_STEPS] = {.passes = &look, .count = 1}};
    und_volume_list_steps(&listing, steps);
    und_pass_steps(&s->device, steps, UND_VOLUME_LIST_STEPS + 1);
    for (int i = 0; i < v->parts->chunk_count; i++)
        UND_VOLUME_OF_CHUNK(v->parts->chunk + i, v->parts->chunk[i].some, at)
    throw_off(&t, at);
    und_volume_give_back(v);
}
