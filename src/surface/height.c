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
#include "grid/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AT_FACE = 1e-9; /* of a cell: so near to a face the surface belongs to the cell below */
enum { STRIP = 256 };               /* columns that are labelled at a time */
static const double FILM = 1e-3;    /* of a cell: thinner water has no liquid cell */

/* For a loop over the columns. */
static int threads_for(const und_height *s)
{
    enum { ENOUGH = 1 << 12 };
    return und_workers(s->threads, s->count, ENOUGH);
}

und_height *und_height_create(const und_mac *mac, int threads, und_error *err)
{
    und_height *s = und_alloc(1, sizeof *s, "height field", err);
    if (!s)
        return NULL;
    s->mac = *mac;
    s->threads = und_threads(threads);
    s->stride = mac->n[0] + 2;
    s->first = (size_t)s->stride + 1;
    s->count = (size_t)s->stride * (size_t)(mac->n[2] + 2);
    double **fields[] = {&s->h, &s->before, &s->ground, &s->speed[0], &s->speed[1], &s->speed[2], &s->bend};
    double **rows[] = {&s->row_gain, &s->row_clip};
    bool ok = true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && ok; i++) {
        ok = (*fields[i] = und_alloc(s->count, sizeof(double), "height field", err)) != NULL;
        for (size_t k = 0; k < s->count && ok && i < 3; k++)
            (*fields[i])[k] = mac->origin[1];
        *fields[i] = ok ? *fields[i] + s->first : NULL;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows && ok; i++)
        ok = (*rows[i] = und_alloc((size_t)mac->n[2], sizeof(double), "height field", err)) != NULL;
    s->cell = ok ? und_alloc(s->count, sizeof *s->cell, "height field", err) : NULL;
    if (!s->cell) {
        und_height_destroy(s);
        return NULL;
    }
    s->cell += s->first;
    return s;
}

void und_height_destroy(und_height *s)
{
    if (!s)
        return;
    double *fields[] = {s->h, s->before, s->ground, s->speed[0], s->speed[1], s->speed[2], s->bend};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        free(fields[i] ? fields[i] - s->first : NULL);
    free(s->row_gain);
    free(s->row_clip);
    free(s->cell ? s->cell - s->first : NULL);
    free(s);
}

double und_height_film(const und_height *s)
{
    return FILM * s->mac.d[1];
}

static double top_of(const und_height *s)
{
    return s->mac.origin[1] + s->mac.n[1] * s->mac.d[1];
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
            s->h[at] = und_smaller(wanted, top_of(s));
            s->ground[at] = ground;
            lost += wanted - s->h[at];
        }
    fill_beside(s, s->ground);
    fill_beside(s, s->h);
    return lost * und_height_area(s);
}

/* The cell that height h is in. */
static int cell_of(const und_height *s, double h)
{
    double y = (h - s->mac.origin[1]) / s->mac.d[1];
    return (int)und_smaller(und_larger(ceil(y - AT_FACE) - 1, 0), s->mac.n[1] - 1);
}

static bool is_liquid(uint8_t label)
{
    return label == UND_CELL_FULL || label == UND_CELL_SURFACE;
}

/* The liquid cell nearest to the surface of column (x, z), lower ones first; -1: the column is dry. */
static int liquid_cell(const und_height *s, const uint8_t *label, int x, int z)
{
    int y = cell_of(s, s->h[und_height_at(s, x, z)]), n = s->mac.n[1];
    for (int k = 0; k < n; k++) {
        if (y - k >= 0 && is_liquid(label[und_mac_at(&s->mac, x, y - k, z)]))
            return y - k;
        if (y + k < n && is_liquid(label[und_mac_at(&s->mac, x, y + k, z)]))
            return y + k;
    }
    return -1;
}

/* The velocity that the surface of each column in row z has: that of the cell it is in, the vertical one
 * between that of the cell's low and of its high face. */
static void find_speeds(const und_height *s, double *const u[3], const uint8_t *label, int z)
{
    const und_mac *m = &s->mac;
    for (int x = 0; x < m->n[0]; x++) {
        size_t column = und_height_at(s, x, z);
        int y = liquid_cell(s, label, x, z);
        s->cell[column] = y;
        for (int a = 0; a < 3; a++) {
            size_t high = und_mac_at(m, x, y < 0 ? 0 : y, z), low = high - (size_t)m->step[a];
            double share = 0.5;
            if (a == 1)
                share = und_smaller(und_larger((s->h[column] - m->origin[1]) / m->d[1] - y, 0), 1);
            s->speed[a][column] = y < 0 ? 0 : u[a][low] + share * (u[a][high] - u[a][low]);
        }
    }
}

/* One of the four sides of a column, and what is behind it. */
typedef struct side {
    int axis, to;         /* 0 or 2; -1 or 1 */
    ptrdiff_t column;     /* from a column to the one behind */
    ptrdiff_t cell, face; /* from a cell to the one behind, and to the one that keeps the face between */
    double size;          /* m, of cells along the axis */
} side;

static side side_of(const und_height *s, int k)
{
    side d = {.axis = k < 2 ? 0 : 2, .to = k & 1 ? 1 : -1};
    d.column = d.to * (d.axis ? s->stride : 1);
    d.cell = d.to * s->mac.step[d.axis];
    d.face = d.to > 0 ? 0 : d.cell;
    d.size = s->mac.d[d.axis];
    return d;
}

/* Whether water can go through a side between two wet columns at their surfaces: no wall is there, and both
 * have water above both grounds. */
static bool is_joined(const und_height *s, const uint8_t *label, const side *d, size_t column, size_t cell)
{
    size_t behind = (size_t)((ptrdiff_t)column + d->column);
    if (label[(size_t)((ptrdiff_t)cell + d->cell)] == UND_CELL_SOLID || s->cell[behind] < 0)
        return false;
    ptrdiff_t level = (s->cell[behind] - s->cell[column]) * s->mac.step[1];
    return label[(size_t)((ptrdiff_t)cell + level)] != UND_CELL_SOLID &&
           s->before[behind] > s->ground[column] && s->before[column] > s->ground[behind];
}

static void find_bends(const und_height *s, const uint8_t *label, const side sides[4], int z)
{
    for (int x = 0; x < s->mac.n[0]; x++) {
        size_t column = und_height_at(s, x, z), cell = und_mac_at(&s->mac, x, s->cell[column], z);
        s->bend[column] = 0;
        for (int k = 0; k < 4 && s->cell[column] >= 0; k++)
            if (is_joined(s, label, &sides[k], column, cell))
                s->bend[column] +=
                    s->before[(size_t)((ptrdiff_t)column + sides[k].column)] - s->before[column];
    }
}

/* Equation 12's share of one side in the change of a wet column, m/s: convection by the central difference,
 * a wall behind being as high as the surface before it; then what goes from column to column, the viscosity
 * and the smoothing. */
static double through_side(const und_height *s, const uint8_t *label, const side *d, size_t column,
                           size_t cell, double dt)
{
    size_t behind = (size_t)((ptrdiff_t)column + d->column);
    if (label[(size_t)((ptrdiff_t)cell + d->cell)] == UND_CELL_SOLID)
        return 0;
    double h = s->before[column], other = s->before[behind];
    double slope = d->to * (und_larger(other, s->ground[column]) - h) / d->size;
    double change = -0.5 * slope * s->speed[d->axis][column];
    if (!is_joined(s, label, d, column, cell))
        return change;
    double viscosity = 0;
    const size_t both[2] = {column, behind};
    for (int k = 0; k < 2; k++) {
        double along = fabs(s->speed[d->axis][both[k]]), across = fabs(s->speed[2 - d->axis][both[k]]);
        viscosity += 0.25 * dt * along * (along + across * d->size / s->mac.d[2 - d->axis]);
    }
    double smoothing = und_smaller(s->smoothing, 0.25 / dt) / 16;
    return change + viscosity * (other - h) / (d->size * d->size) +
           smoothing * (s->bend[column] - s->bend[behind]);
}

/* What comes into a dry column from a wet one: equation 12 with the velocity of the face between and level
 * ground behind.  Nothing leaves it. */
static double into_dry(const und_height *s, double *const u[3], const uint8_t *label, const side *d, int x,
                       int z)
{
    size_t column = und_height_at(s, x, z), from = (size_t)((ptrdiff_t)column + d->column);
    int inside[3] = {x, 0, z};
    inside[d->axis] += d->to;
    if (inside[d->axis] < 0 || inside[d->axis] >= s->mac.n[d->axis] || s->cell[from] < 0)
        return 0;
    size_t cell = und_mac_at(&s->mac, x, s->cell[from], z);
    if (label[cell] == UND_CELL_SOLID)
        return 0;
    double speed = -d->to * u[d->axis][(size_t)((ptrdiff_t)cell + d->face)];
    return und_larger(speed, 0) * und_larger(s->before[from] - s->ground[column], 0) / (2 * d->size);
}

static void move_row(und_height *s, double *const u[3], const uint8_t *label, const side sides[4], int z,
                     double dt)
{
    double gain = 0, clip = 0, top = top_of(s);
    for (int x = 0; x < s->mac.n[0]; x++) {
        size_t column = und_height_at(s, x, z), cell = und_mac_at(&s->mac, x, s->cell[column], z);
        double change = s->speed[1][column];
        for (int k = 0; k < 4; k++)
            change += s->cell[column] < 0 ? into_dry(s, u, label, &sides[k], x, z)
                                          : through_side(s, label, &sides[k], column, cell, dt);
        double wanted = s->before[column] + dt * change;
        double h =
            und_smaller(und_larger(wanted, s->ground[column]), top); /* of what is no number: the ground */
        clip += isfinite(wanted) ? h - wanted : 0;
        gain += h - s->before[column];
        s->h[column] = h;
    }
    s->row_gain[z] = gain;
    s->row_clip[z] = clip;
}

double und_height_move(und_height *s, double *const u[3], const uint8_t *label, double dt)
{
    int rows = s->mac.n[2], threads = threads_for(s);
    double *swap = s->before, gain = 0, clip = 0;
    side sides[4];
    for (int k = 0; k < 4; k++)
        sides[k] = side_of(s, k);
    PARALLEL_FOR(threads)
    for (int z = 0; z < rows; z++)
        find_speeds(s, u, label, z);
    s->before = s->h;
    s->h = swap;
    PARALLEL_FOR(threads)
    for (int z = 0; z < rows; z++)
        find_bends(s, label, sides, z);
    PARALLEL_FOR(threads)
    for (int z = 0; z < rows; z++)
        move_row(s, u, label, sides, z, dt);
    fill_beside(s, s->h);
    for (int z = 0; z < rows; z++) {
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
    return h > ground + FILM * s->mac.d[1] && (each < 0 || h < top_of(s));
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
            double h = und_larger(und_smaller(s->h[column] + each, top_of(s)), s->ground[column]);
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

/* The labels of columns x in [0, count) of cells `at` on. */
static void label_columns(const und_height *s, size_t column, size_t at, int count, uint8_t *labels)
{
    int32_t surface[STRIP];
    double film = FILM * s->mac.d[1];
    for (int x = 0; x < count; x++) {
        double h = s->h[column + (size_t)x];
        bool dry = !(h - s->ground[column + (size_t)x] >= film);
        surface[x] = dry ? -1 : cell_of(s, h);
    }
    for (int y = 0; y < s->mac.n[1]; y++) {
        uint8_t *label = labels + at + (size_t)(y * s->mac.step[1]);
        for (int x = 0; x < count; x++) {
            uint8_t open = y < surface[x] ? UND_CELL_FULL : UND_CELL_EMPTY;
            open = y == surface[x] ? UND_CELL_SURFACE : open;
            label[x] = label[x] == UND_CELL_SOLID ? label[x] : open;
        }
    }
}

void und_height_label(const und_height *s, uint8_t *label)
{
    PARALLEL_FOR(threads_for(s))
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x += STRIP)
            label_columns(s, und_height_at(s, x, z), und_mac_at(&s->mac, x, 0, z),
                          s->mac.n[0] - x < STRIP ? s->mac.n[0] - x : STRIP, label);
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
