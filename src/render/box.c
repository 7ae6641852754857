/* Liquid in a box of cells, where no height of each column tells where it is: its skin of triangles, the
 * solids and bodies around it, and the table on which all stand. */
#include "base/maths.h"
#include "render/internal.h"
#include "surface/frame_mesh.h"

#include <string.h>

/* Cells that liquid reaches into what is solid, so that no gap shows between the two. */
static const double INTO_SOLIDS = 0.4;

/* The corners of triangles, [3 count][3], all of them sane; NULL where there are none. */
const float *und_find_corners(const und_frame *frame, const char *name, size_t *corners)
{
    const float *p = und_frame_points(frame, name, corners);
    if (*corners % 3 != 0)
        *corners = 0;
    return *corners > 0 ? p : NULL;
}

und_drawing und_drawing_of(const und_render *r, const und_frame *frame)
{
    bool labels = und_frame_find(frame, "label"), skin = und_frame_find(frame, "liquid/mesh_position");
    bool distance = und_frame_has_distance(frame);
    if (frame->grid.n[2] == 1 && labels && (!skin || r->def.plot_panels > 0))
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

/* Where the corners of the skin's triangles were at first. */
static und_status find_rest(und_render *r, const und_frame *frame, const und_shell *shell, und_error *err)
{
    size_t vertices = (size_t)shell->vertex_count, corners = 3 * (size_t)shell->triangle_count;
    float *rest = und_hold(&r->rest_corners, 3 * (vertices + corners) * sizeof *rest, err);
    if (!rest || !(r->texture = und_texture_map_create(frame, r->threads, err)))
        return UND_FAILED;
    float *of_vertex = rest + 3 * corners;
    und_texture_map_look(r->texture, shell->position, shell->vertex_count, of_vertex);
    for (size_t c = 0; c < corners; c++)
        memcpy(rest + 3 * c, of_vertex + 3 * (size_t)shell->triangle[c], 3 * sizeof *rest);
    r->rest = rest;
    return UND_OK;
}

/* A skin that is made of the frame's distance; kept until the next. */
static und_status make_skin(und_render *r, const und_frame *frame, und_error *err)
{
    bool painted = r->def.paint.kind != UND_PAINT_NONE && und_frame_has_texture(frame);
    und_frame_mesh_def def = {.into_solids = INTO_SOLIDS, .threads = r->threads};
    und_shell shell;
    und_isosurface_free(&r->skin);
    if (r->traced && !painted)
        return UND_OK;
    und_status status = und_frame_mesh(frame, &def, &shell, err);
    if (status == UND_OK)
        status = und_isosurface_of(&shell, r->threads, &r->skin, err);
    if (status == UND_OK && painted && shell.triangle_count > 0)
        status = find_rest(r, frame, &shell, err);
    und_shell_free(&shell);
    return status;
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

/* The liquid's skin, with the frame's own normals where it has them. */
static und_status take_liquid(und_render *r, const und_frame *frame, und_error *err)
{
    und_drawn_mesh *soup = &r->liquid;
    size_t corners, normals;
    const float *p = und_find_corners(frame, "liquid/mesh_position", &corners);
    const float *n = und_find_corners(frame, "liquid/mesh_normal", &normals);
    und_status status = UND_OK;
    und_texture_map_destroy(r->texture);
    r->texture = NULL;
    if (!p && und_frame_has_distance(frame)) {
        if ((status = make_skin(r, frame, err)) != UND_OK)
            return status;
        p = r->skin.position;
        n = r->skin.normal;
        corners = normals = 3 * (size_t)r->skin.triangle_count;
    }
    status = und_soup_set(soup, p, p ? corners / 3 : 0, err);
    if (status != UND_OK || soup->count == 0)
        return status;
    for (size_t c = 0; n && normals == corners && c < corners; c++) {
        f3 unit = f3_unit(f3_of(n + 3 * c));
        memcpy(soup->normal + 3 * c, (float[3]){unit.x, unit.y, unit.z}, 3 * sizeof(float));
    }
    const und_box walls = und_box_of(frame, NULL);
    if (p != r->skin.position && frame->grid.n[2] > 1)
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
static und_status lay_table(und_render *r, float height, und_error *err)
{
    enum { N = 8 };
    const und_box *b = &r->box;
    float span = maxf(maxf(b->high.x - b->low.x, b->high.z - b->low.z), b->high.y - b->low.y), field[N * N];
    double side = 160 * (double)span;
    und_frame table = und_frame_empty(0, r->time, (und_grid){.n = {N, 1, N}, .dx = side / N});
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
        status = und_samples_take(r, &table, err);
    if (status == UND_OK) {
        und_light_open(&r->samples, r->threads);
        und_wetness_smooth(&r->samples, r->threads);
        status = und_mesh_build(r, &table, err);
    }
    und_frame_clear(&table);
    r->mesh.span = span; /* of what is looked at: patterns are made for it */
    return status;
}

und_status und_box_take(und_render *r, const und_frame *frame, und_error *err)
{
    const und_grid *g = &frame->grid;
    for (int a = 0; a < 3; a++)
        if (g->n[a] < 1 || g->n[a] > 65536 || !(und_grid_size(g, a) > 0) || !(und_grid_size(g, a) < 1e9) ||
            !(fabs(g->origin[a]) < 1e9))
            return und_error_set(err, UND_INVALID, "frame %d: a picture needs a grid of cells",
                                 frame->number);
    und_status status = take_liquid(r, frame, err);
    if (status != UND_OK)
        return status;
    double middle[2] = {0.5 * (double)(r->liquid.low.x + r->liquid.high.x),
                        0.5 * (double)(r->liquid.low.z + r->liquid.high.z)};
    bool turned = g->n[2] == 1 && r->liquid.count > 0 && !und_frame_has_distance(frame);
    const double *axis = turned ? middle : NULL;
    size_t corners;
    r->box = und_box_of(frame, axis);
    r->tank = und_tank_around(g->n[2] > 1 ? r->def.tank : UND_TANK_NONE, &r->box);
    r->solids.position = und_find_corners(frame, "solid/mesh_position", &corners);
    r->solids.color = NULL;
    r->solids.corners = corners;
    if (r->solids.position) {
        size_t colors;
        const float *color = und_find_corners(frame, "solid/mesh_color", &colors);
        r->solids.color = colors == corners ? color : NULL;
    } else if ((status = und_solids_take(r, frame, axis, err)) != UND_OK) {
        return status;
    }
    float foot = r->box.low.y;
    if (r->solids.corners > 0)
        foot = minf(foot, bounds_of(r->solids.position, r->solids.corners).low.y);
    return lay_table(r, foot, err);
}

/* A vessel is framed whole, unless what is in it would get too small in the picture. */
static bool frames_whole(const und_render_def *def, const und_box *box)
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

und_box und_box_framed(const und_render_def *def, und_box box)
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
void und_box_frame(const und_render_def *def, const und_box *b, float steep, f3 *eye, f3 *look)
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

/* Share of a hemisphere of rays, as many at each height as a level surface is lit from there, that meet
 * nothing; the liquid lets most of the light through where it is not painted. */
static float open_share(const und_render *r, f3 p)
{
    enum { RAYS = 48 };
    float sum = 0;
    for (int k = 0; k < RAYS; k++) {
        float turn = 6.2831853f * ((float)k * 0.61803399f), out = sqrtf(((float)k + 0.5f) / RAYS), t;
        f3 dir = f3_make(out * und_cosf(turn), sqrtf(1 - out * out), out * und_sinf(turn));
        int32_t id;
        bool hidden = r->soup.count > 0 && und_tree_hit(&r->soup, p, dir, 1e9f, &t, &id);
        bool wet = !hidden && r->liquid.count > 0 && und_tree_hit(&r->liquid, p, dir, 1e9f, &t, &id);
        sum += hidden || (wet && r->texture) ? 0 : wet ? 0.6f : 1;
    }
    return sum / RAYS;
}

und_status und_box_darken(und_render *r, und_error *err)
{
    und_drawn_around *a = &r->around;
    size_t count = (size_t)AROUND_SIZE * AROUND_SIZE;
    if (!a->open && !(a->open = und_alloc(count, sizeof *a->open, "shade", err)))
        return UND_FAILED;
    float side = 2.5f * maxf(r->box.high.x - r->box.low.x, r->box.high.z - r->box.low.z);
    a->texel = side / (AROUND_SIZE - 1);
    a->x0 = 0.5f * (r->box.low.x + r->box.high.x) - 0.5f * side;
    a->z0 = 0.5f * (r->box.low.z + r->box.high.z) - 0.5f * side;
    PARALLEL_FOR(r->threads)
    for (int j = 0; j < AROUND_SIZE; j++)
        for (int i = 0; i < AROUND_SIZE; i++)
            a->open[j * AROUND_SIZE + i] =
                open_share(r, f3_make(a->x0 + (float)i * a->texel, r->mesh.low + 1e-3f * r->mesh.span,
                                      a->z0 + (float)j * a->texel));
    return UND_OK;
}

float und_box_open(const und_render *r, f3 p)
{
    const und_drawn_around *a = &r->around;
    float u = (p.x - a->x0) / a->texel, v = (p.z - a->z0) / a->texel;
    if (!(u >= 0 && v >= 0 && u < AROUND_SIZE - 1 && v < AROUND_SIZE - 1))
        return 1;
    int i = (int)u, j = (int)v;
    const float *o = a->open + j * AROUND_SIZE + i;
    return mixf(mixf(o[0], o[1], u - (float)i), mixf(o[AROUND_SIZE], o[AROUND_SIZE + 1], u - (float)i),
                v - (float)j);
}
