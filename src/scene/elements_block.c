/* What acts on the level set liquid: sources, drains, forces and modifiers into und_element_defs. */
#include "control/elements.h"
#include "geom/value.h"
#include "scene/levelset_block.h"

#include <math.h>

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

/* The kinds of fields that an element may have instead of values.  A new one is added here. */
static const field kind_fields[] = {KIND(spline, "a curve that the liquid is led along, instead"),
                                    KIND(grid, "samples, linear between them and 0 outside, instead"),
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
