/* Columns of water joined by pipes: O'Brien & Hodgins, "Dynamic Simulation of Splashing Fluids", 1995. */
#include "liquid/columns.h"

#include "base/pages.h"
#include "base/status.h"
#include "liquid/columns_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { BESIDE = 64 }; /* values in front of the first row, so that it has a neighbour too */
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

/* An array with a row and a column beside the grid on all sides. */
void *und_columns_field(const und_columns *s, size_t size, const char *what, und_error *err)
{
    char *pages = und_pages_alloc(size * (BESIDE + (size_t)s->stride * (size_t)(s->nz + 3)), what, err);
    return pages ? pages + size * (BESIDE + (size_t)s->stride) : NULL;
}

static void field_free(const und_columns *s, void *field, size_t size)
{
    if (field)
        und_pages_free((char *)field - size * (BESIDE + (size_t)s->stride));
}

static und_status allocate(und_columns *s, und_error *err)
{
    bool mean = s->def.flow == UND_FLOW_MEAN, bodies = s->def.body_count > 0;
    bool press = und_height_field_presses(&s->def.height_field) || bodies;
    struct {
        float **array;
        bool wanted;
        const char *what;
    } fields[] = {
        {&s->ground, true, "ground"},
        {&s->keep, true, "flow"},
        {&s->rise, true, "rise of the surface"},
        {&s->flow[0], true, "flow"},
        {&s->flow[1], true, "flow"},
        {&s->flow[2], true, "flow"},
        {&s->flow[3], true, "flow"},
        {&s->before[0], mean, "flow"},
        {&s->before[1], mean, "flow"},
        {&s->before[2], mean, "flow"},
        {&s->before[3], mean, "flow"},
        {&s->head, und_height_field_presses(&s->def.height_field), "pressure"},
        {&s->load, press, "pressure"},
        {&s->displaced, bodies, "bodies"},
        {&s->top, s->def.spray.on, "spray"},
    };
    size_t per_cell = sizeof(double) + FRAME_BYTES;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        per_cell += fields[i].wanted ? sizeof(float) : 0;
    if (und_height_field_check_memory(&s->height_field, per_cell, err) != UND_OK)
        return err->status;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].wanted &&
            !(*fields[i].array = und_columns_field(s, sizeof(float), fields[i].what, err)))
            return err->status;
    s->depth = und_columns_field(s, sizeof(double), "water", err);
    s->rows = und_alloc((size_t)s->nz, sizeof *s->rows, "columns", err);
    s->zero = und_alloc((size_t)s->stride + 2, sizeof *s->zero, "columns", err);
    s->share_z = und_alloc((size_t)s->nx, sizeof *s->share_z, "columns", err);
    s->lanes = und_alloc((size_t)s->threads * ((size_t)s->stride + 2), 3 * sizeof *s->lanes, "columns", err);
    if (!s->depth || !s->rows || !s->zero || !s->share_z || !s->lanes)
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
            s->ground[(ptrdiff_t)z * s->stride + x] = wall;
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
    if (und_height_field_init(&s->height_field, "columns", &s->def.height_field, err) != UND_OK) {
        free(s);
        return NULL;
    }
    s->height_field.lift = und_columns_lift;
    s->height_field.context = s;
    s->nx = s->height_field.nx;
    s->nz = s->height_field.nz;
    s->threads = s->height_field.threads;
    while (s->height_field.stride < s->nx + 1)
        s->height_field.stride += UND_HEIGHT_FIELD_ROW; /* room for the wall beside a row */
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
    float *fields[] = {s->rise,      s->ground,  s->keep,      s->flow[0],   s->flow[1],
                       s->flow[2],   s->flow[3], s->before[0], s->before[1], s->before[2],
                       s->before[3], s->load,    s->displaced, s->head,      s->top};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        field_free(s, fields[i], sizeof(float));
    field_free(s, s->depth, sizeof(double));
    free(s->rows);
    free(s->zero);
    free(s->share_z);
    free(s->lanes);
    und_columns_destroy_bodies(s);
    und_spray_destroy(s->spray);
    und_height_field_close(&s->height_field);
    free(s);
}
