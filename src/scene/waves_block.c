/* liquid.waves{} into a und_waves_def. */
#include "liquid/balls.h"
#include "scene/blocks.h"

#define WAVES(member_) offsetof(und_waves_def, member_)

typedef struct object_read {
    path_def path; /* first: und_path_fields */
    und_object_def object;
    und_look look;
} object_read;

static const field object_fields[] = {
    {"shape", F_SHAPE, NULL, .required = true, .offset = offsetof(object_read, object.shape),
     .doc = "what it is, in its own coordinates"},
    INCLUDE(und_path_fields),
    {"color", F_COLOR, NULL, 0, 1000, .offset = offsetof(object_read, object.color),
     .doc = "how it is painted"},
    {"material", F_OTHER, .offset = offsetof(object_read, look), .read = und_read_look,
     .expected = MATERIAL_EXPECTED, .doc = "what it is made of, in ray-traced pictures"},
    {0}};

static void init_object(void *item)
{
    object_read *o = item;
    o->path.easing = UND_EASE_SPLINE;
    o->object.color[0] = -1; /* its own */
}

static void finish_object(reader *r, void *item)
{
    object_read *o = item;
    if (und_read_has(r, "keys"))
        o->object.motion = und_read_motion(r, &o->path);
}

static void read_objects(reader *r, const field *f, void *def)
{
    und_waves_def *w = def;
    (void)f;
    object_read *list =
        und_read_list(r, object_fields, sizeof *list, init_object, finish_object, &w->object_count);
    und_object_def *objects = und_scene_alloc(r, (size_t)w->object_count, sizeof *objects);
    for (int i = 0; i < w->object_count; i++)
        objects[i] = list[i].object;
    w->objects = objects;
    und_looks *looks = &r->scene->view.render.looks;
    const look_list look = {list, sizeof *list, offsetof(object_read, look), w->object_count};
    und_add_looks(r, &looks->bodies, &looks->body_count, 0, &look);
}

static void read_bodies(reader *r, const field *f, void *def)
{
    int count = 0;
    und_waves_def *w = def;
    const und_body_def *bodies = und_read_bodies(r, f, w->object_count + w->body_count, &count);
    und_add_bodies(r, &w->bodies, &w->body_count, bodies, count);
}

#define BALL(member_) offsetof(und_ball, member_)

static const field ball_fields[] = {
    {"at", F_POINT, "m", .required = true, .offset = BALL(place),
     .doc = "where its middle is at the start, {x, y, z}"},
    {"radius", F_NUMBER, "m", 1e-3, 1e3, true, BALL(radius), .doc = "of the ball"},
    {"density", F_NUMBER, "kg/m3", 10, 50000, true, BALL(density),
     .doc = "lighter than the liquid it floats"},
    {"velocity", F_POINT, "m/s", .offset = BALL(velocity), .doc = "with which it sets out"},
    {0}};

/* Bodies as any other. */
static void read_balls(reader *r, const field *f, void *def)
{
    und_waves_def *w = def;
    int count = 0;
    (void)f;
    und_ball *balls = und_read_list(r, ball_fields, sizeof *balls, NULL, NULL, &count);
    und_body_def *bodies = und_scene_alloc(r, (size_t)count, sizeof *bodies);
    und_shape *shapes = und_scene_alloc(r, (size_t)count, sizeof *shapes);
    for (int i = 0; i < count; i++)
        und_ball_body(&balls[i], i, &shapes[i], &bodies[i]);
    und_add_bodies(r, &w->bodies, &w->body_count, bodies, count);
}

#define FOAM(member_) offsetof(und_foam_def, member_)

static const field foam_fields[] = {
    {"threshold", F_NUMBER, "m/s", 0, 1e6, .offset = FOAM(threshold),
     .doc = "water faster than this makes foam"},
    {"rate", F_NUMBER, "1/s", 0, 1e6, .offset = FOAM(rate), .doc = "how fast foam is made"},
    {"life", F_NUMBER, "s", 1e-6, 1e9, .offset = FOAM(life), .doc = "time in which it falls to 1/e"},
    {0}};

static void read_foam(reader *r, const field *f, void *def)
{
    und_foam_def *foam = &((und_waves_def *)def)->foam;
    foam->on = und_read_switch(r, f, foam, "true, false or { threshold = ..., rate = ..., life = ... }");
}

const field und_waves_fields[] = {
    INCLUDE(und_height_field_fields),
    {"rising", F_VALUE, "m/s", -1e6, 1e6, .offset = WAVES(velocity0),
     .doc = "upward speed of the surface at the start"},
    {"viscosity", F_NUMBER, "m2/s", 0, 1e6, .offset = WAVES(viscosity),
     .doc = "slows shallow water, by 3 viscosity / depth^2 per second; deep water hardly notices"},
    {"order", F_INTEGER, NULL, 1, 2, .offset = WAVES(order),
     .doc = "2: second order, in which waves last; 1: the paper's implicit step, which damps them"},
    LIST("objects", read_objects, object_fields, "things that move through the water and push it aside"),
    LIST("bodies", read_bodies, und_body_fields, "things that float, sink and push the water aside"),
    LIST("balls", read_balls, ball_fields, "balls that fall, float and sink by themselves, in short"),
    {"velocity", F_FLAG, .offset = WAVES(velocity), .doc = "keeps the water's velocity with each frame"},
    {"foam", F_OTHER, .read = read_foam, .inside = foam_fields, .expected = "true or a table",
     .doc = "foam where the water is fast; turns velocity on"},
    {"dye", F_VALUE, NULL, -1e9, 1e9, .offset = WAVES(dye),
     .doc = "a dye that the water carries along; turns velocity on"},
    {"texture", F_FLAG, .offset = WAVES(texture), .doc = "texture coordinates that flow; turns velocity on"},
    {0}};

void und_read_waves(reader *r)
{
    und_waves_def *w = &r->scene->view.waves;
    und_read_liquid(r, UND_MODEL_WAVES, und_waves_fields, &w->height_field);
    w->has_dye = und_read_has(r, "dye");
    if (w->foam.on || w->has_dye || w->texture)
        w->velocity = true;
}
