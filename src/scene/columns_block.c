/* liquid.columns{} into a und_columns_def. */
#include "bodies/skeleton.h"
#include "geom/shape.h"
#include "scene/blocks.h"

#include <math.h>
#include <string.h>

enum { DROPS_MAX = 1 << 26 };

#define COLUMNS(member_) offsetof(und_columns_def, member_)
#define SPRAY(member_) offsetof(und_spray_def, member_)

static const field sheet_fields[] = {
    {"tear", F_NUMBER, "m", 0, 1e3, .offset = SPRAY(sheet_tear), .doc = "a sheet thinner than this tears"},
    {"cohesion", F_NUMBER, "1/s", 0, 1e6, .offset = SPRAY(sheet_cohesion),
     .doc = "how fast drops that are neighbours come to move alike"},
    {0}};

static void read_sheets(reader *r, const field *f, void *def)
{
    und_spray_def *spray = def;
    spray->sheets = und_read_switch(r, f, spray, "true, false or { tear = ..., cohesion = ... }");
}

static void read_radius(reader *r, const field *f, void *def)
{
    double *radius = ((und_spray_def *)def)->radius;
    if (lua_type(r->L, -1) == LUA_TNUMBER)
        radius[0] = radius[1] = und_read_number(r, f);
    else
        und_read_numbers(r, radius, 2, 2, f->expected);
    for (int i = 0; i < 2; i++)
        if (!(radius[i] >= f->low && radius[i] <= f->high))
            und_read_fail(r, "expected radii from %g to %g (m), found %g", f->low, f->high, radius[i]);
    if (radius[0] > radius[1])
        und_read_fail(r, "expected the smaller radius first, found {%g, %g}", radius[0], radius[1]);
}

const field und_spray_fields[] = {
    {"threshold", F_NUMBER, "m/s", 0, 1e6, .offset = SPRAY(threshold),
     .doc = "water that rises faster than this sprays"},
    {"rate", F_NUMBER, "1/(m2 s)", 0, 1e9, .offset = SPRAY(rate),
     .doc = "drops per square metre and second, at most"},
    {"radius", F_OTHER, "m", 1e-6, 10, .read = read_radius, .expected = "a number or {smallest, largest}",
     .doc = "of the smallest and the largest drop"},
    {"share", F_NUMBER, NULL, 0, 1, .offset = SPRAY(share),
     .doc = "part of the rise above the threshold that leaves as spray"},
    {"launch", F_PAIR, NULL, 0, 100, .offset = SPRAY(launch),
     .doc = "velocity of drops upwards and sideways, {up, out}, relative to the surface's"},
    {"scatter", F_NUMBER, NULL, 0, 10, .offset = SPRAY(scatter),
     .doc = "random part of a drop's velocity, relative to its speed"},
    {"drag", F_NUMBER, NULL, 0, 1e3, .offset = SPRAY(drag),
     .doc = "of the air, relative to that on a ball; 0: none"},
    {"wind", F_VECTOR, "m/s", .offset = SPRAY(wind), .inside = und_path_fields,
     .doc = "velocity of the air, which acts through the drag"},
    {"most", F_INTEGER, NULL, 1, DROPS_MAX, .offset = SPRAY(most), .doc = "drops in the air at once"},
    {0}};

static const field spray_fields[] = {INCLUDE(und_spray_fields),
                                     {"sheets", F_OTHER, .read = read_sheets, .inside = sheet_fields,
                                      .expected = "true or a table",
                                      .doc = "young drops hang together in thin sheets until those tear"},
                                     {0}};

void und_read_spray(reader *r, const field *f, void *def)
{
    und_spray_def *spray = (und_spray_def *)((char *)def + f->offset);
    spray->on = und_read_switch(r, f, spray, "true, false or { threshold = ..., rate = ..., ... }");
}

/* Bodies and the bones of figures are one list in the def. */
static void read_bodies(reader *r, const field *f, void *def)
{
    int count = 0;
    und_columns_def *c = def;
    const und_body_def *bodies = und_read_bodies(r, f, c->body_count, &count);
    und_add_bodies(r, &c->bodies, &c->body_count, bodies, count);
}

typedef struct figure_read {
    und_skeleton *skeleton;
    und_vec3 at, turn;
    double start;
    und_body_def bone; /* what its bones have in common */
} figure_read;

#define FIGURE(member_) offsetof(figure_read, member_)

static void release_skeleton(void *skeleton)
{
    und_skeleton_destroy(skeleton);
}

static void read_skeleton(reader *r, const field *f, void *def)
{
    und_error err = {0};
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    const char *file = und_scene_file(r, lua_tostring(r->L, -1));
    owned *place = und_scene_own(r, release_skeleton);
    und_skeleton *skeleton = und_skeleton_load(file, &err);
    if (!skeleton)
        und_read_fail(r, "%s", err.text);
    place->resource = skeleton;
    ((figure_read *)def)->skeleton = skeleton;
}

static void read_release(reader *r, const field *f, void *def)
{
    und_body_def *bone = &((figure_read *)def)->bone;
    if (lua_type(r->L, -1) == LUA_TSTRING && strcmp(lua_tostring(r->L, -1), "water") == 0) {
        bone->release_wet = true;
        return;
    }
    if (lua_type(r->L, -1) != LUA_TNUMBER)
        und_read_expected(r, f->expected);
    bone->release = lua_tonumber(r->L, -1);
    if (!(bone->release >= 0))
        und_read_expected(r, "a time of 0 or later");
}

static const field figure_fields[] = {
    {"file", F_OTHER, .read = read_skeleton, .required = true, .expected = "the name of a skeleton's file",
     .doc = "the figure's bones, joints and keys, from the scene's folder"},
    {"at", F_POINT, "m", .offset = FIGURE(at), .doc = "where the figure's own origin is, {x, y, z}"},
    {"turn", F_POINT, "degrees", .offset = FIGURE(turn), .doc = "how it is turned about x, then y, then z"},
    {"start", F_NUMBER, "s", -1e9, 1e9, .offset = FIGURE(start), .doc = "when the figure's own time begins"},
    {"release", F_OTHER, .offset = FIGURE(bone), .read = read_release, .expected = "a time or \"water\"",
     .doc = "when it is let go: a time in seconds, or \"water\" for when it meets the water"},
    {"hold", F_NUMBER, NULL, 0, 1e6, .offset = FIGURE(bone.hold),
     .doc =
         "strength with which its joints then go on with their keys: 1 holds each limb straight out against "
         "its weight, 0 is limp"},
    {"density", F_NUMBER, "kg/m3", 1e-3, 1e6, .offset = FIGURE(bone.density), .doc = "of its bones"},
    {"drag", F_NUMBER, NULL, 0, 1e3, .offset = FIGURE(bone.drag), .doc = "of the water on its bones"},
    {0}};

static void init_figure(void *item)
{
    und_body_def *bone = &((figure_read *)item)->bone;
    *bone = und_body_def_default();
    bone->density = 950; /* a person who has breathed in */
    bone->hold = 1;
    bone->release = INFINITY;
}

static void finish_figure(reader *r, void *item)
{
    figure_read *f = item;
    und_error err = {0};
    if (und_skeleton_place(f->skeleton, f->at, f->turn, f->start, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
}

/* One body per bone. */
static void read_figures(reader *r, const field *f, void *def)
{
    und_columns_def *c = def;
    int count = 0;
    figure_read *list = und_read_list(r, f->inside, sizeof *list, init_figure, finish_figure, &count);
    for (int i = 0; i < count; i++) {
        const und_skeleton *skeleton = list[i].skeleton;
        int bones = und_skeleton_bones(skeleton);
        und_body_def *bodies = und_scene_alloc(r, (size_t)bones, sizeof *bodies);
        for (int k = 0; k < bones; k++) {
            bodies[k] = list[i].bone;
            bodies[k].shape = und_skeleton_shape(skeleton, k);
            bodies[k].skeleton = skeleton;
            bodies[k].bone = k;
            memcpy(bodies[k].color, und_skeleton_color(skeleton, k), sizeof bodies[k].color);
        }
        und_add_bodies(r, &c->bodies, &c->body_count, bodies, bones);
    }
}

/* In the order of und_marker_flow_rule and of und_force_rule. */
static const char *const flow_rules[] = {"new", "mean", NULL};
static const char *const force_rules[] = {"estimate", "search", NULL};

const field und_columns_fields[] = {
    INCLUDE(und_height_field_fields),
    {"pipe_depth", F_NUMBER, "m", 1e-6, INFINITY, .offset = COLUMNS(pipe_depth),
     .doc = "pipes between the columns reach no deeper, however deep the water"},
    {"diagonal", F_NUMBER, NULL, 0, 1, .offset = COLUMNS(diagonal),
     .doc = "weight of a diagonal pipe relative to a straight one; 1/4 makes rings round"},
    {"smoothing", F_NUMBER, NULL, 0, 1, .offset = COLUMNS(smoothing),
     .doc = "calms waves of a few columns, which would go on for ever, and leaves long ones"},
    {"flow", F_CHOICE, .offset = COLUMNS(flow), .choices = flow_rules,
     .doc = "which flow moves the water in a step: the \"new\" one, or the \"mean\" of old and new"},
    {"force", F_CHOICE, .offset = COLUMNS(force), .choices = force_rules,
     .doc = "how the force between bodies and water is found: \"estimate\", or \"search\" for it"},
    {"spray", F_OTHER, .offset = COLUMNS(spray), .read = und_read_spray, .inside = spray_fields,
     .expected = "true or a table", .doc = "drops that leave the water where it rises fast"},
    LIST("bodies", read_bodies, und_body_fields, "things that float, sink and splash"),
    LIST("figures", read_figures, figure_fields, "figures that move by a skeleton and splash"),
    {"velocity", F_FLAG, .offset = COLUMNS(velocity), .doc = "keeps the water's velocity with each frame"},
    {0}};

void und_read_columns(reader *r)
{
    und_read_liquid(r, UND_MODEL_COLUMNS, und_columns_fields, &r->scene->view.columns.height_field);
}
