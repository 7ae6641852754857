/* What is drawn: phi, and on walls the films that are thinner than phi can show.
 *
 * A film's surface is as far from the wall as it is thick: the distance to the wall less that, which goes on
 * into the wall as straight, so that whoever looks for 0 between cells finds it.  Cells say how thick films
 * are; what is drawn is evened out along the wall, comes down to it where films end, and encloses what they
 * hold. */
#include "base/pages.h"
#include "base/status.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4 };                                       /* that look for what encloses it */
static const float THINNEST = 0.001f;                      /* cells: thinner films are not drawn */
static const float LEAST_AREA = 0.02f;                     /* of a cell's side: less is no wall */
static const float STEEP = 2.5f, RIM = 0.35f, DRY = -0.6f; /* from how much of the wall is wet to how thick */
static const float MOST = 2.5f;                            /* times as thick, in a round */
static const float REACH = 3;                              /* cells: from films to what is drawn of them */
static const float OPPOSITE = 0.1f; /* cosine: walls that face each other less than that */

/* A cell near a film. */
typedef struct spot {
    size_t at;
    float wall;       /* cells, to the nearest wall */
    float normal[3];  /* of that wall */
    int side;         /* the axis, where that is a side of the domain with a film; else -1 */
    float area;       /* of the wall in the cell; 0: there is none */
    float thick;      /* of the film on it, cells */
    float around;     /* of films around */
    bool known, next; /* is there something to draw; and in the next turn */
    float wet;        /* how much of the wall around is wet: 0 to 1 */
    float shown;      /* thickness of what is drawn; below 0 where nothing is */
    float enclosed;   /* what that makes in the cell */
} spot;

typedef struct show {
    und_volume *v;
    und_volume_arrays cells;
    const und_volume_walls *walls;
    const float *phi;
    float *shown; /* phi as it is drawn */
    spot *spots;
    int count;
    const int32_t *index; /* of a cell's spot, where mark says that it has one */
} show;

static bool is_chosen(const void *context, size_t at)
{
    return ((const und_volume *)context)->parts->to[at] != 0;
}

/* Cells that are chosen, and those around them. */
static void choose_around(und_volume *v, const uint8_t *chosen, uint8_t *all)
{
    const und_mac *m = &v->mac;
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++)
        for (int k = 0; k < UND_VOLUME_AROUND && chosen[at]; k++) {
            const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
            all[next] = v->parts->inside[next];
        }
}

/* Lists the cells within two of films. */
static void list_near(und_volume *v)
{
    UND_MAC_EACH_STRETCH(&v->mac, first, count)
    {
        memset(v->parts->mark + first, 0, count);
        memset(v->parts->to + first, 0, count);
    }
    choose_around(v, v->film, v->parts->mark);
    choose_around(v, v->parts->mark, v->parts->to);
    und_volume_list(v, NULL, is_chosen, v);
}

/* ---- Walls ---- */

/* The wall's area in a cell, as a vector into the liquid: what its open faces lack (Gauss). */
static float area_of(const show *s, size_t at, float normal[3])
{
    float sum = 0;
    for (int a = 0; a < 3; a++) {
        const size_t low = at - (size_t)s->v->mac.step[a];
        normal[a] = s->v->mac.n[a] > 1 ? s->walls->open[a][at] - s->walls->open[a][low] : 0;
        sum += normal[a] * normal[a];
    }
    return sqrtf(sum);
}

static float smaller_side(float low, float high, float normal[3], int axis, float best)
{
    if (low < best || high < best) {
        normal[0] = normal[1] = normal[2] = 0;
        normal[axis] = low < high ? 1 : -1;
    }
    return fminf(fminf(low, high), best);
}

/* How far the nearest wall is, and where to. */
static float wall_of(const show *s, size_t at, float normal[3])
{
    const und_mac *m = &s->v->mac;
    float best = INFINITY, sum = 0;
    int cell[3];
    normal[0] = normal[1] = normal[2] = 0;
    if (s->walls->room) {
        best = s->walls->distance[at];
        for (int a = 0; a < 3; a++) {
            const size_t step = (size_t)m->step[a];
            normal[a] = m->n[a] > 1 ? s->walls->distance[at + step] - s->walls->distance[at - step] : 0;
            sum += normal[a] * normal[a];
        }
        for (int a = 0; a < 3; a++)
            normal[a] /= sqrtf(fmaxf(sum, 1e-12f));
    }
    und_mac_cell(m, at, cell);
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++) {
        const float low = s->walls->closed[2 * a] ? (float)cell[a] + 0.5f : INFINITY;
        const float high = s->walls->closed[2 * a + 1] ? (float)(m->n[a] - cell[a]) - 0.5f : INFINITY;
        best = smaller_side(low, high, normal, a, best);
    }
    return best;
}

/* The nearest side of the domain with a film on it straight before a cell: in a corner that is the wall, be
 * another as near. */
static int side_of_film(const show *s, size_t at, float *wall, float normal[3])
{
    const und_mac *m = &s->v->mac;
    int cell[3], found = -1;
    und_mac_cell(m, at, cell);
    for (int way = 0; way < (m->n[2] > 1 ? 6 : 4); way++) {
        const int a = way / 2, off = way % 2 ? m->n[a] - 1 - cell[a] : cell[a];
        const size_t base = (size_t)((ptrdiff_t)at + (way % 2 ? off : -off) * m->step[a]);
        float distance, lies[3];
        if (m->n[a] < 2 || !s->walls->closed[way] || !((float)off + 0.5f < (found < 0 ? REACH : *wall)) ||
            !s->v->film[base] || !und_volume_leans(&s->cells, s->walls, base, &distance, lies) ||
            lies[a] != (way % 2 ? -1 : 1))
            continue;
        *wall = (float)off + 0.5f;
        memcpy(normal, lies, sizeof lies);
        found = a;
    }
    return found;
}

static const spot *spot_at(const show *s, size_t at)
{
    const und_volume_parts *p = s->v->parts;
    return p->inside[at] && p->mark[at] ? s->spots + s->index[at] : NULL;
}

/* What lies on the wall in a cell, and in those before and behind it, over the wall's area there: however a
 * slanted wall cuts them. */
static float thickness(const show *s, const spot *here)
{
    const ptrdiff_t *step = s->v->mac.step;
    float normal[3], held = 0, area = 0;
    int best = 0;
    if (!(here->area > 0))
        return 0;
    area_of(s, here->at, normal);
    for (int a = 1; a < 3; a++)
        best = fabsf(normal[a]) > fabsf(normal[best]) ? a : best;
    best = here->side < 0 ? best : here->side;
    for (int by = -1; by <= 1; by++) {
        const size_t next = (size_t)((ptrdiff_t)here->at + by * step[best]);
        const size_t between = by < 0 ? next : here->at;
        const spot *there = spot_at(s, next);
        if (!there || (by != 0 && !(s->walls->open[best][between] > 0)))
            continue;
        held += s->v->film[next] ? und_volume_cells(s->v->c[next]) : 0;
        area += there->area;
    }
    return held / area;
}

/* ---- What is drawn ---- */

/* The neighbours of a cell whose walls face the same way. */
typedef void visit_fn(const show *s, const spot *there, float weight, float sums[3]);

static void visit(const show *s, const spot *here, visit_fn *fn, float sums[3])
{
    sums[0] = sums[1] = sums[2] = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const spot *there = spot_at(s, (size_t)((ptrdiff_t)here->at + s->v->parts->around[k]));
        if (!there || (here->wall > 0 && !und_volume_linked(&s->v->mac, s->walls, here->at, k)))
            continue; /* out of a solid no way leads */
        const float same = here->normal[0] * there->normal[0] + here->normal[1] * there->normal[1] +
                           here->normal[2] * there->normal[2];
        if (same > OPPOSITE)
            fn(s, there, und_volume_weight(k), sums);
    }
}

static void add_thickness(const show *s, const spot *there, float weight, float sums[3])
{
    (void)s;
    sums[0] += there->thick > 0 ? weight * there->area : 0;
    sums[1] += weight * there->area * there->thick;
}

static bool is_liquid(const show *s, size_t at)
{
    return !s->v->film[at] && s->phi[at] < 0.5f;
}

/* How much of the wall is wet: where a film ends, as far as what is there reaches if it is as thick as the
 * film around it. */
static void add_wetness(const show *s, const spot *there, float weight, float sums[3])
{
    const float part = is_liquid(s, there->at) ? 1 : fminf(there->thick / fmaxf(there->around, 1e-6f), 1);
    sums[0] += weight * there->area;
    sums[1] += weight * there->area * part;
}

static void add_shown(const show *s, const spot *there, float weight, float sums[3])
{
    (void)s;
    sums[0] += there->known ? weight : 0;
    sums[1] += there->known ? weight * there->shown : 0;
}

static void add_volumes(const show *s, const spot *there, float weight, float sums[3])
{
    (void)s;
    sums[0] += weight * there->area * there->enclosed;
    sums[1] += weight * there->area * there->thick;
}

/* Thin at the rim, as thick as films around a cell further in. */
static float drawn(const spot *here)
{
    return here->around * fminf(fmaxf(STEEP * (here->wet - RIM), DRY), 1);
}

/* The mean over eight places in a cell of what is drawn, where there is something. */
static float enclosed(const show *s, const spot *here)
{
    const int axes = s->v->mac.n[2] > 1 ? 3 : 2, corners = 1 << axes;
    float mean = 0;
    for (int place = 0; place < corners; place++) {
        float sum = 0;
        for (int c = 0; c < corners; c++) {
            float weight = 1;
            ptrdiff_t next = (ptrdiff_t)here->at;
            for (int a = 0; a < axes; a++) {
                weight *= c >> a & 1 ? 0.25f : 0.75f;
                next += c >> a & 1 ? (place >> a & 1 ? 1 : -1) * s->v->mac.step[a] : 0;
            }
            const spot *there = spot_at(s, (size_t)next);
            sum += weight * (there && there->known ? there->shown : here->shown);
        }
        mean += fmaxf(sum, 0) / (float)corners;
    }
    return mean;
}

/* What is done to spots, to all of them or to those on walls, by passes. */
typedef void spot_fn(const show *s, spot *here);

typedef struct spots_args {
    const show *s;
    spot_fn *fn;
    bool on_walls;
} spots_args;

static inline void do_spots(const spots_args *a, und_place p)
{
    spot *const first = a->s->spots + p.at;
    for (spot *here = first; here < first + p.x; here++)
        if (!a->on_walls || here->area > 0)
            a->fn(a->s, here);
}
UND_KERNEL(do_spots, spots_args, UND_EACH_BLOCK)

enum { SPOTS = 128, WORTH = 8 }; /* at a time; cells of a plain pass that one costs as much as */

static void each_spot(const show *s, spot_fn *fn)
{
    const spots_args args = {s, fn, false};
    const und_set spots = und_set_list(s->spots, s->count, SPOTS, WORTH);
    und_pass(&s->v->device, do_spots, &args, &spots);
}
static void each_wall(const show *s, spot_fn *fn)
{
    const spots_args args = {s, fn, true};
    const und_set spots = und_set_list(s->spots, s->count, SPOTS, WORTH);
    und_pass(&s->v->device, do_spots, &args, &spots);
}

static void find_wall(const show *s, spot *here)
{
    float normal[3];
    here->wall = wall_of(s, here->at, here->normal);
    here->side = side_of_film(s, here->at, &here->wall, here->normal);
    here->area = area_of(s, here->at, normal);
    if (here->side >= 0)
        here->area = fabsf(normal[here->side]);
    here->area = here->area > LEAST_AREA ? here->area : 0;
    s->v->parts->spare[here->at] = (int32_t)(here - s->spots);
}

static void find_thickness(const show *s, spot *here)
{
    const float thick = thickness(s, here);
    here->thick = thick > THINNEST ? thick : 0;
    here->known = false;
}

static void find_spots(const show *s)
{
    const und_volume_parts *parts = s->v->parts;
    spot *next = s->spots;
    for (int i = 0; i < parts->listed[UND_VOLUME_LISTED]; i++)
        UND_VOLUME_OF_CHUNK(parts->chunk + i, parts->chunk[i].bits, at)
    (next++)->at = at;
    each_spot(s, find_wall);
    each_spot(s, find_thickness);
}

static void find_around(const show *s, spot *here)
{
    float sums[3];
    visit(s, here, add_thickness, sums);
    here->around = sums[0] > 0 ? sums[1] / sums[0] : 0;
}

static void find_wet(const show *s, spot *here)
{
    float sums[3];
    visit(s, here, add_wetness, sums);
    here->wet = sums[0] > 0 ? sums[1] / sums[0] : 0;
    if (here->thick > 0) /* what is but a cell wide */
        here->wet = fmaxf(here->wet, 0.5f);
    here->known = here->around > 0;
    here->shown = drawn(here);
}

static void enclose(const show *s, spot *here)
{
    here->enclosed = enclosed(s, here);
}

static void balance(const show *s, spot *here)
{
    float sums[3];
    visit(s, here, add_volumes, sums);
    if (sums[0] > 0)
        here->around *= fminf(fmaxf(sums[1] / sums[0], 1 / MOST), MOST);
    here->shown = drawn(here);
}

/* How thick it is drawn on the walls of cells. */
static void find_shown(const show *s)
{
    each_wall(s, find_around);
    each_wall(s, find_wet);
    for (int round = 0; round < ROUNDS; round++) {
        each_wall(s, enclose);
        each_wall(s, balance);
    }
}

/* On into walls, and away from them; in two turns, as far as cells are near. */
static void go_on(const show *s, spot *here)
{
    float sums[3] = {0};
    here->next = here->known;
    if (here->known)
        return;
    visit(s, here, add_shown, sums);
    here->next = sums[0] > 0;
    if (here->next)
        here->around = sums[1] / sums[0];
}
static void go_into_walls(const show *s, spot *here)
{
    here->next = here->known;
    if (here->wall < 0)
        go_on(s, here);
}
static void take_next(const show *s, spot *here)
{
    (void)s;
    here->shown = here->next && !here->known ? here->around : here->shown;
    here->known = here->next;
}

static void draw_spot(const show *s, spot *here)
{
    const float film = here->wall - here->shown;
    if (here->known)
        s->shown[here->at] = s->v->film[here->at] ? film : fminf(s->shown[here->at], film);
}

und_status und_volume_show(und_volume *v, const und_distance *d, const und_volume_walls *walls, float *shown,
                           und_error *err)
{
    und_distance_copy(d, shown);
    und_volume_find_films(v, d, walls);
    list_near(v);
    show s = {.v = v,
              .cells = und_volume_arrays_of(v),
              .walls = walls,
              .phi = d->phi,
              .shown = shown,
              .count = v->parts->listed[UND_VOLUME_CELLS],
              .index = v->parts->spare};
    if (s.count == 0)
        return UND_OK;
    if (!(s.spots = und_pages_alloc((size_t)s.count * sizeof *s.spots, "films", err)))
        return err->status;
    find_spots(&s);
    find_shown(&s);
    each_spot(&s, go_on);
    each_spot(&s, take_next);
    each_spot(&s, go_into_walls);
    each_spot(&s, take_next);
    each_spot(&s, draw_spot);
    und_pages_free(s.spots);
    return UND_OK;
}
