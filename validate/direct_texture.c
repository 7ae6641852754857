/* Texture particles in flows whose motion is known. */
#include "validate/direct.h"

#include "base/status.h"
#include "grid/frame.h"
#include "surface/frame_mesh.h"
#include "surface/texture.h"

#include <math.h>
#include <stdlib.h>

/* A ball that moves by a linear map about a point: where a place was at first, and the velocity there. */
typedef struct motion {
    void (*back)(double time, const double now[3], double first[3]);
    void (*velocity)(double time, const double at[3], double u[3]);
} motion;

static const double BALL[3] = {0.5, 0.66, 0.5}, MIDDLE = 0.5, RADIUS = 0.18, TURN = 2 * M_PI, RATE = 1.5;

static void turn_back(double time, const double now[3], double first[3])
{
    double c = cos(-TURN * time), s = sin(-TURN * time), x = now[0] - MIDDLE, y = now[1] - MIDDLE;
    first[0] = MIDDLE + c * x - s * y;
    first[1] = MIDDLE + s * x + c * y;
    first[2] = now[2];
}

static void turn_velocity(double time, const double at[3], double u[3])
{
    (void)time;
    u[0] = -TURN * (at[1] - MIDDLE);
    u[1] = TURN * (at[0] - MIDDLE);
    u[2] = 0;
}

static void shear_back(double time, const double now[3], double first[3])
{
    first[0] = now[0] - RATE * time * (now[1] - BALL[1]);
    first[1] = now[1];
    first[2] = now[2];
}

static void shear_velocity(double time, const double at[3], double u[3])
{
    (void)time;
    u[0] = RATE * (at[1] - BALL[1]);
    u[1] = u[2] = 0;
}

/* To and fro along x and up and down, by a quarter of the box: speeds that change with time. */
static void sway_back(double time, const double now[3], double first[3])
{
    first[0] = now[0] - 0.2 * sin(TURN * time);
    first[1] = now[1] - 0.1 * (cos(TURN * time) - 1);
    first[2] = now[2];
}

static void sway_velocity(double time, const double at[3], double u[3])
{
    (void)at;
    u[0] = 0.2 * TURN * cos(TURN * time);
    u[1] = -0.1 * TURN * sin(TURN * time);
    u[2] = 0;
}

static double ball_value(const motion *m, double time, const double at[3])
{
    double first[3], sum = 0;
    m->back(time, at, first);
    for (int a = 0; a < 3; a++)
        sum += (first[a] - BALL[a]) * (first[a] - BALL[a]);
    return sqrt(sum) - RADIUS;
}

/* A distance near the surface: the value over its slope. */
static double ball_distance(const motion *m, double time, const double at[3])
{
    const double small = 1e-5;
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        double low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
        low[a] -= small;
        high[a] += small;
        double slope = (ball_value(m, time, high) - ball_value(m, time, low)) / (2 * small);
        sum += slope * slope;
    }
    return ball_value(m, time, at) / fmax(sqrt(sum), 1e-3);
}

/* Cells, or the faces across an axis. */
static und_status add_field(und_frame *f, const motion *m, const char *name, int axis, und_error *err)
{
    int n = f->grid.n[0], size[3] = {n + (axis == 0), n + (axis == 1), n + (axis == 2)};
    und_item_def def = {.name = name,
                        .unit = axis < 0 ? "m" : "m/s",
                        .kind = axis < 0 ? UND_FIELD : UND_FACES,
                        .type = UND_F32,
                        .rank = 3,
                        .dim = {(size_t)size[2], (size_t)size[1], (size_t)size[0]}};
    und_item *item = und_frame_add(f, &def, err);
    if (!item)
        return UND_FAILED;
    float *to = item->data;
    for (int z = 0; z < size[2]; z++)
        for (int y = 0; y < size[1]; y++)
            for (int x = 0; x < size[0]; x++) {
                double at[3] = {(x + (axis == 0 ? 0 : 0.5)) / n, (y + (axis == 1 ? 0 : 0.5)) / n,
                                (z + (axis == 2 ? 0 : 0.5)) / n};
                double u[3];
                m->velocity(f->time, at, u);
                *to++ = (float)(axis < 0 ? ball_distance(m, f->time, at) : u[axis]);
            }
    return UND_OK;
}

static und_status make_frame(const motion *m, int cells, int number, double time, und_frame *f,
                             und_error *err)
{
    static const char *const names[3] = {"velocity_x", "velocity_y", "velocity_z"};
    *f = und_frame_empty(number, time, (und_grid){.n = {cells, cells, cells}, .dx = 1.0 / cells});
    und_status status = add_field(f, m, "distance", -1, err);
    for (int a = 0; a < 3 && status == UND_OK; a++)
        status = add_field(f, m, names[a], a, err);
    if (status != UND_OK)
        und_frame_clear(f);
    return status;
}

/* How far off lookups are, cells: the largest and the largest mean of all frames. */
typedef struct errors {
    double largest, mean;
} errors;

static und_status measure(const und_texture *t, const motion *m, const und_frame *frame, int threads,
                          errors *e, und_error *err)
{
    und_frame own = und_frame_empty(frame->number, frame->time, frame->grid);
    und_shell shell = {0};
    und_frame_mesh_def def = {.threads = threads};
    und_status status = und_texture_frame(t, &own, err);
    und_texture_map *map = status == UND_OK ? und_texture_map_create(&own, threads, err) : NULL;
    status = map ? und_frame_mesh(frame, &def, &shell, err) : UND_FAILED;
    int count = shell.vertex_count;
    float *rest = status == UND_OK ? und_alloc(3 * (size_t)count + 3, sizeof *rest, "a texture", err) : NULL;
    if (rest)
        und_texture_map_look(map, shell.position, count, rest);
    double mean = 0;
    for (int i = 0; rest && i < count; i++) {
        double at[3], first[3], sum = 0;
        for (int a = 0; a < 3; a++)
            at[a] = (double)shell.position[3 * i + a];
        m->back(frame->time, at, first);
        for (int a = 0; a < 3; a++)
            sum += pow((double)rest[3 * i + a] - first[a], 2);
        double off = sqrt(sum) / frame->grid.dx;
        e->largest = fmax(e->largest, off);
        mean += off / count;
    }
    e->mean = fmax(e->mean, mean);
    status = rest ? UND_OK : UND_FAILED;
    free(rest);
    und_shell_free(&shell);
    und_texture_map_destroy(map);
    und_frame_clear(&own);
    return status;
}

/* From time 0 to 1 in so many frames. */
static und_status run(const case_sink *sink, const motion *m, int cells, int frames, errors *e,
                      und_error *err)
{
    und_texture_def def = und_texture_def_default();
    und_frame frame;
    *e = (errors){0};
    def.threads = case_threads(sink);
    und_status status = make_frame(m, cells, 1, 0, &frame, err);
    und_texture *t = status == UND_OK ? und_texture_create(&def, &frame, err) : NULL;
    status = t ? UND_OK : UND_FAILED;
    for (int k = 1; k <= frames && status == UND_OK; k++) {
        und_frame_clear(&frame);
        status = make_frame(m, cells, 1 + k, (double)k / frames, &frame, err);
        if (status == UND_OK)
            status = und_texture_advance(t, &frame, err);
        if (status == UND_OK)
            status = measure(t, m, &frame, def.threads, e, err);
    }
    und_frame_clear(&frame);
    und_texture_destroy(t);
    return status;
}

/* What is reported of a motion: at the first numbers of cells and frames, and how much smaller it is at the
 * second. */
typedef struct trial {
    motion motion;
    int cells[2], frames[2];
    double largest, fewer; /* reference of the first, cells; of the ratio */
    const char *finer;     /* what the ratio is of */
} trial;

static und_status report(case_sink *sink, const trial *t, und_error *err)
{
    errors e[2];
    for (int k = 0; k < 2; k++)
        if (run(sink, &t->motion, t->cells[k], t->frames[k], &e[k], err) != UND_OK)
            return UND_FAILED;
    const char *exact = "the motion is known";
    case_report(sink, (case_result){"farthest that a place of the texture is off, cells", e[0].largest, 0,
                                    t->largest, exact});
    case_report(sink, (case_result){t->finer, e[0].mean / e[1].mean, t->fewer, 0.2 * t->fewer,
                                    "order of convergence"});
    return UND_OK;
}

/* Lookups and the surface that particles are put back to are of second order: in cells, of first. */
und_status case_texture_turn(case_sink *sink, und_error *err)
{
    const trial t = {{turn_back, turn_velocity},
                     {24, 48},
                     {24, 24},
                     0.03,
                     2,
                     "mean of that, over that with cells half as wide"};
    return report(sink, &t, err);
}

und_status case_texture_shear(case_sink *sink, und_error *err)
{
    const trial t = {{shear_back, shear_velocity},
                     {24, 48},
                     {12, 12},
                     0.15,
                     2,
                     "mean of that, over that with cells half as wide"};
    return report(sink, &t, err);
}

/* Linear in time between the frames: of second order. */
und_status case_texture_sway(case_sink *sink, und_error *err)
{
    const trial t = {{sway_back, sway_velocity},
                     {24, 24},
                     {12, 24},
                     0.3,
                     4,
                     "mean of that, over that with twice the frames"};
    return report(sink, &t, err);
}
