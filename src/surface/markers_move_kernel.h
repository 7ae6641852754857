/* Markers go with the liquid, many at a time, and are put in the order of the rows of cells that hold them.
 */
#ifndef UND_SURFACE_MARKERS_MOVE_KERNEL_H
#define UND_SURFACE_MARKERS_MOVE_KERNEL_H

#include "grid/mac_sample.h"
#include "surface/markers_kernel.h"

#define UND_MARKERS_FARTHEST 64.0 /* cells in a move */

typedef struct und_markers_move_args {
    und_mac mac;
    double per[3], *place[3], *u[3];
    const uint8_t *label, *wall;
    const und_wall_def *walls;
    double dt;
    int32_t *row,
        *gone; /* of each marker: that of the cell it comes to, or -1: it leaves; whether one does */
} und_markers_move_args;

typedef enum und_markers_passage {
    UND_PASSAGE_OPEN,
    UND_PASSAGE_BLOCKED,
    UND_PASSAGE_GONE
} und_markers_passage;

/* What lies in the way from a cell (index `from`) across the axis, to the next in direction +1 or -1. */
UND_INLINE und_markers_passage und_markers_passage_to(const und_markers_move_args *v, const int next[3],
                                                      size_t from, int axis, int direction)
{
    const und_mac *m = &v->mac;
    const size_t to = und_mac_at(m, next[0], next[1], next[2]), face = direction > 0 ? from : to;
    if (v->label[to] != UND_CELL_SOLID)
        return next[axis] < 0 || next[axis] >= m->n[axis] ? UND_PASSAGE_GONE : UND_PASSAGE_OPEN;
    const und_wall_kind kind = v->walls[v->wall[to]].kind;
    const bool leaves =
        kind == UND_WALL_OUTFLOW || (kind == UND_WALL_INFLOW && direction * v->u[axis][face] > 0);
    return leaves ? UND_PASSAGE_GONE : UND_PASSAGE_BLOCKED;
}

/* When the straight way `delta` from `start` comes to the end of the cell; beyond 1 where it does not. */
UND_INLINE double und_markers_time_to_face(double start, double delta, int cell)
{
    if (delta == 0)
        return 2;
    return und_double_max(0, (cell + (delta > 0) - start) / delta);
}

/* A straight way of `delta` cells from `start` in `cell`, cell by cell; what is solid stops it along its own
 * axis.  `cell` is that where it ends, `end` the place, stopped[a] says where it was stopped.  False: the
 * marker left. */
static inline bool und_markers_walk(const und_markers_move_args *v, const double from[3], double delta[3],
                                    int cell[3], double end[3], bool stopped[3])
{
    double start[3] = {from[0], from[1], from[2]};
    for (;;) {
        int axis = 0;
        double time[3];
        for (int a = 0; a < 3; a++) {
            time[a] = und_markers_time_to_face(start[a], delta[a], cell[a]);
            axis = time[a] < time[axis] ? a : axis;
        }
        if (!(time[axis] < 1))
            break;
        const int direction = delta[axis] > 0 ? 1 : -1;
        int next[3] = {cell[0], cell[1], cell[2]};
        next[axis] += direction;
        const und_markers_passage way =
            und_markers_passage_to(v, next, und_mac_at(&v->mac, cell[0], cell[1], cell[2]), axis, direction);
        if (way == UND_PASSAGE_GONE)
            return false;
        if (way == UND_PASSAGE_OPEN) {
            cell[axis] = next[axis];
            continue;
        }
        stopped[axis] = true;
        start[axis] = cell[axis] + (direction > 0 ? 1 - UND_MARKER_EDGE : UND_MARKER_EDGE);
        delta[axis] = 0;
    }
    for (int a = 0; a < 3; a++)
        end[a] = start[a] + delta[a];
    return true;
}

/* Where the way ends that does not stay in its cell. */
static inline bool und_markers_cross(const und_markers_move_args *v, const double from[3], double delta[3],
                                     int cell[3], double place[3])
{
    const und_mac *m = &v->mac;
    double end[3], again[3];
    bool stopped[3] = {false, false, false};
    if (!und_markers_walk(v, from, delta, cell, end, stopped))
        return false;
    und_markers_to_cells(m, v->per, place, again);
    for (int a = 0; a < 3; a++) /* rounding does not bring it into another cell than it walked to */
        if (stopped[a] || !(again[a] >= cell[a] && again[a] < cell[a] + 1)) {
            const double inside = und_double_max(cell[a] + UND_MARKER_EDGE,
                                                 und_double_min(cell[a] + 1 - UND_MARKER_EDGE, end[a]));
            place[a] = m->origin[a] + inside * m->d[a];
        }
    return true;
}

/* ---- Many ---- */

/* Up to UND_MAC_MANY markers on their way. */
typedef struct und_markers_batch {
    double from[3][UND_MAC_MANY],
        home[3][UND_MAC_MANY];     /* in cells: where they are, and the cell's low corner */
    double speed[3][UND_MAC_MANY]; /* m/s */
    double way[3][UND_MAC_MANY], to[3][UND_MAC_MANY]; /* in cells; in m */
    double goal[3][UND_MAC_MANY];                     /* the cell where the way ends */
    double crosses[UND_MAC_MANY];                     /* how many sides of cells it has to cross */
} und_markers_batch;

/* The second of equal ones, and where one is no number. */
UND_INLINE double und_markers_less(double a, double b)
{
    return a < b ? a : b;
}
UND_INLINE double und_markers_more(double a, double b)
{
    return a > b ? a : b;
}

/* The way in cells; what is not a number stays. */
UND_INLINE double und_markers_way(double speed, double dt_per)
{
    const double cells =
        und_markers_less(und_markers_more(speed * dt_per, -UND_MARKERS_FARTHEST), UND_MARKERS_FARTHEST);
    return speed == speed ? cells : 0;
}

/* The midpoint rule, as if there were nothing solid. */
UND_INLINE void und_markers_plan(const und_markers_move_args *v, size_t first, int count,
                                 und_markers_batch *restrict b)
{
    const und_mac *m = &v->mac;
    double middle[3][UND_MAC_MANY];
    for (int a = 0; a < 3; a++) {
        const double origin = m->origin[a], per = v->per[a], last = m->n[a] - 1, *place = v->place[a] + first;
        for (int i = 0; i < count; i++) {
            const double cells = (place[i] - origin) * per;
            b->from[a][i] = cells;
            b->home[a][i] = und_markers_less(und_markers_more(__builtin_floor(cells), 0), last);
        }
    }
    und_mac_velocity_many(m, v->u, count, b->from, b->speed);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < count; i++)
            middle[a][i] = b->from[a][i] + und_markers_way(b->speed[a][i], 0.5 * v->dt * v->per[a]);
    und_mac_velocity_many(m, v->u, count, middle, b->speed);
    for (int i = 0; i < count; i++)
        b->crosses[i] = 0;
    for (int a = 0; a < 3; a++) {
        const double origin = m->origin[a], d = m->d[a], per = v->per[a], dt_per = v->dt * per,
                     *place = v->place[a] + first;
        for (int i = 0; i < count; i++) {
            b->way[a][i] = und_markers_way(b->speed[a][i], dt_per);
            b->to[a][i] = place[i] + b->way[a][i] * d;
            b->goal[a][i] = __builtin_floor((b->to[a][i] - origin) * per);
            b->crosses[i] += __builtin_fabs(b->goal[a][i] - b->home[a][i]);
        }
    }
}

/* Whether the cell is inside the grid and not solid. */
UND_INLINE bool und_markers_is_free(const und_markers_move_args *v, const int cell[3])
{
    const und_mac *m = &v->mac;
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    return v->label[und_mac_at(m, cell[0], cell[1], cell[2])] != UND_CELL_SOLID;
}

/* Marker i of the batch to where it goes: its row there, or -1 where it leaves. */
UND_INLINE int32_t und_markers_arrive(const und_markers_move_args *v, und_markers_batch *b, int i)
{
    int cell[3] = {(int)b->home[0][i], (int)b->home[1][i], (int)b->home[2][i]};
    if (!und_markers_is_free(v, cell))
        return -1;
    if (b->crosses[i] > 0) {
        const int goal[3] = {(int)b->goal[0][i], (int)b->goal[1][i], (int)b->goal[2][i]};
        if (b->crosses[i] == 1 && und_markers_is_free(v, goal))
            return goal[2] * v->mac.n[1] + goal[1];
        const double from[3] = {b->from[0][i], b->from[1][i], b->from[2][i]};
        double way_on[3] = {b->way[0][i], b->way[1][i], b->way[2][i]};
        double to[3] = {b->to[0][i], b->to[1][i], b->to[2][i]};
        if (!und_markers_cross(v, from, way_on, cell, to))
            return -1;
        for (int a = 0; a < 3; a++)
            b->to[a][i] = to[a];
    }
    return cell[2] * v->mac.n[1] + cell[1];
}

UND_INLINE void und_markers_go(const und_markers_move_args *v, und_place p)
{
    bool gone = false;
    for (int done = 0; done < p.x; done += UND_MAC_MANY) {
        const size_t first = p.at + (size_t)done;
        const int count = p.x - done < UND_MAC_MANY ? p.x - done : UND_MAC_MANY;
        und_markers_batch b;
        und_markers_plan(v, first, count, &b);
        for (int i = 0; i < count; i++) {
            const int32_t row = und_markers_arrive(v, &b, i);
            v->row[first + (size_t)i] = row;
            gone |= row < 0;
        }
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < count; i++)
                v->place[a][first + (size_t)i] = b.to[a][i];
    }
    if (gone)
        und_shared_set(v->gone, 1);
}
UND_KERNEL(und_markers_go, und_markers_move_args, UND_EACH_BLOCK)

/* ---- In order ---- */

/* A counting sort by rows, in which markers of a row keep their order and those taken out fall away: each
 * block counts what it has in each row, */
typedef struct und_markers_sort_args {
    size_t rows;
    int blocks;
    int32_t *first; /* of each block, of each row: how many, then where the next of them goes */
    int32_t *row;   /* of each marker, or -1; then where it goes */
    int32_t *left;  /* how many there are then */
} und_markers_sort_args;

UND_INLINE void und_markers_count_rows(const und_markers_sort_args *s, und_place p)
{
    int32_t *first = s->first + (size_t)p.y * s->rows;
    for (size_t row = 0; row < s->rows; row++)
        first[row] = 0;
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++)
        if (s->row[i] >= 0)
            first[s->row[i]]++;
}
UND_KERNEL(und_markers_count_rows, und_markers_sort_args, UND_EACH_BLOCK)

/* one of them finds where they go, */
UND_INLINE void und_markers_place_rows(const und_markers_sort_args *s, und_place p)
{
    int32_t next = 0;
    (void)p;
    for (size_t row = 0; row < s->rows; row++)
        for (int block = 0; block < s->blocks; block++) {
            const int32_t count = s->first[(size_t)block * s->rows + row];
            s->first[(size_t)block * s->rows + row] = next;
            next += count;
        }
    *s->left = next;
}
UND_KERNEL(und_markers_place_rows, und_markers_sort_args, UND_EACH_BLOCK)

UND_INLINE void und_markers_find_places(const und_markers_sort_args *s, und_place p)
{
    int32_t *first = s->first + (size_t)p.y * s->rows;
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++)
        if (s->row[i] >= 0)
            s->row[i] = first[s->row[i]]++;
}
UND_KERNEL(und_markers_find_places, und_markers_sort_args, UND_EACH_BLOCK)

/* and one array after the other is put there. */
typedef struct und_markers_put_args {
    const int32_t *row;
    const double *from;
    double *to;
} und_markers_put_args;

UND_INLINE void und_markers_put(const und_markers_put_args *a, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++)
        if (a->row[i] >= 0)
            a->to[a->row[i]] = a->from[i];
}
UND_KERNEL(und_markers_put, und_markers_put_args, UND_EACH_BLOCK)

#endif
