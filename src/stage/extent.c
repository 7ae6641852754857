#include "stage/extent.h"

#include <math.h>

static void widen(und_extent *e, const und_extent *by)
{
    if (!by->any)
        return;
    for (int a = 0; a < 3; a++) {
        e->low[a] = e->any ? fmin(e->low[a], by->low[a]) : by->low[a];
        e->high[a] = e->any ? fmax(e->high[a], by->high[a]) : by->high[a];
    }
    e->any = true;
}

static und_extent of_points(const und_frame *frame, const char *name)
{
    size_t count;
    const float *p = und_frame_points(frame, name, &count);
    und_extent e = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t k = 0; p && k < 3 * count; k++) {
        e.low[k % 3] = fmin(e.low[k % 3], (double)p[k]);
        e.high[k % 3] = fmax(e.high[k % 3], (double)p[k]);
    }
    e.any = p && count > 0;
    return e;
}

/* The cells in which the distance is below 0. */
static und_extent of_distance(const und_frame *frame)
{
    const und_grid *g = &frame->grid;
    const float *phi = NULL;
    und_error ignored; /* a picture of the frame tells of it */
    int low[3] = {g->n[0], g->n[1], g->n[2]}, high[3] = {-1, -1, -1}, at[3];
    if (und_frame_field(frame, "distance", -1, &phi, &ignored) != UND_OK || !phi)
        return (und_extent){.any = false};
    for (at[2] = 0; at[2] < g->n[2]; at[2]++)
        for (at[1] = 0; at[1] < g->n[1]; at[1]++)
            for (at[0] = 0; at[0] < g->n[0]; at[0]++, phi++)
                for (int a = 0; *phi < 0 && a < 3; a++) {
                    low[a] = at[a] < low[a] ? at[a] : low[a];
                    high[a] = at[a] > high[a] ? at[a] : high[a];
                }
    und_extent e = {.any = high[0] >= 0};
    for (int a = 0; a < 3; a++) {
        e.low[a] = g->origin[a] + low[a] * und_grid_size(g, a);
        e.high[a] = g->origin[a] + (high[a] + 1) * und_grid_size(g, a);
    }
    return e;
}

void und_extent_add(und_extent *extent, const und_frame *frame)
{
    const und_grid *g = &frame->grid;
    und_extent e = of_distance(frame);
    const und_extent skin = of_points(frame, "liquid/mesh_position"),
                     solid = of_points(frame, "solid/mesh_position");
    widen(&e, &skin);
    widen(&e, &solid);
    double low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = g->origin[a];
        high[a] = g->origin[a] + g->n[a] * und_grid_size(g, a);
    }
    und_frame_domain(frame, low, high);
    for (int a = 0; a < 3 && g->n[2] > 1; a++) { /* what is turned about an axis leaves its grid */
        e.low[a] = fmin(fmax(e.low[a], low[a]), high[a]);
        e.high[a] = fmax(fmin(e.high[a], high[a]), low[a]);
    }
    widen(extent, &e);
}

/* The whole frame at the ends of the run, where what never changes is found too. */
static void add_frame(und_extent *extent, und_cache *cache, int number, bool whole)
{
    static const char *const items[] = {"distance", "liquid/mesh_position", "solid/mesh_position"};
    und_error ignored;
    for (int k = 0; k < (whole ? 1 : 3); k++) {
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
        und_status status = whole ? und_cache_read(cache, number, &frame, &ignored)
                                  : und_cache_read_item(cache, number, items[k], &frame, &ignored);
        if (status == UND_OK)
            und_extent_add(extent, &frame);
        und_frame_clear(&frame);
    }
}

void und_extent_of_cache(und_extent *extent, und_cache *cache, int most)
{
    const und_cache_info info = und_cache_describe(cache);
    int last = info.row_count - 1, count = most > 0 && most < info.row_count ? most : info.row_count;
    for (int i = 0; i < count; i++) {
        int row = count > 1 ? (int)((double)i * last / (count - 1)) : last;
        add_frame(extent, cache, info.rows[row].frame, row == 0 || row == last);
    }
}
