/* What the files of grids that source others share. */
#ifndef UND_LIQUID_LEVELSET_BANDS_PARTS_H
#define UND_LIQUID_LEVELSET_BANDS_PARTS_H

#include "liquid/levelset_state.h"

/* Of a row: phi, the temperature, or what cells hold; else the axis of its faces. */
enum { CELLS = -1, HEAT = 3, VOLUME = 4 };
enum { FLOW, DROPS, WAYS }; /* how liquid goes from grid to grid where cells have volumes */

/* Neighbours along x: cells, or their high faces along an axis. */
typedef struct band_row {
    int upstream, kind;
    int x, y, z, count;
    size_t from; /* in the values of the other grid */
} band_row;

/* A face that the border of the held cells has in the domain. */
typedef struct border_face {
    int32_t cell[3]; /* the held one at it; */
    bool inner;      /* so is the one behind that */
    int axis;
    double out; /* 1: out is up the axis, or -1 */
} border_face;

/* A face that the other grid's liquid leaves by into a cell of this one. */
typedef struct arrival {
    int upstream;
    size_t from; /* in the values of the other grid */
    int axis, at[3];
    double out; /* as of a border_face */
} arrival;

typedef struct upstream {
    und_bands bands;
    int shift[3]; /* from a cell here to the same one there */
    const float *value[2];
    double when[2];
    double part; /* of the second; the rest is the first's */
} upstream;

struct und_levelset_bands {
    und_bands own;
    float *values;
    und_error trouble;
    int count, row_count, border_count;
    double dt; /* of the substep ahead */
    upstream *list;
    band_row *rows;
    border_face *border;
    uint8_t *marked; /* [mac.count]: held */
    float *room;     /* [mac.count]: the part of a cell that this grid's ledger counts */
    und_mask cells;
    float air[VOLUME + 2]; /* what there is where no window is, by kind + 1 */
    /* Where cells have volumes, in whole numbers of UND_VOLUME_ONE: */
    double (*gone)[WAYS]; /* what has left by faces of open sides since the start */
    float (*speed)[3];    /* of the last drop that did, m/s */
    int arrival_count;
    arrival *arrivals;
    double (*taken)[WAYS]; /* what has come by each since the start */
    und_volume_inflow *inflow;
};

/* Where in a grid's values that of a cell is, or of its high face along an axis. */
static inline size_t und_band_place(const und_band *b, int kind, const int at[3])
{
    size_t k[3], n[3];
    for (int a = 0; a < 3; a++) {
        k[a] = (size_t)(at[a] - b->low[a] + (a == kind));
        n[a] = (size_t)(b->n[a] + (a == kind));
    }
    return b->from[kind + 1] + (k[2] * n[1] + k[1]) * n[0] + k[0];
}

static inline bool und_band_has(const und_bands *b, int kind)
{
    return kind == HEAT ? b->heat : kind == VOLUME ? b->volume : kind < b->axes;
}

/* Which face of its side that of a cell is. */
static inline size_t und_band_face(const und_band *b, const int at[3])
{
    const int axis = b->side / 2, i = axis == 0 ? 1 : 0, j = axis == 2 ? 1 : 2;
    return (size_t)(at[j] - b->low[j]) * (size_t)b->n[i] + (size_t)(at[i] - b->low[i]);
}

/* levelset_bands_list.c: what is listed, all of it by cells of the domain; each counts it where there is no
 * list yet, or it is asked for that alone. */
void und_levelset_bands_list_rows(und_levelset *s, bool counts);
void und_levelset_bands_list_border(und_levelset *s);
void und_levelset_bands_list_arrivals(und_levelset *s);

/* Each row of cells of a band, and of their faces, from low to below high. */
typedef void und_band_row_fn(void *context, const und_band *band, int kind, const int low[3], int count);
void und_band_each_row(const und_bands *b, const und_band *band, const int low[3], const int high[3],
                       und_band_row_fn *fn, void *context);

#endif
