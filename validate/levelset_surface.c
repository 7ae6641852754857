/* The particle level set, and the same with cells that hold their volume, carried by flows that are known:
 * what it keeps of shapes that the flow turns, or draws out and brings back (Enright, Fedkiw, Ferziger &
 * Mitchell 2002). */
#include "validate/levelset.h"

#include "base/pages.h"
#include "surface/level_set_particles.h"
#include "surface/volume.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 5 };

/* A shape in a flow, both in units in which the domain is 1 wide. */
typedef struct journey {
    int dimensions, n;
    double (*shape)(const double p[3]); /* signed distance, or something with the same sign and 0 */
    void (*flow)(const double p[3], double u[3]);
    double fastest; /* of the flow */
    double time;    /* s */
    int per_cell;   /* particles; 0: a level set alone */
    bool holds;     /* cells hold their volumes, and phi follows them */
    unsigned seed;  /* of the particles; 0: 1 */
    int threads;
} journey;

/* A flow that goes as cos(pi t / T), to and back, is the flow of t = 0 for a time of T / pi and then its
 * opposite for as long: so each step may be as long as the same number of cells allows. */
static const double CFL = 1; /* cells that the fastest crosses in a step */

typedef struct travel {
    journey j;
    und_mac mac;
    und_distance distance;
    und_level_set_particles *particles;
    und_volume volume;
    float *u[3], *open;
    long steps;
} travel;

/* What there is of the shape. */
typedef struct amount {
    double volume; /* as a share of the domain */
    double wrong;  /* of what is not where it was: the integral of |H(phi) - H(shape)| */
} amount;

static void end_travel(travel *v)
{
    und_level_set_particles_destroy(v->particles);
    und_volume_close(&v->volume);
    und_distance_close(&v->distance);
    und_pages_free(v->open);
    for (int a = 0; a < 3; a++)
        und_pages_free(v->u[a]);
}

/* The place of a cell's middle, or of its high face across an axis. */
static void place_of(const travel *v, const int cell[3], int face, double p[3])
{
    for (int a = 0; a < 3; a++)
        p[a] = (cell[a] + (a == face ? 1 : 0.5)) / v->j.n;
}

/* The mean over a cell's high face, by Gauss's points: so that what flows into a cell flows out of it. */
static double flow_over(const travel *v, const int cell[3], int axis)
{
    static const double off[3] = {-0.38729833462074169, 0, 0.38729833462074169}, weight[3] = {5, 8, 5};
    const int one = (axis + 1) % 3, two = (axis + 2) % 3;
    double sum = 0, middle[3];
    place_of(v, cell, axis, middle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double p[3] = {middle[0], middle[1], middle[2]}, u[3] = {0};
            p[one] += off[i] / v->j.n;
            p[two] += off[j] / v->j.n;
            v->j.flow(p, u);
            sum += weight[i] * weight[j] * u[axis];
        }
    return sum / (18 * 18);
}

static und_volume_walls walls_of(const travel *v)
{
    return (und_volume_walls){.open = {v->open, v->open, v->open}};
}

static void put_in(travel *v)
{
    const und_mac *m = &v->mac;
    for (int z = -1; z <= m->n[2]; z++)
        for (int y = -1; y <= m->n[1]; y++)
            for (int x = -1; x <= m->n[0]; x++) {
                size_t i = und_mac_at(m, x, y, z);
                double p[3];
                place_of(v, (const int[3]){x, y, z}, -1, p);
                v->open[i] = 1;
                v->distance.phi[i] = (float)(v->j.shape(p) * v->j.n);
                for (int a = 0; a < v->j.dimensions; a++)
                    v->u[a][i] = (float)flow_over(v, (const int[3]){x, y, z}, a);
            }
    const und_volume_walls walls = walls_of(v);
    und_distance_refresh(&v->distance);
    und_distance_redistance(&v->distance, 2);
    if (v->particles)
        und_level_set_particles_seed(v->particles, &v->distance, NULL);
    if (v->j.holds)
        und_volume_fill(&v->volume, &v->distance, &walls);
}

static und_status begin_travel(travel *v, journey j, und_error *err)
{
    int n[3] = {j.n, j.n, j.dimensions == 3 ? j.n : 1};
    double dx = 1.0 / j.n;
    und_level_set_particles_def def = und_level_set_particles_def_default();
    def.per_cell = j.per_cell;
    *v = (travel){.j = j, .mac = und_mac_make(n, (double[]){dx, dx, dx}, (double[]){0, 0, 0})};
    und_status status = und_distance_open(&v->distance, &v->mac, WIDTH, j.threads, err);
    if (status == UND_OK && j.holds)
        status = und_volume_open(&v->volume, &v->mac, j.threads, NULL, err);
    if (status == UND_OK && !(v->open = und_pages_alloc(v->mac.count * sizeof(float), "faces", err)))
        status = err->status;
    for (int a = 0; a < 3 && status == UND_OK; a++)
        if (!(v->u[a] = und_pages_alloc(v->mac.count * sizeof(float), "a flow", err)))
            status = err->status;
    if (status == UND_OK && j.per_cell > 0 &&
        !(v->particles =
              und_level_set_particles_create(&v->mac, &def, j.seed ? j.seed : 1, j.threads, NULL, err)))
        status = err->status;
    if (status == UND_OK)
        put_in(v);
    else
        end_travel(v);
    return status;
}

static void step(travel *v, double cells_per_speed)
{
    const und_volume_walls walls = walls_of(v);
    const und_volume_flow flow = {.u = v->u,
                                  .per_speed = cells_per_speed,
                                  .fastest = v->j.fastest,
                                  .layers = WIDTH,
                                  .step = v->steps++};
    und_level_set_particles_lost lost = {0};
    if (v->j.holds) {
        lost = und_volume_lost(&v->volume, v->u, cells_per_speed);
        und_volume_borrow(&v->volume);
        und_volume_move(&v->volume, &v->distance, &walls, &flow);
    }
    und_distance_advect(&v->distance, v->u, cells_per_speed, UND_TRACE_RK2);
    if (v->particles) {
        und_level_set_particles_move(v->particles, v->u, cells_per_speed, NULL);
        und_level_set_particles_correct(v->particles, &v->distance, v->j.holds ? &lost : NULL);
    }
    und_distance_redistance(&v->distance, 2);
    if (v->particles) {
        und_level_set_particles_correct(v->particles, &v->distance, v->j.holds ? &lost : NULL);
        und_level_set_particles_tidy(v->particles, &v->distance, NULL);
    }
    if (v->j.holds) {
        und_volume_fit(&v->volume, &v->distance, &walls, v->particles != NULL);
        und_volume_give_back(&v->volume);
    }
}

static void go(travel *v)
{
    int steps = (int)ceil(v->j.time * v->j.fastest * v->j.n / CFL - 1e-9);
    for (int k = 0; k < steps; k++)
        step(v, v->j.time * v->j.n / steps);
}
static void turn_back(travel *v)
{
    for (int a = 0; a < v->j.dimensions; a++)
        for (size_t i = 0; i < v->mac.count; i++)
            v->u[a][i] = -v->u[a][i];
}

/* phi in the box between the middles of cells that p lies in, linear between them. */
static double phi_at(const travel *v, const double p[3])
{
    double sum = 0;
    int low[3];
    double part[3];
    for (int a = 0; a < 3; a++) {
        double at = a < v->j.dimensions ? p[a] * v->j.n - 0.5 : 0;
        low[a] = (int)floor(at);
        part[a] = at - low[a];
    }
    for (int k = 0; k < 1 << v->j.dimensions; k++) {
        double weight = 1;
        for (int a = 0; a < v->j.dimensions; a++)
            weight *= k >> a & 1 ? part[a] : 1 - part[a];
        sum += weight *
               (double)v->distance
                   .phi[und_mac_at(&v->mac, low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2 & 1))];
    }
    return sum;
}

/* Of a cell, by points in it; cells that the surface is far from are on one side of it. */
static amount measure_cell(const travel *v, const int cell[3], bool compare)
{
    int points = v->j.dimensions == 3 ? 4 : 8, all = 64;
    double phi = (double)v->distance.phi[und_mac_at(&v->mac, cell[0], cell[1], cell[2])], p[3];
    int inside = 0, wrong = 0;
    for (int k = 0; k < all; k++) {
        const int at[3] = {k % points, k / points % points, k / (points * points)};
        for (int a = 0; a < 3; a++)
            p[a] = (cell[a] + (a < v->j.dimensions ? (at[a] + 0.5) / points : 0.5)) / v->j.n;
        bool liquid = fabs(phi) > 2 ? phi < 0 : phi_at(v, p) < 0;
        inside += liquid;
        wrong += compare && liquid != (v->j.shape(p) < 0);
    }
    return (amount){(double)inside / all, (double)wrong / all};
}

static amount measure(const travel *v, bool compare)
{
    amount sum = {0};
    for (int row = 0; row < und_mac_rows(&v->mac); row++)
        for (int x = 0; x < v->j.n; x++) {
            amount cell = measure_cell(v, (const int[3]){x, row % v->j.n, row / v->j.n}, compare);
            sum.volume += cell.volume;
            sum.wrong += cell.wrong;
        }
    double unit = pow(1.0 / v->j.n, v->j.dimensions);
    return (amount){sum.volume * unit, sum.wrong * unit};
}

static double ball(const double p[3], double x, double y, double z, double radius)
{
    return sqrt((p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y) + (p[2] - z) * (p[2] - z)) - radius;
}

/* Zalesak's disk: of radius 15 around (50, 75) in a domain of 100, with a slot 5 wide and 25 long from below.
 */
static double slotted(const double p[3], double disk)
{
    double side = fabs(p[0] - 0.5) - 0.025, top = p[1] - 0.85;
    double slot = fmin(fmax(side, top), 0) + hypot(fmax(side, 0), fmax(top, 0));
    return fmax(disk, -slot);
}
static double slotted_disk(const double p[3])
{
    return slotted(p, ball(p, 0.5, 0.75, p[2], 0.15));
}
static double slotted_ball(const double p[3])
{
    return slotted(p, ball(p, 0.5, 0.75, 0.5, 0.15));
}
static void turning(const double p[3], double u[3]) /* once in 1 s */
{
    u[0] = 2 * M_PI * (0.5 - p[1]);
    u[1] = 2 * M_PI * (p[0] - 0.5);
    u[2] = 0;
}

static double round_disk(const double p[3])
{
    return ball(p, 0.5, 0.75, p[2], 0.15);
}
static void vortex(const double p[3], double u[3])
{
    u[0] = -pow(sin(M_PI * p[0]), 2) * sin(2 * M_PI * p[1]);
    u[1] = pow(sin(M_PI * p[1]), 2) * sin(2 * M_PI * p[0]);
    u[2] = 0;
}

static double round_ball(const double p[3])
{
    return ball(p, 0.35, 0.35, 0.35, 0.15);
}
static void deformation(const double p[3], double u[3])
{
    double one[3], two[3];
    for (int a = 0; a < 3; a++) {
        one[a] = pow(sin(M_PI * p[a]), 2);
        two[a] = sin(2 * M_PI * p[a]);
    }
    u[0] = 2 * one[0] * two[1] * two[2];
    u[1] = -two[0] * one[1] * two[2];
    u[2] = -two[0] * two[1] * one[2];
}

#define ENRIGHT "Enright, Fedkiw, Ferziger & Mitchell 2002"
#define ENRIGHT_TABLES ENRIGHT ": tables of the particle level set"

/* There, or there and back. */
typedef struct outcome {
    double half, loss; /* shares of what there was at the start */
    double wrong;
} outcome;

static und_status make_journey(journey j, bool back, outcome *out, und_error *err)
{
    travel v;
    if (begin_travel(&v, j, err) != UND_OK)
        return err->status;
    double start = measure(&v, false).volume;
    *out = (outcome){0};
    go(&v);
    if (back) {
        out->half = 1 - measure(&v, false).volume / start;
        turn_back(&v);
        go(&v);
    }
    amount end = measure(&v, true);
    end_travel(&v);
    out->loss = 1 - end.volume / start;
    out->wrong = end.wrong;
    return UND_OK;
}

/* A quantity that may be up to `limit`. */
static void report_limit(case_sink *sink, const char *what, int cells, int dimensions, double value,
                         double limit, const char *source)
{
    char text[96];
    snprintf(text, sizeof text, "%s, %d cells across, %dD", what, cells, dimensions);
    case_report(sink, (case_result){text, value, 0, limit, source});
}

typedef struct limits {
    int n, dimensions, seeds; /* of whose outcomes the mean is looked at; 0: one */
    double half, loss, wrong; /* 0: not looked at */
} limits;

static und_status turn_slotted(case_sink *sink, const limits *l, bool holds, double *wrong, und_error *err)
{
    const double outline = 1.4380;
    const journey j = {.dimensions = l->dimensions,
                       .n = l->n,
                       .shape = l->dimensions == 2 ? slotted_disk : slotted_ball,
                       .flow = turning,
                       .fastest = M_PI,
                       .time = 1,
                       .per_cell = und_level_set_particles_def_default().per_cell,
                       .holds = holds,
                       .threads = case_threads(sink)};
    outcome out;
    if (make_journey(j, false, &out, err) != UND_OK)
        return err->status;
    report_limit(sink, "share lost in a turn", l->n, l->dimensions, out.loss, l->loss, ENRIGHT_TABLES);
    if (l->wrong > 0) /* over the outline's length, in 1/100 */
        report_limit(sink, "misplaced area over length", l->n, 2, 100 * out.wrong / outline, l->wrong,
                     ENRIGHT_TABLES);
    *wrong = out.wrong;
    return UND_OK;
}

static const limits zalesak_limits[] = {
    {100, 2, 0, 0, 0.015, 0.12}, {200, 2, 0, 0, 0.006, 0.04}, {100, 3, 0, 0, 0.015, 0}};

static und_status turn_disks(case_sink *sink, bool holds, und_error *err)
{
    double wrong[2];
    for (int i = 0; i < 2; i++)
        if (turn_slotted(sink, &zalesak_limits[i], holds, &wrong[i], err) != UND_OK)
            return err->status;
    case_report(sink, (case_result){"order of convergence from 100 to 200 cells", log2(wrong[0] / wrong[1]),
                                    2, 0.5, "second order: the distance's own"});
    return UND_OK;
}

und_status case_levelset_zalesak(case_sink *sink, und_error *err)
{
    double wrong;
    und_status status = turn_disks(sink, false, err);
    return status == UND_OK ? turn_slotted(sink, &zalesak_limits[2], false, &wrong, err) : status;
}

static const limits vortex_limits[] = {
    {64, 2, 0, 0.35, 0.025, 4e-3}, {128, 2, 0, 0.08, 0.01, 1.5e-3}, {256, 2, 0, 0.02, 0.005, 6e-4}};

/* The mean of some seeds. */
static und_status draw_out_and_back(journey j, int seeds, outcome *mean, und_error *err)
{
    *mean = (outcome){0};
    for (int k = 1; k <= seeds; k++) {
        outcome one;
        j.seed = (unsigned)k;
        if (make_journey(j, true, &one, err) != UND_OK)
            return err->status;
        mean->half += one.half / seeds;
        mean->loss += one.loss / seeds;
        mean->wrong += one.wrong / seeds;
    }
    return UND_OK;
}

static und_status draw_out(case_sink *sink, const limits *l, bool holds, und_error *err)
{
    const bool flat = l->dimensions == 2;
    const double outline = 2 * M_PI * 0.15, T = flat ? 8 : 3;
    const journey j = {.dimensions = l->dimensions,
                       .n = l->n,
                       .shape = flat ? round_disk : round_ball,
                       .flow = flat ? vortex : deformation,
                       .fastest = flat ? 1 : 2,
                       .time = T / M_PI,
                       .per_cell = und_level_set_particles_def_default().per_cell,
                       .holds = holds,
                       .threads = case_threads(sink)};
    outcome out;
    if (draw_out_and_back(j, l->seeds > 0 ? l->seeds : 1, &out, err) != UND_OK)
        return err->status;
    report_limit(sink, "share lost at T/2", l->n, l->dimensions, out.half, l->half, ENRIGHT_TABLES);
    report_limit(sink, "share lost at T", l->n, l->dimensions, out.loss, l->loss, ENRIGHT_TABLES);
    if (l->wrong > 0)
        report_limit(sink, "misplaced area over length", l->n, 2, out.wrong / outline, l->wrong,
                     ENRIGHT_TABLES);
    return UND_OK;
}

und_status case_levelset_vortex(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int i = 0; i < 3 && status == UND_OK; i++)
        status = draw_out(sink, &vortex_limits[i], false, err);
    return status;
}

static const limits deformation_limits[] = {{64, 3, 0, 0.3, 0.05, 0}, {100, 3, 0, 0.2, 0.03, 0}};

und_status case_levelset_deformation(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int i = 0; i < 2 && status == UND_OK; i++)
        status = draw_out(sink, &deformation_limits[i], false, err);
    return status;
}

/* The same with cells that hold their volume; the coarse ones.  Particles alone misplace 1.04 and 0.27 of a
 * thousandth (means of these seeds). */
static const limits held_vortex_limits[] = {{64, 2, 8, 0.35, 0.025, 1.2e-3},
                                            {128, 2, 8, 0.08, 0.01, 3.2e-4}};

und_status case_levelset_hold_shape(case_sink *sink, und_error *err)
{
    und_status status = turn_disks(sink, true, err);
    for (int i = 0; i < 2 && status == UND_OK; i++)
        status = draw_out(sink, &held_vortex_limits[i], true, err);
    return status == UND_OK ? draw_out(sink, &deformation_limits[0], true, err) : status;
}

/* A circle's distance d is made d + 20 d^3. */
static double bent_circle(const double p[3])
{
    double d = ball(p, 0.5, 0.5, p[2], 0.25);
    return d + 20 * d * d * d;
}
static double straight_circle(const double p[3])
{
    return ball(p, 0.5, 0.5, p[2], 0.25);
}
static void no_flow(const double p[3], double u[3])
{
    (void)p;
    u[0] = u[1] = u[2] = 0;
}

und_status case_levelset_redistance(case_sink *sink, und_error *err)
{
    static const char source[] = "the distance to a circle";
    const int n = 128;
    journey j = {.dimensions = 2, .n = n, .shape = bent_circle, .flow = no_flow, .threads = 1};
    travel v;
    if (begin_travel(&v, j, err) != UND_OK)
        return err->status;
    double shift = 0, slope = 0, area = measure(&v, false).volume;
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            const float *phi = v.distance.phi + und_mac_at(&v.mac, x, y, 0);
            ptrdiff_t up = v.mac.step[1];
            double p[3], dx = (double)(phi[1] - phi[-1]) / 2, dy = (double)(phi[up] - phi[-up]) / 2;
            place_of(&v, (const int[3]){x, y, 0}, -1, p);
            if (fabsf(phi[0]) < 2)
                slope = fmax(slope, fabs(hypot(dx, dy) - 1));
            if (fabsf(phi[0]) < 0.5F)
                shift = fmax(shift, fabs((double)phi[0] - straight_circle(p) * n));
        }
    end_travel(&v);
    double exact = M_PI * 0.25 * 0.25;
    case_report(sink, (case_result){"area over the circle's", area / exact, 1, 5e-4, source});
    case_report(sink, (case_result){"the surface moved by, cells", shift, 0, 0.05, source});
    case_report(sink, (case_result){"slope near the surface, error", slope, 0, 0.01, source});
    return UND_OK;
}
