/* Scan conversion into z-buffers, tile by tile: each tile looks at all blocks of the meshes in order, so that
 * the picture does not depend on the threads. */
#include "render/internal.h"

#include <stdlib.h>
#include <string.h>

enum { SUB = 256, BLOCK = 16, TILE_X = 128, TILE_Y = 64 };

typedef struct tile {
    int x0, y0, x1, y1; /* samples, the upper ends excluded */
    int width;
    float *depth;
    int32_t *id; /* NULL: depth alone */
} tile;

static und_vertex project(const und_shot *c, f3 p)
{
    f3 d = f3_sub(p, c->eye);
    float along = f3_dot(d, c->forward);
    if (!(along > c->near))
        return (und_vertex){0, 0, -1};
    float w = 1 / along, limit = 1e6f;
    float x = clampf(0.5f * (float)c->width + c->focal * f3_dot(d, c->right) * w, -limit, limit);
    float y = clampf(0.5f * (float)c->height - c->focal * f3_dot(d, c->up) * w, -limit, limit);
    return (und_vertex){(int32_t)lrintf(x * SUB), (int32_t)lrintf(y * SUB), w};
}

/* Draws where a triangle is nearest.  Edges are exact in whole numbers and belong to both neighbours, so that
 * no gaps open between them. */
static void triangle(const tile *t, const und_vertex *a, const und_vertex *b, const und_vertex *c, int32_t id)
{
    int32_t lx = a->x < b->x ? a->x : b->x, hx = a->x > b->x ? a->x : b->x;
    int32_t ly = a->y < b->y ? a->y : b->y, hy = a->y > b->y ? a->y : b->y;
    lx = c->x < lx ? c->x : lx;
    hx = c->x > hx ? c->x : hx;
    ly = c->y < ly ? c->y : ly;
    hy = c->y > hy ? c->y : hy;
    /* samples sit at half steps */
    int x0 = (lx + SUB / 2 - 1) >> 8, x1 = ((hx - SUB / 2) >> 8) + 1;
    int y0 = (ly + SUB / 2 - 1) >> 8, y1 = ((hy - SUB / 2) >> 8) + 1;
    x0 = x0 > t->x0 ? x0 : t->x0;
    x1 = x1 < t->x1 ? x1 : t->x1;
    y0 = y0 > t->y0 ? y0 : t->y0;
    y1 = y1 < t->y1 ? y1 : t->y1;
    if (x0 >= x1 || y0 >= y1)
        return;
    int64_t area = (int64_t)(b->x - a->x) * (c->y - a->y) - (int64_t)(b->y - a->y) * (c->x - a->x);
    if (area == 0)
        return;
    if (area < 0) {
        const und_vertex *swap = b;
        b = c;
        c = swap;
        area = -area;
    }
    int64_t px = (int64_t)x0 * SUB + SUB / 2, py = (int64_t)y0 * SUB + SUB / 2;
    int64_t e0 = (c->x - b->x) * (py - b->y) - (c->y - b->y) * (px - b->x);
    int64_t e1 = (a->x - c->x) * (py - c->y) - (a->y - c->y) * (px - c->x);
    int64_t e2 = (b->x - a->x) * (py - a->y) - (b->y - a->y) * (px - a->x);
    int64_t sx0 = -(int64_t)(c->y - b->y) * SUB, sx1 = -(int64_t)(a->y - c->y) * SUB,
            sx2 = -(int64_t)(b->y - a->y) * SUB;
    int64_t sy0 = (int64_t)(c->x - b->x) * SUB, sy1 = (int64_t)(a->x - c->x) * SUB,
            sy2 = (int64_t)(b->x - a->x) * SUB;
    double inv = 1 / (double)area;
    double z = (e0 * (double)a->w + e1 * (double)b->w + e2 * (double)c->w) * inv;
    double zx = (sx0 * (double)a->w + sx1 * (double)b->w + sx2 * (double)c->w) * inv;
    double zy = (sy0 * (double)a->w + sy1 * (double)b->w + sy2 * (double)c->w) * inv;
    for (int y = y0; y < y1; y++, e0 += sy0, e1 += sy1, e2 += sy2, z += zy) {
        int64_t f0 = e0, f1 = e1, f2 = e2;
        size_t row = (size_t)y * (size_t)t->width;
        for (int x = x0; x < x1; x++, f0 += sx0, f1 += sx1, f2 += sx2) {
            if ((f0 | f1 | f2) < 0)
                continue;
            float depth = (float)(z + zx * (x - x0));
            if (depth <= t->depth[row + (size_t)x])
                continue;
            t->depth[row + (size_t)x] = depth;
            if (t->id)
                t->id[row + (size_t)x] = id;
        }
    }
}

/* A triangle that reaches behind the eye is cut at the near plane first. */
static void cut_triangle(const tile *t, const und_shot *c, const f3 p[3], int32_t id)
{
    float along[3];
    f3 kept[4];
    int count = 0;
    for (int k = 0; k < 3; k++)
        along[k] = f3_dot(f3_sub(p[k], c->eye), c->forward) - 1.001f * c->near;
    for (int k = 0; k < 3; k++) {
        int n = (k + 1) % 3;
        if (along[k] > 0)
            kept[count++] = p[k];
        if ((along[k] > 0) != (along[n] > 0))
            kept[count++] = f3_mix(p[k], p[n], along[k] / (along[k] - along[n]));
    }
    und_vertex v[4];
    for (int k = 0; k < count; k++)
        v[k] = project(c, kept[k]);
    for (int k = 2; k < count; k++)
        if (v[0].w > 0 && v[k - 1].w > 0 && v[k].w > 0)
            triangle(t, &v[0], &v[k - 1], &v[k], id);
}

typedef struct layer {
    const und_mesh *mesh;
    const und_shot *camera;
    und_vertex *vertex;
    bool water;
    int blocks_x, blocks_z;
    int32_t *box; /* [blocks][4]: where a block is on the screen, samples; empty where nothing is drawn */
} layer;

static f3 node_place(const layer *l, int i, int j)
{
    const und_mesh *m = l->mesh;
    size_t c = (size_t)j * (size_t)m->nx + (size_t)i;
    float y = m->ground[c] + (l->water ? m->depth[c] : 0);
    return f3_make(m->x0 + (float)i * m->h, y, m->z0 + (float)j * m->h);
}

/* Water is drawn where any corner is wet; ground where any is dry: under water the shading finds it. */
static bool cell_drawn(const layer *l, size_t c)
{
    const float *d = l->mesh->depth + c, *e = d + l->mesh->nx;
    bool wet[4] = {d[0] > 0, d[1] > 0, e[0] > 0, e[1] > 0};
    return l->water ? wet[0] || wet[1] || wet[2] || wet[3] : !(wet[0] && wet[1] && wet[2] && wet[3]);
}

static void bound_block(layer *l, int block)
{
    const und_mesh *m = l->mesh;
    int i0 = block % l->blocks_x * BLOCK, j0 = block / l->blocks_x * BLOCK;
    int i1 = i0 + BLOCK < m->nx - 1 ? i0 + BLOCK : m->nx - 1,
        j1 = j0 + BLOCK < m->nz - 1 ? j0 + BLOCK : m->nz - 1;
    int32_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {INT32_MIN, INT32_MIN};
    bool drawn = false, behind = false;
    for (int j = j0; j < j1 && !drawn; j++)
        for (int i = i0; i < i1 && !drawn; i++)
            drawn = cell_drawn(l, (size_t)j * (size_t)m->nx + (size_t)i);
    for (int j = j0; j <= j1 && drawn; j++)
        for (int i = i0; i <= i1; i++) {
            const und_vertex *v = l->vertex + (size_t)j * (size_t)m->nx + (size_t)i;
            behind = behind || v->w <= 0;
            low[0] = v->x < low[0] ? v->x : low[0];
            low[1] = v->y < low[1] ? v->y : low[1];
            high[0] = v->x > high[0] ? v->x : high[0];
            high[1] = v->y > high[1] ? v->y : high[1];
        }
    int32_t *box = l->box + 4 * block;
    for (int k = 0; k < 2; k++) {
        box[k] = !drawn ? INT32_MAX : behind ? INT32_MIN : low[k] / SUB - 1;
        box[k + 2] = !drawn ? INT32_MIN : behind ? INT32_MAX : high[k] / SUB + 1;
    }
}

static void draw_cell(const tile *t, const layer *l, int i, int j)
{
    const und_mesh *m = l->mesh;
    size_t c = (size_t)j * (size_t)m->nx + (size_t)i;
    if (!cell_drawn(l, c))
        return;
    const und_vertex *v[4] = {l->vertex + c, l->vertex + c + 1, l->vertex + c + m->nx,
                              l->vertex + c + m->nx + 1};
    int32_t id = ID_GROUND;
    if (v[0]->w > 0 && v[1]->w > 0 && v[2]->w > 0 && v[3]->w > 0) {
        triangle(t, v[0], v[1], v[2], id);
        triangle(t, v[1], v[3], v[2], id);
        return;
    }
    if (v[0]->w <= 0 && v[1]->w <= 0 && v[2]->w <= 0 && v[3]->w <= 0)
        return;
    f3 p[4] = {node_place(l, i, j), node_place(l, i + 1, j), node_place(l, i, j + 1),
               node_place(l, i + 1, j + 1)};
    cut_triangle(t, l->camera, (f3[3]){p[0], p[1], p[2]}, id);
    cut_triangle(t, l->camera, (f3[3]){p[1], p[3], p[2]}, id);
}

static void draw_layer(const tile *t, const layer *l)
{
    for (int block = 0; block < l->blocks_x * l->blocks_z; block++) {
        const int32_t *box = l->box + 4 * block;
        if (box[0] >= t->x1 || box[2] < t->x0 || box[1] >= t->y1 || box[3] < t->y0)
            continue;
        int i0 = block % l->blocks_x * BLOCK, j0 = block / l->blocks_x * BLOCK;
        for (int j = j0; j < j0 + BLOCK && j < l->mesh->nz - 1; j++)
            for (int i = i0; i < i0 + BLOCK && i < l->mesh->nx - 1; i++)
                draw_cell(t, l, i, j);
    }
}

static void draw_quad(const tile *t, const und_shot *c, const f3 p[4], int32_t id)
{
    cut_triangle(t, c, (f3[3]){p[0], p[1], p[2]}, id);
    cut_triangle(t, c, (f3[3]){p[1], p[3], p[2]}, id);
}

/* The cut faces of the block along one edge of the domain: ground below, water above it. */
static void draw_side(const tile *t, const layer *l, int side)
{
    const und_mesh *m = l->mesh;
    bool along_z = side < 2;
    int count = along_z ? m->nz : m->nx;
    for (int k = 0; k + 1 < count; k++) {
        f3 ground[2];
        float depth[2];
        for (int e = 0; e < 2; e++) {
            int i = along_z ? (side == 0 ? 0 : m->nx - 1) : k + e,
                j = along_z ? k + e : (side == 2 ? 0 : m->nz - 1);
            ground[e] = node_place(l, i, j);
            depth[e] = m->depth[(size_t)j * (size_t)m->nx + (size_t)i];
        }
        f3 foot[2] = {ground[0], ground[1]}, top[2] = {ground[0], ground[1]};
        foot[0].y = foot[1].y = m->base;
        draw_quad(t, l->camera, (f3[4]){foot[0], foot[1], ground[0], ground[1]}, ID_SIDE_GROUND + side);
        if (!(depth[0] > 0 || depth[1] > 0))
            continue;
        top[0].y += maxf(depth[0], 0);
        top[1].y += maxf(depth[1], 0);
        draw_quad(t, l->camera, (f3[4]){ground[0], ground[1], top[0], top[1]}, ID_SIDE_WATER + side);
    }
}

/* Only the faces turned to the eye. */
static void draw_sides(const tile *t, const layer *l)
{
    const und_mesh *m = l->mesh;
    f3 eye = l->camera->eye;
    bool seen[4] = {eye.x<m->x0, eye.x> m->x1, eye.z<m->z0, eye.z> m->z1};
    for (int side = 0; side < 4; side++)
        if (seen[side])
            draw_side(t, l, side);
}

static size_t vertices_of(const und_drawn_mesh *mesh)
{
    return mesh->count == 0 ? 0 : mesh->shell ? (size_t)mesh->shell->vertex_count : 3 * mesh->count;
}

static void project_mesh(const und_shot *c, const und_drawn_mesh *mesh, und_vertex *to)
{
    const float *p = mesh->shell ? mesh->shell->position : mesh->position;
    for (size_t k = 0; k < vertices_of(mesh); k++)
        to[k] = project(c, f3_of(p + 3 * k));
}

static void draw_mesh(const tile *t, const und_shot *c, const und_drawn_mesh *mesh, const und_vertex *vertex)
{
    const int32_t *index = mesh->shell ? mesh->shell->triangle : NULL;
    for (size_t k = 0; k < mesh->count; k++) {
        const und_vertex *v[3];
        for (size_t e = 0; e < 3; e++)
            v[e] = vertex + (index ? (size_t)index[3 * k + e] : 3 * k + e);
        int32_t id = ID_OBJECT + (int32_t)k;
        if (v[0]->w > 0 && v[1]->w > 0 && v[2]->w > 0) {
            triangle(t, v[0], v[1], v[2], id);
        } else if (v[0]->w > 0 || v[1]->w > 0 || v[2]->w > 0) {
            float p[9];
            und_drawn_corners(mesh, k, p);
            cut_triangle(t, c, (f3[3]){f3_of(p), f3_of(p + 3), f3_of(p + 6)}, id);
        }
    }
}

static void project_layer(layer *l, int threads)
{
    const und_mesh *m = l->mesh;
    PARALLEL_FOR(threads)
    for (int j = 0; j < m->nz; j++)
        for (int i = 0; i < m->nx; i++)
            l->vertex[(size_t)j * (size_t)m->nx + (size_t)i] = project(l->camera, node_place(l, i, j));
    PARALLEL_FOR(threads)
    for (int b = 0; b < l->blocks_x * l->blocks_z; b++)
        bound_block(l, b);
}

static void scan_tile(und_render *r, const layer *ground, const layer *water, const und_vertex *soup,
                      const und_vertex *skin, int index)
{
    const und_shot *c = &r->stage->camera;
    int across = (c->width + TILE_X - 1) / TILE_X;
    tile t = {.x0 = index % across * TILE_X, .y0 = index / across * TILE_Y, .width = c->width};
    t.x1 = t.x0 + TILE_X < c->width ? t.x0 + TILE_X : c->width;
    t.y1 = t.y0 + TILE_Y < c->height ? t.y0 + TILE_Y : c->height;
    for (int y = t.y0; y < t.y1; y++) {
        size_t at = (size_t)y * (size_t)c->width + (size_t)t.x0, n = (size_t)(t.x1 - t.x0);
        memset(r->buffers.opaque + at, 0, n * sizeof(float));
        memset(r->buffers.water + at, 0, n * sizeof(float));
        memset(r->buffers.id + at, 0, n * sizeof(int32_t));
    }
    t.depth = r->buffers.opaque;
    t.id = r->buffers.id;
    draw_layer(&t, ground);
    if (r->stage->def.sides && r->stage->drawing == UND_DRAWS_HEIGHTS)
        draw_sides(&t, ground);
    draw_mesh(&t, c, &r->stage->soup, soup);
    t.depth = r->buffers.water;
    t.id = NULL;
    draw_layer(&t, water);
    if (r->stage->liquid.count == 0)
        return;
    t.depth = r->buffers.liquid;
    t.id = r->buffers.liquid_id;
    for (int y = t.y0; y < t.y1; y++)
        memset(t.depth + (size_t)y * (size_t)c->width + (size_t)t.x0, 0,
               (size_t)(t.x1 - t.x0) * sizeof(float));
    draw_mesh(&t, c, &r->stage->liquid, skin);
}

/* The samples among which what moves is drawn, the upper ends excluded. */
static void moving_range(const und_scenery *stage, int range[4])
{
    const und_shot *c = &stage->camera;
    const und_box *b = &stage->soup.moving;
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    range[0] = range[1] = 0;
    range[2] = c->width;
    range[3] = c->height;
    for (int k = 0; k < 8; k++) {
        und_vertex v = project(c, f3_make(k & 1 ? b->low.x : b->high.x, k & 2 ? b->low.y : b->high.y,
                                          k & 4 ? b->low.z : b->high.z));
        if (v.w <= 0)
            return; /* around the eye: anywhere */
        low[0] = minf(low[0], (float)v.x / SUB - 1);
        low[1] = minf(low[1], (float)v.y / SUB - 1);
        high[0] = maxf(high[0], (float)v.x / SUB + 2);
        high[1] = maxf(high[1], (float)v.y / SUB + 2);
    }
    for (int k = 0; k < 2; k++) {
        range[k] = (int)clampf(low[k], 0, (float)range[k + 2]);
        range[k + 2] = (int)clampf(high[k], 0, (float)range[k + 2]);
    }
}

und_status und_scan(und_render *r, bool moving, und_error *err)
{
    const und_mesh *m = &r->stage->mesh;
    const und_shot *c = &r->stage->camera;
    size_t nodes = (size_t)m->nx * (size_t)m->nz;
    layer ground = {.mesh = m,
                    .camera = c,
                    .vertex = und_hold(&r->ground_vertex, nodes * sizeof(und_vertex), err)},
          water;
    ground.blocks_x = (m->nx - 1 + BLOCK - 1) / BLOCK;
    ground.blocks_z = (m->nz - 1 + BLOCK - 1) / BLOCK;
    size_t blocks = (size_t)ground.blocks_x * (size_t)ground.blocks_z;
    ground.box = und_alloc(2 * blocks, 4 * sizeof(int32_t), "picture", err);
    const und_drawn_mesh *objects = &r->stage->soup, *liquid = &r->stage->liquid;
    size_t corners = vertices_of(objects);
    und_vertex *soup = und_alloc(corners + vertices_of(liquid) + 1, sizeof *soup, "picture", err),
               *skin = soup + corners;
    und_vertex *water_vertex = und_hold(&r->water_vertex, nodes * sizeof *water_vertex, err);
    if (!ground.box || !soup || !ground.vertex || !water_vertex) {
        free(ground.box);
        free(soup);
        return UND_FAILED;
    }
    water = ground;
    water.water = true;
    water.vertex = water_vertex;
    water.box = ground.box + 4 * blocks;
    project_layer(&ground, r->stage->threads);
    project_layer(&water, r->stage->threads);
    project_mesh(c, objects, soup);
    project_mesh(c, liquid, skin);
    int across = (c->width + TILE_X - 1) / TILE_X, tiles = across * ((c->height + TILE_Y - 1) / TILE_Y);
    int range[4] = {0, 0, c->width, c->height};
    if (moving)
        moving_range(r->stage, range);
    PARALLEL_FOR(r->stage->threads)
    for (int k = 0; k < tiles; k++) {
        int x = k % across * TILE_X, y = k / across * TILE_Y;
        bool within = x < range[2] && x + TILE_X > range[0] && y < range[3] && y + TILE_Y > range[1];
        if (within && !und_scenery_stopped(r->stage)) /* nothing is shaded then either */
            scan_tile(r, &ground, &water, soup, skin, k);
    }
    free(ground.box);
    free(soup);
    return UND_OK;
}
