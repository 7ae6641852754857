/* A frame's cells in two dimensions, checked, and the scales they are drawn with. */
#include "stage/plot_data.h"
#include "base/maths.h"
#include "grid/frame.h"

#include <math.h>

/* The data of an item of so many values; NULL where there is none such. */
static const void *find_values(const und_frame *frame, const char *name, und_type type, size_t count)
{
    const und_item *item = und_frame_find(frame, name);
    return item && item->type == type && item->data && und_item_count(item) == count ? item->data : NULL;
}

/* [count][3] floats. */
static const float *find_places(const und_frame *frame, const char *name, size_t *count)
{
    const und_item *item = und_frame_find(frame, name);
    if (!item || item->type != UND_F32 || !item->data || item->rank != 2 || item->dim[1] != 3)
        return NULL;
    *count = item->dim[0];
    return item->data;
}

static void find_chains(const und_frame *frame, und_plot_data *d)
{
    const und_item *item = und_frame_find(frame, "chain/first");
    size_t links = 0;
    const float *place = find_places(frame, "chain/position", &links);
    if (!place || !item || item->type != UND_I32 || !item->data || item->rank != 1 || item->dim[0] < 2)
        return;
    const int32_t *first = item->data;
    size_t chains = item->dim[0] - 1;
    for (size_t k = 0; k < chains; k++)
        if (first[k] < 0 || first[k + 1] < first[k])
            return;
    if (first[0] != 0 || (size_t)first[chains] > links)
        return;
    d->chain = place;
    d->first = first;
    d->chains = chains;
}

bool und_stage_plot_read(const und_frame *frame, und_plot_data *d)
{
    const und_grid *g = &frame->grid;
    double dx = g->dx, dy = und_grid_size(g, 1);
    *d = (und_plot_data){.nx = g->n[0], .ny = g->n[1], .dx = dx, .dy = dy};
    bool sane = g->n[2] == 1 && d->nx >= 1 && d->ny >= 1 && d->nx <= 65536 && d->ny <= 65536 && dx > 0 &&
                dy > 0 && isfinite(dx) && isfinite(dy) && fabs(g->origin[0]) < 1e12 &&
                fabs(g->origin[1]) < 1e12;
    if (!sane)
        return false;
    size_t nx = (size_t)d->nx, ny = (size_t)d->ny;
    d->label = find_values(frame, "label", UND_U8, nx * ny);
    if (!d->label)
        return false;
    d->x0 = g->origin[0];
    d->y0 = g->origin[1];
    d->time = isfinite(frame->time) ? frame->time : 0;
    d->pressure = find_values(frame, "pressure", UND_F32, nx * ny);
    d->u = find_values(frame, "velocity_x", UND_F32, (nx + 1) * ny);
    d->v = find_values(frame, "velocity_y", UND_F32, nx * (ny + 1));
    if (!d->u || !d->v)
        d->u = d->v = NULL;
    d->marker = find_places(frame, "markers/position", &d->markers);
    d->share = d->marker ? find_values(frame, "markers/share", UND_F32, d->markers) : NULL;
    find_chains(frame, d);
    if (!und_rigid_find(frame, &d->bodies))
        d->bodies = (und_rigid){0};
    return true;
}

void und_stage_plot_velocity(const und_plot_data *d, int i, int j, double out[2])
{
    size_t nx = (size_t)d->nx, c = (size_t)j * nx + (size_t)i, f = (size_t)j * (nx + 1) + (size_t)i;
    out[0] = 0.5 * ((double)d->u[f] + (double)d->u[f + 1]);
    out[1] = 0.5 * ((double)d->v[c] + (double)d->v[c + nx]);
    if (!(fabs(out[0]) < 1e9 && fabs(out[1]) < 1e9))
        out[0] = out[1] = 0;
}

/* A short number, at least x. */
static double round_up(double x)
{
    double ten = und_pow(10, floor(und_log10(x)));
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        if (x <= steps[k] * ten * (1 + 1e-9))
            return steps[k] * ten;
    return 10 * ten;
}

/* Grows at once; shrinks where three quarters of the room stand empty. */
static double follow(double scale, double largest)
{
    if (!(largest > 1e-12))
        return scale;
    return largest > scale || largest < 0.25 * scale ? round_up(largest) : scale;
}

/* The speed that all but a few of the wet cells stay below: a single drop must not make all other arrows
 * short. */
static double common_speed(const und_plot_data *d)
{
    enum { BINS = 512 };
    double largest = 0, v[2];
    long bin[BINS] = {0}, wet = 0, below = 0;
    for (int pass = 0; pass < 2 && d->u; pass++)
        for (int j = 0; j < d->ny; j++)
            for (int i = 0; i < d->nx; i++) {
                if (!und_plot_wet(d, i, j))
                    continue;
                und_stage_plot_velocity(d, i, j, v);
                double speed = und_hypot(v[0], v[1]);
                if (pass == 0) {
                    largest = fmax(largest, speed);
                    wet++;
                } else if (largest > 0) {
                    bin[(int)fmin(speed / largest * BINS, BINS - 1)]++;
                }
            }
    int k = 0;
    while (k < BINS - 1 && below + bin[k] < wet - wet / 40)
        below += bin[k++];
    return largest * (k + 1) / BINS;
}

void und_stage_plot_observe(und_plot_scale *scale, const und_plot_data *d)
{
    double low = 0, high = 0;
    for (int j = 0; j < d->ny; j++)
        for (int i = 0; i < d->nx; i++) {
            if (!und_plot_wet(d, i, j))
                continue;
            double p = d->pressure ? (double)d->pressure[(size_t)j * (size_t)d->nx + (size_t)i] : 0;
            if (fabs(p) < 1e15) {
                low = fmin(low, p);
                high = fmax(high, p);
            }
        }
    scale->speed = follow(scale->speed, common_speed(d));
    scale->pressure = follow(scale->pressure, high);
    /* A little suction under a splash is drawn as none. */
    scale->suction = -low > 0.1 * scale->pressure ? -follow(-scale->suction, -low) : 0;
}
