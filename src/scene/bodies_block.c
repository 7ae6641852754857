/* Rigid bodies: their list in a liquid, and bodies{} and float{}, which put them into a flow. */
#include "geom/shape.h"
#include "scene/blocks.h"

#include <math.h>
#include <string.h>

typedef struct body_read {
    path_def path; /* first: und_path_fields */
    und_body_def body;
    und_look look;
} body_read;

#define BODY(member_) offsetof(body_read, body.member_)

static const field ballast_fields[] = {
    {"mass", F_NUMBER, "kg", 1e-9, 1e12, true, BODY(ballast), .doc = "of the weight, besides the body's own"},
    {"at", F_POINT, "m", .required = true, .offset = BODY(ballast_at),
     .doc = "where it is in the body, in its own coordinates, {x, y, z}"},
    {0}};

static void read_ballast(reader *r, const field *f, void *def)
{
    und_read_table(r, f->inside, def);
}

const field und_body_fields[] = {
    {"shape", F_SHAPE, NULL, .required = true, .offset = BODY(shape),
     .doc = "what it is, in its own coordinates"},
    {"density", F_NUMBER, "kg/m3", 1e-3, 1e6, .offset = BODY(density),
     .doc = "of the body; lighter than the liquid it floats"},
    {"mass", F_NUMBER, "kg", 1e-9, 1e12, .offset = BODY(mass), .doc = "instead of the density"},
    {"ballast", F_OTHER, .read = read_ballast, .inside = ballast_fields, .expected = "a table",
     .doc = "a weight in it that moves its centre of mass: low down it keeps the body upright"},
    {"at", F_POINT, "m", .offset = BODY(position), .doc = "where it is at the start, {x, y, z}"},
    {"turn", F_POINT, "degrees", .offset = BODY(rotation),
     .doc = "how it is turned at the start, about x, then y, then z"},
    {"velocity", F_POINT, "m/s", .offset = BODY(velocity), .doc = "with which it sets out"},
    {"spin", F_POINT, "degrees/s", .offset = BODY(spin), .doc = "with which it sets out, about x, y and z"},
    {"still", F_POINT, NULL, .offset = BODY(still),
     .doc =
         "in waves, the water without its waves in which it starts: {level at x = z = 0, slopes along x and "
         "z}"},
    {"release", F_NUMBER, "s", 0, INFINITY, .offset = BODY(release),
     .doc = "when it is let go; until then it is held, or led by its keys"},
    INCLUDE(und_path_fields),
    {"drag", F_NUMBER, NULL, 0, 1e3, .offset = BODY(drag),
     .doc = "of the liquid: in columns on the area that faces it, about 0.5 for a ball, 1 for a box; in "
            "cells it multiplies float.damping"},
    {"bounce", F_NUMBER, NULL, 0, 1, .offset = BODY(bounce), .doc = "how much of its speed a bump leaves"},
    {"friction", F_NUMBER, NULL, 0, 1e3, .offset = BODY(friction), .doc = "where it rubs on something"},
    {"color", F_COLOR, NULL, 0, 1000, .offset = BODY(color), .doc = "how it is painted"},
    {"material", F_OTHER, .offset = offsetof(body_read, look), .read = und_read_look,
     .expected = MATERIAL_EXPECTED, .doc = "what it is made of, in ray-traced pictures"},
    {0}};

static void init_body(void *item)
{
    body_read *b = item;
    b->path.easing = UND_EASE_SPLINE;
    b->body = und_body_def_default();
}

/* Where keys lead a body they say where it is and how fast. */
static void check_led(reader *r)
{
    static const char *const keys[] = {"at", "turn", "velocity", "spin"};
    for (int i = 0; i < 4; i++)
        if (und_read_has(r, keys[i]))
            und_read_fail(r, "expected either keys or \"%s\", found both: keys say where it is and how fast",
                          keys[i]);
}

static void finish_body(reader *r, void *item)
{
    body_read *b = item;
    bool led = und_read_has(r, "keys"), mass = und_read_has(r, "mass"), density = und_read_has(r, "density");
    und_bounds bounds = und_shape_bounds(b->body.shape);
    if (!isfinite(und_length(und_sub(bounds.high, bounds.low))))
        und_read_fail(r, "expected a shape of finite size, found one without end");
    if (mass && density)
        und_read_fail(r, "expected either density or mass, found both");
    if (led) {
        check_led(r);
        b->body.motion = und_read_motion(r, &b->path);
        und_pose start = und_motion_at(b->body.motion, 0);
        memcpy(b->body.position, &start.position, sizeof b->body.position);
    }
    if (led && !und_read_has(r, "release"))
        b->body.release = INFINITY;
    if (!mass && !density && isfinite(b->body.release))
        und_read_fail(r, "missing key \"density\" (kg/m3) or \"mass\" (kg) of a body that moves by itself");
    b->body.has_still = und_read_has(r, "still");
    for (int i = 0; i < 3; i++)
        b->body.spin[i] *= M_PI / 180;
}

const und_body_def *und_read_bodies(reader *r, const field *f, int first, int *count)
{
    enum { MOST = 10000 }; /* each gets its mass, and places at which it touches, before the first frame */
    body_read *list = und_read_list(r, f->inside, sizeof *list, init_body, finish_body, count);
    if (*count > MOST)
        und_read_fail(r, "expected at most %d bodies, found %d", (int)MOST, *count);
    und_body_def *bodies = und_scene_alloc(r, (size_t)*count, sizeof *bodies);
    for (int i = 0; i < *count; i++)
        bodies[i] = list[i].body;
    und_looks *looks = &r->scene->view.render.looks;
    const look_list look = {list, sizeof *list, offsetof(body_read, look), *count};
    und_add_looks(r, &looks->bodies, &looks->body_count, first, &look);
    return bodies;
}

void und_add_bodies(reader *r, const und_body_def **list, int *count, const und_body_def *more,
                    int more_count)
{
    und_body_def *all = und_scene_alloc(r, (size_t)*count + (size_t)more_count, sizeof *all);
    if (*count)
        memcpy(all, *list, (size_t)*count * sizeof *all);
    if (more_count)
        memcpy(all + *count, more, (size_t)more_count * sizeof *all);
    *list = all;
    *count += more_count;
}

/* Those of the liquid and of bodies{} are one list. */
void und_read_floating_bodies(reader *r, const field *f, void *def)
{
    und_floating_bodies_def *a = &r->scene->view.floating_bodies;
    int count = 0;
    const und_body_def *more = und_read_bodies(r, f, a->body_count, &count);
    und_add_bodies(r, &a->bodies, &a->body_count, more, count);
    (void)def; /* the liquid does not feel them, and knows nothing of them */
}

void und_read_bodies_block(reader *r)
{
    const field list = LIST("bodies", und_read_floating_bodies, und_body_fields, "");
    und_read_floating_bodies(r, &list, NULL);
}

#define FLOAT(member_) offsetof(und_floating_bodies_def, member_)

const field und_float_fields[] = {
    {"damping", F_NUMBER, "1/s", 0, 1e9, .offset = FLOAT(damping),
     .doc = "how fast a body of the liquid's density comes to move with it, times the body's drag"},
    {"nodes", F_INTEGER, NULL, 1, 256, .offset = FLOAT(nodes),
     .doc = "parts along a body's longest edge at which it feels the flow"},
    {0}};

void und_read_float(reader *r)
{
    und_read_table(r, und_float_fields, &r->scene->view.floating_bodies);
}
