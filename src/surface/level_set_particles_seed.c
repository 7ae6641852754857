/* Where particles are born and where they go. */
#include "surface/level_set_particles_seed_kernel.h"

#include <math.h>

enum { SEED_STREAM = 0x7472, AXES = 4 }; /* of random numbers: a seeding has AXES streams */

/* Along each axis the next point of a sequence that fills a box evenly, however many are taken, is this much
 * further on, round and round: the powers of the plastic number's reciprocal, in two dimensions; and of its
 * like in three. */
static const double NEXT_POINT[2][3] = {{0.7548776662466927, 0.5698402909980532, 0},
                                        {0.8191725133961645, 0.6710436067037893, 0.5497004779019703}};

/* No particle is further from the surface when it is born. */
static float farthest(const und_level_set_particles *t, const und_distance *d)
{
    return fminf(t->def.band, (float)d->width - 1);
}

static und_particles_fill_args fill_args_of(const und_level_set_particles *t, const und_distance *d,
                                            const float *wall, const uint8_t *only)
{
    const und_mac *m = &t->mac;
    const double *next = NEXT_POINT[m->n[2] > 1];
    const size_t number = und_mac_number(m, 0, 0, 0);
    return (und_particles_fill_args){
        .of = und_level_set_particles_list(t),
        .phi = d->phi,
        .wall = wall,
        .only = only,
        .first = t->parts->first,
        .row_births = t->parts->row_births,
        .per_cell = t->def.per_cell,
        .radius = {t->def.radius[0], t->def.radius[1]},
        .limit = farthest(t, d),
        .next = {next[0], next[1], next[2]},
        .seed = t->seed,
        .stream = SEED_STREAM + (uint64_t)t->parts->seedings * AXES,
        .number = number,
        .to_number = {(ptrdiff_t)(und_mac_number(m, 0, 1, 0) - number),
                      (ptrdiff_t)(und_mac_number(m, 0, 0, 1) - number)},
    };
}

/* Adds to all boxes that have too few; as many as there is room for. */
static void fill(und_level_set_particles *t, const und_distance *d, const float *wall, const uint8_t *only)
{
    const und_particles_fill_args args = fill_args_of(t, d, wall, only);
    const und_set boxes = und_set_rows(&t->mac, UND_ROWS_FACES);
    int32_t *row_births = args.row_births, before = t->count;
    und_pass(&t->device, und_particles_count_births, &args, &boxes);
    for (int row = 0; row < boxes.rows; row++) {
        const bool there = und_present_row(t->mac.present, boxes.low, boxes.wide, row, row + 1) == row;
        int32_t here = there ? row_births[row] : 0, room = t->capacity - before;
        row_births[row] = before;
        before += here < room ? here : room;
    }
    row_births[boxes.rows] = before;
    und_pass(&t->device, und_particles_give_birth, &args, &boxes);
    t->count = before;
    t->parts->seedings++;
}

void und_level_set_particles_reseed(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    const und_particles_fill_args args = fill_args_of(t, d, NULL, NULL);
    const und_set boxes = und_set_rows(&t->mac, UND_ROWS_FACES);
    und_pass(&t->device, und_particles_thin_row, &args, &boxes);
    fill(t, d, wall, NULL);
}

void und_level_set_particles_renew(und_level_set_particles *t, const und_distance *d, const float *wall,
                                   const uint8_t *marked)
{
    und_level_set_particles_leave(t, marked);
    fill(t, d, wall, marked);
}

void und_level_set_particles_seed(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    t->count = 0;
    und_level_set_particles_borrow(t);
    und_level_set_particles_sort(t);
    fill(t, d, wall, NULL);
    und_level_set_particles_give_back(t);
    und_level_set_particles_borrow(t); /* for those that there are now */
    und_level_set_particles_sort(t);
    und_level_set_particles_give_back(t);
}

void und_level_set_particles_drop_far(und_level_set_particles *t, const und_distance *d)
{
    const und_particles_near_args args = {.of = und_level_set_particles_list(t),
                                          .phi = d->phi,
                                          .limit = fminf(t->def.band + 1, (float)d->width - 0.5F)};
    const und_set all = und_level_set_particles_all(t);
    und_pass(&t->device, und_particles_drop_far, &args, &all);
}

void und_level_set_particles_refit(und_level_set_particles *t, const und_distance *d, const uint8_t *marked,
                                   const und_mask *cells, const und_step *marking)
{
    und_particles_near_args args = {.of = und_level_set_particles_list(t),
                                    .phi = d->phi,
                                    .limit = t->def.band + 1,
                                    .radius = {t->def.radius[0], t->def.radius[1]},
                                    .marked = marked};
    const und_set all = und_level_set_particles_all(t);
    const und_pass pass = UND_PASS(und_particles_refit, &args, &all);
    und_step steps[2];
    int count = 0;
    if (cells)
        args.cells = *cells;
    if (marking)
        steps[count++] = *marking;
    steps[count++] = (und_step){.passes = &pass, .count = 1};
    und_pass_steps(&t->device, steps, count);
}

void und_level_set_particles_refill(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    und_level_set_particles_drop_far(t, d);
    und_level_set_particles_borrow(t);
    und_level_set_particles_sort(t);
    und_level_set_particles_reseed(t, d, wall);
    und_level_set_particles_give_back(t);
}
