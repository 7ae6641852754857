/* The outline of a shape as chains of evenly spaced markers. */
#include "base/status.h"
#include "surface/chains_state.h"

#include <stdlib.h>
#include <string.h>

enum { PER_CELL = 8, HALVINGS = 40, FEWEST = 8 };

/* A lattice of places, PER_CELL to a cell along each axis and one beyond each end, half a spacing off the
 * cells' faces; its squares have such a place in each corner. */
typedef struct outline {
    const und_mac *mac;
    und_inside_fn *inside;
    void *context;
    const uint8_t *label;
    int n[2];      /* places */
    uint8_t *in;   /* of each place: whether it is in the liquid */
    uint8_t *seen; /* of each square: bits of the sides through which the walk has come */
    /* The walk's places, loop behind loop, and whether the outline has a corner there. */
    und_point *place;
    uint8_t *corner;
    int count, room;
    int *loop_end;
    int loops, loop_room;
} outline;

static bool holds(const outline *o, und_point p)
{
    const und_mac *m = o->mac;
    double x = floor((p.x - m->origin[0]) / m->d[0]), y = floor((p.y - m->origin[1]) / m->d[1]);
    if (!(x >= 0 && y >= 0 && x < m->n[0] && y < m->n[1]))
        return false;
    return o->label[und_mac_at(m, (int)x, (int)y, 0)] != UND_CELL_SOLID &&
           o->inside(o->context, p.x, p.y, und_mac_middle(m, 2, 0));
}

static und_point lattice(const outline *o, double i, double j)
{
    return (und_point){o->mac->origin[0] + (i - 0.5) / PER_CELL * o->mac->d[0],
                       o->mac->origin[1] + (j - 0.5) / PER_CELL * o->mac->d[1]};
}

/* Corners of a square, counterclockwise; side k goes from corner k to the next. */
static const int corner_x[4] = {0, 1, 1, 0}, corner_y[4] = {0, 0, 1, 1};

static bool corner_in(const outline *o, int i, int j, int corner)
{
    int x = i + corner_x[corner % 4], y = j + corner_y[corner % 4];
    return o->in[(size_t)y * (size_t)o->n[0] + (size_t)x];
}

/* Where the outline crosses a side of a square. */
static und_point crossing(const outline *o, int i, int j, int side)
{
    int a = side, b = (side + 1) % 4;
    und_point in = lattice(o, i + corner_x[a], j + corner_y[a]);
    und_point out = lattice(o, i + corner_x[b], j + corner_y[b]);
    if (!corner_in(o, i, j, a)) {
        und_point swap = in;
        in = out;
        out = swap;
    }
    for (int k = 0; k < HALVINGS; k++) {
        und_point middle = {(in.x + out.x) / 2, (in.y + out.y) / 2};
        if (holds(o, middle))
            in = middle;
        else
            out = middle;
    }
    return (und_point){(in.x + out.x) / 2, (in.y + out.y) / 2};
}

/* With liquid on the left the outline comes in through a side that goes from liquid to air, counterclockwise,
 * and leaves through one that goes from air to liquid.  Where there are two of each, the middle decides. */
static int way_out(const outline *o, int i, int j, int way_in)
{
    bool opposite = corner_in(o, i, j, way_in + 2);
    if (opposite && !corner_in(o, i, j, way_in + 3))
        return holds(o, lattice(o, i + 0.5, j + 0.5)) ? (way_in + 1) % 4 : (way_in + 3) % 4;
    for (int k = 1; k < 4; k++)
        if (!corner_in(o, i, j, way_in + k) && corner_in(o, i, j, way_in + k + 1))
            return (way_in + k) % 4;
    return way_in; /* cannot be: what goes out comes in again */
}

/* Arrays that grow together, by at least `more`. */
static und_status make_room(outline *o, int more, und_error *err)
{
    if (o->count + more <= o->room)
        return UND_OK;
    size_t room = 2 * ((size_t)o->room + (size_t)more);
    und_point *place = room < INT32_MAX ? realloc(o->place, room * sizeof *place) : NULL;
    if (place)
        o->place = place;
    uint8_t *corner = place ? realloc(o->corner, room) : NULL;
    if (!corner)
        return und_error_set(err, UND_FAILED, "out of memory: outlines of %zu places", room);
    o->corner = corner;
    o->room = (int)room;
    return UND_OK;
}

static und_status close_loop(outline *o, und_error *err)
{
    if (o->loops == o->loop_room) {
        int room = 2 * o->loop_room + 16;
        int *loop_end = realloc(o->loop_end, (size_t)room * sizeof *loop_end);
        if (!loop_end)
            return und_error_set(err, UND_FAILED, "out of memory: %d outlines", room);
        o->loop_end = loop_end;
        o->loop_room = room;
    }
    o->loop_end[o->loops++] = o->count;
    return UND_OK;
}

static und_status walk(outline *o, int i, int j, int way_in, und_error *err)
{
    size_t squares = (size_t)o->n[0] - 1;
    while (!(o->seen[(size_t)j * squares + (size_t)i] & 1 << way_in)) {
        o->seen[(size_t)j * squares + (size_t)i] |= (uint8_t)(1 << way_in);
        if (make_room(o, 1, err) != UND_OK)
            return err->status;
        o->corner[o->count] = 0;
        o->place[o->count++] = crossing(o, i, j, way_in);
        static const int step_x[4] = {0, 1, 0, -1}, step_y[4] = {-1, 0, 1, 0};
        int out = way_out(o, i, j, way_in);
        i += step_x[out];
        j += step_y[out];
        way_in = (out + 2) % 4;
    }
    return close_loop(o, err);
}

/* Walks along all outlines once. */
static und_status walk_all(outline *o, und_error *err)
{
    for (int j = 0; j < o->n[1]; j++)
        for (int i = 0; i < o->n[0]; i++)
            o->in[(size_t)j * (size_t)o->n[0] + (size_t)i] = holds(o, lattice(o, i, j));
    for (int j = 0; j + 1 < o->n[1]; j++)
        for (int i = 0; i + 1 < o->n[0]; i++)
            for (int side = 0; side < 4; side++)
                if (corner_in(o, i, j, side) && !corner_in(o, i, j, side + 1) &&
                    !(o->seen[(size_t)j * ((size_t)o->n[0] - 1) + (size_t)i] & 1 << side) &&
                    walk(o, i, j, side, err) != UND_OK)
                    return err->status;
    return UND_OK;
}

/* A square cuts off a corner of the outline that lies in it, between b and c: the corner is where the lines
 * through a, b and through c, d meet. */
static bool find_corner(const outline *o, und_point a, und_point b, und_point c, und_point d,
                        und_point *corner)
{
    const double sharp = 0.8; /* cosine */
    double size = fmax(o->mac->d[0], o->mac->d[1]) / PER_CELL;
    und_point ab = und_point_from(a, b), cd = und_point_from(c, d), bc = und_point_from(b, c);
    double lengths = und_point_length(ab) * und_point_length(cd), sine = und_point_cross(ab, cd);
    if (!(lengths > 1e-9 * size * size) || und_point_dot(ab, cd) > sharp * lengths ||
        fabs(sine) < 0.1 * lengths)
        return false;
    double ahead = und_point_cross(bc, cd) / sine, behind = und_point_cross(ab, bc) / sine;
    ahead *= und_point_length(ab) / size; /* in sides of a square */
    behind *= und_point_length(cd) / size;
    if (!(ahead > 1e-3 && behind > 1e-3 && ahead < 1.5 && behind < 1.5))
        return false;
    *corner = und_point_add(b, ab, ahead * size / und_point_length(ab));
    return true;
}

/* A copy of one loop with its corners put back. */
static und_status sharpen(const outline *o, int loop, outline *sharp, und_error *err)
{
    int begin = loop ? o->loop_end[loop - 1] : 0, n = o->loop_end[loop] - begin;
    sharp->count = 0;
    if (make_room(sharp, 2 * n, err) != UND_OK)
        return err->status;
    const und_point *p = o->place + begin;
    for (int i = 0; i < n; i++) {
        sharp->corner[sharp->count] = 0;
        sharp->place[sharp->count++] = p[i];
        und_point corner;
        if (n > 4 && find_corner(o, p[(i + n - 1) % n], p[i], p[(i + 1) % n], p[(i + 2) % n], &corner)) {
            sharp->corner[sharp->count] = 1;
            sharp->place[sharp->count++] = corner;
        }
    }
    return UND_OK;
}

/* Turns a loop so that it begins with a corner, where it has one; `reach` of each place: the way to it. */
static double measure(outline *loop, outline *turned, double *reach)
{
    int start = 0, n = loop->count;
    for (int i = n - 1; i >= 0; i--)
        if (loop->corner[i])
            start = i;
    double way = 0;
    turned->count = n + 1; /* the first place again at the end */
    for (int i = 0; i <= n; i++) {
        turned->place[i] = loop->place[(start + i) % n];
        turned->corner[i] = i == n || loop->corner[(start + i) % n];
        way += i ? und_point_gap(turned->place[i - 1], turned->place[i]) : 0;
        reach[i] = way;
    }
    return way;
}

/* One marker of a loop to be. */
typedef struct spaced {
    und_point place;
    double spacing;
    double bulge; /* m: the area between the outline and the link to the next marker, over its length */
    bool corner;
} spaced;

/* Markers on the outline from place `from` to place `to`, without the last. */
static int space_out(const outline *o, const double *reach, int from, int to, int pieces, spaced *out)
{
    double step = (reach[to] - reach[from]) / pieces;
    for (int k = 0, at = from; k < pieces; k++) {
        double begin = reach[from] + k * step, end = k + 1 < pieces ? begin + step : reach[to];
        while (at + 1 < to && reach[at + 1] <= begin)
            at++;
        double piece = reach[at + 1] - reach[at];
        und_point way = und_point_from(o->place[at], o->place[at + 1]);
        und_point p = und_point_add(o->place[at], way, piece > 0 ? (begin - reach[at]) / piece : 0);
        double twice = 0;
        und_point last = p;
        int i = at + 1;
        for (; i <= to && reach[i] < end; i++) {
            twice += und_point_cross(und_point_from(p, last), und_point_from(p, o->place[i]));
            last = o->place[i];
        }
        und_point final = o->place[to];
        if (i < to || reach[to] > end) {
            double rest = reach[i] - reach[i - 1];
            final = und_point_add(o->place[i - 1], und_point_from(o->place[i - 1], o->place[i]),
                                  rest > 0 ? (end - reach[i - 1]) / rest : 0);
        }
        twice += und_point_cross(und_point_from(p, last), und_point_from(p, final));
        double length = und_point_gap(p, final);
        out[k] = (spaced){p, step, length > 0 ? twice / 2 / length : 0, k == 0 && o->corner[from]};
    }
    return pieces;
}

/* Markers along a whole loop, about `spacing` apart, one in each corner. */
static int space_loop(const outline *o, const double *reach, double spacing, spaced *out)
{
    int n = o->count - 1, count = 0;
    double step = fmin(spacing, reach[n] / FEWEST);
    for (int from = 0, to = 1; from < n; from = to++) {
        while (to < n && !o->corner[to])
            to++;
        int pieces = (int)lround(reach[to] / step) - (int)lround(reach[from] / step);
        count += space_out(o, reach, from, to, pieces > 1 ? pieces : 1, out + count);
    }
    return count;
}

/* Links cut off what the outline bulges beyond them; markers go outward by so much that the chain encloses
 * what the outline does. */
static void add_loop(und_chains *s, const uint8_t *label, const spaced *in, int count, und_point *place,
                     double *spacing)
{
    for (int i = 0; i < count; i++) {
        const spaced *before = &in[(i + count - 1) % count], *after = &in[(i + 1) % count];
        und_point along = und_point_from(before->place, after->place), p = in[i].place;
        double length = und_point_length(along), out = (before->bulge + in[i].bulge) / 2;
        if (!in[i].corner && length > 0)
            p = und_point_add(p, (und_point){along.y, -along.x}, out / length);
        place[i] = und_chains_settle(&s->mac, label, p);
        spacing[i] = fmin(in[i].spacing, und_chains_cell(s)); /* few markers become more when they move */
    }
    und_chains_append(s, place, spacing, count);
}

/* One loop of the outline becomes a chain. */
static und_status take_loop(und_chains *s, const outline *o, int loop, double spacing, und_error *err)
{
    outline sharp = {.mac = o->mac}, turned = {.mac = o->mac};
    double *reach = NULL, *apart = NULL;
    spaced *out = NULL;
    und_point *place = NULL;
    und_status status = UND_FAILED;
    if (sharpen(o, loop, &sharp, err) == UND_OK && make_room(&turned, sharp.count + 1, err) == UND_OK &&
        (reach = und_alloc((size_t)sharp.count + 1, sizeof *reach, "an outline", err))) {
        double length = measure(&sharp, &turned, reach);
        size_t most = (size_t)(length / fmin(spacing, length / FEWEST)) + (size_t)sharp.count + 2;
        out = und_alloc(most, sizeof *out, "an outline", err);
        place = und_alloc(most, sizeof *place, "an outline", err);
        apart = und_alloc(most, sizeof *apart, "an outline", err);
        if (out && place && apart) {
            int count = space_loop(&turned, reach, spacing, out);
            status = und_chains_reserve(s, count, err);
            if (status == UND_OK)
                add_loop(s, o->label, out, count, place, apart);
        }
    }
    free(sharp.place);
    free(sharp.corner);
    free(turned.place);
    free(turned.corner);
    free(reach);
    free(out);
    free(place);
    free(apart);
    return status;
}

/* m, of all loops. */
static double length_of(const outline *o)
{
    double sum = 0;
    for (int k = 0, begin = 0; k < o->loops; begin = o->loop_end[k++])
        for (int end = o->loop_end[k], i = begin, last = end - 1; i < end; last = i++)
            sum += und_point_gap(o->place[last], o->place[i]);
    return sum;
}

static und_status trace(und_chains *s, outline *o, int markers, und_error *err)
{
    size_t places = (size_t)o->n[0] * (size_t)o->n[1];
    o->in = und_alloc(places, 1, "an outline", err);
    o->seen = und_alloc(places, 1, "an outline", err);
    if (!o->in || !o->seen || walk_all(o, err) != UND_OK)
        return err->status;
    double spacing = fmin(s->mac.d[0], s->mac.d[1]) / 2;
    if (markers > 0)
        spacing = length_of(o) / markers;
    for (int k = 0; k < o->loops; k++)
        if (take_loop(s, o, k, spacing, err) != UND_OK)
            return err->status;
    return UND_OK;
}

und_status und_chains_add(und_chains *s, und_inside_fn *inside, void *context, const uint8_t *label,
                          int markers, und_error *err)
{
    outline o = {.mac = &s->mac, .inside = inside, .context = context, .label = label};
    for (int a = 0; a < 2; a++)
        o.n[a] = PER_CELL * s->mac.n[a] + 2;
    und_status status = trace(s, &o, markers, err);
    free(o.in);
    free(o.seen);
    free(o.place);
    free(o.corner);
    free(o.loop_end);
    if (status != UND_OK)
        return status;
    und_chains_link(s);
    bool joined = und_chains_join(s, UND_CHAINS_FILM); /* what lies apart stays apart as yet */
    und_chains_unlink(s);
    if (joined)
        und_chains_uncover(s);
    return UND_OK;
}
