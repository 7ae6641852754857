/* The lattice that rays look the liquid's distance up in, made from a frame's. */
#include "trace/world_level.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "surface/frame_mesh.h"

#include <stdlib.h>
#include <string.h>

enum { BESIDE = 2 };

/* Beyond the wall as far on as between the last cell and the wall: linear through both. */
static void pad_line(float *cell, ptrdiff_t in, bool alone, float half)
{
    float beyond = 2 * (und_distance_on_wall(cell[0], alone ? cell[0] : cell[in], half) - cell[0]);
    cell[-in] = cell[0] + beyond;
    cell[-2 * in] = cell[0] + 2 * beyond;
}

static void pad_axis(const und_traced_level *l, float *field, int axis, int a, int b)
{
    int other[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
    float *line = field + a * l->step[other[0]] + b * l->step[other[1]];
    int cells = l->n[axis] - 2 * BESIDE;
    ptrdiff_t step = l->step[axis];
    pad_line(line + BESIDE * step, step, cells == 1, 0.5f * l->cell[axis]);
    pad_line(line + (BESIDE + cells - 1) * step, -step, cells == 1, 0.5f * l->cell[axis]);
}

/* What is not finite is outside; far from the surface it does not matter how far. */
static float clean(float value, float instead, float most)
{
    return isfinite(value) ? clampf(value, -most, most) : instead;
}

static float *pad(const und_traced_level *l, const float *values, float add, int threads, und_error *err)
{
    const float most = 64 * l->small;
    size_t count = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
    float *field = und_pages_alloc((count + 16) * sizeof *field, "the liquid's distance", err);
    int n[3];
    for (int a = 0; a < 3; a++)
        n[a] = l->n[a] - 2 * BESIDE;
    threads = und_workers(threads, count, 1 << 15);
    if (!field)
        return NULL;
    PARALLEL_FOR(threads)
    for (int z = 0; z < n[2]; z++) {
        for (int y = 0; y < n[1]; y++) {
            float *row = field + (z + BESIDE) * l->step[2] + (y + BESIDE) * l->step[1] + BESIDE;
            const float *from = values + ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0];
            for (int x = 0; x < n[0]; x++)
                row[x] = clean(from[x] + add, l->small, most);
            pad_axis(l, field, 0, y + BESIDE, z + BESIDE);
        }
        for (int x = 0; x < l->n[0]; x++)
            pad_axis(l, field, 1, x, z + BESIDE);
    }
    PARALLEL_FOR(threads)
    for (int y = 0; y < l->n[1]; y++)
        for (int x = 0; x < l->n[0]; x++)
            pad_axis(l, field, 2, x, y);
    return field;
}

/* Whether all values of a brick's nodes are below 0, and whether all are not. */
static void brick_signs(const und_traced_level *l, const float *field, const int at[3], bool *all, bool *none)
{
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] * UND_LEVEL_BRICK;
        high[a] = low[a] + UND_LEVEL_BRICK < l->n[a] ? low[a] + UND_LEVEL_BRICK : l->n[a] - 1;
    }
    *all = *none = true;
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++) {
            const float *row = field + z * l->step[2] + y * l->step[1];
            for (int x = low[0]; x <= high[0]; x++) {
                *all = *all && row[x] < 0;
                *none = *none && !(row[x] < 0);
            }
        }
}

static uint8_t brick_kind(const und_traced_level *l, const int at[3])
{
    bool full, empty, solid = false, free = true;
    brick_signs(l, l->phi, at, &full, &empty);
    for (int k = 0; k + 1 < l->moments && (full || empty); k++) {
        bool all, none;
        brick_signs(l, l->at[k], at, &all, &none);
        full = full && all;
        empty = empty && none;
    }
    if (l->room)
        brick_signs(l, l->room, at, &solid, &free);
    if (empty || solid || (full && free))
        return UND_BRICK_PLAIN;
    return free ? UND_BRICK_SURFACE : UND_BRICK_ROOM;
}

static void find_bricks(und_traced_level *l, int threads)
{
    PARALLEL_FOR(und_workers(threads, (size_t)l->bricks[2], 4))
    for (int z = 0; z < l->bricks[2]; z++)
        for (int y = 0; y < l->bricks[1]; y++)
            for (int x = 0; x < l->bricks[0]; x++)
                l->brick[((size_t)z * (size_t)l->bricks[1] + (size_t)y) * (size_t)l->bricks[0] + (size_t)x] =
                    brick_kind(l, (int[3]){x, y, z});
}

static void lay_out(und_traced_level *l, const und_grid *g, const und_level_def *def)
{
    l->grid = *g;
    l->small = INFINITY;
    for (int a = 0; a < 3; a++) {
        double d = und_grid_size(g, a);
        l->n[a] = g->n[a] + 2 * BESIDE;
        l->step[a] = a == 0 ? 1 : l->step[a - 1] * l->n[a - 1];
        l->cell[a] = (float)d;
        l->per_m[a] = (float)(1 / d);
        l->small = minf(l->small, (float)d);
        l->origin[a] = g->origin[a] + (0.5 - BESIDE) * d;
        l->low[a] = BESIDE - 0.5f;
        l->high[a] = (float)g->n[a] + BESIDE - 0.5f;
        l->bricks[a] = (l->n[a] - 2) / UND_LEVEL_BRICK + 1;
    }
    l->low[1] -= (float)def->below;
    for (int a = 0; a < 3; a++)
        l->reach += (float)l->n[a] * l->cell[a];
}

/* Without all three, or where they do not fit, nothing is known of how the liquid moves. */
static void find_velocity(und_traced_level *l, const und_frame *frame)
{
    static const char *const name[3] = {"velocity_x", "velocity_y", "velocity_z"};
    const float *face[3] = {0};
    und_error unused;
    for (int a = 0; a < 3; a++)
        if (und_frame_field(frame, name[a], a, &face[a], &unused) != UND_OK || !face[a])
            return;
    memcpy(l->face, face, sizeof face);
}

und_status und_trace_level_open(und_traced_level *l, const und_frame *frame, const und_level_def *def,
                                und_error *err)
{
    const und_grid *g = &frame->grid;
    const float *distance, *solid;
    *l = (und_traced_level){0};
    for (int a = 0; a < 3; a++)
        if (g->n[a] < 1 || g->n[a] > 65536 || !(und_grid_size(g, a) > 0) || !(und_grid_size(g, a) < 1e9) ||
            !(fabs(g->origin[a]) < 1e9))
            return und_error_set(err, UND_FAILED, "frame %d: the grid is damaged", frame->number);
    if (und_frame_field(frame, "distance", -1, &distance, err) ||
        und_frame_field(frame, "solid/distance", -1, &solid, err))
        return UND_FAILED;
    if (!distance)
        return UND_OK;
    lay_out(l, g, def);
    find_velocity(l, frame);
    size_t bricks = (size_t)l->bricks[0] * (size_t)l->bricks[1] * (size_t)l->bricks[2];
    l->phi = pad(l, distance, 0, def->threads, err);
    l->room = solid && l->phi ? pad(l, solid, (float)(def->into_solids * g->dx), def->threads, err) : NULL;
    l->brick = und_alloc(bricks, 1, "the liquid's bricks", err);
    l->moments = 1;
    l->at[0] = l->phi;
    if (!l->phi || !l->brick || (solid && !l->room) ||
        und_trace_level_move(l, def->shutter, def->threads, err) != UND_OK) {
        und_trace_level_close(l);
        return UND_FAILED;
    }
    find_bricks(l, def->threads);
    return UND_OK;
}

void und_trace_level_close(und_traced_level *l)
{
    for (int k = 0; k < UND_LEVEL_MOMENTS; k++)
        if (l->at[k] != l->phi)
            und_pages_free(l->at[k]);
    und_pages_free(l->phi);
    und_pages_free(l->room);
    free(l->brick);
    *l = (und_traced_level){0};
}
