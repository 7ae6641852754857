/* Where pictures are taken from. */
#include "base/maths.h"
#include "geom/value.h"
#include "stage/scenery.h"

static f3 vector_at(const und_vector *v, double time)
{
    double out[3];
    und_vector_at(v, time, out);
    return f3_make((float)out[0], (float)out[1], (float)out[2]);
}

static const float FROM_ABOVE = 0.42f, FROM_HIGH = 0.7f; /* cameras over a box, over water */

/* The block that is cut out of ground and water. */
static und_box whole_block(const und_mesh *m, float level)
{
    return (und_box){f3_make(m->x0, m->base, m->z0), f3_make(m->x1, maxf(level, m->ground_high), m->z1)};
}

/* Where the scene's camera is; false where it has none. */
static bool camera_at(const und_picture_def *def, double time, f3 *eye, f3 *look)
{
    *eye = vector_at(&def->eye, time);
    *look = vector_at(&def->look, time);
    f3 to = f3_sub(*look, *eye);
    float length = sqrtf(f3_dot(to, to));
    return length > 0 && isfinite(length);
}

bool und_picture_has_camera(const und_picture_def *def)
{
    f3 eye, look;
    return def->eye.fn || def->look.fn || camera_at(def, 0, &eye, &look);
}

static void turn_camera(und_shot *c, f3 eye, f3 look)
{
    c->eye = eye;
    c->forward = f3_unit(f3_sub(look, eye));
    f3 up = fabsf(c->forward.y) > 0.9999f ? f3_make(0, 0, -1) : f3_make(0, 1, 0);
    c->right = f3_unit(f3_cross(c->forward, up));
    c->up = f3_cross(c->right, c->forward);
}

static void put(double to[3], f3 v)
{
    to[0] = (double)v.x;
    to[1] = (double)v.y;
    to[2] = (double)v.z;
}

und_plate und_picture_plate(const und_picture_def *def, const und_frame *frame)
{
    und_plate plate = {.half = und_tan(0.5 * def->fov * M_PI / 180),
                       .aspect = (double)def->width / def->height};
    und_shot c = {0};
    f3 eye, look;
    und_box box = und_box_framed(def, und_box_of(frame, NULL));
    if (!camera_at(def, isfinite(frame->time) ? frame->time : 0, &eye, &look))
        und_box_frame(def, &box, FROM_ABOVE, &eye, &look);
    turn_camera(&c, eye, look);
    put(plate.eye, c.eye);
    put(plate.right, c.right);
    put(plate.up, c.up);
    put(plate.forward, c.forward);
    return plate;
}

und_shot und_scenery_camera(const und_scenery *stage, double time, float *distance)
{
    und_shot camera = {0}, *c = &camera;
    f3 eye, look;
    bool given = camera_at(&stage->def, time, &eye, &look);
    if (!given) {
        und_box box = stage->drawing == UND_DRAWS_BOX ? und_box_framed(&stage->def, stage->box)
                                                      : whole_block(&stage->mesh, stage->samples.level);
        und_box_frame(&stage->def, &box, stage->drawing == UND_DRAWS_BOX ? FROM_ABOVE : FROM_HIGH, &eye,
                      &look);
    }
    turn_camera(c, eye, look);
    *distance = sqrtf(f3_dot(f3_sub(look, eye), f3_sub(look, eye)));
    c->width = stage->def.width * stage->def.samples;
    c->height = stage->def.height * stage->def.samples;
    c->focal = 0.5f * (float)c->height / und_tanf(0.5f * (float)(stage->def.fov * M_PI / 180));
    /* A table reaches far behind the eye: what is cut closer to it would be too large to be drawn. */
    c->near = (stage->drawing == UND_DRAWS_BOX ? 2e-2f : 1e-4f) * stage->mesh.span;
    return camera;
}
