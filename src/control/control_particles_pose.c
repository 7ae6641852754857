/* Control particles in time: splines between frames. */
#include "base/parallel.h"
#include "base/status.h"
#include "control/control_particles_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE, NEXT, AFTER };

und_control_particle_def und_control_particle_def_default(void)
{
    return (und_control_particle_def){
        .radius = 1, .normal = {0, 1, 0}, .strength = 1, .hard = 0.9, .start = -INFINITY, .end = INFINITY};
}

/* The last frame that is not after a time; -1: it is before the first. */
static int frame_at(const control_group *group, double time)
{
    const und_control_particle_frame *frame = group->def.frames;
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

static bool between_frames(const control_group *group, int frame)
{
    return frame >= 0 && frame < group->def.frame_count - 1;
}

static bool acts(const control_group *group, double time)
{
    return time >= group->def.start && time < group->def.end;
}

double und_control_particle_rests(const control_group *group, double time)
{
    const und_control_particle_def *def = &group->def;
    if (time < def->start)
        return def->start;
    int frame = frame_at(group, time);
    double until = time < def->end ? def->end : INFINITY;
    if (between_frames(group, frame))
        return time < def->end ? time : until;
    return frame < 0 ? fmin(until, def->frames[0].time) : until;
}

static const und_control_particle_frame *shown(const control_group *group, double time)
{
    int frame = frame_at(group, time);
    return &group->def.frames[frame < 0 ? 0 : frame];
}

int und_control_particle_count(const control_group *group, double time)
{
    return acts(group, time) ? shown(group, time)->count : 0;
}

static int32_t id_of(const und_control_particle_frame *frame, int i)
{
    return frame->id ? frame->id[i] : i;
}

/* Do they have the same particles?  Most have, and need not be compared one by one. */
static bool same_particles(const und_control_particle_frame *from, const und_control_particle_frame *to)
{
    if (!to || from->count != to->count || !from->id != !to->id)
        return false;
    return !from->id || memcmp(from->id, to->id, (size_t)from->count * sizeof *from->id) == 0;
}

/* Which each particle of a frame is in another. */
static void link_frames(const und_control_particle_frame *from, const und_control_particle_frame *to,
                        int32_t *link)
{
    const bool same = same_particles(from, to);
    for (int i = 0; same && i < from->count; i++)
        link[i] = i;
    for (int i = 0, k = 0; !same && i < from->count; i++) {
        while (to && k < to->count && id_of(to, k) < id_of(from, i))
            k++;
        link[i] = to && k < to->count && id_of(to, k) == id_of(from, i) ? k : -1;
    }
}

/* Particles that another frame has one after the other, from *first on, or has none of: -1. */
static bool in_a_row(const int32_t *link, int count, int32_t *first)
{
    const int32_t begin = link[0], step = begin >= 0;
    int32_t other = 0;
    for (int i = 0; i < count; i++)
        other |= link[i] ^ (begin + step * i);
    *first = begin;
    return other == 0;
}

/* ---- Splines ----
 *
 * Where a particle is between two frames is a mix of where it is in frames, from the first of the two on, and
 * of its velocities, the same mix for all: so it is made once. */

/* Hermite's polynomials at s and their slopes, for a span of time: of the next place and of both velocities.
 */
static void hermite(double s, double span, double place[3], double slope[3])
{
    const double r = 1 - s;
    const double p[3] = {s * s * (3 - 2 * s), span * s * r * r, -span * s * s * r};
    const double d[3] = {6 * s * r / span, r * (1 - 3 * s), s * (3 * s - 2)};
    memcpy(place, p, sizeof p);
    memcpy(slope, d, sizeof d);
}

/* Velocities from places: those of parabolas through three, or even ones at the ends (Catmull-Rom, of uneven
 * times). */
static void mix_places(const double h[3], double span, double before, double after, double mix[3])
{
    double leave[3] = {0, 1 / span, 0}, arrive[3] = {0, 1 / span, 0}; /* of before, next, after */
    if (before > 0) {
        leave[BEFORE] = -span / (before * (before + span));
        leave[NEXT] = before / (span * (before + span));
    }
    if (after > 0) {
        arrive[AFTER] = span / (after * (after + span));
        arrive[NEXT] = after / (span * (after + span)) - arrive[AFTER];
    }
    for (int k = 0; k < 3; k++)
        mix[k] = (k == NEXT ? h[0] : 0) + h[1] * leave[k] + h[2] * arrive[k];
}

static void make_mix(control_group *group, int frame, double time, double dt)
{
    const und_control_particle_frame *a = &group->def.frames[frame], *b = a + 1;
    double span = b->time - a->time, end = fmin(time + dt, b->time), step = end - time;
    double now[3], slope[3], then[3], unused[3];
    hermite((time - a->time) / span, span, now, slope);
    hermite((end - a->time) / span, span, then, unused);
    for (int k = 0; k < 3 && step > 1e-6 * span; k++) {
        slope[k] = (then[k] - now[k]) / step;
        if (group->def.kind == UND_CONTROL_VELOCITY) /* or what turns would draw together */
            now[k] = 0.5 * (now[k] + then[k]);
    }
    for (int ends = 0; ends < 4; ends++) {
        double before = ends & 1 && frame > 0 ? a->time - a[-1].time : 0;
        double after = ends & 2 && frame + 2 < group->def.frame_count ? b[1].time - b->time : 0;
        mix_places(now, span, before, after, group->mix[ends].place);
        mix_places(slope, span, before, after, group->mix[ends].rate);
    }
    memcpy(group->led.place, now, sizeof now);
    memcpy(group->led.rate, slope, sizeof slope);
}

void und_control_particle_set(control_group *group, const und_mac *mac, double time, double dt)
{
    int frame = frame_at(group, time), last = group->def.frame_count - 1;
    const und_control_particle_frame *frames = group->def.frames;
    group->frame = frame < 0 ? 0 : frame;
    assert(frames[group->frame].at || frames[group->frame].count == 0);
    group->moves = between_frames(group, frame);
    group->part = group->age = 0;
    group->cell = 1 / mac->d[0];
    group->half =
        group->def.shape == UND_CONTROL_SPHERE ? -1 : (float)(0.5 * group->def.length * group->cell);
    group->bands = (float)CONTROL_BANDS / (float)mac->whole[control_axis(mac) - 1];
    if (!group->moves)
        return;
    group->age = time - frames[frame].time;
    group->part = group->age / (frames[frame + 1].time - frames[frame].time);
    make_mix(group, frame, time, dt);
    if (group->linked == frame)
        return;
    const bool led =
        und_control_frame_cache_led(group->frame_cache, frame); /* the frames around are of no matter then */
    link_frames(&frames[frame], !led && frame > 0 ? &frames[frame - 1] : NULL, group->link[BEFORE]);
    link_frames(&frames[frame], &frames[frame + 1], group->link[NEXT]);
    link_frames(&frames[frame], !led && frame + 2 <= last ? &frames[frame + 2] : NULL, group->link[AFTER]);
    group->straight = true;
    for (int k = 0; k < 3; k++)
        group->straight = group->straight && frames[frame].count > 0 &&
                          in_a_row(group->link[k], frames[frame].count, &group->start[k]);
    group->linked = frame;
}

/* How far a particle is along an axis from where the frame has it, m, and the velocity by which it gets on.
 */
static inline double way_of(const control_group *group, int i, int axis, double *rate)
{
    const und_control_particle_frame *a = &group->def.frames[group->frame];
    const double here = (double)a->at[i][axis];
    const int next = group->moves ? group->link[NEXT][i] : -1;
    if (next < 0) { /* gone at the next frame, or at rest */
        double v = group->moves && a->velocity && !group->def.still ? (double)a->velocity[i][axis] : 0;
        *rate = v;
        return v * group->age;
    }
    const und_control_particle_frame *b = a + 1;
    const double way = (double)b->at[next][axis] - here;
    if (a->velocity && b->velocity && !group->def.still) {
        const control_mix *m = &group->led;
        const double leave = (double)a->velocity[i][axis], arrive = (double)b->velocity[next][axis];
        *rate = m->rate[0] * way + m->rate[1] * leave + m->rate[2] * arrive;
        return m->place[0] * way + m->place[1] * leave + m->place[2] * arrive;
    }
    const int before = group->link[BEFORE][i], after = group->link[AFTER][i];
    const control_mix *m = &group->mix[(before >= 0) + 2 * (after >= 0)];
    const double back = before >= 0 ? (double)a[-1].at[before][axis] - here : 0;
    const double on = after >= 0 ? (double)b[1].at[after][axis] - here : 0;
    *rate = m->rate[BEFORE] * back + m->rate[NEXT] * way + m->rate[AFTER] * on;
    return m->place[BEFORE] * back + m->place[NEXT] * way + m->place[AFTER] * on;
}

/* Which particle i is in the next frame; -1: in none. */
static inline int next_of(const control_group *group, int i)
{
    return group->moves ? group->link[NEXT][i] : -1;
}

/* The velocity asked for: its own, unless it is given. */
static inline double velocity_of(const control_group *group, int i, int axis, double rate)
{
    const und_control_particle_def *def = &group->def;
    const und_control_particle_frame *a = &def->frames[group->frame];
    if (def->has_velocity)
        return def->velocity[axis];
    if (!def->still && def->frame_count > 1)
        return rate;
    if (!a->velocity)
        return 0;
    const int next = next_of(group, i);
    double v = (double)a->velocity[i][axis];
    return next >= 0 && a[1].velocity ? v + group->part * ((double)a[1].velocity[next][axis] - v) : v;
}

/* A number that changes evenly from one frame to the next. */
static inline double evenly(const control_group *group, const float *from, const float *to, int i,
                            double same)
{
    if (!from)
        return same;
    const int next = next_of(group, i);
    const double s = group->part;
    return next >= 0 && to ? (1 - s) * (double)from[i] + s * (double)to[next] : (double)from[i];
}

static inline double radius_of(const control_group *group, int i)
{
    const und_control_particle_frame *a = &group->def.frames[group->frame], *b = group->moves ? a + 1 : a;
    return evenly(group, a->radius, b->radius, i, group->def.radius);
}

/* Where it is along an axis, in cells. */
static inline double cells_of(const control_group *group, const und_mac *mac, int axis, float here, float way)
{
    return ((double)here + (double)way - mac->origin[axis]) * group->cell;
}

/* Which of `count` parts a place is in, or beside. */
static inline int part_of(float place, int count)
{
    return place > 0 ? place < (float)count ? (int)place : count - 1 : 0;
}

static inline float reach_of(const control_group *group, const control_now *p)
{
    const float half = control_half(group, p->radius);
    return p->radius + (half > 0 ? half : 0) + (group->def.kind >= UND_CONTROL_ERASER ? CONTROL_MARGIN : 0);
}

/* Whether it may reach some of so many slices from one on. */
static inline bool reaches(const control_now *p, int axis, float reach, int low, int slices)
{
    const float place = p->place[axis];
    return p->radius > 0 && place + reach > (float)low && place - reach < (float)(low + slices);
}

/* -1: it reaches no cell. */
static inline int pile_of(const control_group *group, const und_mac *mac, const control_now *p, float reach)
{
    const int axis = control_axis(mac), slices = control_slices(mac);
    if (!reaches(p, axis, reach, mac->low[axis], slices))
        return -1;
    if (!(reach < CONTROL_REACH))
        return control_piles(mac) - 1;
    return control_pile_of_slice(part_of(p->place[axis], mac->whole[axis]) - mac->low[axis]) +
           part_of(p->place[axis - 1] * group->bands, CONTROL_BANDS);
}

static void set_normal(const control_group *group, const und_mac *mac, int i, control_now *out,
                       float normal[3])
{
    const int next = next_of(group, i);
    const und_control_particle_frame *a = &group->def.frames[group->frame], *b = next >= 0 ? a + 1 : NULL;
    double n[3], square = 0;
    for (int axis = 0; axis < 3; axis++) {
        n[axis] = a->normal ? (double)a->normal[i][axis] : group->def.normal[axis];
        if (a->normal && b && b->normal)
            n[axis] += group->part * ((double)b->normal[next][axis] - n[axis]);
        n[axis] = axis == 2 && mac->n[2] == 1 ? 0 : n[axis];
        square += n[axis] * n[axis];
    }
    double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = (float)(n[axis] * scale);
    if (!(square > 0))
        out->strength = 0; /* it turns round between two frames, and has no direction now */
}

static inline void pose(const control_group *group, const und_mac *mac, int i, const float way[3],
                        const float rate[3], control_now *out)
{
    const und_control_particle_def *def = &group->def;
    const und_control_particle_frame *a = &def->frames[group->frame], *b = group->moves ? a + 1 : a;
    const float *here = a->at[i];
    for (int axis = 0; axis < 3; axis++) {
        bool flat = axis == 2 && mac->n[2] == 1;
        out->place[axis] = flat ? 0.5F : (float)cells_of(group, mac, axis, here[axis], way[axis]);
        out->value[axis] = flat ? 0 : (float)velocity_of(group, i, axis, (double)rate[axis]);
    }
    if (def->kind != UND_CONTROL_VELOCITY) {
        out->value[0] = (float)evenly(group, a->value, b->value, i, def->value);
        out->value[1] = out->value[2] = 0;
    }
    out->strength = (float)evenly(group, a->strength, b->strength, i, def->strength);
    out->radius = (float)(radius_of(group, i) * group->cell);
}

/* ---- Many at a time ----
 *
 * Where the same particles follow each other in all frames, as they mostly do, a spline's mix is that of
 * whole arrays. */

/* How far particles are from where they are in the frame, m, and their velocities. */
typedef struct paths {
    float way[3 * CONTROL_BATCH], rate[3 * CONTROL_BATCH];
} paths;

/* A part of a mix: numbers, less those of the particles' own places where `from` is 1. */
typedef struct term {
    const float *of;
    float from;
} term;

static void mix_arrays(const float *here, const term t[3], const double part[3], int count, float *out)
{
    const float *x = t[0].of, *y = t[1].of, *z = t[2].of, from[3] = {t[0].from, t[1].from, t[2].from};
    const float p[3] = {(float)part[0], (float)part[1], (float)part[2]};
    SIMD
    for (int k = 0; k < count; k++) {
        const float h = here[k];
        out[k] = p[0] * (x[k] - from[0] * h) + p[1] * (y[k] - from[1] * h) + p[2] * (z[k] - from[2] * h);
    }
}

/* Of particles that go on to the next frame, all by the same mix; false where they do not. */
static bool follow_row(const control_group *group, int begin, int count, paths *out)
{
    const und_control_particle_frame *a = &group->def.frames[group->frame], *b = a + 1;
    const float *here = a->at[begin];
    int32_t first[3];
    for (int k = 0; k < 3; k++) {
        first[k] = group->straight ? group->start[k] + (group->start[k] >= 0 ? begin : 0) : -1;
        if (!group->moves || (!group->straight && !in_a_row(group->link[k] + begin, count, &first[k])))
            return false;
    }
    if (first[NEXT] < 0)
        return false;
    const control_mix *m = &group->mix[(first[BEFORE] >= 0) + 2 * (first[AFTER] >= 0)];
    term t[3] = {{first[BEFORE] >= 0 ? a[-1].at[first[BEFORE]] : here, 1},
                 {b->at[first[NEXT]], 1},
                 {first[AFTER] >= 0 ? b[1].at[first[AFTER]] : here, 1}};
    if (a->velocity && b->velocity && !group->def.still) {
        m = &group->led;
        t[0] = t[NEXT];
        t[1] = (term){a->velocity[begin], 0};
        t[2] = (term){b->velocity[first[NEXT]], 0};
    }
    mix_arrays(here, t, m->place, 3 * count, out->way);
    mix_arrays(here, t, m->rate, 3 * count, out->rate);
    return true;
}

static void follow(const control_group *group, int begin, int count, paths *out)
{
    if (follow_row(group, begin, count, out))
        return;
    for (int i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double rate;
            out->way[3 * i + axis] = (float)way_of(group, begin + i, axis, &rate);
            out->rate[3 * i + axis] = (float)rate;
        }
}

void und_control_particle_pose(const control_group *group, const und_mac *mac, const control_field *f,
                               int begin, int end, int32_t *count, float *reach, int32_t *told)
{
    const int axis = control_axis(mac);
    const int large = control_piles(mac) - 1;
    float most = *reach;
    int32_t all = *told;
    paths path;
    for (int from = begin; from < end; from += CONTROL_BATCH) {
        const int some = end - from < CONTROL_BATCH ? end - from : CONTROL_BATCH;
        follow(group, from, some, &path);
        for (int i = 0; i < some; i++) {
            const int at = group->first + from + i;
            pose(group, mac, from + i, path.way + 3 * i, path.rate + 3 * i, &f->now[at]);
            if (group->half >= 0)
                set_normal(group, mac, from + i, &f->now[at], f->normal[at]);
            const float far = reach_of(group, &f->now[at]);
            const int pile = f->pile[at] = pile_of(group, mac, &f->now[at], far);
            all += reaches(&f->now[at], axis, far, 0, mac->whole[axis]);
            if (pile < 0)
                continue;
            count[pile]++;
            most = pile < large && far > most ? far : most;
        }
    }
    *reach = most; /* once: others write beside it */
    *told = all;
}

/* ---- At the start ---- */

/* The largest square of vectors, if it is above `most`. */
static double largest_square(const float *v, int count, double most)
{
    for (int i = 0; i < count; i++, v += 3) {
        const double x = (double)v[0], y = (double)v[1], z = (double)v[2], square = x * x + y * y + z * z;
        most = square > most ? square : most;
    }
    return most;
}

/* The fastest from a frame to the next. */
static double fastest_from(control_group *group, const und_mac *mac, int frame)
{
    enum { LOOKS = 4 };
    const und_control_particle_frame *f = &group->def.frames[frame];
    const int looks = between_frames(group, frame) && !group->def.still ? LOOKS : 0;
    double most = f->velocity ? largest_square(f->velocity[0], f->count, 0) : 0;
    paths path;
    for (int k = 0; k < looks; k++) {
        und_control_particle_set(group, mac, f->time + (f[1].time - f->time) * (k + 0.5) / LOOKS, 0);
        for (int i = 0; i < f->count; i += CONTROL_BATCH) {
            const int some = f->count - i < CONTROL_BATCH ? f->count - i : CONTROL_BATCH;
            follow(group, i, some, &path);
            most = largest_square(path.rate, some, most);
        }
    }
    return sqrt(most);
}

/* Room for the links of so many particles. */
static und_status make_links(control_group *group, int count, und_error *err)
{
    if (group->def.frame_count == 1 || count < group->room)
        return UND_OK;
    for (int k = 0; k < 3; k++) {
        free(group->link[k]);
        if (!(group->link[k] =
                  und_alloc((size_t)count + 1, sizeof *group->link[k], "control particles", err)))
            return err->status;
    }
    group->room = count + 1;
    group->linked = -1;
    return UND_OK;
}

und_status und_control_particle_open_group(control_group *group, und_error *err)
{
    group->linked = -1;
    return make_links(group, group->frame_cache->most, err);
}

void und_control_particle_close_group(control_group *group)
{
    for (int k = 0; k < 3; k++)
        free(group->link[k]);
}

/* What makes up the way from a frame to the next; of frame -1, that it rests at the first. */
static und_status hold_around(control_group *group, int frame, und_error *err)
{
    const int last = group->def.frame_count - 1;
    int low = frame < 0 ? 0 : frame, high = frame < last ? frame + 1 : last;
    if (between_frames(group, frame) && !und_control_frame_cache_led(group->frame_cache, frame)) {
        low -= low > 0;
        high += high < last;
    }
    return und_control_frame_cache_hold(group->frame_cache, low, high, err);
}

und_status und_control_particle_look(control_group *group, const und_mac *mac, und_error *err)
{
    control_frame_cache *frame_cache = group->frame_cache;
    const und_control_particle_def *def = &group->def;
    const bool leads = def->kind == UND_CONTROL_VELOCITY, own = leads && !def->has_velocity;
    double asked = 0;
    for (int axis = 0; axis < 3; axis++)
        asked += def->velocity[axis] * def->velocity[axis];
    for (int i = 0; i < def->frame_count; i++) {
        const int next = own && i + 1 < def->frame_count ? i + 1 : i;
        if (und_control_frame_cache_hold(frame_cache, own && i > 0 ? i - 1 : i, next, err) != UND_OK ||
            (own && hold_around(group, i, err) != UND_OK) ||
            (own && make_links(group, def->frames[i].count, err) != UND_OK))
            return err->status;
        frame_cache->fastest[i] = own ? fastest_from(group, mac, i) : leads ? sqrt(asked) : 0;
        frame_cache->most =
            def->frames[i].count > frame_cache->most ? def->frames[i].count : frame_cache->most;
    }
    frame_cache->looked = true;
    return UND_OK;
}

und_status und_control_particle_fetch(control_group *group, double time, und_error *err)
{
    return acts(group, time) ? hold_around(group, frame_at(group, time), err)
                             : und_control_frame_cache_hold(group->frame_cache, 0, -1, err);
}

double und_control_particles_fastest(const und_control_particles *g, double time, double dt)
{
    double most = 0;
    for (int i = 0; g && i < g->count; i++) {
        const control_group *group = &g->groups[i];
        const und_control_particle_def *def = &group->def;
        if (def->kind != UND_CONTROL_VELOCITY || time + dt < def->start || time >= def->end)
            continue;
        int from = frame_at(group, time), to = frame_at(group, time + dt);
        for (int k = from < 0 ? 0 : from; k <= (to < 0 ? 0 : to); k++)
            most = fmax(most, group->frame_cache->fastest[k]);
    }
    return most;
}
