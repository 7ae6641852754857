/* What a frame and a checkpoint hold of the particle level set. */
#include "base/status.h"
#include "grid/mac_frame.h"
#include "grid/present.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

static und_status add_numbers(und_frame *frame, const char *name, const char *unit, const double *from,
                              int count, und_error *err)
{
    und_item_def def = {
        .name = name, .unit = unit, .kind = UND_NUMBERS, .type = UND_F64, .rank = 1, .dim = {(size_t)count}};
    und_item *item = und_frame_add(frame, &def, err);
    if (item)
        memcpy(item->data, from, (size_t)count * sizeof *from);
    return item ? UND_OK : err->status;
}

/* Of faces that no liquid will reach before the next frame nothing is kept: what is there is not the flow's.
 */
static und_status add_velocity(und_levelset *s, und_frame *frame, und_error *err)
{
    static const char *const names[3] = {"velocity_x", "velocity_y", "velocity_z"};
    for (int a = 0; a < 3; a++)
        if (und_mac_add_floats(&s->mac, frame, names[a], "m/s", a, s->flow.u[a], 1, 0, err) != UND_OK)
            return err->status;
    return UND_OK;
}

/* What the window is a part of: pictures do not move with it. */
static und_status add_domain(const und_levelset *s, und_frame *frame, und_error *err)
{
    const und_item_def def = {.name = "domain",
                              .unit = "m",
                              .kind = UND_NUMBERS,
                              .type = UND_F64,
                              .is_static = true,
                              .rank = 1,
                              .dim = {6}};
    und_item *item = und_frame_add(frame, &def, err);
    double *out = item ? item->data : NULL;
    for (int a = 0; a < 3 && out; a++) {
        out[a] = s->mac.origin[a];
        out[3 + a] = s->mac.origin[a] + s->mac.whole[a] * s->def.dx;
    }
    return item ? UND_OK : err->status;
}

/* Radii are below 0 of those in the liquid, above 0 of those in the air. */
static und_status add_level_set_particles(const und_levelset *s, und_frame *frame, und_error *err)
{
    const und_level_set_particles *t = s->particles;
    const und_item_def places = {.name = "tracers/position",
                                 .unit = "m",
                                 .kind = UND_PARTICLES,
                                 .type = UND_F32,
                                 .rank = 2,
                                 .dim = {(size_t)t->count, 3}},
                       radii = {.name = "tracers/radius",
                                .unit = "m",
                                .kind = UND_PARTICLES,
                                .type = UND_F32,
                                .rank = 1,
                                .dim = {(size_t)t->count}};
    und_item *place = und_frame_add(frame, &places, err);
    float *at = place ? place->data : NULL;
    und_item *item = place ? und_frame_add(frame, &radii, err) : NULL;
    float *radius = item ? item->data : NULL;
    for (int i = 0; i < t->count && radius; i++) {
        for (int a = 0; a < 3; a++)
            *at++ = (float)(s->mac.origin[a] + (double)t->place[a][i] * s->def.dx);
        radius[i] = (float)((double)t->radius[i] * s->def.dx);
    }
    return item ? UND_OK : err->status;
}

static und_status write_frame(und_levelset *s, float *distance, und_frame *frame, und_error *err)
{
    if (und_levelset_volume_show(s, distance, err) != UND_OK)
        return err->status;
    for (int a = 0; a < 3; a++) {
        frame->grid.n[a] = s->mac.n[a];
        frame->grid.origin[a] = s->mac.origin[a] + s->mac.low[a] * s->def.dx;
    }
    if ((s->def.window.on && !s->def.endless && add_domain(s, frame, err)) ||
        und_mac_add_floats(&s->mac, frame, "distance", "m", UND_MAC_CELLS, distance, s->def.dx, s->layers,
                           err) ||
        (s->def.keep_velocity && add_velocity(s, frame, err)) ||
        (s->def.keep_pressure && und_mac_add_doubles(&s->mac, frame, "pressure", "Pa", UND_MAC_CELLS,
                                                     s->flow.p, s->def.density, err)) ||
        (s->def.keep_level_set_particles && s->particles && add_level_set_particles(s, frame, err)) ||
        add_numbers(frame, "step", "1", s->step_stats, STEP_STATS_COUNT, err) ||
        (s->heat && und_mac_add_floats(&s->mac, frame, "temperature", "1", UND_MAC_CELLS,
                                       und_levelset_temperatures(s), 1, 0, err)) ||
        (s->viscous && add_numbers(frame, "viscous", "1", und_levelset_viscous_stats(s),
                                   UND_LEVELSET_VISCOUS_STATS, err)) ||
        (s->control && add_numbers(frame, "control", "1", und_levelset_control_stats(s),
                                   UND_LEVELSET_CONTROL_STATS, err)) ||
        (s->solids.any &&
         (und_solids_frame(&s->solids, s->time, frame, err) ||
          add_numbers(frame, "solid/leaked", "m3", s->leaked, s->solids.count, err) ||
          (s->volume && add_numbers(frame, "solid/squeezed", "m3", s->squeezed, s->solids.count, err)))) ||
        (s->spray && s->def.spray && und_spray_frame(und_levelset_drops(s), frame, err)))
        return err->status;
    return und_levelset_volume_show_pieces(s, distance, frame, err);
}

und_status und_levelset_write_frame(und_liquid *liquid, und_frame *frame, und_error *err)
{
    und_levelset *s = (und_levelset *)liquid;
    float *distance = und_scratch_take(s->scratch, s->mac.count * sizeof *distance);
    const und_status status = write_frame(s, distance, frame, err);
    und_scratch_give_back(s->scratch, distance);
    return status;
}

int und_levelset_numbers(und_levelset *s, und_state_field list[UND_LEVELSET_STATE])
{
    int n = 0;
    list[n++] = und_state_field_of("time", UND_F64, &s->time, 1);
    list[n] = und_state_field_of("before", UND_F64, &s->before, 1);
    list[n++].adapts = true;
    list[n] = und_state_field_of("kicked", UND_F64, &s->kicked, 1);
    list[n++].adapts = true;
    list[n] = und_state_field_of("blow", UND_F64, &s->blow, 1);
    list[n++].adapts = true;
    list[n++] = und_state_field_of("left", UND_F64, &s->left, 1);
    list[n++] = und_state_field_of("end", UND_F64, &s->end, 1);
    list[n++] = und_state_field_of("substeps", UND_F64, &s->substeps, 1);
    list[n++] = und_state_field_of("halved", UND_F64, &s->last_two_equal, 1);
    list[n++] = und_state_field_of("fastest", UND_F64, &s->fastest, 1);
    list[n++] = und_state_field_of("usual", UND_F64, &s->usual, 1);
    list[n++] = und_state_field_of("ledger", UND_F64, &s->ledger, sizeof s->ledger / sizeof(double));
    list[n++] = und_state_field_of("lost", UND_F64, s->lost, sizeof s->lost / sizeof *s->lost);
    list[n++] = und_state_field_of("losing", UND_F64, &s->losing, 1);
    list[n++] = und_state_field_of("drained", UND_F64, &s->drained, 1);
    list[n++] = und_state_field_of("pending", UND_F64, &s->pending, 1);
    list[n] = und_state_field_of("squeezed", UND_F64, s->volume ? s->squeezed : NULL,
                                 (size_t)s->def.obstacle_count + 1);
    list[n++].adapts = true;
    list[n] = und_state_field_of("leaked", UND_F64, s->leaked, (size_t)s->def.obstacle_count + 1);
    list[n++].adapts = true;
    list[n++] = und_state_field_of("told", UND_F64, s->step_stats, STEP_STATS_COUNT);
    if (s->volume) {
        list[n] = und_state_field_of("volumes", UND_F64, und_levelset_volume_numbers(s),
                                     UND_LEVELSET_VOLUME_NUMBERS);
        list[n++].adapts = true;
    }
    if (s->viscous) {
        list[n] =
            und_state_field_of("viscous", UND_F64, und_levelset_viscous_stats(s), UND_LEVELSET_VISCOUS_STATS);
        list[n++].adapts = true;
    }
    if (s->control) {
        list[n] =
            und_state_field_of("control", UND_F64, und_levelset_control_stats(s), UND_LEVELSET_CONTROL_STATS);
        list[n++].adapts = true;
    }
    if (s->def.sink.put) {
        list[n] = und_state_field_of("recorded", UND_F64, &s->recorded, 1);
        list[n++].adapts = true;
    }
    n += und_levelset_bands_state(s, list + n);
    if (s->particles)
        n += und_level_set_particles_state(s->particles, list + n);
    return n;
}

static int list_parts(und_levelset *s, und_state_field list[UND_LEVELSET_STATE])
{
    und_levelset_field carried[UND_LEVELSET_FIELDS];
    int n = und_levelset_numbers(s, list), fields = und_levelset_carried(s, carried);
    for (int i = 0; i < fields; i++) {
        list[n] = und_state_field_of(carried[i].name, carried[i].type, carried[i].data, s->mac.count);
        list[n++].adapts = carried[i].adapts;
    }
    if (s->spray)
        n += und_levelset_spray_state(s, list + n);
    return n;
}

static const und_item_def window_item = {
    .name = "window", .unit = "1", .kind = UND_NUMBERS, .type = UND_I32, .rank = 1, .dim = {6}};

static und_status save_window(const und_levelset *s, und_frame *state, und_error *err)
{
    und_item *item = und_frame_add(state, &window_item, err);
    if (!item)
        return err->status;
    for (int a = 0; a < 3; a++) {
        ((int32_t *)item->data)[a] = s->mac.low[a];
        ((int32_t *)item->data)[3 + a] = s->mac.n[a];
    }
    return UND_OK;
}

/* The window that the state is of; a branch may have another scene's, or none: it goes on from there. */
static und_status restore_window(und_levelset *s, const und_frame *state, und_error *err)
{
    const und_item *item = und_frame_find(state, window_item.name);
    const int32_t all[6] = {0, 0, 0, s->mac.whole[0], s->mac.whole[1], s->mac.whole[2]};
    if (item && (item->type != UND_I32 || und_item_count(item) != window_item.dim[0]))
        return und_error_set(err, UND_FAILED, "the checkpoint is damaged: its window is none");
    return und_levelset_set_window(s, item ? item->data : all, state, err);
}

enum { PART = 64 }; /* values of an array that are written or not */

/* Whether some values of an array are not what is outside of it. */
static bool differ(const und_item *item, size_t begin, size_t end, double outside)
{
    const float single = (float)outside; /* of whole numbers: 0, which has the same bits */
    const bool wide = item->type == UND_F64;
    const void *plain = wide ? (const void *)&outside : &single;
    const size_t size = wide ? sizeof outside : sizeof single;
    const char *first = (const char *)item->data + begin * size;
    return memcmp(first, plain, size) != 0 || memcmp(first, first + size, (end - begin - 1) * size) != 0;
}

/* Which parts of the arrays there is something in. */
static und_status tell_rows(und_levelset *s, und_frame *state, und_error *err)
{
    const und_mac *m = &s->mac;
    und_levelset_field carried[UND_LEVELSET_FIELDS];
    const int fields = und_levelset_carried(s, carried);
    for (int i = 0; i < state->count; i++)
        for (int k = 0; k < fields; k++) {
            und_item *item = &state->items[i];
            if (item->data != carried[k].data)
                continue;
            if (und_item_keep_rows(item, PART, carried[k].outside, err) != UND_OK)
                return err->status;
            for (int z = -1; z <= m->n[2]; z++)
                for (int y = -1; y <= m->n[1]; y++) {
                    const und_span part = und_mac_part(m, y, z);
                    const size_t begin = und_mac_at(m, part.begin, y, z), end = und_mac_at(m, part.end, y, z);
                    for (size_t at = begin, next; at < end; at = next) {
                        next = (at / PART + 1) * PART < end ? (at / PART + 1) * PART : end;
                        if (differ(item, at, next, carried[k].outside))
                            und_item_add_row(item, at / PART);
                    }
                }
        }
    return UND_OK;
}

und_status und_levelset_save(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_levelset *s = (und_levelset *)liquid;
    und_state_field list[UND_LEVELSET_STATE];
    und_status status = und_mac_is_window(&s->mac) ? save_window(s, state, err) : UND_OK;
    if (status == UND_OK)
        status = und_state_save_fields(list, list_parts(s, list), state, err);
    if (status == UND_OK && s->present)
        status = tell_rows(s, state, err);
    if (status == UND_OK)
        status = und_levelset_rows_save(s, state, err);
    return status == UND_OK && s->spray ? und_spray_save(und_levelset_drops(s), state, err) : status;
}

static bool all_finite(const und_levelset *s)
{
    const float *fields[4] = {s->surface.phi, s->flow.u[0], s->flow.u[1], s->flow.u[2]};
    const float *temperature = und_levelset_temperatures(s);
    const double *viscous = und_levelset_viscous_pressure(s);
    const und_mac *m = &s->mac;
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = und_mac_part(m, y, z).begin; x < und_mac_part(m, y, z).end; x++) {
                const size_t at = und_mac_at(m, x, y, z);
                for (int f = 0; f < 4; f++)
                    if (!isfinite(fields[f][at]))
                        return false;
                if (!isfinite(s->flow.p[at]) || (temperature && !isfinite(temperature[at])) ||
                    (viscous && !isfinite(viscous[at])))
                    return false;
            }
    return isfinite(s->time) && isfinite(s->left);
}

void und_levelset_ready(und_levelset *s)
{
    und_distance_refresh(&s->surface);
    und_mac_flow_restored(&s->flow);
    und_solids_move(&s->solids, s->time, 0);
    und_levelset_volume_walls(s);
    und_mac_flow_label(&s->flow, &s->surface, &s->solids);
}

static const float LEAST_ROOM = 0.02f;

/* Whether a cell has no room and holds liquid: a solid has come there that was not before. */
static bool is_taken(const und_levelset *s, size_t at)
{
    return und_levelset_volume_cells(s)[at] > 0 && s->solids.room[at] < LEAST_ROOM;
}

static bool is_beside_taken(const und_levelset *s, size_t at)
{
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        if (is_taken(s, (size_t)((ptrdiff_t)at + und_volume_step(&s->mac, k))))
            return true;
    return false;
}

/* What is in solids that appear is told as squeezed. */
static void tell_appeared(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const double cell = s->def.dx * s->def.dx * s->def.dx;
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count && s->solids.any; at++) {
        const double room = (double)s->solids.room[at] * UND_VOLUME_ONE;
        const double over = (double)und_levelset_volume_cells(s)[at] - room;
        if (over > 0 && (is_taken(s, at) || (s->solids.room[at] < 1 && is_beside_taken(s, at))))
            s->squeezed[s->solids.owner[at]] += over * cell / UND_VOLUME_ONE;
    }
}

/* Arrays of a state that lie otherwise than the grid's. */
static und_status restore_carried(und_levelset *s, const und_frame *state, const und_mac *lies,
                                  und_error *err)
{
    und_levelset_field carried[UND_LEVELSET_FIELDS];
    const int fields = und_levelset_carried(s, carried);
    const bool branches = und_frame_find(state, UND_STATE_BRANCH) != NULL;
    for (int i = 0; i < fields; i++) {
        const und_item *item = und_frame_find(state, carried[i].name);
        const bool good = item && item->type == carried[i].type && und_item_count(item) == lies->count;
        if (good)
            und_levelset_carry_field(lies, item->data, &s->mac, &carried[i]);
        else if (!branches || !carried[i].adapts)
            return und_error_set(err, UND_FAILED, "the checkpoint does not fit the scene: %s",
                                 carried[i].name);
    }
    return UND_OK;
}

/* All that is listed. */
static und_status restore_parts(und_levelset *s, const und_frame *state, und_error *err)
{
    und_state_field list[UND_LEVELSET_STATE];
    und_mac lies;
    und_present *present;
    und_status status = und_levelset_rows_of(s, state, &lies, &present, err);
    const bool same = status == UND_OK && !present && !s->packed;
    if (status == UND_OK && same)
        status = und_state_restore_fields(list, list_parts(s, list), state, err);
    if (status == UND_OK && !same) {
        int count = und_levelset_numbers(s, list);
        count += s->spray ? und_levelset_spray_state(s, list + count) : 0;
        status = und_state_restore_fields(list, count, state, err);
        if (status == UND_OK)
            status = restore_carried(s, state, &lies, err);
        if (status == UND_OK && s->spray)
            und_levelset_spray_window(s, &lies, true);
        und_levelset_volume_shift(s);
    }
    und_present_close(present);
    return status;
}

und_status und_levelset_restore(und_liquid *liquid, const und_frame *state, und_error *err)
{
    und_levelset *s = (und_levelset *)liquid;
    und_status status = restore_window(s, state, err);
    if (status == UND_OK)
        status = restore_parts(s, state, err);
    if (status == UND_OK && s->spray && und_frame_find(state, "spray_cell"))
        status = und_spray_restore(und_levelset_drops(s), state, err);
    if (status == UND_OK && s->particles)
        status = und_level_set_particles_restored(s->particles, err);
    if (status == UND_OK && s->spray)
        status = und_levelset_spray_restored(s, err);
    if (status != UND_OK)
        return status;
    if (!all_finite(s))
        return und_error_set(err, UND_FAILED, "the checkpoint is damaged: the liquid is not finite");
    und_levelset_ready(s);
    if (s->particles && !und_frame_find(state, "tracer_x")) /* a branch of a plain level set */
        und_level_set_particles_seed(s->particles, &s->surface, s->solids.any ? s->solids.distance : NULL);
    if (s->volume && !und_frame_find(state, "volume")) /* a branch of such a one, or of particles */
        und_levelset_volume_fill(s);
    else if (s->volume && und_frame_find(state, UND_STATE_BRANCH))
        tell_appeared(s);
    return UND_OK;
}
