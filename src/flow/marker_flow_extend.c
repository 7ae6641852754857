/* Velocities around the liquid, as far as markers and differences see: two layers of faces, each the mean of
 * the faces known beside it. */
#include "flow/marker_flow_extend_kernel.h"

#include <string.h>

enum { REACH = 3 }; /* cells */

/* Each row's reach becomes that of the rows up to REACH away along y or z.  Row by row from the one end, then
 * from the other, with the last REACH rows' own reaches at hand. */
static void spread(int32_t *low, int32_t *high, int count, int step)
{
    int32_t own_low[2 * REACH + 1], own_high[2 * REACH + 1]; /* of rows i - REACH to i + REACH */
    for (int k = -REACH; k <= REACH; k++) {
        bool inside = k >= 0 && k < count;
        own_low[k + REACH] = inside ? low[k * step] : 0;
        own_high[k + REACH] = inside ? high[k * step] : 0;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k <= 2 * REACH; k++)
            und_marker_stretch(&low[i * step], &high[i * step], own_low[k], own_high[k]);
        memmove(own_low, own_low + 1, sizeof own_low - sizeof *own_low);
        memmove(own_high, own_high + 1, sizeof own_high - sizeof *own_high);
        bool inside = i + REACH + 1 < count;
        own_low[2 * REACH] = inside ? low[(i + REACH + 1) * step] : 0;
        own_high[2 * REACH] = inside ? high[(i + REACH + 1) * step] : 0;
    }
}

/* The cell in front of a wall. */
static size_t cell_before(const und_marker_flow *f, const und_wall_face *w)
{
    return w->high ? w->at : w->at + (size_t)f->mac.step[w->axis];
}

/* The cells around liquid and around inflows. */
static void find_reach(und_marker_flow *f)
{
    und_marker_flow_parts *s = f->parts;
    const und_mac *m = &f->mac;
    memcpy(s->reach_low, f->row_low, sizeof *f->row_low * (size_t)und_mac_rows(m));
    memcpy(s->reach_high, f->row_high, sizeof *f->row_high * (size_t)und_mac_rows(m));
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        int c[3];
        und_marker_flow_place(m, cell_before(f, w), c);
        int row = c[1] + m->n[1] * c[2];
        if (w->kind == UND_WALL_INFLOW)
            und_marker_stretch(&s->reach_low[row], &s->reach_high[row], c[0], c[0] + 1);
    }
    for (int z = 0; z < m->n[2]; z++)
        spread(s->reach_low + z * m->n[1], s->reach_high + z * m->n[1], m->n[1], 1);
    for (int y = 0; y < m->n[1]; y++)
        spread(s->reach_low + y, s->reach_high + y, m->n[2], m->n[1]);
    for (int row = 0; row < und_mac_rows(m); row++)
        if (s->reach_low[row] < s->reach_high[row]) {
            s->reach_low[row] = und_marker_later(s->reach_low[row] - REACH, 0);
            s->reach_high[row] = und_marker_sooner(s->reach_high[row] + REACH, m->n[0]);
        }
}

/* What comes into empty cells has all of the inflow's velocity, not only that across the wall. */
static void tell_inflow(und_marker_flow *f, const und_wall_face *w)
{
    und_marker_flow_parts *s = f->parts;
    size_t cell = cell_before(f, w);
    s->known[w->at] |= (uint8_t)(1 << w->axis);
    if (!(w->high ? w->value < 0 : w->value > 0))
        return;
    for (int side = 0; side < 2 * und_marker_flow_axes(f); side++) {
        int a = side / 2;
        size_t at = side % 2 ? cell : cell - (size_t)f->mac.step[a];
        if (a == w->axis || !(s->known[at] >> (UND_MARKER_AIR + a) & 1))
            continue;
        f->u[a][at] = und_marker_flow_inflow(f, w, a, at);
        s->known[at] = (uint8_t)((s->known[at] & ~(1 << (UND_MARKER_AIR + a))) | 1 << a);
    }
}

void und_marker_flow_extend(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    const und_set all = und_marker_flow_byte_rows(f), liquid = und_marker_flow_liquid_rows(f);
    const und_marker_extend_args args = {.mac = f->mac,
                                         .axes = und_marker_flow_axes(f),
                                         .u = {f->u[0], f->u[1], f->u[2]},
                                         .next = {f->next[0], f->next[1], f->next[2]},
                                         .label = f->label,
                                         .known = s->known,
                                         .told = s->told,
                                         .air = s->air,
                                         .low = s->near_low,
                                         .high = s->near_high,
                                         .reach_low = s->reach_low,
                                         .reach_high = s->reach_high};
    find_reach(f);
    und_pass(&f->device, und_marker_sort_faces, &args, &all);
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        if (w->kind == UND_WALL_INFLOW)
            tell_inflow(f, w);
    }
    const und_pass layers[] = {UND_PASS(und_marker_extend_first, &args, &liquid),
                               UND_PASS(und_marker_extend_second, &args, &liquid)};
    und_pass_steps(&f->device,
                   (und_step[]){{.passes = layers, .count = 1}, {.passes = layers + 1, .count = 1}}, 2);
}
