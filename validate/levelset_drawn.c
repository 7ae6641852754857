/* What is drawn of the level set's water: of each connected piece the mesh encloses what its cells hold. */
#include "validate/levelset.h"

#include "base/random.h"
#include "base/status.h"
#include "geom/motion.h"
#include "geom/value.h"
#include "liquid/levelset_state.h"
#include "surface/frame_mesh.h"
#include "surface/volume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const own = "each piece keeps its own";

/* ---- Pieces ---- */

/* Cells that touch, by faces, edges or corners, and hold something or have their middle in what is drawn. */
typedef struct pieces {
    const und_levelset *s;
    und_frame frame;
    const float *distance; /* m, as drawn: [nz][ny][nx] */
    int *label, *stack;    /* of cells, in the same order; 0: none */
    int count;
    double *held, *drawn; /* m3, of each from 1 on */
    int *with;            /* another that its mesh is joined to; itself: none */
} pieces;

static int cell_index(const pieces *p, int x, int y, int z)
{
    const int *n = p->s->mac.n;
    return x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2] ? -1 : (z * n[1] + y) * n[0] + x;
}

static size_t place_of(const pieces *p, int index)
{
    const int *n = p->s->mac.n;
    return und_mac_at(&p->s->mac, index % n[0], index / n[0] % n[1], index / n[0] / n[1]);
}

static double held_in(const pieces *p, int index)
{
    return (double)und_levelset_volume_cells(p->s)[place_of(p, index)] / UND_VOLUME_ONE;
}

static bool is_wet(const pieces *p, int index)
{
    const size_t at = place_of(p, index);
    const bool solid = p->s->solids.any && !(p->s->solids.room[at] > 0);
    return held_in(p, index) > 0.01 || (!solid && p->distance[index] < 0);
}

static void flood(pieces *p, int from)
{
    const int *n = p->s->mac.n;
    int depth = 0;
    p->stack[depth++] = from;
    p->label[from] = p->count;
    while (depth > 0) {
        const int at = p->stack[--depth], x = at % n[0], y = at / n[0] % n[1], z = at / n[0] / n[1];
        for (int k = 0; k < 27; k++) {
            const int next = cell_index(p, x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
            if (next >= 0 && p->label[next] == 0 && is_wet(p, next)) {
                p->label[next] = p->count;
                p->stack[depth++] = next;
            }
        }
    }
}

/* A piece's cell beside one that holds so little that it is none by itself: films are drawn however thin. */
static int label_beside(const pieces *p, int at)
{
    const int *n = p->s->mac.n;
    int found = p->label[at];
    for (int k = 0; k < 27 && found == 0 && held_in(p, at) > 0; k++) {
        const int next = cell_index(p, at % n[0] + k % 3 - 1, at / n[0] % n[1] + k / 3 % 3 - 1,
                                    at / n[0] / n[1] + k / 9 - 1);
        found = next >= 0 ? p->label[next] : 0;
    }
    return found;
}

static bool find_pieces(pieces *p)
{
    const int *n = p->s->mac.n, cells = n[0] * n[1] * n[2];
    p->label = calloc((size_t)cells, sizeof *p->label);
    p->stack = malloc((size_t)cells * sizeof *p->stack);
    for (int i = 0; p->label && p->stack && i < cells; i++)
        if (p->label[i] == 0 && is_wet(p, i)) {
            p->count++;
            flood(p, i);
        }
    p->held = calloc((size_t)p->count + 1, sizeof *p->held);
    p->drawn = calloc((size_t)p->count + 1, sizeof *p->drawn);
    p->with = calloc((size_t)p->count + 1, sizeof *p->with);
    if (!p->label || !p->stack || !p->held || !p->drawn || !p->with)
        return false;
    for (int i = 0; i <= p->count; i++)
        p->with[i] = i;
    for (int i = 0; i < cells; i++)
        p->held[label_beside(p, i)] += held_in(p, i) * pow(p->s->def.dx, 3);
    return true;
}

/* ---- What is drawn ---- */

/* The piece at a place a third of a cell beneath the surface. */
static int piece_at(const pieces *p, const float corner[9], const float normal[9])
{
    const und_grid *g = &p->frame.grid;
    int cell[3], found = 0;
    for (int a = 0; a < 3; a++) {
        const double middle = ((double)corner[a] + (double)corner[3 + a] + (double)corner[6 + a]) / 3;
        const double out = ((double)normal[a] + (double)normal[3 + a] + (double)normal[6 + a]) / 3;
        const int at = (int)floor((middle - g->origin[a]) / und_grid_size(g, a) - out / 3);
        cell[a] = at < 0 ? 0 : at < g->n[a] ? at : g->n[a] - 1;
    }
    for (int k = 0, way = 13; k < 27 && found == 0; k++, way = k <= 13 ? k - 1 : k) {
        const int next =
            cell_index(p, cell[0] + way % 3 - 1, cell[1] + way / 3 % 3 - 1, cell[2] + way / 9 - 1);
        found = next >= 0 ? p->label[next] : 0;
    }
    return found;
}

static int root_of(int *parent, int v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* A closed part of the mesh, and its piece.  Pieces that it joins, by films too thin to join cells, are one:
 * the one with the lower number. */
typedef struct part {
    int piece;
    double volume;
} part;

static int whole_of(const pieces *p, int i)
{
    while (p->with[i] != i)
        i = p->with[i];
    return i;
}

static void join(const pieces *p, int i, int other)
{
    const int a = whole_of(p, i), b = whole_of(p, other), to = a < b ? a : b, from = a < b ? b : a;
    p->with[from] = to;
    p->held[to] += a != b ? p->held[from] : 0;
    p->held[from] = a != b ? 0 : p->held[from];
}

static void add_triangle(const pieces *p, const und_shell *shell, size_t t, part *of)
{
    float c[9], normal[9];
    und_shell_corners(shell, shell->position, t, c);
    und_shell_corners(shell, shell->normal, t, normal);
    const und_vec3 x = und_vec((double)c[0], (double)c[1], (double)c[2]);
    const und_vec3 y = und_vec((double)c[3], (double)c[4], (double)c[5]);
    const und_vec3 z = und_vec((double)c[6], (double)c[7], (double)c[8]);
    const int piece = piece_at(p, c, normal);
    of->volume += und_dot(x, und_cross(y, z)) / 6;
    if (piece != 0 && of->piece != 0)
        join(p, piece, of->piece);
    of->piece = piece != 0 ? piece : of->piece;
}

static bool add_drawn(pieces *p, const und_shell *shell)
{
    int *parent = malloc(((size_t)shell->vertex_count + 1) * sizeof *parent);
    part *parts = calloc((size_t)shell->vertex_count + 1, sizeof *parts);
    const bool done = parent && parts;
    for (int v = 0; done && v < shell->vertex_count; v++)
        parent[v] = v;
    for (size_t t = 0; done && t < 3 * (size_t)shell->triangle_count; t++)
        parent[root_of(parent, shell->triangle[t])] = root_of(parent, shell->triangle[t - t % 3]);
    for (size_t t = 0; done && t < (size_t)shell->triangle_count; t++)
        add_triangle(p, shell, t, &parts[root_of(parent, shell->triangle[3 * t])]);
    for (int v = 0; done && v < shell->vertex_count; v++)
        p->drawn[whole_of(p, parts[v].piece)] += parts[v].volume;
    free(parent);
    free(parts);
    return done;
}

static void pieces_close(pieces *p)
{
    und_frame_clear(&p->frame);
    free(p->label);
    free(p->stack);
    free(p->held);
    free(p->drawn);
    free(p->with);
}

static und_status pieces_open(pieces *p, und_levelset *levelset, und_error *err)
{
    const und_frame_mesh_def def = {.threads = 1};
    und_shell shell = {0};
    *p = (pieces){.s = levelset, .frame = {.grid = {.dx = levelset->def.dx}}};
    und_status status = und_levelset_write_frame((und_liquid *)levelset, &p->frame, err);
    if (status == UND_OK)
        status = und_frame_field(&p->frame, "distance", -1, &p->distance, err);
    if (status == UND_OK)
        status = und_frame_mesh(&p->frame, &def, &shell, err);
    if (status == UND_OK && (!find_pieces(p) || !add_drawn(p, &shell)))
        status = und_error_set(err, UND_FAILED, "no memory for pieces");
    und_shell_free(&shell);
    return status;
}

/* ---- The worlds ---- */

enum { BALLS = 5, MOST_FILLS = BALLS + 2, THROWN = 4, SPLASHES = 4, MORE = 12, PLATES = 12 };
enum { PLATE_NUMBERS = 22 }; /* that say where one lies */
/* Cells: what smaller pieces are drawn as is not looked at. */
static const double LARGE = 4, LARGE_IN_SPLASH = 8;

static und_shape *box_of(double x0, double y0, double z0, double x1, double y1, double z1, und_error *err)
{
    return und_shape_create(&(und_shape){.kind = UND_BOX,
                                         .center = {(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2},
                                         .half = {(x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2}},
                            err);
}

/* Balls of 2 to 6 cells' radius and a sheet of 2 cells, in the air, and a block behind a wall of 3. */
typedef struct world {
    und_levelset_def def;
    und_fill_def fills[MOST_FILLS];
    und_obstacle_def wall;
    und_shape *shapes[MOST_FILLS + 1];
    und_motion *leans; /* NULL: the wall does not */
} world;

static bool world_open(world *w, const case_sink *sink, int n, double gravity, und_error *err)
{
    static const double ball[BALLS][4] = {{0.1, 0.85, 0.1, 2},
                                          {0.12, 0.8, 0.5, 2.5},
                                          {0.12, 0.85, 0.85, 3},
                                          {0.4, 0.8, 0.15, 4},
                                          {0.45, 0.75, 0.65, 6}};
    const double dx = 1.0 / n, from = 0.75, to = from + 3 * dx;
    bool made = true;
    *w = (world){.def = case_levelset_tank(sink, n, n, n, dx)};
    for (int i = 0; i < BALLS; i++)
        w->shapes[i] = und_shape_create(&(und_shape){.kind = UND_SPHERE,
                                                     .center = {ball[i][0], ball[i][1], ball[i][2]},
                                                     .radius = ball[i][3] * dx},
                                        err);
    w->shapes[BALLS] = box_of(0.1, 0.4, 0.2, 0.6, 0.4 + 2 * dx, 0.8, err);
    w->shapes[BALLS + 1] = box_of(to, -1, -1, 2, 0.21, 2, err);
    w->shapes[MOST_FILLS] = box_of(from, -1, -1, to, 2, 2, err);
    for (int i = 0; i <= MOST_FILLS; i++) {
        made = made && w->shapes[i];
        if (i < MOST_FILLS)
            w->fills[i].shape = w->shapes[i];
    }
    w->wall = (und_obstacle_def){.name = "wall", .shape = w->shapes[MOST_FILLS]};
    w->def.fills = w->fills;
    w->def.fill_count = MOST_FILLS;
    w->def.obstacles = &w->wall;
    w->def.obstacle_count = 1;
    w->def.gravity[1] = gravity;
    return made;
}

static void world_close(world *w)
{
    for (int i = 0; i <= MOST_FILLS; i++)
        und_shape_destroy(w->shapes[i]);
    und_motion_destroy(w->leans);
}

/* Of the pieces of at least so many cells, as they are or as they are drawn, how many there are; drawn of
 * what is held, of the one that is furthest off. */
static und_status look(und_levelset *levelset, double large, int *count, double *worst, und_error *err)
{
    pieces p;
    const double cell = pow(levelset->def.dx, 3), least = 1e-3 * cell;
    const und_status status = pieces_open(&p, levelset, err);
    *count = 0;
    for (int i = 1; i <= p.count && status == UND_OK; i++) {
        const double drawn = p.drawn[i] / fmax(p.held[i], least);
        if (!(fmax(p.held[i], p.drawn[i]) >= large * cell))
            continue;
        ++*count;
        if (fabs(drawn - 1) > fabs(*worst - 1))
            *worst = drawn;
    }
    pieces_close(&p);
    return status;
}

/* Without weight they stay as they are; else they fall, and splash. */
static und_status draw_world(case_sink *sink, int n, bool falls, und_error *err)
{
    char text[2][96];
    double worst[2] = {1, 1}; /* until something has come down, and afterwards */
    int count = 0, first = 0;
    world w;
    const bool made = world_open(&w, sink, n, falls ? -9.81 : 0, err);
    und_levelset *levelset = made ? und_levelset_create(&w.def, err) : NULL;
    und_status status = levelset ? UND_OK : UND_FAILED;
    for (int frame = 0; frame <= (falls ? 18 : 6) && status == UND_OK; frame++) {
        case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
        status = look(levelset, LARGE, &count, &worst[frame > 6], err);
        first = frame == 0 ? count : first;
    }
    snprintf(text[0], sizeof text[0], "%s, %d cells: drawn, the worst piece", falls ? "fall" : "at rest", n);
    snprintf(text[1], sizeof text[1], "%d cells: %s", n, falls ? "splash: drawn, the worst piece" : "pieces");
    if (status == UND_OK)
        case_report(sink, (case_result){text[0], worst[0], 1, 0.01, own});
    if (status == UND_OK && falls)
        case_report(sink, (case_result){text[1], worst[1], 1, 0.03, own});
    if (status == UND_OK && !falls)
        case_report(sink, (case_result){text[1], first, MOST_FILLS, 0, own});
    und_levelset_destroy(levelset);
    world_close(&w);
    return status;
}

/* Of balls that are thrown about over a floor and a small ball of stone threads, sheets and films are left.
 */
static bool splash_open(world *w, const case_sink *sink, int n, uint64_t seed, und_error *err)
{
    bool made = true;
    *w = (world){.def = case_levelset_tank(sink, n, n, n, 1.0 / n)};
    for (int i = 0; i < THROWN + 1; i++) {
        const double r[7] = {und_random(seed, 0, (uint64_t)i), und_random(seed, 1, (uint64_t)i),
                             und_random(seed, 2, (uint64_t)i), und_random(seed, 3, (uint64_t)i),
                             und_random(seed, 4, (uint64_t)i), und_random(seed, 5, (uint64_t)i),
                             und_random(seed, 6, (uint64_t)i)};
        const bool stone = i == THROWN;
        w->shapes[i] = und_shape_create(
            &(und_shape){.kind = UND_SPHERE,
                         .center = {0.2 + 0.6 * r[0], stone ? 0.2 : 0.35 + 0.5 * r[1], 0.2 + 0.6 * r[2]},
                         .radius = stone ? 0.1 : 0.05 + 0.1 * r[3]},
            err);
        made = made && w->shapes[i];
        w->fills[i] =
            (und_fill_def){.shape = w->shapes[i],
                           .velocity = {und_value_constant(3 * r[4] - 1.5), und_value_constant(-2 * r[5]),
                                        und_value_constant(3 * r[6] - 1.5)}};
    }
    w->wall = (und_obstacle_def){.name = "stone", .shape = w->shapes[THROWN]};
    w->def.fills = w->fills;
    w->def.fill_count = THROWN;
    w->def.obstacles = &w->wall;
    w->def.obstacle_count = 1;
    return made;
}

static und_status draw_splashes(case_sink *sink, int n, uint64_t splashes, und_error *err)
{
    char text[96];
    double worst = 1;
    und_status status = UND_OK;
    for (uint64_t seed = 1; seed <= splashes && status == UND_OK; seed++) {
        int count;
        world w;
        und_levelset *levelset =
            splash_open(&w, sink, n, seed, err) ? und_levelset_create(&w.def, err) : NULL;
        status = levelset ? UND_OK : UND_FAILED;
        for (int frame = 0; frame <= 16 && status == UND_OK; frame++) {
            case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
            status = look(levelset, LARGE_IN_SPLASH, &count, &worst, err);
        }
        und_levelset_destroy(levelset);
        world_close(&w);
    }
    snprintf(text, sizeof text, "%d cells: thrown balls: drawn, the worst piece", n);
    if (status == UND_OK)
        case_report(sink, (case_result){text, worst, 1, 0.03, own});
    return status;
}

/* A ball that pours in the air: what the surface, and the mesh, show of it from its first frame on.  In a
 * plane it is as large that it takes two frames for liquid to come through, and as fast that a step is three
 * cells. */
static und_status draw_source(case_sink *sink, int n, bool flat, und_error *err)
{
    char text[2][96];
    double shown = 1, drawn = 1;
    int count;
    und_shape *ball = und_shape_create(&(und_shape){.kind = UND_SPHERE,
                                                    .center = {flat ? 0.4 : 0.5, 0.7, flat ? 0.5 / n : 0.5},
                                                    .radius = flat ? 5.6 / n : 0.1},
                                       err);
    und_element_def source = {.role = UND_ELEMENT_SOURCE, .shape = ball, .end = INFINITY};
    und_levelset_def def = case_levelset_tank(sink, n, n, flat ? 1 : n, 1.0 / n);
    source.field.value[0].number = flat ? 1.6 : 0;
    source.field.value[1].number = flat ? -1.8 : -1;
    def.elements = &source;
    def.element_count = 1;
    und_levelset *levelset = ball ? und_levelset_create(&def, err) : NULL;
    und_status status = levelset ? UND_OK : UND_FAILED;
    for (int frame = 1; frame <= 4 && status == UND_OK; frame++) {
        case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
        status = look(levelset, LARGE, &count, &drawn, err);
        const double now = und_levelset_shown(levelset) / und_levelset_ledger(levelset).measured;
        shown = fabs(now - 1) > fabs(shown - 1) ? now : shown;
    }
    const char *in = flat ? "in a plane" : "a source";
    snprintf(text[0], sizeof text[0], "%s, %d cells: the surface shows, the worst frame", in, n);
    snprintf(text[1], sizeof text[1], "%s, %d cells: drawn, the worst frame", in, n);
    if (status == UND_OK) {
        case_report(sink, (case_result){text[0], shown, 1, 0.03, own});
        case_report(sink, (case_result){text[1], drawn, 1, 0.03, own});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(ball);
    return status;
}

/* A layer of 1.2 cells that falls onto a plate as thick as that: nothing is drawn of it within the plate. */
static und_status draw_plate(case_sink *sink, int n, und_error *err)
{
    char text[96];
    double worst = 1;
    int count;
    const double dx = 1.0 / n;
    und_shape *plate = box_of(0.2, 0.42 - 0.6 * dx, 0.2, 0.8, 0.42 + 0.6 * dx, 0.8, err);
    und_shape *layer = box_of(0.3, 0.45, 0.3, 0.7, 0.45 + 1.2 * dx, 0.7, err);
    const und_fill_def fill = {.shape = layer};
    const und_obstacle_def solid = {.name = "plate", .shape = plate};
    und_levelset_def def = case_levelset_tank(sink, n, n, n, dx);
    def.fills = &fill;
    def.fill_count = 1;
    def.obstacles = &solid;
    def.obstacle_count = 1;
    und_levelset *levelset = plate && layer ? und_levelset_create(&def, err) : NULL;
    und_status status = levelset ? UND_OK : UND_FAILED;
    for (int frame = 1; frame <= 4 && status == UND_OK; frame++) {
        case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
        status = look(levelset, LARGE_IN_SPLASH, &count, &worst, err);
    }
    snprintf(text, sizeof text, "a layer on a plate, %d cells: drawn, the worst piece", n);
    if (status == UND_OK)
        case_report(sink, (case_result){text, worst, 1, 0.03, own});
    und_levelset_destroy(levelset);
    und_shape_destroy(plate);
    und_shape_destroy(layer);
    return status;
}

/* Where a plate's middle is, and by which angles it leans. */
static bool put_plate(world *w, und_vec3 middle, const double turn[3], und_error *err)
{
    const und_key key = {.position = middle, .rotation = und_vec(turn[0], turn[1], turn[2])};
    w->leans = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    w->wall = (und_obstacle_def){.name = "plate", .shape = w->shapes[2], .motion = w->leans};
    w->def.obstacles = &w->wall;
    w->def.obstacle_count = 1;
    return w->leans != NULL;
}

/* A ball and a layer fall onto a plate, which lies or stands, 2 to 4 cells thick, or leans, 0.4 to 2, and off
 * its edges. */
static bool plate_open(world *w, const case_sink *sink, int n, uint64_t seed, bool leans, und_error *err)
{
    const double dx = 1.0 / n;
    double r[PLATE_NUMBERS], half[3], turn[3] = {0};
    for (int k = 0; k < PLATE_NUMBERS; k++)
        r[k] = und_random(seed, (uint64_t)k, 0);
    const int thin = leans || r[0] < 0.6 ? 1 : r[0] < 0.8 ? 0 : 2;
    for (int a = 0; a < 3; a++) {
        half[a] = a == thin ? (leans ? 0.2 + 0.8 * r[1] : 1 + r[1]) * dx : 0.08 + 0.17 * r[2 + a];
        turn[a] = leans ? 80 * r[19 + a] - 40 : 0;
    }
    const double x = 0.35 + 0.3 * r[5], y = 0.25 + 0.2 * r[6], z = 0.35 + 0.3 * r[7];
    const double top = y + half[1] + (leans ? 0.12 : 0);
    const double radius = 0.06 + 0.09 * r[8], above = top + radius + 0.05 + 0.1 * r[9];
    *w = (world){.def = case_levelset_tank(sink, n, n, n, dx)};
    w->shapes[0] = und_shape_create(
        &(und_shape){.kind = UND_SPHERE, .center = {x, above, z + 0.1 * r[10]}, .radius = radius}, err);
    w->shapes[1] = box_of(x - 0.2 * r[11], top + 0.02, z - 0.2 * r[12], x + 0.05 + 0.2 * r[13],
                          top + 0.02 + (0.5 + 4 * r[14]) * dx, z + 0.05 + 0.2 * r[15], err);
    w->shapes[2] = box_of(-half[0], -half[1], -half[2], half[0], half[1], half[2], err);
    w->fills[0] = (und_fill_def){
        .shape = w->shapes[0], .velocity = {und_value_constant(r[16] - 0.5), und_value_constant(-2 * r[17])}};
    w->fills[1].shape = w->shapes[1];
    w->def.fills = w->fills;
    w->def.fill_count = leans || r[18] < 0.5 ? 1 : 2;
    return w->shapes[0] && w->shapes[1] && w->shapes[2] && put_plate(w, und_vec(x, y, z), turn, err);
}

static und_status draw_plates(case_sink *sink, int n, bool lean, und_error *err)
{
    char text[96];
    double worst = 1;
    und_status status = UND_OK;
    for (uint64_t seed = 1; seed <= PLATES && status == UND_OK; seed++) {
        int count;
        world w;
        und_levelset *levelset =
            plate_open(&w, sink, n, seed, lean, err) ? und_levelset_create(&w.def, err) : NULL;
        status = levelset ? UND_OK : UND_FAILED;
        for (int frame = 0; frame <= 12 && status == UND_OK; frame++) {
            case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
            status = look(levelset, LARGE_IN_SPLASH, &count, &worst, err);
        }
        und_levelset_destroy(levelset);
        world_close(&w);
    }
    snprintf(text, sizeof text, "%d %splates, %d cells: drawn, the worst piece", PLATES,
             lean ? "thin leaning " : "", n);
    if (status == UND_OK)
        case_report(sink, (case_result){text, worst, 1, 0.03, own});
    return status;
}

und_status case_levelset_hold_drawn(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 32; n <= 64 && status == UND_OK; n *= 2)
        for (int falls = 0; falls < 2 && status == UND_OK; falls++)
            status = draw_world(sink, n, falls, err);
    for (int n = 32; n <= 48 && status == UND_OK; n += 16)
        status = draw_splashes(sink, n, n == 32 ? MORE : SPLASHES, err);
    for (int n = 32; n <= 64 && status == UND_OK; n *= 2)
        status = draw_source(sink, n, false, err);
    if (status == UND_OK)
        status = draw_source(sink, 64, true, err);
    for (int n = 24; n <= 48 && status == UND_OK; n *= 2)
        status = draw_plate(sink, n, err);
    for (int lean = 0; lean < 2 && status == UND_OK; lean++)
        status = draw_plates(sink, 32, lean, err);
    return status;
}
