#include "view/slice_field.h"

#include <undine/walls.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MOST = 16384, PLANE_MOST = 512 }; /* of a plane's sides: more than that nobody sees */

static double value_at(const und_item *item, size_t i)
{
    switch (item->type) {
    case UND_F32:
        return (double)((const float *)item->data)[i];
    case UND_F64:
        return ((const double *)item->data)[i];
    case UND_I32:
        return ((const int32_t *)item->data)[i];
    default:
        return ((const uint8_t *)item->data)[i];
    }
}

/* Is it on all cells, or, with an axis, on the faces along it?  A height field may leave its layer out. */
static bool fits(const und_slice_source *s, const und_item *item, int axis)
{
    size_t n[3];
    for (int a = 0; a < 3; a++)
        n[a] = (size_t)s->n[a] + (a == axis);
    if (item->rank == 2)
        return s->heights && item->dim[0] == n[2] && item->dim[1] == n[0];
    return item->rank == 3 && item->dim[0] == n[2] && item->dim[1] == n[1] && item->dim[2] == n[0];
}

static const und_item *cells_of(const und_slice_source *s, const char *name)
{
    const und_item *item = und_frame_find(s->frame, name);
    return item && item->kind == UND_FIELD && fits(s, item, -1) ? item : NULL;
}

static void find_velocity(und_slice_source *s)
{
    static const char *const names[] = {"velocity_x", "velocity_y", "velocity_z"};
    for (int a = 0; a < 3; a++) {
        const und_item *item = und_frame_find(s->frame, names[a]);
        if (!item)
            continue;
        s->on_faces[a] = item->kind == UND_FACES && fits(s, item, a);
        if (s->on_faces[a] || (item->kind == UND_FIELD && fits(s, item, -1)))
            s->velocity[a] = item;
    }
}

static void add(und_slice_source *s, und_slice_field field)
{
    for (char *c = field.name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    if (strcmp(field.unit, "1") == 0)
        field.unit[0] = 0;
    if (s->count < UND_SLICE_FIELDS)
        s->field[s->count++] = field;
}

static void add_flow(und_slice_source *s)
{
    int parts = 0;
    for (int a = 0; a < 3; a++)
        parts += s->velocity[a] != NULL;
    if (parts == 0)
        return;
    add(s, (und_slice_field){.name = "speed", .unit = "m/s", .kind = UND_SLICE_SPEED});
    for (int a = 0; a < 3; a++)
        if (s->velocity[a]) {
            und_slice_field field = {.unit = "m/s", .kind = UND_SLICE_VELOCITY, .axis = a, .two_signs = true};
            snprintf(field.name, sizeof field.name, "velocity %c", 'x' + a);
            add(s, field);
        }
    if (parts == 3)
        add(s, (und_slice_field){.name = "vorticity", .unit = "1/s", .kind = UND_SLICE_VORTICITY});
    if (parts == 3 || (s->heights && s->velocity[0] && s->velocity[2]))
        add(s, (und_slice_field){
                   .name = "vorticity across", .unit = "1/s", .kind = UND_SLICE_TURN, .two_signs = true});
}

static void add_items(und_slice_source *s)
{
    for (int i = 0; i < s->frame->count; i++) {
        const und_item *item = &s->frame->items[i];
        if (item->kind != UND_FIELD || !fits(s, item, -1) || strncmp(item->name, "velocity_", 9) == 0)
            continue;
        und_slice_field field = {.kind = UND_SLICE_ITEM, .item = item};
        snprintf(field.name, sizeof field.name, "%s", item->name);
        snprintf(field.unit, sizeof field.unit, "%s", item->unit);
        field.two_signs = strstr(item->name, "distance") != NULL;
        field.whole = item->type == UND_U8 || item->type == UND_I32;
        field.hot = strcmp(item->name, "temperature") == 0;
        add(s, field);
    }
}

bool und_slice_open(und_slice_source *s, const und_frame *frame)
{
    const und_grid *grid = &frame->grid;
    *s = (und_slice_source){.frame = frame};
    for (int a = 0; a < 3; a++) {
        s->n[a] = grid->n[a];
        s->size[a] = und_grid_size(grid, a);
        s->origin[a] = grid->origin[a];
        if (s->n[a] < 1 || !(s->size[a] > 0) || !isfinite(s->size[a]) || !isfinite(s->origin[a]))
            return false;
    }
    s->heights = s->n[1] == 1;
    if (s->n[0] < 2 || s->n[2] < 2) /* a curve, or cells in two dimensions: no planes */
        return false;
    s->surface = s->heights ? cells_of(s, "surface") : NULL;
    s->ground = s->heights ? cells_of(s, "ground") : NULL;
    s->distance = cells_of(s, "distance");
    s->label = cells_of(s, "label");
    s->solid = cells_of(s, "solid/distance");
    find_velocity(s);
    if (s->surface && s->ground)
        add(s, (und_slice_field){.name = "depth", .unit = "m", .kind = UND_SLICE_DEPTH});
    add_flow(s);
    add_items(s);
    return s->count > 0;
}

static size_t index_of(const und_slice_source *s, const int cell[3])
{
    return ((size_t)cell[2] * (size_t)s->n[1] + (size_t)cell[1]) * (size_t)s->n[0] + (size_t)cell[0];
}

/* A component of the velocity at the middle of a cell. */
static double component(const und_slice_source *s, int axis, const int cell[3])
{
    const und_item *item = s->velocity[axis];
    if (!item)
        return NAN;
    if (!s->on_faces[axis])
        return value_at(item, index_of(s, cell));
    size_t nx = (size_t)s->n[0] + (axis == 0), ny = (size_t)s->n[1] + (axis == 1);
    size_t step = axis == 0 ? 1 : axis == 1 ? nx : nx * ny;
    size_t i = ((size_t)cell[2] * ny + (size_t)cell[1]) * nx + (size_t)cell[0];
    return 0.5 * (value_at(item, i) + value_at(item, i + step));
}

/* d component / d axis: over the cells beside, or on one side of the border. */
static double slope(const und_slice_source *s, int part, int axis, const int cell[3])
{
    int low[3] = {cell[0], cell[1], cell[2]}, high[3] = {cell[0], cell[1], cell[2]};
    low[axis] -= cell[axis] > 0;
    high[axis] += cell[axis] < s->n[axis] - 1;
    if (low[axis] == high[axis])
        return 0;
    return (component(s, part, high) - component(s, part, low)) / (s->size[axis] * (high[axis] - low[axis]));
}

static double vorticity(const und_slice_source *s, int axis, const int cell[3])
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    return slope(s, c, b, cell) - slope(s, b, c, cell);
}

static double depth(const und_slice_source *s, const int cell[3])
{
    size_t i = index_of(s, cell);
    return value_at(s->surface, i) - value_at(s->ground, i);
}

static double square(double x)
{
    return x * x;
}

double und_slice_cell(const und_slice_source *s, const und_slice_field *field, const int cell[3], int across)
{
    double sum = 0;
    switch (field->kind) {
    case UND_SLICE_ITEM:
        return value_at(field->item, index_of(s, cell));
    case UND_SLICE_VELOCITY:
        return component(s, field->axis, cell);
    case UND_SLICE_TURN:
        return vorticity(s, across, cell);
    case UND_SLICE_DEPTH:
        return fmax(depth(s, cell), 0);
    case UND_SLICE_SPEED:
        for (int a = 0; a < 3; a++)
            sum += s->velocity[a] ? square(component(s, a, cell)) : 0;
        return sqrt(sum);
    default:
        for (int a = 0; a < 3; a++)
            sum += square(vorticity(s, a, cell));
        return sqrt(sum);
    }
}

/* Liquid below 0: the signed distance, m, or -+ half a cell where cells are all that is known; -1 where even
 * that is not. */
static double phi_at(const und_slice_source *s, const int cell[3])
{
    size_t i = index_of(s, cell);
    if (s->distance)
        return value_at(s->distance, i);
    if (s->label) {
        double label = value_at(s->label, i);
        return label == UND_CELL_FULL || label == UND_CELL_SURFACE ? -0.5 * s->size[0] : 0.5 * s->size[0];
    }
    return s->surface && s->ground ? -depth(s, cell) : -1;
}

/* m; below 0: inside. */
static double solid_at(const und_slice_source *s, const int cell[3])
{
    size_t i = index_of(s, cell);
    if (s->solid)
        return value_at(s->solid, i);
    return s->label && value_at(s->label, i) == UND_CELL_SOLID ? -0.5 * s->size[0] : 0.5 * s->size[0];
}

/* The two layers of cells beside a place along an axis, and the second's share. */
static double layers(const und_slice_source *s, int axis, double place, int layer[2])
{
    double at = (place - s->origin[axis]) / s->size[axis] - 0.5;
    at = at > 0 ? fmin(at, s->n[axis] - 1) : 0; /* NaN too */
    layer[0] = (int)at;
    layer[1] = layer[0] + (layer[0] < s->n[axis] - 1);
    return at - layer[0];
}

static double between(double a, double b, double share)
{
    return isnan(a) ? b : isnan(b) ? a : a + share * (b - a);
}

static float sane(double value, float otherwise)
{
    return fabs(value) < 1e30 ? (float)value : otherwise;
}

/* The cell under a sample, where there may be fewer samples than cells. */
static int cell_of(int sample, int samples, int cells)
{
    return samples == cells ? sample : (int)((sample + 0.5) * cells / samples);
}

/* Value, distance to the surface and to the solid. */
static void look_at(const und_slice_source *s, const und_slice_field *field, const int cell[3], int across,
                    double seen[3])
{
    seen[0] = und_slice_cell(s, field, cell, across);
    seen[1] = phi_at(s, cell);
    seen[2] = solid_at(s, cell);
}

void und_slice_fill(const und_slice_source *s, const und_slice_field *field, int axis, double place,
                    und_slice_plane *plane)
{
    int layer[2];
    double share = layers(s, axis, place, layer);
    plane->axis = axis;
    plane->along = (axis + 1) % 3;
    plane->across = (axis + 2) % 3;
    for (int k = 0; k < 2; k++) {
        int n = s->n[k ? plane->across : plane->along];
        plane->n[k] = n < PLANE_MOST ? n : PLANE_MOST;
    }
    plane->place = place;
    bool one = layer[0] == layer[1] || share < 1e-6;
    float *texel = plane->texel;
    for (int j = 0; j < plane->n[1]; j++)
        for (int i = 0; i < plane->n[0]; i++, texel += 4) {
            int cell[3];
            double low[3], high[3];
            cell[plane->along] = cell_of(i, plane->n[0], s->n[plane->along]);
            cell[plane->across] = cell_of(j, plane->n[1], s->n[plane->across]);
            cell[axis] = layer[0];
            look_at(s, field, cell, axis, low);
            cell[axis] = layer[1];
            if (one)
                memcpy(high, low, sizeof high);
            else
                look_at(s, field, cell, axis, high);
            double value = field->whole ? (share < 0.5 ? low[0] : high[0]) : between(low[0], high[0], share);
            texel[0] = sane(value, NAN);
            texel[1] = sane(between(low[1], high[1], share) / s->size[0], 1);
            texel[2] = sane(between(low[2], high[2], share) / s->size[0], 1);
            texel[3] = s->surface ? sane(value_at(s->surface, index_of(s, cell)), 0) : 0;
        }
}

bool und_slice_flow(const und_slice_source *s, int axis, double place, double u, double v, double flow[2])
{
    int along = (axis + 1) % 3, across = (axis + 2) % 3, layer[2];
    double share = layers(s, axis, place, layer);
    double at[2] = {(u - s->origin[along]) / s->size[along], (v - s->origin[across]) / s->size[across]};
    int cell[3] = {0};
    cell[along] = at[0] > 0 ? (int)fmin(at[0], s->n[along] - 1) : 0;
    cell[across] = at[1] > 0 ? (int)fmin(at[1], s->n[across] - 1) : 0;
    double value[2][2];
    bool wet = false;
    for (int k = 0; k < 2; k++) {
        cell[axis] = layer[k];
        value[k][0] = component(s, along, cell);
        value[k][1] = component(s, across, cell);
        wet = wet || phi_at(s, cell) < 0;
    }
    flow[0] = between(value[0][0], value[1][0], share);
    flow[1] = between(value[0][1], value[1][1], share);
    return wet && isfinite(flow[0]) && isfinite(flow[1]);
}

bool und_slice_alike(const und_slice_source *a, const und_slice_source *b)
{
    for (int k = 0; k < 3; k++)
        if (a->n[k] != b->n[k] || fabs(a->size[k] - b->size[k]) > 1e-6 * a->size[k] ||
            fabs(a->origin[k] - b->origin[k]) > 1e-3 * a->size[k])
            return false;
    return true;
}

const und_slice_field *und_slice_find(const und_slice_source *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->field[i].name, name) == 0)
            return &s->field[i];
    return NULL;
}

/* The field of the other frame to take off; NULL: it has none such. */
static const und_slice_field *counterpart(const und_slice_source *s, const und_slice_source *other,
                                          const char *name)
{
    return und_slice_alike(s, other) ? und_slice_find(other, name) : NULL;
}

void und_slice_take_off(und_slice_plane *plane, const und_slice_source *s, const und_slice_source *other,
                        const char *name)
{
    const und_slice_field *field = counterpart(s, other, name);
    size_t count = (size_t)plane->n[0] * (size_t)plane->n[1];
    und_slice_plane theirs = *plane;
    theirs.texel = field ? malloc(4 * count * sizeof *theirs.texel) : NULL;
    if (theirs.texel)
        und_slice_fill(other, field, plane->axis, plane->place, &theirs);
    for (size_t i = 0; i < count; i++) {
        plane->texel[4 * i] = theirs.texel ? plane->texel[4 * i] - theirs.texel[4 * i] : NAN;
        if (theirs.texel && theirs.texel[4 * i + 1] < plane->texel[4 * i + 1])
            plane->texel[4 * i + 1] = theirs.texel[4 * i + 1]; /* the liquid of either */
    }
    free(theirs.texel);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool und_slice_spread(const und_slice_source *s, const und_slice_source *other, const char *name, int axis,
                      double spread[2], double most[2])
{
    const und_slice_field *field = und_slice_find(s, name);
    const und_slice_field *off = other ? counterpart(s, other, name) : NULL;
    double *values = field && (off || !other) ? malloc(SAMPLES_MOST * sizeof *values) : NULL;
    if (!values)
        return false;
    size_t cells = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2], count = 0;
    size_t stride = cells / SAMPLES_MOST + 1;
    for (size_t i = stride / 2; i < cells && count < SAMPLES_MOST; i += stride) {
        size_t x = i % (size_t)s->n[0], row = i / (size_t)s->n[0];
        int cell[3] = {(int)x, (int)(row % (size_t)s->n[1]), (int)(row / (size_t)s->n[1])};
        bool wet = phi_at(s, cell) < 0 || (other && phi_at(other, cell) < 0);
        double value = wet ? und_slice_cell(s, field, cell, axis) : NAN;
        if (off)
            value -= und_slice_cell(other, off, cell, axis);
        if (isfinite(value))
            values[count++] = value;
    }
    qsort(values, count, sizeof *values, by_size);
    if (count > 0) {
        spread[0] = values[count * 3 / 100];
        spread[1] = values[count - 1 - count * 3 / 100];
        most[0] = values[0];
        most[1] = values[count - 1];
    }
    free(values);
    return count > 0;
}
