/* A grid with walls around and a velocity that a test sets, for what moves with the liquid. */
#ifndef UND_TESTS_TANK_H
#define UND_TESTS_TANK_H

#include "tests/test.h"

#include "geom/value.h"
#include "grid/mac.h"

#include <undine/cells.h>

enum { TANK_WALLS = 8 }; /* six sides, and two for the test */

typedef struct tank {
    und_mac mac;
    double *u[3];
    uint8_t *label, *wall;
    und_wall_def walls[TANK_WALLS]; /* slip */
} tank;

static inline tank tank_open(int nx, int ny, int nz, const double d[3], const double origin[3])
{
    const int n[3] = {nx, ny, nz};
    tank t = {.mac = und_mac_make(n, d, origin)};
    t.label = calloc(t.mac.count, 1);
    t.wall = calloc(t.mac.count, 1);
    assert_non_null(t.label);
    assert_non_null(t.wall);
    for (int a = 0; a < 3; a++) {
        t.u[a] = calloc(t.mac.count, sizeof **t.u);
        assert_non_null(t.u[a]);
    }
    for (int z = -1; z <= nz; z++)
        for (int y = -1; y <= ny; y++)
            for (int x = -1; x <= nx; x++) {
                size_t i = und_mac_at(&t.mac, x, y, z);
                int side = x < 0 ? 0 : x == nx ? 1 : y < 0 ? 2 : y == ny ? 3 : z < 0 ? 4 : z == nz ? 5 : -1;
                t.label[i] = side < 0 ? UND_CELL_EMPTY : UND_CELL_SOLID;
                t.wall[i] = (uint8_t)(side < 0 ? 0 : side);
            }
    return t;
}

static inline void tank_close(tank *t)
{
    for (int a = 0; a < 3; a++)
        free(t->u[a]);
    free(t->label);
    free(t->wall);
}

/* Sets each face's velocity to that of velocity(context, place, out) there. */
typedef void tank_velocity(void *context, const double place[3], double out[3]);

static inline void tank_set(tank *t, tank_velocity *velocity, void *context)
{
    const und_mac *m = &t->mac;
    for (int a = 0; a < 3; a++)
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                for (int x = -1; x <= m->n[0]; x++) {
                    double v[3],
                        p[3] = {und_mac_middle(m, 0, x), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z)};
                    p[a] += 0.5 * m->d[a];
                    velocity(context, p, v);
                    t->u[a][und_mac_at(m, x, y, z)] = v[a];
                }
}

#endif
