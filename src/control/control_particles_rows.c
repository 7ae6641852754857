/* Going through the rows of cells and faces that control particles act on. */
#include "base/maths.h"
#include "control/control_particles_state.h"
#include "grid/reduce.h"

static const double FRAME = 1.0 / 24; /* s: what alpha is the way gone in */

float und_control_particle_way(float alpha, double dt)
{
    return alpha < 1 ? (float)(1 - und_pow(1 - (double)alpha, dt / FRAME)) : 1;
}

/* The high faces of a row along an axis that touched cells have. */
static bool face_row(const und_control_particles *g, const control_field *f, int axis, int y, int z,
                     int *begin, int *end)
{
    int b = 0, e = 0;
    *begin = *end = 0;
    bool here = control_row(g, f, y, z, begin, end);
    bool there = axis > 0 && control_row(g, f, y + (axis == 1), z + (axis == 2), &b, &e);
    if (here && axis == 0)
        --*begin;
    if (there) {
        *begin = here && *begin < b ? *begin : b;
        *end = here && *end > e ? *end : e;
    }
    const und_span part = und_mac_part(&g->mac, y, z);
    *begin = *begin > part.begin ? *begin : part.begin;
    *end = *end < part.end ? *end : part.end;
    return (here || there) && *begin < *end;
}

static void face_slice(const control_work *w, control_face_fn *fn, int slice, double *sum)
{
    const und_mac *m = &w->g->mac;
    const bool flat = m->n[2] == 1;
    for (int axis = 0; axis < (flat ? 2 : 3); axis++)
        for (int y = flat ? slice : -1; y < (flat ? slice + 1 : m->n[1]); y++) {
            int z = flat ? 0 : slice, begin, end;
            if (face_row(w->g, w->f, axis, y, z, &begin, &end))
                fn(w, axis, y, z, begin, end, sum);
        }
}

static void cell_slice(const control_work *w, control_cell_fn *fn, int slice, double *sum)
{
    for (int y = w->f->row_low[slice]; y <= w->f->row_high[slice]; y++) {
        int z = w->g->mac.n[2] == 1 ? 0 : slice, begin, end;
        if (control_row(w->g, w->f, y, z, &begin, &end))
            fn(w, y, z, begin, end, sum);
    }
}

/* Of either; each slice has its own sums, that beside the domain as well. */
typedef struct slices_args {
    const control_work *w;
    control_face_fn *faces;
    control_cell_fn *cells;
} slices_args;

static inline void do_slice(const slices_args *a, und_place p)
{
    const int slice = (int)p.at - 1;
    double sum[CONTROL_SUMS] = {0};
    if (a->faces)
        face_slice(a->w, a->faces, slice, sum);
    else if (slice >= 0)
        cell_slice(a->w, a->cells, slice, sum);
    for (int k = 0; k < CONTROL_SUMS; k++)
        a->w->g->sums[CONTROL_SUMS * (slice + 1) + k] = sum[k];
}
UND_KERNEL(do_slice, slices_args, UND_EACH_BLOCK)

static void for_slices(const control_work *w, control_face_fn *faces, control_cell_fn *cells)
{
    const slices_args args = {w, faces, cells};
    und_set slices = und_set_list(w, control_slices(&w->g->mac) + 1, 1, 1);
    slices.worth = CONTROL_WORTH * (size_t)w->f->acting;
    und_pass(&(und_device){.threads = w->g->threads}, do_slice, &args, &slices);
}

void und_control_particle_for_faces(const control_work *w, control_face_fn *fn)
{
    for_slices(w, fn, NULL);
}

void und_control_particle_for_cells(const control_work *w, control_cell_fn *fn)
{
    for_slices(w, NULL, fn);
}

double und_control_particle_sum(const und_control_particles *g, int k)
{
    und_sum_tree slices = und_sum_from((unsigned)g->mac.low[control_axis(&g->mac)]);
    for (int slice = 0; slice <= control_slices(&g->mac); slice++)
        und_sum_add(&slices, g->sums[CONTROL_SUMS * slice + k]);
    return und_sum_end(&slices);
}

double und_control_particle_largest(const und_control_particles *g, int k)
{
    double most = 0;
    for (int slice = 0; slice <= control_slices(&g->mac); slice++)
        most = fmax(most, g->sums[CONTROL_SUMS * slice + k]);
    return most;
}
