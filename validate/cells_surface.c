/* Free surfaces of the cells: falls, jets, a dam that breaks, sloshing and waves that are made. */
#include "validate/cells.h"
#include "validate/dam.h"

#include "geom/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81

/* What the markers between low and high along an axis span along the other. */
typedef struct extent {
    double least, most, mean;
    int count;
} extent;

static extent look(const und_cells *cells, int axis, double low, double high)
{
    extent e = {INFINITY, -INFINITY, 0, 0};
    for (int i = 0; i < und_cells_marker_count(cells); i++) {
        double at[3];
        und_cells_marker(cells, i, at);
        if (!(at[axis] >= low && at[axis] < high))
            continue;
        double other = at[1 - axis];
        e.least = fmin(e.least, other);
        e.most = fmax(e.most, other);
        e.mean += (other - e.mean) / ++e.count;
    }
    return e;
}

/* A disc of liquid that falls for 0.4 s. */
und_status case_falling_drop(case_sink *sink, und_error *err)
{
    static const char *const source = "y = y0 - g t^2 / 2";
    const double dx = 0.02, until = 0.4, sideways = 0.3;
    und_cells_def def = case_cells_tank(40, 60, dx);
    und_shape *disc =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {0.3, 1.0, dx / 2}, .radius = 0.1}, err);
    und_fill_def fill = {.shape = disc};
    fill.velocity[0].number = sideways;
    def.fills = &fill;
    def.fill_count = 1;
    def.max_step = 0.002;
    def.keep_volume = false; /* a drop that crosses cells is not always as many of them */
    und_cells *cells = disc ? und_cells_create(&def, err) : NULL;
    if (!cells) {
        und_shape_destroy(disc);
        return err->status;
    }
    int count = und_cells_marker_count(cells);
    case_cells_run(cells, until, until);
    double uneven = 0;
    for (int y = 0; y < def.n[1]; y++)
        for (int x = 1; x < def.n[0]; x++)
            if (und_cells_label(cells, x, y, 0) != UND_CELL_EMPTY &&
                und_cells_label(cells, x - 1, y, 0) != UND_CELL_EMPTY)
                uneven = fmax(uneven, fabs(und_cells_velocity(cells, 0, x, y, 0) - sideways));
    extent tall = look(cells, 0, -1, 9), wide = look(cells, 1, -1, 9);
    case_report(sink, (case_result){"height of the middle, m", tall.mean, 1 - G * until * until / 2,
                                    G * until * def.max_step / 2 + 0.1 * dx, source});
    case_report(sink,
                (case_result){"x of the middle, m", wide.mean, 0.3 + sideways * until, 0.1 * dx, source});
    case_report(sink, (case_result){"unevenness of u, m/s", uneven, 0, 1e-6, source});
    case_report(sink, (case_result){"height less width of the disc, m", tall.most - tall.least,
                                    wide.most - wide.least, dx, source});
    case_report(sink, (case_result){"markers left of all", (double)und_cells_marker_count(cells) / count, 1,
                                    0, source});
    und_cells_destroy(cells);
    und_shape_destroy(disc);
    return UND_OK;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median height of the markers between low and high along x: drops that left the jet do not count. */
static double middle_of(const und_cells *cells, double low, double high, double *scratch)
{
    int count = 0;
    for (int i = 0; i < und_cells_marker_count(cells); i++) {
        double at[3];
        und_cells_marker(cells, i, at);
        if (at[0] >= low && at[0] < high)
            scratch[count++] = at[1];
    }
    qsort(scratch, (size_t)count, sizeof *scratch, by_size);
    return count ? scratch[count / 2] : NAN;
}

/* A jet comes in through a slot of the left side. */
typedef struct jet {
    double speed, slant; /* m/s; degrees from the level, up */
    int slot, from, to;  /* cells: its mouth, and where along x it is looked at */
    int below, above;    /* cells below and above the mouth */
    int deep;            /* cells along z; the mouth is as wide as high, in the middle */
} jet;

static double up_of(const jet *j)
{
    return j->speed * sin(j->slant * M_PI / 180);
}
static double along_of(const jet *j)
{
    return j->speed * cos(j->slant * M_PI / 180);
}

/* How far the jet's middle, averaged over the time that liquid needs to come through, is off the parabola
 * that begins at (0, y); the mean along its length, m. */
static double mean_offset(und_cells *cells, const jet *j, double dx, double y)
{
    enum { LOOKS = 10, BINS = 128 };
    double sum[BINS] = {0}, mean = 0, along = along_of(j), through = j->to * dx / along;
    for (int k = 1; k <= LOOKS; k++) {
        case_cells_run(cells, (1 + 0.1 * k) * through, 0.02);
        double *scratch = calloc((size_t)und_cells_marker_count(cells) + 1, sizeof *scratch);
        for (int i = j->from; scratch && i < j->to; i++)
            sum[i] += middle_of(cells, (i - 0.5) * dx, (i + 0.5) * dx, scratch) / LOOKS;
        free(scratch);
    }
    for (int i = j->from; i < j->to; i++) {
        double t = i * dx / along;
        mean += fabs(sum[i] - (y + up_of(j) * t - G * t * t / 2)) / (j->to - j->from);
    }
    return mean;
}

static const double JET_CELL = 0.0125; /* m */

static double mouth_of(const jet *j)
{
    return (j->below + 0.5 * j->slot) * JET_CELL;
}

/* What it comes in by has to stay as long as the cells. */
typedef struct jet_run {
    und_shape mouth;
    und_gate_def gate;
    und_cells *cells;
} jet_run;

static und_status open_jet(jet_run *run, const jet *j, double gravity, und_error *err)
{
    const double dx = JET_CELL, half = 0.5 * j->slot * dx;
    und_cells_def def = case_cells_tank(j->to + 8, j->below + j->slot + j->above, dx);
    run->mouth = (und_shape){.kind = UND_BOX,
                             .center = {0, mouth_of(j), 0.5 * j->deep * dx},
                             .half = {dx, half, j->deep > 1 ? half : 1}};
    run->gate = (und_gate_def){.side = 0, .shape = &run->mouth, .end = INFINITY};
    run->gate.wall.kind = UND_WALL_INFLOW;
    run->gate.wall.velocity[0].number = along_of(j);
    run->gate.wall.velocity[1].number = up_of(j);
    def.n[2] = j->deep;
    def.gravity[1] = -gravity;
    def.gates = &run->gate;
    def.gate_count = 1;
    def.wall[1].kind = def.wall[2].kind = UND_WALL_OUTFLOW;
    run->cells = und_cells_create(&def, err);
    return run->cells ? UND_OK : err->status;
}

/* A jet's middle goes along a parabola. */
static und_status fly(case_sink *sink, const jet *j, und_error *err)
{
    jet_run run;
    if (open_jet(&run, j, G, err) != UND_OK)
        return err->status;
    double mean = mean_offset(run.cells, j, JET_CELL, mouth_of(j)) / JET_CELL;
    und_cells_destroy(run.cells);
    char what[96];
    snprintf(what, sizeof what, "middle off the parabola on average, cells, %g m/s, %g degrees%s", j->speed,
             j->slant, j->deep > 1 ? ", in space" : "");
    case_report(sink, (case_result){what, mean, 0, 1, "y = y0 + x tan a - g x^2 / (2 (U cos a)^2)"});
    return UND_OK;
}

/* What came in first has the inflow's velocity too: without gravity it is where all that follows will be. */
static und_status look_at_front(case_sink *sink, const jet *j, und_error *err)
{
    jet_run run;
    if (open_jet(&run, j, 0, err) != UND_OK)
        return err->status;
    double until = j->to * JET_CELL / along_of(j);
    case_cells_run(run.cells, until, until / 100);
    extent front = look(run.cells, 0, (j->to - 3) * JET_CELL, (j->to - 1) * JET_CELL);
    und_cells_destroy(run.cells);
    double line = mouth_of(j) + (j->to - 2) * JET_CELL * tan(j->slant * M_PI / 180);
    char what[96];
    snprintf(what, sizeof what, "front off its line without gravity, cells, %g degrees", j->slant);
    case_report(sink, (case_result){what, (front.mean - line) / JET_CELL, 0, 0.2, "y = y0 + x tan a"});
    return UND_OK;
}

und_status case_jet(case_sink *sink, und_error *err)
{
    static const jet list[] = {
        {3, 0, 4, 4, 64, 44, 4, 1},    {1.5, 0, 4, 4, 32, 44, 4, 1},  {2, 0, 6, 10, 20, 20, 4, 1},
        {2, 20, 6, 10, 20, 16, 12, 1}, {2, 37, 6, 10, 20, 12, 16, 1}, {2, 60, 6, 10, 20, 8, 24, 1},
        {2, -37, 6, 10, 20, 40, 6, 1}, {2, 37, 6, 10, 20, 8, 14, 14},
    };
    static const jet fronts[] = {{2, 37, 6, 0, 16, 4, 20, 1}, {2, -37, 6, 0, 16, 20, 4, 1}};
    und_status status = UND_OK;
    for (size_t i = 0; status == UND_OK && i < sizeof list / sizeof *list; i++)
        status = fly(sink, &list[i], err);
    for (size_t i = 0; status == UND_OK && i < sizeof fronts / sizeof *fronts; i++)
        status = look_at_front(sink, &fronts[i], err);
    return status;
}

static und_status break_dam(int cells_per_width, case_dam *d, und_error *err)
{
    const double a = CASE_DAM_WIDTH, dx = a / cells_per_width, end = CASE_DAM_END;
    und_cells_def def = case_cells_tank(8 * cells_per_width, 3 * cells_per_width, dx);
    und_shape *column = case_cells_box(a, 2 * a, dx, err);
    und_fill_def fill = {.shape = column};
    def.fills = &fill;
    def.fill_count = 1;
    und_cells *cells = column ? und_cells_create(&def, err) : NULL;
    for (int i = 0; cells && i < CASE_DAM_SAMPLES; i++) {
        d->time[i] = und_cells_time(cells);
        d->front[i] = look(cells, 1, 0, 2 * dx).most / a;
        d->height[i] = look(cells, 0, 0, dx).most / (2 * a);
        und_cells_step(cells, end / CASE_DAM_SAMPLES);
    }
    und_status status = cells ? UND_OK : err->status;
    und_cells_destroy(cells);
    und_shape_destroy(column);
    return status;
}

und_status case_dam_break(case_sink *sink, und_error *err)
{
    case_dam d;
    und_status status = break_dam(16, &d, err);
    if (status == UND_OK)
        case_report_dam(sink, &d);
    return status;
}

/* Surface of a mode of a tank. */
typedef struct tilt {
    double depth, amplitude, k;
} tilt;

static double tilted(const void *context, double x, double y, double z, double t)
{
    const tilt *m = context;
    (void)y;
    (void)z;
    (void)t;
    return m->depth + m->amplitude * cos(m->k * x);
}

/* How much of the mode there is in the surface, m: in the heights, or in how many markers stand where. */
static double mode_of(const und_cells *cells, const und_cells_def *def, int mode)
{
    double sum = 0, length = def->n[0] * def->cell[0];
    if (def->track == UND_TRACK_HEIGHT) {
        for (int x = 0; x < def->n[0]; x++)
            sum += und_cells_height(cells, x, 0) * cos(M_PI * mode * (x + 0.5) / def->n[0]);
        return 2 * sum / def->n[0];
    }
    for (int i = 0; i < und_cells_marker_count(cells); i++) {
        double at[3];
        und_cells_marker(cells, i, at);
        sum += cos(M_PI * mode * at[0] / length);
    }
    return 2 * sum * def->cell[1] / (def->markers_per_cell * (double)def->n[0]);
}

/* The period from where the mode's amplitude goes up through 0, s; what is left of it after `periods`. */
static und_status slosh(und_cells_def def, int mode, double guess, int periods, double *period, double *left,
                        und_error *err)
{
    const int per_period = 200;
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    double first = NAN, last = NAN, before = mode_of(cells, &def, mode), start = before, most = 0;
    int crossings = 0;
    for (int i = 1; i <= (periods + 1) * per_period && crossings <= periods; i++) {
        und_cells_step(cells, guess / per_period);
        double now = mode_of(cells, &def, mode), t = und_cells_time(cells);
        if (before < 0 && now >= 0) {
            last = t - guess / per_period * now / (now - before);
            first = crossings++ == 0 ? last : first;
        }
        if (crossings == periods)
            most = fmax(most, now);
        before = now;
    }
    und_cells_destroy(cells);
    *period = (last - first) / (crossings - 1);
    *left = most / start;
    return UND_OK;
}

und_status case_sloshing(case_sink *sink, und_error *err)
{
    static const struct {
        double depth, amplitude, tolerance;
        int mode;
        und_track track;
        const char *what;
    } runs[] = {{0.5, 0.005, 0.01, 1, UND_TRACK_HEIGHT, "first mode, depth 0.5 m, height"},
                {0.5, 0.005, 0.01, 2, UND_TRACK_HEIGHT, "second mode, depth 0.5 m, height"},
                {0.1, 0.001, 0.01, 1, UND_TRACK_HEIGHT, "first mode, depth 0.1 m, height"},
                {0.5, 0.05, 0.05, 1, UND_TRACK_MARKERS, "first mode, depth 0.5 m, markers"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const int n = 50;
        double k = M_PI * runs[i].mode, omega = sqrt(G * k * tanh(k * runs[i].depth)), period = 0, left = 0;
        und_cells_def def = case_cells_tank(n, (int)((runs[i].depth + 0.2) * n), 1.0 / n);
        tilt start = {runs[i].depth, runs[i].amplitude, k};
        def.track = runs[i].track;
        def.markers_per_cell = 25;
        def.has_level = true;
        def.level = (und_value){.fn = tilted, .context = &start};
        bool markers = runs[i].track == UND_TRACK_MARKERS;
        und_status status = slosh(def, runs[i].mode, 2 * M_PI / omega, markers ? 3 : 8, &period, &left, err);
        if (status != UND_OK)
            return status;
        char what[2][80];
        snprintf(what[0], sizeof what[0], "period, s, %s", runs[i].what);
        snprintf(what[1], sizeof what[1], "amplitude left, %s", runs[i].what);
        case_report(sink, (case_result){what[0], period, 2 * M_PI / omega,
                                        runs[i].tolerance * 2 * M_PI / omega, "w^2 = g k tanh(k h)"});
        if (!markers)
            case_report(sink, (case_result){what[1], left, 1, 0.3, "w^2 = g k tanh(k h)"});
    }
    return UND_OK;
}

/* The amplitude of the waves on a tank, on average over it and over a period: of waves that run, or run to
 * and fro. */
static double mean_amplitude(und_cells *cells, int nx, double level, double period)
{
    enum { LOOKS = 12 };
    double square = 0;
    for (int i = 0; i < LOOKS; i++) {
        und_cells_step(cells, period / LOOKS);
        for (int x = 0; x < nx; x++)
            square += 2 * pow(und_cells_height(cells, x, 0) - level, 2) / (LOOKS * nx);
    }
    return sqrt(square);
}

/* A travelling pattern of pressure makes waves of the amplitude asked for, and they stay so. */
und_status case_wave_maker(case_sink *sink, und_error *err)
{
    static const struct {
        double wavelength, depth, amplitude, time;
        int per_wave, waves;
        double faster; /* the pattern, than free waves */
    } list[] = {{4, 0.8, 0.05, 1, 32, 2, 1},   {4, 0.8, 0.05, 1, 16, 2, 1},  {4, 0.8, 0.05, 1, 64, 2, 1},
                {4, 0.8, 0.05, 1, 32, 2, 1.1}, {2, 0.5, 0.02, 2, 64, 2, 1},  {2, 0.5, 0.02, 2, 32, 2, 1},
                {2, 0.5, 0.02, 2, 32, 2, 0.8}, {1, 0.5, 0.02, 10, 32, 3, 1}, {0.6, 0.6, 0.008, 1.5, 48, 4, 1},
                {10, 0.5, 0.05, 4, 64, 1, 1},  {6, 0.6, 0.03, 4, 48, 2, 1},  {6, 0.6, 0.03, 4, 24, 2, 1}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        enum { TIMES = 5 };
        double dx = list[i].wavelength / list[i].per_wave, c = 2 * M_PI / list[i].wavelength, far = 0;
        double omega = list[i].faster * sqrt(G * c * tanh(c * list[i].depth));
        double period = 2 * M_PI / omega, level = list[i].depth;
        int nx = list[i].per_wave * list[i].waves;
        und_cells_def def = case_cells_tank(nx, (int)((level + 4 * list[i].amplitude) / dx) + 2, dx);
        und_wave_maker maker = {.amplitude = list[i].amplitude,
                                .wavelength = list[i].wavelength,
                                .depth = level,
                                .frequency = omega,
                                .time = list[i].time,
                                .end = INFINITY};
        def.track = UND_TRACK_HEIGHT;
        def.has_level = true;
        def.level.number = level;
        def.makers = &maker;
        def.maker_count = 1;
        und_cells *cells = und_cells_create(&def, err);
        if (!cells)
            return err->status;
        for (int k = 1; k <= TIMES; k++) {
            case_cells_run(cells, k * fmax(maker.time, period), 0.05);
            double now = mean_amplitude(cells, nx, level, period) / maker.amplitude - 1;
            far = fabs(now) > fabs(far) ? now : far;
        }
        und_cells_destroy(cells);
        char what[96];
        snprintf(what, sizeof what, "amplitude off that asked for, %.3g s, %g deep, %d cells a wave", period,
                 level, list[i].per_wave);
        case_report(sink, (case_result){what, far, 0, 0.15, "as asked"});
    }
    return UND_OK;
}
