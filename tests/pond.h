/* A height field with velocities that a test sets. */
#ifndef UND_TESTS_POND_H
#define UND_TESTS_POND_H

#include "tests/test.h"

#include "surface/height.h"

/* A height field with the velocities and labels that it is moved by. */
typedef struct pond {
    und_mac mac;
    und_height *height;
    uint8_t *label;
    double *u[3];
} pond;

/* Everything beside the domain is Solid, everything in it Empty. */
static inline pond a_pond_of(const int n[3], const double d[3], const double origin[3], int threads)
{
    pond p = {.mac = und_mac_make(n, d, origin)};
    und_error err = {0};
    p.height = und_height_create(&p.mac, threads, &err);
    p.label = calloc(p.mac.count, 1);
    assert_non_null(p.height);
    assert_non_null(p.label);
    for (int a = 0; a < 3; a++) {
        p.u[a] = calloc(p.mac.count, sizeof(double));
        assert_non_null(p.u[a]);
    }
    memset(p.label, UND_CELL_SOLID, p.mac.count);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            memset(p.label + und_mac_at(&p.mac, 0, y, z), UND_CELL_EMPTY, (size_t)n[0]);
    und_height_ground(p.height, p.label);
    return p;
}

static inline pond a_pond(int nx, int ny, int nz, double dx, double dy, double dz)
{
    return a_pond_of((int[3]){nx, ny, nz}, (double[3]){dx, dy, dz}, (double[3]){0}, 1);
}

static inline void close_pond(pond *p)
{
    und_height_destroy(p->height);
    free(p->label);
    for (int a = 0; a < 3; a++)
        free(p->u[a]);
}

static inline double *h_at(const pond *p, int x, int z)
{
    return &p->height->h[und_height_at(p->height, x, z)];
}

static inline void fill(const pond *p, double level)
{
    for (int z = 0; z < p->mac.n[2]; z++)
        for (int x = 0; x < p->mac.n[0]; x++)
            *h_at(p, x, z) = fmax(level, p->height->ground[und_height_at(p->height, x, z)]);
}

static inline void set_speed(const pond *p, int axis, double speed)
{
    for (size_t i = 0; i < p->mac.count; i++)
        p->u[axis][i] = speed;
}

static inline double move(const pond *p, double dt)
{
    und_height_label(p->height, p->label);
    return und_height_move(p->height, p->u, p->label, dt);
}

#endif
