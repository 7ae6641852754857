#include "check.h"

#include "geom/shape.h"
#include "geom/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const edge_names[UND_EDGES] = {"low x", "high x", "low z", "high z"};

void check_warn(survey *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("warning    ");
    vprintf(format, list);
    printf("\n");
    va_end(list);
    s->warnings++;
}

/* Substeps a frame that are a surprise. */
static const double MANY = 200;

void check_max_step(survey *s, double max_step)
{
    double steps = ceil(1 / (s->scene->fps * max_step) - 1e-9);
    if (steps > MANY)
        check_warn(s, "max_step of %g s makes %.4g steps of a frame", max_step, steps);
}

bool check_outside(const survey *s, double x0, double x1, double z0, double z1)
{
    return x1 < s->low[0] || x0 > s->high[0] || z1 < s->low[1] || z0 > s->high[1];
}

static bool disc_outside(const survey *s, const double center[3], double radius)
{
    return check_outside(s, center[0] - radius, center[0] + radius, center[2] - radius, center[2] + radius);
}

static void check_sources(survey *s)
{
    for (int i = 0; i < s->height_field->source_count; i++) {
        const und_source_def *source = &s->height_field->sources[i];
        bool out = disc_outside(s, source->center, source->radius);
        if (source->shape) {
            und_bounds b = und_shape_bounds(source->shape);
            out = check_outside(s, b.low.x, b.high.x, b.low.z, b.high.z);
        }
        if (out)
            check_warn(s, "source %d lies outside the domain", i + 1);
        if (source->start > s->seconds)
            check_warn(s, "source %d begins at %g s, after the last frame at %g s", i + 1, source->start,
                       s->seconds);
    }
    for (int i = 0; i < s->height_field->drop_count; i++) {
        const und_drop_def *drop = &s->height_field->drops[i];
        if (disc_outside(s, drop->center, drop->radius))
            check_warn(s, "drop %d falls outside the domain", i + 1);
        if (drop->radius < 0.5 * s->height_field->dx)
            check_warn(s, "drop %d is smaller than a cell: radius %g m, cells of %g m; it falls as one cell",
                       i + 1, drop->radius, s->height_field->dx);
        if (drop->time > s->seconds)
            check_warn(s, "drop %d falls at %g s, after the last frame at %g s", i + 1, drop->time,
                       s->seconds);
    }
    for (int i = 0; i < s->height_field->stir_count; i++) {
        double at[3];
        und_vector_at(&s->height_field->stirs[i].center, s->height_field->stirs[i].start, at);
        if (disc_outside(s, at, s->height_field->stirs[i].radius))
            check_warn(s, "stir %d begins outside the domain", i + 1);
        if (s->height_field->stirs[i].radius < s->height_field->dx)
            check_warn(s, "stir %d is smaller than a cell: radius %g m, cells of %g m", i + 1,
                       s->height_field->stirs[i].radius, s->height_field->dx);
    }
}

/* The cell of an edge, its water's depth (negative: dry) and height. */
static double edge_depth(const survey *s, int edge, int along, double *height)
{
    int nx = s->height_field->nx, nz = s->height_field->nz;
    int x = edge == UND_LOW_X ? 0 : edge == UND_HIGH_X ? nx - 1 : along;
    int z = edge == UND_LOW_Z ? 0 : edge == UND_HIGH_Z ? nz - 1 : along;
    size_t at = (size_t)z * (size_t)nx + (size_t)x;
    *height = s->surface[at];
    return (double)s->surface[at] - (double)s->ground[at];
}

static void check_edge(survey *s, int edge)
{
    const und_edge_def *e = &s->height_field->edge[edge];
    bool along_z = edge == UND_LOW_X || edge == UND_HIGH_X;
    int cells = along_z ? s->height_field->nz : s->height_field->nx, wet = 0, higher = 0;
    if (!along_z && s->height_field->nz == 1)
        return; /* a curve has no such edge */
    for (int i = 0; i < cells; i++) {
        double height, place = s->low[along_z] + (i + 0.5) * s->height_field->dx;
        if (edge_depth(s, edge, i, &height) <= 0)
            continue;
        double x = along_z ? (edge == UND_LOW_X ? s->low[0] : s->high[0]) : place;
        double z = along_z ? place : (edge == UND_LOW_Z ? s->low[1] : s->high[1]);
        wet++;
        higher += e->has_level && height > und_value_at(&e->level, x, 0, z, 0) + 1e-6;
    }
    if (e->kind == UND_EDGE_FALL && wet > 0)
        check_warn(s, "water falls off the %s edge from the start: %d of its %d cells are wet",
                   edge_names[edge], wet, cells);
    if (e->kind == UND_EDGE_OPEN && higher > 0)
        check_warn(
            s,
            "water will leave through the open %s edge: it stands higher than the level outside in %d cells",
            edge_names[edge], higher);
    if (e->kind == UND_EDGE_OPEN && wet == 0)
        check_warn(s, "the open %s edge is dry along its whole length", edge_names[edge]);
    if (e->kind == UND_EDGE_OPEN && e->amplitude > 0 && !(e->period > 0))
        check_warn(s, "the wave that comes in at the %s edge has no period", edge_names[edge]);
}

static bool anything_brings_water(const survey *s)
{
    bool brings = s->height_field->rain.on || s->height_field->drop_count > 0;
    for (int i = 0; i < s->height_field->source_count; i++)
        brings |= s->height_field->sources[i].rate.fn || s->height_field->sources[i].rate.number > 0;
    for (int i = 0; i < UND_EDGES; i++)
        brings |=
            s->height_field->edge[i].kind == UND_EDGE_FLOW || s->height_field->edge[i].kind == UND_EDGE_OPEN;
    return brings;
}

static void check_water(survey *s, bool all)
{
    size_t cells = (size_t)s->height_field->nx * (size_t)s->height_field->nz, wet = 0;
    double volume = 0;
    for (size_t i = 0; i < cells; i++) {
        double depth = (double)s->surface[i] - (double)s->ground[i];
        wet += depth > 0;
        s->deepest = fmax(s->deepest, depth);
        volume += fmax(depth, 0);
    }
    volume *= s->height_field->nz > 1 ? s->height_field->dx * s->height_field->dx : s->height_field->dx;
    if (all)
        printf("water      %.4g %s in %zu of %zu cells, %.3g m at the deepest\n", volume,
               s->height_field->nz > 1 ? "m3" : "m2", wet, cells, s->deepest);
    if (wet == 0 && !anything_brings_water(s))
        check_warn(s, "there is no water at the start and nothing brings any");
    else if (wet == 0 && all)
        check_warn(s, "there is no water at the start");
}

double check_wave_speed(const survey *s, double deepest)
{
    double speed = sqrt(s->height_field->gravity * deepest), cells = speed * s->dt / s->height_field->dx;
    printf("waves      %.3g m/s at the most, %.3g cells a step of %.3g s\n", speed, cells, s->dt);
    return cells;
}

static survey survey_of(const und_scene_view *scene, const und_frame *frame, int last)
{
    const und_grid *g = &scene->grid;
    const und_item *surface = und_frame_find(frame, "surface"), *ground = und_frame_find(frame, "ground");
    survey s = {
        .scene = scene,
        .height_field = scene->height_field,
        .low = {g->origin[0], g->origin[2]},
        .high = {g->origin[0] + g->n[0] * und_grid_size(g, 0), g->origin[2] + g->n[2] * und_grid_size(g, 2)},
        .seconds = (last - scene->start) / scene->fps,
        .dt = 1 / (scene->fps * scene->substeps)};
    if (s.height_field && surface && ground && surface->type == UND_F32 && ground->type == UND_F32) {
        s.surface = surface->data;
        s.ground = ground->data;
    }
    return s;
}

/* With `all`, what check_in_vain leaves out too. */
static int look_through(survey *s, const und_frame *frame, bool all)
{
    bool levelset = s->scene->model == UND_MODEL_LEVELSET, waves = s->scene->model == UND_MODEL_WAVES;
    if (s->height_field) {
        if (s->surface)
            check_water(s, all);
        for (int edge = 0; edge < UND_EDGES && s->surface && all; edge++)
            check_edge(s, edge);
        check_sources(s);
        if (waves)
            check_waves_in_vain(s);
        if (all)
            (waves ? check_waves : check_columns)(s);
        return s->warnings;
    }
    (levelset ? check_levelset_in_vain : check_cells_in_vain)(s, frame);
    if (all)
        (levelset ? check_levelset : check_cells)(s, frame);
    return s->warnings;
}

int check_liquid(const und_scene_view *scene, const und_frame *frame, int last)
{
    survey s = survey_of(scene, frame, last);
    return look_through(&s, frame, true);
}

int check_in_vain(const und_scene_view *scene, const und_frame *frame, int last)
{
    survey s = survey_of(scene, frame, last);
    return look_through(&s, frame, false);
}
