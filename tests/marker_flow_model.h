/* A flow in a box with walls on all sides, and a step of it, for tests of the flow's parts. */
#ifndef UND_TESTS_MARKER_FLOW_MODEL_H
#define UND_TESTS_MARKER_FLOW_MODEL_H

#include "flow/marker_flow.h"
#include "tests/test.h"

enum { MODEL_WALLS = 9 }; /* the six sides and three more for solids */

typedef struct flow_model {
    und_marker_flow flow;
    und_wall_def walls[MODEL_WALLS];
    und_momentum momentum;
    double time, epsilon;
    int sweeps; /* at most, in a step; 0: as many as it takes */
    und_marker_flow_report last;
} flow_model;

/* Walls are as in *s; all cells are liquid. */
static inline void open_model(flow_model *s, int nx, int ny, int nz, double dx, double dy, double dz,
                              int threads)
{
    und_mac mac = und_mac_make((int[3]){nx, ny, nz}, (double[3]){dx, dy, dz}, (double[3]){0, 0, 0});
    und_error err;
    assert_int_equal(und_marker_flow_open(&s->flow, &mac, s->walls, MODEL_WALLS, threads, &err), UND_OK);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                s->flow.label[und_mac_at(&mac, x, y, z)] = UND_CELL_FULL;
    if (s->epsilon == 0)
        s->epsilon = 1e-9;
}

static inline void set_label(flow_model *s, int x, int y, int z, und_label label)
{
    s->flow.label[und_mac_at(&s->flow.mac, x, y, z)] = (uint8_t)label;
}

static inline void set_solid(flow_model *s, int x, int y, int z, int wall)
{
    set_label(s, x, y, z, UND_CELL_SOLID);
    s->flow.wall[und_mac_at(&s->flow.mac, x, y, z)] = (uint8_t)wall;
}

static inline void start_model(flow_model *s)
{
    und_marker_flow_walls_changed(&s->flow);
    und_marker_flow_label(&s->flow);
    und_marker_flow_set_walls(&s->flow, 0, false);
    und_marker_flow_set_surface(&s->flow, s->momentum.gravity, 0);
    und_marker_flow_set_walls(&s->flow, 0, true);
}

static inline void step_model(flow_model *s, double dt)
{
    und_marker_flow *f = &s->flow;
    und_marker_flow_momentum(f, &s->momentum, dt);
    und_marker_flow_set_walls(f, s->time + dt, false);
    s->last = und_marker_flow_relax(f, dt, 1.7, s->epsilon, s->sweeps ? s->sweeps : 100000);
    und_marker_flow_set_walls(f, s->time + dt, true);
    und_marker_flow_set_surface(f, s->momentum.gravity, dt);
    s->time += dt;
}

static inline double *face(flow_model *s, int axis, int x, int y, int z) /* the high one of the cell */
{
    return &s->flow.u[axis][und_mac_at(&s->flow.mac, x, y, z)];
}

#endif
