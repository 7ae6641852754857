/* Chains go with the liquid, and their links stay about as long as they were. */
#include "surface/chains_state.h"

/* In spacings: markers closer than the one and links longer than the other are mended. */
static const double TOO_CLOSE = 0.4, TOO_LONG = 1.6;
/* In cells: how far markers go at most in a step to take back what upkeep has added. */
static const double MOST_BACK = 0.01;

und_point und_chains_settle(const und_mac *m, const uint8_t *label, und_point p)
{
    double at[2] = {und_chains_coordinate(m, 0, p.x), und_chains_coordinate(m, 1, p.y)}, face[2];
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

static void take_spare(und_chains *s)
{
    for (int a = 0; a < 2; a++) {
        double *old = s->place[a];
        s->place[a] = s->spare[a];
        s->spare[a] = old;
    }
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
            p = und_chains_slide(&s->mac, label, p, (und_point){along.y * out / size, -along.x * out / size});
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
    if (und_chains_walls_at(&s->mac, label, b) || und_chains_walls_at(&s->mac, label, c)) {
        /* Walls stay lined with markers: only the one that matters less goes. */
        take_out(s, fabs(twice_triangle(a, b, c)) < fabs(twice_triangle(b, c, d)) ? p : q);
        return;
    }
    und_point middle = {(b.x + c.x) / 2, (b.y + c.y) / 2};
    if (fabs(lost) < length * length)
        middle = (und_point){(a.x + d.x) / 2 + chord.y * lost / (length * length),
                             (a.y + d.y) / 2 - chord.x * lost / (length * length)};
    put(s, p, und_chains_slide(&s->mac, label, b, und_point_from(b, middle)));
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
        int x = (int)floor(und_chains_coordinate(m, 0, try[k].x)),
            y = (int)floor(und_chains_coordinate(m, 1, try[k].y));
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
    if (und_chains_walls_at(&s->mac, label, b) && und_chains_walls_at(&s->mac, label, c))
        return between_walls(s, label, b, c);
    if (und_point_dot(start, link) < straight * length || und_point_dot(end, link) < straight * length)
        return middle;
    und_point off = und_point_from(end, start);
    return und_chains_slide(&s->mac, label, middle, und_point_add((und_point){0, 0}, off, length / 8));
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

und_chains_move_args und_chains_moving(const und_chains *s, const und_inflows *in, double dt)
{
    return (und_chains_move_args){.mac = s->mac,
                                  .u = {in->u[0], in->u[1], in->u[2]},
                                  .label = in->label,
                                  .wall = in->wall,
                                  .walls = in->walls,
                                  .wall_count = in->wall_count,
                                  .place = {s->place[0], s->place[1]},
                                  .to = {s->spare[0], s->spare[1]},
                                  .next = s->next,
                                  .prev = s->prev,
                                  .flag = s->flag,
                                  .dt = dt};
}

void und_chains_move(und_chains *s, const und_inflows *in, double dt)
{
    enum { BLOCK = 512, WORTH = 4 };
    const uint8_t *label = in->label;
    und_chains_link(s);
    const und_set all = und_set_list(s, s->count, BLOCK, WORTH);
    und_chains_move_args args = und_chains_moving(s, in, dt);
    und_pass(&s->device, und_chains_find_walls, &args, &all);
    take_back(s, label);
    args = und_chains_moving(s, in, dt);
    und_pass(&s->device, und_chains_carry, &args, &all);
    take_spare(s);
    args = und_chains_moving(s, in, dt);
    und_pass(&s->device, und_chains_land, &args, &all);
    take_spare(s);
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
