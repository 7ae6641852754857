/* What acts on the level set liquid: sources, drains, forces and modifiers into und_element_defs. */
#include "scene/levelset_block.h"

#include "geom/value.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

enum { POINTS_MAX = 10000, SAMPLES_MAX = 512 };

#define SAMPLES_TOTAL ((double)(1 << 26))

typedef struct element_read {
    placed_read placed; /* first: und_placed_fields */
    und_element_def element;
} element_read;

#define ELEMENT(member_) offsetof(element_read, element.member_)

/* {{x, y, z}, ...}: x and y are enough in two dimensions, and z is then in the middle of the cells. */
static void read_points(reader *r, const field *f, void *def)
{
    und_field_spline *spline = def;
    lua_Unsigned count = lua_type(r->L, -1) == LUA_TTABLE ? lua_rawlen(r->L, -1) : 0;
    if (count < 2 || count > POINTS_MAX)
        und_read_fail(r, "expected %s, from 2 to %d of them", f->expected, (int)POINTS_MAX);
    double(*points)[3] = und_scene_alloc(r, count, sizeof *points);
    const und_grid grid = und_scene_grid(r->scene);
    for (int i = 0; i < (int)count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        points[i][2] = grid.origin[2] + 0.5 * grid.dx;
        und_read_numbers(r, points[i], r->scene->curve ? 2 : 3, 3, "a point {x, y, z}");
        if (i > 0 && memcmp(points[i], points[i - 1], sizeof *points) == 0)
            und_read_fail(r, "expected another point than the one before it");
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    spline->point = (const double(*)[3])points;
    spline->count = (int)count;
}

#define SPLINE(member_) offsetof(und_field_spline, member_)

static const field spline_fields[] = {{"points", F_OTHER, "m", .required = true, .read = read_points,
                                       .expected = "a list of points {{x, y, z}, ...}",
                                       .doc = "that the curve passes, in their order"},
                                      {"radius", F_NUMBER, "m", 1e-6, 1e6, true, SPLINE(radius),
                                       .doc = "how far from the curve it acts, falling off to 0"},
                                      {"speed", F_NUMBER, "m/s or m/s2", -UND_SPEED_MAX, UND_SPEED_MAX,
                                       .offset = SPLINE(speed), .doc = "along the curve, on it"},
                                      {"pull", F_NUMBER, "m/s or m/s2", -UND_SPEED_MAX, UND_SPEED_MAX,
                                       .offset = SPLINE(pull), .doc = "towards the curve, beside it"},
                                      {0}};

static void read_spline(reader *r, const field *f, void *item)
{
    und_field_def *out = &((element_read *)item)->element.field;
    out->kind = UND_FIELD_SPLINE;
    und_read_table(r, f->inside, &out->spline);
}

typedef struct grid_read {
    und_vec3 low, high;
    double n[3];
    und_value sample[3];
} grid_read;

#define GRID(member_) offsetof(grid_read, member_)

static void read_counts(reader *r, const field *f, void *def)
{
    double *n = ((grid_read *)def)->n;
    und_read_numbers(r, n, 3, 3, f->expected);
    for (int i = 0; i < 3; i++)
        if (!(n[i] >= 1 && n[i] <= f->high && n[i] == floor(n[i])))
            und_read_fail(r, "expected whole numbers from %g to %g, found %g", f->low, f->high, n[i]);
}

static const field grid_fields[] = {
    {"min", F_POINT, "m", .required = true, .offset = GRID(low), .doc = "where the first sample is"},
    {"max", F_POINT, "m", .required = true, .offset = GRID(high), .doc = "where the last sample is"},
    {"samples", F_OTHER, NULL, 1, SAMPLES_MAX, true, .read = read_counts, .expected = "{nx, ny, nz}",
     .doc = "how many along x, y and z"},
    {"value", F_FLOW, "m/s or m/s2", 0, UND_SPEED_MAX, true, GRID(sample),
     .doc = "what it is there, asked for once, when the scene is loaded"},
    {0}};

/* A function of place that is slow to call: once for each sample. */
static void read_grid(reader *r, const field *f, void *item)
{
    und_field_def *out = &((element_read *)item)->element.field;
    grid_read read = {0};
    und_read_table(r, f->inside, &read);
    und_field_grid *g = &out->grid;
    const double low[3] = {read.low.x, read.low.y, read.low.z},
                 high[3] = {read.high.x, read.high.y, read.high.z};
    double count = read.n[0] * read.n[1] * read.n[2];
    if (count > SAMPLES_TOTAL)
        und_read_fail(r, "expected at most 2^26 samples in all, found %g", count);
    for (int i = 0; i < 3; i++) {
        g->n[i] = (int)read.n[i];
        g->low[i] = low[i];
        g->high[i] = high[i];
        if (g->n[i] > 1 ? !(high[i] > low[i]) : high[i] < low[i])
            und_read_fail(r, "expected max above min along %c, found %g and %g", "xyz"[i], low[i], high[i]);
    }
    float *sample = und_scene_alloc(r, (size_t)count, 3 * sizeof *sample), *to = sample;
    for (int z = 0; z < g->n[2]; z++)
        for (int y = 0; y < g->n[1]; y++)
            for (int x = 0; x < g->n[0]; x++) {
                const int at[3] = {x, y, z};
                double place[3];
                for (int i = 0; i < 3; i++)
                    place[i] = g->n[i] > 1 ? low[i] + (high[i] - low[i]) * at[i] / (g->n[i] - 1)
                                           : 0.5 * (low[i] + high[i]);
                for (int i = 0; i < 3; i++)
                    *to++ = (float)und_value_at(&read.sample[i], place[0], place[1], place[2], 0);
            }
    und_read_trouble(r);
    g->sample = sample;
    out->kind = UND_FIELD_GRID;
}

#define SHAPE_KEY(required_, doc_)                                                           \
    {                                                                                        \
        "shape", F_SHAPE, NULL, .required = required_, .offset = ELEMENT(shape), .doc = doc_ \
    }
#define START                                                                                             \
    {                                                                                                     \
        "start", F_NUMBER, "s", -UND_FOREVER, INFINITY, .offset = ELEMENT(start), .doc = "when it begins" \
    }
#define STOP                                                                                         \
    {                                                                                                \
        "stop", F_NUMBER, "s", -UND_FOREVER, INFINITY, .offset = ELEMENT(end), .doc = "when it ends" \
    }
#define SPLINE_KEY                                                                              \
    {                                                                                           \
        "spline", F_OTHER, .read = read_spline, .inside = spline_fields, .expected = "a table", \
                           .doc = "a curve that the liquid is led along, instead"               \
    }
#define GRID_KEY                                                                          \
    {                                                                                     \
        "grid", F_OTHER, .read = read_grid, .inside = grid_fields, .expected = "a table", \
                         .doc = "samples, linear between them and 0 outside, instead"     \
    }
#define SOFT                                                                                           \
    {                                                                                                  \
        "soft", F_NUMBER, "m", 0, 1e6, .offset = ELEMENT(soft),                                        \
                                       .doc = "inside the border of the shape it fades to 0 over this" \
    }

const field und_source_fields[] = {SHAPE_KEY(true, "where it is, in its own coordinates"),
                                   INCLUDE(und_placed_fields),
                                   {"velocity", F_FLOW, "m/s", 0, UND_SPEED_MAX,
                                    .offset = ELEMENT(field.value), .doc = "of the liquid in it"},
                                   SPLINE_KEY,
                                   GRID_KEY,
                                   START,
                                   STOP,
                                   {0}};

const field und_drain_fields[] = {
    SHAPE_KEY(true, "where it is, in its own coordinates"), INCLUDE(und_placed_fields), START, STOP, {0}};

const field und_force_fields[] = {SHAPE_KEY(false, "where it acts, in its own coordinates; else everywhere"),
                                  INCLUDE(und_placed_fields),
                                  {"acceleration", F_FLOW, "m/s2", 0, UND_SPEED_MAX,
                                   .offset = ELEMENT(field.value), .doc = "that it gives the liquid"},
                                  SPLINE_KEY,
                                  GRID_KEY,
                                  SOFT,
                                  START,
                                  STOP,
                                  {0}};

const field und_modifier_fields[] = {
    SHAPE_KEY(false, "where it acts, in its own coordinates; else everywhere"),
    INCLUDE(und_placed_fields),
    {"velocity", F_FLOW, "m/s", 0, UND_SPEED_MAX, .offset = ELEMENT(field.value),
     .doc = "that the liquid is led to"},
    SPLINE_KEY,
    GRID_KEY,
    {"alpha", F_SPACE, NULL, 0, 1, .offset = ELEMENT(alpha),
     .doc = "how much of the way to that velocity is gone in 1/24 s; 1: it has it at once"},
    SOFT,
    START,
    STOP,
    {0}};

static void init_element(void *item)
{
    element_read *e = item;
    e->placed.path.easing = UND_EASE_SPLINE;
    e->element.alpha = und_value_constant(1);
    e->element.end = INFINITY;
}

static void finish_element(reader *r, void *item)
{
    static const char *const kinds[] = {"velocity", "acceleration", "spline", "grid"};
    element_read *e = item;
    und_element_def *element = &e->element;
    const char *first = NULL;
    for (int i = 0; i < 4; i++) {
        if (!und_read_has(r, kinds[i]))
            continue;
        if (first)
            und_read_fail(r, "expected either \"%s\" or \"%s\", found both", first, kinds[i]);
        first = kinds[i];
    }
    if (!element->shape && (und_read_has(r, "keys") || und_read_has(r, "at") || und_read_has(r, "turn")))
        und_read_fail(r, "keys, \"at\" and \"turn\" lead the shape, and there is none");
    if (!element->shape && element->soft > 0)
        und_read_fail(r, "\"soft\" is inside the border of the shape, and there is none");
    if (!(element->end > element->start))
        und_read_fail(r, "expected it to stop after it starts, found start = %g, stop = %g", element->start,
                      element->end);
    element->motion = und_read_placed(r, &e->placed);
}

static void finish_source(reader *r, void *item)
{
    finish_element(r, item);
    ((element_read *)item)->element.role = UND_ELEMENT_SOURCE;
}

static void finish_drain(reader *r, void *item)
{
    finish_element(r, item);
    ((element_read *)item)->element.role = UND_ELEMENT_DRAIN;
}

static void finish_force(reader *r, void *item)
{
    finish_element(r, item);
    if (!und_read_has(r, "acceleration") && !und_read_has(r, "spline") && !und_read_has(r, "grid"))
        und_read_fail(r, "missing key \"acceleration\" (m/s2), \"spline\" or \"grid\"");
    ((element_read *)item)->element.role = UND_ELEMENT_FORCE;
}

static void finish_modifier(reader *r, void *item)
{
    finish_element(r, item);
    if (!und_read_has(r, "velocity") && !und_read_has(r, "spline") && !und_read_has(r, "grid"))
        und_read_fail(r, "missing key \"velocity\" (m/s), \"spline\" or \"grid\"");
    ((element_read *)item)->element.role = UND_ELEMENT_VELOCITY;
}

/* Behind those that the level set has. */
static void add_list(reader *r, const field *f, und_levelset_def *l, void (*finish)(reader *, void *))
{
    int more = 0;
    const element_read *read = und_read_list(r, f->inside, sizeof *read, init_element, finish, &more);
    und_element_def *all = und_scene_alloc(r, (size_t)l->element_count + (size_t)more, sizeof *all);
    for (int i = 0; i < l->element_count; i++)
        all[i] = l->elements[i];
    for (int i = 0; i < more; i++)
        all[l->element_count + i] = read[i].element;
    l->elements = all;
    l->element_count += more;
}

void und_read_sources(reader *r, const field *f, void *levelset)
{
    add_list(r, f, levelset, finish_source);
}

void und_read_drains(reader *r, const field *f, void *levelset)
{
    add_list(r, f, levelset, finish_drain);
}

void und_read_forces(reader *r, const field *f, void *levelset)
{
    add_list(r, f, levelset, finish_force);
}

void und_read_modifiers(reader *r, const field *f, void *levelset)
{
    add_list(r, f, levelset, finish_modifier);
}
