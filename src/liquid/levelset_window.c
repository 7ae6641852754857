/* The grid as a window of a larger one, which moves and grows with what it is to hold: Rasmussen et al. 2004,
 * 5.3.
 *
 * A window moves by whole cells: what its cells and faces hold is carried over as it is, and particles stay
 * where they are, since places count from the whole grid's corner.  What comes in is air; liquid that is left
 * behind is booked as left.  Its sides are open, but for those that are the domain's own. */
#include "base/pages.h"
#include "base/status.h"
#include "flow/mac_flow_gain_kernel.h"
#include "geom/motion.h"
#include "geom/sequence.h"
#include "grid/mac_frame.h"
#include "liquid/levelset_state.h"
#include "surface/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 16,  /* cells along an axis */
    SLACK = 8,   /* cells that a fitted window has at least beyond what it is to hold, when it is fitted, */
    PART = 8,    /* or so many a part of its length, */
    LOOSE = 3,   /* and from how many times more on it is fitted again */
    LAG = 4,     /* cells that the liquid's middle may be off that of a window of fixed size */
    LANDING = 8, /* cells around what drops may come to */
    MOST = 4,    /* one that needs but one of so many cells has all, */
    FEWER = 2,   /* until it needs so many times fewer, */
    LOOKS = 8    /* which is looked for once in so many substeps */
};

/* ---- What is carried ---- */

int und_levelset_carried(und_levelset *s, und_levelset_field list[UND_LEVELSET_FIELDS])
{
    const double air = s->layers;
    int n = 0;
    list[n++] = (und_levelset_field){"phi", UND_F32, s->surface.phi, UND_MAC_CELLS, air, false};
    list[n++] = (und_levelset_field){"u", UND_F32, s->flow.u[0], 0, 0, false};
    list[n++] = (und_levelset_field){"v", UND_F32, s->flow.u[1], 1, 0, false};
    list[n++] = (und_levelset_field){"w", UND_F32, s->flow.u[2], 2, 0, false};
    list[n++] = (und_levelset_field){"p", UND_F64, s->flow.p, UND_MAC_CELLS, 0, false};
    static const char *const gained[] = {"gained_u", "gained_v", "gained_w"};
    static const char *const latest[] = {"latest_u", "latest_v", "latest_w"};
    for (int a = 0; a < (s->mac.n[2] == 1 ? 2 : 3) && s->def.order == 2; a++) {
        list[n++] = (und_levelset_field){gained[a], UND_F32, s->flow.gained[a], a, 0, true};
        list[n++] = (und_levelset_field){latest[a], UND_F32, s->flow.latest[a], a, UND_GAIN_NONE, true};
    }
    if (s->volume)
        list[n++] =
            (und_levelset_field){"volume", UND_I32, und_levelset_volume_cells(s), UND_MAC_CELLS, 0, true};
    if (s->viscous)
        list[n++] = (und_levelset_field){"p_viscous",   UND_F64, und_levelset_viscous_pressure(s),
                                         UND_MAC_CELLS, 0,       true};
    if (s->heat)
        list[n++] = (und_levelset_field){
            "temperature", UND_F32, und_levelset_temperatures(s), UND_MAC_CELLS, s->def.heat->start.number,
            true};
    return n;
}

void und_levelset_carry_field(const und_mac *from, const void *old, const und_mac *to,
                              const und_levelset_field *f)
{
    const float fill = (float)f->outside; /* of whole numbers: 0, which has the same bits */
    bool single = f->type != UND_F64;
    und_mac_carry(from, old, to, f->data, single ? sizeof(float) : sizeof(double), f->axis,
                  single ? (const void *)&fill : &f->outside);
}

/* What is not of cells but of parts that are opened anew. */
static void carry_numbers(und_levelset *from, und_levelset *to)
{
    if (to->volume)
        memcpy(und_levelset_volume_numbers(to), und_levelset_volume_numbers(from),
               UND_LEVELSET_VOLUME_NUMBERS * sizeof(double));
    if (to->viscous)
        memcpy(und_levelset_viscous_stats(to), und_levelset_viscous_stats(from),
               UND_LEVELSET_VISCOUS_STATS * sizeof(double));
    if (to->control)
        memcpy(und_levelset_control_stats(to), und_levelset_control_stats(from),
               UND_LEVELSET_CONTROL_STATS * sizeof(double));
}

static void carry(und_levelset *from, und_levelset *to)
{
    und_levelset_field old[UND_LEVELSET_FIELDS], new[UND_LEVELSET_FIELDS];
    int count = und_levelset_carried(from, old);
    und_levelset_carried(to, new);
    for (int i = 0; i < count; i++)
        und_levelset_carry_field(&from->mac, old[i].data, &to->mac, &new[i]);
}

/* ---- Where the window is to be, in cells of the whole grid, from low to below high ---- */

typedef struct box {
    int low[3], high[3];
} box;

static box current(const und_levelset *s)
{
    box b;
    for (int a = 0; a < 3; a++) {
        b.low[a] = s->mac.low[a];
        b.high[a] = s->mac.low[a] + s->mac.n[a];
    }
    return b;
}

static box all_of(const und_levelset *s)
{
    return (box){{0, 0, 0}, {s->mac.whole[0], s->mac.whole[1], s->mac.whole[2]}};
}

static bool contains(const box *outer, const box *inner)
{
    for (int a = 0; a < 3; a++)
        if (inner->low[a] < outer->low[a] || inner->high[a] > outer->high[a])
            return false;
    return true;
}

static const box NOTHING = {{1, 1, 1}, {0, 0, 0}};

static bool is_nothing(const box *b)
{
    return b->low[0] >= b->high[0];
}

static void add_box(box *to, const box *b)
{
    if (is_nothing(b))
        return;
    bool first = is_nothing(to);
    for (int a = 0; a < 3; a++) {
        to->low[a] = first || b->low[a] < to->low[a] ? b->low[a] : to->low[a];
        to->high[a] = first || b->high[a] > to->high[a] ? b->high[a] : to->high[a];
    }
}

static box grown(const box *b, int by)
{
    box g = *b;
    for (int a = 0; a < 3 && !is_nothing(b); a++) {
        g.low[a] -= by;
        g.high[a] += by;
    }
    return g;
}

/* Within the domain, and along each axis at least LEAST cells, or what there is. */
static box clipped(const und_mac *m, box b)
{
    for (int a = 0; a < 3; a++) {
        int least = m->whole[a] < LEAST ? m->whole[a] : LEAST;
        b.low[a] = b.low[a] < 0 ? 0 : b.low[a] > m->whole[a] - least ? m->whole[a] - least : b.low[a];
        b.high[a] = b.high[a] > m->whole[a] ? m->whole[a] : b.high[a];
        b.high[a] = b.high[a] < b.low[a] + least ? b.low[a] + least : b.high[a];
    }
    return b;
}

static int whole_cell(double cells)
{
    const double far = 1 << 24;
    return (int)fmin(fmax(cells, -far), far); /* NaN: the lower */
}

/* The cells that bounds at a pose touch. */
static box posed_box(const und_mac *m, und_bounds bounds, const und_pose *pose)
{
    const double x[2] = {bounds.low.x, bounds.high.x}, y[2] = {bounds.low.y, bounds.high.y},
                 z[2] = {bounds.low.z, bounds.high.z};
    box b = NOTHING;
    if (!isfinite(und_length(und_sub(bounds.high, bounds.low))))
        return (box){{0, 0, 0}, {m->whole[0], m->whole[1], m->whole[2]}};
    for (int k = 0; k < 8; k++) {
        und_vec3 p = und_pose_point(pose, und_vec(x[k & 1], y[k >> 1 & 1], z[k >> 2]));
        const double at[3] = {p.x, p.y, p.z};
        box corner;
        for (int a = 0; a < 3; a++) {
            corner.low[a] = whole_cell(floor((at[a] - m->origin[a]) / m->d[a]));
            corner.high[a] = corner.low[a] + 1;
        }
        add_box(&b, &corner);
    }
    return b;
}

/* A box of this grid's own cells. */
static void add_own(const und_levelset *s, box *to, box own)
{
    for (int a = 0; a < 3; a++) {
        own.low[a] += s->mac.low[a];
        own.high[a] += s->mac.low[a];
    }
    add_box(to, &own);
}

static void add_needed(und_levelset *s, box *to, const box *b)
{
    add_box(to, b);
    und_levelset_need_box(s, b->low, b->high);
}

/* What control, or another grid, brings where there is none by the end of the substep ahead. */
typedef struct brought {
    und_levelset *s;
    box *to;
} brought;

static void add_brought(void *context, const int low[3], const int high[3])
{
    const brought *c = context;
    box b;
    memcpy(b.low, low, sizeof b.low);
    memcpy(b.high, high, sizeof b.high);
    add_needed(c->s, c->to, &b);
}

/* What brings liquid where there is none in the substep ahead: sources, which are always full of it. */
static void add_given(und_levelset *s, box *to)
{
    for (int i = 0; i < s->def.element_count; i++) {
        const und_element_def *e = &s->def.elements[i];
        if (e->role != UND_ELEMENT_SOURCE || !(s->time + s->dt >= e->start && s->time < e->end))
            continue;
        for (int k = 0; k < 2; k++) { /* from the substep's beginning to its end */
            und_pose pose = und_motion_at(e->motion, s->time + k * s->dt);
            const box own = posed_box(&s->mac, und_shape_bounds(e->shape), &pose);
            add_needed(s, to, &own);
        }
    }
    if (s->fitted && s->control)
        und_control_particles_each_box(und_levelset_control_particles(s), s->time + s->dt, add_brought,
                                       &(brought){s, to});
    if (s->fitted && s->bands)
        und_levelset_bands_each_box(s, add_brought, &(brought){s, to});
}

/* That, and the liquid. */
static box liquid_box(und_levelset *s)
{
    box b = NOTHING, own;
    und_levelset_need_none(s);
    const int32_t *held = s->volume ? und_levelset_volume_cells(s) : NULL; /* also where phi shows none */
    if (und_distance_bounds(&s->surface, held, own.low, own.high, s->asked_rows))
        add_own(s, &b, own);
    add_given(s, &b);
    return b;
}

/* Of several shapes in one each by itself. */
static void add_fill(und_levelset *s, box *to, const und_shape *shape)
{
    const und_pose rest = und_motion_at(NULL, 0);
    const box own = posed_box(&s->mac, und_shape_bounds(shape), &rest);
    for (int i = 0; i < shape->child_count && shape->kind == UND_UNION; i++)
        add_fill(s, to, shape->children[i]);
    if (shape->kind != UND_UNION)
        add_needed(s, to, &own);
}

/* Before there is any: where the scene puts it. */
static box first_liquid(und_levelset *s)
{
    box b = liquid_box(s), own = all_of(s);
    for (int i = 0; i < s->def.fill_count; i++)
        add_fill(s, &b, s->def.fills[i].shape);
    if (s->def.has_level && !s->def.level.fn)
        own.high[1] = whole_cell(ceil((s->def.level.number - s->mac.origin[1]) / s->mac.d[1]));
    if (s->def.has_level && own.high[1] > 0)
        add_needed(s, &b, &own);
    return b;
}

static box solid_box(const und_levelset *s, int solid, double time)
{
    const und_obstacle_def *def = &s->def.obstacles[solid];
    und_pose pose = und_motion_at(def->motion, time);
    und_bounds b =
        def->sequence ? und_sequence_bounds(def->sequence, time, time) : und_shape_bounds(def->shape);
    return def->inside_out ? all_of(s) : posed_box(&s->mac, b, &pose);
}

/* Floors and solids that drops may come to in the substep ahead. */
static box landing_box(const und_levelset *s)
{
    int low[UND_LEVELSET_OBSTACLES][3], high[UND_LEVELSET_OBSTACLES][3];
    box b = NOTHING;
    for (int i = 0; i < s->def.obstacle_count; i++) {
        box own = solid_box(s, i, s->time), next = solid_box(s, i, s->time + s->dt);
        add_box(&own, &next);
        own = grown(&own, LANDING);
        memcpy(low[i], own.low, sizeof own.low);
        memcpy(high[i], own.high, sizeof own.high);
    }
    if (!und_levelset_spray_reach(s, s->def.obstacle_count, (const int(*)[3])low, (const int(*)[3])high,
                                  b.low, b.high))
        return NOTHING;
    return grown(&b, LANDING);
}

/* A box of the size asked for: its middle is on the path, goes with the solid, or is that of the liquid. */
static box sized_box(const und_levelset *s, const box *liquid)
{
    const und_window_def *w = &s->def.window;
    const und_mac *m = &s->mac;
    und_vec3 size = und_motion_at(w->size, s->time).position, at = und_motion_at(w->path, s->time).position;
    if (w->follow == UND_WINDOW_SOLID)
        at = und_add(at, und_motion_at(s->def.obstacles[w->solid].motion, s->time).position);
    const double length[3] = {size.x, size.y, size.z}, middle[3] = {at.x, at.y, at.z};
    const box now = current(s), *around = is_nothing(liquid) ? &now : liquid;
    box b;
    for (int a = 0; a < 3; a++) {
        int n = whole_cell(round(length[a] / m->d[a]));
        n = n < LEAST ? LEAST : n;
        n = n > m->whole[a] ? m->whole[a] : n;
        double to = w->follow == UND_WINDOW_LIQUID ? 0.5 * (around->low[a] + around->high[a])
                                                   : (middle[a] - m->origin[a]) / m->d[a];
        int low = whole_cell(floor(to - 0.5 * n + 0.5));
        if (w->follow == UND_WINDOW_LIQUID && n == m->n[a] && abs(low - m->low[a]) < LAG)
            low = m->low[a];
        low = low > m->whole[a] - n ? m->whole[a] - n : low;
        b.low[a] = low < 0 ? 0 : low;
        b.high[a] = b.low[a] + n;
    }
    return b;
}

static double cells_of(const box *b)
{
    double cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= b->high[a] - b->low[a];
    return cells;
}

static bool is_whole(const und_levelset *s)
{
    const box now = current(s), all = all_of(s);
    return !memcmp(&now, &all, sizeof all);
}

/* A window that holds what it must and is not much larger stays.  An automatic one has all cells rather than
 * a good part of them, as liquid that is let go of spreads, and all of an axis rather than most of them. */
static box fitted(const und_levelset *s, const box *need)
{
    const box now = current(s), all = all_of(s), tight = clipped(&s->mac, *need);
    box b = *need, loose = *need;
    if (s->fitted && cells_of(&all) < MOST * (is_whole(s) ? FEWER : 1) * cells_of(&tight))
        return all;
    for (int a = 0; a < 3; a++) {
        const int length = need->high[a] - need->low[a],
                  slack = length / PART > SLACK ? length / PART : SLACK;
        const bool most = s->fitted && 4 * (length + 2 * slack) > 3 * s->mac.whole[a];
        b.low[a] = most ? 0 : need->low[a] - slack;
        b.high[a] = most ? s->mac.whole[a] : need->high[a] + slack;
        b.high[a] += (SLACK - (b.high[a] - b.low[a]) % SLACK) % SLACK; /* sizes that come again */
        loose.low[a] = most ? 0 : need->low[a] - LOOSE * slack;
        loose.high[a] = most ? s->mac.whole[a] : need->high[a] + LOOSE * slack;
    }
    return contains(&now, &tight) && contains(&loose, &now) ? now : clipped(&s->mac, b);
}

static box wanted(und_levelset *s, const box *liquid)
{
    const und_window_def *w = &s->def.window;
    const bool follows_liquid = w->follow == UND_WINDOW_LIQUID && !w->size;
    const bool follows_solid = w->follow == UND_WINDOW_SOLID && !w->size;
    box need = w->size ? sized_box(s, liquid) : NOTHING;
    if (w->size && !w->resize)
        return need;
    if (w->resize || follows_liquid) {
        box own = grown(liquid, w->margin);
        add_box(&need, &own);
        own = s->fitted ? landing_box(s) : NOTHING;
        add_needed(s, &need, &own);
    }
    if (follows_solid) {
        box own = solid_box(s, w->solid, s->time);
        own = grown(&own, w->margin);
        add_box(&need, &own);
    }
    return is_nothing(&need) ? current(s) : fitted(s, &need);
}

/* ---- Going there ---- */

static void set_sides(und_levelset *s)
{
    for (int side = 0; side < UND_SIDES; side++) {
        int a = side / 2, at = s->mac.low[a] + (side % 2 ? s->mac.n[a] : 0);
        bool own = at == (side % 2 ? s->mac.whole[a] : 0);
        s->open[side] = own ? s->def.open[side] : true;
    }
}

static und_mac mac_of(const und_levelset *s, const box *b)
{
    int n[3];
    for (int a = 0; a < 3; a++)
        n[a] = b->high[a] - b->low[a];
    return und_mac_window(&s->mac, b->low, n);
}

/* The rows of a window that is yet to be, beside those with liquid: of what lies outside of the one before
 * that has none. */
static void need_given(und_levelset *s)
{
    box unused = NOTHING;
    add_given(s, &unused);
    const box landing = s->fitted ? landing_box(s) : NOTHING;
    und_levelset_need_box(s, landing.low, landing.high);
}

/* All that goes by the grid's cells is opened anew on the window; what the cells hold comes along, but where
 * a state is about to be taken over.  Where memory does not suffice all stays as it was. */
static und_status change(und_levelset *s, const box *to, const und_frame *state, und_error *err)
{
    und_levelset old = *s;
    const bool carried = !state;
    s->mac = mac_of(&old, to);
    set_sides(s);
    und_status status = und_levelset_rows_open(s, err);
    if (s->asked_rows && carried)
        need_given(s);
    if (status == UND_OK)
        status = carried ? und_levelset_choose_rows(s, &old, err) : und_levelset_state_rows(s, state, err);
    if (status != UND_OK) {
        und_levelset_rows_close(s);
        *s = old;
        return status;
    }
    status = und_levelset_open_grid(s, err);
    if (status == UND_OK && s->particles)
        status = und_level_set_particles_window(s->particles, &s->mac, err);
    if (status == UND_OK)
        status = und_pressure_window(s->system, &s->mac, err);
    if (status == UND_OK)
        status = und_levelset_bands_window(s, err);
    if (status != UND_OK) {
        und_levelset_close_grid(s);
        *s = old;
        return status;
    }
    if (s->spray)
        und_levelset_spray_window(s, &old.mac, carried);
    und_solids_take_skins(&s->solids, &old.solids);
    if (carried) {
        carry(&old, s);
        und_levelset_heat_came(s, &old.mac);
    }
    und_levelset_volume_shift(s);
    carry_numbers(&old, s);
    und_levelset_close_grid(&old);
    und_levelset_ready(s);
    return und_scratch_renew(s->scratch, s->present, err);
}

/* Whether the parts need not be opened anew: a window of the same size, and none that knows of no shift. */
static bool can_shift(const und_levelset *s, const box *to)
{
    const und_mac m = mac_of(s, to);
    return !memcmp(m.n, s->mac.n, sizeof m.n) && !s->present && !s->viscous && !s->control && !s->heat &&
           !s->bands && s->def.surface_rule != UND_SURFACE_WENO;
}

/* The same as change() for a window that only moves, at a fraction of the cost. */
static und_status shift(und_levelset *s, const box *to, und_error *err)
{
    const und_mac before = s->mac;
    und_levelset_field list[UND_LEVELSET_FIELDS];
    int count = und_levelset_carried(s, list);
    void *old = und_pages_alloc(before.count * sizeof(double), "a window's fields", err);
    if (!old)
        return err->status;
    s->mac = s->surface.mac = s->flow.mac = mac_of(s, to);
    set_sides(s);
    for (int i = 0; i < count; i++) {
        const size_t size = list[i].type != UND_F64 ? sizeof(float) : sizeof(double);
        memcpy(old, list[i].data, before.count * size);
        und_levelset_carry_field(&before, old, &s->mac, &list[i]);
    }
    und_pages_free(old);
    und_elements_shift(s->elements, &s->mac);
    und_levelset_volume_shift(s);
    und_levelset_closing_forget(s); /* cells are numbered anew */
    und_status status = und_pressure_window(s->system, &s->mac, err);
    if (status == UND_OK)
        status = und_solids_shift(&s->solids, &s->mac, s->open, s->time, err);
    if (status == UND_OK && s->particles)
        status = und_level_set_particles_window(s->particles, &s->mac, err);
    if (status == UND_OK && s->spray)
        und_levelset_spray_window(s, &before, true);
    und_levelset_ready(s);
    return status;
}

void und_levelset_move_window(und_levelset *s)
{
    if (!s->def.window.on && !und_mac_is_window(&s->mac))
        return;
    if (s->fitted && is_whole(s) && !s->present && (long)s->substeps % LOOKS != 0)
        return; /* nothing can leave it */
    const box liquid = liquid_box(s), now = current(s),
              to = s->def.window.on ? wanted(s, &liquid) : all_of(s); /* a branch may have none any more */
    const bool stays = !memcmp(&to, &now, sizeof to), fewer = und_levelset_keep_rows(s);
    if (stays && !fewer)
        return;
    const bool all = contains(&to, &liquid) && !s->volume; /* which may have films where phi shows nothing */
    const double before = all ? 0 : und_levelset_volume(s);
    und_error *err = &s->window_error;
    if ((can_shift(s, &to) && !stays ? shift(s, &to, err) : change(s, &to, NULL, err)) != UND_OK) {
        s->window_failed = true;
        return;
    }
    if (!all) {
        double left = before - und_levelset_volume(s);
        if (left > 0 || s->volume) /* cells may owe some */
            und_ledger_add(&s->ledger.left, &s->lost[2], left);
    }
}

/* Whether every bit is what the whole grid would have while the window holds all liquid.  Not where what is
 * far from the liquid counts: WENO, air that keeps its volume, or a temperature that is kept for another grid
 * and is no number. */
static bool keeps_bits(const und_levelset_def *def)
{
    const bool by_place = def->heat && def->heat->start.fn;
    return def->surface_rule != UND_SURFACE_WENO && !def->free_air && !(def->sink.put && by_place);
}

/* And with few of its rows: not where solids are, or other grids; nor where those that come would have to
 * have a temperature by their place. */
static bool keeps_bits_in_rows(const und_levelset_def *def)
{
    return keeps_bits(def) && def->obstacle_count == 0 && def->upstream_count == 0 && !def->sink.put &&
           !(def->heat && def->heat->start.fn);
}

/* Large domains have a window by themselves. */
static void choose_window(und_levelset *s)
{
    und_window_def *w = &s->def.window;
    const double cells = (double)s->mac.whole[0] * s->mac.whole[1] * s->mac.whole[2];
    s->fitted =
        !w->on && (s->def.endless || (w->automatic > 0 && cells >= w->automatic && keeps_bits(&s->def)));
    if (!s->fitted)
        return;
    s->few_rows = keeps_bits_in_rows(&s->def);
    w->on = true;
    w->follow = UND_WINDOW_LIQUID;
    w->size = NULL;
    w->margin = 2 * s->layers + 2; /* so far goes what a substep moves, and so far is known around it */
}

void und_levelset_first_window(und_levelset *s)
{
    choose_window(s);
    set_sides(s);
    if (!s->def.window.on)
        return;
    box liquid = first_liquid(s), to;
    if (is_nothing(&liquid) && s->fitted)
        liquid = (box){{0, 0, 0}, {1, 1, 1}};
    to = wanted(s, &liquid);
    s->mac = mac_of(s, &to);
    set_sides(s);
}

und_status und_levelset_first_rows(und_levelset *s, und_error *err)
{
    first_liquid(s);
    return und_levelset_choose_rows(s, NULL, err);
}

und_status und_levelset_set_window(und_levelset *s, const int32_t window[6], const und_frame *state,
                                   und_error *err)
{
    box to;
    bool good = true;
    for (int a = 0; a < 3; a++) {
        int least = s->mac.whole[a] < LEAST ? s->mac.whole[a] : LEAST;
        good &= window[a] >= 0 && window[3 + a] >= least && window[3 + a] <= s->mac.whole[a] &&
                window[a] <= s->mac.whole[a] - window[3 + a];
    }
    if (!good)
        return und_error_set(err, UND_FAILED,
                             "the checkpoint is damaged: a window of %d x %d x %d cells from %d, %d, %d on",
                             window[3], window[4], window[5], window[0], window[1], window[2]);
    for (int a = 0; a < 3; a++) {
        to.low[a] = window[a];
        to.high[a] = window[a] + window[3 + a];
    }
    const box now = current(s);
    return memcmp(&to, &now, sizeof to) || s->present ? change(s, &to, state, err) : UND_OK;
}
