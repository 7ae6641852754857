/* Where the liquid at a place of its surface was at first. */
#include "base/parallel.h"
#include "base/status.h"
#include "surface/texture_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

bool und_texture_in_frame(const und_frame *frame)
{
    return und_frame_find(frame, "texture/position") != NULL;
}

void und_plate_project(const und_plate *plate, const float place[3], float uv[2])
{
    double d[3], x = 0, y = 0, along = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = (double)place[a] - plate->eye[a];
        x += d[a] * plate->right[a];
        y += d[a] * plate->up[a];
        along += d[a] * plate->forward[a];
    }
    along = fmax(along, 1e-9); /* behind the eye there is no picture */
    uv[0] = (float)(0.5 + 0.5 * x / (along * plate->half * plate->aspect));
    uv[1] = (float)(0.5 + 0.5 * y / (along * plate->half));
}

static const double *find_numbers(const und_frame *frame, const char *name, size_t count)
{
    const und_item *item = und_frame_find(frame, name);
    if (!item || item->type != UND_F64 || item->rank != 1 || item->dim[0] != count || !item->data)
        return NULL;
    for (size_t k = 0; k < count; k++)
        if (!isfinite(((const double *)item->data)[k]))
            return NULL;
    return item->data;
}

und_status und_texture_map_open(und_texture_map *map, const float *place, const float *rest, int count,
                                int threads, und_error *err)
{
    map->threads = threads;
    und_status status = und_nearest_build(&map->tree, place, count, threads, err);
    map->rest =
        status == UND_OK ? und_alloc(3 * (size_t)count + 3, sizeof *map->rest, "a texture", err) : NULL;
    if (!map->rest) {
        und_texture_map_close(map);
        return UND_FAILED;
    }
    for (int i = 0; i < count; i++)
        memcpy(map->rest + 3 * (size_t)i, rest + 3 * (size_t)map->tree.id[i], 3 * sizeof *rest);
    return UND_OK;
}

void und_texture_map_close(und_texture_map *map)
{
    und_nearest_free(&map->tree);
    free(map->rest);
    map->rest = NULL;
}

und_texture_map *und_texture_map_create(const und_frame *frame, int threads, und_error *err)
{
    size_t places = 0, rests = 0, numbers = sizeof(und_plate) / sizeof(double);
    const float *place = und_frame_points(frame, "texture/position", &places),
                *rest = und_frame_points(frame, "texture/rest", &rests);
    const double *side = find_numbers(frame, "texture/side", 1),
                 *plate = find_numbers(frame, "texture/plate", numbers);
    if (!place || !rest || places != rests || !side || !(*side > 0) ||
        (!plate && und_frame_find(frame, "texture/plate"))) {
        und_error_set(err, UND_FAILED, "frame %d: the texture particles are damaged", frame->number);
        return NULL;
    }
    und_texture_map *map = und_alloc(1, sizeof *map, "a texture", err);
    if (!map)
        return NULL;
    map->side = *side;
    if (plate)
        memcpy(&map->plate, plate, sizeof map->plate);
    map->has_plate = plate;
    if (und_texture_map_open(map, place, rest, (int)places, und_threads(threads), err) != UND_OK) {
        free(map);
        return NULL;
    }
    return map;
}

void und_texture_map_destroy(und_texture_map *map)
{
    if (map)
        und_texture_map_close(map);
    free(map);
}

const und_plate *und_texture_map_plate(const und_texture_map *map)
{
    return map->has_plate ? &map->plate : NULL;
}

double und_texture_map_side(const und_texture_map *map)
{
    return map->side;
}

/* Weighted sums over neighbours, places relative to the one asked for. */
typedef struct moments {
    double weight, place[3], rest[3]; /* means */
    double spread[6];                 /* of place with place: xx yy zz xy xz yz */
    double slope[3][3];               /* of place (first) with rest (second) */
} moments;

static const int PAIR[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

static double weight_of(const und_neighbour *n, double farthest)
{
    double w = farthest > 0 ? 1 - (double)n->squared / farthest : 1;
    return w * w;
}

static void gather_means(const und_texture_map *map, const float *at, const und_neighbour *list, int count,
                         double farthest, moments *m)
{
    for (int i = 0; i < count; i++) {
        size_t k = 3 * (size_t)list[i].at;
        double w = weight_of(&list[i], farthest);
        m->weight += w;
        for (int a = 0; a < 3; a++) {
            m->place[a] += w * ((double)map->tree.place[k + (size_t)a] - (double)at[a]);
            m->rest[a] += w * (double)map->rest[k + (size_t)a];
        }
    }
    for (int a = 0; a < 3; a++) {
        m->place[a] /= m->weight;
        m->rest[a] /= m->weight;
    }
}

static void gather_slopes(const und_texture_map *map, const float *at, const und_neighbour *list, int count,
                          double farthest, moments *m)
{
    for (int i = 0; i < count; i++) {
        size_t k = 3 * (size_t)list[i].at;
        double w = weight_of(&list[i], farthest) / m->weight, d[3];
        for (int a = 0; a < 3; a++)
            d[a] = (double)map->tree.place[k + (size_t)a] - (double)at[a] - m->place[a];
        for (int a = 0; a < 6; a++)
            m->spread[a] += w * d[PAIR[a][0]] * d[PAIR[a][1]];
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                m->slope[a][c] += w * d[a] * ((double)map->rest[k + (size_t)c] - m->rest[c]);
    }
}

/* Adds the gradient times the way from the mean place to the one asked for.  On a flat piece of surface
 * nothing is known across it: a share of the trace, far below what a bend of 20 cells leaves, keeps that
 * direction level. */
static void add_slope(const moments *m, double reach, float rest[3])
{
    const double LEVEL = 1e-5, *s = m->spread;
    double more = LEVEL * (s[0] + s[1] + s[2]), xx = s[0] + more, yy = s[1] + more, zz = s[2] + more;
    double way[3], length = 0, a[3], det, by[3];
    for (int k = 0; k < 3; k++) {
        way[k] = -m->place[k];
        length += way[k] * way[k];
    }
    double held = length > reach * reach ? reach / sqrt(length) : 1; /* it is no guess of what is far off */
    double c00 = yy * zz - s[5] * s[5], c01 = s[4] * s[5] - s[3] * zz, c02 = s[3] * s[5] - s[4] * yy;
    det = xx * c00 + s[3] * c01 + s[4] * c02;
    if (!(det > 0))
        return;
    double c11 = xx * zz - s[4] * s[4], c12 = s[3] * s[4] - xx * s[5], c22 = xx * yy - s[3] * s[3];
    for (int k = 0; k < 3; k++)
        a[k] = held * way[k];
    by[0] = (c00 * a[0] + c01 * a[1] + c02 * a[2]) / det;
    by[1] = (c01 * a[0] + c11 * a[1] + c12 * a[2]) / det;
    by[2] = (c02 * a[0] + c12 * a[1] + c22 * a[2]) / det;
    for (int c = 0; c < 3; c++) {
        double add = by[0] * m->slope[0][c] + by[1] * m->slope[1][c] + by[2] * m->slope[2][c];
        rest[c] = (float)(m->rest[c] + add);
    }
}

static void look_at(const und_texture_map *map, const float *at, float rest[3])
{
    und_neighbour list[UND_NEAREST_MOST];
    moments m = {0};
    int count = und_nearest_find(&map->tree, at, UND_NEAREST_MOST, INFINITY, list);
    memcpy(rest, at, 3 * sizeof *rest);
    if (count == 0)
        return;
    double farthest = (double)list[0].squared;
    gather_means(map, at, list, count, farthest, &m);
    if (!(m.weight > 0)) { /* all equally far */
        m = (moments){0};
        farthest = 0;
        gather_means(map, at, list, count, farthest, &m);
    }
    for (int a = 0; a < 3; a++)
        rest[a] = (float)m.rest[a];
    gather_slopes(map, at, list, count, farthest, &m);
    add_slope(&m, 0.5 * sqrt(farthest), rest);
}

void und_texture_map_look(const und_texture_map *map, const float *place, int count, float *rest)
{
    int blocks = (count + BLOCK - 1) / BLOCK;
    PARALLEL_FOR(und_workers(map->threads, (size_t)count, BLOCK))
    for (int b = 0; b < blocks; b++)
        for (int i = b * BLOCK; i < (b + 1) * BLOCK && i < count; i++)
            look_at(map, place + 3 * (size_t)i, rest + 3 * (size_t)i);
}
