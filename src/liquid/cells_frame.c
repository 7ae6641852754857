/* What a frame and a checkpoint hold of the cells. */
#include "base/status.h"
#include "grid/mac_frame.h"
#include "grid/state.h"
#include "liquid/cells_state.h"
#include "surface/revolve.h"

#include <math.h>
#include <string.h>

static und_status add_labels(const und_cells *s, und_frame *frame, und_error *err)
{
    und_item *item = und_mac_item(&s->mac, frame, "label", "1", UND_U8, UND_MAC_CELLS, err);
    if (!item)
        return UND_FAILED;
    uint8_t *out = item->data;
    for (int row = 0; row < und_mac_rows(&s->mac); row++)
        for (int x = 0; x < s->mac.n[0]; x++)
            *out++ = s->flow.label[und_mac_row(&s->mac, row) + (size_t)x];
    return UND_OK;
}

/* What mouse tools made solid: 1, or an inflow: 2. */
static und_status add_painted(const und_cells *s, und_frame *frame, und_error *err)
{
    und_item *item = und_mac_item(&s->mac, frame, "painted", "1", UND_U8, UND_MAC_CELLS, err);
    if (!item)
        return UND_FAILED;
    uint8_t *out = item->data;
    for (int row = 0; row < und_mac_rows(&s->mac); row++)
        for (int x = 0; x < s->mac.n[0]; x++) {
            uint8_t painted = s->painted[und_mac_row(&s->mac, row) + (size_t)x];
            *out++ = painted < 2 ? painted : 2;
        }
    return UND_OK;
}

static und_status add_flow(const und_cells *s, und_frame *frame, und_error *err)
{
    static const char *const names[3] = {"velocity_x", "velocity_y", "velocity_z"};
    for (int a = 0; a < 3; a++)
        if (und_mac_add_doubles(&s->mac, frame, names[a], "m/s", a, s->flow.u[a], 1, err) != UND_OK)
            return UND_FAILED;
    return und_mac_add_doubles(&s->mac, frame, "pressure", "Pa", UND_MAC_CELLS, s->flow.p, s->def.density,
                               err);
}

static und_status add_step_stats(const und_cells *s, und_frame *frame, und_error *err)
{
    und_item_def def = {.name = "step",
                        .unit = "1",
                        .kind = UND_NUMBERS,
                        .type = UND_F64,
                        .rank = 1,
                        .dim = {STEP_STATS_COUNT}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return UND_FAILED;
    memcpy(item->data, s->step_stats, sizeof s->step_stats);
    return UND_OK;
}

static und_status add_surface(const und_cells *s, und_frame *frame, und_error *err)
{
    if (s->markers)
        return und_markers_frame(s->markers, s->def.markers_per_cell, s->flow.label, frame, err);
    if (s->height)
        return und_height_frame(s->height, frame, err);
    und_status status = und_chains_frame(s->chains, frame, err);
    return status == UND_OK && s->def.revolve.around > 0 ? und_revolve(&s->def.revolve, frame, err) : status;
}

und_status und_cells_write_frame(und_liquid *liquid, und_frame *frame, und_error *err)
{
    und_cells *s = (und_cells *)liquid;
    if (add_labels(s, frame, err) || (s->def.keep_flow && add_flow(s, frame, err)) ||
        add_surface(s, frame, err) || add_step_stats(s, frame, err) ||
        (s->spray && und_cells_spray_frame(s->spray, frame, err)) ||
        (s->is_painted && add_painted(s, frame, err)))
        return UND_FAILED;
    return UND_OK;
}

enum { MOST_PARTS = 24 };

static int list_parts(und_cells *s, und_state_field list[MOST_PARTS])
{
    int n = 0;
    list[n++] = und_state_field_of("time", UND_F64, &s->time, 1);
    list[n++] = und_state_field_of("left", UND_F64, &s->left, 1);
    list[n++] = und_state_field_of("end", UND_F64, &s->end, 1);
    list[n++] = und_state_field_of("ledger", UND_F64, &s->ledger, sizeof s->ledger / sizeof(double));
    list[n++] = und_state_field_of("lost", UND_F64, &s->lost, sizeof s->lost / sizeof(double));
    list[n++] = und_state_field_of("owed", UND_F64, &s->owed, 1);
    list[n++] = und_state_field_of("substeps", UND_F64, &s->substeps, 1);
    list[n++] = und_state_field_of("told", UND_F64, s->step_stats, STEP_STATS_COUNT);
    list[n++] = und_state_field_of("label", UND_U8, s->flow.label, s->mac.count);
    list[n++] = und_state_field_of("wall", UND_U8, s->flow.wall, s->mac.count);
    list[n++] = und_state_field_of("gate_open", UND_U8, s->gate_open, (size_t)s->def.gate_count + 1);
    list[n++] = und_state_field_of("u", UND_F64, s->flow.u[0], s->mac.count);
    list[n++] = und_state_field_of("v", UND_F64, s->flow.u[1], s->mac.count);
    list[n++] = und_state_field_of("w", UND_F64, s->flow.u[2], s->mac.count);
    list[n++] = und_state_field_of("p", UND_F64, s->flow.p, s->mac.count);
    if (s->is_painted) {
        list[n++] = und_state_field_of("painted", UND_U8, s->painted, s->mac.count);
        list[n++] = und_state_field_of("paint_velocity", UND_F64, s->paint_velocity[0], 3 * UND_PAINTS);
    }
    if (s->is_tuned) {
        list[n++] = und_state_field_of("tuned_gravity", UND_F64, &s->def.gravity[1], 1);
        list[n++] = und_state_field_of("tuned_viscosity", UND_F64, &s->def.viscosity, 1);
    }
    return n;
}

und_status und_cells_save(und_liquid *liquid, und_frame *state, und_error *err)
{
    und_cells *s = (und_cells *)liquid;
    und_state_field list[MOST_PARTS];
    if (und_state_save_fields(list, list_parts(s, list), state, err) != UND_OK)
        return UND_FAILED;
    if ((s->markers && und_markers_save(s->markers, state, err)) ||
        (s->chains && und_chains_save(s->chains, state, err)) ||
        (s->height && und_height_save(s->height, state, err)) ||
        (s->spray && und_cells_spray_save(s->spray, state, err)))
        return UND_FAILED;
    return UND_OK;
}

/* Are labels and walls such as the model has, and what mouse tools did such as they do? */
static bool sound(const und_cells *s)
{
    unsigned label = 0, wall = 0, painted = 0;
    double sum = s->def.gravity[1] + s->def.viscosity;
    for (size_t i = 0; i < s->mac.count; i++) {
        label = s->flow.label[i] > label ? s->flow.label[i] : label;
        wall = s->flow.wall[i] > wall ? s->flow.wall[i] : wall;
        painted = s->painted[i] > painted ? s->painted[i] : painted;
    }
    for (int i = 0; i < 3 * UND_PAINTS; i++)
        sum += s->paint_velocity[i / 3][i % 3];
    return label <= UND_CELL_SOLID && wall < (unsigned)s->wall_count && painted <= (unsigned)s->paints &&
           isfinite(sum) && s->def.viscosity >= 0;
}

/* A state tells of mouse tools where there were any; else all is as the scene has it. */
static void forget_mouse_tools(und_cells *s, const und_frame *state)
{
    s->is_painted = und_frame_find(state, "painted") != NULL;
    s->is_tuned = und_frame_find(state, "tuned_gravity") != NULL;
    memset(s->painted, 0, s->mac.count);
    memset(s->paint_velocity, 0, sizeof s->paint_velocity);
    s->def.gravity[1] = s->scene_gravity;
    s->def.viscosity = s->scene_viscosity;
}

static void recall_mouse_tools(und_cells *s)
{
    und_cells_set_paints(s);
    if (s->height) {
        s->height->smoothing = und_cells_smoothing(s);
        s->height->ground_moves |= s->is_painted;
    }
}

und_status und_cells_restore(und_liquid *liquid, const und_frame *state, und_error *err)
{
    und_cells *s = (und_cells *)liquid;
    und_state_field list[MOST_PARTS];
    forget_mouse_tools(s, state);
    und_status status = und_state_restore_fields(list, list_parts(s, list), state, err);
    if (status == UND_OK && s->markers)
        status = und_markers_restore(s->markers, state, err);
    if (status == UND_OK && s->chains)
        status = und_chains_restore(s->chains, state, err);
    if (status == UND_OK && s->height)
        status = und_height_restore(s->height, state, err);
    if (status == UND_OK && s->spray)
        status = und_cells_spray_restore(s->spray, state, err);
    if (status != UND_OK)
        return status;
    if (!sound(s))
        return und_error_set(err, UND_FAILED, "the checkpoint holds cells of no kind: it is damaged");
    recall_mouse_tools(s);
    und_marker_flow_walls_changed(&s->flow);
    s->walls_at = NAN;
    und_cells_find_labels(s); /* and how many markers each cell has */
    /* once more, as velocities inside walls and labels were set anew */
    status = und_state_restore_fields(list, list_parts(s, list), state, err);
    if (s->left > 0)
        und_cells_make_room(s, s->left); /* in the middle of a step */
    return status;
}
