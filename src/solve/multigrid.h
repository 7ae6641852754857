/* A V-cycle of multigrid for a seven-point system with weights of its sides: a symmetric positive definite
 * preconditioner, in float.
 *
 * Cells are kept by the colours of a chess board, those of one colour in an array of their own, so that a
 * half sweep of Gauss-Seidel reads one and writes the other without gaps.  In row (y, z) the cell `q` of
 * colour c stands at x = 2 q + und_colour_offset(c, y, z).  Values are 0 in cells that are not unknown, which
 * spares the question whether a neighbour is.  Eight cells of each colour beside each other are a pack; a
 * slice's packs that hold unknown cells are listed by their kind, and only where a wall cuts cells are
 * weights stored.  Arrays hold those packs alone, one behind the other, with a pack of 0 behind each
 * stretch of them: a splash fills little of its rows, and what is not used must not come through the cache.
 *
 * A coarser cell is two of the finer level along each axis that is halved, and unknown if one of them is; a
 * correction is the same in all of them, and the residual is summed.  Its coefficients are those of Galerkin,
 * but across an axis that is halved they are half as large: the distance between cells doubled there.
 *
 * A wall one cell thick that parts two halves of a coarser cell is not seen there: with a gate across the
 * tank that is nearly shut 11 iterations take the place of 7 at 128 cells across. */
#ifndef UND_SOLVE_MULTIGRID_H
#define UND_SOLVE_MULTIGRID_H

#include "base/scratch.h"
#include "grid/mask.h"
#include "grid/pass.h"

enum { UND_MULTIGRID_LEVELS = 40, UND_CELL_PACK = 8, UND_LEVEL_ARRAYS = 20 };

/* Of a pack. */
enum {
    UND_CELL_PACK_DRY,   /* no unknown cell */
    UND_CELL_PACK_WHOLE, /* all cells of both colours have the full diagonal, and sides of the full weight */
    UND_CELL_PACK_PLAIN, /* sides between unknown cells have the full weight; the diagonal is stored */
    UND_CELL_PACK_CUT,   /* weights are stored as well */
    UND_CELL_PACK_KINDS
};

typedef struct und_cell_pack {
    uint32_t
        at; /* index of its first cell in arrays of both colours, 2 kind, und_colour_offset of colour 0 */
    uint32_t beside[4]; /* index of its neighbours' along y and z, low and high; 0, where all is 0, if dry */
    uint32_t parent;    /* the same as `at` of the cells of the coarser level that its own are in */
    uint16_t y, k;      /* its row, its place in that */
} und_cell_pack;

/* The packs of the finer level that one is made of: their numbers in its list, in each of four rows (low y
 * and high, at low z and at high) the low one and the high. */
typedef struct und_children {
    uint32_t number[4][2];
} und_children;
#define UND_NO_CHILD UINT32_MAX

typedef struct und_level {
    und_present *present; /* rows that may have unknown cells, others have none; NULL: all */
    int n[3];     /* cells that it has: of a window those around it, from cell `low` of the whole level on */
    int low[3];   /* along x a multiple of 16, else of 2: packs and colours are the whole level's */
    int shift[3]; /* along axes that the next level halves: cell x is in its cell (x + shift) / 2 */
    double full[3];  /* the system's weight of a side that is wholly open */
    double largest;  /* of them */
    float weight[3]; /* the same over the largest: of the preconditioner */
    bool halved[3];  /* axes that the next level halves */
    int halvings;    /* of slices, from the finest level on */
    size_t cells;    /* of its packs */
    size_t count;    /* values of an array */
    int packs;       /* of a row */
    und_mask unknown;
    uint8_t *kind, *kind_before; /* of each pack of each row, now and at the setting before */
    uint32_t *place;             /* of each pack of each row: where it stands in the arrays, 0 if dry */
    uint32_t *slice_begin;       /* of each slice, in the arrays; and behind the last */
    und_cell_pack *list;         /* of each slice, in room for all its packs: those that are not dry */
    uint32_t *number;            /* of each pack that has a place, by that over UND_CELL_PACK: in the list */
    und_children *children;      /* of each in the list; not on the finest level */
    int32_t *list_end; /* of slice z: UND_CELL_PACK_KINDS, where packs of each kind end in its list */
    struct {
        ptrdiff_t
            to; /* so far behind this level a pointer to it is kept: that may be copied with what it is in */
        size_t size;           /* of a pack, bytes */
        bool gaps;             /* 0 behind each stretch of packs */
    } array[UND_LEVEL_ARRAYS]; /* those with room for packs that there are, lent while a system is solved */
    int arrays;
    double full_diagonal;
    float full_inverse; /* of that over the largest weight */
    float *x[2], *b[2];
    float *inverse[2];     /* of the diagonal over the largest weight; 0 in cells that are not unknown */
    float *coefficient[2]; /* of each pack that is cut: its 8 cells' weights of 6 sides */
    /* Only on the finest level, in packs that are not whole: the diagonal; what known cells add to it, over
     * the largest weight; and of each pack that is plain a byte for each of six sides (low and high along
     * each axis), with a bit for each cell whose neighbour there is unknown. */
    double *diagonal[2];
    float *known[2];
    uint64_t *beside[2];
    /* Of each pack, a bit for each of its cells: has it a way to its low neighbour along each axis, and
     * known cells beside it?  Only on the finest level. */
    uint16_t *link[4];
    /* Weights of high sides, in multiples of the full one, and those to known cells: along x without gaps,
     * with a row and a slice of 0 in front; not on the finest level. */
    float *side[4];
    ptrdiff_t side_pitch, side_plane;
} und_level;

typedef struct und_multigrid {
    int count;
    und_device device;
    und_level level[UND_MULTIGRID_LEVELS];
    double *slice_product, *slice_energy; /* of each slice of the finest level */
    struct und_cycle *cycle;              /* its passes, */
    struct und_multigrid_plan *plan;      /* and those that set the levels */
    und_scratch *scratch;                 /* arrays are lent by, */
    size_t most;                          /* at most so many bytes; */
    const void *lent;                     /* the first of them, NULL while none is */
} und_multigrid;

static inline int und_colour_offset(int colour, int y, int z)
{
    return (colour ^ y ^ z) & 1;
}
/* For each row of a slice that may have unknown cells. */
#define UND_LEVEL_EACH_ROW(level, y, z) \
    for (int y = und_level_row(level, 0, z); y < (level)->n[1]; y = und_level_row(level, y + 1, z))
static inline int und_level_row(const und_level *level, int y, int z)
{
    return level->present ? und_present_next(level->present, y, level->n[1], z) : y;
}
static inline size_t und_level_pack(const und_level *level, int y, int z) /* number of its first */
{
    return ((size_t)z * (size_t)level->n[1] + (size_t)y) * (size_t)level->packs;
}

/* Those of some kinds in a slice: numbers in the list. */
typedef struct und_pack_range {
    size_t begin, end;
} und_pack_range;

static inline und_pack_range und_level_list(const und_level *level, int first_kind, int last_kind, int z)
{
    const size_t all = und_level_pack(level, 0, z);
    const int32_t *end = level->list_end + (size_t)z * UND_CELL_PACK_KINDS;
    return (und_pack_range){all + (size_t)end[first_kind - 1], all + (size_t)end[last_kind]};
}
static inline und_pack_range und_level_slice(const und_level *level, int z)
{
    return und_level_list(level, UND_CELL_PACK_WHOLE, UND_CELL_PACK_CUT, z);
}
static inline size_t und_cell_pack_at(const und_cell_pack *e)
{
    return e->at & ~(uint32_t)(UND_CELL_PACK - 1);
}
static inline int und_cell_pack_kind(const und_cell_pack *e)
{
    return (int)(e->at >> 1 & 3);
}

/* All its packs, each slice a block. */
static inline und_set und_level_set(const und_level *level)
{
    return (und_set){.blocks = level->n[2], .worth = level->cells, .list = level};
}

/* As far as its rows go. */
static inline und_mac und_level_mac(const und_level *level)
{
    return (und_mac){.n = {level->n[0], level->n[1], level->n[2]}, .present = level->present};
}

/* What others have of a level's arrays, of values of so many bytes for each cell. */
static inline und_halo_field und_level_halo(const und_level *level, void *values, size_t size, int reach)
{
    return (und_halo_field){.values = values,
                            .size = size,
                            .begin = level->slice_begin,
                            .slices = level->n[2],
                            .low = level->low[2],
                            .halved = level->halvings,
                            .reach = reach};
}

/* And a value of each of its slices. */
static inline und_halo_field und_level_sums(const und_level *level, void *values, size_t size)
{
    return (und_halo_field){.values = values,
                            .size = size,
                            .step = 1,
                            .count = 1,
                            .slices = level->n[2],
                            .low = level->low[2],
                            .halved = level->halvings,
                            .reach = UND_HALO_ALL};
}

/* A bit for each of a pack's cells. */
static inline unsigned und_level_unknown(const und_level *level, int y, int z, int k)
{
    return und_mask_sixteen(&level->unknown, und_mask_row(&level->unknown, y, z), 2 * UND_CELL_PACK * k);
}

/* Levels are those of a grid of `whole` cells, and have what is around its cells from low to below high:
 * whatever that is, the answer is the same to the last bit.  weight: decides which axes are halved on which
 * level. */
typedef struct und_multigrid_box {
    int whole[3], low[3], high[3];
    bool sparse; /* most rows will never have unknown cells: und_sides tells which may */
} und_multigrid_box;
und_status und_multigrid_open(und_multigrid *m, const und_multigrid_box *box, const double weight[3],
                              int threads, und_error *err);
void und_multigrid_close(und_multigrid *m);

/* Which cells of a pack are unknown, a bit for each, and of which of them the neighbour is too: along each
 * axis, low and high. */
typedef struct und_around {
    unsigned own, both[6];
} und_around;

/* What the finest level is made of. */
typedef struct und_sides {
    void *context;
    /* Rows that may have unknown cells, of those that there are; only asked where levels are sparse. */
    void (*present)(void *context, und_present *rows);
    /* The unknown cells of a row, as und_mask has them. */
    void (*unknown)(void *context, int y, int z, uint64_t *row);
    /* Cells x in [begin, end) of a row, multiples of 16: the weights of their high sides to unknown cells
     * along the axis, in multiples of the full one; 0 where a cell or its neighbour is not unknown.  axis 3
     * and on: weights of both sides to known cells along axis - 3, in the same multiples.  False: all are 0,
     * and not written. */
    bool (*get)(void *context, int axis, int y, int z, int begin, int end, float *weight);
    /* Are all sides of a pack's cells wholly open that are between unknown cells? */
    bool (*is_plain)(void *context, int y, int z, int k, const und_around *around);
} und_sides;

/* A level's array, of which a pointer at `to`, in the level or in what it is a part of, is set whenever
 * levels are: with so many bytes a pack, which are anything but in the first pack, and with `gaps` behind
 * each stretch of packs, where they are 0. */
void und_level_add_array(und_level *level, void *to, size_t size, bool gaps);
/* Once all levels have their arrays: where these are, while levels are set; NULL: in memory of their own. */
und_status und_multigrid_lend(und_multigrid *m, und_scratch *scratch, und_error *err);

/* Sets all levels; full[]: the weights of sides that are wholly open.  beside[]: passes for when the finest
 * is set, one after the other, beside those that set the others. */
enum { UND_MULTIGRID_BESIDE = 6 };
void und_multigrid_set(und_multigrid *m, const double full[3], const und_sides *sides,
                       const und_pass beside[UND_MULTIGRID_BESIDE]);
/* They are no longer needed: gives their arrays back, which were taken last. */
void und_multigrid_done(und_multigrid *m);

/* The cycle for level[0].b in steps of a region: the first, begun by passes over the finest level's slices,
 * of which the last sets that, and x in red cells to what it is by Gauss-Seidel from 0; and the rest.  Then
 * level[0].x is the answer, and und_multigrid_sums gives the sum of x b, and in `energy` that of x A x over
 * the largest weight. */
enum {
    UND_MULTIGRID_BEFORE = 4, /* passes at most, */
    UND_MULTIGRID_FIRST = 68, /* and with those of the cycle's first step */
    UND_MULTIGRID_REST = 2 * UND_MULTIGRID_LEVELS,
    UND_MULTIGRID_SUMS = 2
};
und_step und_multigrid_first(const und_multigrid *m, const und_pass *before, int count,
                             und_pass passes[UND_MULTIGRID_FIRST], const bool *unless);
int und_multigrid_rest(const und_multigrid *m, und_step *steps, const bool *unless); /* how many */
double und_multigrid_sums(const und_multigrid *m, double *energy);
/* What has been summed of others' slices; and slices that the cycle's first step reads beyond its own of what
 * it is for. */
void und_multigrid_sums_halo(const und_multigrid *m, und_halo_field halo[UND_MULTIGRID_SUMS]);
int und_multigrid_first_reach(const und_multigrid *m);

/* A step after which und_multigrid_sums gives that of v A v, over the largest weight, in `energy`; begun by a
 * pass over the finest level's slices. */
struct und_energy_args;
und_step und_multigrid_energy(const und_multigrid *m, const und_pass *before, float *const v[2],
                              struct und_energy_args *args, und_pass passes[2], const bool *unless);

#endif
