/* The language's keys, one by one, from the tables that read them. */
#include "scene/blocks.h"

#include <stdio.h>

static const char *describe(const field *f)
{
    switch (f->type) {
    case F_NUMBER:
        return "a number";
    case F_INTEGER:
    case F_SEED:
        return "a whole number";
    case F_FLAG:
        return "true or false";
    case F_COLOR:
        return "a colour";
    case F_PAIR:
    case F_PLACE:
        return "{x, z}";
    case F_POINT:
        return "{x, y, z}";
    case F_POINTS:
        return "a list of points {x, y, z}";
    case F_COUNTS:
        return "{nx, ny, nz}";
    case F_VALUE:
        return "a value";
    case F_RATE:
        return "a number or function(x, z, t)";
    case F_SPACE:
        return "a number or function(x, y, z, t)";
    case F_FLOW:
        return "{x, y, z} or a function that returns it";
    case F_VECTOR:
        return "a moving {x, y, z}";
    case F_TRACK:
        return "a moving {x, z}";
    case F_CHOICE:
        return "a word";
    case F_PICTURE:
        return "a PNG, EXR or HDR file";
    case F_SHAPE:
        return "a shape";
    case F_NAME:
        return "a name";
    case F_OTHER:
    case F_INCLUDE:
        break;
    }
    return f->expected ? f->expected : "a table";
}

static void visit(const char *prefix, const field *fields, und_scene_key_fn *each, void *context)
{
    char name[160];
    field_walk walk = und_fields_walk(fields);
    for (const field *f; (f = und_fields_next(&walk)) != NULL;) {
        snprintf(name, sizeof name, "%s.%s", prefix, f->key);
        each(context, &(und_scene_key){.name = name,
                                       .expected = describe(f),
                                       .unit = f->unit,
                                       .low = f->low,
                                       .high = f->high,
                                       .required = f->required,
                                       .doc = f->doc});
        if (f->inside)
            visit(name, f->inside, each, context);
    }
}

void und_scene_keys(und_scene_key_fn *each, void *context)
{
    for (const block *b = und_blocks; b->name; b++)
        visit(b->name, b->fields, each, context);
    for (const shape_kind *k = und_shape_kinds; k->name; k++)
        if (k->fields)
            visit(k->name, k->fields, each, context);
    visit("map", und_map_fields, each, context);
}
