#include "surface/frame_mesh.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "geom/vec.h"
#include "surface/frame_mesh_parts.h"

#include <stdlib.h>
#include <string.h>

/* Along each axis: a plane of points outside, one on the wall, the cells' centres, one on the wall, one
 * outside.  The outer two are at the same place, so that the surface is closed flat on the wall, and the line
 * where liquid meets it is as smooth as the surface. */
static const float ALONG = 0.7F;  /* cosine: what lies along a solid's surface */
static const float LEVEL = 0.25F; /* of a slope's square: that leads nowhere */
static const float NEAR = 0.02F;  /* cells: what is nearer to a point is at it */
enum { BESIDE = 2, LONGEST = 12 /* cells; what an edge may grow to where triangles are saved */ };

bool und_frame_mesh_has_distance(const und_frame *frame)
{
    return und_frame_find(frame, "distance") != NULL;
}

bool und_frame_mesh_has_liquid(const und_frame *frame)
{
    return und_frame_mesh_has_distance(frame) || und_frame_find(frame, "liquid/mesh_position");
}

typedef struct padded {
    const und_grid *grid;
    int n[3], threads; /* points */
    ptrdiff_t step[3];
    double *at[3];
} padded;

static und_status check_grid(const und_frame *frame, und_error *err)
{
    const und_grid *g = &frame->grid;
    for (int a = 0; a < 3; a++)
        if (g->n[a] < 1 || g->n[a] > 65536 || !(und_grid_size(g, a) > 0) || !(und_grid_size(g, a) < 1e9) ||
            !(fabs(g->origin[a]) < 1e9))
            return und_error_set(err, UND_FAILED, "frame %d: the grid is damaged", frame->number);
    return UND_OK;
}

static und_status padded_open(padded *p, const und_frame *frame, int threads, und_error *err)
{
    const und_grid *g = &frame->grid;
    *p = (padded){.grid = g, .threads = und_threads(threads)};
    size_t points = 0;
    for (int a = 0; a < 3; a++) {
        p->n[a] = g->n[a] + 2 * BESIDE;
        p->step[a] = a == 0 ? 1 : p->step[a - 1] * p->n[a - 1];
        points += (size_t)p->n[a];
    }
    if (!(p->at[0] = und_alloc(points, sizeof *p->at[0], "a lattice", err)))
        return UND_FAILED;
    for (int a = 0; a < 3; a++) {
        double d = und_grid_size(g, a);
        if (a > 0)
            p->at[a] = p->at[a - 1] + p->n[a - 1];
        for (int i = 0; i < p->n[a]; i++)
            p->at[a][i] = g->origin[a] + fmin(fmax(i - BESIDE + 0.5, 0), g->n[a]) * d;
    }
    return UND_OK;
}

static void pad_row(const padded *p, float *row, float half, float outside)
{
    int n = p->grid->n[0], low = BESIDE, high = BESIDE + n - 1;
    row[low - 1] = und_distance_on_wall(row[low], row[n > 1 ? low + 1 : low], half);
    row[high + 1] = und_distance_on_wall(row[high], row[n > 1 ? high - 1 : high], half);
    row[0] = row[n + 3] = outside;
}

/* Rows across the axis, y or z: the one on the wall, and the one outside. */
static void pad_side(const padded *p, float *field, int axis, bool high, ptrdiff_t base, float outside)
{
    int n = p->grid->n[axis], cell = high ? BESIDE + n - 1 : BESIDE, in = high ? -1 : 1;
    float half = 0.5F * (float)und_grid_size(p->grid, axis);
    const float *last = field + base + cell * p->step[axis],
                *before = n > 1 ? last + in * p->step[axis] : last;
    float *wall = field + base + (cell - in) * p->step[axis], *out = wall - in * p->step[axis];
    for (int x = 0; x < p->n[0]; x++) {
        wall[x] = x == 0 || x == p->n[0] - 1 ? outside : und_distance_on_wall(last[x], before[x], half);
        out[x] = outside;
    }
}

/* Whether something of a row of the item's was written. */
static bool has_row(const und_item *item, int row)
{
    const size_t wide = item->dim[2], begin = (size_t)row * wide, end = begin + wide;
    size_t next;
    return und_item_written(item, begin, end, &next) || next < end;
}

/* [nz][ny][nx] values plus `add` into the padded lattice; where none were written that is what it is full of.
 */
static float *pad(const padded *p, const und_item *item, float add, und_error *err)
{
    const float *values = item->data, far = item->rows ? (float)item->rows->outside + add : 0;
    const int *n = p->grid->n;
    const float outside = (float)p->grid->dx, half = 0.5F * (float)p->grid->dx;
    size_t count = (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
    float *field = item->rows ? und_pages_alloc_of(count * sizeof *field, &far, sizeof far, "a lattice", err)
                              : und_pages_alloc(count * sizeof *field, "a lattice", err);
    if (!field)
        return NULL;
    PARALLEL_FOR(und_workers(p->threads, count, 1 << 15))
    for (int z = 0; z < n[2]; z++) {
        ptrdiff_t plane = (z + BESIDE) * p->step[2];
        for (int y = 0; y < n[1]; y++) {
            float *row = field + plane + (y + BESIDE) * p->step[1];
            const float *from = values + ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0];
            if (!has_row(item, z * n[1] + y))
                continue;
            for (int x = 0; x < n[0]; x++)
                row[x + BESIDE] = from[x] + add;
            pad_row(p, row, half, outside);
        }
        pad_side(p, field, 1, false, plane, outside);
        pad_side(p, field, 1, true, plane, outside);
    }
    for (int y = 0; y < p->n[1]; y++)
        for (int high = 0; high < 2; high++)
            pad_side(p, field, 2, high, y * p->step[1], outside);
    return field;
}

/* Linear between the faces' middles, held beyond the outermost. */
static double face_value(const und_grid *g, const float *faces, int axis, const float place[3])
{
    int low[3], n[3];
    double part[3], sum = 0;
    for (int a = 0; a < 3; a++) {
        n[a] = g->n[a] + (a == axis);
        double s = ((double)place[a] - g->origin[a]) / und_grid_size(g, a) - (a == axis ? 0 : 0.5);
        s = und_larger(0, und_smaller(n[a] - 1, s));
        low[a] = (int)und_smaller(s, n[a] > 1 ? n[a] - 2 : 0);
        part[a] = s - low[a];
    }
    for (int c = 0; c < 8; c++) {
        size_t at[3];
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            int high = c >> a & 1;
            weight *= high ? part[a] : 1 - part[a];
            at[a] = (size_t)(high && n[a] > 1 ? low[a] + 1 : low[a]);
        }
        if (weight > 0)
            sum += weight * (double)faces[(at[2] * (size_t)n[1] + at[1]) * (size_t)n[0] + at[0]];
    }
    return isfinite(sum) ? sum : 0;
}

static und_status add_velocity(const und_frame *frame, int threads, und_shell *shell, und_error *err)
{
    static const char *const name[3] = {"velocity_x", "velocity_y", "velocity_z"};
    enum { BLOCK = 4096 };
    const float *faces[3];
    for (int a = 0; a < 3; a++)
        if (und_frame_field(frame, name[a], a, &faces[a], err) != UND_OK)
            return UND_FAILED;
    if (!faces[0] || !faces[1])
        return UND_OK;
    int count = shell->vertex_count, blocks = (count + BLOCK - 1) / BLOCK;
    shell->velocity = und_alloc(3 * (size_t)count, sizeof *shell->velocity, "a surface's velocities", err);
    if (!shell->velocity)
        return UND_FAILED;
    PARALLEL_FOR(und_workers(und_threads(threads), (size_t)count, BLOCK))
    for (int b = 0; b < blocks; b++)
        for (int v = b * BLOCK; v < (b + 1) * BLOCK && v < count; v++)
            for (int a = 0; a < 3 && faces[a]; a++)
                shell->velocity[3 * v + a] =
                    (float)face_value(&frame->grid, faces[a], a, shell->position + 3 * (size_t)v);
    return UND_OK;
}

/* ---- Films ----
 *
 * On a solid a layer may be thinner than the points lie apart: one point is in the air, the next one in the
 * solid, and what is between the two no point tells.  Points in the solid beneath such layers then count as
 * open, and what of the surface is in the solid is moved out to its surface. */

typedef struct films {
    const padded *p;
    const float *field;
    float *room;
    und_frame_mesh_box box;
    uint8_t
        *open; /* [points]: of those in the solid that count as open the ways out of it, as bits; else 0 */
    uint8_t *walls; /* [points]: bits of axes along which the solid is between one of these and the next */
} films;

static ptrdiff_t p_step(const films *f, int axis)
{
    return f->p->step[axis];
}

static bool is_beneath(const films *f, size_t at)
{
    return !(f->room[at] > 0) && f->field[at] < 0;
}

/* From a point in the solid to the next one, in the air: does the liquid between reach out of the solid? */
static bool is_film(const films *f, size_t at, size_t next)
{
    const float part = f->room[at] / (f->room[at] - f->room[next]);
    return !(f->field[next] < 0) && f->field[at] + part * (f->field[next] - f->field[at]) < 0;
}

/* From a point in the solid to one in the air: by which ways that is, and whether a film is over it; whether
 * it may be drawn: not in walls as thin as that, through which it would come. */
static bool add_way(const films *f, size_t at, const int by[3], unsigned *ways, bool *film)
{
    const ptrdiff_t step = by[0] * f->p->step[0] + by[1] * f->p->step[1] + by[2] * f->p->step[2];
    const size_t next = (size_t)((ptrdiff_t)at + step);
    if (!(f->room[next] > 0))
        return true;
    for (int a = 0; a < 3; a++)
        *ways |= by[a] == 0 ? 0 : 1U << (2 * a + (by[a] > 0));
    *film = *film || is_film(f, at, next);
    return !(f->room[(size_t)((ptrdiff_t)at - step)] > 0);
}

/* The ways across from some. */
static unsigned opposite(unsigned ways)
{
    const unsigned low = 0x15;
    return (ways & low) << 1 | (ways >> 1 & low);
}

/* By which ways a point is right beneath the solid's surface, and whether a film is over it: straight, or
 * else across, or on walls aslant what is beneath a film would be apart from step to step. */
static unsigned skin_of(const films *f, size_t at, bool *film)
{
    unsigned ways = 0;
    *film = false;
    for (int way = 0; way < 6; way++) {
        int by[3] = {0};
        by[way / 2] = way % 2 ? 1 : -1;
        if (!add_way(f, at, by, &ways, film))
            return 0;
    }
    if (ways != 0)
        return ways;
    for (int k = 0; k < 12; k++) {
        int by[3] = {0};
        by[(k / 4 + 1) % 3] = k & 1 ? 1 : -1;
        by[(k / 4 + 2) % 3] = k & 2 ? 1 : -1;
        if (!add_way(f, at, by, &ways, film))
            return 0;
    }
    ways &= ~opposite(ways); /* what is on both sides of it is not the way */
    for (int way = 0; way < 6 && ways != 0; way++) {
        const ptrdiff_t two = (way % 2 ? 2 : -2) * f->p->step[way / 2];
        if (!(ways >> way & 1) && f->room[(size_t)((ptrdiff_t)at + two)] > 0)
            return 0;
    }
    return ways;
}

/* Whether the surface by some ways is on the other side of a wall from that by others. */
static bool is_other_side(unsigned ways, unsigned others)
{
    return (ways & opposite(others)) != 0 && (ways & others) == 0;
}

/* The ways out of the solid of a point beneath a film, or beside one: where it comes down to the wall. */
static unsigned ways_of_film(const films *f, size_t at)
{
    bool film, over;
    const unsigned ways = is_beneath(f, at) ? skin_of(f, at, &film) : 0;
    if (ways == 0)
        return 0;
    for (int k = 0; k < 27 && !film; k++) {
        const ptrdiff_t by =
            (k % 3 - 1) * f->p->step[0] + (k / 3 % 3 - 1) * f->p->step[1] + (k / 9 - 1) * f->p->step[2];
        const size_t next = (size_t)((ptrdiff_t)at + by);
        const unsigned others = is_beneath(f, next) ? skin_of(f, next, &over) : 0;
        film = others != 0 && over && !is_other_side(ways, others);
    }
    return film ? ways : 0;
}

/* Points on the grid's sides are as those of the cells beside them. */
static void open_sides(const films *f, int axis)
{
    const padded *p = f->p;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int high = 0; high < 2; high++)
        for (int j = BESIDE - 1; j <= p->n[v] - BESIDE; j++)
            for (int i = BESIDE - 1; i <= p->n[u] - BESIDE; i++) {
                const ptrdiff_t in = high ? -p->step[axis] : p->step[axis];
                const size_t at = (size_t)((high ? p->n[axis] - BESIDE : BESIDE - 1) * p->step[axis] +
                                           i * p->step[u] + j * p->step[v]);
                if (is_beneath(f, at))
                    f->open[at] = f->open[(ptrdiff_t)at + in];
            }
}

/* Points of cells first: what lies around them is all within the lattice. */
static void open_films(const films *f)
{
    const padded *p = f->p;
    PARALLEL_FOR(und_workers(p->threads, (size_t)p->step[2] * (size_t)p->n[2], 1 << 15))
    for (int z = BESIDE; z < p->n[2] - BESIDE; z++)
        for (int y = BESIDE; y < p->n[1] - BESIDE; y++)
            for (int x = BESIDE; x < p->n[0] - BESIDE; x++) {
                const size_t at = (size_t)(z * p->step[2] + y * p->step[1] + x);
                f->open[at] = (uint8_t)ways_of_film(f, at);
            }
    for (int axis = 0; axis < 3; axis++)
        open_sides(f, axis);
}

/* ---- Walls between films ----
 *
 * Of a plate two points thick both may be beneath films, one on either side: between the two is the plate. */

typedef bool edge_fn(const films *f, size_t at, int axis);

/* Sets or takes what is between a point that is open and the next along each axis; whether any was changed.
 */
static bool change_walls(const films *f, bool set, edge_fn *fn)
{
    const padded *p = f->p;
    bool changed = false;
    for (int z = BESIDE - 1; z <= p->n[2] - BESIDE; z++)
        for (int y = BESIDE - 1; y <= p->n[1] - BESIDE; y++)
            for (int x = BESIDE - 1; x <= p->n[0] - BESIDE; x++) {
                const size_t at = (size_t)(z * p->step[2] + y * p->step[1] + x);
                for (int a = 0; a < 3 && f->open[at]; a++)
                    if ((f->walls[at] >> a & 1) != set && fn(f, at, a)) {
                        f->walls[at] ^= (uint8_t)(1U << a);
                        changed = true;
                    }
            }
    return changed;
}

static bool is_wall(const films *f, size_t at, int axis)
{
    const unsigned ways = f->open[at], others = f->open[at + (size_t)p_step(f, axis)];
    return others != 0 && is_other_side(ways, others);
}

static bool is_drawn(const films *f, size_t at)
{
    return f->field[at] < 0 && f->room[at] > 0;
}

/* Whether a wall on an edge goes no further along another axis, on one side: it ends within the liquid. */
static bool ends(const films *f, size_t at, int axis, ptrdiff_t by)
{
    const ptrdiff_t along = p_step(f, axis);
    const size_t next = (size_t)((ptrdiff_t)at + by), between = by < 0 ? next : at;
    const int across = (by < 0 ? -by : by) == p_step(f, (axis + 1) % 3) ? (axis + 1) % 3 : (axis + 2) % 3;
    const unsigned walls =
        (f->walls[next] >> axis | f->walls[between] >> across | f->walls[between + (size_t)along] >> across) &
        1U;
    return is_drawn(f, next) && is_drawn(f, next + (size_t)along) && !walls;
}

/* But an edge's width of a wall is no sheet. */
static bool is_narrow(const films *f, size_t at, int axis)
{
    bool narrow = false;
    for (int k = 1; k < 3; k++) {
        const ptrdiff_t by = p_step(f, (axis + k) % 3);
        narrow = narrow || (ends(f, at, axis, by) && ends(f, at, axis, -by));
    }
    return narrow;
}

/* Once points have the room that they are given. */
static void find_walls(const films *f)
{
    if (change_walls(f, true, is_wall))
        while (change_walls(f, false, is_narrow))
            ;
}

/* Gives the points that are open room for the mesh, or again what they have: `solid` plus `add`. */
static void room_of_films(const films *f, bool given, const float *solid, float add)
{
    const padded *p = f->p;
    const int *n = p->grid->n;
    const float barely = 1e-3F * (float)p->grid->dx;
    if (given) {
        for (size_t at = 0; at < (size_t)p->step[2] * (size_t)p->n[2]; at++)
            f->room[at] = f->open[at] ? barely : f->room[at];
        return;
    }
    PARALLEL_FOR(und_workers(p->threads, (size_t)p->step[2] * (size_t)p->n[2], 1 << 15))
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++) {
            const size_t at =
                (size_t)((z + BESIDE) * p->step[2] + (y + BESIDE) * p->step[1]) + (size_t)BESIDE;
            const float *from = solid + ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0];
            for (int x = 0; x < n[0]; x++)
                if (f->open[at + (size_t)x])
                    f->room[at + (size_t)x] = from[x] + add;
        }
}

/* The cell of the lattice around a place: its first point, and where in it. */
static size_t cell_around(const padded *p, const float place[3], float part[3])
{
    size_t at = 0;
    for (int a = 0; a < 3; a++) {
        const double s = ((double)place[a] - p->grid->origin[a]) / und_grid_size(p->grid, a) - 0.5 + BESIDE;
        int low = (int)und_smaller(und_larger(s, BESIDE), p->n[a] - BESIDE - 2);
        low = low < BESIDE ? BESIDE : low;
        part[a] = (float)(s - low);
        at += (size_t)(low * p->step[a]);
    }
    return at;
}

static size_t corner_of(const padded *p, size_t cell, int c)
{
    for (int a = 0; a < 3; a++)
        cell += p->grid->n[a] > 1 && c >> a & 1 ? (size_t)p->step[a] : 0;
    return cell;
}

/* What points have at a place, and its gradient. */
static float value_at(const films *f, const float *values, const float place[3], float gradient[3])
{
    const float per = 1 / (float)f->p->grid->dx;
    float part[3], value = 0;
    const size_t cell = cell_around(f->p, place, part);
    gradient[0] = gradient[1] = gradient[2] = 0;
    for (int c = 0; c < 8; c++) {
        const float here = values[corner_of(f->p, cell, c)];
        float weight[3];
        for (int a = 0; a < 3; a++)
            weight[a] = c >> a & 1 ? part[a] : 1 - part[a];
        value += weight[0] * weight[1] * weight[2] * here;
        for (int a = 0; a < 3; a++)
            gradient[a] += (c >> a & 1 ? per : -per) * weight[(a + 1) % 3] * weight[(a + 2) % 3] * here;
    }
    return value;
}

static float dot_of(const float v[3], const float w[3])
{
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2];
}

/* Whether a film's points are around a place, and by which way these are right beneath the solid's surface.
 */
static bool way_out(const films *f, size_t cell, float way[3])
{
    bool any = false;
    way[0] = way[1] = way[2] = 0;
    for (int c = 0; c < 8; c++) {
        const unsigned ways = f->open[corner_of(f->p, cell, c)];
        any = any || ways;
        for (int a = 0; a < 3; a++)
            way[a] += (float)(int)(ways >> (2 * a + 1) & 1) - (float)(int)(ways >> (2 * a) & 1);
    }
    return any;
}

/* Of a vertex on an edge of the lattice the point that it is at, and from there to it; which kind it is. */
typedef enum vertex_kind { ON_EDGE, AT_POINT, BETWEEN } vertex_kind;

static vertex_kind kind_of(const films *f, size_t cell, const float part[3], size_t *point, float by[3])
{
    int corner = 0, off = 0;
    for (int a = 0; a < 3; a++) {
        corner |= part[a] > 0.5F ? 1 << a : 0;
        by[a] = part[a] - (part[a] > 0.5F ? 1 : 0);
        off += fabsf(by[a]) > NEAR && f->p->grid->n[a] > 1;
    }
    *point = corner_of(f->p, cell, corner);
    return off == 0 ? AT_POINT : off == 1 ? ON_EDGE : BETWEEN;
}

/* What is at a point in the solid beneath a film bounds it from below: it goes straight to where the point's
 * way out is shortest.  False: there is no such point, or its way is none along an axis. */
static bool leave_point(const films *f, size_t at, const float by[3], float place[3])
{
    float best = 1;
    int shortest = -1;
    for (int way = 0; way < 6; way++) {
        const float next = f->room[(ptrdiff_t)at + (way % 2 ? 1 : -1) * f->p->step[way / 2]];
        if (!(f->open[at] >> way & 1) || !(next > 0) || !(f->room[at] / (f->room[at] - next) < best))
            continue;
        best = f->room[at] / (f->room[at] - next);
        shortest = way;
    }
    if (shortest < 0)
        return false;
    place[shortest / 2] += (float)f->p->grid->dx * ((shortest % 2 ? best : -best) - by[shortest / 2]);
    return true;
}

/* To the solid's surface: in front, or behind. */
static void push_out(const films *f, float place[3], const float normal[3], float to)
{
    enum { ROUNDS = 3 };
    const float most = (float)f->p->grid->dx;
    float slope[3];
    for (int round = 0; round < ROUNDS; round++) {
        const float in = value_at(f, f->room, place, slope);
        if (!(in < 0) && round == 0)
            break;
        /* In the middle of a thin wall. */
        const bool wrong = to * dot_of(slope, normal) < 0 || dot_of(slope, slope) < LEVEL;
        for (int a = 0; a < 3 && wrong; a++)
            slope[a] = to * normal[a];
        const float square = dot_of(slope, slope);
        if (!(square > 0.01F))
            break;
        for (int a = 0; a < 3; a++)
            place[a] -= fminf(fmaxf(in, -most), most) * slope[a] / square;
    }
}

static void stay_in_box(const films *f, float place[3])
{
    for (int a = 0; a < 3; a++)
        place[a] = (float)und_frame_mesh_within(&f->box, a, (double)place[a]);
}

/* What is in the solid is moved to its surface, on the side where the liquid is: of a film's own surface,
 * where that comes down to the wall, in front of it, and else behind.  Whether it is a film's; the middles of
 * loops, which may be nearer to the other side of a plate, wait for what is around them. */
enum { NO_FILM, FILM, WAITS };

static uint8_t leave_solid(const films *f, float place[3], const float normal[3])
{
    float way[3], part[3], by[3];
    size_t point;
    const size_t cell = cell_around(f->p, place, part);
    const uint8_t film = way_out(f, cell, way) ? FILM : NO_FILM;
    if (film && value_at(f, f->room, place, by) < 0) {
        const vertex_kind kind = kind_of(f, cell, part, &point, by);
        if (kind == BETWEEN)
            return WAITS;
        if (kind == AT_POINT && leave_point(f, point, by, place))
            return film;
    }
    push_out(f, place, normal, dot_of(normal, way) > 0 ? 1.0F : -1.0F);
    return film;
}

static uint8_t leave_in_box(const films *f, float place[3], const float normal[3])
{
    const uint8_t film = leave_solid(f, place, normal);
    stay_in_box(f, place);
    return film;
}

/* Those that wait go amid their neighbours. */
static und_status follow_others(const films *f, und_shell *shell, uint8_t *film, und_error *err)
{
    float *sums = und_alloc(4 * (size_t)shell->vertex_count + 1, sizeof *sums, "films", err);
    for (size_t k = 0; sums && k < 3 * (size_t)shell->triangle_count; k++) {
        const int32_t *v = shell->triangle + (k - k % 3), at = v[k % 3];
        for (size_t i = 1; i < 3 && film[at] == WAITS; i++) {
            const float *place = shell->position + 3 * (size_t)v[(k + i) % 3];
            for (size_t a = 0; a < 3; a++)
                sums[4 * (size_t)at + a] += place[a];
            sums[4 * (size_t)at + 3]++;
        }
    }
    for (size_t v = 0; sums && v < (size_t)shell->vertex_count; v++) {
        float *place = shell->position + 3 * v;
        for (size_t a = 0; a < 3 && film[v] == WAITS; a++)
            place[a] = sums[4 * v + a] / sums[4 * v + 3];
        if (film[v] == WAITS) {
            push_out(f, place, shell->normal + 3 * v, -1);
            stay_in_box(f, place);
        }
        film[v] = film[v] != NO_FILM;
    }
    free(sums);
    return sums ? UND_OK : err->status;
}

/* How far a triangle that lies along the solid is from what it stands for, in the mean: a film's surface, or
 * where there is none, and beneath it, the solid's. */
static void add_bulge(const films *f, const und_shell *shell, size_t t, float *sums)
{
    float c[9], room[3] = {0}, out = 0, under = 0;
    und_shell_corners(shell, shell->position, t, c);
    const und_vec3 b = und_vec((double)(c[3] - c[0]), (double)(c[4] - c[1]), (double)(c[5] - c[2]));
    const und_vec3 d = und_vec((double)(c[6] - c[0]), (double)(c[7] - c[1]), (double)(c[8] - c[2]));
    const und_vec3 across = und_cross(b, d);
    for (int k = 0; k < 3; k++) {
        float middle[3], slope[3];
        for (int a = 0; a < 3; a++)
            middle[a] = 0.5F * (c[3 * k + a] + c[(3 * k + 3) % 9 + a]);
        const float film = value_at(f, f->field, middle, slope), wall = value_at(f, f->room, middle, slope);
        out += fminf(film, wall) / 3;
        under += wall / 3;
        for (int a = 0; a < 3; a++)
            room[a] += slope[a];
    }
    const float area = (float)und_length(across), along = ALONG * area * sqrtf(dot_of(room, room));
    const float up =
        (float)((double)room[0] * across.x + (double)room[1] * across.y + (double)room[2] * across.z);
    for (int k = 0; k < 3; k++) {
        float *sum = sums + 2 * (size_t)shell->triangle[3 * t + (size_t)k];
        sum[0] += area * (up > along ? out : up < -along ? under : 0);
        sum[1] += area;
    }
}

/* Triangles lie inside of what they bulge out with, and those over a film are not those beneath it: their
 * corners go as far the other way, or a film round a stone would be thicker than it is, or less than
 * nothing. */
static und_status bulge(const films *f, und_shell *shell, const uint8_t *film, und_error *err)
{
    const size_t count = (size_t)shell->vertex_count;
    const float most = 0.25F * (float)f->p->grid->dx;
    float *sums = und_alloc(2 * count + 1, sizeof *sums, "films", err);
    for (size_t t = 0; sums && t < (size_t)shell->triangle_count; t++) {
        const int32_t *v = shell->triangle + 3 * t;
        if (film[v[0]] && film[v[1]] && film[v[2]])
            add_bulge(f, shell, t, sums);
    }
    for (size_t v = 0; sums && v < count; v++) {
        float *place = shell->position + 3 * v, slope[3];
        if (!(sums[2 * v + 1] > 0))
            continue;
        value_at(f, f->room, place, slope);
        const float by = fminf(fmaxf(sums[2 * v] / sums[2 * v + 1], -most), most),
                    size = sqrtf(dot_of(slope, slope));
        for (int a = 0; a < 3 && size > 0.1F; a++)
            place[a] -= by * slope[a] / size;
        stay_in_box(f, place);
    }
    free(sums);
    return sums ? UND_OK : err->status;
}

static float wall_at(const void *context, const float place[3], float gradient[3])
{
    const films *f = context;
    return value_at(f, f->room, place, gradient);
}

static und_status lay_films(const films *f, und_shell *shell, und_error *err)
{
    enum { BLOCK = 4096 };
    const size_t count = (size_t)shell->vertex_count;
    uint8_t *film = und_alloc(count + 1, 1, "films", err);
    const int workers = und_workers(f->p->threads, count, BLOCK);
    const int blocks = film ? (shell->vertex_count + BLOCK - 1) / BLOCK : 0;
    PARALLEL_FOR(workers)
    for (int b = 0; b < blocks; b++)
        for (int v = b * BLOCK; v < (b + 1) * BLOCK && v < shell->vertex_count; v++)
            film[v] = leave_in_box(f, shell->position + 3 * (size_t)v, shell->normal + 3 * (size_t)v);
    und_status status = film ? follow_others(f, shell, film, err) : UND_FAILED;
    if (status == UND_OK)
        status = und_frame_mesh_bend(shell, &film, wall_at, f, &f->box, f->p->grid->dx, err);
    if (status == UND_OK)
        status = bulge(f, shell, film, err);
    free(film);
    return status;
}

/* The lattice's rows that are made of those of an item that were written; NULL: all are. */
static uint64_t *rows_of(const padded *p, const und_item *item, und_error *err)
{
    const int *n = p->grid->n;
    uint64_t *bits = und_alloc((size_t)p->n[1] * (size_t)p->n[2] / 64 + 1, sizeof *bits, "a lattice", err);
    for (int row = 0; bits && row < n[1] * n[2]; row++)
        for (int k = 0; k < (2 * BESIDE + 1) * (2 * BESIDE + 1) && has_row(item, row); k++) {
            const int y = row % n[1] + k % (2 * BESIDE + 1), z = row / n[1] + k / (2 * BESIDE + 1);
            const size_t to = (size_t)z * (size_t)p->n[1] + (size_t)y;
            bits[to >> 6] |= UINT64_C(1) << (to & 63);
        }
    return bits;
}

/* The surface of the frame's distance. */
static und_status make_shell(const und_frame *frame, const und_frame_mesh_def *def, const padded *p,
                             und_shell *shell, und_error *err)
{
    const float *distance, *solid; /* that they fit the grid */
    if (und_frame_field(frame, "distance", -1, &distance, err) ||
        und_frame_field(frame, "solid/distance", -1, &solid, err))
        return UND_FAILED;
    const float add = (float)(def->into_solids * frame->grid.dx);
    const size_t points = (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
    const und_item *const of[2] = {und_frame_find(frame, "distance"),
                                   und_frame_find(frame, "solid/distance")};
    float *field = pad(p, of[0], 0, err);
    float *room = solid && field ? pad(p, of[1], add, err) : NULL;
    const bool few = field && of[0]->rows && !(of[0]->rows->outside < 0);
    uint64_t *rows = few ? rows_of(p, of[0], err) : NULL;
    uint8_t *open = room ? und_alloc(2 * points, 1, "a lattice", err) : NULL;
    uint8_t *walls = open ? open + points : NULL;
    films f = {.p = p, .field = field, .room = room, .open = open, .walls = walls};
    f.box.at = 1e-4 * frame->grid.dx;
    for (int a = 0; a < 3; a++) {
        f.box.low[a] = p->at[a][0];
        f.box.high[a] = p->at[a][p->n[a] - 1];
    }
    und_status status = field && (rows || !few) && (open || !solid) ? UND_OK : UND_FAILED;
    if (status == UND_OK && solid) {
        open_films(&f);
        room_of_films(&f, true, solid, add);
        find_walls(&f);
    }
    und_shell_def mesh = {.n = {p->n[0], p->n[1], p->n[2]},
                          .at = {p->at[0], p->at[1], p->at[2]},
                          .field = field,
                          .room = room,
                          .walls = walls,
                          .rows = rows,
                          .threads = def->threads};
    if (status == UND_OK)
        status = und_shell_make(&mesh, shell, err);
    if (status == UND_OK && solid) {
        room_of_films(&f, false, solid, add);
        status = lay_films(&f, shell, err);
    }
    und_pages_free(field);
    und_pages_free(room);
    free(rows);
    free(open);
    return status;
}

/* Corners of loose triangles, all of them sane; NULL where they are not. */
static const float *find_corners(const und_frame *frame, const char *name, size_t *corners)
{
    const und_item *item = und_frame_find(frame, name);
    if (!item || item->type != UND_F32 || item->rank != 2 || item->dim[1] != 3 || item->dim[0] % 3 != 0 ||
        !item->data)
        return NULL;
    const float *p = item->data;
    for (size_t k = 0; k < 3 * item->dim[0]; k++)
        if (!(fabsf(p[k]) < 1e9F))
            return NULL;
    *corners = item->dim[0];
    return p;
}

static und_status weld_skin(const und_frame *frame, und_shell *shell, und_error *err)
{
    size_t corners = 0, normals = 0;
    const und_item *item = und_frame_find(frame, "liquid/mesh_position");
    if (!item)
        return und_error_set(err, UND_INVALID, "frame %d holds no surface of a liquid", frame->number);
    if (und_item_count(item) == 0)
        return UND_OK; /* no liquid */
    const float *p = find_corners(frame, "liquid/mesh_position", &corners);
    const float *n = find_corners(frame, "liquid/mesh_normal", &normals);
    if (!p)
        return und_error_set(err, UND_FAILED, "frame %d: the liquid's mesh is damaged", frame->number);
    return und_shell_weld(p, normals == corners ? n : NULL, corners / 3, shell, err);
}

und_status und_frame_mesh(const und_frame *frame, const und_frame_mesh_def *def, und_shell *shell,
                          und_error *err)
{
    bool distance = und_frame_mesh_has_distance(frame);
    padded p = {0};
    *shell = (und_shell){0};
    und_status status = check_grid(frame, err);
    if (status == UND_OK && distance)
        status = padded_open(&p, frame, def->threads, err);
    if (status == UND_OK)
        status = distance ? make_shell(frame, def, &p, shell, err) : weld_skin(frame, shell, err);
    if (status == UND_OK && def->adaptive > 0)
        status = und_shell_thin(shell, def->adaptive * frame->grid.dx, LONGEST * frame->grid.dx, err);
    bool round =
        !distance && frame->grid.n[2] == 1; /* a section turned about an axis: its flow is not the mesh's */
    if (status == UND_OK && def->velocity && !round)
        status = add_velocity(frame, def->threads, shell, err);
    free(p.at[0]);
    if (status != UND_OK)
        und_shell_free(shell);
    return status;
}
