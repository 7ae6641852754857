/* Viscosity that varies: channels whose profiles are known, by both solvers. */
#include "validate/direct.h"
#include "validate/levelset.h"

#include "geom/motion.h"

#include <math.h>
#include <stdio.h>

static const char *const solver_names[] = {"diffuse", "split", "coupled"};

/* A channel of height 1 along x, `cells` high and three times as long.  A source at its beginning gives the
 * profile, its end is open, and it is looked at 5/4 of its height from the one and 7/4 from the other, where
 * either has next to no influence; the lid above it moves. */
typedef struct channel {
    int cells;
    und_viscosity_solver solver;
    und_value_fn *nu, *profile;
    double lid, pull; /* m/s, m/s2 */
} channel;

static und_shape box_of(double low_x, double low_y, double high_x, double high_y)
{
    return (und_shape){.kind = UND_BOX,
                       .center = {0.5 * (low_x + high_x), 0.5 * (low_y + high_y), 0},
                       .half = {0.5 * (high_x - low_x), 0.5 * (high_y - low_y), 1}};
}

static double worst_in_middle(const und_levelset *levelset, const channel *c)
{
    double worst = 0;
    for (int y = 0; y < c->cells; y++) {
        double u = und_levelset_velocity(levelset, 0, 5 * c->cells / 4, y, 0);
        worst = fmax(worst, fabs(u - c->profile(NULL, 1, (y + 0.5) / c->cells, 0, 0)));
    }
    return worst;
}

/* The largest error of the velocity there, once it is steady. */
static und_status run_channel(case_sink *sink, const channel *c, double *error, und_error *err)
{
    const double dx = 1.0 / c->cells, until = 1.5;
    const int above = c->lid > 0 ? 4 : 0;
    und_levelset_def def = case_levelset_tank(sink, 3 * c->cells, c->cells + above, 1, dx);
    und_shape all = box_of(-1, -1, 4, 2), begin = box_of(-1, -1, 2 * dx, 2);
    und_shape lid = box_of(-9, 1, 9, 3);
    const und_key keys[2] = {{.time = 0}, {.time = 4, .position = {4 * c->lid, 0, 0}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, err);
    und_obstacle_def solid = {.shape = &lid, .motion = motion};
    und_fill_def fill = {.shape = &all};
    und_element_def source = {
        .role = UND_ELEMENT_SOURCE, .shape = &begin, .field.value[0].fn = c->profile, .end = INFINITY};
    def.open[1] = true;
    def.gravity[0] = c->pull;
    def.gravity[1] = 0;
    def.fills = &fill;
    def.elements = &source;
    def.element_count = 1;
    def.fill_count = 1;
    def.obstacles = &solid;
    def.obstacle_count = c->lid > 0;
    def.viscosity_field.fn = c->nu;
    def.viscosity_solver = c->solver;
    def.stick = true;
    def.particles = 0;
    def.tolerance = 1e-6;
    def.max_step = 0.02;
    und_levelset *levelset = motion ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, until, until);
        *error = worst_in_middle(levelset, c);
    }
    und_levelset_destroy(levelset);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

static double layers_nu(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return y < 0.5 ? 10 : 1;
}
static double layers_profile(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return y < 0.5 ? y * 2 / 11 : y < 1 ? 1 / 11.0 + (y - 0.5) * 20 / 11 : 1;
}

static double smooth_nu(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return 1 + 9 * fmin(y, 1);
}
static double smooth_profile(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return y < 1 ? log1p(9 * y) / log(10) : 1;
}

/* A pull of 10 and a viscosity exp(2 y): u' exp(2 y) = c - 10 y, which is 0 at both walls. */
static double pulled_nu(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return exp(2 * y);
}
static double pulled_profile(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    /* The integral of exp(-2 y) and of y exp(-2 y), from 0. */
    double one = (1 - exp(-2 * y)) / 2, two = (1 - (1 + 2 * y) * exp(-2 * y)) / 4;
    double one_end = (1 - exp(-2.0)) / 2, two_end = (1 - 3 * exp(-2.0)) / 4;
    return 10 * (two_end / one_end * one - two);
}

und_status case_direct_couette(case_sink *sink, und_error *err)
{
    char what[2][64];
    for (int solver = UND_VISCOSITY_SPLIT; solver <= UND_VISCOSITY_COUPLED; solver++) {
        double error[3] = {0};
        channel c = {32, (und_viscosity_solver)solver, layers_nu, layers_profile, 1, 0};
        if (run_channel(sink, &c, &error[0], err) != UND_OK)
            return err->status;
        snprintf(what[0], sizeof what[0], "two viscosities 10:1, 32 cells, %s", solver_names[solver]);
        case_report(sink, (case_result){what[0], error[0], 0, 1e-3, "1/11 of the lid's speed between them"});
        c.nu = smooth_nu;
        c.profile = smooth_profile;
        for (int i = 1; i < 3; i++) {
            c.cells = 8 << i;
            if (run_channel(sink, &c, &error[i], err) != UND_OK)
                return err->status;
        }
        snprintf(what[0], sizeof what[0], "nu = 1 + 9 y, 32 cells, %s", solver_names[solver]);
        snprintf(what[1], sizeof what[1], "nu = 1 + 9 y, order (2 at most), 16 to 32, %s",
                 solver_names[solver]);
        case_report(sink, (case_result){what[0], error[2], 0, 1e-3, "ln(1 + 9 y) / ln 10"});
        case_report(
            sink, (case_result){what[1], fmin(2, log2(error[1] / error[2])), 2, 0.3, "ln(1 + 9 y) / ln 10"});
    }
    return UND_OK;
}

und_status case_direct_poiseuille(case_sink *sink, und_error *err)
{
    static const char *const source = "(nu u')' = -g with nu = exp(2 y)";
    char what[2][64];
    for (int solver = UND_VISCOSITY_SPLIT; solver <= UND_VISCOSITY_COUPLED; solver++) {
        double error[2] = {0};
        bool coupled = solver == UND_VISCOSITY_COUPLED;
        channel c = {0, (und_viscosity_solver)solver, pulled_nu, pulled_profile, 0, 10};
        for (int i = 0; i < 2; i++) {
            c.cells = 16 << i;
            if (run_channel(sink, &c, &error[i], err) != UND_OK)
                return err->status;
        }
        snprintf(what[0], sizeof what[0], "largest error, m/s, 32 cells, %s", solver_names[solver]);
        snprintf(what[1], sizeof what[1], "order (2 at most), 16 to 32, %s", solver_names[solver]);
        case_report(sink, (case_result){what[0], error[1], 0, coupled ? 2e-3 : 0.03, source});
        if (!coupled)
            continue; /* what is left of it is of the step, not of the cells */
        case_report(sink, (case_result){what[1], log2(error[0] / error[1]), 2, 0.3, source});
    }
    return UND_OK;
}
