/* Which impact the drops of a row belong to: drops born near each other are of one patch, and a patch that
 * lies where an impact sprayed just before belongs to it. */
#include "base/maths.h"
#include "spray/sheet.h"

#include <math.h>
#include <string.h>

enum { TABLE = 2 * UND_SHEET_NEWBORN };
enum { FEWEST = 24 };      /* drops of a patch that begin a sheet */
enum { DROPS_A_NODE = 3 }; /* on average, in its first row */
enum { FEWEST_SECTORS = 12 };
static const double NEAR = 1.5;       /* cells of the water between drops of one impact, at most */
static const double CELLS_A_NODE = 1; /* cells of the water between two nodes, at least */
static const double NARROW = 0.25;    /* width over length of a patch that makes a curtain */
static const double BEYOND = 0.15;    /* how far a curtain may grow at either end, relative to its length */
static const double OUTGROWN =
    2;                         /* sectors that a patch could have, relative to its impact's, to begin anew */
enum { YOUNG = 4 };            /* rows of an impact that may still begin anew */
static const double PAUSE = 2; /* rows without a drop that end an impact */
static const double HOLLOW = 0.28; /* spread of the distances from a crown's middle, relative to their mean */
static const double WIDTH = 3;     /* how much farther than their spread drops may leave */

static uint32_t hash_cell(int32_t x, int32_t z)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)z * 0x85ebca77u;
    return (h ^ h >> 15) & (TABLE - 1);
}

/* The cell at (x, z); -1 where there is none. */
static int find_cell(const und_sheets *s, int32_t x, int32_t z, uint32_t *at)
{
    for (*at = hash_cell(x, z); s->table[*at]; *at = (*at + 1) & (TABLE - 1)) {
        const und_sheet_cell *cell = &s->cells[s->table[*at] - 1];
        if (cell->x == x && cell->z == z)
            return s->table[*at] - 1;
    }
    return -1;
}

static int root_of(und_sheet_cell *cells, int cell)
{
    while (cells[cell].parent != cell)
        cell = cells[cell].parent = cells[cells[cell].parent].parent;
    return cell;
}

/* Puts a drop into its cell of size `link`, and returns the cell. */
static int drop_cell(und_sheets *s, float px, float pz, double link)
{
    uint32_t at;
    int32_t x = (int32_t)floor(fmax(-1e8, fmin(1e8, px / link)));
    int32_t z = (int32_t)floor(fmax(-1e8, fmin(1e8, pz / link)));
    int cell = find_cell(s, x, z, &at);
    if (cell < 0) {
        cell = s->cell_count++;
        s->table[at] = cell + 1;
        s->cells[cell] =
            (und_sheet_cell){.x = x, .z = z, .parent = cell, .slot = -1, .low = {px, pz}, .high = {px, pz}};
    }
    und_sheet_cell *c = &s->cells[cell];
    double xz[2] = {px, pz};
    c->count++;
    for (int a = 0; a < 2; a++) {
        c->sum[a] += xz[a];
        c->square[2 * a] += xz[a] * xz[a];
    }
    c->square[1] += xz[0] * xz[1];
    c->low[0] = fminf(c->low[0], px);
    c->low[1] = fminf(c->low[1], pz);
    c->high[0] = fmaxf(c->high[0], px);
    c->high[1] = fmaxf(c->high[1], pz);
    return cell;
}

/* Neighbouring cells are of one patch; its root, the cell found first, gathers them. */
static void join_cells(und_sheets *s)
{
    static const int32_t step[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    und_sheet_cell *cells = s->cells;
    uint32_t at;
    for (int i = 0; i < s->cell_count; i++)
        for (int k = 0; k < 4; k++) {
            int other = find_cell(s, cells[i].x + step[k][0], cells[i].z + step[k][1], &at);
            int a = root_of(cells, i), b = other < 0 ? a : root_of(cells, other);
            cells[a > b ? a : b].parent = a > b ? b : a;
        }
    for (int i = 0; i < s->cell_count; i++) {
        und_sheet_cell *c = &cells[i], *root = &cells[root_of(cells, i)];
        if (root == c)
            continue;
        root->count += c->count;
        for (int a = 0; a < 2; a++) {
            root->low[a] = fminf(root->low[a], c->low[a]);
            root->high[a] = fmaxf(root->high[a], c->high[a]);
            root->sum[a] += c->sum[a];
        }
        for (int a = 0; a < 3; a++)
            root->square[a] += c->square[a];
    }
}

/* How far from the middle of its patch each drop left, and how fast it moves away from there. */
static void measure_rings(und_sheets *s, const und_spray *spray, int first, int end)
{
    for (int i = first; i < end; i++) {
        und_sheet_cell *root = &s->cells[root_of(s->cells, s->node[i])];
        double x = spray->place[0][i] - 0.5 * ((double)root->low[0] + (double)root->high[0]);
        double z = spray->place[2][i] - 0.5 * ((double)root->low[1] + (double)root->high[1]);
        double away = und_hypot(x, z);
        root->away += away;
        root->away_square += away * away;
        root->outwards += (x * spray->speed[0][i] + z * spray->speed[2][i]) / fmax(away, 1e-9);
    }
}

/* How far a patch is from the middle of a crown. */
static double distance_from(const und_impact *m, const und_sheet_cell *patch)
{
    double square = (patch->square[0] + patch->square[2]) / patch->count;
    for (int a = 0; a < 2; a++) {
        double middle = 0.5 * (m->low[a] + m->high[a]);
        square += middle * (middle - 2 * patch->sum[a] / patch->count);
    }
    return sqrt(fmax(square, 0));
}

static bool is_spraying(const und_sheets *s, const und_impact *m)
{
    return m->number > 0 && s->row - m->row <= PAUSE && s->row - m->first_row < UND_SHEET_ROWS;
}

/* Whether a patch is a jet in the middle of a crown. */
static bool is_inside(const und_sheets *s, const und_sheet_cell *patch)
{
    bool inside = false;
    for (int i = 0; i < UND_SHEET_IMPACTS; i++) {
        const und_impact *m = &s->impact[i];
        inside = inside || (is_spraying(s, m) && und_impact_is_crown(m) && m->growth >= 0 &&
                            distance_from(m, patch) < m->ring - m->width);
    }
    return inside;
}

/* Whether a patch may go on with an impact: it lies where that crown sprays, one that does not close, or it
 * is no larger than a curtain may have become. */
static bool goes_on(const und_impact *m, const und_sheet_cell *patch, double link)
{
    if (und_impact_is_crown(m))
        return m->growth >= 0 && fabs(distance_from(m, patch) - m->ring) <= m->width + link;
    bool fits = true;
    for (int a = 0; a < 2; a++)
        fits = fits && (double)patch->high[a] - (double)patch->low[a] <= 2 * (m->high[a] - m->low[a] + link);
    return fits;
}

/* The impact that sprayed there just before, the latest; -1: none. */
static int impact_at(const und_sheets *s, const und_sheet_cell *patch, double link)
{
    int found = -1;
    for (int i = 0; i < UND_SHEET_IMPACTS; i++) {
        const und_impact *m = &s->impact[i];
        bool near = is_spraying(s, m) && goes_on(m, patch, link);
        for (int a = 0; a < 2; a++)
            near = near && patch->low[a] <= m->high[a] + link && patch->high[a] >= m->low[a] - link;

        if (near && (found < 0 || m->number > s->impact[found].number))
            found = i;
    }
    return found;
}

/* The longer axis of a patch, its middle, and its length there and across, as if it were evenly filled. */
static void measure_patch(const und_sheet_cell *patch, double axis[2], double middle[2], double length[2])
{
    double n = patch->count;
    for (int a = 0; a < 2; a++)
        middle[a] = patch->sum[a] / n;
    double xx = patch->square[0] / n - middle[0] * middle[0],
           zz = patch->square[2] / n - middle[1] * middle[1];
    double xz = patch->square[1] / n - middle[0] * middle[1];
    double turn = 0.5 * und_atan2(2 * xz, xx - zz), half = und_hypot(0.5 * (xx - zz), xz);
    axis[0] = und_cos(turn);
    axis[1] = und_sin(turn);
    length[0] = sqrt(12 * fmax(0.5 * (xx + zz) + half, 0));
    length[1] = sqrt(12 * fmax(0.5 * (xx + zz) - half, 0));
}

/* How a patch is described best. */
typedef struct shape_of_patch {
    bool crown;
    double axis[2], middle[2];
    double length; /* m, around the crown or along the curtain, with room to grow */
    double sectors;
    double ring, spread; /* m: distances from the middle */
    bool thrown;         /* it makes a sheet: a curtain, or a ring that moves outwards */
} shape_of_patch;

static shape_of_patch shape_of(const und_sheet_cell *patch, double dx)
{
    shape_of_patch shape;
    double length[2], sides = patch->high[0] - patch->low[0] + patch->high[1] - patch->low[1];
    measure_patch(patch, shape.axis, shape.middle, length);
    shape.crown = length[1] > NARROW * length[0];
    shape.length = shape.crown ? M_PI / 2 * sides : (1 + 2 * BEYOND) * length[0];
    double room = shape.length / (CELLS_A_NODE * dx),
           sectors = floor(fmin((double)patch->count / DROPS_A_NODE, room));
    shape.sectors = fmax(FEWEST_SECTORS, fmin(UND_SHEET_SECTORS, sectors));
    shape.ring = patch->away / patch->count;
    shape.spread = sqrt(fmax(patch->away_square / patch->count - shape.ring * shape.ring, 0));
    shape.thrown = room >= FEWEST_SECTORS &&
                   (!shape.crown || (shape.spread < HOLLOW * shape.ring && patch->outwards > 0));
    return shape;
}

/* A new impact; -1 where its drops are too few or the slots all taken. */
static int begin_impact(und_sheets *s, const und_sheet_cell *patch, const shape_of_patch *shape, double link)
{
    int slot = 0;
    while (slot < UND_SHEET_IMPACTS && s->impact[slot].number > 0)
        slot++;
    if (patch->count < FEWEST || !shape->thrown || is_inside(s, patch) || slot == UND_SHEET_IMPACTS)
        return -1;
    und_impact *m = &s->impact[slot];
    *m = (und_impact){.number = ++s->born,
                      .sectors = shape->sectors,
                      .first_row = s->row,
                      .row = s->row,
                      .low = {patch->low[0], patch->low[1]},
                      .high = {patch->high[0], patch->high[1]},
                      .ring = shape->ring,
                      .width = fmax(WIDTH * shape->spread, link)};
    for (int a = 0; a < 2 && !shape->crown; a++) {
        m->axis[a] = shape->axis[a] * (shape->sectors - 1) / shape->length;
        m->start += m->axis[a] * (shape->middle[a] - 0.5 * shape->length * shape->axis[a]);
    }
    int first = und_sheet_at(slot, 0, 0), nodes = UND_SHEET_ROWS * UND_SHEET_SECTORS;
    memset(s->quad + first, UND_QUAD_NONE, (size_t)nodes);
    memset(s->left + first, 0, (size_t)nodes * sizeof *s->left);
    return slot;
}

/* The impact of each patch; one that goes on may have new quads to its row before. */
static void match_patches(und_sheets *s, double link, double dx)
{
    double before[UND_SHEET_IMPACTS];
    for (int i = 0; i < UND_SHEET_IMPACTS; i++)
        before[i] = s->impact[i].number > 0 ? s->impact[i].row : -1;
    for (int i = 0; i < s->cell_count; i++) {
        und_sheet_cell *patch = &s->cells[i];
        if (patch->parent != i)
            continue;
        shape_of_patch shape = shape_of(patch, dx);
        patch->slot = impact_at(s, patch, link);
        const und_impact *known = patch->slot < 0 ? NULL : &s->impact[patch->slot];
        if (!known || (und_impact_rows(known) < YOUNG && shape.sectors >= OUTGROWN * known->sectors)) {
            int begun = begin_impact(s, patch, &shape, link);
            patch->slot = begun < 0 ? patch->slot : begun;
            if (begun >= 0 || patch->slot < 0)
                continue;
        }
        und_impact *m = &s->impact[patch->slot];
        m->row = s->row;
        for (int a = 0; a < 2; a++) {
            m->low[a] = fmin(m->low[a], patch->low[a]);
            m->high[a] = fmax(m->high[a], patch->high[a]);
        }
    }
    for (int i = 0; i < UND_SHEET_IMPACTS; i++)
        if (before[i] >= 0 && before[i] == s->row - 1 && s->impact[i].row == s->row)
            memset(s->quad + und_sheet_at(i, und_impact_rows(&s->impact[i]) - 2, 0), UND_QUAD_NEW,
                   (size_t)s->impact[i].sectors - !und_impact_is_crown(&s->impact[i]));
}

static double distance_of(const und_impact *m, const und_spray *spray, int i)
{
    return und_hypot(spray->place[0][i] - 0.5 * (m->low[0] + m->high[0]),
                     spray->place[2][i] - 0.5 * (m->low[1] + m->high[1]));
}

/* The nodes that a drop of the impact belongs to; none where it left far from the ring. */
static void place_drop(und_sheets *s, const und_spray *spray, int i, int slot)
{
    const und_impact *m = &s->impact[slot];
    double x = spray->place[0][i], z = spray->place[2][i], along, sector;
    if (und_impact_is_crown(m)) {
        double turn = und_atan2(z - 0.5 * (m->low[1] + m->high[1]), x - 0.5 * (m->low[0] + m->high[0]));
        if (!(fabs(distance_of(m, spray, i) - m->ring) <= m->width))
            return;
        along = (turn / (2 * M_PI) + 1) * m->sectors;
        sector = floor(along);
    } else {
        along = fmax(0, fmin(m->axis[0] * x + m->axis[1] * z - m->start, m->sectors - 1));
        sector = fmin(floor(along), m->sectors - 2);
    }
    s->node[i] = und_sheet_at(slot, und_impact_rows(m) - 1, (int)fmod(sector, m->sectors));
    s->share[i] = (float)(along - sector);
}

bool und_sheets_expect(const und_sheets *s, const und_spray *spray, int i)
{
    bool expected = false;
    for (int k = 0; k < UND_SHEET_IMPACTS && !expected; k++) {
        const und_impact *m = &s->impact[k];
        double x = spray->place[0][i], z = spray->place[2][i];
        if (und_impact_rows(m) < 2 || s->row - m->row > 1)
            continue;
        if (und_impact_is_crown(m))
            expected = m->growth >= 0 && fabs(distance_of(m, spray, i) - m->ring) <= m->width;
        else
            expected = x >= m->low[0] && x <= m->high[0] && z >= m->low[1] && z <= m->high[1];
    }
    return expected;
}

/* Where the next row is looked for: where this one left. */
static void follow_rings(und_sheets *s, const und_spray *spray, int first, double link)
{
    struct {
        double count, away, square;
    } sum[UND_SHEET_IMPACTS] = {0};
    for (int i = first; i < spray->count; i++) {
        if (s->node[i] < 0)
            continue;
        int slot = s->node[i] / (UND_SHEET_ROWS * UND_SHEET_SECTORS);
        double away = distance_of(&s->impact[slot], spray, i);
        sum[slot].count++;
        sum[slot].away += away;
        sum[slot].square += away * away;
    }
    for (int i = 0; i < UND_SHEET_IMPACTS; i++) {
        if (sum[i].count == 0)
            continue;
        und_impact *m = &s->impact[i];
        double mean = sum[i].away / sum[i].count;
        bool first_row = m->first_row == m->row;
        double growth = first_row ? 0 : m->growth + mean - m->ring;
        m->growth = first_row ? 0 : 0.5 * (m->growth + growth);
        m->ring = mean + m->growth;
        if (m->growth < 0 && und_impact_is_crown(m))
            memset(s->quad + und_sheet_at(i, 0, 0), UND_QUAD_NONE, UND_SHEET_ROWS * UND_SHEET_SECTORS);
        m->width = fmax(WIDTH * sqrt(fmax(sum[i].square / sum[i].count - mean * mean, 0)), link);
    }
}

int und_sheets_close_row(und_sheets *s, und_spray *spray, double dx)
{
    int first = spray->count, end;
    double link = fmax(s->reach, NEAR * dx);
    while (first > 0 && s->node[first - 1] == UND_SHEET_NEW)
        first--;
    end = spray->count - first > UND_SHEET_NEWBORN ? first + UND_SHEET_NEWBORN : spray->count;
    s->cell_count = 0;
    if (end > first)
        memset(s->table, 0, TABLE * sizeof *s->table);
    for (int i = first; i < end; i++)
        s->node[i] = drop_cell(s, spray->place[0][i], spray->place[2][i], link); /* until it has a node */
    join_cells(s);
    measure_rings(s, spray, first, end);
    match_patches(s, link, dx);
    for (int i = first; i < spray->count; i++) {
        int slot = i < end ? s->cells[root_of(s->cells, s->node[i])].slot : -1;
        s->node[i] = UND_SHEET_FREE;
        if (slot >= 0)
            place_drop(s, spray, i, slot);
        if (s->node[i] == UND_SHEET_FREE)
            und_sheets_free_drop(s, spray, i);
    }
    follow_rings(s, spray, first, link);
    s->row++;
    return first;
}
