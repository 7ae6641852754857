#include "flow/carried.h"

#include "flow/carried_kernel.h"
#include "grid/field.h"
#include "grid/mask_kernel.h"
#include "surface/distance_refresh_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FIELD(member, ...) UND_FIELD(und_carried, member, UND_AT_CELLS, ##__VA_ARGS__)

static const und_field fields[] = {FIELD(value, .halo = UND_HALO_CROSSED), FIELD(next), FIELD(own), FIELD(b),
                                   FIELD(x)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_carried_open(und_carried *c, const und_mac *mac, float outside, int threads, und_error *err)
{
    static const char *const what = "what the liquid carries";
    und_field own[FIELDS];
    memcpy(own, fields, sizeof fields);
    own[0].outside = own[1].outside = outside;
    *c = (und_carried){.mac = *mac, .device = {.threads = threads}};
    if (und_field_open_all(c, own, FIELDS, &(und_field_room){.mac = mac}, what, err) != UND_OK ||
        und_mask_open(&c->known[0], mac, what, err) != UND_OK ||
        und_mask_open(&c->known[1], mac, what, err) != UND_OK ||
        und_mask_open(&c->had, mac, what, err) != UND_OK) {
        und_carried_close(c);
        return err->status;
    }
    UND_MAC_EACH_ROW (mac, row) {
        const int y = row % mac->n[1], z = row / mac->n[1];
        for (int w = und_mask_words(&c->had, y, z).begin; w < und_mask_words(&c->had, y, z).end; w++)
            und_mask_row(&c->had, y, z)[w] = und_word_inside(mac->n[0], w);
    }
    return UND_OK;
}

void und_carried_close(und_carried *c)
{
    und_field_close_all(c, fields, FIELDS);
    und_mask_close(&c->known[0]);
    und_mask_close(&c->known[1]);
    und_mask_close(&c->had);
    *c = (und_carried){0};
}

/* ---- With the flow ---- */

enum { MOST_LAYERS = 64, FIXED = 5 }; /* steps: those of layers, and the others */

/* What moves comes no further than the layers go; it is followed there and back, between places. */
int und_carried_reach(int layers)
{
    return 2 * (layers + 1);
}

static void get_around(const und_carried *c, float *const u[3], int layers)
{
    const int reach = und_carried_reach(layers);
    und_halo_field halo[4] = {und_field_halo(c, &fields[0], &c->mac, layers + reach)};
    for (int a = 0; a < 3; a++)
        halo[1 + a] = und_halo_of(&c->mac, u[a], sizeof *u[a], reach);
    und_halo_get(c->device.halo, halo, 4);
}

/* The value goes on into some layers around the liquid; then all that is known moves, in one region. */
void und_carried_move(und_carried *c, const float *phi, float *const u[3], double cells_per_speed,
                      und_trace_order trace, int layers)
{
    const und_set rows = und_set_rows(&c->mac, UND_ROWS_INSIDE), all = und_set_rows(&c->mac, UND_ROWS_ALL),
                  cells = und_set_cells(&c->mac, UND_ROWS_INSIDE, &c->known[layers % 2]);
    const und_distance_copy_args copy = {c->mac, c->value, c->next};
    und_carried_args args[2];
    und_pass passes[MOST_LAYERS + FIXED];
    und_step steps[MOST_LAYERS + FIXED];
    int count = 0;
    assert(layers <= MOST_LAYERS);
    for (int i = 0; i < 2; i++)
        args[i] = (und_carried_args){.mac = c->mac,
                                     .phi = phi,
                                     .value = c->value,
                                     .next = c->next,
                                     .b = c->b,
                                     .u = {u[0], u[1], u[2]},
                                     .known = c->known[i],
                                     .grown = c->known[1 - i],
                                     .cells_per_speed = (float)cells_per_speed,
                                     .third = trace == UND_TRACE_RK3};
    get_around(c, u, layers);
    passes[count++] = UND_PASS(und_carried_know, &args[0], &rows);
    for (int i = 0; i < layers; i++)
        passes[count++] = UND_PASS(und_carried_extend, &args[i % 2], &rows);
    passes[count++] = UND_PASS(und_distance_copy_row, &copy, &all);
    passes[count++] = UND_PASS(und_carried_guess, &args[0], &cells);
    passes[count++] = UND_PASS(und_carried_correct, &args[0], &cells);
    passes[count++] = UND_PASS(und_carried_take, &args[0], &cells);
    for (int i = 0; i < count; i++)
        steps[i] = (und_step){.passes = &passes[i], .count = 1};
    und_pass_steps(&c->device, steps, count);
}

const und_mask *und_carried_known(const und_carried *c, int layers)
{
    return &c->known[layers % 2];
}

/* ---- Diffusion ---- */

/* A wall that is not open is half a cell away. */
static void add_walls(und_carried *c, const und_mask *liquid, const und_solids *solids,
                      const und_carried_wall *wall)
{
    const und_mac *m = &c->mac;
    UND_MAC_EACH_ROW (m, row)
        for (int begin, end = -1; und_mask_stretch(liquid, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++)
                for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
                    const int cell[3] = {x, row % m->n[1], row / m->n[1]}, a = side / 2;
                    size_t i = und_mac_row(m, row) + (size_t)x,
                           face = i - (side % 2 ? 0 : (size_t)m->step[a]);
                    float shut = 2 * (1 - solids->open[a][face]);
                    double value;
                    if (shut > 0 && wall->at(wall->context, cell, a, side % 2, &value)) {
                        c->own[i] += shut;
                        c->b[i] += shut * ((float)value - c->value[i]);
                    }
                }
}

/* Solved for the change: differences may be small beside the values. */
und_mac_flow_report und_carried_diffuse(und_carried *c, const und_mask *liquid, const und_solids *solids,
                                        und_pressure *system, double number, const und_carried_wall *wall,
                                        double tolerance, int max_iterations)
{
    const float *weight[3] = {solids->open[0], solids->open[1], solids->open[2]};
    const und_halo_field beside[] = {und_field_halo(c, &fields[0], &c->mac, 1),
                                     und_halo_of_mask(&c->mac, liquid, 1)};
    const und_set cells = und_set_cells(&c->mac, UND_ROWS_INSIDE, liquid);
    und_carried_spread_args args = {.mac = c->mac,
                                    .liquid = *liquid,
                                    .open = {weight[0], weight[1], weight[2]},
                                    .value = c->value,
                                    .own = c->own,
                                    .b = c->b,
                                    .old = (float)(1 / number),
                                    .x = c->x};
    und_halo_get(c->device.halo, beside, 2);
    und_pass(&c->device, und_carried_set, &args, &cells);
    if (wall)
        add_walls(c, liquid, solids, wall);
    und_pressure_set(system, liquid, weight, c->own);
    und_pressure_report solved = und_pressure_solve(system, c->b, c->x, false, tolerance, max_iterations);
    und_pressure_done(system);
    if (solved.residual < INFINITY)
        und_pass(&c->device, und_carried_change, &args, &cells);
    return (und_mac_flow_report){
        .iterations = solved.iterations, .residual = solved.residual, .converged = solved.converged};
}
