/* Where stresses are, and how much liquid bears them. */
#include "flow/viscous_parts.h"
#include "flow/viscous_weights_kernel.h"

/* ---- Faces ---- */

static void set_kind(und_viscous *v, int axis, const int at[3], uint8_t kind)
{
    v->kind[axis][und_mac_at(&v->mac, at[0], at[1], at[2])] = kind;
    und_mask_row(&v->unknown[axis], at[1], at[2])[(at[0] + 1) >> 6] &= ~(UINT64_C(1) << ((at[0] + 1) & 63));
}

static void hold_faces(und_viscous *v, const und_mask *held)
{
    UND_MAC_EACH_ROW (&v->mac, row) {
        const int y = row % v->mac.n[1], z = row / v->mac.n[1];
        for (int begin, end = -1; und_mask_stretch(held, y, z, end, &begin, &end);)
            for (int x = begin; x < end; x++)
                for (int a = 0; a < v->axes; a++) {
                    set_kind(v, a, (int[3]){x, y, z}, UND_FACE_HELD);
                    set_kind(v, a, (int[3]){x - (a == 0), y - (a == 1), z - (a == 2)}, UND_FACE_HELD);
                }
    }
}

typedef void border_fn(und_viscous *v, const und_viscous_flow *f, int axis, const int at[3], int inwards);

/* All faces on the domain's border that are open and flow. */
static void each_on_border(und_viscous *v, const und_viscous_flow *f, border_fn *fn)
{
    const int *n = v->mac.n;
    for (int a = 0; a < v->axes; a++)
        for (int side = 0; side < 2; side++) {
            int end[3] = {n[0], n[1], n[2]}, begin[3] = {0, 0, 0}, at[3];
            begin[a] = side ? n[a] - 1 : -1;
            end[a] = begin[a] + 1;
            for (at[2] = begin[2]; at[2] < end[2]; at[2]++)
                for (at[1] = begin[1]; at[1] < end[1]; at[1]++)
                    for (at[0] = begin[0]; at[0] < end[0] && und_present_has(v->mac.present, at[1], at[2]);
                         at[0]++)
                        if (und_mask_has(&f->flow->flows[a], at[0], at[1], at[2]))
                            fn(v, f, a, at, side ? -1 : 1);
        }
}

/* Nothing is known beyond an open side: what leaves by it bears no stress. */
static void free_border(und_viscous *v, const und_viscous_flow *f, int axis, const int at[3], int inwards)
{
    (void)f, (void)inwards;
    set_kind(v, axis, at, UND_FACE_AIR);
}

static void follow_inside(und_viscous *v, const und_viscous_flow *f, int axis, const int at[3], int inwards)
{
    const int next[3] = {at[0] + (axis == 0) * inwards, at[1] + (axis == 1) * inwards,
                         at[2] + (axis == 2) * inwards};
    float *u = f->flow->u[axis];
    if (und_mask_has(&f->flow->flows[axis], next[0], next[1], next[2]))
        u[und_mac_at(&v->mac, at[0], at[1], at[2])] = u[und_mac_at(&v->mac, next[0], next[1], next[2])];
}

void und_viscous_follow_border(und_viscous *v, const und_viscous_flow *f)
{
    each_on_border(v, f, follow_inside);
}

/* All rows, with those beside the domain; in two dimensions those of the one slice. */
static und_set rows_of(const und_mac *m)
{
    und_set s = und_set_rows(m, UND_ROWS_ALL);
    if (m->n[2] == 1) {
        s.low[1] = 0;
        s.rows = s.wide;
        s.blocks = (s.rows + s.per_block - 1) / s.per_block;
    }
    return s;
}

void und_viscous_set_weights(und_viscous *v, const und_viscous_flow *f)
{
    und_viscous_weights_args args = {.mac = v->mac,
                                     .axes = v->axes,
                                     .stick = f->stick,
                                     .scale = (float)(f->dt / (v->mac.d[0] * v->mac.d[0])),
                                     .phi = f->surface->phi,
                                     .nu = f->nu,
                                     .room = f->solids->any ? f->solids->room : NULL,
                                     .inverse = v->inverse,
                                     .cell = v->cell};
    const und_device device = v->device;
    const und_set rows = rows_of(&v->mac);
    for (int a = 0; a < 3; a++) {
        args.open[a] = f->solids->open[a];
        args.flows[a] = f->flow->flows[a];
        args.unknown[a] = v->unknown[a];
        args.kind[a] = v->kind[a];
        args.mass[a] = v->mass[a];
        args.edge[a][0] = v->edge[a][0];
        args.edge[a][1] = v->edge[a][1];
    }
    und_pass(&device, und_viscous_kinds_row, &args, &rows);
    if (f->held)
        hold_faces(v, f->held);
    each_on_border(v, f, free_border);
    const und_pass wet = UND_PASS(und_viscous_wet_row, &args, &rows),
                   weights = UND_PASS(und_viscous_weights_row, &args, &rows);
    und_pass_steps(&device,
                   (const und_step[]){{.passes = &wet, .count = 1}, {.passes = &weights, .count = 1}}, 2);
}
