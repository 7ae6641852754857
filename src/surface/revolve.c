#include "surface/revolve.h"

#include "base/maths.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

/* A place of a profile: its distance from the axis and its height. */
typedef struct spot {
    double r, y;
} spot;

/* A sample of a smoothed profile and the direction in which the profile goes there. */
typedef struct sample {
    spot at, along;
} sample;

/* A run of samples: from the axis to the axis, or closed. */
typedef struct run {
    int first, count;
    bool closed;
} run;

typedef struct profiles {
    const und_revolve_def *def;
    spot *line;   /* of the part at hand, with BESIDE places more on either side */
    spot *smooth; /* its spline's control places */
    sample *samples;
    run *runs;
    int sample_count, run_count;
} profiles;

/* Markers nearer to the axis than this part of a link are on it. */
static const double ON_AXIS = 1e-3;
enum { MOST_AROUND = 4096, MOST_ALONG = 64 };
enum { BESIDE = 3 }; /* places that the spline needs before the first and behind the last */

/* Control places of the uniform cubic B-spline that keeps to the line to fourth order: it passes markers of a
 * smooth line by next to nothing, and takes half of what every other marker is off. */
static void find_controls(profiles *p, int count)
{
    for (int i = 1; i + 1 < count + 2 * BESIDE; i++) {
        const spot *l = &p->line[i];
        p->smooth[i].r = l->r - (l[1].r - 2 * l->r + l[-1].r) / 6;
        p->smooth[i].y = l->y - (l[1].y - 2 * l->y + l[-1].y) / 6;
    }
}

/* The spline at t of the way from control place c[1] to c[2]. */
static sample evaluate(const spot *c, double t)
{
    double s = 1 - t;
    double w[4] = {s * s * s / 6, (4 - 3 * t * t * (2 - t)) / 6, (4 - 3 * s * s * (2 - s)) / 6,
                   t * t * t / 6};
    double d[4] = {-s * s / 2, t * (3 * t - 4) / 2, -s * (3 * s - 4) / 2, t * t / 2};
    sample out = {{0, 0}, {0, 0}};
    for (int k = 0; k < 4; k++) {
        out.at.r += w[k] * c[k].r;
        out.at.y += w[k] * c[k].y;
        out.along.r += d[k] * c[k].r;
        out.along.y += d[k] * c[k].y;
    }
    out.at.r = fmax(out.at.r, 0);
    return out;
}

/* Samples of the `count` places of the line. */
static void add_run(profiles *p, int count, bool closed)
{
    int along = p->def->along, links = closed ? count : count - 1;
    run *r = &p->runs[p->run_count++];
    *r = (run){p->sample_count, links * along + !closed, closed};
    find_controls(p, count);
    for (int i = 0; i < links; i++)
        for (int k = 0; k < along; k++)
            p->samples[p->sample_count++] = evaluate(&p->smooth[BESIDE + i - 1], (double)k / along);
    if (closed)
        return;
    p->samples[p->sample_count++] = evaluate(&p->smooth[BESIDE + links - 2], 1);
    p->samples[r->first].at.r = p->samples[r->first + r->count - 1].at.r = 0;
}

static void add_closed(profiles *p, const spot *chain, int count)
{
    for (int i = -BESIDE; i < count + BESIDE; i++)
        p->line[BESIDE + i] = chain[(i + count) % count];
    add_run(p, count, true);
}

/* Where the profile is at the axis, between a place on it or beyond and one before it. */
static spot at_axis(spot beyond, spot before, double nearest)
{
    if (beyond.r >= -nearest)
        return (spot){0, beyond.y};
    return (spot){0, beyond.y + (before.y - beyond.y) * -beyond.r / (before.r - beyond.r)};
}

/* The places off the axis from `first` on, and where the profile leaves the axis and comes back to it. Beyond
 * the axis is the mirror's image, so that the surface is smooth there. */
static void add_open(profiles *p, const spot *chain, int count, int first, int length, double nearest)
{
    spot *line = p->line + BESIDE;
    line[0] = at_axis(chain[(first + count - 1) % count], chain[first], nearest);
    for (int i = 0; i < length; i++)
        line[1 + i] = chain[(first + i) % count];
    int last = length + 1;
    line[last] = at_axis(chain[(first + length) % count], chain[(first + length - 1) % count], nearest);
    if (length < 2)
        return;
    for (int k = 1; k <= BESIDE; k++) {
        line[-k] = (spot){-line[k].r, line[k].y};
        line[last + k] = (spot){-line[last - k].r, line[last - k].y};
    }
    add_run(p, length + 2, false);
}

/* All parts of a chain on the side of the axis that counts. */
static void add_chain(profiles *p, const spot *chain, int count)
{
    double length = 0;
    for (int i = 0; i < count; i++) {
        const spot *next = &chain[(i + 1) % count];
        length += und_hypot(next->r - chain[i].r, next->y - chain[i].y);
    }
    double nearest = ON_AXIS * length / count;
    int start = 0;
    while (start < count && chain[start].r > nearest)
        start++;
    if (start == count) {
        add_closed(p, chain, count);
        return;
    }
    for (int k = 1; k < count;) {
        int off = 0;
        while (k + off < count && chain[(start + k + off) % count].r > nearest)
            off++;
        if (off > 0)
            add_open(p, chain, count, (start + k) % count, off, nearest);
        k += off + 1;
    }
}

/* Where triangles go, and the way around. */
typedef struct mesh {
    const und_revolve_def *def;
    float *place, *normal;
    const double *cosine, *sine;
} mesh;

static void add_corner(mesh *m, const sample *s, int k)
{
    double c = m->cosine[k % m->def->around], z = m->sine[k % m->def->around];
    double length = und_hypot(s->along.r, s->along.y);
    /* Liquid is on the left of the profile: out of it is to the right. */
    double out = length > 0 ? s->along.y / length : 0, up = length > 0 ? -s->along.r / length : 1;
    const double place[3] = {m->def->axis_x + s->at.r * c, s->at.y, m->def->axis_z + s->at.r * z};
    const double normal[3] = {out * c, up, out * z};
    for (int a = 0; a < 3; a++) {
        *m->place++ = (float)place[a];
        *m->normal++ = (float)normal[a];
    }
}

/* Two triangles a facet, one at the poles. */
static void add_facets(mesh *m, const sample *from, const sample *to, bool pole_first, bool pole_last)
{
    for (int k = 0; k < m->def->around; k++) {
        if (!pole_last) {
            add_corner(m, from, k);
            add_corner(m, to, k);
            add_corner(m, to, k + 1);
        }
        if (!pole_first) {
            add_corner(m, from, k);
            add_corner(m, to, k + 1);
            add_corner(m, from, k + 1);
        }
    }
}

static void add_surface(mesh *m, const profiles *p)
{
    for (int i = 0; i < p->run_count; i++) {
        const run *r = &p->runs[i];
        const sample *s = p->samples + r->first;
        int bands = r->closed ? r->count : r->count - 1;
        for (int k = 0; k < bands; k++)
            add_facets(m, &s[k], &s[(k + 1) % r->count], !r->closed && k == 0, !r->closed && k == bands - 1);
    }
}

/* Triangles of all runs: two in every facet, less one in those at poles. */
static size_t count_triangles(const profiles *p)
{
    size_t bands = 0;
    for (int i = 0; i < p->run_count; i++)
        bands += (size_t)(p->runs[i].closed ? p->runs[i].count : p->runs[i].count - 2);
    return 2 * bands * (size_t)p->def->around;
}

static und_status add_mesh(const profiles *p, und_frame *frame, und_error *err)
{
    size_t corners = 3 * count_triangles(p);
    int around = p->def->around;
    und_item_def def = {.name = "liquid/mesh_position",
                        .unit = "m",
                        .kind = UND_PARTICLES,
                        .type = UND_F32,
                        .rank = 2,
                        .dim = {corners, 3}};
    und_item *item = und_frame_add(frame, &def, err);
    mesh m = {.def = p->def, .place = item ? item->data : NULL};
    def.name = "liquid/mesh_normal";
    def.unit = "1";
    item = item ? und_frame_add(frame, &def, err) : NULL;
    double *turn = item ? und_alloc(2 * (size_t)around, sizeof *turn, "a surface of revolution", err) : NULL;
    if (!turn)
        return err->status;
    m.normal = item->data;
    /* Around the axis the exact circle stands for the cubics that would follow it. */
    for (int k = 0; k < around; k++) {
        double angle = 2 * M_PI * k / around;
        turn[k] = und_cos(angle);
        turn[around + k] = und_sin(angle);
    }
    m.cosine = turn;
    m.sine = turn + around;
    add_surface(&m, p);
    free(turn);
    return UND_OK;
}

/* Whether the frame has chains, one behind the other. */
static bool are_chains(const und_item *place, const und_item *first)
{
    if (!place || !first || place->type != UND_F32 || first->type != UND_I32 || und_item_count(first) < 1)
        return false;
    const int32_t *begin = first->data;
    size_t chains = und_item_count(first) - 1, count = und_item_count(place) / 3;
    for (size_t c = 0; c < chains; c++)
        if (begin[c] < 0 || begin[c + 1] < begin[c] || begin[c + 1] - begin[c] < 3)
            return false;
    return begin[chains] >= 0 && (size_t)begin[chains] == count && count < INT32_MAX / (4 * MOST_ALONG);
}

und_status und_revolve(const und_revolve_def *def, und_frame *frame, und_error *err)
{
    const und_item *place = und_frame_find(frame, "chain/position");
    const und_item *first = und_frame_find(frame, "chain/first");
    if (!are_chains(place, first))
        return und_error_set(err, UND_INVALID, "revolve: expected chains in the frame");
    if (def->around < 3 || def->around > MOST_AROUND || def->along < 1 || def->along > MOST_ALONG)
        return und_error_set(err, UND_INVALID,
                             "revolve: around, along: expected 3 to %d and 1 to %d, found %d and %d",
                             MOST_AROUND, MOST_ALONG, def->around, def->along);
    size_t count = und_item_count(place) / 3, chains = und_item_count(first) - 1;
    size_t most = 2 * count + 2 * BESIDE + 2; /* every place off the axis may have two on it beside */
    profiles p = {.def = def};
    spot *chain = und_alloc(count + 1, sizeof *chain, "profiles", err);
    p.line = und_alloc(most, sizeof *p.line, "profiles", err);
    p.smooth = und_alloc(most, sizeof *p.smooth, "profiles", err);
    p.samples = und_alloc(most * (size_t)def->along, sizeof *p.samples, "profiles", err);
    p.runs = und_alloc(count + 1, sizeof *p.runs, "profiles", err);
    und_status status = UND_FAILED;
    if (chain && p.line && p.smooth && p.samples && p.runs) {
        const float *at = place->data;
        const int32_t *begin = first->data;
        for (size_t i = 0; i < count; i++)
            chain[i] = (spot){at[3 * i] - def->axis_x, at[3 * i + 1]};
        for (size_t c = 0; c < chains; c++)
            add_chain(&p, chain + begin[c], begin[c + 1] - begin[c]);
        status = add_mesh(&p, frame, err);
    }
    free(chain);
    free(p.line);
    free(p.smooth);
    free(p.samples);
    free(p.runs);
    return status;
}
