/* Columns of water joined by pipes: O'Brien & Hodgins, "Dynamic Simulation of Splashing Fluids", 1995. */
#include "liquid/columns.h"

#include "base/status.h"
#include "grid/field.h"
#include "liquid/columns_flow_kernel.h"
#include "liquid/columns_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_BYTES = 16 };

#define STEP(stage) STAGE_WATCHED (&s->stages[STAGE_##stage], &s->liquid.watch)

/* The three parts of the model in turn (figure 2 of the paper): what acts on the surface, the volume, and the
 * spray. */
static void substep(und_columns *s)
{
    und_columns_set_pipes(s);
    STEP (SOURCES) {
        und_height_field_add_sources(&s->height_field, s->dt);
        und_height_field_press(&s->height_field, s->dt);
    }
    STEP (BODIES)
        und_columns_push(s);
    STEP (FLOW)
        und_columns_flow(s); /* eqs 3 to 6 */
    STEP (LIMIT)
        und_columns_scale_back(s); /* eq. 9 */
    STEP (VOLUME)
        und_columns_move_water(s); /* eq. 7 */
    STEP (EDGES)
        und_columns_open_edges(s);
    STEP (EMIT)
        und_columns_emit(s); /* eqs 12 to 15 */
    STEP (FLY)
        und_columns_fly(s);
    s->height_field.time += s->dt;
    s->substep++;
}

/* One substep of a step of dt; true where it was the last. */
static bool go_on(und_columns *s, double dt)
{
    assert(und_step_valid(dt));
    if (!(s->left > 0)) {
        s->left = dt;
        s->end = s->height_field.time + dt;
    }
    double most = fmin(und_columns_longest_step(s), und_floats_longest_step(&s->floats));
    double parts = fmin(ceil(s->left / most), 1e9);
    s->dt = parts > 1 ? s->left / parts : s->left;
    substep(s);
    s->left = parts > 1 ? s->left - s->dt : 0;
    if (s->left <= 0)
        s->height_field.time = s->end;
    return s->left <= 0;
}

void und_columns_step(und_columns *s, double dt)
{
    while (!go_on(s, dt))
        ;
}

und_columns_def und_columns_def_default(void)
{
    return (und_columns_def){
        .height_field = und_height_field_def_default(),
        .pipe_depth = INFINITY,
        .diagonal = 0.25,
        .smoothing = 0.1,
        .spray = und_spray_def_default(),
    };
}

double und_columns_time(const und_columns *s)
{
    return s->height_field.time;
}
double und_columns_surface(const und_columns *s, int x, int z)
{
    return und_columns_level(s, und_columns_at(s, x, z));
}
double und_columns_ground(const und_columns *s, int x, int z)
{
    return (double)s->ground[und_columns_at(s, x, z)];
}
double und_columns_depth(const und_columns *s, int x, int z)
{
    return s->depth[und_columns_at(s, x, z)];
}
und_body_state und_columns_body(const und_columns *s, int body)
{
    return und_bodies_state(s->floats.bodies, body);
}
int und_columns_spray_count(const und_columns *s)
{
    return s->spray ? s->spray->count : 0;
}
und_ledger und_columns_ledger(const und_columns *s)
{
    return und_height_field_ledger(&s->height_field);
}
und_liquid *und_columns_liquid(und_columns *s)
{
    return &s->liquid;
}

static und_status check_def(const und_columns_def *def, und_error *err)
{
    const und_spray_def *spray = &def->spray;
    if (!(def->pipe_depth > 0))
        return und_error_set(err, UND_INVALID, "columns: pipe_depth: expected a depth above 0, found %g",
                             def->pipe_depth);
    if (!(def->smoothing >= 0 && def->smoothing <= 1))
        return und_error_set(err, UND_INVALID, "columns: smoothing: expected a number from 0 to 1, found %g",
                             def->smoothing);
    if (!(def->diagonal >= 0 && def->diagonal <= 1e3))
        return und_error_set(err, UND_INVALID, "columns: diagonal: expected a ratio from 0 to 1000, found %g",
                             def->diagonal);
    if (spray->on && (!(spray->threshold >= 0) || !(spray->rate >= 0) || !(spray->radius[0] > 0) ||
                      !(spray->radius[1] >= spray->radius[0]) || !(spray->share >= 0 && spray->share <= 1)))
        return und_error_set(err, UND_INVALID,
                             "columns: spray needs a threshold and a rate of at least 0, drops larger than 0 "
                             "and a share from 0 to 1");
    return UND_OK;
}

enum { AT_ROW = UND_AT_OWN, AT_LANES };

static const und_field fields[] = {
    UND_FIELD(und_columns, depth, UND_AT_CELLS),
    UND_FIELD(und_columns, ground, UND_AT_CELLS),
    UND_FIELD(und_columns, keep, UND_AT_CELLS),
    UND_FIELD(und_columns, rise, UND_AT_CELLS),
    UND_FIELD(und_columns, flow[0], UND_AT_CELLS),
    UND_FIELD(und_columns, flow[1], UND_AT_CELLS),
    UND_FIELD(und_columns, flow[2], UND_AT_CELLS),
    UND_FIELD(und_columns, flow[3], UND_AT_CELLS),
    UND_FIELD(und_columns, before[0], UND_AT_CELLS, .when = COLUMNS_MEAN),
    UND_FIELD(und_columns, before[1], UND_AT_CELLS, .when = COLUMNS_MEAN),
    UND_FIELD(und_columns, before[2], UND_AT_CELLS, .when = COLUMNS_MEAN),
    UND_FIELD(und_columns, before[3], UND_AT_CELLS, .when = COLUMNS_MEAN),
    UND_FIELD(und_columns, head, UND_AT_CELLS, .when = COLUMNS_HEAD),
    UND_FIELD(und_columns, load, UND_AT_CELLS, .when = COLUMNS_LOAD),
    UND_FIELD(und_columns, displaced, UND_AT_CELLS, .when = COLUMNS_BODIES),
    UND_FIELD(und_columns, top, UND_AT_CELLS, .when = COLUMNS_SPRAY),
    UND_FIELD(und_columns, covered, UND_AT_CELLS, .when = COLUMNS_COVER),
    UND_FIELD(und_columns, rows, UND_AT_ROWS),
    UND_FIELD(und_columns, share_z, AT_ROW),
    UND_FIELD(und_columns, lanes, AT_LANES),
};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_columns_make_room(und_columns *s, unsigned which, und_error *err)
{
    const und_field_room room = {
        .mac = &s->height_field.mac,
        .own = (const size_t[]){(size_t)s->nx, (size_t)s->threads * und_columns_lent(s->stride)},
        .asked = which};
    return und_field_open_more(s, fields, FIELDS, &room, "columns", err);
}

static und_status allocate(und_columns *s, und_error *err)
{
    const bool bodies = s->def.body_count > 0, presses = und_height_field_presses(&s->def.height_field);
    const unsigned which = (s->def.flow == UND_FLOW_MEAN ? COLUMNS_MEAN : 0) | (presses ? COLUMNS_HEAD : 0) |
                           (presses || bodies ? COLUMNS_LOAD : 0) | (bodies ? COLUMNS_BODIES : 0) |
                           (s->def.spray.on ? COLUMNS_SPRAY : 0);
    size_t per_cell = FRAME_BYTES;
    for (const und_field *f = fields; f < fields + FIELDS; f++)
        if (f->at == UND_AT_CELLS && (f->when == 0 || f->when & which))
            per_cell += und_field_size(f);
    if (und_height_field_check_memory(&s->height_field, per_cell, err) != UND_OK ||
        und_columns_make_room(s, which, err) != UND_OK)
        return err->status;
    s->height_field.water = s->depth;
    s->height_field.ground = s->ground;
    s->height_field.head = s->head;
    return UND_OK;
}

/* The columns, and the endless walls beside them. */
static und_status fill(und_columns *s, und_error *err)
{
    const float wall = 1e9f;
    s->lowest = INFINITY;
    for (int z = -1; z <= s->nz; z++)
        for (int x = -1; x <= s->nx; x++)
            s->ground[und_columns_at(s, x, z)] = wall;
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++) {
            size_t at = und_columns_at(s, x, z);
            double surface;
            und_status status =
                und_height_field_start_at(&s->height_field, x, z, &s->ground[at], &surface, err);
            if (status != UND_OK)
                return status;
            s->depth[at] = surface - (double)s->ground[at];
            s->keep[at] = 1;
            s->deepest = fmax(s->deepest, s->depth[at]);
            s->lowest = fmin(s->lowest, (double)s->ground[at]);
        }
    return UND_OK;
}

static und_status make_spray(und_columns *s, und_error *err)
{
    if (!s->def.spray.on)
        return UND_OK;
    s->spray = und_spray_create(&s->def.spray, s->def.height_field.gravity, s->def.height_field.seed,
                                s->threads, err);
    return s->spray ? UND_OK : err->status;
}

UND_LIQUID_OWN(columns, go_on)

static const und_liquid_class columns_class = {
    .name = "columns",
    .destroy = destroy_liquid,
    .step = step_liquid,
    .frame = und_columns_write_frame,
    .save = und_columns_save,
    .restore = und_columns_restore,
    .ledger = ledger_liquid,
    .inspect = und_columns_save,
    .tools = UND_HEIGHT_FIELD_TOOLS,
    .touch = und_columns_touch,
    .tuning = und_columns_tuning,
    .tune = und_columns_tune,
    .throw_ball = und_columns_throw_ball,
    .balls_left = und_columns_balls_left,
};

und_columns *und_columns_create(const und_columns_def *def, und_error *err)
{
    static const char *const stage_names[STAGE_COUNT] = {"sources", "bodies", "flow", "limit",
                                                         "volume",  "edges",  "emit", "fly"};
    if (check_def(def, err) != UND_OK)
        return NULL;
    und_columns *s = und_alloc(1, sizeof *s, "columns", err);
    if (!s)
        return NULL;
    und_liquid_init(&s->liquid, &columns_class, &s->height_field.time, s->stages, stage_names, STAGE_COUNT);
    s->def = *def;
    if (und_height_field_init(&s->height_field, "columns", &s->def.height_field, 1, err) != UND_OK) {
        free(s);
        return NULL;
    }
    s->height_field.lift = und_columns_lift;
    s->height_field.context = s;
    s->nx = s->height_field.nx;
    s->nz = s->height_field.nz;
    s->threads = s->height_field.threads;
    s->stride = s->height_field.stride;
    if (allocate(s, err) || fill(s, err) || und_columns_create_bodies(s, err) ||
        und_height_field_create_sources(&s->height_field, err) || make_spray(s, err)) {
        und_columns_destroy(s);
        return NULL;
    }
    s->height_field.ledger.start = und_height_field_volume(&s->height_field);
    und_columns_set_pipes(s);
    return s;
}

void und_columns_destroy(und_columns *s)
{
    if (!s)
        return;
    und_field_close_all(s, fields, FIELDS);
    und_columns_destroy_bodies(s);
    und_spray_destroy(s->spray);
    und_height_field_close(&s->height_field);
    free(s);
}
