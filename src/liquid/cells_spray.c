#include "liquid/cells_spray.h"

#include "base/pages.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

und_cells_spray *und_cells_spray_create(const und_cells_def *def, und_height *height, und_error *err)
{
    und_cells_spray *s = und_alloc(1, sizeof *s, "spray", err);
    if (!s)
        return NULL;
    size_t columns = (size_t)height->stride * (size_t)height->mac.n[2];
    s->height = height;
    s->seed = def->seed;
    if (!(s->top = und_alloc(columns, sizeof *s->top, "spray", err)) ||
        !(s->ground = und_alloc(columns, sizeof *s->ground, "spray", err)) ||
        !(s->spray = und_spray_create(&def->spray, -def->gravity[1], def->seed, def->threads, err)) ||
        (def->foam.on &&
         (!(s->foam = und_foam_create(&def->foam, def->seed, def->threads, err)) ||
          !(s->foam_column = und_pages_alloc(height->count * sizeof *s->foam_column, "foam", err))))) {
        und_cells_spray_destroy(s);
        return NULL;
    }
    s->spray->split = def->split;
    s->film = und_height_film(height);
    s->per[0] = 1 / height->mac.d[0];
    s->per[1] = 1 / height->mac.d[2];
    return s;
}

void und_cells_spray_destroy(und_cells_spray *s)
{
    if (!s)
        return;
    und_spray_destroy(s->spray);
    und_foam_destroy(s->foam);
    und_pages_free(s->foam_column);
    free(s->top);
    free(s->ground);
    free(s);
}

/* Columns around a place whose surface has a velocity, and how much each counts. */
typedef struct around {
    int count;
    size_t at[4];
    double share[4];
} around;

/* (x, z) in columns from the middle of column (0, 0), and the four columns that it lies between: those that
 * are dry, or not there, do not count. */
static around columns_around(const und_height *h, double x, double z)
{
    double low[2] = {floor(x), floor(z)}, sum = 0;
    around a = {0};
    for (int k = 0; k < 4; k++) {
        double cx = low[0] + (k & 1), cz = low[1] + (k >> 1);
        if (!(cx >= 0 && cx < h->mac.n[0] && cz >= 0 && cz < h->mac.n[2]))
            continue;
        size_t at = und_height_at(h, (int)cx, (int)cz);
        double share = (1 - fabs(x - cx)) * (1 - fabs(z - cz));
        if (h->cell[at] < 0 || !(share > 0))
            continue;
        a.at[a.count] = at;
        a.share[a.count++] = share;
        sum += share;
    }
    for (int k = 0; k < a.count; k++)
        a.share[k] /= sum;
    return a;
}

static double mean_of(const around *a, const double *field)
{
    double sum = 0;
    for (int k = 0; k < a->count; k++)
        sum += a->share[k] * field[a->at[k]];
    return sum;
}

static und_splash_patch patch_at(const und_height *h, int x, int z)
{
    und_splash_patch p;
    for (int k = 0; k < 4; k++) {
        around a = columns_around(h, x - 0.5 + (k & 1), z - 0.5 + (k >> 1));
        p.height[k] = mean_of(&a, h->h);
        for (int i = 0; i < 3; i++)
            p.speed[i][k] = mean_of(&a, h->speed[i]);
    }
    return p;
}

static und_splash splash_of(und_cells_spray *s)
{
    const und_mac *m = &s->height->mac;
    return (und_splash){.spray = s->spray,
                        .seed = s->seed,
                        .substep = s->substep,
                        .time = s->time,
                        .dt = s->dt,
                        .floor = {.nx = m->n[0],
                                  .nz = m->n[2],
                                  .stride = s->height->stride,
                                  .dx = m->d[0],
                                  .dz = m->d[2],
                                  .origin = {m->origin[0], m->origin[2]},
                                  .height = s->top,
                                  .ground = s->ground,
                                  .outside = m->origin[1]},
                        .level = s->height->h,
                        .start = -1,
                        .ledger = s->ledger,
                        .lost = s->lost};
}

void und_cells_emit(und_cells_spray *s)
{
    const und_height *h = s->height;
    und_splash splash = splash_of(s);
    for (int z = 0; z < h->mac.n[2]; z++)
        for (int x = 0; x < h->mac.n[0]; x++) {
            size_t at = und_height_at(h, x, z);
            if (h->cell[at] < 0 || !(h->speed[1][at] > s->spray->def.threshold))
                continue;
            und_splash_patch patch = patch_at(h, x, z);
            und_splash_emit(&splash, &patch, x, z, h->ground[at]);
        }
}

static void add_foam(void *context, int drop, int column)
{
    und_cells_spray *s = context;
    const und_height *h = s->height;
    if (s->foam && column >= 0 && h->h[column] - h->ground[column] >= und_height_film(h))
        und_foam_add(s->foam, s->spray->place[0][drop], s->spray->place[2][drop], s->spray->radius[drop]);
}

/* A column as foam sees it: its surface's velocity and height and 1, all of them 0 where it is dry. */
enum { SPEED_X, SPEED_Z, HEIGHT, ONE };
_Static_assert(sizeof(und_foam_column) == 4 * sizeof(double), "four numbers");

static void set_foam_columns(und_cells_spray *s)
{
    const und_height *h = s->height;
    for (int z = 0; z < h->mac.n[2]; z++)
        for (int x = 0; x < h->mac.n[0]; x++) {
            size_t at = und_height_at(h, x, z);
            double wet = h->cell[at] >= 0;
            s->foam_column[at + h->first] =
                wet * (und_foam_column){h->speed[0][at], h->speed[2][at], h->h[at], 1};
        }
}

/* The surface's velocity and height between the four columns around, where there is water. */
static bool surface_at(void *context, double x, double z, double velocity[2], double *height)
{
    const und_cells_spray *s = context;
    const und_height *h = s->height;
    double cx = (x - h->mac.origin[0]) * s->per[0], cz = (z - h->mac.origin[2]) * s->per[1];
    if (!(cx >= 0 && cx < h->mac.n[0] && cz >= 0 && cz < h->mac.n[2]))
        return false;
    size_t at = und_height_at(h, (int)cx, (int)cz);
    /* counted from the middle of the column beside the domain's corner */
    int low_x = (int)(cx + 0.5), low_z = (int)(cz + 0.5);
    double px = cx + 0.5 - low_x, pz = cz + 0.5 - low_z;
    const und_foam_column *c = s->foam_column + und_height_at(h, low_x, low_z), *next = c + h->stride;
    und_foam_column sum = (1 - pz) * ((1 - px) * c[0] + px * c[1]) + pz * ((1 - px) * next[0] + px * next[1]);
    und_foam_column mean = sum[ONE] > 0 ? sum / sum[ONE] : sum;
    velocity[0] = mean[SPEED_X];
    velocity[1] = mean[SPEED_Z];
    *height = sum[ONE] > 0 ? mean[HEIGHT] : h->h[at];
    return h->h[at] - h->ground[at] >= s->film;
}

void und_cells_fly(und_cells_spray *s)
{
    const und_height *h = s->height;
    und_splash splash = splash_of(s);
    for (int z = 0; z < h->mac.n[2] && s->spray->count > 0; z++)
        for (int x = 0; x < h->mac.n[0]; x++) {
            size_t at = und_height_at(h, x, z);
            s->top[at] = (float)h->h[at];
            s->ground[at] = (float)h->ground[at];
        }
    if (s->spray->count > 0)
        und_splash_fly(&splash, add_foam, s);
    if (s->foam && und_foam_count(s->foam) > 0) {
        set_foam_columns(s);
        und_foam_step(s->foam, s->dt, surface_at, s);
    }
}

und_status und_cells_spray_frame(const und_cells_spray *s, und_frame *frame, und_error *err)
{
    und_status status = und_spray_frame(s->spray, frame, err);
    return status == UND_OK && s->foam ? und_foam_frame(s->foam, frame, err) : status;
}

und_status und_cells_spray_save(und_cells_spray *s, und_frame *state, und_error *err)
{
    und_status status = und_spray_save(s->spray, state, err);
    return status == UND_OK && s->foam ? und_foam_save(s->foam, state, err) : status;
}

und_status und_cells_spray_restore(und_cells_spray *s, const und_frame *state, und_error *err)
{
    und_status status = und_spray_restore(s->spray, state, err);
    return status == UND_OK && s->foam ? und_foam_restore(s->foam, state, err) : status;
}
