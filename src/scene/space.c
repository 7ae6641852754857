/* What liquids on a grid of cells share: their domain, and lists of the shapes in it. */
#include "liquid/cells.h"
#include "liquid/height_field.h"
#include "liquid/levelset.h"
#include "scene/blocks.h"

#include <lauxlib.h>
#include <string.h>

enum { SHAPES_IN_LIST = 10000 };

const char *const und_side_names[] = {"left", "right", "bottom", "top", "back", "front", NULL};

und_grid und_scene_grid(const und_scene *scene)
{
    if (scene->view.height_field)
        return und_height_field_grid(scene->view.height_field);
    if (!scene->view.model)
        return (und_grid){0};
    return scene->view.model == UND_MODEL_LEVELSET ? und_levelset_grid(&scene->view.levelset)
                                                   : und_cells_grid(&scene->view.cells);
}

void und_read_size(reader *r, const field *f, void *def)
{
    und_scene *scene = r->scene;
    (void)def;
    scene->size[2] = 0;
    int count = und_read_numbers(r, scene->size, 2, 3, "lengths {x, y, z}, or {x, y} (m)");
    for (int i = 0; i < count; i++)
        if (!(scene->size[i] >= f->low && scene->size[i] <= f->high))
            und_read_fail(r, "expected lengths from %g to %g (m), found %g", f->low, f->high, scene->size[i]);
    scene->curve = count == 2;
}

void und_read_components(reader *r, const field *f, void *def)
{
    double *out = (double *)(void *)((char *)def + f->offset);
    out[2] = 0;
    und_read_numbers(r, out, r->scene->curve ? 2 : 3, 3, f->expected);
    for (int i = 0; i < 3; i++)
        if (!(out[i] >= f->low && out[i] <= f->high))
            und_read_fail(r, "expected numbers from %g to %g (%s), found %g", f->low, f->high, f->unit,
                          out[i]);
}

void und_read_gravity(reader *r, const field *f, void *def)
{
    double *gravity = (double *)(void *)((char *)def + f->offset);
    if (lua_type(r->L, -1) == LUA_TNUMBER) {
        gravity[0] = gravity[2] = 0;
        gravity[1] = -und_read_number(r, f);
    } else {
        und_read_components(r, f, def);
    }
}

static void read_entry(reader *r, const shape_list *l, void *item)
{
    if (l->init)
        l->init(item);
    if (lua_type(r->L, -1) != LUA_TTABLE) {
        *(const und_shape **)(void *)((char *)item + l->shape) = und_read_shape(r);
        return;
    }
    und_read_table(r, l->fields, item);
    if (l->finish)
        l->finish(r, item);
}

void *und_read_shapes(reader *r, const shape_list *l, int *count)
{
    if (lua_type(r->L, -1) != LUA_TTABLE && lua_type(r->L, -1) != LUA_TUSERDATA)
        und_read_expected(r, l->expected);
    bool single = lua_type(r->L, -1) == LUA_TUSERDATA || und_read_has(r, "shape");
    if (single || und_read_has(r, "sequence")) {
        void *item = und_scene_alloc(r, 1, l->size);
        read_entry(r, l, item);
        *count = 1;
        return item;
    }
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1))
        if (lua_type(r->L, -2) != LUA_TNUMBER)
            und_read_fail(r, "expected %s, found a table with names in it", l->expected);
    lua_Unsigned length = lua_rawlen(r->L, -1);
    if (length > SHAPES_IN_LIST)
        und_read_fail(r, "expected at most %d, found %.0f", (int)SHAPES_IN_LIST, (double)length);
    char *items = und_scene_alloc(r, length, l->size);
    for (int i = 0; i < (int)length; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        read_entry(r, l, items + (size_t)i * l->size);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    *count = (int)length;
    return items;
}
