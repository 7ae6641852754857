/* Halos are as wide as what phi does to follow what cells hold reads. */
#include "surface/volume_thin.h"

#include "tests/halo_model.h"

/* ---- Stages ---- */

static void fit(part *p, const und_volume_walls *walls, bool tracked)
{
    und_volume_borrow(&p->volume);
    und_volume_fit(&p->volume, &p->w.d, walls, tracked);
    und_volume_give_back(&p->volume);
}
static void follow(void *model)
{
    part *p = model;
    fit(p, &p->walls, true);
}
static void follow_alone(void *model)
{
    part *p = model;
    fit(p, &p->walls, false);
}
static void follow_at_walls(void *model)
{
    part *p = model;
    fit(p, &p->cut, true);
}

/* Whether a cell breaks up, and how much of it: by its place. */
static double chance_of(const int cell[3], int stream)
{
    return und_random(4, (uint64_t)stream, (uint64_t)(cell[0] + NX * (cell[1] + NY * cell[2])));
}
static bool breaks(const void *context, const int cell[3], size_t at)
{
    const und_volume_thinning *t = context;
    return !(t->v.fraction[at] > 0) || chance_of(cell, 1) < 0.2;
}
static inline void choose(const und_volume_thinning *t, und_place p)
{
    und_volume_thin_choose_breaking(t, p, breaks, t);
}
UND_KERNEL(choose, und_volume_thinning, UND_EACH_BLOCK)

static inline void leave(const und_volume_thinning *t, und_place p)
{
    const und_volume_chunk *const first = t->v.chunk + p.at;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
        {
            int cell[3];
            und_mac_cell(&t->v.mac, at, cell);
            const int32_t all = t->v.c[at], beside = und_volume_thin_beside(t, at);
            und_volume_thin_take_away(
                t, at, chance_of(cell, 2) < 0.5 ? (int32_t)(all * chance_of(cell, 3)) : all + beside / 3);
        }
}
UND_KERNEL(leave, und_volume_thinning, UND_EACH_BLOCK)

static void break_up(part *p, const und_volume_walls *walls)
{
    und_volume_thin_found found;
    const und_volume_thinning t = und_volume_thinning_of(&p->volume, &p->w.d, walls, &found);
    const und_set chunks = und_volume_thin_chunks(&p->volume);
    und_volume_thin(&p->volume, &p->w.d, &t, UND_PASS(choose, &t, &chunks), &UND_PASS(leave, &t, &chunks), 1);
    und_volume_give_back(&p->volume);
}
static void borrow_and_follow(void *model)
{
    part *p = model;
    und_volume_borrow(&p->volume);
    und_volume_fit(&p->volume, &p->w.d, &p->walls, true);
}
static void break_thin(void *model)
{
    part *p = model;
    break_up(p, &p->walls);
}
static void borrow_and_follow_at_walls(void *model)
{
    part *p = model;
    und_volume_borrow(&p->volume);
    und_volume_fit(&p->volume, &p->w.d, &p->cut, true);
}
static void break_thin_at_walls(void *model)
{
    part *p = model;
    break_up(p, &p->cut);
}

typedef struct deep {
    und_volume_list_args list;
    const float *phi, *distance;
} deep;
static bool is_deep(const void *context, size_t at)
{
    const deep *d = context;
    return d->phi[at] < -1 && d->distance[at] < 6;
}
static inline void mark_deep(const deep *d, und_place p)
{
    und_volume_mark_rows(&d->list, p, NULL, is_deep, d);
}
UND_KERNEL(mark_deep, deep, UND_EACH_BLOCK)
static void leave_solids(void *model)
{
    part *p = model;
    und_volume_borrow(&p->volume);
    und_volume_leave_solids(&p->volume, &p->w.d, &p->cut);
}
static void even_deep(void *model)
{
    part *p = model;
    const deep args = {und_volume_list_args_of(&p->volume), p->w.d.phi, p->w.solids.distance};
    und_volume_even(&p->volume, &p->cut, UND_PASS(mark_deep, &args, NULL));
    und_volume_give_back(&p->volume);
}

static void find_films(void *model)
{
    part *p = model;
    und_volume_find_films(&p->volume, &p->w.d, &p->cut);
}
static und_volume_films films_of(part *p)
{
    return (und_volume_films){.u = p->w.s.u,
                              .dt = 0.02,
                              .dx = 0.01,
                              .gravity = {0, -9.81, 0},
                              .pull = 9.81,
                              .viscosities = p->nu,
                              .least_viscosity = 1e-6,
                              .contact = 0.1f};
}
static void run_films(void *model)
{
    part *p = model;
    const und_volume_films films = films_of(p);
    und_volume_borrow(&p->volume);
    und_volume_run_films(&p->volume, &p->w.d, &p->cut, &films);
    und_volume_give_back(&p->volume);
}
static void slow_layers(void *model)
{
    part *p = model;
    const und_volume_films films = films_of(p);
    und_volume_slowing slowing;
    const int steps = und_volume_slow_layers_begin(&p->volume, &p->w.d, &p->cut, &films, &slowing);
    und_pass_steps(&p->volume.device, slowing.step, steps);
    und_volume_slow_layers_end(&p->volume);
}
static void free_films(void *model)
{
    part *p = model;
    const und_mac *m = &p->w.s.mac;
    int32_t *film = malloc(NX * NY * NZ * sizeof *film);
    int count = 0;
    UND_MAC_EACH_ROW (m, row)
        UND_VOLUME_FILMS(&p->volume, p->w.d.phi, row, at)
    film[count++] = at;
    und_volume_keep_films(&p->volume, film, count, p->w.s.u);
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < m->count; i++)
            p->w.s.u[a][i] *= 0.5f;
    und_volume_free_films(&p->volume, &p->w.d, &p->cut, film, count, p->w.s.u);
    free(film);
}

/* Thin films stand, and what is thinner still does not come along. */
static void move_pinned(void *model)
{
    part *p = model;
    const und_volume_flow along = {.u = p->w.s.u,
                                   .per_speed = 0.42,
                                   .fastest = 2,
                                   .layers = WIDTH,
                                   .pin = 0.2f,
                                   .stays = 0.03f,
                                   .step = 1};
    und_volume_borrow(&p->volume);
    p->left = und_volume_move(&p->volume, &p->w.d, &p->cut, &along);
    und_volume_give_back(&p->volume);
}
static void settle_films(void *model)
{
    part *p = model;
    const und_volume_flow along = {.u = p->w.s.u, .per_speed = 0.42, .fastest = 2, .pin = 0.2f};
    und_volume_settle_films(&p->volume, &p->w.d, &p->cut, &along);
}

TEST(follow, 1)
TEST(follow_alone, 1)
TEST(follow_at_walls, 1)
TEST_AFTER(borrow_and_follow, break_thin, 25)
TEST_AFTER(borrow_and_follow_at_walls, break_thin_at_walls, 13)
TEST_AFTER(leave_solids, even_deep, 1)
TEST(find_films, 5)
TEST_AFTER(find_films, run_films, 1)
TEST_AFTER(find_films, slow_layers, 2)
TEST_AFTER(find_films, move_pinned, 20)
TEST_AFTER(move_pinned, settle_films, 10)
TEST_AFTER(find_films, free_films, 4)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_follow),
                                       cmocka_unit_test(test_follow_alone),
                                       cmocka_unit_test(test_follow_at_walls),
                                       cmocka_unit_test(test_break_thin),
                                       cmocka_unit_test(test_break_thin_at_walls),
                                       cmocka_unit_test(test_even_deep),
                                       cmocka_unit_test(test_find_films),
                                       cmocka_unit_test(test_run_films),
                                       cmocka_unit_test(test_slow_layers),
                                       cmocka_unit_test(test_free_films),
                                       cmocka_unit_test(test_move_pinned),
                                       cmocka_unit_test(test_settle_films)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
