/* Films: liquid on a wall that is thinner than phi can show. */
#include "surface/volume_films_kernel.h"
#include "surface/volume_parts.h"
#include "surface/volume_run_films_kernel.h"

#include <math.h>

static const float SETTLING = 1.5f; /* cells: from a slanted wall what is there is a film's */
static const float OUT = 0.9f;      /* cells: phi of what it shows nothing of */
static const float SETTLES = 0.05f; /* of a cell: films settle where there is so much room */

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

static void hand(const und_volume_arrays *v, size_t from, size_t to, int32_t amount)
{
    const uint8_t *kind = v->kind;
    amount = amount < v->c[from] ? amount : v->c[from];
    if (amount <= 0 || und_volume_crowded(v->c[to]) || kind[from] == UND_VOLUME_HELD ||
        kind[to] == UND_VOLUME_HELD)
        return;
    v->c[to] += amount;
    v->c[from] -= amount;
}

/* Along an axis, to where the wall comes nearer and shuts the way: over the cell further out. */
static void go_round(const und_volume_arrays *v, const und_volume_walls *walls, const und_volume_flow *flow,
                     size_t at, int axis, const float normal[3])
{
    const int across = und_volume_across(normal);
    const size_t out_step = (size_t)v->mac.step[across], step = (size_t)v->mac.step[axis];
    const bool up = normal[across] > 0;
    const size_t out = up ? at + out_step : at - out_step;
    if (!v->own[out] || !(walls->open[across][up ? at : out] > 0))
        return;
    for (int high = 0; high < 2; high++) {
        const size_t face = high ? out : out - step, to = high ? out + step : out - step;
        const size_t own = high ? at : at - step, behind = high ? at - step : at;
        /* What is before the cell further out may be air, which falls. */
        const float speed = flow->u[axis][walls->open[axis][own] > 0 ? own : v->film[out] ? face : behind];
        const float way = (high ? 1 : -1) * speed * (float)flow->per_speed;
        const float part = und_volume_film_part(walls, at, walls->open[axis][own]);
        if (!(way > 0) || !(part < 1) || !v->own[to] || !(walls->open[axis][face] > 0) ||
            und_volume_film_stands(v, walls, high ? at - step : at + step, at, to, normal, flow->pin))
            continue;
        hand(v, at, to, und_volume_units((way < 1 ? way : 1) * (1 - part) * und_volume_cells(v->c[at])));
    }
}

/* Whether what is in a cell is no part of what phi shows. */
static bool is_out(const und_volume_arrays *v, const und_distance *d, size_t at)
{
    return v->film[at] || d->phi[at] > OUT;
}

/* Towards the wall, as far as there is room. */
static void settle(const und_volume_arrays *v, const und_distance *d, const und_volume_walls *walls,
                   size_t at, const float normal[3])
{
    const int axis = und_volume_across(normal);
    const size_t step = (size_t)v->mac.step[axis], low = at - step;
    const size_t in = normal[axis] > 0 ? low : at + step, face = normal[axis] > 0 ? low : at;
    if (v->own[in] && walls->open[axis][face] > 0 && is_out(v, d, in) && walls->room[in] > SETTLES)
        hand(v, at, in, und_volume_units(walls->room[in]) - v->c[in]);
}

/* In order, as cells may get from one that has got itself: most often of a few in a row.  Others' phi and
 * speeds are there, from und_volume_move. */
void und_volume_settle_films(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                             const und_volume_flow *flow)
{
    enum { IN_A_ROW = 6 };
    const und_volume_arrays flat = und_volume_arrays_of(v);
    if (walls->room && walls->rest)
        und_volume_get_cells(v, TOLD_BY + IN_A_ROW);
    for (int turn = 0; turn < 2 && walls->room && walls->rest; turn++)
        UND_MAC_EACH_ROW (&v->mac, row)
            UND_VOLUME_ALOFT(v, d->phi, row, at)
            {
                float normal[3];
                if (!(walls->distance[at] < SETTLING) || !is_out(&flat, d, at))
                    continue;
                und_volume_solid_normal(&flat, walls, at, normal);
                if (!und_volume_is_slanted(&flat, walls, d->phi, at, normal))
                    continue;
                for (int a = 0; turn == 0 && a < und_volume_axes(&v->mac) && v->film[at]; a++)
                    if (a != und_volume_across(normal))
                        go_round(&flat, walls, flow, at, a, normal);
                if (turn == 1)
                    settle(&flat, d, walls, at, normal);
            }
}
