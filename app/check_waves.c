#include "check.h"

#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const edge_names[UND_EDGES] = {"low x", "high x", "low z", "high z"};

/* Cells a wave may cross in a step before the implicit scheme visibly flattens it. */
static const double FAST = 8;

typedef struct survey {
    const und_scene_view *scene;
    const und_waves_def *def;
    const float *surface, *ground;
    double low[2], high[2]; /* of the domain, x and z, m */
    double seconds;         /* the last frame's time */
    int warnings;
} survey;

__attribute__((format(printf, 2, 3))) static void warn(survey *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("warning    ");
    vprintf(format, list);
    printf("\n");
    va_end(list);
    s->warnings++;
}

static bool outside(const survey *s, double x0, double x1, double z0, double z1)
{
    return x1 < s->low[0] || x0 > s->high[0] || z1 < s->low[1] || z0 > s->high[1];
}

static bool disc_outside(const survey *s, const double center[3], double radius)
{
    return outside(s, center[0] - radius, center[0] + radius, center[2] - radius, center[2] + radius);
}

static void check_sources(survey *s)
{
    for (int i = 0; i < s->def->pool.source_count; i++) {
        const und_source_def *source = &s->def->pool.sources[i];
        bool out = disc_outside(s, source->center, source->radius);
        if (source->shape) {
            und_bounds b = und_shape_bounds(source->shape);
            out = outside(s, b.low.x, b.high.x, b.low.z, b.high.z);
        }
        if (out)
            warn(s, "source %d lies outside the domain", i + 1);
        if (source->start > s->seconds)
            warn(s, "source %d begins at %g s, after the last frame at %g s", i + 1, source->start,
                 s->seconds);
    }
    for (int i = 0; i < s->def->pool.drop_count; i++) {
        const und_drop_def *drop = &s->def->pool.drops[i];
        if (disc_outside(s, drop->center, drop->radius))
            warn(s, "drop %d falls outside the domain", i + 1);
        if (drop->time > s->seconds)
            warn(s, "drop %d falls at %g s, after the last frame at %g s", i + 1, drop->time, s->seconds);
    }
    for (int i = 0; i < s->def->pool.stir_count; i++) {
        double at[3];
        und_vector_at(&s->def->pool.stirs[i].center, s->def->pool.stirs[i].start, at);
        if (disc_outside(s, at, s->def->pool.stirs[i].radius))
            warn(s, "stir %d begins outside the domain", i + 1);
        if (s->def->pool.stirs[i].radius < s->def->pool.dx)
            warn(s, "stir %d is smaller than a cell: radius %g m, cells of %g m", i + 1,
                 s->def->pool.stirs[i].radius, s->def->pool.dx);
    }
}

/* An object is looked for at a hundred times along its way. */
static void check_objects(survey *s)
{
    enum { LOOKS = 100 };
    for (int i = 0; i < s->def->object_count; i++) {
        const und_object_def *object = &s->def->objects[i];
        und_bounds b = und_shape_bounds(object->shape);
        und_vec3 middle = und_mul(und_add(b.low, b.high), 0.5);
        double reach = 0.5 * und_length(und_sub(b.high, b.low));
        bool seen = false;
        for (int k = 0; k <= LOOKS && !seen; k++) {
            und_pose pose = und_motion_at(object->motion, s->seconds * k / LOOKS);
            und_vec3 p = und_pose_point(&pose, middle);
            seen = !outside(s, p.x - reach, p.x + reach, p.z - reach, p.z + reach);
        }
        if (!seen)
            warn(s, "object %d never comes into the domain", i + 1);
    }
}

/* The cell of an edge, its water's depth (negative: dry) and height. */
static double edge_depth(const survey *s, int edge, int along, double *height)
{
    int nx = s->def->pool.nx, nz = s->def->pool.nz;
    int x = edge == UND_LOW_X ? 0 : edge == UND_HIGH_X ? nx - 1 : along;
    int z = edge == UND_LOW_Z ? 0 : edge == UND_HIGH_Z ? nz - 1 : along;
    size_t at = (size_t)z * (size_t)nx + (size_t)x;
    *height = s->surface[at];
    return (double)s->surface[at] - (double)s->ground[at];
}

static void check_edge(survey *s, int edge)
{
    const und_edge_def *e = &s->def->pool.edge[edge];
    bool along_z = edge == UND_LOW_X || edge == UND_HIGH_X;
    int cells = along_z ? s->def->pool.nz : s->def->pool.nx, wet = 0, higher = 0;
    if (!along_z && s->def->pool.nz == 1)
        return; /* a curve has no such edge */
    for (int i = 0; i < cells; i++) {
        double height, place = s->low[along_z] + (i + 0.5) * s->def->pool.dx;
        if (edge_depth(s, edge, i, &height) <= 0)
            continue;
        double x = along_z ? (edge == UND_LOW_X ? s->low[0] : s->high[0]) : place;
        double z = along_z ? place : (edge == UND_LOW_Z ? s->low[1] : s->high[1]);
        wet++;
        higher += e->has_level && height > und_value_at(&e->level, x, 0, z, 0) + 1e-6;
    }
    if (e->kind == UND_EDGE_FALL && wet > 0)
        warn(s, "water falls off the %s edge from the start: %d of its %d cells are wet", edge_names[edge],
             wet, cells);
    if (e->kind == UND_EDGE_OPEN && higher > 0)
        warn(s,
             "water will leave through the open %s edge: it stands higher than the level outside in %d cells",
             edge_names[edge], higher);
    if (e->kind == UND_EDGE_OPEN && wet == 0)
        warn(s, "the open %s edge is dry along its whole length", edge_names[edge]);
    if (e->kind == UND_EDGE_OPEN && e->amplitude > 0 && !(e->period > 0))
        warn(s, "the wave that comes in at the %s edge has no period", edge_names[edge]);
}

static bool anything_brings_water(const survey *s)
{
    bool brings = s->def->pool.rain.on || s->def->pool.drop_count > 0;
    for (int i = 0; i < s->def->pool.source_count; i++)
        brings |= s->def->pool.sources[i].rate.fn || s->def->pool.sources[i].rate.number > 0;
    for (int i = 0; i < UND_EDGES; i++)
        brings |= s->def->pool.edge[i].kind == UND_EDGE_FLOW || s->def->pool.edge[i].kind == UND_EDGE_OPEN;
    return brings;
}

/* Depth, volume and the speed of long waves, sqrt(g d), in cells a step. */
static void check_water(survey *s)
{
    size_t cells = (size_t)s->def->pool.nx * (size_t)s->def->pool.nz, wet = 0;
    double deepest = 0, volume = 0;
    for (size_t i = 0; i < cells; i++) {
        double depth = (double)s->surface[i] - (double)s->ground[i];
        wet += depth > 0;
        deepest = fmax(deepest, depth);
        volume += fmax(depth, 0);
    }
    double dt = 1 / (s->scene->fps * s->scene->substeps), speed = sqrt(s->def->pool.gravity * deepest);
    volume *= s->def->pool.nz > 1 ? s->def->pool.dx * s->def->pool.dx : s->def->pool.dx;
    printf("water      %.4g %s in %zu of %zu cells, %.3g m at the deepest\n", volume,
           s->def->pool.nz > 1 ? "m3" : "m2", wet, cells, deepest);
    printf("waves      %.3g m/s at the most, %.3g cells a step of %.3g s\n", speed,
           speed * dt / s->def->pool.dx, dt);
    if (speed * dt / s->def->pool.dx > FAST)
        warn(s,
             "waves cross %.0f cells a step, which flattens the short ones; substeps = %.0f would make it "
             "%.0f",
             speed * dt / s->def->pool.dx, ceil(s->scene->substeps * speed * dt / s->def->pool.dx / FAST),
             FAST);
    if (wet == 0 && !anything_brings_water(s))
        warn(s, "there is no water at the start and nothing brings any");
    else if (wet == 0)
        warn(s, "there is no water at the start");
}

int check_waves(const und_scene_view *scene, const und_frame *frame, int last)
{
    const und_waves_def *def = &scene->waves;
    const und_item *surface = und_frame_find(frame, "surface"), *ground = und_frame_find(frame, "ground");
    survey s = {.scene = scene,
                .def = def,
                .low = {def->pool.origin[0], def->pool.origin[1]},
                .high = {def->pool.origin[0] + def->pool.nx * def->pool.dx,
                         def->pool.origin[1] + def->pool.nz * def->pool.dx},
                .seconds = (last - scene->start) / scene->fps};
    if (surface && ground && surface->type == UND_F32 && ground->type == UND_F32) {
        s.surface = surface->data;
        s.ground = ground->data;
        check_water(&s);
        for (int edge = 0; edge < UND_EDGES; edge++)
            check_edge(&s, edge);
    }
    check_sources(&s);
    check_objects(&s);
    return s.warnings;
}
