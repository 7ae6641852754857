#include "trace/photons_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 1024 /* leaves that a thread looks at at a time */, DEEP = 64 };

static const float flat2 = 0.1f; /* how thick an estimate's disc is, squared, in its radii */
static const float agree = 0.7f; /* least cosine between normals of one surface */

/* Where the leaf begins that a place lies in. */
static int leaf_of(const und_nearest *tree, const float place[3])
{
    int begin = 0, end = tree->count;
    while (end - begin > UND_NEAREST_LEAF) {
        int middle = begin + (end - begin) / 2, axis = tree->axis[middle];
        if (place[axis] < tree->place[3 * (size_t)middle + (size_t)axis])
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/* A leaf and the point that it was split off at are more than half a full leaf together, so no two leaves
 * begin in the same half. */
static und_photon_leaf *leaf_at(const und_photons *p, int begin)
{
    return p->leaf + begin / (UND_NEAREST_LEAF / 2);
}

typedef struct estimate {
    const und_photons *photons;
    const float *place;
    f3 normal;
    bool within;
    float reach2;
    f3 sum;
} estimate;

/* Epanechnikov's kernel over the disc in which the surface lies. */
static void add_photon(estimate *e, int at)
{
    const float *p = e->photons->tree.place + 3 * (size_t)at;
    f3 away = f3_make(p[0] - e->place[0], p[1] - e->place[1], p[2] - e->place[2]);
    float off = f3_dot(away, e->normal), across2 = f3_dot(away, away) - off * off;
    if (!(across2 < e->reach2 && off * off < flat2 * e->reach2))
        return;
    const und_photon_light *light = e->photons->light + at;
    f3 normal = {light->normal[0], light->normal[1], light->normal[2]};
    if (light->within == e->within && f3_dot(normal, e->normal) > 127 * agree)
        e->sum = f3_along(e->sum, f3_of(light->flux), 1 - across2 / e->reach2);
}

static void add_around(estimate *e)
{
    const und_nearest *tree = &e->photons->tree;
    float far2 = e->reach2 * (1 + flat2);
    int stack[DEEP][2], depth = 0, begin = 0, end = tree->count;
    for (;;) {
        while (end - begin > UND_NEAREST_LEAF) {
            int middle = begin + (end - begin) / 2, axis = tree->axis[middle];
            float ahead = e->place[axis] - tree->place[3 * (size_t)middle + (size_t)axis];
            bool both = ahead * ahead <= far2;
            if (both)
                add_photon(e, middle);
            int low = begin, high = end;
            if (ahead < 0)
                end = middle, low = middle + 1;
            else
                begin = middle + 1, high = middle;
            if (both && depth < DEEP) {
                stack[depth][0] = low;
                stack[depth++][1] = high;
            }
        }
        for (int i = begin; i < end; i++)
            add_photon(e, i);
        if (depth == 0)
            return;
        begin = stack[--depth][0];
        end = stack[depth][1];
    }
}

f3 und_photons_at(const und_photons *photons, f3 place, f3 normal, bool within)
{
    if (photons->tree.count == 0)
        return f3_gray(0);
    const float at[3] = {place.x, place.y, place.z};
    const und_photon_leaf *leaf = leaf_at(photons, leaf_of(&photons->tree, at));
    estimate e = {photons, at, normal, within, leaf->reach2, {0, 0, 0}};
    add_around(&e);
    return f3_scale(e.sum, 2 / (3.14159265f * leaf->reach2));
}

/* How far the estimate at a leaf reaches: to so many photons about its middle one. */
static void measure_leaf(und_photons *p, int nearest, float far, int begin, int end)
{
    und_neighbour list[UND_NEAREST_MOST];
    const float *middle = p->tree.place + 3 * (size_t)(begin + (end - begin) / 2);
    int found = und_nearest_find(&p->tree, middle, nearest, far, list);
    leaf_at(p, begin)->reach2 = found == nearest ? fmaxf(list[0].squared, 1e-12f) : far * far;
}

/* Leaves are found by walking the tree as it was made: ranges halved until they are leaves. */
static void measure_range(und_photons *p, int nearest, float far, int begin, int end)
{
    while (end - begin > UND_NEAREST_LEAF) {
        int middle = begin + (end - begin) / 2;
        measure_range(p, nearest, far, begin, middle);
        begin = middle + 1;
    }
    if (begin < end)
        measure_leaf(p, nearest, far, begin, end);
}

static void measure(und_photons *p, const und_photons_def *def)
{
    const und_box *b = &def->world->bounds;
    f3 size = f3_sub(b->high, b->low);
    float far = 0.05f * sqrtf(f3_dot(size, size));
    int nearest = def->nearest < 4 ? 4 : def->nearest > UND_NEAREST_MOST ? UND_NEAREST_MOST : def->nearest;
    enum { SHARED = 6 };
    int workers = und_workers(def->threads, (size_t)p->tree.count, LEAVES);
    PARALLEL_FOR(workers)
    for (int node = 0; node < 1 << SHARED; node++) {
        int begin = 0, end = p->tree.count, bit = SHARED - 1;
        for (; bit >= 0 && end - begin > UND_NEAREST_LEAF; bit--) {
            int middle = begin + (end - begin) / 2;
            if (node >> bit & 1)
                begin = middle + 1;
            else
                end = middle;
        }
        if ((node & ((1 << (bit + 1)) - 1)) == 0) /* a leaf above this level has several numbers */
            measure_range(p, nearest, far, begin, end);
    }
}

static und_status store(und_photons *p, const und_photon *list, int count, int threads, und_error *err)
{
    size_t room = count > 0 ? (size_t)count : 1;
    float *place = und_alloc(3 * room, sizeof(float), "photons", err);
    p->light = und_alloc(room, sizeof *p->light, "photons", err);
    p->leaf = und_alloc(room / (UND_NEAREST_LEAF / 2) + 1, sizeof *p->leaf, "photons", err);
    und_status status = place && p->light && p->leaf ? UND_OK : UND_FAILED;
    for (int i = 0; i < count && status == UND_OK; i++)
        memcpy(place + 3 * (size_t)i, list[i].place, sizeof list[i].place);
    if (status == UND_OK)
        status = und_nearest_build(&p->tree, place, count, threads, err);
    for (int i = 0; i < count && status == UND_OK; i++) {
        const und_photon *from = list + p->tree.id[i];
        memcpy(p->light[i].flux, from->flux, sizeof from->flux);
        memcpy(p->light[i].normal, from->normal, sizeof from->normal);
        p->light[i].within = from->within;
    }
    free(place);
    return status;
}

und_photons *und_photons_create(const und_photons_def *def, und_error *err)
{
    if (def->count > INT_MAX / 2) {
        und_error_set(err, UND_INVALID, "%zu photons are more than %d", def->count, INT_MAX / 2);
        return NULL;
    }
    und_photons_def used = *def;
    used.threads = und_threads(def->threads);
    und_photons *photons = und_alloc(1, sizeof *photons, "photons", err);
    if (!photons)
        return NULL;
    und_photon *list = NULL;
    int count = 0;
    und_status status = und_photons_send(&used, &list, &count, err);
    if (status == UND_OK)
        status = store(photons, list, count, used.threads, err);
    if (status == UND_OK)
        measure(photons, &used);
    und_pages_free(list);
    if (status != UND_OK) {
        und_photons_destroy(photons);
        return NULL;
    }
    return photons;
}

void und_photons_destroy(und_photons *photons)
{
    if (!photons)
        return;
    und_nearest_free(&photons->tree);
    free(photons->light);
    free(photons->leaf);
    free(photons);
}
