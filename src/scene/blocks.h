/* The blocks of the scene language and the fields that other files read. */
#ifndef UND_SCENE_BLOCKS_H
#define UND_SCENE_BLOCKS_H

#include "scene/read.h"

/* A field that is a list of tables. */
#define LIST(key_, read_, inside_, doc_)                                                   \
    {                                                                                      \
        key_, F_OTHER, .read = read_, .inside = inside_, .expected = "a list", .doc = doc_ \
    }

extern const field und_height_field_fields[]; /* of a und_height_field_def */
extern const field und_spray_fields[];        /* of a und_spray_def */
extern const field und_waves_fields[], und_columns_fields[], und_cells_fields[], und_levelset_fields[];
void und_read_waves(reader *r);
void und_read_columns(reader *r);
void und_read_cells(reader *r);
void und_read_levelset(reader *r);

/* Of liquids in space (space.c): the scene's size; a vector of doubles, {x, y, z} or {x, y} of a domain one
 * cell deep; gravity, a number or a vector. */
void und_read_size(reader *r, const field *f, void *def);
void und_read_components(reader *r, const field *f, void *def);
void und_read_gravity(reader *r, const field *f, void *def);
extern const char *const und_side_names[]; /* in the order of the sides, ended by NULL */

/* A list whose entries are shapes, or tables with a shape in them, or one shape alone.  The shape is at the
 * offset in an item. */
typedef struct shape_list {
    const field *fields;
    size_t size, shape;
    void (*init)(void *item);
    void (*finish)(reader *r, void *item); /* of an entry that is a table; it is on top */
    const char *expected;
} shape_list;

#define SHAPES_EXPECTED "a shape, or a list of shapes or of tables { shape = ... }"
void *und_read_shapes(reader *r, const shape_list *l, int *count);

/* true, false or the table of f->inside into the und_spray_def at f->offset. */
void und_read_spray(reader *r, const field *f, void *def);

/* A grid of the level set begins and has been read (grids.c); whole: what can be said of them all. */
void und_begin_grid(reader *r);
void und_end_grid(reader *r);
void und_read_from(reader *r, const field *f, void *def);
void und_check_grids(lua_State *L, und_scene *scene);

/* Says that the scene's liquid is of this model; an error where it has one. */
void und_begin_liquid(reader *r, und_model model);

/* How things look in ray-traced pictures (looks_block.c): a material's name or a table into the und_look at
 * f->offset; the looks of a list's items, the first of which is the thing numbered `first`. */
#define MATERIAL_EXPECTED "a material's name, or a table as of material { }"
typedef struct look_list {
    const void *items;
    size_t size, look; /* bytes of an item, and where in it the look stands */
    int count;
} look_list;
extern const field und_material_fields[], und_lamp_fields[], und_render_fields[];
void und_read_look(reader *r, const field *f, void *def);
void und_add_looks(reader *r, const und_look **list, int *count, int first, const look_list *from);
void und_read_lamps(reader *r, const field *f, void *def);
void und_read_material_block(reader *r);
void und_read_render(reader *r);

/* A list of bodies; more of them at the end of a list; and those that float in the scene's flow. */
extern const field und_body_fields[], und_float_fields[];
/* `first`: the number that the first of them has in a frame. */
const und_body_def *und_read_bodies(reader *r, const field *f, int first, int *count);
void und_add_bodies(reader *r, const und_body_def **list, int *count, const und_body_def *more,
                    int more_count);
void und_read_floating_bodies(reader *r, const field *f, void *def);
void und_read_bodies_block(reader *r);
void und_read_float(reader *r);

/* Reads the scene's liquid: `height_field` begins the def that the fields describe. */
void und_read_liquid(reader *r, und_model model, const field *fields, und_height_field_def *height_field);

#endif
