/* Control particles in time: splines between frames. */
#include "base/status.h"
#include "control/guides_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { BEFORE, NEXT, AFTER };

und_guide_def und_guide_def_default(void)
{
    return (und_guide_def){
        .radius = 1, .normal = {0, 1, 0}, .strength = 1, .hard = 0.9, .start = -INFINITY, .end = INFINITY};
}

/* The last frame that is not after a time; -1: it is before the first. */
static int frame_at(const guide_group *group, double time)
{
    const und_guide_frame *frame = group->def.frames;
    int low = -1, high = group->def.frame_count; /* frame[low].time <= time < frame[high].time */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (frame[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool between_frames(const guide_group *group, int frame)
{
    return frame >= 0 && frame < group->def.frame_count - 1;
}

bool und_guide_acts(const guide_group *group, double time)
{
    return time >= group->def.start && time < group->def.end;
}

double und_guide_rests(const guide_group *group, double time)
{
    const und_guide_def *def = &group->def;
    if (time < def->start)
        return def->start;
    int frame = frame_at(group, time);
    double until = time < def->end ? def->end : INFINITY;
    if (between_frames(group, frame))
        return time < def->end ? time : until;
    return frame < 0 ? fmin(until, def->frames[0].time) : until;
}

static const und_guide_frame *shown(const guide_group *group, double time)
{
    int frame = frame_at(group, time);
    return &group->def.frames[frame < 0 ? 0 : frame];
}

int und_guide_count(const guide_group *group, double time)
{
    return und_guide_acts(group, time) ? shown(group, time)->count : 0;
}

static int32_t id_of(const und_guide_frame *frame, int i)
{
    return frame->id ? frame->id[i] : i;
}

/* Which each particle of a frame is in another. */
static void link_frames(const und_guide_frame *from, const und_guide_frame *to, int32_t *link)
{
    for (int i = 0, k = 0; i < from->count; i++) {
        while (to && k < to->count && id_of(to, k) < id_of(from, i))
            k++;
        link[i] = to && k < to->count && id_of(to, k) == id_of(from, i) ? k : -1;
    }
}

void und_guide_link(guide_group *group, double time)
{
    int frame = frame_at(group, time), last = group->def.frame_count - 1;
    const und_guide_frame *frames = group->def.frames;
    if (!between_frames(group, frame) || group->linked == frame)
        return;
    link_frames(&frames[frame], frame > 0 ? &frames[frame - 1] : NULL, group->link[BEFORE]);
    link_frames(&frames[frame], &frames[frame + 1], group->link[NEXT]);
    link_frames(&frames[frame], frame + 2 <= last ? &frames[frame + 2] : NULL, group->link[AFTER]);
    group->linked = frame;
}

/* From one frame to the next, along an axis: places, and velocities there. */
typedef struct piece {
    double span, from, to, leave, arrive;
} piece;

/* The velocity at `b` of the parabola through three places. */
static double parabola(double a, double b, double c, double before, double after)
{
    return ((b - a) / before * after + (c - b) / after * before) / (before + after);
}

static piece find_piece(const guide_group *group, int frame, int i, int axis)
{
    const und_guide_frame *a = &group->def.frames[frame], *b = a + 1;
    const int before = group->link[BEFORE][i], next = group->link[NEXT][i], after = group->link[AFTER][i];
    piece p = {.span = b->time - a->time, .from = (double)a->at[i][axis], .to = (double)b->at[next][axis]};
    bool led = a->velocity && b->velocity && !group->def.still;
    p.leave = p.arrive = (p.to - p.from) / p.span;
    if (led) {
        p.leave = (double)a->velocity[i][axis];
        p.arrive = (double)b->velocity[next][axis];
        return p;
    }
    if (before >= 0)
        p.leave = parabola((double)a[-1].at[before][axis], p.from, p.to, a->time - a[-1].time, p.span);
    if (after >= 0)
        p.arrive = parabola(p.from, p.to, (double)b[1].at[after][axis], p.span, b[1].time - b->time);
    return p;
}

static double piece_at(const piece *p, double s)
{
    double r = 1 - s;
    return p->from * (r * r * (1 + 2 * s)) + p->to * (s * s * (3 - 2 * s)) +
           p->span * s * r * (p->leave * r - p->arrive * s);
}

static double piece_velocity(const piece *p, double s)
{
    return 6 * s * (1 - s) * (p->to - p->from) / p->span + (1 - s) * (1 - 3 * s) * p->leave +
           s * (3 * s - 2) * p->arrive;
}

/* Where a particle is, m, and the velocity it asks for. */
typedef struct state {
    double at[3], velocity[3];
} state;

/* Where a particle of the frame goes that is in the next too. */
static void move(const guide_group *group, int frame, int i, double time, double dt, state *now)
{
    const und_guide_frame *a = &group->def.frames[frame], *b = a + 1;
    const int next = group->link[NEXT][i];
    double end = fmin(time + dt, b->time), step = end - time;
    for (int axis = 0; axis < 3; axis++) {
        piece p = find_piece(group, frame, i, axis);
        double s = (time - a->time) / p.span, t = (end - a->time) / p.span;
        now->at[axis] = piece_at(&p, s);
        if (group->def.still)
            now->velocity[axis] = a->velocity && b->velocity ? (1 - s) * (double)a->velocity[i][axis] +
                                                                   s * (double)b->velocity[next][axis]
                                                             : 0;
        else
            now->velocity[axis] =
                step > 1e-6 * p.span ? (piece_at(&p, t) - now->at[axis]) / step : piece_velocity(&p, s);
    }
}

static void rest(const guide_group *group, int frame, int i, double time, state *now)
{
    const und_guide_def *def = &group->def;
    const und_guide_frame *f = &def->frames[frame < 0 ? 0 : frame];
    bool leaving = between_frames(group, frame), asks = def->still || leaving || def->frame_count == 1;
    for (int axis = 0; axis < 3; axis++) {
        double v = f->velocity ? (double)f->velocity[i][axis] : 0;
        now->at[axis] = (double)f->at[i][axis] + (leaving && !def->still ? v * (time - f->time) : 0);
        now->velocity[axis] = asks ? v : 0;
    }
}

/* A number that changes evenly from one frame to the next. */
static double evenly(const float *from, const float *to, size_t i, int next, double s, double same)
{
    if (!from)
        return same;
    return next >= 0 && to ? (1 - s) * (double)from[i] + s * (double)to[next] : (double)from[i];
}

static void set_normal(const guide_group *group, const und_mac *mac, int frame, int i, int next, double s,
                       guide_now *out)
{
    const und_guide_frame *a = &group->def.frames[frame], *b = next >= 0 ? a + 1 : NULL;
    double n[3], square = 0;
    for (int axis = 0; axis < 3; axis++) {
        n[axis] = a->normal ? (double)a->normal[i][axis] : group->def.normal[axis];
        if (a->normal && b && b->normal)
            n[axis] += s * ((double)b->normal[next][axis] - n[axis]);
        n[axis] = axis == 2 && mac->n[2] == 1 ? 0 : n[axis];
        square += n[axis] * n[axis];
    }
    double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (int axis = 0; axis < 3; axis++)
        out->normal[axis] = (float)(n[axis] * scale);
    if (!(square > 0))
        out->group = -1; /* it turns round between two frames, and has no direction now */
}

/* The slices of cells whose middles it reaches; a margin more around shapes that add and erase. */
static void set_reach(const guide_group *group, const und_mac *mac, guide_now *out)
{
    const und_guide_kind kind = group->def.kind;
    int axis = guides_axis(mac), margin = kind >= UND_GUIDE_ERASER ? GUIDES_MARGIN : 0;
    for (int a = 0; a < 3; a++) {
        double low = ceil((double)out->place[a] - guide_reach(out, a) - margin - 0.5);
        double high = floor((double)out->place[a] + guide_reach(out, a) + margin - 0.5);
        low = fmax(low, 0);
        high = fmin(high, mac->n[a] - 1);
        if (!(low <= high)) {
            out->group = -1;
            return;
        }
        if (a == axis) {
            out->low = (int16_t)low;
            out->high = (int16_t)high;
        }
    }
}

void und_guide_pose(const guide_group *group, const und_mac *mac, double time, double dt, int begin, int end,
                    guide_now *list)
{
    const und_guide_def *def = &group->def;
    int found = frame_at(group, time), frame = found < 0 ? 0 : found;
    bool moves = between_frames(group, found);
    const und_guide_frame *a = &def->frames[frame], *b = moves ? a + 1 : a;
    double s = moves ? (time - a->time) / (b->time - a->time) : 0, cell = 1 / mac->d[0];
    for (int i = begin; i < end; i++) {
        guide_now *out = &list[i];
        int next = moves ? group->link[NEXT][i] : -1;
        state now;
        if (next >= 0)
            move(group, frame, i, time, dt, &now);
        else
            rest(group, found, i, time, &now);
        double radius = evenly(a->radius, b->radius, (size_t)i, next, s, def->radius);
        double value = evenly(a->value, b->value, (size_t)i, next, s, def->value);
        out->group = 0;
        for (int axis = 0; axis < 3; axis++) {
            bool flat = axis == 2 && mac->n[2] == 1;
            double v = def->kind != UND_GUIDE_VELOCITY ? (axis == 0 ? value : 0)
                       : flat                          ? 0
                       : def->has_velocity             ? def->velocity[axis]
                                                       : now.velocity[axis];
            out->value[axis] = (float)v;
            out->place[axis] =
                flat ? 0.5F : (float)((now.at[axis] - mac->origin[axis]) * cell) - (float)mac->low[axis];
        }
        out->strength = (float)evenly(a->strength, b->strength, (size_t)i, next, s, def->strength);
        out->radius = (float)(radius * cell);
        out->half = def->shape == UND_GUIDE_SPHERE ? -1
                    : def->length > 0              ? (float)(0.5 * def->length * cell)
                                                   : out->radius;
        set_normal(group, mac, frame, i, next, s, out);
        if (!(out->radius > 0) || !(out->strength > 0))
            out->group = -1;
        if (out->group >= 0)
            set_reach(group, mac, out);
    }
}

/* ---- At the start ---- */

static double speed_of(const float velocity[3])
{
    return sqrt((double)velocity[0] * velocity[0] + (double)velocity[1] * velocity[1] +
                (double)velocity[2] * velocity[2]);
}

/* The fastest from a frame to the next, which are linked. */
static double fastest_from(const guide_group *group, int frame)
{
    enum { LOOKS = 4 };
    const und_guide_frame *f = &group->def.frames[frame];
    double most = 0;
    for (int i = 0; i < f->count; i++) {
        if (f->velocity)
            most = fmax(most, speed_of(f->velocity[i]));
        if (!between_frames(group, frame) || group->link[NEXT][i] < 0 || group->def.still)
            continue;
        piece p[3] = {find_piece(group, frame, i, 0), find_piece(group, frame, i, 1),
                      find_piece(group, frame, i, 2)};
        for (int k = 0; k <= LOOKS; k++) {
            double square = 0;
            for (int axis = 0; axis < 3; axis++) {
                double v = piece_velocity(&p[axis], (double)k / LOOKS);
                square += v * v;
            }
            most = fmax(most, sqrt(square));
        }
    }
    return most;
}

und_status und_guide_open_group(guide_group *group, und_error *err)
{
    static const char *const what = "control particles";
    const und_guide_def *def = &group->def;
    group->linked = -1;
    for (int i = 0; i < def->frame_count; i++)
        group->most = def->frames[i].count > group->most ? def->frames[i].count : group->most;
    for (int k = 0; k < 3 && def->frame_count > 1; k++)
        if (!(group->link[k] = und_alloc((size_t)group->most + 1, sizeof *group->link[k], what, err)))
            return err->status;
    group->fastest = und_alloc((size_t)def->frame_count, sizeof *group->fastest, what, err);
    if (!group->fastest)
        return err->status;
    for (int i = 0; i < def->frame_count && def->kind == UND_GUIDE_VELOCITY; i++) {
        und_guide_link(group, def->frames[i].time);
        double asked = 0;
        for (int axis = 0; axis < 3; axis++)
            asked += def->velocity[axis] * def->velocity[axis];
        group->fastest[i] = def->has_velocity ? sqrt(asked) : fastest_from(group, i);
    }
    return UND_OK;
}

void und_guide_close_group(guide_group *group)
{
    for (int k = 0; k < 3; k++)
        free(group->link[k]);
    free(group->fastest);
}

double und_guides_fastest(const und_guides *g, double time, double dt)
{
    double most = 0;
    for (int i = 0; g && i < g->count; i++) {
        const guide_group *group = &g->groups[i];
        const und_guide_def *def = &group->def;
        if (def->kind != UND_GUIDE_VELOCITY || time + dt < def->start || time >= def->end)
            continue;
        int from = frame_at(group, time), to = frame_at(group, time + dt);
        for (int k = from < 0 ? 0 : from; k <= (to < 0 ? 0 : to); k++)
            most = fmax(most, group->fastest[k]);
    }
    return most;
}
