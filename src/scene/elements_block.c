/* What acts on the level set liquid: sources, drains, forces and modifiers into und_element_defs. */
#include "control/elements.h"
#include "geom/value.h"
#include "io/vdb.h"
#include "scene/levelset_block.h"

#include <math.h>
#include <stdlib.h>

typedef struct element_read {
    placed_read placed; /* first: und_placed_fields */
    und_element_def element;
} element_read;

#define ELEMENT(member_) offsetof(element_read, element.member_)

/* A table of the kind's own keys into its data. */
static void read_kind(reader *r, const field *f, void *item)
{
    const und_field_kind *kind = f->with;
    void *data = und_scene_alloc(r, 1, kind->size);
    und_read_table(r, f->inside, data);
    ((element_read *)item)->element.field.kind = kind;
    ((element_read *)item)->element.field.data = data;
}

#define KIND(name_, doc_)                                                                              \
    {                                                                                                  \
#name_, F_OTHER, .read = read_kind, .inside = und_field_##name_##_keys, .expected = "a table", \
                         .with = &und_field_##name_##_kind, .doc = doc_                                \
    }

typedef struct vdb_read {
    const char *file, *name;
    double scale;
} vdb_read;

static void read_vdb_file(reader *r, const field *f, void *def)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    ((vdb_read *)def)->file = und_scene_file(r, lua_tostring(r->L, -1));
}

static const field vdb_fields[] = {
    {"file", F_OTHER, .required = true, .read = read_vdb_file, .expected = "the name of a VDB file",
     .doc = "that has vectors, at the middles of voxels or staggered"},
    {"name", F_NAME, .offset = offsetof(vdb_read, name), .doc = "of the grid in it"},
    {"scale", F_NUMBER, NULL, -UND_SPEED_MAX, UND_SPEED_MAX, .offset = offsetof(vdb_read, scale),
     .doc = "what the file's vectors are multiplied by"},
    {0}};

/* A file's vectors are a grid of samples. */
static void read_vdb(reader *r, const field *f, void *item)
{
    vdb_read read = {.scale = 1};
    und_lattice lattice;
    float *values;
    und_error err = {0};
    und_read_table(r, f->inside, &read);
    owned *place = und_scene_own(r, free);
    und_field_grid *grid = und_scene_alloc(r, 1, sizeof *grid);
    if (und_vdb_read_vectors(read.file, read.name, &lattice, &values, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    place->resource = values;
    for (size_t i = 0; i < 3 * und_lattice_count(&lattice); i++) {
        values[i] *= (float)read.scale;
        if (!isfinite(values[i]))
            und_read_fail(r, "%s: expected finite numbers, found one that is not", read.file);
    }
    for (int a = 0; a < 3; a++) {
        grid->n[a] = lattice.n[a];
        grid->low[a] = lattice.origin[a];
        grid->high[a] = lattice.origin[a] + (lattice.n[a] - 1) * lattice.d[a];
    }
    grid->sample = values;
    ((element_read *)item)->element.field.kind = &und_field_grid_kind;
    ((element_read *)item)->element.field.data = grid;
}

/* The kinds of fields that an element may have instead of values.  A new one is added here. */
static const field kind_fields[] = {KIND(spline, "a curve that the liquid is led along, instead"),
                                    KIND(grid, "samples, linear between them and 0 outside, instead"),
                                    {"vdb", F_OTHER, .read = read_vdb, .inside = vdb_fields,
                                     .expected = "a table", .doc = "the same from an OpenVDB file, instead"},
                                    {0}};

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
#define SOFT                                                                                           \
    {                                                                                                  \
        "soft", F_NUMBER, "m", 0, 1e6, .offset = ELEMENT(soft),                                        \
                                       .doc = "inside the border of the shape it fades to 0 over this" \
    }

const field und_source_fields[] = {SHAPE_KEY(true, "where it is, in its own coordinates"),
                                   INCLUDE(und_placed_fields),
                                   {"velocity", F_FLOW, "m/s", 0, UND_SPEED_MAX,
                                    .offset = ELEMENT(field.value), .doc = "of the liquid in it"},
                                   INCLUDE(kind_fields),
                                   UND_TEMPERATURE(ELEMENT(temperature), "of the liquid in it"),
                                   START,
                                   STOP,
                                   {0}};

const field und_drain_fields[] = {
    SHAPE_KEY(true, "where it is, in its own coordinates"), INCLUDE(und_placed_fields), START, STOP, {0}};

const field und_force_fields[] = {SHAPE_KEY(false, "where it acts, in its own coordinates; else everywhere"),
                                  INCLUDE(und_placed_fields),
                                  {"acceleration", F_FLOW, "m/s2", 0, UND_SPEED_MAX,
                                   .offset = ELEMENT(field.value), .doc = "that it gives the liquid"},
                                  INCLUDE(kind_fields),
                                  SOFT,
                                  START,
                                  STOP,
                                  {0}};

const field und_modifier_fields[] = {
    SHAPE_KEY(false, "where it acts, in its own coordinates; else everywhere"),
    INCLUDE(und_placed_fields),
    {"velocity", F_FLOW, "m/s", 0, UND_SPEED_MAX, .offset = ELEMENT(field.value),
     .doc = "that the liquid is led to"},
    INCLUDE(kind_fields),
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

/* An element has its values, or a field of one kind. */
static void check_field(reader *r, const char *values)
{
    const char *first = und_read_has(r, values) ? values : NULL;
    for (const field *f = kind_fields; f->key; f++) {
        if (!und_read_has(r, f->key))
            continue;
        if (first)
            und_read_fail(r, "expected either \"%s\" or \"%s\", found both", first, f->key);
        first = f->key;
    }
    if (!first)
        und_read_fail(r, "missing key \"%s\", or a field of some kind (\"spline\")", values);
}

static void finish_element(reader *r, element_read *e, und_element_role role)
{
    und_element_def *element = &e->element;
    element->role = role;
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
    check_field(r, "velocity");
    finish_element(r, item, UND_ELEMENT_SOURCE);
}

static void finish_drain(reader *r, void *item)
{
    finish_element(r, item, UND_ELEMENT_DRAIN);
}

static void finish_force(reader *r, void *item)
{
    check_field(r, "acceleration");
    finish_element(r, item, UND_ELEMENT_FORCE);
}

static void finish_modifier(reader *r, void *item)
{
    check_field(r, "velocity");
    finish_element(r, item, UND_ELEMENT_VELOCITY);
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
