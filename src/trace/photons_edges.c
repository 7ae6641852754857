/* How far each photon's light is spread, and what happens at the edges of surfaces.
 *
 * Light that would be spread past an edge (a floor's wall, a table's end, the shore) is thrown back: blocks
 * near an edge get mirror images behind it, which only their own surface sees, so that a floor is as bright
 * at its walls as elsewhere and no light is lost. */
#include "base/maths.h"
#include "trace/photons_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "trace/matter.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 64, DEEP = 64, DIRECTIONS = 16, EDGES = 2, HALVINGS = 6, CHUNK = 256 };

static const float pi = 3.14159265f;

/* A straight piece of an edge: `away` from a block's middle, in its plane, towards it. */
typedef struct edge {
    f3 away;
    float distance;
} edge;

typedef struct edges {
    int count;
    edge at[EDGES];
} edges;

static f3 place_in(const und_photon_block *b, int i)
{
    return f3_make(b->place[0][i], b->place[1][i], b->place[2][i]);
}

static f3 normal_in(const und_photon_block *b, int i)
{
    return f3_unit(f3_make(b->normal[0][i], b->normal[1][i], b->normal[2][i]));
}

/* How many photons lie around a place, by the square of their distance. */
typedef struct census {
    int count[BINS];
} census;

static float distance2(const und_box *box, f3 p)
{
    float x = maxf(maxf(box->low.x - p.x, p.x - box->high.x), 0);
    float y = maxf(maxf(box->low.y - p.y, p.y - box->high.y), 0);
    float z = maxf(maxf(box->low.z - p.z, p.z - box->high.z), 0);
    return x * x + y * y + z * z;
}

static int take_census(const und_photons *p, const und_photon_block *own, f3 middle, float far2, census *c)
{
    int stack[DEEP], depth = 0, total = 0;
    memset(c, 0, sizeof *c);
    stack[depth++] = 1;
    while (depth > 0) {
        int node = stack[--depth];
        if (!(distance2(&p->box[node], middle) < far2))
            continue;
        if (node < p->leaves) {
            stack[depth++] = 2 * node;
            stack[depth++] = 2 * node + 1;
            continue;
        }
        const und_photon_block *b = p->block + (node - p->leaves);
        for (int i = 0; i < b->count && b->side == own->side && b->within == own->within; i++) {
            f3 away = f3_sub(place_in(b, i), middle);
            float d2 = f3_dot(away, away);
            if (!(d2 < far2))
                continue;
            int bin = (int)(d2 / far2 * BINS);
            bin = bin < BINS ? bin : BINS - 1;
            c->count[bin]++;
            total++;
        }
    }
    return total;
}

/* Sets the reach of a block: to `nearest` photons about its middle. */
static void find_reach(const und_photons *p, und_photon_block *b, const und_box *box, int nearest, float far)
{
    f3 middle = place_in(b, b->count / 2), size = f3_sub(box->high, box->low);
    float most2 = far * far, look2 = minf(maxf(f3_dot(size, size), 1e-8f * most2), most2);
    census c;
    while (take_census(p, b, middle, look2, &c) < nearest && look2 < most2)
        look2 = minf(4 * look2, most2);
    int bin, count;
    for (int again = 0;; again++) {
        for (bin = count = 0; bin < BINS && count < nearest; bin++)
            count += c.count[bin];
        if (bin > BINS / 8 || again == 8)
            break;
        look2 *= (float)(bin + 1) / BINS; /* a look from too far away is a coarse one */
        take_census(p, b, middle, look2, &c);
    }
    b->reach2 = look2 * (float)bin / BINS;
}

/* Does a place lie in a dielectric?  The next surface above it is then one that a ray leaves it by. */
static bool is_within(const und_world *world, f3 place, f3 up)
{
    und_ray ray = {.from = place, .dir = up, .far = INFINITY};
    und_hit hit;
    return world->cast(world, &ray, &hit) && hit.matter.kind == UND_MATTER_DIELECTRIC &&
           f3_dot(hit.face, up) > 0;
}

/* A surface of the same kind lies under the place, as far as estimates reach up and down, in a dielectric or
 * not as the block does: a film may be far thinner than they reach. */
static bool goes_on(const und_world *world, f3 place, f3 normal, float reach, bool within)
{
    bool crossed = false, inside = false;
    und_ray ray = {.from = f3_along(place, normal, 0.3f * reach), .dir = f3_scale(normal, -1)};
    ray.far = 0.6f * reach;
    und_hit hit;
    for (int k = 0; k < 4 && world->cast(world, &ray, &hit); k++) {
        if (hit.matter.kind != UND_MATTER_DIELECTRIC) {
            if (!crossed && within)
                inside = is_within(world, ray.from, normal);
            return inside == within && fabsf(f3_dot(hit.face, normal)) > UND_PHOTON_AGREE;
        }
        crossed = true;
        inside = f3_dot(hit.face, ray.dir) < 0;
        ray.from = f3_along(hit.place, ray.dir, maxf(2 * hit.offset, 1e-3f * reach));
        ray.far -= hit.t;
    }
    return false;
}

/* Something opaque stands on the surface.  Surfaces of dielectrics are passed: what is close above a bed may
 * leave the water far from the shore. */
static float way_to_wall(const und_world *world, f3 place, f3 normal, f3 along, float reach)
{
    und_ray ray = {.from = f3_along(place, normal, 0.1f * reach), .dir = along, .far = reach};
    und_hit hit;
    for (int k = 0; k < 4 && world->cast(world, &ray, &hit); k++) {
        if (hit.matter.kind != UND_MATTER_DIELECTRIC)
            return fabsf(f3_dot(hit.face, normal)) < UND_PHOTON_AGREE ? hit.t : INFINITY;
        ray.near = hit.t + maxf(2 * hit.offset, 1e-3f * reach);
    }
    return INFINITY;
}

/* How far the surface goes on along a direction: to a wall or a shore, or to where it ends. */
static float way_to_edge(const und_world *world, f3 place, f3 normal, f3 along, float reach, bool within)
{
    float wall = way_to_wall(world, place, normal, along, reach);
    if (wall < INFINITY)
        return wall;
    if (goes_on(world, f3_along(place, along, reach), normal, reach, within))
        return INFINITY;
    float on = 0, off = reach;
    for (int k = 0; k < HALVINGS; k++) {
        float half = 0.5f * (on + off);
        if (goes_on(world, f3_along(place, along, half), normal, reach, within))
            on = half;
        else
            off = half;
    }
    return 0.5f * (on + off);
}

/* Of a straight edge 1 / distance is a cosine of the direction: three of them tell it. */
static edge fit_edge(const float way[DIRECTIONS], int k, f3 s, f3 t)
{
    const float step = 2 * pi / DIRECTIONS;
    float before = way[(k + DIRECTIONS - 1) % DIRECTIONS], after = way[(k + 1) % DIRECTIONS];
    float a = 1 / maxf(way[k], 1e-9f), b = 0;
    if (before < INFINITY && after < INFINITY)
        b = (1 / maxf(after, 1e-9f) - 1 / maxf(before, 1e-9f)) / (2 * und_sinf(step));
    float turn = (float)k * step + clampf(und_atan2f(b, a), -0.5f * step, 0.5f * step);
    return (edge){f3_along(f3_scale(s, und_cosf(turn)), t, und_sinf(turn)), 1 / sqrtf(a * a + b * b)};
}

static void find_edges(const und_world *world, const und_photon_block *b, edges *out)
{
    int middle = b->count / 2;
    f3 place = place_in(b, middle), normal = normal_in(b, middle), s, t;
    float reach = 1.6f * sqrtf(b->reach2), way[DIRECTIONS];
    bool any = false;
    und_across(normal, &s, &t);
    for (int turn = 0; turn < 2; turn++) /* those between only where there is an edge at all */
        for (int k = turn; k < DIRECTIONS && (turn == 0 || any); k += 2) {
            float a = 2 * pi * (float)k / DIRECTIONS;
            way[k] = way_to_edge(world, place, normal, f3_along(f3_scale(s, und_cosf(a)), t, und_sinf(a)),
                                 reach, b->within);
            any |= way[k] < INFINITY;
        }
    if (!any)
        return;
    int last = -DIRECTIONS;
    for (int k = 0; k < DIRECTIONS && out->count < EDGES; k++) {
        bool nearest = way[k] < INFINITY && way[k] <= way[(k + 1) % DIRECTIONS] &&
                       way[k] < way[(k + DIRECTIONS - 1) % DIRECTIONS];
        if (nearest && k - last >= 3) {
            out->at[out->count++] = fit_edge(way, k, s, t);
            last = k;
        }
    }
}

/* Mirror images of those photons whose light reaches past the edges; how many blocks it made. */
static int mirror(const und_photon_block *b, f3 middle, const edges *e, und_photon_block out[EDGES + 1])
{
    int blocks = 0;
    const float reach = sqrtf(b->reach2);
    for (int which = 1; which < 1 << e->count; which++) {
        und_photon_block *image = &out[blocks];
        *image =
            (und_photon_block){.reach2 = b->reach2, .side = b->side, .within = b->within, .even = b->even};
        for (int i = 0; i < b->count; i++) {
            f3 place = place_in(b, i);
            bool near = true;
            for (int k = 0; k < e->count && near; k++) {
                float ahead = e->at[k].distance - f3_dot(f3_sub(place_in(b, i), middle), e->at[k].away);
                if (!(which >> k & 1))
                    continue;
                near = ahead >= 0 && ahead < reach;
                place = f3_along(place, e->at[k].away, 2 * ahead);
            }
            if (!near)
                continue;
            const float at[3] = {place.x, place.y, place.z};
            for (int a = 0; a < 3; a++) {
                image->place[a][image->count] = at[a];
                image->flux[a][image->count] = b->flux[a][i];
                image->normal[a][image->count] = b->normal[a][i];
            }
            image->count++;
        }
        blocks += image->count > 0;
    }
    return blocks;
}

static und_status add_mirrors(und_photons *p, const edges *found, und_error *err)
{
    size_t more = 0;
    for (int k = 0; k < p->block_count; k++)
        more += found[k].count > 0 ? EDGES + 1 : 0;
    und_photon_block *all =
        und_pages_alloc(((size_t)p->block_count + more + 1) * sizeof *all, "photons", err);
    if (!all)
        return UND_FAILED;
    memcpy(all, p->block, (size_t)p->block_count * sizeof *all);
    int count = p->block_count;
    for (int k = 0; k < p->block_count; k++)
        if (found[k].count > 0)
            count += mirror(all + k, place_in(all + k, all[k].count / 2), &found[k], all + count);
    und_pages_free(p->block);
    p->block = all;
    p->block_count = count;
    return UND_OK;
}

und_status und_photons_spread(und_photons *p, const und_photons_def *def, und_error *err)
{
    und_status status = und_photons_plant(p, false, def->threads, err);
    edges *found = und_alloc((size_t)p->block_count + 1, sizeof *found, "photons", err);
    if (!found || status != UND_OK) {
        free(found);
        return UND_FAILED;
    }
    const und_box *bounds = &def->world->bounds;
    f3 size = f3_sub(bounds->high, bounds->low);
    float far = 0.05f * sqrtf(f3_dot(size, size));
    int workers = und_workers(def->threads, (size_t)p->block_count, CHUNK);
    int nearest = def->nearest > 4 ? def->nearest : 4, chunks = (p->block_count + CHUNK - 1) / CHUNK;
    PARALLEL_FOR(workers)
    for (int chunk = 0; chunk < chunks; chunk++)
        for (int k = chunk * CHUNK; k < p->block_count && k < (chunk + 1) * CHUNK; k++) {
            find_reach(p, p->block + k, &p->box[p->leaves + k], nearest, far);
            find_edges(def->world, p->block + k, &found[k]);
        }
    status = add_mirrors(p, found, err);
    free(found);
    for (int k = 0; k < p->block_count; k++) /* the kernel's own scale, once for all */
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < UND_PHOTON_BLOCK; i++)
                p->block[k].flux[a][i] *= 2 / (pi * p->block[k].reach2);
    return status == UND_OK ? und_photons_plant(p, true, def->threads, err) : status;
}
