/* Sheets as triangles: quads drawn finer than they are, along smooth curves, and cut where holes and rims
 * are, along the level of a field that is 1 where the sheet is whole and 0 where nothing is left of it. */
#include "base/status.h"
#include "spray/sheet.h"

#include <math.h>
#include <string.h>

enum { FINE = 4 };                /* parts of a quad's edge */
static const double LEVEL = 0.35; /* of the field, where the sheet ends */
static const double FOOT = 0.03;  /* s */
static const double RIM = 0.4;    /* of the field, how far from there the rim reaches */

typedef struct corner {
    double place[3], speed[3], thickness, field;
} corner;

/* How near a place of the sheet is to its rim: 1 there, 0 where the sheet is whole. */
static double rim_of(const corner *c)
{
    double t = fmin((c->field - LEVEL) / RIM, 1);
    return (1 - t) * (1 - t);
}

/* The four items, [3 triangles] corners each; NULL: triangles are only counted. */
typedef struct mesh {
    float *position, *velocity, *thickness, *rim;
    size_t count; /* corners so far */
} mesh;

static void put(mesh *m, const corner *c)
{
    size_t at = m->count++;
    if (!m->position)
        return;
    for (size_t a = 0; a < 3; a++) {
        m->position[3 * at + a] = (float)c->place[a];
        m->velocity[3 * at + a] = (float)c->speed[a];
    }
    m->thickness[at] = (float)c->thickness;
    m->rim[at] = (float)rim_of(c);
}

/* Where the field has the level, between two corners. */
static corner cut(const corner *a, const corner *b)
{
    double t = (LEVEL - a->field) / (b->field - a->field);
    corner c = {.thickness = a->thickness + t * (b->thickness - a->thickness), .field = LEVEL};
    for (int k = 0; k < 3; k++) {
        c.place[k] = a->place[k] + t * (b->place[k] - a->place[k]);
        c.speed[k] = a->speed[k] + t * (b->speed[k] - a->speed[k]);
    }
    return c;
}

/* What of a triangle lies above the level: a polygon of at most four corners. */
static void put_triangle(mesh *m, const corner *const in[3])
{
    corner out[4];
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const corner *a = in[k], *b = in[(k + 1) % 3];
        if (a->field >= LEVEL)
            out[count++] = *a;
        if ((a->field >= LEVEL) != (b->field >= LEVEL))
            out[count++] = cut(a, b);
    }
    for (int k = 2; k < count; k++) {
        put(m, &out[0]);
        put(m, &out[k - 1]);
        put(m, &out[k]);
    }
}

/* Rows that are drawn: while the impact sprays, also the foot of the sheet below its last row, which is in
 * the water. */
static int rows_of(const und_sheets *s, int slot)
{
    const und_impact *m = &s->impact[slot];
    int rows = und_impact_rows(m);
    return rows > 1 && rows < UND_SHEET_ROWS && s->row - m->row <= 1 ? rows + 1 : rows;
}

/* Where the water of the foot is: where the last row was a while ago. */
static void make_foot(und_sheets *s, int slot)
{
    int rows = und_impact_rows(&s->impact[slot]);
    for (int a = 0; a < (int)s->impact[slot].sectors && rows_of(s, slot) > rows; a++) {
        und_sheet_node *foot = &s->nodes[und_sheet_at(slot, rows, a)];
        *foot = foot[-UND_SHEET_SECTORS];
        for (int k = 0; k < 3; k++)
            foot->place[k] -= FOOT * foot->speed[k];
    }
}

/* It is as thick and as whole as what it carries. */
static void finish_foot(und_sheets *s, int slot)
{
    int rows = und_impact_rows(&s->impact[slot]);
    for (int a = 0; a < (int)s->impact[slot].sectors && rows_of(s, slot) > rows; a++) {
        und_sheet_node *foot = &s->nodes[und_sheet_at(slot, rows, a)];
        foot->thickness = foot[-UND_SHEET_SECTORS].thickness;
        foot->field = foot[-UND_SHEET_SECTORS].field;
    }
}

/* A node of the impact, or NULL: rows end, and so do the sectors of a curtain. */
static const und_sheet_node *node_at(const und_sheets *s, int slot, int row, int sector)
{
    int sectors = (int)s->impact[slot].sectors;
    if (row < 0 || row >= rows_of(s, slot) ||
        (!und_impact_is_crown(&s->impact[slot]) && (sector < 0 || sector >= sectors)))
        return NULL;
    const und_sheet_node *node = &s->nodes[und_sheet_at(slot, row, (sector + sectors) % sectors)];
    return node->volume > 0 ? node : NULL;
}

/* Half of its own place, a quarter of its neighbours' in its row, a quarter of theirs in its column. */
static void smooth_node(und_sheets *s, int slot, int row, int sector)
{
    und_sheet_node *node = &s->nodes[und_sheet_at(slot, row, sector)];
    memcpy(node->smooth, node->place, sizeof node->smooth);
    for (int way = 0; way < 2; way++) {
        const und_sheet_node *a = node_at(s, slot, row - way, sector - !way);
        const und_sheet_node *b = node_at(s, slot, row + way, sector + !way);
        for (int k = 0; k < 3 && a && b; k++)
            node->smooth[k] += 0.25 * (0.5 * (a->place[k] + b->place[k]) - node->place[k]);
    }
}

/* Means over the quads around a node: how thick, and how whole. */
static void blend_quads(und_sheets *s, int slot, int row, int sector)
{
    und_sheet_node *node = &s->nodes[und_sheet_at(slot, row, sector)];
    int rows = und_impact_rows(&s->impact[slot]), sectors = (int)s->impact[slot].sectors, around = 4;
    node->field = node->thickness = 0;
    for (int k = 0; k < 4; k++) {
        int corners[4], r = row - k / 2, a = (sector - k % 2 + sectors) % sectors;
        around -= r + 1 == rows && rows_of(s, slot) > rows; /* there it goes on in the water */
        if (r < 0 || r + 1 >= rows || (a + 1 == sectors && !und_impact_is_crown(&s->impact[slot])))
            continue;
        und_sheet_corners(s, slot, r, a, corners);
        if (s->quad[corners[0]] != UND_QUAD_WHOLE || !und_sheet_filled(s, corners))
            continue;
        node->field += s->left[corners[0]];
        node->thickness += und_sheet_thickness(s, corners) / node->quads;
    }
    node->field /= fmax(around, 1);
}

/* Catmull & Rom 1974: the weights of four points at t between the middle ones. */
static void spline(double t, double weight[4])
{
    weight[0] = 0.5 * t * (-1 + t * (2 - t));
    weight[1] = 0.5 * (2 + t * t * (-5 + 3 * t));
    weight[2] = 0.5 * t * (1 + t * (4 - 3 * t));
    weight[3] = 0.5 * t * t * (t - 1);
}

/* The 4 x 4 nodes around a quad; where one is missing, the quad's corner nearest to it. */
static void find_around(const und_sheets *s, int slot, int row, int sector,
                        const und_sheet_node *around[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            const und_sheet_node *node = node_at(s, slot, row + i - 1, sector + k - 1);
            around[i][k] = node ? node : node_at(s, slot, row + (i > 1), sector + (k > 1));
        }
}

/* The sheet at (u, v) of a quad, u along its sectors; `left` of it. */
static corner point_at(const und_sheet_node *around[4][4], double u, double v, double left)
{
    double along[4], across[4], mean = 0;
    corner c = {0};
    spline(u, along);
    spline(v, across);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            for (int a = 0; a < 3; a++)
                c.place[a] += across[i] * along[k] * around[i][k]->smooth[a];
    for (int i = 1; i < 3; i++)
        for (int k = 1; k < 3; k++) {
            const und_sheet_node *node = around[i][k];
            double weight = (i == 2 ? v : 1 - v) * (k == 2 ? u : 1 - u);
            for (int a = 0; a < 3; a++)
                c.speed[a] += weight * node->speed[a];
            c.thickness += weight * node->thickness;
            c.field += weight * node->field;
            mean += 0.25 * node->field;
        }
    c.field += (left - mean) * 16 * u * (1 - u) * v * (1 - v);
    return c;
}

static void put_quad(mesh *m, const und_sheets *s, int slot, int row, int sector, double left)
{
    corner fine[FINE + 1][FINE + 1];
    const und_sheet_node *around[4][4];
    find_around(s, slot, row, sector, around);
    for (int i = 0; i <= FINE; i++)
        for (int k = 0; k <= FINE; k++)
            fine[i][k] = point_at(around, (double)k / FINE, (double)i / FINE, left);
    for (int i = 0; i < FINE; i++)
        for (int k = 0; k < FINE; k++) {
            const corner *a = &fine[i][k], *b = &fine[i][k + 1], *c = &fine[i + 1][k + 1],
                         *d = &fine[i + 1][k];
            put_triangle(m, (const corner *const[3]){a, b, c});
            put_triangle(m, (const corner *const[3]){a, c, d});
        }
}

/* Torn quads too: near their whole neighbours some of them is left, which rounds the rims. */
static size_t put_all(mesh *m, const und_sheets *s)
{
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++)
        for (int r = 0; r + 1 < rows_of(s, slot); r++)
            for (int a = 0; a < (int)s->impact[slot].sectors - !und_impact_is_crown(&s->impact[slot]); a++) {
                int corners[4];
                und_sheet_corners(s, slot, r, a, corners);
                bool foot = r + 1 == und_impact_rows(&s->impact[slot]);
                double left = foot ? 0.5 * (s->nodes[corners[0]].field + s->nodes[corners[1]].field)
                                   : s->left[corners[0]];
                if (und_sheet_filled(s, corners))
                    put_quad(m, s, slot, r, a, left);
            }
    return m->count;
}

und_status und_sheets_frame(und_sheets *s, und_frame *frame, und_error *err)
{
    for (int slot = 0; slot < UND_SHEET_IMPACTS; slot++) {
        make_foot(s, slot);
        for (int r = 0; r < rows_of(s, slot); r++)
            for (int a = 0; a < (int)s->impact[slot].sectors; a++) {
                smooth_node(s, slot, r, a);
                if (r < und_impact_rows(&s->impact[slot]))
                    blend_quads(s, slot, r, a);
            }
        finish_foot(s, slot);
    }
    mesh m = {0};
    und_item_def def = {.name = "sheet/mesh_position",
                        .unit = "m",
                        .kind = UND_PARTICLES,
                        .type = UND_F32,
                        .rank = 2,
                        .dim = {put_all(&m, s), 3}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return err->status;
    m = (mesh){.position = item->data};
    def.name = "sheet/mesh_velocity";
    def.unit = "m/s";
    if (!(item = und_frame_add(frame, &def, err)))
        return err->status;
    m.velocity = item->data;
    def.name = "sheet/mesh_thickness";
    def.unit = "m";
    def.rank = 1;
    if (!(item = und_frame_add(frame, &def, err)))
        return err->status;
    m.thickness = item->data;
    def.name = "sheet/mesh_rim";
    def.unit = "1";
    if (!(item = und_frame_add(frame, &def, err)))
        return err->status;
    m.rim = item->data;
    put_all(&m, s);
    return UND_OK;
}
