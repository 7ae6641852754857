/* Grids that source others (Rasmussen et al. 2004, 5.4).
 *
 * A grid keeps what is in the cells along its open sides, three deep, after each substep.  One that lies
 * further down the flow covers these cells too: there phi and velocities are the other's, interpolated in
 * time, and held; what flows on over their border is what leaves the other grid, and booked as sources. */
#include "base/status.h"
#include "grid/field.h"
#include "grid/reduce.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a row: phi, the temperature, or what cells hold; else the axis of its faces. */
enum { CELLS = -1, HEAT = 3, VOLUME = 4 };
enum { FLOW, DROPS, WAYS }; /* how liquid goes from grid to grid where cells have volumes */

/* Neighbours along x: cells, or their high faces along an axis. */
typedef struct band_row {
    int upstream, kind;
    int x, y, z, count;
    size_t from; /* in the values of the other grid */
} band_row;

/* A face that the border of the held cells has in the domain. */
typedef struct border_face {
    size_t face, cell, inner; /* the held cell at it, and the one behind that; cell again: none is held */
    int axis;
    double out; /* 1: out is up the axis, or -1 */
} border_face;

/* A face that the other grid's liquid leaves by into a cell of this one. */
typedef struct arrival {
    int upstream;
    size_t from; /* in the values of the other grid */
    size_t face, cell;
    int axis, at[3];
    double out; /* as of a border_face */
} arrival;

typedef struct upstream {
    und_bands bands;
    int shift[3]; /* from a cell here to the same one there */
    const float *value[2];
    double when[2];
    double part; /* of the second; the rest is the first's */
} upstream;

struct und_levelset_bands {
    und_bands own;
    float *values;
    und_error trouble;
    int count, row_count, border_count;
    double dt; /* of the substep ahead */
    upstream *list;
    band_row *rows;
    border_face *border;
    uint8_t *marked; /* [mac.count]: held */
    float *room;     /* [mac.count]: the part of a cell that this grid's ledger counts */
    und_mask cells;
    /* Where cells have volumes, in whole numbers of UND_VOLUME_ONE: */
    double (*gone)[WAYS]; /* what has left by faces of open sides since the start */
    float (*speed)[3];    /* of the last drop that did, m/s */
    int arrival_count;
    arrival *arrivals;
    double (*taken)[WAYS]; /* what has come by each since the start */
    und_volume_inflow *inflow;
};

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

/* Where in a grid's values that of a cell is, or of its high face along an axis. */
static size_t place_in(const und_band *b, int kind, const int at[3])
{
    size_t k[3], n[3];
    for (int a = 0; a < 3; a++) {
        k[a] = (size_t)(at[a] - b->low[a] + (a == kind));
        n[a] = (size_t)(b->n[a] + (a == kind));
    }
    return b->from[kind + 1] + (k[2] * n[1] + k[1]) * n[0] + k[0];
}

static bool has(const und_bands *b, int kind)
{
    return kind == HEAT ? b->heat : kind == VOLUME ? b->volume : kind < b->axes;
}

/* Each row of cells of a band, and of their faces. */
typedef void row_fn(void *context, const und_band *band, int kind, const int low[3], int count);

static void for_rows(const und_bands *b, const und_band *band, const int low[3], const int high[3],
                     row_fn *fn, void *context)
{
    for (int kind = CELLS; kind <= VOLUME; kind++)
        for (int z = low[2] - (kind == 2); has(b, kind) && z < high[2]; z++)
            for (int y = low[1] - (kind == 1); y < high[1]; y++) {
                const int at[3] = {low[0] - (kind == 0), y, z};
                fn(context, band, kind, at, high[0] - at[0]);
            }
}

static float *field_of(const und_levelset *s, int kind)
{
    return kind == CELLS ? s->surface.phi : kind == HEAT ? und_levelset_temperatures(s) : s->flow.u[kind];
}

static void keep_row(void *context, const und_band *band, int kind, const int at[3], int count)
{
    und_levelset *s = context;
    const size_t from = und_mac_at(&s->mac, at[0], at[1], at[2]);
    float *to = s->bands->values + place_in(band, kind, at);
    if (kind != VOLUME)
        memcpy(to, field_of(s, kind) + from, (size_t)count * sizeof *to);
    for (int x = 0; x < count && kind == VOLUME; x++)
        to[x] = (float)und_levelset_volume_cells(s)[from + (size_t)x] / UND_VOLUME_ONE;
}

/* Which face of its side that of a cell is. */
static size_t face_in(const und_band *b, const int at[3])
{
    const int axis = b->side / 2, i = axis == 0 ? 1 : 0, j = axis == 2 ? 1 : 2;
    return (size_t)(at[j] - b->low[j]) * (size_t)b->n[i] + (size_t)(at[i] - b->low[i]);
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
    const und_band *band = band_along(s, side);
    if (band)
        s->bands->gone[band->first_face + face_in(band, cell)][FLOW] += amount;
}

void und_levelset_bands_drop_left(und_levelset *s, const float place[3], const float speed[3], double amount)
{
    const und_band *band = NULL;
    int cell[3];
    for (int a = 0; a < 3; a++) {
        const int most = s->mac.n[a] - 1, at = (int)floorf(fminf(fmaxf(place[a], -1), (float)most + 1));
        const int side = at < 0 ? 2 * a : at > most ? 2 * a + 1 : -1;
        if (side >= 0 && !band)
            band = band_along(s, side);
        cell[a] = at < 0 ? 0 : at > most ? most : at;
    }
    if (!band)
        return;
    const size_t face = band->first_face + face_in(band, cell);
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
        for_rows(&b->own, band, band->low, high, keep_row, s);
        if (b->gone)
            keep_gone(b, band);
    }
    const und_band_sink *sink = &s->def.sink;
    sink->put(sink->context, (long)s->recorded, s->time, b->values, &b->trouble);
    s->recorded++;
}

/* The part of another grid's band that lies in the domain, as rows. */
typedef struct row_list {
    und_levelset *s;
    int upstream;
    bool counts; /* only */
} row_list;

static void add_row(void *context, const und_band *band, int kind, const int at[3], int count)
{
    const row_list *l = context;
    struct und_levelset_bands *b = l->s->bands;
    const upstream *up = &b->list[l->upstream];
    const int there[3] = {at[0] + up->shift[0], at[1] + up->shift[1], at[2] + up->shift[2]};
    if (!l->counts)
        b->rows[b->row_count] =
            (band_row){l->upstream, kind, at[0], at[1], at[2], count, place_in(band, kind, there)};
    if (!l->counts && kind == CELLS)
        memset(b->marked + und_mac_at(&l->s->mac, at[0], at[1], at[2]), 1, (size_t)count);
    b->row_count++;
}

static void list_rows(und_levelset *s, bool counts)
{
    struct und_levelset_bands *b = s->bands;
    b->row_count = 0;
    for (int u = b->count - 1; u >= 0; u--) /* the first has the last word */
        for (int i = 0; i < b->list[u].bands.count; i++) {
            const upstream *up = &b->list[u];
            const und_band *band = &up->bands.band[i];
            int low[3], high[3];
            bool any = true;
            for (int a = 0; a < 3; a++) {
                int from = band->low[a] - up->shift[a], to = from + band->n[a];
                low[a] = from > 0 ? from : 0;
                high[a] = to < s->mac.n[a] ? to : s->mac.n[a];
                any = any && low[a] < high[a];
            }
            row_list list = {s, u, counts};
            if (any)
                for_rows(&up->bands, band, low, high, add_row, &list);
        }
}

/* Faces between cells that are held and others of the domain; counts them where there is no list yet. */
static void list_border(und_levelset *s)
{
    struct und_levelset_bands *b = s->bands;
    const und_mac *m = &s->mac;
    b->border_count = 0;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++)
                for (int side = 0; side < 2 * (m->n[2] > 1 ? 3 : 2); side++) {
                    const int axis = side / 2, at[3] = {x, y, z}, next = at[axis] + (side % 2 ? 1 : -1);
                    size_t cell = und_mac_at(m, x, y, z), step = (size_t)m->step[axis];
                    size_t beyond = side % 2 ? cell + step : cell - step, inner = 2 * cell - beyond;
                    if (!b->marked[cell] || next < 0 || next >= m->n[axis] || b->marked[beyond])
                        continue;
                    if (b->border)
                        b->border[b->border_count] =
                            (border_face){side % 2 ? cell : beyond, cell, b->marked[inner] ? inner : cell,
                                          axis, side % 2 ? 1 : -1};
                    b->border_count++;
                }
}

/* A face of another grid's open side, of the cell `there` of that, if this grid has a cell of its own beyond;
 * counts it where there is no list yet. */
static void add_arrival(und_levelset *s, int which, const und_band *band, const int there[3])
{
    struct und_levelset_bands *b = s->bands;
    const und_mac *m = &s->mac;
    const int axis = band->side / 2, up = band->side % 2;
    arrival a = {.upstream = which, .axis = axis, .out = up ? 1 : -1};
    for (int k = 0; k < 3; k++) {
        a.at[k] = there[k] - b->list[which].shift[k] + (k == axis ? 2 * up - 1 : 0);
        if (a.at[k] < 0 || a.at[k] >= m->n[k])
            return;
    }
    a.cell = und_mac_at(m, a.at[0], a.at[1], a.at[2]);
    a.face = up ? a.cell - (size_t)m->step[axis] : a.cell;
    a.from = band->gone + UND_BAND_GONE * face_in(band, there);
    if (b->marked[a.cell])
        return;
    if (b->arrivals)
        b->arrivals[b->arrival_count] = a;
    b->arrival_count++;
}

static void list_arrivals(und_levelset *s)
{
    struct und_levelset_bands *b = s->bands;
    b->arrival_count = 0;
    for (int u = 0; u < b->count; u++)
        for (int i = 0; i < b->list[u].bands.count; i++) {
            const und_band *band = &b->list[u].bands.band[i];
            int low[3], high[3];
            for (int a = 0; a < 3; a++) {
                low[a] = band->low[a];
                high[a] = band->low[a] + band->n[a];
            }
            if (band->side % 2)
                low[band->side / 2] = high[band->side / 2] - 1;
            else
                high[band->side / 2] = low[band->side / 2] + 1;
            for (int z = low[2]; z < high[2]; z++)
                for (int y = low[1]; y < high[1]; y++)
                    for (int x = low[0]; x < high[0]; x++)
                        add_arrival(s, u, band, (const int[3]){x, y, z});
        }
}

static und_status open_arrivals(und_levelset *s, und_error *err)
{
    struct und_levelset_bands *b = s->bands;
    list_arrivals(s);
    const size_t count = (size_t)b->arrival_count + 1;
    if (!(b->arrivals = und_alloc(count, sizeof *b->arrivals, "bands", err)) ||
        !(b->taken = und_alloc(count, sizeof *b->taken, "bands", err)) ||
        !(b->inflow = und_alloc(count, sizeof *b->inflow, "bands", err)))
        return err->status;
    list_arrivals(s);
    und_volume_others(und_levelset_volumes(s), b->marked);
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

static und_status open_taken(und_levelset *s, und_error *err)
{
    struct und_levelset_bands *b = s->bands;
    und_status status = und_mask_open(&b->cells, &s->mac, "bands", err);
    b->count = s->def.upstream_count;
    b->list = und_alloc((size_t)b->count, sizeof *b->list, "bands", err);
    status |= und_field_open_all(b, fields, FIELDS, &(und_field_room){.mac = &s->mac}, "bands", err);
    if (status || !b->list)
        return err->status;
    for (int i = 0; i < b->count && !status; i++)
        status = open_upstream(s, &s->def.upstreams[i], &b->list[i], err);
    if (status)
        return status;
    list_rows(s, true);
    b->rows = und_alloc((size_t)b->row_count + 1, sizeof *b->rows, "bands", err);
    if (!b->rows)
        return err->status;
    list_rows(s, false);
    list_border(s);
    b->border = und_alloc((size_t)b->border_count + 1, sizeof *b->border, "bands", err);
    if (b->border)
        list_border(s);
    if (b->border && s->volume)
        return open_arrivals(s, err);
    return b->border ? UND_OK : err->status;
}

und_status und_levelset_bands_open(und_levelset *s, und_error *err)
{
    if (!s->def.sink.put && s->def.upstream_count == 0)
        return UND_OK;
    struct und_levelset_bands *b = s->bands = und_alloc(1, sizeof *b, "bands", err);
    if (!b)
        return err->status;
    b->own = und_levelset_bands(s->mac.n, s->def.open, s->heat != NULL, s->volume != NULL);
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
        const size_t first = und_mac_at(&s->mac, row->x, row->y, row->z);
        for (int i = 0; i < row->count; i++) {
            const float now = before[i] + part * (after[i] - before[i]);
            if (row->kind == VOLUME)
                und_levelset_volume_cells(s)[first + (size_t)i] = (int32_t)(now * UND_VOLUME_ONE);
            else
                field_of(s, row->kind)[first + (size_t)i] = now;
        }
        if (!cells)
            und_mac_flow_written(&s->flow, row->kind, row->x, row->y, row->z, row->count);
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
    for (const band_row *row = b->rows; row < b->rows + b->row_count; row++)
        for (int x = row->x; row->kind == CELLS && x < row->x + row->count; x++)
            if (und_mask_has(&s->flow.liquid, x, row->y, row->z))
                und_mask_add(&b->cells, x, row->y, row->z);
    return &b->cells;
}

/* As what leaves by a side is found (levelset_edges.c): the two must agree. */
double und_levelset_bands_inflow(const und_levelset *s, const float *phi)
{
    und_sum_tree sum = und_sum_from(0);
    for (int i = 0; takes(s) && i < s->bands->border_count; i++) {
        const border_face *f = &s->bands->border[i];
        double at_face = (double)phi[f->cell] + 0.5 * ((double)phi[f->cell] - (double)phi[f->inner]);
        double wet = fmin(fmax(0.5 - at_face, 0), 1);
        und_sum_add(&sum, f->out * (double)s->flow.u[f->axis][f->face] * wet *
                              (double)s->solids.open[f->axis][f->face]);
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
    if (!up->value[0] || fabs((double)und_levelset_volume_cells(s)[a->cell]) > most)
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
        place[k] = und_mac_middle(&s->mac, k, a->at[k]);
        speed[k] = (double)values[k];
    }
    return und_levelset_volume_throw(s, place, speed, amount);
}

int und_levelset_bands_arrive(und_levelset *s, const und_volume_inflow **inflow, double *amount)
{
    struct und_levelset_bands *b = s->bands;
    double sum = 0;
    for (int i = 0; takes(s) && i < b->arrival_count; i++) {
        const arrival *a = &b->arrivals[i];
        const double flow = coming(s, i, FLOW), drops = coming(s, i, DROPS);
        const double now = flow + drops - (drops > 0 ? throw_on(s, a, drops) : 0);
        b->inflow[i] = (und_volume_inflow){a->face, a->cell, a->axis, (int32_t)(a->out * now)};
        b->taken[i][FLOW] += flow;
        b->taken[i][DROPS] += drops;
        sum += flow + drops;
    }
    *inflow = takes(s) ? b->inflow : NULL;
    *amount = sum;
    return takes(s) ? b->arrival_count : 0;
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
