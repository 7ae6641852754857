/* A moment as a scene: the text of the scene that ran, and before it a few lines that put the water, the
 * ground, the bodies and what was turned in the place of what the text says.  Fields are maps of whole floats
 * beside it. */
#include "scene/write_scene.h"
#include "base/file.h"
#include "base/maths.h"
#include "base/status.h"
#include "bodies/mass.h"
#include "geom/value.h"
#include "io/image.h"
#include "liquid/balls.h"
#include "liquid/height_field.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK ", saved while it ran." /* ends the first line */

static const char *const map_names[] = {"surface", "ground", "rising", "dye"};
enum { MAPS = sizeof map_names / sizeof *map_names };

/* What is written, and what it is written from. */
typedef struct moment {
    const und_scene_moment *of;
    const und_scene_view *view;
    const und_height_field_def *height_field;
    const und_frame *frame; /* as it is seen */
    und_frame state;        /* all that there is */
    char folder[UND_PATH_MAX], name[128];
    FILE *text;
    char *bytes;
    size_t size;
    char *before;        /* the text of the moment that this one takes the place of; NULL: none */
    und_file map[MAPS];  /* under names of their own until it is known that all loads */
    int map_count, said; /* begun; in the text */
    bool trying;         /* the text has those names */
} moment;

static void say(moment *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(moment *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(m->text, format, list);
    va_end(list);
}

/* ---- the maps ---- */

/* Has a moment's text this map of the moment's own? */
static bool has_map(const moment *m, const char *text, const char *what)
{
    char line[256];
    snprintf(line, sizeof line, "water.%s = map { file = \"%s.%s.exr\" }", what, m->name, what);
    return text && strstr(text, line);
}

static und_status write_pixels(const moment *m, const und_file *file, const float *data, und_error *err)
{
    und_exr_channel channel = {.name = "Y", .data = data, .stride = 1, .whole = true};
    return und_exr_write_channels(file->temp, m->height_field->nx, m->height_field->nz, &channel, 1, err);
}

/* Beside where it will be; only the map of a moment saved before may be written over. */
static und_status begin_map(moment *m, const char *what, const float *data, und_error *err)
{
    char path[UND_PATH_MAX];
    und_file *file = &m->map[m->map_count];
    if (und_path_set(path, err, "%s/%s.%s.exr", m->folder, m->name, what) != UND_OK)
        return err->status;
    if (access(path, F_OK) == 0 && !has_map(m, m->before, what))
        return und_error_set(err, UND_INVALID, "there is a file %s, and it is of no moment", path);
    if (und_file_begin(file, path, err) != UND_OK)
        return err->status;
    m->map_count++;
    return write_pixels(m, file, data, err);
}

static und_status write_map(moment *m, const char *what, const float *data, und_error *err)
{
    if (m->trying && begin_map(m, what, data, err) != UND_OK)
        return err->status;
    const und_file *file = &m->map[m->said++];
    const char *name = strrchr(m->trying ? file->temp : file->path, '/') + 1;
    say(m, "    water.%s = map { file = \"%s\" }\n", what, name);
    return UND_OK;
}

static const und_item *field_of(const moment *m, const char *name)
{
    const und_item *item = und_frame_find(m->frame, name);
    bool fits = item && item->type == UND_F32 && item->data &&
                und_item_count(item) == (size_t)m->height_field->nx * (size_t)m->height_field->nz;
    return fits ? item : NULL;
}

/* A field of a state, `stride` cells to a row; NULL: it has none. */
static const float *state_of(const moment *m, const und_frame *state, const char *name, size_t *stride)
{
    const und_item *item = und_frame_find(state, name);
    size_t nx = (size_t)m->height_field->nx, nz = (size_t)m->height_field->nz;
    if (!item || item->type != UND_F32 || und_item_count(item) < nx * nz)
        return NULL;
    *stride = und_item_count(item) / nz;
    return item->data;
}

/* What was turned, UND_TOUCHED_COUNT numbers; NULL: nothing. */
static const double *tuned(const moment *m)
{
    const und_item *item = und_frame_find(&m->state, "touched");
    if (!item || item->type != UND_F64 || und_item_count(item) != UND_TOUCHED_COUNT)
        return NULL;
    const double *t = item->data;
    return t[UND_TOUCHED_TUNED] != 0 ? t : NULL;
}

/* What flows into each cell, per area: the speed at which its surface rises now. */
static void sum_flows(const moment *m, const float *along_x, const float *along_z, size_t stride,
                      float *speed)
{
    size_t nx = (size_t)m->height_field->nx, nz = (size_t)m->height_field->nz;
    for (size_t z = 0; z < nz; z++)
        for (size_t x = 0; x < nx; x++) {
            size_t at = z * stride + x;
            double out = (double)along_x[at] + (double)along_z[at];
            out -= x > 0 ? (double)along_x[at - 1] : 0;
            out -= z > 0 ? (double)along_z[at - stride] : 0;
            *speed++ = (float)(-out / m->height_field->dx);
        }
}

/* How fast the surface rises, of waves: what they have of motion in the language.  The first order keeps what
 * it rose in the last step, the second flows. */
static und_status write_rising(moment *m, und_error *err)
{
    size_t nx = (size_t)m->height_field->nx, cells = nx * (size_t)m->height_field->nz, stride = 0;
    const float *rise = state_of(m, &m->state, "rise", &stride);
    const float *along_x = state_of(m, &m->state, "flux_x", &stride);
    const float *along_z = state_of(m, &m->state, "flux_z", &stride);
    const und_item *span = und_frame_find(&m->state, "rise_time");
    const double *t = tuned(m);
    int order = t ? (int)t[UND_TOUCHED_ORDER] : m->view->waves.order;
    if (!rise || !span)
        return UND_OK;
    float *speed = und_alloc(cells, sizeof *speed, "a map", err);
    if (!speed)
        return err->status;
    if (order == 2 && along_x && along_z)
        sum_flows(m, along_x, along_z, stride, speed);
    else
        for (size_t i = 0; i < cells; i++)
            speed[i] = (float)((double)rise[i / nx * stride + i % nx] / *(const double *)span->data);
    und_status status = write_map(m, "rising", speed, err);
    free(speed);
    return status;
}

static und_status write_fields(moment *m, und_error *err)
{
    const und_item *surface = field_of(m, "surface"), *ground = field_of(m, "ground");
    const und_item *dye = field_of(m, "dye");
    if (!surface || !ground)
        return und_error_set(err, UND_FAILED, "the liquid shows no surface over a ground");
    say(m, "    water.level = nil\n");
    und_status status = write_map(m, "surface", surface->data, err);
    if (status == UND_OK && !ground->is_static) /* a hand moved it */
        status = write_map(m, "ground", ground->data, err);
    if (status == UND_OK && m->view->model == UND_MODEL_WAVES)
        status = write_rising(m, err);
    if (status == UND_OK && dye)
        status = write_map(m, "dye", dye->data, err);
    return status;
}

/* ---- what was turned ---- */

static void write_tuning(moment *m)
{
    const double *t = tuned(m);
    if (!t)
        return;
    say(m, "    water.gravity, water.damping = %.17g, %.17g\n", t[UND_TOUCHED_GRAVITY],
        t[UND_TOUCHED_DAMPING]);
    if (m->view->model == UND_MODEL_WAVES)
        say(m, "    water.viscosity, water.order = %.17g, %d\n", t[UND_TOUCHED_VISCOSITY],
            (int)t[UND_TOUCHED_ORDER]);
    if (t[UND_TOUCHED_RAIN] != 0 && t[UND_TOUCHED_RATE] > 0)
        say(m,
            "    water.rain = { rate = %.17g, radius = %.17g, splash = %.17g, top = %.17g, speed = %.17g,\n"
            "                   wind = {%.17g, %.17g} }\n",
            t[UND_TOUCHED_RATE], t[UND_TOUCHED_RADIUS], t[UND_TOUCHED_SPLASH], t[UND_TOUCHED_TOP],
            t[UND_TOUCHED_SPEED], t[UND_TOUCHED_WIND_X], t[UND_TOUCHED_WIND_Z]);
    else if (t[UND_TOUCHED_RAIN] != 0)
        say(m, "    water.rain = nil\n");
}

/* Outside an open edge is the level that was there when the scene began, not that of this moment's waves. */
static void write_edges(moment *m)
{
    static const char *const sides[UND_EDGES] = {"left", "right", "back", "front"};
    const und_height_field_def *p = m->height_field;
    for (int e = 0; e < UND_EDGES; e++) {
        const und_edge_def *edge = &p->edge[e];
        if (edge->kind != UND_EDGE_OPEN || edge->has_level)
            continue;
        bool along_z = e == UND_LOW_X || e == UND_HIGH_X;
        int count = along_z ? p->nz : p->nx, wet = 0;
        double sum = 0;
        for (int i = 0; i < count; i++) {
            int cx = along_z ? (e == UND_LOW_X ? 0 : p->nx - 1) : i;
            int cz = along_z ? i : (e == UND_LOW_Z ? 0 : p->nz - 1);
            double x = p->origin[0] + (cx + 0.5) * p->dx, z = p->origin[1] + (cz + 0.5) * p->dx;
            double level = und_value_at(&p->surface, x, 0, z, 0);
            if (level > und_value_at(&p->ground, x, 0, z, 0)) {
                sum += level;
                wet++;
            }
        }
        if (wet > 0)
            say(m, "    outside(water.edges, \"%s\", %.9g)\n", sides[e], sum / wet);
    }
}

/* ---- bodies ---- */

/* As a checkpoint has it: und_body_state, and 1 where it is led. */
enum { BODY_NUMBERS = sizeof(und_body_state) / sizeof(double) + 1 };

static void write_three(moment *m, const char *name, und_vec3 v, double scale)
{
    say(m, "%s = {%.9g, %.9g, %.9g}", name, scale * v.x, scale * v.y, scale * v.z);
}

/* Degrees about x, then y, then z. */
static und_vec3 turns_of(und_quat q)
{
    und_vec3 x = und_quat_rotate(q, und_vec(1, 0, 0)), y = und_quat_rotate(q, und_vec(0, 1, 0));
    und_vec3 z = und_quat_rotate(q, und_vec(0, 0, 1));
    return und_mul(und_vec(und_atan2(y.z, z.z), und_asin(fmax(-1, fmin(-x.z, 1))), und_atan2(x.y, x.x)),
                   180 / M_PI);
}

/* The state of a body as the language says it; `center` of mass in its own coordinates. */
static void write_state(moment *m, const double *numbers, und_vec3 center)
{
    und_body_state now;
    memcpy(&now, numbers, sizeof now);
    und_quat q = {now.rotation[0], now.rotation[1], now.rotation[2], now.rotation[3]};
    und_vec3 middle = und_vec(now.position[0], now.position[1], now.position[2]);
    write_three(m, "at", und_sub(middle, und_quat_rotate(q, center)), 1);
    say(m, ", ");
    write_three(m, "velocity", und_vec(now.velocity[0], now.velocity[1], now.velocity[2]), 1);
    say(m, ", ");
    write_three(m, "turn", turns_of(q), 1);
    say(m, ", ");
    write_three(m, "spin", und_vec(now.spin[0], now.spin[1], now.spin[2]), 180 / M_PI);
}

/* The balls of a scene of waves are bodies too: here they become some, in the order of the state. */
static void write_balls(moment *m)
{
    say(m, "    water.bodies = water.bodies or {}\n"
           "    for _, ball in ipairs(water.balls or {}) do\n"
           "      ball.shape, ball.radius, ball.drag = sphere { radius = ball.radius }, nil, 0.5\n"
           "      table.insert(water.bodies, ball)\n"
           "    end\n"
           "    water.balls = nil\n");
}

static void write_color(moment *m, const float *color)
{
    say(m, "color = {%g, %g, %g}, ", (double)color[0], (double)color[1], (double)color[2]);
}

/* Where the room of a body in waves is counted from, in the order of the state. */
static void write_still(moment *m, int body)
{
    const und_item *item = und_frame_find(&m->state, "bodies_still");
    const double *still = item ? (const double *)item->data + 3 * (size_t)body : NULL;
    if (still && isfinite(still[0]))
        say(m, ", still = {%.17g, %.17g, %.17g}", still[0], still[1], still[2]);
}

/* Bodies that move by themselves; balls come after them.  In waves the objects come first. */
static void write_bodies(moment *m)
{
    bool waves = m->view->model == UND_MODEL_WAVES;
    const und_body_def *bodies = waves ? m->view->waves.bodies : m->view->columns.bodies;
    int count = waves ? m->view->waves.body_count : m->view->columns.body_count;
    double kept[UND_BALLS][2];
    const und_item *item = und_frame_find(&m->state, "bodies");
    int thrown = und_balls_kept(&m->state, kept);
    if (!item || (!waves && m->view->model != UND_MODEL_COLUMNS) || (waves && count + thrown == 0))
        return;
    int led = waves ? m->view->waves.object_count : 0;
    const double *numbers = (const double *)item->data + (size_t)led * BODY_NUMBERS;
    write_balls(m);
    for (int i = 0; i < count; i++) {
        const double *body = numbers + (size_t)i * BODY_NUMBERS;
        if (body[BODY_NUMBERS - 1] > 0 || bodies[i].skeleton)
            continue; /* led: where it is follows from the time, and where a figure was let go it is again */
        say(m, "    free(water.bodies[%d], { ", i + 1);
        if (bodies[i].color[0] >= 0)
            write_color(m, bodies[i].color);
        write_state(m, body, und_body_center(&bodies[i]));
        write_still(m, led + i);
        say(m, " })\n");
    }
    for (int i = 0; i < thrown; i++) {
        say(m,
            "    table.insert(water.bodies, { shape = sphere { radius = %.9g }, density = %.9g, drag = 0.5,\n"
            "      ",
            kept[i][0], kept[i][1]);
        write_color(m, und_balls_color(i));
        write_state(m, numbers + (size_t)(count + i) * BODY_NUMBERS, und_vec(0, 0, 0));
        write_still(m, led + count + i);
        say(m, " })\n");
    }
}

/* ---- the text ---- */

static void write_helpers(moment *m)
{
    say(m, "  local function outside(edges, side, level)\n"
           "    if type(edges[side]) == \"string\" then edges[side] = { kind = edges[side] } end\n"
           "    edges[side].level = edges[side].level or level\n"
           "  end\n"
           "  local function free(body, now)\n"
           "    for key, value in pairs(now) do body[key] = value end\n"
           "    body.release, body.keys, body.easing = nil, nil, nil\n"
           "  end\n");
}

/* What --set said is the default now. */
static void write_settings(moment *m)
{
    if (m->of->setting_count == 0)
        return;
    say(m, "  local set, ask = {}, param\n");
    for (int i = 0; i < m->of->setting_count; i++)
        say(m, "  set[\"%s\"] = [==[%s]==]\n", m->of->settings[i].name, m->of->settings[i].value);
    say(m, "  param = function(name, default)\n"
           "    local value, kind = set[name], type(default)\n"
           "    if value == nil then return ask(name, default) end\n"
           "    if kind == \"number\" then return ask(name, tonumber(value)) end\n"
           "    if kind == \"boolean\" then return ask(name, value == \"true\") end\n"
           "    return ask(name, value)\n"
           "  end\n");
}

/* As many steps a frame as it takes the time step that was played with. */
static int substeps_of(const moment *m)
{
    double steps = 1 / (m->view->fps * m->of->dt);
    return (int)fmax(1, fmin(ceil(steps - 1e-6), 10000));
}

static und_status write_text(moment *m, und_error *err)
{
    const char *model = und_model_name(m->view->model);
    double time = m->frame->time;
    say(m,
        "-- The scene \"%s\" as it was at %g s" MARK "\n"
        "--\n"
        "-- The lines down to the ruler put that moment in the place of the scene's start; what is below the "
        "ruler is the\n"
        "-- scene as it was.  Time goes on: what happens at a time happens then.\n"
        "local moment = { scene = false }\n"
        "do\n",
        m->view->name, time);
    write_helpers(m);
    write_settings(m);
    say(m, "  local make, begin = liquid.%s, scene\n  liquid.%s = function(water)\n", model, model);
    und_status status = write_fields(m, err);
    if (status != UND_OK)
        return status;
    write_tuning(m);
    write_edges(m);
    write_bodies(m);
    say(m,
        "    make(water)\n"
        "  end\n"
        "  scene = function(def)\n"
        "    moment.scene = true\n"
        "    def.name, def.begin, def.substeps = \"%s\", %.17g, %d\n"
        "    begin(def)\n"
        "  end\n"
        "end\n"
        "-- %s\n",
        m->name, time, substeps_of(m),
        "------------------------------------------------------------------------------------------------");
    say(m, "%s\n", m->view->text);
    say(m, "if not moment.scene then scene {} end\n");
    return UND_OK;
}

/* A moment saved before may be written over, and nothing else. */
static und_status check_free(moment *m, const char *path, und_error *err)
{
    const size_t most = 1 << 28;
    size_t bytes;
    if (access(path, F_OK) != 0)
        return UND_OK;
    if (und_file_read(path, most, &m->before, &bytes, err) != UND_OK)
        return err->status;
    const char *mark = strstr(m->before, MARK), *end = strchr(m->before, '\n');
    return mark && end && mark < end
               ? UND_OK
               : und_error_set(err, UND_INVALID, "there is a file of that name, and it is no moment");
}

static und_status split_path(moment *m, const char *path, und_error *err)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t length = strlen(file);
    if (length < 5 || strcmp(file + length - 4, ".lua") != 0 || length - 4 >= sizeof m->name)
        return und_error_set(err, UND_INVALID, "expected a name that ends with .lua");
    memcpy(m->name, file, length - 4);
    for (const char *c = m->name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            return und_error_set(err, UND_INVALID, "expected a name of letters, digits, _ and -");
    return und_path_set(m->folder, err, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* Bodies in waves stand on the ground as high as they were in the water of a step before, and the scene finds
 * that anew: there the surface is moved by the difference, so that each cell has the water it had. */
static und_status keep_water(const moment *m, und_sim *sim, und_error *err)
{
    const float *surface = field_of(m, "surface")->data;
    size_t nx = (size_t)m->height_field->nx, cells = nx * (size_t)m->height_field->nz, stride = 0;
    und_frame anew = und_frame_empty(0, 0, (und_grid){0});
    float *moved = und_alloc(cells, sizeof *moved, "a map", err);
    und_status status = moved ? und_sim_save(sim, &anew, err) : err->status;
    const float *was = state_of(m, &m->state, "ground", &stride);
    const float *is = state_of(m, &anew, "ground", &stride);
    if (status == UND_OK && was && is) {
        for (size_t i = 0; i < cells; i++) {
            size_t at = i / nx * stride + i % nx;
            moved[i] = surface[i] + (is[at] - was[at]);
        }
        status = write_pixels(m, &m->map[0], moved, err);
    }
    und_frame_clear(&anew);
    free(moved);
    return status;
}

/* It must load: a scene that needs files of its own folder does so only there. */
static und_status try_it(const moment *m, const char *path, und_error *err)
{
    und_error why;
    und_scene *scene = und_scene_from_text(m->bytes, path, NULL, 0, &why);
    if (!scene)
        return und_error_set(err, UND_INVALID,
                             "there it would not load (a scene that has files needs them beside it): %s",
                             why.text);
    und_status status = UND_OK;
    if (m->view->model == UND_MODEL_WAVES && und_frame_find(&m->state, "bodies")) {
        und_sim *sim = und_sim_create(scene, m->of->threads, err);
        status = sim ? keep_water(m, sim, err) : err->status;
        und_sim_destroy(sim);
    }
    und_scene_destroy(scene);
    return status;
}

/* The text in memory; where it is to be tried, the maps on disk, too. */
static und_status make_text(moment *m, bool trying, und_error *err)
{
    free(m->bytes);
    m->bytes = NULL;
    m->trying = trying;
    m->said = 0;
    m->text = open_memstream(&m->bytes, &m->size);
    if (!m->text)
        return und_error_set(err, UND_FAILED, "out of memory: a scene");
    und_status status = write_text(m, err);
    if (fclose(m->text) != 0 && status == UND_OK)
        status = und_error_set(err, UND_FAILED, "out of memory: a scene");
    return status;
}

static und_status begin_text(const moment *m, und_file *file, const char *path, und_error *err)
{
    if (und_file_begin(file, path, err) != UND_OK)
        return err->status;
    FILE *out = fopen(file->temp, "wb");
    bool good = out && fwrite(m->bytes, 1, m->size, out) == m->size;
    if (out && fclose(out) == 0 && good)
        return UND_OK;
    und_file_cancel(file);
    return und_error_set(err, UND_FAILED, "cannot write %s", path);
}

/* All is on disk and loads: now, and not before, it takes the place of the moment saved before. */
static und_status put_in_place(moment *m, und_file *text, und_error *err)
{
    while (m->map_count > 0)
        if (und_file_commit(&m->map[--m->map_count], err) != UND_OK) {
            und_file_cancel(text);
            return err->status;
        }
    if (und_file_commit(text, err) != UND_OK)
        return err->status;
    char path[UND_PATH_MAX];
    for (int i = 0; i < MAPS; i++) /* maps that nothing names any more */
        if (has_map(m, m->before, map_names[i]) && !has_map(m, m->bytes, map_names[i]) &&
            und_path_set(path, err, "%s/%s.%s.exr", m->folder, m->name, map_names[i]) == UND_OK)
            unlink(path);
    return UND_OK;
}

static und_status write_scene(moment *m, const char *path, und_error *err)
{
    und_file text;
    und_status status = und_sim_save(m->of->sim, &m->state, err);
    if (status == UND_OK)
        status = make_text(m, true, err);
    if (status == UND_OK)
        status = try_it(m, path, err);
    if (status == UND_OK)
        status = make_text(m, false, err);
    if (status == UND_OK)
        status = begin_text(m, &text, path, err);
    if (status == UND_OK)
        status = put_in_place(m, &text, err);
    while (m->map_count > 0)
        und_file_cancel(&m->map[--m->map_count]);
    free(m->bytes);
    und_frame_clear(&m->state);
    return status;
}

und_status und_scene_write(const und_scene_moment *of, const char *path, und_error *err)
{
    moment *m = und_alloc(1, sizeof *m, "a scene", err);
    if (!m)
        return UND_FAILED;
    m->of = of;
    m->view = und_scene_get(of->scene);
    m->height_field = m->view->height_field;
    m->frame = und_sim_frame(of->sim);
    und_status status = m->frame ? split_path(m, path, err) : und_error_set(err, UND_FAILED, "no memory");
    if (status == UND_OK && !m->height_field)
        status = und_error_set(err, UND_INVALID,
                               "a scene of liquid.%s cannot begin in the middle; a checkpoint can",
                               und_model_name(m->view->model));
    if (status == UND_OK)
        status = und_folder_make(m->folder, err);
    if (status == UND_OK)
        status = check_free(m, path, err);
    if (status == UND_OK)
        status = write_scene(m, path, err);
    free(m->before);
    free(m);
    return status;
}
