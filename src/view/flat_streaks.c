/* Streaks: dust in the liquid, with the way that each grain came. */
#include "base/random.h"
#include "base/status.h"
#include "view/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAINS = 1500, TRAIL = 12 };
static const double LIFE = 1.2;    /* s, about */
static const double LONGEST = 0.2; /* s between frames that a grain goes; more is a jump in time */

/* Places in cells from the low corner, the newest first. */
typedef struct grain {
    float x[TRAIL], y[TRAIL];
    int length; /* of the trail; 0: it is to be put somewhere */
    double age, life;
} grain;

struct und_flat_streaks {
    grain grains[GRAINS];
    uint64_t random;
    double time;
    bool started;
    float segment[GRAINS * (TRAIL - 1)][5]; /* what is drawn: ends in pixels, and how strong */
};

static bool is_wet(const und_flat *f, double x, double y)
{
    return x >= 0 && y >= 0 && x < f->nx && y < f->ny && f->wet[(int)y * f->nx + (int)x];
}

/* Velocity in cells a second, between the middles of wet cells. */
static void velocity_at(const und_flat *f, double x, double y, double v[2])
{
    double u = x - 0.5, w = y - 0.5, weight = 0;
    int i = (int)floor(u), j = (int)floor(w);
    v[0] = v[1] = 0;
    for (int k = 0; k < 4; k++) {
        int a = i + k % 2, b = j + k / 2;
        if (a < 0 || b < 0 || a >= f->nx || b >= f->ny || !f->wet[b * f->nx + a])
            continue;
        double part = (1 - fabs(u - a)) * (1 - fabs(w - b));
        v[0] += part * (double)f->flow[2 * (b * f->nx + a)];
        v[1] += part * (double)f->flow[2 * (b * f->nx + a) + 1];
        weight += part;
    }
    v[0] = weight > 0 ? v[0] / weight / f->dx : 0;
    v[1] = weight > 0 ? v[1] / weight / f->dy : 0;
}

static double next_random(und_flat_streaks *s)
{
    return und_random(7, 1, s->random++);
}

/* Anywhere in the liquid; a few tries, else it waits for the next frame. */
static void put_grain(const und_flat *f, und_flat_streaks *s, grain *g)
{
    g->length = 0;
    for (int tries = 0; tries < 8 && g->length == 0; tries++) {
        double x = next_random(s) * f->nx, y = next_random(s) * f->ny;
        if (!is_wet(f, x, y))
            continue;
        g->x[0] = (float)x;
        g->y[0] = (float)y;
        g->length = 1;
        g->age = 0;
        g->life = LIFE * (0.4 + 1.2 * next_random(s));
    }
}

/* The midpoint rule over dt; false: it left the liquid. */
static bool move_grain(const und_flat *f, grain *g, double dt)
{
    double x = (double)g->x[0], y = (double)g->y[0], v[2];
    velocity_at(f, x, y, v);
    velocity_at(f, x + 0.5 * dt * v[0], y + 0.5 * dt * v[1], v);
    memmove(g->x + 1, g->x, (TRAIL - 1) * sizeof *g->x);
    memmove(g->y + 1, g->y, (TRAIL - 1) * sizeof *g->y);
    g->x[0] = (float)(x + dt * v[0]);
    g->y[0] = (float)(y + dt * v[1]);
    g->length += g->length < TRAIL;
    g->age += dt;
    return g->age < g->life && is_wet(f, (double)g->x[0], (double)g->y[0]);
}

und_status und_flat_streaks_move(und_flat *f, und_error *err)
{
    if (!f->show_streaks || !f->has_flow)
        return UND_OK;
    if (!f->streaks && !(f->streaks = und_alloc(1, sizeof *f->streaks, "streaks", err)))
        return err->status;
    und_flat_streaks *s = f->streaks;
    double dt = f->time - s->time;
    bool jump = !s->started || !(dt >= 0 && dt <= LONGEST);
    s->time = f->time;
    s->started = true;
    for (int i = 0; i < GRAINS && (jump || dt > 0); i++) {
        grain *g = &s->grains[i];
        if (jump || g->length == 0 || !move_grain(f, g, dt))
            put_grain(f, s, g);
        if (jump)
            g->age = next_random(s) * g->life; /* not all end at once */
    }
    return UND_OK;
}

int und_flat_streaks_list(und_flat *f, const und_flat_view *v, const float (**list)[5])
{
    und_flat_streaks *s = f->streaks;
    int count = 0;
    for (int i = 0; s && i < GRAINS; i++) {
        const grain *g = &s->grains[i];
        double fade = fmin(1, fmin(g->age, g->life - g->age) / 0.15);
        for (int k = 0; k + 1 < g->length; k++) {
            float *to = s->segment[count++];
            for (int end = 0; end < 2; end++) {
                double x = (double)g->x[k + end] * f->dx, y = (double)g->y[k + end] * f->dy;
                to[2 * end] = (float)((x - v->middle[0] + v->half[0]) / v->pixel[0]);
                to[2 * end + 1] = (float)((y - v->middle[1] + v->half[1]) / v->pixel[1]);
            }
            to[4] = (float)(fmax(fade, 0) * (1 - (double)k / (TRAIL - 1)));
        }
    }
    *list = s ? (const float(*)[5])s->segment : NULL;
    return count;
}
