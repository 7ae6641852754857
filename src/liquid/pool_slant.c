/* Open edges: what waves that leave at a slant change.
 *
 * A wave that leaves at an angle to the straight way out carries the flow c cos(angle) h through the edge.
 * Taking it for c h (Sommerfeld 1912) sends a third of it back at 60 degrees.  With s = sin(angle) =
 * c k / w, for the wave number k along the edge and the frequency w, the cosine is nearly
 *
 *     sqrt(1 - s^2) = 1 - A s^2 / (1 - B s^2)    (Lindman 1975)
 *
 * so that the flow is c (h - phi), where phi, the slant, is a wave that runs along the edge, driven by h:
 *
 *     phi_tt = c^2 (B phi + A h)_yy
 *
 * With A = 1/2 and B = 0.35 nothing comes back at 0 degrees, 1 % at 60 and 9 % at 75.
 *
 * The step is implicit as the water's own; what drives it is smoothed by the same operator, 1 - ZETA dt^2 c^2
 * d2/dy2: then water and slant are stable together at any dt (a quarter suffices). */
#include "base/status.h"
#include "liquid/pool_state.h"
#include "solve/tridiag_kernel.h"

#include <math.h>

static const float A = 0.5f, B = 0.35f, ZETA = 0.25f;
static const float ROOT_B = 0.591608f; /* sqrt(B) */
/* A sin / (1 - B sin^2) (1 - sqrt(B) sin) at 45 degrees, see corner. */
static const float OUT = 0.249274f;

/* What it was at the start fades while waves cross the water eight times; what it is on average over two
 * crossings is no wave, but a drift or a steady current, and does not count. */
static const float FADES = 0.125f, SETTLES = 0.5f;
/* Of the depth; taller slants are those of waves that break, and of which no theory says anything. */
static const float STEEP = 0.3f;

/* Scratch, each as long as an edge and one cell more. */
enum { FACE, ABOVE, DRIVE, RIGHT, ELIMINATED, ALONG };

static int longest(const und_pool *p)
{
    return p->nx > p->nz ? p->nx : p->nz;
}

static float *part(const und_pool *p, int which)
{
    return p->along + (size_t)which * ((size_t)longest(p) + 1);
}

und_status und_pool_create_slants(und_pool *p, und_error *err)
{
    bool open = false;
    for (int e = 0; e < UND_EDGES; e++)
        open |= p->def->edge[e].kind == UND_EDGE_OPEN;
    if (!open)
        return UND_OK;
    size_t cells = 2 * (size_t)(p->nx + p->nz);
    p->slant_count = 3 * cells + UND_EDGES;
    p->slant = und_alloc(p->slant_count, sizeof *p->slant, "edge", err);
    p->along = und_alloc(ALONG * ((size_t)longest(p) + 1), sizeof *p->along, "edge", err);
    if (!p->slant || !p->along)
        return err->status;
    float *next = p->slant;
    for (int e = 0; e < UND_EDGES; e++) {
        p->edge[e].slant = next;
        p->edge[e].slant_rate = next + cells;
        p->edge[e].slant_usual = next + 2 * cells;
        p->edge[e].tallest = p->slant + 3 * cells + e;
        next += p->edge[e].count;
    }
    return UND_OK;
}

/* c^2 dt^2 / dx^2 at the faces in front of the cells of an edge, and behind the last: closed at the ends, and
 * where one surface stands below the other's ground.  Returns the largest. */
static float find_faces(const und_pool *p, int e, double dt, double reach, float *face)
{
    int count = p->edge[e].count;
    double scale = p->def->gravity * dt * dt / (p->grid.dx * p->grid.dx), largest = 0;
    face[0] = face[count] = 0;
    for (int i = 1; i < count; i++) {
        size_t a = und_pool_edge_cell(p, e, i - 1), b = und_pool_edge_cell(p, e, i);
        double shared = fmin(und_pool_surface(p, a), und_pool_surface(p, b)) -
                        fmax(und_pool_bottom(p, a), und_pool_bottom(p, b));
        double depth = 0.5 * (und_pool_depth(p, a) + und_pool_depth(p, b));
        double speed = shared > 0 ? scale * fmin(depth, reach) : 0;
        face[i] = (float)speed;
        largest = fmax(largest, speed);
    }
    return (float)largest;
}

/* How far the water's own waves stand above the level outside, m.  A dry cell has no slant. */
static void find_above(const und_pool *p, int e, double time, float *above)
{
    const und_pool_edge *edge = &p->edge[e];
    double turned = cos(p->def->edge[e].direction * M_PI / 180);
    for (int i = 0; i < edge->count; i++) {
        size_t at = und_pool_edge_cell(p, e, i);
        double outside = und_pool_outside_level(p, e, i, time) - turned * und_pool_incoming(p, e, i, time);
        bool wet = und_pool_depth(p, at) > 0;
        above[i] = wet ? (float)(und_pool_surface(p, at) - outside) : 0;
        if (!wet)
            edge->slant[i] = edge->slant_rate[i] = edge->slant_usual[i] = 0;
    }
}

/* (1 - ZETA dt^2 c^2 d2/dy2) out = in; `low` and `high` couple the ends to nothing. */
static void smooth(const und_pool *p, int count, const float *face, float low, float high, const float *in,
                   float *out)
{
    float *c = part(p, ELIMINATED), none = 0;
    for (int i = 0; i < count; i++) {
        float before = i > 0 ? ZETA * face[i] : low, after = i + 1 < count ? ZETA * face[i + 1] : high;
        und_tridiag_forward(1, &before, &after, &in[i], i > 0 ? &c[i - 1] : &none,
                            i > 0 ? &out[i - 1] : &none, &c[i], &out[i]);
    }
    for (int i = count - 2; i >= 0; i--)
        und_tridiag_back(1, &c[i], &out[i + 1], &out[i]);
}

/* An end of an edge.  With phi_t = -c w_y and w_t = -c (B phi + A h)_y, w is what flows of the slant.  Where
 * the edge around the corner is open too, w = sqrt(B) phi + OUT h there: it lets waves of the slant out, and
 * is right for a wave at 45 degrees.  Else nothing flows. */
typedef struct end {
    float speed;   /* c dt / dx; 0 where nothing flows */
    float outflow; /* OUT h, m */
} end;

static end corner(const und_pool *p, int around, float face, float above)
{
    return p->def->edge[around].kind == UND_EDGE_OPEN ? (end){sqrtf(face), OUT * above} : (end){0, 0};
}

/* What the slant beside it loses through it, m/s. */
static float end_flow(end e, float slant, double dt)
{
    return e.speed / (float)dt * (ROOT_B * slant + e.outflow);
}

/* The slant after the step.  `most`: no slant is taller than the waves were of late. */
static void fade(und_pool *p, int e, double dt, float crossing, float most)
{
    const und_pool_edge *edge = &p->edge[e];
    float kept = 1 / (1 + FADES * crossing), known = 1 / (1 + SETTLES * crossing);
    for (int i = 0; i < edge->count; i++) {
        float *slant = &edge->slant[i], *rate = &edge->slant_rate[i], *usual = &edge->slant_usual[i];
        *rate *= kept;
        *slant = kept * *slant + (float)dt * *rate;
        *usual = *slant + known * (*usual - *slant);
        float size = fabsf(*slant - *usual);
        float limit = fminf(most, STEEP * (float)und_pool_depth(p, und_pool_edge_cell(p, e, i)));
        if (size > limit) {
            *slant = *usual + limit / size * (*slant - *usual);
            *rate *= limit / size;
        }
    }
}

static void advance_slant(und_pool *p, int e, double time, double dt, double reach)
{
    const und_pool_edge *edge = &p->edge[e];
    int count = edge->count, last = count - 1, around = e < UND_LOW_Z ? UND_LOW_Z : UND_LOW_X;
    float *face = part(p, FACE), *above = part(p, ABOVE), *drive = part(p, DRIVE), *right = part(p, RIGHT);
    float crossing = sqrtf(find_faces(p, e, dt, reach, face)) / (float)longest(p);
    find_above(p, e, time, above);
    *edge->tallest /= 1 + crossing;
    for (int i = 0; i < count; i++)
        *edge->tallest = fmaxf(*edge->tallest, fabsf(above[i]));
    smooth(p, count, face, 0, 0, above, drive);
    for (int i = 0; i < count; i++)
        drive[i] = A * drive[i] + B * edge->slant[i];
    for (int i = 0; i < count; i++) {
        float from_low = i > 0 ? face[i] * (drive[i - 1] - drive[i]) : 0;
        float from_high = i < last ? face[i + 1] * (drive[i + 1] - drive[i]) : 0;
        right[i] = edge->slant_rate[i] + (from_low + from_high) / (float)dt;
    }
    end low = corner(p, around, face[1], above[0]), high = corner(p, around + 1, face[last], above[last]);
    right[0] -= end_flow(low, edge->slant[0], dt);
    right[last] -= end_flow(high, edge->slant[last], dt);
    smooth(p, count, face, ROOT_B * low.speed, ROOT_B * high.speed, right, edge->slant_rate);
    fade(p, e, dt, crossing, *edge->tallest);
    /* The rate that is kept is that of the flow between the cells. */
    edge->slant_rate[0] += end_flow(low, edge->slant[0], dt);
    edge->slant_rate[last] += end_flow(high, edge->slant[last], dt);
}

void und_pool_advance_slants(und_pool *p, double time, double dt, double reach)
{
    for (int e = 0; e < UND_EDGES; e++)
        if (p->def->edge[e].kind == UND_EDGE_OPEN && p->edge[e].count > 1)
            advance_slant(p, e, time, dt, reach);
}
