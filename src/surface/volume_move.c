/* What cells hold goes along with the flow: over faces, one axis after the other, in as many parts as it
 * takes for none to cross more than a cell.
 *
 * Weymouth & Yue 2010: between the axes a cell of the liquid is not full, since the flow keeps its volume in
 * all axes together only; what it lacks is lent to it, and taken back after the last.  So whatever the flow
 * is, all that a cell loses another gets. */
#include "surface/volume_flux_kernel.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

static const float FURTHEST = 0.9f; /* cells that are crossed in a part */
/* What is faster than that in so many goes no further: a cell that all around comes to gets no more than it
 * can count. */
enum { MOST_PARTS = 20 };

typedef struct move {
    und_volume_moving k;
    const und_volume *v;
    const und_volume_flow *flow;
} move;

/* Kinds, the list, and in how many parts it goes. */
static int find_cells(const move *m, und_volume *v)
{
    enum { STEPS = UND_VOLUME_LIST_STEPS + 4 };
    const und_set rows = und_set_shared(&v->device, &v->mac, UND_ROWS_INSIDE),
                  once = und_set_list(m, 1, 1, 1);
    const und_halo_field crossed =
        und_halo_of_slices(&v->mac, v->parts->block_most, sizeof(float), 0, v->mac.n[2]);
    const und_pass kinds = UND_PASS(und_volume_kinds, &m->k.args, &rows);
    const und_pass inflow = UND_PASS(und_volume_wake_inflow, &m->k, &once);
    const und_pass thin = UND_PASS(und_volume_wake_around_thin, &m->k.args, &rows);
    const und_pass survey = UND_PASS(und_volume_survey, &m->k.args, &rows);
    const und_volume_moved_cells moved = {und_volume_list_args_of(v), m->k.args};
    und_volume_listing listing = {.v = v, .marks = UND_PASS(und_volume_mark_moved, &moved, NULL)};
    und_step steps[STEPS] = {
        {.passes = &kinds, .count = 1}, {.passes = &inflow, .count = 1}, {.passes = &thin, .count = 1}};
    und_volume_list_steps(&listing, steps + 3);
    steps[STEPS - 1] = (und_step){.passes = &survey, .count = 1};
    und_pass_steps(&v->device, steps, STEPS);
    und_halo_get(v->device.halo, &crossed, 1);
    float most = 0;
    for (int block = 0; block < (v->device.card ? rows.rows : rows.blocks); block++)
        most = fmaxf(most, v->parts->block_most[block]);
    const int parts = (int)fminf(ceilf(most / FURTHEST), (float)MOST_PARTS);
    return parts < 1 ? 1 : parts;
}

/* ---- Parts and axes ---- */

/* What leaves over open sides along the axis is told. */
static void tell_leaving(const move *m, int axis)
{
    const und_mac *mac = &m->v->mac;
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    for (int high = 0; high < 2; high++) {
        int at[3];
        at[axis] = high ? mac->n[axis] - 1 : 0;
        for (at[b] = 0; at[b] < mac->n[b] && !m->k.walls.closed[2 * axis + high]; at[b]++)
            for (at[a] = 0; at[a] < mac->n[a]; at[a]++) {
                const size_t inner = und_mac_at(mac, at[0], at[1], at[2]);
                const int32_t flux = und_volume_leaves(&m->k.args, inner, axis, high);
                if (flux != 0)
                    m->flow->leaves(m->flow->context, 2 * axis + high, at, flux);
            }
    }
}

enum { AXES = 3, FURTHER = 2, PASSES = AXES * (2 + 2 * FURTHER) + 1 };
enum { PARTS = 6 }; /* of a step that one parallel region does */

enum { ROUNDS = 2, PAYING = 2 * ROUNDS + 2 };

typedef struct part_of_step {
    move m[AXES];
    und_pass pass[PASSES], pays[PAYING];
    und_volume_pay_args round[ROUNDS];
    int count;
} part_of_step;

/* Slices beyond the next that fluxes are told by: that which a cell at the other side of a face is beside,
 * and where there are solids what is before it. */
static int further(const move *m, int axis)
{
    return (axis == 2) + (m->k.args.room != NULL);
}

/* The axis whose turn it is. */
static int axis_of(const move *m, int part, int a)
{
    const int axes = m->k.args.axes, turn = (int)((m->flow->step + part) % axes);
    const bool back = (m->flow->step + part) / axes % 2;
    return (turn + (back ? axes - a : a)) % axes;
}

static void add_axis(const move *whole, int part, int a, const und_set *slices, part_of_step *to)
{
    const int axis = axis_of(whole, part, a);
    move *m = &to->m[a];
    *m = *whole;
    m->k.args.part = part;
    m->k.args.fresh = part == 0;
    m->k.args.ends = a == whole->k.args.axes - 1;
    m->k.args.last = m->k.args.ends && part == whole->k.args.parts - 1;
    for (int i = 0; i < further(whole, axis); i++)
        to->pass[to->count++] = UND_PASS_NONE(slices);
    to->pass[to->count++] = UND_PASS_AXIS(und_volume_set_fluxes, axis, &m->k, slices);
    if (whole->v->device.card && m->k.inflow_count > 0)
        to->pass[to->count++] = UND_PASS_AXIS(und_volume_let_in, axis, &m->k, slices);
    for (int i = 0; i < further(whole, axis); i++)
        to->pass[to->count++] = UND_PASS_NONE(slices);
    to->pass[to->count++] = UND_PASS_AXIS(und_volume_add, axis, &m->k.args, slices);
}

/* In each round those that are left of the one before ask. */
static int add_paying(const move *whole, const und_set *chunks, part_of_step *p, und_step *steps)
{
    bool *const none = (bool *)whole->v->parts->told;
    int count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        none[round] = true;
        p->round[round] = (und_volume_pay_args){.m = whole->k.args, .none = &none[round]};
        p->pays[count] = UND_PASS(und_volume_ask, &p->round[round], chunks);
        p->pays[count + 1] = UND_PASS(und_volume_pay, &p->round[round], chunks);
        steps[count] =
            (und_step){.passes = &p->pays[count], .count = 1, .unless = round > 0 ? &none[round - 1] : NULL};
        steps[count + 1] = (und_step){.passes = &p->pays[count + 1], .count = 1, .unless = &none[round]};
        count += 2;
    }
    if (whole->k.args.any_open && !whole->flow->leaves) {
        p->pays[count] = UND_PASS(und_volume_pay_by_left, &whole->k, chunks);
        steps[count] = (und_step){.passes = &p->pays[count], .count = 1};
        count++;
    }
    p->pays[count] = UND_PASS(und_volume_refresh_around, &whole->k, chunks);
    steps[count] = (und_step){.passes = &p->pays[count], .count = 1, .unless = &none[0]};
    return count + 1;
}

/* Some parts of the step, an axis after the other: all in one go where nobody asks what leaves. */
static void move_parts(const move *whole, int first, int end)
{
    const und_device device = whole->v->device;
    und_set slices = und_set_slices(&whole->v->mac, UND_ROWS_INSIDE);
    slices.count = whole->v->parts->listed[UND_VOLUME_LISTED];
    part_of_step parts[PARTS];
    const und_set chunks = und_volume_chunks(whole->v);
    und_step steps[PARTS * (PASSES + PAYING)];
    int count = 0;
    for (int part = first; part < end; part++) {
        part_of_step *p = &parts[part - first];
        p->count = 0;
        if (part == 0)
            p->pass[p->count++] = UND_PASS(und_volume_begin, &whole->k.args, &slices);
        for (int a = 0; a < whole->k.args.axes; a++) {
            add_axis(whole, part, a, &slices, p);
            if (!whole->flow->leaves)
                continue;
            und_pass_chain(&device, p->pass, p->count);
            p->count = 0;
            tell_leaving(&p->m[a], axis_of(whole, part, a));
        }
        if (p->count > 0)
            count += und_pass_chain_steps(steps + count, p->pass, p->count);
        count += add_paying(whole, &chunks, p, steps + count);
        if (whole->flow->leaves) {
            und_pass_steps(&device, steps, count);
            count = 0;
        }
    }
    und_pass_steps(&device, steps, count);
}

static und_volume_move_args args_of(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                                    const und_volume_flow *flow)
{
    const und_volume_parts *p = v->parts;
    und_volume_move_args m = {.mac = v->mac,
                              .axes = v->mac.n[2] > 1 ? 3 : 2,
                              .c = v->c,
                              .flux = p->flux,
                              .extra = p->extra,
                              .fraction = p->fraction,
                              .kind = p->kind,
                              .unsure = p->unsure,
                              .to = p->to,
                              .inside = p->inside,
                              .own = p->own,
                              .others = p->others,
                              .film = v->film,
                              .beside_thin = walls->beside_thin,
                              .phi = d->phi,
                              .distance = walls->distance,
                              .room = walls->room,
                              .held = flow->held,
                              .chunk = p->chunk,
                              .row_chunks = p->row_chunks,
                              .wakes = p->wakes,
                              .per_row = p->per_row,
                              .block_most = p->block_most,
                              .row_sum = p->row_sum,
                              .whole = (float)flow->per_speed,
                              .poured = flow->poured};
    for (int a = 0; a < 3; a++) {
        m.u[a] = flow->u[a];
        m.open[a] = walls->open[a];
    }
    for (int side = 0; side < 2 * m.axes; side++) {
        m.closed[side] = walls->closed[side];
        m.any_open |= !walls->closed[side];
    }
    m.reach = fminf((float)(flow->fastest * flow->per_speed), (float)flow->layers - 2);
    return m;
}

/* In a part of the step a flux across slices is told by two on either side and where there are solids one
 * more, one across others by those beside; and what a cell gets of what it owes is told by who asks the one
 * that it asks, two away, by what these see, two away, in each round.  Before all of them, cells are woken as
 * far as liquid comes. */
static int reach_beyond(const move *m)
{
    enum { IN_ROUND = 3 * UND_VOLUME_PAY_REACH, IN_PART = 8 + ROUNDS * IN_ROUND };
    const int parts = (int)ceil(m->flow->fastest * m->flow->per_speed / (double)FURTHEST);
    return (parts < 1 ? 1 : parts) * IN_PART + (int)ceilf(m->k.args.reach) + 2;
}

int64_t und_volume_move(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                        const und_volume_flow *flow)
{
    move m = {.k = {.args = args_of(v, d, walls, flow),
                    .cells = und_volume_arrays_of(v),
                    .walls = *walls,
                    .pin = flow->pin,
                    .told = flow->leaves != NULL,
                    .inflow_count = flow->inflow_count,
                    .inflow = flow->inflow},
              .v = v,
              .flow = flow};
    int64_t left = 0;
    v->parts->held = flow->held != NULL;
    und_volume_get(v, d, flow->u, reach_beyond(&m));
    m.k.args.parts = find_cells(&m, v);
    m.k.args.per = m.k.args.whole / (float)m.k.args.parts;
    m.k.stays = flow->stays / sqrtf((float)m.k.args.parts);
    for (int part = 0; part < m.k.args.parts; part += PARTS)
        move_parts(&m, part, part + PARTS < m.k.args.parts ? part + PARTS : m.k.args.parts);
    und_volume_get_rows(v, v->parts->row_sum, sizeof *v->parts->row_sum);
    UND_MAC_EACH_ROW (&v->mac, row)
        left += v->parts->row_sum[row];
    return left;
}
