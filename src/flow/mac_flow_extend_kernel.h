/* The velocity beyond the liquid, layer by layer, and in solids. */
#ifndef UND_FLOW_MAC_FLOW_EXTEND_KERNEL_H
#define UND_FLOW_MAC_FLOW_EXTEND_KERNEL_H

#include "flow/mac_flow_gain_kernel.h"
#include "flow/mac_flow_kernel.h"

enum {
    UND_EXTEND_FIELDS = 2,                     /* that are known at the same faces, at most: u, and what
                                                  it gained */
    UND_EXTEND_ROWS = 16,                      /* whose words are looked at in one go, */
    UND_EXTEND_WORDS = UND_LANES > 1 ? 512 : 1 /* at most */
};

/* ---- Layers ---- */

/* A layer across one axis: it is added to what is known. */
typedef struct und_extend_layer_args {
    und_mac mac;
    int axis, fields;
    int goes_on; /* as it changes where it is known */
    float *field[UND_EXTEND_FIELDS];
    und_mask known, out;    /* and what is known then */
    const uint64_t *inside; /* of a slice: the faces in the domain and on its border */
    const uint64_t *none;   /* a slice of nothing */
} und_extend_layer_args;

/* A word of a row of faces, and of those beside it. */
typedef struct und_extend_word {
    int face[3]; /* of bit 0 */
    size_t at;
    uint64_t ring; /* those beside known ones */
    uint64_t beside[6];
} und_extend_word;

static inline bool und_extend_is_known(const und_mask *m, const int face[3], int along, int steps)
{
    int at[3] = {face[0], face[1], face[2]};
    at[along] += steps;
    return at[along] >= -1 && at[along] <= m->n[along] && und_mask_has(m, at[0], at[1], at[2]);
}

/* By how much a field changes in a step outwards from the face beside this one: the lesser of the last two
 * changes, none where they disagree or are not known. */
static inline float und_extend_slope(const und_extend_layer_args *l, const float *u, const int face[3],
                                     int side, ptrdiff_t step)
{
    const int steps = side % 2 ? 1 : -1;
    if (!und_extend_is_known(&l->known, face, side / 2, 2 * steps) ||
        !und_extend_is_known(&l->known, face, side / 2, 3 * steps))
        return 0;
    const float last = u[step] - u[2 * step], before = u[2 * step] - u[3 * step];
    return !(last * before > 0) ? 0 : last * last < before * before ? last : before;
}

/* Faces of a word beside known ones become the mean of those, or of what they lead to.  Few are next to each
 * other along a row, and most have one or two such neighbours: so it is one by one. */
UND_INLINE void und_extend_fill(const und_extend_layer_args *l, const und_extend_word *w, int fields,
                                bool goes_on)
{
    const ptrdiff_t *step = l->mac.step;
    const ptrdiff_t to[6] = {-step[0], step[0], -step[1], step[1], -step[2], step[2]};
    for (uint64_t ring = w->ring; ring; ring &= ring - 1) {
        const int bit = __builtin_ctzll(ring);
        const int own[3] = {w->face[0] + bit, w->face[1], w->face[2]};
        float sum[UND_EXTEND_FIELDS] = {0};
        unsigned sides = 0;
        for (int i = 0; i < 6; i++)
            sides |= (unsigned)(w->beside[i] >> bit & 1) << i;
        const float count = (float)__builtin_popcount(sides);
        for (; sides; sides &= sides - 1) {
            const int side = __builtin_ctz(sides);
            for (int f = 0; f < fields; f++) {
                const float *u = l->field[f] + w->at + bit;
                sum[f] += u[to[side]] + (goes_on ? und_extend_slope(l, u, own, side, to[side]) : 0);
            }
        }
        for (int f = 0; f < fields; f++)
            l->field[f][w->at + (size_t)bit] = sum[f] / count;
    }
}

static inline void und_extend_fill_word(const und_extend_layer_args *l, const und_extend_word *w)
{
    if (l->goes_on)
        und_extend_fill(l, w, l->fields, true);
    else if (l->fields > 1)
        und_extend_fill(l, w, UND_EXTEND_FIELDS, false);
    else
        und_extend_fill(l, w, 1, false);
}

/* Words from one on of rows from y on, `count` of them: the faces beside known ones, which are known then. */
static inline void und_extend_add(const und_extend_layer_args *l, int y, int z, int first, int count)
{
    const int words = l->known.words;
    const ptrdiff_t slice = (ptrdiff_t)(l->known.n[1] + 2) * words;
    const uint64_t *k = und_mask_row(&l->known, y, z) + first, *above = k + slice;
    const uint64_t *below = z < 0 ? l->none + first : k - slice,
                   *inside = l->inside + (y + 1) * words + first;
    uint64_t *all = und_mask_row(&l->out, y, z) + first, ring[UND_EXTEND_WORDS];
    for (int i = 0; i < count; i++) {
        ring[i] = (k[i] << 1 | k[i] >> 1 | k[i - 1] >> 63 | k[i + 1] << 63 | k[i - words] | k[i + words] |
                   below[i] | above[i]) &
                  ~k[i] & inside[i];
        all[i] = k[i] | ring[i];
    }
    for (int i = 0; i < count; i++)
        if (ring[i]) {
            const int x = 64 * ((first + i) % words) - 1, row = y + (first + i) / words;
            const und_extend_word w = {.face = {x, row, z},
                                       .at = (size_t)((ptrdiff_t)und_mac_at(&l->mac, 0, row, z) + x),
                                       .ring = ring[i],
                                       .beside = {k[i] << 1 | k[i - 1] >> 63, k[i] >> 1 | k[i + 1] << 63,
                                                  k[i - words], k[i + words], below[i], above[i]}};
            und_extend_fill_word(l, &w);
        }
}

/* Rows of a slice that follow each other, p.x of them, whose layers before are still in the cache. */
static inline void und_extend_layer(const und_extend_layer_args *l, und_place p)
{
    const int y = l->axis != 1 && p.y < 0 ? 0 : p.y, words = l->known.words;
    const int count = (p.y + p.x - y) * words, rows = UND_EXTEND_ROWS * words,
              most = rows < UND_EXTEND_WORDS ? rows : UND_EXTEND_WORDS;
    if (p.z < 0 && l->axis != 2)
        return;
    for (int first = 0; first < count; first += most)
        und_extend_add(l, y, p.z, first, count - first < most ? count - first : most);
}

/* For each such rows of a block of a slice: from p.y on p.x of them. */
#define UND_EXTEND_EACH(set, block, p)                                                       \
    for (und_place p = und_set_row(set, (block) * (set)->per_block),                         \
                   end_ = {.y = p.y + und_set_end(set, block) - (block) * (set)->per_block}; \
         und_extend_next(set, end_.y, &p); p.y += p.x)
static inline bool und_extend_next(const und_set *s, int end, und_place *p)
{
    const und_present *present = s->mac->present;
    p->x = end - p->y;
    if (present) {
        p->y = und_present_next(present, p->y, end, p->z);
        for (p->x = 0; p->y + p->x < end && und_present_has(present, p->y + p->x, p->z);)
            p->x++;
    }
    return p->x > 0;
}
#define UND_EXTEND_EACH_PLACES UND_PLACES_ROW
#define UND_THREAD_OF_UND_EXTEND_EACH(call, s, thread, p) \
    for (bool there_ = und_thread_row(call, s, thread, p) && ((p)->x = 1, true); there_; there_ = false)
UND_KERNEL(und_extend_layer, und_extend_layer_args, UND_EXTEND_EACH)

/* Whether a row has faces across an axis. */
UND_INLINE bool und_extend_has(und_place p, int axis)
{
    return (p.y >= 0 || axis == 1) && (p.z >= 0 || axis == 2);
}

/* What was gained in the step: what is extended then is in the cache already. */
typedef struct und_extend_gain_args {
    und_gain_args gain;
    int axis;
} und_extend_gain_args;

static inline void und_extend_gain(const und_extend_gain_args *e, und_place p)
{
    if (und_extend_has(p, e->axis))
        und_gain_row(&e->gain, p, e->axis);
}
UND_KERNEL(und_extend_gain, und_extend_gain_args, UND_EACH_ROW)

/* ---- Beside the domain ---- */

typedef struct und_extend_beside_args {
    und_mac mac;
    int fields;
    int wide; /* places of each slice or row: its cells along x, or 1 */
    float *field[UND_EXTEND_FIELDS][3];
} und_extend_beside_args;

/* Of a row (y, z) beside the domain, from another; or of its cell x alone, where that is not UND_EXTEND_ALL.
 */
#define UND_EXTEND_ALL (-2)
static inline void und_extend_copy_row(const und_mac *m, float *u, int x, int y, int z, int from_y,
                                       int from_z)
{
    const und_span span = und_mac_span_beside(m, y, z);
    if (!und_present_has(m->present, y, z))
        return;
    if (x == UND_EXTEND_ALL)
        __builtin_memcpy(u + und_mac_at(m, span.begin, y, z), u + und_mac_at(m, span.begin, from_y, from_z),
                         (size_t)(span.end - span.begin) * sizeof *u);
    else if (x >= span.begin && x < span.end)
        u[und_mac_at(m, x, y, z)] = u[und_mac_at(m, x, from_y, from_z)];
}

/* Rows beside the domain are as those that they touch: along y, of a slice, */
static inline void und_extend_copy_along_y(const und_mac *m, float *u, int axis, int x, int z)
{
    if (axis == 1 || (z < 0 && axis != 2))
        return;
    und_extend_copy_row(m, u, x, -1, z, 0, z);
    und_extend_copy_row(m, u, x, m->n[1], z, m->n[1] - 1, z);
}

/* and then along z. */
static inline void und_extend_copy_along_z(const und_mac *m, float *u, int axis, int x, int y)
{
    if (axis == 2 || m->n[2] == 1)
        return;
    und_extend_copy_row(m, u, x, y, -1, y, 0);
    und_extend_copy_row(m, u, x, y, m->n[2], y, m->n[2] - 1);
}

/* Of some slices or rows, from -1 on, or of some of their cells; what was gained as well. */
UND_INLINE void und_extend_copy(const und_extend_beside_args *e, und_place p, bool along_z)
{
    for (int item = (int)p.at; item < (int)p.at + p.x; item++) {
        const int i = item / e->wide - 1, x = e->wide > 1 ? item % e->wide - 1 : UND_EXTEND_ALL;
        for (int a = 0; a < (e->mac.n[2] == 1 ? 2 : 3); a++)
            for (int f = 0; f < e->fields; f++)
                if (along_z)
                    und_extend_copy_along_z(&e->mac, e->field[f][a], a, x, i);
                else
                    und_extend_copy_along_y(&e->mac, e->field[f][a], a, x, i);
    }
}
static inline void und_extend_slices_beside(const und_extend_beside_args *e, und_place p)
{
    und_extend_copy(e, p, false);
}
UND_KERNEL(und_extend_slices_beside, und_extend_beside_args, UND_EACH_SOME)
static inline void und_extend_rows_beside(const und_extend_beside_args *e, und_place p)
{
    und_extend_copy(e, p, true);
}
UND_KERNEL(und_extend_rows_beside, und_extend_beside_args, UND_EACH_SOME)

/* ---- Solids and sides ---- */

typedef struct und_extend_solid_args {
    und_mac mac;
    int low, high; /* axes from one to below the other */
    und_mask known[3], flows[3], set[3];
    und_mask changed[3];
    float *u[3], *next[3];
    bool any; /* solids; then: */
    const float *open[3], *distance;
    float *solid_u[3];
    const float *friction;           /* of each, NULL: all slip */
    const uint8_t *owner, *separate; /* NULL: none lets go */
    int never;                       /* of what separate[] says */
} und_extend_solid_args;

/* How solids deal with liquid at faces from `at` on: how much they rub, and whether they let go. */
static inline void und_extend_manners(const und_extend_solid_args *e, int axis, size_t at, unsigned which,
                                      und_lanes *rub, und_lanes_int *let_go)
{
    for (; which; which &= which - 1) {
        const int i = __builtin_ctz(which);
        const size_t cell = at + (size_t)i, next = cell + (size_t)e->mac.step[axis];
        const int owner = e->owner[e->distance[next] < e->distance[cell] ? next : cell];
        (*rub)[i] = e->friction ? e->friction[owner] : 0;
        (*let_go)[i] = e->separate && e->separate[owner] != e->never ? -1 : 0;
    }
}

UND_INLINE und_lanes und_extend_lesser_change(const float *v, ptrdiff_t step)
{
    const und_lanes here = und_lanes_load(v), none = {0};
    const und_lanes up = und_lanes_load(v + step) - here, down = here - und_lanes_load(v - step);
    const und_lanes lesser = und_lanes_select(up * up < down * down, up, down);
    return und_lanes_select(up * down > none, lesser, none);
}

/* The normal at faces that a wall shuts is the wall's, as seen from outside: next to an edge, round which
 * distances bend, that of the side which the face is on. */
static inline void und_extend_take_wall(const und_extend_solid_args *e, int axis, size_t at,
                                        und_lanes normal[3])
{
    const ptrdiff_t *step = e->mac.step;
    const float *low = e->distance + at, *high = low + step[axis];
    const und_lanes here = und_lanes_load(low), there = und_lanes_load(high), none = {0};
    const und_lanes_int wall = (und_lanes_load(e->open[axis] + at) <= none) & (here * there < none);
    if (!und_lanes_bits(wall))
        return;
    for (int c = 0; c < (e->mac.n[2] == 1 ? 2 : 3); c++)
        if (c != axis) {
            const und_lanes outside = und_lanes_select(here > none, und_extend_lesser_change(low, step[c]),
                                                       und_extend_lesser_change(high, step[c]));
            normal[c] = und_lanes_select(wall, outside, normal[c]);
        }
}

/* Of faces from `at` on such as are in a solid: what their velocity lacks along the solid's normal is added,
 * into next; which those are.  Where the solid rubs, the velocity along it goes so much of the way to the
 * solid's; one that lets go does not hold back what leaves it (Rasmussen et al. 2004, 5.5.1). */
UND_INLINE unsigned und_extend_slip_some(const und_extend_solid_args *e, int axis, size_t at, unsigned which)
{
    const und_mac *m = &e->mac;
    und_lanes speed[3], solid[3], normal[3];
    const float *distance = e->distance + at;
    und_lanes depth = und_lanes_load(distance) + und_lanes_load(distance + m->step[axis]);
    und_lanes_int in = (und_lanes_load(e->open[axis] + at) <= 0) | (depth < 0);
    which &= und_lanes_bits(in);
    if (!which)
        return 0;
    und_faces_velocity(m, e->u, axis, at, speed);
    und_faces_velocity(m, e->solid_u, axis, at, solid);
    und_faces_gradient(m, e->distance, axis, at, normal);
    und_extend_take_wall(e, axis, at, normal);
    und_lanes lacks = {0}, length = {0};
    for (int c = 0; c < 3; c++) {
        lacks += (solid[c] - speed[c]) * normal[c];
        length += normal[c] * normal[c];
    }
    which &= und_lanes_bits(length > 1e-6f); /* deep inside there is no normal */
    if (e->friction || e->separate) {
        und_lanes rub = {0};
        und_lanes_int let_go = {0};
        und_extend_manners(e, axis, at, which, &rub, &let_go);
        und_lanes leaves = und_lanes_select(let_go & (lacks < 0), und_lanes_all(0), lacks);
        lacks = leaves - rub * lacks;
        speed[axis] += rub * (solid[axis] - speed[axis]);
    }
    und_lanes_store_some(e->next[axis] + at, speed[axis] + lacks / length * normal[axis], which);
    return which;
}

/* Faces of a row that are in a solid; changed: which those are, after all that may be have been asked. */
static inline void und_extend_slip_row(const und_extend_solid_args *e, und_place p, int axis)
{
    const und_mask *known = &e->known[axis], *changed = &e->changed[axis];
    const uint64_t *row = und_mask_row(known, p.y, p.z), *flows = und_mask_row(&e->flows[axis], p.y, p.z);
    uint64_t *mark = und_mask_row(changed, p.y, p.z);
    unsigned which;
    for (int w = 0; w < known->words; w++)
        mark[w] = row[w] & ~flows[w];
    for (int x = -1; (x = und_mask_batch(known, mark, x, UND_LANES, &which)) <= e->mac.n[0]; x += UND_LANES) {
        const uint64_t none = which & ~und_extend_slip_some(e, axis, (size_t)((ptrdiff_t)p.at + x), which);
        const int w = (x + 1) >> 6, shift = (x + 1) & 63;
        mark[w] &= ~(none << shift);
        if (shift > 64 - UND_LANES && w + 1 < known->words)
            mark[w + 1] &= ~(none >> (64 - shift));
    }
}
static inline void und_extend_slip(const und_extend_solid_args *e, und_place p)
{
    for (int a = e->low; a < e->high; a++)
        if (und_extend_has(p, a))
            und_extend_slip_row(e, p, a);
}
UND_KERNEL(und_extend_slip, und_extend_solid_args, UND_EACH_ROW)

/* What was put into next. */
static inline void und_extend_take_row(const und_extend_solid_args *e, und_place p, int axis)
{
    const und_mask *changed = &e->changed[axis];
    const uint64_t *row = und_mask_row(changed, p.y, p.z);
    unsigned which;
    for (int x = -1; (x = und_mask_batch(changed, row, x, UND_LANES, &which)) <= e->mac.n[0];
         x += UND_LANES) {
        const size_t at = (size_t)((ptrdiff_t)p.at + x);
        und_lanes_store_some(e->u[axis] + at, und_lanes_load(e->next[axis] + at), which);
    }
}
static inline void und_extend_take(const und_extend_solid_args *e, und_place p)
{
    for (int a = e->low; a < e->high; a++)
        if (und_extend_has(p, a))
            und_extend_take_row(e, p, a);
}
UND_KERNEL(und_extend_take, und_extend_solid_args, UND_EACH_ROW)

/* A known face on the domain's border that is closed moves as a solid there does, or not at all. */
static inline void und_extend_shut_face(const und_extend_solid_args *e, int axis, int x, int y, int z)
{
    const size_t at = und_mac_at(&e->mac, x, y, z);
    if (und_mask_has(&e->known[axis], x, y, z) && !(e->open[axis][at] > 0))
        e->u[axis][at] = e->any ? e->solid_u[axis][at] : 0;
}

static inline void und_extend_shut_sides(const und_extend_solid_args *e, int axis, int y, int z)
{
    const int *n = e->mac.n;
    const und_span span = und_mac_span(&e->mac, y, z);
    if (axis == 0)
        for (int side = 0; side < 2; side++)
            und_extend_shut_face(e, axis, side ? n[0] - 1 : -1, y, z);
    else if (axis == 1 ? y == -1 || y == n[1] - 1 : z == -1 || z == n[2] - 1)
        for (int x = span.begin; x < span.end; x++)
            und_extend_shut_face(e, axis, x, y, z);
}

/* Faces that were set before and are not now are 0; those beside the domain along x are as those inside. */
static inline void und_extend_clear_row(const und_extend_solid_args *e, und_place p, int axis)
{
    const und_mac *m = &e->mac;
    const und_mask *known = &e->known[axis];
    const uint64_t *row = und_mask_row(known, p.y, p.z);
    uint64_t *set = und_mask_row(&e->set[axis], p.y, p.z), any = 0;
    float *u = e->u[axis] + p.at;
    const und_span span = und_mac_span_beside(m, p.y, p.z), words = und_mac_words(m, p.y, p.z);
    for (int w = words.begin; w < words.end; w++) {
        any |= row[w] | set[w];
        set[w] &= ~row[w];
    }
    if (!any)
        return;
    unsigned which;
    for (int x = -1; (x = und_mask_batch(known, set, x, UND_LANES, &which)) <= m->n[0]; x += UND_LANES)
        und_lanes_store_some(u + x, (und_lanes){0}, which);
    __builtin_memcpy(set + words.begin, row + words.begin, (size_t)(words.end - words.begin) * sizeof *set);
    if (axis != 0 && span.begin < 0)
        u[-1] = u[0];
    if (axis != 0 && span.end > m->n[0])
        u[m->n[0]] = u[m->n[0] - 1];
}
static inline void und_extend_settle(const und_extend_solid_args *e, und_place p)
{
    for (int a = e->low; a < e->high; a++)
        if (und_extend_has(p, a)) {
            und_extend_shut_sides(e, a, p.y, p.z);
            und_extend_clear_row(e, p, a);
        }
}
UND_KERNEL(und_extend_settle, und_extend_solid_args, UND_EACH_ROW)

#endif
