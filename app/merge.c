#include "merge.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

/* The cells of a frame's grid in the merged one. */
typedef struct place {
    int low[3];
} place;

static und_status find_grid(const und_frame *frames, int count, und_grid *all, place *at, und_error *err)
{
    double low[3], high[3], dx = frames[0].grid.dx;
    for (int a = 0; a < 3; a++) {
        low[a] = INFINITY;
        high[a] = -INFINITY;
    }
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            const und_grid *g = &frames[i].grid;
            low[a] = fmin(low[a], g->origin[a]);
            high[a] = fmax(high[a], g->origin[a] + g->n[a] * dx);
            if (!(fabs(g->dx - dx) <= 1e-6 * dx))
                return und_error_set(err, UND_FAILED, "the grids' cells are not the same");
        }
    *all = frames[0].grid;
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        all->origin[a] = low[a];
        all->n[a] = (int)lround(fmin((high[a] - low[a]) / dx, 1 << 20));
        cells *= all->n[a];
        for (int i = 0; i < count; i++)
            at[i].low[a] = (int)lround((frames[i].grid.origin[a] - low[a]) / dx);
    }
    if (cells > 1 << 30)
        return und_error_set(err, UND_FAILED, "a grid around all grids would have %g cells", cells);
    return UND_OK;
}

/* How many more values than cells a field has along each axis; false: it is no field on the grid. */
static bool extra_of(const und_item *item, const und_grid *g, int extra[3])
{
    if ((item->kind != UND_FIELD && item->kind != UND_FACES) || item->rank != 3 || item->type != UND_F32)
        return false;
    for (int a = 0; a < 3; a++) {
        extra[a] = (int)item->dim[2 - a] - g->n[a];
        if (extra[a] != 0 && extra[a] != 1)
            return false;
    }
    return true;
}

typedef struct block {
    float *data;
    int n[3];
} block;

static float *value_at(const block *b, int x, int y, int z)
{
    return b->data + ((size_t)z * (size_t)b->n[1] + (size_t)y) * (size_t)b->n[0] + (size_t)x;
}

static void put_field(const block *to, const und_item *item, const place *at)
{
    block from = {item->data, {(int)item->dim[2], (int)item->dim[1], (int)item->dim[0]}};
    for (int z = 0; z < from.n[2]; z++)
        for (int y = 0; y < from.n[1]; y++)
            memcpy(value_at(to, at->low[0], at->low[1] + y, at->low[2] + z), value_at(&from, 0, y, z),
                   (size_t)from.n[0] * sizeof(float));
}

/* Beyond the sides of the grids there is air, and the surface is at the side. */
static void close_sides(const block *b, float unset)
{
    for (int z = 0; z < b->n[2]; z++)
        for (int y = 0; y < b->n[1]; y++)
            for (int x = 0; x < b->n[0]; x++) {
                float *here = value_at(b, x, y, z), nearest = 0;
                if (*here != unset)
                    continue;
                for (int side = 0; side < 6; side++) {
                    int at[3] = {x, y, z};
                    at[side / 2] += side % 2 ? 1 : -1;
                    if (at[side / 2] < 0 || at[side / 2] >= b->n[side / 2])
                        continue;
                    float beside = *value_at(b, at[0], at[1], at[2]);
                    nearest = beside < nearest ? beside : nearest;
                }
                if (nearest < 0)
                    *here = -nearest;
            }
}

static und_status merge_field(const und_frame *frames, int count, const place *at, const und_item *first,
                              const int extra[3], und_frame *out, und_error *err)
{
    und_item_def def = {first->name, first->unit, first->kind, first->type, false, 3, {0}};
    block to = {NULL, {0}};
    for (int a = 0; a < 3; a++) {
        to.n[a] = out->grid.n[a] + extra[a];
        def.dim[2 - a] = (size_t)to.n[a];
    }
    und_item *item = und_frame_add(out, &def, err);
    if (!item)
        return err->status;
    to.data = item->data;
    const bool distance = strstr(first->name, "distance") != NULL;
    const float far = 1000 * (float)out->grid.dx; /* no grid has it */
    for (size_t i = 0; distance && i < und_item_count(item); i++)
        to.data[i] = far;
    for (int i = count - 1; i >= 0; i--) { /* the first has the last word */
        const und_item *part = und_frame_find(&frames[i], first->name);
        int same[3];
        if (part && extra_of(part, &frames[i].grid, same) && memcmp(same, extra, sizeof same) == 0)
            put_field(&to, part, &at[i]);
    }
    if (strcmp(first->name, "distance") == 0)
        close_sides(&to, far);
    return UND_OK;
}

static bool same_rows(const und_item *a, const und_item *b)
{
    return a->type == b->type && a->rank == b->rank && (a->rank < 2 || a->dim[1] == b->dim[1]);
}

static bool same_item(const und_item *a, const und_item *b)
{
    return same_rows(a, b) && a->dim[0] == b->dim[0] &&
           (und_item_bytes(a) == 0 || memcmp(a->data, b->data, und_item_bytes(a)) == 0);
}

static und_status join_items(const und_frame *frames, int count, const und_item *first, und_frame *out,
                             und_error *err)
{
    const und_item *part[64];
    const bool solid = strncmp(first->name, "solid/", 6) == 0;
    und_item_def def = {first->name, first->unit, first->kind, first->type, false, first->rank, {0}};
    int parts = 0;
    memcpy(def.dim, first->dim, sizeof def.dim);
    def.dim[0] = 0;
    for (int i = 0; i < count && parts < 64; i++) {
        const und_item *one = und_frame_find(&frames[i], first->name);
        bool again = !one || !same_rows(one, first);
        for (int k = 0; k < parts && solid && !again; k++)
            again = same_item(one, part[k]);
        if (again)
            continue;
        part[parts++] = one;
        def.dim[0] += one->dim[0];
    }
    und_item *item = und_frame_add(out, &def, err);
    char *to = item ? item->data : NULL;
    for (int k = 0; item && k < parts; k++) {
        size_t bytes = und_item_bytes(part[k]);
        if (bytes > 0)
            memcpy(to, part[k]->data, bytes);
        to += bytes;
    }
    return item ? UND_OK : err->status;
}

und_status merge_frames(const und_frame *frames, int count, und_frame *out, und_error *err)
{
    place at[64];
    und_grid all;
    und_status status = count < 64 ? find_grid(frames, count, &all, at, err)
                                   : und_error_set(err, UND_FAILED, "%d grids are too many", count);
    if (status != UND_OK)
        return status;
    *out = und_frame_empty(frames[0].number, frames[0].time, all);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < frames[i].count && status == UND_OK; k++) {
            const und_item *item = &frames[i].items[k];
            int extra[3];
            if (und_frame_find(out, item->name))
                continue;
            if (extra_of(item, &frames[i].grid, extra))
                status = merge_field(frames, count, at, item, extra, out, err);
            else if (item->kind == UND_PARTICLES)
                status = join_items(frames, count, item, out, err);
            else {
                und_item_def def = {item->name, item->unit, item->kind, item->type, false, item->rank, {0}};
                memcpy(def.dim, item->dim, sizeof def.dim);
                und_item *copy = und_frame_add(out, &def, err);
                if (copy && und_item_bytes(item) > 0)
                    memcpy(copy->data, item->data, und_item_bytes(item));
                status = copy ? UND_OK : err->status;
            }
        }
    if (status != UND_OK)
        und_frame_clear(out);
    return status;
}
