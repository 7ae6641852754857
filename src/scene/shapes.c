/* sphere{}, box{} and the other shapes of the language. */
#include "geom/shape.h"

#include "base/status.h"
#include "geom/distance_grid.h"
#include "geom/trimesh_file.h"
#include "geom/voxels.h"
#include "io/vdb.h"
#include "scene/read.h"

#include <lauxlib.h>
#include <stdlib.h>

#define SHAPE "shape"

/* The words of all shapes; each kind uses some. */
typedef struct shape_def {
    und_shape shape;
    und_vec3 low, high, size;
    double height;
    const char *file, *grid;
    double scale;
    und_vec3 turn;
    bool open;
} shape_def;

#define AT(member_) .offset = offsetof(shape_def, member_)
#define CENTER                                                        \
    {                                                                 \
        "center", F_POINT, "m", AT(shape.center), .doc = "its middle" \
    }
#define RADIUS                                                                          \
    {                                                                                   \
        "radius", F_NUMBER, "m", 1e-6, 1e6, true, AT(shape.radius), .doc = "its radius" \
    }

static const field sphere_fields[] = {CENTER, RADIUS, {0}};
static const field box_fields[] = {
    CENTER,
    {"size", F_POINT, "m", AT(size), .doc = "lengths of its edges along x, y and z"},
    {"min", F_POINT, "m", AT(low), .doc = "low corner, instead of center and size"},
    {"max", F_POINT, "m", AT(high), .doc = "high corner, instead of center and size"},
    {0}};
static const field cylinder_fields[] = {
    CENTER, RADIUS, {"height", F_NUMBER, "m", 1e-6, 1e6, true, AT(height), .doc = "its length along y"}, {0}};
static const field capsule_fields[] = {
    {"from", F_POINT, "m", .required = true, AT(low), .doc = "centre of one end"},
    {"to", F_POINT, "m", .required = true, AT(high), .doc = "centre of the other end"},
    RADIUS,
    {0}};
static const field ellipsoid_fields[] = {
    CENTER,
    {"radii", F_POINT, "m", .required = true, AT(shape.half), .doc = "semi-axes along x, y and z"},
    {0}};
static const field plane_fields[] = {
    {"center", F_POINT, "m", AT(shape.center), .doc = "a point on it"},
    {"normal", F_POINT, AT(shape.half), .doc = "the way out; what lies below the plane is inside"},
    {0}};

static void read_mesh_file(reader *r, const field *f, void *def)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    ((shape_def *)def)->file = und_scene_file(r, lua_tostring(r->L, -1));
}

static const field mesh_fields[] = {
    {"file", F_OTHER, .read = read_mesh_file, .required = true, .expected = "the name of an OBJ or PLY file",
     .doc = "a Wavefront OBJ, or a PLY, ascii or binary little-endian"},
    {"scale", F_NUMBER, NULL, 1e-9, 1e9, AT(scale), .doc = "metres per unit of the file"},
    {"turn", F_POINT, "degrees", AT(turn), .doc = "about x, then y, then z, after scaling"},
    {"center", F_POINT, "m", AT(shape.center), .doc = "where the file's origin comes to lie"},
    {"open", F_FLAG, AT(open),
     .doc = "takes a mesh that is not closed: six lines along the axes vote on what is inside"},
    {0}};

static const field volume_fields[] = {
    {"file", F_OTHER, .read = read_mesh_file, .required = true, .expected = "the name of a .vdb file",
     .doc = "an OpenVDB file with a level set: distances, negative inside"},
    {"grid", F_NAME, AT(grid), .doc = "which of its grids of floats"},
    {"scale", F_NUMBER, NULL, 1e-9, 1e9, AT(scale), .doc = "metres per unit of the file"},
    {"center", F_POINT, "m", AT(shape.center), .doc = "where the file's origin comes to lie"},
    {0}};

const shape_kind und_shape_kinds[] = {{"sphere", sphere_fields, "a ball"},
                                      {"box", box_fields, "a box along the axes"},
                                      {"cylinder", cylinder_fields, "an upright cylinder"},
                                      {"capsule", capsule_fields, "a rod with round ends"},
                                      {"ellipsoid", ellipsoid_fields, "a stretched ball"},
                                      {"plane", plane_fields, "everything below a plane"},
                                      {"mesh", mesh_fields, "triangles from a file"},
                                      {"voxels", und_voxels_fields, "boxes side by side, from a map"},
                                      {"volume", volume_fields, "a level set from an OpenVDB file"},
                                      {"union", NULL, "all of the shapes in the list together"},
                                      {"intersection", NULL, "what all of the shapes have in common"},
                                      {"difference", NULL, "the first shape without the others"},
                                      {0}};

static void release_shape(void *shape)
{
    und_shape_destroy(shape);
}

static void count_shape(reader *r)
{
    if (++r->scene->shape_count > SHAPES_MAX)
        und_read_fail(r, "more than %d shapes in one scene", SHAPES_MAX);
}

/* A deep copy, as a group owns its members and a scene may use one shape twice.  NULL: out of memory. */
static und_shape *copy_shape(const und_shape *from, und_error *err)
{
    und_shape like = *from;
    like.mesh = NULL;
    like.voxels = NULL;
    like.volume = NULL;
    like.children = NULL;
    like.child_count = 0;
    if (from->child_count > 0) {
        like.children = und_alloc((size_t)from->child_count, sizeof *like.children, "shapes", err);
        if (!like.children)
            return NULL;
        for (; like.child_count < from->child_count; like.child_count++) {
            like.children[like.child_count] = copy_shape(from->children[like.child_count], err);
            if (!like.children[like.child_count])
                break;
        }
        if (like.child_count < from->child_count) {
            for (int i = 0; i < like.child_count; i++)
                und_shape_destroy(like.children[i]);
            free(like.children);
            return NULL;
        }
    }
    like.mesh = from->mesh ? und_trimesh_keep(from->mesh) : NULL;
    like.voxels = from->voxels ? und_voxels_keep(from->voxels) : NULL;
    like.volume = from->volume ? und_distance_grid_keep(from->volume) : NULL;
    return und_shape_create(&like, err);
}

static int count_members(const und_shape *shape)
{
    int count = 1;
    for (int i = 0; i < shape->child_count; i++)
        count += count_members(shape->children[i]);
    return count;
}

/* The list of shapes on top into the members of a group that borrows them. */
static void read_members(reader *r, und_shape *group)
{
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, "a list of shapes {sphere{...}, box{...}}");
    lua_Unsigned count = lua_rawlen(r->L, -1);
    if (count == 0 || count > SHAPES_MAX)
        und_read_fail(r, "expected a list of shapes {sphere{...}, box{...}}, found %.0f", (double)count);
    group->children = und_scene_alloc(r, count, sizeof *group->children);
    for (int i = 0; i < (int)count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        group->children[i] = und_read_shape(r);
        r->scene->shape_count += count_members(group->children[i]);
        count_shape(r);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    group->child_count = (int)count;
}

static void release_mesh(void *mesh)
{
    und_trimesh_release(mesh);
}

static void load_mesh(reader *r, shape_def *def)
{
    und_error err = {0};
    owned *place = und_scene_own(r, release_mesh);
    und_trimesh *mesh = und_trimesh_read(def->file, def->scale, def->turn, &err);
    if (!mesh)
        und_read_fail(r, "%s", err.text);
    place->resource = def->shape.mesh = mesh;
    size_t bytes = und_trimesh_bytes(mesh);
    r->scene->held += (double)bytes; /* the next file is refused where that is too much */
    und_sandbox_charge(r->L, (double)bytes);
    long open = und_trimesh_open_edges(mesh);
    if (open > 0 && !def->open)
        und_read_fail(
            r,
            "%s: expected a closed mesh, found %ld open edge%s (edges with a face on one side only, or "
            "between faces that turn opposite ways); with open = true it is taken as it is",
            def->file, open, open == 1 ? "" : "s");
}

static void release_volume(void *volume)
{
    und_distance_grid_release(volume);
}

static void load_volume(reader *r, shape_def *def)
{
    und_error err = {0};
    und_distance_grid_def d = {0};
    float *value = NULL;
    owned *read = und_scene_own(r, free), *place = und_scene_own(r, release_volume);
    if (und_vdb_read_lattice(def->file, def->grid, &d.lattice, &value, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    read->resource = value;
    for (int a = 0; a < 3; a++) {
        d.lattice.d[a] *= def->scale;
        d.lattice.origin[a] *= def->scale;
    }
    for (size_t i = 0; i < und_lattice_count(&d.lattice); i++)
        value[i] *= (float)def->scale;
    d.value = value;
    und_distance_grid *volume = und_distance_grid_create(&d, &err);
    if (!volume)
        und_read_fail(r, "%s: %s", def->file, err.text);
    place->resource = def->shape.volume = volume;
    read->resource = NULL;
    free(value);
    r->scene->held += (double)und_distance_grid_bytes(volume);
    und_sandbox_charge(r->L, (double)und_distance_grid_bytes(volume));
}

static void finish_shape(reader *r, shape_def *def)
{
    und_shape *s = &def->shape;
    bool corners = s->kind == UND_BOX && (und_read_has(r, "max") || und_read_has(r, "min"));
    if (s->kind == UND_BOX && corners && (und_read_has(r, "center") || und_read_has(r, "size")))
        und_read_fail(r, "expected either min and max or center and size, found both");
    if (s->kind == UND_BOX && !(corners ? und_read_has(r, "max") : und_read_has(r, "size")))
        und_read_fail(r,
                      corners ? "missing key \"max\" (the high corner)" : "missing key \"size\" or \"max\"");
    if (corners || s->kind == UND_CAPSULE) {
        s->center = und_mul(und_add(def->low, def->high), 0.5);
        s->half = und_mul(und_sub(def->high, def->low), 0.5);
    } else if (s->kind == UND_BOX) {
        s->half = und_mul(def->size, 0.5);
    } else if (s->kind == UND_CYLINDER) {
        s->half = und_vec(0, 0.5 * def->height, 0);
    } else if (s->kind == UND_MESH) {
        load_mesh(r, def);
    } else if (s->kind == UND_VOLUME) {
        load_volume(r, def);
    }
}

static int make_shape(lua_State *L)
{
    und_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    und_shape_kind kind = (und_shape_kind)lua_tointeger(L, lua_upvalueindex(2));
    const shape_kind *k = &und_shape_kinds[kind];
    reader r = und_read_begin(L, scene, k->name);
    shape_def def = {.shape.kind = kind, .scale = 1};
    und_error err = {0};
    lua_settop(L, 1);
    if (kind == UND_PLANE)
        def.shape.half = und_vec(0, 1, 0);
    if (kind == UND_VOXELS) {
        def.shape.voxels = und_read_voxels(&r);
    } else if (k->fields) {
        und_read_table(&r, k->fields, &def);
        finish_shape(&r, &def);
    } else {
        read_members(&r, &def.shape);
    }
    count_shape(&r);
    owned *place = und_scene_own(&r, release_shape);
    und_shape **box = lua_newuserdatauv(L, sizeof *box, 0);
    luaL_setmetatable(L, SHAPE);
    place->resource = copy_shape(&def.shape, &err);
    if (!place->resource)
        und_read_fail(&r, "%s", err.text);
    *box = place->resource;
    return 1;
}

und_shape *und_read_shape(reader *r)
{
    und_shape **box = luaL_testudata(r->L, -1, SHAPE);
    if (!box)
        und_read_expected(r, "a shape: sphere{}, box{}, cylinder{}, capsule{}, ellipsoid{}, plane{}, mesh{}, "
                             "voxels{}, union{}, intersection{} or difference{}");
    return *box;
}

void und_shapes_open(lua_State *L, und_scene *scene)
{
    luaL_newmetatable(L, SHAPE);
    lua_pop(L, 1);
    for (int i = 0; und_shape_kinds[i].name; i++) {
        lua_pushlightuserdata(L, scene);
        lua_pushinteger(L, i);
        lua_pushcclosure(L, make_shape, 2);
        lua_setfield(L, -2, und_shape_kinds[i].name);
    }
}
