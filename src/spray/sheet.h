/* Sheets: young drops of one impact hang together in a thin sheet, a crown, until it tears.
 *
 * An impact is a patch of surface that sprays.  What it throws is a lattice over (direction around the
 * impact's middle, time of leaving), a crown; or, where the patch is long and narrow as at a wall, over
 * (place along it, time of leaving), a curtain.  It has rows of nodes, one row for each short while, the
 * oldest first.  A drop belongs to the two nodes of its row nearest to it in that sense; a node is the mean
 * of its drops, weighted by volume.  Four neighbouring nodes make a quad, whose thickness is its share of
 * their volume over its area. Where that gets less than sheet_tear a hole opens, and holes and rims run on at
 * the speed with which surface tension draws a sheet's edge back (Taylor 1959, Culick 1960).  What is torn
 * never heals. Sheets bend the paths of drops but hold no water of their own. */
#ifndef UND_SPRAY_SHEET_H
#define UND_SPRAY_SHEET_H

#include "spray/spray.h"

enum {
    UND_SHEET_IMPACTS = 32, /* at once; the drops of others stay drops */
    UND_SHEET_ROWS = 64,
    UND_SHEET_SECTORS = 96, /* at most */
    UND_SHEET_NODES = UND_SHEET_IMPACTS * UND_SHEET_ROWS * UND_SHEET_SECTORS,
    UND_SHEET_NEWBORN = 1 << 16 /* drops that can join sheets in one row; the others stay drops */
};

/* Where a drop is: a node, or */
enum { UND_SHEET_FREE = -1, UND_SHEET_NEW = -2 };

/* What a quad is. */
enum { UND_QUAD_NONE, UND_QUAD_WHOLE, UND_QUAD_NEW };

/* Whole numbers are doubles so that a checkpoint holds the impacts as one array. */
typedef struct und_impact {
    double number;          /* impacts before it, plus 1; 0: the slot is free */
    double sectors;         /* nodes in a row */
    double first_row, row;  /* of all rows since the start: its first, and its last */
    double low[2], high[2]; /* x and z of what sprayed, m */
    double axis[2];         /* x and z along a curtain, per distance of two nodes, 1/m; 0, 0: a crown */
    double start;           /* where along the axis its first node is */
    /* Of a crown, m: how far from its middle the next row will leave, how far to either side, and how much
     * farther than the row before. */
    double ring, width, growth;
} und_impact;

/* A node in a step: sums over its drops, then their means. */
typedef struct und_sheet_node {
    double volume;             /* m3; 0: none of its drops is in the air */
    double place[3], speed[3]; /* m, m/s */
    double change[3];          /* m/s that cohesion adds */
    double spread;             /* m; how far its drops are from it */
    double variety;            /* m/s; how much their speeds differ from its own */
    double squares;            /* m6, of their volumes */
    int quads;                 /* whole ones around it */
    double normal[3];          /* of the sheet; 0, 0, 0: none */
    /* As drawn. */
    double smooth[3];        /* m; place, without the noise of few drops */
    double thickness, field; /* m, and how whole its quads are; means over them */
} und_sheet_node;

/* A patch of cells in which drops were born, while impacts are looked for. */
typedef struct und_sheet_cell {
    int32_t x, z, parent;
    int32_t count, slot; /* of the patch, at its root: drops, and the impact it belongs to; -1: none */
    float low[2], high[2];
    double sum[2], square[3]; /* of x and z; of x^2, x z, z^2 */
    double away, away_square; /* of the distances from the middle of the patch */
    double outwards;          /* of the speeds away from there */
} und_sheet_cell;

typedef struct und_sheets {
    int threads;
    uint64_t seed;
    double tear, cohesion, scatter;
    double reach;  /* m; drops born nearer than this are of one impact, at least */
    int32_t *node; /* [drops] the nearer of the two in turning order, or UND_SHEET_FREE, UND_SHEET_NEW */
    float *share;  /* [drops] of the drop that is with the node after that */
    double row, row_age; /* rows that were closed, and s since the last was */
    double born;         /* impacts so far */
    und_impact impact[UND_SHEET_IMPACTS];
    uint8_t *quad; /* [nodes]; from its node to the next sector's and the next row's */
    float *edge;   /* [nodes] m; circumference of the quad when it was new */
    float *left;   /* [nodes] how much of a quad holes and rims have left, 1 to 0 */
    /* Scratch. */
    und_sheet_node *nodes;
    und_sheet_cell *cells;
    int cell_count;
    int32_t *table; /* cells by place, a hash table; 0: none, otherwise the cell's index plus 1 */
} und_sheets;

static inline int und_sheet_at(int slot, int row, int sector)
{
    return (slot * UND_SHEET_ROWS + row) * UND_SHEET_SECTORS + sector;
}

static inline int und_impact_rows(const und_impact *impact)
{
    return impact->number > 0 ? (int)(impact->row - impact->first_row) + 1 : 0;
}

static inline bool und_impact_is_crown(const und_impact *impact)
{
    return impact->axis[0] == 0 && impact->axis[1] == 0;
}

/* The node after this one; after the last comes the first. */
static inline int und_sheet_next(const und_sheets *sheets, int node)
{
    int sectors = (int)sheets->impact[node / (UND_SHEET_ROWS * UND_SHEET_SECTORS)].sectors;
    int sector = node % UND_SHEET_SECTORS;
    return sector + 1 < sectors ? node + 1 : node - sector;
}

und_sheets *und_sheets_create(const und_spray_def *def, uint64_t seed, int threads, und_error *err);
void und_sheets_destroy(und_sheets *sheets);

/* A row's end: finds the impacts that the new drops belong to, and their nodes (sheet_impact.c); returns the
 * first new drop. */
int und_sheets_close_row(und_sheets *sheets, und_spray *spray, double dx);

/* Makes one row of the drops from `first` on that have just got nodes: they come to move as water that left
 * together does (sheet_join.c). */
void und_sheets_join(und_sheets *sheets, und_spray *spray, int first);

/* A drop is on its own: it gets the random part of its velocity, which it did not get when it left. */
void und_sheets_free_drop(und_sheets *sheets, und_spray *spray, int drop);

/* Before drops move over dt: closes a row where it is time, tears what is thin, and lets neighbours come to
 * move alike.  dx: cells of the water, m. */
void und_sheets_step(und_sheets *sheets, und_spray *spray, double dt, double dx);

/* Nodes and their quads as the drops are now. */
void und_sheets_measure(und_sheets *sheets, const und_spray *spray);

/* Corners of the quad at (row, sector), around it; its area and circumference. */
void und_sheet_corners(const und_sheets *sheets, int slot, int row, int sector, int corner[4]);
bool und_sheet_filled(const und_sheets *sheets, const int corner[4]); /* all four have drops */
double und_sheet_area(const und_sheets *sheets, const int corner[4]);
/* Its thickness: each node gives each of its quads the same part of its volume. */
double und_sheet_thickness(const und_sheets *sheets, const int corner[4]);

/* Whether drop i, just born, is where it will become part of a sheet that is there (sheet_impact.c). */
bool und_sheets_expect(const und_sheets *sheets, const und_spray *spray, int i);

/* After und_sheets_measure: whether drop i is part of a sheet. */
static inline bool und_sheets_hold(const und_sheets *sheets, const und_spray *spray, int i)
{
    int node = sheets->node[i];
    if (node == UND_SHEET_NEW)
        return und_sheets_expect(sheets, spray, i);
    return node >= 0 && (sheets->nodes[node].quads > 0 ||
                         (sheets->share[i] > 0 && sheets->nodes[und_sheet_next(sheets, node)].quads > 0));
}

/* After und_sheets_measure: "sheet/..." (sheet_mesh.c). */
und_status und_sheets_frame(und_sheets *sheets, und_frame *frame, und_error *err);
/* The state, for und_spray_save and und_spray_restore (sheet_state.c). */
und_status und_sheets_save(und_sheets *sheets, size_t drops, und_frame *state, und_error *err);
und_status und_sheets_restore(und_sheets *sheets, size_t drops, const und_frame *state, und_error *err);

#endif
