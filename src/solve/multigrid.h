/* A V-cycle of multigrid for the seven-point system of src/solve/poisson.h: a symmetric positive definite
 * preconditioner, in float.
 *
 * Cells are kept by the colours of a chess board, those of one colour in an array of their own, so that a
 * half sweep of Gauss-Seidel reads one and writes the other without gaps.  In row (y, z) the cell `q` of
 * colour c stands at x = 2 q + und_colour_offset(c, y, z).  Values are 0 in cells that are not unknown, which
 * spares the question whether a neighbour is.
 *
 * A coarser cell is two of the finer level along each axis that is halved, and unknown if one of them is; a
 * correction is the same in all of them, and the residual is summed.  Its coefficients are those of Galerkin,
 * but across an axis that is halved they are half as large: the distance between cells doubled there.
 *
 * A wall one cell thick that parts two halves of a coarser cell is not seen there: with a gate across the
 * tank that is nearly shut 11 iterations take the place of 7 at 128 cells across. */
#ifndef UND_SOLVE_MULTIGRID_H
#define UND_SOLVE_MULTIGRID_H

#include <undine/types.h>

enum { UND_MULTIGRID_LEVELS = 40 };

typedef struct und_level {
    int n[3];
    float weight[3]; /* of a side between two whole cells */
    bool halved[3];  /* axes that the next level halves */
    int most_threads;
    int threads;            /* few cells are done by one */
    ptrdiff_t pitch, plane; /* from a row to the next, from a slice to the next */
    size_t first, count;    /* index of q = 0 in row (0, 0); values of an array */
    int32_t *low, *high;    /* of each row: q of unknown cells is in [low, high), multiples of eight */
    uint8_t *plain;         /* of each row: all sides between unknown cells have the full weight */
    /* Of each plain row: where all cells of both colours have it on all sides, multiples of eight; high to
     * high where that is not worth a loop of its own. */
    int32_t *inner_low, *inner_high;
    float full_inverse; /* of the diagonal there */
    float *x[2], *b[2];
    float *inverse[2]; /* of the diagonal; 0 in cells that are not unknown */
    float
        *face[3][2]; /* weight of a cell's high side where both cells are unknown; not on the finest level */
    float *known[2]; /* weights of a cell's sides to known cells; not on the finest level */
} und_level;

typedef struct und_multigrid {
    int count;
    und_level level[UND_MULTIGRID_LEVELS];
    double *slice_dot; /* of each slice of the finest level */
} und_multigrid;

static inline int und_colour_offset(int colour, int y, int z)
{
    return (colour ^ y ^ z) & 1;
}
static inline size_t und_level_row(const und_level *level, int y, int z) /* index of its q = 0 */
{
    return (size_t)((ptrdiff_t)level->first + y * level->pitch + z * level->plane);
}

static inline bool und_level_is_dry(const und_level *level, int y, int z) /* no cell of a row is unknown */
{
    int row = y + z * level->n[1];
    return level->low[row] >= level->high[row];
}

/* weight: decides which axes are halved on which level. */
und_status und_multigrid_open(und_multigrid *m, const int n[3], const double weight[3], int threads,
                              und_error *err);
void und_multigrid_close(und_multigrid *m);

/* Gives a row its span; what it leaves is cleared. */
void und_level_set_span(und_level *level, int y, int z, int low, int high);
void und_level_set_inner(und_level *level, size_t row, int low, int high);
void und_level_share(und_level *level);    /* sets `threads` from the spans */
void und_level_set_full(und_level *level); /* sets `full_inverse` from the weights */

/* Row of the finest level, cells x in [begin, end): weights of their high sides to unknown cells along an
 * axis; with axis 3, of all their sides to known cells.  False: all are 0, and not written. */
typedef bool und_multigrid_sides(void *context, int axis, int y, int z, int begin, int end, float *weight);

/* Sets the coarser levels once `weight`, `low`, `high`, `inner_low`, `inner_high` and `inverse` of the finest
 * are. */
void und_multigrid_set(und_multigrid *m, und_multigrid_sides *sides, void *context);

/* The cycle for level[0].b, in two parts: what is done on the finest level before the others (`before` is
 * called for a slice before its b is read), and all the rest.  Then level[0].x is the answer; gives
 * the sum of x b. */
void und_multigrid_begin(und_multigrid *m, void (*before)(void *context, int slice), void *context);
double und_multigrid_finish(und_multigrid *m);

#endif
