/* A frame of liquid in space, ready to be drawn or picked. */
#include "view/volume_world.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "geom/mesh_band.h"
#include "geom/value.h"
#include "stage/rigid.h"
#include "stage/scenery.h"
#include "surface/frame_mesh.h"
#include "view/volume_mesh.h"

#include <undine/walls.h>

#include <stdlib.h>
#include <string.h>

static void set_matter(und_space_world *w)
{
    const und_picture_def *def = &w->stage->def;
    const und_look *look = &def->looks.liquid;
    und_space_matter *m = &w->matter;
    *m = (und_space_matter){.index = (float)def->refraction, .gloss = (float)def->gloss};
    memcpy(m->absorption, def->absorption, sizeof m->absorption);
    memcpy(m->scatter, def->water_color, sizeof m->scatter);
    if (look->given && look->matter.kind == UND_MATTER_DIELECTRIC) {
        m->index = look->matter.index;
        memcpy(m->absorption, look->matter.absorption, sizeof m->absorption);
        memcpy(m->scatter, look->matter.scatter, sizeof m->scatter);
    } else if (look->given) {
        m->opaque = true;
        m->metal = look->matter.kind == UND_MATTER_METAL;
        m->gloss = look->matter.kind == UND_MATTER_DIFFUSE ? 0 : 1 - look->matter.roughness;
        memcpy(m->color, look->matter.color, sizeof m->color);
    }
}

und_status und_space_world_open(und_space_world *w, const und_picture_def *look, und_error *err)
{
    und_picture_def def = *look;
    *w = (und_space_world){0};
    def.width = def.height = 16; /* it draws no pictures: it makes light and objects */
    def.samples = 1;
    def.blur = 0;
    def.vertical = 1;
    def.plot_panels = 0;
    def.paint.kind = UND_PAINT_NONE; /* which the painter lays on by itself */
    def.stop = NULL;
    if (!(w->stage = und_scenery_create(&def, false, err)))
        return err->status;
    w->paint = look->paint;
    set_matter(w);
    return UND_OK;
}

void und_space_world_close(und_space_world *w)
{
    und_scenery_destroy(w->stage);
    und_trace_level_close(&w->level);
    und_triangles_free(&w->skin);
    und_triangles_free(&w->solid);
    und_triangles_free(&w->glass);
    *w = (und_space_world){0};
}

static void put(float to[3], f3 v)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void set_light(und_space_world *w)
{
    const und_sky *sky = &w->stage->sky;
    und_space_light *l = &w->light;
    float sun[3];
    put(sun, sky->sun);
    l->baked += !l->sky || memcmp(sun, l->sun, sizeof sun) != 0;
    l->sky = sky->texel;
    l->sky_size = sky->size;
    l->pattern = w->stage->pattern.texel;
    l->pattern_size = TILE;
    put(l->sun, sky->sun);
    put(l->sun_color, sky->sun_color);
    for (int k = 0; k < UND_SKY_AMBIENT; k++)
        put(l->ambient[k], sky->ambient[k]);
}

/* Which cells are solid: their labels change for other reasons too. */
static uint64_t hash_solid_cells(const und_frame *frame)
{
    const und_item *item = und_frame_find(frame, "label");
    uint64_t hash = 0;
    if (!item || item->type != UND_U8 || !item->data)
        return 0;
    const uint8_t *label = item->data;
    for (size_t i = 0, count = und_item_count(item); i < count; i++)
        if (label[i] == UND_CELL_SOLID) /* Fowler, Noll & Vo */
            hash = (hash ^ i) * 0x100000001b3;
    return hash;
}

/* Of all that solids, bodies, floor and light are made of; 0: it cannot be told. */
static uint64_t hash_objects(const und_space_world *w, const und_frame *frame)
{
    static const char *const begins[] = {"solid/mesh", "bodies/", "domain"};
    double numbers[10] = {0};
    if (frame->grid.n[2] == 1) /* turned about an axis that the liquid itself tells */
        return 0;
    und_vector_at(&w->stage->def.sun, frame->time, numbers);
    for (int a = 0; a < 3; a++) {
        numbers[3 + a] = frame->grid.n[a] * und_grid_size(&frame->grid, a);
        numbers[6 + a] = frame->grid.origin[a];
    }
    if (und_frame_domain(frame, numbers + 3, numbers + 6))
        numbers[9] = 1;
    uint64_t hash = und_hash(numbers, sizeof numbers, 1, 1) ^ hash_solid_cells(frame);
    for (int i = 0; i < frame->count; i++)
        for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
            const und_item *item = &frame->items[i];
            if (strncmp(item->name, begins[b], strlen(begins[b])) == 0 && item->data)
                hash = und_hash(item->data, und_item_bytes(item), hash ^ (uint64_t)i << 32, 1);
        }
    return hash ? hash : 1;
}

/* Which look a triangle's owner was given: bodies come first in the stage's list, solids after them. */
typedef struct owners {
    const und_looks *looks;
    const int32_t *body, *solid; /* first corners of each; NULL: there are none, or they are one */
    size_t bodies, solids, before;
} owners;

static und_look look_at(const owners *o, size_t corner, size_t *place)
{
    bool body = corner < o->before;
    const int32_t *first = body ? o->body : o->solid;
    size_t count = body ? o->bodies : o->solids, at = body ? corner : corner - o->before;
    while (*place < count && (size_t)first[*place + 1] <= at)
        (*place)++;
    int number = first ? (int)*place : 0;
    return body ? und_look_of(o->looks->bodies, o->looks->body_count, number)
                : und_look_of(o->looks->solids, o->looks->solid_count, number);
}

static void dress(const und_look *look, const float *color, float out[4])
{
    memcpy(out, color ? color : (const float[3]){0.7f, 0.7f, 0.7f}, 3 * sizeof *out);
    out[3] = 0;
    if (!look->given)
        return;
    if (look->paint)
        memcpy(out, look->matter.color, 3 * sizeof *out);
    if (look->matter.kind == UND_MATTER_GLOSSY || look->matter.kind == UND_MATTER_METAL)
        out[3] = look->matter.kind == UND_MATTER_METAL ? 1 : 0.5f * (1 - look->matter.roughness);
}

/* Solids and bodies from the stage's list; what light goes through apart from the rest. */
static und_status take_objects(und_space_world *w, const und_frame *frame, und_error *err)
{
    const und_drawn_mesh *soup = &w->stage->soup;
    und_rigid bodies;
    if (!und_rigid_find(frame, &bodies))
        bodies = (und_rigid){0};
    owners o = {.looks = &w->stage->def.looks,
                .body = bodies.first,
                .bodies = bodies.count,
                .before = bodies.corners};
    size_t corners = 3 * soup->count, place[2] = {0};
    o.solid = corners >= o.before ? und_stage_solids_find(frame, corners - o.before, &o.solids) : NULL;
    w->solid.corners = w->solid.triangles = w->glass.corners = w->glass.triangles = 0;
    w->solids_made++;
    for (size_t c = 0; c < corners; c += 3) {
        und_look look = look_at(&o, c, &place[c >= o.before]);
        bool clear = look.given && look.matter.kind == UND_MATTER_DIELECTRIC;
        und_triangles *to = clear ? &w->glass : &w->solid;
        if (und_triangles_reserve(to, to->corners + 3, to->triangles + 1, err) != UND_OK)
            return err->status;
        for (size_t k = c; k < c + 3; k++) {
            float color[4];
            dress(&look, soup->color ? soup->color + 3 * k : NULL, color);
            und_triangles_corner(to, soup->frame_position + 3 * k, soup->normal + 3 * k, color);
        }
        und_triangles_close(to);
    }
    return UND_OK;
}

static und_status take_stage(und_space_world *w, const und_frame *frame, und_error *err)
{
    uint64_t objects = hash_objects(w, frame);
    if (objects != 0 && objects == w->objects)
        return UND_OK;
    w->objects = 0;
    und_status status = und_scenery_prepare(w->stage, frame, err);
    if (status != UND_OK)
        return status;
    if (w->stage->drawing != UND_DRAWS_BOX)
        return und_error_set(err, UND_INVALID, "frame %d holds no liquid in space", frame->number);
    const und_box *b = &w->stage->box;
    memcpy(w->low, (double[]){(double)b->low.x, (double)b->low.y, (double)b->low.z}, sizeof w->low);
    memcpy(w->high, (double[]){(double)b->high.x, (double)b->high.y, (double)b->high.z}, sizeof w->high);
    w->floor = w->stage->mesh.low;
    set_light(w);
    if ((status = take_objects(w, frame, err)) == UND_OK)
        w->objects = objects;
    return status;
}

static void take_boxes(und_space_world *w, const und_frame *frame)
{
    const und_grid *g = &frame->grid;
    double low[3], high[3];
    w->window = und_frame_domain(frame, low, high);
    w->cell = INFINITY;
    for (int a = 0; a < 3; a++) {
        w->grid_low[a] = g->origin[a];
        w->grid_high[a] = g->origin[a] + g->n[a] * und_grid_size(g, a);
        w->cell = fmin(w->cell, und_grid_size(g, a));
    }
}

static void bound_skin(und_space_world *w)
{
    memcpy(w->skin_low, w->grid_low, sizeof w->skin_low);
    memcpy(w->skin_high, w->grid_high, sizeof w->skin_high);
    for (size_t c = 0; c < w->skin.corners; c++)
        for (int a = 0; a < 3; a++) {
            double x = (double)w->skin.corner[c].place[a];
            w->skin_low[a] = c == 0 ? x : fmin(w->skin_low[a], x);
            w->skin_high[a] = c == 0 ? x : fmax(w->skin_high[a], x);
        }
}

/* The distances as a frame has them, out of what lines of sight go through: the frame may be gone. */
static und_status inner_frame(const und_traced_level *l, und_frame *frame, und_error *err)
{
    const und_grid *g = &l->grid;
    const float *from[2] = {l->phi, l->room}, less[2] = {0, (float)(UND_INTO_SOLIDS * g->dx)};
    static const char *const names[2] = {"distance", "solid/distance"};
    *frame = und_frame_empty(0, 0, *g);
    for (int k = 0; k < 2; k++) {
        und_item_def def = {.name = names[k],
                            .unit = "m",
                            .kind = UND_FIELD,
                            .type = UND_F32,
                            .rank = 3,
                            .dim = {(size_t)g->n[2], (size_t)g->n[1], (size_t)g->n[0]}};
        und_item *item = from[k] ? und_frame_add(frame, &def, err) : NULL;
        if (from[k] && !item)
            return err->status;
        float *out = item ? item->data : NULL;
        for (int z = 0; z < g->n[2] && out; z++)
            for (int y = 0; y < g->n[1]; y++) {
                const int beside = (l->n[0] - g->n[0]) / 2;
                const float *row = from[k] + (z + beside) * l->step[2] + (y + beside) * l->step[1] + beside;
                for (int x = 0; x < g->n[0]; x++)
                    *out++ = row[x] - less[k];
            }
    }
    return UND_OK;
}

/* `frame` is NULL: of the distance that is kept. */
static und_status make_mesh(und_space_world *w, const und_frame *frame, bool coarse, und_error *err)
{
    und_space_mesh_def def = {.into_solids = UND_INTO_SOLIDS,
                              .coarse = coarse,
                              .paint = w->matter.painted ? &w->paint : NULL,
                              .threads = w->stage->threads};
    double start = und_clock();
    und_frame own = {0};
    und_status status = frame ? UND_OK : inner_frame(&w->level, &own, err);
    if (status == UND_OK)
        status = und_space_mesh(frame ? frame : &own, &def, &w->skin, err);
    und_frame_clear(&own);
    w->coarse = coarse;
    w->meshed = true;
    w->seconds = und_clock() - start;
    return status;
}

/* ---- A distance to triangles, for lines of sight that go on in the liquid ---- */

static const double REACH = 4; /* cells, in which it is exact */

static und_corners *lattice_corners(const und_triangles *t, const und_grid *g, und_error *err)
{
    und_corners *corners = und_alloc(t->triangles, sizeof *corners, "the liquid's surface", err);
    for (size_t k = 0; corners && k < 3 * t->triangles; k++)
        for (int a = 0; a < 3; a++)
            corners[k / 3].at[k % 3][a] =
                ((double)t->corner[t->index[k]].place[a] - g->origin[a]) / g->dx - 0.5;
    return corners;
}

static und_status fill_distance(const und_triangles *t, und_frame *frame, int threads, und_error *err)
{
    const und_grid *g = &frame->grid;
    size_t count = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
    const und_item_def def = {.name = "distance",
                              .unit = "m",
                              .kind = UND_FIELD,
                              .type = UND_F32,
                              .rank = 3,
                              .dim = {(size_t)g->n[2], (size_t)g->n[1], (size_t)g->n[0]}};
    und_item *item = und_frame_add(frame, &def, err);
    und_corners *corners = item ? lattice_corners(t, g, err) : NULL;
    int32_t *nearest = corners ? und_alloc(count, sizeof *nearest, "the liquid's distance", err) : NULL;
    und_status status = nearest ? und_corners_distance(corners, (int)t->triangles, UND_SIGN_OPEN, g->n, REACH,
                                                       threads, item->data, nearest, err)
                                : err->status;
    float *phi = status == UND_OK ? item->data : NULL;
    for (size_t i = 0; i < count && phi; i++)
        phi[i] *= (float)g->dx;
    free(corners);
    free(nearest);
    return status;
}

static bool has_cubes(const und_grid *g)
{
    return g->n[2] > 1 && und_grid_size(g, 1) == g->dx && und_grid_size(g, 2) == g->dx;
}

static bool is_large(const und_space_world *w)
{
    const int *n = w->level.phi ? w->level.n : w->grid.n;
    return n[0] > w->most || n[1] > w->most || n[2] > w->most;
}

/* Of a liquid that comes as triangles; none where the cells are no cubes. */
static und_status make_distance(und_space_world *w, und_error *err)
{
    const und_level_def def = {.into_solids = UND_INTO_SOLIDS, .threads = w->stage->threads};
    w->coarse = false;
    if (w->large || w->skin.triangles == 0 || w->skin.triangles > INT32_MAX / 16 || !has_cubes(&w->grid))
        return UND_OK;
    und_frame own = und_frame_empty(0, 0, w->grid);
    double start = und_clock();
    und_status status = fill_distance(&w->skin, &own, w->stage->threads, err);
    if (status == UND_OK)
        status = und_trace_level_open(&w->level, &own, &def, err);
    und_frame_clear(&own);
    w->made = status == UND_OK;
    w->large = is_large(w);
    w->seconds += und_clock() - start;
    return status;
}

und_status und_space_world_refine(und_space_world *w, und_error *err)
{
    if (w->matter.painted)
        return UND_OK;
    return w->level.phi ? make_mesh(w, NULL, false, err) : make_distance(w, err);
}

und_status und_space_world_take(und_space_world *w, const und_frame *frame, const und_space_take *how,
                                und_error *err)
{
    w->skin.corners = w->skin.triangles = 0;
    und_trace_level_close(&w->level);
    w->made = w->meshed = false;
    w->grid = frame->grid;
    und_status status = take_stage(w, frame, err);
    if (status != UND_OK)
        return status;
    take_boxes(w, frame);
    w->time = frame->time;
    const und_level_def level = {.into_solids = UND_INTO_SOLIDS, .threads = w->stage->threads};
    bool painted = w->stage->def.paint.kind != UND_PAINT_NONE && und_texture_in_frame(frame);
    w->matter.painted = painted;
    status = und_trace_level_open(&w->level, frame, &level, err);
    w->level.face[0] = w->level.face[1] = w->level.face[2] = NULL; /* the frame's, which may be gone */
    w->most = how->most;
    w->large = is_large(w);
    bool mesh = how->mesh || painted || !w->level.phi || w->large;
    if (status == UND_OK && mesh && und_frame_mesh_has_liquid(frame))
        status = make_mesh(w, frame, how->coarse && w->level.phi && !painted, err);
    if (status == UND_OK && !w->level.phi && !painted && !how->coarse)
        status = make_distance(w, err);
    else if (!w->level.phi && !painted)
        w->coarse = true;
    bound_skin(w);
    return status;
}

double und_space_world_cast(const und_space_world *w, const double origin[3], const double direction[3])
{
    und_ray ray = {.from = f3_make((float)origin[0], (float)origin[1], (float)origin[2]),
                   .dir = f3_make((float)direction[0], (float)direction[1], (float)direction[2]),
                   .far = INFINITY,
                   .time = 1};
    und_level_hit hit;
    double far = INFINITY;
    if (w->level.phi && !w->made && und_trace_level_cast(&w->level, &ray, 0, 1e9f, &hit))
        far = (double)hit.t;
    else if (!w->level.phi || w->made)
        far = und_triangles_cast(&w->skin, origin, direction);
    far = fmin(far, und_triangles_cast(&w->solid, origin, direction));
    far = fmin(far, und_triangles_cast(&w->glass, origin, direction));
    double down = ((double)w->floor - origin[1]) / direction[1];
    return down > 0 ? fmin(far, down) : far;
}

bool und_space_world_within(const und_space_world *w, const float place[3])
{
    return w->level.phi && und_trace_level_within(&w->level, f3_of(place), 1);
}
