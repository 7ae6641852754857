#include "flow/mac_flow_parts.h"

#include "base/status.h"
#include "flow/mac_flow_label_kernel.h"
#include "grid/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_BLOCKS = UND_AT_OWN }; /* of rows, of all axes */
#define FIELD(member, at, ...) UND_FIELD(und_mac_flow, member, at, ##__VA_ARGS__)
#define PART(member, at, ...) UND_FIELD(und_mac_flow_parts, member, at, ##__VA_ARGS__)

static const und_field fields[] = {
    FIELD(u[0], UND_AT_FACES_X, .halo = UND_HALO_CROSSED, .with = 2),
    FIELD(u[1], UND_AT_FACES_Y, .halo = UND_HALO_CROSSED),
    FIELD(u[2], UND_AT_FACES_Z, .halo = UND_HALO_CROSSED),
    FIELD(p, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
};
static const und_field part_fields[] = {
    PART(air.before[0], UND_AT_FACES_X),
    PART(air.before[1], UND_AT_FACES_Y),
    PART(air.before[2], UND_AT_FACES_Z),
    PART(system.x, UND_AT_CELLS, .halo = UND_HALO_BESIDE),
    PART(fastest, AT_BLOCKS),
    PART(faster, AT_BLOCKS),
};
static const und_field gained_fields[] = {
    FIELD(gained[0], UND_AT_FACES_X, .halo = UND_HALO_CROSSED, .with = 2),
    FIELD(gained[1], UND_AT_FACES_Y, .halo = UND_HALO_CROSSED),
    FIELD(gained[2], UND_AT_FACES_Z, .halo = UND_HALO_CROSSED),
    FIELD(latest[0], UND_AT_FACES_X, .halo = UND_HALO_CROSSED, .with = 2, .outside = UND_GAIN_NONE),
    FIELD(latest[1], UND_AT_FACES_Y, .halo = UND_HALO_CROSSED),
    FIELD(latest[2], UND_AT_FACES_Z, .halo = UND_HALO_CROSSED),
};
enum {
    FIELDS = sizeof fields / sizeof *fields,
    PART_FIELDS = sizeof part_fields / sizeof *part_fields,
    GAINED_FIELDS = sizeof gained_fields / sizeof *gained_fields
};

static und_status open_fields(und_mac_flow *s, und_error *err)
{
    static const char *const what = "velocity and pressure";
    const size_t blocks = (size_t)und_set_rows(&s->mac, UND_ROWS_FACES).blocks, slices = (size_t)s->mac.n[2],
                 own[] = {3 * (blocks > slices ? blocks : slices + 1)};
    const und_field_room room = {.mac = &s->mac, .own = own};
    return und_field_open_all(s, fields, FIELDS, &room, what, err) ||
                   und_field_open_all(s->parts, part_fields, PART_FIELDS, &room, what, err)
               ? err->status
               : UND_OK;
}

static void clear_part(const und_mac *m, float *values, int y, int z)
{
    const und_span span = und_mac_span_beside(m, y, z);
    memset(values + und_mac_at(m, span.begin, y, z), 0, (size_t)(span.end - span.begin) * sizeof *values);
}

und_status und_mac_flow_keep_gained(und_mac_flow *s, bool goes_on, und_error *err)
{
    const und_field_room room = {.mac = &s->mac};
    s->parts->goes_on = goes_on;
    s->parts->gained_anywhere = true;
    if (und_field_open_all(s, gained_fields, GAINED_FIELDS, &room, "what the flow gained", err))
        return err->status;
    for (int a = 0; a < 3 && s->mac.present; a++) /* rows that come later have never flowed */
        for (int z = -1; z <= s->mac.n[2]; z++)
            for (int y = -1; y <= s->mac.n[1]; y++)
                if (und_present_has(s->mac.present, y, z))
                    clear_part(&s->mac, s->latest[a], y, z);
    return UND_OK;
}

void und_mac_flow_get(const und_mac_flow *s, unsigned what, int reach)
{
    enum { KINDS = 6 };
    const und_mac_flow_parts *p = s->parts;
    const und_mask *const masks[] = {s->flows, p->advect.shut, p->extend.set};
    const und_field *const values[] = {fields, gained_fields, gained_fields + 3};
    und_halo_field halo[3 * KINDS];
    int count = 0;
    if (!s->device.halo)
        return;
    if (!s->gained[0])
        what &= ~(unsigned)(UND_GET_GAINED | UND_GET_LATEST);
    for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 2); a++)
        for (int k = 0; k < KINDS; k++)
            if (what >> k & 1)
                halo[count++] = k < 3 ? und_field_halo(s, values[k] + a, &s->mac, reach)
                                      : und_halo_of_mask(&s->mac, masks[k - 3] + a, reach);
    und_halo_get(s->device.halo, halo, count);
}

/* ---- What is lent ---- */

enum { MOST_LENT = 9 }; /* arrays: those of advection */

float *und_mac_flow_take(und_mac_flow *s)
{
    return und_scratch_take(s->parts->scratch, s->mac.count * sizeof(float));
}

void und_mac_flow_take_next(und_mac_flow *s)
{
    for (int a = 0; a < 3; a++)
        s->next[a] = und_mac_flow_take(s);
}

void und_mac_flow_give_back(und_mac_flow *s, float **array)
{
    und_scratch_give_back(s->parts->scratch, *array);
    *array = NULL;
}

static und_status open_parts(und_mac_flow *s, const und_mac *mac, und_scratch *scratch, und_error *err)
{
    s->parts = und_alloc(1, sizeof *s->parts, "a flow", err);
    if (!s->parts)
        return UND_FAILED;
    s->parts->most = MOST_LENT * und_scratch_bytes(mac->count * sizeof(float));
    s->parts->scratch = und_scratch_join(scratch, s->parts->most, err);
    bool ok = s->parts->scratch && open_fields(s, err) == UND_OK &&
              und_mask_open(&s->liquid, &s->mac, "the liquid's cells", err) == UND_OK &&
              und_mask_open(&s->asked, &s->mac, "the liquid's cells", err) == UND_OK;
    ok = ok && und_mask_open(&s->parts->air.cells, &s->mac, "the air's cells", err) == UND_OK &&
         und_mask_open(&s->parts->pressed, &s->mac, "the liquid's cells", err) == UND_OK;
    for (int a = 0; ok && a < 3; a++)
        ok = und_mask_open(&s->flows[a], &s->mac, "the flow's faces", err) == UND_OK &&
             und_mask_open(&s->parts->air.faces[a], &s->mac, "the air's faces", err) == UND_OK;
    return ok && und_mac_flow_advect_open(&s->parts->advect, &s->mac, err) == UND_OK &&
                   und_mac_flow_extend_open(&s->parts->extend, &s->mac, err) == UND_OK
               ? UND_OK
               : UND_FAILED;
}

und_status und_mac_flow_open(und_mac_flow *s, const und_mac *mac, int threads, und_scratch *scratch,
                             und_error *err)
{
    *s = (und_mac_flow){.mac = *mac, .device = {.threads = threads}};
    if (mac->count > INT32_MAX || mac->n[0] > UND_MAC_FLOW_LONGEST)
        return und_error_set(err, UND_INVALID, "%d x %d x %d cells are too many for a flow", mac->n[0],
                             mac->n[1], mac->n[2]);
    und_status status = open_parts(s, mac, scratch, err);
    if (status != UND_OK)
        und_mac_flow_close(s);
    return status;
}

void und_mac_flow_close(und_mac_flow *s)
{
    und_mask_close(&s->liquid);
    und_mask_close(&s->asked);
    for (int a = 0; a < 3; a++)
        und_mask_close(&s->flows[a]);
    und_field_close_all(s, fields, FIELDS);
    und_field_close_all(s, gained_fields, GAINED_FIELDS);
    if (s->parts) {
        und_field_close_all(s->parts, part_fields, PART_FIELDS);
        und_mac_flow_advect_close(&s->parts->advect);
        und_mac_flow_extend_close(&s->parts->extend);
        und_mask_close(&s->parts->air.cells);
        und_mask_close(&s->parts->pressed);
        for (int a = 0; a < 3; a++)
            und_mask_close(&s->parts->air.faces[a]);
        und_scratch_leave(s->parts->scratch, s->parts->most);
        free(s->parts);
    }
    *s = (und_mac_flow){0};
}

/* ---- Which cells and faces are active ---- */

typedef struct labels {
    und_label_cells_args cells;
    und_label_faces_args faces;
    und_forget_args forget;
    und_set inside, rows;
    und_pass passes[5]; /* of cells, then of faces, and of pressures */
    und_step steps[2];
} labels;

static void plan_labels(labels *l, und_mac_flow *s, const und_distance *d, const und_solids *solids,
                        float level)
{
    l->inside = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    l->rows = und_set_rows(&s->mac, UND_ROWS_FACES);
    l->cells = (und_label_cells_args){.mac = s->mac,
                                      .phi = d ? d->phi : NULL,
                                      .open = {solids->open[0], solids->open[1], solids->open[2]},
                                      .none = solids->none,
                                      .level = level,
                                      .liquid = s->liquid};
    l->faces = (und_label_faces_args){.mac = s->mac, .none = solids->none, .liquid = s->liquid};
    l->passes[0] = UND_PASS(und_label_cells, &l->cells, &l->inside);
    for (int a = 0; a < 3; a++) {
        l->faces.open[a] = solids->open[a];
        l->faces.flows[a] = s->flows[a];
        l->faces.shut[a] = s->parts->advect.shut[a];
        l->faces.set[a] = s->parts->extend.set[a];
        l->passes[1 + a] = UND_PASS_AXIS(und_label_faces, a, &l->faces, &l->rows);
    }
    l->steps[0] = (und_step){.passes = l->passes, .count = 1};
    l->steps[1] = (und_step){.passes = l->passes + 1, .count = s->mac.n[2] == 1 ? 2 : 3};
}

void und_mac_flow_label_cells(und_mac_flow *s, const und_distance *d, const und_solids *solids, float level)
{
    labels l;
    plan_labels(&l, s, d, solids, level);
    und_pass_steps(&s->device, l.steps, 1);
}

void und_mac_flow_label_faces(und_mac_flow *s, const und_solids *solids)
{
    labels l;
    plan_labels(&l, s, NULL, solids, 0);
    und_pass_steps(&s->device, l.steps + 1, 1);
}

/* A face is that of two cells. */
enum { LABELS_REACH = 1 };

void und_mac_flow_label(und_mac_flow *s, const und_distance *d, const und_solids *solids)
{
    labels l;
    und_distance_get_phi(d, LABELS_REACH);
    plan_labels(&l, s, d, solids, 0);
    und_pass_steps(&s->device, l.steps, 2);
}

void und_mac_flow_label_and_forget(und_mac_flow *s, const und_distance *d, const und_solids *solids)
{
    labels l;
    und_distance_get_phi(d, LABELS_REACH);
    plan_labels(&l, s, d, solids, 0);
    l.forget = (und_forget_args){s->parts->pressed, s->liquid, d->band, s->p};
    l.passes[1 + l.steps[1].count++] = UND_PASS(und_forget_row, &l.forget, &l.inside);
    und_pass_steps(&s->device, l.steps, 2);
}

void und_mac_flow_find_pressed(und_mac_flow *s)
{
    und_mask_clear(&s->parts->pressed);
    const und_pressed_args args = {s->mac, s->parts->pressed, s->p};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    und_pass(&s->device, und_find_pressed, &args, &rows);
}

/* How fast all are in what blocks found, and then which speeds to count faces by. */
typedef struct speeds {
    float *most;
    int blocks;
    double times, fastest;
    und_faster_args *count; /* of each axis */
} speeds;

UND_INLINE void choose_speeds(speeds *s)
{
    s->fastest = (double)und_most_of(s->most, s->blocks);
    const double least = s->fastest / s->times, step = (s->fastest - least) / UND_FASTER_THAN;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < UND_FASTER_THAN; i++)
            s->count[a].than[i] = (float)(least + i * step);
}
static void choose_speeds_block(const void *args, const und_set *set, int block)
{
    (void)set;
    (void)block;
    choose_speeds(*(speeds *const *)args);
}
static const und_kernel choose_speeds_kernel = {.name = "choose_speeds", .block = choose_speeds_block};

/* So few of the faces are faster than that, or than the fastest over `times`. */
static double usual_of(const speeds *s, double few)
{
    const double least = s->fastest / s->times, step = (s->fastest - least) / UND_FASTER_THAN;
    long faster[UND_FASTER_THAN + 1] = {0};
    int k = 0;
    for (int i = 0; i < s->blocks; i++)
        for (int j = 0; j <= UND_FASTER_THAN; j++)
            faster[j] += s->count->count[i][j];
    while (k < UND_FASTER_THAN && (double)faster[k] > few * (double)faster[UND_FASTER_THAN])
        k++;
    return least + k * step;
}

enum { ROWS_AHEAD = 6 }; /* of what is fetched */

double und_mac_flow_fastest(const und_mac_flow *s, double few, double times, double *usual)
{
    float *most = s->parts->fastest;
    und_set faces[3];
    und_speed_args speed[3];
    und_found found[3];
    und_faster_args count[3];
    und_pass looks[3], counts[3];
    speeds all = {.most = most, .times = times, .count = count}, *const chosen = &all;
    und_halo_field most_of[3], count_of[3];
    for (int a = 0; a < 3; a++) {
        faces[a] = und_set_shared(&s->device, &s->mac, UND_ROWS_FACES);
        faces[a].cells = &s->flows[a];
        most_of[a] = und_halo_of_slices(&s->mac, most + all.blocks, sizeof *most, -1, s->mac.n[2] + 1);
        count_of[a] = und_halo_of_slices(&s->mac, s->parts->faster + all.blocks, sizeof *s->parts->faster, -1,
                                         s->mac.n[2] + 1);
        speed[a] = (und_speed_args){s->u[a], ROWS_AHEAD * s->mac.step[1]};
        found[a] = (und_found){&speed[a], most + all.blocks};
        count[a] = (und_faster_args){
            .u = s->u[a], .count = s->parts->faster + all.blocks, .most = most + all.blocks};
        looks[a] = (und_pass){&und_face_speed_kernel, &found[a], &faces[a]};
        counts[a] = (und_pass){&und_count_faster_kernel, &count[a], &faces[a]};
        all.blocks += faces[a].blocks;
    }
    const und_set once = und_set_list(most, 1, 1, 1);
    const und_pass choose = {&choose_speeds_kernel, &chosen, &once};
    const und_step steps[] = {{.passes = looks, .count = 3},
                              {.passes = &choose, .count = 1, .halo = most_of, .halos = 3},
                              {.passes = counts, .count = 3}};
    und_pass_steps(&s->device, steps, times > 1 ? 3 : 2);
    und_halo_get(s->device.halo, count_of, times > 1 ? 3 : 0);
    *usual = times > 1 && isfinite(all.fastest) ? usual_of(&all, few) : all.fastest;
    return all.fastest;
}
