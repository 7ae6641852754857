/* Films: liquid on a wall that is thinner than phi can show. */
#include "surface/volume_films_kernel.h"
#include "surface/volume_parts.h"
#include "surface/volume_run_films_kernel.h"
#include "surface/volume_settle_kernel.h"

#include <math.h>

/* What is on a wall is told by cells before it and by liquid near it; and so far beyond those which are known
 * run. */
enum { TOLD_BY = UND_VOLUME_NEAR_LIQUID + 1, KNOWN = 2, RUNS_BY = TOLD_BY + 1 };

void und_volume_get_films(const und_volume *v, const und_distance *d)
{
    und_volume_get_cells(v, KNOWN + TOLD_BY);
    und_distance_get_phi(d, KNOWN + TOLD_BY);
}

void und_volume_find_films(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const und_volume_filming f = {und_volume_arrays_of(v), *walls, d->phi};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    und_volume_get_films(v, d);
    und_pass(&v->device, und_volume_film_row, &f, &rows);
}

und_volume_film_flow und_volume_film_flow_of(const und_volume_films *films)
{
    und_volume_film_flow f = {.dt = films->dt,
                              .dx = films->dx,
                              .pull = films->pull,
                              .viscosity = films->viscosity,
                              .least_viscosity = films->least_viscosity,
                              .viscosities = films->viscosities,
                              .contact = films->contact};
    for (int a = 0; a < 3; a++) {
        f.u[a] = films->u[a];
        f.gravity[a] = films->gravity[a];
    }
    return f;
}

void und_volume_get_told(const und_volume *v, const und_distance *d, const und_volume_films *films, int reach)
{
    und_halo_field nu = und_halo_of(&v->mac, NULL, sizeof *films->viscosities, reach);
    memcpy(&nu.values, &films->viscosities, sizeof nu.values); /* others' come there */
    und_volume_get_cells(v, reach);
    und_distance_get_phi(d, reach);
    und_halo_get(v->device.halo, &nu, nu.values != NULL);
}

/* ---- What the pressure is not asked for ---- */

static und_volume_kept_films kept_films(const und_volume *v, const int32_t *cells, float *const u[3])
{
    return (und_volume_kept_films){
        .v = und_volume_arrays_of(v), .cells = cells, .kept = v->parts->kept, .u = {u[0], u[1], u[2]}};
}

enum { AT_ONCE = 64 }; /* films */

void und_volume_keep_films(const und_volume *v, const int32_t *cells, int count, float *const u[3])
{
    v->parts->kept =
        und_scratch_take(v->parts->scratch, UND_VOLUME_FACES * (size_t)count * sizeof *v->parts->kept);
    const und_volume_kept_films f = kept_films(v, cells, u);
    const und_set films = und_set_list(cells, count, AT_ONCE, 1);
    und_pass(&v->device, und_volume_keep_some_films, &f, &films);
}

void und_volume_free_films(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                           const int32_t *cells, int count, float *const u[3])
{
    enum { WORTH = 16 }; /* fewer are not worth a region */
    und_volume_kept_films f = kept_films(v, cells, u);
    const und_set films = und_set_list(cells, count, AT_ONCE, WORTH);
    f.walls = *walls;
    f.phi = d->phi;
    und_volume_get_films(v, d);
    und_pass(&v->device, und_volume_free_some_films, &f, &films);
    und_scratch_give_back(v->parts->scratch, v->parts->kept);
    v->parts->kept = NULL;
}

/* A cell beyond one's own has a face of these. */
static void get_speeds(const und_volume *v, const und_volume_films *films)
{
    und_halo_field halo[3];
    for (int a = 0; a < 3; a++)
        halo[a] = und_halo_of(&v->mac, films->u[a], sizeof *films->u[a], 1);
    und_halo_get(v->device.halo, halo, 3);
}

/* Speeds across slanted walls are all found first, as what is across one wall may be along another. */
void und_volume_run_films(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                          const und_volume_films *films)
{
    und_volume_running r = {
        .v = und_volume_arrays_of(v), .walls = *walls, .phi = d->phi, .f = und_volume_film_flow_of(films)};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    const und_set some = und_set_list(v, rows.rows, rows.per_block, v->mac.n[0]);
    const und_pass passes[3] = {UND_PASS(und_volume_film_run_some, &r, &some),
                                UND_PASS(und_volume_film_find_speeds_across, &r, &rows),
                                UND_PASS(und_volume_film_follow_walls, &r, &rows)};
    const bool even = !walls->room;
    const und_step steps[3] = {{.passes = &passes[0], .count = 1},
                               {.passes = &passes[1], .count = 1, .unless = &even},
                               {.passes = &passes[2], .count = 1, .unless = &even}};
    for (int a = 0; a < 3 && films->written; a++)
        r.written[a] = films->written[a];
    und_volume_get_told(v, d, films, KNOWN + RUNS_BY);
    get_speeds(v, films);
    und_pass_steps(&v->device, steps, 3);
}

/* ---- Slanted walls ---- */

/* Others' phi and speeds are there, from und_volume_move; what goes along an axis is told by cells two away.
 * What has gone round a corner lies against the wall in the same go. */
void und_volume_settle_films(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                             const und_volume_flow *flow)
{
    enum { AXES = 3, PASSES = 2 * AXES + 2, LIST = UND_VOLUME_LIST_STEPS, GOES = 2 * AXES };
    const und_set rows = und_set_shared(&v->device, &v->mac, UND_ROWS_INSIDE);
    if (!walls->room || !walls->rest)
        return;
    und_volume_borrow(v);
    und_volume_settling all = {.list = und_volume_list_args_of(v),
                               .v = und_volume_arrays_of(v),
                               .walls = *walls,
                               .phi = d->phi,
                               .u = {flow->u[0], flow->u[1], flow->u[2]},
                               .per_speed = (float)flow->per_speed,
                               .pin = flow->pin},
                        along[AXES];
    und_volume_listing films = {.v = v, .marks = UND_PASS(und_volume_settling_mark, &all, NULL)};
    und_volume_listing wet = films;
    und_pass pass[PASSES];
    und_step steps[2 * LIST + PASSES];
    int passes = 0, n = LIST;
    und_volume_list_steps(&films, steps);
    for (int a = 0; a < und_volume_axes(&v->mac); a++) {
        along[a] = all;
        along[a].axis = a;
        pass[passes++] = UND_PASS(und_volume_settling_find_round, &along[a], &rows);
        pass[passes++] = UND_PASS(und_volume_settling_go_round, &along[a], &rows);
    }
    for (int i = 0; i < passes; i++)
        steps[n++] = (und_step){.passes = &pass[i], .count = 1};
    und_volume_list_steps(&wet, steps + n);
    n += LIST;
    pass[passes++] = UND_PASS(und_volume_settling_find_in, &all, &rows);
    pass[passes++] = UND_PASS(und_volume_settling_go_in, &all, &rows);
    for (int i = passes - 2; i < passes; i++)
        steps[n++] = (und_step){.passes = &pass[i], .count = 1};
    und_volume_get_cells(v, TOLD_BY + GOES);
    und_pass_steps(&v->device, steps, n);
    und_volume_give_back(v);
}
