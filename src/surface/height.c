/* The surface moves with the liquid.  Foster & Metaxas 1996, equations 11 and 12; their z is our y.
 *
 * Central differences stepped forward by Euler's rule grow without bound.  What they lack is a viscosity of
 * u^2 dt / 2 along x where the flow is along x (Lax & Wendroff 1960); where it is across the grid, with
 * a = |u| dt / dx and b = |w| dt / dz, it is a (a + b) / 2 dx^2 / dt along x and b (a + b) / 2 dz^2 / dt
 * along z: then no wave grows while a + b <= 1, which follows from Cauchy's inequality.  It moves water
 * between columns and makes none. */
#include "surface/height.h"

#include "base/parallel.h"
#include "base/status.h"
#include "geom/vec.h"
#include "grid/field.h"
#include "grid/state.h"
#include "surface/height_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORTH = 8 }; /* cells, that a column is */

enum { AT_COLUMNS = UND_AT_OWN, AT_ROWS, COLUMNS = 8 };
static const und_field fields[] = {
    UND_FIELD(und_height, h, AT_COLUMNS),        UND_FIELD(und_height, before, AT_COLUMNS),
    UND_FIELD(und_height, ground, AT_COLUMNS),   UND_FIELD(und_height, speed[0], AT_COLUMNS),
    UND_FIELD(und_height, speed[1], AT_COLUMNS), UND_FIELD(und_height, speed[2], AT_COLUMNS),
    UND_FIELD(und_height, bend, AT_COLUMNS),     UND_FIELD(und_height, cell, AT_COLUMNS),
    UND_FIELD(und_height, row_gain, AT_ROWS),    UND_FIELD(und_height, row_clip, AT_ROWS)};
enum { FIELDS = sizeof fields / sizeof *fields };

/* Pointers to columns go from the first one that was allocated to column (0, 0), or back. */
static void point(und_height *s, ptrdiff_t by)
{
    double **values[] = {&s->h, &s->before, &s->ground, &s->speed[0], &s->speed[1], &s->speed[2], &s->bend};
    _Static_assert(sizeof values / sizeof *values == COLUMNS - 1, "all but the cells");
    for (int i = 0; i < COLUMNS - 1; i++)
        *values[i] += by;
    s->cell += by;
}

und_height *und_height_create(const und_mac *mac, int threads, und_error *err)
{
    und_height *s = und_alloc(1, sizeof *s, "height field", err);
    if (!s)
        return NULL;
    s->mac = *mac;
    s->device.threads = und_threads(threads);
    s->stride = mac->n[0] + 2;
    s->first = (size_t)s->stride + 1;
    s->count = (size_t)s->stride * (size_t)(mac->n[2] + 2);
    const size_t own[] = {s->count, (size_t)mac->n[2]};
    const und_field_room room = {.mac = mac, .own = own};
    if (und_field_open_all(s, fields, FIELDS, &room, "height field", err) != UND_OK) {
        und_field_close_all(s, fields, FIELDS);
        free(s);
        return NULL;
    }
    for (size_t k = 0; k < s->count; k++)
        s->h[k] = s->before[k] = s->ground[k] = mac->origin[1];
    point(s, (ptrdiff_t)s->first);
    return s;
}

void und_height_destroy(und_height *s)
{
    if (!s)
        return;
    point(s, -(ptrdiff_t)s->first);
    und_field_close_all(s, fields, FIELDS);
    free(s);
}

double und_height_film(const und_height *s)
{
    return UND_HEIGHT_FILM * s->mac.d[1];
}

/* The columns beside the domain are as those at its edge. */
static void fill_beside(const und_height *s, double *field)
{
    int nx = s->mac.n[0], nz = s->mac.n[2];
    for (int z = 0; z < nz; z++) {
        double *row = field + und_height_at(s, 0, z);
        row[-1] = row[0];
        row[nx] = row[nx - 1];
    }
    size_t bytes = (size_t)s->stride * sizeof *field;
    memcpy(field - s->stride - 1, field - 1, bytes);
    memcpy(field + (ptrdiff_t)nz * s->stride - 1, field + (ptrdiff_t)(nz - 1) * s->stride - 1, bytes);
}

double und_height_ground(und_height *s, const uint8_t *label)
{
    double lost = 0;
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++) {
            int y = 0;
            while (y < s->mac.n[1] && label[und_mac_at(&s->mac, x, y, z)] == UND_CELL_SOLID)
                y++;
            double ground = s->mac.origin[1] + y * s->mac.d[1];
            size_t at = und_height_at(s, x, z);
            if (ground == s->ground[at])
                continue;
            double wanted = ground + (s->h[at] - s->ground[at]);
            s->h[at] = und_smaller(wanted, und_height_top(&s->mac));
            s->ground[at] = ground;
            lost += wanted - s->h[at];
        }
    fill_beside(s, s->ground);
    fill_beside(s, s->h);
    return lost * und_height_area(s);
}

static und_height_side side_of(const und_height *s, int k)
{
    und_height_side d = {.axis = k < 2 ? 0 : 2, .to = k & 1 ? 1 : -1};
    d.column = d.to * (d.axis ? s->stride : 1);
    d.cell = d.to * s->mac.step[d.axis];
    d.face = d.to > 0 ? 0 : d.cell;
    d.size = s->mac.d[d.axis];
    return d;
}

/* Rows of columns. */
static und_set rows_of(const und_height *s)
{
    und_set rows = und_set_list(s, s->mac.n[2], 1, 1);
    rows.worth = WORTH * s->count;
    return rows;
}

double und_height_move(und_height *s, double *const u[3], const uint8_t *label, double dt)
{
    double *swap = s->before, gain = 0, clip = 0;
    s->before = s->h;
    s->h = swap;
    const und_set rows = rows_of(s);
    und_height_args args = {.mac = s->mac,
                            .stride = s->stride,
                            .h = s->h,
                            .before = s->before,
                            .ground = s->ground,
                            .bend = s->bend,
                            .gain = s->row_gain,
                            .clip = s->row_clip,
                            .cell = s->cell,
                            .label = label,
                            .dt = dt,
                            .smoothing = s->smoothing};
    for (int a = 0; a < 3; a++) {
        args.u[a] = u[a];
        args.speed[a] = s->speed[a];
    }
    for (int k = 0; k < 4; k++)
        args.side[k] = side_of(s, k);
    const und_pass passes[] = {UND_PASS(und_height_find_speeds, &args, &rows),
                               UND_PASS(und_height_find_bends, &args, &rows),
                               UND_PASS(und_height_go, &args, &rows)};
    const und_step steps[] = {{.passes = passes, .count = 1},
                              {.passes = passes + 1, .count = 1},
                              {.passes = passes + 2, .count = 1}};
    und_pass_steps(&s->device, steps, 3);
    fill_beside(s, s->h);
    for (int z = 0; z < s->mac.n[2]; z++) {
        gain += s->row_gain[z];
        clip += s->row_clip[z];
    }
    s->clipped = clip * und_height_area(s);
    return gain * und_height_area(s);
}

/* Whether a column can take (give, where `each` is negative) water. */
static bool has_room(const und_height *s, size_t column, double each)
{
    double h = s->h[column], ground = s->ground[column];
    return h > ground + UND_HEIGHT_FILM * s->mac.d[1] && (each < 0 || h < und_height_top(&s->mac));
}

static long count_room(const und_height *s, double each)
{
    long count = 0;
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++)
            count += has_room(s, und_height_at(s, x, z), each);
    return count;
}

/* Adds `each` (m) to the columns that hold water, as far as they can; m that they took. */
static double raise(und_height *s, double each)
{
    double taken = 0;
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++) {
            size_t column = und_height_at(s, x, z);
            if (!has_room(s, column, each))
                continue;
            double h =
                und_larger(und_smaller(s->h[column] + each, und_height_top(&s->mac)), s->ground[column]);
            taken += h - s->h[column];
            s->h[column] = h;
        }
    return taken;
}

double und_height_add(und_height *s, double volume)
{
    if (!isfinite(volume))
        return volume;
    double area = und_height_area(s), left = volume / area;
    double close = 1e-15 * fabs(left);
    /* Each round but the last fills or empties a column. */
    while (fabs(left) > close) {
        long count = count_room(s, left);
        double taken = count ? raise(s, left / (double)count) : 0;
        if (taken == 0)
            break;
        bool nearer = fabs(left - taken) < fabs(left);
        left -= taken;
        if (!nearer) /* no more than rounding is left */
            break;
    }
    fill_beside(s, s->h);
    return left * area;
}

void und_height_label(const und_height *s, uint8_t *label)
{
    const und_height_label_args args = {
        .mac = s->mac, .stride = s->stride, .h = s->h, .ground = s->ground, .label = label};
    const und_set rows = rows_of(s);
    und_pass(&s->device, und_height_label_row, &args, &rows);
}

double und_height_volume(const und_height *s)
{
    double sum = 0;
    for (int z = 0; z < s->mac.n[2]; z++) {
        double row = 0;
        for (int x = 0; x < s->mac.n[0]; x++) {
            size_t column = und_height_at(s, x, z);
            row += s->h[column] - s->ground[column];
        }
        sum += row;
    }
    return sum * und_height_area(s);
}

static und_status add_field(const und_height *s, const double *from, const char *name, bool is_static,
                            und_frame *frame, und_error *err)
{
    und_item_def def = {.name = name,
                        .unit = "m",
                        .kind = UND_FIELD,
                        .type = UND_F32,
                        .is_static = is_static,
                        .rank = 2,
                        .dim = {(size_t)s->mac.n[2], (size_t)s->mac.n[0]}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    float *out = item->data;
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++)
            *out++ = (float)from[und_height_at(s, x, z)];
    return UND_OK;
}

und_status und_height_frame(const und_height *s, und_frame *frame, und_error *err)
{
    if (add_field(s, s->h, "surface", false, frame, err) != UND_OK)
        return err->status;
    return add_field(s, s->ground, "ground", !s->ground_moves, frame, err);
}

/* The arrays of a checkpoint, with the columns beside the domain. */
enum { PARTS = 2 };

static void parts_of(und_height *s, und_state_field list[PARTS])
{
    list[0] = und_state_field_of("height_surface", UND_F64, s->h - s->first, s->count);
    list[1] = und_state_field_of("height_ground", UND_F64, s->ground - s->first, s->count);
}

und_status und_height_save(und_height *s, und_frame *state, und_error *err)
{
    und_state_field list[PARTS];
    parts_of(s, list);
    return und_state_save_fields(list, PARTS, state, err);
}

und_status und_height_restore(und_height *s, const und_frame *state, und_error *err)
{
    und_state_field list[PARTS];
    parts_of(s, list);
    for (int i = 0; i < PARTS; i++) {
        const und_item *item = und_frame_find(state, list[i].name);
        const double *values = item && item->type == UND_F64 ? item->data : NULL;
        for (size_t k = 0; values && k < und_item_count(item); k++)
            if (!(values[k] >= s->mac.origin[1] && isfinite(values[k])))
                return und_error_set(err, UND_FAILED,
                                     "the checkpoint is damaged: %s is %g, expected %g or more", list[i].name,
                                     values[k], s->mac.origin[1]);
    }
    return und_state_restore_fields(list, PARTS, state, err);
}
