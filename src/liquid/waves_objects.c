/* Objects that move through the water.
 *
 * The part of an object below the water is stood on the ground of its column: the ground rises and falls with
 * it and carries the water on it up and down, so that the object pushes the water aside and no water is made
 * or lost.  How deep it is in is judged by the water around it, not by the bump it makes itself. */
#include "base/status.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <stdlib.h>

/* Cells that the object may touch at a pose, half open. */
static void footprint(const und_waves *s, const und_shape *shape, const und_pose *pose, und_waves_object *out)
{
    und_bounds b = und_shape_bounds(shape);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int corner = 0; corner < 8; corner++) {
        und_vec3 p =
            und_pose_point(pose, und_vec(corner & 1 ? b.high.x : b.low.x, corner & 2 ? b.high.y : b.low.y,
                                         corner & 4 ? b.high.z : b.low.z));
        low[0] = fmin(low[0], p.x);
        high[0] = fmax(high[0], p.x);
        low[1] = fmin(low[1], p.z);
        high[1] = fmax(high[1], p.z);
    }
    double dx = s->pool.grid.dx;
    out->x0 = (int)fmax(0, fmin(s->pool.nx, floor((low[0] - s->pool.grid.origin[0]) / dx)));
    out->x1 = (int)fmax(0, fmin(s->pool.nx, ceil((high[0] - s->pool.grid.origin[0]) / dx)));
    out->z0 = (int)fmax(0, fmin(s->pool.nz, floor((low[1] - s->pool.grid.origin[2]) / dx)));
    out->z1 = (int)fmax(0, fmin(s->pool.nz, ceil((high[1] - s->pool.grid.origin[2]) / dx)));
    if (s->pool.nz == 1) {
        out->z0 = 0;
        out->z1 = low[1] <= 0.5 * dx + s->pool.grid.origin[2] && high[1] >= 0.5 * dx + s->pool.grid.origin[2];
    }
}

/* Mean level of the water just around a footprint; -infinity where all is dry. */
static double level_around(const und_waves *s, const und_waves_object *o)
{
    double sum = 0;
    int count = 0;
    for (int z = o->z0 - 1; z <= o->z1; z++)
        for (int x = o->x0 - 1; x <= o->x1; x++) {
            bool rim = z == o->z0 - 1 || z == o->z1 || x == o->x0 - 1 || x == o->x1;
            if (!rim || x < 0 || z < 0 || x >= s->pool.nx || z >= s->pool.nz)
                continue;
            size_t at = und_waves_at(s, x, z);
            if (und_waves_depth(s, at) > s->shallow) {
                sum += s->height[at];
                count++;
            }
        }
    return count ? sum / count : -INFINITY;
}

/* Raises or lowers the ground of a cell and the water on it; exact, since the ground is float and the height
 * double. */
static void set_ground(und_waves *s, size_t at, float ground)
{
    s->height[at] += (double)ground - (double)s->ground[at];
    s->ground[at] = ground;
}

/* The object's thickness over a cell between two heights: the mean of a few upright lines, so that an edge
 * which crosses the cell slowly lifts its water slowly. */
static double thickness_over(const und_waves *s, const und_shape *shape, const und_pose *pose, int x, int z,
                             double low, double high)
{
    enum { LINES = 3 };
    und_quat back = {pose->rotation.w, -pose->rotation.x, -pose->rotation.y, -pose->rotation.z};
    und_vec3 up = und_quat_rotate(back, und_vec(0, 1, 0));
    int across = s->pool.nz > 1 ? LINES : 1; /* a curve has no width */
    double sum = 0, first;
    for (int j = 0; j < across; j++)
        for (int i = 0; i < LINES; i++) {
            double px = und_waves_x(s, x) + ((i + 0.5) / LINES - 0.5) * s->pool.grid.dx;
            double pz = und_waves_z(s, z) + ((j + 0.5) / across - 0.5) * s->pool.grid.dx;
            sum += und_shape_line(shape, und_pose_local(pose, und_vec(px, 0, pz)), up, low, high, &first);
        }
    return sum / (LINES * across);
}

/* Adds the object's submerged thickness to the ground of the cells under it. */
static void stand_on_ground(und_waves *s, const und_shape *shape, const und_pose *pose,
                            const und_waves_object *o)
{
    for (int z = o->z0; z < o->z1; z++)
        for (int x = o->x0; x < o->x1; x++) {
            size_t at = und_waves_at(s, x, z);
            double floor = (double)s->bed[at];
            if (o->level > floor)
                set_ground(s, at,
                           s->ground[at] + (float)thickness_over(s, shape, pose, x, z, floor, o->level));
        }
}

static void lift_out(und_waves *s, const und_waves_object *o)
{
    for (int z = o->z0; z < o->z1; z++)
        for (int x = o->x0; x < o->x1; x++)
            set_ground(s, und_waves_at(s, x, z), s->bed[und_waves_at(s, x, z)]);
}

/* Those that the def leads, and the balls. */
static int count_of(const und_waves *s)
{
    return s->def.object_count + s->balls.count;
}

static const und_shape *shape_of(const und_waves *s, int i)
{
    return i < s->def.object_count ? s->def.objects[i].shape : &s->balls.shape[i - s->def.object_count];
}

static und_pose pose_of(const und_waves *s, int i, double time)
{
    return i < s->def.object_count ? und_motion_at(s->def.objects[i].motion, time)
                                   : und_bodies_pose(s->bodies, i - s->def.object_count);
}

void und_waves_find_objects(und_waves *s)
{
    for (int i = 0; i < count_of(s); i++) {
        und_pose pose = pose_of(s, i, s->pool.time);
        footprint(s, shape_of(s, i), &pose, &s->objects[i]);
    }
}

void und_waves_move_objects(und_waves *s, double dt)
{
    und_pose pose;
    double time = s->pool.time + dt;
    for (int i = 0; i < count_of(s); i++)
        lift_out(s, &s->objects[i]);
    und_waves_move_balls(s, dt);
    for (int i = 0; i < count_of(s); i++) {
        pose = pose_of(s, i, time);
        footprint(s, shape_of(s, i), &pose, &s->objects[i]);
        s->objects[i].level = level_around(s, &s->objects[i]);
    }
    for (int i = 0; i < count_of(s); i++) {
        pose = pose_of(s, i, time);
        stand_on_ground(s, shape_of(s, i), &pose, &s->objects[i]);
    }
}

und_status und_waves_create_objects(und_waves *s, und_error *err)
{
    s->objects = und_alloc((size_t)s->def.object_count + UND_BALLS, sizeof *s->objects, "objects", err);
    if (!s->objects)
        return err->status;
    for (int i = 0; i < s->def.object_count; i++) {
        const und_object_def *def = &s->def.objects[i];
        und_bounds b = und_shape_bounds(def->shape);
        if (!isfinite(b.low.x + b.low.y + b.low.z + b.high.x + b.high.y + b.high.z))
            return und_error_set(err, UND_INVALID,
                                 "object %d: expected a shape of finite size, found one without end", i + 1);
        und_status status = und_meshes_add(&s->meshes, def->shape, und_vec(0, 0, 0), def->color, err);
        if (status != UND_OK)
            return status;
    }
    if (und_waves_create_balls(s, err) != UND_OK)
        return err->status;
    und_waves_move_objects(s, 0);
    return UND_OK;
}

void und_waves_destroy_objects(und_waves *s)
{
    und_meshes_destroy(&s->meshes);
    und_bodies_destroy(s->bodies);
    free(s->objects);
}

/* Nothing weighs here: the origin of an object's own coordinates, which its keys move, stands for the centre
 * of mass. */
und_status und_waves_frame_objects(und_waves *s, und_frame *frame, und_error *err)
{
    if (count_of(s) == 0)
        return UND_OK;
    for (int i = 0; i < s->balls.count; i++)
        s->objects[s->def.object_count + i].now = und_bodies_state(s->bodies, i);
    for (int i = 0; i < s->def.object_count; i++) {
        const und_motion *motion = s->def.objects[i].motion;
        und_pose pose = und_motion_at(motion, s->pool.time);
        und_vec3 spin, velocity = und_motion_velocity(motion, s->pool.time, &spin);
        s->objects[i].now =
            (und_body_state){.position = {pose.position.x, pose.position.y, pose.position.z},
                             .rotation = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z},
                             .velocity = {velocity.x, velocity.y, velocity.z},
                             .spin = {spin.x, spin.y, spin.z}};
    }
    return und_meshes_frame(&s->meshes, &s->objects[0].now, sizeof *s->objects, frame, err);
}
