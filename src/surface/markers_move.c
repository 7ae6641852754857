/* Markers go with the liquid, and are kept in the order of the rows of cells that hold them, so that
 * neighbours read the same velocities. */
#include "base/parallel.h"
#include "geom/vec.h"
#include "grid/mac_sample.h"
#include "surface/markers_scratch.h"

#include <string.h>

enum {
    BLOCK = 4096,       /* markers that a thread takes at a time */
    LEAST_CHUNK = 8192, /* markers in a chunk that is sorted */
    SORT_EVERY = 8      /* moves */
};
static const double FARTHEST = 64; /* cells in a move */

typedef struct motion {
    const und_markers *markers;
    double *const *u;
    const uint8_t *label, *wall;
    const und_wall_def *walls;
    double dt;
} motion;

typedef enum passage { OPEN, BLOCKED, GONE } passage;

/* What lies in the way from a cell (index `from`) across the axis, to the next in direction +1 or -1. */
static passage passage_to(const motion *v, const int next[3], size_t from, int axis, int direction)
{
    const und_mac *m = &v->markers->mac;
    size_t to = und_mac_at(m, next[0], next[1], next[2]), face = direction > 0 ? from : to;
    if (v->label[to] != UND_CELL_SOLID)
        return next[axis] < 0 || next[axis] >= m->n[axis] ? GONE : OPEN;
    und_wall_kind kind = v->walls[v->wall[to]].kind;
    bool leaves = kind == UND_WALL_OUTFLOW || (kind == UND_WALL_INFLOW && direction * v->u[axis][face] > 0);
    return leaves ? GONE : BLOCKED;
}

/* When the straight way `delta` from `start` comes to the end of the cell; beyond 1 where it does not. */
static double time_to_face(double start, double delta, int cell)
{
    if (delta == 0)
        return 2;
    return fmax(0, (cell + (delta > 0) - start) / delta);
}

/* A straight way of `delta` cells from `start` in `cell`, cell by cell; what is solid stops it along its own
 * axis.  `cell` is that where it ends, `end` the place, stopped[a] says where it was stopped.  False: the
 * marker left. */
static bool walk(const motion *v, const double from[3], double delta[3], int cell[3], double end[3],
                 bool stopped[3])
{
    double start[3] = {from[0], from[1], from[2]};
    for (;;) {
        int axis = 0;
        double time[3];
        for (int a = 0; a < 3; a++) {
            time[a] = time_to_face(start[a], delta[a], cell[a]);
            axis = time[a] < time[axis] ? a : axis;
        }
        if (!(time[axis] < 1))
            break;
        int direction = delta[axis] > 0 ? 1 : -1, next[3] = {cell[0], cell[1], cell[2]};
        next[axis] += direction;
        switch (
            passage_to(v, next, und_mac_at(&v->markers->mac, cell[0], cell[1], cell[2]), axis, direction)) {
        case GONE:
            return false;
        case BLOCKED:
            stopped[axis] = true;
            start[axis] = cell[axis] + (direction > 0 ? 1 - UND_MARKER_EDGE : UND_MARKER_EDGE);
            delta[axis] = 0;
            break;
        case OPEN:
            cell[axis] = next[axis];
            break;
        }
    }
    for (int a = 0; a < 3; a++)
        end[a] = start[a] + delta[a];
    return true;
}

/* The way in cells; what is not a number stays. */
static inline double way(double speed, double dt_per)
{
    double cells = und_smaller(und_larger(speed * dt_per, -FARTHEST), FARTHEST);
    return speed == speed ? cells : 0;
}

/* Where the way ends that does not stay in its cell. */
static bool cross(const motion *v, const double from[3], double delta[3], int cell[3], double place[3])
{
    const und_mac *m = &v->markers->mac;
    double end[3], again[3];
    bool stopped[3] = {false, false, false};
    if (!walk(v, from, delta, cell, end, stopped))
        return false;
    und_markers_cells(v->markers, place, again);
    for (int a = 0; a < 3; a++) /* rounding does not bring it into another cell than it walked to */
        if (stopped[a] || !(again[a] >= cell[a] && again[a] < cell[a] + 1)) {
            double inside = fmax(cell[a] + UND_MARKER_EDGE, fmin(cell[a] + 1 - UND_MARKER_EDGE, end[a]));
            place[a] = m->origin[a] + inside * m->d[a];
        }
    return true;
}

/* Up to UND_MAC_MANY markers on their way. */
typedef struct batch {
    double from[3][UND_MAC_MANY],
        home[3][UND_MAC_MANY];     /* in cells: where they are, and the cell's low corner */
    double speed[3][UND_MAC_MANY]; /* m/s */
    double way[3][UND_MAC_MANY], to[3][UND_MAC_MANY]; /* in cells; in m */
    double goal[3][UND_MAC_MANY];                     /* the cell where the way ends */
    double crosses[UND_MAC_MANY];                     /* how many sides of cells it has to cross */
} batch;

/* The midpoint rule, as if there were nothing solid. */
static void plan(const motion *v, int first, int count, batch *b)
{
    const und_markers *s = v->markers;
    const und_mac *m = &s->mac;
    double middle[3][UND_MAC_MANY];
    for (int a = 0; a < 3; a++) {
        double origin = m->origin[a], per = s->scratch->per[a], last = m->n[a] - 1;
        for (int i = 0; i < count; i++) {
            double cells = (s->place[a][first + i] - origin) * per;
            b->from[a][i] = cells;
            b->home[a][i] = und_smaller(und_larger(floor(cells), 0), last);
        }
    }
    und_mac_velocity_many(m, v->u, count, b->from, b->speed);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < count; i++)
            middle[a][i] = b->from[a][i] + way(b->speed[a][i], 0.5 * v->dt * s->scratch->per[a]);
    und_mac_velocity_many(m, v->u, count, middle, b->speed);
    memset(b->crosses, 0, sizeof b->crosses);
    for (int a = 0; a < 3; a++) {
        double origin = m->origin[a], d = m->d[a], per = s->scratch->per[a], dt_per = v->dt * per;
        for (int i = 0; i < count; i++) {
            b->way[a][i] = way(b->speed[a][i], dt_per);
            b->to[a][i] = s->place[a][first + i] + b->way[a][i] * d;
            b->goal[a][i] = floor((b->to[a][i] - origin) * per);
            b->crosses[i] += fabs(b->goal[a][i] - b->home[a][i]);
        }
    }
}

/* Whether the cell is inside the grid and not solid. */
static bool is_free(const motion *v, const int cell[3])
{
    const und_mac *m = &v->markers->mac;
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    return v->label[und_mac_at(m, cell[0], cell[1], cell[2])] != UND_CELL_SOLID;
}

/* Marker i of the batch to where it goes: its row there, or -1 where it leaves. */
static int32_t arrive(const motion *v, batch *b, int i)
{
    int cell[3] = {(int)b->home[0][i], (int)b->home[1][i], (int)b->home[2][i]};
    if (!is_free(v, cell))
        return -1;
    if (b->crosses[i] > 0) {
        const int goal[3] = {(int)b->goal[0][i], (int)b->goal[1][i], (int)b->goal[2][i]};
        if (b->crosses[i] == 1 && is_free(v, goal))
            return goal[2] * v->markers->mac.n[1] + goal[1];
        const double from[3] = {b->from[0][i], b->from[1][i], b->from[2][i]};
        double way_on[3] = {b->way[0][i], b->way[1][i], b->way[2][i]};
        double to[3] = {b->to[0][i], b->to[1][i], b->to[2][i]};
        if (!cross(v, from, way_on, cell, to))
            return -1;
        for (int a = 0; a < 3; a++)
            b->to[a][i] = to[a];
    }
    return cell[2] * v->markers->mac.n[1] + cell[1];
}

/* Moves markers; how many left. */
static int move_batch(const motion *v, int first, int count)
{
    const und_markers *s = v->markers;
    batch b;
    int gone = 0;
    plan(v, first, count, &b);
    for (int i = 0; i < count; i++) {
        s->scratch->row[first + i] = arrive(v, &b, i);
        gone += s->scratch->row[first + i] < 0;
    }
    for (int a = 0; a < 3; a++)
        memcpy(s->place[a] + first, b.to[a], (size_t)count * sizeof **b.to);
    return gone;
}

typedef struct chunks {
    int count, size;
} chunks;

/* They depend on how many markers there are alone. */
static chunks chunks_of(int count)
{
    int size = (count + UND_MARKER_CHUNKS - 1) / UND_MARKER_CHUNKS;
    size = size < LEAST_CHUNK ? LEAST_CHUNK : size;
    return (chunks){.count = (count + size - 1) / size, .size = size};
}

static int chunk_end(const und_markers *s, chunks c, int chunk)
{
    return chunk == c.count - 1 ? s->count : (chunk + 1) * c.size;
}

/* From how many of each chunk are in each row to where the first of them goes; all in all. */
static int place_rows(und_markers *s, chunks c)
{
    size_t rows = (size_t)und_mac_rows(&s->mac);
    int32_t *first = s->scratch->first, next = 0;
    for (size_t row = 0; row < rows; row++)
        for (int chunk = 0; chunk < c.count; chunk++) {
            int32_t count = first[(size_t)chunk * rows + row];
            first[(size_t)chunk * rows + row] = next;
            next += count;
        }
    return next;
}

/* A counting sort by rows, in which markers of a row keep their order and those taken out fall away. */
static void sort_by_rows(und_markers *s)
{
    chunks c = chunks_of(s->count);
    size_t rows = (size_t)und_mac_rows(&s->mac);
    int32_t *first = s->scratch->first, *row = s->scratch->row;
    int workers = und_markers_workers(s);
    memset(first, 0, (size_t)c.count * rows * sizeof *first);
    PARALLEL_FOR(workers)
    for (int chunk = 0; chunk < c.count; chunk++)
        for (int i = chunk * c.size; i < chunk_end(s, c, chunk); i++)
            if (row[i] >= 0)
                first[(size_t)chunk * rows + (size_t)row[i]]++;
    int left = place_rows(s, c);
    PARALLEL_FOR(workers)
    for (int chunk = 0; chunk < c.count; chunk++)
        for (int i = chunk * c.size; i < chunk_end(s, c, chunk); i++)
            if (row[i] >= 0)
                row[i] = first[(size_t)chunk * rows + (size_t)row[i]]++;
    double **kept[4] = {&s->place[0], &s->place[1], &s->place[2], &s->share};
    for (int a = 0; a < 4; a++) {
        double *from = *kept[a], *to = s->scratch->spare;
        PARALLEL_FOR(workers)
        for (int chunk = 0; chunk < c.count; chunk++)
            for (int i = chunk * c.size; i < chunk_end(s, c, chunk); i++)
                if (row[i] >= 0)
                    to[row[i]] = from[i];
        *kept[a] = to;
        s->scratch->spare = from;
    }
    s->count = left;
    s->scratch->unsorted = 0;
}

void und_markers_move(und_markers *s, double *const u[3], const uint8_t *label, const uint8_t *wall,
                      const und_wall_def *walls, double dt)
{
    const motion v = {.markers = s, .u = u, .label = label, .wall = wall, .walls = walls, .dt = dt};
    int blocks = (s->count + BLOCK - 1) / BLOCK, gone = 0;
    PARALLEL_FOR(und_markers_workers(s))
    for (int block = 0; block < blocks; block++) {
        int end = block == blocks - 1 ? s->count : (block + 1) * BLOCK, left = 0;
        for (int i = block * BLOCK; i < end; i += UND_MAC_MANY)
            left += move_batch(&v, i, end - i < UND_MAC_MANY ? end - i : UND_MAC_MANY);
        if (left > 0) {
            UND_PRAGMA(omp atomic write)
            gone = 1;
        }
    }
    s->scratch->unsorted++;
    if (s->count > 0 && (gone || s->scratch->unsorted >= SORT_EVERY))
        sort_by_rows(s);
}
