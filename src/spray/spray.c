#include "spray/spray.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "geom/value.h"
#include "spray/sheet.h"
#include "spray/spray_removal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Drops that one thread moves at a time: their places stay in the nearest cache until they are tested. */
enum { CHUNK = 2048 };

enum { MOST_DROPS = 1 << 28 };

/* Drag on a sphere, relative to its mass: k = 1/2 air Cd pi r^2 / (water 4/3 pi r^3) = DRAG / r, 1/m. */
static const double DRAG = 3.0 / 8 * 0.47 * 1.2 / 1000;

und_spray_def und_spray_def_default(void)
{
    return (und_spray_def){.threshold = 2.25,
                           .rate = 400000,
                           .radius = {0.002, 0.008},
                           .share = 1,
                           .launch = {1, 1},
                           .scatter = 0.15,
                           .most = 1 << 20,
                           .sheet_tear = 0.0002,
                           .sheet_cohesion = 20};
}

static int chunks_of(int count)
{
    return count / CHUNK + (count % CHUNK != 0);
}

/* Few drops are not worth waking threads for. */
static und_set chunk_set(const und_spray *s)
{
    enum { WORTH = 4 }; /* cells of a plain pass */
    return und_set_list(s->place[0], s->count, CHUNK, WORTH);
}
static und_device device_of(const und_spray *s)
{
    return (und_device){.threads = s->threads};
}

static und_status allocate(und_spray *s, und_error *err)
{
    size_t n = (size_t)s->capacity, chunks = (size_t)chunks_of(s->capacity);
    float **arrays[] = {&s->place[0], &s->place[1], &s->place[2], &s->speed[0],
                        &s->speed[1], &s->speed[2], &s->radius,   &s->age};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        if (!(*arrays[a] = und_pages_alloc_sparse(n * sizeof(float), "spray", err)))
            return err->status;
    if (!(s->id = und_pages_alloc_sparse(n * sizeof *s->id, "spray", err)) ||
        !(s->landed = und_pages_alloc_sparse(n * sizeof *s->landed, "spray", err)) ||
        !(s->landed_by = und_pages_alloc_sparse(n, "spray", err)) ||
        !(s->chunk_landed = und_pages_alloc_sparse(chunks * sizeof *s->chunk_landed, "spray", err)) ||
        !(s->chunk_volume = und_pages_alloc_sparse(chunks * sizeof *s->chunk_volume, "spray", err)))
        return err->status;
    return UND_OK;
}

static und_status check_number(const char *name, double value, und_error *err)
{
    if (value >= 0 && isfinite(value))
        return UND_OK;
    return und_error_set(err, UND_INVALID, "spray: %s is %g, expected 0 or more", name, value);
}

und_spray *und_spray_create(const und_spray_def *def, double gravity, uint64_t seed, int threads,
                            und_error *err)
{
    if (def->most < 1 || def->most > MOST_DROPS) {
        und_error_set(err, UND_INVALID, "spray: most is %d, expected 1 to %d drops", def->most, MOST_DROPS);
        return NULL;
    }
    if (check_number("drag", def->drag, err) ||
        (def->sheets && check_number("sheet_tear", def->sheet_tear, err)) ||
        (def->sheets && check_number("sheet_cohesion", def->sheet_cohesion, err)))
        return NULL;
    und_spray *s = und_alloc(1, sizeof *s, "spray", err);
    if (!s)
        return NULL;
    s->def = *def;
    s->gravity = gravity;
    s->seed = seed;
    s->threads = und_threads(threads);
    s->capacity = def->most;
    if (allocate(s, err) != UND_OK ||
        (def->sheets && !(s->sheets = und_sheets_create(def, seed, s->threads, err)))) {
        und_spray_destroy(s);
        return NULL;
    }
    return s;
}

void und_spray_destroy(und_spray *s)
{
    if (!s)
        return;
    for (int a = 0; a < 3; a++) {
        und_pages_free(s->place[a]);
        und_pages_free(s->speed[a]);
    }
    und_pages_free(s->radius);
    und_pages_free(s->age);
    und_pages_free(s->id);
    und_pages_free(s->landed);
    und_pages_free(s->landed_by);
    und_pages_free(s->chunk_landed);
    und_pages_free(s->chunk_volume);
    und_sheets_destroy(s->sheets);
    free(s);
}

bool und_spray_add(und_spray *s, const double place[3], const double speed[3], float radius)
{
    if (s->count == s->capacity || !(radius > 0 && radius < 1000))
        return false;
    for (int a = 0; a < 3; a++)
        if (!(fabs(place[a]) < UND_SPRAY_FARTHEST && fabs(speed[a]) < UND_SPRAY_FASTEST))
            return false;
    int i = s->count++;
    for (int a = 0; a < 3; a++) {
        s->place[a][i] = (float)place[a];
        s->speed[a][i] = (float)speed[a];
    }
    s->radius[i] = radius;
    s->age[i] = 0;
    s->id[i] = (int32_t)fmod(s->born, 0x1p31);
    s->born++;
    if (s->sheets && i == 0) /* the air was empty: what went on in it is over, however long ago that was */
        memset(s->sheets->impact, 0, sizeof s->sheets->impact);
    if (s->sheets)
        s->sheets->node[i] = UND_SHEET_NEW;
    return true;
}

/* What a step does to every drop. */
typedef struct flight {
    float dt, fall, kick; /* s; m that gravity adds in a step; m/s that it takes */
    float wind[3];        /* m/s */
    float drag;           /* DRAG times dt / 2 */
} flight;

static flight flight_of(const und_spray *s, double time, double dt)
{
    double wind[3];
    flight f = {.dt = (float)dt,
                .fall = (float)(0.5 * s->gravity * dt * dt),
                .kick = (float)(s->gravity * dt),
                .drag = (float)(DRAG * s->def.drag * 0.5 * dt)};
    und_vector_at(&s->def.wind, time + 0.5 * dt, wind);
    for (int a = 0; a < 3; a++)
        f.wind[a] = fabs(wind[a]) < UND_SPRAY_FASTEST ? (float)wind[a] : 0;
    return f;
}

/* Parabolas: place += speed dt - g dt^2 / 2. */
static void fly(const und_spray *s, int first, int end, const flight *f)
{
    float *restrict x = s->place[0], *restrict y = s->place[1], *restrict z = s->place[2];
    float *restrict u = s->speed[0], *restrict v = s->speed[1], *restrict w = s->speed[2];
    float *restrict age = s->age;
    const float dt = f->dt, fall = f->fall, kick = f->kick;
    SIMD
    for (int i = first; i < end; i++) {
        x[i] += u[i] * dt;
        y[i] += v[i] * dt - fall;
        z[i] += w[i] * dt;
        v[i] -= kick;
        age[i] += dt;
    }
}

/* The air's drag alone has the solution u(t) = u / (1 + k |u| t), u relative to the wind.  Half a step of it
 * before the parabola and half a step after: second order, and no dt makes it swing. */
static void drag_half(const und_spray *s, int first, int end, const flight *f)
{
    float *restrict u = s->speed[0], *restrict v = s->speed[1], *restrict w = s->speed[2];
    const float *restrict radius = s->radius;
    const float wx = f->wind[0], wy = f->wind[1], wz = f->wind[2], drag = f->drag;
    SIMD
    for (int i = first; i < end; i++) {
        float a = u[i] - wx, b = v[i] - wy, c = w[i] - wz, r = radius[i];
        float left = r / (r + drag * sqrtf(a * a + b * b + c * c));
        u[i] = wx + a * left;
        v[i] = wy + b * left;
        w[i] = wz + c * left;
    }
}

/* Which drops are below the floor, nearest cell: that is the column which takes the drop's water, and the
 * step between two columns is no more than what a drop falls in some hundredths of a second. */
static void test_floor(const und_spray *s, int first, int count, const und_spray_floor *floor, uint8_t *below)
{
    const float *restrict x = s->place[0] + first, *restrict y = s->place[1] + first;
    const float *restrict z = s->place[2] + first, *restrict height = floor->height;
    const float scale = (float)(1 / floor->dx), outside = (float)floor->outside;
    const float scale_z = (float)(1 / (floor->dz > 0 ? floor->dz : floor->dx));
    const float ox = (float)floor->origin[0], oz = (float)floor->origin[1];
    const float nx = (float)floor->nx, nz = (float)floor->nz;
    const int stride = floor->stride;
    SIMD
    for (int i = 0; i < count; i++) {
        float cx = (x[i] - ox) * scale, cz = (z[i] - oz) * scale_z;
        int in = (cx >= 0) & (cz >= 0) & (cx < nx) & (cz < nz);
        int cell = (int)(in ? cz : 0) * stride + (int)(in ? cx : 0);
        float h = height[cell];
        h = in ? h : outside;
        below[i] = !(y[i] >= h);
    }
}

/* Takes drop i, below the floor, back along its parabola to where it met it; false where it did not. */
static bool land(const und_spray *s, int i, double dt, const und_spray_floor *floor)
{
    int cell = und_spray_cell(floor, s->place[0][i], s->place[2][i]);
    double h = cell < 0 ? floor->outside : (double)floor->height[cell];
    double y = s->place[1][i], v = s->speed[1][i], g = s->gravity;
    if (v > 0) {
        double ground = cell < 0 ? floor->outside : floor->ground ? (double)floor->ground[cell] : -INFINITY;
        return y < ground;
    }
    /* h - y = |v| t - g t^2 / 2, t before now; where the floor came up faster there is no such t. */
    double met = v * v - 2 * g * (h - y);
    double ago = met >= 0 && v < 0 ? 2 * (h - y) / (sqrt(met) - v) : 0;
    ago = fmin(ago, fmin(dt, s->age[i]));
    if (ago > 0) {
        s->place[0][i] -= (float)(s->speed[0][i] * ago);
        s->place[1][i] = (float)(y - v * ago - 0.5 * g * ago * ago);
        s->place[2][i] -= (float)(s->speed[2][i] * ago);
        s->speed[1][i] = (float)(v + g * ago);
        s->age[i] -= (float)ago;
    }
    return true;
}

/* Lists those of a chunk that came down, from landed[first] on; returns how many. */
static int list_landed(const und_spray *s, int first, int count, double dt, const und_spray_floor *floor,
                       const uint8_t *below, const uint8_t *met)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (!(i & 7) && i + 8 <= count) { /* mostly all of eight are in the air */
            uint64_t eight, hit;
            memcpy(&eight, below + i, 8);
            memcpy(&hit, met + i, 8);
            if (!(eight | hit)) {
                i += 7;
                continue;
            }
        }
        if (met[i] || (below[i] && land(s, first + i, dt, floor))) {
            s->landed[first + found] = first + i;
            s->landed_by[first + found++] = met[i];
        }
    }
    return found;
}

typedef struct stepping {
    const und_spray *s;
    const flight *f;
    double dt;
    const und_spray_floor *floor;
} stepping;

static void step_chunk(const stepping *t, und_place p)
{
    const und_spray *s = t->s;
    const flight *f = t->f;
    const und_spray_floor *floor = t->floor;
    uint8_t below[CHUNK], met[CHUNK];
    const int first = (int)p.at, count = p.x, end = first + count;
    if (f->drag > 0)
        drag_half(s, first, end, f);
    fly(s, first, end, f);
    if (f->drag > 0)
        drag_half(s, first, end, f);
    test_floor(s, first, count, floor, below);
    memset(met, 0, sizeof met);
    if (floor->meet)
        floor->meet(floor->context, s, first, count, met);
    const int down = s->chunk_landed[p.y] = list_landed(s, first, count, t->dt, floor, below, met);
    if (floor->down && down > 0)
        floor->down(floor->context, s, s->landed + first, s->landed_by + first, down);
}
UND_KERNEL(step_chunk, stepping, UND_EACH_BLOCK)

void und_spray_step(und_spray *s, double time, double dt, const und_spray_floor *floor)
{
    assert((double)floor->nz * floor->stride < 0x1p31);
    if (s->split > 0)
        und_spray_split(s, dt);
    int chunks = chunks_of(s->count);
    flight f = flight_of(s, time, dt);
    if (s->sheets)
        und_sheets_step(s->sheets, s, dt, floor->dx);
    const stepping stepped = {s, &f, dt, floor};
    const und_set all = chunk_set(s);
    const und_device device = device_of(s);
    und_pass(&device, step_chunk, &stepped, &all);
    s->landed_count = 0;
    for (int c = 0; c < chunks; c++) {
        size_t found = (size_t)s->chunk_landed[c], first = (size_t)c * CHUNK;
        memmove(s->landed + s->landed_count, s->landed + first, found * sizeof *s->landed);
        memmove(s->landed_by + s->landed_count, s->landed_by + first, found);
        s->landed_count += (int)found;
    }
}

/* Closes the gaps of the landed in an array of four-byte values. */
static void close_gaps(const und_spray_removal *r, und_place p)
{
    uint32_t *values = r->arrays[p.at];
    int to = r->landed[0];
    for (int k = 0; k < r->landed_count; k++) {
        int from = r->landed[k] + 1, end = k + 1 < r->landed_count ? r->landed[k + 1] : r->count;
        memmove(values + to, values + from, (size_t)(end - from) * sizeof *values);
        to += end - from;
    }
}
UND_KERNEL(close_gaps, und_spray_removal, UND_EACH_BLOCK)

und_step und_spray_remove_step(und_spray *s, und_spray_removal *r)
{
    *r = (und_spray_removal){.arrays = {s->place[0], s->place[1], s->place[2], s->speed[0], s->speed[1],
                                        s->speed[2], s->radius, s->age, s->id},
                             .landed = s->landed,
                             .landed_count = s->landed_count,
                             .count = s->count};
    int arrays = 9;
    if (s->sheets) {
        r->arrays[arrays++] = s->sheets->node;
        r->arrays[arrays++] = s->sheets->share;
    }
    r->set = und_set_list(r->arrays, s->landed_count > 0 ? arrays : 0, 1, s->count / 8 + 4 * s->landed_count);
    r->pass = UND_PASS(close_gaps, r, &r->set);
    s->count -= s->landed_count;
    s->landed_count = 0;
    return (und_step){.passes = &r->pass, .count = 1};
}

void und_spray_remove(und_spray *s)
{
    und_spray_removal removal;
    const und_step step = und_spray_remove_step(s, &removal);
    const und_device device = device_of(s);
    und_pass_steps(&device, &step, 1);
}

/* Sum of r^3 over a chunk, in eight sums side by side. */
static double sum_cubes(const float *radius, int count)
{
    double sum[8] = {0}, all = 0;
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        SIMD
        for (int k = 0; k < 8; k++) {
            double r = (double)radius[i + k];
            sum[k] += r * r * r;
        }
    }
    for (int k = 0; k < 8; k++)
        all += sum[k];
    for (; i < count; i++)
        all += (double)radius[i] * (double)radius[i] * (double)radius[i];
    return all;
}

static void sum_chunk(const und_spray *s, und_place p)
{
    s->chunk_volume[p.y] = sum_cubes(s->radius + p.at, p.x);
}
UND_KERNEL(sum_chunk, und_spray, UND_EACH_BLOCK)

double und_spray_in_flight(const und_spray *s)
{
    double sum = 0;
    const und_set all = chunk_set(s);
    const und_device device = device_of(s);
    und_pass(&device, sum_chunk, s, &all);
    for (int c = 0; c < all.blocks; c++)
        sum += s->chunk_volume[c];
    return 4.0 / 3.0 * M_PI * sum;
}
