/* A flow with solids and a surface that tests make up. */
#ifndef UND_TESTS_MAC_FLOW_MODEL_H
#define UND_TESTS_MAC_FLOW_MODEL_H

#include "flow/mac_flow_parts.h"
#include "tests/test.h"

#include "base/pages.h"

typedef struct stream_model {
    und_mac_flow s;
    und_solids solids;
    und_distance d;
} stream_model;

static inline float *model_array(const und_mac *m)
{
    und_error err;
    float *v = und_pages_alloc(m->count * sizeof *v, "a field", &err);
    assert_non_null(v);
    return v;
}

/* What the flow's stages are lent: what has been there before is no matter. */
static inline void model_spoil_scratch(und_mac_flow *s, int byte)
{
    float *lent[8];
    for (int i = 0; i < 8; i++)
        memset(lent[i] = und_mac_flow_take(s), byte, s->mac.count * sizeof **lent);
    und_mac_flow_give_back(s, lent);
}

/* Open faces inside; sides: whether those of the domain are open.  No liquid. */
static inline void model_open(stream_model *w, int nx, int ny, int nz, bool sides, int threads)
{
    und_error err;
    und_mac m = und_mac_make((int[]){nx, ny, nz}, (double[]){1, 1, 1}, (double[]){0, 0, 0});
    *w = (stream_model){.solids = {.mac = m, .device = {.threads = threads}},
                        .d = {.mac = m, .device = {.threads = threads}}};
    assert_int_equal(und_mac_flow_open(&w->s, &m, threads, NULL, &err), UND_OK);
    model_spoil_scratch(&w->s, 255); /* no number */
    w->d.phi = model_array(&m);
    for (size_t i = 0; i < m.count; i++)
        w->d.phi[i] = 1;
    for (int a = 0; a < 3; a++) {
        w->solids.open[a] = model_array(&m);
        w->solids.u[a] = model_array(&m);
        for (int z = a == 2 ? -1 : 0; z < nz; z++)
            for (int y = a == 1 ? -1 : 0; y < ny; y++)
                for (int x = a == 0 ? -1 : 0; x < nx; x++) {
                    const int at[3] = {x, y, z};
                    bool side = at[a] == -1 || at[a] == m.n[a] - 1;
                    w->solids.open[a][und_mac_at(&m, x, y, z)] = sides || !side;
                }
    }
}

static inline void model_close(stream_model *w)
{
    und_mac_flow_close(&w->s);
    und_pages_free(w->d.phi);
    und_pages_free(w->solids.distance);
    for (int a = 0; a < 3; a++) {
        und_pages_free(w->solids.open[a]);
        und_pages_free(w->solids.u[a]);
    }
}

typedef double model_fn(double x, double y, double z);

/* What stands at cells, or with an axis 0 to 2 at their high faces, places being in cells. */
static inline void model_fill(const und_mac *m, float *v, int axis, model_fn *fn)
{
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++)
                v[und_mac_at(m, x, y, z)] = (float)fn(x + (axis == 0 ? 1 : 0.5), y + (axis == 1 ? 1 : 0.5),
                                                      z + (axis == 2 ? 1 : 0.5));
}

static inline void model_label(stream_model *w, model_fn *phi)
{
    model_fill(&w->s.mac, w->d.phi, 3, phi);
    und_mac_flow_label(&w->s, &w->d, &w->solids);
}

#endif
