/* The window that large domains have by themselves, of grids that source each other: what one keeps for the
 * next, and what that makes of it, has every bit that it has in the whole grids. */
#include "tests/levelset_automatic.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

/* What a grid has kept, in memory. */
typedef struct tape {
    size_t values;
    int count;
    double time[MOST];
    float *value[MOST];
} tape;

static und_status keep(void *context, long index, double time, const float *values, und_error *err)
{
    tape *t = context;
    (void)err;
    assert_true(index == t->count && index < MOST);
    t->time[index] = time;
    t->value[index] = malloc(t->values * sizeof *values);
    memcpy(t->value[index], values, t->values * sizeof *values);
    t->count++;
    return UND_OK;
}

static und_status fetch(void *context, double time, const float *value[2], double when[2], und_error *err)
{
    const tape *t = context;
    int at = 0;
    (void)err;
    while (at < t->count - 2 && t->time[at + 1] <= time)
        at++;
    for (int k = 0; k < 2; k++) {
        value[k] = t->value[at + k];
        when[k] = t->time[at + k];
    }
    return UND_OK;
}

static void free_tape(tape *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->value[i]);
    t->count = 0;
}

static void record(und_levelset_def def, double automatic, int frames, tape *t)
{
    def.window.automatic = automatic;
    def.sink.put = keep;
    def.sink.context = t;
    t->values =
        und_levelset_bands(def.n, def.open, def.heat != NULL, def.surface_rule == UND_SURFACE_VOLUME).values;
    und_levelset *l = start_levelset(&def);
    assert_true(automatic == 0 || cells_of(l) < (long)def.n[0] * def.n[1] * def.n[2] / 2);
    for (int i = 0; i < frames; i++)
        und_levelset_step(l, 1.0 / 24);
    und_levelset_destroy(l);
}

static void compare_tapes(const tape *due, const tape *has)
{
    assert_int_equal(due->count, has->count);
    for (int i = 0; i < due->count; i++) {
        assert_true(due->time[i] == has->time[i]);
        for (size_t k = 0; k < due->values; k++)
            if (memcmp(&due->value[i][k], &has->value[i][k], sizeof(float)) != 0)
                fail_msg("record %d, value %zu of %zu: %.9g, not %.9g", i, k, due->values,
                         (double)has->value[i][k], (double)due->value[i][k]);
    }
}

/* A drop is thrown out of the lower side of a grid, with spray, and another aside; below it goes on. */
static void flow_on(const und_levelset_def *changes, int cells, int depth, int frames)
{
    static tape due, has;
    scene t;
    make_scene(&t, cells, depth);
    und_levelset_def upper = t.def, lower = t.def;
    upper.surface_rule = lower.surface_rule = changes->surface_rule;
    upper.heat = lower.heat = changes->heat;
    upper.viscosity = lower.viscosity = changes->viscosity;
    upper.open[2] = upper.open[0] = true;
    t.drop.radius = 0.1;
    t.drop.center.x = 0.4;
    t.fill.velocity[0].number = -1;
    t.fill.velocity[1].number = -2;
    record(upper, 0, frames, &due);
    record(upper, 1, frames, &has);
    compare_tapes(&due, &has);
    const double dx = upper.dx;
    lower.fill_count = 0;
    lower.origin[1] = upper.origin[1] - (cells - UND_BAND) * dx;
    const und_upstream_def from = {.name = "upper",
                                   .n = {upper.n[0], upper.n[1], upper.n[2]},
                                   .dx = dx,
                                   .origin = {upper.origin[0], upper.origin[1], upper.origin[2]},
                                   .open = {[0] = true, [2] = true},
                                   .heat = upper.heat != NULL,
                                   .volume = upper.surface_rule == UND_SURFACE_VOLUME,
                                   .fetch = fetch,
                                   .context = &due};
    lower.upstreams = &from;
    lower.upstream_count = 1;
    assert_true(compare(lower, frames) < 0.5);
    free_tape(&due);
    free_tape(&has);
}

static void what_flows_on(void **state)
{
    (void)state;
    const und_levelset_def plain = und_levelset_def_default();
    flow_on(&plain, 160, 1, 12);
    flow_on(&plain, 80, 72, 5);
}

static void what_flows_on_with_particles_alone(void **state)
{
    (void)state;
    und_levelset_def particles = und_levelset_def_default();
    particles.surface_rule = UND_SURFACE_PARTICLES;
    flow_on(&particles, 160, 1, 12);
}

static void what_flows_on_is_thick_and_hot(void **state)
{
    (void)state;
    static const double table[2][2] = {{0, 0.1}, {100, 0.001}};
    const und_heat_def heat = {.start = {.number = 60}, .diffusivity = 1e-3, .count = 2, .viscosity = table};
    und_levelset_def thick = und_levelset_def_default();
    thick.heat = &heat;
    flow_on(&thick, 160, 1, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_flows_on),
        cmocka_unit_test(what_flows_on_with_particles_alone),
        cmocka_unit_test(what_flows_on_is_thick_and_hot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
