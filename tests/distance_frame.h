/* Frames of a liquid whose surface is a distance, made of functions of place. */
#ifndef UND_TESTS_DISTANCE_FRAME_H
#define UND_TESTS_DISTANCE_FRAME_H

#include "tests/test.h"

#include "grid/frame.h"

typedef double place_fn(double x, double y, double z);

static inline float *add_samples(und_frame *f, const char *name, const char *unit, int faces_along,
                                 place_fn *fn)
{
    const und_grid *g = &f->grid;
    int n[3];
    double low[3];
    for (int a = 0; a < 3; a++) {
        n[a] = g->n[a] + (a == faces_along);
        low[a] = g->origin[a] + (a == faces_along ? 0 : 0.5) * und_grid_size(g, a);
    }
    und_item_def def = {.name = name,
                        .unit = unit,
                        .kind = faces_along < 0 ? UND_FIELD : UND_FACES,
                        .type = UND_F32,
                        .rank = 3,
                        .dim = {(size_t)n[2], (size_t)n[1], (size_t)n[0]}};
    und_item *item = und_frame_add(f, &def, NULL);
    assert_non_null(item);
    float *to = item->data;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                *to++ = (float)fn(low[0] + x * und_grid_size(g, 0), low[1] + y * und_grid_size(g, 1),
                                  low[2] + z * und_grid_size(g, 2));
    return item->data;
}

/* A grid of n cells along the unit's x. */
static inline und_frame distance_frame(int nx, int ny, int nz, double dx, place_fn *distance)
{
    und_frame f = und_frame_empty(1, 0, (und_grid){.n = {nx, ny, nz}, .dx = dx, .origin = {0.25, -0.5, 1}});
    add_samples(&f, "distance", "m", -1, distance);
    return f;
}

#endif
