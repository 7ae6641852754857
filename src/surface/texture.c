#include "surface/texture.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "grid/mac_frame.h"
#include "surface/texture_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

und_texture_def und_texture_def_default(void)
{
    return (und_texture_def){.spacing = 0.5, .seed = 1};
}

static void flow_close(texture_flow *f)
{
    for (int a = 0; a < 3; a++)
        und_pages_free(f->u[a]);
    und_pages_free(f->phi);
    und_pages_free(f->solid);
    *f = (texture_flow){0};
}

static void make_finite(const und_mac *m, float *v, float instead)
{
    for (size_t k = 0; k < m->count; k++)
        v[k] = isfinite(v[k]) ? v[k] : instead;
}

static float *take_field(const texture_flow *f, const float *from, int axis, double scale, float instead,
                         und_error *err)
{
    float *to = und_pages_alloc(f->mac.count * sizeof *to, "a flow", err);
    if (to) {
        und_mac_take_floats(&f->mac, from, axis, scale, to);
        make_finite(&f->mac, to, instead);
    }
    return to;
}

/* Of a face beside a cell with liquid or next to it. */
static double find_fastest(const texture_flow *f, int threads)
{
    const und_mac *m = &f->mac;
    enum { PARTS = 64 };
    int rows = und_mac_rows(m);
    float fastest[PARTS] = {0}, most = 0;
    PARALLEL_FOR(threads)
    for (int part = 0; part < PARTS; part++)
        for (int r = part; r < rows; r += PARTS) {
            size_t begin = und_mac_row(m, r);
            for (size_t k = begin; k < begin + (size_t)m->n[0]; k++) {
                float speed = fabsf(f->u[0][k]) + fabsf(f->u[1][k]) + fabsf(f->u[2][k]);
                fastest[part] = f->phi[k] < 1 && speed > fastest[part] ? speed : fastest[part];
            }
        }
    for (int part = 0; part < PARTS; part++)
        most = fmaxf(most, fastest[part]);
    return (double)most;
}

static und_status check_frame(const und_frame *frame, und_error *err)
{
    const und_grid *g = &frame->grid;
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        double size = und_grid_size(g, a);
        if (g->n[a] < 1 || g->n[a] > 65536 || !(size > 0) || !(size < 1e9) || !(fabs(g->origin[a]) < 1e9))
            return und_error_set(err, UND_FAILED, "frame %d: the grid is damaged", frame->number);
        cells *= g->n[a] + 16;
    }
    if (cells > 2e9 || !isfinite(frame->time))
        return und_error_set(err, UND_FAILED, "frame %d: the grid is damaged", frame->number);
    if (!und_frame_find(frame, "distance"))
        return und_error_set(err, UND_INVALID, "frame %d holds no distance of the liquid", frame->number);
    if (!und_frame_find(frame, "velocity_x"))
        return und_error_set(err, UND_INVALID,
                             "frame %d holds no velocity: it was simulated with velocity = false",
                             frame->number);
    return UND_OK;
}

static und_status flow_open(texture_flow *f, const und_frame *frame, int threads, und_error *err)
{
    static const char *const names[3] = {"velocity_x", "velocity_y", "velocity_z"};
    const und_grid *g = &frame->grid;
    const float *distance, *solid, *u[3];
    if (check_frame(frame, err) != UND_OK)
        return err->status;
    double d[3] = {und_grid_size(g, 0), und_grid_size(g, 1), und_grid_size(g, 2)};
    if (und_frame_field(frame, "distance", -1, &distance, err) != UND_OK ||
        und_frame_field(frame, "solid/distance", -1, &solid, err) != UND_OK)
        return UND_FAILED;
    for (int a = 0; a < 3; a++)
        if (und_frame_field(frame, names[a], a, &u[a], err) != UND_OK)
            return UND_FAILED;
    if (!u[1] || !u[2])
        return und_error_set(err, UND_FAILED, "frame %d: the velocity is damaged", frame->number);
    *f =
        (texture_flow){.mac = und_mac_make(g->n, d, g->origin), .number = frame->number, .time = frame->time};
    f->phi = take_field(f, distance, UND_MAC_CELLS, 1 / d[0], 2 * TEXTURE_KEPT, err);
    f->solid = solid ? take_field(f, solid, UND_MAC_CELLS, 1 / d[0], 2 * TEXTURE_KEPT, err) : NULL;
    for (int a = 0; a < 3; a++)
        f->u[a] = take_field(f, u[a], a, 1, 0, err);
    if (!f->phi || (solid && !f->solid) || !f->u[0] || !f->u[1] || !f->u[2]) {
        flow_close(f);
        return UND_FAILED;
    }
    f->fastest = find_fastest(f, und_workers(threads, f->mac.count, 1 << 15));
    return UND_OK;
}

und_status und_texture_points_reserve(texture_points *p, int capacity, und_error *err)
{
    if (capacity <= p->capacity)
        return UND_OK;
    size_t room = (size_t)capacity + (size_t)capacity / 4;
    double *place = realloc(p->place, 3 * room * sizeof *place);
    p->place = place ? place : p->place;
    float *rest = realloc(p->rest, 3 * room * sizeof *rest);
    p->rest = rest ? rest : p->rest;
    int32_t *id = realloc(p->id, room * sizeof *id);
    p->id = id ? id : p->id;
    if (!place || !rest || !id)
        return und_error_set(err, UND_FAILED, "out of memory: texture particles");
    p->capacity = (int)room;
    return UND_OK;
}

float *und_texture_places(const texture_points *p, und_error *err)
{
    float *place = und_alloc(3 * (size_t)p->count + 3, sizeof *place, "texture particles", err);
    for (size_t k = 0; place && k < 3 * (size_t)p->count; k++)
        place[k] = (float)p->place[k];
    return place;
}

static und_status begin(und_texture *t, const und_frame *first, und_error *err)
{
    const und_grid *g = &first->grid;
    und_status status = flow_open(&t->flow[0], first, t->threads, err);
    if (status != UND_OK)
        return status;
    for (int a = 0; a < 3; a++)
        t->side = fmax(t->side, g->n[a] * und_grid_size(g, a));
    return und_texture_fill(t, first, err);
}

und_texture *und_texture_create(const und_texture_def *def, const und_frame *first, und_error *err)
{
    if (!(def->spacing >= 0.05 && def->spacing <= 100)) {
        und_error_set(err, UND_INVALID, "spacing: expected 0.05 to 100 cells, found %g", def->spacing);
        return NULL;
    }
    und_texture *t = und_alloc(1, sizeof *t, "a texture", err);
    if (!t)
        return NULL;
    t->def = *def;
    t->threads = und_threads(def->threads);
    if (def->plate)
        t->plate = *def->plate;
    if (begin(t, first, err) != UND_OK) {
        und_texture_destroy(t);
        return NULL;
    }
    return t;
}

void und_texture_destroy(und_texture *t)
{
    if (!t)
        return;
    flow_close(&t->flow[0]);
    flow_close(&t->flow[1]);
    free(t->points.place);
    free(t->points.rest);
    free(t->points.id);
    free(t);
}

und_status und_texture_advance(und_texture *t, const und_frame *next, und_error *err)
{
    und_status status = flow_open(&t->flow[1], next, t->threads, err);
    uint8_t *lost =
        status == UND_OK ? und_alloc((size_t)t->points.count + 1, 1, "texture particles", err) : NULL;
    if (!lost)
        return err->status;
    t->told = (und_texture_count){0};
    und_texture_carry(t, &t->flow[0], &t->flow[1]);
    und_texture_pull(t, &t->flow[1], lost);
    flow_close(&t->flow[0]);
    t->flow[0] = t->flow[1];
    t->flow[1] = (texture_flow){0};
    status = und_texture_thin(t, lost, err);
    free(lost);
    return status == UND_OK ? und_texture_fill(t, next, err) : status;
}

und_texture_count und_texture_counts(const und_texture *t)
{
    und_texture_count told = t->told;
    told.particles = t->points.count;
    return told;
}

static und_status add_numbers(und_frame *frame, const char *name, const char *unit, const double *from,
                              size_t count, und_error *err)
{
    und_item_def def = {.name = name,
                        .unit = unit,
                        .kind = UND_NUMBERS,
                        .type = UND_F64,
                        .is_static = true,
                        .rank = 1,
                        .dim = {count}};
    und_item *item = und_frame_add(frame, &def, err);
    if (item)
        memcpy(item->data, from, count * sizeof *from);
    return item ? UND_OK : UND_FAILED;
}

und_status und_texture_frame(const und_texture *t, und_frame *frame, und_error *err)
{
    const texture_points *p = &t->points;
    size_t count = (size_t)p->count;
    und_item_def def = {.name = "texture/position",
                        .unit = "m",
                        .kind = UND_PARTICLES,
                        .type = UND_F32,
                        .rank = 2,
                        .dim = {count, 3}};
    und_item *item = und_frame_add(frame, &def, err);
    for (size_t k = 0; item && k < 3 * count; k++)
        ((float *)item->data)[k] = (float)p->place[k];
    def.name = "texture/rest";
    if (item && (item = und_frame_add(frame, &def, err)) && count > 0)
        memcpy(item->data, p->rest, 3 * count * sizeof *p->rest);
    def = (und_item_def){
        .name = "texture/id", .unit = "1", .kind = UND_PARTICLES, .type = UND_I32, .rank = 1, .dim = {count}};
    if (item && (item = und_frame_add(frame, &def, err)) && count > 0)
        memcpy(item->data, p->id, count * sizeof *p->id);
    if (!item || add_numbers(frame, "texture/side", "m", &t->side, 1, err) != UND_OK)
        return UND_FAILED;
    return t->def.plate ? add_numbers(frame, "texture/plate", "m", (const double *)&t->plate,
                                      sizeof t->plate / sizeof(double), err)
                        : UND_OK;
}
