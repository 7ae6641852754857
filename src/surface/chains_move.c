/* Chains go with the liquid, and their links stay about as long as they were. */
#include "base/parallel.h"
#include "grid/mac_sample.h"
#include "surface/chains_state.h"

/* In spacings: markers closer than the one and links longer than the other are mended. */
static const double TOO_CLOSE = 0.4, TOO_LONG = 1.6;
/* In cells: air thinner than this between a wall and liquid that comes to it is closed; and how far markers
 * go at most in a step to take back what upkeep has added. */
static const double WALL_GAP = 0.1, MOST_BACK = 0.01;
static const double LONGEST_PIECE = 0.5; /* of a way, in cells, so that no solid is jumped over */

static double coordinate(const und_mac *m, int axis, double value)
{
    return (value - m->origin[axis]) / m->d[axis];
}

static unsigned walls_at(const und_mac *m, const uint8_t *label, und_point p)
{
    double at[2] = {coordinate(m, 0, p.x), coordinate(m, 1, p.y)};
    int cell[2] = {(int)floor(at[0]), (int)floor(at[1])}, side[2] = {0, 0};
    unsigned walls = 0;
    for (int a = 0; a < 2; a++) {
        double part = at[a] - cell[a];
        side[a] = part < 2 * UND_CHAINS_SKIN ? -1 : part > 1 - 2 * UND_CHAINS_SKIN ? 1 : 0;
        if (side[a] && und_chains_solid(m, label, cell[0] + (a == 0) * side[a], cell[1] + (a == 1) * side[a]))
            walls |= 1u << (2 * a + (side[a] > 0));
    }
    if (side[0] && side[1] && und_chains_solid(m, label, cell[0] + side[0], cell[1] + side[1]))
        walls |= UND_AT_CORNER;
    return walls;
}

und_point und_chains_settle(const und_mac *m, const uint8_t *label, und_point p)
{
    double at[2] = {coordinate(m, 0, p.x), coordinate(m, 1, p.y)}, face[2];
    int cell[2], other[2];
    for (int a = 0; a < 2; a++) {
        cell[a] = other[a] = (int)floor(at[a]);
        face[a] = round(at[a]);
        if (fabs(at[a] - face[a]) < UND_CHAINS_SKIN)
            other[a] = cell[a] < face[a] ? cell[a] + 1 : cell[a] - 1;
    }
    for (int k = 0; k < 4; k++) {
        const int at_cell[2] = {k & 1 ? other[0] : cell[0], k & 2 ? other[1] : cell[1]};
        if (und_chains_solid(m, label, at_cell[0], at_cell[1]))
            continue;
        for (int a = 0; a < 2; a++)
            if (other[a] != cell[a])
                at[a] = face[a] + (at_cell[a] < face[a] ? -UND_CHAINS_SKIN : UND_CHAINS_SKIN);
        return (und_point){m->origin[0] + at[0] * m->d[0], m->origin[1] + at[1] * m->d[1]};
    }
    return p;
}

/* A way in cells, along one axis after the other; at solids it ends. */
static und_point slide(const und_mac *m, const uint8_t *label, und_point p, und_point way)
{
    double at[2] = {coordinate(m, 0, p.x), coordinate(m, 1, p.y)};
    double go[2] = {way.x / m->d[0], way.y / m->d[1]};
    double longest = fmax(fabs(go[0]), fabs(go[1]));
    if (!(longest < 1e3))
        return p; /* numerical trouble elsewhere must not become a place */
    int pieces = (int)ceil(longest / LONGEST_PIECE);
    for (int k = 0; k < pieces; k++)
        for (int a = 0; a < 2; a++) {
            int cell[2] = {(int)floor(at[0]), (int)floor(at[1])};
            double to = at[a] + go[a] / pieces, low = cell[a] + UND_CHAINS_SKIN,
                   high = cell[a] + 1 - UND_CHAINS_SKIN;
            bool stuck = und_chains_solid(m, label, cell[0], cell[1]);
            int step = to < low ? -1 : to > high ? 1 : 0;
            if (step && !stuck &&
                und_chains_solid(m, label, cell[0] + (a == 0) * step, cell[1] + (a == 1) * step))
                to = step < 0 ? low : high;
            at[a] = fmin(fmax(to, UND_CHAINS_SKIN), m->n[a] - UND_CHAINS_SKIN);
        }
    return (und_point){m->origin[0] + at[0] * m->d[0], m->origin[1] + at[1] * m->d[1]};
}

/* Velocity by area weighting (figure 3), along the walls only. */
static und_point velocity_at(const und_mac *m, double *const u[3], und_point p, unsigned walls)
{
    double v[3];
    und_mac_velocity(m, u, (const double[3]){p.x, p.y, m->origin[2]}, v);
    return (und_point){walls & 3 ? 0 : v[0], walls & 12 ? 0 : v[1]};
}

enum { CHUNK = 512 };

static int chunks_of(const und_chains *s)
{
    return (s->count + CHUNK - 1) / CHUNK;
}

static int chunk_end(const und_chains *s, int chunk)
{
    return (chunk + 1) * CHUNK < s->count ? (chunk + 1) * CHUNK : s->count;
}

static int workers_of(const und_chains *s)
{
    enum { ENOUGH = 1 << 13 };
    return und_workers(s->threads, (size_t)s->count, ENOUGH);
}

/* Whether liquid comes in through one of the walls that a place is on. */
static bool is_at_inflow(const und_mac *m, const und_inflows *in, und_point p, unsigned walls)
{
    const int cell[2] = {(int)floor(coordinate(m, 0, p.x)), (int)floor(coordinate(m, 1, p.y))};
    for (int k = 0; k < 4; k++)
        if (walls >> k & 1 && und_chains_flows_in(in, m, cell, k / 2, k % 2 ? 1 : -1))
            return true;
    return false;
}

static void find_walls(und_chains *s, const und_inflows *in)
{
    PARALLEL_FOR(workers_of(s))
    for (int chunk = 0; chunk < chunks_of(s); chunk++)
        for (int i = chunk * CHUNK; i < chunk_end(s, chunk); i++) {
            und_point p = und_point_of(s, i);
            unsigned walls = walls_at(&s->mac, in->label, p);
            s->flag[i] = (uint8_t)(walls | (is_at_inflow(&s->mac, in, p, walls) ? UND_AT_INFLOW : 0));
        }
}

/* Markers between two others on walls stay where they are: there the liquid's outline is the wall, however
 * it slides along, and around a solid's corners too.  So do those at openings, from which it is drawn out. */
static bool stays(const und_chains *s, int i)
{
    return (s->flag[i] && s->flag[s->prev[i]] && s->flag[s->next[i]]) || s->flag[i] & UND_AT_INFLOW;
}

static void take_spare(und_chains *s)
{
    for (int a = 0; a < 2; a++) {
        double *old = s->place[a];
        s->place[a] = s->spare[a];
        s->spare[a] = old;
    }
}

static void carry(und_chains *s, double *const u[3], const uint8_t *label, double dt)
{
    PARALLEL_FOR(workers_of(s))
    for (int chunk = 0; chunk < chunks_of(s); chunk++)
        for (int i = chunk * CHUNK; i < chunk_end(s, chunk); i++) {
            und_point p = und_point_of(s, i), still = {0, 0}, to = p;
            if (!stays(s, i)) {
                und_point v = velocity_at(&s->mac, u, p, s->flag[i]);
                und_point middle = slide(&s->mac, label, p, und_point_add(still, v, dt / 2));
                v = velocity_at(&s->mac, u, middle, s->flag[i]);
                to = slide(&s->mac, label, p, und_point_add(still, v, dt));
            }
            s->spare[0][i] = to.x;
            s->spare[1][i] = to.y;
        }
    take_spare(s);
}

/* Air that closes, chains that go, and each step's error change how much liquid there is.  The free surface
 * goes in or out until nothing is owed. */
static void take_back(und_chains *s, const uint8_t *label)
{
    double length = 0, cell = und_chains_cell(s);
    for (int i = 0; i < s->count; i++)
        if (!s->flag[i])
            length += und_point_gap(und_point_of(s, i), und_point_of(s, s->next[i]));
    if (!(fabs(s->owed) > 1e-9 * cell * cell && length > 0))
        return;
    double out = fmin(fmax(-s->owed / length, -MOST_BACK * cell), MOST_BACK * cell);
    for (int i = 0; i < s->count; i++) {
        und_point p = und_point_of(s, i);
        und_point along = und_point_from(und_point_of(s, s->prev[i]), und_point_of(s, s->next[i]));
        double size = und_point_length(along);
        if (!s->flag[i] && size > 0)
            p = slide(&s->mac, label, p, (und_point){along.y * out / size, -along.x * out / size});
        s->spare[0][i] = p.x;
        s->spare[1][i] = p.y;
    }
    take_spare(s);
}

/* Liquid comes to a wall ever more slowly, the velocity across being none at it; the last bit of air between
 * them is closed. */
static und_point land(const und_chains *s, const uint8_t *label, int i)
{
    const und_mac *m = &s->mac;
    const double *x = s->place[0], *y = s->place[1];
    double at[2] = {coordinate(m, 0, x[i]), coordinate(m, 1, y[i])};
    int cell[2] = {(int)floor(at[0]), (int)floor(at[1])};
    und_point along = {x[s->next[i]] - x[s->prev[i]], y[s->next[i]] - y[s->prev[i]]};
    double length = und_point_length(along), out[2] = {along.y, -along.x};
    for (int a = 0; a < 2; a++) {
        int step = out[a] > 0 ? 1 : -1;
        double gap = step > 0 ? cell[a] + 1 - at[a] : at[a] - cell[a];
        if (fabs(out[a]) > 0.7 * length && gap < WALL_GAP && !und_chains_solid(m, label, cell[0], cell[1]) &&
            und_chains_solid(m, label, cell[0] + (a == 0) * step, cell[1] + (a == 1) * step))
            at[a] = step > 0 ? cell[a] + 1 - UND_CHAINS_SKIN : cell[a] + UND_CHAINS_SKIN;
    }
    return (und_point){m->origin[0] + at[0] * m->d[0], m->origin[1] + at[1] * m->d[1]};
}

static void land_all(und_chains *s, const uint8_t *label)
{
    PARALLEL_FOR(workers_of(s))
    for (int chunk = 0; chunk < chunks_of(s); chunk++)
        for (int i = chunk * CHUNK; i < chunk_end(s, chunk); i++) {
            und_point p = stays(s, i) ? und_point_of(s, i) : land(s, label, i);
            s->spare[0][i] = p.x;
            s->spare[1][i] = p.y;
        }
    take_spare(s);
}

static void put(und_chains *s, int i, und_point p)
{
    s->place[0][i] = p.x;
    s->place[1][i] = p.y;
}

static void take_out(und_chains *s, int i)
{
    s->next[s->prev[i]] = s->next[i];
    s->prev[s->next[i]] = s->prev[i];
    s->next[i] = UND_GONE;
}

static double twice_triangle(und_point a, und_point b, und_point c)
{
    return und_point_cross(und_point_from(a, b), und_point_from(a, c));
}

/* The paper deletes both markers of a pair that is too close and connects their neighbours, and then a link
 * that is too long gets a marker again.  That marker is put where the enclosed area stays what it was. */
static void delete_pair(und_chains *s, const uint8_t *label, int p)
{
    int q = s->next[p];
    und_point a = und_point_of(s, s->prev[p]), b = und_point_of(s, p), c = und_point_of(s, q),
              d = und_point_of(s, s->next[q]);
    und_point chord = und_point_from(a, d);
    double length = und_point_length(chord), lost = twice_triangle(a, b, c) + twice_triangle(a, c, d);
    if (walls_at(&s->mac, label, b) || walls_at(&s->mac, label, c)) {
        /* Walls stay lined with markers: only the one that matters less goes. */
        take_out(s, fabs(twice_triangle(a, b, c)) < fabs(twice_triangle(b, c, d)) ? p : q);
        return;
    }
    und_point middle = {(b.x + c.x) / 2, (b.y + c.y) / 2};
    if (fabs(lost) < length * length)
        middle = (und_point){(a.x + d.x) / 2 + chord.y * lost / (length * length),
                             (a.y + d.y) / 2 - chord.x * lost / (length * length)};
    put(s, p, slide(&s->mac, label, b, und_point_from(b, middle)));
    take_out(s, q);
}

static bool too_close(const und_chains *s, int p)
{
    int q = s->next[p];
    if (s->prev[p] == s->next[q] || s->prev[p] == q) /* nothing would be left to enclose anything */
        return false;
    double apart = und_point_gap(und_point_of(s, p), und_point_of(s, q));
    return apart < TOO_CLOSE * (s->spacing[p] + s->spacing[q]) / 2;
}

/* Direction of the outline at q, after p and before r: that of the parabola through them. */
static und_point direction_at(und_point p, und_point q, und_point r)
{
    und_point in = und_point_from(p, q), out = und_point_from(q, r);
    double a = und_point_length(in), b = und_point_length(out);
    if (!(a > 0 && b > 0))
        return out;
    und_point sum = {in.x * b / a + out.x * a / b, in.y * b / a + out.y * a / b};
    double length = und_point_length(sum);
    return length > 0 ? (und_point){sum.x / length, sum.y / length} : out;
}

/* Between two markers on walls: the middle, or the corner of the solid where that is in the way. */
static und_point between_walls(const und_chains *s, const uint8_t *label, und_point b, und_point c)
{
    const und_mac *m = &s->mac;
    und_point try[3] = {{(b.x + c.x) / 2, (b.y + c.y) / 2}, {b.x, c.y}, {c.x, b.y}};
    double least = und_point_gap(b, c) / 10;
    for (int k = 0; k < 3; k++) {
        int x = (int)floor(coordinate(m, 0, try[k].x)), y = (int)floor(coordinate(m, 1, try[k].y));
        if (!und_chains_solid(m, label, x, y) && und_point_gap(b, try[k]) > least &&
            und_point_gap(c, try[k]) > least)
            return try[k];
    }
    return try[0];
}

/* The middle of the cubic between two markers, which keeps the area of a smooth outline; of the link itself
 * beside corners. */
static und_point between(const und_chains *s, const uint8_t *label, int p)
{
    int q = s->next[p];
    und_point a = und_point_of(s, s->prev[p]), b = und_point_of(s, p), c = und_point_of(s, q),
              d = und_point_of(s, s->next[q]);
    und_point middle = {(b.x + c.x) / 2, (b.y + c.y) / 2}, link = und_point_from(b, c);
    double length = und_point_length(link);
    und_point start = direction_at(a, b, c), end = direction_at(b, c, d);
    const double straight = 0.7; /* cosine */
    if (walls_at(&s->mac, label, b) && walls_at(&s->mac, label, c))
        return between_walls(s, label, b, c);
    if (und_point_dot(start, link) < straight * length || und_point_dot(end, link) < straight * length)
        return middle;
    und_point off = und_point_from(end, start);
    return slide(&s->mac, label, middle, und_point_add((und_point){0, 0}, off, length / 8));
}

static void insert_after(und_chains *s, int p, und_point place)
{
    int q = s->next[p], i = s->count++;
    put(s, i, place);
    s->spacing[i] = (s->spacing[p] + s->spacing[q]) / 2;
    s->next[p] = s->prev[q] = i;
    s->prev[i] = p;
    s->next[i] = q;
}

static bool too_long(const und_chains *s, int p)
{
    int q = s->next[p];
    double apart = und_point_gap(und_point_of(s, p), und_point_of(s, q));
    return apart > TOO_LONG * (s->spacing[p] + s->spacing[q]) / 2;
}

/* Inserts and deletes. */
static void even_out(und_chains *s, const uint8_t *label)
{
    for (int i = 0; i < s->count; i++)
        while (s->next[i] != UND_GONE && too_close(s, i))
            delete_pair(s, label, i);
    for (int i = 0; i < s->count; i++) /* those inserted too */
        while (s->next[i] != UND_GONE && s->count < s->capacity && too_long(s, i))
            insert_after(s, i, between(s, label, i));
}

void und_chains_move(und_chains *s, const und_inflows *in, double dt)
{
    const uint8_t *label = in->label;
    und_chains_link(s);
    find_walls(s, in);
    take_back(s, label);
    carry(s, in->u, label, dt);
    land_all(s, label);
    even_out(s, label);
    bool joined = und_chains_join(s, UND_CHAINS_AIR_GAP);
    und_chains_unlink(s);
    if (joined) {
        und_chains_uncover(s);
        und_chains_link(s);
        even_out(s, label);
        und_chains_unlink(s);
    }
}

void und_chains_owe(und_chains *s, double volume)
{
    s->owed = volume / s->mac.d[2];
}
