/* Chains begin where liquid flows in. */
#include "surface/chains_state.h"

/* An opening is looked at in so many places a cell, a little before the wall; as few dry ones make no chain.
 * One that begins is so thick, in cells: with its markers further apart than those that are mended. */
enum { PLACES = 8, FEWEST = 2 };
static const double BEFORE = 0.02, THICK = 0.25;

/* A stretch of wall, in cells: `at` along the axis across it, from `from` to `to` along the other one. */
typedef struct opening {
    int axis, side; /* the wall is at the high (1) or low (-1) side of its cells */
    double at, from, to;
} opening;

static und_point place(const und_mac *m, const opening *o, double along, double before)
{
    double across = o->at - o->side * before;
    double x = o->axis == 0 ? across : along, y = o->axis == 0 ? along : across;
    return (und_point){m->origin[0] + x * m->d[0], m->origin[1] + y * m->d[1]};
}

/* A thin chain along the opening: along the wall and back before it, liquid on its left. */
static bool begin_chain(und_chains *s, const opening *o)
{
    const und_mac *m = &s->mac;
    double from = o->from + UND_CHAINS_SKIN, to = o->to - UND_CHAINS_SKIN;
    int links = (int)ceil(2 * (to - from)), count = 2 * (links + 1);
    /* Up along a wall on the left side the liquid is on the right. */
    bool turned = (o->axis == 0) == (o->side < 0);
    if (s->count + count > s->capacity)
        return false;
    for (int i = 0; i < count; i++) {
        int k = i <= links ? i : count - 1 - i;
        double part = (double)k / links;
        und_point p = place(m, o, turned ? to + part * (from - to) : from + part * (to - from),
                            i <= links ? UND_CHAINS_SKIN : THICK);
        s->place[0][s->count + i] = p.x;
        s->place[1][s->count + i] = p.y;
        s->spacing[s->count + i] = und_chains_cell(s) / 2;
    }
    s->count += count;
    s->first[++s->chain_count] = s->count;
    return true;
}

static bool is_dry(const und_chains *s, const uint8_t *label, const opening *o, const int cell[2],
                   double along)
{
    uint8_t here = label[und_mac_at(&s->mac, cell[0], cell[1], 0)];
    if (here != UND_CELL_SURFACE)
        return here == UND_CELL_EMPTY;
    return und_chains_winding(s, place(&s->mac, o, along, BEFORE)) <= 0;
}

/* The openings on one side of a line of cells. */
static bool pour_line(und_chains *s, const und_inflows *in, opening o, int line)
{
    const und_mac *m = &s->mac;
    const und_chains_move_args moving = und_chains_moving(s, in, 0);
    int along = 1 - o.axis, cell[2], dry = 0;
    bool any = false;
    cell[o.axis] = line;
    o.at = line + (o.side > 0);
    for (cell[along] = 0; cell[along] <= m->n[along]; cell[along]++) {
        bool open = cell[along] < m->n[along] && !und_chains_solid(m, in->label, cell[0], cell[1]) &&
                    und_chains_comes_in(&moving, m, cell, o.axis, o.side);
        for (int k = 0; k < PLACES; k++) {
            double here = cell[along] + (k + 0.5) / PLACES;
            bool is = open && is_dry(s, in->label, &o, cell, here);
            if (is && dry++ == 0)
                o.from = cell[along] + (double)k / PLACES;
            o.to = cell[along] + (double)k / PLACES;
            if (!is && dry >= FEWEST)
                any |= begin_chain(s, &o);
            dry = is ? dry : 0;
        }
    }
    return any;
}

bool und_chains_pour(und_chains *s, const und_inflows *in)
{
    bool any = false, flows = false;
    for (int i = 0; i < in->wall_count; i++)
        flows |= in->walls[i].kind == UND_WALL_INFLOW;
    for (int k = 0; k < 4 && flows; k++)
        for (int line = 0; line < s->mac.n[k / 2]; line++)
            any |= pour_line(s, in, (opening){.axis = k / 2, .side = k % 2 ? 1 : -1}, line);
    return any;
}
