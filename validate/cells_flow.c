/* The momentum step, its walls and the pressure: flows without a surface that moves. */
#include "validate/cells.h"

#include "geom/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81

/* A tank with steps on its floor, filled to `level`: nothing moves, and pressure grows by g dy a cell from
 * the surface on; as printed, from the middle of the Surface cells. */
static und_status rest_at(double level, und_track track, bool printed, double *speed, double *wrong,
                          double *drift, und_error *err)
{
    enum { NX = 24, NY = 16 };
    const double dx = 1.0 / NY;
    und_cells_def def = case_cells_tank(NX, NY, dx);
    und_shape *step = case_cells_box(6 * dx, 3 * dx, dx, err), *two = case_cells_box(3 * dx, 5 * dx, dx, err);
    und_solid_def solids[] = {{.shape = step}, {.shape = two}};
    def.solids = solids;
    def.solid_count = 2;
    def.has_level = true;
    def.level.number = level;
    def.track = track;
    def.surface_in_cell = !printed;
    def.epsilon = 1e-12;
    und_cells *cells = step && two ? und_cells_create(&def, err) : NULL;
    double top = 0;
    *speed = *wrong = 0;
    for (int i = 0; cells && i < 1000; i++)
        und_cells_step(cells, 0.01);
    for (int y = 0; cells && y < NY; y++)
        for (int x = 0; x < NX; x++) {
            if (und_cells_label(cells, x, y, 0) == UND_CELL_SURFACE)
                top = y;
            for (int a = 0; a < 2; a++)
                *speed = fmax(*speed, fabs(und_cells_velocity(cells, a, x, y, 0)));
        }
    double surface = printed ? (top + 0.5) * dx : level;
    for (int y = 0; cells && y < NY; y++)
        if (und_cells_label(cells, NX - 1, y, 0) == UND_CELL_FULL)
            *wrong = fmax(*wrong, fabs(und_cells_pressure(cells, NX - 1, y, 0) -
                                       1000 * G * (surface - (y + 0.5) * dx)));
    *drift = cells ? fabs(und_cells_ledger(cells).correction) / und_cells_ledger(cells).start : 0;
    und_status status = cells ? UND_OK : err->status;
    und_cells_destroy(cells);
    und_shape_destroy(step);
    und_shape_destroy(two);
    return status;
}

und_status case_hydrostatic(case_sink *sink, und_error *err)
{
    static const struct {
        double level;
        und_track track;
        bool printed;
        const char *what;
    } rests[] = {{10.0 / 16, UND_TRACK_MARKERS, false, "markers, at a face"},
                 {10.3 / 16, UND_TRACK_MARKERS, false, "markers, between faces"},
                 {10.3 / 16, UND_TRACK_MARKERS, true, "markers, as printed"},
                 {10.0 / 16, UND_TRACK_HEIGHT, false, "height, at a face"},
                 {10.3 / 16, UND_TRACK_HEIGHT, false, "height, between faces"}};
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        double speed, wrong, drift, deep = rests[i].level;
        char what[3][64];
        und_status status =
            rest_at(rests[i].level, rests[i].track, rests[i].printed, &speed, &wrong, &drift, err);
        if (status != UND_OK)
            return status;
        snprintf(what[0], sizeof what[0], "speed / sqrt(g H), %s", rests[i].what);
        snprintf(what[1], sizeof what[1], "pressure's error / rho g H, %s", rests[i].what);
        snprintf(what[2], sizeof what[2], "volume's drift, %s", rests[i].what);
        case_report(sink, (case_result){what[0], speed / sqrt(G * deep), 0, 1e-10, "p = rho g (H - y)"});
        case_report(sink, (case_result){what[1], wrong / (1000 * G * deep), 0, 1e-8, "p = rho g (H - y)"});
        case_report(sink, (case_result){what[2], drift, 0, 1e-12, "p = rho g (H - y)"});
    }
    return UND_OK;
}

/* Velocity of the vortex in a box with free-slip walls, [0, 1/2]^2. */
typedef struct vortex {
    int axis;
} vortex;

static double vortex_at(const void *context, double x, double y, double z, double t)
{
    const vortex *v = context;
    (void)z;
    (void)t;
    double a = 2 * M_PI * x, b = 2 * M_PI * y;
    return v->axis == 0 ? sin(a) * cos(b) : -cos(a) * sin(b);
}

/* The error in u after 0.2 s, root of the mean square, and the factor by which the energy fell. */
static und_status decay(int n, double *error, double *energy, double *divergence, und_error *err)
{
    const double nu = 0.01, until = 0.2, dx = 0.5 / n;
    und_cells_def def = case_cells_tank(n, n, dx);
    vortex axes[2] = {{0}, {1}};
    und_shape *all = case_cells_box(0.5, 0.5, dx, err);
    und_fill_def fill = {.shape = all};
    fill.velocity[0] = (und_value){.fn = vortex_at, .context = &axes[0]};
    fill.velocity[1] = (und_value){.fn = vortex_at, .context = &axes[1]};
    def.fills = &fill;
    def.fill_count = 1;
    def.track = UND_TRACK_HEIGHT;
    def.gravity[1] = 0;
    def.viscosity = nu;
    def.epsilon = 1e-8;
    def.max_step = 0.2 / (n * (double)n) * 6.4; /* 0.00125 s at 32: the time's error goes with the space's */
    und_cells *cells = all ? und_cells_create(&def, err) : NULL;
    double factor = exp(-8 * M_PI * M_PI * nu * until), sum = 0, now = 0, before = 0;
    if (cells)
        case_cells_run(cells, until, until);
    for (int a = 0; cells && a < 2; a++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double at = vortex_at(&axes[a], (x + 0.5 * a) * dx, (y + 0.5 * (1 - a)) * dx, 0, 0);
                double u = und_cells_velocity(cells, a, x, y, 0);
                sum += (u - at * factor) * (u - at * factor) / 2;
                now += u * u;
                before += at * at;
            }
    *error = sqrt(sum / (n * (double)n));
    *energy = now / before;
    *divergence = cells ? und_cells_last(cells).divergence : 0;
    und_status status = cells ? UND_OK : err->status;
    und_cells_destroy(cells);
    und_shape_destroy(all);
    return status;
}

und_status case_taylor_green(case_sink *sink, und_error *err)
{
    static const char *const source = "Taylor & Green 1937: exp(-8 pi^2 nu t)";
    double error[3], energy[3], divergence[3];
    for (int i = 0; i < 3; i++) {
        und_status status = decay(16 << i, &error[i], &energy[i], &divergence[i], err);
        if (status != UND_OK)
            return status;
    }
    case_report(sink, (case_result){"L2 error of u, 32 x 32 cells a quarter", error[1], 0, 1e-3, source});
    case_report(sink, (case_result){"energy left after 0.2 s, 32", energy[1], 0.729185, 2e-3, source});
    case_report(sink, (case_result){"energy left after 0.2 s, 64", energy[2], 0.729185, 5e-4, source});
    case_report(sink, (case_result){"order, 16 to 32", log2(error[0] / error[1]), 2, 0.2, source});
    case_report(sink, (case_result){"order, 32 to 64", log2(error[1] / error[2]), 2, 0.2, source});
    case_report(sink, (case_result){"largest divergence left, 1/s", divergence[2], 0, 1e-8, source});
    return UND_OK;
}

/* A channel of height 1 between walls that stick, whose lid may slide, and a force along it. */
typedef struct drive {
    double force, lid;
} drive;

static const double channel_nu = 0.1;

/* u at y and t of a channel that began at rest: the steady profile less a series that dies away. */
static double channel_at(drive d, double y, double t)
{
    double u = d.lid * y + d.force / (2 * channel_nu) * y * (1 - y);
    for (int n = 1; n < 200; n++) {
        double k = n * M_PI, left = exp(-channel_nu * k * k * t);
        u += left * sin(k * y) * (n % 2 ? -1 : 1) * 2 * d.lid / k;
        u -= n % 2 ? left * sin(k * y) * 4 * d.force / (channel_nu * k * k * k) : 0;
    }
    return u;
}

enum { CHANNEL_TIMES = 4 };
static const double channel_times[CHANNEL_TIMES] = {0.05, 0.2, 1, 30};

/* The largest error of u at each time.  Both ends are open, so that the flow alone finds its profile. */
static und_status channel(drive d, int n, double worst[CHANNEL_TIMES], und_error *err)
{
    const int nx = 8;
    und_cells_def def = case_cells_tank(nx, n, 1.0 / n);
    case_cells_fill(&def);
    def.gravity[0] = d.force;
    def.gravity[1] = 0;
    def.viscosity = channel_nu;
    def.epsilon = 1e-10;
    def.wall[0].kind = def.wall[1].kind = UND_WALL_OUTFLOW;
    def.wall[2].kind = def.wall[3].kind = UND_WALL_STICK;
    def.wall[3].velocity[0].number = d.lid;
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    for (int i = 0; i < CHANNEL_TIMES; i++) {
        case_cells_run(cells, channel_times[i], 0.1);
        worst[i] = 0;
        for (int y = 0; y < n; y++) {
            double exact = channel_at(d, (y + 0.5) / n, channel_times[i]);
            worst[i] = fmax(worst[i], fabs(und_cells_velocity(cells, 0, nx / 2, y, 0) - exact));
        }
    }
    und_cells_destroy(cells);
    return UND_OK;
}

und_status case_channel(case_sink *sink, und_error *err)
{
    static const char *const lid = "u = U y / H", *const force = "u = f y (H - y) / (2 nu)";
    static const char *const series = "its Fourier series";
    double couette[CHANNEL_TIMES], fine_couette[CHANNEL_TIMES], coarse[CHANNEL_TIMES], fine[CHANNEL_TIMES];
    if (channel((drive){0, 1}, 16, couette, err) || channel((drive){0, 1}, 32, fine_couette, err) ||
        channel((drive){1, 0}, 16, coarse, err) || channel((drive){1, 0}, 32, fine, err))
        return err->status;
    const double own = 1 / (8 * channel_nu), most = 1.25; /* the mirrored wall errs by f dx^2 / (8 nu) */
    int steady = CHANNEL_TIMES - 1;
    case_report(sink, (case_result){"Couette, error of u / U, 16 cells", couette[steady], 0, 1e-8, lid});
    case_report(sink, (case_result){"Poiseuille, error of u / (f dx^2 / (8 nu)), 16 cells",
                                    coarse[steady] / own * 16 * 16, 1, 1e-6, force});
    case_report(sink, (case_result){"Poiseuille, error of u / (f dx^2 / (8 nu)), 32 cells",
                                    fine[steady] / own * 32 * 32, 1, 1e-6, force});
    case_report(sink, (case_result){"Poiseuille, order", log2(coarse[steady] / fine[steady]), 2, 0.2, force});
    for (int i = 0; i < steady; i++) {
        char what[2][64];
        snprintf(what[0], sizeof what[0], "Couette, error of u / U after %g s, 32 cells", channel_times[i]);
        snprintf(what[1], sizeof what[1], "Poiseuille, error of u / U after %g s, 32", channel_times[i]);
        case_report(sink, (case_result){what[0], fine_couette[i], 0, 0.01, series});
        case_report(sink, (case_result){what[1], fine[i] / most, 0, 0.01, series});
    }
    return UND_OK;
}

/* Flow behind a grid of bars at Re 40; t is of no account. */
static double kovasznay_at(const void *context, double x, double y, double z, double t)
{
    const int *axis = context;
    const double lambda = 20 - sqrt(400 + 4 * M_PI * M_PI), decay = exp(lambda * x);
    (void)z;
    (void)t;
    return *axis == 0 ? 1 - decay * cos(2 * M_PI * y) : lambda / (2 * M_PI) * decay * sin(2 * M_PI * y);
}

/* The error of the steady velocity, root of the mean square. */
static und_status behind_bars(int nx, int ny, double *error, und_error *err)
{
    static int axes[2] = {0, 1};
    const double origin[2] = {-0.5, -0.5};
    und_cells_def def = case_cells_tank(nx, ny, 1.5 / nx);
    und_value velocity[2] = {{.fn = kovasznay_at, .context = &axes[0]},
                             {.fn = kovasznay_at, .context = &axes[1]}};
    case_cells_fill(&def);
    def.cell[1] = 1.0 / ny;
    def.origin[0] = origin[0], def.origin[1] = origin[1];
    def.gravity[1] = 0;
    def.viscosity = 1.0 / 40;
    def.epsilon = 1e-7;
    for (int side = 0; side < 4; side++)
        def.wall[side] = (und_wall_def){.kind = UND_WALL_INFLOW, .velocity = {velocity[0], velocity[1]}};
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    case_cells_run(cells, 4, 0.1);
    double sum = 0;
    for (int a = 0; a < 2; a++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                double px = origin[0] + (x + 0.5 * a) * def.cell[0];
                double py = origin[1] + (y + 0.5 * (1 - a)) * def.cell[1];
                double off = und_cells_velocity(cells, a, x, y, 0) - kovasznay_at(&axes[a], px, py, 0, 0);
                sum += off * off;
            }
    *error = sqrt(sum / (nx * (double)ny));
    und_cells_destroy(cells);
    return UND_OK;
}

und_status case_kovasznay(case_sink *sink, und_error *err)
{
    static const char *const source = "Kovasznay 1948, Re 40";
    double coarse = 0, fine = 0;
    if (behind_bars(32, 24, &coarse, err) || behind_bars(64, 48, &fine, err))
        return err->status;
    case_report(sink, (case_result){"L2 error of the velocity, 32 x 24", coarse, 0, 2e-2, source});
    case_report(sink, (case_result){"L2 error of the velocity, 64 x 48", fine, 0, 5e-3, source});
    case_report(sink, (case_result){"order", log2(coarse / fine), 2, 0.2, source});
    return UND_OK;
}

enum { GHIA = 15 };
#define GHIA82 "Ghia, Ghia & Shin 1982, tables I and II"

static const double ghia_y[GHIA] = {0.9766, 0.9688, 0.9609, 0.9531, 0.8516, 0.7344, 0.6172, 0.5,
                                    0.4531, 0.2813, 0.1719, 0.1016, 0.0703, 0.0625, 0.0547};
static const double ghia_x[GHIA] = {0.9688, 0.9609, 0.9531, 0.9453, 0.9063, 0.8594, 0.8047, 0.5,
                                    0.2344, 0.2266, 0.1563, 0.0938, 0.0781, 0.0703, 0.0625};

/* A cavity, the time after which nothing changes any more by 2e-4, and the tables. */
static const struct cavity {
    int re, cells;
    double until, tolerance;
    double u[GHIA], v[GHIA];
    int skip; /* a row of v that the table has wrong: it jumps against its neighbours; -1: none */
} cavities[] = {
    {100,
     48,
     20,
     0.02,
     {0.84123, 0.78871, 0.73722, 0.68717, 0.23151, 0.00332, -0.13641, -0.20581, -0.2109, -0.15662, -0.1015,
      -0.06434, -0.04775, -0.04192, -0.03717},
     {-0.05906, -0.07391, -0.08864, -0.10313, -0.16914, -0.22445, -0.24533, 0.05454, 0.17527, 0.17507,
      0.16077, 0.12317, 0.1089, 0.10091, 0.09233},
     -1},
    {400,
     64,
     40,
     0.02,
     {0.75837, 0.68439, 0.61756, 0.55892, 0.29093, 0.16256, 0.02135, -0.11477, -0.17119, -0.32726, -0.24299,
      -0.14612, -0.10338, -0.09266, -0.08186},
     {-0.12146, -0.15663, -0.19254, -0.22847, -0.23827, -0.44993, -0.38598, 0.05186, 0.30174, 0.30203,
      0.28124, 0.22965, 0.2092, 0.19713, 0.1836},
     4},
    {1000,
     96,
     60,
     0.02,
     {0.65928, 0.57492, 0.51117, 0.46604, 0.33304, 0.18719, 0.05702, -0.0608, -0.10648, -0.27805, -0.38289,
      -0.2973, -0.2222, -0.20196, -0.18109},
     {-0.21388, -0.27669, -0.33714, -0.39188, -0.5155, -0.42665, -0.31966, 0.02526, 0.32235, 0.33075, 0.37095,
      0.32627, 0.30353, 0.29012, 0.27485},
     -1},
};

/* The component along `axis` on the line through the middle along the other axis, at s from 0 to 1: a cubic
 * through the four nearest cells. */
static double centreline(const und_cells *cells, int n, int axis, double s)
{
    double at = s * n - 0.5, sum = 0;
    int first = (int)fmin(fmax(floor(at) - 1, 0), n - 4);
    for (int i = 0; i < 4; i++) {
        double weight = 1;
        for (int j = 0; j < 4; j++)
            weight *= j == i ? 1 : (at - (first + j)) / (i - j);
        int k = first + i;
        sum += weight * und_cells_velocity(cells, axis, axis == 0 ? n / 2 : k, axis == 0 ? k : n / 2, 0);
    }
    return sum;
}

/* The flow under a lid that slides at 1 m/s until it is steady. */
static und_cells *slide_lid(const struct cavity *c, int threads, und_error *err)
{
    und_cells_def def = case_cells_tank(c->cells, c->cells, 1.0 / c->cells);
    case_cells_fill(&def);
    def.gravity[1] = 0;
    def.viscosity = 1.0 / c->re;
    def.epsilon = 1e-6;
    def.courant = 0.25;
    def.threads = threads;
    for (int side = 0; side < 4; side++)
        def.wall[side].kind = UND_WALL_STICK;
    def.wall[3].velocity[0].number = 1;
    und_cells *cells = und_cells_create(&def, err);
    if (cells)
        case_cells_run(cells, c->until, 1);
    return cells;
}

und_status case_cavity(case_sink *sink, und_error *err)
{
    for (size_t i = 0; i < sizeof cavities / sizeof *cavities; i++) {
        const struct cavity *c = &cavities[i];
        char what[2][64];
        und_cells *cells = slide_lid(c, case_threads(sink), err);
        double worst[2] = {0};
        if (!cells)
            return err->status;
        for (int k = 0; k < GHIA; k++) {
            worst[0] = fmax(worst[0], fabs(centreline(cells, c->cells, 0, ghia_y[k]) - c->u[k]));
            if (k != c->skip)
                worst[1] = fmax(worst[1], fabs(centreline(cells, c->cells, 1, ghia_x[k]) - c->v[k]));
        }
        und_cells_destroy(cells);
        for (int k = 0; k < 2; k++) {
            snprintf(what[k], sizeof what[k], "largest error of %s, Re %d, %d cells", k ? "v" : "u", c->re,
                     c->cells);
            case_report(sink, (case_result){what[k], worst[k], 0, c->tolerance, GHIA82});
        }
    }
    return UND_OK;
}

static const double PRESSED_DEPTH = 0.6, PRESSED_STEP = 0.002; /* m, s */

/* Five steps of a tilted tank with an obstacle by both pressure methods, to the same epsilon. */
static und_status pressed_by(und_pressure_rule rule, double epsilon, und_cells **out, und_error *err)
{
    enum { N = 32 };
    und_cells_def def = case_cells_tank(N, N, 1.0 / N);
    und_shape *box = case_cells_box(0.3, 0.2, 1, err);
    und_solid_def solid = {.shape = box};
    def.n[2] = 8;
    def.solids = &solid;
    def.solid_count = 1;
    def.has_level = true;
    def.level.number = PRESSED_DEPTH;
    def.gravity[0] = 3;
    def.pressure_rule = rule;
    def.epsilon = epsilon;
    def.max_sweeps = 100000;
    *out = box ? und_cells_create(&def, err) : NULL;
    for (int i = 0; *out && i < 5; i++)
        und_cells_step(*out, PRESSED_STEP);
    und_shape_destroy(box);
    return *out ? UND_OK : err->status;
}

/* Each leaves a divergence of up to epsilon.  Under a depth H that is a pressure of up to
 * epsilon rho H^2 / (2 dt), as much as a source of epsilon in all of the liquid makes at the floor; of both
 * together p dt / (rho H^2) is below epsilon. */
und_status case_same_pressure(case_sink *sink, und_error *err)
{
    enum { N = 32, NZ = 8 };
    static const double epsilons[] = {1e-4, 1e-7};
    for (int i = 0; i < 2; i++) {
        und_cells *a = NULL, *b = NULL;
        double speed = 0, pressure = 0;
        char what[2][64];
        if (pressed_by(UND_PRESSURE_MULTIGRID, epsilons[i], &a, err) ||
            pressed_by(UND_PRESSURE_RELAX, epsilons[i], &b, err)) {
            und_cells_destroy(a);
            return err->status;
        }
        for (int z = 0; z < NZ; z++)
            for (int y = 0; y < N; y++)
                for (int x = 0; x < N; x++) {
                    for (int k = 0; k < 3; k++)
                        speed = fmax(speed, fabs(und_cells_velocity(a, k, x, y, z) -
                                                 und_cells_velocity(b, k, x, y, z)));
                    pressure =
                        fmax(pressure, fabs(und_cells_pressure(a, x, y, z) - und_cells_pressure(b, x, y, z)));
                }
        und_cells_destroy(a);
        und_cells_destroy(b);
        snprintf(what[0], sizeof what[0], "multigrid against relaxation, u, epsilon %g", epsilons[i]);
        snprintf(what[1], sizeof what[1], "the same, p dt / (rho H^2), 1/s, epsilon %g", epsilons[i]);
        case_report(sink, (case_result){what[0], speed, 0, epsilons[i], FM96 ", eqs 5 to 9"});
        pressure *= PRESSED_STEP / (1000 * PRESSED_DEPTH * PRESSED_DEPTH);
        case_report(sink, (case_result){what[1], pressure, 0, epsilons[i], FM96 ", eqs 5 to 9"});
    }
    return UND_OK;
}
