#include "flow/marker_flow_parts.h"

#include "base/status.h"
#include "flow/marker_flow_label_kernel.h"
#include "grid/field.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Lists are as long as walls could ever make them, in pages that stay untouched until they do: a gate that
 * opens needs no memory.  A mirror joins a face inside a wall to one outside, each of which has four sides:
 * of F faces along an axis at most 2 F. */
enum { AT_SOLIDS = UND_AT_OWN, AT_MIRRORS };
#define FIELD(member, at, ...) UND_FIELD(und_marker_flow, member, at, ##__VA_ARGS__)
#define PART(member, at, ...) UND_FIELD(und_marker_flow_parts, member, at, ##__VA_ARGS__)

static const und_field fields[] = {
    FIELD(u[0], UND_AT_FACES_X, .halo = UND_HALO_CROSSED, .with = 6),
    FIELD(u[1], UND_AT_FACES_Y, .halo = UND_HALO_CROSSED),
    FIELD(u[2], UND_AT_FACES_Z, .halo = UND_HALO_CROSSED),
    FIELD(next[0], UND_AT_FACES_X),
    FIELD(next[1], UND_AT_FACES_Y),
    FIELD(next[2], UND_AT_FACES_Z),
    FIELD(p, UND_AT_CELLS, .halo = UND_HALO_CROSSED),
    FIELD(label, UND_AT_CELLS, .halo = UND_HALO_CROSSED),
    FIELD(wall, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
    FIELD(shrink, UND_AT_CELLS),
    FIELD(row_low, UND_AT_ROWS),
    FIELD(row_high, UND_AT_ROWS),
};
static const und_field part_fields[] = {
    PART(face, AT_SOLIDS, .sparse = true),
    PART(mirror, AT_MIRRORS, .sparse = true),
    PART(ghost, AT_SOLIDS, .sparse = true),
    PART(port, AT_SOLIDS, .sparse = true),
    PART(shared, AT_SOLIDS, .sparse = true),
    PART(near_low, UND_AT_ROWS),
    PART(near_high, UND_AT_ROWS),
    PART(reach_low, UND_AT_ROWS),
    PART(reach_high, UND_AT_ROWS),
    PART(wet_low, UND_AT_ROWS),
    PART(wet_high, UND_AT_ROWS),
    PART(air, UND_AT_ROWS),
    PART(ease, UND_AT_ROWS),
    PART(turn[0], UND_AT_ROWS),
    PART(turn[1], UND_AT_ROWS),
    PART(row_most, UND_AT_ROWS),
    PART(count, UND_AT_ROWS),
    PART(known, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
    PART(told, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
    PART(share, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
    PART(kind, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
    PART(rhs, UND_AT_CELLS),
    PART(change, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
};
enum { FIELDS = sizeof fields / sizeof *fields, PART_FIELDS = sizeof part_fields / sizeof *part_fields };

static und_status open_fields(und_marker_flow *f, und_error *err)
{
    const size_t n = f->mac.count, own[] = {3 * n, 6 * n};
    const und_field_room room = {.mac = &f->mac, .own = own};
    return und_field_open_all(f, fields, FIELDS, &room, "velocity and pressure", err) ||
                   und_field_open_all(f->parts, part_fields, PART_FIELDS, &room, "a flow's cells", err)
               ? err->status
               : UND_OK;
}

static void set_sides(und_marker_flow *f)
{
    const und_mac *m = &f->mac;
    memset(f->label, UND_CELL_SOLID, m->count);
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++) {
                int side = x < 0          ? 0
                           : x == m->n[0] ? 1
                           : y < 0        ? 2
                           : y == m->n[1] ? 3
                           : z < 0        ? 4
                           : z == m->n[2] ? 5
                                          : -1;
                size_t at = und_mac_at(m, x, y, z);
                f->wall[at] = (uint8_t)(side < 0 ? 0 : side);
                f->label[at] = side < 0 ? UND_CELL_EMPTY : UND_CELL_SOLID;
            }
}

und_status und_marker_flow_open(und_marker_flow *f, const und_mac *mac, const und_wall_def *walls,
                                int wall_count, int threads, und_error *err)
{
    assert(wall_count >= UND_SIDES && wall_count <= 256);
    *f = (und_marker_flow){
        .mac = *mac, .device = {.threads = threads}, .walls = walls, .wall_count = wall_count};
    f->parts = und_alloc(1, sizeof *f->parts, "flow", err);
    if (!f->parts || open_fields(f, err) != UND_OK) {
        und_marker_flow_close(f);
        return UND_FAILED;
    }
    set_sides(f);
    und_marker_flow_walls_changed(f);
    und_marker_flow_label(f);
    return UND_OK;
}

void und_marker_flow_close(und_marker_flow *f)
{
    if (f->parts)
        und_field_close_all(f->parts, part_fields, PART_FIELDS);
    und_field_close_all(f, fields, FIELDS);
    free(f->parts);
    *f = (und_marker_flow){0};
}

void und_marker_flow_label(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    const und_marker_label_args args = {.mac = f->mac,
                                        .label = f->label,
                                        .found = s->kind, /* not needed until the pressure's turn */
                                        .low = f->row_low,
                                        .high = f->row_high,
                                        .wet_low = s->wet_low,
                                        .wet_high = s->wet_high,
                                        .count = s->count,
                                        .p = f->p};
    const und_set rows = und_marker_flow_byte_rows(f);
    const und_pass passes[] = {UND_PASS(und_marker_find_labels, &args, &rows),
                               UND_PASS(und_marker_keep_labels, &args, &rows)};
    und_pass_steps(&f->device,
                   (und_step[]){{.passes = passes, .count = 1}, {.passes = passes + 1, .count = 1}}, 2);
    f->full = f->surface = 0;
    for (int row = 0; row < und_mac_rows(&f->mac); row++) {
        f->full += s->count[row][0];
        f->surface += s->count[row][1];
    }
}

und_marker_missing_args und_marker_flow_missing(const und_marker_flow *f)
{
    und_marker_missing_args args = {
        .u = {f->u[0], f->u[1], f->u[2]}, .shrink = f->shrink, .step = {f->mac.step[1], f->mac.step[2]}};
    und_marker_flow_per_cell(f, 1, args.per_cell);
    return args;
}

double und_marker_flow_divergence(const und_marker_flow *f)
{
    const und_marker_divergence_args args = {und_marker_flow_missing(f), f->label};
    und_set full = und_marker_flow_spans(f);
    full.worth = (size_t)f->full;
    return und_largest(&f->device, &UND_PASS(und_marker_divergence, &args, &full), 1, f->parts->row_most);
}

void und_marker_flow_through(const und_marker_flow *f, double dt, und_wet_fn *wet, void *context, double *in,
                             double *out)
{
    *in = *out = 0;
    const und_marker_flow_parts *s = f->parts;
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        size_t cell = w->high ? w->at : w->at + (size_t)f->mac.step[w->axis];
        double area = f->mac.d[(w->axis + 1) % 3] * f->mac.d[(w->axis + 2) % 3];
        double leaving = (w->high ? 1 : -1) * f->u[w->axis][w->at] * area * dt;
        int place[3];
        und_marker_flow_place(&f->mac, cell, place);
        if (w->kind == UND_WALL_INFLOW && leaving < 0)
            *in -= leaving * wet(context, place, w->axis, true);
        else if (und_is_liquid(f->label[cell])) /* also where an inflow's velocity points out */
            *out += leaving * (f->label[cell] == UND_CELL_FULL ? 1 : wet(context, place, w->axis, false));
    }
}
