#include "trace/photons_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <limits.h>
#include <stdlib.h>

enum { DEEP = 64 };

typedef struct estimate {
    f3 place, normal;
    float sum[3][UND_PHOTON_BLOCK]; /* lane by lane, so that the order of sums is always the same */
} estimate;

static bool agrees(const und_photon_block *b, int i, f3 n)
{
    return b->normal[0][i] * n.x + b->normal[1][i] * n.y + b->normal[2][i] * n.z > 127 * UND_PHOTON_AGREE;
}

/* Each photon's light is spread over the disc in which its surface lies, by Epanechnikov's kernel. */
static void add_block(estimate *e, const und_photon_block *b)
{
    const float thick2 = UND_PHOTON_FLAT2 * b->reach2, inverse = 1 / b->reach2;
    const f3 n = e->normal, at = e->place;
    float weight[UND_PHOTON_BLOCK];
    if (b->even && !agrees(b, 0, n))
        return;
    SIMD
    for (int i = 0; i < UND_PHOTON_BLOCK; i++) {
        float x = b->place[0][i] - at.x, y = b->place[1][i] - at.y, z = b->place[2][i] - at.z;
        float off = x * n.x + y * n.y + z * n.z, across2 = x * x + y * y + z * z - off * off;
        float w = 1 - across2 * inverse;
        w = off * off < thick2 ? w : 0;
        weight[i] = w > 0 ? w : 0;
    }
    for (int i = 0; i < UND_PHOTON_BLOCK && !b->even; i++)
        weight[i] = agrees(b, i, n) ? weight[i] : 0;
    for (int a = 0; a < 3; a++)
        SIMD
    for (int i = 0; i < UND_PHOTON_BLOCK; i++)
        e->sum[a][i] += weight[i] * b->flux[a][i];
}

f3 und_photons_at(const und_photons *p, f3 place, f3 normal, bool within)
{
    estimate e = {.place = place, .normal = normal};
    int stack[DEEP], depth = 0;
    bool any = false;
    if (p->block_count > 0 && und_box_holds(&p->box[1], place))
        stack[depth++] = 1;
    while (depth > 0) {
        int node = stack[--depth];
        if (node >= p->leaves) {
            const und_photon_block *b = p->block + (node - p->leaves);
            if (b->within == within) {
                add_block(&e, b);
                any = true;
            }
            continue;
        }
        for (int k = 2 * node + 1; k >= 2 * node; k--)
            if (und_box_holds(&p->box[k], place)) {
                stack[depth++] = k;
                __builtin_prefetch(k < p->leaves ? (const void *)&p->box[2 * k]
                                                 : (const void *)(p->block + (k - p->leaves)));
            }
    }
    float sum[3] = {0, 0, 0};
    for (int a = 0; a < 3 && any; a++)
        for (int i = 0; i < UND_PHOTON_BLOCK; i++)
            sum[a] += e.sum[a][i];
    return f3_of(sum);
}

und_photons *und_photons_create(const und_photons_def *def, und_error *err)
{
    if (def->count > INT_MAX / 4) {
        und_error_set(err, UND_INVALID, "%zu photons are more than %d", def->count, INT_MAX / 4);
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
        status = und_photons_sort(photons, list, count, used.threads, err);
    und_pages_free(list);
    if (status == UND_OK)
        status = und_photons_spread(photons, &used, err);
    if (status == UND_OK)
        return photons;
    und_photons_destroy(photons);
    return NULL;
}

void und_photons_destroy(und_photons *photons)
{
    if (!photons)
        return;
    und_pages_free(photons->block);
    free(photons->box);
    free(photons);
}
