#include "bodies/skeleton.h"

#include "base/file.h"
#include "base/maths.h"
#include "base/status.h"
#include "bodies/skeleton_data.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 4 << 20 };

und_skeleton *und_skeleton_load(const char *path, und_error *err)
{
    char *text;
    size_t size;
    if (und_file_read(path, FILE_MOST, &text, &size, err))
        return NULL;
    und_skeleton *skeleton = und_skeleton_parse(text, size, path, err);
    free(text);
    return skeleton;
}

void und_skeleton_destroy(und_skeleton *skeleton)
{
    if (!skeleton)
        return;
    for (int i = 0; i < skeleton->count; i++) {
        und_shape_destroy(skeleton->bones[i].shape);
        und_motion_destroy(skeleton->bones[i].turn);
    }
    und_motion_destroy(skeleton->place);
    und_motion_destroy(skeleton->turn);
    free(skeleton);
}

static bool finite3(und_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

und_status und_skeleton_place(und_skeleton *skeleton, und_vec3 position, und_vec3 turn, double start,
                              und_error *err)
{
    if (!finite3(position) || !finite3(turn) || !isfinite(start))
        return und_error_set(err, UND_INVALID, "a figure's place, turn and start must be finite numbers");
    skeleton->placed = (und_pose){position, und_quat_euler(turn)};
    skeleton->start = start;
    return UND_OK;
}

int und_skeleton_bones(const und_skeleton *skeleton)
{
    return skeleton->count;
}

static const bone *bone_at(const und_skeleton *skeleton, int index)
{
    assert(index >= 0 && index < skeleton->count);
    return &skeleton->bones[index];
}

const char *und_skeleton_bone_name(const und_skeleton *skeleton, int index)
{
    return bone_at(skeleton, index)->name;
}

int und_skeleton_find(const und_skeleton *skeleton, const char *name)
{
    for (int i = 0; i < skeleton->count; i++)
        if (strcmp(skeleton->bones[i].name, name) == 0)
            return i;
    return -1;
}

double und_skeleton_length(const und_skeleton *skeleton)
{
    return skeleton->length;
}

int und_skeleton_parent(const und_skeleton *skeleton, int index)
{
    return bone_at(skeleton, index)->parent;
}

und_vec3 und_skeleton_hinge(const und_skeleton *skeleton, int index)
{
    return bone_at(skeleton, index)->joint;
}

const und_pose *und_skeleton_ellipsoid(const und_skeleton *skeleton, int index)
{
    return &bone_at(skeleton, index)->ellipsoid;
}

static und_vec3 radians(und_vec3 degrees)
{
    return und_mul(degrees, M_PI / 180);
}

und_vec3 und_skeleton_turn(const und_skeleton *skeleton, int index, double time)
{
    const und_motion *turn = bone_at(skeleton, index)->turn;
    return turn ? radians(und_motion_at(turn, time - skeleton->start).position) : und_vec(0, 0, 0);
}

void und_skeleton_limits(const und_skeleton *skeleton, int index, und_vec3 *low, und_vec3 *high)
{
    const bone *b = bone_at(skeleton, index);
    *low = radians(b->low);
    *high = radians(b->high);
}

const und_shape *und_skeleton_shape(const und_skeleton *skeleton, int index)
{
    return bone_at(skeleton, index)->shape;
}

const float *und_skeleton_color(const und_skeleton *skeleton, int index)
{
    return bone_at(skeleton, index)->color;
}

/* A joint's turn; the angles, not the rotation, go from key to key, so that 0 to 540 is a turn and a half. */
static und_quat turned(const und_motion *turn, double time)
{
    if (!turn)
        return (und_quat){.w = 1};
    und_vec3 degrees = und_motion_at(turn, time).position;
    if (degrees.y != 0 || degrees.z != 0)
        return und_quat_euler(degrees);
    double half = degrees.x * (M_PI / 360); /* most joints are hinges */
    return (und_quat){.w = und_cos(half), .x = und_sin(half)};
}

static und_pose in_parent(const bone *b, double time)
{
    return (und_pose){b->joint, turned(b->turn, time)};
}

void und_skeleton_limbs(const und_skeleton *skeleton, double time, und_pose poses[BONES_MAX])
{
    poses[0] = (und_pose){.rotation = {.w = 1}};
    for (int i = 1; i < skeleton->count; i++) {
        und_pose local = in_parent(&skeleton->bones[i], time);
        poses[i] = und_pose_on(&poses[skeleton->bones[i].parent], &local);
    }
}

und_pose und_skeleton_joint(const und_skeleton *skeleton, int index, double time)
{
    const bone *b = bone_at(skeleton, index);
    double t = time - skeleton->start;
    und_pose pose = {.rotation = {.w = 1}};
    for (; b->parent >= 0; b = &skeleton->bones[b->parent]) {
        und_pose local = in_parent(b, t);
        pose = und_pose_on(&local, &pose);
    }
    und_pose root = {und_motion_at(skeleton->place, t).position, turned(skeleton->turn, t)};
    pose = und_pose_on(&root, &pose);
    return und_pose_on(&skeleton->placed, &pose);
}

und_pose und_skeleton_pose(const und_skeleton *skeleton, int index, double time)
{
    und_pose joint = und_skeleton_joint(skeleton, index, time);
    return und_pose_on(&joint, &skeleton->bones[index].ellipsoid);
}
