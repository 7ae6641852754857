/* Grids that source others (Rasmussen et al. 2004, 5.4).
 *
 * A grid keeps what is in the cells along its open sides, three deep, after each substep.  One that lies
 * further down the flow covers these cells too: there phi and velocities are the other's, interpolated in
 * time, and held; what flows on over their border is what leaves the other grid, and booked as sources.
 *
 * Whatever is listed counts from the domain's corner, and only the part of it in the window is looked at. */
#include "base/status.h"
#include "grid/field.h"
#include "grid/reduce.h"
#include "liquid/levelset_bands_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

und_bands und_levelset_bands(const int n[3], const bool open[UND_SIDES], bool heat, bool volume)
{
    und_bands b = {.axes = n[2] > 1 ? 3 : 2, .heat = heat, .volume = volume};
    for (int side = 0; side < 2 * b.axes; side++) {
        int axis = side / 2, deep = n[axis] < UND_BAND ? n[axis] : UND_BAND;
        if (!open[side])
            continue;
        und_band *band = &b.band[b.count++];
        band->side = side;
        for (int a = 0; a < 3; a++) {
            band->low[a] = a == axis && side % 2 ? n[a] - deep : 0;
            band->n[a] = a == axis ? deep : n[a];
        }
        const size_t cells = (size_t)band->n[0] * (size_t)band->n[1] * (size_t)band->n[2];
        band->from[0] = b.values;
        b.values += cells;
        for (int a = 0; a < b.axes; a++) {
            band->from[a + 1] = b.values;
            b.values += (size_t)(band->n[0] + (a == 0)) * (size_t)(band->n[1] + (a == 1)) *
                        (size_t)(band->n[2] + (a == 2));
        }
        band->from[HEAT + 1] = b.values;
        b.values += heat ? cells : 0;
        band->from[VOLUME + 1] = b.values;
        b.values += volume ? cells : 0;
        band->gone = b.values;
        band->first_face = b.faces;
        b.faces += cells / (size_t)deep;
        b.values += volume ? UND_BAND_GONE * cells / (size_t)deep : 0;
    }
    return b;
}

static float *field_of(const und_levelset *s, int kind)
{
    return kind == CELLS ? s->surface.phi : kind == HEAT ? und_levelset_temperatures(s) : s->flow.u[kind];
}

/* The part of a row of cells, or of their high faces, that the window has: of its own cells; false: none. */
static bool clip_row(const und_mac *m, int kind, const int at[3], int count, und_span *part, int own[2])
{
    const int begin = at[0] - m->low[0], least = kind == 0 ? -1 : 0;
    own[0] = at[1] - m->low[1];
    own[1] = at[2] - m->low[2];
    part->begin = begin > least ? begin : least;
    part->end = begin + count < m->n[0] ? begin + count : m->n[0];
    return part->begin < part->end && own[0] >= -(kind == 1) && own[0] < m->n[1] && own[1] >= -(kind == 2) &&
           own[1] < m->n[2];
}

static void keep_row(void *context, const und_band *band, int kind, const int at[3], int count)
{
    und_levelset *s = context;
    float *to = s->bands->values + und_band_place(band, kind, at);
    und_span part;
    int own[2];
    const bool any = clip_row(&s->mac, kind, at, count, &part, own);
    if (!any || part.end - part.begin < count)
        for (int x = 0; x < count; x++)
            to[x] = s->bands->air[kind + 1];
    if (!any)
        return;
    const size_t from = und_mac_at(&s->mac, part.begin, own[0], own[1]);
    count = part.end - part.begin;
    to += part.begin + s->mac.low[0] - at[0];
    if (kind != VOLUME)
        memcpy(to, field_of(s, kind) + from, (size_t)count * sizeof *to);
    for (int x = 0; x < count && kind == VOLUME; x++)
        to[x] = (float)und_levelset_volume_cells(s)[from + (size_t)x] / UND_VOLUME_ONE;
}

/* Whole numbers up to 2^48 as two floats. */
static void put_whole(double number, float out[2])
{
    const double cells = floor(number / UND_VOLUME_ONE);
    out[0] = (float)cells;
    out[1] = (float)(number - cells * UND_VOLUME_ONE);
}
static double get_whole(const float from[2])
{
    return (double)from[0] * UND_VOLUME_ONE + (double)from[1];
}

static void keep_gone(struct und_levelset_bands *b, const und_band *band)
{
    const size_t faces =
        (size_t)band->n[0] * (size_t)band->n[1] * (size_t)band->n[2] / (size_t)band->n[band->side / 2];
    for (size_t i = 0; i < faces; i++) {
        float *out = b->values + band->gone + UND_BAND_GONE * i;
        for (int way = 0; way < WAYS; way++)
            put_whole(b->gone[band->first_face + i][way], out + 2 * way);
        memcpy(out + 4, b->speed[band->first_face + i], sizeof *b->speed);
    }
}

/* The band along a side; NULL: nobody keeps any. */
static const und_band *band_along(const und_levelset *s, int side)
{
    const struct und_levelset_bands *b = s->bands;
    for (int i = 0; b && b->gone && i < b->own.count; i++)
        if (b->own.band[i].side == side)
            return &b->own.band[i];
    return NULL;
}

void und_levelset_bands_left(void *context, int side, const int cell[3], int32_t amount)
{
    const und_levelset *s = context;
    const und_mac *m = &s->mac;
    const und_band *band = band_along(s, side);
    const int at[3] = {cell[0] + m->low[0], cell[1] + m->low[1], cell[2] + m->low[2]};
    const bool own = at[side / 2] == (side % 2 ? m->whole[side / 2] - 1 : 0); /* no side of the window's */
    if (band && own)
        s->bands->gone[band->first_face + und_band_face(band, at)][FLOW] += amount;
}

void und_levelset_bands_drop_left(und_levelset *s, const float place[3], const float speed[3], double amount)
{
    const und_band *band = NULL;
    int cell[3];
    for (int a = 0; a < 3; a++) {
        const int most = s->mac.whole[a] - 1, at = (int)floorf(fminf(fmaxf(place[a], -1), (float)most + 1));
        const int side = at < 0 ? 2 * a : at > most ? 2 * a + 1 : -1;
        if (side >= 0 && !band)
            band = band_along(s, side);
        cell[a] = at < 0 ? 0 : at > most ? most : at;
    }
    if (!band)
        return;
    const size_t face = band->first_face + und_band_face(band, cell);
    s->bands->gone[face][DROPS] += amount;
    memcpy(s->bands->speed[face], speed, sizeof *s->bands->speed);
}

int und_levelset_bands_state(und_levelset *s, und_state_field *list)
{
    struct und_levelset_bands *b = s->bands;
    int n = 0;
    if (b && b->gone) {
        list[n++] = und_state_field_of("band_gone", UND_F64, b->gone, WAYS * b->own.faces);
        list[n++] = und_state_field_of("band_speed", UND_F32, b->speed, 3 * b->own.faces);
    }
    if (b && b->taken)
        list[n++] = und_state_field_of("band_taken", UND_F64, b->taken, WAYS * (size_t)b->arrival_count);
    return n;
}

void und_levelset_bands_keep(und_levelset *s)
{
    struct und_levelset_bands *b = s->bands;
    if (!b || !b->values || b->trouble.status)
        return;
    for (int i = 0; i < b->own.count; i++) {
        const und_band *band = &b->own.band[i];
        const int high[3] = {band->low[0] + band->n[0], band->low[1] + band->n[1], band->low[2] + band->n[2]};
        und_band_each_row(&b->own, band, band->low, high, keep_row, s);
        if (b->gone)
            keep_gone(b, band);
    }
    const und_band_sink *sink = &s->def.sink;
    sink->put(sink->context, (long)s->recorded, s->time, b->values, &b->trouble);
    s->recorded++;
}

static und_status open_arrivals(und_levelset *s, und_error *err)
{
    struct und_levelset_bands *b = s->bands;
    und_levelset_bands_list_arrivals(s);
    const size_t count = (size_t)b->arrival_count + 1;
    if (!(b->arrivals = und_alloc(count, sizeof *b->arrivals, "bands", err)) ||
        !(b->taken = und_alloc(count, sizeof *b->taken, "bands", err)) ||
        !(b->inflow = und_alloc(count, sizeof *b->inflow, "bands", err)))
        return err->status;
    und_levelset_bands_list_arrivals(s);
    return UND_OK;
}

static und_status open_upstream(und_levelset *s, const und_upstream_def *def, upstream *up, und_error *err)
{
    up->bands = und_levelset_bands(def->n, def->open, def->heat, def->volume);
    if (def->volume != (s->volume != NULL))
        return und_error_set(err, UND_INVALID, "levelset: %s: one grid has the surface \"volume\"",
                             def->name);
    if ((def->n[2] > 1) != (s->mac.n[2] > 1))
        return und_error_set(err, UND_INVALID, "levelset: %s: one grid is two-dimensional", def->name);
    for (int a = 0; a < 3; a++) {
        double shift = (s->def.origin[a] - def->origin[a]) / s->def.dx;
        up->shift[a] = (int)lround(shift);
        if (!(fabs(shift - up->shift[a]) < 1e-3))
            return und_error_set(err, UND_INVALID, "levelset: %s: its cells are not those of this grid",
                                 def->name);
    }
    return UND_OK;
}

#define FIELD(member, at) UND_FIELD(struct und_levelset_bands, member, at)

enum { AT_VALUES = UND_AT_OWN };
static const und_field value_fields[] = {FIELD(values, AT_VALUES)};
static const und_field fields[] = {FIELD(marked, UND_AT_CELLS), FIELD(room, UND_AT_CELLS)};
enum { FIELDS = sizeof fields / sizeof *fields };

static void mark_row(const und_mac *m, const band_row *row, uint8_t *marked)
{
    const int at[3] = {row->x, row->y, row->z};
    und_span part;
    int own[2];
    if (row->kind == CELLS && clip_row(m, CELLS, at, row->count, &part, own))
        memset(marked + und_mac_at(m, part.begin, own[0], own[1]), 1, (size_t)(part.end - part.begin));
}

und_status und_levelset_bands_window(und_levelset *s, und_error *err)
{
    struct und_levelset_bands *b = s->bands;
    if (!b || b->count == 0)
        return UND_OK;
    struct und_levelset_bands own = {0};
    if (und_mask_open(&own.cells, &s->mac, "bands", err) != UND_OK ||
        und_field_open_all(&own, fields, FIELDS, &(und_field_room){.mac = &s->mac}, "bands", err) != UND_OK) {
        und_mask_close(&own.cells);
        und_field_close_all(&own, fields, FIELDS);
        return err->status;
    }
    und_mask_close(&b->cells);
    und_field_close_all(b, fields, FIELDS);
    b->cells = own.cells;
    b->marked = own.marked;
    b->room = own.room;
    for (int i = 0; i < b->row_count; i++)
        mark_row(&s->mac, &b->rows[i], b->marked);
    if (s->volume)
        und_volume_others(und_levelset_volumes(s), b->marked);
    return UND_OK;
}

static und_status open_taken(und_levelset *s, und_error *err)
{
    struct und_levelset_bands *b = s->bands;
    und_status status = UND_OK;
    b->count = s->def.upstream_count;
    b->list = und_alloc((size_t)b->count, sizeof *b->list, "bands", err);
    if (!b->list)
        return err->status;
    for (int i = 0; i < b->count && !status; i++)
        status = open_upstream(s, &s->def.upstreams[i], &b->list[i], err);
    if (status)
        return status;
    und_levelset_bands_list_rows(s, true);
    b->rows = und_alloc((size_t)b->row_count + 1, sizeof *b->rows, "bands", err);
    if (!b->rows)
        return err->status;
    und_levelset_bands_list_rows(s, false);
    und_levelset_bands_list_border(s);
    b->border = und_alloc((size_t)b->border_count + 1, sizeof *b->border, "bands", err);
    if (!b->border)
        return err->status;
    und_levelset_bands_list_border(s);
    if (s->volume)
        status = open_arrivals(s, err);
    return status == UND_OK ? und_levelset_bands_window(s, err) : status;
}

und_status und_levelset_bands_open(und_levelset *s, und_error *err)
{
    if (!s->def.sink.put && s->def.upstream_count == 0)
        return UND_OK;
    struct und_levelset_bands *b = s->bands = und_alloc(1, sizeof *b, "bands", err);
    if (!b)
        return err->status;
    b->air[CELLS + 1] = (float)s->layers;
    b->air[HEAT + 1] = s->heat ? und_levelset_heat_outside(s) : 0;
    b->own = und_levelset_bands(s->mac.whole, s->def.open, s->heat != NULL, s->volume != NULL);
    const size_t values = b->own.values + 1;
    if (s->def.sink.put &&
        und_field_open_all(b, value_fields, 1, &(und_field_room){.own = &values}, "bands", err) != UND_OK)
        return err->status;
    if (s->def.sink.put && s->volume &&
        (!(b->gone = und_alloc(b->own.faces + 1, sizeof *b->gone, "bands", err)) ||
         !(b->speed = und_alloc(b->own.faces + 1, sizeof *b->speed, "bands", err))))
        return err->status;
    return s->def.upstream_count > 0 ? open_taken(s, err) : UND_OK;
}

void und_levelset_bands_close(und_levelset *s)
{
    struct und_levelset_bands *b = s->bands;
    if (!b)
        return;
    und_mask_close(&b->cells);
    und_field_close_all(b, value_fields, 1);
    und_field_close_all(b, fields, FIELDS);
    free(b->list);
    free(b->rows);
    free(b->border);
    free(b->gone);
    free(b->speed);
    free(b->arrivals);
    free(b->taken);
    free(b->inflow);
    free(b);
}

und_status und_levelset_bands_trouble(const und_levelset *s, und_error *err)
{
    if (!s->bands || !s->bands->trouble.status)
        return UND_OK;
    *err = s->bands->trouble;
    return err->status;
}

static bool takes(const und_levelset *s)
{
    return s->bands && s->bands->count > 0;
}

static bool fetch(und_levelset *s, double time)
{
    struct und_levelset_bands *b = s->bands;
    for (int i = 0; i < b->count; i++) {
        const und_upstream_def *def = &s->def.upstreams[i];
        upstream *up = &b->list[i];
        up->value[0] = up->value[1] = NULL;
        if (!def->fetch)
            continue;
        und_error err = {0};
        und_status status = def->fetch(def->context, time, up->value, up->when, &err);
        if (status && status != UND_STOPPED)
            b->trouble = err;
        if (status)
            return false;
        const double span = up->when[1] - up->when[0], close = 1e-9 * fmax(1, fabs(time));
        up->part = span > 0 && time < up->when[1] - close ? fmin(fmax((time - up->when[0]) / span, 0), 1) : 1;
    }
    return true;
}

/* Of velocities, or of what cells have. */
static void take_rows(und_levelset *s, bool cells)
{
    const struct und_levelset_bands *b = s->bands;
    for (const band_row *row = b->rows; row < b->rows + b->row_count; row++) {
        const upstream *up = &b->list[row->upstream];
        const bool of_cells = row->kind == CELLS || row->kind == HEAT || row->kind == VOLUME;
        if (of_cells != cells || !up->value[0] || (row->kind == HEAT && !s->heat))
            continue;
        const float *before = up->value[0] + row->from, *after = up->value[1] + row->from;
        const float part = (float)up->part;
        const int at[3] = {row->x, row->y, row->z};
        und_span span;
        int own[2];
        if (!clip_row(&s->mac, row->kind, at, row->count, &span, own))
            continue;
        const size_t first = und_mac_at(&s->mac, row->x - s->mac.low[0], own[0], own[1]);
        const int begin = span.begin + s->mac.low[0] - row->x, end = begin + span.end - span.begin;
        for (int i = begin; i < end; i++) {
            const float now = before[i] + part * (after[i] - before[i]);
            if (row->kind == VOLUME)
                und_levelset_volume_cells(s)[first + (size_t)i] = (int32_t)(now * UND_VOLUME_ONE);
            else
                field_of(s, row->kind)[first + (size_t)i] = now;
        }
        if (!cells)
            und_mac_flow_written(&s->flow, row->kind, span.begin, own[0], own[1], span.end - span.begin);
    }
}

void und_levelset_take_flow(und_levelset *s)
{
    if (takes(s))
        take_rows(s, false);
}

void und_levelset_take_surface(und_levelset *s, bool last)
{
    if (!takes(s))
        return;
    take_rows(s, true);
    und_distance_refresh(&s->surface);
    if (last && s->particles)
        und_level_set_particles_renew(s->particles, &s->surface, s->solids.any ? s->solids.distance : NULL,
                                      s->bands->marked);
}

/* The substep goes to a time that the first of the other grids has kept, or is an even part of the way to its
 * next: between those times what is thin and fast is blurred. */
static double step_between(const und_levelset *s, double longest)
{
    const upstream *up = &s->bands->list[0];
    const double now = s->time, close = 1e-9 * fmax(1, fabs(s->end));
    double to = now + longest;
    if (up->value[0] && up->when[0] > now + close)
        to = up->when[0];
    else if (up->value[0] && up->when[1] > now + close)
        to = now + (up->when[1] - now) / ceil((up->when[1] - now - close) / longest);
    return to >= s->end - close ? s->left : to - now;
}

bool und_levelset_bands_begin(und_levelset *s)
{
    if (!takes(s) || s->substeps > 0)
        return true;
    if (!fetch(s, s->time))
        return false;
    und_levelset_move_window(s);
    und_levelset_take_surface(s, true);
    und_levelset_take_flow(s);
    und_mac_flow_label(&s->flow, &s->surface, &s->solids);
    und_levelset_find_speeds(s);
    return true;
}

bool und_levelset_bands_ready(und_levelset *s, double longest)
{
    struct und_levelset_bands *b = s->bands;
    if (!takes(s))
        return true;
    if (!fetch(s, longest < s->left ? s->time + longest : s->end))
        return false;
    b->dt = step_between(s, longest);
    return fetch(s, b->dt < s->left ? s->time + b->dt : s->end);
}

void und_levelset_bands_step(und_levelset *s)
{
    if (!takes(s))
        return;
    s->dt = s->bands->dt;
    s->last_two_equal = 0; /* each is chosen anew */
}

const und_mask *und_levelset_bands_cells(und_levelset *s, const und_mask *held)
{
    (void)held;
    if (!takes(s))
        return NULL;
    struct und_levelset_bands *b = s->bands;
    und_mask_clear(&b->cells);
    for (const band_row *row = b->rows; row < b->rows + b->row_count; row++) {
        const int at[3] = {row->x, row->y, row->z};
        und_span part;
        int own[2];
        if (row->kind != CELLS || !clip_row(&s->mac, CELLS, at, row->count, &part, own))
            continue;
        for (int x = part.begin; x < part.end; x++)
            if (und_mask_has(&s->flow.liquid, x, own[0], own[1]))
                und_mask_add(&b->cells, x, own[0], own[1]);
    }
    return &b->cells;
}

/* A cell of the domain in the window's arrays; false: it has none. */
static bool own_cell(const und_mac *m, const int at[3], size_t *cell)
{
    const int own[3] = {at[0] - m->low[0], at[1] - m->low[1], at[2] - m->low[2]};
    for (int a = 0; a < 3; a++)
        if (own[a] < 0 || own[a] >= m->n[a])
            return false;
    *cell = und_mac_at(m, own[0], own[1], own[2]);
    return true;
}

/* As what leaves by a side is found (levelset_edges.c): the two must agree. */
double und_levelset_bands_inflow(const und_levelset *s, const float *phi)
{
    und_sum_tree sum = und_sum_from(0);
    for (int i = 0; takes(s) && i < s->bands->border_count; i++) {
        const border_face *f = &s->bands->border[i];
        size_t cell;
        if (!own_cell(&s->mac, f->cell, &cell)) {
            und_sum_add(&sum, 0);
            continue;
        }
        const size_t step = (size_t)s->mac.step[f->axis], face = f->out > 0 ? cell : cell - step,
                     inner = !f->inner    ? cell
                             : f->out > 0 ? cell - step
                                          : cell + step;
        double at_face = (double)phi[cell] + 0.5 * ((double)phi[cell] - (double)phi[inner]);
        double wet = fmin(fmax(0.5 - at_face, 0), 1);
        und_sum_add(&sum,
                    f->out * (double)s->flow.u[f->axis][face] * wet * (double)s->solids.open[f->axis][face]);
    }
    return und_sum_end(&sum) * s->def.dx * s->def.dx;
}

/* What comes by a face up to the end of the substep: so many whole numbers more than so far.  At times that
 * the other grid has it is all that left there.  Drops come when it has them. */
static double coming(const und_levelset *s, int i, int way)
{
    const struct und_levelset_bands *b = s->bands;
    const double most = 32.0 * UND_VOLUME_ONE; /* at once: cells are not to hold more than they can count */
    const arrival *a = &b->arrivals[i];
    const upstream *up = &b->list[a->upstream];
    size_t cell;
    if (!up->value[0] ||
        (own_cell(&s->mac, a->at, &cell) && fabs((double)und_levelset_volume_cells(s)[cell]) > most))
        return 0;
    const double before = get_whole(up->value[0] + a->from + 2 * way),
                 after = get_whole(up->value[1] + a->from + 2 * way);
    const double part = way == DROPS ? floor(up->part) : up->part;
    const double more = floor(before + part * (after - before)) - b->taken[i][way];
    return fmin(fmax(more, 0), most);
}

/* One drop of all that have come by a face; how much it has. */
static int32_t throw_on(und_levelset *s, const arrival *a, double amount)
{
    const upstream *up = &s->bands->list[a->upstream];
    const float *values = up->value[up->part < 1 ? 0 : 1] + a->from + 4;
    double place[3], speed[3];
    for (int k = 0; k < 3; k++) {
        place[k] = und_mac_middle(&s->mac, k, a->at[k] - s->mac.low[k]);
        speed[k] = (double)values[k];
    }
    return und_levelset_volume_throw(s, place, speed, amount);
}

int und_levelset_bands_arrive(und_levelset *s, const und_volume_inflow **inflow, double *amount)
{
    struct und_levelset_bands *b = s->bands;
    double sum = 0;
    int count = 0;
    for (int i = 0; takes(s) && i < b->arrival_count; i++) {
        const arrival *a = &b->arrivals[i];
        size_t cell;
        if (!own_cell(&s->mac, a->at, &cell)) /* the window reaches wherever something comes */
            continue;
        const double flow = coming(s, i, FLOW), drops = coming(s, i, DROPS);
        const double now = flow + drops - (drops > 0 ? throw_on(s, a, drops) : 0);
        b->inflow[count++] = (und_volume_inflow){a->out > 0 ? cell - (size_t)s->mac.step[a->axis] : cell,
                                                 cell, a->axis, (int32_t)(a->out * now)};
        b->taken[i][FLOW] += flow;
        b->taken[i][DROPS] += drops;
        sum += flow + drops;
    }
    *inflow = takes(s) ? b->inflow : NULL;
    *amount = sum;
    return count;
}

/* Of a row of cells, or of what they hold, the part with liquid now or then. */
static und_span wet_part(const struct und_levelset_bands *b, const band_row *row)
{
    const upstream *up = &b->list[row->upstream];
    const float *before = up->value[0] + row->from, *after = up->value[1] + row->from;
    und_span part = {row->count, 0};
    for (int i = 0; i < row->count; i++)
        if (row->kind == VOLUME ? before[i] != 0 || after[i] != 0 : before[i] < 1 || after[i] < 1) {
            part.begin = i < part.begin ? i : part.begin;
            part.end = i + 1;
        }
    return part;
}

void und_levelset_bands_each_box(const und_levelset *s, und_control_box_fn *fn, void *context)
{
    const struct und_levelset_bands *b = s->bands;
    for (int i = 0; takes(s) && i < b->row_count; i++) {
        const band_row *row = &b->rows[i];
        if ((row->kind != CELLS && row->kind != VOLUME) || !b->list[row->upstream].value[0])
            continue;
        const und_span part = wet_part(b, row);
        const int low[3] = {row->x + part.begin, row->y, row->z},
                  high[3] = {row->x + part.end, row->y + 1, row->z + 1};
        if (part.begin < part.end)
            fn(context, low, high);
    }
    for (int i = 0; takes(s) && i < b->arrival_count; i++) {
        const int *at = b->arrivals[i].at, high[3] = {at[0] + 1, at[1] + 1, at[2] + 1};
        if (coming(s, i, FLOW) > 0 || coming(s, i, DROPS) > 0)
            fn(context, at, high);
    }
}

const float *und_levelset_counted(const und_levelset *s)
{
    const float *plain = s->solids.plain_room;
    if (!takes(s))
        return plain;
    float *room = s->bands->room;
    const uint8_t *marked = s->bands->marked;
    for (size_t i = 0; i < s->mac.count; i++)
        room[i] = marked[i] ? 0 : plain ? plain[i] : 1;
    return room;
}

bool und_levelset_band_at(const und_levelset *s, size_t cell)
{
    return takes(s) && s->bands->marked[cell];
}
