#include "liquid/height_field.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "geom/value.h"
#include "liquid/height_field_kernel.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS_PER_THREAD = 8192 }; /* with less to do, starting a thread costs more than it saves */

und_height_field_def und_height_field_def_default(void)
{
    return (und_height_field_def){
        .nx = 128,
        .nz = 128,
        .dx = 0.1,
        .gravity = 9.81,
        .density = 1000,
        .ground = {.number = -1},
        .rain = {.radius = 0.01, .top = 10, .speed = 8, .end = INFINITY},
        .seed = 1,
    };
}

und_grid und_height_field_grid(const und_height_field_def *def)
{
    return (und_grid){
        .n = {def->nx, 1, def->nz}, .dx = def->dx, .origin = {def->origin[0], 0, def->origin[1]}};
}

static und_status check_def(const char *model, const und_height_field_def *def, und_error *err)
{
    if (def->nx < 2 || def->nz < 1 || (int64_t)def->nx * def->nz > (int64_t)1 << 30)
        return und_error_set(err, UND_INVALID, "%s: expected 2 to 2^30 samples, found %d x %d", model,
                             def->nx, def->nz);
    if (!(def->dx > 0 && def->dx < 1e6) || !(def->gravity >= 0 && def->gravity < 1e6) ||
        !(def->damping >= 0) || !(def->density > 0) || !isfinite(def->time))
        return und_error_set(
            err, UND_INVALID,
            "%s: expected cells of up to 1e6 m, gravity from 0 to 1e6, damping from 0 and a density "
            "above 0, found %g m, %g, %g and %g",
            model, def->dx, def->gravity, def->damping, def->density);
    for (int e = 0; e < UND_EDGES; e++)
        if (def->edge[e].amplitude != 0 && !(def->edge[e].period > 0))
            return und_error_set(err, UND_INVALID, "%s: an edge's incoming wave needs a period, found %g",
                                 model, def->edge[e].period);
    for (int i = 0; i < def->stir_count; i++)
        if (!(def->stirs[i].period > 0))
            return und_error_set(err, UND_INVALID, "%s: stir %d: expected a period, found %g", model, i + 1,
                                 def->stirs[i].period);
    const und_rain_def *rain = &def->rain;
    if (rain->on && (!(rain->speed > 0) || !(rain->radius > 0) || (rain->rate.fn && !(rain->max_rate > 0))))
        return und_error_set(err, UND_INVALID,
                             "%s: rain needs a speed, a radius, and the most its rate reaches", model);
    return UND_OK;
}

static und_set rows_of(const und_mac *mac)
{
    enum { WORTH = 4 }; /* as many as CELLS_PER_THREAD are worth a thread */
    und_set rows = und_set_slices(mac, UND_ROWS_INSIDE);
    rows.worth *= WORTH;
    return rows;
}

static void make_sets(und_height_field *p)
{
    p->mac = und_mac_layer(p->nx, p->nz, p->grid.dx, p->grid.origin, p->stride);
    p->faces[0] = p->faces[1] = p->mac;
    p->faces[0].n[0]--;
    p->faces[1].n[2]--;
    p->rows = rows_of(&p->mac);
    for (int a = 0; a < 2; a++)
        p->across[a] = rows_of(&p->faces[a]);
    p->device = (und_device){.threads = p->threads};
}

und_status und_height_field_init(und_height_field *p, const char *model, const und_height_field_def *def,
                                 int beside, und_error *err)
{
    und_status status = check_def(model, def, err);
    if (status != UND_OK)
        return status;
    int64_t useful = 1 + (int64_t)def->nx * def->nz / CELLS_PER_THREAD;
    int threads = und_threads(def->threads);
    *p = (und_height_field){.model = model,
                            .def = def,
                            .time = def->time,
                            .grid = und_height_field_grid(def),
                            .nx = def->nx,
                            .nz = def->nz,
                            .stride = (def->nx + UND_HEIGHT_FIELD_ROW - 1) / UND_HEIGHT_FIELD_ROW *
                                      UND_HEIGHT_FIELD_ROW,
                            .threads = threads < useful ? threads : (int)useful};
    if (p->stride % 1024 == 0)
        p->stride += UND_HEIGHT_FIELD_ROW; /* rows a power of two apart fall into the same cache lines */
    if (p->stride < p->nx + beside)
        p->stride += UND_HEIGHT_FIELD_ROW;
    make_sets(p);
    p->row_sum = und_alloc((size_t)p->nz, sizeof *p->row_sum, "volumes", err);
    return p->row_sum ? UND_OK : err->status;
}

void und_height_field_close(und_height_field *p)
{
    for (int e = 0; e < UND_EDGES; e++)
        free(p->edge[e].rest_level);
    free(p->slant);
    free(p->met);
    free(p->along);
    free(p->row_sum);
    und_rain_destroy(p->rain);
}

und_status und_height_field_check_memory(const und_height_field *p, size_t bytes_per_cell, und_error *err)
{
    double need = (double)bytes_per_cell * p->stride * p->nz, has = und_memory_size();
    if (need < has)
        return UND_OK;
    return und_error_set(err, UND_FAILED,
                         "%s: %d x %d cells need %.1f GB of memory, and this machine has %.1f GB", p->model,
                         p->nx, p->nz, 1e-9 * need, 1e-9 * has);
}

bool und_height_field_presses(const und_height_field_def *def)
{
    return def->pressure.fn || def->stir_count > 0;
}

und_status und_height_field_sample(const und_height_field *p, const und_value *value, const char *what, int x,
                                   int z, double *out, und_error *err)
{
    *out = und_value_at(value, und_height_field_x(p, x), 0, und_height_field_z(p, z), 0);
    if (fabs(*out) <= 1e6)
        return UND_OK;
    return und_error_set(err, UND_INVALID,
                         "%s: %s: expected a height of at most 1e6 m, found %g at x = %g, z = %g", p->model,
                         what, *out, und_height_field_x(p, x), und_height_field_z(p, z));
}

und_status und_height_field_start_at(const und_height_field *p, int x, int z, float *ground, double *surface,
                                     und_error *err)
{
    double low, high;
    und_status status = und_height_field_sample(p, &p->def->ground, "ground", x, z, &low, err);
    if (status == UND_OK)
        status = und_height_field_sample(p, &p->def->surface, "surface", x, z, &high, err);
    if (status == UND_OK) {
        *ground = (float)low;
        *surface = fmax(high, (double)*ground);
    }
    return status;
}

double und_height_field_volume(const und_height_field *p)
{
    const und_height_field_depth_args args = {p->water, p->floor};
    const und_pass depths = UND_PASS(und_height_field_depths, &args, &p->rows);
    return und_reduce(&p->device, &depths, 1, p->row_sum).sum * p->grid.dx * p->grid.dx;
}

und_ledger und_height_field_ledger(const und_height_field *p)
{
    und_ledger ledger = p->ledger;
    ledger.measured = und_height_field_volume(p);
    return ledger;
}
