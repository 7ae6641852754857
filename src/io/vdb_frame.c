#include "io/vdb_frame.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "io/vdb.h"

#include <math.h>

enum { BAND = 3 /* voxels to each side of the surface */, GRIDS = 3, ARRAYS = 8 };

/* A voxel of the file has along axis a the frame's axis[a]; where that is turned around, voxel v is cell
 * -1 - v, and its low face the one at -v. */
typedef struct turn {
    int axis[3];
    bool back[3];
} turn;

typedef struct job {
    const und_frame *frame;
    turn turn;
    int threads;
    const float *distance, *solid, *pressure, *velocity[3];
    void *owned[ARRAYS];
    int owned_count;
    int grid_count;
    und_vdb_grid grids[GRIDS];
} job;

static turn turn_of(und_up up)
{
    return up == UND_UP_Z ? (turn){{0, 2, 1}, {false, true, false}}
                          : (turn){{0, 1, 2}, {false, false, false}};
}

static int cell_of(const turn *t, int axis, int voxel)
{
    return t->back[axis] ? -1 - voxel : voxel;
}

/* The voxels of all cells, `before` more on the low sides of the file's axes and `after` on the high. */
static und_vdb_grid grid_over(const job *j, const char *name, und_vdb_kind kind, int before, int after)
{
    const und_grid *g = &j->frame->grid;
    und_vdb_grid grid = {.name = name, .kind = kind, .voxel = g->dx};
    for (int a = 0; a < 3; a++) {
        int from = j->turn.axis[a], n = g->n[from];
        grid.low[a] = (j->turn.back[a] ? -n : 0) - before;
        grid.n[a] = n + before + after;
        grid.origin[a] = (j->turn.back[a] ? -g->origin[from] : g->origin[from]) + 0.5 * g->dx;
    }
    return grid;
}

static void *array(job *j, const und_vdb_grid *g, size_t size, und_error *err)
{
    void *data = und_pages_alloc((size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2] * size, "voxels", err);
    j->owned[j->owned_count++] = data;
    return data;
}

static size_t voxel_at(const und_vdb_grid *g, int x, int y, int z)
{
    return ((size_t)(z - g->low[2]) * (size_t)g->n[1] + (size_t)(y - g->low[1])) * (size_t)g->n[0] +
           (size_t)(x - g->low[0]);
}

/* How far outside of the grid's box a cell's middle is, in cells. */
static double box_distance(const int n[3], const int cell[3])
{
    double outside = 0, inside = -INFINITY;
    for (int a = 0; a < 3; a++) {
        double d = fmax(-0.5 - cell[a], cell[a] + 0.5 - n[a]);
        outside += d > 0 ? d * d : 0;
        inside = fmax(inside, d);
    }
    return inside > 0 ? sqrt(outside) : inside;
}

static float surface_at(const job *j, const int cell[3], float background)
{
    const und_grid *g = &j->frame->grid;
    size_t at = 0;
    for (int a = 2; a >= 0; a--) {
        int held = cell[a] < 0 ? 0 : cell[a] >= g->n[a] ? g->n[a] - 1 : cell[a];
        at = at * (size_t)g->n[a] + (size_t)held;
    }
    float value = j->distance[at], box = (float)(box_distance(g->n, cell) * g->dx);
    if (j->solid && !(-j->solid[at] < value))
        value = -j->solid[at];
    if (!(value < background) || !(box < background))
        return background;
    value = value > box ? value : box;
    return value > -background ? value : -background;
}

static und_status add_surface(job *j, und_error *err)
{
    und_vdb_grid g = grid_over(j, "surface", UND_VDB_LEVEL_SET, BAND, BAND);
    g.background = (float)(BAND * g.voxel);
    float *value = array(j, &g, sizeof *value, err);
    if (!value)
        return UND_FAILED;
    g.value[0] = value;
    PARALLEL_FOR(j->threads)
    for (int z = g.low[2]; z < g.low[2] + g.n[2]; z++)
        for (int y = g.low[1]; y < g.low[1] + g.n[1]; y++)
            for (int x = g.low[0]; x < g.low[0] + g.n[0]; x++) {
                const int voxel[3] = {x, y, z};
                int cell[3];
                for (int a = 0; a < 3; a++)
                    cell[j->turn.axis[a]] = cell_of(&j->turn, a, voxel[a]);
                value[voxel_at(&g, x, y, z)] = surface_at(j, cell, g.background);
            }
    j->grids[j->grid_count++] = g;
    return UND_OK;
}

/* Is liquid or the band in the voxel, or in one whose high face is its low one? */
static bool is_wet(const und_vdb_grid *surface, int x, int y, int z)
{
    return surface->value[0][voxel_at(surface, x, y, z)] < surface->background ||
           surface->value[0][voxel_at(surface, x - 1, y, z)] < surface->background ||
           surface->value[0][voxel_at(surface, x, y - 1, z)] < surface->background ||
           surface->value[0][voxel_at(surface, x, y, z - 1)] < surface->background;
}

/* The file's component a on the low face of a voxel; 0 where there is no such face. */
static float face_at(const job *j, int a, const int voxel[3])
{
    const und_grid *g = &j->frame->grid;
    int axis = j->turn.axis[a], at[3];
    for (int b = 0; b < 3; b++)
        at[j->turn.axis[b]] = b == a && j->turn.back[b] ? -voxel[b] : cell_of(&j->turn, b, voxel[b]);
    size_t index = 0;
    for (int b = 2; b >= 0; b--) {
        int n = g->n[b] + (b == axis);
        if (at[b] < 0 || at[b] >= n)
            return 0;
        index = index * (size_t)n + (size_t)at[b];
    }
    float value = j->velocity[axis] ? j->velocity[axis][index] : 0;
    value = isfinite(value) ? value : 0;
    return j->turn.back[a] ? -value : value;
}

static und_status add_velocity(job *j, und_error *err)
{
    und_vdb_grid g = grid_over(j, "vel", UND_VDB_STAGGERED, 0, 1);
    float *value[3];
    for (int a = 0; a < 3; a++)
        g.value[a] = value[a] = array(j, &g, sizeof *value[a], err);
    uint8_t *active = array(j, &g, 1, err);
    if (!value[0] || !value[1] || !value[2] || !active)
        return UND_FAILED;
    g.active = active;
    PARALLEL_FOR(j->threads)
    for (int z = g.low[2]; z < g.low[2] + g.n[2]; z++)
        for (int y = g.low[1]; y < g.low[1] + g.n[1]; y++)
            for (int x = g.low[0]; x < g.low[0] + g.n[0]; x++) {
                size_t at = voxel_at(&g, x, y, z);
                active[at] = is_wet(&j->grids[0], x, y, z);
                for (int a = 0; a < 3 && active[at]; a++)
                    value[a][at] = face_at(j, a, (const int[3]){x, y, z});
            }
    j->grids[j->grid_count++] = g;
    return UND_OK;
}

static und_status add_pressure(job *j, und_error *err)
{
    const und_grid *f = &j->frame->grid;
    und_vdb_grid g = grid_over(j, "pressure", UND_VDB_SCALAR, 0, 0);
    const und_vdb_grid *surface = &j->grids[0];
    float *value = array(j, &g, sizeof *value, err);
    uint8_t *active = array(j, &g, 1, err);
    if (!value || !active)
        return UND_FAILED;
    g.value[0] = value;
    g.active = active;
    PARALLEL_FOR(j->threads)
    for (int z = g.low[2]; z < g.low[2] + g.n[2]; z++)
        for (int y = g.low[1]; y < g.low[1] + g.n[1]; y++)
            for (int x = g.low[0]; x < g.low[0] + g.n[0]; x++) {
                const int voxel[3] = {x, y, z};
                size_t at = voxel_at(&g, x, y, z), from[3];
                for (int a = 0; a < 3; a++)
                    from[j->turn.axis[a]] = (size_t)cell_of(&j->turn, a, voxel[a]);
                value[at] = j->pressure[(from[2] * (size_t)f->n[1] + from[1]) * (size_t)f->n[0] + from[0]];
                active[at] = surface->value[0][voxel_at(surface, x, y, z)] < surface->background;
            }
    j->grids[j->grid_count++] = g;
    return UND_OK;
}

static und_status find_items(job *j, und_error *err)
{
    static const char *const name[3] = {"velocity_x", "velocity_y", "velocity_z"};
    const und_grid *g = &j->frame->grid;
    for (int a = 0; a < 3; a++)
        if (g->n[a] < 1 || g->n[a] > 65536 || !(g->dx > 0) || !(g->dx < 1e9) || !(fabs(g->origin[a]) < 1e9) ||
            fabs(und_grid_size(g, a) / g->dx - 1) > 1e-6)
            return und_error_set(err, UND_FAILED, "frame %d: VDB wants a grid of cubes", j->frame->number);
    for (int a = 0; a < 3; a++)
        if (und_frame_field(j->frame, name[a], a, &j->velocity[a], err) != UND_OK)
            return UND_FAILED;
    if (und_frame_field(j->frame, "distance", -1, &j->distance, err) ||
        und_frame_field(j->frame, "solid/distance", -1, &j->solid, err) ||
        und_frame_field(j->frame, "pressure", -1, &j->pressure, err))
        return UND_FAILED;
    if (!j->distance)
        return und_error_set(err, UND_INVALID, "frame %d holds no distance of a liquid", j->frame->number);
    return UND_OK;
}

und_status und_vdb_write_frame(const char *path, const und_frame *frame, und_up up, bool half, int threads,
                               und_error *err)
{
    job j = {.frame = frame, .turn = turn_of(up), .threads = und_threads(threads)};
    und_status status = find_items(&j, err);
    if (status == UND_OK)
        status = add_surface(&j, err);
    if (status == UND_OK && j.velocity[0] && j.velocity[1])
        status = add_velocity(&j, err);
    if (status == UND_OK && j.pressure)
        status = add_pressure(&j, err);
    und_vdb_def def = {.grid_count = j.grid_count,
                       .grids = j.grids,
                       .frame = frame->number,
                       .time = frame->time,
                       .half = half,
                       .z_up = up == UND_UP_Z,
                       .threads = j.threads};
    if (status == UND_OK)
        status = und_vdb_write(path, &def, err);
    for (int i = 0; i < j.owned_count; i++)
        und_pages_free(j.owned[i]);
    return status;
}
