/* Level sets for tests: made from functions of the place in cells. */
#ifndef UND_TESTS_DISTANCE_MODEL_H
#define UND_TESTS_DISTANCE_MODEL_H

#include "base/pages.h"
#include "surface/distance.h"
#include "tests/test.h"

typedef double place_fn(const double place[3], const double *numbers);

/* A grid of cells of size 1 / n[0] m with the origin at 0. */
static inline und_mac model_mac(int x, int y, int z)
{
    double d = 1.0 / x;
    return und_mac_make((int[]){x, y, z}, (double[]){d, d, d}, (double[]){0, 0, 0});
}

static inline void model_fill(und_distance *d, place_fn *fn, const double *numbers)
{
    const und_mac *m = &d->mac;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                double place[3] = {x + 0.5, y + 0.5, z + 0.5};
                d->phi[und_mac_at(m, x, y, z)] = (float)fn(place, numbers);
            }
    und_distance_refresh(d);
}

static inline und_distance model_open(und_mac mac, int threads, place_fn *fn, const double *numbers)
{
    und_error err;
    und_distance d;
    assert_int_equal(und_distance_open(&d, &mac, 5, threads, &err), UND_OK);
    model_fill(&d, fn, numbers);
    return d;
}

/* numbers: center, radius.  In two dimensions the center's z is 0.5. */
static inline double model_ball(const double place[3], const double *b)
{
    return sqrt((place[0] - b[0]) * (place[0] - b[0]) + (place[1] - b[1]) * (place[1] - b[1]) +
                (place[2] - b[2]) * (place[2] - b[2])) -
           b[3];
}

/* numbers: a point, a unit normal, half the thickness. */
static inline double model_sheet(const double place[3], const double *s)
{
    double away = 0;
    for (int a = 0; a < 3; a++)
        away += (place[a] - s[a]) * s[3 + a];
    return fabs(away) - s[6];
}

/* Cells of liquid. */
static inline double model_cells(const und_distance *d)
{
    return und_distance_volume(d, NULL) / (d->mac.d[0] * d->mac.d[1] * d->mac.d[2]);
}

static inline float model_at(const und_distance *d, int x, int y, int z)
{
    return d->phi[und_mac_at(&d->mac, x, y, z)];
}

#endif
