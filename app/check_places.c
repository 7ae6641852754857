/* Whether what a scene has is where the liquid can meet it: shapes that may move, and control particles. */
#include "check.h"

#include "geom/motion.h"
#include "geom/shape.h"

#include <math.h>
#include <stdio.h>

enum { LOOKS = 32 };             /* times at which what moves is looked at */
enum { MOST_MIDDLES = 1 << 21 }; /* of cells that are looked at; one that is so large is not lost */
static const double BESIDE = 1;  /* cells beside the domain that still count */

typedef struct span {
    double low[3], high[3]; /* m */
} span;

static span nothing(void)
{
    return (span){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static void add_point(span *b, const double at[3], double reach)
{
    for (int a = 0; a < 3; a++) {
        b->low[a] = fmin(b->low[a], at[a] - reach);
        b->high[a] = fmax(b->high[a], at[a] + reach);
    }
}

static span domain_of(const survey *s)
{
    const und_grid *g = &s->scene->grid;
    span b;
    for (int a = 0; a < 3; a++) {
        b.low[a] = g->origin[a];
        b.high[a] = g->origin[a] + g->n[a] * und_grid_size(g, a);
    }
    return b;
}

static bool meets(const span *a, const span *b, double margin)
{
    bool all = true;
    for (int i = 0; i < 3; i++)
        all = all && a->low[i] <= b->high[i] + margin && a->high[i] >= b->low[i] - margin;
    return all;
}

static void print_span(char *text, size_t size, const span *b)
{
    snprintf(text, size, "x %.4g to %.4g, y %.4g to %.4g, z %.4g to %.4g m", b->low[0], b->high[0], b->low[1],
             b->high[1], b->low[2], b->high[2]);
}

/* The shape where its pose puts it; turned ones may be said to be larger. */
static span span_of(const und_shape *shape, const und_motion *motion, double time)
{
    und_bounds b = und_shape_bounds(shape);
    und_vec3 middle = und_mul(und_add(b.low, b.high), 0.5), half = und_mul(und_sub(b.high, b.low), 0.5);
    und_pose pose = und_motion_at(motion, time);
    und_quat q = pose.rotation;
    bool turned = q.x != 0 || q.y != 0 || q.z != 0;
    double round = und_length(half);
    half = turned ? und_vec(round, round, round) : half;
    middle = und_pose_point(&pose, middle);
    return (span){{middle.x - half.x, middle.y - half.y, middle.z - half.z},
                  {middle.x + half.x, middle.y + half.y, middle.z + half.z}};
}

/* Does the shape hold the middle of a cell of the domain, or of one beside it? */
static bool holds_a_middle(const survey *s, const placed *p, double time, long *looked)
{
    const und_grid *g = &s->scene->grid;
    und_pose pose = und_motion_at(p->motion, time);
    span b = span_of(p->shape, p->motion, time);
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        double d = und_grid_size(g, a), beside = g->n[a] > 1 ? BESIDE : 0;
        low[a] = (int)fmax(ceil((b.low[a] - g->origin[a]) / d - 0.5), -beside);
        high[a] = (int)fmin(floor((b.high[a] - g->origin[a]) / d - 0.5), g->n[a] - 1 + beside);
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                und_vec3 at = {g->origin[0] + (x + 0.5) * und_grid_size(g, 0),
                               g->origin[1] + (y + 0.5) * und_grid_size(g, 1),
                               g->origin[2] + (z + 0.5) * und_grid_size(g, 2)};
                if (++*looked > MOST_MIDDLES || und_shape_distance(p->shape, und_pose_local(&pose, at)) < 0)
                    return true;
            }
    return false;
}

static void print_name(char *text, size_t size, const placed *p)
{
    if (p->name)
        snprintf(text, size, "%s %d (\"%s\")", p->what, p->number, p->name);
    else
        snprintf(text, size, "%s %d", p->what, p->number);
}

static bool has_mesh(const und_shape *shape)
{
    bool any = shape->kind == UND_MESH;
    for (int i = 0; i < shape->child_count; i++)
        any |= has_mesh(shape->children[i]);
    return any;
}

/* Where something is while it acts. */
typedef struct way {
    bool moves, inside, holds; /* is it ever in the domain, and does it hold the middle of a cell then */
    span all;
} way;

static way way_of(const survey *s, const placed *p)
{
    const span domain = domain_of(s);
    double from = fmax(p->start, 0), to = fmax(fmin(p->end, s->seconds), from);
    double margin = BESIDE * und_grid_size(&s->scene->grid, 0);
    way w = {.moves = p->motion && und_motion_moves(p->motion), .all = nothing()};
    long looked = 0;
    for (int i = 0; i < (w.moves ? LOOKS : 1) && !w.holds; i++) {
        double time = from + (to - from) * i / (LOOKS - 1);
        span here = span_of(p->shape, p->motion, time);
        double sum = 0;
        for (int a = 0; a < 3; a++)
            sum += here.low[a] + here.high[a];
        bool endless = !isfinite(sum), is_in = endless || meets(&here, &domain, margin);
        add_point(&w.all, here.low, 0);
        add_point(&w.all, here.high, 0);
        w.inside |= is_in;
        w.holds = is_in && (endless || !p->thin || holds_a_middle(s, p, time, &looked));
    }
    return w;
}

bool check_is_in(const survey *s, const placed *p)
{
    return way_of(s, p).inside;
}

void check_placed(survey *s, const placed *p)
{
    const span domain = domain_of(s);
    const way w = way_of(s, p);
    char name[128], text[2][160];
    print_name(name, sizeof name, p);
    print_span(text[0], sizeof text[0], &w.all);
    print_span(text[1], sizeof text[1], &domain);
    if (!w.inside)
        check_warn(s, "%s %s the domain: it spans %s, the domain %s%s", name,
                   w.moves ? "never comes into" : "lies outside", text[0], text[1],
                   has_mesh(p->shape) ? "; a mesh in centimetres wants scale = 0.01, one with z up turn = "
                                        "{-90, 0, 0}"
                                      : "");
    else if (!w.holds)
        check_warn(s, "%s holds the middle of no cell, it is thinner than one: %s", name, p->thin);
}

void check_swallowed(survey *s, const placed *p)
{
    const span domain = domain_of(s), here = span_of(p->shape, p->motion, 0);
    bool around = true;
    for (int a = 0; a < 3; a++)
        around = around && here.low[a] <= domain.low[a] && here.high[a] >= domain.high[a];
    char name[128], text[2][160];
    print_name(name, sizeof name, p);
    print_span(text[0], sizeof text[0], &here);
    print_span(text[1], sizeof text[1], &domain);
    if (around)
        check_warn(s, "%s takes up the whole domain: it spans %s, the domain %s%s", name, text[0], text[1],
                   has_mesh(p->shape) ? "; a mesh in centimetres wants scale = 0.01" : "");
}

static void add_particles(span *all, const und_control_particle_def *def,
                          const und_control_particle_frame *frame)
{
    for (int i = 0; i < frame->count; i++) {
        double at[3] = {(double)frame->at[i][0], (double)frame->at[i][1], (double)frame->at[i][2]};
        double radius = frame->radius ? (double)frame->radius[i] : def->radius;
        add_point(all, at, fmax(radius, 0.5 * def->length));
    }
}

/* Of particles in many files the first, the middle and the last are looked at: where they are on either side
 * of the domain, they may pass it. */
static void check_control_particle(survey *s, const und_control_particle_def *def, int number)
{
    span domain = domain_of(s), all = nothing();
    bool files = def->loader.load;
    int looks = files && def->frame_count > 3 ? 3 : def->frame_count;
    for (int i = 0; i < looks; i++) {
        int k = looks > 1 ? i * (def->frame_count - 1) / (looks - 1) : 0;
        und_control_particle_frame frame = def->frames[k];
        void *memory = NULL;
        und_error err;
        if (files && def->loader.load(def->loader.context, k, &frame, &memory, &err) != UND_OK)
            return; /* the run will say what is wrong with the file */
        add_particles(&all, def, &frame);
        if (files)
            def->loader.release(def->loader.context, memory);
    }
    char name[128], text[2][160];
    print_name(name, sizeof name, &(placed){.what = "control", .number = number, .name = def->name});
    print_span(text[0], sizeof text[0], &all);
    print_span(text[1], sizeof text[1], &domain);
    if (s->scene->grid.n[2] == 1) { /* all is in the one plane */
        all.low[2] = fmin(all.low[2], domain.low[2]);
        all.high[2] = fmax(all.high[2], domain.high[2]);
    }
    if (all.low[0] <= all.high[0] && !meets(&all, &domain, 0))
        check_warn(s, "%s leads nothing, its particles lie outside the domain: they span %s, the domain %s%s",
                   name, text[0], text[1], files ? "; files with z up want turn = {-90, 0, 0}" : "");
}

void check_control_particles(survey *s, const und_control_particle_def *control_particles, int count)
{
    for (int i = 0; i < count; i++)
        check_control_particle(s, &control_particles[i], i + 1);
}
