#include "surface/markers.h"

#include "base/maths.h"
#include "base/parallel.h"
#include "base/status.h"
#include "grid/field.h"
#include "surface/markers_scratch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_CHUNKS = UND_AT_OWN };
static const und_field fields[] = {UND_FIELD(und_markers, per_cell, UND_AT_CELLS, .halo = UND_HALO_BESIDE)};
static const und_field scratch_fields[] = {UND_FIELD(und_markers_scratch, kind, UND_AT_CELLS),
                                           UND_FIELD(und_markers_scratch, wet, UND_AT_CELLS),
                                           UND_FIELD(und_markers_scratch, first, AT_CHUNKS)};
enum { FIELDS = sizeof fields / sizeof *fields, SCRATCH = sizeof scratch_fields / sizeof *scratch_fields };

und_markers *und_markers_create(const und_mac *mac, uint64_t seed, int threads, und_error *err)
{
    und_markers *s = und_alloc(1, sizeof *s, "markers", err);
    und_markers_scratch *scratch = s ? und_alloc(1, sizeof *scratch, "markers", err) : NULL;
    if (!scratch) {
        free(s);
        return NULL;
    }
    const size_t chunks[] = {(size_t)und_mac_rows(mac) * UND_MARKER_CHUNKS};
    const und_field_room room = {.mac = mac, .own = chunks};
    s->mac = *mac;
    s->seed = seed;
    s->device.threads = und_threads(threads);
    s->scratch = scratch;
    for (int a = 0; a < 3; a++)
        scratch->per[a] = 1 / mac->d[a];
    if (und_field_open_all(s, fields, FIELDS, &room, "markers per cell", err) ||
        und_field_open_all(scratch, scratch_fields, SCRATCH, &room, "markers per cell", err)) {
        und_markers_destroy(s);
        return NULL;
    }
    return s;
}

void und_markers_destroy(und_markers *s)
{
    if (!s)
        return;
    for (int a = 0; a < 3; a++)
        free(s->place[a]);
    free(s->share);
    und_field_close_all(s, fields, FIELDS);
    und_field_close_all(s->scratch, scratch_fields, SCRATCH);
    free(s->scratch->spare);
    free(s->scratch->row);
    free(s->scratch);
    free(s);
}

und_status und_markers_reserve(und_markers *s, int capacity, und_error *err)
{
    if (capacity <= s->capacity)
        return UND_OK;
    int half_more = s->capacity > INT_MAX / 3 * 2 ? INT_MAX : s->capacity + s->capacity / 2;
    size_t room = (size_t)(capacity > half_more ? capacity : half_more);
    double *values[5], **kept[4] = {&s->place[0], &s->place[1], &s->place[2], &s->share};
    int32_t *row = und_alloc(room, sizeof *row, "markers", err);
    int got = 0;
    while (row && got < 5 && (values[got] = und_alloc(room, sizeof **values, "markers", err)))
        got++;
    if (got < 5) {
        free(row);
        while (got > 0)
            free(values[--got]);
        return err->status;
    }
    for (int a = 0; a < 4; a++) {
        if (s->count > 0)
            memcpy(values[a], *kept[a], (size_t)s->count * sizeof **values);
        free(*kept[a]);
        *kept[a] = values[a];
    }
    free(s->scratch->spare);
    free(s->scratch->row);
    s->scratch->spare = values[4];
    s->scratch->row = row;
    s->capacity = (int)room;
    return UND_OK;
}

void und_markers_lattice(const und_mac *m, int per_cell, int points[3])
{
    double left = per_cell;
    points[2] = m->n[2] == 1 ? 1 : (int)fmax(1, round(und_cbrt(left)));
    left /= points[2];
    points[1] = (int)fmax(1, round(sqrt(left)));
    left /= points[1];
    points[0] = (int)fmax(1, round(left));
}

typedef struct filling {
    und_inside_fn *inside;
    void *context;
    int points[3];
    int corners[3];      /* of a cell */
    bool *corner_inside; /* of the cell under way */
} filling;

static und_status open_filling(filling *f, const und_mac *m, int per_cell, und_error *err)
{
    bool flat = m->n[2] == 1;
    und_markers_lattice(m, per_cell, f->points);
    for (int a = 0; a < 3; a++)
        f->corners[a] = flat && a == 2 ? 1 : f->points[a] + 1;
    size_t corners = (size_t)f->corners[0] * (size_t)f->corners[1] * (size_t)f->corners[2];
    f->corner_inside = und_alloc(corners, sizeof *f->corner_inside, "markers", err);
    return f->corner_inside ? UND_OK : err->status;
}

/* Whether a place of a cell, `part` of it along each axis, is inside. */
static bool is_inside(const filling *f, const und_mac *m, const int cell[3], const double part[3])
{
    double p[3];
    for (int a = 0; a < 3; a++)
        p[a] = m->origin[a] + (cell[a] + part[a]) * m->d[a];
    return f->inside(f->context, p[0], p[1], p[2]);
}

static void look_at_corners(filling *f, const und_mac *m, const int cell[3])
{
    const int *n = f->corners;
    for (int k = 0; k < n[0] * n[1] * n[2]; k++) {
        const int at[3] = {k % n[0], k / n[0] % n[1], k / (n[0] * n[1])};
        double part[3];
        for (int a = 0; a < 3; a++)
            part[a] = n[a] > 1 ? (double)at[a] / f->points[a] : 0.5;
        f->corner_inside[k] = is_inside(f, m, cell, part);
    }
}

/* The part of a box of the lattice that is inside, and the middle of that in parts of the cell. */
static double part_inside(const filling *f, const und_mac *m, const int cell[3], const int box[3],
                          double middle[3])
{
    enum { SAMPLES = 16 }; /* in the low half of a box along each axis, and so mirrored in the others */
    static const int times[3] = {1, 5, 7};
    const int *n = f->corners, halves = n[2] > 1 ? 8 : 4;
    int corners = 0, inside = 0;
    for (int k = 0; k < 8; k++) {
        const int at[3] = {box[0] + (k & 1), box[1] + (k >> 1 & 1), n[2] > 1 ? box[2] + (k >> 2) : 0};
        corners += f->corner_inside[(at[2] * n[1] + at[1]) * n[0] + at[0]];
    }
    for (int a = 0; a < 3; a++)
        middle[a] = (box[a] + 0.5) / f->points[a];
    if (corners % 8 == 0 && corners / 8 == is_inside(f, m, cell, middle))
        return corners / 8;
    double sum[3] = {0};
    for (int k = 0; k < halves * SAMPLES; k++) {
        double part[3];
        for (int a = 0; a < 3; a++) {
            double at = (k / halves * times[a] % SAMPLES + 0.5) / (2 * SAMPLES);
            at = n[a] == 1 ? 0.5 : k >> a & 1 ? 1 - at : at;
            part[a] = (box[a] + at) / f->points[a];
        }
        bool is = is_inside(f, m, cell, part);
        inside += is;
        for (int a = 0; a < 3; a++)
            sum[a] += is ? part[a] : 0;
    }
    for (int a = 0; inside > 0 && a < 3; a++)
        middle[a] = sum[a] / inside;
    return (double)inside / (halves * SAMPLES);
}

static void fill_cell(und_markers *s, filling *f, const int cell[3])
{
    const und_mac *m = &s->mac;
    int count = f->points[0] * f->points[1] * f->points[2];
    look_at_corners(f, m, cell);
    for (int k = 0; k < count; k++) {
        const int box[3] = {k % f->points[0], k / f->points[0] % f->points[1],
                            k / (f->points[0] * f->points[1])};
        double middle[3], part = part_inside(f, m, cell, box, middle);
        if (!(part > 0))
            continue;
        for (int a = 0; a < 3; a++)
            s->place[a][s->count] = m->origin[a] + (cell[a] + middle[a]) * m->d[a];
        s->share[s->count++] = part / count;
    }
}

static und_status fill_rows(und_markers *s, filling *f, const uint8_t *label, const int low[3],
                            const int high[3], und_error *err)
{
    const und_mac *m = &s->mac;
    double most = (double)f->points[0] * f->points[1] * f->points[2] * (high[0] - low[0]); /* of a row */
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++) {
            if (s->count + most > INT_MAX)
                return und_error_set(err, UND_INVALID, "more than %d markers: have fewer to a cell", INT_MAX);
            if (und_markers_reserve(s, s->count + (int)most, err) != UND_OK)
                return err->status;
            for (int x = low[0]; x < high[0]; x++)
                if (label[und_mac_at(m, x, y, z)] != UND_CELL_SOLID)
                    fill_cell(s, f, (const int[3]){x, y, z});
        }
    return UND_OK;
}

und_status und_markers_fill_box(und_markers *s, und_inside_fn *inside, void *context, const uint8_t *label,
                                int per_cell, const int low[3], const int high[3], und_error *err)
{
    filling f = {.inside = inside, .context = context};
    if (open_filling(&f, &s->mac, per_cell, err) != UND_OK)
        return err->status;
    und_status status = fill_rows(s, &f, label, low, high, err);
    free(f.corner_inside);
    return status;
}

und_status und_markers_fill(und_markers *s, und_inside_fn *inside, void *context, const uint8_t *label,
                            int per_cell, und_error *err)
{
    return und_markers_fill_box(s, inside, context, label, per_cell, (const int[3]){0, 0, 0}, s->mac.n, err);
}

void und_markers_take_out(und_markers *s, const uint8_t *gone, uint8_t value)
{
    int left = 0;
    for (int i = 0; i < s->count; i++) {
        if (gone[und_markers_cell(s, i)] == value)
            continue;
        for (int a = 0; a < 3; a++)
            s->place[a][left] = s->place[a][i];
        s->share[left++] = s->share[i];
    }
    s->count = left;
}

static void count_per_cell(und_markers *s)
{
    enum { FEW = 4 }; /* threads */
    const und_device device = und_markers_counters(s, FEW);
    const und_set all = und_markers_all(s);
    und_markers_count_args args = {.mac = s->mac,
                                   .place = {s->place[0], s->place[1], s->place[2]},
                                   .per_cell = s->per_cell,
                                   .alone = device.threads == 1};
    for (int a = 0; a < 3; a++)
        args.per[a] = s->scratch->per[a];
    memset(s->per_cell, 0, s->mac.count * sizeof *s->per_cell);
    und_pass(&device, und_markers_count, &args, &all);
}

void und_markers_label(und_markers *s, uint8_t *label)
{
    const und_markers_label_args args = {
        .mac = s->mac, .per_cell = s->per_cell, .kind = s->scratch->kind, .label = label};
    und_set all = und_set_rows(&s->mac, UND_ROWS_ALL), inside = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    const und_pass passes[] = {UND_PASS(und_markers_find_kinds, &args, &all),
                               UND_PASS(und_markers_label_row, &args, &inside)};
    all.worth = inside.worth = s->mac.count / 4; /* they are bytes */
    count_per_cell(s);
    und_pass_steps(&s->device,
                   (und_step[]){{.passes = passes, .count = 1}, {.passes = passes + 1, .count = 1}}, 2);
}
