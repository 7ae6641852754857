/* Liquid in a box of cells, where no height of each column tells where it is: its skin of triangles, the
 * solids and bodies around it, and the table on which all stand. */
#include "base/maths.h"
#include "stage/scenery.h"
#include "surface/frame_mesh.h"

#include <string.h>

/* The corners of triangles, [3 count][3], all of them sane; NULL where there are none. */
const float *und_find_corners(const und_frame *frame, const char *name, size_t *corners)
{
    const float *p = und_frame_points(frame, name, corners);
    if (*corners % 3 != 0)
        *corners = 0;
    return *corners > 0 ? p : NULL;
}

und_drawing und_drawing_of(const und_scenery *stage, const und_frame *frame)
{
    bool labels = und_frame_find(frame, "label"), skin = und_frame_find(frame, "liquid/mesh_position");
    bool distance = und_frame_mesh_has_distance(frame);
    if (frame->grid.n[2] == 1 && labels && (!skin || stage->def.plot_panels > 0))
        return UND_DRAWS_PLOT;
    if (!und_column_field(frame, "surface") && (labels || skin || distance))
        return UND_DRAWS_BOX;
    return frame->grid.n[2] == 1 ? UND_DRAWS_SECTION : UND_DRAWS_HEIGHTS;
}

static und_box bounds_of(const float *p, size_t corners)
{
    und_box b = {f3_gray(INFINITY), f3_gray(-INFINITY)};
    for (size_t k = 0; k < corners; k++, p += 3) {
        b.low = f3_make(minf(b.low.x, p[0]), minf(b.low.y, p[1]), minf(b.low.z, p[2]));
        b.high = f3_make(maxf(b.high.x, p[0]), maxf(b.high.y, p[1]), maxf(b.high.z, p[2]));
    }
    return b;
}

/* Where the vertices of the skin were at first. */
static und_status find_rest(und_scenery *stage, const und_frame *frame, und_error *err)
{
    const und_shell *shell = &stage->surface;
    float *rest = und_hold(&stage->rest_corners, 3 * (size_t)shell->vertex_count * sizeof *rest, err);
    if (!rest || !(stage->texture = und_texture_map_create(frame, stage->threads, err)))
        return UND_FAILED;
    und_texture_map_look(stage->texture, shell->position, shell->vertex_count, rest);
    stage->rest = rest;
    return UND_OK;
}

float und_stage_skin_stretch(const und_scenery *stage, size_t triangle)
{
    float corner[2][9], way[2] = {0};
    und_shell_corners(&stage->surface, stage->surface.position, triangle, corner[0]);
    und_shell_corners(&stage->surface, stage->rest, triangle, corner[1]);
    for (int k = 0; k < 2; k++)
        for (int c = 1; c < 3; c++) {
            f3 e = f3_sub(f3_of(corner[k] + 3 * c), f3_of(corner[k]));
            way[k] += sqrtf(f3_dot(e, e));
        }
    return way[0] > 0 ? way[1] / way[0] : 1;
}

/* A skin that is made of the frame's distance; kept until the next. */
static und_status make_skin(und_scenery *stage, const und_frame *frame, und_error *err)
{
    bool painted = stage->def.paint.kind != UND_PAINT_NONE && und_texture_in_frame(frame);
    und_frame_mesh_def def = {.into_solids = UND_INTO_SOLIDS, .threads = stage->threads};
    und_shell_free(&stage->surface);
    if (!stage->skin && !painted)
        return UND_OK;
    und_status status = und_frame_mesh(frame, &def, &stage->surface, err);
    if (status == UND_OK && painted && stage->surface.triangle_count > 0)
        status = find_rest(stage, frame, err);
    return status;
}

static bool all_sane(const float *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!(fabsf(values[k]) < 1e9f))
            return false;
    return true;
}

/* Creases, then normals of unit length. */
static und_status take_normals(und_scenery *stage, und_error *err)
{
    enum { BLOCK = 4096 };
    const und_shell *shell = &stage->surface;
    const int triangles = shell->triangle_count, vertices = shell->vertex_count;
    uint8_t *crease = und_hold(&stage->creases, (size_t)triangles, err);
    if (!crease)
        return UND_FAILED;
    PARALLEL_FOR(und_workers(stage->threads, (size_t)triangles, 1 << 13))
    for (int b = 0; b < (triangles + BLOCK - 1) / BLOCK; b++)
        for (int t = b * BLOCK; t < (b + 1) * BLOCK && t < triangles; t++) {
            float own[3];
            crease[t] = (uint8_t)und_isosurface_creases(shell, t, own);
        }
    for (int v = 0; v < vertices; v++) {
        f3 unit = f3_unit(f3_of(shell->normal + 3 * (size_t)v));
        memcpy(shell->normal + 3 * (size_t)v, (float[3]){unit.x, unit.y, unit.z}, 3 * sizeof(float));
    }
    stage->liquid.crease = crease;
    return UND_OK;
}

/* The skin as it is, its vertices shared; none where a number is damaged. */
static und_status take_shell(und_scenery *stage, und_error *err)
{
    und_drawn_mesh *skin = &stage->liquid;
    const und_shell *shell = &stage->surface;
    size_t vertices = (size_t)shell->vertex_count;
    skin->shell = shell;
    skin->count = all_sane(shell->position, 3 * vertices) ? (size_t)shell->triangle_count : 0;
    if (skin->count == 0)
        return UND_OK;
    if (take_normals(stage, err) != UND_OK)
        return UND_FAILED;
    und_box b = bounds_of(shell->position, vertices);
    skin->low = b.low;
    skin->high = b.high;
    return und_tree_build(skin, err);
}

/* At the walls of the domain a skin is flat, and what comes to them stands square: smooth normals know
 * nothing of the edges in between, and would bend what is seen through the liquid there. */
static void square_at_walls(und_drawn_mesh *skin, const und_box *walls, float small)
{
    const float at[2][3] = {{walls->low.x, walls->low.y, walls->low.z},
                            {walls->high.x, walls->high.y, walls->high.z}};
    for (size_t k = 0; k < skin->count; k++) {
        const float *p = skin->frame_position + 9 * k;
        float *n = skin->normal + 9 * k;
        for (int face = 0; face < 6; face++) {
            int a = face / 2, on = 0;
            bool high = face & 1;
            for (int c = 0; c < 3; c++) {
                if (!(fabsf(p[3 * c + a] - at[high][a]) < small))
                    continue;
                on++;
                n[3 * c + a] = 0;
                f3 level = f3_unit(f3_of(n + 3 * c));
                memcpy(n + 3 * c, (float[3]){level.x, level.y, level.z}, 3 * sizeof(float));
            }
            if (on < 3)
                continue;
            memset(n, 0, 9 * sizeof(float));
            for (int c = 0; c < 3; c++)
                n[3 * c + a] = high ? 1 : -1;
            break;
        }
    }
}

/* The liquid's skin; of loose triangles with the frame's own normals where it has them. */
static und_status take_liquid(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_drawn_mesh *soup = &stage->liquid;
    size_t corners, normals;
    const float *p = und_find_corners(frame, "liquid/mesh_position", &corners);
    const float *n = und_find_corners(frame, "liquid/mesh_normal", &normals);
    und_texture_map_destroy(stage->texture);
    stage->texture = NULL;
    if (!p && und_frame_mesh_has_distance(frame))
        return make_skin(stage, frame, err) == UND_OK ? take_shell(stage, err) : err->status;
    und_status status = und_stage_soup_set(soup, p, p ? corners / 3 : 0, err);
    if (status != UND_OK || soup->count == 0)
        return status;
    for (size_t c = 0; n && normals == corners && c < corners; c++) {
        f3 unit = f3_unit(f3_of(n + 3 * c));
        memcpy(soup->normal + 3 * c, (float[3]){unit.x, unit.y, unit.z}, 3 * sizeof(float));
    }
    const und_box walls = und_box_of(frame, NULL);
    if (frame->grid.n[2] > 1)
        square_at_walls(soup, &walls, 2e-3f * (float)frame->grid.dx);
    und_box b = bounds_of(p, corners);
    soup->low = b.low;
    soup->high = b.high;
    return und_tree_build(soup, err);
}

und_box und_box_of(const und_frame *frame, const double *axis)
{
    const und_grid *g = &frame->grid;
    double low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = g->origin[a];
        high[a] = g->origin[a] + g->n[a] * und_grid_size(g, a);
    }
    und_frame_domain(frame, low, high);
    if (axis) {
        double reach = fmax(fabs(high[0] - axis[0]), 1e-9);
        for (int a = 0; a < 3; a += 2) {
            low[a] = axis[a / 2] - reach;
            high[a] = axis[a / 2] + reach;
        }
    }
    return (und_box){f3_make((float)low[0], (float)low[1], (float)low[2]),
                     f3_make((float)high[0], (float)high[1], (float)high[2])};
}

/* A dry, level ground that reaches far beyond the box, as a mesh. */
static und_status lay_table(und_scenery *stage, float height, und_error *err)
{
    enum { N = 8 };
    const und_box *b = &stage->box;
    float span = maxf(maxf(b->high.x - b->low.x, b->high.z - b->low.z), b->high.y - b->low.y), field[N * N];
    double side = 160 * (double)span;
    und_frame table = und_frame_empty(0, stage->time, (und_grid){.n = {N, 1, N}, .dx = side / N});
    table.grid.origin[0] = 0.5 * (double)(b->low.x + b->high.x) - 0.5 * side;
    table.grid.origin[2] = 0.5 * (double)(b->low.z + b->high.z) - 0.5 * side;
    und_item_def def = {
        .name = "ground", .unit = "m", .kind = UND_FIELD, .type = UND_F32, .rank = 2, .dim = {N, N}};
    for (int k = 0; k < N * N; k++)
        field[k] = height;
    und_status status = und_frame_borrow(&table, &def, field, err) ? UND_OK : UND_FAILED;
    def.name = "surface";
    if (status == UND_OK && !und_frame_borrow(&table, &def, field, err))
        status = UND_FAILED;
    if (status == UND_OK)
        status = und_samples_take(stage, &table, err);
    if (status == UND_OK) {
        und_stage_light_open(&stage->samples, stage->threads);
        und_wetness_smooth(&stage->samples, stage->threads);
        status = und_stage_mesh_build(stage, &table, err);
    }
    und_frame_clear(&table);
    stage->mesh.span = span; /* of what is looked at: patterns are made for it */
    return status;
}

und_status und_box_take(und_scenery *stage, const und_frame *frame, und_error *err)
{
    const und_grid *g = &frame->grid;
    for (int a = 0; a < 3; a++)
        if (g->n[a] < 1 || g->n[a] > 65536 || !(und_grid_size(g, a) > 0) || !(und_grid_size(g, a) < 1e9) ||
            !(fabs(g->origin[a]) < 1e9))
            return und_error_set(err, UND_INVALID, "frame %d: a picture needs a grid of cells",
                                 frame->number);
    und_status status = take_liquid(stage, frame, err);
    if (status != UND_OK)
        return status;
    double middle[2] = {0.5 * (double)(stage->liquid.low.x + stage->liquid.high.x),
                        0.5 * (double)(stage->liquid.low.z + stage->liquid.high.z)};
    bool turned = g->n[2] == 1 && stage->liquid.count > 0 && !und_frame_mesh_has_distance(frame);
    const double *axis = turned ? middle : NULL;
    size_t corners;
    stage->box = und_box_of(frame, axis);
    stage->tank = und_tank_around(g->n[2] > 1 ? stage->def.tank : UND_TANK_NONE, &stage->box);
    stage->solids.position = und_find_corners(frame, "solid/mesh_position", &corners);
    stage->solids.color = NULL;
    stage->solids.corners = corners;
    if (stage->solids.position) {
        size_t colors;
        const float *color = und_find_corners(frame, "solid/mesh_color", &colors);
        stage->solids.color = colors == corners ? color : NULL;
    } else if ((status = und_stage_solids_take(stage, frame, axis, err)) != UND_OK) {
        return status;
    }
    float foot = stage->box.low.y;
    if (stage->solids.corners > 0)
        foot = minf(foot, bounds_of(stage->solids.position, stage->solids.corners).low.y);
    return lay_table(stage, foot, err);
}

/* A vessel is framed whole, unless what is in it would get too small in the picture. */
static bool frames_whole(const und_picture_def *def, const und_box *box)
{
    const und_extent *e = &def->framed;
    const double low[3] = {(double)box->low.x, (double)box->low.y, (double)box->low.z},
                 high[3] = {(double)box->high.x, (double)box->high.y, (double)box->high.z}, enough = 0.4;
    double whole = 0, part = 0;
    for (int a = 0; a < 3; a++) {
        whole = fmax(whole, high[a] - low[a]);
        part = fmax(part, e->high[a] - e->low[a]);
    }
    return !e->any || (def->tank != UND_TANK_NONE && part >= enough * whole);
}

und_box und_box_framed(const und_picture_def *def, und_box box)
{
    const und_extent *e = &def->framed;
    const double room = 0.04;
    const bool whole = frames_whole(def, &box);
    float *low[3] = {&box.low.x, &box.low.y, &box.low.z}, *high[3] = {&box.high.x, &box.high.y, &box.high.z};
    for (int a = 0; a < 3 && !whole; a++) {
        double more = room * (e->high[a] - e->low[a]);
        *low[a] = maxf(*low[a], (float)(e->low[a] - more));
        *high[a] = minf(*high[a], (float)(e->high[a] + more));
    }
    return box;
}

/* As near as all corners of the box allow, with them in the picture's middle. */
void und_box_frame(const und_picture_def *def, const und_box *b, float steep, f3 *eye, f3 *look)
{
    enum { ROUNDS = 6 };
    f3 back = f3_unit(f3_make(0.38f, steep, 0.92f)), right = f3_unit(f3_cross(f3_make(0, 1, 0), back)),
       up = f3_cross(back, right);
    float high = 0.92f * und_tanf(0.5f * (float)(def->fov * M_PI / 180)),
          wide = high * (float)def->width / (float)def->height;
    *look = f3_scale(f3_add(b->low, b->high), 0.5f);
    for (int round = 0; round < ROUNDS; round++) {
        float away = 0, least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
        f3 d[8];
        for (int k = 0; k < 8; k++) {
            d[k] = f3_sub(f3_make(k & 1 ? b->low.x : b->high.x, k & 2 ? b->low.y : b->high.y,
                                  k & 4 ? b->low.z : b->high.z),
                          *look);
            float need = maxf(fabsf(f3_dot(d[k], right)) / wide, fabsf(f3_dot(d[k], up)) / high);
            away = maxf(away, need + f3_dot(d[k], back));
        }
        *eye = f3_along(*look, back, away);
        for (int k = 0; k < 8; k++) {
            float depth = away - f3_dot(d[k], back), at[2] = {f3_dot(d[k], right), f3_dot(d[k], up)};
            for (int a = 0; a < 2; a++) {
                least[a] = minf(least[a], at[a] / depth);
                most[a] = maxf(most[a], at[a] / depth);
            }
        }
        if (round + 1 < ROUNDS)
            *look = f3_along(f3_along(*look, right, 0.5f * away * (least[0] + most[0])), up,
                             0.5f * away * (least[1] + most[1]));
    }
}
