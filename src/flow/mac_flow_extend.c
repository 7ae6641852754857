/* The velocity beyond the liquid, for what is followed through it (Wrenninge 2003, 4.4.8), and in solids. */
#include "flow/mac_flow_parts.h"

#include "base/pages.h"
#include "flow/mac_flow_kernel.h"

#include <assert.h>
#include <string.h>

static size_t slice_words(const und_mask *m)
{
    return (size_t)(m->n[1] + 2) * (size_t)m->words;
}

static void add_inside(und_mask *slice, int axis)
{
    for (int y = axis == 1 ? -1 : 0; y < slice->n[1]; y++)
        for (int x = axis == 0 ? -1 : 0; x < slice->n[0]; x++)
            und_mask_add(slice, x, y, -1);
}

und_status und_mac_flow_extend_open(und_mac_flow_extend_parts *e, const und_mac *mac, und_error *err)
{
    *e = (und_mac_flow_extend_parts){0};
    for (int a = 0; a < 3; a++)
        if (und_mask_open(&e->set[a], mac, "the flow's faces", err) != UND_OK ||
            und_mask_open(&e->known[0][a], mac, "the flow's faces", err) != UND_OK ||
            und_mask_open(&e->known[1][a], mac, "the flow's faces", err) != UND_OK)
            return UND_FAILED;
    for (int a = 0; a < 4; a++) {
        und_mask slice = e->set[0];
        slice.bits = und_pages_alloc(slice_words(&slice) * sizeof *slice.bits, "the domain's faces", err);
        *(a < 3 ? &e->inside[a] : &e->none) = slice.bits;
        if (!slice.bits)
            return UND_FAILED;
        if (a < 3)
            add_inside(&slice, a);
    }
    return UND_OK;
}

void und_mac_flow_extend_close(und_mac_flow_extend_parts *e)
{
    for (int a = 0; a < 3; a++) {
        und_mask_close(&e->set[a]);
        und_mask_close(&e->known[0][a]);
        und_mask_close(&e->known[1][a]);
        und_pages_free(e->inside[a]);
    }
    und_pages_free(e->none);
}

static int dimensions_of(const und_mac *m)
{
    return m->n[2] == 1 ? 2 : 3;
}

void und_mac_flow_set_all(und_mac_flow *s)
{
    und_mac_flow_extend_parts *e = &s->parts->extend;
    for (int a = 0; a < dimensions_of(&s->mac); a++)
        for (int z = a == 2 ? -1 : 0; z < s->mac.n[2]; z++)
            for (int y = -1; y <= s->mac.n[1]; y++)
                if (und_present_has(s->mac.present, y, z)) {
                    const und_span words = und_mask_words(&e->set[a], y, z);
                    memcpy(und_mask_row(&e->set[a], y, z) + words.begin,
                           e->inside[a] + (y + 1) * e->set[a].words + words.begin,
                           (size_t)(words.end - words.begin) * sizeof *e->inside[a]);
                }
}

void und_mac_flow_restored(und_mac_flow *s)
{
    und_mac_flow_set_all(s);
    und_mac_flow_find_pressed(s);
    s->parts->gained_anywhere = true;
}

void und_mac_flow_written(und_mac_flow *s, int axis, int x, int y, int z, int count)
{
    for (int i = 0; s->parts && i < count; i++)
        if (!und_mask_has_shared(&s->parts->extend.set[axis], x + i, y, z))
            und_mask_add_shared(&s->parts->extend.set[axis], x + i, y, z);
}

/* ---- Layers ---- */

enum { FIELDS = 2 }; /* that are known at the same faces, at most: u, and what it gained */

/* Where a layer is added to what is known. */
typedef struct layer {
    float *field[FIELDS];
    const und_mask *known;
    ptrdiff_t step[6]; /* to each neighbour: low and high along each axis */
} layer;

static bool is_known(const layer *l, const int face[3], int along, int steps)
{
    const und_mask *m = l->known;
    int at[3] = {face[0], face[1], face[2]};
    at[along] += steps;
    return at[along] >= -1 && at[along] <= m->n[along] && und_mask_has(m, at[0], at[1], at[2]);
}

/* By how much a field changes in a step outwards from the face beside this one: the lesser of the last two
 * changes, none where they disagree or are not known. */
static float slope(const layer *l, const float *u, const int face[3], int side)
{
    const int steps = side % 2 ? 1 : -1;
    const ptrdiff_t step = l->step[side];
    if (!is_known(l, face, side / 2, 2 * steps) || !is_known(l, face, side / 2, 3 * steps))
        return 0;
    const float last = u[step] - u[2 * step], before = u[2 * step] - u[3 * step];
    return !(last * before > 0) ? 0 : last * last < before * before ? last : before;
}

/* Faces of a word beside known ones become the mean of those, or of what they lead to.  Few are next to each
 * other along a row, and most have one or two such neighbours: so it is one by one. */
UND_INLINE void fill_faces(const layer *l, const int face[3], size_t at, uint64_t ring,
                           const uint64_t beside[6], int fields, bool goes_on)
{
    for (; ring; ring &= ring - 1) {
        const int bit = __builtin_ctzll(ring);
        const int own[3] = {face[0] + bit, face[1], face[2]};
        float sum[FIELDS] = {0};
        unsigned sides = 0;
        for (int i = 0; i < 6; i++)
            sides |= (unsigned)(beside[i] >> bit & 1) << i;
        const float count = (float)__builtin_popcount(sides);
        for (; sides; sides &= sides - 1) {
            const int side = __builtin_ctz(sides);
            for (int f = 0; f < fields; f++) {
                const float *u = l->field[f] + at + bit;
                sum[f] += u[l->step[side]] + (goes_on ? slope(l, u, own, side) : 0);
            }
        }
        for (int f = 0; f < fields; f++)
            l->field[f][at + (size_t)bit] = sum[f] / count;
    }
}

static void fill_word(const und_mac_flow *s, const layer *l, const int face[3], uint64_t ring,
                      const uint64_t beside[6])
{
    const size_t at = (size_t)((ptrdiff_t)und_mac_at(&s->mac, 0, face[1], face[2]) + face[0]);
    if (s->parts->goes_on)
        fill_faces(l, face, at, ring, beside, s->parts->gains ? FIELDS : 1, true);
    else if (s->parts->gains)
        fill_faces(l, face, at, ring, beside, FIELDS, false);
    else
        fill_faces(l, face, at, ring, beside, 1, false);
}

/* Rows y to end - 1 of slice z: the faces beside known ones, which are known then. */
static void add_layer(const und_mac_flow *s, int axis, const und_mask *known, und_mask *out, int z, int y,
                      int end)
{
    const und_mac_flow_extend_parts *e = &s->parts->extend;
    const int words = known->words, count = (end - y) * words;
    const ptrdiff_t slice = (ptrdiff_t)slice_words(known), *step = s->mac.step;
    const uint64_t *k = und_mask_row(known, y, z), *above = k + slice;
    const uint64_t *below = z < 0 ? e->none : k - slice, *inside = e->inside[axis] + (y + 1) * words;
    uint64_t *all = und_mask_row(out, y, z), ring[UND_MAC_FLOW_WORDS];
    const layer l = {.field = {s->u[axis], s->gained[axis]},
                     .known = known,
                     .step = {-step[0], step[0], -step[1], step[1], -step[2], step[2]}};
    for (int i = 0; i < count; i++) {
        ring[i] = (k[i] << 1 | k[i] >> 1 | k[i - 1] >> 63 | k[i + 1] << 63 | k[i - words] | k[i + words] |
                   below[i] | above[i]) &
                  ~k[i] & inside[i];
        all[i] = k[i] | ring[i];
    }
    for (int i = 0; i < count; i++)
        if (ring[i]) {
            const int face[3] = {64 * (i % words) - 1, y + i / words, z};
            const uint64_t beside[6] = {k[i] << 1 | k[i - 1] >> 63,
                                        k[i] >> 1 | k[i + 1] << 63,
                                        k[i - words],
                                        k[i + words],
                                        below[i],
                                        above[i]};
            fill_word(s, &l, face, ring[i], beside);
        }
}

typedef struct extension {
    und_mac_flow *s;
    int low, high; /* axes from one to below the other */
    int layer;
    const und_solids *solids; /* for what comes behind the layers */
    const und_mask *known[3]; /* after all of them */
    und_mask *changed;        /* of each axis */
} extension;

/* A layer of a slice, whose layers before are still in the cache. */
static void layer_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    const und_mac_flow *s = e->s;
    und_mac_flow_extend_parts *parts = &s->parts->extend;
    const und_place first = und_set_row(set, block * set->per_block);
    const int end = first.y + und_set_end(set, block) - block * set->per_block, z = first.z;
    for (int a = e->low; a < e->high; a++) {
        const und_mask *known = e->layer == 0 ? &s->flows[a] : &parts->known[(e->layer - 1) % 2][a];
        int rows = UND_MAC_FLOW_WORDS / known->words;
        rows = rows < UND_MAC_FLOW_ROWS ? rows : UND_MAC_FLOW_ROWS;
        for (int y = a != 1 && first.y < 0 ? 0 : first.y, next; y < end && (z >= 0 || a == 2); y = next) {
            y = s->mac.present ? und_present_next(s->mac.present, y, end, z) : y;
            for (next = y; next < end && next < y + rows && und_present_has(s->mac.present, next, z);)
                next++;
            if (next > y)
                add_layer(s, a, known, &parts->known[e->layer % 2][a], z, y, next);
        }
    }
}
static const und_kernel layer_kernel = {"extend_layer", layer_block};

/* For each of its axes that has faces in a row. */
#define EACH_AXIS(e, p, a)                     \
    for (int a = (e)->low; a < (e)->high; a++) \
        if (((p).y >= 0 || a == 1) && ((p).z >= 0 || a == 2))

/* What was gained in the step: what is extended then is in the cache already. */
static void gain_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    const und_gain_args gain = e->s->parts->gain;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(e, p, a)
    und_gain_row(&gain, p, a);
}
static const und_kernel gain_kernel = {"find_gained", gain_block};

/* Of a row (y, z) beside the domain, from another. */
static void copy_row(const und_mac *m, float *u, int y, int z, int from_y, int from_z)
{
    const und_span span = und_mac_span_beside(m, y, z);
    if (und_present_has(m->present, y, z))
        memcpy(u + und_mac_at(m, span.begin, y, z), u + und_mac_at(m, span.begin, from_y, from_z),
               (size_t)(span.end - span.begin) * sizeof *u);
}

/* Rows beside the domain are as those that they touch: along y, of a slice, */
static void copy_along_y(const und_mac *m, float *u, int axis, int z)
{
    if (axis == 1 || (z < 0 && axis != 2))
        return;
    copy_row(m, u, -1, z, 0, z);
    copy_row(m, u, m->n[1], z, m->n[1] - 1, z);
}

/* and then along z. */
static void copy_along_z(const und_mac *m, float *u, int axis, int y)
{
    if (axis == 2 || m->n[2] == 1)
        return;
    copy_row(m, u, y, -1, y, 0);
    copy_row(m, u, y, m->n[2], y, m->n[2] - 1);
}

/* Of some slices or rows, from -1 on; what was gained as well. */
static void copy_beside(const extension *e, und_place p, void copy(const und_mac *, float *, int, int))
{
    const und_mac_flow *s = e->s;
    for (int i = (int)p.at - 1; i < (int)p.at - 1 + p.x; i++)
        for (int a = 0; a < dimensions_of(&s->mac); a++) {
            copy(&s->mac, s->u[a], a, i);
            if (s->parts->gains)
                copy(&s->mac, s->gained[a], a, i);
        }
}
static inline void copy_slices_beside(const extension *e, und_place p)
{
    copy_beside(e, p, copy_along_y);
}
UND_KERNEL(copy_slices_beside, extension, UND_EACH_BLOCK)
static inline void copy_rows_beside(const extension *e, und_place p)
{
    copy_beside(e, p, copy_along_z);
}
UND_KERNEL(copy_rows_beside, extension, UND_EACH_BLOCK)

enum { MOST_LAYERS = 64, BEHIND = 3, BESIDE = 2, SOME_BESIDE = 4 }; /* passes, and those behind the layers */

/* What runs in one region, axis by axis: what was gained, and layers; what is behind them too, if it asks for
 * nothing of other axes.  Each slice goes through all of them while it is in the cache; but where changes go
 * on they are seen from three slices away. */
typedef struct way {
    extension of[3], layer[3][MOST_LAYERS];
    und_pass passes[3][1 + MOST_LAYERS + BEHIND], behind[BEHIND];
    und_pass beside[BESIDE];
    und_step steps[3 * (1 + MOST_LAYERS + BEHIND) + BEHIND + BESIDE];
    und_set slices;
    int count;
} way;

static void add_passes(way *w, const und_pass *passes, int count, bool chain)
{
    if (chain)
        w->count += und_pass_chain_steps(w->steps + w->count, passes, count);
    for (int i = 0; i < count && !chain; i++)
        w->steps[w->count++] = (und_step){.passes = passes + i, .count = 1};
}

static void add_axis(way *w, int axis, int layers, const und_kernel *last)
{
    const extension *own = &w->of[axis];
    const bool chain = !own->s->parts->goes_on;
    und_pass *passes = w->passes[axis];
    int count = 0;
    if (own->s->parts->gains)
        passes[count++] = (und_pass){&gain_kernel, own, &w->slices};
    for (int i = 0; i < layers; i++) {
        w->layer[axis][i] = *own;
        w->layer[axis][i].layer = i;
        passes[count++] = (und_pass){&layer_kernel, &w->layer[axis][i], &w->slices};
    }
    if (last)
        passes[count++] = (und_pass){last, own, &w->slices};
    add_passes(w, passes, count, chain);
}

/* ---- Solids and sides ---- */

/* How solids deal with liquid at faces from `at` on: how much they rub, and whether they let go. */
static void manners(const und_solids *solids, int axis, size_t at, unsigned which, und_lanes *rub,
                    und_lanes_int *let_go)
{
    for (; which; which &= which - 1) {
        int i = __builtin_ctz(which);
        size_t cell = at + (size_t)i;
        int owner = und_solids_face_owner(solids, cell, cell + (size_t)solids->mac.step[axis]);
        (*rub)[i] = solids->friction ? solids->friction[owner] : 0;
        (*let_go)[i] = und_solids_lets_go(solids, owner) ? -1 : 0;
    }
}

static und_lanes lesser_change(const float *v, ptrdiff_t step)
{
    const und_lanes here = und_lanes_load(v), none = {0};
    const und_lanes up = und_lanes_load(v + step) - here, down = here - und_lanes_load(v - step);
    const und_lanes lesser = und_lanes_select(up * up < down * down, up, down);
    return und_lanes_select(up * down > none, lesser, none);
}

/* The normal at faces that a wall shuts is the wall's, as seen from outside: next to an edge, round which
 * distances bend, that of the side which the face is on. */
static void take_wall(const und_solids *solids, int axis, size_t at, und_lanes normal[3])
{
    const ptrdiff_t *step = solids->mac.step;
    const float *low = solids->distance + at, *high = low + step[axis];
    const und_lanes here = und_lanes_load(low), there = und_lanes_load(high), none = {0};
    const und_lanes_int wall = (und_lanes_load(solids->open[axis] + at) <= none) & (here * there < none);
    if (!und_lanes_bits(wall))
        return;
    for (int c = 0; c < (solids->mac.n[2] == 1 ? 2 : 3); c++)
        if (c != axis) {
            const und_lanes outside =
                und_lanes_select(here > none, lesser_change(low, step[c]), lesser_change(high, step[c]));
            normal[c] = und_lanes_select(wall, outside, normal[c]);
        }
}

/* Faces of a row that are in a solid: what its velocity lacks along the solid's normal is added, into next;
 * changed: which those are.  Where the solid rubs, the velocity along it goes so much of the way to the
 * solid's; one that lets go does not hold back what leaves it (Rasmussen et al. 2004, 5.5.1). */
static void slip_row(und_mac_flow *s, const und_solids *solids, int axis, const und_mask *known,
                     und_mask *changed, int y, int z)
{
    const und_mac *m = &s->mac;
    const uint64_t *row = und_mask_row(known, y, z), *flows = und_mask_row(&s->flows[axis], y, z);
    uint64_t *mark = und_mask_row(changed, y, z), rest[UND_MAC_FLOW_WORDS];
    unsigned which;
    for (int w = 0; w < known->words; w++) {
        mark[w] = 0;
        rest[w] = row[w] & ~flows[w];
    }
    for (int x = -1; (x = und_mask_batch(known, rest, x, UND_LANES, &which)) <= m->n[0]; x += UND_LANES) {
        size_t at = (size_t)((ptrdiff_t)und_mac_at(m, 0, y, z) + x);
        und_lanes speed[3], solid[3], normal[3];
        const float *distance = solids->distance + at;
        und_lanes depth = und_lanes_load(distance) + und_lanes_load(distance + m->step[axis]);
        und_lanes_int in = (und_lanes_load(solids->open[axis] + at) <= 0) | (depth < 0);
        which &= und_lanes_bits(in);
        if (!which)
            continue;
        und_faces_velocity(m, s->u, axis, at, speed);
        und_faces_velocity(m, solids->u, axis, at, solid);
        und_faces_gradient(m, solids->distance, axis, at, normal);
        take_wall(solids, axis, at, normal);
        und_lanes lacks = {0}, length = {0};
        for (int c = 0; c < 3; c++) {
            lacks += (solid[c] - speed[c]) * normal[c];
            length += normal[c] * normal[c];
        }
        which &= und_lanes_bits(length > 1e-6f); /* deep inside there is no normal */
        if (solids->friction || solids->separate) {
            und_lanes rub = {0};
            und_lanes_int let_go = {0};
            manners(solids, axis, at, which, &rub, &let_go);
            und_lanes leaves = und_lanes_select(let_go & (lacks < 0), und_lanes_all(0), lacks);
            lacks = leaves - rub * lacks;
            speed[axis] += rub * (solid[axis] - speed[axis]);
        }
        und_lanes_store_some(s->next[axis] + at, speed[axis] + lacks / length * normal[axis], which);
        mark[(x + 1) >> 6] |= (uint64_t)which << ((x + 1) & 63);
        if (((x + 1) & 63) > 64 - UND_LANES && ((x + 1) >> 6) + 1 < known->words)
            mark[((x + 1) >> 6) + 1] |= (uint64_t)which >> (64 - ((x + 1) & 63));
    }
}

/* What was put into next. */
static void take_row(und_mac_flow *s, int axis, const und_mask *changed, int y, int z)
{
    const uint64_t *row = und_mask_row(changed, y, z);
    unsigned which;
    for (int x = -1; (x = und_mask_batch(changed, row, x, UND_LANES, &which)) <= s->mac.n[0];
         x += UND_LANES) {
        size_t at = (size_t)((ptrdiff_t)und_mac_at(&s->mac, 0, y, z) + x);
        und_lanes_store_some(s->u[axis] + at, und_lanes_load(s->next[axis] + at), which);
    }
}

/* A known face on the domain's border that is closed moves as a solid there does, or not at all. */
static void shut_face(und_mac_flow *s, const und_solids *solids, int axis, const und_mask *known, int x,
                      int y, int z)
{
    size_t at = und_mac_at(&s->mac, x, y, z);
    if (und_mask_has(known, x, y, z) && !(solids->open[axis][at] > 0))
        s->u[axis][at] = solids->any ? solids->u[axis][at] : 0;
}

static void shut_sides(und_mac_flow *s, const und_solids *solids, int axis, const und_mask *known, int y,
                       int z)
{
    const int *n = s->mac.n;
    const und_span span = und_mac_span(&s->mac, y, z);
    if (axis == 0)
        for (int side = 0; side < 2; side++)
            shut_face(s, solids, axis, known, side ? n[0] - 1 : -1, y, z);
    else if (axis == 1 ? y == -1 || y == n[1] - 1 : z == -1 || z == n[2] - 1)
        for (int x = span.begin; x < span.end; x++)
            shut_face(s, solids, axis, known, x, y, z);
}

/* Faces that were set before and are not now are 0; those beside the domain along x are as those inside. */
static void clear_row(und_mac_flow *s, int axis, const und_mask *known, int y, int z)
{
    const und_mac *m = &s->mac;
    const uint64_t *row = und_mask_row(known, y, z);
    uint64_t *set = und_mask_row(&s->parts->extend.set[axis], y, z), any = 0;
    float *u = s->u[axis] + und_mac_at(m, 0, y, z);
    const und_span span = und_mac_span_beside(m, y, z), words = und_mac_words(m, y, z);
    for (int w = words.begin; w < words.end; w++) {
        any |= row[w] | set[w];
        set[w] &= ~row[w];
    }
    if (!any)
        return;
    unsigned which;
    for (int x = -1; (x = und_mask_batch(known, set, x, UND_LANES, &which)) <= m->n[0]; x += UND_LANES)
        und_lanes_store_some(u + x, (und_lanes){0}, which);
    memcpy(set + words.begin, row + words.begin, (size_t)(words.end - words.begin) * sizeof *set);
    if (axis != 0 && span.begin < 0)
        u[-1] = u[0];
    if (axis != 0 && span.end > m->n[0])
        u[m->n[0]] = u[m->n[0] - 1];
}

static void slip_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(e, p, a)
    slip_row(e->s, e->solids, a, e->known[a], &e->changed[a], p.y, p.z);
}

static void take_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(e, p, a)
    take_row(e->s, a, &e->changed[a], p.y, p.z);
}

static void settle_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(e, p, a)
        {
            shut_sides(e->s, e->solids, a, e->known[a], p.y, p.z);
            clear_row(e->s, a, e->known[a], p.y, p.z);
        }
}

static const und_kernel slip_kernel = {"slip", slip_block}, take_kernel = {"take_slipped", take_block},
                        settle_kernel = {"settle_faces", settle_block};

/* Each layer is made of those beside it, or where changes go on of three; what slips along solids, of
 * velocities beside it. */
static int reach_beyond(const und_mac_flow *s, int layers)
{
    return (s->parts->goes_on ? 3 : 1) * layers + 1;
}

void und_mac_flow_extend(und_mac_flow *s, const und_solids *solids, int layers)
{
    static const und_kernel *const behind[BEHIND] = {&slip_kernel, &take_kernel, &settle_kernel};
    const int axes = dimensions_of(&s->mac);
    extension e = {.s = s, .high = axes, .solids = solids, .changed = s->parts->extend.known[layers % 2]};
    way w;
    assert(layers <= MOST_LAYERS);
    w.count = 0;
    w.slices = und_set_slices(&s->mac, UND_ROWS_FACES);
    for (int a = 0; a < axes; a++)
        e.known[a] = layers > 0 ? &s->parts->extend.known[(layers - 1) % 2][a] : &s->flows[a];
    for (int a = 0; a < axes; a++) {
        w.of[a] = e;
        w.of[a].low = a;
        w.of[a].high = a + 1;
        add_axis(&w, a, layers, solids->any ? NULL : &settle_kernel);
    }
    for (int i = 0; i < BEHIND; i++)
        w.behind[i] = (und_pass){behind[i], &e, &w.slices};
    if (solids->any)
        add_passes(&w, w.behind, BEHIND, !s->parts->goes_on);
    const int *n = s->mac.n, worth = 4 * n[0];
    const und_set deep = und_set_list(&e, n[2] + 1, SOME_BESIDE, worth),
                  high = und_set_list(&e, n[1] + 2, SOME_BESIDE, worth);
    w.beside[0] = UND_PASS(copy_slices_beside, &e, &deep);
    w.beside[1] = UND_PASS(copy_rows_beside, &e, &high);
    add_passes(&w, w.beside, BESIDE, false);
    und_mac_flow_get(
        s, UND_GET_U | UND_GET_FLOWS | (s->parts->gains ? UND_GET_GAINED | UND_GET_LATEST | UND_GET_SET : 0),
        reach_beyond(s, layers));
    und_mac_flow_take_next(s);
    und_pass_steps(&s->device, w.steps, w.count);
    und_mac_flow_give_back(s, &s->next[0]);
    s->parts->gains = false;
}
