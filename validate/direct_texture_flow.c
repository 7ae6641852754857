/* Texture particles in a simulated flow. */
#include "validate/direct.h"

#include "base/status.h"
#include "liquid/levelset.h"
#include "surface/frame_mesh.h"
#include "surface/nearest.h"
#include "surface/texture.h"
#include "validate/levelset.h"

#include <math.h>
#include <stdlib.h>

enum { CELLS = 24, FRAMES = 12, FINE = 8 /* frames of the reference in each */, STARTS = 4 };

typedef struct difference {
    double mean, moved; /* cells */
    double gap;         /* cells: farthest from the surface to a particle */
} difference;

/* The same flow, with frames near to one another and as a film has them. */
typedef struct pair {
    und_levelset *levelset;
    und_grid grid;
    und_texture *texture[2]; /* fine, coarse */
    int threads;
} pair;

static und_status take_frame(pair *p, int number, und_frame *frame, und_error *err)
{
    und_liquid *liquid = und_levelset_liquid(p->levelset);
    *frame = und_frame_empty(number, und_levelset_time(p->levelset), p->grid);
    return liquid->class->frame(liquid, frame, err);
}

static und_status advance(pair *p, int step, und_error *err)
{
    und_frame frame;
    und_levelset_step(p->levelset, 1.0 / 24 / FINE);
    und_status status = take_frame(p, 1 + step, &frame, err);
    if (status == UND_OK)
        status = und_texture_advance(p->texture[0], &frame, err);
    if (status == UND_OK && step % FINE == 0)
        status = und_texture_advance(p->texture[1], &frame, err);
    und_frame_clear(&frame);
    return status;
}

static und_status begin(pair *p, und_error *err)
{
    und_frame frame;
    und_texture_def def = und_texture_def_default();
    def.threads = p->threads;
    und_status status = take_frame(p, 1, &frame, err);
    for (int k = 0; k < 2 && status == UND_OK; k++)
        if (!(p->texture[k] = und_texture_create(&def, &frame, err)))
            status = UND_FAILED;
    und_frame_clear(&frame);
    return status;
}

/* Lookups at the mesh's vertices. */
typedef struct looks {
    float *rest;
    double gap; /* cells: farthest from a vertex to the nearest particle */
} looks;

static und_status look(const und_texture *t, const und_shell *shell, const und_grid *grid, int threads,
                       looks *out, und_error *err)
{
    und_frame own = und_frame_empty(1, 0, *grid);
    und_nearest tree = {0};
    und_status status = und_texture_frame(t, &own, err);
    und_texture_map *map = status == UND_OK ? und_texture_map_create(&own, threads, err) : NULL;
    const und_item *place = und_frame_find(&own, "texture/position");
    *out = (looks){.rest = und_alloc(3 * (size_t)shell->vertex_count + 3, sizeof(float), "a texture", err)};
    status = map && out->rest ? und_nearest_build(&tree, place->data, (int)place->dim[0], threads, err)
                              : UND_FAILED;
    if (status == UND_OK)
        und_texture_map_look(map, shell->position, shell->vertex_count, out->rest);
    for (int i = 0; status == UND_OK && i < shell->vertex_count; i++) {
        und_neighbour one[UND_NEAREST_MOST];
        und_nearest_find(&tree, shell->position + 3 * (size_t)i, 1, INFINITY, one);
        out->gap = fmax(out->gap, sqrt((double)one[0].squared) / grid->dx);
    }
    und_nearest_free(&tree);
    und_texture_map_destroy(map);
    und_frame_clear(&own);
    return status;
}

static und_status compare(pair *p, difference *d, und_error *err)
{
    und_frame_mesh_def def = {.threads = p->threads};
    und_frame frame;
    und_shell shell = {0};
    looks of[2] = {{0}};
    und_status status = take_frame(p, 1, &frame, err);
    if (status == UND_OK)
        status = und_frame_mesh(&frame, &def, &shell, err);
    for (int k = 0; k < 2 && status == UND_OK; k++)
        status = look(p->texture[k], &shell, &p->grid, p->threads, &of[k], err);
    *d = (difference){.gap = of[1].gap};
    for (int i = 0; status == UND_OK && i < 3 * shell.vertex_count; i += 3) {
        double off = 0, way = 0;
        for (int a = i; a < i + 3; a++) {
            off += pow((double)(of[1].rest[a] - of[0].rest[a]), 2);
            way += pow((double)(shell.position[a] - of[0].rest[a]), 2);
        }
        d->mean += sqrt(off) / p->grid.dx / shell.vertex_count;
        d->moved += sqrt(way) / p->grid.dx / shell.vertex_count;
    }
    free(of[0].rest);
    free(of[1].rest);
    und_shell_free(&shell);
    und_frame_clear(&frame);
    return status;
}

/* A ball falls and is flattened on the floor; where in a cell it begins changes what they differ by by a
 * fifth.
 */
static und_status fall(case_sink *sink, int start, difference *d, und_error *err)
{
    und_levelset_def def = case_levelset_tank(sink, CELLS, CELLS * 3 / 4, CELLS, 1.0 / CELLS);
    const und_vec3 middle = und_vec(0.5 + 0.004 * start, 0.3 - 0.003 * start, 0.5 + 0.003 * start);
    und_shape *ball =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = middle, .radius = 0.25}, err);
    und_fill_def fill = {.shape = ball};
    def.fills = &fill;
    def.fill_count = 1;
    def.viscosity = 0.05;
    pair p = {.threads = case_threads(sink)};
    p.grid = (und_grid){.n = {def.n[0], def.n[1], def.n[2]}, .dx = def.dx};
    p.levelset = ball ? und_levelset_create(&def, err) : NULL;
    und_status status = p.levelset ? begin(&p, err) : UND_FAILED;
    for (int step = 1; step <= FRAMES * FINE && status == UND_OK; step++)
        status = advance(&p, step, err);
    if (status == UND_OK)
        status = compare(&p, d, err);
    und_texture_destroy(p.texture[0]);
    und_texture_destroy(p.texture[1]);
    und_levelset_destroy(p.levelset);
    und_shape_destroy(ball);
    return status;
}

und_status case_texture_flow(case_sink *sink, und_error *err)
{
    difference all = {0};
    und_status status = UND_OK;
    for (int start = 0; start < STARTS && status == UND_OK; start++) {
        difference d = {0};
        status = fall(sink, start, &d, err);
        all.mean += d.mean / STARTS;
        all.moved += d.moved / STARTS;
        all.gap = fmax(all.gap, d.gap);
    }
    if (status != UND_OK)
        return status;
    case_report(sink, (case_result){"off the texture that 192 frames a second give, cells, mean", all.mean, 0,
                                    0.5, "the same flow"});
    case_report(sink, (case_result){"that, over how far the liquid has moved", all.mean / all.moved, 0, 0.05,
                                    "the same flow"});
    case_report(sink, (case_result){"farthest that the surface is from a particle, cells", all.gap, 0, 1,
                                    "twice the spacing"});
    return UND_OK;
}
