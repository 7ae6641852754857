/* Viscous liquid with a free surface: a blob that turns in the air, one that spreads, a film that runs down a
 * slope. */
#include "validate/direct.h"
#include "validate/levelset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const solver_names[] = {"diffuse", "split", "coupled"};

/* ---- A disc of 16 cells' radius that turns and flies ---- */

typedef struct disc {
    double nu;   /* over R^2 Omega */
    bool graded; /* 1 to 100 times that across the disc */
    und_viscosity_solver solver;
    int order;
} disc;

static const double disc_radius = 1, disc_spin = 1, disc_size = 2.8;

static double disc_u(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return -disc_spin * (y - disc_size / 2);
}
static double disc_v(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return disc_spin * (x - disc_size / 2);
}
static double disc_nu(const void *context, double x, double y, double z, double t)
{
    const disc *d = context;
    (void)y, (void)z, (void)t;
    return d->nu * disc_radius * disc_radius * disc_spin * (d->graded ? pow(10, (x - 1.4) / 1) : 1);
}

/* Angular momentum about the middle of mass, over that of a whole disc; and how far the outline is from
 * round, in radii: half of the largest less the least distance from the middle. */
static void measure_disc(const und_levelset *levelset, const und_levelset_def *def, double *momentum,
                         double *oval)
{
    double mass = 0, middle[2] = {0}, moving[2] = {0}, turning = 0, least = INFINITY, most = 0;
    for (int y = 0; y < def->n[1]; y++)
        for (int x = 0; x < def->n[0]; x++) {
            double phi = und_levelset_distance(levelset, x, y, 0) / def->dx;
            double part = fmin(1, fmax(0, 0.5 - phi)), at[2] = {(x + 0.5) * def->dx, (y + 0.5) * def->dx};
            double u = 0.5 * (und_levelset_velocity(levelset, 0, x, y, 0) +
                              und_levelset_velocity(levelset, 0, x + 1, y, 0));
            double v = 0.5 * (und_levelset_velocity(levelset, 1, x, y, 0) +
                              und_levelset_velocity(levelset, 1, x, y + 1, 0));
            part *= def->dx * def->dx;
            mass += part;
            for (int a = 0; a < 2; a++)
                middle[a] += part * at[a];
            moving[0] += part * u;
            moving[1] += part * v;
            turning += part * (at[0] * v - at[1] * u);
        }
    for (int a = 0; a < 2; a++)
        middle[a] /= mass;
    turning -= middle[0] * moving[1] - middle[1] * moving[0];
    for (int y = 0; y < def->n[1]; y++)
        for (int x = 0; x < def->n[0]; x++) {
            double phi = und_levelset_distance(levelset, x, y, 0);
            double away = hypot((x + 0.5) * def->dx - middle[0], (y + 0.5) * def->dx - middle[1]) - phi;
            if (fabs(phi) < def->dx) {
                least = fmin(least, away);
                most = fmax(most, away);
            }
        }
    *momentum = turning / (M_PI / 2 * pow(disc_radius, 4) * disc_spin);
    *oval = 0.5 * (most - least) / disc_radius;
}

/* momentum: after one turn and after ten. */
static und_status turn_disc(case_sink *sink, disc *d, double momentum[2], double *oval, und_error *err)
{
    const double dx = disc_radius / 16, once = 2 * M_PI / disc_spin;
    int n = (int)round(disc_size / dx);
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, dx);
    und_shape shape = {.kind = UND_SPHERE, .center = {disc_size / 2, disc_size / 2, dx / 2}, .radius = 1};
    und_fill_def fill = {.shape = &shape, .velocity = {{.fn = disc_u}, {.fn = disc_v}}};
    def.fills = &fill;
    def.fill_count = 1;
    def.gravity[1] = 0;
    def.order = d->order;
    if (d->nu > 0)
        def.viscosity_field = (und_value){.fn = disc_nu, .context = d};
    def.viscosity_solver = d->solver;
    und_levelset *levelset = und_levelset_create(&def, err);
    if (levelset) {
        case_levelset_run(levelset, once, once);
        measure_disc(levelset, &def, &momentum[0], oval);
        case_levelset_run(levelset, 10 * once, once);
        measure_disc(levelset, &def, &momentum[1], oval);
    }
    und_levelset_destroy(levelset);
    return levelset ? UND_OK : err->status;
}

/* Without viscosity a turning disc is unstable (its pressure is below the air's): there is no such case. */
und_status case_direct_blob(case_sink *sink, und_error *err)
{
    static const char *const source = "a turning disc has no strain (Rasmussen et al. 2004, 5.1)";
    static const struct {
        disc disc;
        const char *what;
        double once, ten; /* tolerances; 0: not asked for */
    } turns[] = {
        {{100, false, UND_VISCOSITY_COUPLED, 1}, "100 R^2 Omega, coupled, order 1", 0.3, 0},
        {{100, false, UND_VISCOSITY_COUPLED, 2}, "100 R^2 Omega, coupled, order 2", 0.01, 0.05},
        {{10, true, UND_VISCOSITY_COUPLED, 2}, "1:100 across, coupled, order 2", 0.01, 0.05},
        {{100, false, UND_VISCOSITY_SPLIT, 2}, "100 R^2 Omega, split, order 2", 0.01, 0.05},
        {{10, true, UND_VISCOSITY_SPLIT, 2}, "1:100 across, split, order 2", 0.01, 0.05},
    };
    char what[100];
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        double momentum[2] = {0}, oval = 0;
        disc d = turns[i].disc;
        if (turn_disc(sink, &d, momentum, &oval, err) != UND_OK)
            return err->status;
        snprintf(what, sizeof what, "spin left after a turn, %s", turns[i].what);
        case_report(sink, (case_result){what, momentum[0], 1, turns[i].once, source});
        snprintf(what, sizeof what, "spin left after ten, %s", turns[i].what);
        if (turns[i].ten > 0)
            case_report(sink, (case_result){what, momentum[1], 1, turns[i].ten, source});
        snprintf(what, sizeof what, "out of round, radii, %s", turns[i].what);
        case_report(sink, (case_result){what, oval, 0, 0.03, source}); /* half a cell */
    }
    return UND_OK;
}

/* ---- A block that spreads on a floor ---- */

static und_status spread(case_sink *sink, und_viscosity_solver solver, double front[2], double *height,
                         und_error *err)
{
    const double dx = 0.01;
    und_levelset_def def = case_levelset_tank(sink, 64, 14, 1, dx);
    und_shape *block = case_levelset_box(0.1, 0.1, 1, err);
    und_fill_def fill = {.shape = block};
    def.fills = &fill;
    def.fill_count = 1;
    def.viscosity = 0.01;
    def.viscosity_solver = solver;
    def.stick = true;
    def.keep_volume = true;
    und_levelset *levelset = block ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 5, 1);
        front[0] = case_levelset_surface(levelset, &def, 0, 0, 0, 0);
        case_levelset_run(levelset, 20, 1);
        front[1] = case_levelset_surface(levelset, &def, 0, 0, 0, 0);
        *height = case_levelset_surface(levelset, &def, 1, 0, 0, 0);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(block);
    return levelset ? UND_OK : err->status;
}

und_status case_direct_spreading(case_sink *sink, und_error *err)
{
    static const char *const source = "Huppert 1982: 1.41124 (g q^3 t / (3 nu))^(1/5)";
    char what[64];
    for (int solver = UND_VISCOSITY_SPLIT; solver <= UND_VISCOSITY_COUPLED; solver++) {
        double front[2] = {0}, height = 0, at_end = 1.41124 * pow(9.81 * 1e-6 * 20 / 0.03, 0.2);
        if (spread(sink, (und_viscosity_solver)solver, front, &height, err) != UND_OK)
            return err->status;
        snprintf(what, sizeof what, "front at 20 s, m, %s", solver_names[solver]);
        case_report(sink, (case_result){what, front[1], at_end, 0.1 * at_end, source});
        snprintf(what, sizeof what, "exponent, 5 to 20 s, %s", solver_names[solver]);
        case_report(sink, (case_result){what, log(front[1] / front[0]) / log(4), 0.2, 0.02, source});
    }
    return UND_OK;
}

/* ---- A film on a slope ---- */

static const double film_height = 1, film_pull = 2;

static double film_profile(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return y < film_height ? film_pull * (film_height * y - 0.5 * y * y) : 0.5 * film_pull;
}

/* 16 cells deep: a source gives the profile at the upper end, an open side takes it at the lower one.  The
 * error in the middle over the surface's speed, and the shear on the surface over that on the floor. */
static und_status run_film(case_sink *sink, und_viscosity_solver solver, double *error, double *shear,
                           und_error *err)
{
    const double dx = 1.0 / 16, until = 8;
    und_levelset_def def = case_levelset_tank(sink, 96, 24, 1, dx);
    und_shape *film = case_levelset_box(6, film_height, 1, err);
    und_shape *upper = case_levelset_box(2 * dx, film_height, 1, err);
    und_fill_def fill = {.shape = film, .velocity = {{.fn = film_profile}}};
    und_element_def source = {
        .role = UND_ELEMENT_SOURCE, .shape = upper, .field.value[0].fn = film_profile, .end = INFINITY};
    def.fills = &fill;
    def.elements = &source;
    def.element_count = 1;
    def.fill_count = 1;
    def.gravity[0] = film_pull;
    def.gravity[1] = -film_pull / tan(M_PI / 6);
    def.open[1] = true;
    def.viscosity = 1;
    def.viscosity_solver = solver;
    def.stick = true;
    und_levelset *levelset = film && upper ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        double worst = 0, u[16];
        case_levelset_run(levelset, until, 1);
        for (int y = 0; y < 16; y++) {
            u[y] = und_levelset_velocity(levelset, 0, 48, y, 0);
            worst = fmax(worst, fabs(u[y] - film_profile(NULL, 0, (y + 0.5) * dx, 0, 0)));
        }
        *error = worst / (0.5 * film_pull);
        *shear = 0.5 * (3 * u[15] - 4 * u[14] + u[13]) / (2 * u[0]);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(film);
    und_shape_destroy(upper);
    return levelset ? UND_OK : err->status;
}

und_status case_direct_film(case_sink *sink, und_error *err)
{
    static const char *const source = "Nusselt: g (h y - y^2 / 2) / nu";
    char what[64];
    for (int solver = UND_VISCOSITY_SPLIT; solver <= UND_VISCOSITY_COUPLED; solver++) {
        double error = 0, shear = 0;
        if (run_film(sink, (und_viscosity_solver)solver, &error, &shear, err) != UND_OK)
            return err->status;
        snprintf(what, sizeof what, "error over surface speed, 16 cells, %s", solver_names[solver]);
        case_report(sink, (case_result){what, error, 0, 0.02, source});
        snprintf(what, sizeof what, "shear at the surface over the floor's, %s", solver_names[solver]);
        case_report(sink, (case_result){what, shear, 1.0 / 32, 0.02, source});
    }
    return UND_OK;
}
