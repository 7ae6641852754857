#include "surface/level_set_particles.h"

#include "base/parallel.h"
#include "base/status.h"
#include "grid/field.h"
#include "surface/level_set_particles_sort_kernel.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SORT_EVERY = 5 }; /* steps: in between they do not go far */

und_level_set_particles_def und_level_set_particles_def_default(void)
{
    return (und_level_set_particles_def){.per_cell = 16, .reseed = 20, .band = 1, .radius = {0.02F, 0.5F}};
}

/* So many as will hardly ever be near a surface at once.  Room that is not used costs nothing. */
static int room_for(const und_mac *m, int per_cell)
{
    const double few_cells = 1 << 16, share = 0.25, most = INT_MAX / 2;
    double cells = (double)m->whole[0] * m->whole[1] * m->whole[2];
    return (int)fmin(
        fmax(share * cells, fmin(2 * cells, few_cells)) * per_cell + UND_LEVEL_SET_PARTICLES_BLOCK, most);
}

/* Those behind the last may be read. */
static size_t bytes_of_list(int count)
{
    return ((size_t)count + UND_LANES) * sizeof(int32_t);
}
static size_t bytes_of_first(const und_mac *m)
{
    return (m->count + 1) * sizeof(int32_t);
}

enum { AT_PARTICLES = UND_AT_OWN, AT_BLOCKS = UND_AT_OWN, AT_ROWS };

#define LIST(member) UND_FIELD(und_level_set_particles, member, AT_PARTICLES)
#define CELLS(member, at) UND_FIELD(und_level_set_particles_parts, member, at)

/* By particles; and by the grid's cells. */
static const und_field lists[] = {LIST(place[0]), LIST(place[1]), LIST(place[2]), LIST(radius)};
static const und_field cell_fields[] = {CELLS(block_count, AT_BLOCKS), CELLS(row_births, AT_ROWS),
                                        CELLS(liquid, UND_AT_CELLS)};
enum { LISTS = sizeof lists / sizeof *lists, CELL_FIELDS = sizeof cell_fields / sizeof *cell_fields };

static und_status make_cells(und_level_set_particles *t, und_error *err)
{
    const und_mac *m = &t->mac;
    const size_t own[] = {(size_t)und_level_set_particles_blocks(t->capacity) *
                              (size_t)und_level_set_particles_piles(m),
                          (size_t)(m->n[1] + 1) * (size_t)(m->n[2] + 1) + 1};
    return und_field_open_all(t->parts, cell_fields, CELL_FIELDS, &(und_field_room){.mac = m, .own = own},
                              "tracers' cells", err);
}

/* What it is to lend goes by the grid's size. */
static und_status join_scratch(und_level_set_particles *t, und_error *err)
{
    und_level_set_particles_parts *p = t->parts;
    const size_t before = p->most, most = 3 * und_scratch_bytes(bytes_of_list(t->capacity)) +
                                          und_scratch_bytes(bytes_of_first(&t->mac));
    und_scratch *scratch = und_scratch_join(p->scratch, most, err);
    if (!scratch)
        return err->status;
    if (und_scratch_keep_zeroed(scratch, t->mac.count * sizeof *p->reached, err) != UND_OK) {
        und_scratch_leave(scratch, most);
        return err->status;
    }
    if (before > 0)
        und_scratch_leave(scratch, before);
    p->scratch = scratch;
    p->most = most;
    return UND_OK;
}

void und_level_set_particles_borrow(und_level_set_particles *t)
{
    und_level_set_particles_parts *p = t->parts;
    p->box = und_scratch_take(p->scratch, bytes_of_list(t->count));
    p->order = und_scratch_take(p->scratch, bytes_of_list(t->count));
    p->first = und_scratch_take(p->scratch, bytes_of_first(&t->mac));
}

void und_level_set_particles_give_back(und_level_set_particles *t)
{
    und_scratch_give_back(t->parts->scratch, t->parts->box);
    t->parts->box = t->parts->order = t->parts->first = NULL;
}

static void free_cells(und_level_set_particles_parts *p)
{
    und_field_close_all(p, cell_fields, CELL_FIELDS);
}

static und_status make_room(und_level_set_particles *t, und_error *err)
{
    const size_t most = (size_t)t->capacity + UND_LANES;
    const und_status status = make_cells(t, err);
    return status ? status
                  : und_field_open_all(t, lists, LISTS, &(und_field_room){.own = &most}, "tracers", err);
}

und_level_set_particles *und_level_set_particles_create(const und_mac *mac,
                                                        const und_level_set_particles_def *def, uint64_t seed,
                                                        int threads, und_scratch *scratch, und_error *err)
{
    und_level_set_particles *t = und_alloc(1, sizeof *t, "tracers", err);
    und_level_set_particles_parts *parts = t ? und_alloc(1, sizeof *parts, "tracers", err) : NULL;
    if (!parts) {
        free(t);
        return NULL;
    }
    *t = (und_level_set_particles){
        .mac = *mac, .def = *def, .seed = seed, .device = {.threads = und_threads(threads)}};
    t->parts = parts;
    t->capacity = room_for(mac, def->per_cell);
    parts->scratch = scratch;
    if (join_scratch(t, err) != UND_OK) {
        free(parts);
        free(t);
        return NULL;
    }
    if (make_room(t, err) != UND_OK) {
        und_level_set_particles_destroy(t);
        return NULL;
    }
    return t;
}

void und_level_set_particles_destroy(und_level_set_particles *t)
{
    if (!t)
        return;
    und_level_set_particles_parts *p = t->parts;
    und_field_close_all(t, lists, LISTS);
    free_cells(p);
    und_scratch_leave(p->scratch, p->most);
    free(p);
    free(t);
}

und_status und_level_set_particles_window(und_level_set_particles *t, const und_mac *mac, und_error *err)
{
    bool same = !memcmp(t->mac.n, mac->n, sizeof mac->n) && t->mac.present == mac->present;
    und_mac before = t->mac;
    und_level_set_particles_parts old = *t->parts;
    t->mac = *mac;
    if (!same) {
        t->parts->block_count = t->parts->row_births = NULL;
        t->parts->liquid = NULL;
    }
    if (!same && (make_cells(t, err) != UND_OK || join_scratch(t, err) != UND_OK)) {
        free_cells(t->parts);
        *t->parts = old;
        t->mac = before;
        return err->status;
    }
    if (!same)
        free_cells(&old);
    for (int i = 0; i < t->count; i++)
        for (int a = 0; a < 3; a++) {
            float low = (float)mac->low[a], high = (float)(mac->low[a] + mac->n[a]), *place = &t->place[a][i];
            if (und_level_set_particles_inside(mac, a, *place))
                continue;
            *place = *place < low ? low : high;
            t->radius[i] = 0;
        }
    return UND_OK;
}

static void clear_first(und_level_set_particles *t)
{
    const und_mac *m = &t->mac;
    for (int z = m->n[2] == 1 ? 0 : -1; z < m->n[2]; z++)
        for (int y = -1; y < m->n[1]; y++)
            if (und_present_has(m->present, y, z))
                memset(t->parts->first + und_mac_at(m, und_particles_boxes_of(m, y, z).begin, y, z), 0,
                       (size_t)(und_particles_count_boxes(m, y, z) + 1) * sizeof *t->parts->first);
}

/* Each array goes to where the one before it was; the first one, which is lent room, to where the last was.
 */
void und_level_set_particles_sort(und_level_set_particles *t)
{
    enum { ARRAYS = 4, STEPS = 5 + ARRAYS };
    und_level_set_particles_parts *p = t->parts;
    const int piles = und_level_set_particles_piles(&t->mac);
    const und_set all = und_level_set_particles_all(t);
    if (all.blocks == 0) {
        clear_first(t);
        return;
    }
    float *const spare = und_scratch_take(p->scratch, bytes_of_list(t->count)), *free_now = spare;
    const und_particles_sort_args args = {.of = und_level_set_particles_list(t),
                                          .blocks = all.blocks,
                                          .box = p->box,
                                          .order = p->order,
                                          .first = p->first,
                                          .block_count = p->block_count,
                                          .end = p->block_count + (size_t)(all.blocks - 1) * (size_t)piles,
                                          .sorted = (int32_t *)spare};
    const und_set each = und_set_list(p->first, piles, 1, t->count / piles + 1),
                  once = und_set_list(p->first, 1, 1, 1);
    und_particles_put_args puts[ARRAYS + 1];
    und_pass pass[STEPS] = {
        UND_PASS(und_particles_find_boxes, &args, &all), UND_PASS(und_particles_share_out, &args, &once),
        UND_PASS(und_particles_sort_block, &args, &all), UND_PASS(und_particles_sort_pile, &args, &each)};
    und_step step[STEPS];
    for (int a = 0; a < ARRAYS; a++) {
        float **home = a < 3 ? &t->place[a] : &t->radius, *from = *home;
        puts[a] = (und_particles_put_args){p->order, &args.end[piles - 1], from, free_now};
        pass[4 + a] = UND_PASS(und_particles_put, &puts[a], &all);
        *home = free_now;
        free_now = from;
    }
    puts[ARRAYS] = (und_particles_put_args){NULL, &args.end[piles - 1], spare, free_now};
    pass[4 + ARRAYS] = UND_PASS(und_particles_put_back, &puts[ARRAYS], &all);
    t->place[0] = free_now;
    for (int i = 0; i < STEPS; i++)
        step[i] = (und_step){.passes = &pass[i], .count = 1};
    und_pass_steps(&t->device, step, STEPS);
    t->count = args.end[piles - 1];
    und_scratch_give_back(p->scratch, spare);
}

void und_level_set_particles_tidy(und_level_set_particles *t, const und_distance *d, const float *wall)
{
    und_level_set_particles_parts *p = t->parts;
    p->steps++;
    bool reseed = t->def.reseed > 0 && p->steps % t->def.reseed == 0;
    if (!reseed && p->steps % SORT_EVERY != 0)
        return;
    und_level_set_particles_drop_far(t, d);
    und_level_set_particles_borrow(t);
    und_level_set_particles_sort(t);
    if (reseed)
        und_level_set_particles_reseed(t, d, wall);
    und_level_set_particles_give_back(t);
}

int und_level_set_particles_state(und_level_set_particles *t, und_state_field *list)
{
    static const char *const names[4] = {"tracer_x", "tracer_y", "tracer_z", "tracer_radius"};
    int parts = 0;
    for (int a = 0; a < 4; a++)
        list[parts++] = (und_state_field){.name = names[a],
                                          .type = UND_F32,
                                          .data = a < 3 ? t->place[a] : t->radius,
                                          .items = &t->count,
                                          .per_item = 1,
                                          .capacity = (size_t)t->capacity,
                                          .adapts = true};
    list[parts++] = und_state_field_of("tracer_steps", UND_I32, &t->parts->steps, 1);
    list[parts++] = und_state_field_of("tracer_seedings", UND_I32, &t->parts->seedings, 1);
    list[parts - 1].adapts = list[parts - 2].adapts = true;
    return parts;
}

und_status und_level_set_particles_restored(und_level_set_particles *t, und_error *err)
{
    if (t->parts->steps < 0 || t->parts->seedings < 0)
        return und_error_set(err, UND_FAILED, "the checkpoint's tracers were tidied %d times, seeded %d",
                             t->parts->steps, t->parts->seedings);
    for (int i = 0; i < t->count; i++) {
        bool good = fabsf(t->radius[i]) <= t->def.radius[1];
        for (int a = 0; a < 3; a++)
            good &= und_level_set_particles_inside(&t->mac, a, t->place[a][i]);
        if (!good)
            return und_error_set(err, UND_FAILED,
                                 "the checkpoint's tracer %d is at %g, %g, %g (radius %g): not in the domain",
                                 i, t->place[0][i], t->place[1][i], t->place[2][i], t->radius[i]);
    }
    return UND_OK;
}
