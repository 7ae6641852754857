/* Rays through the liquid's distance: from brick to brick of cells, inside those that the surface passes in
 * steps as long as the distance allows (Hart 1996), until the sign of the linear interpolant changes.  The
 * side that a ray is on is carried along all of its way: it gets in and out by turns, whatever rounding does
 * where bricks meet. */
#include "base/lanes.h"
#include "trace/world_level.h"

#include <string.h>

#ifdef __SSE__
#include <immintrin.h>
#endif

typedef float four __attribute__((vector_size(16)));
typedef uint64_t two_words __attribute__((vector_size(16)));
typedef int32_t four_int __attribute__((vector_size(16)));

/* The second where the first is NaN. */
UND_INLINE four four_min(four a, four b)
{
#ifdef __SSE__
    return (four)_mm_min_ps((__m128)a, (__m128)b);
#else
    four_int yes = a < b;
    return (four)((yes & (four_int)a) | (~yes & (four_int)b));
#endif
}
UND_INLINE four four_max(four a, four b)
{
#ifdef __SSE__
    return (four)_mm_max_ps((__m128)a, (__m128)b);
#else
    four_int yes = a > b;
    return (four)((yes & (four_int)a) | (~yes & (four_int)b));
#endif
}
UND_INLINE four four_load(const float *p)
{
    four v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* A ray in nodes, from where it gets into the box, and the distance along it. */
typedef struct walk {
    const und_traced_level *level;
    four from, dir, low, high;
    const float *phi,
        *next; /* the moment before the ray's, and the one after; NULL: it is the moment itself */
    float part;
    bool inside, room;
    float before, value; /* the last place at which the distance was looked up, and what it was */
} walk;

UND_INLINE four walk_at(const walk *w, float t)
{
    return four_max(four_min(w->from + t * w->dir, w->high), w->low); /* also NaN */
}

/* Two neighbours along x at y and at y + 1; in whole words, which need not go through memory. */
UND_INLINE four load_pairs(const float *p, ptrdiff_t row)
{
    uint64_t low, high;
    memcpy(&low, p, sizeof low);
    memcpy(&high, p + row, sizeof high);
    return (four)(two_words){low, high};
}

/* At the ray's moment, between those on both sides of it. */
static void set_moment(walk *w, float time)
{
    const und_traced_level *l = w->level;
    float place = maxf(minf(time, 1), 0) * (float)(l->moments - 1);
    int k = place < (float)(l->moments - 1) ? (int)place : l->moments - 1;
    w->phi = l->at[k];
    w->part = place - (float)k;
    w->next = w->part > 0 ? l->at[k + 1] : NULL;
}

UND_INLINE float linear(const und_traced_level *l, const float *field, four q)
{
    four_int at = __builtin_convertvector(q, four_int);
    four part = q - __builtin_convertvector(at, four);
    const float *p = field + at[2] * l->step[2] + at[1] * l->step[1] + at[0];
    four a = load_pairs(p, l->step[1]), b = load_pairs(p + l->step[2], l->step[1]);
    four c = a + part[2] * (b - a);
    float low = c[0] + part[0] * (c[1] - c[0]), high = c[2] + part[0] * (c[3] - c[2]);
    return low + part[1] * (high - low);
}

UND_INLINE float look(const walk *w, float t)
{
    four q = walk_at(w, t);
    float phi = linear(w->level, w->phi, q);
    if (w->next)
        phi += w->part * (linear(w->level, w->next, q) - phi);
    return w->room ? maxf(phi, -linear(w->level, w->level->room, q)) : phi;
}

/* Where the sign changes between the last place and t, by the rule of false position, the end that stays
 * weakened (Dowell & Jarratt 1971). */
static float find_root(const walk *w, float t, float value)
{
    const float fine = 1e-4f * w->level->small;
    float a = w->before, fa = w->value, b = t, fb = value, root = t;
    for (int k = 0; k < 32 && b - a > fine; k++) {
        float part = fa / (fa - fb);
        root = a + clampf(part, 0.02f, 0.98f) * (b - a);
        float f = look(w, root);
        if (fabsf(f) < fine)
            return root;
        if ((f < 0) == w->inside) {
            a = root;
            fa = f;
            fb *= 0.5f;
        } else {
            b = root;
            fb = f;
            fa *= 0.5f;
        }
    }
    return root;
}

/* Through a brick; true where the surface is met, at *t.  Steps are longer than the distance; where two balls
 * of that size then do not touch, something thin may lie between, and the step is taken back (Keinert et al.
 * 2014). */
static bool cross_brick(walk *w, float from, float to, float *t)
{
    const float least = 0.35f * w->level->small, longer = 1.6f;
    float at = from, safe = INFINITY; /* as far as the last place's ball reaches */
    for (;;) {
        float value = look(w, at), size = fabsf(value);
        if (at - size > safe) {
            at = safe;
            safe = INFINITY;
            continue;
        }
        if ((value < 0) != w->inside) {
            *t = find_root(w, at, value);
            return true;
        }
        w->before = at;
        w->value = value;
        if (!(at < to))
            return false;
        safe = at + maxf(size, least);
        at = minf(at + maxf(longer * size, least), to);
    }
}

/* From brick to brick until `end`. */
static bool cross_bricks(walk *w, float end, float *t)
{
    const und_traced_level *l = w->level;
    int at[3], turn[3];
    float next[3], every[3], here = 0;
    four q = walk_at(w, 0);
    for (int a = 0; a < 3; a++) {
        float d = w->dir[a], size = UND_LEVEL_BRICK;
        at[a] = (int)(q[a] / size);
        turn[a] = d > 0 ? 1 : -1;
        every[a] = fabsf(d) > 1e-12f ? size / fabsf(d) : INFINITY;
        float plane = size * (float)(at[a] + (d > 0));
        next[a] = every[a] < INFINITY ? (plane - q[a]) / d : INFINITY;
    }
    while (here < end) {
        int axis = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : next[1] < next[2] ? 1 : 2;
        float exit = minf(next[axis], end);
        uint8_t kind = l->brick[((ptrdiff_t)at[2] * l->bricks[1] + at[1]) * l->bricks[0] + at[0]];
        w->room = kind == UND_BRICK_ROOM;
        if (kind != UND_BRICK_PLAIN && cross_brick(w, here, exit, t))
            return true;
        here = exit;
        next[axis] += every[axis];
        at[axis] += turn[axis];
        if (at[axis] < 0 || at[axis] >= l->bricks[axis])
            return false;
    }
    return false;
}

/* The part of the ray in the box, and the axes of the walls by which it gets in and out: -1 where it begins
 * or ends within. */
static bool clip(const und_traced_level *l, const double from[3], const float dir[3], double t[2],
                 int wall[2])
{
    wall[0] = wall[1] = -1;
    for (int a = 0; a < 3; a++) {
        double low = (double)l->low[a] - from[a], high = (double)l->high[a] - from[a], d = (double)dir[a];
        if (!(fabs(d) > 1e-12)) {
            if (!(low <= 0 && high >= 0))
                return false;
            continue;
        }
        double in = (d > 0 ? low : high) / d, out = (d > 0 ? high : low) / d;
        if (in > t[0]) {
            t[0] = in;
            wall[0] = a;
        }
        if (out < t[1]) {
            t[1] = out;
            wall[1] = a;
        }
    }
    return t[0] < t[1];
}

static void note(const walk *w, float time, double start, float t, int wall, und_level_hit *hit)
{
    const und_traced_level *l = w->level;
    four q = walk_at(w, t);
    *hit = (und_level_hit){.t = (float)(start + (double)t), .time = time, .wall = wall, .leaves = w->inside};
    for (int a = 0; a < 3; a++)
        hit->node[a] = q[a];
    if (wall >= 0) /* exactly on it */
        hit->node[wall] = (w->dir[wall] > 0) == w->inside ? l->high[wall] : l->low[wall];
    hit->room = wall < 0 && w->room && -linear(l, l->room, q) >= look(w, t);
}

bool und_trace_level_cast(const und_traced_level *l, const und_ray *ray, float near, float far,
                          und_level_hit *hit)
{
    const float place[3] = {ray->from.x, ray->from.y, ray->from.z},
                way[3] = {ray->dir.x, ray->dir.y, ray->dir.z};
    double from[3], span[2] = {(double)near, (double)far};
    float dir[3], t;
    int wall[2];
    for (int a = 0; a < 3; a++) {
        from[a] = ((double)place[a] - l->origin[a]) * (double)l->per_m[a];
        dir[a] = way[a] * l->per_m[a];
    }
    if (!clip(l, from, dir, span, wall))
        return false;
    walk w = {.level = l, .dir = {dir[0], dir[1], dir[2]}, .room = l->room};
    for (int a = 0; a < 3; a++) {
        w.from[a] = (float)(from[a] + span[0] * (double)dir[a]);
        w.low[a] = l->low[a];
        w.high[a] = l->high[a];
    }
    set_moment(&w, ray->time);
    w.value = look(&w, 0);
    if (wall[0] >= 0 && w.value < 0) {
        note(&w, ray->time, span[0], 0, wall[0], hit);
        return true;
    }
    w.inside = w.value < 0;
    float end = (float)fmin(span[1] - span[0], (double)l->reach);
    if (cross_bricks(&w, end, &t)) {
        note(&w, ray->time, span[0], t, -1, hit);
        return true;
    }
    if (!w.inside || wall[1] < 0)
        return false;
    note(&w, ray->time, span[0], end, wall[1], hit);
    return true;
}

bool und_trace_level_within(const und_traced_level *l, f3 place, float time)
{
    const float p[3] = {place.x, place.y, place.z};
    walk w = {.level = l, .room = l->room};
    for (int a = 0; a < 3; a++) {
        w.from[a] = (float)(((double)p[a] - l->origin[a]) * (double)l->per_m[a]);
        w.low[a] = l->low[a];
        w.high[a] = l->high[a];
        if (!(w.from[a] > l->low[a] && w.from[a] < l->high[a]))
            return false;
    }
    set_moment(&w, time);
    return look(&w, 0) < 0;
}

/* The gradient of the linear interpolant, in metres per node. */
static f3 linear_gradient(const und_traced_level *l, const float *field, const int at[3], const float part[3])
{
    const float *p = field + at[2] * l->step[2] + at[1] * l->step[1] + at[0];
    float v[8];
    for (int c = 0; c < 8; c++)
        v[c] = p[(c & 1) + (c >> 1 & 1) * l->step[1] + (c >> 2) * l->step[2]];
    float g[3];
    for (int a = 0; a < 3; a++) {
        int s = 1 << a, u = 1 << (a + 1) % 3, t = 1 << (a + 2) % 3;
        float fu = part[(a + 1) % 3], ft = part[(a + 2) % 3];
        float low = mixf(v[s] - v[0], v[s + u] - v[u], fu),
              high = mixf(v[s + t] - v[t], v[s + u + t] - v[u + t], fu);
        g[a] = mixf(low, high, ft);
    }
    return f3_of(g);
}

/* Weights of the cubic B-spline and of its slope. */
static void spline_weights(float t, float w[4], float d[4])
{
    float u = 1 - t;
    w[0] = u * u * u / 6;
    w[1] = (t * t * (3 * t - 6) + 4) / 6;
    w[2] = (u * u * (3 * u - 6) + 4) / 6;
    w[3] = t * t * t / 6;
    d[0] = -0.5f * u * u;
    d[1] = t * (1.5f * t - 2);
    d[2] = -u * (1.5f * u - 2);
    d[3] = 0.5f * t * t;
}

/* The gradient of the cubic B-spline with the nodes' values for coefficients: its slopes have slopes, so that
 * nothing of the cells shows in what the surface mirrors. */
static f3 smooth_gradient(const und_traced_level *l, const float *field, const int at[3], const float part[3])
{
    const float *p = field + (at[2] - 1) * l->step[2] + (at[1] - 1) * l->step[1] + at[0] - 1;
    float w[3][4], d[3][4];
    four along = {0}, y = {0}, z = {0};
    for (int a = 0; a < 3; a++)
        spline_weights(part[a], w[a], d[a]);
    for (int k = 0; k < 4; k++) {
        four sum = {0}, slope = {0};
        for (int j = 0; j < 4; j++) {
            four row = four_load(p + k * l->step[2] + j * l->step[1]);
            sum += w[1][j] * row;
            slope += d[1][j] * row;
        }
        along += w[2][k] * sum;
        y += w[2][k] * slope;
        z += d[2][k] * sum;
    }
    four wx = four_load(w[0]), gx = four_load(d[0]) * along, gy = wx * y, gz = wx * z;
    return f3_make(gx[0] + gx[1] + gx[2] + gx[3], gy[0] + gy[1] + gy[2] + gy[3],
                   gz[0] + gz[1] + gz[2] + gz[3]);
}

static f3 normal_of(const und_traced_level *l, f3 gradient, f3 instead)
{
    f3 g = f3_times(gradient, f3_of(l->per_m));
    float square = f3_dot(g, g);
    return square > 1e-8f ? f3_scale(g, 1 / sqrtf(square)) : instead;
}

void und_trace_level_normals(const und_traced_level *l, const und_level_hit *hit, f3 dir, f3 *face,
                             f3 *smooth)
{
    if (hit->wall >= 0) {
        float n[3] = {0}, d[3] = {dir.x, dir.y, dir.z};
        n[hit->wall] = (d[hit->wall] > 0) == hit->leaves ? 1 : -1;
        *face = *smooth = f3_of(n);
        return;
    }
    walk moment = {.level = l};
    set_moment(&moment, hit->time);
    const float *field = hit->room ? l->room : moment.phi, *next = hit->room ? NULL : moment.next;
    const float sign = hit->room ? -1 : 1;
    int at[3];
    float part[3];
    for (int a = 0; a < 3; a++) {
        at[a] = (int)hit->node[a];
        part[a] = hit->node[a] - (float)at[a];
    }
    f3 against = f3_scale(dir, hit->leaves ? 1 : -1), flat = linear_gradient(l, field, at, part),
       round = smooth_gradient(l, field, at, part);
    if (next) {
        flat = f3_mix(flat, linear_gradient(l, next, at, part), moment.part);
        round = f3_mix(round, smooth_gradient(l, next, at, part), moment.part);
    }
    *face = normal_of(l, f3_scale(flat, sign), against);
    if (f3_dot(*face, against) < 0) /* the ray crossed it this way */
        *face = against;
    *smooth = normal_of(l, f3_scale(round, sign), *face);
}

f3 und_trace_level_velocity(const und_traced_level *l, f3 place)
{
    const und_grid *g = &l->grid;
    const float p[3] = {place.x, place.y, place.z};
    size_t at[3];
    float part[3], v[3] = {0};
    for (int a = 0; a < 3 && l->face[0]; a++) {
        float cell = (float)(((double)p[a] - g->origin[a]) * (double)l->per_m[a]);
        cell = maxf(minf(cell, (float)g->n[a]), 0);
        at[a] = (size_t)(cell < (float)(g->n[a] - 1) ? (int)cell : g->n[a] - 1);
        part[a] = cell - (float)at[a];
    }
    for (int a = 0; a < 3 && l->face[0]; a++) { /* between the two faces of the cell */
        size_t nx = (size_t)(g->n[0] + (a == 0)), ny = (size_t)(g->n[1] + (a == 1));
        const float *low = l->face[a] + (at[2] * ny + at[1]) * nx + at[0], *high = low + (a == 0   ? 1
                                                                                          : a == 1 ? nx
                                                                                                   : nx * ny);
        v[a] = mixf(*low, *high, part[a]);
        v[a] = isfinite(v[a]) ? v[a] : 0;
    }
    return f3_of(v);
}
