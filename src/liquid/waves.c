/* Height-field water: Kass & Miller, "Rapid, Stable Fluid Dynamics for Computer Graphics", SIGGRAPH 1990. */
#include "base/maths.h"
#include "base/status.h"
#include "grid/field.h"
#include "liquid/waves_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_BYTES = 16 }; /* per cell: ground and surface as a frame holds them and as they are written */

#define STEP(stage) STAGE_WATCHED (&s->stages[STAGE_##stage], &s->liquid.watch)

/* One step of the algorithm that closes the paper's section INTEGRATION, for surfaces: from time to time +
 * dt.
 */
void und_waves_step(und_waves *s, double dt)
{
    assert(und_step_valid(dt));
    s->dt = dt;
    STEP (OBJECTS)
        und_waves_move_bodies(s, dt);
    STEP (SOURCES) {
        und_height_field_add_sources(&s->height_field, dt);
        und_height_field_press(&s->height_field, dt);
    }
    STEP (EDGES)
        und_waves_prepare_edges(s, dt);
    STEP (ROWS)
        und_waves_rows(s); /* eq. 19 */
    STEP (FLOW_X)
        und_waves_flux_x(s);
    STEP (EDGES)
        und_waves_cross_edges(s, 0);
    STEP (COLUMNS)
        und_waves_columns(s); /* eq. 20 */
    STEP (FLOW_Z)
        und_waves_flux_z(s);
    STEP (EDGES)
        und_waves_cross_edges(s, 1);
    STEP (PIECES)
        und_waves_find_pieces(s);
    STEP (CONSERVE)
        und_waves_conserve(s);
    STEP (FILMS)
        und_waves_slow_films(s);
    STEP (TRANSPORT)
        und_waves_transport(s);
    s->rise_time = dt;
    s->height_field.time += dt;
}

und_waves_def und_waves_def_default(void)
{
    return (und_waves_def){
        .height_field = und_height_field_def_default(),
        .order = 2,
        .foam = {.threshold = 1, .rate = 1, .life = 4},
    };
}

double und_waves_kept(const und_waves *s)
{
    return und_exp(-s->def.height_field.damping * s->dt);
}
double und_waves_time(const und_waves *s)
{
    return s->height_field.time;
}
double und_waves_surface(const und_waves *s, int x, int z)
{
    return s->height[und_waves_at(s, x, z)];
}
double und_waves_ground(const und_waves *s, int x, int z)
{
    return (double)s->ground[und_waves_at(s, x, z)];
}
und_body_state und_waves_body(const und_waves *s, int body)
{
    return und_bodies_state(s->floats.bodies, s->def.object_count + body);
}
und_liquid *und_waves_liquid(und_waves *s)
{
    return &s->liquid;
}

und_ledger und_waves_ledger(const und_waves *s)
{
    return und_height_field_ledger(&s->height_field);
}

static und_status check_def(const und_waves_def *def, und_error *err)
{
    if (!(def->viscosity >= 0))
        return und_error_set(err, UND_INVALID, "waves: viscosity %g must be positive", def->viscosity);
    if (def->order != 1 && def->order != 2)
        return und_error_set(err, UND_INVALID, "waves: order: expected 1 or 2, found %d", def->order);
    return UND_OK;
}

enum { AT_WORDS = UND_AT_OWN, AT_RUNS, AT_SCRATCH };

static const und_field fields[] = {
    UND_FIELD(und_waves, height, UND_AT_CELLS),
    UND_FIELD(und_waves, rise, UND_AT_CELLS),
    UND_FIELD(und_waves, ground, UND_AT_CELLS),
    UND_FIELD(und_waves, middle, UND_AT_CELLS),
    UND_FIELD(und_waves, head, UND_AT_CELLS, .when = WAVES_HEAD),
    UND_FIELD(und_waves, bare, UND_AT_CELLS, .when = WAVES_BED),
    UND_FIELD(und_waves, flux_x, UND_AT_CELLS, .when = WAVES_FLOW),
    UND_FIELD(und_waves, flux_z, UND_AT_CELLS, .when = WAVES_FLOW),
    UND_FIELD(und_waves, speed_x, UND_AT_CELLS, .when = WAVES_SPEED),
    UND_FIELD(und_waves, speed_z, UND_AT_CELLS, .when = WAVES_SPEED),
    UND_FIELD(und_waves, foam, UND_AT_CELLS, .when = WAVES_FOAM),
    UND_FIELD(und_waves, dye, UND_AT_CELLS, .when = WAVES_DYE),
    UND_FIELD(und_waves, texture_u, UND_AT_CELLS, .when = WAVES_TEXTURE),
    UND_FIELD(und_waves, texture_v, UND_AT_CELLS, .when = WAVES_TEXTURE),
    UND_FIELD(und_waves, carried, UND_AT_CELLS, .when = WAVES_CARRIES),
    UND_FIELD(und_waves, wet, AT_WORDS),
    UND_FIELD(und_waves, gain, AT_WORDS),
    UND_FIELD(und_waves, least, AT_WORDS),
    UND_FIELD(und_waves, plain, AT_WORDS),
    UND_FIELD(und_waves, runs, AT_RUNS, .sparse = true),
    UND_FIELD(und_waves, first_run, UND_AT_ROWS),
    UND_FIELD(und_waves, run_count, UND_AT_ROWS),
    UND_FIELD(und_waves, row_inflow, UND_AT_ROWS),
    UND_FIELD(und_waves, scratch, AT_SCRATCH),
};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_waves_make_room(und_waves *s, unsigned which, und_error *err)
{
    const size_t rows = (size_t)s->height_field.nz, lanes = LANES * (size_t)(s->height_field.nx + LANES + 2),
                 strips = STRIP * (rows + 2);
    s->scratch_stride = 2 * (lanes > strips ? lanes : strips);
    const und_field_room room = {
        .mac = &s->height_field.mac,
        /* Rows are solved LANES at a time: those past the last are dry; and a little to the right is read. */
        .spare = (size_t)s->height_field.stride * LANES + 2 * STRIP,
        .own = (const size_t[]){rows * (size_t)s->words, rows * (size_t)s->runs_per_row,
                                s->scratch_stride * (size_t)s->height_field.threads},
        .asked = which};
    return und_field_open_more(s, fields, FIELDS, &room, "waves", err);
}

void und_waves_end_room(und_waves *s, unsigned which)
{
    for (const und_field *f = fields; f < fields + FIELDS; f++)
        if (f->when & which)
            und_field_close_all(s, f, 1);
}

static und_status allocate(und_waves *s, und_error *err)
{
    const und_waves_def *def = &s->def;
    const bool carries = def->foam.on || def->has_dye || def->texture, speed = def->velocity || carries;
    const unsigned which = (speed || def->order == 2 ? WAVES_FLOW : 0) | (speed ? WAVES_SPEED : 0) |
                           (carries ? WAVES_CARRIES : 0) | (def->foam.on ? WAVES_FOAM : 0) |
                           (def->has_dye ? WAVES_DYE : 0) | (def->texture ? WAVES_TEXTURE : 0) |
                           (und_height_field_presses(&def->height_field) ? WAVES_HEAD : 0) |
                           (def->object_count + def->body_count > 0 ? WAVES_BED : 0);
    size_t per_cell = FRAME_BYTES;
    for (const und_field *f = fields; f < fields + FIELDS; f++)
        if (f->at == UND_AT_CELLS && (f->when == 0 || f->when & which))
            per_cell += und_field_size(f);
    if (und_height_field_check_memory(&s->height_field, per_cell, err) != UND_OK ||
        und_waves_make_room(s, which, err) != UND_OK)
        return err->status;
    s->bed = s->bare ? s->bare : s->ground;
    s->height_field.water = s->height;
    s->height_field.floor = s->ground;
    s->height_field.ground = s->bed;
    s->height_field.head = s->head;
    return UND_OK;
}

static und_status fill(und_waves *s, und_error *err)
{
    for (int z = 0; z < s->height_field.nz; z++)
        for (int x = 0; x < s->height_field.nx; x++) {
            size_t at = und_waves_at(s, x, z);
            double rise;
            if (und_height_field_start_at(&s->height_field, x, z, &s->ground[at], &s->height[at], err) ||
                und_height_field_sample(&s->height_field, &s->def.velocity0, "rising", x, z, &rise, err))
                return err->status;
            s->bed[at] = s->ground[at];
            s->rise[at] = s->height[at] > (double)s->ground[at] ? (float)rise : 0;
            if (s->dye)
                s->dye[at] = (float)und_value_at(&s->def.dye, und_waves_x(s, x), 0, und_waves_z(s, z), 0);
            if (s->texture_u) {
                s->texture_u[at] = (float)und_waves_x(s, x);
                s->texture_v[at] = (float)und_waves_z(s, z);
            }
        }
    return UND_OK;
}

/* Objects stand in the water from the start: it is level around them, not pushed up. */
static und_status place_objects(und_waves *s, und_error *err)
{
    und_status status = und_waves_create_bodies(s, err);
    for (int z = 0; status == UND_OK && z < s->height_field.nz; z++)
        for (int x = 0; x < s->height_field.nx; x++) {
            size_t at = und_waves_at(s, x, z);
            if (s->ground[at] > s->bed[at])
                s->height[at] =
                    fmax(s->height[at] - ((double)s->ground[at] - (double)s->bed[at]), (double)s->ground[at]);
        }
    return status;
}

/* Water that comes or goes has no speed of its own: "add or subtract the amounts from the current and last
 * values of h".  A dry cell does not rise. */
static void forget_rise(void *context, size_t at)
{
    ((und_waves *)context)->rise[at] = 0;
}

/* Raises or lowers the ground of a cell and the water on it; exact, since the ground is float and the height
 * double. */
static bool lift_ground(void *context, size_t at, double by)
{
    und_waves *s = context;
    float bed = (float)((double)s->bed[at] + by);
    if (s->bed != s->ground) {
        float standing = s->ground[at] - s->bed[at]; /* a part of an object, under water */
        s->bed[at] = bed;
        bed += standing;
    }
    s->height[at] += (double)bed - (double)s->ground[at];
    s->ground[at] = bed;
    return true;
}

static void touch_liquid(und_liquid *liquid, const und_mouse_tool *hand, double dt)
{
    und_waves *s = (und_waves *)liquid;
    und_error err;
    if (hand->tool == UND_TOOL_STIR)
        (void)und_waves_make_room(s, WAVES_HEAD, &err); /* zero; without it the hand does not stir */
    und_height_field_touch(&s->height_field, hand, dt, s->head);
    if (hand->tool == UND_TOOL_RAISE || hand->tool == UND_TOOL_DIG)
        und_waves_ground_bodies(s);
}

static void tuning_liquid(const und_liquid *liquid, und_tuning *tuning)
{
    und_height_field_tuning(&((const und_waves *)liquid)->height_field, tuning);
}

/* The second order needs flows; without memory for them it stays the first. */
static void tune_liquid(und_liquid *liquid, const und_tuning *tuning)
{
    und_waves *s = (und_waves *)liquid;
    und_error err;
    und_height_field_tune(&s->height_field, &s->def.height_field, tuning);
    bool begins = s->def.order == 2 && !s->flux_x;
    if (und_waves_need_flow(s, &err) != UND_OK || (begins && und_waves_find_flow(s, &err) != UND_OK))
        s->def.order = 1;
    und_floats_set_gravity(&s->floats);
}

static bool whole_step(und_waves *s, double dt)
{
    und_waves_step(s, dt);
    return true;
}

UND_LIQUID_OWN(waves, whole_step)

static const und_liquid_class waves_class = {
    .name = "waves",
    .destroy = destroy_liquid,
    .step = step_liquid,
    .frame = und_waves_write_frame,
    .save = und_waves_save,
    .restore = und_waves_restore,
    .ledger = ledger_liquid,
    .inspect = und_waves_inspect,
    .tools = UND_HEIGHT_FIELD_TOOLS,
    .touch = touch_liquid,
    .tuning = tuning_liquid,
    .tune = tune_liquid,
    .throw_ball = und_waves_throw_ball,
    .balls_left = und_waves_balls_left,
};

und_waves *und_waves_create(const und_waves_def *def, und_error *err)
{
    static const char *const stage_names[STAGE_COUNT] = {"objects",  "sources", "edges",    "rows",
                                                         "flow_x",   "columns", "flow_z",   "pieces",
                                                         "conserve", "films",   "transport"};
    if (check_def(def, err) != UND_OK)
        return NULL;
    und_waves *s = und_alloc(1, sizeof *s, "waves", err);
    if (!s)
        return NULL;
    und_liquid_init(&s->liquid, &waves_class, &s->height_field.time, s->stages, stage_names, STAGE_COUNT);
    s->def = *def;
    if (und_height_field_init(&s->height_field, "waves", &s->def.height_field, 0, err) != UND_OK) {
        free(s);
        return NULL;
    }
    s->height_field.dried = forget_rise;
    s->height_field.lift = lift_ground;
    s->height_field.viscosity = &s->def.viscosity;
    s->height_field.order = &s->def.order;
    s->height_field.context = s;
    s->words = (s->height_field.nx + STRIP - 1) / STRIP;
    s->runs_per_row = s->height_field.nx / 2 + 1;
    s->shallow = 0.01 * s->height_field.grid.dx;
    s->rise_time = 1;
    if (allocate(s, err) || fill(s, err) || place_objects(s, err) ||
        und_height_field_create_sources(&s->height_field, err) || und_waves_create_edges(s, err) ||
        und_waves_start_flow(s, err)) {
        und_waves_destroy(s);
        return NULL;
    }
    s->height_field.ledger.start = und_height_field_volume(&s->height_field);
    return s;
}

void und_waves_destroy(und_waves *s)
{
    if (!s)
        return;
    und_field_close_all(s, fields, FIELDS);
    und_waves_destroy_edges(s);
    und_height_field_close(&s->height_field);
    und_waves_destroy_bodies(s);
    free(s);
}
