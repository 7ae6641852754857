/* What a checkpoint of sheets holds. */
#include "base/status.h"
#include "spray/sheet.h"

#include <math.h>
#include <string.h>

/* One array of the state. */
typedef struct part {
    const char *name;
    und_type type;
    void *data;
    size_t count;
} part;

enum { PARTS = 9, IMPACT_NUMBERS = UND_SHEET_IMPACTS * sizeof(und_impact) / sizeof(double) };

static void parts_of(und_sheets *s, size_t drops, part list[PARTS])
{
    const part all[PARTS] = {
        {"sheet_row", UND_F64, &s->row, 1},
        {"sheet_row_age", UND_F64, &s->row_age, 1},
        {"sheet_born", UND_F64, &s->born, 1},
        {"sheet_impact", UND_F64, s->impact, IMPACT_NUMBERS},
        {"sheet_quad", UND_U8, s->quad, UND_SHEET_NODES},
        {"sheet_edge", UND_F32, s->edge, UND_SHEET_NODES},
        {"sheet_left", UND_F32, s->left, UND_SHEET_NODES},
        {"sheet_node", UND_I32, s->node, drops},
        {"sheet_share", UND_F32, s->share, drops},
    };
    memcpy(list, all, sizeof all);
}

und_status und_sheets_save(und_sheets *s, size_t drops, und_frame *state, und_error *err)
{
    part list[PARTS];
    parts_of(s, drops, list);
    for (int i = 0; i < PARTS; i++) {
        und_item_def def = {
            .name = list[i].name, .unit = "", .kind = UND_NUMBERS, .type = list[i].type, .rank = 1};
        def.dim[0] = list[i].count;
        if (!und_frame_borrow(state, &def, list[i].data, err))
            return err->status;
    }
    return UND_OK;
}

static bool between(double value, double low, double high)
{
    return value >= low && value <= high;
}

/* Whether the lattice can be walked without leaving it. */
static bool is_sound(const und_sheets *s, size_t drops)
{
    const double most = 0x1p53;
    bool sound = between(s->row, 0, most) && between(s->row_age, 0, most) && between(s->born, 0, most);
    for (int i = 0; i < UND_SHEET_IMPACTS; i++) {
        const und_impact *m = &s->impact[i];
        sound =
            sound && between(m->number, 0, most) &&
            (m->number == 0 || (between(m->sectors, 2, UND_SHEET_SECTORS) && between(m->first_row, 0, most) &&
                                between(m->row - m->first_row, 0, UND_SHEET_ROWS - 1)));
        sound = sound && isfinite(m->start) && isfinite(m->ring) && isfinite(m->width) && isfinite(m->growth);
        for (int a = 0; a < 2; a++)
            sound = sound && isfinite(m->low[a]) && isfinite(m->high[a]) && isfinite(m->axis[a]);
    }
    for (size_t i = 0; i < UND_SHEET_NODES; i++)
        sound = sound && s->quad[i] <= UND_QUAD_NEW && between(s->left[i], 0, 1) && isfinite(s->edge[i]);
    for (size_t i = 0; i < drops && sound; i++) {
        int node = s->node[i];
        sound = between(s->share[i], 0, 1) && node >= UND_SHEET_NEW && node < UND_SHEET_NODES;
        if (sound && node >= 0) {
            const und_impact *m = &s->impact[node / (UND_SHEET_ROWS * UND_SHEET_SECTORS)];
            sound = node / UND_SHEET_SECTORS % UND_SHEET_ROWS < und_impact_rows(m) &&
                    node % UND_SHEET_SECTORS < (int)m->sectors;
        }
    }
    return sound;
}

und_status und_sheets_restore(und_sheets *s, size_t drops, const und_frame *state, und_error *err)
{
    part list[PARTS];
    parts_of(s, drops, list);
    for (int i = 0; i < PARTS; i++) {
        const und_item *item = und_frame_find(state, list[i].name);
        size_t found = item ? und_item_count(item) : 0;
        if (!item || item->type != list[i].type || found != list[i].count)
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint does not fit the scene: %s has %zu values, expected %zu",
                                 list[i].name, found, list[i].count);
        memcpy(list[i].data, item->data, und_item_bytes(item));
    }
    if (!is_sound(s, drops))
        return und_error_set(err, UND_FAILED, "the checkpoint is damaged: its sheets contradict each other");
    return UND_OK;
}
