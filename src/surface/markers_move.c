/* Markers go with the liquid, and are kept in the order of the rows of cells that hold them, so that
 * neighbours read the same velocities. */
#include "surface/markers_move_kernel.h"
#include "surface/markers_scratch.h"

enum {
    LEAST_CHUNK = 8192, /* markers in a chunk that is sorted */
    SORT_EVERY = 8      /* moves */
};

/* They depend on how many markers there are alone. */
static und_set chunks_of(const und_markers *s)
{
    enum { WORTH = 2 };
    const int size = (s->count + UND_MARKER_CHUNKS - 1) / UND_MARKER_CHUNKS;
    return und_set_list(s, s->count, size < LEAST_CHUNK ? LEAST_CHUNK : size, WORTH);
}

static void sort_by_rows(und_markers *s)
{
    enum { ARRAYS = 4, STEPS = 3 + ARRAYS };
    und_markers_scratch *scratch = s->scratch;
    const und_set chunks = chunks_of(s), once = und_set_list(s, 1, 1, 1);
    const und_markers_sort_args sort = {.rows = (size_t)und_mac_rows(&s->mac),
                                        .blocks = chunks.blocks,
                                        .first = scratch->first,
                                        .row = scratch->row,
                                        .left = &scratch->left};
    double **kept[ARRAYS] = {&s->place[0], &s->place[1], &s->place[2], &s->share};
    und_markers_put_args put[ARRAYS];
    und_pass passes[STEPS] = {UND_PASS(und_markers_count_rows, &sort, &chunks),
                              UND_PASS(und_markers_place_rows, &sort, &once),
                              UND_PASS(und_markers_find_places, &sort, &chunks)};
    und_step steps[STEPS];
    for (int a = 0; a < ARRAYS; a++) { /* into what the one before leaves */
        put[a] = (und_markers_put_args){scratch->row, *kept[a], scratch->spare};
        passes[STEPS - ARRAYS + a] = UND_PASS(und_markers_put, &put[a], &chunks);
        double *from = *kept[a];
        *kept[a] = scratch->spare;
        scratch->spare = from;
    }
    for (int i = 0; i < STEPS; i++)
        steps[i] = (und_step){.passes = &passes[i], .count = 1};
    und_pass_steps(&s->device, steps, STEPS);
    s->count = scratch->left;
    scratch->unsorted = 0;
}

void und_markers_move(und_markers *s, double *const u[3], const uint8_t *label, const uint8_t *wall,
                      const und_wall_def *walls, double dt)
{
    const und_set all = und_markers_all(s);
    und_markers_move_args args = {.mac = s->mac,
                                  .label = label,
                                  .wall = wall,
                                  .walls = walls,
                                  .dt = dt,
                                  .row = s->scratch->row,
                                  .gone = &s->scratch->gone};
    for (int a = 0; a < 3; a++) {
        args.per[a] = s->scratch->per[a];
        args.place[a] = s->place[a];
        args.u[a] = u[a];
    }
    s->scratch->gone = 0;
    und_pass(&s->device, und_markers_go, &args, &all);
    s->scratch->unsorted++;
    if (s->count > 0 && (s->scratch->gone || s->scratch->unsorted >= SORT_EVERY))
        sort_by_rows(s);
}
