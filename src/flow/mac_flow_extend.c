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
                if (und_present_has(s->mac.present, y, z))
                    memcpy(und_mask_row(&e->set[a], y, z), e->inside[a] + (y + 1) * e->set[a].words,
                           (size_t)e->set[a].words * sizeof *e->inside[a]);
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

enum {
    LATER = 64, /* batches that wait to be written */
    FIELDS = 2  /* that are known at the same faces, at most: u, and what it gained */
};

/* A row that layers are added to. */
typedef struct ring_row {
    const und_mac_flow *s;
    float *field[FIELDS];
    int fields;
    const und_mask *known;
    const uint64_t *bits, *below, *above; /* of what is known: its own, and those of the slices beside */
    int y, z;
} ring_row;

/* Which faces of a batch from x on are known, `steps` along an axis from there. */
static unsigned known_at(const ring_row *r, int x, int along, int steps)
{
    const und_mask *m = r->known;
    int y = r->y + (along == 1 ? steps : 0), z = r->z + (along == 2 ? steps : 0);
    x += along == 0 ? steps : 0;
    if (y < -1 || y > m->n[1] || z < -1 || z > m->n[2])
        return 0;
    const uint64_t *bits = und_mask_row(m, y, z);
    return x >= -1 ? und_mask_sixteen(m, bits, x) : und_mask_sixteen(m, bits, -1) << (-1 - x);
}

/* By how much the field changes in a step outwards from the faces at `steps` (1 or -1) along an axis: the
 * lesser of the last two changes, none where they disagree or are not known. */
static und_lanes slope(const ring_row *r, const float *field, int x, size_t at, int along, int steps,
                       unsigned which)
{
    const ptrdiff_t step = steps * r->s->mac.step[along];
    const und_lanes none = {0};
    which &= known_at(r, x, along, 2 * steps) & known_at(r, x, along, 3 * steps);
    if (!which)
        return none;
    const float *u = field + at;
    und_lanes two = und_lanes_load(u + 2 * step), last = und_lanes_load(u + step) - two;
    und_lanes before = two - und_lanes_load(u + 3 * step);
    und_lanes lesser = und_lanes_select(last * last < before * before, last, before);
    return und_lanes_select(und_lanes_where(which) & (last * before > none), lesser, none);
}

/* What is found is written later: to read what is next to a part of it would wait until that is written. */
typedef struct later {
    int count;
    size_t at[LATER];
    unsigned which[LATER];
    und_lanes value[FIELDS][LATER];
} later;

static void write_later(later *l, const ring_row *r)
{
    for (int f = 0; f < r->fields; f++)
        for (int i = 0; i < l->count; i++)
            und_lanes_store_some(r->field[f] + l->at[i], l->value[f][i], l->which[i]);
    l->count = 0;
}

/* Faces from x on beside known ones become the mean of those, or of what they lead to. */
static void fill_batch(const ring_row *r, int x, size_t at, unsigned which, later *l)
{
    const int words = r->known->words, bit = x + 1;
    const uint64_t *known = r->bits;
    const uint64_t beside[6] = {
        bit > 0 ? und_mask_bits(known, bit - 1) : known[0] << 1,
        und_mask_bits(known, bit + 1),
        und_mask_bits(known - words, bit),
        und_mask_bits(known + words, bit),
        und_mask_bits(r->below, bit),
        und_mask_bits(r->above, bit),
    };
    und_lanes sum[FIELDS] = {0};
    und_lanes_int count = {0};
    for (int i = 0; i < 6; i++) {
        unsigned bits = (unsigned)beside[i] & which;
        if (bits) {
            const int along = i / 2, steps = i % 2 ? 1 : -1;
            und_lanes_int there = und_lanes_where(bits);
            for (int f = 0; f < r->fields; f++) {
                und_lanes value = und_lanes_load(r->field[f] + at + steps * r->s->mac.step[along]);
                if (r->s->parts->goes_on)
                    value += slope(r, r->field[f], x, at, along, steps, bits);
                sum[f] += (und_lanes)(there & (und_lanes_int)value);
            }
            count -= there;
        }
    }
    if (l->count == LATER)
        write_later(l, r);
    l->at[l->count] = at;
    l->which[l->count] = which;
    for (int f = 0; f < r->fields; f++)
        l->value[f][l->count] = sum[f] / __builtin_convertvector(count, und_lanes);
    l->count++;
}

/* Rows y to end - 1 of slice z: the faces beside known ones, which are known then. */
static void add_layer(const und_mac_flow *s, int axis, const und_mask *known, und_mask *out, int z, int y,
                      int end)
{
    const und_mac_flow_extend_parts *e = &s->parts->extend;
    const int words = known->words, count = (end - y) * words;
    const ptrdiff_t slice = (ptrdiff_t)slice_words(known);
    const uint64_t *k = und_mask_row(known, y, z), *above = k + slice;
    const uint64_t *below = z < 0 ? e->none : k - slice, *inside = e->inside[axis] + (y + 1) * words;
    uint64_t *all = und_mask_row(out, y, z), ring[UND_MAC_FLOW_WORDS];
    for (int i = 0; i < count; i++) {
        ring[i] = (k[i] << 1 | k[i] >> 1 | k[i - 1] >> 63 | k[i + 1] << 63 | k[i - words] | k[i + words] |
                   below[i] | above[i]) &
                  ~k[i] & inside[i];
        all[i] = k[i] | ring[i];
    }
    later l;
    l.count = 0;
    ring_row r = {.s = s,
                  .field = {s->u[axis], s->gained[axis]},
                  .fields = s->parts->gains ? FIELDS : 1,
                  .known = known,
                  .z = z};
    for (int i = 0; i < end - y; i++) {
        const int first = i * words;
        r.bits = k + first;
        r.below = below + first;
        r.above = above + first;
        r.y = y + i;
        const size_t cell = und_mac_at(&s->mac, 0, y + i, z);
        unsigned which;
        for (int x = -1; (x = und_mask_batch(known, ring + first, x, UND_LANES, &which)) <= s->mac.n[0];
             x += UND_LANES)
            fill_batch(&r, x, (size_t)((ptrdiff_t)cell + x), which, &l);
    }
    write_later(&l, &r);
}

typedef struct extension {
    und_mac_flow *s;
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
    for (int a = 0; a < dimensions_of(&s->mac); a++) {
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

/* For each axis that has faces in a row. */
#define EACH_AXIS(m, p, a)                     \
    for (int a = 0; a < dimensions_of(m); a++) \
        if (((p).y >= 0 || a == 1) && ((p).z >= 0 || a == 2))

/* What was gained in the step: what is extended then is in the cache already. */
static void gain_block(const void *args, const und_set *set, int block)
{
    const und_mac_flow *s = ((const extension *)args)->s;
    const und_gain_args gain = s->parts->gain;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(&s->mac, p, a)
    und_gain_row(&gain, p, a);
}
static const und_kernel gain_kernel = {"find_gained", gain_block};

/* Rows beside the domain are as those that they touch: along y, of a slice, */
static void copy_along_y(const und_mac *m, float *u, int axis, int z)
{
    const size_t wide = (size_t)m->n[0] + 2;
    if (axis == 1 || (z < 0 && axis != 2) ||
        (!und_present_has(m->present, -1, z) && !und_present_has(m->present, m->n[1], z)))
        return;
    memcpy(u + und_mac_at(m, -1, -1, z), u + und_mac_at(m, -1, 0, z), wide * sizeof *u);
    memcpy(u + und_mac_at(m, -1, m->n[1], z), u + und_mac_at(m, -1, m->n[1] - 1, z), wide * sizeof *u);
}

/* and then along z. */
static void copy_along_z(const und_mac *m, float *u, int axis, int y)
{
    const size_t wide = (size_t)m->n[0] + 2;
    if (axis == 2 || m->n[2] == 1 ||
        (!und_present_has(m->present, y, -1) && !und_present_has(m->present, y, m->n[2])))
        return;
    memcpy(u + und_mac_at(m, -1, y, -1), u + und_mac_at(m, -1, y, 0), wide * sizeof *u);
    memcpy(u + und_mac_at(m, -1, y, m->n[2]), u + und_mac_at(m, -1, y, m->n[2] - 1), wide * sizeof *u);
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

enum { MOST_LAYERS = 64, BEHIND = 4, SOME_BESIDE = 4 }; /* passes, and those behind the layers */

/* What runs in one region: what was gained, layers, and passes behind them.  Each slice goes through all of
 * them while it is in the cache; but where changes go on they are seen from three slices away. */
static void run_layers(extension *own, int layers, const und_kernel *const *behind, int count)
{
    und_mac_flow *s = own->s;
    extension e[MOST_LAYERS];
    und_pass passes[1 + MOST_LAYERS + BEHIND];
    und_step steps[1 + MOST_LAYERS + BEHIND + 2];
    const int *n = s->mac.n, worth = 4 * n[0];
    const und_set deep = und_set_list(own, n[2] + 1, SOME_BESIDE, worth),
                  high = und_set_list(own, n[1] + 2, SOME_BESIDE, worth);
    const und_pass beside[2] = {UND_PASS(copy_slices_beside, own, &deep),
                                UND_PASS(copy_rows_beside, own, &high)};
    int all = 0;
    const und_set slices = und_set_slices(&s->mac, UND_ROWS_FACES);
    assert(layers <= MOST_LAYERS && count <= BEHIND);
    if (s->parts->gains)
        passes[all++] = (und_pass){&gain_kernel, own, &slices};
    for (int i = 0; i < layers; i++) {
        e[i] = *own;
        e[i].layer = i;
        passes[all++] = (und_pass){&layer_kernel, &e[i], &slices};
    }
    for (int a = 0; a < 3; a++)
        own->known[a] = layers > 0 ? &s->parts->extend.known[(layers - 1) % 2][a] : &s->flows[a];
    for (int i = 0; i < count; i++)
        passes[all++] = (und_pass){behind[i], own, &slices};
    int count_steps = s->parts->goes_on ? 0 : und_pass_chain_steps(steps, passes, all);
    for (int i = 0; i < all && s->parts->goes_on; i++)
        steps[count_steps++] = (und_step){.passes = &passes[i], .count = 1};
    for (int i = 0; i < 2; i++)
        steps[count_steps++] = (und_step){.passes = &beside[i], .count = 1};
    und_pass_steps(&s->device, steps, count_steps);
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
    if (axis == 0)
        for (int side = 0; side < 2; side++)
            shut_face(s, solids, axis, known, side ? n[0] - 1 : -1, y, z);
    else if (axis == 1 ? y == -1 || y == n[1] - 1 : z == -1 || z == n[2] - 1)
        for (int x = 0; x < n[0]; x++)
            shut_face(s, solids, axis, known, x, y, z);
}

/* Faces that were set before and are not now are 0; those beside the domain along x are as those inside. */
static void clear_row(und_mac_flow *s, int axis, const und_mask *known, int y, int z)
{
    const und_mac *m = &s->mac;
    const uint64_t *row = und_mask_row(known, y, z);
    uint64_t *set = und_mask_row(&s->parts->extend.set[axis], y, z), any = 0;
    float *u = s->u[axis] + und_mac_at(m, 0, y, z);
    for (int w = 0; w < known->words; w++) {
        any |= row[w] | set[w];
        set[w] &= ~row[w];
    }
    if (!any)
        return;
    unsigned which;
    for (int x = -1; (x = und_mask_batch(known, set, x, UND_LANES, &which)) <= m->n[0]; x += UND_LANES)
        und_lanes_store_some(u + x, (und_lanes){0}, which);
    memcpy(set, row, (size_t)known->words * sizeof *set);
    if (axis != 0) {
        u[-1] = u[0];
        u[m->n[0]] = u[m->n[0] - 1];
    }
}

static void slip_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(&e->s->mac, p, a)
    slip_row(e->s, e->solids, a, e->known[a], &e->changed[a], p.y, p.z);
}

static void take_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(&e->s->mac, p, a)
    take_row(e->s, a, &e->changed[a], p.y, p.z);
}

static void settle_block(const void *args, const und_set *set, int block)
{
    const extension *e = args;
    UND_EACH_ROW (set, block, p)
        EACH_AXIS(&e->s->mac, p, a)
        {
            shut_sides(e->s, e->solids, a, e->known[a], p.y, p.z);
            clear_row(e->s, a, e->known[a], p.y, p.z);
        }
}

static const und_kernel slip_kernel = {"slip", slip_block}, take_kernel = {"take_slipped", take_block},
                        settle_kernel = {"settle_faces", settle_block};

void und_mac_flow_extend(und_mac_flow *s, const und_solids *solids, int layers)
{
    static const und_kernel *const behind[] = {&slip_kernel, &take_kernel, &settle_kernel};
    extension e = {.s = s, .solids = solids, .changed = s->parts->extend.known[layers % 2]};
    und_mac_flow_take_next(s);
    run_layers(&e, layers, solids->any ? behind : behind + 2, solids->any ? 3 : 1);
    und_mac_flow_give_back(s, &s->next[0]);
    s->parts->gains = false;
}
