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
 * In steps of dt, with the water's own split and implicit ones, all this holds exactly when phi goes on by
 * the leapfrog rule and what drives it is smoothed by S = 1 / (1 - ZETA dt^2 c^2 d2/dy2), ZETA = 1/4: the
 * ratio of flow and level in the part of a step across the edge is sqrt(1 - u), u = sin^2(y) / sin^2(w), for
 * the angles 2y and 2w by which the part along the edge and the whole step turn the wave; 4 sin^2(w) is minus
 * the second difference in time, 4 sin^2(y) is -S dt^2 c^2 d2/dy2.  So it is stable at any dt.
 *
 * Where two open edges meet, phi leaves as h does: c phi_y = -(phi - chi)_t, where chi is to phi what the
 * other edge's slant psi is to h.  As sin^2 + cos^2 = 1 (Collino 1993),
 *
 *     (2 - B) chi = A^2 / B h - A (1 - B) / B (phi + psi)
 *
 * and what leaves of phi through the corner is A (h - psi) + B (phi - chi), where c (h - psi) is the flow
 * through the other edge: half a step later, when the water goes along that axis. */
#include "base/maths.h"
#include "base/status.h"
#include "liquid/height_field_state.h"
#include "solve/tridiag_kernel.h"

#include <math.h>

static const double A = 0.5, B = 0.35;
static const float ZETA = 0.25f;

/* What it was at the start fades while waves cross the water eight times; what it is on average over two
 * crossings is no wave, but a drift or a steady current, and does not count. */
static const float FADES = 0.125f, SETTLES = 0.5f;
/* Of the depth; taller slants are those of waves that break, and of which no theory says anything. */
static const float STEEP = 0.3f;

/* Scratch, each as long as an edge and one cell more. */
enum { FACE, ABOVE, DRIVE, RIGHT, ELIMINATED, ALONG };

static int longest(const und_height_field *p)
{
    return p->nx > p->nz ? p->nx : p->nz;
}

static float *part(const und_height_field *p, int which)
{
    return p->along + (size_t)which * ((size_t)longest(p) + 1);
}

und_status und_height_field_create_slants(und_height_field *p, und_error *err)
{
    bool open = false;
    for (int e = 0; e < UND_EDGES; e++)
        open |= p->def->edge[e].kind == UND_EDGE_OPEN;
    if (!open)
        return UND_OK;
    size_t cells = 2 * (size_t)(p->nx + p->nz);
    p->slant_count = 3 * cells + 3 * UND_EDGES;
    p->slant = und_alloc(p->slant_count, sizeof *p->slant, "edge", err);
    p->along = und_alloc(ALONG * ((size_t)longest(p) + 1), sizeof *p->along, "edge", err);
    p->met = und_alloc(2 * cells, sizeof *p->met, "edge", err);
    if (!p->slant || !p->along || !p->met)
        return err->status;
    float *next = p->slant;
    double *met = p->met;
    for (int e = 0; e < UND_EDGES; e++) {
        p->edge[e].slant = next;
        p->edge[e].slant_rate = next + cells;
        p->edge[e].slant_usual = next + 2 * cells;
        p->edge[e].tallest = p->slant + 3 * cells + e;
        p->edge[e].left = p->slant + 3 * cells + UND_EDGES + 2 * e;
        p->edge[e].met = met;
        p->edge[e].passed = met + cells;
        met += p->edge[e].count;
        next += p->edge[e].count;
    }
    return UND_OK;
}

/* c^2 dt^2 / dx^2 at the faces in front of the cells of an edge, and behind the last: closed at the ends, and
 * where one surface stands below the other's ground.  Returns the largest. */
static float find_faces(const und_height_field *p, int e, double dt, double reach, float *face)
{
    int count = p->edge[e].count;
    double scale = p->def->gravity * dt * dt / (p->grid.dx * p->grid.dx), largest = 0;
    face[0] = face[count] = 0;
    for (int i = 1; i < count; i++) {
        size_t a = und_height_field_edge_cell(p, e, i - 1), b = und_height_field_edge_cell(p, e, i);
        double shared = fmin(und_height_field_surface(p, a), und_height_field_surface(p, b)) -
                        fmax(und_height_field_bottom(p, a), und_height_field_bottom(p, b));
        double depth = 0.5 * (und_height_field_depth(p, a) + und_height_field_depth(p, b));
        double speed = shared > 0 ? scale * fmin(depth, reach) : 0;
        face[i] = (float)speed;
        largest = fmax(largest, speed);
    }
    return (float)largest;
}

/* How far the water's own waves stood above the level outside, m.  A dry cell has no slant. */
static void find_above(const und_height_field *p, int e, double time, float *above)
{
    const und_height_field_edge *edge = &p->edge[e];
    double turned = und_cos(p->def->edge[e].direction * M_PI / 180);
    for (int i = 0; i < edge->count; i++) {
        double outside =
            und_height_field_outside_level(p, e, i, time) - turned * und_height_field_incoming(p, e, i, time);
        bool wet = und_height_field_depth(p, und_height_field_edge_cell(p, e, i)) > 0;
        above[i] = wet ? (float)(edge->met[i] - outside) : 0;
        if (!wet)
            edge->slant[i] = edge->slant_rate[i] = edge->slant_usual[i] = 0;
    }
}

/* (1 - ZETA dt^2 c^2 d2/dy2) out = in. */
static void smooth(const und_height_field *p, int count, const float *face, const float *in, float *out)
{
    float *c = part(p, ELIMINATED);
    und_tridiag_row_one row = {0, 0};
    for (int i = 0; i < count; i++) {
        row = und_tridiag_forward_one(ZETA * face[i], ZETA * face[i + 1], in[i], row);
        c[i] = row.c;
        out[i] = row.x;
    }
    for (int i = count - 2; i >= 0; i--)
        out[i] = und_tridiag_back_one((und_tridiag_row_one){c[i], out[i]}, out[i + 1]);
}

/* The slant after the step.  `most`: no slant is taller than the waves were of late.  Cells that the step has
 * taken too much from are below their ground until the pieces are put right: dry, for a slant. */
static void fade(und_height_field *p, int e, double dt, float crossing, float most)
{
    const und_height_field_edge *edge = &p->edge[e];
    float kept = 1 / (1 + FADES * crossing), known = 1 / (1 + SETTLES * crossing);
    edge->left[0] *= kept;
    edge->left[1] *= kept;
    for (int i = 0; i < edge->count; i++) {
        float *slant = &edge->slant[i], *rate = &edge->slant_rate[i], *usual = &edge->slant_usual[i];
        *rate *= kept;
        *slant = kept * *slant + (float)dt * *rate;
        *usual = *slant + known * (*usual - *slant);
        float size = fabsf(*slant - *usual);
        float depth = (float)und_height_field_depth(p, und_height_field_edge_cell(p, e, i));
        float limit = fminf(most, STEEP * fmaxf(depth, 0));
        if (size > limit) {
            *slant = *usual + limit / size * (*slant - *usual);
            *rate *= limit / size;
        }
    }
}

static void advance_slant(und_height_field *p, int e, double time, double dt, double reach)
{
    const und_height_field_edge *edge = &p->edge[e];
    int count = edge->count, last = count - 1;
    float *face = part(p, FACE), *above = part(p, ABOVE), *drive = part(p, DRIVE), *right = part(p, RIGHT);
    float crossing = sqrtf(find_faces(p, e, dt, reach, face)) / (float)longest(p);
    find_above(p, e, time, above);
    *edge->tallest /= 1 + crossing;
    for (int i = 0; i < count; i++)
        *edge->tallest = fmaxf(*edge->tallest, fabsf(above[i]));
    for (int i = 0; i < count; i++)
        drive[i] = (float)A * above[i] + (float)B * edge->slant[i];
    for (int i = 0; i < count; i++) {
        float from_low = i > 0 ? face[i] * (drive[i - 1] - drive[i]) : 0;
        float from_high = i < last ? face[i + 1] * (drive[i + 1] - drive[i]) : 0;
        right[i] = (from_low + from_high) / (float)dt;
    }
    smooth(p, count, face, right, drive);
    for (int i = 0; i < count; i++)
        edge->slant_rate[i] += drive[i];
    fade(p, e, dt, crossing, *edge->tallest);
}

static bool is_open(const und_height_field *p, int e)
{
    return p->def->edge[e].kind == UND_EDGE_OPEN && p->edge[e].count > 1;
}

void und_height_field_advance_slants(und_height_field *p, int axis, double time, double dt, double reach)
{
    for (int e = 2 * axis; e < 2 * axis + 2; e++)
        if (is_open(p, e))
            advance_slant(p, e, time, dt, reach);
}

/* What leaves of the slant of edge e through its corner with another over the step, smoothed as what drives
 * it is. */
static void leave(und_height_field *p, int e, int other, double time, double dt, double reach)
{
    const und_height_field_edge *edge = &p->edge[e];
    int i = other % 2 ? edge->count - 1 : 0, k = e % 2 ? p->edge[other].count - 1 : 0;
    float *face = part(p, FACE), *right = part(p, RIGHT), *spread = part(p, DRIVE);
    float *before = &edge->left[other % 2];
    double depth = fmin(und_height_field_depth(p, und_height_field_edge_cell(p, e, i)), reach);
    if (!(depth > 0))
        return;
    double turned =
        und_cos(p->def->edge[other].direction * M_PI / 180) * und_height_field_incoming(p, other, k, time);
    double passed = p->edge[other].passed[k] + turned;
    double above = p->edge[other].met[k] - und_height_field_outside_level(p, other, k, time) + turned;
    double middle = (double)edge->slant[i] - 0.5 * dt * (double)edge->slant_rate[i];
    double speed = sqrt(p->def->gravity * depth) * dt / p->grid.dx;
    double others = A * (1 - B) / (2 - B), own = B + others; /* of psi and phi in B (phi - chi) */
    double flow =
        A * passed + own * middle + others * (double)p->edge[other].slant[k] - A * A / (2 - B) * above;
    find_faces(p, e, dt, reach, face);
    for (int n = 0; n < edge->count; n++)
        right[n] = n == i ? (float)speed : 0;
    smooth(p, edge->count, face, right, spread);
    double more = (flow - (double)*before) / (1 + 0.5 * (double)spread[i] * own);
    *before += (float)more;
    for (int n = 0; n < edge->count; n++) {
        edge->slant[n] -= (float)more * spread[n];
        edge->slant_rate[n] -= (float)(more / dt) * spread[n];
    }
}

void und_height_field_slants_leave(und_height_field *p, int axis, double time, double dt, double reach)
{
    for (int e = 2 * axis; e < 2 * axis + 2; e++)
        for (int other = 2 * !axis; other < 2 * !axis + 2; other++)
            if (is_open(p, e) && is_open(p, other))
                leave(p, e, other, time, dt, reach);
}

void und_height_field_advance_all_slants(und_height_field *p, double time, double dt, double reach)
{
    for (int axis = 0; axis < 2; axis++)
        und_height_field_advance_slants(p, axis, time, dt, reach);
    for (int axis = 0; axis < 2; axis++)
        und_height_field_slants_leave(p, axis, time, dt, reach);
}
