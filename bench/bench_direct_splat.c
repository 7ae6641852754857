/* direct.splat: one velocity particle in each of 128^3 cells, put anywhere in it and moving by splines, is
 * rendered into the cells; of radii between a half and one cell, as is usual, and one after the other by
 * their cells or in any order.  And beside it, direct.advect, the advection of the velocity in as many cells.
 */
#include "bench/bench.h"

#include "base/random.h"
#include "base/status.h"
#include "control/control_particles.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 128, MANY = SIDE * SIDE * SIDE, FRAMES = 4 };

typedef struct splat {
    und_mac mac;
    und_control_particles *control_particles;
    int32_t *cell;
    float (*at[FRAMES])[3];
    und_control_particle_frame frames[FRAMES];
    double time;
    und_mac_flow flow;
    und_solids solids;
    und_distance surface;
} splat;

static void render(void *context)
{
    splat *s = context;
    s->time += 1e-3;
    und_control_particles_render(s->control_particles, s->time, 1e-3);
}

static void advect(void *context)
{
    splat *s = context;
    und_mac_flow_advect(&s->flow, 1.5, UND_TRACE_RK2, UND_ADVECT_MACCORMACK);
}

static void set_flow(splat *s)
{
    const und_mac *m = &s->mac;
    for (int z = -1; z <= SIDE; z++)
        for (int y = -1; y <= SIDE; y++)
            for (int x = -1; x <= SIDE; x++) {
                size_t i = und_mac_at(m, x, y, z);
                s->surface.phi[i] = -1;
                s->flow.u[0][i] = (float)(1 - 2 * (y + 0.5) / SIDE);
                s->flow.u[1][i] = (float)(2 * (x + 0.5) / SIDE - 1);
            }
    und_distance_refresh(&s->surface);
    und_mac_flow_label(&s->flow, &s->surface, &s->solids);
}

/* Particle i is cell[i]'s. */
static und_status open_frames(splat *s, und_error *err)
{
    s->cell = und_alloc(MANY, sizeof *s->cell, "particles", err);
    for (int k = 0; k < FRAMES; k++)
        s->at[k] = s->cell ? und_alloc(MANY, sizeof *s->at[k], "particles", err) : NULL;
    if (err->status != UND_OK)
        return err->status;
    for (int32_t i = 0; i < MANY; i++)
        s->cell[i] = i;
    return UND_OK;
}

static void shuffle(splat *s)
{
    for (uint64_t i = MANY - 1; i > 0; i--) {
        uint64_t k = (uint64_t)(und_random(2, i, 0) * (double)(i + 1));
        int32_t cell = s->cell[i];
        s->cell[i] = s->cell[k];
        s->cell[k] = cell;
    }
}

static void set_frames(splat *s)
{
    for (int k = 0; k < FRAMES; k++) {
        for (int i = 0; i < MANY; i++) {
            const int c = s->cell[i], cell[3] = {c % SIDE, c / SIDE % SIDE, c / SIDE / SIDE};
            for (int a = 0; a < 3; a++)
                s->at[k][i][a] = (float)(cell[a] + und_random(1, (uint64_t)c, (uint64_t)a) + 0.1 * k * k);
        }
        s->frames[k] =
            (und_control_particle_frame){.time = k, .count = MANY, .at = (const float(*)[3])s->at[k]};
    }
}

static und_status open_splat(splat *s, int threads, und_error *err)
{
    const bool sides[6] = {false};
    s->mac = und_mac_make((const int[3]){SIDE, SIDE, SIDE}, (const double[3]){1, 1, 1}, (const double[3]){0});
    if (open_frames(s, err) || und_mac_flow_open(&s->flow, &s->mac, threads, NULL, err) ||
        und_distance_open(&s->surface, &s->mac, 3, threads, err) ||
        und_solids_open(&s->solids, &s->mac, NULL, 0, sides, 0, threads, err))
        return err->status;
    set_flow(s);
    return UND_OK;
}

static und_status measure(splat *s, double radius, const char *order, const bench_context *context,
                          und_error *err)
{
    und_control_particle_def def = und_control_particle_def_default();
    def.falloff = UND_FALLOFF_CUBIC;
    def.radius = radius;
    def.frames = s->frames;
    def.frame_count = FRAMES;
    s->time = 1;
    s->control_particles = und_control_particles_create(&s->mac, &def, 1, context->threads, err);
    if (!s->control_particles)
        return err->status;
    bench_result result = {.name = "direct.splat", .cells = MANY, .threads = context->threads};
    snprintf(result.size, sizeof result.size, "%g cell%s", radius, order);
    bench_measure(context, render, s, 5, &result);
    context->report(context->user, &result);
    und_control_particles_destroy(s->control_particles);
    return UND_OK;
}

static und_status measure_all(splat *s, const bench_context *context, und_error *err)
{
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        if (shuffled)
            shuffle(s);
        set_frames(s);
        for (int k = 0; k < 2; k++)
            if (measure(s, k ? 1 : 0.75, shuffled ? ", any" : "", context, err) != UND_OK)
                return err->status;
    }
    bench_result result = {.name = "direct.advect", .cells = MANY, .threads = context->threads};
    snprintf(result.size, sizeof result.size, "%d^3", SIDE);
    bench_measure(context, advect, s, 5, &result);
    context->report(context->user, &result);
    return UND_OK;
}

und_status bench_direct_splat(const bench_context *context, und_error *err)
{
    splat s = {0};
    und_status status = open_splat(&s, context->threads, err);
    if (status == UND_OK)
        status = measure_all(&s, context, err);
    und_mac_flow_close(&s.flow);
    und_solids_close(&s.solids);
    und_distance_close(&s.surface);
    for (int k = 0; k < FRAMES; k++)
        free(s.at[k]);
    free(s.cell);
    return status;
}
