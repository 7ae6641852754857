/* What is seen of liquid that markers and chains follow: as much as there is, in every frame, and smooth. */
#include "liquid/cells.h"
#include "validate/cells.h"

#include "geom/shape.h"
#include "render/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* m3 inside closed triangles. */
static double enclosed_by_mesh(const und_frame *frame)
{
    size_t count = 0;
    const float *p = und_frame_points(frame, "liquid/mesh_position", &count);
    double sum = 0;
    for (size_t i = 0; p && i + 2 < count; i += 3) {
        double v[3][3];
        for (size_t k = 0; k < 9; k++)
            v[k / 3][k % 3] = (double)p[3 * i + k];
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            sum += v[0][a] * (v[1][b] * v[2][c] - v[1][c] * v[2][b]) / 6;
        }
    }
    return sum;
}

/* m2 of the body of a plot, inside the domain. */
static double area_of_body(const und_plot_data *d)
{
    enum { FINE = 4 }; /* looks along each side of a square of the lattice */
    und_plot_body b = und_plot_body_make(d);
    double looks = 0;
    for (int j = 0; b.inside && j < FINE * (b.ny - 1); j++)
        for (int i = 0; i < FINE * (b.nx - 1); i++) {
            double u = (i + 0.5) / FINE, v = (j + 0.5) / FINE, s = u - i / FINE, t = v - j / FINE;
            double x = b.x0 + u * b.hx - d->x0, y = b.y0 + v * b.hy - d->y0;
            const float *at = b.inside + (size_t)(j / FINE) * (size_t)b.nx + (size_t)(i / FINE);
            double inside = (1 - t) * ((1 - s) * (double)at[0] + s * (double)at[1]) +
                            t * ((1 - s) * (double)at[b.nx] + s * (double)at[b.nx + 1]);
            looks += inside > 0 && x > 0 && y > 0 && x < d->nx * d->dx && y < d->ny * d->dy;
        }
    free(b.inside);
    return looks * b.hx * b.hy / (FINE * FINE);
}

/* m2 that chains go around. */
static double area_of_chains(const und_plot_data *d)
{
    double sum = 0;
    for (size_t c = 0; c < d->chains; c++)
        for (int32_t i = d->first[c], last = d->first[c + 1] - 1; i < d->first[c + 1]; last = i++)
            sum += (double)d->chain[3 * last] * (double)d->chain[3 * i + 1] -
                   (double)d->chain[3 * i] * (double)d->chain[3 * last + 1];
    return fabs(sum) / 2;
}

/* m3 that a frame shows. */
static und_status shown_by(und_cells *cells, const und_cells_def *def, double *volume, und_error *err)
{
    und_liquid *liquid = und_cells_liquid(cells);
    und_frame frame = und_frame_empty(0, 0, und_cells_grid(def));
    und_plot_data plot;
    und_status status = liquid->class->frame(liquid, &frame, err);
    if (status == UND_OK && def->n[2] > 1)
        *volume = enclosed_by_mesh(&frame);
    else if (status == UND_OK)
        *volume = !und_stage_plot_read(&frame, &plot)
                      ? NAN
                      : def->cell[2] * (plot.chain ? area_of_chains(&plot) : area_of_body(&plot));
    und_frame_clear(&frame);
    return status;
}

typedef struct scene {
    const char *name;
    und_track track;
    int n[3];
    double dx, level;
    und_shape fill; /* what stands, or falls, besides */
    double throw;   /* m/s, its velocity downwards */
    double pour;    /* m/s, of an inflow high on the left side; 0: none */
    double until;   /* s */
} scene;

/* The most by which what is shown is off what there should be, of that; from the tenth frame on where it
 * pours. */
static und_status off_by(const scene *s, double *most, und_error *err)
{
    const double frame = 1.0 / 48;
    und_cells_def def = case_cells_tank(s->n[0], s->n[1], s->dx);
    const und_shape mouth = {
        .kind = UND_BOX, .center = {0, 0.75 * s->n[1] * s->dx, 0}, .half = {s->dx, 2 * s->dx, 1}};
    und_gate_def gate = {.side = 0, .shape = &mouth, .end = 0.6 * s->until};
    const und_fill_def fill = {.shape = &s->fill, .velocity = {{0}, {.number = -s->throw}, {0}}};
    gate.wall.kind = UND_WALL_INFLOW;
    gate.wall.velocity[0].number = s->pour;
    def.gates = &gate;
    def.gate_count = s->pour > 0 ? 1 : 0;
    def.n[2] = s->n[2];
    def.track = s->track;
    def.has_level = s->level > 0;
    def.level.number = s->level;
    def.fills = &fill;
    def.fill_count = s->pour > 0 ? 0 : 1;
    und_cells *cells = und_cells_create(&def, err);
    und_status status = cells ? UND_OK : err->status;
    for (int i = 1; status == UND_OK && i <= s->until / frame; i++) {
        double volume = 0;
        und_cells_step(cells, frame);
        status = i > 9 || !(s->pour > 0) ? shown_by(cells, &def, &volume, err) : UND_OK;
        und_ledger l = und_cells_ledger(cells);
        double there = l.start + l.sources - l.left;
        if (i > 9 || !(s->pour > 0))
            *most = !(fabs(volume / there - 1) <= *most) ? fabs(volume / there - 1) : *most;
    }
    und_cells_destroy(cells);
    return status;
}

und_status case_cells_shown(case_sink *sink, und_error *err)
{
    const und_shape disc = {.kind = UND_SPHERE, .center = {0.31, 0.5, 0.01}, .radius = 0.07};
    const und_shape ball = {.kind = UND_SPHERE, .center = {0.25, 0.35, 0.2}, .radius = 0.09};
    const und_shape dam = {.kind = UND_BOX, .center = {0.17, 0.15, 0.5}, .half = {0.17, 0.2, 1}};
    const scene list[] = {
        {"drop in two dimensions", UND_TRACK_MARKERS, {30, 40, 1}, 0.02, 0.16, disc, 1.5, 0, 1},
        {"the same, coarse", UND_TRACK_MARKERS, {15, 20, 1}, 0.04, 0.16, disc, 1.5, 0, 1},
        {"the same, chains", UND_TRACK_CHAINS, {30, 40, 1}, 0.02, 0.16, disc, 1.5, 0, 1},
        {"dam in two dimensions", UND_TRACK_MARKERS, {50, 30, 1}, 0.02, 0, dam, 0, 0, 1},
        {"jet", UND_TRACK_MARKERS, {30, 40, 1}, 0.02, 0, disc, 0, 0.8, 2},
        {"the same, coarse", UND_TRACK_MARKERS, {15, 20, 1}, 0.04, 0, disc, 0, 0.8, 2},
        {"drop", UND_TRACK_MARKERS, {20, 20, 16}, 0.025, 0.12, ball, 1.5, 0, 0.6},
        {"dam", UND_TRACK_MARKERS, {30, 18, 10}, 0.03, 0, dam, 0, 0, 1},
        {"the same, coarse", UND_TRACK_MARKERS, {15, 9, 5}, 0.06, 0, dam, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double most = 0;
        char what[80];
        if (off_by(&list[i], &most, err) != UND_OK)
            return err->status;
        snprintf(what, sizeof what, "volume shown, off that of the ledger at most, %s", list[i].name);
        case_report(sink, (case_result){what, most, 0, 0.01, "start + sources - left"});
    }
    return UND_OK;
}

/* By how much the normals of a skin's upper side are tilted, degrees, on average. */
static und_status tilt_of(und_cells *cells, const und_cells_def *def, double *tilt, und_error *err)
{
    und_liquid *liquid = und_cells_liquid(cells);
    und_frame frame = und_frame_empty(0, 0, und_cells_grid(def));
    und_status status = liquid->class->frame(liquid, &frame, err);
    size_t count = 0, up = 0;
    const float *normal = und_frame_points(&frame, "liquid/mesh_normal", &count);
    double sum = 0;
    for (size_t i = 0; normal && i < count; i++)
        if (normal[3 * i + 1] > 0.5F) {
            double across = hypot((double)normal[3 * i], (double)normal[3 * i + 2]);
            sum += atan2(across, (double)normal[3 * i + 1]) * 180 / M_PI;
            up++;
        }
    *tilt = up > 0 ? sum / (double)up : NAN;
    und_frame_clear(&frame);
    return status;
}

static double leaning(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 0.15 + 0.15 * (x - 0.24);
}

und_status case_cells_normals(case_sink *sink, und_error *err)
{
    static const double levels[] = {0.1203, 0.1267, 0.1341, 0};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        und_cells_def def = case_cells_tank(24, 12, 0.02);
        double tilt = NAN;
        char what[80];
        bool swings = !(levels[i] > 0);
        def.n[2] = 8;
        def.has_level = true;
        def.level.number = levels[i];
        def.level.fn = swings ? leaning : NULL;
        def.viscosity = swings ? 0.03 : def.viscosity;
        und_cells *cells = und_cells_create(&def, err);
        if (!cells)
            return err->status;
        case_cells_run(cells, swings ? 4 : 0, 0.05);
        und_status status = tilt_of(cells, &def, &tilt, err);
        und_cells_destroy(cells);
        if (status != UND_OK)
            return status;
        if (swings)
            snprintf(what, sizeof what, "the same, after it swung");
        else
            snprintf(what, sizeof what, "tilt of the skin's normals, degrees, level %g", levels[i]);
        case_report(sink, (case_result){what, tilt, 0, 1, "flat"});
    }
    return UND_OK;
}
