/* Markers are born where liquid flows in. */
#include "base/random.h"
#include "surface/markers_scratch.h"

#include <limits.h>

enum { BIRTH_STREAM = 0x62697274 }; /* of random numbers, and the three that follow */

/* A face through which an inflow's liquid comes into a cell. */
typedef struct inlet {
    int wall, axis, direction; /* +1 or -1: into the cell */
    int cell[3];
    double speed; /* m/s, into the cell; 0 where it flows against the inflow */
    double flux;  /* m3/s */
} inlet;

typedef void inlet_fn(void *context, const inlet *in);

typedef struct flow_in {
    const und_markers *markers;
    double *const *u;
    const uint8_t *label, *wall;
    const und_wall_def *walls;
    int wall_count;
} flow_in;

static void inlets_of_cell(const flow_in *f, const int cell[3], inlet_fn *fn, void *context)
{
    const und_mac *m = &f->markers->mac;
    size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    inlet in = {.wall = f->wall[at]};
    for (int side = 0; side < (m->n[2] == 1 ? 4 : 6); side++) {
        bool inside = true;
        in.axis = side / 2;
        in.direction = side % 2 ? 1 : -1;
        for (int a = 0; a < 3; a++) {
            in.cell[a] = cell[a] + (a == in.axis ? in.direction : 0);
            inside &= in.cell[a] >= 0 && in.cell[a] < m->n[a];
        }
        size_t to = at;
        if (inside)
            to = und_mac_at(m, in.cell[0], in.cell[1], in.cell[2]);
        if (!inside || f->label[to] == UND_CELL_SOLID)
            continue;
        double area = m->d[(in.axis + 1) % 3] * m->d[(in.axis + 2) % 3];
        in.speed = in.direction * f->u[in.axis][in.direction > 0 ? at : to];
        in.speed = in.speed > 0 && isfinite(in.speed) ? in.speed : 0;
        in.flux = area * in.speed;
        fn(context, &in);
    }
}

/* All inlets, in a fixed order. */
static void for_inlets(const flow_in *f, inlet_fn *fn, void *context)
{
    const und_mac *m = &f->markers->mac;
    bool flows_in[UND_MARKER_WALLS] = {false}, any = false;
    for (int w = 0; w < f->wall_count && w < UND_MARKER_WALLS; w++)
        any |= flows_in[w] = f->walls[w].kind == UND_WALL_INFLOW;
    int beside = m->n[2] == 1 ? 0 : 1; /* in two dimensions nothing comes across the plane */
    for (int z = -beside; any && z < m->n[2] + beside; z++)
        for (int y = -1; y <= m->n[1]; y++) {
            size_t row = und_mac_at(m, 0, y, z);
            for (int x = -1; x <= m->n[0]; x++) {
                size_t at = (size_t)((ptrdiff_t)row + x);
                if (f->label[at] == UND_CELL_SOLID && flows_in[f->wall[at]])
                    inlets_of_cell(f, (const int[3]){x, y, z}, fn, context);
            }
        }
}

typedef struct inflow {
    double flux[UND_MARKER_WALLS]; /* m3/s */
    int faces[UND_MARKER_WALLS];
} inflow;

static void add_inlet(void *context, const inlet *in)
{
    inflow *all = context;
    all->flux[in->wall] += in->flux;
    all->faces[in->wall]++;
}

/* Births per second of a wall. */
static double birth_rate(const und_mac *m, const und_wall_def *wall, double flux, int per_cell)
{
    double cells = flux / (m->d[0] * m->d[1] * m->d[2]);
    if (!(flux > 0))
        return 0;
    return wall->markers > 0 ? fmin(wall->markers, cells * UND_MARKERS_MOST) : cells * per_cell;
}

/* The births of a step: wall w's k-th is where (k + a random number) / wanted of its flux has come in. */
typedef struct birthing {
    und_markers *markers;
    const inflow *all;
    int wanted[UND_MARKER_WALLS], done[UND_MARKER_WALLS];
    double number[UND_MARKER_WALLS]; /* of the wall's first */
    double share[UND_MARKER_WALLS];  /* of a cell, that each stands for */
    double passed[UND_MARKER_WALLS]; /* flux of the faces so far */
    double dt;
    long missed;
} birthing;

static double random_of(const birthing *b, int wall, int stream)
{
    return und_random(b->markers->seed, (uint64_t)(BIRTH_STREAM + stream),
                      (uint64_t)(b->number[wall] + b->done[wall]));
}

static void bear_one(birthing *b, const inlet *in)
{
    und_markers *s = b->markers;
    const und_mac *m = &s->mac;
    double way = fmin(1, in->speed * b->dt / m->d[in->axis]);
    if (s->count >= s->capacity) {
        b->missed++;
        return;
    }
    for (int a = 0; a < 3; a++) {
        double part = random_of(b, in->wall, a);
        if (a == in->axis)
            part = in->direction > 0 ? part * way : 1 - part * way;
        if (a == 2 && m->n[2] == 1)
            part = 0.5;
        part = fmax(UND_MARKER_EDGE, fmin(1 - UND_MARKER_EDGE, part));
        s->place[a][s->count] = m->origin[a] + (in->cell[a] + part) * m->d[a];
    }
    s->share[s->count++] = b->share[in->wall];
}

static void bear(void *context, const inlet *in)
{
    birthing *b = context;
    int w = in->wall;
    for (b->passed[w] += in->flux; b->done[w] < b->wanted[w]; b->done[w]++) {
        double share = (b->done[w] + random_of(b, w, 3)) / b->wanted[w];
        if (!(share * b->all->flux[w] < b->passed[w]))
            return;
        bear_one(b, in);
    }
}

void und_markers_birth(und_markers *s, double *const u[3], const uint8_t *label, const uint8_t *wall,
                       const und_wall_def *walls, int wall_count, int per_cell, double dt, long *missed)
{
    const flow_in f = {s, u, label, wall, walls, wall_count};
    inflow all = {0};
    birthing b = {.markers = s, .all = &all, .dt = dt};
    double *owed = s->scratch->owed;
    for_inlets(&f, add_inlet, &all);
    for (int w = 0; w < wall_count && w < UND_MARKER_WALLS; w++) {
        double rate = birth_rate(&s->mac, &walls[w], all.flux[w], per_cell);
        owed[w] += dt * rate;
        b.share[w] = rate > 0 ? fmin(all.flux[w] / (rate * s->mac.d[0] * s->mac.d[1] * s->mac.d[2]), 1) : 0;
        b.wanted[w] = (int)fmin(owed[w], INT_MAX / 2);
        b.number[w] = s->born;
        s->born += b.wanted[w];
    }
    for_inlets(&f, bear, &b);
    for (int w = 0; w < wall_count && w < UND_MARKER_WALLS; w++)
        owed[w] -= b.done[w];
    *missed += b.missed;
}

/* Faces of the largest side: as many as an inflow that is not yet there may have. */
static double most_faces(const und_mac *m)
{
    double x = m->n[0], y = m->n[1], z = m->n[2];
    return fmax(x * y, fmax(y * z, z * x));
}

int und_markers_expected(const und_markers *s, double *const u[3], const uint8_t *label, const uint8_t *wall,
                         const und_wall_def *walls, int wall_count, int per_cell, double dt)
{
    const flow_in f = {s, u, label, wall, walls, wall_count};
    inflow all = {0};
    double expected = s->count;
    for_inlets(&f, add_inlet, &all);
    for (int w = 0; w < wall_count && w < UND_MARKER_WALLS; w++) {
        double faces = all.faces[w] > 0 ? all.faces[w] : most_faces(&s->mac), rate = walls[w].markers;
        if (walls[w].kind != UND_WALL_INFLOW)
            continue;
        double more = 2 * birth_rate(&s->mac, &walls[w], all.flux[w], per_cell) * dt;
        if (rate > 0)
            expected += 2 + fmin(2 * rate * dt, more + faces * UND_MARKERS_MOST);
        else
            expected += 2 + more + faces * per_cell;
    }
    return (int)fmin(expected, INT_MAX);
}
