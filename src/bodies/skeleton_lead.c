/* The root's motion: its keys, and what follows from the limbs where a bone is planted or the figure flies.
 * There it is sampled when read, so that a pose later is as cheap as any other. */
#include "base/status.h"
#include "bodies/skeleton_data.h"

#include <stdlib.h>

static const double gravity = 9.81;

/* The figure at one instant, in the root's coordinates; masses as of equal density, over a common factor. */
typedef struct balance {
    und_vec3 center;
    double inertia;  /* about the axis through the centre along x */
    double momentum; /* angular, about the same axis, of the limbs' motion relative to the root */
} balance;

typedef struct limb {
    double mass;
    und_vec3 at, velocity;
    double inertia, momentum; /* about its own centre, along x */
} limb;

static und_vec3 rotate_back(und_quat q, und_vec3 v)
{
    return und_quat_rotate((und_quat){q.w, -q.x, -q.y, -q.z}, v);
}

/* From poses a time `apart` before and after; a limb turns little between them. */
static limb limb_of(const bone *b, const und_pose *before, const und_pose *now, const und_pose *after,
                    double apart)
{
    und_vec3 half = b->shape->half;
    und_pose pose = und_pose_on(now, &b->ellipsoid);
    und_vec3 a = und_pose_point(before, b->ellipsoid.position);
    und_vec3 c = und_pose_point(after, b->ellipsoid.position);
    und_quat p = before->rotation, q = after->rotation;
    und_quat turn = und_quat_mul(q, (und_quat){p.w, -p.x, -p.y, -p.z});
    double rate = (turn.w < 0 ? -1 : 1) / apart; /* 2 sin(angle / 2) / (2 apart) along the axis */
    und_vec3 spin = rotate_back(pose.rotation, und_mul(und_vec(turn.x, turn.y, turn.z), rate));
    und_vec3 axis = rotate_back(pose.rotation, und_vec(1, 0, 0));
    double mass = half.x * half.y * half.z;
    und_vec3 own = und_vec(mass / 5 * (half.y * half.y + half.z * half.z),
                           mass / 5 * (half.z * half.z + half.x * half.x),
                           mass / 5 * (half.x * half.x + half.y * half.y));
    und_vec3 about = und_vec(own.x * axis.x, own.y * axis.y, own.z * axis.z);
    return (limb){.mass = mass,
                  .at = pose.position,
                  .velocity = und_mul(und_sub(c, a), 0.5 / apart),
                  .inertia = und_dot(about, axis),
                  .momentum = und_dot(about, spin)};
}

static balance balance_at(const und_skeleton *skeleton, double time)
{
    const double apart = 1.0 / 1024;
    und_pose before[BONES_MAX], now[BONES_MAX], after[BONES_MAX];
    und_skeleton_limbs(skeleton, time - apart, before);
    und_skeleton_limbs(skeleton, time, now);
    und_skeleton_limbs(skeleton, time + apart, after);
    balance all = {0};
    und_vec3 drift = {0};
    double mass = 0;
    for (int i = 0; i < skeleton->count; i++) {
        limb l = limb_of(&skeleton->bones[i], &before[i], &now[i], &after[i], apart);
        all.center = und_add(all.center, und_mul(l.at, l.mass));
        drift = und_add(drift, und_mul(l.velocity, l.mass));
        mass += l.mass;
    }
    all.center = und_mul(all.center, 1 / mass);
    drift = und_mul(drift, 1 / mass);
    for (int i = 0; i < skeleton->count; i++) {
        limb l = limb_of(&skeleton->bones[i], &before[i], &now[i], &after[i], apart);
        und_vec3 r = und_sub(l.at, all.center), v = und_sub(l.velocity, drift);
        all.inertia += l.inertia + l.mass * (r.y * r.y + r.z * r.z);
        all.momentum += l.momentum + l.mass * (r.y * v.z - r.z * v.y);
    }
    return all;
}

static int samples(const lead_span *span)
{
    return (int)ceil((span->to - span->from) * SAMPLES_PER_SECOND);
}

static double sample_time(const lead_span *span, int i, int count)
{
    return i == count ? span->to : span->from + (span->to - span->from) * i / count;
}

/* The keys of the root's place or turn while they are put together. */
typedef struct draft {
    und_key *keys;
    int count;
    struct {
        int key;
        und_vec3 velocity;
    } through[2 * SPANS_MAX];
    int through_count;
} draft;

static bool draft_begin(draft *d, key_row row, const lead_span *spans, int count, und_error *err)
{
    size_t room = (size_t)row.count + 1;
    for (int i = 0; i < count; i++)
        room += (size_t)samples(&spans[i]) + 1;
    *d = (draft){.keys = und_alloc(room, sizeof *d->keys, "a skeleton's keys", err)};
    return d->keys != NULL;
}

/* A key again at the last key's time replaces it. */
static void draft_add(draft *d, double time, und_vec3 value)
{
    if (d->count == 0 || d->keys[d->count - 1].time < time)
        d->count++;
    d->keys[d->count - 1] = (und_key){.time = time, .position = value};
}

static void draft_through(draft *d, int key, und_vec3 velocity)
{
    d->through[d->through_count].key = key;
    d->through[d->through_count++].velocity = velocity;
}

/* The slope at the first of three evenly spaced values, to second order. */
static und_vec3 slope(und_vec3 first, und_vec3 second, und_vec3 third, double apart)
{
    und_vec3 sum = und_sub(und_mul(und_sub(second, first), 4), und_sub(third, first));
    return und_mul(sum, 0.5 / apart);
}

/* A span's end velocities come from inside it, whatever is next to it. */
static void draft_span_ends(draft *d, const lead_span *span)
{
    int n = samples(span), last = d->count - 1, first = last - n;
    double apart = (span->to - span->from) / n;
    const und_key *k = d->keys;
    draft_through(d, first, slope(k[first].position, k[first + 1].position, k[first + 2].position, apart));
    draft_through(d, last, slope(k[last].position, k[last - 1].position, k[last - 2].position, -apart));
}

static und_motion *draft_end(draft *d, und_error *err)
{
    und_motion *motion = und_motion_create(d->keys, d->count, UND_EASE_MONOTONE, err);
    for (int i = 0; motion && i < d->through_count; i++)
        und_motion_set_velocity(motion, d->through[i].key, d->through[i].velocity);
    return motion;
}

static const und_key *key_at(key_row row, double time)
{
    for (int i = 0; i < row.count; i++)
        if (row.keys[i].time == time)
            return &row.keys[i];
    return NULL;
}

static bool key_inside(key_row row, double from, double to)
{
    for (int i = 0; i < row.count; i++)
        if (row.keys[i].time > from && row.keys[i].time < to)
            return true;
    return false;
}

/* Adds the keys from *next on that come before a time. */
static void draft_keys(draft *d, key_row row, int *next, double before)
{
    for (; *next < row.count && row.keys[*next].time < before; (*next)++)
        draft_add(d, row.keys[*next].time, row.keys[*next].position);
}

/* Nothing turns a flying figure but its own limbs: the angular momentum L about x stays the same, and the
 * root turns at (L - limbs' momentum) / inertia, with L such that the turn ends where it is keyed. */
static und_status spin(draft *d, const und_skeleton *skeleton, const lead_span *span, und_vec3 from,
                       und_vec3 to, und_error *err)
{
    int n = samples(span);
    balance *at = und_alloc((size_t)n + 1, sizeof *at, "a flight", err);
    if (!at)
        return UND_FAILED;
    double slow = 0, own = 0, apart = (span->to - span->from) / n; /* integrals of 1 / I and limbs' / I */
    for (int i = 0; i <= n; i++) {
        at[i] = balance_at(skeleton, sample_time(span, i, n));
        double weight = (i == 0 || i == n ? 0.5 : 1) * apart / at[i].inertia;
        slow += weight;
        own += weight * at[i].momentum;
    }
    const double degree = M_PI / 180;
    double momentum = ((to.x - from.x) * degree + own) / slow, turned = 0;
    for (int i = 0; i <= n; i++) {
        double rate = (momentum - at[i].momentum) / at[i].inertia / degree;
        if (i > 0) {
            double old = (momentum - at[i - 1].momentum) / at[i - 1].inertia / degree;
            turned += 0.5 * apart * (old + rate);
        }
        double s = (double)i / n, ease = s * s * (3 - 2 * s);
        und_vec3 turn = und_add(from, und_mul(und_sub(to, from), ease));
        turn.x = from.x + turned;
        draft_add(d, sample_time(span, i, n), i == n ? to : turn);
    }
    free(at);
    draft_span_ends(d, span);
    return UND_OK;
}

static und_status make_turn(und_skeleton *skeleton, key_row turns, const lead_span *spans, int count,
                            const lead_span **bad, und_error *err)
{
    draft d;
    int next = 0;
    if (!draft_begin(&d, turns, spans, count, err))
        return UND_FAILED;
    und_status status = UND_OK;
    for (int i = 0; i < count && !status; i++) {
        const lead_span *span = &spans[i];
        if (!span->flies)
            continue;
        *bad = span;
        const und_key *from = key_at(turns, span->from), *to = key_at(turns, span->to);
        if (!from || !to)
            status = und_error_set(err, UND_INVALID, "a flight needs a key with `turn` at %g s",
                                   from ? span->to : span->from);
        else if (key_inside(turns, span->from, span->to))
            status = und_error_set(err, UND_INVALID, "a key sets `turn` during a flight, which finds it");
        else {
            draft_keys(&d, turns, &next, span->from);
            status = spin(&d, skeleton, span, from->position, to->position, err);
            while (next < turns.count && turns.keys[next].time <= span->to)
                next++;
        }
    }
    draft_keys(&d, turns, &next, INFINITY);
    if (!status && d.count > 0 && !(skeleton->turn = draft_end(&d, err)))
        status = UND_FAILED;
    free(d.keys);
    return status;
}

static und_quat root_rotation(const und_skeleton *skeleton, double time)
{
    return und_quat_euler(und_motion_at(skeleton->turn, time).position);
}

/* A point of a planted bone as seen from the root's place, along the figure's axes. */
static und_vec3 planted_arm(const und_skeleton *skeleton, const lead_span *span, double time)
{
    und_pose poses[BONES_MAX];
    und_skeleton_limbs(skeleton, time, poses);
    return und_quat_rotate(root_rotation(skeleton, time), und_pose_point(&poses[span->bone], span->point));
}

static void plant(draft *d, const und_skeleton *skeleton, const lead_span *span, und_vec3 place)
{
    und_vec3 stays = und_add(place, planted_arm(skeleton, span, span->from));
    int n = samples(span);
    for (int i = 0; i <= n; i++) {
        double time = sample_time(span, i, n);
        draft_add(d, time, und_sub(stays, planted_arm(skeleton, span, time)));
    }
}

/* The centre of mass as seen from the root's place, along the figure's axes. */
static und_vec3 balance_arm(const und_skeleton *skeleton, double time)
{
    return und_quat_rotate(root_rotation(skeleton, time), balance_at(skeleton, time).center);
}

static void fly(draft *d, const und_skeleton *skeleton, const lead_span *span, und_vec3 from, und_vec3 to)
{
    double length = span->to - span->from;
    und_vec3 start = und_add(from, balance_arm(skeleton, span->from));
    und_vec3 end = und_add(to, balance_arm(skeleton, span->to));
    und_vec3 velocity = und_mul(und_sub(end, start), 1 / length);
    velocity.y += 0.5 * gravity * length;
    int n = samples(span);
    for (int i = 0; i <= n; i++) {
        double time = sample_time(span, i, n), t = time - span->from;
        und_vec3 center = und_add(start, und_mul(velocity, t));
        center.y -= 0.5 * gravity * t * t;
        draft_add(d, time, i == n ? to : und_sub(center, balance_arm(skeleton, time)));
    }
}

static und_status lead_place(draft *d, const und_skeleton *skeleton, key_row places, const lead_span *span,
                             und_error *err)
{
    const und_key *from = key_at(places, span->from), *to = key_at(places, span->to);
    const und_key *led = d->count > 0 ? &d->keys[d->count - 1] : NULL; /* where the span before ended */
    bool joins = led && led->time == span->from;
    if (!joins && !from)
        return und_error_set(err, UND_INVALID, "there must be a key with `at` at %g s", span->from);
    if (key_inside(places, span->from, span->to))
        return und_error_set(err, UND_INVALID, "a key sets `at` in this span, which finds it");
    if (span->flies && !to)
        return und_error_set(err, UND_INVALID, "a flight needs a key with `at` at %g s", span->to);
    if (!span->flies && to)
        return und_error_set(err, UND_INVALID, "a key sets `at` at %g s, where a planted bone leads to",
                             span->to);
    und_vec3 place = joins ? led->position : from->position;
    if (span->flies)
        fly(d, skeleton, span, place, to->position);
    else
        plant(d, skeleton, span, place);
    draft_span_ends(d, span);
    return UND_OK;
}

static und_status make_place(und_skeleton *skeleton, key_row places, const lead_span *spans, int count,
                             const lead_span **bad, und_error *err)
{
    draft d;
    int next = 0;
    if (!draft_begin(&d, places, spans, count, err))
        return UND_FAILED;
    und_status status = UND_OK;
    for (int i = 0; i < count && !status; i++) {
        *bad = &spans[i];
        draft_keys(&d, places, &next, spans[i].from);
        status = lead_place(&d, skeleton, places, &spans[i], err);
        while (next < places.count && places.keys[next].time <= spans[i].to)
            next++;
    }
    draft_keys(&d, places, &next, INFINITY);
    if (!status && d.count > 0 && !(skeleton->place = draft_end(&d, err)))
        status = UND_FAILED;
    free(d.keys);
    return status;
}

und_status und_skeleton_lead(und_skeleton *skeleton, key_row places, key_row turns, const lead_span *spans,
                             int count, const lead_span **bad, und_error *err)
{
    und_status status = make_turn(skeleton, turns, spans, count, bad, err);
    return status ? status : make_place(skeleton, places, spans, count, bad, err);
}
