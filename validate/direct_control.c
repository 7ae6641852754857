/* Control particles (Rasmussen et al. 2004, section 4) and enslaved pockets (5.6). */
#include "validate/direct.h"

#include "base/random.h"
#include "base/status.h"
#include "control/control_particles.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "grid/frame.h"
#include "liquid/levelset.h"
#include "validate/levelset.h"

#include <math.h>
#include <string.h>

static double falloff(und_falloff kind, double s)
{
    return s > 1                     ? 0
           : kind == UND_FALLOFF_BOX ? 1
           : kind == UND_FALLOFF_HAT ? 1 - s
                                     : 1 - 3 * s * s + 2 * s * s * s;
}

/* ---- Soft control: what stands on the faces after 1/24 s ---- */

enum { SIDE = 16, MANY = 20 };

typedef struct blend {
    und_mac mac;
    und_mac_flow flow;
    float at[MANY][3], velocity[MANY][3];
    int count;
    und_control_particle_def def;
} blend;

/* alpha and the velocity asked for in a cell, as equation 4 and the text below it have them. */
static double asked_of(const blend *b, const int cell[3], double asked[3])
{
    const double *n = b->def.normal;
    double sum[3] = {0}, weight = 0, most = 0;
    for (int i = 0; i < b->count; i++) {
        const double d[3] = {cell[0] + 0.5 - (double)b->at[i][0], cell[1] + 0.5 - (double)b->at[i][1],
                             cell[2] + 0.5 - (double)b->at[i][2]};
        double along = d[0] * n[0] + d[1] * n[1] + d[2] * n[2],
               square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        bool cylinder = b->def.shape == UND_CONTROL_CYLINDER;
        double s = sqrt(cylinder ? square - along * along : square) / b->def.radius;
        double alpha = cylinder && fabs(along) > 0.5 * b->def.length ? 0 : falloff(b->def.falloff, s);
        for (int a = 0; a < 3; a++)
            sum[a] += alpha * (double)b->velocity[i][a];
        weight += alpha;
        most = fmax(most, alpha);
    }
    for (int a = 0; a < 3; a++)
        asked[a] = weight > 0 ? sum[a] / weight : 0;
    return most;
}

/* The largest difference of a face from (1 - a) V_liquid + a V_particle, where V_liquid is 1. */
static double blend_error(const blend *b)
{
    double most = 0;
    for (int z = 1; z < SIDE - 2; z++)
        for (int y = 1; y < SIDE - 2; y++)
            for (int x = 1; x < SIDE - 2; x++)
                for (int a = 0; a < 3; a++) {
                    double low[3], high[3];
                    double first = asked_of(b, (const int[3]){x, y, z}, low);
                    double second =
                        asked_of(b, (const int[3]){x + (a == 0), y + (a == 1), z + (a == 2)}, high);
                    double alpha = 0.5 * (first + second);
                    double asked = alpha > 0 ? (first * low[a] + second * high[a]) / (first + second) : 0;
                    double found = (double)b->flow.u[a][und_mac_at(&b->mac, x, y, z)];
                    most = fmax(most, fabs(found - ((1 - alpha) + alpha * asked)));
                }
    return most;
}

static und_status blend_one(blend *b, double *error, und_error *err)
{
    const und_control_particle_frame frame = {
        .count = b->count, .at = (const float(*)[3])b->at, .velocity = (const float(*)[3])b->velocity};
    b->def.frames = &frame;
    b->def.frame_count = 1;
    for (size_t i = 0; i < b->mac.count; i++)
        for (int a = 0; a < 3; a++)
            b->flow.u[a][i] = 1;
    und_control_particles *g = und_control_particles_create(&b->mac, &b->def, 1, 1, err);
    if (!g)
        return err->status;
    und_control_particles_render(g, 0, 1.0 / 24);
    und_control_particles_lead(g, &b->flow, 1.0 / 24);
    *error = fmax(*error, blend_error(b));
    und_control_particles_destroy(g);
    return UND_OK;
}

/* Particles are put where no face lies on a shape's border: there a box falloff jumps. */
static void scatter(blend *b, int count)
{
    b->count = count;
    for (uint64_t i = 0; i < (uint64_t)count; i++)
        for (int a = 0; a < 3; a++) {
            b->at[i][a] = (float)(5 + 6 * und_random(7, i, (uint64_t)a));
            b->velocity[i][a] = (float)(4 * und_random(8, i, (uint64_t)a) - 2);
        }
}

static und_status blend_all(blend *b, case_sink *sink, und_error *err)
{
    static const char *const what[4] = {"largest error, one sphere, m/s", "largest error, one cylinder, m/s",
                                        "largest error, 20 spheres, m/s", "largest error, 20 cylinders, m/s"};
    for (int k = 0; k < 4; k++) {
        double error = 0;
        for (int kind = UND_FALLOFF_BOX; kind <= UND_FALLOFF_CUBIC; kind++) {
            b->def = und_control_particle_def_default();
            b->def.shape = k % 2 ? UND_CONTROL_CYLINDER : UND_CONTROL_SPHERE;
            b->def.falloff = (und_falloff)kind;
            b->def.radius = 2.9;
            b->def.length = 4.1;
            memcpy(b->def.normal, (const double[3]){0.48, 0.6, -0.64}, sizeof b->def.normal);
            scatter(b, k < 2 ? 1 : MANY);
            if (blend_one(b, &error, err) != UND_OK)
                return err->status;
        }
        case_report(sink, (case_result){what[k], error, 0, 1e-6, "equation 4, falloffs of I01"});
    }
    return UND_OK;
}

und_status case_direct_soft(case_sink *sink, und_error *err)
{
    blend b = {.mac = und_mac_make((const int[3]){SIDE, SIDE, SIDE}, (const double[3]){1, 1, 1},
                                   (const double[3]){0})};
    und_distance d = {0};
    und_solids solids = {0};
    und_status status = und_mac_flow_open(&b.flow, &b.mac, 1, NULL, err);
    if (status == UND_OK)
        status = und_distance_open(&d, &b.mac, 3, 1, err);
    if (status == UND_OK)
        status = und_solids_open(&solids, &b.mac, NULL, 0, (const bool[6]){0}, 0, 1, err);
    for (size_t i = 0; i < b.mac.count && status == UND_OK; i++)
        d.phi[i] = -1;
    if (status == UND_OK) {
        und_mac_flow_label(&b.flow, &d, &solids);
        status = blend_all(&b, sink, err);
    }
    und_solids_close(&solids);
    und_distance_close(&d);
    und_mac_flow_close(&b.flow);
    return status;
}

/* ---- In the liquid ---- */

static und_levelset_def pool(const case_sink *sink, int n, double level,
                             const und_control_particle_def *guide)
{
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, 1.0 / n);
    def.level = und_value_constant(level);
    def.has_level = true;
    def.spray = false;
    def.control_particles = guide;
    def.control_particle_count = 1;
    return def;
}

/* Number k of the row of `kind` in the frame's report. */
static double told(und_levelset *l, und_control_particle_kind kind, int k)
{
    und_error err;
    und_liquid *liquid = und_levelset_liquid(l);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    double found = NAN;
    if (liquid->class->frame(liquid, &frame, &err) == UND_OK)
        found = ((const double *)und_frame_find(&frame, "control")->data)[5 * (int)kind + k];
    und_frame_clear(&frame);
    return found;
}

/* A disc that rolls through a pool: all of its faces have the velocity asked for, to the bit. */
und_status case_direct_hard(case_sink *sink, und_error *err)
{
    enum { N = 48, ACROSS = 17 };
    float at[2][ACROSS * ACROSS][3], velocity[2][ACROSS * ACROSS][3];
    und_control_particle_frame frames[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < ACROSS * ACROSS; i++) {
            double x = (i % ACROSS - ACROSS / 2) / (double)N, y = (i / ACROSS - ACROSS / 2) / (double)N;
            double turn = 3 * k, c = cos(turn), s = sin(turn);
            at[k][i][0] = (float)(0.35 + 0.3 * k + c * x - s * y);
            at[k][i][1] = (float)(0.3 + s * x + c * y);
            velocity[k][i][0] = (float)(0.3 - 3 * (s * x + c * y));
            velocity[k][i][1] = (float)(3 * (c * x - s * y));
            at[k][i][2] = velocity[k][i][2] = 0;
        }
        frames[k] = (und_control_particle_frame){.time = k,
                                                 .count = ACROSS * ACROSS,
                                                 .at = (const float(*)[3])at[k],
                                                 .velocity = (const float(*)[3])velocity[k]};
    }
    und_control_particle_def guide = und_control_particle_def_default();
    guide.radius = 0.8 / N;
    guide.frames = frames;
    guide.frame_count = 2;
    und_levelset_def def = pool(sink, N, 0.6, &guide);
    def.tolerance = 1e-6;
    und_levelset *l = und_levelset_create(&def, err);
    if (!l)
        return err->status;
    double worst = 0, divergence = 0, fewest = INFINITY;
    for (int i = 0; i < 18; i++) {
        und_levelset_step(l, 1.0 / 24);
        worst = fmax(worst, told(l, UND_CONTROL_VELOCITY, 2));
        fewest = fmin(fewest, told(l, UND_CONTROL_VELOCITY, 1));
        und_levelset_report last = und_levelset_last(l);
        divergence = fmax(divergence, last.converged ? last.divergence * last.dt : INFINITY);
    }
    case_report(sink, (case_result){"faces under control, at least 400", fmin(fewest, 400), 400, 0, "4.3"});
    case_report(sink, (case_result){"largest velocity error under hard control, m/s", worst, 0, 0, "4.3"});
    case_report(sink, (case_result){"divergence left outside, times the step", divergence, 0, 1e-5,
                                    "the solver's tolerance"});
    und_levelset_destroy(l);
    return UND_OK;
}

/* Cylinders pull the surface of a pool to a slope, and hold it there against gravity for a second. */
und_status case_direct_surface(case_sink *sink, und_error *err)
{
    enum { N = 48 };
    const double slope = 0.25, length = sqrt(1 + slope * slope);
    float at[N][3];
    for (int i = 0; i < N; i++) {
        at[i][0] = (float)((i + 0.5) / N);
        at[i][1] = (float)(0.5 + slope * ((i + 0.5) / N - 0.5));
        at[i][2] = 0;
    }
    const und_control_particle_frame frame = {.count = N, .at = (const float(*)[3])at};
    und_control_particle_def guide = und_control_particle_def_default();
    guide.kind = UND_CONTROL_SURFACE;
    guide.shape = UND_CONTROL_CYLINDER;
    guide.radius = 1.0 / N;
    guide.length = 0.5;
    guide.frames = &frame;
    guide.frame_count = 1;
    guide.normal[0] = -slope / length;
    guide.normal[1] = 1 / length;
    und_levelset_def def = pool(sink, N, 0.47, &guide);
    und_levelset *l = und_levelset_create(&def, err);
    if (!l)
        return err->status;
    for (int i = 0; i < 24; i++)
        und_levelset_step(l, 1.0 / 24);
    double worst = 0;
    for (int x = 1; x < N - 1; x++)
        for (int y = 1; y < N - 1; y++) {
            double d = ((y + 0.5) / N - (double)at[x][1]) / length;
            if (fabs(d) < 1.0 / N)
                worst = fmax(worst, fabs(und_levelset_distance(l, x, y, 0) - d) * N);
        }
    und_ledger ledger = und_levelset_ledger(l);
    case_report(sink, (case_result){"farthest from the plane after 1 s, cells", worst, 0, 0.1,
                                    "the plane asked for"});
    case_report(sink, (case_result){"mean of the frame's own report, cells",
                                    told(l, UND_CONTROL_SURFACE, 3) * N, 0, 0.05, "the plane asked for"});
    case_report(sink,
                (case_result){"volume gained, of what was missing",
                              (ledger.measured - ledger.start) / (0.03 / N), 1, 0.02, "the plane asked for"});
    und_levelset_destroy(l);
    return UND_OK;
}

/* A drop grows at the rate asked for. */
und_status case_direct_growth(case_sink *sink, und_error *err)
{
    enum { N = 48 };
    const float at[1][3] = {{0.5F, 0.5F, 0}};
    const und_control_particle_frame frame = {.count = 1, .at = at};
    und_shape *drop =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {0.5, 0.5, 0}, .radius = 0.3}, err);
    und_fill_def fill = {.shape = drop};
    und_control_particle_def guide = und_control_particle_def_default();
    guide.kind = UND_CONTROL_DIVERGENCE;
    guide.radius = 10;
    guide.value = 1;
    guide.frames = &frame;
    guide.frame_count = 1;
    und_levelset_def def = pool(sink, N, 0, &guide);
    def.has_level = false;
    def.keep_volume = true;
    def.fills = &fill;
    def.fill_count = 1;
    memset(def.gravity, 0, sizeof def.gravity);
    und_levelset *l = drop ? und_levelset_create(&def, err) : NULL;
    if (l) {
        for (int i = 0; i < 12; i++)
            und_levelset_step(l, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(l);
        case_report(sink, (case_result){"volume after 0.5 s at 1/s, of that before",
                                        ledger.measured / ledger.start, exp(0.5), 0.005, "exp(rate t)"});
        case_report(sink, (case_result){"what the ledger's sources say", ledger.sources / ledger.start,
                                        exp(0.5) - 1, 0.005, "exp(rate t) - 1"});
    }
    und_levelset_destroy(l);
    und_shape_destroy(drop);
    return l ? UND_OK : err->status;
}

/* A full box with a disc that pushes: no pressure could mend that. */
und_status case_direct_pocket(case_sink *sink, und_error *err)
{
    enum { N = 32 };
    const float at[1][3] = {{0.5F, 0.5F, 0}}, velocity[1][3] = {{2, 1, 0}};
    const und_control_particle_frame frame = {.count = 1, .at = at, .velocity = velocity};
    und_control_particle_def guide = und_control_particle_def_default();
    guide.radius = 0.15;
    guide.frames = &frame;
    guide.frame_count = 1;
    und_levelset_def def = pool(sink, N, 2, &guide);
    und_levelset *l = und_levelset_create(&def, err);
    if (!l)
        return err->status;
    for (int i = 0; i < 12; i++)
        und_levelset_step(l, 1.0 / 24);
    double most = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            for (int a = 0; a < 2; a++) {
                double u = fabs(und_levelset_velocity(l, a, x, y, 0));
                most = isfinite(u) ? fmax(most, u) : INFINITY;
            }
    case_report(sink,
                (case_result){"fastest in an enclosure that does not fit, m/s", most, 2, 0, "what is given"});
    case_report(sink,
                (case_result){"iterations of the pressure", und_levelset_last(l).iterations, 0, 0, "5.6"});
    und_levelset_destroy(l);
    return UND_OK;
}
