/* Texture particles are born where the surface has none near, and go where they crowd. */
#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "surface/frame_mesh.h"
#include "surface/texture_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In spacings: how far apart they are at birth, how near they may come to one another, how far the nearest is
 * where one is missing. */
static const float APART = 0.7f, CROWDED = 0.3f, MISSING = 1;
/* Cells: liquid with no particle within that has come in since; it begins as the first did. */
static const float NEW_LIQUID = 4;
enum { TRIES = 4, /* places per spacing squared */ ENOUGH = 2048 };

/* Those kept, chained by the cube of side `gap` that they are in. */
typedef struct cubes {
    const float *place;
    float gap;
    size_t slots;
    int32_t *slot, *next;
} cubes;

static void cube_of(const cubes *c, const float *place, int32_t cube[3])
{
    for (int a = 0; a < 3; a++)
        cube[a] = (int32_t)floorf(fminf(fmaxf(place[a] / c->gap, -1e9f), 1e9f));
}

static int32_t *slot_of(const cubes *c, int32_t x, int32_t y, int32_t z)
{
    return &c->slot[und_random_bits((uint32_t)x, (uint32_t)y, (uint32_t)z) & (c->slots - 1)];
}

static bool is_free(const cubes *c, const float *p, const int32_t cube[3])
{
    for (int k = 0; k < 27; k++) {
        int32_t other = *slot_of(c, cube[0] + k % 3 - 1, cube[1] + k / 3 % 3 - 1, cube[2] + k / 9 - 1);
        for (; other >= 0; other = c->next[other]) {
            const float *q = c->place + 3 * (size_t)other;
            float d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
            if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < c->gap * c->gap)
                return false;
        }
    }
    return true;
}

/* In the order that they come, those that are at least `gap` from all that were kept before. */
static und_status keep_apart(const float *place, int count, float gap, uint8_t *keep, und_error *err)
{
    cubes c = {.place = place, .gap = gap, .slots = 64};
    while (c.slots < 2 * (size_t)count)
        c.slots *= 2;
    c.slot = und_alloc(c.slots, sizeof *c.slot, "texture particles", err);
    c.next = und_alloc((size_t)count + 1, sizeof *c.next, "texture particles", err);
    bool good = c.slot && c.next;
    if (good)
        memset(c.slot, 0xff, c.slots * sizeof *c.slot); /* -1: none */
    for (int i = 0; good && i < count; i++) {
        const float *p = place + 3 * (size_t)i;
        int32_t cube[3];
        cube_of(&c, p, cube);
        keep[i] = is_free(&c, p, cube);
        if (keep[i]) {
            int32_t *slot = slot_of(&c, cube[0], cube[1], cube[2]);
            c.next[i] = *slot;
            *slot = i;
        }
    }
    free(c.slot);
    free(c.next);
    return good ? UND_OK : UND_FAILED;
}

static float spacing_of(const und_texture *t)
{
    return (float)(t->def.spacing * t->flow[0].mac.d[0]);
}

und_status und_texture_thin(und_texture *t, uint8_t *lost, und_error *err)
{
    texture_points *p = &t->points;
    int count = 0;
    uint8_t *keep = und_alloc((size_t)p->count + 1, 1, "texture particles", err);
    float *place = keep ? und_texture_places(p, err) : NULL;
    und_status status = place ? keep_apart(place, p->count, CROWDED * spacing_of(t), keep, err) : UND_FAILED;
    for (int i = 0; status == UND_OK && i < p->count; i++) {
        if (lost[i] || !keep[i])
            continue;
        memmove(p->place + 3 * (size_t)count, p->place + 3 * (size_t)i, 3 * sizeof *p->place);
        memmove(p->rest + 3 * (size_t)count, p->rest + 3 * (size_t)i, 3 * sizeof *p->rest);
        p->id[count++] = p->id[i];
    }
    if (status == UND_OK) {
        t->told.gone = p->count - count;
        p->count = count;
    }
    free(place);
    free(keep);
    return status;
}

/* Places on a mesh, spread by chance and by area; after those its vertices, for pieces that chance misses. */
typedef struct places {
    int count;
    float *place; /* [count][3] */
} places;

static const float *corner(const und_shell *s, size_t triangle, int k)
{
    return s->position + 3 * (size_t)s->triangle[3 * triangle + (size_t)k];
}

/* How many a triangle gets: as many as its area wants, and one more with the chance that is left over. */
static int tries_of(const und_shell *s, size_t triangle, double per_area, uint64_t seed, uint64_t stream)
{
    const float *a = corner(s, triangle, 0), *b = corner(s, triangle, 1), *c = corner(s, triangle, 2);
    double e[3], f[3];
    for (int k = 0; k < 3; k++) {
        e[k] = (double)(b[k] - a[k]);
        f[k] = (double)(c[k] - a[k]);
    }
    double x = e[1] * f[2] - e[2] * f[1], y = e[2] * f[0] - e[0] * f[2], z = e[0] * f[1] - e[1] * f[0];
    double wanted = 0.5 * sqrt(x * x + y * y + z * z) * per_area;
    return (int)(fmin(wanted, 1e4) + und_random(seed, stream, 4 * triangle));
}

static void place_in(const und_shell *s, size_t triangle, int k, uint64_t seed, uint64_t stream, float *out)
{
    const float *a = corner(s, triangle, 0), *b = corner(s, triangle, 1), *c = corner(s, triangle, 2);
    uint64_t index = 4 * triangle + ((uint64_t)k << 40);
    double u = und_random(seed, stream, index + 1), v = und_random(seed, stream, index + 2);
    if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
    }
    for (int i = 0; i < 3; i++)
        out[i] = (float)((double)a[i] + u * (double)(b[i] - a[i]) + v * (double)(c[i] - a[i]));
}

static und_status scatter(const und_texture *t, const und_shell *s, uint64_t stream, places *out,
                          und_error *err)
{
    double per_area = TRIES / ((double)spacing_of(t) * (double)spacing_of(t));
    size_t triangles = (size_t)s->triangle_count, total = (size_t)s->vertex_count;
    for (size_t k = 0; k < triangles; k++)
        total += (size_t)tries_of(s, k, per_area, t->def.seed, stream);
    *out = (places){0};
    if (total > INT32_MAX / 8)
        return und_error_set(err, UND_INVALID, "the surface needs %zu texture particles: use a wider spacing",
                             total / TRIES);
    out->place = und_alloc(3 * total + 3, sizeof *out->place, "texture particles", err);
    if (!out->place)
        return UND_FAILED;
    for (size_t k = 0; k < triangles; k++) {
        int tries = tries_of(s, k, per_area, t->def.seed, stream);
        for (int i = 0; i < tries; i++)
            place_in(s, k, i, t->def.seed, stream, out->place + 3 * (size_t)out->count++);
    }
    memcpy(out->place + 3 * (size_t)out->count, s->position,
           3 * (size_t)s->vertex_count * sizeof *out->place);
    out->count += s->vertex_count;
    return UND_OK;
}

/* Leaves the places where a particle is missing. */
static und_status leave_missing(const und_texture *t, const und_nearest *tree, places *p, und_error *err)
{
    float gap = MISSING * spacing_of(t);
    uint8_t *keep = und_alloc((size_t)p->count + 1, 1, "texture particles", err);
    if (!keep)
        return UND_FAILED;
    int blocks = (p->count + ENOUGH - 1) / ENOUGH, count = 0;
    PARALLEL_FOR(und_workers(t->threads, (size_t)p->count, ENOUGH))
    for (int b = 0; b < blocks; b++)
        for (int i = b * ENOUGH; i < (b + 1) * ENOUGH && i < p->count; i++) {
            und_neighbour one[UND_NEAREST_MOST];
            keep[i] = und_nearest_find(tree, p->place + 3 * (size_t)i, 1, gap, one) == 0;
        }
    for (int i = 0; i < p->count; i++)
        if (keep[i])
            memmove(p->place + 3 * (size_t)count++, p->place + 3 * (size_t)i, 3 * sizeof *p->place);
    p->count = count;
    und_status status = keep_apart(p->place, p->count, APART * spacing_of(t), keep, err);
    count = 0;
    for (int i = 0; status == UND_OK && i < p->count; i++)
        if (keep[i])
            memmove(p->place + 3 * (size_t)count++, p->place + 3 * (size_t)i, 3 * sizeof *p->place);
    p->count = count;
    free(keep);
    return status;
}

/* Nothing is further off than what one of the neighbours remembers: where the surface grows, births go by the
 * guesses of births before, which would run away. */
static void hold_within(const und_texture_map *map, const float *place, float *rest)
{
    und_neighbour list[UND_NEAREST_MOST];
    const int count = und_nearest_find(&map->tree, place, UND_NEAREST_MOST, INFINITY, list);
    for (int a = 0; a < 3 && count > 0; a++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < count; i++) {
            const float one = map->rest[3 * (size_t)list[i].at + (size_t)a];
            low = one < low ? one : low;
            high = one > high ? one : high;
        }
        rest[a] = rest[a] < low ? low : rest[a] > high ? high : rest[a];
    }
}

/* What their neighbours remember, or where there are none near, the place itself. */
static und_status give_birth(und_texture *t, const und_texture_map *map, const places *p, und_error *err)
{
    texture_points *to = &t->points;
    size_t old = (size_t)to->count;
    float far = NEW_LIQUID * (float)t->flow[0].mac.d[0];
    if (p->count > INT32_MAX / 8 - to->count)
        return und_error_set(err, UND_INVALID, "too many texture particles: use a wider spacing");
    und_status status = und_texture_points_reserve(to, to->count + p->count, err);
    if (status != UND_OK)
        return status;
    if (map->tree.count > 0)
        und_texture_map_look(map, p->place, p->count, to->rest + 3 * old);
    for (int i = 0; i < p->count; i++) {
        const float *place = p->place + 3 * (size_t)i;
        und_neighbour one[UND_NEAREST_MOST];
        bool alone = und_nearest_find(&map->tree, place, 1, far, one) == 0;
        hold_within(map, place, to->rest + 3 * (old + (size_t)i));
        for (int a = 0; a < 3; a++)
            to->place[3 * (old + (size_t)i) + (size_t)a] = (double)place[a];
        if (alone)
            memcpy(to->rest + 3 * (old + (size_t)i), place, 3 * sizeof *place);
        to->id[old + (size_t)i] = t->next_id++;
        t->told.new_liquid += alone;
    }
    to->count += p->count;
    t->told.born = p->count;
    return UND_OK;
}

und_status und_texture_fill(und_texture *t, const und_frame *frame, und_error *err)
{
    und_frame_mesh_def def = {.threads = t->threads};
    und_shell shell = {0};
    und_texture_map map = {0};
    places p = {0};
    float *place = und_texture_places(&t->points, err);
    und_status status =
        place ? und_texture_map_open(&map, place, t->points.rest, t->points.count, t->threads, err)
              : UND_FAILED;
    if (status == UND_OK)
        status = und_frame_mesh(frame, &def, &shell, err);
    if (status == UND_OK)
        status = scatter(t, &shell, (uint64_t)(int64_t)frame->number, &p, err);
    und_shell_free(&shell);
    if (status == UND_OK)
        status = leave_missing(t, &map.tree, &p, err);
    if (status == UND_OK)
        status = give_birth(t, &map, &p, err);
    und_texture_map_close(&map);
    free(p.place);
    free(place);
    return status;
}
