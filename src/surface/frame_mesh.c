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
enum { BESIDE = UND_FRAME_MESH_BESIDE };
enum { LONGEST = 12 }; /* cells; what an edge may grow to where triangles are saved */

typedef und_frame_mesh_lattice padded;
typedef und_frame_mesh_films films;

bool und_frame_mesh_has_distance(const und_frame *frame)
{
    return und_frame_find(frame, "distance") != NULL;
}

bool und_frame_mesh_has_liquid(const und_frame *frame)
{
    return und_frame_mesh_has_distance(frame) || und_frame_find(frame, "liquid/mesh_position");
}

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

/* What is in the solid is moved out to its surface. */
static void leave_solid(const films *f, float place[3], const float normal[3])
{
    enum { ROUNDS = 3 };
    const float most = (float)f->p->grid->dx;
    float slope[3];
    for (int round = 0; round < ROUNDS; round++) {
        const float in = value_at(f, f->room, place, slope);
        if (!(in < 0) && round == 0)
            break;
        /* In the middle of a thin wall. */
        const bool wrong = dot_of(slope, normal) > 0 || dot_of(slope, slope) < LEVEL;
        for (int a = 0; a < 3 && wrong; a++)
            slope[a] = -normal[a];
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

/* Which sheet of a film what is at a place is, or is beside; 0: none.  At walls thinner than the points lie
 * apart it stays where it is: what points have there is of one side alone. */
static uint8_t settle(const films *f, float place[3], const float normal[3])
{
    float part[3], slope[3];
    const size_t cell = cell_around(f->p, place, part);
    unsigned edges = 0;
    for (int c = 0; c < 8; c++)
        edges |= f->edges[corner_of(f->p, cell, c)];
    if (edges & UND_FRAME_MESH_THIN)
        return 0;
    leave_solid(f, place, normal);
    stay_in_box(f, place);
    value_at(f, f->room, place, slope);
    return edges == 0 ? 0 : dot_of(slope, normal) < 0 ? UND_FRAME_MESH_BELOW : UND_FRAME_MESH_ABOVE;
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

static float surface_at(const void *context, uint8_t sheet, const float place[3], float gradient[3])
{
    const films *f = context;
    float slope[3];
    const float wall = value_at(f, f->room, place, gradient),
                film = sheet == UND_FRAME_MESH_ABOVE ? value_at(f, f->field, place, slope) : wall;
    if (!(film < wall))
        return wall;
    memcpy(gradient, slope, sizeof slope);
    return film;
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
            film[v] = settle(f, shell->position + 3 * (size_t)v, shell->normal + 3 * (size_t)v);
    und_status status = film ? UND_OK : UND_FAILED;
    if (status == UND_OK)
        status = und_frame_mesh_bend(shell, &film, surface_at, f, &f->box, f->p->grid->dx, err);
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
    uint16_t *edges = room ? und_pages_alloc(points * sizeof *edges, "a lattice", err) : NULL;
    films f = {.p = p, .field = field, .room = room, .rows = rows, .edges = edges};
    f.box.at = 1e-4 * frame->grid.dx;
    for (int a = 0; a < 3; a++) {
        f.box.low[a] = p->at[a][0];
        f.box.high[a] = p->at[a][p->n[a] - 1];
    }
    und_status status = field && (rows || !few) && (edges || !solid) ? UND_OK : UND_FAILED;
    if (status == UND_OK && solid)
        status = und_frame_mesh_find_films(&f, err);
    und_shell_def mesh = {.n = {p->n[0], p->n[1], p->n[2]},
                          .at = {p->at[0], p->at[1], p->at[2]},
                          .field = field,
                          .room = room,
                          .edges = edges,
                          .put = und_frame_mesh_put,
                          .context = &f,
                          .rows = rows,
                          .threads = def->threads};
    if (status == UND_OK)
        status = und_shell_make(&mesh, shell, err);
    if (status == UND_OK && solid)
        status = lay_films(&f, shell, err);
    und_pages_free(field);
    und_pages_free(room);
    und_pages_free(edges);
    free(rows);
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
