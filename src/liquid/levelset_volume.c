/* The level set holds its water: `surface = "volume"`.
 *
 * Beside phi each cell has what it holds (surface/volume.h), which nothing but sources, drains, open sides
 * and drops changes: the ledger measures that, and its correction is 0.  The pressure gives back what cells
 * hold too much or too little of. */
#include "base/maths.h"
#include "base/status.h"
#include "flow/mac_flow_parts.h"
#include "flow/solids_parts.h"
#include "grid/field.h"
#include "liquid/levelset_kernel.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double WATER = 1e-6;    /* m2/s: viscosity that slows films down where the scene gives none */
static const double CONTACT = 0.002; /* m: how thick a puddle of water is where its contact line stops */
static const float PIN_LEAST = 0.02f, PIN_MOST = 0.4f; /* cells */
static const float DEEP = -2.5f;             /* cells: further in all of what is too much is pressed out */
static const float THICK = -0.45f;           /* cells: so deep in a solid that it is no thin one */
static const double STILL = 0.1;             /* of sqrt(g dx): slower liquid is at rest to particles */
enum { BEHIND = 3 };                         /* cells: so deep sources are looked for */
enum { CARRIED = 2 + UND_SOLIDS_REACH + 2 }; /* cells: in a step, out of the solid, to one near there */
static const double MOST_POURED = 2;         /* times what the flow asks of sources */

struct und_levelset_volume {
    und_volume cells;
    float *before; /* phi, before sources and drains */
    float *room;   /* of cells on their side of walls too thin for the grid, where there are such */
    bool thin;
    float *gain; /* what cells gain in the step, of a cell */
    int64_t sum; /* of what cells hold, when phi had been fitted to it */
    double numbers[UND_LEVELSET_VOLUME_NUMBERS];
};

const float *und_levelset_volume_rooms(const und_levelset *s)
{
    return s->volume && s->volume->thin ? s->volume->room : s->solids.any ? s->solids.room : NULL;
}

und_volume_walls und_levelset_walls(const und_levelset *s)
{
    const und_solids *solids = &s->solids;
    und_volume_walls walls = {.open = {solids->open[0], solids->open[1], solids->open[2]}};
    if (solids->any) {
        walls.room = und_levelset_volume_rooms(s);
        walls.distance = solids->distance;
        walls.beside_thin = solids->beside_thin;
        walls.rest = !solids->push[0];
        memcpy(walls.gravity, s->def.gravity, sizeof walls.gravity);
    }
    for (int side = 0; side < UND_SIDES; side++)
        walls.closed[side] = !s->open[side];
    return walls;
}

double und_levelset_quantum(const und_levelset *s)
{
    return s->def.dx * s->def.dx * s->def.dx / UND_VOLUME_ONE;
}

bool und_levelset_has_volumes(const und_levelset_def *def)
{
    return def->surface_rule == UND_SURFACE_VOLUME;
}

#define FIELD(member, ...) UND_FIELD(struct und_levelset_volume, member, UND_AT_CELLS, ##__VA_ARGS__)

static const und_field fields[] = {FIELD(before), FIELD(room), FIELD(gain)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_levelset_volume_open(und_levelset *s, und_error *err)
{
    if (!und_levelset_has_volumes(&s->def))
        return UND_OK;
    static const char *const what = "the cells' volumes";
    struct und_levelset_volume *v = s->volume = und_alloc(1, sizeof *v, what, err);
    if (!v || und_volume_open(&v->cells, &s->mac, s->device.threads, s->scratch, err) ||
        und_field_open_all(v, fields, FIELDS, &(und_field_room){.mac = &s->mac}, what, err))
        return err->status;
    return UND_OK;
}

void und_levelset_volume_close(und_levelset *s)
{
    struct und_levelset_volume *v = s->volume;
    if (!v)
        return;
    und_volume_close(&v->cells);
    und_field_close_all(v, fields, FIELDS);
    free(v);
}

void und_levelset_volume_fill(und_levelset *s)
{
    if (!s->volume)
        return;
    und_levelset_volume_walls(s);
    const und_volume_walls walls = und_levelset_walls(s);
    und_volume_fill(&s->volume->cells, &s->surface, &walls);
}

double und_levelset_volume_fitted(const und_levelset *s)
{
    return (double)s->volume->sum * und_levelset_quantum(s);
}

double und_levelset_volume_sum(const und_levelset *s)
{
    return (double)und_volume_sum(&s->volume->cells) * und_levelset_quantum(s);
}

double und_levelset_volume_shown(const und_levelset *s)
{
    const und_volume_walls walls = und_levelset_walls(s);
    return und_volume_shown(&s->volume->cells, &s->surface, &walls) * UND_VOLUME_ONE *
           und_levelset_quantum(s);
}

double und_levelset_thrown(const und_levelset *s)
{
    return s->volume ? s->volume->numbers[UND_LEVELSET_THROWN] * und_levelset_quantum(s) : 0;
}

und_status und_levelset_volume_show(und_levelset *s, float *shown, und_error *err)
{
    if (!s->volume) {
        und_distance_copy(&s->surface, shown);
        return UND_OK;
    }
    const und_volume_walls walls = und_levelset_walls(s);
    und_volume_borrow(&s->volume->cells);
    const und_status status = und_volume_show(&s->volume->cells, &s->surface, &walls, shown, err);
    und_volume_give_back(&s->volume->cells);
    return status;
}

und_status und_levelset_volume_show_pieces(und_levelset *s, const float *shown, const und_frame *frame,
                                           und_error *err)
{
    if (!s->volume)
        return UND_OK;
    const und_volume_walls walls = und_levelset_walls(s);
    und_volume_borrow(&s->volume->cells);
    const und_status status =
        und_volume_show_pieces(&s->volume->cells, &s->surface, &walls, shown, frame, err);
    und_volume_give_back(&s->volume->cells);
    return status;
}

int32_t *und_levelset_volume_cells(const und_levelset *s)
{
    return s->volume->cells.c;
}

und_volume *und_levelset_volumes(const und_levelset *s)
{
    return &s->volume->cells;
}

double *und_levelset_volume_numbers(und_levelset *s)
{
    return s->volume->numbers;
}

void und_levelset_volume_shift(und_levelset *s)
{
    if (s->volume)
        und_volume_shift(&s->volume->cells, &s->mac);
}

/* ---- Solids ---- */

/* After solids were placed. */
void und_levelset_volume_walls(und_levelset *s)
{
    if (s->volume)
        s->volume->thin = und_solids_side_room(&s->solids, s->volume->room);
}

static und_covering covering_of(const und_levelset *s, const float *room)
{
    return (und_covering){.list = und_volume_list_args_of(&s->volume->cells),
                          .phi = s->surface.phi,
                          .distance = s->solids.distance,
                          .room = room};
}

/* Of what a solid hands on, what a cell with so much has no room for is told. */
static void squeeze(und_levelset *s, int solid, int32_t has, int32_t more, float room)
{
    const double over = (double)has + more - fmax((double)has, (double)room * UND_VOLUME_ONE);
    s->squeezed[solid] += fmax(fmin(over, more), 0) * und_levelset_quantum(s);
}

/* Whether what a solid has come over stays in it: there is nowhere to go, or as much there already as
 * is pressed together.  But a thin one would have left it behind by the next step. */
static bool stays(const und_volume *v, const float *distance, size_t at, size_t to)
{
    const bool thick = distance[at] < THICK;
    return und_volume_crowded(v->c[to]) || und_volume_crowded(v->c[at]) ||
           (thick && v->c[to] > UND_VOLUME_PRESSED * UND_VOLUME_ONE);
}

/* What a solid has come over goes along before it, to the side where it was. */
static void push_out(und_levelset *s, const und_volume_walls *walls, size_t at)
{
    und_volume *v = &s->volume->cells;
    const uint8_t passed = s->solids.parts->passed[at];
    const int solid = passed ? passed - 1 : s->solids.owner[at];
    int cell[3];
    size_t to;
    und_mac_cell(&s->mac, at, cell);
    const bool found = und_solids_find_side(&s->solids, und_solids_carried(&s->solids, solid, cell),
                                            walls->room, UND_COVERED_ROOM, v->parts->own, &to);
    const float before = und_volume_cells(v->c[at]) - s->volume->gain[at]; /* room */
    if (!found || stays(v, s->solids.distance, at, to)) {
        squeeze(s, solid, 0, before < UND_COVERED_ROOM ? 0 : v->c[at], 0); /* told once */
        return;
    }
    squeeze(s, solid, v->c[to], v->c[at], walls->room[to]);
    v->c[to] += v->c[at];
    v->c[at] = 0;
}

/* Now, as the pressure is to know what it pushes. */
void und_levelset_volume_passed(und_levelset *s)
{
    if (!s->volume)
        return;
    und_levelset_volume_walls(s);
    und_volume *v = &s->volume->cells;
    const und_volume_walls walls = und_levelset_walls(s);
    const und_covering covering = covering_of(s, walls.room);
    und_volume_get_cells(v, CARRIED);
    und_volume_list_by(v, UND_PASS(und_covered_mark, &covering, NULL));
    for (int i = 0; i < v->parts->listed[UND_VOLUME_LISTED]; i++)
        UND_VOLUME_OF_CHUNK(v->parts->chunk + i, v->parts->chunk[i].bits, at)
    push_out(s, &walls, at);
    und_volume_borrow(v);
    und_volume_leave_solids(v, &s->surface, &walls);
    und_volume_give_back(v);
}

static bool solids_move(const und_levelset *s)
{
    return s->solids.any && s->solids.push[0];
}

static und_excess_args excess_of(const und_levelset *s)
{
    return (und_excess_args){.mac = s->mac,
                             .c = s->volume->cells.c,
                             .gain = s->volume->gain,
                             .moving = solids_move(s),
                             .push = {s->solids.push[0], s->solids.push[1], s->solids.push[2]},
                             .beside_thin = s->solids.beside_thin,
                             .per_speed = (float)(s->dt / s->def.dx)};
}

/* Before solids move: how much more cells hold than they have room for. */
void und_levelset_volume_excess(und_levelset *s)
{
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    if (!s->volume || !solids_move(s))
        return;
    und_excess_args args = excess_of(s);
    args.room = s->solids.room; /* which depends on nothing but the time */
    und_pass(&s->device, und_excess, &args, &rows);
}

/* ---- Sources and drains ---- */

static bool pours_or_drains(const und_levelset *s)
{
    for (int i = 0; i < s->def.element_count; i++)
        if (s->def.elements[i].role == UND_ELEMENT_SOURCE || s->def.elements[i].role == UND_ELEMENT_DRAIN)
            return true;
    return false;
}

void und_levelset_volume_before(und_levelset *s)
{
    const und_mac *m = &s->mac;
    if (!s->volume || !pours_or_drains(s))
        return;
    UND_MAC_EACH_STRETCH(m, first, count)
    memcpy(s->volume->before + first, s->surface.phi + first, count * sizeof *s->volume->before);
}

/* How full cells of sources are: together they hold what their shapes do. */
static float fullness(const und_levelset *s, const und_mask *held)
{
    const und_mac *m = &s->mac;
    const und_volume_walls walls = und_levelset_walls(s);
    double room = 0;
    UND_MAC_EACH_ROW (m, row)
        for (int begin, end = -1; und_mask_stretch(held, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++)
                room += (double)und_volume_room(&walls, und_mac_row(m, row) + (size_t)x);
    room *= s->def.dx * s->def.dx * s->def.dx;
    return room > 0 ? (float)fmin(und_elements_fills(s->elements, &s->solids) / room, 1) : 1;
}

/* Whether the source that a cell is of pours: one that stands only fills its shape. */
static bool pours(const und_levelset *s, int x, int y, int z)
{
    const int source = und_elements_source_at(s->elements, x, y, z);
    const und_element_def *def = source < 0 ? NULL : &s->def.elements[source];
    bool moves = def && def->field.kind;
    for (int a = 0; def && a < 3; a++)
        moves = moves || def->field.value[a].fn || def->field.value[a].number != 0;
    return moves;
}

/* Cells of sources are that full, or full if they were fuller. */
static void fill_sources(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const und_volume_walls walls = und_levelset_walls(s);
    const und_mask *held = und_elements_held(s->elements);
    const float part = held ? fullness(s, held) : 1;
    int64_t poured = 0;
    for (int row = und_mac_next_row(m, 0); row < und_mac_rows(m) && held; row = und_mac_next_row(m, row + 1))
        for (int begin, end = -1; und_mask_stretch(held, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++) {
                const size_t at = und_mac_row(m, row) + (size_t)x;
                if (!s->volume->cells.parts->own[at])
                    continue;
                const float room = und_volume_room(&walls, at);
                const int32_t least = und_volume_units(part * room), most = und_volume_units(room);
                int32_t *c = &s->volume->cells.c[at], had = *c;
                *c = had < least ? least : had > most ? most : had;
                poured += *c - had;
                if (pours(s, x, row % m->n[1], row / m->n[1]))
                    s->volume->numbers[UND_LEVELSET_AHEAD] += *c - had;
            }
    und_ledger_add(&s->ledger.sources, &s->lost[0], (double)poured * und_levelset_quantum(s));
}

/* Where phi rose, a drain has taken what it encloses no more. */
static void drain(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const und_volume_walls walls = und_levelset_walls(s);
    const float *before = s->volume->before, *phi = s->surface.phi;
    int32_t *c = s->volume->cells.c;
    int64_t *of_row = s->volume->cells.parts->row_sum, drained = 0;
    UND_MAC_EACH_ROW (m, row) {
        of_row[row] = 0;
        for (size_t at = und_mac_row_begin(m, row); at < und_mac_row_end(m, row); at++) {
            if (!(phi[at] > before[at] && c[at] > 0 && s->volume->cells.parts->own[at]))
                continue;
            const float part = fminf(fmaxf(0.5f - phi[at], 0), 1);
            const int32_t most = und_volume_units(part * und_volume_room(&walls, at));
            of_row[row] += c[at] > most ? c[at] - most : 0;
            c[at] = c[at] > most ? most : c[at];
        }
    }
    und_volume_get_rows(&s->volume->cells, of_row, sizeof *of_row);
    UND_MAC_EACH_ROW (m, row)
        drained += of_row[row];
    und_ledger_add(&s->ledger.drains, &s->lost[1], (double)drained * und_levelset_quantum(s));
}

void und_levelset_volume_elements(und_levelset *s)
{
    if (!pours_or_drains(s))
        return;
    drain(s);
    fill_sources(s);
}

/* ---- The flow ---- */

void und_levelset_volume_keep(und_levelset *s, und_levelset_pressed *p)
{
    p->kept = p->film_count;
    if (s->volume)
        und_volume_keep_films(&s->volume->cells, p->film, p->film_count, s->flow.u);
}

void und_levelset_volume_free(und_levelset *s, const und_levelset_pressed *p)
{
    const und_volume_walls walls = und_levelset_walls(s);
    if (!s->volume)
        return;
    const int kept = solids_move(s) ? 0 : p->kept; /* solids push films along */
    und_volume_free_films(&s->volume->cells, &s->surface, &walls, p->film, kept, s->flow.u);
}

/* In shorter steps less of what is too much goes: or the speed that it makes would shorten steps, and these
 * make it faster, without end.  Steps of what falls from rest are so many times as long. */
static double shortest_step(const und_levelset *s)
{
    const double times = 16, pull = und_levelset_pull(s);
    return pull > 0 ? sqrt(s->def.courant * s->def.dx / pull) / times : 0;
}

const float *und_levelset_volume_gain(const und_levelset *s, const und_levelset_pressed *p,
                                      const float *grown, und_levelset_gaining *g)
{
    enum { AT_ONCE = 256 }; /* cells of gaps */
    *g = (und_levelset_gaining){.excess = excess_of(s),
                                .liquid = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->flow.liquid),
                                .closing = und_set_list(p->closing, p->closing_count, AT_ONCE, 1)};
    g->excess.phi = p->surface.phi;
    g->excess.room = und_levelset_volume_rooms(s);
    g->gaps = (und_closing_gaining){p->closing, g->excess.c, g->excess.room, g->excess.gain};
    g->excess.grown = grown;
    g->excess.half = 0.5f * (float)fmin(1, s->dt / shortest_step(s));
    g->excess.most = (float)(0.3 * s->def.courant); /* cells: so that it is no faster than the flow */
    g->excess.deep = DEEP;
    g->pass[0] = UND_PASS(und_gain_excess, &g->excess, &g->liquid);
    g->pass[1] = UND_PASS(und_closing_gain, &g->gaps, &g->closing);
    for (int i = 0; i < UND_LEVELSET_GAINING; i++)
        g->step[i] = (und_step){.passes = &g->pass[i], .count = 1};
    return g->excess.gain;
}

double und_levelset_asked(const und_levelset *s, int x, int y, int z)
{
    return s->volume ? (double)s->volume->gain[und_mac_at(&s->mac, x, y, z)] / s->last.dt : 0;
}

static float pin_of(const und_levelset *s)
{
    const float pin = (float)(CONTACT / s->def.dx);
    return pin < PIN_LEAST ? PIN_LEAST : pin < PIN_MOST ? pin : PIN_MOST;
}

static double viscosity_of(const und_levelset *s)
{
    return s->def.viscosity > WATER ? s->def.viscosity : WATER;
}

static und_volume_films films_of(und_levelset *s)
{
    const double *g = s->def.gravity;
    return (und_volume_films){.u = s->flow.u,
                              .dt = s->dt,
                              .dx = s->def.dx,
                              .gravity = {g[0], g[1], g[2]},
                              .pull = und_levelset_pull(s),
                              .viscosity = s->def.viscosity,
                              .viscosities =
                                  und_levelset_viscosity_varies(&s->def) ? und_levelset_viscosities(s) : NULL,
                              .least_viscosity = WATER,
                              .contact = pin_of(s)};
}

/* What is viscous slips along walls where nobody says that it sticks; but for films, which would run away. */
static bool layers_hold(const und_levelset *s)
{
    return s->volume && (s->def.stick || !und_levelset_is_viscous(&s->def));
}

int und_levelset_volume_slow_begin(und_levelset *s, und_volume_slowing *to)
{
    if (!layers_hold(s))
        return 0;
    const und_volume_walls walls = und_levelset_walls(s);
    und_volume_films films = films_of(s);
    films.dt = s->kick;
    return und_volume_slow_layers_begin(&s->volume->cells, &s->surface, &walls, &films, to);
}

void und_levelset_volume_slow_end(und_levelset *s)
{
    if (layers_hold(s))
        und_volume_slow_layers_end(&s->volume->cells);
}

void und_levelset_volume_slow(und_levelset *s)
{
    und_volume_slowing slowing;
    const int steps = und_levelset_volume_slow_begin(s, &slowing);
    und_pass_steps(&s->device, slowing.step, steps);
    und_levelset_volume_slow_end(s);
}

float *und_levelset_volume_leave_layers(const und_levelset *s, float *nu, float *left)
{
    if (!layers_hold(s))
        return nu;
    const und_volume_walls walls = und_levelset_walls(s);
    und_volume_leave_layers(&s->volume->cells, &s->surface, &walls, nu, left);
    return left;
}

typedef struct pouring {
    double asked;     /* what the flow takes out of held cells in the step, of UND_VOLUME_ONE */
    double stairs;    /* of that, what it takes in again on the way, where their sides are stairs */
    double again;     /* how much of that there is, as full as the cells beside are; */
    double from_back; /* and of what it takes in behind them */
    double had;       /* what they hold */
} pouring;

/* Whether no held cell is behind one, where the flow comes from. */
static bool is_back(const und_levelset *s, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    double flow[3], most = 0;
    for (int a = 0; a < 3; a++) {
        flow[a] = (double)s->flow.u[a][at] + (double)s->flow.u[a][at - (size_t)m->step[a]];
        most = fmax(most, fabs(flow[a]));
    }
    for (int k = 1; k <= BEHIND && most > 0; k++) {
        int from[3];
        for (int a = 0; a < 3; a++)
            from[a] = (int)floor(cell[a] + 0.5 - k * flow[a] / most);
        if (from[0] >= 0 && from[0] < m->n[0] && from[1] >= 0 && from[1] < m->n[1] && from[2] >= 0 &&
            from[2] < m->n[2] && und_mask_has(und_elements_held(s->elements), from[0], from[1], from[2]))
            return false;
    }
    return true;
}

static void add_pouring(const und_levelset *s, const und_volume_walls *walls, const int cell[3], pouring *p)
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    double in = 0, there = 0, stream = 0;
    for (int way = 0; way < (m->n[2] > 1 ? 6 : 4); way++) {
        const int a = way / 2, by = way % 2 ? 1 : -1;
        const size_t next = (size_t)((ptrdiff_t)at + by * m->step[a]), face = way % 2 ? at : next;
        const double flow = by * (double)s->flow.u[a][face] * (double)s->solids.open[a][face] * s->dt /
                            s->def.dx * UND_VOLUME_ONE;
        if (und_mask_has(und_elements_held(s->elements), cell[0] + by * (a == 0), cell[1] + by * (a == 1),
                         cell[2] + by * (a == 2)))
            continue;
        const float room = und_volume_room(walls, next), held = und_volume_cells(s->volume->cells.c[next]);
        p->asked += flow > 0 ? flow : 0;
        in -= flow < 0 ? flow : 0;
        const double comes = flow < 0 ? -flow * (double)(held < room ? held / room : 1) : 0;
        there += comes;
        stream += s->surface.phi[next] < 0 ? comes : 0;
    }
    const bool back = in > 0 && is_back(s, cell);
    p->stairs += back ? 0 : in;
    p->again += back ? 0 : there;
    p->from_back += back ? stream : 0;
    p->had += s->volume->cells.c[at];
}

static pouring pouring_of(const und_levelset *s)
{
    const und_mac *m = &s->mac;
    const und_mask *held = und_elements_held(s->elements);
    const und_volume_walls walls = und_levelset_walls(s);
    pouring p = {0};
    for (int row = und_mac_next_row(m, 0); row < und_mac_rows(m) && held;
         row = und_mac_next_row(m, row + 1)) {
        const int y = row % m->n[1], z = row / m->n[1];
        for (int begin, end = -1; und_mask_stretch(held, y, z, end, &begin, &end);)
            for (int x = begin; x < end; x++)
                add_pouring(s, &walls, (const int[3]){x, y, z}, &p);
    }
    return p;
}

/* What they are to give of that: what comes out of their shape is not what comes out of the cells whose
 * middles are in it. */
static double wanted_of_sources(const und_levelset *s, double asked)
{
    const double brings = s->elements ? und_elements_brings(s->elements, &s->solids, s->dt) : 0;
    return brings < 0 || (asked <= 0 && und_elements_held(s->elements)) ? asked
                                                                        : brings / und_levelset_quantum(s);
}

void und_levelset_volume_move(und_levelset *s)
{
    und_volume *v = &s->volume->cells;
    const und_volume_walls walls = und_levelset_walls(s);
    const double dx = s->def.dx;
    und_volume_films films = films_of(s);
    const float pin = films.contact;
    const float layer = (float)(sqrt(3 * viscosity_of(s) * s->dt) / dx);
    double *ahead = &s->volume->numbers[UND_LEVELSET_AHEAD];
    const pouring before = pouring_of(s);
    const double asked = before.asked - before.stairs, wanted = wanted_of_sources(s, asked);
    /* What they were filled with at first is the first that they bring. */
    const und_volume_inflow *inflow;
    double arrived;
    const int inflow_count = und_levelset_bands_arrive(s, &inflow, &arrived);
    const float poured = asked > 0 ? (float)fmin(fmax((wanted - *ahead) / asked, 0), MOST_POURED) : 0;
    const und_volume_flow flow = {.u = s->flow.u,
                                  .per_speed = s->dt / dx,
                                  .fastest = s->fastest,
                                  .layers = s->layers,
                                  .held = und_elements_held(s->elements),
                                  .poured = poured,
                                  .pin = pin,
                                  .stays = layer < pin ? layer : 0, /* drag knows of what is thicker */
                                  .step = (long)s->substeps,
                                  .inflow = inflow,
                                  .inflow_count = inflow_count,
                                  .leaves = s->bands ? und_levelset_bands_left : NULL,
                                  .context = s};
    /* Films may be further from the liquid than velocities are extended: those of their faces are to be
     * cleared again, as after a restart. */
    films.written = und_mac_flow_written_faces(&s->flow);
    und_volume_borrow(v);
    und_volume_run_films(v, &s->surface, &walls, &films);
    und_levelset_take_flow(s); /* which other grids have slowed down themselves */
    const int64_t left = und_volume_move(v, &s->surface, &walls, &flow);
    und_volume_give_back(v);
    und_levelset_book(s, und_levelset_held_gain(s));
    und_volume_settle_films(v, &s->surface, &walls, &flow);
    /* Less as much as a stream brought into them from behind. */
    const double came =
        fmin(pouring_of(s).had - before.had + (double)poured * before.asked, before.from_back + before.again);
    const double behind = before.from_back > 0 ? before.from_back / (before.from_back + before.again) : 0;
    *ahead -= asked > 0 ? wanted * (1 - behind * came / asked) : wanted;
    if (s->elements)
        fill_sources(s);
    if (arrived != 0)
        und_ledger_add(&s->ledger.sources, &s->lost[0], arrived * und_levelset_quantum(s));
    if (left != 0)
        und_ledger_add(&s->ledger.left, &s->lost[2], (double)left * und_levelset_quantum(s));
}

/* What sources were filled with is the first that they bring, and until then nothing comes out of them, while
 * the flow takes phi along: it waits for what cells hold. */
void und_levelset_volume_hold_back(und_levelset *s)
{
    if (!s->elements || !und_elements_held(s->elements) || !(s->volume->numbers[UND_LEVELSET_AHEAD] > 0))
        return;
    const und_ahead_args args = {.c = s->volume->cells.c,
                                 .distance = s->solids.any ? s->solids.distance : NULL,
                                 .phi = s->surface.phi};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    und_pass(&s->device, und_hold_back, &args, &rows);
}

/* ---- Control ---- */

/* What a cell gets where it is to gain so many parts of a cell: no more than it can count. */
static int32_t gained(int32_t has, float part)
{
    return und_volume_crowded(has) ? 0 : und_volume_units(und_volume_clip(part, UND_VOLUME_MOST / 2));
}

/* Cells get so many parts of a cell; how much that is, m3. */
double und_levelset_volume_grow(und_levelset *s, const float *grown)
{
    const und_mac *m = &s->mac;
    int64_t sum = 0;
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++) {
        const bool own = s->volume->cells.parts->own[at];
        const int32_t units = own ? gained(s->volume->cells.c[at], grown[at]) : 0;
        s->volume->cells.c[at] += units;
        sum += units;
    }
    return (double)sum * und_levelset_quantum(s);
}

/* Where the surface was shaped cells hold what it encloses. */
void und_levelset_volume_take_shape(und_levelset *s, const uint8_t *touched)
{
    const und_mac *m = &s->mac;
    const und_volume_walls walls = und_levelset_walls(s);
    const und_volume_arrays cells = und_volume_arrays_of(&s->volume->cells);
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++)
        if (touched[at])
            s->volume->cells.c[at] = und_volume_units(und_volume_part(&cells, &walls, s->surface.phi, at));
}

/* ---- The surface ---- */

/* Where the liquid is slower than STILL of what it gains in falling by a cell.  There nothing is lost that
 * particles would know of: they take the side that phi says, or those that are off, by as little as phi and
 * what cells hold drift apart in a long time, would stir it.  What there is of it is found in the same go. */
static void still_particles(und_levelset *s)
{
    uint8_t *still = s->volume->cells.parts->mark;
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    const und_still_args args = {.mac = s->mac,
                                 .u = {s->flow.u[0], s->flow.u[1], s->flow.u[2]},
                                 .still = still,
                                 .least = (float)(STILL * STILL * und_levelset_pull(s) * s->def.dx)};
    const und_volume_list_args cells = und_volume_list_args_of(&s->volume->cells);
    const und_pass passes[] = {UND_PASS(und_volume_sum_row, &cells, &rows),
                               UND_PASS(und_mark_still, &args, &rows)};
    und_level_set_particles_refit(s->particles, &s->surface, still, NULL,
                                  &(und_step){.passes = passes, .count = 2});
    s->volume->sum = und_volume_summed(&s->volume->cells);
}

void und_levelset_volume_fit(und_levelset *s)
{
    und_volume *v = &s->volume->cells;
    const und_volume_walls walls = und_levelset_walls(s);
    und_volume_borrow(v);
    if (solids_move(s)) {
        und_volume_leave_solids(v, &s->surface, &walls);
        const und_covering covering = covering_of(s, walls.room);
        und_volume_even(v, &walls, UND_PASS(und_passed_mark, &covering, NULL));
    }
    und_levelset_book(s, und_levelset_held_unpile(s));
    /* A viscous liquid is fitted at once: a disc that turns gets out of round where phi is late. */
    und_volume_fit(v, &s->surface, &walls, s->particles && !s->viscous && !(s->def.viscosity > 0));
    und_levelset_break_up(s, &walls);
    und_volume_give_back(v);
    und_levelset_crests(s);
    if (s->particles)
        still_particles(s);
    else
        s->volume->sum = und_volume_sum(v);
}

und_level_set_particles_lost und_levelset_volume_lost(const und_levelset *s)
{
    return und_volume_lost(&s->volume->cells, s->flow.u, s->dt / s->def.dx);
}
