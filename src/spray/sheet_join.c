/* How the drops of a row become part of a sheet.  A crown is thick where it leaves the water, and what leaves
 * there together moves alike: the drops take the velocity of their nodes, and that is smoothed around the
 * ring, since cells of the water are coarser than the wall they throw up.  What a drop's velocity has at
 * random it gets back when it tears loose. */
#include "base/maths.h"
#include "base/random.h"
#include "spray/sheet.h"

#include <math.h>

enum { STREAM_SCATTER = 215 };
enum { SMOOTHINGS = 4 };
static const double TOGETHER = 0.15; /* s for which drops seem to have been in a sheet when they join it */
static const double WILDEST = 0.7;   /* how much speeds of a node's drops may differ, relative to its speed */

void und_sheets_free_drop(und_sheets *s, und_spray *spray, int i)
{
    double size = 0;
    s->node[i] = UND_SHEET_FREE;
    s->share[i] = 0;
    for (int a = 0; a < 3; a++)
        size += (double)spray->speed[a][i] * (double)spray->speed[a][i];
    size = s->scatter * sqrt(size);
    for (int a = 0; a < 3 && size > 0; a++)
        spray->speed[a][i] +=
            (float)(size *
                    (2 * und_random(s->seed, STREAM_SCATTER + (uint64_t)a, (uint64_t)spray->id[i]) - 1));
}

static bool is_joining(const und_sheets *s, int slot)
{
    return s->impact[slot].number > 0 && s->impact[slot].row == s->row - 1;
}

/* Whether what left in the last row of an impact went all ways: nodes have few drops, their row has many. */
static bool is_wild(const und_sheets *s, int slot)
{
    const und_impact *m = &s->impact[slot];
    const und_sheet_node *row = &s->nodes[und_sheet_at(slot, und_impact_rows(m) - 1, 0)];
    double variety = 0, speed = 0;
    for (int a = 0; a < (int)m->sectors; a++) {
        variety += row[a].volume * row[a].variety * row[a].variety;
        for (int k = 0; k < 3; k++)
            speed += row[a].volume * row[a].speed[k] * row[a].speed[k];
    }
    return !(variety <= WILDEST * WILDEST * speed);
}

/* What its neighbour in the row does to a node; around a crown its speed is turned from there to here. */
static void smooth_by(und_sheet_node *node, const und_sheet_node *other, double turn, double blend)
{
    double part = other->volume > 0 ? 0.5 * blend * other->volume / (node->volume + other->volume) : 0;
    double c = und_cos(turn), s = und_sin(turn);
    double speed[3] = {c * other->speed[0] - s * other->speed[2], other->speed[1],
                       s * other->speed[0] + c * other->speed[2]};
    for (int a = 0; a < 3; a++)
        node->change[a] += part * (speed[a] - node->speed[a]);
}

/* Once around the last row of an impact. */
static void smooth_row(und_sheets *s, int slot, double blend)
{
    const und_impact *m = &s->impact[slot];
    int sectors = (int)m->sectors;
    und_sheet_node *row = &s->nodes[und_sheet_at(slot, und_impact_rows(m) - 1, 0)];
    bool crown = und_impact_is_crown(m);
    double turn = crown ? 2 * M_PI / sectors : 0;
    for (int a = 0; a < sectors; a++) {
        for (int k = 0; k < 3; k++)
            row[a].change[k] = 0;
        if (row[a].volume > 0 && (crown || a + 1 < sectors))
            smooth_by(&row[a], &row[(a + 1) % sectors], -turn, blend);
        if (row[a].volume > 0 && (crown || a > 0))
            smooth_by(&row[a], &row[(a + sectors - 1) % sectors], turn, blend);
    }
    for (int a = 0; a < sectors; a++)
        for (int k = 0; k < 3; k++)
            row[a].speed[k] += row[a].change[k];
}

void und_sheets_join(und_sheets *s, und_spray *spray, int first)
{
    double blend = -und_expm1(-s->cohesion * TOGETHER);
    bool wild[UND_SHEET_IMPACTS] = {0};
    und_sheets_measure(s, spray);
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++) {
        wild[slot] = is_joining(s, slot) && is_wild(s, slot);
        for (int k = 0; k < SMOOTHINGS && is_joining(s, slot) && !wild[slot]; k++)
            smooth_row(s, slot, blend);
    }
    for (int i = first; i < spray->count; i++) {
        if (s->node[i] >= 0 && wild[s->node[i] / (UND_SHEET_ROWS * UND_SHEET_SECTORS)])
            und_sheets_free_drop(s, spray, i);
        if (s->node[i] < 0)
            continue;
        const und_sheet_node *a = &s->nodes[s->node[i]], *b = &s->nodes[und_sheet_next(s, s->node[i])];
        double share = s->share[i];
        for (int k = 0; k < 3; k++)
            spray->speed[k][i] +=
                (float)(blend * ((1 - share) * a->speed[k] + (share > 0 ? share * b->speed[k] : 0) -
                                 spray->speed[k][i]));
    }
}
