#include "bodies/flow_sample.h"

#include "base/parallel.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { BEYOND = 2 }; /* cells beyond the liquid in which its values are known */

static size_t cells_of(const und_flow_sample_grid *g)
{
    return (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
}

/* Values on the faces along an axis; axis 3: of cells. */
static void faces_of(const und_flow_sample_grid *g, int axis, int n[3])
{
    for (int k = 0; k < 3; k++)
        n[k] = g->n[k] + (k == axis);
}

static size_t count_of(const int n[3])
{
    return (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
}

static void level_size(const und_flow_sample_grid *g, int n[3])
{
    n[0] = g->n[0];
    n[1] = g->has_surface ? 1 : g->n[1] + 2;
    n[2] = g->n[2];
}

int und_flow_sample_parts(const und_flow_sample_grid *g, const und_flow_sample *sample,
                          und_flow_sample_part list[UND_FLOW_SAMPLE_PARTS])
{
    const und_flow_sample_part all[UND_FLOW_SAMPLE_PARTS] = {
        {"label", "afloat_label", UND_U8, 3, {0}, sample->label},
        {"pressure", "afloat_pressure", UND_F32, 3, {0}, sample->pressure},
        {"velocity_x", "afloat_velocity_x", UND_F32, 3, {0}, sample->velocity[0]},
        {"velocity_y", "afloat_velocity_y", UND_F32, 3, {0}, sample->velocity[1]},
        {"velocity_z", "afloat_velocity_z", UND_F32, 3, {0}, sample->velocity[2]},
        {"surface", "afloat_surface", UND_F32, 2, {0}, sample->surface},
        {"ground", "afloat_ground", UND_F32, 2, {0}, sample->ground},
    };
    for (int i = 0; i < UND_FLOW_SAMPLE_PARTS; i++) {
        int n[3];
        faces_of(g, i >= 2 && i < 5 ? i - 2 : 3, n);
        list[i] = all[i];
        list[i].dim[0] = (size_t)n[2];
        list[i].dim[1] = (size_t)(all[i].rank == 3 ? n[1] : n[0]);
        list[i].dim[2] = (size_t)n[0];
    }
    return g->has_surface ? UND_FLOW_SAMPLE_PARTS : UND_FLOW_SAMPLE_PARTS - 2;
}

und_status und_flow_sample_grid_open(und_flow_sample_grid *g, const und_frame *frame, und_error *err)
{
    size_t most = 2;
    for (int k = 0; k < 3; k++) {
        g->n[k] = frame->grid.n[k];
        g->d[k] = und_grid_size(&frame->grid, k);
        g->origin[k] = frame->grid.origin[k];
        if (g->n[k] < 1 || !(g->d[k] > 0) || !isfinite(g->d[k]) || !isfinite(g->origin[k]))
            return und_error_set(err, UND_INVALID, "frame %d has no grid in which bodies could float",
                                 frame->number);
        most *= (size_t)g->n[k] + 2;
    }
    g->has_surface = und_frame_find(frame, "surface") != NULL;
    for (int k = 0; k < 2; k++)
        if (!(g->mark[k] = und_alloc(most, 1, "floating bodies", err)))
            return err->status;
    return UND_OK;
}

void und_flow_sample_grid_close(und_flow_sample_grid *g)
{
    free(g->mark[0]);
    free(g->mark[1]);
}

und_status und_flow_sample_open(und_flow_sample *sample, const und_flow_sample_grid *g, und_error *err)
{
    const char *what = "the flow around floating bodies";
    size_t cells = cells_of(g), columns = (size_t)g->n[0] * (size_t)g->n[2];
    int n[3];
    level_size(g, n);
    sample->label = und_alloc(cells, 1, what, err);
    sample->pressure = sample->label ? und_alloc(cells, sizeof(float), what, err) : NULL;
    sample->level = sample->pressure ? und_alloc(count_of(n), sizeof(float), what, err) : NULL;
    bool all = sample->level != NULL;
    for (int a = 0; a < 3 && all; a++) {
        faces_of(g, a, n);
        sample->velocity[a] = und_alloc(count_of(n), sizeof(float), what, err);
        sample->slope[a] = sample->velocity[a] ? und_alloc(count_of(n), sizeof(float), what, err) : NULL;
        all = sample->slope[a] != NULL;
    }
    if (all && g->has_surface) {
        sample->surface = und_alloc(columns, sizeof(float), what, err);
        sample->ground = sample->surface ? und_alloc(columns, sizeof(float), what, err) : NULL;
        all = sample->ground != NULL;
    }
    return all ? UND_OK : err->status;
}

void und_flow_sample_close(und_flow_sample *sample)
{
    free(sample->label);
    free(sample->pressure);
    free(sample->surface);
    free(sample->ground);
    free(sample->level);
    for (int a = 0; a < 3; a++) {
        free(sample->velocity[a]);
        free(sample->slope[a]);
    }
}

static bool same_grid(const und_flow_sample_grid *g, const und_grid *grid)
{
    for (int k = 0; k < 3; k++)
        if (grid->n[k] != g->n[k] || und_grid_size(grid, k) != g->d[k] || grid->origin[k] != g->origin[k])
            return false;
    return true;
}

static und_status load_part(const und_flow_sample_part *part, const und_frame *frame, und_error *err)
{
    const und_item *item = und_frame_find(frame, part->item);
    if (!item)
        return und_error_set(
            err, UND_INVALID,
            "frame %d has no \"%s\": bodies float in the cells model's flow, kept with each frame",
            frame->number, part->item);
    bool fits = item->type == part->type && item->rank == part->rank && item->data;
    for (int k = 0; k < part->rank && fits; k++)
        fits = item->dim[k] == part->dim[k];
    if (!fits)
        return und_error_set(err, UND_INVALID, "frame %d: \"%s\" does not fit the grid", frame->number,
                             part->item);
    memcpy(part->data, item->data, und_item_bytes(item));
    return UND_OK;
}

und_status und_flow_sample_load(und_flow_sample *sample, const und_flow_sample_grid *g,
                                const und_frame *frame, und_error *err)
{
    und_flow_sample_part parts[UND_FLOW_SAMPLE_PARTS];
    int count = und_flow_sample_parts(g, sample, parts);
    if (!same_grid(g, &frame->grid))
        return und_error_set(err, UND_INVALID, "frame %d has another grid than the one before it",
                             frame->number);
    for (int i = 0; i < count; i++)
        if (load_part(&parts[i], frame, err) != UND_OK)
            return err->status;
    sample->time = frame->time;
    und_flow_sample_make(sample, g);
    return UND_OK;
}

/* ---- what is made of a frame ---- */

/* One value more on all sides: the mean of those known beside it. */
static void extend_row(float *v, const uint8_t *known, uint8_t *next, const int n[3], int y, int z)
{
    const ptrdiff_t step[3] = {1, n[0], (ptrdiff_t)n[0] * n[1]};
    for (int x = 0; x < n[0]; x++) {
        ptrdiff_t at = x + y * step[1] + z * step[2];
        const int c[3] = {x, y, z};
        float sum = 0;
        int count = 0;
        next[at] = known[at];
        for (int k = 0; k < 3 && !known[at]; k++) {
            if (c[k] > 0 && known[at - step[k]]) {
                sum += v[at - step[k]];
                count++;
            }
            if (c[k] + 1 < n[k] && known[at + step[k]]) {
                sum += v[at + step[k]];
                count++;
            }
        }
        if (count > 0) {
            v[at] = sum / (float)count;
            next[at] = 1;
        }
    }
}

/* Values that mark[0] says are known, carried on beyond where they end. */
static void extend(const und_flow_sample_grid *g, float *v, const int n[3])
{
    for (int pass = 0; pass < BEYOND; pass++) {
        const uint8_t *known = g->mark[pass % 2];
        uint8_t *next = g->mark[(pass + 1) % 2];
        PARALLEL_FOR(g->threads)
        for (int z = 0; z < n[2]; z++)
            for (int y = 0; y < n[1]; y++)
                extend_row(v, known, next, n, y, z);
    }
}

static bool is_liquid(uint8_t label)
{
    return label == UND_CELL_FULL || label == UND_CELL_SURFACE;
}

/* Differences of the pressure across faces between two cells with liquid: equation 14, centred. */
static void slope_row(const und_flow_sample_grid *g, const und_flow_sample *f, int axis, int y, int z)
{
    int n[3];
    faces_of(g, axis, n);
    const ptrdiff_t step[3] = {1, g->n[0], (ptrdiff_t)g->n[0] * g->n[1]};
    size_t to = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0];
    for (int x = 0; x < n[0]; x++, to++) {
        const int c = axis == 0 ? x : axis == 1 ? y : z;
        ptrdiff_t cell = x + y * step[1] + z * step[2];
        bool inside = c > 0 && c < g->n[axis];
        bool known = inside && is_liquid(f->label[cell]) && is_liquid(f->label[cell - step[axis]]);
        g->mark[0][to] = known;
        f->slope[axis][to] =
            known ? (f->pressure[cell] - f->pressure[cell - step[axis]]) / (float)g->d[axis] : 0;
    }
}

/* A layer of liquid one cell deep has no two pressures above each other; what stands on something solid is
 * taken to be at rest. */
static void stand_row(const und_flow_sample_grid *g, const und_flow_sample *f, int z)
{
    for (int y = 0; y < g->n[1]; y++)
        for (int x = 0; x < g->n[0]; x++) {
            size_t row = (size_t)g->n[0], cell = ((size_t)z * (size_t)g->n[1] + (size_t)y) * row + (size_t)x;
            size_t face = cell + (size_t)z * row; /* its low face */
            bool stands = is_liquid(f->label[cell]) && (y == 0 || f->label[cell - row] == UND_CELL_SOLID);
            if (!stands || (y + 1 < g->n[1] && is_liquid(f->label[cell + row])))
                continue;
            f->slope[1][face] = (float)(g->density * g->gravity[1]);
            g->mark[0][face] = 1;
        }
}

static void make_slopes(und_flow_sample *f, const und_flow_sample_grid *g)
{
    for (int axis = 0; axis < 3; axis++) {
        int n[3];
        faces_of(g, axis, n);
        PARALLEL_FOR(g->threads)
        for (int z = 0; z < n[2]; z++) {
            for (int y = 0; y < n[1]; y++)
                slope_row(g, f, axis, y, z);
            if (axis == 1)
                stand_row(g, f, z);
        }
        extend(g, f->slope[axis], n);
    }
}

static bool is_wet(const und_flow_sample *f, const und_flow_sample_grid *g, size_t column)
{
    const double film = 1e-3; /* cells: less is dry */
    return (double)(f->surface[column] - f->ground[column]) > film * g->d[1];
}

/* Where something solid stands out of the liquid, the level beside it goes on into it; far from the liquid
 * there is no level. */
static void make_heights(und_flow_sample *f, const und_flow_sample_grid *g)
{
    int n[3];
    level_size(g, n);
    const uint8_t *known = g->mark[BEYOND % 2];
    float none = (float)(g->origin[1] - g->d[1]);
    size_t count = count_of(n);
    for (size_t i = 0; i < count; i++) {
        f->level[i] = f->surface[i];
        g->mark[0][i] = is_wet(f, g, i);
    }
    extend(g, f->level, n);
    for (size_t i = 0; i < count; i++)
        if (!is_wet(f, g, i))
            f->level[i] = known[i] ? fminf(f->level[i], f->surface[i]) : none;
}

/* The paper's pressure is that of the air at the middle of a Surface cell: there the surface is. */
static void share_row(const und_flow_sample_grid *g, const und_flow_sample *f, int layer, int z)
{
    static const float shares[] = {
        [UND_CELL_EMPTY] = 0, [UND_CELL_SURFACE] = 0.5f, [UND_CELL_FULL] = 1, [UND_CELL_SOLID] = 0};
    size_t row = (size_t)g->n[0], to = ((size_t)z * ((size_t)g->n[1] + 2) + (size_t)layer) * row;
    int y = layer - 1;
    const uint8_t *cell = f->label + ((size_t)z * (size_t)g->n[1] + (size_t)(y > 0 ? y : 0)) * row;
    for (int x = 0; x < g->n[0]; x++, to++) {
        bool outside = y < 0 || y == g->n[1], above_is_wet;
        if (y < 0)
            above_is_wet = is_liquid(cell[x]);
        else
            above_is_wet = y + 1 < g->n[1] && is_liquid(cell[(size_t)x + row]);
        bool solid = outside ? y < 0 : cell[x] == UND_CELL_SOLID;
        f->level[to] = solid ? (float)above_is_wet : outside ? 0 : shares[cell[x] & 3];
        g->mark[0][to] = !solid || above_is_wet;
    }
}

static void make_shares(und_flow_sample *f, const und_flow_sample_grid *g)
{
    int n[3];
    level_size(g, n);
    PARALLEL_FOR(g->threads)
    for (int z = 0; z < n[2]; z++)
        for (int layer = 0; layer < n[1]; layer++)
            share_row(g, f, layer, z);
    extend(g, f->level, n);
}

static bool is_pressed(const und_flow_sample *f, const und_flow_sample_grid *g)
{
    size_t cells = cells_of(g);
    for (size_t i = 0; i < cells; i++)
        if (f->label[i] == UND_CELL_FULL && f->pressure[i] != 0)
            return true;
    return false;
}

void und_flow_sample_press(und_flow_sample *f, const und_flow_sample *next, const und_flow_sample_grid *g)
{
    int n[3];
    for (int a = 0; a < 3 && !f->pressed; a++) {
        faces_of(g, a, n);
        memcpy(f->slope[a], next->slope[a], count_of(n) * sizeof(float));
    }
}

void und_flow_sample_make(und_flow_sample *f, const und_flow_sample_grid *g)
{
    make_slopes(f, g);
    f->pressed = is_pressed(f, g);
    if (g->has_surface)
        make_heights(f, g);
    else
        make_shares(f, g);
}

/* ---- at a place ---- */

/* The eight values around a place, and their weights. */
typedef struct corners {
    size_t at[8];
    double weight[8];
} corners;

/* `p` counts samples from the first; beyond the ends it is as at them. */
static corners corners_at(const double p[3], const int n[3])
{
    corners c;
    size_t low[3], high[3], step[3] = {1, (size_t)n[0], (size_t)n[0] * (size_t)n[1]};
    double part[3];
    for (int k = 0; k < 3; k++) {
        double q = p[k] > 0 ? p[k] : 0; /* also where it is no number */
        q = q < n[k] - 1 ? q : n[k] - 1;
        int i = (int)q < n[k] - 1 ? (int)q : (n[k] > 1 ? n[k] - 2 : 0);
        part[k] = q - i;
        low[k] = (size_t)i * step[k];
        high[k] = n[k] > 1 ? low[k] + step[k] : low[k];
    }
    for (int i = 0; i < 8; i++) {
        c.at[i] = (i & 1 ? high[0] : low[0]) + (i & 2 ? high[1] : low[1]) + (i & 4 ? high[2] : low[2]);
        c.weight[i] = (i & 1 ? part[0] : 1 - part[0]) * (i & 2 ? part[1] : 1 - part[1]) *
                      (i & 4 ? part[2] : 1 - part[2]);
    }
    return c;
}

static double mean_of(const corners *c, const float *from, const float *to, double share)
{
    double a = 0, b = 0;
    for (int i = 0; i < 8; i++) {
        a += c->weight[i] * (double)from[c->at[i]];
        b += c->weight[i] * (double)to[c->at[i]];
    }
    return (1 - share) * a + share * b;
}

/* In cells from the low corner. */
static void place_of(const und_flow_sample_grid *g, und_vec3 at, double p[3])
{
    const double x[3] = {at.x, at.y, at.z};
    for (int k = 0; k < 3; k++)
        p[k] = (x[k] - g->origin[k]) / g->d[k];
}

double und_flow_sample_depth(const und_flow_sample_grid *g, const und_flow_sample *from,
                             const und_flow_sample *to, double share, und_vec3 at)
{
    double p[3];
    int n[3];
    level_size(g, n);
    place_of(g, at, p);
    p[0] -= 0.5;
    p[1] += 0.5; /* the layer below the floor is the first */
    p[2] -= 0.5;
    corners c = corners_at(p, n);
    double level = mean_of(&c, from->level, to->level, share);
    return g->has_surface ? level - at.y : 2 * (level - 0.5) * g->d[1];
}

void und_flow_sample_flow(const und_flow_sample_grid *g, const und_flow_sample *from,
                          const und_flow_sample *to, double share, und_vec3 at, und_vec3 *slope,
                          und_vec3 *velocity)
{
    double place[3], s[3], u[3];
    place_of(g, at, place);
    for (int a = 0; a < 3; a++) {
        double p[3];
        int n[3];
        faces_of(g, a, n);
        for (int k = 0; k < 3; k++)
            p[k] = place[k] - (k == a ? 0 : 0.5);
        corners c = corners_at(p, n);
        s[a] = mean_of(&c, from->slope[a], to->slope[a], share);
        u[a] = mean_of(&c, from->velocity[a], to->velocity[a], share);
    }
    *slope = und_vec(s[0], s[1], s[2]);
    *velocity = und_vec(u[0], u[1], u[2]);
}
